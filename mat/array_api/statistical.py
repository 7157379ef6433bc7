"""Sums, means, extremes, and whether all or any are true, by the reductions of `mat` in the dtypes
that the standard requires.
"""

from __future__ import annotations

from ..errors import ShapeError
from ..layout.shapes import as_axis, integer
from ..matrix.mat import Mat
from ..ops import reduce, scan, truth
from ..ops.variance import variance
from ..support.dtypes import as_dtype
from ..support.types import ArrayLike, AxisLike, DTypeLike, Function
from .arguments import like, mat_of

__all__ = [
    "all", "any", "argmax", "argmin", "count_nonzero", "cumulative_prod", "cumulative_sum", "diff",
    "max", "mean", "min", "prod", "std", "sum", "var",
]


def _total(reduction: Function, x: ArrayLike, axis: AxisLike, dtype: DTypeLike,
           keepdims: bool) -> Mat:
    """Return a sum or product, computed in `dtype`, if that is given."""
    x = mat_of(x)
    wanted = None if dtype is None else as_dtype(dtype)
    if wanted is not None and wanted != x.dtype:
        x = like(x.astype(wanted), x, None)
    found: Mat = reduction(x, axis, keepdims=keepdims)
    return found if wanted in (None, found.dtype) else found.astype(wanted)


def sum(x: ArrayLike, /, *, axis: AxisLike = None, dtype: DTypeLike = None,
        keepdims: bool = False) -> Mat:
    """Return the sum over `axis`.

    Parameters
    ----------
    x : array
        Of any shape.
    axis : int or tuple of int, optional
        The axes to reduce; all if None.
    dtype : dtype, optional
        To compute in and return; by default that of `x`, and int64 or uint64 for smaller integers
        and bool.
    keepdims : bool
        Keep reduced axes with length 1.

    Returns
    -------
    Mat
        Of the shape of `x` without the reduced axes.
    """
    return _total(reduce.sum, x, axis, dtype, keepdims)


def prod(x: ArrayLike, /, *, axis: AxisLike = None, dtype: DTypeLike = None,
         keepdims: bool = False) -> Mat:
    """Return the product over `axis`.

    Parameters
    ----------
    x : array
        Of any shape.
    axis : int or tuple of int, optional
        The axes to reduce; all if None.
    dtype : dtype, optional
        To compute in and return; by default that of `x`, and int64 or uint64 for smaller integers
        and bool.
    keepdims : bool
        Keep reduced axes with length 1.

    Returns
    -------
    Mat
        Of the shape of `x` without the reduced axes.
    """
    return _total(reduce.prod, x, axis, dtype, keepdims)


def mean(x: ArrayLike, /, *, axis: AxisLike = None, keepdims: bool = False) -> Mat:
    """Return the mean over `axis`.

    Parameters
    ----------
    x : array
        Of any shape.
    axis : int or tuple of int, optional
        The axes to reduce; all if None.
    keepdims : bool
        Keep reduced axes with length 1.

    Returns
    -------
    Mat
        Of the shape of `x` without the reduced axes.
    """
    found: Mat = reduce.mean(mat_of(x), axis, keepdims=keepdims)
    return found


def max(x: ArrayLike, /, *, axis: AxisLike = None, keepdims: bool = False) -> Mat:
    """Return the largest element over `axis`; NaN if there is one.

    Parameters
    ----------
    x : array
        Of any shape.
    axis : int or tuple of int, optional
        The axes to reduce; all if None.
    keepdims : bool
        Keep reduced axes with length 1.

    Returns
    -------
    Mat
        Of the shape of `x` without the reduced axes.
    """
    found: Mat = reduce.max(mat_of(x), axis, keepdims=keepdims)
    return found


def min(x: ArrayLike, /, *, axis: AxisLike = None, keepdims: bool = False) -> Mat:
    """Return the smallest element over `axis`; NaN if there is one.

    Parameters
    ----------
    x : array
        Of any shape.
    axis : int or tuple of int, optional
        The axes to reduce; all if None.
    keepdims : bool
        Keep reduced axes with length 1.

    Returns
    -------
    Mat
        Of the shape of `x` without the reduced axes.
    """
    found: Mat = reduce.min(mat_of(x), axis, keepdims=keepdims)
    return found


def var(x: ArrayLike, /, *, axis: AxisLike = None, correction: float = 0.0,
        keepdims: bool = False) -> Mat:
    """Return the variance over `axis`: the mean square of the distances from the mean.

    Parameters
    ----------
    x : array
        Of any shape.
    axis : int or tuple of int, optional
        The axes to reduce; all if None.
    correction : number
        Subtracted from the number of elements that the sum of squares is divided by.
    keepdims : bool
        Keep reduced axes with length 1.

    Returns
    -------
    Mat
        Of the shape of `x` without the reduced axes.
    """
    return variance(mat_of(x), axis, bool(keepdims), correction)


def std(x: ArrayLike, /, *, axis: AxisLike = None, correction: float = 0.0,
        keepdims: bool = False) -> Mat:
    """Return the standard deviation over `axis`: the square root of the variance.

    Parameters
    ----------
    x : array
        Of any shape.
    axis : int or tuple of int, optional
        The axes to reduce; all if None.
    correction : number
        Subtracted from the number of elements that the sum of squares is divided by.
    keepdims : bool
        Keep reduced axes with length 1.

    Returns
    -------
    Mat
        Of the shape of `x` without the reduced axes.
    """
    return variance(mat_of(x), axis, bool(keepdims), correction, root=True)


