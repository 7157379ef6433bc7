"""Loans: looks that belong to no thread and last as long as something else has what was presented,
such as an array of NumPy.

A loan only reads. While it lasts the data cannot be written. A copy that has to go nevertheless (a
device is not used any more) is left to its loans, and freed with the last of them.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from .access_record import EXPORTED, AccessRecord, SourceLine, line_of
from .direction import INPUT
from .registry import Facet, Memory


class ExportRecord(AccessRecord):
    """The hold on what was lent."""

    __slots__ = ("retained",)
    way_out = ("release the objects made from it there (`del`; a REPL keeps results, too), or work on "
               "a copy, x.copy()")

    def __init__(self, view: Any, facet: Facet, handle: Any, value: Any,
                 where: SourceLine | None) -> None:
        self.facet = facet
        self.mask = facet.mask
        self.handle = handle
        self.value = value
        self.make_value = None
        self.thread = EXPORTED
        self.view = view
        self.direction = INPUT
        self.where = where
        self.retained: RetainedCopy | None = None

    def describe(self) -> str:
        return (f"{self.label()}, exported as facet {self.facet.name!r} at {line_of(self.where)} to "
                "an object that still exists")

    def end(self) -> None:
        """Nobody has what was lent any more. Takes no lock: this comes from any thread, in the
        middle of anything.
        """
        view = self.view
        if view is None:
            return
        accesses = view.storage.accesses
        self.view = self.where = self.value = None
        self.thread = 0  # from now on it is in nobody's way
        _leave(accesses, self)
        self.handle = self.retained = None


class RetainedCopy:
    """A copy that its cube gave up, and that loans still need."""

    __slots__ = ("handle", "memory")

    def __init__(self, memory: Memory, handle: Any) -> None:
        self.memory = memory
        self.handle = handle

    def __del__(self) -> None:
        self.memory.free(self.handle)


def exports_of(accesses: list[AccessRecord], handle: Any) -> list[ExportRecord]:
    """The loans among `accesses` of what lies in `handle`."""
    return [record for record in tuple(accesses) if isinstance(record, ExportRecord)
            and record.thread and record.handle is handle]


def retain_for_exports(accesses: list[AccessRecord], memory: Memory, handle: Any) -> bool:
    """Leave `handle` to the loans of it, which are then no looks any more; False if there are
    none.
    """
    heirs = exports_of(accesses, handle)
    if not heirs:
        return False
    retained = RetainedCopy(memory, handle)
    for record in heirs:
        record.retained = retained
        _leave(accesses, record)
    return True


def _leave(accesses: list[AccessRecord], record: ExportRecord) -> None:
    with suppress(ValueError):  # it may have ended meanwhile, or have come into its legacy
        accesses.remove(record)
