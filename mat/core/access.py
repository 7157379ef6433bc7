"""Looks as context managers, one or several; what ``with x.facet(...)`` and ``with_facets`` stand
on.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import ExitStack
from types import FrameType
from typing import Any

from ..errors import ConflictError
from . import compiled
from .access_record import SourceLine
from .cube import INPUT, AccessRecord, Cube, Direction, Facet, View, join

_ident = threading.get_ident
NO_SLOTS: tuple[str, ...] = ()  # of its own: the base class, compiled or not, has them
ENTER_CONTEXT = ExitStack.enter_context.__code__


class Access(compiled.Access):  # type: ignore[misc]  # compiled
    """A look to be taken: a context manager that gives what the facet presents."""

    __slots__ = NO_SLOTS
    view: View
    facet: Facet
    direction: Direction
    record: AccessRecord | None

    def __init__(self, view: View, facet: Facet, direction: Direction) -> None:
        self.view = view
        self.facet = facet
        self.direction = direction
        self.record = None

    def enter(self, frame: FrameType) -> Any:
        """Begin, for the block in `frame`; a ``with`` comes here with what compiled code does not
        do.
        """
        if self.record is not None:
            raise ConflictError(f"this access to {self.record.describe()} is already open; make "
                                "another one")
        view = self.view
        record = self.record = view.storage.open(view, self.facet, self.direction, _ident())
        record.where = user_place(frame)
        try:
            return value_for_block(record)
        except BaseException:  # the block never begins
            self.record = None
            view.storage.undo(record)
            raise

    def leave(self, failed: bool) -> None:
        """End, likewise."""
        record, self.record = self.record, None
        if record is not None:
            self.view.storage.close(record, failed)


def user_place(frame: FrameType) -> SourceLine:
    """Where `frame` is; for ``ExitStack.enter_context`` the line that called it."""
    if frame.f_code is ENTER_CONTEXT:
        frame = frame.f_back or frame
    return frame.f_code, frame.f_lasti


def enter_all(accesses: list[Access], where: SourceLine) -> dict[Access, AccessRecord]:
    """Open every look, writers first, or none of them."""
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
    """End an open look whose block never began."""
    if record.view is not None:
        record.view.storage.undo(record)


def value_for_block(record: AccessRecord) -> Any:
    """What a block is given for `record`."""
    return record.value if record.make_value is None else record.make_value()


def leave_all(records: Iterable[AccessRecord], failed: bool) -> None:
    """Close every hold, last opened first, also if an observer finds fault with one."""
    with ExitStack() as stack:
        for record in records:
            if record.view is not None:
                stack.callback(record.view.storage.close, record, failed)


def settle_directions(accesses: list[Access]) -> None:
    """Join directions for each storage: what is written there and looked at twice is ``io``.

    Who only reads keeps a look that only reads, nested in the writer's.
    """
    joined: dict[Cube, Direction] = {}
    for access in accesses:
        storage = access.view.storage
        joined[storage] = join(joined.get(storage, access.direction), access.direction)
    for access in accesses:
        if access.direction is not INPUT:
            access.direction = joined[access.view.storage]
