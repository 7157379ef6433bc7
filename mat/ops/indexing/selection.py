"""Elements that one mask, or one array of integers, selects of a Mat: copied to a new one, or
overwritten, by compiled kernels.

What is small is done at once, under the GIL, where no access need be opened; what is large is
shared among threads. This module does not know what other indices there are, and returns None for
operands that NumPy is to take. It is no implementation of the operation `gather`: plans are for one
shape, and the lengths of indices and of what a mask selects change from call to call.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any, TypeVar

import numpy as np

from ...core.compiled import BLOCKS, IN_USE
from ...core.compiled import KernelCall as CompiledCall
from ...core.direction import INPUT, IO, OUTPUT
from ...core.observers import OBSERVERS
from ...cpu.elementwise import prepare_selection
from ...cpu.kernel import CpuKernel
from ...cpu.thread_pool import serving
from ...errors import ShapeError
from ...facets import FOREIGN
from ...layout.shapes import Ints, broadcast_shapes
from ...matrix.base import Form, MatBase, form_of_result, is_numpys
from ...matrix.creation import adopted, vector_of_integers
from ...matrix.mat import Mat
from ...matrix.nested import as_array
from ...matrix.with_facets import with_facets
from ...support.c_pointers import address_of
from ...support.dtypes import REAL_TYPES, as_element, becomes_array, check_number
from ...support.native import lib
from ...support.plugins import at_first_use
from ...support.types import Array, DType, Number, Operand
from ..engine.operands import as_operand, is_operand
from ..primitives.few_indices import items
from ..primitives.selecting import number_as_mat
from ..tiles.overlap import apart_from

# with types of C
_in_use, _observers, _foreign, _blocks = IN_USE, OBSERVERS, FOREIGN, BLOCKS
_advanced = at_first_use("ops.indexing.advanced")
_SMALL = 128  # integers below this one, all dtypes of numbers can represent
_AXES = 32  # of which a frame has room
_NOT_CALLED = -3
_LARGE = 1 << 15  # bools or integers that are worth releasing the GIL, and other threads
_MANY = 1 << 20  # bytes of items to select from, or to copy, that are worth the same
_ITEMS, _BYTES = 1 << 12, 1 << 16  # of items that integers select, which are worth a thread
_TILE = 0 if lib is None else lib.MAT_MASK_TILE  # bytes of a mask, which are worth one
_MOST = 1024
_INDICES, _BOOL, _mat = np.dtype(np.int64), np.dtype(np.bool_), Mat


class SelectionKernels:
    """The kernels of selections of one kind, of Mats of one form."""

    def __init__(self, form: Form, axis: int, axes: int, count: int) -> None:
        self.form: Form = form
        self.axis: int = axis
        self.axes: int = axes
        self.count: int = count
        self.before: tuple[int, ...] = form.shape[:axis]
        self.rest: tuple[int, ...] = form.shape[axis + (axes or 1):]
        self.whole: bool = not self.before and not self.rest  # all axes are selected of
        self.lines: int = prod(self.before)
        self.elements: int = self.lines * prod(self.rest)  # that one integer selects
        # items that a thread gets at least, or tiles of a mask
        nbytes = form.itemsize * prod(self.rest)
        self.worth: int = 1 if axes else max(1, min(_ITEMS, _BYTES // max(nbytes, 1)))
        of = form.shape, form.strides, form.itemsize, axis, axes, count
        # the letter of a dtype of which C writes numbers; else ""
        self.letter: str = form.dtype.char if is_numpys(form.dtype) else ""
        self.integral: bool = form.dtype.kind in "iu"
        self.real: bool = self.letter != "" and self.letter in REAL_TYPES
        self.result: Form | None = None  # of the last new Mat
        kind = "masked" if axes else "taken"
        self.number: CpuKernel = prepare_selection("mat_masked_count", *of)
        self.check: CpuKernel = prepare_selection("mat_taken_check", *of)
        self.get: CpuKernel = prepare_selection(f"mat_{kind}_get", *of)
        self.put, self.put_one, self.fill = (
            prepare_selection(f"mat_{kind}_set", *of, repeated)
            for repeated in ("", "item", "element"))


_remembered = lru_cache(_MOST)(SelectionKernels)
_last: SelectionKernels | None = None  # to be used


def _kernels_for(form: Form, axis: int, axes: int, count: int) -> SelectionKernels:
    """Return the kernels for a form, selected axes, and the number of integers after others."""
    global _last
    if not axis:
        count = 1
    found = _last
    if (found is None or found.form is not form or found.axis != axis or found.axes != axes
            or found.count != count):
        found = _last = _remembered(form, axis, axes, count)
    return found


def selected(view: MatBase, index: object, axis: int) -> Selection | None:
    """Return the selection of a mask or integers along `axis`; None if NumPy has to do it."""
    mat = as_index(index)
    if mat is None or lib is None:
        return None
    form = view._find_form() if view.known_form is None else view.known_form
    shape, axes = mat.layout.shape, 0
    if mat.element_type is _BOOL:
        axes = len(shape)
        if axis or not axes or form.shape[:axes] != shape:
            return None
    elif not shape or axis >= len(form.shape):
        return None
    if not form.size or not mat.layout.size or len(form.shape) > _AXES:
        return None
    found = Selection.__new__(Selection)
    found.fill_in(view, mat, _kernels_for(form, axis, axes, mat.layout.size), axes > 0)
    return found


def as_index(index: Any) -> Mat | None:
    """Return a mask, or integers of 64 bits, as a packed Mat; None if it is neither."""
    kind = type(index)
    if kind is Mat:
        mat: Mat = index
        dtype = mat.element_type
        if dtype is not _INDICES and dtype is not _BOOL:
            if dtype.kind not in "iu":
                return None
            mat = mat.astype(_INDICES)
        return mat if mat.layout.contiguous else mat.copy()
    if kind is list:
        few = vector_of_integers(index)
        if few is not None:
            return few
        index = _as_array(index)
    elif kind is not np.ndarray:
        index = None
    if index is None or index.dtype.kind not in "biu" or not index.ndim:
        return None
    wanted = np.bool_ if index.dtype.kind == "b" else _INDICES
    return adopted(np.ascontiguousarray(index, wanted))


def _as_array(index: list[object]) -> Array | None:
    """Return a list of integers, or one of bools, as an array; None if it is neither."""
    kinds = set(map(type, index))
    found = np.asarray(index) if kinds in ({int}, {bool}) else None
    return None if found is None or found.dtype.kind == "O" else found  # too large


def _is_plain(value: Number, letter: str) -> bool:
    """Return whether the dtype of a letter represents a number, and C writes it."""
    kind = type(value)
    if kind is int:
        return bool(letter) and 0 <= value < _SMALL and (letter != "?" or value < 2)
    if kind is float:
        return letter == "d" or letter == "D"
    return kind is bool and bool(letter)


class _NothingWritten(Exception):
    """An integer is out of range."""


class Selection:
    """The selection of a Mat by a mask or integers."""

    def fill_in(self, view: MatBase, index: Mat, kernels: SelectionKernels, masked: bool) -> None:
        """Initialise with the selection of `index` on `view`."""
        self.view: MatBase = view
        self.index: Mat = index
        self.kernels: SelectionKernels = kernels
        self.masked: bool = masked
        self.shape: Ints = index.layout.shape
        self.size: int = index.layout.size
        elements = kernels.form.size if masked else self.size * kernels.elements
        self.large: bool = self.size > _LARGE or elements * kernels.form.itemsize > _MANY
        self.starts: Array | None = None  # how many items are selected before each tile of a mask
        self.starts_address: int = 0

    # How much

    def count(self) -> int:
        """Return the number of selected items; other kernels check the range of integers."""
        if not self.masked:
            return self.size
        found = self.call(self.kernels.number, None, None, 0, self.tiles(), False, False)
        if self.starts is not None:
            np.cumsum(self.starts, out=self.starts)
            found = int(self.starts[-1])
        return found

    def tiles(self) -> int:
        """Return how many tiles the mask has."""
        return (self.size + _TILE - 1) // _TILE  # C rounds quotients towards 0

    def work(self) -> int:
        """Return the units of work of the kernels that copy the selection."""
        return self.tiles() if self.masked else self.size * self.kernels.lines

    def in_range(self) -> bool:
        """Return whether all integers are in the range of the axis: else no access is opened."""
        return not self.call(self.kernels.check, None, None, 0, self.size, False, False)

    def threads(self) -> int:
        """Return how many threads share the work."""
        return serving() if self.large else 1

    def worth(self, units: int) -> int:
        """Return how many of the units a thread gets at least."""
        return max(1, self.kernels.worth * units // max(self.work(), 1))

    def keep_index(self) -> None:
        """Copy the index if it overlaps the written elements."""
        if self.index.storage is self.view.storage:
            self.index = self.index.copy()

    def shape_of(self, count: int) -> tuple[int, ...]:
        """Return the shape of `count` items."""
        if self.kernels.whole:
            return (count,) if self.masked else self.shape
        if self.masked:
            return (count, *self.kernels.rest)
        return self.kernels.before + self.shape + self.kernels.rest

    # Copying

    def get(self) -> Mat | None:
        """Return a new Mat with the selected elements; None if an integer is out of range."""
        count = self.count()
        shape = self.shape_of(count)
        form = self.kernels.result
        if form is None or (form.shape is not shape and form.shape != shape):
            form = self.kernels.result = form_of_result(shape, self.view.element_type)
        found: Mat = form.new(self.view.device_enabled, None)
        if form.size and self.call(self.kernels.get, found, None, count, self.work(), False, True):
            return None
        return found

    def set(self, value: Operand) -> bool:
        """Overwrite the selection with a value; return whether integers were in range."""
        view: Operand = self.view
        if type(value) is not _mat:
            plain = _is_plain(value, self.kernels.letter)
            if plain or type(value) in (bool, int, float, complex):
                if not plain:
                    check_number(value, view.element_type, "value")
                return self.overwrite(self.kernels.fill, None, value, self.size)
        source = value if type(value) is _mat else as_source(value, view)
        if not self.kernels.before and type(source) is _mat and self.takes(
                source, self.kernels.rest):
            return self.overwrite(self.kernels.put_one, source, None, self.size)
        count = self.count()
        shape = self.shape_of(count)
        if type(source) is not Mat or not self.takes(source, shape):
            source = packed_for(source, view.element_type, shape)
        return not count or self.overwrite(self.kernels.put, source, None, count)

    def takes(self, source: MatBase, shape: tuple[int, ...]) -> bool:
        """Return whether kernels can copy `source`, if it has that shape, as it is."""
        return (source.element_type is self.view.element_type and source.layout.shape == shape
                and source.layout.contiguous and source.storage is not self.view.storage)

    def overwrite(self, kernel: CompiledCall, source: MatBase | None, value: Number,
                  count: int) -> bool:
        """Do so with a kernel; return whether all could be."""
        self.keep_index()
        whole_lines = kernel is self.kernels.put and not self.masked
        units = self.kernels.lines if whole_lines else self.work()
        return not self.call(kernel, source, value, count, units, True, False)

    # the parameters are the operands of a kernel
    def call(self, kernel: CompiledCall, other: MatBase | None, value: Number, count: int,
             units: int, writes: bool, writes_other: bool) -> int:
        """Call a kernel for the Mat, the index, and another Mat or a number; return its result."""
        dtype, element = self.view.element_type, None
        if value is not None and not _is_plain(value, self.kernels.letter):
            element = np.array(value, dtype)
        if not self.large and not _observers:
            found = self.call_if_ready(kernel, other, value, element, count, units, writes,
                                      writes_other)
            if found != _NOT_CALLED:
                return found
        if writes and not self.masked and not self.in_range():
            return 1
        if self.large and kernel is self.kernels.number:
            self.starts = np.zeros(units + 1, _INDICES)
            self.starts_address, element = address_of(self.starts), self.starts[1:]
        requests = [(self.view, "foreign", IO if writes else INPUT), (self.index, "foreign", INPUT)]
        if other is not None:
            requests.append((other, "foreign", OUTPUT if writes_other else INPUT))
        try:
            with with_facets(*requests) as arrays:
                at = 0 if element is None else address_of(element)
                address = arrays[0].address
                address_of_index = arrays[1].address
                if other is not None:
                    at = arrays[2].address
                threads, least = self.threads(), self.worth(units)
                # no code of Python may run from here until the kernel has its operands
                self.set_operands(kernel, address, address_of_index, at, value, count, units)
                result: int = kernel.run_by(threads, least)
                if writes_other and result:
                    raise _NothingWritten  # so that the block fails
                return result
        except _NothingWritten:
            return 1

    # the parameters are the operands of a kernel
    def set_operands(self, kernel: CompiledCall, address: int, address_of_index: int, at: int,
                     value: Number, count: int, units: int) -> None:
        """Give a kernel its operands, including the address `at` or, for 0, `value`."""
        kernel.set_units(units)
        kernel.set_number(0, count if self.masked else self.size)
        if not at and value is not None:
            at, size = kernel.number_address(1), self.kernels.form.itemsize
            if self.kernels.real:
                _blocks.fill_floats(at, size, 1, value)
            elif self.kernels.integral:
                _blocks.fill_integers(at, size, 1, value)
            else:
                _blocks.put_number(at, self.kernels.form.dtype, value)
        kernel.set_operand(0, address)
        kernel.set_operand(1, address_of_index)
        kernel.set_operand(2, at)
        kernel.set_operand(3, self.starts_address)

    # the parameters are the operands of a kernel
    def call_if_ready(self, kernel: CompiledCall, other: MatBase | None, value: Number,
                     element: Array | None, count: int, units: int, writes: bool,
                     writes_other: bool) -> int:
        """Do so if no access need be opened; return _NOT_CALLED else."""
        view, index = self.view, self.index
        at = 0 if element is None else address_of(element)
        view._locate()
        index._locate()
        if other is not None and not writes_other:  # a new one has no address yet
            other._locate()
        if view.known_form is not self.kernels.form:
            return _NOT_CALLED  # another thread has changed it
        # no code of Python may run from here until the kernel has been called
        address = view.storage.ready(_foreign.mask, _foreign.bit, True, writes)
        address_of_index = index.storage.ready(_foreign.mask, _foreign.bit, True, False)
        if not address or not address_of_index:
            return _NOT_CALLED
        if other is not None:
            at = other.storage.ready(_foreign.mask, _foreign.bit, not writes_other, writes_other)
            if not at:
                return _NOT_CALLED
            at += other.layout.displacement * self.kernels.form.itemsize
        address += view.layout.displacement * self.kernels.form.itemsize
        address_of_index += index.layout.displacement * (1 if self.masked else 8)
        self.set_operands(kernel, address, address_of_index, at, value, count, units)
        kernel.run_at_once()
        if writes and (self.masked or not kernel.found[0]):
            view.storage.written(_foreign.mask)
        if other is not None and writes_other:
            other.storage.written(_foreign.mask)
        return int(kernel.found[0])


def written(x: Mat, index: object, value: Operand, masked: bool) -> Mat | None:
    """Overwrite the selection of a mask or integers; None, with nothing done, if NumPy has to."""
    chosen = selected(x, index, 0)
    if chosen is None or chosen.masked is not masked:
        return None
    x._direction_allowed(IO)
    return x if chosen.set(value) else None


def taken(x: Mat, indices: object, axis: int) -> Mat | None:
    """Return the elements at the integers of an axis as a new Mat; None if NumPy has to."""
    chosen = selected(x, indices, axis)
    return None if chosen is None or chosen.masked else chosen.get()


def taken_of(x: object, indices: object, axis: object) -> Operand:
    """Return the same for int64, of an axis or, with None, of a packed Mat; None for others."""
    given = vector_of_integers(indices) if type(indices) is list else indices
    if type(x) is not Mat or type(given) is not Mat:
        return None
    view: Any = x
    at: Any = given
    layout = view.layout
    if at.element_type is not _INDICES or not at.layout.shape or not layout.size:
        return None
    if axis is None:
        few = items(view, at, True)
        if few is not None:
            return few
        axis, view = 0, _as_vector(view)
    if view is None or type(axis) is not int or not 0 <= axis < len(view.layout.shape):
        return None
    if _in_use:
        return _advanced.taken_there(view, at, axis)
    found = items(view, at, False) if not axis else None
    if found is None:
        chosen = selected(view, at, axis)
        found = None if chosen is None else chosen.get()
    return view[at] if found is None and len(layout.shape) == 1 else found  # or its error


def _as_vector(view: Mat) -> Mat | None:
    """Return all elements of a packed Mat, or a vector as it is; None for others."""
    layout = view.layout
    if len(layout.shape) == 1:
        return view
    return view._view_of(layout.flat()) if layout.contiguous else None


def compressed(condition: object, x: object, axis: object) -> Operand:
    """Return the items of the first axis, or with None elements of a packed Mat, for which a vector
    of at most as many bools is true; None for others.
    """
    if type(x) is not Mat or type(condition) is not Mat:
        return None
    mask: Any = condition
    view: Any = x if axis is not None else _as_vector(x)
    if view is None or mask.element_type is not _BOOL or len(mask.layout.shape) != 1 or not (
            axis is None or (type(axis) is int and axis == 0)):
        return None
    if view.layout.shape and mask.layout.shape[0] < view.layout.shape[0]:
        view = view[:mask.layout.shape[0]]
    chosen = selected(view, mask, 0)
    return None if chosen is None else chosen.get()


# The values that are assigned to a selection: converted to its dtype, and fitted to its shape


V = TypeVar("V", Mat, Array)


def as_source(value: Operand, target: Mat) -> Operand:
    """Return the value to assign to elements of `target`: a Mat, or a number that fits."""
    value = apart_from(value, target)
    if isinstance(value, list | tuple) or becomes_array(value) or not is_operand(value):
        return adopted(as_array(value, target.dtype))
    if not isinstance(value, Mat | np.ndarray):
        value = as_element(value, target.dtype, "value")
    return as_operand(value, "value")


def as_mat_of(value: Operand, target: Mat) -> Mat:
    """Return the value to assign to elements of `target` as a Mat of its dtype."""
    source = as_source(value, target)
    if not isinstance(source, Mat):
        return number_as_mat(source, target.dtype, target)
    return source if source.dtype == target.dtype else source.astype(target.dtype)


def as_array_of(value: Operand, dtype: DType, shape: Ints) -> Array:
    """Return a source as an array that broadcasts to `shape`."""
    return fitted(as_array(value, dtype), shape)


def packed_for(source: Operand, dtype: DType, shape: Ints) -> Mat:
    """Return a source as a new packed Mat of that dtype and shape."""
    if type(source) is Mat and source.element_type is dtype:
        return fitted(source, shape).broadcast_to(shape).copy()
    plain = np.broadcast_to(as_array_of(source, dtype, shape), shape)
    return adopted(np.ascontiguousarray(plain).reshape(shape))


def fitted(value: V, shape: Ints) -> V:
    """Return a value without leading axes of length 1; `ShapeError` if it does not fit."""
    plain = value
    while plain.ndim > len(shape) and plain.shape[0] == 1:
        plain = plain.reshape(plain.shape[1:])
    if broadcast_shapes((plain.shape, shape)) != shape:
        raise ShapeError(f"a value of shape {value.shape} does not broadcast to the selected "
                         f"{shape}")
    return plain


def selects_as_array(item: object) -> bool:
    """Return whether an item of an index is an array of another library, or a sequence."""
    if isinstance(item, np.generic) or getattr(item, "shape", None) == ():
        return False
    return hasattr(type(item), "__array__") or becomes_array(item)
