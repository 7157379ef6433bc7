"""`Access`: the context manager behind ``with x.facet(...)``; and `AccessGroup`, several that begin
and end together, behind ``with_facets``.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

from ..errors import ConflictError
from ..support.open_blocks import warn_unused
from .access_record import AccessRecord
from .compiled import THREADS
from .cube import Cube, View
from .direction import INPUT, Direction, join
from .observers import OBSERVERS
from .registry import Facet, Presented
from .source_line import SourceLine

_input, _observers, _threads = INPUT, OBSERVERS, THREADS  # with types of C


class Access:
    """An access to a view through a facet, as a context manager.

    It returns what the facet presents. The direction, the form of the view and the device of the
    facet are judged when the block begins.
    """

    def __init__(self, view: View, facet: Facet, direction: Direction) -> None:
        self.view: View = view
        self.facet: Facet = facet
        self.direction: Direction = direction  # as requested
        self.record: AccessRecord | None = None  # while the block runs
        self.entered: bool = False  # or used by something else than ``with``

    def __dealloc__(self) -> None:  # Cython's name; uncompiled, there is no warning
        if not self.entered and self.view is not None:  # else a garbage collection has cleared it
            warn_unused(f"x.facet({self.facet.name!r}, {self.direction.value!r})")

    def __enter__(self) -> Presented:
        self.check()
        direction = self.direction
        if direction is not _input:
            direction = self.view._direction_allowed(direction)
        record = self.begin(direction, _threads.line())
        try:
            return record.lent()
        except BaseException:  # the block never begins
            self.undo()
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        try:
            if kind is not None and self.record is not None:
                self.record.note_read_only(error)
        finally:  # an interrupt may come before
            self.end(kind is not None)

    def end(self, failed: bool) -> None:
        """End the access, if it is open."""
        record = self.record
        if record is not None:
            self.record = None
            storage = self.view.storage  # compiled code keeps local variables only alive
            storage.close(record, failed)

    def check(self) -> None:
        """Raise unless the access can begin now, conflicts apart."""
        self.entered = True
        if self.record is not None:
            raise ConflictError(f"this access to {self.record.describe()} is already open; make "
                                "another one")
        if self.facet.chooses:
            self.facet = self.facet.chosen(self.view, self.direction)
        if self.facet.of_device:
            self.facet.device.check_in_use()

    def begin(self, direction: Direction, where: SourceLine | None) -> AccessRecord:
        """Begin the access in that direction; return its record."""
        storage = self.view.storage
        record = storage.open(self.view, self.facet, direction, where)
        self.record = record
        return record

    def undo(self) -> None:
        """End the access, if it began, of a block that never did."""
        record = self.record
        if record is not None:
            self.record = None
            storage = self.view.storage
            storage.undo(record)


class AccessGroup:
    """Several accesses, entered together or not at all: the context manager of `with_facets`."""

    def __init__(self, accesses: list[Access]) -> None:
        self.accesses: list[Access] = accesses
        self.open: bool = False
        self.entered: bool = False

    def __dealloc__(self) -> None:  # Cython's name; uncompiled, there is no warning
        if not self.entered and self.accesses:
            first, others = self.accesses[0], ", ..." if len(self.accesses) > 1 else ""
            warn_unused(f"mat.with_facets((x, {first.facet.name!r}, {first.direction.value!r})"
                        f"{others})")

    def __enter__(self) -> tuple[Presented, ...]:
        self.entered = True
        if self.open:
            first = self.accesses[0].record
            raise ConflictError(f"these accesses are already open: {first and first.describe()}; "
                                "call with_facets again")
        values = self.begin_all(_threads.line())
        self.open = True
        return values

    def begin_all(self, where: SourceLine | None) -> tuple[Presented, ...]:
        """Begin all accesses, writers first, in directions joined for each storage."""
        for access in self.accesses:
            access.check()
        directions = self.joined()
        try:
            if directions is not None:
                self.begin_some(True, directions, where)
            self.begin_some(False, directions, where)
            values: list[Presented] = []
            for access in self.accesses:
                record: Any = access.record
                values.append(record.lent())
            return tuple(values)
        except BaseException:
            self.undo_all()
            raise

    def begin_some(self, writes: bool, directions: list[Direction] | None,
                   where: SourceLine | None) -> None:
        """Begin the accesses that write, or those that do not."""
        for k in range(len(self.accesses)):
            direction = _input if directions is None else directions[k]
            if writes == (direction is not _input):
                access = self.accesses[k]
                access.begin(direction, where)

    def undo_all(self) -> None:
        """End the accesses of a block that never began, last begun first."""
        for access in reversed(self.accesses):
            access.undo()

    def joined(self) -> list[Direction] | None:
        """Return the combined direction: ``io`` if one writes elements that another reads, too.
        Return None if all only read.

        An access that only reads keeps its direction: it is nested in that of the writer.
        """
        for access in self.accesses:
            if access.direction is not _input:
                break
        else:
            return None
        directions: list[Direction] = []
        for access in self.accesses:
            directions.append(access.view._direction_allowed(access.direction))  # noqa: PERF401
        if len(directions) == 1:
            return directions
        every: dict[Cube, Direction] = {}
        for k in range(len(directions)):
            access = self.accesses[k]
            storage = access.view.storage
            every[storage] = join(every.get(storage, directions[k]), directions[k])
        for k in range(len(directions)):
            access = self.accesses[k]
            if directions[k] is not _input:
                directions[k] = every[access.view.storage]
        return directions

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.open = False
        try:
            if kind is not None:
                for access in self.accesses:
                    if access.record is not None:
                        access.record.note_read_only(error)
        finally:  # an interrupt may come before
            self.end_all(kind is not None)

    def end_all(self, failed: bool) -> None:
        """End all accesses, the others also where one raises an error of an observer."""
        fault = None
        for access in self.accesses:
            try:
                access.end(failed)
            except BaseException as raised:
                fault = fault or raised
        if fault is not None:
            raise fault
