"""Recycled host memory: arrays and workspaces over blocks of a pool, to which their memory returns
by itself (``native/cpu/host_pool.h``). Without compiled code NumPy allocates.

The pool is the process's, and so is its limit, the setting ``host_pool_bytes``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .native import core, ffi, lib
from .settings import HOST_POOL
from .types import Array, CData, DType

SMALLEST = 1024  # bytes; for less, NumPy has lists of its own, which Python reaches faster
MOST = 2 ** 62  # bytes, of a limit
_CHARS = ffi.typeof("char[]")


class HostStatistics(NamedTuple):
    """Statistics of the pool: bytes, and numbers of blocks since the start of the process."""

    in_use: int = 0
    kept: int = 0  # for the next use
    limit: int = 0  # the most that are kept at present
    hits: int = 0  # kept blocks that were used again
    misses: int = 0  # new blocks
    returned: int = 0  # to the system


# allocate blocks in one uninterrupted call, as is or zeroed
_own: tuple[CData, ...] = () if lib is None else (lib.mat_host_new, lib.mat_host_delete)
_new: CData = ffi.new_allocator(*_own, should_clear_after_alloc=False)
_zeros: CData = ffi.new_allocator(*_own) if _own else ffi.new


def workspace(nbytes: int) -> CData:
    """Return ``char[nbytes]`` of arbitrary contents, aligned to 64 bytes if compiled code runs."""
    return _new(_CHARS, nbytes)


def zeros(kind: str, count: int) -> CData:
    """Return a cffi array of the given type, such as ``double[]``, of `count` zeros."""
    return _zeros(kind, count)


def empty(size: int, dtype: DType) -> Array:
    """Do as ``numpy.empty`` for one axis, in memory that returns to the pool."""
    found = None if core is None or size * dtype.itemsize < SMALLEST else core.array_in_pool(size,
                                                                                             dtype)
    # without memory, NumPy raises the error that names the size
    return np.empty(size, dtype) if found is None else found


def statistics() -> HostStatistics:
    """Return statistics of the pool, zeros if there is none."""
    if lib is None:
        return HostStatistics()
    found = ffi.new("struct mat_host_statistics *")
    lib.mat_host_get_statistics(found)
    return HostStatistics(*(getattr(found, name) for name in HostStatistics._fields))


def trim() -> int:
    """Give all kept blocks back to the system; return their bytes."""
    return int(lib.mat_host_trim(0)) if lib is not None else 0


def _set_limit(most: int | None) -> None:
    if lib is not None:
        lib.mat_host_set_limit(-1 if most is None else min(most, MOST))


HOST_POOL.append(_set_limit)
