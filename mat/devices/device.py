"""Devices: where operations compute, for a block (`use_device`) or for good (`set_device`).

A device has a memory, and a facet through which operations look at it. Which one is in use is
settled for each thread or task by itself. While none is, nothing here costs anything:
`quick.IN_USE` is empty.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any

from ..core.barrier import Barrier
from ..core.compiled import IN_USE
from ..core.registry import Facet, Memory, Naming, device_facets, host, name_devices_by
from ..errors import DeviceError, FacetError, SettingError
from ..support.cuda_probe import probe
from ..support.plugins import plugin


class Device:
    """Where operations compute: subclass it, set the attributes, make it findable with
    `register_device_kind`.

    It is equal to its name, and prints as that. ``memory`` holds data for it, ``facet`` is what
    operations look through.
    """

    name: str
    memory: Memory
    facet: Facet
    # its kind and number in DLPack, if its memory is to be lent there; (1, 0): the host's is
    dlpack: tuple[int, int] = (1, 0)
    # the name of the facet under which operations declare bodies for it; "": it runs those of
    # the host
    implementations: str = ""

    def adapt(self, function: Callable[..., Any], facet: Facet,
              returns: bool) -> Callable[..., Any]:
        """The host's body `function`, made for `facet`, as one that takes what this device's facet
        presents.

        `returns` says that what it returns matters. Only for devices that run the host's bodies.
        """
        raise NotImplementedError

    def begin(self, pool_bytes: int | None) -> Any:
        """A block begins: hold no more than so many bytes (None: no limit). Gives what `end` wants
        to know.
        """

    def end(self, before: Any) -> None:
        """That block ends."""

    def synchronize(self) -> None:
        """Wait until all work that was given to the device is done."""

    def hand_over(self, stream: int | None) -> None:
        """Have a consumer's stream, by its number in DLPack, wait for what was given to the device;
        nobody else does.
        """

    @property
    def kind(self) -> str:
        """The name without a number."""
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
    """The processor: operations compute in the host's memory, as without any device."""

    name = "cpu"

    @property
    def memory(self) -> Memory:  # type: ignore[override]  # known only when the host is registered
        return host()


CPU = Cpu()
# the device of that number (None: any), or None if there is none
Finder = Callable[[int | None], Device | None]
_kinds: dict[str, Finder] = {}
_reasons: dict[str, Callable[[], str]] = {}  # why there is none of a kind
# of this context's blocks, outermost first
_context: ContextVar[tuple[Device, ...]] = ContextVar("mat_devices", default=())
_lasting: Device = CPU  # what `set_device` replaces


def register_device_kind(kind: str, find: Finder,
                         reason: Callable[[], str] = lambda: "there is none") -> None:
    """Make devices findable by name: `kind`, or ``kind:number``. `reason` says why `find` found
    none.
    """
    _kinds[kind] = find
    _reasons[kind] = reason


def kinds() -> list[str]:
    """The kinds of devices there may be, beside the processor."""
    return list(_kinds)


def in_use() -> Device:
    """The device on which operations compute here and now, if their Mats allow it."""
    stack = _context.get()
    return stack[-1] if stack else _lasting


def device_of(mat: Any) -> Device:
    """The device on which an operation on `mat` would compute now."""
    return in_use() if mat.device_enabled else CPU


def _parsed(name: object) -> tuple[str, int | None]:
    """The kind and the number in ``kind:number``; `FacetError` if there is no such kind."""
    kind, colon, number = name.partition(":") if isinstance(name, str) else ("", "", "")
    if kind not in _kinds or (colon and not number.isdecimal()):
        known = ", ".join(repr(k) for k in ("cpu", *_kinds))
        raise FacetError(f"no device {name!r}; there are {known}, and numbers of them as in "
                         "'cuda:1'")
    return kind, int(number) if colon else None


def device_named(name: object, required: bool = True) -> Device:
    """The device of that name; where it is absent `DeviceError`, or the processor if not
    `required`.
    """
    if isinstance(name, Device):
        return name
    if name == "cpu":
        return CPU
    kind, number = _parsed(name)
    open_one = _opened(kind) if number is None else None
    found = open_one or _kinds[kind](number)
    if found is None and required:
        raise DeviceError(f"no device {name!r}: {_reasons[kind]()}")
    return found or CPU


def _opened(kind: str) -> Device | None:
    """The innermost device of that kind in use here."""
    return next((d for d in (*reversed(_context.get()), _lasting) if d.kind == kind), None)


