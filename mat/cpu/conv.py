"""Frames for the kernels of sliding windows: those of ``native/cpu/conv.h`` have tiles that fit the
caches, and taps, and those of ``native/cpu/nn.h`` windows and strides.

Functions get the sizes of a convolution, or the axes of the windows, and operands with shape,
strides and dtype, all of which have been checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from ..layout.shapes import Ints
from ..layout.sliding_window import ONE, Channels, WindowAxis, Windows, remainders, with_batch
from ..layout.strided import packed_strides
from ..support.host_pool import workspace, zeros
from ..support.native import ffi, lib
from ..support.types import CData, Function, Presented
from .kernel import CpuKernel

WORK = 200_000  # products that a thread should get at least
SLOTS = 32  # at most: equal parts of the work, which threads take
PANEL = 6  # outputs whose sums are in registers at once
BUFFER, SUMS = 1 << 18, 1 << 18  # bytes of a tile's input and results
POINTS = 768  # of a tile, about
DEPTH = 256  # taps, about, whose input the fastest cache holds
ENOUGH = 8  # units, so that threads can share them
PIECES = 16  # into which a sum over all points is divided, at most
PARTIAL = 1 << 25  # bytes of partial sums, about
MOST_ROOM = 1 << 28  # bytes of all slots, unless one needs more
TOUCHED = 40_000  # elements to read that a thread should get at least
WINDOW_PIECES = 64  # into which a sum over all windows is divided, at most


class Side(NamedTuple):
    """One spatial axis of a job: where tap 0 is in w and how far taps are apart there; the first
    point in the output, and the distance of points, in points.
    """

    axis: WindowAxis
    first_tap: int = 0
    between: int = 1
    first: int = 0
    every: int = 1


class Job(NamedTuple):
    """A convolution: sizes, with `outputs` and `channels` of a group, and strides of w along
    groups, outputs, channels and taps.
    """

    n: int
    groups: int
    outputs: int
    channels: int
    sides: tuple[Side, ...]
    strides: tuple[int, int, int, Ints]

    def padded(self) -> tuple[tuple[Side, ...], Ints]:
        """Return three axes, with those that are missing before the others, and strides of w."""
        idle = 3 - len(self.sides)
        return (Side(ONE),) * idle + self.sides, (0,) * idle + tuple(self.strides[3])


class Grid(NamedTuple):
    """The buffer's phases, and by axis the reach of the taps in it, in points."""

    phases: tuple[Ints, ...]
    reach: Ints

    def image(self, points: Ints) -> int:
        """Count the elements of a phase of an image with so many points of each axis."""
        return prod(n + r for n, r in zip(points, self.reach, strict=True))


class Tiles(NamedTuple):
    """How images are cut: points of the leading axis, and images that are together in a tile."""

    lead: int
    rows: int
    together: int


def _grid(axes: Windows) -> Grid:
    places = [[divmod(p * a.dilation, a.step) for p in range(a.k)] for a in axes]
    return Grid(tuple(product(*(sorted({f for _, f in each}) for each in places))),
                tuple(max(q for q, _ in each) for each in places))


