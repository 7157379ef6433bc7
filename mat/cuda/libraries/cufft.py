"""cuFFT through cffi: the library, loaded at the first transform, its plans and its errors.

``MAT_CUFFT`` in the environment is the path of a library to load instead of NVIDIA's: the tests
have one of their own. Plans have no memory of their own for intermediate results: a call has it
from the pool. The tables of plans are small and remain on the device.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from contextlib import suppress
from functools import cache
from typing import NamedTuple

from ...core.observers import OBSERVERS
from ...core.recorder import RECORDERS, DifferentCallError
from ...errors import DeviceError, OutOfDeviceMemory
from ...layout.embedding import Embedding
from ...layout.shapes import Ints
from ...support.types import CData
from ..runtime.gpu import DriverObject, Gpu
from .cublas import Statuses, ffi, load
from .cublas_table import declarations, fft_functions

MOST = 64  # plans that are kept for a process
FORWARD, INVERSE = -1, 1
# of cufft.h, by their numbers
NAMES = ("SUCCESS", "INVALID_PLAN", "ALLOC_FAILED", "INVALID_TYPE", "INVALID_VALUE",
         "INTERNAL_ERROR", "EXEC_FAILED", "SETUP_FAILED", "INVALID_SIZE", "UNALIGNED_DATA",
         "INCOMPLETE_PARAMETER_LIST", "INVALID_DEVICE", "PARSE_ERROR", "NO_WORKSPACE",
         "NOT_IMPLEMENTED", "LICENSE_ERROR", "NOT_SUPPORTED", "MISSING_DEPENDENCY",
         "NVRTC_FAILURE", "NVJITLINK_FAILURE", "NVSHMEM_FAILURE")


@cache
def library() -> CData:
    """Load and return cuFFT; `DeviceError` if it is not found."""
    return load("cufft", "cuFFT", declarations(fft_functions()))


@cache
def missing() -> str:
    """Return why cuFFT cannot be used, or ""."""
    try:
        library()
    except DeviceError as error:
        return str(error)
    return ""


def text_of(status: int) -> str:
    """Return cuFFT's name of a status."""
    name = NAMES[status] if status < len(NAMES) else "?"
    return f"CUFFT_{name} ({status})"


STATUSES = Statuses("cuFFT", NAMES.index("ALLOC_FAILED"), -1, text_of)


class TransformForm(NamedTuple):
    """What a plan is made for: lengths of blocks, how they lie in memory, types, and how many."""

    lengths: Ints
    source: Embedding
    target: Embedding
    source_type: int
    target_type: int
    compute_type: int
    blocks: int


_old: deque[tuple[Gpu, int]] = deque()  # plans that are garbage


class Plan:
    """A plan of cuFFT for one form on one stream. `room` are the bytes that a call needs."""

    handle: int = -1

    def __init__(self, gpu: Gpu, stream: DriverObject, form: TransformForm) -> None:
        self.gpu = gpu
        self.form = form
        self.lock: threading.Lock = threading.Lock()  # for its workspace
        lib, made, need = library(), ffi.new("int *"), ffi.new("size_t *")
        what = f"a plan for {gpu}"
        with gpu.current():
            STATUSES.check(lib.cufftCreate(made), what)
            self.handle = int(made[0])
            STATUSES.check(lib.cufftSetAutoAllocation(self.handle, 0), what)
            STATUSES.check(lib.cufftXtMakePlanMany(self.handle, *_arguments(form, need)), what)
            STATUSES.check(lib.cufftSetStream(self.handle, int(stream)), what)
        self.room = int(need[0])

    def __call__(self, x: int, out: int, direction: int, room: int) -> None:
        """Transform what is at the address `x`."""
        for observer in tuple(OBSERVERS):
            observer.called("cufftXtExec", lengths=self.form.lengths, blocks=self.form.blocks)
        gpu, lib = self.gpu, library()
        with gpu.current():
            with self.lock:
                status = (lib.cufftSetWorkArea(self.handle, room)
                          or lib.cufftXtExec(self.handle, x, out, direction))
            if status:
                gpu.check_health("cufftXtExec")
                STATUSES.check(status, "cufftXtExec")

    def __del__(self, old: deque[tuple[Gpu, int]] = _old) -> None:
        if self.handle >= 0:
            old.append((self.gpu, self.handle))  # this may run in the middle of anything


def _arguments(form: TransformForm, need: CData) -> tuple[object, ...]:
    """Return the arguments of a plan for a form, after its handle."""
    source, target = form.source, form.target
    return (len(form.lengths), ffi.new("long long[]", form.lengths),
            ffi.new("long long[]", source.lengths), source.step, source.distance,
            form.source_type, ffi.new("long long[]", target.lengths), target.step,
            target.distance, form.target_type, form.blocks, need, form.compute_type)


_plans: OrderedDict[tuple[Gpu, int, TransformForm], Plan] = OrderedDict()
_lock = threading.Lock()


def plan_for(gpu: Gpu, form: TransformForm) -> Plan:
    """Return the plan for a form, for calls of this thread: one of those used last, or a new one.

    What is recorded for a graph prepares a plan for the capture, which must not allocate.
    """
    capture = gpu.capture_here()
    if capture is not None:
        found = _plans.get((gpu, int(gpu.capture_stream), form))
        if found is None:
            raise DifferentCallError
        capture.kept.append(found)
        return found
    if threading.get_ident() in RECORDERS:
        _find(gpu, gpu.capture_stream, form)
    return _find(gpu, gpu.stream, form)


def _find(gpu: Gpu, stream: DriverObject, form: TransformForm) -> Plan:
    key = gpu, int(stream), form
    with _lock:
        found = _plans.get(key)
        if found is None:
            _destroy_old()
            try:
                found = Plan(gpu, stream, form)
            except OutOfDeviceMemory:
                gpu.trim()  # the library takes the tables from CUDA
                found = Plan(gpu, stream, form)
            _plans[key] = found
            if len(_plans) > MOST:
                _plans.popitem(last=False)
        _plans.move_to_end(key)
    return found


def _destroy_old() -> None:
    """Destroy plans that are garbage; CUDA waits for what still runs."""
    with suppress(IndexError):
        while True:
            gpu, handle = _old.popleft()
            if not gpu.lost:
                with gpu.current():
                    library().cufftDestroy(handle)
