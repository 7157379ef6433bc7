"""Functions and methods of `mat` while a NumPy program runs: calls that Mats refuse, as of texts,
dates, objects and structured elements, fall back to NumPy's, and are counted; Mats print as NumPy's
arrays do, and results without axes are numbers on the host.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from .. import errors
from ..core.compiled import IN_USE, Relay, RelayMethod
from ..core.export import KEPT_BY_EXPORTS
from ..core.source_line import warn
from ..errors import MatError, PerformanceWarning
from ..matrix.delegate import delegate
from ..matrix.mat import Mat
from ..matrix.operators import OPERATORS, UNCHANGING
from ..ops.engine.by_numpy import KEPT
from ..support.types import Arguments, Function, Keywords, Operand

# errors that NumPy's function would not prevent
OURS = (errors.ConflictError, errors.DeviceError, errors.DiskError, errors.GraphError,
        errors.KernelError, errors.LinAlgError, errors.TornError, errors.UninitialisedError)
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
    found = delegate(function, args, kwargs, name=name)
    # without axes NumPy's scalar, unless a device is in use
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
    """Return a ufunc of `mat` as a function, with NumPy's for calls that it refuses."""
    call = function_of(name, ours, numpys, numbers=True, kind=Relay)
    for attribute in (a for a in dir(numpys) if not a.startswith("_")):
        theirs = getattr(numpys, attribute)
        found = getattr(ours, attribute, theirs)
        call.__dict__[attribute] = found if not callable(found) else function_of(
            f"{name}.{attribute}", found, theirs, numbers=True)
    return call


# Methods


_NUMBERS = ("all", "any", "argmax", "argmin", "dot", "max", "mean", "min", "prod", "std", "sum",
            "trace", "var")
_CONVERSIONS = ("astype", "view")
_PRODUCTS = ("__matmul__", "__rmatmul__")
_TESTS = {"__eq__": operator.eq, "__ne__": operator.ne}


@contextmanager
def as_in_numpy() -> Iterator[None]:
    """Give Mats NumPy's ways in this block."""
    changes: dict[str, Any] = {"__repr__": _repr, "__str__": _str, "__format__": _format}
    changes |= {name: _AtFirstUse(name, _number) for name in _NUMBERS}
    changes |= {name: _AtFirstUse(name, _conversion) for name in _CONVERSIONS}
    before = {name: vars(Mat)[name] for name in changes if name in vars(Mat)}
    for name, change in changes.items():
        setattr(Mat, name, change)
    for name, numpys in _TESTS.items():
        OPERATORS[name].refused = partial(_test, name, numpys)
    for name in _PRODUCTS:
        OPERATORS[name].gives_numbers = True
    if IN_USE:  # on the host they are NumPy's scalars
        UNCHANGING.append(changes)
    try:
        yield
    finally:
        UNCHANGING[:] = [item for item in UNCHANGING if item is not changes]
        for name in _TESTS:
            OPERATORS[name].refused = None
        for name in _PRODUCTS:
            OPERATORS[name].gives_numbers = False
        for name in changes:
            if name in before:
                setattr(Mat, name, before[name])
            else:
                delattr(Mat, name)


def _shown(self: Mat) -> Any:
    """Return the elements as NumPy prints them, None if there are none to be had."""
    if self._is_closed():
        return None
    self.storage.settle_pending(False)
    a = self._peek()
    return None if a is None else a[()]


_plain_repr, _plain_format = Mat.__repr__, Mat.__format__


def _repr(self: Mat) -> str:
    a = _shown(self)
    return _plain_repr(self) if a is None else repr(a)


def _str(self: Mat) -> str:
    a = _shown(self)
    return _plain_repr(self) if a is None else str(a)


def _format(self: Mat, spec: str) -> str:
    return _plain_format(self, spec) if spec else _str(self)


class _AtFirstUse:
    """Stands for a method until it is used: what computes it may still be imported only then."""

    def __init__(self, name: str, change: Function) -> None:
        self.name, self.change = name, change

    def __get__(self, instance: Mat | None, owner: type[Mat]) -> Any:
        changed: Any = self.change(getattr(super(Mat, owner), self.name))
        setattr(Mat, self.name, changed)
        return changed.__get__(instance, owner)


def _number(plain: Function) -> Function:
    """Return a method with numbers for results without axes."""
    return _described(RelayMethod(plain, Mat, Mat._as_number), plain)


def _conversion(plain: Function) -> Function:
    """Return a method that gives NumPy's array where no Mat has the elements."""
    name = plain.__name__

    def numpys(args: Arguments, kwargs: Keywords) -> Operand:
        return by_numpy(name, lambda a, *others, **named: getattr(np.array(a), name)(
            *others, **named), args, kwargs)

    return _described(RelayMethod(plain, None, None, OURS, (MatError,), numpys), plain)


def _described(method: Function, plain: Function) -> Function:
    method.__dict__.update(__name__=plain.__name__, __doc__=plain.__doc__,
                           __qualname__=f"Mat.{plain.__name__}")
    return method


def _test(name: str, numpys: Function, x: Mat, y: Operand) -> Operand:
    """Compare with a text or None element by element, as NumPy does."""
    if y is None or isinstance(y, str):
        return by_numpy(name, numpys, (x, y), {})
    return NotImplemented
