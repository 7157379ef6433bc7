"""`Together`: reductions that are carried out in tiles, together: each part of their operands is
read from its file, or copied to the device, once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import merge
from typing import Any

from ...errors import OutOfDeviceMemory
from ...support.types import Arguments, Engine, Function, Keywords
from ..engine.operation import Op
from ..tiles.tiling import Tile, TileTooLarge, span_bytes
from .fold_tiles import FoldTile, in_tiles, start_of, tiles_alone
from .program import FusedOp, NotOnePassError, ProgramFold, Structure, refuse

TOGETHER: dict[tuple[object, ...], Together] = {}
_MOST = 512


@dataclass(frozen=True)
class JoinedFold:
    """A reduction: the program that it ends, None where it reduces an operand; its settings; and
    the places of its operands in a call.
    """

    program: FusedOp | None
    operation: Op
    settings: tuple[object, ...]
    places: tuple[int, ...]

    def names(self) -> tuple[str, ...]:
        """Return the names of its operations."""
        return (self.operation.__name__,) if self.program is None else self.program.names()

    def carry_out(self, operands: Arguments) -> None:
        """Carry it out alone."""
        if self.program is None:
            self.operation(*operands, *self.settings)
        else:
            self.program.evaluate(operands)

    def tiles(self, operands: Arguments, budget: int) -> Iterator[tuple[int, FoldTile | Tile]]:
        """Return the tiles that it has alone, with the first elements that each reads."""
        if self.program is not None:
            return self.program.fold_tiles(operands, budget)
        alone = tiles_alone(self.operation, (*operands, *self.settings), budget)
        return ((start_of(tile), tile) for tile in alone)


class Together(FusedOp):
    """Reductions of some operands to one of the last ones each.

    Their tiles are those that they have alone, and so are their bits; only the order is another.
    """

    def __init__(self, letters: str, members: tuple[JoinedFold, ...]) -> None:
        folds = tuple(ProgramFold(one.operation, one.settings, 0) for one in members)
        super().__init__(Structure(letters, (), folds))
        self.members = members
        self.reads_once = True
        self.cut_by(self.tiles)

    def names(self) -> tuple[str, ...]:
        return tuple(name for one in self.members for name in one.names())

    def evaluate(self, values: Arguments) -> None:
        """Carry them out; one by one where they are not cut, or two at a time have no room."""
        self.begun = False
        try:
            self(*values)
            return
        except (NotOnePassError, OutOfDeviceMemory):
            pass
        self.one_by_one(values)

    def one_by_one(self, values: Arguments) -> None:
        for one in self.members:
            one.carry_out(tuple(values[k] for k in one.places))

    def tiles(self, args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        """Return the tiles of all, each with the budget that it has alone; those come first whose
        elements do.
        """
        if self.begun:  # smaller tiles would have other bits
            raise TileTooLarge(span_bytes(*args))
        found = [one.tiles(tuple(args[k] for k in one.places), budget) for one in self.members]
        self.begun = True
        tiles = in_tiles(one for _, one in merge(*found, key=first_element))
        # no few of them tell what is copied for the others, as those of one reduction do in a plan
        return tiles if len(found) == 1 else (tile._replace(passed=None) for tile in tiles)

    def prepare_cpu(self, cpu: Engine, *operands: Any) -> Function:
        return refuse

    def prepare_cuda(self, cuda: Engine, *operands: Any) -> Function:
        return refuse


def first_element(found: tuple[int, FoldTile | Tile]) -> int:
    """Return the first element that a tile reads."""
    return found[0]


def together(letters: str, members: tuple[JoinedFold, ...]) -> Together:
    """Return the operation that carries out these reductions together."""
    key = letters, members
    found = TOGETHER.get(key)
    if found is None:
        if len(TOGETHER) >= _MOST:
            TOGETHER.clear()
        found = TOGETHER[key] = Together(letters, members)
    return found
