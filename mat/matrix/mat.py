"""`Mat`: a matrix that can be in several memories at once. A layout over a storage, and looks at it
through facets.

What computes on Mats is not here: operations, declared in ``ops/``, add their methods and
operators.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np

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
from ..errors import AliasError, DirectionError, DTypeError, IndexOutOfRange, ShapeError, TornError
from ..facets.array import over
from ..layout.strided import LARGEST, Ints, Layout, as_shape, integer, packed, position
from ..support import formatting
from ..support.dtypes import as_dtype, check_number
from ..support.settings import current
from .exports import Exports
from .methods import Methods

_new = object.__new__


class Storage(Cube):
    """`size` elements of one dtype in any number of memories, shared by all Mats that view them."""

    __slots__ = ("dtype", "fill_value", "nbytes", "size", "writable")
    dtype: np.dtype[Any]

    def __init__(self, size: int, dtype: np.dtype[Any], fill_value: Any) -> None:
        super().__init__()
        self.size = size
        self.dtype = dtype
        self.nbytes = size * dtype.itemsize
        self.fill_value = fill_value
        self.writable = True
        for observer in tuple(OBSERVERS):
            observer.created(self)

    def read_torn(self, error: TornError) -> None:
        """Raise, warn or keep silent, as ``settings.torn`` says; who is not stopped has accepted
        the data.
        """
        policy = current().torn
        if policy == "raise":
            super().read_torn(error)
        if policy == "warn":
            warnings.warn(f"reading torn data: {error}", RuntimeWarning, stacklevel=2)
        self.accept_torn()


class FacetState(NamedTuple):
    """One facet of a Mat: what memory it looks at, whether that is fresh, its bytes, and who is
    looking now.
    """

    name: str
    memory: str
    fresh: bool
    nbytes: int
    watchers: tuple[tuple[str, str, str, int], ...]


class Mat(Exports, Methods):
    """A matrix of any rank that can be in several memories at once.

    Arguments: `shape` (an integer or a sequence), `dtype` (default: ``mat.settings.dtype``), `fill`
    (the value of what was never written; None: arbitrary), `displacement` (elements of the storage
    before the first visible one), `max_size` (elements of the whole storage), `displaced_to` (a Mat
    whose storage to share; then `displacement` is relative to its own). No memory is taken before a
    facet is looked through. `ShapeError` for lengths or displacements that are negative or do not
    fit; `DTypeError` for a dtype other than that of `displaced_to`.

    >>> import mat
    >>> mat.Mat((2, 3), fill=1)
    <Mat 2x3 - [[1. 1. 1.] [1. 1. 1.]]>
    """

    __slots__ = {"device_enabled": "Whether operations may compute on the device in use for this "
                                   "Mat; can be set."}
    # for classes that ask for no more; an ndarray on the left asks __array_ufunc__
    __array_priority__ = 1000.0
    storage: Storage

    def __init__(self, shape: object, dtype: Any = None, *, fill: Any = 0, displacement: int = 0,
                 max_size: int | None = None, displaced_to: Mat | None = None) -> None:
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

    def over(self, layout: Layout) -> Self:
        view: Self = _new(type(self))
        view.storage = self.storage
        view.layout = layout
        view.presented = {}
        view.form = None
        view.device_enabled = self.device_enabled
        return view

    # What it is

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type."""
        return self.storage.dtype

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.storage.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of the visible elements."""
        return self.layout.size * self.storage.dtype.itemsize

    @property
    def fill_value(self) -> Any:
        """What elements are before they are first written; None: arbitrary."""
        return self.storage.fill_value

    # Facets and memories

    def facet(self, name: str, direction: str | Direction = "io") -> Access:
        """``with x.facet("array", "input") as a:`` looks at self through a facet; see `Direction`
        for the contract.

        Gives what the facet presents, valid inside the block. `FacetError` and `DirectionError` for
        unknown names, `ConflictError` when entered while another block is in the way, `TornError`
        if the data was left half-written.

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
        # filled in here, since a call of __init__ is a tenth of what a look costs
        access = _new(Access)
        access.view = self
        access.facet = facet
        access.direction = wanted if wanted is INPUT else self.allowed(wanted)
        access.record = None
        return access

    def allowed(self, direction: Direction) -> Direction:
        """`direction` as the storage must be asked for it: an output that does not see everything
        is ``io``.

        Writing what is read-only is a `DirectionError`, writing elements that overlap each other an
        `AliasError`.
        """
        if direction is INPUT:
            return INPUT
        layout, storage = self.layout, self.storage
        if not storage.writable:
            raise DirectionError(f"{self.label()} is read-only: it takes direction 'input' only, "
                                 "got "
                                 f"{direction.value!r}; x.copy() can be written")
        if not layout.injective:
            raise AliasError(f"{self.label()} has elements that overlap each other, so writing it "
                             "is ambiguous; "
                             f"write what it was broadcast from, or x.copy()")
        return IO if layout.size != storage.size else direction

    @property
    def facets(self) -> Mapping[str, FacetState]:
        """The facets that the storage was looked through and whose memory still exists, by name."""
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
        """The names of the memories that hold the current data."""
        return {m.name for m in memories.values() if self.storage.fresh & m.bit}

    @property
    def device(self) -> Device:
        """The device on which an operation on self would compute now; equal to its name, such as
        ``"cpu"``.
        """
        return device_of(self)

    def drop(self, name: str, *, force: bool = False) -> bool:
        """Free the copy in the memory `name`; return whether there was one.

        `ConflictError` if it is the only copy (unless `force`), being looked at, kept, or the
        user's own array.
        """
        return self.storage.drop(memory_named(name), force)

    def close(self) -> None:
        """Free all copies now; the data is lost, and later reads see the fill value."""
        self.storage.drop_all()

    def keep(self, name: str) -> AbstractContextManager[None]:
        """``with x.keep("cuda"):`` the copy in that memory exists and cannot be dropped inside."""
        return self.storage.keep(memory_named(name))

    def accept_torn(self) -> Self:
        """Take what a failed block left half-written as the data; return self."""
        self.storage.accept_torn()
        return self

    # Shaping that changes the storage

    def adjust_(self, shape: object, displacement: int = 0) -> Self:
        """Let self see `shape` at `displacement`, in a new and larger storage if the old one is too
        small.

        The contents of the old storage are not carried over; other views of it stay valid.
        """
        lengths, start = as_shape(shape), integer(displacement, "a displacement")
        needed = packed(lengths).size + start
        if start < 0 or needed <= self.storage.size:
            return self.view_(lengths, start)
        check_bytes(needed, self.dtype)
        self._see(packed(lengths, start))
        self.storage = Storage(needed, self.dtype, self.fill_value)
        return self

    # Elements and conversions

    def item(self, *index: Any) -> Any:
        """The only element as a Python number; ``item(k)``: that with row-major index `k`;
        ``item(i, j)``: that at ``i, j``.
        """
        at = index[0] if len(index) == 1 and isinstance(index[0], tuple) else index
        if not index and self.size != 1:
            raise ShapeError(f"item() wants one element, {self.label()} has {self.size}; item(k) "
                             "takes the k-th")
        k = integer(at[0],
                    "an index") if at is index and len(at) == 1 else self.ravel_index(*at) if index else 0
        if not -self.size <= k < self.size:
            raise IndexOutOfRange(f"index {k} is out of range for {self.size} elements")
        if self.storage.is_elsewhere and (found := self.storage.peek_element(self.layout.storage_index(k))) is not None:
            return found.item()
        with self.facet("array", "input") as a:
            return a.item(k)

    def ravel_index(self, *index: int) -> int:
        """The row-major index of the element at `index`; bounds are checked axis by axis."""
        if len(index) != self.ndim:
            raise IndexOutOfRange(f"{self.ndim} indices wanted for shape {self.shape}, got {index}")
        steps = packed(self.shape).strides
        return sum(position(i, k, self.shape[k]) * steps[k] for k, i in enumerate(index))

    def __iter__(self) -> Iterator[Any]:
        if self.ndim == 1 and self.storage.is_elsewhere:  # all at once rather than one by one
            with self.facet("array", "input"):
                pass
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ShapeError(f"whether {self.label()} is true is not clear, it has {self.size} "
                             "elements; x.any() and x.all() "
                             f"have one")
        return bool(self.item())

    def __float__(self) -> float:
        return float(self._real())

    def __int__(self) -> int:
        return int(self._real())

    def _real(self) -> Any:
        if self.dtype.kind == "c":
            raise DTypeError(f"{self.label()} is complex; complex(x) takes its element")
        return self._number()

    def _number(self) -> Any:
        if self.size != 1:
            raise DTypeError(f"only a Mat of one element is a number, {self.label()} has "
                             f"{self.size}; x.item(k) takes the k-th")
        return self.item()

    def __complex__(self) -> complex:
        return complex(self._number())

    def __index__(self) -> int:
        if self.ndim or self.dtype.kind not in "iu":
            raise DTypeError(f"only an integer Mat without axes is an index, not {self.label()}")
        return int(self.item())

    __hash__ = object.__hash__  # by identity: == compares elements

    # Printing

    def label(self) -> str:
        dtype = "" if self.dtype == current().dtype else f" {self.dtype}"
        return f"<Mat {formatting.extent(self.layout, self.storage.size)}{dtype}>"

    def _head(self) -> str:
        head = self.label()[1:-1]
        if current().print_facets:
            head += " " + formatting.letters(self._letters())
        return head

    def _letters(self) -> list[tuple[str, bool]]:
        """The letters of the facets looked through, and whether their memory is fresh."""
        storage = self.storage
        return [(f.letter, bool(storage.fresh & f.mask)) for f in all_facets()
                if storage.seen & f.bit]

    def _peek(self) -> np.ndarray[Any, Any] | None:
        """The visible elements to print, without a look: nothing is copied between memories or
        marked.
        """
        if self.storage.torn is not None:
            return None
        options = np.get_printoptions()
        handle = self.storage.peek([self.layout.bounds] if self.size <= options["threshold"] else
                                   self.layout.spans(options["edgeitems"]))
        if handle is not None:
            return over(handle, self.layout)
        fill = self.storage.fill_value
        return None if fill is None else np.broadcast_to(np.asarray(fill, self.dtype), self.shape)

    def _absent(self) -> str:
        return "torn" if self.storage.torn is not None else "uninitialised"

    def __repr__(self) -> str:
        if not current().print_contents:
            return f"<{self._head()}>"
        a = self._peek()
        return formatting.bracket(self._head(),
                                  self._absent() if a is None else formatting.contents(a))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: ARG002
        printer.text(repr(self))

    def __format__(self, spec: str) -> str:
        return repr(self) if not spec else formatting.formatted(self.to_numpy(), spec)


