"""Copies between the host and a device: synchronous, in pieces through page-locked buffers, or
asynchronous.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from cuda.bindings import driver

from ..errors import DeviceError, OutOfDeviceMemory
from ..support.c_pointers import address_of
from ..support.fork import renew_after_fork
from ..support.options import current
from ..support.types import Array, Bytes
from .gpu import DeviceBlock, DriverObject, Gpu, check
from .pinned import POOL, Pinned, is_locked

PIECE = 4 << 20  # bytes of a staging buffer; not yet measured
# copies up to this size use many buffers of that size, so that the host need not wait
SMALL = 64 << 10
MANY = 32
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
        check(driver.cuEventSynchronize(self.event), f"waiting for device {self.gpu.number}")

    def close(self) -> None:
        """Free the event."""
        event, self.event = self.event, None
        if event is not None:
            check(driver.cuEventDestroy(event), "freeing an event")


class Stage:
    """Page-locked buffers of a device that copies use in rotation.

    One is filled while others are being sent.
    """

    def __init__(self, gpu: Gpu, piece: int, count: int) -> None:
        self.gpu = gpu
        self.piece = piece
        self.lock: threading.Lock = threading.Lock()
        self.buffers: list[Bytes] = [np.asarray(POOL.take(piece)) for _ in range(count)]
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


def _unpack(coming: tuple[Bytes, Bytes, StreamEvent] | None) -> None:
    if coming is not None:
        piece, buffer, event = coming
        event.wait()
        piece[:] = buffer[:piece.nbytes]


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
        if current().page_locked and not is_locked(host):
            _stage(gpu, PIECE, 2).send(address, source)
            return
        _put(gpu, address, address_of(source), source.nbytes, gpu.stream)
        _wait(gpu)  # another library may have locked the pages, which are read later then


def fetch(gpu: Gpu, host: Array, address: int) -> None:
    """Copy to the 1-d array `host` from the device, after all work that is queued there."""
    target: Bytes = host.view(np.uint8)
    if not target.nbytes:
        return
    with gpu.current():
        if target.nbytes > SMALL and current().page_locked and not is_locked(host):
            _stage(gpu, PIECE, 2).fetch(target, address)
            return
        _get(gpu, address_of(target), address, target.nbytes, gpu.stream)
        _wait(gpu)


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
    buffer = source if is_locked(host) else _packed(source.nbytes)
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
    buffer = target if is_locked(host) else _packed(target.nbytes)
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


def _packed(nbytes: int) -> Bytes | None:
    """Return a page-locked buffer; None if it cannot be had or is larger than the pool keeps."""
    if nbytes > current().page_locked_bytes:
        return None
    try:
        block: Pinned = POOL.take(nbytes)
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
