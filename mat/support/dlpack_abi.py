"""DLPack's capsules, and its numbers of element types and devices; compiled code makes and takes
the capsules.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ..errors import ExchangeError
from ..layout.shapes import Ints
from .dtypes import BY_NAME, ELEMENT_TYPES, SUPPORTED, as_dtype
from .native import core as _core
from .types import Capsule, DType

HOST = (1, 0)  # DLPack's kind and number of this machine's memory
CUDA, PINNED = 2, 3  # kinds: a GPU's memory, and the host's with locked pages
READ_ONLY, COPIED = 1, 2  # flags: not to be written; a copy made for the consumer
LEGACY = -1  # in place of flags: a capsule for consumers from before DLPack 1.0, which has none
_NAMES = {(t.dlpack, 8 * t.size): t.name for t in ELEMENT_TYPES}

compiled: bool = _core is not None
Facts = tuple[int, Ints, Ints | None, tuple[int, int], tuple[int, int, int], int]


@cache  # since `dtype.name` is slow
def type_of(dtype: DType) -> tuple[int, int]:
    """Return DLPack's code and bits for `dtype`."""
    return BY_NAME[dtype.name].dlpack, 8 * dtype.itemsize


@cache
def dtype_of(code: int, bits: int, lanes: int) -> DType:
    """Return the dtype of an element type of DLPack; raise `ExchangeError` if there is none."""
    name = _NAMES.get((code, bits))
    if lanes != 1 or name is None:
        raise ExchangeError(f"DLPack's element type with code {code}, {bits} bits and {lanes} "
                            f"lanes is not supported; there are {', '.join(SUPPORTED)}: have the "
                            "other library convert it")
    return as_dtype(name)


def check_stream(stream: object, device: tuple[int, int]) -> None:
    """Raise `ExchangeError` unless `stream`, a number in DLPack, can be a stream of `device`."""
    if stream is None:
        return
    if device == HOST:
        raise ExchangeError("the host's memory has no streams: stream must be None, got "
                            f"{stream!r}")
    if isinstance(stream, bool) or not isinstance(stream, int) or stream < -1 or stream == 0:
        raise ExchangeError("stream must be 1 (the legacy default stream), 2 (that of a thread), "
                            "-1 (not to wait), None or the handle of a stream, got "
                            f"{stream!r}; 0 would be ambiguous")


# the parameters are the fields of DLPack's struct
def make_capsule(owner: object, address: int, shape: Ints, strides: Ints, device: tuple[int, int],
                 dtype: DType, flags: int) -> Capsule:
    """Return a capsule that keeps `owner` alive until its consumer, or itself, is gone."""
    return _core.make_capsule(owner, address, shape, strides, device, type_of(dtype), flags)


def take_capsule(capsule: Capsule) -> tuple[object, Facts]:
    """Take over the tensor of `capsule`: return an object that keeps its memory alive, and `Facts`.

    These are: address, shape, strides in elements (None if packed), device, (code, bits, lanes) and
    flags. Raise `BufferError` if it is no capsule, or was taken before.
    """
    return _core.take(capsule)


class ExternalMemory:
    """Memory of another library on the host, as the base of a NumPy array of bytes."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, owner: object, address: int, nbytes: int, writable: bool) -> None:
        self.owner: object = owner
        self.__array_interface__: dict[str, Any] = {
            "shape": (nbytes,), "typestr": "|u1", "version": 3, "data": (address, not writable)}
