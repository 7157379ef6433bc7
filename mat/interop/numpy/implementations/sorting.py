"""NumPy's functions that sort, search and count.

On the host NumPy itself computes what is more than sorting.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....devices.in_use import computes_elsewhere
from ....matrix.mat import Mat, new_like
from ....ops import elementwise, sorting, taking, truth
from ....ops.advanced import all_within
from ....ops.joining import concat
from ....ops.operands import as_mat
from ....support.types import Function, Operand
from ..operands import as_mat_if_possible, as_mats
from ..registry import NO_VALUE, Result, implements
from .there import with_axis_moved

_MOST_KEYS = 64  # to sort items by: the elements of one
_MANY = 1 << 14  # integers below which NumPy counts as fast, on the host
_KINDS = ("quicksort", "heapsort", "mergesort", "stable")


def _is_stable(kind: Operand, stable: Operand, descending: Operand) -> bool | None:
    """Return whether a stable order is wanted; None for arguments that NumPy refuses."""
    if kind is not None and (kind not in _KINDS or stable is not None or descending is not None):
        return None
    return bool(stable) or kind in ("mergesort", "stable")


# the parameters are NumPy's
def _sorted(function: Function, a: Operand, axis: int | None, kind: Operand, order: Operand,
            stable: Operand, descending: Operand) -> Result:
    if descending is NO_VALUE:  # NumPy's default from 2.5 on
        descending = None
    wanted = _is_stable(kind, stable, descending)
    if not isinstance(a, Mat) or order is not None or wanted is None:
        return NotImplemented
    if axis is None:
        a, axis = a.contiguous().reshape(-1), 0
    if not a.ndim or type(axis) is not int:
        return NotImplemented
    return function(a, axis, descending=bool(descending), stable=wanted)


@implements("sort")
def numpy_sort(a: Operand, axis: int | None = -1, kind: Operand = None, order: Operand = None, *,
               stable: Operand = None, descending: Operand = None) -> Result:
    return _sorted(sorting.sort, a, axis, kind, order, stable, descending)


@implements("argsort", of_many=True)
def numpy_argsort(a: Operand, axis: int | None = -1, kind: Operand = None, order: Operand = None,
                  *, stable: Operand = None, descending: Operand = None) -> Result:
    return _sorted(sorting.argsort, a, axis, kind, order, stable, descending)


@implements("partition")
def numpy_partition(a: Operand, kth: Operand, axis: int | None = -1, kind: str = "introselect",
                    order: Operand = None) -> Result:
    return _partitioned(sorting.sort, a, kth, axis, kind, order)


@implements("argpartition")
def numpy_argpartition(a: Operand, kth: Operand, axis: int | None = -1, kind: str = "introselect",
                       order: Operand = None) -> Result:
    return _partitioned(sorting.argsort, a, kth, axis, kind, order)


# the parameters are NumPy's
def _partitioned(function: Function, a: Operand, kth: Operand, axis: int | None, kind: str,
                 order: Operand) -> Result:
    """Sort on a device, as a partition; invalid calls are left to NumPy's errors."""
    if not isinstance(a, Mat) or not computes_elsewhere(a) or kind != "introselect":
        return NotImplemented
    places = np.atleast_1d(np.asarray(kth))
    length = a.size if axis is None else a.shape[axis] if type(axis) is int and (
        -a.ndim <= axis < a.ndim) else 0
    if places.ndim > 1 or places.dtype.kind not in "iu" or not length or not np.all(
            (-length <= places) & (places < length)):
        return NotImplemented
    return _sorted(function, a, axis, None, order, True, None)


@implements("searchsorted", of_many=True)
def numpy_searchsorted(a: Operand, v: Operand, side: str = "left",
                       sorter: Operand = None) -> Result:
    if side not in ("left", "right"):
        return NotImplemented
    mats = as_mats([x if isinstance(x, Mat) else np.asarray(x) for x in (a, v)])
    if not mats or mats[0].ndim != 1 or not computes_elsewhere(*mats):
        return NotImplemented
    if not _have_common_dtype(*mats):
        return NotImplemented
    if sorter is not None:
        ordered = _taken_in_order(mats[0], sorter)
        if ordered is None:
            return NotImplemented
        mats[0] = ordered
    return sorting.searchsorted(*mats, right=side == "right")


def _have_common_dtype(a: Mat, v: Mat) -> bool:
    """Return whether NumPy promotes the dtypes: it does not promote bfloat16 and int64."""
    try:
        np.promote_types(a.dtype, v.dtype)
    except TypeError:
        return False
    return True


def _taken_in_order(a: Mat, sorter: Operand) -> Mat | None:
    """Return a vector in the order of `sorter`; None for invalid ones."""
    order = as_mat_if_possible(sorter)
    if not isinstance(order, Mat) or order.shape != a.shape or order.dtype.kind not in "iu":
        return None
    return taking.take(a, order, 0) if a.size and all_within(order, 0, a.size) else None


@implements("lexsort")
def numpy_lexsort(keys: Operand, axis: int = -1) -> Result:
    if isinstance(keys, Mat):
        keys = list(keys) if keys.ndim > 1 else []
    if not isinstance(keys, list | tuple) or not all(map(_is_there, keys)) or type(axis) is not int:
        return NotImplemented
    if not keys or not keys[0].ndim or any(k.shape != keys[0].shape for k in keys):
        return NotImplemented
    return sorting.lexical_order(keys, axis)


