"""Nested sequences, arrays and Mats as arrays of the dtype that they have, or that is wanted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import DTypeError, RangeError, ShapeError, TextError
from ..layout.orders import Order
from ..layout.shapes import MOST_AXES
from ..support.dtypes import SUPPORTED, as_dtype, check_number, is_integer, is_supported
from ..support.options import FLOAT64, default_float
from ..support.types import Array, DType, Nested
from .mat import Mat

_SEQUENCES, _NESTS = (list, tuple, range), (list, tuple)
_PLAIN: set[object] = {bool, int, float}


def as_array(obj: Nested, dtype: DType) -> Array:
    """Return nested sequences, texts and other objects as numbers, as a new array of `dtype`."""
    return converted(obj, numbers_of(obj, as_plain(obj), dtype), dtype)


def as_plain(obj: Nested) -> Array:
    """Return NumPy's conversion of `obj`, without copying if that is possible."""
    try:
        return np.asarray(without_mats(obj))
    except ValueError as error:
        raise ShapeError(f"ragged nesting: {error}; all rows must have one length") from None


def inferred(obj: Nested, plain: Array) -> DType:
    """Return the dtype of `obj`, converted by NumPy to `plain`: Python's own floats have the
    default dtype, leaves with a dtype keep it, and different ones promote as in NumPy.
    """
    if plain.dtype is FLOAT64 and default_float() is not FLOAT64:
        leaves = _leaf_types(obj)
        if leaves <= _PLAIN:  # an empty sequence has floats, too
            return default_float()
        dtypes: list[Any] = [default_float() if leaf is float else leaf for leaf in leaves]
        return np.result_type(*dtypes)
    if is_supported(plain.dtype):
        return as_dtype(plain.dtype)
    raise no_numbers(obj, plain)


def _leaf_types(obj: Nested) -> set[object]:
    """Return the dtypes of the leaves that have one, and the types of the others."""
    if isinstance(obj, _NESTS):
        kinds: set[object] = set(map(type, obj))
        return kinds if kinds <= _PLAIN else set().union(*map(_leaf_types, obj))
    if type(obj) in _PLAIN:
        return {type(obj)}
    return {int if isinstance(obj, range) else as_plain(obj).dtype}


def converted(obj: Nested, plain: Array, dtype: DType, order: Order = "C") -> Array:
    """Return the elements of `obj`, converted by NumPy to `plain`, as a new array."""
    if plain.size and not is_supported(plain.dtype):
        raise no_numbers(obj, plain)
    if plain.dtype.kind == "c" and dtype.kind not in "cb":
        raise DTypeError(f"complex elements do not fit into {dtype}; give dtype='complex128'")
    if (is_integer(dtype) and plain.size and plain.dtype.kind != "c"
            and not isinstance(obj, (Mat, np.ndarray))):
        check_number(plain.min(), dtype, "an element")
        if plain.dtype.kind == "f" and dtype.itemsize == 8:  # too few digits for 64 bits
            plain = _exact_integers(obj, dtype)
        else:
            check_number(plain.max(), dtype, "an element")
    new = isinstance(obj, _SEQUENCES) and plain.dtype == dtype and order != "F"
    return plain if new else np.array(plain, dtype, order=order, copy=True)


def numbers_of(obj: Nested, plain: Array, dtype: DType) -> Array:
    """Return `plain`, or its texts, or objects such as fractions, as numbers: ``float("1.5")``."""
    if plain.dtype.kind not in "OSU":
        return plain
    try:
        return np.array(without_mats(obj), dtype)
    except (TypeError, ValueError, OverflowError) as error:
        kind = {OverflowError: RangeError, ValueError: TextError}.get(type(error), DTypeError)
        raise kind(f"elements must be numbers for {dtype}, got {plain.dtype} from "
                   f"{type(obj).__name__}: {error}") from None


def _exact_integers(obj: Nested, dtype: DType) -> Array:
    """Return the elements as integers that were no floating-point numbers in between."""
    try:
        with np.errstate(invalid="raise"):  # of NumPy's own numbers, which otherwise wrap around
            return np.array(without_mats(obj), dtype)
    except (ArithmeticError, ValueError) as error:
        raise RangeError(f"an element is out of the range of {dtype}: {error}") from None


def without_mats(obj: Nested) -> Nested:
    """Return `obj` with the Mats in it replaced by arrays."""
    if isinstance(obj, Mat):
        return obj.to_numpy()
    if isinstance(obj, _NESTS) and _has_mats(obj, 0):
        return [without_mats(item) for item in obj]
    return obj


def _has_mats(obj: Nested, depth: int) -> bool:
    """Return whether there is a Mat in nested sequences."""
    if depth > MOST_AXES:
        raise ShapeError(f"nested more than {MOST_AXES} deep; a Mat has no more axes")
    for item in obj:
        kind = type(item)
        if kind is float or kind is int:
            continue
        if isinstance(item, Mat) or (isinstance(item, _NESTS) and _has_mats(item, depth + 1)):
            return True
    return False


def no_numbers(obj: Nested, plain: Array) -> DTypeError:
    """Return the error for elements that are no numbers, with the way out."""
    name = type(obj).__name__
    text = f"elements must be numbers, got {plain.dtype} from {name}"
    if plain.dtype.names:
        return DTypeError(f"{text}; a Mat has one number in an element: make one of each field, "
                          f"such as mat.array(a[{plain.dtype.names[0]!r}])")
    if plain.dtype.kind in "SU":
        return DTypeError(f"{text}; with dtype='float64' texts are read as numbers")
    if plain.dtype.kind in "mM":
        return DTypeError(f"{text}; a.astype('int64') are its counts of time")
    if not plain.ndim and isinstance(obj, Iterable):
        return DTypeError(f"{text}; mat.array(list(...)) takes its items")
    if plain.size and all(isinstance(item, int) for item in plain.flat):
        if min(plain.flat) >= -1 << 63 and max(plain.flat) < 1 << 63:
            return DTypeError(f"{text}; with dtype='int64' objects are read as numbers")
        return DTypeError(f"{text}, since one does not fit 64 bits; dtype='float64' rounds it")
    if plain.size and all(isinstance(item, float | int) for item in plain.flat):
        return DTypeError(f"{text}; with dtype='float64' objects are read as numbers")
    return DTypeError(f"{text}; Mats have no objects: {', '.join(SUPPORTED)}")
