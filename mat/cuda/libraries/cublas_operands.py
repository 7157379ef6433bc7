"""Operands for cuBLAS: addresses on a device, and factors as C elements."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import accumulate
from typing import Protocol

from ...layout.strided import Layout
from ...support.blas_library import REALS, scalar
from ...support.dtypes import BY_CHAR
from ...support.types import CData, Function, Number
from ..runtime.gpu import Gpu
from .cublas import ffi

ALIGN = 256  # bytes
SIZES = {char: t.size for char, t in BY_CHAR.items()}


class DeviceOperand(Protocol):
    """An operand in the memory of a device."""

    @property
    def address(self) -> int: ...

    @property
    def gpu(self) -> Gpu: ...


class At:
    """An address in the memory of a device, as kernels and cuBLAS take operands."""

    __slots__ = ("address", "gpu")

    def __init__(self, gpu: Gpu, address: int) -> None:
        self.gpu: Gpu = gpu
        self.address: int = address


@contextmanager
def areas(gpu: Gpu, *sizes: int) -> Iterator[list[At]]:
    """Yield memory of so many bytes each for the time of a call."""
    starts = list(accumulate((-(-size // ALIGN) * ALIGN for size in sizes), initial=0))
    with gpu.room(starts[-1]) as address:
        yield [At(gpu, address + start) for start in starts[:-1]]


def alpha_of(letter: str) -> Function:
    """Return the function that converts a number to a C element, for a routine that takes its
    address.
    """
    if letter == "i":
        return _int32
    known = REALS.get(letter)
    if known is None:
        return partial(scalar, letter)
    return lambda value: known[value] if value else scalar(letter, value)


def beta_of(letter: str) -> Function:
    """Return the same for a factor; a 0 of either sign says that the result is not read."""
    if letter == "i":
        return _int32
    known, zero = REALS.get(letter), scalar(letter, 0.0)
    if known is None:
        return lambda value: scalar(letter, value) if value else zero
    return lambda value: known[value] if value else zero


def _int32(value: Number) -> CData:
    """Return a factor of integers in the 32 bits that the result has."""
    return ffi.new("int32_t *", (int(value) + (1 << 31)) % (1 << 32) - (1 << 31))


def lowest(letter: str, x: Layout) -> tuple[int, int]:
    """Return where a vector begins in memory, in bytes from its first element, and its step."""
    assert x.vector is not None, "fits has let it through"
    return (x.vector[0] - x.displacement) * SIZES[letter], x.vector[1]
