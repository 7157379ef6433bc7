"""`SpanCopy`: a copy of the elements from one to another of a cube, in one memory.

A copy of a part is given to its memory as a cube is: it has a size, a dtype and a handle, and it
can be dropped and evicted by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from weakref import ref

from .compiled import THREADS
from .compiled import Lock as NewLock
from .registry import CubeLike, ElementType, Handle, Memory, Number, WholeCube
from .runs import NONE, Runs, unit_type


class SpanCopy:
    """The elements from `start` to `stop` of a cube in a memory, and the fresh ones among them.

    The copy of a part owns its handle; that of the whole has the handle of the cube.
    """

    part: Handle | None = None  # the handle of a part; here, as an interrupt may end `__init__`

    def __init__(self, cube: WholeCube, memory: Memory, start: int, stop: int, whole: bool) -> None:
        self.of_cube = ref(cube)
        self.memory: Memory = memory
        self.start: int = start
        self.stop: int = stop
        self.whole: bool = whole
        self.fresh: Runs = NONE
        self.kept: list[int] = []  # the threads of the blocks that keep this part
        self.size: int = stop - start
        self.dtype: ElementType = _unit(cube)
        self.nbytes: int = self.size * (cube.nbytes // max(cube.units, 1))
        self.fill_value: Number = cube.fill_value
        self.made: Any = cube.made

    def __del__(self) -> None:
        handle, self.part = self.part, None
        if handle is not None:
            self.memory.free(handle)

    @property
    def handle(self) -> Handle:
        """The handle in the memory."""
        cube: Any = self.of_cube()
        return cube.handles[self.memory] if self.whole else self.part

    @property
    def owner(self) -> Any:
        """The cube, or the part that is one for the memory, whose handle this is."""
        return self.of_cube() if self.whole else self

    @property
    def lock(self) -> Any:
        """The lock of the cube; a new one if that is gone."""
        cube = self.of_cube()
        return NewLock() if cube is None else cube.lock

    @property
    def counted(self) -> CubeLike:
        """The description of `owner`, with size and dtype of the units that runs count."""
        cube: Any = self.of_cube()
        return cube if self.whole and cube.split == 1 else self

    def in_units(self, host: Handle) -> Handle:
        """Return a handle of the host as units that runs count."""
        return host if host.dtype == self.dtype else host.view(self.dtype)

    def part_of(self, host: Handle) -> Handle:
        """Return the units of a handle of the host that self has, too."""
        units = self.in_units(host)
        return units if self.whole else units[self.start:self.stop]

    def divide(self, factor: int) -> None:
        """Count smaller units, `factor` to one of the current ones."""
        self.start, self.stop = self.start * factor, self.stop * factor
        self.size, self.dtype = self.stop - self.start, _unit(self.of_cube())
        self.fresh = self.fresh.times(factor)

    @property
    def is_kept(self) -> bool:
        """True if blocks of threads that have not ended keep this part."""
        return any_alive(self.kept)

    def has(self, low: int, high: int) -> bool:
        """Return whether the elements from `low` to `high` are in it."""
        return self.start <= low and high <= self.stop

    def near(self, runs: Runs) -> bool:
        """Return whether it has elements between the first and the last of `runs`."""
        low, high = runs.bounds
        return self.start < high and low < self.stop

    def positions(self, runs: Runs) -> Runs:
        """Return where `runs` are in the handle."""
        return runs.moved(-self.start)

    # What memories and barriers use of a cube

    @property
    def handles(self) -> dict[Memory, Handle]:
        """The handle, by its memory."""
        return {} if self.part is None else {self.memory: self.part}

    @property
    def accesses(self) -> list[Any]:
        """The open accesses to this copy."""
        cube = self.of_cube()
        return [] if cube is None else [r for r in tuple(cube.accesses) if r.used is self]

    @property
    def async_copies(self) -> dict[Memory, Any] | None:
        """The copies in progress to the cube."""
        cube = self.of_cube()
        return None if cube is None else cube.async_copies

    def live_viewers(self) -> list[Any]:
        """Return the views that have values presented of handles of the cube."""
        cube = self.of_cube()
        return [] if cube is None else cube.live_viewers()

    def evict(self, memory: Memory, dirty: bool) -> bool:  # noqa: ARG002  # its own
        """Free the copy to make room, as a cube does."""
        cube = self.of_cube()
        return cube is not None and cube.evict_span(self, dirty)

    def finish_copy(self, memory: Memory) -> None:
        """Wait for copies in progress to that memory."""
        cube = self.of_cube()
        if cube is not None:
            cube.finish_copy(memory)

    def refresh_before_drop(self, ensure: Memory, dropped: int) -> None:
        """Copy to `ensure` the elements that only memories of the mask `dropped` have."""
        cube = self.of_cube()
        if cube is not None:
            cube.refresh_before_drop(ensure, dropped)

    def drop(self, memory: Memory, force: bool,  # noqa: ARG002  # as `evict`
             retain: bool = False) -> bool:  # noqa: ARG002
        """Free the copy, as a cube does its copies in that memory."""
        cube = self.of_cube()
        return cube is not None and cube.drop_span(self, force)


def _unit(cube: Any) -> ElementType:
    """Return the dtype of the units that runs count."""
    return unit_type(cube.dtype, cube.split)


def any_alive(threads: Iterable[int]) -> bool:
    """Return whether one of the threads with these ids of `THREADS` has not ended."""
    return any(THREADS.ident(thread) for thread in tuple(threads))
