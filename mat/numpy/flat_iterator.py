"""`flat` of NumPy's arrays: the elements of a Mat in row-major order.

Compiled, so that single elements are read and written at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import Any, Self, overload

import numpy as np

from ..errors import DTypeError, ShapeError
from ..layout.strided import packed
from ..matrix.delegate import delegate
from ..matrix.mat import Mat
from ..matrix.methods import bind
from ..support.options import ONLY_MATS
from ..support.types import (
    Array,
    ArrayLike,
    ArrayObject,
    AxisIndex,
    DTypeLike,
    Entry,
    Index,
    Operand,
)

_only_mats = ONLY_MATS  # with a type of C
_NUMBERS = frozenset((int, float, bool))


class FlatIterator:
    """The elements of a Mat in row-major order; NumPy's is `numpy.flatiter`.

    Examples
    --------
    >>> import mat
    >>> x = mat.array([[1.0, 2.0], [3.0, 4.0]])
    >>> x.T.flat[1:3].tolist()
    [3.0, 2.0]
    >>> x.flat[0] = 7
    >>> x.tolist()
    [[7.0, 2.0], [3.0, 4.0]]
    """

    def __init__(self, x: Mat) -> None:
        self.base: Mat = x
        self.index: int = 0  # of the element that comes next

    @property
    def coords(self) -> tuple[int, ...]:
        """The indices of the element that comes next."""
        left, found = self.index, []
        for step in packed(self.base.shape).strides:
            found.append(left // max(step, 1))
            left %= max(step, 1)
        return tuple(found)

    def __len__(self) -> int:
        return self.base.size

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Entry:
        if self.index >= self.base._seen().size:
            raise StopIteration
        found = self._element(self.index)
        if found is None:
            found = self.base[self.coords]
        self.index += 1
        return found

    def _element(self, k: int) -> Entry | None:
        """Return an element; None if there is none, or reading it takes an access."""
        view: Any = self.base
        layout = view._seen()
        if k < 0:
            k += layout.size
        if _only_mats or not 0 <= k < layout.size:
            return None
        if layout.contiguous:
            return view._element(layout.displacement + k)
        at = layout.displacement
        for axis in range(len(layout.shape) - 1, -1, -1):
            n, step = layout.shape[axis], layout.strides[axis]
            at += k % n * step
            k //= n
        return view._element(at)

    def _vector(self) -> Mat:
        x = self.base
        return x if x.ndim == 1 else x.contiguous().reshape(-1)

    def copy(self) -> Mat:
        """Return the elements as a new vector."""
        return self._vector().copy()

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> Array:
        return np.array(self._vector(), dtype)

    @overload
    def __getitem__(self, index: int | np.integer[Any]) -> Entry: ...
    @overload
    def __getitem__(self, index: slice | EllipsisType | ArrayObject | Sequence[int]) -> Mat: ...
    def __getitem__(self, index: Index) -> Operand:
        found = None
        if type(index) is int:
            try:
                found = self._element(index)
            except OverflowError:  # an integer that C cannot represent
                pass
        if found is None:
            found = self._vector()[_plain(index)]
        return found.copy() if isinstance(found, Mat) and found.is_view else found

    def __setitem__(self, index: AxisIndex, value: ArrayLike) -> None:
        """Overwrite elements; values repeat if they are fewer."""
        at = _plain(index)
        try:
            done = self._set_quickly(at, value)
        except OverflowError:  # as above
            done = False
        if not done:
            self._set_by_numpy(at, value)

    def _set_quickly(self, at: Index, value: ArrayLike) -> bool:
        """Write a number of Python's at once to a packed Mat; return whether it was."""
        view: Any = self.base
        layout = view._seen()
        if type(value) not in _NUMBERS or not layout.contiguous or not (
                type(at) is int or type(at) is slice or at is Ellipsis):
            return False
        vector: Any = view._view_of(layout.flat())
        return bool(vector._set_quickly(at, value))

    def _set_by_numpy(self, at: Index, value: ArrayLike) -> None:
        if isinstance(value, list | tuple | np.ndarray | Mat) and np.size(value) == 0:
            selected: Operand = self._vector()[at]
            if np.size(selected) == 0:
                return
            raise ShapeError(f"values of shape {np.shape(value)} for x.flat have no elements")
        delegate(_assigned, (self.base, at, value), written=(self.base,), name="flat")

    def __delitem__(self, index: Index) -> None:
        raise DTypeError("elements of x.flat cannot be deleted; mat.delete(x, index) copies the "
                         "others")

    def __eq__(self, other: object) -> Operand:
        return self._vector() == (other._vector() if isinstance(other, FlatIterator) else other)

    def __ne__(self, other: object) -> Operand:
        return self._vector() != (other._vector() if isinstance(other, FlatIterator) else other)


def _plain(index: Index) -> Index:
    """Return an index of one axis, possibly given in a tuple."""
    return index[0] if isinstance(index, tuple) and len(index) == 1 else index


def _assigned(a: Array, at: Index, value: Operand) -> None:
    a.flat[at] = value


def flat(self: Mat) -> FlatIterator:
    """The elements in row-major order, to iterate over, to index and to assign to."""
    return FlatIterator(self)


def set_flat(self: Mat, value: Operand) -> None:
    """Overwrite the elements in row-major order with values, repeated if they are fewer."""
    FlatIterator(self)[...] = value


bind("flat", property(flat, set_flat))
