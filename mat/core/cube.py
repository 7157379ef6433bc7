"""`Cube`: data with copies in several memories, refreshed only when they are accessed.

A *memory* is a memory space, a *facet* a representation of data in one memory. A *cube* records
which memories have a copy of its data, which copies are fresh, and which accesses are open; it
refuses accesses that conflict. What a memory allocates and what a facet presents are opaque here.
The contract is the docstring of `Direction`.
"""

from __future__ import annotations

from typing import Any

from ..errors import OutOfDeviceMemory, TornError
from ..support.log import PENDING, flush
from . import coherence, span_transfer
from .access_record import AccessRecord, conflict, narrowed, overlap, without_outer
from .async_copy import abandon_orphan, end_late, finish_copy
from .barrier_copies import OPEN
from .compiled import BLOCKS, THREADS
from .direction import INPUT, IO, OUTPUT, Direction
from .dropping import DroppableCopies
from .export import KEPT_BY_EXPORTS, ExportRecord
from .observers import OBSERVERS
from .registry import Facet, Handle, Memory, ViewLike, host
from .runs import Runs, run
from .source_line import ASYNC_COPY, EXPORTED, SourceLine, allow_conflicts, describe
from .span_copy import SpanCopy
from .span_transfer import refresh
from .spans import TORN

_blocks, _observers, _threads = BLOCKS, OBSERVERS, THREADS  # with types of C
_input, _io, _output, _barriers, _pending = INPUT, IO, OUTPUT, OPEN, PENDING


class View:
    """Something that can be accessed: a storage, and the values that facets presented of it."""

    __slots__ = ("__weakref__", "presented", "storage")
    storage: Cube
    # Facet.reading or .writing -> the record to use again
    presented: dict[int, AccessRecord] | None

    def _direction_allowed(self, direction: Direction) -> Direction:
        """Return the direction for accessing the storage, if writing is allowed."""
        return direction

    def _sees_all(self) -> bool:
        """Return whether all elements of the storage are visible."""
        return True

    def _touched(self) -> Runs:
        """Return the elements that accesses to self touch."""
        return run(0, self.storage.units)

    def _touched_alone(self) -> Runs:
        """Return the elements that self sees, without others in between."""
        return self._touched()

    def _count(self) -> int:
        """Return how many elements of the storage are visible."""
        return self.storage.units

    def _whole(self) -> View:
        """Return a view of all elements of the storage."""
        return self

    def _relative_to(self, start: int) -> View:  # noqa: ARG002  # all are of the whole
        """Return the same elements in a storage that begins with the element `start`."""
        return self

    def _presentable(self, handle: Handle) -> Handle:
        """Return a handle as facets are given it, with elements of the dtype of self."""
        return handle

    def label(self) -> str:
        """Return a short name for messages, without accessing the data."""
        return "<a cube>"


def _of_part(view: View) -> Direction:
    """Return the direction for writing a part of data whose copies have one state each: the other
    elements are kept.

    Writing no element is reading: else what was not written would be the only fresh copy.
    """
    return _io if view._count() else _input


