"""``cuda_host``: the host's memory as C pointers, its pages locked, so that copies from and to a
GPU are fast.

It is the memory of ``array``, ``backing`` and ``foreign``: pages are locked where the data lies,
until the Mat is gone.
"""

from __future__ import annotations

import weakref
from typing import Any

from ..core.registry import Facet, register_facet
from ..cpu import engine
from ..memories.host import HOST, page_locking
from ..support.c_pointers import ForeignArray


class CudaHostFacet(Facet):
    """As ``foreign``; `DeviceError` where there is no CUDA, which says why."""

    name, letter, memory, engine = "cuda_host", "H", HOST, engine

    def present(self, view: Any, handle: Any, writable: bool) -> ForeignArray:
        pages = page_locking()
        if not pages.is_locked(handle):
            weakref.finalize(view.storage, pages.release, pages.register(handle))
        return ForeignArray(handle, view.layout)


CUDA_HOST = register_facet(CudaHostFacet())
