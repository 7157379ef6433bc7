"""Debugging tools that count, list or check accesses and copies while a block runs.

>>> import mat
>>> with mat.debug.count_copies() as n:
...     x = mat.ones(3) + 1
>>> n.h2d, n.d2h
(0, 0)
"""

from ..support.close_names import name_what_is_close as _name_what_is_close
from .counters import (
    AllocationCounter,
    CallRecorder,
    CopyCounter,
    CopyGuard,
    LibraryCall,
    allow_conflicts,
    check_directions,
    count_allocations,
    count_copies,
    guard,
    list_calls,
    nvtx_ranges,
)
from .tile_plan import PlannedCall, TilePlan, plan
from .trace import Trace, expect_copies, trace
from .watching import Watch, watch

__all__ = [
    "AllocationCounter", "CallRecorder", "CopyCounter", "CopyGuard", "LibraryCall", "PlannedCall",
    "TilePlan", "Trace", "Watch", "allow_conflicts", "check_directions", "count_allocations",
    "count_copies", "expect_copies", "guard", "list_calls", "nvtx_ranges", "plan", "trace", "watch",
]


def __dir__() -> list[str]:
    return __all__


_name_what_is_close(__name__)
