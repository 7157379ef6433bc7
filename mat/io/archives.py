"""Files of several Mats: `save_all` and `load_all` for .npz and .safetensors; and `load`, also for
.npy files.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import cast

from ..errors import DTypeError, FormatError
from ..matrix.creation import adopted
from ..matrix.mat import Mat
from ..matrix.with_facets import with_facets
from ..support.types import Bytes, File
from . import npy, safetensors, streams
from .api import check_flag, check_mat, expect, write_elements
from .memmap import mapping, open_memmap, over_file

FORMATS = ("npz", "safetensors")


class Mats(dict[str, Mat]):
    """Mats by name, and ``metadata``: strings by name, stored in .safetensors files."""

    metadata: dict[str, str]

    def __init__(self) -> None:
        super().__init__()
        self.metadata = {}


class NpzFile(Mapping[str, Mat]):
    """The Mats of a .npz file, each read when it is asked for, as NumPy's `NpzFile` has arrays.

    Entries of other things than numbers are errors only where they are asked for. ``files`` are the
    names; `close`, or the end of a ``with`` block, closes the file.
    """

    def __init__(self, source: streams.Source, pages: Bytes | None,
                 progress: streams.Callback | None, opened: ExitStack) -> None:
        self._archive = npy.Archive(source.seekable(), source.name, None)
        self._members = {m.name: m for m in self._archive.members}
        self._pages, self._progress = pages, progress
        self._opened: ExitStack | None = opened
        self._lock = threading.Lock()  # of the position in the file
        self.files: list[str] = list(self._members)

    def __getitem__(self, key: str) -> Mat:
        member = self._members.get(key) or self._members[key.removesuffix(npy.SUFFIX)]
        with self._lock:
            if self._opened is None:
                raise FormatError(f"{self._archive.name} is closed; take Mats from it before, or "
                                  "mat.load_all(file) takes all")
            if self._pages is not None:
                return _mapped(self._archive, member, self._pages)
            counter = streams.Progress(self._progress)
            counter.expect(member.info.file_size)
            return _read(self._archive, member, counter)

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key.removesuffix(npy.SUFFIX) in self._members

    def __repr__(self) -> str:
        return f"<NpzFile {self._archive.name}: {', '.join(self.files)}>"

    def __enter__(self) -> NpzFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; Mats that were taken from it stay."""
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()

    def __del__(self) -> None:
        if getattr(self, "_opened", None) is not None:
            self.close()


# NumPy has the parameter `allow_pickle`. The annotated result is that of .npy files: with a union
# no checker would accept `mat.load("x.npy").sum()`, and `load_all` has the type of archives.
def load(file: File, mmap_mode: str | None = None,
         allow_pickle: bool = False, fix_imports: bool = True,  # noqa: ARG001
         encoding: str = "ASCII", *, max_header_size: int = 10000,  # noqa: ARG001
         mapped: bool = False,
         progress: streams.Callback | None = None) -> Mat:  # NumPy's parameters
    """Return a Mat with the elements of a .npy file, or the Mats of a .npz file by name.

    Parameters
    ----------
    file : path or file object
        A path, or an object with a method ``read``, whose position is then after the elements.
    mmap_mode : {"r", "r+", "c"}, optional
        ``"r"`` is NumPy's way to say ``mapped=True``; the others are those of `open_memmap`.
    allow_pickle, fix_imports, encoding, max_header_size
        Have no effect: pickles are never read.
    mapped : bool
        Map the file, which has to be on disk, into memory: the Mat is read-only, takes no memory of
        its own, and elements are read when they are accessed.
    progress : callable or bool, optional
        Called as ``progress(done, total)`` with numbers of bytes, once for each chunk; True shows a
        bar.

    Returns
    -------
    Mat or NpzFile
        Of the file's shape and dtype; for a .npz file, a mapping of names to Mats, which are read
        when they are asked for, with ``files`` and ``close()``, and for ``with``.

    Raises
    ------
    FormatError
        If the file is cut off, damaged, or holds other things than numbers; pickles are never read.

    Examples
    --------
    >>> import os, tempfile, mat
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "x.npy")
    ...     mat.save(path, mat.arange(3.0))
    ...     x = mat.load(path, mapped=True)
    >>> x
    <Mat 3 A [0. 1. 2.]>
    >>> x.fill_(1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    mat.errors.DirectionError: <Mat 3> is read-only: it takes direction 'input' only, ...
    """
    check_flag(mapped)
    if mmap_mode not in (None, "r", "r+", "c"):
        raise FormatError(f"mmap_mode is 'r', 'r+', 'c' or None, got {mmap_mode!r}; open_memmap "
                          "makes new files")
    if mmap_mode not in (None, "r"):
        return open_memmap(file, mmap_mode)
    with ExitStack() as stack:
        source, pages = _opened(stack, file, mapped or mmap_mode == "r")
        if source.peek(8)[:6] != npy.MAGIC and _is_archive(source):
            # as in NumPy, `mmap_mode` has no effect on archives
            found = NpzFile(source, pages if mapped else None, progress, stack)
            found._opened = stack.pop_all()  # from here on, the file is closed with it
            return cast(Mat, found)
        form = npy.read_header(source)
        if pages is not None:
            return over_file(streams.mapped_array(pages, source.file.tell(), form, source.name))
        expect(source, form.nbytes, progress)
        return adopted(streams.read_array(source, form))


