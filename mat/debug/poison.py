"""Poison: elements of a pattern that no block writes, by which the direction check finds untouched
elements.

Floats are NaN with an unusual payload. Integers of 32 bits and more follow a pattern that goes by
position. In 8 or 16 bits any value is an ordinary number: there only a run of neighbours in that
pattern is evidence.
"""

from __future__ import annotations

from functools import cache
from math import ceil, log2

import numpy as np

from ..support.dtypes import FLOAT8
from ..support.types import Array, DType

_NAN = {2: 0x7EAD, 4: 0x7FED_BAD1, 8: 0x7FFD_EAD0_0BAD_F00D}  # by the bytes of an element
_NAN_OF_BFLOAT16 = 0x7FED
_BYTE_OF_BOOL = 0xA5
# bits that have to agree to be evidence, and some more for each position where they could by chance
_CERTAIN = 40


@cache
def _pattern() -> bytes:
    """Return random bytes, always the same."""
    return np.random.Generator(np.random.Philox(20261120)).bytes(8 * 8191)


def word(dtype: DType) -> DType:
    """Return the unsigned integers that elements are compared as: two for each complex number."""
    return np.dtype(f"u{dtype.itemsize // 2 if dtype.kind == 'c' else dtype.itemsize}")


def poison(size: int, dtype: DType) -> Array:
    """Return `size` poisoned elements."""
    kind = word(dtype)
    count = size * dtype.itemsize // kind.itemsize
    if _is_integer(dtype):
        pattern = np.frombuffer(_pattern(), kind)
        return np.resize(pattern, count).view(dtype)
    if dtype.kind == "b":
        value = _BYTE_OF_BOOL
    else:
        value = _NAN_OF_BFLOAT16 if dtype.name == "bfloat16" else _NAN[kind.itemsize]
    return np.full(count, value, kind).view(dtype)


def _is_integer(dtype: DType) -> bool:
    """Return whether any value is an ordinary one, as of integers and of floats of one byte."""
    return dtype.kind in "iu" or dtype.char in FLOAT8


def still_poisoned(elements: Array) -> Array:
    """Return one bool for each element of a whole storage: True if it is still poison."""
    dtype, kind = elements.dtype, word(elements.dtype)
    same: Array = np.equal(elements.view(kind), poison(elements.size, dtype).view(kind))
    if dtype.kind == "c":
        return np.logical_or(same[::2], same[1::2])  # half an element is not written either
    if dtype.kind not in "iub" and dtype.itemsize == 2 and same.any() and _any_nan(elements[~same]):
        # there are so few NaNs of 16 bits that a program which has others may have this one, too
        return np.zeros(elements.size, bool)
    if _is_integer(dtype) and dtype.itemsize < 4 and elements.size:
        return _long_runs(same, ceil((_CERTAIN + log2(elements.size)) / (8 * dtype.itemsize)))
    return same


def _any_nan(elements: Array) -> bool:
    with np.errstate(invalid="ignore"):  # for signalling NaNs
        return bool(np.isnan(elements).any())


def _long_runs(same: Array, least: int) -> Array:
    """Return `same` without runs that are shorter than `least`."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], same.view(np.int8), [0]))))
    found = np.zeros(same.size, bool)
    for begin, end in zip(edges[::2], edges[1::2], strict=True):
        found[begin:end] = end - begin >= least
    return found
