"""dask's requirements on a chunk besides NumPy's functions: a name for its contents, its size in
bytes, tables of functions, Mats as results where there is no table; and between processes a header,
and the elements as one frame of bytes: the Mat's memory itself unless there are gaps in it.

dask is not imported here. Its tables are filled when it is, or now, if it is there already. Its
functions are replaced only by `enable`.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, cast

import numpy as np

from ..core.registry import device_facets, facet_named
from ..errors import DeviceError, FormatError
from ..layout.shapes import Ints
from ..layout.strided import Layout, packed
from ..matrix.arrays import asarray
from ..matrix.creation import empty, seeing
from ..matrix.exports import Export
from ..matrix.mat import Mat
from ..matrix.methods import method
from ..matrix.storage import Storage
from ..memories.host import HOST
from ..support.c_pointers import address_of
from ..support.dlpack_abi import CUDA
from ..support.dtypes import EXTENSIONS, as_dtype
from ..support.plugins import after_import, plugin
from ..support.types import Array, DeviceArray, Keywords
from .pickling import elements_of, exported_buffer, is_unwritten, unpickled

Header = dict[str, Any]
_ALIGNED = 64  # bytes, the length of a line of the caches
# The most bytes of elements that dask receives at once by themselves, if another buffer precedes
# them; longer frames are received with the bytes before them.
_SHARD = 1 << 26


# Mats between processes. What is received belongs to the receiver and is used as it is if it can be
# written. A frame before the elements has dask receive these at an address that is aligned, or with
# room to move them to one: messages begin with bytes of any number


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
                  and f.device.dlpack[0] == CUDA), None)
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


# Functions of dask.array that are replaced, since dask has no table of functions for their chunks:
# their tasks call SciPy by name, or fill records and grids of indices, and make arrays of NumPy's
# of any chunks. If an operand has Mats as chunks, a layer of tasks makes Mats of the results


Function = Callable[..., Any]

# The functions that are replaced, by the module that defines them
REPLACED = {
    "dask.array.linalg": ("cholesky", "inv", "lstsq", "lu", "solve", "solve_triangular"),
    "dask.array.routines": ("argwhere", "flatnonzero", "histogramdd", "nonzero", "unique"),
}


class _State(threading.local):
    """The present action of this thread."""

    inside: bool = False  # one of these functions, which call each other, is being called
    arrays: bool = False  # new arrays have arrays of NumPy's as chunks, whatever the backend is


_STATE = _State()


@contextmanager
def _being(flag: str) -> Iterator[None]:
    setattr(_STATE, flag, True)
    try:
        yield
    finally:
        setattr(_STATE, flag, False)


def makes_arrays() -> bool:
    """Return whether the backend "mat" has to make arrays of NumPy's in this thread."""
    return _STATE.arrays


@functools.cache
def enable() -> None:
    """Replace the functions in `REPLACED`, now or when dask is imported; again, do nothing."""
    for name in REPLACED:
        after_import(name, replace_functions)


def replace_functions(module: ModuleType) -> None:
    """Replace functions of a module of dask that it has, also in modules that import them."""
    for name in REPLACED[module.__name__]:
        function = vars(module).get(name)
        if function is not None:
            _replace(function, _with_mats(_of_records(function) if name == "unique" else function))


def _replace(function: Function, new: Function) -> None:
    """Replace `function` by `new` wherever dask.array has it, under any name."""
    for path, module in list(sys.modules.items()):
        if path.startswith("dask.array") and isinstance(module, ModuleType):
            for name, value in list(vars(module).items()):
                if value is function:
                    setattr(module, name, new)


def _of_records(function: Function) -> Function:
    """Return `function`, whose tasks reduce arrays into parts of records, with NumPy arrays made
    for that, whatever the backend is: records of NumPy are no Mats, the operands of Mats'
    reductions.
    """

    @functools.wraps(function)
    def call(*operands: object, **settings: object) -> object:
        with _being("arrays"):
            return function(*operands, **settings)

    return call


