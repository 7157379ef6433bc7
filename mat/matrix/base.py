"""`MatBase`: the part of `Mat` that every use of one goes through: its layout over its storage,
views and accesses.

A `Form` is what checks of operations depend on; results of operations are made from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Any, Self

import numpy as np

from ..core import compiled
from ..core.access import Access
from ..core.access_record import AccessRecord
from ..core.direction import DIRECTIONS, INPUT, Direction, as_direction
from ..core.observers import OBSERVERS, TRANSFERS, wait
from ..core.registry import Facet, Handle, facet_named, facets, host
from ..core.runs import Runs, element_runs
from ..errors import AliasError, ConflictError, DirectionError, DTypeError, UninitialisedError
from ..facets import ARRAY
from ..layout.orders import is_gapless
from ..layout.shapes import Ints, check_extent
from ..layout.strided import Layout, packed
from ..support.dtypes import ELEMENT_TYPES, EXTENSIONS, plain_integers
from ..support.options import FLOAT64
from ..support.types import DirectionName, DType, FacetName, Number, Presents, ShapeLike
from .operators import Operators
from .storage import Storage

_facets, _directions = facets, DIRECTIONS  # with types of C
_array, _input, _float64, _blocks = ARRAY, INPUT, FLOAT64, compiled.BLOCKS
_array_name, _input_name = ARRAY.name, INPUT.value  # literals of the same text are these objects
MOST_RUNS = 4096  # of an access: of more it is what is between the first and the last element
MAKER = _maker = compiled.Maker()  # of Mats
MATS = _mats = compiled.LiveObjects()
# uncompiled, other threads run between the statements of a change of layout and storage, which
# holds this lock
_changing = compiled.Lock()
_is_compiled = compiled.BLOCKS.enabled


def make_mats_of(kind: type) -> None:
    """Create views and results as objects of that class."""
    _maker.set_type(kind, Operators)


class Form:
    """Shape, strides, dtype and writability of Mats, as operations check them; equals are one."""

    def __init__(self, layout: Layout, dtype: DType, whole: bool, writable: bool) -> None:
        self.shape: Ints = layout.shape
        self.strides: Ints = layout.strides
        self.size: int = layout.size
        self.dtype: DType = dtype
        self.itemsize: int = dtype.itemsize
        self.lowest: int
        self.highest: int
        self.lowest, self.highest = plain_integers(dtype)
        self.whole: bool = whole  # all of the storage is visible
        self.writable: bool = writable
        # it sees all of the storage, from its first element on
        self.gapless: bool = whole and (layout.contiguous or is_gapless(layout))
        # of a new Mat
        self.layout: Layout = (Layout(layout.shape, layout.strides, 0)
                               if self.gapless and not layout.contiguous else packed(layout.shape))

    def new(self, device_enabled: bool, fill_value: Number | None) -> Any:
        """Return a Mat of this form, that of a whole storage; None: of arbitrary elements."""
        result: MatBase = _maker.make()
        result._set_up(self.new_storage(fill_value), self.layout, self, device_enabled)
        return result

    def new_storage(self, fill_value: Number | None) -> Storage:
        """Return the storage of a Mat of this form."""
        storage = Storage.__new__(Storage)
        storage.begin()
        storage.describe(self.size, self.dtype, self.itemsize, fill_value)
        return storage


_FORMS: dict[object, Form] = {}
# those of new Mats, by less: shape, also as an integer, and dtype, also its name
FORMS_OF_NEW = _RESULTS = dict[object, Form]()
# hashing a dtype takes long: by the number of one of NumPy's own, this dtype and its forms by shape
_OWN: list[DType | None] = [None] * 32
FORMS_BY_NUMBER = _TABLES = [dict[object, Form]() for _ in _OWN]
for _type in ELEMENT_TYPES:
    if _type.char not in EXTENSIONS:
        _OWN[np.dtype(_type.name).num] = np.dtype(_type.name)
# the forms that were found last, by the numbers of dtype and axes: to hash a shape takes long, too
_LAST: list[Form | None] = [None] * 128


def is_numpys(dtype: DType) -> bool:
    """Return whether `dtype` is one of NumPy's own that Mats can have."""
    k = _blocks.number_of(dtype)
    return 0 <= k < 32 and _OWN[k] is dtype


