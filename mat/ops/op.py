"""What an operation is: declared once, with the direction of each operand in its signature; one body for each facet.

The declared function only checks. `Op` does the rest: chooses the body, packs what it cannot take, looks at the operands in
their directions, hands the body that facet's engine, and returns the operand that was written.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from types import MethodType
from typing import Annotated, Any, NamedTuple

from ..cpu.ieee import QUIET, STATE
from ..cube import INPUT, IO, OBSERVERS, OUTPUT, Direction, Facet, Look, facet_named
from ..dtypes import check_number, check_operand
from ..errors import DTypeError
from ..layout import Layout
from ..mat import Mat


class Role(NamedTuple):
    """What a parameter is to its operation."""

    direction: Direction | None  # None: a number
    output_if_zero: str = ""  # the parameter whose being 0 turns ``io`` into ``output``
    or_number: bool = False


Input = Annotated[Mat, Role(INPUT)]
Output = Annotated[Mat, Role(OUTPUT)]
InOut = Annotated[Mat, Role(IO)]
Accumulated = Annotated[Mat, Role(IO, "beta")]  # ``y <- ... + beta y``: where beta is 0, only written
InputOrNumber = Annotated[Any, Role(INPUT, "", True)]
Scalar = Annotated[Any, Role(None)]
_ROLES = {"Input": Role(INPUT), "Output": Role(OUTPUT), "InOut": Role(IO), "Accumulated": Role(IO, "beta"),
          "InputOrNumber": Role(INPUT, "", True), "Scalar": Role(None)}


class Body(NamedTuple):
    """The code that does an operation's work through one facet, and which operands it can take."""

    facet: Facet
    function: Callable[..., Any]
    fits: Callable[[Layout], object] | None  # None: any strides
    dtypes: frozenset[str] | None  # None: all
    pack: bool  # rather pack operands than try another body


PREFERENCE = ("foreign", "array")  # the order in which facets of the host are tried
REGISTRY: dict[str, Op] = {}
_PICKING = frozenset(("m", "n", "k", "incx", "incy", "lda", "ldb", "ldc"))  # BLAS's names for using a part of an operand


