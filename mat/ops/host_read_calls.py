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
    reads = _operands_that_stay(operation, device, args)
    rest = (args[k] for k in operation.operands if k not in reads)
    if not reads or is_too_large(device, *rest):
        return None
    plan = operation.plan_on(device, args, kwargs)
    if plan is None:
        return None
    with with_facets(*((read.view, ARRAY, INPUT) for read in reads.values())):
        given = {}
        for k, read in reads.items():
            value = device.present_host(read.view, read.view.storage.handles[host()])
            if value is None:
                return None
            given[k] = value
        result = plan.execute(args, kwargs, given)
        device.synchronize()  # until then it may read
    _note_uses(device, args)
    for observer in tuple(OBSERVERS):
        for read in reads.values():
            observer.read_in_host(read.view, device.memory, read.nbytes, read.evicted)
    return (result,)


def _operands_that_stay(operation: ReadsOnce, device: Device,
                        args: Arguments) -> dict[int, HostRead]:
    """Return the operands that are to be read in host memory, by their positions."""
    written = [args[k].storage for k in operation.written]
    operands = [args[k] for k in operation.operands]
    missing = (None if is_too_large(device, *operands) else
               missing_bytes(device, {id(x): x for x in operands}.values()))
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
