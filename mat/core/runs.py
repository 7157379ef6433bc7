"""`Runs`: sets of elements of a storage, as disjoint runs of consecutive ones."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import islice
from typing import Any

SHOWN = 3  # runs in messages


class Runs:
    """A set of integers: disjoint half-open intervals in increasing order, none of them adjacent.

    `edges` has the beginnings and ends in turns. Objects are immutable.
    """

    __slots__ = ("edges",)

    def __init__(self, edges: list[int]) -> None:
        self.edges: list[int] = edges

    def __bool__(self) -> bool:
        return len(self.edges) > 0

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(zip(self.edges[::2], self.edges[1::2], strict=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Runs) and self.edges == other.edges

    def __hash__(self) -> int:
        return hash(tuple(self.edges))

    def __repr__(self) -> str:
        few = [f"{a}:{b}" for a, b in islice(self, SHOWN)]
        more = len(self.edges) // 2 - len(few)
        return (", ".join(few) or "none") + (f" and {more} more runs" if more else "")

    @property
    def size(self) -> int:
        """The number of elements."""
        return sum(self.edges[1::2]) - sum(self.edges[::2])

    @property
    def bounds(self) -> tuple[int, int]:
        """The half-open interval from the first element to the last; ``(0, 0)`` without any."""
        return (self.edges[0], self.edges[-1]) if self.edges else (0, 0)

    def __and__(self, other: Runs) -> Runs:
        if len(other.edges) == 2:
            return self.within(other.edges[0], other.edges[1])
        if len(self.edges) == 2:
            return other.within(self.edges[0], self.edges[1])
        return Runs(_sweep(self.edges, other.edges, 2))

    def __or__(self, other: Runs) -> Runs:
        if not other.edges or self.edges == other.edges:
            return self
        if not self.edges:
            return other
        if len(other.edges) == 2:
            return self._with(other.edges[0], other.edges[1])
        return Runs(_sweep(self.edges, other.edges, 1))

    def __sub__(self, other: Runs) -> Runs:
        if not self.edges or not other.edges:
            return self
        if len(other.edges) == 2:
            return self._without(other.edges[0], other.edges[1])
        first, last = self.bounds  # what lies beside self has no effect
        near = other.within(first, last)
        return self if not near else self & near.complement(first, last)

    def within(self, start: int, stop: int) -> Runs:
        """Return the elements from `start` to `stop`."""
        edges: Any = self.edges
        if start >= stop or not edges:
            return NONE
        if start <= edges[0] and edges[-1] <= stop:
            return self
        low, high = bisect_right(edges, start), bisect_left(edges, stop)
        return Runs([*([start] if low & 1 else ()), *edges[low:high],
                     *([stop] if high & 1 else ())])

    def _with(self, start: int, stop: int) -> Runs:
        edges: Any = self.edges
        low, high = bisect_left(edges, start), bisect_right(edges, stop)
        return Runs([*edges[:low], *(() if low & 1 else [start]), *(() if high & 1 else [stop]),
                     *edges[high:]])

    def _without(self, start: int, stop: int) -> Runs:
        edges: Any = self.edges
        low, high = bisect_left(edges, start), bisect_right(edges, stop)
        return Runs([*edges[:low], *([start] if low & 1 else ()), *([stop] if high & 1 else ()),
                     *edges[high:]])

    def complement(self, start: int, stop: int) -> Runs:
        """Return the elements from `start` to `stop` that are not in self, which is in between."""
        edges: list[int] = [start, *self.edges, stop]
        if edges[0] == edges[1]:
            del edges[:2]
        if len(edges) > 1 and edges[-1] == edges[-2]:
            del edges[-2:]
        return Runs(edges)

    def covers(self, other: Runs) -> bool:
        """Return whether all elements of `other` are in self."""
        return self.edges == other.edges or not other - self

    def meets(self, other: Runs) -> bool:
        """Return whether an element is in both."""
        return bool(self & other)

    def moved(self, by: int) -> list[tuple[int, int]]:
        """Return the intervals, each `by` later."""
        return [(a + by, b + by) for a, b in self]


NONE = Runs([])


def run(start: int, stop: int) -> Runs:
    """Return the elements from `start` to `stop`."""
    return Runs([start, stop]) if start < stop else NONE


def union(found: Iterable[Runs]) -> Runs:
    """Return the elements of all of these."""
    result = NONE
    for runs in found:
        result = result | runs
    return result


def _sweep(a: list[int], b: list[int], least: int) -> list[int]:
    """Return the edges of what is in at least so many of two sets."""
    changes = merge(((x, 1 - 2 * (k & 1)) for k, x in enumerate(a)),
                    ((x, 1 - 2 * (k & 1)) for k, x in enumerate(b)))
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
