"""cuBLAS through cffi: the library, loaded at the first call, its handles, operands and errors.

``MAT_CUBLAS`` in the environment is the path of a library to load instead of NVIDIA's: the tests
have one of their own. The caller has checked the operands; ``blas.py`` has a function
for each verb. ``cusolver.py`` has the same of cuSOLVER.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from itertools import accumulate
from typing import ClassVar, NamedTuple, Protocol, TypeVar

from cffi import FFI
from cuda.pathfinder import load_nvidia_dynamic_lib

from ...core.observers import OBSERVERS
from ...core.recorder import DifferentCallError, refuse_if_recorded
from ...errors import DeviceError, OutOfDeviceMemory
from ...layout.shapes import Ints
from ...layout.strided import Layout
from ...support.blas_library import REALS, scalar
from ...support.cuda_probe import INSTALL
from ...support.dtypes import BY_CHAR
from ...support.types import Arguments, CData, Function, Number
from ..runtime.blocks import At, DeviceBlock
from ..runtime.gpu import DriverObject, Gpu
from . import cublas_table as table

LIMIT = 2**31 - 1  # the most that functions with sizes of 32 bits count to; others have 64
MOST = 1 << 14  # matrices of a stack that a call gets
ffi: CData = FFI()
K = TypeVar("K")
V = TypeVar("V")


class Kept(OrderedDict[K, V]):
    """Values by keys; only the `most` that were used last are kept."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most
        self._lock = threading.Lock()

    def find(self, key: K, make: Callable[[], V]) -> V:
        """Return the value of `key`, or else the result of `make`."""
        with self._lock:
            found = self.get(key)
            if found is None:
                found = self[key] = make()
                if len(self) > self.most:
                    self.popitem(last=False)
            self.move_to_end(key)
        return found


class NotSupportedError(Exception):
    """The library has no such product for such operands; the caller has another way."""


class Library:
    """A library of NVIDIA's with functions of a table: a call returns it, loaded by the first."""

    def __init__(self, title: str, functions: Callable[[], Iterable[table.CublasFunction]],
                 name: str = "") -> None:
        self.title = title  # such as cuBLAS
        self.functions = functions
        self.name = name or title.lower()
        self.forget()

    def forget(self) -> None:
        """Load it anew at the next call."""
        self.loaded: CData = None
        self.reason: str | None = None  # why it cannot be loaded, or ""; None: not known yet

    def __call__(self) -> CData:
        """Load and return the library; `DeviceError` if it is not found."""
        if self.loaded is None:
            self.loaded = self.load()
        return self.loaded

    def load(self) -> CData:
        """Load the library as `__call__` does, also if it was loaded before."""
        ffi.cdef(table.declarations(self.functions()), override=True)  # it may have failed before
        variable = f"MAT_{self.name.upper()}"
        path = os.environ.get(variable)
        try:
            return ffi.dlopen(path or load_nvidia_dynamic_lib(self.name).abs_path)
        except (OSError, RuntimeError) as error:
            way = f"{variable} in the environment names it" if path else INSTALL
            reason = " ".join(str(error).split())
            raise DeviceError(f"{self.title} cannot be loaded ({reason}): {way}") from None

    def missing(self) -> str:
        """Return why the library cannot be used, or ""."""
        if self.reason is None:
            try:
                self()
                self.reason = ""
            except DeviceError as error:
                self.reason = str(error)
        return self.reason


library = Library("cuBLAS", table.functions)


def text_of(status: int) -> str:
    """Return cuBLAS's name and description of a status."""
    name, text = (ffi.string(f(status)).decode()
                  for f in (library().cublasGetStatusName, library().cublasGetStatusString))
    return f"{name} ({status}): {text}"


class Statuses(NamedTuple):
    """The statuses that the functions of a library return."""

    title: str  # of the library
    alloc_failed: int
    not_supported: int
    text_of: Callable[[int], str]

    def check(self, status: int, what: str) -> None:
        """Raise an exception of `mat` if `status` says that the call of the routine failed."""
        if status == self.not_supported:
            raise NotSupportedError(what)
        if status == self.alloc_failed:
            raise OutOfDeviceMemory(f"{what}: {self.title} found no memory for itself, "
                                    f"{self.text_of(status)}; a smaller pool_bytes= leaves it some")
        if status:
            raise DeviceError(f"{what}: {self.text_of(status)}")


