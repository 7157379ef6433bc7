"""`Access`: the context manager behind ``with x.facet(...)``; and groups of accesses, which begin
and end together, behind ``with_facets``.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import ExitStack
from types import FrameType

from ..errors import ConflictError
from . import compiled
from .access_record import SourceLine
from .cube import INPUT, AccessRecord, Cube, Direction, Facet, View, join
from .registry import Presented

_ident = threading.get_ident
NO_SLOTS: tuple[str, ...] = ()  # of its own: the base class, compiled or not, has them
ENTER_CONTEXT = ExitStack.enter_context.__code__


class Access(compiled.Access):  # type: ignore[misc]  # compiled
    """An access to a view through a facet, as a context manager.

    It returns what the facet presents. The compiled base class begins and ends the common accesses;
    for the others it calls `enter` and `leave`.
    """

    __slots__ = NO_SLOTS
    view: View
    facet: Facet
    direction: Direction
    record: AccessRecord | None  # while the block runs

    def __init__(self, view: View, facet: Facet, direction: Direction) -> None:
        self.view = view
        self.facet = facet
        self.direction = direction
        self.record = None

    def enter(self, frame: FrameType) -> Presented:
        """Begin the access for the block in `frame` and return what the block is given."""
        if self.record is not None:
            raise ConflictError(f"this access to {self.record.describe()} is already open; make "
                                "another one")
        view = self.view
        record = self.record = view.storage.open(view, self.facet, self.direction, _ident())
        record.where = caller_line(frame)
        try:
            return value_for_block(record)
        except BaseException:  # the block never begins
            self.record = None
            view.storage.undo(record)
            raise

    def leave(self, failed: bool) -> None:
        """End the access; `failed` says that the block raised an error."""
        record, self.record = self.record, None
        if record is not None:
            self.view.storage.close(record, failed)


def caller_line(frame: FrameType) -> SourceLine:
    """Return the line that `frame` executes; for ``ExitStack.enter_context`` that of its caller."""
    if frame.f_code is ENTER_CONTEXT:
        frame = frame.f_back or frame
    return frame.f_code, frame.f_lasti


def enter_all(accesses: list[Access], where: SourceLine) -> dict[Access, AccessRecord]:
    """Begin all `accesses`, writers first, or none of them if one conflicts."""
    thread = _ident()
    records: dict[Access, AccessRecord] = {}
    try:
        for access in sorted(accesses, key=lambda access: access.direction is INPUT):
            record = records[access] = access.view.storage.open(access.view, access.facet,
                                                                access.direction, thread)
            record.where = where
    except BaseException:
        for record in reversed(records.values()):
            undo(record)
        raise
    return records


def undo(record: AccessRecord) -> None:
    """End an access whose block never began."""
    if record.view is not None:
        record.view.storage.undo(record)


def value_for_block(record: AccessRecord) -> Presented:
    """Return what a block with the access `record` is given."""
    return record.value if record.make_value is None else record.make_value()


def leave_all(records: Iterable[AccessRecord], failed: bool) -> None:
    """End every access, the last one first, also if an observer raises an error for one."""
    with ExitStack() as stack:
        for record in records:
            if record.view is not None:
                stack.callback(record.view.storage.close, record, failed)


def join_directions(accesses: list[Access]) -> None:
    """Make every access that writes ``io`` if another one in `accesses` reads the same storage.

    An access that only reads keeps its direction: it is nested in that of the writer.
    """
    joined: dict[Cube, Direction] = {}
    for access in accesses:
        storage = access.view.storage
        joined[storage] = join(joined.get(storage, access.direction), access.direction)
    for access in accesses:
        if access.direction is not INPUT:
            access.direction = joined[access.view.storage]
