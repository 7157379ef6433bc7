"""Memories store data; facets give access to the data in one memory. The registry has both by name.

What a memory allocates (a handle) and what a facet presents (a value) are opaque here.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, Protocol, TypeAlias, TypeVar

from ..errors import FacetError, TornError
from ..support.close_names import did_you_mean
from ..support.plugins import has_plugin, plugin
from .direction import Direction
from .registration import Registration
from .runs import Runs

# names for what is opaque to this folder, or defined above this module
Handle: TypeAlias = Any  # what `Memory.allocate` returns
Presented: TypeAlias = Any  # what `Facet.present` returns
ElementType: TypeAlias = Any  # the dtype of a cube's elements
Number: TypeAlias = Any  # an element
Engine: TypeAlias = Any  # the module or namespace that computes on such values


class ViewLike(Protocol):
    """The attributes of a `View` that modules below cubes use."""

    storage: Any
    presented: Any

    def _sees_all(self) -> bool: ...
    def _touched(self) -> Runs: ...
    def _touched_alone(self) -> Runs: ...
    def _count(self) -> int: ...
    def _relative_to(self, start: int) -> ViewLike: ...
    def _presentable(self, handle: Handle) -> Handle: ...
    def label(self) -> str: ...


class SpansLike(Protocol):
    """The `Spans` of a cube, as those use it who copy its parts."""

    everything: Runs
    pristine: Runs
    grown: Memory | None
    copies: list[Any]
    used: list[Any]
    torn: list[Any]
    pending: dict[Any, Any]

    def whole_in(self, memory: Memory | None) -> Any: ...
    def on_host(self, cube: WholeCube) -> Any: ...
    def writers(self, cube: WholeCube) -> list[Any]: ...
    def in_flux(self, cube: WholeCube, copy: Any = None) -> Runs: ...
    def committed(self, cube: WholeCube, copy: Any) -> Runs: ...


class CubeLike(Protocol):
    """The source or target of a memory's copies: a cube, or a part of one."""

    size: int
    dtype: ElementType
    nbytes: int
    fill_value: Number


class HasCopies(CubeLike, Protocol):
    """A cube, or a part of one, as pools and barriers use its copies."""

    made: Any  # the line that created it

    @property
    def lock(self) -> Any: ...
    @property
    def handles(self) -> dict[Memory, Handle]: ...
    @property
    def accesses(self) -> list[Any]: ...
    @property
    def async_copies(self) -> dict[Memory, Any] | None: ...
    def live_viewers(self) -> list[ViewLike]: ...
    def evict(self, memory: Memory, dirty: bool) -> bool: ...
    def refresh_before_drop(self, ensure: Memory, dropped: int) -> None: ...
    def drop(self, memory: Memory, force: bool, retain: bool = False) -> bool: ...
    def finish_copy(self, memory: Memory) -> None: ...


class WholeCube(HasCopies, Protocol):
    """A cube, as the modules use it that keep the state of its parts and copies in progress."""

    align: int
    split: int
    version: int
    fresh: int
    seen: int
    shared: bool
    pristine: bool
    adopted: Memory | None
    torn: TornError | None
    torn_memory: Memory | None
    writer: Any
    pending: Any
    async_copies: dict[Memory, Any] | None

    @property
    def spans(self) -> Any: ...  # a `SpansLike`, or None
    @property
    def units(self) -> int: ...
    def discard(self, memory: Memory) -> None: ...
    def is_kept(self, memory: Memory) -> bool: ...
    def fits_easily(self, memory: Memory) -> bool: ...
    def drop_span(self, copy: Any, force: bool) -> bool: ...
    def evict_span(self, copy: Any, dirty: bool) -> bool: ...
    def before_copy(self, source: Memory, target: Memory, runs: Runs | None) -> None: ...
    def after_copy(self, target: Memory, runs: Runs | None) -> None: ...
    def log(self, source: Memory, target: Memory, seconds: float) -> None: ...
    def log_runs(self, source: Memory, target: Memory, runs: Runs, seconds: float) -> None: ...
    def read_torn(self, error: TornError) -> None: ...
    def has_ended(self, record: Any) -> bool: ...
    def is_elsewhere_late(self, record: Any, facet: Facet) -> bool: ...
    def _allocate(self, memory: Memory) -> Handle: ...


class PendingCopy(Protocol):
    """A copy that was begun.

    One to a device may also have a method `follow`: it has what the device does later wait for the
    copy, and returns whether the source, the host's handle, is still being read.
    """

    def wait(self) -> None:
        """Wait until the copy is done; raise an error if it failed.

        Called more than once, and from any thread.
        """


