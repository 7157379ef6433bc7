"""Pickling: a Mat is sent as its visible elements, packed, once; from protocol 5 on out of band, if
the pickler takes that.

What arrives has memory of its own on the host. Views, devices and other copies stay behind, as with
an ndarray.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pickle import PickleBuffer
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from ..core.access import Access
from ..core.cube import INPUT, all_facets
from ..errors import FormatError, MatError
from ..facets.array import ARRAY, over
from ..layout.strided import as_shape
from ..matrix.exports import Export
from ..matrix.mat import Mat, Storage
from ..matrix.methods import method
from ..support.dtypes import as_dtype

Array = np.ndarray[Any, Any]

# by address of the memory: who sent it and may still use it, or was given it by a pickle
_KNOWN: WeakValueDictionary[int, Storage] = WeakValueDictionary()
_noting = threading.Lock()
# or a child could find it held by a thread that it does not have
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_noting.acquire, after_in_parent=_noting.release,
                        after_in_child=_noting.release)


# Sending


@method("__reduce_ex__")
def _reduce_ex(self: Mat, protocol: int) -> tuple[Any, ...]:
    """What `pickle` stores of self. `TornError` if the data was left half-written."""
    fill = self.storage.fill_value
    parts = (type(self), self.shape, self.dtype.name, sys.byteorder,
             fill.item() if isinstance(fill, np.generic) else fill,
             self.device_enabled, _elements(self, protocol))
    own = getattr(self, "__dict__", None)  # of a subclass
    return (unpickled, parts, own) if own else (unpickled, parts)


def _elements(self: Mat, protocol: int) -> PickleBuffer | bytes | None:
    """The visible elements, row by row; None if nobody ever wrote or read any."""
    storage = self.storage
    with storage.lock:
        if storage.pristine and not storage.fresh and storage.writer is None:
            return None
    if protocol > 4 and self.is_contiguous and not storage.is_elsewhere and storage.writer is None:
        return _lent(self)
    with seen(self) as a:
        return a.tobytes() if protocol < 5 else _buffer(np.array(a, order="C", copy=True))


def _buffer(a: Array) -> PickleBuffer:
    raw: Any = a.reshape(-1).view(np.uint8)
    return PickleBuffer(raw)


def _lent(self: Mat) -> PickleBuffer:
    """The memory itself, under a lease: nobody writes it while it is on its way.

    It is not marked as read-only, for then what receives it had to copy it, pickles say. That is
    why it is noted here: what is unpickled from it in this process is a copy.
    """
    lease = Export(self, ARRAY)
    interface = lease.value.reshape(-1).view(np.uint8).__array_interface__
    address = interface["data"][0]
    lease.__array_interface__ = {**interface, "data": (address, not self.storage.writable)}
    with _noting:
        _KNOWN[address] = self.storage
    return _buffer(np.asarray(lease))


@contextmanager
def seen(self: Mat) -> Iterator[Array]:
    """The elements for a while; those that are on a device only by a copy that leaves them there
    and only there.
    """
    storage = self.storage
    if not storage.is_elsewhere:
        with self.facet("array", "input") as a:
            yield a
        return
    source = storage.fresh_memories()[0]
    facet = min((f for f in all_facets() if f.memory is source),
                key=lambda f: not storage.seen & f.bit)
    with Access(self, facet, INPUT):  # so that nobody writes meanwhile
        yield over(storage.peek([self.layout.bounds]), self.layout)


# Receiving


def unpickled(kind: Any, shape: Any, dtype: Any, byteorder: Any, fill: Any, device_enabled: Any,
              elements: Any) -> Mat:
    """The Mat that was pickled with these parts; `FormatError` if they do not fit together.

    Pickles name this function, and are kept for years: neither its name nor the parts may change,
    there may be more of them.
    """
    if not (isinstance(kind, type) and issubclass(kind, Mat)):
        raise FormatError(f"a pickle of a Mat names {kind!r}, which is no kind of Mat")
    if not isinstance(dtype, str) or byteorder not in ("little",
                                                       "big") or not isinstance(device_enabled, bool):
        raise FormatError(f"a pickled Mat has dtype {dtype!r}, byte order {byteorder!r} and "
                          f"device_enabled {device_enabled!r}")
    mat = object.__new__(kind)
    try:
        Mat.__init__(mat, as_shape(shape), as_dtype(dtype), fill=fill)
    except (MatError, TypeError) as error:
        raise FormatError(f"a pickled Mat has shape {shape!r}, dtype {dtype!r} and fill value "
                          f"{fill!r}: {error}") from None
    mat.device_enabled = device_enabled
    if elements is not None:
        _adopt(mat, _received(mat, elements), byteorder)
    return mat


def _received(mat: Mat, elements: Any) -> Array:
    """The bytes that arrived, as they lie there."""
    try:
        found = np.frombuffer(elements,
                              np.uint8) if memoryview(elements).nbytes else np.empty(0, np.uint8)
    except (TypeError, ValueError, BufferError) as error:
        raise FormatError("the elements of a pickled Mat are bytes, got "
                          f"{type(elements).__name__}: {error}") from None
    if found.size != mat.nbytes:
        raise FormatError(f"a pickled Mat of shape {mat.shape} and dtype {mat.dtype} has "
                          f"{mat.nbytes} bytes, "
                          f"got {found.size}")
    return found


def _adopt(mat: Mat, raw: Array, byteorder: str) -> None:
    """Let `mat` have the bytes `raw` as its memory, or a copy where it cannot be the only one who
    writes them.
    """
    flat = raw.view(mat.dtype)
    with _noting:
        address = flat.__array_interface__["data"][0]
        if byteorder != sys.byteorder:
            flat = flat.byteswap()
        elif not flat.flags.writeable or not flat.flags.aligned or address in _KNOWN:
            flat = flat.copy()
        else:
            _KNOWN[address] = mat.storage
    mat.storage.adopt_host(flat, owned=True)
    mat.storage.seen = ARRAY.bit


# assignment]  # Mat gets its methods here
