"""The table of element types, and the checks whether a number fits into one.

`ELEMENT_TYPES` has every fact about a type once: what NumPy, C, CUDA, BLAS, cuBLAS and DLPack call
it. All other tables of types are made from it, and the sets of dtype characters below name those
that implementations are declared for.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..errors import DTypeError, RangeError
from .types import DType, DTypeLike, Number


class ElementType(NamedTuple):
    """The names of one element type; where a library lacks the type, its column is empty or -1."""

    name: str  # NumPy's, or that of ml_dtypes
    chars: str  # NumPy's dtype characters: first the one of the dtype `name`, then synonyms
    kind: str  # b i u f c; of some types of ml_dtypes NumPy says V
    size: int  # bytes
    suffix: str  # in the names of kernels, of the CPU and of the GPU
    c: str  # for cffi; floats of 8 and 16 bits are seen as their bits
    blas: str  # the first letter of BLAS routines
    cublas: int  # cudaDataType: CUDA_R_32F and so on
    dlpack: int  # DLDataTypeCode

    @property
    def char(self) -> str:
        """Return the dtype character of the dtype `name`."""
        return self.chars[0]

    @property
    def cuda(self) -> str:
        """Return the type in the kernels of the GPU."""
        return f"mat_{self.suffix}"

    @property
    def real(self) -> str:
        """Return the type in C of the parts of complex numbers; for others, the type itself."""
        return self.c.removesuffix(" _Complex")


# C's long has 64 bits, but for Windows and for machines of 32 bits
_LONG = np.dtype("l").itemsize
_I32, _U32, _I64, _U64 = ("i", "I", "lq", "LQ") if _LONG == 8 else ("li", "LI", "q", "Q")
ELEMENT_TYPES = tuple(ElementType(*row) for row in (
    # name        chars kind size suffix c               BLAS cuBLAS DLPack
    ("bool",       "?",  "b", 1,  "b1",   "_Bool",           "",  -1, 6),
    ("int8",       "b",  "i", 1,  "i8",   "int8_t",          "",   3, 0),
    ("int16",      "h",  "i", 2,  "i16",  "int16_t",         "",  20, 0),
    ("int32",      _I32, "i", 4,  "i32",  "int32_t",         "",  10, 0),
    ("int64",      _I64, "i", 8,  "i64",  "int64_t",         "",  24, 0),
    ("uint8",      "B",  "u", 1,  "u8",   "uint8_t",         "",   8, 1),
    ("uint16",     "H",  "u", 2,  "u16",  "uint16_t",        "",  22, 1),
    ("uint32",     _U32, "u", 4,  "u32",  "uint32_t",        "",  12, 1),
    ("uint64",     _U64, "u", 8,  "u64",  "uint64_t",        "",  26, 1),
    ("float16",    "e",  "f", 2,  "f16",  "uint16_t",        "",   2, 2),
    ("bfloat16",   "E",  "f", 2,  "bf16", "uint16_t",        "",  14, 4),
    ("float32",    "f",  "f", 4,  "f32",  "float",           "s",  0, 2),
    ("float64",    "d",  "f", 8,  "f64",  "double",          "d",  1, 2),
    ("complex64",  "F",  "c", 8,  "c64",  "float _Complex",  "c",  4, 5),
    ("complex128", "D",  "c", 16, "c128", "double _Complex", "z",  5, 5),
    ("float8_e4m3fn", "4", "f", 1, "e4m3", "uint8_t",         "",  28, 10),
    ("float8_e5m2", "5", "f", 1, "e5m2",  "uint8_t",         "",  29, 12),
))
SUPPORTED = tuple(t.name for t in ELEMENT_TYPES)
BY_NAME = {t.name: t for t in ELEMENT_TYPES}
BY_CHAR = {char: t for t in ELEMENT_TYPES for char in t.chars}

# Sets of dtype characters
STORED = "".join(BY_CHAR)
FLOAT8 = "45"  # stored, converted, compared and multiplied; else ml_dtypes computes with them
EXTENSIONS = "E" + FLOAT8  # that NumPy gets from ml_dtypes
EVERY = STORED.replace(FLOAT8, "")  # of the types that operations compute with
BOOL = "?"
SIGNED = "".join(c for c, t in BY_CHAR.items() if t.kind == "i")
UNSIGNED = "".join(c for c, t in BY_CHAR.items() if t.kind == "u")
INTEGERS = SIGNED + UNSIGNED
HALVES = "eE"  # float16 and bfloat16
REAL_TYPES = "fd"  # the real numbers that BLAS and most compiled kernels compute with
COMPLEX_TYPES = "FD"
BLAS_TYPES = REAL_TYPES + COMPLEX_TYPES  # s, d, c and z
FLOATING = HALVES + REAL_TYPES
INEXACT = FLOATING + COMPLEX_TYPES
DISTINCT = "".join(t.char for t in ELEMENT_TYPES if t.char in EVERY)  # without synonyms
# the least and the largest integer of each integer type; `numpy.iinfo` takes a microsecond
LIMITS = {c: (int(np.iinfo(c).min), int(np.iinfo(c).max)) for c in INTEGERS}

# what `as_dtype` was given, and what it returned
NAMED: dict[object, DType] = {np.dtype(t.name): np.dtype(t.name) for t in ELEMENT_TYPES
                               if t.char not in EXTENSIONS}
_NUMBERS = (int, float, complex, np.number, np.bool_)
EXACT = 2**53  # integers up to here are floating-point numbers, too
_LARGEST = int(sys.float_info.max)


def as_dtype(spec: DTypeLike) -> DType:
    """Return the supported NumPy dtype that `spec` names; raise `DTypeError` for others."""
    try:
        found = NAMED.get(spec)
    except TypeError:  # it cannot be hashed
        found = None
    return _named(spec) if found is None else found


def _named(spec: DTypeLike) -> DType:
    """Return the result of `as_dtype` for a new name or type, and remember it."""
    found = _found(spec)
    if isinstance(spec, str | type | np.dtype):
        NAMED[spec] = found
    return found


def is_supported(dtype: DType) -> bool:
    """Return whether a Mat can have the dtype, if in native byte order."""
    return dtype in NAMED or dtype.name in SUPPORTED


def _found(spec: DTypeLike) -> DType:
    if isinstance(spec, str) and spec in BY_NAME and BY_NAME[spec].char in EXTENSIONS:
        return _of_ml_dtypes(spec)
    # NumPy takes the dtype of whatever has one
    if isinstance(spec, np.ndarray | np.generic) or hasattr(spec, "storage"):
        raise DTypeError(f"{type(spec).__name__} is no dtype, but has one: give its dtype")
    try:
        dtype: DType = np.dtype(spec)
    except (TypeError, ValueError, OverflowError):
        hint = "; several numbers are one list, [1, 2]" if isinstance(spec, _NUMBERS) else ""
        raise DTypeError(f"no dtype {spec!r}; there are {', '.join(SUPPORTED)}{hint}") from None
    if spec is None or dtype.name not in SUPPORTED or not dtype.isnative:
        raise DTypeError(f"dtype {spec!r} is not supported; there are {', '.join(SUPPORTED)}, in "
                         f"native byte order{_instead(dtype)}")
    return dtype


def _of_ml_dtypes(name: str) -> DType:
    try:
        found: DType = np.dtype(getattr(importlib.import_module("ml_dtypes"), name))
    except ImportError:
        raise DTypeError(f"dtype {name} needs the package ml_dtypes: "
                         "pip install ml_dtypes") from None
    return found


def _instead(dtype: DType) -> str:
    """Return the end of an error on an unsupported dtype, with the alternative."""
    if dtype.names:
        return f"; make a Mat of each field, such as mat.array(a[{dtype.names[0]!r}])"
    if not dtype.isnative:
        return "; a.astype(a.dtype.newbyteorder('=')) is in it"
    if dtype.kind in "OSUT":
        return "; a NumPy array keeps objects and texts, mat.array(a, float) reads them as numbers"
    return "; a.astype('int64') are counts of time" if dtype.kind in "mM" else ""


def promoted(name: str, *dtypes: DTypeLike) -> DType:
    """Return the dtype that `dtypes` promote to by NumPy's rule; raise `DTypeError` for none."""
    try:
        return np.result_type(*dtypes)
    except TypeError:
        raise DTypeError(f"{name}: no dtype holds both {' and '.join(map(str, dtypes))}; convert "
                         "with astype") from None


