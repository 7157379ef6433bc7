"""``cupy``: the elements as an array of CuPy, without a copy, on the GPU in use."""

from __future__ import annotations

from ..errors import DTypeError
from ..extend import LibraryFacet, register_facet
from ..support.dtypes import EXTENSIONS
from ..support.types import Operand, Presented


class CupyFacet(LibraryFacet):
    """Arrays of CuPy; they cannot be read-only, so nothing enforces ``input``."""

    name: str = "cupy"
    letter: str = "Y"
    library: str = "cupy"
    on_host: bool = False

    def check(self, library: Operand, view: Operand) -> None:  # noqa: ARG002  # of any version
        if view.dtype.char in EXTENSIONS:
            raise DTypeError(f"CuPy's arrays have no {view.dtype}; x.astype('float32') is a copy "
                             "that they can have")

    def array_of(self, library: Operand, value: Presented) -> Presented:
        return library.asarray(value)  # by __cuda_array_interface__


CUPY = register_facet(CupyFacet())
