"""``emulated``: a device that needs no GPU. Its memory is apart from the host's, guarded, and
opaque; the CPU computes there.

It is for finding mistakes: addresses that are no pointers, guard bands around every block, checked
after each operation, poison in what is allocated and freed, completion that can be put off until
somebody waits for it, and failures on request.
"""

from __future__ import annotations

import functools
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..core.registry import Facet, Memory, register_facet
from ..errors import DeviceError, OutOfDeviceMemory
from ..facets.array import over
from ..facets.backing import protected_view
from ..layout.strided import Layout
from ..memories.pooled import Pooled
from ..support.c_pointers import ForeignArray
from .device import register_device_kind
from .pooled import PooledDevice, PooledFacet

GUARD = 64  # bytes on either side of a block
# no such address exists on today's machines: who takes it for a pointer, fails at once
BASE = 0x7FF0_0000_0000_0000
FRESH, FREED, BAND = 0xA5, 0xDD, 0xB9  # what unwritten, freed and guarding bytes are
MOST = 64  # devices
Bytes = np.ndarray[Any, np.dtype[np.uint8]]


class EmulatedBlock:
    """What is allocated: an opaque address, and bytes that only the device touches."""

    __slots__ = ("__weakref__", "address", "alive", "device", "line", "nbytes", "raw", "tick")

    def __init__(self, device: Emulated, address: int, nbytes: int) -> None:
        self.device = device
        self.address = address
        self.nbytes = nbytes
        self.raw: Bytes = np.full(nbytes + 2 * GUARD, BAND, np.uint8)
        self.raw[GUARD:GUARD + nbytes] = FRESH
        self.alive = True
        self.tick = 0
        self.line = ""

    @property
    def bytes(self) -> Bytes:
        """What lies between the guards."""
        return self.raw[GUARD:GUARD + self.nbytes]

    def check_guards(self) -> None:
        """`DeviceError` if something was written beside the block; the guards are whole again
        then.
        """
        before, after = self.raw[:GUARD], self.raw[GUARD + self.nbytes:]
        for side, band in (("before", before), ("after", after)):
            wrong = np.flatnonzero(band != BAND)
            if wrong.size:
                at = int(wrong[-1]) - GUARD if side == "before" else int(wrong[0])
                band[...] = BAND
                raise DeviceError(f"{wrong.size} bytes {side} the {self.nbytes} at "
                                  f"{self.address:#x} of {self.device} were "
                                  f"overwritten, first {at:+d} from its "
                                  f"{'begin' if side == 'before' else 'end'}; {self.line}")


class EmulatedArray:
    """What the facet presents: the visible elements on the device, which only the device can read.

    ``pointer`` (the same as ``address``) is an opaque number, where the first visible element is;
    ``shape``, ``strides`` (in elements), ``size`` and ``dtype`` are those of the Mat.
    ``device.launch(function, array)`` computes on it.
    """

    __slots__ = ("address", "device", "dtype", "handle", "layout", "shape", "size", "strides",
                 "writable")

    def __init__(self, handle: EmulatedBlock, layout: Layout, dtype: np.dtype[Any],
                 writable: bool) -> None:
        self.handle = handle
        self.device = handle.device
        self.layout = layout
        self.dtype = dtype
        self.shape, self.strides, self.size = layout.shape, layout.strides, layout.size
        self.address = handle.address + layout.displacement * dtype.itemsize
        self.writable = writable

    @property
    def pointer(self) -> int:
        """Where the first visible element is: a number that is no address of this process."""
        return self.address

    def elements(self) -> np.ndarray[Any, Any]:
        """The block as the device sees it, 1-d."""
        return self.handle.bytes.view(self.dtype)

    def __repr__(self) -> str:
        return f"<EmulatedArray {self.address:#x} shape {self.shape} strides {self.strides} {self.dtype}>"


