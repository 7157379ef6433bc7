"""The direction check: an observer that compares the promises of blocks and operations with their
actions.

It accesses nothing itself, and what it reads or writes in a memory counts as no copy. What it finds
is a `DirectionError` at the end of the block.
"""

from __future__ import annotations

import errno
import sys
import weakref
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import numpy as np

from ..core.access_record import AccessRecord
from ..core.compiled import THREADS
from ..core.cube import Cube
from ..core.direction import INPUT, OUTPUT
from ..core.export import ExportRecord
from ..core.observers import Observer
from ..core.registry import Memory, Presented
from ..core.runs import Runs
from ..core.source_line import ASYNC_COPY, EXPORTED, line_of, running_operation, user_line
from ..errors import DirectionError
from ..matrix.storage import Storage
from ..memories.host import HOST
from ..memories.pooled import Pooled
from ..support.fork import WithLock
from ..support.formatting import counted
from ..support.types import Array
from .protected_pages import (
    FAULT_HANDLER,
    READ_ONLY,
    READ_WRITE,
    Pages,
    empty,
    pages_of,
    system,
    unprotect_all,
)
from .relocation import Relocation, give_revocable, revoke, take_back
from .snapshot import PoisonedOutput, Snapshot, described, storage_of, view_of, visible


class WatchedAccess:
    """One access that is watched, from its beginning on."""

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
        self.operation: Any = running_operation()[0]  # None: a block makes it
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
        """Return the mask of changed elements that no access, or only `without`, may write."""
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
        """Return whether a user's block for ``io`` changed anything visible; None if not known."""
        record, snapshot = self.record, self.snapshot
        if record.direction is OUTPUT or snapshot is None or self.built_in:
            return None
        if self.operation is None and internal(record):
            return None
        changed = snapshot.changed() & visible(record, self.storage.size)
        return self.nested or bool(changed.any())

    def _fresh_now(self) -> Array:
        """Return the mask of the elements that the copy of the access has fresh."""
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


def internal(record: AccessRecord) -> bool:
    """Return whether the block of an access is one of this package."""
    return record.where is not None and len(record.where) > 2


class DirectionReport(WithLock):
    """The findings of one direction check.

    Attributes
    ----------
    faults : list of str
        The texts of the errors that were raised.
    too_strong : list of str
        The blocks and operations that requested ``io`` each time and never changed anything.
    accesses : int
        The number of accesses that were watched.
    blind : int
        The number of those that could not be checked, since their memory could not be read.
    """

    def __init__(self) -> None:
        self.accesses = self.blind = 0
        self.faults: list[str] = []
        # by the block or operation that requested io: whether it ever changed anything
        self._changed: dict[str, bool] = {}
        super().__init__()

    def note(self, subject: str, changed: bool) -> None:
        """Record the end of an access for ``io`` by a block or operation."""
        with self._lock:
            self._changed[subject] = changed or self._changed.get(subject, False)

    @property
    def too_strong(self) -> list[str]:
        """The blocks and operations that need only ``input`` instead of ``io``."""
        return [subject for subject, changed in self._changed.items() if not changed]

    def __repr__(self) -> str:
        accesses = counted(self.accesses, "access", "accesses")
        head = f"<direction check: {accesses}, {counted(len(self.faults), 'fault')}"
        head += f", {self.blind} not checked" if self.blind else ""
        weaker = "requested 'io' and never changed anything; 'input' would do"
        lines = [f"too strong: {subject} {weaker}" for subject in self.too_strong]
        lines += [f"fault: {text}" for text in self.faults]
        return "\n  ".join([head, *lines]) + ">"


