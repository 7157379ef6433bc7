"""Single elements and simple views by an index, and conversion of one element to a number.

What these do not know is left to `Mat` and to indexing among the operations.
"""

from __future__ import annotations

from typing import Any, SupportsIndex

import numpy as np

from ..core.compiled import BLOCKS, IN_USE
from ..core.observers import OBSERVERS
from ..core.registry import Facet
from ..errors import DTypeError, ShapeError
from ..facets import ARRAY, FOREIGN
from ..layout.strided import Layout, packed
from ..memories.host import HOST
from ..support.options import FLOAT32, FLOAT64, ONLY_MATS, current
from ..support.types import Array, DType, Element, Index, Number, Operand
from .base import MatBase
from .brief_copies import (
    LARGE,
    MOST_APART,
    WORTH,
    copy_bytes,
    copy_rows,
    is_brief,
    none_else,
)
from .operators import UNCHANGING
from .storage import Storage

# with types of C
_blocks, _observers, _in_use = BLOCKS, OBSERVERS, IN_USE
_only_mats, _unchanging = ONLY_MATS, UNCHANGING
_host, _array, _foreign, _float64 = HOST, ARRAY, FOREIGN, FLOAT64
_float32, _int64, _float64_scalar = FLOAT32, np.dtype(np.int64), np.float64
_int64_scalar = np.int64
_bool, _complex128 = np.dtype(np.bool_), np.dtype(np.complex128)
_NEW_AXIS = (None,)
_INTEGERS = np.dtype(np.ulonglong).num  # the last of those of integers and of bool
_BUILT_IN = np.dtype(np.float16).num  # the last of those that NumPy defines
MOST_AT_ONCE = 2 * WORTH  # bytes that are written at once
_MOST_MOVED, _WORTH_A_CALL = 256, 64  # rows; bytes of each row, if there are more
_MOST_INTEGER = 2.0**63  # no signed integers are larger, and NaN is not smaller
_NO_OVERFLOW = 1e4  # no dtype of floating-point numbers for which NumPy warns overflows below that
# NumPy's scalars that are numbers of Python without a loss
_EXACT = {np.float64: float, np.float32: float, np.float16: float, np.complex64: complex,
          np.complex128: complex, np.int8: int, np.int16: int, np.int32: int, np.int64: int,
          np.uint8: int, np.uint16: int, np.uint32: int, np.bool_: bool}


