"""Timelines of traced events as HTML that needs no network: a page, or a part of a notebook."""

from __future__ import annotations

import html
from collections.abc import Sequence

from .trace_event import TraceEvent, lanes_of

WIDTH, LANE = 1000, 48  # in the units of the drawing; upwards these are pixels
NAME, BAR, MARK = 18, 16, 8  # the heights of a lane's name, of bars and, below them, of marks
LEAST = 1.5  # the least width of a bar
COLOURS = {"copy": "#3b76b5", "copy within": "#7fa7d0", "wait": "#c9a227", "pack": "#8a6fb0",
           "allocation": "#4c8f4c", "free": "#858585", "eviction": "#c0504d",
           "fallback": "#b5731c", "operation": "#5f7f8f"}
WIDE = ("copy", "operation")  # events that take time
PAGE = ":root{color-scheme:light dark}body{font:14px system-ui,sans-serif;margin:1.5em}"
# Of nothing but the trace, since a notebook has other things on its page; colours are the page's.
# Bars are stretched to the width that there is, and text is not.
STYLE = (".mat-trace .mat-table{background:rgba(127,127,127,.12);padding:1em;overflow:auto;"
         "font:13px/1.3 ui-monospace,monospace;white-space:pre;overflow-wrap:normal;"
         "word-break:normal;color:inherit}"
         ".mat-trace .mat-lanes{position:relative}"
         ".mat-trace .mat-lanes svg{display:block;max-width:none}"
         ".mat-trace .mat-lanes line{stroke:currentColor;stroke-opacity:.3}"
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
    """Return the timeline as HTML: the table, and a drawing with details under the pointer.

    With `whole` False it is a part of a page, for a notebook.
    """
    key = "".join(f'<span><i style="background:{colour}"></i>{kind}</span>'
                  for kind, colour in COLOURS.items())
    body = (f'<div class="mat-trace"><pre class="mat-table">{html.escape(summary)}</pre>'
            f'<p class="mat-key">{key}</p>{_drawing(events)}</div>')
    if not whole:
        return f"<style>{STYLE}</style>{body}"
    return ('<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>mat: where data '
            'went</title><meta name="viewport" content="width=device-width">'
            f"<style>{PAGE}{STYLE}</style></head>"
            f"<body><h1>Where data went</h1>{body}</body></html>")


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
    return (f'<div class="mat-lanes"><svg viewBox="0 0 {WIDTH} {height}" role="img" '
            f'aria-label="timeline" preserveAspectRatio="none" style="width:100%;height:{height}px"'
            f'>{"".join(drawn)}</svg>{names}</div><div class="mat-axis">{times}</div>')


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
