"""NumPy's functions that sort, search and count: sets and histograms, too.

On the host NumPy itself computes what is more than sorting.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...devices.in_use import computes_elsewhere
from ...matrix.creation import adopted
from ...matrix.delegate import delegate
from ...matrix.filled import full
from ...matrix.mat import Mat, new_like
from ...matrix.nested import without_mats
from ...ops.engine.by_numpy import LeftToNumPy, leave_if, or_leave
from ...ops.engine.operands import as_mat
from ...ops.indexing import sorting
from ...ops.indexing.advanced import all_within, gathered_at
from ...ops.indexing.gathering import positions_of
from ...ops.indexing.sorting import Different, argsort, searchsorted, sort
from ...ops.primitives import elementwise, reduce, selecting
from ...ops.primitives.joining import concat
from ...ops.primitives.shape import along
from ...support.plugins import at_first_use
from ...support.types import Array, Function, Operand
from ..operands import (
    as_dtype,
    as_floats,
    as_mat_if_possible,
    is_there,
    mats_there,
    one_axis,
    with_axis_moved,
)
from ..registry import NO_VALUE, Result, implements
from .in_tiles import in_tiles
from .selection import compress, take

ufuncs = at_first_use("ops.primitives.ufuncs")
_MOST_KEYS = 64  # to sort items by: the elements of one
_MANY = 1 << 14  # integers below which NumPy counts as fast, on the host
_KINDS = ("quicksort", "heapsort", "mergesort", "stable")


def _sort(function: Function) -> Function:
    def sort(a: Mat, axis: int | None = -1, kind: Operand = None, order: Operand = None, *,
             stable: Operand = None, descending: Operand = None) -> Result:
        if descending is NO_VALUE:  # NumPy's default from 2.5 on
            descending = None
        leave_if(order is not None or (kind is not None and (
            kind not in _KINDS or stable is not None or descending is not None)))
        if axis is None:
            a, axis = a.contiguous().reshape(-1), 0
        leave_if(not a.ndim or type(axis) is not int)
        return function(a, axis, descending=bool(descending),
                        stable=bool(stable) or kind in ("mergesort", "stable"))

    return sort


numpy_sort = implements("sort")(_sort(sorting.sort))
numpy_argsort = implements("argsort", of_many=True)(_sort(sorting.argsort))


def _partition(sort: Function) -> Function:
    """Return the function of partitions: elements in order are one, too; NumPy refuses the rest."""
    def partition(a: Mat, kth: Operand, axis: int | None = -1, kind: str = "introselect",
                  order: Operand = None) -> Result:
        leave_if(kind != "introselect")
        places = np.atleast_1d(np.asarray(kth))
        length = a.size if axis is None else a.shape[axis] if type(axis) is int and (
            -a.ndim <= axis < a.ndim) else 0
        leave_if(places.ndim > 1 or places.dtype.kind not in "iu" or not length
                 or not np.all((-length <= places) & (places < length)))
        return sort(a, axis, None, order, stable=True)

    return partition


implements("partition", on_device=1)(_partition(numpy_sort))
implements("argpartition", on_device=1)(_partition(numpy_argsort))


@implements("searchsorted", on_device=2)
def numpy_searchsorted(a: Operand, v: Operand, side: str = "left",
                       sorter: Operand = None) -> Result:
    leave_if(side not in ("left", "right") or a.ndim != 1)
    try:
        np.promote_types(a.dtype, v.dtype)
    except TypeError:  # such as bfloat16 and int64
        raise LeftToNumPy from None
    if sorter is not None:
        order = as_mat_if_possible(sorter)
        leave_if(not isinstance(order, Mat) or order.shape != a.shape
                 or order.dtype.kind not in "iu")
        leave_if(not a.size or not all_within(order, 0, a.size))
        a = take(a, order, 0)
    return sorting.searchsorted(a, v, right=side == "right")


@implements("lexsort", mats=0, of_many=True)
def numpy_lexsort(keys: Operand, axis: int = -1) -> Result:
    if isinstance(keys, Mat):
        keys = list(keys) if keys.ndim > 1 else []
    leave_if(not isinstance(keys, list | tuple) or not all(map(is_there, keys))
             or type(axis) is not int)
    leave_if(not keys or not keys[0].ndim or any(k.shape != keys[0].shape for k in keys))
    return sorting.lexical_order(keys, axis)


@implements("digitize", mats=0, of_many=True)
def numpy_digitize(x: Operand, bins: Operand, right: bool = False) -> Result:
    values, edges = mats_there(x, bins)
    leave_if("c" in (values.dtype.kind, edges.dtype.kind))
    leave_if(edges.ndim != 1 or not edges.size)
    ascends = _ascends(bins)
    leave_if(not ascends and not _ascends(bins[::-1]))  # NumPy's error

    def digitize(values: Mat, edges: Mat) -> Mat:
        if ascends:
            return sorting.searchsorted(edges, values, right=not right)
        places = sorting.searchsorted(edges[::-1], values, right=not right)
        return elementwise.subtract(edges.size, places)

    return in_tiles(digitize, tables=1)(values, edges)


def _ascends(edges: Operand) -> bool:
    """Return whether no edge is less than the one before it; of an array the host says so."""
    if not isinstance(edges, Mat):
        at = np.asarray(edges)
        return bool(np.all(at[1:] >= at[:-1]))
    return bool(reduce.all_true(elementwise.greater_equal(edges[1:], edges[:-1])))


@implements("bincount", of_many=True)
def numpy_bincount(x: Operand, /, weights: Operand = None, minlength: int = 0) -> Result:
    leave_if(x.ndim != 1 or not (computes_elsewhere(x) or (weights is None and x.size >= _MANY)))
    leave_if(not np.can_cast(x.dtype, np.int64, "safe") or isinstance(minlength, bool)
             or not isinstance(minlength, int | np.integer) or minlength < 0)
    if weights is not None:
        weights = as_mat(weights, "weights")
        leave_if(weights.shape != x.shape or weights.dtype.kind == "c" or not x.size)
    return or_leave(sorting.bincount(x, weights, int(minlength)))


# Different elements


# the parameters are NumPy's
@implements("unique", of_many=True)
def numpy_unique(ar: Operand, return_index: bool = False, return_inverse: bool = False,
                 return_counts: bool = False, axis: int | None = None, *, equal_nan: bool = True,
                 sorted: bool = True) -> Result:
    if axis is not None and not (return_index or return_inverse or return_counts):
        return _different_items(ar, axis)
    leave_if(axis is not None)
    found = _different(ar, equal_nan, return_index or return_inverse, return_index)
    parts: list[Mat] = [found.values()]
    if isinstance(found, sorting.Different) and return_index:
        parts.append(found.indices())
    if return_inverse:
        parts.append(found.inverse(ar.shape))
    if return_counts:
        parts.append(found.counts())
    return parts[0] if len(parts) == 1 else tuple(parts)


def _different_items(x: Operand, axis: int) -> Result:
    """Return the items along an axis that differ, in lexical order."""
    leave_if(not is_there(x))
    items = with_axis_moved(x, one_axis(x, axis), 0)
    rows = items.contiguous().reshape((items.shape[0], -1)) if x.size else items
    leave_if(not x.size or rows.shape[1] > _MOST_KEYS or x.dtype.kind not in "iub")
    order = sorting.lexical_order([rows[:, k] for k in range(rows.shape[1] - 1, -1, -1)], 0)
    ordered = take(rows, order, 0)
    differs = reduce.any_true(elementwise.not_equal(ordered[1:], ordered[:-1]), 1)
    first = concat([new_like(x, (1,), differs.dtype).fill_(True), differs])
    found = compress(first, ordered, 0)
    return with_axis_moved(found.reshape((-1, *items.shape[1:])), 0, axis).contiguous()


def _different(x: Operand, equal_nan: bool, ordered: bool,
               indexed: bool = False) -> sorting.Different | sorting.Counted:
    """Return the different elements; on the host only integers that counting is faster for."""
    if is_there(x):
        return sorting.Different(x.contiguous().reshape(-1), equal_nan, ordered)
    leave_if(x.size < _MANY or indexed or not np.can_cast(x.dtype, np.int64))
    return or_leave(sorting.Counted.of(x.contiguous().reshape(-1)))


@implements("unique_values")
def numpy_unique_values(x: Operand) -> Result:
    # NumPy's function leaves them as they lie in a hash table, and says that any order will do
    try:
        return _different(x, False, False).values()
    except LeftToNumPy:
        return delegate(np.unique, (x,), {"equal_nan": False}, name="unique_values")


@implements("unique_counts")
def numpy_unique_counts(x: Operand) -> Result:
    found = _different(x, False, False)
    return _result("UniqueCountsResult", found.values(), found.counts())


@implements("unique_inverse")
def numpy_unique_inverse(x: Operand) -> Result:
    found = _different(x, False, True)
    return _result("UniqueInverseResult", found.values(), found.inverse(x.shape))


@implements("unique_all", on_device=1)
def numpy_unique_all(x: Operand) -> Result:
    found = sorting.Different(x.contiguous().reshape(-1), False, True)
    return _result("UniqueAllResult", found.values(), found.indices(), found.inverse(x.shape),
                   found.counts())


def _result(name: str, *parts: Mat) -> Result:
    kind: Any = getattr(np.lib._arraysetops_impl, name)
    return kind(*parts)


@implements("sort_complex", on_device=1)
def numpy_sort_complex(a: Operand) -> Result:
    leave_if(not a.ndim)
    narrow = a.dtype.kind in "iu" and a.dtype.itemsize <= 2
    found = sorting.sort(a)
    return found if a.dtype.kind == "c" else found.astype(np.complex64 if narrow else np.complex128)


# Histograms: by searching the edges, computed on the host


_FLOAT, _INDICES = np.dtype(np.float64), np.dtype(np.int64)
_numbers = range  # which is the name of a parameter here


def _has_bins(a: Operand) -> bool:
    return is_there(a) and bool(a.size) and a.dtype.kind in "iuf"


def _edges(a: Mat, bins: Operand, range: Operand) -> Array:
    """Return the edges of bins; of the elements only the least and the largest are read."""
    leave_if(isinstance(bins, str) or not _has_bins(a))
    bins = without_mats(bins)
    limits = np.zeros(2, a.dtype)
    if np.ndim(bins) == 0 and range is None:
        limits = sorting.limits_of(a)[0]
    return np.histogram_bin_edges(limits, bins, range)


@implements("histogram_bin_edges", on_device=1)
def numpy_histogram_bin_edges(a: Operand, bins: Operand = 10, range: Operand = None,
                              weights: Operand = None) -> Result:
    return as_mat(_edges(a, bins, range), "edges")


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
    leave_if(not all(own.size for own in edges))
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


@implements("histogramdd", mats=0)
def numpy_histogramdd(sample: Operand, bins: Operand = 10, range: Operand = None,
                      density: bool | None = None, weights: Operand = None) -> Result:
    if isinstance(sample, Mat):
        columns = [sample[:, k] for k in _numbers(sample.shape[1])] if sample.ndim == 2 else []
    else:
        leave_if(not isinstance(sample, list | tuple))
        columns = mats_there(*sample)
    return _of_columns(columns, bins, range, density, weights)


@implements("histogram2d", on_device=2)
def numpy_histogram2d(x: Operand, y: Operand, bins: Operand = 10, range: Operand = None,
                      density: bool | None = None, weights: Operand = None) -> Result:
    if isinstance(bins, list | tuple | np.ndarray | Mat) and len(bins) not in (1, 2):
        bins = [bins, bins]
    found = _of_columns([x, y], bins, range, density, weights)
    return found[0], *found[1]


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
    """Return NumPy's edges of the bins of each column, from its extremes where needed."""
    bins = [without_mats(b) for b in bins]
    limits = np.zeros((len(columns), 2), columns[0].dtype)
    unknown = [k for k, (b, r) in enumerate(zip(bins, ranges, strict=True))
               if np.ndim(b) == 0 and r is None]
    if unknown:
        limits[unknown] = sorting.limits_of(*(columns[k] for k in unknown))
    return [np.histogramdd(own.reshape(2, 1), [b], [r])[1][0]
            for own, b, r in zip(limits, bins, ranges, strict=True)]


