"""How copies of parts in one memory become one copy of all elements.

A loop over batches that are views of one Mat makes a copy of each. Once they have all elements, one
copy of them is as good, and accesses to it take less time: there are no parts to look at.
"""

from __future__ import annotations

from ..errors import DeviceError
from .registry import CubeLike, Memory, SpansLike
from .runs import union
from .span_drops import discard, is_used
from .span_transfer import refresh


def join_parts(cube: CubeLike, spans: SpansLike) -> None:
    """Make a copy of all elements in the memory that has got a part, if its parts have them all
    now, and if there is room for it; the parts are freed by `tidy`.

    The caller holds the lock of the cube.
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


def _can_be_joined(cube: CubeLike, spans: SpansLike, memory: Memory) -> bool:
    parts = [copy for copy in spans.copies if copy.memory is memory]
    return (sum(copy.size for copy in parts) >= cube.units
            and not any(copy.whole or is_used(cube, spans, copy) for copy in parts)
            and memory.joins and memory.has_room(cube.nbytes)
            and bool(union(copy.fresh for copy in parts).covers(spans.everything)))
