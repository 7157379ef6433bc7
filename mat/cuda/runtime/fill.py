"""Filling a whole storage on the device with values that the driver cannot fill."""

from __future__ import annotations

from collections.abc import Iterable

from .blocks import DeviceBlock
from .gpu import Gpu
from .kernel import CudaKernel
from .nvrtc import Program

PROGRAM = Program('#include "fill.cuh"\n')
_THREADS = 256


def programs() -> Iterable[Program]:
    """Return every program of this module."""
    return (PROGRAM,)


class _FillTarget:
    """The operand of the kernel: a whole block."""

    __slots__ = ("address", "gpu", "handle")

    def __init__(self, gpu: Gpu, handle: DeviceBlock) -> None:
        self.gpu = gpu
        self.handle = handle
        self.address = handle.address


def fill_kernel(gpu: Gpu, handle: DeviceBlock, pattern: bytes, count: int) -> None:
    """Fill a block with `count` repetitions of `pattern`, of 8 or 16 bytes."""
    low, high = (int.from_bytes((pattern + pattern)[at:at + 8], "little", signed=True)
                 for at in (0, 8))
    grid = (-(-count // _THREADS), 1, 1)
    kernel = CudaKernel(PROGRAM, f"mat_fill_{len(pattern)}", (count, low, high), grid,
                        (_THREADS, 1, 1)).bind((0,), ())
    kernel(_FillTarget(gpu, handle))