class Elements(MatBase):
    """The part of `Mat` for single elements."""

    __slots__ = ()

    def __getitem__(self: Any, index: Index) -> Operand:
        try:
            found = self._get_quickly(_plain(index))
        except OverflowError:  # an integer that C cannot represent
            found = None
        return self._get_by(index) if found is None else found

    def _get_quickly(self, index: Index) -> Operand | None:
        """Return ``self[index]`` for the most frequent kinds of an index, or None."""
        layout = self.layout
        kind = type(index)
        if kind is slice:
            return self._view_of(layout.rows(index))
        if kind is int and len(layout.shape) > 1:
            return self._view_of(layout.row(index))
        if kind is int or (kind is tuple and _may_be_of_element(index)):
            k = layout.element(index)
            if k >= 0:
                if _only_mats and not current().scalars:
                    return self._view_of(packed((), k))
                return self._element(k)
        if kind is tuple:
            if not index and not layout.shape:
                return self._as_number() if _unchanging else self
            part = layout.selected(index, True)
            return None if part is None else self._view_of(part)
        return self._view_of(layout.selected(_NEW_AXIS, True)) if index is None else None

    def _element(self, k: int) -> Number | None:
        """Return element `k` of the storage as NumPy's scalar; None if that needs an access."""
        storage = self.storage
        if _observers:
            return None
        address = storage.element_address(_array.mask, _array.bit)
        if address:
            return _blocks.scalar(address + k * self.element_size, self.element_type)
        if self.element_type is not storage.dtype:
            return None
        elements = storage.host_array(_host, _array, False)
        return None if elements is None else elements[k]

    def _number_at(self, k: int) -> Number | None:
        """Return the same as a number of Python's."""
        storage, found = self.storage, None
        address = 0 if _observers else storage.element_address(_array.mask, _array.bit)
        if address:
            found = _blocks.number(address + k * self.element_size, self.element_type)
        if found is None:
            scalar = self._element(k)
            found = None if scalar is None else scalar.item()
        return found

    def _number_in_order(self, index: int) -> Number | None:
        """Return the number with that row-major index; None if there is none."""
        layout, k = self.layout, index
        if k < 0:
            k += layout.size
        if not 0 <= k < layout.size:
            return None
        return self._number_at(layout.index_at(k))

    def item(self, *index: SupportsIndex | tuple[SupportsIndex, ...]) -> Element:
        """Return one element as a Python number.

        Parameters
        ----------
        *index : int or tuple of int, optional
            Nothing for the only element, a row-major index ``k``, or one index for each axis,
            ``i, j`` or ``(i, j)``. Negative indices count from the end.

        Returns
        -------
        bool, int, float or complex
            The element.

        Raises
        ------
        ShapeError
            If no index is given and the Mat has not exactly one element.
        IndexOutOfRange
            If there is no such element.
        """
        x: Any = self  # with the methods of `Mat`
        return x._item_any(index)

    def _are_natural(self: Any) -> bool:
        """Return whether the elements are a few int64 that are not negative."""
        layout, storage = self.layout, self.storage
        if self.element_type is not _int64 or not layout.contiguous or _observers:
            return False
        if layout.size > MOST_AT_ONCE:
            return False
        address = storage.element_address(_array.mask, _array.bit)
        return bool(address) and _blocks.bins_of(
            address + 8 * layout.displacement, layout.size) >= 0

    def __setitem__(self: Any, index: Index, value: Operand) -> None:
        try:
            done = self._set_quickly(_plain(index), value)
        except OverflowError:
            done = False
        if not done:
            self._set_by(index, value)

    def _set_quickly(self, index: Index, value: Operand) -> bool:
        """Carry out ``self[index] = value`` if that can be done at once; return whether it was."""
        kind = type(value)
        if _observers:
            return False
        if kind is int or kind is bool:
            return self._set_number(index, value)
        if kind is float or kind is _float64_scalar:
            if self.element_type is _bool or _blocks.number_of(self.element_type) > _INTEGERS:
                return self._set_number(index, value)
            return -_MOST_INTEGER < value < _MOST_INTEGER and self._set_number(index, int(value))
        if kind is type(self):
            return self._set_part_quickly(index, value)
        if kind is complex:
            return self.element_type.kind == "c" and self._set_number(index, value)
        if kind is self.element_type.type and kind in _EXACT:  # what x[k] += 1 gives
            return self._set_number(index, _EXACT[kind](value))
        return False

    def _fill_quickly(self, value: Operand) -> bool:
        """Write a number to all elements, if it can be written at once; return whether it was."""
        try:
            return self._set_quickly(..., value)
        except OverflowError:  # as above
            return False

    def _set_number(self, index: Index, value: float) -> bool:
        """Write a number to one element, or to those of a part."""
        layout, storage, dtype = self.layout, self.storage, self.element_type
        facet: Facet = _array
        if dtype is _bool or type(value) is bool:
            value = int(value != 0)
        size, given = _size_if_plain(dtype, type(value) is int), None
        integers = _blocks.number_of(dtype) <= _INTEGERS
        if not size:
            size = self._size_if_it_has(value)
            if size and _blocks.number_of(dtype) > _BUILT_IN:
                given = np.asarray(value, dtype)
        if not size or not storage.writable or not (layout.contiguous or layout.injective):
            return False
        k, count = -1, 1
        part: Layout | None = None
        if type(index) is int or type(index) is tuple:
            k = layout.element(index)
        if k < 0:
            part = _part_of(layout, index) if none_else() else None
            most = LARGE if integers else MOST_AT_ONCE  # a kernel fills more, by several threads
            if part is None or not 0 < size * part.size < most:
                return False
            k, count, facet = part.displacement, part.size, _foreign
        if not storage.address:
            storage.find_address()
        if self.layout is not layout or self.read_only or self.storage is not storage:
            return False
        address = storage.ready(facet.mask, facet.bit, size * count != storage.nbytes,
                                True) if _blocks.enabled else 0
        if address:
            self._write_number(address + size * k, size, value, given, part)
        elif count != 1 or dtype is not _float64 or storage.dtype is not dtype:
            return False
        else:
            elements = storage.host_array(_host, _array, True)
            if elements is None:
                return False
            elements[k] = value
        storage.written(_array.mask)
        return True

    def _write_number(self, address: int, size: int, value: float, given: Array | None,
                      part: Layout | None) -> None:
        """Write a number, or an array's element, at an address, and to all of a part there."""
        count = 1 if part is None else part.size
        floats = self.element_type is _float64 or self.element_type is _float32
        alone = not floats and _blocks.number_of(self.element_type) > _INTEGERS
        adjacent = 1 if part is None or alone or not part.contiguous else count
        if given is not None:
            _blocks.copy_of_array(address, given, size, False)
        elif alone:
            _blocks.put_number(address, self.element_type, value)
        elif floats:
            _blocks.fill_floats(address, size, adjacent, value)
        else:
            _blocks.fill_integers(address, size, adjacent, value)
        if part is not None and adjacent != count:
            _blocks.spread(address, size, part.shape, part.strides)

    def _size_if_it_has(self, value: float) -> int:
        """Return the bytes of an element if the dtype can represent the value, else 0."""
        if self.element_type is _complex128:
            return 16
        if type(value) is complex:
            return self._size_if_it_has(value.real) and self._size_if_it_has(value.imag)
        if _blocks.number_of(self.element_type) > _INTEGERS:
            return self.element_size if -_NO_OVERFLOW < value < _NO_OVERFLOW else 0
        form = self._find_form() if self.known_form is None else self.known_form
        return form.itemsize if form.lowest <= value <= form.highest else 0

    def _set_part_quickly(self: Any, index: Index, source: MatBase) -> bool:
        """Copy a Mat to the selection of a basic index: a small one by `copied_to_part`."""
        if not none_else():
            return False
        layout = self.layout
        part = _part_of(layout, index)
        if part is None or not (layout.contiguous or layout.injective):
            return False
        return copied_to_part(self, layout, part, source) or self._set_view(layout, part, source)

    def __delitem__(self: Any, index: Index) -> None:
        raise ShapeError(f"elements of {self.label()} cannot be deleted; mat.delete(x, index) "
                         "copies the others")

    # The only element as a number

    def _only(self: Any) -> Number:
        """Return the only element as a number."""
        if self.layout.size != 1:
            raise DTypeError(f"only a Mat of one element is a number, {self.label()} has "
                             f"{self.size}; x.item(k) takes the k-th")
        found = self._element(self.layout.displacement)
        return self.item() if found is None else found

    def _as_number(self: Any) -> Operand:
        """Return the element of a Mat without axes as NumPy's scalar, unless a device is in use."""
        if self.layout.shape or _in_use:
            return self
        found = self._element(self.layout.displacement)
        return self.to_numpy()[()] if found is None else found

    def _as_array(self: Any) -> Any:
        """Return self, without axes as an array, which can be written, not as a number."""
        if not self.layout.shape:
            self.is_view = True
        return self

    def _real(self) -> Number:
        """Return the only element, as a real number."""
        if self.element_type is not _float64 and self.element_type.kind == "c":
            raise DTypeError(f"{self.label()} is complex; complex(x) takes its element")
        return self._only()

    def __bool__(self) -> bool:
        if self.layout.size != 1:
            raise ShapeError(f"the truth value of {self.label()} with {self.size} elements is "
                             "ambiguous; use x.any() or x.all()")
        return bool(self._only())

    def __float__(self) -> float:
        return float(self._real())

    def __int__(self) -> int:
        return int(self._real())

    def __complex__(self) -> complex:
        return complex(self._only())

    def __index__(self) -> int:
        if self.layout.shape or self.element_type.kind not in "iu":
            raise DTypeError(_NotAnIndex(self))
        return int(self._only())


