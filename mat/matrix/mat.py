"""`Mat`: a matrix that is stored in any number of memories, as a layout over a storage.

Operations, declared in ``ops/``, compute on Mats and add the methods that ``methods.py`` declares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import product
from types import FunctionType, GenericAlias, MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeVar, overload

import numpy as np

from ..core.compiled import THREADS
from ..core.direction import INPUT, Direction
from ..core.observers import ELEMENT, OBSERVERS, SIZE, TRANSFERS
from ..core.registry import Facet, Memory, all_facets, host, memories, memory_named
from ..core.source_line import file_and_line, thread_name
from ..devices.device import Device, device_of
from ..devices.emulated_array import EmulatedArray
from ..errors import DeviceError, DiskError, DTypeError, IndexOutOfRange, IntegerError, ShapeError
from ..facets import ARRAY, over
from ..layout.orders import columnwise, in_order
from ..layout.shapes import LARGEST, Ints, as_shape, integer
from ..layout.strided import Layout, packed, position
from ..memories.host import HOST
from ..support import formatting
from ..support.c_pointers import ForeignArray
from ..support.close_names import OF_ARRAYS, name_ways
from ..support.dtypes import as_dtype, as_element
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
from .elements import Elements, RowIterator
from .exports import Exports
from .foreign_storage import announce
from .methods import Methods
from .storage import Storage

P = TypeVar("P")
# what implementations of facets and operations use of a Mat, and what other libraries have
_NOT_SHOWN = {"allowed", "form", "known_form", "layout", "over", "presented", "read_only",
              "storage", *OF_ARRAYS}


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


class Mat(Exports, Methods):
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
                                        tuple((thread_name(record.thread), record.direction.value,
                                               *file_and_line(record.where))
                                              for record in tuple(storage.accesses)
                                              if record.facet is f))
                     for f in all_facets() if storage.seen & f.bit}
        return MappingProxyType(found)

    @property
    def fresh(self) -> set[str]:
        """The names of the memories that have the current data, of the elements that self sees."""
        storage = self.storage
        if storage.is_pending:
            return set()
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

    def changed(self) -> Self:
        """Announce that somebody has written the host's memory of self, past `mat`.

        From now on that memory has the elements that self sees, and other memories have none of
        them until they are copied there again.

        Returns
        -------
        Mat
            Self.

        Raises
        ------
        ConflictError
            While self is accessed, and if there is no such memory.

        Notes
        -----
        Of memory that `from_numpy`, `from_dlpack` or `asarray` was given, this is needed only after
        ``exclusive=True``, for writes that torch does not count, or to give up what a device has
        changed meanwhile. For data on a GPU that belongs to another library, its memory is that of
        the GPU.

        Examples
        --------
        >>> import numpy, mat
        >>> a = numpy.zeros(2)
        >>> x = mat.from_numpy(a, exclusive=True)
        >>> with mat.use_device("emulated"):
        ...     for k in range(3):
        ...         a[:] = k
        ...         print((x.changed() + 1).tolist())
        [1.0, 1.0]
        [2.0, 2.0]
        [3.0, 3.0]
        """
        announce(self.storage, self)
        return self

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
        """Return the hash of the number, without axes; other Mats compare elements by ``==``."""
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

    # Elements as numbers, and iteration

    def _item_any(self, given: tuple[Any, ...]) -> Element:
        if len(given) == 1 and isinstance(given[0], tuple):
            given = given[0]
        for k in given:
            if isinstance(k, bool):
                raise IntegerError(f"an index must be an integer, got {k}")
        if len(given) == 1:
            k = integer(given[0], "an index")
        elif given:
            k = self.ravel_index(*(integer(k, "an index") for k in given))
        elif self.layout.size == 1:
            k = 0
        else:
            raise ShapeError(f"item() requires one element, {self.label()} has {self.size}; "
                             "item(k) takes the k-th")
        if not -self.size <= k < self.size:
            raise IndexOutOfRange(f"index {k} is out of range for {self.size} elements")
        at, storage = self.layout.index_at(k % self.layout.size), self.storage
        found = self._number_at(at)
        if found is not None:
            return found
        if storage.size == 1 and self.element_type is storage.dtype and not OBSERVERS:
            return self._single()
        with self._waits(ELEMENT):
            return self._item_at(at)

    def _size_at(self, k: int) -> int:
        """Return element `k` of a vector of integers that determines the size of a result."""
        at = self.layout.displacement + k + (self.layout.size if k < 0 else 0)
        if not (OBSERVERS or TRANSFERS) and self.layout.contiguous:
            return int(self._item_at(at))
        with self._waits(SIZE):
            return int(self.item(k))

    def _item_at(self, at: int) -> Number:
        """Return the element of the storage at that index."""
        if self.storage.is_elsewhere and self.element_type is self.storage.dtype:
            found = self.storage.peek_element(at)
            if found is not None:
                return found.item()
        with self.over(packed((), at)).facet("array", "input") as a:
            return a.item()

    def _single(self) -> Number:
        """Return the element of a storage of one, copied to the host if need be."""
        record = self.storage.open_unpresented(self, ARRAY, INPUT, THREADS.line())
        try:
            found: Number = self.storage.handles[HOST].item()
        finally:
            self.storage.close(record, False)
        return found

    def ravel_index(self, *index: int) -> int:
        """Return the row-major index of an element.

        Parameters
        ----------
        *index : int
            One index for each axis; each is checked against the length of its axis.

        Returns
        -------
        int
            The index into the elements in row-major order.

        Raises
        ------
        IndexOutOfRange
            If an index is out of range.
        ShapeError
            If the number of indices is not that of the axes.
        """
        if len(index) != self.ndim:
            raise ShapeError(f"{self.ndim} indices wanted for shape {self.shape}, got {index}")
        steps = packed(self.shape).strides
        return sum(position(i, k, self.shape[k]) * steps[k] for k, i in enumerate(index))

    def __iter__(self) -> Iterator[Self]:
        if self.ndim == 1 and self.storage.is_elsewhere:  # copies all at once, not one by one
            with self._waits("iteration"), self.facet("array", "input"):
                pass
        own = type(self).__getitem__ is Elements.__getitem__  # not that of a derived class
        return RowIterator(self, len(self)) if own else map(self.__getitem__, range(len(self)))

    # Its text: nothing is accessed, copied between memories or marked

    def label(self) -> str:
        """Return a short name for messages, such as ``<Mat 2x3 int64>``.

        Returns
        -------
        str
            The visible extent within the storage, and the dtype unless it is the default.
        """
        if self._is_closed():
            return f"<{type(self).__name__} that is not initialised>"
        dtype = self.element_type
        suffix = "" if dtype == current().dtype else f" {dtype}"
        return f"<Mat {formatting.extent(self.layout, self._room())}{suffix}>"

    def _head(self) -> str:
        head = self.label()[1:-1]
        if current().print_facets:
            head += " " + formatting.letters(self._letters())
        return head

    def _letters(self) -> list[tuple[str, bool]]:
        """Return the letters of facets that were accessed, and whether their memory is fresh."""
        storage = self.storage
        if storage.is_pending:
            return []
        return [(f.letter, storage.is_fresh(f.memory, self)) for f in all_facets()
                if storage.seen & f.bit]

    def _peek(self) -> Array | None:
        """Return the visible elements to print without an access, or None if there are none."""
        storage = self.storage
        if storage.torn_error(self) is not None or storage.is_pending:
            return None
        options = np.get_printoptions()
        spans = ([self.layout.bounds] if self.size <= options["threshold"]
                 else spans_shown(self.layout, options["edgeitems"]))
        try:
            with self._waits("printing"):
                handle = self._peeked(spans)
        except (DeviceError, DiskError):
            return None
        if handle is not None:
            return over(handle, self.layout)
        fill = storage.fill_value
        if fill is None:
            return None
        if self.element_type is not storage.dtype:
            filled = np.full(storage.size, fill, storage.dtype)
            return over(self._presentable(filled), self.layout)
        return np.broadcast_to(np.asarray(fill, storage.dtype), self.shape)

    def _absent(self) -> str:
        if self.storage.torn_error(self) is not None:
            return "torn"
        if self.storage.is_pending:
            return "pending"
        if self.storage.is_fresh(host(), self):
            return "in a file that was cut off"
        return "on a device that failed" if self.storage.fresh else "uninitialised"

    def __repr__(self) -> str:
        if self._is_closed():
            return self.label()
        if not current().print_contents:
            return f"<{self._head()}>"
        a = self._peek()
        return formatting.bracket(self._head(),
                                  self._absent() if a is None else formatting.contents(a))

    def __str__(self) -> str:
        a = None if self.layout.shape else self._peek()
        return repr(self) if a is None else str(a[()])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: ARG002
        printer.text(repr(self))

    def __format__(self, spec: str) -> str:
        if spec:
            with self._waits("printing"):
                return formatting.formatted(self.to_numpy(), spec)
        a = None if self.layout.shape else self._peek()
        return repr(self) if a is None else format(a[()], "")

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
        fill = as_element(fill, dtype, "fill")
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


def new_like(layout_of: Mat, shape: Ints, dtype: DType) -> Mat:
    """Return an uninitialised Mat for a result of an operation on `layout_of`."""
    return form_of_result(shape, dtype).new(layout_of.device_enabled, None)


def _name_methods() -> None:
    """Call the methods that Mat inherits its own, as messages about their arguments show them."""
    for base in Mat.__mro__:
        for name, method in vars(base).items():
            if isinstance(method, FunctionType | type(Exports.to_numpy)):  # compiled or not
                method.__module__, method.__qualname__ = "mat", f"Mat.{name}"


_name_methods()
name_ways(Mat)
make_mats_of(Mat)


def spans_shown(layout: Layout, edge: int) -> list[tuple[int, int]]:
    """Return the storage ranges that a printer needs.

    It shows all items of short axes, and `edge` items at both ends of long ones.
    """
    chosen = [range(n) if n <= 4 * edge else (*range(edge), *range(n - edge, n))
              for n in layout.shape]
    steps = [[i * s for i in items] for items, s in zip(chosen, layout.strides, strict=True)]
    found: list[tuple[int, int]] = []
    for k in sorted({layout.displacement + sum(offsets) for offsets in product(*steps)}):
        if found and found[-1][1] == k:
            found[-1] = found[-1][0], k + 1
        else:
            found.append((k, k + 1))
    return found
