"""Axes that operands have together, and which of them a loop can go over as one.

An axis is a tuple: its length, then the step of each operand along it. All units are the caller's:
elements or bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class CopyAxis(NamedTuple):
    """An axis of `n` steps, of `d` bytes in the destination and `s` bytes in the source."""

    n: int
    d: int
    s: int

    @property
    def reach(self) -> int:
        """The smaller of the steps: how close in memory neighbours along the axis can be."""
        return min(self.d, abs(self.s) or self.d)


def merged(axes: Iterable[Sequence[int]]) -> list[tuple[int, ...]]:
    """Return `axes`, outermost first, with neighbours as one where all operands step alike.

    That is where each step along the outer axis is as long as the whole inner axis.
    """
    found: list[tuple[int, ...]] = []
    for n, *steps in axes:
        if found and found[-1][1:] == tuple([n * step for step in steps]):
            n *= found.pop()[0]
        found.append((n, *steps))
    return found


def loops(shape: Sequence[int], strides: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Return the fewest axes, at least one, that go over all elements of operands of one shape.

    They are ordered by the steps of the last operand, which is written, the largest first.
    """
    axes = [axis for axis in zip(shape, *strides, strict=True) if axis[0] != 1]
    axes.sort(key=lambda axis: -abs(axis[-1]))
    return merged(axes) or [(1, *[0] * len(strides))]


def upwards(axes: Iterable[CopyAxis]) -> list[CopyAxis]:
    """Return `axes` in the destination's order, outermost first, all counted upwards there."""
    found = [CopyAxis(a.n, -a.d, -a.s) if a.d < 0 else a for a in axes]
    found.sort(key=lambda a: (-a.d, -abs(a.s)))
    return found


def starts(axes: Iterable[CopyAxis]) -> tuple[int, int]:
    """Return by how many bytes source and destination begin later if counted by `upwards`."""
    down = [a for a in axes if a.d < 0]
    return sum(a.s * (a.n - 1) for a in down), sum(a.d * (a.n - 1) for a in down)
