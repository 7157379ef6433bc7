"""What a part of a storage held at some time, in any memory, to be compared with what it holds
later; and poison put there.

Nothing here counts as a copy, and nothing decides what a difference means.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from ..core.cube import AccessRecord
from ..facets.array import over
from ..facets.backing import BACKING
from ..layout.strided import Layout
from ..memories.host import HOST
from .poison import Elements, poison, still_poisoned, word

LARGEST = 64 << 20  # bytes of which a copy is kept; of more, a digest
# elements on both sides of what a block sees, or as many as it spans: what else it might have
# written
NEAR = 64


def elements(record: AccessRecord, start: int, stop: int) -> Elements:
    """A copy of some elements of the storage, in the memory that `record` looks at."""
    storage: Any = record.view.storage  # type: ignore[union-attr]  # an open hold has its view
    memory = record.facet.memory
    if memory is HOST:
        return record.handle[start:stop].copy()  # type: ignore[no-any-return]  # an array
    found = np.empty(storage.size, storage.dtype)
    with memory.aside():
        if not memory.read_part(storage, record.handle, found, start, stop):
            memory.copy_out(storage, record.handle, found)
    return found[start:stop]


def put(record: AccessRecord, whole: Elements) -> None:
    """Have the whole storage be `whole`, in the memory that `record` looks at."""
    if record.facet.memory is HOST:
        record.handle[...] = whole
        return
    with record.facet.memory.aside():
        # likewise
        record.facet.memory.copy_in(record.view.storage, record.handle,  # type: ignore[union-attr]
                                    whole)


def sees(layout: Layout, size: int) -> Elements:
    """Which elements of a storage of that size `layout` sees, as one bool for each."""
    found = np.zeros(size, bool)
    over(found, layout)[...] = True
    return found


def visible(record: AccessRecord, size: int) -> Elements:
    """The same of a look; through `backing` one sees everything."""
    if record.facet is BACKING:
        return np.ones(size, bool)
    return sees(record.view.layout, size)  # type: ignore[union-attr]  # likewise


def window(record: AccessRecord) -> tuple[int, int]:
    """From where to where something might be written by who was given what `record` presents, by
    mistake or not.
    """
    view: Any = record.view
    low, high = view.layout.bounds
    size = view.storage.size
    if record.facet is BACKING:
        return 0, size
    near = max(high - low, NEAR)
    return max(low - near, 0), min(high + near, size)


class Snapshot:
    """What the window of a look held."""

    __slots__ = ("digest", "kept", "now", "record", "start", "stop")

    def __init__(self, record: AccessRecord) -> None:
        self.record = record
        self.start, self.stop = window(record)
        self.kept: Elements | None = None  # None: only the digest is
        self.digest = b""
        self.renew()

    def renew(self, where: Elements | None = None) -> None:
        """Take it again: all of it, or the elements of the storage that `where` picks out."""
        self.now = elements(self.record, self.start, self.stop)
        if self.now.nbytes > LARGEST:
            self.digest = _digest(self.now)
        elif where is None or self.kept is None:
            self.kept = self.now
        else:
            part = where[self.start:self.stop]
            self.kept[part] = self.now[part]

    def changed(self) -> Elements:
        """Which elements of the whole storage are not what they were; where there is a digest only,
        all or none.
        """
        self.now = now = elements(self.record, self.start, self.stop)
        storage: Any = self.record.view.storage  # type: ignore[union-attr]  # likewise
        found = np.zeros(storage.size, bool)
        if self.kept is None:
            found[self.start:self.stop] = _digest(now) != self.digest
            return found
        same = now.view(word(now.dtype)) == self.kept.view(word(now.dtype))
        found[self.start:self.stop] = ~(same.reshape(-1, 2).all(1) if now.dtype.kind == "c"
                                        else same)
        return found

    def values(self, k: int) -> str:
        """What element `k` of the storage was, and what `changed` found."""
        if self.kept is None:
            return ""
        return f": {self.kept[k - self.start]} became {self.now[k - self.start]}"


class PoisonedOutput:
    """A storage of which a look that overwrites everything was handed poison."""

    __slots__ = ("before", "record")

    def __init__(self, record: AccessRecord) -> None:
        storage: Any = record.view.storage  # type: ignore[union-attr]  # likewise
        self.record = record
        self.before = elements(record, 0, storage.size) if storage.fresh & record.mask else None
        put(record, poison(storage.size, storage.dtype))

    def left(self) -> Elements:
        """Which elements are as they were handed out."""
        return still_poisoned(self._now())

    def restore(self) -> None:
        """Undo it: what was not overwritten is what it was."""
        now = self._now()
        if self.before is not None:
            left = now.view(word(now.dtype)) == poison(now.size, now.dtype).view(word(now.dtype))
            now.view(word(now.dtype))[left] = self.before.view(word(now.dtype))[left]
            put(self.record, now)

    def _now(self) -> Elements:
        # likewise
        return elements(self.record, 0, self.record.view.storage.size)  # type: ignore[union-attr]


def told(mask: Elements, layout: Layout, snapshot: Snapshot | None = None) -> str:
    """How many elements `mask` picks out of a storage, and the first, in the coordinates of the Mat
    where it sees them.
    """
    inside = np.argwhere(over(mask, layout))[:3]
    names = [(layout.displacement + int(np.dot(i, layout.strides)), f"({', '.join(map(str, i))})")
             for i in inside.tolist()]
    if not names:
        names = [(int(k), f"storage element {k}, outside of what it sees")
                 for k in np.flatnonzero(mask)[:3]]
    count = int(mask.sum())
    listed = ", ".join(name + (snapshot.values(k) if snapshot else "") for k, name in names)
    if snapshot is not None and snapshot.kept is None:
        return "its bytes"
    return f"{count} element{'s' * (count != 1)}, {'first ' * (count > len(names))}{listed}"


def _digest(a: Elements) -> bytes:
    return hashlib.blake2b(a.view(np.uint8).data, digest_size=16).digest()
