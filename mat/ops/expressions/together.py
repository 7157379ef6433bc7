"""`Together`: reductions of one Mat that are carried out in tiles, together: each part of the Mat
is read from its file, or copied to the device, once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge
from typing import Any

from ...errors import OutOfDeviceMemory
from ...support.types import Arguments, Engine, Function, Keywords
from ..engine.operation import Op
from ..tiles.tiling import Tile, TileTooLarge, span_bytes
from .fold_tiles import tiles_alone
from .program import FusedOp, NotOnePassError, Structure, refuse

Members = tuple[tuple[Op, Arguments], ...]  # reductions, and their settings
TOGETHER: dict[Members, Together] = {}
_MOST = 512


class Together(FusedOp):
    """Reductions of the first operand to one of the others each.

    Their tiles are those that they have alone, and so are their bits; only the order is another.
    """

    def __init__(self, members: Members) -> None:
        super().__init__(Structure("i" + "o" * len(members), (), members[0]))
        self.members = members
        self.reads_once = True
        self.cut_by(self.tiles)

    def names(self) -> tuple[str, ...]:
        return tuple(operation.__name__ for operation, _ in self.members)

    def calls(self, values: Arguments) -> list[tuple[Op, Arguments]]:
        """Return the reductions with their arguments."""
        x, *results = values
        return [(operation, (x, out, *settings)) for (operation, settings), out in
                zip(self.members, results, strict=True)]

    def evaluate(self, values: Arguments) -> None:
        """Carry them out; one after another where they cannot be cut, or two at a time have no
        room.
        """
        self.begun = False
        try:
            if len(self.members) > 1:
                self(*values)
                return
        except (NotOnePassError, OutOfDeviceMemory):
            pass
        self.one_by_one(values)

    def one_by_one(self, values: Arguments) -> None:
        for operation, args in self.calls(values):
            operation(*args)

    def tiles(self, args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        """Return the tiles of all, each with the budget that it has alone; those come first whose
        elements do.
        """
        if self.begun:  # smaller tiles would have other bits
            raise TileTooLarge(span_bytes(*args))
        found = [tiles_alone(*call, budget) for call in self.calls(args)]
        self.begun = True
        return merge(*found, key=start_of)

    def prepare_cpu(self, cpu: Engine, *operands: Any) -> Function:
        return refuse

    def prepare_cuda(self, cuda: Engine, *operands: Any) -> Function:
        return refuse


def start_of(tile: Tile) -> int:
    """Return where the elements that a tile reads begin."""
    return tile.reads[0].layout.bounds[0] if tile.reads else 0


def together(members: Members) -> Together:
    """Return the operation that carries out these reductions together."""
    found = TOGETHER.get(members)
    if found is None:
        if len(TOGETHER) >= _MOST:
            TOGETHER.clear()
        found = TOGETHER[members] = Together(members)
    return found
