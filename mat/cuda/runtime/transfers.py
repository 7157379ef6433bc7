"""Copies between the host and a device that are done, as far as the host is concerned, when they
return: direct ones, or in pieces through page-locked buffers, which threads fill and empty.
Asynchronous ones are on the copy stream of the device.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import numpy as np

from ...core.compiled import CudaFetch, CudaSend
from ...core.recorder import RECORDERS, refuse_if_recorded
from ...cpu.thread_pool import threads
from ...errors import DeviceError, OutOfDeviceMemory
from ...support.c_pointers import address_of
from ...support.fork import WithLock
from ...support.native import lib
from ...support.options import current
from ...support.types import Array, Bytes
from . import staging
from .blocks import At, DeviceBlock
from .gpu import Gpu, addresses, check, driver
from .pinned import POOL, Pinned, is_locked, is_partly_locked

PIECE, BUFFERS = 4 << 20, 3  # bytes of a staging buffer, and how many there are; not yet measured
STAGED = 1 << 20  # bytes above which threads and a copy at a time outdo the driver's own staging
# copies up to this size use many buffers of that size, so that the host need not wait
SMALL = 64 << 10
MANY = 32
# Numbers go through slots in page-locked memory, each of a line of the cache
NUMBER = 64
SLOTS = 16
NO_SLOT = -1  # of the compiled copies: nothing was done
INVALID_VALUE = 1  # CUDA_ERROR_INVALID_VALUE
MOST_PITCH = (1 << 31) - 1  # bytes from row to row: CU_DEVICE_ATTRIBUTE_MAX_PITCH of all devices


def as_bytes(host: Array) -> Bytes:
    """Return the bytes of an array, packed."""
    return np.ascontiguousarray(host).view(np.uint8)


def refuse_to_send(host: Array) -> None:
    """Raise `GraphError` if this thread is capturing launches: a replay would not copy again."""
    refuse_if_recorded(f"{host.nbytes:,} bytes are copied to the device", "copy them before",
                       while_captured=True)


def refuse_to_fetch(host: Array) -> None:
    """Raise `GraphError` if this thread runs a function that is recorded."""
    refuse_if_recorded(f"{host.nbytes:,} bytes are copied to the host")


_kept: list[tuple[Pinned, list[staging.StreamEvent]]] = []  # what slots are made of


def _slots(gpu: Gpu, count: int, nbytes: int) -> list[tuple[int, int]]:
    """Return addresses and events of `count` page-locked slots for compiled copies, if any."""
    try:
        block = POOL.take(count * nbytes, gpu)
    except OutOfDeviceMemory:
        return []
    events = [staging.StreamEvent(gpu) for _ in range(count)]
    _kept.append((block, events))
    return [(block.address + k * nbytes, int(event.event or 0)) for k, event in enumerate(events)]


class _Fetches(dict[Gpu, CudaFetch]):
    """The compiled short copies from each device."""

    def __missing__(self, gpu: Gpu) -> CudaFetch:
        copy, wait, record, wait_for = addresses("cuMemcpyDtoHAsync", "cuStreamSynchronize",
                                                 "cuEventRecord", "cuEventSynchronize")
        made = gpu.in_context(CudaFetch(copy, wait, int(gpu.stream)))
        made.use_slots(record, wait_for, _slots(gpu, SLOTS, NUMBER))
        self[gpu] = made
        return made


class _Sends(dict[Gpu, CudaSend]):
    """The compiled short copies to each device."""

    def __missing__(self, gpu: Gpu) -> CudaSend:
        functions = addresses("cuMemcpyHtoDAsync", "cuEventRecord", "cuEventSynchronize")
        self[gpu] = made = gpu.in_context(CudaSend(*functions, int(gpu.stream),
                                                   _slots(gpu, MANY, SMALL)))
        return made


_sends = _Sends()
_fetches = _Fetches()


def send(gpu: Gpu, address: int, host: Array) -> None:
    """Copy the 1-d `host`, not needed after this, to the device in order of its work."""
    source = as_bytes(host)
    if not source.nbytes:
        return
    if RECORDERS:
        refuse_to_send(source)
    if _send_small(gpu, address, source):
        return
    with gpu.current():
        if source.nbytes <= SMALL:
            staging.stage(gpu, SMALL, MANY).send(address, source)
            return
        locked = is_locked(source)
        buffers = None if locked else _buffers_for(gpu, source)
        if buffers is not None:
            buffers.send(address, source)
            return
        status = driver.cuMemcpyHtoDAsync(address, address_of(source), source.nbytes, gpu.stream)
        if int(status[0]) == INVALID_VALUE and not locked:
            # another library may have locked some of the pages
            staging.stage(gpu, PIECE, BUFFERS).send(address, source)
            return
        check(status, f"copying {source.nbytes} bytes to device {gpu.number}")
        _wait(gpu)  # another library may have locked the pages, which are read later then


def _buffers_for(gpu: Gpu, host: Bytes, written: bool = False) -> staging.Stage | None:
    """Return the buffers for a copy of pageable memory, None where the driver copies.

    It stages pageable memory, too, but by one thread. Memory that is locked in part it refuses.
    """
    if is_partly_locked(host, written=written):
        return _buffers(gpu, host.nbytes)
    if host.nbytes <= SMALL or not (current().page_locked or (
            host.nbytes > STAGED and threads() > 1 and lib is not None)):
        return None
    try:
        return _buffers(gpu, host.nbytes)
    except OutOfDeviceMemory:  # no pages can be locked
        return None


def _buffers(gpu: Gpu, nbytes: int) -> staging.Stage:
    return staging.stage(gpu, PIECE, BUFFERS) if nbytes > SMALL else staging.stage(gpu, SMALL, MANY)


def _send_small(gpu: Gpu, address: int, source: Bytes) -> bool:
    """Do so by a compiled call, if it is short, and such calls and a free slot are there."""
    if source.nbytes > SMALL or CudaSend is None:
        return False
    gpu.raise_if_lost()
    status = _sends[gpu].send(source, address)
    if status == NO_SLOT:
        return False
    if status:
        check((status,), f"copying {source.nbytes} bytes to device {gpu.number}", gpu)
    return True


def fetch(gpu: Gpu, host: Array, address: int) -> None:
    """Copy to the 1-d array `host` from the device, after all work that is queued there."""
    if RECORDERS:
        refuse_to_fetch(host)
    if not host.nbytes or _fetch_small(gpu, host, address):
        return
    target: Bytes = host.view(np.uint8)
    with gpu.current():
        locked = is_locked(target, written=True)
        buffers = None if locked else _buffers_for(gpu, target, written=True)
        if buffers is not None:
            buffers.fetch(target, address)
            return
        status = driver.cuMemcpyDtoHAsync(address_of(target), address, target.nbytes, gpu.stream)
        if int(status[0]) == INVALID_VALUE and not locked:  # as in `send`
            _buffers(gpu, target.nbytes).fetch(target, address)
            return
        check(status, f"copying {target.nbytes} bytes from device {gpu.number}")
        _wait(gpu)


def _fetch_small(gpu: Gpu, host: Array, address: int) -> bool:
    """Do so by a compiled call, if there is one and the driver copies to such an array."""
    if host.nbytes > SMALL or CudaFetch is None:
        return False
    gpu.raise_if_lost()
    status = _fetches[gpu].fetch_number(host, address) if host.nbytes <= NUMBER else NO_SLOT
    if status == NO_SLOT:
        if is_partly_locked(host, written=True):
            return False
        status = _fetches[gpu].fetch(host, address)
    if status == INVALID_VALUE:  # the pages may be locked in part
        return False
    if status:
        check((status,), f"copying {host.nbytes} bytes from device {gpu.number}, where perhaps an "
                         "earlier operation failed", gpu)
    return True


# Rows that are equally far apart there as here


def send_rows(gpu: Gpu, address: int, rows: Array) -> None:
    """Copy an array, not needed after this, to the device: 1-d, or the rows of a 2-d one."""
    if _copied_one_by_one(rows):
        for k, row in enumerate(np.atleast_2d(rows)):
            send(gpu, address + k * rows.strides[0], row)
        return
    if RECORDERS:
        refuse_to_send(rows)
    with gpu.current():
        _stage_for(gpu, rows).send_rows(address, rows)


def fetch_rows(gpu: Gpu, rows: Array, address: int) -> None:
    """Copy from the device, as `send_rows` does to it."""
    if _copied_one_by_one(rows):
        for k, row in enumerate(np.atleast_2d(rows)):
            fetch(gpu, row, address + k * rows.strides[0])
        return
    if RECORDERS:
        refuse_to_fetch(rows)
    with gpu.current():
        _stage_for(gpu, rows).fetch_rows(rows, address)


def _copied_one_by_one(rows: Array) -> bool:
    """Return whether there is one row only, or rows are long, or too far apart for the driver."""
    return rows.ndim == 1 or rows.shape[1] * rows.itemsize > SMALL or rows.strides[0] > MOST_PITCH


def copy_rows(gpu: Gpu, to: int, source: int, shape: tuple[int, int], pitch: int) -> None:
    """Copy rows of bytes, one every `pitch` bytes, within the device."""
    count, width = shape
    with gpu.current():
        if staging.are_thin(count, width) and not RECORDERS:
            staging.move_rows(gpu, (to, pitch), (source, pitch), shape)
            return
        if count > 1 and pitch <= MOST_PITCH:
            staging.copy_2d(gpu, staging.Rows(to, pitch), staging.Rows(source, pitch), shape)
            return
        for k in range(count):
            check(driver.cuMemcpyDtoDAsync(to + k * pitch, source + k * pitch, width, gpu.stream),
                  f"copying {width} bytes on device {gpu.number}")


def copy_between(to: At, source: At, nbytes: int) -> None:
    """Queue a copy between devices in order of the work of both; the driver makes it directly, or
    through the host where one cannot access the other.
    """
    here, there = to.gpu, source.gpu
    here.reach(there)
    written = staging.StreamEvent(there).record(there.stream)
    written.hold_up(here.stream, here)
    with here.current():
        ends = to.address, here.context, source.address, there.context
        check(driver.cuMemcpyPeerAsync(*ends, nbytes, here.stream),
              f"copying {nbytes} bytes from device {there.number} to device {here.number}")
    read = staging.StreamEvent(here).record(here.stream)
    read.hold_up(there.stream, there)  # later writes there come after it
    written.close()
    read.close()


def copy_rows_between(to: At, source: At, shape: tuple[int, int], pitch: int) -> None:
    """Queue such copies of rows of bytes, one every `pitch` bytes; short ones are packed."""
    count, width = shape
    if count == 1 or width > SMALL:
        for k in range(count):
            copy_between(to.after(k * pitch), source.after(k * pitch), width)
        return
    (here, target), (there, begin), most = to, source, PIECE // width
    for first in range(0, count, most):
        rows, at = min(most, count - first), first * pitch
        with there.plain_room(rows * width) as packed, here.plain_room(rows * width) as room:
            staging.move_rows(there, (packed, width), (begin + at, pitch), (rows, width))
            copy_between(At(here, room), At(there, packed), rows * width)
            staging.move_rows(here, (target + at, pitch), (room, width), (rows, width))


def _stage_for(gpu: Gpu, rows: Array) -> staging.Stage:
    """Return the buffers for rows that each fit into one."""
    return _buffers(gpu, rows.nbytes if current().page_locked else 0)


def _wait(gpu: Gpu) -> None:
    check(driver.cuStreamSynchronize(gpu.stream),
          f"waiting for device {gpu.number}, where perhaps an earlier operation failed")


class Transfer(WithLock):
    """A copy on the copy stream.

    `keep` must remain allocated until its end. `unpack` are the target of the data and the
    page-locked buffer that the copy fills.
    """

    def __init__(self, event: staging.StreamEvent, keep: object,
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
                        staging.copy_array(buffer, target)
                    self._event.close()
                except DeviceError as error:
                    self._failed = error
                self._keep = self._unpack = None
            if self._failed is not None:
                raise self._failed


class Sending(Transfer):
    """A copy of `nbytes` to the device, waited for by the device rather than the host."""

    def __init__(self, event: staging.StreamEvent, keep: tuple[DeviceBlock, Array, Bytes],
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
        staging.copy_array(source, buffer)
    with gpu.current(), _begun(gpu):
        staging.put(gpu, block.address, address_of(buffer), buffer.nbytes, gpu.copy_stream)
        sent = staging.StreamEvent(gpu).record(gpu.copy_stream)
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
        staging.get(gpu, address_of(buffer), block.address, buffer.nbytes, gpu.copy_stream)
        unpack = None if buffer is target else (target, buffer)
        done = staging.StreamEvent(gpu).record(gpu.copy_stream)
        return Transfer(done, (block, host, buffer), unpack)


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
