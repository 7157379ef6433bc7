"""``mat.show(x)``: the facet-debugging printer, and a notebook's view. Looks at nothing, moves
nothing, changes nothing.
"""

from __future__ import annotations

import gc
import html
import sys
from typing import Any, TextIO

from ..core.access_record import line_of
from ..core.cube import all_facets, memories
from ..errors import DTypeError
from ..matrix.mat import Mat
from ..matrix.methods import method
from ..support import formatting
from ..support.settings import current

WIDTH = 60  # characters of a drawing
MOST = 8  # other views that are listed

def show(x: Mat, file: TextIO | None = None) -> None:
    """Print where the data of `x` is: memories and facets, bytes, freshness, version, who is
    looking, the last copies.

    Of a Mat that does not see all of its storage, also what it sees of it, to scale; and the other
    Mats that see it.

    >>> import mat
    >>> x = mat.zeros(2, 3)
    >>> x[0] = 1
    >>> mat.show(x)
    <Mat 2x3 A [[1. 1. 1.] [0. 0. 0.]]>
    storage: 6 elements of float64, 48 bytes, version 1
    memory  bytes  state  facets
    host    48     fresh  array (A)
    not being accessed
    """
    if not isinstance(x, Mat):
        raise DTypeError(f"show wants a Mat, got {type(x).__name__}")
    print("\n".join([repr(x), *facts(x)]), file=file or sys.stdout)


def facts(x: Mat) -> list[str]:
    """The lines that `show` prints below the contents."""
    storage = x.storage
    with storage.lock:
        size = f"{storage.size} elements of {storage.dtype}, {storage.nbytes} bytes"
        made = line_of(storage.made)
        return [f"storage: {size}, version {storage.version}{_state(x)}",
                *([f"created at {made}"] if made else []),
                *_drawing(x), *_memories(x), *_watchers(x), *_views(x), *_history(x)]


def _drawing(x: Mat) -> list[str]:
    """The storage to scale: what is seen of it as ``#``, ``+`` where elements between are not seen,
    the rest as dots.
    """
    parts = _parts(x)
    if parts is None:
        return []
    before, seen, after = parts
    scale = WIDTH / x.storage.size
    cells = [max(round(n * scale), 1 if n else 0) for n in parts]
    cells[1] = max(WIDTH - cells[0] - cells[2], 1)
    mark = "#" if seen == x.size else "+"
    between = "" if seen == x.size else f" within {seen}"
    return [f"|{'.' * cells[0]}{mark * cells[1]}{'.' * cells[2]}|",
            f"displacement {before}, visible {x.size}{between}, slack {after}"]


def _parts(x: Mat) -> tuple[int, int, int] | None:
    """Elements of the storage before those that `x` sees, from its first to its last, and after;
    None if it sees all.
    """
    size, (low, high) = x.storage.size, x.layout.bounds
    return None if x.size == size or not size else (low, high - low, size - high)


def _views(x: Mat) -> list[str]:
    """The other Mats of the same storage."""
    others = [m for m in gc.get_referrers(x.storage) if isinstance(m, Mat) and m is not x]
    told = [f"also seen by {m.label()}" for m in others[:MOST]]
    return told + ([f"and by {len(others) - MOST} more"] if len(others) > MOST else [])


def _state(x: Mat) -> str:
    storage = x.storage
    if storage.torn is not None:
        return f"\ntorn: {storage.torn}"
    if not storage.fresh:
        fill = storage.fill_value
        return ", never written: " + ("arbitrary" if fill is None else f"all {fill}")
    return "" if storage.writable else ", read-only"


def _memories(x: Mat) -> list[str]:
    rows = [(m.name, str(x.storage.nbytes), _freshness(x, m), _facets_of(x, m) or "-")
            for m in memories.values() if m in x.storage.handles]
    return formatting.table([("memory", "bytes", "state", "facets"),
                             *rows]).splitlines() if rows else ["no copy anywhere"]


def _freshness(x: Mat, memory: Any) -> str:
    state = "fresh" if x.storage.fresh & memory.bit else "stale"
    kept = (x.storage.kept or {}).get(memory, 0)
    return state + (", kept" if kept else "") + (", the user's" if x.storage.adopted is memory
                                                 else "")


def _facets_of(x: Mat, memory: Any) -> str:
    """The facets looked through, with their letters."""
    seen = [f for f in all_facets() if f.memory is memory and x.storage.seen & f.bit]
    return ", ".join(f"{f.name} ({f.letter})" for f in seen)


def _watchers(x: Mat) -> list[str]:
    return [f"accessed: {record.describe()}"
            for record in tuple(x.storage.accesses)] or ["not being accessed"]


def _history(x: Mat) -> list[str]:
    return [f"copied: {source} to {target}, version {version}" for source, target,
            version in x.storage.history or ()]


@method("_repr_html_")
def _repr_html_(self: Mat) -> str:
    if not current().print_contents:
        return formatting.html_table(self._head(), None, "")
    table = formatting.html_table(self._head(), self._peek(), self._absent())
    told = html.escape("\n".join(facts(self)))
    return f"<div>{table}<details><summary>where its data is</summary>{_bar(self)}<pre>{told}</pre></details></div>"


def _bar(x: Mat) -> str:
    """The storage to scale: what is seen of it dark, the rest light."""
    parts = _parts(x)
    if parts is None:
        return ""
    spans = "".join(f'<span style="flex:{n};background:{colour}">&#160;</span>'
                    for n, colour in zip(parts, ("#ddd", "#3b6ea5", "#ddd"), strict=True) if n)
    return f'<div style="display:flex;width:320px;height:14px">{spans}</div>'
