"""Reductions and scans by compiled kernels: the frame of operands of one form, and the two stages
of long ones.

Nothing here depends on the number of threads: into which parts a reduction is cut, and in what
order these are put together, its shape and strides decide. So does its result.
"""

from __future__ import annotations

from math import ceil, inf, prod

from ..layout.merged_axes import CHUNK, ReductionAxis, ReductionForm, is_in_order, other_axes
from ..support.dtypes import BY_NAME, COMPLEX_TYPES
from ..support.native import ffi, lib
from ..support.types import CData, Operand
from .kernel import BRIEF, CpuKernel, Finish

TILE = 1024  # columns that a kernel does at once, at most: as in native/cpu/reduce_inline.h
BLOCK = 1024  # elements of a line after which a part may end
ROWS = 64  # the same of columns
PART = 16384  # elements that a part should have at least
MOST_ROWS = 256  # of parts with columns; more of these have more rows for no purpose
UNITS = 16  # units of work that are so many that none need be cut
SHARE = 1 << 16  # bytes of x that a thread should at least get
HELD = 1 << 20  # bytes of long lines up to which the GIL is kept: some 15 microseconds
MOST_ROOM = 1 << 20  # bytes of parts of few rows
RANK = 32  # axes that a frame has room for


# the type of frames
REDUCTION: CData = None if lib is None else ffi.typeof("mat_reduction *")


def _address(kernel: str) -> int:
    return int(ffi.cast("uintptr_t", ffi.addressof(lib, kernel)))


# the second stages of sums of floats, by the addresses of these
_FINISH = {} if lib is None else {_address(f"mat_sum_{letter}"):
                                  _address(f"mat_sum_finish_{letter}") for letter in "fd"}


# the parameters are what a frame says of the result
def reduction(kernel: str, form: ReductionForm, itemsize: int, *, mean: bool = False,
              accumulate: bool = False, mask: int = 0, ddof: int | None = None,
              root: bool = False) -> CpuKernel:
    """Return a kernel for operands of this form. With `accumulate` its numbers are alpha and beta,
    of sums only. `mask`: the bits of an element that make it true. Variances divide by the count
    less `ddof`, with the square `root` if set.
    """
    frame = ffi.new("mat_reduction *")
    kept, total = list(form.kept), prod(a.n for a in form.reduced)
    reduced = form.reduced if form.reduced and total else [ReductionAxis(total, 0, 0)]
    results = prod(a.n for a in kept)
    frame.columns = frame.column_x = frame.column_y = 0
    if kept and 0 < kept[-1].x < min((abs(a.x) for a in reduced if a.x), default=inf):
        frame.columns, frame.column_x, frame.column_y = kept.pop()
    frame.results, frame.reduced = results, total
    frame.start_x, frame.start_y = form.start_x, form.start_y
    frame.divisor, frame.mean = total if mean else 1, mean
    frame.accumulate, frame.mask = accumulate, mask
    if ddof is not None:
        frame.divisor, frame.root = max(total - ddof, 0), root
    frame.tile = min(frame.columns, TILE)
    frame.tiles = ceil(frame.columns / TILE) if frame.columns else 1
    _fill(frame.kept, kept)
    _fill(getattr(frame, "in"), reduced)
    units = frame.tiles * prod(a.n for a in kept)
    frame.chunk, frame.chunks = ((max(total, 1), 1) if kernel[-1] in COMPLEX_TYPES
                                 else _cut(total, units, frame.tile))
    work = frame.chunk * max(frame.tile, 1) * itemsize
    grain = SHARE / max(work, 1)
    long = not frame.columns and reduced[-1].x == 1 and reduced[-1].n >= BLOCK
    brief = HELD / max(work, 1) if long else BRIEF * grain
    if frame.chunks > 1:
        name, _, letter = kernel.rpartition("_")
        finish = Finish(_address(f"{name}_finish_{letter}"), results,
                        (16 if ddof is None else 24) * results * frame.chunks)
        return CpuKernel(_address(kernel), frame, units * frame.chunks, grain,
                         brief=brief, finish=finish)
    return CpuKernel(_address(kernel), frame, units, grain, brief=brief)


