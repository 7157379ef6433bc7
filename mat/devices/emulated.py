"""``emulated``: a device without a GPU. The CPU computes in a memory of its own.

It is for finding mistakes: its addresses are no pointers; every block has guard bands, which are
checked after each operation; memory is poisoned when it is allocated and freed; work can be delayed
until somebody waits for it; and failures can be requested.
"""

from __future__ import annotations

import functools
import mmap
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import ref

import numpy as np

from ..core.registry import (
    CubeLike,
    Facet,
    Handle,
    HasCopies,
    Memory,
    Presented,
    register_facet,
)
from ..core.runs import Runs
from ..errors import DeviceError, OutOfDeviceMemory
from ..facets import over, protected_view
from ..memories.pooled import Pooled
from ..support.c_pointers import ForeignArray
from ..support.fork import renew_after_fork
from ..support.types import Array, Bytes, Function
from .device import register_device_kind
from .emulated_array import FREED, FRESH, GUARD, EmulatedArray, EmulatedBlock, Launch
from .pooled import PooledDevice, PooledFacet

MOST = 64  # devices
# no such address exists on today's machines: using it as a pointer fails at once
BASE = 0x7FF0_0000_0000_0000
RESERVED = 1 << 36  # addresses that are reserved at once; that takes no memory


class Addresses:
    """Addresses for the blocks of a device, inaccessible to this process and not valid as pointers.

    They are reserved from the system, which then knows the address of a wrong access, so that the
    direction check can say whose it is. Where it reserves none they are those from `BASE` on.
    """

    def __init__(self) -> None:
        self._next = self._end = 0
        self._reserved: list[mmap.mmap] = []

    def take(self, nbytes: int) -> int:
        """Return the first of `nbytes` addresses that were not returned before."""
        size = (nbytes + 2 * GUARD + 255) // 256 * 256
        if self._next + size > self._end:
            self._reserve(size)
        found, self._next = self._next, self._next + size
        return found

    def __contains__(self, address: int) -> bool:
        """Return whether an address was reserved from the system."""
        starts = (np.frombuffer(pages, np.uint8).ctypes.data for pages in self._reserved)
        return any(0 <= address - start < RESERVED for start in starts)

    def _reserve(self, size: int) -> None:
        try:
            if sys.platform != "linux" or size > RESERVED:
                raise OSError
            pages = mmap.mmap(-1, RESERVED, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=0)
        except OSError:  # the process may not have so many, either
            self._next, self._end = BASE, 1 << 64
            return
        self._reserved.append(pages)
        self._next = int(np.frombuffer(pages, np.uint8).__array_interface__["data"][0])
        self._end = self._next + RESERVED