class Cube(DroppableCopies):
    """One piece of data, its copies and the open accesses to it."""

    __slots__ = ()

    # Accessing

    def open(self, view: View, facet: Facet, direction: Direction,
             where: SourceLine | None) -> AccessRecord:
        """Begin an access: check conflicts, make the data fresh, present it, then record it."""
        if _pending:  # now: an interrupt must not come after the access has begun
            flush()
        if facet.of_storage and not view._sees_all():
            # what the view does not see is presented as well, and is not overwritten
            view, direction = view._whole(), _io if direction is _output else direction
        if self.pending is not None:
            self.pending.settle(self, view, direction is not _input)
        if self.shared:
            self.prepare(view, facet.memory, direction)
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
        """Begin an access by a kernel that needs only an address."""
        if self.pending is not None:
            self.pending.settle(self, view, direction is not _input)
        if self.shared:
            self.prepare(view, facet.memory, direction)
        thread, task = _threads.current(), _threads.task()
        lock = self._guard()
        lock.acquire()
        try:
            if self._holds_back(view, direction):
                record = None
            elif self._is_apart(view, facet, direction, thread, task):
                record = self.open_spans(view, facet, direction, thread, task, False)
            else:
                if direction is not _input and not view._sees_all():
                    direction = _of_part(view)
                if direction is not _output and not self.fresh & facet.mask:
                    self._refresh(facet.memory)
                elif not ((not facet.of_device
                           and (self.address or (not self.copies and self._allocate_block())))
                          or facet.memory in self.handles):
                    self._allocate(facet.memory)
                record = AccessRecord(facet, None, None)
            if record is not None and view.storage is self:
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
        if self._holds_back(view, direction):
            return None
        key = facet.reading
        if direction is not _input:
            key, direction = facet.writing, view._direction_allowed(direction)
        thread, task = _threads.current(), _threads.task()
        record, presented = None, view.presented
        if presented is None:
            presented = view.presented = {}  # a change of the view replaces it
        elif self.fresh & facet.mask and not self.records and self.spans is None:
            record = presented.get(key)
        if record is None and self._is_apart(view, facet, direction, thread, task):
            record = self.open_spans(view, facet, direction, thread, task, True)
            if view.presented is not presented or view.storage is not self:
                self.settle()
                return None
        elif direction is not _input and not view._sees_all():
            direction = _of_part(view)
        if record is None:
            record = self._ready(view, facet, direction, key, presented)
            if view.presented is not presented or view.storage is not self:
                return None
        self._begin(record, view, direction, thread, task)
        return record

    def _holds_back(self, view: View, direction: Direction) -> bool:
        """Return whether `view` is of another storage, or pending expressions come first."""
        return view.storage is not self or (
            self.pending is not None and self.pending.holds_back(view, direction is not _input))

    def _begin(self, record: AccessRecord, view: View, direction: Direction, thread: int,
               task: object) -> None:
        """Register the begun access; nothing fails from here on."""
        self.seen |= record.bit
        record.begin(view, direction, thread, task)
        if direction is not _input and self.writer is None:
            self.writer = record
        self._add(record)

    def _add(self, record: AccessRecord) -> None:
        """Add a record to those of open accesses."""
        if self.records is None:
            self.records = [record]
        else:
            self.records.append(record)

    def _is_apart(self, view: View, facet: Facet, direction: Direction, thread: int,
                  task: object, where: SourceLine | None = None) -> bool:
        """Return whether an access changes the state of parts; raise an error if it conflicts."""
        if self.spans is not None:
            return True
        if self.records and self._check_conflicts(view, facet, direction, thread, task, where):
            return True
        if self.fresh & facet.mask or view._sees_all():
            return False
        if self.writer is not None and self.covers(facet.mask, direction is not _input):
            return False  # the outer block decides about all elements
        return self.wants_spans(facet.memory)

    def _ready(self, view: View, facet: Facet, direction: Direction, key: int,
               presented: dict[int, AccessRecord]) -> AccessRecord:
        """Make the data fresh, and return a record with the presented value."""
        memory = facet.memory
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
        """Present `view` by `facet`, and keep the value until the handle is dropped."""
        record = AccessRecord(
            facet, handle, facet.present(view, view._presentable(handle), key is facet.writing))
        if not presented:
            self._register_viewer(view)
        presented.setdefault(key, record)
        return record

    def export(self, view: View, facet: Facet, where: SourceLine | None) -> ExportRecord:
        """Begin an export: an access that reads, belongs to no thread and lasts until its `end`."""
        if self.pending is not None:
            self.pending.settle(self, view, False)
        if self.shared:
            self.prepare(view, facet.memory, _input)
        lock = self._guard()
        lock.acquire()
        try:
            record = self._export(view, facet, where)
        finally:
            lock.release()
        if record is None:
            return view.storage.export(view, facet, where)
        if _observers:
            record.notify()
        return record

    def _export(self, view: View, facet: Facet, where: SourceLine | None) -> ExportRecord | None:
        """Begin an export, as `_open` does an access."""
        if self._holds_back(view, _input):
            return None
        if self._is_apart(view, facet, _input, EXPORTED, None, where):
            record = self.export_spans(view, facet, where)
            self.accesses.append(record)
            return record
        if view.presented is None:
            view.presented = {}
        presented = view.presented
        found = presented.get(facet.reading)
        if found is not None and self.fresh & facet.mask and self.writer is None:
            handle = found.handle
        else:
            handle = self._refresh(facet.memory)
            found = presented.get(facet.reading)
        if found is None:
            found = self._present(view, facet, facet.reading, handle, presented)
        record = ExportRecord.__new__(ExportRecord)
        record.export(view, facet, facet.mask, handle, found.value, where)
        if view.presented is not presented or view.storage is not self:
            return None
        self.seen |= facet.bit
        self._add(record)
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
        if self.guarded or (self.pending is not None and self.pending.may_hold_back(writes)):
            return 0
        if writes and not self.leaves_nothing_fresh(mask):
            return 0
        if self.own_lock is not None and self.own_lock.count:
            return 0
        if reads and not self.fresh & mask and not (writes and self.is_arbitrary()):
            return 0
        if not self.address and (self.copies or not self._allocate_block()):
            return 0
        self.seen |= bit
        return self.address

    def ready_there(self, mask: int, bit: int, reads: bool, writes: bool, whole: bool) -> bool:
        """Return whether a device's kernel may use the copy in the memory with the bit `mask`
        without a record of the access; the caller holds the lock until it is queued.

        `whole` says whether the operand is all elements.
        """
        if self.guarded or self.shared or self.spans is not None or self.pending is not None:
            return False
        if self.records and self.may_conflict(mask, writes):
            return False
        if reads and not self.fresh & mask and not (writes and self.is_arbitrary()):
            return False
        if writes and not whole and not self.leaves_nothing_fresh(mask):
            return False
        self.seen |= bit
        return True

    def fresh_part(self, view: View, facet: Facet) -> SpanCopy | None:
        """Return a copy of a part that has the elements of `view` fresh, for a kernel that reads
        them without a record of the access; the caller holds the lock until it is queued.
        """
        if self.guarded or self.shared or self.pending is not None or self.records:
            return None
        self.seen |= facet.bit
        return self.spans.fresh_copy(self, facet.memory, view._touched())

    def provide_there(self, facet: Facet, reads: bool, whole: bool) -> bool:
        """Make the memory of `facet` fresh for a kernel that reads the `whole` of it, or allocate
        it for one that reads nothing, without a record of the access; return False if one has to
        be opened.
        """
        lock = self._guard()
        if lock.count:
            return False
        lock.acquire()
        try:
            if self.guarded or self.shared or self.spans is not None or (reads and not whole):
                return False
            in_use = self.records or self.async_copies
            if in_use or self.pending is not None or self.torn is not None:
                return False
            if reads:
                self._refresh(facet.memory)
            elif facet.memory not in self.handles:
                self._allocate(facet.memory)
        except OutOfDeviceMemory:
            return False
        finally:
            lock.release()
        return True

    def fail_write(self, record: AccessRecord) -> None:
        """Record, with the lock, that a kernel that writes without a record was not queued."""
        if self.writer is None:  # else its block fails
            self._end_write(record, True)

    def is_arbitrary(self) -> bool:
        """Return whether nothing was ever written, and the elements have no value before that."""
        return (self.pending is None and self.pristine and not self.fresh
                and self.fill_value is None and self.torn is None)

    def leaves_nothing_fresh(self, mask: int) -> bool:
        """Return whether a write to the memory with that bit makes all other copies stale."""
        return self.spans is None and (not self.fresh & ~mask or self.nbytes <= coherence.SMALL)

    def _allocate_block(self) -> bool:
        """Allocate a block for the host's copy, if blocks are available; return whether it was."""
        if _barriers or not _blocks.enabled:
            return False
        self.address = _blocks.allocate(self.nbytes)
        self.owns_block = self.address != 0
        return self.owns_block

    def find_address(self) -> None:
        """Find out the address of the host's copy, unless it is known; other threads may run."""
        handle = self.copies.get(host()) if not self.address and self.copies else None
        if handle is not None:
            self.address = host().address_of(handle)

    def element_address(self, mask: int, bit: int) -> int:
        """Return the address of the host's copy, if its elements may be read at once; else 0."""
        if not self.address:
            self.find_address()
        return self.ready(mask, bit, True, False) if _blocks.enabled else 0

    def host_array(self, memory: Memory, facet: Facet, writes: bool) -> Handle:
        """Return the host's handle, if elements may be read, or written, at once; else None."""
        if _observers or self.guarded or self.pending is not None:
            return None
        if not self.fresh & facet.mask:
            return None
        if writes and not self.leaves_nothing_fresh(facet.mask):
            return None
        if self.records and self.may_conflict(facet.mask, writes):
            return None
        if self.own_lock is not None and self.own_lock.count:
            return None
        self.seen |= facet.bit
        return self.handles[memory]

    def written(self, mask: int) -> None:
        """Commit a kernel's immediate write to the memory with the bit `mask`."""
        if self.writer is None:  # else its block commits
            self.fresh = mask
            self.pristine = False
            self.torn = None
            self.version += 1

    def close(self, record: AccessRecord, failed: bool) -> None:
        """End an access; commit it or roll it back if it writes."""
        fault = self._notify_left(record, failed) if _observers else None
        lock = self._guard()
        lock.acquire_surely()
        try:
            self._close(record, failed or fault is not None)
        finally:
            lock.release()
        if _pending:
            flush()
        if fault is not None:
            raise fault

    def _close(self, record: AccessRecord, failed: bool) -> None:
        """End an access; the caller holds the lock."""
        if self.spans is not None and record in self.accesses:
            try:
                self.close_spans(record, failed)
            finally:
                record.reset()
            return
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
            if len(records) == 1:  # a list that becomes empty would free its memory as well
                self.records = None
            else:
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
        self.pristine = False
        self.torn = None

    def _end_write(self, record: AccessRecord, failed: bool) -> None:
        """Commit or roll back the outermost writing access `record`."""
        view: Any = record.view
        self.writer = None
        if (self.records and self._next_writer() is not None) or (
                not view._sees_all() and self.needs_spans(record.mask, failed)):
            self.end_part(record, failed)
        elif failed:
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
        if not (self.fresh or self.pristine or self.torn is not None):
            self.torn_memory = record.facet.memory
            self.torn = TornError(TORN.format("a block"))  # first: describing it may be interrupted
            self.torn = TornError(TORN.format(record.describe()))
        if self.shared:  # what the block left there was not written by others
            self.after_copy(record.facet.memory, None)

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
            if self.spans is not None:
                self.settle()
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
        """Notify all observers; return the first error, which marks the block as failed."""
        fault = None
        for observer in tuple(_observers):
            try:
                observer.left(record, failed)
            except BaseException as error:
                fault = fault or error
        return fault

    # Conflicts

    def may_conflict(self, mask: int, writes: bool) -> bool:
        """Return whether an access is checked against open ones; concurrent reads are not."""
        return (writes or self.writer is not None) and not self.covers(mask, writes)

    def covers(self, mask: int, writes: bool) -> bool:
        """Return whether an open access of this thread and task covers another one there."""
        writer = self.writer
        if self.spans is not None:
            return False
        thread, task = _threads.current(), _threads.task()
        if writer is not None:
            if writes and not writer.view._sees_all():
                return False  # it may not see what is written now
            return writer.thread == thread and writer.task is task and writer.mask == mask
        if writes or self.records is None:
            return False
        for other in self.records:
            if other.thread == thread and other.task is task and other.mask == mask:
                return True
        return False

    def _check_conflicts(self, view: ViewLike, facet: Facet, direction: Direction, thread: int,
                         task: object, where: SourceLine | None) -> bool:
        """Raise `ConflictError` if an access conflicts with one that is open.

        Return True if one that is open would conflict with it if it saw the same elements.
        """
        apart = False
        if direction is _input and not self._writes():
            return apart
        if getattr(allow_conflicts, "depth", 0):
            return apart
        other: AccessRecord
        for other in tuple(self.accesses):  # a copy: those that nobody holds any more are removed
            # one without a thread is about to end
            if (direction is _input and other.direction is _input) or not other.thread:
                continue
            mine = (other.thread == thread and other.task is task and other.mask == facet.mask)
            if mine and (other.direction is not _input or not self.promises(other, view)):
                # the outermost decides, unless it writes a part only
                apart = apart or (direction is not _input and other.direction is not _input
                                  and other.view is not view and not other.view._sees_all())
                continue
            if not mine and (self.is_elsewhere_late(other, facet) or self.has_ended(other)):
                continue
            seen = other.view  # None: an export, which a collection of garbage has just ended
            if seen is None or not overlap(view, seen):
                apart = apart or seen is not None
                continue
            if KEPT_BY_EXPORTS and self._is_left(other):
                continue
            wanted = describe(view, facet, direction, thread, where or _threads.line())
            raise conflict(wanted, other, mine)
        return apart

    def _is_left(self, record: AccessRecord) -> bool:
        """Return whether a record is that of an export that keeps its memory."""
        if not isinstance(record, ExportRecord) or record.facet.memory is not host():
            return False
        if record.retained is None and self.leave_to_exports():
            for notify in tuple(KEPT_BY_EXPORTS):
                notify()
        # a collection of garbage may have ended it meanwhile
        return record.retained is not None or not record.thread

    def _writes(self) -> bool:
        """Return whether an access that writes is open."""
        if self.writer is None and self.spans is None:
            return False  # however many rows are exported
        records = self.accesses
        for other in records:  # noqa: SIM110  # a generator takes longer
            if other.direction is not _input and other.thread:
                return True
        return False

    def promises(self, block: AccessRecord, view: ViewLike) -> bool:
        """Return whether `block`, which only reads, encloses a write of its thread to elements that
        both see, outside any block of this thread that writes them.
        """
        runs = narrowed(view._touched(), view) & narrowed(block.view._touched(), block.view)
        return bool(without_outer(self.accesses, block, runs))

    def check_access(self, view: ViewLike, facet: Facet, direction: Direction) -> None:
        """Raise the error of an access that conflicts or reads torn elements; access nothing."""
        thread, task = _threads.current(), _threads.task()
        with self.lock:
            found = self.torn if self.writer is None else None
            if self.spans is not None:
                runs = self.spans.touched(view)
                self.spans.check_conflicts(self, view, facet, direction, thread, task, runs)
                found = self.spans.torn_error(runs - self.spans.in_flux(self))
            elif self.records:
                self._check_conflicts(view, facet, direction, thread, task, None)
            if found is not None and direction is not OUTPUT:
                self.read_torn(found)

    def is_being_written(self, view: ViewLike) -> bool:
        """Return whether an open access writes elements that `view` sees."""
        with self.lock:
            return any(record.direction is not INPUT and record.view is not None
                       and overlap(view, record.view) for record in tuple(self.accesses))

    def end_abandoned(self) -> None:
        """End the accesses of threads and tasks that have ended; the caller holds the lock."""
        for record in tuple(self.records or ()):
            self.has_ended(record)

    def is_elsewhere_late(self, record: AccessRecord, facet: Facet) -> bool:
        """Return whether a record is that of a late copy that reads another memory."""
        return (record.thread == ASYNC_COPY and record.facet.memory is not facet.memory
                and getattr(record, "late", None) is not None)

    def has_ended(self, record: AccessRecord) -> bool:
        """End an access as failed if its thread or task has ended; return True if it has.

        A late copy is waited for.
        """
        if record.thread in (ASYNC_COPY, EXPORTED):
            return end_late(self, record) or abandon_orphan(self, record)
        task: Any = record.task
        if _threads.ident(record.thread) and (task is None or not task.done()):
            return False
        self._close(record, True)
        return True

    # Accesses to parts, in the state of `Spans`

    def open_spans(self, view: ViewLike, facet: Facet, direction: Direction, thread: int,
                   task: object, presents: bool) -> AccessRecord:
        """Return the record of an access, with its elements fresh; it has not begun."""
        spans = self.to_spans()
        spans.busy += 1
        try:
            return spans.open(self, view, facet, direction, thread, task, presents)
        except BaseException:
            self.settle()
            raise
        finally:
            spans.busy -= 1

    def close_spans(self, record: AccessRecord, failed: bool) -> None:
        """Record the end of an access, while it is still among the open ones."""
        spans, accesses = self.spans, self.accesses
        if record.direction is INPUT or record.used is None:
            accesses.remove(record)
            if record.unchanged and spans.settled:
                return
        else:
            k = accesses.index(record)
            earlier, later = accesses[:k], accesses[k + 1:]
            accesses.remove(record)
            spans.close(self, record, failed, earlier, later)
        self.settle()

    def end_part(self, record: AccessRecord, failed: bool) -> None:
        """Record the end of the outermost write to a part, or one that encloses unfinished ones."""
        spans = self.to_spans()
        spans.adopt(record)
        spans.close(self, record, failed, (), self.accesses)
        self.settle()
        if self.shared:  # what was written there was not written by others
            self.after_copy(record.facet.memory, record.runs)

    def export_spans(self, view: ViewLike, facet: Facet, where: SourceLine | None) -> ExportRecord:
        """Return the record of an export, based on the copy of all elements."""
        spans = self.to_spans()
        runs = spans.touched(view)
        try:
            _, runs = spans.check_conflicts(self, view, facet, INPUT, EXPORTED, None, runs, where)
            copy = spans.whole_in(facet.memory) or spans.make(self, facet.memory, 0, self.units)
            refresh(self, spans, copy, runs)
        finally:
            self.settle()
        record = ExportRecord.__new__(ExportRecord)
        value = facet.present(view, view._presentable(copy.handle), False)
        record.export(view, facet, facet.mask, copy.handle, value, where)
        record.runs, record.used = runs, copy
        return record

    # Asynchronous copies

    def finish_copy(self, memory: Memory) -> None:
        """Wait for copies to `memory` that are in progress; raise an error if one failed."""
        if self.spans is not None:
            with self.lock:
                if self.spans is not None:
                    for target in [t for t in self.spans.pending if t.memory is memory]:
                        span_transfer.finish(self, self.spans, target)
                    self.settle()
        finish_copy(self, memory)

    def is_copying(self, memory: Memory) -> bool:
        """Return whether a copy to `memory` is under way."""
        if self.spans is not None:
            return any(target.memory is memory for target in self.spans.pending)
        return memory in (self.async_copies or ())
