"""Cutting operations on vectors, and those that return a number: into pieces one after another,
whose numbers are combined.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ...core.direction import INPUT
from ...layout.shapes import Ints
from ...layout.strided import Layout
from ...matrix.mat import Mat
from ...support.types import Arguments, DType, Keywords, Number
from .tile_grid import GridAxes, Gridded, TileGrid, tile_of, tiles_over
from .tiling import Cutter, Tile, TileTooLarge

Combine = Callable[[list[Any], DType], Any]  # of the numbers of the pieces


def by_pieces(operation: Gridded, combine: Combine | None = None) -> Cutter:
    """Return the cutter of an operation of BLAS level 1, with the parameters ``n``, ``incx`` and
    ``incy``; `combine` makes the result of the numbers that the pieces give.
    """
    operation.reads_once = True

    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        mats = [k for k in operation.operands if isinstance(args[k], Mat)]
        shape: Ints = args[mats[0]].shape
        if kwargs or any(args[k].shape != shape for k in mats):
            args, packed = _as_vectors(operation, args, **kwargs)
            shape = args[mats[0]].shape
        else:
            packed = []
        axes: GridAxes = tuple(range(len(shape)))
        grid = TileGrid(shape, dict.fromkeys(mats, axes), args)
        if combine is None:
            yield from tiles_over(operation, grid, {}, budget, free=not packed)
            for view, of in packed:
                yield Tile(partial(_put_back, view, of))  # which is cut itself
        else:
            yield from _combined(operation, grid, combine, budget)

    return cut


def _as_vectors(operation: Gridded, args: Arguments, n: int | None = None,
                **incs: int) -> tuple[Arguments, list[tuple[Mat, Mat]]]:
    """Return the arguments with vectors of the elements that are used, and those that are written
    and have to be packed with their packed copies.
    """
    found, packed = list(args), []
    for k in operation.operands:
        view = args[k]
        flat = view.layout.viewed_as((view.size,))
        if flat is None:
            copy = view.copy()
            if operation.declared_direction(k, args) is not INPUT:
                packed.append((view, copy))
            view, flat = copy, copy.layout.reshape((view.size,))
        inc = incs.get("inc" + operation.positional[k], 1)
        found[k] = view.over(used_part(flat, n, inc))
    return tuple(found), packed


def used_part(vector: Layout, n: int | None, inc: int) -> Layout:
    """Return the layout of the elements of a vector that BLAS would use, in its order."""
    most = -(-vector.size // abs(inc))
    used = most if n is None else n
    stop = (used - 1) * abs(inc) + 1 if used else 0
    return vector.part((slice(0, stop, abs(inc)),)).part((slice(None, None, 1 if inc > 0 else -1),))


def _put_back(view: Mat, packed: Mat) -> None:
    view.assign_(packed.reshape(view.shape))


def _combined(operation: Gridded, grid: TileGrid, combine: Combine,
              budget: int) -> Iterator[Tile]:
    """Yield the tiles of a grid; the last one combines their numbers."""
    found: list[object] = []
    for window in grid.windows(grid.blocks(budget)):
        tile = tile_of(operation, grid.arguments(window), {})
        yield tile._replace(run=partial(_note, found, tile.run))
    dtype = next(v.dtype for v in grid.args if isinstance(v, Mat))
    yield Tile(lambda: combine(found, dtype))


def _note(found: list[object], run: Callable[[], object]) -> None:
    found.append(run())


def by_first_of_largest(operation: Gridded, size_of: Callable[[Mat], float]) -> Cutter:
    """Return the cutter of a search for the first element of the largest size in a vector."""
    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        (x, *_), _ = _as_vectors(operation, args, **kwargs)
        grid = TileGrid(x.shape, {0: (0,)}, (x,))
        found: list[tuple[float, int]] = []
        for window in grid.windows(grid.blocks(budget)):
            (part,) = grid.arguments(window)
            yield Tile(partial(_note_largest, found, operation, size_of, part, window[0].start),
                       (part,))
        yield Tile(lambda: found[int(np.argmax([size for size, _ in found]))][1])

    return cut


# the parameters are those of a tile
def _note_largest(found: list[tuple[float, int]], operation: Gridded,
                  size_of: Callable[[Mat], float], part: Mat, start: int) -> None:
    at: Any = operation(part)
    found.append((size_of(part[at:at + 1]), start + at))


# What the numbers of pieces become


def added(found: list[Number], dtype: DType) -> Number:
    """Return the sum, rounded to the dtype; that of complex numbers may be real."""
    total = sum(found)
    kind = dtype if isinstance(total, complex) else dtype.type(0).real.dtype
    return kind.type(total).item()


def as_norm(found: list[float], dtype: DType) -> float:
    """Return the Euclidean norm of the norms of pieces."""
    total = math.nan if any(map(math.isnan, found)) else math.hypot(*found)
    return float(dtype.type(0).real.dtype.type(total))


def all_true(operation: Gridded) -> Cutter:
    """Return the cutter of an operation that tests whether a condition holds for all elements of
    its operands of one shape.
    """
    operation.reads_once = True

    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        mats = [k for k in operation.operands if isinstance(args[k], Mat)]
        shape = args[mats[0]].shape
        if any(args[k].shape != shape for k in mats):
            raise TileTooLarge(sum(args[k].nbytes for k in mats))
        grid = TileGrid(shape, dict.fromkeys(mats, tuple(range(len(shape)))), args)
        found = [True]
        for window in grid.windows(grid.blocks(budget)):
            tile = tile_of(operation, grid.arguments(window), kwargs)
            yield tile._replace(run=partial(_unless_false, found, tile.run))
        yield Tile(lambda: found[0])

    return cut


def _unless_false(found: list[bool], run: Callable[[], Any]) -> None:
    found[0] = found[0] and bool(run())
