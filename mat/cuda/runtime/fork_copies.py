"""Page-locked memory in forked children: each has a copy of its own, as of all other memory.

What the driver allocates may be shared with a child, which would then write to the parent's
arrays, or may be missing there. So before a fork the blocks that are in use are copied to ordinary
memory, and the child maps the copies to the addresses of the blocks.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from functools import cache
from typing import Any, Protocol

from .locked_ranges import LockedRange

_MAY_MOVE, _FIXED = 1, 2  # of mremap()
_FAILED = ctypes.c_void_p(-1).value
_PRIVATE = getattr(mmap, "MAP_PRIVATE", 0) | getattr(mmap, "MAP_ANONYMOUS", 0)
_ACCESS = getattr(mmap, "PROT_READ", 0) | getattr(mmap, "PROT_WRITE", 0)


class ForkedPool(Protocol):
    """A pool of page-locked blocks."""

    def pause(self) -> list[LockedRange]: ...
    def resume(self) -> None: ...


@cache
def _libc() -> Any:
    found = ctypes.CDLL(None, use_errno=True)
    size, address = ctypes.c_size_t, ctypes.c_void_p
    found.mmap.argtypes = address, size, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long
    found.munmap.argtypes = address, size
    found.mremap.argtypes = address, size, size, ctypes.c_int, address
    found.mmap.restype = found.mremap.restype = address
    return found


def copy_for_children(pool: ForkedPool) -> None:
    """Give forked children copies of the blocks of `pool`."""
    if sys.platform != "linux":  # elsewhere there is no CUDA with forks
        return
    copies = ForkCopies(pool)
    os.register_at_fork(before=copies.make, after_in_parent=copies.free,
                        after_in_child=copies.map)


class ForkCopies:
    """The copies of one fork: address, address of the copy, size."""

    def __init__(self, pool: ForkedPool) -> None:
        self.pool = pool
        self.made: list[tuple[int, int, int]] = []

    def make(self) -> None:
        """Copy the blocks in use, as far as there is memory for them."""
        self.made.clear()
        for block in self.pool.pause():
            size = block.nbytes
            copy = _libc().mmap(None, size, _ACCESS, _PRIVATE, -1, 0)
            if copy != _FAILED:
                ctypes.memmove(copy, block.low, size)
                self.made.append((block.low, copy, size))

    def free(self) -> None:
        """Free the copies in the parent."""
        for _, copy, size in self.made:
            _libc().munmap(copy, size)
        self.made.clear()
        self.pool.resume()

    def map(self) -> None:
        """Map the copies at the addresses of the blocks, in the child."""
        for address, copy, size in self.made:
            _libc().mremap(copy, size, size, _MAY_MOVE | _FIXED, address)
        self.made.clear()
