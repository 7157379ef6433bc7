"""`Together`: reductions of one Mat that are carried out in tiles, together: each part of the Mat
is read from its file, or copied to the device, once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge
from itertools import chain
from typing import Any

from ...devices.in_use import CPU, in_use
from ...errors import OutOfDeviceMemory
from ...support.types import Arguments, Engine, Function, Keywords
from ..engine.operation import Op
from ..tiles.file_tiles import cut_over_files
from ..tiles.tiling import Tile, TileTooLarge, cut, span_bytes
from .program import FusedOp, NotOnePassError, Structure

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
        self.begun = False  # the tiles were asked for
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
        found = [self.tiles_alone(*call, budget) for call in self.calls(args)]
        self.begun = True
        return merge(*found, key=start_of)

    @staticmethod
    def tiles_alone(operation: Op, args: Arguments, budget: int) -> Iterator[Tile]:
        """Return the tiles that a reduction has alone."""
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

    def prepare_cpu(self, cpu: Engine, *operands: Any) -> Any:
        return not_together

    def prepare_cuda(self, cuda: Engine, *operands: Any) -> Function:
        return not_together


def not_together(*values: Any) -> None:
    """Refuse what is not cut: the reductions are carried out one after another."""
    raise NotOnePassError


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
