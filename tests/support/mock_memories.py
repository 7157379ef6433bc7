"""Memories for the tests: with lists as handles for the cube alone, with NumPy arrays beside mat's
real host.

They count allocations, frees and copies, detect handles that are freed twice, and can fail at any
step, also in the middle of a copy. The registry is global: `registered` and `alone` add to it and
restore it.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from mat.core import registry
from mat.core.access import Access
from mat.core.cube import Cube, View
from mat.core.direction import as_direction
from mat.core.registry import Facet, Memory
from mat.facets import over, protected_view
from mat.memories.host import HOST


class Fault(Exception):
    """The error of a memory that was requested to fail."""


class StepLog:
    """The steps of memories; `fail_at` is the step, counted from 1, that fails."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.frees: list[str] = []
        self.wrong: list[str] = []
        self.fail_at = 0
        # .now is True in a thread that does steps that are not counted
        self.paused = threading.local()

    def step(self, what: str) -> None:
        if getattr(self.paused, "now", False):
            return
        self.steps.append(what)
        if len(self.steps) == self.fail_at:
            raise Fault(what)

    def reset(self, fail_at: int = 0) -> None:
        self.steps.clear()
        self.fail_at = fail_at

    def copies(self) -> list[str]:
        return [s for s in self.steps if "copy" in s]


class Handle:
    """The handle of a mock memory; its data is removed when it is freed."""

    def __init__(self, data: Any) -> None:
        self.data = data


def data_of(handle: Any) -> Any:
    """Return the list or array in any handle, the real host's included."""
    return handle.data if isinstance(handle, Handle) else handle


class MockMemory(Memory):
    """A memory of lists. `fills`: it can write fill values itself; `near`: memories it copies from
    directly.
    """

    def __init__(self, name: str, log: StepLog, fills: bool = False,
                 near: tuple[Memory, ...] = ()) -> None:
        self.name, self.log, self.fills, self.near = name, log, fills, near
        self.held: list[Handle] = []

    def room(self, cube: Any) -> Any:
        return ["junk"] * cube.size

    def allocate(self, cube: Any) -> Handle:
        self.log.step(f"{self.name}.allocate")
        handle = Handle(self.room(cube))
        self.held.append(handle)
        return handle

    def free(self, handle: Handle) -> None:
        self.log.frees.append(self.name)
        try:
            self.held.remove(handle)  # compares by identity
        except ValueError:
            self.log.wrong.append(f"{self.name} freed a handle that it had not allocated")
        handle.data = None

    def move(self, what: str, target: Any, source: Any) -> None:
        half = len(source) // 2
        target[:half] = source[:half]
        self.log.step(what)
        target[half:] = source[half:]

    def copy_in(self, cube: Any, handle: Handle, host: Any) -> None:
        self.move(f"{self.name}.copy_in", handle.data, data_of(host))

    def copy_out(self, cube: Any, handle: Handle, host: Any) -> None:
        self.move(f"{self.name}.copy_out", data_of(host), handle.data)

    def fill(self, cube: Any, handle: Handle) -> bool:
        if self.fills:
            self.move(f"{self.name}.fill", handle.data, self.filled(cube))
        return self.fills

    @contextmanager
    def aside(self) -> Iterator[None]:
        self.log.paused.now = True
        try:
            yield
        finally:
            self.log.paused.now = False

    def filled(self, cube: Any) -> Any:
        return [cube.fill_value] * cube.size

    def copy_from(self, cube: Any, handle: Handle, memory: Memory, source: Any) -> bool:
        if memory in self.near:
            self.move(f"{self.name}.copy_from", handle.data, source.data)
        return memory in self.near


class MockArrayMemory(MockMemory):
    """A mock memory with NumPy arrays in the handles."""

    def room(self, cube: Any) -> Any:
        return np.full(cube.size, 99, cube.dtype)

    def filled(self, cube: Any) -> Any:
        return np.full(cube.size, cube.fill_value, cube.dtype)


class Window:
    """The value of a facet of lists: the list, and a flag that allows writing."""

    def __init__(self, handle: Handle, writable: bool) -> None:
        self.handle, self.writable = handle, writable

    def get(self) -> list[Any]:
        return list(self.handle.data)

    def put(self, *values: Any) -> None:
        assert self.writable, "written in an access that only reads"
        self.handle.data[:] = values


class Through(Facet):
    """A facet of a memory of lists."""

    def __init__(self, name: str, letter: str, memory: Memory) -> None:
        self.name, self.letter, self.memory = name, letter, memory

    def present(self, view: Any, handle: Any, writable: bool) -> Any:
        return Window(handle, writable)


class ThroughArrays(Through):
    """A facet of a memory of arrays: the visible elements."""

    def present(self, view: Any, handle: Any, writable: bool) -> Any:
        return over(protected_view(handle.data, writable), view.layout)

    def lender(self, value):
        return value.view


