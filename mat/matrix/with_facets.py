"""Access to several Mats at once, and scopes for their copies: `with_facets` and `barrier`."""

from __future__ import annotations

import sys
from typing import Any

from ..core.access import (
    Access,
    enter_all,
    leave_all,
    settle_directions,
    undo,
    user_place,
    value_for_block,
)
from ..core.cube import AccessRecord, Barrier, Direction, memory_named
from ..errors import ConflictError, DTypeError, FacetError
from .mat import Mat


class AccessGroup:
    """Several looks, entered together or not at all; gives the tuple of what their facets
    present.
    """

    __slots__ = ("accesses", "records")

    def __init__(self, accesses: list[Access]) -> None:
        self.accesses = accesses
        self.records: list[AccessRecord] = []

    def __enter__(self) -> tuple[Any, ...]:
        if self.records:
            raise ConflictError("these accesses are already open: "
                                f"{self.records[0].describe()}; call with_facets again")
        records = enter_all(self.accesses, user_place(sys._getframe(1)))
        try:
            values = tuple(value_for_block(records[access]) for access in self.accesses)
        except BaseException:
            for record in reversed(records.values()):
                undo(record)
            raise
        self.records = list(records.values())
        return values

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        records, self.records = self.records, []
        leave_all(records, kind is not None)


def with_facets(*requests: tuple[Any, ...]) -> AccessGroup:
    """``with with_facets((x, "array", "input"), (y, "foreign", "io")) as (a, p):`` looks at several
    Mats at once.

    Each request is ``(mat, facet, direction)``, the direction ``"io"`` if left out. Directions are
    joined for each storage first: one that is asked for as input and as output is ``io``. Always
    gives a tuple.

    >>> import mat
    >>> x, y = mat.ones(2), mat.zeros(2)
    >>> with mat.with_facets((x, "array", "input"), (y, "array", "output")) as (a, b):
    ...     b[:] = 2 * a
    >>> y
    <Mat 2 A [2. 2.]>
    """
    accesses = [_requested(*(request if isinstance(request, tuple | list) else (request, None)))
                for request in requests]
    settle_directions(accesses)
    return AccessGroup(accesses)


def _requested(mat: Any, facet: str, direction: str | Direction = "io") -> Access:
    if not isinstance(mat, Mat):
        raise DTypeError(f"with_facets wants (mat, facet, direction), got {mat!r}; "
                         "mat.from_numpy(a) makes a Mat of an "
                         f"array without copying")
    return mat.facet(facet, direction)


def barrier(ensure: str = "host", drop: str | tuple[str, ...] = ()) -> Barrier:
    """``with mat.barrier(ensure="host", drop="cuda") as b:`` drops, at its end, the copies made
    inside in `drop` memories.

    Data that would be fresh nowhere else is copied to the memory `ensure` first, so nothing is
    lost. ``b.count`` is how many copies would be dropped now. `ConflictError` at the end for a copy
    that is still looked at or kept; it stays.

    >>> import mat
    >>> with mat.barrier(drop=()) as b:
    ...     b.count
    0
    """
    names = (drop,) if isinstance(drop, str) else tuple(drop)
    doomed = tuple(memory_named(name) for name in names)
    if memory_named(ensure) in doomed:
        raise FacetError(f"a barrier cannot both ensure and drop {ensure!r}")
    return Barrier(memory_named(ensure), doomed)
