"""NumPy's functions that copy elements in another arrangement: moved, repeated, with a border, with
some added or left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....layout.shapes import Ints, as_axis
from ....matrix.mat import Mat
from ....ops import arrangement, joining
from ....ops.parts import along
from ....ops.selecting import number_as_mat
from ....support.dtypes import BOOL, EXTENSIONS, represents
from ....support.types import Number, Operand
from ..operands import as_mats
from ..registry import Result, implements

_REPETITIONS: dict[str, int] = {"edge": 1, "wrap": 0, "reflect": 1, "symmetric": 0}


def _integers(value: object) -> Ints | None:
    """Return an integer, or a sequence of some, as a tuple; None for anything else."""
    items = tuple(value) if isinstance(value, list | tuple) else (value,)
    plain = all(isinstance(i, int | np.integer) and not isinstance(i, bool) for i in items)
    return tuple(map(int, items)) if plain else None


@implements("roll")
def numpy_roll(a: Operand, shift: Operand, axis: Operand = None) -> Result:
    shifts, axes = _integers(shift), (0,) if axis is None else _integers(axis)
    if not isinstance(a, Mat) or shifts is None or axes is None:
        return NotImplemented
    if axis is None:
        return arrangement.rolled(a.reshape(-1), ((0, n) for n in shifts)).reshape(a.shape)
    count = max(len(shifts), len(axes))
    if any(len(v) not in (1, count) for v in (shifts, axes)):
        return NotImplemented
    return arrangement.rolled(a, ((axes[k % len(axes)], shifts[k % len(shifts)])
                                  for k in range(count)))


@implements("repeat")
def numpy_repeat(a: Operand, repeats: Operand, axis: Operand = None) -> Result:
    counts = _integers(repeats)
    if not isinstance(a, Mat) or counts is None or len(counts) != 1 or counts[0] < 0 or (
            axis is not None and type(axis) is not int):
        return NotImplemented
    if axis is None:
        a, axis = a.reshape(-1), 0
    return arrangement.repeated(a, counts[0], as_axis(axis, a.ndim))


@implements("tile")
def numpy_tile(A: Operand, reps: Operand) -> Result:  # noqa: N803  # NumPy's name
    times = _integers(reps)
    if not isinstance(A, Mat) or times is None or any(n < 0 for n in times):
        return NotImplemented
    return arrangement.tiled(A, times)


@implements("diag")
def numpy_diag(v: Operand, k: int = 0) -> Result:
    if not isinstance(v, Mat) or v.ndim != 1 or type(k) is not int:
        return NotImplemented  # also for the diagonal of a matrix, which is a view
    return arrangement.on_diagonal(v, k)


@implements("tril")
def numpy_tril(m: Operand, k: int = 0) -> Result:
    return _triangle(m, k, False)


@implements("triu")
def numpy_triu(m: Operand, k: int = 0) -> Result:
    return _triangle(m, k, True)


def _triangle(m: Operand, k: int, upper: bool) -> Result:
    if not isinstance(m, Mat) or type(k) is not int or m.ndim < 2 or m.dtype.char in EXTENSIONS:
        return NotImplemented
    return arrangement.triangle(m, k, upper)


@implements("meshgrid")
def numpy_meshgrid(*xi: Operand, copy: bool = True, sparse: bool = False,
                   indexing: str = "xy") -> Result:
    mats = as_mats(xi)
    if not mats or indexing not in ("xy", "ij"):
        return NotImplemented
    order = list(range(len(mats)))
    if indexing == "xy" and len(mats) > 1:
        order[:2] = 1, 0
    lines = [m.reshape(tuple(m.size if k == at else 1 for k in range(len(mats))))
             for m, at in zip(mats, order, strict=True)]
    if not sparse:
        shape = tuple(mats[order.index(k)].size for k in range(len(mats)))
        lines = [m.broadcast_to(shape) for m in lines]
    return tuple(m.copy() if copy else m for m in lines)


# Borders


@implements("pad")
def numpy_pad(array: Operand, pad_width: Operand, mode: str = "constant",
              **kwargs: Operand) -> Result:
    if not isinstance(array, Mat):
        return NotImplemented
    widths = _pairs(pad_width, array.ndim)
    if widths is None or any(type(n) is not int or n < 0 for pair in widths for n in pair):
        return NotImplemented
    if mode == "constant" and kwargs.keys() <= {"constant_values"}:
        return _padded_with(array, widths, kwargs.get("constant_values", 0))
    fill = None if kwargs else _repetition(array, widths, mode)
    return NotImplemented if fill is None else arrangement.bordered(array, widths, fill)


def _padded_with(x: Mat, widths: arrangement.Widths, constants: Operand) -> Result:
    values = _pairs(constants, x.ndim)
    if not values or not all(_fits(x, v) for pair in values for v in pair):
        return NotImplemented
    first = values[0][0]
    return arrangement.bordered(x, widths, arrangement.fill_with_numbers(values, first), first)


def _pairs(value: Operand, count: int) -> list[Any] | None:
    """Return what comes before and after along each of so many axes."""
    try:
        pairs: list[Any] = np.broadcast_to(np.asarray(value), (count, 2)).tolist()
    except (TypeError, ValueError):
        return None
    return pairs


def _repetition(x: Mat, widths: arrangement.Widths, mode: str) -> arrangement.Fill | None:
    """Return the function that fills a border with elements of the inside, or None where NumPy is
    to: for other modes, and borders that are wider than the inside.
    """
    if mode not in _REPETITIONS or not x.size:
        return None
    inside = [n if mode == "edge" else n - _REPETITIONS[mode] for n in x.shape]
    enough = mode == "edge" or all(w <= n for pair, n in zip(widths, inside, strict=True)
                                   for w in pair)
    return arrangement.fill_by_repetition(mode) if enough else None  # type: ignore[arg-type]


def _fits(x: Mat, value: Number) -> bool:
    kinds = (bool,) if x.dtype.char in BOOL else (int, float, complex)
    return isinstance(value, kinds) and bool(represents(x.dtype, value))


# Elements that are added, or left out


@implements("append")
def numpy_append(arr: Operand, values: Operand, axis: int | None = None) -> Result:
    parts = as_mats([arr, values])
    return joining.concat(parts, axis) if parts else NotImplemented


@implements("delete")
def numpy_delete(arr: Operand, obj: Operand, axis: int | None = None) -> Result:
    if not isinstance(arr, Mat) or not isinstance(obj, int | slice) or isinstance(obj, bool):
        return NotImplemented
    x, k = _along(arr, axis)
    removed = range(x.shape[k])[obj] if isinstance(obj, slice) else _one_of(x.shape[k], obj)
    if removed is None or abs(removed.step) != 1:
        return NotImplemented
    if not removed:
        return x.copy()
    low, high = min(removed), max(removed) + 1
    return _joined(x, k, slice(None, low), [], slice(high, None))


@implements("insert")
def numpy_insert(arr: Operand, obj: Operand, values: Operand, axis: int | None = None) -> Result:
    if not isinstance(arr, Mat) or type(obj) is not int or (axis is not None and arr.ndim != 1):
        return NotImplemented
    x, k = _along(arr, axis)
    if isinstance(values, int | float) and represents(x.dtype, values):
        added: list[Mat] = [number_as_mat(values, x.dtype, x).expand_dims(0)]
    else:
        added = as_mats([values])
    length = x.shape[k]
    if not added or added[0].ndim != 1 or added[0].dtype != x.dtype or not (
            -length <= obj <= length):
        return NotImplemented
    at = obj + length if obj < 0 else obj
    return _joined(x, k, slice(None, at), added, slice(at, None))


def _along(x: Mat, axis: int | None) -> tuple[Mat, int]:
    return (x.reshape(-1), 0) if axis is None else (x, as_axis(axis, x.ndim))


def _one_of(length: int, index: int) -> range | None:
    return range(length)[index:][:1] if -length <= index < length else None


def _joined(x: Mat, axis: int, head: slice, middle: Sequence[Mat], tail: slice) -> Mat:
    return joining.concat([along(x, axis, head), *middle, along(x, axis, tail)], axis)
