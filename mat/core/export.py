"""Loans: looks that belong to no thread and last as long as something else has what was presented, such as an array of NumPy.

A loan only reads. While it lasts the data cannot be written. A copy that has to go nevertheless (a device is not used any
more) is left to its loans, and freed with the last of them.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from .access_record import LENT, Hold, Place, line_of
from .direction import INPUT
from .registry import Facet, Memory


class Loan(Hold):
    """The hold on what was lent."""

    __slots__ = ("legacy",)
    way_out = "let go of what was made of it there (`del` it; a REPL keeps results, too), or work on a copy, x.copy()"

    def __init__(self, view: Any, facet: Facet, handle: Any, value: Any, where: Place | None) -> None:
        self.facet = facet
        self.mask = facet.mask
        self.handle = handle
        self.value = value
        self.lend = None
        self.thread = LENT
        self.view = view
        self.direction = INPUT
        self.where = where
        self.legacy: Legacy | None = None

    def describe(self) -> str:
        return f"{self.label()}, lent as facet {self.facet.name!r} at {line_of(self.where)} to what still has it"

    def end(self) -> None:
        """Nobody has what was lent any more. Takes no lock: this comes from any thread, in the middle of anything."""
        view = self.view
        if view is None:
            return
        looks = view.storage.looks
        self.view = self.where = self.value = None
        self.thread = 0  # from now on it is in nobody's way
        _leave(looks, self)
        self.handle = self.legacy = None


class Legacy:
    """A copy that its cube gave up, and that loans still need."""

    __slots__ = ("handle", "memory")

    def __init__(self, memory: Memory, handle: Any) -> None:
        self.memory = memory
        self.handle = handle

    def __del__(self) -> None:
        self.memory.free(self.handle)


def loans_on(looks: list[Hold], handle: Any) -> list[Loan]:
    """The loans among `looks` of what lies in `handle`."""
    return [hold for hold in tuple(looks) if isinstance(hold, Loan) and hold.thread and hold.handle is handle]


def bequeath(looks: list[Hold], memory: Memory, handle: Any) -> bool:
    """Leave `handle` to the loans of it, which are then no looks any more; False if there are none."""
    heirs = loans_on(looks, handle)
    if not heirs:
        return False
    legacy = Legacy(memory, handle)
    for loan in heirs:
        loan.legacy = legacy
        _leave(looks, loan)
    return True


def _leave(looks: list[Hold], loan: Loan) -> None:
    with suppress(ValueError):  # it may have ended meanwhile, or have come into its legacy
        looks.remove(loan)