class Box(Cube):
    """A cube of a few Python objects."""

    __slots__ = ()

    def __init__(self, size: int = 2, fill: Any = 0) -> None:
        super().__init__()
        self.size, self.dtype, self.nbytes, self.fill_value = size, None, 8 * size, fill


class Whole(View):
    """All of a `Box`."""

    __slots__ = ()

    def __init__(self, box: Box | None = None) -> None:
        self.storage = Box() if box is None else box
        self.presented = {}

    def label(self) -> str:
        return "<a whole box>"

    def access(self, facet: str, direction: str = "io") -> Access:
        return Access(self, registry.facet_named(facet), as_direction(direction))

    def fresh(self) -> set[str]:
        return {m.name for m in registry.memories.values() if self.storage.fresh & m.bit}

    def read(self, facet: str) -> list[Any]:
        with self.access(facet, "input") as window:
            return window.get()

    def write(self, facet: str, *values: Any) -> Whole:
        with self.access(facet, "output") as window:
            window.put(*values)
        return self

    def spoil(self, facet: str, direction: str = "io") -> int:
        """Write half of it and fail; return the line of the failing block."""
        try:
            with self.access(facet, direction) as window:
                line = sys._getframe().f_lineno - 1
                window.handle.data[0] = "half-written"
                raise Fault("the block fails")
        except Fault:
            return line


class World:
    """The memories of one test, by name, and the log of their steps."""

    def __init__(self, log: StepLog, facets: list[Facet]) -> None:
        self.log = log
        self.memory: dict[str, Any] = {f.memory.name: f.memory for f in facets}
        for facet in facets:
            registry.register_facet(facet)

    def held(self) -> dict[str, int]:
        """Return the number of allocated handles of each memory."""
        return {name: len(m.held) for name, m in self.memory.items() if m.held}


@contextmanager
def registry_kept(clear: bool) -> Iterator[None]:
    """Forget at the end what the block registers; begin with nothing registered if `clear`."""
    registries = registry.memories, registry.facets, registry.device_facets
    before, hubs = [dict(known) for known in registries], registry.hubs[:]
    for known in (*registries, registry.hubs) if clear else ():
        known.clear()
    try:
        yield
    finally:
        registry.hubs[:] = hubs
        for known, old in zip(registries, before, strict=True):
            known.clear()
            known.update(old)


@contextmanager
def alone() -> Iterator[World]:
    """Four memories of lists and nothing else: ``hub``, ``near`` (fills, copies from far), ``far``,
    ``deep``.
    """
    log = StepLog()
    hub, far, deep = MockMemory("hub", log, fills=True), MockMemory("far",
                                                                 log), MockMemory("deep", log)
    near = MockMemory("near", log, fills=True, near=(far,))
    with registry_kept(clear=True):
        yield World(log, [Through("hub", "h", hub), Through("hub2", "j", hub),
                             Through("near", "n", near),
                             Through("far", "f", far), Through("deep", "d", deep)])
    assert not log.wrong


@contextmanager
def registered() -> Iterator[World]:
    """Beside mat's own: ``near`` (fills, copies from far) and ``far``, memories of arrays, and
    facets of these names.
    """
    log = StepLog()
    far = MockArrayMemory("far", log)
    near = MockArrayMemory("near", log, fills=True, near=(far,))
    with registry_kept(clear=False):
        yield World(log, [ThroughArrays("near", "n", near), ThroughArrays("far", "r", far)])
    assert not log.wrong


@contextmanager
def failing_host(log: StepLog) -> Iterator[None]:
    """Count the steps of mat's real host too, which can fail then."""
    def counted(name: str) -> Callable[..., Any]:
        method = getattr(type(HOST), name)

        def call(*args: Any) -> Any:
            log.step(f"host.{name}")
            return method(HOST, *args)
        return call

    # deleted below
    HOST.allocate, HOST.fill = counted("allocate"), counted("fill")  # type: ignore[method-assign]
    try:
        yield
    finally:
        del HOST.allocate, HOST.fill


def in_thread(call: Callable[[], Any], name: str = "another", seconds: float = 20) -> Any:
    """Return or raise the outcome of `call` in a thread of its own, which must end in time."""
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append((call(), None))
        except BaseException as error:
            outcome.append((None, error))

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    thread.join(seconds)
    assert outcome, f"thread {name} hangs"
    value, error = outcome[0]
    if error is not None:
        raise error
    return value


@contextmanager
def failing(kind: type[BaseException] = Fault) -> Iterator[Any]:
    """Expect an error of class `kind` in the block."""
    with pytest.raises(kind) as caught:
        yield caught


def line() -> int:
    """Return the line of the caller."""
    return sys._getframe(1).f_lineno
