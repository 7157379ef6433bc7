"""What is done at forks, above all for locks: a child has one thread only, and a lock that another
one held would remain locked, so the owners of locks make new ones. Helper threads, without which
their work is done, too.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable
from time import monotonic
from typing import Protocol, TypeVar

C = TypeVar("C", bound=Callable[[], object])
T = TypeVar("T")


def at_fork(**calls: Callable[[], object]) -> None:
    """Do as `os.register_at_fork`, where the system has forks."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(**calls)


def in_child(function: C) -> C:
    """Decorate a function that every forked child calls."""
    at_fork(after_in_child=function)
    return function


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


@in_child
def _renew() -> None:
    for owner in members(_all):
        owner.after_fork()


# Helper threads


def members(kept: weakref.WeakSet[T]) -> list[T]:
    """Return the objects of a set that other threads and finalizers may change meanwhile; an
    iterator over the set itself would raise a RuntimeError then.
    """
    refs = kept.data.copy()  # type: ignore[attr-defined]  # in one step
    return [one for ref in refs if (one := ref()) is not None]


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
