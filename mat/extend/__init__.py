"""The names for user-defined memories, facets and operations; the built-in ones use them as well.

A memory is a subclass of `Memory` with four methods, a facet one of `Facet` or `LibraryFacet` with
one, which `register_facet` makes known. An operation is a function under ``@op`` that only checks
its arguments, with the directions `Input`, `Output`, `InOut`, `Accumulated` and `Scalar` in its
signature, and one implementation for each facet; `Op.cut_by` declares how it is cut into tiles.
"""

from ..core.observers import Observer, observe
from ..core.registry import Facet, Memory, register_facet, register_memory
from ..devices.library_facet import LibraryFacet
from ..ops.engine.operation import Accumulated, InOut, Input, InputOrNumber, Op, Output, Scalar, op
from ..ops.tiles.tile import Tile, TileTooLarge, by_elements
from ..support.close_names import name_what_is_close as _name_what_is_close

__all__ = [
    "Accumulated", "Facet", "InOut", "Input", "InputOrNumber", "LibraryFacet", "Memory", "Observer",
    "Op", "Output", "Scalar", "Tile", "TileTooLarge", "by_elements", "observe", "op",
    "register_facet", "register_memory",
]


_name_what_is_close(__name__)