class Memory:
    """A memory space that can hold copies of a cube's data.

    Subclass it, implement `allocate`, `free`, `copy_in` and `copy_out`, and register a `Facet`
    through which data there is accessed.

    Attributes
    ----------
    name : str
        The name by which it is found.
    bit : int
        Its bit in masks of memories; set by `register_memory`.
    limit : int or None
        The most bytes that it allocates, if that is limited.
    internal : bool
        Whether only the library uses it: no report or error lists its name.

    Notes
    -----
    The host is the hub: data is copied from any memory to any other through it. A *handle* is
    whatever `allocate` returns; the handle of the host is a 1-d `numpy.ndarray` of the whole
    storage. ``cube.size``, ``cube.dtype``, ``cube.nbytes`` and ``cube.fill_value`` describe the
    data.

    Examples
    --------
    >>> import numpy as np
    >>> from mat.extend import Memory
    >>> class Attic(Memory):
    ...     name = "attic"
    ...     def allocate(self, cube):
    ...         return np.empty(cube.size, cube.dtype)
    ...     def copy_in(self, cube, handle, host):
    ...         handle[:] = host
    ...     def copy_out(self, cube, handle, host):
    ...         host[:] = handle

    ``docs/facets.md`` registers a facet of such a memory, and accesses Mats through it.
    """

    name: str
    bit: int = 0
    limit: int | None = None
    internal: bool = False
    frees: bool = False  # whether it has its own `free`; set by `register_memory`, too

    def allocate(self, cube: CubeLike) -> Handle:
        """Return a new handle with room for all elements of `cube`, with arbitrary contents."""
        raise NotImplementedError

    def free(self, handle: Handle) -> None:
        """Free `handle`.

        It can be called from any thread, at any point of another function (in a garbage collection)
        and at interpreter exit, so it must not take a lock that another method holds.
        """

    def retain(self, handle: Handle) -> None:
        """Transfer `handle` from its cube to exports, until it is freed."""

    def copy_in(self, cube: CubeLike, handle: Handle, host: Handle) -> None:
        """Copy all elements of `cube` from the host's handle `host` to `handle`."""
        raise NotImplementedError

    def copy_out(self, cube: CubeLike, handle: Handle, host: Handle) -> None:
        """Copy all elements of `cube` from `handle` to the host's handle `host`."""
        raise NotImplementedError

    def page_locked(self, host: Handle) -> bool:
        """Return True if the pages of the host's handle `host` are locked. Optional.

        Copies between this memory and it are then made without staging.
        """
        return False

    def fill(self, cube: CubeLike, handle: Handle) -> bool:
        """Write ``cube.fill_value`` to all elements and return True. Optional.

        If it returns False, the elements are filled on the host and copied.
        """
        return False

    def read_part(self, cube: CubeLike, handle: Handle, host: Handle, start: int,
                  stop: int) -> bool:
        """Copy the elements from `start` to `stop` to the same positions of `host`. Optional.

        The printer requests only the elements that it shows. If it returns False instead of True,
        all elements are copied.
        """
        return False

    def write_part(self, cube: CubeLike, handle: Handle, part: Handle, start: int) -> bool:
        """Copy the 1-d array `part` to the elements from `start` on and return True. Optional.

        Setting a single element then copies nothing else. If it returns False, all elements are
        copied to the host for it.
        """
        return False

    def read_runs(self, cube: CubeLike, handle: Handle, host: Handle, runs: Runs) -> bool:
        """Copy runs of elements to the same positions of `host` and return True. Optional.

        A memory that has this method and `write_runs` has copies of parts: `allocate`, `free` and
        these two are then also given a part of a cube as `cube`, with a size, a dtype and a fill
        value of its own, and a handle of that size. `runs` yields pairs ``(start, stop)`` of
        positions in `handle` and in the 1-d array `host`; `runs.blocks()` has those of one length
        that are equally far apart as one block.
        """
        return False

    def write_runs(self, cube: CubeLike, handle: Handle, host: Handle, runs: Runs) -> bool:
        """Copy runs of elements from the same positions of `host` and return True. Optional.

        See `read_runs`.
        """
        return False

    def copy_runs(self, cube: CubeLike, handle: Handle, source: Handle, shift: int,
                  runs: Runs) -> bool:
        """Copy runs of elements from another handle of this memory and return True. Optional.

        `runs` are positions in `handle`; those in `source` are `shift` higher. If it returns False,
        they are copied through the host.
        """
        return False

    def copy_runs_from(self, cube: CubeLike, handle: Handle, memory: Memory, source: Handle,
                       shift: int, runs: Runs) -> bool:
        """Copy runs of elements as `copy_runs` does, from the handle `source` of another memory.
        Optional.
        """
        return False

    @property
    def has_spans(self) -> bool:
        """True if the memory can have copies of parts."""
        return type(self).write_runs is not Memory.write_runs

    @property
    def joins(self) -> bool:
        """True if it can copy from one part to another."""
        return type(self).copy_runs is not Memory.copy_runs

    def has_room(self, nbytes: int) -> bool:
        """Return whether so many bytes can be allocated without freeing others. Optional."""
        return False

    def free_oldest(self, nbytes: int) -> None:
        """Free the least recently used blocks to make room for `nbytes` bytes. Optional."""

    def used_by_others(self) -> set[int]:
        """Return the ids of the handles that other threads use now. Optional."""
        return set()

    def note_use(self, handle: Handle) -> None:
        """Mark `handle` as used now, so that others are evicted first. Optional."""

    def copy_from(self, cube: CubeLike, handle: Handle, memory: Memory, source: Handle) -> bool:
        """Copy all elements from the handle `source` of another memory and return True. Optional.

        If it returns False, they are copied through the host.
        """
        return False

    def begin_copy_in(self, cube: CubeLike, handle: Handle, host: Handle) -> PendingCopy | None:
        """Begin a `copy_in` and return an object to wait for its end. Optional.

        None means that the copy is done already. Until the end `host` is not written and neither
        handle is freed.
        """
        self.copy_in(cube, handle, host)
        return None

    def begin_copy_out(self, cube: CubeLike, handle: Handle, host: Handle) -> PendingCopy | None:
        """Begin a `copy_out` and return an object to wait for its end. Optional.

        None means that the copy is done already. Until the end neither handle is freed.
        """
        self.copy_out(cube, handle, host)
        return None

    def handle_of(self, cube: CubeLike, block: object) -> Handle:
        """Return the handle over a block of host memory; only the host has such blocks."""
        raise NotImplementedError

    def address_of(self, handle: Handle) -> int:
        """Return the address of the first element; 0 if it is not known. Optional."""
        return 0

    def aside(self) -> AbstractContextManager[object]:
        """Return a block that excludes its copies from statistics. Optional.

        A debugging tool copies elements in and out in such a block.
        """
        return nullcontext()

    def __repr__(self) -> str:
        return f"<memory {self.name}>"


