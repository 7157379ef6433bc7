"""Tiles, the parts of an operation whose operands are too large: which operands are, and which
operations are being carried out in tiles.

An operation declares how it can be cut by a *cutter* (`Op.cut_by`): a function that yields tiles,
each of which calls operations on views of the operands. How tiles are made and carried out stands
in modules that are imported when a call is cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from time import monotonic, sleep
from typing import Any, NamedTuple, Protocol, TypeAlias

from ...core.cube import Cube
from ...core.direction import Direction
from ...devices.device import Device
from ...errors import OutOfDeviceMemory
from ...matrix.mat import Mat
from ...memories import file_pages
from ...memories.file_pages import FilePages, pages_of
from ...memories.host import HOST
from ...support.open_blocks import Block, Nested, enter, leave, remove, still_open
from ...support.plugins import at_first_use
from ...support.types import Arguments, Keyword, Keywords, Operand

_signatures = at_first_use("ops.tiles.signatures")


class Tile(NamedTuple):
    """A part of an operation.

    Attributes
    ----------
    run : callable
        Carries out the operation on views of this tile's elements. What that of the last tile
        returns is the result of an operation that returns a number.
    reads : tuple of Mat
        The views that it reads; they are copied to the device ahead.
    writes : tuple of Mat
        The views that it overwrites; one that it also reads is in both.
    free : bool
        Whether the tiles of the call give the same bits in any order. Then those come first whose
        operands are on the device already.
    stays : tuple of Mat
        The views that it reads as well, and those after it: they are copied when it runs.
    numbers : int
        The bytes of intermediate results that the host reads.
    passed : callable or None
        What `mat.debug.plan` does in place of `run` after many tiles alike; None if it has to carry
        out all.

    Examples
    --------
    >>> import mat
    >>> x, y = mat.ones(4), mat.empty(4)
    >>> tile = mat.extend.Tile(lambda: mat.square(x[:2], out=y[:2]), (x[:2],), (y[:2],))
    >>> tile.nbytes
    32
    """

    run: Callable[[], object]
    reads: tuple[Mat, ...] = ()
    writes: tuple[Mat, ...] = ()
    free: bool = False
    stays: tuple[Mat, ...] = ()
    numbers: int = 0
    passed: Callable[[], object] | None = None

    @property
    def nbytes(self) -> int:
        """The bytes that the views need on a device at once."""
        return span_bytes(*self.reads, *self.writes)

    @property
    def has_operands(self) -> bool:
        """Whether it is a part of the work, not an action between two parts."""
        return bool(self.reads or self.writes or self.stays)


# Takes all positional arguments, checked, the keywords that were given, and a number of bytes. It
# yields the tiles one by one, each of which needs at most that many bytes; two that follow one
# another and share views may need twice as many together. A tile is asked for before the one ahead
# of it runs. If the smallest tile needs more, `TileTooLarge` is raised.
Cutter: TypeAlias = Callable[[Arguments, Keywords, int], Iterator[Tile]]


def nothing() -> None:
    """Do nothing in place of a tile that only calls an operation."""


class TileTooLarge(OutOfDeviceMemory):
    """Raised by a cutter whose smallest tile needs `needed` bytes, more than allowed.

    `reason` says why there is no smaller one, if that is not obvious.
    """

    def __init__(self, needed: int, reason: str = "") -> None:
        super().__init__(f"the smallest tile needs {needed:,} bytes{reason and '; '}{reason}")
        self.needed: int = needed
        self.reason: str = reason


class Cuttable(Protocol):
    """The operation's interface used by those who cut it and carry out its tiles."""

    __name__: str
    operands: list[int]
    positional: list[str]
    written: list[int]
    result: Any
    reads_once: bool
    of_elements: bool
    cutter: Cutter | None
    whole_because: str

    def __call__(self, *args: Operand, **kwargs: Keyword) -> Operand: ...

    def read_once(self, args: Arguments) -> list[int]: ...

    def declared_direction(self, k: int, args: Arguments) -> Direction: ...


# Cutters that are made when they are first called


# for each axis of an operand, the axis of the grid with which it is cut; None: it stays whole
GridAxes: TypeAlias = tuple[int | None, ...]
# returns the `TileGrid` of a call
GridOf: TypeAlias = Callable[[Arguments, Keywords], Any]


