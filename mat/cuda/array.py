"""What code for the device is given of a Mat: an address in the device's memory, shape and
strides.
"""

from __future__ import annotations

from typing import Any

from cuda.core import Buffer
from cuda.core.utils import StridedMemoryView

from ..errors import ExchangeError
from ..layout.strided import Layout
from ..support.dlpack_abi import (
    COPIED,
    CUDA,
    LEGACY,
    READ_ONLY,
    check_stream,
    compiled,
    make_capsule,
)
from .gpu import LEGACY as STREAM
from .gpu import DeviceBlock, Gpu


class CudaArray:
    """The visible elements in the memory of a device; valid inside its block.

    ``pointer`` (the same as ``address``) is an integer, at the first visible element. ``shape``,
    ``strides`` (in elements), ``size`` and ``dtype`` are those of the Mat; ``device`` is where it
    lies. Who knows ``__cuda_array_interface__`` or DLPack takes it without a copy:
    ``torch.as_tensor(a, device="cuda")``, ``cupy.asarray(a)``.
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

    def __init__(self, handle: DeviceBlock, layout: Layout, dtype: Any, device: Any = None, *,
                 writable: bool = True) -> None:
        self.handle = handle
        self.layout = layout
        self.dtype = dtype
        self.letter: str = dtype.char
        self.shape, self.strides, self.size = layout.shape, layout.strides, layout.size
        # always in its block
        self.address: int = handle.address + (layout.displacement * dtype.itemsize if layout.size
                                              else 0)
        self.gpu: Gpu = handle.gpu
        self.device = device
        self.writable = writable
        # made when others ask for the address, whose reference to self keeps it
        self.exported: Any = None

    @property
    def pointer(self) -> int:
        """Where the first visible element is."""
        return self.address

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self.letter == "E":
            raise AttributeError("__cuda_array_interface__ has no bfloat16; DLPack has: "
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
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any:
        """A capsule over the same memory. A consumer on another stream than the default one is made
        to wait for it.
        """
        if copy or (dl_device is not None and tuple(dl_device) != self.__dlpack_device__()):
            raise ExchangeError("a CudaArray lends its memory where it is and copies nothing; "
                                "x.to_numpy() copies to the host")
        if max_version is None and not self.writable:
            raise ExchangeError("a consumer from before DLPack 1.0 cannot be told that this is "
                                "read-only; "
                                "torch.from_dlpack(x) of the Mat itself copies for it, a block for "
                                "'io' lends to be written")
        check_stream(stream, self.__dlpack_device__())
        self.gpu.make_stream_wait(stream)
        flags = 0 if self.writable else READ_ONLY
        return self.capsule((self, self.handle.export()), LEGACY if max_version is None else flags)

    def capsule(self, owner: object, flags: int) -> Any:
        """A capsule that keeps `owner`, which keeps the memory."""
        if min(self.strides, default=0) < 0:
            raise ExchangeError("DLPack's consumers take no negative strides, torch ends the "
                                "process; x.contiguous() has none")
        if compiled:
            return make_capsule(owner, self.address, self.shape, self.strides,
                                self.__dlpack_device__(), self.dtype, flags)
        if self.letter == "E" or flags == COPIED:
            raise ExchangeError("without compiled kernels, "
                                f"{'bfloat16' if self.letter == 'E' else 'a copy'} is not lent")
        low, high = self.layout.bounds
        with self.gpu.current():  # cuda.core has capsules, too
            buffer = Buffer.from_handle(self.address, max((high - low) * self.dtype.itemsize, 1),
                                        owner=owner)
            view = StridedMemoryView.from_buffer(buffer, self.shape, self.strides,
                                                 itemsize=self.dtype.itemsize,
                                                 dtype=self.dtype, is_readonly=flags == READ_ONLY)
            return view.__dlpack__(stream=-1, max_version=None if flags == LEGACY else (1, 0))

    def __repr__(self) -> str:
        return f"<CudaArray {self.address:#x} on cuda:{self.gpu.number} shape {self.shape} strides {self.strides} {self.dtype}>"

