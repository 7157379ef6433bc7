"""Observers: what wants to know of looks, copies, allocations and calls as they happen. Debugging
tools hang here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Observer:
    """Something that wants to know what happens: override what you need, and `observe` it."""

    def entered(self, record: Any) -> None:
        """A look has begun."""

    def left(self, record: Any, failed: bool) -> None:
        """A look has ended."""

    def allocated(self, cube: Any, memory: Any) -> None:
        """`memory` now has room for `cube`."""

    def freed(self, cube: Any, memory: Any) -> None:
        """The copy in `memory` is gone."""

    def evicted(self, cube: Any, memory: Any) -> None:
        """The copy in `memory` had to make room, and is about to be freed."""

    def copying(self, cube: Any, source: Any, target: Any) -> None:
        """The whole cube is about to be copied; an error raised here keeps it from being."""

    def copied(self, cube: Any, source: Any, target: Any, seconds: float) -> None:
        """The whole cube was copied."""

    def created(self, cube: Any) -> None:
        """A storage was made."""

    def packed(self, view: Any) -> None:
        """A strided operand was copied because an engine could not take it as it was."""

    def fell_back(self, operation: str, device: str) -> None:
        """The device in use has no body for these operands of an operation: the host does it."""

    def called(self, routine: str, **arguments: object) -> None:
        """An engine called a library routine."""


OBSERVERS: list[Observer] = []  # empty nearly always: a call pays for one truth test


@contextmanager
def observe(observer: Observer) -> Iterator[Observer]:
    """Tell `observer` of everything that happens in any thread while the block runs."""
    OBSERVERS.append(observer)
    try:
        yield observer
    finally:
        OBSERVERS[:] = [o for o in OBSERVERS if o is not observer]
