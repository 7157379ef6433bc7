"""Timing several ways to do one thing, in turns, so that a noisy machine disturbs all of them
alike.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from statistics import median
from time import perf_counter, sleep, thread_time
from timeit import Timer
from typing import NamedTuple

Thunk = Callable[[], object]


class Pace(NamedTuple):
    """How samples are taken: the seconds that one takes at least, the seconds of the pause before
    it, how many there are for each round that was asked for, and the clock.
    """

    sample: float
    pause: float
    repeats: int
    clock: Callable[[], float] = perf_counter


CALM = Pace(20e-3, 0.04, 1)  # the threads of a BLAS sleep after 40 ms
# for what takes microseconds, in one thread: on a busy machine only that thread's time is ours
QUICK = Pace(1e-3, 0, 15, thread_time)


class Measured(NamedTuple):
    """Median seconds of a call of each competitor, and the median of our time over theirs, round by
    round.
    """

    seconds: dict[str, float]
    ratios: dict[str, float]

    def shared_by(self, times: int) -> Measured:
        """The same for one of so many things that a call does."""
        return Measured({name: s / times for name, s in self.seconds.items()}, self.ratios)


def calls_for(timer: Timer, seconds: float) -> int:
    """How many calls take at least `seconds`, after a first one, which plans and loads."""
    timer.timeit(1)
    calls = 1
    while timer.timeit(calls) <= seconds and calls <= 1_000_000:
        calls *= 2
    return calls


def measure(competitors: dict[str, Thunk | Timer], rounds: int, pace: Pace = CALM) -> Measured:
    """Time ours, the first, against each of the others in turn; they never run between each other's
    samples.

    With a pause before each sample, the threads of the library that ran before go to sleep: several
    pools in one process otherwise spin on each other's cores, which makes any of them look ten
    times slower. The garbage collector is off, as `timeit` has it.
    """
    timers = {name: c if isinstance(c, Timer) else Timer(c) for name, c in competitors.items()}
    for timer in timers.values():
        timer.timer = pace.clock
    ours, *peers = timers
    calls = {name: calls_for(timer, pace.sample) for name, timer in timers.items()}
    found = {}
    for peer in peers:
        pair = [(timers[name], calls[name]) for name in (ours, peer)]
        found[peer] = _in_turns(pair, rounds * pace.repeats, pace.pause)
    times = [a for pairs in found.values() for a, _ in pairs]
    seconds = {ours: median(times)} | {peer: median(b for _, b in pairs) for peer,
                                       pairs in found.items()}
    return Measured(seconds,
                    {peer: median(a / b for a, b in pairs) for peer, pairs in found.items()})


def _in_turns(pair: list[tuple[Timer, int]], rounds: int,
              pause: float) -> list[tuple[float, float]]:
    """Seconds of a call of both: A B, B A, A B, ..."""
    gc.collect()
    pairs = []
    for turn in range(rounds):
        took = [_sample(*each, pause) for each in pair[::-1 if turn % 2 else 1]]
        pairs.append((took[turn % 2], took[1 - turn % 2]))
    return pairs


def _sample(timer: Timer, calls: int, pause: float) -> float:
    """Seconds of one call, as the mean of `calls`."""
    if pause:
        sleep(pause)
        timer.timeit(max(1, calls // 2))  # threads are awake and the caches ours again
    return timer.timeit(calls) / calls
