"""Copies on a device: the kernels that `permute` plans, chosen by the alignment of the operands'
addresses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from math import prod

from ...core.compiled import DriverCall
from ...layout.merged_axes import CopyAxis
from ...layout.shapes import Ints
from ...support.types import Operand, Presented
from ..runtime.kernel import CudaKernel, launches_of
from ..runtime.nvrtc import Program
from .permute import Step, alignment, packed, plan, program_of
from .permute import programs as sources

ROOM = 2  # the operand that is the workspace of a call: the one after source and target


@cache
def _programs() -> dict[str, Program]:
    return {name: Program(text) for name, text in sources().items()}


def programs() -> Iterator[Program]:
    """Return every program of this module."""
    return iter(_programs().values())


class Aligned:
    """A kernel with a variant from `make` for each alignment; None has nothing to do."""

    __slots__ = ("make", "numbers", "operands", "variants")

    def __init__(self, make: Callable[[int, int], CudaKernel | None]) -> None:
        self.make: Callable[[int, int], CudaKernel | None] = make
        self.variants: dict[tuple[int, int], CudaKernel | None] = {}
        self.operands: Sequence[int] = (0, 1)
        self.numbers: Sequence[int] = ()

    def bind(self, operands: Sequence[int], numbers: Sequence[int]) -> Aligned:
        """Set the positions in a call of source and target, and of numbers; return self."""
        self.operands, self.numbers = operands, numbers
        return self

    def __call__(self, *values: Presented) -> None:
        kernel = self.variant(*self.alignments(values))
        if kernel is not None:
            kernel(*values)

    def alignments(self, values: Sequence[Presented]) -> tuple[int, int]:
        """Return the last four bits of the addresses of source and target."""
        source, target = self.operands
        return values[source].address & 15, values[target].address & 15

    def variant(self, source: int, target: int) -> CudaKernel | None:
        """Return the kernel for addresses with these last four bits; None if it does nothing."""
        key = source, target
        if key not in self.variants:
            made = self.make(alignment(source), alignment(target))
            self.variants[key] = made and made.bind(self.operands, self.numbers)
        return self.variants[key]

    def launch_like(self, values: Sequence[Presented]) -> DriverCall | None:
        """Return the compiled launches for operands with any alignment, if there are any."""
        gpu, kernel = values[self.operands[0]].gpu, self.variant(*self.alignments(values))

        def chain(source: int, target: int) -> tuple[DriverCall, ...]:
            found = self.variant(source, target)
            return () if found is None else found.chain(gpu)

        return launches_of(gpu, chain, 0 if kernel is None else kernel.room, aligned=True)


def prepare_copy(x: Operand, out: Operand, through: bool = False) -> Aligned:
    """Return a kernel that copies `x`, broadcast, to `out`; `through` a workspace on overlap."""
    axes, size = axes_of(x, out), out.itemsize
    if not through:
        return Aligned(lambda read, written: chained(plan(axes, size, read=read, written=written)))
    given = [CopyAxis(n, p, s) for (n, _, s), p in zip(axes, packed(axes, size), strict=True)]
    back = [CopyAxis(n, d, p) for (n, d, _), p in zip(axes, packed(axes, size), strict=True)]
    room = size * prod(a.n for a in axes)

    def make(read: int, written: int) -> CudaKernel | None:
        there = plan(given, size, read=read, written=16, target=ROOM)
        return chained(there + plan(back, size, read=16, written=written, source=ROOM), room)

    return Aligned(make)


def prepare_moves(shape: Ints, to: Ints, source: Ints, size: int) -> Aligned:
    """Return a kernel that copies elements of `size` bytes between operands with these steps."""
    axes = [CopyAxis(n, d * size, s * size) for n, d, s in zip(shape, to, source, strict=True)]
    return Aligned(lambda read, written: chained(plan(axes, size, read=read, written=written)))


def axes_of(x: Operand, out: Operand) -> list[CopyAxis]:
    """Return the axes of the Mat `out` with the steps of both in bytes; `x` is broadcast."""
    shape, size = out.layout.shape, x.itemsize
    missing = len(shape) - len(x.layout.shape)
    own = zip(x.layout.shape, x.layout.strides, strict=True)
    steps = [0] * missing + [0 if n == 1 else s for n, s in own]
    axes = zip(shape, out.layout.strides, steps, strict=True)
    return [CopyAxis(n, d * out.itemsize, s * size) for n, d, s in axes]


Find = Callable[[str], tuple[Program, str]]


def _find(kernel: str) -> tuple[Program, str]:
    return _programs()[program_of(kernel)], f"permute_{kernel}"


def chained(steps: Sequence[Step], room: int = 0, then: CudaKernel | None = None,
            find: Find = _find) -> CudaKernel | None:
    """Return kernels for `steps` in sequence, then `then`; `find` returns program and name."""
    first = then
    for kernel, frame, blocks, threads in reversed(steps):
        program, name = find(kernel)
        first = CudaKernel(program, name, frame, (blocks, 1, 1), (threads, 1, 1), room=room,
                           then=first)
    return first
