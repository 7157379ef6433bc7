"""Page-locked host memory: a pool of it, since locking pages takes far longer than a copy. Copies
from and to it need no staging.

Arrays over such memory, and views of them, keep it in use; it returns to the pool after the last.
"""

from __future__ import annotations

import os
import threading
from collections import deque

import numpy as np
from cuda.bindings import driver

from ..errors import OutOfDeviceMemory
from ..support.c_pointers import address_of
from ..support.fork import renew_after_fork
from ..support.options import current
from ..support.types import Array, DType, Keywords
from .gpu import check, gpu

SMALLEST = 4096  # a page
_PORTABLE = driver.CU_MEMHOSTALLOC_PORTABLE
ALREADY = 712  # CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED


class Pinned:
    """One block of the pool, to which it returns by itself."""

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
        self._owned: dict[int, int] = {}  # the size of every block by its address
        self.after_fork()
        renew_after_fork(self)
        self._spare: dict[int, list[int]] = {}
        self._freed: deque[tuple[int, int]] = deque()

    def after_fork(self) -> None:
        """Make a new lock, as in a forked child."""
        self._lock = threading.Lock()

    @property
    def idle(self) -> int:
        """The bytes of blocks that wait for their next use."""
        return sum(size * len(spare) for size, spare in tuple(self._spare.items()))

    @property
    def in_use(self) -> int:
        """The bytes of the other blocks."""
        return sum(tuple(self._owned.values())) - self.idle

    def take(self, nbytes: int) -> Pinned:
        """Return a block of at least so many bytes.

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
                block.address = self._lock_pages(size)
                self._owned[block.address] = size
        return block

    def array(self, size: int, dtype: DType) -> Array:
        """Return a 1-d array over a block of its own."""
        nbytes = size * dtype.itemsize
        return np.asarray(self.take(nbytes))[:nbytes].view(dtype)

    def _lock_pages(self, size: int) -> int:
        request = f"{size} bytes of page-locked memory"
        with gpu().current():
            try:
                return int(check(driver.cuMemHostAlloc(size, _PORTABLE), request))
            except OutOfDeviceMemory:
                self._shrink(0)
                return int(check(driver.cuMemHostAlloc(size, _PORTABLE), request))

    def _collect(self) -> None:
        while self._freed:
            address, size = self._freed.popleft()
            self._owned[address] = size
            self._spare.setdefault(size, []).append(address)
        most = current().page_locked_bytes
        if self.idle > most:
            self._shrink(most)

    def _shrink(self, most: int) -> None:
        """Unlock idle blocks, the largest first, until no more than `most` bytes are left."""
        with gpu().current():
            for size in sorted(self._spare, reverse=True):
                while self._spare[size] and self.idle > most:
                    address = self._spare[size].pop()
                    self._owned.pop(address, None)
                    check(driver.cuMemFreeHost(address),
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


class Registered:
    """Memory outside of the pool with locked pages; it keeps the array until they are unlocked."""

    __slots__ = ("array",)

    def __init__(self, array: Array) -> None:
        self.array: Array = array


_registered: dict[tuple[int, int], Registered] = {}
_gone: deque[tuple[int, int]] = deque()
_lock = threading.Lock()


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def register(array: Array) -> tuple[int, int]:
    """Lock the pages of an array and keep it; return the key for `release`."""
    key = address_of(array), array.nbytes
    with _lock:
        _collect()
        if key not in _registered and array.nbytes:
            with gpu().current():
                result = driver.cuMemHostRegister(key[0], key[1],
                                                  driver.CU_MEMHOSTREGISTER_PORTABLE)
                if int(result[0]) != ALREADY:  # locked by another library
                    check(result, f"locking the pages of {key[1]} bytes")
                    _registered[key] = Registered(array)
    return key


def release(key: tuple[int, int]) -> None:
    """Have the pages unlocked later; this may be called from anywhere, at any time."""
    _gone.append(key)


def _collect() -> None:
    while _gone:
        found = _registered.pop(_gone.popleft(), None)
        if found is not None:
            with gpu().current():
                check(driver.cuMemHostUnregister(address_of(found.array)), "unlocking pages")


def locked_bytes() -> int:
    """Return the bytes of page-locked host memory: in use, idle in the pool, or registered."""
    return POOL.in_use + POOL.idle + sum(nbytes for _, nbytes in tuple(_registered))


def is_locked(array: Array) -> bool:
    """Return whether the device can copy from and to this array, or view of one, by itself."""
    base: object = array
    while isinstance(base, np.ndarray | memoryview):
        if not isinstance(base, memoryview) and (address_of(base), base.nbytes) in _registered:
            return True
        base = _base_of(base)
    return isinstance(base, Pinned)


def is_of_pool(array: Array) -> bool:
    """Return whether an array, or view of one, is over a block of the pool."""
    base: object = array
    while isinstance(base, np.ndarray | memoryview):
        base = _base_of(base)
    return isinstance(base, Pinned)


def _base_of(array: Array | memoryview) -> object:
    return array.obj if isinstance(array, memoryview) else array.base  # of a read-only array