def form_of_result(shape: Ints, dtype: DType) -> Form:
    """Return the form of a new Mat that is stored by rows."""
    if not is_numpys(dtype):
        return _form_in(_RESULTS, (shape, dtype), shape, dtype)
    number = _blocks.number_of(dtype)
    place = number + 32 * (len(shape) & 3)
    last: Any = _LAST[place]
    if last is None or (last.shape is not shape and last.shape != shape):
        last = _LAST[place] = _form_in(_TABLES[number], shape, shape, dtype)
    found: Form = last
    return found


def form_of_layout(layout: Layout, dtype: DType) -> Form:
    """Return the form of a new Mat with a layout without gaps."""
    return (form_of_result(layout.shape, dtype) if layout.contiguous
            else _form(layout, dtype, True, True))


def form_made_before(shape: object, dtype: DType) -> Form | None:
    """Return the form of Mats of a dtype of NumPy's own and a shape, or length, that was made
    before; else None.
    """
    number = _blocks.number_of(dtype)
    table = _TABLES[number]
    if type(shape) is not tuple:
        return table.get(shape)
    place = number + 32 * (len(shape) & 3)
    last: Any = _LAST[place]
    if last is None or (last.shape is not shape and last.shape != shape):
        last = table.get(shape)
        if last is not None:
            _LAST[place] = last
    found: Form | None = last
    return found


def _form_in(forms: dict[object, Form], key: object, shape: Ints, dtype: DType) -> Form:
    """Return the form of a new Mat, which `forms` has if it has been made."""
    form = forms.get(key)
    if form is None:
        check_extent(shape)
        form = forms.setdefault(key, _form(packed(shape), dtype, True, True))
    return form


def _form(layout: Layout, dtype: DType, whole: bool, writable: bool) -> Form:
    key = layout.shape, layout.strides, dtype, whole, writable
    form = _FORMS.get(key)
    if form is None:
        if len(_FORMS) > 4096:
            _FORMS.clear()
            _RESULTS.clear()
            for table in _TABLES:
                table.clear()
            _LAST[:] = [None] * 128
        form = _FORMS.setdefault(key, Form(layout, dtype, whole, writable))
    return form


def not_initialised() -> UninitialisedError:
    """Return the error of a use of a Mat whose `__init__` did not run."""
    return UninitialisedError("this Mat is not initialised: its __init__ did not run; the __init__ "
                              "of a class derived from mat.Mat must call super().__init__(shape) "
                              "before self is used")


def _closed_storage() -> Storage:
    """Return the storage of uninitialised Mats; it refuses every access."""
    storage = Storage.__new__(Storage)  # not one of those that have copies
    storage.own_lock = compiled.ClosedLock(not_initialised)
    storage.describe(1, _float64, 8, 0)
    storage.split = 1
    return storage


_closed = _closed_storage()
_closed_layout = packed((1,))


