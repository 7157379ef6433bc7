"""Copies on a device from one dtype to another, by the kernels in ``native/cuda/convert.cuh``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, partial
from math import prod

from ...layout.merged_axes import CopyAxis, starts
from ...support.dtypes import BY_CHAR, ELEMENT_TYPES, FLOAT8
from ...support.types import Operand
from ..runtime.kernel import CudaKernel
from ..runtime.nvrtc import Program
from .copy import ROOM, Aligned, axes_of, chained
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
)

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


def programs() -> Iterator[Program]:
    """Return every program of this module."""
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
