"""Tiles of reductions in fused blocks: those that a reduction has alone, and so its bits. What it
reads is computed when a tile runs, if it is an expression.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from ...devices.in_use import CPU, in_use
from ...layout.strided import Layout
from ...matrix.base import form_of_result
from ...matrix.mat import Mat
from ...memories.spill import spills
from ...support.types import Arguments
from ..engine.operation import Op
from ..tiles.file_tiles import cut_over_files, is_large
from ..tiles.signatures import grid_by
from ..tiles.tile_grid import TileGrid
from ..tiles.tiling import Tile, TileTooLarge, cut, is_too_large, span_bytes


def tiles_alone(operation: Op, args: Arguments, budget: int) -> Iterator[Tile]:
    """Return the tiles that a reduction has alone; they are `budget` bytes on the host."""
    assert operation.cutter is not None
    device, nbytes = in_use(), span_bytes(*args)
    if device is CPU:
        tiles = cut_over_files(operation, args, {}, nbytes, budget)
    else:
        room = min(nbytes, device.memory.limit or nbytes)
        first, rest = cut(operation.cutter, args, {}, room, device.memory)
        tiles = None if first is None else chain((first,), rest)
    if tiles is None:
        raise TileTooLarge(nbytes)
    return (tile._replace(free=False) for tile in tiles)


class FoldTiles:
    """The tiles of a reduction of what the program `elements` computes of operands.

    `x` has the form of that; it is never there.
    """

    # the parameters are the facts of a reduction
    def __init__(self, elements: Any, fold: tuple[Op, tuple[object, ...]], args: Arguments,
                 x: Mat) -> None:
        *operands, self.out = args
        self.elements = elements
        self.operation, settings = fold
        self.call: Arguments = x, self.out, *settings
        self.x = x
        self.grid: TileGrid = grid_by(elements, "...", (*operands, x))
        self.device = in_use()
        self.ahead: bool | None = None  # whether there is room to copy operands ahead

    def tiles(self, budget: int) -> Iterator[Tile]:
        """Return the tiles; raise an error where it is computed whole alone."""
        if self.device is CPU:
            if not (spills(self.x.nbytes) and is_large(self.x)):
                raise TileTooLarge(span_bytes(*self.grid.args, self.out))
            found = tiles_alone(self.operation, self.call, budget)
        elif is_too_large(self.device, self.x, self.out):
            found = tiles_alone(self.operation, self.call, budget)
        else:
            whole = partial(self.operation, *self.call)
            found = iter((Tile(whole, (self.x,), (self.out,)),))
        return map(self.computing, found)

    def computing(self, tile: Tile) -> Tile:
        """Return a tile that computes what another one reads before."""
        if not tile.reads:
            return tile
        part = tile.reads[0]
        values = self.grid.arguments(window_of(part, self.x))
        reads = tuple(v for v in values[:-1] if isinstance(v, Mat))
        run = partial(self.run, tile, part, values[:-1])
        if self.ahead is None:  # the first one is the largest
            limit, needed = self.device.limit, span_bytes(*reads, part, self.out)
            self.ahead = limit is None or needed + span_bytes(*reads) <= limit
        if self.ahead:
            return tile._replace(run=run, reads=reads)
        return tile._replace(run=run, reads=(), stays=reads)  # no room to copy them ahead

    def run(self, tile: Tile, part: Mat, operands: Arguments) -> object:
        """Carry out a tile, whose operand sees computed elements meanwhile."""
        layout, storage = part.layout, part.storage
        low, high = layout.bounds
        found = form_of_result((high - low,), part.dtype).new(part.device_enabled, None)
        there = found.over(Layout(layout.shape, layout.strides, layout.displacement - low))
        self.compute((*operands, there), found)
        part._set_layout(there.layout, found.storage)
        try:
            return tile.run()
        finally:
            part._set_layout(layout, storage)

    def compute(self, values: Arguments, found: Mat) -> None:
        """Compute elements into the Mat `found`, of which the last value is a view; some at a time
        where the operands have no room beside it.
        """
        limit = self.device.limit
        if limit is None or span_bytes(*values, self.out) <= limit:
            self.evaluate(values)
            return
        grid = grid_by(self.elements, "...", values)
        lengths = grid.blocks(max(0, limit - span_bytes(found, self.out)) // 2)
        with self.device.overwriting(found):
            for window in grid.windows(lengths):
                self.evaluate(grid.arguments(window))

    def evaluate(self, values: Arguments) -> None:
        """Carry out the program."""
        if self.device.computes:
            self.elements.evaluate(values)
        else:
            self.elements(*values)


def window_of(part: Mat, x: Mat) -> tuple[slice, ...]:
    """Return which part of a Mat by rows a view of it is."""
    if not part.size:
        return tuple(slice(0, n) for n in part.shape)
    starts = np.unravel_index(part.layout.displacement, x.shape) if x.ndim else ()
    return tuple(slice(int(k), int(k) + n) for k, n in zip(starts, part.shape, strict=True))
