"""`AccessRecord`: thread and task of an access to a storage, facet, direction and source line."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..errors import ConflictError, MatError
from .compiled import ArrayLender as NewArrayLender
from .direction import INPUT, Direction
from .registry import Facet, Handle, Presented, ViewLike
from .runs import NONE, Runs
from .source_line import SourceLine, describe, label_of
from .span_copy import SpanCopy

_array_lender = NewArrayLender  # with a type of C


class AccessRecord:
    """An access: the presented value, and while it lasts, its view, thread, direction and line.

    A record outlives its access in `View.presented`, so that the next access finds the value.
    """

    __slots__ = ("bit", "direction", "facet", "handle", "make_value", "mask", "only_holds", "runs",
                 "task", "thread", "unchanged", "used", "value", "view", "where")

    def __init__(self, facet: Facet, handle: Handle, value: Presented) -> None:
        self.facet: Facet = facet
        self.mask: int = facet.mask
        self.bit: int = facet.bit
        self.handle: Handle = handle
        self.value: Presented = value
        # makes what a block is given; None: it is given the value itself
        self.make_value: Callable[[], Presented] | None = (
            None if value is None else facet.lender(value))
        self.reset()

    def reset(self) -> None:
        """Be in use by no access: the record may be used again."""
        # a `ViewLike`, only while it lasts, so that a Mat is in no cycle
        self.view: Any = None
        # where copies have spans: the elements that it accesses, and in which copy
        self.runs: Runs = NONE
        self.used: SpanCopy | None = None
        self.unchanged: bool = False  # it reads, and nothing was copied or allocated for it
        self.only_holds: bool = False  # a copy, and accesses within it may write
        self.where: SourceLine | None = None
        self.task: object = None  # of asyncio
        self.direction: Direction = INPUT
        self.thread: int = 0  # an id of `THREADS`; the last thing to be set

    def begin(self, view: ViewLike, direction: Direction, thread: int, task: object) -> None:
        """Record who accesses the data."""
        self.view = view
        self.direction = direction
        self.task = task
        self.thread = thread

    def lent(self) -> Presented:
        """Return the object that a block receives: the value, or one made of it for each block."""
        make = self.make_value
        if make is None:
            return self.value
        if type(make) is _array_lender:
            lender: Any = make
            return lender.lend()
        return make()

    def narrow(self) -> None:
        """Limit `runs` to the accessed elements, without the gaps between them."""
        if self.view is not None:
            self.runs = narrowed(self.runs, self.view)

    @property
    def way_out(self) -> str:
        """How to resolve a conflict with this access."""
        return "leave that block first, or work on a copy"

    def describe(self) -> str:
        """Return the Mat, facet, direction, thread, file and line in words."""
        return describe(self.view, self.facet, self.direction, self.thread, self.where)

    def label(self) -> str:
        """Return a short name for the view that is accessed."""
        return label_of(self.view)

    def note_read_only(self, error: BaseException | None) -> None:
        """Add to an error about writing a read-only array how it could be for writing."""
        if (self.direction is INPUT and isinstance(error, (ValueError, TypeError))
                and not isinstance(error, MatError) and "read-only" in str(error)):
            error.add_note(f"{self.describe()}: to write it, request 'io', or 'output' to "
                           "overwrite all of it")


def narrowed(runs: Runs, view: ViewLike) -> Runs:
    """Return the elements that `view` sees, given their `runs` or their bounds."""
    return runs if runs.size == view._count() else view._touched_alone()


def without_outer(accesses: Iterable[AccessRecord], block: AccessRecord, runs: Runs) -> Runs:
    """Return the elements of `runs` that no enclosing block of the same task and memory writes."""
    if block.only_holds:
        return NONE
    for outer in accesses:
        if outer is block:
            break
        if (outer.direction is not INPUT and outer.view is not None and outer.mask == block.mask
                and outer.thread == block.thread and outer.task is block.task):
            runs = runs - narrowed(outer.runs or outer.view._touched(), outer.view)
    return runs


def conflict(wanted: str, other: AccessRecord, only_reads: bool) -> ConflictError:
    """Return the error for an access that conflicts with `other`. With `only_reads`, `other` is an
    access of the same thread that conflicts only because it reads.
    """
    way_out = ("all in that block only reads: begin it for 'io', leave it first, or work on a copy"
               if only_reads else other.way_out)
    return ConflictError(f"cannot access {wanted}: it conflicts with the access to "
                         f"{other.describe()}; {way_out}")


def overlap(a: ViewLike, b: ViewLike) -> bool:
    """Return whether an element is seen by both."""
    one, other = a._touched(), b._touched()
    return one.meets(other) and narrowed(one, a).meets(narrowed(other, b))
