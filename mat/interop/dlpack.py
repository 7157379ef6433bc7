"""DLPack in both directions, and the CUDA array interface: sharing memory with torch, JAX, CuPy and
NumPy, on the host and on a GPU.

Exported memory is read-only, and self cannot be written while the export lives; imported memory
belongs to the other library. Vectors are exported to Arrow, too. Nothing here computes.
"""

from __future__ import annotations

import importlib
import weakref
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from ..core.registry import Facet, Handle, device_facets, facet_named
from ..devices.device import CPU, Device, DeviceLike, device_named, device_of, enabled_on
from ..errors import DTypeError, ExchangeError, ShapeError
from ..facets import ARRAY, over
from ..layout.shapes import as_shape
from ..layout.strided import Layout, packed
from ..matrix.creation import adopted, placed, seeing
from ..matrix.exports import Export, exported_array
from ..matrix.foreign_storage import ForeignStorage, over_foreign
from ..matrix.mat import Mat
from ..matrix.methods import bind, method
from ..memories.change_stamps import Version
from ..support import dlpack_abi as abi
from ..support.c_pointers import address_of
from ..support.dtypes import EXTENSIONS, as_dtype
from ..support.types import Array, Capsule, Keywords, Operand
from ..support.unbound import unbound

Pair: TypeAlias = tuple[int, int]
# what counts the owner's writes, and whether there are none
Owner: TypeAlias = tuple[Version | None, bool]
_NO_READ_ONLY = ("a consumer that does not ask for DLPack 1.0 cannot be told that memory is "
                 "read-only")
_NEGATIVE = "it has negative strides, at which torch ends the process"


# Exporting


@method("__dlpack_device__")
def _dlpack_device(self: Mat) -> Pair:
    """Return the device of `__dlpack__`'s export, in DLPack's numbering.

    Returns
    -------
    tuple of int
        Kind and number of the GPU on which operations on self compute now, else of the host.
    """
    return device_of(self).dlpack


@method("__dlpack__")
def _dlpack(self: Mat, *, stream: int | None = None, max_version: Pair | None = None,
            dl_device: Pair | None = None, copy: bool | None = None) -> Capsule:
    """Export the elements as a capsule of DLPack 1.0, for ``torch.from_dlpack(x)``.

    Exported memory is read-only, and as long as the export lives, writing self is a
    `ConflictError`. Where a consumer does not ask for DLPack 1.0, which knows of read-only memory,
    and where strides are negative, it gets a copy of its own instead.

    Parameters
    ----------
    stream : int, optional
        A stream of the consumer on a GPU, which is made to wait for what is queued there.
    max_version : tuple of int, optional
        The newest version of DLPack that the consumer knows.
    dl_device : tuple of int, optional
        The device of ``__dlpack_device__`` (default), or ``(1, 0)`` for the host.
    copy : bool, optional
        True: always a copy, which belongs to the consumer. False: never one.

    Returns
    -------
    PyCapsule
        A ``DLManagedTensorVersioned``, or a ``DLManagedTensor`` for consumers from before
        DLPack 1.0.

    Raises
    ------
    ExchangeError
        For another device, for a stream that cannot exist, and if `copy` is False where a copy is
        needed. It is a `BufferError`.
    TornError, ConflictError
        As for access through facet "array".
    """
    here = device_of(self)
    target = _export_device(self, here, dl_device)
    abi.check_stream(stream, here.dlpack)
    versioned = max_version is not None and max_version[0] >= 1
    obstacle = "" if versioned else _NO_READ_ONLY
    if min(self.element_strides, default=0) < 0:
        obstacle = obstacle or _NEGATIVE
    if copy is False:
        fresh = self.storage.fresh
        if not obstacle and fresh and not fresh & target.memory.bit:
            there = ", ".join(sorted(self.fresh))
            obstacle = f"its data is in {there}, not in {target.memory.name}"
        if obstacle:
            raise ExchangeError(f"{self.label()} cannot be exported without a copy: {obstacle}; "
                                "allow it with copy=None")
    copied = bool(copy or obstacle)
    flags = abi.LEGACY if not versioned else abi.COPIED if copied else abi.READ_ONLY
    if target is CPU:
        return _on_host(self, copied, flags)
    export = Export(self.copy() if copied else self, target.facet)
    target.make_stream_wait(stream)
    return export.value.capsule(export, flags)


