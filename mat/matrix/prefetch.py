"""``mat.prefetch``: asynchronous copies during the computation of a block."""

from __future__ import annotations

from collections.abc import Iterable

from ..core import span_transfer
from ..core.access_record import AccessRecord, narrowed, overlap
from ..core.async_copy import begin_copy
from ..core.compiled import THREADS
from ..core.direction import INPUT
from ..core.registry import Memory, facet_over, host
from ..core.runs import Runs
from ..core.source_line import SourceLine
from ..core.span_copy import SpanCopy
from ..core.span_transfer import refresh, takes_parts
from ..devices.device import CPU, in_use
from ..errors import ConflictError, DTypeError
from ..support.open_blocks import Block
from .mat import Mat
from .storage import Storage


class Prefetch(Block["Prefetch"]):
    """The context manager that `prefetch` returns; its block is given it."""

    def __init__(self, to_device: list[Mat], to_host: list[Mat], call: str = "") -> None:
        self.to_device: list[Mat] = to_device
        self.to_host: list[Mat] = to_host
        self.begun: list[tuple[Mat, Memory]] = []
        if call:  # of those of tiles users know nothing
            self.warn_unless_entered(call)

    def already_open(self) -> ConflictError:
        return ConflictError("this prefetch is already under way; call mat.prefetch again")

    def begin(self) -> Prefetch:
        where, device = THREADS.line(), in_use()
        if device is not CPU:
            self._begin((x for x in self.to_device if x.device_enabled), device.memory, where)
        self._begin(self.to_host, host(), where)
        return self

    def _begin(self, mats: Iterable[Mat], memory: Memory, where: SourceLine) -> None:
        for x in mats:
            self.begun.append((x, memory))  # first: an interrupt may come when it has begun
            if not begin_copy_of(x.storage, x, memory, where):
                self.begun.pop()

    def end(self, error: BaseException | None) -> None:
        """Wait for every copy; raise the error of the first one that failed unless there is one.

        The other errors are added to it as notes.
        """
        first = error
        try:
            while self.begun:
                x, memory = self.begun[0]
                try:
                    x.storage.finish_copy(memory)
                except Exception as failure:
                    if first is None:
                        first = failure
                    else:
                        first.add_note(f"mat.prefetch: {failure}")
                self.begun.pop(0)
            if first is not None and first is not error:
                raise first
        finally:
            del first  # its traceback keeps this frame

    @property
    def count(self) -> int:
        """The number of copies that were begun and are not finished yet."""
        return sum(x.storage.is_copying(memory) for x, memory in self.begun)

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

    A GPU's stream waits for copies to it, and the host does not: at the end of the block they are
    done for all that is queued later. See docs/devices.md.

    Examples
    --------
    >>> import mat
    >>> x, y = mat.arange(3.0), mat.arange(3.0)
    >>> with mat.use_device("emulated"):
    ...     with mat.prefetch(to_device=[y]):
    ...         z = x + x
    ...     y.fresh == {"host", "emulated"}
    True
    """
    return Prefetch(_mats(to_device, "to_device"), _mats(to_host, "to_host"), "mat.prefetch(...)")


def _mats(given: Iterable[Mat] | Mat, name: str) -> list[Mat]:
    found = [given] if isinstance(given, Mat) else list(given)
    for x in found:
        if not isinstance(x, Mat):
            raise DTypeError(f"{name} of prefetch takes Mats, got {type(x).__name__}; "
                             "mat.from_numpy(a) makes one of an array")
    return found


def begin_copy_of(cube: Storage, view: Mat, memory: Memory, where: SourceLine) -> bool:
    """Begin to copy the elements of `view` to `memory`; return whether that has an end."""
    cube.settle_pending(False)
    if cube.shared:
        cube.prepare(view, memory, INPUT)
    with cube.lock:
        cube.end_abandoned()
        writer = cube.writer
        apart = writer is not None and not overlap(view, writer.view)
        stale = not cube.fresh & memory.bit and not view._sees_all()
        if cube.spans is not None or apart or (stale and cube.wants_spans(memory)):
            return _begin_part(cube, view, memory, where)
        if writer is not None:
            raise _cannot_prefetch(view, memory, writer)
        if cube.fresh & memory.bit or (cube.async_copies and memory in cube.async_copies):
            return not cube.fresh & memory.bit
        hub = host()
        source = hub if cube.fresh & hub.bit else next(iter(cube.fresh_memories()), memory)
        # from one device to another, or there is nothing to copy
        if hub not in (source, memory) or source is memory:
            cube._refresh(memory)
            return False
        begin_copy(cube, view, facet_over(source, cube.seen), memory, where)
        return True


def _begin_part(cube: Storage, view: Mat, memory: Memory, where: SourceLine) -> bool:
    """Begin to copy the elements of `view` to `memory`; return False if none has begun."""
    spans = cube.to_spans()
    runs = spans.touched(view)
    for other in spans.writers(cube):
        if other.runs.meets(runs):
            other.narrow()
            runs = narrowed(runs, view)
        if other.runs.meets(runs):
            raise _cannot_prefetch(view, memory, other)
    target = spans.copy_for(cube, memory, runs, None)
    if target in spans.pending:
        return True
    source = _source_of(cube, target, runs)
    if source is None:
        refresh(cube, spans, target, runs)
        cube.settle()
        return False
    span_transfer.begin_async(cube, spans, view, source, target, runs, where)
    return True


def _source_of(cube: Storage, target: SpanCopy, runs: Runs) -> SpanCopy | None:
    """Return the copy that can supply exactly `runs` in one transfer."""
    spans, hub = cube.spans, host()
    if target.fresh.meets(runs) or len(runs) != 1:
        return None
    for source in spans.copies:
        part = source if target.memory is hub else target
        if (hub in (source.memory, target.memory) and source is not target
                and (part.start, part.stop) == runs.bounds and takes_parts(part.memory)
                and spans.committed(cube, source).covers(runs)):
            return source
    return None


def _cannot_prefetch(view: Mat, memory: Memory, writer: AccessRecord) -> ConflictError:
    return ConflictError(f"cannot prefetch {view.label()} to {memory.name!r}: this conflicts with "
                         f"the access to {writer.describe()}; leave that block first")
