"""The trace of a block: every copy, pack, allocation, eviction and fallback, with the lines that
caused them.

It prints as a table by line, finds data that moves back and forth, and can be written as a
timeline.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise, starmap
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias, TypeVar

from ..core.access_record import AccessRecord
from ..core.cube import Cube
from ..core.direction import INPUT
from ..core.observers import PASSES, Observation, why_on_host
from ..core.registry import Memory, host
from ..core.runs import Runs, run
from ..core.source_line import file_and_line, line_of, user_line
from ..core.span_copy import SpanCopy
from ..errors import FormatError
from ..matrix.mat import Mat
from ..ops.expressions.nodes import PASS
from ..ops.tiles.tile import operand_of, tile_now
from ..ops.tiles.tiling import origin_of
from ..support import formatting
from . import trace_file
from .counters import CopyCounter
from .trace_file import TraceEvent, chrome, page

# what events are about: a cube, a copy of a part of one, or some of its elements
Events: TypeAlias = Cube | SpanCopy | tuple[Cube, Runs]
LEAST_TURNS = 3  # copies in alternating directions, from which on data moves back and forth
E = TypeVar("E")  # an event, or a call


class TiledCall(NamedTuple):
    """A call of an operation that was carried out in tiles on a device.

    Attributes
    ----------
    operation : str
        The name of the operation.
    device : str
        The name of the device.
    tiles : int
        The number of tiles.
    nbytes : int
        The bytes that the device would need for all operands at once.
    line : str
        The user's line.
    """

    operation: str
    device: str
    tiles: int
    nbytes: int
    line: str


class PingPong(NamedTuple):
    """A Mat that was copied back and forth, by two lines in turns.

    Attributes
    ----------
    mat : str
        The label of the Mat.
    times, nbytes : int
        The number of copies, and their bytes.
    there, back : str
        The lines that caused copies from the host and to it.
    """

    mat: str
    times: int
    nbytes: int
    there: str
    back: str

    def __str__(self) -> str:
        return (f"{self.mat} moved back and forth {self.times} times, {self.nbytes:,} bytes:\n"
                f"  {self.there} copies it from the host, {self.back} copies it back.\n"
                "  Do both in one place: with mat.use_device(...) around both lines, or move the "
                "second out of the loop")


class Trace(CopyCounter):
    """The events of a traced block.

    Attributes
    ----------
    events : list of TraceEvent
        All events in their order.
    copies : list of TraceEvent
        The copies between memories.
    operations : list of TraceEvent
        The operations that were carried out, which are not among the `events`: the timeline shows
        them beside the copies.
    tiled : list of TiledCall
        The operations that a device carried out in tiles, each with the number of these.
    h2d, d2h, bytes, within, waits, packs, fallbacks : int
        Counts, as in `mat.debug.CopyCounter`. The events of waits have their times and, as a
        reason, what the host has waited for.
    """

    def __init__(self) -> None:
        self.events: list[TraceEvent] = []
        self.operations: list[TraceEvent] = []
        self.tiled: list[TiledCall] = []
        self.begun: float = perf_counter()
        self._dirtied: weakref.WeakKeyDictionary[Cube, str] = weakref.WeakKeyDictionary()
        self._numbers: weakref.WeakKeyDictionary[Cube, int] = weakref.WeakKeyDictionary()
        self._in_tiles: weakref.WeakSet[Cube] = weakref.WeakSet()  # that were made there
        # sizes and labels of the largest Mats that were seen of cubes
        self._origins: weakref.WeakKeyDictionary[Cube, tuple[int, str]] = (
            weakref.WeakKeyDictionary())
        self._number = 0  # of the next cube
        super().__init__()

    # the parameters are the facts of an event
    def _add(self, kind: str, of: Events, memories: tuple[str, str] = ("", ""), *,
             view: Mat | None = None, seconds: float = 0.0, locked: bool = False,
             reason: str = "") -> None:
        cube, runs = _elements(of)
        line, label = line_of(user_line()), _label(cube) if view is None else view.label()
        origin, tile = self._origin(cube), tile_now()
        with self._lock:
            number = self._numbers.setdefault(cube, self._number)
            self._number = max(self._number, number + 1)  # never again, also if the cube is gone
            nbytes = cube.nbytes if view is None else view.nbytes
            if runs is not None:
                nbytes = runs.size * cube.nbytes // cube.units
                label = f"{label} [{runs!r}]"
            at = perf_counter() - self.begun - seconds
            self.events.append(TraceEvent(kind, label, *memories, nbytes, at, seconds, locked, line,
                                          self._dirtied.get(cube, ""), line_of(cube.made), number,
                                          _thread(), threading.get_native_id(), os.getpid(),
                                          reason, *tile, origin))

    def _origin(self, cube: Cube) -> str:
        """Return the label of the Mat whose data a cube has, and the line that made that."""
        origin = origin_of(cube)
        operand = operand_of(origin)
        if operand is None and cube in self._in_tiles:
            return "intermediate results"
        size, label = self._origins.get(origin, (0, _label(origin)))
        view = _largest(origin, operand)
        if view is not None and view.layout.size > size:
            label = view.label()
            self._origins[origin] = view.layout.size, label
        return f"{label} of {line_of(origin.made)}"

    # Observer

    def created(self, cube: Cube) -> None:
        if tile_now()[0]:
            self._in_tiles.add(cube)

    def left(self, record: AccessRecord, failed: bool) -> None:
        if record.direction is not INPUT and record.view is not None:
            file, line = file_and_line(record.where)
            self._dirtied[record.view.storage] = f"{file}:{line}"

    def copied(self, cube: Cube, source: Memory, target: Memory, seconds: float) -> None:
        super().copied(cube, source, target, seconds)
        self._add_copy("copy", cube, cube, (source, target), seconds)

    def copied_runs(self, cube: Cube, source: Memory, target: Memory, runs: Runs,
                    seconds: float) -> None:
        super().copied_runs(cube, source, target, runs, seconds)
        kind = "copy within" if source is target else "copy"
        self._add_copy(kind, cube, (cube, runs), (source, target), seconds)

    def _add_copy(self, kind: str, cube: Cube, of: Events, ends: tuple[Memory, Memory],
                  seconds: float) -> None:
        source, target = ends
        near, other = cube.handles.get(host()), source if target is host() else target
        self._add(kind, of, (source.name, target.name), seconds=seconds,
                  locked=near is not None and other.page_locked(near))

    def waited(self, what: str, cube: Cube, memory: Memory, seconds: float) -> None:
        super().waited(what, cube, memory, seconds)
        self._add("wait", cube, (memory.name, host().name), seconds=seconds, reason=what)

    def packed(self, view: Mat) -> None:
        super().packed(view)
        self._add("pack", view.storage, view=view)

    def allocated(self, cube: Cube, memory: Memory) -> None:
        self._add("allocation", cube, ("", memory.name))

    def freed(self, cube: Cube, memory: Memory) -> None:
        self._add("free", cube, (memory.name, ""))

    def evicted(self, cube: Cube, memory: Memory) -> None:
        self._add("eviction", cube, (memory.name, ""))

    def fell_back_since(self, operation: str, device: str, reason: str) -> None:
        super().fell_back(operation, device)
        event = self._of_call("fallback", operation, (device, "host"), 0.0)
        self.events.append(event._replace(reason=reason))

    def cut(self, operation: str, device: str, tiles: int, nbytes: int) -> None:
        self.tiled.append(TiledCall(operation, device, tiles, nbytes, line_of(user_line())))

    def computed(self, operation: str, memory: str, seconds: float) -> None:
        cut, tile = tile_now()
        operation = PASSES.get(threading.get_ident(), operation)
        name = f"{operation}, tile {tile}" if tile else operation
        event = self._of_call("operation", name, (memory, ""), seconds)
        self.operations.append(event._replace(cut=cut, tile=tile))

    def _of_call(self, kind: str, operation: str, memories: tuple[str, str],
                 seconds: float) -> TraceEvent:
        at = perf_counter() - self.begun - seconds
        return TraceEvent(kind, operation, *memories, 0, at, seconds, False, line_of(user_line()),
                          "", "", -1, _thread(), threading.get_native_id(), os.getpid())

    # Reading it

    @property
    def copies(self) -> list[TraceEvent]:
        """The copies between memories."""
        return [e for e in self.events if e.kind == "copy"]

    def ping_pong(self) -> list[PingPong]:
        """Find the Mats that moved back and forth.

        Returns
        -------
        list of PingPong
            One for each storage, those with the most bytes first. Copies that tiles make are not
            counted: `tiled` has these operations.

        Examples
        --------
        >>> import mat
        >>> x = mat.ones(2).exp_()
        >>> with mat.debug.trace() as t:
        ...     for _ in range(3):
        ...         with mat.use_device("emulated"):
        ...             x += 1
        >>> len(t.ping_pong())
        1
        """
        by_storage = _grouped((e for e in self.copies if not e.cut), lambda e: e.storage)
        found = [_back_and_forth(events) for events in by_storage.values()]
        return sorted((p for p in found if p is not None), key=lambda p: -p.nbytes)

    def chrome(self) -> dict[str, Any]:
        """Return the events for Perfetto or Chrome's trace viewer: ``json.dump(t.chrome(), file)``.

        Returns
        -------
        dict
            The events in the Trace Event Format: operations by process and thread, which have the
            system's numbers, and below them copies by memory.

        Notes
        -----
        Times are those of `time.perf_counter`, which on Linux is the monotonic clock of the system,
        as other profilers use it; the entry ``baseTimeNanoseconds``, added to them, makes times
        since 1970.

        Examples
        --------
        >>> import json
        >>> import mat
        >>> with mat.debug.trace() as t:
        ...     x = mat.ones(2) + 1
        >>> [event["name"] for event in json.loads(json.dumps(t.chrome()))["traceEvents"]
        ...  if event["ph"] == "X"]
        ['add']
        """
        return chrome(self._drawn(), self.begun)

    def save(self, path: str | os.PathLike[str], *,
             over: str | os.PathLike[str] | None = None) -> None:
        """Write a timeline to a file.

        Parameters
        ----------
        path : str or path
            The file: for a name that ends in ``.html`` a page that any browser shows without a
            network, else JSON for Perfetto, https://ui.perfetto.dev, and other viewers, compressed
            if the name ends in ``.gz``.
        over : str or path, optional
            A file that another profiler wrote of the same run, such as torch's
            ``export_chrome_trace`` or VizTracer: its events are written, too, with ours at the
            times that they have there.

        Raises
        ------
        FormatError
            If `over` has another format, or the times of another clock that is not known.

        Examples
        --------
        >>> import tempfile
        >>> import mat
        >>> with mat.debug.trace() as t:
        ...     x = mat.ones(2) + 1
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     t.save(f"{folder}/trace.json.gz")
        """
        file = Path(path)
        if file.suffix == ".html":
            if over is not None:
                raise FormatError(f"{file.name!r} cannot have the events of {str(over)!r}: "
                                  "name a file that ends in .json")
            file.write_text(page(self._drawn(), repr(self)), encoding="utf-8")
            return
        ours = self.chrome()
        trace_file.write(file, ours if over is None
                         else trace_file.laid_over(trace_file.read(Path(over)), ours))

    def __repr__(self) -> str:
        passes = [*_passes(self.operations)]
        if not self.events:
            return "\n".join(["<trace: nothing was moved>", *passes])
        head = ("line", "from host", "to host", "bytes", "ms", "within", "waits", "ms waited",
                "packs", "allocations", "evictions", "fallbacks")
        by_line = _grouped((e for e in self.events if e.kind != "free"), lambda e: e.line)
        most_first = sorted(by_line.items(), key=lambda item: -sum(
            e.nbytes for e in item[1] if e.kind == "copy"))
        cells: list[tuple[str, ...]] = [head, *starmap(_summary, most_first)]
        return "\n".join([formatting.table(cells), *map(str, self.ping_pong()),
                          *_tiled_in_words(self.tiled, self.events),
                          *passes, *_lacking(self.events)])

    def _repr_html_(self) -> str:
        return page(self._drawn(), repr(self), whole=False)

    def _drawn(self) -> list[TraceEvent]:
        return sorted([*self.events, *self.operations], key=lambda e: e.at)


def _elements(of: Events) -> tuple[Any, Runs | None]:
    """Return a cube and the elements that an event is about; None if it is about all."""
    if isinstance(of, SpanCopy):
        return of.of_cube(), run(of.start, of.stop)
    return of if isinstance(of, tuple) else (of, None)


def _thread() -> str:
    return threading.current_thread().name


def _largest(cube: Cube, operand: Mat | None = None) -> Mat | None:
    """Return the Mat that sees most of the data, of those that are known and `operand`."""
    views = cube.live_viewers()
    views += () if operand is None else (x for x in (operand.base, operand) if x is not None)
    return max(views, key=lambda x: (x.layout.size, x.layout.contiguous), default=None)


def _label(cube: Cube) -> str:
    """Return the label of the Mat that sees most of the data, or a description of the storage."""
    view = _largest(cube)
    if view is not None:
        return str(view.label())
    return f"<{formatting.counted(cube.size, 'element')} of {cube.dtype}>"


def _grouped(items: Iterable[E], key: Callable[[E], Any]) -> dict[Any, list[E]]:
    found: dict[Any, list[E]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


def _summary(line: str, events: list[TraceEvent]) -> tuple[str, ...]:
    """Return the cells of the table for one line."""
    copies = [e for e in events if e.kind == "copy"]
    waits = [e.seconds for e in events if e.kind == "wait"]
    kinds = (str(sum(e.kind == kind for e in events))
             for kind in ("pack", "allocation", "eviction", "fallback"))
    return (line, str(sum(e.source == host().name for e in copies)),
            str(sum(e.target == host().name for e in copies)), f"{sum(e.nbytes for e in copies):,}",
            f"{1e3 * sum(e.seconds for e in copies):.3f}",
            f"{sum(e.nbytes for e in events if e.kind == 'copy within'):,}", str(len(waits)),
            f"{1e3 * sum(waits):.3f}", *kinds)


def _tiled_in_words(calls: Iterable[TiledCall], events: Sequence[TraceEvent]) -> Iterator[str]:
    """Yield a paragraph for each operation and line, with the bytes by the Mat of origin."""
    by_place = _grouped(calls, lambda call: (call.operation, call.line, call.device))
    for (operation, line, device), those in by_place.items():
        numbers = sorted({call.tiles for call in those})
        tiles = f"{numbers[0]:,}" if len(numbers) == 1 else f"{numbers[0]:,} to {numbers[-1]:,}"
        times = "" if len(those) == 1 else f", {len(those)} times"
        yield (f"{operation} was cut into {tiles} tiles{times}: {line}\n"
               f"  its operands take {max(call.nbytes for call in those):,} bytes, for which "
               f"{device!r} has no room at once; with more pool_bytes they stay there")
        copies = (e for e in events if (e.kind, e.cut, e.line) == ("copy", operation, line))
        for origin, moved in _grouped(copies, lambda e: e.origin).items():
            there = sum(e.nbytes for e in moved if e.source == host().name)
            back = sum(e.nbytes for e in moved if e.target == host().name)
            yield f"  {origin}: {there:,} bytes from the host, {back:,} to it"


def _passes(operations: list[TraceEvent]) -> Iterator[str]:
    """Yield a line for each pass of a block `fused`: the operations that it computed together."""
    counts = Counter((e.mat, e.line) for e in operations if e.mat.startswith(PASS))
    for (what, line), times in counts.items():
        often = "" if times == 1 else f", {times} times"
        yield f"one pass of {what.removeprefix(PASS)}{often}: {line}"


def _lacking(events: list[TraceEvent]) -> Iterable[str]:
    """Return a line for each operation that fell back."""
    return dict.fromkeys(
        f"{e.mat} was carried out on the host, since {why_on_host(e.source, e.reason)}"
        for e in events if e.kind == "fallback")


def _back_and_forth(events: list[TraceEvent]) -> PingPong | None:
    """Return the message on the copies of one storage if they alternate, else None."""
    turns = [a for a, b in pairwise(events) if (a.source, a.target) == (b.target, b.source)]
    if len(turns) + 1 < LEAST_TURNS:
        return None
    there = next(e for e in events if e.source == host().name)
    back = next((e for e in events if e.target == host().name), there)
    return PingPong(events[-1].mat, len(turns) + 1, sum(e.nbytes for e in events), there.line,
                    back.line)


def trace() -> Observation[Trace]:
    """Record copies, packs, allocations, evictions and fallbacks during a block, in every thread.

    Returns
    -------
    context manager
        Its value in the block is a `Trace`: the events so far. It prints as a table by line, with
        the Mats that moved back and forth and what to do about it. ``events``, ``copies`` and the
        counts ``h2d``, ``d2h``, ``bytes``, ``packs``, ``waits`` and ``fallbacks`` are for
        programs; ``save("trace.html")`` draws a timeline of copies and operations.

    Notes
    -----
    While a trace lasts, calls take the path that notifies observers, which is slower.

    Examples
    --------
    >>> import mat
    >>> x = mat.ones(1000).exp_()
    >>> with mat.debug.trace() as t, mat.use_device("emulated"):
    ...     y = x + x
    >>> t.h2d, t.d2h, t.bytes
    (1, 1, 16000)
    """
    return Observation(Trace)


class _ExpectedCopies(Observation[Trace]):
    """The block of `expect_copies`."""

    def __init__(self, wanted: dict[str, int | None]) -> None:
        super().__init__(Trace)
        self.wanted = wanted
        self.trace: Trace | None = None

    def begin(self) -> Trace:
        self.trace = super().begin()
        return self.trace

    def end(self, error: BaseException | None) -> None:
        super().end(error)
        t, self.trace = self.trace, None
        if t is None or error is not None:
            return
        wrong = [f"{name} was {getattr(t, name)}, expected {n}" for name, n in self.wanted.items()
                 if n not in (None, getattr(t, name))]
        if wrong:
            raise AssertionError(f"{', '.join(wrong)}\n{t!r}")


def expect_copies(*, h2d: int | None = None, d2h: int | None = None, packs: int | None = None,
                  fallbacks: int | None = None, waits: int | None = None) -> Observation[Trace]:
    """Raise `AssertionError` at the end of a block if it made other numbers of copies; for tests.

    Parameters
    ----------
    h2d, d2h : int, optional
        The expected number of copies from the host and to it. None allows any number.
    packs : int, optional
        The expected number of strided operands that are packed.
    fallbacks : int, optional
        The expected number of operations that the host carries out for the device in use.
    waits : int, optional
        The expected number of moments at which the host waits for a device.

    Returns
    -------
    context manager
        Its value in the block is its `Trace`, which is in the text of the error, too.

    Examples
    --------
    >>> import mat
    >>> x = mat.ones(3).exp_()
    >>> with mat.debug.expect_copies(h2d=1, d2h=0), mat.use_device("emulated"):
    ...     mat.blas.dot(x, x) > 0
    True
    """
    wanted = {"h2d": h2d, "d2h": d2h, "packs": packs, "fallbacks": fallbacks, "waits": waits}
    return _ExpectedCopies(wanted)
