"""Sorting on the device: the kernels of ``native/cuda/sort.cuh``, by merging of runs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import prod

from ...layout.merged_axes import ReductionAxis, merged
from ...support.dtypes import BOOL, BY_CHAR, BY_NAME, DISTINCT
from ...support.types import Function, Operand
from ..runtime.kernel import CudaKernel
from ..runtime.nvrtc import Program
from .reduce import axes_frame
from .scan import nothing

THREADS = 256  # as in sort.cuh
TILE = 1024  # elements that a block sorts at once
INDEX = 4  # bytes of an index in the workspace
KINDS = tuple(BY_CHAR[char].suffix for char in DISTINCT if char != BOOL)  # that are compared
_OPERANDS = -1  # in place of an area of the workspace


@cache
def program(kind: str) -> Program:
    """Return the program for elements of a type."""
    return Program(f'#include "sort.cuh"\nMAT_SORT({kind}, mat_{kind})\n')


def programs() -> Iterator[Program]:
    """Yield all programs."""
    return (program(kind) for kind in KINDS)


def suffix_of(x: Operand) -> str:
    """Return the type for comparing elements: bools are small integers."""
    found = BY_NAME[x.dtype.name].suffix
    return "u8" if found == "b1" else found


def prepare_sort(x: Operand, out: Operand, axis: int, descending: bool,
                 indices: bool) -> Function:
    """Return the kernels that write the elements of `x`, in order along `axis`, or their
    indices.
    """
    if not prod(x.shape):
        return nothing
    steps = zip(x.shape, x.element_strides, out.element_strides, strict=True)
    every = [axes for k, axes in enumerate(steps)
             if k != axis]
    every.sort(key=lambda a: -abs(a[2]))
    others = [ReductionAxis(*axes) for axes in merged(every)]
    length, lines = x.shape[axis], prod(a.n for a in others)
    tiles, elements = -(-length // TILE), length * lines
    name = f"{'argsort' if indices else 'sort'}_{suffix_of(x)}"
    made_by, widths = program(suffix_of(x)), list(_widths(length))
    area = _rounded(elements * x.itemsize) + (_rounded(elements * INDEX) if indices else 0)
    room = area * min(len(widths), 2)

    def launch(kind: str, number: int, width: int, then: CudaKernel | None) -> CudaKernel:
        """Return a kernel that reads the output of the previous one, with others after it."""
        target = _OPERANDS if number == len(widths) else number % 2
        frame = [length, x.element_strides[axis], out.element_strides[axis], tiles, width,
                 (number - 1) % 2, target,
                 elements, int(descending), *axes_frame(others)]
        return CudaKernel(made_by, f"{name}_{kind}", frame, (lines * tiles, 1, 1), (THREADS, 1, 1),
                          room=room, then=then)

    then = None
    for number in range(len(widths), 0, -1):
        then = launch("merge", number, widths[number - 1], then)
    return launch("tiles", 0, 0, then)


def _rounded(nbytes: int) -> int:
    return -(-nbytes // 16) * 16


def _widths(length: int) -> Iterator[int]:
    """Yield the lengths of the runs that are merged to a line."""
    width = TILE
    while width < length:
        yield width
        width *= 2
