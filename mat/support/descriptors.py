"""Files of descriptors that no interrupt leaves open."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any


def opened(function: Callable[..., int], *args: Any) -> io.FileIO:
    """Return the file of the descriptor that a function of the system returns, for both ways.

    No code of Python runs in between, so that an interrupt leaves no descriptor open.
    """
    return next(map(io.FileIO, map(function, *((arg,) for arg in args)), ("r+",)))


def nameless(folder: str, mode: int) -> io.FileIO | None:
    """Return a new unnamed file, gone even if the process is killed; None where the system, or the
    file system of `folder`, has no such files.
    """
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
        with suppress(OSError):
            return opened(os.open, folder, os.O_TMPFILE | os.O_RDWR, mode)
    return None
