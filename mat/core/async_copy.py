"""Asynchronous copies: begun by `begin_copy`, and finished when the data is accessed.

Until a copy has finished, its source is recorded as being read, so a write to it is a conflict
whose message names the prefetch. The target is not fresh until then; an access to it waits, unless
what the device does later waits by itself. Then the target is fresh at once, and the record of the
source is *late*: it conflicts with nothing, but whoever writes to that memory waits first.
"""

from __future__ import annotations

import os
from contextlib import suppress
from time import perf_counter

from ..errors import DeviceError
from .access_record import AccessRecord
from .compiled import THREADS
from .direction import INPUT
from .registry import Facet, Handle, Memory, PendingCopy, WholeCube, host
from .runs import run
from .source_line import ASYNC_COPY, SourceLine, Viewed, line_of


class AsyncCopyRecord(AccessRecord):
    """The access of an asynchronous copy to its source."""

    def __init__(self, view: Viewed, facet: Facet, handle: Handle, where: SourceLine) -> None:
        self.facet = facet
        self.mask: int = facet.mask
        self.handle = handle
        self.value = self.make_value = self.task = None
        self.thread = ASYNC_COPY
        self.view = view
        self.direction = INPUT
        self.where = where
        # what to wait for before the source is written or freed, once the target is fresh
        self.late: PendingCopy | None = None
        self.begun_by: tuple[int, int] = os.getpid(), THREADS.current()

    @property
    def is_orphan(self) -> bool:
        """True in a forked child, for a copy of a thread that the child does not have."""
        process, thread = self.begun_by
        return process != os.getpid() and not THREADS.ident(thread)

    def describe(self) -> str:
        if self.late is not None:
            return (f"the host's memory by a copy that was prefetched at {line_of(self.where)} and "
                    "that the device waits for")
        return (f"{self.label()} by an asynchronous copy in progress, prefetched at "
                f"{line_of(self.where)}")


class AsyncCopy:
    """A copy from `source` to `target` in progress.

    `pending` is the object that the memory returned to wait for its end.
    """

    def __init__(self, record: AsyncCopyRecord, source: Memory, target: Memory, new: bool) -> None:
        self.record: AsyncCopyRecord = record
        self.source: Memory = source
        self.target: Memory = target
        self.pending: PendingCopy | None = None
        self.new: bool = new  # the handle of the target was allocated for this copy
        self.done: bool = False  # the target has been made fresh
        self.begun: float = perf_counter()


def begin_copy(cube: WholeCube, view: Viewed, facet: Facet, target: Memory,
               where: SourceLine) -> AsyncCopy:
    """Begin to copy the data from the memory of `facet` to `target`; one of them is the host.

    The caller holds the lock of `cube`.
    """
    source, new = facet.memory, target not in cube.handles
    if cube.shared:
        cube.before_copy(source, target, None)
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


def finish_copy(cube: WholeCube, target: Memory) -> None:
    """Wait for the copy to `target`, if one is in progress.

    The lock is not held while waiting, so that other threads can read the source meanwhile.
    """
    copy = (cube.async_copies or {}).get(target)
    if copy is not None and copy.pending is not None and not hasattr(copy.pending, "follow"):
        with suppress(Exception):  # raised again below
            copy.pending.wait()
    with cube.lock:
        finish_copy_locked(cube, target)
        if cube.adopted is host():  # its owner may write it without asking
            for record in tuple(cube.accesses):
                end_late(cube, record)


def finish_copy_locked(cube: WholeCube, target: Memory) -> None:
    """Wait for the copy to `target` and make `target` fresh; the caller holds the lock.

    If the copy failed, restore the state before it and raise its error. If this is interrupted, the
    copy is still in progress, and another call finishes it.
    """
    copy = (cube.async_copies or {}).get(target)
    if copy is None:
        return
    if copy.record.is_orphan:
        _abandon(cube, copy)
        return
    try:
        reads = arrive(copy.pending)
    except Exception:
        _abandon(cube, copy)
        raise
    if not copy.done:  # the source cannot be written before the record is removed
        if cube.shared:
            cube.after_copy(target, None)
        cube.fresh |= target.bit
        copy.done = True
        target.note_use(cube.handles[target])  # it is used next: others are evicted before it
    if reads:
        record = copy.record
        record.late, record.runs = copy.pending, run(0, cube.units)
        record.view = None  # it may be there for long, and a Mat is in no cycle
        _leave(cube, copy)
    else:
        _remove(cube, copy)
    cube.log(copy.source, target, perf_counter() - copy.begun)


def abandon_orphan(cube: WholeCube, record: AccessRecord) -> bool:
    """End a copy of a thread that a forked child does not have; return False if it is none."""
    if not (isinstance(record, AsyncCopyRecord) and record.is_orphan):
        return False
    for copy in tuple((cube.async_copies or {}).values()):
        if copy.record is record:
            _abandon(cube, copy)
    if cube.spans is not None:
        for target, copy in tuple(cube.spans.pending.items()):
            if copy.record is record:
                cube.spans.pending.pop(target, None)
    forget(cube, record)
    return True


def _abandon(cube: WholeCube, copy: AsyncCopy) -> None:
    """Restore the state before a copy that failed, or whose beginning was interrupted."""
    if copy.pending is not None and not copy.record.is_orphan:
        with suppress(Exception):  # it goes on, and must not write what is freed
            copy.pending.wait()
    if cube.shared:
        cube.after_copy(copy.target, None)
    _remove(cube, copy)
    if copy.new and copy.target in cube.handles:
        cube.discard(copy.target)


def arrive(pending: PendingCopy | None) -> bool:
    """Order later uses of the target after the copy; return whether its source is still read."""
    follow = getattr(pending, "follow", None)
    if follow is not None:
        return bool(follow())
    if pending is not None:
        pending.wait()
    return False


def end_late(cube: WholeCube, record: AccessRecord) -> bool:
    """Wait for the end of a late copy and forget its record; return False if it is none."""
    late = getattr(record, "late", None)
    if late is None:
        return False
    if record.is_orphan:  # type: ignore[attr-defined]  # only such records are late
        return abandon_orphan(cube, record)
    with suppress(DeviceError):  # a device that failed reads nothing, and says so where it is used
        late.wait()
    forget(cube, record)
    return True


def forget(cube: WholeCube, record: AccessRecord) -> None:
    """Remove the record of a copy."""
    if record in cube.accesses:
        cube.accesses.remove(record)
    record.thread = 0
    record.view = record.where = None


def _remove(cube: WholeCube, copy: AsyncCopy) -> None:
    """Remove a copy and its record from `cube`; the copy last, so that this can be repeated."""
    forget(cube, copy.record)
    _leave(cube, copy)


def _leave(cube: WholeCube, copy: AsyncCopy) -> None:
    cube.async_copies = {memory: other for memory, other in (cube.async_copies or {}).items()
                         if other is not copy} or None
