"""Tiles of reductions in fused blocks: those that a reduction has alone, and so its bits. What it
reads is computed when a tile runs, if it is an expression.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from ...devices.in_use import CPU, in_use
from ...layout.shapes import Ints
from ...layout.strided import Layout
from ...matrix.base import form_of_result
from ...matrix.mat import Mat
from ...support.types import Arguments
from ..engine.operation import Op
from ..tiles.file_tiles import cut_over_files
from ..tiles.signatures import TileGrid, grid_by
from ..tiles.tile import Tile, TileTooLarge, is_too_large, span_bytes
from ..tiles.tiling import cut, part_of

MOST, FEW = 64, 1 << 16  # so many windows of an operand, of fewer bytes each, are too many


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


def start_of(tile: Tile) -> int:
    """Return where the elements that a tile reads begin."""
    return tile.reads[0].layout.bounds[0] if tile.reads else 0


class FoldTile:
    """A tile of a reduction that computes its part first, or has it from the tile before."""

    def __init__(self, tiles: FoldTiles, tile: Tile) -> None:
        self.tiles = tiles
        self.reduces = tile
        self.source: FoldTile | None = None
        self.kept = False  # the elements are read by the tile that follows
        self.found: Mat | None = None  # these elements, meanwhile
        self.layout: Layout | None = tile.reads[0].layout if tile.reads else None

    def follow(self, before: FoldTile) -> None:
        """Read what the tile before this one has computed, if that has all elements."""
        if has_elements(before.layout, self.layout) and self.tiles.computes_like(before.tiles):
            self.source, before.kept, self.layout = before, True, before.layout

    def as_tile(self) -> Tile:
        """Return the tile."""
        tile = self.reduces
        if not tile.reads:
            return tile
        part = tile.reads[0]
        values = self.tiles.grid.arguments(window_of(part, self.tiles.x))
        run = partial(self.run, part, values[:-1])
        if self.source is not None:
            return tile._replace(run=run, reads=())
        reads = tuple(v for v in values[:-1] if isinstance(v, Mat))
        found = tile._replace(run=run, reads=reads)
        return found if self.tiles.may_copy_ahead(reads, part) else without_copies_ahead(found)

    def run(self, part: Mat, operands: Arguments) -> object:
        """Carry out the tile, whose operand sees computed elements meanwhile."""
        layout, storage, source = part.layout, part.storage, self.source
        found, held = None if source is None else source.found, self.layout
        if found is None or held is None:
            found, held = self.tiles.computed(part, operands), layout
        there = found.over(moved(layout, held.bounds[0]))
        part._set_layout(there.layout, found.storage)
        try:
            value = self.reduces.run()
        finally:
            part._set_layout(layout, storage)
        if source is not None:
            source.found = None
        self.found = found if self.kept and has_elements(held, self.layout) else None
        return value


def has_elements(layout: Layout | None, other: Layout | None) -> bool:
    """Return whether a layout has all elements of another one of the same storage."""
    if layout is None or other is None:
        return False
    if (layout.shape, layout.strides, layout.displacement) == (
            other.shape, other.strides, other.displacement):
        return True
    (first, last), (low, high) = layout.bounds, other.bounds
    return first <= low and high <= last and last - first == layout.size


def moved(layout: Layout, start: int) -> Layout:
    """Return a layout over elements from `start` on."""
    return Layout(layout.shape, layout.strides, layout.displacement - start)


def in_tiles(parts: Iterable[FoldTile | Tile]) -> Iterator[Tile]:
    """Yield the tiles of reductions that are carried out in this order."""
    before: FoldTile | None = None
    # the parts that pass through the room while the tile before runs
    filling = set[tuple[int, Ints]]()
    for one in parts:
        if isinstance(one, Tile):
            before, tile = None, one
        else:
            if before is not None:
                one.follow(before)
            before, tile = one, one.as_tile()
        passes = set(map(part_of, tile.stays))
        # others would be evicted before they are needed
        ahead = not filling or filling.issuperset(map(part_of, tile.reads))
        yield tile if ahead else without_copies_ahead(tile)
        filling = passes


def without_copies_ahead(tile: Tile) -> Tile:
    """Return a tile whose operands are copied when it runs."""
    return tile._replace(reads=(), stays=(*tile.reads, *tile.stays))


class FoldTiles:
    """The tiles of a reduction of what `elements` computes, of the form of `x`, never there."""

    def __init__(self, elements: Any, fold: tuple[Op, tuple[object, ...], int], args: Arguments,
                 x: Mat) -> None:
        *operands, self.out = args
        self.elements = elements
        self.operation, settings, _ = fold
        self.call: Arguments = x, self.out, *settings
        self.x = x
        self.grid: TileGrid = grid_by(elements, "...", (*operands, x))
        self.device = in_use()
        self.ahead: bool | None = None  # whether there is room to copy operands ahead

    def tiles(self, budget: int) -> Iterator[tuple[int, FoldTile]]:
        """Return the tiles, with the first elements that each reduces."""
        if self.device is CPU or is_too_large(self.device, self.x, self.out):
            found = tiles_alone(self.operation, self.call, budget)
        else:
            whole = partial(self.operation, *self.call)
            found = iter((Tile(whole, (self.x,), (self.out,)),))
        return ((start_of(tile), FoldTile(self, tile)) for tile in found)

    def computes_like(self, other: FoldTiles) -> bool:
        """Return whether the same elements are reduced."""
        if self.elements.structure != other.elements.structure:
            return False
        operands = zip(self.grid.args[:-1], other.grid.args[:-1], strict=True)
        return all(a is b or (type(a) is type(b) and not isinstance(a, Mat) and a == b)
                   for a, b in operands)

    def may_copy_ahead(self, reads: tuple[Mat, ...], part: Mat) -> bool:
        """Return whether there is room to copy the operands of a tile ahead."""
        if self.ahead is None:  # the first one is the largest
            limit, needed = self.device.limit, span_bytes(*reads, part, self.out)
            self.ahead = limit is None or needed + span_bytes(*reads) <= limit
        return self.ahead

    def computed(self, part: Mat, operands: Arguments) -> Mat:
        """Return the elements of a part, from its lowest to its highest."""
        low, high = part.layout.bounds
        found = form_of_result((high - low,), part.dtype).new(part.device_enabled, None)
        self.compute((*operands, found.over(moved(part.layout, low))), found)
        return found

    def compute(self, values: Arguments, found: Mat) -> None:
        """Compute elements into the Mat `found`, of which the last value is a view; some at a time
        where the operands have no room beside it. Raise `TileTooLarge` if these would be few:
        to copy what each operation gives takes less time then.
        """
        limit = self.device.limit
        if limit is None or span_bytes(*values, self.out) <= limit:
            self.evaluate(values)
            return
        grid = grid_by(self.elements, "...", values)
        lengths = grid.blocks(max(0, limit - span_bytes(found, self.out)) // 2)
        if grid.count(lengths) > MOST and grid.nbytes(lengths) < FEW:
            raise TileTooLarge(span_bytes(found, self.out) + 2 * FEW)
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
