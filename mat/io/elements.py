"""The elements of an array between memory and bytes: in C order, a chunk at a time where they do
not lie so already.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..errors import FormatError
from ..layout.strided import LARGEST, Ints
from . import streams
from .streams import Bytes, Source

Array = np.ndarray[Any, Any]
MOST_AXES = 64  # that NumPy knows


class ElementFormat(NamedTuple):
    """What elements a file says it holds. ``fortran``: in column-major order; ``swapped``: in the
    other order of bytes.
    """

    shape: Ints
    dtype: np.dtype[Any]
    fortran: bool = False
    swapped: bool = False

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize

    def check(self, name: str) -> ElementFormat:
        """Self, if a Mat can have this shape."""
        if len(self.shape) > MOST_AXES or prod(n or 1
                                               for n in self.shape) * self.dtype.itemsize > LARGEST:
            shown = str(self.shape) if len(self.shape) <= MOST_AXES else f"of {len(self.shape)} axes"
            raise FormatError(f"{name} claims the shape {shown}, which no array can have")
        return self


def as_bytes(a: Array) -> Bytes:
    """The memory of a C-contiguous array."""
    return a.reshape(-1).view(np.uint8)


def blocks(shape: Ints, most: int) -> Iterator[tuple[Any, ...]]:
    """Indices that cut `shape` into pieces of at most `most` elements, in C order."""
    axis = next((k for k in range(len(shape)) if prod(shape[k + 1:]) <= most), None)
    if axis is None:
        yield ()
        return
    step = max(1, most // max(1, prod(shape[axis + 1:])))
    for outer in product(*map(range, shape[:axis])):
        for start in range(0, shape[axis], step):
            yield (*outer, slice(start, start + step))


def pieces(a: Array) -> Iterator[Bytes]:
    """The elements in C order, a chunk at a time; each is valid until the next. No more than a
    chunk is copied.
    """
    if a.flags.c_contiguous:
        whole = as_bytes(a)
        yield from (whole[k:k + streams.CHUNK] for k in range(0, whole.size, streams.CHUNK))
        return
    most = max(1, streams.CHUNK // a.itemsize)
    room = np.empty(min(most, a.size), a.dtype)
    for index in blocks(a.shape, most):
        part = a[(*index, ...)]
        packed = room[:part.size].reshape(part.shape)
        np.copyto(packed, part)
        yield as_bytes(packed)


def new(source: Source, form: ElementFormat) -> Array:
    """The elements that come next, in memory of their own."""
    a = source.array(form.nbytes).view(form.dtype)
    _tidy(a, form)
    return shaped(a, form)


def shaped(flat: Array, form: ElementFormat) -> Array:
    return flat.reshape(form.shape[::-1]).T if form.fortran else flat.reshape(form.shape)


def receive(source: Source, form: ElementFormat, a: Array) -> None:
    """Put the elements that come next into the array, whatever its strides."""
    target = a.T if form.fortran else a
    if target.flags.c_contiguous:
        source.fill(as_bytes(target))
        _tidy(target, form)
        return
    most = max(1, streams.CHUNK // a.itemsize)
    room = np.empty(min(most, a.size), a.dtype)
    for index in blocks(target.shape, most):
        part = target[(*index, ...)]
        packed = room[:part.size].reshape(part.shape)
        source.fill(as_bytes(packed))
        _tidy(packed, form)
        part[...] = packed


def within(pages: Bytes, offset: int, form: ElementFormat, name: str) -> Array:
    """The elements where they lie in the pages of a file, read-only."""
    if form.swapped:
        raise FormatError(f"{name} has its bytes in the other order, which cannot be mapped; load "
                          "it without mapped=True")
    if offset % form.dtype.alignment:
        raise FormatError(f"{name} has its elements at byte {offset}, no multiple of the "
                          f"{form.dtype.alignment} that "
                          f"{form.dtype} needs to be mapped; load it without mapped=True")
    if offset + form.nbytes > pages.size:
        raise FormatError(f"{name} is cut off: its elements should be {form.nbytes} bytes, "
                          f"{pages.size - offset} are left")
    return shaped(pages[offset:offset + form.nbytes].view(form.dtype), form)


def _tidy(a: Array, form: ElementFormat) -> None:
    """Make of bytes that were read what the processor wants."""
    if form.swapped:
        (a if a.dtype.isbuiltin == 1 else a.view(np.uint16)).byteswap(inplace=True)
    if a.dtype.kind == "b":  # of which any other byte than 1 would be true here and false there
        np.not_equal(a.view(np.uint8), 0, out=a)
