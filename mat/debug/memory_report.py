"""``mat.memory_report()``: what memory holds, by memory, by Mat and by the line that created it.
Looks at nothing.
"""

from __future__ import annotations

import gc
import html
from typing import Any, NamedTuple

from ..core.access_record import line_of
from ..core.export import ExportRecord
from ..core.registry import memories
from ..matrix.mat import Storage
from ..matrix.scratch import spare_bytes
from ..memories.pooled import Pooled
from ..support import formatting
from ..support.plugins import loaded_plugin

MOST = 12  # rows of a table
FACTS = ("live", "cached", "limit", "page_locked")


class StorageRow(NamedTuple):
    """One storage that has a copy somewhere: its bytes, the memories that hold it, a label and the
    line that created it.
    """

    nbytes: int
    memories: tuple[str, ...]
    fresh: tuple[str, ...]
    label: str
    line: str


class ExportRow(NamedTuple):
    """What something else has of a Mat without a copy, an array made by `numpy.asarray` for one,
    and the line that lent it.
    """

    nbytes: int
    memory: str
    label: str
    line: str


class MemoryReport:
    """What was held when it was made; prints as a table, in a notebook as one of HTML.

    ``by_memory`` maps the name of a memory to its bytes: ``live`` in Mats, ``cached`` for the next
    use, the ``limit``, if there is one, and of the host those that are ``page_locked``. ``by_mat``
    has a `StorageRow` for each storage, the largest first, ``by_line`` maps lines that created Mats
    to bytes; ``lent`` has a `ExportRow` for each lease that keeps a Mat from being written.
    """

    def __init__(self, verbose: bool) -> None:
        self.verbose = verbose
        found = _storages()
        self.by_mat = sorted((_row(s) for s in found if s.handles), key=lambda row: -row.nbytes)
        self.lent = [_export_row(s.nbytes, record) for s in found for record in tuple(s.accesses)
                     if isinstance(record, ExportRecord) and record.thread]
        self.by_memory = {m.name: _of(m, self.by_mat) for m in memories.values()}
        self.by_line: dict[str, int] = {}
        for row in self.by_mat:
            line = row.line or "(lines are noted while a device is in use, or something observes)"
            self.by_line[line] = self.by_line.get(line, 0) + row.nbytes * len(row.memories)

    def _tables(self) -> list[tuple[str, list[tuple[str, ...]]]]:
        """Titles and cells."""
        memory = [(name, *(f"{facts[k]:,}" if facts[k] is not None else "-" for k in FACTS))
                  for name, facts in self.by_memory.items()]
        mats = [(f"{r.nbytes:,}", ", ".join(n if n in r.fresh else f"{n} (stale)"
                                            for n in r.memories), r.label, r.line)
                for r in self.by_mat[:MOST]]
        lines = sorted(((f"{n:,}", line) for line, n in self.by_line.items()),
                       key=lambda cell: -int(cell[0].replace(",", "")))
        lent = [(f"{r.nbytes:,}", r.memory, r.label, r.line) for r in self.lent[:MOST]]
        heads = ("memory", "live bytes", "cached", "limit", "page-locked")
        tables: list[tuple[str, list[tuple[str, ...]]]] = [
            ("memories", [heads, *memory]),
            (f"Mats: {len(self.by_mat)} hold memory",
             [("bytes", "in", "Mat", "created at"), *mats]),
            ("lines", [("bytes", "created at"), *lines[:MOST]])]
        if lent:
            tables.append((f"exported: {len(self.lent)}", [("bytes", "in", "Mat", "exported at"), *lent]))
        return tables

    def __repr__(self) -> str:
        if not self.verbose:
            return "; ".join(f"{name}: {facts['live']:,} bytes live, {facts['cached']:,} cached"
                             for name, facts in self.by_memory.items())
        return "\n\n".join(f"{title}\n{formatting.table(cells)}" for title, cells in self._tables())

    def _repr_html_(self) -> str:
        return "".join(f"<table><caption>{html.escape(title)}</caption>" + "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in cells) + "</table>"
            for title, cells in self._tables())


def _storages() -> list[Storage]:
    # by the type: isinstance asks the objects as well, and lazy ones of other libraries warn then
    return [found for found in gc.get_objects() if issubclass(type(found), Storage)]


def _row(storage: Storage) -> StorageRow:
    with storage.lock:
        held = tuple(m.name for m in storage.handles)
        fresh = tuple(m.name for m in storage.fresh_memories())
        view = next((v for v in (ref() for ref in storage.viewers) if v is not None), None)
        label = f"<{storage.size} elements of {storage.dtype}>" if view is None else view.label()
    return StorageRow(storage.nbytes, held, fresh, label, line_of(storage.made))


def _export_row(nbytes: int, record: ExportRecord) -> ExportRow:
    return ExportRow(nbytes, record.facet.memory.name, record.label(), line_of(record.where))


def _of(memory: Any, rows: list[StorageRow]) -> dict[str, int | None]:
    live = sum(row.nbytes for row in rows if memory.name in row.memories)
    if isinstance(memory, Pooled):
        return {"live": live, "cached": memory.kept, "limit": memory.limit, "page_locked": None}
    pinned = loaded_plugin("page_locking")  # nobody locks pages before it is imported
    return {"live": live, "cached": spare_bytes(), "limit": None,
            "page_locked": pinned.locked_bytes() if pinned else 0}


def memory_report(*, verbose: bool = True) -> MemoryReport:
    """What Mats hold in each memory, and what is cached: an object that prints as a table; with
    ``verbose=False``, one line.

    Cached are blocks of devices that wait for their next use, and on the host what `scratch` keeps
    for this thread. The lines that created Mats are noted while a device is in use or something
    observes, such as `mat.debug.count_copies`.

    >>> import mat
    >>> x = mat.zeros(1000).fill_(1)
    >>> mat.memory_report().by_memory["host"]["live"] >= x.nbytes
    True
    """
    return MemoryReport(verbose)
