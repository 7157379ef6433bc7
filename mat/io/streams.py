"""Bytes in and out of paths and file objects: `reading` gives a `Source`, `writing` something with
a ``write``.

A source says when there are too few bytes before room is made for them, or makes room as they come.
"""

from __future__ import annotations

import io
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..errors import DTypeError, FormatError
from ..support.cache_dir import replacing

CHUNK = 8 << 20  # bytes that are moved at a time, and between two calls of a progress callback
# bytes for which there is room, before it is seen whether they come, where that is not known
FIRST = 1 << 16
Tell = Callable[[int, int], object]
Bytes = np.ndarray[Any, np.dtype[np.uint8]]
# they keep nothing of what they are given to write
_LENT = (io.BufferedWriter, io.BufferedRandom, io.BytesIO)


class Progress:
    """Counts bytes, and tells a callback how many of how many are done."""

    __slots__ = ("done", "tell", "total")

    def __init__(self, tell: Tell | None, total: int = 0) -> None:
        if tell is not None and not callable(tell):
            raise DTypeError(f"progress is a function of bytes done and bytes in all, got {tell!r}")
        self.tell = tell
        self.total = total
        self.done = 0

    def expect(self, total: int) -> None:
        """So many bytes are to come; that there are none is told, too."""
        self.total = total
        if not total:
            self.add(0)

    def add(self, nbytes: int) -> None:
        """So many more are done."""
        self.done += nbytes
        if self.tell is not None:
            self.tell(self.done, self.total)


def is_path(file: object) -> bool:
    return isinstance(file, str | os.PathLike)


def check_binary(file: object, verb: str) -> None:
    """`DTypeError` unless `file` is a path, or an object of bytes that can `verb`."""
    if isinstance(file, io.TextIOBase):
        raise DTypeError(f"{title(file)} is open as text; open it with mode {verb[0] + 'b'!r}")
    if not is_path(file) and not callable(getattr(file, verb, None)):
        raise DTypeError(f"a path or an object with a method {verb!r} is wanted, got {file!r} "
                         f"({type(file).__name__})")


def title(file: object) -> str:
    """What messages call `file`."""
    name = file if is_path(file) else getattr(file, "name", None)
    return repr(os.fspath(name)) if isinstance(name,
                                               str | os.PathLike) and name else f"the {type(file).__name__}"


def shown(text: str) -> str:
    """A text out of a file, as messages quote it."""
    return repr(text if len(text) <= 200 else text[:200] + "...")


# Writing


