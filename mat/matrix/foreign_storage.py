"""Mats over memory that somebody else owns: that of an array, a tensor, a buffer or a file.

That memory is the *home* of the elements. Its owner reads and writes it without asking. Whatever
another memory has fresh of it is copied home before its storage goes, and before another Mat over
the same memory is accessed. Whenever a copy in another memory is used, it is found out whether the
owner has written since; what the owner wrote is never overwritten by a copy.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from weakref import WeakSet, ref

import numpy as np

from ..core.access_record import AccessRecord, narrowed, overlap
from ..core.async_copy import finish_copy_locked
from ..core.coherence import LIVE, SMALL
from ..core.direction import INPUT, Direction
from ..core.observers import OBSERVERS
from ..core.registry import Handle, Memory, ViewLike, host
from ..core.runs import NONE, Runs
from ..core.source_line import SourceLine, allow_conflicts, line_of, warn
from ..errors import ConflictError, DeviceError, DirectionError, PerformanceWarning, TornError
from ..layout.attributes import begin_as_nothing
from ..memories.change_stamps import Seen, Stamps, Unknown, Version, Versions, stamps_of
from ..memories.file_pages import file_of
from ..support.fork import in_child, members
from ..support.types import Array, DType
from .storage import Storage

_input: Any = INPUT  # with a type of C
_process: Callable[[], int] = os.getpid


class ForeignStorage(Storage):
    """Elements whose home is memory of somebody else.

    As long as no other memory has a copy of them, nothing needs to be done for that. Then they are
    `away`, and know the other storages over the same memory.
    """

    # what attributes are until they are set: see `begin_as_nothing`
    neighbours: list[ref[ForeignStorage]] | None
    away: bool
    exclusive: bool  # nobody else writes: nothing needs to be found out
    owners_version: Version | None  # what the owner counts
    seen_home: Seen | None
    process: int  # the last one that wrote in another memory
    place_of: object  # what `locate` has found out, and the bounds there; None: nothing yet
    starts_at: int
    ends_at: int

    def share(self) -> None:
        """Mark the memory that was just adopted as its owner's."""
        self.shared = True
        if _AWAY.data:  # type: ignore[attr-defined]  # the set itself, for each new Mat
            self.join(members(_AWAY))

    def locate(self) -> None:
        """Find out the owner of the address space (a file, a memory, or the process) and the bounds
        of the home in it, which stay until the home is dropped.
        """
        home = self.adopted
        handle = None if home is None else self.handles.get(home)
        if handle is None or home is None:
            self.place_of, self.starts_at, self.ends_at = (), 0, 0  # nobody else's
            return
        owner: object
        if home is not host():
            owner, start = home, home.address_of(handle)
        else:
            self.find_address()
            owner, start = file_of(handle) or (None, self.address)
        self.starts_at = self.ends_at = start
        self.ends_at += self.nbytes if start or home is host() else 0
        self.place_of = (owner,)

    def join(self, others: Any) -> None:
        """Find the storages among `others` that have the same memory."""
        if self.place_of is None:
            self.locate()
        low, high = self.starts_at, self.ends_at
        for other in others:  # which may be thousands
            if not isinstance(other, ForeignStorage):
                continue
            one = other
            if one is self or not one.shared:
                continue
            if one.place_of is None:
                one.locate()
            if one.starts_at < high and low < one.ends_at and one.place_of == self.place_of:
                with _links:
                    _link(self, one)
                    _link(one, self)

    def leave_home(self) -> None:
        """Prepare for a copy in another memory."""
        with _links:
            self.away = self.guarded = True
            _AWAY.add(self)
        self.join(LIVE.all())
        if not self.exclusive:
            self.watch()

    def watch(self) -> None:
        """Remember the state of the home at each copy from now on."""
        home, slow = self.adopted, False
        if home is None or not self.nbytes:
            return
        source: Stamps = Unknown(self.nbytes)
        if self.owners_version is not None:
            source = Versions(self.nbytes, self.owners_version)
        elif home is host():
            self.find_address()
            source, slow = stamps_of(self.address, self.nbytes)
        self.seen_home = Seen(source, self.nbytes)
        if slow and not self.exclusive:
            warn_slow(self.nbytes, self.made)

    def watched(self) -> Seen | None:
        """Return the remembered state of the home, by this process."""
        found = self.seen_home
        # unless promises about accesses are checked
        if self.exclusive and not any(observer.every_access for observer in OBSERVERS):
            return None
        if found is None and self.exclusive:
            self.watch()
            return self.seen_home
        if found is not None and found.process != _process():  # it tracked the parent's pages
            self.seen_home = None
            self.watch()
            return self.seen_home
        return found

    def unwatch(self) -> None:
        """Forget the remembered state of the home."""
        found, self.seen_home = self.seen_home, None
        if found is not None:
            found.end()

    def has_left(self) -> bool:
        """Return whether another memory has a copy."""
        return (self.spans is not None or bool(self.async_copies) or len(self.handles) > 1
                or self.writer is not None)

    def relax(self) -> None:
        """Forget the other storages over the same memory, if all copies of all of them are gone."""
        with _links:
            near = self.near()
            if self.has_left() or any(other.has_left() for other in near):
                return
            for other in near:
                other.away = False  # it looks for its neighbours again
                other.neighbours = [r for r in other.neighbours or () if r() is not self]
            self.neighbours, self.away, self.guarded = None, False, self.is_guarded_always()
            _AWAY.discard(self)
            self.unwatch()

    def is_guarded_always(self) -> bool:
        """Return whether something is to be looked at before every access."""
        return False

    def near(self) -> list[ForeignStorage]:
        """Return the storages that are known to have the same memory."""
        found = [r() for r in self.neighbours or ()]
        return [other for other in found if other is not None]

    def prepare(self, view: ViewLike, memory: Memory, direction: Direction) -> None:
        if memory is self.adopted:
            if self.guarded:
                self.call_home(view, memory, direction is not _input)
                if self.away and direction is not _input:
                    self.verify(view, False)  # a block that fails reverts to copies elsewhere
                self.relax()
            return
        if self.adopted is not None:
            if not self.away:
                self.leave_home()
            if direction is not _input:
                self.process = _process()
            self.call_home(view, memory, direction is not _input)
            self.verify(view, direction is _input)

    def ready_there(self, mask: int, bit: int, reads: bool,  # noqa: ARG002
                    writes: bool, whole: bool) -> bool:  # noqa: ARG002
        """Return whether a device's kernel may use the copy there without a record of the access:
        where no other Mat has the same memory, the copy is fresh, and the owner has not written.
        """
        home: Any = self.adopted
        if not self.away or self.neighbours or home is None or not self.fresh & mask:
            return False
        if self.spans is not None or self.pending is not None or OBSERVERS:
            return False
        if writes and (self.fresh & ~mask or self.process != _process()):
            return False
        if self.fresh & home.bit and not self.exclusive:
            seen = self.seen_home
            if seen is None or not seen.stands():
                return False
        if self.records and self.may_conflict(mask, writes):
            return False
        self.seen |= bit
        return True

    # Whether the owner has written

    def verify(self, view: ViewLike, reads: bool) -> None:
        """Invalidate copies elsewhere where the owner has written since; remember the state."""
        with self.lock:
            home, seen = self.adopted, self.watched()  # here, as others may forget it before
            if seen is None:
                return
            if reads:  # else what is under way is a conflict
                for memory in tuple(self.async_copies or ()):
                    finish_copy_locked(self, memory)
            if home is None or (self.spans is None and not self.fresh & home.bit):
                return
            parts = self.spans is not None or not (view._sees_all() or self.nbytes <= SMALL)
            low, high = view._touched().bounds if parts else (0, self.units)
            first, last = seen.blocks(low * self.unit, high * self.unit)
            now, changed, stale = self.changes(seen, first, last)
            if self.spans is not None:
                stale = self.verify_parts(seen, first, stale, changed)
            elif stale.any() and self.fresh & ~home.bit:
                if changed.any():
                    self.check_unused(home, None)
                self.fresh = home.bit
            seen.record(first, now, stale)

    def changes(self, seen: Seen, first: int, last: int) -> tuple[Array | None, Array, Array]:
        """Return the present stamps of blocks, the blocks changed by the owner, and the blocks that
        other memories may have otherwise.

        What `mat` itself is just writing there is no change of the owner's.
        """
        now, changed, unknown = seen.changes(first, last)
        stale = changed | unknown
        writers: list[Any] = [] if self.spans is None else [
            *(r for r in tuple(self.accesses) if r.direction is not _input
              and r.facet.memory is self.adopted),
            *(copy.record for target, copy in self.spans.pending.items()
              if target.memory is self.adopted)]
        for record in writers:
            low, high = record.runs.bounds
            begin, end = seen.blocks(low * self.unit, high * self.unit)
            ours = slice(max(begin - first, 0), max(end - first, 0))
            changed[ours] = stale[ours] = False
        return now, changed, stale

    def verify_parts(self, seen: Seen, first: int, stale: Array, changed: Array) -> Array:
        """Invalidate parts of copies in other memories, by blocks from `first` on.

        Return the blocks whose stamps are to be remembered: not of those that another memory has
        changed, since that is not to be copied over what the owner wrote.
        """
        spans, home = self.spans, self.adopted
        assert home is not None
        runs, there = self.runs_of(seen, first, stale), spans.fresh_in(home)
        for copy in spans.copies:
            lost = copy.fresh & runs & there if copy.memory is not home else NONE
            if lost:
                if changed.any():
                    self.check_unused(home, lost)
                copy.fresh = copy.fresh - lost
        away = runs - there - spans.pristine
        self.settle()
        if away:
            for low, high in away:
                begin, end = seen.blocks(low * self.unit, high * self.unit)
                stale[begin - first:end - first] &= ~changed[begin - first:end - first]
        return stale

    def runs_of(self, seen: Seen, first: int, blocks: Array) -> Runs:
        """Return the elements in those blocks, from `first` on, that a mask selects."""
        edges = np.flatnonzero(np.diff(np.concatenate([[False], blocks, [False]]).astype("i1")))
        ends = ((edges + first) * seen.block - seen.shift) // self.unit
        return Runs(np.clip(ends, 0, self.units).astype(np.int64))

    def check_unused(self, home: Memory, runs: Runs | None) -> None:
        """Raise an error if a copy elsewhere is accessed, and cannot become stale, or must not."""
        if self.exclusive:
            raise DirectionError(f"the memory of {self.title()} was written by somebody else, but "
                                 "exclusive=True says that nobody does; leave that out, or "
                                 "announce each write by x.changed()")
        self.end_abandoned()
        for record in tuple(self.accesses):
            if record.thread and record.facet.memory is not home and (
                    runs is None or record.runs.meets(runs)):
                raise ConflictError(f"the memory of {self.title()} was written by its owner during "
                                    f"the access to {record.describe()}; {record.way_out}")

    def title(self) -> str:
        """Return how messages call it."""
        line = line_of(self.made)
        return "a Mat" + (f" that was made at {line}" if line else "")

    def before_copy(self, source: Memory, target: Memory, runs: Runs | None) -> None:
        seen = self.watched() if target is self.adopted else None
        if seen is None:
            return
        low, high = (0, self.units) if runs is None else runs.bounds
        first, last = seen.blocks(low * self.unit, high * self.unit)
        if self.changes(seen, first, last)[1].any():
            raise ConflictError(
                f"the memory of {self.title()} was written by its owner since {source.name!r} has "
                "changed the same data, which is not copied over it; x.changed() keeps what the "
                "owner wrote, and x.copy() while the device is in use has the other. Read x in "
                f"{target.name!r} before its owner writes")
        seen.forget(first, last)

    def after_copy(self, target: Memory, runs: Runs | None) -> None:
        if target is self.adopted:
            low, high = (0, self.units) if runs is None else runs.bounds
            self.remember(low, high)

    def remember(self, low: int, high: int) -> None:
        """Remember the home's state between two units, if it is watched."""
        seen = self.watched()
        if seen is not None:
            first, last = seen.blocks(low * self.unit, high * self.unit)
            seen.record(first, seen.changes(first, last)[0])

    def close_spans(self, record: AccessRecord, failed: bool) -> None:
        ours = record.direction is not _input and record.facet.memory is self.adopted
        bounds = 0, 0
        try:
            if ours:
                bounds = self.forget(record)
        except BaseException:  # an interrupt, after which this would count as the owner's write
            self.forget(record)
            raise
        finally:
            super().close_spans(record, failed)
        if ours:
            self.remember(*bounds)  # what was written there by us is no change of the owner's

    def forget(self, record: AccessRecord) -> tuple[int, int]:
        """Forget the home's state where a block has written; return the bounds of that."""
        low, high = record.runs.bounds
        seen = self.seen_home
        if seen is not None:
            seen.forget(*seen.blocks(low * self.unit, high * self.unit))
        return low, high

    def call_home(self, view: ViewLike, memory: Memory, writes: bool) -> None:
        """Copy home the changes of others over the memory; writes make copies stale."""
        for other in self.near():
            other.come_home(self, view, memory)
            if writes:
                other.outdate()

    def outdate(self) -> None:
        """Invalidate other memories' copies of the home's elements."""
        with self.lock:
            home = self.adopted
            if home is None:
                return
            if self.spans is None:
                if self.fresh & home.bit:
                    self.fresh = home.bit
                return
            there = self.spans.fresh_in(home)
            for copy in self.spans.copies:
                if copy.memory is not home:
                    copy.fresh = copy.fresh - there
            self.settle()

    def come_home(self, other: ForeignStorage, view: ViewLike, memory: Memory) -> None:
        """Copy home the changes in another memory, before an access to `view` of `other`."""
        with self.lock:
            self.end_abandoned()
            for record in tuple(self.accesses):
                if (record.direction is not _input and record.facet.memory is not self.adopted
                        and record.thread and not getattr(allow_conflicts, "depth", 0)
                        and self._meets(record, other, view)):
                    raise ConflictError(
                        f"cannot access {view.label()} in {memory.name!r}: the Mats are over the "
                        f"same memory, and this conflicts with the access to {record.describe()}; "
                        f"{record.way_out}, or use views of one Mat")
            self.fetch_home()

    def _meets(self, record: AccessRecord, other: ForeignStorage, view: ViewLike) -> bool:
        """Return whether an access to self touches memory that `view` of `other` sees, too."""
        mine: Any = record.view
        a, b = mine._touched(), view._touched()
        start, its_start = self.starts_at, other.starts_at  # they were found to be neighbours
        shift, odd = divmod(its_start - start, self.unit)
        if odd or self.unit != other.unit:
            (low, high), (first, last) = a.bounds, b.bounds
            return bool(start + low * self.unit < its_start + last * other.unit
                        and its_start + first * other.unit < start + high * self.unit)
        return bool(a.meets(b.moved(shift))
                    and narrowed(a, mine).meets(narrowed(b, view).moved(shift)))

    def fetch_home(self) -> None:
        """Copy home elements that only another memory has; the caller holds the lock."""
        home = self.adopted
        if home is not None and (self.spans is not None
                                 or (self.fresh and not self.fresh & home.bit)):
            with suppress(TornError):  # what a failed block left half-written remains there
                self._refresh(home)

    def save(self) -> None:
        """Copy home the changes in another memory; not those of another process."""
        if self.process != _process() or not self.writable:
            return
        with self.lock:
            if self.writer is None:
                self.fetch_home()

    def drop_all(self) -> None:
        self.settle_pending(True)  # before, as a device may compute it
        self.save()
        super().drop_all()
        self.shared, self.guarded, self.place_of = False, False, None
        self.unwatch()

    def __del__(self) -> None:
        # at the very end the names of modules are None; `_save_all` has copied home before
        if _process is not None and (self.away or self.process):
            with suppress(DeviceError):  # one that failed has said so where it was used
                self.save()
            self.unwatch()
        if _end is not None:
            _end(self)


