"""``mat.debug.plan``: the tiles into which operations would be cut, and the copies they need.

`PlannedDevice` allocates, copies and computes nothing, though all else happens as on another one.
What is planned are *shadows*: Mats of the forms and states of the user's, over memory that nobody
touches.
"""

from __future__ import annotations

import math
import mmap
import platform
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ..core.cube import Cube
from ..core.observers import ObservationApart, Observer
from ..core.registry import CubeLike, Facet, Handle, Memory, Presented, ViewLike, register_facet
from ..core.runs import NONE, Runs, run
from ..devices.device import use_device
from ..devices.in_use import CPU, Device, DeviceUse, in_use
from ..devices.pooled import PooledDevice, PooledFacet
from ..errors import OutOfDeviceMemory, SettingError
from ..facets.array import ARRAY
from ..layout.shapes import Ints
from ..layout.strided import packed
from ..matrix.creation import adopted
from ..matrix.mat import Mat
from ..matrix.storage import Storage
from ..memories.host import HOST
from ..memories.pooled import Pooled
from ..ops.engine.operation import Op
from ..ops.expressions.passes import EXPRESSIONS
from ..ops.expressions.program import FusedOp
from ..ops.tiles.staging import on_host
from ..ops.tiles.tile_grid import tile_of
from ..ops.tiles.tiling import span_bytes
from ..support.types import Arguments, Array, DirectionName, DType, Keywords, Operand
from .counters import CopyCounter
from .html_table import html_table

# Python has the name from 3.13 on; without it, the system provides no more than it has in all
NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" and
                     platform.machine() in ("x86_64", "aarch64") else 0)
LARGE = 1 << 20  # bytes of a result for which it is worth to ask the system
FEW = 4096  # bytes that are zeros where the host reads them: numbers by which it may decide


class PlannedBlock:
    """A handle without memory."""

    __slots__ = ("__weakref__", "line", "nbytes", "room", "tick")

    def __init__(self, nbytes: int) -> None:
        self.nbytes = self.room = nbytes


class PlannedArray(NamedTuple):
    """The value of an access, given to operations that do not compute."""

    handle: PlannedBlock


class PlannedMemory(Pooled):
    """A memory of which only the number of bytes is real."""

    def raw_allocate(self, nbytes: int) -> PlannedBlock:
        return PlannedBlock(nbytes)

    def raw_free(self, handle: PlannedBlock) -> None:
        pass

    def fit(self, handle: PlannedBlock, nbytes: int) -> bool:
        handle.nbytes = nbytes
        return True

    def copy_in(self, cube: CubeLike, handle: Handle, host: Array) -> None:
        pass

    def copy_out(self, cube: CubeLike, handle: Handle, host: Array) -> None:
        _clear(host)

    def write_part(self, cube: CubeLike, handle: Handle, part: Array, start: int) -> bool:
        return True

    def read_part(self, cube: CubeLike, handle: Handle, host: Array, start: int,
                  stop: int) -> bool:
        _clear(host[start:stop])
        return True

    def write_runs(self, cube: CubeLike, handle: Handle, host: Array, runs: Runs) -> bool:
        return True

    def read_runs(self, cube: CubeLike, handle: Handle, host: Array, runs: Runs) -> bool:
        _clear(host)
        return True

    # the parameters are those of the method of `Memory`
    def copy_runs(self, cube: CubeLike, handle: Handle, source: Handle, shift: int,
                  runs: Runs) -> bool:
        return True

    def fill(self, cube: CubeLike, handle: Handle) -> bool:
        return True


def _clear(host: Array) -> None:
    if host.nbytes <= FEW:
        host.view(np.uint8).fill(0)


class PlannedFacet(PooledFacet):
    """The access of operations to a planned memory."""

    letter: str = "E"

    def __init__(self, device: PlannedDevice) -> None:
        self.name: str = device.memory.name
        self.memory: Memory = device.memory
        self.device = device

    def present(self, view: ViewLike, handle: PlannedBlock, writable: bool) -> Presented:
        return PlannedArray(handle)


