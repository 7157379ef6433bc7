"""Copies between the host and a device: synchronous, in pieces through page-locked buffers, or
asynchronous.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from cuda.bindings import driver

from ..core.compiled import CudaFetch
from ..errors import DeviceError, OutOfDeviceMemory
from ..support.c_pointers import address_of
from ..support.fork import renew_after_fork
from ..support.options import current
from ..support.types import Array, Bytes
from .gpu import DeviceBlock, DriverObject, Gpu, addresses, check
from .pinned import POOL, Pinned, is_locked, is_partly_locked

PIECE = 4 << 20  # bytes of a staging buffer; not yet measured
# copies up to this size use many buffers of that size, so that the host need not wait
SMALL = 64 << 10
MANY = 32
INVALID_VALUE = 1  # CUDA_ERROR_INVALID_VALUE
MOST_PITCH = (1 << 31) - 1  # bytes from row to row: CU_DEVICE_ATTRIBUTE_MAX_PITCH of all devices
_WITHOUT_TIME = driver.CUevent_flags.CU_EVENT_DISABLE_TIMING


class StreamEvent:
    """A position in a stream that others can wait for."""

    __slots__ = ("__weakref__", "event", "gpu")

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
        """Have work that is queued on `stream` from now on wait for the event."""
        with (gpu or self.gpu).current():
            check(driver.cuStreamWaitEvent(stream, self.event, 0), "having a stream wait")

    def wait(self) -> None:
        """Wait for the event."""
        check(driver.cuEventSynchronize(self.event), f"waiting for device {self.gpu.number}",
              self.gpu)

    def close(self) -> None:
        """Free the event."""
        event, self.event = self.event, None
        if event is not None and not self.gpu.lost:
            check(driver.cuEventDestroy(event), "freeing an event", self.gpu)


class Stage:
    """Page-locked buffers of a device that copies use in rotation.

    One is filled while others are being sent.
    """

    def __init__(self, gpu: Gpu, piece: int, count: int) -> None:
        self.gpu = gpu
        self.piece = piece
        self.lock: threading.Lock = threading.Lock()
        self.buffers: list[Bytes] = [np.asarray(POOL.take(piece, gpu))
                                     for _ in range(count)]
        # an event that was not recorded yet is not waited for
        self.events: list[StreamEvent] = [StreamEvent(gpu) for _ in range(count)]
        self.at: int = 0

    def next(self) -> tuple[Bytes, StreamEvent]:
        """Return the next buffer, which is free, and the event to record after its use."""
        self.at = (self.at + 1) % len(self.buffers)
        event = self.events[self.at]
        event.wait()
        return self.buffers[self.at], event

    def send(self, address: int, source: Bytes) -> None:
        """Copy to the device; `source` may be written again when this returns."""
        with self.lock:
            for start in range(0, source.nbytes, self.piece):
                piece = source[start:start + self.piece]
                buffer, event = self.next()
                buffer[:piece.nbytes] = piece
                _put(self.gpu, address + start, address_of(buffer), piece.nbytes, self.gpu.stream)
                event.record(self.gpu.stream)

    def fetch(self, target: Bytes, address: int) -> None:
        """Copy from the device: a piece is copied while the one before it is unpacked."""
        with self.lock:
            coming: tuple[Bytes, Bytes, StreamEvent] | None = None
            for start in range(0, target.nbytes, self.piece):
                piece = target[start:start + self.piece]
                buffer, event = self.next()
                _get(self.gpu, address_of(buffer), address + start, piece.nbytes, self.gpu.stream)
                event.record(self.gpu.stream)
                _unpack(coming)
                coming = piece, buffer, event
            _unpack(coming)


    def send_rows(self, address: int, source: Array) -> None:
        """Copy the rows of an array to where they are in its memory, which begins at `address`."""
        with self.lock:
            for begin, rows in self._portions(source):
                buffer, event = self.next()
                buffer[:rows.nbytes].view(rows.dtype).reshape(rows.shape)[...] = rows
                width, pitch = rows.shape[1] * rows.itemsize, source.strides[0]
                _copy_rows(self.gpu, _Rows(address + begin * pitch, pitch),
                           _Rows(address_of(buffer), width, True), (len(rows), width))
                event.record(self.gpu.stream)

    def fetch_rows(self, target: Array, address: int) -> None:
        """Copy from the device, as `send_rows` does to it."""
        with self.lock:
            coming: tuple[Array, Bytes, StreamEvent] | None = None
            for begin, rows in self._portions(target):
                buffer, event = self.next()
                width, pitch = rows.shape[1] * rows.itemsize, target.strides[0]
                _copy_rows(self.gpu, _Rows(address_of(buffer), width, True),
                           _Rows(address + begin * pitch, pitch), (len(rows), width))
                event.record(self.gpu.stream)
                _unpack(coming)
                coming = rows, buffer, event
            _unpack(coming)

    def _portions(self, rows: Array) -> Iterator[tuple[int, Array]]:
        """Yield as many rows as fit into a buffer, after the number of the first."""
        most = self.piece // (rows.shape[1] * rows.itemsize)
        for begin in range(0, len(rows), most):
            yield begin, rows[begin:begin + most]


def _unpack(coming: tuple[Array, Bytes, StreamEvent] | None) -> None:
    if coming is not None:
        piece, buffer, event = coming
        event.wait()
        piece[...] = buffer[:piece.nbytes].view(piece.dtype).reshape(piece.shape)


_stages: dict[tuple[Gpu, int], Stage] = {}
_lock = threading.Lock()


def _stage(gpu: Gpu, piece: int, count: int) -> Stage:
    with _lock:
        found = _stages.get((gpu, piece))
        if found is None:
            found = _stages[gpu, piece] = Stage(gpu, piece, count)
        return found


def _put(gpu: Gpu, address: int, host: int, nbytes: int, stream: DriverObject) -> None:
    check(driver.cuMemcpyHtoDAsync(address, host, nbytes, stream),
          f"copying {nbytes} bytes to device {gpu.number}")


def _get(gpu: Gpu, host: int, address: int, nbytes: int, stream: DriverObject) -> None:
    check(driver.cuMemcpyDtoHAsync(host, address, nbytes, stream),
          f"copying {nbytes} bytes from device {gpu.number}")


def _bytes(host: Array) -> Bytes:
    found: Bytes = np.ascontiguousarray(host).view(np.uint8)
    return found


class _Fetches(dict[Gpu, CudaFetch]):
    """The compiled short copies from each device."""

    def __missing__(self, gpu: Gpu) -> CudaFetch:
        copy, wait = addresses("cuMemcpyDtoHAsync", "cuStreamSynchronize")
        self[gpu] = made = gpu.in_context(CudaFetch(copy, wait, int(gpu.stream)))
        return made


_fetches = _Fetches()


# Synchronous


def send(gpu: Gpu, address: int, host: Array) -> None:
    """Copy the 1-d array `host` to the device, after all work that is queued there.

    The array may be written again when this returns.
    """
    source = _bytes(host)
    if not source.nbytes:
        return
    with gpu.current():
        if source.nbytes <= SMALL:
            _stage(gpu, SMALL, MANY).send(address, source)
            return
        locked = is_locked(source)
        if not locked and (current().page_locked or is_partly_locked(source)):
            _stage(gpu, PIECE, 2).send(address, source)
            return
        status = driver.cuMemcpyHtoDAsync(address, address_of(source), source.nbytes, gpu.stream)
        if int(status[0]) == INVALID_VALUE and not locked:
            # another library may have locked some of the pages
            _stage(gpu, PIECE, 2).send(address, source)
            return
        check(status, f"copying {source.nbytes} bytes to device {gpu.number}")
        _wait(gpu)  # another library may have locked the pages, which are read later then


def fetch(gpu: Gpu, host: Array, address: int) -> None:
    """Copy to the 1-d array `host` from the device, after all work that is queued there."""
    if not host.nbytes or _fetch_small(gpu, host, address):
        return
    target: Bytes = host.view(np.uint8)
    with gpu.current():
        locked, large = is_locked(target, written=True), target.nbytes > SMALL
        stage = (gpu, PIECE, 2) if large else (gpu, SMALL, MANY)
        if not locked and ((large and current().page_locked)
                           or is_partly_locked(target, written=True)):
            _stage(*stage).fetch(target, address)
            return
        status = driver.cuMemcpyDtoHAsync(address_of(target), address, target.nbytes, gpu.stream)
        if int(status[0]) == INVALID_VALUE and not locked:  # as in `send`
            _stage(*stage).fetch(target, address)
            return
        check(status, f"copying {target.nbytes} bytes from device {gpu.number}")
        _wait(gpu)


def _fetch_small(gpu: Gpu, host: Array, address: int) -> bool:
    """Do so by a compiled call, if there is one and the driver copies to such an array."""
    if host.nbytes > SMALL or CudaFetch is None or is_partly_locked(host, written=True):
        return False
    gpu.raise_if_lost()
    status = _fetches[gpu].fetch(host, address)
    if status == INVALID_VALUE:  # the pages may be locked in part
        return False
    if status:
        check((status,), f"copying {host.nbytes} bytes from device {gpu.number}, where perhaps an "
                         "earlier operation failed", gpu)
    return True


# Rows that are equally far apart there as here


def send_rows(gpu: Gpu, address: int, rows: Array) -> None:
    """Copy an array to the device: 1-d, or the rows of a 2-d one to where they are in its memory.

    It may be written again when this returns.
    """
    if _copied_one_by_one(rows):
        for k, row in enumerate(np.atleast_2d(rows)):
            send(gpu, address + k * rows.strides[0], row)
        return
    with gpu.current():
        _stage_for(gpu, rows).send_rows(address, rows)


def fetch_rows(gpu: Gpu, rows: Array, address: int) -> None:
    """Copy from the device, as `send_rows` does to it."""
    if _copied_one_by_one(rows):
        for k, row in enumerate(np.atleast_2d(rows)):
            fetch(gpu, row, address + k * rows.strides[0])
        return
    with gpu.current():
        _stage_for(gpu, rows).fetch_rows(rows, address)


def _copied_one_by_one(rows: Array) -> bool:
    """Return whether there is one row only, or rows are long, or too far apart for the driver."""
    return (rows.ndim == 1 or rows.shape[1] * rows.itemsize > SMALL
            or rows.strides[0] > MOST_PITCH)


def copy_rows(gpu: Gpu, to: int, source: int, shape: tuple[int, int], pitch: int) -> None:
    """Copy rows of bytes, one every `pitch` bytes, within the device."""
    count, width = shape
    with gpu.current():
        if count > 1 and pitch <= MOST_PITCH:
            _copy_rows(gpu, _Rows(to, pitch), _Rows(source, pitch), shape)
            return
        for begin in range(0, count * pitch, pitch):
            check(driver.cuMemcpyDtoDAsync(to + begin, source + begin, width, gpu.stream),
                  f"copying {width} bytes on device {gpu.number}")


class _Rows(NamedTuple):
    """Where rows of bytes are."""

    address: int
    pitch: int  # from one to the next
    on_host: bool = False


def _copy_rows(gpu: Gpu, to: _Rows, source: _Rows, shape: tuple[int, int]) -> None:
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


def _stage_for(gpu: Gpu, rows: Array) -> Stage:
    """Return the buffers for rows, each of which fits into one."""
    if rows.nbytes > SMALL and current().page_locked:
        return _stage(gpu, PIECE, 2)
    return _stage(gpu, SMALL, MANY)


def _wait(gpu: Gpu) -> None:
    check(driver.cuStreamSynchronize(gpu.stream),
          f"waiting for device {gpu.number}, where perhaps an earlier operation failed")


# Asynchronous


class Transfer:
    """A copy on the copy stream.

    `keep` must remain allocated until its end. `unpack` are the target of the data and the
    page-locked buffer that the copy fills.
    """

    def __init__(self, event: StreamEvent, keep: object,
                 unpack: tuple[Bytes, Bytes] | None = None) -> None:
        self._event = event
        self._keep = keep
        self._unpack = unpack
        self._failed: DeviceError | None = None
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Make a new lock, as in a forked child."""
        self._lock = threading.Lock()

    def wait(self) -> None:
        """Wait for the end of the copy; raise `DeviceError` if it failed, each time."""
        with self._lock:
            if self._keep is not None:
                try:
                    self._event.wait()
                    if self._unpack is not None:
                        target, buffer = self._unpack
                        target[:] = buffer
                    self._event.close()
                except DeviceError as error:
                    self._failed = error
                self._keep = self._unpack = None
            if self._failed is not None:
                raise self._failed


