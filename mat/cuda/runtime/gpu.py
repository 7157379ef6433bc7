"""One GPU as the driver knows it: its context, streams, kernels and memory, and the devices that
have failed for good.

`check` raises the error of every call of the driver that fails.
"""

from __future__ import annotations

import importlib.metadata
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from threading import get_ident
from typing import Any, Protocol, TypeAlias

from cuda.bindings import driver as bindings

from ...core.compiled import THREADS, DriverCall
from ...core.recorder import RECORDERS
from ...core.source_line import line_of
from ...errors import DeviceError, KernelError, OutOfDeviceMemory
from ...support import cuda_probe
from ...support.c_compiler import CompileError
from ...support.fork import in_child, renew_after_fork
from .blocks import DeviceBlock, DevicePool
from .nvrtc import COMPILER, Program


class DriverFunctions:
    """What `cuda.bindings.driver` has, also with newer drivers: functions that return the status
    first, types and constants. For an error that the bindings have no name for they raise
    `ValueError`; here the number is returned, as other errors are.
    """

    def __getattr__(self, name: str) -> Any:
        found = getattr(bindings, name)
        if name.startswith("cu") and not isinstance(found, type):
            found = cuda_probe.accepting(found)
        setattr(self, name, found)
        return found


driver: Any = DriverFunctions()
OUT_OF_MEMORY = 2  # CUDA_ERROR_OUT_OF_MEMORY
# errors after which a context fails for good: ECC, NVLink, contained, illegal address, timeout,
# destroyed, assertion, stack, instruction, misaligned, address space, program counter, launch,
# tensor memory
FATAL = frozenset((214, 220, 226, 700, 702, 709, 710, *range(714, 720), 721))
FAILURES: dict[int, str] = {}  # by the address of a context: what it failed with, and where


def error_of(status: int, what: str, context: int | None = None) -> DeviceError:
    """Return the error of a status, and remember it if the device cannot be used from now on.

    `what` says what was requested, of the device with the address `context`, or else of the
    thread's current one.
    """
    text = f"{what}: {cuda_probe.error_text(driver, status)}"
    if status not in FATAL:
        return OutOfDeviceMemory(text) if status == OUT_OF_MEMORY else DeviceError(text)
    if context is None:
        context = int(driver.cuCtxGetCurrent()[1] or 0)
    if context in FAILURES:
        return failed_earlier(context)
    if context:
        FAILURES[context] = f"{line_of(THREADS.line())}: {text}"
    return DeviceError(f"{text}; a GPU does not recover from this within a process: start again; "
                       "what is on the host can still be used")


def failed_earlier(context: int) -> DeviceError:
    """Return the error of whoever uses a device that has failed."""
    return DeviceError(f"the device failed earlier at {FAILURES[context]}; it cannot be used again "
                       "in this process: start again; what is on the host can still be used")


NOT_READY = 600  # CUDA_ERROR_NOT_READY
LEGACY = 1  # CU_STREAM_LEGACY, whatever the default stream is set to; its number in DLPack, too
# the status of a launch where another context, or none, is current in the thread
NOT_CURRENT = frozenset((3, 201, 400))
SCRATCH = 1 << 18  # bytes of a workspace that launches share
OWN_SHARED = 48 << 10  # bytes of dynamic shared memory that every kernel may use
_ATTRIBUTE = driver.CUdevice_attribute
DriverObject: TypeAlias = Any  # of cuda.bindings, which has no types for its results


def check(result: tuple[DriverObject, ...], what: str, gpu: Gpu | None = None) -> DriverObject:
    """Return the results of a call of the driver; raise `DeviceError` if its status is an error.

    `what` says what was requested, of `gpu` or else of the device that is the thread's current one.
    """
    status = result[0]
    if status:
        raise error_of(int(status), what, None if gpu is None else gpu.address)
    return result[1] if len(result) == 2 else result[1:] or None


@cache
def addresses(*names: str) -> tuple[int, ...]:
    """Return the addresses of functions of the driver that have not changed since version 4."""
    find = driver.CUdriverProcAddress_flags.CU_GET_PROC_ADDRESS_DEFAULT
    return tuple(int(check(driver.cuGetProcAddress(name.encode(), 4000, find), name)[0])
                 for name in names)


