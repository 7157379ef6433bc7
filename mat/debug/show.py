"""``mat.show(x)`` and the view of a Mat in a notebook. Nothing is accessed, copied or changed.

The IPython extension, ``%load_ext mat``, has a magic that traces a cell, and completes names.
"""

from __future__ import annotations

import contextlib
import html
import re
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NamedTuple, TextIO, TypeAlias

import numpy as np

from ..core.registry import Memory, all_facets, listed_facets, listed_memories, memories
from ..core.runs import NONE, Runs, run, union
from ..core.source_line import cell_of, line_of
from ..core.span_copy import SpanCopy
from ..devices.device import kinds
from ..errors import DTypeError
from ..matrix.base import MATS
from ..matrix.mat import Mat
from ..matrix.methods import method
from ..matrix.storage import Storage
from ..ops.expressions.nodes import Node, listed
from ..ops.expressions.passes import in_order
from ..support import formatting
from ..support.options import current
from ..support.types import Array
from .trace import Trace, trace

COLUMNS = 60  # characters of a drawing
MOST = 8  # other views that are listed


def show(x: Mat, file: TextIO | None = None) -> None:
    """Print a Mat and where its data is stored.

    These are the memories that have a copy, with facets, bytes and freshness; the version; the
    blocks that access it; the last copies; of a Mat that does not see all of its storage, a drawing
    of the part that it sees, to scale; and the other Mats that see the storage. A notebook shows
    the elements as a table, and where they are in each memory as a strip.

    Parameters
    ----------
    x : Mat
        The Mat to print. It is not accessed, and nothing is copied between memories.
    file : text file, optional
        The file to print to; by default, standard output, or the output of a notebook's cell.

    Raises
    ------
    DTypeError
        If `x` is not a Mat.

    Examples
    --------
    >>> import mat
    >>> x = mat.zeros(2, 3)
    >>> x[0] = 1
    >>> mat.show(x)  # doctest: +ELLIPSIS
    <Mat 2x3 F [[1. 1. 1.] [0. 0. 0.]]>
    storage: 6 elements of float64, 48 bytes, version 1
    created at ...
    memory  bytes  state  facets
    host    48     fresh  foreign (F)
    not being accessed
    """
    if not isinstance(x, Mat):
        raise DTypeError(f"show requires a Mat, got {type(x).__name__}")
    text = "\n".join([repr(x), *facts(x)])
    display = None if file is not None else _notebook_display()
    if display is None:
        print(text, file=file or sys.stdout)
    else:
        display({"text/plain": text, "text/html": _html(x, True)}, raw=True)


