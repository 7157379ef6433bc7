"""Asynchronous copies between the host and a device, on its copy stream."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import numpy as np

from ...core.recorder import RECORDERS
from ...errors import DeviceError, OutOfDeviceMemory
from ...support.c_pointers import address_of
from ...support.fork import WithLock
from ...support.options import current
from ...support.types import Array, Bytes
from .blocks import DeviceBlock
from .driver import driver
from .gpu import Gpu
from .pinned import POOL, Pinned, is_locked
from .staging import StreamEvent, copy_array, get, put
from .transfers import as_bytes, fetch, refuse_to_fetch, refuse_to_send, send


class Transfer(WithLock):
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
        super().__init__()

    def wait(self) -> None:
        """Wait for the end of the copy; raise `DeviceError` if it failed, each time."""
        with self._lock:
            if self._keep is not None:
                try:
                    self._event.wait()
                    if self._unpack is not None:
                        target, buffer = self._unpack
                        copy_array(buffer, target)
                    self._event.close()
                except DeviceError as error:
                    self._failed = error
                self._keep = self._unpack = None
            if self._failed is not None:
                raise self._failed


class Sending(Transfer):
    """A copy of `nbytes` to the device, waited for by the device rather than the host."""

    def __init__(self, event: StreamEvent, keep: tuple[DeviceBlock, Array, Bytes],
                 reads_source: bool) -> None:
        super().__init__(event, keep)
        self.nbytes: int = keep[2].nbytes
        self._reads_source = reads_source  # else a buffer

    def follow(self) -> bool:
        """Make later work wait for the copy; return whether the host's array is still read."""
        with self._lock:
            if self._keep is not None:
                self._event.hold_up(self._event.gpu.stream)
                self._event.gpu.underway.append(self)  # which keeps what is being read
        return self._reads_source

    def is_done(self) -> bool:
        """Return whether the copy has ended; then release the objects it kept."""
        with self._lock:
            if self._keep is not None and self._event.is_over():
                self._keep = None
                with suppress(DeviceError):  # which is raised where the device is used
                    self._event.close()
            return self._keep is None


def make_way(gpu: Gpu, nbytes: int) -> None:
    """Forget or await copies until `nbytes` more fit in the page-locked memory that is kept."""
    underway = gpu.underway
    while underway and underway[0].is_done():
        underway.popleft()
    with suppress(IndexError):  # another thread may do the same
        while underway and nbytes + sum(s.nbytes for s in tuple(underway)) > (
                current().page_locked_bytes):
            with suppress(DeviceError):
                underway[0].wait()
            underway.popleft()


def begin_send(gpu: Gpu, block: DeviceBlock, host: Array) -> Sending | None:
    """Begin to copy `host`, not to change before the end; return None if it is done."""
    source = as_bytes(host)
    if RECORDERS:
        refuse_to_send(source)
    make_way(gpu, source.nbytes)
    buffer = source if is_locked(source) else _packed(gpu, source.nbytes)
    if not source.nbytes or buffer is None:
        send(gpu, block.address, host)
        return None
    if buffer is not source:
        copy_array(source, buffer)
    with gpu.current(), _begun(gpu):
        put(gpu, block.address, address_of(buffer), buffer.nbytes, gpu.copy_stream)
        sent = StreamEvent(gpu).record(gpu.copy_stream)
        return Sending(sent, (block, host, buffer), buffer is source)


def begin_fetch(gpu: Gpu, host: Array, block: DeviceBlock) -> Transfer | None:
    """Begin to copy all of `block`; return None if it is done."""
    target: Bytes = host.view(np.uint8)
    if RECORDERS:
        refuse_to_fetch(target)
    buffer = target if is_locked(target, written=True) else _packed(gpu, target.nbytes)
    if not target.nbytes or buffer is None:
        fetch(gpu, host, block.address)
        return None
    with gpu.current(), _begun(gpu):
        get(gpu, address_of(buffer), block.address, buffer.nbytes, gpu.copy_stream)
        unpack = None if buffer is target else (target, buffer)
        return Transfer(StreamEvent(gpu).record(gpu.copy_stream), (block, host, buffer), unpack)


@contextmanager
def _begun(gpu: Gpu) -> Iterator[None]:
    """Queue copies in the block after all computations, which may use the same memory. If the block
    fails, wait for the work it began, before its memory is freed.
    """
    try:
        gpu.wait_on(int(gpu.copy_stream))
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
