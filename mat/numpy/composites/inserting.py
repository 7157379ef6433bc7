"""NumPy's functions that add elements or leave some out.

On devices indices of the result are found on the host, by NumPy's function for the numbers of the
elements, and elements are gathered.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...layout.shapes import as_axis
from ...matrix.creation import adopted
from ...matrix.mat import Mat
from ...ops.engine.by_numpy import leave_if, or_leave
from ...ops.indexing.gathering import positions_of
from ...ops.indexing.taking import take
from ...ops.primitives import joining
from ...ops.primitives.parts import along
from ...ops.primitives.selecting import is_true, number_as_mat
from ...support.dtypes import represents
from ...support.types import Array, Operand
from ..operands import as_mat_if_possible, as_mats, is_mat_or_array
from ..registry import Result, implements
from .there import as_dtype, is_there, with_axis_moved


def taken(x: Mat, places: Array, axis: int) -> Result:
    """Return the items of `x` at places of an axis, all in range."""
    return or_leave(take(x, adopted(np.ascontiguousarray(places, np.int64)), axis))


def repeated_each(x: Mat, counts: Array, axis: Operand) -> Result:
    """Return the items along an axis, each repeated as often as its count says."""
    leave_if(axis is not None and type(axis) is not int)
    x, k = _along(x.contiguous() if axis is None else x, axis)
    leave_if(counts.dtype.kind not in "iu" or counts.shape not in ((1,), (x.shape[k],))
             or (counts.size and counts.min() < 0))  # NumPy's errors
    return taken(x, np.repeat(np.arange(x.shape[k]), counts), k)


@implements("append", mats=0)
def numpy_append(arr: Operand, values: Operand, axis: int | None = None) -> Result:
    if is_there(arr):
        values = as_mat_if_possible(values)
    return joining.concat(as_mats([arr, values]), axis)


@implements("delete")
def numpy_delete(arr: Operand, obj: Operand, axis: int | None = None) -> Result:
    if is_there(arr) and not isinstance(obj, int | slice):
        x, k = _along(arr, axis)
        places = obj if isinstance(obj, list | tuple) else np.asarray(obj)
        return taken(x, np.delete(np.arange(x.shape[k]), places), k)
    leave_if(not isinstance(obj, int | slice) or isinstance(obj, bool))
    x, k = _along(arr, axis)
    removed = range(x.shape[k])[obj] if isinstance(obj, slice) else _one_of(x.shape[k], obj)
    if removed is None or abs(removed.step) != 1:
        leave_if(not (is_there(arr) and isinstance(obj, slice)))
        return taken(x, np.delete(np.arange(x.shape[k]), obj), k)
    if not removed:
        return x.copy()
    low, high = min(removed), max(removed) + 1
    return _joined(x, k, slice(None, low), [], slice(high, None))


@implements("insert")
def numpy_insert(arr: Operand, obj: Operand, values: Operand, axis: int | None = None) -> Result:
    if type(obj) is not int or (axis is not None and arr.ndim != 1):
        leave_if(not is_there(arr))
        return _inserted(arr, obj, values, axis)
    x, k = _along(arr, axis)
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
    x, k = _along(x, axis)
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
    return taken(joining.concat([x, new.broadcast_to(shape)], k), order, k)


@implements("trim_zeros", on_device=1)
def numpy_trim_zeros(filt: Operand, trim: str = "fb", axis: Operand = None) -> Result:
    leave_if(filt.ndim != 1 or axis not in (None, 0, -1) or not isinstance(trim, str)
             or trim.lower() not in ("f", "b", "fb", "bf"))
    places = positions_of(is_true(filt))
    if not places.size:
        return filt[:0]
    sides = trim.lower()
    first = places._size_at(0) if "f" in sides else 0
    return filt[first:places._size_at(-1) + 1 if "b" in sides else filt.size]


def _along(x: Mat, axis: int | None) -> tuple[Mat, int]:
    return (x.reshape(-1), 0) if axis is None else (x, as_axis(axis, x.ndim))


def _one_of(length: int, index: int) -> range | None:
    return range(length)[index:][:1] if -length <= index < length else None


def _joined(x: Mat, axis: int, head: slice, middle: Sequence[Mat], tail: slice) -> Mat:
    return joining.concat([along(x, axis, head), *middle, along(x, axis, tail)], axis)
