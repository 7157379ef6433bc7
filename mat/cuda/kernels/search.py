"""Searching and counting on the device: the kernels of ``native/cuda/search.cuh`` and
``counting.cuh``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ...layout.merged_axes import ReductionAxis, merged
from ...support.types import Function, Operand
from ..runtime.kernel import CudaKernel
from ..runtime.nvrtc import Program
from .reduce import axes_frame
from .scan import nothing
from .sort import KINDS, suffix_of

THREADS = 256  # as in the kernels
WARPS = THREADS // 32
ROOM = 8192  # bins in the shared memory of a block
EACH, BLOCKS = 32, 1024  # integers of a thread at least, blocks at most, where there are few bins
COUNTING = Program('#include "counting.cuh"\n')


@cache
def program(kind: str) -> Program:
    """Return the program for elements of a type."""
    return Program(f'#include "search.cuh"\nMAT_SEARCH({kind}, mat_{kind})\n')


def programs() -> Iterator[Program]:
    """Yield all programs."""
    yield COUNTING
    yield from (program(kind) for kind in KINDS)


# what a kernel is launched with
def _launch(made_by: Program, name: str, frame: list[int], count: int,
            then: CudaKernel | None = None) -> CudaKernel:
    return CudaKernel(made_by, name, frame, (-(-count // THREADS), 1, 1), (THREADS, 1, 1),
                      then=then)


def prepare_searchsorted(a: Operand, v: Operand, out: Operand, right: bool) -> Function:
    """Return the kernel that searches in the vector `a`."""
    axes = merged(sorted(zip(v.shape, v.element_strides, out.element_strides, strict=True),
                         key=lambda axis: -abs(axis[2])))
    frame = [a.size, a.element_strides[0], v.size, int(right),
             *axes_frame([ReductionAxis(*axis) for axis in axes])]
    return _launch(program(suffix_of(a)), f"search_{suffix_of(a)}_found", frame,
                   v.size) if v.size else nothing


def prepare_firsts(x: Operand, equal_nan: bool) -> Function:
    """Return the kernel that finds where sorted elements differ from those before them."""
    frame = [x.size, int(equal_nan), 0]
    return _launch(program(suffix_of(x)), f"search_{suffix_of(x)}_firsts", frame,
                   x.size) if x.size else nothing


def prepare_bincount(x: Operand, out: Operand) -> Function:
    """Return the kernels that count equal integers."""
    frame = [x.size, out.size]
    if 0 < out.size <= min(ROOM, x.size):
        blocks = min(BLOCKS, -(-x.size // (THREADS * EACH)))
        counting = CudaKernel(COUNTING, "counting_few", [*frame, min(WARPS, ROOM // out.size)],
                              (blocks, 1, 1), (THREADS, 1, 1))
    else:
        counting = _launch(COUNTING, "counting_bins", frame, x.size)
    return _launch(COUNTING, "counting_zeros", frame, out.size, counting)


def prepare_weighted(x: Operand, out: Operand) -> Function:
    """Return the kernel that adds up the weights of equal integers."""
    return _launch(COUNTING, "counting_weights", [x.size, out.size], out.size)


def prepare_placed(x: Operand, out: Operand) -> Function:
    """Return the kernel that copies the first element of each rank."""
    return _launch(COUNTING, f"counting_placed_{x.itemsize}", [x.size, out.size], x.size)


def prepare_inverse_order(order: Operand, out: Operand) -> Function:
    """Return the kernel that puts ranks where elements were before they were sorted."""
    return _launch(COUNTING, "counting_inverse", [order.size, out.size], order.size)
