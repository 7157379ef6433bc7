"""``mat.debug.plan``: the tiles into which operations would be cut, and the copies they need."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from ..core.cube import Cube
from ..core.observers import ObservationApart
from ..core.registry import Memory
from ..core.runs import Runs
from ..devices.device import use_device
from ..devices.in_use import Device, DeviceUse, in_use
from ..errors import OutOfDeviceMemory, SettingError
from ..facets.array import ARRAY
from ..layout.shapes import Ints
from ..matrix.mat import Mat
from ..matrix.storage import Storage
from ..memories.host import HOST
from ..ops.engine.operation import Op
from ..ops.tiles.staging import on_host
from ..ops.tiles.tile_grid import tile_of
from ..ops.tiles.tiling import span_bytes
from ..support.types import Arguments, Keywords, Operand
from .counters import CopyCounter
from .planned_device import PlannedDevice, Shadows, planned_device


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
        `Trace.bytes` of a call. Copies that depend on values, such as those of ``x[mask]``, are not
        predicted.
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


class PlannedCopies(CopyCounter):
    """Counts of the copies of a plan; `to_device` is the bytes of those from the host."""

    def __init__(self) -> None:
        super().__init__()
        self.to_device = 0

    # the parameters are those of the method of `Observer`
    def copied_runs(self, cube: Cube, source: Memory, target: Memory, runs: Runs,
                    seconds: float) -> None:
        before = self.bytes
        super().copied_runs(cube, source, target, runs, seconds)
        self.to_device += (self.bytes - before) * (source is HOST)

    def copied(self, cube: Cube, source: Memory, target: Memory, seconds: float) -> None:
        super().copied(cube, source, target, seconds)
        self.to_device += cube.nbytes * (source is HOST)


class NoRoom(Memory):
    """A memory without room, so that every call asks whether there is."""

    name = "planned"
    limit = -1


class Planner(Device):
    """A device that records calls, and has a planned device carry out their shadows."""

    def __init__(self, device: PlannedDevice, plan: TilePlan, copies: PlannedCopies) -> None:
        self.name = device.name
        self.implementations = device.implementations
        self.memory = NoRoom()
        self.facet = ARRAY
        self.planner: Callable[..., object] = self.note
        self.device = device
        self.shadows = Shadows(device)
        self.plan = plan
        self.copies = copies
        # ranges of storages that had to be copied to the device once, and the bytes of those that
        # were written
        self.counted: WeakKeyDictionary[Storage, set[Ints]] = WeakKeyDictionary()
        self.results: WeakKeyDictionary[Storage, dict[Ints, int]] = WeakKeyDictionary()

    @property
    def host(self) -> Device:
        return self

    @property
    def limit(self) -> int:
        return self.plan.pool_bytes

    def overwriting(self, x: Operand) -> AbstractContextManager[object]:
        return self.device.overwriting(self.shadows.of(x))

    def note(self, operation: Op, args: Arguments, kwargs: Keywords) -> object:
        """Record a call with checked arguments; numbers that it would return are 1."""
        views = [x for k in operation.operands if isinstance(x := args[k], Mat)]
        use = DeviceUse(self.device)
        use.enter()
        try:
            found = self.call(operation, args, kwargs)
        finally:
            use.leave()
        if all(x.device_enabled for x in views):  # else the host computes
            self.plan.calls.append(found)
            self.plan.least += found.least
        self.note_results(args[k] for k in operation.written)
        return True if operation.result is None else args[operation.result]

    def call(self, operation: Op, args: Arguments, kwargs: Keywords) -> PlannedCall:
        """Carry out a call with the shadows of its Mats."""
        shadows = {id(x): self.shadows.of(x) for x in args if isinstance(x, Mat)}
        inside = tuple([shadows.get(id(x), x) for x in args])
        whole, problem = tile_of(operation, inside, kwargs), ""
        least = self.least_of(tile_of(operation, args, kwargs).reads)
        before = self.copies.to_device
        tiles = self.device.tiles = []
        try:
            operation(*inside, **kwargs)
        except OutOfDeviceMemory as error:
            problem = str(error).partition("\n")[0]
            for x in whole.writes:  # calls after it go on as if it had succeeded
                with on_host(x).facet("array", "output"):
                    pass
        if not tiles:
            self.device.note_tile(whole.nbytes, (*whole.reads, *whole.writes))
        largest = max(nbytes for nbytes, _ in tiles)
        return PlannedCall(operation.__name__, 0 if problem else len(tiles), tiles[0][1], largest,
                           self.copies.to_device - before, least, problem)

    def least_of(self, reads: Iterable[Mat]) -> int:
        """Return the bytes that are read for the first time and are not on the device."""
        least = 0
        for x in reads:
            shadow, counted = self.shadows.of(x), self.counted.setdefault(x.storage, set())
            if (x.layout.bounds not in counted and x.storage not in self.results
                    and not shadow.storage.pristine
                    and not shadow.storage.is_fresh(self.device.memory, shadow)):
                counted.add(x.layout.bounds)
                least += x.nbytes
        return least

    def note_results(self, views: Iterable[Mat]) -> None:
        """Record written views: they have to be copied to the host before use there."""
        for view in views:
            self.results.setdefault(view.storage, {})[view.layout.bounds] = span_bytes(view)


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
    >>> x = mat.arange(100_000.0).reshape(1000, 100)
    >>> mat.debug.plan(mat.exp, x, pool_bytes=400_000)
    <plan for 400,000 bytes on the device: 1,600,000 bytes would be copied, 1,600,000 at least>
    exp: 8 tiles of (125, 100) in 200,000 bytes; 800,000 copied to the device, 800,000 at least
    """
    like = in_use()
    limit = pool_bytes or like.memory.limit
    if limit is None:
        raise SettingError("plan requires pool_bytes, since no device with a limit is in use")
    found = TilePlan(limit)
    with (ObservationApart(PlannedCopies) as copies, planned_device(like) as device,
          use_device(device, pool_bytes=limit)):
        planner = Planner(device, found, copies)
        with use_device(planner):
            results = function(*args, **kwargs)
        found.least += sum(sum(of.values()) for of in planner.results.values())
    del results  # which are copied to the host by now
    found.moved = copies.bytes
    return found