class EmulatedMemory(Pooled):
    """The memory of one such device; counts what goes in and out."""

    def __init__(self, name: str, device: Emulated) -> None:
        super().__init__(name)
        self.device = device
        self._next = BASE

    def raw_allocate(self, nbytes: int) -> EmulatedBlock:
        self.device.fail_if_requested("allocation", OutOfDeviceMemory)
        block = EmulatedBlock(self.device, self._next, nbytes)
        self._next += (nbytes + 2 * GUARD + 255) // 256 * 256
        return block

    def raw_free(self, handle: EmulatedBlock) -> None:
        """Nothing: Python frees what nobody has any more."""

    def free(self, handle: EmulatedBlock) -> None:
        handle.alive = False
        super().free(handle)

    def retire(self, handle: EmulatedBlock) -> None:
        self.device.enqueue(lambda: handle.bytes.fill(FREED))

    def renew(self, handle: EmulatedBlock) -> None:
        handle.alive = True
        self.device.enqueue(lambda: handle.bytes.fill(FRESH))

    # Copies

    @contextmanager
    def aside(self) -> Iterator[None]:
        device = self.device
        device.synchronize()
        counted, failing = dict(device.transfers), dict(device.failing)
        device.failing.clear()
        try:
            yield
            device.synchronize()
        finally:
            device.transfers.update(counted)
            device.failing.update(failing)

    def copy_in(self, cube: Any, handle: EmulatedBlock, host: Any) -> None:
        self.write_part(cube, handle, host, 0)

    def copy_out(self, cube: Any, handle: EmulatedBlock, host: Any) -> None:
        self.read_part(cube, handle, host, 0, cube.size)

    def write_part(self, cube: Any, handle: EmulatedBlock, part: Any, start: int) -> bool:
        self.device.check(handle)
        self.device.fail_if_requested("h2d", DeviceError)
        # a copy: the caller may go on with its own
        source, size = part.tobytes(), cube.dtype.itemsize
        self.device.transfers["h2d"] += len(source)
        self.device.enqueue(lambda: _put(handle.bytes, start * size, source))
        return True

    def read_part(self, cube: Any, handle: EmulatedBlock, host: Any, start: int, stop: int) -> bool:
        self.device.check(handle)
        self.device.fail_if_requested("d2h", DeviceError)
        self.device.synchronize()
        size = cube.dtype.itemsize
        found = handle.bytes[start * size:stop * size]
        self.device.transfers["d2h"] += found.nbytes
        host[start:stop] = found.view(cube.dtype)
        return True

    # an interface's
    def copy_from(self, cube: Any, handle: EmulatedBlock, memory: Memory,
                  source: Any) -> bool:
        if not isinstance(memory, EmulatedMemory):
            return False
        self.device.check(handle)
        memory.device.check(source)
        memory.device.synchronize()
        self.device.transfers["d2d"] += handle.nbytes
        held = source.bytes.copy()
        self.device.enqueue(lambda: _put(handle.bytes, 0, held))
        return True

    # likewise
    def begin_copy_in(self, cube: Any, handle: EmulatedBlock, host: Any) -> QueuedCopy:
        self.device.check(handle)

        def copy() -> None:
            self.device.fail_if_requested("h2d", DeviceError)
            self.device.transfers["h2d"] += host.nbytes
            _put(handle.bytes, 0, host.tobytes())

        return QueuedCopy(self.device, copy)

    # likewise
    def begin_copy_out(self, cube: Any, handle: EmulatedBlock, host: Any) -> QueuedCopy:
        self.device.check(handle)

        def copy() -> None:
            self.device.fail_if_requested("d2h", DeviceError)
            self.device.transfers["d2h"] += host.nbytes
            host[:] = handle.bytes[:host.nbytes].view(host.dtype)

        return QueuedCopy(self.device, copy)

    def fill(self, cube: Any, handle: EmulatedBlock) -> bool:
        self.device.check(handle)
        value = np.full(cube.size, cube.fill_value, cube.dtype)
        self.device.enqueue(lambda: _put(handle.bytes, 0, value.tobytes()))
        return True


class QueuedCopy:
    """A copy that was begun: done by the device in its turn, and not before somebody waits if that
    is `delayed`.
    """

    def __init__(self, device: Emulated, copy: Callable[[], None]) -> None:
        self.device = device
        self.copy = copy
        self.failed: DeviceError | None = None
        device.enqueue(self.run)

    def run(self) -> None:
        """What the device does."""
        try:
            self.copy()
        except DeviceError as error:
            self.failed = error

    def wait(self) -> None:
        """Have it done; raise if it failed."""
        self.device.synchronize()
        if self.failed is not None:
            raise self.failed


def _put(target: Bytes, start: int, source: bytes | Bytes) -> None:
    target[start:start + len(source)] = np.frombuffer(source, np.uint8)


