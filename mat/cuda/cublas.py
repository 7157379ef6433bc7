"""cuBLAS, through cffi: the library, found and loaded at the first call, its handles, and what its
answers mean.

``MAT_CUBLAS`` in the environment is the path of a library to load instead of NVIDIA's: the tests
have one of their own. Who calls has checked the operands; ``blas.py`` beside this has a function
for each verb.
"""

from __future__ import annotations

import os
import threading
from functools import cache
from typing import Any

from cffi import FFI
from cuda.pathfinder import load_nvidia_dynamic_lib

from ..core.observers import OBSERVERS
from ..errors import DeviceError, OutOfDeviceMemory
from ..support.cuda_probe import INSTALL
from .cublas_table import (
    ALLOC_FAILED,
    DEFAULT_MATH,
    NOT_SUPPORTED,
    POINTER_MODE_DEVICE,
    POINTER_MODE_HOST,
    WHOLE_SUMS,
    declarations,
    routine,
    symbol,
)
from .gpu import Gpu

LIMIT = 2**31 - 1  # what the functions with sizes of 32 bits count to; others have 64
ffi = FFI()


class NotSupportedError(Exception):
    """The library has no such product for such operands; who calls has another way."""


@cache
def library() -> Any:
    """The library; `DeviceError` if it is not to be found."""
    ffi.cdef(declarations())
    path = os.environ.get("MAT_CUBLAS")
    try:
        return ffi.dlopen(path or load_nvidia_dynamic_lib("cublas").abs_path)
    except (OSError, RuntimeError) as error:
        way = "MAT_CUBLAS in the environment names it" if path else INSTALL
        raise DeviceError(f"cuBLAS cannot be loaded ({' '.join(str(error).split())}): {way}") from None


def text_of(status: int) -> str:
    """What cuBLAS says of a status, and what it calls it."""
    name, text = (ffi.string(f(status)).decode()
                  for f in (library().cublasGetStatusName, library().cublasGetStatusString))
    return f"{name} ({status}): {text}"


def check(status: int, what: str) -> None:
    """The status of a call as an exception of ours; `what` was called."""
    if status == NOT_SUPPORTED:
        raise NotSupportedError(what)
    if status == ALLOC_FAILED:
        raise OutOfDeviceMemory(f"{what}: cuBLAS found no memory for itself, {text_of(status)}; "
                                f"a smaller pool_bytes= leaves it some")
    if status:
        raise DeviceError(f"{what}: {text_of(status)}")


class Handle(int):
    """What cuBLAS calls a handle, and a lock: a call may be several kernels with the handle's
    workspace between them.

    Threads share it, and its stream; what one call launches must not come between what another
    does.
    """

    lock: threading.Lock


class Handles(dict[Gpu, Handle]):
    """The handle of each device, on the stream where it computes; made when first asked for, and
    never given up.

    `mode` says where results are written that are numbers.
    """

    def __init__(self, mode: int) -> None:
        self.mode = mode
        self.lock = threading.Lock()

    def __missing__(self, gpu: Gpu) -> Handle:
        with self.lock:
            if gpu not in self:
                self[gpu] = self._make(gpu)
        return self[gpu]

    def _make(self, gpu: Gpu) -> Handle:
        lib, made = library(), ffi.new("uintptr_t *")
        with gpu.current():
            status = lib.cublasCreate_v2(made)
            if status == ALLOC_FAILED:
                give_back(gpu)
                status = lib.cublasCreate_v2(made)
            check(status, f"a cuBLAS handle for {gpu}")
            handle = Handle(made[0])
            handle.lock = threading.Lock()
            check(lib.cublasSetStream_v2(handle, int(gpu.stream)), "the stream of cuBLAS")
            check(lib.cublasSetPointerMode_v2(handle, self.mode), "the pointer mode of cuBLAS")
            check(lib.cublasSetMathMode(handle, DEFAULT_MATH | WHOLE_SUMS),
                  "the math mode of cuBLAS")
        return handle


HANDLES, ON_DEVICE = Handles(POINTER_MODE_HOST), Handles(POINTER_MODE_DEVICE)


def give_back(gpu: Gpu) -> None:
    """Have the device's pool give back what it keeps for later: cuBLAS takes the memory that it
    works in from CUDA.
    """
    pool: Any = getattr(gpu, "pool", None)
    if pool is not None:
        pool.trim()
    gpu.synchronize()


class Routine:
    """A function of the library, for operands of one form. Call it with the device and all
    arguments but the handle.

    `told` is what observers are told of the call, that a user would ask about.
    """

    __slots__ = ("function", "handles", "name", "told")

    def __init__(self, verb: str, letter: str, sizes: tuple[int, ...], told: dict[str, object],
                 handles: Handles = HANDLES) -> None:
        long = any(abs(n) > LIMIT for n in sizes)
        self.name = routine(verb, letter)
        self.function = getattr(library(), symbol(verb, letter, long))
        self.told = told
        self.handles = handles

    def __call__(self, gpu: Gpu, *arguments: Any) -> None:
        if OBSERVERS:
            for observer in tuple(OBSERVERS):
                observer.called(self.name, **self.told)
        if not gpu.alone:
            gpu.enter()
        handle = self.handles[gpu]
        with handle.lock:
            status = self.function(handle, *arguments)
        if status:
            self._again(status, gpu, arguments)

    def _again(self, status: int, gpu: Gpu, arguments: tuple[Any, ...]) -> None:
        """What to do about a call that failed: make room, if that is what was missing, and call
        once more.
        """
        if status == ALLOC_FAILED:
            give_back(gpu)
            handle = self.handles[gpu]
            with handle.lock:
                status = self.function(handle, *arguments)
        check(status, self.name)
