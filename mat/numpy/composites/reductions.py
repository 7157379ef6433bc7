"""NumPy's reductions: sums, means, extremes, truth, and traces, also without NaN; running sums and
products; variances, standard deviations, weighted means, ranges of elements and covariances.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

import numpy as np

from ...core.source_line import warn
from ...devices.in_use import computes_elsewhere
from ...errors import DTypeError, ShapeError
from ...layout.shapes import as_axes, as_axis, integer
from ...matrix.mat import Mat, new_like
from ...ops.engine.by_numpy import LeftToNumPy, leave_if
from ...ops.primitives import elementwise, joining, reduce
from ...ops.primitives.declare_reduce import axes_of, chosen, mask_of, plain_axis
from ...ops.primitives.reduce import count_of, variance
from ...ops.primitives.selecting import without_nan
from ...ops.primitives.shape import complex_of, imaginary_part, real_part
from ...support.dtypes import BLAS_TYPES, FLOATING, INEXACT, REAL_TYPES
from ...support.plugins import at_first_use
from ...support.types import AxisLike, DType, DTypeLike, Function, Number, Operand
from ..operands import (
    REAL,
    as_dtype,
    as_mat_if_possible,
    as_mats,
    can_hold_sums,
    different_axes,
    is_mat_or_array,
    is_mat_or_none,
    is_there,
    keeps_parts,
)
from ..registry import NO_VALUE, Result, flag, implements, named
from .in_tiles import in_one_pass, limit_if_large

blas_gemm = at_first_use("ops.linear.blas_gemm")
products = at_first_use("ops.linear.matmul")
scan = at_first_use("ops.primitives.scan")
ufuncs = at_first_use("ops.primitives.ufuncs")
_TIMES = 6  # as many bytes as observations take, those that follow and their distances take, too
_FEWEST = 16  # observations at a time, below which the product takes longer than copies
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
            leave_if(not is_mat_or_array(given["a"]) or not is_mat_or_none(given.get("out")))
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
    """Return the function of true elements."""
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
    leave_if(a.ndim < 2 or dtype is not None or not can_hold_sums(out, a.dtype))
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
        leave_if(not can_hold_sums(out, a.dtype) or not (a.ndim or axis is None))
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


def _warned(found: Mat, message: str, lacking: Function | None = None) -> Mat:
    """Return `found`; warn if the host has computed it, and there is NaN in it. Where infinities
    give NaN, too, `lacking` returns which results there are too few elements for.
    """
    if not computes_elsewhere(found):
        with np.errstate(all="ignore"):
            if bool(reduce.any_true(elementwise.isnan(found))) and (
                    lacking is None or bool(reduce.any_true(lacking()))):
                warn(message, RuntimeWarning)
    return found


def _extreme(smallest: bool) -> Function:
    def extreme(a: Mat, axis: AxisLike = None, out: Operand = None, keepdims: bool = NO_VALUE,
                initial: Number = NO_VALUE, where: Operand = NO_VALUE) -> Result:
        leave_if(not can_hold_sums(out, a.dtype) or not _plain(initial, where))
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
        return _place_of(a, place, last if inexact else None, axis, out, flag(keepdims))

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
        leave_if(initial is None or not can_hold_sums(out, a.dtype)
                 or not _plain(dtype, initial, where))
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
    return _warned(_mean_of(a, axis, keep), _NONE,
                   lambda: elementwise.equal(_numbers_in(a, axis, keep), 0))


@in_one_pass
def _mean_of(x: Mat, axis: AxisLike, keepdims: bool) -> Mat:
    """Return the mean of the floating-point elements that are not NaN."""
    total = reduce.sum(without_nan(x, 0), axis, keepdims=keepdims)
    return _quotient(total, _numbers_in(x, axis, keepdims))


def _nan_variance(root: bool) -> Function:
    # the parameters are NumPy's
    def variance(a: Mat, axis: AxisLike = None, dtype: DTypeLike = None, out: Operand = None,
                 ddof: Number = 0, keepdims: bool = NO_VALUE, *, where: Operand = NO_VALUE,
                 mean: Operand = NO_VALUE, correction: Number = NO_VALUE) -> Result:
        leave_if(not _plain(dtype, out, where, mean, correction))
        leave_if(a.dtype.char not in FLOATING or type(ddof) not in REAL)
        found = _variance_of(a, axis, flag(keepdims), ddof)
        return elementwise.sqrt(found, out=found) if root else found

    return variance


implements("nanvar")(_nan_variance(root=False))
implements("nanstd")(_nan_variance(root=True))


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
    return _warned(found, _FEW, lambda: elementwise.less_equal(left, 0))


def _numbers_in(x: Mat, axis: AxisLike, keepdims: bool) -> Mat:
    return reduce.count_true(elementwise.equal(x, x), axis, keepdims)


def _quotient(x: Mat, y: Mat) -> Mat:
    found: Mat = elementwise.divide(x, y)
    return found if found.dtype == x.dtype else found.astype(x.dtype)


# Variances, standard deviations, weighted means, ranges of elements, and covariances


def _about_own_mean(a: Mat, axis: AxisLike, dtype: DTypeLike, ddof: Number, keepdims: bool,
           root: bool) -> Result:
    """Return the variance about the mean of all elements over `axis`."""
    if dtype is not None:
        wanted = np.dtype(dtype)
        leave_if(wanted.char not in REAL_TYPES or a.dtype.char not in reduce.REAL)
        a = a.astype(np.promote_types(a.dtype, wanted))
        found = _about_own_mean(a, axis, None, ddof, keepdims, root)
        return found.astype(wanted)
    leave_if(count_of(a, axis) <= ddof)  # NumPy warns
    return variance(a, axis, keepdims, ddof, root)


def _about(a: Mat, axis: AxisLike, ddof: Number, keepdims: bool, where: Operand,
           mean: Operand) -> Result:
    """Return the variance of the elements that are chosen, about a mean that may be given."""
    leave_if(a.dtype.char not in REAL_TYPES)
    mask = None if where is NO_VALUE else mask_of(where, a)
    some = a if mask is None else chosen(mask, a, 0)
    count: Number = count_of(a, axis) if mask is None else reduce.count_true(mask, axis, True)
    if mean is NO_VALUE:
        mean = as_dtype(elementwise.divide(reduce.sum(some, axis, keepdims=True), count), a.dtype)
    elif not isinstance(mean, Mat) or mean.dtype != a.dtype:
        raise LeftToNumPy
    distances = elementwise.subtract(a, mean)
    leave_if(distances.shape != a.shape)
    squares = elementwise.square(distances)
    total = reduce.sum(squares if mask is None else chosen(mask, squares, 0), axis,
                       keepdims=keepdims)
    left = elementwise.subtract(count, ddof) if isinstance(count, Mat) else count - ddof
    if not isinstance(left, Mat):
        leave_if(left <= 0)
        return elementwise.divide(total, float(left))
    leave_if(not computes_elsewhere(left) and bool((left <= 0).any()))  # NumPy warns
    left = elementwise.maximum(left, 0).reshape(total.shape)
    return as_dtype(elementwise.divide(total, left), a.dtype)


def _variance(root: bool) -> Function:
    # the parameters are NumPy's
    def variance(a: Mat, axis: AxisLike = None, dtype: DTypeLike = None, out: Operand = None,
                 ddof: Number = 0, keepdims: bool = NO_VALUE, *, where: Operand = NO_VALUE,
                 mean: Operand = NO_VALUE, correction: Number = NO_VALUE) -> Result:
        if correction is not NO_VALUE:
            leave_if(ddof != 0)  # NumPy's error
            ddof = correction
        leave_if(not is_mat_or_none(out) or type(ddof) not in REAL or not a.size)
        keep, axis = flag(keepdims), plain_axis(axis)
        if where is NO_VALUE is mean:
            found = _about_own_mean(a, axis, dtype, ddof, keep, root)
        else:
            leave_if(dtype is not None)
            found = _about(a, axis, ddof, keep, where, mean)
            found = elementwise.sqrt(found, out=found) if root else found
        if out is None:
            return found
        leave_if(out.shape != found.shape or not np.can_cast(found.dtype, out.dtype, "same_kind"))
        return out.assign_(found)

    return variance


implements("var")(_variance(root=False))
implements("std")(_variance(root=True))


@implements("ptp")
def numpy_ptp(a: Operand, axis: AxisLike = None, out: Operand = None,
              keepdims: bool = NO_VALUE) -> Result:
    leave_if(not can_hold_sums(out, a.dtype) or not a.size)
    if a.dtype.kind == "b":
        axes_of(a, plain_axis(axis))
        raise DTypeError("ptp is not defined for bool; convert with x.astype(dtype)")
    return _range(a, axis, flag(keepdims), out)


@in_one_pass
def _range(a: Mat, axis: AxisLike, keepdims: bool, out: Operand) -> Mat:
    most, least = (reduce_(a, axis, None, keepdims) for reduce_ in (reduce.max, reduce.min))
    # NumPy broadcasts to no other shape, and subtracts in another dtype
    leave_if(out is not None and (out.shape, out.dtype) != (most.shape, most.dtype))
    return elementwise.subtract(most, least, out=out)


@implements("average")
def numpy_average(a: Operand, axis: AxisLike = None, weights: Operand = None,
                  returned: bool = False, *, keepdims: bool = NO_VALUE) -> Result:
    leave_if(a.dtype.char not in reduce.REAL or (axis is not None and not a.ndim))
    keep = flag(keepdims)
    if axis is not None and type(axis) is not int:
        axis = as_axes(axis, a.ndim)
    if weights is None:
        mean = reduce.mean(a, axis, keepdims=keep)
        leave_if(not mean.size)  # NumPy's error
        return (mean, np.full_like(mean, a.size / mean.size)) if returned else mean
    found = _weighted(a, axis, as_mat_if_possible(weights), keep)
    average, scale = found
    if not returned:
        return average
    alike = scale.shape == average.shape
    return average, scale if alike else scale.broadcast_to(average.shape).copy()


@in_one_pass
def _weighted(a: Mat, axis: AxisLike, weights: Operand, keepdims: bool) -> Result:
    """Return the mean with weights, of the shape of `a` or for one axis, and their sums."""
    leave_if(not is_mat_or_array(weights) or weights.dtype.char not in reduce.REAL)
    if weights.shape != a.shape:
        leave_if(axis is None)
        (k, *others) = different_axes(axis, a.ndim)
        leave_if(others)
        leave_if(weights.shape != a.shape[k:k + 1])
        weights = weights.reshape((1,) * k + weights.shape + (1,) * (a.ndim - k - 1))
    dtype = np.result_type(a.dtype, weights.dtype, *(["float64"] if a.dtype.kind in "biu" else []))
    products = elementwise.multiply(a if a.dtype == dtype else a.astype(dtype), weights)
    scale = reduce.sum(weights, axis, dtype, keepdims=keepdims)
    leave_if(bool(reduce.any_true(elementwise.equal(scale, 0))))  # NumPy's error
    return elementwise.divide(reduce.sum(products, axis, keepdims=keepdims), scale), scale


@implements("cov")  # the parameters are NumPy's
def numpy_cov(m: Operand, y: Operand = None, rowvar: bool = True, bias: bool = False,
              ddof: int | None = None, fweights: Operand = None, aweights: Operand = None, *,
              dtype: DTypeLike = None) -> Result:
    leave_if(fweights is not None or (ddof is not None and type(ddof) is not int))
    x = _variables(m, y, rowvar, dtype)
    leave_if(not m.size)
    lost = (0 if bias else 1) if ddof is None else ddof
    if aweights is not None:
        return _weighted_covariance(x, aweights, lost)
    freedom = x.shape[1] - lost
    leave_if(not x.size or freedom <= 0)  # NumPy warns
    return np.squeeze(_covariance(x, reduce.mean(x, 1, keepdims=True), 1 / freedom))


def _variables(m: Operand, y: Operand, rowvar: bool, dtype: DTypeLike) -> Mat:
    """Return the variables as rows."""
    mats = [v for v in (m, y) if v is not None]
    leave_if(y is not None and not is_there(y))
    leave_if(not all(v.ndim in (1, 2) and v.dtype.char in BLAS_TYPES for v in mats))
    kind: DType = np.dtype(dtype) if dtype is not None else np.result_type(
        *(v.dtype for v in mats), np.float64)
    leave_if(kind.char not in BLAS_TYPES
             or not np.can_cast(np.result_type(*(v.dtype for v in mats)), kind, "same_kind"))
    rows = [_as_rows(as_dtype(v, kind), rowvar, k) for k, v in enumerate(mats)]
    leave_if(len({v.shape[1] for v in rows}) > 1)
    return joining.concat(rows) if len(rows) > 1 else rows[0]


def _as_rows(x: Mat, rowvar: bool, number: int) -> Mat:
    """Return variables as the rows of a matrix; a vector is one, and so is a second row."""
    if x.ndim == 1:
        return x.expand_dims(0)
    return x if rowvar or (number and x.shape[0] == 1) else x.T


def _covariance(x: Mat, mean: Mat, factor: float, weights: Mat | None = None) -> Mat:
    """Return the products of the distances of rows from their means, times `factor`: where a device
    has no room for the distances, of some observations after others, each of which is copied once.
    """
    width = _observations_at_once(x)
    if not width:
        found: Mat = products.matmul(*_distances(x, mean, weights))
        found *= factor
        return found
    found = new_like(x, (x.shape[0],) * 2, x.dtype).fill_(0)
    for start in range(0, x.shape[1], width):
        part = slice(start, start + width)
        blas_gemm.gemm(
            factor, *_distances(x[:, part], mean, None if weights is None else weights[part]), 1,
            found)
    return found


def _distances(x: Mat, mean: Mat, weights: Mat | None) -> tuple[Mat, Mat]:
    """Return the distances from the mean, and their conjugates, with weights, as columns."""
    off = x - mean
    other = ufuncs.conjugate(off) if x.dtype.kind == "c" else off
    return off, (other if weights is None else other * weights).T


def _observations_at_once(x: Mat) -> int:
    """Return for how many observations a device has room; 0 for all, or too few."""
    limit = limit_if_large(x)
    if limit is None:
        return 0
    variables = x.shape[0]
    width = (limit // x.itemsize - 2 * variables ** 2) // (_TIMES * variables)
    return width if width >= _FEWEST else 0


def _weighted_covariance(x: Mat, weights: Operand, lost: int) -> Result:
    """Return the covariances of weighted observations; the sum of the weights decides."""
    leave_if(not is_there(x) or not isinstance(weights, Mat) or weights.shape != x.shape[1:]
             or (weights.dtype.kind not in "iuf"))
    w = as_dtype(weights, np.dtype(np.float64))
    least, total = reduce.min(w).item(), reduce.sum(w).item()
    leave_if(least < 0 or not total)  # NumPy's errors
    freedom = total - (lost * reduce.sum(elementwise.square(w)).item() / total if lost else 0)
    leave_if(freedom <= 0)
    return np.squeeze(_covariance(x, _weighted_mean(x, w, total), 1 / freedom, w))


@in_one_pass
def _weighted_mean(x: Mat, weights: Mat, total: float) -> Mat:
    return elementwise.divide(reduce.sum(x * weights, 1, keepdims=True), total)


@implements("corrcoef")
def numpy_corrcoef(x: Operand, y: Operand = None, rowvar: bool = True, bias: object = NO_VALUE,
                   ddof: object = NO_VALUE, *, dtype: DTypeLike = None) -> Result:
    leave_if(bias is not NO_VALUE or ddof is not NO_VALUE)
    leave_if(x.dtype.kind == "c" and not is_there(x))
    found = numpy_cov(x, y, rowvar, dtype=dtype)
    leave_if(found.ndim != 2)
    deviations = elementwise.sqrt(real_part(found.diagonal()))
    found /= deviations.expand_dims(1)
    found /= deviations
    if found.dtype.kind != "c":  # against rounding
        return elementwise.clip(found, -1.0, 1.0)
    return complex_of(*(elementwise.clip(part(found), -1.0, 1.0)
                        for part in (real_part, imaginary_part)))
