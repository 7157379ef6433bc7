"""`save`, `load`, `save_all` and `load_all`, and the methods `load_`, `write` and `read_` of a
Mat.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from ..errors import DTypeError, FormatError
from ..matrix.creation import adopted
from ..matrix.mat import Mat
from ..matrix.methods import bind
from ..matrix.with_facets import with_facets
from . import npy, npz, safetensors
from .elements import Array, ElementFormat, new, pieces, receive, within
from .memmap import mapping
from .streams import Progress, Source, Tell, is_path, reading, shown, title, writing

FORMATS = ("npz", "safetensors")


class Mats(dict[str, Mat]):
    """Mats by name, and ``metadata``: texts by name, which .safetensors files can hold beside
    them.
    """

    metadata: dict[str, str]

    def __init__(self) -> None:
        super().__init__()
        self.metadata = {}


# One Mat: .npy


def save(file: Any, x: Mat, *, progress: Tell | None = None) -> None:
    """Write `x` to a .npy file, as ``numpy.save`` does; a path is taken as it is, without a suffix
    added.

    `file` is a path, whose file is replaced when all is written and else stays as it was, or an
    object with a method ``write`` for bytes. ``progress(done, total)`` is called with counts of
    bytes now and then. A strided Mat is written in chunks, without a packed copy. A bfloat16 file
    reads back as bfloat16 here; NumPy, which has no name for it, gives two bytes for each element,
    to be seen with ``.view(ml_dtypes.bfloat16)``. `DTypeError` for what is no Mat.

    >>> import io, mat
    >>> file = io.BytesIO()
    >>> mat.save(file, mat.arange(3))
    >>> mat.load(io.BytesIO(file.getvalue()))
    <Mat 3 A [0. 1. 2.]>
    """
    _check_mat(x, "save")
    told = Progress(progress)
    with x.facet("array", "input") as a, writing(file) as out:
        head, a = npy.header(a)
        out.write(head)
        _put(out, a, told)


def load(file: Any, *, mapped: bool = False, progress: Tell | None = None) -> Mat:
    """A Mat with what a .npy file holds, in the file's dtype and order of axes.

    `file` is a path, or an object with a method ``read``, which is left behind the elements. With
    ``mapped`` it is a file on disk, and the Mat sees its pages: it is read-only, takes no memory of
    its own, and elements are read when they are wanted. `FormatError` for a file that is cut off,
    damaged, or holds no numbers; pickles are never read. ``progress(done, total)`` is called with
    counts of bytes now and then.

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
            form = npy.form(source)
            return adopted(within(pages, source.file.tell(), form, source.name))
    with reading(file) as source:
        form = npy.form(source)
        _expect(source, form.nbytes, progress)
        return adopted(new(source, form))


def _load_(self: Mat, file: Any, *, progress: Tell | None = None) -> Mat:
    """Overwrite the visible elements with those of a .npy file, which has self's shape and dtype;
    return self.

    `FormatError` for another shape, and for a file that is cut off or damaged; `DTypeError` for
    another dtype; then self is as it was. `file` and `progress` are as in `mat.load`.

    >>> import io, mat
    >>> file = io.BytesIO()
    >>> mat.save(file, mat.arange(4).reshape(2, 2))
    >>> x = mat.zeros(3, 3)
    >>> _ = file.seek(0), x[1:, 1:].load_(file)
    >>> x
    <Mat 3x3 A [[0. 0. 0.] [0. 0. 1.] [0. 2. 3.]]>
    """
    with reading(file) as source:
        form = npy.form(source)
        if form.dtype != self.dtype:
            raise DTypeError(f"{source.name} holds {form.dtype}, {self.label()} {self.dtype}; "
                             f"mat.load(file).astype({self.dtype.name!r}) converts")
        if form.shape != self.shape:
            raise FormatError(f"{source.name} holds the shape {form.shape}, not {self.shape} as "
                              f"{self.label()}")
        _overwrite(self, source, form, progress)
    return self


# Raw elements