def named_by(prefix: str, names: Sequence[str]) -> Callable[[int], str]:
    """Return the function that returns the name of a status, one of those by their numbers."""
    return lambda status: f"{prefix}{names[status] if status < len(names) else '?'} ({status})"


STATUSES = Statuses("cuBLAS", table.ALLOC_FAILED, table.NOT_SUPPORTED, text_of)
check = STATUSES.check


class Handle(int):
    """A handle of a library, with a lock: a call may be several kernels that share its workspace.

    Threads share it, and its stream; the kernels of one call must not come between those of
    another.
    """

    lock: threading.Lock


class Handles(dict[Gpu, Handle]):
    """The handle of each device, on the stream where it computes; made when first used, and kept.

    `mode` says where results are written that are numbers. `captured` are the handles on the
    streams where launches are captured.
    """

    statuses: ClassVar[Statuses] = STATUSES

    def __init__(self, mode: int = table.POINTER_MODE_HOST,
                 captured: Handles | None = None) -> None:
        self.mode = mode
        self.captured: Handles | None = captured
        self.lock: threading.Lock = threading.Lock()

    def __missing__(self, gpu: Gpu) -> Handle:
        with self.lock:
            if gpu not in self:
                self[gpu] = self._make(gpu)
        return self[gpu]

    def stream_of(self, gpu: Gpu) -> DriverObject:
        """Return the stream of the handle for a device."""
        return gpu.stream

    def _make(self, gpu: Gpu) -> Handle:
        with gpu.current():
            lib = library()
            handle = self.create(gpu, lib.cublasCreate_v2)
            check(lib.cublasSetStream_v2(handle, int(self.stream_of(gpu))), "the stream of cuBLAS")
            check(lib.cublasSetPointerMode_v2(handle, self.mode), "the pointer mode of cuBLAS")
            check(lib.cublasSetMathMode(handle, table.DEFAULT_MATH | table.WHOLE_SUMS),
                  "the math mode of cuBLAS")
        return handle

    def create(self, gpu: Gpu, create: CData) -> Handle:
        """Return a handle that the library's function `create` makes."""
        made = ffi.new("uintptr_t *")
        status = create(made)
        if status == self.statuses.alloc_failed:
            gpu.trim()  # the library takes its workspaces from CUDA
            status = create(made)
        self.statuses.check(status, f"a {self.statuses.title} handle for {gpu}")
        handle = Handle(made[0])
        handle.lock = threading.Lock()
        return handle

    def here(self, gpu: Gpu) -> Handle:
        """Return the handle for calls of this thread."""
        if self.captured is None:
            refuse_if_recorded("the host reads whether the library could compute it")
        if self.captured is None or gpu.capture_here() is None:
            return self[gpu]
        if gpu not in self.captured:  # it was not used when that was prepared
            raise DifferentCallError
        return self.captured[gpu]


class CapturedHandles(Handles):
    """The handle of each device on the stream where its launches are captured."""

    def stream_of(self, gpu: Gpu) -> DriverObject:
        return gpu.capture_stream


HANDLES, ON_DEVICE = (Handles(mode, CapturedHandles(mode))
                      for mode in (table.POINTER_MODE_HOST, table.POINTER_MODE_DEVICE))
_workspaces: dict[Gpu, weakref.ref[DeviceBlock]] = {}


@cache
def capability_of(gpu: Gpu) -> int:
    """Return the compute capability of a device, such as 90."""
    return int(gpu.arch.removeprefix("sm_"))


def workspace_of(gpu: Gpu) -> int:
    """Return how many bytes cuBLAS has for itself, by its manual: more from Hopper on."""
    return 32 << 20 if capability_of(gpu) >= 90 else 4 << 20


def prepare_capture(gpu: Gpu) -> DeviceBlock | None:
    """Make handles for captures, with memory of ours, since they must not allocate during a
    capture. Return that memory, to be kept by the captured graph.
    """
    used = [handles.captured for handles in (HANDLES, ON_DEVICE) if gpu in handles]
    if not used:
        return None
    known = _workspaces.get(gpu)
    block = None if known is None else known()
    if block is None:
        block = gpu.allocate(workspace_of(gpu))
        _workspaces[gpu] = weakref.ref(block)
    for handles in used:
        if handles is not None:
            check(library().cublasSetWorkspace_v2(handles[gpu], block.address, block.nbytes),
                  "the workspace of cuBLAS")
    return block


