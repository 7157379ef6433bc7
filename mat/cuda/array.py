"""What code for the device is given of a Mat: an address in the device's memory, shape and strides."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from cuda.core import Buffer
from cuda.core.utils import StridedMemoryView

from ..layout import Layout
from .gpu import LEGACY, Block, Gpu

_DEVICE = 2  # kDLCUDA, what DLPack calls such memory
_BFLOAT = 4  # kDLBfloat
_CODE_AT = {b"dltensor": 20, b"dltensor_versioned": 52}  # where in the struct the code of the element type is


class CudaArray:
    """The visible elements in the memory of a device; valid inside its block.

    ``pointer`` (the same as ``address``) is an integer, at the first visible element. ``shape``, ``strides`` (in elements),
    ``size`` and ``dtype`` are those of the Mat; ``device`` is where it lies. Who knows ``__cuda_array_interface__``
    or DLPack takes it without a copy: ``torch.as_tensor(a, device="cuda")``, ``cupy.asarray(a)``.
    """

    __slots__ = ("__weakref__", "address", "device", "dtype", "gpu", "handle", "layout", "letter", "loan", "shape", "size",
                 "strides", "writable")

    def __init__(self, handle: Block, layout: Layout, dtype: Any, device: Any = None, *, writable: bool = True) -> None:
        self.handle = handle
        self.layout = layout
        self.dtype = dtype
        self.letter: str = dtype.char
        self.shape, self.strides, self.size = layout.shape, layout.strides, layout.size
        self.address: int = handle.address + (layout.displacement * dtype.itemsize if layout.size else 0)  # always in its block
        self.gpu: Gpu = handle.gpu
        self.device = device
        self.writable = writable
        self.loan: Any = None  # made when others ask for the address, whose reference to self keeps it

    @property
    def pointer(self) -> int:
        """Where the first visible element is."""
        return self.address

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self.letter == "E":
            raise AttributeError("__cuda_array_interface__ has no bfloat16; DLPack has: torch.from_dlpack(a)")
        self.loan = self.handle.lend()
        step = self.dtype.itemsize
        strides = None if self.layout.contiguous else tuple(s * step for s in self.strides)
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self.address if self.size else 0, not self.writable),
                "strides": strides, "version": 3, "stream": LEGACY}

    def __dlpack_device__(self) -> tuple[int, int]:
        return _DEVICE, self.gpu.number

    def __dlpack__(self, *, stream: int | None = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any:
        """A capsule over the same memory. A consumer on another stream than the default one is made to wait for it."""
        if copy or (dl_device is not None and tuple(dl_device) != self.__dlpack_device__()):
            raise BufferError("a CudaArray lends its memory where it is and copies nothing; x.to_numpy() copies to the host")
        if stream not in (None, -1, LEGACY):
            self.gpu.wait_on(stream)
        if min(self.strides, default=0) < 0:
            raise BufferError("DLPack's consumers take no negative strides; x.contiguous() has none")
        self.loan = self.handle.lend()
        low, high = self.layout.bounds
        dtype = np.dtype(np.uint16) if self.letter == "E" else self.dtype  # cuda.core's capsules know no bfloat16
        with self.gpu.current():
            step = dtype.itemsize
            buffer = Buffer.from_handle(self.address, max((high - low) * step, 1), owner=self)
            view = StridedMemoryView.from_buffer(buffer, self.shape, self.strides, itemsize=step, dtype=dtype,
                                                 is_readonly=not self.writable)
            capsule = view.__dlpack__(stream=-1, max_version=max_version)
        if self.letter == "E":
            _say_bfloat(capsule)
        return capsule

    def __repr__(self) -> str:
        return f"<CudaArray {self.address:#x} on cuda:{self.gpu.number} shape {self.shape} strides {self.strides} {self.dtype}>"


def _say_bfloat(capsule: Any) -> None:
    """Have a capsule of 16-bit integers say that they are bfloat16."""
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype = ctypes.c_char_p
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    name = api.PyCapsule_GetName(ctypes.py_object(capsule))
    struct = api.PyCapsule_GetPointer(ctypes.py_object(capsule), ctypes.c_char_p(name))
    ctypes.c_uint8.from_address(struct + _CODE_AT[name]).value = _BFLOAT
