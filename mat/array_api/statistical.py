"""Sums, means, extremes, and whether all or any are true: our reductions, in the dtypes that the
standard wants.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod as _product
from typing import Any

import numpy as np

from ..errors import ShapeError
from ..interop.numpy.operators import by_numpy
from ..layout.strided import as_axis, integer
from ..matrix.mat import Mat
from ..ops import elementwise, reduce
from ..ops.declare_reduce import reduced_shape
from ..support.dtypes import as_dtype
from .arguments import as_mat, axes_of, like
from .manipulation import concat

__all__ = [
    "all", "any", "argmax", "argmin", "count_nonzero", "cumulative_prod", "cumulative_sum", "diff",
    "max", "mean", "min",
    "prod", "std", "sum", "var",
]


def _totalled(function: Callable[..., Any], x: Any, axis: Any, dtype: Any, keepdims: bool) -> Any:
    """A sum or product, computed and given in `dtype`, if there is one."""
    x = as_mat(x)
    wanted = None if dtype is None else as_dtype(dtype)
    if wanted is not None and wanted != x.dtype:
        x = like(x.astype(wanted), x, None)
    found = function(x, axis, keepdims)
    return found if wanted in (None, found.dtype) else found.astype(wanted)


# the standard's names
def sum(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """The sum over `axis`: one, several or all. Of small integers and booleans an int64 or uint64,
    unless `dtype` is given.
    """
    return _totalled(reduce.sum, x, axis, dtype, keepdims)


def prod(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """The product over `axis`, in dtypes as of sums."""
    return _totalled(reduce.prod, x, axis, dtype, keepdims)


def mean(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The mean over `axis`."""
    return reduce.mean(as_mat(x), axis, keepdims)


def max(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The largest element over `axis`; NaN if there is one."""
    return reduce.max(as_mat(x), axis, keepdims)


def min(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The smallest element over `axis`; NaN if there is one."""
    return reduce.min(as_mat(x), axis, keepdims)


def var(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """The mean square of the distance to the mean over `axis`, the number of elements being counted
    as `correction` less.
    """
    x = as_mat(x)
    count = _product(x.shape[k] for k in axes_of(x, axis))
    apart = elementwise.subtract(x, reduce.mean(x, axis, True))
    squares = elementwise.square(elementwise.abs(apart) if apart.dtype.kind == "c" else apart)
    left = count - correction
    return elementwise.divide(reduce.sum(squares, axis, keepdims), float(left if left > 0 else 0))


def std(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """The square root of the variance."""
    return elementwise.sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))


def argmax(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """The index of the first largest element along `axis`, or in row-major order."""
    return reduce.argmax(as_mat(x), axis, keepdims)


def argmin(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """The index of the first smallest element along `axis`, or in row-major order."""
    return reduce.argmin(as_mat(x), axis, keepdims)


# Truth


def _truth(x: Any) -> Any:
    x = as_mat(x)
    return x if x.dtype.kind == "b" else elementwise.not_equal(x, 0)


def _decided(function: Callable[..., Any], x: Any, axis: Any, keepdims: bool,
             of_nothing: bool) -> Any:
    truth = _truth(x)
    axes = axes_of(truth, axis)
    if not truth.size:
        return like(Mat(reduced_shape(truth.shape, axes, keepdims), "bool", fill=of_nothing), truth,
                    None)
    return function(truth, axes, keepdims)


def all(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether all elements over `axis` are true, which is to say not 0."""
    return _decided(reduce.min, x, axis, keepdims, True)


def any(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether any element over `axis` is true, which is to say not 0."""
    return _decided(reduce.max, x, axis, keepdims, False)


def count_nonzero(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """How many elements over `axis` are not 0."""
    return reduce.sum(_truth(x), axis, keepdims)


# Along an axis


def _running(function: Callable[..., Any], x: Any, axis: int | None, dtype: Any,
             first: int | None) -> Any:
    """Running totals, with `first` before them, if there is one."""
    x = as_mat(x)
    if axis is None and x.ndim != 1:
        raise ShapeError(f"axis may be left out for one axis only, got shape {x.shape}")
    k = as_axis(0 if axis is None else axis, x.ndim)
    found = by_numpy(function, x, axis=k, dtype=None if dtype is None else as_dtype(dtype))
    if first is None:
        return found
    begin = Mat((*x.shape[:k], 1, *x.shape[k + 1:]), found.dtype, fill=first)
    return concat([like(begin, x, None), found], axis=k)


def cumulative_sum(x: Any, /, *, axis: int | None = None, dtype: Any = None,
                   include_initial: bool = False) -> Any:
    """The sums of the elements up to each along `axis`, beginning with 0 if `include_initial`;
    dtypes as of sums.
    """
    return _running(np.cumsum, x, axis, dtype, 0 if include_initial else None)


def cumulative_prod(x: Any, /, *, axis: int | None = None, dtype: Any = None,
                    include_initial: bool = False) -> Any:
    """The products of the elements up to each along `axis`, beginning with 1 if `include_initial`;
    dtypes as of sums.
    """
    return _running(np.cumprod, x, axis, dtype, 1 if include_initial else None)


def diff(x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Any:
    """The difference of neighbours along `axis`, `n` times over; `prepend` and `append` are put
    before and behind x first.
    """
    x = as_mat(x)
    k = as_axis(axis, x.ndim)
    if integer(n, "n") < 0:
        raise ShapeError(f"diff is taken a number of times, got n = {n}")
    if n == 0:
        return x.copy()
    ends = [as_mat(v) for v in (prepend, x, append) if v is not None]
    result = concat(ends, axis=k) if len(ends) > 1 else x
    before = (slice(None),) * k
    step = elementwise.not_equal if x.dtype.kind == "b" else elementwise.subtract
    for _ in range(n):
        later, sooner = (result.over(result.layout[(*before, part)])
                         for part in (slice(1, None), slice(None, -1)))
        result = step(later, sooner)
    return result
