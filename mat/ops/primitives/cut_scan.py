"""Tiles of running sums and the like: by whole lines, or along the lines, where each part begins
with the last result of the part before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...layout.shapes import as_axis
from ...matrix.mat import Mat, new_like
from ...support.types import Arguments, Function, Keywords
from ..engine.operation import Op
from ..tiles.cut_elements import with_copies
from ..tiles.tile_grid import TileGrid, tiles_over
from ..tiles.tiling import Cutter, Tile, TileTooLarge
from .parts import along


def by_lines(operation: Op, step: Function) -> Cutter:
    """Return the cutter of an operation with the parameters ``x, out, axis``, each of whose results
    is `step` of the one before it and an element; they are the same bits as uncut.
    """
    operation.reads_once = True

    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        args = with_copies(operation, args)
        x, out, axis = args[0], args[1], as_axis(args[2], args[0].ndim)
        every = tuple(range(x.ndim))
        grid = TileGrid(x.shape, {0: every, 1: every}, args, whole=(axis,))
        try:
            lengths = grid.blocks(budget)
        except TileTooLarge:
            return _along_lines(operation, step, (x, out, axis), budget)
        return tiles_over(operation, grid, kwargs, budget, lengths, free=True)

    return cut


def _along_lines(operation: Op, step: Function, args: tuple[Mat, Mat, int],
                 budget: int) -> Iterator[Tile]:
    """Yield tiles that cut the lines."""
    x, out, axis = args
    every = tuple(range(x.ndim))
    grid = TileGrid(x.shape, {0: every, 1: every}, args, besides=[(out, every)] * 2)
    for window in grid.windows(grid.blocks(budget), last=(axis,)):
        part, target, _ = grid.arguments(window)
        first = window[axis].start
        before = None
        if first:
            last = (*window[:axis], slice(first - 1, first), *window[axis + 1:])
            before = out.over(out.layout.part(last))
        yield Tile(partial(_continue, operation, step, part, target, axis, before),
                   (part,) if before is None else (part, before), (target,))


def _continue(operation: Op, step: Function, x: Mat, out: Mat, axis: int,
              before: Mat | None) -> None:
    """Carry out the operation on a part of lines, beginning with the result before it."""
    if before is not None:
        found = new_like(x, x.shape, out.dtype).assign_(x)
        first = along(found, axis, slice(0, 1))
        step(before, first, first)
        x = found
    operation(x, out, axis)
