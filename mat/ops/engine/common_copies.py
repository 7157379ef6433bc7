"""Operands of one call that share elements of a Mat: a device needs them in one copy, since a write
through one must be visible through another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

from ...core.direction import INPUT
from ...core.registry import Facet
from ...layout.strided import Layout
from ...matrix.mat import Mat
from ...matrix.with_facets import with_facets
from ...support.types import Operand


def in_common_copies(facet: Facet, written: Sequence[Mat],
                     operands: Sequence[Operand]) -> AbstractContextManager[object]:
    """Return a block for a call that accesses its operands through `facet`.

    In it, operands that overlap one that is written share its copy, which has all elements from the
    first to the last that they see, and is accessed by the block.
    """
    found: list[Mat] = []
    for target in written if facet.of_device else ():
        storage = target.storage
        if storage.spans is None and not storage.wants_spans(facet.memory):
            continue
        views = [x for x in operands if isinstance(x, Mat) and x.size and x.storage is storage]
        least = min((target, *views), key=lambda x: x.itemsize)  # bounds are of its elements
        low, high = _joined(target, views, least.itemsize)
        if (low, high) != _bounds(target, least.itemsize):
            found.append(least.over(Layout((high - low,), (1,), low)))
    return _held(facet, found) if found else nullcontext()


@contextmanager
def _held(facet: Facet, mats: list[Mat]) -> Iterator[None]:
    """Access the copies of Mats, written in part by the call."""
    group = with_facets(*((x, facet, INPUT) for x in mats))
    with group:
        for access in group.accesses:
            if access.record is not None:
                access.record.only_holds = True
        yield


def _joined(target: Mat, views: Sequence[Mat], size: int) -> tuple[int, int]:
    """Return the common bounds of the views that overlap `target`, or each other there."""
    low, high = _bounds(target, size)
    for start, stop in sorted(_bounds(view, size) for view in views):
        if start < high and low < stop:
            low, high = min(low, start), max(high, stop)
    return low, high


def _bounds(view: Mat, size: int) -> tuple[int, int]:
    """Return the bounds of a view in elements of `size` bytes."""
    low, high = view.layout.bounds
    return low * view.itemsize // size, high * view.itemsize // size