def _new_storage(shape: Ints, displacement: int, max_size: int | None, dtype: np.dtype[Any],
                 fill: Any) -> tuple[Layout, Storage]:
    if displacement < 0:
        raise ShapeError(f"a displacement is not negative, got {displacement}")
    layout = packed(shape, displacement)
    needed = displacement + layout.size
    size = needed if max_size is None else integer(max_size, "max_size")
    if size < needed:
        raise ShapeError(f"max_size {size} is too small for shape {shape} at displacement "
                         f"{displacement}: "
                         f"that takes {needed} elements")
    check_bytes(size, dtype)
    if fill is not None:
        check_number(fill, dtype, "fill")
    return layout, Storage(size, dtype, fill)


def check_bytes(size: int, dtype: np.dtype[Any]) -> None:
    """Refuse what 64 bits cannot count."""
    if size * dtype.itemsize > LARGEST:
        raise ShapeError(f"{size} elements of {dtype} are more bytes than 64 bits can count")


def _shared_storage(shape: Ints, displacement: int, dtype: Any,
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


_FORMS: dict[Any, object] = {}


def form_of(view: Mat) -> object:
    """A stand-in for shape, strides, dtype and what may be written: equal for Mats that checks
    cannot tell apart.
    """
    layout, storage = view.layout, view.storage
    key = layout.shape, layout.strides, storage.dtype, layout.size == storage.size, storage.writable
    form = _FORMS.get(key)
    if form is None:
        if len(_FORMS) > 4096:
            _FORMS.clear()
        form = _FORMS.setdefault(key, object())
    return form


def new_like(layout_of: Mat, shape: Ints, dtype: np.dtype[Any]) -> Mat:
    """An uninitialised Mat for a result of an operation on `layout_of`."""
    result = Mat.__new__(Mat)
    result.layout = packed(shape)
    result.storage = Storage(result.layout.size, dtype, None)
    result.presented = {}
    result.form = form_of(result)
    result.device_enabled = layout_of.device_enabled
    return result
