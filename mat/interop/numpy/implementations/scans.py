"""NumPy's running sums and products, and differences of neighbours."""

from __future__ import annotations

import numpy as np

from ....layout.shapes import as_axis
from ....matrix.mat import Mat
from ....ops import scan
from ....ops.missing import without_nan
from ....support.types import DTypeLike, Function, Operand
from ..operands import as_mats, can_hold_sums, is_known_dtype
from ..registry import NO_VALUE, Result, implements


@implements("cumsum")
def numpy_cumsum(a: Operand, axis: int | None = None, dtype: DTypeLike = None,
                 out: Operand = None) -> Result:
    return _running(scan.cumsum, a, axis, dtype, out)


@implements("cumprod")
def numpy_cumprod(a: Operand, axis: int | None = None, dtype: DTypeLike = None,
                  out: Operand = None) -> Result:
    return _running(scan.cumprod, a, axis, dtype, out)


@implements("nancumsum")
def numpy_nancumsum(a: Operand, axis: int | None = None, dtype: DTypeLike = None,
                    out: Operand = None) -> Result:
    return _running(scan.cumsum, a, axis, dtype, out, 0)


@implements("nancumprod")
def numpy_nancumprod(a: Operand, axis: int | None = None, dtype: DTypeLike = None,
                     out: Operand = None) -> Result:
    return _running(scan.cumprod, a, axis, dtype, out, 1)


def _running(function: Function, a: Operand, axis: int | None, dtype: DTypeLike, out: Operand,
             of_nan: int | None = None) -> Result:
    """Compute running totals, with `of_nan` in place of NaN unless that is None."""
    if not isinstance(a, Mat) or not can_hold_sums(out) or not (a.ndim or axis is None):
        return NotImplemented
    if axis is not None and type(axis) is not int:
        return NotImplemented
    if of_nan is not None:
        a = without_nan(a, of_nan)
    if dtype is None:
        return function(a, axis, None, out)
    wanted = np.dtype(dtype)
    return function(a, axis, wanted) if _converts(a, wanted) and out is None else NotImplemented


def _converts(a: Mat, wanted: np.dtype) -> bool:
    return is_known_dtype(wanted) and (a.dtype.kind != "c" or wanted.kind == "c")


@implements("cumulative_sum")
def numpy_cumulative_sum(x: Operand, /, *, axis: int | None = None, dtype: DTypeLike = None,
                         out: Operand = None, include_initial: bool = False) -> Result:
    return _cumulative(scan.cumsum, x, axis, dtype, out, 0 if include_initial else None)


@implements("cumulative_prod")
def numpy_cumulative_prod(x: Operand, /, *, axis: int | None = None, dtype: DTypeLike = None,
                          out: Operand = None, include_initial: bool = False) -> Result:
    return _cumulative(scan.cumprod, x, axis, dtype, out, 1 if include_initial else None)


# the parameters are the standard's
def _cumulative(function: Function, x: Operand, axis: int | None, dtype: DTypeLike, out: Operand,
                first: int | None) -> Result:
    if not isinstance(x, Mat) or out is not None or (axis is not None and type(axis) is not int):
        return NotImplemented
    wanted = None if dtype is None else np.dtype(dtype)
    if not x.ndim or (wanted is not None and not _converts(x, wanted)):
        return NotImplemented
    return scan.cumulative(function, x, axis, wanted, first)


@implements("diff", of_many=True)
def numpy_diff(a: Operand, n: int = 1, axis: int = -1, prepend: Operand = NO_VALUE,
               append: Operand = NO_VALUE) -> Result:
    if not isinstance(a, Mat) or not a.ndim or type(n) is not int or n < 1 or type(axis) is not int:
        return NotImplemented
    k = as_axis(axis, a.ndim)
    edge = (*a.shape[:k], 1, *a.shape[k + 1:])
    parts = [v if isinstance(v, Mat) else np.asanyarray(v)
             for v in (prepend, a, append) if v is not NO_VALUE]
    mats = as_mats([v if v.ndim else np.broadcast_to(v, edge) if isinstance(v, np.ndarray)
                    else v.broadcast_to(edge) for v in parts])
    return scan.differences(mats, n, k) if mats else NotImplemented
