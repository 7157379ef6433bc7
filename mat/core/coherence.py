"""The copies of one piece of data in several memories: which are fresh, how others are made so,
what is torn.

Nothing here decides who may look; `Cube` does.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from time import perf_counter
from typing import Any

from ..errors import TornError
from .access_record import AccessRecord, SourceLine, user_place
from .async_copy import AsyncCopy, finish_copy_locked
from .barrier import enlist
from .compiled import IN_USE, Lock
from .observers import OBSERVERS
from .registry import Memory, host


class Coherence:
    """What a cube keeps, and the part of it that makes copies fresh. Subclasses say how big the
    data is.
    """

    __slots__ = (
        "__weakref__",
        "accesses",
        "adopted",
        "async_copies",
        "fresh",
        "guarded",
        "handles",
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
    dtype: Any
    nbytes: int
    fill_value: Any

    def __init__(self) -> None:
        self.lock = Lock()
        self.handles: dict[Memory, Any] = {}
        self.fresh = 0  # the bits of the memories that hold the committed data
        self.seen = 0  # the bits of the facets that were looked through
        self.accesses: list[AccessRecord] = []
        self.writer: AccessRecord | None = None  # the outermost writing look, which decides
        self.spoiled = False  # an outer writer that left before an inner one had failed
        self.pristine = True  # never written: the fill value is the truth when nothing is fresh
        self.torn: TornError | None = None
        self.torn_memory: Memory | None = None
        # whose handle belongs to the user and is not ours to drop
        self.adopted: Memory | None = None
        self.guarded = False  # a finalizer will free what garbage leaves behind
        self.viewers: list[weakref.ref[Any]] = []  # whose presented values hang on our handles
        self.version = 0
        # noting it always would cost too much
        self.made: SourceLine | None = user_place() if OBSERVERS or IN_USE else None
        self.kept: dict[Memory, int] | None = None
        # copies under way, by their target
        self.async_copies: dict[Memory, AsyncCopy] | None = None
        self.history: deque[tuple[str, str, int]] | None = None  # last copies: from, to, version

    # Making fresh; the lock is held

    def _refresh(self, memory: Memory) -> Any:
        """The handle of `memory` with the current data in it."""
        writer = self.writer
        if writer is not None and writer.facet.memory is memory:
            return self.handles[memory]  # half-way through a block of our own: what is there counts
        if not self.fresh and self.torn is not None:
            self.read_torn(self.torn)
        if self.fresh & memory.bit:
            return self.handles[memory]
        if self.async_copies and memory in self.async_copies:
            finish_copy_locked(self, memory)
            return self.handles[memory]
        return self._make_fresh(memory, self._copy_to if self.fresh else self._fill_handle)

    def _fill_handle(self, memory: Memory, handle: Any) -> None:
        if self.fill_value is not None and not memory.fill(self, handle):
            memory.copy_in(self, handle, self._refresh(host()))

    def _copy_to(self, memory: Memory, handle: Any) -> None:
        for observer in tuple(OBSERVERS):
            observer.copying(self, self.fresh_memories()[0], memory)
        begin = perf_counter()
        source = self._source(memory, handle)
        self.log(source, memory, perf_counter() - begin)

    def _source(self, memory: Memory, handle: Any) -> Memory:
        """Copy to `handle` from a fresh memory, and say from which."""
        hub = host()
        if memory is hub:
            return self._to_host(handle)
        if not self.fresh & hub.bit:
            for other in self.fresh_memories():
                if memory.copy_from(self, handle, other, self.handles[other]):
                    return other
        memory.copy_in(self, handle, self._refresh(hub))
        return hub

    def _to_host(self, handle: Any) -> Memory:
        source = self.fresh_memories()[0]
        source.copy_out(self, self.handles[source], handle)
        return source

    def _make_fresh(self, memory: Memory, put: Callable[[Memory, Any], None]) -> Any:
        """The handle of `memory` after `put` wrote the data to it; a new one is kept only if that
        went well.
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

    def _allocate(self, memory: Memory) -> Any:
        return self._adopt(memory, memory.allocate(self))

    def _adopt(self, memory: Memory, handle: Any) -> Any:
        """Remember a new handle, and see to it that it is freed when the cube is garbage or its
        barrier ends.
        """
        if not self.guarded and type(memory).free is not Memory.free:
            self.guarded = True
            weakref.finalize(self, _free_all, self.handles)
        self.handles[memory] = handle
        enlist(self, memory)
        for observer in tuple(OBSERVERS):
            observer.allocated(self, memory)
        return handle

    def log(self, source: Memory, target: Memory, seconds: float) -> None:
        """Remember a copy."""
        if self.history is None:
            self.history = deque(maxlen=4)
        self.history.append((source.name, target.name, self.version))
        for observer in tuple(OBSERVERS):
            observer.copied(self, source, target, seconds)

    # Torn data

    def read_torn(self, error: TornError) -> None:
        """Somebody wants to read torn data: raise, or accept it. Subclasses may have another
        policy.
        """
        raise TornError(*error.args)

    def accept_torn(self) -> None:
        """Take what a failed block left as the data."""
        with self.lock:
            if self.torn is not None and self.torn_memory is not None:
                self.fresh, self.torn = self.torn_memory.bit, None
                self.version += 1

    def fresh_memories(self) -> list[Memory]:
        return [m for m in self.handles if self.fresh & m.bit]

    def peek(self, spans: Iterable[tuple[int, int]]) -> Any:
        """A host handle with the current data, without changing anything; None if there is no data.

        Data that is fresh elsewhere only is copied to a handle that nobody else will see, of which
        only `spans` count.
        """
        with self.lock:
            hub, writer = host(), self.writer
            if self.fresh & hub.bit or (writer is not None and writer.facet.memory is hub):
                return self.handles[hub]
            if not self.fresh:
                return None
            temporary, source = hub.allocate(self), self.fresh_memories()[0]
            handle = self.handles[source]
            if not all(source.read_part(self, handle, temporary, start, stop) for start,
                       stop in spans):
                source.copy_out(self, handle, temporary)
            return temporary

    @property
    def is_elsewhere(self) -> bool:
        """Whether there is data, but none on the host."""
        return bool(self.fresh) and not self.fresh & host().bit

    def single(self, k: int) -> Any:
        """Element `k`, which is all that moves; None where one has to look: at a storage of one, if
        somebody writes.
        """
        with self.lock:
            if not self.is_elsewhere or self.writer is not None or self.torn is not None or self.size == 1:
                return None
            temporary, source = host().allocate(self), self.fresh_memories()[0]
            return temporary[k] if source.read_part(self, self.handles[source], temporary, k,
                                                    k + 1) else None

    def poke(self, part: Any, start: int) -> bool:
        """Write `part` where the data is, if that is not on the host and the memory can; False if
        nothing was done.
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

    def adopt_host(self, handle: Any, owned: bool) -> None:
        """Take `handle`, which holds the data already, as the host's copy; `owned` is False for a
        user's memory.
        """
        hub = host()
        self.handles[hub] = handle
        self.fresh, self.pristine = hub.bit, False
        self.adopted = None if owned else hub
        if owned:
            enlist(self, hub)

    def borrow(self, memory: Memory, handle: Any) -> None:
        """Take `handle`, memory of another library that holds the data already, as the copy in
        `memory`, not ours to drop.
        """
        self.guarded = True
        weakref.finalize(self, _free_all, self.handles)
        self.handles[memory] = handle
        self.fresh, self.pristine = memory.bit, False
        self.adopted = memory


def _free_all(handles: dict[Memory, Any]) -> None:
    """Free what a garbage cube held, all of it even if one fails."""
    with ExitStack() as stack:
        while handles:
            memory, handle = handles.popitem()
            stack.callback(memory.free, handle)
