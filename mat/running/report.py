"""What a program's lines cost: time by samples of the stacks of its threads, and by the events that
`mat.debug.trace` records, the copies, waits and fallbacks. The report is a table by source line, as
text and as HTML, and what to write instead of the lines that would gain most.
"""

from __future__ import annotations

import ast
import linecache
import os
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import NamedTuple, TypeAlias

from ..core.compiled import IN_USE
from ..core.cube import Cube
from ..core.observers import INSTEAD, Observation, Observer, observe, observe_transfers
from ..core.registry import Memory, host
from ..core.runs import Runs
from ..core.source_line import cell_of
from ..support import formatting
from ..support.fork import WithLock
from ..support.plugins import plugin
from .stand_in import EXPORTED, ProgramFiles

TICK = 0.005  # seconds between samples
Line: TypeAlias = tuple[str, int]  # of a file
NOWHERE: Line = ("", 0)  # no line of the program


class LineCost:
    """The cost of one line."""

    def __init__(self) -> None:
        self.seconds: float = 0.0  # of the samples in which a thread was in that line
        self.there: int = 0  # bytes that were copied to a device
        self.back: int = 0  # and to the host
        self.waits: Counter[str] = Counter()  # by what the host waited for
        self.fallbacks: Counter[str] = Counter()  # functions that the host carried out
        self.kept: Counter[str] = Counter()  # those that NumPy did with arrays that cannot be Mats
        self.moving: float = 0.0  # the time of copies and waits
        self.reasons: dict[str, str] = {}  # of fallbacks
        self.places: Counter[str] = Counter()  # the memories of the operations that were sampled

    @property
    def on_device(self) -> float:
        """The part of the operations that a device computes."""
        every = self.places.total()
        return 1 - self.places[host().name] / every if every else 0.0

    @property
    def place(self) -> str:
        """Where the line computes: on the device, the host, or both."""
        part = self.on_device
        if not self.places and (self.there or self.back):
            return "both"
        return "device" if part > 0.9 else "both" if part > 0.1 else "host"