begin_as_nothing(ForeignStorage)
_end: Any = getattr(Storage, "__del__", None)  # there is one where it is not compiled
_AWAY: WeakSet[ForeignStorage] = WeakSet()  # storages of which other memories have copies
_links = threading.RLock()  # of the neighbours; an interrupted function may be in a finalizer


def _link(one: ForeignStorage, other: ForeignStorage) -> None:
    known = one.neighbours = [r for r in one.neighbours or () if r() not in (None, other)]
    known.append(ref(other))
    one.guarded = True


def announce(storage: Storage, view: ViewLike) -> None:
    """Make the home (for other storages the host) the only memory current in `view`."""
    with storage.lock:
        home = storage.adopted or host()
        if home not in storage.handles:
            raise ConflictError(f"{view.label()} has no memory in {home.name!r} that somebody "
                                "could have written")
        storage.end_abandoned()
        for record in tuple(storage.accesses):
            if record.thread and record.view is not None and overlap(view, record.view):
                raise ConflictError(f"{view.label()} cannot have changed during the access to "
                                    f"{record.describe()}; {record.way_out}")
        for memory in tuple(storage.async_copies or ()):
            finish_copy_locked(storage, memory)
        spans, runs = storage.to_spans(), view._touched_alone()
        for copy in spans.copies:
            at_home = copy.whole and copy.memory is home
            copy.fresh = copy.fresh | runs if at_home else copy.fresh - runs
        spans.pristine = spans.pristine - runs
        spans.forget_torn(runs)
        storage.version += 1
        storage.settle()
        if isinstance(storage, ForeignStorage):
            storage.remember(*runs.bounds)


