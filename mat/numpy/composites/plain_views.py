"""NumPy's functions that return views, for a Mat and integers, the usual arguments: the layout of
the result is computed. The rest, errors above all, is left to NumPy on a stand-in (``views.py``).
"""

from __future__ import annotations

from itertools import pairwise

from ...layout.strided import Layout
from ...matrix.mat import Mat
from ...ops.engine.by_numpy import leave_if
from ...support.types import Operand
from ..operands import one_axis
from ..registry import Result, implements

_ALL, _REVERSED = slice(None), slice(None, None, -1)


@implements("squeeze")
def numpy_squeeze(a: Operand, axis: Operand = None) -> Result:
    layout = a.layout
    leave_if(axis is not None and layout.shape[one_axis(a, axis)] != 1)
    return a.over(layout.squeeze(axis))


@implements("expand_dims")
def numpy_expand_dims(a: Operand, axis: Operand) -> Result:
    layout = a.layout
    rank = len(layout.shape) + 1
    leave_if(type(axis) is not int or not -rank <= axis < rank)
    k = axis % rank
    step = layout.shape[k] * layout.strides[k] if k < rank - 1 else 1
    return a.over(Layout((*layout.shape[:k], 1, *layout.shape[k:]),
                         (*layout.strides[:k], step, *layout.strides[k:]), layout.displacement))


@implements("swapaxes")
def numpy_swapaxes(a: Operand, axis1: int, axis2: int) -> Result:
    return a.over(a.layout.swapped(one_axis(a, axis1), one_axis(a, axis2)))


@implements("moveaxis")
def numpy_moveaxis(a: Operand, source: int, destination: int) -> Result:
    i, k = one_axis(a, source), one_axis(a, destination)
    order = list(range(len(a.layout.shape)))
    order.insert(k, order.pop(i))
    return a.over(a.layout.permute(order))


@implements("rollaxis")
def numpy_rollaxis(a: Operand, axis: int, start: int = 0) -> Result:
    i = one_axis(a, axis)
    leave_if(type(start) is not int or not 0 <= start <= len(a.layout.shape))
    return numpy_moveaxis(a, i, start - (i < start))


@implements("broadcast_to")
def numpy_broadcast_to(array: Operand, shape: Operand, subok: bool = False) -> Result:
    leave_if(type(shape) is not tuple)
    layout = array.layout
    new = len(shape) - len(layout.shape)
    leave_if(new < 0 or not all(type(n) is int and n >= 0 for n in shape))
    leave_if(any(n not in (1, m) for n, m in zip(layout.shape, shape[new:], strict=True)))
    steps = [0 if n == 1 != m else step for n, m, step in zip(
        layout.shape, shape[new:], layout.strides, strict=True)]
    return array.over(Layout(shape, (0,) * new + tuple(steps), layout.displacement))


@implements("flip")
def numpy_flip(m: Operand, axis: Operand = None) -> Result:
    if axis is None:
        leave_if(not m.layout.shape)
        return m[(_REVERSED,) * len(m.layout.shape)]
    return _reversed(m, one_axis(m, axis))


def _reversed(a: Mat, axis: int) -> Mat:
    return a[(*(_ALL,) * axis, _REVERSED)]


@implements("flipud")
def numpy_flipud(m: Operand) -> Result:
    return numpy_flip(m, 0)


@implements("fliplr")
def numpy_fliplr(m: Operand) -> Result:
    return _reversed(m, one_axis(m, 1))


@implements("rot90")
def numpy_rot90(m: Operand, k: int = 1, axes: Operand = (0, 1)) -> Result:
    leave_if(type(k) is not int or type(axes) is not tuple or len(axes) != 2)
    i, j = one_axis(m, axes[0]), one_axis(m, axes[1])
    leave_if(i == j)
    turns = k % 4
    if turns == 0:
        return m.over(m.layout)
    if turns == 2:
        return _reversed(_reversed(m, i), j)
    return numpy_swapaxes(_reversed(m, j), i, j) if turns == 1 else _reversed(
        numpy_swapaxes(m, i, j), j)


