"""Tiles on the host: carrying out an operation piece by piece where its operands are in files, so
that little of them is in memory at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from queue import Queue
from threading import Thread
from typing import TypeAlias

from ...matrix.mat import Mat
from ...memories.file_pages import FilePages
from ...memories.host import HOST
from ...support.fork import start as start_thread
from ...support.types import Arguments, Array, Keywords
from .tile import (
    Cuttable,
    Tile,
    TileTooLarge,
    being_cut,
    calls_of_their_own,
    cutting,
    is_large,
    pages_under,
    span_bytes,
    those_in_files,
)
from .tiling import TileProgress

FileRange: TypeAlias = tuple[FilePages, int, int]  # from one byte to another
FileRanges: TypeAlias = Collection[FileRange]
TILE = 64 << 20  # bytes of a tile; the next one is read from the disk meanwhile
# how many times smaller tiles are of operands that are read once, which costs no second reading
SMALLER = 4
PIECE = 4 << 20  # bytes that are read without being asked for, until something is
PROBED_ROWS = 8  # of a batch, for whether rows have to be read from the disk
MOST = 2 * TILE  # bytes that are read at once: views with gaps may span more


def carry_out_over_files(operation: Cuttable, args: Arguments,
                         kwargs: Keywords) -> tuple[object] | None:
    """Carry out a checked call in tiles of files; return a tuple, or None if it is not."""
    operands = [args[k] for k in operation.operands]
    in_files = those_in_files(operands)
    if (operation.cutter is None or being_cut()  # what a tile does is not cut once more
            or not is_large(*in_files)):
        return None
    with cutting(operation, args):
        once = {id(args[k]) for k in (*operation.read_once(args), *operation.written)}
        budget = TILE // SMALLER if all(id(x) in once for x in in_files) else TILE
        tiles = cut_over_files(operation, args, kwargs, span_bytes(*operands), budget)
        if tiles is None:
            return None
        return (_walk(tiles, TileProgress(operation.__name__, span_bytes(*in_files))),)


def cut_over_files(operation: Cuttable, args: Arguments, kwargs: Keywords, whole: int,
                   budget: int) -> Iterator[Tile] | None:
    """Return the tiles, which are larger if they cannot be so small; None if there is one only."""
    assert operation.cutter is not None
    while budget < whole:
        tiles = operation.cutter(args, kwargs, budget)
        try:
            first = next(tiles, None)
        except TileTooLarge as error:
            budget = max(2 * budget, error.needed)
        else:
            return None if first is None else chain((first,), tiles)
    return None


def _walk(tiles: Iterator[Tile], progress: TileProgress) -> object:
    """Carry out the tiles; return the result of the last one."""
    value: object = None
    with ReadingAhead() as reader:
        tile = next(tiles, None)
        passed: list[FileRange] = []
        if tile is not None:
            reader.begin(_ranges(tile.reads).values(), ())
        while tile is not None:
            following = next(tiles, None)
            ahead = {} if following is None else _ranges(following.reads)
            reader.wait()
            reader.begin(ahead.values(), passed)
            value = tile.run()
            found = _ranges((*tile.reads, *tile.writes))
            passed = [at for key, at in found.items() if key not in ahead]
            with calls_of_their_own():
                progress.add(sum(end - begin for _, begin, end in found.values()))
            tile = following
        reader.begin((), passed)
    with calls_of_their_own():
        progress.finish()
    return value


class ReadingAhead:
    """A thread, if there can be one, that reads for the next tile and releases the last one."""

    def __init__(self) -> None:
        # few at a time, so that what is to be released is not behind by many tiles
        self.asked: Queue[tuple[FileRanges, FileRanges] | None] = Queue(2)
        self.reads = False  # what was asked for last, not only releases
        # a daemon: an interrupt may keep `__exit__` from ending it
        self.thread: Thread | None = None

    def __enter__(self) -> ReadingAhead:
        self.thread = start_thread(self._serve, name="mat reads ahead")
        return self

    def __exit__(self, *_: object) -> None:
        if self.thread is not None and self.thread.is_alive():
            self.asked.put(None)
            self.thread.join()

    def begin(self, following: FileRanges, passed: FileRanges) -> None:
        """Begin to read some bytes, by the thread if any are missing, and to release others."""
        missing = [at for at in following if not _is_cached(*at)]
        self.reads = bool(missing)
        # it is not in a forked child
        if self.thread is not None and self.thread.is_alive():
            self.asked.put((missing, passed))
        else:
            _release(passed)

    def wait(self) -> None:
        """Wait for the requested reads, which accesses meanwhile would slow down."""
        asked, thread = self.asked, self.thread
        if not self.reads or thread is None or not thread.is_alive():
            return
        with asked.all_tasks_done:
            while asked.unfinished_tasks and thread.is_alive():
                asked.all_tasks_done.wait(0.1)  # it may end meanwhile, at the end of the process

    def _serve(self) -> None:
        ends: set[tuple[int, int]] = set()  # of what was read last
        further: list[FileRange] = []  # what was read without being asked for
        while (asked := self.asked.get()) is not None:
            following, passed = asked
            try:
                with suppress(ValueError):  # of pages that were unmapped meanwhile
                    _release(passed)
                    for at in following:
                        _read(*at)
            finally:
                self.asked.task_done()
            further = [(pages, end, 2 * end - begin) for pages, begin, end in following
                       if (id(pages), begin) in ends and end - begin <= MOST]
            ends = {(id(pages), end) for pages, _, end in following}
            with suppress(ValueError):
                self._go_on(further)
        _release(further)

    def _go_on(self, further: FileRanges) -> None:
        """Read on in files that are read in order, until something is asked for."""
        for pages, begin, end in further:
            for start in range(begin, min(end, len(pages)), PIECE):
                if not self.asked.empty():
                    return
                _read(pages, start, start + PIECE)


def _is_cached(pages: FilePages, begin: int, end: int) -> bool:
    with suppress(ValueError):  # of pages that were unmapped meanwhile
        return pages.is_cached(begin, end)
    return True


def _read(pages: FilePages, begin: int, end: int) -> None:
    """Let the system read some bytes, and map them unless they are very many."""
    if end - begin > MOST or not pages.populate(begin, end):
        pages.announce(begin, end)


def _release(ranges: FileRanges) -> None:
    with suppress(ValueError):
        for pages, begin, end in ranges:
            pages.release(begin, end)


def _ranges(views: tuple[Mat, ...]) -> dict[tuple[int, int, int], FileRange]:
    """Return the ranges of bytes in files that views take, each once."""
    found = {}
    for x in views:
        pages = pages_under(x)
        if pages is not None:
            low, high = x.layout.bounds
            start = HOST.address_of(x.storage.handles[HOST]) - pages.address
            begin, end = (start + k * x.element_size for k in (low, high))
            found[id(pages), begin, end] = pages, begin, end
    return found


def read_ahead(views: Iterable[Mat]) -> None:
    """Let the system begin to read those elements of views that are in files, and not in memory."""
    for pages, begin, end in _ranges(tuple(views)).values():
        if not _is_cached(pages, begin, end):
            pages.announce(begin, end)


def read_rows_ahead(x: Mat, rows: Array) -> None:
    """Do so for the rows of `x` at some integers, unless the first of them are in memory."""
    pages = pages_under(x)
    if pages is None or not len(rows) or not x.size:
        return
    _, begin, end = next(iter(_ranges((x[:1],)).values()))
    starts = (begin + rows * x.strides[0]).tolist()
    nbytes = end - begin
    if not all(_is_cached(pages, start, start + nbytes) for start in starts[:PROBED_ROWS]):
        for start in starts:
            pages.announce(start, start + nbytes)
