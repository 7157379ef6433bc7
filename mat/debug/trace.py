"""``with mat.trace() as t:``: the ledger of every copy, pack, allocation, eviction and fallback,
with the lines behind them.

It prints as a table by line, finds data that moves back and forth, and can be written as a
timeline.
"""

from __future__ import annotations

import json
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from ..core.access_record import file_and_line, line_of, user_line
from ..core.cube import INPUT, Observer, host, observe
from ..support import formatting
from .timeline import chrome, page

TURNS = 3  # copies in turns, from which on data moves back and forth


class TraceEvent(NamedTuple):
    """Something that happened to the data of a Mat.

    ``kind`` is "copy", "pack", "allocation", "free", "eviction" or "fallback"; ``at`` and
    ``seconds`` say when, from the beginning of the trace, and how long it took. ``line`` is the
    user's line that caused it, ``dirtied`` the one that made the source the only fresh copy,
    ``created`` the one that created the Mat; empty where that was before the trace.
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
    storage: int  # the same number for views of one storage


class PingPong(NamedTuple):
    """A Mat that was copied ``times`` times, back and forth, by two lines in turns."""

    mat: str
    times: int
    nbytes: int
    there: str
    back: str

    def __str__(self) -> str:
        return (f"{self.mat} moved back and forth {self.times} times, {self.nbytes:,} bytes:\n"
                f"  {self.there} takes it away, {self.back} takes it back.\n"
                "  Do both in one place: with mat.use_device(...) around both lines, or move the "
                "second out of the loop")


class Trace(Observer):
    """What happened while the block ran; ``t.events`` has every `TraceEvent` in order."""

    def __init__(self) -> None:
        self.events: list[TraceEvent] = []
        self.begun = perf_counter()
        self._lock = threading.Lock()
        self._dirtied: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self._numbers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()

    def _add(self, kind: str, cube: Any, source: str, target: str, seconds: float = 0.0,
             locked: bool = False,
             view: Any = None) -> None:
        line, label = line_of(user_line()), _label(cube, view)
        with self._lock:
            number = self._numbers.setdefault(cube, len(self._numbers))
            nbytes = cube.nbytes if view is None else view.nbytes
            self.events.append(TraceEvent(kind, label, source, target, nbytes,
                                          perf_counter() - self.begun - seconds, seconds,
                                     locked, line, self._dirtied.get(cube, ""), line_of(cube.made),
                                          number))

    # Observer

    def left(self, record: Any, failed: bool) -> None:
        if record.direction is not INPUT:
            file, line = file_and_line(record.thread, record.where)
            self._dirtied[record.view.storage] = f"{file}:{line}"

    def copied(self, cube: Any, source: Any, target: Any, seconds: float) -> None:
        other = source if target is host() else target
        near = cube.handles.get(host())
        self._add("copy", cube, source.name, target.name, seconds,
                  near is not None and other.page_locked(near))

    def packed(self, view: Any) -> None:
        self._add("pack", view.storage, "", "", view=view)

    def allocated(self, cube: Any, memory: Any) -> None:
        self._add("allocation", cube, "", memory.name)

    def freed(self, cube: Any, memory: Any) -> None:
        self._add("free", cube, memory.name, "")

    def evicted(self, cube: Any, memory: Any) -> None:
        self._add("eviction", cube, memory.name, "")

    def fell_back(self, operation: str, device: str) -> None:
        line = line_of(user_line())
        with self._lock:
            now = perf_counter() - self.begun
            self.events.append(TraceEvent("fallback", operation, device, "host", 0, now, 0.0, False,
                                          line, "", "", -1))

    # Reading it

    @property
    def copies(self) -> list[TraceEvent]:
        """The copies between memories."""
        return [e for e in self.events if e.kind == "copy"]

    @property
    def h2d(self) -> int:
        """How many copies there were from the host."""
        return sum(e.source == host().name for e in self.copies)

    @property
    def d2h(self) -> int:
        """How many copies there were to the host."""
        return sum(e.target == host().name for e in self.copies)

    @property
    def bytes(self) -> int:
        """How many bytes were copied between memories."""
        return sum(e.nbytes for e in self.copies)

    @property
    def packs(self) -> int:
        """How many strided operands were packed."""
        return sum(e.kind == "pack" for e in self.events)

    @property
    def fallbacks(self) -> int:
        """How many operations the host did instead of the device in use."""
        return sum(e.kind == "fallback" for e in self.events)

    def ping_pong(self) -> list[PingPong]:
        """The Mats that moved back and forth, those with the most bytes first."""
        by_storage: dict[int, list[TraceEvent]] = {}
        for event in self.copies:
            by_storage.setdefault(event.storage, []).append(event)
        found = [_back_and_forth(events) for events in by_storage.values()]
        return sorted((p for p in found if p is not None), key=lambda p: -p.nbytes)

    def chrome(self) -> dict[str, Any]:
        """The events for Chrome's trace viewer or Perfetto: ``json.dump(t.chrome(), file)``."""
        return chrome(self.events)

    def save(self, path: Any) -> None:
        """Write a timeline: for a name that ends in ``.html`` a page for any browser, else JSON for
        a trace viewer.
        """
        text = page(self.events,
                    repr(self)) if str(path).endswith(".html") else json.dumps(self.chrome())
        Path(path).write_text(text, encoding="utf-8")

    def __repr__(self) -> str:
        if not self.events:
            return "<trace: nothing was moved>"
        cells: list[tuple[str, ...]] = [("line", "from host", "to host", "bytes", "ms", "packs",
                                         "allocations", "evictions",
                                         "fallbacks")]
        cells += [_summary(line, events) for line,
                  events in _by_line(e for e in self.events if e.kind != "free")]
        told = [formatting.table(cells), *map(str, self.ping_pong())]
        return "\n".join(told)

    def _repr_html_(self) -> str:
        return page(self.events, repr(self), whole=False)


