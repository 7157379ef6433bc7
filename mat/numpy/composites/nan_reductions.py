"""NumPy's reductions of elements that are not NaN."""

from __future__ import annotations

import numpy as np

from ...core.source_line import warn
from ...devices.in_use import computes_elsewhere
from ...errors import ShapeError
from ...layout.shapes import integer
from ...matrix.mat import Mat
from ...ops.engine.by_numpy import leave_if
from ...ops.primitives import elementwise, missing, reduce, truth
from ...ops.primitives.declare_reduce import plain_axis
from ...ops.primitives.missing import without_nan
from ...support.dtypes import FLOATING, INEXACT
from ...support.types import AxisLike, DTypeLike, Function, Number, Operand
from ..operands import can_hold_sums, is_mat_or_none
from ..registry import NO_VALUE, Result, implements

_REAL = (int, float)
_ONLY = "All-NaN slice encountered"  # NumPy's warnings
_NONE = "Mean of empty slice"
_FEW = "Degrees of freedom <= 0 for slice."


def _flag(keepdims: object) -> bool:
    return keepdims is not NO_VALUE and bool(keepdims)


def _plain(*others: object) -> bool:
    """Return whether none of these arguments is given."""
    return all(x is NO_VALUE or x is None for x in others)


def _warned(found: Mat, message: str) -> Mat:
    """Return `found`; warn if the host has computed it, and there is NaN in it."""
    if not computes_elsewhere(found):
        with np.errstate(all="ignore"):
            if bool(truth.any_true(elementwise.isnan(found))):
                warn(message, RuntimeWarning)
    return found


def _extreme(smallest: bool) -> Function:
    """Return the function of largest or smallest elements."""
    def extreme(a: Mat, axis: AxisLike = None, out: Operand = None, keepdims: bool = NO_VALUE,
                initial: Number = NO_VALUE, where: Operand = NO_VALUE) -> Result:
        leave_if(not is_mat_or_none(out) or not _plain(initial, where))
        found = missing.extreme(a, axis, out, _flag(keepdims), smallest)
        return _warned(found, _ONLY) if a.dtype.char in INEXACT else found

    return extreme


implements("nanmax")(_extreme(smallest=False))
implements("nanmin")(_extreme(smallest=True))


def _place(place: Function, last: float) -> Function:
    """Return the function of indices of extremes; `last` is the least in their order."""
    def place_of(a: Mat, axis: int | None = None, out: Operand = None, *,
                 keepdims: bool = NO_VALUE) -> Result:
        leave_if(not is_mat_or_none(out))
        if axis is not None and type(axis) is not int:
            axis = integer(plain_axis(axis), "an axis")
        if a.dtype.char in INEXACT:
            if bool(truth.any_true(truth.all_true(elementwise.isnan(a), axis))):
                raise ShapeError(f"{_ONLY}: of NaN only, shape {a.shape}, axis {axis}, there is "
                                 "no index; numpy.isnan finds it")
            a = without_nan(a, last)
        return place(a, axis, out, keepdims=_flag(keepdims))

    return place_of


implements("nanargmax")(_place(reduce.argmax, -np.inf))
implements("nanargmin")(_place(reduce.argmin, np.inf))


def _total(total: Function, neutral: Number) -> Function:
    """Return the function of totals, with the `neutral` element for NaN."""
    # the parameters are NumPy's
    def total_of(a: Mat, axis: AxisLike = None, dtype: DTypeLike = None, out: Operand = None,
                 keepdims: bool = NO_VALUE, initial: Number = NO_VALUE,
                 where: Operand = NO_VALUE) -> Result:
        leave_if(initial is None or not can_hold_sums(out) or not _plain(dtype, initial, where))
        return total(without_nan(a, neutral), axis, None, out, _flag(keepdims))

    return total_of


implements("nansum")(_total(reduce.sum, 0))
implements("nanprod")(_total(reduce.prod, 1))


@implements("nanmean")
def numpy_nanmean(a: Mat, axis: AxisLike = None, dtype: DTypeLike = None,
                  out: Operand = None, keepdims: bool = NO_VALUE, *,
                  where: Operand = NO_VALUE) -> Result:
    leave_if(not _plain(dtype, out, where))
    keep = _flag(keepdims)
    if a.dtype.char not in INEXACT:
        return reduce.mean(a, axis, keepdims=keep)
    total = reduce.sum(without_nan(a, 0), axis, keepdims=keep)
    return _warned(_quotient(total, _numbers_in(a, axis, keep)), _NONE)


def _variance(root: bool) -> Function:
    """Return the function of variances, or of their square roots."""
    # the parameters are NumPy's
    def variance(a: Mat, axis: AxisLike = None, dtype: DTypeLike = None, out: Operand = None,
                 ddof: Number = 0, keepdims: bool = NO_VALUE, *, where: Operand = NO_VALUE,
                 mean: Operand = NO_VALUE, correction: Number = NO_VALUE) -> Result:
        leave_if(not _plain(dtype, out, where, mean, correction))
        leave_if(a.dtype.char not in FLOATING or type(ddof) not in _REAL)
        found = _variance_of(a, axis, _flag(keepdims), ddof)
        return elementwise.sqrt(found, out=found) if root else found

    return variance


implements("nanvar")(_variance(root=False))
implements("nanstd")(_variance(root=True))


def _variance_of(x: Mat, axis: AxisLike, keepdims: bool, ddof: Number) -> Mat:
    """Return the variance of the floating-point elements that are not NaN."""
    count = _numbers_in(x, axis, True)
    mean = _quotient(reduce.sum(without_nan(x, 0), axis, keepdims=True), count)
    distances = elementwise.subtract(without_nan(x, mean), mean)
    squares = reduce.sum(elementwise.square(distances), axis, keepdims=keepdims)
    left = elementwise.subtract(count.reshape(squares.shape), ddof)
    found = _quotient(squares, left)
    if ddof:  # NaN where nothing is left, which without `ddof` 0 / 0 is
        some = elementwise.greater(left, 0).astype(found.dtype)
        found = elementwise.add(found, elementwise.divide(0.0, some))
    return _warned(found, _FEW)


def _numbers_in(x: Mat, axis: AxisLike, keepdims: bool) -> Mat:
    """Return how many elements are not NaN."""
    return truth.count_true(elementwise.equal(x, x), axis, keepdims)


def _quotient(x: Mat, y: Mat) -> Mat:
    """Return ``x / y`` in the dtype of `x`."""
    found: Mat = elementwise.divide(x, y)
    return found if found.dtype == x.dtype else found.astype(x.dtype)
