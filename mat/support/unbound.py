"""Functions that are no methods of the classes that have them as attributes, as functions in C."""

from __future__ import annotations

import functools
from typing import Any, TypeVar

from .types import Function, Operand

F = TypeVar("F", bound=Function)


class Unbound:
    """A function that a class can have as an attribute without making it a method."""

    def __init__(self, function: Function) -> None:
        self.function: Function = function
        functools.update_wrapper(self, function)

    def __call__(self, *args: Operand, **kwargs: Operand) -> Operand:
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<function {vars(self)['__name__']} of mat>"

    def __reduce__(self) -> str:
        name: str = vars(self)["__qualname__"]
        return name


def unbound(function: F) -> F:
    """Return `function` as one that is no method of classes that have it as an attribute."""
    made: Any = Unbound(function)  # which has its signature
    found: F = made
    return found
