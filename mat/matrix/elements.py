"""Single elements and simple views by an index, and conversion of one element to a number.

What these do not know is left to `Items` and to indexing among the operations.
"""

from __future__ import annotations

from types import EllipsisType
from typing import Any

from ..core.compiled import BLOCKS, IN_USE
from ..core.observers import OBSERVERS
from ..errors import DTypeError, ShapeError
from ..facets.array import ARRAY
from ..facets.foreign import FOREIGN
from ..layout.strided import Layout
from ..memories.host import HOST
from ..support.options import FLOAT64
from ..support.types import Index, Number, Operand
from .base import MatBase

# with types of C
_blocks, _observers, _in_use = BLOCKS, OBSERVERS, IN_USE
_host, _array, _foreign, _float64 = HOST, ARRAY, FOREIGN, FLOAT64
MOST_AT_ONCE = 1 << 18  # bytes from which a copy is worth a second thread
_OF_VIEWS = frozenset((int, slice, EllipsisType, type(None)))  # types of items of basic indexing


class Elements(MatBase):
    """The part of `Mat` for single elements."""

    __slots__ = ()

    def __getitem__(self: Any, index: Index) -> Operand:
        try:
            found = self._get_quickly(index)
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
        if kind is tuple:
            column = layout.column(index)
            if column is not None:
                return self._view_of(column)
        if kind is int or kind is tuple:
            k = layout.element(index)
            if k >= 0:
                return self._element(k)
            if kind is tuple and _makes_a_view(index):
                return self._view_of(layout.part(index))
        return None

    def _element(self, k: int) -> Number | None:
        """Return element `k` of the storage as NumPy's scalar; None if that needs an access."""
        storage = self.storage
        if _observers:
            return None
        address = storage.element_address(_array.mask, _array.bit, False)
        if address:
            return _blocks.scalar(address + k * storage.itemsize, storage.dtype)
        elements = storage.host_array(_host, _array, False)
        return None if elements is None else elements[k]

    def __setitem__(self: Any, index: Index, value: Operand) -> None:
        try:
            done = self._set_quickly(index, value)
        except OverflowError:
            done = False
        if not done:
            self._set_by(index, value)

    def _set_quickly(self, index: Index, value: Operand) -> bool:
        """Carry out ``self[index] = value`` for one element, or for a part and a Mat that copies to
        it at once; return False for all else.
        """
        if type(value) is not float:
            return type(value) is type(self) and self._set_part_quickly(index, value)
        kind = type(index)
        if (kind is not int and kind is not tuple) or _observers:
            return False
        layout, storage = self.layout, self.storage
        k = layout.element(index)
        if (k < 0 or storage.dtype is not _float64 or not storage.writable
                or not layout.injective):
            return False
        address = storage.element_address(_array.mask, _array.bit, True)
        if address:
            _blocks.set_double(address + 8 * k, value)
        else:
            elements = storage.host_array(_host, _array, True)
            if elements is None:
                return False
            elements[k] = value
        storage.written(_array.mask)
        return True

    def _set_part_quickly(self, index: Index, source: MatBase) -> bool:
        """Copy a small Mat to what a basic index selects, as `copied_to_part` does."""
        if _in_use or _observers:
            return False
        layout, kind = self.layout, type(index)
        if kind is slice:
            part = layout.rows(index)
        elif index is Ellipsis:
            part = layout
        elif kind is int and len(layout.shape) > 1:
            part = layout.row(index)
        elif kind is tuple and _makes_a_view(index):
            part = layout.part(index)
        else:
            return False
        if not (layout.contiguous or layout.injective):
            return False
        return copied_to_part(self, layout, part, source)

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

    def _real(self) -> Number:
        """Return the only element, which must be real."""
        if self.storage.dtype is not _float64 and self.storage.dtype.kind == "c":
            raise DTypeError(f"{self.label()} is complex; complex(x) takes its element")
        return self._only()

    def __bool__(self) -> bool:
        if self.layout.size != 1:
            raise ShapeError(f"whether {self.label()} is true is not clear, it has {self.size} "
                             "elements; x.any() and x.all() have one")
        return bool(self._only())

    def __float__(self) -> float:
        return float(self._real())

    def __int__(self) -> int:
        return int(self._real())

    def __complex__(self) -> complex:
        return complex(self._only())

    def __index__(self) -> int:
        if self.layout.shape or self.storage.dtype.kind not in "iu":
            raise DTypeError(_NotAnIndex(self))
        return int(self._only())


def copied_to_part(target: MatBase, layout: Layout, part: Layout, source: MatBase) -> bool:
    """Copy a small Mat to a part of `target`, which has `layout`, if the part has its shape and
    dtype, their storages differ and the elements of both are packed; return False, with nothing
    done, for others, and where an access has to be opened.
    """
    one, given, storage = source.layout, source.storage, target.storage
    if _in_use or _observers or not _blocks.enabled or not one.contiguous or not part.contiguous:
        return False
    if one.size != part.size or one.shape != part.shape:
        return False
    if given is storage or given.dtype is not storage.dtype or not storage.writable:
        return False
    nbytes = one.size * storage.itemsize
    if nbytes >= MOST_AT_ONCE or not nbytes:
        return False
    given.find_address()
    storage.find_address()
    # no code of Python may run from here on, so that no Mat changes meanwhile
    if source.layout is not one or source.storage is not given or (
            target.layout is not layout or target.storage is not storage):
        return False
    at = given.ready(_foreign.mask, _foreign.bit, True, False)
    to = storage.ready(_foreign.mask, _foreign.bit, part.size != storage.size, True)
    if not at or not to:
        return False
    _blocks.copy(to + part.displacement * storage.itemsize,
                 at + one.displacement * storage.itemsize, nbytes)
    storage.written(_foreign.mask)
    return True


class _NotAnIndex:
    """The text of an error that is mostly caught, and not read: ``array[mask]`` asks a Mat for an
    index before it takes it as an array.
    """

    __slots__ = ("mat",)

    def __init__(self, mat: Any) -> None:
        self.mat: Any = mat

    def __str__(self) -> str:
        return f"only an integer Mat without axes is an index, not {self.mat.label()}"

    def __repr__(self) -> str:
        return repr(str(self))

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)


def _makes_a_view(index: tuple[object, ...]) -> bool:
    """Return whether `index` is one of basic indexing: integers, slices, ``...`` and None."""
    for item in index:
        if type(item) not in _OF_VIEWS:
            return False
    return True
