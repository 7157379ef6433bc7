"""NumPy's reductions of elements that are not NaN."""

from __future__ import annotations

import numpy as np

from ....layout.shapes import integer
from ....matrix.mat import Mat
from ....ops import elementwise, missing, reduce
from ....ops.declare_reduce import plain_axis
from ....support.dtypes import FLOATING
from ....support.types import AxisLike, DTypeLike, Function, Number, Operand
from ..operands import can_hold_sums, is_mat_or_none
from ..registry import NO_VALUE, Result, implements

_REAL = (int, float)


def _flag(keepdims: object) -> bool:
    return keepdims is not NO_VALUE and bool(keepdims)


def _plain(*others: object) -> bool:
    """Return whether none of these arguments is given."""
    return all(x is NO_VALUE or x is None for x in others)


def _extreme(a: Operand, axis: AxisLike, out: Operand, keepdims: bool, smallest: bool,
             *others: object) -> Result:
    if not isinstance(a, Mat) or not is_mat_or_none(out) or not _plain(*others):
        return NotImplemented
    return missing.nan_extreme(a, axis, _flag(keepdims), out, smallest)


@implements("nanmax")
def numpy_nanmax(a: Operand, axis: AxisLike = None, out: Operand = None,
                 keepdims: bool = NO_VALUE, initial: Number = NO_VALUE,
                 where: Operand = NO_VALUE) -> Result:
    return _extreme(a, axis, out, keepdims, False, initial, where)


@implements("nanmin")
def numpy_nanmin(a: Operand, axis: AxisLike = None, out: Operand = None,
                 keepdims: bool = NO_VALUE, initial: Number = NO_VALUE,
                 where: Operand = NO_VALUE) -> Result:
    return _extreme(a, axis, out, keepdims, True, initial, where)


def _place(place: Function, a: Operand, axis: int | None, out: Operand, keepdims: bool,
           last: float) -> Result:
    if not isinstance(a, Mat) or not is_mat_or_none(out):
        return NotImplemented
    if axis is not None and type(axis) is not int:
        axis = integer(plain_axis(axis), "an axis")
    return missing.nan_place(place, a, axis, _flag(keepdims), out, last)


@implements("nanargmax")
def numpy_nanargmax(a: Operand, axis: int | None = None, out: Operand = None, *,
                    keepdims: bool = NO_VALUE) -> Result:
    return _place(reduce.argmax, a, axis, out, keepdims, -np.inf)


@implements("nanargmin")
def numpy_nanargmin(a: Operand, axis: int | None = None, out: Operand = None, *,
                    keepdims: bool = NO_VALUE) -> Result:
    return _place(reduce.argmin, a, axis, out, keepdims, np.inf)


def _total(total: Function, neutral: Number, a: Operand, axis: AxisLike, out: Operand,
           keepdims: bool, *others: object) -> Result:
    if not isinstance(a, Mat) or not can_hold_sums(out) or not _plain(*others):
        return NotImplemented
    return missing.nan_total(total, neutral, a, axis, None, out, _flag(keepdims))


@implements("nansum")  # NumPy's signature
def numpy_nansum(a: Operand, axis: AxisLike = None, dtype: DTypeLike = None, out: Operand = None,
                 keepdims: bool = NO_VALUE, initial: Number = NO_VALUE,
                 where: Operand = NO_VALUE) -> Result:
    return (NotImplemented if initial is None else
            _total(reduce.sum, 0, a, axis, out, keepdims, dtype, initial, where))


@implements("nanprod")  # NumPy's signature
def numpy_nanprod(a: Operand, axis: AxisLike = None, dtype: DTypeLike = None,
                  out: Operand = None, keepdims: bool = NO_VALUE, initial: Number = NO_VALUE,
                  where: Operand = NO_VALUE) -> Result:
    return (NotImplemented if initial is None else
            _total(reduce.prod, 1, a, axis, out, keepdims, dtype, initial, where))


@implements("nanmean")
def numpy_nanmean(a: Operand, axis: AxisLike = None, dtype: DTypeLike = None,
                  out: Operand = None, keepdims: bool = NO_VALUE, *,
                  where: Operand = NO_VALUE) -> Result:
    if not isinstance(a, Mat) or not _plain(dtype, out, where):
        return NotImplemented
    return missing.nan_mean(a, axis, _flag(keepdims))


@implements("nanvar")  # NumPy's signature
def numpy_nanvar(a: Operand, axis: AxisLike = None, dtype: DTypeLike = None, out: Operand = None,
                 ddof: Number = 0, keepdims: bool = NO_VALUE, *, where: Operand = NO_VALUE,
                 mean: Operand = NO_VALUE, correction: Number = NO_VALUE) -> Result:
    plain = (_plain(dtype, out, where, mean, correction) and isinstance(a, Mat)
             and a.dtype.char in FLOATING and type(ddof) in _REAL)
    return missing.nan_variance(a, axis, _flag(keepdims), ddof) if plain else NotImplemented


@implements("nanstd")  # NumPy's signature
def numpy_nanstd(a: Operand, axis: AxisLike = None, dtype: DTypeLike = None, out: Operand = None,
                 ddof: Number = 0, keepdims: bool = NO_VALUE, *, where: Operand = NO_VALUE,
                 mean: Operand = NO_VALUE, correction: Number = NO_VALUE) -> Result:
    found = numpy_nanvar(a, axis, dtype, out, ddof, keepdims, where=where, mean=mean,
                         correction=correction)
    return found if found is NotImplemented else elementwise.sqrt(found, out=found)
