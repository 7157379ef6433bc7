"""The .npy format: its header, written by NumPy and read by a grammar of the three entries that it
may have; and the .npz format, archives of such files.

NumPy reads a header with Python's own parser, which fails at deep nesting and is slow.
"""

from __future__ import annotations

import importlib
import io
import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from ..errors import FormatError
from ..support.dtypes import ELEMENT_TYPES, SUPPORTED, as_dtype
from ..support.types import Array, DType
from .streams import ElementFormat, Progress, Source, Stream, pieces, quoted

MAGIC = b"\x93NUMPY"
LONGEST = 65_535  # bytes of a header: the limit of version 1.0, three times what 64 axes need
_ITEM = re.compile(r"""\s* u?(?P<quote>['"]) (?P<key>descr|fortran_order|shape) (?P=quote) \s*:\s*
                       (?: u?(?P<mark>['"]) (?P<text>[^'"\\]*) (?P=mark) | (?P<flag>True|False)
                         | \( (?P<shape> (?: \s*(?:0|[1-9][0-9]{0,18})L?\s* , )*
                                         (?: \s*(?:0|[1-9][0-9]{0,18})L? )? \s*) \) )
                       \s* (?:,|(?=\s*\}))""", re.VERBOSE | re.ASCII)
_TYPES = {"descr": str, "fortran_order": bool, "shape": tuple}
_BEGIN, _END = re.compile(r"[ \t]*\{"), re.compile(r"\s*\}[ \t]*\n*\Z", re.ASCII)
_UNNAMED = "E4"  # NumPy writes raw bytes for these; float8_e5m2 is a float of one byte to it
_CODES = {f"V{t.size}" if t.char in _UNNAMED else f"{t.kind}{t.size}": t.name
          for t in ELEMENT_TYPES}


def header(a: Array) -> tuple[bytes, Array]:
    """Return the header, and the array to write in C order: `a` or its transpose."""
    fortran = a.flags.f_contiguous and not a.flags.c_contiguous
    return header_of(ElementFormat(a.shape, a.dtype, fortran)), a.T if fortran else a


def header_of(form: ElementFormat) -> bytes:
    """Return the header of a file with elements of that format."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {
        "descr": form.dtype.str, "fortran_order": form.fortran, "shape": form.shape})
    return file.getvalue()


def read_header(source: Source) -> ElementFormat:
    """Return the format of the elements that follow; `FormatError` if no Mat can have them."""
    start = source.peek(8)
    if start[:6] != MAGIC:
        raise FormatError(f"{source.name} is no .npy file{_guess(start)}")
    version = source.take(8, "its header")[6:]
    if version not in (b"\x01\x00", b"\x02\x00", b"\x03\x00"):
        raise FormatError(f"{source.name} is of version {version[0]}.{version[1]} of .npy, which "
                          "is not known")
    digits = 2 if version[0] == 1 else 4
    length = int.from_bytes(source.take(digits, "its header"), "little")
    if length > LONGEST:
        raise FormatError(f"{source.name} claims a header of {length} bytes; at most {LONGEST} are "
                          "read")
    text = source.take(length, "its header").decode("utf-8" if version[0] == 3 else "latin-1",
                                                    "replace")
    fields = _fields(text, source.name)
    dtype, swapped = _dtype(fields["descr"], source.name)
    return ElementFormat(fields["shape"], dtype, fields["fortran_order"],
                         swapped).check(source.name)


def _guess(start: bytes) -> str:
    if not start:
        return ": it is empty"
    if start[:2] == b"PK":
        return ": it is an archive, such as .npz, which load_all reads"
    if start[:1] == b"\x80":
        return ": it is a pickle, which is never read, as that would execute it"
    return f": it begins with {start!r}"


def _fields(text: str, name: str) -> dict[str, Any]:
    """Return the dictionary whose literal is `text`."""
    begin = _BEGIN.match(text)
    at = begin.end() if begin else 0
    found: dict[str, Any] = {}
    while match := _ITEM.match(text, at):
        found[match["key"]] = _value(match)
        at = match.end()
    types = {key: type(value) for key, value in found.items()}
    if not begin or not _END.match(text, at) or types != _TYPES:
        raise FormatError(f"{name} has a header with other entries than the dtype of numbers, "
                          f"their order and a shape: {quoted(text.strip())}")
    return found


def _value(match: re.Match[str]) -> Any:
    if match["flag"]:
        return match["flag"] == "True"
    if match["shape"] is None:
        return match["text"]
    items = match["shape"].replace("L", "").split(",")
    if len(items) == 1 and items[0].strip():
        return None  # (3) is no tuple
    return tuple(int(n) for n in items if n.strip())


def _dtype(descr: str, name: str) -> tuple[DType, bool]:
    """Return the dtype, and whether the byte order is not this machine's."""
    order, code = (descr[0], descr[1:]) if descr[:1] in ("<", ">", "|", "=") else ("=", descr)
    if code.startswith("O"):
        raise FormatError(f"{name} holds Python objects in a pickle, which is never read, as that "
                          "would execute it")
    if code not in _CODES:
        raise FormatError(f"{name} holds elements of dtype {quoted(descr)}; a Mat has "
                          f"{', '.join(SUPPORTED)}")
    dtype = as_dtype(_CODES[code])
    native = np.dtype(np.uint16).newbyteorder("<").isnative
    return dtype, dtype.itemsize > 1 and order in "<>" and (order == "<") != native


