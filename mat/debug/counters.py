"""Seeing what happens: copies, packs, allocations and library calls counted or listed while a block
runs.
"""

from __future__ import annotations

import atexit
import importlib
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..core.access_record import in_operation, line_of, user_line
from ..core.cube import OBSERVERS, Observer, host, observe
from ..core.cube import allow_conflicts as _admitting
from ..errors import ConflictError, DirectionError, SettingError
from .direction_check import CHECK, DirectionReport
from .trace import Trace, trace


class CopyCounter(Observer):
    """Counts: ``h2d`` and ``d2h`` (copies from and to the host), ``bytes`` they moved, ``packs`` of
    strided operands.

    And ``fallbacks``: operations that the host did, since the device in use has no body for them.
    """

    def __init__(self) -> None:
        self.h2d = self.d2h = self.bytes = self.packs = self.fallbacks = 0
        self._lock = threading.Lock()

    def copied(self, cube: Any, source: Any, target: Any, seconds: float) -> None:
        with self._lock:
            self.h2d += source is host()
            self.d2h += target is host()
            self.bytes += cube.nbytes

    def packed(self, view: Any) -> None:
        with self._lock:
            self.packs += 1

    def fell_back(self, operation: str, device: str) -> None:
        with self._lock:
            self.fallbacks += 1

    def __repr__(self) -> str:
        told = f"<copies: {self.h2d} from the host, {self.d2h} to it, {self.bytes} bytes; {self.packs} packed operands"
        return told + (f"; {self.fallbacks} operations fell back to the host>" if self.fallbacks
                       else ">")


class AllocationCounter(Observer):
    """Counts: ``count`` and ``nbytes`` of the storages created; an upper bound, since memory is
    taken lazily.
    """

    def __init__(self) -> None:
        self.count = self.nbytes = 0
        self._lock = threading.Lock()

    def created(self, cube: Any) -> None:
        with self._lock:
            self.count += 1
            self.nbytes += cube.nbytes

    def __repr__(self) -> str:
        return f"<allocations: {self.count} storages, {self.nbytes} bytes>"


class LibraryCall(NamedTuple):
    """One call of a library routine, and the arguments that are no pointers or factors."""

    routine: str
    arguments: dict[str, object]

    def __str__(self) -> str:
        return f"{self.routine}({', '.join(f'{k}={v}' for k, v in self.arguments.items())})"


class CallRecorder(Observer):
    """Lists: ``calls`` of library routines, in order."""

    def __init__(self) -> None:
        self.calls: list[LibraryCall] = []

    def called(self, routine: str, **arguments: object) -> None:
        self.calls.append(LibraryCall(routine, arguments))

    def __repr__(self) -> str:
        return "\n".join(map(str, self.calls)) or "<no calls>"


@contextmanager
def count_copies() -> Iterator[CopyCounter]:
    """``with mat.debug.count_copies() as n:`` counts copies between memories and packed operands,
    in every thread.

    >>> import mat
    >>> a = mat.ones(4, 4)
    >>> with mat.debug.count_copies() as n:
    ...     b = a @ a.T
    >>> n.packs
    0
    """
    counter = CopyCounter()
    with observe(counter):
        yield counter


@contextmanager
def count_allocations() -> Iterator[AllocationCounter]:
    """``with mat.debug.count_allocations() as n:`` counts the storages created, and their bytes.

    >>> import mat
    >>> with mat.debug.count_allocations() as n:
    ...     x = mat.zeros(2, 3)
    >>> n.count, n.nbytes
    (1, 48)
    """
    counter = AllocationCounter()
    with observe(counter):
        yield counter


@contextmanager
def expect_copies(*, h2d: int | None = None, d2h: int | None = None, packs: int | None = None,
                  fallbacks: int | None = None) -> Iterator[Trace]:
    """``with mat.debug.expect_copies(h2d=1, d2h=0):`` is an `AssertionError` at its end if other
    numbers were counted.

    Numbers left out may be any. The error has the ledger by line; the block is given it, too. For
    tests.

    >>> import mat
    >>> x = mat.ones(3).exp_()
    >>> with mat.debug.expect_copies(h2d=1, d2h=0), mat.use_device("emulated"):
    ...     mat.dot(x, x) > 0
    True
    """
    wanted = {"h2d": h2d, "d2h": d2h, "packs": packs, "fallbacks": fallbacks}
    with trace() as t:
        yield t
    wrong = [f"{name} was {getattr(t, name)}, expected {n}" for name,
             n in wanted.items() if n not in (None, getattr(t, name))]
    if wrong:
        raise AssertionError(f"{', '.join(wrong)}\n{t!r}")


