"""Operands that compute on the device in use, and conversions shared by functions for devices."""

from __future__ import annotations

from typing import TypeGuard

import numpy as np

from ....devices.in_use import computes_elsewhere
from ....errors import DTypeError
from ....matrix.mat import Mat
from ....ops.declare_elementwise import loop_dtypes
from ....support.types import Arguments, DType, Function, Operand
from ..operands import as_mat_if_possible
from ..registry import Result

FLOATS = "efd"  # NumPy's, of real numbers
REAL = (int, float)


def is_there(x: object) -> TypeGuard[Mat]:
    """Return whether `x` is a Mat for operations on a device."""
    return isinstance(x, Mat) and computes_elsewhere(x)


def mats_there(*operands: Operand) -> list[Mat]:
    """Return operands as Mats; none if they are to be left to NumPy."""
    if not any(isinstance(x, Mat) and computes_elsewhere(x) for x in operands):
        return []
    mats = [x for x in map(as_mat_if_possible, operands) if isinstance(x, Mat)]
    return mats if len(mats) == len(operands) and computes_elsewhere(*mats) else []


def as_dtype(x: Mat, dtype: DType) -> Mat:
    """Return `x` itself, or converted."""
    return x if x.dtype == dtype else x.astype(dtype)


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
        return NotImplemented
    if dtype.char not in FLOATS or any(d != dtype for d in found[:ufunc.nin]):
        return NotImplemented
    wide = wide or (np.dtype(np.float32) if dtype.char == "e" else dtype)
    result = function(*(as_dtype(x, wide) if isinstance(x, Mat) else x for x in operands))
    if wide == dtype or result is NotImplemented:
        return result
    if isinstance(result, tuple):
        return tuple(as_dtype(x, dtype) if x.dtype == wide else x for x in result)
    return as_dtype(result, dtype)


def _loop(ufunc: np.ufunc, operands: Arguments) -> tuple[DType, ...]:
    """Return the dtypes that `ufunc` converts operands to, and those of its results."""
    if ufunc.nout == 1:
        return loop_dtypes(ufunc, *operands)
    return ufunc.resolve_dtypes((*(x.dtype for x in operands), *(None,) * ufunc.nout))
