"""``jax``: the elements as an array of JAX, without a copy, for reading."""

from __future__ import annotations

from ..errors import DTypeError, ExchangeError, ShapeError
from ..extend import LibraryFacet, register_facet
from ..support.dtypes import EXTENSIONS
from ..support.types import Operand, Presented


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


JAX = register_facet(JaxFacet())
