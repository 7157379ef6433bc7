"""One GPU as the driver knows it: its context, streams, kernels and memory. Every call that can
fail goes through `check`.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from cuda.bindings import driver

from ..errors import DeviceError, KernelError, OutOfDeviceMemory
from ..support.c_compiler import CompileError
from ..support.cuda_probe import error_text, probe
from .nvrtc import Program

OUT_OF_MEMORY, NOT_READY = 2, 600  # CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_NOT_READY
LEGACY = 1  # CU_STREAM_LEGACY, whatever the default stream is set to
# what launches say where another context, or none, is current in the thread
NOT_CURRENT = frozenset((3, 201, 400))
OWN_SHARED = 48 << 10  # bytes of dynamic shared memory that a kernel has without asking
_ATTRIBUTE = driver.CUdevice_attribute


def check(result: tuple[Any, ...], what: str) -> Any:
    """What a call of the driver gave, or our error with CUDA's name of it; `what` says what was
    asked for.
    """
    status = result[0]
    if status:
        kind = OutOfDeviceMemory if int(status) == OUT_OF_MEMORY else DeviceError
        raise kind(f"{what}: {error_text(driver, int(status))}")
    return result[1] if len(result) == 2 else result[1:] or None


class BlockExport:
    """That other libraries may have an address in a block, as long as this is alive; then it goes
    where it was freed to.
    """

    __slots__ = ("__weakref__", "block", "freed")

    def __init__(self, block: DeviceBlock) -> None:
        self.block = block
        self.freed: Callable[[DeviceBlock], None] | None = None

    def __del__(self) -> None:
        if self.freed is not None:
            self.freed(self.block)  # only notes it: this may run in the middle of anything


class DeviceBlock:
    """Memory of a device."""

    __slots__ = ("__weakref__", "address", "exported", "gpu", "line", "nbytes", "tick")

    def __init__(self, address: int, nbytes: int, gpu: Gpu) -> None:
        self.address = address
        self.nbytes = nbytes
        self.gpu = gpu
        self.tick = 0  # when it was last used
        self.line = ""  # who had it allocated
        self.exported: weakref.ref[BlockExport] | None = None

    def export(self) -> BlockExport:
        """What keeps the block from being used anew while others have its address."""
        export = self.exported() if self.exported is not None else None
        if export is None:
            export = BlockExport(self)
            self.exported = weakref.ref(export)
        return export

    def __repr__(self) -> str:
        return f"<{self.nbytes} bytes at {self.address:#x} of cuda:{self.gpu.number}>"


class ForeignBlock(DeviceBlock):
    """Memory of another library; `owner` keeps it there."""

    __slots__ = ("owner",)

    def __init__(self, address: int, nbytes: int, gpu: Gpu, owner: object) -> None:
        super().__init__(address, nbytes, gpu)
        self.owner: object = owner


class DevicePool(Protocol):
    """What hands out memory of a device, and accounts for it."""

    def take(self, nbytes: int) -> Any: ...
    def free(self, handle: Any) -> None: ...
    def trim(self) -> None: ...


class Gpu:
    """A device by its number. What is computed goes to `stream`, the legacy default stream, as
    torch's and CuPy's does.

    It is ordered with theirs for free. Transfers that may overlap with it go to `copy_stream`.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.process = os.getpid()
        self.device = check(driver.cuDeviceGet(number), f"device {number}")
        self.context = check(driver.cuDevicePrimaryCtxRetain(self.device),
                             f"the context of device {number}")
        major = self._attribute(_ATTRIBUTE.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
        minor = self._attribute(_ATTRIBUTE.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
        self.arch = f"sm_{major}{minor}"
        self.processors = self._attribute(_ATTRIBUTE.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
        self.stream = driver.CUstream(LEGACY)
        # whether memory is taken and freed in the order of a stream; where a GPU is
        # shared out it may not be
        self.in_order = bool(self._attribute(_ATTRIBUTE.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED))
        self.alone = probe().devices == 1  # then every thread that has a context has this one
        self._lock = threading.Lock()
        self._libraries: dict[Program, Any] = {}
        self._kernels: dict[tuple[Program, str], Any] = {}
        self._shared: dict[tuple[Program, str], int] = {}
        self._copy_stream: Any = None
        self.pool: DevicePool | None = None  # what accounts for our memory, once there is such

    def _attribute(self, kind: Any) -> int:
        return int(check(driver.cuDeviceGetAttribute(kind, self.device), f"{kind.name} of device "
                                                                         f"{self.number}"))

    def __repr__(self) -> str:
        return f"<gpu {self.number}: {self.name}, {self.arch}>"

    @property
    def name(self) -> str:
        """What its maker calls it."""
        found: bytes = check(driver.cuDeviceGetName(100, self.device),
                             f"the name of device {self.number}")
        return found.partition(b"\0")[0].decode()

    @property
    def copy_stream(self) -> Any:
        """A stream beside the default one, which does not wait for it, nor it for this."""
        with self._lock:
            if self._copy_stream is None:
                with self.current():
                    kind = driver.CUstream_flags.CU_STREAM_NON_BLOCKING
                    self._copy_stream = check(driver.cuStreamCreate(kind),
                                              f"a copy stream of device {self.number}")
        return self._copy_stream

    # The thread's context

    def enter(self) -> None:
        """Make this device the current one of the thread."""
        check(driver.cuCtxSetCurrent(self.context), f"using device {self.number}")

    @contextmanager
    def current(self) -> Iterator[None]:
        """The device is the thread's current one inside; where there are several, the one before is
        so again after it.
        """
        if self.alone:
            self.enter()
            yield
            return
        check(driver.cuCtxPushCurrent(self.context), f"using device {self.number}")
        try:
            yield
        finally:
            check(driver.cuCtxPopCurrent(), "leaving a device")

    # Kernels

    def kernel(self, program: Program, name: str, shared: int = 0) -> Any:
        """The kernel of that name, compiled and loaded if it is not yet, allowed `shared` bytes of
        dynamic shared memory.
        """
        key = program, name
        with self._lock:
            found = self._kernels.get(key)
            if found is None or shared > self._shared[key]:
                with self.current():
                    if found is None:
                        found = self._load_somehow(program, name)
                    if shared > OWN_SHARED:
                        kind = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
                        check(driver.cuFuncSetAttribute(found, kind, shared),
                              f"{shared} bytes of shared memory for {name}")
                self._kernels[key], self._shared[key] = found, max(shared, OWN_SHARED)
        return found

    def _load_somehow(self, program: Program, name: str) -> Any:
        try:
            return self._load(program, name)
        except OutOfDeviceMemory:  # programs lie in the device's memory, too
            self.trim()
            return self._load(program, name)

    def _load(self, program: Program, name: str) -> Any:
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
        """`nbytes` of memory, usable by what is queued on the stream from now on."""
        with self.current():
            size, ask = max(nbytes, 1), f"{nbytes} bytes on device {self.number}"
            address = check(driver.cuMemAllocAsync(size, self.stream) if self.in_order
                            else driver.cuMemAlloc(size), ask)
        return DeviceBlock(int(address), nbytes, self)

    def release(self, block: DeviceBlock) -> None:
        """Give memory back once all that is queued on the stream now is done."""
        with self.current():
            free = driver.cuMemFreeAsync(block.address,
                                         self.stream) if self.in_order else driver.cuMemFree(block.address)
            check(free, f"freeing {block.nbytes} bytes on device {self.number}")

    @contextmanager
    def room(self, nbytes: int) -> Iterator[int]:
        """The address of `nbytes` for what is queued inside; given back in the stream's order, so
        nothing waits.
        """
        take, free = (self.allocate,
                      self.release) if self.pool is None else (self.pool.take, self.pool.free)
        block = take(nbytes)
        try:
            yield block.address
        finally:
            free(block)

    def trim(self) -> None:
        """Give back what is kept for later, so that others find memory: CUDA itself, cuBLAS, other
        programs.
        """
        if self.pool is not None:
            self.pool.trim()
        self.synchronize()  # before that, CUDA keeps what was given back

    def room_left(self) -> tuple[int, int]:
        """Bytes of the device that nobody has, and all of them."""
        with self.current():
            free, total = check(driver.cuMemGetInfo(), f"the memory of device {self.number}")
        return int(free), int(total)

    def synchronize(self) -> None:
        """Wait for all that is queued on the stream."""
        with self.current():
            check(driver.cuStreamSynchronize(self.stream), f"waiting for device {self.number}")

    def idle(self) -> bool:
        """Whether all that is queued on the stream is done, or will never be."""
        try:
            with self.current():
                return int(driver.cuStreamQuery(self.stream)[0]) != NOT_READY
        except DeviceError:  # in a forked child, or when the driver is gone already
            return True

    def make_stream_wait(self, stream: int | None) -> None:
        """Have a stream, by its number in DLPack, wait for all that is queued on ours."""
        # the default one is ours; -1: the consumer sees to that
        if stream is not None and stream not in (LEGACY, -1):
            self.wait_on(stream)

    def wait_on(self, stream: int) -> None:
        """Have another stream, given by its handle, wait for all that is queued on ours."""
        with self.current():
            event = check(driver.cuEventCreate(driver.CUevent_flags.CU_EVENT_DISABLE_TIMING),
                          "an event")
            try:
                check(driver.cuEventRecord(event, self.stream), "recording an event")
                check(driver.cuStreamWaitEvent(driver.CUstream(stream), event, 0),
                      f"having stream {stream} wait")
            finally:
                check(driver.cuEventDestroy(event), "giving back an event")


_GPUS: dict[int, Gpu] = {}
_LOCK = threading.Lock()


def gpu(number: int = 0) -> Gpu:
    """The device of that number; `DeviceError` if there is none."""
    found = _GPUS.get(number)
    if found is not None and found.process == os.getpid():
        return found
    there = probe()
    if not 0 <= number < there.devices:
        have = f"there are {there.devices}, counted from 0" if there.devices else there.reason
        raise DeviceError(f"no CUDA device {number}: {have}")
    with _LOCK:
        if number not in _GPUS or _GPUS[number].process != os.getpid():
            _GPUS[number] = Gpu(number)
        return _GPUS[number]
