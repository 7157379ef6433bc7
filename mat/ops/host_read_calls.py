"""Calls that a device carries out while some of their operands stay in host memory."""

from __future__ import annotations

from typing import Protocol

from ..core.direction import INPUT
from ..core.observers import HOST_READS, OBSERVERS, wait
from ..core.registry import host
from ..devices.device import Device
from ..errors import OutOfDeviceMemory
from ..facets.array import ARRAY
from ..matrix.mat import Mat
from ..matrix.with_facets import with_facets
from ..support.dtypes import check_number
from ..support.types import Arguments, Keywords, Operand
from .host_reads import USES, HostRead, missing_bytes, pays_to_stay, span
from .plan import Plan
from .tiling import is_too_large


class ReadsOnce(Protocol):
    """The operation's interface used by this module."""

    main: int
    numbers: list[tuple[int, str]]
    operands: list[int]
    written: list[int]

    def read_once(self, args: Arguments) -> list[int]: ...

    def plan_on(self, device: Device, args: Arguments, kwargs: Keywords) -> Plan | None: ...


def carry_out_from_host(operation: ReadsOnce, device: Device, args: Arguments, kwargs: Keywords,
                        fits: bool) -> tuple[Operand] | None:
    """Carry out a call on a device that reads operands in host memory, and return the result in a
    tuple; return None, and do nothing, if no operand is to be read so.

    `fits` is False if the limit of the device may have no room for all operands.
    """
    fits = fits or _have_room(device, [args[k] for k in operation.operands])
    reads = _operands_that_stay(operation, device, args, fits)
    if not reads or not (fits or _have_room(
            device, [args[k] for k in operation.operands if k not in reads])):
        return None
    plan = operation.plan_on(device, args, kwargs)
    if plan is None:
        return None
    for k, name in operation.numbers:
        check_number(args[k], args[operation.main].element_type, name)
    with with_facets(*((read.view, ARRAY, INPUT) for read in reads.values())):
        given = {k: device.present_host(read.view, read.view.storage.handles[host()])
                 for k, read in reads.items()}
        try:
            result = plan.execute(args, kwargs, given)
        except OutOfDeviceMemory:  # other threads have taken the room
            return None
        finally:
            with wait(HOST_READS, args[operation.main].storage, device.memory):
                device.synchronize()  # until then it may read
    _note_uses(device, args)
    for observer in tuple(OBSERVERS):
        for read in {id(read.view): read for read in reads.values()}.values():
            observer.read_in_host(read.view, device.memory, read.nbytes, read.evicted)
    return (result,)


def _have_room(device: Device, operands: list[Operand]) -> bool:
    """Return whether a device's limit has room for the operands, possibly repeated."""
    limit = device.memory.limit
    return limit is None or span(operands) <= limit or not is_too_large(device, *operands)


def _operands_that_stay(operation: ReadsOnce, device: Device, args: Arguments,
                        fits: bool) -> dict[int, HostRead]:
    """Return the operands that are to be read in host memory, by their positions."""
    written = [args[k].storage for k in operation.written]
    missing = missing_bytes(device, args) if fits else None
    found, decided = {}, {}  # one that is given twice is read from one place
    for k in operation.read_once(args):
        view = args[k]
        if view.storage not in written:
            key = id(view.storage), view.layout.bounds
            if key not in decided:
                decided[key] = pays_to_stay(device, view, USES.note(device, view), missing)
            read = decided[key]
            if read is not None:
                found[k] = read._replace(view=view)
    return found


def _note_uses(device: Device, args: Arguments) -> None:
    """Mark the operands' copies as used."""
    for view in args:
        if isinstance(view, Mat):
            handle = view.storage.handles.get(device.memory)
            if handle is not None:
                device.memory.note_use(handle)
