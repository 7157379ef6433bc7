"""The methods of `Mat` that are implemented elsewhere.

Operations, files and other libraries implement them; the file that implements a method binds it
with `bind` or `method`, when it is first used (by the tables in ``mat/__init__.py``). The stub
``methods.pyi``, made of what is bound (``tests/types/method_stubs.py``), declares them for type
checkers. ``help(x.exp_)`` shows the documentation, which the implementation has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..support.plugins import AttributeAtFirstUse, loaded_plugin, plugin
from ..support.types import Function, Operand
from .operators import OPERATORS

F = TypeVar("F", bound=Function)


class Methods:
    """The methods of `Mat`, which inherits from this class; implementations are bound to it."""

    __slots__ = ()


def bind(name: str, function: Any) -> None:
    """Make `function`, or a property, the method `name` of every `Mat`."""
    if name in OPERATORS:
        OPERATORS[name].function = function
    else:
        setattr(Methods, name, function)


class _MadeAtFirstUse:
    """Stands for a method of Mats that `make` returns when it is first used."""

    def __init__(self, name: str, make: Callable[[], Function]) -> None:
        self.name: str = name
        self.make: Callable[[], Function] = make

    def __get__(self, instance: object, owner: type) -> Any:
        bind(self.name, self.make())
        return vars(Methods)[self.name].__get__(instance, owner)


def bind_later(name: str, make: Callable[[], Function]) -> None:
    """Make the result of `make` the method `name` of every `Mat`, when that is first used."""
    setattr(Methods, name, _MadeAtFirstUse(name, make))


def method(name: str) -> Callable[[F], F]:
    """Return a decorator that makes a function the method `name` of every `Mat`."""
    def decorate(function: F) -> F:
        bind(name, function)
        return function
    return decorate


def _operator_at_first_use(module: str, name: str) -> Function:
    """Return a function of an operator that imports the plugin that binds the operator's own."""
    def operate(*operands: Operand) -> Any:
        plugin(module)
        function: Any = OPERATORS[name].function
        return function(*operands)

    return operate


def bind_at_first_use(module: str, *names: str) -> None:
    """Import a module when one of the methods that it binds is first used."""
    for name in names if loaded_plugin(module) is None else ():
        bind(name, _operator_at_first_use(module, name) if name in OPERATORS else
             AttributeAtFirstUse(module, name, Methods))
