"""Implementations, the code for an operation through one facet: the choice of one for operands, and
the plan for later calls with such operands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...core.compiled import BLOCKS
from ...core.registry import Facet, facet_named
from ...cpu.kernel import CpuKernel
from ...devices.device import CPU, Device
from ...errors import DTypeError
from ...facets import ARRAY
from ...layout.strided import Layout
from ...matrix.exports import MOST_AT_ONCE
from ...matrix.mat import Mat
from ...support.c_pointers import ForeignArray
from ...support.types import Arguments, DType, Function, Keywords, Operand
from .declaration import Declaration
from .plan import ACCESSED, NUMBER, REPEATED, Plan, PlannedOperand

_NO_KEYWORDS: Keywords = {}
FEW = 500  # elements for which ufuncs keep the GIL
PREFERENCE = ("foreign", "array")  # the order in which facets of the host are tried
DEVICES = frozenset(("cuda",))  # names of facets that are known before there is a device


class Implementation(NamedTuple):
    """The code for an operation through one facet, and the operands it supports."""

    facet_name: str  # of a device's facet, whichever of its kind is in use
    function: Function
    fits: Callable[[Layout], object] | None  # None: any strides
    dtypes: frozenset[str] | None  # None: all
    pack: bool  # rather pack operands than try another implementation
    bare: bool  # requires no engine: a ufunc, or a function of the engine itself
    silent: bool = False  # NumPy never warns of it
    # called once for operands of the same forms, with the Mats; returns the implementation
    prepares: bool = False
    # whether it takes these operands, beyond `fits` and `dtypes`; None: any
    when: Callable[..., object] | None = None
    needs: str = ""  # the library of the device that it calls, if devices may lack that
    plain: bool = False  # only for calls without keywords

    def fits_layout(self, layout: Layout) -> bool:
        """Return whether an operand of this layout need not be packed."""
        return self.fits is None or layout.contiguous or bool(self.fits(layout))

    @property
    def facet(self) -> Facet:
        """The facet for access to operands."""
        return facet_named(self.facet_name)


def known(facet: str | Facet) -> str:
    """Return the name of a facet given by name or itself, of a device's before there is one."""
    return facet if isinstance(facet, str) and facet in DEVICES else facet_named(facet).name


def rank(implementation: Implementation) -> int:
    """Return the position of an implementation in the order of trial."""
    name = implementation.facet_name
    return PREFERENCE.index(name) if name in PREFERENCE else len(PREFERENCE)


def fitting(implementations: Sequence[Implementation], operands: Sequence[Operand],
            kwargs: Keywords) -> tuple[Implementation, bool] | None:
    """Return the first implementation that fits, and whether operands are packed; or None."""
    mats = [x for x in operands if isinstance(x, Mat)]
    for implementation in implementations:
        if implementation.plain and kwargs:
            continue
        if ((implementation.dtypes is None
             or all(m.element_type.char in implementation.dtypes for m in mats))
                and (implementation.when is None or implementation.when(*operands))):
            if all(implementation.fits_layout(m.layout) for m in mats):
                return implementation, False
            if implementation.pack:
                return implementation, True
    return None


def choose(operation: Declaration, implementations: Sequence[Implementation], args: Arguments,
           device: Device = CPU, kwargs: Keywords = _NO_KEYWORDS) -> tuple[Implementation, bool]:
    """Return the first implementation for the device, or the host, and whether to pack."""
    operands = [args[k] for k in operation.operands]
    if device.implementations:
        found = fitting([i for i in implementations if i.facet_name == device.implementations
                         and not (i.needs and device.lacks(i.needs))], operands, kwargs)
        if found is not None:
            return found
    found = fitting([i for i in implementations if i.facet_name not in DEVICES], operands, kwargs)
    if found is None:
        mats = [a for a in operands if isinstance(a, Mat)]
        raise DTypeError(f"{operation.__name__} has no implementation for "
                         f"{', '.join(m.label() for m in mats)}")
    return found


def make_plan(operation: Declaration, implementation: Implementation, args: Arguments,
              kwargs: Keywords, device: Device) -> Plan:
    """Return the plan for such operands by `implementation`, chosen for `device`."""
    made_for = implementation.facet
    by_host = not is_of_device(implementation, device)
    facet = made_for if by_host else device.facet
    function = implementation.function
    operands = tuple(_planned(operation, k, args, kwargs) for k in operation.operands)
    if not device.computes:
        return _plan_of(operation, implementation._replace(bare=True), lambda *_, **__: True, facet,
                        operands)  # copies only
    if implementation.prepares:
        positions = *operation.operands, *operation.settings
        function = function(made_for.engine, *(args[k] for k in positions), **kwargs)
        if hasattr(function, "bind"):  # a kernel, and what it needs to know
            function.bind(operation.operands, operation.at_numbers)
    kernel = function
    if facet is not made_for:
        bound = function if implementation.bare else partial(function, made_for.engine)
        function = device.adapt(bound, made_for, operation.result is None)
        implementation = implementation._replace(bare=True)
    plan = _plan_of(operation, implementation, function, facet, operands,
                    operation.number_types(args))
    plan.lent = facet is not made_for and _is_only_of_host(operation)
    if isinstance(kernel, CpuKernel) and facet.presents is ForeignArray:
        plan.arm(kernel, operation.at_numbers, any(
            operand.form is not None and operand.form.dtype.kind == "c" for operand in operands))
    return plan


def _is_only_of_host(operation: Any) -> bool:
    """Return whether an operation of a user's has no implementation for a device."""
    return not operation.__module__.startswith("mat.") and operation.only_of_host


def _planned(operation: Declaration, k: int, args: Arguments, kwargs: Keywords) -> PlannedOperand:
    """Return the plan's record of the operand at position `k`."""
    main, value = operation.main, args[k]
    if not isinstance(value, Mat):
        return PlannedOperand(NUMBER, k, None)
    if (value is args[main] and k not in operation.written and main in operation.written):
        return PlannedOperand(REPEATED, k, value.form, other=operation.operands.index(main))
    return PlannedOperand(ACCESSED, k, value.form, operation.direction(k, args, kwargs))


def is_of_device(implementation: Implementation, device: Device) -> bool:
    """Return whether an implementation chosen for `device` computes there, not on the host."""
    return device is not CPU and (not device.implementations
                                  or implementation.facet_name == device.implementations)


def _plan_of(operation: Declaration, implementation: Implementation, function: Function,
             facet: Facet, operands: tuple[PlannedOperand, ...],
             number_types: dict[str, DType] | None = None) -> Plan:
    """Return the plan that calls `function`, made of `implementation`, through `facet`."""
    made_for = implementation.facet
    if not implementation.bare:
        function = partial(function, made_for.engine)
    plan = Plan(operation, function, facet, operands)
    silent = implementation.silent and all(  # NumPy warns of complex numbers that are none
        operand.form.dtype.kind != "c" for operand in plan.accesses)
    plan.quiet = made_for.quiet and not silent
    plan.keywords = not implementation.prepares
    plan.number_types = number_types
    plan.by_ufunc = (BLOCKS.enabled and facet is ARRAY and isinstance(function, np.ufunc)
                     and plan.result >= 0 and not operation.numbers
                     and all(operand.form.size <= FEW for operand in plan.accesses))
    plan.by_copies = (plan.through_array and plan.result >= 0 and not plan.by_ufunc
                      and operation.__module__.startswith("mat.")  # a user's may have effects
                      and all(operand.form.size <= MOST_AT_ONCE for operand in plan.accesses))
    return plan
