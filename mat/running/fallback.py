"""Calls that fall back to NumPy's functions and arrays, counted: of texts, dates, objects and
structured elements, and whatever else Mats refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..core.compiled import IN_USE
from ..errors import (
    ConflictError,
    DeviceError,
    DiskError,
    GraphError,
    KernelError,
    LinAlgError,
    MatError,
    TornError,
    UninitialisedError,
)
from ..matrix.delegate import delegate
from ..matrix.mat import Mat
from ..ops.engine.by_numpy import KEPT
from ..support.types import Arguments, Function, Keywords, Operand

# errors that NumPy's function would not prevent
OURS = (ConflictError, DeviceError, DiskError, GraphError, KernelError, LinAlgError, TornError,
        UninitialisedError)
Counter = Callable[[str], object]  # is given the name of a function that NumPy carries out

_counters: list[Counter] = []


@contextmanager
def falling_back(counted: Counter) -> Iterator[None]:
    """Have NumPy's arrays for results that Mats cannot be, and count them, in this block."""
    _counters.append(counted)
    KEPT.append(_count)
    try:
        yield
    finally:
        _counters.remove(counted)
        KEPT.remove(_count)


def _count(name: str) -> None:
    for counted in tuple(_counters):
        counted(name)


def by_numpy(name: str, function: Function, args: Arguments, kwargs: Keywords) -> Operand:
    """Return the result of NumPy's function, with Mats for arrays that can be Mats."""
    _count(name)
    return as_number(delegate(function, args, kwargs, name=name))


def as_number(found: Operand) -> Operand:
    """Return a result without axes as NumPy's scalar, unless a device is in use."""
    if type(found) is Mat and not found.layout.shape and not IN_USE:
        return found.to_numpy()[()]
    return found


def function_of(name: str, ours: Function, numpys: Function, *, numbers: bool) -> Function:
    """Return `ours` with NumPy's function for calls that it refuses.

    With `numbers`, results without axes are numbers on the host, as NumPy's are.
    """
    def call(*args: Operand, **kwargs: Operand) -> Operand:
        try:
            found = ours(*args, **kwargs)
        except OURS:
            raise
        except MatError:
            found = None
        else:
            if type(found) is not Mat or found.layout.shape:
                return found
            if numbers:
                return as_number(found)
            found.is_view = True  # an array, which can be written, not a number
            return found
        return by_numpy(name, numpys, args, kwargs)

    call.__name__ = call.__qualname__ = name.rpartition(".")[2]
    call.__module__ = getattr(numpys, "__module__", None) or "numpy"
    call.__doc__ = numpys.__doc__
    call.__dict__["__wrapped__"] = numpys
    return call


class FallingBackUfunc:
    """A ufunc of `mat` with NumPy's for calls that it refuses."""

    def __init__(self, name: str, ours: Any, numpys: np.ufunc) -> None:
        self.__name__ = self.__qualname__ = name
        self.__doc__ = numpys.__doc__
        self.ours = ours
        self.numpys = numpys
        self.call = function_of(name, ours, numpys, numbers=True)

    def __call__(self, *args: Operand, **kwargs: Operand) -> Operand:
        return self.call(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.numpys, name)
        ours = getattr(self.ours, name, found)
        if not callable(ours):
            return ours
        made = function_of(f"{self.__name__}.{name}", ours, found, numbers=True)
        self.__dict__[name] = made
        return made

    def __repr__(self) -> str:
        return repr(self.numpys)

    def __reduce__(self) -> tuple[Function, Arguments]:
        return getattr, (np, self.__name__)
