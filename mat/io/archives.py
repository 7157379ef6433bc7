"""Files of several Mats: `save_all` and `load_all` for .npz and .safetensors."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack

from ..errors import DTypeError, FormatError
from ..matrix.creation import adopted
from ..matrix.mat import Mat
from ..matrix.with_facets import with_facets
from ..support.types import Array, Bytes, File
from . import npy, npz, safetensors
from .api import check_flag, check_mat, expect
from .elements import mapped_array, pieces, read_array
from .memmap import mapping
from .streams import Callback, Progress, Source, Stream, is_path, quoted, reading, title, writing

FORMATS = ("npz", "safetensors")


class Mats(dict[str, Mat]):
    """Mats by name, and ``metadata``: strings by name, which .safetensors files store with them."""

    metadata: dict[str, str]

    def __init__(self) -> None:
        super().__init__()
        self.metadata = {}


# `format` is the name that users expect
def save_all(file: File, mats: Mapping[str, Mat], *, format: str | None = None,  # noqa: A002
             metadata: Mapping[str, str] | None = None, compressed: bool = False,
             progress: Callback | None = None) -> None:
    """Write Mats by their names to a .npz or a .safetensors file.

    All Mats are accessed until all are written, so the file has them as they were at one time.

    Parameters
    ----------
    file : path or file object
        As for `save`.
    mats : mapping of str to Mat
        The Mats by their names.
    format : {"npz", "safetensors"}, optional
        The suffix of the path by default; ``"npz"`` for a file object without a name.
    metadata : mapping of str to str, optional
        Strings to store with the Mats; only in .safetensors files.
    compressed : bool
        Compress the arrays; only in .npz files.
    progress : callable, optional
        Called as ``progress(done, total)`` with numbers of bytes, once for each chunk.

    Raises
    ------
    DTypeError
        For values that are no Mats, names that are no strings, and dtypes that the format does not
        have (complex128 in .safetensors).
    FormatError
        For another suffix, and for options and names that the format does not have.

    Examples
    --------
    >>> import io, mat
    >>> file = io.BytesIO()
    >>> mats = {"weights": mat.ones(2, 2), "bias": mat.zeros(2)}
    >>> mat.save_all(file, mats, format="safetensors", metadata={"step": "7"})
    >>> found = mat.load_all(io.BytesIO(file.getvalue()))
    >>> sorted(found), found.metadata
    (['bias', 'weights'], {'step': '7'})
    """
    _check_mats(mats)
    check_flag(compressed)
    kind, counter = _format(file, format), Progress(progress)
    strings = {} if metadata is None else _checked_metadata(metadata)
    if kind == "npz":
        npz.check(mats)
        if strings:
            raise FormatError("a .npz file holds no metadata; .safetensors does")
    else:
        safetensors.check({name: x.dtype for name, x in mats.items()}, strings)
        if compressed:
            raise FormatError("a .safetensors file is never compressed; .npz can be")
    accesses = with_facets(*((x, "array", "input") for x in mats.values()))
    with accesses as found, writing(file) as out:
        arrays = dict(zip(mats, found, strict=True))
        if kind == "npz":
            npz.write(out, arrays, compressed, counter)
        else:
            _write_safetensors(out, arrays, strings, counter)


def _write_safetensors(out: Stream, arrays: Mapping[str, Array], metadata: Mapping[str, str],
                       counter: Progress) -> None:
    head, ordered = safetensors.header(arrays, metadata)
    out.write(head)
    counter.expect(sum(a.nbytes for a in ordered))
    for a in ordered:
        for piece in pieces(a):
            out.write(piece)
            counter.add(piece.size)


def load_all(file: File, *, mapped: bool = False, max_bytes: int | None = None,
             progress: Callback | None = None) -> Mats:
    """Return the Mats of a .npz or .safetensors file by their names.

    The format is recognised by the first bytes.

    Parameters
    ----------
    file : path or file object
        As for `load`.
    mapped : bool
        As for `load`. Only arrays that are not compressed, and begin at a multiple of their
        alignment (as in all files that `save_all` writes), can be mapped.
    max_bytes : int, optional
        The limit to which compressed arrays may grow, in bytes; 100 times the file's size or
        64 MiB, whichever is larger, if None.
    progress : callable, optional
        Called as ``progress(done, total)`` with numbers of bytes, once for each chunk.

    Returns
    -------
    dict of str to Mat
        With an attribute ``metadata``, the strings that a .safetensors file stores with them.

    Raises
    ------
    FormatError
        If the file is cut off, damaged, holds other things than arrays of numbers, or would grow
        to more than `max_bytes`.

    Examples
    --------
    >>> import io, mat
    >>> file = io.BytesIO()
    >>> mat.save_all(file, {"x": mat.arange(3.0)})
    >>> mat.load_all(io.BytesIO(file.getvalue()))
    {'x': <Mat 3 A [0. 1. 2.]>}
    """
    check_flag(mapped)
    if max_bytes is not None and (isinstance(max_bytes, bool) or not isinstance(max_bytes, int)):
        raise DTypeError(f"max_bytes is a number of bytes, or None, got {max_bytes!r}")
    found = Mats()
    with ExitStack() as stack:
        source, pages = (stack.enter_context(mapping(file)) if mapped
                         else (stack.enter_context(reading(file)), None))
        start = source.peek(8)
        if start[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
            _load_npz(found, source, pages, max_bytes, Progress(progress))
        elif start[:6] == npy.MAGIC:
            raise FormatError(f"{source.name} is a .npy file: mat.load reads it")
        else:
            _load_safetensors(found, source, pages, progress)
    return found


def _load_npz(found: Mats, source: Source, pages: Bytes | None, most: int | None,
              counter: Progress) -> None:
    archive = npz.Archive(source.seekable(), source.name, most)
    if pages is not None:
        for member in archive.members:
            form, start = archive.locate(member)
            found[member.name] = adopted(mapped_array(
                pages, start, form, f"{quoted(member.name)} in {source.name}"))
        return
    counter.expect(sum(member.info.file_size for member in archive.members))
    for member in archive.members:
        with archive.opened(member, counter) as inner:
            form = npy.read_header(inner)
            inner.progress.add(member.info.file_size - form.nbytes)
            found[member.name] = adopted(read_array(inner, form))


def _load_safetensors(found: Mats, source: Source, pages: Bytes | None,
                      progress: Callback | None) -> None:
    parts, found.metadata = safetensors.read_header(source)
    nbytes = sum(part.form.nbytes for part in parts)
    if source.left is not None and source.left > nbytes:
        raise FormatError(f"{source.name} has {source.left - nbytes} bytes after its elements")
    if pages is not None:
        start = source.file.tell()
        for part in parts:
            found[part.name] = adopted(mapped_array(
                pages, start + part.start, part.form, f"{quoted(part.name)} in {source.name}"))
        return
    expect(source, nbytes, progress)
    for part in parts:
        found[part.name] = adopted(read_array(source, part.form))


def _check_mats(mats: object) -> None:
    if not isinstance(mats, Mapping):
        raise DTypeError("save_all wants Mats by name, as in {'w': w}, got "
                         f"{type(mats).__name__}")
    for name, x in mats.items():
        if not isinstance(name, str):
            raise DTypeError(f"the name of a Mat in a file is a string, got {name!r}")
        check_mat(x, f"save_all, for {name!r},")


def _checked_metadata(metadata: object) -> dict[str, str]:
    if not isinstance(metadata, Mapping):
        raise DTypeError(f"metadata are strings by name, got {metadata!r}")
    return dict(metadata)


def _format(file: File, requested: str | None) -> str:
    """Return which of `FORMATS` to write."""
    if requested is not None:
        if requested not in FORMATS:
            raise FormatError(f"format is one of {', '.join(map(repr, FORMATS))}, got "
                              f"{requested!r}")
        return requested
    name: object = file if is_path(file) else getattr(file, "name", None)
    if isinstance(name, str | bytes | os.PathLike):
        suffix = os.path.splitext(os.fsdecode(name))[1].lower()[1:]
        if suffix in FORMATS:
            return suffix
    if is_path(file):
        raise FormatError(f"{title(file)} ends in none of .npz and .safetensors; say format='npz', "
                          "or 'safetensors'")
    return "npz"