@implements("split")
def numpy_split(ary: Operand, indices_or_sections: Operand, axis: Operand = 0) -> Result:
    k, parts, layout = one_axis(ary, axis), indices_or_sections, ary.layout
    if type(parts) is not int or not layout.size:
        return _split_at(ary, k, parts)
    leave_if(parts <= 0 or layout.shape[k] % parts)
    length = layout.shape[k] // parts
    shape, step = (*layout.shape[:k], length, *layout.shape[k + 1:]), length * layout.strides[k]
    return [ary.over(Layout(shape, layout.strides, layout.displacement + i * step))
            for i in range(parts)]


@implements("array_split")
def numpy_array_split(ary: Operand, indices_or_sections: Operand, axis: Operand = 0) -> Result:
    return _split_at(ary, one_axis(ary, axis), indices_or_sections)


@implements("hsplit")
def numpy_hsplit(ary: Operand, indices_or_sections: Operand) -> Result:
    return numpy_split(ary, indices_or_sections, 1 if len(ary.layout.shape) > 1 else 0)


@implements("vsplit")
def numpy_vsplit(ary: Operand, indices_or_sections: Operand) -> Result:
    leave_if(len(ary.layout.shape) < 2)
    return numpy_split(ary, indices_or_sections, 0)


@implements("dsplit")
def numpy_dsplit(ary: Operand, indices_or_sections: Operand) -> Result:
    leave_if(len(ary.layout.shape) < 3)
    return numpy_split(ary, indices_or_sections, 2)


def _split_at(a: Mat, k: int, parts: Operand) -> list[Mat]:
    """Return views of so many parts of axis `k`, the first ones longer, or between indices."""
    layout, length = a.layout, a.layout.shape[k]
    if type(parts) is int:
        leave_if(parts <= 0)
        each, longer = divmod(length, parts)
        bounds = [i * each + min(i, longer) for i in range(parts + 1)]
    else:
        leave_if(type(parts) not in (list, tuple) or not all(type(i) is int for i in parts))
        bounds = [0, *parts, length]
    leave_if(not layout.size)
    found = []
    for low, high in pairwise(bounds):
        start, end, _ = slice(low, high).indices(length)
        shape = (*layout.shape[:k], max(0, end - start), *layout.shape[k + 1:])
        at = layout.displacement + (start * layout.strides[k] if start < end else 0)
        found.append(a.over(Layout(shape, layout.strides, at)))
    return found


@implements("diagonal")
def numpy_diagonal(a: Operand, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Result:
    i, k = one_axis(a, axis1), one_axis(a, axis2)
    leave_if(i == k or type(offset) is not int)
    return a.over(a.layout.diagonal(offset, i, k))


# Windows


@implements("lib.stride_tricks.sliding_window_view")
def numpy_sliding_window_view(x: Operand, window_shape: Operand, axis: Operand = None, *,
                              subok: bool = False, writeable: bool = False) -> Result:
    sizes = window_shape if type(window_shape) is tuple else (window_shape,)
    if axis is None:
        axis = tuple(range(getattr(x, "ndim", -1)))
    axes = axis if type(axis) is tuple else (axis,)
    leave_if(not isinstance(x, Mat) or len(sizes) != len(axes))
    lengths = list(x.shape)
    for size, k in zip(sizes, axes, strict=True):
        # what NumPy refuses, and what it counts from the end
        leave_if(type(size) is not int or type(k) is not int or not 0 <= k < len(lengths))
        lengths[k] -= size - 1
        leave_if(size < 0 or lengths[k] <= 0)
    layout = x.layout
    return x.over(Layout((*lengths, *sizes), (*layout.strides, *(layout.strides[k] for k in axes)),
                         layout.displacement))
