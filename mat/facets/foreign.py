"""``foreign``: the host memory as C pointers, for C code and BLAS."""

from __future__ import annotations

from ..core.registry import Engine, Facet, Memory, ViewLike, register_facet
from ..cpu import engine
from ..memories.host import HOST
from ..support.c_pointers import ForeignArray
from ..support.types import Array


class ForeignFacet(Facet):
    """C pointers to host memory; they cannot be read-only, so nothing enforces ``input``."""

    name: str = "foreign"
    letter: str = "F"
    memory: Memory = HOST
    engine: Engine = engine
    presents: type | None = ForeignArray

    def present(self, view: ViewLike, handle: Array, writable: bool) -> ForeignArray:
        return ForeignArray(handle, view.layout)


FOREIGN = register_facet(ForeignFacet())
