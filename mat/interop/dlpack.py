"""DLPack, both ways, and the CUDA array interface: sharing memory with torch, JAX, CuPy and NumPy,
on the host and on a GPU.

What is lent is read-only and under a lease; what is taken belongs to the other library. Nothing
here knows how to compute.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from ..core.registry import Facet, device_facets, facet_named
from ..devices.device import CPU, Device, device_named, device_of
from ..errors import DTypeError, ExchangeError, ShapeError
from ..facets.array import ARRAY, over
from ..layout.strided import Layout, as_shape, packed
from ..matrix.creation import adopted, seeing
from ..matrix.exports import Export, exported_array
from ..matrix.mat import Mat, Storage
from ..matrix.methods import bind, method
from ..support.c_pointers import address_of
from ..support.dlpack_abi import (
    BFLOAT,
    COPIED,
    CUDA,
    HOST,
    LEGACY,
    PINNED,
    READ_ONLY,
    ExternalMemory,
    check_stream,
    compiled,
    dtype_of,
    make_capsule,
    take_capsule,
    type_of,
)
from ..support.dtypes import as_dtype

Pair = tuple[int, int]
_BEFORE = "a consumer that does not say that it knows DLPack 1.0 cannot be told that memory is read-only"
_BACKWARDS = "it has negative steps, which torch ends the process at"

# Lending


@method("__dlpack_device__")
def _dlpack_device(self: Mat) -> Pair:
    """Where `__dlpack__` lends: the GPU on which operations on self compute now, else the host, as
    DLPack numbers them.
    """
    return device_of(self).dlpack


@method("__dlpack__")
def _dlpack(self: Mat, *, stream: int | None = None, max_version: Pair | None = None,
            dl_device: Pair | None = None,
            copy: bool | None = None) -> Any:
    """Lend the elements to another library, as ``torch.from_dlpack(x)`` has it do: a capsule of
    DLPack 1.0.

    What is lent is read-only, and for as long as somebody has it, writing self is a
    `ConflictError`. `copy` True: a fresh copy, the consumer's own. A consumer that does not say by
    `max_version` that it knows of read-only memory gets such a copy as well, and so does everybody
    where steps are negative. `dl_device`: that of ``__dlpack_device__``, or ``(1, 0)`` for the
    host. `stream`: the consumer's, on a GPU; it is made to wait for our work, and nobody else is.

    `ExchangeError`, a `BufferError`: another device, a stream that there cannot be, or `copy` False
    where there has to be one.
    """
    here = device_of(self)
    target = _target(self, here, dl_device)
    check_stream(stream, here.dlpack)
    new = max_version is not None and max_version[0] >= 1
    why = "" if new else _BEFORE
    if min(self.strides, default=0) < 0:
        why = why or _BACKWARDS
    if copy is False:
        _check_lendable(self, target, why)
    flags = LEGACY if not new else COPIED if copy or why else READ_ONLY
    if target is CPU:
        return _host_copy(self, flags) if copy or why else _host_lease(self)
    lease = Export(self.copy() if copy or why else self, target.facet)
    target.make_stream_wait(stream)
    return lease.value.capsule(lease, flags)


def _target(x: Mat, here: Device, wanted: Any) -> Device:
    """The device that a consumer wants the data of `x` on."""
    there = here.dlpack if wanted is None else tuple(wanted)
    if there == HOST:
        return CPU
    if there != here.dlpack:
        raise ExchangeError(f"{x.label()} is lent on DLPack's device {here.dlpack} now, or on "
                            f"{HOST}, the host, not on "
                            f"{there}; compute on that device, with mat.use_device(...): ..., to "
                            "lend there")
    return here


def _check_lendable(x: Mat, target: Device, why: str) -> None:
    fresh = x.storage.fresh
    if not why and fresh and not fresh & target.memory.bit:
        why = f"its data is in {', '.join(sorted(x.fresh))}, not in {target.memory.name}"
    if why:
        raise ExchangeError(f"{x.label()} cannot be lent without a copy: {why}; allow it with "
                            "copy=None")


def _host_lease(x: Mat) -> Any:
    if not compiled:
        return _by_numpy(exported_array(x))
    lease = Export(x, ARRAY)
    return make_capsule(lease, address_of(lease.value), x.shape, x.strides, HOST, x.dtype,
                        READ_ONLY)


def _host_copy(x: Mat, flags: int) -> Any:
    a = x.to_numpy()
    if not compiled:
        return _by_numpy(a, flags == LEGACY)
    return make_capsule(a, address_of(a), x.shape, packed(x.shape).strides, HOST, x.dtype, flags)


def _by_numpy(a: np.ndarray[Any, Any], retained: bool = False) -> Any:
    """NumPy's capsule, which keeps `a`, and does not tell copies."""
    if type_of(a.dtype)[0] == BFLOAT:
        raise ExchangeError("without compiled kernels NumPy makes the capsules, which knows no "
                            "bfloat16; "
                            "mat.show_config() tells why there are none, x.astype('float32') can "
                            "be lent")
    return a.__dlpack__() if retained else a.__dlpack__(max_version=(1, 0))


