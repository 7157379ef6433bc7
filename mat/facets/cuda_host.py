"""``cuda_host``: the host memory as C pointers, with locked pages, so that copies from and to a GPU
are fast.

It is the memory of ``array``, ``backing`` and ``foreign``. The pages of a storage remain locked for
as long as the storage exists.
"""

from __future__ import annotations

import weakref

from ..core.registry import Engine, Facet, Memory, ViewLike, register_facet
from ..cpu import engine
from ..errors import DeviceError
from ..memories.file_pages import pages_of
from ..memories.host import HOST, page_locking
from ..support.c_pointers import ForeignArray
from ..support.types import Array


class CudaHostFacet(Facet):
    """C pointers to page-locked host memory.

    An access raises `DeviceError`, which says why, if there is no CUDA device.
    """

    name: str = "cuda_host"
    letter: str = "H"
    memory: Memory = HOST
    engine: Engine = engine

    def present(self, view: ViewLike, handle: Array, writable: bool) -> ForeignArray:
        pages = page_locking()
        if pages_of(handle) is not None:
            raise DeviceError("'cuda_host' locks pages, which pages of a file cannot be; "
                              f"{view.label()}.copy() has others")
        if not pages.is_locked(handle):
            weakref.finalize(view.storage, pages.release, pages.register(handle))
        return ForeignArray(handle, view.layout)


CUDA_HOST = register_facet(CudaHostFacet())
