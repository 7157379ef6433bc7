"""NumPy's reductions: sums, means, extremes, variances and traces.

NumPy's signatures have up to nine parameters.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ....matrix.mat import Mat
from ....ops import elementwise, reduce, truth
from ....support.dtypes import REAL_TYPES
from ....support.types import AxisLike, DTypeLike, Function, Number, Operand
from ..operands import can_hold_sums, is_known_dtype, is_mat_or_array, is_mat_or_none
from ..registry import NO_VALUE, Result, implements

_REAL = (int, float)
_COUNT_IS_INT = isinstance(np.count_nonzero(np.zeros(1)), int)  # before NumPy 2.4


def _reduce(reduction: Function, a: Operand, axis: AxisLike, out: Operand, keepdims: bool,
            *others: object) -> Result:
    """Call `reduction`; the `others` are arguments that NumPy is to compute with."""
    if not is_mat_or_array(a) or not can_hold_sums(out) or any(x is not NO_VALUE for x in others):
        return NotImplemented
    return reduction(a, axis, out=out, keepdims=False if keepdims is NO_VALUE else bool(keepdims))


def _reduce_as(reduction: Function, a: Operand, axis: AxisLike, dtype: DTypeLike, out: Operand,
               keepdims: bool, *others: object) -> Result:
    """Call `reduction` of elements that are converted to `dtype`."""
    if dtype is None:
        return _reduce(reduction, a, axis, out, keepdims, *others)
    wanted = np.dtype(dtype)
    if out is not None or not is_known_dtype(wanted) or not is_mat_or_array(a):
        return NotImplemented
    if (a.dtype.kind == "c" and wanted.kind != "c") or wanted.kind == "b":
        return NotImplemented
    return _reduce(partial(reduction, dtype=wanted), a, axis, out, keepdims, *others)


@implements("sum")  # NumPy's signature
def numpy_sum(a: Operand, axis: AxisLike = None, dtype: DTypeLike = None, out: Operand = None,
              keepdims: bool = NO_VALUE, initial: Number = NO_VALUE,
              where: Operand = NO_VALUE) -> Result:
    return _reduce_as(reduce.sum, a, axis, dtype, out, keepdims, initial, where)


@implements("prod")  # NumPy's signature
def numpy_prod(a: Operand, axis: AxisLike = None, dtype: DTypeLike = None, out: Operand = None,
               keepdims: bool = NO_VALUE, initial: Number = NO_VALUE,
               where: Operand = NO_VALUE) -> Result:
    return _reduce_as(reduce.prod, a, axis, dtype, out, keepdims, initial, where)


@implements("mean")
def numpy_mean(a: Operand, axis: AxisLike = None, dtype: DTypeLike = None, out: Operand = None,
               keepdims: bool = NO_VALUE, *, where: Operand = NO_VALUE) -> Result:
    return _reduce_as(reduce.mean, a, axis, dtype, out, keepdims, where)


@implements("max", "amax")
def numpy_max(a: Operand, axis: AxisLike = None, out: Operand = None, keepdims: bool = NO_VALUE,
              initial: Number = NO_VALUE, where: Operand = NO_VALUE) -> Result:
    return _reduce(reduce.max, a, axis, out, keepdims, initial, where)


@implements("min", "amin")
def numpy_min(a: Operand, axis: AxisLike = None, out: Operand = None, keepdims: bool = NO_VALUE,
              initial: Number = NO_VALUE, where: Operand = NO_VALUE) -> Result:
    return _reduce(reduce.min, a, axis, out, keepdims, initial, where)


@implements("argmax")
def numpy_argmax(a: Operand, axis: int | None = None, out: Operand = None, *,
                 keepdims: bool = NO_VALUE) -> Result:
    return _reduce(reduce.argmax, a, axis, out, keepdims)


@implements("argmin")
def numpy_argmin(a: Operand, axis: int | None = None, out: Operand = None, *,
                 keepdims: bool = NO_VALUE) -> Result:
    return _reduce(reduce.argmin, a, axis, out, keepdims)


@implements("any")
def numpy_any(a: Operand, axis: AxisLike = None, out: Operand = None,
              keepdims: bool = NO_VALUE, *, where: Operand = NO_VALUE) -> Result:
    return _decide(truth.any_true, a, axis, out, keepdims, where)


@implements("all")
def numpy_all(a: Operand, axis: AxisLike = None, out: Operand = None,
              keepdims: bool = NO_VALUE, *, where: Operand = NO_VALUE) -> Result:
    return _decide(truth.all_true, a, axis, out, keepdims, where)


def _decide(reduction: Function, a: Operand, axis: AxisLike, out: Operand, keepdims: bool,
            where: Operand) -> Result:
    if not isinstance(a, Mat) or not is_mat_or_none(out) or where is not NO_VALUE:
        return NotImplemented
    if out is not None and out.storage.dtype.kind != "b":
        return NotImplemented
    return reduction(a, axis, False if keepdims is NO_VALUE else bool(keepdims), out)


@implements("count_nonzero")
def numpy_count_nonzero(a: Operand, axis: AxisLike = None, *, keepdims: bool = False) -> Result:
    if not isinstance(a, Mat):
        return NotImplemented
    found = truth.count_true(a, axis, bool(keepdims))
    return int(found.item()) if _COUNT_IS_INT and axis is None and not keepdims else found


# The signature is that of NumPy's two functions, whose last three arguments are `others`
def _variance(a: Operand, axis: AxisLike, dtype: DTypeLike, out: Operand, ddof: Number,
              keepdims: bool, others: tuple[object, ...]) -> Result:
    """Return the variance: as in NumPy, the mean of the squared distances from the mean."""
    plain = (dtype is None and is_mat_or_none(out) and all(x is NO_VALUE for x in others)
             and type(ddof) in _REAL)
    if not plain or not isinstance(a, Mat) or a.dtype.char not in REAL_TYPES or not a.size:
        return NotImplemented
    squares = elementwise.square(elementwise.subtract(a, reduce.mean(a, axis, keepdims=True)))
    total = reduce.sum(squares, axis, keepdims=keepdims is not NO_VALUE and bool(keepdims))
    count = a.size // total.size - ddof
    if count <= 0:
        return NotImplemented
    return elementwise.divide(total, float(count), out=out)


@implements("var")  # NumPy's signature
def numpy_var(a: Operand, axis: AxisLike = None, dtype: DTypeLike = None, out: Operand = None,
              ddof: Number = 0, keepdims: bool = NO_VALUE, *, where: Operand = NO_VALUE,
              mean: Operand = NO_VALUE, correction: Number = NO_VALUE) -> Result:
    return _variance(a, axis, dtype, out, ddof, keepdims, (where, mean, correction))


@implements("std")  # NumPy's signature
def numpy_std(a: Operand, axis: AxisLike = None, dtype: DTypeLike = None, out: Operand = None,
              ddof: Number = 0, keepdims: bool = NO_VALUE, *, where: Operand = NO_VALUE,
              mean: Operand = NO_VALUE, correction: Number = NO_VALUE) -> Result:
    found = _variance(a, axis, dtype, out, ddof, keepdims, (where, mean, correction))
    return found if found is NotImplemented else found.sqrt_()


@implements("trace")
def numpy_trace(a: Operand, offset: int = 0, axis1: int = 0, axis2: int = 1,
                dtype: DTypeLike = None, out: Operand = None) -> Result:
    if not isinstance(a, Mat) or a.ndim < 2 or dtype is not None or not can_hold_sums(out):
        return NotImplemented
    return reduce.sum(a.diagonal(offset, axis1, axis2), -1, out=out)


@implements("linalg.trace")
def numpy_linalg_trace(x: Mat, /, *, offset: int = 0, dtype: DTypeLike = None) -> Result:
    if x.ndim < 2 or dtype is not None:
        return NotImplemented
    return reduce.sum(x.diagonal(offset, -2, -1), -1)
