"""Mats between the processes of `dask.distributed`: a header, and the elements as one frame of
bytes: the Mat's memory itself unless there are gaps between its elements.

dask is not imported. What is received belongs to the receiver and is used as it is if it can be
written. A frame before the elements has dask receive these at an address that is aligned, or with
room to move them to one: messages begin with bytes of any number.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any, cast

import numpy as np

from ..core.registry import device_facets, facet_named
from ..errors import DeviceError, FormatError
from ..layout.shapes import Ints
from ..layout.strided import Layout, packed
from ..matrix.creation import seeing
from ..matrix.exports import Export
from ..matrix.mat import Mat
from ..matrix.storage import Storage
from ..support.c_pointers import address_of
from ..support.dtypes import EXTENSIONS, as_dtype
from ..support.types import Array, DeviceArray, Keywords
from .pickling import elements_of, exported_buffer, is_unwritten, unpickled

Header = dict[str, Any]
_ALIGNED = 64  # bytes, the length of a line of the caches
# The most bytes of elements that dask receives at once by themselves, if another buffer precedes
# them; longer frames are received with the bytes before them.
_SHARD = 1 << 26


def serialized(x: Mat) -> tuple[Header, list[memoryview]]:
    """Return the header of `x` and its elements, if it has any yet.

    While the memoryview exists, `x` cannot be written, unless its elements had to be packed.
    """
    if type(x) is not Mat:
        raise NotImplementedError("subclasses of Mat may have more to them: they are pickled")
    header, part = header_of(x)
    return header, _frames(part)


def header_of(x: Mat) -> tuple[Header, Mat]:
    """Return the header of `x`, and its view in memory order, each element once."""
    part = x
    if x.size and 0 in x.element_strides:
        part = x[tuple(slice(1) if step == 0 else slice(None) for step in x.element_strides)]
    plain = tuple(range(part.ndim))
    axes = tuple(sorted(plain, key=lambda k: -abs(part.element_strides[k]))) if part.size else plain
    part = part if axes == plain else part.transpose(axes)
    fill = x.fill_value
    header = {"shape": part.shape, "axes": axes, "broadcast_to": x.shape, "dtype": x.dtype.name,
              "byteorder": sys.byteorder, "device_enabled": x.device_enabled,
              "fill": None if fill is None else np.asarray(fill, x.dtype).tobytes()}
    return header, part


def _frames(x: Mat) -> list[memoryview]:
    storage = x.storage
    storage.settle_pending(False)
    with storage.lock:
        if is_unwritten(x):
            return []
    if storage.is_elsewhere:
        with elements_of(x) as a:  # a copy of the part that `x` sees, which remains on the device
            elements = _as_bytes(np.ascontiguousarray(a))
    elif x.is_contiguous and storage.writer is None:
        elements = exported_buffer(x).raw()
    else:
        elements = _as_bytes(x.to_numpy())
    first = bytearray(1) if elements.nbytes <= _SHARD else bytes(_ALIGNED)
    return [memoryview(first), elements]


def _as_bytes(a: Array) -> memoryview:
    return a.reshape(-1).view(np.uint8).data


def deserialized(header: Header, frames: list[Any]) -> Mat:
    """Return the Mat of a header and its frame, over the memory of the frame if writable."""
    fill, name = header["fill"], header["dtype"]
    value = None if fill is None else np.frombuffer(fill, as_dtype(name)).item()
    x = unpickled(Mat, tuple(header["shape"]), name, header["byteorder"], value,
                  header["device_enabled"], _aligned(*frames) if frames else None)
    return laid_out(x, header)


def _aligned(before: Any, elements: Any) -> Any:
    """Return the elements as bytes, moved to an aligned address if `before` is memory before them.

    Elsewhere, unaligned elements are copied later.
    """
    room, found = (np.frombuffer(memoryview(f), np.uint8) for f in (before, elements))
    start, end = address_of(found), address_of(room) + room.size
    excess = start % _ALIGNED
    if not (0 < excess <= room.size and start == end and room.flags.writeable
            and found.flags.writeable and memoryview(before).obj is memoryview(elements).obj):
        return elements
    ctypes.memmove(start - excess, start, found.size)
    buffer: Any = memoryview(elements).obj
    whole = np.frombuffer(buffer, np.uint8)
    first = start - excess - address_of(whole)
    return whole[first:first + found.size]


def laid_out(x: Mat, header: Header) -> Mat:
    """Return the sender's view of `x`, the Mat that was sent."""
    shape: Ints = tuple(header["broadcast_to"])
    steps = [0] * len(shape)
    for step, length, k in zip(x.element_strides, x.shape, header["axes"], strict=True):
        steps[k] = step if length == shape[k] else 0
    layout = Layout(shape, tuple(steps), 0)
    return x if (layout.shape, layout.strides) == (x.shape, x.element_strides) else x.over(layout)


# Chunks on a GPU between processes that exchange memory of GPUs: dask's family "cuda", used by
# transports such as UCX. Chunks on the host only go the other way


_CUDA = 2  # DLPack's number


class GpuFrame:
    """Bytes on a GPU, exported during the lifetime of this object."""

    def __init__(self, export: Export, nbytes: int) -> None:
        self._export = export
        value = cast(DeviceArray, export.value)
        self.nbytes = nbytes
        self.__cuda_array_interface__: Keywords = {
            **value.__cuda_array_interface__, "shape": (nbytes,), "typestr": "|u1",
            "strides": None}


def serialized_on_gpu(x: Mat) -> tuple[Header, list[GpuFrame]]:
    """Return the header of `x` and its elements on the GPU where they are fresh."""
    fresh = x.storage.fresh
    facet = next((f for f in device_facets.values() if fresh & f.mask and x.size
                  and f.device.dlpack[0] == _CUDA), None)
    if type(x) is not Mat or facet is None or x.dtype.char in EXTENSIONS:
        raise NotImplementedError("it goes through the host")
    header, part = header_of(x)
    if not part.is_contiguous:
        part = part.copy()
    export = Export(part, facet)
    facet.device.synchronize()  # others read it on streams of their own
    return header, [GpuFrame(export, part.nbytes)]


def deserialized_on_gpu(header: Header, frames: list[Any]) -> Mat:
    """Return the Mat of a header, over memory of the GPU in use: see `mat.dask.Device`."""
    (frame,) = frames
    interface = frame.__cuda_array_interface__
    dtype, layout = as_dtype(header["dtype"]), packed(tuple(header["shape"]))
    storage = Storage(layout.size, dtype, 0)
    if frame.nbytes != storage.nbytes:
        raise FormatError(f"a Mat of shape {layout.shape} and dtype {dtype} has {storage.nbytes} "
                          f"bytes, got {frame.nbytes} on a GPU")
    address, facet = interface["data"][0], facet_named("cuda")
    if address % dtype.itemsize:
        raise DeviceError(f"elements of {dtype.itemsize} bytes cannot be at address {address:#x}")
    memory: Any = facet.memory
    storage.adopt_external(facet.memory, memory.borrowed(address, storage.nbytes, frame))
    x = seeing(storage, layout, facet, writable=True)
    x.device_enabled = header["device_enabled"]
    return laid_out(x, header)
