"""Filling a whole storage on the device with a value that the driver's own fills cannot write."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .gpu import DeviceBlock, Gpu
from .kernel import CudaKernel
from .nvrtc import Program

PROGRAM = Program('#include "fill.cuh"\n')
_THREADS = 256


def programs() -> Iterable[Program]:
    """All that can ever be asked for."""
    return (PROGRAM,)


class _Target:
    """The operand of the kernel: all of a block."""

    __slots__ = ("address", "gpu", "handle")

    def __init__(self, gpu: Gpu, handle: DeviceBlock) -> None:
        self.gpu = gpu
        self.handle = handle
        self.address = handle.address


def fill_kernel(gpu: Gpu, handle: DeviceBlock, pattern: bytes, count: int) -> None:
    """Write `pattern`, of 8 or 16 bytes, `count` times."""
    low, high = (int.from_bytes((pattern + pattern)[at:at + 8], "little", signed=True)
                 for at in (0, 8))
    grid = (-(-count // _THREADS), 1, 1)
    launch: Any = CudaKernel(PROGRAM, f"mat_fill_{len(pattern)}", (count, low, high), grid,
                             (_THREADS, 1, 1)).bind((0,), ())
    launch(_Target(gpu, handle))
