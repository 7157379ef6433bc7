"""Modules in the place of `numpy`, `numpy.linalg` and the like: their names are NumPy's, and mean
what `mat` has of them, else NumPy's own objects.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from operator import attrgetter
from types import GenericAlias, ModuleType
from typing import Any

import numpy as np
from numpy.lib.npyio import NpzFile

from ..errors import MatError
from ..matrix.delegate import delegate
from ..matrix.mat import Mat
from ..numpy.namespace.lookup import (
    ABSENT,
    FUNCTION,
    MODULES,
    SAME,
    UFUNC,
    kinds,
    numpy_module,
)
from ..support.plugins import plugin
from ..support.types import Operand
from .fallback import function_of, ufunc_of

# The class of arrays: Mats and NumPy's arrays are instances of it, and subclasses are NumPy's


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


# Arrays in files


class StoredArrays(NpzFile):
    """The arrays of an .npz file, read when they are asked for."""

    def __init__(self, numpys: NpzFile) -> None:
        self.__dict__.update(vars(numpys))
        numpys.fid = numpys.zip = None  # which self closes

    def __getitem__(self, key: str) -> Any:
        return delegate(super().__getitem__, (key,))


@functools.wraps(np.load)
def load(*args: Operand, **kwargs: Operand) -> Operand:
    found: Any = delegate(np.load, args, kwargs)
    if type(found) is NpzFile:
        found = StoredArrays(found)
    return found


# The modules


_FACTS = ("__file__", "__path__", "__spec__", "__package__", "__loader__", "__version__")
# what gives arrays without axes, in NumPy, too
_ARRAYS = frozenset(("array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray",
                     "astype", "broadcast_to", "copy", "empty", "empty_like", "full", "full_like",
                     "ones", "ones_like", "reshape", "squeeze", "transpose", "zeros",
                     "zeros_like"))
_CLASSES = frozenset(("vectorize", "poly1d", "ndenumerate", "ufunc", "r_", "c_", "mgrid", "ogrid",
                      "nditer", "testing", "__array_namespace_info__", "Generator", "RandomState"))


def _module_for(numpys: ModuleType, table: str) -> ModuleType:
    """Return a module in the place of NumPy's, whose objects are made at first use."""
    module = ModuleType(numpys.__name__, numpys.__doc__)

    def find(name: str) -> Operand:
        theirs = getattr(numpys, name)  # whose error names NumPy's module
        found = vars(module)[name] = _made(table, name, theirs)
        return found

    # a module of a class of its own, with these as methods, would be slower to look up names in
    module.__dict__.update({name: vars(numpys)[name] for name in _FACTS if name in vars(numpys)},
                           __all__=list(getattr(numpys, "__all__", ())),
                           __getattr__=find, __dir__=lambda: dir(numpys))
    return module


def _made(table: str, name: str, numpys: Any) -> Operand:
    """Return what stands for an object of NumPy's."""
    inner = f"{table}.{name}".lstrip(".")
    if isinstance(numpys, ModuleType) and inner in MODULES:
        return stand_in(f"numpy.{inner}")
    if table == "random" and NUMPYS_RANDOM:
        found: Operand = plugin("numpys_random").drawing(name, numpys)
        return found
    kind = kinds(table).get(name)
    if kind in (None, SAME, ABSENT):
        return numpys
    if (table, name) == ("", "ndarray"):
        return ndarray
    if (table, name) == ("", "load"):
        return load
    ours = attrgetter(inner)(plugin("mat"))
    if name in _CLASSES:
        return ours
    if kind == UFUNC:
        return ufunc_of(name, ours, numpys)
    numbers = kind == FUNCTION and name not in _ARRAYS
    return function_of(inner, ours, numpys, numbers=numbers)


def stand_in(name: str) -> ModuleType:
    """Return what stands for a NumPy module: itself, if `mat` has no such functions."""
    table = name.partition(".")[2]
    if table not in MODULES:
        found: ModuleType = attrgetter(table)(stand_in("numpy"))
        return found
    if table not in _made_modules:
        _made_modules[table] = _module_for(numpy_module(table) if table else np, table)
    return _made_modules[table]


NUMPYS_RANDOM: list[bool] = []  # has an item if random numbers are to be NumPy's own
_made_modules: dict[str, ModuleType] = {}


def __getattr__(name: str) -> Operand:
    """Return a function that stands in for NumPy's, for pickles of it."""
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(stand_in("numpy"), name)
