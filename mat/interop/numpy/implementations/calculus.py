"""NumPy's differences, integrals, covariances and closeness, by element-wise operations, sums and
products.
"""

from __future__ import annotations

import numpy as np

from ....layout.shapes import as_axis
from ....matrix.mat import Mat, new_like
from ....ops import joining, linalg, reduce
from ....ops.elementwise import abs as absolute
from ....ops.elementwise import clip, isfinite, isnan, less_equal, multiply, sqrt
from ....ops.parts import along
from ....ops.ufuncs import conjugate
from ....support.dtypes import BLAS_TYPES, REAL_TYPES
from ....support.types import Number, Operand
from ..registry import NO_VALUE, Result, implements

_NUMBERS = (int, float)


def _is_real(x: object) -> bool:
    return isinstance(x, Mat) and x.dtype.char in REAL_TYPES


@implements("trapezoid")
def numpy_trapezoid(y: Operand, x: Operand = None, dx: Number = 1.0, axis: int = -1) -> Result:
    if not _is_real(y) or type(axis) is not int or not y.ndim:
        return NotImplemented
    k = as_axis(axis, y.ndim)
    if x is None and type(dx) in _NUMBERS:
        widths: Operand = dx
    elif _is_real(x) and x.ndim == 1 and x.dtype == y.dtype:
        steps = along(x, 0, slice(1, None)) - along(x, 0, slice(None, -1))
        widths = steps.reshape((-1,) + (1,) * (y.ndim - 1 - k))
    else:
        return NotImplemented
    heights = along(y, k, slice(1, None)) + along(y, k, slice(None, -1))
    return reduce.sum(widths * heights / 2.0, k)


@implements("gradient")
def numpy_gradient(f: Operand, *varargs: Operand, axis: Operand = None,
                   edge_order: int = 1) -> Result:
    if not _is_real(f) or edge_order != 1 or len(varargs) > 1 or not f.ndim:
        return NotImplemented
    if not all(type(step) in _NUMBERS for step in varargs):
        return NotImplemented
    if axis is not None and type(axis) is not int:
        return NotImplemented
    axes = range(f.ndim) if axis is None else (as_axis(axis, f.ndim),)
    if any(f.shape[k] < 2 for k in axes):
        return NotImplemented
    found = tuple(_slopes(f, varargs[0] if varargs else 1.0, k) for k in axes)
    return found[0] if len(found) == 1 else found


def _slopes(f: Mat, step: Number, axis: int) -> Mat:
    """Return the central differences over their distance, and one-sided ones at the ends."""
    parts = [along(f, axis, slice(1, 2)) - along(f, axis, slice(0, 1)),
             along(f, axis, slice(2, None)) - along(f, axis, slice(None, -2)),
             along(f, axis, slice(-1, None)) - along(f, axis, slice(-2, -1))]
    return joining.concat([parts[0] / step, parts[1] / (2.0 * step), parts[2] / step], axis)


@implements("isclose")
def numpy_isclose(a: Operand, b: Operand, rtol: Number = 1e-5, atol: Number = 1e-8,
                  equal_nan: bool = False) -> Result:
    numbers = all(type(v) in _NUMBERS for v in (rtol, atol))
    if not numbers or not _is_real(a) or not (_is_real(b) or type(b) in _NUMBERS):
        return NotImplemented
    near = less_equal(absolute(a - b), atol + rtol * absolute(b))
    finite = isfinite(b) if isinstance(b, Mat) else bool(np.isfinite(b))
    found = (near & finite) | (a == b)
    return found | (isnan(a) & isnan(b)) if equal_nan and isinstance(b, Mat) else found


# Covariances


@implements("cov")  # the parameters are NumPy's
def numpy_cov(m: Operand, y: Operand = None, rowvar: bool = True, bias: bool = False,
              ddof: int | None = None, fweights: Operand = None, aweights: Operand = None, *,
              dtype: object = None) -> Result:
    if any(v is not None for v in (y, fweights, aweights, dtype)):
        return NotImplemented
    if ddof is not None and type(ddof) is not int:
        return NotImplemented
    if not isinstance(m, Mat) or m.dtype.char not in BLAS_TYPES or m.ndim not in (1, 2):
        return NotImplemented
    x = m.astype(np.result_type(m.dtype, np.float64), copy=False)
    x = x if x.ndim == 2 else x.expand_dims(0)
    x = x if rowvar or x.shape[0] == 1 else x.T
    freedom = x.shape[1] - ((0 if bias else 1) if ddof is None else ddof)
    if not x.size or freedom <= 0:
        return NotImplemented  # NumPy warns
    return np.squeeze(_covariance(x, freedom))


def _covariance(x: Mat, freedom: float) -> Mat:
    off = x - reduce.mean(x, 1, keepdims=True)
    other = conjugate(off) if x.dtype.kind == "c" else off
    found: Mat = linalg.matmul(off, other.T)
    found *= 1 / freedom
    return found


@implements("corrcoef")
def numpy_corrcoef(x: Operand, y: Operand = None, rowvar: bool = True, bias: object = NO_VALUE,
                   ddof: object = NO_VALUE, *, dtype: object = None) -> Result:
    if bias is not NO_VALUE or ddof is not NO_VALUE or not _is_real(x) or x.ndim != 2:
        return NotImplemented
    found = numpy_cov(x, y, rowvar, dtype=dtype)
    if found is NotImplemented or found.ndim != 2:
        return NotImplemented
    deviations = sqrt(found.diagonal())
    found /= deviations.expand_dims(1)
    found /= deviations
    return clip(found, -1.0, 1.0)


# Products


@implements("kron")
def numpy_kron(a: Operand, b: Operand) -> Result:
    if not isinstance(a, Mat) or not isinstance(b, Mat) or a.ndim != b.ndim or a.dtype != b.dtype:
        return NotImplemented
    between = (slice(None), None) * a.ndim, (None, slice(None)) * b.ndim
    one, other = (m.over(m.layout[index]) for m, index in zip((a, b), between, strict=True))
    found = new_like(a, tuple(n for pair in zip(a.shape, b.shape, strict=True) for n in pair),
                     a.dtype)
    multiply(one, other, out=found)
    return found.reshape(tuple(m * n for m, n in zip(a.shape, b.shape, strict=True)))
