"""Mats over memory that somebody else owns: that of an array, a tensor, a buffer or a file.

That memory is the *home* of the elements. Its owner reads and writes it without asking. Whatever
another memory has fresh of it is copied home before its storage goes, and before another Mat over
the same memory is accessed.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from weakref import WeakSet, ref

from ..core.access_record import AccessRecord, narrowed
from ..core.coherence import LIVE
from ..core.direction import INPUT, Direction
from ..core.registry import Handle, Memory, ViewLike, host
from ..core.source_line import allow_conflicts
from ..errors import ConflictError, TornError
from ..layout.attributes import begin_as_nothing
from ..memories.file_pages import file_of
from ..support.types import DType, Number
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
    process: int  # the last one that wrote in another memory

    def __init__(self, size: int, dtype: DType, fill_value: Number) -> None:
        super().__init__(size, dtype, fill_value)

    def share(self) -> None:
        """Note that the memory that was adopted just now is its owner's."""
        self.shared = True
        if _AWAY:
            self.join(tuple(_AWAY))

    def region(self) -> tuple[object, int, int]:
        """Return what has the memory, None for that of the process, and where it begins and ends
        there.
        """
        home = self.adopted
        handle = None if home is None else self.handles.get(home)
        if handle is None or home is None:
            return self, 0, 0  # nobody else's
        if home is not host():
            start = home.address_of(handle)
            return home, start, start + (self.nbytes if start else 0)
        self.find_address()
        owner, start = file_of(handle) or (None, self.address)
        return owner, start, start + self.nbytes

    def join(self, others: Any) -> None:
        """Find the storages among `others` that have the same memory."""
        owner, low, high = self.region()
        for other in others:
            if not isinstance(other, ForeignStorage) or other is self or not other.shared:
                continue
            its_owner, start, stop = other.region()
            if its_owner == owner and start < high and low < stop:
                with _links:
                    _link(self, other)
                    _link(other, self)

    def leave_home(self) -> None:
        """Note that another memory is about to get a copy."""
        with _links:
            self.away = self.guarded = True
            _AWAY.add(self)
        self.join(LIVE.all())

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
                self.relax()
            return
        if self.adopted is not None:
            if not self.away:
                self.leave_home()
            if direction is not _input:
                self.process = _process()
            self.call_home(view, memory, direction is not _input)

    def call_home(self, view: ViewLike, memory: Memory, writes: bool) -> None:
        """Have all that other storages over the same memory have changed elsewhere copied home, and
        if that is about to be written, what they have elsewhere be stale.
        """
        for other in self.near():
            other.come_home(self, view, memory)
            if writes:
                other.outdate()

    def outdate(self) -> None:
        """Note that other memories do not have what the home has."""
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
        """Copy home what another memory has changed, since `view` of `other` is to be accessed."""
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
        (_, start, _), (_, its_start, _) = self.region(), other.region()
        shift, odd = divmod(its_start - start, self.itemsize)
        if odd or self.itemsize != other.itemsize:
            (low, high), (first, last) = a.bounds, b.bounds
            return bool(start + low * self.itemsize < its_start + last * other.itemsize
                        and its_start + first * other.itemsize < start + high * self.itemsize)
        return bool(a.meets(b.moved(shift))
                    and narrowed(a, mine).meets(narrowed(b, view).moved(shift)))

    def fetch_home(self) -> None:
        """Copy home what only another memory has; the caller holds the lock."""
        home = self.adopted
        if home is not None and (self.spans is not None
                                 or (self.fresh and not self.fresh & home.bit)):
            with suppress(TornError):  # what a failed block left half-written remains there
                self._refresh(home)

    def save(self) -> None:
        """Copy home what another memory has changed; not what another process did."""
        if self.process != _process() or not self.writable:
            return
        with self.lock:
            if self.writer is None:
                self.fetch_home()

    def drop_all(self) -> None:
        self.save()
        super().drop_all()
        self.shared = self.guarded = False

    def __del__(self) -> None:
        if self.process:
            self.save()
        end: Any = getattr(super(), "__del__", None)  # uncompiled
        if end is not None:
            end()


begin_as_nothing(ForeignStorage)
_AWAY: WeakSet[ForeignStorage] = WeakSet()  # storages of which other memories have copies
_links = threading.RLock()  # of the neighbours; an interrupted function may be in a finalizer


def _link(one: ForeignStorage, other: ForeignStorage) -> None:
    known = one.neighbours = [r for r in one.neighbours or () if r() not in (None, other)]
    known.append(ref(other))
    one.guarded = True


def over_foreign(size: int, dtype: DType, memory: Memory, handle: Handle) -> ForeignStorage:
    """Return a storage whose elements are in the handle of `memory`, which is somebody else's."""
    found = ForeignStorage(size, dtype, 0)
    if memory is host():
        found.adopt_host(handle, False)
    else:
        found.adopt_external(memory, handle)
    found.share()
    return found


@atexit.register
def _save_all() -> None:
    """Copy home what other memories have changed."""
    for storage in LIVE.all():
        if isinstance(storage, ForeignStorage):
            storage.save()


def _renew_lock() -> None:
    global _links
    _links = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)
