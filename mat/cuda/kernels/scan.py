"""Scans on the device: the kernels of ``native/cuda/scan.cuh`` for operands of a form.

Floating-point numbers are combined in the order of ``layout/merged_axes.py``, as on the host, so
that the bits are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import prod

from ...layout.merged_axes import CHUNK, PIECE, is_in_order
from ...support.dtypes import BY_CHAR, BY_NAME, DISTINCT
from ...support.types import Function, Operand
from ..runtime.kernel import CudaKernel
from ..runtime.nvrtc import EXACT, Program
from .reduce import axes_frame, other_reduction_axes

THREADS = {"each": 256, "lines": 64}  # of a block, as in scan.cuh
PIECES = 128  # threads of a block for a chunk
LINES = 64  # that a block of the kernel "lines" takes
FEW = 512  # lines that are too few to keep it busy
SHORT = 512  # elements that are too few for a block
NAMES = ("cumsum", "cumprod", "cummax", "cummin")


@cache
def kernels() -> dict[tuple[str, str, str], tuple[str, str]]:
    """Return the types that a kernel for an operation and two element types is compiled for.

    Sums and products of small integers and bools are of 64 bits, unless another type is wanted;
    signed and unsigned integers of one size have the same bits.
    """
    found = {}
    for t in map(BY_CHAR.__getitem__, DISTINCT):
        own = t.suffix.replace("i", "u")
        wide = {"b": "i64", "i": "i64", "u": "u64"}.get(t.kind, t.suffix)
        for name in NAMES[:2]:
            if t.kind != "b":
                found[name, t.suffix, t.suffix] = own, own
            if t.size < 8 or t.kind not in "iu":
                found[name, t.suffix, wide] = t.suffix, wide
        for name in NAMES[2:]:
            found[name, t.suffix, t.suffix] = ("u8",) * 2 if t.kind == "b" else (t.suffix,) * 2
    return found


@cache
def program(name: str, of: str, to: str) -> Program:
    """Return the program of an operation, from elements of one type to those of another."""
    return Program('#include "scan.cuh"\n'
                   f"MAT_SCAN(scan_{name}_{of}_{to}, mat_{name}<mat_{of}, mat_{to}>)\n", (EXACT,))


def programs() -> Iterator[Program]:
    """Yield all programs."""
    return (program(name, of, to) for name, of, to in
            dict.fromkeys((name, *types) for (name, *_), types in kernels().items()))


# the operands, and what is known of them
def prepare_scan(name: str, x: Operand, out: Operand, axis: int, begun: bool) -> Function:
    """Return the kernel of a scan; `begun`: its lines go on after the results before `out`."""
    if not prod(x.shape):
        return nothing
    others = other_reduction_axes(x, out, axis)
    length, lines = x.shape[axis], prod(a.n for a in others)
    chunks = -(-length // CHUNK)
    of, to = kernels()[name, BY_NAME[x.dtype.name].suffix, BY_NAME[out.dtype.name].suffix]
    free = name in NAMES[2:] or to[0] in "iu"  # the order does not matter
    piece = PIECE if free or begun or is_in_order(name, out.dtype, length) else CHUNK
    frame = [length, x.element_strides[axis], out.element_strides[axis], lines, piece, chunks,
             int(begun), int(free), *axes_frame(others)]

    # what a kernel is launched with
    def launch(kind: str, blocks: int, room: int = 0, then: CudaKernel | None = None) -> CudaKernel:
        return CudaKernel(program(name, of, to), f"scan_{name}_{of}_{to}_{kind}", frame,
                          (blocks, 1, 1), (THREADS.get(kind, PIECES), 1, 1), room=room, then=then)

    if lines > FEW or length <= SHORT:
        nearest = min((abs(a.x) for a in others), default=0)
        if abs(x.element_strides[axis]) <= nearest:
            return launch("lines", -(-lines // LINES))
        return launch("each", -(-lines // THREADS["each"]))
    if chunks == 1:
        return launch("chunks", lines)
    room = out.itemsize * lines * chunks
    last = launch("chunks", lines * chunks, room)
    return launch("totals", lines * chunks, room, launch("offsets", lines, room, last))


def nothing(*values: object) -> None:
    """Scan no elements."""
