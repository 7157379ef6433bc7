"""Observers that count or list copies, packs, allocations and library calls while a block runs, and
the direction check as a block.
"""

from __future__ import annotations

import atexit
import importlib
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple, Protocol

from ..core.access_record import in_operation, line_of, user_line
from ..core.cube import OBSERVERS, Cube, Memory, Observer, View, host, observe
from ..core.cube import allow_conflicts as _allowed
from ..errors import ConflictError, DirectionError, SettingError
from .direction_check import CHECK, DirectionReport
from .trace import Trace, trace


class CopyCounter(Observer):
    """Counts of copies, which `count_copies` gives to its block.

    Attributes
    ----------
    h2d, d2h : int
        Copies from the host to another memory, and from another memory to the host.
    bytes : int
        The bytes of these copies.
    packs : int
        Strided operands that were copied to packed ones.
    fallbacks : int
        Operations that the host carried out, since the device in use has no implementation for
        their operands.
    """

    def __init__(self) -> None:
        self.h2d = self.d2h = self.bytes = self.packs = self.fallbacks = 0
        self._lock = threading.Lock()

    def copied(self, cube: Cube, source: Memory, target: Memory, seconds: float) -> None:
        with self._lock:
            self.h2d += source is host()
            self.d2h += target is host()
            self.bytes += cube.nbytes

    def packed(self, view: View) -> None:
        with self._lock:
            self.packs += 1

    def fell_back(self, operation: str, device: str) -> None:
        with self._lock:
            self.fallbacks += 1

    def __repr__(self) -> str:
        parts = [f"<copies: {self.h2d} from the host, {self.d2h} to it, {self.bytes} bytes",
                 f"{self.packs} packed operands"]
        if self.fallbacks:
            parts.append(f"{self.fallbacks} operations fell back to the host")
        return "; ".join(parts) + ">"


class AllocationCounter(Observer):
    """Counts of storages that are created, which `count_allocations` gives to its block.

    Attributes
    ----------
    count, nbytes : int
        The number of storages and their bytes: an upper bound, since memory is allocated lazily.
    """

    def __init__(self) -> None:
        self.count = self.nbytes = 0
        self._lock = threading.Lock()

    def created(self, cube: Cube) -> None:
        with self._lock:
            self.count += 1
            self.nbytes += cube.nbytes

    def __repr__(self) -> str:
        return f"<allocations: {self.count} storages, {self.nbytes} bytes>"


class LibraryCall(NamedTuple):
    """One call of a library routine.

    Attributes
    ----------
    routine : str
        The name of the routine, such as ``dgemm``.
    arguments : dict
        Its arguments by name, pointers and factors left out.
    """

    routine: str
    arguments: dict[str, object]

    def __str__(self) -> str:
        return f"{self.routine}({', '.join(f'{k}={v}' for k, v in self.arguments.items())})"


class CallRecorder(Observer):
    """A list of library calls, which `list_calls` gives to its block.

    Attributes
    ----------
    calls : list of LibraryCall
        The calls in their order.
    """

    def __init__(self) -> None:
        self.calls: list[LibraryCall] = []

    def called(self, routine: str, **arguments: object) -> None:
        self.calls.append(LibraryCall(routine, arguments))

    def __repr__(self) -> str:
        return "\n".join(map(str, self.calls)) or "<no calls>"


