"""Files of descriptors that no interrupt leaves open."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any


def opened(function: Callable[..., int], *args: Any) -> io.FileIO:
    """Return the two-way file of a descriptor, opened without an interrupt in between."""
    return next(map(io.FileIO, map(function, *((arg,) for arg in args)), ("r+",)))


def nameless(folder: str, mode: int) -> io.FileIO | None:
    """Return a new file without a name, gone with the process; None if there are no such."""
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
        with suppress(OSError):
            return opened(os.open, folder, os.O_TMPFILE | os.O_RDWR, mode)
    return None
