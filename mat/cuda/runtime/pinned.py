"""Page-locked host memory: a pool of it, since locking pages takes far longer than a copy, and
arrays of others whose pages are locked. Copies from and to it need no staging.

Arrays over memory of the pool, and views of them, keep it in use; it returns after the last. What
is locked is in `RANGES`. The driver refuses copies of memory that is partly in a range of it and
partly not, or in two of them: these are staged.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
import threading
import weakref
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ...devices.in_use import in_use
from ...errors import OutOfDeviceMemory
from ...support.c_pointers import address_of
from ...support.fork import at_fork, in_child, renew_after_fork
from ...support.options import current
from ...support.types import Array, DType, Keywords
from .gpu import Gpu, check, driver, gpu


@dataclass(eq=False, slots=True)
class LockedRange:
    """Bytes from `low` to before `high`, whose pages were locked for `gpu`.

    The device cannot write to them if they are `read_only`. `uses` counts who needs them locked.
    """

    low: int
    high: int
    gpu: Gpu
    read_only: bool = False
    keep: object = None  # the owner of the memory
    uses: int = 1

    @property
    def nbytes(self) -> int:
        """The length of the range."""
        return self.high - self.low


class LockedRanges:
    """Ranges that do not overlap, in tables that are replaced, not changed: reads need no lock."""

    def __init__(self) -> None:
        self._table: tuple[list[int], list[LockedRange]] = [], []
        self._lock = threading.Lock()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Forget all ranges, as in a forked child, whose pages no device knows."""
        self._table = [], []
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[LockedRange]:
        return iter(self._table[1])

    def add(self, found: LockedRange) -> None:
        """Add a range that overlaps with no other one."""
        with self._lock:
            starts, ranges = self._table
            at = bisect_left(starts, found.low)
            self._table = ([*starts[:at], found.low, *starts[at:]],
                           [*ranges[:at], found, *ranges[at:]])

    def remove(self, found: LockedRange) -> None:
        """Remove a range, if it is there."""
        with self._lock:
            ranges = [each for each in self._table[1] if each is not found]
            self._table = [each.low for each in ranges], ranges

    def covering(self, low: int, high: int) -> LockedRange | None:
        """Return the range that contains all bytes from `low` to `high`, or None."""
        starts, ranges = self._table
        at = bisect_right(starts, low) - 1
        return ranges[at] if at >= 0 and high <= ranges[at].high else None

    def around(self, array: Array) -> LockedRange | None:
        """Return the range that contains all of an array, or None."""
        low = address_of(array)
        return self.covering(low, low + array.nbytes)

    def touches(self, low: int, high: int) -> bool:
        """Return whether a range contains any of the bytes from `low` to `high`."""
        starts, ranges = self._table
        at = bisect_left(starts, high) - 1  # the last that begins before the end
        return low < high and at >= 0 and ranges[at].high > low


SMALLEST = 4096  # a page
_PORTABLE = driver.CU_MEMHOSTALLOC_PORTABLE
_FOR_ALL = driver.CU_MEMHOSTREGISTER_PORTABLE
_READ_ONLY = driver.CU_MEMHOSTREGISTER_READ_ONLY
RANGES = LockedRanges()


def _asking() -> Gpu:
    """Return the GPU in use, or else the first one: no other one gets a context for this."""
    found = getattr(in_use(), "gpu", None)
    return found if isinstance(found, Gpu) else gpu()


class Pinned:
    """One block of the pool; it returns to the pool by itself."""

    __slots__ = ("__weakref__", "address", "nbytes", "queue")

    def __init__(self, address: int, nbytes: int, queue: deque[tuple[int, int]]) -> None:
        self.address: int = address
        self.nbytes: int = nbytes
        self.queue: deque[tuple[int, int]] = queue

    @property
    def __array_interface__(self) -> Keywords:
        return {"shape": (self.nbytes,), "typestr": "|u1", "data": (self.address, False),
                "version": 3}

    def __del__(self) -> None:
        if getattr(self, "queue", None) is not None and self.address:  # else it has no pages
            # atomic, and no lock: this may run in the middle of anything
            self.queue.append((self.address, self.nbytes))


