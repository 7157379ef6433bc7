"""Functions that are no methods of the classes that have them as attributes, as functions in C; and
signatures that are made when somebody asks for them, as ``help()`` does; docstrings of several.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import MappingProxyType
from typing import Any, TypeVar

from .native import core
from .types import Function

F = TypeVar("F", bound=Function)
# what passes calls on without making a dict for no keywords; compiled, also without a tuple
_Passing: Any = staticmethod if core is None else core.Relay


class Unbound(_Passing):  # type: ignore[misc]  # of which type checkers know nothing
    """A function that a class can have as an attribute without making it a method."""

    def __init__(self, function: Function) -> None:
        if core is None:
            super().__init__(function)
            self.__dict__.update(vars(function))  # such as its signature
        else:
            functools.update_wrapper(self, function)

    def __get__(self, instance: object, owner: type | None = None) -> Unbound:
        return self

    def __repr__(self) -> str:
        return f"<function {vars(self)['__name__']} of mat>"

    def __reduce__(self) -> str:
        return vars(self)["__qualname__"]


if core is not None:
    core.give_vectorcall(Unbound)


def unbound(function: F) -> F:
    """Return `function` as one that is no method of classes that have it as an attribute."""
    made: Any = Unbound(function)  # which has its signature
    return made


# There are hundreds of operations and methods whose signatures are shown otherwise than their
# functions have them; to make all of them would be a tenth of the time of ``import mat``


class DeferredSignature(inspect.Signature):
    """A signature made by `make()` at the first question."""

    __slots__ = ("_made", "make")

    def __init__(self, make: Callable[[], inspect.Signature]) -> None:
        self.make: Callable[[], inspect.Signature] = make
        self._made: inspect.Signature | None = None

    def made(self) -> inspect.Signature:
        """Return the signature itself."""
        if self._made is None:
            self._made = self.make()
        return self._made

    @property
    def parameters(self) -> MappingProxyType[str, inspect.Parameter]:
        """The parameters by name, as of any signature."""
        return self.made().parameters

    @property
    def return_annotation(self) -> Any:
        """The annotation of the result, as of any signature."""
        return self.made().return_annotation

    # the result is no deferred one
    def replace(self, **changes: Any) -> inspect.Signature:  # type: ignore[override]
        """Return a signature with changes, as any signature does."""
        return self.made().replace(**changes)

    __replace__ = replace  # type: ignore[assignment]

    def __reduce__(self) -> str | tuple[Any, ...]:
        return self.made().__reduce__()


def documented(template: str, **facts: str) -> Callable[[F], F]:
    """Return a decorator that gives functions which differ in a few facts one docstring."""
    def decorate(function: F) -> F:
        function.__doc__ = template.format(**facts)
        return function

    return decorate
