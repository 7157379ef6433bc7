"""The direction check: an observer that compares what blocks and operations promised with what they
did.

It looks at nothing itself, and what it reads or writes in a memory counts as no copy. What it found
is a `DirectionError` at the end of the block.
"""

from __future__ import annotations

import errno
import sys
import threading
from types import FrameType
from typing import Any

from ..core.access_record import ASYNC_COPY, EXPORTED, in_operation, line_of, operation_frame
from ..core.cube import INPUT, OUTPUT, AccessRecord, Observer
from ..errors import DirectionError
from ..matrix.mat import Storage
from ..memories.host import HOST
from .protected_pages import OPEN, READ_ONLY, WATCH, empty, pages_of
from .relocation import Relocation, lend_own, revoke
from .snapshot import PoisonedOutput, Snapshot, told, visible

_FOLDER = __file__.rpartition("debug")[0]


class DirectionReport:
    """What a direction check found. ``faults`` lists what it raised, ``too_strong`` the ``io``
    blocks that changed nothing.

    ``accesses`` counts what was watched, ``blind`` what of that could not be, since its memory
    could not be read.
    """

    def __init__(self) -> None:
        self.accesses = self.blind = 0
        self.faults: list[str] = []
        # by what looked for io: whether that ever changed anything
        self._changed: dict[str, bool] = {}
        self._lock = threading.Lock()

    def note(self, what: str, changed: bool) -> None:
        """A look for ``io`` by `what` has ended."""
        with self._lock:
            self._changed[what] = changed or self._changed.get(what, False)

    @property
    def too_strong(self) -> list[str]:
        """The blocks and operations that asked for ``io`` each time and never changed anything:
        ``input`` would do.
        """
        return [what for what, changed in self._changed.items() if not changed]

    def __repr__(self) -> str:
        head = f"<direction check: {self.accesses} accesses, {len(self.faults)} faults"
        head += f", {self.blind} not seen" if self.blind else ""
        weaker = "asked for 'io' and never changed anything; 'input' would do"
        lines = [f"too strong: {what} {weaker}"
                 for what in self.too_strong] + [f"fault: {text}" for text in self.faults]
        return "\n  ".join([head, *lines]) + ">"


