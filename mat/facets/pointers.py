"""What C code is given of a Mat: a typed pointer, shape and strides."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..cpu import blas
from ..layout import Layout

_SPECIAL = {"float16": "uint16_t", "bfloat16": "uint16_t", "float32": "float", "float64": "double", "bool": "_Bool",
            "complex64": "float _Complex", "complex128": "double _Complex"}


def pointer_type(dtype: np.dtype[Any]) -> str:
    """The C type of a pointer to elements of `dtype`; 16-bit floats are their bits."""
    return _SPECIAL.get(dtype.name, f"{dtype.name}_t") + " *"


class ForeignArray:
    """A C view of the visible elements; valid inside its block.

    ``pointer`` is at the first visible element, ``base_pointer`` at the beginning of the storage; both are cffi pointers
    of the element's type. ``shape``, ``strides`` (in elements), ``size`` and ``dtype`` are those of the Mat.
    """

    __slots__ = ("address", "base_pointer", "dtype", "handle", "increment", "int_increment", "int_size", "layout", "letter",
                 "low", "pointer", "shape", "size", "strides")

    def __init__(self, handle: np.ndarray[Any, Any], layout: Layout) -> None:
        self.handle = handle  # keeps the memory for as long as the pointers are in somebody's hands
        self.layout = layout
        self.dtype = handle.dtype
        self.letter = handle.dtype.char
        self.shape, self.strides, self.size = layout.shape, layout.strides, layout.size
        self.base_pointer: Any = blas.ffi.cast(pointer_type(handle.dtype), handle.ctypes.data)
        self.pointer: Any = self.base_pointer + layout.displacement
        self.address = int(blas.ffi.cast("uintptr_t", self.pointer))
        vector = layout.vector
        # where BLAS wants a vector to begin, and its increment; (None, 0) if it is not one
        self.low: Any = None if vector is None else self.base_pointer + vector[0]
        self.increment = 0 if vector is None else vector[1]
        self.int_size, self.int_increment = blas.as_int(layout.size), blas.as_int(self.increment)

    def __repr__(self) -> str:
        return f"<ForeignArray {self.pointer} shape {self.shape} strides {self.strides} {self.dtype}>"
