"""Counting integers by compiled kernels: the frames of packed vectors."""

from __future__ import annotations

from ..support.native import ffi, lib
from ..support.types import Operand
from .kernel import CpuKernel

LITTLE = 1 << 13  # integers up to which they are counted with the GIL


def prepare_extent(x: Operand) -> CpuKernel:
    """Return the kernel that writes the least and the largest integer of `x`, not empty."""
    return _kernel(lib.mat_extent, x.size, 0)


def prepare_count_bins(x: Operand, out: Operand) -> CpuKernel:
    """Return the kernel that counts 0, 1, ... in `x`, all below len(out)."""
    return _kernel(lib.mat_count_bins, x.size, out.size)


def _kernel(kernel: object, n: int, bins: int) -> CpuKernel:
    frame = ffi.new("mat_counting *", {"n": n, "bins": bins})
    return CpuKernel(kernel, frame, 1, int(n <= LITTLE))
