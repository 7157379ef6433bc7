"""Observers that count or list copies, packs, allocations and library calls while a block runs, and
the direction check as a block.
"""

from __future__ import annotations

import atexit
import importlib
import inspect
import os
import sys
import threading
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from ..core.cube import Cube
from ..core.observers import COPY, INSTEAD, Observation, Observer, host_call, observe_always
from ..core.registry import CubeLike, Memory, host
from ..core.runs import Runs
from ..core.source_line import allow_conflicts as _allowed
from ..core.source_line import line_of, running_operation, user_line
from ..errors import ConflictError, DirectionError, SettingError
from ..support.fork import WithLock
from ..support.formatting import counted
from ..support.open_blocks import Decorating, remove
from ..support.plugins import library
from .direction_check import CHECK, DirectionReport


class CopyCounter(WithLock, Observer):
    """Counts of copies, given to the block of `count_copies`.

    Attributes
    ----------
    h2d, d2h : int
        Copies from the host to another memory, and from another memory to the host.
    bytes : int
        The bytes of these copies.
    within : int
        The bytes that were copied within the memory of a device, as where parts are joined.
    waits : int
        The moments at which the host waited for a device: for an element, a truth value, a size
        that depends on data, printing, a copy.
    packs : int
        Strided operands that were copied to packed ones.
    fallbacks : int
        Operations that the host carried out, since the device in use has no implementation for
        their operands.
    """

    def __init__(self) -> None:
        self.h2d: int = 0
        self.d2h: int = 0
        self.bytes: int = 0
        self.within: int = 0
        self.waits: int = 0
        self.packs: int = 0
        self.fallbacks: int = 0
        super().__init__()

    def copied(self, cube: Cube, source: Memory, target: Memory, seconds: float) -> None:
        self._count(cube.nbytes, source, target)

    def copied_runs(self, cube: Cube, source: Memory, target: Memory, runs: Runs,
                    seconds: float) -> None:
        self._count(runs.size * cube.nbytes // cube.units, source, target)

    def _count(self, nbytes: int, source: Memory, target: Memory) -> None:
        with self._lock:
            if source is target:
                self.within += nbytes
                return
            self.h2d += source is host()
            self.d2h += target is host()
            self.bytes += nbytes

    def waited(self, what: str, cube: Cube, memory: Memory, seconds: float) -> None:
        with self._lock:
            self.waits += 1

    def packed(self, view: Any) -> None:
        with self._lock:
            self.packs += 1

    def fell_back(self, operation: str, device: str) -> None:
        with self._lock:
            self.fallbacks += 1

    def __repr__(self) -> str:
        parts = [f"<copies: {self.h2d} from the host, {self.d2h} to it, {self.bytes} bytes",
                 counted(self.packs, "packed operand")]
        if self.within:
            parts.append(f"{self.within} bytes within a device")
        if self.waits:
            parts.append(f"{counted(self.waits, 'wait')} for a device")
        if self.fallbacks:
            parts.append(f"{counted(self.fallbacks, 'operation')} fell back to the host")
        return "; ".join(parts) + ">"


class AllocationCounter(WithLock, Observer):
    """Counts of new storages, given to the block of `count_allocations`.

    Attributes
    ----------
    count, nbytes : int
        The number of storages and their bytes: an upper bound, since memory is allocated lazily.
    """

    def __init__(self) -> None:
        self.count: int = 0
        self.nbytes: int = 0
        super().__init__()

    def created(self, cube: Cube) -> None:
        with self._lock:
            self.count += 1
            self.nbytes += cube.nbytes

    def __repr__(self) -> str:
        return f"<allocations: {counted(self.count, 'storage')}, {self.nbytes} bytes>"


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
    """A list of library calls, given to the block of `list_calls`.

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


def count_copies() -> Observation[CopyCounter]:
    """Count copies between memories and packed operands during a block, in every thread.

    Returns
    -------
    context manager
        Its value in the block is a `CopyCounter`: the counts so far.

    Examples
    --------
    >>> import mat
    >>> a = mat.ones(4, 4)
    >>> with mat.debug.count_copies() as n:
    ...     b = a @ a.T
    >>> n.packs
    0
    """
    return Observation(CopyCounter)


def count_allocations() -> Observation[AllocationCounter]:
    """Count the storages that are created during a block, in every thread, and their bytes.

    Returns
    -------
    context manager
        Its value in the block is an `AllocationCounter`: the counts so far.

    Examples
    --------
    >>> import mat
    >>> with mat.debug.count_allocations() as n:
    ...     x = mat.zeros(2, 3)
    >>> n.count, n.nbytes
    (1, 48)
    """
    return Observation(AllocationCounter)


# functions whose copies are what they are for
_OF_FILES = frozenset(("save", "savez", "savez_compressed", "savetxt"))


def _in_a_function() -> bool:
    """Return whether a function converts an argument, not the program itself."""
    frame = inspect.currentframe()
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith(_FUNCTIONS):
            return True
        if not module.startswith(_BETWEEN):
            break
        frame = frame.f_back
    return False


_FUNCTIONS = ("mat.numpy.composites.", "mat.numpy.random", "mat.ops.")
_BETWEEN = ("mat.", "numpy.")


class CopyGuard(Observer):
    """An observer that refuses or logs implicit copies between memories, and implicit waits.

    Parameters
    ----------
    logger : logging.Logger or None
        The logger that gets a warning for each; None: `ConflictError` is raised.
    """

    def __init__(self, logger: Any) -> None:
        self.logger = logger

    def copying(self, cube: Cube, source: Memory, target: Memory) -> None:
        operation, line = running_operation()
        by_numpy = host_call()
        inside = operation is not None or (not by_numpy and _in_a_function())
        if not inside and (not by_numpy or by_numpy in _OF_FILES):
            return
        what = "an operation" if inside else f"{by_numpy}, by NumPy on the host,"
        text = (f"{what} at {line_of(line or user_line())} copies {cube.nbytes:,} bytes from "
                f"{source.name} to {target.name}; "
                "bring data where it is needed with mat.prefetch or x.facet, or compute in one "
                "place with mat.use_device")
        self._refuse(text)

    def waiting(self, what: str, cube: Cube, memory: Memory) -> None:
        if what != COPY:
            instead = INSTEAD.get(what, "")
            self._refuse(f"at {line_of(user_line())} the host waits for {what} in {memory.name}; "
                         f"{instead}{', or ' if instead else ''}copy the elements that it needs "
                         "in a block: with x.facet('array', 'input') as a: ...")

    def _refuse(self, text: str) -> None:
        if self.logger is None:
            raise ConflictError(text)
        self.logger.warning(text)


def guard(implicit: str = "raise") -> AbstractContextManager[object]:
    """Forbid implicit copies between memories, and implicit waits, during a block, in any thread.

    Implicit copies are those that operations make on their own. Implicit waits are uses of values
    for which the host waits for a device: elements, numbers that operations return, truth values,
    sizes that depend on data, iteration and printing.

    Explicit copies are allowed: by a facet in a ``with`` statement, conversions, `mat.prefetch` and
    the end of a `mat.use_device` block.

    Parameters
    ----------
    implicit : {"raise", "log", "allow"}
        The response to such a copy or wait: a `ConflictError` before it happens, a warning to the
        logger ``mat``, or none.

    Returns
    -------
    context manager
        The block.

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
        return nullcontext()
    # logging is imported only for this: it takes longer than much of mat
    logger = importlib.import_module("logging").getLogger("mat") if implicit == "log" else None
    return Observation(lambda: CopyGuard(logger))


def list_calls() -> Observation[CallRecorder]:
    """List the library calls that operations make during a block, with their flags and sizes.

    Where nothing is compiled NumPy multiplies matrices and vectors, and these calls are not listed.

    Returns
    -------
    context manager
        Its value in the block is a `CallRecorder`: the calls so far, which print as one line each.

    Examples
    --------
    >>> import mat
    >>> with mat.debug.list_calls() as c:
    ...     _ = mat.ones(2, 3) @ mat.ones(3, 4)
    >>> c
    dgemm(trans=NN, m=4, n=2, k=3, lda=4, ldb=3, ldc=4)
    """
    return Observation(CallRecorder)


class _AllowedConflicts(Decorating[None]):
    """The block of `allow_conflicts`, for the thread that begins it."""

    def __init__(self) -> None:
        self.home: dict[str, Any] = {}
        self.token: object = None

    def begin(self) -> None:
        self.home, self.token = vars(_allowed), object()  # of this thread
        self.home.setdefault("open", []).append(self.token)
        self.home["depth"] = len(self.home["open"])

    def end(self, error: BaseException | None) -> None:
        found = self.home.get("open", [])
        remove(found, self.token)
        self.home["depth"] = len(found)


def allow_conflicts() -> AbstractContextManager[None]:
    """Allow accesses that exclude each other during a block, in this thread.

    This is a way to test whether a `ConflictError` is a false alarm.

    Returns
    -------
    context manager
        The block.
    """
    return _AllowedConflicts()


class _DirectionsBlock(Decorating[DirectionReport]):
    """The block of `check_directions`."""

    def __init__(self) -> None:
        self.observation: Observation[Observer] | None = None
        self.report: DirectionReport | None = None

    def begin(self) -> DirectionReport:
        self.report = report = DirectionReport()
        CHECK.begin(report)
        self.observation = Observation(lambda: CHECK)
        self.observation.__enter__()
        return report

    def end(self, error: BaseException | None) -> None:
        if self.observation is not None and self.observation.entered:
            self.observation.__exit__(None, error, None)
        late = [] if self.report is None else CHECK.end(self.report)
        self.report = None
        if error is not None:
            for text in late:
                error.add_note(text)
        elif late:
            raise DirectionError("; ".join(late))


def check_directions() -> AbstractContextManager[DirectionReport]:
    """Find blocks and operations that break the promise of their direction, in every thread.

    Returns
    -------
    context manager
        Its value in the block is a `DirectionReport`: the faults so far. ``too_strong`` lists the
        blocks that requested ``io`` and changed nothing.

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
    return _DirectionsBlock()


if "directions" in os.environ.get("MAT_DEBUG", "").split(","):  # until the process ends
    CHECK.begin(DirectionReport())
    observe_always(CHECK)
    # faults that were not raised
    atexit.register(lambda: [sys.stderr.write(f"mat: {text}\n") for _, text in CHECK.late])


# Ranges for NVIDIA's profilers


_DOMAIN, _OPERATION, _COPY = "mat", "green", "orange"


class NvtxRanges(Observer):
    """The observer that begins and ends ranges in the domain ``mat``.

    An operation is a range of its thread. A copy is a range of the process, as it may end in
    another one.
    """

    def __init__(self, nvtx: Any) -> None:
        self.nvtx: Any = nvtx
        self.local: threading.local = threading.local()  # .copies: those that this thread began

    def computing(self, operation: str, memory: str) -> None:
        self.nvtx.push_range(f"{operation} on {memory}", color=_OPERATION, domain=_DOMAIN)

    def ended(self, operation: str, memory: str) -> None:
        self.nvtx.pop_range(domain=_DOMAIN)

    def copying(self, cube: CubeLike, source: Memory, target: Memory) -> None:
        text = f"copy from {source.name} to {target.name}, {cube.nbytes:,} bytes"
        self._copies().append(self.nvtx.start_range(text, color=_COPY, domain=_DOMAIN))

    def copied(self, cube: CubeLike, source: Memory, target: Memory, seconds: float) -> None:
        copies = self._copies()
        while copies:  # those before the last one have failed
            self.nvtx.end_range(copies.pop())

    def _copies(self) -> list[Any]:
        return vars(self.local).setdefault("copies", [])


def _ranges() -> NvtxRanges:
    nvtx = library("nvtx")
    if nvtx is None:
        raise SettingError("NVTX ranges need the package nvtx, which is not installed: "
                           "pip install nvtx")
    return NvtxRanges(nvtx)


def nvtx_ranges() -> AbstractContextManager[Observer]:
    """Mark operations and copies, in every thread, for NVIDIA's profilers during a block.

    With ``MAT_DEBUG=nvtx`` in the environment this lasts as long as the process.

    Returns
    -------
    context manager
        Its block is run with ranges in the domain ``mat``: ``matmul on cuda:0`` for an operation,
        and for a copy its memories and bytes.

    Raises
    ------
    SettingError
        When the block begins, if the package nvtx is not installed.

    Notes
    -----
    The ranges have the time that the host takes: a GPU may still compute after it.
    """
    return Observation(_ranges)


if "nvtx" in os.environ.get("MAT_DEBUG", "").split(","):
    observe_always(_ranges())
