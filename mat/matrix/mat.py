"""`Mat`: a matrix that is stored in any number of memories, as a layout over a storage.

Operations, declared in ``ops/``, compute on Mats and add the methods that ``methods.py`` declares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from types import FunctionType, GenericAlias, MappingProxyType
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NamedTuple,
    Self,
    SupportsIndex,
    TypeVar,
    overload,
)

import numpy as np

from ..core.access_record import AccessRecord
from ..core.direction import Direction
from ..core.registry import Facet, Memory, all_facets, memories, memory_named
from ..core.source_line import file_and_line, thread_name
from ..devices.device import Device, device_of
from ..devices.emulated_array import EmulatedArray
from ..errors import DTypeError, ShapeError
from ..layout.orders import columnwise, in_order
from ..layout.shapes import LARGEST, Ints, as_shape, integer
from ..layout.strided import Layout, packed
from ..support.c_pointers import ForeignArray
from ..support.close_names import OF_ARRAYS, name_ways
from ..support.dtypes import as_dtype, check_number
from ..support.options import current
from ..support.types import (
    Array,
    ArrayLike,
    CudaName,
    DeviceArray,
    DirectionName,
    DType,
    DTypeLike,
    Element,
    EmulatedName,
    Entry,
    IndexLike,
    MemoryName,
    Number,
    Presents,
    Scalar,
    ShapeLike,
)
from .base import MatBase, form_of_result, make_mats_of
from .items import Items
from .methods import Methods
from .printing import Printing
from .storage import Storage

P = TypeVar("P")
# what implementations of facets and operations use of a Mat, and what other libraries have
_NOT_SHOWN = {"allowed", "form", "known_form", "layout", "over", "presented", "storage", *OF_ARRAYS}


class FacetState(NamedTuple):
    """The state of one facet of a Mat.

    Attributes
    ----------
    name : str
        The name of the facet.
    memory : str
        The name of the memory that it accesses.
    fresh : bool
        True if that memory has the current data.
    nbytes : int
        The bytes of the storage.
    watchers : tuple
        For each block that accesses the Mat through the facet: thread, direction, file and line.
    """

    name: str
    memory: str
    fresh: bool
    nbytes: int
    watchers: tuple[tuple[str, str, str, int], ...]


class Mat(Items, Printing, Methods):
    """A matrix of any rank that can be stored in several memories at once.

    No memory is allocated before the first access.

    Parameters
    ----------
    shape : int or sequence of int
        The lengths of the axes.
    dtype : dtype, str or type, optional
        The element type; by default ``mat.settings.dtype``, or that of `displaced_to`.
    buffer : buffer, optional
        What has the elements, such as an array or a `bytearray`; it is shared, not copied.
    offset : int
        The number of bytes in `buffer` before the first element.
    strides : sequence of int, optional
        The step along each axis, in bytes as in NumPy; by default, elements are without gaps.
    order : {"C", "F"}
        Whether the elements are stored by rows or by columns, where there are no strides.
    fill : number or None
        The value of elements that were never written; None leaves them arbitrary.
    displacement : int
        The number of elements of the storage before the first visible one.
    max_size : int, optional
        The number of elements of the whole storage; by default, as many as are needed.
    displaced_to : Mat, optional
        A Mat whose storage is shared; `displacement` is relative to its own.

    Raises
    ------
    ShapeError
        If lengths or displacements are negative or do not fit the storage.
    DTypeError
        If `dtype` differs from that of `displaced_to`.

    Examples
    --------
    >>> import mat
    >>> mat.Mat((2, 3), fill=1)
    <Mat 2x3 - [[1. 1. 1.] [1. 1. 1.]]>
    """

    __slots__ = ()
    # for classes that read only this; an ndarray on the left calls __array_ufunc__
    __array_priority__: float = 1000.0

    # NumPy's parameters, and more
    def __init__(self, shape: ShapeLike, dtype: DTypeLike = None, buffer: Any = None,
                 offset: int = 0, strides: Sequence[int] | None = None, order: str | None = None,
                 *, fill: Scalar | None = 0, displacement: int = 0, max_size: int | None = None,
                 displaced_to: Mat | None = None) -> None:
        lengths = as_shape(shape)
        if buffer is not None or strides is not None:
            kind = current().dtype if dtype is None else as_dtype(dtype)
            made = self._over_buffer(lengths, kind, (buffer, offset, strides, order))
            self._fill_in(made.storage, made.layout, current().device_enabled)
            self._be_typed(made)
            return
        start = integer(displacement, "a displacement")
        if displaced_to is None:
            kind = current().dtype if dtype is None else as_dtype(dtype)
            layout, storage = _new_storage(lengths, start, max_size, kind, fill)
        else:
            layout, storage = _shared_storage(lengths, start, dtype, displaced_to)
        if order is not None and order != "C":
            strides_of_order = in_order(lengths, columnwise(order)).strides
            layout = Layout(lengths, strides_of_order, layout.displacement)
        self._fill_in(storage, layout, current().device_enabled)
        if displaced_to is not None:
            self._be_typed(displaced_to)
        self.is_view: bool = displaced_to is not None

    @property
    def facets(self) -> Mapping[str, FacetState]:
        """The state of each facet that the storage was accessed through, by its name.

        Facets whose memory was freed are not among them.
        """
        storage = self.storage
        with storage.lock:
            storage.end_abandoned()
            found = {f.name: FacetState(f.name, f.memory.name, storage.is_fresh(f.memory, self),
                                        storage.nbytes,
                                        tuple(_watcher(record) for record in tuple(storage.accesses)
                                              if record.facet is f))
                     for f in all_facets() if storage.seen & f.bit}
        return MappingProxyType(found)

    @property
    def fresh(self) -> set[str]:
        """The names of the memories that have the current data, of the elements that self sees."""
        storage = self.storage
        return {m.name for m in memories.values() if storage.is_fresh(m, self)}

    @property
    def device(self) -> Device:
        """The device for an operation on self at this point; equal to its name."""
        return device_of(self)

    def drop(self, name: MemoryName | Memory | Facet, *, force: bool = False) -> bool:
        """Free the copy in one memory.

        Of copies of parts those are freed that have elements of self.

        Parameters
        ----------
        name : str, Memory or Facet
            The name of the memory, or the object that was registered.
        force : bool
            Free the copy even if it is the only one; its data is lost.

        Returns
        -------
        bool
            True if there was a copy.

        Raises
        ------
        ConflictError
            If the copy is the only one and `force` is not set, is being accessed or kept, or is the
            user's own array.
        """
        return self.storage.drop(memory_named(name), force, view=self)

    def close(self) -> None:
        """Free all copies now: the data is lost, and later reads see the fill value."""
        self.storage.drop_all()

    def keep(self, name: MemoryName | Memory | Facet) -> AbstractContextManager[None]:
        """Keep the copy in one memory during a block: ``with x.keep("cuda"):``.

        Parameters
        ----------
        name : str, Memory or Facet
            The name of the memory, or the object that was registered.

        Returns
        -------
        context manager
            Inside its block the copy exists and cannot be dropped. Of a view, it may be a copy of
            the part that it sees.
        """
        return self.storage.keep(memory_named(name), self)

    def accept_torn(self) -> Self:
        """Accept the half-written contents of a failed block as the data.

        Returns
        -------
        Mat
            `self`.
        """
        self.storage.accept_torn()
        return self

    # Shaping that changes the storage

    def adjust_(self, shape: ShapeLike, displacement: int = 0) -> Self:
        """Make self see another shape, in a new and larger storage if the old one is too small.

        The contents of the old storage are not copied to a new one; other views of it stay valid.
        At the end of a `window` block self sees the old storage again.

        Parameters
        ----------
        shape : int or sequence of int
            The lengths of the axes.
        displacement : int
            The number of elements of the storage before the first visible one.

        Returns
        -------
        Mat
            `self`.

        Raises
        ------
        ConflictError
            If the storage is being accessed.
        """
        lengths, start = as_shape(shape), integer(displacement, "a displacement")
        now = self._as_now()
        needed = packed(lengths).size + start
        if start < 0 or needed <= now._room():
            return self._see(now._packed_at(lengths, start), now.storage, now)
        check_bytes(needed, now.dtype)
        return self._see(packed(lengths, start), Storage(needed, now.dtype, now.fill_value), now)

    # pandas leaves operators to the operand of higher priority; its tables have 4000
    __pandas_priority__ = 5000

    def __hash__(self) -> int:
        """Return the hash of the number, if there are no axes; other Mats have none, since ``==``
        compares elements.
        """
        if self.shape:
            raise DTypeError(f"unhashable type: 'Mat' ({self.label()} has axes, and its elements "
                             "can change); id(x), or x.tobytes(), can be a key")
        return hash(self.item())

    @classmethod
    def __class_getitem__(cls, parameters: object) -> GenericAlias:
        """Return the class with parameters, for annotations such as ``ndarray[shape, dtype]``."""
        return GenericAlias(cls, parameters)

    def __dir__(self) -> list[str]:
        """Return the public names, shown by ``x.<TAB>``."""
        return [name for name in super().__dir__() if name not in _NOT_SHOWN
                and (not name.startswith("_") or name.endswith("__"))]

    # What is inherited, with types that say more

    if TYPE_CHECKING:

        @overload
        def facet(self, name: Literal["array", "backing"],
                  direction: DirectionName | Direction = ...,
                  ) -> AbstractContextManager[Array]: ...
        @overload
        def facet(self, name: Literal["foreign", "cuda_host"],
                  direction: DirectionName | Direction = ...,
                  ) -> AbstractContextManager[ForeignArray]: ...
        @overload
        def facet(self, name: EmulatedName, direction: DirectionName | Direction = ...,
                  ) -> AbstractContextManager[EmulatedArray]: ...
        @overload
        def facet(self, name: CudaName, direction: DirectionName | Direction = ...,
                  ) -> AbstractContextManager[DeviceArray]: ...
        @overload
        def facet(self, name: Literal["torch", "cupy", "jax"],
                  direction: DirectionName | Direction = ...) -> AbstractContextManager[Any]: ...
        @overload
        def facet(self, name: Presents[P], direction: DirectionName | Direction = ...,
                  ) -> AbstractContextManager[P]: ...
        def facet(self, name: Any, direction: DirectionName | Direction = ...) -> Any: ...
        # a row of a vector is a number, too; but most of what has rows has more than one axis
        @overload
        def __getitem__(  # type: ignore[overload-overlap]  # no type is tuples of other things
            self, index: tuple[int | np.integer[Any], ...]) -> Entry: ...
        @overload
        def __getitem__(self, index: IndexLike) -> Self: ...
        def __getitem__(self, index: Any) -> Any: ...
        def __setitem__(self, index: IndexLike, value: ArrayLike) -> None: ...
        def item(self, *index: SupportsIndex | tuple[SupportsIndex, ...]) -> Element: ...


def _describe(name: str, text: str) -> None:
    """Give an attribute, possibly a compiled one, a docstring."""
    field = vars(MatBase)[name]
    type.__setattr__(Mat, name, property(field.__get__, field.__set__, None, text))


_describe("is_view", "True if self was made as a view of another Mat's storage.")
_describe("device_enabled", "True if operations on this Mat may compute on the device in use; can "
                            "be set.")


def _new_storage(shape: Ints, displacement: int, max_size: int | None, dtype: DType,
                 fill: Number) -> tuple[Layout, Storage]:
    if displacement < 0:
        raise ShapeError(f"a displacement is not negative, got {displacement}")
    layout = packed(shape, displacement)
    needed = displacement + layout.size
    size = needed if max_size is None else integer(max_size, "max_size")
    if size < needed:
        raise ShapeError(f"max_size {size} is too small for shape {shape} at displacement "
                         f"{displacement}: that takes {needed} elements")
    check_bytes(size, dtype)
    if fill is not None:
        check_number(fill, dtype, "fill")
    return layout, Storage(size, dtype, fill)


def check_bytes(size: int, dtype: DType) -> None:
    """Raise `ShapeError` if 64 bits cannot count the bytes of `size` elements."""
    if size * dtype.itemsize > LARGEST:
        raise ShapeError(f"{size} elements of {dtype} are more bytes than 64 bits can count")


def _shared_storage(shape: Ints, displacement: int, dtype: DTypeLike,
                    other: Mat) -> tuple[Layout, Storage]:
    if not isinstance(other, Mat):
        raise DTypeError(f"displaced_to must be a Mat, got {type(other).__name__}")
    if dtype is not None and as_dtype(dtype) != other.dtype:
        raise DTypeError(f"dtype {as_dtype(dtype)} differs from that of displaced_to, "
                         f"{other.dtype}")
    start = other.displacement + displacement
    if start < 0:
        raise ShapeError(f"displacement {displacement} from a Mat at {other.displacement} is "
                         "before the storage")
    return packed(shape, start).check_within(other._room()), other.storage


def _watcher(record: AccessRecord) -> tuple[str, str, str, int]:
    return (thread_name(record.thread), record.direction.value,
            *file_and_line(record.where))


def new_like(layout_of: Mat, shape: Ints, dtype: DType) -> Mat:
    """Return an uninitialised Mat for a result of an operation on `layout_of`."""
    return form_of_result(shape, dtype).new(layout_of.device_enabled, None)


def _name_methods() -> None:
    """Call the methods that Mat inherits its own, as messages about their arguments show them."""
    for base in Mat.__mro__:
        for name, method in vars(base).items():
            if isinstance(method, FunctionType):
                method.__module__, method.__qualname__ = "mat", f"Mat.{name}"


_name_methods()
name_ways(Mat)
make_mats_of(Mat)
