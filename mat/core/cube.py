"""The cube: data held in several memories at once, copied lazily, never lost, never used two ways
at once.

A *memory* is a place where data can be, a *facet* a way to look at one memory. A *cube* knows which
memories hold its data, which of those are fresh, and who is looking. It knows nothing of numbers:
what a memory allocates and what a facet presents are opaque here. `Direction` holds the contract.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import ConflictError, TornError
from .access_record import EXPORTED, AccessRecord, SourceLine, describe
from .async_copy import begin_copy, finish_copy
from .barrier import Barrier
from .coherence import Coherence
from .compiled import try_lock
from .direction import DIRECTIONS, INPUT, IO, OUTPUT, Direction, as_direction, join
from .export import ExportRecord, retain_for_exports
from .observers import OBSERVERS, Observer, observe
from .registry import (
    Facet,
    Memory,
    all_facets,
    facet_named,
    facets,
    host,
    memories,
    memory_named,
    register_facet,
    register_memory,
)

__all__ = [
    "DIRECTIONS",
    "INPUT",
    "IO",
    "OBSERVERS",
    "OUTPUT",
    "AccessRecord",
    "Barrier",
    "Cube",
    "Direction",
    "Facet",
    "Memory",
    "Observer",
    "View",
    "all_facets",
    "allow_conflicts",
    "as_direction",
    "facet_named",
    "facets",
    "host",
    "join",
    "memories",
    "memory_named",
    "observe",
    "register_facet",
    "register_memory",
]


class View:
    """Something that looks can be taken at: a storage, and what facets presented of it."""

    __slots__ = ("__weakref__", "presented", "storage")
    storage: Cube
    presented: dict[int, AccessRecord]  # Facet.reading or .writing -> the hold to use again

    def label(self) -> str:
        """A short name for messages; must not look at the data."""
        return "<a cube>"


allow_conflicts = threading.local()  # .depth > 0: admit everybody; debug.py sets it


class Cube(Coherence):
    """One piece of data and its copies. Subclasses say how big it is: `size`, `dtype`, `nbytes`,
    `fill_value`.
    """

    __slots__ = ()

    # Looking

    def open(self, view: View, facet: Facet, direction: Direction, thread: int) -> AccessRecord:
        """Begin a look: settle conflicts, make the data fresh, present it, and only then mark."""
        lock = self.lock  # acquired by hand: a with statement costs twice as much
        lock.acquire()
        try:
            if direction is INPUT:
                record = view.presented.get(facet.reading)
                if record is None or self.accesses or not self.fresh & facet.mask:
                    record = self._open(view, facet, direction, thread)
            else:
                record = view.presented.get(facet.writing)
                if record is None or self.accesses or not self.fresh & facet.mask:
                    record = self._open(view, facet, direction, thread)
                else:
                    self.writer = record
                record.direction = direction
            record.view = view
            record.thread = thread
            self.accesses.append(record)
        finally:
            lock.release()
        if OBSERVERS:
            self._notify_entered(record)
        return record

    def _open(self, view: View, facet: Facet, direction: Direction, thread: int) -> AccessRecord:
        """The hold for a look that is not the only one, or whose data is not fresh, or was not
        presented yet.
        """
        memory = facet.memory
        if self.accesses:
            self._admit(view, facet, direction, thread)
        if direction is not OUTPUT and not self.fresh & facet.mask:
            handle = self._refresh(memory)
        else:
            handle = self.handles.get(memory)
            if handle is None:
                handle = self._allocate(memory)
        key = facet.reading if direction is INPUT else facet.writing
        record = view.presented.get(key)
        if record is None or record.thread:
            record = self._present(view, facet, key, handle)
        self.seen |= facet.bit
        if direction is not INPUT and self.writer is None:
            self.writer = record
        return record

    def present(self, view: View, facet: Facet, direction: Direction) -> bool:
        """Have ready what a look would be given, without looking; False if somebody looks, or there
        is nothing to read.
        """
        with self.lock:
            memory = facet.memory
            if self.accesses or not (direction is OUTPUT or self.fresh & memory.bit):
                return False
            handle = self.handles[memory] if memory in self.handles else self._allocate(memory)
            self._present(view, facet, facet.reading if direction is INPUT else facet.writing,
                          handle)
            self.seen |= facet.bit
        return True

    def _present(self, view: View, facet: Facet, key: int, handle: Any) -> AccessRecord:
        """Have the facet present the view, and remember what it gave until the handle goes."""
        record = AccessRecord(facet, handle, facet.present(view, handle, key == facet.writing))
        if not view.presented:
            if len(self.viewers) > 15 and len(self.viewers) & (len(self.viewers) - 1) == 0:
                self.viewers = list({id(ref): ref for ref in self.viewers
                                     if ref() is not None}.values())
            self.viewers.append(weakref.ref(view))
        view.presented.setdefault(key, record)
        return record

    def export(self, view: View, facet: Facet, where: SourceLine | None) -> ExportRecord:
        """A look that only reads, belongs to no thread and lasts until it is told to `end`."""
        with self.lock:
            if self.accesses:
                self._admit(view, facet, INPUT, EXPORTED, where)
            handle = self._refresh(facet.memory)
            record = view.presented.get(facet.reading) or self._present(view, facet, facet.reading, handle)
            self.seen |= facet.bit
            record = ExportRecord(view, facet, handle, record.value, where)
            self.accesses.append(record)
        return record

    def _admit(self, view: View, facet: Facet, direction: Direction, thread: int,
               where: SourceLine | None = None) -> None:
        """Raise `ConflictError` if a look cannot begin while the open ones last."""
        if getattr(allow_conflicts, "depth", 0):
            return
        for other in tuple(self.accesses):  # a copy: readers leave without the lock
            # a reader about to leave
            if (direction is INPUT and other.direction is INPUT) or not other.thread:
                continue
            if other.thread != thread or other.facet.memory is not facet.memory:
                raise ConflictError(
                    f"cannot access {describe(view, facet, direction, thread, where)}: it conflicts "
                    f"with the access to {other.describe()}; {other.way_out}")

    def close(self, record: AccessRecord, failed: bool) -> None:
        """End a look; of a writing one, commit or roll back."""
        # a reader leaves nothing behind, and needs no lock:
        if record.direction is INPUT and not OBSERVERS:
            record.where = record.view = None
            record.thread = 0  # the last thing: from now on the hold may be used again
            self.accesses.remove(record)  # this is atomic
            return
        fault = self._notify_left(record, failed) if OBSERVERS else None
        lock = self.lock
        lock.acquire()
        try:
            self.accesses.remove(record)
            if self.writer is record:
                if failed or self.accesses or fault is not None or self.spoiled:
                    self._settle(record, failed or fault is not None)
                else:  # as _commit does
                    self.writer = self.torn = None
                    self.fresh = record.mask
                    self.pristine = False
                    self.version += 1
            record.thread = 0
            record.where = record.view = None
        finally:
            lock.release()
        if fault is not None:
            raise fault

    def _commit(self, record: AccessRecord) -> None:
        self.writer = None
        self.fresh = record.mask
        self.pristine = self.spoiled = False
        self.torn = None
        self.version += 1

    def _settle(self, record: AccessRecord, failed: bool) -> None:
        """`record` was the outermost writer: what it leaves behind is the truth, or is not."""
        failed = failed or self.spoiled
        inner = next((other for other in tuple(self.accesses) if other.direction is not INPUT),
                     None)
        if inner is not None:  # left out of order; the last one out decides
            self.writer, self.spoiled = inner, failed
        elif failed:
            self.writer, self.spoiled = None, False
            self._roll_back(record)
        else:
            self._commit(record)

    def _roll_back(self, record: AccessRecord) -> None:
        self.fresh &= ~record.facet.mask
        if self.fresh or self.pristine or self.torn is not None:
            return
        self.torn_memory = record.facet.memory
        self.torn = TornError(f"{record.describe()} failed and left the only copy half-written; "
                              "overwrite all of it, or accept it as it is with accept_torn()")

    def undo(self, record: AccessRecord) -> None:
        """End a look whose block never began: nothing was touched, so nothing changes."""
        if OBSERVERS:
            # an error is under way already: no fault of theirs replaces it
            self._notify_left(record, True)
        with self.lock:
            self.accesses.remove(record)
            if self.writer is record:
                self.writer = next((other for other in tuple(self.accesses)
                                    if other.direction is not INPUT), None)
            record.thread = 0
            record.where = record.view = None

    def _notify_entered(self, record: AccessRecord) -> None:
        try:
            for observer in tuple(OBSERVERS):
                observer.entered(record)
        except BaseException:
            self.undo(record)
            raise

    def _notify_left(self, record: AccessRecord, failed: bool) -> BaseException | None:
        """Tell all; the first fault that an observer found with the block, which then counts as
        failed.
        """
        fault = None
        for observer in tuple(OBSERVERS):
            try:
                observer.left(record, failed)
            except BaseException as error:
                fault = fault or error
        return fault

    # Copying ahead

    def begin_copy(self, view: View, memory: Memory, where: SourceLine) -> bool:
        """Begin to copy the data to `memory`; whether there is something to `finish_copy`."""
        with self.lock:
            if self.writer is not None:
                raise ConflictError(
                    f"cannot prefetch {view.label()} to {memory.name!r}: this conflicts with the "
                    f"access to {self.writer.describe()}; leave that block first")
            if self.fresh & memory.bit or (self.async_copies and memory in self.async_copies):
                return not self.fresh & memory.bit
            hub = host()
            source = hub if self.fresh & hub.bit else next(iter(self.fresh_memories()), memory)
            # from one device to another, or there is nothing to copy
            if hub not in (source, memory) or source is memory:
                self._refresh(memory)
                return False
            facet = min((f for f in all_facets() if f.memory is source),
                        key=lambda f: not self.seen & f.bit)
            begin_copy(self, view, facet, memory, where)
            return True

    def finish_copy(self, memory: Memory) -> None:
        """Wait for the copy to `memory`, if one is under way; raise what it failed with."""
        finish_copy(self, memory)

    # Dropping and keeping

    def drop(self, memory: Memory, force: bool, retain: bool = False) -> bool:
        """Free the copy in `memory`; False if there is none. The only fresh copy goes only by
        `force`.

        A copy that is lent can be left to who has it, if `retain` allows that.
        """
        with self.lock:
            if memory not in self.handles:
                return False
            self._check_droppable(memory, retain)
            lost = self._would_lose(memory)
            if lost and not force:
                raise ConflictError(f"{memory.name!r} holds the only copy of this data; access it "
                                    "in another memory first, or discard it with force=True")
            self.fresh &= ~memory.bit
            if lost:
                self.fresh, self.torn, self.pristine = 0, None, True
            self._discard(memory)
        return True

    def _would_lose(self, memory: Memory) -> bool:
        writing = self.writer.facet.memory.bit if self.writer is not None else 0
        if self.torn is not None:
            return memory is self.torn_memory
        return bool(self.fresh & memory.bit and not self.fresh & ~memory.bit & ~writing
                    and not self.pristine)

    def _check_droppable(self, memory: Memory, retain: bool = False) -> None:
        accesses = [record for record in tuple(self.accesses) if record.thread
                    and record.facet.memory is memory]
        holder = next((record for record in accesses
                       if not (retain and isinstance(record, ExportRecord))), None)
        if holder is not None:
            raise ConflictError(f"cannot drop {memory.name!r} during the access to "
                                f"{holder.describe()}; {holder.way_out}")
        if self.async_copies and memory in self.async_copies:
            raise ConflictError(f"cannot drop {memory.name!r} while it is being copied to: "
                                f"{self.async_copies[memory].record.describe()}")
        if self.kept and self.kept.get(memory):
            raise ConflictError(f"cannot drop {memory.name!r}: a keep({memory.name!r}) block is "
                                "open")
        if self.adopted is memory:
            raise ConflictError(f"cannot drop {memory.name!r}: from_numpy or from_dlpack was given "
                                "it; close() releases it")

    def _discard(self, memory: Memory) -> None:
        handle = self.handles.pop(memory)
        views = [view for view in (ref() for ref in self.viewers) if view is not None]
        for view in views:
            view.presented = {k: record for k,
                              record in view.presented.items() if record.handle is not handle}
        self.viewers = [weakref.ref(view) for view in views if view.presented]
        self.seen &= sum(f.bit for f in all_facets() if f.memory in self.handles)
        if not retain_for_exports(self.accesses, memory, handle):
            memory.free(handle)
        for observer in tuple(OBSERVERS):
            observer.freed(self, memory)

    def evict(self, memory: Memory, dirty: bool) -> bool:
        """Free the copy in `memory`, whose room somebody needs, if that can be done now; whether it
        was.

        What is fresh nowhere else is copied to the host first, if `dirty` allows that. Waits for
        nobody.
        """
        if not try_lock(self.lock):
            return False
        try:
            if memory not in self.handles or self.writer is not None or self.torn is not None or not self._idle(memory):
                return False
            only = self.fresh & memory.bit and not self.fresh & ~memory.bit and not self.pristine
            if only and not dirty:
                return False
            for observer in tuple(OBSERVERS):
                observer.evicted(self, memory)
            if only:
                self._refresh(host())
            self.fresh &= ~memory.bit
            self._discard(memory)
        finally:
            self.lock.release()
        return True

    def _idle(self, memory: Memory) -> bool:
        """Whether nobody looks at the copy in `memory` or keeps it."""
        try:
            self._check_droppable(memory)
        except ConflictError:
            return False
        return True

    def drop_all(self) -> None:
        """Free every copy now. The data is gone: what is read later is the fill value."""
        with self.lock:
            adopted, self.adopted = self.adopted, None
            try:
                for memory in self.handles:
                    self._check_droppable(memory)
            except ConflictError:
                self.adopted = adopted
                raise
            self.fresh, self.torn, self.pristine = 0, None, True
            for memory in tuple(self.handles):
                self._discard(memory)

    @contextmanager
    def keep(self, memory: Memory) -> Iterator[None]:
        """The copy in `memory` exists, and cannot be dropped, while the block runs."""
        with self.lock:
            if memory not in self.handles:
                self._allocate(memory)
            self.kept = self.kept or {}
            self.kept[memory] = self.kept.get(memory, 0) + 1
        try:
            yield
        finally:
            with self.lock:
                self.kept[memory] -= 1

    def secure(self, ensure: Memory, doomed: int) -> None:
        """Make `ensure` fresh if the memories in the bit mask `doomed` hold all that is fresh.

        Not while somebody writes: a half-written copy is no copy, and what a writer could fall back
        on is not dropped.
        """
        with self.lock:
            if self.fresh and not self.fresh & ~doomed and not self.pristine and self.writer is None:
                self._refresh(ensure)
            elif self.torn is not None and self.torn_memory is not None and self.torn_memory.bit & doomed and not self.accesses:
                self._move_torn(ensure)

    def _move_torn(self, target: Memory) -> None:
        """Have `target` hold what a failed block left, for `accept_torn`."""
        source = self.torn_memory
        if source is None or source is host() or target is not host():
            return
        handle = self.handles.get(target)
        if handle is None:
            handle = self._allocate(target)
        source.copy_out(self, self.handles[source], handle)
        self.torn_memory = target