class Capturing(Protocol):
    """A capture of the launches of one thread."""

    thread: int
    stream: DriverObject
    kept: list[object]  # what the launches use, for as long as they can be repeated

    def room(self, depth: int, nbytes: int) -> int:
        """Return the address of a workspace within so many others."""


class Current:
    """The block that makes a device the thread's current one."""

    __slots__ = ("gpu", "pushed")

    def __init__(self, gpu: Gpu) -> None:
        self.gpu = gpu
        self.pushed = False

    def __enter__(self) -> None:
        gpu = self.gpu
        gpu.raise_if_lost()
        what = f"using device {gpu.number}"
        now = int(check(driver.cuCtxGetCurrent(), what) or 0)
        if now == gpu.address:
            return
        if not now and gpu.alone:
            check(driver.cuCtxSetCurrent(gpu.context), what)
            return
        check(driver.cuCtxPushCurrent(gpu.context), what)
        self.pushed = True

    def __exit__(self, *_: object) -> None:
        if self.pushed:
            check(driver.cuCtxPopCurrent(), "leaving a device")


class Gpu:
    """A device by its number.

    It computes on `stream`, a stream of its own that can be captured and is in order with the
    legacy default stream, on which torch and CuPy compute. Transfers that may overlap with it are
    on `copy_stream`.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.process: int = os.getpid()
        self.device: DriverObject = check(driver.cuDeviceGet(number), f"device {number}")
        found = cuda_probe.capability(driver, number)
        if found < cuda_probe.LEAST:
            raise DeviceError(f"device {number}: {cuda_probe.too_old(found)}")
        self.arch: str = "sm_{}{}".format(*found)
        self.context: DriverObject = check(driver.cuDevicePrimaryCtxRetain(self.device),
                             f"the context of device {number}")
        self.address: int = int(self.context)
        self.processors: int = self._attribute(_ATTRIBUTE.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
        # memory is allocated and freed in the order of a stream; parts of a GPU may lack that
        pools = _ATTRIBUTE.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED
        self.in_order: bool = bool(self._attribute(pools))
        self._memory_pool: DriverObject = self._kept_pool() if self.in_order else None
        # then every thread that has a context has this one
        self.alone: bool = cuda_probe.probe().devices == 1
        self.reached: set[int] = set()  # other devices, whose memory this one was let access
        self.orphans: deque[tuple[int, int]] = deque()  # address and size of garbage
        self.after_fork()
        renew_after_fork(self)
        self.stream: DriverObject = self.new_stream("CU_STREAM_DEFAULT")
        self._libraries: dict[Program, DriverObject] = {}
        self._kernels: dict[tuple[Program, str], DriverObject] = {}
        self._shared: dict[tuple[Program, str], int] = {}
        self._apart: dict[str, DriverObject] = {}  # the streams of captures and of copies
        self.underway: deque[Any] = deque()  # copies that nobody waits for, in their order
        self.capturing: Capturing | None = None  # one thread at a time, see `graphs`
        self.pool: DevicePool | None = None  # accounts for the memory, once there is one
        self._scratch: DeviceBlock | None = None

    def after_fork(self) -> None:
        """Make a new lock, in a forked child, where the device is unusable."""
        self._lock = threading.Lock()
        self.capture_lock: threading.Lock = threading.Lock()  # one thread at a time captures
        # of launches one after another, which share `scratch`
        self.launching: threading.Lock = threading.Lock()
        self.forked: bool = self.process != os.getpid()

    def _kept_pool(self) -> DriverObject:
        """Return CUDA's pool, set to keep freed memory across waits, which saves milliseconds."""
        pool = check(driver.cuDeviceGetMemPool(self.device), f"the pool of device {self.number}")
        threshold = driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
        # if that is refused, all is only slower
        driver.cuMemPoolSetAttribute(pool, threshold, driver.cuuint64_t(2**64 - 1))
        return pool

    def new_stream(self, kind: str) -> DriverObject:
        """Return a stream: CU_STREAM_DEFAULT is in order with the legacy one, the other is not."""
        with self.current():
            return check(driver.cuStreamCreate(getattr(driver.CUstream_flags, kind)),
                         f"a stream of device {self.number}")

    def reach(self, other: Gpu) -> None:
        """Let this device access the memory of another one, if it can: copies between them then do
        not go through the host. The memory of a pool is its own device's until its owner says so.
        """
        if other.number in self.reached:
            return
        self.reached.add(other.number)
        what = f"access of device {self.number} to device {other.number}"
        # if it is refused from here on, the driver copies through the host
        if not check(driver.cuDeviceCanAccessPeer(self.device, other.device), what):
            return
        if other._memory_pool is None:
            with self.current():
                driver.cuCtxEnablePeerAccess(other.context, 0)
            return
        access = driver.CUmemAccessDesc()
        access.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        access.location.id = int(self.device)
        access.flags = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        driver.cuMemPoolSetAccess(other._memory_pool, [access], 1)

    def _attribute(self, kind: DriverObject) -> int:
        result = driver.cuDeviceGetAttribute(kind, self.device)
        return int(check(result, f"{kind.name} of device {self.number}"))

    def __repr__(self) -> str:
        return f"<gpu {self.number}: {self.name}, {self.arch}>"

    @property
    def capture_stream(self) -> DriverObject:
        """Return the stream of captures, in order with no other: all of them go on meanwhile."""
        return self._stream_apart("capture")

    def capture_here(self) -> Capturing | None:
        """Return the capture of this thread's launches, if there is one."""
        capture = self.capturing if RECORDERS else None
        return None if capture is None or capture.thread != get_ident() else capture

    @property
    def name(self) -> str:
        """Return the name of the product."""
        found: bytes = check(driver.cuDeviceGetName(100, self.device),
                             f"the name of device {self.number}")
        return found.partition(b"\0")[0].decode()

    @property
    def copy_stream(self) -> DriverObject:
        """Return a stream that is not in order with any other one."""
        return self._stream_apart("copy")

    def _stream_apart(self, use: str) -> DriverObject:
        """Return a stream, made when it is first needed, that is in order with no other one."""
        with self._lock:
            if use not in self._apart:
                self._apart[use] = self.new_stream("CU_STREAM_NON_BLOCKING")
        return self._apart[use]

    # The thread's context

    @property
    def lost(self) -> bool:
        """Whether the device has failed, or is a forked child's: nothing on it can be used."""
        return self.forked or self.address in FAILURES

    def raise_if_lost(self) -> None:
        """Raise `DeviceError` with the reason if the device is unusable."""
        if self.forked:
            raise DeviceError(f"cuda:{self.number} was used before this process was forked, and "
                              "cannot be used in it; start processes that use it with "
                              "multiprocessing.get_context('spawn')")
        if self.lost:
            raise failed_earlier(self.address)

    def current(self) -> Current:
        """Make this device the current one of the thread within the block.

        The context before, of another device or of another library, becomes the current one again.
        A thread without a context keeps this one if there is no other device.
        """
        return Current(self)

    def in_context(self, call: DriverCall, failed: Callable[..., None] | None = None) -> DriverCall:
        """Return a compiled call in this context; `failed` gets statuses that it cannot return."""
        functions = addresses("cuCtxGetCurrent", "cuCtxPushCurrent", "cuCtxPopCurrent")
        call.set_context(functions, int(self.context), failed)
        return call

    def check_health(self, what: str) -> None:
        """Raise `DeviceError` if work queued on the stream has made the device fail."""
        with self.current():
            status = int(driver.cuStreamQuery(self.stream)[0])
        if status in FATAL:
            raise error_of(status, what, self.address)

    # Kernels

    def kernel(self, program: Program, name: str, shared: int = 0) -> DriverObject:
        """Return the kernel of that name, compiled and loaded; `shared`: its dynamic memory."""
        try:
            return self._kernel(program, name, shared)
        except OutOfDeviceMemory:  # programs are in the device's memory, too
            self.trim()  # with no lock: who has the pool's may need a kernel
            return self._kernel(program, name, shared)

    def _kernel(self, program: Program, name: str, shared: int) -> DriverObject:
        key = program, name
        with self._lock:
            found = self._kernels.get(key)
            if found is None or shared > self._shared[key]:
                with self.current():
                    if found is None:
                        found = self._load(program, name)
                    if shared > OWN_SHARED:
                        kinds = driver.CUfunction_attribute
                        most = kinds.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
                        check(driver.cuFuncSetAttribute(found, most, shared),
                              f"{shared} bytes of shared memory for {name}")
                self._kernels[key], self._shared[key] = found, max(shared, OWN_SHARED)
        return found

    def _load(self, program: Program, name: str) -> DriverObject:
        library = self._libraries.get(program)
        if library is None:
            try:
                cubin = program.cubin(self.arch)
            except CompileError as error:
                raise KernelError(f"NVRTC does not compile for {self.arch}:\n{error}") from None
            library = check(driver.cuLibraryLoadData(cubin, [], [], 0, [], [], 0),
                            f"a program for {self.arch}")
            self._libraries[program] = library
        kernel = check(driver.cuLibraryGetKernel(library, name.encode()), f"kernel {name!r}")
        return check(driver.cuKernelGetFunction(kernel), f"kernel {name!r}")

    # Memory, ordered with the stream

    def allocate(self, nbytes: int) -> DeviceBlock:
        """Return `nbytes` of memory, for work that is queued on the stream from now on."""
        self._free_orphans()
        block, ask = DeviceBlock(0, nbytes, self), f"{nbytes} bytes on device {self.number}"
        with self.current():
            status = self._take(block)
            if status == OUT_OF_MEMORY and self.in_order:
                self.return_freed()  # what is free may be in the wrong pieces
                status = self._take(block)
            check((status,), ask, self)
        return block

    def _take(self, block: DeviceBlock) -> int:
        """Allocate the memory of a block; return the status."""
        size, result = max(block.nbytes, 1), None
        try:
            result = (driver.cuMemAllocAsync(size, self.stream) if self.in_order
                      else driver.cuMemAlloc(size))
            if not int(result[0]):
                block.address = int(result[1])
                block.owned = True
        except BaseException:
            if result is not None and not int(result[0]) and not block.owned:
                self.orphans.append((int(result[1]), block.nbytes))
            raise
        return int(result[0])

    def return_freed(self) -> None:
        """Wait, and have CUDA return the memory that it keeps for later to the system."""
        self._release_scratch()
        self.synchronize()
        if self._memory_pool is not None:
            with self.current():
                check(driver.cuMemPoolTrimTo(self._memory_pool, 0),
                      f"returning free memory of device {self.number}")

    def _release_scratch(self) -> None:
        """Free the workspace of launches, unless some are being queued."""
        if self._scratch is not None and self.launching.acquire(blocking=False):
            try:
                block, self._scratch = self._scratch, None
                if block is not None:
                    self.release(block)
            finally:
                self.launching.release()

    def release(self, block: DeviceBlock) -> None:
        """Free memory once all work that is queued on the stream now is done."""
        if self.lost:  # it has no memory any more
            block.owned = False
            return
        with self.current():
            block.owned = False  # first: what is freed twice may be another one's by then
            self._free(block.address, block.nbytes)

    def _free(self, address: int, nbytes: int) -> None:
        status = (driver.cuMemFreeAsync(address, self.stream) if self.in_order
                  else driver.cuMemFree(address))
        check(status, f"freeing {nbytes} bytes on device {self.number}")

    def _free_orphans(self) -> None:
        """Free the memory of blocks that are garbage and were not released."""
        if self.lost:
            self.orphans.clear()
        while self.orphans:
            with self.current(), suppress(IndexError):  # another thread may free them, too
                self._free(*self.orphans.popleft())

    @contextmanager
    def room(self, nbytes: int) -> Iterator[int]:
        """Yield the address of `nbytes` of memory for work that is queued within the block.

        It is freed in the order of the stream, so nothing waits. What is captured has its own.
        """
        recorder = RECORDERS.get(get_ident())
        if recorder is None:
            with self.plain_room(nbytes) as address:
                yield address
            return
        capture = self.capture_here()
        with recorder.room(nbytes) as depth:
            if capture is not None:
                yield capture.room(depth, nbytes)
                return
            with self.plain_room(nbytes) as address:
                yield address

    @contextmanager
    def plain_room(self, nbytes: int) -> Iterator[int]:
        """Yield memory as `room` does, for copies, which are not captured."""
        pool = self.pool
        block = self.allocate(nbytes) if pool is None else pool.take(nbytes)
        try:
            yield block.address
        finally:
            if pool is None:
                self.release(block)
            else:
                pool.free(block)

    def scratch(self) -> int:
        """Return the address of `SCRATCH` bytes for workspaces of compiled launches: the stream
        uses them for one call after another. The caller holds the lock `launching`.
        """
        if self._scratch is None:
            self._scratch = self.allocate(SCRATCH)
        return self._scratch.address

    def trim(self) -> None:
        """Free memory that is kept for reuse, for CUDA itself, cuBLAS and other programs."""
        self._free_orphans()
        if self.pool is not None:
            self.pool.trim()
        elif not self.lost:
            self.return_freed()

    def room_left(self) -> tuple[int, int]:
        """Return the free bytes of the device, and all of them."""
        with self.current():
            free, total = check(driver.cuMemGetInfo(), f"the memory of device {self.number}")
        return int(free), int(total)

    def can_take(self, nbytes: float) -> bool:
        """Return whether this process can take so many bytes: free ones, or kept in CUDA's pool."""
        free, _ = self.room_left()
        if free >= nbytes or self._memory_pool is None:  # two calls of the driver fewer
            return free >= nbytes
        kinds = driver.CUmemPool_attribute
        with self.current():
            reserved, used = (
                int(check(driver.cuMemPoolGetAttribute(self._memory_pool, kind),
                          f"the pool of device {self.number}"))
                for kind in (kinds.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT,
                             kinds.CU_MEMPOOL_ATTR_USED_MEM_CURRENT))
        return free + reserved - used >= nbytes

    def synchronize(self) -> None:
        """Wait for all work that is queued on the stream."""
        with self.current():
            check(driver.cuStreamSynchronize(self.stream), f"waiting for device {self.number}")

    def idle(self) -> bool:
        """Return whether all work that is queued on the stream is done, or will never be; False
        while launches are captured, which a query would end.
        """
        if self.capturing is not None:
            return False
        try:
            with self.current():
                return int(driver.cuStreamQuery(self.stream)[0]) != NOT_READY
        except DeviceError:  # in a forked child, or after the driver has ended
            return True

    def make_stream_wait(self, stream: int | None) -> None:
        """Make a stream, given by its number in DLPack, wait for all work queued on `stream`."""
        # the legacy one, which None stands for, is in order with `stream`; -1: the consumer waits
        if stream is not None and stream not in (LEGACY, -1, int(self.stream)):
            self.wait_on(stream)

    def wait_on(self, stream: int) -> None:
        """Make another stream, given by its handle, wait for all work queued on `stream`."""
        with self.current():
            event = check(driver.cuEventCreate(driver.CUevent_flags.CU_EVENT_DISABLE_TIMING),
                          "an event")
            try:
                check(driver.cuEventRecord(event, self.stream), "recording an event")
                check(driver.cuStreamWaitEvent(driver.CUstream(stream), event, 0),
                      f"having stream {stream} wait")
            finally:
                check(driver.cuEventDestroy(event), "freeing an event")


