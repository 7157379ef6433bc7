"""``mat.debug.plan``: the tiles into which operations would be cut, and the copies they need."""

from __future__ import annotations

import sys
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable
from itertools import chain, islice, pairwise
from typing import Any, NamedTuple

from ..core.registry import Memory
from ..devices.in_use import CPU, Device, DeviceUse, in_use
from ..errors import SettingError
from ..facets.array import ARRAY
from ..layout.shapes import Ints
from ..matrix.mat import Mat
from ..ops.engine.operation import Op
from ..ops.tiles.origins import origin_of
from ..ops.tiles.overlap import overlap
from ..ops.tiles.tile_grid import tile_of
from ..ops.tiles.tiling import MOST_ORDERED, Tile, TileTooLarge, cut, span_bytes
from ..support.types import Arguments, Keywords

ASKED = -1  # a limit that every call exceeds
Key = tuple[int, tuple[int, int]]  # a storage, and a range of it


class PlannedCall(NamedTuple):
    """A call of an operation, as it would be carried out.

    Attributes
    ----------
    name : str
        The operation.
    tiles : int
        The number of tiles: 1 where it is carried out whole, 0 where it does not fit.
    shape : tuple of int
        The shape of the largest view in the first tile.
    nbytes : int
        The bytes that the largest tile needs on the device.
    moved : int
        The bytes that are copied to the device for it.
    least : int
        The bytes of its operands that are not on the device when it begins.
    problem : str
        Why it does not fit, if it does not.
    """

    name: str
    tiles: int
    shape: tuple[int, ...]
    nbytes: int
    moved: int
    least: int
    problem: str = ""

    def __str__(self) -> str:
        if self.problem:
            return f"{self.name}: does not fit: {self.problem}"
        how = "whole" if self.tiles == 1 else f"{self.tiles} tiles"
        return (f"{self.name}: {how} of {self.shape} in {self.nbytes:,} bytes; {self.moved:,} "
                f"copied to the device, {self.least:,} at least")


class TilePlan:
    """A table of calls that would be carried out, as `plan` returns it; its text shows them.

    Parameters
    ----------
    pool_bytes : int
        The bytes that the device may use.

    Attributes
    ----------
    calls : list of PlannedCall
        The calls of operations, in order.
    pool_bytes : int
        The bytes that the device may use.
    moved : int
        The bytes that would be copied in either direction, until all results are on the host, as
        `Trace.bytes` of a call in an empty device. For a function of several operations this is an
        estimate, since it depends on which copies the device evicts; copies that depend on values,
        such as those of ``x[mask]``, are not predicted.
    least : int
        The bytes that have to be copied whatever the order: what is read and is not on the device,
        and all results.
    """

    def __init__(self, pool_bytes: int) -> None:
        self.pool_bytes: int = pool_bytes
        self.calls: list[PlannedCall] = []
        self.moved: int = 0
        self.least: int = 0

    def __repr__(self) -> str:
        head = (f"<plan for {self.pool_bytes:,} bytes on the device: {self.moved:,} bytes would be "
                f"copied, {self.least:,} at least>")
        return "\n".join([head, *map(str, self.calls)])


