"""Host memory that is a file: the system reads its pages when they are accessed, and writes them
when it needs the memory for something else.
"""

from __future__ import annotations

import ctypes
import errno
import io
import mmap
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np

from ..core.compiled import BLOCKS
from ..errors import DiskError
from ..support.c_pointers import address_of
from ..support.descriptors import nameless, opened
from ..support.fork import at_fork
from ..support.options import current
from ..support.plugins import plugin
from ..support.settings import SPILL
from ..support.types import Array, DType, Number

PAGE = mmap.PAGESIZE
# of mmap(), by name where Python has none
_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)
_FIXED = 0x10
# of madvise(), None where there is none
_WILL_NEED = getattr(mmap, "MADV_WILLNEED", None)
_DO_NOT_NEED = getattr(mmap, "MADV_DONTNEED", None)
# MADV_POPULATE_READ, from Linux 5.14 on
_POPULATE = 22 if sys.platform == "linux" else None
_AT_ONCE = 1 << 20  # bytes: of more, systems read only the beginning before they are accessed
_PROBED = 4 << 20  # bytes between pages of which is found out whether they are in memory
_POPULATED = 8 << 20  # bytes: others of the process may map memory in between
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_CANNOT = (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)
LEAST_LARGE = 128 << 20  # bytes of operands in files with which operations are cut into tiles
LARGE: list[int] = []  # the ids of the pages of files that are so large


