"""Mats whose host memory is a mapped file: pages are read on access, never copied, and mapped as
long as an array over them exists.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..core.coherence import LIVE
from ..core.direction import Direction
from ..core.registry import Handle, Memory, ViewLike
from ..core.runs import Runs
from ..errors import DiskError, DTypeError, FormatError, ShapeError
from ..facets import ARRAY
from ..layout.shapes import as_shape
from ..matrix.creation import flattened
from ..matrix.foreign_storage import ForeignStorage
from ..matrix.mat import Mat
from ..matrix.methods import method
from ..memories.file_pages import (
    FilePages,
    disk_error,
    is_of_room,
    is_only_map,
    map_file,
    no_room,
    pages_of,
    reserve,
)
from ..memories.host import HOST
from ..support.c_pointers import address_of
from ..support.cache_dir import replacing
from ..support.dtypes import as_dtype
from ..support.options import current
from ..support.types import Array, Bytes, DTypeLike, File, ShapeLike
from . import npy
from .streams import ElementFormat, Source, is_path, mapped_array, reading, size_on_disk, title

MODES = ("r", "r+", "w+", "c")
_WAY_OUT = "free some; a file that was there is as it was"


class FileStorage(ForeignStorage):
    """Elements in a file, checked at every access: other programs can truncate it."""

    __slots__ = ("end", "pages")

    def __init__(self, flat: Array, pages: FilePages, writable: bool) -> None:
        super().__init__(flat.size, flat.dtype, 0)
        self.pages: FilePages | None = pages
        update_file_of(pages)
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


def update_file_of(pages: FilePages) -> None:
    """Compute what expressions read or write of the same file through other pages: from now on the
    elements can change without their storage. Private pages, of which devices' changes are not
    noticed later, begin with what these have now.
    """
    if is_only_map(pages):
        return
    for storage in LIVE.all():
        of_storage: Any = storage.pages if isinstance(storage, FileStorage) else None
        if of_storage is None or of_storage.identity != pages.identity:
            continue
        if storage.pending is not None:
            storage.pending.settle(storage, None, True)
        if not pages.shared:
            storage.save()


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


@contextmanager
def mapping(file: File) -> Iterator[tuple[Source, Bytes]]:
    """Open a file to read its headers, and map its pages; `DTypeError` for what is no file."""
    with reading(file) as source:
        yield source, _mapped(source, "r", "mapped=True")


def _mapped(source: Source, mode: str, wanted: str) -> Bytes:
    """Return the pages of an open file as bytes."""
    if size_on_disk(source.file) is None:
        if not source.peek(1):
            raise FormatError(f"{source.name} is empty")
        raise DTypeError(f"{wanted} requires a file on disk, not {source.name}; load it without")
    try:
        pages = map_file(source.file.fileno(), source.name, mode)
    except DiskError as error:
        raise FormatError(f"{error}; load it without {wanted}") from error
    return _as_bytes(pages)


def _as_bytes(pages: FilePages) -> Bytes:
    return pages.array(0, len(pages), np.dtype(np.uint8))


def open_memmap(path: File, mode: str = "r+", dtype: DTypeLike = None,
                shape: ShapeLike | None = None, fortran_order: bool = False) -> Mat:
    """Return a Mat over a .npy file as host memory; the system reads its pages when accessed.

    Parameters
    ----------
    path : str or path
        The file.
    mode : {"r+", "r", "w+", "c"}
        Read and write the file; read it only; make it, of zeros, and replace one that is there;
        or read it, and have what is written in memory only.
    dtype : dtype, str or type, optional
        For ``"w+"`` the element type, by default ``mat.settings.dtype``. For the other modes what
        the file must have.
    shape : int or sequence of int, optional
        For ``"w+"`` the lengths of the axes. For the other modes what the file must have.
    fortran_order : bool
        For ``"w+"``: store the elements by columns.

    Returns
    -------
    Mat
        Over the memory of the file.

    Raises
    ------
    DiskError
        If there is no room on the disk. It is also raised when the Mat is accessed and the file has
        become too short for its elements.
    FormatError
        If the file is cut off, damaged, of another shape, or cannot be mapped, and for another
        mode.
    DTypeError
        If the file is of another dtype.

    Notes
    -----
    What is written to the Mat is in the file for every program that reads it, at once; `Mat.flush`
    waits until the disk has it. What a device has computed is copied to the file when the host
    accesses the Mat, by ``flush``, and when the Mat is freed. The room for the whole file is
    reserved, so that no write fails later.

    Examples
    --------
    >>> import os, tempfile, mat
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     x = mat.open_memmap(os.path.join(folder, "x.npy"), "w+", "int16", (2, 3))
    ...     _ = x.fill_(7)
    ...     mat.load(os.path.join(folder, "x.npy"))
    <Mat 2x3 int16 A [[7 7 7] [7 7 7]]>
    """
    if not is_path(path):
        raise DTypeError(f"open_memmap requires the path of a file, got {path!r}")
    if mode not in MODES:
        raise FormatError(f"mode is one of {', '.join(map(repr, MODES))}, got {mode!r}")
    if mode == "w+":
        if shape is None:
            raise ShapeError("open_memmap with mode 'w+' makes a file, which needs shape=(...)")
        kind = current().dtype if dtype is None else as_dtype(dtype)
        new = ElementFormat(as_shape(shape), kind, bool(fortran_order))
        return _created(path, new.check("a new file"))
    with open(path, "r+b" if mode == "r+" else "rb") as file:
        source = Source(file, title(path), size_on_disk(file))
        form = _checked(npy.read_header(source), source.name, dtype, shape)
        start = source.file.tell()
        source.require(form.nbytes, "its elements")
        if mode == "r+":
            _fill_holes(file.fileno(), source.name, os.fspath(path))
        return over_file(mapped_array(_mapped(source, mode, "open_memmap"), start, form,
                                      source.name))


def _checked(form: ElementFormat, name: str, dtype: DTypeLike,
             shape: ShapeLike | None) -> ElementFormat:
    """Return the format of a file; raise an error if it was expected to be another one."""
    if dtype is not None and as_dtype(dtype) != form.dtype:
        raise DTypeError(f"{name} holds {form.dtype}, not {as_dtype(dtype)}; leave dtype out, or "
                         "make a new file by mode 'w+'")
    if shape is not None and as_shape(shape) != form.shape:
        raise FormatError(f"{name} holds the shape {form.shape}, not {as_shape(shape)}; leave "
                          "shape out, or make a new file by mode 'w+'")
    return form


def _created(path: str | os.PathLike[str], form: ElementFormat) -> Mat:
    """Make a file of zeros; it replaces an existing one after its disk space is reserved."""
    target, head = os.path.realpath(path), npy.header_of(form)
    if os.path.exists(target) and not os.path.isfile(target):
        raise FormatError(f"{title(path)} is no ordinary file, and cannot be mapped")
    nbytes, folder = len(head) + form.nbytes, os.path.dirname(target)
    try:
        with replacing(path) as file:
            reserve(file.fileno(), nbytes, title(path), folder, _WAY_OUT)
            file.write(head)
            file.flush()
            pages = map_file(file.fileno(), title(path), "r+")
    except OSError as error:
        if isinstance(error, DiskError) or not is_of_room(error):
            raise
        raise no_room(error, nbytes, title(path), folder, _WAY_OUT) from error
    return over_file(mapped_array(_as_bytes(pages), len(head), form, title(path)))


def _fill_holes(number: int, name: str, path: str) -> None:
    """Reserve room for the unallocated parts of a file, which read as zeros."""
    status = os.fstat(number)
    if getattr(status, "st_blocks", 1 << 62) * 512 < status.st_size:
        reserve(number, status.st_size, name, os.path.dirname(os.path.realpath(path)), _WAY_OUT)


@method("flush")
def flush(self: Mat) -> None:
    """Wait until the disk has all writes to the Mat of a file, also those of a device.

    Raises
    ------
    DTypeError
        If the Mat was not made by `open_memmap`.
    DiskError
        If the system cannot write the file.

    Examples
    --------
    >>> import os, tempfile, mat
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     x = mat.open_memmap(os.path.join(folder, "x.npy"), "w+", shape=3)
    ...     x[0] = 1
    ...     x.flush()
    """
    storage = self.storage
    pages = storage.pages if isinstance(storage, FileStorage) else None
    if pages is None:
        raise DTypeError(f"{self.label()} is not the Mat of a file, which open_memmap makes; "
                         "mat.save writes it to one")
    with self.facet("array", "input"):
        try:
            pages.flush()
        except OSError as error:
            raise disk_error(f"{pages.title} cannot be written: {error.strerror}; what was "
                             "written may be lost", error) from error
