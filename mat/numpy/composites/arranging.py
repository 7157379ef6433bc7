"""NumPy's functions that arrange elements: copies, moved, repeated, side by side, or with borders;
and views, for a Mat and integers, the usual arguments: the layout of the result is computed. Other
views, errors above all, are left to NumPy on a stand-in (``views.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from ...core.compiled import IN_USE
from ...errors import ShapeError
from ...layout.shapes import Ints, as_axis
from ...layout.strided import Layout
from ...matrix.mat import Mat
from ...ops.engine.by_numpy import LeftToNumPy, leave_if
from ...ops.primitives import arrangement, elementwise, joining, reduce
from ...ops.primitives.shape import along
from ...support.dtypes import BOOL, EXTENSIONS, REAL_TYPES, represents
from ...support.types import Array, Function, Number, Operand
from ..operands import (
    as_dtype,
    as_mat_if_possible,
    as_mats,
    is_there,
    mats_there,
    one_axis,
    with_axis_moved,
)
from ..registry import Result, implements
from .creation import spaced
from .joining import repeated_each, taken


def _integers(value: object) -> Ints:
    """Return an integer, or a sequence of some, as a tuple."""
    items = tuple(value) if isinstance(value, list | tuple) else (value,)
    leave_if(not all(isinstance(i, int | np.integer) and not isinstance(i, bool) for i in items))
    return tuple(map(int, items))


@implements("roll", of_many=True)
def numpy_roll(a: Operand, shift: Operand, axis: Operand = None) -> Result:
    shifts, axes = _integers(shift), (0,) if axis is None else _integers(axis)
    if axis is None:
        return arrangement.rolled(a.reshape(-1), [(0, n) for n in shifts]).reshape(a.shape)
    count = max(len(shifts), len(axes))
    leave_if(any(len(v) not in (1, count) for v in (shifts, axes)))
    return arrangement.rolled(a, [(axes[k % len(axes)], shifts[k % len(shifts)])
                                  for k in range(count)])


@implements("repeat", of_many=True)
def numpy_repeat(a: Operand, repeats: Operand, axis: Operand = None) -> Result:
    if not a.ndim and axis in (0, -1):
        axis = None  # as NumPy takes it
    if is_there(a) and np.ndim(repeats):
        return repeated_each(a, np.asarray(repeats), axis)
    counts = _integers(repeats)
    leave_if(len(counts) != 1 or counts[0] < 0
             or (axis is not None and type(axis) is not int))
    if axis is None:
        a, axis = a.reshape(-1), 0
    return arrangement.repeated(a, counts[0], as_axis(axis, a.ndim))


@implements("tile", of_many=True)
def numpy_tile(A: Operand, reps: Operand) -> Result:  # noqa: N803  # NumPy's name
    times = _integers(reps)
    leave_if(any(n < 0 for n in times))
    return arrangement.tiled(A, times)


@implements("diag")
def numpy_diag(v: Operand, k: int = 0) -> Result:
    leave_if(not 0 < v.ndim < 3 or type(k) is not int)
    return arrangement.on_diagonal(v, k) if v.ndim == 1 else numpy_diagonal(v, k)


def _triangle(m: Operand, k: int, upper: bool) -> Result:
    leave_if(type(k) is not int or m.ndim < 2 or m.dtype.char in EXTENSIONS)
    return arrangement.triangle(m, k, upper)


implements("tril", of_many=True)(lambda m, k=0: _triangle(m, k, False))
implements("triu", of_many=True)(lambda m, k=0: _triangle(m, k, True))


@implements("meshgrid", mats=0)
def numpy_meshgrid(*xi: Operand, copy: bool = True, sparse: bool = False,
                   indexing: str = "xy") -> Result:
    mats = as_mats(xi)
    leave_if(indexing not in ("xy", "ij"))
    order = list(range(len(mats)))
    if indexing == "xy" and len(mats) > 1:
        order[:2] = 1, 0
    lines = [m.reshape(tuple(m.size if k == at else 1 for k in range(len(mats))))
             for m, at in zip(mats, order, strict=True)]
    if not sparse:
        shape = tuple(mats[order.index(k)].size for k in range(len(mats)))
        lines = [m.broadcast_to(shape) for m in lines]
    return tuple(m.copy() if copy else m for m in lines)


@implements("diagflat", on_device=1)
def numpy_diagflat(v: Operand, k: int = 0) -> Result:
    leave_if(type(k) is not int)
    return arrangement.on_diagonal(v.contiguous().reshape(-1), k)


@implements("resize", on_device=1)
def numpy_resize(a: Operand, new_shape: Operand) -> Result:
    shape = _integers(new_shape)
    leave_if(not a.size or any(n < 0 for n in shape))
    size = prod(shape)
    times = -(-size // a.size)
    return arrangement.tiled(a.contiguous().reshape(-1), (times,))[:size].reshape(shape)


@implements("block", mats=0)
def numpy_block(arrays: Operand) -> Result:
    try:
        depth, mats = _blocks(arrays)
    except RecursionError:
        raise ShapeError("block joins lists that are not nested so deep") from None
    known = {id(m): as_mat_if_possible(m) for m in mats if not isinstance(m, tuple)}
    leave_if(len(known) < len({*map(id, mats)}))
    mats_there(*known.values())
    ndim = max(depth, *(m.ndim for m in known.values()))
    found = _joined_blocks(arrays, known, ndim, ndim - depth)
    return found if depth else found.copy()


def _blocks(arrays: Operand) -> tuple[int, list[Operand]]:
    """Return how deep lists of arrays are nested, and the arrays; none where depths differ."""
    if not isinstance(arrays, list):
        return 0, [arrays]
    found = [_blocks(a) for a in arrays]
    if not found or any(depth != found[0][0] or not mats for depth, mats in found):
        return 0, []
    return found[0][0] + 1, [m for _, mats in found for m in mats]


def _joined_blocks(arrays: Operand, known: dict[int, Mat], ndim: int, axis: int) -> Mat:
    """Return nested lists of arrays joined, the outer list along `axis`; `known` has Mats by id."""
    if isinstance(arrays, list):
        return joining.concat([_joined_blocks(a, known, ndim, axis + 1) for a in arrays], axis)
    x = known[id(arrays)]
    return x.reshape((1,) * (ndim - x.ndim) + x.shape)


@implements("fill_diagonal", on_device=1)
def numpy_fill_diagonal(a: Operand, val: Operand, wrap: bool = False) -> Result:
    leave_if(wrap or a.ndim < 2 or (a.ndim > 2 and len(set(a.shape)) > 1))
    length = min(a.shape)
    line = a.over(Layout((length,), (sum(a.element_strides),), a.displacement))
    if isinstance(val, Mat) and val.shape in ((), (length,)) and np.can_cast(
            val.dtype, a.dtype, "same_kind"):
        line.assign_(val.copy() if val.storage is a.storage else val)
    elif isinstance(val, int | float) and represents(a.dtype, val):
        line.fill_(a.dtype.type(val).item())
    else:
        raise LeftToNumPy
    return None


def _shifted(x: Operand, axes: Operand, sign: int) -> Result:
    """Move the first half of each axis to its end, or back where `sign` is -1."""
    found = _integers(tuple(range(x.ndim)) if axes is None else axes)
    leave_if(not all(-x.ndim <= k < x.ndim for k in found))
    return arrangement.rolled(x, [(k, sign * (x.shape[k] // 2)) for k in found])


implements("fft.fftshift", on_device=1)(lambda x, axes=None: _shifted(x, axes, 1))
implements("fft.ifftshift", on_device=1)(lambda x, axes=None: _shifted(x, axes, -1))


# Borders of numbers, of elements that repeat, and on devices of statistics and ramps


_MANY_ZEROS = 1 << 21  # bytes that take longer to write twice than sides do
_REPETITIONS: dict[str, int] = {"edge": 1, "wrap": 0, "reflect": 1, "symmetric": 0}
_STATISTICS: dict[str, Function] = {
    "mean": reduce.mean, "maximum": reduce.max, "minimum": reduce.min, "median": np.median}
Side = Callable[[Mat, int, int, bool], Mat]  # of Mat, axis and width, whether it is the last one


@implements("pad", of_many=True)
def numpy_pad(array: Operand, pad_width: Operand, mode: str = "constant",
              **kwargs: Operand) -> Result:
    leave_if(not array.ndim)
    widths = _pairs(pad_width, array.ndim)
    leave_if(any(type(n) is not int or n < 0 for pair in widths for n in pair))
    if mode == "constant" and kwargs.keys() <= {"constant_values"}:
        return _padded_with(array, widths, kwargs.get("constant_values", 0))
    fill = None if kwargs else _repetition(array, widths, mode)
    if fill is not None:
        return arrangement.bordered(array, widths, fill)
    leave_if(not is_there(array))
    return _padded_there(array, widths, mode, kwargs)


def _padded_with(x: Mat, widths: arrangement.Widths, constants: Operand) -> Result:
    values = _pairs(constants, x.ndim)
    leave_if(not all(_fits(x, v) for pair in values for v in pair))
    if x.dtype.char in BOOL:
        values = [(bool(low), bool(high)) for low, high in values]
    # all at once takes less time than each side, but on the host for floating-point numbers, where
    # zeros are many
    zeros = all(type(v) is int and not v for pair in values for v in pair)
    each = not IN_USE and x.dtype.char in REAL_TYPES and (not zeros or x.nbytes >= _MANY_ZEROS)
    first = None if each else values[0][0]
    return arrangement.bordered(x, widths, arrangement.fill_with_numbers(values, first), first)


def _pairs(value: Operand, count: int) -> list[Any]:
    """Return the lengths before and after, along each of `count` axes."""
    if type(value) is int:
        return [(value, value)] * count
    try:
        pairs: list[Any] = np.broadcast_to(np.asarray(value), (count, 2)).tolist()
    except (TypeError, ValueError):
        raise LeftToNumPy from None
    return pairs


def _repetition(x: Mat, widths: arrangement.Widths, mode: str) -> arrangement.Fill | None:
    """Return the function that fills a border with elements of the inside; None for other modes."""
    if mode not in _REPETITIONS or not x.size:
        return None
    inside = [n if mode == "edge" else n - _REPETITIONS[mode] for n in x.shape]
    enough = mode == "edge" or all(w <= n for pair, n in zip(widths, inside, strict=True)
                                   for w in pair)
    return arrangement.fill_by_repetition(mode) if enough else None  # type: ignore[arg-type]


def _fits(x: Mat, value: Number) -> bool:
    if x.dtype.char in BOOL:
        return value in (0, 1)
    if isinstance(value, complex) and x.dtype.kind != "c":
        return False
    return isinstance(value, int | float | complex) and bool(represents(x.dtype, value))


# On devices, axis after axis: what is before and after is joined


def _padded_there(x: Mat, widths: arrangement.Widths, mode: str,
                  options: dict[str, Operand]) -> Result:
    leave_if(not x.size or not x.ndim)
    if mode == "empty" and not options:
        return arrangement.bordered(x, widths, lambda target, widths: None)
    if mode in _STATISTICS and options.keys() <= {"stat_length"} and x.dtype.kind in "iuf":
        lengths = _pairs(options.get("stat_length"), x.ndim)
        # NumPy's errors, and statistics of nothing
        leave_if(not all(n is None or (type(n) is int and n > 0)
                         for pair in lengths for n in pair))
        return _with_sides(x, widths, _statistic(mode, lengths))
    if mode == "linear_ramp" and options.keys() <= {"end_values"} and x.dtype.kind == "f":
        ends = _pairs(options.get("end_values", 0), x.ndim)
        leave_if(not all(isinstance(v, int | float) for pair in ends for v in pair))
        return _with_sides(x, widths, _ramp(ends))
    if mode in ("wrap", "reflect", "symmetric") and (
            not options or options == {"reflect_type": "even"}):
        return _repeated(x, widths, mode)
    if options == {"reflect_type": "odd"} and mode in ("reflect", "symmetric") and (
            _repetition(x, widths, mode) and x.dtype.kind in "fc"):
        return _with_sides(x, widths, _turned(_REPETITIONS[mode]))
    raise LeftToNumPy


def _with_sides(x: Mat, widths: arrangement.Widths, side: Side) -> Mat:
    """Return `x` between the results of `side` for both ends of each axis."""
    for axis, (before, after) in enumerate(widths):
        parts = [x]
        if before:
            parts.insert(0, side(x, axis, before, False))
        if after:
            parts.append(side(x, axis, after, True))
        x = joining.concat(parts, axis) if len(parts) > 1 else x
    return x if any(n for pair in widths for n in pair) else x.copy()


def _statistic(mode: str, lengths: list[Any]) -> Side:
    """Return the function of sides that are all a statistic of so many elements at that end."""
    def side(x: Mat, axis: int, width: int, last: bool) -> Mat:
        n, most = x.shape[axis], lengths[axis][last]
        count = n if most is None else min(most, n)
        chunk = along(x, axis, slice(n - count, None) if last else slice(None, count))
        found: Mat = _STATISTICS[mode](chunk, axis=axis, keepdims=True)
        if x.dtype.kind in "iu" and found.dtype.kind == "f":
            found = elementwise.rint(found)
        shape = (*x.shape[:axis], width, *x.shape[axis + 1:])
        return as_dtype(found, x.dtype).broadcast_to(shape)

    return side


def _ramp(ends: list[Any]) -> Side:
    """Return the function of sides that go to the numbers `ends` at equal steps."""
    def side(x: Mat, axis: int, width: int, last: bool) -> Mat:
        edge = along(x, axis, slice(-1, None) if last else slice(None, 1)).squeeze(axis)
        found = with_axis_moved(spaced(float(ends[axis][last]), edge, width, False), 0, axis)
        if last:
            found = along(found, axis, slice(None, None, -1))
        return as_dtype(found, x.dtype)

    return side


def _turned(skipped: int) -> Side:
    """Return the function for sides that reflect at a point, `skipped` elements before them."""
    def side(x: Mat, axis: int, width: int, last: bool) -> Mat:
        n = x.shape[axis]
        edge = along(x, axis, slice(-1, None) if last else slice(None, 1))
        part = slice(n - skipped - width, n - skipped) if last else slice(skipped, skipped + width)
        return edge * 2 - along(along(x, axis, part), axis, slice(None, None, -1))

    return side


def _repeated(x: Mat, widths: arrangement.Widths, mode: str) -> Result:
    """Return `x` with borders of its elements that are wider than itself."""
    found: Result = x
    for axis, (before, after) in enumerate(widths):
        if before + after:
            found = taken(found, _places(mode, x.shape[axis], before, after), axis)
    return found


def _places(mode: str, n: int, before: int, after: int) -> Array:
    """Return the index, below `n`, of the element at each place from `before` the first one on."""
    at, twice = np.arange(-before, n + after), mode == "symmetric"  # so are the ends
    if mode == "wrap":
        return at % n
    at %= 2 * n if twice else max(2 * n - 2, 1)
    return np.minimum(at, 2 * n - 1 - at if twice else 2 * n - 2 - at)


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


implements("flipud")(lambda m: numpy_flip(m, 0))
implements("fliplr")(lambda m: numpy_flip(m, 1))


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


implements("array_split")(lambda ary, indices_or_sections, axis=0: _split_at(
    ary, one_axis(ary, axis), indices_or_sections))
implements("hsplit")(lambda ary, indices_or_sections: numpy_split(
    ary, indices_or_sections, 1 if len(ary.layout.shape) > 1 else 0))


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