def _export_device(x: Mat, here: Device, requested: Pair | None) -> Device:
    """Return the device for the data of `x` that a consumer requests."""
    there = here.dlpack if requested is None else tuple(requested)
    if there == abi.HOST:
        return CPU
    if there != here.dlpack:
        raise ExchangeError(f"{x.label()} is exported on DLPack's device {here.dlpack} now, or on "
                            f"{abi.HOST}, the host, not on {there}; compute on that device, with "
                            "mat.use_device(...): ..., to export there")
    return here


def _on_host(x: Mat, copied: bool, flags: int) -> Capsule:
    """Return a capsule of the elements on the host, or of a copy of them."""
    if abi.compiled:
        owner: Any = x.to_numpy() if copied else Export(x, ARRAY)
        strides = packed(x.shape).strides if copied else x.element_strides
        return abi.make_capsule(owner, address_of(owner if copied else owner.value), x.shape,
                                strides, abi.HOST, x.dtype, flags)
    a = x.to_numpy() if copied else exported_array(x)
    if a.dtype.char in EXTENSIONS:
        raise ExchangeError("without compiled kernels NumPy makes the capsules, and it has no "
                            f"{a.dtype}; mat.show_config() says why there are none, "
                            "x.astype('float32') can be exported")
    # NumPy's capsule keeps `a` alive, and does not mark copies as such
    return a.__dlpack__() if flags == abi.LEGACY else a.__dlpack__(max_version=(1, 0))


# The CUDA array interface

# by id of a Mat whose address was requested: the object that keeps this memory from being reused
_kept: dict[int, object] = {}


def _cuda_array_interface(self: Mat) -> Keywords:
    """Return the address of the elements on a GPU, by version 3 of the protocol.

    It never copies, and waits for nothing: the consumer waits for ``stream``. The protocol passes
    an address and does not say when it is no longer used, so this is not an export: later writes
    are visible to the consumer, or are not if they happen in another memory, and when the copy
    leaves the GPU, the address is that of outdated data. The memory is retained until self is
    garbage, or is requested again after its copy has moved; consumers keep self. ``__dlpack__`` has
    none of these limits. `AttributeError` where there is no fresh copy on a GPU.
    """
    if self.dtype.char in EXTENSIONS:
        raise AttributeError(f"__cuda_array_interface__ has no {self.dtype}; DLPack has: "
                             "torch.from_dlpack(x)")
    storage = self.storage
    storage.settle_pending(False)
    for facet in device_facets.values():
        if not storage.fresh & facet.mask or facet.device.dlpack[0] != abi.CUDA:
            continue
        handle = storage.handles.get(facet.memory)
        if handle is not None:
            value = facet.present(self, handle, False)
            if id(self) not in _kept:
                weakref.finalize(self, _kept.pop, id(self), None).atexit = False
            _kept[id(self)] = handle.export()
            return value.__cuda_array_interface__
    raise AttributeError(f"__cuda_array_interface__: {self.label()} has no fresh copy on a GPU; "
                         f"with mat.use_device('cuda'): ..., __dlpack__ makes one")


bind("__cuda_array_interface__", property(_cuda_array_interface))


# Importing