class PlannedHost(Device):
    """The CPU, for packing and other work of the host in a plan: it does nothing."""

    name = CPU.name
    computes = False
    memory = Memory()  # which has no copies, of which uses would be noted
    facet: Facet = ARRAY

    @property
    def host(self) -> Device:
        return self


class PlannedDevice(PooledDevice):
    """A device in place of another one, with a memory and copies of its own.

    Attributes
    ----------
    tiles : list of tuple
        The bytes that each tile of the last call needs, and the shape of its largest view.
    """

    dlpack = (1, 0)
    computes = False

    def __init__(self) -> None:
        super().__init__()
        self.memory: PlannedMemory = PlannedMemory(f"planned:{len(_devices)}")
        self.facet: PlannedFacet = PlannedFacet(self)
        self.tiles: list[tuple[int, tuple[int, ...]]] = []
        self.plan_for(CPU)
        register_facet(self.facet)

    def plan_for(self, like: Device) -> None:
        """Be called as another device, and have its implementations."""
        self.like: Device = like
        self.name = "emulated" if like is CPU else like.name
        self.implementations = like.implementations
        self.memory.granule = getattr(like.memory, "granule", 1)

    @property
    def host(self) -> Device:
        return _HOST

    def lacks(self, library: str) -> str:
        return self.like.lacks(library)

    def note_tile(self, nbytes: int, views: tuple[Operand, ...]) -> None:
        self.tiles.append((nbytes, max((x.shape for x in views), key=lambda s: math.prod(s))))


class Shadows:
    """The shadows of Mats, for the time of a plan.

    Parameters
    ----------
    device : PlannedDevice
        The device in use, to which copies on the other device are taken over.
    """

    def __init__(self, device: PlannedDevice) -> None:
        self.device = device
        # with the versions of the storages that they are of
        self.storages: WeakKeyDictionary[Storage, tuple[int, Storage]] = WeakKeyDictionary()

    def of(self, x: Mat) -> Mat:
        """Return the shadow of a Mat: the same view of the shadow of its storage."""
        found = x.over(x.layout)
        found._set_layout(x.layout, self.of_storage(x.storage))
        found._be_typed(x)
        if x.element_size != found.storage.itemsize:
            found.storage.divide(x.element_size)
        return found

    def of_storage(self, storage: Storage) -> Storage:
        """Return the shadow of a storage, a new one if that was written by others than plans."""
        version, shadow = self.storages.get(storage, (-1, None))
        if shadow is None or version != storage.version:
            shadow = self._new(storage)
            self.storages[storage] = storage.version, shadow
        return shadow

    def _new(self, storage: Storage) -> Storage:
        shadow = Storage(storage.size, storage.dtype, storage.fill_value)
        if not storage.pristine:
            shadow.adopt_host(untouched(storage.size, storage.dtype), True)
        elif storage.nbytes > LARGE:  # else it would be allocated when it is copied to the host
            shadow.handles[HOST] = untouched(storage.size, storage.dtype)
        whole = adopted(np.empty(0, storage.dtype))
        whole._set_layout(packed((storage.size,)), shadow)
        found = () if self.device.like is CPU else _fresh_runs(storage, self.device.like.memory)
        for start, stop, is_home in found:
            part = whole.over(whole.layout.part((slice(start, stop),)))
            direction: DirectionName = "input" if is_home else "output"
            with ObservationApart(Observer), part.facet(self.device.facet, direction):
                pass  # nobody counts what was copied before
        return shadow


def in_words(names: tuple[str, ...]) -> str:
    """Return the operations of an expression: ``add, multiply (3)``; "" if there are none."""
    return ", ".join(name if count == 1 else f"{name} ({count})"
                     for name, count in Counter(names).items())


