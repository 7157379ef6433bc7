"""The direction check: an observer that compares what blocks and operations promised with what they did.

It looks at nothing itself, and what it reads or writes in a memory counts as no copy. What it found is a `DirectionError` at
the end of the block.
"""

from __future__ import annotations

import errno
import sys
import threading
from types import FrameType
from typing import Any

from ..core.access_record import COPYING, LENT, in_operation, line_of, operation_frame
from ..core.cube import INPUT, OUTPUT, Hold, Observer
from ..errors import DirectionError
from ..matrix.mat import Storage
from ..memories.host import HOST
from .protected_pages import OPEN, READ_ONLY, WATCH, empty, pages_of
from .relocation import Houses, lend_own, revoke
from .snapshot import Picture, Poisoned, told, visible

_FOLDER = __file__.rpartition("debug")[0]


class Directions:
    """What a direction check found. ``faults`` lists what it raised, ``too_strong`` the ``io`` blocks that changed nothing.

    ``looks`` counts what was watched, ``blind`` what of that could not be, since its memory could not be read.
    """

    def __init__(self) -> None:
        self.looks = self.blind = 0
        self.faults: list[str] = []
        self._changed: dict[str, bool] = {}  # by what looked for io: whether that ever changed anything
        self._lock = threading.Lock()

    def note(self, what: str, changed: bool) -> None:
        """A look for ``io`` by `what` has ended."""
        with self._lock:
            self._changed[what] = changed or self._changed.get(what, False)

    @property
    def too_strong(self) -> list[str]:
        """The blocks and operations that asked for ``io`` each time and never changed anything: ``input`` would do."""
        return [what for what, changed in self._changed.items() if not changed]

    def __repr__(self) -> str:
        head = f"<direction check: {self.looks} looks, {len(self.faults)} faults"
        head += f", {self.blind} not seen" if self.blind else ""
        weaker = "asked for 'io' and never changed anything; 'input' would do"
        lines = [f"too strong: {what} {weaker}" for what in self.too_strong] + [f"fault: {text}" for text in self.faults]
        return "\n  ".join([head, *lines]) + ">"


class Record:
    """One look that is watched."""

    __slots__ = ("alone", "blind", "hold", "loose", "nested", "operation", "own", "picture", "poisoned", "storage", "value")

    def __init__(self, hold: Hold, alone: bool) -> None:
        self.hold = hold
        self.storage: Any = hold.view.storage  # type: ignore[union-attr]  # an open hold has its view
        self.alone = alone  # when it began
        self.nested = False  # another look wrote meanwhile
        self.loose = False  # and failed, so that the data may be brought back from elsewhere at any time
        self.blind = False  # nothing can be told of it
        self.operation = _operation()
        self.poisoned: Poisoned | None = None
        self.picture: Picture | None = None
        self.value = hold.value, hold.lend
        self.own = lend_own(hold)
        self._take()

    def _take(self) -> None:
        hold, layout = self.hold, self.hold.view.layout  # type: ignore[union-attr]  # likewise
        whole = layout.size == self.storage.size
        if not self.storage.size:
            return
        try:
            if hold.direction is OUTPUT and self.alone and whole:
                self.poisoned = Poisoned(hold)
            elif hold.direction is INPUT or not whole or not self.built_in:
                self.picture = Picture(hold)
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
        return self.hold.describe() + by

    def begun(self) -> str:
        made = line_of(self.storage.made)
        return f"; the Mat was created at {made}" if made else "; the Mat was created before the check"

    def forbidden(self, without: Hold | None) -> Any:
        """Which elements of the storage changed that must not have; not those that other looks may write, but `without`."""
        assert self.picture is not None
        hold, storage = self.hold, self.storage
        changed = self.picture.changed()
        if not changed.any():
            return changed
        writers = [other for other in tuple(storage.looks) if other.direction is not INPUT and other is not without]
        for other in writers:  # self among them, if it writes
            changed &= ~visible(other, storage.size)
        if hold.direction is INPUT and storage.adopted is not None:
            changed &= visible(hold, storage.size)  # what lies between belongs to the user
        elif storage.adopted is not None:
            changed[:] = False
        return changed

    def verify(self, without: Hold | None = None) -> str:
        """What is wrong with it so far, other looks than `without` considered; nothing, if all is well."""
        if self.picture is None:
            return ""
        changed = self.forbidden(without)
        if not changed.any():
            return ""
        layout = self.hold.view.layout  # type: ignore[union-attr]  # likewise
        if self.hold.direction is INPUT:
            return f"{self.who} changed what it promised to only read, {told(changed, layout, self.picture)}"
        return f"{self.who} changed what it does not see, {told(changed, layout, self.picture)}"

    def unwritten(self) -> str:
        """What is wrong with it at its end, if it was to overwrite everything."""
        left = self.poisoned.left() if self.poisoned is not None else None
        if left is None or not left.any():
            return ""
        layout = self.hold.view.layout  # type: ignore[union-attr]  # likewise
        return f"{self.who} promised to overwrite everything and left as it was {told(left, layout)}"

    def follow(self, other: Hold, failed: bool) -> None:
        """The look `other` has ended, which wrote what it sees, or what it must not."""
        if failed:
            self.loose, self.picture = True, None
        elif self.picture is not None:
            self.picture.renew(visible(other, self.storage.size))

    def restore(self) -> None:
        """`hold` presents again what it did."""
        self.hold.value, self.hold.lend = self.value