def is_integer(dtype: DType) -> bool:
    """Return whether elements are integers or bools."""
    return dtype.kind in "iub"


def conversion(*dtypes: DType) -> str:
    """Return the end of an error on elements of these types, with the way to convert them."""
    if any(map(is_integer, dtypes)):
        return "x.astype('float64') has floats, as has mat.array([1., 2.]) from the beginning"
    return "convert with x.astype(dtype)"


def check_operand(value: object, dtype: DType, name: str) -> None:
    """Raise `DTypeError` unless `value` is a number for elements of `dtype`, promoted or not."""
    if not isinstance(value, _NUMBERS) and not (
            isinstance(value, np.generic) and np.dtype(type(value)).char in EXTENSIONS):
        way_out = ("; float(x) takes a Mat of one element to a number"
                   if hasattr(value, "storage") else "")
        raise DTypeError(f"{name} must be a number, got {value!r} "
                         f"({type(value).__name__}){way_out}")
    if type(value) is int:
        if dtype.kind in "iu":
            _check_integer(value, dtype, name)
        elif abs(value) > _LARGEST:
            raise RangeError(f"{name} is an integer too large for {dtype}")


def check_number(value: Number, dtype: DType, name: str) -> None:
    """Raise `DTypeError` unless `value` is a number that `dtype` can represent, if rounded."""
    kind = type(value)
    if kind is float or kind is int:
        char = dtype.char
        if char in LIMITS:
            low, high = LIMITS[char]
            if kind is int and low <= value <= high:
                return
        elif char in INEXACT and (kind is float or -EXACT < value < EXACT):
            return
    check_operand(value, dtype, name)
    if isinstance(value, complex | np.complexfloating) and dtype.kind != "c":
        raise DTypeError(f"{name} is complex ({value!r}), which {dtype} cannot hold; use "
                         "astype('complex128') first")
    if is_integer(dtype):
        _check_integer(value, dtype, name)