# Sets


@implements("isin", on_device=2)
def numpy_isin(element: Mat, test_elements: Mat, assume_unique: bool = False,
               invert: bool = False, *, kind: Operand = None) -> Result:
    leave_if(kind not in (None, "sort"))
    member = in_tiles(_is_member, tables=1)
    return member(element, _as_vector(test_elements), bool(invert))


implements("in1d", on_device=2)(
    lambda ar1, ar2, assume_unique=False, invert=False, *, kind=None: numpy_isin(
        _as_vector(ar1), ar2, assume_unique, invert, kind=kind))
implements("union1d", on_device=2)(lambda ar1, ar2: Different(
    concat([_as_vector(ar1), _as_vector(ar2)]), True, False).values())


@implements("setdiff1d", on_device=2)
def numpy_setdiff1d(ar1: Mat, ar2: Mat, assume_unique: bool = False) -> Result:
    if assume_unique:
        x = _as_vector(ar1)
        return _where(_is_member(x, ar2, True), x)
    return _where(*_only_in(ar1, ar2))


@implements("setxor1d", on_device=2)
def numpy_setxor1d(ar1: Mat, ar2: Mat, assume_unique: bool = False) -> Result:
    if not assume_unique:
        parts = _only_in(ar1, ar2), _only_in(ar2, ar1)
        return sort(_where(*map(concat, zip(*parts, strict=True))))
    ordered = sort(concat([_as_vector(ar1), _as_vector(ar2)]))
    if not ordered.size:
        return ordered
    end = adopted(np.ones(1, np.bool_))
    differs = concat([end, elementwise.not_equal(*_neighbours(ordered)), end])
    return _where(ufuncs.logical_and(*_neighbours(differs)), ordered)


