"""Mats for the time of a block: `scratch`, whose memory the next block uses again, and `ones_view`,
of ones only.

What is kept between blocks belongs to a thread, so no lock is taken and no block shares memory with
another.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Hashable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ..core.access import user_place
from ..core.access_record import SourceLine, file_and_line
from ..core.cube import Cube, Memory
from ..errors import ConflictError, DTypeError, TornError
from ..layout.strided import Layout, as_shape, packed
from ..memories.host import HOST
from ..support.dtypes import as_dtype
from ..support.settings import current
from .mat import Mat, Storage, check_bytes

Buffer = np.ndarray[Any, Any]
Key = tuple[Hashable, np.dtype[Any]]  # place and dtype
_GONE = TornError("scratch that was given back at the end of its block; copy() what is to outlive "
                  "it")


class SpareMemory(threading.local):
    """What this thread keeps from block to block: memory that no block uses now, and ones."""

    def __init__(self) -> None:
        self.buffers: dict[Key, list[Buffer]] = {}
        self.ones: dict[np.dtype[Any], Storage] = {}

    def take(self, key: Key, size: int) -> Buffer | None:
        """The smallest that has room for `size` elements; one that is too small goes, since a
        larger will come back.
        """
        spares = self.buffers.get(key)
        if not spares:
            return None
        sizes = [b.size if b.size >= size else sys.maxsize for b in spares]
        k = sizes.index(min(sizes))
        buffer = spares.pop(k)
        return buffer if buffer.size >= size else None

    def put(self, key: Key, buffer: Buffer) -> None:
        self.buffers.setdefault(key, []).append(buffer)


_spares = SpareMemory()


class ScratchStorage(Storage):
    """The storage of one block, over memory that is there before and after it."""

    __slots__ = ("buffer", "part", "where")

    def __init__(self, size: int, dtype: np.dtype[Any], buffer: Buffer | None,
                 where: SourceLine) -> None:
        if buffer is None:
            super().__init__(size, dtype, None)
        else:  # not created anew: it does not count as an allocation
            Cube.__init__(self)
            self.size, self.dtype, self.nbytes = size, dtype, size * dtype.itemsize
            self.fill_value, self.writable = None, True
            self.part = self.handles[HOST] = buffer[:size]
        self.buffer = buffer
        self.where = where

    def give_back(self) -> Buffer | None:
        """The host's memory, of which nobody here knows any more; None if there is none, or
        somebody still uses it.
        """
        with self.lock:
            if self.accesses or any((self.kept or {}).values()):
                return None
            for view in (ref() for ref in self.viewers):
                if view is not None:
                    view.presented = {}
            self.viewers, self.seen = [], 0
            handle: Buffer | None = self.handles.pop(HOST, None)
            for memory in tuple(self.handles):
                self._discard(memory)
            self.fresh, self.pristine = 0, False
            self.torn, self.torn_memory = _GONE, None
        return self.buffer if self.buffer is not None and handle is self.part else handle

    def read_torn(self, error: TornError) -> None:
        if error is _GONE:
            file, line = file_and_line(0, self.where)
            error = TornError(f"this is {_GONE} ({file}:{line})")
        super().read_torn(error)


class ScratchBlock:
    """One ``with mat.scratch(...)``."""

    __slots__ = ("key", "layout", "storage")

    def __init__(self, layout: Layout, key: Key) -> None:
        self.layout = layout
        self.key = key
        self.storage: ScratchStorage | None = None

    def __enter__(self) -> Mat:
        if self.storage is not None:
            raise ConflictError("this scratch block is already open; call mat.scratch again")
        size = self.layout.size
        mat = Mat.__new__(Mat)
        mat.layout = self.layout
        self.storage = mat.storage = ScratchStorage(size, self.key[1], _spares.take(self.key, size),
                                                    user_place(sys._getframe(1)))
        mat.presented = {}
        mat.form = None
        mat.device_enabled = current().device_enabled
        return mat

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        storage, self.storage = self.storage, None
        buffer = None if storage is None else storage.give_back()
        if buffer is not None:
            _spares.put(self.key, buffer)


class Scratch:
    """``with mat.scratch(shape) as t:`` a Mat of arbitrary contents, whose memory the next such
    block uses again.

    The next block in this thread with the same `place` (any name) and `dtype` has that memory, if
    it is large enough; blocks inside of each other never share any, whatever their places. At the
    end of the block, also after an error, the Mat is given back: reading it, or a view of it, is a
    `TornError` from then on, and overwriting it whole takes new memory. So do not keep it, nor an
    array or a pointer that a facet gave: ``t.copy()`` is yours. What is still being looked at when
    the block ends is not used again. A thread keeps what its blocks used until it ends or calls
    ``mat.scratch.clear()``.

    >>> import mat
    >>> with mat.scratch((2, 3)) as t:
    ...     t.fill_(1).shape
    (2, 3)
    >>> t.sum()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    mat.errors.TornError: this is scratch that was given back at the end of its block; ...
    """

    __slots__ = ()

    def __call__(self, shape: object, dtype: Any = None,
                 place: Hashable = "scratch") -> ScratchBlock:
        layout, kind = _asked(shape, dtype)
        try:
            hash(place)
        except TypeError:
            raise DTypeError(f"a place is a name or another hashable thing, got {place!r}") from None
        return ScratchBlock(layout, (place, kind))

    def clear(self) -> None:
        """Free what this thread keeps for blocks to come; those that are open stay as they are."""
        _spares.buffers.clear()
        _spares.ones.clear()

    def __repr__(self) -> str:
        return f"<mat.scratch: {spare_bytes()} bytes kept in this thread>"


def spare_bytes() -> int:
    """The bytes that this thread keeps for blocks to come."""
    return sum(b.nbytes for buffers in _spares.buffers.values() for b in buffers)


scratch = Scratch()


def _asked(shape: object, dtype: Any) -> tuple[Layout, np.dtype[Any]]:
    layout, kind = packed(as_shape(shape)), current().dtype if dtype is None else as_dtype(dtype)
    check_bytes(layout.size, kind)
    return layout, kind


# Ones


class Ones(Storage):
    """Ones that nobody can change: read-only, also for those who make an array writable again."""

    __slots__ = ()

    def __init__(self, size: int, dtype: np.dtype[Any]) -> None:
        super().__init__(size, dtype, 1)
        self.writable = False

    def _fill_handle(self, memory: Memory, handle: Any) -> None:
        super()._fill_handle(memory, handle)
        if memory is HOST:
            handle.flags.writeable = False


def ones_view(shape: object, dtype: Any = None) -> AbstractContextManager[Mat]:
    """``with mat.ones_view(shape) as one:`` a read-only Mat of ones, packed, as BLAS wants it to
    sum rows or columns.

    The ones are made once in each thread and used again, by several blocks at once as well. Writing
    them is a `DirectionError`.

    >>> import mat
    >>> a, totals = mat.arange(6).reshape(2, 3), mat.empty(2)
    >>> with mat.ones_view(3) as one:
    ...     mat.gemv(1, a, one, 0, totals)
    <Mat 2 F [3. 12.]>
    """
    layout, kind = _asked(shape, dtype)
    ones = _spares.ones.get(kind)
    if ones is None or ones.size < layout.size:
        ones = _spares.ones[kind] = Ones(layout.size, kind)
    mat = Mat.__new__(Mat)
    mat.layout, mat.storage, mat.presented, mat.form = layout, ones, {}, None
    mat.device_enabled = current().device_enabled
    return nullcontext(mat)
