"""NumPy's interpolation, correlation and convolution of vectors, on devices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ....devices.in_use import computes_elsewhere
from ....matrix.mat import Mat
from ....ops import interpolation
from ....support.dtypes import INTEGERS
from ....support.types import Operand
from ..operands import as_mats
from ..registry import Result, implements

_FLOAT = np.dtype(np.float64)
_CORRELATED = ("e", "f", "d", *INTEGERS)
_MODES = {"valid": "valid", "same": "same", "full": "full", 0: "valid", 1: "same", 2: "full"}
_Vectors = Callable[[Mat, Mat, str], Mat]


# the parameters are NumPy's
@implements("interp")
def numpy_interp(x: Operand, xp: Operand, fp: Operand, left: Operand = None,
                 right: Operand = None, period: Operand = None) -> Result:
    mats = _real_mats(x, xp, fp)
    if not mats or period is not None:
        return NotImplemented
    at, points, values = (m.astype(_FLOAT, copy=False) for m in mats)
    if points.ndim != 1 or not points.size or points.shape != values.shape:
        return NotImplemented
    if not all(v is None or type(v) in (int, float) for v in (left, right)):
        return NotImplemented
    beyond = (values[k] if v is None else float(v) for k, v in ((0, left), (-1, right)))
    return interpolation.interpolated(at, points, values, *beyond)


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
    mats = _real_mats(a, v)
    if not mats or type(mode) not in (int, str) or mode not in _MODES:
        return NotImplemented
    if any(m.dtype.char not in _CORRELATED or m.ndim != 1 or not m.size for m in mats):
        return NotImplemented
    return function(mats[0], mats[1], _MODES[mode])
