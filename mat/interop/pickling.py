"""Pickling: a Mat is pickled as its visible elements, packed, once; from protocol 5 on out of band,
if the pickler supports that.

An unpickled Mat has memory of its own on the host. As with an ndarray, views are not preserved, nor
are devices and further copies.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pickle import PickleBuffer
from typing import SupportsIndex
from weakref import WeakValueDictionary

import numpy as np

from ..core.access import Access
from ..core.direction import INPUT
from ..core.registry import facet_over
from ..errors import FormatError, MatError
from ..facets import ARRAY, array_kept_by, over
from ..layout.shapes import as_shape
from ..matrix.exports import Export
from ..matrix.mat import Mat
from ..matrix.methods import method
from ..matrix.storage import Storage
from ..support.c_pointers import address_of
from ..support.dtypes import as_dtype
from ..support.fork import at_fork
from ..support.types import Arguments, Array, Bytes, Operand

# by address: the storage that was pickled and may still use it, or that got it by a pickle
_known: WeakValueDictionary[int, Storage] = WeakValueDictionary()
_known_lock = threading.Lock()
# or a child could find the lock acquired by a thread that it does not have
at_fork(before=_known_lock.acquire, after_in_parent=_known_lock.release,
        after_in_child=_known_lock.release)

# joblib.hash pickles by this protocol, and knows arguments again by the bytes: equal elements give
# equal ones, however they came about, if they are few
_OF_JOBLIB, _MOST_HASHED = 3, 1 << 20

# Pickling


@method("__reduce_ex__")
def _reduce_ex(self: Mat, protocol: SupportsIndex) -> Arguments:
    """Return the parts that `pickle` stores of self; raise `TornError` if the data is torn."""
    elements = _elements(self, protocol.__index__())
    fill = self.fill_value
    if protocol.__index__() == _OF_JOBLIB and elements is not None:
        fill = None
    parts = (type(self), self.shape, self.dtype.name, sys.byteorder,
             fill.item() if isinstance(fill, np.generic) else fill, self.device_enabled, elements)
    own = getattr(self, "__dict__", None)  # of a subclass
    return (unpickled, parts, own) if own else (unpickled, parts)


def _elements(self: Mat, protocol: int) -> PickleBuffer | bytes | None:
    """Return the visible elements, row by row, or None if they were never accessed."""
    storage = self.storage
    storage.settle_pending(False)
    with storage.lock:
        if protocol == _OF_JOBLIB and self.nbytes <= _MOST_HASHED:
            pass
        elif is_unwritten(self):
            return None
    if protocol > 4 and self.is_contiguous and not storage.is_elsewhere and storage.writer is None:
        return exported_buffer(self)
    with elements_of(self) as a:
        return a.tobytes() if protocol < 5 else _buffer(np.array(a, order="C", copy=True))


def is_unwritten(x: Mat) -> bool:
    """Return whether the fill value says all of the elements; the caller holds the lock."""
    storage = x.storage
    return (storage.pristine and not storage.fresh and storage.writer is None
            and (x.fill_value is not None or storage.fill_value is None))


def _buffer(a: Array) -> PickleBuffer:
    raw: Operand = a.reshape(-1).view(np.uint8)  # a buffer, which 3.11's types cannot say
    return PickleBuffer(raw)


def exported_buffer(self: Mat) -> PickleBuffer:
    """Return the memory itself as an export, so that it is not written while it is pickled.

    It is not marked as read-only: pickle requires the receiver to copy such a buffer. Therefore its
    address is recorded here, and what is unpickled from it in this process is a copy.
    """
    export = Export(self, ARRAY)
    elements: Array = export.value.reshape(-1).view(np.uint8)
    with _known_lock:
        _known[address_of(elements)] = self.storage
    return _buffer(array_kept_by(export, elements, self.form.writable))


@contextmanager
def elements_of(self: Mat) -> Iterator[Array]:
    """Present the elements in a block; those on a device only, in a copy without moving them,
    unless the device is another thread's.
    """
    storage = self.storage
    facet = facet_over(storage.fresh_memories()[0], storage.seen) if storage.is_elsewhere else None
    if facet is None or (facet.of_device and not facet.device.is_in_use()):
        with self.facet("array", "input") as a:
            yield a
        return
    with Access(self, facet, INPUT):  # so that nothing writes meanwhile
        yield over(self._peeked([self.layout.bounds]), self.layout)


# Unpickling


# The signature is fixed by the pickles that exist
def unpickled(kind: object, shape: object, dtype: object, byteorder: object, fill: Operand,
              device_enabled: object, elements: Operand) -> Mat:
    """Return the Mat that was pickled with these parts; raise `FormatError` if they do not fit.

    Pickles name this function, and are kept for years: neither its name nor the parts may change,
    but further ones may be added.
    """
    if not (isinstance(kind, type) and issubclass(kind, Mat)):
        raise FormatError(f"a pickle of a Mat names {kind!r}, which is not a class of Mats")
    if (not isinstance(dtype, str) or byteorder not in ("little", "big")
            or not isinstance(device_enabled, bool)):
        raise FormatError(f"a pickled Mat has dtype {dtype!r}, byte order {byteorder!r} and "
                          f"device_enabled {device_enabled!r}")
    mat = Mat.__new__(kind)
    try:
        Mat.__init__(mat, as_shape(shape), as_dtype(dtype), fill=fill)
    except (MatError, TypeError) as error:
        raise FormatError(f"a pickled Mat has shape {shape!r}, dtype {dtype!r} and fill value "
                          f"{fill!r}: {error}") from None
    mat.device_enabled = device_enabled
    if elements is not None:
        _adopt(mat, _as_bytes(mat, elements), swapped=byteorder != sys.byteorder)
    return mat


def _as_bytes(mat: Mat, elements: Operand) -> Bytes:
    """Return the pickled elements as bytes, without copying."""
    try:
        found = (np.frombuffer(elements, np.uint8) if memoryview(elements).nbytes
                 else np.empty(0, np.uint8))
    except (TypeError, ValueError, BufferError) as error:
        raise FormatError("the elements of a pickled Mat are bytes, got "
                          f"{type(elements).__name__}: {error}") from None
    if found.size != mat.nbytes:
        raise FormatError(f"a pickled Mat of shape {mat.shape} and dtype {mat.dtype} has "
                          f"{mat.nbytes} bytes, got {found.size}")
    return found


def _adopt(mat: Mat, raw: Bytes, swapped: bool) -> None:
    """Give `mat` the bytes `raw` as its memory, or a copy where something else may write them."""
    flat = raw.view(mat.dtype)
    with _known_lock:
        address = flat.__array_interface__["data"][0]
        if swapped:
            flat = flat.byteswap()
        elif not flat.flags.writeable or not flat.flags.aligned or address in _known:
            flat = flat.copy()
        else:
            _known[address] = mat.storage
    mat.storage.adopt_host(flat, owned=True)
    mat.storage.seen = ARRAY.bit