@unbound
def from_dlpack(obj: Operand, *, device: DeviceLike = None,
                copy: bool | None = None, exclusive: bool = False) -> Mat:
    """Return a Mat over the memory of another library's array, without copying.

    Each sees what the other writes. The memory remains where it is, is never freed or evicted by
    `mat`, and is released when the Mat's data is garbage. It is read-only if the other library says
    so, or, being from before DLPack 1.0, cannot say. An array on a GPU becomes the Mat's copy
    there.

    Parameters
    ----------
    obj : object with ``__dlpack__``
        An array of torch, JAX, CuPy, NumPy; of a Mat, the result is a view.
    device : str or Device, optional
        Where operations on the Mat compute: ``"cpu"``, for which data of a GPU is copied to the
        host, or the device in use (default).
    copy : bool, optional
        True: always a copy. False: never one.
    exclusive : bool
        True: nobody else writes the memory as long as another memory has a copy of it, or each
        write is announced by `Mat.changed`.

    Returns
    -------
    Mat
        Of the array's shape, dtype and strides.

    Raises
    ------
    DTypeError
        For objects without DLPack.
    ExchangeError
        For memory and element types that a Mat cannot have, and if `copy` is False where a copy is
        needed. It is a `BufferError`.
    DeviceError
        If the data is on a GPU that is not in use.

    Notes
    -----
    Whenever a copy in another memory is used, it is found out whether the owner has written since:
    for tensors of torch by the version that it counts, which writes through ``t.numpy()`` or
    ``t.data`` do not change; for other arrays on the host as for `from_numpy`. Of others on a GPU
    that is not known, and what the host needs is copied each time.

    Examples
    --------
    >>> import mat, numpy
    >>> a = numpy.arange(4.0)
    >>> mat.from_dlpack(a).scal_(2)
    <Mat 4 AF [0. 2. 4. 6.]>
    >>> a
    array([0., 2., 4., 6.])
    """
    if device is not None:
        enabled_on(device)  # which raises the error for one that is not in use
    if isinstance(obj, Mat):
        return placed(obj.copy() if copy else obj.over(obj.layout), device)
    target = None if device is None else device_named(device)
    return placed(_imported(obj, target, copy, exclusive), device)


def _imported(obj: Operand, target: Device | None, copy: bool | None, exclusive: bool) -> Mat:
    """Return a Mat over the memory of `obj`, for a device or, if that is None, where it is."""
    try:
        kind, number = obj.__dlpack_device__()
    except AttributeError:
        raise DTypeError("from_dlpack requires an object with __dlpack__ and __dlpack_device__, "
                         f"got {type(obj).__name__}; mat.array(obj) copies from anything") from None
    where, owner = (int(kind), int(number)), (_version_of(obj), exclusive)
    on_host = where[0] in (abi.HOST[0], abi.PINNED)
    if target is not None and target.dlpack == abi.HOST and not on_host:
        if copy is False:
            raise ExchangeError(f"the array is on DLPack's device {where}, and only a copy gets to "
                                "the host; allow it with copy=None")
        capsule = _capsule_of(obj, where, dl_device=abi.HOST, copy=copy)
        return _import_on_host(capsule, copy, (None, exclusive))
    if target is not None and not on_host and target.dlpack not in (where, abi.HOST):
        raise ExchangeError(f"the array is on DLPack's device {where}, not on {target}; leave out "
                            "device=: operations copy it there")
    if on_host:
        return _import_on_host(_capsule_of(obj, where, copy=copy), copy, owner)
    if where[0] != abi.CUDA:
        raise ExchangeError(f"DLPack's device {where} is neither the host nor a CUDA device; "
                            "device='cpu' copies the array to the host")
    facet = facet_named(f"cuda:{where[1]}")
    assert facet.device is not None
    capsule = _capsule_of(obj, where, stream=facet.device.stream, copy=copy)
    imported = _import_on_device(capsule, facet, owner)
    return imported.copy() if copy else imported


def _version_of(obj: Operand) -> Version | None:
    """Return a function that returns how often torch has written a tensor; None for others."""
    if not hasattr(type(obj), "_version"):
        return None
    try:
        int(obj._version)
    except (RuntimeError, TypeError):  # it counts none of tensors made in its inference mode
        return None
    return partial(getattr, obj, "_version")


def _capsule_of(obj: Operand, where: Pair, *, stream: int | None = None,
                dl_device: Pair | None = None, copy: bool | None = None) -> Capsule:
    """Return the capsule that `obj` exports; if `copy` is True, the caller copies."""
    streams = {} if stream is None else {"stream": stream}
    wanted: Keywords = {} if dl_device is None else {"dl_device": dl_device}
    if copy is False:
        wanted["copy"] = False
    try:
        return obj.__dlpack__(max_version=(1, 0), **streams, **wanted)
    except TypeError:
        if dl_device is not None:
            raise ExchangeError(f"{type(obj).__name__} is from before DLPack 1.0 and exports only "
                                f"on its device {where}; have its library copy it to the host"
                                ) from None
    return obj.__dlpack__(**streams)


