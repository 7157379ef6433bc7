"""Element types: which there are, and whether a number fits into one."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from ..errors import DTypeError

SUPPORTED = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
             "float16", "bfloat16", "float32", "float64", "complex64", "complex128")
_EXACT = 2**53
_LARGEST = int(np.finfo(np.float64).max)
BLAS = frozenset("fdFD")  # the dtype characters of s, d, c and z
EVERY = "?bBhHiIlLqQefdFDE"  # those of all that is supported; E: bfloat16


def as_dtype(spec: Any) -> np.dtype[Any]:
    """`spec` as a supported NumPy dtype; `DTypeError` for others."""
    if spec == "bfloat16":
        return _bfloat16()
    try:
        dtype: np.dtype[Any] = np.dtype(spec)
    except (TypeError, ValueError):
        raise DTypeError(f"no dtype {spec!r}; there are {', '.join(SUPPORTED)}") from None
    if spec is None or dtype.name not in SUPPORTED or not dtype.isnative:
        raise DTypeError(f"dtype {spec!r} is not supported; there are {', '.join(SUPPORTED)}, in "
                         "native byte order")
    return dtype


def _bfloat16() -> np.dtype[Any]:
    try:
        found: np.dtype[Any] = np.dtype(importlib.import_module("ml_dtypes").bfloat16)
    except ImportError:
        raise DTypeError("dtype bfloat16 needs the package ml_dtypes: pip install ml_dtypes") from None
    return found


def promoted(name: str, *dtypes: Any) -> np.dtype[Any]:
    """The dtype that all `dtypes` promote to, by NumPy's rule; `DTypeError` if there is none."""
    try:
        return np.result_type(*dtypes)
    except TypeError:
        raise DTypeError(f"{name}: no dtype holds both {' and '.join(map(str, dtypes))}; convert "
                         "with astype") from None


def is_integer(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "iub"


def check_operand(value: object, dtype: np.dtype[Any], name: str) -> None:
    """`DTypeError` unless `value` is a number that can be combined with elements of `dtype`,
    promoting them if need be.
    """
    if not isinstance(value, int | float | complex | np.number
                      | np.bool_) and not _is_extension_scalar(value):
        raise DTypeError(f"{name} must be a number, got {value!r} "
                         f"({type(value).__name__}){_way_out(value)}")
    if type(value) is int:
        if dtype.kind in "iu":
            _check_integer(value, dtype, name)
        elif abs(value) > _LARGEST:
            raise DTypeError(f"{name} is an integer too large for {dtype}")


def check_number(value: Any, dtype: np.dtype[Any], name: str) -> None:
    """`DTypeError` unless `value` is a number that `dtype` can hold, rounded perhaps."""
    kind = type(value)
    if (kind is float or (kind is int and -_EXACT < value < _EXACT)) and dtype.kind in "fc":
        return
    check_operand(value, dtype, name)
    if isinstance(value, complex | np.complexfloating) and dtype.kind != "c":
        raise DTypeError(f"{name} is complex ({value!r}), which {dtype} cannot hold; use "
                         "astype('complex128') first")
    if is_integer(dtype):
        _check_integer(value, dtype, name)


def records(dtype: np.dtype[Any], value: Any) -> bool:
    """Whether `dtype` has `value`, or, being one of floating-point numbers, one near to it that a
    float64 leads to.
    """
    if dtype.kind in "iu":
        # which NumPy will not compare with large integers
        number = bool(value) if isinstance(value, np.bool_) else value
        return bool(np.iinfo(dtype).min <= number <= np.iinfo(dtype).max)
    return not isinstance(value, int) or abs(value) <= _EXACT


def _is_extension_scalar(value: object) -> bool:
    return isinstance(value, np.generic) and np.dtype(type(value)).name == "bfloat16"


def _way_out(value: object) -> str:
    return "; float(x) takes a Mat of one element to a number" if hasattr(value, "storage") else ""


def _check_integer(value: Any, dtype: np.dtype[Any], name: str) -> None:
    if value != value or value in (float("inf"), float("-inf")):
        raise DTypeError(f"{name} is {value!r}, which {dtype} cannot hold")
    if dtype.kind != "b" and not records(dtype, value):
        raise DTypeError(f"{name} is {value!r}, out of the range of {dtype}")
