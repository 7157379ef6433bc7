"""Memories, places where data can be, and facets, ways to look at them; and the registry of both.

What a memory allocates and what a facet presents are opaque here.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from ..errors import FacetError


class PendingCopy(Protocol):
    """The end of a copy that was begun."""

    def wait(self) -> None:
        """Come back when it is done; raise if it failed. Called more than once, and from any
        thread.
        """


class Memory:
    """A place where data can be: subclass it, implement four methods, register a `Facet` that looks
    at it.

    The host is the hub: data goes from any memory to any other through it. A *handle* is whatever
    `allocate` returns; the handle of the host is a 1-d `numpy.ndarray` of the whole storage.
    ``cube.size``, ``cube.dtype``, ``cube.nbytes`` and ``cube.fill_value`` say what is to be held.
    `free` can be called from any thread, in the middle of anything (a garbage collection) and at
    interpreter exit: it must take no lock that the others hold.
    """

    name: str
    bit: int = 0

    def allocate(self, cube: Any) -> Any:
        """A new handle with room for the whole cube, its contents arbitrary."""
        raise NotImplementedError

    def free(self, handle: Any) -> None:
        """Give `handle` back."""

    def copy_in(self, cube: Any, handle: Any, host: Any) -> None:
        """Copy the whole cube from the host's handle into ours."""
        raise NotImplementedError

    def copy_out(self, cube: Any, handle: Any, host: Any) -> None:
        """Copy the whole cube from our handle into the host's."""
        raise NotImplementedError

    def page_locked(self, host: Any) -> bool:
        """Optional: whether copies between us and the host's handle `host` need no staging, its
        pages being locked.
        """
        return False

    def fill(self, cube: Any, handle: Any) -> bool:
        """Optional: write ``cube.fill_value`` everywhere and return True; False sends it through
        the host.
        """
        return False

    def read_part(self, cube: Any, handle: Any, host: Any, start: int, stop: int) -> bool:
        """Optional: copy elements from `start` to `stop` out, to the same place in the host's
        handle, and return True.

        The printer asks for just what it shows; False has it copy everything.
        """
        return False

    def write_part(self, cube: Any, handle: Any, part: Any, start: int) -> bool:
        """Optional: copy the 1-d array `part` in, to the elements from `start` on, and return True.

        Setting a single element then moves nothing else; False brings all data to the host for it.
        """
        return False

    def copy_from(self, cube: Any, handle: Any, memory: Memory, source: Any) -> bool:
        """Optional direct edge: copy from another memory's handle and return True; False goes
        through the host.
        """
        return False

    def begin_copy_in(self, cube: Any, handle: Any, host: Any) -> PendingCopy | None:
        """Optional: begin what `copy_in` does, and give what waits for its end; None: it is done
        already.

        Until then `host` is not written and neither handle is freed.
        """
        self.copy_in(cube, handle, host)
        return None

    def begin_copy_out(self, cube: Any, handle: Any, host: Any) -> PendingCopy | None:
        """Optional: begin what `copy_out` does, likewise."""
        self.copy_out(cube, handle, host)
        return None

    def aside(self) -> AbstractContextManager[Any]:
        """Optional: a block in which a debugging tool copies something in or out, that no
        statistics are to count.
        """
        return nullcontext()

    def __repr__(self) -> str:
        return f"<memory {self.name}>"


class Facet:
    """A way to look at one memory: subclass, set the four attributes, implement `present`, register
    it.
    """

    name: str
    letter: str
    memory: Memory
    engine: Any = None  # what operation bodies for this facet are handed to compute with
    presents: type | None = None  # what `present` gives, if that is always of one class
    # whose memory this is, if not the host's: to be looked at only while that device is in
    # use
    device: Any = None
    quiet: bool = False  # the engine is NumPy, whose floating-point warnings operations switch off
    # set by register_facet
    bit: int = 0
    mask: int = 0  # the bit of the memory
    reading: int = 0
    writing: int = 0

    def present(self, view: Any, handle: Any, writable: bool) -> Any:
        """What a block is given for `view`, whose storage lies in `handle`; kept and given again
        while that stays.
        """
        raise NotImplementedError

    def lender(self, value: Any) -> Callable[[], Any] | None:
        """What makes, of a presented value, the thing that a ``with`` block is given; None: the
        value itself.

        For values that a block could change in themselves (a NumPy array has a settable shape) it
        makes a view.
        """
        return None

    def __repr__(self) -> str:
        return f"<facet {self.name} of {self.memory.name}>"


memories: dict[str, Memory] = {}
facets: dict[str, Facet] = {}  # those of the host, and of outsiders' memories
device_facets: dict[str, Facet] = {}


class Naming:
    """How names of devices' facets and memories are understood; devices.py puts its own here."""

    def facet(self, name: str) -> Facet | None:
        """The facet of that name, of a device; `DeviceError` if that is not in use, None if there
        is no such thing.
        """
        return None

    def memory(self, name: str) -> Memory | None:
        """The memory of that name, of a device, whether in use or not; None if there is no such
        thing.
        """
        return None


_naming = Naming()


def name_devices_by(naming: Naming) -> None:
    """Understand names of devices' facets and memories as `naming` does."""
    global _naming
    _naming = naming


def register_memory(memory: Memory) -> Memory:
    """Make `memory` known by its name; the first one is the host, the hub of all copies."""
    if memories.get(memory.name, memory) is not memory:
        raise FacetError(f"a memory {memory.name!r} is already registered")
    if memory.name not in memories:
        memory.bit = 1 << len(memories)
        memories[memory.name] = memory
    return memory


def register_facet(facet: Facet) -> Facet:
    """Make `facet`, and the memory it looks at, known by name; return it."""
    others = all_facets()
    if facet.name in facets or facet.name in device_facets:
        raise FacetError(f"a facet {facet.name!r} is already registered")
    if len(facet.letter) != 1 or any(f.letter == facet.letter.upper()
                                     and not (f.device and facet.device) for f in others):
        raise FacetError(f"the letter of a facet is one unused letter, got {facet.letter!r}")
    register_memory(facet.memory)
    k = len(others)
    facet.letter = facet.letter.upper()
    facet.bit, facet.mask, facet.reading, facet.writing = 1 << k, facet.memory.bit, 2 * k, 2 * k + 1
    (device_facets if facet.device else facets)[facet.name] = facet
    return facet


def all_facets() -> list[Facet]:
    """Every facet, those of devices included."""
    return [*facets.values(), *device_facets.values()]


def facet_named(name: object) -> Facet:
    """The facet of that name; `FacetError` if there is none, `DeviceError` if its device is not in
    use.
    """
    found = facets.get(name) or _naming.facet(name) if isinstance(name, str) else None
    if found is None:
        raise FacetError(f"no facet {name!r}; there are {', '.join(f.name for f in all_facets())}")
    return found


def memory_named(name: object) -> Memory:
    """The memory of that name; `FacetError` if there is none."""
    found = memories.get(name) or _naming.memory(name) if isinstance(name, str) else None
    if found is None:
        raise FacetError(f"no memory {name!r}; there are {', '.join(memories)}")
    return found


def host() -> Memory:
    """The hub."""
    return next(iter(memories.values()))
