"""NumPy's covariances and correlations, by products of matrices."""

from __future__ import annotations

import numpy as np

from ...matrix.mat import Mat
from ...ops.engine.by_numpy import leave_if
from ...ops.linear import linalg
from ...ops.primitives import elementwise, joining, reduce
from ...ops.primitives.complex_parts import complex_of, imaginary_part, real_part
from ...ops.primitives.ufuncs import conjugate
from ...support.dtypes import BLAS_TYPES
from ...support.types import DType, DTypeLike, Operand
from ..registry import NO_VALUE, Result, implements
from .there import as_dtype, is_there


@implements("cov")  # the parameters are NumPy's
def numpy_cov(m: Operand, y: Operand = None, rowvar: bool = True, bias: bool = False,
              ddof: int | None = None, fweights: Operand = None, aweights: Operand = None, *,
              dtype: DTypeLike = None) -> Result:
    leave_if(fweights is not None or (ddof is not None and type(ddof) is not int))
    x = _variables(m, y, rowvar, dtype)
    leave_if(not m.size)
    lost = (0 if bias else 1) if ddof is None else ddof
    if aweights is not None:
        return _weighted(x, aweights, lost)
    freedom = x.shape[1] - lost
    leave_if(not x.size or freedom <= 0)  # NumPy warns
    return np.squeeze(_covariance(x, freedom))


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


def _covariance(x: Mat, freedom: float) -> Mat:
    off = x - reduce.mean(x, 1, keepdims=True)
    other = conjugate(off) if x.dtype.kind == "c" else off
    found: Mat = linalg.matmul(off, other.T)
    found *= 1 / freedom
    return found


def _weighted(x: Mat, weights: Operand, lost: int) -> Result:
    """Return the covariances of weighted observations; the sum of the weights decides."""
    leave_if(not is_there(x) or not isinstance(weights, Mat) or weights.shape != x.shape[1:]
             or (weights.dtype.kind not in "iuf"))
    w = as_dtype(weights, np.dtype(np.float64))
    least, total = reduce.min(w).item(), reduce.sum(w).item()
    leave_if(least < 0 or not total)  # NumPy's errors
    freedom = total - (lost * reduce.sum(elementwise.square(w)).item() / total if lost else 0)
    leave_if(freedom <= 0)
    mean = reduce.sum(x * w, 1, keepdims=True) / total
    off = x - mean
    other = conjugate(off) if x.dtype.kind == "c" else off
    return np.squeeze(linalg.matmul(off, (other * w).T) * (1 / freedom))


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
    return _clipped(found)


def _clipped(found: Mat) -> Mat:
    """Return coefficients, or their parts, clipped to -1 and 1 against rounding."""
    if found.dtype.kind != "c":
        inside: Mat = elementwise.clip(found, -1.0, 1.0)
        return inside
    return complex_of(*(elementwise.clip(part(found), -1.0, 1.0)
                        for part in (real_part, imaginary_part)))
