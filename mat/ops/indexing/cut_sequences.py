"""Cutting operations on vectors in order: searching and counting, and finding those elements that
differ from the one before.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from ...matrix.mat import Mat, new_like
from ...support.types import Arguments, Function, Keywords
from ..primitives.elementwise import add, assign, fill, subtract
from ..tiles.cut_gathers import by_positions
from ..tiles.staging import by_host
from ..tiles.tile_grid import Gridded, TileGrid
from ..tiles.tiling import Cutter, Tile, TileTooLarge
from .gathering import scatter

_INDICES = np.dtype(np.int64)


def vector_parts(size: int, per_element: int, budget: int) -> Iterator[slice]:
    """Yield parts of a vector that need at most `budget` bytes each."""
    if budget < per_element:
        raise TileTooLarge(per_element)
    length = budget // per_element
    for start in range(0, size, length):
        yield slice(start, min(start + length, size))


# Searching


def by_searches(operation: Gridded) -> Cutter:
    """Return the cutter of ``search(a, v, out, right)``: between elements of v. Without room for
    the sorted vector, of which few elements are read, the host searches.
    """
    def grid_of(args: Arguments) -> TileGrid:
        v = args[1]
        every = tuple(range(v.ndim))
        return TileGrid(v.shape, {0: (None,), 1: every, 2: every}, args)

    return by_positions(operation, grid_of)


# Counting


def by_counts(operation: Function) -> Cutter:
    """Return the cutter of ``count_bins(x, out)``; without room for the counts the host counts."""
    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        x, out = args
        rest = budget - 2 * out.nbytes
        if rest < x.element_size:
            yield by_host(operation, args, kwargs)
            return
        for part in vector_parts(x.size, x.element_size, rest):
            yield Tile(partial(_count, operation, x[part], out, part.start > 0), (x[part],), (out,))

    return cut


def _count(operation: Function, x: Mat, out: Mat, adds: bool) -> None:
    found = new_like(out, out.shape, out.dtype) if adds else out
    operation(x, found)
    if adds:
        add(out, found, out)


def by_accumulated_weights(accumulate: Function) -> Cutter:
    """Return the cutter of ``count_weights(x, order, weights, out)``, computed by another operation
    with tiles of its own, which adds in the same order.
    """
    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        x, order, weights, out = args
        yield Tile(lambda: fill(0, out))
        yield Tile(lambda: accumulate(x, order, weights, out, "add", (0,)))

    return cut


# Different elements


def by_neighbours(operation: Function) -> Cutter:
    """Return the cutter of ``firsts(x, out, equal_nan)``: each part sees the element before it."""
    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        x, out, equal_nan = args
        item = x.element_size + 2 * out.element_size
        for part in vector_parts(x.size, 2 * item, budget):
            seen = x[max(0, part.start - 1):part.stop]
            yield Tile(partial(_compare, operation, seen, out[part], equal_nan), (seen,),
                       (out[part],))

    return cut


def _compare(operation: Function, seen: Mat, out: Mat, equal_nan: bool) -> None:
    if seen.size == out.size:
        operation(seen, out, equal_nan)
        return
    found = new_like(out, seen.shape, out.dtype)
    operation(seen, found, equal_nan)
    assign(found[1:], out)


def by_ranks(operation: Function) -> Cutter:
    """Return the cutter of ``place(x, ranks, out)``: a part of x has the ranks that follow."""
    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        x, ranks, out = args
        item = 2 * x.element_size + 2 * ranks.element_size
        for part in vector_parts(x.size, item, budget):
            yield Tile(partial(_place, operation, x, ranks, out, part), (x[part], ranks[part]))

    return cut


# the parameters are those of the operation, with the part
def _place(operation: Function, x: Mat, ranks: Mat, out: Mat, part: slice) -> None:
    before = ranks._size_at(part.start - 1) if part.start else 0
    count = ranks._size_at(part.stop - 1) - before
    if count:
        seen = new_like(ranks, (part.stop - part.start,), ranks.dtype)
        subtract(ranks[part], before, seen)
        operation(x[part], seen, out[before:before + count])


def by_scattered_ranks() -> Cutter:
    """Return the cutter of ``unsort(order, ranks, out)``, by scatters with tiles of their own."""
    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        order, ranks, out = args
        yield Tile(lambda: fill(0, out))
        for part in vector_parts(order.size, 3 * _INDICES.itemsize, budget):
            yield Tile(partial(_unsort, order[part], ranks[part], out), (order[part], ranks[part]))

    return cut


def _unsort(order: Mat, ranks: Mat, out: Mat) -> None:
    at = new_like(ranks, ranks.shape, ranks.dtype)
    subtract(ranks, 1, at)
    scatter(order, at, out, 0, (0,), True)
