"""Poison: elements that no block writes, by which the direction check knows what a block left as it
was.

Floats are NaN with bits of their own. Integers of 32 bits and more follow a pattern that goes by
position. In 8 or 16 bits any value is somebody's number: there only a row of neighbours in that
pattern is evidence.
"""

from __future__ import annotations

from functools import cache
from math import ceil, log2
from typing import Any

import numpy as np

Elements = np.ndarray[Any, Any]
_NAN = {2: 0x7EAD, 4: 0x7FED_BAD1, 8: 0x7FFD_EAD0_0BAD_F00D}
_NAN_OF_BFLOAT16 = 0x7FED
# bits that have to agree before we speak, and some for each time that they could by chance
_CERTAIN = 40


@cache
def _pattern() -> bytes:
    """Bytes without any order."""
    return np.random.Generator(np.random.Philox(20261120)).bytes(8 * 8191)


def word(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The unsigned integers that elements are compared as: two for each complex number."""
    return np.dtype(f"u{dtype.itemsize // 2 if dtype.kind == 'c' else dtype.itemsize}")


def poison(size: int, dtype: np.dtype[Any]) -> Elements:
    """So many poisoned elements."""
    kind = word(dtype)
    count = size * dtype.itemsize // kind.itemsize
    if dtype.kind in "iu":
        pattern = np.frombuffer(_pattern(), kind)
        return np.resize(pattern, count).view(dtype)
    value = 0xA5 if dtype.kind == "b" else _NAN_OF_BFLOAT16 if dtype.name == "bfloat16" else _NAN[kind.itemsize]
    return np.full(count, value, kind).view(dtype)


def still_poisoned(elements: Elements) -> Elements:
    """Which elements of a whole storage are, as one bool for each."""
    dtype, kind = elements.dtype, word(elements.dtype)
    same: Elements = np.equal(elements.view(kind), poison(elements.size, dtype).view(kind))
    if dtype.kind == "c":
        return np.logical_or(same[::2], same[1::2])  # half an element is not written either
    if dtype.kind not in "iub" and dtype.itemsize == 2 and same.any() and _any_nan(elements[~same]):
        # there are so few NaNs of 16 bits that ours is one of somebody who has others
        return np.zeros(elements.size, bool)
    if dtype.kind in "iu" and dtype.itemsize < 4 and elements.size:
        return _long_rows(same, ceil((_CERTAIN + log2(elements.size)) / (8 * dtype.itemsize)))
    return same


def _any_nan(elements: Elements) -> bool:
    with np.errstate(invalid="ignore"):  # some of them signal
        return bool(np.isnan(elements).any())


def _long_rows(same: Elements, least: int) -> Elements:
    """`same` without rows of neighbours that are shorter than `least`."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], same.view(np.int8), [0]))))
    found = np.zeros(same.size, bool)
    for begin, end in zip(edges[::2], edges[1::2], strict=True):
        found[begin:end] = end - begin >= least
    return found
