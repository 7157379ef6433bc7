"""Programs: several element-wise kernels in one pass, by a kernel that runs them block by block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..support.native import ffi, lib
from .kernel import CpuKernel

BLOCK = 1 << 14  # bytes of the temporary elements of a block: several fit into the first cache
SHARE = 1 << 14  # elements that a thread should at least get
LINE, APART = 64, 192  # bytes that addresses are multiples of, and between temporary elements
_MEMORY = "no memory for the temporary elements of a fused expression"


class Slot(NamedTuple):
    """A place of elements: an operand of the program, or -1: temporary ones, of `size` bytes."""

    operand: int
    size: int


class Step(NamedTuple):
    """A kernel, and the slots of its operands."""

    kernel: CpuKernel
    slots: Sequence[int]


def prepare_program(steps: Sequence[Step], slots: Sequence[Slot], count: int) -> CpuKernel:
    """Return the kernel that carries out element-wise kernels in turn, for `count` elements."""
    block = BLOCK // max((slot.size for slot in slots if slot.operand < 0), default=8)
    places, room = [], 0
    for slot in slots:
        places.append((slot.operand, room, slot.size))
        if slot.operand < 0:
            room += -(-block * slot.size // LINE) * LINE + APART
    frame = ffi.new("mat_program *", {"count": count, "block": block, "room": room,
                                      "steps": len(steps)})
    made, table = ffi.new("mat_step[]", len(steps)), ffi.new("mat_slot[]", places)
    for one, step in zip(made, steps, strict=True):
        one.kernel = ffi.cast("mat_kernel *", step.kernel.address)
        one.frame, one.count = step.kernel.frame, len(step.slots)
        one.slot[0:len(step.slots)] = step.slots
    frame.step, frame.slots = made, table
    return CpuKernel(lib.mat_run_program, frame, -(-count // block), max(1, SHARE // block),
                     keep=(steps, made, table), refusal=lambda: MemoryError(_MEMORY), result="i")


def writes_to_caches(kernel: CpuKernel) -> CpuKernel:
    """Return a kernel, whose result is read soon, that does not write it past the caches."""
    kernel.frame.stream = 0
    return kernel
