"""Original contents of the operands that an operation in tiles writes, restored if a tile fails."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np

from ...facets.array import over
from ...matrix.mat import Mat
from ...memories.file_pages import LEAST_LARGE, pages_of
from ...memories.host import HOST
from ...support.types import Array

MUCH = 1 << 24  # bytes, of more it is asked whether the host has room


class Contents:
    """The elements of a Mat at the time when this is made.

    `kept` is False where they are not: in large files, where the host has not twice the memory for
    a copy, and where a block around the operation is writing or has failed, which decides.
    Arbitrary elements of a new Mat need not be kept.
    """

    __slots__ = ("array", "kept", "mat", "matters", "version")

    def __init__(self, mat: Mat) -> None:
        storage = mat.storage
        self.mat = mat
        self.version: int = storage.version
        self.matters = not storage.pristine or storage.fill_value is not None
        self.kept = not (self.matters and (
            storage.torn_error(mat) is not None or storage.is_being_written(mat)
            or _is_in_large_file(mat) or not _has_room(mat.nbytes)))
        self.array: Array | None = None
        if self.matters and self.kept:
            try:
                self.array = _copied(mat)
            except MemoryError:  # of less than the system has, this process may have a part
                self.kept = False

    def restore(self) -> bool:
        """Write the elements if the Mat may have changed; return whether it has them then."""
        storage = self.mat.storage
        changed = storage.version != self.version or storage.torn_error(self.mat) is not None
        if not (changed and self.matters):
            return True
        if self.kept:
            with suppress(Exception):  # another block accesses it, or an observer refuses
                with self.mat.facet("array", "output") as a:
                    a[...] = storage.fill_value if self.array is None else self.array
                return True
        return False


def _copied(mat: Mat) -> Array | None:
    """Return a copy of the elements, wherever they are fresh; None: they are the fill value."""
    layout, storage = mat.layout, mat.storage
    handle = mat._peeked([layout.bounds]) if layout.size else None
    if handle is None and layout.size and mat.dtype != storage.dtype and (
            storage.fill_value is not None):  # that is of elements of another dtype
        handle = mat._presentable(np.full(storage.size, storage.fill_value, storage.dtype))
    return None if handle is None else np.array(over(handle, layout))


def _has_room(nbytes: int) -> bool:
    """Return whether the host has free memory for twice so many bytes, as far as it says."""
    if nbytes > MUCH:
        with suppress(OSError):
            for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
                if line.startswith("MemAvailable:"):
                    return 2 * nbytes <= 1024 * int(line.split()[1])
    return True


def _is_in_large_file(mat: Mat) -> bool:
    """Return whether the host's copy is in a large file."""
    copies = mat.storage.handles
    pages = pages_of(copies[HOST]) if HOST in copies else None
    return pages is not None and len(pages) >= LEAST_LARGE
