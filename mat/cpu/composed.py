"""Composed loops: light operations of a program that follow each other, as one loop in C whose
intermediate results never leave the registers.

Each computes what the kernels do, to the bit. It knows nothing about when that pays off.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..layout.shapes import Ints
from ..layout.strided import packed_strides
from ..support.native import ffi, lib
from ..support.types import CData
from .elementwise import FRAME
from .kernel import CpuKernel

MOST_OPERANDS = 16  # of a loop
_TYPES = {"f32": "float", "f64": "double", "b1": "uint8_t"}
_BITS = {1: "uint8_t", 4: "uint32_t", 8: "uint64_t"}
_WORDS = {"geem", "add_sign", "fill"}  # lines that are no functions of elements


class KernelStep(NamedTuple):
    """A kernel, and the slots of its operands."""

    kernel: CpuKernel
    slots: Sequence[int]


class StepOperand(NamedTuple):
    """An operand of a step: slot, dtype as a number, bytes of an element, strides over its axes."""

    slot: int
    kind: str
    size: int
    strides: Ints

    @property
    def key(self) -> tuple[object, ...]:
        """What it has in common with the same operand of other steps."""
        return (self.slot, self.kind, self.size) if self.kind else (self.slot,)


class LightStep(NamedTuple):
    """A step as a function of elements: its name, types of what it reads and of the result, ""
    where it only moves bits; the axes, and the operands, the result last.
    """

    function: str
    reads: str
    result: str
    shape: Ints
    operands: tuple[StepOperand, ...]
    streams: bool


class ComposedLoop(NamedTuple):
    """A loop that does several steps: its C source, as the loop of that number in a program, its
    frame, and the slots of its operands.
    """

    source: str
    frame: CData
    slots: Sequence[int]
    steps: range


def light_step(step: KernelStep) -> LightStep | None:
    """Return a step as a function of elements; None if there is none."""
    frame, address = step.kernel.frame, step.kernel.address
    count = len(step.slots)
    if (ffi.typeof(frame) is not FRAME or frame.counters or frame.walked or frame.count != count
            or any(frame.cast[k] for k in range(count))):
        return None
    rank = frame.rank
    numbers = tuple(frame.sizes[0:rank * (count + 1)])
    operands = tuple(
        StepOperand(slot, "" if frame.number[k] == b"\0" else frame.number[k].decode(),
                    frame.size[k], numbers[rank * (k + 1):rank * (k + 2)])
        for k, slot in enumerate(step.slots))
    function = function_of(address, operands)
    return None if function is None else LightStep(
        *function, numbers[:rank], operands, bool(frame.stream))


def function_of(address: int, operands: Sequence[StepOperand]) -> tuple[str, str, str] | None:
    """Return the function of a kernel, the type that it reads and that of its results."""
    size = operands[-1].size
    name, _, suffix = ffi.string(lib.mat_light_name(address)).decode().rpartition("_")
    if suffix in _TYPES and name not in _WORDS and not name.endswith("_first"):
        kind = _TYPES[suffix]
        both = len(operands) == 4 and not (operands[1].strides[-1] or operands[2].strides[-1])
        more = "_of_numbers" if both else ""
        return f"mat_each_{name}{more}_{suffix}", kind, kind if size > 1 else "uint8_t"
    of, _, to = ffi.string(lib.mat_convert_name(address)).decode().partition("_")
    if of in _TYPES and to in _TYPES:
        return f"mat_convert_{of}_{to}", _TYPES[of], _TYPES[to]
    if size in (4, 8) and address == lib.mat_select_kernel(size):
        return "MAT_SELECT", "", ""
    return None


def segments(steps: Sequence[KernelStep]) -> Iterator[tuple[range, list[LightStep]]]:
    """Yield the steps that can be one loop, and those between them alone, with no functions."""
    found: list[LightStep] = []
    start = 0
    for k, step in enumerate(steps):
        light = light_step(step)
        if found and (light is None or not fit_together([*found, light])):
            yield range(start, k), found
            found = []
        if light is None:
            yield range(k, k + 1), []
        else:
            start = start if found else k
            found.append(light)
    if found:
        yield range(start, len(steps)), found


def fit_together(steps: Sequence[LightStep]) -> bool:
    """Return whether steps have the same axes, or one, and few enough operands."""
    if len({step.shape for step in steps if len(step.shape) > 1}) > 1:
        return False
    return len({operand.key for step in steps for operand in step.operands}) <= MOST_OPERANDS


@dataclass
class LoopOperand:
    """An operand of a loop, and the values that it is read as and that it gets."""

    like: StepOperand
    strides: Ints
    read: int | None = None
    written: int | None = None


class LoopBuilder:
    """The values of a loop's steps: elements that are loaded, and results."""

    def __init__(self, steps: Sequence[LightStep]) -> None:
        self.shape: Ints = max((step.shape for step in steps), key=len)
        self.operands: dict[tuple[object, ...], LoopOperand] = {}
        self.current: dict[tuple[object, ...], int] = {}  # the value of an operand
        self.types: list[str] = []  # of values; "" while that is not known
        self.sizes: list[int] = []
        self.moves: list[Sequence[int]] = []  # values of one type, since their bits are moved
        self.lines: list[tuple[str, Sequence[int], int]] = []  # functions, values, results
        self.streamed: set[int] = set()  # slots
        for step in steps:
            self.add(step)

    def add(self, step: LightStep) -> None:
        """Add a step."""
        *reads, out = step.operands
        values = [self.value_of(x, step) for x in reads]
        result = self.new_value(out.size, step.result)
        self.operand(out, step).written = result
        self.current[out.key] = result
        self.lines.append((step.function, values, result))
        if not step.reads:
            self.moves.append((*values[1:], result))
            self.agree(values[0], "uint8_t")
        for value in values:
            self.agree(value, step.reads)
        if step.streams:
            self.streamed.add(out.slot)

    def value_of(self, x: StepOperand, step: LightStep) -> int:
        """Return the value of an operand, loaded if it is none of the loop's."""
        found = self.current.get(x.key)
        if found is None:
            found = self.new_value(x.size, "")
            self.operand(x, step).read = self.current[x.key] = found
        return found

    def operand(self, x: StepOperand, step: LightStep) -> LoopOperand:
        """Return the operand of the loop, with strides over its axes."""
        strides = x.strides
        if len(step.shape) < len(self.shape):
            strides = tuple(n * strides[0] for n in packed_strides(self.shape))
        found = self.operands.get(x.key)
        if found is None:
            found = self.operands[x.key] = LoopOperand(x, strides)
        elif found.strides != strides:
            raise NotComposedError
        return found

    def new_value(self, size: int, kind: str) -> int:
        """Return a new value."""
        self.types.append(kind)
        self.sizes.append(size)
        return len(self.types) - 1

    def agree(self, value: int, kind: str) -> None:
        """Let a value have that type, if it is known."""
        if kind and self.types[value] not in ("", kind):
            raise NotComposedError
        self.types[value] = kind or self.types[value]

    def settle_types(self) -> None:
        """Find the types of values whose bits are only moved."""
        for _ in self.moves:
            for values in self.moves:
                kinds = {self.types[v] for v in values} - {""}
                for value in values:
                    for kind in kinds:
                        self.agree(value, kind)
        for value, kind in enumerate(self.types):
            self.types[value] = kind or _BITS[self.sizes[value]]