class _Imported:
    """The memory of a capsule, and the layout of the elements in it."""

    def __init__(self, capsule: Capsule, kinds: tuple[int, ...]) -> None:
        self.owner, (address, shape, strides, device, kind, flags) = abi.take_capsule(capsule)
        self.dtype = abi.dtype_of(*kind)
        self.writable, self.copied = not flags & abi.READ_ONLY, bool(flags & abi.COPIED)
        step, shape = self.dtype.itemsize, as_shape(shape)
        if device[0] not in kinds:
            raise ExchangeError(f"the capsule is on DLPack's device {device}, not on the one that "
                                "__dlpack_device__ named")
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

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def mat_over(self, handle: Handle, facet: Facet, owner: Owner) -> Mat:
        """Return the Mat over `handle`, a handle of the memory of `facet`."""
        storage = over_foreign(self.size, self.dtype, facet.memory, handle, *owner)
        return seeing(storage, self.layout, facet, writable=self.writable)


def _import_on_host(capsule: Capsule, copy: bool | None, owner: Owner) -> Mat:
    if not abi.compiled:
        try:
            a: Array = np.from_dlpack(_Exporter(capsule))
        except RuntimeError as error:
            raise ExchangeError("without compiled kernels NumPy takes the capsules: "
                                f"{error}") from None
        as_dtype(a.dtype)
        if copy:
            return adopted(np.array(a, order="C"))
        found = adopted(a, owned=False)
        if isinstance(found.storage, ForeignStorage):
            found.storage.owners_version, found.storage.exclusive = owner
        return found
    imported = _Imported(capsule, (abi.HOST[0], abi.PINNED))
    memory = abi.ExternalMemory(imported.owner, imported.address, imported.nbytes,
                                imported.writable)
    flat = np.asarray(memory).view(imported.dtype)
    if copy and not imported.copied:
        return adopted(np.array(over(flat, imported.layout), order="C"))
    return imported.mat_over(flat, ARRAY, owner)


class _Exporter:
    """A capsule as an object for NumPy's import."""

    def __init__(self, capsule: Capsule) -> None:
        self.capsule = capsule

    def __dlpack__(self, *, stream: object = None, **wanted: object) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> Pair:
        return abi.HOST


def _import_on_device(capsule: Capsule, facet: Facet, owner: Owner) -> Mat:
    """Return a Mat over memory of the device that `facet` accesses."""
    if not abi.compiled:
        raise ExchangeError("compiled code imports a GPU's memory, and there is none "
                            "(mat.show_config() says why); device='cpu' copies to the host")
    imported = _Imported(capsule, (abi.CUDA,))
    memory: Any = facet.memory  # of a GPU
    handle = memory.borrowed(imported.address, imported.nbytes, imported.owner)
    return imported.mat_over(handle, facet, owner)


# Arrow: pyarrow, polars and other libraries of columns would otherwise request one item after the
# other. pyarrow, imported when it is first needed, makes the columns


@method("__arrow_array__")
def _arrow_array(self: Mat, type: object = None) -> Operand:  # noqa: A002
    """Return a column for ``pyarrow.array``, with an export of self.

    It is no copy where Arrow has the elements' type and no strides.
    """
    if self.ndim != 1:
        raise ShapeError(f"a column is a vector, {self.label()} has {self.ndim} axes; make one of "
                         "each x[:, k]")
    if self.dtype.kind == "c" or self.dtype.char in EXTENSIONS:
        raise DTypeError(f"Arrow has no {self.dtype}; x.astype(dtype) makes a Mat of another")
    return importlib.import_module("pyarrow").array(exported_array(self), type=type)


def _table(self: Mat) -> Operand:
    """Return the columns of a matrix as one of records, a table for polars."""
    arrow = importlib.import_module("pyarrow")
    columns = [_arrow_array(self[:, k]) for k in range(self.shape[1])]
    return arrow.StructArray.from_arrays(columns, [f"column_{k}" for k in range(len(columns))])


@method("__arrow_c_array__")
def _arrow_c_array(self: Mat, requested_schema: object = None) -> Operand:
    """Return a column, or the columns of a matrix as one of records, for polars and others; raise
    `ModuleNotFoundError` without pyarrow.
    """
    column = _table(self) if self.ndim == 2 else _arrow_array(self)
    return column.__arrow_c_array__(requested_schema)
