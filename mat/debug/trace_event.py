"""`TraceEvent`: one event of a trace, as it is kept, printed and drawn, and its lane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

IN_THREADS = ("operation", "pack", "fallback")  # events that are drawn among a thread's
LANES = 1 << 30  # the numbers of lanes of memories begin here; systems have no such threads


class TraceEvent(NamedTuple):
    """Something that happened to the data of a Mat.

    Attributes
    ----------
    kind : str
        "copy", "pack", "allocation", "free", "eviction", "fallback" or "operation".
    mat : str
        The label of a Mat that sees the data; of a fallback or an operation, its name,
        and the number of the tile if the operation was cut.
    source, target : str
        The names of the memories from which and to which data was copied, or where memory was freed
        or allocated; of an operation, `source` is the memory of its operands.
    nbytes : int
        The bytes of the storage, or of the packed operand.
    at, seconds : float
        The time since the beginning of the trace, and the duration, in seconds.
    page_locked : bool
        True if the host's pages were locked, so that the copy needed no staging.
    line : str
        The user's line that caused it.
    dirtied : str
        The line that made the source the only fresh copy; empty if that was before the trace.
    created : str
        The line that created the Mat; empty if that was before the trace.
    storage : int
        A number that is the same for all Mats of one storage; -1 for a fallback or an operation.
    thread : str
        The name of the thread in which it happened.
    thread_id, process : int
        The numbers that the system gives this thread and its process.
    reason : str
        Of a fallback, what the device lacks; empty if it has no implementation for these operands.
    cut : str
        The operation in a tile of which it happened; empty if it was not cut.
    tile : int
        The number of that tile, from 1 on; 0 if there is none.
    origin : str
        The label of the Mat whose data it is: of an operand of which a part was packed for a tile,
        that operand.
    """

    kind: str
    mat: str
    source: str
    target: str
    nbytes: int
    at: float
    seconds: float
    page_locked: bool
    line: str
    dirtied: str
    created: str
    storage: int
    thread: str
    thread_id: int
    process: int
    reason: str = ""
    cut: str = ""
    tile: int = 0
    origin: str = ""

    @property
    def title(self) -> str:
        """The event in a few words."""
        return self.mat if self.kind == "operation" else f"{self.kind} {self.mat}"


class Lane(NamedTuple):
    """A line of a drawing: of a thread, whose number is the system's, or of a memory."""

    number: int
    name: str


def lanes_of(events: Sequence[TraceEvent]) -> list[Lane]:
    """Return each event's lane.

    Copies to one memory that overlap, which several threads make, are in several lanes, since
    events of one lane may only enclose each other.
    """
    found: list[tuple[str, int] | None] = []
    busy: dict[tuple[int, str], list[float]] = {}  # the ends of the last events of a memory's lanes
    for event in events:
        memory, row = event.target or event.source, 0
        if event.seconds and event.kind not in IN_THREADS:
            ends = busy.setdefault((event.process, memory), [])
            row = next((k for k, end in enumerate(ends) if end <= event.at), len(ends))
            ends[row:row + 1] = [event.at + event.seconds]
        found.append(None if event.kind in IN_THREADS else (memory, row))
    order = sorted({lane for lane in found if lane is not None})
    named = {lane: Lane(LANES + k, f"{lane[0]} ({lane[1] + 1})" if lane[1] else lane[0])
             for k, lane in enumerate(order)}
    return [named[lane] if lane is not None else Lane(event.thread_id, event.thread)
            for event, lane in zip(events, found, strict=True)]
