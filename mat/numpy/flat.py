"""``x.flat``: the elements of a Mat in row-major order, to iterate over, index and assign to."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..errors import ShapeError
from ..layout.strided import packed
from ..matrix.delegate import delegate
from ..matrix.mat import Mat
from ..support.types import Array, DTypeLike, Index, Operand


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

    __slots__ = ("base", "index")

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

    def __iter__(self) -> Iterator[Operand]:
        return self

    def __next__(self) -> Operand:
        if self.index >= self.base.size:
            raise StopIteration
        found = self.base[self.coords]
        self.index += 1
        return found

    def _vector(self) -> Mat:
        """Return the elements as a vector, a view where that is possible."""
        x = self.base
        return x if x.ndim == 1 else x.contiguous().reshape(-1)

    def copy(self) -> Mat:
        """Return the elements as a new vector."""
        return self._vector().copy()

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> Array:
        return np.array(self._vector(), dtype)

    def __getitem__(self, index: Index) -> Operand:
        found = self._vector()[_plain(index)]
        return found.copy() if isinstance(found, Mat) and found.is_view else found

    def __setitem__(self, index: Index, value: Operand) -> None:
        """Overwrite elements; values repeat if they are fewer."""
        if isinstance(value, list | tuple | np.ndarray | Mat) and np.size(value) == 0:
            if np.size(self[index]) == 0:
                return
            raise ShapeError(f"values of shape {np.shape(value)} for x.flat have no elements")

        def assign(a: Array, at: Index, v: Operand) -> None:
            a.flat[at] = v

        delegate(assign, (self.base, _plain(index), value), written=(self.base,), name="flat")

    def __eq__(self, other: object) -> Operand:
        return self._vector() == (other._vector() if isinstance(other, FlatIterator) else other)

    def __ne__(self, other: object) -> Operand:
        return self._vector() != (other._vector() if isinstance(other, FlatIterator) else other)

    __hash__: None  # type: ignore[assignment]  # since it has __eq__


def _plain(index: Index) -> Index:
    """Return an index of one axis, possibly given in a tuple."""
    return index[0] if isinstance(index, tuple) and len(index) == 1 else index
