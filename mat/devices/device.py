"""Devices by name, and their use for a block (`use_device`) or permanently (`set_device`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ..core.barrier import Barrier
from ..core.registry import (
    CubeLike,
    Facet,
    Handle,
    Memory,
    Naming,
    device_facets,
    host,
    set_naming,
)
from ..errors import DeviceError, FacetError, SettingError
from ..support.close_names import did_you_mean
from ..support.cuda_probe import is_there, probe
from ..support.log import logger, note
from ..support.open_blocks import Block
from ..support.plugins import plugin
from ..support.types import DeviceName, Operand
from .in_use import (
    CPU,
    Device,
    DeviceUse,
    compute_pending,
    devices_in_use,
    in_use,
    permanent,
    set_permanent,
)

__all__ = [
    "CPU", "AbsentMemory", "Device", "DeviceContext", "DeviceLike", "DeviceNames", "DeviceUse",
    "Finder", "cuda_available", "device_named", "device_of", "enabled_on", "in_use", "kinds",
    "register_device_kind", "set_device", "use_cuda", "use_device",
]

DeviceLike: TypeAlias = "DeviceName | Device | None"  # None: the device in use
# returns the device of that number (None: any), or None if there is none
Finder = Callable[[int | None], Device | None]
_kinds: dict[str, Finder] = {}
_OTHERS = {"gpu": "cuda", "nvidia": "cuda", "host": "cpu"}  # names that users try
_reasons: dict[str, Callable[[], str]] = {}  # why there is none of a kind


def register_device_kind(kind: str, find: Finder,
                         reason: Callable[[], str] = lambda: "there is none") -> None:
    """Make devices known by the names `kind` and ``kind:number``.

    Parameters
    ----------
    kind : str
        The name without a number.
    find : callable
        Takes the number, or None for any, and returns the device, or None if there is none.
    reason : callable
        Returns the reason why there is none, for a message.
    """
    _kinds[kind] = find
    _reasons[kind] = reason


def kinds() -> list[str]:
    """Return the kinds of devices that are registered, without the CPU."""
    return list(_kinds)


def device_of(mat: Operand) -> Device:
    """Return the device for an operation on `mat` at this point."""
    return in_use() if mat.device_enabled else CPU


def _parsed(name: object) -> tuple[str, int | None]:
    """Return kind and number of ``kind:number``; raise `FacetError` if there is no such kind."""
    kind, colon, number = name.partition(":") if isinstance(name, str) else ("", "", "")
    if kind not in _kinds or (colon and not number.isdecimal()):
        names = ("cpu", *_kinds)
        raise FacetError(f"no device {name!r}{did_you_mean(name, names, _OTHERS)}; there are "
                         f"{', '.join(map(repr, names))}, and numbers of them as in 'cuda:1'")
    return kind, int(number) if colon else None


def device_named(name: object, required: bool = True) -> Device:
    """Return the device called `name`; if absent, raise `DeviceError` or return the CPU."""
    if isinstance(name, Device):
        return name
    if name == "cpu":
        return CPU
    kind, number = _parsed(name)
    # other kinds have no current device: their name alone is that of the first one
    innermost = _innermost(kind) if kind == "cuda" and number is None else None
    found = innermost or _kinds[kind](number)
    if found is None and required:
        raise DeviceError(f"no device {name!r}: {_reasons[kind]()}")
    if found is None and logger() is not None:
        note(f"no device {name!r}, the CPU is used: {_reasons[kind]()}")
    return found or CPU


def _innermost(kind: str) -> Device | None:
    """Return the device of that kind that is in use, that of the innermost block if several are."""
    return next((d for d in devices_in_use() if d.kind == kind), None)


class DeviceContext(Block[Device]):
    """The context manager of `use_device`: at its end, data is copied to the host."""

    def __init__(self, device: Device, pool_bytes: int | None, call: str) -> None:
        self.device: Device = device
        self.pool_bytes: int | None = pool_bytes
        self.barrier: Barrier | None = None
        self.use: DeviceUse | None = None
        self.warn_unless_entered(call)

    def already_open(self) -> DeviceError:
        return DeviceError(f"this block on {self.device} is already open; call use_device again")

    def begin(self) -> Device:
        self.use = use = DeviceUse(self.device, self.pool_bytes)
        use.begin()
        if self.device is not CPU and self.device not in devices_in_use():
            self.barrier = Barrier(host(), (self.device.memory,))
            self.barrier.__enter__()
        use.enter()
        return self.device

    def end(self, error: BaseException | None) -> None:
        use = self.use
        if use is None:
            return
        if error is None and not use.ended:
            compute_pending()
        use.leave()
        if self.barrier is not None and self.barrier.entered:
            self.barrier.__exit__(None, error, None)
        use.end()
        self.use = self.barrier = None


def use_device(name: DeviceName | Device, *, pool_bytes: int | None = None,
               required: bool = False) -> DeviceContext:
    """Return a block that computes on a device: ``with mat.use_device("cuda"):``.

    It concerns the current thread or task only. Data is copied to the device when an operation
    needs it there. When the block ends, also by an error, data that is fresh only on the device is
    copied to the host, and the copies that were made in the block are dropped from the device. A
    block nested in another one on the same device leaves the copies to the outer block.

    Parameters
    ----------
    name : str or Device
        ``"cuda"`` (the CUDA device in use, else the first), ``"cuda:1"``, ``"emulated"`` (the
        first), ``"emulated:1"`` or ``"cpu"``.
    pool_bytes : int, optional
        The most bytes to allocate on the device; beyond them, copies are evicted.
    required : bool
        If False, a block on a device that is absent runs on the CPU.

    Returns
    -------
    context manager
        Its value in the block is the device.

    Raises
    ------
    FacetError
        If there is no such kind of device.
    DeviceError
        If the device is absent and `required` is True; the message says why it is absent.
    OutOfDeviceMemory
        From operations in the block, if the memory is full and nothing more can be evicted.

    Examples
    --------
    >>> import mat
    >>> x = mat.ones(3)
    >>> with mat.use_device("emulated") as dev:
    ...     y = x + x
    ...     y.fresh
    {'emulated'}
    >>> y
    <Mat 3 - [2. 2. 2.]>
    """
    return DeviceContext(device_named(name, required), checked_bytes(pool_bytes),
                         f"mat.use_device({str(name)!r})")


def use_cuda(*, pool_bytes: int | None = None, required: bool = False) -> DeviceContext:
    """Return a block whose operations compute on a CUDA device: ``use_device("cuda", ...)``.

    Parameters
    ----------
    pool_bytes, required
        As for `use_device`.

    Returns
    -------
    context manager
        Its value in the block is the device.
    """
    return use_device("cuda", pool_bytes=pool_bytes, required=required)


def set_device(name: DeviceName | Device, *, pool_bytes: int | None = None,
               required: bool = False) -> Device:
    """Compute on a device permanently and return that device.

    It concerns every thread, outside of its `use_device` blocks. ``set_device("cpu")`` ends it;
    copies then remain on the device, and are copied to the host when they are accessed there.

    Parameters
    ----------
    name, pool_bytes, required
        As for `use_device`.

    Returns
    -------
    Device
        The device, or the CPU if that device is absent and `required` is False.

    Raises
    ------
    FacetError
        If there is no such kind of device.
    DeviceError
        If the device is absent and `required` is True.

    Examples
    --------
    >>> import mat
    >>> mat.set_device("cpu")
    <device cpu>
    """
    use = DeviceUse(device_named(name, required), checked_bytes(pool_bytes))
    with _Replacement(use):
        return use.device


class _Replacement(Block[None]):
    """Replaces the permanent use of a device by another one, unless that fails."""

    def __init__(self, new: DeviceUse) -> None:
        self.old, self.new = permanent(), new

    def begin(self) -> None:
        if self.new.device is not CPU:
            self.new.begin()
        set_permanent(self.new)

    def end(self, error: BaseException | None) -> None:
        (self.old if permanent() is self.new else self.new).end()


def checked_bytes(pool_bytes: object) -> int | None:
    """Return `pool_bytes`; raise `SettingError` unless it is a number of bytes, or None."""
    if pool_bytes is None:
        return None
    if isinstance(pool_bytes, bool) or not isinstance(pool_bytes, int) or pool_bytes < 1:
        raise SettingError("pool_bytes is a number of bytes above 0, or None for no limit, got "
                           f"{pool_bytes!r}")
    return pool_bytes


def enabled_on(device: object) -> bool:
    """Return the `device_enabled` of a Mat that is to compute on `device`.

    It is True for the device in use, and False for the processor. For other devices `DeviceError`
    is raised: operations follow the device in use, arguments do not choose one.
    """
    wanted = device_named(device)
    if wanted is not CPU and wanted is not in_use():
        raise DeviceError(f"device {wanted!s} is not in use: with mat.use_device({str(wanted)!r}): "
                          "...")
    return wanted is not CPU


# Names of the facets and memories of devices


class AbsentMemory(Memory):
    """The memory of a device that was never in use: it has no copies."""

    def allocate(self, cube: CubeLike) -> Handle:
        raise DeviceError(f"{self.name!r} is not in use: with mat.use_device({self.name!r}): ...")


class DeviceNames(Naming):
    """The names of devices, resolved to the facet and memory of a device."""

    def __init__(self) -> None:
        self._last: dict[str, Device] = {}  # by name: the innermost device in use that it meant

    def facet(self, name: str) -> Facet | None:
        device, innermost = self._last.get(name), in_use()
        if device is innermost:
            return innermost.facet
        try:
            kind, number = _parsed(name)
        except FacetError:
            return None
        used = [d for d in devices_in_use() if d.kind == kind
                and (number is None or name in _names(d))]
        if not used:
            raise DeviceError(f"the device of facet {name!r} is not in use: with "
                              f"mat.use_device({name!r}): ...")
        if used[0] is innermost:
            self._last[name] = used[0]
        return used[0].facet

    def memory(self, name: str) -> Memory | None:
        try:
            kind, number = _parsed(name)
        except FacetError:
            return None
        device = _innermost(kind) if number is None else None
        if device is not None:
            return device.memory
        alike = (f.memory for f in device_facets.values() if name in _names(f.device))
        found = next(alike, None)
        if found is None:
            found = AbsentMemory()
            found.name = name
        return found


def _names(device: Device) -> tuple[str, ...]:
    """Return the names of `device`: the first of a kind has one without and one with a number."""
    kind, _, number = device.name.partition(":")
    return (kind, f"{kind}:0") if number in ("", "0") else (device.name,)


set_naming(DeviceNames())


# CUDA, which is imported at its first use, but for the probe


def cuda_available() -> bool:
    """Return True if there is a CUDA device; never raise an error.

    On Linux this asks the driver's files: CUDA is not started, since processes that are forked
    afterwards could not use it. Where there are none, as under WSL, it is started.

    Returns
    -------
    bool
        If it is False, ``mat.show_config()`` prints the reason.

    Examples
    --------
    >>> import mat
    >>> isinstance(mat.cuda_available(), bool)
    True
    """
    return is_there()


def _find_cuda(number: int | None) -> Device | None:
    if (number or 0) >= probe().devices:
        return None
    return plugin("cuda").device(number or 0)


register_device_kind("cuda", _find_cuda, lambda: probe().reason or f"there are {probe().devices}")
