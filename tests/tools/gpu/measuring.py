"""Timing what a device does: many calls, then waiting for it; everybody in turns, after a
warm-up.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter

from .item import MEMORY, Figure, Item, Section, Thunk
from .journal import Recorder


@dataclass
class Found:
    """What was measured of an item or a figure: seconds of a call, or a number; or why there is
    nothing.
    """

    name: str
    seconds: float | None = None
    others: dict[str, float] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)  # others that failed
    goals: dict[str, float] = field(default_factory=dict)
    nbytes: int = 0
    operations: float = 0.0
    kind: str = ""
    number: float | None = None
    least: float | None = None
    unit: str = ""
    failed: str = ""

    def reached(self, bandwidth: float = 0.0) -> list[tuple[str, float, float, bool]]:
        """Goals that can be judged: against whom, what was asked for, what was found, and whether
        that is enough. `bandwidth` is that of the device's memory, in bytes a second.
        """
        others = dict(self.others)
        if bandwidth:
            others[MEMORY] = self.nbytes / bandwidth
        found = [(peer, least, others[peer] / self.seconds) for peer, least in self.goals.items()
                 if self.seconds and peer in others]
        if self.least is not None and self.number is not None:
            found.append(("", self.least, self.number))
        return [(peer, least, got, got >= least) for peer, least, got in found]


def run(section: Callable[[], Section], synchronize: Thunk, quick: bool,
        recorder: Recorder | None = None, title: str = "") -> Iterator[Found]:
    """Measure all of a section, whatever of it fails, but for what `recorder` has already, by
    `name_of` the title and the name.
    """
    items = section()
    finished = set() if recorder is None else recorder.finished()
    last = "the start"
    while True:
        making = name_of(title, f"(after {last})")
        if making in finished:  # a process has ended there
            return
        if recorder is not None:
            recorder.begin(making)
        try:
            item = next(items)
        except StopIteration:
            return
        except Exception as error:
            traceback.print_exc()
            yield Found("(all that comes after)", failed=_words(error))
            return
        last = item.name
        if name_of(title, item.name) in finished:
            continue
        if recorder is not None:
            recorder.begin(name_of(title, item.name))
        try:
            yield _figure(item) if isinstance(item, Figure) else _item(item, synchronize, quick)
        except Exception as error:
            traceback.print_exc()
            yield Found(item.name, failed=_words(error))


def name_of(title: str, name: str) -> str:
    """Return the name in the journal of a row of a section."""
    return f"{title}: {name}"


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]


def _figure(figure: Figure) -> Found:
    return Found(figure.name, number=figure.measure(), least=figure.least, unit=figure.unit)


def _item(item: Item, synchronize: Thunk, quick: bool) -> Found:
    all_of_them, notes = {"": item.ours, **item.peers}, {}
    calls: dict[str, int] = {}
    for name, thunk in all_of_them.items():
        try:
            calls[name] = _calls(thunk, synchronize, quick)
        except Exception as error:
            if not name:
                raise
            notes[name] = _words(error)  # ours is measured all the same
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(1 if quick else 7):
        for name in (calls if turn % 2 == 0 else reversed(calls)):
            taken[name].append(_sample(all_of_them[name], calls[name], synchronize))
    times = {name: median(found) for name, found in taken.items()}
    return Found(item.name, times.pop(""), times, notes, item.goals, item.nbytes, item.operations,
                 item.kind)


def _calls(thunk: Thunk, synchronize: Thunk, quick: bool) -> int:
    """How many calls take 20 ms; after some that do not count, since the first compiles, loads,
    copies to the device and allocates.
    """
    for _ in range(1 if quick else 2):
        thunk()
    if quick:
        return 1
    calls = 1
    while _sample(thunk, calls, synchronize) * calls < 20e-3 and calls < 100_000:
        calls *= 2
    return calls


def _sample(thunk: Thunk, calls: int, synchronize: Thunk) -> float:
    synchronize()
    begin = perf_counter()
    for _ in range(calls):
        thunk()
    synchronize()
    return (perf_counter() - begin) / calls
