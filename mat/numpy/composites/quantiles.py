"""NumPy's medians, percentiles and quantiles, on devices: of elements that are sorted there.

Their bits are NumPy's: between two elements they go from the nearer one. A line with NaN in it has
the result NaN, unless NaN is taken as missing, which is last in sorted lines.
"""

from __future__ import annotations

from collections.abc import Callable
from math import floor
from typing import NamedTuple

import numpy as np

from ...layout.shapes import Ints, as_axis
from ...matrix.creation import adopted
from ...matrix.mat import Mat
from ...ops.engine.by_numpy import leave_if
from ...ops.indexing.sorting import between_sorted, median_of_sorted, sort
from ...ops.primitives import elementwise, reduce
from ...ops.primitives.selecting import where
from ...support.dtypes import FLOATING, INTEGERS
from ...support.types import Array, AxisLike, Function, Operand
from ..registry import NO_VALUE, Result, flag, implements
from .in_tiles import in_lines
from .selection import take, take_along

_FLOATS = "efd"  # of NumPy
_SORTED = frozenset((*_FLOATS, *INTEGERS))
_INDICES = np.dtype(np.int64)
# the constants of Hyndman and Fan's continuous methods, by name
_CONTINUOUS = {"interpolated_inverted_cdf": (0.0, 1.0), "hazen": (0.5, 0.5), "weibull": (0.0, 0.0),
               "median_unbiased": (1 / 3, 1 / 3), "normal_unbiased": (3 / 8, 3 / 8)}
_ROUNDED: dict[str, Callable[[Array], Array]] = {
    "lower": np.floor, "higher": np.ceil, "nearest": np.around}
_METHODS = frozenset((*_CONTINUOUS, *_ROUNDED, "linear", "midpoint", "inverted_cdf",
                     "averaged_inverted_cdf", "closest_observation"))


def _median(missing: bool) -> Function:
    """Return the function of medians; with `missing`, ignoring NaN."""
    def median(a: Mat, axis: AxisLike = None, out: Operand = None, overwrite_input: bool = False,
               keepdims: Operand = NO_VALUE) -> Result:
        lines, shape = _lines(a, axis, out)
        found = _median_of(lines, missing)
        return found.reshape(shape) if flag(keepdims) else found

    return median


implements("median", on_device=1)(_median(missing=False))
implements("nanmedian", on_device=1)(_median(missing=True))


def _quantile(whole: int, missing: bool) -> Function:
    """Return the function of quantiles, `whole` of which are all; or of those without NaN."""
    # the parameters are NumPy's
    def quantile(a: Mat, q: Operand, axis: AxisLike = None, out: Operand = None,
                 overwrite_input: bool = False, method: str = "linear",
                 keepdims: Operand = NO_VALUE, *, weights: Operand = None,
                 **others: Operand) -> Result:
        leave_if(method != "linear" and (method not in _METHODS or missing))
        leave_if(weights is not None or any(v is not None for v in others.values()))
        if method == "linear" and type(q) in (int, float) and _is_plain(a, q, whole, missing):
            lines, shape = _lines(a, axis, out)
            found = _between(lines, q / whole)
            return found.reshape(shape) if flag(keepdims) else found
        fractions, weak = _fractions(q, whole), type(q) in (int, float)
        # NumPy's result is of floats for an integer, and for several ones in part of int64
        leave_if(method in ("averaged_inverted_cdf", "midpoint") and type(q) is int)
        leave_if(method != "linear" and not weak and fractions.dtype.kind != "f")
        leave_if(missing and fractions.dtype.kind != "f")
        # where there is NaN, NumPy's result has another dtype
        leave_if(not weak and (missing or not fractions.ndim) and a.dtype.char in "ef")
        lines, shape = _lines(a, axis, out)
        several = fractions if weak else np.atleast_1d(fractions)
        found = _quantiles_of(lines, several, weak, missing, method)
        if several.ndim:
            found = found.permute((found.ndim - 1, *range(found.ndim - 1))).contiguous()
        return found.reshape(fractions.shape + (shape if flag(keepdims)
                                                else found.shape[several.ndim:]))

    return quantile


implements("quantile", on_device=1)(_quantile(1, missing=False))
implements("percentile", on_device=1)(_quantile(100, missing=False))
implements("nanquantile", on_device=1)(_quantile(1, missing=True))
implements("nanpercentile", on_device=1)(_quantile(100, missing=True))


