"""Exports of a Mat: arrays, buffers and the like that share its memory without a copy.

While an export exists, the Mat cannot be written.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ..core.compiled import BLOCKS, THREADS
from ..core.export import ExportRecord
from ..core.observers import OBSERVERS
from ..core.registry import Facet
from ..facets import ARRAY, array_kept_by
from ..support.dtypes import EXTENSIONS
from ..support.source_files import INSTALLED
from ..support.types import Array, DTypeLike, Nested, Presented
from .base import is_numpys
from .brief_copies import LARGE, MOST_APART
from .views import Views

MOST_AT_ONCE = 4096  # elements that are copied while the GIL is kept
_WRITABLE = 1  # of inspect.BufferFlags, which begins with Python 3.12
# with types of C
_array_kept_by, _array, _threads = array_kept_by, ARRAY, THREADS
_blocks, _observers = BLOCKS, OBSERVERS
_is_installed = INSTALLED.match


class Export:
    """An object that keeps a Mat from being written for as long as it exists.

    ``value`` is what the facet presents.
    """

    __slots__ = ("__weakref__", "record")

    def __init__(self, view: Views, facet: Facet) -> None:
        self.begin(view, facet)

    def begin(self, view: Views, facet: Facet) -> None:
        """Begin the export."""
        storage = view.storage
        self.record: ExportRecord = storage.export(
            view, facet, _threads.consumer_line(_is_installed))

    @property
    def value(self) -> Presented:
        """The exported value."""
        return self.record.value

    def __del__(self) -> None:
        try:
            record = self.record
        except AttributeError:  # uncompiled: `begin` failed
            return
        if record is not None:
            record.end()


def _begun(view: Views) -> Export:
    """Return a new export of the visible elements as an array."""
    export = Export.__new__(Export)
    export.begin(view, _array)
    return export


def exported_array(view: Views) -> Array:
    """Return the visible elements as a read-only array that keeps an export.

    Whatever is made of the array without copying keeps it, too.
    """
    export = _begun(view)
    return _array_kept_by(export, export.record.value, False)


def copied_array(view: Views, writable: bool) -> Array | None:
    """Return an array with a copy of few elements in their order; None if it takes an access."""
    found = _array_of_few(view, "K")
    if found is not None and not writable:
        _blocks.lock_array(found)
    return found


def _array_of_few(view: Views, order: Literal["C", "K"]) -> Array | None:
    """Return a copy of few elements in that order; None where an access has to be opened."""
    layout, storage = view.layout, view.storage
    if _observers or layout.size > (MOST_AT_ONCE if layout.contiguous else MOST_APART):
        return None
    address = storage.element_address(_array.mask, _array.bit)
    if not address:
        return None
    address += layout.displacement * view.element_size
    if layout.contiguous:
        return _blocks.copied_array(address, layout.shape, view.element_type,
                                    layout.size * view.element_size)
    apart: Array = _blocks.array_at(address, layout.shape, layout.strides, view.element_type, False)
    return apart.copy(order)


def _packed_bytes(view: Views) -> bytes | None:
    """Return a copy of packed bytes, if not too many; None where an access has to be opened."""
    layout, storage = view.layout, view.storage
    nbytes = layout.size * view.element_size
    if _observers or not layout.contiguous or nbytes >= LARGE:
        return None
    address = storage.element_address(_array.mask, _array.bit)
    if not address:
        return None
    return _blocks.bytes_at(address + layout.displacement * view.element_size, nbytes)


class Exports(Views):
    """The part of `Mat` that gives all of its data away: as a copy, or as an export."""

    __slots__ = ()

    def to_numpy(self) -> Array:
        """Return a copy of the visible elements as a NumPy array.

        Returns
        -------
        numpy.ndarray
            A new, writable array in C order.
        """
        made = _array_of_few(self, "C")
        if made is not None:
            return made
        with self.facet("array", "input") as a:
            return np.array(a, order="C", copy=True)

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> Array:
        """Return the elements for ``numpy.asarray``: an export, or a copy.

        They are copied if that is requested, or another dtype.
        """
        if dtype is None and not copy:
            return exported_array(self)
        own = self.element_type
        if copy or (dtype is not None and np.dtype(dtype) != own):
            if copy is False:
                raise ValueError(f"elements of {own} become {np.dtype(dtype)} by a copy only; "
                                 "allow it with copy=None")
            return self.to_numpy().astype(own if dtype is None else dtype, copy=False)
        return exported_array(self)

    def __buffer__(self, flags: int) -> memoryview:
        """Return a read-only export for ``memoryview``, from Python 3.12 on."""
        owner, value = self._exported(flags)
        return _array_kept_by(owner, value, False).data

    def __release_buffer__(self, buffer: memoryview) -> None:
        """Do nothing: `buffer` ends by itself. Consumers such as ``numpy.frombuffer`` keep the
        buffer, and not the Mat only, if there is this method.
        """

    def _exported(self, flags: int) -> tuple[Export, Array]:
        """Return an export and its array, for a consumer of a buffer."""
        if flags & _WRITABLE:
            raise BufferError("a Mat exports its memory read-only; with x.facet('array', 'io') as "
                              "a: ... gives a writable array")
        own = self.element_type
        if not is_numpys(own) and str(own.char) in EXTENSIONS:
            raise BufferError(f"buffers cannot hold {own}; numpy.asarray(x) can, or "
                              f"numpy.asarray(x).view('uint{8 * own.itemsize}')")
        export = _begun(self)
        return export, export.record.value

    def tolist(self) -> Nested:
        """Return the elements as nested lists of Python numbers.

        Returns
        -------
        list
            One list for each axis; without axes, a number.
        """
        made = _array_of_few(self, "C")
        if made is not None:
            return made.tolist()
        with self.facet("array", "input") as a:
            return a.tolist()

    def tobytes(self, order: Any = "C") -> bytes:
        r"""Return the bytes of the visible elements.

        Parameters
        ----------
        order : {"C", "F", "A"}
            By rows, by columns, or as they are stored if that is one of the two.

        Returns
        -------
        bytes
            A copy.

        Examples
        --------
        >>> import mat
        >>> mat.array([1, 2], "int8").tobytes()
        b'\x01\x02'
        """
        found = _packed_bytes(self) if order == "C" else None
        if found is not None:
            return found
        made = _array_of_few(self, "C") if order == "C" else None
        if made is not None:
            return made.tobytes()
        with self.facet("array", "input") as a:
            return a.tobytes(order)