# The CUDA array interface

# id of a Mat that told its address: what keeps the memory there from being used anew
_kept: dict[int, Any] = {}


def _cuda_array_interface(self: Mat) -> dict[str, Any]:
    """Where the elements are on a GPU, after version 3 of the protocol; `AttributeError` where no
    copy there is fresh.

    Never copies, and waits for nothing: the consumer waits for ``stream``. What is told is an
    address, and nobody learns when it is used no more. So this is no lease: later writes show, or
    do not if they happen elsewhere, and when the copy leaves the GPU, the address is of what it
    was. The memory stays until self is garbage, or is asked again when its copy has moved;
    consumers keep self. ``__dlpack__`` has none of these limits.
    """
    if type_of(self.dtype)[0] == BFLOAT:
        raise AttributeError("__cuda_array_interface__ has no bfloat16; DLPack has: "
                             "torch.from_dlpack(x)")
    storage = self.storage
    for facet in device_facets.values():
        handle = storage.handles.get(facet.memory) if storage.fresh & facet.mask and facet.device.dlpack[0] == CUDA else None
        if handle is not None:
            value = facet.present(self, handle, False)
            if id(self) not in _kept:
                weakref.finalize(self, _kept.pop, id(self), None).atexit = False
            _kept[id(self)] = handle.export()
            found: dict[str, Any] = value.__cuda_array_interface__
            return found
    raise AttributeError(f"__cuda_array_interface__: {self.label()} has no fresh copy on a GPU; "
                         f"with mat.use_device('cuda'): ..., __dlpack__ makes one")


# Taking


def from_dlpack(obj: Any, *, device: str | Device | None = None, copy: bool | None = None) -> Mat:
    """A Mat over the memory of another library's array: no copy, and each sees what the other
    writes.

    `obj` is anything with ``__dlpack__``: an array of torch, JAX, CuPy, NumPy. Its memory stays
    where it is, is never freed or evicted by us, and given back when the Mat's data is garbage. It
    is read-only if the other library says so, or, being from before DLPack 1.0, does not say. What
    is on a GPU becomes the Mat's copy there, for which that has to be in use (`DeviceError`). Of a
    Mat: a view of it.

    `device`: None, where it is; ``"cpu"``, on the host, by a copy if need be; else the device where
    it is already. `copy`: True, a copy in any case; False, none (`ExchangeError` where there has to
    be one). `DTypeError` for objects without DLPack, `ExchangeError` (a `BufferError`) for memory
    and element types that are none of ours.

    >>> import mat, numpy
    >>> a = numpy.arange(4.0)
    >>> mat.from_dlpack(a).scal_(2)
    <Mat 4 AF [0. 2. 4. 6.]>
    >>> a
    array([0., 2., 4., 6.])
    """
    target = None if device is None else device_named(device)
    if isinstance(obj, Mat):
        return obj.copy() if copy else obj.over(obj.layout)
    where = _device_of(obj)
    if target is not None and target.dlpack == HOST and where[0] not in (HOST[0], PINNED):
        if copy is False:
            raise ExchangeError(f"it is on DLPack's device {where}, and gets to the host by a "
                                "copy; allow it with copy=None")
        return _on_host(_capsule(obj, where, dl_device=HOST, copy=copy), copy)
    if target is not None and target.dlpack not in (where, HOST):
        raise ExchangeError(f"it is on DLPack's device {where}, not on {target}; leave out "
                            "device=: operations take it there")
    if where[0] in (HOST[0], PINNED):
        return _on_host(_capsule(obj, where, copy=copy), copy)
    if where[0] != CUDA:
        raise ExchangeError(f"DLPack's device {where} is neither the host nor a CUDA device; "
                            "device='cpu' takes it to the host")
    facet = facet_named(f"cuda:{where[1]}")
    taken = _on_device(_capsule(obj, where, stream=1, copy=copy), facet)
    return taken.copy() if copy else taken


