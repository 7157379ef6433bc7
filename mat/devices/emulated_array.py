"""The values of operations on an emulated device: arrays over guarded blocks of its memory, and the
queue of computations with them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..core.registry import Presented
from ..core.source_line import SourceLine, line_of
from ..errors import DeviceError
from ..facets import over, protected_view
from ..layout.shapes import Ints
from ..layout.strided import Layout
from ..support.c_pointers import ForeignArray, address_of
from ..support.types import Array, Bytes, DType, Function
from .pooled import PooledDevice

GUARD = 64  # bytes on either side of a block
FRESH, FREED, BAND = 0xA5, 0xDD, 0xB9  # the values of unwritten, freed and guard bytes
_INTACT = bytes([BAND]) * GUARD


class EmulatedBlock:
    """A handle: an opaque address, and bytes that only the device reads and writes."""

    __slots__ = ("__weakref__", "address", "after", "alive", "before", "bytes", "device", "first",
                 "line", "nbytes", "raw", "room", "tick", "typed")

    def __init__(self, device: PooledDevice, address: int, nbytes: int) -> None:
        self.device: PooledDevice = device
        self.address: int = address
        self.room: int = nbytes
        self.raw: Bytes = np.empty(nbytes + 2 * GUARD, np.uint8)
        self.before: Bytes = self.raw[:GUARD]
        self.before.fill(BAND)
        self.fit(nbytes)
        self.bytes.fill(FRESH)
        self.first: int = address_of(self.raw) + GUARD  # where `bytes` really are
        self.alive: bool = True
        self.tick: int = 0
        self.line: SourceLine | None = None  # which allocated it

    def fit(self, nbytes: int) -> None:
        """Place `nbytes` bytes between the guards, at most `room`."""
        self.typed: dict[DType, Array] = {}  # `bytes` as elements, by their dtype
        self.bytes: Bytes = self.raw[GUARD:GUARD + nbytes]  # those between the guards
        self.after: Bytes = self.raw[GUARD + nbytes:2 * GUARD + nbytes]
        self.after.fill(BAND)
        self.nbytes: int = nbytes

    def elements(self, dtype: DType) -> Array:
        """Return the bytes as elements of `dtype`, 1-d, without those after the last whole one."""
        found = self.typed.get(dtype)
        if found is None:
            rest = self.nbytes % dtype.itemsize
            found = self.typed[dtype] = self.bytes[:self.nbytes - rest].view(dtype)
        return found

    def renew(self) -> None:
        """Fill the bytes with the pattern of a new, unwritten block."""
        self.bytes.fill(FRESH)

    def check_guards(self) -> None:
        """Raise `DeviceError` if bytes beside the block were overwritten; restore the guards."""
        if self.before.tobytes() != _INTACT or self.after.tobytes() != _INTACT:
            self._report_overwritten()

    def _report_overwritten(self) -> None:
        for side, band in (("before", self.before), ("after", self.after)):
            wrong = np.flatnonzero(band != BAND)
            if wrong.size:
                at = int(wrong[-1]) - GUARD if side == "before" else int(wrong[0])
                band[...] = BAND
                raise DeviceError(f"{wrong.size} bytes {side} the {self.nbytes} at "
                                  f"{self.address:#x} of {self.device} were overwritten, first "
                                  f"{at:+d} from its {'begin' if side == 'before' else 'end'}; "
                                  f"{line_of(self.line)}")


class EmulatedArray:
    """The visible elements in the device's memory, readable only by the device.

    ``pointer`` (the same as ``address``) is the opaque address of the first visible element;
    ``shape``, ``strides`` (in elements), ``size`` and ``dtype`` are those of the Mat.
    ``device.launch(function, array)`` computes on it.
    """

    __slots__ = ("address", "array", "device", "dtype", "foreign", "handle", "layout", "shape",
                 "size", "strides", "writable")

    def __init__(self, handle: EmulatedBlock, layout: Layout, dtype: DType, writable: bool) -> None:
        self.handle: EmulatedBlock = handle
        self.device: PooledDevice = handle.device
        self.layout: Layout = layout
        self.dtype: DType = dtype
        self.shape: Ints = layout.shape
        self.strides: Ints = layout.strides
        self.size: int = layout.size
        self.address: int = handle.address + layout.displacement * dtype.itemsize
        self.writable: bool = writable
        # what computations are given, made when it is first needed
        self.array: Array | None = None
        self.foreign: ForeignArray | None = None

    @property
    def pointer(self) -> int:
        """The address of the first visible element, invalid in this process."""
        return self.address

    def elements(self) -> Array:
        """Return the elements of the block as the device sees them, 1-d."""
        return self.handle.elements(self.dtype)

    def as_array(self) -> Array:
        """Return the visible elements as an array, for the time of a computation."""
        if self.array is None:
            self.array = over(protected_view(self.elements(), self.writable), self.layout)
        return self.array

    def as_foreign(self) -> ForeignArray:
        """Return the visible elements for C code, for the time of a computation."""
        if self.foreign is None:
            self.foreign = ForeignArray(self.elements(), self.layout, self.handle.first)
        return self.foreign

    def __repr__(self) -> str:
        return (f"<EmulatedArray {self.address:#x} shape {self.shape} strides {self.strides} "
                f"{self.dtype}>")


class Launch:
    """A computation in the queue of a device; delayed, it has no effect if interrupted."""

    def __init__(self, function: Function, values: tuple[object, ...],
                 opened: Callable[[EmulatedArray], Presented], delayed: bool) -> None:
        self.function: Function = function
        self.values: tuple[object, ...] = values
        self.opened: Callable[[EmulatedArray], Presented] = opened
        self.delayed: bool = delayed
        self.result: list[Presented] = []  # one item when it is done

    def run(self) -> None:
        """Compute."""
        if self.result:
            return
        arrays = [v for v in self.values if isinstance(v, EmulatedArray)]
        before = [(a.handle.raw, a.handle.raw.copy()) for a in arrays
                  if a.writable] if self.delayed else ()
        opened = self.opened
        try:
            self.result.append(self.function(*[opened(v) if isinstance(v, EmulatedArray) else v
                                               for v in self.values]))
        except Exception:
            raise
        except BaseException:
            for raw, copied in before:
                raw[...] = copied
            raise
        for array in arrays:
            array.handle.check_guards()
