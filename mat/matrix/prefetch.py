"""``mat.prefetch``: copies that go on while a block computes, and that nobody waits for before the
data is needed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from ..core.access import caller_line
from ..core.access_record import SourceLine
from ..core.cube import Memory, host
from ..devices.device import CPU, in_use
from ..errors import ConflictError, DTypeError
from .mat import Mat


class Prefetch:
    """One ``with mat.prefetch(...)``; ``count`` is how many copies were begun and have not arrived
    yet.
    """

    __slots__ = ("begun", "entered", "to_device", "to_host")

    def __init__(self, to_device: list[Mat], to_host: list[Mat]) -> None:
        self.to_device = to_device
        self.to_host = to_host
        self.begun: list[tuple[Mat, Memory]] = []
        self.entered = False

    def __enter__(self) -> Prefetch:
        if self.entered:
            raise ConflictError("this prefetch is under way already; call mat.prefetch again")
        self.entered = True
        where, device = caller_line(sys._getframe(1)), in_use()
        try:
            if device is not CPU:
                self._begin((x for x in self.to_device if x.device_enabled), device.memory, where)
            self._begin(self.to_host, host(), where)
        except BaseException as error:
            self._arrive(error)
            self.entered = False
            raise
        return self

    def _begin(self, mats: Iterable[Mat], memory: Memory, where: SourceLine) -> None:
        for x in mats:
            if x.storage.begin_copy(x, memory, where):
                self.begun.append((x, memory))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.entered = False
        failure = self._arrive(error)
        if error is None and failure is not None:
            raise failure

    def _arrive(self, error: BaseException | None) -> BaseException | None:
        """Wait for every copy; give the first that failed, of which `error`, if there is one, is
        told, as of the others.
        """
        told = error
        while self.begun:
            x, memory = self.begun[0]
            try:
                x.storage.finish_copy(memory)
                del self.begun[0]
            except BaseException as failure:
                # an interrupt of the wait, which goes on, or a copy that failed
                if told is None:
                    told = failure
                else:
                    told.add_note(f"mat.prefetch: {failure}")
        return told

    @property
    def count(self) -> int:
        return sum(memory in (x.storage.async_copies or ()) for x, memory in self.begun)

    def __repr__(self) -> str:
        return f"<prefetch: {self.count} copies under way>"


def prefetch(*, to_device: Iterable[Mat] | Mat = (), to_host: Iterable[Mat] | Mat = ()) -> Prefetch:
    """``with mat.prefetch(to_device=[x], to_host=[y]):`` copies data ahead, while the block
    computes with other data.

    What is fresh there already is not copied; with no device in use, nothing goes to one. Who looks
    at data under way in the block, or from another thread, waits for it; who would write it gets a
    `ConflictError` with the line of the prefetch. When the block ends, whatever ends it, all has
    arrived. A copy that fails leaves the Mat as it was, and its error is raised where the data is
    needed, or else by the end of the block.

    >>> import mat
    >>> x, y = mat.arange(3), mat.arange(3)
    >>> with mat.use_device("emulated"):
    ...     with mat.prefetch(to_device=[y]):
    ...         z = x + x
    ...     y.fresh == {"host", "emulated"}
    True
    """
    return Prefetch(_mats(to_device, "to_device"), _mats(to_host, "to_host"))


def _mats(given: Any, name: str) -> list[Mat]:
    found = [given] if isinstance(given, Mat) else list(given)
    for x in found:
        if not isinstance(x, Mat):
            raise DTypeError(f"{name} of prefetch takes Mats, got {type(x).__name__}; "
                             "mat.from_numpy(a) makes one of an array")
    return found
