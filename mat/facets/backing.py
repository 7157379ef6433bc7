"""``backing``: the whole storage as a 1-d NumPy array, invisible elements included; and the host's memory itself."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ..cuda.driver import probe
from ..errors import DeviceError, OutOfDeviceMemory
from ..places import Facet, Memory, register_facet
from ..settings import current


class Host(Memory):
    """The RAM of this machine, as NumPy arrays; the hub through which all copies go."""

    name = "host"
    room: Callable[[int, Any], np.ndarray[Any, Any]] = staticmethod(np.empty)  # the direction check wants pages of its own

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
        raise DeviceError(f"'cuda_host' locks pages for a GPU's copies, and there is none: {found.reason}")
    return importlib.import_module(f"{__name__.partition('.')[0]}.cuda.pinned")


def guarded(a: np.ndarray[Any, Any], writable: bool) -> np.ndarray[Any, Any]:
    """A view of `a` of its own, which is read-only unless it may be written."""
    view = a.view()
    if not writable:
        view.flags.writeable = False
    return view


class Backing(Facet):
    """The whole storage, 1-d: element ``k`` is storage index ``k``, whatever the Mat's displacement."""

    name, letter, memory, engine, quiet = "backing", "B", HOST, np, True

    def present(self, view: Any, handle: Any, writable: bool) -> np.ndarray[Any, Any]:
        return guarded(handle, writable)

    def lender(self, value: Any) -> Callable[[], Any]:
        view: Callable[[], Any] = value.view
        return view


BACKING = register_facet(Backing())
