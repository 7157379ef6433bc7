"""Reading and writing the bytes of paths and file objects: `reading` yields a `Source`, `writing`
an object with a method ``write``; and the elements of arrays as bytes, in C order.

Too few bytes are an error before memory is allocated for them; if their number is not known in
advance, memory grows as they are read.
"""

from __future__ import annotations

import io
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import product
from math import prod
from sys import getrefcount
from typing import Any, NamedTuple, TypeAlias, TypeGuard

import numpy as np

from ..errors import DTypeError, FormatError
from ..layout.shapes import LARGEST, MOST_AXES, Ints
from ..memories.file_pages import empty, release
from ..support.cache_dir import replacing
from ..support.progress import callback_of
from ..support.types import Array, Bytes, DType, File, Index

CHUNK = 8 << 20  # bytes that are copied at a time, and between two calls of a progress callback
FIRST = 1 << 16  # bytes to allocate at first where it is not known how many can be read
# called with bytes done and bytes in all; True for a bar
Callback: TypeAlias = Callable[[int, int], object] | bool
Stream: TypeAlias = Any  # an object with ``read``, ``write``, or both, for bytes
_DECOMPRESSORS = ("zlib", "gzip", "_lzma", "zipfile")  # modules of the errors that they raise
# types of streams that do not keep the memory that they are given to write
_COPYING_TYPES = (io.BufferedWriter, io.BufferedRandom, io.BytesIO)


class Progress:
    """A count of bytes that is reported to a callback; if that is True, to a bar with a `name`."""

    def __init__(self, callback: Callback | None, name: str = "load", total: int = 0) -> None:
        if not (callback is None or isinstance(callback, bool) or callable(callback)):
            raise DTypeError("progress is a function of bytes done and bytes in all, True for a "
                             f"bar, or None, got {callback!r}")
        self.callback = callback_of(callback, name)
        self.total: int = total
        self.done: int = 0

    def expect(self, total: int) -> None:
        """Set how many bytes there will be; report at once if there are none."""
        self.total = total
        if not total:
            self.add(0)

    def add(self, nbytes: int) -> None:
        """Count so many more bytes as done, and report."""
        self.done += nbytes
        if self.callback is not None:
            self.callback(self.done, self.total)


def is_path(file: object) -> TypeGuard[str | os.PathLike[str]]:
    return isinstance(file, str | os.PathLike)


def check_binary(file: object, verb: str) -> None:
    """Raise `DTypeError` unless `file` is a path, or a binary file with the method `verb`."""
    if isinstance(file, io.TextIOBase):
        raise DTypeError(f"{title(file)} is open as text; open it with mode {verb[0] + 'b'!r}")
    if not is_path(file) and not callable(getattr(file, verb, None)):
        raise DTypeError(f"a file is a path or an object with a method {verb!r}, got {file!r} "
                         f"({type(file).__name__})")


def title(file: object) -> str:
    """Return the name of `file` in messages."""
    name: object = file if is_path(file) else getattr(file, "name", None)
    return repr(os.fspath(name)) if is_path(name) and name else f"the {type(file).__name__}"


def quoted(text: str) -> str:
    """Return a string from a file as messages quote it."""
    return repr(text if len(text) <= 200 else text[:200] + "...")


# Writing


class _CopyingStream:
    """A stream of unknown type, which might keep or refuse arrays, written as `bytes`."""

    def __init__(self, file: Stream) -> None:
        self.file = file

    def write(self, data: bytes | Bytes) -> int:
        self.file.write(bytes(data))
        return len(data)

    def flush(self) -> None:
        getattr(self.file, "flush", int)()

    def __getattr__(self, name: str) -> object:
        return getattr(self.file, name)


@contextmanager
def writing(file: File | Stream) -> Iterator[Stream]:
    """Yield a stream for arrays of bytes; a path's file is replaced at a successful end."""
    check_binary(file, "write")
    if is_path(file):
        with replacing(file) as new:
            yield new
    elif isinstance(file, io.RawIOBase):  # it may write less than it is given
        buffered = io.BufferedWriter(file)
        try:
            yield buffered
            buffered.flush()
        finally:
            buffered.detach()
    else:
        yield file if type(file) in _COPYING_TYPES else _CopyingStream(file)


# Reading


