"""Copies on a device: what `permute` plans, as launches, chosen by how the operands' addresses are
aligned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from math import prod
from typing import Any

from ..layout.merged_axes import CopyAxis
from .kernel import CudaKernel
from .nvrtc import Program
from .permute import Step, alignment, packed, plan, program_of
from .permute import programs as texts

ROOM = 2  # which operand the workspace of a call is: the one after the source and the target


@cache
def _programs() -> dict[str, Program]:
    return {name: Program(text) for name, text in texts().items()}


def programs() -> Iterator[Program]:
    """All that there are."""
    return iter(_programs().values())


class Aligned:
    """What `make` gives, a launch or None, for the alignment of the addresses that it is called
    with.
    """

    __slots__ = ("launches", "make", "numbers", "operands")

    def __init__(self, make: Callable[[int, int], CudaKernel | None]) -> None:
        self.make = make
        self.launches: dict[tuple[int, int], CudaKernel | None] = {}
        self.operands: Sequence[int] = (0, 1)
        self.numbers: Sequence[int] = ()

    def bind(self, operands: Sequence[int], numbers: Sequence[int]) -> Aligned:
        """Say at which positions of a call source and target are, and the numbers; return self."""
        self.operands, self.numbers = operands, numbers
        return self

    def __call__(self, *values: Any) -> None:
        source, target = self.operands
        key = values[source].address & 15, values[target].address & 15
        if key not in self.launches:
            made = self.make(alignment(key[0]), alignment(key[1]))
            self.launches[key] = made and made.bind(self.operands, self.numbers)
        launch = self.launches[key]
        if launch is not None:
            launch(*values)


def prepare_copy(x: Any, out: Any, through: bool = False) -> Aligned:
    """What copies the elements of the Mat `x`, broadcast, to those of `out`, of the same dtype.

    With `through` it goes through a workspace: where both share elements.
    """
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


def axes_of(x: Any, out: Any) -> list[CopyAxis]:
    """The axes of `out`, a Mat, with the steps of both in bytes; `x` is broadcast."""
    shape, size = out.layout.shape, x.itemsize
    missing = len(shape) - len(x.layout.shape)
    steps = [0] * missing + [0 if n == 1 else s for n,
                             s in zip(x.layout.shape, x.layout.strides, strict=True)]
    return [CopyAxis(n, d * out.itemsize, s * size) for n, d,
            s in zip(shape, out.layout.strides, steps, strict=True)]


Find = Callable[[str], tuple[Program, str]]


def _find(kernel: str) -> tuple[Program, str]:
    return _programs()[program_of(kernel)], f"permute_{kernel}"


def chained(steps: Sequence[Step], room: int = 0, then: CudaKernel | None = None,
            find: Find = _find) -> CudaKernel | None:
    """`steps` as launches, each the next one of the one before, and `then`; `find` gives a kernel's
    program and whole name.
    """
    launch = then
    for kernel, frame, blocks, threads in reversed(steps):
        program, name = find(kernel)
        launch = CudaKernel(program, name, frame, (blocks, 1, 1), (threads, 1, 1), room=room,
                            then=launch)
    return launch
