"""Indexing a Mat by NumPy's rules: basic indices give views, all integers an element, arrays of
indices a copy; and replacing all its elements.

Reading or writing single elements is slow: use operations on views instead.
"""

from __future__ import annotations

from functools import lru_cache, partial
from operator import getitem
from typing import Any

import numpy as np

from ...core.compiled import IN_USE
from ...core.direction import IO
from ...core.observers import HostCall
from ...devices.in_use import computes_elsewhere, note_fallback
from ...errors import DTypeError, IndexOutOfRange, ShapeError
from ...layout.shapes import Ints
from ...layout.strided import Layout
from ...matrix.arrays import array
from ...matrix.brief_calls import call_briefly
from ...matrix.brief_copies import none_else
from ...matrix.creation import adopted
from ...matrix.elements import copied_to_part
from ...matrix.mat import Mat
from ...matrix.methods import method
from ...matrix.nested import as_plain, converted
from ...support.dtypes import check_number
from ...support.options import current
from ...support.plugins import at_first_use
from ...support.types import Index, Keywords, Nested, Operand
from ..engine.calls import may_meet
from ..engine.operands import is_operand, shortened
from ..primitives.elementwise import assign, fill
from ..primitives.few_indices import items, picked, places, raveled_places
from .selection import Selection, as_array_of, as_index, as_source, selected, selects_as_array

_advanced = at_first_use("ops.indexing.advanced")
_CHOICES = frozenset((Mat, np.ndarray, list))  # types of a mask, or of an array of integers
_BASIC = frozenset((slice, int, type(None), type(...)))  # types of items of basic indexing
_ADVANCED = (list, tuple, range, np.ndarray, Mat, bool, np.bool_)
_in_use, _io, _mat = IN_USE, IO, Mat  # with types of C
_NO_KEYWORDS: Keywords = {}
MOST_COPIED = 1 << 18  # bytes of a part that are copied sooner than an assignment is planned


def _is_advanced(index: Index) -> bool:
    if type(index) in _BASIC:
        return False
    items = index if isinstance(index, tuple) else (index,)
    for item in items:  # compiled, a generator would cost as much as all the rest
        kind = type(item)
        if kind is _mat or (kind not in _BASIC and (isinstance(item, _ADVANCED)
                                                    or selects_as_array(item))):
            return True
    return False


@method("_get_by")
def get_item(self: Mat, index: Index) -> Operand:
    """Return a view, an element, or for arrays of indices a copy."""
    kind = type(index)
    if kind is slice:
        return self.over(self.layout[index])
    if kind is _mat or kind in _CHOICES or _is_advanced(index):
        return _gather(self, index)
    now = self._as_now()
    layout = now.layout[index]
    if not layout.shape and not _has_room(index) and current().scalars:
        if now.storage.is_elsewhere and now.element_type is now.storage.dtype:
            found = now.storage.peek_element(layout.displacement)
            if found is not None:
                return found
        with now.over(layout).facet("array", "input") as a:
            return a[()]
    return now.over(layout)


def _has_room(index: Index) -> bool:
    """Return whether `index` contains ``...``, so that the result is a Mat even without axes."""
    items = index if isinstance(index, tuple) else (index,)
    return any(i is Ellipsis for i in items)


@method("_set_by")
def set_item(self: Mat, index: Index, value: Operand) -> None:
    """Overwrite the elements with `value`, broadcast and converted to self's dtype."""
    if type(index) in _CHOICES or _is_advanced(index):
        _scatter(self, index, value)
        return
    _set_part(self, index, value)


def _set_part(self: Mat, index: Index, value: Operand) -> None:
    """Overwrite the selection of a basic index."""
    now = self._as_now()
    layout = now.layout
    _assign_part(now, layout if index is Ellipsis else layout[index], value)


@method("_set_view")
def set_view(self: Mat, layout: Layout, part: Layout, value: Mat) -> bool:
    """Overwrite a part of self, if that has `layout`, with a Mat; return False if it has not, or
    the elements are complex numbers that are converted.
    """
    now = self._as_now()
    dtype = value.element_type
    if now.layout is not layout or (dtype is not now.element_type and dtype.kind == "c"):
        return False
    _assign_part(now, part, value)
    return True


