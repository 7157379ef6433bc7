"""The memory of this machine, in NumPy arrays: the hub through which all copies go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.registry import Memory
from ..errors import DeviceError, OutOfDeviceMemory
from ..support.cuda_probe import probe
from ..support.plugins import plugin
from ..support.settings import current


class Host(Memory):
    """The RAM of this machine, as NumPy arrays; the hub through which all copies go."""

    name = "host"
    # the direction check wants pages of its own
    room: Callable[[int, Any], np.ndarray[Any, Any]] = staticmethod(np.empty)

    def allocate(self, cube: Any) -> np.ndarray[Any, Any]:
        if current().page_locked and cube.nbytes and probe().devices:
            try:
                found: np.ndarray[Any, Any] = page_locking().POOL.array(cube.size, cube.dtype)
            except OutOfDeviceMemory:  # then its copies are staged
                return self.room(cube.size, cube.dtype)
            return found
        return self.room(cube.size, cube.dtype)

    def fill(self, cube: Any, handle: Any) -> bool:
        handle.fill(cube.fill_value)
        return True


HOST = Host()


def page_locking() -> Any:
    """The module that locks pages; `DeviceError` where there is no CUDA."""
    found = probe()
    if not found.devices:
        raise DeviceError("'cuda_host' locks pages for a GPU's copies, and there is none: "
                          f"{found.reason}")
    return plugin("page_locking")