class Op:
    """An operation. Call it; ``.bodies`` lists what can do the work; ``.on`` adds to that."""

    def __init__(self, check: Callable[..., Any], method: str | None) -> None:
        self.check = check
        self.__name__ = self.__qualname__ = check.__name__
        self.__module__ = check.__module__
        self.__doc__ = check.__doc__
        self.__wrapped__ = check
        self.__signature__ = signature = inspect.signature(check)
        self.bodies: list[Body] = []
        names = list(signature.parameters)
        self.positional = [n for n in names if signature.parameters[n].kind is not inspect.Parameter.KEYWORD_ONLY]
        self.arity = len(self.positional)
        self.roles = _roles(check)
        self.numbers = [(k, n) for k, n in enumerate(names) if n in self.roles and self.roles[n].direction is None]
        mats = [(k, self.roles[n]) for k, n in enumerate(self.positional)
                if n in self.roles and self.roles[n].direction is not None]
        self.operands = [k for k, _ in mats]
        self.entry = sorted(((k, r, r.direction) for k, r in mats), key=lambda e: e[2] is INPUT)  # writers first
        self.written = [k for k, r in mats if r.direction is not INPUT]
        self.result = self.written[-1] if self.written else None
        self.flexible = any(r.or_number for _, r in mats)
        self.zero_at = {r.output_if_zero: names.index(r.output_if_zero) for _, r in mats if r.output_if_zero}
        self.main = self.operands[-1]  # whose dtype numbers have to fit
        REGISTRY[f"{check.__module__.rpartition('.')[2]}.{check.__name__}"] = self
        if self.result is not None and method != "":
            setattr(Mat, method or check.__name__ + "_", self._as_method(self.result, method))

    def __repr__(self) -> str:
        return f"<operation {self.__name__}{self.__signature__}>"

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)  # this also makes help() treat us as a function

    def on(self, *facet_names: str, fits: Callable[[Layout], object] | None = None, dtypes: str | None = None,
           pack: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Register a body for facets. It is called with the facet's engine and the operands as presented.

        `fits` says which layouts it can take (None: any strides), `dtypes` for which dtype characters it is; with `pack`,
        operands that do not fit are copied rather than another body tried.
        """
        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            chars = None if dtypes is None else frozenset(dtypes)
            self.bodies += [Body(facet_named(n), function, fits, chars, pack) for n in facet_names]
            self.bodies.sort(key=lambda b: PREFERENCE.index(b.facet.name) if b.facet.name in PREFERENCE else -1)
            return function
        return register

    def body_on(self, facet: str) -> Body:
        """The body for the facet of that name."""
        return next(b for b in self.bodies if b.facet.name == facet)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) != self.arity:
            args, kwargs = self._bind(args, kwargs)
        for k in self.operands:
            if type(args[k]) is not Mat and not isinstance(args[k], Mat):
                self._check_operand(k, args)
        for k, name in self.numbers:
            if type(args[k]) is not float:
                check_number(args[k], args[self.main].storage.dtype, name)
        self.check(*args, **kwargs)
        for body in self.bodies:
            if body.fits is None and body.dtypes is None:
                return self.run(body, args, kwargs)
            if self._takes(body, args):
                return self.run(body, args, kwargs)
            if body.pack and self._takes_dtype(body, args):
                return self._run_packed(body, args, kwargs)
        raise DTypeError(f"{self.__name__} has no body for {', '.join(args[k].label() for k in self.operands)}")

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """All positional parameters as a tuple, the rest as keywords."""
        try:
            bound = self.__signature__.bind(*args, **kwargs)
        except TypeError as error:
            raise DTypeError(f"{self.__name__}{self.__signature__}: {error}") from None
        bound.apply_defaults()
        return bound.args, bound.kwargs

    def _check_operand(self, k: int, args: tuple[Any, ...]) -> None:
        name, value = self.positional[k], args[k]
        if self.roles[name].or_number:
            check_operand(value, _loosest(args, self.operands), name)
            return
        raise DTypeError(f"{name} of {self.__name__} must be a Mat, got {type(value).__name__}; "
                         f"mat.from_numpy(a) wraps an array without copying, mat.array(obj) copies")

    # Choosing

    def _takes_dtype(self, body: Body, args: tuple[Any, ...]) -> bool:
        dtypes = body.dtypes
        return dtypes is None or all(args[k].storage.dtype.char in dtypes for k in self.operands)

    def _takes(self, body: Body, args: tuple[Any, ...]) -> bool:
        fits, dtypes = body.fits, body.dtypes
        for k in self.operands:
            layout = args[k].layout
            if dtypes is not None and args[k].storage.dtype.char not in dtypes:
                return False
            if fits is not None and not layout.contiguous and not fits(layout):
                return False
        return True

    def _run_packed(self, body: Body, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run on packed copies of the operands that do not fit, and copy back those that are written."""
        fits = body.fits or (lambda layout: True)
        packed = {k: _packed(args[k]) for k in self.operands if not args[k].layout.contiguous and not fits(args[k].layout)}
        for k in self.written:
            args[k].allowed(IO)
        self.run(body, tuple(packed.get(k, v) for k, v in enumerate(args)), kwargs)
        for k in self.written:
            if k in packed:
                args[k].assign_(packed[k])
        return args[self.result] if self.result is not None else None

    # Running

    def run(self, body: Body, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Look at the operands in their directions, call `body`, commit; return the written operand or the result."""
        facet = body.facet
        values = list(args)
        looks: list[Look] = []
        first: Any = None
        try:
            for k, role, direction in self.entry:
                view = args[k]
                if direction is INPUT:
                    if view is first:
                        values[k] = values[self.entry[0][0]]
                        continue
                    if role.or_number and not isinstance(view, Mat):
                        continue
                    look = Look(view, facet, INPUT)
                else:
                    look = Look(view, facet, self._direction(k, role, args, kwargs))
                    first = view if first is None else first
                values[k] = view.storage.enter(look)
                looks.append(look)
        except BaseException:
            for look in reversed(looks):
                look.view.storage.undo(look)
            raise
        failed = True
        try:
            if facet.quiet:
                token = STATE.set(QUIET)
                try:
                    result = body.function(facet.engine, *values, **kwargs)
                finally:
                    STATE.reset(token)
            else:
                result = body.function(facet.engine, *values, **kwargs)
            failed = False
        finally:
            for look in reversed(looks):
                look.view.storage.leave(look, failed)
        return result if self.result is None else args[self.result]

    def _direction(self, k: int, role: Role, args: Sequence[Any], kwargs: dict[str, Any]) -> Direction:
        """How the written operand `k` is looked at: as declared, but ``io`` where it is not overwritten whole.

        That is so where keywords pick out a part of it, and where other operands read its storage.
        """
        view = args[k]
        direction: Direction = role.direction or IO
        if role.output_if_zero and args[self.zero_at[role.output_if_zero]] == 0:
            direction = OUTPUT
        if direction is OUTPUT and kwargs and not _PICKING.isdisjoint(kwargs):
            direction = IO
        direction = view.allowed(direction)
        if direction is OUTPUT:
            storage = view.storage
            for other in self.operands:
                if other != k and isinstance(args[other], Mat) and args[other].storage is storage:
                    return IO
        return direction

    def _as_method(self, at: int, name: str | None) -> Callable[..., Any]:
        """``y.axpy_(alpha, x)`` for ``axpy(alpha, x, y)``: the written operand is self, the others keep their order."""
        call = self.__call__

        def method(self: Mat, *args: Any, **kwargs: Any) -> Any:
            return call(*args[:at], self, *args[at:], **kwargs)

        given = list(self.__signature__.parameters.values())
        own = given[at].replace(name="self", kind=inspect.Parameter.POSITIONAL_ONLY, annotation=inspect.Parameter.empty)
        rest = [p.replace(default=p.default) for p in given[:at] + given[at + 1:]]
        method.__signature__ = inspect.Signature([own, *rest])  # type: ignore[attr-defined]  # functions take attributes
        return named(method, name or self.__name__ + "_", f"{self.__doc__}\n\nAs a method: `{self.positional[at]}` is self.")


def named(function: Callable[..., Any], name: str, doc: str) -> Callable[..., Any]:
    """`function` under another name and docstring."""
    function.__name__ = name
    function.__qualname__ = f"Mat.{name}"
    function.__module__ = "mat"
    function.__doc__ = inspect.cleandoc(doc)
    return function


def _roles(check: Callable[..., Any]) -> dict[str, Role]:
    """The role of each parameter that has one, from the annotations, which may be strings."""
    roles = {n: _role_of(hint) for n, hint in check.__annotations__.items()}
    return {n: role for n, role in roles.items() if role is not None}


def _role_of(hint: Any) -> Role | None:
    if isinstance(hint, str):
        return _ROLES.get(hint.rpartition(".")[2])
    return next((m for m in getattr(hint, "__metadata__", ()) if isinstance(m, Role)), None)


def _loosest(args: Sequence[Any], operands: list[int]) -> Any:
    """The dtype a number among the operands is checked against: that of the first Mat."""
    return next(args[k].storage.dtype for k in operands if isinstance(args[k], Mat))


def _packed(view: Mat) -> Mat:
    for observer in tuple(OBSERVERS):
        observer.packed(view)
    return view.copy()  # type: ignore[no-any-return]  # ops/ adds it


def op(check: Callable[..., Any] | None = None, *, method: str | None = None) -> Any:
    """Declare an operation: the decorated function's signature gives directions, its body only checks.

    The operation also becomes a method of `Mat` on its written operand, called like the function with an underscore;
    ``method=`` names it otherwise, ``method=""`` leaves it out.
    """
    return Op(check, method) if check is not None else lambda check: Op(check, method)
