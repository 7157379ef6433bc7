"""How runs of elements are copied between the copies of a cube.

The caller of every function holds the lock of the cube.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from time import perf_counter

from ..errors import ConflictError
from .async_copy import AsyncCopy, AsyncCopyRecord, arrive, forget
from .observers import COPY, OBSERVERS, wait
from .registry import Handle, Memory, SpansLike, WholeCube, facet_over, host
from .runs import NONE, Runs, run, union
from .source_line import SourceLine, Viewed
from .span_copy import SpanCopy


def takes_parts(memory: Memory) -> bool:
    """Return whether a memory can copy runs of elements: the host, and those with `write_runs`."""
    return memory is host() or memory.has_spans


def refresh(cube: WholeCube, spans: SpansLike, copy: SpanCopy, runs: Runs) -> None:
    """Make `runs` fresh in `copy`, except the elements being written there."""
    if copy in spans.pending:
        finish(cube, spans, copy)
    if not takes_parts(copy.memory):
        if not copy.fresh.covers(runs - spans.in_flux(cube, copy)):
            _refresh_all(cube, spans, copy)
        return
    missing = runs - copy.fresh - spans.in_flux(cube, copy)
    if not missing:
        return
    with _UsedCopy(spans, copy):
        missing = missing - _take_torn(cube, spans, copy, missing)
        missing = _gather(cube, spans, copy, missing)
        if missing:
            _fill(cube, spans, copy, missing & spans.pristine)


class _UsedCopy:
    """A block in which a copy is not evicted: the memory may take room meanwhile, to pack runs."""

    def __init__(self, spans: SpansLike, copy: SpanCopy) -> None:
        self.spans, self.copy = spans, copy

    def __enter__(self) -> None:
        self.spans.used.append(self.copy)

    def __exit__(self, *error: object) -> None:
        self.spans.used.remove(self.copy)


def _gather(cube: WholeCube, spans: SpansLike, copy: SpanCopy, missing: Runs) -> Runs:
    """Copy the missing elements that other copies have to `copy`; return those that none has."""
    before = NONE
    while missing and missing != before:  # those of a copy that is evicted meanwhile are elsewhere
        before = missing
        for source in _sources(spans, copy, missing):
            there = missing & spans.committed(cube, source)
            if there and source in spans.copies:
                with _UsedCopy(spans, source):
                    _transfer(cube, spans, source, copy, there)
                missing = missing - there
    return missing


def _sources(spans: SpansLike, copy: SpanCopy, missing: Runs) -> list[SpanCopy]:
    """Return the other copies that may have missing elements: there, on the host, elsewhere."""
    hub = host()
    return sorted((c for c in spans.copies if c is not copy and c.near(missing)),
                  key=lambda c: (c.memory is not copy.memory, c.memory is not hub))


def _transfer(cube: WholeCube, spans: SpansLike, source: SpanCopy, target: SpanCopy,
              runs: Runs) -> None:
    """Copy `runs`, fresh in `source`, and record that they are fresh in `target`.

    Where memories do not copy to each other, they are fresh on the host then, too.
    """
    if not _copied(cube, source, target, runs):
        middle = spans.on_host(cube)
        left = runs - middle.fresh
        if left:
            _transfer(cube, spans, source, middle, left)
        _transfer(cube, spans, middle, target, runs)


def _copied(cube: WholeCube, source: SpanCopy, target: SpanCopy, runs: Runs) -> bool:
    """Do so without another copy; return False if the memories cannot."""
    for observer in tuple(OBSERVERS):
        observer.copying(cube, source.memory, target.memory)
    if cube.shared:
        cube.before_copy(source.memory, target.memory, runs)
    begin = perf_counter()
    try:
        if not _put(cube, source, target, runs):
            return False
    finally:  # a part may have been written
        if cube.shared:
            cube.after_copy(target.memory, runs)
    target.fresh = target.fresh | runs
    cube.log_runs(source.memory, target.memory, runs, perf_counter() - begin)
    return True


def _put(cube: WholeCube, source: SpanCopy, target: SpanCopy, runs: Runs) -> bool:
    """Write `runs` of one copy to another; return False if the memories cannot."""
    memory, hub = target.memory, host()
    if memory is hub:
        read_runs(cube, source, target.handle, runs)
        return True
    counted, handle, positions = target.counted, target.handle, target.positions(runs)
    if source.memory is hub:
        memory.write_runs(counted, handle, target.part_of(source.handle), positions)
        return True
    shift = target.start - source.start
    if source.memory is memory:
        return memory.copy_runs(counted, handle, source.handle, shift, positions)
    return memory.copy_runs_from(counted, handle, source.memory, source.handle, shift, positions)


def read_runs(cube: WholeCube, copy: SpanCopy, target: Handle, runs: Runs) -> None:
    """Copy `runs` from a copy to `target`, a host handle of all elements."""
    memory, hub = copy.memory, host()
    if memory is hub:
        copy_on_host(copy.in_units(target), copy.in_units(copy.handle), runs)
        return
    with wait(COPY, cube, memory), _UsedCopy(cube.spans, copy):
        if memory.has_spans:
            memory.read_runs(copy.counted, copy.handle, copy.part_of(target), copy.positions(runs))
        elif runs == run(0, cube.units):
            memory.copy_out(cube, copy.handle, target)
        else:
            temporary = hub.allocate(cube)
            memory.copy_out(cube, copy.handle, temporary)
            copy_on_host(copy.in_units(target), copy.in_units(temporary), runs)


def copy_on_host(target: Handle, source: Handle, runs: Runs) -> None:
    """Copy `runs` between handles of the host."""
    for block in runs.blocks():
        block.of(target)[...] = block.of(source)


def peek(cube: WholeCube, spans: SpansLike, shown: Iterable[tuple[int, int]]) -> Handle:
    """Return a host handle with the current elements in the intervals `shown`; change no state."""
    hub = host()
    middle, left = spans.whole_in(hub), union(run(start, stop) for start, stop in shown)
    if middle is not None and (middle.fresh | spans.in_flux(cube, middle)).covers(left):
        return middle.handle
    temporary = hub.allocate(cube)
    for copy in sorted(spans.copies, key=lambda c: c is not middle):
        here = left & copy.fresh
        if here:
            read_runs(cube, copy, temporary, here)
            left = left - here
    if left and cube.fill_value is not None:
        fill_host(cube, temporary, left)
    return temporary


def _refresh_all(cube: WholeCube, spans: SpansLike, copy: SpanCopy) -> None:
    """Make all of a copy fresh whose memory copies all elements at once."""
    hub, written = host(), spans.in_flux(cube)
    for record in spans.writers(cube):
        if record.used is copy:
            raise ConflictError(f"cannot copy all elements to {copy.memory.name!r}, which copies "
                                f"no parts, during the access to {record.describe()}; "
                                f"{record.way_out}")
    middle, everything = spans.on_host(cube), spans.everything
    refresh(cube, spans, middle, everything - written)
    for observer in tuple(OBSERVERS):
        observer.copying(cube, hub, copy.memory)
    if cube.shared:
        cube.before_copy(hub, copy.memory, None)
    begin = perf_counter()
    copy.memory.copy_in(cube, copy.handle, middle.handle)
    copy.fresh = middle.fresh - written
    cube.log(hub, copy.memory, perf_counter() - begin)


# Elements that were never written, or that failed blocks left


def _fill(cube: WholeCube, spans: SpansLike, copy: SpanCopy, runs: Runs) -> None:
    """Write the fill value to elements that were never written."""
    if cube.fill_value is not None and runs:
        if copy.memory is host():
            fill_host(cube, copy.handle, runs)
        elif (runs != run(copy.start, copy.stop)
              or (cube.split > 1 and not copy.whole)  # units have no fill value
              or not copy.memory.fill(copy.owner, copy.handle)):
            middle = spans.on_host(cube)
            _fill(cube, spans, middle, runs - middle.fresh)
            copy.memory.write_runs(copy.counted, copy.handle, copy.part_of(middle.handle),
                                   copy.positions(runs))
    copy.fresh = copy.fresh | runs


def fill_host(cube: WholeCube, handle: Handle, runs: Runs) -> None:
    """Write the fill value to `runs` of a host handle."""
    if cube.split == 1:
        for block in runs.blocks():
            block.of(handle)[...] = cube.fill_value
        return
    unit, one = f"u{cube.dtype.itemsize // cube.split}", handle[:1].copy()
    one[...] = cube.fill_value
    wanted = runs.mask(cube.units)
    for k, piece in enumerate(one.view(unit)):  # each unit of an element has bytes of its own
        handle.view(unit)[k::cube.split][wanted[k::cube.split]] = piece


def _take_torn(cube: WholeCube, spans: SpansLike, copy: SpanCopy, runs: Runs) -> Runs:
    """Raise the error of torn elements among `runs`, or copy them as they are, by the setting.

    Return them.
    """
    found = NONE
    for torn in tuple(spans.torn):
        here = runs & torn.runs
        if here:
            cube.read_torn(torn.error)
            if torn.copy is not None and torn.copy is not copy:
                copy_torn(cube, spans, torn.copy, copy, here)
            found = found | here
    return found


def copy_torn(cube: WholeCube, spans: SpansLike, source: SpanCopy, target: SpanCopy,
              runs: Runs) -> None:
    """Copy torn elements unchanged; they stay torn."""
    hub = host()
    middle = target if target.memory is hub else spans.on_host(cube)
    left = runs if target.memory is hub else runs - middle.fresh
    if source.memory is not hub:
        if cube.shared:
            cube.before_copy(source.memory, hub, left)
        read_runs(cube, source, middle.handle, left)
    if target is not middle:
        target.memory.write_runs(target.counted, target.handle, target.part_of(middle.handle),
                                 target.positions(left))


# Asynchronous copies of parts; see `async_copy` for those of whole cubes


# the parameters are the facts of a copy
def begin_async(cube: WholeCube, spans: SpansLike, view: Viewed, source: SpanCopy,
                target: SpanCopy, runs: Runs, where: SourceLine) -> None:
    """Begin to copy `runs`, all that the copy of the device has, between it and the host."""
    if cube.shared:
        cube.before_copy(source.memory, target.memory, runs)
    facet = facet_over(source.memory, cube.seen)
    record = AsyncCopyRecord(view, facet, source.handle, where)
    record.runs, record.used = runs, source
    copy = AsyncCopy(record, source.memory, target.memory, False)
    try:
        spans.pending[target] = copy
        cube.accesses.append(record)
        if target.memory is host():
            copy.pending = source.memory.begin_copy_out(source.counted, source.handle,
                                                        source.part_of(target.handle))
        else:
            copy.pending = target.memory.begin_copy_in(target.counted, target.handle,
                                                       target.part_of(source.handle))
    except BaseException:
        _abandon(cube, spans, target)
        raise


def finish(cube: WholeCube, spans: SpansLike, target: SpanCopy) -> None:
    """Wait for the copy in progress to `target`, and record the elements fresh there.

    If it failed, raise its error; nothing has changed then.
    """
    copy = spans.pending[target]
    if copy.record.is_orphan:
        _abandon(cube, spans, target)
        return
    try:
        if arrive(copy.pending) and copy.pending is not None:
            copy.pending.wait()
    except Exception:
        _abandon(cube, spans, target)
        raise
    runs = copy.record.runs
    if cube.shared:
        cube.after_copy(target.memory, runs)
    target.fresh = target.fresh | runs  # what is copied cannot be written meanwhile
    spans.grown = target.memory
    copy.target.note_use(target.handle)  # it is used next: others are evicted before it
    _remove(cube, spans, target)
    cube.log_runs(copy.source, copy.target, runs, perf_counter() - copy.begun)


def _abandon(cube: WholeCube, spans: SpansLike, target: SpanCopy) -> None:
    """Forget a copy that failed, or whose beginning was interrupted."""
    copy = spans.pending.get(target)
    if copy is not None and copy.pending is not None and not copy.record.is_orphan:
        with suppress(Exception):  # it goes on, and must not write what is freed
            copy.pending.wait()
    if copy is not None and cube.shared:
        cube.after_copy(copy.target, copy.record.runs)
    _remove(cube, spans, target)


def _remove(cube: WholeCube, spans: SpansLike, target: SpanCopy) -> None:
    copy = spans.pending.get(target)
    if copy is not None:
        forget(cube, copy.record)
        spans.pending.pop(target, None)
