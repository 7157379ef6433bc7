"""``cuda``: the devices whose operations compute on a GPU, the facets of their memories, and
`CudaArray`, a Mat's elements there; captures of a thread's launches, and their replays.

Launches are captured on a stream of their own, so that other threads and libraries can go on
meanwhile, and are replayed on the stream where the device computes.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from importlib import import_module
from typing import Any, TypeAlias

from ..core.recorder import DifferentCallError
from ..core.registry import Engine, Memory, register_facet
from ..devices.in_use import Captured, Launches
from ..devices.pooled import PooledDevice, PooledFacet
from ..errors import ExchangeError
from ..layout.shapes import Ints
from ..layout.strided import Layout
from ..support.cuda_probe import probe
from ..support.dlpack_abi import (
    COPIED,
    CUDA,
    LEGACY,
    READ_ONLY,
    check_stream,
    compiled,
    make_capsule,
)
from ..support.dtypes import EXTENSIONS
from ..support.fork import in_child
from ..support.types import DType, Keywords, Operand
from . import engine
from .libraries import cufft, cusolver
from .libraries.cublas import prepare_capture
from .runtime.blocks import DeviceBlock
from .runtime.gpu import NOT_CURRENT, DriverObject, Gpu, check, driver, gpu
from .runtime.memory import CudaMemory
from .runtime.transfers import make_way

# only this thread must not call what waits or allocates while it captures
_MODE = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
_UPDATE_FAILURE = 910  # CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
_old: deque[tuple[Gpu, DriverObject]] = deque()  # replays that are garbage


class Replay:
    """A capture that is ready to be launched, with the workspaces that it uses."""

    def __init__(self, gpu: Gpu, replay: DriverObject, rooms: list[DeviceBlock],
                 kept: list[object]) -> None:
        self.gpu = gpu
        self.kept = kept  # the workspace of cuBLAS, plans of cuFFT
        self.replay: DriverObject = replay
        self.rooms: list[DeviceBlock] = rooms
        self._launch: Callable[[], tuple[DriverObject]] = partial(driver.cuGraphLaunch, replay,
                                                                  gpu.stream)

    def launch(self) -> None:
        """Queue all launches on the device's stream, by one call of the driver."""
        self.gpu.raise_if_lost()
        result = self._launch()
        if int(result[0]) in NOT_CURRENT:  # the thread has no context, or another one
            with self.gpu.current():
                result = self._launch()
        check(result, "a graph", self.gpu)

    def give_up(self) -> DriverObject:
        """Return the driver's object, owned by the caller from now on."""
        replay, self.replay = self.replay, None
        return replay

    def __del__(self) -> None:
        replay = getattr(self, "replay", None)
        if replay is not None:
            _old.append((self.gpu, replay))  # this may run in the middle of anything
        for block in getattr(self, "rooms", ()):
            _free(self.gpu, block)


class Capture:
    """The launches that a thread makes in a block; `launches` is there at its end."""

    launches: Launches

    def __init__(self, gpu: Gpu) -> None:
        self.gpu = gpu
        self.thread: int = threading.get_ident()
        self.stream: DriverObject = gpu.capture_stream
        self.rooms: list[DeviceBlock] = []
        self.kept: list[object] = []

    def room(self, depth: int, nbytes: int) -> int:
        """Return the address of a workspace for all repetitions of the launches."""
        if depth >= len(self.rooms) or nbytes > self.rooms[depth].nbytes:
            raise DifferentCallError
        return self.rooms[depth].address

    def begin(self, rooms: list[int]) -> None:
        """Begin to capture, with workspaces of so many bytes."""
        _destroy_old()
        for nbytes in rooms:
            take = self.gpu.allocate if self.gpu.pool is None else self.gpu.pool.take
            self.rooms.append(take(nbytes))
        check(driver.cuStreamBeginCapture(self.stream, _MODE), "a capture", self.gpu)
        self.gpu.capturing = self

    def end(self) -> DriverObject:
        """End the capture and return the graph."""
        self.gpu.capturing = None
        return check(driver.cuStreamEndCapture(self.stream), "a capture", self.gpu)

    def abandon(self) -> None:
        """End the capture, if it has begun, without a result."""
        self.gpu.capturing = None
        status, graph = driver.cuStreamEndCapture(self.stream)
        if not int(status):
            driver.cuGraphDestroy(graph)
        for block in self.rooms:
            _free(self.gpu, block)


@contextmanager
def capture(gpu: Gpu, rooms: list[int], old: Any) -> Iterator[Capture]:
    """Capture this thread's launches in the block, with nested workspaces of `rooms` bytes. `old`
    is a replay that nobody launches any more; it may be reused.

    Raise `DifferentCallError` while another thread captures, which may wait for this one.
    """
    if not gpu.capture_lock.acquire(blocking=False):
        raise DifferentCallError
    try:
        with gpu.current():
            found = Capture(gpu)
            found.kept.append(prepare_capture(gpu))
            try:
                found.begin(rooms)
                yield found
                graph = found.end()
            except BaseException:
                found.abandon()
                raise
            try:
                found.launches = Replay(gpu, _made(gpu, graph, old), found.rooms, found.kept)
            finally:
                check(driver.cuGraphDestroy(graph), "freeing a graph", gpu)
    finally:
        gpu.capture_lock.release()


def _made(gpu: Gpu, graph: DriverObject, old: Replay | None) -> DriverObject:
    """Return a replay of `graph`, at less cost by an update of `old` if possible."""
    if old is not None:
        replay = old.give_up()
        status = int(driver.cuGraphExecUpdate(replay, graph)[0])
        if not status:
            return replay
        _old.append((gpu, replay))
        if status != _UPDATE_FAILURE:
            check((status,), "updating a graph", gpu)
    return check(driver.cuGraphInstantiate(graph, 0), "a graph", gpu)


