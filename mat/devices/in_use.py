"""`Device`, the CPU, and the devices in use: a state of each thread or task.

While none is in use, `compiled.IN_USE` is empty, and calls cost no more.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

from ..core.compiled import IN_USE
from ..core.observers import notify_fallback
from ..core.registry import Facet, Memory, host
from ..errors import DeviceError
from ..support.fork import in_child
from ..support.open_blocks import Nested, enter, leave, remove, still_open
from ..support.types import Function, Operand


class Launches(Protocol):
    """Launches that a device has recorded."""

    def launch(self) -> None:
        """Do them once more, in the order of all that is queued; do not wait."""


class Captured(Protocol):
    """The value of a block of `Device.capture`; `launches` is set at the end of the block."""

    launches: Launches


class Device:
    """A device for operations to compute on.

    Subclass it, set the first three attributes, and call `register_device_kind`. A device is equal
    to its name and prints as its name.

    Attributes
    ----------
    name : str
        ``kind`` or ``kind:number``.
    memory : Memory
        The memory in which it computes.
    facet : Facet
        The facet through which operations access that memory.
    dlpack : tuple of int
        Its kind and number in DLPack, if its memory can be exported; ``(1, 0)`` is the host's.
    stream : int
        The number in DLPack of the stream on which it computes.
    implementations : str
        The name of the facet for which operations declare implementations for it; "" if it runs
        those of the host.
    planner : callable or None
        Called with an operation and its arguments, instead of carrying it out, if that is only to
        be planned.
    foretell : callable or None
        Called with a function of arrays, its arguments, the Mats that it writes and its name,
        instead of having the host call it, if that is only to be planned; returns `NotImplemented`
        where the host is to call it.
    computes : bool
        False if operations only have their copies counted, for a plan.
    """

    name: str
    memory: Memory
    facet: Facet
    dlpack: tuple[int, int] = (1, 0)
    stream: int = 1
    implementations: str = ""
    planner: Function | None = None
    foretell: Function | None = None
    captures: bool = False
    computes: bool = True

    @property
    def host(self) -> Device:
        """The device for operations on Mats that are not enabled for this one."""
        return CPU

    @property
    def limit(self) -> int | None:
        """The most bytes that operations may use on it; None: no limit."""
        return self.memory.limit

    def overwriting(self, x: Operand) -> AbstractContextManager[object]:
        """Return a block that overwrites all elements of a Mat on this device."""
        return x.facet(self.facet, "output")

    def adapt(self, function: Function, facet: Facet, returns: bool) -> Function:
        """Return `function` with operands as this device's facet presents them.

        Only devices that run the host's implementations have it.

        Parameters
        ----------
        function : callable
            An implementation for the host.
        facet : Facet
            The facet for which it is.
        returns : bool
            True if the value that it returns is used.

        Returns
        -------
        callable
            The implementation for this device.
        """
        raise NotImplementedError

    def lacks(self, library: str) -> str:
        """Return why the device has no such library, for operations that need it; "" if it has."""
        return ""

    def begin(self, use: DeviceUse) -> None:
        """Begin `use`, of a block or permanently, within the limit of its ``pool_bytes``."""

    def end(self, use: DeviceUse) -> None:
        """End `use`; nothing happens if it has not begun, or has ended."""

    def forget(self, use: DeviceUse) -> None:
        """Forget `use`, of a thread that a forked child does not have."""

    def note_tile(self, nbytes: int, views: tuple[Operand, ...]) -> None:
        """Receive the bytes and the views of a tile that is only planned."""

    def carried_out(self, tiles: Iterator[Any], written: Sequence[Any],
                    at_home: bool) -> Iterator[Any]:
        """Return the tiles to carry out of a call: not all, of one that is only planned.

        It writes Mats, which do not stay on the device where `at_home`.
        """
        return tiles

    def is_in_use(self) -> bool:
        """Return whether this device is in use here, by a block or permanently."""
        return in_use() is self or self in devices_in_use()

    def check_in_use(self) -> None:
        """Raise `DeviceError` unless this device is in use here.

        A block that accesses its memory can begin only then.
        """
        if not self.is_in_use():
            raise DeviceError(f"the device of facet {self.facet.name!r} is not in use: with "
                              f"mat.use_device({self.name!r}): ...")

    def capture(self, rooms: list[int], old: Launches | None) -> AbstractContextManager[Captured]:
        """Return a block that records this thread's launches instead of executing them.

        Only devices that `captures` says so of have it.

        Parameters
        ----------
        rooms : list of int
            The bytes of workspaces that calls within the block take, one within the other.
        old : Launches or None
            Launches that nobody will do any more, in whose place the new ones may be.

        Returns
        -------
        context manager
            Its value has the attribute `launches` when the block has ended.
        """
        raise NotImplementedError

    def synchronize(self) -> None:
        """Wait until the device has finished all work that was queued."""

    def make_stream_wait(self, stream: int | None) -> None:
        """Make a consumer's stream, given by its number in DLPack, wait for the work queued so far.

        The calling thread does not wait.
        """

    @property
    def kind(self) -> str:
        """The name without the number."""
        return self.name.partition(":")[0]

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<device {self.name}>"

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, str) and other == self.name)

    def __hash__(self) -> int:
        return hash(self.name)


class Cpu(Device):
    """The CPU: operations compute in the host memory, as without any device."""

    name = "cpu"

    @property
    def memory(self) -> Memory:  # type: ignore[override]  # known only when the host is registered
        return host()


CPU = Cpu()


class DeviceUse(Nested):
    """One use of a device: by a block, or permanently.

    Attributes
    ----------
    device : Device
        The device.
    pool_bytes : int or None
        The most bytes to allocate on it.
    thread : int
        The thread that began it.
    """

    def __init__(self, device: Device, pool_bytes: int | None = None) -> None:
        self.device: Device = device
        self.pool_bytes: int | None = pool_bytes
        self.thread: int = threading.get_ident()

    def begin(self) -> None:
        """Begin the use of the device, and let calls look it up."""
        if self.device is not CPU:
            self.device.begin(self)
        IN_USE.append(self)

    def enter(self) -> None:
        """Make it the innermost use of this context."""
        enter(_context, self)

    def leave(self) -> None:
        """Undo `enter`, in whatever context this is."""
        leave(_context, self)

    def end(self) -> None:
        """Undo `begin`, as far as it came; nothing happens after it has ended."""
        remove(IN_USE, self)
        if self.device is not CPU:
            self.device.end(self)


BEFORE_LEAVING: list[Callable[[], None]] = []  # compute what is pending, before a block is left


def compute_pending() -> None:
    """Compute the pending values of this context's blocks."""
    for function in BEFORE_LEAVING:
        function()


