"""NumPy's ufuncs without kernels of devices, composed of operations."""

from __future__ import annotations

import numpy as np

from ...matrix.mat import Mat
from ...ops.engine.by_numpy import leave_if
from ...ops.engine.loops import loop_dtypes
from ...ops.engine.operands import as_mat
from ...ops.linear.matmul import matmul
from ...ops.primitives import elementwise, ufuncs
from ...ops.primitives.selecting import where
from ...support.types import Operand
from ..registry import Result, composes, implements
from .there import FLOATS, as_dtype, in_floats, with_axis_moved

_LOG2_E = 1.4426950408889634  # log2(e)
_SUBNORMAL, _SHIFT = 2.0 ** -1000, 100  # below this, numbers are first shifted by so many bits
_STEP, _STEPS = 1000.0, 3  # exponents that are added at once, and how often
_MOST = _STEP * _STEPS - 1
_KINDS = "biufc"  # of NumPy's numbers
_FLOAT, _INT = np.dtype(np.float64), np.dtype(np.int32)


# Names of what devices compute


@composes("degrees")
def degrees(x: Operand) -> Result:
    return in_floats(np.degrees, ufuncs.rad2deg, x)


@composes("radians")
def radians(x: Operand) -> Result:
    return in_floats(np.radians, ufuncs.deg2rad, x)


@composes("fabs")
def fabs(x: Operand) -> Result:
    return in_floats(np.fabs, elementwise.abs, x)


@composes("positive")
def positive(x: Mat) -> Result:
    leave_if(x.dtype.kind == "b")
    return x.copy()


@composes("float_power")
def float_power(x: Operand, y: Operand) -> Result:
    dtype = loop_dtypes(np.float_power, x, y)[-1]
    return elementwise.pow(*(as_dtype(v, dtype) if isinstance(v, Mat) else dtype.type(v).item()
                             for v in (x, y)))


# Logarithms of sums


@composes("logaddexp2")
def logaddexp2(x: Operand, y: Operand) -> Result:
    return in_floats(np.logaddexp2, _log2_of_sum, x, y, wide=_FLOAT)


def _log2_of_sum(x: Operand, y: Operand) -> Mat:
    """Return ``log2(2**x + 2**y)`` from the larger one, exact also where both are infinite."""
    distance = elementwise.abs(elementwise.subtract(x, y))
    rest = _LOG2_E * elementwise.log1p(ufuncs.exp2(-distance))
    found = elementwise.add(elementwise.maximum(x, y), rest)
    return where(elementwise.equal(x, y), elementwise.add(x, 1.0), found)


# Parts of numbers


@composes("spacing")
def spacing(x: Mat) -> Result:
    leave_if(x.dtype.char not in FLOATS[1:])
    away = ufuncs.copysign(np.inf, x + 0.0)  # of -0.0 as of 0.0
    return where(elementwise.isfinite(x), ufuncs.nextafter(x, away) - x, np.nan)


@composes("modf")
def modf(x: Operand) -> Result:
    return in_floats(np.modf, _fraction_and_whole, x)


def _fraction_and_whole(x: Mat) -> tuple[Mat, Mat]:
    whole = ufuncs.trunc(x)
    fraction = where(elementwise.isinf(x), 0.0, x - whole)
    return ufuncs.copysign(fraction, x), whole


@composes("frexp")
def frexp(x: Operand) -> Result:
    return in_floats(np.frexp, _mantissa_and_exponent, x)


def _mantissa_and_exponent(x: Mat) -> tuple[Mat, Mat]:
    """Return a number of at least 1/2 and less than 1, and the power of 2 to multiply it with; the
    exponent by the logarithm is at most one off.
    """
    wide = as_dtype(x, _FLOAT)
    plain = elementwise.isfinite(wide) & (wide != 0)
    some = where(plain, wide, 1.0)
    small = elementwise.abs(some) < _SUBNORMAL
    some = where(small, some * 2.0 ** _SHIFT, some)
    exponent = elementwise.floor(ufuncs.log2(elementwise.abs(some))) + 1.0
    mantissa = some * ufuncs.exp2(-exponent)
    size = elementwise.abs(mantissa)
    above, below = size >= 1.0, size < 0.5
    mantissa = where(above, mantissa * 0.5, where(below, mantissa * 2.0, mantissa))
    exponent = where(above, exponent + 1.0, where(below, exponent - 1.0, exponent))
    exponent = where(small, exponent - _SHIFT, exponent)
    return (as_dtype(where(plain, mantissa, wide), x.dtype),
            where(plain, exponent, 0.0).astype(_INT))


@composes("ldexp")
def ldexp(x: Operand, k: Operand) -> Result:
    dtype = loop_dtypes(np.ldexp, x, k)[0]
    exponents = as_mat(k, "exponents")
    leave_if(not isinstance(x, Mat) or dtype.char not in FLOATS)
    return as_dtype(_scaled(as_dtype(x, _FLOAT), exponents.astype(_FLOAT)), dtype)


def _scaled(x: Mat, exponents: Mat) -> Mat:
    """Return float64 times powers of 2: the remainder first, so that only the last step rounds."""
    exponents = elementwise.clip(exponents, -_MOST, _MOST)
    steps = ufuncs.trunc(exponents / _STEP)
    found: Mat = x * ufuncs.exp2(exponents - steps * _STEP)
    for k in range(_STEPS):
        fewer = elementwise.clip(steps, -1.0 * k, 1.0 * k)
        found *= ufuncs.exp2((elementwise.clip(steps, -k - 1.0, k + 1.0) - fewer) * _STEP)
    return found


# Products of vectors and matrices


@composes("vecdot")
def vecdot(x: Operand, y: Operand) -> Result:
    leave_if(not _are_vectors(x, y))
    return _without(_without(matmul(_as_row(_conjugate(x)), _as_column(y)), -1), -1)


@composes("matvec")
def matvec(x: Operand, y: Operand) -> Result:
    leave_if(not _are_vectors(x, y) or x.ndim < 2)
    return _without(matmul(x, _as_column(y)), -1)


@composes("vecmat")
def vecmat(x: Operand, y: Operand) -> Result:
    leave_if(not isinstance(y, Mat) or y.ndim < 2 or not _are_vectors(x, y.swapaxes(-1, -2)))
    return _without(matmul(_as_row(_conjugate(x)), y), -2)


@implements("linalg.vecdot", on_device=2)
def numpy_linalg_vecdot(x1: Operand, x2: Operand, /, *, axis: int = -1) -> Result:
    leave_if(type(axis) is not int or any(not -m.ndim <= axis < m.ndim for m in (x1, x2)))
    return vecdot(*(with_axis_moved(m, axis, -1) for m in (x1, x2)))


def _are_vectors(x: Operand, y: Operand) -> bool:
    """Return whether the last axes of two Mats of NumPy's types have one length."""
    return (isinstance(x, Mat) and isinstance(y, Mat) and bool(x.ndim and y.ndim)
            and x.shape[-1] == y.shape[-1] and x.dtype.kind in _KINDS and y.dtype.kind in _KINDS)


def _conjugate(x: Mat) -> Mat:
    return ufuncs.conjugate(x) if x.dtype.kind == "c" else x


def _as_row(x: Mat) -> Mat:
    return x.over(x.layout[..., None, :])


def _as_column(x: Mat) -> Mat:
    return x.over(x.layout[..., None])


def _without(x: Mat, axis: int) -> Mat:
    """Return `x` without an axis of length 1."""
    k = x.ndim + axis
    return x.reshape((*x.shape[:k], *x.shape[k + 1:]))
