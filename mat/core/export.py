"""Exports: accesses that belong to no thread and last as long as an object has the exported data,
such as an array of NumPy.

An export only reads; while it lasts the data cannot be written. A copy that must be dropped
nevertheless (the device is not used any more) is retained for its exports and freed with the last
of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .access_record import AccessRecord
from .compiled import BLOCKS
from .direction import INPUT
from .observers import OBSERVERS
from .registry import Facet, Handle, Memory, Presented
from .runs import NONE
from .source_line import EXPORTED, SourceLine, Viewed, line_of

_observers = OBSERVERS  # with a type of C
_is_compiled = BLOCKS.enabled
# if it has items, exports keep what they have where the data is written, which goes on with a copy;
# the items are called then
KEPT_BY_EXPORTS: list[Callable[[], object]] = []


class ExportRecord(AccessRecord):
    """The access record of an export."""

    __slots__ = ("retained",)

    def export(self, view: Viewed, facet: Facet, mask: int, handle: Handle, value: Presented,
               where: SourceLine | None) -> None:
        """Record the exported value and its receiver."""
        self.facet = facet
        self.mask = mask
        self.handle = handle
        self.value = value
        self.make_value = self.task = None
        self.thread = EXPORTED
        self.view = view
        self.direction = INPUT
        self.where = where
        self.runs, self.used = NONE, None
        self.retained: RetainedCopy | None = None

    def copy(self) -> ExportRecord:
        """Return a record with the same facts and a lifetime of its own."""
        found = ExportRecord.__new__(ExportRecord)
        assert self.view is not None
        found.export(self.view, self.facet, self.mask, self.handle, self.value, self.where)
        found.runs, found.used = self.runs, self.used
        return found

    @property
    def way_out(self) -> str:
        return ("release the objects made from it there (`del`; a REPL keeps results, too), or "
                "work on a copy, x.copy()")

    def describe(self) -> str:
        return (f"{self.label()}, exported as facet {self.facet.name!r} at {line_of(self.where)} "
                "to an object that still exists")

    def notify(self) -> None:
        """Notify observers that the export has begun; it ends if one raises an error."""
        try:
            for observer in tuple(_observers):
                observer.exported(self)
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """End the export: no object has the exported data any more.

        Takes no lock: this is called from any thread, at any point of another function.
        """
        view = self.view
        if view is None:
            return
        try:
            if _observers:
                for observer in tuple(_observers):
                    observer.released(self)
        finally:  # an interrupt may come before
            storage: Any = view.storage
            accesses = storage.records
            self.view = self.where = self.value = None
            self.thread = 0  # from now on it conflicts with nothing
            # as `Cube` does with the last one; uncompiled, another thread may add one meanwhile
            if accesses and _is_compiled and len(accesses) == 1 and accesses[0] is self:
                storage.records = None
            elif accesses:
                _remove(accesses, self)
            self.handle = self.retained = None


class RetainedCopy:
    """A copy that its cube dropped and that exports still need."""

    def __init__(self, memory: Memory, handle: Handle) -> None:
        self.memory: Memory = memory
        self.handle: Handle = handle
        memory.retain(handle)

    def __del__(self) -> None:
        self.memory.free(self.handle)


def exports_of(accesses: list[AccessRecord], handle: Handle) -> list[ExportRecord]:
    """Return the exports of `handle` among `accesses`."""
    return [record for record in tuple(accesses) if isinstance(record, ExportRecord)
            and record.thread and record.handle is handle]


def retain_for_exports(accesses: list[AccessRecord], memory: Memory, handle: Handle) -> bool:
    """Retain `handle` for exports that outlive `accesses`; return False if there are none."""
    exports = exports_of(accesses, handle)
    if not exports:
        return False
    retained = RetainedCopy(memory, handle)
    for record in exports:
        record.retained = retained
        _remove(accesses, record)
    return True


def _remove(accesses: list[AccessRecord], record: ExportRecord) -> None:
    if accesses and accesses[-1] is record:  # most end in the order opposite to that of their begin
        accesses.pop()
        return
    try:
        accesses.remove(record)
    except ValueError:  # it may have ended meanwhile, or have a retained copy already
        pass
