"""`Pooled`: a device's memory with a limit, blocks cached for the next use, and eviction.

Subclasses implement `raw_allocate`, `raw_free` and the copies. A handle has ``nbytes``, ``room``
(the bytes of its block, at least as many), ``tick`` (the time of its last use, by `CLOCK`) and
``line`` (the source line that allocated it, or None), and weak references. It owns its memory: one
that is garbage without having been freed (an interrupt came in between) counts no longer, and its
memory is returned by its class.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import count
from threading import get_ident
from typing import Any
from weakref import ref

from ..core.compiled import BLOCKS, THREADS
from ..core.compiled import Lock as NewLock
from ..core.export import exports_of
from ..core.registry import Handle, HasCopies, Memory, memories
from ..core.source_line import line_of
from ..errors import OutOfDeviceMemory
from ..support import host_pool
from ..support.fork import renew_after_fork
from ..support.plugins import loaded_plugin

CLOCK = _clock = count(1)  # the ticks of uses of handles
_blocks, _threads = BLOCKS, THREADS  # with types of C
LARGE = 1 << 20  # bytes of a block above which it is returned to the device, which splits and joins
FEW_FREED = 8  # freed handles that are looked through for one to use again
SLACK = 4 << 20  # bytes that may be held beside a quarter more than were in use at once


def size_class(nbytes: int) -> int:
    """Return the most bytes of blocks cached together, in steps of 512 or of an eighth."""
    step = 512
    if nbytes > 1 << 16:
        step = 1 << (int(nbytes - 1).bit_length() - 4)
    return (nbytes + step - 1) // step * step


class _Lease(ref[Handle]):
    """A handle in use, by a weak reference, and its cube, None for the time of a call."""

    __slots__ = ("cube", "key", "nbytes", "thread")

    key: int  # the id of the handle
    nbytes: int
    cube: ref[HasCopies] | None
    thread: int  # that has the handle until a cube has it; 0: exports have it

    def assign(self, cube: HasCopies | None) -> None:
        """Record the calling thread's purpose for the handle."""
        self.thread = get_ident()
        self.cube = None if cube is None else ref(cube)


class FreedHandles:
    """Handles that were freed and are not collected, the leases of all, and their lock."""

    def __init__(self, renews: bool) -> None:
        self.handles: deque[Handle] = deque()
        self.leases: dict[int, _Lease] = {}  # by the id of the handle
        self.lock: NewLock = NewLock()
        self.renews: bool = renews  # handles have to be renewed before they are used again

    def take(self, pool: Pooled | None, size: int, cube: HasCopies | None) -> Handle | None:
        """Return one of few handles that were freed since the last collection, if it is of the
        class of that size, with its lease: no sum changes.

        That is a loop's case, in which results replace those of the turn before. With None for
        `pool`, the handle has just that size, and the caller need not hold the lock: compiled, no
        other thread runs between the last lines.
        """
        handles = self.handles
        number = len(handles)
        if number > FEW_FREED:
            return None
        for k in range(number):  # other threads only append
            handle = handles[k]
            if pool is None:
                if handle.room != size or handle.nbytes != size:
                    continue
            elif not pool._is_of_class(handle, size):
                continue
            lease = self.leases.get(id(handle))
            if (lease is None or lease() is not handle
                    or (number > 1 and handles.count(handle) > 1)  # freed before
                    or (pool is not None and not pool.fit(handle, size))):
                continue
            held = None if cube is None else ref(cube)
            if k >= len(handles) or handles[k] is not handle:
                return None
            del handles[k]
            lease.thread, lease.cube = get_ident(), held
            return handle
        return None


