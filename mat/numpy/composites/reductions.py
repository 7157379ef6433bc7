"""NumPy's reductions: sums, means, extremes, truth, and traces, also without NaN; running sums and
products.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

import numpy as np

from ...core.source_line import warn
from ...devices.in_use import computes_elsewhere
from ...errors import ShapeError
from ...layout.shapes import as_axis, integer
from ...matrix.mat import Mat
from ...ops.engine.by_numpy import leave_if
from ...ops.primitives import elementwise, reduce
from ...ops.primitives.declare_reduce import mask_of, plain_axis
from ...ops.primitives.selecting import without_nan
from ...support.dtypes import FLOATING, INEXACT
from ...support.plugins import at_first_use
from ...support.types import AxisLike, DTypeLike, Function, Number, Operand
from ..operands import REAL, as_mats, can_hold_sums, is_mat_or_array, is_mat_or_none, keeps_parts
from ..registry import NO_VALUE, Result, flag, implements, named
from .in_tiles import in_one_pass

scan = at_first_use("ops.primitives.scan")
ufuncs = at_first_use("ops.primitives.ufuncs")
_COUNT_IS_INT = isinstance(np.count_nonzero(np.zeros(1)), int)  # before NumPy 2.4


def _register(reduction: Function, name: str) -> None:
    """Register a reduction of `mat` as NumPy's, which computes into arrays, and in other dtypes."""
    reduction = named(reduction, name)
    code = reduction.__code__
    parameters = code.co_varnames[:code.co_argcount]

    @implements(name, mats=0)
    @wraps(reduction)
    def reduce(*args: Operand, **kwargs: Operand) -> Result:
        plain = len(args) in (1, 2) and type(args[0]) is Mat
        if not plain or "out" in kwargs or "dtype" in kwargs:
            given = {**dict(zip(parameters, args, strict=False)), **kwargs}
            leave_if("a" not in given)
            leave_if(not is_mat_or_array(given["a"]) or not can_hold_sums(given.get("out")))
            if given.get("dtype") is not None:
                leave_if(given.get("out") is not None)
                wanted = np.dtype(given["dtype"])
                leave_if(wanted.kind == "b" or not keeps_parts(given["a"], wanted))
        return reduction(*args, **kwargs)


_register(reduce.sum, "sum")
_register(reduce.prod, "prod")
_register(reduce.mean, "mean")
_register(reduce.max, "max")
_register(reduce.max, "amax")
_register(reduce.min, "min")
_register(reduce.min, "amin")
_register(reduce.argmax, "argmax")
_register(reduce.argmin, "argmin")


def _decide(reduction: Function) -> Function:
    """Return the function of what is true."""
    def decide(a: Mat, axis: AxisLike = None, out: Operand = None, keepdims: bool = NO_VALUE, *,
               where: Operand = NO_VALUE) -> Result:
        leave_if(not is_mat_or_none(out))
        if where is not NO_VALUE:
            mask = mask_of(where, a)
            a = (ufuncs.logical_and(a, mask) if reduction is reduce.any_true
                 else ufuncs.logical_or(a, ufuncs.logical_not(mask)))
        leave_if(out is not None and out.element_type.kind != "b")
        return reduction(a, axis, flag(keepdims), out)

    return decide


implements("any")(_decide(reduce.any_true))
implements("all")(_decide(reduce.all_true))


@implements("count_nonzero")
def numpy_count_nonzero(a: Operand, axis: AxisLike = None, *, keepdims: bool = False) -> Result:
    found = reduce.count_true(a, axis, bool(keepdims))
    return int(found.item()) if _COUNT_IS_INT and axis is None and not keepdims else found


@implements("trace", of_many=True)
def numpy_trace(a: Operand, offset: int = 0, axis1: int = 0, axis2: int = 1,
                dtype: DTypeLike = None, out: Operand = None) -> Result:
    leave_if(a.ndim < 2 or dtype is not None or not can_hold_sums(out))
    return reduce.sum(a.diagonal(offset, axis1, axis2), -1, out=out)


