"""Sorting on the device: by merging of runs (``native/cuda/sort.cuh``), and long lines of elements
of up to 8 bytes by digits (``radix.cuh``); searching and counting (``search.cuh``,
``counting.cuh``).

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
from ..runtime.kernel import THREADS, CudaKernel, blocks_for, in_blocks
from ..runtime.nvrtc import Program
from .reduce import axes_frame, other_reduction_axes
from .scan import nothing
from .selection import prepare_accumulate

TILE = 1024  # elements that a block sorts at once
INDEX = 4  # bytes of an index in the workspace
KINDS = tuple(BY_CHAR[char].suffix for char in DISTINCT if char != BOOL)  # that are compared
RADIXED = tuple(kind for kind in KINDS if kind[0] != "c")
RADIX_TILE, DIGITS, DIGIT_BITS = 4096, 256, 8  # as in radix.cuh
MOST_BLOCKS = 1 << 31  # blocks of a grid, of which each digit of a line has one
MERGES = 1.5  # that take as long as a pass over a digit, by the bytes that are moved
COUNTING = Program('#include "counting.cuh"\n')
_OPERANDS = -1  # in place of an area of the workspace


@cache
def program(way: str, kind: str) -> Program:
    """Return the program that sorts elements of a type, by digits ("radix"), or searches."""
    more = ""
    if way == "search" and kind[0] in "iuf":
        result = kind if kind[0] == "f" else "f64"
        more = f"MAT_MIDDLE({kind}, mat_{kind}, mat_{result})\n"
        more += f"MAT_BETWEEN({kind}, mat_{kind})\n" if kind in ("f32", "f64") else ""
    return Program(f'#include "{way}.cuh"\nMAT_{way.upper()}({kind}, mat_{kind})\n{more}')


def programs() -> Iterator[Program]:
    """Yield all programs."""
    for way, kinds in (("sort", KINDS), ("search", KINDS), ("radix", RADIXED)):
        for kind in kinds:
            yield program(way, kind)
    yield COUNTING


def suffix_of(x: Operand) -> str:
    """Return the type for comparing elements: bools are small integers."""
    found = BY_NAME[x.dtype.name].suffix
    return "u8" if found == "b1" else found


def prepare_sort(x: Operand, out: Operand, axis: int, descending: bool, indices: bool) -> Function:
    """Return kernels that write sorted elements of `x` along `axis`, or their indices."""
    if not prod(x.shape):
        return nothing
    others = other_reduction_axes(x, out, axis)
    length, lines = x.shape[axis], prod(a.n for a in others)
    elements, kind = length * lines, suffix_of(x)
    area = _rounded(elements * x.itemsize) + (_rounded(elements * INDEX) if indices else 0)
    by_digits = (kind in RADIXED and len(list(_widths(length))) > MERGES * x.itemsize
                 and lines * DIGITS < MOST_BLOCKS)
    tile = RADIX_TILE if by_digits else TILE
    tiles = -(-length // tile)
    # two passes at least, so that x may be out
    widths = ([DIGIT_BITS * k for k in range(max(2, x.itemsize))] if by_digits
              else [0, *_widths(length)])
    areas = area * min(len(widths) - 1, 2)
    room = areas + (4 * lines * DIGITS * (tiles + 1) if by_digits else 0)
    way = "radix" if by_digits else "sort"
    name = f"{'arg' if indices else ''}{way}_{kind}"

    def launch(stage: str, number: int, blocks: int, then: CudaKernel | None) -> CudaKernel:
        """Return a kernel that reads the output of the previous one, with others after it."""
        last, first = number == len(widths) - 1, number == 0
        frame = [length, x.element_strides[axis], out.element_strides[axis], tiles,
                 widths[number], _OPERANDS if first else (number - 1) % 2,
                 _OPERANDS if last else number % 2, elements, int(descending),
                 *axes_frame(others), *([areas] if by_digits else [])]
        return in_blocks(program(way, kind), f"{name}_{stage}", frame, blocks, room=room, then=then)

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


def _rounded(nbytes: int) -> int:
    return -(-nbytes // 16) * 16


def _widths(length: int) -> Iterator[int]:
    """Yield the lengths of the runs that are merged to a line."""
    width = TILE
    while width < length:
        yield width
        width *= 2


# Searching and counting


WARPS = THREADS // 32
ROOM = 8192  # bins in the shared memory of a block
EACH, BLOCKS = 32, 1024  # integers of a thread at least, blocks at most, where there are few bins


def _launch(made_by: Program, name: str, frame: list[int], count: int,
            then: CudaKernel | None = None) -> CudaKernel:
    return in_blocks(made_by, name, frame, blocks_for(count), then=then)


def prepare_searchsorted(a: Operand, v: Operand, out: Operand, right: bool) -> Function:
    """Return the kernel that searches in the vector `a`."""
    frame = [a.size, a.element_strides[0], v.size, int(right),
             *axes_frame(other_reduction_axes(v, out))]
    return _search(a, "found", frame, v.size)


def _search(x: Operand, name: str, frame: list[int], count: int) -> Function:
    kind = suffix_of(x)
    return _launch(program("search", kind), f"search_{kind}_{name}", frame,
                   count) if count else nothing


def prepare_firsts(x: Operand, equal_nan: bool) -> Function:
    """Return the kernel that finds where sorted elements differ from those before them."""
    return _search(x, "firsts", [x.size, int(equal_nan), 0], x.size)


def prepare_between(x: Operand, out: Operand, median: bool) -> Function:
    """Return the kernel of the medians of sorted lines, or of what is between two elements."""
    lines = merged(zip(out.shape, x.element_strides[:-1], out.element_strides, strict=True))
    frame = [x.shape[-1], x.element_strides[-1], out.size,
             *axes_frame(list(map(ReductionAxis._make, lines)))]
    return _search(x, "middle" if median else "between", frame, out.size)


def prepare_bincount(x: Operand, out: Operand) -> Function:
    """Return the kernels that count equal integers."""
    frame = [x.size, out.size]
    if 0 < out.size <= min(ROOM, x.size):
        counting = in_blocks(COUNTING, "counting_few", [*frame, min(WARPS, ROOM // out.size)],
                             min(BLOCKS, blocks_for(x.size, EACH)))
    else:
        counting = _launch(COUNTING, "counting_bins", frame, x.size)
    return _launch(COUNTING, "counting_zeros", [out.size, 1], out.size, counting)


def prepare_weighted(x: Operand, weights: Operand, out: Operand) -> Function:
    """Return the kernels that add up the weights of equal integers; their arguments: integers,
    their sorting kernel, weights, and sums.
    """
    adding = prepare_accumulate(x, weights, out, "add", (0,)) if x.size else None
    return _launch(COUNTING, "counting_zeros", [out.size, 3], out.size, adding)


def prepare_placed(x: Operand, out: Operand) -> Function:
    """Return the kernel that copies the first element of each rank."""
    return _launch(COUNTING, f"counting_placed_{x.itemsize}", [x.size, out.size], x.size)


def prepare_inverse_order(order: Operand, out: Operand) -> Function:
    """Return the kernel that puts ranks where elements were before they were sorted."""
    return _launch(COUNTING, "counting_inverse", [order.size, out.size], order.size)
