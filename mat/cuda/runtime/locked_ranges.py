"""The ranges of host memory whose pages are locked, sorted: whether a copy may go directly.

The driver refuses copies of memory that is partly in such a range and partly not, or in two of
them. So memory counts as locked only if it is wholly inside of one range; copies of what touches a
range otherwise have to be staged.
"""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from ...support.fork import renew_after_fork
from .gpu import Gpu


@dataclass(eq=False, slots=True)
class LockedRange:
    """Bytes from `low` to before `high`, whose pages were locked for `gpu`.

    The device cannot write to them if they are `read_only`. `uses` counts who needs them locked.
    """

    low: int
    high: int
    gpu: Gpu
    read_only: bool = False
    keep: object = None  # the owner of the memory
    uses: int = 1

    @property
    def nbytes(self) -> int:
        """The length of the range."""
        return self.high - self.low


class LockedRanges:
    """Ranges that do not overlap, by their addresses.

    Those who look take no lock, since the tables are replaced and never changed.
    """

    def __init__(self) -> None:
        self._table: tuple[list[int], list[LockedRange]] = [], []
        self._lock = threading.Lock()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Forget all ranges, as in a forked child, whose pages no device knows."""
        self._table = [], []
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[LockedRange]:
        return iter(self._table[1])

    def add(self, found: LockedRange) -> None:
        """Add a range that overlaps with no other one."""
        with self._lock:
            starts, ranges = self._table
            at = bisect_left(starts, found.low)
            self._table = ([*starts[:at], found.low, *starts[at:]],
                           [*ranges[:at], found, *ranges[at:]])

    def remove(self, found: LockedRange) -> None:
        """Remove a range, if it is there."""
        with self._lock:
            ranges = [each for each in self._table[1] if each is not found]
            self._table = [each.low for each in ranges], ranges

    def covering(self, low: int, high: int) -> LockedRange | None:
        """Return the range that contains all bytes from `low` to `high`, or None."""
        starts, ranges = self._table
        at = bisect_right(starts, low) - 1
        return ranges[at] if at >= 0 and high <= ranges[at].high else None

    def touches(self, low: int, high: int) -> bool:
        """Return whether a range contains any of the bytes from `low` to `high`."""
        starts, ranges = self._table
        at = bisect_left(starts, high) - 1  # the last that begins before the end
        return low < high and at >= 0 and ranges[at].high > low
