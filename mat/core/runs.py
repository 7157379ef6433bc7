"""`Runs`: sets of elements of a storage, as disjoint runs of consecutive ones; those that a layout
sees.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ..layout.strided import Layout
from ..support.types import Array

SHOWN = 3  # runs in messages
MANY = 256  # edges: of more there is an array, since NumPy takes less time for those


class EqualRuns(NamedTuple):
    """Runs of one length, one every `step` elements."""

    start: int  # of the first
    rows: int
    step: int
    length: int

    def of(self, a: Array, shift: int = 0) -> Array:
        """Return these elements of a 1-d array, each `shift` later, as a view."""
        start = self.start + shift
        if self.rows == 1:
            return a[start:start + self.length]
        strides = self.step * a.itemsize, a.itemsize
        return np.lib.stride_tricks.as_strided(a[start:], (self.rows, self.length), strides)


class Runs:
    """A set of integers: disjoint half-open intervals in increasing order, none of them adjacent.

    `edges` has the beginnings and ends in turns. Objects are immutable.
    """

    __slots__ = ("edges",)

    def __init__(self, edges: list[int] | Array) -> None:
        if len(edges) > MANY:
            edges = np.asarray(edges, np.int64)
        elif not isinstance(edges, list):
            edges = edges.tolist()
        self.edges: Any = edges

    def __bool__(self) -> bool:
        return len(self.edges) > 0

    def __len__(self) -> int:
        return len(self.edges) // 2

    def __iter__(self) -> Iterator[tuple[int, int]]:
        edges = self.edges if isinstance(self.edges, list) else self.edges.tolist()
        return iter(zip(edges[::2], edges[1::2], strict=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Runs) and _equal(self.edges, other.edges)

    def __hash__(self) -> int:
        return hash((len(self.edges), *self.bounds))

    def __repr__(self) -> str:
        few = [f"{a}:{b}" for a, b in islice(self, SHOWN)]
        more = len(self) - len(few)
        return (", ".join(few) or "none") + (f" and {more} more runs" if more else "")

    @property
    def size(self) -> int:
        """The number of elements."""
        edges = self.edges
        if isinstance(edges, list):
            return sum(edges[1::2]) - sum(edges[::2])
        return int((edges[1::2] - edges[::2]).sum())

    @property
    def bounds(self) -> tuple[int, int]:
        """The half-open interval from the first element to the last; ``(0, 0)`` without any."""
        edges = self.edges
        return (int(edges[0]), int(edges[-1])) if len(edges) else (0, 0)

    def __and__(self, other: Runs) -> Runs:
        if len(other.edges) == 2:
            return self.within(other.edges[0], other.edges[1])
        if len(self.edges) == 2:
            return other.within(self.edges[0], self.edges[1])
        return Runs(_sweep(self.edges, other.edges, 2))

    def __or__(self, other: Runs) -> Runs:
        if not other or self == other:
            return self
        if not self:
            return other
        if len(other.edges) == 2:
            return self._with(other.edges[0], other.edges[1])
        return Runs(_sweep(self.edges, other.edges, 1))

    def __sub__(self, other: Runs) -> Runs:
        if not self or not other:
            return self
        if len(other.edges) == 2:
            return self._without(other.edges[0], other.edges[1])
        first, last = self.bounds  # what lies beside self has no effect
        near = other.within(first, last)
        return self & near.complement(first, last) if self.meets(near) else self

    def within(self, start: int, stop: int) -> Runs:
        """Return the elements from `start` to `stop`."""
        edges = self.edges
        if start >= stop or not self:
            return NONE
        if start <= edges[0] and edges[-1] <= stop:
            return self
        low, high = bisect_right(edges, start), bisect_left(edges, stop)
        return Runs(_chain([start] if low & 1 else [], edges[low:high], [stop] if high & 1 else []))

    def _with(self, start: int, stop: int) -> Runs:
        edges = self.edges
        low, high = bisect_left(edges, start), bisect_right(edges, stop)
        return Runs(_chain(edges[:low], [] if low & 1 else [start], [] if high & 1 else [stop],
                           edges[high:]))

    def _without(self, start: int, stop: int) -> Runs:
        edges = self.edges
        low, high = bisect_left(edges, start), bisect_right(edges, stop)
        return Runs(_chain(edges[:low], [start] if low & 1 else [], [stop] if high & 1 else [],
                           edges[high:]))

    def complement(self, start: int, stop: int) -> Runs:
        """Return the elements from `start` to `stop` that are not in self, which is between."""
        edges = _chain([start], self.edges, [stop])
        if edges[0] == edges[1]:
            edges = edges[2:]
        if len(edges) > 1 and edges[-1] == edges[-2]:
            edges = edges[:-2]
        return Runs(edges)

    def covers(self, other: Runs) -> bool:
        """Return whether all elements of `other` are in self."""
        return self == other or not other - self

    def meets(self, other: Runs) -> bool:
        """Return whether an element is in both."""
        few, many = sorted((self, other), key=len)
        if isinstance(many.edges, list) or len(few) < 2:
            return bool(self & other)
        edges = np.asarray(few.edges)
        at = np.searchsorted(many.edges, edges[::2], side="right")
        return bool((at & 1).any() or (np.searchsorted(many.edges, edges[1::2]) > at).any())

    def moved(self, by: int) -> Runs:
        """Return the elements that are `by` later."""
        edges = self.edges
        if not by:
            return self
        return Runs([x + by for x in edges] if isinstance(edges, list) else edges + by)

    def times(self, factor: int) -> Runs:
        """Return the same set where each element is so many smaller ones."""
        edges = self.edges
        if factor == 1:
            return self
        return Runs([x * factor for x in edges] if isinstance(edges, list) else edges * factor)

    def mask(self, size: int) -> Array:
        """Return one bool for each of so many elements: True for those in self."""
        found = np.zeros(size, bool)
        for block in self.blocks():
            block.of(found)[...] = True
        return found

    def blocks(self) -> list[EqualRuns]:
        """Return the runs as blocks, each of as many as can be copied at once."""
        if len(self) < 4:
            return [EqualRuns(a, 1, b - a, b - a) for a, b in self]
        edges = np.asarray(self.edges)
        starts, lengths = edges[::2], edges[1::2] - edges[::2]
        steps = np.diff(starts)
        unequal = lengths[1:] != lengths[:-1]  # to the run before
        apart = unequal.copy()
        apart[1:] |= steps[1:] != steps[:-1]
        # the second of a block is as far from the first as the third from the second
        second = apart[1:] & apart[:-1] & ~unequal[1:]
        second[1:] &= ~apart[:-2]
        apart[1:] &= ~second
        first = np.concatenate(([0], np.flatnonzero(apart) + 1))
        counts = np.diff(np.append(first, len(starts)))
        wide = np.append(steps, 0)[first]
        columns = starts[first], counts, wide, lengths[first]
        return [EqualRuns(*found) for found in zip(*(c.tolist() for c in columns), strict=True)]


NONE = Runs([])


def unit_type(dtype: Any, split: int) -> Any:
    """Return the dtype of units: `split` of them make an element of `dtype`."""
    return dtype if split == 1 else np.dtype(f"u{dtype.itemsize // split}")


def run(start: int, stop: int) -> Runs:
    """Return the elements from `start` to `stop`."""
    return Runs([start, stop]) if start < stop else NONE


def union(found: Iterable[Runs]) -> Runs:
    """Return the elements of all of these."""
    result = NONE
    for runs in found:
        result = result | runs
    return result


def _equal(a: Any, b: Any) -> bool:
    return len(a) == len(b) and (a == b if isinstance(a, list) else bool((a == b).all()))


def _chain(*parts: Any) -> Any:
    """Return edges one after the other."""
    if all(isinstance(part, list) for part in parts):
        return [x for part in parts for x in part]
    return np.concatenate([np.asarray(part, np.int64) for part in parts])


def _sweep(a: Any, b: Any, least: int) -> Any:
    """Return the edges of the elements in at least `least` of two sets."""
    if not (isinstance(a, list) and isinstance(b, list)):
        return _sweep_many(np.asarray(a), np.asarray(b), least)
    changes = sorted((x, 1 - 2 * (k & 1)) for one in (a, b) for k, x in enumerate(one))
    edges: list[int] = []
    depth, inside, at = 0, False, None
    for x, change in changes:
        if at is not None and x != at and (depth >= least) != inside:
            edges.append(at)
            inside = not inside
        at, depth = x, depth + change
    if at is not None and inside:
        edges.append(at)
    return edges


def _sweep_many(a: Array, b: Array, least: int) -> Array:
    """Return the result of `_sweep` for many runs."""
    edges, changes = np.concatenate((a, b)), np.ones(len(a) + len(b), np.int8)
    changes[1:len(a):2] = changes[len(a) + 1::2] = -1
    order = np.argsort(edges, kind="stable")
    edges = edges[order]
    inside = np.cumsum(changes[order], dtype=np.int8) >= least
    last = np.append(edges[1:] != edges[:-1], True)  # of the changes at one place
    edges, inside = edges[last], inside[last]
    return edges[inside != np.concatenate(([False], inside[:-1]))]


def element_runs(layout: Layout, most: int) -> list[int] | Array:
    """Return where runs of adjacent visible elements begin and end in the storage, in turns.

    Of more than `most` runs, only the bounds of all are returned.
    """
    low, high = layout.bounds
    if layout.contiguous or low == high:
        return [low, high] if low < high else []
    axes = sorted((abs(s), n) for n, s in zip(layout.shape, layout.strides, strict=True)
                  if n > 1 and s)
    length, count = 1, 1  # of a run, and how many there are
    while axes and axes[0][0] <= length:
        step, n = axes.pop(0)
        length += step * (n - 1)
    for _, n in axes:
        count *= n
    if count > most:
        return [low, high]
    starts = np.array([low])
    for step, n in reversed(axes):
        starts = np.add.outer(starts, np.arange(0, step * n, step)).ravel()
    return _joined(np.sort(starts, kind="stable"), length)


def _joined(starts: Array, length: int) -> Array:
    """Return the edges of runs of one length, with touching runs joined."""
    apart = starts[1:] > starts[:-1] + length
    first, last = np.append(True, apart), np.append(apart, True)
    return np.stack((starts[first], starts[last] + length), axis=1).ravel()
