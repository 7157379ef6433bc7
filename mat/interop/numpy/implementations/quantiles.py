"""NumPy's medians, percentiles and quantiles, on devices: by sorting."""

from __future__ import annotations

import numpy as np

from ....devices.in_use import computes_elsewhere
from ....matrix.mat import Mat
from ....ops import quantiles
from ....ops.quantile_methods import METHODS
from ....support.types import Array, AxisLike, Operand
from ..registry import NO_VALUE, Result, implements


def _lines(a: Operand, axis: AxisLike, out: Operand) -> quantiles.Lines | None:
    """Return the elements in order; None for arguments to be left to NumPy."""
    if not isinstance(a, Mat) or out is not None or not computes_elsewhere(a):
        return None
    axis = tuple(axis) if isinstance(axis, list) else axis
    if not quantiles.can_sort_lines(a) or (isinstance(axis, tuple) and not axis):
        return None
    if isinstance(axis, tuple) and len({k % a.ndim for k in axis if type(k) is int}) < len(axis):
        return None  # NumPy's error
    return quantiles.sorted_lines(a, axis)


def _shaped(found: Mat, lines: quantiles.Lines, first: tuple[int, ...], keepdims: Operand) -> Mat:
    if keepdims is NO_VALUE or not keepdims:
        return found
    return found.reshape(first + lines.shape)


@implements("median", of_many=True)
def numpy_median(a: Operand, axis: AxisLike = None, out: Operand = None,
                 overwrite_input: bool = False, keepdims: bool = False) -> Result:
    return _median(a, axis, out, keepdims, False)


@implements("nanmedian")
def numpy_nanmedian(a: Operand, axis: AxisLike = None, out: Operand = None,
                    overwrite_input: bool = False, keepdims: bool = NO_VALUE) -> Result:
    return _median(a, axis, out, keepdims, True)


def _median(a: Operand, axis: AxisLike, out: Operand, keepdims: Operand, missing: bool) -> Result:
    lines = _lines(a, axis, out)
    if lines is None:
        return NotImplemented
    return _shaped(quantiles.median(lines, missing), lines, (), keepdims)


# the parameters are NumPy's
@implements("quantile")
def numpy_quantile(a: Operand, q: Operand, axis: AxisLike = None, out: Operand = None,
                   overwrite_input: bool = False, method: str = "linear", keepdims: bool = False,
                   *, weights: Operand = None, **others: Operand) -> Result:
    return _quantiles(a, q, 1, axis, out, method, keepdims, weights, others, False)


# the parameters are NumPy's
@implements("percentile")
def numpy_percentile(a: Operand, q: Operand, axis: AxisLike = None, out: Operand = None,
                     overwrite_input: bool = False, method: str = "linear",
                     keepdims: bool = False, *, weights: Operand = None,
                     **others: Operand) -> Result:
    return _quantiles(a, q, 100, axis, out, method, keepdims, weights, others, False)


# the parameters are NumPy's
@implements("nanquantile")
def numpy_nanquantile(a: Operand, q: Operand, axis: AxisLike = None, out: Operand = None,
                      overwrite_input: bool = False, method: str = "linear",
                      keepdims: bool = NO_VALUE, *, weights: Operand = None,
                      **others: Operand) -> Result:
    return _quantiles(a, q, 1, axis, out, method, keepdims, weights, others, True)


# the parameters are NumPy's
@implements("nanpercentile")
def numpy_nanpercentile(a: Operand, q: Operand, axis: AxisLike = None, out: Operand = None,
                        overwrite_input: bool = False, method: str = "linear",
                        keepdims: bool = NO_VALUE, *, weights: Operand = None,
                        **others: Operand) -> Result:
    return _quantiles(a, q, 100, axis, out, method, keepdims, weights, others, True)


# the parameters are those of NumPy's functions, and two
def _quantiles(a: Operand, q: Operand, whole: int, axis: AxisLike, out: Operand, method: str,
               keepdims: Operand, weights: Operand, others: dict[str, Operand],
               missing: bool) -> Result:
    known = method == "linear" or (method in METHODS and not missing)
    if not known or weights is not None or any(v is not None for v in others.values()):
        return NotImplemented
    fractions, weak = _fractions(q, whole), type(q) in (int, float)
    if method == "averaged_inverted_cdf" and type(q) is int:
        return NotImplemented  # NumPy's result is of floats then, but not of several integers
    if fractions is None or (missing and fractions.dtype.kind != "f"):
        return NotImplemented
    if not weak and (missing or not fractions.ndim) and isinstance(a, Mat) and a.dtype.char in "ef":
        return NotImplemented  # where there is NaN, NumPy's result has another dtype
    lines = _lines(a, axis, out)
    if lines is None:
        return NotImplemented
    several = fractions if weak else np.atleast_1d(fractions)
    found = quantiles.quantiles(lines, several, weak, missing, method)
    if several.ndim != fractions.ndim:
        found = found.reshape(found.shape[1:])
    return _shaped(found, lines, fractions.shape, keepdims)


def _fractions(q: Operand, whole: int) -> Array | None:
    """Return `q`, of so many in all, as fractions; None if NumPy refuses them."""
    found = q.to_numpy() if isinstance(q, Mat) else np.asarray(q)
    if found.dtype not in (np.dtype(np.float64), np.dtype(np.int64)) or found.ndim > 1:
        return None
    if whole != 1:
        found = np.asarray(np.true_divide(found, whole))
    inside = (found >= 0) & (found <= 1)
    return found if found.size and bool(inside.all()) else None