def _with_mats(function: Function) -> Function:
    """Return `function` with results of Mats if an operand has Mats as chunks."""

    @functools.wraps(function)
    def call(*operands: object, **settings: object) -> object:
        if _STATE.inside or not any(map(_has_mats, (*operands, *settings.values()))):
            return function(*operands, **settings)
        with _being("inside"):
            found = function(*operands, **settings)
        return _of_mats(found)

    return call


def _has_mats(operand: Any) -> bool:
    """Return whether an operand, or one of a sequence of arrays, is a Mat or has them as chunks."""
    if isinstance(operand, list | tuple):
        arrays = len(operand) > 0 and hasattr(operand[0], "dtype")
        return arrays and any(map(_has_mats, operand))
    return isinstance(getattr(operand, "_meta", operand), Mat)


def _of_mats(found: Any) -> object:
    """Return a result with its arrays of dask's made to have Mats as chunks."""
    if isinstance(found, list | tuple):
        make: Function = getattr(found, "_make", type(found))  # of a named tuple
        return make(map(_of_mats, found))
    return with_mats_as_chunks(found) if hasattr(found, "map_blocks") else found


def with_mats_as_chunks(x: Any, **settings: object) -> Any:
    """Return an array of dask's with the same elements and chunks as Mats.

    A chunk that is a Mat already costs nothing. Arrays of dask's do not know in all cases what
    their chunks are.
    """
    return x.map_blocks(asarray, meta=empty((0,) * x.ndim, dtype=x.dtype), **settings)


# The tables


@method("__dask_tokenize__")
def _tokenize(self: Mat) -> tuple[str, object]:
    """Return a token for ``dask.tokenize``, without moving data.

    It is equal for Mats of equal shape, dtype and elements, in whatever memory these are.
    """
    with elements_of(self) as a:
        token = importlib.import_module("dask.base").normalize_token(a)
    return "mat.Mat", token


@method("__sizeof__")
def _sizeof(self: Mat) -> int:
    """Return the bytes of host memory that the visible elements take.

    This is for ``sys.getsizeof``, by which dask decides when to spill: copies on devices do not
    count, and neither do elements that have no memory yet.
    """
    here = HOST in self.storage.handles
    return object.__sizeof__(self) + (self.nbytes if here else 0)


def _joined(arrays: list[Mat], axis: int = 0) -> object:
    """Return chunks joined along an axis; a single one, the most frequent case, is itself."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays, axis=axis)


def _register_functions(dispatch: ModuleType) -> None:
    dispatch.concatenate_lookup.register(Mat, _joined)
    # the number of elements as a Mat on its device, where they are several numbers
    dispatch.numel_lookup.register(Mat, lambda x, **settings: importlib.import_module(
        "dask.array.backends")._numel_arraylike(x, **settings))
    dispatch.to_numpy_dispatch.register(Mat, lambda x, **_: x.to_numpy())
    # by dask's function for arrays
    dispatch.percentile_lookup.register(Mat, lambda x, q, method="linear": importlib.import_module(
        "dask.array.percentile")._percentile(x, q, method))


def _register_transport(serialize: ModuleType) -> None:
    serialize.dask_serialize.register(Mat, serialized)
    serialize.dask_deserialize.register(Mat, deserialized)


def _register_gpu_transport(cuda: ModuleType) -> None:
    cuda.cuda_serialize.register(Mat, serialized_on_gpu)
    cuda.cuda_deserialize.register(Mat, deserialized_on_gpu)


def register() -> None:
    """Fill dask's tables, now or when dask is imported."""
    after_import("dask.array.dispatch", _register_functions)
    after_import("dask.array.chunk_types", lambda types: types.register_chunk_type(Mat))
    after_import("dask.array.backends", lambda _: plugin("dask_backend"))  # it registers itself
    after_import("distributed.protocol.serialize", _register_transport)
    after_import("distributed.protocol.cuda", _register_gpu_transport)
