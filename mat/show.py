"""``mat.show(x)``: the facet-debugging printer. Looks at nothing, moves nothing, changes nothing."""

from __future__ import annotations

import sys
from typing import Any, TextIO

from . import printing
from .cube import all_facets, memories
from .errors import DTypeError
from .mat import Mat


def show(x: Mat, file: TextIO | None = None) -> None:
    """Print where the data of `x` is: memories and facets, bytes, freshness, version, who is looking, the last copies.

    >>> import mat
    >>> x = mat.zeros(2, 3)
    >>> x[0] = 1
    >>> mat.show(x)
    <Mat 2x3 A [[1. 1. 1.] [0. 0. 0.]]>
    storage: 6 elements of float64, 48 bytes, version 1
    memory  bytes  state  facets
    host    48     fresh  array (A)
    nobody is looking
    """
    if not isinstance(x, Mat):
        raise DTypeError(f"show wants a Mat, got {type(x).__name__}")
    print("\n".join(lines(x)), file=file or sys.stdout)


def lines(x: Mat) -> list[str]:
    """The lines that `show` prints."""
    storage = x.storage
    with storage.lock:
        size = f"{storage.size} elements of {storage.dtype}, {storage.nbytes} bytes"
        return [repr(x), f"storage: {size}, version {storage.version}{_state(x)}",
                *_memories(x), *_watchers(x), *_history(x)]


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
    return printing.table([("memory", "bytes", "state", "facets"), *rows]).splitlines() if rows else ["no copy anywhere"]


def _freshness(x: Mat, memory: Any) -> str:
    state = "fresh" if x.storage.fresh & memory.bit else "stale"
    kept = (x.storage.kept or {}).get(memory, 0)
    return state + (", kept" if kept else "") + (", the user's" if x.storage.adopted is memory else "")


def _facets_of(x: Mat, memory: Any) -> str:
    """The facets looked through, with their letters."""
    seen = [f for f in all_facets() if f.memory is memory and x.storage.seen & f.bit]
    return ", ".join(f"{f.name} ({f.letter})" for f in seen)


def _watchers(x: Mat) -> list[str]:
    return [f"looking: {hold.describe()}" for hold in tuple(x.storage.looks)] or ["nobody is looking"]


def _history(x: Mat) -> list[str]:
    return [f"copied: {source} to {target}, version {version}" for source, target, version in x.storage.history or ()]
