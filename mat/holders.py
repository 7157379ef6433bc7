"""Who holds a look, and from which source line; recorded cheaply, rendered only when a message needs it."""

from __future__ import annotations

import sys
import threading
from itertools import islice
from types import CodeType, FrameType

Place = tuple[CodeType, int]  # a code object and an instruction in it
_PACKAGE = __name__.partition(".")[0]


def holder_place(thread: int, where: Place | None) -> tuple[str, int]:
    """File and line of a look: where its ``with`` stands, or where the operation that it serves was called."""
    if where is not None:
        code, lasti = where
        positions = next(islice(code.co_positions(), lasti // 2, None), (None,))
        return code.co_filename, positions[0] or code.co_firstlineno
    frame = user_frame(sys._current_frames().get(thread))
    return ("<unknown>", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def user_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost of `frame` and its callers that is not in this package."""
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame = frame.f_back
    return frame


def thread_name(thread: int) -> str:
    """The name of the thread with that identity."""
    return next((t.name for t in threading.enumerate() if t.ident == thread), f"thread {thread}")


def holder_line(thread: int, where: Place | None) -> str:
    """``in thread NAME at FILE:LINE``."""
    file, line = holder_place(thread, where)
    return f"in thread {thread_name(thread)} at {file}:{line}"
