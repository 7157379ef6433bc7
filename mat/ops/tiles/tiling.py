"""Carrying out an operation in tiles on a device that has no room for its operands.

The views that the next tile reads are copied to the device while a tile computes, and what a tile
has written is copied to the host meanwhile, unless all of the results have room on the device.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from itertools import chain, islice
from pathlib import Path
from weakref import WeakKeyDictionary, ref

import numpy as np

from ...core.cube import Cube
from ...core.observers import notify_cut
from ...core.registry import Memory
from ...devices.device import Device
from ...errors import OutOfDeviceMemory, TornError
from ...facets import over
from ...layout.shapes import Ints
from ...matrix.mat import Mat
from ...matrix.prefetch import Prefetch
from ...matrix.with_facets import with_facets
from ...memories.file_pages import LEAST_LARGE
from ...support.options import current
from ...support.progress import callback_of
from ...support.types import Arguments, Array, Keywords
from .overlap import overlap
from .tile import (
    Cut,
    Cuttable,
    Cutter,
    Tile,
    TileTooLarge,
    being_cut,
    calls_of_their_own,
    cutting,
    pages_under,
    span_bytes,
)

MOST_ORDERED = 10_000  # tiles of a call that are ordered


def cut(cutter: Cutter, args: Arguments, kwargs: Keywords, room: int,
        memory: Memory) -> tuple[Tile | None, Iterator[Tile]]:
    """Return the first tile and an iterator of the others; if possible, `room` is for two."""
    storages = {id(x.storage): x.storage for x in args if isinstance(x, Mat)}.values()
    whole = sum(s.nbytes for s in storages if s.is_small_in(memory))
    for budget in dict.fromkeys(((room - whole) // 2, room // 2)):
        with suppress(TileTooLarge):
            tiles = cutter(args, kwargs, budget)
            return next(tiles, None), tiles
    tiles = cutter(args, kwargs, room)
    return next(tiles, None), tiles


def carry_out_in_tiles(device: Device, operation: Cuttable, args: Arguments, kwargs: Keywords,
                       shortage: OutOfDeviceMemory | None = None) -> object:
    """Carry out a checked call in tiles, after a `shortage`; return the last result."""
    outer = being_cut()
    # the tile is tried again with more room: what tiles of its own had done would be done twice
    if outer and shortage is not None:
        raise shortage
    if operation.cutter is None or operation in outer:
        raise _no_room(device, operation, args, shortage) from shortage
    try:
        for k in operation.operands:  # before any tile, since those that are done remain
            if isinstance(args[k], Mat):
                args[k].storage.check_access(args[k], device.facet,
                                             operation.declared_direction(k, args))
    except TornError as error:
        raise _torn(error, shortage) from None
    execution = _Execution(device, operation, args, kwargs)
    execution.shortage = shortage
    if not outer and device.computes:  # else it is undone with the tile that it is a part of
        execution.keep_contents()
        execution.progress = TileProgress(operation.__name__, execution.total)
    try:
        with cutting(operation, args) as execution.cut_now:
            result = execution.run()
    finally:
        execution.shortage = None  # whose frames, if it is raised, refer to this one
    if not outer and execution.count > 1:
        notify_cut(operation.__name__, device.name, execution.count, execution.total)
    return result


def _torn(torn: TornError, shortage: OutOfDeviceMemory | None) -> TornError | OutOfDeviceMemory:
    """Return the error for a Mat that is torn: the shortage that tore it, if there is one."""
    if shortage is None:
        return torn
    shortage.add_note(str(torn))
    return shortage


class _CopiesAhead(Prefetch):
    """Copies for the next tile; those of this one's operands are made first, and not evicted."""

    def __init__(self, execution: _Execution, reads: tuple[Mat, ...], room: tuple[Mat, ...],
                 to_device: list[Mat] | tuple[Mat, ...], to_host: list[Mat] | tuple[Mat, ...],
                 ) -> None:
        super().__init__(_brought_apart(to_device), list(to_host))
        self.execution = execution
        self.reads = reads
        self.room = room

    def begin(self) -> Prefetch:
        for x in (*self.to_device, *self.reads):  # those that are there are not to be evicted
            x.storage.note_use(self.execution.device.memory, x)
        accesses = [(x, self.execution.device.facet, "input") for x in self.reads]
        with suppress(OutOfDeviceMemory), with_facets(*accesses) if accesses else nullcontext():
            if not self.execution.make_room(*self.room):
                self.to_device = []  # they would evict this tile's operands
            super().begin()
        return self


