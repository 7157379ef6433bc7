"""The progress of an operation in tiles, in bytes, reported to the setting `progress`."""

from __future__ import annotations

from collections.abc import Iterable

from ...layout.shapes import Ints
from ...matrix.mat import Mat
from ...support.options import current
from ...support.progress import callback_of
from .origins import part_of


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
