"""What a program's lines cost: time by samples of the stacks of its threads, and by the events that
`mat.debug.trace` records, counted by line, the copies, waits and fallbacks.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from types import FrameType
from typing import TypeAlias

from ..core.compiled import IN_USE
from ..core.cube import Cube
from ..core.observers import Observation, Observer, observe, observe_transfers
from ..core.registry import Memory, host
from ..core.runs import Runs
from ..support.fork import WithLock
from .imports import ProgramFiles

TICK = 0.005  # seconds between samples
Line: TypeAlias = tuple[str, int]  # of a file
NOWHERE: Line = ("", 0)  # no line of the program


class LineCost:
    """The cost of one line."""

    def __init__(self) -> None:
        self.seconds: float = 0.0  # of the samples in which a thread was in that line
        self.there: int = 0  # bytes that were copied to a device
        self.back: int = 0  # and to the host
        self.waits: Counter[str] = Counter()  # by what the host waited for
        self.fallbacks: Counter[str] = Counter()  # functions that the host carried out
        self.kept: Counter[str] = Counter()  # those that NumPy did with arrays that cannot be Mats
        self.moving: float = 0.0  # the time of copies and waits
        self.reasons: dict[str, str] = {}  # of fallbacks
        self.places: Counter[str] = Counter()  # the memories of the operations that were sampled

    @property
    def on_device(self) -> float:
        """The part of the operations that a device computes."""
        every = self.places.total()
        return 1 - self.places[host().name] / every if every else 0.0

    @property
    def place(self) -> str:
        """Where the line computes: on the device, the host, or both."""
        part = self.on_device
        if not self.places and (self.there or self.back):
            return "both"
        return "device" if part > 0.9 else "both" if part > 0.1 else "host"


class Profile(WithLock, Observer):
    """The costs of a program by line; an observer of its copies, waits and fallbacks."""

    def __init__(self, program: ProgramFiles) -> None:
        self.program = program
        self.lines: dict[Line, LineCost] = {}
        self.begun: float = perf_counter()
        self.seconds: float = 0.0  # of the whole
        super().__init__()

    def line_of(self, frame: FrameType | None) -> Line:
        """Return the innermost line of the program that led to a frame."""
        known, has = self.program.known, self.program.has
        while frame is not None:
            file = frame.f_code.co_filename
            owned = known.get(file)
            if has(file) if owned is None else owned:
                return file, frame.f_lineno or frame.f_code.co_firstlineno
            frame = frame.f_back
        return NOWHERE

    def cost(self, line: Line) -> LineCost:
        """Return the cost of a line, to be changed under the lock."""
        found = self.lines.get(line)
        if found is None:
            found = self.lines[line] = LineCost()
        return found

    def _here(self) -> LineCost:
        return self.cost(self.line_of(sys._getframe(2)))

    # Observer

    def copied(self, cube: Cube, source: Memory, target: Memory, seconds: float) -> None:
        self._moved(cube.nbytes, source, target, seconds)

    def copied_runs(self, cube: Cube, source: Memory, target: Memory, runs: Runs,
                    seconds: float) -> None:
        if source is not target:
            self._moved(runs.size * cube.nbytes // cube.units, source, target, seconds)

    def _moved(self, nbytes: int, source: Memory, target: Memory, seconds: float) -> None:
        with self._lock:
            cost = self._here()
            cost.there += nbytes * (source is host())
            cost.back += nbytes * (target is host())
            cost.moving += seconds

    def waited(self, what: str, cube: Cube, memory: Memory, seconds: float) -> None:
        with self._lock:
            cost = self._here()
            cost.waits[what] += 1
            cost.moving += seconds

    def fell_back_since(self, operation: str, device: str, reason: str) -> None:
        with self._lock:
            cost = self._here()
            cost.fallbacks[operation] += 1
            cost.reasons[operation] = reason

    def kept(self, name: str) -> None:
        """Count a call that NumPy carried out with arrays that cannot be Mats."""
        with self._lock:
            self._here().kept[name] += 1

    def sampled(self, frame: FrameType, seconds: float) -> bool:
        """Count a sample of a thread's stack; return whether the program is in it."""
        line = self.line_of(frame)
        if line is NOWHERE:
            return False
        with self._lock:
            self.cost(line).seconds += seconds
        return True

    def placed(self, memory: str) -> None:
        """Count an operation that was sampled."""
        with self._lock:
            self._here().places[memory] += 1


class _OneOperation(Observer):
    """An observer of the next operation only."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.block: Observation[_OneOperation] | None = None

    def open(self) -> None:
        """Observe the next operation, unless that has not come yet."""
        if self.block is None:
            self.block = observe(self)
            self.block.__enter__()

    def close(self) -> None:
        """Observe no more."""
        block, self.block = self.block, None
        if block is not None:
            block.__exit__(None, None, None)

    def computed(self, operation: str, memory: str, seconds: float) -> None:
        self.close()
        self.profile.placed(memory)


class _Sampler:
    """A thread that samples the stacks of all others."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.stop = threading.Event()
        self.operation = _OneOperation(profile)
        self.thread = threading.Thread(target=self.run, name="mat-run-sampler", daemon=True)

    def run(self) -> None:
        """Sample until told to stop."""
        own, last = threading.get_ident(), perf_counter()
        while not self.stop.wait(TICK):
            now = perf_counter()
            for thread, frame in sys._current_frames().items():
                if thread != own:
                    self.profile.sampled(frame, now - last)
            if IN_USE:
                self.operation.open()
            last = now
        self.operation.close()


@contextmanager
def profiled(program: ProgramFiles) -> Iterator[Profile]:
    """Measure the lines of a program in this block."""
    profile = Profile(program)
    sampler = _Sampler(profile)
    sampler.thread.start()
    try:
        with observe_transfers(profile):
            yield profile
    finally:
        sampler.stop.set()
        sampler.thread.join()
        profile.seconds = perf_counter() - profile.begun