class _Copying:
    """Gives a file object of unknown kind bytes of its own: it might keep them, or know of no
    others.
    """

    def __init__(self, file: Any) -> None:
        self.file = file

    def write(self, data: Any) -> int:
        self.file.write(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing where the object knows of none."""
        getattr(self.file, "flush", int)()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


@contextmanager
def writing(file: Any) -> Iterator[Any]:
    """What bytes and arrays of them can be written to; a path's file changes when the block ends
    well, and only then.
    """
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
        yield file if type(file) in _LENT else _Copying(file)


# Reading


class Source:
    """Bytes to be read in order. ``left`` is how many there are, None where that is not known
    before.
    """

    __slots__ = ("_ahead", "crc", "file", "left", "name", "progress")

    def __init__(self, file: Any, name: str, left: int | None = None) -> None:
        self.file = file
        self.name = name
        self.left = left
        self.crc: int | None = None  # a checksum of what is read from now on, if it is a number
        self.progress = Progress(None)
        self._ahead = b""

    def peek(self, n: int) -> bytes:
        """The next `n` bytes, or fewer if there are no more; they are read again."""
        found = b""
        while len(found) < n and (more := self._read(n - len(found))):
            found += more
        self._ahead = found + self._ahead
        return found

    def seekable(self) -> Any:
        """The file, from where we are; where it can only be read in order, all that is left in
        memory.
        """
        seekable = getattr(self.file, "seekable", None)
        if seekable is None or not seekable():
            return io.BytesIO(b"".join(iter(lambda: self._read(CHUNK), b"")))
        self.file.seek(-len(self._ahead), io.SEEK_CUR)
        self._ahead = b""
        return self.file

    def short(self, what: str) -> FormatError:
        return FormatError(f"{self.name} ends within {what}: it is cut off")

    def require(self, n: int, what: str) -> None:
        """`FormatError` if it is known that there are not `n` more bytes."""
        if self.left is not None and n > self.left:
            raise FormatError(f"{self.name} is cut off: {what} should be {n} bytes, {self.left} "
                              "are left")

    def take(self, n: int, what: str) -> bytes:
        """The next `n` bytes."""
        self.require(n, what)
        parts = []
        while n:
            part = self._read(min(n, CHUNK))
            if not part:
                raise self.short(what)
            parts.append(part)
            n -= len(part)
            self._passed(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def fill(self, target: Bytes) -> None:
        """Read as many bytes as the array takes."""
        at, size = 0, target.size
        while at < size:
            piece = target[at:at + CHUNK]
            n = self._read_into(piece)
            if not n:
                raise self.short("its elements")
            piece = piece[:n]
            at += n
            self._passed(piece)
            self.progress.add(n)

    def array(self, n: int) -> Bytes:
        """The next `n` bytes in an array of their own. Where they are not known to be there, it
        grows as they come.
        """
        self.require(n, "its elements")
        room = n if self.left is not None else min(n, FIRST)
        found: Bytes = np.empty(room, np.uint8)
        at = 0
        while True:
            self.fill(found[at:])
            at = found.size
            if at == n:
                self._finish()
                return found
            found.resize(min(n, 2 * at), refcheck=False)

    def _finish(self) -> None:
        """Have a decompressor check its sum, which it does when it comes to the end; nothing is
        taken from what follows.
        """
        if type(self.file).__module__ in ("gzip", "bz2", "lzma"):
            try:
                self.file.peek(1)
            except Exception as error:
                raise self._judged(error) from None

    def _passed(self, piece: Any) -> None:
        if self.left is not None:
            self.left -= len(piece)
        if self.crc is not None:
            self.crc = zlib.crc32(piece, self.crc)

    def _read(self, n: int) -> bytes:
        if self._ahead:
            first, self._ahead = self._ahead[:n], self._ahead[n:]
            return first
        try:
            found: bytes | None = self.file.read(n)
        except Exception as error:
            raise self._judged(error) from None
        if found is None:
            raise BlockingIOError(f"{self.name} has nothing to read now, and does not wait")
        return found

    def _read_into(self, piece: Bytes) -> int:
        if self._ahead or not hasattr(self.file, "readinto"):
            found = self._read(piece.size)
            piece[:len(found)] = np.frombuffer(found, np.uint8)
            return len(found)
        try:
            n: int | None = self.file.readinto(piece.data)
        except Exception as error:
            raise self._judged(error) from None
        if n is None:
            raise BlockingIOError(f"{self.name} has nothing to read now, and does not wait")
        return n

    def _judged(self, error: Exception) -> Exception:
        """What a decompressor says of damaged data as an error of ours; other errors as they
        are.
        """
        if isinstance(error, EOFError) or type(error).__module__ in ("zlib", "gzip", "_lzma",
                                                                     "zipfile"):
            return FormatError(f"{self.name} is damaged: {error}")
        return error


@contextmanager
def reading(file: Any) -> Iterator[Source]:
    """The bytes of a path, or of a file object from where it is; that is left behind what was
    read.
    """
    check_binary(file, "read")
    if is_path(file):
        with open(file, "rb") as opened:
            yield Source(opened, title(file), on_disk(opened))
    elif type(file) is io.BytesIO:
        at = file.tell()
        end = file.seek(0, io.SEEK_END)  # its getbuffer would copy what it was made of
        file.seek(at)
        yield Source(file, title(file), max(0, end - at))
    else:
        size = on_disk(file)
        yield Source(file, title(file), None if size is None else max(0, size - file.tell()))


def on_disk(file: Any) -> int | None:
    """The size of an open file, None if it is no plain file on disk."""
    raw = file.raw if type(file) in (io.BufferedReader, io.BufferedRandom) else file
    if type(raw) is not io.FileIO:
        return None
    status = os.fstat(raw.fileno())
    # some of /proc say 0 and are not empty
    return status.st_size or None if stat.S_ISREG(status.st_mode) else None
