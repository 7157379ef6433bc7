"""Facets of host memory: ``array``, the visible elements as a NumPy array without a copy;
``backing``, the whole storage as one of one axis; ``foreign``, C pointers for C code and BLAS;
``cuda_host``, the same with locked pages, so that copies from and to a GPU are fast.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .core.registry import Engine, Facet, Memory, register_facet
from .cpu import engine
from .layout.shapes import Ints
from .layout.strided import Layout
from .memories.file_pages import SpillPages, pages_of
from .memories.host import HOST, page_locking
from .support.c_pointers import ForeignArray
from .support.dtypes import EXTENSIONS
from .support.native import core
from .support.types import Array


def over(handle: Array, layout: Layout) -> Array:
    """Return the elements that `layout` sees of the 1-d array `handle`."""
    start = layout.displacement
    if layout.contiguous:
        return handle[start:start + layout.size].reshape(layout.shape)
    return with_strides(handle[start:], layout.shape,
                        tuple(s * handle.itemsize for s in layout.strides), True)


def with_strides(a: Array, shape: Ints, strides: Ints, writable: bool) -> Array:
    """Return the elements from the first one of `a` on, `strides` bytes apart.

    NumPy finds no name for some dtypes of ml_dtypes, so it is given integers of their size.
    """
    plain = a.view(f"u{a.itemsize}") if a.dtype.char in EXTENSIONS else a
    return np.lib.stride_tricks.as_strided(plain, shape, strides, writeable=writable).view(a.dtype)


def _elements_of(handle: Array, shape: Ints, strides: Ints, start: int, writable: bool) -> Array:
    """Return the elements of the 1-d array `handle`, from `start` on, that a layout sees."""
    return over(protected_view(handle, writable), Layout(shape, strides, start))


elements_of: Callable[[Array, Ints, Ints, int, bool], Array] = (
    _elements_of if core is None else core.elements_of)


class _Keeper:
    """An object that `numpy.asarray` converts to an array over `owner`'s memory and keeps."""

    def __init__(self, owner: object, interface: dict[str, object]) -> None:
        self.owner = owner
        self.__array_interface__ = interface


def _array_kept_by(owner: object, value: Array, writable: bool) -> Array:
    """Return an array like `value` over the same memory; it and all its views keep `owner`."""
    char: str = value.dtype.char
    plain = char not in EXTENSIONS  # the interface has no code for them
    interface = (value if plain else value.view(f"u{value.itemsize}")).__array_interface__
    address, _ = interface["data"]
    made = np.asarray(_Keeper(owner, {**interface, "data": (address, not writable)}))
    return made if plain else made.view(value.dtype)


array_kept_by: Callable[[object, Array, bool], Array] = (
    _array_kept_by if core is None else core.array_kept_by)


# returns a function that returns a view of an array, with attributes that nobody has set
lender_of: Callable[[Array], Callable[[], Array]] = (
    (lambda value: value.view) if core is None else core.ArrayLender)


class ArrayFacet(Facet):
    """The visible elements as an n-d NumPy array."""

    name: str = "array"
    letter: str = "A"
    memory: Memory = HOST
    engine: Engine = np
    quiet: bool = True

    def present(self, view: Any, handle: Array, writable: bool) -> Array:
        layout = view.layout
        return elements_of(handle, layout.shape, layout.strides, layout.displacement, writable)

    def lender(self, value: Array) -> Callable[[], Array]:
        return lender_of(value)


ARRAY = register_facet(ArrayFacet())


class ForeignFacet(Facet):
    """C pointers to host memory; they cannot be read-only, so nothing enforces ``input``."""

    name: str = "foreign"
    letter: str = "F"
    memory: Memory = HOST
    engine: Engine = engine
    presents: type | None = ForeignArray

    def present(self, view: Any, handle: Array, writable: bool) -> ForeignArray:
        return ForeignArray(handle, view.layout)


FOREIGN = register_facet(ForeignFacet())


def protected_view(handle: Array, writable: bool) -> Array:
    """Return a new 1-d array over the memory of `handle`, read-only unless `writable` is True.

    A read-only one stays so: NumPy lets `flags.writeable` be set if what owns the memory can be
    written, and this one's memory belongs to a read-only `memoryview`.
    """
    if writable:
        return handle.view()
    # the types of ml_dtypes are none of the buffer protocol
    plain: Any = handle.view(np.uint8) if handle.dtype.char in EXTENSIONS else handle
    return np.frombuffer(memoryview(plain).toreadonly(), handle.dtype)


class BackingFacet(Facet):
    """The whole storage as a 1-d NumPy array, whose index k is storage index k."""

    name: str = "backing"
    letter: str = "B"
    memory: Memory = HOST
    engine: Engine = np
    quiet: bool = True
    of_storage: bool = True

    def present(self, view: Any, handle: Array, writable: bool) -> Array:
        return protected_view(handle, writable)

    def lender(self, value: Array) -> Callable[[], Array]:
        return lender_of(value)


BACKING = register_facet(BackingFacet())


class CudaHostFacet(Facet):
    """C pointers to page-locked host memory.

    An access raises `DeviceError`, which says why, if there is no CUDA device. Pages that the
    driver does not lock are presented all the same; others remain locked for as long as the
    storage exists.
    """

    name: str = "cuda_host"
    letter: str = "H"
    memory: Memory = HOST
    engine: Engine = engine

    def present(self, view: Any, handle: Array, writable: bool) -> ForeignArray:
        pages = page_locking()
        # what is spilled is to be in memory no longer than the system likes
        if not isinstance(pages_of(handle), SpillPages):
            pages.lock_for(view.storage, handle)
        return ForeignArray(handle, view.layout)


CUDA_HOST = register_facet(CudaHostFacet())
