"""Running sums, products and extremes by compiled kernels: the frame of operands of one form."""

from __future__ import annotations

from math import prod

from ..layout.merged_axes import merged
from ..support.dtypes import BY_NAME
from ..support.native import ffi, lib
from ..support.types import CData, Operand
from .kernel import BRIEF, CpuKernel, Finish

GRAIN = 1 << 12  # elements that a thread should at least get
LINES = 16  # that are so many that none need be cut
BLOCK, BLOCKS = 1 << 13, 64  # elements of a block at least, blocks of a line at most
TILE = 2048  # bytes of a line of a tile: adjacent columns, which are done together


def prepare_scan(name: str, x: Operand, out: Operand, axis: int) -> CpuKernel:
    """Return the kernel of that name, for operands of one shape."""
    frame = ffi.new("mat_scan *")
    steps = zip(x.shape, x.element_strides, out.element_strides, strict=True)
    every = [axes for k, axes in enumerate(steps)
             if k != axis]
    every.sort(key=lambda a: -abs(a[2]))
    others = merged(every)
    frame.length = x.shape[axis]
    frame.step_x, frame.step_y = x.element_strides[axis], out.element_strides[axis]
    if others and abs(others[-1][2]) < abs(frame.step_y):
        frame.columns, frame.column_x, frame.column_y = others.pop()
        frame.tile = TILE // out.itemsize
    frame.others.rank = len(others)
    for k, (n, in_x, in_y) in enumerate(others):
        frame.others.n[k], frame.others.x[k], frame.others.y[k] = n, in_x, in_y
    of, to = (BY_NAME[m.dtype.name].suffix for m in (x, out))
    lines = prod(a[0] for a in others)
    if not frame.columns and lines < LINES and frame.length >= 2 * BLOCK:
        found = _by_blocks(f"{name}_{of}_{to}", frame, lines)
        if found is not None:
            return found
    kernel = lib.mat_scan_kernel(f"{name}_{of}_{to}".encode())
    tiles = -(-frame.columns // frame.tile) if frame.columns else 1
    work = frame.length * max(min(frame.columns, frame.tile), 1)
    return CpuKernel(kernel, frame, lines * tiles, GRAIN / max(work, 1),
                     brief=BRIEF * GRAIN / max(work, 1))


def _by_blocks(name: str, frame: CData, lines: int) -> CpuKernel | None:
    """Return the kernel of that name that does few lines by blocks; None if there is none, since
    blocks would be rounded otherwise.
    """
    totals, finish = (lib.mat_scan_kernel(f"{name}_{stage}".encode())
                      for stage in ("totals", "finish"))
    if not totals:
        return None
    frame.block = max(BLOCK, -(-frame.length // BLOCKS))
    frame.blocks = -(-frame.length // frame.block)
    units, grain = lines * frame.blocks, GRAIN / frame.block
    return CpuKernel(totals, frame, units, grain, brief=BRIEF * grain,
                     finish=Finish(finish, units, 16 * units, True))
