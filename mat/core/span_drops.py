"""How copies of a cube that has spans are dropped, evicted, and joined in one.

The caller of every function holds the lock of the cube.
"""

from __future__ import annotations

from typing import Any

from ..errors import ConflictError, DeviceError
from .observers import OBSERVERS, notify_evicted
from .registry import Memory, SpansLike, WholeCube
from .runs import NONE, Runs, union
from .span_copy import SpanCopy
from .span_transfer import copy_torn, refresh

# of one cube in one memory: then new ones are wider, so that a loop over rows makes few more, and
# where there is room all are joined if the whole has no more bytes than these for each
MANY_PARTS, WORTH_A_PART = 64, 1 << 13


def only_in(cube: WholeCube, spans: SpansLike, copies: list[SpanCopy]) -> Runs:
    """Return the elements that only these copies have."""
    found = union(spans.committed(cube, c) for c in copies)
    for copy in spans.copies:
        if copy.near(found) and copy not in copies:
            found = found - spans.committed(cube, copy)
    return found - spans.pristine if found else NONE


def is_used(cube: WholeCube, spans: SpansLike, copy: SpanCopy) -> bool:
    """Return whether a copy is accessed, kept, or being copied."""
    return (copy in spans.pending or copy in spans.used or copy.is_kept
            or cube.is_kept(copy.memory) or any(r.used is copy for r in tuple(cube.accesses)))


def evict(cube: WholeCube, spans: SpansLike, copy: SpanCopy, dirty: bool) -> bool:
    """Free an unused copy; return False if it is in use, or alone has elements without `dirty`."""
    if copy not in spans.copies or is_used(cube, spans, copy) or cube.adopted is copy.memory:
        return False
    only, torn = only_in(cube, spans, [copy]), [t for t in spans.torn if t.copy is copy]
    if (only or torn) and not dirty:
        return False
    if only and only.meets(spans.in_flux(cube, spans.on_host(cube))):
        return False
    notify_evicted(cube, copy.memory, copy.owner.nbytes)
    if only:
        refresh(cube, spans, spans.on_host(cube), only)
    move_torn(cube, spans, torn)
    discard(cube, spans, copy)
    return True


def move_torn(cube: WholeCube, spans: SpansLike, found: list[Any]) -> None:
    """Copy the torn elements of failed blocks to the host, for `accept_torn`."""
    for torn in found:
        middle = spans.on_host(cube)
        if torn.copy is not None and torn.copy is not middle:
            copy_torn(cube, spans, torn.copy, middle, torn.runs)
            torn.copy = middle


def discard(cube: WholeCube, spans: SpansLike, copy: SpanCopy) -> None:
    """Free a copy."""
    if copy.whole:
        cube.discard(copy.memory)  # which calls `forget`
        return
    spans.forget(copy)
    handle, copy.part = copy.part, None
    if handle is not None:
        copy.memory.free(handle)
    for observer in tuple(OBSERVERS):
        observer.freed(copy, copy.memory)


def drop(cube: WholeCube, spans: SpansLike, copies: list[SpanCopy], force: bool) -> None:
    """Free copies that are not in use; raise `ConflictError` if they have the only data."""
    lost = only_in(cube, spans, copies) | union(t.runs for t in spans.torn if t.copy in copies)
    if lost and not force:
        raise ConflictError(f"{copies[0].memory.name!r} has the only copy of elements {lost!r} of "
                            "this data; access them in another memory first, or discard them with "
                            "force=True")
    if lost:
        spans.forget_torn(lost)
        spans.pristine = spans.pristine | lost
    for copy in copies:
        discard(cube, spans, copy)


def refresh_before_drop(cube: WholeCube, spans: SpansLike, doomed: list[SpanCopy]) -> None:
    """Copy to the host the elements that only these copies have, except those being written."""
    only = only_in(cube, spans, doomed) - spans.in_flux(cube)
    if only:
        refresh(cube, spans, spans.on_host(cube), only)
    if not cube.accesses:
        move_torn(cube, spans, [t for t in spans.torn if t.copy in doomed])


def tidy(cube: WholeCube, spans: SpansLike) -> None:
    """Free copies of parts that have nothing fresh, or nothing that a larger one has not.

    Those in use are freed when a later access ends.
    """
    around: list[SpanCopy] = []  # those that may contain the next one
    spans.settled = True
    for copy in sorted(spans.copies, key=lambda c: (c.start, -c.stop)):  # larger ones first
        around = [c for c in around if c.stop > copy.start]
        needless = not copy.fresh or any(c.memory is copy.memory and c.stop >= copy.stop
                                         and c.fresh.covers(copy.fresh) for c in around)
        if needless and not copy.whole:
            if not is_used(cube, spans, copy) and all(t.copy is not copy for t in spans.torn):
                discard(cube, spans, copy)
                continue
            spans.settled = False
        around.append(copy)


# A loop over batches that are views of one Mat makes a copy of each. Once they have all elements,
# one copy of them is as good, and accesses to it take less time: there are no parts to look at.


def join_parts(cube: WholeCube, spans: SpansLike) -> None:
    """Make a copy of all elements in the memory that has got a part, if its parts have them all
    now, or there are many, and if there is room for it; the parts are freed by `tidy`.
    """
    memory, spans.grown = spans.grown, None
    if memory is None or cube.accesses or spans.busy or spans.torn or spans.pending:
        return
    whole = None
    if _can_be_joined(cube, spans, memory):
        try:
            whole = spans.make(cube, memory, 0, cube.units)
            refresh(cube, spans, whole, spans.everything)
        except DeviceError:  # the parts are used as before
            if whole is not None:
                discard(cube, spans, whole)


def _can_be_joined(cube: WholeCube, spans: SpansLike, memory: Memory) -> bool:
    parts = [copy for copy in spans.copies if copy.memory is memory]
    soon = (len(parts) > MANY_PARTS and cube.nbytes <= WORTH_A_PART * len(parts)
            and cube.fits_easily(memory))
    return (memory.joins and (soon or sum(copy.size for copy in parts) >= cube.units)
            and not any(copy.whole or is_used(cube, spans, copy) for copy in parts)
            and memory.has_room(cube.nbytes)
            and (soon or bool(union(copy.fresh for copy in parts).covers(spans.everything))))
