"""Methods of Mats while a program runs: they print as NumPy's arrays do, results without axes are
numbers on the host, and elements that Mats cannot have are given in NumPy's arrays.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..core.compiled import IN_USE
from ..errors import MatError
from ..matrix.mat import Mat
from ..matrix.operators import UNCHANGING
from ..support.types import Function, Operand
from .fallback import OURS, as_number, by_numpy

_NUMBERS = ("all", "any", "argmax", "argmin", "dot", "max", "mean", "min", "prod", "std", "sum",
            "trace", "var", "__matmul__", "__rmatmul__")
_CONVERSIONS = ("astype", "view")
_TESTS = {"__eq__": operator.eq, "__ne__": operator.ne}


@contextmanager
def as_in_numpy() -> Iterator[None]:
    """Give Mats NumPy's ways in this block."""
    changes: dict[str, Any] = {"__repr__": _repr, "__str__": _str, "__format__": _format}
    changes |= {name: _number(getattr(Mat, name)) for name in _NUMBERS}
    changes |= {name: _conversion(name, getattr(Mat, name)) for name in _CONVERSIONS}
    changes |= {name: _test(name, getattr(Mat, name), f) for name, f in _TESTS.items()}
    changes["__hash__"] = Mat.__hash__
    before = {name: vars(Mat)[name] for name in changes if name in vars(Mat)}
    for name, change in changes.items():
        setattr(Mat, name, change)
    if IN_USE:  # on the host they are NumPy's scalars
        UNCHANGING.append(changes)
    try:
        yield
    finally:
        UNCHANGING[:] = [item for item in UNCHANGING if item is not changes]
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


def _number(plain: Function) -> Function:
    """Return a method with numbers for results without axes."""
    def method(self: Mat, *args: Operand, **kwargs: Operand) -> Operand:
        return as_number(plain(self, *args, **kwargs))

    return _described(method, plain)


def _conversion(name: str, plain: Function) -> Function:
    """Return a method that gives NumPy's array where no Mat has the elements."""
    def method(self: Mat, *args: Operand, **kwargs: Operand) -> Operand:
        try:
            return plain(self, *args, **kwargs)
        except OURS:
            raise
        except MatError:
            pass
        return by_numpy(name, lambda a: getattr(np.array(a), name)(*args, **kwargs), (self,), {})

    return _described(method, plain)


def _test(name: str, plain: Function, numpys: Function) -> Function:
    """Return a comparison that compares with texts and None element by element, as NumPy's does."""
    def method(self: Mat, other: Operand) -> Operand:
        found = plain(self, other)
        if found is NotImplemented and (other is None or isinstance(other, str)):
            return by_numpy(name, numpys, (self, other), {})
        return found

    return _described(method, plain)


def _described(method: Function, plain: Function) -> Function:
    method.__name__, method.__doc__ = plain.__name__, plain.__doc__
    method.__qualname__ = f"Mat.{plain.__name__}"
    return method
