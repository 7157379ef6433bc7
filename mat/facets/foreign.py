"""``foreign``: C pointers to the host memory, for C code and BLAS; shares the memory of ``array``
and ``backing``.
"""

from __future__ import annotations

from typing import Any

from ..core.registry import Facet, register_facet
from ..cpu import engine
from ..memories.host import HOST
from ..support.c_pointers import ForeignArray


class ForeignFacet(Facet):
    """C pointers; a C type cannot make them read-only, so ``input`` is a promise here."""

    name, letter, memory, engine, presents = "foreign", "F", HOST, engine, ForeignArray

    def present(self, view: Any, handle: Any, writable: bool) -> ForeignArray:
        return ForeignArray(handle, view.layout)


FOREIGN = register_facet(ForeignFacet())