def begin_send(gpu: Gpu, block: DeviceBlock, host: Array) -> Transfer | None:
    """Begin to copy all of `host`; return None if it is done.

    The array must not change before the end.
    """
    source = _bytes(host)
    buffer = source if is_locked(source) else _packed(gpu, source.nbytes)
    if not source.nbytes or buffer is None:
        send(gpu, block.address, host)
        return None
    if buffer is not source:
        buffer[:] = source
    with gpu.current(), _begun(gpu):
        _after_all(gpu)
        _put(gpu, block.address, address_of(buffer), buffer.nbytes, gpu.copy_stream)
        return Transfer(StreamEvent(gpu).record(gpu.copy_stream), (block, host, buffer))


def begin_fetch(gpu: Gpu, host: Array, block: DeviceBlock) -> Transfer | None:
    """Begin to copy all of `block`; return None if it is done."""
    target: Bytes = host.view(np.uint8)
    buffer = target if is_locked(target, written=True) else _packed(gpu, target.nbytes)
    if not target.nbytes or buffer is None:
        fetch(gpu, host, block.address)
        return None
    with gpu.current(), _begun(gpu):
        _after_all(gpu)
        _get(gpu, address_of(buffer), block.address, buffer.nbytes, gpu.copy_stream)
        unpack = None if buffer is target else (target, buffer)
        return Transfer(StreamEvent(gpu).record(gpu.copy_stream), (block, host, buffer), unpack)


@contextmanager
def _begun(gpu: Gpu) -> Iterator[None]:
    """Wait for what a block began if it fails: nobody else would, and its memory is freed then."""
    try:
        yield
    except BaseException:
        driver.cuStreamSynchronize(gpu.copy_stream)
        raise


def _packed(gpu: Gpu, nbytes: int) -> Bytes | None:
    """Return a page-locked buffer; None if it cannot be had or is larger than the pool keeps."""
    if nbytes > current().page_locked_bytes:
        return None
    try:
        block: Pinned = POOL.take(nbytes, gpu)
    except OutOfDeviceMemory:
        return None
    return np.asarray(block)[:nbytes]


def _after_all(gpu: Gpu) -> None:
    """Have the copy stream wait for all queued computations.

    They may write the copied data, or read what the copy overwrites.
    """
    event = StreamEvent(gpu).record(gpu.stream)
    event.hold_up(gpu.copy_stream)
    event.close()
