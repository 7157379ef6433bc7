"""What an operation is: declared once, with the direction of each operand in its signature; one
body for each facet.

The declared function only checks. `Op` does the rest: chooses the body, packs what it cannot take,
looks at the operands in their directions, hands the body that facet's engine, and returns the
operand that was written.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from types import MethodType
from typing import Any, overload

import numpy as np

from ..core.access import ENTER_CONTEXT
from ..core.access_record import AccessRecord
from ..core.compiled import IN_USE, CompiledOperation, register_types
from ..core.cube import INPUT, IO, OBSERVERS, OUTPUT, Direction, facet_named
from ..cpu.kernel import CpuKernel
from ..devices.device import CPU, Device, in_use
from ..errors import DTypeError
from ..layout.strided import Layout
from ..matrix.mat import Mat, Storage, form_of
from ..matrix.methods import bind
from ..memories.pooled import CLOCK
from ..support.c_pointers import ForeignArray
from ..support.dtypes import check_number, check_operand, is_integer
from ..support.native import ffi
from .implementation import DEVICES, Implementation, fitting, known, rank
from .plan import Again, Entry, Plan, plan_of
from .roles import (
    Accumulated,
    InOut,
    Input,
    InputOrNumber,
    Output,
    Role,
    Scalar,
    named,
    readable,
    roles_of,
)

__all__ = ["NO_KEYWORDS", "REGISTRY", "Accumulated", "Implementation", "InOut", "Input",
           "InputOrNumber", "Op", "Output", "Scalar",
           "named", "op", "plain"]


STRENGTH = {INPUT: 0, IO: 1, OUTPUT: 2}  # how much a look overwrites, as compiled code has it
# what an operand is to compiled code: looked at, another one again, a number
ACCESSED, REPEATED, NUMBER = range(3)
REGISTRY: dict[str, Op] = {}
NO_KEYWORDS: dict[str, Any] = {}
# BLAS's names for using a part of an operand
_PICKING = frozenset(("m", "n", "k", "incx", "incy", "lda", "ldb", "ldc"))
_NUMBERS = frozenset((float, int, complex, np.float32, np.float64))
# types of settings that a plan can depend on
_PLAIN = frozenset((bool, int, str, type(None), tuple))


class Op(CompiledOperation):  # type: ignore[misc]  # compiled
    """An operation. Call it; ``.implementations`` lists what can do the work; ``.on`` adds to
    that.
    """

    listed = True  # in REGISTRY

    def __init__(self, check: Callable[..., Any], method: str | None, by_form: bool,
                 name: str | None) -> None:
        self.check = check
        self.by_form = by_form
        self.__name__ = self.__qualname__ = name or check.__name__
        self.__module__ = check.__module__ or "__main__"
        self.__doc__ = check.__doc__
        self.__wrapped__ = check
        signature = inspect.signature(check)
        self.implementations: list[Implementation] = []
        self.plans: dict[Any, Plan] = {}
        # the same by keys of the operation's own, which may be faster to make
        self.quick: dict[Any, Plan] = {}
        self.away: dict[Device, dict[Any, Plan]] = {}  # the same while a device is in use
        names = list(signature.parameters)
        self.positional = [n for n in names
                           if signature.parameters[n].kind is not inspect.Parameter.KEYWORD_ONLY]
        self.arity = len(self.positional)
        self.roles = roles_of(check)
        self.__signature__ = readable(signature, self.roles)
        self.numbers = [(k, n) for k, n in enumerate(self.positional) if n in self.roles
                        and self.roles[n].direction is None]
        self.at_numbers = tuple(k for k, _ in self.numbers)
        self.operands = [k for k, n in enumerate(self.positional) if n in self.roles
                         and self.roles[n].direction is not None]
        self.written = [k for k in self.operands if self._role(k).direction is not INPUT]
        self.result = self.written[-1] if self.written else None
        self.main = self.operands[-1]  # whose dtype numbers have to fit
        conditions = [r.output_if_zero for r in self.roles.values() if r.output_if_zero]
        # the number whose being 0 matters
        self.zero_at = self.positional.index(conditions[0]) if conditions else -1
        self.first, self.others = self.operands[0], self.operands[:-1]
        known = {*self.operands, *self.at_numbers}
        # such as an axis: part of a plan's key
        self.settings = [k for k in range(self.arity) if k not in known]
        self.pair = len(self.operands) == 2 and not conditions and not self.settings
        self.takes(self.arity, tuple(self.operands), tuple(self.settings), self.zero_at)
        if self.listed:
            REGISTRY[f"{self.__module__.rpartition('.')[2]}.{check.__name__}"] = self
        if self.result is not None and method != "":
            bind(method or check.__name__ + "_", self._as_method(self.result, method))

    def _role(self, k: int) -> Role:
        return self.roles[self.positional[k]]

    def __repr__(self) -> str:
        return f"<operation {self.__name__}{self.__signature__}>"

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        # this also makes help() treat us as a function
        return self if instance is None else MethodType(self, instance)

    def on(self, *facet_names: str, fits: Callable[[Layout], object] | None = None,
           dtypes: str | None = None,
           pack: bool = False, bare: bool = False,
           silent: bool = False) -> Callable[[Callable[..., Any]], Op]:
        """Register a body for facets. It is called with the facet's engine and the operands as
        presented.

        `fits` says which layouts it can take (None: any strides), `dtypes` for which dtype
        characters it is; with `pack`, operands that do not fit are copied rather than another body
        tried. A `bare` body is called without the engine and must not ask for settings, as is true
        of a ufunc; with a `silent` one NumPy's warnings need not be switched off. The decorated
        name becomes the operation, so that the body may be called like it.
        """
        def register(function: Callable[..., Any]) -> Op:
            if dtypes == "":  # a compiled body where nothing is compiled
                return self
            chars = None if dtypes is None else frozenset(dtypes)
            alone = bare or isinstance(function, np.ufunc)
            self._add([Implementation(known(n), function, fits, chars, pack, alone, silent)
                       for n in facet_names])
            return self
        return register

    def prepare(self, *facet_names: str, fits: Callable[[Layout], object] | None = None,
                dtypes: str, pack: bool = False,
                when: Callable[..., object] | None = None) -> Callable[[Any], Any]:
        """Register, for facets, what makes a body for operands of certain forms.

        It is called with the engine, the operands, the settings such as an axis, and the keywords;
        of Mats it may use shapes, strides and dtypes, of numbers nothing but that they are numbers.
        The body it returns, a function or a `CpuKernel` kernel, is called with all arguments as
        presented, without keywords. ``when(*operands)`` says whether it can take them, beyond what
        `fits` and `dtypes` say of each; with `pack`, operands that do not fit are copied.
        """
        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            if dtypes:
                self._add([Implementation(known(n), function, fits, frozenset(dtypes), pack, True,
                                          prepares=True, when=when)
                           for n in facet_names])
            return function
        return register

    def on_engine(self, *facet_names: str, fits: Callable[[Layout], object] | None = None,
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

    def forget(self) -> None:
        """Drop all plans."""
        self.plans.clear()
        self.quick.clear()
        self.away.clear()
        self.forget_compiled()

    def body_on(self, facet: str) -> Implementation:
        """The body for the facet of that name."""
        return next(b for b in self.implementations if b.place == facet)

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Carry out the operation; calling self comes here with what is not done by compiled
        code.
        """
        if IN_USE:
            return self.call_away(args, kwargs)
        return self._call_here(args, kwargs)

    def _call_here(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if len(args) != self.arity:
            return self._call(args, kwargs)
        try:
            # what _key gives in the most frequent case, without the call
            if self.pair and not kwargs:
                a, w = args[self.first], args[self.main]
                plan = self.plans[w.form, a.form] if a.storage is not w.storage else None
            else:
                plan = self.plans[self._key(args, kwargs)]
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

    def call_away(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The same while a device is in use, here or in another thread: on that, if all Mats allow
        it.
        """
        device = in_use()
        if len(args) != self.arity:
            args, kwargs = self._bind(args, kwargs)
        mats = [a for k in self.operands if type(a := args[k]) is Mat]
        for x in mats:
            if not x.device_enabled:
                device = CPU
            if x.form is None:
                x.form = form_of(x)
        try:
            plan = self.plans[self._key(args,
                                        kwargs)] if device is CPU else self.away[device][self._key(args, kwargs)]
        except (KeyError, AttributeError, TypeError):  # as in `call`
            return self._call(args, kwargs, device)
        for k in self.at_numbers:
            if type(args[k]) is not float:
                check_number(args[k], args[self.main].storage.dtype, self.positional[k])
        return self._walk(plan, args, kwargs, device)

    def _walk(self, plan: Plan, args: tuple[Any, ...], kwargs: dict[str, Any],
              device: Device) -> Any:
        """Carry out a plan made for `device`, and note when its memory was used."""
        if device is CPU:
            return plan.walk(args, kwargs)
        if OBSERVERS and plan.facet is not device.facet:
            for observer in tuple(OBSERVERS):
                observer.fell_back(self.__name__, device.name)
        result = plan.walk(args, kwargs)
        memory, now = device.memory, next(CLOCK)
        for k in self.operands:
            if type(x := args[k]) is Mat and (handle := x.storage.handles.get(memory)) is not None:
                handle.tick = now
        return result

    def _plans_on(self, device: Device) -> dict[Any, Plan]:
        return self.plans if device is CPU else self.away.setdefault(device, {})

    def find(self, args: tuple[Any, ...], kwargs: dict[str, Any],
             plans: dict[Any, Plan] | None = None) -> Plan | None:
        """The plan for these operands, after giving forms to those that have none yet; None if
        there is no such plan.
        """
        for k in self.operands:
            if isinstance(args[k], Mat) and args[k].form is None:
                args[k].form = form_of(args[k])
        try:
            return (self.plans if plans is None else plans).get(self._key(args, kwargs))
        except (KeyError, AttributeError, TypeError):
            return None

    def _key(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the checks and the choice of a body depend on; `KeyError` if that is more than a key
        can hold.
        """
        w = args[self.main]
        key: Any = w.form
        for k in self.others:
            a = args[k]
            if type(a) is Mat:
                if a is w:
                    key = key, 0
                elif a.storage is w.storage:
                    raise KeyError
                else:
                    key = key, a.form
            else:
                key = key, _token(a, args[self.operands[1]])
        if self.zero_at >= 0:
            beta = args[self.zero_at]
            if type(beta) not in _NUMBERS:
                raise KeyError
            key = key, beta == 0
        if self.settings:
            key = key, plain([args[k] for k in self.settings])
        if kwargs:
            key = key, *kwargs, plain(kwargs.values())
        return key

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any], device: Device = CPU) -> Any:
        """Check everything, plan, and run; remember the plan if its key says enough."""
        if len(args) != self.arity:
            args, kwargs = self._bind(args, kwargs)
        for k in self.operands:
            if not isinstance(args[k], Mat):
                self._check_operand(k, args)
        for k, name in self.numbers:
            check_number(args[k], args[self.main].storage.dtype, name)
        self.check(*args, **kwargs)
        implementation, pack = self._choose(args, device)
        for k in self.written:
            args[k].allowed(IO)
        if pack:
            return self._run_packed(implementation, args, kwargs, device)
        plan = self._plan(implementation, args, kwargs, device)
        self._remember(plan, args, kwargs, device)
        return self._walk(plan, args, kwargs, device) if IN_USE else plan.run(args, kwargs)

    def _remember(self, plan: Plan, args: tuple[Any, ...], kwargs: dict[str, Any],
                  device: Device) -> None:
        if not self.by_form or (self.numbers and is_integer(args[self.main].storage.dtype)):
            return  # it depends on values, as whether integers can take a number does
        plans = self._plans_on(device)
        if self.find(args, kwargs, plans) is None:  # that gives forms, too
            try:
                key = self._key(args, kwargs)
                if len(plans) > 1024:
                    self.forget()
                    plans = self._plans_on(device)
                plans[key] = plan
            except (KeyError, AttributeError, TypeError):  # there is no key that says enough
                return

    def _bind(self, args: tuple[Any, ...],
              kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """All positional parameters as a tuple, the keywords that were given apart."""
        try:
            bound = self.__signature__.bind(*args, **kwargs)
        except TypeError as error:
            raise DTypeError(f"{self.__name__}{self.__signature__}: {error}") from None
        given = dict(bound.kwargs)
        bound.apply_defaults()
        return bound.args, given

    def _check_operand(self, k: int, args: tuple[Any, ...]) -> None:
        name, value = self.positional[k], args[k]
        if self.roles[name].or_number:
            check_operand(value, _first_dtype(args, self.operands), name)
            return
        raise DTypeError(f"{name} of {self.__name__} must be a Mat, got {type(value).__name__}; "
                         f"mat.from_numpy(a) wraps an array without copying, mat.array(obj) copies")

    # Choosing

    def _choose(self, args: tuple[Any, ...], device: Device = CPU) -> tuple[Implementation, bool]:
        """The first body that takes the operands, and whether some must be packed for it.

        That is one for the device, or else one for the host.
        """
        if device.implementations:
            found = fitting([b for b in self.implementations if b.place == device.implementations],
                            [args[k] for k in self.operands])
            if found is not None:
                return found
        found = fitting([b for b in self.implementations if b.place not in DEVICES],
                        [args[k] for k in self.operands])
        if found is None:
            mats = [args[k] for k in self.operands if isinstance(args[k], Mat)]
            raise DTypeError(f"{self.__name__} has no body for "
                             f"{', '.join(m.label() for m in mats)}")
        return found

    def _run_packed(self, implementation: Implementation, args: tuple[Any, ...],
                    kwargs: dict[str, Any], device: Device) -> Any:
        """Run on packed copies of the operands that do not fit, and copy back those that are
        written.
        """
        packed = {k: _packed(args[k]) for k in self.operands
                  if not implementation.takes(args[k].layout)}
        inside = tuple(packed.get(k, v) for k, v in enumerate(args))
        result = self._walk(self._plan(implementation, inside, kwargs, device), inside, kwargs,
                            device)
        for k in self.written:
            if k in packed:
                args[k].assign_(packed[k])
        return result if self.result is None else args[self.result]

    def _plan(self, implementation: Implementation, args: Sequence[Any], kwargs: dict[str, Any],
              device: Device) -> Plan:
        order = sorted((k for k in self.operands if isinstance(args[k], Mat)),
                       key=lambda k: k not in self.written)
        again = tuple((k, self.main) for k in order
                      if args[k] is args[self.main] and k not in self.written
                      and self.main in self.written)
        repeated = {k for k, _ in again}
        facet, made_for = device.facet if device is not CPU and not self._on_host(implementation, device) else implementation.facet, implementation.facet
        directions = ((k, self._direction(k, args, kwargs)) for k in order if k not in repeated)
        entry = tuple((k, d, facet.reading if d is INPUT else facet.writing) for k, d in directions)
        function = implementation.function
        if implementation.prepares:
            function = function(made_for.engine,
                                *(args[k] for k in (*self.operands, *self.settings)), **kwargs)
            if hasattr(function, "bind"):  # a kernel, and what it needs to know
                function.bind(self.operands, self.at_numbers)
        if facet is not made_for:
            bound = function if implementation.bare else partial(function, made_for.engine)
            function, implementation = device.adapt(bound, made_for, self.result
                                                    is None), implementation._replace(bare=True)
        plan = plan_of(implementation, function, entry, again, self.result, self.arity, facet, self)
        if isinstance(function, CpuKernel) and facet.presents is ForeignArray:
            self._arm(plan, function, entry, again, args)
        return plan

    def _on_host(self, implementation: Implementation, device: Device) -> bool:
        """Whether `implementation`, chosen for `device`, is one of the host's, since that has none
        of its own for these operands.
        """
        return bool(device.implementations) and implementation.place != device.implementations

    def _arm(self, plan: Plan, kernel: CpuKernel, entry: Entry, again: Again,
             args: Sequence[Any]) -> None:
        """Let compiled code carry out `plan`."""
        accesses = {k: (ACCESSED, k, STRENGTH[direction], 0, key, direction) for k, direction,
                    key in entry}
        repeated = {k: (REPEATED, k, 0, self.operands.index(other), 0, INPUT) for k, other in again}
        operands = tuple(accesses.get(k) or repeated.get(k) or (NUMBER, k, 0, 0, 0, INPUT)
                         for k in self.operands)
        takes_complex = args[self.main].storage.dtype.kind == "c"
        plan.arm(kernel.address, int(ffi.cast("uintptr_t", kernel.frame)), kernel.count,
                 kernel.grain, kernel.how, plan.mask,
                 operands, self.at_numbers, takes_complex,
                 -1 if self.result is None else self.result, kernel.result)
        if kernel.finish is not None:
            plan.then(*kernel.finish)

    def _direction(self, k: int, args: Sequence[Any], kwargs: dict[str, Any]) -> Direction:
        """How operand `k` is looked at: as declared, but ``io`` for ``output`` where not all of the
        storage is overwritten.

        That is so where the operand, or a keyword, picks out a part of it, and where other operands
        use the same storage.
        """
        role, view = self._role(k), args[k]
        direction = role.direction or IO
        if role.output_if_zero and args[self.zero_at] == 0:
            direction = OUTPUT
        direction = view.allowed(direction)
        shared = any(j != k and isinstance(args[j], Mat) and args[j].storage is view.storage
                     for j in self.operands)
        return IO if direction is OUTPUT and (shared
                                              or not _PICKING.isdisjoint(kwargs)) else direction

    def _as_method(self, at: int, name: str | None) -> Callable[..., Any]:
        """``y.axpy_(alpha, x)`` for ``axpy(alpha, x, y)``: the written operand is self, the others
        keep their order.
        """
        def method(self: Mat, *args: Any, **kwargs: Any) -> Any:
            return operation(*args[:at], self, *args[at:], **kwargs)

        def method_at_end(self: Mat, *args: Any, **kwargs: Any) -> Any:
            return operation(*args, self, **kwargs)

        operation = self
        method = method_at_end if at == self.arity - 1 else method
        return self.spelled(method, at, name)

    def spelled(self, method: Callable[..., Any], at: int = -1,
                name: str | None = None) -> Callable[..., Any]:
        """`method` with the name, signature and docstring of the operation as a method; operand
        `at` is self.
        """
        at %= self.arity
        given = list(self.__signature__.parameters.values())
        own = given[at].replace(name="self", kind=inspect.Parameter.POSITIONAL_ONLY,
                                annotation=inspect.Parameter.empty)
        rest = [p.replace(default=p.default) for p in given[:at] + given[at + 1:]]
        # functions take attributes
        method.__signature__ = inspect.Signature([own, *rest])  # type: ignore[attr-defined]
        text = f"{inspect.cleandoc(self.__doc__ or '')}\n\nAs a method: `{self.positional[at]}` is self."
        return named(method, name or self.__name__ + "_", text)


def _first_dtype(args: Sequence[Any], operands: list[int]) -> Any:
    """The dtype a number among the operands is checked against: that of the first Mat."""
    return next(args[k].storage.dtype for k in operands if isinstance(args[k], Mat))


def plain(values: Iterable[Any]) -> tuple[Any, ...]:
    """Settings as part of a key: with their types, since True is 1 but not to a check; `KeyError`
    for other types.
    """
    given = tuple(values)
    kinds = tuple(map(type, given))
    if not _PLAIN.issuperset(kinds):
        raise KeyError
    return given, kinds


def _token(value: Any, like: Any) -> type:
    """What stands in a key for a number among the operands; `KeyError` if its value matters to the
    checks.
    """
    kind = type(value)
    if kind is float or kind is np.float64 or kind is np.float32:
        return kind
    if kind is int and (0 <= value < 128
                        or (like.storage.dtype.kind in "fc" and -(2**53) < value < 2**53)):
        return int
    raise KeyError


def _packed(view: Mat) -> Mat:
    for observer in tuple(OBSERVERS):
        observer.packed(view)
    return view.copy()  # ops/ adds it


@overload
def op(check: Callable[..., Any], *, method: str | None = None, by_form: bool = False,
       name: str | None = None) -> Op: ...
@overload
def op(*, method: str | None = None, by_form: bool = False,
       name: str | None = None) -> Callable[[Callable[..., Any]], Op]: ...
def op(check: Callable[..., Any] | None = None, *, method: str | None = None, by_form: bool = False,
       name: str | None = None) -> Op | Callable[[Callable[..., Any]], Op]:
    """Declare an operation: the decorated function's signature gives directions, its body only
    checks.

    The operation also becomes a method of `Mat` on its written operand, called like the function
    with an underscore; ``method=`` names it otherwise, ``method=""`` leaves it out. With
    ``by_form`` the check is not run again for operands of the same shapes, strides and dtypes: it
    promises to depend on nothing else but keywords and which operands share a storage. ``name`` is
    what messages call it, if the public function has another name than the declared one.
    """
    return Op(check, method, by_form,
              name) if check is not None else lambda check: Op(check, method, by_form, name)


register_types(*map(object.__new__, (Mat, Storage, AccessRecord, ForeignArray)), OBSERVERS, IN_USE,
               INPUT, ENTER_CONTEXT)
