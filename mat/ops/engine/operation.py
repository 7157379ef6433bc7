"""Operations: declared once, with the direction of each operand in the signature; one
implementation for each facet.

The declared function only checks. `Op` does the rest: it chooses the implementation, packs operands
that this cannot take, accesses the operands in their directions, calls the implementation with the
facet's engine, and returns the operand that was written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from types import MethodType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Self, TypeAlias, TypeVar, overload

import numpy as np

from ...core.direction import INPUT, IO
from ...core.observers import OBSERVERS
from ...core.registry import Facet, facet_named
from ...devices.device import CPU, Device
from ...errors import DTypeError, OutOfDeviceMemory
from ...layout.orders import of_result
from ...layout.shapes import Ints
from ...layout.strided import Layout
from ...matrix.base import MatBase, form_of_layout, form_of_result
from ...matrix.mat import Mat
from ...matrix.methods import bind
from ...matrix.with_facets import with_facets
from ...support.dtypes import check_exact, check_number, is_integer
from ...support.plugins import plugin
from ...support.types import Arguments, DType, Function, Keywords, Number, Operand
from ..tiles.tile import Cutter, Patience, is_too_large
from .declaration import (
    Accumulated,
    Declaration,
    InOut,
    Input,
    InputOrNumber,
    Output,
    Scalar,
    named,
)
from .plan import Plan
from .planning import DEVICES, Implementation, choose, is_of_device, known, make_plan, rank

__all__ = ["NO_KEYWORDS", "REGISTRY", "Accumulated", "Implementation", "InOut", "Input",
           "InputOrNumber", "MatOp", "Op", "Output", "Scalar", "TypedOp",
           "named", "op"]


P = ParamSpec("P")  # an operation's parameters
R = TypeVar("R")  # its result
REGISTRY: dict[str, Op] = {}
NO_KEYWORDS: Keywords = {}
Fits = Callable[[Layout], object]  # whether an implementation can take an operand of a layout


@cache
def _set_of(dtypes: str) -> frozenset[str]:
    """Return the dtype characters in a text."""
    return frozenset(dtypes)


_CLAIMED: set[str] = set()  # methods that operations from outside of the library have


def _claim(method: str, operation: Op) -> None:
    """Raise `DTypeError` if an operation from outside would replace a method of the library."""
    if operation.__module__.startswith("mat."):
        return
    if hasattr(Mat, method) and method not in _CLAIMED:
        raise DTypeError(f"{operation.__name__} would replace the method {method!r} of every Mat; "
                         "give it another name by method=..., or none by method=''")
    _CLAIMED.add(method)


class Op(Declaration):
    """An operation: call it like the function that declares it.

    ``.implementations`` lists what can compute it; ``.on`` and ``.prepare`` add to that.
    """

    listed = True  # in REGISTRY

    def __init__(self, check: Function, method: str | None, by_form: bool,
                 name: str | None) -> None:
        Declaration.__init__(self, check, name)
        self.by_form = by_form
        # makes the first implementations, when they are first needed
        self.first_implementations: Callable[[], Iterable[Implementation]] = tuple
        # returns arguments without numbers beyond the range of a Mat's integers, where NumPy takes
        # these
        self.adapt: Callable[[Arguments], Arguments] | None = None
        # returns shape and dtype of the result for arguments with None in its place
        self.result_of: Callable[..., tuple[Ints, DType]] | None = None
        # how it is cut into tiles; None: it is not, for that reason
        self.cutter: Cutter | None = None
        self.whole_because: str = "it does not say how it can be cut, by cut_by"
        if self.listed:
            REGISTRY[f"{self.__module__.rpartition('.')[2]}.{check.__name__}"] = self
        if self.result is not None and method != "":
            bound = method or check.__name__ + "_"
            _claim(bound, self)
            bind(bound, self.as_method(self, self.result, method))

    def __repr__(self) -> str:
        return f"<operation {self.__name__}{self.__signature__}>"

    def __get__(self, instance: object, owner: type | None = None) -> object:
        # this also makes help() treat an operation as a function
        return self if instance is None else MethodType(self, instance)

    # Implementations

    @property
    def implementations(self) -> list[Implementation]:
        """What can compute the operation, in the order of trial.

        Examples
        --------
        >>> import mat
        >>> [i.facet_name for i in mat.exp.op.implementations if i.facet_name == "array"]
        ['array']
        """
        found: list[Implementation] | None = vars(self).get("_implementations")
        if found is None:  # the first of several threads decides
            made = sorted(self.first_implementations(), key=rank)
            found = vars(self).setdefault("_implementations", made)
        return found

    @implementations.setter
    def implementations(self, found: list[Implementation]) -> None:
        vars(self)["_implementations"] = found

    def on(self, *facet_names: str | Facet, fits: Fits | None = None, dtypes: str | None = None,
           pack: bool = False, bare: bool = False,
           silent: bool = False) -> Callable[[Function], Self]:
        """Return a decorator that registers an implementation for facets.

        It is called with the facet's engine and the arguments, operands as the facet presents them.
        The decorated name becomes the operation, so that the implementation may be called like it.

        Parameters
        ----------
        *facet_names : str or Facet
            The facets, such as ``"array"``, whose engine is NumPy, or ``"foreign"``, or what
            `register_facet` returned.
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
        def register(function: Function) -> Any:
            if dtypes == "":  # a compiled implementation where nothing is compiled
                return self
            chars = None if dtypes is None else _set_of(dtypes)
            alone = bare or isinstance(function, np.ufunc)
            self._add([Implementation(known(n), function, fits, chars, pack, alone, silent)
                       for n in facet_names])
            return self
        return register

    def prepare(self, *facet_names: str | Facet, fits: Fits | None = None, dtypes: str,
                pack: bool = False, when: Callable[..., object] | None = None,
                needs: str = "", plain: bool = False) -> Callable[[Function], Function]:
        """Return a decorator that registers, for facets, a function that makes implementations for
        operands of certain forms.

        It is called with the engine, the operands, the settings such as an axis, and the keywords;
        of Mats it may use shapes, strides and dtypes, of numbers nothing but that they are numbers.
        It returns the implementation, a function or a `CpuKernel`, which is called with all
        arguments as presented, without keywords.

        Parameters
        ----------
        *facet_names : str or Facet
            The facets.
        fits : callable, optional
            Returns whether the implementation can take an operand of a layout.
        dtypes : str
            The dtype characters that it is for.
        pack : bool
            Whether operands that do not fit are copied, rather than another implementation tried.
        when : callable, optional
            ``when(*operands)`` returns whether it can take them, beyond `fits` and `dtypes`.
        needs : str
            A library that a device may lack (`Device.lacks`); then the host computes.
        plain : bool
            Whether it is only for calls without keywords.

        Returns
        -------
        callable
            The decorator, which returns the decorated function.
        """
        def register(function: Function) -> Function:
            if dtypes:
                self._add([Implementation(known(n), function, fits, _set_of(dtypes), pack, True,
                                          prepares=True, when=when, needs=needs, plain=plain)
                           for n in facet_names])
            return function
        return register

    def on_engine(self, *facet_names: str | Facet, fits: Fits | None = None,
                  dtypes: str | None = None) -> None:
        """Register, for facets, the function of the operation's name that their engines have."""
        chars = None if dtypes is None else frozenset(dtypes)
        found = map(facet_named, facet_names)
        self._add([Implementation(f.name, getattr(f.engine, self.__name__), fits, chars, False,
                                  True) for f in found])

    @property
    def only_of_host(self) -> bool:
        """True if there is no implementation for a device."""
        return all(i.facet_name not in DEVICES for i in self.implementations)

    def lacking(self, device: Device) -> str:
        """Return why the host carries out the operation instead of `device`; "" if unknown."""
        if self.only_of_host:
            return "it has implementations for the host only"
        needed = (i.needs for i in self.implementations
                  if i.needs and i.facet_name == device.implementations)
        return next(filter(None, map(device.lacks, needed)), "")

    def _add(self, implementations: list[Implementation]) -> None:
        self.forget()
        self.implementations += implementations
        self.implementations.sort(key=rank)

    def implementation_on(self, facet_name: str) -> Implementation:
        """Return the implementation for the facet of that name."""
        return next(i for i in self.implementations if i.facet_name == facet_name)

    def forget(self) -> None:
        """Drop all plans."""
        self.forget_plans()

    # Tiles

    def cut_by(self, cutter: Cutter) -> Cutter:
        """Declare how calls are cut into tiles where a device has no room for the operands.

        Parameters
        ----------
        cutter : callable
            ``cutter(args, kwargs, budget)`` yields `Tile` objects, each of which needs at most
            `budget` bytes at once, or two that follow one another twice as many together; all
            positional arguments are in `args`, and were checked. A tile is asked for before the
            one ahead of it runs. It raises `TileTooLarge` if the smallest tile needs more.

        Returns
        -------
        callable
            The cutter, so that this is a decorator.
        """
        self.cutter = cutter
        return cutter

    def is_computed_whole(self, reason: str) -> None:
        """Declare that calls cannot be cut, for a `reason` that continues "since ..."."""
        self.cutter, self.whole_because = None, reason

    def carry_out_within(self, device: Device, args: Arguments, kwargs: Keywords,
                         shortage: OutOfDeviceMemory | None) -> Operand:
        """Carry out the operation on a device in tiles, unless there is room."""
        for value in args:
            if isinstance(value, Mat):
                value.storage.settle_pending(False)  # while nothing occupies the device
        patience = Patience(device)
        while True:
            try:
                return self._carry_out_within(device, args, kwargs, shortage)
            except OutOfDeviceMemory as error:
                if not patience.lasts(error):
                    raise
                shortage = None

    def _carry_out_within(self, device: Device, args: Arguments, kwargs: Keywords,
                          shortage: OutOfDeviceMemory | None) -> Operand:
        args, kwargs, now = self._checked(args, kwargs)
        if self._meets_read(now):
            return self._call_apart(args, kwargs)
        if device.planner is not None:
            return device.planner(self, args, kwargs)
        implementation, _ = choose(self, self.implementations, now, device, kwargs)
        of_device = is_of_device(implementation, device)
        if shortage is None and not (of_device and self.cutter is not None and is_too_large(
                device, *(now[k] for k in self.operands))):
            self.note_uses(device.memory, now)
            try:
                return self.carry_out_whole(device, args, kwargs)
            except OutOfDeviceMemory as error:
                shortage = error.with_traceback(None)  # whose frames keep what the callers have
        if shortage is not None and not of_device:
            raise shortage
        result = plugin("ops.tiles.tiling").carry_out_in_tiles(device, self, now, kwargs, shortage)
        return result if self.result is None else args[self.result]

    def _planned(self, device: Device, implementation: Implementation, args: Arguments,
                 kwargs: Keywords) -> Plan:
        """Make a plan for checked arguments, and remember it if its key says enough."""
        for k in self.written:
            args[k].allowed(IO)
        plan = make_plan(self, implementation, args, kwargs, device)
        # else it depends on values: whether integers can take a number, which only plans that call
        # Python check, or whether factors are integers
        if self.by_form and not (self.numbers and is_integer(args[self.main].element_type) and (
                plan.at_once or self.adapt is not None or self.zero_at >= 0)):
            self.remember(self.root_of(device), args, kwargs, plan)
        return plan

    def carry_out_over_files(self, args: Arguments, kwargs: Keywords) -> tuple[object] | None:
        return plugin("ops.tiles.file_tiles").carry_out_over_files(self, _as_now(args), kwargs)

    # Calls that have no plan yet, or that compute on a device

    def call(self, args: Arguments, kwargs: Keywords) -> Operand:
        """Carry out a call that has no plan yet."""
        return self._call(args, kwargs, CPU)

    def call_new(self, args: Arguments) -> Operand:
        """Carry out a call with None in place of the operand that is written, into a new Mat."""
        assert self.result_of is not None
        if self.adapt is not None:
            args = self.adapt(args)
        now = _as_now(args)
        shape, dtype = self.result_of(*now)
        mats = [now[k] for k in self.others if isinstance(now[k], Mat)]
        form = (form_of_layout(of_result(shape, [x.layout for x in mats]), dtype)
                if self.of_elements else form_of_result(shape, dtype))
        out = form.new(mats[0].device_enabled, None)
        result = self.call_into(out, args)
        if self.by_form:
            given = (*now[:self.main], out, *now[self.main + 1:])
            node = self.walk(self.root, given, NO_KEYWORDS, False)
            self.remember(self.new_root, now, None, None if node is None else node.plan, form)
        return result

    def fits(self, out: MatBase, args: Arguments) -> bool:
        """Return whether `out` has the form of the result for `args`, with None in its place."""
        assert self.result_of is not None
        return self.result_of(*_as_now(args)) == (out.shape, out.dtype)

    def call_on(self, device: Device, args: Arguments, kwargs: Keywords) -> Operand:
        """Carry out a call that has no plan yet on a device."""
        if device.planner is not None:
            return device.planner(self, args, kwargs)
        return self._call(args, kwargs, device)

    def _call(self, args: Arguments, kwargs: Keywords, device: Device) -> Operand:
        """Check everything, plan, and run; remember the plan if its key says enough."""
        args, kwargs, now = self._checked(args, kwargs)
        if self._meets_read(now):
            return self._call_apart(args, kwargs)
        implementation, pack = choose(self, self.implementations, now, device, kwargs)
        if pack:
            for k in self.written:
                now[k].allowed(IO)
            result = self._call_packed(implementation, now, kwargs, device)
            return result if self.result is None else args[self.result]
        plan = self._planned(device, implementation, now, kwargs)
        with in_common_copies(plan.facet, [now[k] for k in self.written], now):
            return self.run_on(device, plan, args, kwargs)

    def _checked(self, args: Arguments, kwargs: Keywords) -> tuple[Arguments, Keywords, Arguments]:
        """Check everything; return arguments, keywords, and arguments with Mats as they are now."""
        if len(args) != self.arity:
            args, kwargs = self.bind_arguments(args, kwargs)
        if self.adapt is not None:
            args = self.adapt(args)
        for k in self.operands:
            if not isinstance(args[k], Mat):
                self.check_operand(k, args)
        types = self.number_types(args)
        for k, name in self.numbers:
            if types is None:
                check_number(args[k], args[self.main].element_type, name)
            else:
                check_exact(args[k], types[name], name)
        now = _as_now(args)
        self.check(*now, **kwargs)
        return args, kwargs, now

    def _meets_read(self, args: Arguments) -> bool:
        return self.meets_read is not None and self.meets_read(args)

    def _call_apart(self, args: Arguments, kwargs: Keywords) -> Operand:
        """Carry out checked arguments into a new Mat, and copy that to the one that is written."""
        out = args[self.main]
        made = form_of_result(out.shape, out.dtype).new(out.device_enabled, None)
        self(*args[:self.main], made, *args[self.main + 1:], **kwargs)
        out.assign_(made)
        return None if self.result is None else args[self.result]

    def _call_packed(self, implementation: Implementation, args: Arguments, kwargs: Keywords,
                     device: Device) -> Operand:
        """Run on packed copies of the operands that do not fit; return the result."""
        packed = {k: _packed(args[k]) for k in self.operands
                  if not implementation.fits_layout(args[k].layout)}
        inside = tuple(packed.get(k, v) for k, v in enumerate(args))
        plan = make_plan(self, implementation, inside, kwargs, device)
        result = self.run_on(device, plan, inside, kwargs)
        for k in self.written:
            if k in packed:
                args[k].assign_(packed[k])
        return result


