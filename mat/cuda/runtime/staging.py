"""Page-locked buffers that copies between the host and a device go through, the events that say
when one is free, and the kernel that copies thin rows within the device.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ...cpu.kernel import CpuKernel
from ...cpu.permute import Switches, Workspace, prepare_axes
from ...errors import OutOfDeviceMemory
from ...layout.merged_axes import CopyAxis
from ...layout.shapes import Ints
from ...support.c_pointers import address_of
from ...support.native import lib
from ...support.types import Array, Bytes
from .blocks import At
from .gpu import NOT_READY, DriverObject, Gpu, check, driver
from .kernel import blocks_for, in_blocks
from .nvrtc import Program
from .pinned import POOL

# Thin rows, equally far apart, which a kernel copies: the driver takes about as long for a row of 4
# bytes as for a long one


PROGRAM = Program('#include "memory.cuh"\n')  # with the kernels that fill memory
WORDS = (1, 2, 4, 8, 16)  # bytes that a thread copies
THIN, MANY = 64, 32  # bytes of a row at most, rows at least, for which the kernel pays


def programs() -> Iterable[Program]:
    """Return every program of this module."""
    return (PROGRAM,)


def are_thin(count: int, width: int) -> bool:
    """Return whether so many rows of so many bytes are copied by the kernel."""
    return width <= THIN and count >= MANY


def move_rows(gpu: Gpu, to: tuple[int, int], source: tuple[int, int], shape: Ints) -> None:
    """Queue a copy of rows between addresses with their pitches; `shape`: number and width."""
    count, width = shape
    bits = width | to[0] | to[1] | source[0] | source[1] | WORDS[-1]
    word = bits & -bits
    n = count * width // word
    kernel = in_blocks(PROGRAM, f"mat_rows_{word}",
                       (n, width // word, to[1] // word, source[1] // word), blocks_for(n))
    kernel.bind((0, 1), ())
    kernel(At(gpu, to[0]), At(gpu, source[0]))


# Staged copies


SHARED = 1 << 18  # bytes from which on threads share a copy


def copy_array(source: Array, target: Array) -> None:
    """Copy an array to another one of its shape and dtype that shares no memory with it."""
    if lib is None or source.nbytes < SHARED:
        target[...] = source
        return
    kernel = _kernel(source.itemsize, source.shape, source.strides, target.strides)
    kernel(Workspace(address_of(source)), Workspace(address_of(target)))


@lru_cache(64)
def _kernel(size: int, shape: Ints, source: Ints, target: Ints) -> CpuKernel:
    """Return the kernel for elements of `size` bytes with these strides in bytes."""
    axes = [CopyAxis(*axis) for axis in zip(shape, target, source, strict=True)]
    return prepare_axes(axes, size, Switches()).bind((0, 1), ())


_WITHOUT_TIME = driver.CUevent_flags.CU_EVENT_DISABLE_TIMING


class StreamEvent:
    """A position in a stream that others can wait for."""

    def __init__(self, gpu: Gpu) -> None:
        self.gpu: Gpu = gpu
        with gpu.current():
            self.event: DriverObject | None = check(driver.cuEventCreate(_WITHOUT_TIME), "an event")

    def record(self, stream: DriverObject) -> StreamEvent:
        """Set the position after all work that is queued on `stream` now; return self."""
        with self.gpu.current():
            check(driver.cuEventRecord(self.event, stream), "recording an event")
        return self

    def hold_up(self, stream: DriverObject, gpu: Gpu | None = None) -> None:
        """Make all later work on `stream` wait for the event."""
        with (gpu or self.gpu).current():
            check(driver.cuStreamWaitEvent(stream, self.event, 0), "having a stream wait")

    def wait(self) -> None:
        """Wait for the event."""
        with self.gpu.current():
            check(driver.cuEventSynchronize(self.event), f"waiting for device {self.gpu.number}",
                  self.gpu)

    def is_over(self) -> bool:
        """Return whether the work queued before the event is done, or will never be."""
        if self.gpu.lost:
            return True
        with self.gpu.current():  # without a context there would be no answer
            return int(driver.cuEventQuery(self.event)[0]) != NOT_READY

    def close(self) -> None:
        """Free the event."""
        event, self.event = self.event, None
        if event is not None and not self.gpu.lost:
            with self.gpu.current():
                check(driver.cuEventDestroy(event), "freeing an event", self.gpu)


class Stage:
    """Page-locked buffers for copies of a device: one is filled while others are being sent."""

    def __init__(self, gpu: Gpu, piece: int, count: int) -> None:
        self.gpu = gpu
        self.piece = piece
        self.lock: threading.Lock = threading.Lock()
        self.buffers: list[Bytes] = [np.asarray(POOL.take(piece, gpu)) for _ in range(count)]
        # an event that was not recorded yet is not waited for
        self.events: list[StreamEvent] = [StreamEvent(gpu) for _ in range(count)]
        self.at: int = 0
        self.unsettled: bool = False

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Hold the buffers within the block.

        After a block that raised, as by an interrupt, buffers may be in use by copies without an
        event: the next one waits for the stream.
        """
        with self.lock:
            if self.unsettled:
                self.gpu.synchronize()
            self.unsettled = True
            yield
            self.unsettled = False

    def next(self) -> tuple[Bytes, StreamEvent]:
        """Return the next free buffer, and the event to record after its use."""
        self.at = (self.at + 1) % len(self.buffers)
        event = self.events[self.at]
        event.wait()
        return self.buffers[self.at], event

    def send(self, address: int, source: Bytes) -> None:
        """Copy to the device; `source` may be written again when this returns."""
        with self.turn():
            for start in range(0, source.nbytes, self.piece):
                piece = source[start:start + self.piece]
                buffer, event = self.next()
                copy_array(piece, buffer[:piece.nbytes])
                put(self.gpu, address + start, address_of(buffer), piece.nbytes, self.gpu.stream)
                event.record(self.gpu.stream)

    def fetch(self, target: Bytes, address: int) -> None:
        """Copy from the device: a piece is copied while the one before it is unpacked."""
        with self.turn():
            coming: tuple[Bytes, Bytes, StreamEvent] | None = None
            for start in range(0, target.nbytes, self.piece):
                piece = target[start:start + self.piece]
                buffer, event = self.next()
                get(self.gpu, address_of(buffer), address + start, piece.nbytes, self.gpu.stream)
                event.record(self.gpu.stream)
                _unpack(coming)
                coming = piece, buffer, event
            _unpack(coming)

    def send_rows(self, address: int, source: Array) -> None:
        """Copy the rows of an array to its memory on the device, from `address` on."""
        with self._packing_room(source) as room, self.turn():
            for begin, rows in self._portions(source):
                buffer, event = self.next()
                copy_array(rows, buffer[:rows.nbytes].view(rows.dtype).reshape(rows.shape))
                width, pitch = rows.shape[1] * rows.itemsize, source.strides[0]
                to, shape = Rows(address + begin * pitch, pitch), (len(rows), width)
                if room is not None and are_thin(*shape):
                    put(self.gpu, room, address_of(buffer), rows.nbytes, self.gpu.stream)
                    move_rows(self.gpu, to[:2], (room, width), shape)
                else:
                    copy_2d(self.gpu, to, Rows(address_of(buffer), width, True), shape)
                event.record(self.gpu.stream)

    def fetch_rows(self, target: Array, address: int) -> None:
        """Copy from the device, as `send_rows` does to it."""
        with self._packing_room(target) as room, self.turn():
            coming: tuple[Array, Bytes, StreamEvent] | None = None
            for begin, rows in self._portions(target):
                buffer, event = self.next()
                width, pitch = rows.shape[1] * rows.itemsize, target.strides[0]
                source, shape = Rows(address + begin * pitch, pitch), (len(rows), width)
                if room is not None and are_thin(*shape):
                    move_rows(self.gpu, (room, width), source[:2], shape)
                    get(self.gpu, address_of(buffer), room, rows.nbytes, self.gpu.stream)
                else:
                    copy_2d(self.gpu, Rows(address_of(buffer), width, True), source, shape)
                event.record(self.gpu.stream)
                _unpack(coming)
                coming = rows, buffer, event
            _unpack(coming)

    @contextmanager
    def _packing_room(self, rows: Array) -> Iterator[int | None]:
        """Yield memory of the device for a portion of thin rows; None for others, and where there
        is no room.

        To make room, also for the kernels, copies may be evicted, by other calls with these
        buffers: it comes first.
        """
        portion = next(self._portions(rows))[1]
        if not are_thin(len(portion), portion.shape[1] * portion.itemsize):
            yield None
            return
        with ExitStack() as stack:
            try:
                for word in WORDS:
                    self.gpu.kernel(PROGRAM, f"mat_rows_{word}")
                room = stack.enter_context(self.gpu.plain_room(portion.nbytes))
            except OutOfDeviceMemory:
                room = None
            yield room

    def _portions(self, rows: Array) -> Iterator[tuple[int, Array]]:
        """Yield as many rows as fit into a buffer, after the number of the first."""
        most = self.piece // (rows.shape[1] * rows.itemsize)
        for begin in range(0, len(rows), most):
            yield begin, rows[begin:begin + most]


