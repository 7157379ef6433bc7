"""Operands that a device reads in host memory, since a copy would not pay.

A copy of a large operand in a full memory evicts others. If these are used again before this one
is, as in a loop over operands that have no room together, each turn copies all of them, and no copy
is used twice. So such an operand stays where it is, and so do the others on the device.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from ..core.registry import CubeLike, host
from ..devices.device import Device
from ..layout.shapes import Ints
from ..matrix.mat import Mat
from ..memories.pooled import CLOCK
from ..support.fork import renew_after_fork
from ..support.types import Operand
from .calls import LARGE

MOST_VIEWS = 1024  # of one storage of which the last uses are known


class HostRead(NamedTuple):
    """Why a view is read in host memory.

    Attributes
    ----------
    view : Mat
        The view.
    nbytes : int
        The bytes that a copy would have.
    evicted : CubeLike or None
        The largest of what the copy would evict; None if there is no room for it at all.
    """

    view: Mat
    nbytes: int
    evicted: CubeLike | None


# An operand that an operation reads once stays in host memory if it is fresh there, and not on the
# device, was read on the device before, and most of the room for its copy would be taken from
# copies that were used since then. What is not used any more gives way: the next time, this operand
# is the one that was used last.


class LastUses:
    """When large views were last read on devices: the ticks of `CLOCK`."""

    def __init__(self) -> None:
        self._ticks: WeakKeyDictionary[CubeLike, dict[Ints, int]] = WeakKeyDictionary()
        self._lock = threading.RLock()  # a handler of signals may come in between
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Make a new lock in a forked child."""
        self._lock = threading.RLock()

    def last(self, device: Device, view: Mat) -> int | None:
        """Return when a view was last read on a device; None if it was not."""
        with self._lock:
            return self._ticks.get(view.storage, {}).get((device.memory.bit, *view.layout.bounds))

    def note(self, device: Device, view: Mat) -> int | None:
        """Record a read of a view on a device now; return the time of the previous one."""
        key = device.memory.bit, *view.layout.bounds
        with self._lock:
            ticks = self._ticks.setdefault(view.storage, {})
            before = ticks.pop(key, None)  # the last one comes last
            ticks[key] = next(CLOCK)
            if len(ticks) > MOST_VIEWS:
                del ticks[next(iter(ticks))]
        return before


USES = LastUses()


def missing_bytes(device: Device, views: Iterable[Operand]) -> int:
    """Return the bytes of those views that are not on a device."""
    memory = device.memory
    return span(x for x in views if isinstance(x, Mat) and not x.storage.is_fresh(memory, x))


def span(views: Iterable[Operand]) -> int:
    """Return the sum of the bytes from the first element of each view to its last."""
    nbytes = 0
    for x in views:
        if isinstance(x, Mat):
            low, high = x.layout.bounds
            nbytes += (high - low) * x.element_size
    return nbytes


def pays_to_stay(device: Device, view: Mat, before: int | None,
                 missing: int | None) -> HostRead | None:
    """Return why a view that an operation reads once stays in host memory; None if it does not.

    It was last read at the tick `before`. `missing` are the bytes of all operands that are not on
    the device; None if the limit of the device has no room for all operands together.
    """
    storage, nbytes = view.storage, span((view,))
    if (before is None or nbytes < LARGE or storage.writer is not None
            or is_in_one_copy(device, view) or not storage.is_fresh(host(), view)):
        return None
    handle = storage.handles.get(host())  # another thread may have dropped it just now
    if handle is None or not device.can_read(handle):
        return None
    if missing is None:
        return HostRead(view, nbytes, None)
    recent = [(size, cube) for size, tick, cube in device.memory.victims(missing) if tick > before]
    if 2 * sum(size for size, _ in recent) < nbytes:
        return None
    return HostRead(view, nbytes, max(recent, key=lambda found: found[0])[1])


def is_in_one_copy(device: Device, view: Mat) -> bool:
    """Return whether one copy on a device has all of a view, so that no parts are to be joined."""
    storage, memory = view.storage, device.memory
    spans = storage.spans
    if spans is None:
        return bool(storage.is_fresh(memory, view))
    runs = view._touched()
    return any(c.memory is memory and c.fresh.covers(runs) for c in tuple(spans.copies))


def to_copy(device: Device, once: Sequence[CubeLike], reads: Sequence[Mat],
            writes: Sequence[Mat]) -> tuple[Mat, ...]:
    """Return the views that a tile reads, without those that it will read in host memory; note that
    the others are read. `once` are the storages of operands that are read once.
    """
    if not once:
        return tuple(reads)
    missing = missing_bytes(device, {id(x): x for x in (*reads, *writes)}.values())
    stay = {id(x) for x in not_written(reads, writes)
            if x.storage in once
            and pays_to_stay(device, x, USES.last(device, x), missing) is not None}
    found = tuple(x for x in reads if id(x) not in stay)
    for view in found:
        USES.note(device, view)
    return found


def not_written(reads: Sequence[Mat], writes: Sequence[Mat]) -> list[Mat]:
    """Return the views that are read of storages that are not written."""
    written = [x.storage for x in writes]
    return [x for x in reads if x.storage not in written]