def made_later(make: Callable[[], Cutter]) -> Cutter:
    """Return the cutter that `make` returns, called when an operation is first cut."""
    made: list[Cutter] = []

    def cut(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
        if not made:
            made.append(make())
        return made[0](args, kwargs, budget)

    return cut


def over(operation: Cuttable, signature: str | GridOf, otherwise: Cutter | str = "", *,
         free: bool = False, packs: bool = False) -> Cutter:
    """Return the cutter of an operation whose tiles are calls of itself.

    `signature` is its index signature, or returns the grid of arguments and keywords; `otherwise`
    is the cutter where there is no room for a block, or says why there is none. Tiles that are
    `free` can be carried out in any order; operands that share elements with the result at other
    positions are copied first. Operands are packed, if it `packs`, where far fewer tiles fit as
    views, such as operands that are stored in different orders.
    """
    return lambda args, kwargs, budget: _signatures.tiles_by(
        operation, signature, otherwise, free, packs, args, kwargs, budget)


def by_elements(operation: Cuttable) -> Cutter:
    """Return the cutter of an operation that computes element by element.

    Parameters
    ----------
    operation : Op
        An operation each element of whose result depends on those elements of the operands,
        broadcast to its shape, that are at its position.

    Returns
    -------
    callable
        What `Op.cut_by` takes.
    """
    operation.reads_once = operation.of_elements = True
    return over(operation, "...", free=True, packs=True)


def by_stacks(operation: Cuttable, otherwise: Cutter | str) -> Cutter:
    """Return the cutter between matrices, which `otherwise` cuts, or says why they are not."""
    return over(operation, lambda args, kwargs: _signatures.grid_of_stacks(operation, args),
                f"a matrix is not cut, since {otherwise}" if isinstance(otherwise, str)
                else otherwise, free=True)


def or_by_host(operation: Cuttable) -> Cutter:
    """Return the cutter that leaves an operation to the host."""
    return lambda args, kwargs, budget: iter((_signatures.by_host(operation, args, kwargs),))


# Calls that are carried out in tiles now


PATIENCE = 5.0  # seconds that a call waits in all for other threads to leave it room


class Cut(Nested):
    """The operations with a tile in progress, its number from 1 on, the outermost operands."""

    def __init__(self, operations: tuple[Cuttable, ...], operands: tuple[Mat, ...] = ()) -> None:
        self.operations: tuple[Cuttable, ...] = operations
        self.operands: tuple[Mat, ...] = operands
        self.number: int = 0


CUT_NOW: ContextVar[Cut | None] = ContextVar("matCUT_NOW", default=None)
CUTS: list[object] = []  # one item for each block of tiles, of any thread


def being_cut() -> tuple[Cuttable, ...]:
    """Return the operations with a tile in progress."""
    cut = still_open(CUT_NOW.get())
    return () if cut is None else cut.operations


def tile_now() -> tuple[str, int]:
    """Return the outermost operation in tiles, and the tile's number; "" and 0 if none."""
    cut = still_open(CUT_NOW.get())
    return ("", 0) if cut is None or not cut.operations else (cut.operations[0].__name__,
                                                              cut.number)


def operand_of(cube: Cube) -> Mat | None:
    """Return the operand with that storage of the operation that is carried out in tiles."""
    cut = still_open(CUT_NOW.get())
    return next((x for x in (() if cut is None else cut.operands) if x.storage is cube), None)


def cutting(operation: Cuttable, args: Arguments) -> _Cutting:
    """Return a block for the tiles of a call; they are not cut again."""
    outer = still_open(CUT_NOW.get())
    if outer is not None and outer.operations:
        return _Cutting((*outer.operations, operation), outer.operands)
    return _Cutting((operation,), tuple(x for x in args if isinstance(x, Mat)))


def calls_of_their_own() -> AbstractContextManager[object]:
    """Return a block whose operations are no parts of a tile, and may be cut."""
    return _Cutting(()) if being_cut() else nullcontext()


class _Cutting(Block["Cut"]):
    """The block that `cutting` returns."""

    def __init__(self, operations: tuple[Cuttable, ...], operands: tuple[Mat, ...] = ()) -> None:
        self.cut = Cut(operations, operands)

    def begin(self) -> Cut:
        CUTS.append(self.cut)
        enter(CUT_NOW, self.cut)
        return self.cut

    def end(self, error: BaseException | None) -> None:
        leave(CUT_NOW, self.cut)
        remove(CUTS, self.cut)


class Patience:
    """How long a call that finds no room is tried again, since other threads use the memory."""

    def __init__(self, device: Device) -> None:
        self.memory = device.memory
        self.end: float | None = None

    def lasts(self, shortage: OutOfDeviceMemory) -> bool:
        """Wait until another thread has ended a use; return False if that is no use."""
        if not shortage.used_by_others or being_cut():
            return False
        now, before = monotonic(), self.memory.used_by_others()
        self.end = self.end or now + PATIENCE
        while before <= self.memory.used_by_others() and before and now < self.end:
            sleep(0.0005)
            now = monotonic()
        return now < self.end


# Operands that are too large


def span_bytes(*views: Operand) -> int:
    """Return the bytes that a device needs for views, each the range of its elements."""
    spans = {(id(x.storage), *(edge * x.element_size for edge in x.layout.bounds))
             for x in views if isinstance(x, Mat)}
    return sum(high - low for _, low, high in spans)


def is_too_large(device: Device, *views: Operand) -> bool:
    """Return whether the limit of a device leaves no room for these views at once."""
    limit = device.limit
    return limit is not None and span_bytes(*views) > limit


def is_large(*mats: Mat) -> bool:
    """Return whether operations on these Mats, in files, are carried out in tiles."""
    return span_bytes(*mats) >= file_pages.LEAST_LARGE


def those_in_files(operands: Iterable[Operand]) -> list[Mat]:
    """Return the Mats whose host copies are in files."""
    return [x for x in operands if isinstance(x, Mat) and pages_under(x) is not None]


def pages_under(x: Mat) -> FilePages | None:
    """Return the pages of the file that is the host copy of a Mat, or None."""
    copies = x.storage.handles
    return pages_of(copies[HOST]) if HOST in copies else None
