"""Looks as context managers, one or several; what ``with x.facet(...)`` and ``with_facets`` stand on."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import ExitStack
from types import FrameType
from typing import Any

from ..errors import ConflictError
from . import compiled
from .access_record import Place
from .cube import INPUT, Cube, Direction, Facet, Hold, View, join

_ident = threading.get_ident
NO_SLOTS: tuple[str, ...] = ()  # of its own: the base class, compiled or not, has them
ENTER_CONTEXT = ExitStack.enter_context.__code__


class Look(compiled.Look):  # type: ignore[misc]  # compiled
    """A look to be taken: a context manager that gives what the facet presents."""

    __slots__ = NO_SLOTS
    view: View
    facet: Facet
    direction: Direction
    hold: Hold | None

    def __init__(self, view: View, facet: Facet, direction: Direction) -> None:
        self.view = view
        self.facet = facet
        self.direction = direction
        self.hold = None

    def enter(self, frame: FrameType) -> Any:
        """Begin, for the block in `frame`; a ``with`` comes here with what compiled code does not do."""
        if self.hold is not None:
            raise ConflictError(f"this look at {self.hold.describe()} is open already; make another one")
        view = self.view
        hold = self.hold = view.storage.open(view, self.facet, self.direction, _ident())
        hold.where = user_place(frame)
        try:
            return lent(hold)
        except BaseException:  # the block never begins
            self.hold = None
            view.storage.undo(hold)
            raise

    def leave(self, failed: bool) -> None:
        """End, likewise."""
        hold, self.hold = self.hold, None
        if hold is not None:
            self.view.storage.close(hold, failed)


def user_place(frame: FrameType) -> Place:
    """Where `frame` is; for ``ExitStack.enter_context`` the line that called it."""
    if frame.f_code is ENTER_CONTEXT:
        frame = frame.f_back or frame
    return frame.f_code, frame.f_lasti


def enter_all(looks: list[Look], where: Place) -> dict[Look, Hold]:
    """Open every look, writers first, or none of them."""
    thread = _ident()
    holds: dict[Look, Hold] = {}
    try:
        for look in sorted(looks, key=lambda look: look.direction is INPUT):
            hold = holds[look] = look.view.storage.open(look.view, look.facet, look.direction, thread)
            hold.where = where
    except BaseException:
        for hold in reversed(holds.values()):
            undo(hold)
        raise
    return holds


def undo(hold: Hold) -> None:
    """End an open look whose block never began."""
    if hold.view is not None:
        hold.view.storage.undo(hold)


def lent(hold: Hold) -> Any:
    """What a block is given for `hold`."""
    return hold.value if hold.lend is None else hold.lend()


def leave_all(holds: Iterable[Hold], failed: bool) -> None:
    """Close every hold, last opened first, also if an observer finds fault with one."""
    with ExitStack() as stack:
        for hold in holds:
            if hold.view is not None:
                stack.callback(hold.view.storage.close, hold, failed)


def settle_directions(looks: list[Look]) -> None:
    """Join directions for each storage: what is written there and looked at twice is ``io``.

    Who only reads keeps a look that only reads, nested in the writer's.
    """
    joined: dict[Cube, Direction] = {}
    for look in looks:
        storage = look.view.storage
        joined[storage] = join(joined.get(storage, look.direction), look.direction)
    for look in looks:
        if look.direction is not INPUT:
            look.direction = joined[look.view.storage]