class PinnedPool:
    """A pool of blocks in sizes of four steps to a power of two.

    Of its idle blocks, ``settings.page_locked_bytes`` are kept.
    """

    def __init__(self) -> None:
        self._owned: dict[int, LockedRange] = {}  # every block by its address
        self._spare: dict[int, list[int]] = {}
        self._freed: deque[tuple[int, int]] = deque()
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Forget all blocks, in a forked child, where they cannot be unlocked; make a new lock."""
        self._lock = threading.RLock()  # a handler of signals may fork
        for container in (self._owned, self._spare, self._freed):
            container.clear()

    def pause(self) -> list[LockedRange]:
        """Block taking and unlocking until `resume`; return the blocks under live arrays."""
        self._lock.acquire()
        idle = {address for spare in self._spare.values() for address in spare}
        idle.update(address for address, _ in self._freed)
        return [block for address, block in self._owned.items() if address not in idle]

    def resume(self) -> None:
        """End `pause`."""
        self._lock.release()

    @property
    def idle(self) -> int:
        """The bytes of blocks that wait for their next use."""
        return sum(size * len(spare) for size, spare in tuple(self._spare.items()))

    @property
    def in_use(self) -> int:
        """The bytes of the other blocks."""
        return sum(block.nbytes for block in tuple(self._owned.values())) - self.idle

    def take(self, nbytes: int, user: Gpu | None = None) -> Pinned:
        """Return a block of at least `nbytes` bytes; a new one is locked for `user`.

        Raise `OutOfDeviceMemory` if no more pages can be locked.
        """
        size = bucket(nbytes)
        with self._lock:
            self._collect()
            spare = self._spare.get(size)
            block = Pinned(0, size, self._freed)  # from now on it gives back what it has
            if spare:
                block.address = spare.pop()
            else:
                user = user or _asking()
                block.address = self._lock_pages(size, user)
                self._own(block.address, size, user)
        return block

    def _own(self, address: int, size: int, user: Gpu) -> None:
        self._owned[address] = block = LockedRange(address, address + size, user)
        RANGES.add(block)

    def array(self, size: int, dtype: DType) -> Array:
        """Return a 1-d array over a block of its own."""
        nbytes = size * dtype.itemsize
        return np.asarray(self.take(nbytes))[:nbytes].view(dtype)

    def _lock_pages(self, size: int, user: Gpu) -> int:
        request = f"{size} bytes of page-locked memory"
        with user.current():
            try:
                return int(check(driver.cuMemHostAlloc(size, _PORTABLE), request))
            except OutOfDeviceMemory:
                self._shrink(0)
                return int(check(driver.cuMemHostAlloc(size, _PORTABLE), request))

    def _collect(self) -> None:
        while self._freed:
            address, size = self._freed.popleft()
            if address not in self._owned:  # an interrupt came before it was
                self._own(address, size, _asking())
            self._spare.setdefault(size, []).append(address)
        most = current().page_locked_bytes
        if self.idle > most:
            self._shrink(most)

    def _shrink(self, most: int) -> None:
        """Unlock idle blocks, the largest first, until no more than `most` bytes are left."""
        for size in sorted(self._spare, reverse=True):
            while self._spare[size] and self.idle > most:
                block = self._owned.pop(self._spare[size].pop())
                RANGES.remove(block)
                if block.gpu.lost:  # then the driver unlocks nothing any more
                    continue
                with block.gpu.current():
                    check(driver.cuMemFreeHost(block.low),
                          f"freeing {size} bytes of page-locked memory")

    def trim(self, most: int = 0) -> None:
        """Free idle blocks until no more than `most` bytes are idle."""
        with self._lock:
            self._collect()
            self._shrink(most)


POOL = PinnedPool()


def bucket(nbytes: int) -> int:
    """Return the size of the block for so many bytes."""
    if nbytes <= SMALLEST:
        return SMALLEST
    step = 1 << max((nbytes - 1).bit_length() - 3, 12)
    return -(-nbytes // step) * step


# Memory of others

_holders: dict[int, LockedRange] = {}  # what is locked for a storage, by its id
_gone: deque[tuple[int, LockedRange]] = deque()
_lock = threading.Lock()


@in_child
def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    _holders.clear()
    _gone.clear()


def lock_for(storage: object, array: Array) -> bool:
    """Lock the pages of an array for as long as `storage` exists; return whether they are locked.

    That makes copies faster, no more: where the driver refuses to lock them, because other pages
    that overlap are locked or for any other reason, copies are staged.
    """
    with _lock:
        _collect()
        found = RANGES.around(array)
        of_pool = found is not None and found.keep is None
        if not array.nbytes or id(storage) in _holders or of_pool:
            return is_locked(array)
        if found is not None:
            found.uses += 1
        else:
            found = _register(array)
        if found is not None:
            _holders[id(storage)] = found
            weakref.finalize(storage, _gone.append, (id(storage), found))
    return found is not None


def _register(array: Array) -> LockedRange | None:
    low, user, read_only = address_of(array), _asking(), not _is_writable(array)
    if user.lost or RANGES.touches(low, low + array.nbytes):
        return None  # the driver would refuse it
    with user.current():
        flags = _FOR_ALL | (_READ_ONLY if read_only else 0)
        if int(driver.cuMemHostRegister(low, array.nbytes, flags)[0]):
            return None
    found = LockedRange(low, low + array.nbytes, user, read_only, array)
    RANGES.add(found)
    return found


def _is_writable(array: Array) -> bool:
    """Return whether pages can be written to: those of a file that is open for reading cannot."""
    base: object = array
    while isinstance(base, np.ndarray | memoryview):
        if isinstance(base, np.ndarray) and base.flags.writeable:
            return True
        base = base.base if isinstance(base, np.ndarray) else base.obj
    return False


def _collect() -> None:
    while _gone:
        storage, found = _gone.popleft()
        if _holders.get(storage) is found:
            del _holders[storage]
        found.uses -= 1
        if not found.uses:
            RANGES.remove(found)
            if not found.gpu.lost:
                with found.gpu.current():
                    check(driver.cuMemHostUnregister(found.low), "unlocking pages")


def locked_bytes() -> int:
    """Return the bytes of page-locked host memory: in use, idle in the pool, or registered."""
    return sum(found.nbytes for found in RANGES)


def is_locked(array: Array, written: bool = False) -> bool:
    """Return whether the device can copy from an array in one locked range, or write to it."""
    found = RANGES.around(array)
    return found is not None and array.flags.c_contiguous and not (written and found.read_only)


def is_partly_locked(array: Array, written: bool = False) -> bool:
    """Return whether the driver would refuse to copy this array, so that it has to be staged."""
    low = address_of(array)
    return RANGES.touches(low, low + array.nbytes) and not is_locked(array, written)


# Forked children have a copy of their own of page-locked memory, as of all other memory. What the
# driver allocates may be shared with a child, which would then write to the parent's arrays, or may
# be missing there. So before a fork the blocks that are in use are copied to ordinary memory, and
# the child maps the copies to the addresses of the blocks


_MAY_MOVE, _FIXED = 1, 2  # of mremap()
_FAILED = ctypes.c_void_p(-1).value
_PRIVATE = getattr(mmap, "MAP_PRIVATE", 0) | getattr(mmap, "MAP_ANONYMOUS", 0)
_ACCESS = getattr(mmap, "PROT_READ", 0) | getattr(mmap, "PROT_WRITE", 0)


@cache
def _libc() -> Any:
    found = ctypes.CDLL(None, use_errno=True)
    size, address = ctypes.c_size_t, ctypes.c_void_p
    found.mmap.argtypes = address, size, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long
    found.munmap.argtypes = address, size
    found.mremap.argtypes = address, size, size, ctypes.c_int, address
    found.mmap.restype = found.mremap.restype = address
    return found


class ForkCopies:
    """The copies of one fork: address, address of the copy, size."""

    def __init__(self, pool: PinnedPool) -> None:
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


if sys.platform == "linux":  # elsewhere there is no CUDA with forks
    _copies = ForkCopies(POOL)
    at_fork(before=_copies.make, after_in_parent=_copies.free, after_in_child=_copies.map)
