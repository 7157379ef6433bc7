"""Data types of the standard: the types themselves, what they promote to, and what they can
hold.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..errors import DTypeError
from ..matrix.mat import Mat
from ..support.dtypes import as_dtype, promoted
from .arguments import as_mat, is_python_number, like

__all__ = [
    "astype", "bool", "can_cast", "complex64", "complex128", "finfo", "float32", "float64", "iinfo",
    "int8", "int16", "int32",
    "int64", "isdtype", "result_type", "uint8", "uint16", "uint32", "uint64",
]

# NumPy's types, as in its own namespace: they are equal to the dtypes of Mats. Dtypes themselves
# would not do, because numpy.dtype("float64") == None holds, which clients run into who look for
# a dtype that may be missing.
bool = np.bool_
int8, int16, int32, int64 = np.int8, np.int16, np.int32, np.int64
uint8, uint16, uint32, uint64 = np.uint8, np.uint16, np.uint32, np.uint64
float32, float64 = np.float32, np.float64
complex64, complex128 = np.complex64, np.complex128


def astype(x: Any, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Any:
    """The elements of `x` converted to `dtype`; x itself where nothing changes and `copy` is
    False.
    """
    x, wanted = as_mat(x), as_dtype(dtype)
    if device is not None:
        x = x.to_device(device)
    if not copy and x.dtype == wanted:
        return x
    return like(x.astype(wanted), x, None)


def can_cast(from_: Any, to: Any, /) -> Any:
    """Whether every number of the dtype `from_` is also one of `to`."""
    return np.can_cast(_dtype_of(from_), as_dtype(to))


def _dtype_of(value: Any) -> Any:
    """The dtype of an array, or that which is given."""
    return value.dtype if isinstance(value, Mat | np.ndarray | np.generic) else as_dtype(value)


def isdtype(dtype: Any, kind: Any) -> Any:
    """Whether `dtype` is of the `kind`: a dtype, a word as "real floating", or a tuple of them."""
    try:
        return np.isdtype(as_dtype(dtype), kind)
    except (TypeError, ValueError) as error:
        raise DTypeError(f"kind is a dtype, a kind of dtypes or a tuple of them, got {kind!r}: "
                         f"{error}") from None


def result_type(*arrays_and_dtypes: Any) -> Any:
    """The dtype that arrays, dtypes and Python numbers together promote to; numbers adapt."""
    return promoted("result_type",
                    *(v if is_python_number(v) else _dtype_of(v) for v in arrays_and_dtypes))


class FloatInfo(NamedTuple):
    """Limits of a floating-point dtype, as Python numbers; those of a complex one are of its
    parts.
    """

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype[Any]


class IntInfo(NamedTuple):
    """Limits of an integer dtype, as Python numbers."""

    bits: int
    max: int
    min: int
    dtype: np.dtype[Any]


def finfo(type: Any, /) -> FloatInfo:
    """The limits of a floating-point dtype, or of that of an array.

    >>> from mat import array_api as xp
    >>> xp.finfo(xp.float32).bits
    32
    """
    dtype = _dtype_of(type)
    try:
        found = np.finfo(dtype)
    except ValueError:
        raise DTypeError(f"finfo wants a floating-point dtype, got {dtype}; iinfo is for integers") from None
    return FloatInfo(int(found.bits), float(found.eps), float(found.max), float(found.min),
                     float(found.smallest_normal),
                     found.dtype)


def iinfo(type: Any, /) -> IntInfo:
    """The limits of an integer dtype, or of that of an array.

    >>> from mat import array_api as xp
    >>> xp.iinfo(xp.int8).max
    127
    """
    dtype = _dtype_of(type)
    if dtype.kind not in "iu":
        raise DTypeError(f"iinfo wants an integer dtype, got {dtype}; finfo is for floating-point "
                         "numbers")
    found = np.iinfo(dtype)
    return IntInfo(int(found.bits), int(found.max), int(found.min), dtype)