class Emulated(PooledDevice):
    """A device of guarded host memory; ``with mat.use_device("emulated") as dev:`` gives it.

    ``dev.transfers`` counts bytes by direction ("h2d", "d2h", "d2d"), ``dev.launches`` operations.
    While ``dev.delayed`` is True, work is only done when somebody waits for it: what is read too
    early is poison. ``dev.fail(h2d=2)`` has the second transfer to the device from now on fail,
    likewise "d2h", "allocation" and "launch". ``dev.launch(function, *arrays)`` computes.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.name = f"emulated:{number}" if number else "emulated"
        self.memory: EmulatedMemory = EmulatedMemory(self.name, self)
        self.facet = EmulatedFacet(self)
        self.delayed = False
        self.launches = 0
        self.transfers = dict.fromkeys(("h2d", "d2h", "d2d"), 0)
        self._queue: deque[Callable[[], object]] = deque()
        self.failing: dict[str, int] = {}
        self._lock = threading.RLock()

    # Work

    def enqueue(self, work: Callable[[], object]) -> None:
        """Do `work` after what was given before it: now, or if `delayed`, when somebody waits."""
        with self._lock:
            self._queue.append(work)
            if not self.delayed:
                self.synchronize()

    def synchronize(self) -> None:
        """Wait until all work that was given to the device is done."""
        with self._lock:
            while self._queue:
                self._queue.popleft()()

    def launch(self, function: Callable[..., Any], *values: Any) -> None:
        """Call `function` on the device, with every `EmulatedArray` among `values` as a NumPy
        array.

        The arrays are valid while it runs, and read-only where they were looked at as ``"input"``.
        `DeviceError` for arrays of another device or of freed memory, and if bytes beside a block
        were overwritten.
        """
        self._compute(function, values, _as_array, False)

    def _compute(self, function: Callable[..., Any], values: tuple[Any, ...],
                 opened: Callable[[EmulatedArray], Any],
                 returns: bool) -> Any:
        arrays = [v for v in values if isinstance(v, EmulatedArray)]
        for array in arrays:
            self.check(array.handle)
        self.fail_if_requested("launch", DeviceError)
        self.launches += 1
        result = []

        def work() -> None:
            result.append(function(*(opened(v) if isinstance(v, EmulatedArray) else v
                                     for v in values)))
            for array in arrays:
                array.handle.check_guards()

        self.enqueue(work)
        if not returns:
            return None
        self.synchronize()
        return result[0]

    def adapt(self, function: Callable[..., Any], facet: Facet,
              returns: bool) -> Callable[..., Any]:
        opened = _as_foreign if facet.presents is ForeignArray else _as_array

        def compute(*values: Any, **settings: Any) -> Any:
            implementation = functools.partial(function, **settings) if settings else function
            return self._compute(implementation, values, opened, returns)

        return compute

    # Finding fault

    def check(self, block: Any) -> None:
        """`DeviceError` unless `block` is one of ours, and not freed."""
        if not isinstance(block, EmulatedBlock):
            raise DeviceError(f"{self} was given host memory, {type(block).__name__}, where its "
                              "own is needed")
        if block.device is not self:
            raise DeviceError(f"{self} was given {block.address:#x}, memory of {block.device}")
        if not block.alive:
            raise DeviceError(f"{self}: the {block.nbytes} bytes at {block.address:#x} were used "
                              "after they had been freed")

    def fail(self, **counts: int) -> None:
        """Have the n-th ``allocation``, ``h2d``, ``d2h`` or ``launch`` from now on fail, once; 0
        takes that back.
        """
        unknown = counts.keys() - {"allocation", "h2d", "d2h", "launch"}
        if unknown:
            raise DeviceError(f"{self} can fail at allocation, h2d, d2h or launch, not at "
                              f"{', '.join(sorted(unknown))}")
        self.failing.update(counts)

    def fail_if_requested(self, what: str, kind: type[DeviceError]) -> None:
        """Fail if that was asked for."""
        left = self.failing.get(what, 0)
        if left:
            self.failing[what] = left - 1
            if left == 1:
                raise kind(f"{self}: this {what} was asked to fail")

    def finish(self) -> None:
        self.synchronize()


def _as_array(x: EmulatedArray) -> np.ndarray[Any, Any]:
    return protected_view(over(x.elements(), x.layout), x.writable)


def _as_foreign(x: EmulatedArray) -> ForeignArray:
    return ForeignArray(x.elements(), x.layout)


class EmulatedFacet(PooledFacet):
    """Looks at the memory of an emulated device."""

    letter, presents = "E", EmulatedArray

    def __init__(self, device: Emulated) -> None:
        self.name = device.name
        self.memory = device.memory
        self.device = device

    def present(self, view: Any, handle: EmulatedBlock, writable: bool) -> EmulatedArray:
        return EmulatedArray(handle, view.layout, view.storage.dtype, writable)


@functools.cache
def _device(number: int) -> Emulated:
    found = Emulated(number)
    register_facet(found.facet)
    return found


def _find(number: int | None) -> Emulated | None:
    return _device(number or 0) if (number or 0) < MOST else None


register_device_kind("emulated", _find, lambda: f"there are {MOST}")
EMULATED = _device(0)