class _Pool:
    """A model of the device's memory: ranges of storages; the least recently used are evicted
    first, and copied to the host if they were written.
    """

    def __init__(self, memory: Memory | None, plan: TilePlan) -> None:
        self.memory = memory  # of the device that is planned for, if there is one
        self.room = _Nothing()
        self.room.limit = plan.pool_bytes
        self.plan = plan
        self.ranges: OrderedDict[Key, bool] = OrderedDict()  # whether it was written
        self.sizes: dict[Key, tuple[int, int]] = {}  # bytes of ranges, and of the views
        self.used = 0
        self.known: set[Key] = set()
        self.counted: set[Key] = set()  # ranges that had to be copied to the device once
        # the bytes of what was written, by ranges of storages that are not garbage
        self.results: dict[int, dict[tuple[int, int], int]] = {}

    def key(self, view: Mat) -> Key:
        """Return the key of the copy that a view uses; a small storage is copied whole."""
        storage = view.storage
        whole = storage.is_small_in(self.room)
        key = id(storage), (0, sys.maxsize) if whole else view.layout.bounds
        if key not in self.known:
            self.known.add(key)
            # another storage may have its number later. A packed part's elements go home as those
            # of its origin; others that are garbage do not
            ends = self.drop if origin_of(storage) is storage else self.forget
            weakref.finalize(storage, ends, key).atexit = False
        return key

    def has(self, view: Mat) -> bool:
        """Return whether the elements are on the device."""
        if self.copy_of(view) in self.ranges:
            return True
        return self.memory is not None and self.memory.name in view.fresh

    def copy_of(self, view: Mat) -> Key:
        """Return the key of the copy on the device that has all of a view, or that it would get."""
        key = self.key(view)
        if key in self.ranges:
            return key
        number, (low, high) = id(view.storage), view.layout.bounds
        return next((found for found in self.ranges if found[0] == number
                     and found[1][0] <= low and high <= found[1][1]), key)

    def note_results(self, views: Iterable[Mat]) -> None:
        """Record written views: they have to be copied to the host before use there."""
        for view in views:
            number = id(view.storage)
            if number not in self.results:
                self.results[number] = {}
                weakref.finalize(view.storage, self.results.pop, number).atexit = False
            self.results[number][view.layout.bounds] = span_bytes(view)

    def touch(self, view: Mat) -> None:
        """Mark a view as used, if it is on the device."""
        key = self.copy_of(view)
        if key in self.ranges:
            self.ranges.move_to_end(key)

    def use(self, view: Mat, writes: bool) -> None:
        """Make room for a view and mark it as used."""
        key = self.copy_of(view)
        if key in self.ranges:
            self.ranges[key] |= writes
            self.ranges.move_to_end(key)
            return
        small = view.storage.is_small_in(self.room)
        size = view.storage.nbytes if small else span_bytes(view)
        while self.ranges and self.used + size > self.plan.pool_bytes:
            self.evict()
        self.ranges[key] = writes
        self.sizes[key] = size, size if small else view.nbytes
        self.used += size

    def copy_home(self, view: Mat) -> None:
        """Count the copy of written ranges to the host, unless it was done."""
        key = self.key(view)
        if self.ranges.get(key):
            self.ranges[key] = False
            self.plan.moved += view.nbytes

    def evict(self) -> None:
        """Remove the least recently used range; written data is copied to the host."""
        self.take_away(next(iter(self.ranges)))

    def take_away(self, key: Key) -> None:
        """Remove a range, if it is on the device; written data is copied to the host."""
        written = self.ranges.pop(key, False)
        size, nbytes = self.sizes.pop(key, (0, 0))
        self.used -= size
        self.plan.moved += nbytes * written

    def forget(self, key: Key) -> None:
        """Forget a range of a packed part that is not used any more."""
        self.take_away(key)
        self.drop(key)

    def drop(self, key: Key) -> None:
        """Forget a range, with its written data."""
        self.known.discard(key)
        self.counted.discard(key)
        self.ranges.pop(key, None)
        self.used -= self.sizes.pop(key, (0, 0))[0]