@implements("linalg.trace")
def numpy_linalg_trace(x: Mat, /, *, offset: int = 0, dtype: DTypeLike = None) -> Result:
    leave_if(x.ndim < 2 or dtype is not None)
    return reduce.sum(x.diagonal(offset, -2, -1), -1)


def _check_has_axes(out: Operand) -> None:
    if isinstance(out, Mat) and not out.ndim:  # where NumPy 2.4 ends the process
        raise ShapeError("running totals have axes, also those of a number; out has none")


def _running(found: Callable[[], Function], of_nan: int | None = None) -> Function:
    """Return the function of running totals, with `of_nan` in place of NaN unless that is None."""
    def running(a: Mat, axis: int | None = None, dtype: DTypeLike = None,
                out: Operand = None) -> Result:
        _check_has_axes(out)
        leave_if(not can_hold_sums(out) or not (a.ndim or axis is None))
        leave_if(axis is not None and type(axis) is not int)
        if of_nan is not None:
            a = without_nan(a, of_nan)
        if dtype is None:
            return found()(a, axis, None, out)
        wanted = np.dtype(dtype)
        leave_if(out is not None or not keeps_parts(a, wanted))
        return found()(a, axis, wanted)

    return running


implements("cumsum")(_running(lambda: scan.cumsum))
implements("cumprod")(_running(lambda: scan.cumprod))
implements("nancumsum")(_running(lambda: scan.cumsum, of_nan=0))
implements("nancumprod")(_running(lambda: scan.cumprod, of_nan=1))


def _cumulative(found: Callable[[], Function], first: int) -> Function:
    """Return the standard's function of running totals, which may begin with `first`."""
    def cumulative(x: Mat, /, *, axis: int | None = None, dtype: DTypeLike = None,
                   out: Operand = None, include_initial: bool = False) -> Result:
        _check_has_axes(out)
        leave_if(out is not None or not x.ndim or (axis is not None and type(axis) is not int))
        wanted = None if dtype is None else np.dtype(dtype)
        leave_if(wanted is not None and not keeps_parts(x, wanted))
        return scan.cumulative(found(), x, axis, wanted, first if include_initial else None)

    return cumulative


implements("cumulative_sum")(_cumulative(lambda: scan.cumsum, 0))
implements("cumulative_prod")(_cumulative(lambda: scan.cumprod, 1))


@implements("diff", of_many=True)
def numpy_diff(a: Operand, n: int = 1, axis: int = -1, prepend: Operand = NO_VALUE,
               append: Operand = NO_VALUE) -> Result:
    leave_if(not a.ndim or type(n) is not int or n < 1 or type(axis) is not int)
    k = as_axis(axis, a.ndim)
    edge = (*a.shape[:k], 1, *a.shape[k + 1:])
    parts = [v if isinstance(v, Mat) else np.asanyarray(v)
             for v in (prepend, a, append) if v is not NO_VALUE]
    mats = as_mats([v if v.ndim else np.broadcast_to(v, edge) if isinstance(v, np.ndarray)
                    else v.broadcast_to(edge) for v in parts])
    return scan.differences(mats, n, k)


# Of elements that are not NaN


_ONLY = "All-NaN slice encountered"  # NumPy's warnings
_NONE = "Mean of empty slice"
_FEW = "Degrees of freedom <= 0 for slice."


def _plain(*others: object) -> bool:
    return all(x is NO_VALUE or x is None for x in others)


def _warned(found: Mat, message: str) -> Mat:
    """Return `found`; warn if the host has computed it, and there is NaN in it."""
    if not computes_elsewhere(found):
        with np.errstate(all="ignore"):
            if bool(reduce.any_true(elementwise.isnan(found))):
                warn(message, RuntimeWarning)
    return found