@implements("digitize")
def numpy_digitize(x: Operand, bins: Operand, right: bool = False) -> Result:
    mats = as_mats([v if isinstance(v, Mat) else np.asarray(v) for v in (x, bins)])
    if not mats or not computes_elsewhere(*mats) or any(m.dtype.kind == "c" for m in mats):
        return NotImplemented
    values, edges = mats
    if edges.ndim != 1 or not edges.size:
        return NotImplemented
    if _ascends(bins, edges):
        return sorting.searchsorted(edges, values, right=not right)
    if not _ascends(bins[::-1], edges[::-1]):
        return NotImplemented  # NumPy's error
    places = sorting.searchsorted(edges[::-1], values, right=not right)
    return elementwise.subtract(edges.size, places)


def _ascends(given: Operand, edges: Mat) -> bool:
    """Return whether no edge is less than the one before it, decided by data on the host."""
    if not isinstance(given, Mat):
        at = np.asarray(given)
        return bool(np.all(at[1:] >= at[:-1]))
    return bool(truth.all_true(elementwise.greater_equal(edges[1:], edges[:-1])))


@implements("bincount", of_many=True)
def numpy_bincount(x: Operand, /, weights: Operand = None, minlength: int = 0) -> Result:
    if not isinstance(x, Mat) or x.ndim != 1 or not (
            computes_elsewhere(x) or (weights is None and x.size >= _MANY)):
        return NotImplemented
    if (not np.can_cast(x.dtype, np.int64, "safe") or isinstance(minlength, bool)
            or not isinstance(minlength, int | np.integer) or minlength < 0):
        return NotImplemented
    if weights is not None:
        weights = as_mat(weights, "weights")
        if weights.shape != x.shape or weights.dtype.kind == "c" or not x.size:
            return NotImplemented
    found = sorting.bincount(x, weights, int(minlength))
    return NotImplemented if found is None else found


# Different elements


# the parameters are NumPy's
@implements("unique", of_many=True)
def numpy_unique(ar: Operand, return_index: bool = False, return_inverse: bool = False,
                 return_counts: bool = False, axis: int | None = None, *, equal_nan: bool = True,
                 sorted: bool = True) -> Result:
    if axis is not None and not (return_index or return_inverse or return_counts):
        return _different_items(ar, axis)
    found = (_different(ar, equal_nan, return_index or return_inverse, return_index)
             if axis is None else None)
    if found is None:
        return NotImplemented
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
    if not _is_there(x) or type(axis) is not int or not -x.ndim <= axis < x.ndim:
        return NotImplemented
    items = with_axis_moved(x, axis, 0)
    rows = items.contiguous().reshape((items.shape[0], -1)) if x.size else items
    if not x.size or rows.shape[1] > _MOST_KEYS or x.dtype.kind not in "iub":
        return NotImplemented
    order = sorting.lexical_order([rows[:, k] for k in range(rows.shape[1] - 1, -1, -1)], 0)
    ordered = taking.take(rows, order, 0)
    if ordered is None:
        return NotImplemented
    differs = truth.any_true(elementwise.not_equal(ordered[1:], ordered[:-1]), 1)
    first = concat([new_like(x, (1,), differs.dtype).fill_(True), differs])
    found = taking.compress(first, ordered, 0)
    if found is None:
        return NotImplemented
    return with_axis_moved(found.reshape((-1, *items.shape[1:])), 0, axis).contiguous()


def _is_there(x: Operand) -> bool:
    return isinstance(x, Mat) and computes_elsewhere(x)


def _different(x: Operand, equal_nan: bool, ordered: bool,
               indexed: bool = False) -> sorting.Different | sorting.Counted | None:
    """Return the different elements of `x`, on the host of integers that counting is faster for,
    whose indices it does not find; None if they are left to NumPy.
    """
    if _is_there(x):
        return sorting.Different(x.contiguous().reshape(-1), equal_nan, ordered)
    if isinstance(x, Mat) and x.size >= _MANY and not indexed and np.can_cast(x.dtype, np.int64):
        return sorting.Counted.of(x.contiguous().reshape(-1))
    return None


@implements("unique_values")
def numpy_unique_values(x: Operand) -> Result:
    found = _different(x, False, False)
    return NotImplemented if found is None else found.values()


@implements("unique_counts")
def numpy_unique_counts(x: Operand) -> Result:
    found = _different(x, False, False)
    if found is None:
        return NotImplemented
    return _result("UniqueCountsResult", found.values(), found.counts())


@implements("unique_inverse")
def numpy_unique_inverse(x: Operand) -> Result:
    found = _different(x, False, True)
    if found is None:
        return NotImplemented
    return _result("UniqueInverseResult", found.values(), found.inverse(x.shape))


@implements("unique_all")
def numpy_unique_all(x: Operand) -> Result:
    if not _is_there(x):
        return NotImplemented
    found = sorting.Different(x.contiguous().reshape(-1), False, True)
    return _result("UniqueAllResult", found.values(), found.indices(), found.inverse(x.shape),
                   found.counts())


def _result(name: str, *parts: Mat) -> Result:
    """Return NumPy's named tuple with these Mats."""
    kind: Any = getattr(np.lib._arraysetops_impl, name)
    return kind(*parts)


@implements("sort_complex")
def numpy_sort_complex(a: Operand) -> Result:
    if not _is_there(a) or not a.ndim:
        return NotImplemented
    narrow = a.dtype.kind in "iu" and a.dtype.itemsize <= 2
    found = sorting.sort(a)
    return found if a.dtype.kind == "c" else found.astype(np.complex64 if narrow else np.complex128)
