"""Operations: declared once, with the direction of each operand in the signature; one
implementation for each facet.

The declared function only checks. `Op` does the rest: it chooses the implementation, packs operands
that this cannot take, accesses the operands in their directions, calls the implementation with the
facet's engine, and returns the operand that was written.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, overload

import numpy as np

from ..core.access import ENTER_CONTEXT
from ..core.access_record import AccessRecord
from ..core.compiled import IN_USE, CompiledOperation, register_types
from ..core.cube import INPUT, IO, OBSERVERS, facet_named
from ..devices.device import CPU, Device, in_use
from ..layout.strided import Layout
from ..matrix.mat import Mat, Storage, form_of
from ..matrix.methods import bind
from ..memories.pooled import CLOCK
from ..support.c_pointers import ForeignArray
from ..support.dtypes import check_number, is_integer
from ..support.types import Arguments, Function, Keywords, Operand
from .declaration import Declaration
from .implementation import Implementation, known, rank
from .plan import Plan
from .planning import choose, make_plan
from .roles import Accumulated, InOut, Input, InputOrNumber, Output, Scalar, named

__all__ = ["NO_KEYWORDS", "REGISTRY", "Accumulated", "Implementation", "InOut", "Input",
           "InputOrNumber", "Op", "Output", "Scalar",
           "named", "op"]


REGISTRY: dict[str, Op] = {}
NO_KEYWORDS: Keywords = {}
Fits = Callable[[Layout], object]  # whether an implementation can take an operand of a layout
_MOST_PLANS = 1024

if TYPE_CHECKING:
    class _OperationBase:
        """The attributes that compiled code gives every operation."""

        plans: dict[object, Plan]
        set_positions: Callable[..., None]
        forget_compiled: Callable[[], None]

        def __call__(self, *args: Operand, **kwargs: object) -> Operand: ...
else:
    _OperationBase = CompiledOperation


class Op(_OperationBase, Declaration):
    """An operation: call it like the function that declares it.

    ``.implementations`` lists what can compute it; ``.on`` and ``.prepare`` add to that.
    """

    listed = True  # in REGISTRY

    def __init__(self, check: Function, method: str | None, by_form: bool,
                 name: str | None) -> None:
        Declaration.__init__(self, check, name)
        self.by_form = by_form
        self.implementations: list[Implementation] = []
        self.plans: dict[object, Plan] = {}
        # the same by keys of the operation's own, which may be faster to make
        self.own_plans: dict[object, Plan] = {}
        # the same while a device is in use
        self.device_plans: dict[Device, dict[object, Plan]] = {}
        self.set_positions(self.arity, tuple(self.operands), tuple(self.settings), self.zero_at)
        if self.listed:
            REGISTRY[f"{self.__module__.rpartition('.')[2]}.{check.__name__}"] = self
        if self.result is not None and method != "":
            bind(method or check.__name__ + "_", self.as_method(self, self.result, method))

    def __repr__(self) -> str:
        return f"<operation {self.__name__}{self.__signature__}>"

    def __get__(self, instance: object, owner: type | None = None) -> object:
        # this also makes help() treat an operation as a function
        return self if instance is None else MethodType(self, instance)

    # Implementations

    # the parameters are the public ones of `mat.extend`
    def on(self, *facet_names: str, fits: Fits | None = None, dtypes: str | None = None,
           pack: bool = False, bare: bool = False,
           silent: bool = False) -> Callable[[Function], Op]:
        """Return a decorator that registers an implementation for facets.

        It is called with the facet's engine and the arguments, operands as the facet presents them.
        The decorated name becomes the operation, so that the implementation may be called like it.

        Parameters
        ----------
        *facet_names : str
            The facets, such as ``"array"``, whose engine is NumPy, or ``"foreign"``.
        fits : callable, optional
            Returns whether it can take an operand of a layout; without it, it takes any strides.
        dtypes : str, optional
            The dtype characters that it is for; without them, it is for all.
        pack : bool
            Whether operands that do not fit are copied, rather than another implementation tried.
        bare : bool
            Whether it is called without the engine, as a ufunc is; it must then not ask for
            settings.
        silent : bool
            Whether NumPy's warnings need not be switched off for it.

        Returns
        -------
        callable
            The decorator, which returns the operation.
        """
        def register(function: Function) -> Op:
            if dtypes == "":  # a compiled implementation where nothing is compiled
                return self
            chars = None if dtypes is None else frozenset(dtypes)
            alone = bare or isinstance(function, np.ufunc)
            self._add([Implementation(known(n), function, fits, chars, pack, alone, silent)
                       for n in facet_names])
            return self
        return register

    def prepare(self, *facet_names: str, fits: Fits | None = None, dtypes: str, pack: bool = False,
                when: Callable[..., object] | None = None) -> Callable[[Function], Function]:
        """Return a decorator that registers, for facets, a function that makes implementations for
        operands of certain forms.

        It is called with the engine, the operands, the settings such as an axis, and the keywords;
        of Mats it may use shapes, strides and dtypes, of numbers nothing but that they are numbers.
        It returns the implementation, a function or a `CpuKernel`, which is called with all
        arguments as presented, without keywords.

        Parameters
        ----------
        *facet_names : str
            The facets.
        fits : callable, optional
            Returns whether the implementation can take an operand of a layout.
        dtypes : str
            The dtype characters that it is for.
        pack : bool
            Whether operands that do not fit are copied, rather than another implementation tried.
        when : callable, optional
            ``when(*operands)`` returns whether it can take them, beyond `fits` and `dtypes`.

        Returns
        -------
        callable
            The decorator, which returns the decorated function.
        """
        def register(function: Function) -> Function:
            if dtypes:
                self._add([Implementation(known(n), function, fits, frozenset(dtypes), pack, True,
                                          prepares=True, when=when)
                           for n in facet_names])
            return function
        return register

    def on_engine(self, *facet_names: str, fits: Fits | None = None,
                  dtypes: str | None = None) -> None:
        """Register, for facets, the function of the operation's name that their engines have."""
        chars = None if dtypes is None else frozenset(dtypes)
        found = map(facet_named, facet_names)
        self._add([Implementation(f.name, getattr(f.engine, self.__name__), fits, chars, False,
                                  True) for f in found])

    def _add(self, implementations: list[Implementation]) -> None:
        self.forget()
        self.implementations += implementations
        self.implementations.sort(key=rank)

    def implementation_on(self, facet_name: str) -> Implementation:
        """Return the implementation for the facet of that name."""
        return next(i for i in self.implementations if i.facet_name == facet_name)

    def forget(self) -> None:
        """Drop all plans."""
        self.plans.clear()
        self.own_plans.clear()
        self.device_plans.clear()
        self.forget_compiled()

    # Calls

    def call(self, *args: Operand, **kwargs: object) -> Operand:
        """Carry out the operation; calls that compiled code does not carry out come here."""
        if IN_USE:
            return self.call_with_device(args, kwargs)
        return self._call_on_host(args, kwargs)

    def _call_on_host(self, args: Arguments, kwargs: Keywords) -> Operand:
        if len(args) != self.arity:
            return self._call(args, kwargs)
        try:
            # what plan_key gives in the most frequent case, without the call
            if self.pair and not kwargs:
                a, w = args[self.first], args[self.main]
                plan = self.plans[w.form, a.form] if a.storage is not w.storage else None
            else:
                plan = self.plans[self.plan_key(args, kwargs)]
        except (KeyError, AttributeError, TypeError):
            # not planned yet, or something is not as it should be
            plan = None
        if plan is None:
            plan = self.find(args, kwargs)
            if plan is None:
                return self._call(args, kwargs)
        for k in self.at_numbers:
            if type(args[k]) is not float:
                check_number(args[k], args[self.main].storage.dtype, self.positional[k])
        return plan.run(args, kwargs)

    def call_with_device(self, args: Arguments, kwargs: Keywords) -> Operand:
        """Carry out the operation while a device is in use, in this thread or another: on that, if
        all Mats allow it.
        """
        device = in_use()
        if len(args) != self.arity:
            args, kwargs = self.bind_arguments(args, kwargs)
        for k in self.operands:
            if type(x := args[k]) is Mat:
                if not x.device_enabled:
                    device = CPU
                if x.form is None:
                    x.form = form_of(x)
        try:
            plans = self.plans if device is CPU else self.device_plans[device]
            plan = plans[self.plan_key(args, kwargs)]
        except (KeyError, AttributeError, TypeError):  # as in `_call_on_host`
            return self._call(args, kwargs, device)
        for k in self.at_numbers:
            if type(args[k]) is not float:
                check_number(args[k], args[self.main].storage.dtype, self.positional[k])
        return self._execute(plan, args, kwargs, device)

    def _execute(self, plan: Plan, args: Arguments, kwargs: Keywords, device: Device) -> Operand:
        """Carry out a plan made for `device`, and note when its memory was used."""
        if device is CPU:
            return plan.execute(args, kwargs)
        if OBSERVERS and plan.facet is not device.facet:
            for observer in tuple(OBSERVERS):
                observer.fell_back(self.__name__, device.name)
        result = plan.execute(args, kwargs)
        memory, now = device.memory, next(CLOCK)
        for k in self.operands:
            if type(x := args[k]) is Mat and (handle := x.storage.handles.get(memory)) is not None:
                handle.tick = now
        return result

    def find(self, args: Arguments, kwargs: Keywords,
             plans: dict[object, Plan] | None = None) -> Plan | None:
        """Return the plan for these operands, after giving forms to those that have none yet; None
        if there is no such plan.
        """
        for k in self.operands:
            if isinstance(args[k], Mat) and args[k].form is None:
                args[k].form = form_of(args[k])
        try:
            return (self.plans if plans is None else plans).get(self.plan_key(args, kwargs))
        except (KeyError, AttributeError, TypeError):
            return None

    def _call(self, args: Arguments, kwargs: Keywords, device: Device = CPU) -> Operand:
        """Check everything, plan, and run; remember the plan if its key says enough."""
        if len(args) != self.arity:
            args, kwargs = self.bind_arguments(args, kwargs)
        for k in self.operands:
            if not isinstance(args[k], Mat):
                self.check_operand(k, args)
        for k, name in self.numbers:
            check_number(args[k], args[self.main].storage.dtype, name)
        self.check(*args, **kwargs)
        implementation, pack = choose(self, self.implementations, args, device)
        for k in self.written:
            args[k].allowed(IO)
        if pack:
            return self._call_packed(implementation, args, kwargs, device)
        plan = make_plan(self, implementation, args, kwargs, device)
        self._remember(plan, args, kwargs, device)
        return self._execute(plan, args, kwargs, device) if IN_USE else plan.run(args, kwargs)

    def _remember(self, plan: Plan, args: Arguments, kwargs: Keywords, device: Device) -> None:
        if not self.by_form or (self.numbers and is_integer(args[self.main].storage.dtype)):
            return  # it depends on values, such as whether integers can take a number
        plans = self._plans_of(device)
        if self.find(args, kwargs, plans) is None:  # that gives forms, too
            try:
                key = self.plan_key(args, kwargs)
                if len(plans) > _MOST_PLANS:
                    self.forget()
                    plans = self._plans_of(device)
                plans[key] = plan
            except (KeyError, AttributeError, TypeError):  # there is no key that says enough
                return

    def _plans_of(self, device: Device) -> dict[object, Plan]:
        return self.plans if device is CPU else self.device_plans.setdefault(device, {})

    def _call_packed(self, implementation: Implementation, args: Arguments, kwargs: Keywords,
                     device: Device) -> Operand:
        """Run on packed copies of the operands that do not fit, and copy back those that are
        written.
        """
        packed = {k: _packed(args[k]) for k in self.operands
                  if not implementation.fits_layout(args[k].layout)}
        inside = tuple(packed.get(k, v) for k, v in enumerate(args))
        plan = make_plan(self, implementation, inside, kwargs, device)
        result = self._execute(plan, inside, kwargs, device)
        for k in self.written:
            if k in packed:
                args[k].assign_(packed[k])
        return result if self.result is None else args[self.result]