class CopyGuard(Observer):
    """Heeds copies between memories that operations bring about."""

    def __init__(self, logger: Any) -> None:
        self.logger = logger  # None: refuse them

    def copying(self, cube: Any, source: Any, target: Any) -> None:
        if not in_operation():
            return
        text = (f"an operation at {line_of(user_line())} copies {cube.nbytes:,} bytes from "
                f"{source.name} to {target.name}; "
                "bring data where it is needed with mat.prefetch or x.facet, or compute in one "
                "place with mat.use_device")
        if self.logger is None:
            raise ConflictError(text)
        self.logger.warning(text)


@contextmanager
def guard(implicit: str = "raise") -> Iterator[None]:
    """``with mat.debug.guard(implicit="raise"):`` operations may not copy between memories on their
    own, in any thread.

    What is asked for is fine: looks with ``with``, conversions, `prefetch`, and the end of a
    `use_device` block. With "log" such a copy is a warning to the logger ``mat``, with "raise" a
    `ConflictError` before it happens, with "allow" nothing.

    >>> import mat
    >>> x = mat.ones(3).exp_()
    >>> with mat.debug.guard("raise"), mat.use_device("emulated"), mat.prefetch(to_device=[x]):
    ...     pass
    """
    if implicit not in ("allow", "log", "raise"):
        raise SettingError(f"implicit is 'allow', 'log' or 'raise', got {implicit!r}")
    if implicit == "allow":
        yield
        return
    # what is imported only for this takes longer than much of ours
    with observe(CopyGuard(importlib.import_module("logging").getLogger("mat") if implicit == "log"
                           else None)):
        yield


@contextmanager
def list_calls() -> Iterator[CallRecorder]:
    """``with mat.debug.list_calls() as c:`` lists the library calls that operations make, with
    flags and sizes.

    >>> import mat
    >>> with mat.debug.list_calls() as c:
    ...     _ = mat.ones(2, 3) @ mat.ones(3, 4)
    >>> c
    dgemm(trans=NN, m=4, n=2, k=3, lda=4, ldb=3, ldc=4)
    """
    calls = CallRecorder()
    with observe(calls):
        yield calls


@contextmanager
def allow_conflicts() -> Iterator[None]:
    """Inside, in this thread, looks that exclude each other are let through: a way to test whether
    one is a false alarm.
    """
    _admitting.depth = getattr(_admitting, "depth", 0) + 1
    try:
        yield
    finally:
        _admitting.depth -= 1


@contextmanager
def check_directions() -> Iterator[DirectionReport]:
    """``with mat.debug.check_directions() as c:`` finds blocks and operations that break the
    promise of their direction.

    A block for ``input`` that changes data, one for ``output`` that leaves elements as they were,
    one that changes elements its Mat does not see: a `DirectionError` at its end, which names the
    block or the operation, the elements, the line that created the Mat, and where the system can
    tell it also the line that wrote. What a block was given is dead afterwards, and using it is an
    error, too. ``c.too_strong`` lists what asked for ``io`` and changed nothing. In all threads;
    slow. With ``MAT_DEBUG=directions`` in the environment this goes on for the whole process.
    ``docs/debugging.md`` has the limits.

    >>> import mat
    >>> with mat.debug.check_directions():
    ...     x = mat.zeros(2, 3)
    ...     with x.facet("array", "output") as a:
    ...         a[0] = 1  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    mat.errors.DirectionError: <Mat 2x3> as facet 'array' for 'output' ... left as it was 3
    elements, (1, 0), ...
    """
    report = DirectionReport()
    CHECK.begin(report)
    if CHECK not in OBSERVERS:
        OBSERVERS.append(CHECK)
    try:
        yield report
    finally:
        if len(CHECK.reports) == 1:
            OBSERVERS[:] = [o for o in OBSERVERS if o is not CHECK]
        untold, error = CHECK.end(report), sys.exception()
        if untold and error is None:
            raise DirectionError("; ".join(untold))
        for text in untold:
            error.add_note(text)  # type: ignore[union-attr]  # there is one


def _for_the_process() -> None:
    """Check directions until the process ends, and say then what nobody was told."""
    report = DirectionReport()
    CHECK.begin(report)
    OBSERVERS.append(CHECK)
    atexit.register(lambda: [sys.stderr.write(f"mat: {text}\n") for _, text in CHECK.late])


if "directions" in os.environ.get("MAT_DEBUG", "").split(","):
    _for_the_process()