@implements("intersect1d", on_device=2)
def numpy_intersect1d(ar1: Mat, ar2: Mat, assume_unique: bool = False,
                      return_indices: bool = False) -> Result:
    if return_indices:
        return _common_with_places(_as_vector(ar1), _as_vector(ar2), bool(assume_unique))
    if not assume_unique:
        dtype = np.result_type(ar1.dtype, ar2.dtype)
        return _where(*_only_in(ar1, ar2, False)).astype(dtype, copy=False)
    first, second = _neighbours(sort(concat([_as_vector(ar1), _as_vector(ar2)])))
    return _where(elementwise.equal(first, second), first)


def _only_in(x: Mat, y: Mat, invert: bool = True) -> tuple[Mat, Mat]:
    """Return a mask of the different elements of `x` that `y` lacks, or has, and these in order."""
    ordered = sort(_as_vector(x))
    different = elementwise.not_equal(sorting.firsts.new((ordered, None, True)), 0)
    return ufuncs.logical_and(different, _is_member(ordered, y, invert)), ordered


def _as_vector(x: Mat) -> Mat:
    return x if x.ndim == 1 else x.contiguous().reshape(-1)


def _is_member(x: Mat, of: Mat, invert: bool) -> Mat:
    """Return whether each element of `x` is one of those of `of`; with `invert` whether it is none.

    NaN is none.
    """
    dtype = np.result_type(x.dtype, of.dtype)
    x, of = (v.astype(dtype, copy=False) for v in (x, _as_vector(of)))
    if not of.size or not x.size:
        found = full(x.shape, invert, "bool")
        found.device_enabled = x.device_enabled
        return found
    members = sort(of)
    places = elementwise.minimum(searchsorted(members, x), of.size - 1)
    nearest = gathered_at(members, places, 0, (0,))
    compare = elementwise.not_equal if invert else elementwise.equal
    return compare(nearest, x)


