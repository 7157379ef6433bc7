"""NumPy's names in `mat`, made on demand: the table of their meaning, and its lookup.

The table holds the names of the installed NumPy, and those that NumPy 2.0 to 2.5 have had; one that
the installed NumPy lacks does not exist. Names that `mat` declares itself, such as ``mat.exp``, are
found before it is asked.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Final

import numpy as np

from ...devices.device import CPU, Device, DeviceLike, device_named, in_use
from ...errors import DTypeError
from ...support.close_names import no_attribute
from ...support.dtypes import ELEMENT_TYPES, FLOAT8, HALVES
from ...support.options import default_float
from ...support.plugins import plugin
from ...support.types import DType, Function, Operand
from ...support.unbound import unbound

# The kinds of names
FUNCTION: Final = "function"  # NumPy's function, computed by us where we have it, else on the host
UFUNC: Final = "ufunc"  # the same, with the methods and arguments of a ufunc
SAME: Final = "same"  # NumPy's own object
WRAPPED: Final = "wrapped"  # a class or an object of ours in `objects`
ABSENT: Final = "absent"  # exists, and raises an error that names the way out

# those that are not of the kind that NumPy's object says, and modules that it would import
_ROOT = {
    FUNCTION: "in1d row_stack trapz",  # which older NumPys have
    SAME: """
        base_repr binary_repr broadcast_shapes char ctypeslib dtypes exceptions
        format_float_positional format_float_scientific get_include get_printoptions getbufsize
        geterr geterrcall info isdtype isscalar issubdtype iterable ma mintypecode polynomial
        printoptions promote_types rec set_printoptions setbufsize seterr seterrcall show_runtime
        strings typename typing""",
    WRAPPED: """
        broadcast c_ emath fft fromfunction lib linalg mgrid ndarray ndenumerate nditer ogrid poly1d
        r_ random testing ufunc vectorize __array_namespace_info__""",
    ABSENT: """
        asmatrix bmat busday_count busday_offset busdaycalendar datetime_as_string datetime_data
        frompyfunc is_busday matrix memmap nested_iters recarray record test""",
}
_STRIDE_TRICKS = {FUNCTION: "broadcast_arrays broadcast_shapes broadcast_to sliding_window_view",
                  WRAPPED: "as_strided"}
# `mat.random` has its own names, methods of its `Generator` and `RandomState`
_RANDOM = {SAME: "BitGenerator MT19937 PCG64 PCG64DXSM Philox SFC64 SeedSequence",
           WRAPPED: "get_bit_generator set_bit_generator"}
_MODULES = {"": _ROOT, "linalg": {}, "fft": {}, "emath": {}, "random": _RANDOM,
            "lib": {SAME: "add_docstring", WRAPPED: "stride_tricks"},
            "lib.stride_tricks": _STRIDE_TRICKS}
_LEFT_OUT = {"__version__", "core", "f2py", "show_config", "Arrayterator", "add_newdoc",
             "tracemalloc_domain"}
MODULES: Final = tuple(_MODULES)


@cache
def kinds(module: str) -> dict[str, str]:
    """Return the kind of each name of a module: ``""`` is NumPy's root, ``"linalg"`` ..."""
    given = {name: kind for kind, names in _MODULES[module].items() for name in names.split()}
    numpys = numpy_module(module)
    others = sorted(set(getattr(numpys, "__all__", ())) - given.keys() - _LEFT_OUT)
    return given | {name: WRAPPED if module == "random" else _kind_of(getattr(numpys, name))
                    for name in others}


def _kind_of(numpys: object) -> str:
    if isinstance(numpys, np.ufunc):
        return UFUNC
    return FUNCTION if callable(numpys) and not isinstance(numpys, type) else SAME


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
    if kind == UFUNC:
        return plugin("numpy_functions").make_ufunc(name, found)
    qualified = f"{module}.{name}".lstrip(".")
    return plugin("numpy_functions").make_function(name, found, qualified)


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
    return getattr(plugin("numpy_objects"), name)


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


# Support of the Python array API standard in `mat`


_DTYPES = {t.name: np.dtype(t.name) for t in ELEMENT_TYPES if t.char not in HALVES + FLOAT8}
_KINDS = ("bool", "signed integer", "unsigned integer", "integral", "real floating",
          "complex floating", "numeric")


class __array_namespace_info__:  # noqa: N801  # NumPy's name
    """Capabilities, devices and dtypes of `mat`.

    Examples
    --------
    >>> import mat
    >>> mat.__array_namespace_info__().default_dtypes()["real floating"]
    dtype('float64')
    """

    def capabilities(self) -> dict[str, bool | int]:
        """Return the supported optional parts of the standard.

        Returns
        -------
        dict
            By the standard's names.
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Device:
        """Return the device in use.

        Returns
        -------
        Device
            The default of ``device=``.
        """
        return in_use()

    def devices(self) -> list[Device]:
        """Return the devices that ``device=`` accepts in this block.

        Returns
        -------
        list of Device
            The device in use, and the processor.
        """
        return [CPU] if in_use() is CPU else [in_use(), CPU]

    def default_dtypes(self, *, device: DeviceLike = None) -> dict[str, DType]:
        """Return the dtypes of Python's numbers.

        Parameters
        ----------
        device : str or Device, optional
            Makes no difference.

        Returns
        -------
        dict of str to dtype
            By kind; that of real numbers follows ``mat.settings(dtype=...)``.
        """
        _check(device)
        return {"real floating": default_float(), "complex floating": np.dtype(np.complex128),
                "integral": np.dtype(np.int64), "indexing": np.dtype(np.int64)}

    def dtypes(self, *, device: DeviceLike = None,
               kind: str | tuple[str, ...] | None = None) -> dict[str, DType]:
        """Return the dtypes by name.

        Parameters
        ----------
        device : str or Device, optional
            Makes no difference.
        kind : str or tuple of str, optional
            Only those of a kind, or of several.

        Returns
        -------
        dict of str to dtype
            The standard's dtypes.
        """
        _check(device)
        if kind is None:
            return dict(_DTYPES)
        kinds = kind if isinstance(kind, tuple) else (kind,)
        unknown = [k for k in kinds if k not in _KINDS]
        if unknown:
            raise DTypeError(f"no kind of dtypes {unknown[0]!r}; there are {', '.join(_KINDS)}")
        return {name: d for name, d in _DTYPES.items() if np.isdtype(d, kinds)}


def _check(device: DeviceLike) -> None:
    if device is not None:
        device_named(device)
