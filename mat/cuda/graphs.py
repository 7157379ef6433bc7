"""Graphs of CUDA: captures of a thread's launches, and their replays.

Launches are captured on a stream of their own, so that other threads and libraries can go on
meanwhile, and are replayed on the stream where the device computes.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from ..core.recorder import DifferentCallError
from ..devices.in_use import Launches
from .libraries.cublas import prepare_capture
from .runtime.blocks import DeviceBlock
from .runtime.driver import driver
from .runtime.gpu import NOT_CURRENT, DriverObject, Gpu, check

# only this thread must not call what waits or allocates while it captures
_MODE = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
_UPDATE_FAILURE = 910  # CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
_old: deque[tuple[Gpu, DriverObject]] = deque()  # replays that are garbage


class Replay:
    """A capture that is ready to be launched, with the workspaces that it uses."""

    def __init__(self, gpu: Gpu, replay: DriverObject, rooms: list[DeviceBlock],
                 kept: list[object]) -> None:
        self.gpu = gpu
        self.kept = kept  # the workspace of cuBLAS, plans of cuFFT
        self.replay: DriverObject = replay
        self.rooms: list[DeviceBlock] = rooms
        self._launch: Callable[[], tuple[DriverObject]] = partial(driver.cuGraphLaunch, replay,
                                                                  gpu.stream)

    def launch(self) -> None:
        """Queue all launches on the device's stream, by one call of the driver."""
        self.gpu.raise_if_lost()
        result = self._launch()
        if int(result[0]) in NOT_CURRENT:  # the thread has no context, or another one
            with self.gpu.current():
                result = self._launch()
        check(result, "a graph", self.gpu)

    def give_up(self) -> DriverObject:
        """Return the driver's object, owned by the caller from now on."""
        replay, self.replay = self.replay, None
        return replay

    def __del__(self) -> None:
        replay = getattr(self, "replay", None)
        if replay is not None:
            _old.append((self.gpu, replay))  # this may run in the middle of anything
        for block in getattr(self, "rooms", ()):
            _free(self.gpu, block)


class Capture:
    """The launches that a thread makes in a block; `launches` is there at its end."""

    launches: Launches

    def __init__(self, gpu: Gpu) -> None:
        self.gpu = gpu
        self.thread: int = threading.get_ident()
        self.stream: DriverObject = gpu.capture_stream
        self.rooms: list[DeviceBlock] = []
        self.kept: list[object] = []

    def room(self, depth: int, nbytes: int) -> int:
        """Return the address of a workspace for all repetitions of the launches."""
        if depth >= len(self.rooms) or nbytes > self.rooms[depth].nbytes:
            raise DifferentCallError
        return self.rooms[depth].address

    def begin(self, rooms: list[int]) -> None:
        """Begin to capture, with workspaces of so many bytes."""
        _destroy_old()
        for nbytes in rooms:
            self.rooms.append(_take(self.gpu, nbytes))
        check(driver.cuStreamBeginCapture(self.stream, _MODE), "a capture", self.gpu)
        self.gpu.capturing = self

    def end(self) -> DriverObject:
        """End the capture and return the graph."""
        self.gpu.capturing = None
        return check(driver.cuStreamEndCapture(self.stream), "a capture", self.gpu)

    def abandon(self) -> None:
        """End the capture, if it has begun, without a result."""
        self.gpu.capturing = None
        status, graph = driver.cuStreamEndCapture(self.stream)
        if not int(status):
            driver.cuGraphDestroy(graph)
        for block in self.rooms:
            _free(self.gpu, block)


@contextmanager
def capture(gpu: Gpu, rooms: list[int], old: Any) -> Iterator[Capture]:
    """Capture this thread's launches in the block, with nested workspaces of `rooms` bytes. `old`
    is a replay that nobody launches any more; it may be reused.

    Raise `DifferentCallError` while another thread captures, which may wait for this one.
    """
    if not gpu.capture_lock.acquire(blocking=False):
        raise DifferentCallError
    try:
        with gpu.current():
            found = Capture(gpu)
            found.kept.append(prepare_capture(gpu))
            try:
                found.begin(rooms)
                yield found
                graph = found.end()
            except BaseException:
                found.abandon()
                raise
            try:
                found.launches = Replay(gpu, _made(gpu, graph, old), found.rooms, found.kept)
            finally:
                check(driver.cuGraphDestroy(graph), "freeing a graph", gpu)
    finally:
        gpu.capture_lock.release()


def _made(gpu: Gpu, graph: DriverObject, old: Replay | None) -> DriverObject:
    """Return a replay of `graph`, at less cost by an update of `old` if possible."""
    if old is not None:
        replay = old.give_up()
        status = int(driver.cuGraphExecUpdate(replay, graph)[0])
        if not status:
            return replay
        _old.append((gpu, replay))
        if status != _UPDATE_FAILURE:
            check((status,), "updating a graph", gpu)
    return check(driver.cuGraphInstantiate(graph, 0), "a graph", gpu)


def _take(gpu: Gpu, nbytes: int) -> DeviceBlock:
    return gpu.allocate(nbytes) if gpu.pool is None else gpu.pool.take(nbytes)


def _free(gpu: Gpu, block: DeviceBlock) -> None:
    if gpu.pool is not None:
        gpu.pool.free(block)  # takes no lock; without a pool the block frees itself


def _destroy_old() -> None:
    """Free replays that are garbage; those that still run are freed at their end."""
    with suppress(IndexError):
        while True:
            gpu, replay = _old.popleft()
            if not gpu.lost:
                check(driver.cuGraphExecDestroy(replay), "freeing a graph", gpu)
