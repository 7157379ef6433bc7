"""Mats whose host memory is a mapped file."""

from __future__ import annotations

import atexit
import os
from contextlib import suppress
from typing import Any

from ..core.access_record import AccessRecord
from ..core.coherence import LIVE
from ..core.direction import Direction
from ..core.export import ExportRecord
from ..core.registry import Facet, Handle, Memory, ViewLike
from ..core.source_line import SourceLine
from ..errors import TornError
from ..facets.array import ARRAY
from ..memories.file_pages import FilePages, pages_of
from ..memories.host import HOST
from ..support.c_pointers import address_of
from ..support.options import current
from ..support.types import Array
from .creation import flattened
from .mat import Mat
from .storage import Storage


class FileStorage(Storage):
    """Elements whose host copy is a file, which is checked at every access, as other programs can
    cut it off.

    What a device has changed is copied to the file when the host needs it, by `Mat.flush`, and when
    the storage is garbage or the interpreter exits.
    """

    __slots__ = ("end", "pages", "process")
    # declared by base classes, and set here
    writable: bool
    seen: int

    def __init__(self, flat: Array, pages: FilePages, writable: bool) -> None:
        super().__init__(flat.size, flat.dtype, 0)
        self.pages: FilePages | None = pages
        # where in the file the elements end
        self.end: int = address_of(flat) - pages.address + flat.nbytes
        self.process: int = os.getpid()
        self.writable = writable
        self.adopt_host(flat, False)
        self.seen = ARRAY.bit

    def check(self, memory: Memory) -> None:
        """Raise `DiskError` if an access to `memory` needs the file, and it has become shorter."""
        if self.pages is not None and (memory is HOST or not self.fresh & memory.bit):
            self.pages.check(self.end)

    # Every access to the host comes here

    def open(self, view: ViewLike, facet: Facet, direction: Direction,
             where: SourceLine | None) -> AccessRecord:
        self.check(facet.memory)
        return super().open(view, facet, direction, where)

    def open_unpresented(self, view: ViewLike, facet: Facet, direction: Direction,
                         where: SourceLine | None) -> AccessRecord:
        self.check(facet.memory)
        return super().open_unpresented(view, facet, direction, where)

    def export(self, view: ViewLike, facet: Facet, where: SourceLine | None) -> ExportRecord:
        self.check(facet.memory)
        return super().export(view, facet, where)

    def begin_copy(self, view: ViewLike, memory: Memory, where: SourceLine) -> bool:
        self.check(memory)
        return super().begin_copy(view, memory, where)

    def peek(self, spans: Any) -> Handle:
        self.check(HOST)
        return super().peek(spans)

    def ready(self, *_: object) -> int:
        return 0

    def host_array(self, *_: object) -> Handle:
        return None

    # What devices have changed

    def save(self) -> None:
        """Copy to the file what a device has changed, if the file is to have it."""
        pages = self.pages
        if pages is None or not pages.shared or not self.writable or self.process != os.getpid():
            return
        with self.lock:
            if self.writer is not None or not (self.is_elsewhere or self.spans is not None):
                return
            self.check(HOST)
            with suppress(TornError):  # what a failed block left half-written remains there
                self._refresh(HOST)

    def drop_all(self) -> None:
        self.save()
        super().drop_all()
        self.pages = None

    def __del__(self) -> None:
        if self.fresh or self.spans is not None:  # else an error came in `__init__`
            self.save()
        end: Any = getattr(super(), "__del__", None)  # uncompiled
        if end is not None:
            end()


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


@atexit.register
def _save_all() -> None:
    """Copy to their files what devices have changed."""
    for storage in LIVE.all():
        if isinstance(storage, FileStorage):
            storage.save()
