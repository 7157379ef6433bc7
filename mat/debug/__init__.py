"""Seeing what happens: copies, packs, allocations and library calls counted or listed while a block
runs.
"""

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
    expect_copies,
    guard,
    list_calls,
)

__all__ = [
    "AllocationCounter",
    "CallRecorder",
    "CopyCounter",
    "CopyGuard",
    "LibraryCall",
    "allow_conflicts",
    "check_directions",
    "count_allocations",
    "count_copies",
    "expect_copies",
    "guard",
    "list_calls",
]
