"""NumPy's variances, standard deviations, weighted means, ranges of elements and covariances."""

from __future__ import annotations

import numpy as np

from ...errors import DTypeError
from ...layout.shapes import as_axes
from ...matrix.mat import Mat, new_like
from ...ops.engine.by_numpy import LeftToNumPy, leave_if
from ...ops.primitives import elementwise, joining, reduce
from ...ops.primitives.declare_reduce import axes_of, chosen, mask_of, plain_axis
from ...ops.primitives.reduce import REAL, count_of, variance
from ...ops.primitives.shape import complex_of, imaginary_part, real_part
from ...support.dtypes import BLAS_TYPES, REAL_TYPES
from ...support.plugins import at_first_use
from ...support.types import AxisLike, DType, DTypeLike, Function, Number, Operand
from ..operands import (
    as_dtype,
    as_mat_if_possible,
    can_hold_sums,
    different_axes,
    is_mat_or_array,
    is_mat_or_none,
    is_there,
)
from ..registry import NO_VALUE, Result, flag, implements
from .in_tiles import in_one_pass, limit_if_large

blas_gemm = at_first_use("ops.linear.blas_gemm")
products = at_first_use("ops.linear.matmul")
ufuncs = at_first_use("ops.primitives.ufuncs")
_REAL = (int, float)
_TIMES = 6  # as many bytes as observations take, those that follow and their distances take, too
_FEWEST = 16  # observations at a time, below which the product takes longer than copies


def _plain(a: Mat, axis: AxisLike, dtype: DTypeLike, ddof: Number, keepdims: bool,
           root: bool) -> Result:
    """Return the variance about the mean of all elements over `axis`."""
    if dtype is not None:
        wanted = np.dtype(dtype)
        leave_if(wanted.char not in REAL_TYPES or a.dtype.char not in REAL)
        a = a.astype(np.promote_types(a.dtype, wanted))
        found = _plain(a, axis, None, ddof, keepdims, root)
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
    left = elementwise.maximum(left, 0).reshape(total.shape)
    return as_dtype(elementwise.divide(total, left), a.dtype)


def _variance(root: bool) -> Function:
    """Return the function of variances, or of their square roots."""
    # the parameters are NumPy's
    def variance(a: Mat, axis: AxisLike = None, dtype: DTypeLike = None, out: Operand = None,
                 ddof: Number = 0, keepdims: bool = NO_VALUE, *, where: Operand = NO_VALUE,
                 mean: Operand = NO_VALUE, correction: Number = NO_VALUE) -> Result:
        if correction is not NO_VALUE:
            leave_if(ddof != 0)  # NumPy's error
            ddof = correction
        leave_if(not is_mat_or_none(out) or type(ddof) not in _REAL or not a.size)
        keep, axis = flag(keepdims), plain_axis(axis)
        if where is NO_VALUE is mean:
            found = _plain(a, axis, dtype, ddof, keep, root)
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
    leave_if(not can_hold_sums(out) or not a.size)
    if a.dtype.kind == "b":
        axes_of(a, plain_axis(axis))
        raise DTypeError("ptp is not defined for bool; convert with x.astype(dtype)")
    return _range(a, axis, flag(keepdims), out)


@in_one_pass
def _range(a: Mat, axis: AxisLike, keepdims: bool, out: Operand) -> Mat:
    most, least = (reduce_(a, axis, None, keepdims) for reduce_ in (reduce.max, reduce.min))
    return elementwise.subtract(most, least, out=out)


@implements("average")
def numpy_average(a: Operand, axis: AxisLike = None, weights: Operand = None,
                  returned: bool = False, *, keepdims: bool = NO_VALUE) -> Result:
    leave_if(a.dtype.char not in REAL or (axis is not None and not a.ndim))
    keep = flag(keepdims)
    if axis is not None and type(axis) is not int:
        axis = as_axes(axis, a.ndim)
    if weights is None:
        mean = reduce.mean(a, axis, keepdims=keep)
        leave_if(not mean.size)  # NumPy's error
        return (mean, np.full_like(mean, a.size / mean.size)) if returned else mean
    found = _weighted(a, axis, as_mat_if_possible(weights), keep)
    average, scale = found
    return (average, scale.broadcast_to(average.shape).copy()) if returned else average


@in_one_pass
def _weighted(a: Mat, axis: AxisLike, weights: Operand, keepdims: bool) -> Result:
    """Return the mean with weights, of the shape of `a` or for one axis, and their sums."""
    leave_if(not is_mat_or_array(weights) or weights.dtype.char not in REAL)
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
