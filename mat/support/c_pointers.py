"""What C code is given of a Mat: a typed pointer, shape and strides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..layout.strided import Layout
from .blas_library import as_int, ffi
from .dtypes import BY_NAME


class _Types(dict[np.dtype[Any], Any]):
    """C pointer types by dtype; 16-bit floats are their bits."""

    def __missing__(self, dtype: np.dtype[Any]) -> Any:
        self[dtype] = found = ffi.typeof(BY_NAME[dtype.name].c + " *")
        return found


POINTER_TYPES = _Types()


def address_of(handle: np.ndarray[Any, Any]) -> int:
    """Where the elements of a 1-d array begin."""
    # half the time of handle.ctypes.data
    return handle.__array_interface__["data"][0]  # type: ignore[no-any-return]


class ForeignArray:
    """A C view of the visible elements; valid inside its block.

    ``pointer`` is at the first visible element, ``base_pointer`` at the beginning of the storage;
    both are cffi pointers of the element's type. ``shape``, ``strides`` (in elements), ``size`` and
    ``dtype`` are those of the Mat. ``address`` is ``pointer`` as an integer.
    """

    __slots__ = ("address", "base_pointer", "dtype", "handle", "increment", "int_increment",
                 "int_size", "layout", "letter",
                 "low", "pointer", "shape", "size", "strides")

    base_pointer: Any
    pointer: Any
    low: Any  # where BLAS wants a vector to begin; None if it is not one
    increment: int  # of a vector; 0 if it is not one
    int_size: Any
    int_increment: Any

    def __init__(self, handle: np.ndarray[Any, Any], layout: Layout) -> None:
        self.handle = handle  # keeps the memory for as long as the pointers are in somebody's hands
        self.layout = layout
        self.dtype = dtype = handle.dtype
        self.letter = dtype.char
        self.shape, self.strides, self.size = layout.shape, layout.strides, layout.size
        self.address = address_of(handle) + layout.displacement * dtype.itemsize

    def __getattr__(self, name: str) -> Any:
        """What is made when first asked for, and then kept: compiled kernels are content with the
        address.
        """
        make = _MADE.get(name)
        if make is None:
            raise AttributeError(f"a ForeignArray has no {name!r}")
        found = make(self)
        setattr(self, name, found)
        return found

    def __repr__(self) -> str:
        return f"<ForeignArray {self.pointer} shape {self.shape} strides {self.strides} {self.dtype}>"


def _pointer(x: ForeignArray) -> Any:
    return ffi.cast(POINTER_TYPES[x.dtype], x.address)


def _base_pointer(x: ForeignArray) -> Any:
    return x.pointer - x.layout.displacement


def _low(x: ForeignArray) -> Any:
    vector = x.layout.vector
    return None if vector is None else x.base_pointer + vector[0]


_MADE: dict[str, Callable[[ForeignArray], Any]] = {
    "pointer": _pointer, "base_pointer": _base_pointer, "low": _low,
    "increment": lambda x: 0 if x.layout.vector is None else x.layout.vector[1],
    "int_size": lambda x: as_int(x.layout.size), "int_increment": lambda x: as_int(x.increment),
}
