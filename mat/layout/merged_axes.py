"""Common axes of several operands, and the ones that a loop or a library can merge.

An axis is a tuple: its length, then the step of each operand along it. All units are the caller's:
elements or bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import Any, NamedTuple

from .shapes import Ints, signed


class CopyAxis(NamedTuple):
    """An axis of `n` steps, of `d` bytes in the destination and `s` bytes in the source."""

    n: int
    d: int
    s: int

    @property
    def reach(self) -> int:
        """Return the smaller step: how close in memory neighbours along the axis can be."""
        return min(self.d, abs(self.s) or self.d)


def magic(n: int, bits: int) -> tuple[int, int]:
    """Return a factor, as a signed word, and a shift by which kernels compute coordinates:
    ``x // n`` is ``((x * factor >> bits) + x) >> shift`` for x below ``2**(bits - 1)``.

    Source: Granlund and Montgomery, "Division by invariant integers using multiplication" (1994).
    """
    n = max(n, 1)
    shift = (n - 1).bit_length()
    return signed(((1 << bits) * ((1 << shift) - n)) // n + 1), shift


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


def loops(shape: Sequence[int], strides: Sequence[Sequence[int]], by: int = -1
          ) -> list[tuple[int, ...]]:
    """Return the fewest axes, at least one, over all elements, by the written `by`'s steps."""
    axes: list[tuple[int, ...]] = list(zip(shape, *strides, strict=True))
    if len(axes) > 1:
        at = by if by < 0 else by + 1
        axes.sort(key=lambda axis: -abs(axis[at]))
    return merged(axes) or [(1, *[0] * len(strides))]


def other_axes(shape: Ints, strides: Sequence[Ints], axis: int) -> list[tuple[int, ...]]:
    """Return the fewest axes but one, those with the largest steps of the last operand first."""
    every = [steps for k, steps in enumerate(zip(shape, *strides, strict=True)) if k != axis]
    every.sort(key=lambda steps: -abs(steps[-1]))
    return merged(every)


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


# The axes of a reduction, in the loop order of every engine's kernels


class ReductionAxis(NamedTuple):
    """An axis of a reduction: its length, and its strides in the operand x and the result y."""

    n: int
    x: int
    y: int

    @property
    def order(self) -> float:
        """Return the sort key: axes that broadcast x first, then large strides."""
        return -self.x if self.x else -inf


class ReductionForm(NamedTuple):
    """Axes that are kept and those that are reduced, outermost first, and where x and y start."""

    kept: list[ReductionAxis]
    reduced: list[ReductionAxis]
    start_x: int
    start_y: int


def form_of(kept: Sequence[ReductionAxis], reduced: Sequence[ReductionAxis],
            ordered: bool) -> ReductionForm:
    """Return the fewest axes with upward strides of x; `ordered` reduced axes stay as they are."""
    kept, start_x, start_y = _upwards(kept)
    if not ordered:
        reduced, more, _ = _upwards(reduced)
        start_x += more
        reduced = sorted(reduced, key=lambda a: a.order)
    return ReductionForm(_merged(sorted(kept, key=lambda a: a.order)), _merged(reduced), start_x,
                         start_y)


def _upwards(axes: Sequence[ReductionAxis]) -> tuple[list[ReductionAxis], int, int]:
    found, start_x, start_y = [], 0, 0
    for axis in axes:
        n, x, y = axis
        if x < 0:
            start_x += (n - 1) * x
            start_y += (n - 1) * y
            axis = ReductionAxis(n, -x, -y)
        found.append(axis)
    return found, start_x, start_y


def _merged(axes: Sequence[ReductionAxis]) -> list[ReductionAxis]:
    return list(map(ReductionAxis._make, merged(axes)))


# Stacks of blocks in memory, as libraries of Fourier transforms describe them


class Embedding(NamedTuple):
    """Blocks `distance` elements apart in packed ones of `lengths`, elements `step` apart."""

    lengths: Ints
    step: int
    distance: int


def embedding(shape: Ints, strides: Ints, rank: int) -> Embedding | None:
    """Return how blocks over the last `rank` axes lie in memory; None if it cannot be said so."""
    batch = len(shape) - rank
    (_, distance), *others = merged(zip(shape[:batch], strides[:batch], strict=True)) or [(1, 1)]
    if others or distance < 1:
        return None
    lengths = list(shape[batch:])
    step = below = 0  # of the innermost axis, and of the last one seen, of more than one element
    at = rank
    for k in reversed(range(rank)):
        n, stride = shape[batch + k], strides[batch + k]
        if n == 1:
            continue
        if stride < 1:
            return None
        if not step:
            step = stride
        elif stride % below or stride // below < lengths[at]:
            return None
        else:
            lengths[at] = stride // below
        at, below = k, stride
    return Embedding(tuple(lengths), step or 1, distance)


# The order in which running sums and products of floating-point numbers are computed. Up to `CHUNK`
# elements of a line are combined one after another, as NumPy does. Longer lines have chunks of so
# many, and these have pieces of `PIECE`: elements are combined one after another within a piece,
# the result before the piece with these, and the result before the chunk with those. The length
# alone decides, so that the bits are the same on every device, for any number of threads


PIECE, CHUNK = 32, 4096  # as in native/cpu/scan.c and native/cuda/scan.cuh


def is_in_order(name: str, dtype: Any, length: int) -> bool:
    """Return whether a line of results of a dtype has pieces and chunks."""
    return length > CHUNK and name in ("cumsum", "cumprod") and dtype.kind not in "iu"
