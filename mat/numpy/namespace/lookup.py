"""Lookup of NumPy's names in `mat`, made on demand."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from ...errors import DTypeError
from ...support.close_names import no_attribute
from ...support.plugins import plugin
from ...support.types import Function, Operand
from ...support.unbound import unbound
from . import objects
from .functions import make_function, make_ufunc
from .info import __array_namespace_info__
from .names import ABSENT, SAME, UFUNC, WRAPPED, kinds

_DATES = "a Mat has no dates; compute with numpy's arrays of them, or with a Mat of numbers"
_MATRIX = "a Mat with two axes is a matrix, and @ its product: mat.array(data)"
_RECORDS = "a Mat has one number for each element; have a Mat for each field"
# why there is no such thing, and what there is
WAYS_OUT = {
    "asmatrix": _MATRIX, "matrix": _MATRIX, "bmat": "mat.block(arrays) joins blocks",
    "busday_count": _DATES, "busday_offset": _DATES, "busdaycalendar": _DATES,
    "datetime_as_string": _DATES, "datetime_data": _DATES, "is_busday": _DATES,
    "frompyfunc": "it would give objects; mat.vectorize(function) gives numbers",
    "memmap": "mat.open_memmap(path) gives a Mat whose host memory is a file",
    "nested_iters": "iterate with mat.ndindex(x.shape), or over arrays: with x.facet('array') as a:"
                    " numpy.nested_iters(a, axes)",
    "recarray": _RECORDS, "record": _RECORDS,
    "test": "it tests NumPy; the tests of mat are run by python -m pytest tests",
}


def lookup(module: str, name: str) -> Operand:
    """Return the object called `name` in a module of `mat`; raise `AttributeError` if there is
    none.

    `module` is ``""`` for `mat` itself, or ``"linalg"``, ``"fft"`` ...
    """
    kind = kinds(module).get(name)
    if kind is None:
        raise AttributeError(name)
    if kind == ABSENT:
        return _refusal(name)
    if kind == WRAPPED:
        return _wrapped(module, name)
    found = numpy_object(module, name)
    if kind == SAME:
        return found
    qualified = f"{module}.{name}".lstrip(".")
    return make_ufunc(name, found) if kind == UFUNC else make_function(name, found, qualified)


def numpy_object(module: str, name: str) -> Operand:
    """Return NumPy's object; raise `AttributeError` if the installed version has none."""
    found = numpy_module(module)
    return getattr(found if hasattr(found, name) else np, name)


def numpy_module(module: str) -> Operand:
    """Return NumPy's module for a module of the table."""
    found: object = np
    for part in filter(None, module.split(".")):
        found = getattr(found, part)
    return found


def exists(module: str, name: str) -> bool:
    """Return whether `lookup` finds the name with the installed NumPy."""
    known = kinds(module)[name] in (WRAPPED, ABSENT)
    return known or hasattr(numpy_module(module), name) or hasattr(np, name)


def public_names(module: str) -> list[str]:
    """Return the names of the module's table that the installed NumPy has."""
    return sorted(n for n in kinds(module) if exists(module, n))


def usable_names(module: str) -> list[str]:
    """Return the same names without those that only raise an error."""
    return [n for n in public_names(module) if kinds(module)[n] != ABSENT]


def _wrapped(module: str, name: str) -> Operand:
    if module == "random":
        return getattr(plugin("random"), name)
    if name in ("fft", "lib", "linalg", "random", "stride_tricks", "emath", "testing"):
        return plugin(name)
    if name == "__array_namespace_info__":
        return __array_namespace_info__
    return getattr(objects, name)


def _refusal(name: str) -> Operand:
    """Return the function that raises the error for an impossible name."""
    def refuse(*args: object, **kwargs: object) -> None:
        raise DTypeError(f"mat has no {name}: {WAYS_OUT[name]}")

    doc = f"Raise `DTypeError`: {WAYS_OUT[name]}."
    numpys = getattr(np, name)
    if isinstance(numpys, type):
        return type(name, (), {"__doc__": doc, "__module__": "mat", "__new__": refuse})
    refuse.__name__ = refuse.__qualname__ = name
    refuse.__module__, refuse.__doc__ = "mat", doc
    return refuse if hasattr(numpys, "__get__") else unbound(refuse)


def module_functions(module: str, store: dict[str, object]) -> tuple[Function,
                                                                     Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a module whose names are those of the table.

    `store` is the module's dictionary, where names are kept once they are made.
    """
    owner = str(store["__name__"])

    def get(name: str) -> Operand:
        try:
            found = store[name] = lookup(module, name)
        except AttributeError:
            raise no_attribute(sys.modules[owner], f"module 'mat.{module}'", name,
                               usable_names(module)) from None
        return found

    return get, lambda: usable_names(module)
