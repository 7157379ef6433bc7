"""`PlannedDevice`: a device that allocates, copies and computes nothing, though all else happens as
on another one: operations are cut, copies become fresh and stale, others are evicted.

What is planned are *shadows*: Mats of the same forms and states as those of the user, over host
memory that nobody touches.
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ..core.observers import ObservationApart, Observer
from ..core.registry import CubeLike, Facet, Handle, Memory, Presented, ViewLike, register_facet
from ..core.runs import NONE, Runs, run
from ..devices.in_use import CPU, Device
from ..devices.pooled import PooledDevice, PooledFacet
from ..facets.array import ARRAY
from ..layout.strided import packed
from ..matrix.creation import adopted
from ..matrix.mat import Mat
from ..matrix.storage import Storage
from ..memories.host import HOST
from ..memories.pooled import Pooled
from ..support.types import Array, DirectionName, Operand

NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0)
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
            shadow.adopt_host(_untouched(storage), True)
        whole = adopted(np.empty(0, storage.dtype))
        whole._set_layout(packed((storage.size,)), shadow)
        found = () if self.device.like is CPU else _fresh_runs(storage, self.device.like.memory)
        for start, stop, on_host in found:
            part = whole.over(whole.layout.part((slice(start, stop),)))
            direction: DirectionName = "input" if on_host else "output"
            with ObservationApart(Observer), part.facet(self.device.facet, direction):
                pass  # nobody counts what was copied before
        return shadow


def _untouched(storage: Storage) -> Array:
    """Return an array for the host's copy, of which the system provides no memory until it is
    touched, however large it is.
    """
    if not storage.nbytes:
        return np.empty(0, storage.dtype)
    pages = mmap.mmap(-1, storage.nbytes, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE)
    return np.frombuffer(pages, storage.dtype, storage.size)


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
