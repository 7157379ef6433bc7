"""What a part of a storage held at some time, in any memory, to be compared with what it holds later; and poison put there.

Nothing here counts as a copy, and nothing decides what a difference means.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from ..core.cube import Hold
from ..facets.array import over
from ..facets.backing import BACKING
from ..layout.strided import Layout
from ..memories.host import HOST
from .poison import Elements, poison, still_poisoned, word

LARGEST = 64 << 20  # bytes of which a copy is kept; of more, a digest
NEAR = 64  # elements on both sides of what a block sees, or as many as it spans: what else it might have written


def elements(hold: Hold, start: int, stop: int) -> Elements:
    """A copy of some elements of the storage, in the memory that `hold` looks at."""
    storage: Any = hold.view.storage  # type: ignore[union-attr]  # an open hold has its view
    memory = hold.facet.memory
    if memory is HOST:
        return hold.handle[start:stop].copy()  # type: ignore[no-any-return]  # an array
    found = np.empty(storage.size, storage.dtype)
    with memory.aside():
        if not memory.read_part(storage, hold.handle, found, start, stop):
            memory.copy_out(storage, hold.handle, found)
    return found[start:stop]


def put(hold: Hold, whole: Elements) -> None:
    """Have the whole storage be `whole`, in the memory that `hold` looks at."""
    if hold.facet.memory is HOST:
        hold.handle[...] = whole
        return
    with hold.facet.memory.aside():
        hold.facet.memory.copy_in(hold.view.storage, hold.handle, whole)  # type: ignore[union-attr]  # likewise


def sees(layout: Layout, size: int) -> Elements:
    """Which elements of a storage of that size `layout` sees, as one bool for each."""
    found = np.zeros(size, bool)
    over(found, layout)[...] = True
    return found


def visible(hold: Hold, size: int) -> Elements:
    """The same of a look; through `backing` one sees everything."""
    if hold.facet is BACKING:
        return np.ones(size, bool)
    return sees(hold.view.layout, size)  # type: ignore[union-attr]  # likewise


def window(hold: Hold) -> tuple[int, int]:
    """From where to where something might be written by who was given what `hold` presents, by mistake or not."""
    view: Any = hold.view
    low, high = view.layout.bounds
    size = view.storage.size
    if hold.facet is BACKING:
        return 0, size
    near = max(high - low, NEAR)
    return max(low - near, 0), min(high + near, size)


class Picture:
    """What the window of a look held."""

    __slots__ = ("digest", "hold", "kept", "now", "start", "stop")

    def __init__(self, hold: Hold) -> None:
        self.hold = hold
        self.start, self.stop = window(hold)
        self.kept: Elements | None = None  # None: only the digest is
        self.digest = b""
        self.renew()

    def renew(self, where: Elements | None = None) -> None:
        """Take it again: all of it, or the elements of the storage that `where` picks out."""
        self.now = elements(self.hold, self.start, self.stop)
        if self.now.nbytes > LARGEST:
            self.digest = _digest(self.now)
        elif where is None or self.kept is None:
            self.kept = self.now
        else:
            part = where[self.start:self.stop]
            self.kept[part] = self.now[part]

    def changed(self) -> Elements:
        """Which elements of the whole storage are not what they were; where there is a digest only, all or none."""
        self.now = now = elements(self.hold, self.start, self.stop)
        storage: Any = self.hold.view.storage  # type: ignore[union-attr]  # likewise
        found = np.zeros(storage.size, bool)
        if self.kept is None:
            found[self.start:self.stop] = _digest(now) != self.digest
            return found
        same = now.view(word(now.dtype)) == self.kept.view(word(now.dtype))
        found[self.start:self.stop] = ~(same.reshape(-1, 2).all(1) if now.dtype.kind == "c" else same)
        return found

    def values(self, k: int) -> str:
        """What element `k` of the storage was, and what `changed` found."""
        if self.kept is None:
            return ""
        return f": {self.kept[k - self.start]} became {self.now[k - self.start]}"


class Poisoned:
    """A storage of which a look that overwrites everything was handed poison."""

    __slots__ = ("before", "hold")

    def __init__(self, hold: Hold) -> None:
        storage: Any = hold.view.storage  # type: ignore[union-attr]  # likewise
        self.hold = hold
        self.before = elements(hold, 0, storage.size) if storage.fresh & hold.mask else None
        put(hold, poison(storage.size, storage.dtype))

    def left(self) -> Elements:
        """Which elements are as they were handed out."""
        return still_poisoned(self._now())

    def restore(self) -> None:
        """Undo it: what was not overwritten is what it was."""
        now = self._now()
        if self.before is not None:
            left = now.view(word(now.dtype)) == poison(now.size, now.dtype).view(word(now.dtype))
            now.view(word(now.dtype))[left] = self.before.view(word(now.dtype))[left]
            put(self.hold, now)

    def _now(self) -> Elements:
        return elements(self.hold, 0, self.hold.view.storage.size)  # type: ignore[union-attr]  # likewise


def told(mask: Elements, layout: Layout, picture: Picture | None = None) -> str:
    """How many elements `mask` picks out of a storage, and the first, in the coordinates of the Mat where it sees them."""
    inside = np.argwhere(over(mask, layout))[:3]
    names = [(layout.displacement + int(np.dot(i, layout.strides)), f"({', '.join(map(str, i))})") for i in inside.tolist()]
    if not names:
        names = [(int(k), f"storage element {k}, outside of what it sees") for k in np.flatnonzero(mask)[:3]]
    count = int(mask.sum())
    listed = ", ".join(name + (picture.values(k) if picture else "") for k, name in names)
    if picture is not None and picture.kept is None:
        return "its bytes"
    return f"{count} element{'s' * (count != 1)}, {'first ' * (count > len(names))}{listed}"


def _digest(a: Elements) -> bytes:
    return hashlib.blake2b(a.view(np.uint8).data, digest_size=16).digest()
