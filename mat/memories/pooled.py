"""The memory of a device: how much of it we hold, blocks kept for the next use, and who has to go
when it is full.

Shared by all devices, with what they and their facets do about it; what is special about one is
below `raw_allocate` and the copies. A handle is whatever subclasses make, with ``nbytes``, ``tick``
(when it was last used) and ``line`` (who had it allocated).
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Iterator
from itertools import count
from typing import Any

from ..core.access_record import line_of, user_place
from ..core.registry import Memory
from ..errors import OutOfDeviceMemory

CLOCK = count(1)


class Pooled(Memory):
    """A memory that is never allowed more than ``limit`` bytes (None: what the device has).

    When it is full, kept blocks are freed, then copies of what is fresh elsewhere, then the least
    recently used ones that must be copied to the host first. What is being looked at, or kept by a
    block, stays. `free` only notes: it may be called from anywhere, and at any time.
    """

    granule = 1  # sizes are multiples of that many bytes

    def __init__(self, name: str) -> None:
        self.name = name
        self.limit: int | None = None
        self.lock = threading.RLock()
        self.used = 0  # bytes in the hands of cubes
        self.kept = 0  # bytes of blocks that wait for their next use
        self._spare: dict[int, list[Any]] = {}
        self._freed: deque[Any] = deque()
        self._owners: dict[int, tuple[Any, weakref.ref[Any]]] = {}  # id of the handle: handle, cube

    # What subclasses do

    def raw_allocate(self, nbytes: int) -> Any:
        """A new handle; `OutOfDeviceMemory` if the device has no room."""
        raise NotImplementedError

    def raw_free(self, handle: Any) -> None:
        """Give it back to the device."""
        raise NotImplementedError

    def retire(self, handle: Any) -> None:
        """A handle was given back, and is kept for its next use."""

    def renew(self, handle: Any) -> None:
        """A kept handle is used again."""

    # Memory

    def allocate(self, cube: Any) -> Any:
        return self.take(cube.nbytes, cube)

    def take(self, nbytes: int, cube: Any = None) -> Any:
        """A handle of at least so many bytes, for a cube or for the time of a call."""
        size = -(-nbytes // self.granule) * self.granule
        with self.lock:
            self._collect()
            handle = self._reuse(size) or self._make_room(size, cube)
            self.used += size
            handle.tick = next(CLOCK)
            if cube is not None:
                handle.line = line_of(user_place())
                self._owners[id(handle)] = handle, weakref.ref(cube)
        return handle

    def free(self, handle: Any) -> None:
        self._freed.append(handle)  # atomic, and no lock

    def _collect(self) -> None:
        """Take in what was freed since."""
        while self._freed:
            handle = self._freed.popleft()
            self._owners.pop(id(handle), None)
            self.used -= handle.nbytes
            self.kept += handle.nbytes
            self._spare.setdefault(handle.nbytes, []).append(handle)
            self.retire(handle)

    def _reuse(self, size: int) -> Any:
        spares = self._spare.get(size)
        if not spares:
            return None
        handle = spares.pop()
        self.kept -= size
        self.renew(handle)
        return handle

    def _make_room(self, size: int, cube: Any) -> Any:
        """A new handle, after others have made room where that is needed."""
        leaving, refused = self._leaving(cube), None
        while True:
            if self.limit is None or self.used + self.kept + size <= self.limit:
                try:
                    return self.raw_allocate(size)
                except OutOfDeviceMemory as error:
                    # the device has less than we may take: others use it, too
                    refused = error
            if next(leaving, None) is None:
                raise OutOfDeviceMemory(self._complaint(size)) from refused
            self._collect()
            handle = self._reuse(size)
            if handle is not None:
                return handle

    def _leaving(self, cube: Any) -> Iterator[bool]:
        """Free one thing after another, what costs least first."""
        while self.kept:
            yield self._shrink()
        for dirty in (False, True):
            for handle, ref in sorted(self._owners.values(), key=lambda item: item[0].tick):
                other = ref()
                if other is not None and other is not cube and other.handles.get(self) is handle and other.evict(self, dirty):
                    yield True
                while self.kept:
                    yield self._shrink()

    def _shrink(self) -> bool:
        """Give the largest kept block back to the device."""
        size = max(k for k, spares in self._spare.items() if spares)
        handle = self._spare[size].pop()
        self.kept -= size
        self.raw_free(handle)
        return True

    def trim(self) -> None:
        """Give all kept blocks back to the device."""
        with self.lock:
            self._collect()
            while self.kept:
                self._shrink()

    def restrict(self, limit: int | None) -> int | None:
        """Hold no more than `limit` bytes from now on, evicting what is beyond; return what held
        before.
        """
        with self.lock:
            before, self.limit = self.limit, limit
            self._collect()
            leaving = self._leaving(None)
            try:
                while limit is not None and self.used + self.kept > limit:
                    if next(leaving, None) is None:
                        raise OutOfDeviceMemory(self._complaint(0))
                    self._collect()
            except BaseException:
                self.limit = before
                raise
        return before

    # Saying what is here

    def held(self) -> list[tuple[int, str, str]]:
        """What cubes hold, largest first: bytes, a label, and a source line."""
        with self.lock:
            self._collect()
            found = [(h.nbytes, c, h.line) for h,
                     c in ((h, ref()) for h, ref in self._owners.values()) if c is not None]
        return sorted(((n, _label(c), line_of(c.made) or line) for n, c, line in found),
                      key=lambda row: -row[0])

    def _complaint(self, size: int) -> str:
        limit = "all that the device has" if self.limit is None else f"pool_bytes = {self.limit}"
        rows = self.held()
        listed = "".join(f"\n  {n:>14,} bytes  {label}  {line}" for n, label, line in rows[:20])
        more = f"\n  and {len(rows) - 20} more" if len(rows) > 20 else ""
        return (f"{size:,} bytes do not fit into {self.name!r}, {limit}, of which {self.used:,} "
                "are in use and cannot be evicted now; leave blocks that access Mats or keep() them, "
                f"drop() copies that are not needed, or give more pool_bytes.{listed}{more}")


def _label(cube: Any) -> str:
    """A Mat that looks at the cube, in words; or the cube, if there is none."""
    views = (ref() for ref in tuple(cube.viewers))
    view = next((v for v in views if v is not None), None)
    return f"<{cube.size} elements of {cube.dtype}>" if view is None else str(view.label())
