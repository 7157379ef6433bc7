"""`Coherence`: copies of one piece of data in several memories: their freshness, and refreshing.

Conflicts between accesses are not checked here but by `Cube`.
"""

from __future__ import annotations

import atexit
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from time import perf_counter
from typing import Any

from ..errors import TornError
from ..layout.attributes import begin_as_nothing
from .access_record import AccessRecord
from .async_copy import AsyncCopy, finish_copy_locked
from .barrier_copies import MADE
from .compiled import BLOCKS, THREADS
from .compiled import HostBlock as NewBlock
from .compiled import LiveObjects as NewLiveObjects
from .compiled import Lock as NewLock
from .direction import Direction
from .observers import COPY, ELEMENT, OBSERVERS, TRANSFERS, wait
from .pending import Pending
from .registry import ElementType, Handle, Memory, Number, ViewLike, WholeCube, host
from .runs import Runs
from .source_line import SourceLine
from .span_transfer import peek, refresh, takes_parts
from .spans import Spans

# storages of so many bytes are copied whole: a copy of less takes as long
SMALL = 64 << 10
MOST_OF = 8  # unless so many would not fit into a memory
ALIGNED = 16  # bytes: of the largest elements
LIVE = _live = NewLiveObjects()  # everything that has copies
_blocks, _observers, _threads, _made = BLOCKS, OBSERVERS, THREADS, MADE  # with types of C
_transfers = TRANSFERS  # as well


