"""`Cube`: data with copies in several memories, which are made fresh only when they are accessed.

A *memory* is a memory space, a *facet* a representation of data in one memory. A *cube* records
which memories have a copy of its data, which copies are fresh, and which accesses are open; it
refuses accesses that conflict. What a memory allocates and what a facet presents are opaque here.
The contract is the docstring of `Direction`.
"""

from __future__ import annotations

from typing import Any

from ..errors import ConflictError, TornError
from .access_record import AccessRecord
from .async_copy import begin_copy, finish_copy
from .barrier import OPEN
from .compiled import BLOCKS, THREADS
from .direction import INPUT, IO, OUTPUT, Direction
from .dropping import DroppableCopies
from .export import ExportRecord
from .observers import OBSERVERS
from .registry import Facet, Handle, Memory, all_facets, host
from .source_line import ASYNC_COPY, EXPORTED, SourceLine, allow_conflicts, describe

_blocks, _observers, _threads = BLOCKS, OBSERVERS, THREADS  # with types of C
_input, _io, _output, _barriers = INPUT, IO, OUTPUT, OPEN
_TORN = ("{} failed and left the only copy half-written; overwrite all of it, or accept it as it "
         "is with accept_torn()")


class View:
    """Something that can be accessed: a storage, and the values that facets presented of it."""

    __slots__ = ("__weakref__", "presented", "storage")
    storage: Cube
    # Facet.reading or .writing -> the record to use again
    presented: dict[int, AccessRecord] | None

    def _direction_allowed(self, direction: Direction) -> Direction:
        """Return the direction with which the storage is to be accessed, if writing is allowed."""
        return direction

    def label(self) -> str:
        """Return a short name for messages, without accessing the data."""
        return "<a cube>"


