"""Tiles of operations that compute the positions of true elements in a packed mask."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from ...matrix.creation import adopted
from ...matrix.mat import Mat, new_like
from ...support.types import Arguments, Function, Keywords
from ..primitives.elementwise import add
from ..tiles.staging import on_host
from ..tiles.tiling import Cutter, Tile, TileTooLarge

_INDICES = np.dtype(np.int64)


def _parts(mask: Mat, length: int, tile: int) -> Iterator[slice]:
    """Yield parts of a mask, shorter than that many elements, that do not cross the ends of tiles
    unless they have whole tiles.
    """
    if length < 1:
        raise TileTooLarge(2 * _INDICES.itemsize)
    step = length // tile * tile or length
    for start in range(0, mask.size, max(step, tile)):
        stop = min(start + max(step, tile), mask.size)
        for k in range(start, stop, step):
            yield slice(k, min(k + step, stop))


def by_tiles_of_mask(operation: Function, tile: int) -> Cutter:
    """Return the cutter of ``mask_starts(mask, starts)``; the host adds up the counts."""
    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        mask, starts = args[0].reshape(-1), args[1]
        counts = np.zeros(starts.size, np.int64)
        for part in _parts(mask, budget // 2, tile):
            yield Tile(partial(_count, operation, mask[part], counts[1 + part.start // tile:],
                               tile), (mask[part],))
        yield Tile(lambda: on_host(starts).assign_(adopted(np.cumsum(counts))))

    return cut


def _count(operation: Function, part: Mat, counts: np.ndarray, tile: int) -> None:
    starts = new_like(part, (1 + -(-part.size // tile),), _INDICES)
    operation(part, starts)
    found = np.diff(starts.to_numpy())
    counts[:len(found)] += found


def by_parts_of_mask(operation: Function, count: Function, tile: int) -> Cutter:
    """Return the cutter of ``mask_positions(mask, starts, out)``; `count` is ``mask_starts``."""
    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        mask, out = args[0].reshape(-1), args[2]
        done = [0]
        for part in _parts(mask, budget // (2 + _INDICES.itemsize), tile):
            yield Tile(partial(_write_positions, operation, count, mask, part, out,
                               tile, done),
                       (mask[part],))

    return cut


# the parameters are those of the operation, with the part and how many positions were written
def _write_positions(operation: Function, count: Function, mask: Mat, part: slice, out: Mat,
                     tile: int, done: list[int]) -> None:
    seen = mask[part]
    starts = new_like(seen, (1 + -(-seen.size // tile),), _INDICES)
    count(seen, starts)
    found = starts._size_at(-1)
    if found:
        to = out[done[0]:done[0] + found]
        operation(seen, starts, to)
        add(to, part.start, to)
    done[0] += found