def _notebook_display() -> Callable[..., object] | None:
    """Return the function that displays objects in the notebook that runs this; None in others."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    display: Callable[..., object] | None = None
    if getattr(shell, "kernel", None) is not None:
        display = sys.modules["IPython.display"].display
    return display


def facts(x: Mat) -> list[str]:
    """Return the lines that `show` prints below the contents."""
    storage = x.storage
    with storage.lock:
        elements = formatting.counted(storage.size, "element")
        size = f"{elements} of {storage.dtype}, {formatting.counted(storage.nbytes, 'byte')}"
        made, pending = line_of(storage.made), storage.pending
        value = None if pending is None else pending.value
        others = [m for m in MATS.all() if m.storage is storage and m is not x]
        return [f"storage: {size}, version {storage.version}{_state(x)}",
                *([f"created at {made}"] if made else []),
                *([f"to be computed: {listed(in_order([value]))}"] if isinstance(value, Node)
                  else []),
                *_seen_part(x), *_memories(x),
                *([f"accessed: {record.describe()}" for record in tuple(storage.accesses)]
                  or ["not being accessed"]),
                *(["read by pending expressions"] if pending is not None and pending.read_in(x)
                  else []),
                *(f"also seen by {m.label()}" for m in others[:MOST]),
                *([f"and by {len(others) - MOST} more"] if len(others) > MOST else []),
                *(f"copied: {source} to {target}, version {version}"
                  for source, target, version in storage.history or ())]


def _seen_part(x: Mat) -> list[str]:
    """Draw the storage to scale, with ``#`` for visible elements and dots for the others.

    ``+`` is drawn instead of ``#`` if there are invisible elements between visible ones.
    """
    size, (low, high) = x.storage.size, x.layout.bounds
    if x.size == size or not size:
        return []
    before, seen, after = low, high - low, size - high
    scale = COLUMNS / size
    cells = [max(round(n * scale), 1 if n else 0) for n in (before, seen, after)]
    cells[1] = max(COLUMNS - cells[0] - cells[2], 1)
    mark = "#" if seen == x.size else "+"
    between = "" if seen == x.size else f" within {seen}"
    return [f"|{'.' * cells[0]}{mark * cells[1]}{'.' * cells[2]}|",
            f"displacement {before}, visible {x.size}{between}, slack {after}"]


def _state(x: Mat) -> str:
    storage = x.storage
    torn = storage.torn_error(x)
    if torn is not None:
        return f"\ntorn: {torn}"
    if storage.is_pending:
        return ", pending"
    if not storage.fresh and storage.spans is None:
        fill = storage.fill_value
        return ", never written: " + ("arbitrary" if fill is None else f"all {fill}")
    return "" if x.form.writable else ", read-only"


def _memories(x: Mat) -> list[str]:
    rows = [(m.name, str(x.storage.nbytes), _freshness(x, m), _facets_of(x, m) or "-")
            for m in memories.values() if m in x.storage.handles]
    rows += [(f"{c.memory.name} [{c.start}:{c.stop}]", str(c.nbytes),
              _shown(c.fresh) + (", kept" if c.is_kept else ""), _facets_of(x, c.memory) or "-")
             for c in (() if x.storage.spans is None else x.storage.spans.copies) if not c.whole]
    if not rows:
        return ["no copy anywhere"]
    return formatting.table([("memory", "bytes", "state", "facets"), *rows]).splitlines()


def _freshness(x: Mat, memory: Memory) -> str:
    spans = x.storage.spans
    state = "fresh" if x.storage.fresh & memory.bit else "stale"
    if spans is not None and state == "stale":
        state = _shown(spans.whole_in(memory).fresh)
    users = ", the user's" if x.storage.adopted is memory else ""
    return state + (", kept" if x.storage.is_kept(memory) else "") + users


def _shown(fresh: Runs) -> str:
    return f"fresh {fresh!r}" if fresh else "stale"


def _facets_of(x: Mat, memory: Memory) -> str:
    """Return the facets of a memory that were accessed, with their letters."""
    seen = [f for f in all_facets() if f.memory is memory and x.storage.seen & f.bit]
    return ", ".join(f"{f.name} ({f.letter})" for f in seen)


@method("_repr_html_")
def _repr_html_(self: Mat) -> str:
    return _html(self, False)


def _html(x: Mat, opened: bool) -> str:
    """Return the elements as a table, and where they are, as details that may be `opened`."""
    if not current().print_contents:
        return _html_table(x._head(), None, "")
    table = _html_table(x._head(), x._peek(), x._absent())
    lines = html.escape("\n".join(facts(x)))
    state = ' open=""' if opened else ""
    details = f"<summary>where its data is</summary>{strip(x)}<pre>{lines}</pre>"
    return f"<div>{table}<details{state}>{details}</details></div>"


def _html_table(caption: str, a: Array | None, message: str) -> str:
    """Return an HTML table of the elements, at most NumPy's edge items of each axis.

    It shows `message` if `a` is None, and lines of text if `a` is not 1-d or 2-d.
    """
    title = f"<caption><code>{html.escape(caption)}</code></caption>"
    if a is None or a.ndim > 2 or a.ndim == 0:
        text = message if a is None else formatting.contents(a)
        return f"<table>{title}<tr><td><pre>{html.escape(text)}</pre></td></tr></table>"
    grid = np.atleast_2d(a)
    rows = "".join("<tr>" + "".join(f"<td>{_cell(grid, i, j)}</td>" for j in _edges(grid.shape[1]))
                   + "</tr>" for i in _edges(grid.shape[0]))
    return f"<table>{title}{rows}</table>"


def _edges(n: int) -> list[int | None]:
    """Return the indices to show of `n`, with None for the gap."""
    k = np.get_printoptions()["edgeitems"]
    if n <= 4 * k:
        return list(range(n))
    return [*range(k), None, *range(n - k, n)]


def _cell(grid: Array, i: int | None, j: int | None) -> str:
    if i is None or j is None:
        return "&hellip;"
    return html.escape(np.array2string(grid[i, j]))


# The strip of copies for notebooks: a line for each memory that has elements of the storage, drawn
# to scale by runs, which says of each run whether it is fresh, stale, torn or pending


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
        size, lines = max(storage.units, 1), [*_lines(storage)]
        if storage.size and x.size != storage.size:  # it does not see all
            lines.append(("seen", list(_pieces(x._touched(), "seen"))))
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


Shell: TypeAlias = Any  # an IPython.InteractiveShell
_OPEN = re.compile(r"""\.(facet|drop|keep|use_device|set_device)\(\s*(["'])([\w:]*)$""")


def names_for(method: str) -> list[str]:
    """Return the possible values of the string argument of a method."""
    if method == "facet":
        return listed_facets()
    return ["cpu", *kinds()] if method.endswith("device") else [m.name for m in listed_memories()]


def complete(text: str) -> list[str]:
    """Return the names of facets, memories and devices that complete the open string in `text`."""
    found = _OPEN.search(text)
    return [] if found is None else [n for n in names_for(found[1]) if n.startswith(found[3])]


class FacetNames:
    """A matcher for IPython's completer: the names that complete the string at the cursor."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell

    def matches(self, text: str) -> list[str]:
        """Return the completions of the word `text` before the cursor."""
        line = self.shell.Completer.line_buffer
        opened = _OPEN.search(line)
        if opened is None:
            return []
        before = text[:len(text) - len(opened[3])] if text.endswith(opened[3]) else ""
        return [before + name for name in complete(line)]


@contextlib.contextmanager
def _as_its_cell(shell: Shell, frame: FrameType | None) -> Iterator[None]:
    """Give code that the shell runs in this block the name of the cell of the frame."""
    number = getattr(shell, "execution_count", None)
    while frame is not None and (cell := cell_of(frame.f_code.co_filename)) is None:
        frame = frame.f_back
    if number is None or frame is None or cell is None or not (found := re.search(r"\d+", cell)):
        yield
        return
    shell.execution_count = int(found[0])
    try:
        yield
    finally:
        shell.execution_count = number


def load_ipython_extension(shell: Shell) -> None:
    """Load the extension into an IPython shell; ``%load_ext mat`` calls this."""
    def mat_trace(line: str, cell: str) -> Trace:
        """Run the cell under ``mat.debug.trace()`` and show the trace.

        A timeline is written to the file that the line names, if it names one.
        """
        with trace() as t, _as_its_cell(shell, sys._getframe(1)):
            # the first line of the cell is that of this magic; another one has to be the first
            before = "" if cell.startswith("%%") else "# %%mat_trace\n"
            shell.run_cell(f"{before}{cell}").raise_error()
        if line.strip():
            t.save(line.strip())
        return t

    shell.register_magic_function(mat_trace, "cell", "mat_trace")
    matchers: list[Callable[[str], list[str]]] | None = getattr(shell.Completer, "custom_matchers",
                                                                None)
    known = (isinstance(getattr(m, "__self__", None), FacetNames) for m in matchers or ())
    if matchers is not None and not any(known):
        matchers.append(FacetNames(shell).matches)
