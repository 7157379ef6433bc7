"""Indexing a Mat: NumPy's rules. Basic indices give views, all integers an element, arrays of
indices a copy.

Reading or writing single elements is slow: use operations on views instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.cube import IO
from ..errors import DTypeError, IndexOutOfRange, ShapeError
from ..layout.strided import Ints, broadcast_shapes
from ..matrix.creation import adopted, array
from ..matrix.mat import Mat
from ..matrix.methods import method
from ..support.dtypes import check_number
from .declare_elementwise import as_operand, is_operand


def _is_advanced(index: Any) -> bool:
    items = index if isinstance(index, tuple) else (index,)
    return any(isinstance(i, list | tuple | range | np.ndarray | Mat | bool | np.bool_)
               for i in items)


@method("__getitem__")
def _get(self: Mat, index: Any) -> Any:
    """``x[index]``: a view, an element, or for arrays of indices a copy."""
    if type(index) is slice:
        return self.over(self.layout.rows(index))
    if _is_advanced(index):
        return _gather(self, _plain(index), index)
    layout = self.layout[index]
    if not layout.shape and not _has_room(index):
        if self.storage.is_elsewhere and (found := self.storage.peek_element(layout.displacement)) is not None:
            return found
        with self.facet("array", "input") as a:
            return a[index]
    return self.over(layout)


def _has_room(index: Any) -> bool:
    """Whether `index` holds something that makes the result a Mat even without axes."""
    items = index if isinstance(index, tuple) else (index,)
    return any(i is Ellipsis for i in items)


@method("__setitem__")
def _set(self: Mat, index: Any, value: Any) -> None:
    """``x[index] = value``: broadcast and converted to x's dtype."""
    if _is_advanced(index):
        _scatter(self, _plain(index), index, value)
        return
    target = self.over(self.layout[index])
    if isinstance(value, Mat) and value.storage is self.storage and _same(value, target):
        return  # what x[index] += y leaves to do
    self.allowed(IO)  # also where the target alone would not overlap itself
    source = _source(value, self.dtype)
    single = not target.shape and not isinstance(source, Mat)
    if not single or not self.storage.poke(np.asarray(source, self.dtype).reshape(1),
                                           target.displacement):
        target.assign_(source)


def _source(value: Any, dtype: np.dtype[Any]) -> Any:
    """What to assign to elements of `dtype`: a Mat, or a number that fits."""
    if not is_operand(value):
        return array(value, dtype)
    if not isinstance(value, Mat | np.ndarray):
        check_number(value, dtype, "value")
    return as_operand(value, "value")


def _same(a: Mat, b: Mat) -> bool:
    return (a.shape, a.strides, a.displacement) == (b.shape, b.strides, b.displacement)


def _plain(index: Any) -> Any:
    """`index` with Mats as arrays."""
    if isinstance(index, tuple):
        return tuple(_plain(i) for i in index)
    return index.to_numpy() if isinstance(index, Mat) else index


def _checked_shape(self: Mat, index: Any, given: Any) -> Ints:
    """The shape that `index` selects, found on an array that takes no memory."""
    try:
        return tuple(np.broadcast_to(np.int8(0), self.shape)[index].shape)
    except (IndexError, ValueError) as error:  # ValueError: ragged nesting
        raise IndexOutOfRange(f"{self.label()} cannot be indexed with {given!r}: {error}") from None


def _gather(self: Mat, index: Any, given: Any) -> Mat:
    _checked_shape(self, index, given)
    with self.facet("array", "input") as a:
        return adopted(np.asarray(a[index]).copy())


def _scatter(self: Mat, index: Any, given: Any, value: Any) -> None:
    shape = _checked_shape(self, index, given)
    source = array(_source(value, self.dtype), self.dtype).to_numpy()
    if broadcast_shapes((source.shape, shape)) != shape:
        raise ShapeError(f"a value of shape {source.shape} does not broadcast to the selected "
                         f"{shape}")
    with self.facet("array", "io") as a:
        a[index] = source


@method("__contains__")
def _contains(self: Mat, value: Any) -> bool:
    """``value in x``: whether any element equals that of `value`, which broadcasts."""
    try:
        found = self == (value if is_operand(value) else array(value))
    except DTypeError:  # no number, or one that no element can equal
        return False
    return bool(found.size and found.max())
