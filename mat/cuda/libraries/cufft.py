"""cuFFT through cffi: the library, loaded at the first transform, its plans and errors, and
transforms prepared for operands of one form.

``MAT_CUFFT`` in the environment is the path of a library to load instead of NVIDIA's: the tests
have one of their own. Plans have no memory of their own for intermediate results: a call has it
from the pool. The tables of plans are small and remain on the device.
"""

from __future__ import annotations

import threading
from collections import deque
from contextlib import suppress
from math import prod
from typing import NamedTuple

from ...core.observers import OBSERVERS
from ...core.recorder import RECORDERS, DifferentCallError
from ...errors import OutOfDeviceMemory
from ...layout.merged_axes import Embedding, embedding
from ...layout.shapes import Ints
from ...layout.strided import Layout, packed_strides
from ...support.types import CData, Function
from ..kernels.copy import prepare_moves
from ..kernels.integer_matmul import prepare_scale
from ..runtime.gpu import DriverObject, Gpu
from .cublas import SIZES, DeviceOperand, Kept, Library, Statuses, areas, ffi, named_by
from .cublas_table import DATA, fft_functions

MOST = 64  # plans that are kept for a process
FORWARD, INVERSE = -1, 1
# of cufft.h, by their numbers
NAMES = ("SUCCESS", "INVALID_PLAN", "ALLOC_FAILED", "INVALID_TYPE", "INVALID_VALUE",
         "INTERNAL_ERROR", "EXEC_FAILED", "SETUP_FAILED", "INVALID_SIZE", "UNALIGNED_DATA",
         "INCOMPLETE_PARAMETER_LIST", "INVALID_DEVICE", "PARSE_ERROR", "NO_WORKSPACE",
         "NOT_IMPLEMENTED", "LICENSE_ERROR", "NOT_SUPPORTED", "MISSING_DEPENDENCY",
         "NVRTC_FAILURE", "NVJITLINK_FAILURE", "NVSHMEM_FAILURE")
library = Library("cuFFT", fft_functions)
STATUSES = Statuses("cuFFT", NAMES.index("ALLOC_FAILED"), -1, named_by("CUFFT_", NAMES))


class TransformForm(NamedTuple):
    """The key of a plan: lengths of blocks, how they lie in memory, types, and how many."""

    lengths: Ints
    source: Embedding
    target: Embedding
    source_type: int
    target_type: int
    compute_type: int
    blocks: int


_old: deque[tuple[Gpu, int]] = deque()  # plans that are garbage


class TransformPlan:
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
        self.area = 0  # where the workspace of the last call was

    def __call__(self, x: int, out: int, direction: int, room: int) -> None:
        """Transform the elements at the address `x`."""
        for observer in tuple(OBSERVERS):
            observer.called("cufftXtExec", lengths=self.form.lengths, blocks=self.form.blocks)
        gpu, lib = self.gpu, library()
        with gpu.current():
            with self.lock:
                status = 0 if room == self.area else lib.cufftSetWorkArea(self.handle, room)
                self.area = 0 if status else room
                status = status or lib.cufftXtExec(self.handle, x, out, direction)
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


_plans: Kept[tuple[Gpu, int, TransformForm], TransformPlan] = Kept(MOST)


def plan_for(gpu: Gpu, form: TransformForm) -> TransformPlan:
    """Return the plan for a form, for calls of this thread: one of those used last, or a new one.

    What is recorded for a graph prepares a plan for the capture, which must not allocate.
    """
    capture = gpu.capture_here()
    if capture is not None:
        found = _plans.find((gpu, int(gpu.capture_stream), form), _refuse)
        capture.kept.append(found)
        return found
    if threading.get_ident() in RECORDERS:
        _find(gpu, gpu.capture_stream, form)
    return _find(gpu, gpu.stream, form)