def warn_slow(nbytes: int, made: SourceLine | None) -> None:
    """Warn, once, that memory is read whenever a device uses its copy of it."""
    global _warned
    if not _warned:
        _warned = True
        warn(
            f"{nbytes} bytes that their owner may write are read whenever a device uses its copy "
            "of them, as this system does not say which pages were written; exclusive=True says "
            "that nobody else writes, and x.changed() announces a write", PerformanceWarning, made)


_warned: bool = False


def over_foreign(size: int, dtype: DType, memory: Memory, handle: Handle,
                 version: Version | None = None, exclusive: bool = False) -> ForeignStorage:
    """Return a storage over the handle of `memory`, owned by somebody else."""
    found = ForeignStorage(size, dtype, 0)
    found.owners_version, found.exclusive = version, exclusive
    if memory is host():
        found.adopt_host(handle, False)
    else:
        found.adopt_external(memory, handle)
    found.share()
    return found


@atexit.register
def _save_all() -> None:
    """Copy home all changes in other memories, continuing after conflicts."""
    fault = None
    for storage in LIVE.all():
        if isinstance(storage, ForeignStorage):
            try:
                storage.save()
            except DeviceError:
                pass
            except Exception as error:
                fault = fault or error
    if fault is not None:
        raise fault


@in_child
def _renew_lock() -> None:
    global _links
    _links = threading.RLock()
