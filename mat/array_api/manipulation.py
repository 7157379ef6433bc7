"""Shapes by the standard's functions: views where there is one, else copies by our own operations,
on the device in use.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import IndexOutOfRange, ShapeError
from ..interop.numpy.operators import by_numpy
from ..layout.strided import Ints, as_axes, as_axis, as_shape, integer
from ..layout.strided import broadcast_shapes as _broadcast
from ..matrix.mat import Mat
from ..ops.joining import concat as _concat
from ..ops.joining import stack as _stack
from .arguments import as_mat

__all__ = [
    "broadcast_arrays", "broadcast_shapes", "broadcast_to", "concat", "expand_dims", "flip",
    "matrix_transpose", "moveaxis",
    "permute_dims", "repeat", "reshape", "roll", "squeeze", "stack", "tile", "unstack",
]


def broadcast_shapes(*shapes: Any) -> Ints:
    """The shape that all of `shapes` broadcast to."""
    return _broadcast(as_shape(s) for s in shapes)


def broadcast_arrays(*arrays: Any) -> tuple[Mat, ...]:
    """The arrays in the shape that they all broadcast to: views that cannot be written."""
    mats = [as_mat(a) for a in arrays]
    shape = _broadcast(m.shape for m in mats)
    return tuple(m.broadcast_to(shape) for m in mats)


def broadcast_to(x: Any, /, shape: Any) -> Any:
    """`x` in another shape, axes of length 1 repeated: a view that cannot be written."""
    return as_mat(x).broadcast_to(as_shape(shape))


def concat(arrays: Any, /, *, axis: int | None = 0) -> Any:
    """The arrays one after another along `axis`; if that is None, their elements in row-major
    order.
    """
    mats = [as_mat(a) for a in arrays]
    return _concat([reshape(m, (-1,)) for m in mats], 0) if axis is None else _concat(mats, axis)


def stack(arrays: Any, /, *, axis: int = 0) -> Any:
    """The arrays, all of one shape, along a new axis."""
    return _stack([as_mat(a) for a in arrays], axis)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Mat, ...]:
    """The parts of `x` at each index of `axis`, without it: views."""
    x = as_mat(x)
    before = (slice(None),) * as_axis(axis, x.ndim)
    return tuple(x.over(x.layout[(*before, i)]) for i in range(x.shape[len(before)]))


def expand_dims(x: Any, /, axis: Any) -> Any:
    """`x` with new axes of length 1, so that they are at `axis` in the result: a view.
    `IndexOutOfRange` for no such axis.
    """
    x = as_mat(x)
    places = tuple(axis) if isinstance(axis, Iterable) else (axis,)
    ndim = x.ndim + len(places)
    if any(not -ndim <= integer(k, "an axis") < ndim for k in places):
        raise IndexOutOfRange(f"axis {axis} is out of range for a result of {ndim} dimensions")
    for k in sorted(as_axes(places, ndim)):
        x = x.expand_dims(k)
    return x


def squeeze(x: Any, /, axis: Any) -> Any:
    """`x` without the axes named, which are of length 1: a view."""
    return as_mat(x).squeeze(axis)


def flip(x: Any, /, *, axis: Any = None) -> Any:
    """`x` backwards along `axis`, or all axes: a view."""
    x = as_mat(x)
    axes = range(x.ndim) if axis is None else as_axes(axis, x.ndim)
    steps = tuple(slice(None, None, -1 if k in axes else 1) for k in range(x.ndim))
    return x.over(x.layout[(*steps, ...)])


def permute_dims(x: Any, /, axes: Any) -> Any:
    """The view whose axis ``k`` is axis ``axes[k]`` of `x`."""
    return as_mat(x).permute(tuple(axes))


def matrix_transpose(x: Any, /) -> Any:
    """The view with the last two axes exchanged."""
    return as_mat(x).mT


def moveaxis(x: Any, source: Any, destination: Any, /) -> Any:
    """The view in which the axes `source` are at `destination`, and the others in their order."""
    x = as_mat(x)
    old, new = as_axes(source, x.ndim), as_axes(destination, x.ndim)
    if len(old) != len(new):
        raise ShapeError(f"moveaxis wants as many places as axes, got {source} to {destination}")
    order = [k for k in range(x.ndim) if k not in old]
    for target, axis in sorted(zip(new, old, strict=True)):
        order.insert(target, axis)
    return x.permute(tuple(order))


def reshape(x: Any, /, shape: Any, *, copy: bool | None = None) -> Any:
    """`x` in another shape of the same size; a view unless strides forbid it, or `copy` is True.

    `ShapeError` where a copy would be needed and `copy` is False.
    """
    x = as_mat(x)
    if copy:
        return x.copy().reshape(shape)
    try:
        return x.reshape(shape)
    except ShapeError:
        if copy is False or x.is_contiguous:
            raise
    return x.contiguous().reshape(shape)


def repeat(x: Any, repeats: Any, /, *, axis: int | None = None) -> Any:
    """Each element along `axis` so many times in a row; without `axis`, of the elements in
    row-major order.
    """
    x = as_mat(x)
    x = reshape(x, (-1,)) if axis is None else x
    k = as_axis(0 if axis is None else axis, x.ndim)
    if isinstance(repeats, Mat | np.ndarray | np.generic) and as_mat(repeats).size != 1:
        return by_numpy(np.repeat, x, repeats, axis=k)
    count = integer(repeats.item() if isinstance(repeats, Mat | np.ndarray) else repeats, "repeats")
    if count < 0:
        raise ShapeError(f"repeats is not negative, got {count}")
    wide = x.expand_dims(k + 1).broadcast_to((*x.shape[:k + 1], count, *x.shape[k + 1:]))
    return wide.copy().reshape((*x.shape[:k], x.shape[k] * count, *x.shape[k + 1:]))


def tile(x: Any, repetitions: Any, /) -> Any:
    """`x` beside itself so many times along each axis."""
    x, times = as_mat(x), as_shape(repetitions)
    ndim = max(x.ndim, len(times))
    times = (1,) * (ndim - len(times)) + times
    shape = (1,) * (ndim - x.ndim) + x.shape
    layout = x.layout[(*(None,) * (ndim - x.ndim),
                       ...)][tuple(i for _ in shape for i in (None, slice(None)))]
    wide = x.over(layout.broadcast_to(tuple(n for pair in zip(times, shape, strict=True)
                                            for n in pair)))
    return wide.copy().reshape(tuple(t * n for t, n in zip(times, shape, strict=True)))


def roll(x: Any, /, shift: Any, *, axis: Any = None) -> Any:
    """The elements moved on by `shift` along each `axis`, those that fall off at the end coming
    back at the begin.
    """
    x = as_mat(x)
    if axis is None:
        total = sum(_integers(shift))
        return _rolled(reshape(x, (-1,)), total, 0).reshape(x.shape)
    axes, shifts = _integers(axis), _integers(shift)
    if len(shifts) == 1:
        shifts = shifts * len(axes)
    if len(axes) == 1 < len(shifts):
        axes = axes * len(shifts)
    if len(axes) != len(shifts):
        raise ShapeError(f"roll wants as many shifts as axes, got {shift} and {axis}")
    result = x
    for k, n in zip(axes, shifts, strict=True):
        result = _rolled(result, n, as_axis(k, x.ndim))
    return result if result is not x else x.copy()


def _integers(value: Any) -> Ints:
    items = value if isinstance(value, Iterable) and not isinstance(value, Mat) else (value,)
    return tuple(integer(v, "a shift or an axis") for v in items)


def _rolled(x: Mat, shift: int, axis: int) -> Any:
    length = x.shape[axis]
    cut = (-shift) % length if length else 0
    before = (slice(None),) * axis
    return _concat([x.over(x.layout[(*before, part)])
                    for part in (slice(cut, None), slice(None, cut))], axis)
