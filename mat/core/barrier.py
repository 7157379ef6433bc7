"""Barriers: scopes at whose end the copies made inside them are dropped, and nothing is lost.

Cubes call `enlist` when they allocate; what else a cube is, nobody here knows.
"""

from __future__ import annotations

import weakref
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any, Protocol

from ..errors import ConflictError


class Holder(Protocol):
    """What a barrier asks of a cube."""

    handles: dict[Any, Any]

    def secure(self, ensure: Any, doomed: int) -> None: ...
    def drop(self, memory: Any, force: bool, retain: bool) -> bool: ...


class Barrier:
    """``with barrier:`` drops, at its end, the copies in `doomed` memories that were made inside.

    Before that, data that is fresh only there is copied to the memory `ensure`. Only the innermost
    barrier that dooms a memory drops a copy. What is still looked at or kept stays, and is reported
    by a `ConflictError`; what is lent is left to who has it.
    """

    __slots__ = ("doomed", "enlisted", "ensure", "parent", "token")

    def __init__(self, ensure: Any, doomed: tuple[Any, ...]) -> None:
        self.ensure = ensure
        self.doomed = doomed
        self.enlisted: list[tuple[weakref.ref[Any], Any]] = []
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
        self.enlisted.clear()
        if not failures:
            return
        told = failures.pop(0) if error is None else error
        for failure in failures:
            told.add_note(f"mat.barrier: {failure}")
        if error is None:
            raise told

    def _copies(self) -> list[tuple[Any, Any]]:
        """Cubes that are alive and the memory in which they have a copy to drop, each pair once."""
        found = {(id(cube), memory): (cube, memory) for ref, memory in self.enlisted
                 if (cube := ref()) is not None and memory in cube.handles}
        return list(found.values())

    def _release(self, cube: Holder, memory: Any) -> list[Exception]:
        try:
            cube.secure(self.ensure, sum(m.bit for m in self.doomed))
            cube.drop(memory, False, True)
        except Exception as failure:  # the other copies are still to be released
            return [failure]
        return []

    @property
    def count(self) -> int:
        """How many copies would be dropped now."""
        return len(self._copies())

    def __repr__(self) -> str:
        return f"<barrier: {self.count} copies to drop from {', '.join(m.name for m in self.doomed)}>"


_innermost: ContextVar[Barrier | None] = ContextVar("mat_barrier", default=None)


def enlist(cube: Any, memory: Any) -> None:
    """A copy of `cube` was made in `memory`: the innermost barrier that dooms that memory will drop
    it.
    """
    barrier = _innermost.get()
    while barrier is not None and memory not in barrier.doomed:
        barrier = barrier.parent
    if barrier is not None:
        barrier.enlisted.append((weakref.ref(cube), memory))
