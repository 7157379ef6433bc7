"""Medians and quantiles of elements that a device sorts; NumPy's functions are made of them there.

Their bits are NumPy's: between two elements they go from the nearer one. A line with NaN in it has
the result NaN, unless NaN is taken as missing, which is last in sorted lines.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..layout.shapes import Ints, as_axis
from ..matrix.creation import adopted
from ..matrix.mat import Mat
from ..support.dtypes import FLOATING, INTEGERS
from ..support.types import Array, AxisLike, Operand
from . import elementwise, quantile_methods, truth
from .selecting import where
from .sorting import sort
from .taking import take, take_along

_FLOATS = "efd"  # of NumPy
_INDICES = np.dtype(np.int64)


class Lines(NamedTuple):
    """The elements over some axes, sorted along a last axis of their own."""

    elements: Mat
    shape: Ints  # of a result with `keepdims`

    @property
    def length(self) -> int:
        return self.elements.shape[-1]

    def at(self, k: int) -> Mat:
        """Return the k-th element of each line."""
        found: Mat = self.elements[..., k]
        return found

    def counts(self) -> Mat:
        """Return how many elements of each line are numbers; the axis of these has length 1."""
        there = elementwise.equal(self.elements, self.elements)
        return truth.count_true(there, -1, keepdims=True)

    def with_nan(self, found: Mat) -> Mat:
        """Return results, one for each line or several along a last axis, with NaN for lines that
        have NaN in them.
        """
        last = self.at(-1)
        if last.dtype.char not in FLOATING:
            return found
        if found.ndim > last.ndim:
            last = last.expand_dims(-1)
        return where(elementwise.isnan(last), last, found)


def can_sort_lines(x: Mat) -> bool:
    """Return whether `x` has elements, and of a type that has quantiles here."""
    return bool(x.ndim and x.size) and x.dtype.char in (*_FLOATS, *INTEGERS)


def sorted_lines(x: Mat, axis: AxisLike) -> Lines:
    """Return the elements over `axis`, sorted."""
    over = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = sorted({as_axis(k, x.ndim) for k in over})
    kept = [k for k in range(x.ndim) if k not in axes]
    moved = x.permute((*kept, *axes)).contiguous()
    lines = moved.reshape((*(x.shape[k] for k in kept), -1))
    return Lines(sort(lines), tuple(1 if k in axes else n for k, n in enumerate(x.shape)))


# Medians


def median(lines: Lines, missing: bool) -> Mat:
    """Return the median of each line; with `missing`, ignoring NaN."""
    if missing and lines.elements.dtype.char in _FLOATS:
        counts = lines.counts()
        low = _along(lines, elementwise.subtract(counts, 1) >> 1).squeeze(-1)
        high = _along(lines, counts >> 1).squeeze(-1)
        return where(elementwise.equal(low, high), high, _middle(low, high))
    k = lines.length // 2
    if lines.length % 2:
        found = lines.at(k)
        exact = found if found.dtype.char in _FLOATS else found.astype(np.float64)
        return lines.with_nan(exact)
    return lines.with_nan(_middle(lines.at(k - 1), lines.at(k)))


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
    found = take_along(lines.elements, inside, lines.elements.ndim - 1)
    assert found is not None  # they are in range
    return found


# Quantiles


def quantiles(lines: Lines, q: Array, weak: bool, missing: bool, method: str = "linear") -> Mat:
    """Return the quantiles for fractions `q`, along the first axis of the result if there are
    several; `weak` if results have the dtype of inexact elements.

    Where elements are `missing`, the method is linear.
    """
    if missing and lines.elements.dtype.char in _FLOATS:
        found = _of_numbers(lines, q, weak)
    else:
        found = lines.with_nan(_of_all(lines, q, weak, method))
    if not q.ndim:
        return found
    return found.permute((found.ndim - 1, *range(found.ndim - 1))).contiguous()


def _of_all(lines: Lines, q: Array, weak: bool, method: str) -> Mat:
    """Return the quantiles of all elements of each line, several along a last axis."""
    last = lines.length - 1
    at = np.asarray(quantile_methods.place(method, lines.length, q))
    if at.dtype.kind in "iu":
        return _at_all(lines, np.clip(at, 0, last))
    inside = (at >= 0) & (at < last)
    at = np.clip(at, 0, last)
    low = np.floor(at)
    a, b = _at_all(lines, low), _at_all(lines, np.where(inside, low + 1, low))
    share = quantile_methods.share(method, at, low)
    if weak:
        return _between(a, b, float(share), 1 - float(share), bool(share >= 0.5))
    return _between(a, b, _mat(share), _mat(1 - share), _mat(share >= 0.5))


def _at_all(lines: Lines, indices: Array) -> Mat:
    """Return the elements at the same indices of each line."""
    if not indices.ndim:
        return lines.at(int(indices))
    found = take(lines.elements, _mat(indices.astype(_INDICES)), lines.elements.ndim - 1)
    assert found is not None  # they are in range
    return found


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
    found = _between(a, b, share, rest, near)
    return found if q.ndim else found.squeeze(-1)


def _between(a: Mat, b: Mat, share: Operand, rest: Operand, near: Operand) -> Mat:
    """Return the value at a `share` of the way from `a` to `b`, computed from b where it is `near`
    that.
    """
    distance = elementwise.subtract(b, a)
    if near is not True:
        below: Mat = elementwise.add(a, elementwise.multiply(distance, share))
        if near is False:
            return below
    above: Mat = elementwise.subtract(b, elementwise.multiply(distance, rest))
    return above if near is True else where(near, above, below)


def _mat(a: Array) -> Mat:
    return adopted(np.asarray(a))
