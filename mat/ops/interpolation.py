"""Linear interpolation, and products of a vector with the windows of another, while a device is in
use: NumPy's `interp`, `correlate` and `convolve` are made of them.
"""

from __future__ import annotations

import numpy as np

from ..matrix.mat import Mat, new_like
from ..support.types import Operand
from . import elementwise
from .nn import convolve
from .selecting import where
from .sorting import searchsorted
from .taking import take
from .ufuncs import logical_and


def interpolated(x: Mat, xp: Mat, fp: Mat, left: Operand, right: Operand) -> Mat:
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


def windows_sum(x: Mat, taps: Mat, mode: str) -> Mat:
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


def correlated(a: Mat, v: Mat, mode: str) -> Mat:
    """Return ``sum over n of a[n + k] * v[n]`` for each shift k, of two vectors of real numbers."""
    dtype = np.result_type(a.dtype, v.dtype)
    a, v = (m.astype(dtype, copy=False) for m in (a, v))
    if v.size <= a.size:
        return windows_sum(a, v, mode)
    return windows_sum(v, a, mode)[::-1].copy()


def convolved(a: Mat, v: Mat, mode: str) -> Mat:
    """Return ``sum over n of a[n] * v[k - n]`` for each k, of two vectors of real numbers."""
    longer, shorter = (a, v) if v.size <= a.size else (v, a)
    return correlated(longer, shorter[::-1].copy(), mode)
