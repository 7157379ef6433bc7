"""Copies on a device: the kernels that `permute` plans, chosen by the alignment of the operands'
addresses; and from one dtype to another, by those in ``native/cuda/convert.cuh``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import chain
from math import prod

from ...core.compiled import DriverCall
from ...layout.merged_axes import CopyAxis, starts
from ...layout.shapes import Ints
from ...support.dtypes import BY_CHAR, ELEMENT_TYPES, FLOAT8
from ...support.types import Operand, Presented
from ..runtime.kernel import CudaKernel, launches_of
from ..runtime.nvrtc import Program
from .permute import (
    BLOCK,
    RANK,
    Copy,
    Step,
    alignment,
    axes_frame,
    is_near,
    merged_upwards,
    packed,
    parts,
    plan,
    program_of,
)
from .permute import programs as sources

ROOM = 2  # the operand that is the workspace of a call: the one after source and target


@cache
def _programs() -> dict[str, Program]:
    return {name: Program(text) for name, text in sources().items()}


def programs() -> Iterator[Program]:
    """Return every program of this module."""
    return chain(_programs().values(), conversions())


class Aligned:
    """A kernel with a variant from `make` for each alignment; None has nothing to do."""

    def __init__(self, make: Callable[[int, int], CudaKernel | None]) -> None:
        self.make: Callable[[int, int], CudaKernel | None] = make
        self.variants: dict[tuple[int, int], CudaKernel | None] = {}
        self.operands: Sequence[int] = (0, 1)
        self.numbers: Sequence[int] = ()

    def bind(self, operands: Sequence[int], numbers: Sequence[int]) -> Aligned:
        """Set the positions in a call of source and target, and of numbers; return self."""
        self.operands, self.numbers = operands, numbers
        return self

    def __call__(self, *values: Presented) -> None:
        kernel = self.variant(*self.alignments(values))
        if kernel is not None:
            kernel(*values)

    def alignments(self, values: Sequence[Presented]) -> tuple[int, int]:
        """Return the last four bits of the addresses of source and target."""
        source, target = self.operands
        return values[source].address & 15, values[target].address & 15

    def variant(self, source: int, target: int) -> CudaKernel | None:
        """Return the kernel for addresses with these last four bits; None if it does nothing."""
        key = source, target
        if key not in self.variants:
            made = self.make(alignment(source), alignment(target))
            self.variants[key] = made and made.bind(self.operands, self.numbers)
        return self.variants[key]

    def launch_like(self, values: Sequence[Presented]) -> DriverCall | None:
        """Return the compiled launches for operands with any alignment, if there are any."""
        gpu, kernel = values[self.operands[0]].gpu, self.variant(*self.alignments(values))

        def chain(source: int, target: int) -> tuple[DriverCall, ...]:
            found = self.variant(source, target)
            return () if found is None else found.chain(gpu)

        return launches_of(gpu, chain, 0 if kernel is None else kernel.room, aligned=True)


def prepare_copy(x: Operand, out: Operand, through: bool = False) -> Aligned:
    """Return a kernel that copies `x`, broadcast, to `out`; `through` a workspace on overlap."""
    axes, size = axes_of(x, out), out.itemsize
    if not through:
        return Aligned(lambda read, written: chained(plan(axes, size, read=read, written=written)))
    given = [CopyAxis(n, p, s) for (n, _, s), p in zip(axes, packed(axes, size), strict=True)]
    back = [CopyAxis(n, d, p) for (n, d, _), p in zip(axes, packed(axes, size), strict=True)]
    room = size * prod(a.n for a in axes)

    def make(read: int, written: int) -> CudaKernel | None:
        there = plan(given, size, read=read, written=16, target=ROOM)
        return chained(there + plan(back, size, read=16, written=written, source=ROOM), room)

    return Aligned(make)


def prepare_moves(shape: Ints, to: Ints, source: Ints, size: int) -> Aligned:
    """Return a kernel that copies elements of `size` bytes between operands with these steps."""
    axes = [CopyAxis(n, d * size, s * size) for n, d, s in zip(shape, to, source, strict=True)]
    return Aligned(lambda read, written: chained(plan(axes, size, read=read, written=written)))


def axes_of(x: Operand, out: Operand) -> list[CopyAxis]:
    """Return the axes of the Mat `out` with the steps of both in bytes; `x` is broadcast."""
    shape, size = out.layout.shape, x.itemsize
    missing = len(shape) - len(x.layout.shape)
    own = zip(x.layout.shape, x.layout.strides, strict=True)
    steps = [0] * missing + [0 if n == 1 else s for n, s in own]
    axes = zip(shape, out.layout.strides, steps, strict=True)
    return [CopyAxis(n, d * out.itemsize, s * size) for n, d, s in axes]


Find = Callable[[str], tuple[Program, str]]


def _find(kernel: str) -> tuple[Program, str]:
    return _programs()[program_of(kernel)], f"permute_{kernel}"


def chained(steps: Sequence[Step], room: int = 0, then: CudaKernel | None = None,
            find: Find = _find) -> CudaKernel | None:
    """Return kernels for `steps` in sequence, then `then`; `find` returns program and name."""
    first = then
    for kernel, frame, blocks, threads in reversed(steps):
        program, name = find(kernel)
        first = CudaKernel(program, name, frame, (blocks, 1, 1), (threads, 1, 1), room=room,
                           then=first)
    return first


# Conversions


TYPES = {t.name: t.suffix for t in ELEMENT_TYPES}
# ml_dtypes has rules of its own for what is beyond integers
EIGHT_BITS = frozenset(BY_CHAR[char].name for char in FLOAT8)
GROUPS = 4  # of elements that a thread converts
LARGE = 1 << 16  # bytes from which on two steps are faster than scattered reads


def program(source: str, target: str) -> Program:
    """Return the program that converts one dtype, by name, to another and others of its kind."""
    return _program(source, kind(target))


@cache
def _program(source: str, of: str) -> Program:
    lines = [f"CONVERT({TYPES[source]}, {TYPES[target]})" for target in targets(source)
             if kind(target) == of]
    return Program("\n".join(['#include "convert.cuh"', *lines]) + "\n")


def kind(dtype: str) -> str:
    """Return the letter of integers, of complex numbers, or of all others."""
    return dtype[0] if dtype[0] in "iuc" else "f"


def targets(source: str) -> list[str]:
    """Return the dtypes that elements of this one are converted to."""
    return [t for t in TYPES if t != source and not moves_only(source, t)
            and (t[0] == "c" or source[0] != "c")
            and not (source in EIGHT_BITS and kind(t) in "iu")]


def conversions() -> Iterator[Program]:
    """Yield the programs that convert."""
    for source in TYPES:
        for of in dict.fromkeys(map(kind, targets(source))):
            yield _program(source, of)


def moves_only(source: str, target: str) -> bool:
    """Return whether elements of one dtype have the same bits as those of the other."""
    return source.removeprefix("u") == target.removeprefix("u")


def prepare_convert(x: Operand, out: Operand) -> Aligned:
    """Return a kernel that copies `x`, broadcast, to `out`; none for complex numbers to real."""
    axes = axes_of(x, out)
    names = x.dtype.name, out.dtype.name
    if moves_only(*names):
        size = out.itemsize
        return Aligned(lambda read, written: chained(plan(axes, size, read=read, written=written)))
    sizes = x.itemsize, out.itemsize
    if is_near(merged_upwards(axes), x.itemsize) or prod(a.n for a in axes) * min(sizes) < LARGE:
        return Aligned(
            lambda read, written: _kernels(*names, converting(axes, *sizes, read, written)))
    return Aligned(partial(_in_two_steps, axes, names, sizes))


def _kernels(source: str, target: str, steps: Sequence[Step], room: int = 0,
             then: CudaKernel | None = None) -> CudaKernel | None:
    """Return kernels for the converting `steps`, followed by `then`."""
    name = f"convert_{TYPES[source]}_{TYPES[target]}"
    return chained(steps, room, then, lambda kernel: (program(source, target), name + kernel))


def _in_two_steps(axes: list[CopyAxis], names: tuple[str, str], sizes: tuple[int, int], read: int,
                  written: int) -> CudaKernel | None:
    """Return kernels that copy through a workspace with elements of the shorter type.

    One of the steps converts, in the order of the addresses; the other one moves elements.
    """
    if sizes[0] > sizes[1]:
        # the axes of the source, each element once
        order = sorted((a for a in axes if a.s), key=lambda a: -abs(a.s))
        steps = dict(zip(order, packed(order, sizes[1]), strict=True))
        room = sizes[1] * prod(a.n for a in order)
        moving = plan([CopyAxis(a.n, a.d, steps.get(a, 0)) for a in axes], sizes[1], read=16,
                      written=written, source=ROOM)
        there = converting([CopyAxis(a.n, steps[a], a.s) for a in order], *sizes, read, 16,
                           target=ROOM)
        return _kernels(*names, there, room, chained(moving, room))
    order = sorted(axes, key=lambda a: -abs(a.d))
    between = packed(order, sizes[0])
    room = sizes[0] * prod(a.n for a in order)
    pairs = list(zip(order, between, strict=True))
    moving = plan([CopyAxis(a.n, p, a.s) for a, p in pairs], sizes[0], read=read, written=16,
                  target=ROOM)
    there = converting([CopyAxis(a.n, a.d, p) for a, p in pairs], *sizes, 16, written, source=ROOM)
    return chained(moving, room, _kernels(*names, there, room))


# seven parameters: a step has a size, an alignment and an operand on either side
def converting(axes: Sequence[CopyAxis], wide: int, narrow: int, read: int, written: int,
               source: int = 0, target: int = 1) -> list[Step]:
    """Return the steps that convert elements of one size to another over `axes`.

    Their kernels are named by the ends of the names.
    """
    if any(a.n == 0 for a in axes):
        return []
    whole = Copy(merged_upwards(axes), narrow, source, target, *starts(axes), read, written)
    return [_step(part, wide, narrow) for part in parts(whole)]


def _step(copy: Copy, size: int, unit: int) -> Step:
    *others, i = copy.axes or [CopyAxis(1, unit, size)]
    group = 16 // max(size, unit)
    adjacent = i.s == size and i.d == unit and i.n % group == 0
    from_aligned = alignment(copy.read, copy.start, *(a.s for a in others)) % (group * size) == 0
    to_aligned = alignment(copy.written, copy.to, *(a.d for a in others)) % (group * unit) == 0
    wide = adjacent and from_aligned and to_aligned
    each = group if wide else 1
    axes = [CopyAxis(i.n // each, i.d * each, i.s * each), *reversed(others)]
    count = prod(a.n for a in axes)
    ends = copy.source, copy.target, copy.start, copy.to
    frame = [*ends, count, len(axes), *axes_frame(axes, RANK)]
    return Step("_wide" if wide else "", frame, -(-count // (BLOCK * GROUPS)), BLOCK)
