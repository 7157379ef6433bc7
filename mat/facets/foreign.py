"""``foreign``: the host memory as C pointers, for C code and BLAS."""

from __future__ import annotations

from ..core.registry import Facet, ViewLike, register_facet
from ..cpu import engine
from ..memories.host import HOST
from ..support.c_pointers import ForeignArray
from ..support.types import Array


class ForeignFacet(Facet):
    """C pointers to host memory; they cannot be read-only, so nothing enforces ``input``."""

    name, letter, memory, engine, presents = "foreign", "F", HOST, engine, ForeignArray

    def present(self, view: ViewLike, handle: Array, writable: bool) -> ForeignArray:
        return ForeignArray(handle, view.layout)


FOREIGN = register_facet(ForeignFacet())
