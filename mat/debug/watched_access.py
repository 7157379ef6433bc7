"""One access that the direction check watches: the elements before it, and what is wrong with it so
far or at its end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

import numpy as np

from ..core.access_record import AccessRecord
from ..core.direction import INPUT, OUTPUT
from ..core.export import ExportRecord
from ..core.registry import Memory, Presented
from ..core.runs import Runs
from ..core.source_line import line_of, running_operation
from ..matrix.storage import Storage
from ..support.types import Array
from .relocation import give_revocable, take_back
from .snapshot import PoisonedOutput, Snapshot, described, storage_of, view_of, visible


class _Operation(Protocol):
    __name__: str
    __module__: str


class WatchedAccess:
    """One access that is watched, from its beginning on."""

    __slots__ = (
        "_snapshot",
        "alone",
        "blind",
        "fresh",
        "is_export",
        "loose",
        "nested",
        "operation",
        "original",
        "own",
        "poisoned",
        "record",
        "storage",
        "value",
    )

    def __init__(self, record: AccessRecord, alone: bool) -> None:
        self.original: AccessRecord = record
        # an export may end in another thread while it is compared
        self.record: AccessRecord = record.copy() if isinstance(record, ExportRecord) else record
        self.storage: Storage = storage_of(record)
        self.alone: bool = alone  # it was the only access when it began
        self.nested: bool = False  # another access wrote meanwhile
        # another access wrote and failed, so that the data may be copied from elsewhere at any time
        self.loose: bool = False
        self.blind: bool = False  # its memory cannot be read
        self.operation: _Operation | None = _operation()
        self.poisoned: PoisonedOutput | None = None
        self._snapshot: Snapshot | None = None
        # of the storage's elements, those that the copy had fresh when the snapshot last had them
        self.fresh: Array = self._fresh_now()
        take_back(record)  # what an interrupt has left there
        self.value: tuple[Presented, Callable[[], Presented] | None] = (
            record.value, record.make_value)
        self.is_export: bool = isinstance(record, ExportRecord)
        self.own: Presented = None
        try:
            # what others have of an export was not made for this one alone
            self.own = None if self.is_export else give_revocable(record)
            # who owns memory that is not `mat`'s may write it while it is exported
            if not self.is_export or self.storage.adopted is None:
                self._take()
        except BaseException:  # nobody else knows of self
            self.restore()
            if self.poisoned is not None:
                self.poisoned.restore()
            raise

    def _take(self) -> None:
        """Fill the storage with poison or take a snapshot, as the direction needs."""
        record = self.record
        whole = view_of(record).layout.size == self.storage.size
        if not self.storage.size:
            return
        if self.storage.align > 1:  # views of it have several dtypes: masks are of elements of one
            self.blind = True
            return
        try:
            if record.direction is OUTPUT and self.alone and whole:
                self.poisoned = PoisonedOutput(record)  # kept first: an interrupt may follow
                self.poisoned.fill()
            elif record.direction is INPUT or not whole or not self.built_in:
                self._snapshot = Snapshot(record)
        except Exception:  # a memory that cannot be read just now, or at all
            self.blind = True

    @property
    def snapshot(self) -> Snapshot | None:
        """What the access saw when it began; None if that is not known, or no longer of use, since
        there are views of several dtypes now and masks are of elements of one.
        """
        return None if self.storage.align > 1 else self._snapshot

    def forget_snapshot(self) -> None:
        """Report no change from now on."""
        self._snapshot = None

    @property
    def built_in(self) -> bool:
        """True if an operation of this package makes the access."""
        return self.operation is not None and self.operation.__module__.startswith("mat.")

    @property
    def description(self) -> str:
        """The access, and the operation that makes it, in words."""
        by = "" if self.operation is None else f" by operation {self.operation.__name__}"
        return self.record.describe() + by

    @property
    def subject(self) -> str:
        """The operation that makes the access, or the block, in words."""
        if self.operation is None:
            return self.record.describe()
        return f"operation {self.operation.__name__}"

    def origin(self) -> str:
        """Return the end of a message: the line that created the Mat."""
        made = line_of(self.storage.made)
        return f"; the Mat was created at {made}" if made else ""

    def forbidden(self, without: AccessRecord | None) -> Array:
        """Return the mask of the elements of the storage that changed and must not have.

        Elements that other accesses may write are not in it, but those of `without` are.
        """
        assert self.snapshot is not None
        record, storage = self.record, self.storage
        changed = self.snapshot.changed()
        if not changed.any():
            return changed
        writers = [other for other in tuple(storage.accesses) if other.direction is not INPUT
                   and other is not without]
        for other in writers:  # self among them, if it writes
            changed &= ~visible(other, storage.size)
        # what the copy had not fresh, or no longer has, may be anything
        changed &= self.fresh & self._fresh_now()
        if record.direction is INPUT and storage.adopted is not None:
            changed &= visible(record, storage.size)  # what is between them belongs to the user
        elif storage.adopted is not None:
            changed[:] = False
        return changed

    def fault(self, without: AccessRecord | None = None) -> str:
        """Return in words what is wrong so far, the access `without` left out; else nothing."""
        if self.snapshot is None:
            return ""
        changed = self.forbidden(without)
        if not changed.any():
            return ""
        found = described(changed, view_of(self.record).layout, self.snapshot)
        if self.record.direction is INPUT:
            return f"{self.description} changed what it promised to only read, {found}"
        return f"{self.description} changed what it does not see, {found}"

    def fault_of_output(self) -> str:
        """Return in words which elements it left, if it was to overwrite all; else nothing."""
        left = self.poisoned.left() if self.poisoned is not None else None
        if left is None or not left.any():
            return ""
        found = described(left, view_of(self.record).layout)
        return f"{self.description} promised to overwrite everything and left as it was {found}"

    def changed_something(self) -> bool | None:
        """Return whether a block for ``io`` changed anything visible; None if that is not known.

        It is not of interest for blocks of this package.
        """
        record, snapshot = self.record, self.snapshot
        if record.direction is OUTPUT or snapshot is None or self.built_in:
            return None
        if self.operation is None and internal(record):
            return None
        changed = snapshot.changed() & visible(record, self.storage.size)
        return self.nested or bool(changed.any())

    def _fresh_now(self) -> Array:
        """Return the mask of the elements that the copy of the access has fresh; all of a copy that
        is fresh or not as a whole.
        """
        size, used = self.storage.units, self.original.used  # set when parts begin, as in exports
        return np.ones(size, bool) if used is None else used.fresh.mask(size)

    def catch_up(self) -> None:
        """Take those elements into the snapshot that became fresh since, such as by a fill."""
        if self.snapshot is None:
            return
        now = self._fresh_now()
        added = now & ~self.fresh
        if added.any():
            self.snapshot.renew(added)
        self.fresh = now

    def follow(self, other: AccessRecord, failed: bool) -> None:
        """Accept what the access `other`, which has ended, wrote to what it sees or beside that."""
        if failed:
            self.loose, self._snapshot = True, None
        elif self.snapshot is not None:
            self.snapshot.renew(visible(other, self.storage.size))

    def follow_copy(self, memory: Memory, runs: Runs) -> None:
        """Accept that elements were copied to `memory`."""
        if self.snapshot is not None and self.record.facet.memory is memory:
            mask = runs.mask(self.storage.units)
            self.snapshot.renew(mask)
            self.fresh |= mask

    def restore(self) -> None:
        """Present the value that the record had before it was watched."""
        self.record.value, self.record.make_value = self.value


def _operation() -> _Operation | None:
    """Return the operation that this thread carries out, None if a block makes the access."""
    return cast("_Operation | None", running_operation()[0])


def internal(record: AccessRecord) -> bool:
    """Return whether the block of an access is one of this package."""
    return record.where is not None and len(record.where) > 2
