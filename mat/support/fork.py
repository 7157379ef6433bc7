"""Locks in a forked child: it has one thread only, and a lock that another one held would remain
locked, so the owners of locks make new ones.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Protocol


class Forked(Protocol):
    """An object with locks that another thread may hold at a fork."""

    def after_fork(self) -> None:
        """Make new locks, in the child."""


_all: weakref.WeakSet[Forked] = weakref.WeakSet()


def renew_after_fork(owner: Forked) -> None:
    """Call ``owner.after_fork()`` in every forked child, as long as `owner` exists."""
    _all.add(owner)


class WithLock:
    """Base of objects with a lock, `_lock`, which is renewed in each forked child."""

    def __init__(self) -> None:
        super().__init__()
        self.after_fork()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Make a new lock."""
        self._lock = threading.RLock()


def _renew() -> None:
    for owner in tuple(_all):
        owner.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