def untouched(size: int, dtype: DType) -> Array:
    """Return a 1-d array of which the system provides no memory until it is touched, however large
    it is.
    """
    if not size:
        return np.empty(0, dtype)
    kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE
    return np.frombuffer(mmap.mmap(-1, size * dtype.itemsize, kind), dtype, size)


def _fresh_runs(storage: Storage, memory: Memory) -> Iterator[tuple[int, int, bool]]:
    """Yield the ranges of elements that are fresh in a memory, and whether the host has them."""
    with storage.lock:
        spans, units = storage.spans, storage.units
        if spans is None:
            on_host = run(0, units) if storage.fresh & HOST.bit else NONE
            found = run(0, units) if storage.fresh & memory.bit else NONE
        else:
            on_host, found = spans.fresh_in(HOST), spans.fresh_in(memory)
    for runs, is_there in (found & on_host, True), (found - on_host, False):
        for start, stop in runs:
            yield start * storage.size // units, stop * storage.size // units, is_there


_HOST = PlannedHost()
_devices: list[PlannedDevice] = []  # all of them: operations keep plans for each
_free: list[PlannedDevice] = []


@contextmanager
def planned_device(like: Device) -> Iterator[PlannedDevice]:
    """Return a block with a device that nobody else uses, to plan for another one."""
    try:
        device = _free.pop()
    except IndexError:
        device = PlannedDevice()
        _devices.append(device)
    device.plan_for(like)
    try:
        yield device
    finally:
        _free.append(device)


@contextmanager
def used(device: Device) -> Iterator[None]:
    """Return a block in which a device is in use that others know already."""
    use = DeviceUse(device)
    use.enter()
    try:
        yield
    finally:
        use.leave()


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
    operations : tuple of str
        The operations of an expression of `fused`, which are carried out in one pass; none for
        other calls.
    """

    name: str
    tiles: int
    shape: tuple[int, ...]
    nbytes: int
    moved: int
    least: int
    problem: str = ""
    operations: tuple[str, ...] = ()

    def __str__(self) -> str:
        more = f"\n    one pass for {in_words(self.operations)}" if self.operations else ""
        return f"{self.name}: {self._how()}{more}"

    def _how(self) -> str:
        if self.problem:
            return f"does not fit: {self.problem}"
        how = "whole" if self.tiles == 1 else f"{self.tiles} tiles"
        return (f"{how} of {self.shape} in {self.nbytes:,} bytes; {self.moved:,} "
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
    moved_alone : int or None
        The bytes that would be copied if the operations of expressions of `fused` were carried out
        one by one; None where there are no expressions.
    """

    def __init__(self, pool_bytes: int) -> None:
        self.pool_bytes: int = pool_bytes
        self.calls: list[PlannedCall] = []
        self.moved: int = 0
        self.least: int = 0
        self.moved_alone: int | None = None

    def __repr__(self) -> str:
        return "\n".join([f"<{self._head()}>", *map(str, self.calls)])

    def _head(self) -> str:
        alone = "" if self.moved_alone is None else f", {self.moved_alone:,} without mat.fused"
        return (f"plan for {self.pool_bytes:,} bytes on the device: {self.moved:,} bytes would be "
                f"copied, {self.least:,} at least{alone}")

    def _repr_html_(self) -> str:
        head = ("operation", "tiles", "shape", "bytes of a tile", "copied there", "at least",
                "does not fit")
        rows = [(f"{c.name} {in_words(c.operations)}".strip(), str(c.tiles), str(c.shape),
                 f"{c.nbytes:,}", f"{c.moved:,}", f"{c.least:,}", c.problem) for c in self.calls]
        return html_table(self._head(), [head, *rows])


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


