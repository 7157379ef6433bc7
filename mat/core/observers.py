"""Observers: objects that are notified of accesses, copies, allocations and calls as they happen.

The debugging tools are observers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .registry import CubeLike, Memory, RecordLike, ViewLike


class Observer:
    """A receiver of events: override the methods for those that you need, and `observe` it.

    Every method does nothing by default. They are called in the thread in which the event happens.
    """

    def entered(self, record: RecordLike) -> None:
        """Receive the record of an access that has begun.

        Parameters
        ----------
        record : AccessRecord
            The access: ``view``, ``facet``, ``direction``, ``thread`` and ``value``.
        """

    def left(self, record: RecordLike, failed: bool) -> None:
        """Receive the record of an access whose block has ended.

        An error raised here counts as an error of the block.

        Parameters
        ----------
        record : AccessRecord
            The access.
        failed : bool
            True if the block raised an error.
        """

    def allocated(self, cube: CubeLike, memory: Memory) -> None:
        """Receive a cube for which `memory` allocated a handle."""

    def freed(self, cube: CubeLike, memory: Memory) -> None:
        """Receive a cube whose copy in `memory` was dropped."""

    def evicted(self, cube: CubeLike, memory: Memory) -> None:
        """Receive a cube whose copy in `memory` is about to be freed to make room for another."""

    def copying(self, cube: CubeLike, source: Memory, target: Memory) -> None:
        """Receive a cube that is about to be copied from `source` to `target`.

        An error raised here prevents the copy.
        """

    def copied(self, cube: CubeLike, source: Memory, target: Memory, seconds: float) -> None:
        """Receive a cube that was copied from `source` to `target` in so many seconds."""

    def created(self, cube: CubeLike) -> None:
        """Receive a new storage."""

    def packed(self, view: ViewLike) -> None:
        """Receive a strided operand that was copied since an engine needs packed elements."""

    def fell_back(self, operation: str, device: str) -> None:
        """Receive an operation that the host carries out.

        Parameters
        ----------
        operation : str
            The name of the operation.
        device : str
            The name of the device in use, which has no implementation for these operands.
        """

    def called(self, routine: str, **arguments: object) -> None:
        """Receive the name and the arguments of a library routine that an engine called."""


OBSERVERS: list[Observer] = []  # nearly always empty: a call pays for one truth test


@contextmanager
def observe(observer: Observer) -> Iterator[Observer]:
    """Notify `observer` of everything that happens in any thread while the block runs.

    Parameters
    ----------
    observer : Observer
        The receiver.

    Yields
    ------
    Observer
        `observer`.
    """
    OBSERVERS.append(observer)
    try:
        yield observer
    finally:
        OBSERVERS[:] = [o for o in OBSERVERS if o is not observer]
