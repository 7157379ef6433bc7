"""Sorting in tiles: across lines along other axes, and by runs for a line that does not fit.

The runs of a line are sorted one by one. Then each part of the result is sorted of those elements
of all runs that belong there: in the order of the runs, so that equal ones stay in their order. On
the host, elements at equal distances in the runs say which these are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...devices.in_use import in_use
from ...layout.shapes import as_axis
from ...matrix.mat import Mat, new_like
from ...support.types import Arguments, Array, Keywords
from .signatures import StagedResult, lines_along, on_host, staged
from .tile import Cuttable, Cutter, Tile, TileTooLarge, nothing, over

_INDICES = np.dtype(np.int64)


class Sorting(NamedTuple):
    """The operations on vectors that sorting in tiles is made of.

    ``sort(x, out)`` and ``argsort(x, out)`` are stable; what is in descending order is in ascending
    order in ``opposite(x)``; ``take(x, indices, out)`` takes elements; ``add(x, number, out)``.
    """

    sort: Callable[[Mat, Mat], object]
    argsort: Callable[[Mat, Mat], object]
    opposite: Callable[[Mat], Mat]
    take: Callable[[Mat, Mat, Mat], object]
    add: Callable[[Mat, int, Mat], object]


# sorts a line: the line, where to, whether descending, and the bytes of a tile
ByRuns = Callable[[Sorting, Mat, Mat, bool, int], Iterator[Tile]]


def by_sorted_lines(operation: Cuttable, sorting: Sorting, by_runs: ByRuns) -> Cutter:
    """Return the cutter of a sort: between lines, and for too long ones `by_runs`."""
    def of_each_line(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        axis, descending = as_axis(args[2], args[0].ndim), args[3]
        others = [1 if k == axis else n for k, n in enumerate(args[0].shape)]
        for index in np.ndindex(*others):
            at = (*index[:axis], slice(None), *index[axis + 1:])
            x, out = (m.over(m.layout.part(at)) for m in args[:2])
            yield from by_runs(sorting, x, out, descending, budget)

    return over(operation, lines_along, of_each_line, packs=True)


def _length_of_runs(per_element: int, budget: int) -> int:
    if budget < per_element:
        raise TileTooLarge(per_element)
    return budget // per_element


def sort_runs(sorting: Sorting, x: Mat, out: Mat, descending: bool, budget: int) -> Iterator[Tile]:
    """Yield tiles that sort a line."""
    length = _length_of_runs((4 if descending else 2) * x.element_size, budget)
    runs = new_like(x, x.shape, x.dtype)
    for start in range(0, x.size, length):
        here = slice(start, start + length)
        part, to = staged(x[here]), runs[here]
        yield Tile(partial(_sort_part, sorting, part, to, descending), (part,), (to,),
                   passed=nothing)
    yield Tile(nothing)  # when the next one is asked for, all runs are sorted
    for here, pieces in _merges(runs, length):
        part, result = _joined(runs, pieces), StagedResult(out[here], out.dtype, False)
        yield Tile(partial(_merge_part, sorting, part, result, descending), (part,),
                   (result.target,), passed=nothing)


def _sort_part(sorting: Sorting, part: Mat, to: Mat, descending: bool) -> None:
    sorting.sort(sorting.opposite(part) if descending else part, to)


def _merge_part(sorting: Sorting, part: Mat, result: StagedResult, descending: bool) -> None:
    sorting.sort(part, result.target)
    if descending:
        result.target.assign_(sorting.opposite(result.target))
    result.finish()


def argsort_runs(sorting: Sorting, x: Mat, out: Mat, descending: bool,
                 budget: int) -> Iterator[Tile]:
    """Yield tiles that write the indices that sort a line."""
    length = _length_of_runs(3 * x.element_size + 3 * _INDICES.itemsize, budget)
    runs, places = new_like(x, x.shape, x.dtype), new_like(x, x.shape, _INDICES)
    for start in range(0, x.size, length):
        here = slice(start, start + length)
        part = staged(x[here])
        yield Tile(partial(_order_part, sorting, part, runs[here], places[here], start, descending),
                   (part,), (runs[here], places[here]), passed=nothing)
    yield Tile(nothing)  # when the next one is asked for, all runs are sorted
    for here, pieces in _merges(runs, length):
        part, at = _joined(runs, pieces), _joined(places, pieces)
        result = StagedResult(out[here], out.dtype, False)
        yield Tile(partial(_merge_order, sorting, part, at, result), (part, at), (result.target,),
                   passed=nothing)


def _order_part(sorting: Sorting, part: Mat, run: Mat, places: Mat, start: int,
                descending: bool) -> None:
    keys = sorting.opposite(part) if descending else part
    sorting.argsort(keys, places)
    sorting.take(keys, places, run)
    sorting.add(places, start, places)


def _merge_order(sorting: Sorting, part: Mat, at: Mat, result: StagedResult) -> None:
    order = new_like(part, part.shape, _INDICES)
    sorting.argsort(part, order)
    sorting.take(at, order, result.target)
    result.finish()


# Which elements of the runs belong to a part of the result

Pieces = list[tuple[int, int]]  # where the elements of each run begin and end


def _merges(runs: Mat, length: int) -> Iterator[tuple[slice, Pieces]]:
    """Yield the parts of the result, and where their elements are in the sorted runs."""
    if not in_use().computes:  # nothing was sorted
        cuts = _even_cuts(runs.size, length)
    else:
        with on_host(runs).facet("array", "input") as a:
            cuts = _cuts(a, length)
    start = 0
    for before, after in pairwise(cuts):
        pieces = list(zip(before, after, strict=True))
        stop = start + sum(b - a for a, b in pieces)
        if start < stop:
            yield slice(start, stop), pieces
        start = stop


def _steps(length: int, count: int) -> tuple[int, int]:
    """Return the distance of marks of cuts in `count` runs, and the marks of a part."""
    step = max(1, length // (2 * count))
    return step, max(1, (length - count * step if step > 1 else length) // step)


def _even_cuts(size: int, length: int) -> list[list[int]]:
    """Return the result of `_cuts` for runs that are like one another."""
    starts = range(0, size, length)
    lengths = [min(start + length, size) - start for start in starts]
    step, every = _steps(length, len(starts))
    parts = sum(n // step for n in lengths) // every + 1
    return [[start + n * k // parts for start, n in zip(starts, lengths, strict=True)]
            for k in range(parts + 1)]


def _cuts(a: Array, length: int) -> list[list[int]]:
    """Return how far into each run the parts of the result reach, from none to all elements."""
    starts = range(0, len(a), length)
    runs = [a[start:start + length] for start in starts]
    step, every = _steps(length, len(runs))
    marks = np.concatenate([np.arange(step - 1, len(run), step) + start
                            for run, start in zip(runs, starts, strict=True)])
    marks = marks[np.argsort(a[marks], kind="stable")]  # equal ones in the order of the runs
    chosen = marks[every - 1::every]
    cuts = [list(starts)]
    for mark in chosen:
        at = int(mark) // length
        cuts.append([start + (int(mark) - start + 1 if k == at else int(np.searchsorted(
            run, a[mark], "right" if k < at else "left")))
            for k, (run, start) in enumerate(zip(runs, starts, strict=True))])
    return [*cuts, [min(start + length, len(a)) for start in starts]]


def _joined(runs: Mat, pieces: Pieces) -> Mat:
    """Return a new Mat with pieces of a vector one after another, made on the host."""
    found = new_like(runs, (sum(b - a for a, b in pieces),), runs.dtype)
    to, source, at = on_host(found), on_host(runs), 0
    if not in_use().computes:  # for each piece it would take longer the more there are
        with source.facet("array", "input"), to.facet("array", "output"):
            return found
    for a, b in pieces:
        if a < b:
            to[at:at + b - a].assign_(source[a:b])
            at += b - a
    return found
