"""The elements of a storage at some time, in any memory, to be compared with those of a later time;
and poison written to a storage: elements of a pattern that no block writes.

Nothing here counts as a copy, and nothing decides what a difference means.
"""

from __future__ import annotations

import hashlib
from functools import cache
from math import ceil, log2
from typing import cast

import numpy as np

from ..core.access_record import AccessRecord
from ..facets import BACKING, over
from ..layout.strided import Layout
from ..matrix.mat import Mat
from ..matrix.storage import Storage
from ..memories.host import HOST
from ..support.dtypes import FLOAT8
from ..support.types import Array, DType

# Poisoned floats are NaN with an unusual payload. Integers of 32 bits and more follow a pattern
# that goes by position. In 8 or 16 bits any value is an ordinary number: there only a run of
# neighbours in that pattern is evidence
_NAN = {2: 0x7EAD, 4: 0x7FED_BAD1, 8: 0x7FFD_EAD0_0BAD_F00D}  # by the bytes of an element
_NAN_OF_BFLOAT16 = 0x7FED
_BYTE_OF_BOOL = 0xA5
# bits that have to agree to be evidence, and some more for each position where they could by chance
_CERTAIN = 40


@cache
def _pattern() -> bytes:
    return np.random.Generator(np.random.Philox(20261120)).bytes(8 * 8191)


def word(dtype: DType) -> DType:
    """Return the unsigned integers that elements are compared as: two for each complex number."""
    return np.dtype(f"u{dtype.itemsize // 2 if dtype.kind == 'c' else dtype.itemsize}")


def poison(size: int, dtype: DType) -> Array:
    """Return `size` poisoned elements."""
    kind = word(dtype)
    count = size * dtype.itemsize // kind.itemsize
    if _is_integer(dtype):
        pattern = np.frombuffer(_pattern(), kind)
        return np.resize(pattern, count).view(dtype)
    if dtype.kind == "b":
        value = _BYTE_OF_BOOL
    else:
        value = _NAN_OF_BFLOAT16 if dtype.name == "bfloat16" else _NAN[kind.itemsize]
    return np.full(count, value, kind).view(dtype)


def _is_integer(dtype: DType) -> bool:
    """Return whether any value is an ordinary one, as of integers and of floats of one byte."""
    return dtype.kind in "iu" or dtype.char in FLOAT8


def still_poisoned(elements: Array) -> Array:
    """Return one bool for each element of a whole storage: True if it is still poison."""
    dtype, kind = elements.dtype, word(elements.dtype)
    same: Array = np.equal(elements.view(kind), poison(elements.size, dtype).view(kind))
    if dtype.kind == "c":
        return np.logical_or(same[::2], same[1::2])  # half an element is not written either
    if dtype.kind not in "iub" and dtype.itemsize == 2 and same.any() and _any_nan(elements[~same]):
        # there are so few NaNs of 16 bits that a program which has others may have this one, too
        return np.zeros(elements.size, bool)
    if _is_integer(dtype) and dtype.itemsize < 4 and elements.size:
        return _long_runs(same, ceil((_CERTAIN + log2(elements.size)) / (8 * dtype.itemsize)))
    return same


def _any_nan(elements: Array) -> bool:
    with np.errstate(invalid="ignore"):  # for signalling NaNs
        return bool(np.isnan(elements).any())


def edges_of(flags: Array) -> Array:
    """Return where runs of true elements begin and end, in turns."""
    return np.flatnonzero(np.diff(np.concatenate(([0], flags.view(np.int8), [0]))))


def _long_runs(same: Array, least: int) -> Array:
    """Return `same` without runs that are shorter than `least`."""
    edges = edges_of(same)
    found = np.zeros(same.size, bool)
    for begin, end in zip(edges[::2], edges[1::2], strict=True):
        found[begin:end] = end - begin >= least
    return found


LARGEST = 64 << 20  # bytes of which a copy is kept; of more, a digest
# elements on both sides of the visible ones, or as many as these span: they might be written by
# mistake
NEAR = 64


def view_of(record: AccessRecord) -> Mat:
    """Return the Mat that is accessed; an open access has one."""
    return cast(Mat, record.view)


def storage_of(record: AccessRecord) -> Storage:
    """Return the storage of the Mat that is accessed."""
    return view_of(record).storage