class RowIterator:
    """The iterator over the first axis of a Mat, as it was at the beginning: views, or elements."""

    def __init__(self, mat: Elements, count: int) -> None:
        self.mat: Elements = mat
        self.at: int = 0
        self.count: int = count
        self.layout: Layout = mat.layout
        # that of a row, and how far the rows are apart
        self.like: Layout | None = self.layout.row_at(0) if len(self.layout.shape) > 1 else None
        self.step: int = self.layout.strides[0]

    def __iter__(self) -> RowIterator:
        return self

    def __next__(self) -> Operand:
        if self.at >= self.count:
            raise StopIteration
        self.at += 1
        return self._following(self.at - 1)

    def _following(self, k: int) -> Operand:
        """Return the view of row `k`, or the element there."""
        mat, like, found = self.mat, self.like, None
        layout = mat.layout
        if layout is self.layout:  # nobody has changed its shape meanwhile
            if like is not None:
                return mat._view_of(like.moved_to(like.displacement + k * self.step))
            if not _only_mats:
                found = mat._element(layout.displacement + k * self.step)
        return mat[k] if found is None else found


def _plain(index: Index) -> Index:
    """Return an index with Python's integers for NumPy's, which are elements of other Mats."""
    if type(index) is _int64_scalar:
        return int(index)
    if type(index) is tuple:
        for item in index:
            if type(item) is _int64_scalar:
                return tuple([int(k) if type(k) is _int64_scalar else k for k in index])
    return index


