"""The threads that share large operations. Kernels run in one thread each; here, and nowhere else,
work is split.

No OpenMP: a second runtime beside another library's slows both, and a forked child of it hangs.
Threads here are Python's, which a kernel lets run since it releases the GIL; a forked child makes
its own.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from ..core.compiled import share_by
from ..support.native import lib
from ..support.settings import CONTEXTS, THREADS, current

PIECES = 4  # for each thread: those that are done early take over from those that are held up
Piece = tuple[int, int]


def threads() -> int:
    """How many threads share an operation: ``mat.settings.threads``, or as many as there are cores
    for this process.
    """
    return current().threads or CORES


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


CORES = _cores()


class SharedWork:
    """Pieces of one operation that are still to be done, and a count of helpers that are."""

    __slots__ = ("done", "function", "pieces")

    def __init__(self, function: Callable[[int, int], object], pieces: list[Piece]) -> None:
        self.function = function
        self.pieces = pieces
        self.done: SimpleQueue[BaseException | None] = SimpleQueue()

    def work(self) -> None:
        """Do pieces until none is left; list.pop is atomic."""
        while True:
            try:
                start, stop = self.pieces.pop()
            except IndexError:
                return
            self.function(start, stop)

    def help(self) -> None:
        """The same in a helper, which reports how it ended."""
        try:
            self.work()
        except BaseException as error:
            self.pieces.clear()
            self.done.put(error)
        else:
            self.done.put(None)


class Helpers:
    """Threads that wait for jobs; made when first needed, and anew in a forked child."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.jobs: SimpleQueue[SharedWork] = SimpleQueue()
        self.count = 0

    def call(self, job: SharedWork, count: int) -> None:
        """Have `count` helpers join in a job."""
        if self.count < count:
            with self.lock:
                while self.count < count:
                    threading.Thread(target=self._serve, args=(self.jobs,), name="mat-helper",
                                     daemon=True).start()
                    self.count += 1
        for _ in range(count):
            self.jobs.put(job)

    @staticmethod
    def _serve(jobs: SimpleQueue[SharedWork]) -> None:
        while True:
            job = jobs.get()
            job.help()
            del job  # it holds arrays


class Servers:
    """Threads that wait in compiled code for ranges of kernels to share; made when first needed,
    and anew in a forked child.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.count = 0

    def have(self, count: int) -> None:
        """See to it that there are at least `count`."""
        with self.lock:
            while self.count < count:
                threading.Thread(target=lib.mat_serve, name="mat-server", daemon=True).start()
                self.count += 1


_helpers = Helpers()
_servers = Servers()


def _forget() -> None:
    """In a forked child the threads are gone."""
    global _helpers, _servers
    _helpers, _servers = Helpers(), Servers()
    share_by(0)
    if lib is not None:
        lib.mat_share_forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


THREADS.append(lambda: share_by(0))


def share(kernel: int, frame: Any, operands: Any, numbers: Any, result: Any, count: int,
          grain: int) -> None:
    """Have the compiled `kernel` (a `mat_kernel`) do `count` units, by several threads if each gets
    at least `grain` of them.

    Unlike `run` this takes no Python for a piece, and its threads look for the next range for a
    while before they sleep.
    """
    n = threads()
    if count >= 2 * grain:
        if _servers.count < n - 1:
            _servers.have(n - 1)
        if not CONTEXTS:
            share_by(n)  # compiled calls may do it themselves, until somebody changes the number
    lib.mat_share(kernel, frame, operands, numbers, result, count, grain, n)


def split(count: int, grain: int, pieces: int) -> list[Piece]:
    """`count` items in at most so many pieces, none much smaller than `grain`, the first ones
    last.
    """
    n = max(1, min(pieces, count // max(grain, 1)))
    return [(count * k // n, count * (k + 1) // n) for k in range(n - 1, -1, -1)]


def run(function: Callable[[int, int], object], count: int, grain: int) -> None:
    """Call ``function(start, stop)`` for pieces that cover ``range(count)``, each at least about
    `grain` items long.

    Large operations go over several threads; what pieces write must not overlap. An error in any
    piece is raised here, after all threads have left the operation.
    """
    n = min(threads(), count // max(grain, 1))
    if n <= 1:
        function(0, count)
        return
    job = SharedWork(function, split(count, grain, n * PIECES))
    helpers = min(n, len(job.pieces)) - 1
    _helpers.call(job, helpers)
    try:
        job.work()
    finally:
        job.pieces.clear()
        errors = [job.done.get() for _ in range(helpers)]
    for error in errors:
        if error is not None:
            raise error