class Routine:
    """A function of a library, for operands of one form.

    Call it with the device and all arguments but the handle. `reported` are the arguments that
    observers are notified of; None if they are not.
    """

    def __init__(self, name: str, function: CData, reported: dict[str, object] | None,
                 handles: Handles) -> None:
        self.name: str = name
        self.function: CData = function
        self.reported: dict[str, object] | None = reported
        self.handles: Handles = handles

    def __call__(self, gpu: Gpu, *arguments: object) -> None:
        if OBSERVERS and self.reported is not None:
            for observer in tuple(OBSERVERS):
                observer.called(self.name, **self.reported)
        with gpu.current():  # a new thread has no context, and others may have another one
            handle = self.handles.here(gpu)
            with handle.lock:
                status = self.function(handle, *arguments)
            if status:
                self.again(status, gpu, arguments)

    def again(self, status: int, gpu: Gpu, arguments: Arguments) -> None:
        """Call once more, with more free memory, if that was missing; raise if the call failed."""
        statuses = self.handles.statuses
        if status == statuses.alloc_failed:
            gpu.trim()  # the library takes its workspaces from CUDA
            handle = self.handles.here(gpu)
            with handle.lock:
                status = self.function(handle, *arguments)
        if status not in (0, statuses.not_supported, statuses.alloc_failed):
            gpu.check_health(self.name)
        statuses.check(status, self.name)


class CublasRoutine(Routine):
    """A verb of cuBLAS for elements of a dtype character, and sizes that 32 bits hold or not."""

    def __init__(self, verb: str, letter: str, sizes: Ints, reported: dict[str, object],
                 handles: Handles = HANDLES) -> None:
        self.long: bool = any(abs(n) > LIMIT for n in sizes)
        function = getattr(library(), table.symbol(verb, letter, self.long))
        super().__init__(table.routine(verb, letter), function, reported, handles)


# Operands


ALIGN = 256  # bytes
SIZES = {char: t.size for char, t in BY_CHAR.items()}


class DeviceOperand(Protocol):
    """An operand in the memory of a device."""

    @property
    def address(self) -> int: ...

    @property
    def gpu(self) -> Gpu: ...


@contextmanager
def areas(gpu: Gpu, *sizes: int) -> Iterator[list[At]]:
    """Yield memory of so many bytes each for the time of a call."""
    starts = list(accumulate((-(-size // ALIGN) * ALIGN for size in sizes), initial=0))
    with gpu.room(starts[-1]) as address:
        yield [At(gpu, address + start) for start in starts[:-1]]


def calls_for(many: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield the first matrix, and the number of matrices, of each call for a stack of matrices of
    `size` elements.

    cuSOLVER's eigenvalues refuse stacks with more elements than 32 bits count, and those of about
    32,000 matrices; its Jacobi method counts its workspace in 32 bits; and an axis of a grid, which
    batched functions may have for the matrices, has 65,535 blocks at most.
    """
    most = max(min(MOST, LIMIT // size), 1)
    for first in range(0, many, most):
        yield first, min(most, many - first)


def alpha_of(letter: str) -> Function:
    """Return the function that converts a number to a C element with an address."""
    if letter == "i":
        return _int32
    known = REALS.get(letter)
    if known is None:
        return partial(scalar, letter)
    return lambda value: known[value] if value else scalar(letter, value)


def beta_of(letter: str) -> Function:
    """Return the same for a factor; a 0 of either sign says that the result is not read."""
    if letter == "i":
        return _int32
    known, zero = REALS.get(letter), scalar(letter, 0.0)
    if known is None:
        return lambda value: scalar(letter, value) if value else zero
    return lambda value: known[value] if value else zero


def _int32(value: Number) -> CData:
    """Return a factor of integers in the 32 bits that the result has."""
    return ffi.new("int32_t *", (int(value) + (1 << 31)) % (1 << 32) - (1 << 31))


def lowest(letter: str, x: Layout) -> tuple[int, int]:
    """Return where a vector begins in memory, in bytes from its first element, and its step."""
    assert x.vector is not None, "fits has let it through"
    return (x.vector[0] - x.displacement) * SIZES[letter], x.vector[1]
