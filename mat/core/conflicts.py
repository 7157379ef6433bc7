"""`ConflictChecks`: the accesses to a cube that exclude each other."""

from __future__ import annotations

from typing import Any

from .access_record import AccessRecord, conflict, narrowed, overlap, without_outer
from .async_copy import abandon_orphan, end_late
from .compiled import THREADS
from .direction import INPUT, OUTPUT, Direction
from .registry import Facet, RecordLike, ViewLike
from .source_line import ASYNC_COPY, EXPORTED, SourceLine, allow_conflicts, describe
from .spanned import SpannedCopies

_threads, _input = THREADS, INPUT  # with types of C


class ConflictChecks(SpannedCopies):
    """The methods of a cube that find accesses in the way of others."""

    __slots__ = ()

    def _close(self, record: AccessRecord, failed: bool) -> None:
        """End an access; the caller holds the lock."""
        raise NotImplementedError

    def may_conflict(self, mask: int, writes: bool) -> bool:
        """Return whether an access to the memory with that bit has to be checked against open ones.
        Concurrent reads never conflict.
        """
        return (writes or self.writer is not None) and not self.covers(mask, writes)

    def covers(self, mask: int, writes: bool) -> bool:
        """Return whether an open access of this thread and task covers another one to the memory
        with that bit, so that it needs no record of its own.
        """
        writer: RecordLike = self.writer
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

    # the parameters are those of an access
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
        other: RecordLike
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
            if not overlap(view, other.view):
                apart = True
                continue
            wanted = describe(view, facet, direction, thread, where or _threads.line())
            raise conflict(wanted, other, mine)
        return apart

    def _writes(self) -> bool:
        """Return whether an access that writes is open."""
        records = self.accesses
        for other in records:  # noqa: SIM110  # a generator takes longer
            if other.direction is not _input and other.thread:
                return True
        return False

    def promises(self, block: RecordLike, view: ViewLike) -> bool:
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

    def end_abandoned(self) -> None:
        """End the accesses of threads and tasks that have ended; the caller holds the lock."""
        for record in tuple(self.records or ()):
            self.has_ended(record)

    def is_elsewhere_late(self, record: AccessRecord, facet: Facet) -> bool:
        """Return whether a record is that of a late copy that reads another memory than that of
        `facet`.
        """
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
