"""Timing several ways to do one thing, in turns, so that a noisy machine disturbs all of them
alike.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from statistics import median
from time import perf_counter, sleep
from typing import NamedTuple

Thunk = Callable[[], object]
SAMPLE = 20e-3  # seconds that one sample should take at least
PAUSE = 0.04  # seconds after which the threads of a BLAS sleep


class Measured(NamedTuple):
    """Median seconds of a call of each competitor, and the median of our time over theirs, round by
    round.
    """

    seconds: dict[str, float]
    ratios: dict[str, float]

    def shared_by(self, times: int) -> Measured:
        """The same for one of so many things that a call does."""
        return Measured({name: s / times for name, s in self.seconds.items()}, self.ratios)


def calls_for(thunk: Thunk, seconds: float = SAMPLE) -> int:
    """How many calls take at least `seconds`."""
    calls = 1
    while True:
        begin = perf_counter()
        for _ in range(calls):
            thunk()
        spent = perf_counter() - begin
        if spent > seconds or calls > 1_000_000:
            return calls
        calls *= 2


def sample(thunk: Thunk, calls: int) -> float:
    """Seconds of one call, as the mean of `calls`."""
    begin = perf_counter()
    for _ in range(calls):
        thunk()
    return (perf_counter() - begin) / calls


def measure(competitors: dict[str, Thunk], rounds: int) -> Measured:
    """Time ours, the first, against each of the others in turn; they never run between each other's
    samples.

    Before each sample a pause lets the threads of the library that ran before go to sleep: several
    pools in one process otherwise spin on each other's cores, which makes any of them look ten
    times slower.
    """
    ours, *peers = competitors
    calls = {name: calls_for(thunk) for name, thunk in competitors.items()}
    found = {peer: _pair(competitors, calls, ours, peer, rounds) for peer in peers}
    times = [a for pairs in found.values() for a, _ in pairs]
    seconds = {ours: median(times)} | {peer: median(b for _, b in pairs) for peer,
                                       pairs in found.items()}
    return Measured(seconds,
                    {peer: median(a / b for a, b in pairs) for peer, pairs in found.items()})


def _pair(competitors: dict[str, Thunk], calls: dict[str, int], ours: str, peer: str,
          rounds: int) -> list[tuple[float, float]]:
    """Seconds of both, in turns: A B, B A, A B, ..."""
    gc.collect()
    gc.disable()
    pairs = []
    try:
        for turn in range(rounds):
            order = (ours, peer) if turn % 2 == 0 else (peer, ours)
            took = {name: _rested(competitors[name], calls[name]) for name in order}
            pairs.append((took[ours], took[peer]))
    finally:
        gc.enable()
    return pairs


def _rested(thunk: Thunk, calls: int) -> float:
    sleep(PAUSE)
    sample(thunk, max(1, calls // 2))  # threads are awake and the caches ours again
    return sample(thunk, calls)