def _find(gpu: Gpu, stream: DriverObject, form: TransformForm) -> TransformPlan:
    def make() -> TransformPlan:
        _destroy_old()
        try:
            return TransformPlan(gpu, stream, form)
        except OutOfDeviceMemory:
            gpu.trim()  # the library takes the tables from CUDA
            return TransformPlan(gpu, stream, form)

    return _plans.find((gpu, int(stream), form), make)


def _refuse() -> TransformPlan:
    raise DifferentCallError


def _destroy_old() -> None:
    """Destroy plans that are garbage; CUDA waits for running kernels."""
    with suppress(IndexError):
        while True:
            gpu, handle = _old.popleft()
            if not gpu.lost:
                with gpu.current():
                    library().cufftDestroy(handle)


# Transforms. Blocks that lie in memory as cuFFT can describe it are read and written where they
# are; others, and spectra that it would overwrite, go through packed memory


class _Side:
    """An operand: its axes with those of the transform last, and how its blocks lie in memory."""

    def __init__(self, letter: str, layout: Layout, order: Ints, rank: int, dense: bool) -> None:
        self.letter = letter
        self.item: int = SIZES[letter]
        self.shape: Ints = tuple(layout.shape[k] for k in order)
        self.strides: Ints = tuple(layout.strides[k] for k in order)
        self.own: Ints = packed_strides(self.shape)
        self.nbytes: int = layout.size * self.item
        self.align: int = SIZES[letter.upper()]  # cuFFT has real numbers as pairs
        there = embedding(self.shape, self.strides, rank)
        # a result is multiplied where it is, with no elements in between
        self.there: Embedding | None = None if dense and not _is_dense(self) else there
        packed = embedding(self.shape, self.own, rank)
        assert packed is not None
        self.packed: Embedding = packed

    def lies(self, x: DeviceOperand) -> Embedding | None:
        """Return how the blocks of an operand lie in memory; None if cuFFT cannot have them so."""
        return None if x.address % self.align else self.there


def _is_dense(side: _Side) -> bool:
    axes = sorted((s, n) for n, s in zip(side.shape, side.strides, strict=True) if n > 1)
    return all(s == prod(n for _, n in axes[:k]) for k, (s, _) in enumerate(axes))


# the parameters are what a transform depends on
def prepare_fourier(letter: str, x: Layout, result_letter: str, out: Layout, axes: Ints,
                    forward: bool, factor: float) -> Function:
    """Prepare ``out <- factor * the transform of x`` over `axes`, as a function of both."""
    rank, ndim = len(axes), len(out.shape)
    order = (*(k for k in range(ndim) if k not in axes), *axes)
    source = _Side(letter, x, order, rank, False)
    target = _Side(result_letter, out, order, rank, True)
    if letter.isupper() and result_letter.islower():
        source.there = None  # cuFFT overwrites it
    lengths = tuple(map(max, source.shape[-rank:], target.shape[-rank:]))
    types = DATA[letter], DATA[result_letter], DATA[letter.upper()]
    count, direction = prod(target.shape[:-rank]), FORWARD if forward else INVERSE
    load = prepare_moves(source.shape, source.own, source.strides, source.item)
    store = prepare_moves(target.shape, target.strides, target.own, target.item)
    scale = factor != 1 and prepare_scale(result_letter, (out.size,), (1,), at=0,
                                          number=0).bind((0,), (1,))

    def fourier(x: DeviceOperand, to: DeviceOperand, *_: object) -> None:
        read, written = source.lies(x), target.lies(to)
        plan = plan_for(to.gpu, TransformForm(lengths, read or source.packed,
                                              written or target.packed, *types, count))
        if read and written:
            with to.gpu.room(max(plan.room, 1)) as address:
                plan(x.address, to.address, direction, address)
            if scale:
                scale(to, factor)
            return
        with areas(to.gpu, max(plan.room, 1), 0 if read else source.nbytes,
                   0 if written else target.nbytes) as (room, given, found):
            if not read:
                load(x, given)
            result = to if written else found
            plan((x if read else given).address, result.address, direction, room.address)
            if scale:
                scale(result, factor)
            if not written:
                store(found, to)

    return fourier
