"""`DroppableCopies`: how copies are dropped, evicted to make room, and kept from both.

What keeps a copy from being dropped: open accesses, exports, copies in progress, `keep` blocks, and
memory that belongs to the user.
"""

from __future__ import annotations

import weakref
from types import TracebackType
from typing import Any

from ..errors import ConflictError
from .coherence import Coherence
from .compiled import THREADS
from .export import ExportRecord, retain_for_exports
from .observers import COPY, OBSERVERS, notify_evicted, wait
from .registry import Memory, ViewLike, all_facets, host
from .span_copy import SpanCopy, any_alive

_observers, _threads = OBSERVERS, THREADS  # with types of C


class DroppableCopies(Coherence):
    """The methods of a cube that drop copies and keep them."""

    __slots__ = ()

    def end_abandoned(self) -> None:
        """End the accesses of threads and tasks that have ended; the caller holds the lock."""
        raise NotImplementedError

    def drop(self, memory: Memory, force: bool, retain: bool = False,
             view: ViewLike | None = None) -> bool:
        """Free the copy of all elements in `memory`, or all copies there that have elements of
        `view`, if one is given; return False if there is none.

        The only fresh copy is dropped only if `force` is True. An exported copy is retained for its
        exports if `retain` is True; else it is a conflict.
        """
        if force:
            self.settle_pending(True)
        with self.lock:
            if self.spans is not None:
                return self._drop_spans(self.spans.to_drop(memory, view), force, retain)
            if memory not in self.handles:
                return False
            self._check_droppable(memory, retain)
            lost = self._would_lose(memory)
            if lost and not force:
                raise ConflictError(f"{memory.name!r} has the only copy of this data; access it "
                                    "in another memory first, or discard it with force=True")
            self.fresh &= ~memory.bit
            if lost:
                self.fresh, self.torn, self.pristine = 0, None, True
            self.discard(memory)
        return True

    def drop_span(self, copy: SpanCopy, force: bool) -> bool:
        """Free the copy of a part, as `drop` does; return False if it is not there any more."""
        with self.lock:
            if self.spans is None or copy not in self.spans.copies:
                return False
            return self._drop_spans([copy], force, False)

    def _drop_spans(self, copies: list[SpanCopy], force: bool, retain: bool) -> bool:
        for copy in copies:
            self._check_droppable(copy.memory, retain, copy)
        if copies:
            self.spans.drop(self.cube, copies, force)
            self.settle()
        return bool(copies)

    def _would_lose(self, memory: Memory) -> bool:
        """Return True if `memory` has the only copy of the data."""
        writing = self.writer.facet.memory.bit if self.writer is not None else 0
        if self.torn is not None:
            return memory is self.torn_memory
        return bool(self.fresh & memory.bit and not self.fresh & ~memory.bit & ~writing
                    and not self.pristine)

    def _check_droppable(self, memory: Memory, retain: bool = False,
                         copy: SpanCopy | None = None) -> None:
        """Raise `ConflictError` if the copy in `memory`, or of a part there, is in use."""
        self.end_abandoned()
        for record in tuple(self.accesses):
            if not record.thread or record.facet.memory is not memory:
                continue
            if copy is not None and record.used is not copy:
                continue
            if not (retain and isinstance(record, ExportRecord)):
                raise ConflictError(f"cannot drop {memory.name!r} during the access to "
                                    f"{record.describe()}; {record.way_out}")
        if self.async_copies and memory in self.async_copies:
            raise ConflictError(f"cannot drop {memory.name!r} while it is being copied to: "
                                f"{self.async_copies[memory].record.describe()}")
        if copy is not None and copy in self.spans.pending:
            raise ConflictError(f"cannot drop {memory.name!r} while it is being copied to: "
                                f"{self.spans.pending[copy].record.describe()}")
        if self.is_kept(memory) or (copy is not None and copy.is_kept):
            raise ConflictError(f"cannot drop {memory.name!r}: a keep({memory.name!r}) block is "
                                "open")
        if self.adopted is memory:
            raise ConflictError(f"cannot drop {memory.name!r}: it is the memory that from_numpy "
                                "or from_dlpack was given, or a file; close() releases it")

    def discard(self, memory: Memory) -> None:
        """Remove the handle of `memory` and the values presented of it, and free it."""
        handle = self.handles[memory]
        views = self.live_viewers()
        for view in views:
            view.presented = {key: record for key, record in (view.presented or {}).items()
                              if record.handle is not handle}
        self.viewers = [weakref.ref(view) for view in views if view.presented]
        self.seen &= ~sum(f.bit for f in all_facets() if f.memory is memory)
        if self.spans is not None:
            self.spans.forget(self.spans.whole_in(memory))
        del self.handles[memory]  # only now: what comes before can be interrupted
        if memory is host():
            self.address = 0
        if not retain_for_exports(self.accesses, memory, handle):
            memory.free(handle)
        for observer in tuple(_observers):
            observer.freed(self, memory)

    def leave_to_exports(self) -> bool:
        """Leave the host's copy to its exports, and go on with a copy of it; return False, with
        nothing done, if somebody else uses it, too.
        """
        hub = host()
        handle: Any = self.handles.get(hub)
        if handle is None or self.shared or self.adopted is not None or self.spans is not None:
            return False
        if any(r.thread and not isinstance(r, ExportRecord) for r in tuple(self.accesses)):
            return False
        fresh = self.fresh & hub.bit
        if fresh:
            copied: Any = hub.allocate(self)
            copied[:] = handle
        self.discard(hub)
        if fresh:
            self.expect_copy(hub)
            self.handles[hub] = copied
            self.notify_allocated(hub)
        return True

    def evict(self, memory: Memory, dirty: bool) -> bool:
        """Free the copy in `memory` to make room, if it is not in use; return True if it was freed.

        Data that is fresh nowhere else is copied to the host first if `dirty` is True; else it is
        not freed. This never waits for another thread, and frees nothing that this one is using
        while it holds the lock.
        """
        if not self.lock.acquire_free():
            return False
        try:
            self.end_abandoned()
            if self.spans is not None:
                whole = self.spans.whole_in(memory)
                return whole is not None and self._evict_span(whole, dirty)
            if memory not in self.handles or self.writer is not None:
                return False
            try:
                self._check_droppable(memory)
            except ConflictError:
                return False
            only = self._would_lose(memory)
            if only and not dirty:
                return False
            notify_evicted(self, memory, self.nbytes)
            if only and self.torn is not None:
                self._move_torn(host())
            elif only:
                self._refresh(host())
            self.fresh &= ~memory.bit
            self.discard(memory)
        finally:
            self.lock.release()
        return True

    def evict_span(self, copy: SpanCopy, dirty: bool) -> bool:
        """Free the copy of a part to make room, as `evict` does."""
        if not self.lock.try_acquire():
            return False
        try:
            self.end_abandoned()
            return self.spans is not None and self._evict_span(copy, dirty)
        finally:
            self.lock.release()

    def _evict_span(self, copy: SpanCopy, dirty: bool) -> bool:
        freed = self.spans.evict(self.cube, copy, dirty)
        if freed and self.spans is not None and not self.spans.busy:
            self.settle()
        return freed

    def drop_all(self) -> None:
        """Free every copy now and discard the data: a later access reads the fill value."""
        self.settle_pending(True)
        with self.lock:
            adopted, self.adopted = self.adopted, None
            parts = [] if self.spans is None else self.spans.copies
            try:
                for memory in tuple(self.handles):
                    self._check_droppable(memory)
                for copy in parts:
                    self._check_droppable(copy.memory, copy=copy)
            except BaseException:
                self.adopted = adopted
                raise
            self.fresh, self.torn, self.pristine, self.spans = 0, None, True, None
            for memory in tuple(self.handles):
                self.discard(memory)

    def keep(self, memory: Memory, view: ViewLike) -> Keep:
        """Return a block that keeps a copy of the elements of `view` in `memory`."""
        return Keep(self, memory, view)

    def begin_keep(self, memory: Memory, view: ViewLike) -> list[int]:
        """Create a copy of the elements of `view`, and return the threads that keep it."""
        self.settle_pending(False)
        with self.lock:
            part = self.part_to_keep(memory, view)
            if part is not None:
                threads = part.kept
            else:
                if self.spans is None and memory not in self.handles:
                    self._allocate(memory)
                if self.kept is None:
                    self.kept = {}
                threads = self.kept.setdefault(memory, [])
            threads.append(_threads.current())
        return threads

    def part_to_keep(self, memory: Memory, view: ViewLike) -> SpanCopy | None:
        """Return the copy of a part to be kept, created if there is none; None: the whole."""
        if self.spans is None and (view._sees_all() or memory in self.handles
                                   or not self.wants_spans(memory)):
            return None
        spans = self.to_spans()
        try:
            copy = spans.copy_for(self.cube, memory, spans.touched(view), None)
        except BaseException:
            self.settle()
            raise
        return None if copy.whole else copy

    def is_kept(self, memory: Memory) -> bool:
        """Return True if blocks of threads that have not ended keep the copy in `memory`."""
        return any_alive((self.kept or {}).get(memory, ()))

    @property
    def keeps_any(self) -> bool:
        """True if blocks of threads that have not ended keep a copy, or that of a part."""
        parts = () if self.spans is None else self.spans.copies
        return any(map(self.is_kept, self.kept or ())) or any(copy.is_kept for copy in parts)

    def refresh_before_drop(self, ensure: Memory, dropped: int) -> None:
        """Make `ensure` fresh if only memories in the bit mask `dropped` are fresh.

        Not while a block writes: a half-written copy is not copied, and the copy to which a failing
        block would return is not dropped.
        """
        with self.lock:
            self.end_abandoned()
            if self.spans is not None:
                doomed = [c for c in self.spans.copies if c.memory.bit & dropped]
                self.spans.refresh_before_drop(self.cube, doomed)
                self.settle()
                return
            only_there = self.fresh and not self.fresh & ~dropped
            if only_there and not self.pristine and self.writer is None:
                self._refresh(ensure)
            elif (self.torn is not None and self.torn_memory is not None
                  and self.torn_memory.bit & dropped and not self.accesses):
                self._move_torn(ensure)

    def _move_torn(self, target: Memory) -> None:
        """Copy the elements that a failed block left to `target`, for `accept_torn`."""
        source = self.torn_memory
        if source is None or source is host() or target is not host():
            return
        handle = self.handles.get(target)
        if handle is None:
            handle = self._allocate(target)
        if self.shared:
            self.before_copy(source, target, None)
        with wait(COPY, self, source):
            source.copy_out(self, self.handles[source], handle)
        self.torn_memory = target


class Keep:
    """The context manager that `DroppableCopies.keep` returns."""

    def __init__(self, cube: DroppableCopies, memory: Memory, view: ViewLike) -> None:
        self.cube: DroppableCopies = cube
        self.memory: Memory = memory
        self.view: ViewLike = view
        # for each time it was entered: by which thread, and those that keep the same copy
        self.open: list[tuple[int, list[int]]] = []

    def __enter__(self) -> None:
        threads = self.cube.begin_keep(self.memory, self.view)
        self.open.append((_threads.current(), threads))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self.open:
            thread, threads = self.open.pop()
            threads.remove(thread)
