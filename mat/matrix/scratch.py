"""Mats that last for one block: `scratch`, whose memory the next block reuses, and `ones_view`.

The memory that is kept between blocks belongs to a thread, so no lock is needed and no block shares
memory with another.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Hashable
from contextlib import AbstractContextManager, nullcontext
from typing import TypeAlias

from ..core.compiled import THREADS
from ..core.registry import Handle, Memory
from ..core.source_line import SourceLine, file_and_line
from ..errors import ConflictError, DTypeError, TornError
from ..layout.shapes import as_shape
from ..layout.strided import Layout, packed
from ..memories.host import HOST
from ..support.dtypes import as_dtype
from ..support.open_blocks import Block
from ..support.options import current
from ..support.types import Array, DType, DTypeLike, ShapeLike
from .mat import Mat, check_bytes
from .storage import Storage

Key: TypeAlias = tuple[Hashable, DType]  # place and dtype
_RELEASED = TornError("scratch that was released at the end of its block; copy() what is to "
                      "outlive it")


class SpareMemory(threading.local):
    """The memory that a thread keeps for its next blocks: spare arrays, and ones."""

    def __init__(self) -> None:
        self.buffers: dict[Key, list[Array]] = {}
        self.ones: dict[DType, Storage] = {}

    def take(self, key: Key, size: int) -> Array | None:
        """Remove and return the smallest spare array with room for `size` elements.

        If none has room, one is freed: a larger one will be put instead.
        """
        spares = self.buffers.get(key)
        if not spares:
            return None
        sizes = [b.size if b.size >= size else sys.maxsize for b in spares]
        k = sizes.index(min(sizes))
        buffer = spares.pop(k)
        return buffer if buffer.size >= size else None

    def put(self, key: Key, buffer: Array) -> None:
        self.buffers.setdefault(key, []).append(buffer)


_spares = SpareMemory()


class ScratchStorage(Storage):
    """The storage of one block, over memory that exists before and after it."""

    __slots__ = ("buffer", "part", "where")

    def __init__(self, size: int, dtype: DType, buffer: Array | None, where: SourceLine) -> None:
        if buffer is None:
            super().__init__(size, dtype, None)
        else:  # reused memory does not count as an allocation
            self.begin()
            self.size, self.dtype, self.itemsize = size, dtype, dtype.itemsize
            self.nbytes, self.fill_value, self.writable = size * dtype.itemsize, None, True
            self.part: Array = buffer[:size]
            self.replace_host(self.part)
        self.buffer: Array | None = buffer
        self.where: SourceLine = where

    def release(self) -> Array | None:
        """Release the host's memory and return it; None if there is none or it is still in use."""
        self.settle_pending(True)
        with self.lock:
            self.end_abandoned()
            if self.accesses or self.keeps_any:
                return None
            for view in self.live_viewers():
                view.presented = {}
            self.viewers, self.seen, self.spans = [], 0, None
            handle: Array | None = self.handles.get(HOST)
            self.replace_host(None)
            for memory in tuple(self.handles):
                self.discard(memory)
            self.fresh, self.pristine = 0, False
            self.torn, self.torn_memory = _RELEASED, None
        return self.buffer if self.buffer is not None and handle is self.part else handle

    def read_torn(self, error: TornError) -> None:
        if error is _RELEASED:
            file, line = file_and_line(self.where)
            error = TornError(f"this is {_RELEASED} ({file}:{line})")
        super().read_torn(error)


class ScratchBlock(Block[Mat]):
    """The context manager that `scratch` returns."""

    def __init__(self, layout: Layout, key: Key) -> None:
        self.layout: Layout = layout
        self.key: Key = key
        self.storage: ScratchStorage | None = None
        self.warn_unless_entered(f"mat.scratch({layout.shape})")

    def already_open(self) -> ConflictError:
        return ConflictError("this scratch block is already open; call mat.scratch again")

    def begin(self) -> Mat:
        size = self.layout.size
        mat = Mat.__new__(Mat)
        buffer = _spares.take(self.key, size)
        self.storage = ScratchStorage(size, self.key[1], buffer, THREADS.line())
        mat._fill_in(self.storage, self.layout, current().device_enabled)
        return mat

    def end(self, error: BaseException | None) -> None:
        buffer = None if self.storage is None else self.storage.release()
        self.storage = None
        if buffer is not None:
            _spares.put(self.key, buffer)


