"""The kernels of ``native/cuda/convolve.cuh`` and ``pool.cuh``: choice and launch.

Functions get the axes of the windows and operands with shape, strides and dtype, all of which have
been checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from math import prod
from typing import NamedTuple

from ...layout.shapes import Ints
from ...layout.sliding_window import ONE, WindowAxis, Windows
from ...support.dtypes import BY_CHAR, FLOATING, INTEGERS, UNSIGNED
from ...support.types import DType, Presented
from ..runtime.kernel import THREADS, CudaKernel, blocks_for, in_blocks
from ..runtime.nvrtc import Program

BLOCKS = 2048  # among which a sum over all points is divided, if there is so much to add up
PIECES = 16384  # at most, of one tap
MOST_TILES = 32  # in a piece, unless there would be more pieces
MOST_DOWN = 65535  # blocks in a grid, of rows and of units

# The kernels, as templates of the element type; the first and third group are for floats only. R:
# points below each other.
_CONVOLVE = {
    "convolve_3": "nn_convolve<T, R, 3, 3>",
    "convolve_5": "nn_convolve<T, R, 5, 5>",
    "convolve_rows": "nn_convolve<T, R, 4, 1>",
    "correlate_3": "nn_correlate<T, R, 3, 3, true>",
    "correlate_5": "nn_correlate<T, R, 5, 5, true>",
    "correlate_4": "nn_correlate<T, R, 4, 4, false>",
}
_CONVOLVE_ANY = {
    "convolve_points": "nn_convolve_points<T>",
    "convolve_to_x": "nn_to_x<T>",
    "correlate_1": "nn_correlate<T, R, 1, 8, false>",
    "correlate_gather": "nn_gather<T>",
}
_POOL_PAIRS = {"pool_pairs": "nn_pool_pairs<T>", "pool_pairs_back": "nn_pool_pairs_back<T>"}
_POOL = {"pool": "nn_pool<T>", "pool_back": "nn_pool_back<T>"}
# in one program
_TOGETHER = {name: tuple(group) for group in (_POOL, _POOL_PAIRS) for name in group}


def _each(name: str, kind: str) -> int:
    """Return how many points below each other a thread has, whose elements fit in registers."""
    if name == "convolve_points":
        return 1
    few = name in ("correlate_1", "correlate_4") or (kind == "f64" and name
                                                     in ("convolve_3", "convolve_5", "correlate_5"))
    return 4 if few else 8


class StridedWindow(NamedTuple):
    """An axis with the strides of the operands along it."""

    axis: WindowAxis
    strides: Ints


class Tiling(NamedTuple):
    """A grid over columns, rows and units: the threads of a block, and how many blocks each way."""

    block: tuple[int, int, int]
    across: int
    down: int
    deep: int

    @property
    def tiles(self) -> int:
        return self.across * self.down * self.deep


def _type(dtype: DType, signed: bool = False) -> str:
    """Return the dtype's suffix in names; where signs do not matter, integers are unsigned."""
    suffix = BY_CHAR[dtype.char].suffix
    return suffix if signed or dtype.kind != "i" else suffix.replace("i", "u")


@cache
def _program(name: str, kind: str) -> Program:
    """Return the program that has the kernel of that name for elements of a type."""
    kernels = {**_CONVOLVE, **_CONVOLVE_ANY, **_POOL_PAIRS, **_POOL}
    header = "pool" if name.startswith("pool") else "convolve"
    lines = [f'#include "{header}.cuh"', f"typedef mat_{kind} T;",
             f"enum {{ R = {_each(name, kind)} }};"]
    lines += [f"MAT_KERNEL({n}_{kind}, nn_loop, {THREADS}) {{ {kernels[n]}(frame, call); }}"
              for n in _TOGETHER.get(name, (name,))]
    return Program("\n".join(lines) + "\n")


def programs() -> Iterator[Program]:
    """Yield all programs that there are."""
    for names, chars in ((_CONVOLVE, FLOATING), (_CONVOLVE_ANY, FLOATING + UNSIGNED),
                         (("pool_pairs",), FLOATING), (("pool",), FLOATING + INTEGERS)):
        for kind in dict.fromkeys(BY_CHAR[char].suffix for char in chars):
            for name in names:
                yield _program(name, kind)


