"""Asynchronous copies: begun by `begin_copy`, and finished when the data is accessed.

Until a copy has finished, its source is recorded as being read, so a write to it is a conflict
whose message names the prefetch. The target is not fresh until then; an access to it waits.
"""

from __future__ import annotations

from contextlib import suppress
from time import perf_counter

from .access_record import ASYNC_COPY, AccessRecord, SourceLine, Viewed, line_of
from .direction import INPUT
from .registry import CubeLike, Facet, Handle, Memory, PendingCopy, host


class AsyncCopyRecord(AccessRecord):
    """The access of an asynchronous copy to its source."""

    __slots__ = ()

    def __init__(self, view: Viewed, facet: Facet, handle: Handle, where: SourceLine) -> None:
        self.facet = facet
        self.mask = facet.mask
        self.handle = handle
        self.value = self.make_value = None
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

    __slots__ = ("begun", "new", "pending", "record", "source", "target")

    def __init__(self, record: AccessRecord, source: Memory, target: Memory,
                 pending: PendingCopy | None, new: bool) -> None:
        self.record = record
        self.source = source
        self.target = target
        self.pending = pending
        self.new = new  # the handle of the target was allocated for this copy
        self.begun = perf_counter()


def begin_copy(cube: CubeLike, view: Viewed, facet: Facet, target: Memory,
               where: SourceLine) -> AsyncCopy:
    """Begin to copy the data from the memory of `facet` to `target`; one of them is the host.

    The caller holds the lock of `cube`.
    """
    source = facet.memory
    handle, new = cube.handles.get(target), target not in cube.handles
    if new:
        handle = target.allocate(cube)
    try:
        if target is host():
            pending = source.begin_copy_out(cube, cube.handles[source], handle)
        else:
            pending = target.begin_copy_in(cube, handle, cube.handles[source])
    except BaseException:
        if new:
            target.free(handle)
        raise
    if new:
        cube._adopt(target, handle)
    record = AsyncCopyRecord(view, facet, cube.handles[source], where)
    copy = AsyncCopy(record, source, target, pending, new)
    cube.async_copies = {**(cube.async_copies or {}), target: copy}
    cube.accesses.append(record)
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

    If the copy failed, restore the state before it and raise its error.
    """
    copy = (cube.async_copies or {}).get(target)
    if copy is None:
        return
    try:
        if copy.pending is not None:
            copy.pending.wait()
    except Exception:  # anything else interrupted the wait, and the copy is still in progress
        _remove(cube, copy)
        if copy.new:
            cube._discard(target)
        raise
    _remove(cube, copy)
    cube.fresh |= target.bit
    cube.log(copy.source, target, perf_counter() - copy.begun)


def _remove(cube: CubeLike, copy: AsyncCopy) -> None:
    cube.async_copies = {memory: other for memory, other in cube.async_copies.items()
                         if other is not copy} or None
    cube.accesses.remove(copy.record)
    copy.record.thread = 0
    copy.record.view = copy.record.where = None
