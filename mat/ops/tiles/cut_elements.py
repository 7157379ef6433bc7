"""Cutting element-wise operations: along any axes of the result, and the operands with them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from ...layout.shapes import Ints
from ...matrix.mat import Mat
from ...support.types import Arguments, Keywords
from .overlap import must_copy
from .staging import StagedResult, staged, without_gaps
from .tile_grid import (
    GridAxes,
    Gridded,
    PackedGrid,
    TileGrid,
    broadcast_axes,
    tile_of,
    tiles_over,
)
from .tiling import Cutter, Tile, TileTooLarge, calls_of_their_own, span_bytes

FEWER = 4  # how many times as many views cost as much as packing


def by_elements(operation: Gridded) -> Cutter:
    """Return the cutter of an operation that computes element by element.

    Parameters
    ----------
    operation : Op
        An operation each element of whose result depends on those elements of the operands,
        broadcast to its shape, that are at its position.

    Returns
    -------
    callable
        What `Op.cut_by` takes.
    """
    operation.reads_once = True

    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        args = with_copies(operation, args)
        out = args[operation.result]
        axes = {k: broadcast_axes(args[k], out.ndim) for k in operation.operands}
        return tiles_or_packed(operation, out.shape, axes, args, kwargs, budget)

    return cut


# the parameters are those of a call, and its grid
def tiles_or_packed(operation: Gridded, shape: Ints, axes: dict[int, GridAxes], args: Arguments,
                    kwargs: Keywords, budget: int) -> Iterator[Tile]:
    """Return the tiles of a grid: of views, or of packed parts where these are far fewer, as for
    operands stored in different orders.
    """
    grid, packed = TileGrid(shape, axes, args), PackedGrid(shape, axes, args)
    lengths = packed.blocks(budget)
    with suppress(TileTooLarge):
        direct = grid.blocks(budget)
        if grid.count(direct) <= FEWER * packed.count(lengths):
            return tiles_over(operation, grid, kwargs, budget, direct, free=True)
    return (_packed_tile(operation, packed.arguments(window), kwargs, budget)
            for window in packed.windows(lengths))


def _packed_tile(operation: Gridded, args: Arguments, kwargs: Keywords, budget: int) -> Tile:
    """Return a tile whose operands are packed where that takes less room, those on the device only
    if it needs more than `budget` bytes else.
    """
    found = tile_of(operation, args, kwargs)
    read = {id(x) for x in found.reads}
    results = {id(x): StagedResult(x, x.dtype, id(x) in read) for x in found.writes}
    inputs = {id(x): staged(x) for x in found.reads if id(x) not in results}
    targets = {key: result.target for key, result in results.items()}
    if span_bytes(*(inputs | targets).values()) > budget:
        inputs = {key: without_gaps(x) for key, x in inputs.items()}
    parts = inputs | targets

    def run() -> None:
        operation(*(parts.get(id(x), x) for x in args), **kwargs)
        for result in results.values():
            result.finish()

    return Tile(run, tuple(parts[id(x)] for x in found.reads),
                tuple(parts[id(x)] for x in found.writes))


def with_copies(operation: Gridded, args: Arguments) -> Arguments:
    """Return arguments with copies of the operands that share elements with the result at other
    positions, and would be overwritten before they are read.
    """
    out = args[operation.result]
    with calls_of_their_own():  # that are cut, too, if there is no room for them
        copies = {id(x): x.copy() for k in operation.operands
                  if isinstance(x := args[k], Mat) and must_copy(x, out)}
    return tuple(copies.get(id(x), x) for x in args)


def by_lines_of_factors(operation: Gridded, factors: int, axis: int) -> Cutter:
    """Return the cutter of an element-wise operation on matrices, with operand number `factors` of
    any shape: one factor for each index of an axis.
    """
    operation.reads_once = True

    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        given = args[factors]
        flat = given.layout.viewed_as((given.size,))
        vector = given.copy().reshape(-1) if flat is None else given.over(flat)
        args = with_copies(operation, (*args[:factors], vector, *args[factors + 1:]))
        axes: dict[int, GridAxes] = dict.fromkeys(operation.operands, (0, 1))
        axes[factors] = (axis,)
        return tiles_over(operation, TileGrid(args[operation.result].shape, axes, args), kwargs,
                          budget, free=True)

    return cut
