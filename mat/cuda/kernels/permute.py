"""The plan of a copy from one layout to another on a device: the kernels of
``native/cuda/permute.cuh``, and their frames.

Pure arithmetic on lengths and strides, in bytes, which needs no device; ``docs/layout.md`` explains
it. A plan is made once for operands of one form and alignment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod, sqrt
from typing import NamedTuple

from ...layout.merged_axes import CopyAxis, magic, merged, starts, upwards
from ...layout.shapes import Ints

WIDEST = 16  # bytes that a thread can move at once
# in one launch, after merging: those of a frame, but for two that tiles add
MOST_AXES = 10
MOST = 1 << 30  # units in one launch: kernels count them in 32 bits
FAR = 2**31  # bytes: 32 bits do not hold such offsets
NEAR = 64  # bytes: reading in stretches of so many is as fast as in order
# bytes from which on runs are copied whole, by those of their units
LONG_RUN = {1: 256, 2: 512, 4: 2048, 8: 4096}
BLOCK = 256  # threads
TEAM_BYTES = 64  # that each thread of a team copies
# the worth of a tile, by the bytes of its vectors, if all threads have work,
WORTH = {16: 1.0, 8: 0.9, 4: 0.8, 2: 0.65, 1: 0.55}
BAND = 16  # tiles, as in permute.cuh
SMALL = 0.9  # the factor for tiles with shorter lines
# and that of the kernel for short axes, by the bytes of a unit
LOOSE_WORTH = {1: 0.3, 2: 0.4, 4: 0.6, 8: 0.7, 16: 0.8}
# blocks that share the tiles of a kernel whose threads keep their offsets
LOOSE_BLOCKS = 4096
INNER, RANK = 6, 12  # axes: as in permute_frame
# by the bytes of a unit: those of a vector, vectors of a line, threads
TILES: dict[int, tuple[Ints, ...]] = {1: ((16, 8, 64), (4, 32, 256), (1, 128, 256)),
         2: ((16, 8, 64), (4, 32, 256), (2, 64, 256)),
         4: ((16, 16, 256), (16, 8, 64), (8, 32, 256), (4, 64, 256), (4, 32, 256)),
         8: ((16, 32, 512), (16, 16, 256), (16, 8, 64), (8, 32, 256), (8, 16, 256)),
         16: ((16, 32, 256), (16, 16, 256))}
# bytes that are written at once
GATHERED: dict[int, Ints] = {1: (16, 4, 1), 2: (16, 4, 2), 4: (16, 4), 8: (16, 8), 16: (16,)}
CHANNELS = {1: (16, 4), 2: (16, 4), 4: (16, 4), 8: (16, 8)}
LOOSE_UNITS = {1: 2048, 2: 2048, 4: 2048, 8: 1024, 16: 1024}  # that fit in a tile


class Step(NamedTuple):
    """A kernel by name, its frame, and its blocks of threads."""

    kernel: str
    frame: list[int]
    blocks: int
    threads: int


class Copy(NamedTuple):
    """The axes of a copy, outermost first in the destination, and its units.

    `start` and `to` are the bytes from the operands' addresses to the first unit; `read` and
    `written` are powers of two of which the addresses are multiples.
    """

    axes: list[CopyAxis]
    unit: int
    source: int
    target: int
    start: int
    to: int
    read: int
    written: int


def plan(axes: Sequence[CopyAxis], size: int, *, read: int, written: int, source: int = 0,
         target: int = 1) -> list[Step]:
    """Return the steps that copy elements of `size` bytes over `axes` between these operands."""
    if any(a.n == 0 for a in axes):
        return []
    start, to = starts(axes)
    copy = widened(Copy(merged_upwards(axes), size, source, target, start, to, read, written))
    return [_step(part) for part in parts(copy)]


def merged_upwards(axes: Iterable[CopyAxis]) -> list[CopyAxis]:
    """Return the fewest axes, in the destination's order and counted upwards there."""
    return list(map(CopyAxis._make, merged(upwards(axes))))


def packed(axes: Sequence[CopyAxis], size: int) -> list[int]:
    """Return the strides, in bytes, of packed elements, the last axis fastest."""
    steps = [size]
    for a in reversed(axes[1:]):
        steps.append(steps[-1] * a.n)
    return steps[::-1][:len(axes)]


