"""Declarations of operations: the roles of parameters, which are the direction of each operand, the
numbers and the settings, read from the signature of the function that checks them; and that
signature as it is shown to people.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Annotated, NamedTuple

from ...core.direction import INPUT, IO, OUTPUT, Direction
from ...errors import DTypeError
from ...matrix.mat import Mat
from ...support.close_names import did_you_mean
from ...support.dtypes import check_operand
from ...support.types import Arguments, DType, Function, Keywords, Number, Operand
from ...support.unbound import DeferredSignature
from .calls import Calls


class Role(NamedTuple):
    """The use that an operation makes of a parameter."""

    direction: Direction | None  # None: a number
    output_if_zero: str = ""  # the parameter whose being 0 turns ``io`` into ``output``
    or_number: bool = False


# "Accumulated" is ``y <- ... + beta y``: where beta is 0, only written
_ROLES = {"Input": Role(INPUT), "Output": Role(OUTPUT), "InOut": Role(IO),
          "Accumulated": Role(IO, "beta"), "InputOrNumber": Role(INPUT, "", True),
          "Scalar": Role(None)}
Input = Annotated[Mat, _ROLES["Input"]]
Output = Annotated[Mat, _ROLES["Output"]]
InOut = Annotated[Mat, _ROLES["InOut"]]
Accumulated = Annotated[Mat, _ROLES["Accumulated"]]
InputOrNumber = Annotated[Operand, _ROLES["InputOrNumber"]]
Scalar = Annotated[Number, _ROLES["Scalar"]]


def named(function: Function, name: str, doc: str) -> Function:
    """Give a function another name and docstring, and return it."""
    function.__name__ = name
    function.__qualname__ = f"Mat.{name}"
    function.__module__ = "mat"
    function.__doc__ = unindented(doc)
    vars(function)["__signature__"] = _signature_of_named(function)
    return function


def _signature_of_named(function: Function) -> inspect.Signature:
    """Return the signature as it is shown, made later where it can be had again."""
    given: inspect.Signature | None = vars(function).get("__signature__")
    if given is not None:
        return DeferredSignature(lambda: readable(given, {}))
    if not isinstance(function, FunctionType):
        return readable(inspect.signature(function), {})
    return DeferredSignature(lambda: readable(inspect.signature(_alone(function)), {}))


def _alone(function: FunctionType) -> FunctionType:
    """Return the same function without its attributes."""
    found = FunctionType(function.__code__, function.__globals__, function.__name__,
                         function.__defaults__, function.__closure__)
    found.__kwdefaults__, found.__annotations__ = function.__kwdefaults__, function.__annotations__
    return found


def unindented(doc: str) -> str:
    """Return a docstring as `inspect.cleandoc` does, sooner."""
    if "\t" in doc:
        return inspect.cleandoc(doc)
    margin = len(doc)
    for line in doc.split("\n")[1:]:
        if line and not line.isspace():
            margin = min(margin, len(line) - len(line.lstrip(" ")))
            if not margin:
                return doc.strip()
    return doc.replace("\n" + " " * margin, "\n").strip()


def method_like(function: object, method: Function, name: str, operand: str) -> Function:
    """Return `method` under that name, with the docstring of `function`; `operand` is self."""
    summary, _, more = unindented(function.__doc__ or "").partition("\n\n")
    doc = f"{summary}\n\nAs a method: `{operand}` is self."
    return named(method, name, f"{doc}\n\n{more}" if more else doc)


def with_self(signature: inspect.Signature, at: int) -> inspect.Signature:
    """Return the signature of a method: the parameter at position `at` is self."""
    given = list(signature.parameters.values())
    own = given[at].replace(name="self", kind=inspect.Parameter.POSITIONAL_ONLY,
                            annotation=inspect.Parameter.empty)
    return signature.replace(parameters=[own, *given[:at], *given[at + 1:]])


def as_method(function: Function, name: str, operand: str) -> Function:
    """Return a function as the method `name`: its parameter `operand` is self."""
    at: int = function.__code__.co_varnames.index(operand)

    def method(self: object, *args: object, **kwargs: object) -> object:
        if len(args) < at:  # some are given by name
            return function(*args, **{operand: self}, **kwargs)
        return function(*args[:at], self, *args[at:], **kwargs)

    vars(method)["__signature__"] = DeferredSignature(
        lambda: with_self(inspect.signature(function), at))
    return method_like(function, method, name, operand)


class Word(str):
    """An annotation as help() shows it: a word without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def readable(signature: inspect.Signature, roles: dict[str, Role]) -> inspect.Signature:
    """Return `signature` for people: roles by their names, without the return type of the check."""
    names = {role: Word(name) for name, role in _ROLES.items()}
    shown = [p.replace(annotation=names[roles[p.name]] if p.name in roles else
                       Word(p.annotation) if isinstance(p.annotation, str) else p.annotation)
             for p in signature.parameters.values()]
    return signature.replace(parameters=shown, return_annotation=inspect.Signature.empty)


