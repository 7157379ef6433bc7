"""`AccessRecord`: which thread accesses a storage, through which facet, in which direction, and
from which source line.

A source line is recorded as a code object and an instruction, which is cheap, and rendered only
when a message needs it.
"""

from __future__ import annotations

import sys
import threading
from itertools import islice
from types import CodeType, FrameType
from typing import Protocol

from .direction import INPUT, Direction
from .registry import CubeLike, Facet, Handle, Presented

ASYNC_COPY = 1  # in place of a thread, in the record of an asynchronous copy: no thread has this id
EXPORTED = 2  # in place of a thread, in the record of an export
_PSEUDO_THREADS = {ASYNC_COPY: "of a prefetch", EXPORTED: "of an export"}
SourceLine = tuple[CodeType, int]  # a code object and an instruction in it
_PACKAGE = __name__.partition(".")[0]
_PLAN_MODULE = f"{_PACKAGE}.ops.plan"  # the module whose frames carry out an operation
# where Python's own modules are
_LIBRARY = (threading.__file__.rpartition("threading")[0], "<frozen ")
_FOLDER = __file__.rpartition("core")[0]


class Viewed(Protocol):
    """The part of a `View` that is needed here."""

    storage: CubeLike

    def label(self) -> str: ...


class AccessRecord:
    """An access: the presented value, and while it lasts, its view, thread, direction and line.

    A record outlives its access in `View.presented`, so that the next access finds the value.
    """

    __slots__ = ("direction", "facet", "handle", "make_value", "mask", "thread", "value", "view",
                 "where")
    way_out = "leave that block first, or work on a copy"

    def __init__(self, facet: Facet, handle: Handle, value: Presented) -> None:
        self.facet = facet
        self.mask = facet.mask
        self.handle = handle
        self.value = value
        # makes what a block is given; None: it is given the value itself
        self.make_value = facet.lender(value)
        self.thread = 0  # 0: not in use; else the access lasts
        self.view: Viewed | None = None  # only while it lasts, so that a Mat is no part of a cycle
        self.direction = INPUT
        # of a ``with``; the line of an operation is found on the stack of its thread
        self.where: SourceLine | None = None

    def describe(self) -> str:
        """Return the Mat, facet, direction, thread, file and line in words."""
        return describe(self.view, self.facet, self.direction, self.thread, self.where)

    def label(self) -> str:
        """Return a short name for the view that is accessed."""
        return label_of(self.view)


def describe(view: Viewed | None, facet: Facet, direction: Direction, thread: int,
             where: SourceLine | None) -> str:
    """Return an access in words."""
    return (f"{label_of(view)} as facet {facet.name!r} for {direction.value!r} "
            f"{thread_and_line(thread, where)}")


def label_of(view: Viewed | None) -> str:
    """Return a short name for `view`."""
    return "<garbage>" if view is None else view.label()


def file_and_line(thread: int, where: SourceLine | None) -> tuple[str, int]:
    """Return the file and line of the ``with`` or the call of an operation that began an access."""
    if where is not None and not where[0].co_filename.startswith(_FOLDER):
        code, lasti = where
        positions = next(islice(code.co_positions(), lasti // 2, None), (None,))
        return code.co_filename, positions[0] or code.co_firstlineno
    frame = user_frame(operation_frame(sys._current_frames().get(thread)))
    return ("<unknown>", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def operation_frame(frame: FrameType | None) -> FrameType | None:
    """Return the outermost caller of `frame` that carries out an operation; else `frame`.

    That skips functions that the implementation of an operation calls.
    """
    found = outer = frame
    while outer is not None:
        if outer.f_globals.get("__name__") == _PLAN_MODULE:
            found = outer
        outer = outer.f_back
    return found


def in_operation() -> bool:
    """Return True if this thread is carrying out an operation."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        if frame.f_globals["__name__"] == _PLAN_MODULE:
            return True
        frame = frame.f_back
    return False


def user_frame(frame: FrameType | None) -> FrameType | None:
    """Return the innermost of `frame` and its callers that is not in this package."""
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame = frame.f_back
    return frame


def user_line(frame: FrameType | None = None) -> SourceLine | None:
    """Return the line outside of this package that called the caller, or that led to `frame`."""
    frame = user_frame(frame or sys._getframe(1))
    return None if frame is None else (frame.f_code, frame.f_lasti)


def consumer_line() -> SourceLine | None:
    """Return the line of the user that called the library that called the caller.

    If no such code is found, return that library's line.
    """
    inner = frame = user_frame(sys._getframe(1))
    while frame is not None and _is_installed(frame.f_code.co_filename):
        frame = frame.f_back
    found = frame or inner
    return None if found is None else (found.f_code, found.f_lasti)


def _is_installed(file: str) -> bool:
    return "site-packages" in file or file.startswith(_LIBRARY) or "dist-packages" in file


def line_of(where: SourceLine | None) -> str:
    """Return ``FILE:LINE``, or "" if `where` is None."""
    if where is None:
        return ""
    file, line = file_and_line(0, where)
    return f"{file}:{line}"


def thread_name(thread: int) -> str:
    """Return the name of the thread with the identity `thread`."""
    if thread in _PSEUDO_THREADS:
        return _PSEUDO_THREADS[thread]
    return next((t.name for t in threading.enumerate() if t.ident == thread), f"thread {thread}")


def thread_and_line(thread: int, where: SourceLine | None) -> str:
    """Return ``in thread NAME at FILE:LINE``."""
    file, line = file_and_line(thread, where)
    return f"in thread {thread_name(thread)} at {file}:{line}"
