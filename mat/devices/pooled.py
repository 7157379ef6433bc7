"""`PooledDevice` and `PooledFacet`, the base classes of devices with a `Pooled` memory."""

from __future__ import annotations

from collections.abc import Callable

from ..core.registry import Facet, Presented
from ..memories.pooled import CLOCK, Pooled
from ..support.open_blocks import remove
from .in_use import Device, DeviceUse


class PooledDevice(Device):
    """A device with a `Pooled` memory; `tidy_up` is called when the last `use_device` ends."""

    memory: Pooled

    def __init__(self) -> None:
        self._uses: list[object] = []

    def begin(self, use: DeviceUse) -> None:
        self._uses.append(use)
        if use.pool_bytes is not None:
            self.memory.restrict(use, use.pool_bytes)

    def end(self, use: DeviceUse) -> None:
        self.forget(use)
        if not self._uses:
            self.finish()
            self.tidy_up()

    def forget(self, use: DeviceUse) -> None:
        self.memory.lift(use)
        remove(self._uses, use)

    def tidy_up(self) -> None:
        """Free memory kept for the next use, after the last block that uses the device."""
        self.memory.trim()

    def finish(self) -> None:
        """Finish queued work; called when no block uses the device any more."""


class PooledFacet(Facet):
    """A facet of a `Pooled` memory: each access sets the tick of the handle of its value."""

    def lender(self, value: Presented) -> Callable[[], Presented]:
        def mark_used() -> Presented:
            value.handle.tick = next(CLOCK)
            return value
        return mark_used