def _label(cube: Any, view: Any = None) -> str:
    """A Mat that sees the data, in words."""
    if view is None:
        view = next((v for v in (ref() for ref in tuple(cube.viewers)) if v is not None), None)
    return f"<{cube.size} elements of {cube.dtype}>" if view is None else str(view.label())


def _by_line(events: Iterable[TraceEvent]) -> list[tuple[str, list[TraceEvent]]]:
    """Events by the line that caused them; lines that moved most bytes first."""
    found: dict[str, list[TraceEvent]] = {}
    for event in events:
        found.setdefault(event.line, []).append(event)
    return sorted(found.items(),
                  key=lambda item: -_sum(item[1], lambda e: e.nbytes if e.kind == "copy" else 0))


def _sum(events: Iterable[TraceEvent], value: Callable[[TraceEvent], Any]) -> Any:
    return sum(map(value, events))


def _summary(line: str, events: list[TraceEvent]) -> tuple[str, ...]:
    copies = [e for e in events if e.kind == "copy"]
    kinds = (str(sum(e.kind == kind for e in events))
             for kind in ("pack", "allocation", "eviction", "fallback"))
    return (line, str(sum(e.source == host().name for e in copies)),
            str(sum(e.target == host().name for e in copies)),
            f"{_sum(copies, lambda e: e.nbytes):,}",
            f"{1e3 * _sum(copies, lambda e: e.seconds):.3f}", *kinds)


def _back_and_forth(events: list[TraceEvent]) -> PingPong | None:
    """What one storage's copies tell, if they go to and fro."""
    turns = [a for a, b in pairwise(events) if (a.source, a.target) == (b.target, b.source)]
    if len(turns) + 1 < TURNS:
        return None
    away = next(e for e in events if e.source == host().name)
    back = next((e for e in events if e.target == host().name), away)
    return PingPong(events[-1].mat, len(turns) + 1, _sum(events, lambda e: e.nbytes), away.line,
                    back.line)


@contextmanager
def trace() -> Iterator[Trace]:
    """``with mat.trace() as t:`` keeps a ledger of copies, packs, allocations, evictions and
    fallbacks, in every thread.

    `t` prints as a table by line, and says which Mats moved back and forth, and what to do about
    it. ``t.events``, ``t.copies`` and the counts ``t.h2d``, ``t.d2h``, ``t.bytes``, ``t.packs``,
    ``t.fallbacks`` are for programs; ``t.save("trace.html")`` draws a timeline. While a trace
    lasts, calls take the way that observers can see, which is slower.

    >>> import mat
    >>> x = mat.ones(1000).exp_()
    >>> with mat.trace() as t, mat.use_device("emulated"):
    ...     y = x + x
    >>> t.h2d, t.d2h, t.bytes
    (1, 1, 16000)
    """
    found = Trace()
    with observe(found):
        yield found