def _write(self: Mat, file: Any, *, progress: Tell | None = None) -> None:
    """Write the visible elements in C order, and nothing else, to a path or an object with a method
    ``write``.

    >>> import io, mat
    >>> file = io.BytesIO()
    >>> mat.arange(6, dtype="int8").reshape(2, 3).T.write(file)
    >>> list(file.getvalue())
    [0, 3, 1, 4, 2, 5]
    """
    told = Progress(progress)
    with self.facet("array", "input") as a, writing(file) as out:
        _put(out, a, told)


def _read_(self: Mat, file: Any, *, progress: Tell | None = None) -> Mat:
    """Overwrite the visible elements, in C order, with the bytes of a file that ``write`` wrote;
    return self.

    An object with a method ``read`` is left behind them; the file of a path holds them and nothing
    else. `FormatError` if there are too few bytes; then self is as it was.

    >>> import io, mat
    >>> mat.empty(2, 2, dtype="uint8").read_(io.BytesIO(b"abcdef")).tolist()
    [[97, 98], [99, 100]]
    """
    form = ElementFormat(self.shape, self.dtype)
    with reading(file) as source:
        if is_path(file) and source.left is not None and source.left > form.nbytes:
            raise FormatError(f"{source.name} holds {source.left} bytes, not the {form.nbytes} of "
                              f"{self.label()}; to read some "
                              f"of them, give the open file")
        _overwrite(self, source, form, progress)
    return self


# Several Mats: .npz and .safetensors


# what else to call it
def save_all(file: Any, mats: Mapping[str, Mat], *, format: str | None = None,  # noqa: A002
             metadata: Mapping[str, str] | None = None, compressed: bool = False,
             progress: Tell | None = None) -> None:
    """Write Mats by their names to a .npz or a .safetensors file, which the suffix of the path
    decides, or `format`.

    A file object without such a name gets a .npz. `metadata`, texts by name, is for .safetensors,
    ``compressed`` for .npz. All Mats are looked at until all are written, so the file has them as
    they were at one time. Paths, file objects and ``progress`` are as in `save`. `DTypeError` for
    values that are no Mats, names that are no texts, and dtypes that the format does not know
    (complex128 in .safetensors), `FormatError` for another suffix.

    >>> import io, mat
    >>> file = io.BytesIO()
    >>> mat.save_all(file, {"weights": mat.ones(2, 2), "bias": mat.zeros(2)}, format="safetensors", metadata={"step": "7"})
    >>> found = mat.load_all(io.BytesIO(file.getvalue()))
    >>> sorted(found), found.metadata
    (['bias', 'weights'], {'step': '7'})
    """
    _check_mats(mats)
    _check_flag(compressed)
    kind, told = _kind(file, format), Progress(progress)
    texts = {} if metadata is None else _checked_metadata(metadata)
    if kind == "npz":
        npz.check(mats)
        if texts:
            raise FormatError("a .npz file holds no metadata; .safetensors does")
    else:
        safetensors.check({name: x.dtype for name, x in mats.items()}, texts)
        if compressed:
            raise FormatError("a .safetensors file is never compressed; .npz can be")
    with with_facets(*((x, "array", "input")
                       for x in mats.values())) as arrays, writing(file) as out:
        named = dict(zip(mats, arrays, strict=True))
        if kind == "npz":
            npz.write(out, named, compressed, told)
        else:
            _write_safetensors(out, named, texts, told)


def _write_safetensors(out: Any, arrays: Mapping[str, Array], metadata: Mapping[str, str],
                       told: Progress) -> None:
    head, ordered = safetensors.header(arrays, metadata)
    out.write(head)
    told.expect(sum(a.nbytes for a in ordered))
    for a in ordered:
        for piece in pieces(a):
            out.write(piece)
            told.add(piece.size)


