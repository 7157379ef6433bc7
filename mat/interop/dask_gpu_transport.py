"""Chunks on a GPU between processes that exchange memory of GPUs: dask's family "cuda", used by
transports such as UCX. Chunks on the host only go the other way.

dask is not imported.
"""

from __future__ import annotations

from typing import Any, Protocol, cast

from ..core.registry import Facet, device_facets, facet_named
from ..errors import DeviceError, FormatError
from ..layout.strided import packed
from ..matrix.creation import seeing
from ..matrix.exports import Export
from ..matrix.mat import Mat
from ..matrix.storage import Storage
from ..support.dtypes import EXTENSIONS, as_dtype
from ..support.types import Keywords
from .dask_transport import Header, header_of, laid_out
from .dlpack import DeviceMemory

_CUDA = 2  # DLPack's number


class _OnGpu(Protocol):
    """The value of an export on a GPU."""

    __cuda_array_interface__: Keywords


class GpuFrame:
    """Bytes on a GPU, exported during the lifetime of this object."""

    def __init__(self, export: Export, nbytes: int) -> None:
        self._export = export
        value = cast(_OnGpu, export.value)
        self.nbytes = nbytes
        self.__cuda_array_interface__: Keywords = {
            **value.__cuda_array_interface__, "shape": (nbytes,), "typestr": "|u1",
            "strides": None}


def serialized_on_gpu(x: Mat) -> tuple[Header, list[GpuFrame]]:
    """Return the header of `x` and its elements on the GPU where they are fresh."""
    facet = _facet_of(x)
    if type(x) is not Mat or facet is None or x.dtype.char in EXTENSIONS:
        raise NotImplementedError("it goes through the host")
    header, part = header_of(x)
    if not part.is_contiguous:
        part = part.copy()
    export = Export(part, facet)
    facet.device.synchronize()  # others read it on streams of their own
    return header, [GpuFrame(export, part.nbytes)]


def _facet_of(x: Mat) -> Facet | None:
    fresh = x.storage.fresh
    return next((f for f in device_facets.values() if fresh & f.mask and x.size
                 and f.device.dlpack[0] == _CUDA), None)


def deserialized_on_gpu(header: Header, frames: list[Any]) -> Mat:
    """Return the Mat of a header, over memory of the GPU in use.

    Raises
    ------
    FormatError
        If the parts do not fit.
    DeviceError
        If no GPU is in use: `mat.dask.Device` puts one to use.
    """
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
    memory = cast(DeviceMemory, facet.memory)
    storage.adopt_external(facet.memory, memory.borrowed(address, storage.nbytes, frame))
    x = seeing(storage, layout, facet, writable=True)
    x.device_enabled = header["device_enabled"]
    return laid_out(x, header)
