"""`CudaArray`: the address, shape and strides of a Mat's elements in the memory of a device."""

from __future__ import annotations

from importlib import import_module
from typing import Any, TypeAlias

from ...errors import ExchangeError
from ...layout.shapes import Ints
from ...layout.strided import Layout
from ...support.dlpack_abi import (
    COPIED,
    CUDA,
    LEGACY,
    READ_ONLY,
    check_stream,
    compiled,
    make_capsule,
)
from ...support.dtypes import EXTENSIONS
from ...support.types import DType, Keywords
from .blocks import DeviceBlock
from .gpu import LEGACY as STREAM
from .gpu import Gpu

Capsule: TypeAlias = Any  # a PyCapsule, which has no type in Python


class CudaArray:
    """The visible elements in the memory of a device; valid inside its block.

    ``pointer`` (the same as ``address``) is an integer, at the first visible element. ``shape``,
    ``strides`` (in elements), ``size`` and ``dtype`` are those of the Mat; ``device`` is the device
    that has the memory. Libraries that know ``__cuda_array_interface__`` or DLPack use it without a
    copy: ``torch.as_tensor(a, device="cuda")``, ``cupy.asarray(a)``.
    """

    __slots__ = (
        "__weakref__",
        "address",
        "device",
        "dtype",
        "exported",
        "gpu",
        "handle",
        "layout",
        "letter",
        "shape",
        "size",
        "strides",
        "writable",
    )

    def __init__(self, handle: DeviceBlock, layout: Layout, dtype: DType, device: object = None,
                 *, writable: bool = True) -> None:
        self.handle: DeviceBlock = handle
        self.layout: Layout = layout
        self.dtype: DType = dtype
        self.letter: str = dtype.char
        self.shape: Ints = layout.shape
        self.strides: Ints = layout.strides
        self.size: int = layout.size
        # without elements, the beginning of the block
        offset = layout.displacement * dtype.itemsize if layout.size else 0
        self.address: int = handle.address + offset
        self.gpu: Gpu = handle.gpu
        self.device: object = device
        self.writable: bool = writable
        # made when other libraries request the address; their reference to self keeps it
        self.exported: object = None

    @property
    def pointer(self) -> int:
        """Return the address of the first visible element."""
        return self.address

    @property
    def __cuda_array_interface__(self) -> Keywords:
        if self.letter in EXTENSIONS:
            raise AttributeError(f"__cuda_array_interface__ has no {self.dtype}; DLPack has: "
                                 "torch.from_dlpack(a)")
        self.exported = self.handle.export()
        step = self.dtype.itemsize
        strides = None if self.layout.contiguous else tuple(s * step for s in self.strides)
        return {"shape": self.shape, "typestr": self.dtype.str,
                "data": (self.address if self.size else 0, not self.writable),
                "strides": strides, "version": 3, "stream": STREAM}

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, self.gpu.number

    def __dlpack__(self, *, stream: int | None = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Capsule:
        """Return a capsule over the same memory.

        A consumer's stream that is not in order with the device's stream waits for it.
        """
        if copy or (dl_device is not None and tuple(dl_device) != self.__dlpack_device__()):
            raise ExchangeError("a CudaArray exports the memory of its device and copies nothing; "
                                "x.to_numpy() copies to the host")
        if max_version is None and not self.writable:
            raise ExchangeError("a consumer from before DLPack 1.0 cannot know that this is "
                                "read-only; torch.from_dlpack(x) of the Mat itself copies for it, "
                                "a block for 'io' exports it writable")
        check_stream(stream, self.__dlpack_device__())
        self.gpu.make_stream_wait(stream)
        flags = 0 if self.writable else READ_ONLY
        return self.capsule((self, self.handle.export()), LEGACY if max_version is None else flags)

    def capsule(self, owner: object, flags: int) -> Capsule:
        """Return a capsule that keeps `owner` and so its memory."""
        if min(self.strides, default=0) < 0:
            raise ExchangeError("DLPack's consumers accept no negative strides, torch ends the "
                                "process; x.contiguous() has none")
        if compiled:
            return make_capsule(owner, self.address, self.shape, self.strides,
                                self.__dlpack_device__(), self.dtype, flags)
        if self.letter in EXTENSIONS or flags == COPIED:
            thing = str(self.dtype) if self.letter in EXTENSIONS else "a copy"
            raise ExchangeError(f"without compiled kernels, {thing} is not exported")
        low, high = self.layout.bounds
        core, utils = import_module("cuda.core"), import_module("cuda.core.utils")
        with self.gpu.current():  # cuda.core makes capsules, too, but takes long to import
            buffer = core.Buffer.from_handle(
                self.address, max((high - low) * self.dtype.itemsize, 1), owner=owner)
            view = utils.StridedMemoryView.from_buffer(
                buffer, self.shape, self.strides, itemsize=self.dtype.itemsize, dtype=self.dtype,
                is_readonly=flags == READ_ONLY)
            return view.__dlpack__(stream=-1, max_version=None if flags == LEGACY else (1, 0))

    def __repr__(self) -> str:
        return (f"<CudaArray {self.address:#x} on cuda:{self.gpu.number} shape {self.shape} "
                f"strides {self.strides} {self.dtype}>")

