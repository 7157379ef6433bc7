"""NumPy's histograms on devices: by searching the edges, computed on the host."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...matrix.mat import Mat
from ...ops.engine.by_numpy import leave_if
from ...ops.engine.operands import as_mat
from ...ops.indexing import sorting
from ...ops.primitives import elementwise, reduce, selecting
from ...support.types import Array, Operand
from ..registry import Result, implements
from .there import as_dtype, as_floats, is_there, mats_there

_FLOAT, _INDICES = np.dtype(np.float64), np.dtype(np.int64)
_numbers = range  # which is the name of a parameter here


def _has_bins(a: Operand) -> bool:
    return is_there(a) and bool(a.size) and a.dtype.kind in "iuf"


def _edges(a: Mat, bins: Operand, range: Operand) -> Array:
    """Return the edges of bins, for which the least and the largest element are read, by no rule
    that looks at all elements.
    """
    leave_if(isinstance(bins, str) or not _has_bins(a))
    bins = bins.to_numpy() if isinstance(bins, Mat) else bins
    limits = np.zeros(2, a.dtype)
    if np.ndim(bins) == 0 and range is None:
        limits = sorting.limits_of(a)[0]
    return np.histogram_bin_edges(limits, bins, range)


@implements("histogram_bin_edges", on_device=1)
def numpy_histogram_bin_edges(a: Operand, bins: Operand = 10, range: Operand = None,
                              weights: Operand = None) -> Result:
    return as_mat(_edges(a, bins, range), "edges")


# the parameters are NumPy's
@implements("histogram", on_device=1)
def numpy_histogram(a: Operand, bins: Operand = 10, range: Operand = None,
                    density: bool | None = None, weights: Operand = None) -> Result:
    leave_if(weights is not None and not _are_weights(weights, a))
    edges = _edges(a, bins, range)
    if weights is None:
        counts = sorting.histogram_of(a, edges)
    else:
        counts = _sums([a.contiguous().reshape(-1)], [edges], weights.contiguous().reshape(-1))
        counts = as_dtype(counts, weights.dtype)
    if density:
        counts = counts / as_mat(np.diff(edges).astype(float), "widths") / reduce.sum(counts)
    return counts, as_mat(edges, "edges")


def _are_weights(weights: Operand, a: Mat) -> bool:
    return is_there(weights) and weights.shape == a.shape and weights.dtype.kind == "f"


def _sums(columns: Sequence[Mat], edges: Sequence[Array], weights: Mat | None) -> Mat:
    """Return how many points, or the sums of their weights, are in each bin of all columns.

    Points outside are counted in one more bin, so that no number of them is read.
    """
    place: Mat | None = None
    inside: Mat | None = None
    for x, own in zip(columns, edges, strict=True):
        at = sorting.searchsorted(as_mat(own, "edges"), x, right=True) - 1
        at = at - as_dtype(elementwise.equal(x, float(own[-1])), at.dtype)  # the last one is closed
        n = own.size - 1
        known = (at >= 0) & (at < n)
        place = at if place is None else place * n + at
        inside = known if inside is None else inside & known
    assert place is not None
    assert inside is not None
    size = int(np.prod([own.size - 1 for own in edges]))
    place = selecting.where(inside, place, size)
    if weights is not None:
        weights = as_dtype(weights, _FLOAT)
    found = sorting.sums_of_bins(as_dtype(place, _INDICES), weights, size + 1)
    return found[:size].reshape(tuple(own.size - 1 for own in edges))


# the parameters are NumPy's
@implements("histogramdd", mats=0)
def numpy_histogramdd(sample: Operand, bins: Operand = 10, range: Operand = None,
                      density: bool | None = None, weights: Operand = None) -> Result:
    if isinstance(sample, Mat):
        columns = [sample[:, k] for k in _numbers(sample.shape[1])] if sample.ndim == 2 else []
    else:
        leave_if(not isinstance(sample, list | tuple))
        columns = mats_there(*sample)
    return _of_columns(columns, bins, range, density, weights)


# the parameters are NumPy's
@implements("histogram2d", on_device=2)
def numpy_histogram2d(x: Operand, y: Operand, bins: Operand = 10, range: Operand = None,
                      density: bool | None = None, weights: Operand = None) -> Result:
    if isinstance(bins, list | tuple | np.ndarray | Mat) and len(bins) not in (1, 2):
        bins = [bins, bins]
    found = _of_columns([x, y], bins, range, density, weights)
    return found[0], *found[1]


# the parameters are NumPy's
def _of_columns(columns: Sequence[Mat], bins: Operand, range: Operand, density: bool | None,
                weights: Operand) -> Result:
    """Return the histogram of points whose coordinates are in columns, and the edges of each."""
    leave_if(not columns
             or not all(_has_bins(x) and x.ndim == 1 and x.size == columns[0].size for x
             in columns))
    leave_if(weights is not None and not _are_weights(weights, columns[0]))
    each = list(bins) if isinstance(bins, list | tuple) else [bins] * len(columns)
    limits = [None] * len(columns) if range is None else list(range)
    leave_if(not len(each) == len(limits) == len(columns) or any(isinstance(b, str) for b in each))
    dtype = np.result_type(*(x.dtype for x in columns))
    columns = [as_dtype(x, dtype) for x in columns]
    edges = _edges_of_columns(columns, each, limits)
    known = [np.asarray(own, _FLOAT) for own in edges]
    counts = as_dtype(_sums([as_floats(x) for x in columns], known, weights), _FLOAT)
    if density:
        total = reduce.sum(counts)
        for k, own in enumerate(edges):
            shape = (-1,) + (1,) * (len(edges) - 1 - k)
            counts = counts / as_mat(np.diff(own).reshape(shape), "widths")
        counts = counts / total
    return counts, [as_mat(own, "edges") for own in edges]


def _edges_of_columns(columns: Sequence[Mat], bins: Sequence[Operand],
                      ranges: Sequence[Operand]) -> list[Array]:
    """Return NumPy's edges of the bins of each column, from the least and the largest elements,
    read together where they are needed.
    """
    bins = [b.to_numpy() if isinstance(b, Mat) else b for b in bins]
    limits = np.zeros((len(columns), 2), columns[0].dtype)
    unknown = [k for k, (b, r) in enumerate(zip(bins, ranges, strict=True))
               if np.ndim(b) == 0 and r is None]
    if unknown:
        limits[unknown] = sorting.limits_of(*(columns[k] for k in unknown))
    return [np.histogramdd(own.reshape(2, 1), [b], [r])[1][0]
            for own, b, r in zip(limits, bins, ranges, strict=True)]