def roles_of(check: Function) -> dict[str, Role]:
    """Return the role of each parameter that has one; annotations may be strings."""
    roles = {n: _role_of(hint, check) for n, hint in check.__annotations__.items()}
    return {n: role for n, role in roles.items() if role is not None}


def _role_of(hint: object, check: Function) -> Role | None:
    if isinstance(hint, str):
        hint = hint.strip("'\"")  # of a string in a string
        role = _ROLES.get(hint.rpartition(".")[2])
        if role is not None or check.__module__.startswith("mat."):  # ours have no other names
            return role
        hint = _meant(hint, check)
    return next((m for m in getattr(hint, "__metadata__", ()) if isinstance(m, Role)), None)


def _meant(hint: str, check: Function) -> object:
    """Return the value of a string annotation in the module of `check`; None if it has none."""
    try:
        return eval(hint, getattr(inspect.unwrap(check), "__globals__", {}))
    except Exception:  # a name for type checkers only, or of a function around it
        return None


# Parameters


# BLAS's names for using a part of an operand
_PARTS = frozenset(("m", "n", "k", "incx", "incy", "lda", "ldb", "ldc"))


def is_largest(args: Arguments, k: int) -> bool:
    """Return whether no operand is larger than operand `k`, and so read many times."""
    size: int = args[k].size
    return all(x.size <= size for x in args if isinstance(x, Mat))


class Parameters:
    """The parameters of a check by their positions in a call, and their roles; never changed."""

    def __init__(self, check: Function) -> None:
        self.positional = _positional(check)
        self.roles = roles_of(check)
        directions = {k: self.roles[n].direction for k, n in enumerate(self.positional)
                      if n in self.roles}
        self.numbers = [(k, self.positional[k]) for k, d in directions.items() if d is None]
        self.at_numbers = tuple(k for k, _ in self.numbers)
        self.operands = [k for k, d in directions.items() if d is not None]
        self.written = [k for k in self.operands if directions[k] is not INPUT]
        # such as an axis: part of a plan's key
        self.settings = tuple(k for k in range(len(self.positional)) if k not in directions)
        conditions = [r.output_if_zero for r in self.roles.values() if r.output_if_zero]
        if conditions and conditions[0] not in self.positional:
            raise DTypeError(f"{check.__name__} has an operand that is Accumulated, and no "
                             f"parameter {conditions[0]!r}: where that is 0 it is not read")
        # the number whose being 0 matters
        self.zero_at = self.positional.index(conditions[0]) if conditions else -1


# by what says them of checks of `mat`, their code and annotations: many operations have the same
_PARAMETERS: dict[object, Parameters] = {}


def parameters_of(check: Function) -> Parameters:
    """Return the parameters of a check."""
    code = getattr(check, "__code__", None)
    if code is None or vars(check) or not (check.__module__ or "").startswith("mat."):
        return Parameters(check)
    key = code, *check.__annotations__.items()
    if key not in _PARAMETERS:
        _PARAMETERS[key] = Parameters(check)
    return _PARAMETERS[key]