class _Planner(Device):
    """A device that computes nothing, and records calls."""

    def __init__(self, like: Device, pool_bytes: int) -> None:
        self.name = like.name
        self.implementations = like.implementations
        self.memory = _Nothing()
        self.facet = ARRAY if like is CPU else like.facet
        self.planner: Callable[..., object] = self.note
        self.plan = TilePlan(pool_bytes)
        self.pool = _Pool(None if like is CPU else like.memory, self.plan)

    def note(self, operation: Op, args: Arguments, kwargs: Keywords) -> object:
        """Record a call with checked arguments; numbers that it would return are 1."""
        least = self.least_of(tile_of(operation, args, kwargs).reads)
        self.plan.least += least
        self.pool.note_results(args[k] for k in operation.written)
        self.memory.limit = self.plan.pool_bytes  # by which cutters choose
        try:
            count, shape, largest, moved = self.carry_out(
                self.tiles(operation, args, kwargs), self.goes_home(operation, args))
        except TileTooLarge as error:
            self.plan.calls.append(PlannedCall(operation.__name__, 0, (), error.needed, 0, least,
                                               str(error)))
        else:
            self.plan.calls.append(PlannedCall(operation.__name__, count, shape, largest,
                                               moved, least))
        finally:
            self.memory.limit = ASKED
        return True if operation.result is None else args[operation.result]

    def least_of(self, reads: Iterable[Mat]) -> int:
        """Return the bytes that are read for the first time and are not on the device."""
        least = 0
        for x in reads:
            key = self.pool.key(x)
            if (key not in self.pool.counted and id(x.storage) not in self.pool.results
                    and not self.pool.has(x)):
                self.pool.counted.add(key)
                least += x.nbytes
        return least

    def tiles(self, operation: Op, args: Arguments, kwargs: Keywords) -> Iterable[Tile]:
        """Return the tiles, or one for the whole call."""
        pool = self.plan.pool_bytes
        whole = tile_of(operation, args, kwargs)
        if whole.nbytes <= pool:
            return [whole]
        if operation.cutter is None:
            raise TileTooLarge(whole.nbytes, f"it is computed whole, since "
                                             f"{operation.whole_because}")
        first, tiles = cut(operation.cutter, args, kwargs, pool, self.memory)
        if first is None:
            return ()
        found = chain((first,), tiles)
        if not first.free or not self.pool.ranges:
            return found
        ordered = sorted(islice(found, MOST_ORDERED),
                         key=lambda tile: not all(map(self.pool.has, tile.reads)))
        return chain(ordered, found)

    def goes_home(self, operation: Op, args: Arguments) -> bool:
        """Return whether there is no room for all results, so that tiles do not keep them."""
        total = span_bytes(*(args[k] for k in operation.operands))
        written = span_bytes(*(args[k] for k in operation.written))
        return 2 * written > min(total, self.plan.pool_bytes)

    def carry_out(self, tiles: Iterable[Tile], goes_home: bool) -> tuple[int, Ints, int, int]:
        """Record the use of tiles; return their number, the largest shape in the first, the peak
        bytes on the device, and those copied to it.

        What a tile writes is copied to the host while the next one computes, if it `goes_home`.
        """
        before: tuple[Mat, ...] = ()
        count = largest = moved = 0
        shape: Ints | None = None
        for tile, following in pairwise(chain(tiles, [Tile(_nothing)])):
            count += tile.has_operands
            if shape is None and tile.has_operands:
                shape = max((x.shape for x in (*tile.reads, *tile.writes)), key=_size)
            largest = max(largest, tile.nbytes)
            moved += sum(_copied(view) for view in (*tile.reads, *tile.stays)
                         if not self.pool.has(view))
            self.plan.moved += tile.numbers
            for view in (*following.reads, *tile.reads):
                self.pool.touch(view)
            for view in tile.reads:
                self.pool.use(view, False)
            for view in tile.writes:
                self.pool.use(view, True)
            for view in tile.stays:
                self.pool.use(view, False)
            for view in before if goes_home else ():
                if not any(overlap(view, other) for other in tile.writes):
                    self.pool.copy_home(view)
            before = tile.writes
        self.plan.moved += moved
        return max(count, 1), shape or (), largest, moved


class _Nothing(Memory):
    """A memory without room, so that every call asks whether there is."""

    name = "planned"
    limit = ASKED


def _nothing() -> None:
    """Do nothing, as the continuation after the last tile."""


def _copied(view: Mat) -> int:
    """Return the bytes copied for a view; with very many runs, including the gaps between them."""
    many = view._touched().size > view._count()
    return span_bytes(view) if many else view.nbytes


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for n in shape:
        size *= n
    return size


def plan(function: Callable[..., Any], *args: Any, pool_bytes: int | None = None,
         **kwargs: Any) -> TilePlan:
    """Return how the operations in a call would be cut into tiles; nothing is computed or copied.

    Parameters
    ----------
    function : callable
        It calls operations of `mat`. Their results are not computed, so that it must not decide by
        their values.
    *args, **kwargs
        Its arguments.
    pool_bytes : int, optional
        The bytes that the device may use; by default those of the device in use.

    Returns
    -------
    TilePlan
        For each operation the number of tiles, their shapes, and the bytes that would be copied,
        beside the least that have to be.

    Raises
    ------
    SettingError
        If `pool_bytes` is not given, and no device with a limit is in use.

    Examples
    --------
    >>> import mat
    >>> x = mat.ones(1000, 100)
    >>> mat.debug.plan(mat.exp, x, pool_bytes=400_000)
    <plan for 400,000 bytes on the device: 1,600,000 bytes would be copied, 1,600,000 at least>
    exp: 8 tiles of (125, 100) in 200,000 bytes; 800,000 copied to the device, 800,000 at least
    """
    device = in_use()
    limit = pool_bytes or device.memory.limit
    if limit is None:
        raise SettingError("plan requires pool_bytes, since no device with a limit is in use")
    planner = _Planner(device, limit)
    use = DeviceUse(planner)
    use.begin()
    use.enter()
    try:
        results = function(*args, **kwargs)
    finally:
        use.leave()
        use.end()
    while planner.pool.ranges:
        planner.pool.evict()
    planner.plan.least += sum(sum(found.values()) for found in planner.pool.results.values())
    del results  # which are copied to the host
    return planner.plan
