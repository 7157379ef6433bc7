"""The copies that were made inside of barriers, each registered with the innermost barrier that
drops copies in its memory.

Of the barriers themselves this module knows nothing: see `barrier`.
"""

from __future__ import annotations

import threading
from collections import deque
from contextvars import ContextVar
from weakref import ref

from ..support.fork import in_child
from ..support.open_blocks import Nested, remove
from .compiled import BLOCKS
from .compiled import Lock as NewLock
from .registry import HasCopies, Memory


class Copies(Nested):
    """The copies that were made since a barrier was entered."""

    def __init__(self, dropped: tuple[Memory, ...]) -> None:
        self.dropped: tuple[Memory, ...] = dropped
        self.registered: deque[tuple[ref[HasCopies], Memory]] = deque()
        self.many: int = 64  # so many are registered when those that are gone are forgotten
        self.thread: int = threading.get_ident()

    def forget_gone(self) -> None:
        """Forget copies that are gone; the caller holds the lock, others append meanwhile."""
        for _ in range(len(self.registered)):
            one, memory = found = self.registered.popleft()
            cube = one()
            if cube is not None and memory in cube.handles:
                self.registered.append(found)
        self.many = max(64, 2 * len(self.registered))

    def live(self) -> list[tuple[HasCopies, Memory]]:
        """Return each live cube with a memory that holds a copy to drop, without repeats."""
        found = {(id(cube), memory): (cube, memory) for one, memory in tuple(self.registered)
                 if (cube := one()) is not None and memory in cube.handles}
        return list(found.values())


INNERMOST = _innermost = ContextVar[Copies | None]("mat_barrier", default=None)
OPEN: list[object] = []  # the `Copies` of every open barrier, of any thread
# of what is registered, and of `OPEN`; a finalizer may end a block in the middle of it
LOCK = NewLock()
_blocks = BLOCKS  # with a type of C


class MadeCopies:
    """The register of copies that were made inside of barriers."""

    def add(self, cube: HasCopies, memory: Memory) -> None:
        """Register a new copy of `cube` with the innermost barrier that drops copies in `memory`.

        Compiled, no other thread runs between the lines that find a barrier and register there.
        """
        if _blocks.enabled:
            self._add(cube, memory)
            return
        with LOCK:
            self._add(cube, memory)

    def _add(self, cube: HasCopies, memory: Memory) -> None:
        """Do so, in the middle of which no barrier may end."""
        copies = _innermost.get()
        while copies is not None:
            if copies.ended or memory not in copies.dropped:
                copies = copies.parent
            elif len(copies.registered) < copies.many:
                copies.registered.append((ref(cube), memory))
                return
            else:
                with LOCK:
                    if not copies.ended:
                        copies.forget_gone()


MADE = MadeCopies()


def register(copies: Copies, cube: HasCopies, memory: Memory) -> None:
    """Add a copy to those that the end of a barrier drops; the caller holds the lock."""
    if len(copies.registered) >= copies.many:
        copies.forget_gone()
    copies.registered.append((ref(cube), memory))


@in_child
def _forget_other_threads() -> None:
    """End the barriers of threads that a forked child does not have."""
    here = threading.get_ident()
    for copies in tuple(OPEN):
        if isinstance(copies, Copies) and copies.thread != here:
            copies.ended = True
            remove(OPEN, copies)
