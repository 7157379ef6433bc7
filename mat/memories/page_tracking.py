"""Linux's record of written pages: asynchronous write protection of userfaultfd and the ioctl
PAGEMAP_SCAN, both from Linux 6.7 on.

A page that is scanned is protected again. The next write to it, by anybody in this process or by
the system for it, costs a fault of about a microsecond, and nothing else happens. What a device
writes to locked pages is not seen, nor what other processes write to memory that they share.
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import platform
import threading
from contextlib import suppress
from typing import Any

from .change_stamps import Region
from .file_pages import PAGE

_CALL = {"x86_64": 323, "aarch64": 282}.get(platform.machine())  # userfaultfd()
_USER_MODE_ONLY = 1
_API, _API_VERSION = 0xC018AA3F, 0xAA
_UNPOPULATED, _ASYNCHRONOUS = 1 << 13, 1 << 15
_REGISTER, _UNREGISTER, _WRITE_PROTECT = 0xC020AA00, 0x8010AA01, 2
_SCAN, _SIZE_OF_SCAN = 0xC0606610, 96
_PROTECT, _CHECK = 1, 2  # flags of a scan
_WRITTEN = 2  # a category of pages
_MOST = 512  # regions that one call finds


class PageTracking:
    """Page tracking by the system, for one process."""

    def __init__(self) -> None:
        """Ask for it; raise `OSError` where the system cannot do that."""
        self.faults = self.pages = -1
        libc: Any = ctypes.CDLL(None, use_errno=True)
        self.faults = libc.syscall(_CALL, os.O_CLOEXEC | os.O_NONBLOCK | _USER_MODE_ONLY)
        if self.faults < 0:
            raise OSError(ctypes.get_errno(), "userfaultfd")
        self._ask(self.faults, _API, _API_VERSION, _UNPOPULATED | _ASYNCHRONOUS, 0)
        self.pages = os.open("/proc/self/pagemap", os.O_RDONLY | os.O_CLOEXEC)
        self.found: Any = (ctypes.c_uint64 * (3 * _MOST))()
        self.lock = threading.Lock()

    def __del__(self) -> None:
        for number in (self.faults, self.pages):
            if number >= 0:
                with suppress(OSError):
                    os.close(number)

    def _ask(self, number: int, request: int, *words: int) -> tuple[int, Any]:
        given = (ctypes.c_uint64 * len(words))(*words)
        return fcntl.ioctl(number, request, given), given

    def begin(self, low: int, high: int) -> None:
        """Track the pages from one address to another; raise `OSError` if that is impossible."""
        self._ask(self.faults, _REGISTER, low, high - low, _WRITE_PROTECT, 0)

    def end(self, low: int, high: int) -> None:
        """Track these pages no longer."""
        with suppress(OSError):
            self._ask(self.faults, _UNREGISTER, low, high - low)

    def written(self, low: int, high: int) -> list[Region]:
        """Return the pages that were written since their last scan, or since tracking began."""
        regions: list[Region] = []
        with self.lock:
            while low < high:
                count, given = self._ask(
                    self.pages, _SCAN, _SIZE_OF_SCAN, _PROTECT | _CHECK, low, high, 0,
                    ctypes.addressof(self.found), _MOST, 0, 0, _WRITTEN, 0, _WRITTEN)
                regions += [(self.found[3 * k], self.found[3 * k + 1]) for k in range(count)]
                low = given[4]  # how far it came
        return regions


def _works(tracking: PageTracking) -> bool:
    """Return whether a write is seen, of memory of our own."""
    memory = mmap.mmap(-1, 4 * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    low = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    tracking.begin(low, low + 4 * PAGE)
    tracking.written(low, low + 4 * PAGE)
    memory[2 * PAGE] = 1
    first, second = (tracking.written(low, low + 4 * PAGE) for _ in range(2))
    tracking.end(low, low + 4 * PAGE)
    return first == [(low + 2 * PAGE, low + 3 * PAGE)] and not second


_found: PageTracking | None = None
_asked: int = 0  # the process that has asked


def page_tracking() -> PageTracking | None:
    """Return the page tracker of this process; None where the system has none."""
    global _found, _asked
    if _asked != os.getpid():
        _found, _asked = None, os.getpid()
        if _CALL is not None:
            with suppress(OSError, ValueError):
                tracking = PageTracking()
                _found = tracking if _works(tracking) else None
    return _found
