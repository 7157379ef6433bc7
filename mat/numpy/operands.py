"""Operands of NumPy's functions and ufuncs: their conversion to Mats, whether they compute on the
device in use, and conversions that functions for devices share.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeGuard

import numpy as np

from ..devices.in_use import computes_elsewhere
from ..errors import DTypeError, ShapeError
from ..layout.shapes import Ints, as_axis
from ..matrix.mat import Mat
from ..ops.engine.by_numpy import LeftToNumPy, leave_if
from ..ops.engine.loops import loop_dtypes
from ..ops.engine.operands import as_mat, of_array
from ..ops.engine.operands import as_mats as mats_of
from ..support.dtypes import is_known_dtype
from ..support.types import Arguments, Array, DType, Function, Keywords, Operand
from .registry import Result

FLOATS = "efd"  # NumPy's, of real numbers
REAL = (int, float)
_ONLY_MATS = {Mat}
_SEQUENCES = (list, tuple)


def is_mat_or_array(value: object) -> TypeGuard[Mat | Array]:
    """Return whether `value` is a Mat, or an array of a dtype that a Mat can have."""
    return isinstance(value, Mat) or (type(value) is np.ndarray and is_known_dtype(value.dtype))


def is_mat_or_none(out: object) -> bool:
    """Return whether operations of `mat` accept `out` as their ``out=``."""
    return out is None or isinstance(out, Mat)


def can_hold_sums(out: object, of: DType) -> bool:
    """Return whether reductions of elements of that dtype write NumPy's results to `out`.

    NumPy computes in the dtype of `out`, which makes a difference for bool and for another kind.
    """
    if out is None:
        return True
    if not isinstance(out, Mat) or out.dtype.kind == "b":
        return False
    return of.kind == "c" or np.can_cast(np.int64 if of.kind == "b" else of, out.dtype, "same_kind")


def as_mats(values: object) -> list[Mat]:
    """Return the operands, of which there are some, as Mats; leave others to NumPy."""
    if not isinstance(values, _SEQUENCES) or not values:
        raise LeftToNumPy
    found: list[Mat] = []
    for x in values:
        if isinstance(x, Mat):
            found.append(x)
        else:
            leave_if(not is_mat_or_array(x))
            found.append(of_array(x))
    return found


def as_mat_if_possible(value: object) -> Operand:
    """Return an array-like as a Mat; as it is, for NumPy, if a Mat cannot have its elements."""
    if isinstance(value, Mat) or value is None or type(value) is str:
        return value
    try:
        return as_mat(value, "an operand")
    except (DTypeError, ShapeError):
        return value


def as_mats_if_possible(values: Iterable[object]) -> list[Operand]:
    """Return the values as Mats, numbers adapted, or all as they are if one cannot be."""
    try:
        return [*mats_of(values, "an operand")]
    except (DTypeError, ShapeError):
        return [*values]


# On devices


def is_there(x: object) -> TypeGuard[Mat]:
    """Return whether `x` is a Mat for operations on a device."""
    return isinstance(x, Mat) and computes_elsewhere(x)


def mats_there(*operands: Operand) -> list[Mat]:
    """Return operands as Mats on a device; leave others to NumPy."""
    if set(map(type, operands)) == _ONLY_MATS:
        leave_if(not computes_elsewhere(*operands))
        return list(operands)
    leave_if(not any(map(is_there, operands)))
    mats = [x for x in map(as_mat_if_possible, operands) if isinstance(x, Mat)]
    leave_if(len(mats) < len(operands) or not computes_elsewhere(*mats))
    return mats


def with_mats_there(count: int, implementation: Function, args: Arguments,
                    kwargs: Keywords) -> tuple[Arguments, Keywords]:
    """Return the arguments, the first `count` as Mats on a device, or leave them to NumPy."""
    if not kwargs and len(args) >= count:
        return (*mats_there(*args[:count]), *args[count:]), kwargs
    names = implementation.__code__.co_varnames[len(args):count]
    mats = mats_there(*args[:count], *(kwargs[n] for n in names if n in kwargs))
    leave_if(len(mats) < count)
    return (*mats, *args[count:]), {k: v for k, v in kwargs.items() if k not in names}


def different_axes(axis: Operand, ndim: int) -> Ints:
    """Return axes, all of them for None, counted from the first one."""
    given = tuple(range(ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    leave_if(not all(type(k) is int and -ndim <= k < ndim for k in given))
    found = tuple(as_axis(k, ndim) for k in given)
    leave_if(len(set(found)) < len(found))
    return found


def one_axis(x: Mat, axis: Operand) -> int:
    """Return which axis of `x` an integer is, counted from the first one."""
    rank = len(x.layout.shape)
    leave_if(type(axis) is not int or not -rank <= axis < rank)
    return axis % rank


def as_dtype(x: Mat, dtype: DType) -> Mat:
    """Return `x` itself, or converted."""
    return x if x.dtype == dtype else x.astype(dtype)


def keeps_parts(x: Mat, dtype: DType) -> bool:
    """Return whether elements can be converted to `dtype`, a Mat's, with their imaginary parts."""
    return is_known_dtype(dtype) and (x.dtype.kind != "c" or dtype.kind == "c")


def as_floats(x: Mat) -> Mat:
    """Return integers and booleans as float64, as NumPy's functions of real numbers do."""
    return x.astype(np.float64) if x.dtype.kind in "biu" else x


def with_axis_moved(x: Mat, source: int, to: int) -> Mat:
    """Return the view of `x` with an axis at another place; both may be counted from the end."""
    order = [k for k in range(x.ndim) if k != source % x.ndim]
    order.insert(to % x.ndim, source % x.ndim)
    return x.permute(tuple(order))


def in_floats(ufunc: np.ufunc, function: Function, *operands: Operand,
              wide: DType | None = None) -> Result:
    """Return ``function(*operands)``, with all Mats in the dtype of `ufunc`'s loop.

    That is float32 for float16, or any dtype `wide`, whose results are rounded. Where `ufunc`
    computes in several, or in complex numbers, NumPy is to.
    """
    try:
        dtype, *_ = found = _loop(ufunc, operands)
    except (DTypeError, TypeError):
        raise LeftToNumPy from None
    leave_if(dtype.char not in FLOATS or any(d != dtype for d in found[:ufunc.nin]))
    wide = wide or (np.dtype(np.float32) if dtype.char == "e" else dtype)
    result = function(*(as_dtype(x, wide) if isinstance(x, Mat) else x for x in operands))
    if wide == dtype:
        return result
    if isinstance(result, tuple):
        return tuple(as_dtype(x, dtype) if x.dtype == wide else x for x in result)
    return as_dtype(result, dtype)


def _loop(ufunc: np.ufunc, operands: Arguments) -> tuple[DType, ...]:
    """Return the dtypes that `ufunc` converts operands to, and those of its results."""
    if ufunc.nout == 1:
        return loop_dtypes(ufunc, *operands)
    return ufunc.resolve_dtypes((*(x.dtype for x in operands), *(None,) * ufunc.nout))
