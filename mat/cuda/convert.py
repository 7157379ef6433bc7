"""Copies on a device that convert from one dtype to another: launches of the kernels in
``native/cuda/convert.cuh``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, partial
from math import prod
from typing import Any

from ..support.dtypes import ELEMENT_TYPES
from .copy import ROOM, Aligned, axes_of, chained
from .kernel import CudaKernel
from .nvrtc import Program
from .permute import (
    BLOCK,
    RANK,
    Copy,
    CopyAxis,
    Step,
    alignment,
    is_near,
    merged,
    packed,
    parts,
    plan,
    walk,
)

TYPES = {t.name: t.suffix for t in ELEMENT_TYPES}
GROUPS = 4  # of elements that a thread converts
LARGE = 1 << 16  # bytes from which on two steps are better than reading from everywhere


def program(source: str, target: str) -> Program:
    """What converts from one dtype, by name, to another, and to others of the same kind."""
    return _program(source, kind(target))


@cache
def _program(source: str, of: str) -> Program:
    lines = [f"CONVERT({TYPES[source]}, {TYPES[target]})" for target in targets(source)
             if kind(target) == of]
    return Program("\n".join(['#include "convert.cuh"', *lines]) + "\n")


def kind(dtype: str) -> str:
    """Integers, complex numbers, or the rest."""
    return dtype[0] if dtype[0] in "iuc" else "f"


def targets(source: str) -> list[str]:
    """The dtypes that elements of this one are converted to."""
    return [t for t in TYPES if t != source and not moves_only(source, t)
            and (t[0] == "c" or source[0] != "c")]


def programs() -> Iterator[Program]:
    """All that there are."""
    for source in TYPES:
        for of in dict.fromkeys(map(kind, targets(source))):
            yield _program(source, of)


def moves_only(source: str, target: str) -> bool:
    """Whether elements of one dtype are, bit by bit, those of the other."""
    whole = [name.removeprefix("u") for name in (source, target)]
    return whole[0] == whole[1] or (source == "bool" and whole[1] == "int8")


def prepare_convert(x: Any, out: Any) -> Aligned:
    """What copies the elements of the Mat `x`, broadcast, to those of `out`, of any dtype; not
    complex ones to real ones.
    """
    axes = axes_of(x, out)
    names = x.dtype.name, out.dtype.name
    if moves_only(*names):
        return Aligned(lambda read,
                       written: chained(plan(axes, out.itemsize, read=read, written=written)))
    sizes = x.itemsize, out.itemsize
    if is_near(merged(axes), x.itemsize) or prod(a.n for a in axes) * min(sizes) < LARGE:
        return Aligned(lambda read,
                       written: _launched(*names, converting(axes, *sizes, read, written)))
    return Aligned(partial(_in_two_steps, axes, names, sizes))


def _launched(source: str, target: str, steps: Sequence[Step], room: int = 0,
              then: CudaKernel | None = None) -> CudaKernel | None:
    """Converting `steps` as launches, and `then`."""
    name = f"convert_{TYPES[source]}_{TYPES[target]}"
    return chained(steps, room, then, lambda kernel: (program(source, target), name + kernel))


def _in_two_steps(axes: list[CopyAxis], names: tuple[str, str], sizes: tuple[int, int], read: int,
                  written: int) -> CudaKernel | None:
    """Through a workspace, of elements of the shorter type: one step converts, in order, the other
    one moves.
    """
    if sizes[0] > sizes[1]:
        # as the source has them, and once each
        order = sorted((a for a in axes if a.s), key=lambda a: -abs(a.s))
        steps = dict(zip(order, packed(order, sizes[1]), strict=True))
        room = sizes[1] * prod(a.n for a in order)
        moving = plan([CopyAxis(a.n, a.d, steps.get(a, 0)) for a in axes], sizes[1], read=16,
                      written=written, source=ROOM)
        there = converting([CopyAxis(a.n, steps[a], a.s) for a in order], *sizes, read, 16,
                           target=ROOM)
        return _launched(*names, there, room, chained(moving, room))
    order = sorted(axes, key=lambda a: -abs(a.d))
    between = packed(order, sizes[0])
    room = sizes[0] * prod(a.n for a in order)
    pairs = list(zip(order, between, strict=True))
    moving = plan([CopyAxis(a.n, p, a.s) for a, p in pairs], sizes[0], read=read, written=16,
                  target=ROOM)
    there = converting([CopyAxis(a.n, a.d, p) for a, p in pairs], *sizes, 16, written, source=ROOM)
    return chained(moving, room, _launched(*names, there, room))


def converting(axes: Sequence[CopyAxis], wide: int, narrow: int, read: int, written: int,
               source: int = 0,
               target: int = 1) -> list[Step]:
    """What converts elements of one size to elements of another over `axes`; kernels are named by
    what ends their names.
    """
    if any(a.n == 0 for a in axes):
        return []
    start = sum(a.s * (a.n - 1) for a in axes if a.d < 0)
    to = sum(a.d * (a.n - 1) for a in axes if a.d < 0)
    whole = Copy(merged(axes), narrow, source, target, start, to, read, written)
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
    frame = [copy.source, copy.target, copy.start, copy.to, count, len(axes), *walk(axes, RANK)]
    return Step("_wide" if wide else "", frame, -(-count // (BLOCK * GROUPS)), BLOCK)
