"""NumPy's functions of indices: by shapes only, and between numbers of elements and indices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...layout.shapes import Ints
from ...matrix.creation import adopted
from ...matrix.mat import Mat
from ...ops.engine.by_numpy import leave_if
from ...ops.indexing.advanced import all_within
from ...ops.primitives import ufuncs
from ...support.types import Array, Function, Operand
from ..registry import Result, implements
from .there import as_dtype, is_there, mats_there

_INDICES = np.dtype(np.int64)


def _by_shape(function: Callable[..., tuple[Array, ...]], arr: Operand, *others: int) -> Result:
    """Call NumPy's function with an array of the shape of a Mat, without memory."""
    found = function(np.broadcast_to(np.zeros((), arr.dtype), arr.shape), *others)
    return tuple(map(adopted, found))


@implements("tril_indices_from", on_device=1)
def numpy_tril_indices_from(arr: Operand, k: int = 0) -> Result:
    return _by_shape(np.tril_indices_from, arr, k)


@implements("triu_indices_from", on_device=1)
def numpy_triu_indices_from(arr: Operand, k: int = 0) -> Result:
    return _by_shape(np.triu_indices_from, arr, k)


@implements("diag_indices_from", on_device=1)
def numpy_diag_indices_from(arr: Operand) -> Result:
    return _by_shape(np.diag_indices_from, arr)


def _shape(value: Operand) -> Ints:
    """Return lengths as a tuple; an empty one if they are none."""
    found = tuple(value) if isinstance(value, list | tuple) else (value,)
    return found if all(type(n) is int and n > 0 for n in found) else ()


@implements("unravel_index", on_device=1)
def numpy_unravel_index(indices: Operand, shape: Operand, order: str = "C") -> Result:
    lengths = _shape(shape)
    leave_if(not lengths or order not in ("C", "F")
             or (indices.dtype.kind not in "iu" or indices.dtype == np.uint64))
    at = as_dtype(indices, _INDICES)
    leave_if(not all_within(at, 0, int(np.prod(lengths))))  # NumPy's error
    found: list[Mat] = []
    for n in lengths[::-1] if order == "C" else lengths:
        found.append(ufuncs.remainder(at, n))
        at = ufuncs.floor_divide(at, n)
    return tuple(found[::-1] if order == "C" else found)


@implements("ravel_multi_index", mats=0)
def numpy_ravel_multi_index(multi_index: Operand, dims: Operand, mode: str = "raise",
                            order: str = "C") -> Result:
    lengths = _shape(dims)
    leave_if(not isinstance(multi_index, list | tuple))
    mats = mats_there(*multi_index)
    leave_if(len(mats) != len(lengths) or mode != "raise" or order not in ("C", "F"))
    leave_if(any(m.dtype.kind not in "iu" or m.dtype == np.uint64 for m in mats))
    mats = [as_dtype(m, _INDICES) for m in mats]
    # NumPy's error
    leave_if(not all(all_within(m, 0, n) for m, n in zip(mats, lengths, strict=True)))
    steps = np.cumprod([1, *(lengths[:0:-1] if order == "C" else lengths[:-1])]).tolist()
    found: Mat | None = None
    for m, step in zip(mats, steps[::-1] if order == "C" else steps, strict=True):
        found = m * step if found is None else found + m * step
    return found


@implements("apply_over_axes", mats=0)
def numpy_apply_over_axes(func: Function, a: Operand, axes: Operand) -> Result:
    over = tuple(axes) if isinstance(axes, list | tuple) else (axes,)
    leave_if(not is_there(a) or not all(type(k) is int and -a.ndim <= k < a.ndim for k in over))
    found = a
    for k in over:
        axis = k % a.ndim
        part = func(found, axis)
        leave_if(not isinstance(part, Mat))
        found = part if part.ndim == a.ndim else part.expand_dims(axis)
        leave_if(found.ndim != a.ndim)
    return found