class Check(Observer):
    """What watches, for as many `Directions` as want to know."""

    def __init__(self) -> None:
        self.reports: list[Directions] = []
        self.houses = Houses()
        self.late: list[tuple[int, str]] = []  # uses after the end: thread, text
        self._open: dict[int, Record] = {}
        self._lock = threading.RLock()

    # Beginning and ending

    def begin(self, report: Directions) -> None:
        """Watch, for `report` too."""
        with self._lock:
            self.reports.append(report)
            if len(self.reports) == 1:
                HOST.room = empty  # of this instance: deleted below
                WATCH.begin()

    def end(self, report: Directions) -> list[str]:
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
        for record in tuple(self._open.values()):
            record.restore()
            pages = pages_of(record.storage.handles.get(HOST))
            if pages is not None:
                pages.protect(OPEN)
        self._open.clear()
        self.houses.clear()
        WATCH.end()

    # Looks

    def entered(self, hold: Hold) -> None:
        storage: Any = hold.view.storage  # type: ignore[union-attr]  # likewise
        self._raise_late()
        if not isinstance(storage, Storage):
            return
        with storage.lock:
            alone = not any(look is not hold for look in tuple(storage.looks))
            if alone:
                self.houses.move_in(hold)
            if hold.direction is not INPUT:
                self._before_writing(hold)
            record = self._open[id(hold)] = Record(hold, alone)
            self._protect(storage, None)
        for report in self.reports:
            report.looks += 1
            report.blind += record.blind

    def _before_writing(self, hold: Hold) -> None:
        """Settle what was done until now in other looks, before `hold` may write."""
        for record in self._on(hold.view.storage):  # type: ignore[union-attr]  # likewise
            fault = self._with_line(record, record.verify(hold), False)
            record.nested = True
            if fault:
                record.follow(hold, False)
                self._raise(fault + record.begun())

    def left(self, hold: Hold, failed: bool) -> None:
        record = self._open.pop(id(hold), None)
        if record is None:
            return
        storage = record.storage
        with storage.lock:
            fault = self._settle(record, failed)
            if hold.direction is not INPUT or fault:
                for other in self._on(storage):
                    other.follow(hold, failed or fault != "")
            self._take_back(record)
            self._protect(storage, hold)
        if fault:
            self._raise(fault + record.begun())

    def _settle(self, record: Record, failed: bool) -> str:
        """What is wrong with a look at its end."""
        hold = record.hold
        fault = record.verify()
        if hold.direction is INPUT:
            return self._with_line(record, fault, failed)
        if failed:
            if record.poisoned is not None:
                record.poisoned.restore()
            return fault
        self._judge(record)
        return fault or record.unwritten()

    def _judge(self, record: Record) -> None:
        """Note whether a look for ``io`` of the user's changed anything."""
        hold, picture = record.hold, record.picture
        if hold.direction is OUTPUT or picture is None or record.built_in:
            return
        if record.operation is None and _internal(hold):
            return
        size = record.storage.size
        changed = record.nested or bool((picture.changed() & visible(hold, size)).any())
        what = hold.describe() if record.operation is None else f"operation {record.operation.__name__}"
        for report in self.reports:
            report.note(what, changed)

    def _with_line(self, record: Record, fault: str, failed: bool) -> str:
        """The same of a look that only reads, with the line that wrote, where the system noticed it."""
        hold = record.hold
        pages = pages_of(record.storage.handles.get(HOST)) if hold.facet.memory is HOST else None
        if pages is None or record.loose or hold.direction is not INPUT:
            return fault
        touched, readers = pages.touched, {look.thread for look in tuple(record.storage.looks)}
        if touched is not None and (touched.thread == hold.thread or touched.thread not in readers):
            pages.touched = None
            return (fault or f"{record.who} wrote what it promised to only read") + f"; written {touched}"
        error = sys.exception() if failed else None
        if isinstance(error, OSError) and error.errno == errno.EFAULT and pages.allowed == READ_ONLY:
            return fault or f"{record.who} had the system write what it promised to only read, which that refused: {error}"
        return fault

    def _take_back(self, record: Record) -> None:
        """What a block was given is valid inside of it only."""
        hold = record.hold
        record.restore()
        text = f"what was given to {record.who}{record.begun()}"
        if record.own is not None:
            if hold.facet.device is not None:
                hold.facet.device.synchronize()  # what was queued still needs it
            revoke(record.own, f"{text}, is used after its end; what a block is given is valid inside of it only", self._note)
        alone = not any(look is not hold for look in tuple(record.storage.looks))
        if alone and hold.where is not None and not _internal(hold):
            self.houses.move_out(hold, text, self._noticed)

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

    def _on(self, storage: Any) -> list[Record]:
        """The open looks at `storage`, as far as they are watched."""
        found = (self._open.get(id(look)) for look in tuple(storage.looks))
        return [record for record in found if record is not None]

    def _protect(self, storage: Any, leaving: Hold | None) -> None:
        """While all who look at the host only read, have its pages refuse to be written."""
        pages = pages_of(storage.handles.get(HOST))
        if pages is None:
            return
        looks = [look for look in tuple(storage.looks) if look is not leaving and look.thread not in (0, COPYING, LENT)]
        here = [look for look in looks if look.facet.memory is HOST]
        reads = here and all(look.direction is INPUT for look in looks) and not any(r.loose for r in self._on(storage))
        pages.protect(READ_ONLY if reads else OPEN)


CHECK = Check()


def _operation() -> Any:
    """The operation that this thread carries out, None if a block looks."""
    if not in_operation():
        return None
    frame: FrameType | None = operation_frame(sys._getframe(1))
    return None if frame is None else getattr(frame.f_locals.get("self"), "op", None)


def _internal(hold: Hold) -> bool:
    """Whether the block is one of this package."""
    return hold.where is not None and hold.where[0].co_filename.startswith(_FOLDER)
