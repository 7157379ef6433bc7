"""The host memory, in NumPy arrays: the hub of all copies."""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from types import ModuleType
from typing import Any, ClassVar

from ..core.compiled import BLOCKS
from ..core.registry import CubeLike, Memory
from ..errors import DeviceError
from ..support import host_pool
from ..support.c_pointers import address_of
from ..support.cuda_probe import probe
from ..support.native import core
from ..support.options import current
from ..support.plugins import plugin
from ..support.types import Array, DType
from .file_pages import fill, spilled_array, spills


class Host(Memory):
    """The host memory: handles are 1-d NumPy arrays."""

    name = "host"
    # replaced by the direction check, which allocates whole pages
    room: Callable[[int, DType], Array] = staticmethod(host_pool.empty)

    # by the threads that plan only: what they get instead, which takes no memory until it is used
    rooms: ClassVar[dict[int, Callable[[int, DType], Array]]] = {}

    def allocate(self, cube: CubeLike) -> Array:
        if self.rooms and get_ident() in self.rooms:
            return self.rooms[get_ident()](cube.size, cube.dtype)
        if cube.nbytes > BLOCKS.largest and spills(cube.nbytes):
            return spilled_array(cube.size, cube.dtype)
        if current().page_locked and cube.nbytes and probe().devices:
            try:
                found: Array = page_locking().POOL.array(cube.size, cube.dtype)
            except DeviceError:  # no more pages, or the device failed: its copies are staged
                return self.room(cube.size, cube.dtype)
            return found
        return self.room(cube.size, cube.dtype)

    def handle_of(self, cube: CubeLike, block: Any) -> Array:
        # there are blocks only where this is compiled
        return core.array_over(block, cube.size, cube.dtype)

    def address_of(self, handle: Array) -> int:
        return address_of(handle)

    def fill(self, cube: CubeLike, handle: Array) -> bool:
        fill(handle, cube.fill_value)
        return True


HOST = Host()


def page_locking() -> ModuleType:
    """Return the module that locks pages; raise `DeviceError` if there is no CUDA device."""
    found = probe()
    if not found.devices:
        raise DeviceError("'cuda_host' locks pages for copies of a GPU, and there is none: "
                          f"{found.reason}")
    return plugin("page_locking")