class WatchedAccess:
    """One look that is watched."""

    __slots__ = (
        "alone",
        "blind",
        "loose",
        "nested",
        "operation",
        "own",
        "poisoned",
        "record",
        "snapshot",
        "storage",
        "value",
    )

    def __init__(self, record: AccessRecord, alone: bool) -> None:
        self.record = record
        # an open hold has its view
        self.storage: Any = record.view.storage  # type: ignore[union-attr]
        self.alone = alone  # when it began
        self.nested = False  # another look wrote meanwhile
        # and failed, so that the data may be brought back from elsewhere at any time
        self.loose = False
        self.blind = False  # nothing can be told of it
        self.operation = _operation()
        self.poisoned: PoisonedOutput | None = None
        self.snapshot: Snapshot | None = None
        self.value = record.value, record.make_value
        self.own = lend_own(record)
        self._take()

    def _take(self) -> None:
        # likewise
        record, layout = self.record, self.record.view.layout  # type: ignore[union-attr]
        whole = layout.size == self.storage.size
        if not self.storage.size:
            return
        try:
            if record.direction is OUTPUT and self.alone and whole:
                self.poisoned = PoisonedOutput(record)
            elif record.direction is INPUT or not whole or not self.built_in:
                self.snapshot = Snapshot(record)
        except Exception:  # a memory that cannot be read just now, or at all
            self.blind = True

    @property
    def built_in(self) -> bool:
        """Whether it serves an operation of this package."""
        return self.operation is not None and self.operation.__module__.startswith("mat.")

    @property
    def who(self) -> str:
        """What looks, in words."""
        by = "" if self.operation is None else f" by operation {self.operation.__name__}"
        return self.record.describe() + by

    def begun(self) -> str:
        made = line_of(self.storage.made)
        return f"; the Mat was created at {made}" if made else "; the Mat was created before the check"

    def forbidden(self, without: AccessRecord | None) -> Any:
        """Which elements of the storage changed that must not have; not those that other looks may
        write, but `without`.
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
        if record.direction is INPUT and storage.adopted is not None:
            changed &= visible(record, storage.size)  # what lies between belongs to the user
        elif storage.adopted is not None:
            changed[:] = False
        return changed

    def verify(self, without: AccessRecord | None = None) -> str:
        """What is wrong with it so far, other looks than `without` considered; nothing, if all is
        well.
        """
        if self.snapshot is None:
            return ""
        changed = self.forbidden(without)
        if not changed.any():
            return ""
        layout = self.record.view.layout  # type: ignore[union-attr]  # likewise
        if self.record.direction is INPUT:
            return f"{self.who} changed what it promised to only read, {told(changed, layout, self.snapshot)}"
        return f"{self.who} changed what it does not see, {told(changed, layout, self.snapshot)}"

    def unwritten(self) -> str:
        """What is wrong with it at its end, if it was to overwrite everything."""
        left = self.poisoned.left() if self.poisoned is not None else None
        if left is None or not left.any():
            return ""
        layout = self.record.view.layout  # type: ignore[union-attr]  # likewise
        return f"{self.who} promised to overwrite everything and left as it was {told(left, layout)}"

    def follow(self, other: AccessRecord, failed: bool) -> None:
        """The look `other` has ended, which wrote what it sees, or what it must not."""
        if failed:
            self.loose, self.snapshot = True, None
        elif self.snapshot is not None:
            self.snapshot.renew(visible(other, self.storage.size))

    def restore(self) -> None:
        """`record` presents again what it did."""
        self.record.value, self.record.make_value = self.value


class DirectionCheck(Observer):
    """What watches, for as many `DirectionReport` as want to know."""

    def __init__(self) -> None:
        self.reports: list[DirectionReport] = []
        self.houses = Relocation()
        self.late: list[tuple[int, str]] = []  # uses after the end: thread, text
        self._open: dict[int, WatchedAccess] = {}
        self._lock = threading.RLock()

    # Beginning and ending

    def begin(self, report: DirectionReport) -> None:
        """Watch, for `report` too."""
        with self._lock:
            self.reports.append(report)
            if len(self.reports) == 1:
                HOST.room = empty  # of this instance: deleted below
                WATCH.begin()

    def end(self, report: DirectionReport) -> list[str]:
        """Stop; give what is still to be told."""
        with self._lock:
            untold = [text for _, text in self.late]
            self.late.clear()
            report.faults += untold
            self.reports = [r for r in self.reports if r is not report]
            if not self.reports:
                del HOST.room
                self._let_go()
        return untold

    def _let_go(self) -> None:
        for watched in tuple(self._open.values()):
            watched.restore()
            pages = pages_of(watched.storage.handles.get(HOST))
            if pages is not None:
                pages.protect(OPEN)
        self._open.clear()
        self.houses.clear()
        WATCH.end()

    # Looks

    def entered(self, record: AccessRecord) -> None:
        storage: Any = record.view.storage  # type: ignore[union-attr]  # likewise
        self._raise_late()
        if not isinstance(storage, Storage):
            return
        with storage.lock:
            alone = not any(access is not record for access in tuple(storage.accesses))
            if alone:
                self.houses.relocate(record)
            if record.direction is not INPUT:
                self._before_writing(record)
            watched = self._open[id(record)] = WatchedAccess(record, alone)
            self._protect(storage, None)
        for report in self.reports:
            report.accesses += 1
            report.blind += watched.blind

    def _before_writing(self, record: AccessRecord) -> None:
        """Settle what was done until now in other looks, before `record` may write."""
        for watched in self._on(record.view.storage):  # type: ignore[union-attr]  # likewise
            fault = self._with_line(watched, watched.verify(record), False)
            watched.nested = True
            if fault:
                watched.follow(record, False)
                self._raise(fault + watched.begun())

    def left(self, record: AccessRecord, failed: bool) -> None:
        watched = self._open.pop(id(record), None)
        if watched is None:
            return
        storage = watched.storage
        with storage.lock:
            fault = self._settle(watched, failed)
            if record.direction is not INPUT or fault:
                for other in self._on(storage):
                    other.follow(record, failed or fault != "")
            self._take_back(watched)
            self._protect(storage, record)
        if fault:
            self._raise(fault + watched.begun())

    def _settle(self, watched: WatchedAccess, failed: bool) -> str:
        """What is wrong with a look at its end."""
        record = watched.record
        fault = watched.verify()
        if record.direction is INPUT:
            return self._with_line(watched, fault, failed)
        if failed:
            if watched.poisoned is not None:
                watched.poisoned.restore()
            return fault
        self._judge(watched)
        return fault or watched.unwritten()

    def _judge(self, watched: WatchedAccess) -> None:
        """Note whether a look for ``io`` of the user's changed anything."""
        record, snapshot = watched.record, watched.snapshot
        if record.direction is OUTPUT or snapshot is None or watched.built_in:
            return
        if watched.operation is None and _internal(record):
            return
        size = watched.storage.size
        changed = watched.nested or bool((snapshot.changed() & visible(record, size)).any())
        what = record.describe() if watched.operation is None else f"operation {watched.operation.__name__}"
        for report in self.reports:
            report.note(what, changed)

    def _with_line(self, watched: WatchedAccess, fault: str, failed: bool) -> str:
        """The same of a look that only reads, with the line that wrote, where the system noticed
        it.
        """
        record = watched.record
        pages = pages_of(watched.storage.handles.get(HOST)) if record.facet.memory is HOST else None
        if pages is None or watched.loose or record.direction is not INPUT:
            return fault
        touched, readers = pages.touched, {access.thread
                                           for access in tuple(watched.storage.accesses)}
        if touched is not None and (touched.thread == record.thread
                                    or touched.thread not in readers):
            pages.touched = None
            return (fault
                    or f"{watched.who} wrote what it promised to only read") + f"; written {touched}"
        error = sys.exception() if failed else None
        if isinstance(error,
                      OSError) and error.errno == errno.EFAULT and pages.allowed == READ_ONLY:
            return fault or f"{watched.who} had the system write what it promised to only read, which that refused: {error}"
        return fault

    def _take_back(self, watched: WatchedAccess) -> None:
        """What a block was given is valid inside of it only."""
        record = watched.record
        watched.restore()
        text = f"what was given to {watched.who}{watched.begun()}"
        if watched.own is not None:
            if record.facet.device is not None:
                record.facet.device.synchronize()  # what was queued still needs it
            revoke(watched.own, f"{text}, is used after its end; what a block is given is valid "
                                "inside of it only", self._note)
        alone = not any(access is not record for access in tuple(watched.storage.accesses))
        if alone and record.where is not None and not _internal(record):
            self.houses.restore_all(record, text, self._noticed)

    def _noticed(self, text: str) -> None:
        self.late.append((threading.get_ident(), text))

    def _raise_late(self) -> None:
        """Say now what this thread used after the end of its block."""
        if not self.late:
            return
        thread = threading.get_ident()
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

    def _on(self, storage: Any) -> list[WatchedAccess]:
        """The open looks at `storage`, as far as they are watched."""
        found = (self._open.get(id(access)) for access in tuple(storage.accesses))
        return [watched for watched in found if watched is not None]

    def _protect(self, storage: Any, leaving: AccessRecord | None) -> None:
        """While all who look at the host only read, have its pages refuse to be written."""
        pages = pages_of(storage.handles.get(HOST))
        if pages is None:
            return
        accesses = [access for access in tuple(storage.accesses) if access is not leaving
                    and access.thread not in (0, ASYNC_COPY, EXPORTED)]
        here = [access for access in accesses if access.facet.memory is HOST]
        reads = here and all(access.direction is INPUT
                             for access in accesses) and not any(r.loose for r in self._on(storage))
        pages.protect(READ_ONLY if reads else OPEN)


CHECK = DirectionCheck()


def _operation() -> Any:
    """The operation that this thread carries out, None if a block looks."""
    if not in_operation():
        return None
    frame: FrameType | None = operation_frame(sys._getframe(1))
    return None if frame is None else getattr(frame.f_locals.get("self"), "op", None)


def _internal(record: AccessRecord) -> bool:
    """Whether the block is one of this package."""
    return record.where is not None and record.where[0].co_filename.startswith(_FOLDER)
