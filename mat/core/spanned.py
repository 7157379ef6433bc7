"""`SpannedCopies`: when a cube tracks its parts separately, and how accesses then proceed.

`Spans` has the state, and the rules.
"""

from __future__ import annotations

from typing import Any

from ..errors import ConflictError, TornError
from . import span_async
from .access_record import AccessRecord, narrowed, overlap
from .async_copy import begin_copy, finish_copy
from .direction import INPUT, Direction
from .dropping import DroppableCopies
from .export import ExportRecord
from .registry import Facet, Memory, RecordLike, ViewLike, facet_over, host
from .runs import Runs
from .source_line import EXPORTED, SourceLine
from .span_copy import SpanCopy
from .span_transfer import refresh, takes_parts

# storages of so many bytes are copied whole: a copy of less takes as long
SMALL = 64 << 10
MOST_OF = 8  # unless so many would not fit into a memory


class SpannedCopies(DroppableCopies):
    """The methods of a cube for accesses to parts of its data."""

    __slots__ = ()

    # When there are spans

    def wants_spans(self, memory: Memory) -> bool:
        """Return whether an access to a part that is stale in `memory` is to copy only its own
        elements.
        """
        if self.torn_memory is not None and not self.fresh:
            return True  # what it overwrites, or no element, is not torn
        if not takes_parts(memory):
            return False
        if self.is_small_in(memory):
            return False
        return any(takes_parts(m) for m in self.fresh_memories()) if self.fresh else (
            memory is not host() and self.pristine)

    def is_small_in(self, memory: Memory) -> bool:
        """Return whether copies in `memory` are of all elements, since these are so few."""
        return self.nbytes <= SMALL and (memory.limit is None
                                         or MOST_OF * self.nbytes <= memory.limit)

    def note_use(self, memory: Memory, view: ViewLike) -> None:
        """Mark the copies in `memory` that overlap `view` as used now."""
        spans = self.spans
        if spans is None:
            handles = [self.handles.get(memory)]
        else:
            runs = view._touched()
            handles = [copy.handle for copy in tuple(spans.copies)
                       if copy.memory is memory and copy.near(runs)]
        for handle in handles:
            if handle is not None:
                memory.note_use(handle)

    def needs_spans(self, mask: int, failed: bool) -> bool:
        """Return whether the end of a block that wrote a part of the elements in the memory with
        the bit `mask` is to change the state of no more than these.
        """
        if failed and self.pristine:
            return False
        beside = self.fresh & ~mask
        if not beside:
            return failed and self.torn is None
        return self.nbytes > SMALL and any(takes_parts(m) for m in self.fresh_memories()
                                           if m.bit & beside)

    # What views see

    def is_fresh(self, memory: Memory, view: ViewLike) -> bool:
        """Return whether copies in `memory` have the current data that `view` sees."""
        spans = self.spans  # another thread may end that state meanwhile
        if spans is None or self.fresh & memory.bit:
            return bool(self.fresh & memory.bit)
        runs = view._touched()
        return bool(runs) and bool(spans.fresh_in(memory, runs).covers(runs))

    def torn_error(self, view: ViewLike) -> TornError | None:
        """Return the error of elements that `view` sees, if a failed block left some."""
        if self.spans is None:
            return self.torn
        found: TornError | None = self.spans.torn_error(self.spans.touched(view))
        return found

    def is_being_written(self, view: ViewLike) -> bool:
        """Return whether an open access writes elements that `view` sees."""
        with self.lock:
            return any(record.direction is not INPUT and record.view is not None
                       and overlap(view, record.view) for record in tuple(self.accesses))

    # Accesses

    # the parameters are those of an access
    def open_spans(self, view: ViewLike, facet: Facet, direction: Direction, thread: int,
                   task: object, presents: bool) -> AccessRecord:
        """Return the record of an access, with its elements fresh; it has not begun."""
        spans = self.to_spans()
        spans.busy += 1
        try:
            found: AccessRecord = spans.open(self, view, facet, direction, thread, task, presents)
            return found
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
        """Record the end of the outermost writing access to a cube without spans, if it covers a
        part or encloses unfinished ones.
        """
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

    def part_to_keep(self, memory: Memory, view: ViewLike) -> SpanCopy | None:
        """Return the copy of a part to be kept, created if there is none; None: the whole."""
        if self.spans is None and (view._sees_all() or memory in self.handles
                                   or not self.wants_spans(memory)):
            return None
        spans = self.to_spans()
        try:
            copy = spans.copy_for(self, memory, spans.touched(view), None)
        except BaseException:
            self.settle()
            raise
        return None if copy.whole else copy

    # Asynchronous copies

    def begin_copy(self, view: ViewLike, memory: Memory, where: SourceLine) -> bool:
        """Begin to copy the data to `memory`; return False if there is nothing to `finish_copy`."""
        if self.shared:
            self.prepare(view, memory, INPUT)
        with self.lock:
            self.end_abandoned()
            writer: RecordLike = self.writer
            apart = writer is not None and not overlap(view, writer.view)
            stale = not self.fresh & memory.bit and not view._sees_all()
            if self.spans is not None or apart or (stale and self.wants_spans(memory)):
                return self.begin_span_copy(view, memory, where)
            if writer is not None:
                raise _cannot_prefetch(view, memory, writer)
            if self.fresh & memory.bit or (self.async_copies and memory in self.async_copies):
                return not self.fresh & memory.bit
            hub = host()
            source = hub if self.fresh & hub.bit else next(iter(self.fresh_memories()), memory)
            # from one device to another, or there is nothing to copy
            if hub not in (source, memory) or source is memory:
                self._refresh(memory)
                return False
            begin_copy(self, view, facet_over(source, self.seen), memory, where)
            return True

    def finish_copy(self, memory: Memory) -> None:
        """Wait for copies to `memory` that are in progress; raise an error if one failed."""
        if self.spans is not None:
            with self.lock:
                if self.spans is not None:
                    self.finish_span_copies(memory)
        finish_copy(self, memory)

    def begin_span_copy(self, view: ViewLike, memory: Memory, where: SourceLine) -> bool:
        """Begin to copy the elements of `view` to `memory`; return False if none has begun."""
        spans = self.to_spans()
        runs = spans.touched(view)
        for other in spans.writers(self):
            if other.runs.meets(runs):
                other.narrow()
                runs = narrowed(runs, view)
            if other.runs.meets(runs):
                raise _cannot_prefetch(view, memory, other)
        target = spans.copy_for(self, memory, runs, None)
        if target in spans.pending:
            return True
        source = self._source_of(target, runs)
        if source is None:
            refresh(self, spans, target, runs)
            self.settle()
            return False
        span_async.begin(self, spans, view, source, target, runs, where)
        return True

    def _source_of(self, target: SpanCopy, runs: Runs) -> SpanCopy | None:
        """Return the copy that can supply exactly `runs` in one transfer."""
        spans, hub = self.spans, host()
        if target.fresh.meets(runs) or len(runs) != 1:
            return None
        for source in spans.copies:
            part = source if target.memory is hub else target
            if (hub in (source.memory, target.memory) and source is not target
                    and (part.start, part.stop) == runs.bounds and takes_parts(part.memory)
                    and spans.committed(self, source).covers(runs)):
                found: SpanCopy = source
                return found
        return None

    def finish_span_copies(self, memory: Memory) -> None:
        """Wait for the copies of parts to `memory` that are under way."""
        spans: Any = self.spans
        for target in [t for t in spans.pending if t.memory is memory]:
            span_async.finish(self, spans, target)
        self.settle()

    def is_copying(self, memory: Memory) -> bool:
        """Return whether a copy to `memory` is under way."""
        if self.spans is not None:
            return any(target.memory is memory for target in self.spans.pending)
        return memory in (self.async_copies or ())


def _cannot_prefetch(view: ViewLike, memory: Memory, writer: RecordLike) -> ConflictError:
    """Return the error for a prefetch of elements that `writer` writes."""
    return ConflictError(f"cannot prefetch {view.label()} to {memory.name!r}: this conflicts with "
                         f"the access to {writer.describe()}; leave that block first")