def _device_of(obj: Any) -> Pair:
    try:
        kind, number = obj.__dlpack_device__()
    except AttributeError:
        raise DTypeError("from_dlpack wants an object with __dlpack__ and __dlpack_device__, got "
                         f"{type(obj).__name__}; "
                         f"mat.array(obj) copies from anything") from None
    return int(kind), int(number)


def _capsule(obj: Any, where: Pair, *, stream: int | None = None, dl_device: Pair | None = None,
             copy: bool | None = None) -> Any:
    """What `obj` lends; `copy` True is left to us."""
    streams = {} if stream is None else {"stream": stream}
    wanted: dict[str, Any] = {} if dl_device is None else {"dl_device": dl_device}
    if copy is False:
        wanted["copy"] = False
    try:
        return obj.__dlpack__(max_version=(1, 0), **streams, **wanted)
    except TypeError:
        if dl_device is not None:
            raise ExchangeError(f"{type(obj).__name__} is from before DLPack 1.0 and lends only on "
                                f"its device {where}; have "
                                f"its library take it to the host") from None
    return obj.__dlpack__(**streams)


class _Taken:
    """What a capsule holds, if it is what we can use: the memory that it spans, and the layout that
    sees it there.
    """

    __slots__ = ("address", "copied", "dtype", "holder", "layout", "size", "writable")

    def __init__(self, capsule: object, kinds: tuple[int, ...]) -> None:
        self.holder, (address, shape, strides, device, kind, flags) = take_capsule(capsule)
        self.dtype = dtype_of(*kind)
        self.writable, self.copied = not flags & READ_ONLY, bool(flags & COPIED)
        step, shape = self.dtype.itemsize, as_shape(shape)
        if device[0] not in kinds:
            raise ExchangeError(f"what was lent is on DLPack's device {device}, not where "
                                "__dlpack_device__ had it")
        if address % step or (not address and 0 not in shape):
            raise ShapeError(f"elements of {step} bytes cannot be at address {address:#x}; "
                             "mat.array(...) copies")
        low, high = 0, 0
        self.layout = packed(shape) if strides is None else Layout(shape, strides, 0)
        if self.layout.size:
            low, high = (0, self.layout.size) if self.layout.contiguous else self.layout.bounds
        if low:
            self.layout = Layout(shape, self.layout.strides, -low)
        self.address, self.size = address + low * step, high - low

    def storage(self) -> Storage:
        """A storage of that size, with nothing in it."""
        return Storage(self.size, self.dtype, 0)

    def seen(self, storage: Storage, facet: Facet) -> Mat:
        """The Mat over it."""
        return seeing(storage, self.layout, facet, writable=self.writable)


def _on_host(capsule: object, copy: bool | None) -> Mat:
    if not compiled:
        a = _of_numpy(capsule)
        return adopted(np.array(a, order="C")) if copy else adopted(a, owned=False)
    taken = _Taken(capsule, (HOST[0], PINNED))
    storage = taken.storage()
    memory = ExternalMemory(taken.holder, taken.address, storage.nbytes, taken.writable)
    flat = np.asarray(memory).view(taken.dtype)
    if copy and not taken.copied:
        return adopted(np.array(over(flat, taken.layout), order="C"))
    storage.adopt_host(flat, False)
    return taken.seen(storage, ARRAY)


class _Given:
    """A capsule as the object that NumPy takes one from."""

    def __init__(self, capsule: object) -> None:
        self.capsule = capsule

    def __dlpack__(self, **_: Any) -> object:
        return self.capsule

    def __dlpack_device__(self) -> Pair:
        return HOST


def _of_numpy(capsule: object) -> np.ndarray[Any, Any]:
    try:
        # it is a capsule
        a: np.ndarray[Any, Any] = np.from_dlpack(_Given(capsule))  # type: ignore[arg-type]
    except RuntimeError as error:
        raise ExchangeError(f"without compiled kernels NumPy takes the capsules: {error}") from None
    as_dtype(a.dtype)
    return a


def _on_device(capsule: object, facet: Facet) -> Mat:
    """A Mat over memory of the device that `facet` looks at."""
    if not compiled:
        raise ExchangeError("a GPU's memory is taken by compiled code, which there is none of "
                            "(mat.show_config() tells why); "
                            "device='cpu' copies to the host")
    taken = _Taken(capsule, (CUDA,))
    storage, memory = taken.storage(), facet.memory
    # it is CUDA's
    storage.adopt_external(memory,
                   memory.borrowed(taken.address, storage.nbytes,  # type: ignore[attr-defined]
                                   taken.holder))
    return taken.seen(storage, facet)


bind("__cuda_array_interface__", property(_cuda_array_interface))
