"""Single elements of a Mat as Python numbers, iteration, and conversion to a number or an index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..errors import DTypeError, IndexOutOfRange, ShapeError
from ..layout.strided import integer, packed, position
from ..support.types import Index, Number, Operand
from .exports import Exports


class Items(Exports):
    """The part of `Mat` that converts single elements."""

    __slots__ = ()

    if TYPE_CHECKING:

        def __getitem__(self, index: Index) -> Operand: ...

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
        elif self.size == 1:
            k = 0
        else:
            raise ShapeError(f"item() wants one element, {self.label()} has {self.size}; item(k) "
                             "takes the k-th")
        if not -self.size <= k < self.size:
            raise IndexOutOfRange(f"index {k} is out of range for {self.size} elements")
        if self.storage.is_elsewhere:
            found = self.storage.peek_element(self.layout.storage_index(k))
            if found is not None:
                return found.item()
        with self.facet("array", "input") as a:
            return a.item(k)

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
            If an index is out of range, or their number is not that of the axes.
        """
        if len(index) != self.ndim:
            raise IndexOutOfRange(f"{self.ndim} indices wanted for shape {self.shape}, got {index}")
        steps = packed(self.shape).strides
        return sum(position(i, k, self.shape[k]) * steps[k] for k, i in enumerate(index))

    def __iter__(self) -> Iterator[Operand]:
        if self.ndim == 1 and self.storage.is_elsewhere:  # copies all at once, not one by one
            with self.facet("array", "input"):
                pass
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ShapeError(f"whether {self.label()} is true is not clear, it has {self.size} "
                             "elements; x.any() and x.all() have one")
        return bool(self.item())

    def __float__(self) -> float:
        return float(self._real())

    def __int__(self) -> int:
        return int(self._real())

    def _real(self) -> Number:
        if self.storage.dtype.kind == "c":
            raise DTypeError(f"{self.label()} is complex; complex(x) takes its element")
        return self._number()

    def _number(self) -> Number:
        if self.size != 1:
            raise DTypeError(f"only a Mat of one element is a number, {self.label()} has "
                             f"{self.size}; x.item(k) takes the k-th")
        return self.item()

    def __complex__(self) -> complex:
        return complex(self._number())

    def __index__(self) -> int:
        if self.ndim or self.storage.dtype.kind not in "iu":
            raise DTypeError(f"only an integer Mat without axes is an index, not {self.label()}")
        return int(self.item())
