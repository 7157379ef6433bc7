"""Names for the types that signatures use most: arrays, element types, operands and others.

Public signatures use the precise ones, at the top; what is `Any` is only passed on inside `mat`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from types import EllipsisType
from typing import IO, Any, Literal, Protocol, SupportsIndex, TypeAlias, TypeVar

import numpy as np

P_co = TypeVar("P_co", covariant=True)


class ArrayObject(Protocol):
    """An array of any library: a Mat, an `ndarray`, a NumPy scalar, ..."""

    @property
    def shape(self) -> Any: ...
    @property
    def dtype(self) -> Any: ...


class DeviceArray(Protocol):
    """What the facet of a GPU presents: the visible elements in its memory."""

    @property
    def address(self) -> int: ...
    @property
    def pointer(self) -> int: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def size(self) -> int: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    def __dlpack__(self, *, stream: int | None = None) -> object: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...


class Presents(Protocol[P_co]):
    """A facet, as `register_facet` returns it."""

    letter: str

    def present(self, view: Any, handle: Any, writable: bool) -> P_co:
        """Return what a block is given."""


Array: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[Any]]
DType: TypeAlias = np.dtype[Any]
Bytes: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]
# a dtype, its name, or a scalar type: `as_dtype` decides
DTypeLike: TypeAlias = np.dtype[Any] | type[Any] | str | None
ShapeLike: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
AxisLike: TypeAlias = int | tuple[int, ...] | None
Scalar: TypeAlias = complex | np.number[Any] | np.bool  # a number that an element type can hold
Element: TypeAlias = float  # of a Mat, as a Python number; of some a bool, an int or a complex
Leaf: TypeAlias = Scalar | ArrayObject
# nested sequences to some depth: a string would be a sequence of sequences without end
ArrayLike: TypeAlias = (Leaf | Sequence[Leaf] | Sequence[Sequence[Leaf]]
                        | Sequence[Sequence[Sequence[Leaf]]]
                        | Sequence[Sequence[Sequence[Sequence[Leaf]]]])
AxisIndex: TypeAlias = (SupportsIndex | slice | EllipsisType | ArrayObject
                        | Sequence[int] | None)
IndexLike: TypeAlias = AxisIndex | tuple[AxisIndex, ...]  # what may stand in brackets

# Names of what is built in; what others register is given as the object that was registered
DirectionName: TypeAlias = Literal["input", "output", "io"]
CudaName: TypeAlias = Literal["cuda", "cuda:0", "cuda:1", "cuda:2", "cuda:3", "cuda:4", "cuda:5",
                              "cuda:6", "cuda:7"]
EmulatedName: TypeAlias = Literal["emulated", "emulated:0", "emulated:1", "emulated:2",
                                  "emulated:3"]
FacetName: TypeAlias = (Literal["array", "backing", "foreign", "cuda_host"] | EmulatedName
                        | CudaName)
MemoryName: TypeAlias = Literal["host"] | EmulatedName | CudaName
DeviceName: TypeAlias = Literal["cpu"] | EmulatedName | CudaName

# Inside of mat
Index: TypeAlias = Any  # what may stand in brackets
Number: TypeAlias = Any  # a Python number or a NumPy scalar that an element type can hold
Operand: TypeAlias = Any  # a Mat, an array or a number
Nested: TypeAlias = Any  # nested sequences with numbers, arrays or Mats as leaves
File: TypeAlias = str | os.PathLike[str] | IO[bytes]
Capsule: TypeAlias = object  # a PyCapsule, for which `types` has a class from Python 3.13 on
CData: TypeAlias = Any  # an object of cffi, which has no types of its own
Engine: TypeAlias = Any  # the module or namespace that an implementation computes with
Presented: TypeAlias = Any  # what a facet presents of an operand: an array, a pointer, ...
Function: TypeAlias = Callable[..., Any]
Keyword: TypeAlias = Any  # the value of a keyword argument that is passed on
Keywords: TypeAlias = dict[str, Any]
Arguments: TypeAlias = tuple[Any, ...]