class Coherence:
    """The state of a cube, and the methods that make copies fresh.

    Subclasses describe the data by `size`, `dtype`, `nbytes` and `fill_value`.
    """

    # what attributes are until they are set: see `begin_as_nothing`
    size: int
    dtype: ElementType
    nbytes: int
    fill_value: Number
    own_lock: NewLock | None
    copies: dict[Memory, Handle] | None
    address: int  # of the host's copy; 0: not known, or none
    owns_block: bool  # the host's copy is a block at `address`, and no handle of it yet
    place: int  # in `LIVE`
    fresh: int  # the bits of the memories that have the committed data
    seen: int  # the bits of the facets that accesses used
    records: list[AccessRecord] | None
    writer: AccessRecord | None  # the outermost writing access, which decides
    pristine: bool  # never written: if nothing is fresh, the data is the fill value
    torn: TornError | None
    torn_memory: Memory | None
    adopted: Memory | None  # whose handle belongs to the user: it is not dropped
    shared: bool  # others can write that memory, or cut it off: see `prepare`
    guarded: bool  # nothing is accessed at once: `prepare` has to be asked first
    frees_handles: bool  # when the cube is garbage
    viewers: list[weakref.ref[ViewLike]] | None  # views with values presented of handles
    version: int
    # `Runs` count units of the size of the smallest element that a view of it has or had
    split: int  # how many of them are an element of `dtype`
    align: int  # how many of them copies of parts begin and end at multiples of
    made: SourceLine | None  # the line that created it
    kept: dict[Memory, list[int]] | None  # the threads of `keep` blocks
    async_copies: dict[Memory, AsyncCopy] | None  # copies in progress, by their target
    history: deque[tuple[str, str, int]] | None  # last copies: from, to, version
    # what is fresh where, if that cannot be told for whole copies; then `fresh` has the memories
    # with a fresh copy of all elements
    spans: Any  # `Spans`, or None
    pending: Pending | None  # what is to be computed before an access

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Start with no copy and no access; rarely used parts are created on demand."""
        self.place = _live.add(self)
        self.split = self.align = 1
        self.pristine = True
        if not _blocks.enabled:  # uncompiled, other threads can run while `lock` makes it
            self.own_lock = NewLock()
        self.made = _threads.line()

    def free_handles(self) -> None:
        """Free all handles: nobody uses the cube any more."""
        if self.copies:
            _free_all(self.copies)
        self.spans = None  # its copies free their handles

    def __dealloc__(self) -> None:  # the name that Cython has for it; see the end of this file
        # not `weakref.finalize`, which takes longer than all the rest of a small call
        if _live is None:
            return  # the interpreter ends, and has cleared what is not compiled
        _live.remove(self.place)  # first: nothing may find it, and freeing a handle may raise
        if self.owns_block:
            _blocks.free(self.address, self.nbytes)
        if self.frees_handles:
            self.free_handles()

    @property
    def cube(self) -> WholeCube:
        """Self: subclasses have the other methods of a cube."""
        whole: Any = self
        return whole

    @property
    def lock(self) -> NewLock:
        """The lock that guards the state."""
        return self._guard()

    def _guard(self) -> NewLock:
        """Return the lock, created on first use."""
        if self.own_lock is None:
            self.own_lock = NewLock()
        return self.own_lock

    @property
    def accesses(self) -> list[AccessRecord]:
        """The records of open accesses."""
        if self.records is None:
            self.records = []
        return self.records

    @property
    def handles(self) -> dict[Memory, Handle]:
        """The handles of the copies, by memory."""
        if self.copies is None:
            self.copies = {}
        if self.owns_block:
            self._make_host_handle()
        return self.copies

    def _make_host_handle(self) -> None:
        """Tie the host's block to its handle: it is freed once no array of it is left."""
        hub, block, handle = host(), NewBlock(_blocks, self.address, self.nbytes), None
        try:
            handle = hub.handle_of(self, block)
        finally:  # it may have failed, or another thread may have been faster
            if handle is None or not self.owns_block:
                block.give_up()
            elif self.copies is not None:
                self.copies[hub] = handle
                self.owns_block = False

    def _register_viewer(self, view: ViewLike) -> None:
        """Remember that `view` has values of handles; forget views that are garbage."""
        viewers = self.viewers or []
        if len(viewers) > 15 and len(viewers) & (len(viewers) - 1) == 0:
            viewers = list({id(ref): ref for ref in viewers if ref() is not None}.values())
        viewers.append(weakref.ref(view))
        self.viewers = viewers

    def live_viewers(self) -> list[Any]:
        """Return the views that have values presented of handles."""
        return [view for view in (ref() for ref in tuple(self.viewers or ())) if view is not None]

    def replace_host(self, handle: Handle | None) -> None:
        """Make `handle` the host's handle, with the same elements; None: there is none any more."""
        handles = self.handles
        self.address = 0
        if handle is None:
            handles.pop(host(), None)
        else:
            handles[host()] = handle

    # Making copies fresh; the caller holds the lock

    def _refresh(self, memory: Memory) -> Handle:
        """Make `memory` fresh and return its handle."""
        if self.spans is not None:
            return self._refresh_spans(memory)
        writer = self.writer
        if writer is not None and writer.facet.memory is memory:
            return self.handles[memory]  # in the middle of a writing block: its elements count
        if self.fresh & memory.bit:
            return self.handles[memory]
        if not self.fresh and self.torn is not None:
            self.read_torn(self.torn)
            return self._torn_elements(memory)
        if self.async_copies and memory in self.async_copies:
            finish_copy_locked(self.cube, memory)
            if self.fresh & memory.bit:
                return self.handles[memory]
        return self._make_fresh(memory, self._copy_to if self.fresh else self._fill_handle)

    def _refresh_spans(self, memory: Memory) -> Handle:
        """Make all elements fresh in `memory`, in the state of `Spans`."""
        spans = self.spans
        copy = spans.whole_in(memory) or spans.make(self.cube, memory, 0, self.units)
        refresh(self.cube, spans, copy, spans.everything)
        self.settle()
        return self.handles[memory]

    @property
    def units(self) -> int:
        """The number of units that `Runs` count."""
        return self.size * self.split

    @property
    def unit(self) -> int:
        """The bytes of one of these units."""
        itemsize: int = self.dtype.itemsize
        return itemsize // self.split

    def divide(self, size: int) -> None:
        """Make `Runs` count units of at most `size` bytes, the element size of a view."""
        unit = self.unit
        if unit <= size and self.align == ALIGNED // unit:
            return
        with self.lock:
            unit = self.unit
            if size < unit:
                self.split *= unit // size
                if self.spans is not None:
                    self.spans.divide(self, unit // size)
            self.align = ALIGNED // self.unit

    def to_spans(self) -> Spans:
        """Return the state of parts of the data, initialised from that of whole copies."""
        if self.spans is None:
            self.spans = Spans(self.cube)
        return self.spans

    def settle(self) -> None:
        """Return to whole-copy state if every copy is wholly fresh or stale, else summarise."""
        cube = self.cube
        self.spans.join_parts(cube)
        self.spans.tidy(cube)
        if self.spans.summarise(cube):
            self.spans = None

    def _fill_handle(self, memory: Memory, handle: Handle) -> None:
        assert self.pending is None or not self.pending.holds_back(None, False)
        if self.fill_value is not None and not memory.fill(self, handle):
            memory.copy_in(self, handle, self._refresh(host()))

    def _copy_to(self, memory: Memory, handle: Handle) -> None:
        for observer in tuple(_observers):
            observer.copying(self, self.fresh_memories()[0], memory)
        begin = perf_counter()
        source = self._copy_from_fresh(memory, handle)
        self.log(source, memory, perf_counter() - begin)

    def _copy_from_fresh(self, memory: Memory, handle: Handle) -> Memory:
        """Copy to `handle` from a fresh memory and return that memory."""
        hub = host()
        if memory is hub:
            source = self.fresh_memories()[0]
            self._copy(source, memory, handle)
            return source
        if not self.fresh & hub.bit:
            for other in self.fresh_memories():
                if self.shared:
                    self.before_copy(other, memory, None)
                if memory.copy_from(self, handle, other, self.handles[other]):
                    if self.shared:
                        self.after_copy(memory, None)
                    return other
        self._refresh(hub)
        self._copy(hub, memory, handle)
        return hub

    def _copy(self, source: Memory, target: Memory, handle: Handle) -> None:
        """Copy all elements from a memory to the handle of another one; one is the host."""
        if self.shared:
            self.before_copy(source, target, None)
        try:
            if target is host():
                with wait(COPY, self, source):
                    source.copy_out(self, self.handles[source], handle)
            else:
                target.copy_in(self, handle, self.handles[source])
        finally:  # a part may have been written
            if self.shared:
                self.after_copy(target, None)

    def _make_fresh(self, memory: Memory, put: Callable[[Memory, Handle], None]) -> Handle:
        """Write the data to the handle of `memory` by `put`, and return the handle.

        A handle that is new is kept only if `put` succeeds.
        """
        handles = self.handles
        handle = handles.get(memory)
        new = handle is None
        before = self.fresh
        if new:
            self.expect_copy(memory)
            handle = memory.allocate(self)
        try:
            put(memory, handle)
        except BaseException:
            self.fresh = before  # the hub may have been made fresh on the way
            if new:
                memory.free(handle)
            raise
        handles[memory] = handle
        self.fresh |= memory.bit
        if new:
            self.notify_allocated(memory)
        return handle

    def _allocate(self, memory: Memory) -> Handle:
        """Return a new handle of `memory`, with arbitrary elements."""
        handles = self.handles
        self.expect_copy(memory)
        handle = handles[memory] = memory.allocate(self)
        self.notify_allocated(memory)
        return handle

    def expect_copy(self, memory: Memory) -> None:
        """Register a new copy in `memory`, to be freed with the cube or when its barrier ends.

        This comes first: an error must not leave a copy that nothing frees.
        """
        if not self.frees_handles and memory.frees:
            self.frees_handles = True
        _made.add(self.cube, memory)

    def notify_allocated(self, memory: Memory) -> None:
        for observer in tuple(_observers):
            observer.allocated(self, memory)

    def log_runs(self, source: Memory, target: Memory, runs: Runs, seconds: float) -> None:
        """Record a copy of some elements and notify observers of it."""
        self._record_copy(source, target)
        for observer in (*_observers, *_transfers):
            observer.copied_runs(self, source, target, runs, seconds)

    def log(self, source: Memory, target: Memory, seconds: float) -> None:
        """Record a copy and notify observers of it."""
        self._record_copy(source, target)
        for observer in (*_observers, *_transfers):
            observer.copied(self, source, target, seconds)

    def _record_copy(self, source: Memory, target: Memory) -> None:
        if self.history is None:
            self.history = deque(maxlen=4)
        self.history.append((source.name, target.name, self.version))

    # When parts are tracked, and what views see

    def wants_spans(self, memory: Memory) -> bool:
        """Return whether an access to a part stale in `memory` copies only its own elements."""
        if self.torn_memory is not None and not self.fresh:
            return True  # what it overwrites, or no element, is not torn
        if not takes_parts(memory):
            return False
        if self.is_small_in(memory):
            return False
        return any(takes_parts(m) for m in self.fresh_memories()) if self.fresh else (
            memory is not host() and self.pristine)

    def is_small_in(self, memory: Memory) -> bool:
        """Return whether copies in `memory` are of all elements, since these are so few."""
        return self.nbytes <= SMALL and self.fits_easily(memory)

    def fits_easily(self, memory: Memory) -> bool:
        """Return whether a copy of all elements takes a small part of a memory."""
        return memory.limit is None or MOST_OF * self.nbytes <= memory.limit

    def note_use(self, memory: Memory, view: ViewLike) -> None:
        """Mark the copies in `memory` that overlap `view` as used now."""
        spans = self.spans
        if spans is None:
            handles = [self.handles.get(memory)]
        else:
            runs = view._touched()
            # without the lock: another thread may discard what all elements are in meanwhile
            handles = [self.handles.get(memory) if copy.whole else copy.part
                       for copy in tuple(spans.copies)
                       if copy.memory is memory and copy.near(runs)]
        for handle in handles:
            if handle is not None:
                memory.note_use(handle)

    def needs_spans(self, mask: int, failed: bool) -> bool:
        """Return whether a block that wrote a part changes the state of no more than that."""
        if failed and self.pristine:
            return False
        beside = self.fresh & ~mask
        if not beside:
            return failed and self.torn is None
        return self.nbytes > SMALL and any(takes_parts(m) for m in self.fresh_memories()
                                           if m.bit & beside)

    def is_fresh(self, memory: Memory, view: ViewLike) -> bool:
        """Return whether copies in `memory` have the current data that `view` sees."""
        spans = self.spans  # another thread may end that state meanwhile
        if spans is None or self.fresh & memory.bit:
            return bool(self.fresh & memory.bit)
        runs = view._touched()
        return bool(runs) and bool(spans.fresh_in(memory, runs).covers(runs))

    def torn_error(self, view: ViewLike) -> TornError | None:
        """Return the error of elements that `view` sees, if a failed block left some."""
        if self.spans is None:
            return self.torn
        return self.spans.torn_error(self.spans.touched(view))

    def settle_pending(self, writes: bool) -> None:
        """Compute pending values, without the lock, before all elements are read, or written."""
        pending = self.pending
        if pending is not None:
            pending.settle(self.cube, None, writes)

    @property
    def is_pending(self) -> bool:
        """True if the elements are the result of an expression that is not computed yet."""
        return self.pending is not None and self.pending.value is not None

    # Torn data

    def read_torn(self, error: TornError) -> None:
        """Raise `error`, since torn data is read.

        Subclasses may have another policy: if they return, the access gets the elements as they
        are, and the data remains torn.
        """
        raise TornError(*error.args)

    def _torn_elements(self: Any, memory: Memory) -> Handle:
        """Return the handle of `memory` with the elements that a failed block left."""
        handle = self.handles.get(memory)
        new = handle is None
        if new:
            handle = self._allocate(memory)
        try:
            self._copy_torn(memory, handle)
        except BaseException:
            if new:
                self.discard(memory)
            raise
        return handle

    def _copy_torn(self, memory: Memory, handle: Handle) -> None:
        source, hub = self.torn_memory, host()
        if source is None or source is memory or source not in self.handles:
            return
        middle = self.handles[hub] if hub in self.handles else hub.allocate(self)
        if source is not hub:
            if self.shared:
                self.before_copy(source, hub, None)
            with wait(COPY, self, source):
                source.copy_out(self, self.handles[source], handle if memory is hub else middle)
        if memory is not hub:
            memory.copy_in(self, handle, middle)

    def accept_torn(self) -> None:
        """Accept the elements that a failed block left as the data."""
        with self.lock:
            if self.spans is not None:
                self.spans.accept_torn()
                self.version += 1
                self.settle()
            elif self.torn is not None and self.torn_memory is not None:
                self.fresh, self.torn = self.torn_memory.bit, None
                self.version += 1

    # Memory that others use, too: `shared`

    def prepare(self, view: ViewLike, memory: Memory, direction: Direction) -> None:
        """Handle, without the lock, writes by others to shared memory, before an access."""

    def before_copy(self, source: Memory, target: Memory, runs: Runs | None) -> None:
        """Raise an error if elements, all or `runs`, must not be copied to the other memory."""

    def after_copy(self, target: Memory, runs: Runs | None) -> None:
        """Record that elements were copied to a memory."""

    def fresh_memories(self) -> list[Memory]:
        """Return the memories that have the current data."""
        return [m for m in self.handles if self.fresh & m.bit]

    def peek(self, spans: Iterable[tuple[int, int]]) -> Handle:
        """Return a host handle with the current data, or None if there is none; change no state.

        If the host is not fresh, the handle is a temporary one, in which only the elements in
        `spans` are valid.
        """
        self.settle_pending(False)
        with self.lock:
            if self.spans is not None:
                runs = [(a * self.split, b * self.split) for a, b in spans]
                return peek(self.cube, self.spans, runs)
            hub, writer = host(), self.writer
            if self.fresh & hub.bit or (writer is not None and writer.facet.memory is hub):
                return self.handles[hub]
            if not self.fresh:
                return None
            temporary, source = hub.allocate(self), self.fresh_memories()[0]
            handle = self.handles[source]
            with wait(COPY, self, source):
                if not all(source.read_part(self, handle, temporary, start, stop)
                           for start, stop in spans):
                    source.copy_out(self, handle, temporary)
            return temporary

    @property
    def is_elsewhere(self) -> bool:
        """True if the data is fresh somewhere, but not on the host."""
        return bool(self.fresh) and not self.fresh & host().bit

    def peek_element(self, k: int) -> Number | None:
        """Copy only element `k` from a device and return it.

        Return None where an access is needed: the host is fresh, the storage has one element or is
        being written, or the memory cannot copy a part.
        """
        self.settle_pending(False)
        with self.lock:
            if not self.is_elsewhere or self.size == 1 or self.spans is not None:
                return None
            if self.writer is not None or self.torn is not None:
                return None
            temporary, source = host().allocate(self), self.fresh_memories()[0]
            with wait(ELEMENT, self, source):
                copied = source.read_part(self, self.handles[source], temporary, k, k + 1)
            return temporary[k] if copied else None

    def poke(self, part: Handle, start: int) -> bool:
        """Write `part` to the elements from `start` on, in the device memory that is fresh.

        Return False if nothing was written: the host is fresh, the storage is being accessed, or
        the memory cannot write a part.
        """
        with self.lock:
            if self.accesses or not self.fresh or self.fresh & host().bit or self.spans is not None:
                return False
            if self.pending is not None:
                return False
            memory, before = self.fresh_memories()[0], (self.fresh, self.pristine)
            # first: an interrupt must not leave other copies fresh, or the fill value
            self.fresh, self.pristine = memory.bit, False
            if not memory.write_part(self, self.handles[memory], part, start):
                self.fresh, self.pristine = before
                return False
            self.version += 1
            return True

    def adopt_host(self, handle: Handle, owned: bool) -> None:
        """Make `handle`, with current data, the host's copy; `owned` if it is not the user's."""
        hub, self.spans = host(), None
        if self.copies is None and not self.owns_block:
            self.copies = {hub: handle}
        else:
            self.replace_host(handle)
        self.fresh, self.pristine = hub.bit, False
        self.adopted = None if owned else hub
        if owned:
            _made.add(self.cube, hub)

    def adopt_external(self, memory: Memory, handle: Handle) -> None:
        """Make `handle`, memory of another library that has the data already, the copy in `memory`.

        It is not dropped.
        """
        self.frees_handles, self.spans = True, None
        self.handles[memory] = handle
        self.fresh, self.pristine = memory.bit, False
        self.adopted = memory


begin_as_nothing(Coherence)
if not _blocks.enabled:  # uncompiled; compiled, a second method that ends objects would cost time
    Coherence.__del__ = Coherence.__dealloc__  # type: ignore[attr-defined]


@atexit.register
def _free_at_exit() -> None:
    """Free the handles of all cubes that exist when the interpreter exits, after the end of copies
    in progress, which must not write what is freed.
    """
    for cube in _live.all():
        for memory in tuple(cube.async_copies or ()):
            with suppress(Exception):
                finish_copy_locked(cube, memory)
        if cube.frees_handles:
            cube.free_handles()


def _free_all(handles: dict[Memory, Handle]) -> None:
    """Free all `handles`, also if freeing one of them fails."""
    while handles:
        memory, handle = handles.popitem()
        try:
            memory.free(handle)
        finally:
            _free_all(handles)
