"""The plan of a copy from one layout to another: the frame of the kernel in
``native/cpu/permute.c``.

Pure arithmetic on lengths and strides, done once for operands of one form. Each of `Switches` can
be turned off, to measure its effect; ``docs/layout.md`` explains them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from ..layout.merged_axes import CopyAxis, merged, starts, upwards
from ..layout.strided import Layout, packed
from ..support.native import ffi, lib
from ..support.types import CData, Operand, Presented
from .kernel import BRIEF, CpuKernel

BYTES, RUNS, UNITS, ZIP, UNZIP, TRANSPOSE = range(6)  # ways to copy a block; as in permute.c
WIDEST_RUN = 1 << 16  # longer runs are shared by threads
EDGE = 256  # bytes of a block's lines, in the destination and in the source
LONG_EDGE = 1 << 12  # bytes of lines in the destination where they are long,
SHORT_EDGE = 1 << 7  # and of those in the source then
LINE = 1 << 14  # units in a block where one axis is the fastest of both
FAR_EDGE = 512  # bytes of lines of copies larger than the caches
STREAMED = 16  # units of such a line where the destination is written past the caches
FAR = 1 << 23  # bytes from which on a copy is large,
FAR_RUNS = 1 << 24  # and one that only copies runs, for which the largest cache is enough
STREAM = 1 << 11  # bytes of lines that are long enough to be written past the caches
LINES = 24  # bytes of units from which on the order of the destination is the best
SHARE = 1 << 16  # bytes that a thread should at least get,
SHARE_RUNS = 1 << 17  # and of long runs
FEW = 4  # axes up to this length get code of their own
WIDTH: int = lib.mat_permute_width() if lib is not None else 8


class Switches(NamedTuple):
    """The steps that a plan may use."""

    drop: bool = True  # axes of length 1
    merge: bool = True  # neighbouring axes into one
    widen: bool = True  # runs as one unit
    few: bool = True  # code for very short axes
    order: bool = True  # loops by their steps, smallest inside
    edge: int = EDGE  # bytes of a block's lines; 0: no blocks
    far_edge: int = FAR_EDGE
    width: int = WIDTH  # bytes of the vectors that transpose tiles; 8: no tiles
    narrow: bool = True  # 32-bit counts where they suffice
    stream: bool = True  # write past the caches, in large copies
    fetch: bool = True  # prefetch the next block, in large copies


_ALL = Switches()


class Blocks(NamedTuple):
    """An axis in blocks: the units in one, how many there are, the units in the last one."""

    size: int
    number: int
    last: int


class Moved(NamedTuple):
    """The elements of an operand, packed, in a workspace."""

    layout: Layout
    itemsize: int


class Workspace(NamedTuple):
    """Memory for one copy, as a kernel takes an operand."""

    address: int


def prepare_copy(x: Operand, out: Operand, switches: Switches = _ALL, *,
                 through: bool = False) -> CpuKernel | Callable[[Presented, Presented], None]:
    """Return a function that copies `x`, broadcast, to `out`; `through` a workspace on overlap."""
    if not through:
        return _direct(x, out, switches)
    between = Moved(packed(x.layout.shape), x.itemsize)
    there = _direct(x, between, switches).bind((0, 1), ())
    back = _direct(between, out, switches).bind((0, 1), ())
    room = between.layout.size * between.itemsize

    def copy(x: Presented, out: Presented) -> None:
        block = np.empty(room, np.uint8)  # NumPy asks for huge pages
        workspace = Workspace(block.ctypes.data)
        there(x, workspace)
        back(workspace, out)

    return copy


def _direct(x: Operand, out: Operand, switches: Switches) -> CpuKernel:
    """Return the kernel that copies `x` to `out`, none of whose elements is another one of `x`."""
    size = out.itemsize
    shape = out.layout.shape
    # a frequent case, without the plan
    if x.layout.contiguous and out.layout.contiguous and x.layout.shape == shape:
        return prepare_axes([CopyAxis(out.layout.size, size, size)], size, switches)
    missing = len(shape) - len(x.layout.shape)
    steps = [0 if n == 1 else s for n, s in zip(x.layout.shape, x.layout.strides, strict=True)]
    both = zip(shape, out.layout.strides, [0] * missing + steps, strict=True)
    return prepare_axes([CopyAxis(n, d * size, s * size) for n, d, s in both], size, switches)


def prepare_axes(axes: Sequence[CopyAxis], size: int, switches: Switches) -> CpuKernel:
    """Return the kernel that copies elements of `size` bytes over `axes`."""
    frame = ffi.new("permute_frame *")
    if any(axis.n == 0 for axis in axes):
        return CpuKernel(lib.mat_permute, frame, 0, 0)
    given = [a for a in axes if a.n != 1] if switches.drop else list(axes)
    source, frame.to = starts(given)
    setattr(frame, "from", source)  # the name is a keyword of Python
    loops = upwards(given)
    if switches.merge:
        loops = list(map(CopyAxis._make, merged(loops, keep_ones=not switches.drop)))
    frame.unit, frame.width = size, switches.width
    if switches.widen and loops and loops[-1].d == loops[-1].s == size:
        frame.unit = size * loops.pop().n
    moved = frame.unit * prod(a.n for a in loops)
    outer = _blocks(frame, loops, moved, switches)
    _fill(frame, outer, switches)
    count = prod(a.n for a in outer)
    grain = count * (SHARE_RUNS if frame.kind == BYTES else SHARE) / moved
    return CpuKernel(lib.mat_permute, frame, count, grain, brief=BRIEF * grain)


def _blocks(frame: CData, loops: list[CopyAxis], moved: int, switches: Switches) -> list[CopyAxis]:
    """Choose a block and the way to copy it; return the loops over blocks, innermost first."""
    unit, far = frame.unit, moved >= FAR
    frame.stream = moved >= FAR_RUNS and unit >= STREAM and switches.stream
    if unit > WIDEST_RUN or not loops:
        return _run(frame, loops)
    i = loops[-1]
    j = min((a for a in loops if a.s), key=lambda a: (abs(a.s), a.d), default=i)
    frame.kind = UNITS if unit in (1, 2, 4, 8, 16) else RUNS
    if j is i or not i.s or unit >= LINES:
        return _lines(frame, loops)
    if frame.kind == UNITS and i.d == unit == j.s:
        _shuffled(frame, i, j, switches)
    if frame.kind == TRANSPOSE:
        _vectors(frame, i.n, j.d, all(a.d % 64 == 0 for a in loops if a is not i), far, switches)
    size = (switches.far_edge if far else switches.edge) // unit if switches.edge else max(i.n, j.n)
    size = 1024 // unit if frame.kind == RUNS and switches.edge else size
    size = STREAMED if frame.stream and switches.edge else size
    size = LINE // FEW if frame.kind in (ZIP, UNZIP) else max(8, size)
    # otherwise the first block could have a negative length
    frame.shift = frame.shift and size * unit >= 64
    high = size
    if frame.kind == TRANSPOSE and switches.edge == EDGE and not far and _long(i, j, unit):
        size, high = LONG_EDGE // unit, SHORT_EDGE // unit
    return _cut(frame, i, j, cut(i.n, size), cut(j.n, high),
                [a for a in loops if a is not i and a is not j], switches.order)


def _long(i: CopyAxis, j: CopyAxis, unit: int) -> bool:
    """Return whether to use flat blocks as wide as a destination row: rows are then written in
    sequence, and each cache line of the source is used up soon.

    Lines whose distance is a power of two would evict each other before that.
    """
    return min(i.n, j.n) * unit >= 2 * EDGE and i.s % 1024 != 0


def _vectors(frame: CData, n: int, step: int, aligned: bool, far: bool, switches: Switches) -> None:
    """Choose the width of vectors, and whether they are written past the caches.

    `n` is the length of lines in the destination and `step` the step to the next one. Vectors of a
    whole cache line are fastest where lines begin like cache lines, and where so many of them
    compete for the same lines of a cache that the first piece of one would be evicted before the
    second one is written.
    """
    frame.fetch = far and switches.fetch
    long = n * frame.unit >= STREAM and frame.unit >= 4
    frame.stream = far and aligned and long and switches.stream
    wide = aligned or step % 1024 == 0
    frame.width = switches.width if wide else min(switches.width, 32)
    frame.shift = aligned


def _run(frame: CData, loops: list[CopyAxis]) -> list[CopyAxis]:
    """Plan the copy of long runs: a block is a stretch of one."""
    frame.kind = BYTES
    if not loops and frame.unit <= WIDEST_RUN:
        frame.loop_i = frame.loop_j = -1
        frame.ni = frame.last_i = frame.unit
        frame.nj = frame.last_j = 1
        return loops
    return _cut(frame, CopyAxis(frame.unit, 1, 1), CopyAxis(1, 0, 0), cut(frame.unit, WIDEST_RUN),
                Blocks(1, 1, 1), loops)


def _lines(frame: CData, loops: list[CopyAxis]) -> list[CopyAxis]:
    """Plan a copy whose sides have one fastest axis: a block is stretches of it along the next."""
    i = loops[-1]
    j = loops[-2] if len(loops) > 1 else CopyAxis(1, 0, 0)
    line = max(1, LINE // max(1, frame.unit // 8))
    return _cut(frame, i, j, cut(i.n, line), cut(j.n, max(1, line // i.n)), loops[:-2])


def _shuffled(frame: CData, i: CopyAxis, j: CopyAxis, switches: Switches) -> None:
    """Choose vectors for units adjacent along `i` in the destination and `j` in the source."""
    unit = frame.unit
    if switches.few and 2 <= i.n <= FEW and j.d == i.n * unit and unit < 16:
        frame.kind = ZIP
    elif switches.few and 2 <= j.n <= FEW and i.s == j.n * unit and unit < 16:
        frame.kind = UNZIP
    elif switches.width > 8:
        frame.kind = TRANSPOSE


def cut(n: int, size: int) -> Blocks:
    """Divide `n` into blocks of about `size`, the last one half to one and a half times as long."""
    count = max(1, (n + size // 2) // size)
    size = min(size, n) if count > 1 else n
    return Blocks(size, count, n - size * (count - 1))


# seven parameters: two axes with their blocks, and all that remains
def _cut(frame: CData, i: CopyAxis, j: CopyAxis, cut_i: Blocks, cut_j: Blocks,
         rest: list[CopyAxis], order: bool = True) -> list[CopyAxis]:
    """Set the axes of a block; return the loops over blocks, innermost first."""
    frame.ni, frame.di, frame.si, frame.last_i = cut_i.size, i.d, i.s, cut_i.last
    frame.nj, frame.dj, frame.sj, frame.last_j = cut_j.size, j.d, j.s, cut_j.last
    over_i = CopyAxis(cut_i.number, cut_i.size * i.d, cut_i.size * i.s)
    over_j = CopyAxis(cut_j.number, cut_j.size * j.d, cut_j.size * j.s)
    outer = [*reversed(rest), *(a for a in (over_j, over_i) if a.n > 1)]
    if order:
        outer.sort(key=lambda a: a.reach)
    frame.loop_i = next((k for k, a in enumerate(outer) if a is over_i), -1)
    frame.loop_j = next((k for k, a in enumerate(outer) if a is over_j), -1)
    return outer


def _fill(frame: CData, outer: list[CopyAxis], switches: Switches) -> None:
    frame.narrow = switches.narrow and prod(a.n for a in outer) < 2**32
    frame.rank = len(outer)
    for k, a in enumerate(outer):
        frame.n[k], frame.d[k], frame.s[k] = a