class Noting(Device):
    """A device that carries out calls by `note`, for which it has a planned device and shadows."""

    def __init__(self, device: PlannedDevice, limit: int) -> None:
        self.name = device.name
        self.implementations = device.implementations
        self.memory = NoRoom()
        self.facet = ARRAY
        self.planner: Callable[..., object] = self.note
        self.device = device
        self.shadows = Shadows(device)
        self.most: int = limit

    @property
    def host(self) -> Device:
        return self

    @property
    def limit(self) -> int:
        return self.most

    def overwriting(self, x: Operand) -> AbstractContextManager[object]:
        return self.device.overwriting(self.shadows.of(x))

    def shadowed(self, args: Arguments) -> Arguments:
        """Return arguments with the shadows of Mats, one for each Mat."""
        shadows = {id(x): self.shadows.of(x) for x in args if isinstance(x, Mat)}
        return tuple([shadows.get(id(x), x) for x in args])

    def note(self, operation: Op, args: Arguments, kwargs: Keywords) -> object:
        """Record a call with checked arguments; numbers that it would return are 1."""
        raise NotImplementedError


class CallsAlone(Noting):
    """The calls of a plan on a device of its own, on which expressions are no passes: their
    operations are carried out one by one.
    """

    def __init__(self, device: PlannedDevice, limit: int, copies: PlannedCopies) -> None:
        super().__init__(device, limit)
        self.copies = copies
        self.found = False  # there was an expression

    def note(self, operation: Op, args: Arguments, kwargs: Keywords) -> object:
        if isinstance(operation, FusedOp):
            self.found = True
            with used(self):
                operation.one_by_one(args)
        else:
            inside = self.shadowed(args)
            with (used(self.device), ObservationApart(lambda: self.copies),
                  suppress(OutOfDeviceMemory)):
                operation(*inside, **kwargs)
        return True if operation.result is None else args[operation.result]


class Planner(Noting):
    """A device that records calls, and has a planned device carry out their shadows."""

    def __init__(self, device: PlannedDevice, plan: TilePlan, copies: PlannedCopies,
                 alone: CallsAlone) -> None:
        super().__init__(device, plan.pool_bytes)
        self.plan = plan
        self.copies = copies
        self.alone = alone
        # ranges of storages that had to be copied to the device once, and the bytes of those that
        # were written
        self.counted: WeakKeyDictionary[Storage, set[Ints]] = WeakKeyDictionary()
        self.results: WeakKeyDictionary[Storage, dict[Ints, int]] = WeakKeyDictionary()

    def note(self, operation: Op, args: Arguments, kwargs: Keywords) -> object:
        views = [x for k in operation.operands if isinstance(x := args[k], Mat)]
        self.alone.note(operation, args, kwargs)
        with used(self.device):
            found = self.call(operation, args, kwargs)
        if all(x.device_enabled for x in views):  # else the host computes
            self.plan.calls.append(found)
            self.plan.least += found.least
        self.note_results(args[k] for k in operation.written)
        return True if operation.result is None else args[operation.result]

    def call(self, operation: Op, args: Arguments, kwargs: Keywords) -> PlannedCall:
        """Carry out a call with the shadows of its Mats."""
        inside = self.shadowed(args)
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
                           self.copies.to_device - before, least, problem,
                           operation.names() if isinstance(operation, FusedOp) else ())

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

    Notes
    -----
    It takes no memory for elements: operands that `mat.empty` makes, and all results, may be larger
    than the memory of the machine.

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
    EXPRESSIONS.compute(EXPRESSIONS.pending())  # they would be planned only
    with (ObservationApart(PlannedCopies) as others, planned_device(like) as other,
          use_device(other, pool_bytes=limit)):
        alone = CallsAlone(other, limit, others)
        with (ObservationApart(PlannedCopies) as copies, planned_device(like) as device,
              use_device(device, pool_bytes=limit)):
            planner = Planner(device, found, copies, alone)
            with use_device(planner):
                results = function(*args, **kwargs)
            found.least += sum(sum(of.values()) for of in planner.results.values())
    del results  # which are copied to the host by now
    found.moved = copies.bytes
    found.moved_alone = others.bytes if alone.found else None
    return found
