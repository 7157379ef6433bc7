"""Tiles of operations on stacks of matrices that are computed whole, such as factorizations."""

from __future__ import annotations

from collections.abc import Iterator

from ...matrix.mat import Mat
from ...support.types import Arguments, Keywords
from .tile_grid import GridAxes, Gridded, TileGrid, tiles_over
from .tiling import Cutter, Tile, TileTooLarge


def by_stacks(operation: Gridded, reason: str) -> Cutter:
    """Return the cutter of an operation on matrices, or stacks of them, that cannot be cut for a
    `reason`, the continuation of "since ..."; operands of one axis are vectors.
    """
    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        mats = {k: args[k] for k in operation.operands if isinstance(args[k], Mat)}
        # where there are vectors, the results are vectors
        of_vectors = any(x.ndim == 1 for x in mats.values())
        own = {k: min(x.ndim, 1 if of_vectors and k == operation.result else 2)
               for k, x in mats.items()}
        out = mats[operation.result]
        batch = out.shape[:out.ndim - own[operation.result]]
        axes: dict[int, GridAxes] = {
            k: (*range(len(batch) - x.ndim + own[k], len(batch)), *(None,) * own[k])
            for k, x in mats.items()}
        return whole_tiles(operation, TileGrid(batch, axes, args), kwargs, budget,
                           f"a matrix is not cut, since {reason}")

    return cut


def whole_tiles(operation: Gridded, grid: TileGrid, kwargs: Keywords, budget: int,
                reason: str) -> Iterator[Tile]:
    """Return tiles of whole items of a stack, which are not cut for a `reason`."""
    try:
        lengths = grid.blocks(budget)
    except TileTooLarge as error:
        raise TileTooLarge(error.needed, reason) from None
    return tiles_over(operation, grid, kwargs, budget, lengths, free=True)
