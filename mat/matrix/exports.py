"""Leases: what NumPy and others make of a Mat without copying keeps it from being written until it
is gone.

`Exports` is what a Mat answers to ``numpy.asarray``, ``memoryview`` and the like.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.access_record import consumer_line
from ..core.cube import Facet
from ..facets.array import ARRAY
from .views import Views

_WRITABLE = 1  # of inspect.BufferFlags, which begins with Python 3.12
_BITS = np.dtype(np.uint16)


class Export:
    """Something that others keep for as long as they use the data of a Mat: then it cannot be
    written.

    ``value`` is what the facet presents. For the array facet, a lease is what `numpy.asarray` makes
    an array of.
    """

    __slots__ = ("__array_interface__", "__weakref__", "record")
    __array_interface__: dict[str, Any]

    def __init__(self, view: Views, facet: Facet) -> None:
        self.record = view.storage.export(view, facet, consumer_line())

    @property
    def value(self) -> Any:
        """What is lent."""
        return self.record.value

    def __del__(self) -> None:
        record = getattr(self, "record", None)  # there is none if it could not be had
        if record is not None:
            record.end()


def exported_array(view: Views) -> np.ndarray[Any, Any]:
    """The visible elements as a read-only array that holds a lease: it, and whatever is made of it
    without copying.
    """
    lease = Export(view, ARRAY)
    a: np.ndarray[Any, Any] = lease.value
    plain = a.dtype.char != "E"  # bfloat16: the interface has no word for it
    lease.__array_interface__ = (a if plain else a.view(_BITS)).__array_interface__
    lent = np.asarray(lease)
    return lent if plain else lent.view(a.dtype)


class Exports(Views):
    """What can be had of the data as a whole: a copy, or a lease of the host's memory."""

    __slots__ = ()

    def facet(self, name: str, direction: Any = "io") -> Any:
        """A look at self through a facet."""
        raise NotImplementedError

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """A fresh, writable copy of the visible elements as a NumPy array in C order."""
        with self.facet("array", "input") as a:
            return np.array(a, order="C", copy=True)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """For ``numpy.asarray``: the elements without a copy, under a lease; a copy if that is
        asked for, or another dtype.
        """
        own = self.storage.dtype
        if copy or (dtype is not None and np.dtype(dtype) != own):
            if copy is False:
                raise ValueError(f"elements of {own} become {np.dtype(dtype)} by a copy only; "
                                 "allow it with copy=None")
            return self.to_numpy().astype(own if dtype is None else dtype, copy=False)
        return exported_array(self)

    def __buffer__(self, flags: int) -> memoryview:
        """For ``memoryview``, from Python 3.12 on: likewise, read-only."""
        if flags & _WRITABLE:
            raise BufferError("a Mat exports its memory read-only; with x.facet('array', 'io') as "
                              "a: ... gives a writable array")
        if self.storage.dtype.char == "E":
            raise BufferError("buffers cannot hold bfloat16; numpy.asarray(x) can, or "
                              "numpy.asarray(x).view('uint16')")
        # arrays are buffers, which 3.11's types cannot say
        return memoryview(exported_array(self))  # type: ignore[arg-type]

    def tolist(self) -> Any:
        """Nested lists of Python numbers."""
        with self.facet("array", "input") as a:
            return a.tolist()
