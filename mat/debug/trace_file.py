"""Traced events, as they are kept and printed, and as a file for Perfetto and other viewers (JSON
in the Trace Event Format) or timelines in HTML that needs no network.

Threads have the numbers that the system gives them, and the file says which Unix time its times
are, so that it can be laid over the file of another profiler.
"""

from __future__ import annotations

import gzip
import html
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from ..errors import FormatError
from ..support.formatting import html_page

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


Entry: TypeAlias = dict[str, Any]
File: TypeAlias = dict[str, Any]
NEAR = 10e6  # microseconds between the events of two files of one run, if they do not overlap
BASE = "baseTimeNanoseconds"  # what is added to times for those since 1970, as torch names it


def bytes_over_time(events: Sequence[TraceEvent]) -> list[tuple[TraceEvent, str, int]]:
    """Return events, memories and the bytes allocated there, over the time of the trace."""
    allocated: dict[tuple[int, str], int] = {}
    found = []
    for event in events:
        change = {"allocation": event.nbytes, "free": -event.nbytes}.get(event.kind)
        if change is not None:
            memory = event.target or event.source
            of = event.process, memory
            allocated[of] = allocated.get(of, 0) + change
            found.append((event, memory, allocated[of]))
    return found


def chrome(events: Sequence[TraceEvent], begun: float) -> File:
    """Return events in the Trace Event Format: a lane for each thread and each memory, and counters
    of bytes.

    The events are sorted by their time; the trace began at the time `begun`, in seconds.
    """
    lanes = lanes_of(events)
    entries = list(_names(events, lanes))
    entries += [_entry(e, begun, lane.number) for e, lane in zip(events, lanes, strict=True)]
    entries += [{"ph": "C", "pid": event.process, "name": memory,
                 "ts": (begun + event.at) * 1e6, "args": {"bytes": nbytes}}
                for event, memory, nbytes in bytes_over_time(events)]
    return {"traceEvents": entries, "displayTimeUnit": "ns",
            BASE: time.time_ns() - time.perf_counter_ns(),
            "otherData": {"clock": time.get_clock_info("perf_counter").implementation}}


def _names(events: Sequence[TraceEvent], lanes: Sequence[Lane]) -> Iterator[Entry]:
    """Yield the names of processes, threads and lanes; lanes of memories stand below threads."""
    for process in dict.fromkeys(e.process for e in events):
        yield {"ph": "M", "pid": process, "name": "process_name", "args": {"name": "mat"}}
        used = {lane for e, lane in zip(events, lanes, strict=True) if e.process == process}
        for number, name in sorted(used):
            for kind, value in (("name", name), ("sort_index", number)):
                yield {"ph": "M", "pid": process, "tid": number, "name": f"thread_{kind}",
                       "args": {kind: value}}


def _entry(event: TraceEvent, begun: float, lane: int) -> Entry:
    """Return an event that takes time as a bar, and any other as an instant."""
    common = {"pid": event.process, "tid": lane, "name": event.title, "cat": event.kind,
              "ts": (begun + event.at) * 1e6, "args": dict(event._asdict())}
    if event.seconds:
        return {"ph": "X", **common, "dur": event.seconds * 1e6}
    return {"ph": "i", **common, "s": "t"}


# Files of other profilers


def laid_over(theirs: File | list[Entry], ours: File) -> File:
    """Return a profiler's file with the events of ours at the times that they have there.

    Raises
    ------
    FormatError
        If it is not known which clock the profiler used: its file does not say how its times become
        Unix times, and they do not overlap with ours.
    """
    whole: File = {"traceEvents": theirs} if isinstance(theirs, list) else theirs
    try:
        entries: list[Entry] = whole["traceEvents"]
        there = {_same(e) for e in entries}
        shift = _shift(whole, ours)
    except FormatError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError) as wrong:
        raise FormatError("not a file in the Trace Event Format, which has a list `traceEvents` "
                          f"with times `ts` in microseconds: {wrong!r}") from wrong
    moved = [{**e, "ts": e["ts"] + shift} if "ts" in e else e for e in ours["traceEvents"]]
    return {**whole, "traceEvents": [*entries, *(e for e in moved if _same(e) not in there)]}


def _same(entry: Entry) -> tuple[object, ...]:
    """Return a key that equal entries share, of two processes, too, and names of one."""
    if entry["ph"] != "M":
        return entry["ph"], entry["name"], entry.get("pid"), entry.get("tid"), entry["ts"]
    of_process = entry["name"].startswith("process_")
    return entry["name"], entry.get("pid"), None if of_process else entry.get("tid")


