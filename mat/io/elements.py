"""Conversion of an array's elements to bytes and back: in C order, a chunk at a time unless the
array is contiguous.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from ..errors import FormatError
from ..layout.shapes import LARGEST, Ints
from ..memories.file_pages import release
from ..support.types import Array, Bytes, DType, Index
from . import streams
from .streams import Source

MOST_AXES = 64  # NumPy's limit


class ElementFormat(NamedTuple):
    """The format of elements in a file: column-major if `fortran`; foreign bytes if `swapped`."""

    shape: Ints
    dtype: DType
    fortran: bool = False
    swapped: bool = False

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize

    def check(self, name: str) -> ElementFormat:
        """Return self; raise `FormatError` if no Mat can have this shape."""
        few = len(self.shape) <= MOST_AXES
        if not few or prod(n or 1 for n in self.shape) * self.dtype.itemsize > LARGEST:
            shown = str(self.shape) if few else f"of {len(self.shape)} axes"
            raise FormatError(f"{name} claims the shape {shown}, which no array can have")
        return self


def as_bytes(a: Array) -> Bytes:
    """Return the memory of a C-contiguous array."""
    return a.reshape(-1).view(np.uint8)


def blocks(shape: Ints, most: int) -> Iterator[tuple[Index, ...]]:
    """Yield indices that cut `shape` into pieces of at most `most` elements, in C order."""
    axis = next((k for k in range(len(shape)) if prod(shape[k + 1:]) <= most), None)
    if axis is None:
        yield ()
        return
    step = max(1, most // max(1, prod(shape[axis + 1:])))
    for outer in product(*map(range, shape[:axis])):
        for start in range(0, shape[axis], step):
            yield (*outer, slice(start, start + step))


def pieces(a: Array) -> Iterator[Bytes]:
    """Yield the elements in C order by chunks, each valid until the next."""
    if a.flags.c_contiguous:
        whole = as_bytes(a)
        for k in range(0, whole.size, streams.CHUNK):
            piece = whole[k:k + streams.CHUNK]
            yield piece
            release(piece)
        return
    for part, packed in _parts(a):
        np.copyto(packed, part)
        yield as_bytes(packed)


def _parts(a: Array) -> Iterator[tuple[Array, Array]]:
    """Yield parts of an array in C order, and memory for their elements without gaps."""
    most = max(1, streams.CHUNK // a.itemsize)
    buffer = np.empty(min(most, a.size), a.dtype)
    for index in blocks(a.shape, most):
        part = a[(*index, ...)]
        yield part, buffer[:part.size].reshape(part.shape)


def read_array(source: Source, form: ElementFormat) -> Array:
    """Read the next elements into a new array."""
    a = source.array(form.nbytes).view(form.dtype)
    _make_native(a, form)
    return shaped(a, form)


def shaped(flat: Array, form: ElementFormat) -> Array:
    """Return the elements `flat` as an array of the format's shape and order."""
    return flat.reshape(form.shape[::-1]).T if form.fortran else flat.reshape(form.shape)


def read_into(source: Source, form: ElementFormat, a: Array) -> None:
    """Read the next elements into an array with any strides."""
    target = a.T if form.fortran else a
    if target.flags.c_contiguous:
        source.fill(as_bytes(target))
        _make_native(target, form)
        return
    for part, packed in _parts(target):
        source.fill(as_bytes(packed))
        _make_native(packed, form)
        part[...] = packed


def mapped_array(pages: Bytes, offset: int, form: ElementFormat, name: str) -> Array:
    """Return an array over the elements in the pages of a file."""
    if form.swapped:
        raise FormatError(f"{name} has the other byte order, which cannot be mapped; "
                          "mat.load without mapped=True reads it")
    if offset % form.dtype.alignment:
        raise FormatError(f"{name} has its elements at byte {offset}, no multiple of the "
                          f"{form.dtype.alignment} that {form.dtype} needs to be mapped; load it "
                          "without mapped=True")
    if offset + form.nbytes > pages.size:
        raise FormatError(f"{name} is cut off: its elements should be {form.nbytes} bytes, "
                          f"{pages.size - offset} are left")
    return shaped(pages[offset:offset + form.nbytes].view(form.dtype), form)


def _make_native(a: Array, form: ElementFormat) -> None:
    """Convert elements as a file has them to those of this machine, in place."""
    if form.swapped:
        (a if a.dtype.isbuiltin == 1 else a.view(np.uint16)).byteswap(inplace=True)
    if a.dtype.kind == "b":  # other bytes than 0 and 1 are neither true nor false everywhere
        np.not_equal(a.view(np.uint8), 0, out=a)
