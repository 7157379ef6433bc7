"""Copies within the host's memory, into page-locked buffers and out of them, by several threads."""

from __future__ import annotations

from functools import lru_cache

from ...cpu.kernel import CpuKernel
from ...cpu.permute import Switches, Workspace, prepare_axes
from ...layout.merged_axes import CopyAxis
from ...layout.shapes import Ints
from ...support.c_pointers import address_of
from ...support.native import lib
from ...support.types import Array

SHARED = 1 << 18  # bytes from which on threads share a copy


def copy_array(source: Array, target: Array) -> None:
    """Copy an array to another one of its shape and dtype that shares no memory with it."""
    if lib is None or source.nbytes < SHARED:
        target[...] = source
        return
    kernel = _kernel(source.itemsize, source.shape, source.strides, target.strides)
    kernel(Workspace(address_of(source)), Workspace(address_of(target)))


@lru_cache(64)
def _kernel(size: int, shape: Ints, source: Ints, target: Ints) -> CpuKernel:
    """Return the kernel for elements of `size` bytes with these strides in bytes."""
    axes = [CopyAxis(*axis) for axis in zip(shape, target, source, strict=True)]
    return prepare_axes(axes, size, Switches()).bind((0, 1), ())