def argmax(x: ArrayLike, /, *, axis: int | None = None, keepdims: bool = False) -> Mat:
    """Return the index of the first largest element along `axis`.

    Parameters
    ----------
    x : array
        Of any shape.
    axis : int, optional
        The axis to search; the elements in row-major order if None.
    keepdims : bool
        Keep reduced axes with length 1.

    Returns
    -------
    Mat
        Of the shape of `x` without the axis, and int64.
    """
    found: Mat = reduce.argmax(mat_of(x), axis, keepdims=keepdims)
    return found


def argmin(x: ArrayLike, /, *, axis: int | None = None, keepdims: bool = False) -> Mat:
    """Return the index of the first smallest element along `axis`.

    Parameters
    ----------
    x : array
        Of any shape.
    axis : int, optional
        The axis to search; the elements in row-major order if None.
    keepdims : bool
        Keep reduced axes with length 1.

    Returns
    -------
    Mat
        Of the shape of `x` without the axis, and int64.
    """
    found: Mat = reduce.argmin(mat_of(x), axis, keepdims=keepdims)
    return found


# Truth


def all(x: ArrayLike, /, *, axis: AxisLike = None, keepdims: bool = False) -> Mat:
    """Return whether all elements over `axis` are true, which means not 0.

    Parameters
    ----------
    x : array
        Of any shape.
    axis : int or tuple of int, optional
        The axes to reduce; all if None.
    keepdims : bool
        Keep reduced axes with length 1.

    Returns
    -------
    Mat
        Of the shape of `x` without the reduced axes, and bool.
    """
    return truth.all_true(mat_of(x), axis, keepdims)


def any(x: ArrayLike, /, *, axis: AxisLike = None, keepdims: bool = False) -> Mat:
    """Return whether any element over `axis` is true, which means not 0.

    Parameters
    ----------
    x : array
        Of any shape.
    axis : int or tuple of int, optional
        The axes to reduce; all if None.
    keepdims : bool
        Keep reduced axes with length 1.

    Returns
    -------
    Mat
        Of the shape of `x` without the reduced axes, and bool.
    """
    return truth.any_true(mat_of(x), axis, keepdims)


def count_nonzero(x: ArrayLike, /, *, axis: AxisLike = None, keepdims: bool = False) -> Mat:
    """Return the number of elements over `axis` that are not 0.

    Parameters
    ----------
    x : array
        Of any shape.
    axis : int or tuple of int, optional
        The axes to reduce; all if None.
    keepdims : bool
        Keep reduced axes with length 1.

    Returns
    -------
    Mat
        Of the shape of `x` without the reduced axes, and int64.
    """
    return truth.count_true(mat_of(x), axis, keepdims)


# Along an axis


def _running(function: Function, x: ArrayLike, axis: int | None, dtype: DTypeLike,
             first: int | None) -> Mat:
    """Return running totals, with `first` before them, unless that is None."""
    return scan.cumulative(function, mat_of(x), axis,
                           None if dtype is None else as_dtype(dtype), first)


def cumulative_sum(x: ArrayLike, /, *, axis: int | None = None, dtype: DTypeLike = None,
                   include_initial: bool = False) -> Mat:
    """Return the sums of the elements up to each along `axis`.

    Parameters
    ----------
    x : array
        Of any shape.
    axis : int, optional
        The axis; may be omitted for a vector.
    dtype : dtype, optional
        To compute in and return; by default that of `x`, and int64 or uint64 for smaller integers
        and bool.
    include_initial : bool
        Begin with 0, the sum of no elements.

    Returns
    -------
    Mat
        Of the shape of `x`, or longer by 1 along `axis`.
    """
    return _running(scan.cumsum, x, axis, dtype, 0 if include_initial else None)


def cumulative_prod(x: ArrayLike, /, *, axis: int | None = None, dtype: DTypeLike = None,
                    include_initial: bool = False) -> Mat:
    """Return the products of the elements up to each along `axis`.

    Parameters
    ----------
    x : array
        Of any shape.
    axis : int, optional
        The axis; may be omitted for a vector.
    dtype : dtype, optional
        To compute in and return; by default that of `x`, and int64 or uint64 for smaller integers
        and bool.
    include_initial : bool
        Begin with 1, the product of no elements.

    Returns
    -------
    Mat
        Of the shape of `x`, or longer by 1 along `axis`.
    """
    return _running(scan.cumprod, x, axis, dtype, 1 if include_initial else None)


# `n` and `axis` by position as NumPy has them, which scikit-learn uses
def diff(x: ArrayLike, /, n: int = 1, axis: int = -1, *, prepend: ArrayLike | None = None,
         append: ArrayLike | None = None) -> Mat:
    """Return the differences of neighbours along `axis`.

    Parameters
    ----------
    x : array
        Of any shape.
    n : int
        How often differences are taken.
    axis : int
        The axis.
    prepend, append : array, optional
        Elements to join to `x` before that.

    Returns
    -------
    Mat
        Shorter by `n` along `axis`.
    """
    mat = mat_of(x)
    k = as_axis(axis, mat.ndim)
    if integer(n, "n") < 0:
        raise ShapeError(f"diff is taken a number of times, got n = {n}")
    if n == 0:
        return mat.copy()
    parts = [mat_of(v) for v in (prepend, mat, append) if v is not None]
    return scan.differences(parts, n, k)
