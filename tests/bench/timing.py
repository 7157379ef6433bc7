"""Timing several ways to do one thing, in turns, so that a noisy machine disturbs all of them alike."""

from __future__ import annotations

import gc
from collections.abc import Callable
from statistics import median
from time import perf_counter, sleep
from typing import NamedTuple

Thunk = Callable[[], object]
SAMPLE = 2e-3  # seconds that one sample should take at least


class Measured(NamedTuple):
    """Median seconds of a call of each competitor, and the median of our time over theirs, round by round."""

    seconds: dict[str, float]
    ratios: dict[str, float]


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


def measure(competitors: dict[str, Thunk], rounds: int, pause: float = 0.0) -> Measured:
    """Time all competitors in turns, `rounds` times; the first one is ours.

    `pause` seconds before each sample let the thread pool of the one before go to sleep, which otherwise spins on our core.
    """
    calls = {name: calls_for(thunk) for name, thunk in competitors.items()}
    samples: dict[str, list[float]] = {name: [] for name in competitors}
    gc.collect()
    gc.disable()
    try:
        for turn in range(rounds):
            names = list(competitors)
            for name in names[turn % len(names):] + names[:turn % len(names)]:
                sleep(pause)
                samples[name].append(sample(competitors[name], calls[name]))
    finally:
        gc.enable()
    ours = samples[next(iter(competitors))]
    ratios = {name: median(a / b for a, b in zip(ours, theirs, strict=True)) for name, theirs in samples.items()}
    return Measured({name: median(s) for name, s in samples.items()}, ratios)