class Profile(WithLock, Observer):
    """The costs of a program by line; an observer of its copies, waits and fallbacks."""

    def __init__(self, program: ProgramFiles) -> None:
        self.program = program
        self.lines: dict[Line, LineCost] = {}
        self.begun: float = perf_counter()
        self.seconds: float = 0.0  # of the whole
        super().__init__()

    def line_of(self, frame: FrameType | None) -> Line:
        """Return the innermost line of the program that led to a frame."""
        known, has = self.program.known, self.program.has
        while frame is not None:
            file = frame.f_code.co_filename
            owned = known.get(file)
            if has(file) if owned is None else owned:
                return file, frame.f_lineno or frame.f_code.co_firstlineno
            frame = frame.f_back
        return NOWHERE

    def cost(self, line: Line) -> LineCost:
        """Return the cost of a line, to be changed under the lock."""
        found = self.lines.get(line)
        if found is None:
            found = self.lines[line] = LineCost()
        return found

    def _here(self) -> LineCost:
        return self.cost(self.line_of(sys._getframe(2)))

    # Observer

    def copied(self, cube: Cube, source: Memory, target: Memory, seconds: float) -> None:
        self._moved(cube.nbytes, source, target, seconds)

    def copied_runs(self, cube: Cube, source: Memory, target: Memory, runs: Runs,
                    seconds: float) -> None:
        if source is not target:
            self._moved(runs.size * cube.nbytes // cube.units, source, target, seconds)

    def _moved(self, nbytes: int, source: Memory, target: Memory, seconds: float) -> None:
        with self._lock:
            cost = self._here()
            cost.there += nbytes * (source is host())
            cost.back += nbytes * (target is host())
            cost.moving += seconds

    def waited(self, what: str, cube: Cube, memory: Memory, seconds: float) -> None:
        with self._lock:
            cost = self._here()
            cost.waits[what] += 1
            cost.moving += seconds

    def fell_back_since(self, operation: str, device: str, reason: str) -> None:
        with self._lock:
            cost = self._here()
            cost.fallbacks[operation] += 1
            cost.reasons[operation] = reason

    def kept(self, name: str) -> None:
        """Count a call that NumPy carried out with arrays that cannot be Mats."""
        with self._lock:
            self._here().kept[name] += 1

    def sampled(self, frame: FrameType, seconds: float) -> bool:
        """Count a sample of a thread's stack; return whether the program is in it."""
        line = self.line_of(frame)
        if line is NOWHERE:
            return False
        with self._lock:
            self.cost(line).seconds += seconds
        return True

    def placed(self, memory: str) -> None:
        """Count an operation that was sampled."""
        with self._lock:
            self._here().places[memory] += 1


class _OneOperation(Observer):
    """An observer of the next operation only."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.block: Observation[_OneOperation] | None = None

    def open(self) -> None:
        """Observe the next operation, unless that has not come yet."""
        if self.block is None:
            self.block = observe(self)
            self.block.__enter__()

    def close(self) -> None:
        """Observe no more."""
        block, self.block = self.block, None
        if block is not None:
            block.__exit__(None, None, None)

    def computed(self, operation: str, memory: str, seconds: float) -> None:
        self.close()
        self.profile.placed(memory)


class _Sampler:
    """A thread that samples the stacks of all others."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.stop = threading.Event()
        self.operation = _OneOperation(profile)
        self.thread = threading.Thread(target=self.run, name="mat-run-sampler", daemon=True)

    def run(self) -> None:
        """Sample until told to stop."""
        own, last = threading.get_ident(), perf_counter()
        while not self.stop.wait(TICK):
            now = perf_counter()
            for thread, frame in sys._current_frames().items():
                if thread != own:
                    self.profile.sampled(frame, now - last)
            if IN_USE:
                self.operation.open()
            last = now
        self.operation.close()


@contextmanager
def profiled(program: ProgramFiles) -> Iterator[Profile]:
    """Measure the lines of a program in this block."""
    profile = Profile(program)
    sampler = _Sampler(profile)
    sampler.thread.start()
    try:
        with observe_transfers(profile):
            yield profile
    finally:
        sampler.stop.set()
        sampler.thread.join()
        profile.seconds = perf_counter() - profile.begun


LINES = 20  # of the table as text
SHOWN = 60  # characters of a line of source
HEAD = ("line", "where", "ms", "waits", "fallbacks", "to device", "to host", "source")
# of nothing but the report, since a notebook has other things on its page
STYLE = (".mat-run table{border-collapse:collapse;font:13px/1.4 ui-monospace,monospace}"
         ".mat-run th,.mat-run td{padding:.1em .7em;text-align:right;"
         "border-bottom:1px solid rgba(127,127,127,.25)}"
         ".mat-run :is(th,td):is(:first-child,:last-child){text-align:left}"
         ".mat-run td:last-child{white-space:pre}.mat-run .device td:nth-child(2){color:#4c8f4c}"
         ".mat-run li{margin:.5em 0}")


class Row(NamedTuple):
    """A line of the report."""

    line: Line
    cost: LineCost

    def cells(self, folder: str) -> tuple[str, ...]:
        """Return the cells of the table."""
        cost = self.cost
        return (shown(self.line, folder), cost.place, f"{1e3 * cost.seconds:,.1f}",
                _count(cost.waits.total()), _count(cost.fallbacks.total() + cost.kept.total()),
                _count(cost.there), _count(cost.back), source(self.line))


class Report:
    """The cost of a program by line, from its profile, with its name and the device in use."""

    def __init__(self, profile: Profile, name: str, device: str) -> None:
        self.profile = profile
        self.name = name
        self.device = device
        self.folder = os.getcwd() + os.sep
        self.rows = sorted((Row(line, cost) for line, cost in profile.lines.items()),
                           key=lambda row: -row.cost.seconds)

    @property
    def share(self) -> float:
        """The part of the time in lines that compute on the device."""
        every = sum(row.cost.seconds for row in self.rows)
        return sum(row.cost.seconds * row.cost.on_device for row in self.rows) / (every or 1.0)

    def summary(self) -> str:
        """Return one sentence on the whole."""
        costs = [row.cost for row in self.rows]
        waits, fallbacks, kept = (sum(counter.total() for counter in counters) for counters in (
            [c.waits for c in costs], [c.fallbacks for c in costs], [c.kept for c in costs]))
        found = [f"{self.profile.seconds:.3f} s on {self.device}"]
        if self.device != "cpu":
            found += [f"{self.share:.0%} of it in lines on the device", f"{waits:,} waits",
                      f"{fallbacks:,} fallbacks", f"{sum(c.there for c in costs):,} bytes there",
                      f"{sum(c.back for c in costs):,} back"]
        if kept:
            found.append(f"{kept:,} calls by NumPy, with texts, dates, objects or shared memory")
        return f"{self.name}: {', '.join(found)}"

    def __str__(self) -> str:
        rows = [row for row in self.rows if _counts(row, self.profile)]
        cells = [HEAD, *(row.cells(self.folder) for row in rows[:LINES])]
        more = len(rows) - LINES
        return "\n".join([self.summary(), formatting.table(cells),
                          *([f"({more} more lines)"] if more > 0 else []), *self._advice()])

    def _advice(self) -> list[str]:
        found = advice(self.profile)
        lines = ["What would gain most:"] if found else []
        for k, a in enumerate(found, 1):
            lines += [f"{k}. {shown(a.line, self.folder)}, up to {1e3 * a.seconds:,.0f} ms: "
                      f"{a.why}", f"   {source(a.line)}", f"   Instead: {a.instead}"]
        return lines

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report as a page that any browser shows without a network."""
        Path(path).write_text(self.page(), encoding="utf-8")

    def page(self) -> str:
        """Return the report as a page of HTML."""
        return formatting.html_page(f"mat run: {_text(self.name)}", "",
                                    f"<h1>{_text(self.name)}</h1>{self._repr_html_()}")

    def _repr_html_(self) -> str:
        longest = max((row.cost.seconds for row in self.rows), default=0.0) or 1.0
        body = "".join(self._row(row, row.cost.seconds / longest) for row in self.rows)
        head = "".join(f"<th>{cell}</th>" for cell in HEAD)
        items = "".join(
            f"<li><b>{_text(shown(a.line, self.folder))}</b>, up to {1e3 * a.seconds:,.0f} ms: "
            f"{_text(a.why)}<br><code>{_text(source(a.line))}</code><br>Instead: "
            f"{_text(a.instead)}</li>" for a in advice(self.profile))
        listed = f"<h2>What would gain most</h2><ol>{items}</ol>" if items else ""
        return (f'<style>{STYLE}</style><div class="mat-run"><p>{_text(self.summary())}</p>{listed}'
                f"<h2>By line</h2><table><tr>{head}</tr>{body}</table></div>")

    def _row(self, row: Row, part: float) -> str:
        cells = [f"<td>{_text(cell)}</td>" for cell in row.cells(self.folder)]
        cells[2] = (f'<td style="background:linear-gradient(to left,rgba(59,118,181,.35) '
                    f'{part:.1%},transparent 0)">{1e3 * row.cost.seconds:,.1f}</td>')
        return f'<tr class="{row.cost.place}">{"".join(cells)}</tr>'


def shown(line: Line, folder: str) -> str:
    """Return a line as ``FILE:LINE``."""
    if line == NOWHERE:
        return "(libraries)"
    cell = cell_of(line[0])
    if cell is not None:
        return f"{cell}:{line[1]}"
    return f"{line[0].removeprefix(folder)}:{line[1]}"


def source(line: Line) -> str:
    """Return the source of a line, shortened."""
    text = linecache.getline(*line).strip()
    return text if len(text) <= SHOWN else f"{text[:SHOWN - 3]}..."


def _count(number: int) -> str:
    return f"{number:,}" if number else ""


def _counts(row: Row, profile: Profile) -> bool:
    """Return whether a row is worth a line as text."""
    cost = row.cost
    events = cost.waits or cost.fallbacks or cost.kept or cost.there or cost.back
    return bool(events) or cost.seconds > 0.005 * profile.seconds


def _text(value: str) -> str:
    found: str = plugin("html").escape(value)
    return found


# What to write instead of the lines that would gain most


MOST = 3  # lines, at most
MANY_WAITS = 10  # which are worth a change however short they are: a GPU idles meanwhile
LEAST = 0.01  # the part of the program's time from which on a line is worth a change
_FUNCTIONS = {  # what to write instead of functions that no device computes
    "append": "collect the parts in a list, and join them once: np.concatenate(parts)",
    "insert": "write into an array of the final size: np.empty(n)",
    "delete": "select what stays by one mask: x[keep]",
    "vectorize": "write the function for whole arrays: np.where, np.select, arithmetic",
    "apply_along_axis": "call the function with axis=, for all rows at once",
    "apply_over_axes": "call the function with a tuple of axes",
    "loadtxt": "read it once, and keep it as .npy: np.save, np.load",
    "genfromtxt": "read it once, and keep it as .npy: np.save, np.load",
    "savetxt": "write it once, after the loop, or as .npy: np.save",
    "array_str": "print it after the loop", "array_repr": "print it after the loop",
    "array2string": "print it after the loop"}


class Advice(NamedTuple):
    """A replacement for a line."""

    line: Line
    seconds: float  # that it might save
    why: str  # its fault
    instead: str


def advice(profile: Profile) -> list[Advice]:
    """Return replacements for the lines that would gain most."""
    found = [a for line, cost in profile.lines.items() if line is not NOWHERE
             if (a := _of(line, cost)) is not None and a.seconds > LEAST * profile.seconds]
    return sorted(found, key=lambda a: -a.seconds)[:MOST]


def _of(line: Line, cost: LineCost) -> Advice | None:
    if cost.fallbacks:
        name, times = cost.fallbacks.most_common(1)[0]
        return Advice(line, cost.seconds, f"{name} is carried out on the host {_times(times)}"
                      f"{cost.reasons[name] and f', since {cost.reasons[name]}'}",
                      _FUNCTIONS.get(name, "compute it once, before the loop, or with the data of "
                                           "the host around it in one block"))
    if cost.waits and (cost.moving > cost.seconds / 10 or cost.waits.total() >= MANY_WAITS):
        what, times = cost.waits.most_common(1)[0]
        return Advice(line, max(cost.moving, cost.seconds / 2),
                      f"the host waits for {what} {_times(times)}",
                      INSTEAD.get(what, "compute with it where it is: with whole arrays, and print "
                                        "and save after the loop"))
    if cost.there + cost.back and cost.moving > cost.seconds / 10:
        return Advice(line, cost.moving, f"{cost.there + cost.back:,} bytes are copied",
                      "make the array once, before the loop, and write into it: x[...] = y")
    if cost.kept:
        name, times = cost.kept.most_common(1)[0]
        if name == EXPORTED:
            return Advice(line, cost.seconds / 2, "a library still has the array that is written, "
                          f"so that it is copied {_times(times)}",
                          "write into a new array, or give the library a copy: x.copy()")
        return Advice(line, cost.seconds, f"{name} has elements that no Mat can have, "
                      f"{_times(times)}", "compute with numbers: codes for texts, seconds for "
                                          "dates, a column for each field")
    return _of_the_host(line, cost)


def _of_the_host(line: Line, cost: LineCost) -> Advice | None:
    """Return a replacement for a loop over elements, or for a long expression."""
    file, number = line
    node = _statement(file, number)
    if node is None:
        return None
    if _indexes_by_loop(file, number):
        return Advice(line, cost.seconds * 0.9, "a loop over elements",
                      "compute with slices or masks of whole arrays, a[1:] - a[:-1], np.where(m, "
                      "x, y), or write a mat.kernel")
    operators = sum(isinstance(n, ast.BinOp) for n in ast.walk(node))
    if operators > 1 and not cost.on_device:
        return Advice(line, cost.seconds / 2, f"{operators} operators make an array each",
                      "run it with --fused, or write with out= into arrays that are kept")
    return None


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


@cache
def _tree(file: str) -> ast.Module | None:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return None


def _around(file: str, number: int) -> Iterator[ast.stmt]:
    """Yield the statements around a line, innermost last."""
    tree = _tree(file)
    for node in () if tree is None else ast.walk(tree):
        if isinstance(node, ast.stmt) and node.lineno <= number <= (node.end_lineno or 0):
            yield node


def _statement(file: str, number: int) -> ast.stmt | None:
    """Return the innermost statement of a line; None for the head of a compound one."""
    found = [n for n in _around(file, number) if not hasattr(n, "body")]
    return found[-1] if found else None


def _indexes_by_loop(file: str, number: int) -> bool:
    """Return whether a line reads an array by the variable of a loop around it, alone."""
    loops = [n for n in _around(file, number) if isinstance(n, ast.For)]
    names = {n.id for loop in loops for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
    node = _statement(file, number)
    return node is not None and any(
        isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Load)
        and not any(isinstance(m, (ast.Slice, ast.Compare)) for m in ast.walk(n.slice))  # masks
        and names & {m.id for m in ast.walk(n.slice) if isinstance(m, ast.Name)}
        for n in ast.walk(node))