def check_exact(value: Number, dtype: DType, name: str) -> None:
    """Raise unless `dtype`, and a double for kernels, represent the number `value`."""
    check_number(value, dtype, name)
    if is_integer(dtype) and not isinstance(value, int | np.integer | np.bool_):
        raise DTypeError(f"{name} is {value!r}, but of {dtype} in the kernel; declare it with "
                         "another dtype, as in 'number float64'")
    if isinstance(value, int | np.integer) and not -EXACT <= value <= EXACT:
        raise RangeError(f"{name} is {value}, but a kernel receives integers between -2**53 and "
                         "2**53; pass it as a Mat without axes")


def as_element(value: Number, dtype: DType, name: str) -> Number:
    """Return `value` for an element of `dtype`; NumPy's numbers wrap around as in arrays."""
    if type(value) not in _PYTHONS and (
            dtype.kind == "u" and isinstance(value, np.integer | np.floating)) and (
            np.isfinite(value)):
        return value.astype(dtype)
    check_number(value, dtype, name)
    return value


def plain_integers(dtype: DType) -> tuple[int, int]:
    """Return the range of Python integers that every check takes for elements of `dtype`."""
    if dtype.kind in "iu":
        low, high = LIMITS[dtype.char]
        # compiled kernels get numbers as doubles
        return max(low, 1 - EXACT), min(high, EXACT - 1)
    return 1 - EXACT, EXACT - 1


def represents(dtype: DType, value: Number) -> bool:
    """Return whether `value` becomes an element of `dtype`: in range, exact as a float64."""
    if dtype.kind in "iu":
        # NumPy does not compare its own bools with large integers
        number = bool(value) if isinstance(value, np.bool_) else value
        low, high = LIMITS[dtype.char]
        return bool(low <= number <= high)
    return not isinstance(value, int) or abs(value) <= EXACT


def _check_integer(value: Number, dtype: DType, name: str) -> None:
    if dtype.kind == "b":
        return  # whatever is not 0 is true, NaN as well
    if value != value or value in (float("inf"), float("-inf")):
        raise RangeError(f"{name} is {value!r}, which {dtype} cannot hold")
    # as an element, a fraction is truncated
    number = int(value) if isinstance(value, float | np.floating) else value
    if not represents(dtype, number):
        raise RangeError(f"{name} is {value!r}, out of the range of {dtype}")


def is_masked(value: object) -> bool:
    """Return whether `value` is one of NumPy's masked arrays, without importing their module."""
    module = sys.modules.get("numpy.ma")
    return module is not None and isinstance(value, getattr(module, "MaskedArray", ()))


_NO_ARRAYS = (str, bytes, Mapping, np.generic)
_PYTHONS = frozenset((bool, int, float, complex))


def becomes_array(value: object) -> bool:
    """Return whether `value` is an array-like, such as a range, without functions of its own."""
    kind = type(value)
    if kind in _PYTHONS or isinstance(value, _NO_ARRAYS) or hasattr(kind, "__array_function__"):
        return False
    return (hasattr(kind, "__array__") or hasattr(value, "__array_interface__")
            or (hasattr(kind, "__len__") and hasattr(kind, "__getitem__")
                and not hasattr(kind, "__array_priority__")))


_known_dtypes: dict[DType, bool] = {}


def is_known_dtype(dtype: DType) -> bool:
    """Return whether a Mat can have that dtype."""
    found = _known_dtypes.get(dtype)
    if found is None:
        found = _known_dtypes[dtype] = dtype.name in SUPPORTED and dtype.isnative
    return found