def by_rows(kernel: CpuKernel) -> CpuKernel | None:
    """Return a sum of columns by rows, with the same bits; None for others or much memory."""
    finish = None if lib is None else _FINISH.get(kernel.address)
    whole, parts = kernel.frame, -(-kernel.frame.reduced // ROWS)
    room = 16 * whole.results * parts
    if finish is None or not whole.columns or parts < 2 or room > MOST_ROOM:
        return None
    frame = ffi.new("mat_reduction *", whole[0])
    frame.group = parts if whole.chunks == 1 else whole.chunk // ROWS
    frame.chunk, frame.chunks = ROWS, parts
    return CpuKernel(kernel.address, frame, parts, 0, finish=Finish(finish, whole.results, room))


def _fill(axes: CData, given: list[ReductionAxis]) -> None:
    axes.rank = len(given)
    for k, a in enumerate(given):
        axes.n[k], axes.x[k], axes.y[k] = a


def _cut(total: int, units: int, tile: int) -> tuple[int, int]:
    """Return the elements of a part of a result, and how many parts there are."""
    wide = max(tile, 1)
    if units >= UNITS or total * wide * units < 4 * PART:
        return max(total, 1), 1
    step = ROWS if tile else BLOCK
    least = PART if not tile else max(2 * PART / wide, min(total * units / UNITS, MOST_ROWS))
    chunk = step * ceil(least / step)
    return chunk, ceil(total / chunk)


# Running sums, products and extremes


GRAIN = 1 << 12  # elements that a thread should at least get
LINES = 16  # that are so many that none need be cut
SCAN_BLOCK, BLOCKS = 1 << 13, 64  # elements of a block at least, blocks of a line at most
SCAN_TILE = 2048  # bytes of a line of a tile: adjacent columns, which are done together
SCAN_COLUMNS = 512  # of a tile at most, as in scan.c


# the operands, and what is known of them
def prepare_scan(name: str, x: Operand, out: Operand, axis: int, begun: bool) -> CpuKernel:
    """Return the kernel of a scan; `begun`: its lines go on after the results before `out`."""
    frame = ffi.new("mat_scan *")
    frame.begun = begun
    others = other_axes(x.shape, (x.element_strides, out.element_strides), axis)
    frame.length = x.shape[axis]
    frame.step_x, frame.step_y = x.element_strides[axis], out.element_strides[axis]
    if others and abs(others[-1][2]) < abs(frame.step_y):
        frame.columns, frame.column_x, frame.column_y = others.pop()
        frame.tile = min(SCAN_TILE // out.itemsize, SCAN_COLUMNS)
    frame.others.rank = len(others)
    for k, (n, in_x, in_y) in enumerate(others):
        frame.others.n[k], frame.others.x[k], frame.others.y[k] = n, in_x, in_y
    if is_in_order(name, out.dtype, frame.length) or begun:
        frame.in_order, frame.block = True, CHUNK
        frame.blocks = -(-frame.length // CHUNK)
    of, to = (BY_NAME[m.dtype.name].suffix for m in (x, out))
    lines = prod(a[0] for a in others)
    if not frame.columns and lines < LINES and frame.length >= 2 * SCAN_BLOCK:
        return _by_blocks(f"{name}_{of}_{to}", frame, lines)
    kernel = lib.mat_scan_kernel(f"{name}_{of}_{to}".encode())
    tiles = -(-frame.columns // frame.tile) if frame.columns else 1
    work = frame.length * max(min(frame.columns, frame.tile), 1)
    return CpuKernel(kernel, frame, lines * tiles, GRAIN / max(work, 1),
                     brief=BRIEF * GRAIN / max(work, 1))


def _by_blocks(name: str, frame: CData, lines: int) -> CpuKernel:
    """Return the kernel of that name that does few lines by blocks."""
    totals, finish = (lib.mat_scan_kernel(f"{name}_{stage}".encode())
                      for stage in ("totals", "finish"))
    if not frame.in_order:
        frame.block = max(SCAN_BLOCK, -(-frame.length // BLOCKS))
        frame.blocks = -(-frame.length // frame.block)
    units, grain = lines * frame.blocks, GRAIN / frame.block
    return CpuKernel(totals, frame, units, grain, brief=BRIEF * grain,
                     finish=Finish(finish, units, 16 * units, True))
