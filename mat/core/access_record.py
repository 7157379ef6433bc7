"""Who holds a look, and from which source line; recorded cheaply, rendered only when a message
needs it.
"""

from __future__ import annotations

import sys
import threading
from itertools import islice
from types import CodeType, FrameType
from typing import Any, Protocol

from .direction import INPUT, Direction
from .registry import Facet

ASYNC_COPY = 1  # stands for the thread of a copy under way: no thread has this identity
EXPORTED = 2  # stands for the thread of a loan
_NO_THREADS = {ASYNC_COPY: "of a prefetch", EXPORTED: "of an export"}
SourceLine = tuple[CodeType, int]  # a code object and an instruction in it
_PACKAGE = __name__.partition(".")[0]
_RUNNING = f"{_PACKAGE}.ops.plan"  # the module whose frames carry out an operation
# where Python's own modules are
_LIBRARY = (threading.__file__.rpartition("threading")[0], "<frozen ")
_FOLDER = __file__.rpartition("core")[0]


class Viewed(Protocol):
    """What is looked at: a `View`, of which only this much is known here."""

    storage: Any

    def label(self) -> str: ...


class AccessRecord:
    """That somebody looks: what was presented, and while it lasts, who looks, how and from where.

    A hold outlives its look in `View.presented`, so that the next look finds what was presented.
    """

    __slots__ = ("direction", "facet", "handle", "make_value", "mask", "thread", "value", "view",
                 "where")
    way_out = "leave that block first, or work on a copy"

    def __init__(self, facet: Facet, handle: Any, value: Any) -> None:
        self.facet = facet
        self.mask = facet.mask
        self.handle = handle
        self.value = value
        self.make_value = facet.lender(value)  # makes what a block is given; None: the value itself
        self.thread = 0  # not 0: a look lasts
        self.view: Viewed | None = None  # only while it lasts, so that a Mat is no part of a cycle
        self.direction = INPUT
        # of a ``with``; an operation is found on its thread's stack
        self.where: SourceLine | None = None

    def describe(self) -> str:
        """Mat, facet, direction, thread, file and line."""
        return describe(self.view, self.facet, self.direction, self.thread, self.where)

    def label(self) -> str:
        """What is looked at."""
        return label_of(self.view)


def describe(view: Viewed | None, facet: Facet, direction: Direction, thread: int,
             where: SourceLine | None) -> str:
    """A look in words."""
    return f"{label_of(view)} as facet {facet.name!r} for {direction.value!r} {thread_and_line(thread, where)}"


def label_of(view: Viewed | None) -> str:
    """A short name for what is looked at."""
    return "<garbage>" if view is None else view.label()


def file_and_line(thread: int, where: SourceLine | None) -> tuple[str, int]:
    """File and line of a look: where its ``with`` stands, or where the operation that it serves was
    called.
    """
    if where is not None and not where[0].co_filename.startswith(_FOLDER):
        code, lasti = where
        positions = next(islice(code.co_positions(), lasti // 2, None), (None,))
        return code.co_filename, positions[0] or code.co_firstlineno
    frame = user_frame(operation_frame(sys._current_frames().get(thread)))
    return ("<unknown>", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def operation_frame(frame: FrameType | None) -> FrameType | None:
    """The outermost caller of `frame` that carries out an operation, below whatever its body calls;
    else `frame`.
    """
    found = outer = frame
    while outer is not None:
        if outer.f_globals.get("__name__") == _RUNNING:
            found = outer
        outer = outer.f_back
    return found


def in_operation() -> bool:
    """Whether an operation is being carried out, by this thread."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        if frame.f_globals["__name__"] == _RUNNING:
            return True
        frame = frame.f_back
    return False


def user_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost of `frame` and its callers that is not in this package."""
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame = frame.f_back
    return frame


def user_place(frame: FrameType | None = None) -> SourceLine | None:
    """The user's code that led here, or to `frame`, and where in it."""
    frame = user_frame(frame or sys._getframe(1))
    return None if frame is None else (frame.f_code, frame.f_lasti)


def consumer_line() -> SourceLine | None:
    """The user's code that had a library lead here, and where in it; that library's, if no such
    code is found.
    """
    inner = frame = user_frame(sys._getframe(1))
    while frame is not None and _is_installed(frame.f_code.co_filename):
        frame = frame.f_back
    found = frame or inner
    return None if found is None else (found.f_code, found.f_lasti)


def _is_installed(file: str) -> bool:
    return "site-packages" in file or file.startswith(_LIBRARY) or "dist-packages" in file


def line_of(place: SourceLine | None) -> str:
    """``FILE:LINE``; nothing if that was not noted."""
    if place is None:
        return ""
    file, line = file_and_line(0, place)
    return f"{file}:{line}"


def thread_name(thread: int) -> str:
    """The name of the thread with that identity."""
    if thread in _NO_THREADS:
        return _NO_THREADS[thread]
    return next((t.name for t in threading.enumerate() if t.ident == thread), f"thread {thread}")


def thread_and_line(thread: int, where: SourceLine | None) -> str:
    """``in thread NAME at FILE:LINE``."""
    file, line = file_and_line(thread, where)
    return f"in thread {thread_name(thread)} at {file}:{line}"
