"""`sweep`: run a scenario again and again, and raise `KeyboardInterrupt` at its first line of the
package's Python code, then at its second, and so on; and `storm`: have signals raise it.

After each run `invariants.faults` says what is left behind. Compiled code has no lines. Those at
which Python handles no signal (`ends_of_blocks`) do not count.
"""

import dis
import functools
import gc
import signal
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import mat

from . import called_back
from .invariants import Legal, descriptors, faults

FOLDER = str(Path(mat.__file__).parent)
BACK = called_back.__file__
SHORTEST = 1e-4  # seconds between two signals: with less a slow machine does nothing else
MOST = 5  # faults that are told of one scenario


@functools.cache
def ends_of_blocks(code):
    """Return the offsets in `code` at which no signal is handled, though a line may begin there.

    That is where a ``with`` block has ended and ``__exit__`` is called, with None three times or
    with an error; and a ``try`` within another block, where it does nothing and belongs, for
    CPython, to neither.
    """
    found, before, last = set(), [], 0  # before: the offsets of the Nones
    handled = [range(e.start, e.end) for e in dis._parse_exception_table(code)]
    for instruction in dis.get_instructions(code):
        name, offset = instruction.opname, instruction.offset
        if name in ("CALL", "PRECALL") and len(before) > 2:
            found.update(before)
        if name == "NOP" and covered(last, handled) and not covered(offset, handled):
            found.add(offset)
        if name == "WITH_EXCEPT_START":
            found.update((last, offset))
        # a result is set aside by SWAP
        none = name == "LOAD_CONST" and instruction.argval is None
        before = [*before, offset] if none or name == "SWAP" else []
        last = offset
    return frozenset(found)


def covered(offset, ranges):
    """Return True if one of `ranges` has `offset`."""
    return any(offset in r for r in ranges)


class Lines:
    """A trace function that counts lines of the package and raises an interrupt at one of them."""

    def __init__(self, at=0):
        self.at = at
        self.count = 0
        self.where = "nowhere"

    def __call__(self, frame, event, argument):
        file = frame.f_code.co_filename
        return self.local if file.startswith(FOLDER) or file == BACK else None

    def local(self, frame, event, argument):
        """Count a line."""
        if event == "line" and frame.f_lasti not in ends_of_blocks(frame.f_code):
            self.count += 1
            if self.count == self.at:
                code = frame.f_code
                self.where = (f"{code.co_filename.removeprefix(FOLDER)}:{frame.f_lineno} "
                              f"({code.co_qualname})")
                sys.settrace(None)
                raise KeyboardInterrupt
        return self.local

    def run(self, call):
        """Call `call`; return True if the interrupt got through."""
        sys.settrace(self)
        try:
            call()
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(None)
        return False


@contextmanager
def quiet():
    """Ignore interrupts that Python swallows, as it does in a ``__del__``; keep other errors."""
    strange = []

    def hook(event):
        ours = getattr(event.object, "__module__", "mat").partition(".")[0] in ("mat", "tests")
        if event.exc_type is not KeyboardInterrupt and ours:  # zipfile's own is not
            strange.append(f"in {event.object!r}: {event.exc_type.__name__}: {event.exc_value}")

    before, sys.unraisablehook = sys.unraisablehook, hook
    try:
        yield strange
    finally:
        sys.unraisablehook = before


def prepared(scenario):
    """Run a scenario three times, so that what it caches is there; return what is legal for it."""
    legal = Legal(scenario.make(), scenario.run, scenario.also)
    for _ in range(2):
        scenario.run(**scenario.make())
    gc.collect()
    legal.descriptors = descriptors()
    return legal


def lines_of(scenario):
    """Return how many lines of the package a scenario runs."""
    lines, mats = Lines(), scenario.make()
    lines.run(lambda: scenario.run(**mats))
    return lines.count