class Scratch:
    """Gives a Mat of arbitrary contents to a block, whose memory the next such block reuses.

    It is called as a function: ``with mat.scratch(shape) as t:``.

    Parameters
    ----------
    shape : int or sequence of int
        The lengths of the axes.
    dtype : dtype, str or type, optional
        The element type; by default ``mat.settings.dtype``.
    place : hashable
        A name of the memory. The next block in this thread with the same place and dtype gets the
        same memory if it is large enough; nested blocks never share any, whatever their places.

    Returns
    -------
    context manager
        It gives a Mat to its block.

    Raises
    ------
    DTypeError
        If `place` cannot be hashed.

    Notes
    -----
    At the end of the block, also after an error, the memory is released: from then on reading the
    Mat, or a view of it, is a `TornError`, and overwriting it whole allocates new memory. So do not
    keep it, nor an array or a pointer that a facet presented: ``t.copy()`` can be kept. Memory that
    is still being accessed when the block ends is not reused. A thread keeps the memory of its
    blocks until it ends or calls ``mat.scratch.clear()``.

    Examples
    --------
    >>> import mat
    >>> with mat.scratch((2, 3)) as t:
    ...     t.fill_(1).shape
    (2, 3)
    >>> t.sum()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    mat.errors.TornError: this is scratch that was released at the end of its block; ...
    """

    __slots__ = ()

    def __call__(self, shape: ShapeLike, dtype: DTypeLike = None,
                 place: Hashable = "scratch") -> ScratchBlock:
        layout, kind = _layout_and_dtype(shape, dtype)
        try:
            hash(place)
        except TypeError:
            raise DTypeError("a place is a name or another hashable object, got "
                             f"{place!r}") from None
        return ScratchBlock(layout, (place, kind))

    def clear(self) -> None:
        """Free the memory that this thread keeps for its next blocks; open blocks keep theirs."""
        _spares.buffers.clear()
        _spares.ones.clear()

    def __repr__(self) -> str:
        return f"<mat.scratch: {spare_bytes()} bytes kept in this thread>"


def spare_bytes() -> int:
    """Return the number of bytes that this thread keeps for its next blocks."""
    return sum(b.nbytes for buffers in _spares.buffers.values() for b in buffers)


Scratch.__call__.__qualname__ = "mat.scratch"  # in messages about its arguments
scratch: Scratch = Scratch()


def _layout_and_dtype(shape: ShapeLike, dtype: DTypeLike) -> tuple[Layout, DType]:
    layout, kind = packed(as_shape(shape)), current().dtype if dtype is None else as_dtype(dtype)
    check_bytes(layout.size, kind)
    return layout, kind


# Ones


class Ones(Storage):
    """A storage of ones that cannot be written, not even through an array made writable again."""

    __slots__ = ()

    def __init__(self, size: int, dtype: DType) -> None:
        super().__init__(size, dtype, 1)
        self.writable = False

    def _fill_handle(self, memory: Memory, handle: Handle) -> None:
        super()._fill_handle(memory, handle)
        if memory is HOST:
            handle.flags.writeable = False


def ones_view(shape: ShapeLike, dtype: DTypeLike = None) -> AbstractContextManager[Mat]:
    """Return a context manager that gives its block a read-only, packed Mat of ones.

    BLAS sums rows or columns by a product with ones. They are made once in each thread and used
    again, also by several blocks at once.

    Parameters
    ----------
    shape : int or sequence of int
        The lengths of the axes.
    dtype : dtype, str or type, optional
        The element type; by default ``mat.settings.dtype``.

    Returns
    -------
    context manager
        It gives a Mat to its block. Writing that is a `DirectionError`.

    Examples
    --------
    >>> import mat
    >>> a, totals = mat.arange(6.0).reshape(2, 3), mat.empty(2)
    >>> with mat.ones_view(3) as one:
    ...     mat.gemv(1, a, one, 0, totals)
    <Mat 2 F [3. 12.]>
    """
    layout, kind = _layout_and_dtype(shape, dtype)
    ones = _spares.ones.get(kind)
    if ones is None or ones.size < layout.size:
        ones = _spares.ones[kind] = Ones(layout.size, kind)
    mat = Mat.__new__(Mat)
    mat._fill_in(ones, layout, current().device_enabled)
    return nullcontext(mat)