def _is_plain(a: Mat, q: float, whole: int, missing: bool) -> bool:
    """Return whether `between_sorted` computes a quantile, so many of which are the whole."""
    # NumPy computes in another way with an integer that is the fraction itself
    return (not missing and a.dtype.char in "fd" and 0 <= q <= whole
            and (whole != 1 or type(q) is float))


def _fractions(q: Operand, whole: int) -> Array:
    """Return `q`, of so many in all, as fractions; NumPy refuses others."""
    found = q.to_numpy() if isinstance(q, Mat) else np.asarray(q)
    leave_if(found.dtype not in (np.dtype(np.float64), np.dtype(np.int64)) or found.ndim > 1)
    if whole != 1:
        found = np.asarray(np.true_divide(found, whole))
    inside = (found >= 0) & (found <= 1)
    leave_if(not found.size or not bool(inside.all()))
    return found


class Lines(NamedTuple):
    """Elements that are sorted along the last axis."""

    elements: Mat

    @property
    def length(self) -> int:
        return self.elements.shape[-1]

    def at(self, k: int) -> Mat:
        """Return the k-th element of each line."""
        return self.elements[..., k]

    def counts(self) -> Mat:
        """Return how many elements of each line are numbers; the axis of these has length 1."""
        there = elementwise.equal(self.elements, self.elements)
        return reduce.count_true(there, -1, keepdims=True)

    def with_nan(self, found: Mat) -> Mat:
        """Return results, of lines or of several parts of each, with NaN for lines with NaN."""
        last = self.at(-1)
        if last.dtype.char not in FLOATING:
            return found
        if found.ndim > last.ndim:
            last = last.expand_dims(-1)
        return where(elementwise.isnan(last), last, found)


def _lines(x: Mat, axis: AxisLike, out: Operand) -> tuple[Mat, Ints]:
    """Return the elements over `axis` along a last axis, and the results' shape with `keepdims`."""
    leave_if(out is not None or not x.ndim or not x.size)
    leave_if(x.dtype.char not in _SORTED)
    if x.ndim == 1 and axis is None:
        return x, (1,)
    over = range(x.ndim) if axis is None else axis if isinstance(axis, tuple | list) else (axis,)
    axes = sorted({as_axis(k, x.ndim) for k in over})
    leave_if(not axes or len(axes) < len(over))  # NumPy's error
    kept = [k for k in range(x.ndim) if k not in axes]
    moved = x.permute((*kept, *axes))
    if len(axes) > 1:
        moved = moved.contiguous().reshape((*(x.shape[k] for k in kept), -1))
    return moved, tuple(1 if k in axes else n for k, n in enumerate(x.shape))


# Medians


@in_lines
def _median_of(x: Mat, missing: bool) -> Mat:
    """Return the median of each line; with `missing`, ignoring NaN."""
    lines = Lines(sort(x))
    if missing and lines.elements.dtype.char in _FLOATS:
        counts = lines.counts()
        low = _along(lines, elementwise.subtract(counts, 1) >> 1).squeeze(-1)
        high = _along(lines, counts >> 1).squeeze(-1)
        return where(elementwise.equal(low, high), high, _middle(low, high))
    return median_of_sorted.new((lines.elements, None))


def _middle(low: Mat, high: Mat) -> Mat:
    """Return half of the sum, computed in float64 for integers, in float32 for float16."""
    dtype = low.dtype
    if dtype.char not in "fd":
        wide = np.float32 if dtype.char == "e" else np.float64
        low, high = low.astype(wide), high.astype(wide)
    found: Mat = elementwise.divide(elementwise.add(low, high), 2)
    return found.astype(dtype) if dtype.char == "e" else found


def _along(lines: Lines, indices: Mat) -> Mat:
    """Return the elements at indices of each line, the first one for those before it."""
    inside = elementwise.clip(indices.astype(_INDICES, copy=False), 0, lines.length - 1)
    return take_along(lines.elements, inside, lines.elements.ndim - 1)


# Quantiles


@in_lines
def _between(x: Mat, fraction: float) -> Mat:
    """Return the quantile for one fraction of each line of floats, by the linear method."""
    last = x.shape[-1] - 1
    at = last * fraction
    low = floor(at)
    return between_sorted.new((sort(x), float(low), float(min(low + 1, last)), at - low, None))


