"""Calls that a device carries out while some of their operands stay in host memory."""

from __future__ import annotations

from typing import Protocol

from ..core.direction import INPUT
from ..core.observers import OBSERVERS
from ..core.registry import host
from ..devices.device import Device
from ..facets.array import ARRAY
from ..matrix.mat import Mat
from ..matrix.with_facets import with_facets
from ..support.types import Arguments, Keywords, Operand
from .host_reads import USES, HostRead, missing_bytes, pays_to_stay
from .plan import Plan
from .tiling import is_too_large


class ReadsOnce(Protocol):
    """An operation, of which this module knows only this much."""

    operands: list[int]
    written: list[int]

    def read_once(self, args: Arguments) -> list[int]: ...

    def plan_on(self, device: Device, args: Arguments, kwargs: Keywords) -> Plan | None: ...


def carry_out_from_host(operation: ReadsOnce, device: Device, args: Arguments,
                        kwargs: Keywords) -> tuple[Operand] | None:
    """Carry out a call on a device that reads operands in host memory, and return the result in a
    tuple; return None, and do nothing, if no operand is to be read so.
    """
    if not device.reads_host:
        return None
    fits = not is_too_large(device, *(args[k] for k in operation.operands))
    reads = _operands_that_stay(operation, device, args, fits)
    rest = (args[k] for k in operation.operands if k not in reads)
    if not reads or not (fits or not is_too_large(device, *rest)):
        return None
    plan = operation.plan_on(device, args, kwargs)
    if plan is None:
        return None
    with with_facets(*((read.view, ARRAY, INPUT) for read in reads.values())):
        given = {k: device.present_host(read.view, read.view.storage.handles[host()])
                 for k, read in reads.items()}
        result = plan.execute(args, kwargs, given)
        device.synchronize()  # until then it may read
    _note_uses(device, args)
    for observer in tuple(OBSERVERS):
        for read in reads.values():
            observer.read_in_host(read.view, device.memory, read.nbytes, read.evicted)
    return (result,)


def _operands_that_stay(operation: ReadsOnce, device: Device, args: Arguments,
                        fits: bool) -> dict[int, HostRead]:
    """Return the operands that are to be read in host memory, by their positions; `fits` tells
    whether the limit has room for all of them on the device.
    """
    written = [args[k].storage for k in operation.written]
    operands = {id(args[k]): args[k] for k in operation.operands}
    missing = missing_bytes(device, operands.values()) if fits else None
    found = {}
    for k in operation.read_once(args):
        view = args[k]
        if view.storage in written:
            continue
        read = pays_to_stay(device, view, missing)
        if read is not None:
            found[k] = read
        USES.note(device, view)
    return found


def _note_uses(device: Device, args: Arguments) -> None:
    """Note that the copies of the operands were used."""
    for view in args:
        if isinstance(view, Mat):
            handle = view.storage.handles.get(device.memory)
            if handle is not None:
                device.memory.note_use(handle)
