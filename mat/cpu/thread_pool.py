"""The threads that share large operations. A kernel runs in one thread; only here is work split.

This is not OpenMP: a second runtime beside another library's slows both, and a forked child of it
hangs. The threads are Python's, which run since kernels release the GIL; a forked child makes its
own.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TypeAlias

from ..core.compiled import share_by
from ..support.fork import in_child, start
from ..support.native import lib
from ..support.options import current
from ..support.settings import CONTEXTS, THREADS
from ..support.types import CData

PIECES = 4  # for each thread: threads that are early take over from those that are late
Piece: TypeAlias = tuple[int, int]


def threads() -> int:
    """Return the setting ``threads``, or the number of cores that ``OMP_NUM_THREADS`` allows."""
    return current().threads or DEFAULT


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _default(variable: str) -> int:
    """Return the first number of ``OMP_NUM_THREADS``, or that of cores if it is none, or more."""
    first = variable.partition(",")[0].strip()
    return min(int(first) or CORES, CORES) if first.isdecimal() else CORES


CORES = _cores()
DEFAULT = _default(os.environ.get("OMP_NUM_THREADS", ""))  # BLAS reads it at the start, too


class SharedWork:
    """The pieces of one operation that are still to be done, and how its helpers ended."""

    __slots__ = ("ended", "function", "pieces", "started", "woken")

    def __init__(self, function: Callable[[int, int], object], pieces: list[Piece]) -> None:
        self.function: Callable[[int, int], object] = function
        self.pieces: list[Piece] = pieces
        # an item for each helper that has begun, and for each that has ended: its error, if any
        self.started: list[None] = []
        self.ended: list[BaseException | None] = []
        self.woken: SimpleQueue[None] = SimpleQueue()

    def work(self) -> None:
        """Do pieces until none is left; list.pop is atomic."""
        while True:
            try:
                start, stop = self.pieces.pop()
            except IndexError:
                return
            self.function(start, stop)

    def help(self) -> None:
        """Do pieces in a helper, and report how it ended."""
        self.started.append(None)  # before the first piece: `finish` then waits
        error = None
        try:
            self.work()
        except BaseException as raised:
            self.pieces.clear()
            error = raised
        self.ended.append(error)
        self.woken.put(None)

    def finish(self) -> None:
        """Stop handing out pieces, and wait for those of helpers, even during an interrupt."""
        interrupt = None
        while True:
            try:
                self.pieces.clear()
                while len(self.ended) < len(self.started):
                    with suppress(Empty):
                        self.woken.get(timeout=0.1)
                break
            except BaseException as raised:
                interrupt = raised
        if interrupt is not None:
            raise interrupt


class Helpers:
    """Threads that wait for jobs, made when first needed and again in a forked child."""

    def __init__(self) -> None:
        self.lock: threading.Lock = threading.Lock()
        self.jobs: SimpleQueue[SharedWork] = SimpleQueue()
        self.count: int = 0

    def call(self, job: SharedWork, count: int) -> None:
        """Ask up to `count` helpers to join a job."""
        if self.count < count:
            with self.lock:
                while self.count < count and start(self._serve, self.jobs, name="mat-helper"):
                    self.count += 1
        for _ in range(min(count, self.count)):
            self.jobs.put(job)

    @staticmethod
    def _serve(jobs: SimpleQueue[SharedWork]) -> None:
        while True:
            job = jobs.get()
            job.help()
            del job  # it keeps arrays


class Servers:
    """Threads that wait in compiled code for ranges of kernels, made anew in a forked child."""

    def __init__(self) -> None:
        self.lock: threading.Lock = threading.Lock()
        self.count: int = 0

    def have(self, count: int) -> None:
        """Start threads until there are at least `count`, or as many as there can be."""
        with self.lock:
            while self.count < count and start(lib.mat_serve, name="mat-server"):
                self.count += 1


_helpers = Helpers()
_servers = Servers()


@in_child
def _forget() -> None:
    """Forget all threads, in a forked child, where they do not exist."""
    global _helpers, _servers
    _helpers, _servers = Helpers(), Servers()
    share_by(0)
    if lib is not None:
        lib.mat_share_forget()


THREADS.append(lambda: share_by(0))


def serving() -> int:
    """Return the number of threads that share an operation, of the started ones."""
    n = threads()
    if _servers.count < n - 1:
        _servers.have(n - 1)
        n = min(n, _servers.count + 1)
    return n


# the parameters are those of mat_share
def share(kernel: int, frame: CData, operands: CData, numbers: CData, result: CData, count: int,
          grain: int) -> None:
    """Run `count` units of the compiled `kernel` (a `mat_kernel`) in one or more threads.

    Each thread gets at least `grain` units. Unlike `run` this needs no Python code for a piece, and
    its threads poll for the next range for a while before they sleep.
    """
    shared = count >= 2 * grain
    n = serving() if shared else 1
    if shared and not CONTEXTS and n == threads():
        share_by(n)  # compiled calls may share by themselves, until the number changes
    lib.mat_share(kernel, frame, operands, numbers, result, count, grain, n)


def split(count: int, grain: int, pieces: int) -> list[Piece]:
    """Return at most so many pieces of `count` items, the last first, none far below `grain`."""
    n = max(1, min(pieces, count // max(grain, 1)))
    return [(count * k // n, count * (k + 1) // n) for k in range(n - 1, -1, -1)]


def run(function: Callable[[int, int], object], count: int, grain: int) -> None:
    """Call ``function(start, stop)`` for pieces of ``range(count)``, each of about `grain` or more.

    Large operations are split over several threads; pieces must not write the same elements. An
    error in any piece is raised here, after all threads have left the operation.
    """
    n = min(threads(), count // max(grain, 1))
    if n <= 1:
        function(0, count)
        return
    job = SharedWork(function, split(count, grain, n * PIECES))
    try:
        try:
            _helpers.call(job, min(n, len(job.pieces)) - 1)
            job.work()
            # helpers that have not begun find no pieces
        finally:
            job.finish()
    finally:
        job.finish()  # an interrupt may have come before the other one
    for error in job.ended:
        if error is not None:
            raise error
