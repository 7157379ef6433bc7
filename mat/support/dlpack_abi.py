"""DLPack's capsules, and how it numbers element types and devices. Compiled code makes and takes
them; no Mats here.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ..errors import ExchangeError
from .dtypes import BY_NAME, ELEMENT_TYPES, SUPPORTED, as_dtype
from .native import core as _core

HOST = (1, 0)  # DLPack's kind and number of this machine's memory
CUDA, PINNED = 2, 3  # kinds: a GPU's memory, and the host's with locked pages
READ_ONLY, COPIED = 1, 2  # flags: not to be written; made for the consumer, and nobody else's
LEGACY = -1  # in place of flags: a capsule for consumers from before DLPack 1.0, which has none
BFLOAT = BY_NAME["bfloat16"].dlpack  # a code of element types
_NAMES = {(t.dlpack, 8 * t.size): t.name for t in ELEMENT_TYPES}

compiled = _core is not None


Ints = tuple[int, ...]
Facts = tuple[int, Ints, Ints | None, tuple[int, int], tuple[int, int, int], int]


@cache  # a dtype takes its time to tell its name
def type_of(dtype: np.dtype[Any]) -> tuple[int, int]:
    """DLPack's code and bits for `dtype`."""
    return BY_NAME[dtype.name].dlpack, 8 * dtype.itemsize


@cache
def dtype_of(code: int, bits: int, lanes: int) -> np.dtype[Any]:
    """The dtype of that code; `ExchangeError` if it is none of ours."""
    name = _NAMES.get((code, bits))
    if lanes != 1 or name is None:
        raise ExchangeError(f"DLPack's element type with code {code}, {bits} bits and {lanes} "
                            "lanes is none of ours; there are "
                            f"{', '.join(SUPPORTED)}: have the other library convert it")
    return as_dtype(name)


def check_stream(stream: object, device: tuple[int, int]) -> None:
    """`ExchangeError` unless `stream` can be one of that device, by its number in DLPack."""
    if stream is None:
        return
    if device == HOST:
        raise ExchangeError("the host's memory has no streams: stream must be None, got "
                            f"{stream!r}")
    if isinstance(stream, bool) or not isinstance(stream, int) or stream < -1 or stream == 0:
        raise ExchangeError("stream must be 1 (the legacy default stream), 2 (that of a thread), "
                            "-1 (not to wait), None or "
                            f"the handle of a stream, got {stream!r}; 0 would be ambiguous")


def make_capsule(owner: object, address: int, shape: Ints, strides: Ints, device: tuple[int, int],
         dtype: np.dtype[Any], flags: int) -> Any:
    """A capsule over memory that `owner` keeps; it lives until the consumer lets go, or the capsule
    does if nobody took it.
    """
    return _core.make_capsule(owner, address, shape, strides, device, type_of(dtype), flags)


def take(capsule: object) -> tuple[object, Facts]:
    """What keeps the memory for as long as it lives, and: address, shape, strides, device, (code,
    bits, lanes), flags.

    Strides are in elements, None if packed. `BufferError` for what is no capsule, or was taken
    before.
    """
    found: tuple[object, Facts] = _core.take(capsule)
    return found


class Theirs:
    """Memory of another library on the host, as NumPy makes an array of bytes of it."""

    __slots__ = ("__array_interface__", "holder")

    def __init__(self, holder: object, address: int, nbytes: int, writable: bool) -> None:
        self.holder = holder
        self.__array_interface__ = {"shape": (nbytes,), "typestr": "|u1", "version": 3,
                                    "data": (address, not writable)}