class Use:
    """One ``with mat.use_device(...)``; leaving it takes home what only the device has."""

    __slots__ = ("barrier", "before", "device", "pool_bytes", "token")

    def __init__(self, device: Device, pool_bytes: int | None) -> None:
        self.device = device
        self.pool_bytes = pool_bytes
        self.barrier: Barrier | None = None
        self.before: Any = None
        self.token: Token[tuple[Device, ...]] | None = None

    def __enter__(self) -> Device:
        if self.token is not None:
            raise DeviceError(f"this block on {self.device} is already open; call use_device again")
        stack = _context.get()
        if self.device is not CPU:
            self.before = self.device.begin(self.pool_bytes)
            if self.device not in (*stack, _lasting):
                self.barrier = Barrier(host(), (self.device.memory,))
                self.barrier.__enter__()
        self.token = _context.set((*stack, self.device))
        IN_USE.append(None)
        return self.device

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        assert self.token is not None, "it was entered"
        _context.reset(self.token)
        IN_USE.pop()
        barrier, self.barrier, self.token = self.barrier, None, None
        try:
            if barrier is not None:
                barrier.__exit__(kind, error, trace)
        finally:
            if self.device is not CPU:
                self.device.end(self.before)


def use_device(name: str | Device, *, pool_bytes: int | None = None, required: bool = False) -> Use:
    """``with mat.use_device("cuda") as dev:`` operations compute there while the block runs.

    In this thread or task only.

    `name` is ``"cuda"`` (the CUDA device in use, else the first), ``"cuda:1"``, ``"emulated"`` or
    ``"cpu"``. Data goes to the device when an operation wants it there; when the block ends,
    whatever ends it, the copies made in it are gone from the device, and what was only there is on
    the host. A block inside another on the same device leaves the copies to that.

    ``pool_bytes``: hold no more bytes than that on the device; `OutOfDeviceMemory` when nothing
    more can be moved out of it. Where there is no such device, the block runs on the processor;
    with ``required`` that is a `DeviceError`, which says why there is none. `FacetError` for other
    names.

    >>> import mat
    >>> x = mat.ones(3)
    >>> with mat.use_device("emulated") as dev:
    ...     y = x + x
    ...     y.fresh
    {'emulated'}
    >>> y
    <Mat 3 - [2. 2. 2.]>
    """
    return Use(device_named(name, required), _checked_bytes(pool_bytes))


def use_cuda(*, pool_bytes: int | None = None, required: bool = False) -> Use:
    """``with mat.use_cuda():`` is ``with mat.use_device("cuda"):``."""
    return use_device("cuda", pool_bytes=pool_bytes, required=required)


def set_device(name: str | Device, *, pool_bytes: int | None = None,
               required: bool = False) -> Device:
    """Have operations compute on a device for good, in every thread that has no `use_device` block
    open; return the device.

    ``set_device("cpu")`` ends that; copies stay on the device then, and are brought home when they
    are wanted.

    >>> import mat
    >>> mat.set_device("cpu")
    <device cpu>
    """
    global _lasting
    device, old = device_named(name, required), _lasting
    limit = _checked_bytes(pool_bytes)
    if device is not CPU:
        device.begin(limit)
        IN_USE.append(None)
    _lasting = device
    if old is not CPU:
        IN_USE.pop()
        old.end(None)
    return device


def _checked_bytes(pool_bytes: object) -> Any:
    if pool_bytes is not None and (isinstance(pool_bytes, bool) or not isinstance(pool_bytes, int)
                                   or pool_bytes < 1):
        raise SettingError("pool_bytes is a number of bytes above 0, or None for no limit, got "
                           f"{pool_bytes!r}")
    return pool_bytes


# What names of facets and memories mean


class _Absent(Memory):
    """The memory of a device that nobody used yet: nothing is in it."""

    def allocate(self, cube: Any) -> Any:
        raise DeviceError(f"{self.name!r} is not in use: with mat.use_device({self.name!r}): ...")


class _Naming(Naming):
    """Understands names of devices."""

    def facet(self, name: str) -> Facet | None:
        try:
            kind, number = _parsed(name)
        except FacetError:
            return None
        stack = (*_context.get(), _lasting)
        used = [d for d in reversed(stack) if d.kind == kind
                and (number is None or name in _names(d))]
        if not used:
            raise DeviceError(f"the device of facet {name!r} is not in use: with "
                              f"mat.use_device({name!r}): ...")
        return used[0].facet

    def memory(self, name: str) -> Memory | None:
        try:
            kind, number = _parsed(name)
        except FacetError:
            return None
        device = _opened(kind) if number is None else None
        if device is not None:
            return device.memory
        alike = (f.memory for f in device_facets.values() if name in _names(f.device))
        found = next(alike, None)
        if found is None:
            found = _Absent()
            found.name = name
        return found


def _names(device: Device) -> tuple[str, ...]:
    """What `device` may be called: the first of a kind also without a number, or with it."""
    kind, _, number = device.name.partition(":")
    return (kind, f"{kind}:0") if number in ("", "0") else (device.name,)


name_devices_by(_Naming())


# CUDA, most of which is imported when first asked for


def cuda_available() -> bool:
    """Whether a CUDA device can be used; ``mat.show_config()`` says why not. Never raises.

    >>> import mat
    >>> isinstance(mat.cuda_available(), bool)
    True
    """
    return probe().devices > 0


def _find_cuda(number: int | None) -> Device | None:
    if (number or 0) >= probe().devices:
        return None
    found: Device | None = plugin("cuda").device(number or 0)
    return found


register_device_kind("cuda", _find_cuda, lambda: probe().reason or f"there are {probe().devices}")
