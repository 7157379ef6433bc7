"""Cutting draws of random numbers: each tile begins with the counter of its first element, so that
its bits are those that are drawn at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from ...matrix.mat import new_like
from ...support.types import Arguments, Keywords
from ..engine.operation import Op
from ..tiles.tiling import Cutter, Tile, TileTooLarge


def by_counters(operation: Op, each: Mapping[str, int]) -> Cutter:
    """Return the cutter of an operation whose last arguments are the halves of the counter and the
    Mat to write; `each` has, for its dtype character, how many elements a counter makes.
    """
    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        *numbers, low, high, x = args
        packed = x if x.layout.contiguous else new_like(x, x.shape, x.dtype)
        together = each[x.dtype.char]
        length = budget // (together * x.itemsize) * together
        if not length:
            raise TileTooLarge(together * x.itemsize)
        flat = packed.reshape(-1)
        for start in range(0, x.size, length):
            counter = (int(low) + (int(high) << 32) + start // together) % 2**64
            part = flat[start:start + length]
            yield Tile(partial(operation, *numbers, float(counter % 2**32), float(counter >> 32),
                               part), (), (part,))
        if packed is not x:
            yield Tile(lambda: x.assign_(packed))

    return cut
