"""Source lines of blocks and calls, and the words of messages about accesses.

A source line is recorded as a code object and an instruction, which is cheap, and rendered only
when a message needs it.
"""

from __future__ import annotations

import sys
import threading
import warnings
from itertools import islice
from types import CodeType, FrameType
from typing import Any, Protocol

from .compiled import THREADS, line_above
from .direction import Direction
from .registry import Facet, WholeCube

ASYNC_COPY, EXPORTED = 1, 2  # in place of threads: of asynchronous copies and exports
_NOT_THREADS = {ASYNC_COPY: "of a prefetch", EXPORTED: "of an export"}
# a code object and an instruction in it; a third item if the package has led to that line
SourceLine = tuple[CodeType, int] | tuple[CodeType, int, bool]
# the operations that threads carry out, and their lines, outermost first, while there are observers
RUNNING: dict[int, list[tuple[object, SourceLine | None]]] = {}


# .depth > 0: conflicts are not checked; set by mat.debug
allow_conflicts: threading.local = threading.local()


class Viewed(Protocol):
    """The part of a `View` that is needed here."""

    @property
    def storage(self) -> WholeCube: ...
    def label(self) -> str: ...


def describe(view: Viewed | None, facet: Facet, direction: Direction, thread: int,
             where: SourceLine | None) -> str:
    """Return an access in words."""
    file, line = file_and_line(where)
    return (f"{label_of(view)} as facet {facet.name!r} for {direction.value!r} in thread "
            f"{thread_name(thread)} at {file}:{line}")


def label_of(view: Viewed | None) -> str:
    """Return a short name for `view`."""
    return "<garbage>" if view is None else view.label()


def file_and_line(where: SourceLine | None) -> tuple[str, int]:
    """Return the file and line of the ``with`` or the call of an operation that began an access."""
    if where is None:
        return "<unknown>", 0
    code, lasti = where[:2]
    positions = next(islice(code.co_positions(), lasti // 2, None), (None,))
    return cell_of(code.co_filename) or code.co_filename, positions[0] or code.co_firstlineno


def warn(message: str, category: type[Warning], where: SourceLine | None = None) -> None:
    """Warn at a line, by default that of the calling program."""
    file, line = file_and_line(THREADS.line() if where is None else where)
    # what Python notes of each module, to warn once at each line
    warnings.warn_explicit(message, category, file, line, registry=_warned.setdefault(file, {}))


_warned: dict[str, dict[Any, Any]] = {}


def cell_of(file: str) -> str | None:
    """Return ``In [8]`` for IPython's file name of its cell 8; None for other files."""
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    name_of = getattr(getattr(shell, "compile", None), "format_code_name", None)
    found = None if name_of is None else name_of(file)
    return None if found is None else found[1].replace("In[", "In [")


def running_operation() -> tuple[object, SourceLine | None]:
    """Return the outermost operation that this thread carries out, and its line, or None twice."""
    running = RUNNING.get(THREADS.current())
    return running[0] if running else (None, None)


def user_line(frame: FrameType | None = None) -> SourceLine | None:
    """Return the line of the user that called the caller, or that led to `frame`."""
    return THREADS.line() if frame is None else line_above(frame)


def line_of(where: SourceLine | None) -> str:
    """Return ``FILE:LINE``, or "" if `where` is None."""
    if where is None:
        return ""
    file, line = file_and_line(where)
    return f"{file}:{line}"


def thread_name(thread: int) -> str:
    """Return the name of the thread with that id of `THREADS`."""
    if thread in _NOT_THREADS:
        return _NOT_THREADS[thread]
    ident = THREADS.ident(thread)
    return next((t.name for t in threading.enumerate() if t.ident == ident), f"thread {thread}")
