"""Names for the types that signatures use most: arrays, element types, operands and others.

Public signatures use the precise ones, at the top; what is `Any` is only passed on inside `mat`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from types import EllipsisType
from typing import (
    IO,
    TYPE_CHECKING,
    Any,
    Literal,
    Protocol,
    SupportsIndex,
    TypeAlias,
    TypeVar,
)

import numpy as np

M = TypeVar("M")  # a Mat
P_co = TypeVar("P_co", covariant=True)


class ArrayObject(Protocol):
    """An array of any library: a Mat, an `ndarray`, a NumPy scalar, ..."""

    @property
    def shape(self) -> Any: ...
    @property
    def dtype(self) -> Any: ...


class SupportsBuffer(Protocol):
    """An object whose memory others can use, such as a memoryview or an array of ctypes."""

    def __buffer__(self, flags: int, /) -> memoryview: ...


class DeviceArray(Protocol):
    """The value of a GPU facet: the visible elements in its memory."""

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
        """Return the value for a block."""


Array: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[Any]]
DType: TypeAlias = np.dtype[Any]
Bytes: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]
# a dtype, its name, or a scalar type: `as_dtype` decides
DTypeLike: TypeAlias = np.dtype[Any] | type[Any] | str | None
ShapeLike: TypeAlias = "SupportsIndex | Sequence[SupportsIndex]"
AxisLike: TypeAlias = int | tuple[int, ...] | None
Scalar: TypeAlias = complex | np.number[Any] | np.bool  # a number that an element type can hold
# of a Mat, as a Python number. Checkers take a bool and an int for a float as well; what is to be
# an index goes through `int`, and a complex number through `complex`. A union of the four could not
# be passed to anything, and `int`, which could, would be wrong for nearly all Mats.
Element: TypeAlias = float
Leaf: TypeAlias = "Scalar | ArrayObject"
# nested sequences to some depth: a string would be a sequence of sequences without end
ArrayLike: TypeAlias = ("Leaf | Sequence[Leaf] | Sequence[Sequence[Leaf]]"
                        " | Sequence[Sequence[Sequence[Leaf]]]"
                        " | Sequence[Sequence[Sequence[Sequence[Leaf]]]]")
ArraySource: TypeAlias = "ArrayLike | SupportsBuffer"
AxisIndex: TypeAlias = "SupportsIndex | slice | EllipsisType | ArrayObject | Sequence[int] | None"
IndexLike: TypeAlias = "AxisIndex | tuple[AxisIndex, ...]"  # what may stand in brackets

# Names of what is built in; what others register is given as the object that was registered
DirectionName: TypeAlias = "Literal['input', 'output', 'io']"
CudaName: TypeAlias = ("Literal['cuda', 'cuda:0', 'cuda:1', 'cuda:2', 'cuda:3', 'cuda:4', "
                       "'cuda:5', 'cuda:6', 'cuda:7']")
EmulatedName: TypeAlias = ("Literal['emulated', 'emulated:0', 'emulated:1', 'emulated:2', "
                           "'emulated:3']")
FacetName: TypeAlias = ("Literal['array', 'backing', 'foreign', 'cuda_host', 'torch', 'cupy', "
                        "'jax'] | EmulatedName | CudaName")
MemoryName: TypeAlias = "Literal['host'] | EmulatedName | CudaName"
DeviceName: TypeAlias = "Literal['cpu'] | EmulatedName | CudaName"

# Inside of mat
Index: TypeAlias = Any  # what may stand in brackets
Number: TypeAlias = Any  # a Python number or a NumPy scalar that an element type can hold
Operand: TypeAlias = Any  # a Mat, an array or a number
Nested: TypeAlias = Any  # nested sequences with numbers, arrays or Mats as leaves
File: TypeAlias = "str | os.PathLike[str] | IO[bytes]"
Capsule: TypeAlias = object  # a PyCapsule, for which `types` has a class from Python 3.13 on
CData: TypeAlias = Any  # an object of cffi, which has no types of its own
Engine: TypeAlias = Any  # the module or namespace that an implementation computes with
Presented: TypeAlias = Any  # what a facet presents of an operand: an array, a pointer, ...
Function: TypeAlias = Callable[..., Any]
Keyword: TypeAlias = Any  # the value of a keyword argument that is passed on
Keywords: TypeAlias = dict[str, Any]
Arguments: TypeAlias = tuple[Any, ...]

if TYPE_CHECKING:

    class Entry:
        """The common interface of a NumPy number and a Mat.

        ``x[i, j]`` is a number if x has two axes, and a view if it has more. Checkers do not know
        how many axes there are, so that they accept what both can do. Where that is too little,
        ``x.item(i, j)`` is a Python number, and ``x[i, j, ...]`` always a Mat.
        """

        @property
        def shape(self) -> tuple[int, ...]: ...
        @property
        def ndim(self) -> int: ...
        @property
        def size(self) -> int: ...
        @property
        def dtype(self) -> DType: ...
        @property
        def itemsize(self) -> int: ...
        @property
        def nbytes(self) -> int: ...
        @property
        def real(self) -> Entry: ...
        @property
        def imag(self) -> Entry: ...

        def item(self) -> Element: ...
        def astype(self, dtype: DTypeLike) -> Entry: ...
        def copy(self) -> Entry: ...
        def conj(self) -> Entry: ...
        def round(self, decimals: int = 0) -> Entry: ...
        def all(self, axis: AxisLike = None) -> Entry: ...
        def any(self, axis: AxisLike = None) -> Entry: ...
        def max(self, axis: AxisLike = None) -> Entry: ...
        def mean(self, axis: AxisLike = None) -> Entry: ...
        def min(self, axis: AxisLike = None) -> Entry: ...
        def sum(self, axis: AxisLike = None) -> Entry: ...

        def __bool__(self) -> bool: ...
        def __float__(self) -> float: ...
        def __index__(self) -> int: ...
        def __int__(self) -> int: ...

        def __abs__(self) -> Entry: ...
        def __neg__(self) -> Entry: ...
        def __pos__(self) -> Entry: ...
        # with a Mat on the other side they are its own, which give a Mat
        def __add__(self, other: Scalar | Array | Entry) -> Entry: ...
        def __radd__(self, other: Scalar | Array) -> Entry: ...
        def __sub__(self, other: Scalar | Array | Entry) -> Entry: ...
        def __rsub__(self, other: Scalar | Array) -> Entry: ...
        def __mul__(self, other: Scalar | Array | Entry) -> Entry: ...
        def __rmul__(self, other: Scalar | Array) -> Entry: ...
        def __truediv__(self, other: Scalar | Array | Entry) -> Entry: ...
        def __rtruediv__(self, other: Scalar | Array) -> Entry: ...
        def __floordiv__(self, other: Scalar | Array | Entry) -> Entry: ...
        def __rfloordiv__(self, other: Scalar | Array) -> Entry: ...
        def __mod__(self, other: Scalar | Array | Entry) -> Entry: ...
        def __rmod__(self, other: Scalar | Array) -> Entry: ...
        def __pow__(self, other: Scalar | Array | Entry) -> Entry: ...
        def __rpow__(self, other: Scalar | Array) -> Entry: ...
        def __eq__(self, other: object) -> Entry: ...  # type: ignore[override]
        def __ne__(self, other: object) -> Entry: ...  # type: ignore[override]
        def __lt__(self, other: Scalar | Array | Entry) -> Entry: ...
        def __le__(self, other: Scalar | Array | Entry) -> Entry: ...
        def __gt__(self, other: Scalar | Array | Entry) -> Entry: ...
        def __ge__(self, other: Scalar | Array | Entry) -> Entry: ...

else:  # there is nothing of this type when a program runs
    Entry = object
