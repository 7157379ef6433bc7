"""The strip of copies of a Mat, as HTML for notebooks: a line for each memory that has elements of
its storage, drawn to scale by runs, which says of each run whether it is fresh, stale, torn or
pending. Nothing is accessed, copied or changed.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np

from ..core.registry import Memory
from ..core.runs import NONE, Runs, run, union
from ..core.span_copy import SpanCopy
from ..matrix.mat import Mat
from ..matrix.storage import Storage

WIDTH, HEIGHT = 640, 14  # of a line, in the units of the drawing
# Shape and colour of each state: the top of its bars, and attributes that are legible on light and
# on dark pages.
BARS = {
    "seen": (9, 'fill="currentColor"'),
    "fresh": (1, 'fill="#2f7fc1"'),
    "stale": (9, 'fill="currentColor" fill-opacity=".55"'),
    "torn": (1, 'fill="#cf4436"'),
    "pending": (1, 'fill="#ab881c" fill-opacity=".3" stroke="#ab881c" stroke-dasharray="6 4"'),
    "never written": (1, 'fill="none" stroke="currentColor" stroke-opacity=".5" '
                         'stroke-dasharray="2 4"'),
}
WORDS = {"seen": "elements that this Mat sees"}  # else the state itself


class Piece(NamedTuple):
    """Elements from one to another of a storage in one state; `share` of them, if not all."""

    low: float
    high: float
    state: str
    share: float = 1.0


Line: TypeAlias = tuple[str, list[Piece]]  # a title, and what is drawn


def strip(x: Mat) -> str:
    """Return the strip of the storage of `x`, with a key to its states."""
    storage = x.storage
    with storage.lock:
        size, lines = max(storage.units, 1), [*_lines(storage), *_window(x)]
    rows = "".join(f"<span>{html.escape(title)}</span>{_drawing(pieces, size)}"
                   for title, pieces in lines)
    states = dict.fromkeys(piece.state for _, pieces in lines for piece in pieces)
    key = "".join(f'<span style="white-space:nowrap;margin-right:1em">{_sample(state)} '
                  f"{WORDS.get(state, state)}</span>" for state in states)
    return ('<div style="display:grid;grid-template-columns:max-content minmax(0,40em);'
            f'gap:2px 1em;align-items:center">{rows}<span></span><span>{key}</span></div>')


def _lines(storage: Storage) -> Iterator[Line]:
    """Yield the line of each memory that has elements, or one that says why there is none."""
    everything = run(0, storage.units)
    if storage.is_pending:
        yield "nowhere yet", list(_pieces(everything, "pending"))
        return
    found = False
    for memory, present, fresh, torn in _copies(storage, everything):
        found = True
        yield memory.name, [*_pieces(present - fresh - torn, "stale"), *_pieces(fresh, "fresh"),
                            *_pieces(torn, "torn")]
    if not storage.fresh and storage.spans is None and storage.torn is None:
        yield "fresh nowhere" if found else "no copy", list(_pieces(everything, "never written"))


def _copies(storage: Storage, everything: Runs) -> Iterator[tuple[Memory, Runs, Runs, Runs]]:
    """Yield each memory with the elements that it has, the fresh and the torn among them."""
    spans = storage.spans
    if spans is None:
        for memory in storage.handles:
            torn = storage.torn is not None and storage.torn_memory is memory
            fresh = storage.fresh & memory.bit and not torn
            yield memory, everything, everything if fresh else NONE, everything if torn else NONE
        return
    by_memory: dict[Memory, list[SpanCopy]] = {}
    for copy in spans.copies:
        by_memory.setdefault(copy.memory, []).append(copy)
    for memory, copies in by_memory.items():
        yield (memory, union(run(c.start, c.stop) for c in copies), union(c.fresh for c in copies),
               union(t.runs for t in spans.torn if t.copy in copies))


def _window(x: Mat) -> Iterator[Line]:
    """Yield a line for the elements that `x` sees, if it does not see all."""
    storage = x.storage
    if storage.size and x.size != storage.size:
        yield "seen", list(_pieces(x._touched(), "seen"))


def _pieces(runs: Runs, state: str) -> Iterator[Piece]:
    """Yield what is drawn of runs: each, or if there are many, a share of equal cells."""
    if len(runs) <= WIDTH:
        for low, high in runs:
            yield Piece(low, high, state)
        return
    low, high = runs.bounds
    edges = np.asarray(runs.edges)
    lengths = np.diff(edges)
    lengths[1::2] = 0  # between the runs
    cells = np.linspace(low, high, WIDTH // 2 + 1)
    covered = np.interp(cells, edges, np.concatenate([[0], np.cumsum(lengths)]))
    for k, share in enumerate(np.diff(covered) / np.diff(cells)):
        if share:
            yield Piece(float(cells[k]), float(cells[k + 1]), state, float(share))


def _drawing(pieces: list[Piece], size: int) -> str:
    """Draw pieces of a storage of `size` elements to scale, as wide as there is room."""
    scale = WIDTH / size
    bars = "".join(_bar(scale * p.low, max(scale * (p.high - p.low), 1), p.state, p.share,
                        f"elements {p.low:.0f}:{p.high:.0f} {WORDS.get(p.state, p.state)}")
                   for p in pieces)
    return (f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="img" '
            f'style="width:100%;height:{HEIGHT}px;display:block"><rect x="0" y="0" '
            f'width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="currentColor" '
            f'stroke-opacity=".3"></rect>{bars}</svg>')


def _bar(x: float, width: float, state: str, share: float, title: str) -> str:
    top, attributes = BARS[state]
    opacity = "" if share == 1 else f' opacity="{share:.2f}"'
    return (f'<rect x="{min(x, WIDTH - width):.2f}" y="{top}" width="{width:.2f}" '
            f'height="{HEIGHT - 1 - top}" {attributes}{opacity}>'
            f"<title>{html.escape(title)}</title></rect>")


def _sample(state: str) -> str:
    """Draw a short bar of a state, for the key."""
    return (f'<svg viewBox="0 0 24 {HEIGHT}" style="width:24px;height:{HEIGHT}px;'
            f'vertical-align:middle">{_bar(0, 24, state, 1, state)}</svg>')
