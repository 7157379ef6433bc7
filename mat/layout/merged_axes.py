"""Common axes of several operands, and the ones that a loop can merge.

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
        """Return the smaller step: how close in memory neighbours along the axis can be."""
        return min(self.d, abs(self.s) or self.d)


def merged(axes: Iterable[tuple[int, ...]], *, keep_ones: bool = False) -> list[tuple[int, ...]]:
    """Return `axes`, outermost first, with neighbours as one where all operands step alike.

    That is where each step along the outer axis is as long as the whole inner axis. Axes of length
    1 are dropped, unless they are to be kept.
    """
    found: list[tuple[int, ...]] = []
    outer: tuple[int, ...] = ()
    for axis in axes:
        n = axis[0]
        if n == 1 and not keep_ones:
            continue
        if outer and outer[1] == n * axis[1]:
            if len(axis) == 2:  # a view is reshaped, which has to be fast
                found[-1] = outer = n * outer[0], axis[1]
                continue
            if outer[2:] == tuple([n * step for step in axis[2:]]):
                found[-1] = outer = n * outer[0], *axis[1:]
                continue
        found.append(axis)
        outer = axis
    return found


def loops(shape: Sequence[int], strides: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Return the fewest axes, at least one, that go over all elements of operands of one shape.

    They are ordered by the steps of the last operand, which is written, the largest first.
    """
    axes: list[tuple[int, ...]] = list(zip(shape, *strides, strict=True))
    if len(axes) > 1:
        axes.sort(key=lambda axis: -abs(axis[-1]))
    return merged(axes) or [(1, *[0] * len(strides))]


def upwards(axes: Iterable[CopyAxis]) -> list[CopyAxis]:
    """Return `axes` in the destination's order, outermost first, all counted upwards there."""
    found = [CopyAxis(a.n, -a.d, -a.s) if a.d < 0 else a for a in axes]
    found.sort(key=lambda a: (-a.d, -abs(a.s)))
    return found


def starts(axes: Iterable[CopyAxis]) -> tuple[int, int]:
    """Return by how many bytes source and destination begin later if counted by `upwards`."""
    source = target = 0
    for n, d, s in axes:
        if d < 0:
            source += s * (n - 1)
            target += d * (n - 1)
    return source, target