class Pooled(Memory):
    """A memory that never allocates more than ``limit`` bytes (None: all that the device has).

    When it is full, cached blocks are freed, then copies of data that is fresh elsewhere, then the
    least recently used ones, which are copied to the host first. Copies that are being accessed, or
    kept by ``keep``, are not evicted. `free` only queues the handle, since it can be called from
    any thread at any time.

    The handles that exist are what counts: sums of their bytes are kept only while nothing changes,
    so that an interrupt between two steps of a change makes no sum wrong.
    """

    granule = 1  # sizes are multiples of that many bytes
    # the class of handles whose `exported` is None unless other libraries have their address
    exports: Any = None

    def __init__(self, name: str) -> None:
        self.name = name
        self._limits: dict[object, int] = {}  # by what set them
        self._spare: dict[int, list[Handle]] = {}  # cached blocks by `size_class`
        self._recent = FreedHandles(type(self).renew is not Pooled.renew)
        self.lock: NewLock = self._recent.lock
        self._freed: deque[Handle] = self._recent.handles  # queued by `free`
        self._leases: dict[int, _Lease] = self._recent.leases
        self._lost: deque[_Lease] = deque()  # of handles that are garbage and were not freed
        self._sums: tuple[int, int] | None = (0, 0)  # None: to be added up again
        self._most = 0  # bytes that were in use at once since `trim`
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Free handles of threads that the child does not have."""
        self._sums = None
        here = get_ident()
        for lease in tuple(self._leases.values()):
            if lease.thread not in (0, here) and self._is_lost(lease):
                self._freed.append(lease())

    def _is_lost(self, lease: _Lease) -> bool:
        """Return whether neither a cube nor an export has the handle of `lease`."""
        handle = lease()
        cube = None if lease.cube is None else lease.cube()
        if handle is None or cube is None:
            return handle is not None
        return cube.handles.get(self) is not handle and not exports_of(cube.accesses, handle)

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

    def fit(self, handle: Handle, nbytes: int) -> bool:
        """Resize a freed handle within its block; return False if that is impossible. Optional."""
        return bool(handle.nbytes == nbytes)

    @property
    def returns(self) -> bool:
        """Whether blocks may be returned to the device now. Optional."""
        return True

    # The methods of `Memory`

    def allocate(self, cube: Any) -> Handle:
        return _take(self, self._recent, self.granule, cube.nbytes, cube)

    def take(self, nbytes: int, cube: HasCopies | None = None) -> Handle:
        """Return a handle of at least `nbytes` bytes, for a cube or for the time of a call."""
        return _take(self, self._recent, self.granule, nbytes, cube)

    def take_other(self, size: int, cube: HasCopies | None) -> Handle:
        """Return a handle other than one just freed; the caller holds the lock."""
        handle = None
        if size <= LARGE and self.limit is None and len(self._freed) <= FEW_FREED:
            # first: what was freed just now is used again by a loop's next turn
            handle = self._cached(size) if size else None
            if handle is None:
                self._set_aside()
        else:
            self._collect(size)
        if handle is None:
            handle = self._reuse(size)
        if handle is None:
            self._bound(size)
            handle = self._make_room(size, cube)
        self._lease(handle, cube)
        return handle

    def _is_of_class(self, handle: Handle, size: int) -> bool:
        """Return whether a block serves `size` bytes: of its class, or little of the limit more."""
        room: int = handle.room
        if room < size or size_class(room) != size_class(size):
            return False
        limit = None if room == size else self.limit
        return limit is None or (room - size) << 6 <= limit

    def note_use(self, handle: Handle) -> None:
        handle.tick = next(CLOCK)

    def block_at(self, address: int) -> tuple[Handle, HasCopies | None] | None:
        """Return the handle with an address, and its cube if in use, without a lock; or None."""
        leases = [(lease(), None if lease.cube is None else lease.cube())
                  for lease in tuple(self._leases.values())]
        spares = [(handle, None) for found in tuple(self._spare.values()) for handle in found]
        for handle, cube in (*leases, *spares):
            begin = getattr(handle, "address", None)
            if begin is not None and begin <= address < begin + handle.room:
                used = cube is not None and cube.handles.get(self) is handle
                return handle, cube if used else None
        return None

    def free(self, handle: Handle) -> None:
        if self.exports and (type(handle) is not self.exports or handle.exported is not None):
            self.free_exported(handle)
        else:
            self._freed.append(handle)  # atomic, and no lock

    def free_exported(self, handle: Handle) -> None:
        """Free a handle that others may use, where handles are of the class `exports`. Optional."""
        raise NotImplementedError

    def retain(self, handle: Handle) -> None:
        lease = self._leases.get(id(handle))
        if lease is not None and lease() is handle:
            lease.thread = 0

    # Counting

    def _counted(self) -> tuple[int, int]:
        """Return the bytes of handles in use, and of cached blocks."""
        sums = self._sums
        if sums is None:
            sums = self._sums = (sum(lease.nbytes for lease in self._leases.values()),
                                 sum(handle.room for spares in self._spare.values()
                                     for handle in spares))
        return sums

    @property
    def used(self) -> int:
        """The bytes of handles in use."""
        with self.lock:
            self._forget_lost()
            return self._counted()[0]

    @property
    def kept(self) -> int:
        """The bytes of cached blocks."""
        with self.lock:
            return self._counted()[1]

    def _lease(self, handle: Handle, cube: HasCopies | None) -> None:
        """Count `handle`, in no container, as in use."""
        (used, kept), self._sums = self._counted(), None
        lease = _Lease(handle, self._lost.append)
        lease.key, lease.nbytes = id(handle), handle.room
        lease.assign(cube)
        before = self._leases.get(lease.key)  # of a handle that is garbage
        self._leases[lease.key] = lease
        self._sums = used + lease.nbytes - (0 if before is None else before.nbytes), kept

    def _forget_lost(self) -> None:
        """Do not count handles that are garbage and were not freed."""
        while self._lost:
            lease = self._lost[0]
            if self._leases.get(lease.key) is lease:
                self._sums = None
                del self._leases[lease.key]
            self._lost.popleft()  # only now

    def _collect(self, wanted: int = -1) -> None:
        """Cache or return freed handles; the last is not retired if `wanted` at once."""
        self._forget_lost()
        while self._freed:
            handle = self._freed.popleft()
            lease = self._leases.get(id(handle))
            leased = lease is not None and lease() is handle
            if lease is None or not leased:
                continue  # freed before
            (used, kept), self._sums = self._counted(), None
            del self._leases[lease.key]
            if handle.room > LARGE and not self._is_of_class(handle, wanted) and self.returns:
                self._sums = used - handle.room, kept
                self.raw_free(handle)
                continue
            self._cache(handle)
            self._sums = used - handle.room, kept + handle.room
            if self._freed or handle.nbytes != wanted:
                self.retire(handle)

    def _set_aside(self) -> None:
        """Collect freed handles but for large ones, which a loop uses again."""
        found = [self._freed[k] for k in range(len(self._freed))]  # finalizers append others
        large = [handle for handle in found if handle.room > LARGE]
        for handle in large:
            self._freed.remove(handle)
        self._collect()
        self._freed.extend(large)

    def _cache(self, handle: Handle) -> None:
        """Add a block to those of its class, as the last one to be given up."""
        size = size_class(handle.room)
        spares = self._spare.pop(size, [])
        spares.append(handle)
        self._spare[size] = spares

    def _bound(self, size: int) -> None:
        """Return blocks of the longest unused classes where much more than ever used is held."""
        self._most = max(self._most, self._counted()[0] + size)
        most = self._most + self._most // 4 + SLACK
        while self._counted()[1] and sum(self._counted()) + size > most and self.returns:
            self.raw_free(self._unspare(next(k for k, spares in self._spare.items() if spares), 0))

    def _unspare(self, size: int, k: int = -1) -> Handle:
        """Take cached block `k` of a class out of its container, and return it."""
        (used, kept), self._sums = self._counted(), None
        handle = self._spare[size].pop(k)
        self._sums = used, kept - handle.room
        return handle

    def _cached(self, size: int) -> Handle | None:
        """Return a cached block for `size` bytes; None if none of its class is large enough."""
        found = size_class(size)
        spares = self._spare.get(found, ())
        for k in range(len(spares) - 1, -1, -1):
            if self._is_of_class(spares[k], size) and self.fit(spares[k], size):
                handle = self._unspare(found, k)
                self.renew(handle)
                return handle
        return None

    def _reuse(self, size: int) -> Handle | None:
        """Return the result of `_cached`; if None, return the class's blocks to the device."""
        handle = self._cached(size)
        if handle is None:
            found = size_class(size)
            while self._spare.get(found) and self.returns:
                self.raw_free(self._unspare(found))
        return handle

    def _make_room(self, size: int, cube: HasCopies | None) -> Handle:
        """Return a new handle, evicting others if there is not enough room for it."""
        evictions, refused, most, freed = self._evictions(cube), None, None, False
        while True:
            limit, total = self.limit, sum(self._counted())
            if (limit is None or total + size <= limit) and (most is None or total <= most):
                try:
                    return self.raw_allocate(size)
                except OutOfDeviceMemory as error:
                    # less is left than the limit allows: other programs use the device, too. Each
                    # try waits for it: the next one is when all that is cached was returned, then
                    # when as much as is missing was
                    used, kept = self._counted()
                    refused, most, freed = error, used if kept else used - size, False
            if next(evictions, None) is None:
                if freed and most is not None:
                    most, freed = None, False
                    continue
                shortage = OutOfDeviceMemory(self._full_message(size))
                shortage.used_by_others = bool(self.used_by_others())
                raise shortage from refused
            freed = True
            self._collect(size)
            handle = self._reuse(size)
            if handle is not None:
                return handle

    def used_by_others(self) -> set[int]:
        """Return the ids of the handles that other threads use now."""
        ident, found = get_ident(), set()
        for lease in tuple(self._leases.values()):
            cube = None if lease.cube is None else lease.cube()
            if cube is None:
                used = lease.cube is None and lease.thread not in (0, ident)
            else:
                used = self._is_used_elsewhere(cube)
            if used:
                found.add(lease.key)
        return found

    def _is_used_elsewhere(self, cube: HasCopies) -> bool:
        """Return whether another thread accesses a copy in this memory, or is about to."""
        lock = cube.lock  # once: a part whose Mat is gone has another one each time
        if not lock.try_acquire():
            return True
        try:
            mine = THREADS.current()
            return any(record.thread != mine and THREADS.ident(record.thread)
                       and record.facet.memory is self for record in tuple(cube.accesses))
        finally:
            lock.release()

    def has_room(self, nbytes: int) -> bool:
        with self.lock:
            limit = self.limit
            return limit is None or sum(self._counted()) + nbytes <= limit

    def free_oldest(self, nbytes: int) -> None:
        """Evict the least recently used copies until there is room, fresh elsewhere or not."""
        with self.lock:
            self._collect()
            limit, oldest = self.limit, self._by_last_use()
            while limit is not None and sum(self._counted()) + nbytes > limit:
                if self._counted()[1]:
                    self._shrink()
                    continue
                found = next(oldest, None)
                if found is None:
                    return
                handle, cube = found
                if cube.handles.get(self) is handle:
                    cube.evict(self, True)
                self._collect()

    def _evictions(self, cube: HasCopies | None) -> Iterator[bool]:
        """Free one block after another for `cube`, the least expensive first."""
        while self._counted()[1]:
            yield self._shrink()
        for dirty in (False, True):
            for handle, other in self._by_last_use():
                if (other is not cube and other.handles.get(self) is handle
                        and other.evict(self, dirty)):
                    yield True
                while self._counted()[1]:
                    yield self._shrink()

    def _by_last_use(self) -> Iterator[tuple[Handle, HasCopies]]:
        """Yield the handles of cubes, the least recently used first, as far as they live."""
        found = [(handle.tick, lease) for lease in tuple(self._leases.values())
                 if lease.cube is not None and (handle := lease()) is not None]
        for _, lease in sorted(found, key=lambda item: item[0]):
            handle, cube = lease(), None if lease.cube is None else lease.cube()
            if handle is not None and cube is not None:
                yield handle, cube

    def _shrink(self) -> bool:
        """Return the largest cached block to the device."""
        self.raw_free(self._unspare(max(k for k, spares in self._spare.items() if spares)))
        return True

    def trim(self) -> None:
        """Return all cached blocks to the device."""
        with self.lock:
            self._collect()
            while self._counted()[1]:
                self._shrink()
            self._most = self._counted()[0]

    # Limits

    @property
    def limit(self) -> int | None:  # type: ignore[override]  # of several holders
        """The smallest of the limits that hold now."""
        if not self._limits:
            return None
        return min(tuple(self._limits.values()), default=None)

    def restrict(self, holder: object, limit: int) -> None:
        """Hold to a limit until `lift` is called for `holder`; evict copies beyond it."""
        try:
            with self.lock:
                self._limits[holder] = limit
                self._evict_beyond(limit)
        except BaseException:
            self.lift(holder)
            raise

    def lift(self, holder: object) -> None:
        """Lift the limit that `restrict` set for `holder`, if any."""
        self._limits.pop(holder, None)

    def _evict_beyond(self, limit: int) -> None:
        self._collect()
        evictions = self._evictions(None)
        while sum(self._counted()) > limit:
            if next(evictions, None) is None:
                raise OutOfDeviceMemory(self._full_message(0))
            self._collect()

    # Reporting

    def held(self) -> list[tuple[int, str, str]]:
        """Return bytes, label and source line of every handle of a cube, the largest first."""
        with self.lock:
            self._collect()
            found = [(handle.room, cube, handle.line) for handle, cube in self._by_last_use()]
        return sorted(((n, _label(c), line_of(c.made or line)) for n, c, line in found),
                      key=lambda row: -row[0])

    def _full_message(self, size: int) -> str:
        limit = "all that the device has" if self.limit is None else f"pool_bytes = {self.limit}"
        rows = self.held()
        listed = "".join(f"\n  {n:>14,} bytes  {label}  {line}" for n, label, line in rows[:20])
        more = f"\n  and {len(rows) - 20} more" if len(rows) > 20 else ""
        return (f"{size:,} bytes do not fit into {self.name!r}, {limit}, of which {self.used:,} "
                "are in use and cannot be evicted now; leave blocks that access or keep Mats, "
                f"drop() copies that are not needed, or give more pool_bytes.{listed}{more}")