def _assign_part(now: Mat, part: Layout, value: Operand) -> None:
    """Overwrite a part of `now`."""
    target = now if part is now.layout else now._view_of(part)
    if isinstance(value, Mat) and value.storage is now.storage and _same(value, target):
        return  # what x[index] += y leaves to do
    now._direction_allowed(_io)  # also where the target alone would not overlap itself
    shape = target.layout.shape
    if (type(value) is float or type(value) is int) and shape and (now.element_type.kind in "cfiu"):
        fill(value, target)
    elif type(value) is _mat and 0 < value.ndim <= len(shape):
        if not copied_to_part(target, target.layout, target.layout, value):
            # a call is planned anew each time if they may overlap
            apart = not may_meet(value, target) or not none_else() or (value.nbytes > MOST_COPIED)
            assign(value if apart else value.copy(), target)
    else:
        _assign_any(now, target, value)


def _assign_any(self: Mat, target: Mat, value: Operand) -> None:
    """Overwrite `target`, a part of self, with a value that is no Mat of at most so many axes."""
    source = as_source(value, self)
    if isinstance(source, Mat) and source.ndim > len(target.shape):
        source = _without_leading(source, len(target.shape))
    single = not target.shape and not isinstance(source, Mat)
    if not single or self.element_type is not self.storage.dtype or not self.storage.poke(
            np.asarray(source, self.dtype).reshape(1), target.displacement):
        target.assign_(source)


def _without_leading(source: Mat, ndim: int) -> Mat:
    """Return `source` without its first axes, where these have length 1, so that `ndim` remain."""
    extra = source.ndim - ndim
    return source.squeeze(tuple(range(extra))) if source.shape[:extra] == (1,) * extra else source


def _same(a: Mat, b: Mat) -> bool:
    return (a.shape == b.shape and a.element_strides == b.element_strides
            and a.displacement == b.displacement and a.dtype == b.dtype)


def _plain(index: Index) -> Index:
    """Return `index` with Mats as arrays."""
    if isinstance(index, tuple):
        return tuple(_plain(i) for i in index)
    return index.to_numpy() if isinstance(index, Mat) else index


_without_memory = lru_cache(64)(partial(np.broadcast_to, np.int8(0)))


def _checked_shape(self: Mat, index: Index, given: Index) -> Ints:
    """Return the shape that `index` selects, found on an array that takes no memory."""
    try:
        return tuple(_without_memory(self.shape)[index].shape)
    except (IndexError, ValueError) as error:
        raise _out_of_range(self, given, error) from None


def _out_of_range(self: Mat, given: Index, error: Exception) -> IndexOutOfRange:
    """Return the error for an index that NumPy refuses, a `ValueError`, too, if ragged."""
    return IndexOutOfRange(f"{self.label()} cannot be indexed with {shortened(given)}: {error}")


def _on_host(self: Mat, index: tuple[Index, ...]) -> Selection | None:
    """Return the selection of one mask or array among slices and integers, for the host; or None.

    It selects from the view that slices and integers give: not with a slice between an integer and
    the array, which NumPy broadcasts together to an axis that comes first.
    """
    at, first, last, numbers, whole = -1, -1, -1, 0, True
    for k in range(len(index)):
        kind = type(index[k])
        if kind is slice:
            whole = whole and index[k] == _ALL
            continue
        if kind is int:
            numbers, whole = numbers + 1, False
        elif at >= 0 or kind not in _CHOICES:
            return None
        else:
            at = k
        first, last = k if first < 0 else first, k
    if at < 0 or len(index) > self.ndim or last - first > numbers:
        return None
    chosen: Any = as_index(index[at])
    if chosen is None:
        return None
    if whole and not at:
        return selected(self, chosen, 0)
    now = self._as_now()
    view = now._view_of(now.layout[(*index[:at], _ALL, *index[at + 1:])])
    if chosen.element_type.kind != "b":
        return selected(view, chosen, first)
    if chosen.layout.shape != view.layout.shape[first:first + 1]:
        return None  # a mask of more axes, or NumPy's error
    if not first:
        return selected(view, chosen, 0)
    found = places(chosen)
    return None if found is None else selected(view, found[0], first)