def _free(gpu: Gpu, block: DeviceBlock) -> None:
    if gpu.pool is not None:
        gpu.pool.free(block)  # takes no lock; without a pool the block frees itself


def _destroy_old() -> None:
    """Free replays that are garbage; those that still run are freed at their end."""
    with suppress(IndexError):
        while True:
            gpu, replay = _old.popleft()
            if not gpu.lost:
                check(driver.cuGraphExecDestroy(replay), "freeing a graph", gpu)


Capsule: TypeAlias = Any  # a PyCapsule, which has no type in Python


class CudaArray:
    """The visible elements in the memory of a device; valid inside its block.

    ``pointer`` (the same as ``address``) is an integer, at the first visible element. ``shape``,
    ``strides`` (in elements), ``size`` and ``dtype`` are those of the Mat; ``device`` is the device
    that has the memory. Libraries that know ``__cuda_array_interface__`` or DLPack use it without a
    copy: ``torch.as_tensor(a, device="cuda")``, ``cupy.asarray(a)``.
    """

    __slots__ = ("__weakref__", "address", "device", "dtype", "exported", "gpu", "handle", "layout",
                 "letter", "shape", "size", "strides", "writable")

    def __init__(self, handle: DeviceBlock, layout: Layout, dtype: DType, device: object = None,
                 *, writable: bool = True) -> None:
        self.handle: DeviceBlock = handle
        self.layout: Layout = layout
        self.dtype: DType = dtype
        self.letter: str = dtype.char
        self.shape: Ints = layout.shape
        self.strides: Ints = layout.strides
        self.size: int = layout.size
        # without elements, the beginning of the block
        offset = layout.displacement * dtype.itemsize if layout.size else 0
        self.address: int = handle.address + offset
        self.gpu: Gpu = handle.gpu
        self.device: object = device
        self.writable: bool = writable
        # made when other libraries request the address; their reference to self keeps it
        self.exported: object = None

    @property
    def pointer(self) -> int:
        """Return the address of the first visible element."""
        return self.address

    @property
    def __cuda_array_interface__(self) -> Keywords:
        if self.letter in EXTENSIONS:
            raise AttributeError(f"__cuda_array_interface__ has no {self.dtype}; DLPack has: "
                                 "torch.from_dlpack(a)")
        self.exported = self.handle.export()
        step = self.dtype.itemsize
        strides = None if self.layout.contiguous else tuple(s * step for s in self.strides)
        return {"shape": self.shape, "typestr": self.dtype.str,
                "data": (self.address if self.size else 0, not self.writable),
                "strides": strides, "version": 3, "stream": int(self.gpu.stream)}

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, self.gpu.number

    def __dlpack__(self, *, stream: int | None = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Capsule:
        """Return a capsule over the same memory.

        A consumer's stream that is not in order with the device's stream waits for it.
        """
        if copy or (dl_device is not None and tuple(dl_device) != self.__dlpack_device__()):
            raise ExchangeError("a CudaArray exports the memory of its device and copies nothing; "
                                "x.to_numpy() copies to the host")
        if max_version is None and not self.writable:
            raise ExchangeError("a consumer from before DLPack 1.0 cannot know that this is "
                                "read-only; torch.from_dlpack(x) of the Mat itself copies for it, "
                                "a block for 'io' exports it writable")
        check_stream(stream, self.__dlpack_device__())
        self.gpu.make_stream_wait(stream)
        flags = 0 if self.writable else READ_ONLY
        return self.capsule((self, self.handle.export()), LEGACY if max_version is None else flags)

    def capsule(self, owner: object, flags: int) -> Capsule:
        """Return a capsule that keeps `owner` and so its memory."""
        if min(self.strides, default=0) < 0:
            raise ExchangeError("DLPack's consumers accept no negative strides, torch ends the "
                                "process; x.contiguous() has none")
        if compiled:
            return make_capsule(owner, self.address, self.shape, self.strides,
                                self.__dlpack_device__(), self.dtype, flags)
        if self.letter in EXTENSIONS or flags == COPIED:
            thing = str(self.dtype) if self.letter in EXTENSIONS else "a copy"
            raise ExchangeError(f"without compiled kernels, {thing} is not exported")
        low, high = self.layout.bounds
        core, utils = import_module("cuda.core"), import_module("cuda.core.utils")
        with self.gpu.current():  # cuda.core makes capsules, too, but takes long to import
            buffer = core.Buffer.from_handle(
                self.address, max((high - low) * self.dtype.itemsize, 1), owner=owner)
            view = utils.StridedMemoryView.from_buffer(
                buffer, self.shape, self.strides, itemsize=self.dtype.itemsize, dtype=self.dtype,
                is_readonly=flags == READ_ONLY)
            return view.__dlpack__(stream=-1, max_version=None if flags == LEGACY else (1, 0))

    def __repr__(self) -> str:
        return (f"<CudaArray {self.address:#x} on cuda:{self.gpu.number} shape {self.shape} "
                f"strides {self.strides} {self.dtype}>")


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
        self.stream: int = int(self.gpu.stream)

    def make_stream_wait(self, stream: int | None) -> None:
        self.gpu.make_stream_wait(stream)

    def capture(self, rooms: list[int], old: Launches | None) -> AbstractContextManager[Captured]:
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
            return cufft.library.missing()
        return cusolver.library.missing() if library == "cuSOLVER" else cusolver.lacks(library)

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


@in_child
def _after_fork() -> None:
    """Make a new lock: using a device is an error there, and must not hang."""
    global _lock
    _lock = threading.Lock()
