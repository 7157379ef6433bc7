"""The memory of a GPU: allocated and freed in the order of its stream, with the accounting that
all devices share.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import cache, cached_property

import numpy as np

from ...core.compiled import CudaFill
from ...core.recorder import RECORDERS
from ...core.registry import CubeLike, Memory, PendingCopy
from ...core.runs import EqualRuns, Runs
from ...errors import OutOfDeviceMemory
from ...memories.pooled import Pooled
from ...support.types import Array, DType, Number
from . import transfers
from .blocks import At, DeviceBlock, ForeignBlock
from .gpu import Gpu, addresses, check, driver
from .kernel import blocks_for, in_blocks
from .pinned import is_locked
from .staging import PROGRAM


def fill_kernel(handle: DeviceBlock, pattern: bytes, count: int) -> None:
    """Fill a block with `count` repetitions of `pattern`, of 8 or 16 bytes."""
    low, high = (int.from_bytes((pattern + pattern)[at:at + 8], "little", signed=True)
                 for at in (0, 8))
    in_blocks(PROGRAM, f"mat_fill_{len(pattern)}", (count, low, high),
              blocks_for(count)).bind((0,), ())(handle)


def _pattern(value: Number, dtype: DType) -> tuple[bytes, int]:
    """Return the bytes of an element, and how many of them are repeated: 1, 2 or 4, or 0."""
    found = np.asarray(value, dtype).tobytes()
    return found, next((n for n in (1, 2, 4) if found == found[:n] * (len(found) // n)), 0)


@cache
def _zero_pattern(dtype: DType) -> tuple[bytes, int]:
    return _pattern(0, dtype)


SPARE = 8  # parts are joined if so many times their size is free


class CudaMemory(Pooled):
    """The memory of a device, reused at once, since all work with it is on one stream."""

    exports = DeviceBlock

    def __init__(self, name: str, gpu: Gpu) -> None:
        super().__init__(name)
        self.gpu = gpu
        gpu.pool = self
        self._returning: deque[ForeignBlock] = deque()

    def raw_allocate(self, nbytes: int) -> DeviceBlock:
        return self.gpu.allocate(nbytes)

    def raw_free(self, handle: DeviceBlock) -> None:
        self.gpu.release(handle)

    def fit(self, handle: DeviceBlock, nbytes: int) -> bool:
        handle.nbytes = nbytes
        return True

    @property
    def returns(self) -> bool:
        return self.gpu.capturing is None and not self.gpu.lost  # a capture would free it again

    def free_exported(self, handle: DeviceBlock) -> None:
        export = handle.exported() if handle.exported is not None else None
        foreign = isinstance(handle, ForeignBlock)
        release: Callable[..., None] = self._release_foreign if foreign else self._freed.append
        if export is None:
            release(handle)
        else:  # another library has its address
            export.freed = release

    def has_room(self, nbytes: int) -> bool:
        # the freed parts stay in the pool, and other libraries may need memory
        return super().has_room(nbytes) and self.gpu.can_take(SPARE * nbytes)

    # Memory of other libraries, which is not accounted for

    def borrowed(self, address: int, nbytes: int, owner: object) -> ForeignBlock:
        """Return a handle of memory that `owner` keeps."""
        return ForeignBlock(address, nbytes, self.gpu, owner)

    def _release_foreign(self, handle: ForeignBlock) -> None:
        """Release the owner, who may use the memory at once, after all queued work."""
        if self.gpu.idle():
            handle.owner = None
        else:
            self._returning.append(handle)

    def _collect(self, wanted: int = -1) -> None:
        super()._collect(wanted)
        if self._returning and self.gpu.idle():
            self._returning.clear()

    def settle(self) -> None:
        """Count freed blocks as kept for the next use."""
        with self.lock:
            self._collect()

    def trim(self) -> None:
        if self._returning and not self.gpu.lost:
            self.gpu.synchronize()
        super().trim()
        if not self.gpu.lost:
            self.gpu.return_freed()

    # Copies

    def page_locked(self, host: Array) -> bool:
        return is_locked(host)

    def copy_in(self, cube: CubeLike, handle: DeviceBlock, host: Array) -> None:
        transfers.send(self.gpu, handle.address, host)

    def copy_out(self, cube: CubeLike, handle: DeviceBlock, host: Array) -> None:
        transfers.fetch(self.gpu, host, handle.address)

    def begin_copy_in(self, cube: CubeLike, handle: DeviceBlock, host: Array) -> PendingCopy | None:
        return transfers.begin_send(self.gpu, handle, host)

    def begin_copy_out(self, cube: CubeLike, handle: DeviceBlock,
                       host: Array) -> PendingCopy | None:
        return transfers.begin_fetch(self.gpu, host, handle)

    def write_part(self, cube: CubeLike, handle: DeviceBlock, part: Array, start: int) -> bool:
        transfers.send(self.gpu, handle.address + start * cube.dtype.itemsize, part)
        return True

    def read_part(self, cube: CubeLike, handle: DeviceBlock, host: Array, start: int,
                  stop: int) -> bool:
        transfers.fetch(self.gpu, host[start:stop], handle.address + start * cube.dtype.itemsize)
        return True

    def write_runs(self, cube: CubeLike, handle: DeviceBlock, host: Array, runs: Runs) -> bool:
        for block, address in self._blocks(cube, handle, runs):
            transfers.send_rows(self.gpu, address, block.of(host))
        return True

    def read_runs(self, cube: CubeLike, handle: DeviceBlock, host: Array, runs: Runs) -> bool:
        for block, address in self._blocks(cube, handle, runs):
            transfers.fetch_rows(self.gpu, block.of(host), address)
        return True

    def copy_runs(self, cube: CubeLike, handle: DeviceBlock, source: DeviceBlock, shift: int,
                  runs: Runs) -> bool:
        size = cube.dtype.itemsize
        for block, address in self._blocks(cube, handle, runs):
            there = source.address + (block.start + shift) * size
            shape = block.rows, block.length * size
            transfers.copy_rows(self.gpu, address, there, shape, block.step * size)
        return True

    @staticmethod
    def _blocks(cube: CubeLike, handle: DeviceBlock, runs: Runs) -> Iterator[tuple[EqualRuns, int]]:
        for block in runs.blocks():
            yield block, handle.address + block.start * cube.dtype.itemsize

    def copy_from(self, cube: CubeLike, handle: DeviceBlock, memory: Memory,
                  source: DeviceBlock) -> bool:
        """Copy from another GPU without waiting, directly or through the host; False for others."""
        if isinstance(memory, CudaMemory) and cube.nbytes:
            transfers.copy_between(At(self.gpu, handle.address),
                                   At(memory.gpu, source.address), cube.nbytes)
        return isinstance(memory, CudaMemory)

    def copy_runs_from(self, cube: CubeLike, handle: DeviceBlock, memory: Memory,
                       source: DeviceBlock, shift: int, runs: Runs) -> bool:
        """Copy from another GPU as `copy_from` does; False also without room to pack rows, or while
        a function is recorded, which would have the kernels that pack them.
        """
        if not isinstance(memory, CudaMemory) or RECORDERS:
            return False
        size, there = cube.dtype.itemsize, At(memory.gpu, source.address)
        try:
            for block, address in self._blocks(cube, handle, runs):
                transfers.copy_rows_between(At(self.gpu, address),
                                            there.after((block.start + shift) * size),
                                            (block.rows, block.length * size), block.step * size)
        except OutOfDeviceMemory:
            return False
        return True

    def fill(self, cube: CubeLike, handle: DeviceBlock) -> bool:
        value, nbytes = cube.fill_value, cube.nbytes
        if not nbytes:
            return True
        if type(value) is int and not value:
            pattern, word = _zero_pattern(cube.dtype)
        else:
            pattern, word = _pattern(value, cube.dtype)
        if not word:
            fill_kernel(handle, pattern, nbytes // len(pattern))
            return True
        bits = int.from_bytes(pattern[:word], "little")
        status = self._memset(handle.address, word, bits, nbytes // word)
        if status:
            check((status,), f"filling {nbytes} bytes of {self.name}", self.gpu)
        return True

    @cached_property
    def _memset(self) -> Callable[[int, int, int, int], int]:
        """A function that queues so many values of so many bytes at an address; its status."""
        gpu = self.gpu
        if CudaFill is not None:
            functions = addresses("cuMemsetD8Async", "cuMemsetD16Async", "cuMemsetD32Async")
            found: Callable[[int, int, int, int], int]
            found = gpu.in_context(CudaFill(functions, int(gpu.stream))).fill
            return found

        def memset(address: int, size: int, value: int, count: int) -> int:
            put = getattr(driver, f"cuMemsetD{8 * size}Async")
            with gpu.current():
                return int(put(address, value, count, gpu.stream)[0])

        return memset