def load_all(file: Any, *, mapped: bool = False, max_bytes: int | None = None,
             progress: Tell | None = None) -> Mats:
    """The Mats of a .npz or .safetensors file by their names, in a dict whose ``metadata`` has the
    texts beside them.

    What the file is, is seen from its bytes. `file`, ``mapped`` and ``progress`` are as in `load`;
    only what is stored as it is, and begins at a multiple of its alignment (as in all files that
    `save_all` writes, unless compressed), can be mapped. ``max_bytes``: to how much compressed
    arrays may grow; 100 times the file's size or 64 MiB, whichever is more, if None. `FormatError`
    for files that are cut off, damaged, hold other things than arrays of numbers, or would grow to
    more.

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
        source, pages = stack.enter_context(mapping(file)) if mapped else (stack.enter_context(reading(file)), None)
        start = source.peek(8)
        if start[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
            _load_npz(found, source, pages, max_bytes, Progress(progress))
        elif start[:6] == npy.MAGIC:
            raise FormatError(f"{source.name} is a .npy file: mat.load reads it")
        else:
            _load_safetensors(found, source, pages, progress)
    return found


def _load_npz(found: Mats, source: Source, pages: Any, most: int | None, told: Progress) -> None:
    archive = npz.Archive(source.seekable(), source.name, most)
    if pages is not None:
        for member in archive.members:
            form, start = archive.placed(member)
            found[member.name] = adopted(within(pages, start, form, f"{shown(member.name)} in "
                                                                    f"{source.name}"))
        return
    told.expect(sum(member.info.file_size for member in archive.members))
    for member in archive.members:
        with archive.opened(member, told) as inner:
            form = npy.form(inner)
            inner.progress.add(member.info.file_size - form.nbytes)
            found[member.name] = adopted(new(inner, form))


def _load_safetensors(found: Mats, source: Source, pages: Any, progress: Tell | None) -> None:
    ahead, found.metadata = safetensors.parts(source)
    nbytes = sum(part.form.nbytes for part in ahead)
    if source.left is not None and source.left > nbytes:
        raise FormatError(f"{source.name} has {source.left - nbytes} bytes after its elements")
    if pages is not None:
        start = source.file.tell()
        for part in ahead:
            found[part.name] = adopted(within(pages, start + part.start, part.form,
                                              f"{shown(part.name)} in {source.name}"))
        return
    _expect(source, nbytes, progress)
    for part in ahead:
        found[part.name] = adopted(new(source, part.form))


# What they share


def _put(out: Any, a: Array, told: Progress) -> None:
    told.expect(a.nbytes)
    for piece in pieces(a):
        out.write(piece)
        told.add(piece.size)


def _expect(source: Source, nbytes: int, progress: Tell | None) -> None:
    source.progress = Progress(progress)
    source.require(nbytes, "its elements")
    source.progress.expect(nbytes)


def _overwrite(x: Mat, source: Source, form: ElementFormat, progress: Tell | None) -> None:
    """Put the elements that come next into `x`; where they might be too few, only when all are
    there.
    """
    access = x.facet("array", "output")
    _expect(source, form.nbytes, progress)
    if source.left is None:
        whole = new(source, form)
        with access as a:
            a[...] = whole
    else:
        with access as a:
            receive(source, form, a)


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
            raise DTypeError(f"the name of a Mat in a file is a text, got {name!r}")
        _check_mat(x, f"save_all, for {name!r},")


def _check_flag(value: object) -> None:
    if not isinstance(value, bool):
        raise DTypeError(f"mapped and compressed are True or False, got {value!r}")


def _checked_metadata(metadata: object) -> dict[str, str]:
    if not isinstance(metadata, Mapping):
        raise DTypeError(f"metadata are texts by name, got {metadata!r}")
    return dict(metadata)


def _kind(file: Any, wanted: str | None) -> str:
    """Which of `FORMATS` to write."""
    if wanted is not None:
        if wanted not in FORMATS:
            raise FormatError(f"format is one of {', '.join(map(repr, FORMATS))}, got {wanted!r}")
        return wanted
    name = file if is_path(file) else getattr(file, "name", None)
    suffix = os.path.splitext(os.fsdecode(name))[1].lower() if isinstance(name, str | bytes | os.PathLike) else ""
    if suffix[1:] in FORMATS:
        return suffix[1:]
    if is_path(file):
        raise FormatError(f"{title(file)} ends in none of .npz and .safetensors; say format='npz', "
                          "or 'safetensors'")
    return "npz"


for _method, _name in ((_load_, "load_"), (_write, "write"), (_read_, "read_")):
    _method.__name__ = _name
    _method.__qualname__ = f"Mat.{_name}"
    bind(_name, _method)
