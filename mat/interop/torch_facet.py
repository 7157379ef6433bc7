"""``torch``: the elements as a tensor, without a copy, on the host or on the GPU in use."""

from __future__ import annotations

import numpy as np

from ..errors import DTypeError, ShapeError
from ..extend import LibraryFacet, register_facet
from ..support.types import Operand, Presented


class TorchFacet(LibraryFacet):
    """Tensors; torch knows nothing of read-only memory, so nothing enforces ``input``."""

    name: str = "torch"
    letter: str = "P"
    library: str = "torch"

    def check(self, library: Operand, view: Operand) -> None:
        if min(view.strides, default=0) < 0:
            raise ShapeError(f"tensors have no negative strides, and {view.label()} has strides "
                             f"{view.element_strides}; x.contiguous() is a copy without them")
        if not hasattr(library, view.dtype.name):
            raise DTypeError(f"torch {library.__version__} has no {view.dtype}; x.astype(...) is "
                             "a copy of another dtype, such as 'int64' or 'float32'")

    def array_of(self, library: Operand, value: Presented) -> Presented:
        if not isinstance(value, np.ndarray):
            return library.from_dlpack(value)
        # types that NumPy has not itself, and that older versions do not take from it
        plain = library.from_numpy(value.view(_PLAIN.get(value.dtype.name, value.dtype.name)))
        return plain.view(getattr(library, value.dtype.name))


_PLAIN = {"bfloat16": "int16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8",
          "uint16": "int16", "uint32": "int32", "uint64": "int64"}
TORCH = register_facet(TorchFacet())
