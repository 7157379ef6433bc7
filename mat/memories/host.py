"""The host memory, in NumPy arrays: the hub through which all copies are made."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np

from ..core.registry import CubeLike, Memory
from ..errors import DeviceError, OutOfDeviceMemory
from ..support.cuda_probe import probe
from ..support.plugins import plugin
from ..support.settings import current
from ..support.types import Array, DTypeLike


class Host(Memory):
    """The host memory: handles are 1-d NumPy arrays."""

    name = "host"
    # replaced by the direction check, which allocates whole pages
    room: Callable[[int, DTypeLike], Array] = staticmethod(np.empty)

    def allocate(self, cube: CubeLike) -> Array:
        if current().page_locked and cube.nbytes and probe().devices:
            try:
                found: Array = page_locking().POOL.array(cube.size, cube.dtype)
            except OutOfDeviceMemory:  # then its copies are staged
                return self.room(cube.size, cube.dtype)
            return found
        return self.room(cube.size, cube.dtype)

    def fill(self, cube: CubeLike, handle: Array) -> bool:
        handle.fill(cube.fill_value)
        return True


HOST = Host()


def page_locking() -> ModuleType:
    """Return the module that locks pages; raise `DeviceError` if there is no CUDA device."""
    found = probe()
    if not found.devices:
        raise DeviceError("'cuda_host' locks pages for copies of a GPU, and there is none: "
                          f"{found.reason}")
    return plugin("page_locking")