class FilePages(mmap.mmap):
    """The mapped pages of a file, until no array over them is left.

    Attributes
    ----------
    title : str
        The file in messages.
    shared : bool
        True if the file has what is written to the pages, or will have it.
    identity : tuple of int
        The device and the number by which the system knows the file.
    """

    title: str
    shared: bool
    identity: tuple[int, int]

    def check(self, end: int) -> None:
        """Raise `DiskError` if the file ends before `end`: an access there ends the process."""
        found = self.size()
        if found < end:
            raise DiskError(
                f"{self.title} was cut off by another program while it is mapped: it has {found} "
                f"bytes, and the elements end at byte {end}; restore the file, or open it "
                "again as it is")

    @property
    def address(self) -> int:
        """The address of the first page."""
        return address_of(self.array(0, 1, np.dtype(np.uint8)))

    def array(self, offset: int, size: int, dtype: DType) -> Array:
        """Return elements as a 1-d array, whose ``base`` is self."""
        return np.ndarray((size,), dtype, buffer=self, offset=offset)

    def release(self, begin: int, end: int) -> None:
        """Let the system evict bytes; nothing is lost, as it writes them to the file first."""
        with _mapping:  # a fork meanwhile would have pages of its own lose what was written
            if self.shared:
                self._advise(begin // PAGE * PAGE, end, _DO_NOT_NEED)

    def populate(self, begin: int, end: int) -> bool:
        """Read and map the bytes from `begin` to `end` now; return False where the system cannot.

        It then reads as for accesses one after another, in large pieces, which it can map as one.
        What is announced it reads page by page, which takes several times as long to map.
        """
        for start in range(begin // PAGE * PAGE, min(end, len(self)), _POPULATED):
            if not self._advise(start, min(start + _POPULATED, end), _POPULATE):
                return False
        return True

    def is_cached(self, begin: int, end: int) -> bool:
        """Return whether some pages, first and last too, are cached by the system, if known."""
        if sys.platform != "linux":
            return False
        found = ctypes.c_ubyte()
        last = (min(end, len(self)) - 1) // PAGE * PAGE
        cached = _of_c("mincore", ctypes.POINTER(ctypes.c_ubyte))
        return all(cached(self.address + start, PAGE, found) == 0 and found.value & 1
                   for start in (*range(begin // PAGE * PAGE, last, _PROBED), last))

    def announce(self, begin: int, end: int) -> None:
        """Let the system begin to read bytes, which costs less than to map them, too."""
        for start in range(begin // PAGE * PAGE, min(end, len(self)), _AT_ONCE):
            self._advise(start, min(start + _AT_ONCE, end), _WILL_NEED)

    def _advise(self, start: int, end: int, advice: int | None) -> bool:
        """Call madvise(), without the GIL, if the system has it; return whether it succeeds."""
        end = min(end, len(self))
        if advice is None:
            return False
        # Python's own keeps the GIL
        advise = _of_c("madvise", ctypes.c_int)
        return end <= start or advise(self.address + start, end - start, advice) == 0


class SpillPages(FilePages):
    """The pages of an unnamed file, private to this process and its children."""

    file: io.FileIO | None = None

    def __del__(self) -> None:
        if self.file is not None:
            self.file.close()  # else there would be a warning

    @property
    def number(self) -> int:
        """The descriptor of the file."""
        assert self.file is not None
        return self.file.fileno()

    def is_blank(self) -> bool:
        """Return True if it is known that nothing was ever written: all bytes are zero."""
        if not self.shared or not hasattr(os, "SEEK_DATA"):
            return False
        try:
            os.lseek(self.number, 0, os.SEEK_DATA)
        except OSError as error:
            return error.errno == errno.ENXIO  # there is no data
        return False

    def separate(self) -> None:
        """Make later writes private: the file, shared with children, keeps its contents."""
        if self.shared:
            _remap_privately(self)
            self.shared = False


# of changes of what pages are mapped to; reentrant, since a handler of signals may fork
_mapping = threading.RLock()
_all: weakref.WeakValueDictionary[int, FilePages] = weakref.WeakValueDictionary()


def all_pages() -> list[FilePages]:
    """Return the pages of all files that are mapped."""
    return [p for p in (ref() for ref in _all.valuerefs()) if p is not None]


def is_only_map(pages: FilePages) -> bool:
    """Return whether no other pages of this process are of the same file."""
    return all(p is pages or p.identity != pages.identity for p in all_pages())


def map_file(number: int, title: str, mode: str) -> FilePages:
    """Return the pages of an open file, by mode "r", "r+" or "c"; `DiskError` if it fails."""
    pages: FilePages = _registered(FilePages, number, title, _way(mode))
    pages.shared = mode != "c"
    return pages


def map_temporary(number: int, title: str) -> SpillPages:
    """Return the pages of an open file without a name, kept open; `DiskError` if it fails."""
    way = _way("r+")
    if sys.version_info >= (3, 13):  # else there are two descriptors of the file
        way["trackfd"] = False
    pages: SpillPages = _registered(SpillPages, number, title, way)
    pages.file = opened(os.dup, number)
    return pages


def _registered(kind: type[FilePages], number: int, title: str, way: dict[str, int]) -> Any:
    """Return the pages of an open file, mapped in a way that `mmap.mmap` has."""
    try:
        pages: Any = kind(number, 0, **way)
    except (ValueError, OSError) as error:
        raise disk_error(f"{title} cannot be mapped: {error}", error) from error
    pages.title, pages.shared = title, True
    status = os.fstat(number)
    pages.identity = status.st_dev, status.st_ino
    if len(pages) >= LEAST_LARGE:
        LARGE.append(id(pages))
        weakref.finalize(pages, LARGE.remove, id(pages)).atexit = False
    _all[id(pages)] = pages
    return pages


def disk_error(text: str, cause: Exception) -> DiskError:
    """Return an error with the system's number of its cause."""
    error = DiskError(text)
    error.errno = getattr(cause, "errno", None)
    return error


def _way(mode: str) -> dict[str, int]:
    """Return the arguments of `mmap.mmap` for a mode."""
    if mode == "c" and _NO_RESERVE:  # the system must not refuse files larger than its memory
        return {"flags": mmap.MAP_PRIVATE | _NO_RESERVE, "prot": mmap.PROT_READ | mmap.PROT_WRITE}
    return {"access": {"r": mmap.ACCESS_READ, "r+": mmap.ACCESS_WRITE, "c": mmap.ACCESS_COPY}[mode]}


def pages_of(handle: object) -> FilePages | None:
    """Return the pages of a file that an array is over, or None."""
    return _base_of(handle, FilePages)


def _base_of(handle: object, kind: type) -> Any:
    """Return the object of a class that an array is over, or None."""
    base: Any = handle
    while base is not None and not isinstance(base, kind):
        if isinstance(base, tuple):  # of a read-only array
            base = base[0]
        else:
            base = getattr(base, "obj" if isinstance(base, memoryview) else "base", None)
    return base


def file_of(handle: Array) -> tuple[tuple[int, int], int] | None:
    """Return file and offset under an array; None if other maps would not see its writes."""
    base = _base_of(handle, mmap.mmap)
    if base is None or isinstance(base, SpillPages):
        return None
    address = address_of(handle)
    if isinstance(base, FilePages):
        return (base.identity, address - base.address) if base.shared else None
    return _file_at(address)


def is_private(address: int, nbytes: int) -> bool:
    """Return whether no file or other process can have bytes from an address on, if known."""
    try:
        return all(mode[3:4] == b"p" and number == b"0"
                   for low, high, mode, _, _, number in _maps()
                   if low < address + nbytes and address < high)
    except OSError:  # another system
        return False


def _maps() -> Iterator[tuple[int, int, bytes, bytes, bytes, bytes]]:
    """Yield ends, mode, offset, device and file of each range of addresses, as Linux says."""
    with open("/proc/self/maps", "rb") as file:
        for line in file:
            span, mode, offset, device, number = line.split(None, 5)[:5]
            low, high = (int(end, 16) for end in span.split(b"-"))
            yield low, high, mode, offset, device, number


def _file_at(address: int) -> tuple[tuple[int, int], int] | None:
    """Return the file that is mapped at an address, and where in it that is, as Linux says."""
    with suppress(OSError):  # another system
        for low, high, mode, offset, device, number in _maps():
            if low <= address < high:
                if mode[3:4] != b"s" or number == b"0":
                    return None
                major, minor = (int(part, 16) for part in device.split(b":"))
                return (os.makedev(major, minor), int(number)), int(offset, 16) + address - low
    return None


def release(passed: Array) -> None:
    """Release the pages of an array that is not needed any more, if they are those of a file."""
    pages = pages_of(passed)
    if pages is not None and passed.size:
        begin = address_of(passed) - pages.address
        pages.release(begin, begin + passed.nbytes)


def reserve(number: int, nbytes: int, what: str, folder: str, way_out: str) -> None:
    """Extend an open file to `nbytes` bytes and reserve disk space for them, so that no later write
    fails.

    Raise `DiskError` if there is no room. Where the system cannot reserve any, the file only gets
    its length.
    """
    try:
        if hasattr(os, "posix_fallocate"):
            # which some file systems carry out part by part until the disk is full, and leave so
            if _lacking(number, nbytes) > _free(number):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.posix_fallocate(number, 0, nbytes)
            return
    except OSError as error:
        if is_of_room(error):
            raise no_room(error, nbytes, what, folder, way_out) from error
        if error.errno not in _CANNOT:
            raise
    if os.fstat(number).st_size < nbytes:
        os.ftruncate(number, nbytes)


def _lacking(number: int, nbytes: int) -> int:
    """Return how much disk space an open file of `nbytes` bytes has to get, as far as is known."""
    status = os.fstat(number)
    if status.st_size and hasattr(os, "SEEK_HOLE"):
        before = os.lseek(number, 0, os.SEEK_CUR)
        is_whole = os.lseek(number, 0, os.SEEK_HOLE) == status.st_size
        os.lseek(number, before, os.SEEK_SET)
        if is_whole:  # though it may have fewer blocks, if the file system compresses
            return nbytes - status.st_size
    return nbytes - status.st_blocks * 512


def _free(number: int) -> int:
    """Return how many bytes are free where an open file is."""
    found = os.fstatvfs(number)
    return found.f_bavail * found.f_frsize


def is_of_room(error: OSError) -> bool:
    """Return whether an error says that the disk or the user's quota is full."""
    return error.errno in _NO_ROOM


def no_room(error: OSError, nbytes: int, what: str, folder: str, way_out: str) -> DiskError:
    """Return the error that there is no room for a file."""
    limited = "the limit of this process for files (RLIMIT_FSIZE) is less"
    try:
        room = f"{plugin('shutil').disk_usage(folder).free} bytes are free"
    except OSError as unknown:
        room = str(unknown)
    reason = limited if error.errno == errno.EFBIG else room
    return disk_error(f"no room for {what}: it takes {nbytes} bytes in {folder!r}, where {reason}; "
                      f"{way_out}", error)


# Forks


@cache
def _of_c(name: str, *types: Any, result: Any = ctypes.c_int) -> Callable[..., int]:
    """Return a function of the C library of an address, a length and arguments of these types."""
    found = getattr(ctypes.CDLL(None), name)
    found.argtypes, found.restype = (ctypes.c_void_p, ctypes.c_size_t, *types), result
    return found


def _remap_privately(pages: SpillPages) -> None:
    """Map the file again at the same address, with changes that the file does not get."""
    numbers = ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long
    # Python's own chooses the address itself
    _of_c("mmap", *numbers, result=ctypes.c_void_p)(
        pages.address, len(pages), mmap.PROT_READ | mmap.PROT_WRITE,
        mmap.MAP_PRIVATE | _FIXED | _NO_RESERVE, pages.number, 0)


def _before_fork() -> None:
    _mapping.acquire()
    for pages in all_pages():
        if isinstance(pages, SpillPages):
            pages.separate()


at_fork(before=_before_fork, after_in_parent=_mapping.release, after_in_child=_mapping.release)


# Host memory of large Mats in temporary files: the settings ``spill_dir`` and ``spill_above``


MOST = sys.maxsize  # bytes of what is never in a file
PART = 8 << 20  # bytes that are written at a time


def spills(nbytes: int) -> bool:
    """Return whether host memory of so many bytes is to be a file."""
    above = current().spill_above
    return above is not None and nbytes > above


def empty(size: int, dtype: DType) -> Array:
    """Do as ``numpy.empty`` for one axis, in a file if it is to be there."""
    nbytes = size * dtype.itemsize
    return (spilled_array(size, dtype) if nbytes > BLOCKS.largest and spills(nbytes)
            else np.empty(size, dtype))


def spilled_array(size: int, dtype: DType) -> Array:
    """Return a 1-d array over a new temporary file; raise `DiskError` if there cannot be one.

    The room on the disk is reserved. The file has no name: it is gone with the last array over it,
    and with the process, however that ends.
    """
    nbytes = max(size * dtype.itemsize, 1)
    tempfile = plugin("tempfile")
    folder = current().spill_dir or tempfile.gettempdir()
    what = f"a temporary file of {nbytes} bytes for a Mat"
    try:
        with (nameless(folder, 0o600)
              or tempfile.TemporaryFile(prefix="mat-", dir=folder, buffering=0)) as file:
            reserve(file.fileno(), nbytes, "the host memory of a Mat", folder, _WAY_OUT)
            pages = map_temporary(file.fileno(), what)
    except DiskError:
        raise
    except OSError as error:
        raise disk_error(f"cannot make {what} in {folder!r}, the directory of the setting "
                         f"spill_dir: {error.strerror}; choose another by mat.configure("
                         "spill_dir=...)", error) from error
    return pages.array(0, size, dtype)


def spilled_copy(flat: Array) -> Array:
    """Return a private 1-d array, or a copy of it in a file if it is to be spilled."""
    if not spills(flat.nbytes) or not flat.flags.writeable or pages_of(flat) is not None:
        return flat
    found = spilled_array(flat.size, flat.dtype)
    found[...] = flat
    return found


def fill(handle: Array, value: Number) -> None:
    """Write `value` to all elements, a part at a time where they are a file."""
    pages = handle.base
    if not isinstance(pages, SpillPages):
        handle.fill(value)
        return
    if not np.array([value], handle.dtype).view(np.uint8).any() and pages.is_blank():
        return
    step = PART // handle.itemsize
    for start in range(0, handle.size, step):
        part = handle[start:start + step]
        part.fill(value)
        release(part)


_WAY_OUT = ("free some, choose another directory by mat.configure(spill_dir=...), or have less in "
            "files by a larger spill_above")


def _set_least(nbytes: int | None) -> None:
    BLOCKS.largest = MOST if nbytes is None else nbytes


SPILL.append(_set_least)
