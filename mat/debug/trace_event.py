"""`TraceEvent`: one event of a trace, as it is kept, printed and drawn."""

from __future__ import annotations

from typing import NamedTuple


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