def _brought_apart(views: Iterable[Mat]) -> list[Mat]:
    """Return views without those of which others bring most elements to the device."""
    found: list[Mat] = []
    for x in views:
        others = [y for y in found if y.storage is x.storage]
        if not others:
            found.append(x)
            continue
        runs = x._touched()
        if not any(2 * (runs & y._touched()).size > runs.size for y in others):
            found.append(x)
    return found


class _Execution:
    """One call of an operation that is carried out in tiles."""

    def __init__(self, device: Device, operation: Cuttable, args: Arguments,
                 kwargs: Keywords) -> None:
        self.device = device
        self.operation = operation
        self.args = args
        self.kwargs = kwargs
        self.total = span_bytes(*(args[k] for k in operation.operands))
        limit = device.memory.limit
        self.limit: int = self.total if limit is None else min(self.total, limit)
        self.room: int = self.limit  # the bytes that tiles may take
        self.written = span_bytes(*(args[k] for k in operation.written))
        self.number = 0  # of the tile that is carried out
        self.count = 0  # of those that were, without what has no operands
        self.cut_now = Cut(())
        self.shortage: OutOfDeviceMemory | None = None  # the first one that was found out
        self.before: list[Contents] = []  # of what it writes
        self.progress: TileProgress | None = None  # of a call that is no part of a tile

    def keep_contents(self) -> None:
        """Keep the previous contents of the written operands, to restore them if a tile fails."""
        written = {id(x): x for k in self.operation.written if isinstance(x := self.args[k], Mat)}
        self.before = [Contents(x) for x in written.values()]

    def undo(self) -> bool:
        """Restore the written operands; return whether all could be."""
        restored = [before.restore() for before in self.before]
        return bool(restored) and all(restored)

    def run(self) -> object:
        """Carry out the call, with ever smaller tiles while there is no room and all is undone."""
        while True:
            tiles = self.cut()
            try:
                return self.walk(tiles)
            except TornError as error:
                raise _torn(error, self.shortage) from None
            except OutOfDeviceMemory as error:
                self.shortage = self.shortage or error.with_traceback(None)
                self.shortage.used_by_others |= error.used_by_others
                self.room //= 2
                if self.number or not self.room:
                    raise

    def cut(self) -> Iterator[Tile]:
        """Return the tiles, with room to copy the next one ahead if possible."""
        assert self.operation.cutter is not None
        try:
            first, tiles = cut(self.operation.cutter, self.args, self.kwargs, self.room,
                               self.device.memory)
        except TileTooLarge as error:
            raise self.no_room(error) from None
        return self.in_order(first, tiles)

    def in_order(self, first: Tile | None, tiles: Iterator[Tile]) -> Iterator[Tile]:
        """Return the tiles, those first whose operands are on the device, if they are free."""
        if first is None:
            return tiles
        found = chain((first,), tiles)
        bit = self.device.facet.bit
        operands = (self.args[k] for k in self.operation.operands)
        if not first.free or not any(x.storage.seen & bit for x in operands if isinstance(x, Mat)):
            return found
        ordered = sorted(islice(found, MOST_ORDERED), key=lambda tile: not self.is_there(tile))
        return chain(ordered, found)

    def is_there(self, tile: Tile) -> bool:
        """Return whether all that a tile reads is on the device."""
        return all(x.storage.is_fresh(self.device.memory, x) for x in tile.reads)

    def no_room(self, too_large: TileTooLarge) -> OutOfDeviceMemory:
        """Return the error for a smallest tile that needs too many bytes."""
        least = too_large.needed + self.limit - self.room
        smallest = (f"the smallest tile of {self.operation.__name__} needs {too_large.needed:,} "
                    f"bytes in {self.device.name!r}")
        if too_large.reason:
            smallest += f" ({too_large.reason})"
        if self.shortage is None:
            return OutOfDeviceMemory(f"{smallest}: give pool_bytes = {least} or more")
        self.shortage.add_note(f"{smallest}, and there is no room for them either")
        return self.shortage

    def walk(self, tiles: Iterator[Tile]) -> object:
        """Carry out the tiles; return the result of the last one."""
        value, self.count = None, 0
        before: tuple[Mat, ...] = ()
        written = [x for k in self.operation.written if isinstance(x := self.args[k], Mat)]
        tiles = self.device.carried_out(tiles, written, 2 * self.written > self.limit)
        tile = next(tiles, None)
        while tile is not None:
            following = next(tiles, None)
            try:
                value = self.carry_out(tile, following, before)
                self.report(tile, following is None)
            except BaseException as error:
                undone = self.undo()
                if self.number:
                    # others may have to be packed before they can be counted
                    rest = (following is not None) + sum(1 for _ in tiles) if tile.free else None
                    of = "" if rest is None else f" of {self.number + 1 + rest}"
                    error.add_note(f"in tile {self.number + 1}{of} of {self.operation.__name__}; "
                                   f"those before it are {'undone' if undone else 'done'}")
                if undone:
                    self.number = 0
                elif self.number and isinstance(error, OutOfDeviceMemory):
                    error.used_by_others = False  # it cannot be tried again
                raise
            self.count += tile.has_operands
            before, tile = tile.writes, following
            self.number += 1
        return value

    def report(self, tile: Tile, is_last: bool) -> None:
        """Report the progress to the setting of that name, if it is set."""
        progress = self.progress
        if progress is not None and progress.callback is not None:
            operands = [x for k in self.operation.operands if isinstance(x := self.args[k], Mat)]
            with calls_of_their_own():
                if is_last:
                    progress.finish()
                else:
                    progress.add_parts((*tile.reads, *tile.stays, *tile.writes), operands)

    def carry_out(self, tile: Tile, following: Tile | None, before: tuple[Mat, ...]) -> object:
        """Carry out a tile while the next one's data and the last one's results are copied."""
        ahead = [] if following is None else self.apart(following.reads, tile.writes)
        home = self.apart(before, tile.writes) if 2 * self.written > self.limit else []
        room = *self.apart(tile.writes, before), *ahead
        self.cut_now.number = self.number + 1
        if not self.device.computes and tile.has_operands:
            views = (*tile.reads, *tile.writes) or tile.stays
            self.device.note_tile(span_bytes(*views), views)
        try:
            with _CopiesAhead(self, tile.reads, room, ahead, home):
                return tile.run()
        except OutOfDeviceMemory:
            if not ahead:
                raise
        return tile.run()  # now that no copy for the next one is in the way

    def make_room(self, *views: Mat) -> bool:
        """Evict the oldest copies for views that are not there; return whether there is room."""
        memory = self.device.memory
        if memory.limit is None:
            return True
        nbytes = span_bytes(*(x for x in views if not x.storage.is_fresh(memory, x)))
        memory.free_oldest(nbytes)
        return memory.has_room(nbytes)

    def apart(self, views: tuple[Mat, ...], written: tuple[Mat, ...]) -> list[Mat]:
        """Return the views without elements that are written meanwhile."""
        return [x for x in views if not any(overlap(x, y) for y in written)
                and not x.storage.is_being_written(x)]


