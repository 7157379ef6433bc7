"""Programs: several element-wise kernels in one pass, by a kernel that runs them block by block,
and by loops that are compiled for them.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ..errors import KernelError
from ..support.fork import WithLock, start
from ..support.native import ffi, lib
from ..support.plugins import plugin
from ..support.types import CData
from .composed import ComposedLoop, KernelStep, compose, source_of_program
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
    """What a program was made of, and all that its frame points to."""

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
    """Let the frame of a program have those steps; return what it points to."""
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
    """Give a program's frame reductions; return what it points to, and their second stage."""
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
        """Replace what can be composed of a program by compiled loops."""
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