def _of_elements(self: Mat, index: tuple[Index, ...]) -> Selection | None:
    """Return the selection of a packed Mat by few integers along each axis; None for others."""
    now = self._as_now()
    at = raveled_places(index, now.layout.shape, True) if now.layout.contiguous else None
    return None if at is None else selected(now._view_of(now.layout.flat()), at, 0)


_ALL = slice(None)


def _there(self: Mat, index: Index, name: str) -> Any:
    """Return the selection on the device in use; None, with a copy home, if the host has to."""
    if not _in_use or not computes_elsewhere(self):
        return None
    there = _advanced.advanced(self, index)
    if there is None:
        _checked_shape(self, _plain(index), index)
        note_fallback(name, self)
        with HostCall(name), self.facet("array", "input"):
            pass
    return there


def _gather(self: Mat, index: Index) -> Operand:
    there = _there(self, index, "getitem")
    if there is not None:
        return there.get()
    found: Operand = picked(self, index) if type(index) is tuple else (items(self, index, False))
    if found is None:
        chosen = _on_host(self, index) if type(index) is tuple else selected(self, index, 0)
        found = None if chosen is None else chosen.get()
    if found is None:
        found = call_briefly(getitem, (self, index), _NO_KEYWORDS, True)
    return found if type(found) is _mat else _gather_by_numpy(self, index)


def _gather_by_numpy(self: Mat, index: Index) -> Mat:
    plain = _plain(index)
    if self.storage.is_elsewhere:
        _checked_shape(self, plain, index)  # before it is copied
    with self.facet("array", "input") as a:
        try:
            found = np.asarray(a[plain])
        except (IndexError, ValueError) as error:
            raise _out_of_range(self, index, error) from None
        return adopted(found if found.base is None else found.copy())


def _scatter(self: Mat, index: Index, value: Operand) -> None:
    chosen = _there(self, index, "setitem")
    if chosen is None:
        chosen = _on_host(self, index) if type(index) is tuple else selected(self, index, 0)
    if chosen is None and type(index) is tuple:
        chosen = _of_elements(self, index)
    if chosen is not None:
        view: Any = self
        view._direction_allowed(_io)
    if chosen is None or not chosen.set(value):
        _scatter_by_numpy(self, index, value)


def _scatter_by_numpy(self: Mat, given: Index, value: Operand) -> None:
    index = _plain(given)
    shape = _checked_shape(self, index, given)
    if type(value) is float or type(value) is int:
        check_number(value, self.element_type, "value")
        source: Operand = value
    else:
        source = as_array_of(as_source(value, self), self.dtype, shape)
    with self.facet("array", "io") as a:
        a[index] = source


@method("__contains__")
def contains(self: Mat, value: Operand) -> bool:
    """Return whether any element equals that of `value`, after broadcasting."""
    try:
        found = self == (value if is_operand(value) else array(value))
    except DTypeError:  # no number, or one that no element can equal
        return False
    return bool(found.size and found.max())


@method("replace_")
def replace_(self: Mat, nested: Nested) -> Mat:
    """Overwrite self with the elements of nested sequences, an array or a Mat, and return self.

    Parameters
    ----------
    nested : sequence, array or Mat
        The elements, in the shape of self; they are converted to its dtype.

    Returns
    -------
    Mat
        self.

    Raises
    ------
    ShapeError
        If they have another shape than self.

    Examples
    --------
    >>> import mat
    >>> mat.zeros(2, 2).replace_([[1, 2], [3, 4]])
    <Mat 2x2 A [[1. 2.] [3. 4.]]>
    """
    elements = converted(nested, as_plain(nested), self.dtype)
    if elements.shape != self.shape:
        raise ShapeError(f"replace_ requires shape {self.shape}, got {elements.shape}")
    with self.facet("array", "output") as a:
        a[...] = elements
    return self
