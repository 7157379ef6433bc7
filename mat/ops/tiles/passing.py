"""Tiles that a plan passes over: after some hundred of a call, those before tell what is copied for
the others, so that planning does not take longer for larger operands.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, TypeAlias

from ...errors import OutOfDeviceMemory
from ...matrix.mat import Mat

Tile: TypeAlias = Any  # those of `tiling`
BEFORE = 128  # tiles, whose copies are not counted: copies from earlier calls are in the way
COUNTED = 256  # tiles whose copies are counted
LAST = 32  # tiles that are carried out again, so that what is left on the device is theirs


class CountedTiles:
    """Bytes that were copied to and from a device, and those of the views of some tiles."""

    def __init__(self) -> None:
        self.tiles = self.read = self.written = 0

    def add(self, tile: Tile) -> None:
        """Count the views of a tile."""
        self.tiles += 1
        self.read += sum(x.nbytes for x in (*tile.reads, *tile.stays))
        self.written += sum(x.nbytes for x in tile.writes)

    def scaled(self, to_device: int, home: int, others: CountedTiles) -> tuple[int, int]:
        """Return how much is copied for others, if so much is for these."""
        return (_share(to_device, others.read, self.read, others.tiles, self.tiles),
                _share(home, others.written, self.written, others.tiles, self.tiles))


def _share(copied: int, part: int, whole: int, tiles: int, of: int) -> int:
    return round(copied * part / whole) if whole else round(copied * tiles / of)


class Passing:
    """The tiles of one call that are carried out; the device, which does not compute, is told of
    the others. The call writes Mats, which do not stay on the device where `at_home`.
    """

    def __init__(self, device: Any, written: list[Mat], at_home: bool) -> None:
        self.device = device
        self.written = written
        self.at_home = at_home
        self.counted, self.passed = CountedTiles(), CountedTiles()
        self.before = self.copied = 0, 0
        self.recent: deque[Tile] = deque(maxlen=2)  # the last one is not carried out yet
        self.by_tiles = False  # results are marked with their tiles

    def carried_out(self, tiles: Iterator[Tile]) -> Iterator[Tile]:
        """Yield the tiles to carry out."""
        ahead: deque[Tile] = deque()
        for number, tile in enumerate(tiles):
            if number < BEFORE + COUNTED or tile.passed is None:
                self.count(number, tile)
                self.recent.extend([*ahead, tile])
                yield from ahead
                yield tile
                ahead.clear()
                continue
            if number == BEFORE + COUNTED:
                self.decide(tile)
            ahead.append(tile)
            if len(ahead) > LAST:
                self.pass_over(ahead.popleft())
        if self.passed.tiles and self.at_home and not self.by_tiles:
            self.finish_at_home()
        yield from ahead
        if self.passed.tiles:
            self.device.note_copied(*self.counted.scaled(*self.copied, self.passed))
            if not self.at_home:
                self.finish_there()

    def count(self, number: int, tile: Tile) -> None:
        """Count what is copied while the tiles that tell run."""
        if number == BEFORE:
            self.before = self.device.copied()
        if BEFORE <= number < BEFORE + COUNTED:
            self.counted.add(tile)

    def decide(self, tile: Tile) -> None:
        """Find out what is copied, and where results go."""
        now = self.device.copied()
        self.copied = now[0] - self.before[0], now[1] - self.before[1]
        self.at_home = self.at_home or 2 * self.copied[1] > self.counted.written
        storages = [x.storage for x in self.written]
        self.by_tiles = self.at_home and any(x.storage in storages for x in tile.reads)

    def pass_over(self, tile: Tile) -> None:
        """Count a tile that is not carried out."""
        tile.passed()
        self.passed.add(tile)
        self.device.note_tile(tile.nbytes, (*tile.reads, *tile.writes, *tile.stays))
        if self.by_tiles:
            _be_at_home(tile.writes)

    def finish_at_home(self) -> None:
        """Make the results current on the host."""
        for x in self.recent[0].writes:
            with x.facet("array", "input"):
                pass
        _be_at_home(self.written)

    def finish_there(self) -> None:
        """Make the results current on the device, if there is room."""
        for x in self.written:
            with suppress(OutOfDeviceMemory), self.device.overwriting(x):
                pass


def _be_at_home(views: Iterable[Mat]) -> None:
    for x in views:
        with x.facet("array", "output"):
            pass


def nothing() -> None:
    """Do nothing in place of a tile that only calls an operation."""