def alignment(*values: int) -> int:
    """Return the largest power of two, at most 16, that divides all `values`."""
    bits = WIDEST
    for value in values:
        bits |= value
    return bits & -bits


def widened(copy: Copy) -> Copy:
    """Return the copy in the widest units of adjacent elements that its alignment allows."""
    *others, run = copy.axes or [CopyAxis(1, 0, 0)]
    if not run.d == run.s == copy.unit:
        return copy
    steps = [step for a in others for step in (a.d, a.s)]
    unit = alignment(copy.read, copy.written, copy.start, copy.to, run.n * run.d, *steps)
    units = run.n * run.d // unit
    return copy._replace(unit=unit,
                         axes=[*others, CopyAxis(units, unit, unit)] if units > 1 else others)


def parts(copy: Copy) -> Iterator[Copy]:
    """Yield parts of the copy with few enough axes and units for one launch."""
    lengths = [a.n for a in copy.axes]
    if len(lengths) > MOST_AXES:
        k = min(range(len(lengths) - 1), key=lambda k: lengths[k])
        pieces = [(first, 1) for first in range(lengths[k])]
    elif prod(lengths) > MOST:
        k = max(range(len(lengths)), key=lambda k: lengths[k])
        half = lengths[k] // 2 // 64 * 64 or lengths[k] // 2
        pieces = [(0, half), (half, lengths[k] - half)]
    else:
        yield copy
        return
    _, d, s = copy.axes[k]
    for first, n in pieces:
        axes = [*copy.axes[:k], *[CopyAxis(n, d, s)][:n > 1], *copy.axes[k + 1:]]
        yield from parts(copy._replace(axes=axes, start=copy.start + first * s,
                                       to=copy.to + first * d))


def _step(copy: Copy) -> Step:
    """Return the step with the best kernel for the copy."""
    axes, unit = copy.axes, copy.unit
    run = axes[-1].n * unit if axes and axes[-1].d == axes[-1].s == unit else 0
    if run and (len(axes) == 1 or (unit < WIDEST and run >= LONG_RUN[unit])):
        return _rows(copy)
    if is_near(axes, unit):
        return _gather(copy)
    return _channels(copy) or _tile(copy) or _loose(copy) or _gather(copy)


def is_near(axes: Sequence[CopyAxis], unit: int) -> bool:
    """Return whether adjacent units of the destination are near each other in the source."""
    if not axes or (axes[-1].s == 0 and axes[-1].n * unit >= NEAR):
        return True
    written = [a for a in reversed(axes) if a.s]
    reach = unit
    for a, b in zip(written, _by_source(axes), strict=True):
        if a is not b:
            return reach >= NEAR
        reach += (a.n - 1) * abs(a.s)
        if reach >= NEAR:
            return True
    return True


def _by_source(axes: Iterable[CopyAxis]) -> list[CopyAxis]:
    """Return the axes with a stride in the source, the fastest first."""
    return sorted((a for a in axes if a.s), key=lambda a: (abs(a.s), a.d))


# One kernel each