def _as_now(args: Arguments) -> Arguments:
    """Return arguments with Mats of their present form, since other threads may change it."""
    found = {id(x): x._as_now() for x in args if isinstance(x, Mat)}
    return tuple([found.get(id(x), x) for x in args])


def note_packed(view: Mat) -> None:
    """Notify observers that the elements of `view` are copied because of its strides."""
    for observer in tuple(OBSERVERS):
        observer.packed(view)


def _packed(view: Mat) -> Mat:
    note_packed(view)
    return view.copy()


if TYPE_CHECKING:
    class TypedOp(Op, Generic[P, R]):
        """An operation whose parameters and result type checkers know."""

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...  # type: ignore[override]
        def new(self, args: Arguments) -> Mat: ...

    MatOp: TypeAlias = TypedOp[..., Mat]
else:
    TypedOp = MatOp = Op  # which costs nothing when it runs


@overload
def op(check: Callable[P, object], *, method: str | None = None, by_form: bool = False,
       name: str | None = None) -> TypedOp[P, Mat]: ...
@overload
def op(*, method: str | None = None, by_form: bool = False,
       name: str | None = None) -> Callable[[Callable[P, object]], TypedOp[P, Mat]]: ...
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
        Another name of the method, which no method of the library has; ``""`` for no method.
    by_form : bool
        Whether the check is run once for operands of the same shapes, strides and dtypes: it
        promises to depend on nothing else but keywords and which operands share a storage.
    name : str, optional
        The operation's name in messages, if it is not that of the function.

    Returns
    -------
    Op
        The operation, or without `check` a decorator that returns it.

    Raises
    ------
    DTypeError
        If no parameter is an operand, or the method would replace one of the library.

    Notes
    -----
    docs/extending.md declares operations step by step.
    """
    return Op(check, method, by_form,
              name) if check is not None else lambda check: Op(check, method, by_form, name)


def number_op(*, by_form: bool = False, method: str | None = None, name: str | None = None
              ) -> Callable[[Callable[P, object]], TypedOp[P, Number]]:
    """Return `op` with these settings, for an operation that returns a number."""
    return op(method=method, by_form=by_form, name=name)


def in_common_copies(facet: Facet, written: Sequence[Mat],
                     operands: Sequence[Operand]) -> AbstractContextManager[object]:
    """Return a block for a call that accesses its operands through `facet`.

    In it, operands that overlap one that is written share its copy, which has all elements from the
    first to the last that they see, and is accessed by the block.
    """
    found: list[Mat] = []
    for target in written if facet.of_device else ():
        storage = target.storage
        if storage.spans is None and not storage.wants_spans(facet.memory):
            continue
        views = [x for x in operands if isinstance(x, Mat) and x.size and x.storage is storage]
        least = min((target, *views), key=lambda x: x.itemsize)  # bounds are of its elements
        low, high = _joined(target, views, least.itemsize)
        if (low, high) != _bounds(target, least.itemsize):
            found.append(least.over(Layout((high - low,), (1,), low)))
    return _held(facet, found) if found else nullcontext()


@contextmanager
def _held(facet: Facet, mats: list[Mat]) -> Iterator[None]:
    """Access the copies of Mats, written in part by the call."""
    group = with_facets(*((x, facet, INPUT) for x in mats))
    with group:
        for access in group.accesses:
            if access.record is not None:
                access.record.only_holds = True
        yield


def _joined(target: Mat, views: Sequence[Mat], size: int) -> tuple[int, int]:
    """Return the common bounds of the views that overlap `target`, or each other there."""
    low, high = _bounds(target, size)
    for start, stop in sorted(_bounds(view, size) for view in views):
        if start < high and low < stop:
            low, high = min(low, start), max(high, stop)
    return low, high


def _bounds(view: Mat, size: int) -> tuple[int, int]:
    """Return the bounds of a view in elements of `size` bytes."""
    low, high = view.layout.bounds
    return low * view.itemsize // size, high * view.itemsize // size