# of this context's innermost block
_context: ContextVar[DeviceUse | None] = ContextVar("mat_devices", default=None)
_permanent = DeviceUse(CPU)


def permanent() -> DeviceUse:
    """Return the use of a device outside of blocks, in every thread."""
    return _permanent


def set_permanent(use: DeviceUse) -> None:
    """Make `use`, already begun, the result of `permanent`."""
    global _permanent
    _permanent = use


def in_use() -> Device:
    """Return the device for operations in this context, if their Mats allow it."""
    use = _context.get()
    if use is not None and use.ended:
        use = still_open(use)
    return (_permanent if use is None else use).device


def note_fallback(name: str, *mats: Operand) -> None:
    """Notify observers that the host carries out `name` instead of the device in use."""
    if computes_elsewhere(*mats):
        notify_fallback(name, in_use().name)


def devices_in_use() -> Iterator[Device]:
    """Yield the devices in use in this context, that of the innermost block first."""
    use = still_open(_context.get())
    while use is not None:
        yield use.device
        use = still_open(use.parent)
    yield _permanent.device


def foretold(function: Function, args: Sequence[object], kwargs: Mapping[str, object],
             written: Sequence[object], name: str) -> Operand:
    """Return a planned call's result; `NotImplemented` where the host is to call it."""
    foretell = in_use().foretell
    return NotImplemented if foretell is None else foretell(function, args, kwargs, written, name)


@contextmanager
def used(device: Device) -> Iterator[None]:
    """Return a block in which a device is in use that others know already."""
    use = DeviceUse(device)
    use.enter()
    try:
        yield
    finally:
        use.leave()


def computes_elsewhere(*mats: Operand) -> bool:
    """Return whether operations on these Mats compute on a device that is not the host."""
    return bool(IN_USE) and in_use() is not CPU and _all_enabled(mats)


def has_kernels(*mats: Operand) -> bool:
    """Return whether a device with kernels of its own computes with these Mats."""
    return bool(IN_USE) and bool(in_use().implementations) and _all_enabled(mats)


def _all_enabled(mats: Iterable[Operand]) -> bool:
    for m in mats:  # noqa: SIM110 - a generator costs more than all the rest
        if not m.device_enabled:
            return False
    return True


@in_child
def _forget_other_threads() -> None:
    """End the blocks of threads that a forked child does not have."""
    here = threading.get_ident()
    for use in tuple(IN_USE):
        if isinstance(use, DeviceUse) and use is not _permanent and use.thread != here:
            use.ended = True
            use.device.forget(use)
            remove(IN_USE, use)
