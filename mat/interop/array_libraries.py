"""The facets ``torch``, ``cupy`` and ``jax``: the elements as an array of that library, without a
copy. The libraries are imported by the first block.
"""

from __future__ import annotations

import numpy as np

from ..errors import DTypeError, ExchangeError, ShapeError
from ..extend import LibraryFacet, register_facet
from ..support.dtypes import EXTENSIONS
from ..support.types import Operand, Presented

# types that NumPy has not itself, and that older versions of torch do not take from it
_PLAIN = {"bfloat16": "int16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8",
          "uint16": "int16", "uint32": "int32", "uint64": "int64"}


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
        plain = library.from_numpy(value.view(_PLAIN.get(value.dtype.name, value.dtype.name)))
        return plain.view(getattr(library, value.dtype.name))


class CupyFacet(LibraryFacet):
    """Arrays of CuPy on the GPU in use; they cannot be read-only, so nothing enforces ``input``."""

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


class JaxFacet(LibraryFacet):
    """Arrays of JAX, constants to it: its computations have to end in the block."""

    name: str = "jax"
    letter: str = "J"
    library: str = "jax"
    immutable: bool = True

    def check(self, library: Operand, view: Operand) -> None:
        low, high = view.layout.bounds
        if view.size and (high - low != view.size or min(view.strides, default=0) < 0):
            raise ShapeError(f"arrays of JAX have no gaps, and {view.label()} has strides "
                             f"{view.element_strides}; x.contiguous() is a copy without gaps")
        wanted = library.dtypes.canonicalize_dtype(view.dtype)
        if view.dtype.char in EXTENSIONS or wanted != view.dtype:
            raise DTypeError(f"JAX has no array of {view.dtype} over this memory; it has 64 bits "
                             "after jax.config.update('jax_enable_x64', True), and x.astype(...) "
                             "is a copy of another dtype")

    def array_of(self, library: Operand, value: Presented) -> Presented:
        try:
            return library.numpy.from_dlpack(value, copy=False)
        except ValueError as error:
            raise ExchangeError("JAX shares memory that is aligned to 64 bytes only: x.copy() is, "
                                f"from a kilobyte on; jax.numpy.array(x) copies ({error})"
                                ) from None


for _kind in (TorchFacet, CupyFacet, JaxFacet):
    register_facet(_kind())
