"""NumPy's functions that join arrays along an axis, add elements, or leave some out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from ...core.observers import SIZE
from ...devices.in_use import computes_elsewhere
from ...layout.orders import only_by_columns
from ...matrix.creation import adopted
from ...matrix.joined import joined_along, new_transposed, stacked_along
from ...matrix.mat import Mat
from ...ops.engine.by_numpy import leave_if
from ...ops.primitives import joining, reduce
from ...ops.primitives.selecting import is_true, number_as_mat
from ...ops.primitives.shape import along
from ...support.dtypes import represents
from ...support.plugins import at_first_use
from ...support.types import Array, DTypeLike, Function, Operand
from ..operands import (
    as_dtype,
    as_mat_if_possible,
    as_mats,
    is_mat_or_array,
    is_mat_or_none,
    is_there,
    with_axis_moved,
)
from ..registry import Casting, Result, implements

selection = at_first_use("numpy.composites.selection")


def _join(arrays: object, axis: Operand, out: Operand, dtype: DTypeLike, casting: Casting,
          join: Callable[[list[Mat], int], Mat]) -> Result:
    """Call ``join(parts, axis)`` with the arrays as Mats."""
    parts = as_mats(arrays)
    leave_if(dtype is not None or casting != "same_kind" or type(axis) is not int)
    leave_if(not is_mat_or_none(out)
             or (out is not None and not np.can_cast(np.result_type(*(m.dtype for m in parts)),
             out.dtype, casting)))
    return join(parts, axis)


@implements("concatenate", mats=0)
def numpy_concatenate(arrays: Operand, /, axis: int | None = 0, out: Operand = None, *,
                      dtype: DTypeLike = None, casting: Casting = "same_kind") -> Result:
    if axis is None and out is None and dtype is None and casting == "same_kind":
        parts = as_mats(arrays)
        leave_if(not computes_elsewhere(*parts))
        return joining.concat(parts, None)
    return _join(arrays, axis, out, dtype, casting,
                 lambda parts, axis: joining.concat(parts, axis, out))


@implements("stack", mats=0)
def numpy_stack(arrays: Operand, axis: int = 0, out: Operand = None, *, dtype: DTypeLike = None,
                casting: Casting = "same_kind") -> Result:
    return _join(arrays, axis, out, dtype, casting,
                 lambda parts, axis: joining.stack(parts, axis, out))


def _join_raised(tup: Operand, raised: Callable[[Mat], Mat], axis: int,
                 dtype: DTypeLike = None, casting: Casting = "same_kind") -> Result:
    """Give all arrays the rank of the result, and join them along that axis of it."""
    return _join(tup, axis, None, dtype, casting,
                 lambda parts, k: joining.concat(list(map(raised, parts)), k))


def _as_matrix(m: Mat, axis: int) -> Mat:
    """Return a Mat of at most one axis as a matrix of one row or, with `axis` 1, one column."""
    if m.ndim > 1:
        return m
    return m.expand_dims(axis) if m.ndim else m.reshape(1, 1)


@implements("vstack", mats=0)
def numpy_vstack(tup: Operand, *, dtype: DTypeLike = None,
                 casting: Casting = "same_kind") -> Result:
    if dtype is None and casting == "same_kind":
        found = joined_along(tup, 0) if _are_matrices(tup) else stacked_along(tup, 0)
        if found is not None and found.ndim > 1:
            return found
    return _join_raised(tup, partial(_as_matrix, axis=0), 0, dtype, casting)


def _are_matrices(tup: Operand) -> bool:
    """Return whether the first of several Mats has two axes or more."""
    return type(tup) in _SEQUENCES and bool(tup) and type(tup[0]) is Mat and tup[0].ndim > 1


_SEQUENCES = frozenset((list, tuple))


@implements("hstack", mats=0)
def numpy_hstack(tup: Operand, *, dtype: DTypeLike = None,
                 casting: Casting = "same_kind") -> Result:
    if dtype is None and casting == "same_kind":
        found = joined_along(tup, 1 if _are_matrices(tup) else 0)
        if found is not None:
            return found
    return _join(tup, 0, None, dtype, casting, _joined_beside)


def _joined_beside(parts: list[Mat], _: int) -> Mat:
    """Join along the second axis; along the first one if there is no other."""
    whole = [m if m.layout.shape else m.expand_dims(0) for m in parts]
    return joining.concat(whole, 0 if whole[0].ndim == 1 else 1)


@implements("dstack", mats=0)
def numpy_dstack(tup: Operand) -> Result:
    if _are_matrices(tup):
        found = (stacked_along if tup[0].ndim == 2 else joined_along)(tup, 2)
        if found is not None:
            return found
    raised: Function = np.atleast_3d
    return _join_raised(tup, raised, 2)


@implements("column_stack", mats=0)
def numpy_column_stack(tup: Operand) -> Result:
    found = joined_along(tup, 1) if _are_matrices(tup) else stacked_along(tup, 1)
    if found is not None and found.ndim == 2:
        return found
    return _join_raised(tup, partial(_as_matrix, axis=1), 1)


# Elements added or left out. On devices indices of the result are found on the host, by NumPy's
# function for the numbers of the elements, and elements are gathered


def taken(x: Mat, places: Array, axis: int) -> Result:
    """Return the items of `x` at places of an axis, all in range."""
    return selection.take(x, adopted(np.ascontiguousarray(places, np.int64)), axis)


def repeated_each(x: Mat, counts: Array, axis: Operand) -> Result:
    """Return the items along an axis, each repeated as often as its count says."""
    leave_if(axis is not None and type(axis) is not int)
    x, k = selection.over_axis(x.contiguous() if axis is None else x, axis)
    leave_if(counts.dtype.kind not in "iu" or counts.shape not in ((1,), (x.shape[k],))
             or (counts.size and counts.min() < 0))  # NumPy's errors
    return taken(x, np.repeat(np.arange(x.shape[k]), counts), k)


@implements("append", mats=0)
def numpy_append(arr: Operand, values: Operand, axis: int | None = None) -> Result:
    if is_there(arr):
        values = as_mat_if_possible(values)
    mats = as_mats([arr, values])
    return joining.concat([m.ravel() for m in mats] if axis is None else mats, axis or 0)


@implements("delete")
def numpy_delete(arr: Operand, obj: Operand, axis: int | None = None) -> Result:
    if is_there(arr) and not isinstance(obj, int | slice):
        x, k = selection.over_axis(arr, axis)
        places = obj if isinstance(obj, list | tuple) else np.asarray(obj)
        return taken(x, np.delete(np.arange(x.shape[k]), places), k)
    leave_if(not isinstance(obj, int | slice) or isinstance(obj, bool))
    x, k = selection.over_axis(arr, axis)
    removed = range(x.shape[k])[obj] if isinstance(obj, slice) else _one_of(x.shape[k], obj)
    if removed is None or abs(removed.step) != 1:
        leave_if(not (is_there(arr) and isinstance(obj, slice)))
        return _taken_in_order(x, np.delete(np.arange(x.shape[k]), obj), k)
    if not removed:
        return x.copy()
    low, high = min(removed), max(removed) + 1
    return _joined(x, k, slice(None, low), [], slice(high, None))


@implements("insert")
def numpy_insert(arr: Operand, obj: Operand, values: Operand, axis: int | None = None) -> Result:
    if type(obj) is not int or (axis is not None and arr.ndim != 1):
        leave_if(not is_there(arr))
        return _inserted(arr, obj, values, axis)
    x, k = selection.over_axis(arr, axis)
    if isinstance(values, int | float) and represents(x.dtype, values):
        added: list[Mat] = [number_as_mat(values, x.dtype, x).expand_dims(0)]
    else:
        added = as_mats([values]) if is_mat_or_array(values) else []
    length = x.shape[k]
    if not added or added[0].ndim != 1 or added[0].dtype != x.dtype or not (
            -length <= obj <= length):
        leave_if(not is_there(arr))
        return _inserted(arr, obj, values, axis)
    at = obj + length if obj < 0 else obj
    return _joined(x, k, slice(None, at), added, slice(at, None))


def _inserted(x: Mat, obj: Operand, values: Operand, axis: int | None) -> Result:
    """Return `x` with values before places of an axis: several before one, or one before each."""
    x, k = selection.over_axis(x, axis)
    if isinstance(obj, slice):
        obj = np.arange(*obj.indices(x.shape[k]))
    at, new = np.asarray(obj), as_mat_if_possible(values)
    leave_if(at.size and at.dtype.kind not in "iu")  # masks, and NumPy's error
    leave_if(not isinstance(new, Mat) or new.ndim > x.ndim
             or not np.can_cast(new.dtype, x.dtype, "unsafe"
             if x.dtype.kind == "c" else "same_kind"))
    new = as_dtype(new, x.dtype).reshape((1,) * (x.ndim - new.ndim) + new.shape)
    if not at.ndim:
        new = with_axis_moved(new, 0, k)
    count = at.size if at.size != 1 else new.shape[k]
    n, shape = x.shape[k], (*x.shape[:k], count, *x.shape[k + 1:])
    order = np.insert(np.arange(n), obj if at.size != 1 else int(at.item()),
                      np.arange(n, n + count))
    return _taken_in_order(joining.concat([x, new.broadcast_to(shape)], k), order, k)


def _taken_in_order(x: Mat, places: Array, axis: int) -> Result:
    """Return the items of `x` at places of an axis, stored by columns if those of `x` are."""
    if not only_by_columns(x.layout):
        return taken(x, places, axis)
    return new_transposed(taken(x.T, places, x.ndim - 1 - axis))


@implements("trim_zeros")
def numpy_trim_zeros(filt: Operand, trim: str = "fb", axis: Operand = None) -> Result:
    leave_if(filt.ndim != 1 or axis not in (None, 0, -1) or not isinstance(trim, str)
             or trim.lower() not in ("f", "b", "fb", "bf"))
    if not filt.size:
        return filt[:0]
    mask, sides = is_true(filt), trim.lower()
    ends = joining.stack([reduce.argmax(mask), reduce.argmax(mask[::-1]),
                          as_dtype(reduce.any_true(mask), np.dtype(np.int64))])
    with ends._waits(SIZE):
        before, behind, some = ends.tolist()
    return filt[before * ("f" in sides):filt.size - behind * ("b" in sides)] if some else filt[:0]


def _one_of(length: int, index: int) -> range | None:
    return range(length)[index:][:1] if -length <= index < length else None


def _joined(x: Mat, axis: int, head: slice, middle: Sequence[Mat], tail: slice) -> Mat:
    """Return parts of `x` along an axis joined around others, in the order of `x`."""
    if only_by_columns(x.layout):
        others = [m.T for m in middle]
        return new_transposed(_joined(x.T, x.ndim - 1 - axis, head, others, tail))
    return joining.concat([along(x, axis, head), *middle, along(x, axis, tail)], axis)