class Declaration(Calls):
    """The parameters of an operation and their roles, by their positions in a call."""

    __name__: str

    def __init__(self, check: Function, name: str | None) -> None:
        self.check = check
        self.__name__ = self.__qualname__ = name or check.__name__
        self.__module__ = check.__module__ or "__main__"
        self.__doc__ = check.__doc__
        self.__wrapped__ = check
        found = parameters_of(check)
        self.positional: list[str] = found.positional
        self.roles: dict[str, Role] = found.roles
        self.numbers: list[tuple[int, str]] = found.numbers
        self.at_numbers: tuple[int, ...] = found.at_numbers
        self.operands: list[int] = found.operands
        self.written: list[int] = found.written
        self.result: int | None = self.written[-1] if self.written else None
        self.__signature__: DeferredSignature = DeferredSignature(
            lambda: readable(inspect.signature(check), found.roles))
        # what the host waits for in a call on a device; "": nothing
        self.waits_for: str = "" if self.written else f"the result of {self.__name__}"
        if not self.operands:
            raise DTypeError(f"{self.__name__}{self.__signature__} has no operand; annotate "
                             "parameters, in the function's module by the names Input, Output or "
                             "InOut of mat.extend")
        # of operations that read operands once: whether a call does so at that position
        self.once: Callable[[Arguments, int], bool] = is_largest
        self.set_positions(len(self.positional), self.operands[-1], tuple(self.operands[:-1]),
                           found.settings, found.zero_at)

    def role(self, k: int) -> Role:
        """Return the role of parameter `k`."""
        return self.roles[self.positional[k]]

    def direction(self, k: int, args: Arguments, kwargs: Keywords) -> Direction:
        """Return the direction of operand `k`: ``io`` for an output of a part of a storage."""
        view = args[k]
        direction = view.allowed(self.declared_direction(k, args))
        shared = any(j != k and isinstance(args[j], Mat) and args[j].storage is view.storage
                     for j in self.operands)
        partly = shared or not _PARTS.isdisjoint(kwargs)
        return IO if direction is OUTPUT and partly else direction

    def number_types(self, args: Arguments) -> dict[str, DType] | None:
        """Return the dtypes of numbers by name; None where it is that of the main operand."""
        return None

    def declared_direction(self, k: int, args: Arguments) -> Direction:
        """Return the direction of operand `k` as it is declared, with these numbers."""
        role = self.role(k)
        if role.output_if_zero and args[self.zero_at] == 0:
            return OUTPUT
        return role.direction or IO

    def read_once(self, args: Arguments) -> list[int]:
        """Return the positions of the operands whose elements a call reads about once each."""
        if not self.reads_once:
            return []
        return [k for k in self.operands if isinstance(args[k], Mat) and self.once(args, k)]

    def bind_arguments(self, args: Arguments, kwargs: Keywords) -> tuple[Arguments, Keywords]:
        """Return all positional parameters as a tuple, and the keywords that were given."""
        try:
            bound = self.__signature__.bind(*args, **kwargs)
        except TypeError:
            raise DTypeError(self._wrong_arguments(args, kwargs)) from None
        given = dict(bound.kwargs)
        bound.apply_defaults()
        return bound.args, given

    def _wrong_arguments(self, args: Arguments, kwargs: Keywords) -> str:
        """Return a description of missing, superfluous or unknown arguments."""
        call = f"{self.__name__}({', '.join(self.positional)})"
        named = [n for n in self.__signature__.parameters if n not in self.positional]
        if len(args) > self.arity:
            rest = f"; by name it takes {', '.join(named)}" if named else ""
            return f"{call} takes {self.arity} arguments by position, got {len(args)}{rest}"
        for name in kwargs:
            if name not in self.__signature__.parameters:
                close = did_you_mean(name, [*self.positional, *named])
                return f"{call} takes no argument {name!r}{close}"
            if name in self.positional[:len(args)]:
                return f"{call} got {name!r} twice, by position and by name"
        missing = [n for n in self.positional[len(args):] if n not in kwargs]
        return f"{call} is called without {' and '.join(missing)}"

    def check_operand(self, k: int, args: Arguments) -> None:
        """Raise `DTypeError` unless operand `k`, not a Mat, is a number where one is allowed."""
        name, value = self.positional[k], args[k]
        if self.roles[name].or_number:
            first = next(args[j] for j in self.operands if isinstance(args[j], Mat))
            check_operand(value, first.element_type, name)
            return
        raise DTypeError(f"{name} of {self.__name__} must be a Mat, got {type(value).__name__}; "
                         f"mat.from_numpy(a) wraps an array without copying, mat.array(obj) copies")

    # Documentation

    def as_method(self, operation: Function, at: int, name: str | None) -> Function:
        """Return ``y.axpy_(alpha, x)`` for ``axpy(alpha, x, y)``: the operand at `at` is self."""
        def method(self: Mat, *args: object, **kwargs: object) -> object:
            return operation(*args[:at], self, *args[at:], **kwargs)

        def method_at_end(self: Mat, *args: object, **kwargs: object) -> object:
            return operation(*args, self, **kwargs)

        return self.documented(method_at_end if at == self.arity - 1 else method, at, name)

    def documented(self, method: Function, at: int = -1, name: str | None = None) -> Function:
        """Return `method` with the operation's name, signature and doc; operand `at` is self."""
        at %= self.arity
        vars(method)["__signature__"] = DeferredSignature(lambda: with_self(self.__signature__, at))
        return method_like(self, method, name or self.__name__ + "_", self.positional[at])


def _positional(check: Function) -> list[str]:
    """Return the names of the parameters that a call can give by position."""
    code = getattr(check, "__code__", None)
    if code is not None and "__signature__" not in vars(check):
        return list(code.co_varnames[:code.co_argcount])
    return [n for n, p in inspect.signature(check).parameters.items()
            if p.kind is not inspect.Parameter.KEYWORD_ONLY]