class EmulatedMemory(Pooled):
    """The memory of an emulated device, with counts of the bytes copied in and out."""

    def __init__(self, name: str, device: Emulated) -> None:
        super().__init__(name)
        self.device = device
        self._addresses = Addresses()

    def raw_allocate(self, nbytes: int) -> EmulatedBlock:
        self.device.fail_if_requested("allocation", OutOfDeviceMemory)
        return EmulatedBlock(self.device, self._addresses.take(nbytes), nbytes)

    def raw_free(self, handle: EmulatedBlock) -> None:
        """Do nothing: Python frees the bytes."""

    def free(self, handle: EmulatedBlock) -> None:
        handle.alive = False
        super().free(handle)

    def retire(self, handle: EmulatedBlock) -> None:
        self.device.enqueue(lambda: handle.bytes.fill(FREED))

    def renew(self, handle: EmulatedBlock) -> None:
        handle.alive = True
        self.device.renew(handle)

    def fit(self, handle: EmulatedBlock, nbytes: int) -> bool:
        if handle.nbytes != nbytes:
            if self.device.queue:
                return False  # what is queued may still use all of it
            handle.fit(nbytes)
        return True

    def block_at(self, address: int) -> tuple[EmulatedBlock, HasCopies | None] | None:
        found = super().block_at(address)
        if found is None and address in self._addresses:
            return EmulatedBlock(self.device, address, 0), None  # of one that was freed
        return found

    # Copies

    @contextmanager
    def aside(self) -> Iterator[None]:
        device = self.device
        device.synchronize()
        counted, failing = dict(device.transfers), dict(device.failing)
        try:
            device.failing.clear()
            yield
            device.synchronize()
        finally:
            device.transfers.update(counted)
            device.failing.update(failing)

    def copy_in(self, cube: CubeLike, handle: EmulatedBlock, host: Array) -> None:
        self.write_part(cube, handle, host, 0)

    def copy_out(self, cube: CubeLike, handle: EmulatedBlock, host: Array) -> None:
        self.read_part(cube, handle, host, 0, cube.size)

    def write_part(self, cube: CubeLike, handle: EmulatedBlock, part: Array, start: int) -> bool:
        self.device.check(handle)
        self.device.fail_if_requested("h2d", DeviceError)
        self.device.transfers["h2d"] += part.nbytes
        self.device.put(handle, start * cube.dtype.itemsize, part)
        return True

    def read_part(self, cube: CubeLike, handle: EmulatedBlock, host: Array, start: int,
                  stop: int) -> bool:
        self.device.check(handle)
        self.device.fail_if_requested("d2h", DeviceError)
        self.device.synchronize()
        size = cube.dtype.itemsize
        found = handle.bytes[start * size:stop * size]
        self.device.transfers["d2h"] += found.nbytes
        host[start:stop] = found.view(cube.dtype)
        return True

    def write_runs(self, cube: CubeLike, handle: EmulatedBlock, host: Array, runs: Runs) -> bool:
        self.device.check(handle)
        self.device.fail_if_requested("h2d", DeviceError)
        blocks, size = runs.blocks(), cube.dtype.itemsize
        self.device.transfers["h2d"] += runs.size * size
        if len(runs) == 1:
            first = blocks[0]
            self.device.put(handle, first.start * size, first.of(host))
            return True
        # copies: the caller may modify `host` before the device reads them
        parts = [(block, block.of(host).copy()) for block in blocks]

        def write() -> None:
            target = handle.elements(cube.dtype)
            for block, part in parts:
                block.of(target)[...] = part

        self.device.enqueue(write)
        return True

    def read_runs(self, cube: CubeLike, handle: EmulatedBlock, host: Array, runs: Runs) -> bool:
        self.device.check(handle)
        self.device.fail_if_requested("d2h", DeviceError)
        self.device.synchronize()
        found = handle.elements(cube.dtype)
        for block in runs.blocks():
            block.of(host)[...] = block.of(found)
        self.device.transfers["d2h"] += runs.size * cube.dtype.itemsize
        return True

    def copy_runs(self, cube: CubeLike, handle: EmulatedBlock, source: EmulatedBlock, shift: int,
                  runs: Runs) -> bool:
        return self.copy_runs_from(cube, handle, self, source, shift, runs)

    def copy_runs_from(self, cube: CubeLike, handle: EmulatedBlock, memory: Memory, source: Handle,
                       shift: int, runs: Runs) -> bool:
        if not isinstance(memory, EmulatedMemory):
            return False
        self.device.check(handle)
        memory.device.check(source)
        if memory is not self:
            memory.device.synchronize()
        self.device.transfers["d2d"] += runs.size * cube.dtype.itemsize

        def copy() -> None:
            target, elements = handle.elements(cube.dtype), source.elements(cube.dtype)
            for block in runs.blocks():
                block.of(target)[...] = block.of(elements, shift)

        self.device.enqueue(copy)
        return True

    def copy_from(self, cube: CubeLike, handle: EmulatedBlock, memory: Memory,
                  source: Handle) -> bool:
        if not isinstance(memory, EmulatedMemory):
            return False
        self.device.check(handle)
        memory.device.check(source)
        memory.device.synchronize()
        self.device.transfers["d2d"] += handle.nbytes
        self.device.put(handle, 0, source.bytes)
        return True

    def begin_copy_in(self, cube: CubeLike, handle: EmulatedBlock, host: Array) -> QueuedCopy:
        self.device.check(handle)

        def copy() -> None:
            self.device.fail_if_requested("h2d", DeviceError)
            self.device.transfers["h2d"] += host.nbytes
            _put(handle.bytes, 0, host)

        return QueuedCopy(self.device, copy)

    def begin_copy_out(self, cube: CubeLike, handle: EmulatedBlock, host: Array) -> QueuedCopy:
        self.device.check(handle)

        def copy() -> None:
            self.device.fail_if_requested("d2h", DeviceError)
            self.device.transfers["d2h"] += host.nbytes
            host[:] = handle.bytes[:host.nbytes].view(host.dtype)

        return QueuedCopy(self.device, copy)

    def fill(self, cube: CubeLike, handle: EmulatedBlock) -> bool:
        self.device.check(handle)
        value = np.full(cube.size, cube.fill_value, cube.dtype)
        self.device.put(handle, 0, value)
        return True