def _no_room(device: Device, operation: Cuttable, args: Arguments,
             shortage: OutOfDeviceMemory | None) -> OutOfDeviceMemory:
    """Return the error for an operation that cannot be cut."""
    needed = span_bytes(*(args[k] for k in operation.operands))
    more = "" if shortage is None else f": {shortage}"
    error = OutOfDeviceMemory(
        f"{operation.__name__} is computed whole, since {operation.whole_because}; its operands "
        f"need {needed:,} bytes in {device.name!r}, and there is no room for them and for what it "
        f"needs besides; give more pool_bytes, or compute on the host{more}")
    error.used_by_others = shortage is not None and shortage.used_by_others
    return error


# Progress


class TileProgress:
    """A count of bytes that have been read or written, reported to the setting."""

    def __init__(self, name: str, total: int) -> None:
        self.callback = callback_of(current().progress, name)
        self.total = total
        self.done = 0
        self.seen: set[tuple[int, Ints]] = set()  # parts of operands

    def add(self, nbytes: int) -> None:
        """Count `nbytes` more bytes as done; repeated reads count once."""
        self.done = min(self.done + nbytes, self.total)
        if self.callback is not None:
            self.callback(self.done, self.total)

    def add_parts(self, views: Iterable[Mat], operands: Iterable[Mat]) -> None:
        """Count the bytes of parts of operands, each once; there may be more to do after all."""
        storages = {id(x.storage) for x in operands}
        nbytes = 0
        for view in views:
            key = part_of(view)
            if key[0] in storages and key not in self.seen:
                self.seen.add(key)
                nbytes += view.nbytes
        self.add(max(0, min(nbytes, self.total - 1 - self.done)))

    def finish(self) -> None:
        """Report that all is done, unless that was reported."""
        if self.done < self.total:
            self.add(self.total)


