"""`ForeignArray`: the elements of a Mat for C code, as a typed pointer, shape and strides."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..layout.shapes import Ints
from ..layout.strided import Layout
from .dtypes import BY_NAME
from .native import core, ffi
from .types import Array, CData, DType


class _Types(dict[DType, CData]):
    """C pointer types by dtype; 16-bit floats are unsigned integers."""

    def __missing__(self, dtype: DType) -> CData:
        self[dtype] = found = ffi.typeof(BY_NAME[dtype.name].c + " *")
        return found


POINTER_TYPES = _Types()


# returns the address of the first element of a 1-d array, in half the time of handle.ctypes.data
address_of: Callable[[Array], int] = (
    (lambda handle: handle.__array_interface__["data"][0]) if core is None else core.address_of)


class ForeignArray:
    """A C view of the visible elements; valid inside its block.

    ``pointer`` is at the first visible element, ``base_pointer`` at the beginning of the storage;
    both are cffi pointers of the element's type. ``shape``, ``strides`` (in elements), ``size`` and
    ``dtype`` are those of the Mat. ``address`` is ``pointer`` as an integer.
    """

    __slots__ = ("address", "base_pointer", "dtype", "handle", "layout", "letter", "pointer",
                 "shape", "size", "strides")

    address: int
    base_pointer: CData
    pointer: CData

    def __init__(self, handle: Array, layout: Layout, first: int | None = None) -> None:
        if first is None:  # the address of the first element of `handle`
            first = address_of(handle)
        self.handle: Array = handle  # keeps the memory alive
        self.layout: Layout = layout
        self.dtype: DType = handle.dtype
        self.letter = self.dtype.char
        self.shape: Ints = layout.shape
        self.strides: Ints = layout.strides
        self.size: int = layout.size
        self.address = first + layout.displacement * self.dtype.itemsize

    if not TYPE_CHECKING:  # so that checkers know that there are no others

        def __getattr__(self, name: str) -> CData:
            """Compute an attribute at its first use: compiled kernels need the address only."""
            compute = _COMPUTED.get(name)
            if compute is None:
                raise AttributeError(f"a ForeignArray has no {name!r}")
            found = compute(self)
            setattr(self, name, found)
            return found

    def __repr__(self) -> str:
        return (f"<ForeignArray {self.pointer} shape {self.shape} strides {self.strides} "
                f"{self.dtype}>")


_COMPUTED: dict[str, Callable[[ForeignArray], CData]] = {
    "pointer": lambda x: ffi.cast(POINTER_TYPES[x.dtype], x.address),
    "base_pointer": lambda x: x.pointer - x.layout.displacement,
}
