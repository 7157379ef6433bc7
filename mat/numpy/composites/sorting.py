"""NumPy's functions that sort, search and count.

On the host NumPy itself computes what is more than sorting.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...devices.in_use import computes_elsewhere
from ...matrix.mat import Mat, new_like
from ...ops.engine.by_numpy import leave_if, or_leave
from ...ops.engine.operands import as_mat
from ...ops.indexing import sorting, taking
from ...ops.indexing.advanced import all_within
from ...ops.primitives import elementwise, truth
from ...ops.primitives.joining import concat
from ...support.types import Function, Operand
from ..operands import as_mat_if_possible
from ..registry import NO_VALUE, Result, implements
from .there import is_there, mats_there, with_axis_moved

_MOST_KEYS = 64  # to sort items by: the elements of one
_MANY = 1 << 14  # integers below which NumPy counts as fast, on the host
_KINDS = ("quicksort", "heapsort", "mergesort", "stable")


def _is_stable(kind: Operand, stable: Operand, descending: Operand) -> bool | None:
    """Return whether a stable order is wanted; None for arguments that NumPy refuses."""
    if kind is not None and (kind not in _KINDS or stable is not None or descending is not None):
        return None
    return bool(stable) or kind in ("mergesort", "stable")


def _sort(function: Function) -> Function:
    """Return the function of sorted elements, or of their indices."""
    def sort(a: Mat, axis: int | None = -1, kind: Operand = None, order: Operand = None, *,
             stable: Operand = None, descending: Operand = None) -> Result:
        if descending is NO_VALUE:  # NumPy's default from 2.5 on
            descending = None
        wanted = _is_stable(kind, stable, descending)
        leave_if(order is not None or wanted is None)
        if axis is None:
            a, axis = a.contiguous().reshape(-1), 0
        leave_if(not a.ndim or type(axis) is not int)
        return function(a, axis, descending=bool(descending), stable=wanted)

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


@implements("searchsorted", on_device=2, of_many=True)
def numpy_searchsorted(a: Operand, v: Operand, side: str = "left",
                       sorter: Operand = None) -> Result:
    leave_if(side not in ("left", "right") or a.ndim != 1 or not _have_common_dtype(a, v))
    ordered = a if sorter is None else _taken_in_order(a, sorter)
    return sorting.searchsorted(ordered, v, right=side == "right")


def _have_common_dtype(a: Mat, v: Mat) -> bool:
    """Return whether NumPy promotes the dtypes: it does not promote bfloat16 and int64."""
    try:
        np.promote_types(a.dtype, v.dtype)
    except TypeError:
        return False
    return True


def _taken_in_order(a: Mat, sorter: Operand) -> Mat:
    """Return a vector in the order that `sorter` says."""
    order = as_mat_if_possible(sorter)
    leave_if(not isinstance(order, Mat) or order.shape != a.shape or order.dtype.kind not in "iu")
    leave_if(not a.size or not all_within(order, 0, a.size))
    return or_leave(taking.take(a, order, 0))


@implements("lexsort", mats=0, of_many=True)
def numpy_lexsort(keys: Operand, axis: int = -1) -> Result:
    if isinstance(keys, Mat):
        keys = list(keys) if keys.ndim > 1 else []
    leave_if(not isinstance(keys, list | tuple) or not all(map(is_there, keys))
             or type(axis) is not int)
    leave_if(not keys or not keys[0].ndim or any(k.shape != keys[0].shape for k in keys))
    return sorting.lexical_order(keys, axis)


@implements("digitize", mats=0)
def numpy_digitize(x: Operand, bins: Operand, right: bool = False) -> Result:
    values, edges = mats_there(x, bins)
    leave_if("c" in (values.dtype.kind, edges.dtype.kind))
    leave_if(edges.ndim != 1 or not edges.size)
    if _ascends(bins):
        return sorting.searchsorted(edges, values, right=not right)
    leave_if(not _ascends(bins[::-1]))  # NumPy's error
    places = sorting.searchsorted(edges[::-1], values, right=not right)
    return elementwise.subtract(edges.size, places)


def _ascends(edges: Operand) -> bool:
    """Return whether no edge is less than the one before it; of an array the host says so."""
    if not isinstance(edges, Mat):
        at = np.asarray(edges)
        return bool(np.all(at[1:] >= at[:-1]))
    return bool(truth.all_true(elementwise.greater_equal(edges[1:], edges[:-1])))


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
    leave_if(not is_there(x) or type(axis) is not int or not -x.ndim <= axis < x.ndim)
    items = with_axis_moved(x, axis, 0)
    rows = items.contiguous().reshape((items.shape[0], -1)) if x.size else items
    leave_if(not x.size or rows.shape[1] > _MOST_KEYS or x.dtype.kind not in "iub")
    order = sorting.lexical_order([rows[:, k] for k in range(rows.shape[1] - 1, -1, -1)], 0)
    ordered = or_leave(taking.take(rows, order, 0))
    differs = truth.any_true(elementwise.not_equal(ordered[1:], ordered[:-1]), 1)
    first = concat([new_like(x, (1,), differs.dtype).fill_(True), differs])
    found = or_leave(taking.compress(first, ordered, 0))
    return with_axis_moved(found.reshape((-1, *items.shape[1:])), 0, axis).contiguous()


def _different(x: Operand, equal_nan: bool, ordered: bool,
               indexed: bool = False) -> sorting.Different | sorting.Counted:
    """Return the different elements of `x`, on the host of integers that counting is faster for,
    whose indices it does not find.
    """
    if is_there(x):
        return sorting.Different(x.contiguous().reshape(-1), equal_nan, ordered)
    leave_if(x.size < _MANY or indexed or not np.can_cast(x.dtype, np.int64))
    return or_leave(sorting.Counted.of(x.contiguous().reshape(-1)))


@implements("unique_values")
def numpy_unique_values(x: Operand) -> Result:
    return _different(x, False, False).values()


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
    """Return NumPy's named tuple with these Mats."""
    kind: Any = getattr(np.lib._arraysetops_impl, name)
    return kind(*parts)


@implements("sort_complex", on_device=1)
def numpy_sort_complex(a: Operand) -> Result:
    leave_if(not a.ndim)
    narrow = a.dtype.kind in "iu" and a.dtype.itemsize <= 2
    found = sorting.sort(a)
    return found if a.dtype.kind == "c" else found.astype(np.complex64 if narrow else np.complex128)
