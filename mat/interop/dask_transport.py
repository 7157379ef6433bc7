"""Mats between the processes of `dask.distributed`: a header, and the elements as one frame of
bytes, which is the Mat's memory itself unless there are gaps between its elements.

dask is not imported. What is received belongs to the receiver and is used as it is if it can be
written.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..core.access import Access
from ..core.direction import INPUT
from ..core.registry import all_facets
from ..facets.array import over
from ..layout.shapes import Ints
from ..layout.strided import Layout
from ..matrix.mat import Mat
from ..support.dtypes import as_dtype
from ..support.types import Array
from .pickling import exported_buffer, unpickled

Header = dict[str, Any]


def serialized(x: Mat) -> tuple[Header, list[memoryview]]:
    """Return the header of `x` and its elements, if it has any yet.

    While the memoryview exists, `x` cannot be written, unless its elements had to be packed.
    """
    if type(x) is not Mat:
        raise NotImplementedError("subclasses of Mat may have more to them: they are pickled")
    part = _once_each(x)
    plain = tuple(range(part.ndim))
    axes = tuple(sorted(plain, key=lambda k: -abs(part.strides[k]))) if part.size else plain
    part = part if axes == plain else part.transpose(axes)
    fill = x.storage.fill_value
    header = {"shape": part.shape, "axes": axes, "broadcast_to": x.shape, "dtype": x.dtype.name,
              "byteorder": sys.byteorder, "device_enabled": x.device_enabled,
              "fill": None if fill is None else np.asarray(fill, x.dtype).tobytes()}
    return header, _frames(part)


def _once_each(x: Mat) -> Mat:
    """Return `x` with length 1 along the axes on which its elements are repeated."""
    if 0 not in x.strides or x.size == 0:
        return x
    return x[tuple(slice(1) if step == 0 else slice(None) for step in x.strides)]


def _frames(x: Mat) -> list[memoryview]:
    storage = x.storage
    with storage.lock:
        if storage.pristine and not storage.fresh and storage.writer is None:
            return []
    if storage.is_elsewhere:
        return [_as_bytes(_copied_from_device(x))]
    if x.is_contiguous and storage.writer is None:
        return [exported_buffer(x).raw()]
    return [_as_bytes(x.to_numpy())]


def _as_bytes(a: Array) -> memoryview:
    return a.reshape(-1).view(np.uint8).data


def _copied_from_device(x: Mat) -> Array:
    """Return a copy of the elements that are on a device, where they remain.

    Only the part that `x` sees is copied.
    """
    storage = x.storage
    source = storage.fresh_memories()[0]
    facet = min((f for f in all_facets() if f.memory is source),
                key=lambda f: not storage.seen & f.bit)
    with Access(x, facet, INPUT):  # so that nothing writes meanwhile
        here: Array = over(storage.peek([x.layout.bounds]), x.layout)
    return np.ascontiguousarray(here)


def deserialized(header: Header, frames: list[Any]) -> Mat:
    """Return the Mat of a header and its frame, over the memory of the frame if that is writable.

    Raises
    ------
    FormatError
        If the parts do not fit.
    """
    fill, name = header["fill"], header["dtype"]
    value = None if fill is None else np.frombuffer(fill, as_dtype(name)).item()
    x = unpickled(Mat, tuple(header["shape"]), name, header["byteorder"], value,
                  header["device_enabled"], frames[0] if frames else None)
    return _laid_out(x, tuple(header["axes"]), tuple(header["broadcast_to"]))


def _laid_out(x: Mat, axes: Ints, shape: Ints) -> Mat:
    """Return the view of `shape` that has the axes of `x` in their former order."""
    steps = [0] * len(shape)
    for step, length, k in zip(x.strides, x.shape, axes, strict=True):
        steps[k] = step if length == shape[k] else 0
    layout = Layout(shape, tuple(steps), 0)
    return x if (layout.shape, layout.strides) == (x.shape, x.strides) else x.over(layout)