def _shift(theirs: File, ours: File) -> float:
    """Return the offset, in microseconds, that converts the other file's times to ours."""
    if theirs.get("otherData", {}).get("clock") == ours["otherData"]["clock"]:
        return 0.0  # a trace of mat, too
    base = theirs.get(BASE, theirs.get("viztracer_metadata", {}).get(BASE))
    if base is not None:
        return float(ours[BASE] - int(base)) / 1e3
    here, there = _span(ours["traceEvents"]), _span(theirs["traceEvents"])
    for shift in (0.0, ours[BASE] / 1e3):  # of the same clock, and of Unix times
        if here[0] + shift - NEAR <= there[1] and there[0] <= here[1] + shift + NEAR:
            return shift
    raise FormatError(
        f"the clock of the other file is not known: its times, {there[0]:.0f} to {there[1]:.0f} "
        f"us, are neither those of time.perf_counter() during the trace, {here[0]:.0f} to "
        f"{here[1]:.0f} us, nor Unix times. Give it an entry {BASE!r}, which added to its times "
        "makes nanoseconds since 1970")


def _span(entries: Sequence[Entry]) -> tuple[float, float]:
    """Return the first and the last time of entries."""
    times = [(float(e["ts"]), float(e["ts"]) + float(e.get("dur", 0)))
             for e in entries if "ts" in e and e["ph"] != "M"]
    return min(t[0] for t in times), max(t[1] for t in times)


def read(path: Path) -> Any:
    """Return the JSON in a file, possibly compressed by gzip (`.gz`)."""
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)


def write(path: Path, content: File) -> None:
    """Write JSON to a file, compressed by gzip if its name ends in `.gz`."""
    data = json.dumps(content).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


# Timelines in HTML


WIDTH, LANE = 1000, 48  # in the units of the drawing; upwards these are pixels
NAME, BAR, MARK = 18, 16, 8  # the heights of a lane's name, of bars and, below them, of marks
CHART = 30  # the height of a chart of bytes, below its name
LEAST = 1.5  # the least width of a bar
COLOURS = {"copy": "#3b76b5", "copy within": "#6896c6", "wait": "#ab881c", "pack": "#8a6fb0",
           "allocation": "#4c8f4c", "free": "#858585", "eviction": "#c0504d",
           "fallback": "#b5731c", "operation": "#5f7f8f"}
WIDE = ("copy", "operation")  # events that take time
# Of nothing but the trace, since a notebook has other things on its page; colours are the page's.
# Bars are stretched to the width that there is, and text is not.
STYLE = (".mat-trace .mat-table{background:rgba(127,127,127,.12);padding:1em;overflow:auto;"
         "font:13px/1.3 ui-monospace,monospace;white-space:pre;overflow-wrap:normal;"
         "word-break:normal;color:inherit}"
         ".mat-trace .mat-lanes{position:relative}"
         ".mat-trace .mat-lanes svg{display:block;max-width:none}"
         ".mat-trace .mat-lanes line{stroke:currentColor;stroke-opacity:.3}"
         ".mat-trace .mat-lanes path{fill:currentColor;fill-opacity:.25;stroke:currentColor;"
         "vector-effect:non-scaling-stroke}"
         ".mat-trace .mat-lanes rect,.mat-trace .mat-lanes line{vector-effect:non-scaling-stroke}"
         ".mat-trace .mat-lane,.mat-trace .mat-axis{font:12px/18px system-ui,sans-serif;"
         "color:inherit}"
         ".mat-trace .mat-lane{position:absolute;left:4px;right:0;overflow:hidden;"
         "white-space:nowrap;text-overflow:ellipsis;pointer-events:none}"
         ".mat-trace .mat-axis{display:flex;justify-content:space-between}"
         ".mat-trace .mat-axis span{flex:1 1 0}"
         ".mat-trace .mat-axis span:nth-child(2){text-align:center}"
         ".mat-trace .mat-axis span:nth-child(3){text-align:right}"
         ".mat-trace .mat-key span{display:inline-block;margin-right:1em}"
         ".mat-trace .mat-key i{display:inline-block;width:.8em;height:.8em;margin-right:.3em}")


