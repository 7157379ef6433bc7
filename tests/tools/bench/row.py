"""What a row of the benchmark is: one task, ours first, then the same by the peers, and the ratio
it should stay under.
"""

from __future__ import annotations

from timeit import Timer
from typing import NamedTuple

from .timing import CALM, Pace, Thunk

BEST = "best"


class Row(NamedTuple):
    """A task; `limit` is the ratio of our time over that of `against` that it should not exceed,
    `most` the seconds.

    `against` names a peer, or is "best": the fastest of them all. Rows of one `group` have goals
    together (see `GOALS`).
    """

    name: str
    competitors: dict[str, Thunk | Timer]
    against: str = "numpy"
    limit: float | None = None
    most: float | None = None
    times: int = 1  # how often a call does the thing, so that the harness's own call does not count
    group: str = ""
    pace: Pace = CALM


class Goal(NamedTuple):
    """The geometric mean, over the rows of a group, of our time over that of a peer, should be at
    most `limit`.
    """

    group: str
    against: str
    limit: float
