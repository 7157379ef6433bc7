"""`Mat`: a matrix that is stored in any number of memories, as a layout over a storage.

Operations, declared in ``ops/``, compute on Mats and add the methods that ``methods.py`` declares.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import NamedTuple, Self

from ..core.access import Access
from ..core.access_record import file_and_line, thread_name
from ..core.cube import (
    DIRECTIONS,
    INPUT,
    IO,
    OBSERVERS,
    AccessRecord,
    Cube,
    Direction,
    all_facets,
    as_direction,
    facet_named,
    facets,
    memories,
    memory_named,
)
from ..devices.device import Device, device_of
from ..errors import AliasError, DirectionError, DTypeError, ShapeError, TornError
from ..layout.strided import LARGEST, Ints, Layout, as_shape, integer, packed
from ..support.dtypes import as_dtype, check_number
from ..support.settings import current
from ..support.types import DType, DTypeLike, Number, ShapeLike
from .items import Items
from .methods import Methods
from .printing import Printing

_new = object.__new__


class Storage(Cube):
    """The elements of one or more Mats: of one dtype, in any number of memories."""

    __slots__ = ("dtype", "fill_value", "nbytes", "size", "writable")
    dtype: DType
    fill_value: Number

    def __init__(self, size: int, dtype: DType, fill_value: Number) -> None:
        super().__init__()
        self.size = size
        self.dtype = dtype
        self.nbytes = size * dtype.itemsize
        self.fill_value = fill_value
        self.writable = True
        for observer in tuple(OBSERVERS):
            observer.created(self)

    def read_torn(self, error: TornError) -> None:
        """Raise, warn or do nothing, as ``settings.torn`` says; if not raising, accept the data."""
        policy = current().torn
        if policy == "raise":
            super().read_torn(error)
        if policy == "warn":
            warnings.warn(f"reading torn data: {error}", RuntimeWarning, stacklevel=2)
        self.accept_torn()


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

    __slots__ = {"device_enabled": "True if operations on this Mat may compute on the device in "
                                   "use; can be set."}
    # for classes that read only this; an ndarray on the left calls __array_ufunc__
    __array_priority__ = 1000.0
    storage: Storage

    def __init__(self, shape: ShapeLike, dtype: DTypeLike = None, *, fill: Number = 0,
                 displacement: int = 0, max_size: int | None = None,
                 displaced_to: Mat | None = None) -> None:
        lengths = as_shape(shape)
        start = integer(displacement, "a displacement")
        if displaced_to is None:
            kind = current().dtype if dtype is None else as_dtype(dtype)
            self.layout, self.storage = _new_storage(lengths, start, max_size, kind, fill)
        else:
            self.layout, self.storage = _shared_storage(lengths, start, dtype, displaced_to)
        self.presented = {}
        self.form = None
        self.device_enabled = current().device_enabled

    def over(self, layout: Layout) -> Self:  # documented in Views
        view: Self = _new(type(self))
        view.storage = self.storage
        view.layout = layout
        view.presented = {}
        view.form = None
        view.device_enabled = self.device_enabled
        return view

    # Element type and size

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self.storage.dtype

    @property
    def itemsize(self) -> int:
        """The number of bytes of one element."""
        return self.storage.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The number of bytes of the visible elements."""
        return self.layout.size * self.storage.dtype.itemsize

    @property
    def fill_value(self) -> Number:
        """The value of elements that were never written; None if they are arbitrary."""
        return self.storage.fill_value

    # Facets and memories

    def facet(self, name: str, direction: str | Direction = "io") -> Access:
        """Access the data through a facet, as a context manager: ``with x.facet("array") as a:``.

        Parameters
        ----------
        name : str
            The name of the facet, such as "array", "backing", "foreign" or "cuda".
        direction : {"io", "input", "output"} or Direction
            The promise of the block: to read and write, only to read, or to overwrite everything.
            `Direction` has the contract.

        Returns
        -------
        Access
            The context manager. Its block is given what the facet presents, such as a NumPy array,
            which is valid inside the block only. Entering it raises `ConflictError` if an open
            access excludes this one, and `TornError` if the data was left half-written.

        Raises
        ------
        FacetError, DirectionError
            If there is no such facet or direction, or the Mat is read-only.
        AliasError
            If elements that overlap each other would be written.

        Examples
        --------
        >>> import mat
        >>> x = mat.zeros(3)
        >>> with x.facet("array", "output") as a:
        ...     a[:] = [1, 2, 3]
        >>> x
        <Mat 3 A [1. 2. 3.]>
        """
        try:
            facet, wanted = facets[name], DIRECTIONS[direction]
        except (KeyError, TypeError):
            facet, wanted = facet_named(name), as_direction(direction)
        # filled in here, since a call of __init__ is a tenth of the cost of an access
        access = _new(Access)
        access.view = self
        access.facet = facet
        access.direction = wanted if wanted is INPUT else self.allowed(wanted)
        access.record = None
        return access

    def allowed(self, direction: Direction) -> Direction:
        """Return the direction with which the storage is to be accessed, if writing is allowed.

        Parameters
        ----------
        direction : Direction
            The direction of an access to self.

        Returns
        -------
        Direction
            The same; ``io`` for an ``output`` that does not see the whole storage.

        Raises
        ------
        DirectionError
            If the Mat is read-only and would be written.
        AliasError
            If elements that overlap each other would be written.
        """
        if direction is INPUT:
            return INPUT
        layout, storage = self.layout, self.storage
        if not storage.writable:
            raise DirectionError(f"{self.label()} is read-only: it takes direction 'input' only, "
                                 f"got {direction.value!r}; x.copy() can be written")
        if not layout.injective:
            raise AliasError(f"{self.label()} has elements that overlap each other, so writing it "
                             "is ambiguous; write what it was broadcast from, or x.copy()")
        return IO if layout.size != storage.size else direction

    @property
    def facets(self) -> Mapping[str, FacetState]:
        """The state of each facet through which the storage was accessed, by its name.

        Facets whose memory was freed are not among them.
        """
        storage = self.storage
        with storage.lock:
            found = {f.name: FacetState(f.name, f.memory.name, bool(storage.fresh & f.memory.bit),
                                        storage.nbytes,
                                        tuple(_watcher(record) for record in tuple(storage.accesses)
                                              if record.facet is f))
                     for f in all_facets() if storage.seen & f.bit}
        return MappingProxyType(found)

    @property
    def fresh(self) -> set[str]:
        """The names of the memories that have the current data."""
        return {m.name for m in memories.values() if self.storage.fresh & m.bit}

    @property
    def device(self) -> Device:
        """The device on which an operation on self would compute now; equal to its name."""
        return device_of(self)

    def drop(self, name: str, *, force: bool = False) -> bool:
        """Free the copy in one memory.

        Parameters
        ----------
        name : str
            The name of the memory.
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
        return self.storage.drop(memory_named(name), force)

    def close(self) -> None:
        """Free all copies now: the data is lost, and later reads see the fill value."""
        self.storage.drop_all()

    def keep(self, name: str) -> AbstractContextManager[None]:
        """Keep the copy in one memory during a block: ``with x.keep("cuda"):``.

        Parameters
        ----------
        name : str
            The name of the memory.

        Returns
        -------
        context manager
            Inside its block the copy exists and cannot be dropped.
        """
        return self.storage.keep(memory_named(name))

    def accept_torn(self) -> Self:
        """Accept as the data what a failed block left half-written.

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
        needed = packed(lengths).size + start
        if start < 0 or needed <= self.storage.size:
            return self.view_(lengths, start)
        check_bytes(needed, self.dtype)
        self._see(packed(lengths, start))
        self.storage = Storage(needed, self.dtype, self.fill_value)
        return self

    __hash__ = object.__hash__  # by identity: == compares elements


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
    return packed(shape, start).check_within(other.storage.size), other.storage


def _watcher(record: AccessRecord) -> tuple[str, str, str, int]:
    return (thread_name(record.thread), record.direction.value,
            *file_and_line(record.thread, record.where))


_FORMS: dict[object, object] = {}


def form_of(view: Mat) -> object:
    """Return an object for the form of a Mat: the same for Mats that checks cannot tell apart.

    The form is shape, strides, dtype, and what may be written.
    """
    layout, storage = view.layout, view.storage
    key = layout.shape, layout.strides, storage.dtype, layout.size == storage.size, storage.writable
    form = _FORMS.get(key)
    if form is None:
        if len(_FORMS) > 4096:
            _FORMS.clear()
        form = _FORMS.setdefault(key, object())
    return form


def new_like(layout_of: Mat, shape: Ints, dtype: DType) -> Mat:
    """Return an uninitialised Mat for a result of an operation on `layout_of`."""
    result = Mat.__new__(Mat)
    result.layout = packed(shape)
    result.storage = Storage(result.layout.size, dtype, None)
    result.presented = {}
    result.form = form_of(result)
    result.device_enabled = layout_of.device_enabled
    return result
