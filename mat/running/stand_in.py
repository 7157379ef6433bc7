"""Modules in the place of `numpy`, `numpy.linalg` and the like: their names are NumPy's, and mean
what `mat` has of them, else NumPy's own objects.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

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
from .archives import load
from .array_type import ndarray
from .fallback import function_of, ufunc_of

_FACTS = ("__file__", "__path__", "__spec__", "__package__", "__loader__", "__version__")
# what gives arrays without axes, in NumPy, too
_ARRAYS = frozenset(("array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray",
                     "astype", "broadcast_to", "copy", "empty", "empty_like", "full", "full_like",
                     "ones", "ones_like", "reshape", "squeeze", "transpose", "zeros",
                     "zeros_like"))
_CLASSES = frozenset(("vectorize", "poly1d", "ndenumerate", "ufunc", "r_", "c_", "mgrid", "ogrid",
                      "testing", "__array_namespace_info__", "Generator", "RandomState"))


def _module_for(numpys: ModuleType, table: str) -> ModuleType:
    """Return a module in the place of one of NumPy's; its objects are made when they are first
    used.
    """
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
    ours = getattr(_module(table), name)
    if name in _CLASSES:
        return ours
    if kind == UFUNC:
        return ufunc_of(name, ours, numpys)
    numbers = kind == FUNCTION and name not in _ARRAYS
    return function_of(inner, ours, numpys, numbers=numbers)


def _module(table: str) -> Any:
    """Return the module of `mat` for a table of names."""
    found: Any = plugin("mat")
    for part in filter(None, table.split(".")):
        found = getattr(found, part)
    return found


def stand_in(name: str) -> ModuleType:
    """Return what stands for NumPy's module of that full name: NumPy's own, if `mat` has no such
    functions.
    """
    table = name.partition(".")[2]
    if table not in MODULES:
        parts = table.split(".")
        found = stand_in("numpy")
        for part in parts:
            found = getattr(found, part)
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
