"""Methods of Mats while a program runs: they print as NumPy's arrays do, results without axes are
numbers on the host, and elements that Mats cannot have are given in NumPy's arrays.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from ..core.compiled import IN_USE, RelayMethod
from ..errors import MatError
from ..matrix.mat import Mat
from ..matrix.operators import OPERATORS, UNCHANGING
from ..support.types import Arguments, Function, Keywords, Operand
from .fallback import OURS, by_numpy

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