def page(events: Sequence[TraceEvent], summary: str, *, whole: bool = True) -> str:
    """Return the timeline as HTML, the table and a drawing: a page, or a part of a notebook."""
    key = "".join(f'<span><i style="background:{colour}"></i>{kind}</span>'
                  for kind, colour in COLOURS.items())
    body = (f'<div class="mat-trace"><pre class="mat-table">{html.escape(summary)}</pre>'
            f'<p class="mat-key">{key}</p>{_drawing(events)}</div>')
    if not whole:
        return f"<style>{STYLE}</style>{body}"
    return html_page("mat: where data went", STYLE, f"<h1>Where data went</h1>{body}")


def _drawing(events: Sequence[TraceEvent]) -> str:
    """Draw the events, and write the names of lanes over them and the times below."""
    lanes = lanes_of(events)
    order = {lane: k for k, lane in enumerate(sorted(set(lanes)))}
    first = min((e.at for e in events), default=0.0)
    span = max((e.at + e.seconds for e in events), default=first) - first or 1e-6
    height = LANE * len(order)
    lines = [(0, y, WIDTH, y) for y in range(LANE, height + 1, LANE)]
    lines += [(x, 0, x, height) for x in range(0, WIDTH + 1, WIDTH // 4)]
    drawn = [f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>' for x1, y1, x2, y2 in lines]
    drawn += [_bar(e, LANE * order[lane], first, WIDTH / span)
              for e, lane in zip(events, lanes, strict=True)]
    names = "".join(f'<div class="mat-lane" style="top:{LANE * k}px">{html.escape(lane.name)}</div>'
                    for lane, k in order.items())
    times = "".join(f"<span>{1e3 * (first + span * part):.3f} ms</span>" for part in (0, 0.5, 1))
    steps: dict[str, list[tuple[float, int]]] = {}  # by memory: times, and the bytes from these on
    for event, memory, nbytes in bytes_over_time(events):
        steps.setdefault(memory, []).append((event.at, nbytes))
    charts = "".join(_chart(memory, own, first, WIDTH / span)
                     for memory, own in sorted(steps.items()))
    return (f'<div class="mat-lanes"><svg viewBox="0 0 {WIDTH} {height}" role="img" '
            f'aria-label="timeline" preserveAspectRatio="none" style="width:100%;height:{height}px"'
            f'>{"".join(drawn)}</svg>{names}</div>{charts}<div class="mat-axis">{times}</div>')


def _chart(memory: str, steps: list[tuple[float, int]], first: float, scale: float) -> str:
    """Draw the bytes allocated in a memory since the trace began, over the time of the lanes."""
    low, high = (f((0, *(nbytes for _, nbytes in steps))) for f in (min, max))
    down = CHART / (high - low or 1)
    path = "".join(f"H{(at - first) * scale:.2f}V{(high - nbytes) * down:.2f}"
                   for at, nbytes in steps)
    title = html.escape(f"{memory}: {low:,} to {high:,} bytes more than at the beginning")
    return (f'<div class="mat-lanes"><svg viewBox="0 0 {WIDTH} {NAME + CHART}" role="img" '
            f'aria-label="{title}" preserveAspectRatio="none" style="width:100%;'
            f'height:{NAME + CHART}px"><path transform="translate(0 {NAME})" '
            f'd="M0 {high * down:.2f}{path}H{WIDTH}V{high * down:.2f}Z"/></svg>'
            f'<div class="mat-lane mat-bytes" style="top:0">{title}</div></div>')


def _bar(event: TraceEvent, top: int, first: float, scale: float) -> str:
    """Draw an event with a duration in the upper part of its lane, any other as a mark below."""
    width = max(event.seconds * scale, LEAST)
    x = min((event.at - first) * scale, WIDTH - width)
    y, height = (top + NAME, BAR) if event.kind in WIDE else (top + NAME + BAR + 2, MARK)
    colour = COLOURS[event.kind]
    return (f'<rect x="{x:.2f}" y="{y}" width="{width:.2f}" height="{height}" fill="{colour}" '
            f'stroke="{colour}" stroke-width="0.5"><title>{html.escape(_details(event))}</title>'
            "</rect>")


def _details(event: TraceEvent) -> str:
    if event.kind == "operation":
        return (f"{event.title} in {event.source}, {1e6 * event.seconds:.1f} us\n"
                f"called by {event.line}")
    locked = ", page-locked" if event.page_locked else ""
    return (f"{event.title}\n{event.source or '-'} to {event.target or '-'}, "
            f"{event.nbytes:,} bytes, {1e6 * event.seconds:.1f} us{locked}\n"
            f"caused by {event.line}{event.reason and ', since '}{event.reason}\n"
            f"written by {event.dirtied or '(before the trace)'}")
