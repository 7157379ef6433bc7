"""Files of one Mat: `save` for .npy, and the methods `load_`, `write` and `read_`."""

from __future__ import annotations

import os

from ..core.direction import OUTPUT
from ..errors import DTypeError, FormatError
from ..matrix.mat import Mat
from ..matrix.methods import method
from ..ops.engine.operands import as_mat
from ..support.types import Array, ArrayLike, File
from . import npy, streams
from .streams import Callback


# NumPy has the parameter `allow_pickle`
def save(file: File, arr: ArrayLike, allow_pickle: bool = False, *,  # noqa: ARG001
         progress: Callback | None = None) -> None:
    """Write a Mat to a .npy file, as ``numpy.save`` does.

    Parameters
    ----------
    file : path or file object
        A path, to which ``.npy`` is added unless it ends so; its file is replaced when everything
        is written, and otherwise unchanged. Or an object with a method ``write`` for bytes.
    arr : Mat or array_like
        Of any dtype. A strided Mat is written in chunks, without a packed copy.
    allow_pickle : bool
        Has no effect: a Mat has no objects that would have to be pickled.
    progress : callable or bool, optional
        Called as ``progress(done, total)`` with numbers of bytes, once for each chunk; True shows a
        bar.

    Raises
    ------
    FormatError
        If the path ends in .npz or .safetensors, for which there are `savez` and `save_all`.
    DTypeError
        If `arr` cannot be a Mat.

    Notes
    -----
    A bfloat16 file reads back as bfloat16 here; NumPy, which has no name for that dtype, returns
    two bytes for each element, to be viewed with ``.view(ml_dtypes.bfloat16)``.

    Examples
    --------
    >>> import io, mat
    >>> file = io.BytesIO()
    >>> mat.save(file, mat.arange(3.0))
    >>> mat.load(io.BytesIO(file.getvalue()))
    <Mat 3 A [0. 1. 2.]>
    """
    x, target, counter = as_mat(arr, "arr"), _with_suffix(file), streams.Progress(progress, "save")
    with x.facet("array", "input") as a, streams.writing(target) as out:
        head, a = npy.header(a)
        out.write(head)
        write_elements(out, counter, a)


def _with_suffix(file: File) -> File:
    """Return the file that `save` writes: a path gets the suffix .npy, as NumPy has it."""
    if not streams.is_path(file):
        return file
    path = os.fspath(file)
    suffix = os.path.splitext(path)[1].lower()
    if suffix == ".npz":
        raise FormatError(f"save writes .npy files, got {path!r}; mat.savez writes .npz")
    if suffix == ".safetensors":
        raise FormatError(f"save writes .npy files, got {path!r}; mat.save_all writes .safetensors")
    special = os.path.exists(path) and not os.path.isfile(path)  # such as a pipe or a folder
    return path if special or path.endswith(".npy") else path + ".npy"


@method("load_")
def load_(self: Mat, file: File, *, progress: Callback | None = None) -> Mat:
    """Overwrite the visible elements with those of a .npy file.

    Parameters
    ----------
    file : path or file object
        As for `mat.load`; it has self's shape and dtype.
    progress : callable or bool, optional
        Called as ``progress(done, total)`` with numbers of bytes, once for each chunk; True shows a
        bar.

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
    >>> mat.save(file, mat.arange(4.0).reshape(2, 2))
    >>> x = mat.zeros(3, 3)
    >>> _ = file.seek(0), x[1:, 1:].load_(file)
    >>> x
    <Mat 3x3 A [[0. 0. 0.] [0. 0. 1.] [0. 2. 3.]]>
    """
    with streams.reading(file) as source:
        form = npy.read_header(source)
        if form.dtype != self.dtype:
            raise DTypeError(f"{source.name} holds {form.dtype}, {self.label()} {self.dtype}; "
                             f"mat.load(file).astype({self.dtype.name!r}) converts")
        if form.shape != self.shape:
            raise FormatError(f"{source.name} holds the shape {form.shape}, not {self.shape} as "
                              f"{self.label()}")
        _overwrite(self, source, form, progress)
    return self


# Raw elements


@method("write")
def write(self: Mat, file: File, *, progress: Callback | None = None) -> None:
    """Write the visible elements in C order, and nothing else.

    Parameters
    ----------
    file : path or file object
        As for `mat.save`.
    progress : callable or bool, optional
        Called as ``progress(done, total)`` with numbers of bytes, once for each chunk; True shows a
        bar.

    Examples
    --------
    >>> import io, mat
    >>> file = io.BytesIO()
    >>> mat.arange(6, dtype="int8").reshape(2, 3).T.write(file)
    >>> list(file.getvalue())
    [0, 3, 1, 4, 2, 5]
    """
    counter = streams.Progress(progress, "write")
    with self.facet("array", "input") as a, streams.writing(file) as out:
        write_elements(out, counter, a)


@method("read_")
def read_(self: Mat, file: File, *, progress: Callback | None = None) -> Mat:
    """Overwrite the visible elements, in C order, with the bytes of a file that ``write`` wrote.

    Parameters
    ----------
    file : path or file object
        A path, whose file holds exactly these bytes, or an object with a method ``read``, whose
        position is then after them.
    progress : callable or bool, optional
        Called as ``progress(done, total)`` with numbers of bytes, once for each chunk; True shows a
        bar.

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
    form = streams.ElementFormat(self.shape, self.dtype)
    with streams.reading(file) as source:
        if streams.is_path(file) and source.left is not None and source.left > form.nbytes:
            raise FormatError(f"{source.name} holds {source.left} bytes, not the {form.nbytes} of "
                              f"{self.label()}; to read some of them, give the open file")
        _overwrite(self, source, form, progress)
    return self


# Common steps


def write_elements(out: streams.Stream, counter: streams.Progress, *arrays: Array) -> None:
    """Write the elements of arrays in chunks, and report the progress."""
    counter.expect(sum(a.nbytes for a in arrays))
    for a in arrays:
        for piece in streams.pieces(a):
            out.write(piece)
            counter.add(piece.size)


def expect(source: streams.Source, nbytes: int, progress: Callback | None) -> None:
    """Prepare to read `nbytes` bytes of elements, and to report them to `progress`."""
    source.progress = streams.Progress(progress)
    source.require(nbytes, "its elements")
    source.progress.expect(nbytes)


def _overwrite(x: Mat, source: streams.Source, form: streams.ElementFormat,
               progress: Callback | None) -> None:
    """Read the next elements into `x`; if there might be too few, only after all have been read."""
    x.allowed(OUTPUT)  # first: reading may take long
    expect(source, form.nbytes, progress)
    if source.left is None:
        whole = streams.read_array(source, form)
        with x.facet("array", OUTPUT) as a:
            a[...] = whole
    else:
        with x.facet("array", OUTPUT) as a:
            streams.read_into(source, form, a)


def check_mat(x: object, name: str) -> None:
    """Raise `DTypeError` unless `x` is a Mat; `name` is the function and argument."""
    if not isinstance(x, Mat):
        raise DTypeError(f"{name} requires a Mat, got {type(x).__name__}; mat.from_numpy(a) makes "
                         "one of an array without copying")


def check_flag(value: object) -> None:
    """Raise `DTypeError` unless an option is True or False."""
    if not isinstance(value, bool):
        raise DTypeError(f"mapped and compressed are True or False, got {value!r}")
