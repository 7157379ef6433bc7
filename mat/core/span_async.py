"""Asynchronous copies of parts; see `async_copy` for those of whole cubes."""

from __future__ import annotations

from contextlib import suppress
from time import perf_counter

from .async_copy import AsyncCopy, AsyncCopyRecord, arrive
from .registry import SpansLike, WholeCube, facet_over, host
from .runs import Runs
from .source_line import SourceLine, Viewed
from .span_copy import SpanCopy


# the parameters are the facts of a copy
def begin(cube: WholeCube, spans: SpansLike, view: Viewed, source: SpanCopy, target: SpanCopy,
          runs: Runs, where: SourceLine) -> None:
    """Begin to copy `runs`, all that the copy of the device has, between it and the host."""
    if cube.shared:
        cube.before_copy(source.memory, target.memory, runs)
    facet = facet_over(source.memory, cube.seen)
    record = AsyncCopyRecord(view, facet, source.handle, where)
    record.runs, record.used = runs, source
    copy = AsyncCopy(record, source.memory, target.memory, False)
    try:
        spans.pending[target] = copy
        cube.accesses.append(record)
        if target.memory is host():
            copy.pending = source.memory.begin_copy_out(source.counted, source.handle,
                                                        source.part_of(target.handle))
        else:
            copy.pending = target.memory.begin_copy_in(target.counted, target.handle,
                                                       target.part_of(source.handle))
    except BaseException:
        _abandon(cube, spans, target)
        raise


def finish(cube: WholeCube, spans: SpansLike, target: SpanCopy) -> None:
    """Wait for the copy in progress to `target`, and record the elements fresh there.

    If it failed, raise its error; nothing has changed then.
    """
    copy = spans.pending[target]
    if copy.record.is_orphan:
        _abandon(cube, spans, target)
        return
    try:
        if arrive(copy.pending) and copy.pending is not None:
            copy.pending.wait()
    except Exception:
        _abandon(cube, spans, target)
        raise
    runs = copy.record.runs
    if cube.shared:
        cube.after_copy(target.memory, runs)
    target.fresh = target.fresh | runs  # what is copied cannot be written meanwhile
    spans.grown = target.memory
    copy.target.note_use(target.handle)  # it is used next: others are evicted before it
    _remove(cube, spans, target)
    cube.log_runs(copy.source, copy.target, runs, perf_counter() - copy.begun)


def _abandon(cube: WholeCube, spans: SpansLike, target: SpanCopy) -> None:
    """Forget a copy that failed, or whose beginning was interrupted."""
    copy = spans.pending.get(target)
    if copy is not None and copy.pending is not None and not copy.record.is_orphan:
        with suppress(Exception):  # it goes on, and must not write what is freed
            copy.pending.wait()
    if copy is not None and cube.shared:
        cube.after_copy(copy.target, copy.record.runs)
    _remove(cube, spans, target)


def _remove(cube: WholeCube, spans: SpansLike, target: SpanCopy) -> None:
    copy = spans.pending.get(target)
    if copy is not None:
        if copy.record in cube.accesses:
            cube.accesses.remove(copy.record)
        copy.record.thread = 0
        copy.record.view = copy.record.where = None
        spans.pending.pop(target, None)