class MatBase(Operators):
    """A layout over a storage."""

    __slots__ = ("_place", "device_enabled", "element_size", "element_type", "is_view",
                 "known_form", "layout", "read_only")

    def __cinit__(self) -> None:  # Cython's name; uncompiled, `Mat.__new__` calls it
        if _maker.making:
            return
        self.storage: Storage = _closed
        self.layout: Layout = _closed_layout
        # of what self sees: the storage may have been made with elements of another dtype
        self.element_type: DType = _float64
        self.element_size: int = 8
        if not _is_compiled:
            self.known_form: Form | None = None
            self.presented: dict[int, AccessRecord] | None = None
            self.device_enabled: bool = False
            self.is_view: bool = False
            self.read_only: bool = False  # what self sees can be written by way of other Mats
            self._place: int = 0

    def _is_closed(self) -> bool:
        """Return whether self is not initialised."""
        return self.storage is _closed

    def _fill_in(self, storage: Storage, layout: Layout, device_enabled: bool) -> None:
        """Be that layout over that storage; self may have been another one, if not accessed."""
        if self.storage is _closed:
            self._set_up(storage, layout, None, device_enabled)
            return
        self._see(layout, storage, self._as_now())
        self.device_enabled = device_enabled
        self.is_view = self.read_only = False

    def _set_up(self, storage: Storage, layout: Layout, form: Form | None,
               device_enabled: bool) -> None:
        """Be that layout over that storage, of that form if it is known."""
        self.storage = storage
        self.element_type = storage.dtype
        self.element_size = storage.itemsize
        self.layout = layout
        self.known_form = form
        self.presented = None
        self.device_enabled = device_enabled
        self.is_view = self.read_only = False
        self._place = _mats.add(self)

    def __dealloc__(self) -> None:  # see `Coherence.__dealloc__`
        _mats.remove(self._place)

    @property
    def form(self) -> Form:
        """The object for all that checks of operations depend on."""
        return self._find_form() if self.known_form is None else self.known_form

    def _locate(self) -> None:
        """Find out the address of the host's copy, unless it is known; other threads may run."""
        storage = self.storage  # compiled code keeps local variables only alive
        if not storage.address:
            storage.find_address()

    def _find_form(self) -> Form:
        """Compute the form of self, and remember it."""
        if _is_compiled:
            return self._form_found()
        with _changing:
            return self._form_found()

    def _form_found(self) -> Form:
        layout, storage = self.layout, self.storage
        if storage is _closed:
            raise not_initialised()
        whole, like = self._sees_all(), layout.like or layout
        writable = storage.writable and not self.read_only
        form: Form | None = like.form
        if form is None or (form.dtype is not self.element_type or form.whole != whole
                            or form.writable != writable):
            form = like.form = _form(layout, self.element_type, whole, writable)
        self.known_form = form
        return form

    def over(self, layout: Layout) -> Self:
        """Return the view of the same storage with another layout.

        Parameters
        ----------
        layout : Layout
            Shape, strides and displacement within the storage.

        Returns
        -------
        Mat
            A view.
        """
        return self._view_of(layout)

    def _view_of(self, layout: Layout) -> Self:
        if self.storage is _closed:
            raise not_initialised()
        view: Self = _maker.make_like(self)
        view.storage = self.storage
        view.layout = layout
        view.element_type = self.element_type
        view.element_size = self.element_size
        view.known_form = view.presented = None
        view.device_enabled = self.device_enabled
        view.is_view = True
        view.read_only = self.read_only
        view._place = _mats.add(view)
        return view

    def _be_typed(self, like: MatBase) -> None:
        """See elements of the dtype of another view of the same storage."""
        self.element_type = like.element_type
        self.element_size = like.element_size
        self.known_form = None

    def _typed(self, layout: Layout, dtype: DType) -> Self:
        """Return the view of the same bytes as elements of `dtype`, the units of `layout`."""
        view = self._view_of(layout)
        view.element_type = dtype
        view.element_size = dtype.itemsize
        self.storage.divide(dtype.itemsize)
        return view

    def _halves(self, first: int, dtype: DType) -> Self:
        """Return the view of every second half of the elements, from `first` on, in that dtype."""
        now = self if _is_compiled else self._as_now()
        layout = now.layout
        found = Layout.__new__(Layout)
        found.fill_in(layout.shape, tuple([2 * s for s in layout.strides]),
                      2 * layout.displacement + first)
        return now._typed(found, dtype)

    def _set_layout(self, layout: Layout, storage: Storage) -> None:
        """See another layout, or another storage, from now on.

        Both change at once: no other thread sees one of them without the other.
        """
        # freeing what was there may run other code: only when all is changed
        old_storage, old_presented = self.storage, self.presented
        _changing.acquire()
        try:
            self.known_form = None
            self.presented = None
            self.layout = layout
            if storage is not old_storage:
                self.element_type = storage.dtype
                self.element_size = storage.itemsize
            self.storage = storage  # last: an access of another thread waits for its lock
        finally:
            _changing.release()
        del old_storage, old_presented

    def _as_now(self) -> Self:
        """Return a Mat fixed to the present form of self; no other thread changes it."""
        if _is_compiled:
            return self._copied()
        with _changing:
            return self._copied()

    def _alone(self) -> Self:
        """Return a view of the same elements, whose layout is the caller's to change."""
        if _is_compiled:
            return self._view_of(self.layout)
        with _changing:
            return self._view_of(self.layout)

    def _copied(self) -> Self:
        now = self._view_of(self.layout)
        now.known_form = self._find_form() if self.known_form is None else self.known_form
        return now

    def _see(self, layout: Layout, storage: Storage, now: MatBase) -> Self:
        """Change layout and storage of self, equal to `now` and not accessed; return self."""
        before = now.storage
        lock = before._guard()
        lock.acquire()  # no access begins meanwhile
        try:
            if before.records:
                before.end_abandoned()
                for record in before.accesses:
                    raise ConflictError(f"cannot change the shape of {self.label()} during the "
                                        f"access to {record.describe()}")
            if self.layout is not now.layout or before is not self.storage:
                raise ConflictError(f"cannot change the shape of {self.label()}: another thread "
                                    "has changed it meanwhile")
            self._set_layout(layout, storage)
        finally:
            lock.release()
        return self

    def _see_again(self, before: list[MatBase]) -> None:
        """Change layout and storage of self back to those of the last Mat of `before`."""
        if before:
            old = before[-1]
            storage = old.storage
            if self.storage is storage:
                with storage.lock:
                    self._set_layout(old.layout, storage)
            else:  # the block has given it another storage, whose accesses must have ended
                now = self._as_now()
                # of adjust_ it is larger; not if self was initialised again
                old.layout.check_within(now.storage.nbytes // old.element_size)
                self._see(old.layout, storage, now)
                self._be_typed(old)
            before.pop()

    # Shape, element type and size

    def _seen(self) -> Layout:
        """Return the layout of self; raise an error if it is not initialised."""
        if self.storage is _closed:
            raise not_initialised()
        return self.layout

    @property
    def shape(self) -> Ints:
        """The lengths of the axes."""
        return self._seen().shape

    @shape.setter
    def shape(self, shape: ShapeLike) -> None:
        now = self._as_now()
        self._see(now.layout.reshaped(shape), now.storage, now)

    @property
    def strides(self) -> Ints:
        """The steps in memory along each axis, in bytes."""
        size = self.itemsize
        return tuple([s * size for s in self._seen().strides])

    @property
    def element_strides(self) -> Ints:
        """The steps in the storage along each axis, in elements."""
        return self._seen().strides

    @property
    def displacement(self) -> int:
        """The storage index of the first visible element."""
        return self._seen().displacement

    @property
    def size(self) -> int:
        """The number of visible elements."""
        return self._seen().size

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._seen().shape)

    @property
    def is_contiguous(self) -> bool:
        """True if the visible elements are stored in row-major order without gaps."""
        return self._seen().contiguous

    @property
    def dtype(self) -> DType:
        """The element type."""
        self._seen()
        return self.element_type

    @property
    def itemsize(self) -> int:
        """The number of bytes of one element."""
        self._seen()
        return self.element_size

    @property
    def nbytes(self) -> int:
        """The number of bytes of the visible elements."""
        return self._seen().size * self.element_size

    def __len__(self) -> int:
        if not self._seen().shape:
            raise DTypeError("a Mat without axes has no length and no rows; x.item() is its "
                             "element")
        return self.layout.shape[0]

    # Accesses

    def facet(self, name: FacetName | Presents[Any],
              direction: DirectionName | Direction = "io") -> AbstractContextManager[Any]:
        """Access the data through a facet, as a context manager: ``with x.facet("array") as a:``.

        Parameters
        ----------
        name : str or Facet
            A name such as "array", "backing", "foreign" or "cuda", or what `register_facet` gave.
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
        return self._facet(name, direction)

    def _facet(self, name: Any, direction: object) -> Access:
        if name is _array_name and direction is _input_name:  # as most looks: without look-ups
            self._seen()
            return self._access(_array, _input)
        try:
            facet, wanted = _facets[name], _directions[direction]
        except (KeyError, TypeError):
            facet, wanted = facet_named(name), as_direction(direction)
        self._seen()
        self._direction_allowed(wanted)  # whether it is may change until the block begins
        return self._access(facet, wanted)

    def _access(self, facet: Facet, direction: Direction) -> Access:
        access = Access.__new__(Access)
        access.view = self
        access.facet = facet
        access.direction = direction
        access.record = None
        access.entered = False
        return access

    def allowed(self, direction: Direction) -> Direction:
        """Return `direction`, if self may be accessed in it.

        Parameters
        ----------
        direction : Direction
            The direction of an access to self.

        Returns
        -------
        Direction
            The same.

        Raises
        ------
        DirectionError
            If the Mat is read-only and would be written.
        AliasError
            If elements that overlap each other would be written.
        """
        return self._direction_allowed(direction)

    def _direction_allowed(self, direction: Direction) -> Direction:
        if direction is _input:
            return direction
        layout, storage = self.layout, self.storage
        if storage.writable and not layout.injective:
            raise AliasError(f"{self.label()} has elements that overlap each other, so writing it "
                             "is ambiguous; write what it was broadcast from, or x.copy()")
        if self.read_only or not storage.writable:
            raise DirectionError(f"{self.label()} is read-only: it takes direction 'input' only, "
                                 f"got {direction.value!r}; x.copy() can be written")
        return direction

    # What a cube asks of its views

    def _sees_all(self) -> bool:
        """Return whether all elements of the storage are visible."""
        return self.layout.size * self.element_size == self.storage.nbytes

    def _touched(self) -> Runs:
        """Return the elements that accesses to self touch."""
        return self._runs(MOST_RUNS)

    def _runs(self, most: int) -> Runs:
        """Return the visible elements in the units counted by the storage."""
        storage, runs = self.storage, Runs(element_runs(self.layout, most))
        size = self.element_size * storage.split
        return runs if size == storage.itemsize else runs.times(size // storage.itemsize)

    def _touched_alone(self) -> Runs:
        """Return the visible elements, without others in between."""
        return self._runs(self.layout.size)

    def _count(self) -> int:
        """Return how many elements of the storage are visible, of a layout that can be written."""
        storage, size = self.storage, self.layout.size
        if self.element_type is storage.dtype:
            return size * storage.split
        return size * self.element_size * storage.split // storage.itemsize

    def _whole(self) -> MatBase:
        """Return a view of all elements of the storage, by their index there."""
        return self._view_of(packed((self._room(),)))

    def _room(self) -> int:
        """Return how many elements of the dtype of self the storage has room for."""
        return self.storage.nbytes // self.element_size

    def _peeked(self, spans: Iterable[tuple[int, int]]) -> Handle:
        """Return a host handle with the current elements in ranges, or None; change no state."""
        size, of = self.element_size, self.storage.itemsize
        handle = self.storage.peek([(a * size // of, -(-b * size // of)) for a, b in spans])
        return None if handle is None else self._presentable(handle)

    def _waits(self, what: str) -> AbstractContextManager[None]:
        """Return a block in which the host waits for elements, if only a device has them."""
        storage = self.storage
        if not (OBSERVERS or TRANSFERS) or storage.is_fresh(host(), self):
            return nullcontext()
        copies = storage.handles if storage.spans is None else [
            copy.memory for copy in storage.spans.copies if copy.fresh]
        return wait(what, storage, next((m for m in copies if m is not host()), None))

    def _presentable(self, handle: Handle) -> Handle:
        """Return a handle as elements of the dtype of self, if it has elements of its own."""
        storage = self.storage
        if self.element_type is storage.dtype or type(handle) is not np.ndarray:
            return handle
        size = self.element_size
        count = handle.nbytes // size
        return handle.view(np.uint8)[:count * size].view(self.element_type)

    def _relative_to(self, start: int) -> MatBase:
        """Return the same elements in a storage that begins with the unit `start`."""
        layout, storage = self.layout, self.storage
        before = start * storage.itemsize // (storage.split * self.element_size)
        return self._view_of(layout.moved_to(layout.displacement - before))

    # Views

    @property
    def T(self) -> Self:  # NumPy's name
        """The transposed view: all axes in reverse order."""
        return self._view_of(self.layout.transposed())

    def reshape(self, *shape: ShapeLike, order: str | None = "C", copy: bool | None = None) -> Self:
        """Return the same elements in another shape of the same size.

        Parameters
        ----------
        *shape : int or sequence of int
            The lengths of the axes; one of them may be -1, and is inferred.
        order : {"C", "F", "A"}
            How elements are counted, in self and in the result: by rows, by columns, or as they
            are stored.
        copy : bool, optional
            None: copy only if no view has that shape. True: always copy. False: never.

        Returns
        -------
        Mat
            A view where the strides of self allow one, else a packed copy, which
            `mat.debug.count_copies` counts as one of its ``packs``.

        Raises
        ------
        ShapeError
            If the size differs (`view` may change it), or a copy is needed and `copy` is False.

        Examples
        --------
        >>> import mat
        >>> mat.arange(6.0).reshape(2, -1).shape
        (2, 3)
        """
        layout = self.layout  # shape may have lengths that run code
        lengths = shape[0] if len(shape) == 1 else shape
        if copy is None and order == "C" and layout.contiguous:
            return self._view_of(layout.reshaped(lengths))
        return self._reshape_any(lengths, order, copy)  # type: ignore[attr-defined]  # by `ops`


class Window:
    """The context manager that `Mat.window` returns."""

    def __init__(self, mat: MatBase, shape: ShapeLike | None, displacement: int | None) -> None:
        self.mat: MatBase = mat
        self.shape: ShapeLike | None = shape
        self.displacement: int | None = displacement
        # what it saw, for each time that the window was entered
        self.before: list[MatBase] = []

    def __enter__(self) -> Any:
        mat = self.mat
        now: Any = mat._as_now()  # a Mat
        layout = now._packed_at(now.shape if self.shape is None else self.shape, self.displacement)
        mat._see(layout, now.storage, now)
        self.before.append(now)  # compiled, no interrupt comes in between
        return mat

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.mat._see_again(self.before)