class QueuedCopy:
    """An asynchronous copy in the queue of a device, carried out by `wait` if it is delayed."""

    def __init__(self, device: Emulated, copy: Callable[[], None]) -> None:
        self.device = device
        self.copy: Callable[[], None] = copy
        self.failed: DeviceError | None = None
        self.done: bool = False
        try:
            device.enqueue(self.run)
        except BaseException:
            self.copy = lambda: None  # nobody will wait for it
            raise

    def run(self) -> None:
        """Copy, as the device does in its turn."""
        try:
            self.copy()
            self.done = True
        except DeviceError as error:
            self.failed = error

    def wait(self) -> None:
        """Wait for the copy; raise its error if it failed."""
        self.device.synchronize()
        if self.failed is not None:
            raise self.failed


def _put(target: Bytes, start: int, source: Array) -> None:
    target[start:start + source.nbytes] = np.ascontiguousarray(source).view(np.uint8)


class Emulated(PooledDevice):
    """A device in guarded host memory: the value of ``with mat.use_device("emulated") as dev:``.

    ``dev.transfers`` counts bytes by direction ("h2d", "d2h", "d2d"), ``dev.launches`` operations.
    While ``dev.delayed`` is True, work is only done when somebody waits for it: elements that are
    read too early are poison. ``dev.fail(h2d=2)`` makes the second transfer to the device from now
    on fail, and takes "d2h", "allocation" and "launch" as well. ``dev.launch(function, *arrays)``
    computes.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.name: str = f"emulated:{number}" if number else "emulated"
        self.memory: EmulatedMemory = EmulatedMemory(self.name, self)
        self.facet: EmulatedFacet = EmulatedFacet(self)
        self.delayed = False
        self.launches: int = 0
        self.transfers: dict[str, int] = dict.fromkeys(("h2d", "d2h", "d2d"), 0)
        self.queue: deque[Callable[[], object]] = deque()  # delayed work
        # those that are poisoned before any work but a copy to all of it
        self._unwritten: list[ref[EmulatedBlock]] = []
        self.failing: dict[str, int] = {}
        self._lock = threading.RLock()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Make a new lock in a forked child."""
        self._lock = threading.RLock()

    # Work

    def enqueue(self, work: Callable[[], object]) -> None:
        """Do `work` after the work queued before: now, or if `delayed`, when somebody waits."""
        with self._lock:
            self._poison()
            if self.delayed:
                self.queue.append(work)
            else:
                if self.queue:
                    self._do_queued()
                work()

    def renew(self, block: EmulatedBlock) -> None:
        """Poison a block that is used again, before any work but a copy to all of it."""
        with self._lock:
            if self.delayed:
                self.enqueue(block.renew)
            else:
                self._unwritten.append(ref(block))

    def put(self, block: EmulatedBlock, start: int, part: Array) -> None:
        """Copy an array to a block, from the byte `start` on; it may be modified afterwards."""
        with self._lock:
            if self.delayed:
                part = part.copy()
            elif start == 0 and [found() for found in self._unwritten] == [block]:
                block.bytes[part.nbytes:].fill(FRESH)
                self._unwritten.clear()
            self.enqueue(lambda: _put(block.bytes, start, part))

    def synchronize(self) -> None:
        """Do all queued work; the next call repeats interrupted work."""
        with self._lock:
            self._poison()
            self._do_queued()

    def _poison(self) -> None:
        while self._unwritten:
            block = self._unwritten[-1]()
            if block is not None:
                block.renew()
            self._unwritten.pop()

    def _do_queued(self) -> None:
        work = None
        try:
            while self.queue:
                work = self.queue.popleft()
                work()
        except Exception:
            raise
        except BaseException:
            if work is not None:
                self.queue.appendleft(work)
            raise

    def launch(self, function: Function, *values: object) -> None:
        """Call `function` on the device with the elements of each `EmulatedArray` in `values`.

        Parameters
        ----------
        function : callable
            It takes a NumPy array for each `EmulatedArray`, which is valid while it runs, and
            read-only if the access is for ``"input"``.
        *values : EmulatedArray or object
            Its arguments.

        Raises
        ------
        DeviceError
            For arrays of another device or of freed memory, and if bytes beside a block were
            overwritten.
        """
        self._compute(function, values,  # arrays that the user may keep, or change the form of
                      lambda x: over(protected_view(x.elements(), x.writable), x.layout), False)

    def _compute(self, function: Function, values: tuple[object, ...],
                 opened: Callable[[EmulatedArray], Presented], returns: bool) -> Presented:
        for value in values:
            if isinstance(value, EmulatedArray):
                self.check(value.handle)
        self.fail_if_requested("launch", DeviceError)
        self.launches += 1
        launched = Launch(function, values, opened, self.delayed)
        self.enqueue(launched.run)
        if not returns:
            return None
        self.synchronize()
        return launched.result[0]

    def adapt(self, function: Function, facet: Facet, returns: bool) -> Function:
        opened: Callable[[EmulatedArray], Presented] = EmulatedArray.as_array
        if facet.presents is ForeignArray:
            opened = EmulatedArray.as_foreign

        def compute(*values: object, **settings: object) -> Presented:
            implementation = functools.partial(function, **settings) if settings else function
            return self._compute(implementation, values, opened, returns)

        return compute

    # Checking

    def check(self, block: Handle) -> None:
        """Raise `DeviceError` unless `block` is memory of this device that is not freed."""
        if not isinstance(block, EmulatedBlock):
            raise DeviceError(f"{self} was given host memory, {type(block).__name__}, instead of "
                              "its own")
        if block.device is not self:
            raise DeviceError(f"{self} was given {block.address:#x}, memory of {block.device}")
        if not block.alive:
            raise DeviceError(f"{self}: the {block.nbytes} bytes at {block.address:#x} were used "
                              "after they had been freed")

    def fail(self, **counts: int) -> None:
        """Make the n-th ``allocation``, ``h2d``, ``d2h`` or ``launch`` from now on fail, once.

        0 cancels that.
        """
        unknown = counts.keys() - {"allocation", "h2d", "d2h", "launch"}
        if unknown:
            raise DeviceError(f"{self} can fail at allocation, h2d, d2h or launch, not at "
                              f"{', '.join(sorted(unknown))}")
        self.failing.update(counts)

    def fail_if_requested(self, what: str, kind: type[DeviceError]) -> None:
        """Raise an error of class `kind` if that was requested by `fail`."""
        left = self.failing.get(what, 0)
        if left:
            self.failing[what] = left - 1
            if left == 1:
                raise kind(f"{self}: this {what} was requested to fail")

    def finish(self) -> None:
        self.synchronize()


class EmulatedFacet(PooledFacet):
    """The visible elements in the memory of an emulated device."""

    letter: str = "E"
    presents: type | None = EmulatedArray

    def __init__(self, device: Emulated) -> None:
        self.name: str = device.name
        self.memory: Memory = device.memory
        self.device = device

    def present(self, view: Any, handle: EmulatedBlock, writable: bool) -> EmulatedArray:
        return EmulatedArray(handle, view.layout, view.element_type, writable)


@functools.cache
def _device(number: int) -> Emulated:
    found = Emulated(number)
    register_facet(found.facet)
    return found


register_device_kind("emulated", lambda k: _device(k or 0) if (k or 0) < MOST else None,
                     lambda: f"there are {MOST}")
EMULATED = _device(0)
