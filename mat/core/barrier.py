"""Barriers: blocks at whose end the copies made inside them are dropped; no data is lost.

A cube registers what it allocates in `barrier_copies`.
"""

from __future__ import annotations

from weakref import ref

from ..errors import ConflictError
from ..support.open_blocks import Block, enter, leave, remove
from .barrier_copies import INNERMOST, LOCK, OPEN, Copies, register
from .compiled import THREADS
from .registry import HasCopies, Memory


class Barrier(Block["Barrier"]):
    """``with barrier:`` drops, at its end, the copies made inside in the memories `dropped`.

    Before that, data that is fresh in no other memory is copied to the memory `ensure`. Of nested
    barriers only the innermost one for a memory drops a copy there. A copy that is still being
    accessed, or kept by ``keep``, remains and is reported by a `ConflictError`; if another thread
    uses it inside a barrier of its own, that one drops it. An exported copy is retained until its
    exports end.
    """

    def __init__(self, ensure: Memory, dropped: tuple[Memory, ...]) -> None:
        self.ensure: Memory = ensure
        self.dropped: tuple[Memory, ...] = dropped
        self.copies: Copies | None = None
        self.failures: list[Exception] = []
        self.warn_unless_entered("mat.barrier(...)")

    def already_open(self) -> ConflictError:
        return ConflictError("this barrier is already open; make another one")

    def begin(self) -> Barrier:
        self.copies = copies = Copies(self.dropped)
        OPEN.append(copies)
        enter(INNERMOST, copies)
        return self

    def end(self, error: BaseException | None) -> None:
        copies = self.copies
        if copies is None:
            return
        with LOCK:  # from now on no other thread hands its copies over to this one
            leave(INNERMOST, copies)
            remove(OPEN, copies)
        while copies.registered:
            self._release(*copies.registered[0])
            copies.registered.popleft()  # only now: an interrupt of the line before is repeated
        self.copies = None
        self._report(error)

    def _release(self, one: ref[HasCopies], memory: Memory) -> None:
        """Drop a copy, or leave that to another thread that uses it, or note why it remains."""
        cube = one()
        if cube is None or memory not in cube.handles:
            return
        failures = self._failures(cube, memory)
        if failures and str(failures[0]) not in map(str, self.failures):
            self.failures += failures
        failures.clear()  # an error and a frame that refer to each other would stay for a while

    def _failures(self, cube: HasCopies, memory: Memory) -> list[Exception]:
        """Drop a copy or hand it over; else return the error that says why it remains."""
        found = self._drop(cube, memory)
        here = THREADS.current()  # which may itself access the copy
        if found and isinstance(found[0], ConflictError) and not any(
                record.thread == here and record.facet.memory is memory
                for record in tuple(cube.accesses)):
            found.clear()
            if not self._hand_over(cube, memory):
                # the other one may have ended just now, or a copy may be left of a prefetch whose
                # end was interrupted
                found += self._finish_copies(cube) or self._drop(cube, memory)
        return found

    def _drop(self, cube: HasCopies, memory: Memory) -> list[Exception]:
        try:
            cube.refresh_before_drop(self.ensure, sum(m.bit for m in self.dropped))
            cube.drop(memory, False, True)
        except Exception as failure:  # the other copies are still to be released
            return [failure]
        return []

    def _finish_copies(self, cube: HasCopies) -> list[Exception]:
        try:
            for target in tuple(cube.async_copies or ()):
                cube.finish_copy(target)
        except Exception as failure:
            return [failure]
        return []

    def _hand_over(self, cube: HasCopies, memory: Memory) -> bool:
        """Make another thread's open barrier for `memory` drop the copy; False if none is open."""
        around = set()
        outer = self.copies
        while outer is not None:
            around.add(outer)
            outer = outer.parent
        with LOCK:
            for other in OPEN:
                assert isinstance(other, Copies)
                if memory in other.dropped and other not in around:
                    register(other, cube, memory)
                    return True
        return False

    def _report(self, error: BaseException | None) -> None:
        failures, self.failures = self.failures, []
        raised = failures.pop(0) if failures and error is None else error
        try:
            for text in map(str, failures):
                assert raised is not None
                raised.add_note(f"mat.barrier: {text}")
            if raised is not None and error is None:
                raise raised
        finally:
            failures.clear()
            del raised  # its traceback keeps this frame

    @property
    def count(self) -> int:
        """The number of copies that would be dropped now."""
        copies: Copies | None = (self.body or self).copies
        return 0 if copies is None else len(copies.live())

    def __repr__(self) -> str:
        names = ", ".join(m.name for m in self.dropped) or "no memory"
        return f"<barrier: {self.count} copies to drop from {names}>"
