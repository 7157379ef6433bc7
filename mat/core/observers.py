"""Observers: objects that are notified of accesses, copies, allocations and calls as they happen.

The debugging tools are observers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import perf_counter
from typing import Any, TypeAlias, TypeVar, cast

from ..support.fork import in_child
from ..support.log import PENDING, logger, note
from ..support.open_blocks import Block, Decorating, remove
from .access_record import AccessRecord
from .registry import Memory, host
from .runs import Runs
from .source_line import line_of, user_line

Observed: TypeAlias = Any  # a cube, which observers know as what it is for them, a `Storage`


class Observer:
    """A receiver of events: override the methods for those that you need, and `observe` it.

    Every method does nothing by default. They are called in the thread in which the event happens.

    Attributes
    ----------
    every_access : bool
        Whether it has to see every access: `mat.graph` then runs functions instead of repeating
        their launches.
    """

    every_access: bool = False

    def entered(self, record: AccessRecord) -> None:
        """Receive the record of an access that has begun.

        Parameters
        ----------
        record : AccessRecord
            The access: ``view``, ``facet``, ``direction``, ``thread`` and ``value``.
        """

    def left(self, record: AccessRecord, failed: bool) -> None:
        """Receive the record of an access whose block has ended.

        An error raised here counts as an error of the block.

        Parameters
        ----------
        record : AccessRecord
            The access.
        failed : bool
            True if the block raised an error.
        """

    def exported(self, record: Any) -> None:
        """Receive the record of an export that has begun; nobody has used its ``value`` yet.

        Parameters
        ----------
        record : ExportRecord
            The export: ``view``, ``facet``, ``value`` and ``where``, the line.
        """

    def released(self, record: Any) -> None:
        """Receive the record of an export that ends.

        It is called from any thread, at any point of another function: it must take no lock.
        """

    def allocated(self, cube: Observed, memory: Memory) -> None:
        """Receive a cube for whose copy `memory` allocated a handle."""

    def freed(self, cube: Observed, memory: Memory) -> None:
        """Receive a cube whose copy in `memory` was dropped."""

    def evicted(self, cube: Observed, memory: Memory) -> None:
        """Receive a cube whose copy in `memory` is about to be freed to make room for another."""

    def copying(self, cube: Observed, source: Memory, target: Memory) -> None:
        """Receive a cube that is about to be copied from `source` to `target`.

        An error raised here prevents the copy.
        """

    def copied(self, cube: Observed, source: Memory, target: Memory, seconds: float) -> None:
        """Receive a cube that was copied from `source` to `target` in so many seconds."""

    def copied_runs(self, cube: Observed, source: Memory, target: Memory, runs: Runs,
                    seconds: float) -> None:
        """Receive a cube and its copied elements, `runs`.

        By default this is `copied`.
        """
        self.copied(cube, source, target, seconds)

    def waiting(self, what: str, cube: Observed, memory: Memory) -> None:
        """Receive that the host is about to wait for a device's result.

        An error raised here prevents the wait.

        Parameters
        ----------
        what : str
            What is wanted: "an element", "a size that depends on data", "printing", "the result of
            dot", "a copy".
        cube : Cube
            The storage from which it comes.
        memory : Memory
            The memory of the device.
        """

    def waited(self, what: str, cube: Observed, memory: Memory, seconds: float) -> None:
        """Receive that the host has waited, for so many seconds."""

    def created(self, cube: Observed) -> None:
        """Receive a new storage."""

    def packed(self, view: Any) -> None:
        """Receive a strided operand that was copied since an engine needs packed elements."""

    def fell_back(self, operation: str, device: str) -> None:
        """Receive an operation that the host carries out.

        Parameters
        ----------
        operation : str
            The name of the operation.
        device : str
            The name of the device in use, which has no implementation for these operands.
        """

    def fell_back_since(self, operation: str, device: str, reason: str) -> None:
        """Receive an operation that the host carries out, and why.

        By default this is `fell_back`.

        Parameters
        ----------
        operation, device : str
            As for `fell_back`.
        reason : str
            What the device lacks; "" if it has no implementation for these operands.
        """
        self.fell_back(operation, device)

    def cut(self, operation: str, device: str, tiles: int, nbytes: int) -> None:
        """Receive an operation that a device has carried out in tiles.

        Parameters
        ----------
        operation, device : str
            The name of the operation, and that of the device.
        tiles : int
            The number of tiles.
        nbytes : int
            The bytes that the device would need for all operands at once.
        """

    def computing(self, operation: str, memory: str) -> None:
        """Receive an operation that is about to be carried out, after its operands were copied.

        Parameters
        ----------
        operation : str
            The name of the operation.
        memory : str
            The name of the memory that has the operands.
        """

    def ended(self, operation: str, memory: str) -> None:
        """Receive an operation that was carried out, or that failed, after each `computing`."""

    def computed(self, operation: str, memory: str, seconds: float) -> None:
        """Receive an operation that was carried out, after its operands were copied.

        Parameters
        ----------
        operation : str
            The name of the operation.
        memory : str
            The name of the memory that has the operands.
        seconds : float
            The time of the call. A GPU may still compute after it.
        """

    def called(self, routine: str, **arguments: object) -> None:
        """Receive the name and the arguments of a library routine that an engine called."""


def notify_evicted(cube: Observed, memory: Memory, nbytes: int) -> None:
    """Notify observers of an eviction, and log it once no lock is held any more."""
    for observer in tuple(OBSERVERS):
        observer.evicted(cube, memory)
    if logger() is not None:
        view = next(iter(cube.live_viewers()), None)
        label = f"{cube.size} elements of {cube.dtype}" if view is None else view.label()
        PENDING.append(f"evicted {nbytes:,} bytes of {label} from {memory.name}, to make room at "
                       f"{line_of(user_line())}")


# what the host waits for
COPY = "a copy"  # that is asked for, or that is announced by `copying`
ELEMENT = "an element"
SIZE = "a size that depends on data"
# what to write so that the host does not wait for a device, by what it would wait for
INSTEAD = {
    ELEMENT: "x[k, ...] and the results of reductions are Mats that stay there, by which mat.where "
             "and other operations decide",
    SIZE: "mat.where(m, x, 0) and x * m have results whose size is known, and a product with a "
          "matrix of zeros and ones sums the rows of each group",
    "printing": "print it after the block",
    "iteration": "compute with all elements at once",
    "whether indices are in range": "mat.take(x, indices, mode='clip') takes any indices",
    "the result of dot": "x @ y stays there",
    "the result of vdot": "x.conj() @ y stays there",
    "the result of nrm2": "mat.sqrt((abs(x) ** 2).sum()) stays there",
    "the result of asum": "abs(x).sum() stays there",
    "the result of iamax": "abs(x).argmax() stays there",
    "the result of equals": "(x == y).all() stays there",
    "the result of allclose": "mat.isclose(x, y).all() stays there"}


class Wait(Block[None]):
    """A block in which the host waits for a device: observers are notified before it, and
    afterwards of its duration; of nested blocks only for the outermost.
    """

    def __init__(self, what: str, cube: Observed, memory: Memory) -> None:
        self.facts = what, cube, memory
        self.open: list[object] = []
        self.token: object = None
        self.since = 0.0

    def begin(self) -> None:
        self.open, self.token = vars(_waits).setdefault("open", []), object()  # of this thread
        for observer in () if self.open else (*OBSERVERS, *TRANSFERS):
            observer.waiting(*self.facts)
        self.open.append(self.token)
        self.since = perf_counter()

    def end(self, error: BaseException | None) -> None:
        seconds = perf_counter() - self.since
        if self.token not in self.open:
            return
        self.open.remove(self.token)
        for observer in () if self.open or error is not None else (*OBSERVERS, *TRANSFERS):
            observer.waited(*self.facts, seconds)


_waits = threading.local()  # .open: the tokens of the blocks that are open
_NO_WAIT = nullcontext()


def wait(what: str, cube: Observed, memory: Memory | None) -> AbstractContextManager[None]:
    """Return a block in which the host waits for a device's memory, if somebody observes."""
    if not (OBSERVERS or TRANSFERS) or memory is None or memory is host():
        return _NO_WAIT
    return Wait(what, cube, memory)