def _may_be_of_element(index: tuple[object, ...]) -> bool:
    """Return whether the first and the last item are of type `int`."""
    n = len(index)
    return n != 0 and type(index[0]) is int and type(index[n - 1]) is int


def _part_of(layout: Layout, index: Index) -> Layout | None:
    """Return the selection of a basic index on a layout; None for other indices and elements."""
    kind = type(index)
    if kind is slice:
        return layout.rows(index)
    if index is Ellipsis:
        return layout
    if kind is int and len(layout.shape) > 1:
        return layout.row(index)
    return layout.selected(index, True) if kind is tuple else None


def _size_if_plain(dtype: DType, of_integer: bool) -> int:
    """Return the size of an element that a Python number is written to directly; else 0."""
    if dtype is _float64 or (dtype is _int64 and of_integer):
        return 8
    return 4 if dtype is _float32 else 0


def copied_to_part(target: MatBase, layout: Layout, part: Layout, source: MatBase) -> bool:
    """Fast path: copy a small Mat to a part of its form of `target`, which has `layout`, if both
    are packed or in rows, or few elements become packed; return False, with nothing done, for
    others, and where an access has to be opened.
    """
    one, given, storage = source.layout, source.storage, target.storage
    if one.shape != part.shape or source.element_type is not target.element_type:
        return False
    if given is storage and one.displacement == part.displacement and one.strides == part.strides:
        return True  # what x[index] += y leaves to do
    if not none_else() or target.read_only or not storage.writable:
        return False
    itemsize, nbytes = target.element_size, one.size * target.element_size
    rows = 1 if one.contiguous and part.contiguous else _rows_of(one, part)
    step = part.strides[0] * itemsize if rows > 1 else 0
    step_from = one.strides[0] * itemsize if rows > 1 else 0
    gathers = part.contiguous and one.size <= MOST_APART and given is not storage
    # rows that overlap are moved one by one
    if not (rows or gathers) or not is_brief(nbytes) or (rows > 1 and given is storage and (
            step_from != step or step * rows < nbytes or (
                rows > _MOST_MOVED and nbytes < rows * _WORTH_A_CALL))):
        return False
    given.find_address()
    storage.find_address()
    # no code of Python may run from here on, so that no Mat changes meanwhile
    if source.layout is not one or source.storage is not given or (
            target.layout is not layout or target.storage is not storage):
        return False
    at = given.ready(_foreign.mask, _foreign.bit, True, False)
    to = storage.ready(_foreign.mask, _foreign.bit, nbytes != storage.nbytes, True)
    if not at or not to:
        return False
    at += one.displacement * itemsize
    to += part.displacement * itemsize
    if not rows and not _blocks.gather(to, at, itemsize, one.shape, one.strides):
        return False
    if rows == 1:
        copy_bytes(at, to, nbytes)
    elif rows and given is storage:
        _blocks.move_rows(to, at, rows, nbytes // rows, step, step)
    elif rows:
        copy_rows(at, to, rows, nbytes // rows, step, step_from)
    storage.written(_foreign.mask)
    return True


def copied_from_array(target: MatBase, layout: Layout, storage: Storage, value: Array) -> bool:
    """Fast path: overwrite a packed Mat, if it has that layout and storage, with an array of its
    dtype and size; return False, with nothing done, where an access has to be opened.
    """
    nbytes = layout.size * target.element_size
    if not none_else() or not layout.contiguous or target.read_only or not storage.writable:
        return False
    storage.find_address()
    if target.layout is not layout or target.storage is not storage:
        return False
    to = storage.ready(_foreign.mask, _foreign.bit, nbytes != storage.nbytes, True)
    if not to or not _blocks.copy_of_array(to + layout.displacement * target.element_size, value,
                                           nbytes, False):
        return False
    storage.written(_foreign.mask)
    return True


def _rows_of(one: Layout, other: Layout) -> int:
    """Return the number of rows of packed elements that both layouts consist of; 0 for others."""
    rank = len(one.shape)
    if rank == 1 or (rank == 2 and (one.shape[1] == 1 or (
            one.strides[1] == 1 and other.strides[1] == 1))):
        return one.shape[0]
    return 0


class _NotAnIndex:
    """The text of an error that is mostly caught unread: ``array[mask]`` asks for an index."""

    def __init__(self, mat: Any) -> None:
        self.mat: Any = mat

    def __str__(self) -> str:
        return f"only an integer Mat without axes is an index, not {self.mat.label()}"

    def __repr__(self) -> str:
        return repr(str(self))

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)
