"""``mat.prefetch``: asynchronous copies, which go on while a block computes."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import TracebackType

from ..core.access import caller_line
from ..core.access_record import SourceLine
from ..core.cube import Memory, host
from ..devices.device import CPU, in_use
from ..errors import ConflictError, DTypeError
from .mat import Mat


class Prefetch:
    """The context manager that `prefetch` returns; its block is given it."""

    __slots__ = ("begun", "entered", "to_device", "to_host")

    def __init__(self, to_device: list[Mat], to_host: list[Mat]) -> None:
        self.to_device = to_device
        self.to_host = to_host
        self.begun: list[tuple[Mat, Memory]] = []
        self.entered = False

    def __enter__(self) -> Prefetch:
        if self.entered:
            raise ConflictError("this prefetch is already under way; call mat.prefetch again")
        self.entered = True
        where, device = caller_line(sys._getframe(1)), in_use()
        try:
            if device is not CPU:
                self._begin((x for x in self.to_device if x.device_enabled), device.memory, where)
            self._begin(self.to_host, host(), where)
        except BaseException as error:
            self._finish(error)
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
        failure = self._finish(error)
        if error is None and failure is not None:
            raise failure

    def _finish(self, error: BaseException | None) -> BaseException | None:
        """Wait for every copy; return `error`, or else the error of the first copy that failed.

        The other errors are added to it as notes.
        """
        first = error
        while self.begun:
            x, memory = self.begun[0]
            try:
                x.storage.finish_copy(memory)
                del self.begun[0]
            except BaseException as failure:
                # an interrupt of the wait, which goes on, or a copy that failed
                if first is None:
                    first = failure
                else:
                    first.add_note(f"mat.prefetch: {failure}")
        return first

    @property
    def count(self) -> int:
        """The number of copies that were begun and are not finished yet."""
        return sum(memory in (x.storage.async_copies or ()) for x, memory in self.begun)

    def __repr__(self) -> str:
        return f"<prefetch: {self.count} copies under way>"


def prefetch(*, to_device: Iterable[Mat] | Mat = (), to_host: Iterable[Mat] | Mat = ()) -> Prefetch:
    """Copy data between memories while a block computes with other data.

    Parameters
    ----------
    to_device : Mat or iterable of Mat
        Mats to copy to the device in use. Without one, and for Mats that are not enabled for
        devices, nothing is copied.
    to_host : Mat or iterable of Mat
        Mats to copy to the host.

    Returns
    -------
    Prefetch
        A context manager. Its ``count`` is the number of copies that are not finished yet; all are
        when the block ends, also after an error.

    Raises
    ------
    DTypeError
        If something else than Mats is given.
    ConflictError
        When a Mat is written, in the block or in another thread, while it is being copied; the text
        names the line of the prefetch.

    Notes
    -----
    Data that is fresh at the target is not copied. A block that reads data while it is being copied
    waits for the copy. A copy that fails leaves the Mat as it was, and its error is raised where
    the data is needed, or else at the end of the block.

    Examples
    --------
    >>> import mat
    >>> x, y = mat.arange(3), mat.arange(3)
    >>> with mat.use_device("emulated"):
    ...     with mat.prefetch(to_device=[y]):
    ...         z = x + x
    ...     y.fresh == {"host", "emulated"}
    True
    """
    return Prefetch(_mats(to_device, "to_device"), _mats(to_host, "to_host"))


def _mats(given: Iterable[Mat] | Mat, name: str) -> list[Mat]:
    found = [given] if isinstance(given, Mat) else list(given)
    for x in found:
        if not isinstance(x, Mat):
            raise DTypeError(f"{name} of prefetch takes Mats, got {type(x).__name__}; "
                             "mat.from_numpy(a) makes one of an array")
    return found
