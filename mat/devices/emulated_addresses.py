"""The addresses of an emulated device's blocks, not valid as pointers."""

from __future__ import annotations

import mmap
import sys

import numpy as np

from .emulated_array import GUARD

# no such address exists on today's machines: using it as a pointer fails at once
BASE = 0x7FF0_0000_0000_0000
RESERVED = 1 << 36  # addresses that are reserved at once; that takes no memory


class Addresses:
    """Addresses for the blocks of a device, inaccessible to this process.

    They are reserved from the system, which then knows the address of a wrong access, so that the
    direction check can say whose it is. Where it reserves none they are those from `BASE` on.
    """

    def __init__(self) -> None:
        self._next = self._end = 0
        self._reserved: list[mmap.mmap] = []

    def take(self, nbytes: int) -> int:
        """Return the first of `nbytes` addresses that were not returned before."""
        size = (nbytes + 2 * GUARD + 255) // 256 * 256
        if self._next + size > self._end:
            self._reserve(size)
        found, self._next = self._next, self._next + size
        return found

    def __contains__(self, address: int) -> bool:
        """Return whether an address was reserved from the system."""
        starts = (np.frombuffer(pages, np.uint8).ctypes.data for pages in self._reserved)
        return any(0 <= address - start < RESERVED for start in starts)

    def _reserve(self, size: int) -> None:
        try:
            if sys.platform != "linux" or size > RESERVED:
                raise OSError
            pages = mmap.mmap(-1, RESERVED, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=0)
        except OSError:  # the process may not have so many, either
            self._next, self._end = BASE, 1 << 64
            return
        self._reserved.append(pages)
        self._next = int(np.frombuffer(pages, np.uint8).__array_interface__["data"][0])
        self._end = self._next + RESERVED
