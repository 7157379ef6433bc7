"""Asynchronous copies: begun by `begin_copy`, and finished when the data is accessed.

Until a copy has finished, its source is recorded as being read, so a write to it is a conflict
whose message names the prefetch. The target is not fresh until then; an access to it waits.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from time import perf_counter

from .access_record import AccessRecord
from .direction import INPUT
from .registry import CubeLike, Facet, Handle, Memory, PendingCopy, Presented, ViewLike, host
from .source_line import ASYNC_COPY, SourceLine, Viewed, line_of


class AsyncCopyRecord(AccessRecord):
    """The access of an asynchronous copy to its source."""

    __slots__ = ()
    # declared by the base class, and set here
    value: Presented
    make_value: Callable[[], Presented] | None
    task: object
    view: ViewLike | None
    where: SourceLine | None

    def __init__(self, view: Viewed, facet: Facet, handle: Handle, where: SourceLine) -> None:
        self.facet = facet
        self.mask: int = facet.mask
        self.handle = handle
        self.value = self.make_value = self.task = None
        self.thread = ASYNC_COPY
        self.view = view
        self.direction = INPUT
        self.where = where

    def describe(self) -> str:
        return (f"{self.label()} by an asynchronous copy in progress, prefetched at "
                f"{line_of(self.where)}")


class AsyncCopy:
    """A copy from `source` to `target` in progress.

    `pending` is the object that the memory returned to wait for its end.
    """

    __slots__ = ("begun", "done", "new", "pending", "record", "source", "target")

    def __init__(self, record: AccessRecord, source: Memory, target: Memory, new: bool) -> None:
        self.record: AccessRecord = record
        self.source: Memory = source
        self.target: Memory = target
        self.pending: PendingCopy | None = None
        self.new: bool = new  # the handle of the target was allocated for this copy
        self.done: bool = False  # the target has been made fresh
        self.begun: float = perf_counter()


def begin_copy(cube: CubeLike, view: Viewed, facet: Facet, target: Memory,
               where: SourceLine) -> AsyncCopy:
    """Begin to copy the data from the memory of `facet` to `target`; one of them is the host.

    The caller holds the lock of `cube`.
    """
    source, new = facet.memory, target not in cube.handles
    record = AsyncCopyRecord(view, facet, cube.handles[source], where)
    copy = AsyncCopy(record, source, target, new)
    try:
        if new:
            cube._allocate(target)
        cube.async_copies = {**(cube.async_copies or {}), target: copy}
        cube.accesses.append(record)
        handle = cube.handles[target]
        if target is host():
            copy.pending = source.begin_copy_out(cube, cube.handles[source], handle)
        else:
            copy.pending = target.begin_copy_in(cube, handle, cube.handles[source])
    except BaseException:
        _abandon(cube, copy)
        raise
    return copy


def finish_copy(cube: CubeLike, target: Memory) -> None:
    """Wait for the copy to `target`, if one is in progress.

    The lock is not held while waiting, so that other threads can read the source meanwhile.
    """
    copy = (cube.async_copies or {}).get(target)
    if copy is not None and copy.pending is not None:
        with suppress(Exception):  # raised again below
            copy.pending.wait()
    with cube.lock:
        finish_copy_locked(cube, target)


def finish_copy_locked(cube: CubeLike, target: Memory) -> None:
    """Wait for the copy to `target` and make `target` fresh; the caller holds the lock.

    If the copy failed, restore the state before it and raise its error. If this is interrupted, the
    copy is still in progress, and another call finishes it.
    """
    copy = (cube.async_copies or {}).get(target)
    if copy is None:
        return
    try:
        if copy.pending is not None:
            copy.pending.wait()
    except Exception:
        _abandon(cube, copy)
        raise
    if not copy.done:  # the source cannot be written before the record is removed
        cube.fresh |= target.bit
        copy.done = True
        target.note_use(cube.handles[target])  # it is used next: others are evicted before it
    _remove(cube, copy)
    cube.log(copy.source, target, perf_counter() - copy.begun)


def _abandon(cube: CubeLike, copy: AsyncCopy) -> None:
    """Restore the state before a copy that failed, or whose beginning was interrupted."""
    if copy.pending is not None:
        with suppress(Exception):  # it goes on, and must not write what is freed
            copy.pending.wait()
    _remove(cube, copy)
    if copy.new and copy.target in cube.handles:
        cube.discard(copy.target)


def _remove(cube: CubeLike, copy: AsyncCopy) -> None:
    """Remove a copy and its record from `cube`; the copy last, so that this can be repeated."""
    if copy.record in cube.accesses:
        cube.accesses.remove(copy.record)
    copy.record.thread = 0
    copy.record.view = copy.record.where = None
    cube.async_copies = {memory: other for memory, other in (cube.async_copies or {}).items()
                         if other is not copy} or None