# Archives: zip files of .npy files. Nothing is unpacked to disk: names in an archive are names of
# arrays, not paths


SUFFIX = ".npy"
ALIGNMENT = 64  # of the elements of a stored array, so that they can be mapped
_ZIP64 = 20  # bytes of the extra field with sizes of 64 bits
_PADDING = 0xD935  # id of the extra field that aligns data, as zipalign writes it
_STORED, _DEFLATED = 0, 8
_UNSUPPORTED = 0x61  # flags: encrypted, patched, strongly encrypted
_UTF8 = 0x800  # flag: the encoding of the name
# an archive may grow by decompression to the larger of so many bytes and so many times its size
GROWTH_BYTES, GROWTH_RATIO = 64 << 20, 100


def _zipfile() -> ModuleType:
    # not imported at the top: the import takes longer than reading a small file
    return importlib.import_module("zipfile")


def check_names(names: Iterable[str]) -> None:
    """Raise `FormatError` for names that an archive cannot have."""
    for name in names:
        try:
            fits = len(name.encode()) < 65_000 and "\0" not in name
        except UnicodeEncodeError:
            fits = False
        if not fits:
            raise FormatError(f"{quoted(name)} is no name for a Mat in a .npz file: at most 65,000 "
                              "bytes of UTF-8 without NUL")


def write_archive(file: Stream, arrays: Mapping[str, Array], compressed: bool,
                  progress: Progress) -> None:
    """Write an archive of `arrays`."""
    zipfile = _zipfile()
    headers = {name: header(a) for name, a in arrays.items()}
    progress.expect(sum(len(head) + a.nbytes for head, a in headers.values()))
    archive = None
    try:
        archive = zipfile.ZipFile(file, "w")
        for name, (head, a) in headers.items():
            _write_member(archive, name, compressed, chain([head], pieces(a)), progress)
        archive.close()
    except BaseException:
        if archive is not None:
            archive.fp = None  # closing it would fail, and hide the error, if a member is open
        raise


def _write_member(archive: Any, name: str, compressed: bool, parts: Iterable[Any],
                  progress: Progress) -> None:
    zipfile = _zipfile()
    info = zipfile.ZipInfo(name + SUFFIX)
    info.compress_type = _DEFLATED if compressed else _STORED
    info.extra = _padding(archive.fp.tell() + 30 + len(info.filename.encode()) + _ZIP64)
    with archive.open(info, "w", force_zip64=True) as member:
        for part in parts:
            member.write(part)
            progress.add(len(part))


def _padding(at: int) -> bytes:
    """Return an extra field that moves the bytes at `at` to the next aligned position."""
    n = 2 + -(at + 6) % ALIGNMENT
    return struct.pack("<HHH", _PADDING, n, ALIGNMENT) + bytes(n - 2)


class Member(NamedTuple):
    """An array in an archive: its name, its entry in the directory, and where its bytes begin."""

    name: str
    info: Any  # a zipfile.ZipInfo
    start: int