class HostCall(Block[None]):
    """A block of a function that the host carries out for this thread, with copies of its own."""

    def __init__(self, name: str) -> None:
        self.call = (name, object())

    def begin(self) -> None:
        vars(_host_calls).setdefault("open", []).append(self.call)

    def end(self, error: BaseException | None) -> None:
        if self.call in _host_calls.open:
            _host_calls.open.remove(self.call)


_host_calls = threading.local()  # .open: names of the functions, innermost last, and tokens


def host_call() -> str:
    """Return the name of the function that the host carries out for this thread, or ""."""
    found: list[tuple[str, object]] = vars(_host_calls).get("open", [])
    return found[-1][0] if found else ""


class Computation:
    """A block in which an operation computes in a memory: observers are notified of its begin and
    end, and of its duration if it succeeds.
    """

    def __init__(self, operation: str, memory: str) -> None:
        self.operation = operation
        self.memory = memory
        self.begun: list[Observer] = []

    def __enter__(self) -> None:
        try:
            for observer in tuple(OBSERVERS):
                self.begun.append(observer)
                observer.computing(self.operation, self.memory)
        except BaseException:
            self.end()
            raise
        self.begin = perf_counter()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        seconds = perf_counter() - self.begin
        try:
            for observer in tuple(OBSERVERS) if error is None else ():
                observer.computed(self.operation, self.memory, seconds)
        finally:
            self.end()

    def end(self) -> None:
        """Notify those that know of the begin."""
        for observer in self.begun:
            observer.ended(self.operation, self.memory)


def notify_cut(operation: str, device: str, tiles: int, nbytes: int) -> None:
    """Notify observers of an operation that was carried out in tiles."""
    for observer in tuple(OBSERVERS):
        observer.cut(operation, device, tiles, nbytes)


