"""NumPy's functions that return views, for a Mat and integers, the usual arguments: the layout of
the result is computed. The rest, errors above all, is left to NumPy on a stand-in (``views.py``).
"""

from __future__ import annotations

from ....layout.strided import Layout
from ....matrix.mat import Mat
from ....support.types import Operand
from ..registry import Result, implements

_ALL, _REVERSED = slice(None), slice(None, None, -1)


def _place(a: object, axis: object) -> int:
    """Return the nonnegative axis of a Mat for an integer; -1 if there is no such axis, and for
    others.
    """
    if type(a) is not Mat or type(axis) is not int:
        return -1
    rank = len(a.layout.shape)
    return axis % rank if -rank <= axis < rank else -1


def _with_axes(a: Mat, layout: Layout, axes: list[int]) -> Mat:
    """Return the view of `a`, of that layout, with axes in another order, or only some of them."""
    shape, strides = layout.shape, layout.strides
    return a.over(Layout(tuple([shape[k] for k in axes]), tuple([strides[k] for k in axes]),
                         layout.displacement))


@implements("squeeze")
def numpy_squeeze(a: Operand, axis: object = None) -> Result:
    if type(a) is not Mat or not (axis is None or type(axis) is int):
        return NotImplemented
    layout, k = a.layout, _place(a, axis)
    if axis is not None and (k < 0 or layout.shape[k] != 1):
        return NotImplemented
    return _with_axes(a, layout, [i for i, n in enumerate(layout.shape)
                                  if (n != 1 if axis is None else i != k)])


@implements("expand_dims")
def numpy_expand_dims(a: Operand, axis: object) -> Result:
    if type(a) is not Mat or type(axis) is not int:
        return NotImplemented
    layout = a.layout
    rank = len(layout.shape) + 1
    if not -rank <= axis < rank:
        return NotImplemented
    k = axis % rank
    step = layout.shape[k] * layout.strides[k] if k < rank - 1 else 1
    return a.over(Layout((*layout.shape[:k], 1, *layout.shape[k:]),
                         (*layout.strides[:k], step, *layout.strides[k:]), layout.displacement))


@implements("swapaxes")
def numpy_swapaxes(a: Operand, axis1: object, axis2: object) -> Result:
    i, k = _place(a, axis1), _place(a, axis2)
    if i < 0 or k < 0:
        return NotImplemented
    layout = a.layout
    order = list(range(len(layout.shape)))
    order[i], order[k] = k, i
    return _with_axes(a, layout, order)


@implements("moveaxis")
def numpy_moveaxis(a: Operand, source: object, destination: object) -> Result:
    i, k = _place(a, source), _place(a, destination)
    if i < 0 or k < 0:
        return NotImplemented
    layout = a.layout
    order = list(range(len(layout.shape)))
    order.insert(k, order.pop(i))
    return _with_axes(a, layout, order)


@implements("broadcast_to")
def numpy_broadcast_to(array: Operand, shape: object, subok: bool = False) -> Result:
    if type(array) is not Mat or type(shape) is not tuple:
        return NotImplemented
    layout = array.layout
    new = len(shape) - len(layout.shape)
    if new < 0 or not all(type(n) is int and n >= 0 for n in shape):
        return NotImplemented
    if any(n not in (1, m) for n, m in zip(layout.shape, shape[new:], strict=True)):
        return NotImplemented
    steps = [0 if n == 1 != m else step for n, m, step in zip(
        layout.shape, shape[new:], layout.strides, strict=True)]
    return array.over(Layout(shape, (0,) * new + tuple(steps), layout.displacement))


@implements("flip")
def numpy_flip(m: Operand, axis: object = None) -> Result:
    if axis is None and type(m) is Mat:
        return m[(_REVERSED,) * len(m.layout.shape)] if m.layout.shape else NotImplemented
    k = _place(m, axis)
    return NotImplemented if k < 0 else _reversed(m, k)


def _reversed(a: Mat, axis: int) -> Mat:
    found: Mat = a[(*(_ALL,) * axis, _REVERSED)]
    return found


@implements("flipud")
def numpy_flipud(m: Operand) -> Result:
    return numpy_flip(m, 0)


@implements("fliplr")
def numpy_fliplr(m: Operand) -> Result:
    return _reversed(m, 1) if _place(m, 1) > 0 else NotImplemented


@implements("rot90")
def numpy_rot90(m: Operand, k: object = 1, axes: object = (0, 1)) -> Result:
    if type(k) is not int or type(axes) is not tuple or len(axes) != 2:
        return NotImplemented
    i, j = _place(m, axes[0]), _place(m, axes[1])
    if i < 0 or j < 0 or i == j:
        return NotImplemented
    turns = k % 4
    if turns == 0:
        return m.over(m.layout)
    if turns == 2:
        return _reversed(_reversed(m, i), j)
    return numpy_swapaxes(_reversed(m, j), i, j) if turns == 1 else _reversed(
        numpy_swapaxes(m, i, j), j)


@implements("split")
def numpy_split(ary: Operand, indices_or_sections: object, axis: object = 0) -> Result:
    k, parts = _place(ary, axis), indices_or_sections
    if k < 0 or type(parts) is not int or parts <= 0 or ary.layout.shape[k] % parts:
        return NotImplemented
    layout, length = ary.layout, ary.layout.shape[k] // parts
    shape, step = (*layout.shape[:k], length, *layout.shape[k + 1:]), length * layout.strides[k]
    if not ary.layout.size:
        return NotImplemented
    return [ary.over(Layout(shape, layout.strides, layout.displacement + i * step))
            for i in range(parts)]


@implements("diagonal")
def numpy_diagonal(a: Operand, offset: object = 0, axis1: object = 0,
                   axis2: object = 1) -> Result:
    i, k = _place(a, axis1), _place(a, axis2)
    if i < 0 or k < 0 or i == k or type(offset) is not int:
        return NotImplemented
    shape, strides, start = a.layout.shape, a.layout.strides, a.layout.displacement
    if len(shape) == 2 and offset == 0:
        return a.over(Layout((min(shape),), (strides[0] + strides[1],), start))
    return a.over(a.layout.diagonal(offset, i, k))
