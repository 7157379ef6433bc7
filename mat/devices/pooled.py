"""Devices with a memory of limited size, and their facets: what the emulated device and GPUs have
in common.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ..core.registry import Facet
from ..memories.pooled import CLOCK, Pooled
from .device import Device


class PooledDevice(Device):
    """A device with such a memory: blocks restrict it, and the last to end gives back what is
    kept.
    """

    memory: Pooled

    def __init__(self) -> None:
        self._users = 0
        self._counting = threading.Lock()

    def begin(self, pool_bytes: int | None) -> Any:
        before = self.memory.limit
        if pool_bytes is not None:
            self.memory.restrict(pool_bytes)
        with self._counting:
            self._users += 1
        return before

    def end(self, before: Any) -> None:
        with self._counting:
            self._users -= 1
            last = not self._users
        self.memory.limit = before
        if last:
            self.finish()
            self.memory.trim()

    def finish(self) -> None:
        """Nobody uses the device any more: do what is still to be done."""


class PooledFacet(Facet):
    """A facet of such a memory: a look is a use of what it looks at, which has a ``handle``."""

    def lender(self, value: Any) -> Callable[[], Any]:
        def lend() -> Any:
            value.handle.tick = next(CLOCK)
            return value
        return lend
