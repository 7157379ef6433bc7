"""`Recorder`: an observer of one call of a function that `mat.graph` records.

It notes which data the function uses, in which memory and order, and refuses what cannot be
repeated by a graph: allocations, and copies to or from the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any
from weakref import ref

from ..errors import GraphError
from .access_record import AccessRecord
from .direction import INPUT, Direction
from .observers import Observer, observe
from .pending import DEFERRALS
from .registry import HasCopies, Memory, ViewLike, host
from .source_line import line_of, running_operation, user_line

# what a function uses: a Mat that sees it, and the direction of the access
Use = tuple[Any, Direction]
RECORDERS: dict[int, Recorder] = {}  # by the thread; nearly always empty

OUT = ("a graph allocates nothing: make it before, and write into it, by out= or a method such as "
       "x.add_(y)")
READ = "a graph copies nothing to the host: read results after the call"


class DifferentCallError(Exception):
    """A call uses other data than the call that prepared it."""


class Recorder(Observer):
    """The uses of data by a function, in the thread that makes the recorder."""

    # `allowed` are the views that are accessed already, if launches are being captured
    def __init__(self, name: str, memory: Memory, allowed: list[Use] | None = None) -> None:
        self.name = name
        self.memory = memory
        self.uses: list[Use] = []  # in the order of operations
        # the most bytes that calls took for workspaces at once: of the first, of one within it, ...
        self.rooms: list[int] = []
        self.depth: int = 0  # of workspaces in use
        self.captures: bool = allowed is not None
        self._thread: int = get_ident()
        self._allowed: dict[int, list[Use]] = {}
        self._leaving: list[HasCopies] = []  # being moved to the host, to make room
        self._made: list[ref[HasCopies]] = []  # within blocks where results may be pending
        for view, direction in allowed or ():
            self._allowed.setdefault(id(view.storage), []).append((view, direction))

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Observe the actions of this thread within the block."""
        RECORDERS[self._thread] = self
        try:
            with observe(self):
                yield
        finally:
            RECORDERS.pop(self._thread, None)

    def error(self, what: str, way: str) -> GraphError:
        """Return the error for the action `what` of the user's line."""
        return GraphError(f"mat.graph cannot record {self.name}: {what} at "
                          f"{line_of(user_line()) or '<unknown>'}; {way}")

    @contextmanager
    def room(self, nbytes: int) -> Iterator[int]:
        """Record that a call holds a workspace during the block; yield how many are held."""
        at = self.depth
        if at == len(self.rooms):
            self.rooms.append(0)
        self.rooms[at] = max(self.rooms[at], nbytes)
        self.depth += 1
        try:
            yield at
        finally:
            self.depth -= 1

    @property
    def _is_here(self) -> bool:
        return get_ident() == self._thread

    # Events

    def created(self, cube: HasCopies) -> None:
        if self._is_here:
            if not DEFERRALS:
                raise self.error(f"a new Mat of {cube.nbytes:,} bytes is made", OUT)
            self._made = [one for one in self._made if one() is not None]
            self._made.append(ref(cube))

    def packed(self, view: ViewLike) -> None:
        if self._is_here:
            raise self.error(f"{view.label()} is packed into a new Mat, since its strides do not "
                             "fit the operation", "pack it before, by x.contiguous() or x.copy()")

    def fell_back(self, operation: str, device: str) -> None:
        if self._is_here:
            raise self.error(f"{operation} would be carried out on the host, since {device} has no "
                             "implementation for these operands", "leave it out of the function")

    def exported(self, record: AccessRecord) -> None:
        if self._is_here:
            raise self.error(f"{record.view.label()} is exported to another library", READ)

    def evicted(self, cube: HasCopies, memory: Memory) -> None:
        if self._is_here:
            self._leaving = [cube]

    def copying(self, cube: HasCopies, source: Memory, target: Memory) -> None:
        if not self._is_here or any(cube is other for other in self._leaving):
            return
        if target is host():
            raise self.error(f"{cube.nbytes:,} bytes are copied from {source.name} to the host",
                             READ)
        if self.captures:
            raise DifferentCallError

    def freed(self, cube: HasCopies, memory: Memory) -> None:
        if self._is_here:
            self._leaving = []

    def computing(self, operation: str, memory: str) -> None:
        if self._is_here:
            running: Any = running_operation()[0]
            if getattr(running, "result", 0) is None:
                raise self.error(f"{operation} returns a number to the host",
                                 "use a function that writes into a Mat, such as "
                                 "mat.sum(x, out=s), and read that after the call")

    def entered(self, record: AccessRecord) -> None:
        if not self._is_here:
            return
        facet, view = record.facet, record.view
        if any(one() is view.storage for one in self._made):
            raise self.error(f"a new Mat of {view.storage.nbytes:,} bytes is made", OUT)
        if facet.memory is not self.memory or (
                facet.memory is host() and running_operation()[0] is None):
            raise self.error(f"{view.label()} is accessed on the host, as facet {facet.name!r}",
                             READ)
        if self.captures and not self._is_allowed(view, record.direction):
            raise DifferentCallError
        self.uses.append((view._as_now(), record.direction))

    def accesses_all(self, cube: HasCopies) -> bool:
        """Return whether the accesses to some data are those that were opened for the capture."""
        allowed = self._allowed.get(id(cube), ())
        return all(any(record.view is view for view, _ in allowed)
                   for record in tuple(cube.accesses))

    def _is_allowed(self, view: ViewLike, direction: Direction) -> bool:
        """Return whether an access is within one that was opened for the capture."""
        return any((direction is INPUT or allowed is not INPUT) and covers(other, view)
                   for other, allowed in self._allowed.get(id(view.storage), ()))


def is_same(one: Any, other: Any) -> bool:
    """Return whether two Mats of a storage see the same elements."""
    a, b = one.layout, other.layout
    if one.dtype != other.dtype:
        return False
    return bool(a is b or (a.displacement == b.displacement and a.shape == b.shape
                           and a.strides == b.strides))


def covers(one: Any, other: Any) -> bool:
    """Return whether a Mat sees all elements that another one of its storage does."""
    if one._sees_all() or is_same(one, other):
        return True
    low, high = one._touched().bounds
    first, last = other._touched().bounds
    return bool(low <= first and last <= high
                and one._touched_alone().covers(other._touched_alone()))


def refuse_if_recorded(what: str, way: str = READ, *, while_captured: bool = False) -> None:
    """Raise `GraphError` if this thread calls what `mat.graph` records, or captures."""
    recorder = RECORDERS.get(get_ident())
    if recorder is not None and (recorder.captures or not while_captured) and not recorder._leaving:
        raise recorder.error(what, way)
