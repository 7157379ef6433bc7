"""The .npy format: its header, written by NumPy and read by a grammar of the three entries that it
may have.

NumPy reads it with Python's own parser, which fails at deep nesting and is slow.
"""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np

from ..errors import FormatError
from ..support.dtypes import ELEMENT_TYPES, SUPPORTED, as_dtype
from ..support.types import Array, DType
from .streams import ElementFormat, Source, quoted

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
