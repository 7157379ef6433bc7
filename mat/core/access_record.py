"""`AccessRecord`: which thread and task access a storage, through which facet, in which direction,
and from which source line.
"""

from __future__ import annotations

from collections.abc import Callable

from .direction import INPUT, Direction
from .registry import Facet, Handle, Presented, ViewLike
from .runs import NONE, Runs
from .source_line import SourceLine, describe, label_of
from .span_copy import SpanCopy


class AccessRecord:
    """An access: the presented value, and while it lasts, its view, thread, direction and line.

    A record outlives its access in `View.presented`, so that the next access finds the value.
    """

    __slots__ = ("bit", "direction", "facet", "handle", "make_value", "mask", "runs", "task",
                 "thread", "unchanged", "used", "value", "view", "where")

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
        self.view: ViewLike | None = None  # only while it lasts, so that a Mat is in no cycle
        # where copies have spans: the elements that it accesses, and in which copy
        self.runs: Runs = NONE
        self.used: SpanCopy | None = None
        self.unchanged: bool = False  # it reads, and nothing was copied or allocated for it
        self.where: SourceLine | None = None
        self.task: object = None  # of asyncio
        self.direction: Direction = INPUT
        self.thread: int = 0  # an id of `THREADS`; the last thing to be set

    def begin(self, view: ViewLike, direction: Direction, thread: int, task: object) -> None:
        """Note who accesses what."""
        self.view = view
        self.direction = direction
        self.task = task
        self.thread = thread

    def narrow(self) -> None:
        """Have `runs` be no more than what is accessed, without what is in between."""
        if self.view is not None:
            self.runs = narrowed(self.runs, self.view)

    @property
    def way_out(self) -> str:
        """What to do about a conflict with this access."""
        return "leave that block first, or work on a copy"

    def describe(self) -> str:
        """Return the Mat, facet, direction, thread, file and line in words."""
        return describe(self.view, self.facet, self.direction, self.thread, self.where)

    def label(self) -> str:
        """Return a short name for the view that is accessed."""
        return label_of(self.view)


def narrowed(runs: Runs, view: ViewLike) -> Runs:
    """Return the elements that `view` sees, of which `runs` are the runs, or the bounds."""
    found: Runs = runs if runs.size == view._count() else view._touched_alone()
    return found


def overlap(a: ViewLike, b: ViewLike) -> bool:
    """Return whether an element is seen by both."""
    one, other = a._touched(), b._touched()
    return one.meets(other) and narrowed(one, a).meets(narrowed(other, b))