class Source:
    """A file that is read in order; ``left`` are the bytes to its end, if known."""

    def __init__(self, file: Stream, name: str, left: int | None = None) -> None:
        self.file: Stream = file
        self.name: str = name
        self.left = left
        self.crc: int | None = None  # set to 0 to compute the checksum of what is read from then on
        self.progress: Progress = Progress(None)
        self.kept: bool = False  # the file has kept memory that it was given to read into
        self._peeked = b""

    def peek(self, n: int) -> bytes:
        """Return the next `n` bytes, or fewer at the end; they are not consumed."""
        found = b""
        while len(found) < n and (more := self._read(n - len(found))):
            found += more
        self._peeked = found + self._peeked
        return found

    def seekable(self) -> Stream:
        """Return the file; if it cannot seek, a copy of the rest in memory."""
        seekable = getattr(self.file, "seekable", None)
        if seekable is None or not seekable():
            return io.BytesIO(b"".join(iter(lambda: self._read(CHUNK), b"")))
        self.file.seek(-len(self._peeked), io.SEEK_CUR)
        self._peeked = b""
        return self.file

    def truncated(self, what: str) -> FormatError:
        """Return the error that the file ends within the part `what`."""
        return FormatError(f"{self.name} ends within {what}: it is cut off")

    def require(self, n: int, what: str) -> None:
        """Raise `FormatError` if it is known that fewer than `n` bytes follow."""
        if self.left is not None and n > self.left:
            raise FormatError(f"{self.name} is cut off: {what} should be {n} bytes, {self.left} "
                              "are left")

    def take(self, n: int, what: str) -> bytes:
        """Read the next `n` bytes."""
        self.require(n, what)
        parts = []
        while n:
            part = self._read(min(n, CHUNK))
            if not part:
                raise self.truncated(what)
            parts.append(part)
            n -= len(part)
            self._count(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def fill(self, target: Bytes) -> None:
        """Read as many bytes as the array takes."""
        at, size = 0, target.size
        while at < size:
            piece = target[at:at + CHUNK]
            n = self._read_into(piece)
            if not n:
                raise self.truncated("its elements")
            piece = piece[:n]
            at += n
            self._count(piece)
            release(piece)
            self.progress.add(n)

    def array(self, n: int) -> Bytes:
        """Read `n` bytes into a new array, which grows as they come if `left` is not known."""
        self.require(n, "its elements")
        byte = np.dtype(np.uint8)
        found: Bytes = empty(n, byte) if self.left is not None else np.empty(min(n, FIRST), byte)
        at = 0
        while True:
            self.fill(found[at:])
            at = found.size
            if at == n:
                self._finish()
                return found.copy() if self.kept else found
            if self.kept:
                found, self.kept = np.resize(found, min(n, 2 * at)), False
            else:
                found.resize(min(n, 2 * at), refcheck=False)

    def _finish(self) -> None:
        """Make a decompressor verify its checksum at the end; consume nothing."""
        if type(self.file).__module__ in ("gzip", "bz2", "lzma"):
            try:
                self.file.peek(1)
            except Exception as error:
                raise self._converted(error) from None

    def _count(self, piece: Any) -> None:
        if self.left is not None:
            self.left -= len(piece)
        if self.crc is not None:
            self.crc = zlib.crc32(piece, self.crc)

    def _read(self, n: int) -> bytes:
        if self._peeked:
            first, self._peeked = self._peeked[:n], self._peeked[n:]
            return first
        try:
            found: bytes | None = self.file.read(n)
        except Exception as error:
            raise self._converted(error) from None
        if found is None:
            raise BlockingIOError(f"{self.name} has nothing to read now, and does not wait")
        return found

    def _read_into(self, piece: Bytes) -> int:
        if self._peeked or not hasattr(self.file, "readinto"):
            found = self._read(piece.size)
            piece[:len(found)] = np.frombuffer(found, np.uint8)
            return len(found)
        users, view = getrefcount(piece), piece.data
        try:
            n: int | None = self.file.readinto(view)
        except Exception as error:
            raise self._converted(error) from None
        finally:
            with suppress(BufferError):
                view.release()  # so that nothing is written to it later
            self.kept = self.kept or getrefcount(piece) > users
        if n is None:
            raise BlockingIOError(f"{self.name} has nothing to read now, and does not wait")
        return n

    def _converted(self, error: Exception) -> Exception:
        """Return a decompressor's error about damaged data as a `FormatError`, others unchanged."""
        if isinstance(error, EOFError) or type(error).__module__ in _DECOMPRESSORS:
            return FormatError(f"{self.name} is damaged: {error}")
        return error


@contextmanager
def reading(file: File | Stream) -> Iterator[Source]:
    """Yield the bytes of a path, or of a file object from its position on."""
    check_binary(file, "read")
    if is_path(file):
        with open(file, "rb") as opened:
            yield Source(opened, title(file), size_on_disk(opened))
    elif type(file) is io.BytesIO:
        at = file.tell()
        end = file.seek(0, io.SEEK_END)  # its getbuffer would copy the contents
        file.seek(at)
        yield Source(file, title(file), max(0, end - at))
    else:
        stream: Stream = file
        size = size_on_disk(stream)
        yield Source(stream, title(stream), None if size is None else max(0, size - stream.tell()))


def size_on_disk(file: Stream) -> int | None:
    """Return the size of an open file, or None if it is not a regular file on disk."""
    raw = file.raw if type(file) in (io.BufferedReader, io.BufferedRandom) else file
    if type(raw) is not io.FileIO:
        return None
    status = os.fstat(raw.fileno())
    # files in /proc have size 0 and are not empty
    return status.st_size or None if stat.S_ISREG(status.st_mode) else None


class ElementFormat(NamedTuple):
    """The format of elements in a file: column-major if `fortran`; foreign bytes if `swapped`."""

    shape: Ints
    dtype: DType
    fortran: bool = False
    swapped: bool = False

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize

    def check(self, name: str) -> ElementFormat:
        """Return self; raise `FormatError` if no Mat can have this shape."""
        few = len(self.shape) <= MOST_AXES
        if not few or prod(n or 1 for n in self.shape) * self.dtype.itemsize > LARGEST:
            shown = str(self.shape) if few else f"of {len(self.shape)} axes"
            raise FormatError(f"{name} claims the shape {shown}, which no array can have")
        return self


def as_bytes(a: Array) -> Bytes:
    """Return the memory of a C-contiguous array."""
    return a.reshape(-1).view(np.uint8)


def blocks(shape: Ints, most: int) -> Iterator[tuple[Index, ...]]:
    """Yield indices that cut `shape` into pieces of at most `most` elements, in C order."""
    axis = next((k for k in range(len(shape)) if prod(shape[k + 1:]) <= most), None)
    if axis is None:
        yield ()
        return
    step = max(1, most // max(1, prod(shape[axis + 1:])))
    for outer in product(*map(range, shape[:axis])):
        for start in range(0, shape[axis], step):
            yield (*outer, slice(start, start + step))


def pieces(a: Array) -> Iterator[Bytes]:
    """Yield the elements in C order by chunks, each valid until the next."""
    if a.flags.c_contiguous:
        whole = as_bytes(a)
        for k in range(0, whole.size, CHUNK):
            piece = whole[k:k + CHUNK]
            yield piece
            release(piece)
        return
    for part, packed in _parts(a):
        np.copyto(packed, part)
        yield as_bytes(packed)


def _parts(a: Array) -> Iterator[tuple[Array, Array]]:
    """Yield parts of an array in C order, and memory for their elements without gaps."""
    most = max(1, CHUNK // a.itemsize)
    buffer = np.empty(min(most, a.size), a.dtype)
    for index in blocks(a.shape, most):
        part = a[(*index, ...)]
        yield part, buffer[:part.size].reshape(part.shape)


def read_array(source: Source, form: ElementFormat) -> Array:
    """Read the next elements into a new array."""
    a = source.array(form.nbytes).view(form.dtype)
    _make_native(a, form)
    return shaped(a, form)


def shaped(flat: Array, form: ElementFormat) -> Array:
    """Return the elements `flat` as an array of the format's shape and order."""
    return flat.reshape(form.shape[::-1]).T if form.fortran else flat.reshape(form.shape)


def read_into(source: Source, form: ElementFormat, a: Array) -> None:
    """Read the next elements into an array with any strides."""
    target = a.T if form.fortran else a
    if target.flags.c_contiguous:
        source.fill(as_bytes(target))
        _make_native(target, form)
        return
    for part, packed in _parts(target):
        source.fill(as_bytes(packed))
        _make_native(packed, form)
        part[...] = packed


def mapped_array(pages: Bytes, offset: int, form: ElementFormat, name: str) -> Array:
    """Return an array over the elements in the pages of a file."""
    if form.swapped:
        raise FormatError(f"{name} has the other byte order, which cannot be mapped; "
                          "mat.load without mapped=True reads it")
    if offset % form.dtype.alignment:
        raise FormatError(f"{name} has its elements at byte {offset}, no multiple of the "
                          f"{form.dtype.alignment} that {form.dtype} needs to be mapped; load it "
                          "without mapped=True")
    if offset + form.nbytes > pages.size:
        raise FormatError(f"{name} is cut off: its elements should be {form.nbytes} bytes, "
                          f"{pages.size - offset} are left")
    return shaped(pages[offset:offset + form.nbytes].view(form.dtype), form)


def _make_native(a: Array, form: ElementFormat) -> None:
    """Convert elements as a file has them to those of this machine, in place."""
    if form.swapped:
        (a if a.dtype.isbuiltin == 1 else a.view(np.uint16)).byteswap(inplace=True)
    if a.dtype.kind == "b":  # other bytes than 0 and 1 are neither true nor false everywhere
        np.not_equal(a.view(np.uint8), 0, out=a)