def _extreme(smallest: bool) -> Function:
    """Return the function of largest or smallest elements."""
    def extreme(a: Mat, axis: AxisLike = None, out: Operand = None, keepdims: bool = NO_VALUE,
                initial: Number = NO_VALUE, where: Operand = NO_VALUE) -> Result:
        leave_if(not is_mat_or_none(out) or not _plain(initial, where))
        found = reduce.extreme(a, axis, out, flag(keepdims), smallest=smallest)
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
        inexact = a.dtype.char in INEXACT
        return _place_of(a, place, last if inexact else None, axis, out,
                                      flag(keepdims))

    return place_of


@in_one_pass
def _place_of(a: Mat, place: Function, last: float | None, axis: int | None, out: Operand,
              keepdims: bool) -> Result:
    if last is not None:
        if bool(reduce.any_true(reduce.all_true(elementwise.isnan(a), axis))):
            raise ShapeError(f"{_ONLY}: of NaN only, shape {a.shape}, axis {axis}, there is "
                             "no index; numpy.isnan finds it")
        a = without_nan(a, last)
    return place(a, axis, out, keepdims=keepdims)


implements("nanargmax")(_place(reduce.argmax, -np.inf))
implements("nanargmin")(_place(reduce.argmin, np.inf))


def _total(total: Function, neutral: Number) -> Function:
    """Return the function of totals, with the `neutral` element for NaN."""
    # the parameters are NumPy's
    def total_of(a: Mat, axis: AxisLike = None, dtype: DTypeLike = None, out: Operand = None,
                 keepdims: bool = NO_VALUE, initial: Number = NO_VALUE,
                 where: Operand = NO_VALUE) -> Result:
        leave_if(initial is None or not can_hold_sums(out) or not _plain(dtype, initial, where))
        return _total_of(a, total, neutral, axis, out, flag(keepdims))

    return total_of


@in_one_pass
def _total_of(x: Mat, total: Function, neutral: Number, axis: AxisLike, out: Operand,
              keepdims: bool) -> Result:
    return total(without_nan(x, neutral), axis, None, out, keepdims)


implements("nansum")(_total(reduce.sum, 0))
implements("nanprod")(_total(reduce.prod, 1))


@implements("nanmean")
def numpy_nanmean(a: Mat, axis: AxisLike = None, dtype: DTypeLike = None,
                  out: Operand = None, keepdims: bool = NO_VALUE, *,
                  where: Operand = NO_VALUE) -> Result:
    leave_if(not _plain(dtype, out, where))
    keep = flag(keepdims)
    if a.dtype.char not in INEXACT:
        return reduce.mean(a, axis, keepdims=keep)
    return _warned(_mean_of(a, axis, keep), _NONE)


@in_one_pass
def _mean_of(x: Mat, axis: AxisLike, keepdims: bool) -> Mat:
    """Return the mean of the floating-point elements that are not NaN."""
    total = reduce.sum(without_nan(x, 0), axis, keepdims=keepdims)
    return _quotient(total, _numbers_in(x, axis, keepdims))


def _variance(root: bool) -> Function:
    """Return the function of variances, or of their square roots."""
    # the parameters are NumPy's
    def variance(a: Mat, axis: AxisLike = None, dtype: DTypeLike = None, out: Operand = None,
                 ddof: Number = 0, keepdims: bool = NO_VALUE, *, where: Operand = NO_VALUE,
                 mean: Operand = NO_VALUE, correction: Number = NO_VALUE) -> Result:
        leave_if(not _plain(dtype, out, where, mean, correction))
        leave_if(a.dtype.char not in FLOATING or type(ddof) not in REAL)
        found = _variance_of(a, axis, flag(keepdims), ddof)
        return elementwise.sqrt(found, out=found) if root else found

    return variance


implements("nanvar")(_variance(root=False))
implements("nanstd")(_variance(root=True))


@in_one_pass
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
    return reduce.count_true(elementwise.equal(x, x), axis, keepdims)


def _quotient(x: Mat, y: Mat) -> Mat:
    found: Mat = elementwise.divide(x, y)
    return found if found.dtype == x.dtype else found.astype(x.dtype)