def _rows(copy: Copy) -> Step:
    *others, run = copy.axes
    size = run.n * run.d
    threads = 32 if size < 32 * TEAM_BYTES * 2 else BLOCK
    piece = threads * TEAM_BYTES
    axes = [CopyAxis(-(-size // piece), piece, piece), *reversed(others)]
    count = prod(a.n for a in axes)
    return Step(f"rows_{threads}", _frame(copy, axes, count, ni=size),
                -(-count // (BLOCK // threads)), BLOCK)


def _gather(copy: Copy) -> Step:
    unit = copy.unit
    i = copy.axes[-1] if copy.axes else CopyAxis(1, unit, unit)
    limit = alignment(copy.written, copy.to,
                      *(a.d for a in copy.axes[:-1])) if i.d == unit else unit
    wide = next(v for v in GATHERED[unit] if v == unit or (v <= limit and i.n * unit % v == 0))
    each = wide // unit
    axes = [CopyAxis(i.n // each, i.d * each, i.s * each), *reversed(copy.axes[:-1])]
    count = prod(a.n for a in axes)
    far = max(sum((a.n - 1) * abs(step) for a, step in zip(axes, steps, strict=True))
              for steps in ([a.d for a in axes], [a.s for a in axes])) >= FAR
    name = f"gather_{unit}_{wide}" + ("_wide" if far else "")
    a_block = BLOCK * (2 if each >= 8 else 4 if wide >= 8 else 8)
    return Step(name, _frame(copy, axes, count, i=i), -(-count // a_block), BLOCK)


def _fastest(copy: Copy) -> tuple[CopyAxis, CopyAxis, list[CopyAxis], int]:
    """Return the fastest axes of both sides, the others, and the alignment of vectors."""
    i, j = copy.axes[-1], _by_source(copy.axes)[0]
    others = [a for a in copy.axes if a is not i and a is not j]
    steps = [step for a in others for step in (a.d, a.s)]
    return i, j, others, alignment(copy.read, copy.written, copy.start, copy.to, i.s, j.d, *steps)


def _channels(copy: Copy) -> Step | None:
    unit = copy.unit
    i, j, others, _ = _fastest(copy)
    if i is j or unit == WIDEST or i.d != unit or j.s != unit:
        return None
    if 2 <= i.n <= 4 and j.d == i.n * unit:
        way, few, many, plane = "zip", i, j, i.s
    elif 2 <= j.n <= 4 and i.s == j.n * unit:
        way, few, many, plane = "unzip", j, i, j.d
    else:
        return None
    limit = alignment(copy.read, copy.written, copy.start, copy.to, plane,
                      *(step for a in others for step in (a.d, a.s)))
    wide = next((v for v in CHANNELS[unit] if v <= limit and many.n * unit % v == 0), 0)
    if not wide:
        return None
    each = wide // unit
    axes = [CopyAxis(many.n // each, many.d * each, many.s * each), *reversed(others)]
    count = prod(a.n for a in axes)
    return Step(f"{way}_{unit}_{wide}_{few.n}", _frame(copy, axes, count, i=i, j=j),
                -(-count // BLOCK), BLOCK)


def _tile(copy: Copy) -> Step | None:
    unit = copy.unit
    i, j, others, limit = _fastest(copy)
    if i is j:
        return None
    adjacent = i.d == j.s == unit
    found: list[tuple[float, int, Step]] = []
    for k, (wide, vectors, threads) in enumerate(TILES[unit]):
        each = wide // unit
        edge = vectors * each
        tiles = [-(-a.n // edge) for a in (i, j)]
        if wide > unit and (not adjacent or wide > limit or i.n % each or j.n % each):
            continue
        axes = [CopyAxis(prod(tiles), 0, 0), *reversed(others)]
        count = prod(a.n for a in axes)
        worth = WORTH[wide] * (SMALL if vectors * wide <= 128 < unit * 128
                               else 1) * sqrt(i.n * j.n / (prod(tiles) * edge**2))
        frame = _frame(copy, axes, count, i=i, j=j, ni=i.n, nj=j.n,
                       more=[*tiles, divisor(BAND * tiles[1])])
        found.append((worth, -k, Step(f"tile_{unit}_{wide}_{vectors}", frame, count, threads)))
    worth, _, step = max(found)
    return step if worth >= LOOSE_WORTH[unit] else None


def _loose(copy: Copy) -> Step | None:
    unit, axes = copy.unit, copy.axes
    written, read = axes[::-1], _by_source(axes)
    sizes = _chosen(written, read, unit)
    inner = [a for a in written if sizes[a] > 1]
    cut = [a for a in inner if sizes[a] < a.n]
    reach = max(sum((sizes[a] - 1) * abs(step) for a, step in zip(inner, steps, strict=True))
                for steps in ([a.d for a in inner], [a.s for a in inner]))
    if len(inner) > INNER or len(cut) > 2 or reach >= FAR or len(axes) > RANK - 2:
        return None
    tiles = [CopyAxis(-(-a.n // sizes[a]), a.d, a.s) for a in cut]
    tiles += [CopyAxis(1, 0, 0)] * (2 - len(cut))
    rest = [a for a in written if sizes[a] == 1]
    outer = tiles + rest
    count = prod(a.n for a in outer)
    steps = [sizes[a] for a in cut] + [0] * (2 - len(cut))
    last = [a.n - sizes[a] for a in cut] + [0] * (2 - len(cut))
    load = sorted(inner, key=lambda a: (not a.s, abs(a.s), a.d))
    slots, slot = {}, 1
    for a in load:
        slots[a] = slot
        slot *= sizes[a]
    frame = _frame(copy, outer, count, more=[
        *steps, *last, len(inner), slot,
        *axes_frame([CopyAxis(sizes[a], 0, a.s) for a in load], INNER),
        *axes_frame([CopyAxis(sizes[a], a.d, slots[a]) for a in inner], INNER)])
    return Step(f"loose_{unit}", frame, min(count, LOOSE_BLOCKS), BLOCK)


def _chosen(written: list[CopyAxis], read: list[CopyAxis], unit: int) -> dict[CopyAxis, int]:
    """Return each axis's length in a tile, with like stretches of both sides' fastest axes."""
    room = LOOSE_UNITS[unit]
    want = next(w for w in (256, 128, 64, 48, 32, 24, 16, 8, 4, 2, 1)
                if prod(_covered(written, read, w, w).values()) <= room)
    a = b = want
    for part in (1, 2, 4):  # doubled, half as much again, a quarter
        while a < room and prod(_covered(written, read, a + max(1, a // part), b).values()) <= room:
            a += max(1, a // part)
        while b < room and prod(_covered(written, read, a, b + max(1, b // part)).values()) <= room:
            b += max(1, b // part)
    return _covered(written, read, a, b)


def _covered(written: list[CopyAxis], read: list[CopyAxis], a: int, b: int) -> dict[CopyAxis, int]:
    """Return axes of a tile with `a` units adjacent in the destination, `b` in the source."""
    sizes = dict.fromkeys(written, 1)
    for order, want in ((written, a), (read, b)):
        have = 1
        for axis in order:
            if have >= want:
                break
            blocks = -(-axis.n * have // want)
            size = max(sizes[axis], -(-axis.n // blocks))  # blocks of the same length
            have *= size
            sizes[axis] = size
            if size < axis.n:
                break
    return sizes


# The frame

_NO_AXIS = CopyAxis(0, 0, 0)


# the parameters are fields of the struct
def _frame(copy: Copy, axes: Sequence[CopyAxis], count: int, *, i: CopyAxis = _NO_AXIS,
           j: CopyAxis = _NO_AXIS, ni: int = 0, nj: int = 0, more: Sequence[int] = ()) -> list[int]:
    rest = [*more, *[0] * (6 + 8 * INNER - len(more)), len(axes), *axes_frame(axes, RANK)]
    return [copy.source, copy.target, copy.start, copy.to, count, ni, nj, i.d, i.s, j.d, j.s, *rest]


def axes_frame(axes: Sequence[CopyAxis], room: int) -> list[int]:
    """Return `axes` as an array of ``strided_axis``, with zeros for the rest of the room."""
    return [v for a in axes for v in (a.n, divisor(a.n), a.d, a.s)] + [0] * (4 * (room - len(axes)))


def divisor(n: int) -> int:
    """Return `magic(n, 32)`, for numbers below 2**31, in one word: the shift above the factor."""
    factor, shift = magic(n, 32)
    return shift << 32 | factor


# Programs: kernels that are used together


def programs() -> dict[str, str]:
    """Return the sources of all programs by name; `program_of` names that of a kernel."""
    found = {"rows": "PERMUTE_ROWS"}
    for u, tiles in TILES.items():
        found[f"gather_{u}"] = " ".join(f"PERMUTE_GATHER({u}, {v})" for v in GATHERED[u])
        for v, n, t in tiles:
            before = found.get(f"tile_{u}_{v}", "")
            found[f"tile_{u}_{v}"] = f"{before} PERMUTE_TILE({u}, {v}, {n}, {t})"
        found[f"loose_{u}"] = f"PERMUTE_LOOSE({u})"
    for u, vectors in CHANNELS.items():
        found[f"channels_{u}"] = " ".join(f"PERMUTE_FEW({u}, {v})" for v in vectors)
    return {name: f'#include "permute.cuh"\n{kernels}\n' for name, kernels in found.items()}


def program_of(kernel: str) -> str:
    """Return the name of the program that has `kernel`."""
    kind, *sizes = kernel.split("_")
    if kind == "rows":
        return kind
    kind = "channels" if kind in ("zip", "unzip") else kind
    return "_".join([kind, *sizes[:2 if kind == "tile" else 1]])