def elements(record: AccessRecord, start: int, stop: int) -> Array:
    """Copy elements of the storage from the record's memory; 0 beside a copy of a part."""
    storage, memory, part = storage_of(record), record.facet.memory, record.used
    if memory is HOST:
        a: Array = record.handle[start:stop]
        return a.copy()
    found = np.zeros(storage.size, storage.dtype)
    first, last = (0, storage.size) if part is None else (part.start, part.stop)
    low, high = max(start, first), min(stop, last)
    owner, there = storage if part is None else part.owner, found[first:last]
    with memory.aside():
        if low < high and not memory.read_part(owner, record.handle, there, low - first,
                                               high - first):
            memory.copy_out(storage, record.handle, found)
    return found[start:stop]


def put(record: AccessRecord, whole: Array) -> None:
    """Overwrite the whole storage in the memory that `record` accesses."""
    memory = record.facet.memory
    if memory is HOST:
        record.handle[...] = whole
        return
    with memory.aside():
        memory.copy_in(storage_of(record), record.handle, whole)


def mask_of(layout: Layout, size: int) -> Array:
    """Return one bool for each element of a storage of that size: True if it is visible."""
    found = np.zeros(size, bool)
    over(found, layout)[...] = True
    return found


def visible(record: AccessRecord, size: int) -> Array:
    """Return the mask of the elements that an access sees; the facet ``backing`` sees all."""
    if record.facet is BACKING:
        return np.ones(size, bool)
    return mask_of(view_of(record).layout, size)


def window(record: AccessRecord) -> tuple[int, int]:
    """Return the range of elements that the block of an access might write, by mistake or not."""
    view = view_of(record)
    low, high = view.layout.bounds
    size = view.storage.size
    if record.facet is BACKING:
        return 0, size
    near = max(high - low, NEAR)
    return max(low - near, 0), min(high + near, size)


class Snapshot:
    """The elements in the window of an access at some time, or their digest if they are many."""

    def __init__(self, record: AccessRecord) -> None:
        self.record: AccessRecord = record
        self.start: int
        self.stop: int
        self.start, self.stop = window(record)
        self.kept: Array | None = None  # None: only the digest is
        self.digest: bytes = b""
        self.renew()

    def renew(self, where: Array | None = None) -> None:
        """Take the snapshot again: all of it, or the elements in the mask `where`."""
        self.now: Array = elements(self.record, self.start, self.stop)
        if self.now.nbytes > LARGEST:
            self.digest = _digest(self.now)
        elif where is None or self.kept is None:
            self.kept = self.now
        else:
            part = where[self.start:self.stop]
            self.kept[part] = self.now[part]

    def changed(self) -> Array:
        """Return the mask of the elements of the storage that differ from the snapshot.

        Where there is a digest only, either all elements of the window are in it or none.
        """
        self.now = now = elements(self.record, self.start, self.stop)
        found = np.zeros(storage_of(self.record).size, bool)
        if self.kept is None:
            found[self.start:self.stop] = _digest(now) != self.digest
            return found
        same = now.view(word(now.dtype)) == self.kept.view(word(now.dtype))
        found[self.start:self.stop] = ~(same.reshape(-1, 2).all(1) if now.dtype.kind == "c"
                                        else same)
        return found

    def values(self, k: int) -> str:
        """Return a description of element `k` of the storage before and after the change."""
        if self.kept is None:
            return ""
        return f": {self.kept[k - self.start]} became {self.now[k - self.start]}"


class PoisonedOutput:
    """A storage that was filled with poison for a block that promised to overwrite all of it."""

    def __init__(self, record: AccessRecord) -> None:
        storage = storage_of(record)
        self.record: AccessRecord = record
        self.before: Array | None = (
            elements(record, 0, storage.size) if storage.fresh & record.mask else None)

    def fill(self) -> None:
        """Fill the storage with poison, undone by `restore`."""
        storage = storage_of(self.record)
        put(self.record, poison(storage.size, storage.dtype))

    def left(self) -> Array:
        """Return the mask of the elements that are still poison."""
        return still_poisoned(self._now())

    def restore(self) -> None:
        """Give the elements that were not overwritten the values that they had before."""
        now = self._now()
        if self.before is not None:
            left = now.view(word(now.dtype)) == poison(now.size, now.dtype).view(word(now.dtype))
            now.view(word(now.dtype))[left] = self.before.view(word(now.dtype))[left]
            put(self.record, now)

    def _now(self) -> Array:
        return elements(self.record, 0, storage_of(self.record).size)


def described(mask: Array, layout: Layout, snapshot: Snapshot | None = None) -> str:
    """Return in words how many elements are in a mask of a storage, and the first of them.

    These are named by their coordinates in the Mat if it sees them; a snapshot adds their values.
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


def _digest(a: Array) -> bytes:
    return hashlib.blake2b(a.view(np.uint8).data, digest_size=16).digest()