_GPUS: dict[int, Gpu] = {}
_LOCK = threading.Lock()


def gpu(number: int = 0) -> Gpu:
    """Return the device of that number; raise `DeviceError` if there is none."""
    found = _GPUS.get(number)
    if found is not None and found.process == os.getpid():
        return found
    there = cuda_probe.probe()
    if not 0 <= number < there.devices:
        have = f"there are {there.devices}, counted from 0" if there.devices else there.reason
        raise DeviceError(f"no CUDA device {number}: {have}")
    with _LOCK:
        if number not in _GPUS or _GPUS[number].process != os.getpid():
            _GPUS[number] = Gpu(number)
        return _GPUS[number]


@in_child
def _after_fork() -> None:
    """Make a new lock: using a GPU is an error there, and must not hang."""
    global _LOCK
    _LOCK = threading.Lock()


# What is said of them


def facts() -> dict[str, str]:
    """Return the lines of ``mat.show_config()`` about devices, driver and libraries."""
    there = cuda_probe.probe()
    return {**{f"cuda:{k}": _device(k) for k in range(there.devices)},
            "CUDA": f"{cuda_probe.shown(there.version)} by the driver; cuda-bindings "
                    f"{_version('cuda-bindings')}",
            "NVRTC": _nvrtc(), "cuBLAS": _version("nvidia-cublas"),
            "cuSOLVER": _version("nvidia-cusolver"), "cuFFT": _version("nvidia-cufft")}


def _device(number: int) -> str:
    try:
        found = gpu(number)
        free, total = found.room_left()
        return f"{found.name}, {found.arch}, {free / 2**30:.1f} of {total / 2**30:.1f} GiB free"
    except DeviceError as error:
        return f"cannot be used: {error}"


def _nvrtc() -> str:
    try:
        return COMPILER.version()
    except DeviceError as error:
        return f"none: {error}"


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return f"not installed as a package ({cuda_probe.INSTALL})"
