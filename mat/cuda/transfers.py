"""Copies between the host and a device: at once, in pieces through page-locked buffers, or begun
and waited for later.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from cuda.bindings import driver

from ..errors import DeviceError, OutOfDeviceMemory
from ..support.c_pointers import address_of
from ..support.settings import current
from .gpu import Gpu, check
from .pinned import POOL, Bytes, Pinned, is_locked

PIECE = 4 << 20  # bytes of a staging buffer; not yet measured
# what is no larger goes through many buffers of that size, so that the host need not wait
SMALL = 64 << 10
MANY = 32
_WITHOUT_TIME = driver.CUevent_flags.CU_EVENT_DISABLE_TIMING


class StreamEvent:
    """A place in a stream that others can wait for."""

    __slots__ = ("__weakref__", "event", "gpu")

    def __init__(self, gpu: Gpu) -> None:
        self.gpu = gpu
        with gpu.current():
            self.event = check(driver.cuEventCreate(_WITHOUT_TIME), "an event")

    def record(self, stream: Any) -> StreamEvent:
        """The event is what is queued on `stream` now being done; return self."""
        with self.gpu.current():
            check(driver.cuEventRecord(self.event, stream), "recording an event")
        return self

    def hold_up(self, stream: Any, gpu: Gpu | None = None) -> None:
        """Have what is queued on `stream` from now on wait for it."""
        with (gpu or self.gpu).current():
            check(driver.cuStreamWaitEvent(stream, self.event, 0), "having a stream wait")

    def wait(self) -> None:
        """Come back when it has happened."""
        check(driver.cuEventSynchronize(self.event), f"waiting for device {self.gpu.number}")

    def close(self) -> None:
        """Give it back."""
        event, self.event = self.event, None
        if event is not None:
            check(driver.cuEventDestroy(event), "giving back an event")


class Stage:
    """Page-locked buffers of a device, which copies go through by turns: one is filled while others
    are sent.
    """

    def __init__(self, gpu: Gpu, piece: int, count: int) -> None:
        self.gpu = gpu
        self.piece = piece
        self.lock = threading.Lock()
        self.buffers = [np.asarray(POOL.take(piece)) for _ in range(count)]
        # to wait for what was not recorded yet is no wait
        self.events = [StreamEvent(gpu) for _ in range(count)]
        self.turn = 0

    def next(self) -> tuple[Bytes, StreamEvent]:
        """The buffer whose turn it is, free to be written, and the event that says when it is so
        again.
        """
        self.turn = (self.turn + 1) % len(self.buffers)
        event = self.events[self.turn]
        event.wait()
        return self.buffers[self.turn], event

    def send(self, address: int, source: Bytes) -> None:
        """Copy to the device; `source` may be written again when this comes back."""
        with self.lock:
            for start in range(0, source.nbytes, self.piece):
                piece = source[start:start + self.piece]
                buffer, event = self.next()
                buffer[:piece.nbytes] = piece
                _put(self.gpu, address + start, address_of(buffer), piece.nbytes, self.gpu.stream)
                event.record(self.gpu.stream)

    def fetch(self, target: Bytes, address: int) -> None:
        """Copy from the device: a piece comes while the one before it is unpacked."""
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


def _put(gpu: Gpu, address: int, host: int, nbytes: int, stream: Any) -> None:
    check(driver.cuMemcpyHtoDAsync(address, host, nbytes, stream),
          f"copying {nbytes} bytes to device {gpu.number}")


def _get(gpu: Gpu, host: int, address: int, nbytes: int, stream: Any) -> None:
    check(driver.cuMemcpyDtoHAsync(host, address, nbytes, stream),
          f"copying {nbytes} bytes from device {gpu.number}")


def _bytes(host: Any) -> Bytes:
    found: Bytes = np.ascontiguousarray(host).view(np.uint8)
    return found


# At once


def send(gpu: Gpu, address: int, host: Any) -> None:
    """Copy the 1-d array `host` to the device, after what was queued there; it may be written again
    when this comes back.
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
        _wait(gpu)  # pages may be locked without our knowing, and be read later then


def fetch(gpu: Gpu, host: Any, address: int) -> None:
    """Copy to the 1-d array `host` from the device, after what was queued there."""
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
    check(driver.cuStreamSynchronize(gpu.stream), f"waiting for device {gpu.number}, perhaps for "
                                                  "what failed there")


# Begun, and waited for later


class Transfer:
    """A copy on the copy stream. `unpack`: where what it brings is to go from its page-locked
    buffer.
    """

    def __init__(self, event: StreamEvent, keep: tuple[Any, ...],
                 unpack: tuple[Bytes, Bytes] | None = None) -> None:
        self._event = event
        self._keep: Any = keep  # what must not be freed before
        self._unpack = unpack
        self._failed: DeviceError | None = None
        self._lock = threading.Lock()

    def wait(self) -> None:
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


def begin_send(gpu: Gpu, block: Any, host: Any) -> Transfer | None:
    """Begin to copy all of `host`, which must not change until it is done; None: it is done at
    once.
    """
    source = _bytes(host)
    buffer = source if is_locked(host) else _packed(source.nbytes)
    if not source.nbytes or buffer is None:
        send(gpu, block.address, host)
        return None
    if buffer is not source:
        buffer[:] = source
    with gpu.current():
        _after_all(gpu)
        _put(gpu, block.address, address_of(buffer), buffer.nbytes, gpu.copy_stream)
        return Transfer(StreamEvent(gpu).record(gpu.copy_stream), (block, host, buffer))


def begin_fetch(gpu: Gpu, host: Any, block: Any) -> Transfer | None:
    """Begin to copy all of `block`, likewise."""
    target: Bytes = host.view(np.uint8)
    buffer = target if is_locked(host) else _packed(target.nbytes)
    if not target.nbytes or buffer is None:
        fetch(gpu, host, block.address)
        return None
    with gpu.current():
        _after_all(gpu)
        _get(gpu, address_of(buffer), block.address, buffer.nbytes, gpu.copy_stream)
        unpack = None if buffer is target else (target, buffer)
        return Transfer(StreamEvent(gpu).record(gpu.copy_stream), (block, host, buffer), unpack)


def _packed(nbytes: int) -> Bytes | None:
    """A page-locked buffer, or None where there is no room for one, or it would be more than is to
    be kept.
    """
    if nbytes > current().page_locked_bytes:
        return None
    try:
        lent: Pinned = POOL.take(nbytes)
    except OutOfDeviceMemory:
        return None
    return np.asarray(lent)[:nbytes]


def _after_all(gpu: Gpu) -> None:
    """What comes on the copy stream waits for what was queued to compute: that wrote what is
    copied, or read what was there.
    """
    event = StreamEvent(gpu).record(gpu.stream)
    event.hold_up(gpu.copy_stream)
    event.close()