def _common_with_places(x: Mat, y: Mat, are_sets: bool) -> tuple[Mat, Mat, Mat]:
    """Return the elements in common, ascending, and where they are first in `x` and in `y`."""
    if not are_sets:
        of_x, of_y = argsort(x), argsort(y)
        mask, ordered = _only_in(x, y, False)
        at = positions_of(mask)
        found = gathered_at(ordered, at, 0, (0,)).astype(np.result_type(x.dtype, y.dtype))
        places = searchsorted(gathered_at(y, of_y, 0, (0,)), found)
        return found, gathered_at(of_x, at, 0, (0,)), gathered_at(of_y, places, 0, (0,))
    both = concat([x, y])
    order = argsort(both)
    first, second = _neighbours(gathered_at(both, order, 0, (0,)))
    at = positions_of(elementwise.equal(first, second))
    before, after = (gathered_at(places, at, 0, (0,)) for places in _neighbours(order))
    return gathered_at(first, at, 0, (0,)), before, elementwise.subtract(after, x.size)


def _neighbours(x: Mat) -> tuple[Mat, Mat]:
    return along(x, 0, slice(None, -1)), along(x, 0, slice(1, None))


def _where(mask: Mat, x: Mat) -> Mat:
    return gathered_at(x, positions_of(mask), 0, (0,))
