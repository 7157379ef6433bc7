"""The registry of NumPy functions that operations of `mat` implement.

An implementation has NumPy's signature. Where it holds is said when it is registered: of a Mat, of
anything, or on a device only. It raises `LeftToNumPy` where NumPy means something else, or where
the operations of `mat` do not know the arguments; then NumPy computes on the host.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import FunctionType
from typing import Any, Final, Literal, TypeAlias, TypeVar, cast

import numpy as np

from ..support.types import Function, Operand

F = TypeVar("F", bound=Function)

Result: TypeAlias = Any  # of an implementation: Mats or a number
Casting: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "unsafe"]

IMPLEMENTATIONS: dict[object, Function] = {}  # by NumPy's function
# where these hold: 0 of anything, 1 where the first operand is a Mat, and -n where a device
# computes with the first n operands
HOLDS: dict[object, int] = {}
OF_MANY: set[object] = set()  # functions that NumPy computes faster for few elements
ON_HOST: set[object] = set()  # functions of which an implementation computes on the host only
# by a ufunc and the name of its method: what computes it while a device is in use
COMPOSED: dict[tuple[np.ufunc, str], Function] = {}
NO_VALUE: Final[Operand] = np._NoValue  # NumPy's default where None is a value


def flag(value: object) -> bool:
    """Return whether an argument such as `keepdims` is true; it is not where it was not given."""
    return value is not NO_VALUE and bool(value)


def numpy_function(name: str) -> Function | None:
    """Return NumPy's function of the dotted `name`, or None in versions that have none."""
    found: object = np
    for part in name.split("."):
        found = getattr(found, part, None)
    return found if callable(found) else None


def named(function: F, name: str) -> F:
    """Return a function under this name, by which messages about its arguments call it."""
    if not isinstance(function, FunctionType):
        return function
    found = FunctionType(function.__code__, function.__globals__, name, function.__defaults__,
                         function.__closure__)
    found.__qualname__ = name
    return cast("F", update_wrapper(found, function, ("__doc__", "__kwdefaults__", "__module__")))


def implements(*names: str, mats: int = 1, on_device: int = 0,
               of_many: bool = False) -> Callable[[F], F]:
    """Return a decorator that registers an implementation of NumPy's functions of these names.

    `mats`: the first operand has to be a Mat, or with 0 can be anything. `on_device`: a device has
    to compute with so many operands, from the first one on, which are converted to Mats.
    `of_many`: NumPy is faster for few elements, and computes them on the host.
    """
    def register(function: F) -> F:
        for name in names:
            found = numpy_function(name)
            if found is not None:
                IMPLEMENTATIONS[found] = named(function, found.__name__)
                HOLDS[found] = -on_device or mats
                if of_many:
                    OF_MANY.add(found)
        return function
    return register


def composes(*names: str, method: str = "__call__") -> Callable[[F], F]:
    """Return a decorator that registers the composition of NumPy's ufuncs of these names on
    devices.

    A call gets the operands, Mats and Python's numbers; another method, the ufunc, a Mat and the
    arguments that are not None.
    """
    def register(function: F) -> F:
        for name in names:
            found = numpy_function(name)
            if isinstance(found, np.ufunc):
                COMPOSED[found, method] = function
        return function
    return register
