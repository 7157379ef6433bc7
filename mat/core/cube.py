"""`Cube`: data with copies in several memories, which are made fresh only when they are accessed.

A *memory* is a memory space, a *facet* a representation of data in one memory. A *cube* records
which memories have a copy of its data, which copies are fresh, and which accesses are open; it
refuses accesses that conflict. What a memory allocates and what a facet presents are opaque here.
The contract is the docstring of `Direction`.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

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
    Handle,
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
    "DIRECTIONS", "INPUT", "IO", "OBSERVERS", "OUTPUT", "AccessRecord", "Barrier", "Cube",
    "Direction", "Facet", "Memory", "Observer", "View", "all_facets", "allow_conflicts",
    "as_direction", "facet_named", "facets", "host", "join", "memories", "memory_named",
    "observe", "register_facet", "register_memory",
]


class View:
    """Something that can be accessed: a storage, and the values that facets presented of it."""

    __slots__ = ("__weakref__", "presented", "storage")
    storage: Cube
    presented: dict[int, AccessRecord]  # Facet.reading or .writing -> the record to use again

    def label(self) -> str:
        """Return a short name for messages, without accessing the data."""
        return "<a cube>"


allow_conflicts = threading.local()  # .depth > 0: conflicts are not checked; set by mat.debug


class Cube(Coherence):
    """One piece of data, its copies and the open accesses to it.

    Subclasses describe the data by `size`, `dtype`, `nbytes` and `fill_value`.
    """

    __slots__ = ()

    # Accessing

    def open(self, view: View, facet: Facet, direction: Direction, thread: int) -> AccessRecord:
        """Begin an access: check conflicts, make the data fresh, present it, then record it."""
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
        """Return the record of a new access, in the cases that `open` does not handle itself."""
        memory = facet.memory
        if self.accesses:
            self._check_conflicts(view, facet, direction, thread)
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
        """Present `view` for a later access; return False if that is not possible now.

        It is not while an access is open, or if `facet` has nothing fresh to read.
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

    def _present(self, view: View, facet: Facet, key: int, handle: Handle) -> AccessRecord:
        """Have `facet` present `view`, and keep the value in `view` until the handle is dropped."""
        record = AccessRecord(facet, handle, facet.present(view, handle, key == facet.writing))
        if not view.presented:
            if len(self.viewers) > 15 and len(self.viewers) & (len(self.viewers) - 1) == 0:
                self.viewers = list({id(ref): ref for ref in self.viewers
                                     if ref() is not None}.values())
            self.viewers.append(weakref.ref(view))
        view.presented.setdefault(key, record)
        return record

    def export(self, view: View, facet: Facet, where: SourceLine | None) -> ExportRecord:
        """Begin an export: an access that reads, belongs to no thread and lasts until its `end`."""
        with self.lock:
            if self.accesses:
                self._check_conflicts(view, facet, INPUT, EXPORTED, where)
            handle = self._refresh(facet.memory)
            presented = view.presented.get(facet.reading)
            if presented is None:
                presented = self._present(view, facet, facet.reading, handle)
            self.seen |= facet.bit
            record = ExportRecord(view, facet, handle, presented.value, where)
            self.accesses.append(record)
        return record

    def _check_conflicts(self, view: View, facet: Facet, direction: Direction, thread: int,
               where: SourceLine | None = None) -> None:
        """Raise `ConflictError` if an access conflicts with one that is open."""
        if getattr(allow_conflicts, "depth", 0):
            return
        for other in tuple(self.accesses):  # a copy: accesses that read end without the lock
            # one without a thread is about to end
            if (direction is INPUT and other.direction is INPUT) or not other.thread:
                continue
            if other.thread != thread or other.facet.memory is not facet.memory:
                raise ConflictError(
                    f"cannot access {describe(view, facet, direction, thread, where)}: it "
                    f"conflicts with the access to {other.describe()}; {other.way_out}")

    def close(self, record: AccessRecord, failed: bool) -> None:
        """End an access; commit it or roll it back if it writes."""
        # one that reads changes no state, and needs no lock:
        if record.direction is INPUT and not OBSERVERS:
            record.where = record.view = None
            record.thread = 0  # the last thing: from now on the record may be used again
            self.accesses.remove(record)  # this is atomic
            return
        fault = self._notify_left(record, failed) if OBSERVERS else None
        lock = self.lock
        lock.acquire()
        try:
            self.accesses.remove(record)
            if self.writer is record:
                if failed or self.accesses or fault is not None or self.spoiled:
                    self._end_write(record, failed or fault is not None)
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

    def _end_write(self, record: AccessRecord, failed: bool) -> None:
        """Commit or roll back the outermost writing access `record`."""
        failed = failed or self.spoiled
        inner = next((other for other in tuple(self.accesses) if other.direction is not INPUT),
                     None)
        if inner is not None:  # it did not end in order; the last one decides
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
        """End an access whose block never began; the data is unchanged."""
        if OBSERVERS:
            # an error is being raised already: an observer's does not replace it
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
        """Notify all observers; return the first error that one raised.

        The block then counts as failed.
        """
        fault = None
        for observer in tuple(OBSERVERS):
            try:
                observer.left(record, failed)
            except BaseException as error:
                fault = fault or error
        return fault

    # Asynchronous copies

    def begin_copy(self, view: View, memory: Memory, where: SourceLine) -> bool:
        """Begin to copy the data to `memory`; return False if there is nothing to `finish_copy`."""
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
        """Wait for the copy to `memory`, if one is in progress; raise its error if it failed."""
        finish_copy(self, memory)

    # Dropping and keeping

    def drop(self, memory: Memory, force: bool, retain: bool = False) -> bool:
        """Free the copy in `memory`; return False if there is none.

        The only fresh copy is dropped only if `force` is True. An exported copy is retained for its
        exports if `retain` is True; else it is a conflict.
        """
        with self.lock:
            if memory not in self.handles:
                return False
            self._check_droppable(memory, retain)
            lost = self._would_lose(memory)
            if lost and not force:
                raise ConflictError(f"{memory.name!r} has the only copy of this data; access it "
                                    "in another memory first, or discard it with force=True")
            self.fresh &= ~memory.bit
            if lost:
                self.fresh, self.torn, self.pristine = 0, None, True
            self._discard(memory)
        return True

    def _would_lose(self, memory: Memory) -> bool:
        """Return True if `memory` has the only copy of the data."""
        writing = self.writer.facet.memory.bit if self.writer is not None else 0
        if self.torn is not None:
            return memory is self.torn_memory
        return bool(self.fresh & memory.bit and not self.fresh & ~memory.bit & ~writing
                    and not self.pristine)

    def _check_droppable(self, memory: Memory, retain: bool = False) -> None:
        """Raise `ConflictError` if the copy in `memory` is in use."""
        for record in tuple(self.accesses):
            if not record.thread or record.facet.memory is not memory:
                continue
            if not (retain and isinstance(record, ExportRecord)):
                raise ConflictError(f"cannot drop {memory.name!r} during the access to "
                                    f"{record.describe()}; {record.way_out}")
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
        """Remove the handle of `memory` and the values presented of it, and free it."""
        handle = self.handles.pop(memory)
        views = [view for view in (ref() for ref in self.viewers) if view is not None]
        for view in views:
            view.presented = {key: record for key, record in view.presented.items()
                              if record.handle is not handle}
        self.viewers = [weakref.ref(view) for view in views if view.presented]
        self.seen &= sum(f.bit for f in all_facets() if f.memory in self.handles)
        if not retain_for_exports(self.accesses, memory, handle):
            memory.free(handle)
        for observer in tuple(OBSERVERS):
            observer.freed(self, memory)

    def evict(self, memory: Memory, dirty: bool) -> bool:
        """Free the copy in `memory` to make room, if it is not in use; return True if it was freed.

        Data that is fresh nowhere else is copied to the host first if `dirty` is True; else it is
        not freed. This never waits for another thread.
        """
        if not try_lock(self.lock):
            return False
        try:
            if memory not in self.handles or self.writer is not None or self.torn is not None:
                return False
            if not self._is_droppable(memory):
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

    def _is_droppable(self, memory: Memory) -> bool:
        try:
            self._check_droppable(memory)
        except ConflictError:
            return False
        return True

    def drop_all(self) -> None:
        """Free every copy now and discard the data: a later access reads the fill value."""
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
        """Keep the copy in `memory` while the block runs, allocating it if there is none."""
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

    def refresh_before_drop(self, ensure: Memory, dropped: int) -> None:
        """Make `ensure` fresh if only memories in the bit mask `dropped` are fresh.

        Not while a block writes: a half-written copy is not copied, and the copy to which a failing
        block would return is not dropped.
        """
        with self.lock:
            only_there = self.fresh and not self.fresh & ~dropped
            if only_there and not self.pristine and self.writer is None:
                self._refresh(ensure)
            elif (self.torn is not None and self.torn_memory is not None
                  and self.torn_memory.bit & dropped and not self.accesses):
                self._move_torn(ensure)

    def _move_torn(self, target: Memory) -> None:
        """Copy the elements that a failed block left to `target`, for `accept_torn`."""
        source = self.torn_memory
        if source is None or source is host() or target is not host():
            return
        handle = self.handles.get(target)
        if handle is None:
            handle = self._allocate(target)
        source.copy_out(self, self.handles[source], handle)
        self.torn_memory = target