class NotComposedError(Exception):
    """Steps of which no loop can be composed."""


def loop_of(steps: Sequence[LightStep], at: range, number: int, live: Collection[int],
            ) -> ComposedLoop:
    """Return loop `number` for the steps at those places; slots in `live` are read afterwards."""
    built = LoopBuilder(steps)
    built.settle_types()
    kept = [x for x in built.operands.values()
            if x.read is not None or x.like.slot in live]
    kept.sort(key=lambda x: x.like.slot in built.streamed and x.read is None)
    return ComposedLoop(source_of(built, kept, number, live), frame_of(built, kept),
                        [x.like.slot for x in kept], at)


def source_of(built: LoopBuilder, operands: Sequence[LoopOperand], number: int,
              live: Collection[int]) -> str:
    """Return the C source of a loop."""
    before, loads, stores = [], [], []
    reads = writes = ones = 0
    for k, x in enumerate(operands):
        if x.written is not None and x.like.slot in live:
            before.append(f"MAT_OUTPUT({built.types[x.written]}, y{k}, {k});")
            stores.append(f"y{k}[i] = v{x.written};")
            writes |= 1 << k
        if x.read is None:
            continue
        reads |= 1 << k
        kind = built.types[x.read]
        before.append(f"MAT_INPUT({kind}, x{k}, {k});")
        if x.strides[-1]:
            loads.append(f"const {kind} v{x.read} = {loaded(kind, f'x{k}[i]')};")
        else:
            before.append(f"const {kind} v{x.read} = {loaded(kind, f'*x{k}')};")
            ones |= 1 << k
    lines = [f"const {built.types[result]} v{result} = {function}("
             f"{', '.join(f'v{v}' for v in values)});" for function, values, result in built.lines]
    body = "\n    ".join([*loads, *lines, *stores])
    return (f"static MAT_ELEMENTWISE(loop{number}, {reads}, {writes}, {ones} | MAT_TOGETHER,\n"
            f"    ({' '.join(before)}),\n    {body})\n")


def loaded(kind: str, element: str) -> str:
    """Return C for an element that is loaded: bool is 0 or 1, whichever the byte is."""
    return f"{element} != 0" if kind == "uint8_t" else element


def frame_of(built: LoopBuilder, operands: Sequence[LoopOperand]) -> CData:
    """Return the frame of a loop."""
    frame = ffi.new("mat_strided *", {
        "rank": len(built.shape), "count": len(operands),
        "sizes": [*built.shape, *(n for x in operands for n in x.strides)]})
    for k, x in enumerate(operands):
        frame.size[k] = x.like.size
        frame.number[k] = x.like.kind.encode() or b"\0"
    if operands[-1].like.slot in built.streamed and operands[-1].read is None:
        frame.stream = 1 << len(operands) - 1
    return frame


def compose(steps: Sequence[KernelStep], kept: Collection[int]) -> list[ComposedLoop | KernelStep]:
    """Return steps, composed where they can be one loop; `kept` are the slots used after it."""
    found: list[ComposedLoop | KernelStep] = []
    number = 0
    for at, light in segments(steps):
        if len(light) > 1:
            live = live_after(steps[at.stop:], kept)
            try:
                found.append(loop_of(light, at, number, live))
                number += 1
                continue
            except NotComposedError:
                pass
        found += steps[at.start:at.stop]
    return found


def live_after(rest: Sequence[KernelStep], kept: Collection[int]) -> set[int]:
    """Return the slots whose elements are read by the rest of a program, or wanted after it."""
    live = set(kept)
    for step in reversed(rest):
        *reads, out = step.slots
        live.discard(out)
        live.update(reads)
    return live


def source_of_program(loops: Sequence[ComposedLoop]) -> str:
    """Return C source that names the loops by MAT_KERNELS."""
    names = ", ".join(f"loop{k}" for k in range(len(loops)))
    return "\n".join(['#include "composed_inline.h"', "", *(one.source for one in loops),
                      f"MAT_KERNELS({names})", ""])