@in_lines
def _quantiles_of(x: Mat, q: Array, weak: bool, missing: bool, method: str) -> Mat:
    """Return the quantiles for fractions `q` of each line, along a last axis if there are several;
    `weak` if results have the dtype of inexact elements.

    Where elements are `missing`, the method is linear.
    """
    lines = Lines(sort(x))
    if missing and x.dtype.char in _FLOATS:
        return _of_numbers(lines, q, weak)
    return lines.with_nan(_of_all(lines, q, weak, method))


def _of_all(lines: Lines, q: Array, weak: bool, method: str) -> Mat:
    """Return the quantiles of all elements of each line, several along a last axis."""
    last = lines.length - 1
    at = np.asarray(_place(method, lines.length, q))
    if at.dtype.kind in "iu":
        return _at_all(lines, np.clip(at, 0, last))
    inside = (at >= 0) & (at < last)
    at = np.clip(at, 0, last)
    low = np.floor(at)
    a, b = _at_all(lines, low), _at_all(lines, np.where(inside, low + 1, low))
    share = _share(method, at, low)
    if weak:
        return _on_the_way(a, b, float(share), 1 - float(share), bool(share >= 0.5))
    return _on_the_way(a, b, _mat(share), _mat(1 - share), _mat(share >= 0.5))


def _at_all(lines: Lines, indices: Array) -> Mat:
    """Return the elements at the same indices of each line."""
    if not indices.ndim:
        return lines.at(int(indices))
    return take(lines.elements, _mat(indices.astype(_INDICES)), lines.elements.ndim - 1)


def _of_numbers(lines: Lines, q: Array, weak: bool) -> Mat:
    """Return the quantiles of those elements of each line that are not NaN."""
    last = elementwise.subtract(lines.counts(), 1)
    at = elementwise.multiply(last, float(q) if weak else _mat(q.astype(np.float64).reshape(-1)))
    low = elementwise.clip(elementwise.minimum(elementwise.floor(at), last), 0, lines.length)
    share = elementwise.subtract(at, low)
    near = elementwise.greater_equal(share, 0.5)
    a = _along(lines, low)
    b = _along(lines, elementwise.minimum(elementwise.add(low, 1), last))
    rest = elementwise.subtract(1.0, share)
    if weak:
        share, rest = share.astype(a.dtype, copy=False), rest.astype(a.dtype, copy=False)
    found = _on_the_way(a, b, share, rest, near)
    return found if q.ndim else found.squeeze(-1)


def _on_the_way(a: Mat, b: Mat, share: Operand, rest: Operand, near: Operand) -> Mat:
    """Return the value at a `share` of the way from `a` to `b`, computed from the `near` one."""
    distance = elementwise.subtract(b, a)
    if near is not True:
        below: Mat = elementwise.add(a, elementwise.multiply(distance, share))
        if near is False:
            return below
    above: Mat = elementwise.subtract(b, elementwise.multiply(distance, rest))
    return above if near is True else where(near, above, below)


def _mat(a: Array) -> Mat:
    return adopted(np.asarray(a))


# Where quantiles lie among sorted elements: arithmetic on the host


def _place(method: str, n: int, q: Array) -> Array:
    """Return where the fractions `q` of `n` elements lie: integers where these are the result, else
    numbers between two of them.
    """
    along = (n - 1) * q
    if method in ("linear", "midpoint"):
        return along
    if method in _ROUNDED:
        return np.asarray(_ROUNDED[method](along)).astype(np.int64)
    if method == "inverted_cdf":
        return _stepped(n * q - 1, lambda share, at: share == 0)
    if method == "closest_observation":
        return _stepped(n * q - 1.5, lambda share, at: (share == 0) & (np.floor(at) % 2 == 1))
    if method == "averaged_inverted_cdf":
        return n * q - 1
    alpha, beta = _CONTINUOUS[method]
    return n * q + (alpha + q * (1 - alpha - beta)) - 1


def _stepped(at: Array, stays: Callable[[Array, Array], Array]) -> Array:
    """Return the integer at or after each place, but not the first one where it `stays`."""
    low = np.floor(at)
    return np.maximum(np.where(stays(at - low, at), low, low + 1), 0).astype(np.int64)


def _share(method: str, at: Array, low: Array) -> Array:
    """Return how far each place is on the way from the element `low` to the next one."""
    found = np.asarray(at - low)
    if method == "midpoint":
        return np.where(found == 0, 0.0, 0.5)
    if method == "averaged_inverted_cdf":
        return np.where(found == 0, 0.5, 1.0)
    return found
