"""`Pooled`: a device's memory with a limit, blocks cached for the next use, and eviction.

Subclasses implement `raw_allocate`, `raw_free` and the copies. A handle is any object with
``nbytes``, ``tick`` (the time of its last use, by `CLOCK`) and ``line`` (the line that allocated
it).
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Iterator
from itertools import count

from ..core.access_record import line_of, user_line
from ..core.registry import CubeLike, Handle, Memory
from ..errors import OutOfDeviceMemory

CLOCK = count(1)  # the ticks of uses of handles


class Pooled(Memory):
    """A memory that never allocates more than ``limit`` bytes (None: all that the device has).

    When it is full, cached blocks are freed, then copies of data that is fresh elsewhere, then the
    least recently used ones, which are copied to the host first. Copies that are being accessed, or
    kept by ``keep``, are not evicted. `free` only queues the handle, since it can be called from
    any thread at any time.
    """

    granule = 1  # sizes are multiples of that many bytes

    def __init__(self, name: str) -> None:
        self.name = name
        self.limit: int | None = None
        self.lock = threading.RLock()
        self.used = 0  # bytes of handles in use
        self.kept = 0  # bytes of cached blocks
        self._spare: dict[int, list[Handle]] = {}  # cached blocks by size
        self._freed: deque[Handle] = deque()  # queued by `free`
        # id of the handle -> the handle and its cube
        self._owners: dict[int, tuple[Handle, weakref.ref[CubeLike]]] = {}

    # Implemented by subclasses

    def raw_allocate(self, nbytes: int) -> Handle:
        """Allocate on the device; raise `OutOfDeviceMemory` if it has not so many bytes left."""
        raise NotImplementedError

    def raw_free(self, handle: Handle) -> None:
        """Return `handle` to the device."""
        raise NotImplementedError

    def retire(self, handle: Handle) -> None:
        """Prepare a handle that was freed for being cached. Optional."""

    def renew(self, handle: Handle) -> None:
        """Prepare a cached handle for its next use. Optional."""

    # The methods of `Memory`

    def allocate(self, cube: CubeLike) -> Handle:
        return self.take(cube.nbytes, cube)

    def take(self, nbytes: int, cube: CubeLike = None) -> Handle:
        """Return a handle of at least `nbytes` bytes, for a cube or for the time of a call."""
        size = -(-nbytes // self.granule) * self.granule
        with self.lock:
            self._collect()
            handle = self._reuse(size) or self._make_room(size, cube)
            self.used += size
            handle.tick = next(CLOCK)
            if cube is not None:
                handle.line = line_of(user_line())
                self._owners[id(handle)] = handle, weakref.ref(cube)
        return handle

    def free(self, handle: Handle) -> None:
        self._freed.append(handle)  # atomic, and no lock

    def _collect(self) -> None:
        """Cache the handles that were freed since the last call."""
        while self._freed:
            handle = self._freed.popleft()
            self._owners.pop(id(handle), None)
            self.used -= handle.nbytes
            self.kept += handle.nbytes
            self._spare.setdefault(handle.nbytes, []).append(handle)
            self.retire(handle)

    def _reuse(self, size: int) -> Handle | None:
        spares = self._spare.get(size)
        if not spares:
            return None
        handle = spares.pop()
        self.kept -= size
        self.renew(handle)
        return handle

    def _make_room(self, size: int, cube: CubeLike) -> Handle:
        """Return a new handle, evicting others if there is not enough room for it."""
        evictions, refused = self._evictions(cube), None
        while True:
            if self.limit is None or self.used + self.kept + size <= self.limit:
                try:
                    return self.raw_allocate(size)
                except OutOfDeviceMemory as error:
                    # less is left than the limit allows: other programs use the device, too
                    refused = error
            if next(evictions, None) is None:
                raise OutOfDeviceMemory(self._full_message(size)) from refused
            self._collect()
            handle = self._reuse(size)
            if handle is not None:
                return handle

    def _evictions(self, cube: CubeLike) -> Iterator[bool]:
        """Free one block after another for `cube`, the least expensive first."""
        while self.kept:
            yield self._shrink()
        for dirty in (False, True):
            for handle, ref in sorted(self._owners.values(), key=lambda item: item[0].tick):
                other = ref()
                if (other is not None and other is not cube and other.handles.get(self) is handle
                        and other.evict(self, dirty)):
                    yield True
                while self.kept:
                    yield self._shrink()

    def _shrink(self) -> bool:
        """Return the largest cached block to the device."""
        size = max(k for k, spares in self._spare.items() if spares)
        handle = self._spare[size].pop()
        self.kept -= size
        self.raw_free(handle)
        return True

    def trim(self) -> None:
        """Return all cached blocks to the device."""
        with self.lock:
            self._collect()
            while self.kept:
                self._shrink()

    def restrict(self, limit: int | None) -> int | None:
        """Set the limit, evicting copies beyond it; return the limit before."""
        with self.lock:
            before, self.limit = self.limit, limit
            self._collect()
            evictions = self._evictions(None)
            try:
                while limit is not None and self.used + self.kept > limit:
                    if next(evictions, None) is None:
                        raise OutOfDeviceMemory(self._full_message(0))
                    self._collect()
            except BaseException:
                self.limit = before
                raise
        return before

    # Reporting

    def held(self) -> list[tuple[int, str, str]]:
        """Return bytes, label and source line of every handle of a cube, the largest first."""
        with self.lock:
            self._collect()
            found = [(handle.nbytes, cube, handle.line) for handle, ref in self._owners.values()
                     if (cube := ref()) is not None]
        return sorted(((n, _label(c), line_of(c.made) or line) for n, c, line in found),
                      key=lambda row: -row[0])

    def _full_message(self, size: int) -> str:
        limit = "all that the device has" if self.limit is None else f"pool_bytes = {self.limit}"
        rows = self.held()
        listed = "".join(f"\n  {n:>14,} bytes  {label}  {line}" for n, label, line in rows[:20])
        more = f"\n  and {len(rows) - 20} more" if len(rows) > 20 else ""
        return (f"{size:,} bytes do not fit into {self.name!r}, {limit}, of which {self.used:,} "
                "are in use and cannot be evicted now; leave blocks that access or keep Mats, "
                f"drop() copies that are not needed, or give more pool_bytes.{listed}{more}")


def _label(cube: CubeLike) -> str:
    """Return the label of a Mat that sees `cube`, or one of `cube` if there is none."""
    views = (ref() for ref in tuple(cube.viewers))
    view = next((v for v in views if v is not None), None)
    return f"<{cube.size} elements of {cube.dtype}>" if view is None else str(view.label())
