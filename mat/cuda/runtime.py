"""``cuda``: the devices on which operations compute on a GPU, and the facets that look at what lies there."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from cuda.bindings import driver

from ..devices import Device
from ..errors import DeviceError
from ..places import Facet, register_facet
from ..pooled import CLOCK
from . import engine
from .array import CudaArray
from .driver import probe
from .gpu import Block, Gpu, check, gpu
from .memory import CudaMemory


class CudaFacet(Facet):
    """The visible elements in the memory of a GPU."""

    letter, presents, engine = "C", CudaArray, engine

    def __init__(self, device: CudaDevice) -> None:
        self.name = f"cuda:{device.number}" if device.number else "cuda"
        self.memory = device.memory
        self.device = device

    def present(self, view: Any, handle: Block, writable: bool) -> CudaArray:
        return CudaArray(handle, view.layout, view.storage.dtype, self.device, writable=writable)

    def lender(self, value: CudaArray) -> Callable[[], Any]:
        def lend() -> CudaArray:
            value.handle.tick = next(CLOCK)
            return value
        return lend


class CudaDevice(Device):
    """A GPU; ``with mat.use_device("cuda") as dev:`` gives it. ``dev.gpu`` is what the driver knows of it."""

    bodies = "cuda"
    memory: CudaMemory

    def __init__(self, number: int) -> None:
        self.gpu: Gpu = gpu(number)
        self.number = number
        self.name = f"cuda:{number}"
        self.memory = CudaMemory(self.name, self.gpu)
        self.facet = CudaFacet(self)
        self._users = 0
        self._lock = threading.Lock()

    def synchronize(self) -> None:
        with self.gpu.current():
            check(driver.cuCtxSynchronize(), f"waiting for {self.name}, perhaps for an operation that failed there")

    def begin(self, pool_bytes: int | None) -> Any:
        before = self.memory.limit
        if pool_bytes is not None:
            self.memory.restrict(pool_bytes)
        with self._lock:
            self._users += 1
        return before

    def end(self, before: Any) -> None:
        with self._lock:
            self._users -= 1
            last = not self._users
        self.memory.limit = before
        if last:
            self.memory.trim()


_devices: dict[int, CudaDevice] = {}
_lock = threading.Lock()


def device(number: int) -> CudaDevice | None:
    """The device of that number, or None if there is none."""
    if not 0 <= number < probe().devices:
        return None
    with _lock:
        found = _devices.get(number)
        if found is None:
            found = CudaDevice(number)
            register_facet(found.facet)
            _devices[number] = found
        if found.gpu.process != os.getpid():
            raise DeviceError(f"cuda:{number} was used before this process was forked, and cannot be used in it; start those "
                              f"that use it with multiprocessing.get_context('spawn')")
        return found
