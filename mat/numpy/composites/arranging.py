"""NumPy's functions that arrange elements: copies, moved, repeated, side by side, or with borders.
Views are in ``views.py``.
"""

from __future__ import annotations

from collections.abc import Callable
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
    leave_if(v.ndim != 1 or type(k) is not int)
    return arrangement.on_diagonal(v, k)


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