def notify_fallback(operation: str, device: str, reason: str = "") -> None:
    """Notify observers of an operation that the host carries out, and log it."""
    for observer in (*OBSERVERS, *TRANSFERS):
        observer.fell_back_since(operation, device, reason)
    if logger() is not None:
        note(f"{operation} is carried out on the host: {why_on_host(device, reason)}, at "
             f"{line_of(user_line())}")


def why_on_host(device: str, reason: str) -> str:
    """Return in words why an operation fell back, as observers are told."""
    return reason or f"{device} has no implementation of it for these operands"


PASSES: dict[int, str] = {}  # what each thread's pass of a fused block computes, in words
OBSERVERS: list[Observer] = []  # nearly always empty: a call pays for one truth test
# notified of copies, waits and fallbacks only, for which calls do not take the longer path
TRANSFERS: list[Observer] = []
_apart: dict[int, Observer] = {}  # by the thread of which they are the only observers
Kind = TypeVar("Kind", bound=Observer)


class _Observed:
    """An observer for the time of a block, or of the process if `thread` is 0."""

    def __init__(self, observer: Observer, thread: int) -> None:
        self.observer: Observer = observer
        self.thread: int = thread  # that began the block


_observed: list[object] = []  # of every open block; OBSERVERS is made of it
_lock = threading.RLock()


def _update() -> None:
    with _lock:
        found = {id(o.observer): o.observer for o in _observed if isinstance(o, _Observed)}
        OBSERVERS[:] = map(not_apart, found.values()) if _apart else found.values()


class _NotApart:
    """An observer that is notified of events in some threads only, while another one is apart."""

    def __init__(self, observer: Observer) -> None:
        self.observer = observer
        self.every_access = observer.every_access

    def __getattr__(self, name: str) -> Any:
        alone = _apart.get(threading.get_ident())
        notified = self.observer not in _apart.values() if alone is None else self.observer is alone
        return getattr(self.observer if notified else _NOBODY, name)


_NOBODY = Observer()
not_apart = cast("Callable[[Observer], Observer]", _NotApart)  # it has their methods


class Observation(Decorating[Kind]):
    """The context manager that `observe` returns; its block is given the observer.

    `make` returns the observer, a new one for each block.
    """

    def __init__(self, make: Callable[[], Kind]) -> None:
        self.make: Callable[[], Kind] = make
        self.observed: _Observed | None = None

    def begin(self) -> Kind:
        observer = self.make()
        self.observed = _Observed(observer, threading.get_ident())
        _observed.append(self.observed)
        _update()
        return observer

    def end(self, error: BaseException | None) -> None:
        if self.observed is not None:
            remove(_observed, self.observed)
            _update()
            self.observed = None


class ObservationApart(Observation[Kind]):
    """A block in which an observer is the only one that is notified of events in this thread, and
    is notified of no others.
    """

    def __init__(self, make: Callable[[], Kind]) -> None:
        super().__init__(make)
        self.before: Observer | None = None

    def begin(self) -> Kind:
        observer, here = super().begin(), threading.get_ident()
        self.before = _apart.get(here)
        _apart[here] = observer
        _update()
        return observer

    def end(self, error: BaseException | None) -> None:
        if self.observed is not None:
            del _apart[self.observed.thread]
            if self.before is not None:
                _apart[self.observed.thread] = self.before
        super().end(error)


def observe(observer: Kind) -> Observation[Kind]:
    """Notify `observer` of everything that happens in any thread while a block runs.

    Parameters
    ----------
    observer : Observer
        The receiver.

    Returns
    -------
    context manager
        Its value in the block is `observer`.

    Examples
    --------
    >>> import mat
    >>> class Readers(mat.extend.Observer):
    ...     def entered(self, record):
    ...         print(f"{record.view.shape} is accessed for {record.direction.value}")
    >>> x = mat.ones(2, 3)
    >>> with mat.extend.observe(Readers()), x.facet("array", "input") as a:
    ...     total = a.sum()
    (2, 3) is accessed for input
    """
    return Observation(lambda: observer)


@contextmanager
def observe_transfers(observer: Observer) -> Iterator[None]:
    """Notify `observer` of copies, waits and fallbacks in this block, which costs calls nothing."""
    TRANSFERS.append(observer)
    try:
        yield
    finally:
        TRANSFERS.remove(observer)


def observe_always(observer: Observer) -> None:
    """Notify `observer` until the process ends, and in forked children."""
    _observed.append(_Observed(observer, 0))
    _update()


@in_child
def _forget_other_threads() -> None:
    """End the blocks of threads that a forked child does not have."""
    global _lock
    _lock = threading.RLock()
    here = (0, threading.get_ident())
    _observed[:] = [o for o in _observed if isinstance(o, _Observed) and o.thread in here]
    for thread in [k for k in _apart if k not in here]:
        del _apart[thread]
    _update()
