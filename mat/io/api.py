"""The functions `save`, `load`, `save_all` and `load_all`, and the methods `load_`, `write` and
`read_` of `Mat`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack

from ..errors import DTypeError, FormatError
from ..matrix.creation import adopted
from ..matrix.mat import Mat
from ..matrix.methods import bind
from ..matrix.with_facets import with_facets
from ..ops.operation import named
from ..support.types import Array, Bytes, File
from . import npy, npz, safetensors
from .elements import ElementFormat, mapped_array, pieces, read_array, read_into
from .memmap import mapping
from .streams import Callback, Progress, Source, Stream, is_path, quoted, reading, title, writing

FORMATS = ("npz", "safetensors")


class Mats(dict[str, Mat]):
    """Mats by name, and ``metadata``: strings by name, which .safetensors files store with them."""

    metadata: dict[str, str]

    def __init__(self) -> None:
        super().__init__()
        self.metadata = {}


# One Mat: .npy


def save(file: File, x: Mat, *, progress: Callback | None = None) -> None:
    """Write `x` to a .npy file, as ``numpy.save`` does.

    Parameters
    ----------
    file : path or file object
        A path, to which no suffix is added; its file is replaced when everything is written, and
        otherwise unchanged. Or an object with a method ``write`` for bytes.
    x : Mat
        Of any dtype. A strided Mat is written in chunks, without a packed copy.
    progress : callable, optional
        Called as ``progress(done, total)`` with numbers of bytes, once for each chunk.

    Raises
    ------
    DTypeError
        If `x` is no Mat.

    Notes
    -----
    A bfloat16 file reads back as bfloat16 here; NumPy, which has no name for that dtype, returns
    two bytes for each element, to be viewed with ``.view(ml_dtypes.bfloat16)``.

    Examples
    --------
    >>> import io, mat
    >>> file = io.BytesIO()
    >>> mat.save(file, mat.arange(3))
    >>> mat.load(io.BytesIO(file.getvalue()))
    <Mat 3 A [0. 1. 2.]>
    """
    _check_mat(x, "save")
    counter = Progress(progress)
    with x.facet("array", "input") as a, writing(file) as out:
        head, a = npy.header(a)
        out.write(head)
        _write_elements(out, a, counter)


def load(file: File, *, mapped: bool = False, progress: Callback | None = None) -> Mat:
    """Return a Mat with the elements of a .npy file, in its dtype and order of axes.

    Parameters
    ----------
    file : path or file object
        A path, or an object with a method ``read``, whose position is then after the elements.
    mapped : bool
        Map the file, which has to be on disk, into memory: the Mat is read-only, takes no memory of
        its own, and elements are read when they are accessed.
    progress : callable, optional
        Called as ``progress(done, total)`` with numbers of bytes, once for each chunk.

    Returns
    -------
    Mat
        Of the file's shape and dtype.

    Raises
    ------
    FormatError
        If the file is cut off, damaged, or holds other things than numbers; pickles are never read.

    Examples
    --------
    >>> import os, tempfile, mat
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "x.npy")
    ...     mat.save(path, mat.arange(3))
    ...     x = mat.load(path, mapped=True)
    >>> x
    <Mat 3 A [0. 1. 2.]>
    >>> x.fill_(1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    mat.errors.DirectionError: <Mat 3> is read-only: it takes direction 'input' only, ...
    """
    _check_flag(mapped)
    if mapped:
        with mapping(file) as (source, pages):
            form = npy.read_header(source)
            return adopted(mapped_array(pages, source.file.tell(), form, source.name))
    with reading(file) as source:
        form = npy.read_header(source)
        _expect(source, form.nbytes, progress)
        return adopted(read_array(source, form))


def _load_(self: Mat, file: File, *, progress: Callback | None = None) -> Mat:
    """Overwrite the visible elements with those of a .npy file.

    Parameters
    ----------
    file : path or file object
        As for `mat.load`; it has self's shape and dtype.
    progress : callable, optional
        Called as ``progress(done, total)`` with numbers of bytes, once for each chunk.

    Returns
    -------
    Mat
        Self.

    Raises
    ------
    FormatError
        For another shape, and if the file is cut off or damaged; then self is unchanged.
    DTypeError
        For another dtype; then self is unchanged.

    Examples
    --------
    >>> import io, mat
    >>> file = io.BytesIO()
    >>> mat.save(file, mat.arange(4).reshape(2, 2))
    >>> x = mat.zeros(3, 3)
    >>> _ = file.seek(0), x[1:, 1:].load_(file)
    >>> x
    <Mat 3x3 A [[0. 0. 0.] [0. 0. 1.] [0. 2. 3.]]>
    """
    with reading(file) as source:
        form = npy.read_header(source)
        if form.dtype != self.dtype:
            raise DTypeError(f"{source.name} holds {form.dtype}, {self.label()} {self.dtype}; "
                             f"mat.load(file).astype({self.dtype.name!r}) converts")
        if form.shape != self.shape:
            raise FormatError(f"{source.name} holds the shape {form.shape}, not {self.shape} as "
                              f"{self.label()}")
        _overwrite(self, source, form, progress)
    return self


bind("load_", named(_load_, "load_", _load_.__doc__ or ""))


# Raw elements


def _write(self: Mat, file: File, *, progress: Callback | None = None) -> None:
    """Write the visible elements in C order, and nothing else.

    Parameters
    ----------
    file : path or file object
        As for `mat.save`.
    progress : callable, optional
        Called as ``progress(done, total)`` with numbers of bytes, once for each chunk.

    Examples
    --------
    >>> import io, mat
    >>> file = io.BytesIO()
    >>> mat.arange(6, dtype="int8").reshape(2, 3).T.write(file)
    >>> list(file.getvalue())
    [0, 3, 1, 4, 2, 5]
    """
    counter = Progress(progress)
    with self.facet("array", "input") as a, writing(file) as out:
        _write_elements(out, a, counter)


bind("write", named(_write, "write", _write.__doc__ or ""))


def _read_(self: Mat, file: File, *, progress: Callback | None = None) -> Mat:
    """Overwrite the visible elements, in C order, with the bytes of a file that ``write`` wrote.

    Parameters
    ----------
    file : path or file object
        A path, whose file holds exactly these bytes, or an object with a method ``read``, whose
        position is then after them.
    progress : callable, optional
        Called as ``progress(done, total)`` with numbers of bytes, once for each chunk.

    Returns
    -------
    Mat
        Self.

    Raises
    ------
    FormatError
        If there are too few bytes, or too many in the file of a path; then self is unchanged.

    Examples
    --------
    >>> import io, mat
    >>> mat.empty(2, 2, dtype="uint8").read_(io.BytesIO(b"abcdef")).tolist()
    [[97, 98], [99, 100]]
    """
    form = ElementFormat(self.shape, self.dtype)
    with reading(file) as source:
        if is_path(file) and source.left is not None and source.left > form.nbytes:
            raise FormatError(f"{source.name} holds {source.left} bytes, not the {form.nbytes} of "
                              f"{self.label()}; to read some of them, give the open file")
        _overwrite(self, source, form, progress)
    return self


bind("read_", named(_read_, "read_", _read_.__doc__ or ""))


# Several Mats: .npz and .safetensors


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
    _check_flag(compressed)
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
    >>> mat.save_all(file, {"x": mat.arange(3)})
    >>> mat.load_all(io.BytesIO(file.getvalue()))
    {'x': <Mat 3 A [0. 1. 2.]>}
    """
    _check_flag(mapped)
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
    _expect(source, nbytes, progress)
    for part in parts:
        found[part.name] = adopted(read_array(source, part.form))


# Common steps


def _write_elements(out: Stream, a: Array, counter: Progress) -> None:
    counter.expect(a.nbytes)
    for piece in pieces(a):
        out.write(piece)
        counter.add(piece.size)


def _expect(source: Source, nbytes: int, progress: Callback | None) -> None:
    source.progress = Progress(progress)
    source.require(nbytes, "its elements")
    source.progress.expect(nbytes)


def _overwrite(x: Mat, source: Source, form: ElementFormat, progress: Callback | None) -> None:
    """Read the next elements into `x`; if there might be too few, only after all have been read."""
    access = x.facet("array", "output")
    _expect(source, form.nbytes, progress)
    if source.left is None:
        whole = read_array(source, form)
        with access as a:
            a[...] = whole
    else:
        with access as a:
            read_into(source, form, a)


def _check_mat(x: object, name: str) -> None:
    if not isinstance(x, Mat):
        raise DTypeError(f"{name} wants a Mat, got {type(x).__name__}; mat.from_numpy(a) makes one "
                         "of an array without copying")


def _check_mats(mats: object) -> None:
    if not isinstance(mats, Mapping):
        raise DTypeError("save_all wants Mats by name, as in {'w': w}, got "
                         f"{type(mats).__name__}")
    for name, x in mats.items():
        if not isinstance(name, str):
            raise DTypeError(f"the name of a Mat in a file is a string, got {name!r}")
        _check_mat(x, f"save_all, for {name!r},")


def _check_flag(value: object) -> None:
    if not isinstance(value, bool):
        raise DTypeError(f"mapped and compressed are True or False, got {value!r}")


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
