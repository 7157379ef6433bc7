"""Cutting gathers, scatters and accumulations: between positions, and between items along axes that
are not chosen. Where there is no room for all that positions may select, the host carries them out:
a device would be given the whole operand for a few elements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ...layout.shapes import Ints
from ...matrix.mat import Mat
from ...support.types import Arguments, Keywords
from .staging import by_host
from .tile_grid import GridAxes, Gridded, TileGrid, broadcast_axes, tiles_over
from .tiling import Cutter, Tile, TileTooLarge

GridOf = Callable[[Arguments], TileGrid]


def by_positions(operation: Gridded, grid_of: GridOf) -> Cutter:
    """Return the cutter of an operation that copies items at positions."""
    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        grid = grid_of(args)
        try:
            lengths = grid.blocks(budget)
        except TileTooLarge:
            return iter((by_host(operation, args, kwargs),))
        return tiles_over(operation, grid, kwargs, budget, lengths)

    return cut


def item_axes(ndim: int, chosen: Ints, place: int, count: int) -> GridAxes:
    """Return the axes of an operand with chosen items, in a grid with the other axes and, at
    `place`, `count` axes of positions.
    """
    others = iter(range(ndim - len(chosen)))
    return tuple(None if k in chosen else _after(next(others), place, count) for k in range(ndim))


def _after(axis: int, place: int, count: int) -> int:
    return axis if axis < place else axis + count


def grid_of_gather(args: Arguments) -> TileGrid:
    """Return the grid of ``gather(x, at, out, place, chosen)``."""
    x, at, out, place, chosen = args
    return TileGrid(out.shape, {0: item_axes(x.ndim, chosen, place, at.ndim),
                                1: tuple(range(place, place + at.ndim)),
                                2: tuple(range(out.ndim))}, args)


def grid_of_gather_along(args: Arguments) -> TileGrid:
    """Return the grid of ``gather_along(x, at, out, axis)``."""
    x, at, out, axis = args
    items = tuple(None if k == axis else k for k in broadcast_axes(x, out.ndim))
    return TileGrid(out.shape, {0: items, 1: broadcast_axes(at, out.ndim),
                                2: tuple(range(out.ndim))}, args)


def grid_of_scatter(args: Arguments) -> TileGrid:
    """Return the grid of ``scatter(at, source, x, place, chosen, unique)``: positions are cut along
    their first axis only, so that the last one for a place remains the last.
    """
    at, source, x, place, chosen, _ = args
    return TileGrid(source.shape, {0: tuple(range(place, place + at.ndim)),
                                   1: tuple(range(source.ndim)),
                                   2: item_axes(x.ndim, chosen, place, at.ndim)}, args,
                    whole=range(place + 1, place + at.ndim))


def by_accumulation(operation: Gridded, order_of: Callable[[Mat], Mat]) -> Cutter:
    """Return the cutter of ``accumulate_at(at, order, source, x, rule, chosen)``: positions follow
    one another as they do uncut, and each tile finds the order of its own.
    """
    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        at, _, source, x, _, chosen = args
        grid = TileGrid(source.shape, {0: (0,), 2: tuple(range(source.ndim)),
                                       3: item_axes(x.ndim, chosen, 0, 1)}, args,
                        besides=[(at, (0,))] * 2)
        try:
            lengths = grid.blocks(budget)
        except TileTooLarge:
            yield by_host(operation, args, kwargs)
            return
        for window in grid.windows(lengths):
            part = grid.arguments(window)
            yield Tile(partial(_accumulate, operation, order_of, part), (part[0], *part[2:4]),
                       (part[3],))

    return cut


def _accumulate(operation: Gridded, order_of: Callable[[Mat], Mat], args: Arguments) -> None:
    operation(args[0], order_of(args[0]), *args[2:])
