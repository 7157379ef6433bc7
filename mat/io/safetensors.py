"""The .safetensors format: eight bytes of length, a header in JSON, elements. Files are written as
the library safetensors writes them.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import NamedTuple, TypeGuard

from ..errors import DTypeError, FormatError
from ..support.dtypes import as_dtype
from ..support.types import Array, DType, Keywords
from .streams import ElementFormat, Source, quoted

# dtypes by code, in the reverse of the order in which tensors are stored in a file
NAMES = {"BOOL": "bool", "U8": "uint8", "I8": "int8", "F8_E5M2": "float8_e5m2",
         "F8_E4M3": "float8_e4m3fn", "I16": "int16", "U16": "uint16",
         "F16": "float16", "BF16": "bfloat16",
         "I32": "int32", "U32": "uint32", "F32": "float32", "C64": "complex64", "F64": "float64",
         "I64": "int64", "U64": "uint64"}
LONGEST = 100_000_000  # bytes of a header that the library safetensors reads
_CODES = {dtype: (rank, code) for rank, (code, dtype) in enumerate(NAMES.items())}
METADATA = "__metadata__"


class Part(NamedTuple):
    """A tensor in a file: its name, its format, and where it begins after the header."""

    name: str
    form: ElementFormat
    start: int


# Writing


def check(dtypes: Mapping[str, DType], metadata: Mapping[str, str]) -> None:
    """Raise `DTypeError` or `FormatError` for dtypes, names and metadata that the format lacks."""
    for name, dtype in dtypes.items():
        if dtype.name not in _CODES:
            raise DTypeError(f"{name!r} is of dtype {dtype}, which .safetensors does not have; "
                             ".npz does")
    if METADATA in dtypes:
        raise FormatError(f"{METADATA!r} is no name for a Mat in a .safetensors file")
    for key, value in metadata.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise DTypeError(f"metadata has strings for keys and values, got {key!r}: {value!r}")
    try:
        "".join((*dtypes, *metadata, *metadata.values())).encode()
    except UnicodeEncodeError as error:
        raise FormatError(f"a name or metadata cannot be encoded in UTF-8: {error}") from None


def header(arrays: Mapping[str, Array], metadata: Mapping[str, str]) -> tuple[bytes, list[Array]]:
    """Return the header, and the arrays in the order of their elements, widest dtype first."""
    names = sorted(arrays, key=lambda name: (-_CODES[arrays[name].dtype.name][0], name.encode()))
    entries: dict[str, object] = {METADATA: dict(metadata)} if metadata else {}
    at = 0
    for name in names:
        a = arrays[name]
        entries[name] = {"dtype": _CODES[a.dtype.name][1], "shape": a.shape,
                         "data_offsets": (at, at + a.nbytes)}
        at += a.nbytes
    text = json.dumps(entries, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text, [arrays[name] for name in names]


# Reading


def read_header(source: Source) -> tuple[list[Part], dict[str, str]]:
    """Return the tensors of a header, in order and without gaps, and the metadata."""
    length = int.from_bytes(source.take(8, "its header"), "little")
    if length > LONGEST:
        raise FormatError(f"{source.name} is neither .npz nor .safetensors, or claims a header of "
                          f"{length} bytes")
    entries = _parsed(source.take(length, "its header"), source.name)
    metadata = entries.pop(METADATA, {})
    if (not isinstance(metadata, dict)
            or not all(isinstance(value, str) for value in metadata.values())):
        raise FormatError(f"{source.name} has metadata that are not strings")
    found = sorted((_part(name, entry, source.name) for name, entry in entries.items()),
                   key=lambda part: (part.start, part.form.nbytes))
    at = 0
    for part in found:
        if part.start != at:
            raise FormatError(f"{source.name}: the elements of {quoted(part.name)} begin at "
                              f"{part.start}, not at {at}, where the previous ones end")
        at += part.form.nbytes
    source.require(at, "its elements")
    return found, metadata


def _parsed(text: bytes, name: str) -> Keywords:
    try:
        entries = json.loads(text.decode(), object_pairs_hook=_unique, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{name} is neither .npz nor .safetensors, or has a damaged header: "
                          f"{error}") from None
    if not isinstance(entries, dict):
        raise FormatError(f"{name} has a header that names no tensors")
    return entries


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return the pairs as a dict; raise `ValueError` if a name occurs twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")


def _part(name: str, entry: object, file: str) -> Part:
    what = f"{quoted(name)} in {file}"
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise FormatError(f"{what} does not have exactly a dtype, a shape and data_offsets")
    code, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(code, str) or code not in NAMES:
        raise FormatError(f"{what} has elements of dtype {quoted(str(code))}; a Mat has "
                          f"{', '.join(NAMES)}")
    if not _is_lengths(shape) or not _is_lengths(offsets) or len(offsets) != 2:
        raise FormatError(f"{what} has a shape or offsets that are not lists of lengths")
    form = ElementFormat(tuple(shape), as_dtype(NAMES[code])).check(what)
    if offsets[1] - offsets[0] != form.nbytes:
        raise FormatError(f"{what} has the shape {form.shape}, which takes {form.nbytes} bytes, "
                          f"not those from {offsets[0]} to {offsets[1]}")
    return Part(name, form, offsets[0])


def _is_lengths(items: object) -> TypeGuard[list[int]]:
    return isinstance(items, list) and all(type(n) is int and n >= 0 for n in items)