class Archive:
    """The arrays in a zip archive, whose directory is checked."""

    def __init__(self, file: Stream, name: str, most: int | None) -> None:
        self.file = file
        self.name = name
        with self.converted_errors():
            self.zip: Any = _zipfile().ZipFile(file)
            self.size: int = file.seek(0, 2)
            self.members: list[Member] = self._members()
            file.seek(0)
            if not self.members and file.read(4) == b"PK\x03\x04":
                raise FormatError(f"{name} is a damaged archive: it has arrays, and its directory "
                                  "has none")
        large = sum(m.info.file_size for m in self.members if m.info.compress_type == _DEFLATED)
        allowed = max(GROWTH_BYTES, GROWTH_RATIO * self.size) if most is None else most
        if large > allowed:
            raise FormatError(f"{self.name} would grow from {self.size} to {large} bytes, more "
                              f"than the {allowed} that are allowed; if you trust it, "
                              f"max_bytes={large}")

    @contextmanager
    def converted_errors(self) -> Iterator[None]:
        """Raise the standard library's errors about damaged archives as `FormatError`."""
        try:
            yield
        except FormatError:
            raise
        except OSError as error:
            if error.errno not in (None, 22):  # EINVAL: a seek to an impossible position
                raise
            raise FormatError(f"{self.name} is a damaged archive: {error}") from None
        except (ValueError, OverflowError, NotImplementedError, EOFError, RuntimeError, LookupError,
                struct.error, _zipfile().BadZipFile) as error:
            raise FormatError(f"{self.name} is a damaged archive: {error}") from None

    def _members(self) -> list[Member]:
        found: list[Member] = []
        names: set[str] = set()
        end = 0
        for info in sorted(self.zip.infolist(), key=lambda info: info.header_offset):
            member = self._member(info)
            if member.name in names:
                raise FormatError(f"{self.name} has two arrays named {quoted(member.name)}")
            if info.header_offset < end or member.start + info.compress_size > self.zip.start_dir:
                raise FormatError(f"{self.name}: the bytes of {quoted(member.name)} overlap "
                                  "others, or are missing")
            names.add(member.name)
            end = member.start + info.compress_size
            found.append(member)
        return found

    def _member(self, info: Any) -> Member:
        """Return the member of the entry `info`; raise `FormatError` if it is not supported."""
        name = info.orig_filename
        if not name.endswith(SUFFIX) or "\0" in name:
            raise FormatError(f"{self.name} holds {quoted(name)}, which is no {SUFFIX} file; an "
                              "archive of Mats holds nothing else")
        if info.flag_bits & _UNSUPPORTED or info.compress_type not in (_STORED, _DEFLATED):
            raise FormatError(f"{self.name}: {quoted(name)} is encrypted or patched, or compressed "
                              f"by method {info.compress_type}; only stored and deflated arrays "
                              "are read")
        if info.compress_type == _STORED and info.compress_size != info.file_size:
            raise FormatError(f"{self.name}: {quoted(name)} is not compressed, but has two sizes")
        encoded = name.encode("utf-8" if info.flag_bits & _UTF8 else "cp437")
        self.file.seek(info.header_offset)
        local = self.file.read(30 + len(encoded))
        lengths = struct.unpack("<HH", local[26:30]) if len(local) >= 30 else (0, 0)
        if local[:4] != b"PK\x03\x04" or lengths[0] != len(encoded) or local[30:] != encoded:
            raise FormatError(f"{self.name}: {quoted(name)} is not where the directory says")
        return Member(name.removesuffix(SUFFIX), info, info.header_offset + 30 + sum(lengths))

    @contextmanager
    def opened(self, member: Member, progress: Progress) -> Iterator[Source]:
        """Yield the bytes of a member; verify number and checksum at the end of the block."""
        info, name = member.info, f"{quoted(member.name)} in {self.name}"
        if info.compress_type == _STORED:
            self.file.seek(member.start)
            source = Source(self.file, name, info.file_size)
            source.crc = 0
        else:
            with self.converted_errors():
                source = Source(self.zip.open(info), name)
        source.progress = progress
        yield source
        more = source.left or (source.left is None and source.peek(1))
        if more:
            raise FormatError(f"{name} has more bytes than its elements")
        if source.crc is not None and source.crc != info.CRC:
            raise FormatError(f"{name} is damaged: its checksum is {source.crc:#x}, not "
                              f"{info.CRC:#x}")

    def locate(self, member: Member) -> tuple[ElementFormat, int]:
        """Return a stored member's format and offset; `FormatError` if it is compressed."""
        name = f"{quoted(member.name)} in {self.name}"
        if member.info.compress_type != _STORED:
            raise FormatError(f"{name} is compressed, and cannot be mapped; load it without "
                              "mapped=True")
        self.file.seek(member.start)
        source = Source(self.file, name, member.info.file_size)
        form = read_header(source)
        source.require(form.nbytes, "its elements")
        return form, member.start + member.info.file_size - (source.left or 0)