def chosen(count, most):
    """Return at most so many numbers from 1 to `count`, spread evenly."""
    if not most or count <= most:
        return list(range(1, count + 1))
    return sorted({1 + k * (count - 1) // (most - 1) for k in range(most)})


def sweep(scenario, most=0, begin=1):
    """Interrupt `scenario` at all its lines from `begin` on, or at `most` of them.

    Return the fault, or "". It begins with the number of the line.
    """
    with quiet() as strange:
        legal = prepared(scenario)
        if (found := faults(scenario.make(), legal)):
            return f"0: without an interrupt: {found}"
        for k in chosen(lines_of(scenario), most):
            if k >= begin and (text := interrupted(scenario, k, legal, strange)):
                return text
    return ""


def became(error):
    """Return a text that says what an interrupt became; "" where `zipfile` hid it: NumPy's `savez`
    closes its archive also while an interrupted member is open, which is a `ValueError`.
    """
    hidden = "open writing handle" in str(error)
    if hidden and isinstance(error.__context__, KeyboardInterrupt):
        return ""
    return f"became {type(error).__name__}: {error}"


def interrupted(scenario, k, legal, strange):
    """Interrupt `scenario` at its `k`-th line; return the fault, or ""."""
    lines, mats = Lines(k), scenario.make()
    error = ""
    try:
        lines.run(lambda: scenario.run(**mats))
    except Exception as caught:
        error = became(caught)
    found = [error] if error else faults(mats, legal)
    if found or strange:
        text = "; ".join(map(str, [*found[:MOST], *strange]))
        strange.clear()
        return f"{k}: interrupted at {lines.where}: {text}"
    return ""


class Signals:
    """The handler of a signal that raises `KeyboardInterrupt` while it is armed."""

    def __init__(self):
        self.armed = False
        self.left = 0

    def __call__(self, number, frame):
        if self.armed:
            self.left -= 1
            self.armed = self.left > 0
            raise KeyboardInterrupt

    def run(self, call, after, times=1):
        """Call `call`, interrupted after so many seconds, at most so many times."""
        try:
            try:
                self.left = times
                self.armed = True
                signal.setitimer(signal.ITIMER_REAL, after,
                                 max(after / 7, SHORTEST) if times > 1 else 0)
                call()
                self.armed = False
            except KeyboardInterrupt:
                self.armed = False
        except KeyboardInterrupt:  # the next one
            self.armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)


def storm(scenarios, random, until, burst=1):
    """Interrupt scenarios by signals until a time; return the fault, or ""; and count the runs."""
    signals, runs, legal = Signals(), 0, {}
    before = signal.signal(signal.SIGALRM, signals)
    try:
        with quiet() as strange:
            while time.monotonic() < until:
                scenario = random.choice(scenarios)
                if scenario.name not in legal:
                    legal[scenario.name] = timed(scenario)
                for _ in range(20):
                    text = one_signal(scenario, signals, legal[scenario.name], random, burst)
                    runs += 1
                    if text or strange:
                        return f"{scenario.name}, run {runs}: {text} {strange or ''}", runs
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return "", runs


def timed(scenario):
    """Return what is legal for a scenario, and how many seconds it takes."""
    legal, mats = prepared(scenario), scenario.make()
    begin = time.perf_counter()
    scenario.run(**mats)
    return SimpleNamespace(legal=legal, seconds=time.perf_counter() - begin)


def one_signal(scenario, signals, known, random, burst):
    """Interrupt one run by a signal; return the fault, or ""."""
    mats = scenario.make()
    after = max(1e-6, random.uniform(0, 1.2 * known.seconds))
    try:
        signals.run(lambda: scenario.run(**mats), after, burst)
    except Exception as caught:
        if text := became(caught):
            return f"interrupted after {after:.7f} s: {text}"
    found = faults(mats, known.legal)
    return f"interrupted after {after:.7f} s: {'; '.join(found[:MOST])}" if found else ""