class Facet(Registration):
    """A representation of data in one memory, for access by blocks.

    Subclass it, set the first four attributes, implement `present`, and register it.

    Attributes
    ----------
    name : str
        The name by which it is found.
    letter : str
        One letter, which a Mat's printed form shows, as a capital if the data is fresh there.
    memory : Memory
        The memory whose handles it presents.
    engine : module or namespace
        What implementations of operations for this facet are given to compute with.
    presents : type, optional
        The class of what `present` returns, if that is always the same.
    device : Device, optional
        The device whose memory it is, if it is not the host's; the facet is available only while
        that device is in use.
    quiet : bool
        True if the engine is NumPy, whose floating-point warnings operations switch off.
    of_storage : bool
        True if it presents all elements of the storage, also those that `view` does not see: then
        all of them are made fresh, and conflict.

    Examples
    --------
    >>> from mat.extend import Facet, Memory
    >>> class AtticArray(Facet):
    ...     name, letter, memory = "attic", "T", Memory()
    ...     def present(self, view, handle, writable):
    ...         return handle

    ``register_facet(AtticArray())`` makes it known.
    """

    name: str
    letter: str
    memory: Memory
    engine: Engine = None
    presents: type | None = None
    device: Any = None
    quiet: bool = False
    of_storage: bool = False

    def present(self, view: ViewLike, handle: Handle, writable: bool) -> Presented:
        """Return the value of a block for `view`, whose storage is in `handle`.

        The value is kept, and given to later blocks as well, for as long as the handle exists.
        """
        raise NotImplementedError

    def chosen(self, view: ViewLike, direction: Direction) -> Facet:  # by default
        """Return the facet for a block's access to `view`. Optional.

        It is called when the block begins, before anything is copied: a facet over whichever memory
        is in use returns the one of that memory, and raises an error if it cannot present `view`.
        """
        return self

    def lender(self, value: Presented) -> Callable[[], Presented] | None:
        """Return a function that converts a presented value to that of a ``with`` block.

        None means that the block is given the value itself. For values that a block could modify in
        place (a NumPy array has a settable shape) the function makes a view.
        """
        return None

    def __repr__(self) -> str:
        return f"<facet {self.name} of {self.memory.name}>"


M = TypeVar("M", bound=Memory)
F = TypeVar("F", bound=Facet)
memories: dict[str, Memory] = {}
hubs: list[Memory] = []
# returns the memory of the host, the hub of all copies; no line of Python that could be interrupted
host: Callable[[], Memory] = partial(hubs.__getitem__, 0)
facets: dict[str, Facet] = {}  # those of the host, and of user-defined memories
device_facets: dict[str, Facet] = {}
_OTHERS = {"cpu": "host"}  # names that users try, for memories


