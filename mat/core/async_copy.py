"""Copies in flight: begun, and not waited for yet. Until one has arrived, its source is held as by
a reader.

Its target is not fresh; who looks at that waits. Who would write the source is told of the prefetch
that reads it.
"""

from __future__ import annotations

from contextlib import suppress
from time import perf_counter
from typing import Any

from .access_record import ASYNC_COPY, AccessRecord, SourceLine, line_of
from .direction import INPUT
from .registry import Facet, Memory, host


class AsyncCopyRecord(AccessRecord):
    """The hold on the source of a copy under way."""

    __slots__ = ()

    def __init__(self, view: Any, facet: Facet, handle: Any, where: SourceLine) -> None:
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
    """One copy under way to `target`; `pending` is what the memory gave to wait with."""

    __slots__ = ("begun", "new", "pending", "record", "source", "target")

    def __init__(self, record: AccessRecord, source: Memory, target: Memory, pending: Any,
                 new: bool) -> None:
        self.record = record
        self.source = source
        self.target = target
        self.pending = pending
        self.new = new  # its memory was taken for it
        self.begun = perf_counter()


def begin_copy(cube: Any, view: Any, facet: Facet, target: Memory, where: SourceLine) -> AsyncCopy:
    """Begin to copy what is fresh in the memory of `facet` to `target`, of which one is the host.
    The lock is held.
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


def finish_copy(cube: Any, target: Memory) -> None:
    """Wait for the copy to `target`, if one is under way, without keeping others from reading the
    source meanwhile.
    """
    copy = (cube.async_copies or {}).get(target)
    if copy is not None and copy.pending is not None:
        with suppress(Exception):  # raised again below
            copy.pending.wait()
    with cube.lock:
        finish_copy_locked(cube, target)


def finish_copy_locked(cube: Any, target: Memory) -> None:
    """The same with the lock held: the data is fresh in `target` then, or if the copy failed, all
    is as before.
    """
    copy = (cube.async_copies or {}).get(target)
    if copy is None:
        return
    try:
        if copy.pending is not None:
            copy.pending.wait()
    except Exception:  # anything else interrupted the wait, and the copy is still under way
        _end(cube, copy)
        if copy.new:
            cube._discard(target)
        raise
    _end(cube, copy)
    cube.fresh |= target.bit
    cube.log(copy.source, target, perf_counter() - copy.begun)


def _end(cube: Any, copy: AsyncCopy) -> None:
    cube.async_copies = {memory: other for memory,
                         other in cube.async_copies.items() if other is not copy} or None
    cube.accesses.remove(copy.record)
    copy.record.thread = 0
    copy.record.view = copy.record.where = None
