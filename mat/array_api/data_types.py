"""Data types of the standard: the types themselves, their promotion and their limits."""

from __future__ import annotations

import builtins
from typing import NamedTuple, TypeAlias

import numpy as np

from ..devices.device import DeviceLike
from ..errors import DTypeError
from ..matrix.mat import Mat
from ..support.dtypes import as_dtype, promoted
from ..support.types import ArrayLike, DType, DTypeLike, Operand
from .arguments import is_python_number, like, mat_of

__all__ = [
    "astype", "bool", "can_cast", "complex64", "complex128", "finfo", "float32", "float64", "iinfo",
    "int8", "int16", "int32", "int64", "isdtype", "result_type", "uint8", "uint16",
    "uint32", "uint64",
]

_Flag: TypeAlias = builtins.bool  # `bool` is a dtype in this module

# NumPy's types, as in its own namespace: they are equal to the dtypes of Mats. Dtypes themselves
# would not do: numpy.dtype("float64") == None is true, and clients compare with None when they look
# for a dtype that may be missing.
bool = np.bool_
int8: type[np.int8] = np.int8
int16: type[np.int16] = np.int16
int32: type[np.int32] = np.int32
int64: type[np.int64] = np.int64
uint8: type[np.uint8] = np.uint8
uint16: type[np.uint16] = np.uint16
uint32: type[np.uint32] = np.uint32
uint64: type[np.uint64] = np.uint64
float32: type[np.float32] = np.float32
float64: type[np.float64] = np.float64
complex64: type[np.complex64] = np.complex64
complex128: type[np.complex128] = np.complex128


def astype(x: ArrayLike, dtype: DTypeLike, /, *, copy: _Flag = True,
           device: DeviceLike = None) -> Mat:
    """Return the elements of `x` converted to `dtype`.

    Parameters
    ----------
    x : array
        Of any shape.
    dtype : dtype
        The dtype of the result.
    copy : bool
        Whether to copy where nothing changes.
    device : str or Device, optional
        ``"cpu"``, or the device in use; that of `x` by default.

    Returns
    -------
    Mat
        Of the shape of `x`; `x` itself where nothing changes and `copy` is False.
    """
    mat, wanted = mat_of(x), as_dtype(dtype)
    if device is not None:
        mat = mat.to_device(device)
    if not copy and mat.dtype == wanted:
        return mat
    return like(mat.astype(wanted), mat, None)


def can_cast(from_: ArrayLike | DTypeLike, to: DTypeLike, /) -> _Flag:
    """Return whether every number of the dtype `from_` is also one of the dtype `to`.

    Parameters
    ----------
    from_ : dtype or array
        A dtype, or an array of it.
    to : dtype
        Another dtype.

    Returns
    -------
    bool
        By NumPy's rule "safe".
    """
    return np.can_cast(_dtype_of(from_), as_dtype(to))


def _dtype_of(value: Operand) -> DType:
    """Return the dtype of an array, or a dtype itself."""
    if isinstance(value, Mat | np.ndarray | np.generic):
        return value.dtype
    return as_dtype(value)


def isdtype(dtype: DTypeLike, kind: DTypeLike | tuple[DTypeLike, ...]) -> _Flag:
    """Return whether `dtype` is of the `kind`.

    Parameters
    ----------
    dtype : dtype
        Any dtype of a Mat.
    kind : dtype, str or tuple of them
        A dtype, a kind of the standard such as ``"real floating"``, or several.

    Returns
    -------
    bool
        Whether it is of one of the kinds.
    """
    try:
        return np.isdtype(as_dtype(dtype), kind)  # type: ignore[arg-type]  # NumPy judges it
    except (TypeError, ValueError) as error:
        raise DTypeError(f"kind is a dtype, a kind of dtypes or a tuple of them, got {kind!r}: "
                         f"{error}") from None


def result_type(*arrays_and_dtypes: ArrayLike | DTypeLike) -> DType:
    """Return the dtype that arrays, dtypes and Python numbers together promote to.

    Parameters
    ----------
    *arrays_and_dtypes : array, dtype or number
        Python numbers adapt to the others.

    Returns
    -------
    dtype
        By NumPy's rules of promotion.
    """
    given: list[Operand] = [v if is_python_number(v) else _dtype_of(v) for v in arrays_and_dtypes]
    return promoted("result_type", *given)


class FloatInfo(NamedTuple):
    """The limits of a floating-point dtype, or of the parts of a complex one, as Python numbers.

    Attributes
    ----------
    bits : int
        The size in bits.
    eps : float
        The difference of 1 and the next larger number.
    max, min, smallest_normal : float
        The largest, the most negative, and the smallest positive normal number.
    dtype : dtype
        The dtype of the parts.
    """

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


class IntInfo(NamedTuple):
    """The limits of an integer dtype, as Python numbers.

    Attributes
    ----------
    bits : int
        The size in bits.
    max, min : int
        The largest and the smallest number.
    dtype : dtype
        The dtype.
    """

    bits: int
    max: int
    min: int
    dtype: DType


def finfo(type: ArrayLike | DTypeLike, /) -> FloatInfo:
    """Return the limits of a floating-point dtype.

    Parameters
    ----------
    type : dtype or array
        A real or complex dtype, or an array of it.

    Returns
    -------
    FloatInfo
        A named tuple: bits, eps, max, min, smallest_normal, dtype.

    Raises
    ------
    DTypeError
        For other dtypes.

    Examples
    --------
    >>> from mat import array_api as xp
    >>> xp.finfo(xp.float32).bits
    32
    """
    dtype = _dtype_of(type)
    try:
        found = np.finfo(dtype)
    except ValueError:
        raise DTypeError(f"finfo wants a floating-point dtype, got {dtype}; iinfo is for "
                         "integers") from None
    return FloatInfo(int(found.bits), float(found.eps), float(found.max), float(found.min),
                     float(found.smallest_normal), found.dtype)


def iinfo(type: ArrayLike | DTypeLike, /) -> IntInfo:
    """Return the limits of an integer dtype.

    Parameters
    ----------
    type : dtype or array
        An integer dtype, or an array of it.

    Returns
    -------
    IntInfo
        A named tuple: bits, max, min, dtype.

    Raises
    ------
    DTypeError
        For other dtypes.

    Examples
    --------
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