class Naming:
    """The names of devices' facets and memories; ``mat.devices`` has its own (`set_naming`)."""

    def facet(self, name: str) -> Facet | None:
        """Return the facet of a device by name, or None if there is no such device.

        Raise `DeviceError` if the device is not in use.
        """
        return None

    def memory(self, name: str) -> Memory | None:
        """Return the memory of a device by name, or None if there is no such device.

        The device need not be in use.
        """
        return None


_naming = Naming()


def set_naming(naming: Naming) -> None:
    """Resolve the names of devices' facets and memories by `naming`."""
    global _naming
    _naming = naming


def register_memory(memory: M) -> M:
    """Make `memory` known by its name.

    The first memory is the host, the hub of all copies.

    Parameters
    ----------
    memory : Memory
        The memory; its name must not be registered for another one.

    Returns
    -------
    Memory
        `memory`.

    Raises
    ------
    FacetError
        If another memory has that name.
    """
    if memories.get(memory.name, memory) is not memory:
        raise FacetError(f"a memory {memory.name!r} is already registered")
    if memory.name not in memories:
        memory.bit = 1 << len(memories)
        memory.frees = type(memory).free is not Memory.free
        memories[memory.name] = memory
        hubs.append(memory)
    return memory


def register_facet(facet: F) -> F:
    """Make `facet`, and the memory that it presents, known by name.

    Parameters
    ----------
    facet : Facet
        The facet; its name and letter must be unused.

    Returns
    -------
    Facet
        `facet`.

    Raises
    ------
    FacetError
        If the name or the letter is missing or taken, or if another memory has the name of its
        memory.
    """
    others = all_facets()
    missing = [name for name in ("name", "letter", "memory") if not hasattr(facet, name)]
    if missing:
        raise FacetError(f"a facet needs a {' and a '.join(missing)}; set attributes of the class "
                         f"{type(facet).__name__}, as in: letter = 'T'")
    if facet.name in facets or facet.name in device_facets:
        raise FacetError(f"a facet {facet.name!r} is already registered")
    rivals = [f for f in others if f.letter == facet.letter.upper() and not (
        # facets of the same kind, in different memories, share a letter
        (f.device and facet.device) or (type(f) is type(facet) and f.chooses
                                        and f.memory is not facet.memory))]
    if len(facet.letter) != 1 or rivals:
        raise FacetError(f"the letter of a facet is one unused letter, got {facet.letter!r}")
    register_memory(facet.memory)
    k = len(others)
    facet.letter = facet.letter.upper()
    facet.register(k, facet.memory.bit, facet.device is not None,
                   type(facet).chosen is not Facet.chosen, facet.of_storage)
    (device_facets if facet.device else facets)[facet.name] = facet
    return facet


def all_facets() -> list[Facet]:
    """Return every facet, those of devices included."""
    return [*facets.values(), *device_facets.values()]


def listed_memories() -> list[Memory]:
    """Return the memories that users can name."""
    return [m for m in memories.values() if not m.internal]


def listed_facets() -> list[str]:
    """Return the names of the facets that users can name."""
    return [f.name for f in all_facets() if not f.memory.internal]


def facet_over(memory: Memory, seen: int) -> Facet:
    """Return a facet over a memory, one of `seen` if there is one, that chooses no other one."""
    return min((f for f in all_facets() if f.memory is memory and not f.chooses),
               key=lambda f: not seen & f.bit)


def facet_named(name: object) -> Facet:
    """Return the facet called `name`; a facet is returned as it is.

    Raise `FacetError` if there is none, `DeviceError` if its device is not in use.
    """
    found = _found(name) if isinstance(name, str) else None
    if isinstance(name, Facet) and name in all_facets():
        return name
    if found is None:
        names = listed_facets()
        raise FacetError(f"no facet {name!r}{did_you_mean(name, names)}; there are "
                         f"{', '.join(names)}")
    return found


def _found(name: str) -> Facet | None:
    later = f"facet {name}"  # of a module that registers it
    if name not in facets and has_plugin(later):
        plugin(later)
    return facets.get(name) or _naming.facet(name) or device_facets.get(name)


def memory_named(name: object) -> Memory:
    """Return the memory called `name`, of which one of its facets is a name, too; a memory is
    returned as it is. Raise `FacetError` if there is none.
    """
    found = memories.get(name) or _naming.memory(name) if isinstance(name, str) else None
    memory = name.memory if isinstance(name, Facet) else name
    if isinstance(memory, Memory) and memories.get(memory.name) is memory:
        return memory
    if found is None:
        names = [m.name for m in listed_memories()]
        raise FacetError(f"no memory {name!r}{did_you_mean(name, names, _OTHERS)}; there are "
                         f"{', '.join(names)}")
    return found
