"""Carrying out operations in tiles of at most so many bytes, wherever they compute."""

from contextlib import suppress

import numpy as np

from mat.ops.tiles.signatures import is_there
from mat.ops.tiles.tile import TileTooLarge, span_bytes

# operations whose cutters count the elements of strided operands, or have smallest tiles that they
# do not refuse: their tiles may need more than they are given, and are cut again where that fails
LOOSE = {"syrk", "search", "unsort", "sort", "cholesky", "solve"}


def in_tiles(op, args, kwargs, budget):
    """Carry out the call in tiles, of which one and what the next one reads need at most twice
    `budget` bytes; return what the last one returns, and how many there were. None if the smallest
    needs more.
    """
    args, kwargs = op.bind_arguments(args, kwargs)
    found, count = None, 0
    with suppress(TileTooLarge):
        tiles = op.cutter(args, kwargs, budget)
        tile = next(tiles, None)
        while tile is not None:
            following = next(tiles, None)  # asked for before this one is carried out
            ahead = () if following is None else following.reads
            views = (*tile.reads, *tile.writes, *ahead)
            needed = span_bytes(*(x for x in views if not is_there(x)))
            assert needed <= 2 * budget or op.__name__ in LOOSE
            found = tile.run()
            tile, count = following, count + 1
        return found, count
    return None


def same_bits(found, wanted):
    """Whether two arrays, or two numbers, have the same values; NaN equals NaN."""
    a, b = np.asarray(found), np.asarray(wanted)
    return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
