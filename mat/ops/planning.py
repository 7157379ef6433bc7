"""Choosing an implementation for operands, and making the plan by which calls with such operands
are carried out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ..core.cube import INPUT, IO, OUTPUT
from ..cpu.kernel import CpuKernel
from ..devices.device import CPU, Device
from ..errors import DTypeError
from ..matrix.mat import Mat
from ..support.c_pointers import ForeignArray
from ..support.native import ffi
from ..support.types import Arguments, Keywords
from .declaration import Declaration
from .implementation import DEVICES, Implementation, fitting
from .plan import Plan, plan_of

STRENGTH = {INPUT: 0, IO: 1, OUTPUT: 2}  # how much an access overwrites, as compiled code has it
# an operand in compiled code: accessed, the same as another one, a number
ACCESS, REPEATED, NUMBER = range(3)


def choose(operation: Declaration, implementations: Sequence[Implementation], args: Arguments,
           device: Device = CPU) -> tuple[Implementation, bool]:
    """Return the first implementation that takes the operands, and whether some must be packed for
    it.

    It is one for the device, or else one for the host.
    """
    operands = [args[k] for k in operation.operands]
    if device.implementations:
        found = fitting([i for i in implementations if i.facet_name == device.implementations],
                        operands)
        if found is not None:
            return found
    found = fitting([i for i in implementations if i.facet_name not in DEVICES], operands)
    if found is None:
        mats = [a for a in operands if isinstance(a, Mat)]
        raise DTypeError(f"{operation.__name__} has no implementation for "
                         f"{', '.join(m.label() for m in mats)}")
    return found


def make_plan(operation: Declaration, implementation: Implementation, args: Arguments,
              kwargs: Keywords, device: Device) -> Plan:
    """Return the plan for such operands by `implementation`, chosen for `device`."""
    order = sorted((k for k in operation.operands if isinstance(args[k], Mat)),
                   key=lambda k: k not in operation.written)
    main = operation.main
    repeated = tuple((k, main) for k in order if args[k] is args[main]
                     and k not in operation.written and main in operation.written)
    made_for = implementation.facet
    by_host = device is CPU or _is_of_host(implementation, device)
    facet = made_for if by_host else device.facet
    others = {k for k, _ in repeated}
    directions = [(k, operation.direction(k, args, kwargs)) for k in order if k not in others]
    accesses = tuple((k, d, facet.reading if d is INPUT else facet.writing)
                     for k, d in directions)
    function = implementation.function
    if implementation.prepares:
        positions = *operation.operands, *operation.settings
        function = function(made_for.engine, *(args[k] for k in positions), **kwargs)
        if hasattr(function, "bind"):  # a kernel, and what it needs to know
            function.bind(operation.operands, operation.at_numbers)
    if facet is not made_for:
        bound = function if implementation.bare else partial(function, made_for.engine)
        function = device.adapt(bound, made_for, operation.result is None)
        implementation = implementation._replace(bare=True)
    plan = plan_of(operation, implementation, function, facet, accesses, repeated)
    if isinstance(function, CpuKernel) and facet.presents is ForeignArray:
        _arm(plan, operation, function, args)
    return plan


def _is_of_host(implementation: Implementation, device: Device) -> bool:
    """Return whether `implementation`, chosen for `device`, is one of the host's, since the device
    has none of its own for these operands.
    """
    return bool(device.implementations) and implementation.facet_name != device.implementations


def _arm(plan: Plan, operation: Declaration, kernel: CpuKernel, args: Arguments) -> None:
    """Let compiled code carry out `plan`."""
    operands = operation.operands
    accessed = {k: (ACCESS, k, STRENGTH[direction], 0, key, direction)
                for k, direction, key in plan.accesses}
    repeated = {k: (REPEATED, k, 0, operands.index(other), 0, INPUT) for k, other in plan.repeated}
    described = tuple(accessed.get(k) or repeated.get(k) or (NUMBER, k, 0, 0, 0, INPUT)
                      for k in operands)
    takes_complex = args[operation.main].storage.dtype.kind == "c"
    plan.arm(kernel.address, int(ffi.cast("uintptr_t", kernel.frame)), kernel.count, kernel.grain,
             kernel.how, plan.mask, described, operation.at_numbers, takes_complex,
             -1 if operation.result is None else operation.result, kernel.result)
    if kernel.finish is not None:
        plan.then(*kernel.finish)
