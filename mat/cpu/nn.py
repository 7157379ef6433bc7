"""Frames for the kernels of ``native/cpu/nn.h``: windows, strides, and the least work of a thread.

Functions get the axes of the windows and operands with shape, strides and dtype, all of which have
been checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import NamedTuple

from ..layout.shapes import Ints
from ..layout.sliding_window import ONE, WindowAxis, Windows, remainders, with_batch
from ..layout.strided import packed_strides
from ..support import host_pool
from ..support.native import ffi, lib
from ..support.types import CData, Function, Presented
from .kernel import CpuKernel

WORK = 200_000  # products that a thread should get at least
TOUCHED = 40_000  # or elements to read
PIECES = 64  # into which a sum over all outputs is divided, at most


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


def _frame(shape: Ints, jobs: Sequence[WindowLoop], piece: int = 1,
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


def _is_float(x: Presented) -> bool:
    return bool(x.dtype.char == "f")


def prepare_convolve(axes: Windows, x: Presented, w: Presented,
                     y: Presented) -> CpuKernel:
    """Prepare ``y += convolve(x, w)`` as a kernel of ``(x, w, y)``."""
    job = WindowLoop(_rows(axes, x.element_strides, w.element_strides, y.element_strides))
    return _convolution([job], tuple(r.axis.n for r in job.rows), y.size * w.size, y)


def _convolution(jobs: Sequence[WindowLoop], shape: Ints, work: int, y: Presented) -> CpuKernel:
    """Return the kernel for jobs that together compute an output of `shape`."""
    frame, keep = _frame(shape, jobs)
    kernel = lib.mat_convolve_f if _is_float(y) else lib.mat_convolve_d
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
    return _convolution(jobs, tuple(r.axis.nx for r in rows), yd.size * w.size, xd)


class WorkMemory:
    """Memory as a kernel's operand."""

    __slots__ = ("address", "memory")

    def __init__(self, memory: CData) -> None:
        self.memory: CData = memory
        self.address: int = int(ffi.cast("uintptr_t", self.memory))


def prepare_to_w(axes: Windows, x: Presented, yd: Presented,
                 wd: Presented) -> Function:
    """Prepare the derivative by w, added to wd, in pieces that the sizes alone decide."""
    taps = wd.shape
    rows = _rows(axes, x.element_strides, packed_strides(taps), yd.element_strides)
    shape = tuple(r.axis.n for r in rows)
    count = prod(shape[:-1]) if shape[-1] else 0
    piece = max(-(-count // PIECES), _grain(yd.size * wd.size, count, WORK // 2))
    pieces = -(-count // piece)
    frame, keep = _frame(shape, [WindowLoop(rows)], piece, count)
    kernel = lib.mat_correlate_f if _is_float(x) else lib.mat_correlate_d
    partly = CpuKernel(kernel, frame, pieces, 2, keep=keep).bind((0, 1, 2), ())
    together = gather(taps, wd, pieces)

    def derive(x: Presented, yd: Presented, wd: Presented) -> None:
        sums = WorkMemory(host_pool.zeros("double[]", pieces * wd.size))
        partly(x, yd, sums)
        together(sums, wd)

    return derive


def gather(taps: Ints, wd: Presented, pieces: int) -> CpuKernel:
    """Prepare the addition of the partial sums of `pieces` pieces to wd."""
    rows = _rows(with_batch((), *taps), wd.element_strides)
    frame, keep = _frame(tuple(r.axis.n for r in rows), [WindowLoop(rows)], pieces, wd.size)
    kernel = lib.mat_gather_f if _is_float(wd) else lib.mat_gather_d
    return CpuKernel(kernel, frame, wd.size, max(1, TOUCHED // max(pieces, 1)),
                     keep=keep).bind((0, 1), ())


def prepare_pool(axes: Windows, x: Presented, y: Presented) -> CpuKernel:
    """Prepare ``y <- max_pool(x)`` as a kernel of ``(x, y)``."""
    rows = _rows(axes, x.element_strides, y.element_strides)
    shape = tuple(r.axis.n for r in rows)
    kernel = lib.mat_pool_f if _is_float(y) else lib.mat_pool_d
    return _pooling(kernel, axes, rows, shape, y, prod(shape[:-1]) if shape[-1] else 0)


def _pooling(kernel: CData, axes: Windows, rows: tuple[JobAxis, ...], shape: Ints, y: Presented,
             count: int) -> CpuKernel:
    """Return a kernel that looks at windows, for `count` rows of what it writes."""
    frame, keep = _frame(shape, [WindowLoop(rows)])
    compared = y.size * prod(a.k for a in axes)
    return CpuKernel(kernel, frame, count, _grain(compared, count, TOUCHED), keep=keep)


def prepare_pool_back(axes: Windows, x: Presented, y: Presented, yd: Presented,
                      xd: Presented) -> CpuKernel:
    """Prepare ``xd += yd`` where x is the largest of a window; of ``(x, y, yd, xd)``."""
    rows = _rows(axes, x.element_strides, y.element_strides, yd.element_strides, xd.element_strides)
    shape = tuple(r.axis.nx for r in rows)
    kernel = lib.mat_pool_back_f if _is_float(x) else lib.mat_pool_back_d
    return _pooling(kernel, axes, rows, shape, y, prod(shape[:-1]) if y.size else 0)
