"""Scans on the device: the kernels of ``native/cuda/scan.cuh`` for operands of a form.

As on the host floating-point numbers are added up one after the other along a line, so that the
bits are the same; only lines are side by side. One long line of them takes as long as these
additions one by one. Integers, and what is largest so far, go in chunks.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import prod

from ...layout.merged_axes import ReductionAxis, merged
from ...support.dtypes import BY_CHAR, BY_NAME, DISTINCT
from ...support.types import Function, Operand
from ..runtime.kernel import CudaKernel
from ..runtime.nvrtc import EXACT, Program
from .reduce import axes_frame

THREADS = 256  # as in scan.cuh
LINES = 64  # that a block of the kernel "lines" takes
CHUNK = 4096  # elements at least
CHUNKS = 4096  # blocks that are enough to keep a device busy
FEW = 512  # lines that are too few to keep it busy
SHORT = 512  # elements that are too few for a block
NAMES = ("cumsum", "cumprod", "cummax", "cummin")
_FIELDS = ("length", "step_x", "step_y", "lines", "chunk", "chunks")


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
    order = "ANY" if _any_order(name, to) else "IN"
    made_of = f"mat_{name}<mat_{of}, mat_{to}>"
    return Program('#include "scan.cuh"\n'
                   f"MAT_SCAN_{order}_ORDER(scan_{name}_{of}_{to}, {made_of})\n", (EXACT,))


def _any_order(name: str, to: str) -> bool:
    """Return whether the order does not matter."""
    return name in NAMES[2:] or to[0] in "iu"


def programs() -> Iterator[Program]:
    """Yield all programs."""
    return (program(name, of, to) for name, of, to in
            dict.fromkeys((name, *types) for (name, *_), types in kernels().items()))


def _types(name: str, x: Operand, out: Operand) -> tuple[str, str, str]:
    return name, BY_NAME[x.dtype.name].suffix, BY_NAME[out.dtype.name].suffix


def prepare_scan(name: str, x: Operand, out: Operand, axis: int) -> Function:
    """Return the kernel of that name, for operands of one shape."""
    if not prod(x.shape):
        return nothing
    steps = zip(x.shape, x.element_strides, out.element_strides, strict=True)
    every = [axes for k, axes in enumerate(steps)
             if k != axis]
    every.sort(key=lambda a: -abs(a[2]))
    others = [ReductionAxis(*axes) for axes in merged(every)]
    length, lines = x.shape[axis], prod(a.n for a in others)
    sizes = {"length": length, "step_x": x.element_strides[axis],
             "step_y": out.element_strides[axis],
             "lines": lines, "chunk": length, "chunks": 1}
    nearest = min((abs(a.x) for a in others), default=0)
    of, to = kernels()[_types(name, x, out)]
    found = _Kernels(program(name, of, to), f"scan_{name}_{of}_{to}", sizes, others)
    if lines <= FEW and length > SHORT:
        return found.in_chunks(out.itemsize) if _any_order(name, to) else found.one_by_one()
    return found.by_lines() if abs(x.element_strides[axis]) <= nearest else found.by_columns()


def nothing(*values: object) -> None:
    """Scan no elements."""


class _Kernels:
    """The kernels of an operation on operands of one form."""

    def __init__(self, made_by: Program, name: str, sizes: dict[str, int],
                 others: list[ReductionAxis]) -> None:
        self.program = made_by
        self.name = name
        self.sizes = sizes
        self.others = others

    # what a kernel is launched with
    def launch(self, kind: str, blocks: int, threads: int = THREADS, room: int = 0,
               then: CudaKernel | None = None) -> CudaKernel:
        frame = [*(self.sizes[name] for name in _FIELDS), *axes_frame(self.others)]
        return CudaKernel(self.program, f"{self.name}_{kind}", frame, (blocks, 1, 1),
                          (threads, 1, 1), room=room, then=then)

    def by_columns(self) -> CudaKernel:
        """Return the kernel with a thread for each line."""
        return self.launch("each", -(-self.sizes["lines"] // THREADS))

    def by_lines(self) -> CudaKernel:
        """Return the kernel with a warp for some lines."""
        return self.launch("lines", -(-self.sizes["lines"] // LINES), LINES)

    def one_by_one(self) -> CudaKernel:
        """Return the kernel with a block for each line."""
        return self.launch("long", self.sizes["lines"])

    def in_chunks(self, itemsize: int) -> CudaKernel:
        """Return the kernels that do chunks of lines side by side."""
        length, lines = self.sizes["length"], self.sizes["lines"]
        count = min(-(-CHUNKS // lines), -(-length // CHUNK))
        self.sizes["chunk"] = chunk = -(-length // count)
        self.sizes["chunks"] = count = -(-length // chunk)
        if count == 1:
            return self.launch("chunks", lines)
        room = itemsize * lines * count
        last = self.launch("chunks", lines * count, room=room)
        second = self.launch("offsets", lines, room=room, then=last)
        return self.launch("totals", lines * count, room=room, then=second)