@contextmanager
def count_copies() -> Iterator[CopyCounter]:
    """Count copies between memories and packed operands during a block, in every thread.

    Yields
    ------
    CopyCounter
        The counts so far.

    Examples
    --------
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
    """Count the storages that are created during a block, in every thread, and their bytes.

    Yields
    ------
    AllocationCounter
        The counts so far.

    Examples
    --------
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
    """Raise `AssertionError` at the end of a block if it made other numbers of copies; for tests.

    Parameters
    ----------
    h2d, d2h : int, optional
        The expected number of copies from the host and to it. None allows any number.
    packs : int, optional
        The expected number of strided operands that are packed.
    fallbacks : int, optional
        The expected number of operations that the host carries out for the device in use.

    Yields
    ------
    Trace
        The trace of the block, which is in the text of the error, too.

    Examples
    --------
    >>> import mat
    >>> x = mat.ones(3).exp_()
    >>> with mat.debug.expect_copies(h2d=1, d2h=0), mat.use_device("emulated"):
    ...     mat.dot(x, x) > 0
    True
    """
    wanted = {"h2d": h2d, "d2h": d2h, "packs": packs, "fallbacks": fallbacks}
    with trace() as t:
        yield t
    wrong = [f"{name} was {getattr(t, name)}, expected {n}" for name, n in wanted.items()
             if n not in (None, getattr(t, name))]
    if wrong:
        raise AssertionError(f"{', '.join(wrong)}\n{t!r}")


class _Logger(Protocol):
    def warning(self, message: str) -> object: ...


class CopyGuard(Observer):
    """An observer that refuses or logs copies between memories that operations make implicitly.

    Parameters
    ----------
    logger : logging.Logger or None
        The logger that gets a warning for each such copy; None: `ConflictError` is raised.
    """

    def __init__(self, logger: _Logger | None) -> None:
        self.logger = logger

    def copying(self, cube: Cube, source: Memory, target: Memory) -> None:
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
    """Forbid operations to copy data between memories on their own during a block, in any thread.

    Explicit copies are allowed: by a facet in a ``with`` statement, conversions, `mat.prefetch` and
    the end of a `mat.use_device` block.

    Parameters
    ----------
    implicit : {"raise", "log", "allow"}
        The response to such a copy: a `ConflictError` before it happens, a warning to the logger
        ``mat``, or none.

    Raises
    ------
    SettingError
        If `implicit` is none of these.

    Examples
    --------
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
    # logging is imported only for this: it takes longer than much of mat
    logger = importlib.import_module("logging").getLogger("mat") if implicit == "log" else None
    with observe(CopyGuard(logger)):
        yield


@contextmanager
def list_calls() -> Iterator[CallRecorder]:
    """List the library calls that operations make during a block, with their flags and sizes.

    Yields
    ------
    CallRecorder
        The calls so far; it prints as one line for each.

    Examples
    --------
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
    """Allow accesses that exclude each other during a block, in this thread.

    This is a way to test whether a `ConflictError` is a false alarm.
    """
    _allowed.depth = getattr(_allowed, "depth", 0) + 1
    try:
        yield
    finally:
        _allowed.depth -= 1


@contextmanager
def check_directions() -> Iterator[DirectionReport]:
    """Find blocks and operations that break the promise of their direction, in every thread.

    Yields
    ------
    DirectionReport
        The faults so far. ``too_strong`` lists the blocks that requested ``io`` and changed
        nothing.

    Raises
    ------
    DirectionError
        At the end of a block for ``input`` that changes data, of one for ``output`` that leaves
        elements as they were, and of one that changes elements which its Mat does not see; also at
        the next access after the end of a block if what the block was given is still used. The text
        names the block or the operation, the elements, the line that created the Mat, and where the
        system can tell it the line that wrote.

    Notes
    -----
    Blocks are much slower. With ``MAT_DEBUG=directions`` in the environment the check lasts as long
    as the process. ``docs/debugging.md`` describes the limits.

    Examples
    --------
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
        late, error = CHECK.end(report), sys.exception()
        if error is not None:
            for text in late:
                error.add_note(text)
        elif late:
            raise DirectionError("; ".join(late))


def _check_this_process() -> None:
    """Check directions until the process ends, and print then the faults that were not raised."""
    report = DirectionReport()
    CHECK.begin(report)
    OBSERVERS.append(CHECK)
    atexit.register(lambda: [sys.stderr.write(f"mat: {text}\n") for _, text in CHECK.late])


if "directions" in os.environ.get("MAT_DEBUG", "").split(","):
    _check_this_process()
