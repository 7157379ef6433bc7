"""Elements of a Mat as Python numbers, and iteration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from ..core.compiled import THREADS
from ..core.direction import INPUT
from ..core.observers import ELEMENT, OBSERVERS, SIZE
from ..errors import IndexOutOfRange, ShapeError
from ..facets.array import ARRAY
from ..layout.index_items import position
from ..layout.shapes import integer
from ..layout.strided import Layout, packed
from ..memories.host import HOST
from ..support.types import Index, Number
from .elements import Elements, RowIterator
from .exports import Exports


class Items(Exports):
    """The part of `Mat` that converts single elements."""

    __slots__ = ()

    def item(self, *index: Index) -> Number:
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
        if len(index) == 1:
            (only,) = index
            k = self.ravel_index(*only) if isinstance(only, tuple) else integer(only, "an index")
        elif index:
            k = self.ravel_index(*index)
        elif self.layout.size == 1:
            k, storage = 0, self.storage
            plain = self.element_type is storage.dtype
            elements = storage.host_array(HOST, ARRAY, False) if plain else None
            if elements is None and plain and storage.size == 1 and not OBSERVERS:
                return self._single()
            if elements is not None:
                return elements.item(self.layout.displacement)
        else:
            raise ShapeError(f"item() requires one element, {self.label()} has {self.size}; "
                             "item(k) takes the k-th")
        if not -self.size <= k < self.size:
            raise IndexOutOfRange(f"index {k} is out of range for {self.size} elements")
        with self._waits(ELEMENT):
            return self._item_at(_storage_index(self.layout, k))

    def _size_at(self, k: int) -> int:
        """Return element `k` of a vector of integers that determines the size of a result."""
        with self._waits(SIZE):
            return int(self.item(k))

    def _item_at(self, at: int) -> Number:
        """Return the element of the storage at that index."""
        if self.storage.is_elsewhere and self.element_type is self.storage.dtype:
            found = self.storage.peek_element(at)
            if found is not None:
                return found.item()
        with self.over(packed((), at)).facet("array", "input") as a:
            return a.item()

    def _single(self) -> Number:
        """Return the element of a storage of one, copied to the host if need be."""
        record = self.storage.open_unpresented(self, ARRAY, INPUT, THREADS.line())
        try:
            found: Number = self.storage.handles[HOST].item()
        finally:
            self.storage.close(record, False)
        return found

    def ravel_index(self, *index: int) -> int:
        """Return the row-major index of an element.

        Parameters
        ----------
        *index : int
            One index for each axis; each is checked against the length of its axis.

        Returns
        -------
        int
            The index into the elements in row-major order.

        Raises
        ------
        IndexOutOfRange
            If an index is out of range.
        ShapeError
            If the number of indices is not that of the axes.
        """
        if len(index) != self.ndim:
            raise ShapeError(f"{self.ndim} indices wanted for shape {self.shape}, got {index}")
        steps = packed(self.shape).strides
        return sum(position(i, k, self.shape[k]) * steps[k] for k, i in enumerate(index))

    def __iter__(self) -> Iterator[Self]:
        if self.ndim == 1 and self.storage.is_elsewhere:  # copies all at once, not one by one
            with self._waits("iteration"), self.facet("array", "input"):
                pass
        own = type(self).__getitem__ is Elements.__getitem__  # not that of a derived class
        return (RowIterator(self, len(self)) if own
                else map(self.__getitem__, range(len(self))))


def _storage_index(layout: Layout, k: int) -> int:
    """Return the storage index of the element with row-major index `k`, possibly negative."""
    k %= layout.size
    found = layout.displacement
    for n, s in zip(reversed(layout.shape), reversed(layout.strides), strict=True):
        k, i = divmod(k, n)
        found += i * s
    return found
