"""Traced events as a file for a trace viewer: JSON in the Trace Event Format."""

from __future__ import annotations

import os
from collections.abc import Sequence

from .timeline import lane_of, lanes
from .trace_event import TraceEvent


def bytes_over_time(events: Sequence[TraceEvent]) -> list[tuple[float, str, int]]:
    """Return times, memories and the bytes allocated there from then on, of what was traced."""
    allocated: dict[str, int] = {}
    found = []
    for event in events:
        change = {"allocation": event.nbytes, "free": -event.nbytes}.get(event.kind)
        if change is not None:
            memory = event.target or event.source
            allocated[memory] = allocated.get(memory, 0) + change
            found.append((event.at, memory, allocated[memory]))
    return found


def chrome(events: Sequence[TraceEvent], begun: float) -> dict[str, object]:
    """Return events in the Trace Event Format: one lane for each memory, and a counter of bytes.

    The trace began at the time `begun`, in seconds.
    """
    order, process = {name: k for k, name in enumerate(lanes(events))}, os.getpid()
    entries: list[dict[str, object]] = [
        {"ph": "M", "pid": process, "name": "process_name", "args": {"name": f"mat, {process}"}}]
    entries += [{"ph": "M", "pid": process, "tid": k, "name": "thread_name", "args": {"name": name}}
                for name, k in order.items()]
    entries += [{"ph": "X", "pid": process, "tid": order[lane_of(e)], "name": f"{e.kind} {e.mat}",
                 "cat": e.kind, "ts": (begun + e.at) * 1e6, "dur": e.seconds * 1e6,
                 "args": dict(e._asdict())}
                for e in events]
    entries += [{"ph": "C", "pid": process, "name": f"bytes in {memory}", "ts": (begun + at) * 1e6,
                 "args": {"bytes": nbytes}}
                for at, memory, nbytes in bytes_over_time(events)]
    return {"traceEvents": entries, "displayTimeUnit": "ms"}