class DirectionCheck(WithLock, Observer):
    """The observer that watches accesses, for any number of reports at once."""

    every_access = True

    def __init__(self) -> None:
        self.reports: list[DirectionReport] = []
        self.relocation: Relocation = Relocation()
        self.late: list[tuple[int, str]] = []  # uses after the end: thread, text
        self._open: dict[int, WatchedAccess] = {}
        self._memories: set[Pooled] = set()  # of the devices that were accessed
        self._exported: weakref.WeakSet[Pages] = weakref.WeakSet()
        self._watching = False
        super().__init__()

    # Beginning and ending

    def begin(self, report: DirectionReport) -> None:
        """Watch accesses for `report`, too."""
        with self._lock:
            self.reports.append(report)
            self._watch(True)

    def end(self, report: DirectionReport) -> list[str]:
        """Stop watching for `report`, and return faults not raised yet; none if it has ended."""
        with self._lock:
            if not any(r is report for r in self.reports):
                return []
            late = [text for _, text in self.late]
            self._watch(len(self.reports) > 1)
            self.reports = [r for r in self.reports if r is not report]
            self.late.clear()
            report.faults += late
        return late

    def _watch(self, on: bool) -> None:
        """Begin or end to have host memory in pages of its own."""
        if on and not self._watching:
            self._watching = True
            HOST.room = empty  # of this instance: deleted below
            FAULT_HANDLER.begin(self)
            FAULT_HANDLER.explain = self._explanation
        elif self._watching and not on:
            vars(HOST).pop("room", None)
            self._release()
            FAULT_HANDLER.explain = None
            FAULT_HANDLER.end(self)
            self._watching = False  # last: it is called again after an interrupt

    def _release(self) -> None:
        for watched in tuple(self._open.values()):
            watched.restore()
        self._exported.clear()
        self._open.clear()
        self._memories.clear()
        self.relocation.release()
        unprotect_all()  # also what interrupts have left protected

    # Accesses

    def entered(self, record: AccessRecord) -> None:
        storage: object = record.view.storage if record.view is not None else None
        self._raise_late()
        if not isinstance(storage, Storage):
            return
        with storage.lock:
            alone = not any(access is not record for access in tuple(storage.accesses))
            for other in self._on(storage):
                other.catch_up()
            if alone:
                self.relocation.move_into_pages(record)
            if record.direction is not INPUT:
                self._before_writing(storage, record)
                self._allow_writing(storage)
            else:
                self._check_exports(storage)
            self._watch_access(record, alone)
            if isinstance(record.facet.memory, Pooled) and system() is not None:
                self._memories.add(record.facet.memory)
                FAULT_HANDLER.ensure_installed()
            self._protect(storage, None)

    def _watch_access(self, record: AccessRecord, alone: bool) -> None:
        watched = self._open[id(record)] = WatchedAccess(record, alone)
        for report in self.reports:
            report.accesses += 1
            report.blind += watched.blind

    # Exports

    def exported(self, record: ExportRecord) -> None:
        storage: object = record.view.storage if record.view is not None else None
        self._raise_late()
        if not isinstance(storage, Storage):
            return
        with storage.lock:
            self._check_exports(storage)
            alone = not any(access is not record for access in tuple(storage.accesses))
            if alone:
                self.relocation.move_export(record)
            self._watch_access(record, alone)
            pages = pages_of(storage.handles.get(HOST))
            if record.facet.memory is HOST and pages is not None:
                text = record.describe().removesuffix(" to an object that still exists")
                pages.notify = partial(self._export_written, weakref.ref(storage), text)
                self._exported.add(pages)
            self._protect(storage, None)

    def released(self, record: ExportRecord) -> None:
        """Check an export a last time; its pages stay protected until an access."""
        watched = self._open.get(id(record))
        if watched is not None and record.facet.memory is HOST:
            fault = watched.fault()
            if fault:
                self._note_late(f"{fault}{watched.origin()}")
        self._open.pop(id(record), None)

    def copying(self, cube: Cube, source: Memory, target: Memory) -> None:
        if target is HOST:
            self._allow_writing(cube)

    def _allow_writing(self, cube: Cube) -> None:
        """Let this package itself write an export, or another part of an exported cube."""
        pages = pages_of(cube.handles.get(HOST))
        if pages is not None and pages in self._exported:
            pages.protect(READ_WRITE)

    def _export_written(self, of: weakref.ref[Storage], text: str, pages: Pages) -> None:
        """Record that exported pages were written, unless a block is responsible."""
        storage, touched = of(), pages.touched
        found = [] if storage is None else self._on(storage)
        if touched is None or any(not watched.is_export and watched.record.facet.memory is HOST
                                  and watched.record.thread == touched.thread for watched in found):
            return
        exports = [watched for watched in found if watched.is_export]
        for watched in exports:
            watched.forget_snapshot()  # it is reported now
        pages.touched = None
        names = (" and ".join(watched.description for watched in exports)
                 or f"{text} to an object that was released")
        made = "" if storage is None else line_of(storage.made)
        self._note_late(f"{names}, was written {touched}; what is exported can only be read: "
                        "write in a block, such as with x.facet('array', 'io') as a: ..., or "
                        "export a copy"
                        f"{f'; the Mat was created at {made}' if made else ''}")

    def _check_exports(self, storage: Cube) -> None:
        """Raise if the elements of an export have changed."""
        for watched in self._on(storage):
            fault = watched.fault() if watched.is_export else ""
            if fault:
                watched.forget_snapshot()
                self._raise(fault + watched.origin())

    # Faults elsewhere

    def _explanation(self, address: int, frame: FrameType | None) -> str:
        """Return in words whose memory of a device the host uses by its address, if any."""
        found = ((memory, memory.block_at(address)) for memory in tuple(self._memories))
        memory, block = next((item for item in found if item[1] is not None), (None, None))
        if memory is None or block is None:
            return ""
        place = line_of(user_line(frame)) if frame is not None else ""
        return (f"mat: the host uses {address:#x}, an address in the memory of {memory.name}, at "
                f"{place or 'a line of compiled code'}: "
                f"{self._contents(block[1], address - block[0].address)}; only code on the device "
                "can use its addresses\n")

    def _contents(self, cube: object, offset: int) -> str:
        """Return a description of the owner of a byte in a block of a device's memory."""
        if not isinstance(cube, Storage):
            return "the block there was freed"
        given = " and ".join(watched.description for watched in self._on(cube))
        made = line_of(cube.made)
        return (f"byte {offset} of {cube.size} elements of {cube.dtype}, given to "
                f"{given or 'no block or operation'}; the Mat was created "
                f"at {made or 'no line of Python'}")

    def _before_writing(self, storage: Cube, record: AccessRecord) -> None:
        """Check the writes of other blocks so far, before `record` may write."""
        for watched in self._on(storage):
            fault = self._with_line(watched, watched.fault(record), False)
            watched.nested = True
            if fault:
                watched.follow(record, False)
                self._raise(fault + watched.origin())

    def left(self, record: AccessRecord, failed: bool) -> None:
        watched = self._open.get(id(record))
        if watched is None:
            return
        storage = watched.storage
        try:
            with storage.lock:
                fault = self._fault_at_end(watched, failed)
                if record.direction is not INPUT or fault:
                    for other in self._on(storage):
                        if other is not watched:
                            other.follow(record, failed or fault != "")
                self._revoke(watched)
                self._protect(storage, record)
        finally:  # an interrupt may come before
            watched.restore()
            self._open.pop(id(record), None)
        if fault:
            self._raise(fault + watched.origin())

    def copied_runs(self, cube: Cube, source: Memory, target: Memory,  # as there
                    runs: Runs, seconds: float) -> None:
        for watched in self._on(cube):
            watched.follow_copy(target, runs)
        self._protect(cube, None)

    def _fault_at_end(self, watched: WatchedAccess, failed: bool) -> str:
        """Return the description of a fault in an ending access; nothing if all is well."""
        fault = watched.fault()
        if watched.record.direction is INPUT:
            return self._with_line(watched, fault, failed)
        if failed:
            if watched.poisoned is not None:
                watched.poisoned.restore()
            return fault
        changed = watched.changed_something()
        for report in self.reports if changed is not None else ():
            report.note(watched.subject, bool(changed))
        return fault or watched.fault_of_output()

    def _with_line(self, watched: WatchedAccess, fault: str, failed: bool) -> str:
        """Return the fault of an access that reads, with the line that wrote if that was noted."""
        record = watched.record
        pages = pages_of(watched.storage.handles.get(HOST)) if record.facet.memory is HOST else None
        if pages is None or watched.loose or record.direction is not INPUT or watched.is_export:
            return fault
        touched = pages.touched
        readers = {access.thread for access in tuple(watched.storage.accesses)}
        if touched is not None and (touched.thread == record.thread
                                    or touched.thread not in readers):
            pages.touched = None
            fault = fault or f"{watched.description} wrote what it promised to only read"
            return f"{fault}; written {touched}"
        return fault or (_refusal(watched, pages) if failed else "")

    def _revoke(self, watched: WatchedAccess) -> None:
        """Detect any later use of the block's value."""
        record = watched.record
        watched.restore()
        text = f"what was given to {watched.description}{watched.origin()}"
        if watched.own is not None:
            if record.facet.device is not None:
                record.facet.device.synchronize()  # queued work still needs it
            revoke(watched.own, f"{text}, is used after its end; what a block is given is valid "
                                "inside of it only", self._note)
        alone = not any(access is not record for access in tuple(watched.storage.accesses))
        if alone and record.where is not None and not internal(record):
            self.relocation.move_away(record, text, self._note_late)

    def _note_late(self, text: str) -> None:
        self.late.append((THREADS.current(), text))

    def _raise_late(self) -> None:
        """Raise errors for uses by this thread after the end of its block, not yet reported."""
        if not self.late:
            return
        thread = THREADS.current()
        with self._lock:
            mine = [item for item in self.late if item[0] == thread]
            self.late[:] = [item for item in self.late if item[0] != thread]
        if mine:
            self._raise("; ".join(text for _, text in mine))

    def _note(self, text: str) -> None:
        for report in self.reports:
            report.faults.append(text)

    def _raise(self, text: str) -> None:
        self._note(text)
        raise DirectionError(text)

    def _on(self, storage: Cube) -> list[WatchedAccess]:
        """Return the open accesses to `storage` that are watched."""
        found = (self._open.get(id(access)) for access in tuple(storage.accesses))
        return [watched for watched in found if watched is not None]

    def _protect(self, storage: Cube, leaving: AccessRecord | None) -> None:
        """Make the host's pages read-only while all accesses to them only read."""
        pages = pages_of(storage.handles.get(HOST))
        if pages is None:
            return
        accesses = [access for access in tuple(storage.accesses) if access is not leaving
                    and access.thread not in (0, ASYNC_COPY)
                    and (access.thread != EXPORTED or id(access) in self._open)]
        here = [access for access in accesses if access.facet.memory is HOST]
        loose = any(watched.loose for watched in self._on(storage)
                    if watched.original is not leaving)
        reads = here and all(access.direction is INPUT for access in accesses) and not loose
        pages.protect(READ_ONLY if reads else READ_WRITE)


def _refusal(watched: WatchedAccess, pages: Pages) -> str:
    """Return the fault of a block whose system call was refused since it wrote protected pages."""
    error = sys.exception()
    if isinstance(error, OSError) and error.errno == errno.EFAULT and pages.allowed == READ_ONLY:
        return (f"{watched.description} had the system write what it promised to only read, which "
                f"the system refused: {error}")
    return ""


CHECK = DirectionCheck()
