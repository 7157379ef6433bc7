"""``cuda_host``: the host memory as C pointers, with locked pages, so that copies from and to a GPU
are fast.

It is the memory of ``array``, ``backing`` and ``foreign``. The pages of a storage remain locked for
as long as the storage exists. Where the driver refuses to lock them, the facet is the same, and
copies are slower.
"""

from __future__ import annotations

from typing import Any

from ..core.registry import Engine, Facet, Memory, register_facet
from ..cpu import engine
from ..memories.file_pages import SpillPages, pages_of
from ..memories.host import HOST, page_locking
from ..support.c_pointers import ForeignArray
from ..support.types import Array


class CudaHostFacet(Facet):
    """C pointers to page-locked host memory.

    An access raises `DeviceError`, which says why, if there is no CUDA device. Pages that the
    driver does not lock are presented all the same.
    """

    name: str = "cuda_host"
    letter: str = "H"
    memory: Memory = HOST
    engine: Engine = engine

    def present(self, view: Any, handle: Array, writable: bool) -> ForeignArray:
        pages = page_locking()
        # what is spilled is to be in memory no longer than the system likes
        if not isinstance(pages_of(handle), SpillPages):
            pages.lock_for(view.storage, handle)
        return ForeignArray(handle, view.layout)


CUDA_HOST = register_facet(CudaHostFacet())
