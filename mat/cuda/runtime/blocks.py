"""Blocks of a device's memory: its own, and those of other libraries."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeAlias

from ...core.source_line import SourceLine

Gpu: TypeAlias = Any  # the `Gpu` whose memory it is; its module is above this one


class At(NamedTuple):
    """An address in the memory of a device, as kernels and cuBLAS take operands."""

    gpu: Gpu
    address: int

    def after(self, nbytes: int) -> At:
        """Return the address so many bytes later."""
        return At(self.gpu, self.address + nbytes)


class BlockExport:
    """A block whose address other libraries have; if it is freed, `freed` gets it at the end."""

    def __init__(self, block: DeviceBlock) -> None:
        self.block: DeviceBlock = block
        self.freed: Callable[[DeviceBlock], None] | None = None

    def __del__(self) -> None:
        freed = getattr(self, "freed", None)  # an interrupt may have ended `__init__`
        if freed is not None:
            freed(self.block)  # takes no lock: this may run in the middle of anything


class DeviceBlock:
    """Memory of a device, which gets it back if it is `owned` and garbage after an interrupt."""

    __slots__ = ("__weakref__", "address", "exported", "gpu", "line", "nbytes", "owned", "room",
                 "tick")

    def __init__(self, address: int, nbytes: int, gpu: Gpu) -> None:
        self.address: int = address
        self.nbytes: int = nbytes
        self.room: int = nbytes  # the bytes that were allocated
        self.gpu: Gpu = gpu
        self.owned: bool = False
        self.tick: int = 0  # the time of its last use
        self.line: SourceLine | None = None  # which allocated it
        self.exported: weakref.ref[BlockExport] | None = None

    def export(self) -> BlockExport:
        """Return an object that keeps the block from being reused while others have its address."""
        export = self.exported() if self.exported is not None else None
        if export is None:
            export = BlockExport(self)
            self.exported = weakref.ref(export)
        return export

    def __del__(self) -> None:
        if getattr(self, "owned", False):
            self.gpu.orphans.append((self.address, self.nbytes))  # atomic, and no lock

    def __repr__(self) -> str:
        return f"<{self.nbytes} bytes at {self.address:#x} of cuda:{self.gpu.number}>"


class ForeignBlock(DeviceBlock):
    """Memory of another library, kept by `owner`."""

    __slots__ = ("owner",)

    def __init__(self, address: int, nbytes: int, gpu: Gpu, owner: object) -> None:
        super().__init__(address, nbytes, gpu)
        self.owner: object = owner


class DevicePool(Protocol):
    """An allocator that accounts for the memory of a device."""

    def take(self, nbytes: int) -> DeviceBlock: ...
    def free(self, handle: DeviceBlock) -> None: ...
    def trim(self) -> None: ...
