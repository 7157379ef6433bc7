"""Helper threads: where none can be started, their work is done without them."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from time import monotonic

RETRY = 1.0  # seconds until a start is tried again

_refused: list[float] = [-RETRY]  # when a thread was refused last


def start(function: Callable[..., object], *args: object, name: str) -> threading.Thread | None:
    """Start a daemon thread that calls `function`, and return it; None if there can be no more.

    That is so where a limit of the system or of a container is reached, and at interpreter exit,
    when `Thread.start` would wait for ever.
    """
    if sys.is_finalizing() or monotonic() - _refused[0] < RETRY:
        return None
    thread = threading.Thread(target=function, args=args, name=name, daemon=True)
    try:
        thread.start()
    except (RuntimeError, MemoryError):  # the errors of Python's "can't start new thread"
        _refused[0] = monotonic()
        return None
    return thread
