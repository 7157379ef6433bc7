"""The memory of a GPU: taken and given back in the order of its stream, behind the accounting that
all devices share.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from cuda.bindings import driver

from ..core.registry import Memory, PendingCopy
from ..memories.pooled import Pooled
from . import transfers
from .fill import fill_kernel
from .gpu import DeviceBlock, ForeignBlock, Gpu, check
from .pinned import is_locked


class CudaMemory(Pooled):
    """What a device holds. All of it belongs to the one stream of the device, so what is freed can
    be used again at once.
    """

    def __init__(self, name: str, gpu: Gpu) -> None:
        super().__init__(name)
        self.gpu = gpu
        gpu.pool = self
        self._returning: deque[ForeignBlock] = deque()

    def raw_allocate(self, nbytes: int) -> DeviceBlock:
        return self.gpu.allocate(nbytes)

    def raw_free(self, handle: DeviceBlock) -> None:
        self.gpu.release(handle)

    def free(self, handle: DeviceBlock) -> None:
        export = handle.exported() if handle.exported is not None else None
        take_back = self._give_back if isinstance(handle, ForeignBlock) else super().free
        if export is None:
            take_back(handle)
        else:  # another library has its address
            export.freed = take_back

    # Memory of other libraries, which has no part in the accounting

    def borrowed(self, address: int, nbytes: int, owner: object) -> ForeignBlock:
        """A handle on what `owner` keeps there."""
        return ForeignBlock(address, nbytes, self.gpu, owner)

    def _give_back(self, handle: Any) -> None:
        """Let go of it, once nothing that is queued uses it: its owner may use it at once, in
        another stream.
        """
        if self.gpu.idle():
            handle.owner = None
        else:
            self._returning.append(handle)

    def _collect(self) -> None:
        super()._collect()
        if self._returning and self.gpu.idle():
            self._returning.clear()

    def trim(self) -> None:
        if self._returning:
            self.gpu.synchronize()
        super().trim()

    # Copies

    def page_locked(self, host: Any) -> bool:
        return is_locked(host)

    def copy_in(self, cube: Any, handle: DeviceBlock, host: Any) -> None:
        transfers.send(self.gpu, handle.address, host)

    def copy_out(self, cube: Any, handle: DeviceBlock, host: Any) -> None:
        transfers.fetch(self.gpu, host, handle.address)

    def begin_copy_in(self, cube: Any, handle: DeviceBlock, host: Any) -> PendingCopy | None:
        return transfers.begin_send(self.gpu, handle, host)

    def begin_copy_out(self, cube: Any, handle: DeviceBlock, host: Any) -> PendingCopy | None:
        return transfers.begin_fetch(self.gpu, host, handle)

    def write_part(self, cube: Any, handle: DeviceBlock, part: Any, start: int) -> bool:
        transfers.send(self.gpu, handle.address + start * cube.dtype.itemsize, part)
        return True

    def read_part(self, cube: Any, handle: DeviceBlock, host: Any, start: int, stop: int) -> bool:
        transfers.fetch(self.gpu, host[start:stop], handle.address + start * cube.dtype.itemsize)
        return True

    def copy_from(self, cube: Any, handle: DeviceBlock, memory: Memory,
                  source: DeviceBlock) -> bool:
        """From another GPU, directly if it can be reached, else the driver goes through the host;
        nobody waits for it.
        """
        if not isinstance(memory, CudaMemory) or not cube.nbytes:
            return isinstance(memory, CudaMemory)
        ours, theirs = self.gpu, memory.gpu
        written = transfers.StreamEvent(theirs).record(theirs.stream)
        written.hold_up(ours.stream, ours)
        with ours.current():
            ends = handle.address, ours.context, source.address, theirs.context
            check(driver.cuMemcpyPeerAsync(*ends, cube.nbytes, ours.stream),
                  f"copying {cube.nbytes} bytes from {memory.name} to {self.name}")
        read = transfers.StreamEvent(ours).record(ours.stream)
        read.hold_up(theirs.stream, theirs)  # what is written there later comes after it
        written.close()
        read.close()
        return True

    def fill(self, cube: Any, handle: DeviceBlock) -> bool:
        pattern = np.asarray(cube.fill_value, cube.dtype).tobytes()
        if not cube.nbytes:
            return True
        word = next((n for n in (1, 2, 4) if len(pattern) % n == 0
                     and pattern == pattern[:n] * (len(pattern) // n)), 0)
        if not word:
            fill_kernel(self.gpu, handle, pattern, cube.nbytes // len(pattern))
            return True
        put = {1: driver.cuMemsetD8Async, 2: driver.cuMemsetD16Async,
               4: driver.cuMemsetD32Async}[word]
        with self.gpu.current():
            check(put(handle.address, int.from_bytes(pattern[:word], "little"), cube.nbytes // word,
                      self.gpu.stream),
                  f"filling {cube.nbytes} bytes of {self.name}")
        return True
