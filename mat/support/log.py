"""Messages to ``logging.getLogger("mat")``, at the level INFO: evictions, fallbacks to the host,
and missing kernels and devices.

A program that has not imported `logging` cannot read its messages: it is not imported here. Where
locks are held, messages wait until they are released, since a handler may wait for such a lock.
"""

from __future__ import annotations

import sys
from typing import Any

INFO = 20  # of `logging`
PENDING: list[str] = []  # messages that wait


def logger() -> Any:
    """Return the logger, None if nobody reads messages of that level."""
    get = getattr(sys.modules.get("logging"), "getLogger", None)
    found = None if get is None else get("mat")
    return found if found is not None and found.isEnabledFor(INFO) else None


def note(text: str) -> None:
    """Write a message; the caller holds no lock."""
    found = logger()
    if found is not None:
        found.log(INFO, "%s", text, stacklevel=2)


def flush() -> None:
    """Write the messages that wait; the caller holds no lock."""
    while PENDING:
        try:
            text = PENDING.pop(0)
        except IndexError:  # another thread was faster
            return
        note(text)
