"""`PooledDevice` and `PooledFacet`, the base classes of devices with a `Pooled` memory."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ..core.registry import Facet, Presented
from ..memories.pooled import CLOCK, Pooled
from .device import Device


class PooledDevice(Device):
    """A device with a `Pooled` memory; cached blocks are freed when the last `use_device` ends."""

    memory: Pooled

    def __init__(self) -> None:
        self._users = 0
        self._counting = threading.Lock()

    def begin(self, pool_bytes: int | None) -> int | None:
        before = self.memory.limit
        if pool_bytes is not None:
            self.memory.restrict(pool_bytes)
        with self._counting:
            self._users += 1
        return before

    def end(self, before: int | None) -> None:
        with self._counting:
            self._users -= 1
            last = not self._users
        self.memory.limit = before
        if last:
            self.finish()
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
