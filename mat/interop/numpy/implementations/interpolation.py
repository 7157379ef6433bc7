"""NumPy's interpolation, correlation and convolution of vectors, on devices."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ....devices.in_use import computes_elsewhere
from ....matrix.mat import Mat
from ....ops import interpolation, ufuncs
from ....ops.complex_parts import complex_of, imaginary_part, real_part
from ....ops.joining import concat
from ....ops.sorting import argsort
from ....ops.taking import take
from ....support.dtypes import INTEGERS
from ....support.types import Operand
from ..operands import as_mats
from ..registry import Result, implements
from .there import as_dtype, mats_there

_FLOAT = np.dtype(np.float64)
_CORRELATED = ("e", "f", "d", *INTEGERS)
_MODES = {"valid": "valid", "same": "same", "full": "full", 0: "valid", 1: "same", 2: "full"}
_Vectors = Callable[[Mat, Mat, str], Mat]
Interpolated = tuple[Mat, Mat, Mat, Mat, Mat]  # the arguments of `interpolated`


# the parameters are NumPy's
@implements("interp", of_many=True)
def numpy_interp(x: Operand, xp: Operand, fp: Operand, left: Operand = None,
                 right: Operand = None, period: Operand = None) -> Result:
    if isinstance(fp, Mat) and fp.dtype.kind == "c":
        if left is not None or right is not None:
            return NotImplemented
        parts = [numpy_interp(x, xp, part(fp), period=period)
                 for part in (real_part, imaginary_part)]
        return NotImplemented if NotImplemented in parts else complex_of(*parts)
    mats = _real_mats(x, xp, fp)
    if not mats or not (period is None or (type(period) in (int, float) and period)):
        return NotImplemented
    at, points, values = (m.astype(_FLOAT, copy=False) for m in mats)
    if points.ndim != 1 or not points.size or points.shape != values.shape:
        return NotImplemented
    if not all(v is None or type(v) in (int, float) for v in (left, right)):
        return NotImplemented
    if period is not None:
        return interpolation.interpolated(*_repeated(at, points, values, abs(period)))
    beyond = (values[k, ...] if v is None else float(v) for k, v in ((0, left), (-1, right)))
    return interpolation.interpolated(at, points, values, *beyond)


def _repeated(at: Mat, points: Mat, values: Mat, period: float) -> Interpolated:
    """Return the places within a period, the points there in ascending order, with the last one
    before these and the first one after them, and the values beyond, never used.
    """
    at, points = ufuncs.remainder(at, period), ufuncs.remainder(points, period)
    order = argsort(points)
    ordered = [take(m, order, 0) for m in (points, values)]
    points, values = (m for m in ordered if m is not None)
    points = concat([points[-1:] - period, points, points[:1] + period])
    values = concat([values[-1:], values, values[:1]])
    return at, points, values, values[0, ...], values[-1, ...]


def _real_mats(*operands: Operand) -> list[Mat]:
    """Return operands of real numbers as Mats; none if they are to be left to NumPy."""
    if not any(isinstance(v, Mat) for v in operands):
        return []
    mats = as_mats([v if isinstance(v, Mat) else np.asarray(v) for v in operands])
    if not mats or not computes_elsewhere(*mats) or any(m.dtype.kind not in "iuf" for m in mats):
        return []
    return mats


@implements("correlate")
def numpy_correlate(a: Operand, v: Operand, mode: str = "valid") -> Result:
    return _windows(interpolation.correlated, a, v, mode)


@implements("convolve")
def numpy_convolve(a: Operand, v: Operand, mode: str = "full") -> Result:
    return _windows(interpolation.convolved, a, v, mode)


def _windows(function: _Vectors, a: Operand, v: Operand, mode: str) -> Result:
    if type(mode) in (int, str) and mode in _MODES and _are_complex(a, v):
        return _complex_windows(function, a, v, mode)
    mats = _real_mats(a, v)
    if not mats or type(mode) not in (int, str) or mode not in _MODES:
        return NotImplemented
    if any(m.dtype.char not in _CORRELATED or m.ndim != 1 or not m.size for m in mats):
        return NotImplemented
    return function(mats[0], mats[1], _MODES[mode])


def _are_complex(a: Operand, v: Operand) -> bool:
    """Return whether these are vectors on a device, with a complex one among them."""
    mats = mats_there(a, v)
    return any(m.dtype.char in "FD" for m in mats) and all(m.ndim == 1 and m.size for m in mats)


def _complex_windows(function: _Vectors, a: Operand, v: Operand, mode: str) -> Result:
    """Return products with windows, out of those of the real and the imaginary parts."""
    one, other = mats_there(a, v)
    dtype = np.dtype(np.result_type(one.dtype, other.dtype).char.lower())
    (ar, ai), (vr, vi) = ([as_dtype(part(m), dtype) for part in (real_part, imaginary_part)]
                          for m in (one, other))
    sign = -1 if function is interpolation.correlated else 1  # that conjugates the second one
    product = partial(_windows, function, mode=mode)
    return complex_of(product(ar, vr) - sign * product(ai, vi),
                      product(ai, vr) + sign * product(ar, vi))
