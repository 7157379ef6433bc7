"""Functions that are no methods of the classes that have them as attributes, as functions in C."""

from __future__ import annotations

from typing import Any, TypeVar

from .types import Function

F = TypeVar("F", bound=Function)


_Static: Any = staticmethod  # generic for type checkers only


class Unbound(_Static):  # type: ignore[misc]  # of which they know nothing then
    """A function that a class can have as an attribute without making it a method.

    A static method passes calls on without making a dict for no keywords.
    """

    def __init__(self, function: Function) -> None:
        super().__init__(function)
        own: dict[str, Any] = self.__dict__
        own.update(vars(function))  # such as its signature

    def __get__(self, instance: object, owner: type | None = None) -> Unbound:
        return self

    def __repr__(self) -> str:
        return f"<function {vars(self)['__name__']} of mat>"

    def __reduce__(self) -> str:
        return vars(self)["__qualname__"]


def unbound(function: F) -> F:
    """Return `function` as one that is no method of classes that have it as an attribute."""
    made: Any = Unbound(function)  # which has its signature
    return made