# Origins of packed Mats: tiles compute with them in place of views


_ORIGINS: WeakKeyDictionary[Cube, tuple[ref[Cube], Ints]] = WeakKeyDictionary()


def note_origin(packed: Mat, view: Mat) -> None:
    """Record that `packed` has, or gets, the elements of `view`, and stands for it in a tile."""
    _ORIGINS[packed.storage] = ref(view.storage), view.layout.bounds


def origin_of(cube: Cube) -> Cube:
    """Return the storage that the elements of another one are a packed part of, or that one."""
    found = _ORIGINS.get(cube)
    origin = None if found is None else found[0]()
    return cube if origin is None else origin


def part_of(view: Mat) -> tuple[int, Ints]:
    """Return the number of the storage that the elements of a view are of, and their range."""
    origin, found = origin_of(view.storage), _ORIGINS.get(view.storage)
    return id(origin), view.layout.bounds if found is None else found[1]


MUCH = 1 << 24  # bytes, of more it is asked whether the host has room


class Contents:
    """The elements of a Mat at the time when this is made.

    `kept` is False where they are not: in large files, where the host has not twice the memory for
    a copy, and where a block around the operation is writing or has failed, which decides.
    Arbitrary elements of a new Mat need not be kept.
    """

    def __init__(self, mat: Mat) -> None:
        storage = mat.storage
        storage.settle_pending(False)
        self.mat = mat
        self.version: int = storage.version
        self.matters = not storage.pristine or storage.fill_value is not None
        self.kept = not (self.matters and (
            storage.torn_error(mat) is not None or storage.is_being_written(mat)
            or len(pages_under(mat) or ()) >= LEAST_LARGE or not _has_room(mat.nbytes)))
        self.array: Array | None = None
        if self.matters and self.kept:
            try:
                self.array = _copied(mat)
            except MemoryError:  # of less than the system has, this process may have a part
                self.kept = False

    def restore(self) -> bool:
        """Write the elements if the Mat may have changed; return whether it has them then."""
        storage = self.mat.storage
        changed = storage.version != self.version or storage.torn_error(self.mat) is not None
        if not (changed and self.matters):
            return True
        if self.kept:
            with suppress(Exception):  # another block accesses it, or an observer refuses
                with self.mat.facet("array", "output") as a:
                    a[...] = storage.fill_value if self.array is None else self.array
                if storage.pending is not None:
                    storage.pending.restored = storage.version
                return True
        return False


@contextmanager
def undone_on_error(mat: Mat) -> Iterator[None]:
    """Make a block that writes a Mat part by part, and restores its contents if one fails."""
    before = Contents(mat)
    try:
        yield
    except BaseException as error:
        if not before.restore():
            error.add_note("the parts that were written before it are done")
        raise


def _copied(mat: Mat) -> Array | None:
    """Return a copy of the elements, wherever they are fresh; None: they are the fill value."""
    layout, storage = mat.layout, mat.storage
    handle = mat._peeked([layout.bounds]) if layout.size else None
    if handle is None and layout.size and mat.dtype != storage.dtype and (
            storage.fill_value is not None):  # that is of elements of another dtype
        handle = mat._presentable(np.full(storage.size, storage.fill_value, storage.dtype))
    return None if handle is None else np.array(over(handle, layout))


def _has_room(nbytes: int) -> bool:
    """Return whether the host has free memory for twice so many bytes, as far as it says."""
    if nbytes > MUCH:
        with suppress(OSError):
            for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
                if line.startswith("MemAvailable:"):
                    return 2 * nbytes <= 1024 * int(line.split()[1])
    return True
