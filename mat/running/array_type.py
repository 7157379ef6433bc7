"""`numpy.ndarray` as a program sees it: Mats and NumPy's arrays are instances of it, and subclasses
are NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable
from types import GenericAlias
from typing import Any

import numpy as np

from ..errors import MatError
from ..matrix.mat import Mat
from ..support.types import Operand


class _ArrayType(type):
    """The class of `ndarray`."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any],
                **kwargs: Any) -> Any:
        if not any(isinstance(base, _ArrayType) for base in bases):
            return super().__new__(cls, name, bases, namespace)
        plain = tuple(np.ndarray if isinstance(base, _ArrayType) else base for base in bases)
        return type(plain[0])(name, plain, namespace, **kwargs)

    def __instancecheck__(cls, thing: object) -> bool:
        return isinstance(thing, (Mat, np.ndarray))

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, (Mat, np.ndarray)) or kind is cls

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is Mat or other is np.ndarray

    def __hash__(cls) -> int:
        return hash(Mat)

    def __call__(cls, *args: Operand, **kwargs: Operand) -> Operand:
        try:
            return Mat(*args, **kwargs)
        except MatError:
            return np.ndarray(*args, **kwargs)

    def __getattr__(cls, name: str) -> Any:
        return _method(name)

    def __repr__(cls) -> str:
        return repr(np.ndarray)


def _method(name: str) -> Any:
    """Return a method for calls by the class; what is no method is NumPy's."""
    numpys = getattr(np.ndarray, name)
    # hasattr would import what Mats import at the first use of a method
    if not callable(numpys) or not any(name in vars(kind) for kind in Mat.__mro__):
        return numpys

    def call(self: Operand, *args: Operand, **kwargs: Operand) -> Operand:
        function: Callable[..., Any] = getattr(Mat if isinstance(self, Mat) else np.ndarray, name)
        return function(self, *args, **kwargs)

    call.__name__ = name
    return call


def _new(cls: type, *args: Operand, **kwargs: Operand) -> Operand:
    return np.ndarray.__new__(cls, *args, **kwargs)


class ndarray(metaclass=_ArrayType):  # noqa: N801  # NumPy's name
    """The class of arrays: of Mats, and of NumPy's arrays for what Mats cannot be."""

    __slots__ = ()
    __new__ = _new  # of subclasses, which are NumPy's
    __class_getitem__: Any = classmethod(GenericAlias)
    __module__ = "numpy"


for _name in ("__setitem__", "__getitem__", "__array_finalize__", "__array_wrap__", "__setstate__",
              "__reduce__", "__array_ufunc__", "__array_function__", "__array__", "__len__"):
    setattr(ndarray, _name, _method(_name))
