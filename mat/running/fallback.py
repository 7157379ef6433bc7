"""Calls that fall back to NumPy's functions and arrays, counted: of texts, dates, objects and
structured elements, and whatever else Mats refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from ..core.compiled import Relay, RelayMethod
from ..core.export import KEPT_BY_EXPORTS
from ..core.source_line import warn
from ..errors import (
    ConflictError,
    DeviceError,
    DiskError,
    GraphError,
    KernelError,
    LinAlgError,
    MatError,
    PerformanceWarning,
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

_PLACE = f"{__name__.rpartition('.')[0]}.stand_in"  # where pickles find functions
EXPORTED = "a copy of what a library has"  # among the names that are counted
_counters: list[Counter] = []


@contextmanager
def falling_back(counted: Counter) -> Iterator[None]:
    """Return NumPy's arrays for results that no Mat can be, and count them, in this block."""
    _counters.append(counted)
    KEPT.append(_count)
    KEPT_BY_EXPORTS.append(_count_export)
    try:
        yield
    finally:
        _counters.remove(counted)
        KEPT.remove(_count)
        KEPT_BY_EXPORTS.remove(_count_export)


def _count(name: str) -> None:
    for counted in tuple(_counters):
        counted(name)


def _count_export() -> None:
    _count(EXPORTED)
    warn("an array is written that a library still has: it keeps the former elements",
         PerformanceWarning)


def by_numpy(name: str, function: Function, args: Arguments, kwargs: Keywords) -> Operand:
    """Return the result of NumPy's function, with Mats for arrays that can be Mats."""
    _count(name)
    return as_number(delegate(function, args, kwargs, name=name))


def as_number(found: Operand) -> Operand:
    """Return a result without axes as NumPy's scalar, unless a device is in use."""
    return found._as_number() if type(found) is Mat else found


def function_of(name: str, ours: Function, numpys: Function, *, numbers: bool,
                kind: Any = RelayMethod) -> Function:
    """Return `ours` with NumPy's function for calls that it refuses.

    With `numbers`, results without axes are numbers on the host, as NumPy's are. A `kind` of
    `Relay` is no method as an attribute of a class, as NumPy's ufuncs are none.
    """
    result = Mat._as_number if numbers else Mat._as_array
    call: Function = kind(ours, Mat, result, OURS, (MatError,), partial(by_numpy, name, numpys))
    call.__dict__.update(__name__=name.rpartition(".")[2], __qualname__=name, __module__=_PLACE,
                         __doc__=numpys.__doc__, __wrapped__=numpys)
    return call


def ufunc_of(name: str, ours: Any, numpys: np.ufunc) -> Function:
    """Return a ufunc of `mat` with NumPy's for calls that it refuses, as a function with the
    attributes of a ufunc.
    """
    call = function_of(name, ours, numpys, numbers=True, kind=Relay)
    for attribute in (a for a in dir(numpys) if not a.startswith("_")):
        theirs = getattr(numpys, attribute)
        found = getattr(ours, attribute, theirs)
        call.__dict__[attribute] = found if not callable(found) else function_of(
            f"{name}.{attribute}", found, theirs, numbers=True)
    return call
