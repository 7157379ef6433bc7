"""``cuda``: the devices whose operations compute on a GPU, and the facets of their memories."""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager

from ..core.registry import Engine, Memory, register_facet
from ..devices.in_use import Captured, Launches
from ..devices.pooled import PooledDevice, PooledFacet
from ..support.cuda_probe import probe
from ..support.dlpack_abi import CUDA
from ..support.types import Operand
from . import engine
from .graphs import capture
from .libraries import cufft, cusolver
from .runtime.array import CudaArray
from .runtime.async_transfers import make_way
from .runtime.blocks import DeviceBlock
from .runtime.driver import driver
from .runtime.gpu import Gpu, check, gpu
from .runtime.memory import CudaMemory

LITTLE = 8  # of so many parts of the memory of a GPU less than one is free: others need it


class CudaFacet(PooledFacet):
    """The visible elements in the memory of a GPU."""

    letter: str = "C"
    presents: type | None = CudaArray
    engine: Engine = engine

    def __init__(self, device: CudaDevice) -> None:
        self.name: str = f"cuda:{device.number}" if device.number else "cuda"
        self.memory: Memory = device.memory
        self.device = device

    def present(self, view: Operand, handle: DeviceBlock, writable: bool) -> CudaArray:
        return CudaArray(handle, view.layout, view.element_type, self.device, writable=writable)


class CudaDevice(PooledDevice):
    """A GPU as a device, as in ``with mat.use_device("cuda") as dev:``.

    ``dev.gpu`` has its context, streams and kernels.
    """

    implementations = "cuda"
    captures = True
    memory: CudaMemory

    def __init__(self, number: int) -> None:
        super().__init__()
        self.gpu: Gpu = gpu(number)
        self.number = number
        self.name: str = f"cuda:{number}"
        self.memory = CudaMemory(self.name, self.gpu)
        self.facet: CudaFacet = CudaFacet(self)
        self.dlpack: tuple[int, int] = CUDA, number

    def make_stream_wait(self, stream: int | None) -> None:
        self.gpu.make_stream_wait(stream)

    def capture(self, rooms: list[int],
                old: Launches | None) -> AbstractContextManager[Captured]:
        return capture(self.gpu, rooms, old)

    def tidy_up(self) -> None:
        """Keep free memory for the next block, unless little is left for others."""
        self.memory.settle()
        make_way(self.gpu, 0)
        if not self.gpu.lost:
            free, total = self.gpu.room_left()
            if free < total // LITTLE:
                self.memory.trim()

    def lacks(self, library: str) -> str:
        if library == "cuFFT":
            return cufft.missing()
        return cusolver.missing() if library == "cuSOLVER" else cusolver.lacks(library)

    def synchronize(self) -> None:
        with self.gpu.current():
            check(driver.cuCtxSynchronize(), f"waiting for {self.name}, where perhaps an earlier "
                                             "operation failed")


_devices: dict[int, CudaDevice] = {}
_lock = threading.Lock()


def device(number: int) -> CudaDevice | None:
    """Return the device of that number, or None if there is none."""
    if not 0 <= number < probe().devices:
        return None
    with _lock:
        found = _devices.get(number)
        if found is None:
            found = CudaDevice(number)
            register_facet(found.facet)
            _devices[number] = found
        found.gpu.raise_if_lost()
        return found


def _after_fork() -> None:
    """Make a new lock in a forked child, where using a device is an error and must not hang."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
