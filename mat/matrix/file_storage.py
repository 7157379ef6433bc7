"""Mats whose host memory is a mapped file."""

from __future__ import annotations

from typing import Any

from ..core.coherence import LIVE
from ..core.direction import Direction
from ..core.registry import Handle, Memory, ViewLike
from ..core.runs import Runs
from ..facets.array import ARRAY
from ..memories.file_pages import FilePages, is_only_map, pages_of
from ..memories.host import HOST
from ..support.c_pointers import address_of
from ..support.options import current
from ..support.types import Array
from .creation import flattened
from .foreign_storage import ForeignStorage
from .mat import Mat


class FileStorage(ForeignStorage):
    """Elements in a file, checked at every access: other programs can truncate it."""

    __slots__ = ("end", "pages")

    def __init__(self, flat: Array, pages: FilePages, writable: bool) -> None:
        super().__init__(flat.size, flat.dtype, 0)
        self.pages: FilePages | None = pages
        compute_pending_of(pages)
        # where in the file the elements end
        self.end: int = address_of(flat) - pages.address + flat.nbytes
        self.writable = writable
        self.adopt_host(flat, False)
        self.seen = ARRAY.bit
        self.guarded = self.exclusive = True
        self.share()

    def watched(self) -> None:
        """Return None: writes of other programs to the file are not detected."""

    def is_guarded_always(self) -> bool:
        return True

    def check(self) -> None:
        """Raise `DiskError` if the file has become shorter than the elements."""
        if self.pages is not None:
            self.pages.check(self.end)

    def prepare(self, view: ViewLike, memory: Memory, direction: Direction) -> None:
        if memory is HOST or not self.fresh & memory.bit:
            self.check()
        super().prepare(view, memory, direction)

    def before_copy(self, source: Memory, target: Memory, runs: Runs | None) -> None:
        self.check()
        super().before_copy(source, target, runs)

    def peek(self, spans: Any) -> Handle:
        self.check()
        return super().peek(spans)

    def save(self) -> None:
        pages = self.pages
        if pages is not None and pages.shared:
            super().save()

    def drop_all(self) -> None:
        super().drop_all()
        self.pages = None


def compute_pending_of(pages: FilePages) -> None:
    """Compute what expressions read or write of the same file through other pages: from now on the
    elements can change without their storage.
    """
    if is_only_map(pages):
        return
    for storage in LIVE.all():
        if isinstance(storage, FileStorage) and storage.pending is not None:
            of_storage: Any = storage.pages
            if of_storage is not None and of_storage.identity == pages.identity:
                storage.pending.settle(storage, None, True)


def over_file(a: Array) -> Mat:
    """Return a Mat whose host memory is an array over the pages of a file."""
    pages = pages_of(a)
    assert pages is not None
    flat, layout = flattened(a)
    flat = pages.array(address_of(flat) - pages.address, flat.size, flat.dtype)
    mat = Mat.__new__(Mat)
    mat._fill_in(FileStorage(flat, pages, bool(a.flags.writeable)), layout,
                 current().device_enabled)
    return mat
