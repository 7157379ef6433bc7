"""NumPy's running sums and products, and differences of neighbours."""

from __future__ import annotations

import numpy as np

from ...layout.shapes import as_axis
from ...matrix.mat import Mat
from ...ops.engine.by_numpy import leave_if
from ...ops.primitives import scan
from ...ops.primitives.missing import without_nan
from ...support.dtypes import is_known_dtype
from ...support.types import DTypeLike, Function, Operand
from ..operands import as_mats, can_hold_sums
from ..registry import NO_VALUE, Result, implements


def _running(function: Function, of_nan: int | None = None) -> Function:
    """Return the function of running totals, with `of_nan` in place of NaN unless that is None."""
    def running(a: Mat, axis: int | None = None, dtype: DTypeLike = None,
                out: Operand = None) -> Result:
        leave_if(not can_hold_sums(out) or not (a.ndim or axis is None))
        leave_if(axis is not None and type(axis) is not int)
        if of_nan is not None:
            a = without_nan(a, of_nan)
        if dtype is None:
            return function(a, axis, None, out)
        wanted = np.dtype(dtype)
        leave_if(out is not None or not _converts(a, wanted))
        return function(a, axis, wanted)

    return running


implements("cumsum")(_running(scan.cumsum))
implements("cumprod")(_running(scan.cumprod))
implements("nancumsum")(_running(scan.cumsum, of_nan=0))
implements("nancumprod")(_running(scan.cumprod, of_nan=1))


def _converts(a: Mat, wanted: np.dtype) -> bool:
    return is_known_dtype(wanted) and (a.dtype.kind != "c" or wanted.kind == "c")


def _cumulative(function: Function, first: int) -> Function:
    """Return the standard's function of running totals, which may begin with `first`."""
    def cumulative(x: Mat, /, *, axis: int | None = None, dtype: DTypeLike = None,
                   out: Operand = None, include_initial: bool = False) -> Result:
        leave_if(out is not None or not x.ndim or (axis is not None and type(axis) is not int))
        wanted = None if dtype is None else np.dtype(dtype)
        leave_if(wanted is not None and not _converts(x, wanted))
        return scan.cumulative(function, x, axis, wanted, first if include_initial else None)

    return cumulative


implements("cumulative_sum")(_cumulative(scan.cumsum, 0))
implements("cumulative_prod")(_cumulative(scan.cumprod, 1))


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