def _opened(stack: ExitStack, file: File, mapped: bool) -> tuple[streams.Source, Bytes | None]:
    """Open `file` in `stack`; return the source, and its pages if it is mapped."""
    if mapped:
        return stack.enter_context(mapping(file))
    return stack.enter_context(streams.reading(file)), None


def _is_archive(source: streams.Source) -> bool:
    return source.peek(8)[:4] in (b"PK\x03\x04", b"PK\x05\x06")


# `format` is the name that users expect
def save_all(file: File, mats: Mapping[str, Mat], *, format: str | None = None,  # noqa: A002
             metadata: Mapping[str, str] | None = None, compressed: bool = False,
             progress: streams.Callback | None = None) -> None:
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
    progress : callable or bool, optional
        Called as ``progress(done, total)`` with numbers of bytes, once for each chunk; True shows a
        bar.

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
    kind, counter = _format(file, format), streams.Progress(progress, "save")
    if not (metadata is None or isinstance(metadata, Mapping)):
        raise DTypeError(f"metadata are strings by name, got {metadata!r}")
    strings = dict(metadata or {})
    if kind == "npz":
        npy.check_names(mats)
        if strings:
            raise FormatError("a .npz file holds no metadata; .safetensors does")
    else:
        safetensors.check({name: x.dtype for name, x in mats.items()}, strings)
        if compressed:
            raise FormatError("a .safetensors file is never compressed; .npz can be")
    accesses = with_facets(*((x, "array", "input") for x in mats.values()))
    with accesses as found, streams.writing(file) as out:
        arrays = dict(zip(mats, found, strict=True))
        if kind == "npz":
            npy.write_archive(out, arrays, compressed, counter)
        else:
            head, ordered = safetensors.header(arrays, strings)
            out.write(head)
            write_elements(out, counter, *ordered)


def load_all(file: File, *, mapped: bool = False, max_bytes: int | None = None,
             progress: streams.Callback | None = None) -> Mats:
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
    progress : callable or bool, optional
        Called as ``progress(done, total)`` with numbers of bytes, once for each chunk; True shows a
        bar.

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
    with ExitStack() as stack:
        source, pages = _opened(stack, file, mapped)
        found = Mats()
        if _is_archive(source):
            _load_npz(found, source, pages, max_bytes, streams.Progress(progress))
        elif source.peek(8)[:6] == npy.MAGIC:
            raise FormatError(f"{source.name} is a .npy file: mat.load reads it")
        else:
            _load_safetensors(found, source, pages, progress)
        return found


def _load_npz(found: Mats, source: streams.Source, pages: Bytes | None, most: int | None,
              counter: streams.Progress) -> None:
    archive = npy.Archive(source.seekable(), source.name, most)
    if pages is not None:
        for member in archive.members:
            found[member.name] = _mapped(archive, member, pages)
        return
    counter.expect(sum(member.info.file_size for member in archive.members))
    for member in archive.members:
        found[member.name] = _read(archive, member, counter)


def _mapped(archive: npy.Archive, member: npy.Member, pages: Bytes) -> Mat:
    form, start = archive.locate(member)
    return over_file(streams.mapped_array(pages, start, form,
                                  f"{streams.quoted(member.name)} in {archive.name}"))


def _read(archive: npy.Archive, member: npy.Member, counter: streams.Progress) -> Mat:
    with archive.opened(member, counter) as inner:
        form = npy.read_header(inner)
        inner.progress.add(member.info.file_size - form.nbytes)
        return adopted(streams.read_array(inner, form))


def _load_safetensors(found: Mats, source: streams.Source, pages: Bytes | None,
                      progress: streams.Callback | None) -> None:
    parts, found.metadata = safetensors.read_header(source)
    nbytes = sum(part.form.nbytes for part in parts)
    if source.left is not None and source.left > nbytes:
        raise FormatError(f"{source.name} has {source.left - nbytes} bytes after its elements")
    if pages is not None:
        start = source.file.tell()
        for part in parts:
            title = f"{streams.quoted(part.name)} in {source.name}"
            found[part.name] = over_file(streams.mapped_array(
                pages, start + part.start, part.form, title))
        return
    expect(source, nbytes, progress)
    for part in parts:
        found[part.name] = adopted(streams.read_array(source, part.form))


def _check_mats(mats: object) -> None:
    if not isinstance(mats, Mapping):
        raise DTypeError("save_all requires Mats by name, as in {'w': w}, got "
                         f"{type(mats).__name__}")
    for name, x in mats.items():
        if not isinstance(name, str):
            raise DTypeError(f"the name of a Mat in a file is a string, got {name!r}")
        check_mat(x, f"save_all, for {name!r},")


def _format(file: File, requested: str | None) -> str:
    if requested is not None:
        if requested not in FORMATS:
            raise FormatError(f"format is one of {', '.join(map(repr, FORMATS))}, got "
                              f"{requested!r}")
        return requested
    name: object = file if streams.is_path(file) else getattr(file, "name", None)
    if isinstance(name, str | bytes | os.PathLike):
        suffix = os.path.splitext(os.fsdecode(name))[1].lower()[1:]
        if suffix in FORMATS:
            return suffix
    if streams.is_path(file):
        raise FormatError(f"{streams.title(file)} ends in none of .npz and .safetensors; say "
                          "format='npz', or 'safetensors'")
    return "npz"
