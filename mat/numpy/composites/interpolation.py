"""NumPy's interpolation, correlation and convolution of vectors, on devices."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ...matrix.mat import Mat, new_like
from ...ops.engine.by_numpy import leave_if
from ...ops.indexing.sorting import argsort, searchsorted
from ...ops.indexing.taking import take
from ...ops.nn.nn import convolve
from ...ops.primitives import elementwise, ufuncs
from ...ops.primitives.joining import concat
from ...ops.primitives.parts import complex_of, imaginary_part, real_part
from ...ops.primitives.selecting import where
from ...ops.primitives.ufuncs import logical_and
from ...support.dtypes import INTEGERS
from ...support.types import Operand
from ..registry import Result, implements
from .there import as_dtype

_FLOAT = np.dtype(np.float64)
_CORRELATED = ("e", "f", "d", *INTEGERS)
_MODES = {"valid": "valid", "same": "same", "full": "full", 0: "valid", 1: "same", 2: "full"}
_Vectors = Callable[[Mat, Mat, str], Mat]
Interpolated = tuple[Mat, Mat, Mat, Mat, Mat]  # the arguments of `_interpolated`


# the parameters are NumPy's
@implements("interp", on_device=3, of_many=True)
def numpy_interp(x: Operand, xp: Operand, fp: Operand, left: Operand = None,
                 right: Operand = None, period: Operand = None) -> Result:
    if fp.dtype.kind == "c":
        leave_if(left is not None or right is not None)
        parts = [numpy_interp(x, xp, part(fp), period=period)
                 for part in (real_part, imaginary_part)]
        return complex_of(*parts)
    leave_if(not (period is None or (type(period) in (int, float) and period)))
    leave_if(any(m.dtype.kind not in "iuf" for m in (x, xp, fp)))
    at, points, values = (m.astype(_FLOAT, copy=False) for m in (x, xp, fp))
    leave_if(points.ndim != 1 or not points.size or points.shape != values.shape)
    leave_if(not all(v is None or type(v) in (int, float) for v in (left, right)))
    if period is not None:
        return _interpolated(*_repeated(at, points, values, abs(period)))
    beyond = (values[k, ...] if v is None else float(v) for k, v in ((0, left), (-1, right)))
    return _interpolated(at, points, values, *beyond)


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


@implements("correlate", on_device=2)
def numpy_correlate(a: Operand, v: Operand, mode: str = "valid") -> Result:
    return _windows(_correlated, a, v, mode)


@implements("convolve", on_device=2)
def numpy_convolve(a: Operand, v: Operand, mode: str = "full") -> Result:
    return _windows(_convolved, a, v, mode)


def _windows(function: _Vectors, a: Mat, v: Mat, mode: str) -> Result:
    leave_if(type(mode) not in (int, str) or mode not in _MODES)
    leave_if(any(m.ndim != 1 or not m.size for m in (a, v)))
    if any(m.dtype.char in "FD" for m in (a, v)):
        return _complex_windows(function, a, v, mode)
    leave_if(any(m.dtype.char not in _CORRELATED for m in (a, v)))
    return function(a, v, _MODES[mode])


def _complex_windows(function: _Vectors, a: Mat, v: Mat, mode: str) -> Result:
    """Return products with windows, out of those of the real and the imaginary parts."""
    dtype = np.dtype(np.result_type(a.dtype, v.dtype).char.lower())
    (ar, ai), (vr, vi) = ([as_dtype(part(m), dtype) for part in (real_part, imaginary_part)]
                          for m in (a, v))
    sign = -1 if function is _correlated else 1  # that conjugates the second one
    product = partial(_windows, function, mode=mode)
    return complex_of(product(ar, vr) - sign * product(ai, vi),
                      product(ai, vr) + sign * product(ar, vi))


# By operations


def _interpolated(x: Mat, xp: Mat, fp: Mat, left: Operand, right: Operand) -> Mat:
    """Return the values at `x` of the function through the points of the vectors `xp`, ascending,
    and `fp`, all of float64; `left` and `right` beyond these.
    """
    found = fp[0, ...] if xp.size == 1 else _between_points(x, xp, fp)
    found = where(elementwise.greater(x, xp[-1, ...]), right, found)
    found = where(elementwise.less(x, xp[0, ...]), left, found)
    # in NumPy, NaN is not beyond a single point
    return found if xp.size == 1 else where(elementwise.isnan(x), x, found)


def _between_points(x: Mat, xp: Mat, fp: Mat) -> Mat:
    """Return the values of the lines through neighbouring points, those of the points there.

    Where a value is no number, the line is followed from its other end, as NumPy does.
    """
    k = elementwise.subtract(searchsorted(xp, x, right=True), 1)
    low = elementwise.clip(k, 0, xp.size - 2)
    high = elementwise.add(low, 1)
    x0, y0, x1, y1 = (_taken(v, at) for at in (low, high) for v in (xp, fp))
    slope = elementwise.divide(elementwise.subtract(y1, y0), elementwise.subtract(x1, x0))
    found, other = (elementwise.add(elementwise.multiply(slope, elementwise.subtract(x, at)), value)
                    for at, value in ((x0, y0), (x1, y1)))
    flat = logical_and(elementwise.isnan(other), elementwise.equal(y0, y1))
    found = where(elementwise.isnan(found), where(flat, y0, other), found)
    found = where(elementwise.equal(x, x0), y0, found)
    return where(elementwise.equal(k, xp.size - 1), fp[-1, ...], found)


def _taken(x: Mat, at: Mat) -> Mat:
    found = take(x, at, 0)
    assert found is not None  # the indices are in range
    return found


def _windows_sum(x: Mat, taps: Mat, mode: str) -> Mat:
    """Return the sums of the products of `taps` with each window of `x`, two vectors of one dtype
    with `x` not the shorter one: for windows inside of it ("valid"), as many as it has elements
    ("same"), or for all that overlap it ("full").
    """
    n, size = taps.size, x.size
    start = n - 1 if mode == "valid" else 0
    more = n - 1 if mode == "full" else 0  # windows that begin in `x`, and end after it
    sums = new_like(x, (size - start + more,), x.dtype).fill_(0)
    convolve(x, taps, sums[:size - start], start=start,
             anchor=n // 2 if mode == "same" else n - 1)
    if more:  # no zeros after `x`: their products with NaN would be NaN
        convolve(x, taps, sums[size:], start=size - more, anchor=0)
    return sums


def _correlated(a: Mat, v: Mat, mode: str) -> Mat:
    """Return ``sum over n of a[n + k] * v[n]`` for each shift k, of two vectors of real numbers."""
    dtype = np.result_type(a.dtype, v.dtype)
    a, v = (m.astype(dtype, copy=False) for m in (a, v))
    if v.size <= a.size:
        return _windows_sum(a, v, mode)
    return _windows_sum(v, a, mode)[::-1].copy()


def _convolved(a: Mat, v: Mat, mode: str) -> Mat:
    """Return ``sum over n of a[n] * v[k - n]`` for each k, of two vectors of real numbers."""
    longer, shorter = (a, v) if v.size <= a.size else (v, a)
    return _correlated(longer, shorter[::-1].copy(), mode)
