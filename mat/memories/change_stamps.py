"""Stamps of memory that detect writes of others.

Memory is looked at in blocks, and each has a stamp: a number that differs after a change. It is the
version that a tensor of torch counts, a digest of the bytes, or how often the system has seen one
of its pages written.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any, Protocol
from weakref import WeakSet

import numpy as np

from ..support.fork import members
from ..support.native import ffi, lib
from ..support.plugins import plugin
from ..support.types import Array
from .file_pages import PAGE, is_private

MOST_DIGESTED = 1 << 20  # bytes: larger memory is tracked by its pages, if the system can do that
BLOCK = 1 << 16  # bytes
Version = Callable[[], object]
Region = tuple[int, int]  # of addresses


class Stamps:
    """The stamps of memory, each for a block of so many bytes; the first has `shift` bytes less."""

    block: int
    shift: int = 0

    def now(self, first: int, last: int) -> Array | None:
        """Return the stamps of blocks as they are now; None if nobody can tell."""
        raise NotImplementedError

    def has(self, stamps: Array, known: Array) -> bool:
        """Return whether all blocks are known to have them; False if only `now` can tell."""
        raise NotImplementedError

    def end(self) -> None:
        """Look at the memory no longer."""


class Tracking(Protocol):
    """The interface of a tracker of written pages."""

    def begin(self, low: int, high: int) -> None: ...
    def end(self, low: int, high: int) -> None: ...
    def written(self, low: int, high: int) -> list[Region]: ...


class Unknown(Stamps):
    """No stamps: the memory may have changed whenever it is looked at."""

    def __init__(self, nbytes: int) -> None:
        self.block: int = max(nbytes, 1)

    def now(self, first: int, last: int) -> None:  # noqa: ARG002  # as the others
        return None

    def has(self, stamps: Array, known: Array) -> bool:  # noqa: ARG002
        return False


class Versions(Stamps):
    """The version that the owner counts, as a stamp of all of the memory."""

    def __init__(self, nbytes: int, version: Version) -> None:
        self.block: int = max(nbytes, 1)
        self.version: Version = version

    def now(self, first: int, last: int) -> Array:
        return np.array([self.version()] * (last - first), np.uint64)

    def has(self, stamps: Array, known: Array) -> bool:
        return bool(known.all()) and bool((stamps == self.version()).all())


class Digests(Stamps):
    """Digests of the bytes."""

    block = BLOCK

    def __init__(self, address: int, nbytes: int) -> None:
        self.address: int = address
        self.nbytes: int = nbytes
        self.remembered: tuple[Any, ...] = ()  # arrays of stamps, and their addresses

    def has(self, stamps: Array, known: Array) -> bool:
        if lib is None:
            return False
        at = self.remembered
        if not at or at[0] is not stamps or at[1] is not known:
            at = self.remembered = (stamps, known, ffi.cast("void *", self.address),
                                    ffi.from_buffer("uint64_t[]", stamps),
                                    ffi.from_buffer("uint8_t[]", known))
        return bool(lib.mat_has_digests(at[2], self.nbytes, BLOCK, at[3], at[4]))

    def now(self, first: int, last: int) -> Array:
        return digests(self.address + first * BLOCK, min(last * BLOCK, self.nbytes) - first * BLOCK)


def digests(address: int, nbytes: int, block: int = BLOCK) -> Array:
    """Return a digest of each block of the bytes from an address on."""
    found = np.empty(-(-nbytes // block), np.uint64)
    if lib is not None:
        lib.mat_digests(ffi.cast("void *", address), nbytes, block,
                        ffi.from_buffer("uint64_t[]", found))
        return found
    data = ffi.buffer(ffi.cast("char *", address), nbytes)
    for k in range(found.size):
        found[k] = hash(data[k * block:(k + 1) * block]) & 0xFFFF_FFFF_FFFF_FFFF
    return found


_all_tracked: WeakSet[TrackedPages] = WeakSet()
_lock = threading.RLock()  # of what the system is asked: each answer is given once


class TrackedPages(Stamps):
    """Write counts of whole pages, and digests of the bytes on shared pages at both ends."""

    block = BLOCK

    def __init__(self, address: int, nbytes: int, tracking: Tracking) -> None:
        self.shift: int = address % PAGE  # no page is in two blocks
        self.address: int = address
        self.nbytes: int = nbytes
        self.low: int = -(-address // PAGE) * PAGE
        self.high: int = (address + nbytes) // PAGE * PAGE
        self.counts: Array = np.zeros(-(-(nbytes + self.shift) // BLOCK), np.uint64)
        self.tracking: Tracking = tracking
        tracking.begin(self.low, self.high)
        _all_tracked.add(self)

    def has(self, stamps: Array, known: Array) -> bool:  # noqa: ARG002
        return False  # the system reports each write once, and `now` counts them

    def now(self, first: int, last: int) -> Array:
        start = self.address - self.shift
        with _lock:
            for region in self.tracking.written(max(start + first * BLOCK, self.low),
                                                min(start + last * BLOCK, self.high)):
                for other in members(_all_tracked):
                    other.count(region)
            found = self.counts[first:last].copy()
        if first == 0:
            found[:1] += digests(self.address, self.low - self.address, PAGE).sum()
        if last == self.counts.size:
            end = self.address + self.nbytes
            found[-1:] += digests(self.high, end - self.high, PAGE).sum()
        return found

    def count(self, region: Region) -> None:
        """Count a write to a region of pages, which may be another's memory after the last page."""
        low, high = max(region[0], self.low), min(region[1], self.high)
        if low < high:
            start = self.address - self.shift
            self.counts[(low - start) // BLOCK:-(-(high - start) // BLOCK)] += np.uint64(1)

    def end(self) -> None:
        with _lock:
            _all_tracked.discard(self)
            if not any(other.low < self.high and self.low < other.high
                       for other in members(_all_tracked)):
                self.tracking.end(self.low, self.high)


def page_tracking() -> Tracking | None:
    """Return the page tracker of this process; None where the system has none."""
    if sys.platform != "linux":
        return None
    return plugin("page_tracking").page_tracking()


def stamps_of(address: int, nbytes: int) -> tuple[Stamps, bool]:
    """Return the stamps of host memory, and whether they cost as much as reading all of it."""
    if nbytes > MOST_DIGESTED:
        tracking = page_tracking() if is_private(address, nbytes) else None
        try:
            if tracking is not None:
                return TrackedPages(address, nbytes, tracking), False
        except OSError:  # somebody else tracks these pages
            pass
    return Digests(address, nbytes), nbytes > MOST_DIGESTED


class Seen:
    """The stamps of memory at its last exchange with other memories."""

    def __init__(self, source: Stamps, nbytes: int) -> None:
        self.source: Stamps = source
        self.block: int = source.block
        self.shift: int = source.shift
        self.process: int = os.getpid()
        blocks = -(-(nbytes + self.shift) // source.block)
        self.stamps: Array = np.zeros(blocks, np.uint64)
        self.known: Array = np.zeros(blocks, bool)

    def stands(self) -> bool:
        """Return whether the owner has not written by a quick check; else `changes` can tell."""
        return self.process == os.getpid() and self.source.has(self.stamps, self.known)

    def blocks(self, low: int, high: int) -> tuple[int, int]:
        """Return the first block of the bytes from `low` to `high`, and the one after the last."""
        return (low + self.shift) // self.block, -(-(high + self.shift) // self.block)

    def changes(self, first: int, last: int) -> tuple[Array | None, Array, Array]:
        """Return the current stamps, the changed blocks, and the unknown ones."""
        now, unknown = self.source.now(first, last), ~self.known[first:last]
        if now is None:
            return None, unknown & False, unknown
        return now, ~unknown & (now != self.stamps[first:last]), unknown

    def record(self, first: int, now: Array | None, where: Any = ...) -> None:
        """Remember the stamps of blocks from `first` on, of those that `where` selects."""
        if now is not None:
            self.stamps[first:first + now.size][where] = now[where]
            self.known[first:first + now.size][where] = True

    def forget(self, first: int, last: int) -> None:
        """Mark stamps as unknown before `mat` writes, which is no change of the owner's."""
        self.known[first:last] = False

    def end(self) -> None:
        """Look at the memory no longer."""
        if self.process == os.getpid():
            self.source.end()
