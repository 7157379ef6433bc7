"""Sorting on the device: by merging of runs (``native/cuda/sort.cuh``), and long lines of elements
of up to 8 bytes by digits (``radix.cuh``).

CUB was tried through NVRTC (CCCL 13.3): one kernel with one of its blocks takes 1.4 s to compile,
all six of a type here 1.1 s. Its sorts of devices need 29 MB of headers and internal names, and the
C++ compiler that runs our kernels in the tests cannot compile them.
"""

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
RADIXED = tuple(kind for kind in KINDS if kind[0] != "c")
RADIX_TILE, DIGITS, DIGIT_BITS = 4096, 256, 8  # as in radix.cuh
MERGES = 1.5  # that take as long as a pass over a digit, by the bytes that are moved
_OPERANDS = -1  # in place of an area of the workspace


@cache
def program(kind: str) -> Program:
    """Return the program for elements of a type."""
    return Program(f'#include "sort.cuh"\nMAT_SORT({kind}, mat_{kind})\n')


@cache
def radix_program(kind: str) -> Program:
    """Return the program that sorts elements of a type by digits."""
    return Program(f'#include "radix.cuh"\nMAT_RADIX({kind}, mat_{kind})\n')


def programs() -> Iterator[Program]:
    """Yield all programs."""
    yield from (program(kind) for kind in KINDS)
    yield from (radix_program(kind) for kind in RADIXED)


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
    others = _others(x, out, axis)
    length, lines = x.shape[axis], prod(a.n for a in others)
    elements, kind = length * lines, suffix_of(x)
    area = _rounded(elements * x.itemsize) + (_rounded(elements * INDEX) if indices else 0)
    by_digits = kind in RADIXED and len(list(_widths(length))) > MERGES * x.itemsize
    tile = RADIX_TILE if by_digits else TILE
    tiles = -(-length // tile)
    # two passes at least, so that x may be out
    widths = ([DIGIT_BITS * k for k in range(max(2, x.itemsize))] if by_digits
              else [0, *_widths(length)])
    areas = area * min(len(widths) - 1, 2)
    room = areas + (4 * lines * DIGITS * (tiles + 1) if by_digits else 0)
    made_by = radix_program(kind) if by_digits else program(kind)
    name = f"{'arg' if indices else ''}{'radix' if by_digits else 'sort'}_{kind}"

    def launch(stage: str, number: int, blocks: int, then: CudaKernel | None) -> CudaKernel:
        """Return a kernel that reads the output of the previous one, with others after it."""
        last, first = number == len(widths) - 1, number == 0
        frame = [length, x.element_strides[axis], out.element_strides[axis], tiles,
                 widths[number], _OPERANDS if first else (number - 1) % 2,
                 _OPERANDS if last else number % 2, elements, int(descending),
                 *axes_frame(others), *([areas] if by_digits else [])]
        return CudaKernel(made_by, f"{name}_{stage}", frame, (blocks, 1, 1), (THREADS, 1, 1),
                          room=room, then=then)

    then = None
    for number in reversed(range(len(widths))):
        if by_digits:
            then = launch("moves", number, lines * tiles, then)
            then = launch("starts", number, lines * DIGITS, then)
            then = launch("counts", number, lines * tiles, then)
        else:
            then = launch("merge" if number else "tiles", number, lines * tiles, then)
    assert then is not None
    return then


def _others(x: Operand, out: Operand, axis: int) -> list[ReductionAxis]:
    """Return the other axes, that with the largest steps of `out` first."""
    steps = zip(x.shape, x.element_strides, out.element_strides, strict=True)
    every = [axes for k, axes in enumerate(steps) if k != axis]
    every.sort(key=lambda a: -abs(a[2]))
    return [ReductionAxis(*axes) for axes in merged(every)]


def _rounded(nbytes: int) -> int:
    return -(-nbytes // 16) * 16


def _widths(length: int) -> Iterator[int]:
    """Yield the lengths of the runs that are merged to a line."""
    width = TILE
    while width < length:
        yield width
        width *= 2
