"""`Storage`: the elements of Mats, a cube with a dtype."""

from __future__ import annotations

from ..core.cube import Cube
from ..core.observers import OBSERVERS
from ..core.source_line import warn
from ..errors import TornError
from ..support.options import current
from ..support.types import DType, Number

_observers = OBSERVERS  # with a type of C


class Storage(Cube):
    """The elements of one or more Mats, in any number of memories.

    They were made with the dtype of the storage; Mats may take the bytes as elements of others.
    """

    __slots__ = ("itemsize", "writable")

    def __init__(self, size: int, dtype: DType, fill_value: Number) -> None:
        self.begin()
        self.describe(size, dtype, dtype.itemsize, fill_value)

    def describe(self, size: int, dtype: DType, itemsize: int, fill_value: Number) -> None:
        """Set size, dtype and initial value of the elements, and notify observers."""
        self.size = size
        self.dtype: DType = dtype
        self.itemsize: int = itemsize
        self.nbytes: int = size * itemsize
        self.fill_value = fill_value
        self.writable: bool = True
        if _observers:
            for observer in tuple(_observers):
                observer.created(self)

    def read_torn(self, error: TornError) -> None:
        """Raise, warn or do nothing, as ``settings.torn`` says; the data remains torn."""
        if current().torn == "raise":
            raise TornError(*error.args)
        if current().torn == "warn":
            warn(f"reading torn data: {error}", RuntimeWarning)
