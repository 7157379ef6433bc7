"""`Pending`: a cube's value that is not computed yet, and the expressions that read its elements.

Expressions are of a higher layer; here they are objects with a method `compute`. The value of a
cube is computed before an access to it, and an expression before the elements that it reads are
written: the accessor calls `Pending.settle` without the cube's lock, and looks again under it.
"""

from __future__ import annotations

import weakref
from typing import Any, Protocol

from .access_record import overlap
from .compiled import THREADS, referent
from .registry import ViewLike, WholeCube

_threads = THREADS  # with a type of C
_none: list[Any] = []  # readers where there are none: never changed, as no list of readers is
DEFERRALS: list[Any] = []  # one item for each block in which results may be pending


class Value(Protocol):
    """The expression whose result a cube is to have."""

    def compute(self) -> None:
        """Compute it, or wait until another thread has, and set `Pending.value` to None."""


class Reader(Protocol):
    """A view that pending expressions read; it lives as long as one of them does."""

    @property
    def view(self) -> ViewLike: ...
    def compute(self) -> None:
        """Compute the expressions that depend on it."""


class Pending:
    """Values to compute before a cube is accessed."""

    def begin(self) -> None:
        """Hold nothing back."""
        self.value: Value | None = None
        self.readers: list[weakref.ref[Reader]] = _none
        self.restored: int = -1  # the version of elements that an operation in tiles wrote back
        self.computing: int = 0  # the thread that writes results here, by its id of `THREADS`

    def may_hold_back(self, writes: bool) -> bool:
        """Return whether `holds_back` may be true for some elements."""
        if self.value is None and not (writes and self.readers):
            return False
        return self.computing != _threads.current()

    def holds_back(self, view: ViewLike | None, writes: bool) -> bool:
        """Return whether an access to `view`, None for all elements, waits for a computation."""
        if self.computing and self.computing == _threads.current():
            return False
        return self.value is not None or (writes and bool(self.read_in(view)))

    def read_in(self, view: ViewLike | None) -> list[Reader]:
        """Return the readers that see an element of `view`."""
        found = []
        for ref in tuple(self.readers):
            reader = referent(ref)
            if reader is not None and (view is None or overlap(reader.view, view)):
                found.append(reader)
        return found

    def settle(self, cube: WholeCube, view: ViewLike | None, writes: bool) -> None:
        """Compute whatever holds an access to `view` back; the caller does not hold the lock."""
        while self.holds_back(view, writes):
            if self.value is not None:
                self.value.compute()
            else:
                self.compute_readers(cube, self.read_in(view))
        if not self.readers or self.readers[0]() is None:
            self.forget(cube)

    def compute_readers(self, cube: WholeCube, found: list[Reader]) -> None:
        """Compute the values that depend on those readers, and forget them."""
        for reader in found:
            reader.compute()
        with cube.lock:
            self.readers = [ref for ref in self.readers if ref() not in found]

    def forget(self, cube: WholeCube) -> None:
        """Let accesses be as quick as before if nothing is left to be computed."""
        with cube.lock:
            self.readers = [ref for ref in self.readers if ref() is not None]
            if self.value is None and not self.readers and cube.pending is self:
                cube.pending = None


def new_pending() -> Pending:
    """Return one that holds nothing back."""
    pending = Pending.__new__(Pending)
    pending.begin()
    return pending
