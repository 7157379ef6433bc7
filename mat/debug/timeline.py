"""Timelines of traced events: JSON for a trace viewer, and a page of HTML that needs no network."""

from __future__ import annotations

import html
import os
from collections.abc import Sequence

from .trace_event import TraceEvent

WIDTH, LANE, LEFT, RIGHT = 1200, 36, 150, 40  # in the units of the drawing
COLOURS = {"copy": "#3b6ea5", "pack": "#8a6fb0", "allocation": "#5a9a5a", "free": "#b0b0b0",
           "eviction": "#c0504d", "host read": "#2e8f8a", "fallback": "#d08a2e",
           "operation": "#5f7f8f"}
MAIN = "MainThread"  # Python's name
WIDE = ("copy", "operation")  # events that take time
PAGE = ":root{color-scheme:light dark}body{font:14px system-ui,sans-serif;margin:1.5em}"
# of nothing but the trace, since a notebook has other things on its page; colours are the page's
STYLE = (".mat-trace pre{background:rgba(127,127,127,.12);padding:1em;overflow:auto}"
         ".mat-trace svg{width:100%;height:auto}"
         ".mat-trace svg text{font:12px system-ui,sans-serif;fill:currentColor}"
         ".mat-trace svg line{stroke:currentColor;stroke-opacity:.25}"
         ".mat-trace .key span{display:inline-block;margin-right:1em}"
         ".mat-trace .key i{display:inline-block;width:.8em;height:.8em;margin-right:.3em}")


def lane_of(event: TraceEvent) -> str:
    """Return the memory in whose lane an event is drawn: its target, or else its source.

    Operations have lanes of their own, one for each thread.
    """
    if event.kind == "operation":
        thread = "" if event.thread == MAIN else f" of {event.thread}"
        return f"{event.source}, operations{thread}"
    return event.target or event.source or "packs"


def lanes(events: Sequence[TraceEvent]) -> list[str]:
    """Return the lanes in the order of their first events."""
    return list(dict.fromkeys(lane_of(e) for e in events))


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


def page(events: Sequence[TraceEvent], summary: str, *, whole: bool = True) -> str:
    """Return the timeline as HTML: the table, and a drawing with details under the pointer.

    With `whole` False it is a part of a page, for a notebook.
    """
    key = "".join(f'<span><i style="background:{colour}"></i>{kind}</span>'
                  for kind, colour in COLOURS.items())
    body = (f'<div class="mat-trace"><pre>{html.escape(summary)}</pre><p class="key">{key}</p>'
            f"{_drawing(events)}</div>")
    if not whole:
        return f"<style>{STYLE}</style>{body}"
    return ('<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>mat: where data '
            'went</title>'
            f"<style>{PAGE}{STYLE}</style></head>"
            f"<body><h1>Where data went</h1>{body}</body></html>")


def _drawing(events: Sequence[TraceEvent]) -> str:
    names = lanes(events)
    first = min((e.at for e in events), default=0.0)
    span = max((e.at + e.seconds for e in events), default=first) - first or 1e-6
    scale = (WIDTH - LEFT - RIGHT) / span
    height = LANE * len(names) + 30
    parts = [f'<text x="0" y="{LANE * k + 20}">{html.escape(name)}</text>'
             f'<line x1="{LEFT}" x2="{WIDTH}" y1="{LANE * (k + 1)}" y2="{LANE * (k + 1)}"/>'
             for k, name in enumerate(names)]
    parts += [_bar(e, LANE * names.index(lane_of(e)), first, scale) for e in events]
    parts += [f'<text x="{LEFT + f * (WIDTH - LEFT - RIGHT):.0f}" text-anchor="middle" '
              f'y="{height - 6}">{1e3 * (first + span * f):.3f} ms</text>'
              for f in (0, 0.25, 0.5, 0.75, 1)]
    return (f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="timeline">'
            f'{"".join(parts)}</svg>')


def _bar(event: TraceEvent, top: int, first: float, scale: float) -> str:
    """Draw what takes time in the upper part of its lane, any other event as a mark below."""
    x, width = LEFT + (event.at - first) * scale, max(event.seconds * scale, 2.0)
    y, height = (top + 4, 18) if event.kind in WIDE else (top + 25, 8)
    details = _of_operation(event) if event.kind == "operation" else _of_data(event)
    return (f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}" '
            f'fill="{COLOURS[event.kind]}">'
            f"<title>{html.escape(details)}</title></rect>")


def _of_data(event: TraceEvent) -> str:
    locked = ", page-locked" if event.page_locked else ""
    return (f"{event.kind} {event.mat}\n{event.source or '-'} to {event.target or '-'}, "
            f"{event.nbytes:,} bytes, {1e6 * event.seconds:.1f} us{locked}\n"
            f"caused by {event.line}{event.reason and ', since '}{event.reason}\n"
            f"written by {event.dirtied or '(before the trace)'}")


def _of_operation(event: TraceEvent) -> str:
    return f"{event.mat} in {event.source}, {1e6 * event.seconds:.1f} us\ncalled by {event.line}"
