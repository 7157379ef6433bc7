"""Programs: several element-wise kernels in one pass, by a kernel that runs them block by block,
and by composed loops, which are compiled for them: light operations that follow each other in C,
whose intermediate results never leave the registers. Each computes what the kernels do, to the bit.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..errors import KernelError
from ..layout.shapes import Ints
from ..layout.strided import packed_strides
from ..support.fork import WithLock, start
from ..support.native import ffi, lib
from ..support.plugins import plugin
from ..support.types import CData
from .elementwise import FRAME
from .kernel import BRIEF, CpuKernel, Finish

# bytes of the temporary elements of a block, of which several fit into the first cache; shorter
# blocks are in `program.c`
BLOCK = 1 << 13
SHARE = 1 << 14  # elements that a thread should at least get
# bytes that each thread keeps, less those of a block to be streamed, and the most for a step
KEPT, STEP = 1 << 17, 1 << 10
STREAMED = 1 << 9  # bytes of a block of one loop that is streamed
CACHED = 6  # times less time a light kernel takes for elements in the first cache
LINE, APART = 64, 192  # bytes that addresses are multiples of, and between temporary elements
_MEMORY = "no memory for the temporary elements of a fused expression"


class Slot(NamedTuple):
    """A place of elements: an operand of the program, or -1: temporary ones, of `size` bytes."""

    operand: int
    size: int


class ProgramParts(NamedTuple):
    """The parts of a program, and the objects that its frame points to."""

    steps: Sequence[KernelStep]
    slots: Sequence[Slot]
    folds: Sequence[Fold]
    alive: list[object]


class Fold(NamedTuple):
    """A reduction of a program: its kernel, how many elements are a unit of the program, and how
    many units of its own these are; the slot of the elements, and the operand for the result.
    """

    kernel: CpuKernel
    unit: int
    each: int
    slot: int
    out: int


def prepare_program(steps: Sequence[KernelStep], slots: Sequence[Slot], operands: int, count: int,
                    folds: Sequence[Fold] = ()) -> CpuKernel:
    """Return the kernel that runs kernels in turn for `count` elements, with reductions of them."""
    block = BLOCK // max((slot.size for slot in slots if slot.operand < 0), default=8)
    unit = folds[0].unit if folds else block
    places, room = [], 0
    for k, slot in enumerate(slots):
        whole = any(k == fold.slot for fold in folds)
        places.append((slot.operand, room, slot.size, whole))
        if slot.operand < 0:
            room += -(-(unit if whole else block) * slot.size // LINE) * LINE + APART
    frame = ffi.new("mat_program *", {"count": count, "unit": unit, "block": block, "room": room})
    made, table = put_steps(frame, steps), ffi.new("mat_slot[]", places)
    frame.slots = table
    # of so many elements kernels in turn may be done without releasing the GIL
    most = CACHED / sum(1 / step.kernel.brief for step in steps)
    brief = room + len(steps) * STEP <= KEPT and count <= most
    units = -(-count // unit)
    folded, finish = put_folds(frame, folds, operands)
    return CpuKernel(lib.mat_run_program, frame, units, max(1, SHARE // unit),
                     brief=units if brief else 0, keep=ProgramParts(
                         steps, slots, folds, [made, table, folded]),
                     finish=finish, refusal=None if brief else lambda: MemoryError(_MEMORY),
                     result="" if brief else "i")


def put_steps(frame: CData, steps: Sequence[KernelStep]) -> CData:
    """Set the steps in the frame of a program; return the objects that it points to."""
    made = ffi.new("mat_step[]", len(steps))
    for one, step in zip(made, steps, strict=True):
        one.kernel = ffi.cast("mat_kernel *", step.kernel.address)
        one.frame, one.count = step.kernel.frame, len(step.slots)
        one.slot[0:len(step.slots)] = step.slots
    frame.step, frame.steps = made, len(steps)
    return made


def composed_steps(program: CpuKernel) -> list[ComposedLoop | KernelStep]:
    """Return the steps of a program, those that can be one loop composed."""
    parts: Any = program.keep
    kept = [k for k, slot in enumerate(parts.slots) if slot.operand >= 0]
    return compose(parts.steps, [*kept, *(fold.slot for fold in parts.folds)])


def replace_steps(program: CpuKernel, steps: Sequence[ComposedLoop | KernelStep],
                  addresses: Sequence[int]) -> None:
    """Let a program, also while it runs, carry out those steps, with loops at these addresses."""
    parts: Any = program.keep
    given = iter(addresses)
    frame = ffi.new("mat_program *", program.frame[0])
    found = [one if isinstance(one, KernelStep) else KernelStep(
        CpuKernel(next(given), one.frame, program.count, 1, brief=BRIEF), one.slots)
        for one in steps]
    parts.alive.extend([frame, put_steps(frame, found), found])
    if len(found) == 1:  # no temporary elements: blocks only matter to what is streamed
        size = max(slot.size for slot in parts.slots)
        frame.block = max(1, STREAMED // size) if found[0].kernel.frame.stream else frame.unit
        frame.fixed = 1
    lib.mat_replace_program(program.frame, frame)


def put_folds(frame: CData, folds: Sequence[Fold], operands: int) -> tuple[CData, Finish | None]:
    """Set the reductions in a program's frame; return what it points to, and their second stage."""
    made, room, results = ffi.new("mat_fold[]", len(folds)), 0, 0
    for one, fold in zip(made, folds, strict=True):
        kernel, finish = fold.kernel, fold.kernel.finish
        one.kernel, one.frame = ffi.cast("mat_kernel *", kernel.address), kernel.frame
        one.each, one.total, one.slot, one.out = fold.each, kernel.count, fold.slot, fold.out
        one.parts, one.at = operands, room
        if finish is not None:
            one.finish, one.results = ffi.cast("mat_kernel *", finish.address), finish.units
            room, results = room + -(-finish.room // LINE) * LINE, max(results, finish.units)
    frame.fold, frame.folds = made, len(folds)
    address = int(ffi.cast("uintptr_t", lib.mat_finish_program))
    return made, Finish(address, results, room) if results else None


def writes_to_caches(kernel: CpuKernel) -> CpuKernel:
    """Return a kernel, whose result is read soon, that does not write it past the caches."""
    kernel.frame.stream = 0
    return kernel


# A thread compiles programs that are used often, while they are interpreted. Nobody waits for the
# compiler. Where there is none, or it fails, programs remain interpreted


# passes, and elements times operations of all of them, from which on a program is compiled
PASSES, WORK = 8, 1 << 27
VARIABLE = "MAT_FUSED_COMPILER"  # 0: nothing is compiled
MOST = 512  # sources that are compiled
NICE = 10  # of the compiler, which is to leave the cores to others


class Composer(WithLock):
    """Compiles programs, one after another."""

    def __init__(self) -> None:
        self.enabled: bool = lib is not None and os.environ.get(VARIABLE) != "0"
        self.passes: int = PASSES
        self.work: int = WORK
        self.known: dict[str, Sequence[int]] = {}  # addresses of loops, by the source; none: failed
        self.compiled: int = 0  # programs
        self.faults: list[str] = []  # of programs that the compiler refused
        super().__init__()

    def after_fork(self) -> None:
        """Begin anew, since a child lacks the thread."""
        super().after_fork()
        self.asked: list[CpuKernel] = []
        self.busy: bool = False

    def state(self) -> str:
        """Return how many programs were compiled, and why others were not, for a report."""
        if not self.enabled:
            return f"interpreted, since {VARIABLE}=0"
        more = f", {len(self.faults)} failed: {self.faults[0].strip()}" if self.faults else ""
        return f"{self.compiled} compiled{more}"

    def ask(self, programs: Sequence[CpuKernel]) -> None:
        """Let programs be compiled some time."""
        with self._lock:
            self.asked += programs
            if not self.busy:
                self.busy = start(self.compile_all, name="mat-compiler") is not None

    def compile_all(self) -> None:
        """Compile the programs that are asked for until there are none left."""
        with suppress(OSError, AttributeError):  # of this thread and of the compiler, on Linux
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
        while True:
            with self._lock:
                if not self.asked:
                    self.busy = False
                    return
                program = self.asked.pop(0)
            self.compile(program)

    def compile(self, program: CpuKernel) -> None:
        """Replace steps of a program that can be composed by compiled loops."""
        steps = composed_steps(program)
        loops = [one for one in steps if isinstance(one, ComposedLoop)]
        if not loops:
            return
        addresses = self.addresses_of(source_of_program(loops), len(loops))
        if addresses:
            replace_steps(program, steps, addresses)

    def addresses_of(self, source: str, count: int) -> Sequence[int]:
        """Return the addresses of a source's loops; none if the compiler fails or had too many."""
        if source not in self.known:
            if len(self.known) >= MOST:  # libraries are never unloaded
                return ()
            self.known[source] = ()
            compiler: Any = plugin("support.c_compiler")
            try:
                self.known[source] = compiler.kernels(source, count, *machine_flags())
                self.compiled += 1
            except (KernelError, compiler.CompileError, OSError) as error:
                self.faults.append(str(error))
        return self.known[source]


def machine_flags() -> list[str]:
    """Return the flags for the kernels' machine, without warnings, which nobody would see."""
    machine = ffi.string(lib.mat_machine()).decode()
    if machine.startswith("x86-64-"):
        return ["-w", f"-march={machine}"]
    return ["-w", *(f for f in ffi.string(lib.mat_flags()).decode().split() if f.startswith("-m"))]


COMPOSER = Composer()


# Composed loops


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
        """The key that it shares with the same operand of other steps."""
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
    """Steps that no loop can be composed of."""


def loop_of(steps: Sequence[LightStep], at: range, number: int, live: Collection[int],
            ) -> ComposedLoop:
    """Return loop `number` for the steps at those places; slots in `live` are read afterwards."""
    built = LoopBuilder(steps)
    built.settle_types()
    kept = [x for x in built.operands.values() if x.read is not None or x.like.slot in live]
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