class Cube(DroppableCopies):
    """One piece of data, its copies and the open accesses to it."""

    __slots__ = ()
    # declared by the base class, and set here
    fresh: int
    seen: int
    records: list[AccessRecord] | None
    address: int
    owns_block: bool
    spoiled: bool
    pristine: bool
    torn_memory: Memory | None
    version: int

    # Accessing

    def open(self, view: View, facet: Facet, direction: Direction,
             where: SourceLine | None) -> AccessRecord:
        """Begin an access: check conflicts, make the data fresh, present it, then record it."""
        lock = self._guard()
        lock.acquire()
        try:
            record = self._open(view, facet, direction)
            if record is not None:
                record.where = where
        finally:
            lock.release()
        if record is None:
            return view.storage.open(view, facet, direction, where)
        if _observers:
            self._notify_entered(record)
        return record

    def open_unpresented(self, view: View, facet: Facet, direction: Direction,
                         where: SourceLine | None) -> AccessRecord:
        """Begin an access by a kernel, which needs an address only."""
        thread, task = _threads.current(), _threads.task()
        lock = self._guard()
        lock.acquire()
        try:
            if self.records:
                self._check_conflicts(view, facet, direction, thread, task, None)
            if direction is not _output and not self.fresh & facet.mask:
                self._refresh(facet.memory)
            elif not ((not facet.of_device
                       and (self.address or (not self.copies and self._allocate_block())))
                      or facet.memory in self.handles):
                self._allocate(facet.memory)
            record = AccessRecord(facet, None, None)
            if view.storage is self:
                record.where = where
                self._begin(record, view, direction, thread, task)
                return record
        finally:
            lock.release()
        # another thread has changed it meanwhile
        return view.storage.open_unpresented(view, facet, direction, where)

    def _open(self, view: View, facet: Facet, direction: Direction) -> AccessRecord | None:
        """Begin an access; the caller holds the lock.

        Return None if another thread has changed `view` meanwhile: nothing has begun then.
        """
        if view.storage is not self:
            return None
        key = facet.reading
        if direction is not _input:
            key, direction = facet.writing, view._direction_allowed(direction)
        thread, task = _threads.current(), _threads.task()
        record, presented = None, view.presented
        if presented is None:
            presented = view.presented = {}  # a change of the view replaces it
        elif self.fresh & facet.mask and not self.records:
            record = presented.get(key)
        if record is None:
            record = self._ready(view, facet, direction, key, presented, thread, task)
            if view.presented is not presented or view.storage is not self:
                return None
        self._begin(record, view, direction, thread, task)
        return record

    # the parameters are those of an access
    def _begin(self, record: AccessRecord, view: View, direction: Direction, thread: int,
               task: object) -> None:
        """Note that the access has begun; nothing fails from here on."""
        self.seen |= record.bit
        record.begin(view, direction, thread, task)
        if direction is not _input and self.writer is None:
            self.writer = record
        if self.records is None:
            self.records = []
        self.records.append(record)

    # the parameters are those of an access
    def _ready(self, view: View, facet: Facet, direction: Direction, key: int,
               presented: dict[int, AccessRecord], thread: int, task: object) -> AccessRecord:
        """Check conflicts, make the data fresh, and return a record with the presented value."""
        memory = facet.memory
        if self.records:
            self._check_conflicts(view, facet, direction, thread, task, None)
        if direction is not _output and not self.fresh & facet.mask:
            handle = self._refresh(memory)
        else:
            handle = self.handles.get(memory)
            if handle is None:
                handle = self._allocate(memory)
        record = presented.get(key)
        if record is None or record.thread:
            record = self._present(view, facet, key, handle, presented)
        return record

    # `presented` is taken before the view is looked at
    def _present(self, view: View, facet: Facet, key: int, handle: Handle,
                 presented: dict[int, AccessRecord]) -> AccessRecord:
        """Have `facet` present `view`, and keep the value until the handle is dropped."""
        record = AccessRecord(facet, handle, facet.present(view, handle, key == facet.writing))
        if not presented:
            self._register_viewer(view)
        presented.setdefault(key, record)
        return record

    def export(self, view: View, facet: Facet, where: SourceLine | None) -> ExportRecord:
        """Begin an export: an access that reads, belongs to no thread and lasts until its `end`."""
        lock = self._guard()
        lock.acquire()
        try:
            record = self._export(view, facet, where)
        finally:
            lock.release()
        return view.storage.export(view, facet, where) if record is None else record

    def _export(self, view: View, facet: Facet, where: SourceLine | None) -> ExportRecord | None:
        """Begin an export, as `_open` does an access."""
        if view.storage is not self:
            return None
        if self.records:
            self._check_conflicts(view, facet, _input, EXPORTED, None, where)
        if view.presented is None:
            view.presented = {}
        presented = view.presented
        handle = self._refresh(facet.memory)
        found = presented.get(facet.reading)
        if found is None:
            found = self._present(view, facet, facet.reading, handle, presented)
        record = ExportRecord.__new__(ExportRecord)
        record.export(view, facet, facet.mask, handle, found.value, where)
        if view.presented is not presented or view.storage is not self:
            return None
        self.seen |= facet.bit
        self.accesses.append(record)
        return record

    # Calls of kernels that end before anything else can happen need no record

    def ready(self, mask: int, bit: int, reads: bool, writes: bool) -> int:
        """Return the address of the host's copy, if a kernel may use it at once, without a record
        of the access: 0 if an access has to be opened.

        `mask` is the bit of the host, `bit` that of the facet. No code of Python runs here, so
        that nothing else happens before the kernel is called.
        """
        if self.records and self.may_conflict(mask, writes):
            return 0
        if self.own_lock is not None and self.own_lock.count:
            return 0
        if reads and not self.fresh & mask:
            return 0
        if not self.address and (self.copies or not self._allocate_block()):
            return 0
        self.seen |= bit
        return self.address

    def _allocate_block(self) -> bool:
        """Have the host's copy be a block, if there are blocks; return True if it is."""
        if _barriers or not _blocks.enabled:
            return False
        self.address = _blocks.allocate(self.nbytes)
        self.owns_block = self.address != 0
        return self.owns_block

    def find_address(self) -> None:
        """Find out the address of the host's copy, if there is one."""
        handle = self.copies.get(host()) if self.copies else None
        if handle is not None:
            self.address = host().address_of(handle)

    def element_address(self, mask: int, bit: int, writes: bool) -> int:
        """Return the address of the host's copy, if it is fresh and its elements may be read, or
        written, at once; else 0.
        """
        if not self.address and self.copies:
            self.find_address()
        return self.ready(mask, bit, True, writes) if _blocks.enabled else 0

    def host_array(self, memory: Memory, facet: Facet, writes: bool) -> Handle:
        """Return the host's handle, if single elements may be read, or written, at once; else
        None: an access has to be opened.
        """
        if _observers or not self.fresh & facet.mask:
            return None
        if self.records and self.may_conflict(facet.mask, writes):
            return None
        if self.own_lock is not None and self.own_lock.count:
            return None
        self.seen |= facet.bit
        return self.handles[memory]

    def may_conflict(self, mask: int, writes: bool) -> bool:
        """Return whether an access to the memory with that bit, besides open ones, needs a check:
        none does that reads what others only read.
        """
        return (writes or self.writer is not None) and not self.covers(mask, writes)

    def covers(self, mask: int, writes: bool) -> bool:
        """Return whether an open access of this thread and task covers another one to the memory
        with that bit, which then needs none of its own.
        """
        writer = self.writer
        thread, task = _threads.current(), _threads.task()
        if writer is not None:
            return writer.thread == thread and writer.task is task and writer.mask == mask
        if writes or self.records is None:
            return False
        for other in self.records:
            if other.thread == thread and other.task is task and other.mask == mask:
                return True
        return False

    def written(self, mask: int) -> None:
        """Commit what a kernel wrote at once to the memory with the bit `mask`."""
        if self.writer is None:  # else its block commits
            self.fresh = mask
            self.pristine = False
            self.torn = None
            self.version += 1

    # the parameters are those of an access
    def _check_conflicts(self, view: View, facet: Facet, direction: Direction, thread: int,
                         task: object, where: SourceLine | None) -> None:
        """Raise `ConflictError` if an access conflicts with one that is open."""
        if getattr(allow_conflicts, "depth", 0):
            return
        for other in tuple(self.accesses):  # a copy: those that nobody holds any more are removed
            # one without a thread is about to end
            if (direction is _input and other.direction is _input) or not other.thread:
                continue
            mine = other.thread == thread and other.task is task
            if (mine and other.mask == facet.mask) or self._ended_without_leaving(other):
                continue
            wanted = describe(view, facet, direction, thread, where or _threads.line())
            raise ConflictError(f"cannot access {wanted}: it conflicts with the access to "
                                f"{other.describe()}; {other.way_out}")

    def end_abandoned(self) -> None:
        """End the accesses of threads and tasks that have ended; the caller holds the lock."""
        for record in tuple(self.records or ()):
            self._ended_without_leaving(record)

    def _ended_without_leaving(self, record: AccessRecord) -> bool:
        """End an access as failed if its thread or task has ended; return True if it has."""
        if record.thread in (ASYNC_COPY, EXPORTED):
            return False
        task: Any = record.task
        if _threads.ident(record.thread) and (task is None or not task.done()):
            return False
        self._close(record, True)
        return True

    def close(self, record: AccessRecord, failed: bool) -> None:
        """End an access; commit it or roll it back if it writes."""
        fault = self._notify_left(record, failed) if _observers else None
        lock = self._guard()
        lock.acquire_surely()
        try:
            self._close(record, failed or fault is not None)
        finally:
            lock.release()
        if fault is not None:
            raise fault

    def _close(self, record: AccessRecord, failed: bool) -> None:
        """End an access; the caller holds the lock."""
        if not self._forget(record):  # it was ended for a thread that had ended
            return
        try:
            if self.writer is record:
                self._end_write(record, failed)
        finally:
            record.reset()

    def _forget(self, record: AccessRecord) -> bool:
        """Remove `record` from the open accesses; return False if it is not among them."""
        records = self.records
        if not records:
            return False
        if records[-1] is record:
            records.pop()
            return True
        if record not in records:
            return False
        records.remove(record)
        return True

    def _commit(self, record: AccessRecord) -> None:
        self.writer = None
        self.version += 1
        if self.torn is not None and record.direction is _io:
            self.torn_memory = record.facet.memory  # it was let through, and read torn data
            return
        self.fresh = record.mask
        self.pristine = self.spoiled = False
        self.torn = None

    def _end_write(self, record: AccessRecord, failed: bool) -> None:
        """Commit or roll back the outermost writing access `record`."""
        failed = failed or self.spoiled
        inner = self._next_writer()
        if inner is not None:  # it did not end in order; the last one decides
            self.writer, self.spoiled = inner, failed
        elif failed:
            self.writer, self.spoiled = None, False
            self._roll_back(record)
        else:
            self._commit(record)

    def _next_writer(self) -> AccessRecord | None:
        """Return the first writing access that is open."""
        for other in self.accesses:
            if other.direction is not _input:
                return other
        return None

    def _roll_back(self, record: AccessRecord) -> None:
        self.fresh &= ~record.facet.mask
        if self.fresh or self.pristine or self.torn is not None:
            return
        self.torn_memory = record.facet.memory
        self.torn = TornError(_TORN.format("a block"))  # first: describing it may be interrupted
        self.torn = TornError(_TORN.format(record.describe()))

    def undo(self, record: AccessRecord) -> None:
        """End an access whose block never began; the data is unchanged."""
        if _observers:
            # an error is being raised already: an observer's does not replace it
            self._notify_left(record, True)
        lock = self.lock
        lock.acquire_surely()
        try:
            if not self._forget(record):
                return
            if self.writer is record:
                self.writer = self._next_writer()
            record.reset()
        finally:
            lock.release()

    def _notify_entered(self, record: AccessRecord) -> None:
        try:
            for observer in tuple(_observers):
                observer.entered(record)
        except BaseException:
            self.undo(record)
            raise

    def _notify_left(self, record: AccessRecord, failed: bool) -> BaseException | None:
        """Notify all observers; return the first error, for which the block counts as failed."""
        fault = None
        for observer in tuple(_observers):
            try:
                observer.left(record, failed)
            except BaseException as error:
                fault = fault or error
        return fault

    # Asynchronous copies

    def begin_copy(self, view: View, memory: Memory, where: SourceLine) -> bool:
        """Begin to copy the data to `memory`; return False if there is nothing to `finish_copy`."""
        with self.lock:
            self.end_abandoned()
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
