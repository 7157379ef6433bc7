"""``mat.memory_report()``: bytes in use, by memory, by Mat and by the line that created it.

Nothing is accessed.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from ..core.coherence import LIVE
from ..core.export import ExportRecord
from ..core.registry import Memory, listed_memories
from ..core.source_line import line_of
from ..matrix.base import MATS
from ..matrix.mat import Mat
from ..matrix.scratch import spare_bytes
from ..matrix.storage import Storage
from ..memories.file_pages import all_pages
from ..memories.pooled import Pooled
from ..ops.expressions.nodes import Expressions
from ..ops.expressions.passes import kept_bytes
from ..support import formatting, host_pool
from ..support.formatting import html_table
from ..support.plugins import loaded_plugin

Row: TypeAlias = tuple[str, ...]  # the cells of one row of a table
MOST = 12  # rows of a table
FACTS = ("live", "cached", "in_use", "limit", "page_locked", "in_files")


class StorageRow(NamedTuple):
    """One storage that has a copy in some memory.

    Attributes
    ----------
    nbytes : int
        The bytes of one copy.
    memories, fresh : tuple of str
        The names of the memories with a copy, and of those with a fresh one.
    label : str
        The label of a Mat that sees the storage.
    line : str
        The line that created it; empty if that was no line of Python.
    """

    nbytes: int
    memories: tuple[str, ...]
    fresh: tuple[str, ...]
    label: str
    line: str


class ExportRow(NamedTuple):
    """One export of a Mat, such as an array that `numpy.asarray` made of it without a copy.

    Attributes
    ----------
    nbytes : int
        The bytes of the storage.
    memory : str
        The name of the memory that is exported.
    label : str
        The label of the Mat.
    line : str
        The line that exported it.
    """

    nbytes: int
    memory: str
    label: str
    line: str


class MemoryReport:
    """The memory that was in use when the report was made; it prints as a table.

    Attributes
    ----------
    by_memory : dict
        For each memory by name a dict of bytes: ``live`` in Mats, ``cached`` for the next use,
        ``in_use`` of the memory's blocks, also by arrays and workspaces, the ``limit`` or None, and
        for the host those that are ``page_locked`` and those that are ``in_files``, mapped or
        spilled, which the system need not keep in memory. The limit is of all blocks of a device,
        and of the cached ones of the host.
    by_mat : list of StorageRow
        The storages, the largest first.
    by_line : dict
        The bytes by the line that created the Mats.
    lent : list of ExportRow
        The exports that keep Mats from being written.
    pending : tuple of int
        The number of values that are pending in blocks of `fused`, and the bytes that nobody but
        their expressions can see.
    """

    def __init__(self, verbose: bool) -> None:
        self.verbose = verbose
        # first, since the reports' lists see storages, too
        self.pending: tuple[int, int] = len(Expressions.all.pending()), kept_bytes()
        found = [s for s in LIVE.all() if isinstance(s, Storage)]
        mats = {id(x.storage): x for x in MATS.all()}
        self.by_mat: list[StorageRow] = sorted(
            (_row(s, mats.get(id(s))) for s in found if s.handles), key=lambda row: -row.nbytes)
        self.lent: list[ExportRow] = [
            ExportRow(s.nbytes, e.facet.memory.name, e.label(), line_of(e.where))
            for s in found for e in tuple(s.accesses) if isinstance(e, ExportRecord) and e.thread]
        self.by_memory: dict[str, dict[str, int | None]] = {
            m.name: _facts(m, self.by_mat) for m in listed_memories()}
        self.by_line: dict[str, int] = {}
        for row in self.by_mat:
            line = row.line or "(not created by a line of Python)"
            self.by_line[line] = self.by_line.get(line, 0) + row.nbytes * len(row.memories)

    def _tables(self) -> list[tuple[str, list[Row]]]:
        memory = [(name, *(f"{facts[k]:,}" if facts[k] is not None else "-" for k in FACTS))
                  for name, facts in self.by_memory.items()]
        mats = [(f"{r.nbytes:,}", ", ".join(n if n in r.fresh else f"{n} (stale)"
                                            for n in r.memories), r.label, r.line)
                for r in self.by_mat[:MOST]]
        lines = [(f"{n:,}", line) for line, n in
                 sorted(self.by_line.items(), key=lambda item: -item[1])[:MOST]]
        exports = [(f"{r.nbytes:,}", r.memory, r.label, r.line) for r in self.lent[:MOST]]
        tables: list[tuple[str, list[Row]]] = [
            ("memories", [("memory", "live bytes", "cached", "in use", "limit", "page-locked",
                           "in files"),
                          *memory]),
            (f"Mats that hold memory: {len(self.by_mat)}",
             [("bytes", "in", "Mat", "created at"), *mats]),
            ("lines", [("bytes", "created at"), *lines])]
        if exports:
            tables.append((f"exported: {len(self.lent)}",
                           [("bytes", "in", "Mat", "exported at"), *exports]))
        if self.pending[0]:
            tables.append(("pending", [("values", "bytes that only they keep"),
                                       tuple(f"{n:,}" for n in self.pending)]))
        return tables

    def __repr__(self) -> str:
        if not self.verbose:
            return "; ".join(f"{name}: {facts['live']:,} bytes live, {facts['cached']:,} cached"
                             for name, facts in self.by_memory.items())
        return "\n\n".join(f"{title}\n{formatting.table(cells)}" for title, cells in self._tables())

    def _repr_html_(self) -> str:
        return "".join(html_table(title, rows) for title, rows in self._tables())


def _row(storage: Storage, view: Mat | None) -> StorageRow:
    with storage.lock:
        present = tuple(m.name for m in storage.handles)
        fresh = tuple(m.name for m in storage.fresh_memories())
        elements = formatting.counted(storage.size, "element")
        label = f"<{elements} of {storage.dtype}>" if view is None else view.label()
    return StorageRow(storage.nbytes, present, fresh, label, line_of(storage.made))


def _facts(memory: Memory, rows: list[StorageRow]) -> dict[str, int | None]:
    live = sum(row.nbytes for row in rows if memory.name in row.memories)
    if isinstance(memory, Pooled):
        return {"live": live, "cached": memory.kept, "in_use": memory.used,
                "limit": memory.limit, "page_locked": None, "in_files": None}
    pinned = loaded_plugin("page_locking")  # no pages are locked before it is imported
    pool = host_pool.statistics()
    return {"live": live, "cached": spare_bytes() + pool.kept, "in_use": pool.in_use,
            "limit": pool.limit,
            "page_locked": pinned.locked_bytes() if pinned else 0,
            "in_files": sum(len(pages) for pages in all_pages())}


def memory_report(*, verbose: bool = True) -> MemoryReport:
    """Return a report of the bytes in each memory, in use by Mats and cached.

    Parameters
    ----------
    verbose : bool
        The report prints as tables if True, else as one line.

    Returns
    -------
    MemoryReport
        The bytes by memory, by Mat and by the line that created it, and the exports.

    Notes
    -----
    Cached are blocks that wait for their next use, until they are given back (`trim`), and on the
    host also the memory that `scratch` keeps for this thread. Blocks are larger than the data, by
    an eighth at most; below a kilobyte the host's data has none. The lines that created Mats are
    those outside of this package; they are always noted, and looked up for the report.

    Examples
    --------
    >>> import mat
    >>> x = mat.zeros(1000).fill_(1)
    >>> mat.memory_report().by_memory["host"]["live"] >= x.nbytes
    True
    """
    return MemoryReport(verbose)
