"""The .npz format: a zip archive of .npy files. Nothing is unpacked to disk: names in it are names,
not paths.
"""

from __future__ import annotations

import importlib
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..errors import FormatError
from . import npy
from .elements import Array, ElementFormat, pieces
from .streams import Progress, Source, shown

SUFFIX = ".npy"
ALIGNED = 64  # where the elements of a stored array begin, so that they can be mapped
_ZIP64 = 20  # bytes of the extra field that holds sizes of 64 bits
_PADDING = 0xD935  # the extra field that aligns data, as zipalign writes it
_STORED, _DEFLATED = 0, 8
_REFUSED = 0x61  # flags: encrypted, patched, strongly encrypted
_UTF8 = 0x800  # flag: that the name is so encoded
FREELY = 64 << 20  # bytes to which an archive may grow by decompression,
RATIO = 100  # or so many times its size, unless the caller allows more


def _zipfile() -> Any:
    # not always: it takes longer than reading a small file
    return importlib.import_module("zipfile")


# Writing


def check(names: Mapping[str, Any]) -> None:
    """`FormatError` for names that an archive cannot have."""
    for name in names:
        try:
            fits = len(name.encode()) < 65_000 and "\0" not in name
        except UnicodeEncodeError:
            fits = False
        if not fits:
            raise FormatError(f"{shown(name)} is no name for a Mat in a .npz file: at most 65,000 "
                              "bytes of UTF-8 without NUL")


def write(file: Any, arrays: Mapping[str, Array], compressed: bool, progress: Progress) -> None:
    """Write an archive of `arrays`."""
    zipfile = _zipfile()
    headers = {name: npy.header(a) for name, a in arrays.items()}
    progress.expect(sum(len(head) + a.nbytes for head, a in headers.values()))
    with zipfile.ZipFile(file, "w") as archive:
        for name, (head, a) in headers.items():
            info = zipfile.ZipInfo(name + SUFFIX)
            info.compress_type = _DEFLATED if compressed else _STORED
            info.extra = _padding(archive.fp.tell() + 30 + len(info.filename.encode()) + _ZIP64)
            with archive.open(info, "w", force_zip64=True) as member:
                member.write(head)
                progress.add(len(head))
                for piece in pieces(a):
                    member.write(piece)
                    progress.add(piece.size)


def _padding(at: int) -> bytes:
    """An extra field after which what would begin at byte `at` is aligned."""
    n = 2 + -(at + 6) % ALIGNED
    return struct.pack("<HHH", _PADDING, n, ALIGNED) + bytes(n - 2)


# Reading


class Member(NamedTuple):
    """An array in an archive: its name, what the directory says of it, and where its bytes
    begin.
    """

    name: str
    info: Any
    start: int


class Archive:
    """The arrays in a zip archive, checked as far as its directory tells."""

    def __init__(self, file: Any, name: str, most: int | None) -> None:
        self.file = file
        self.name = name
        with self.careful():
            self.zip = _zipfile().ZipFile(file)
            self.size = file.seek(0, 2)
            self.members = self._members()
        self._check_growth(most)

    @contextmanager
    def careful(self) -> Iterator[None]:
        """What the standard library says of damaged archives, as a `FormatError`."""
        try:
            yield
        except FormatError:
            raise
        except OSError as error:
            if error.errno not in (None, 22):  # EINVAL: told to seek to where nothing can be
                raise
            raise FormatError(f"{self.name} is a damaged archive: {error}") from None
        except (ValueError, OverflowError, NotImplementedError, EOFError, RuntimeError, LookupError,
                struct.error,
                _zipfile().BadZipFile) as error:
            raise FormatError(f"{self.name} is a damaged archive: {error}") from None

    def _members(self) -> list[Member]:
        found: list[Member] = []
        names: set[str] = set()
        end = 0
        for info in sorted(self.zip.infolist(), key=lambda info: info.header_offset):
            member = self._member(info)
            if member.name in names:
                raise FormatError(f"{self.name} has two arrays of the name {shown(member.name)}")
            if info.header_offset < end or member.start + info.compress_size > self.zip.start_dir:
                raise FormatError(f"{self.name}: the bytes of {shown(member.name)} overlap others, "
                                  "or are not there")
            names.add(member.name)
            end = member.start + info.compress_size
            found.append(member)
        return found

    def _member(self, info: Any) -> Member:
        """The member that `info` is about, if it is one that we read."""
        name = info.orig_filename
        if not name.endswith(SUFFIX) or "\0" in name:
            raise FormatError(f"{self.name} holds {shown(name)}, which is no {SUFFIX} file; Mats "
                              "are in no archive of other "
                              f"things")
        if info.flag_bits & _REFUSED or info.compress_type not in (_STORED, _DEFLATED):
            raise FormatError(f"{self.name}: {shown(name)} is encrypted or patched, or compressed "
                              "by method "
                              f"{info.compress_type}; only stored and deflated arrays are read")
        if info.compress_type == _STORED and info.compress_size != info.file_size:
            raise FormatError(f"{self.name}: {shown(name)} is stored as it is, and yet of two "
                              "sizes")
        encoded = name.encode("utf-8" if info.flag_bits & _UTF8 else "cp437")
        self.file.seek(info.header_offset)
        local = self.file.read(30 + len(encoded))
        lengths = struct.unpack("<HH", local[26:30]) if len(local) >= 30 else (0, 0)
        if local[:4] != b"PK\x03\x04" or lengths[0] != len(encoded) or local[30:] != encoded:
            raise FormatError(f"{self.name}: {shown(name)} is not where the directory says")
        return Member(name.removesuffix(SUFFIX), info, info.header_offset + 30 + sum(lengths))

    def _check_growth(self, most: int | None) -> None:
        """`FormatError` for archives that would grow too much: a few bytes can claim to be many."""
        large = sum(m.info.file_size for m in self.members if m.info.compress_type == _DEFLATED)
        allowed = max(FREELY, RATIO * self.size) if most is None else most
        if large > allowed:
            raise FormatError(f"{self.name} would grow from {self.size} to {large} bytes, more "
                              f"than the {allowed} that are "
                              f"allowed; if you trust it, max_bytes={large}")

    @contextmanager
    def opened(self, member: Member, progress: Progress) -> Iterator[Source]:
        """The bytes of a member; at the end of the block `FormatError` if they are not those that
        were written.
        """
        info, name = member.info, f"{shown(member.name)} in {self.name}"
        if info.compress_type == _STORED:
            self.file.seek(member.start)
            source = Source(self.file, name, info.file_size)
            source.crc = 0
        else:
            with self.careful():
                source = Source(self.zip.open(info), name)
        source.progress = progress
        yield source
        more = source.left or (source.left is None and source.peek(1))
        if more:
            raise FormatError(f"{name} has more bytes than its elements")
        if source.crc is not None and source.crc != info.CRC:
            raise FormatError(f"{name} is damaged: its checksum is {source.crc:#x}, not "
                              f"{info.CRC:#x}")

    def placed(self, member: Member) -> tuple[ElementFormat, int]:
        """What a stored member holds, and where in the file its elements begin. `FormatError` if it
        is compressed.
        """
        name = f"{shown(member.name)} in {self.name}"
        if member.info.compress_type != _STORED:
            raise FormatError(f"{name} is compressed, and cannot be mapped; load it without "
                              "mapped=True")
        self.file.seek(member.start)
        source = Source(self.file, name, member.info.file_size)
        form = npy.form(source)
        source.require(form.nbytes, "its elements")
        return form, member.start + member.info.file_size - (source.left or 0)
