"""What is measured: an item is one task, ours and that of others; a figure is a single number. Both
may have goals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

Thunk = Callable[[], object]
COPY, BUS, TORCH, CUPY, CUBLAS = "device copy", "bus", "torch", "CuPy", "cuBLAS"
MEMORY = "memory's rate"  # what the device's attributes say it could move
BEST = {TORCH: 1.0, CUPY: 1.0}


@dataclass
class Item:
    """A task that `ours` does, and each of `peers`; in all, it moves so many bytes, and takes so
    many operations on elements of a `kind`.

    A goal is how many times the speed of a peer ours should at least have.
    """

    name: str
    ours: Thunk
    peers: dict[str, Thunk] = field(default_factory=dict)
    goals: dict[str, float] = field(default_factory=dict)
    nbytes: int = 0
    operations: float = 0.0
    kind: str = ""


@dataclass
class Figure:
    """A number that `measure` gives, which should at least be `least`."""

    name: str
    measure: Callable[[], float]
    least: float | None = None
    unit: str = ""


# each made when its turn comes, so that not all are in memory at a time
Section = Iterator[Item | Figure]