def _unpack(coming: tuple[Array, Bytes, StreamEvent] | None) -> None:
    if coming is not None:
        piece, buffer, event = coming
        event.wait()
        copy_array(buffer[:piece.nbytes].view(piece.dtype).reshape(piece.shape), piece)


_stages: dict[tuple[Gpu, int], Stage] = {}
_lock = threading.Lock()


def stage(gpu: Gpu, piece: int, count: int) -> Stage:
    """Return the `count` buffers of `piece` bytes of a device, made at first use."""
    with _lock:
        found = _stages.get((gpu, piece))
        if found is None:
            found = _stages[gpu, piece] = Stage(gpu, piece, count)
        return found


def put(gpu: Gpu, address: int, host: int, nbytes: int, stream: DriverObject) -> None:
    """Queue a copy to the device on a stream; its context is the current one."""
    check(driver.cuMemcpyHtoDAsync(address, host, nbytes, stream),
          f"copying {nbytes} bytes to device {gpu.number}")


def get(gpu: Gpu, host: int, address: int, nbytes: int, stream: DriverObject) -> None:
    """Queue a copy from the device on a stream; its context is the current one."""
    check(driver.cuMemcpyDtoHAsync(host, address, nbytes, stream),
          f"copying {nbytes} bytes from device {gpu.number}")


class Rows(NamedTuple):
    """Where rows of bytes are."""

    address: int
    pitch: int  # from one to the next
    on_host: bool = False


def copy_2d(gpu: Gpu, to: Rows, source: Rows, shape: tuple[int, int]) -> None:
    """Queue a copy of rows of bytes, so many of such a width, on the device's stream."""
    copy = driver.CUDA_MEMCPY2D()
    copy.Height, copy.WidthInBytes = shape
    kinds = driver.CUmemorytype
    copy.srcMemoryType, copy.dstMemoryType = (
        kinds.CU_MEMORYTYPE_HOST if end.on_host else kinds.CU_MEMORYTYPE_DEVICE
        for end in (source, to))
    copy.srcPitch, copy.dstPitch = source.pitch, to.pitch
    if source.on_host:
        copy.srcHost = source.address
    else:
        copy.srcDevice = source.address
    if to.on_host:
        copy.dstHost = to.address
    else:
        copy.dstDevice = to.address
    check(driver.cuMemcpy2DAsync(copy, gpu.stream),
          f"copying {shape[0]} rows of {shape[1]} bytes on device {gpu.number}")