def _take(pool: Pooled, recent: FreedHandles, granule: int, nbytes: int,
          cube: HasCopies | None) -> Handle:
    size = (nbytes + granule - 1) // granule * granule
    handle = recent.take(None, size, cube) if _blocks.enabled and not recent.renews else None
    if handle is None:
        with recent.lock:
            handle = recent.take(pool, size, cube)
            if handle is None:
                handle = pool.take_other(size, cube)
            elif recent.renews:
                pool.renew(handle)
    handle.tick = next(_clock)
    if cube is not None:
        handle.line = _threads.line()
    return handle


def _label(cube: HasCopies) -> str:
    """Return the label of a Mat that sees `cube`, or one of `cube` if there is none."""
    view = next(iter(cube.live_viewers()), None)
    return f"<{cube.size} elements of {cube.dtype}>" if view is None else str(view.label())


def trim() -> int:
    """Give memory that is kept for the next use back to the system, on the host and on devices.

    Freed memory is kept, within limits, since memory from the system costs time: on the host
    ``mat.settings.host_pool_bytes``, page-locked ``mat.settings.page_locked_bytes``, on the
    emulated device until the last block that uses it ends, and on a GPU until little is free. What
    is in use remains as it is, also the memory that `scratch` keeps for its threads.

    Returns
    -------
    int
        The number of bytes that were given back.

    Examples
    --------
    >>> import mat
    >>> x = mat.ones(1000, 1000) + 1
    >>> del x
    >>> freed = mat.trim()
    >>> mat.trim()
    0
    """
    found = host_pool.trim()
    pinned = loaded_plugin("page_locking")
    if pinned is not None:
        pool = pinned.POOL
        before = pool.in_use + pool.idle
        pool.trim()
        found += max(before - pool.in_use - pool.idle, 0)
    for memory in tuple(memories.values()):
        if isinstance(memory, Pooled):
            before = memory.used + memory.kept  # freed blocks may still count as used
            memory.trim()
            found += max(before - memory.used - memory.kept, 0)
    return found
