"""`Coherence`: the copies of one piece of data in several memories, which of them are fresh, and
how the others are made fresh.

Conflicts between accesses are not checked here but by `Cube`.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from time import perf_counter

from ..errors import TornError
from .access_record import AccessRecord, SourceLine, user_line
from .async_copy import AsyncCopy, finish_copy_locked
from .barrier import register_copy
from .compiled import IN_USE, Lock
from .observers import OBSERVERS
from .registry import ElementType, Handle, Memory, Number, ViewLike, host


class Coherence:
    """The state of a cube, and the methods that make copies fresh.

    Subclasses describe the data by `size`, `dtype`, `nbytes` and `fill_value`.
    """

    __slots__ = (
        "__weakref__",
        "accesses",
        "adopted",
        "async_copies",
        "fresh",
        "handles",
        "has_finalizer",
        "history",
        "kept",
        "lock",
        "made",
        "pristine",
        "seen",
        "spoiled",
        "torn",
        "torn_memory",
        "version",
        "viewers",
        "writer",
    )

    size: int
    dtype: ElementType
    nbytes: int
    fill_value: Number

    def __init__(self) -> None:
        self.lock = Lock()
        self.handles: dict[Memory, Handle] = {}
        self.fresh = 0  # the bits of the memories that have the committed data
        self.seen = 0  # the bits of the facets that accesses used
        self.accesses: list[AccessRecord] = []
        self.writer: AccessRecord | None = None  # the outermost writing access, which decides
        self.spoiled = False  # an outer writing block failed before an inner one ended
        self.pristine = True  # never written: if nothing is fresh, the data is the fill value
        self.torn: TornError | None = None
        self.torn_memory: Memory | None = None
        self.adopted: Memory | None = None  # whose handle belongs to the user: it is not dropped
        self.has_finalizer = False  # which frees the handles when the cube is garbage
        self.viewers: list[weakref.ref[ViewLike]] = []  # views with values presented of handles
        self.version = 0
        # the line that created it; recording it always would cost too much
        self.made: SourceLine | None = user_line() if OBSERVERS or IN_USE else None
        self.kept: dict[Memory, int] | None = None  # numbers of `keep` blocks
        # copies in progress, by their target
        self.async_copies: dict[Memory, AsyncCopy] | None = None
        self.history: deque[tuple[str, str, int]] | None = None  # last copies: from, to, version

    # Making copies fresh; the caller holds the lock

    def _refresh(self, memory: Memory) -> Handle:
        """Make `memory` fresh and return its handle."""
        writer = self.writer
        if writer is not None and writer.facet.memory is memory:
            return self.handles[memory]  # in the middle of a writing block: its elements count
        if not self.fresh and self.torn is not None:
            self.read_torn(self.torn)
        if self.fresh & memory.bit:
            return self.handles[memory]
        if self.async_copies and memory in self.async_copies:
            finish_copy_locked(self, memory)
            return self.handles[memory]
        return self._make_fresh(memory, self._copy_to if self.fresh else self._fill_handle)

    def _fill_handle(self, memory: Memory, handle: Handle) -> None:
        if self.fill_value is not None and not memory.fill(self, handle):
            memory.copy_in(self, handle, self._refresh(host()))

    def _copy_to(self, memory: Memory, handle: Handle) -> None:
        for observer in tuple(OBSERVERS):
            observer.copying(self, self.fresh_memories()[0], memory)
        begin = perf_counter()
        source = self._copy_from_fresh(memory, handle)
        self.log(source, memory, perf_counter() - begin)

    def _copy_from_fresh(self, memory: Memory, handle: Handle) -> Memory:
        """Copy to `handle` from a fresh memory and return that memory."""
        hub = host()
        if memory is hub:
            return self._to_host(handle)
        if not self.fresh & hub.bit:
            for other in self.fresh_memories():
                if memory.copy_from(self, handle, other, self.handles[other]):
                    return other
        memory.copy_in(self, handle, self._refresh(hub))
        return hub

    def _to_host(self, handle: Handle) -> Memory:
        source = self.fresh_memories()[0]
        source.copy_out(self, self.handles[source], handle)
        return source

    def _make_fresh(self, memory: Memory, put: Callable[[Memory, Handle], None]) -> Handle:
        """Have `put` write the data to the handle of `memory` and return it.

        A handle that is new is kept only if `put` succeeds.
        """
        handle = self.handles.get(memory)
        new = handle is None
        before = self.fresh
        if new:
            handle = memory.allocate(self)
        try:
            put(memory, handle)
        except BaseException:
            self.fresh = before  # the hub may have been made fresh on the way
            if new:
                memory.free(handle)
            raise
        if new:
            self._adopt(memory, handle)
        self.fresh |= memory.bit
        return handle

    def _allocate(self, memory: Memory) -> Handle:
        return self._adopt(memory, memory.allocate(self))

    def _adopt(self, memory: Memory, handle: Handle) -> Handle:
        """Store a new handle, which is freed when the cube is garbage or its barrier ends."""
        if not self.has_finalizer and type(memory).free is not Memory.free:
            self.has_finalizer = True
            weakref.finalize(self, _free_all, self.handles)
        self.handles[memory] = handle
        register_copy(self, memory)
        for observer in tuple(OBSERVERS):
            observer.allocated(self, memory)
        return handle

    def log(self, source: Memory, target: Memory, seconds: float) -> None:
        """Record a copy and notify observers of it."""
        if self.history is None:
            self.history = deque(maxlen=4)
        self.history.append((source.name, target.name, self.version))
        for observer in tuple(OBSERVERS):
            observer.copied(self, source, target, seconds)

    # Torn data

    def read_torn(self, error: TornError) -> None:
        """Raise `error`, since torn data is read; subclasses may have another policy."""
        raise TornError(*error.args)

    def accept_torn(self) -> None:
        """Accept the elements that a failed block left as the data."""
        with self.lock:
            if self.torn is not None and self.torn_memory is not None:
                self.fresh, self.torn = self.torn_memory.bit, None
                self.version += 1

    def fresh_memories(self) -> list[Memory]:
        """Return the memories that have the current data."""
        return [m for m in self.handles if self.fresh & m.bit]

    def peek(self, spans: Iterable[tuple[int, int]]) -> Handle:
        """Return a host handle with the current data, or None if there is none; change no state.

        If the host is not fresh, the handle is a temporary one, in which only the elements in
        `spans` are valid.
        """
        with self.lock:
            hub, writer = host(), self.writer
            if self.fresh & hub.bit or (writer is not None and writer.facet.memory is hub):
                return self.handles[hub]
            if not self.fresh:
                return None
            temporary, source = hub.allocate(self), self.fresh_memories()[0]
            handle = self.handles[source]
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
        with self.lock:
            if not self.is_elsewhere or self.size == 1:
                return None
            if self.writer is not None or self.torn is not None:
                return None
            temporary, source = host().allocate(self), self.fresh_memories()[0]
            copied = source.read_part(self, self.handles[source], temporary, k, k + 1)
            return temporary[k] if copied else None

    def poke(self, part: Handle, start: int) -> bool:
        """Write `part` to the elements from `start` on, in the device memory that is fresh.

        Return False if nothing was written: the host is fresh, the storage is being accessed, or
        the memory cannot write a part.
        """
        with self.lock:
            if self.accesses or not self.fresh or self.fresh & host().bit:
                return False
            memory = self.fresh_memories()[0]
            if not memory.write_part(self, self.handles[memory], part, start):
                return False
            self.fresh = memory.bit
            self.version += 1
            return True

    def adopt_host(self, handle: Handle, owned: bool) -> None:
        """Make `handle`, which has the data already, the host's copy.

        `owned` is False if the memory belongs to the user.
        """
        hub = host()
        self.handles[hub] = handle
        self.fresh, self.pristine = hub.bit, False
        self.adopted = None if owned else hub
        if owned:
            register_copy(self, hub)

    def adopt_external(self, memory: Memory, handle: Handle) -> None:
        """Make `handle`, memory of another library that has the data already, the copy in `memory`.

        It is not dropped.
        """
        self.has_finalizer = True
        weakref.finalize(self, _free_all, self.handles)
        self.handles[memory] = handle
        self.fresh, self.pristine = memory.bit, False
        self.adopted = memory


def _free_all(handles: dict[Memory, Handle]) -> None:
    """Free all `handles` of a cube that is garbage, also if freeing one of them fails."""
    with ExitStack() as stack:
        while handles:
            memory, handle = handles.popitem()
            stack.callback(memory.free, handle)
