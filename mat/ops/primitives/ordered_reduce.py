"""Sums and products of floating-point numbers in an order that the shape alone fixes, so that their
bits are the same on every device: element-wise operations of equal parts.
"""

from __future__ import annotations

from ...layout.shapes import Ints
from ...matrix.mat import Mat
from ...support.types import Function
from .declare_reduce import reduced_shape

LANES = 1 << 14  # partial results that stay in a cache
MOST_SLABS = 64  # that are added to them one after another


def reduced_in_order(values: Mat, axes: Ints, keepdims: bool, combine: Function) -> Mat:
    """Return the elements of `values`, which is overwritten, combined over `axes`, not empty.

    Elements that are a number of lanes apart are combined one after another, then lanes by halves.
    """
    kept = tuple(k for k in range(values.ndim) if k not in axes)
    shape = reduced_shape(values.shape, axes, keepdims)
    count = 1
    for k in axes:
        count *= values.shape[k]
    x = values.transpose(*kept, *axes).reshape(*(values.shape[k] for k in kept), count)
    lanes = min(count, max(LANES, -(-count // MOST_SLABS)))
    for start in range(lanes, count, lanes):
        _combine(combine, x, start, min(start + lanes, count))
    while lanes > 1:
        half = (lanes + 1) // 2
        _combine(combine, x, half, lanes)
        lanes = half
    return x[..., 0].copy().reshape(*shape)


def _combine(combine: Function, x: Mat, start: int, stop: int) -> None:
    """Combine the first elements along the last axis with those from `start` to `stop`."""
    first = x[..., :stop - start]
    combine(first, x[..., start:stop], first)
