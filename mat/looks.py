"""Looks as context managers, one or several; what ``with x.facet(...)`` and ``with_facets`` stand on."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable
from contextlib import ExitStack
from types import FrameType
from typing import Any

from .cube import INPUT, OBSERVERS, Cube, Direction, Facet, Hold, View, join
from .errors import ConflictError
from .holders import Place

_getframe = sys._getframe
_ident = threading.get_ident
_ENTER_CONTEXT = ExitStack.enter_context.__code__


class Look:
    """A look to be taken: a context manager that gives what the facet presents."""

    __slots__ = ("direction", "facet", "hold", "view")

    def __init__(self, view: View, facet: Facet, direction: Direction) -> None:
        self.view = view
        self.facet = facet
        self.direction = direction
        self.hold: Hold | None = None

    def __enter__(self) -> Any:
        if self.hold is not None:
            raise ConflictError(f"this look at {self.hold.describe()} is open already; make another one")
        view = self.view
        hold = self.hold = view.storage.open(view, self.facet, self.direction, _ident())
        frame = _getframe(1)
        code = frame.f_code
        hold.where = (code, frame.f_lasti) if code is not _ENTER_CONTEXT else user_place(frame)
        lend = hold.lend
        if lend is None:
            return hold.value
        try:
            return lend()
        except BaseException:  # the block never begins
            self.hold = None
            view.storage.undo(hold)
            raise

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        hold = self.hold
        if hold is None:
            return
        self.hold = None
        if hold.direction is INPUT and not OBSERVERS:  # as Cube.close does: a call saved is a twentieth of a look
            hold.where = hold.view = None
            hold.thread = 0
            self.view.storage.looks.remove(hold)
        else:
            self.view.storage.close(hold, kind is not None)


def user_place(frame: FrameType) -> Place:
    """Where `frame` is; for ``ExitStack.enter_context`` the line that called it."""
    if frame.f_code is _ENTER_CONTEXT:
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
