"""The roles of an operation's parameters, as its signature gives them, and the signature as it is
shown to people.
"""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import Annotated, NamedTuple

from ...core.direction import INPUT, IO, OUTPUT, Direction
from ...matrix.mat import Mat
from ...support.types import Function, Number, Operand
from ...support.unbound import DeferredSignature


class Role(NamedTuple):
    """The use that an operation makes of a parameter."""

    direction: Direction | None  # None: a number
    output_if_zero: str = ""  # the parameter whose being 0 turns ``io`` into ``output``
    or_number: bool = False


Input = Annotated[Mat, Role(INPUT)]
Output = Annotated[Mat, Role(OUTPUT)]
InOut = Annotated[Mat, Role(IO)]
# ``y <- ... + beta y``: where beta is 0, only written
Accumulated = Annotated[Mat, Role(IO, "beta")]
InputOrNumber = Annotated[Operand, Role(INPUT, "", True)]
Scalar = Annotated[Number, Role(None)]
_ROLES = {"Input": Role(INPUT), "Output": Role(OUTPUT), "InOut": Role(IO),
          "Accumulated": Role(IO, "beta"),
          "InputOrNumber": Role(INPUT, "", True), "Scalar": Role(None)}


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
