"""Barriers: blocks at whose end the copies made inside them are dropped; no data is lost.

A cube calls `register_copy` when it allocates. Of the rest of a cube this module needs `HasCopies`.
"""

from __future__ import annotations

import weakref
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Protocol

from ..errors import ConflictError
from .registry import CubeLike, Handle, Memory


class HasCopies(Protocol):
    """The part of a cube that a barrier needs."""

    handles: dict[Memory, Handle]

    def refresh_before_drop(self, ensure: Memory, dropped: int) -> None: ...
    def drop(self, memory: Memory, force: bool, retain: bool) -> bool: ...


class Barrier:
    """``with barrier:`` drops, at its end, the copies made inside in the memories `dropped`.

    Before that, data that is fresh in no other memory is copied to the memory `ensure`. Of nested
    barriers only the innermost one for a memory drops a copy there. A copy that is still being
    accessed, or kept by ``keep``, remains and is reported by a `ConflictError`; an exported copy is
    retained until its exports end.
    """

    __slots__ = ("dropped", "ensure", "parent", "registered", "token")

    def __init__(self, ensure: Memory, dropped: tuple[Memory, ...]) -> None:
        self.ensure = ensure
        self.dropped = dropped
        self.registered: list[tuple[weakref.ref[HasCopies], Memory]] = []
        self.parent: Barrier | None = None
        self.token: Token[Barrier | None] | None = None

    def __enter__(self) -> Barrier:
        if self.token is not None:
            raise ConflictError("this barrier is already open; make another one")
        self.parent = _innermost.get()
        self.token = _innermost.set(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self.token is not None:
            _innermost.reset(self.token)
            self.token = None
        failures = [f for cube, memory in self._copies() for f in self._release(cube, memory)]
        self.registered.clear()
        if not failures:
            return
        raised = failures.pop(0) if error is None else error
        for failure in failures:
            raised.add_note(f"mat.barrier: {failure}")
        if error is None:
            raise raised

    def _copies(self) -> list[tuple[HasCopies, Memory]]:
        """Return each live cube with a memory in which it has a copy to drop, without repeats."""
        found = {(id(cube), memory): (cube, memory) for ref, memory in self.registered
                 if (cube := ref()) is not None and memory in cube.handles}
        return list(found.values())

    def _release(self, cube: HasCopies, memory: Memory) -> list[Exception]:
        try:
            cube.refresh_before_drop(self.ensure, sum(m.bit for m in self.dropped))
            cube.drop(memory, False, True)
        except Exception as failure:  # the other copies are still to be released
            return [failure]
        return []

    @property
    def count(self) -> int:
        """The number of copies that would be dropped now."""
        return len(self._copies())

    def __repr__(self) -> str:
        names = ", ".join(m.name for m in self.dropped)
        return f"<barrier: {self.count} copies to drop from {names}>"


_innermost: ContextVar[Barrier | None] = ContextVar("mat_barrier", default=None)


def register_copy(cube: CubeLike, memory: Memory) -> None:
    """Register a new copy of `cube` with the innermost barrier that drops copies in `memory`."""
    barrier = _innermost.get()
    while barrier is not None and memory not in barrier.dropped:
        barrier = barrier.parent
    if barrier is not None:
        barrier.registered.append((weakref.ref(cube), memory))