def _tiles(job: Job, grid: Grid, channels: int, size: int) -> Tiles:
    """Return tiles whose input, of so many channels, fits the buffer, if any do."""
    sides, _ = job.padded()
    lead, points = 3 - len(job.sides), [s.axis.n for s in sides]

    def fits(rows: int, together: int = 1) -> bool:
        image = grid.image((*points[:lead], rows, *points[lead + 1:]))
        return (image * together <= POINTS + grid.image((*points[:lead], 1, *points[lead + 1:]))
                and image * together * len(grid.phases) * channels * size <= BUFFER)

    rows = points[lead]
    while rows > 1 and not fits(rows):
        rows = -(-rows // 2) if not fits(-(-rows // 2)) else rows - 1
    together = 1
    while rows == points[lead] and together < job.n and fits(rows, together + 1):
        together += 1
    cuts = -(-points[lead] // rows)
    return Tiles(lead, -(-points[lead] // cuts), together)


def _shared(a: WindowAxis, grid: Grid, k: int) -> int:
    """Return how many zeros at the end of a buffer line can begin the next."""
    span, found = a.n + grid.reach[k], a.n
    for phase in grid.phases:
        first = a.off + phase[k]
        found = min(found, -(first // a.step), span + (first - a.nx) // a.step)
    return max(0, found)


def _frame(job: Job, x: Presented, y: Presented, grid: Grid, tiles: Tiles) -> CData:
    """Return a frame with all but the units."""
    sides, _ = job.padded()
    f = ffi.new("struct mat_conv *")
    f.images, f.groups, f.outputs, f.channels = job.n, job.groups, job.outputs, job.channels
    f.lead, f.rows, f.together = tiles.lead, tiles.rows, tiles.together
    f.cuts = -(-sides[tiles.lead].axis.n // tiles.rows)
    f.bundles = -(-job.n // tiles.together)
    f.x_image, f.x_channel = x.element_strides[:2]
    f.y_image, f.y_channel = y.element_strides[:2]
    points = [s.axis.n if k != tiles.lead else tiles.rows for k, s in enumerate(sides)]
    idle = 3 - len(job.sides)
    pitch = 1
    for k in (2, 1, 0):
        a, axis = sides[k].axis, f.axes[k]
        axis.n, axis.nx, axis.step, axis.off = a.n, a.nx, a.step, a.off
        shared = _shared(a, grid, k) if k != tiles.lead or f.cuts == 1 else 0
        axis.span, axis.pitch = points[k] + grid.reach[k] - shared, pitch
        pitch *= axis.span
        if k >= idle:
            step_x, step_y = (o.element_strides[2 + k - idle] for o in (x, y))
            axis.x, axis.y = step_x, step_y * sides[k].every
            f.y_base += step_y * sides[k].first
    f.phases, f.image = len(grid.phases), pitch
    # planes that are a page apart, or nearly so, would compete for the same lines of the cache
    f.plane = f.phases * tiles.together * pitch + 24
    last = sum((n - 1) * f.axes[k].pitch for k, n in enumerate(points))
    lanes = 32 // x.dtype.itemsize
    f.behind = 128 + sum(grid.reach[k] * f.axes[k].pitch for k in range(3))
    f.width = -(-((tiles.together - 1) * f.image + last + 1) // lanes) * lanes
    return f


def _with_taps(f: CData, job: Job, grid: Grid) -> list[object]:
    """Set the taps of a frame; return the memory that it points to."""
    sides, strides = job.padded()
    taps = list(product(*(range(s.axis.k) for s in sides)))
    f.count = job.channels * len(taps)
    f.w_group, f.w_output = job.strides[:2]
    numbers = {phase: k for k, phase in enumerate(grid.phases)}
    at, table = [], np.zeros((len(taps), 5), np.int64)
    for k, tap in enumerate(taps):
        places = [p * s.axis.dilation for p, s in zip(tap, sides, strict=True)]
        split = [divmod(place, s.axis.step) for place, s in zip(places, sides, strict=True)]
        number = numbers[tuple(phase for _, phase in split)]
        at.append(number * f.together * f.image
                  + sum(q * f.axes[i].pitch for i, (q, _) in enumerate(split)))
        table[k] = (sum((s.first_tap + p * s.between) * w for s, p, w
                        in zip(sides, tap, strides, strict=True)), 0, *places)
    channels = np.arange(job.channels)[:, None]
    everywhere = (np.array(at, np.int64) + channels * f.plane).ravel()
    rows = np.tile(table, (job.channels, 1, 1))
    rows[:, :, 0] += channels * job.strides[2]
    rows[:, :, 1] = channels
    phases = np.array(grid.phases, np.int64)
    f.at = ffi.cast("int64_t *", ffi.from_buffer(everywhere))
    f.taps = ffi.cast("struct mat_conv_tap *", ffi.from_buffer(rows))
    f.phase = ffi.cast("int64_t *", ffi.from_buffer(phases))
    f.depth = max(1, round(DEPTH / len(taps))) * len(taps)
    return [everywhere, rows, phases]


def _share(f: CData, units: int, memory: int, work: int) -> int:
    """Set the slots of a frame for units that need so many bytes; return the grain of slots."""
    f.units, f.slots = units, min(units, SLOTS, max(1, MOST_ROOM // memory))
    f.room = (memory + 4095) // 4096 * 4096 + 64 * 3  # so that slots do not meet in the caches
    return max(1, WORK * int(f.slots) // max(work, 1))


def _convolution(job: Job, x: Presented, y: Presented, add: bool) -> Function:
    """Prepare ``y = conv(x, w)``, or ``y +=``, as a function of ``(x, w, y)``."""
    size, letter = x.dtype.itemsize, x.dtype.char
    grid = _grid(tuple(s.axis for s in job.padded()[0]))
    f = _frame(job, x, y, grid, _tiles(job, grid, job.channels, size))
    keep = _with_taps(f, job, grid)
    f.add, f.panels = add, -(-job.outputs // PANEL)
    f.block = max(1, min(f.panels, SUMS // (size * PANEL * f.width)))
    tiles = f.bundles * f.cuts * job.groups
    while f.block > 1 and tiles * -(-f.panels // f.block) < ENOUGH:
        f.block = -(-f.block // 2)
    f.blocks = -(-f.panels // f.block)
    work = job.n * job.groups * job.outputs * f.count * prod(s.axis.n for s in job.sides)
    room = (job.channels * f.plane + f.behind + f.block * PANEL * f.width) * size
    grain = _share(f, tiles * f.blocks, room, work)
    pack = CpuKernel(getattr(lib, f"mat_conv_pack_{letter}"), f, job.groups * f.panels,
                     1 + (1 << 16) // (PANEL * f.count), keep=keep).bind((0, 1), ())
    run = CpuKernel(getattr(lib, f"mat_conv_{letter}"), f, f.slots, grain,
                    keep=keep).bind((0, 1, 2, 3, 4), ())
    packed = job.groups * (job.outputs * f.count + f.panels) * size
    memory = f.slots * f.room

    def convolve(x: Presented, w: Presented, y: Presented) -> None:
        weights = WorkMemory(workspace(packed))
        pack(w, weights)
        run(x, w, weights, y, WorkMemory(workspace(memory)))

    return convolve


def prepare_conv(found: Channels, x: Presented, w: Presented, y: Presented) -> Function:
    """Prepare ``y = conv(x, w)`` as a function of ``(x, w, y)``."""
    output, channel, *taps = w.element_strides
    strides = (found.outputs * output, output, channel, tuple(taps))
    return _convolution(Job(found.n, found.groups, found.outputs, found.channels,
                            tuple(map(Side, found.axes)), strides), x, y, False)


def prepare_conv_to_x(found: Channels, yd: Presented, w: Presented, xd: Presented) -> Function:
    """Prepare the derivative by x, added to xd, as convolutions of yd with reversed taps."""
    output, channel, *taps = w.element_strides
    strides = (found.outputs * output, channel, output, tuple(taps))
    sides = [[Side(r.axis, r.last, -r.between, r.first, r.every) for r in remainders(a)]
             for a in found.axes]
    jobs = [_convolution(Job(found.n, found.groups, found.channels, found.outputs, some, strides),
                         yd, xd, True) for some in product(*sides)]

    def derive(yd: Presented, w: Presented, xd: Presented) -> None:
        for job in jobs:
            job(yd, w, xd)

    return derive


def prepare_conv_to_w(found: Channels, x: Presented, yd: Presented, wd: Presented) -> Function:
    """Prepare the derivative by w, added to wd, in pieces that the sizes alone decide."""
    size, letter = x.dtype.itemsize, x.dtype.char
    job = Job(found.n, found.groups, found.outputs, found.channels, tuple(map(Side, found.axes)),
              (0, 0, 0, (0,) * len(found.axes)))
    grid = _grid(tuple(s.axis for s in job.padded()[0]))
    f = _frame(job, x, yd, grid, _tiles(job, grid, 1, size))
    keep = _with_taps(f, job, grid)
    tiles = f.bundles * f.cuts
    f.block = -(-job.channels // -(-job.channels * f.plane * size // BUFFER))
    f.pieces = max(1, min(tiles, PIECES, PARTIAL // (8 * wd.size)))
    while f.block > 1 and f.pieces * job.groups * -(-job.channels // f.block) < ENOUGH:
        f.block = -(-f.block // 2)
    f.blocks = -(-job.channels // f.block)
    work = wd.size * job.n * prod(s.axis.n for s in job.sides)
    grain = _share(f, f.pieces * job.groups * f.blocks,
                   (f.block * f.plane + f.behind + 3 * f.width) * size, work)
    run = CpuKernel(getattr(lib, f"mat_conv_to_w_{letter}"), f, f.slots, grain,
                    keep=keep).bind((0, 1, 2, 3), ())
    memory, pieces, together = f.slots * f.room, f.pieces, gather(wd.shape, wd, f.pieces)

    def derive(x: Presented, yd: Presented, wd: Presented) -> None:
        sums = WorkMemory(zeros("double[]", pieces * wd.size))
        run(x, yd, sums, WorkMemory(workspace(memory)))
        together(sums, wd)

    return derive


# One channel over any number of axes, and pooling


class JobAxis(NamedTuple):
    """One axis of a job: its strides, and every `every`-th point of the output from `first` on."""

    axis: WindowAxis
    strides: Ints
    first: int = 0
    every: int = 1


class WindowLoop(NamedTuple):
    """The axes of a job, and where the operands begin, in elements from their pointers."""

    rows: tuple[JobAxis, ...]
    base: Ints = (0, 0, 0, 0)


def _rows(axes: Windows, *strides: Ints) -> tuple[JobAxis, ...]:
    """Return each axis with the operands' strides; for a batch, that of a matrix of taps is 0."""
    padded = [(0,) * (len(axes) - len(s)) + tuple(s) for s in strides]
    rows = [JobAxis(a, s) for a, s in zip(axes, zip(*padded, strict=True), strict=True)]
    used = [r for r in rows if not r.axis.n == r.axis.nx == r.axis.k == 1]
    idle = JobAxis(ONE, (0,) * len(strides))
    return (*(idle for _ in range(2 - len(used))), *used)  # kernels want a row and a column


def _loop_frame(shape: Ints, jobs: Sequence[WindowLoop], piece: int = 1,
           count: int = 0) -> tuple[CData, object]:
    """Return the frame for an output of `shape`, and the memory that it points to."""
    made = ffi.new("struct mat_windows[]", len(jobs))
    for job, target in zip(jobs, made, strict=True):
        target.base = job.base
        for row, window in zip(job.rows, target.axes, strict=False):
            window.n, window.nx, window.k, window.step, window.off = row.axis[:5]
            window.first, window.every = row.first, row.every
            window.strides = list(row.strides)
    frame = ffi.new("struct mat_window_loop *",
                    {"ndim": len(shape), "jobs": len(jobs), "piece": piece, "rows": count,
                     "shape": shape, "job": made})
    return frame, made


def _grain(total: int, rows: int, least: int) -> int:
    """Return how many of `rows` a thread gets at least, for `least` of `total` units of work."""
    return max(1, least * rows // max(total, 1))


def prepare_convolve(axes: Windows, x: Presented, w: Presented, y: Presented) -> CpuKernel:
    """Prepare ``y += convolve(x, w)`` as a kernel of ``(x, w, y)``."""
    job = WindowLoop(_rows(axes, x.element_strides, w.element_strides, y.element_strides))
    return _windowed([job], tuple(r.axis.n for r in job.rows), y.size * w.size, y)


def _windowed(jobs: Sequence[WindowLoop], shape: Ints, work: int, y: Presented) -> CpuKernel:
    """Return the kernel for jobs that together compute an output of `shape`."""
    frame, keep = _loop_frame(shape, jobs)
    kernel = getattr(lib, f"mat_convolve_{y.dtype.char}")
    rows = prod(shape[:-1]) if shape[-1] else 0
    return CpuKernel(kernel, frame, rows, _grain(work, rows, WORK), keep=keep)


def prepare_to_x(axes: Windows, yd: Presented, w: Presented, xd: Presented) -> CpuKernel:
    """Prepare the derivative by x, added to xd, as convolutions of yd with reversed taps."""
    rows = _rows(axes, yd.element_strides, w.element_strides, xd.element_strides)
    jobs = []
    for some in product(*(list(remainders(row.axis)) for row in rows)):
        both = list(zip(some, (row.strides for row in rows), strict=True))
        jobs.append(WindowLoop(
            tuple(JobAxis(r.axis, (y, -r.between * w, r.every * x), r.first, r.every)
                  for r, (y, w, x) in both),
            (0, sum(r.last * w for r, (_, w, _) in both), sum(r.first * x for r, (_, _, x) in both),
             0)))
    return _windowed(jobs, tuple(r.axis.nx for r in rows), yd.size * w.size, xd)


class WorkMemory:
    """Memory as a kernel's operand."""

    def __init__(self, memory: CData) -> None:
        self.memory: CData = memory
        self.address: int = int(ffi.cast("uintptr_t", self.memory))


def prepare_to_w(axes: Windows, x: Presented, yd: Presented, wd: Presented) -> Function:
    """Prepare the derivative by w, added to wd, in pieces that the sizes alone decide."""
    taps = wd.shape
    rows = _rows(axes, x.element_strides, packed_strides(taps), yd.element_strides)
    shape = tuple(r.axis.n for r in rows)
    count = prod(shape[:-1]) if shape[-1] else 0
    piece = max(-(-count // WINDOW_PIECES), _grain(yd.size * wd.size, count, WORK // 2))
    pieces = -(-count // piece)
    frame, keep = _loop_frame(shape, [WindowLoop(rows)], piece, count)
    kernel = getattr(lib, f"mat_correlate_{x.dtype.char}")
    partly = CpuKernel(kernel, frame, pieces, 2, keep=keep).bind((0, 1, 2), ())
    together = gather(taps, wd, pieces)

    def derive(x: Presented, yd: Presented, wd: Presented) -> None:
        sums = WorkMemory(zeros("double[]", pieces * wd.size))
        partly(x, yd, sums)
        together(sums, wd)

    return derive


def gather(taps: Ints, wd: Presented, pieces: int) -> CpuKernel:
    """Prepare the addition of the partial sums of `pieces` pieces to wd."""
    rows = _rows(with_batch((), *taps), wd.element_strides)
    frame, keep = _loop_frame(tuple(r.axis.n for r in rows), [WindowLoop(rows)], pieces, wd.size)
    kernel = getattr(lib, f"mat_gather_{wd.dtype.char}")
    return CpuKernel(kernel, frame, wd.size, max(1, TOUCHED // max(pieces, 1)),
                     keep=keep).bind((0, 1), ())


def prepare_pool(axes: Windows, x: Presented, y: Presented) -> CpuKernel:
    """Prepare ``y <- max_pool(x)`` as a kernel of ``(x, y)``."""
    rows = _rows(axes, x.element_strides, y.element_strides)
    return _pooling("mat_pool", axes, rows, tuple(r.axis.n for r in rows), y)


def _pooling(name: str, axes: Windows, rows: tuple[JobAxis, ...], shape: Ints,
             y: Presented) -> CpuKernel:
    """Return a kernel that looks at windows, for the rows of what it writes, of `shape`."""
    frame, keep = _loop_frame(shape, [WindowLoop(rows)])
    compared, count = y.size * prod(a.k for a in axes), prod(shape[:-1]) if y.size else 0
    return CpuKernel(getattr(lib, f"{name}_{y.dtype.char}"), frame, count,
                     _grain(compared, count, TOUCHED), keep=keep)


def prepare_pool_back(axes: Windows, x: Presented, y: Presented, yd: Presented,
                      xd: Presented) -> CpuKernel:
    """Prepare ``xd += yd`` where x is the largest of a window; of ``(x, y, yd, xd)``."""
    rows = _rows(axes, x.element_strides, y.element_strides, yd.element_strides, xd.element_strides)
    return _pooling("mat_pool_back", axes, rows, tuple(r.axis.nx for r in rows), y)