def _rows(axes: Windows, main: int, *strides: Ints) -> list[StridedWindow]:
    """Return columns, rows, other axes, by operand `main`; operands may lack the first axes."""
    padded = [(0,) * (len(axes) - len(s)) + tuple(s) for s in strides]
    rows = [StridedWindow(a, s) for a, s in zip(axes, zip(*padded, strict=True), strict=True)]
    used = [r for r in rows if not r.axis.n == r.axis.nx == r.axis.k == 1]
    # stable: later axes are the closer ones
    used.sort(key=lambda r: (r.axis.n == 1, abs(r.strides[main])))
    return used + [StridedWindow(ONE, (0,) * len(strides))] * (2 - len(used))


def _power(least: int, low: int, high: int) -> int:
    """Return the least power of two from `low` to `high` that is not below `least`, or `high`."""
    found = low
    while found < min(least, high):
        found *= 2
    return found


def _cover(columns: int, rows: int, units: int, each: int = 1) -> Tiling:
    """Return blocks of `THREADS` for columns, units, and rows, `each` rows to a thread."""
    x = _power(columns, 8, 64)
    y = _power(-(-rows // each), 1, THREADS // x)
    z = _power(units, 1, THREADS // (x * y))
    x = THREADS // (y * z)
    return Tiling((x, y, z), -(-columns // x), -(-rows // (each * y)), -(-units // z))


class Loop(NamedTuple):
    """The points or positions to visit: axes, tiles, units of the outer axes, and the first tap."""

    rows: Sequence[StridedWindow]
    tiling: Tiling
    units: int
    base: int = 0


def _kernel(name: str, dtype: DType, loop: Loop, *, signed: bool = False,
            work: bool = True) -> CudaKernel:
    """Return the kernel over all tiles, if there is any `work`."""
    kind, tiling = _type(dtype, signed), loop.tiling
    lined = max(tiling.down, tiling.deep) > MOST_DOWN
    grid = (tiling.tiles, 1, 1) if lined else (tiling.across, tiling.down, tiling.deep)
    return CudaKernel(_program(name, kind), f"{name}_{kind}", _frame(loop, lined),
                      grid if work else (0, 1, 1), tiling.block)


def _frame(loop: Loop, lined: bool = True, each: int = 1, pieces: int = 1,
           chunks: tuple[int, int] = (1, 1)) -> list[int]:
    rows, tiling, units, base = loop
    taps = prod(r.axis.k for r in rows[2:])
    plain = len(rows) <= 3 and all(r.axis == WindowAxis(r.axis.n, r.axis.n, 1, 1, 0)
                                   for r in rows[2:])
    frame = [len(rows), units, taps, plain, tiling.across, tiling.down, lined, base, tiling.tiles,
             each, pieces, *chunks]
    for row in rows:
        frame += [*row.axis[:5], *row.strides, *(0 for _ in range(4 - len(row.strides)))]
    return frame + [0] * (9 * (8 - len(rows)))


def _points(rows: Sequence[StridedWindow]) -> int:
    return prod(r.axis.n for r in rows[2:])


def _positions(rows: Sequence[StridedWindow]) -> int:
    return prod(r.axis.nx for r in rows[2:])


def _square(rows: Sequence[StridedWindow], dtype: DType) -> int:
    """Return 3 or 5 for windows of so many taps each way, whose elements are adjacent, else 0."""
    column, row = rows[:2]
    fits = (column.axis.k == row.axis.k in (3, 5) and row.axis.step == 1
            and column.strides[0] == 1 and _near(rows, dtype))
    return column.axis.k if fits and dtype.char in FLOATING else 0


def _near(rows: Sequence[StridedWindow], dtype: DType) -> bool:
    """Return whether steps of rows and columns fit into 32 bits, as all fast kernels require."""
    return all(abs(stride) * dtype.itemsize < 1 << 31 for r in rows[:2] for stride in r.strides)


def prepare_convolve(axes: Windows, x: Presented, w: Presented, y: Presented) -> CudaKernel:
    """Prepare ``y += convolve(x, w)`` as a kernel of ``(x, w, y)``."""
    rows = _rows(axes, 2, x.element_strides, w.element_strides, y.element_strides)
    return _convolution(rows, 0, y, w.size > 0)


def _convolution(rows: Sequence[StridedWindow], base: int, y: Presented, work: bool) -> CudaKernel:
    """Return the kernel for windows of `w`, whose first tap is at `base`."""
    column, row = (r.axis for r in rows[:2])
    size, units = _square(rows, y.dtype), _points(rows)
    if size:
        name = f"convolve_{size}"
    else:
        several = row.step == 1 and row.n > 1 and y.dtype.char in FLOATING and _near(rows, y.dtype)
        name = "convolve_rows" if several else "convolve_points"
    tiling = _cover(column.n, row.n, units, _each(name, _type(y.dtype)))
    return _kernel(name, y.dtype, Loop(rows, tiling, units, base), work=work and y.size > 0)


def prepare_to_x(axes: Windows, yd: Presented, w: Presented, xd: Presented) -> CudaKernel:
    """Prepare the derivative by x: with dense windows, a convolution of yd with reversed taps."""
    rows = _rows(axes, 2, yd.element_strides, w.element_strides, xd.element_strides)
    work = w.size > 0 and yd.size > 0
    if any(r.axis.step != 1 for r in rows):
        units = _positions(rows)
        tiling = _cover(rows[0].axis.nx, rows[1].axis.nx, units)
        return _kernel("convolve_to_x", xd.dtype, Loop(rows, tiling, units),
                       work=work and xd.size > 0)
    reverse = [StridedWindow(WindowAxis(a.nx, a.n, a.k, 1, 1 - a.off - a.k), (s[0], -s[1], s[2]))
               for a, s in rows]
    return _convolution(reverse, sum((a.k - 1) * s[1] for a, s in rows), xd, work)


def prepare_to_w(axes: Windows, x: Presented, yd: Presented, wd: Presented) -> CudaKernel:
    """Prepare the derivative by w, added to wd, as a kernel of ``(x, yd, wd)``.

    Pieces of the points are summed up each by itself, and then added in a fixed order. The pieces
    depend on the sizes alone, and so does the result.
    """
    rows = _rows(axes, 2, x.element_strides, wd.element_strides, yd.element_strides)
    column, row = (r.axis for r in rows[:2])
    size, units, taps = _square(rows, wd.dtype), _points(rows), prod(r.axis.k for r in rows[2:])
    many = row.step == 1 and row.k > 1 and wd.dtype.char in FLOATING and _near(rows, wd.dtype)
    name, high, wide = ((f"correlate_{size}", size, size) if size
                        else ("correlate_4", 4, 4) if many else ("correlate_1", 1, 8))
    kind = _type(wd.dtype)
    tiling = _cover(column.n, row.n, units, _each(name, kind))
    chunks = -(-row.k // high), -(-column.k // wide)
    jobs, work = taps * prod(chunks), wd.size > 0 and yd.size > 0
    each = max(1, min(MOST_TILES, tiling.tiles * jobs // BLOCKS), -(-tiling.tiles // PIECES))
    pieces = -(-tiling.tiles // each)
    frame = _frame(Loop(rows, tiling, units), each=each, pieces=pieces, chunks=chunks)
    total = wd.size if work else 0
    gather = in_blocks(_program("correlate_gather", kind), f"correlate_gather_{kind}", frame,
                       blocks_for(32 * total))
    return CudaKernel(_program(name, kind), f"{name}_{kind}", frame,
                      (pieces * jobs if work else 0, 1, 1), tiling.block,
                      room=8 * total * pieces, then=gather)


def _pairs(rows: Sequence[StridedWindow], dtype: DType) -> int:
    """Return how many pairs 16 bytes hold, where windows are pairs of adjacent elements; else 0."""
    a, strides = rows[0]
    fits = (a.k, a.step, a.off, a.n) == (2, 2, 0, (a.nx + 1) // 2) and all(s == 1 for s in strides)
    return 8 // dtype.itemsize if fits and dtype.char in FLOATING else 0


def prepare_pool(axes: Windows, x: Presented, y: Presented) -> CudaKernel:
    """Prepare ``y <- max_pool(x)`` as a kernel of ``(x, y)``."""
    rows = _rows(axes, 1, x.element_strides, y.element_strides)
    pairs, units = _pairs(rows, y.dtype), _points(rows)
    tiling = _cover(-(-rows[0].axis.n // (pairs or 1)), rows[1].axis.n, units)
    return _kernel("pool_pairs" if pairs else "pool", y.dtype, Loop(rows, tiling, units),
                   signed=True, work=y.size > 0)


def prepare_pool_back(axes: Windows, x: Presented, y: Presented, yd: Presented,
                      xd: Presented) -> CudaKernel:
    """Prepare ``xd += yd`` where x is the largest of a window; of ``(x, y, yd, xd)``."""
    rows = _rows(axes, 3, *(o.element_strides for o in (x, y, yd, xd)))
    pairs, units = _pairs(rows, xd.dtype), _positions(rows)
    tiling = _cover(-(-rows[0].axis.nx // (2 * pairs or 1)), rows[1].axis.nx, units)
    return _kernel("pool_pairs_back" if pairs else "pool_back", xd.dtype,
                   Loop(rows, tiling, units), signed=True, work=xd.size > 0 and y.size > 0)
