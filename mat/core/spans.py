"""`Spans`: the state of a cube whose parts are fresh in different memories.

Most cubes have none: each of their copies is of all elements, and fresh or not as a whole. Elements
are either fresh in some copy, or never written, or torn, or being written. The caller of every
method holds the lock of the cube.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import ConflictError, DeviceError, TornError
from .access_record import AccessRecord, conflict, narrowed, without_outer
from .async_copy import AsyncCopy, finish_copy_locked
from .barrier_copies import MADE
from .compiled import THREADS
from .direction import INPUT, IO, OUTPUT, Direction
from .observers import OBSERVERS, notify_evicted
from .registry import Facet, Memory, Presented, ViewLike, WholeCube, host
from .runs import NONE, Runs, run, union
from .source_line import SourceLine, allow_conflicts, describe
from .span_copy import SpanCopy
from .span_transfer import copy_torn, refresh, takes_parts

MOST_PARTS = 1024  # of one cube in one memory: then the oldest are freed
# of one cube in one memory: then new ones are wider, so that a loop over rows makes few more, and
# where there is room all are joined if the whole has no more bytes than these for each
MANY_PARTS, WORTH_A_PART = 64, 1 << 13
TORN = ("{} failed and left the only copy half-written; overwrite all of it, or accept it as it "
        "is with accept_torn()")


def _aligned(cube: WholeCube, runs: Runs) -> tuple[int, int]:
    """Return where a copy of `runs` begins and ends: elements of every size are aligned in it."""
    low, high = runs.bounds
    return low - low % cube.align, min(high + -high % cube.align, cube.units)


class Torn:
    """Elements that a failed block left, its error, and the copy that has them."""

    def __init__(self, runs: Runs, error: TornError, copy: SpanCopy | None) -> None:
        self.runs: Runs = runs
        self.error: TornError = error
        self.copy: SpanCopy | None = copy


class Spans:
    """The copies of a cube, the elements fresh in each, and those fresh nowhere."""

    def __init__(self, cube: WholeCube) -> None:
        """Begin with the state that the cube has as a whole."""
        for memory in tuple(cube.async_copies or ()):
            finish_copy_locked(cube, memory)
        everything = run(0, cube.units)
        self.everything: Runs = everything
        self.copies: list[SpanCopy] = [SpanCopy(cube, memory, 0, cube.units, True)
                                       for memory in cube.handles]
        for copy in self.copies:
            if cube.fresh & copy.memory.bit:
                copy.fresh = everything
        self.parts: dict[tuple[Memory, int, int], SpanCopy] = {}  # copies by what they are of
        self.grown: Memory | None = None  # where a part was made, for `join_parts`
        self.settled: bool = False  # nothing is left to be freed when an access has ended
        self.pristine: Runs = everything if cube.pristine else NONE
        self.torn: list[Torn] = []
        if cube.torn is not None and not cube.fresh:
            self.torn.append(Torn(everything, cube.torn, self.whole_in(cube.torn_memory)))
        self.spoiled: Runs = NONE  # what an outer block left that failed before an inner one ended
        self.busy: int = 0  # it is being changed, and is not to be ended
        self.pending: dict[SpanCopy, AsyncCopy] = {}  # copies in progress, by their targets
        self.used: list[SpanCopy] = []  # copies that elements are being copied from or to
        for record in cube.accesses:
            self.adopt(record)

    def divide(self, cube: WholeCube, factor: int) -> None:
        """Count smaller units, `factor` to one of the current ones."""
        self.everything = self.everything.times(factor)
        self.pristine, self.spoiled = self.pristine.times(factor), self.spoiled.times(factor)
        for one in (*self.torn, *cube.accesses):
            one.runs = one.runs.times(factor)
        for copy in self.copies:
            copy.divide(factor)
        self.parts = {(memory, a * factor, b * factor): copy
                      for (memory, a, b), copy in self.parts.items()}

    def adopt(self, record: AccessRecord) -> None:
        """Record the elements of an access that began before there were spans."""
        if record.view is not None:
            record.runs = record.view._touched()
        record.used = self.whole_in(record.facet.memory)

    def whole_in(self, memory: Memory | None) -> SpanCopy | None:
        """Return the copy of all elements in a memory, if there is one."""
        for copy in self.copies:
            if copy.whole and copy.memory is memory:
                return copy
        return None

    # What is being written

    def writers(self, cube: WholeCube) -> list[AccessRecord]:
        """Return the accesses that write, first begun first."""
        return [r for r in tuple(cube.accesses) if r.direction is not INPUT and r.used is not None]

    def in_flux(self, cube: WholeCube, copy: SpanCopy | None = None) -> Runs:
        """Return the elements that are being written, in `copy` or in any."""
        return union(r.runs for r in self.writers(cube) if copy is None or r.used is copy)

    def committed(self, cube: WholeCube, copy: SpanCopy) -> Runs:
        """Return the elements fresh in `copy` and not being written there."""
        return copy.fresh - self.in_flux(cube, copy)

    # Beginning an access

    # the parameters are those of an access
    def open(self, cube: WholeCube, view: ViewLike, facet: Facet, direction: Direction,
             thread: int, task: object, presents: bool) -> AccessRecord:
        """Return the record of an access, with its elements fresh; it has not begun."""
        runs = self.touched(view)
        wanted, runs = self.check_conflicts(cube, view, facet, direction, thread, task, runs)
        copy = self.copy_for(cube, facet.memory, runs, wanted)
        unchanged = (direction is INPUT and copy not in self.pending and bool(runs)
                     and copy.fresh.covers(runs))
        # of very many runs there are elements in between, which are not overwritten
        overwritten = direction is OUTPUT and runs.size == view._count()
        if not unchanged and not (overwritten and takes_parts(copy.memory)):
            refresh(cube, self, copy, runs)
        handle = copy.handle
        facet.memory.note_use(handle)
        value: Presented = None
        if presents:
            seen = view if copy.whole else view._relative_to(copy.start)
            value = facet.present(seen, view._presentable(handle), direction is not INPUT)
        record = AccessRecord(facet, handle, value)
        record.runs, record.used, record.unchanged = runs, copy, unchanged
        return record

    def touched(self, view: ViewLike) -> Runs:
        """Return the elements that accesses to `view` touch, none that is torn and not seen."""
        runs: Runs = view._touched()
        return narrowed(runs, view) if self.torn and runs.meets(self.torn_runs()) else runs

    # the parameters are those of an access
    def check_conflicts(self, cube: WholeCube, view: ViewLike, facet: Facet, direction: Direction,
                        thread: int, task: object, runs: Runs,
                        where: SourceLine | None = None) -> tuple[SpanCopy | None, Runs]:
        """Raise `ConflictError` if an element is accessed by another block, and one of them writes.

        Return the copy that accesses of the same thread and task use, if this one must use it too,
        and the elements to access: those of `runs`, or if there are others in between that another
        block accesses, no more than the view sees.
        """
        found: SpanCopy | None = None
        low, high = runs.bounds
        permitted = bool(getattr(allow_conflicts, "depth", 0))
        for other in tuple(cube.accesses):
            reads = direction is INPUT and other.direction is INPUT
            if (not other.thread or not runs.meets(other.runs) or reads
                    or cube.is_elsewhere_late(other, facet)):
                continue
            mine = (other.thread == thread and other.task is task
                    and other.facet.memory is facet.memory)
            promised = (mine and not permitted and other.direction is INPUT
                        and self.promises(cube, other, view, runs))
            if mine and not promised and found in (None, other.used) and other.used.has(low, high):
                found = other.used
                continue
            other.narrow()
            runs = narrowed(runs, view)
            if not permitted and runs.meets(other.runs) and not cube.has_ended(other):
                wanted = describe(view, facet, direction, thread, where or THREADS.line())
                raise conflict(wanted, other, promised)
        return found, runs

    def promises(self, cube: WholeCube, block: AccessRecord, view: ViewLike, runs: Runs) -> bool:
        """Return the result of `Cube.promises` for a write to the elements `runs`."""
        block.narrow()
        return bool(without_outer(cube.accesses, block, narrowed(runs, view) & block.runs))

    def copy_for(self, cube: WholeCube, memory: Memory, runs: Runs,
                 wanted: SpanCopy | None) -> SpanCopy:
        """Return the copy in `memory` to be used for `runs`, a new one if none has all of them."""
        if wanted is not None:
            return wanted
        known = self.fresh_copy(cube, memory, runs)
        if known is not None:
            return known
        low, high = _aligned(cube, runs)
        whole = self.whole_in(memory)
        if not takes_parts(memory) or memory is host():
            return whole or self.make(cube, memory, 0, cube.units)
        found, least = whole, (runs - whole.fresh).size if whole is not None else -1
        for copy in self.copies:
            if (copy.memory is memory and not copy.whole and copy.has(low, high)
                    and copy.start % cube.align == 0):
                missing = (runs - copy.fresh).size
                if found is None or missing < least or (missing == least and not found.whole
                                                        and copy.size < found.size):
                    found, least = copy, missing
        if found is None:
            parts = [c for c in self.copies if c.memory is memory and not c.whole]
            for copy in parts[:max(0, len(parts) - MOST_PARTS + 1)]:  # the oldest
                self.evict(cube, copy, True)
            return self.make(cube, memory, *self.widened(cube, memory, low, high))
        return found

    def fresh_copy(self, cube: WholeCube, memory: Memory, runs: Runs) -> SpanCopy | None:
        """Return the copy in `memory` that was made for `runs`, if it has all of them fresh."""
        known = self.parts.get((memory, *_aligned(cube, runs)))
        return known if known is not None and known.fresh.covers(runs) else None

    def widened(self, cube: WholeCube, memory: Memory, low: int, high: int) -> tuple[int, int]:
        """Return the bounds of a new part: the wider, the more parts there are."""
        parts = sum(copy.memory is memory for copy in self.copies)
        if parts < MANY_PARTS:
            return low, high
        width = min((high - low) * parts, cube.units // MANY_PARTS)
        if memory.limit is not None:
            width = min(width, memory.limit * cube.units // (cube.nbytes * MANY_PARTS))
        width -= width % cube.align
        if high - low >= width:
            return low, high
        start = low - low % width
        return start, min(max(start + width, high), cube.units)

    def make(self, cube: WholeCube, memory: Memory, start: int, stop: int) -> SpanCopy:
        """Allocate a copy of the elements from `start` to `stop`."""
        whole = stop - start == cube.units
        copy = SpanCopy(cube, memory, start, stop, whole)
        self.busy += 1  # another part may be evicted
        try:
            if whole:
                cube._allocate(memory)
            else:
                MADE.add(copy, memory)
                copy.part = memory.allocate(copy)
        finally:
            self.busy -= 1
        if not whole:
            for observer in tuple(OBSERVERS):
                observer.allocated(copy, memory)
        self.copies.append(copy)
        if not whole:
            self.parts[memory, start, stop] = copy
            self.grown = memory
        return copy

    def on_host(self, cube: WholeCube) -> SpanCopy:
        """Return the host's copy of all elements."""
        return self.whole_in(host()) or self.make(cube, host(), 0, cube.units)

    def forget(self, copy: SpanCopy | None) -> None:
        """Record that a copy is freed."""
        if copy is not None:
            self.copies.remove(copy)
            self.parts.pop((copy.memory, copy.start, copy.stop), None)
            for torn in self.torn:
                if torn.copy is copy:
                    torn.copy = None

    def to_drop(self, memory: Memory, view: ViewLike | None) -> list[SpanCopy]:
        """Return the copies in a memory with elements of `view`; without one, that of all."""
        found = [c for c in self.copies if c.memory is memory and (c.whole or view is not None)]
        if view is None or view._sees_all():
            return found
        runs = self.touched(view)
        return [c for c in found if runs.meets(run(c.start, c.stop))]

    # Torn elements

    def torn_runs(self) -> Runs:
        """Return the elements that failed blocks left."""
        return union(torn.runs for torn in self.torn)

    def torn_error(self, runs: Runs) -> TornError | None:
        """Return the error of a block that left some of `runs`."""
        return next((torn.error for torn in self.torn if torn.runs.meets(runs)), None)

    def accept_torn(self) -> None:
        """Accept the torn elements of failed blocks as the data."""
        left = []
        for torn in self.torn:
            if torn.copy is None:
                left.append(torn)
            else:
                torn.copy.fresh = torn.copy.fresh | torn.runs
        self.torn = left

    def forget_torn(self, runs: Runs) -> None:
        """Record that `runs` are overwritten."""
        for torn in self.torn:
            torn.runs = torn.runs - runs
        self.torn = [torn for torn in self.torn if torn.runs]

    # Ending an access

    def close(self, cube: WholeCube, record: AccessRecord, failed: bool,
              earlier: Iterable[AccessRecord], later: Iterable[AccessRecord]) -> None:
        """Commit the elements that an access wrote, or give them up.

        `earlier` and `later` are the open accesses that began before and after it. Of those that
        write the same elements, the outermost decides; what ends out of order, the last one.
        """
        others = [r for r in (*earlier, *later) if r.direction is not INPUT
                  and r.runs.meets(record.runs)]
        for found in ([record, *others] if failed or others else ()):
            found.narrow()
        mine = record.runs - union(r.runs for r in earlier if r.direction is not INPUT)
        inner = mine & union(r.runs for r in later if r.direction is not INPUT)
        if failed:
            self.spoiled = self.spoiled | inner
        elif record.direction is OUTPUT:
            self.forget_torn(inner)  # it was overwritten, which the last one commits
        decided = mine - inner
        lost = decided if failed else decided & self.spoiled
        self.spoiled = self.spoiled - decided
        self.give_up(record, lost)
        kept = decided - lost
        if kept:
            self.commit(cube, record, kept)

    def commit(self, cube: WholeCube, record: AccessRecord, runs: Runs) -> None:
        """Record that `runs` are fresh only in the copy that `record` used."""
        cube.version += 1
        still = NONE
        if self.torn and record.direction is IO:  # it was let through, and has read torn elements
            still = runs & self.torn_runs()
            moved = [Torn(torn.runs & still, torn.error, record.used) for torn in self.torn]
            self.forget_torn(still)
            self.torn += [torn for torn in moved if torn.runs]
        runs = runs - still
        for copy in self.copies:
            if copy is record.used:
                copy.fresh = copy.fresh | runs
            elif copy.near(runs):
                copy.fresh = copy.fresh - runs
        self.pristine = self.pristine - runs
        self.forget_torn(runs)

    def give_up(self, record: AccessRecord, runs: Runs) -> None:
        """Record that `runs` are torn in the copy that `record` used."""
        copy = record.used
        if not runs or copy is None:
            return
        copy.fresh = copy.fresh - runs
        lost = runs - self.pristine - self.torn_runs()
        for other in self.copies:
            if other.near(lost):
                lost = lost - other.fresh
        if lost:
            self.torn.append(Torn(lost, TornError(TORN.format(record.describe())), copy))

    # What the cube is told, and tells

    def is_whole(self, cube: WholeCube) -> bool:
        """Return whether all copies are of all elements, and fresh or not as a whole."""
        everything = self.everything
        if self.pending or any(not c.whole or c.fresh not in (NONE, everything)
                               for c in self.copies):
            return False
        torn = self.torn_runs()
        return (self.pristine in (NONE, everything) and torn in (NONE, everything)
                and len(self.torn) < 2 and not self.writers(cube))

    def summarise(self, cube: WholeCube) -> bool:
        """Set the state of the cube as a whole; return True if that says everything."""
        whole, writers = self.is_whole(cube), self.writers(cube)
        torn = self.torn[0] if self.torn else None
        cube.fresh = self.mask()
        cube.pristine = whole and bool(self.pristine)
        cube.torn = None if torn is None else torn.error
        cube.torn_memory = None if torn is None or torn.copy is None else torn.copy.memory
        cube.writer = writers[0] if writers else None
        return whole

    def fresh_in(self, memory: Memory, near: Runs | None = None) -> Runs:
        """Return the elements that copies in `memory` have fresh; of those that have none between
        the first and the last of `near`, if that is given, only some or none.
        """
        return union(c.fresh for c in self.copies if c.memory is memory
                     and (near is None or c.near(near)))

    def mask(self) -> int:
        """Return the bits of the memories with a copy of all elements that is fresh."""
        found = 0
        for copy in self.copies:
            if copy.whole and copy.fresh == self.everything:
                found |= copy.memory.bit
        return found

    # How copies are dropped, evicted, and joined in one

    def only_in(self, cube: WholeCube, copies: list[SpanCopy]) -> Runs:
        """Return the elements that only these copies have."""
        found = union(self.committed(cube, c) for c in copies)
        for copy in self.copies:
            if copy.near(found) and copy not in copies:
                found = found - self.committed(cube, copy)
        return found - self.pristine if found else NONE

    def is_used(self, cube: WholeCube, copy: SpanCopy) -> bool:
        """Return whether a copy is accessed, kept, or being copied."""
        return (copy in self.pending or copy in self.used or copy.is_kept
                or cube.is_kept(copy.memory) or any(r.used is copy for r in tuple(cube.accesses)))

    def evict(self, cube: WholeCube, copy: SpanCopy, dirty: bool) -> bool:
        """Free a copy; return False if it is used, or alone has elements without `dirty`."""
        if copy not in self.copies or self.is_used(cube, copy) or cube.adopted is copy.memory:
            return False
        only, torn = self.only_in(cube, [copy]), [t for t in self.torn if t.copy is copy]
        if (only or torn) and not dirty:
            return False
        if only and only.meets(self.in_flux(cube, self.on_host(cube))):
            return False
        notify_evicted(cube, copy.memory, copy.owner.nbytes)
        if only:
            refresh(cube, self, self.on_host(cube), only)
        self.move_torn(cube, torn)
        self.discard(cube, copy)
        return True

    def move_torn(self, cube: WholeCube, found: list[Torn]) -> None:
        """Copy the torn elements of failed blocks to the host, for `accept_torn`."""
        for torn in found:
            middle = self.on_host(cube)
            if torn.copy is not None and torn.copy is not middle:
                copy_torn(cube, self, torn.copy, middle, torn.runs)
                torn.copy = middle

    def discard(self, cube: WholeCube, copy: SpanCopy) -> None:
        """Free a copy."""
        if copy.whole:
            cube.discard(copy.memory)  # which calls `forget`
            return
        self.forget(copy)
        handle, copy.part = copy.part, None
        if handle is not None:
            copy.memory.free(handle)
        for observer in tuple(OBSERVERS):
            observer.freed(copy, copy.memory)

    def drop(self, cube: WholeCube, copies: list[SpanCopy], force: bool) -> None:
        """Free copies that are not in use; raise `ConflictError` if they have the only data."""
        lost = self.only_in(cube, copies) | union(t.runs for t in self.torn if t.copy in copies)
        if lost and not force:
            raise ConflictError(f"{copies[0].memory.name!r} has the only copy of elements {lost!r} "
                                "of this data; access them in another memory first, or discard "
                                "them with force=True")
        if lost:
            self.forget_torn(lost)
            self.pristine = self.pristine | lost
        for copy in copies:
            self.discard(cube, copy)

    def refresh_before_drop(self, cube: WholeCube, doomed: list[SpanCopy]) -> None:
        """Copy to the host the elements that only these copies have, except those being written."""
        only = self.only_in(cube, doomed) - self.in_flux(cube)
        if only:
            refresh(cube, self, self.on_host(cube), only)
        if not cube.accesses:
            self.move_torn(cube, [t for t in self.torn if t.copy in doomed])

    def tidy(self, cube: WholeCube) -> None:
        """Free copies of parts that have nothing fresh, or nothing that a larger one has not.

        Those in use are freed when a later access ends.
        """
        around: list[SpanCopy] = []  # those that may contain the next one
        self.settled = True
        for copy in sorted(self.copies, key=lambda c: (c.start, -c.stop)):  # larger ones first
            around = [c for c in around if c.stop > copy.start]
            needless = not copy.fresh or any(c.memory is copy.memory and c.stop >= copy.stop
                                             and c.fresh.covers(copy.fresh) for c in around)
            if needless and not copy.whole:
                if not self.is_used(cube, copy) and all(t.copy is not copy for t in self.torn):
                    self.discard(cube, copy)
                    continue
                self.settled = False
            around.append(copy)

    # A loop over batches that are views of one Mat makes a copy of each. Once they have all
    # elements, one copy of them is as good, and accesses to it take less time: there are no parts
    # to look at.

    def join_parts(self, cube: WholeCube) -> None:
        """Make a copy of all elements in the memory that has got a part, if its parts have them all
        now, or there are many, and if there is room for it; the parts are freed by `tidy`.
        """
        memory, self.grown = self.grown, None
        if memory is None or cube.accesses or self.busy or self.torn or self.pending:
            return
        whole = None
        if self._can_be_joined(cube, memory):
            try:
                whole = self.make(cube, memory, 0, cube.units)
                refresh(cube, self, whole, self.everything)
            except DeviceError:  # the parts are used as before
                if whole is not None:
                    self.discard(cube, whole)

    def _can_be_joined(self, cube: WholeCube, memory: Memory) -> bool:
        parts = [copy for copy in self.copies if copy.memory is memory]
        soon = (len(parts) > MANY_PARTS and cube.nbytes <= WORTH_A_PART * len(parts)
                and cube.fits_easily(memory))
        return (memory.joins and (soon or sum(copy.size for copy in parts) >= cube.units)
                and not any(copy.whole or self.is_used(cube, copy) for copy in parts)
                and memory.has_room(cube.nbytes)
                and (soon or bool(union(copy.fresh for copy in parts).covers(self.everything))))