def _packed(view: Mat) -> Mat:
    for observer in tuple(OBSERVERS):
        observer.packed(view)
    return view.copy()


@overload
def op(check: Function, *, method: str | None = None, by_form: bool = False,
       name: str | None = None) -> Op: ...
@overload
def op(*, method: str | None = None, by_form: bool = False,
       name: str | None = None) -> Callable[[Function], Op]: ...
def op(check: Function | None = None, *, method: str | None = None, by_form: bool = False,
       name: str | None = None) -> Op | Callable[[Function], Op]:
    """Declare an operation by a function that only checks its arguments.

    The function's signature gives the direction of each operand. The operation also becomes a
    method of `Mat` on its written operand, called like the function with an underscore.

    Parameters
    ----------
    check : callable
        The function. It raises an error of `mat.errors` for arguments that cannot be; its docstring
        becomes that of the operation.
    method : str, optional
        Another name of the method; ``""`` for no method.
    by_form : bool
        Whether the check is run once for operands of the same shapes, strides and dtypes: it
        promises to depend on nothing else but keywords and which operands share a storage.
    name : str, optional
        The operation's name in messages, if it is not that of the function.

    Returns
    -------
    Op
        The operation, or without `check` a decorator that returns it.

    Notes
    -----
    docs/extending.md declares operations step by step.
    """
    return Op(check, method, by_form,
              name) if check is not None else lambda check: Op(check, method, by_form, name)


register_types(*map(object.__new__, (Mat, Storage, AccessRecord, ForeignArray)), OBSERVERS, IN_USE,
               INPUT, ENTER_CONTEXT)
