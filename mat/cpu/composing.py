"""`Composer`: a thread that compiles programs which are used often, while they are interpreted.

Nobody waits for the compiler. Where there is none, or it fails, programs remain interpreted.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ..errors import KernelError
from ..support.fork import WithLock, start
from ..support.native import ffi, lib
from ..support.plugins import plugin
from .composed import TABLE, ComposedLoop, source_of_program
from .kernel import CpuKernel
from .program import composed_steps, replace_steps

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
                found = compiler.library(source, TABLE, *machine_flags())
                self.known[source] = list(ffi.cast("uintptr_t *", found)[0:count])
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
