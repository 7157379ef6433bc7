"""NumPy's functions on Mats: ``Mat.__array_function__``.

A function that an operation of `mat` implements runs as that, one that returns a view returns a Mat
on the same storage, and any other is delegated to NumPy; those that write an operand write the Mat.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable
from functools import cache
from types import CodeType

import numpy as np

from ..core.compiled import IN_USE
from ..layout.shapes import MOST_AXES
from ..matrix.base import is_numpys
from ..matrix.brief_calls import NOT_BRIEF, call_briefly
from ..matrix.delegate import delegate
from ..matrix.mat import Mat
from ..matrix.methods import bind
from ..matrix.reading import call_reading
from ..ops.engine.by_numpy import LeftToNumPy, leave_if
from ..ops.engine.operation import named
from ..support.types import Arguments, Array, Function, Keywords, Operand
from . import short_floats
from .operands import with_mats_there
from .registry import (
    HOLDS,
    IMPLEMENTATIONS,
    OF_MANY,
    ON_DEVICES,
    WAITING,
    load,
    numpy_function,
)
from .short_calls import called_shortly, leave_to_numpy, written_shortly
from .views import NAMES, OF_SEVERAL, NoView, run_as_view

# the functions that return views, and whether of all their arguments or of the first
VIEWS = {f: name in OF_SEVERAL for name in (*NAMES, *OF_SEVERAL)
         if (f := numpy_function(name)) is not None}
QUERIES = frozenset(map(numpy_function, (  # they read no elements, only shapes and dtypes
    "shape", "ndim", "size", "result_type", "can_cast", "common_type", "iscomplexobj", "isrealobj",
    "einsum_path")))
WRITING = frozenset(map(numpy_function, (  # they write their first operand
    "copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis")))
OF_MEMORY = frozenset(map(numpy_function, (  # they are about the memory, not about the elements
    "isfortran", "shares_memory", "may_share_memory", "require", "lib.array_utils.byte_bounds")))
SAVING = frozenset(map(numpy_function, (  # their keywords are names of arrays
    "savez", "savez_compressed")))
# positional parameters of functions whose signatures NumPy before 2.3 cannot inspect
_UNINSPECTABLE = {"concatenate": ("arrays", "axis", "out"), "dot": ("a", "b", "out")}
_NO_KEYWORDS: Keywords = {}
MOST_READY = 64  # positional arguments; calls with more are not checked for Mats
_numbers = frozenset((bool, int, float, complex))
_MEMORY = bytes(16)  # of one element
_mat_type, _implementations = Mat, IMPLEMENTATIONS  # with types of C
_not_brief = NOT_BRIEF
_holds, _in_use, _on_devices, _waiting = HOLDS, IN_USE, ON_DEVICES, WAITING
_ordering = short_floats.FUNCTIONS
_BY_NUMPY = np.ndarray.__array_function__
# those that raise an error before they write anything
_CHECKING = frozenset((np.place, np.putmask, np.put_along_axis))
_SCRATCH = {"overwrite_input": False}  # arguments that permit to use an operand as scratch
_WRITTEN = frozenset(("out", "copy", *_SCRATCH))  # parameters that say what is written


# NumPy's protocol fixes the signature
def _array_function(self: Mat, func: Function, types: Iterable[type[Array]], args: Arguments,
                    kwargs: Keywords) -> Operand:
    """Call the NumPy function `func`, among whose operands there is a Mat."""
    if not _are_mats(types):
        for t in types:
            if not issubclass(t, Mat) and t.__array_function__ is not _BY_NUMPY:
                return NotImplemented
    return call_numpy(func, args, kwargs)


def _are_mats(types: object) -> bool:
    """Return whether there is no other type than `Mat`, the usual case."""
    return type(types) is tuple and len(types) == 1 and types[0] is _mat_type


def call_numpy(func: Function, args: Arguments, kwargs: Keywords = _NO_KEYWORDS) -> Operand:
    """Call one of NumPy's functions as it is called if one of its operands is a Mat."""
    found = called_shortly(func, args, kwargs)
    return call_in_full(func, args, kwargs) if found is None else found


def call_in_full(func: Function, args: Arguments, kwargs: Keywords) -> Operand:
    """Call a NumPy function that has no short way for these arguments."""
    if func in WRITING and written_shortly(func, args, kwargs):
        return None
    if func in _ordering and (kwargs or not _are_plain(args)):
        dtype = short_floats.dtype_of(args, kwargs)
        if dtype is not None:
            return short_floats.computed(func, args, kwargs, dtype)
    # also while another thread imports the module
    if func in _waiting and (_in_use or func not in _on_devices):
        load(func)
    holds = _holds.get(func)
    if holds is not None and (holds >= 0 or _in_use):
        try:
            return _called(_implementations[func], holds, args, kwargs)
        except LeftToNumPy:
            pass
    several = VIEWS.get(func)
    if several is not None:
        try:
            return run_as_view(func, several, args, kwargs)
        except NoView:
            pass
    if func in QUERIES:
        return func(*map(_without_elements, args),
                    **{k: _without_elements(v) for k, v in kwargs.items()})
    return _delegated(func, args, kwargs)


def _are_plain(args: Arguments | list[object], depth: int = 0) -> bool:
    """Return whether arguments are Mats of dtypes of NumPy's own, text and numbers, or in lists
    that are not nested more deeply than arrays.
    """
    for value in args:
        if type(value) is _mat_type:
            view: Mat = value
            if not is_numpys(view.element_type):
                return False
        elif type(value) is tuple or type(value) is list:
            if depth > MOST_AXES or not _are_plain(value, depth + 1):
                return False
        elif type(value) is not str and type(value) not in _numbers:
            return False
    return True


def call_implementation(func: Function, args: Arguments, kwargs: Keywords) -> Operand:
    """Call the implementation of a NumPy function; raise `LeftToNumPy` where it does not hold."""
    load(func)
    return _called(_implementations[func], _holds[func], args, kwargs)


def _called(implementation: Function, holds: int, args: Arguments, kwargs: Keywords) -> Operand:
    """Call an implementation where it holds."""
    if holds < 0:
        args, kwargs = with_mats_there(-holds, implementation, args, kwargs)
    elif holds and not (args and type(args[0]) is _mat_type):
        first = args[0] if args else kwargs.get(implementation.__code__.co_varnames[0])
        leave_if(not isinstance(first, Mat))
    return implementation(*args, **kwargs) if kwargs else implementation(*args)


def are_ready(args: Arguments, at: tuple[int, ...], adapts: bool) -> bool:
    """Return whether no argument has to be converted: the first one is a Mat, or the subscripts of
    `einsum`; the others at the positions `at` are Mats, or with `adapts` numbers of Python.
    """
    count = len(args)
    if not count or count > MOST_READY:
        return False
    kind = type(args[0])
    if kind is _mat_type and count == 1:
        return True
    if kind is not _mat_type and (kind is not str or count < 2):
        return False
    for k in at:
        if k >= count:
            break
        kind = type(args[k])
        if kind is not _mat_type and not (kind is str and not k) and not (
                adapts and kind in _numbers):
            return False
    return True


def _without_elements(value: Operand) -> Operand:
    """Return an array of a Mat's shape and dtype that has no memory for its elements."""
    if not isinstance(value, Mat):
        return value
    return np.ndarray(value.shape, value.dtype, _MEMORY, 0, (0,) * value.ndim)


def _delegated(func: Function, args: Arguments, kwargs: Keywords) -> Operand:
    """Let NumPy call `func` on the host."""
    # no argument names an operand to be written
    if len(args) <= _usual(func) and (not kwargs or _WRITTEN.isdisjoint(kwargs)):
        tried = func in OF_MEMORY or func in OF_MANY  # these in `call_numpy`
        found = _not_brief if tried else call_briefly(func, args, kwargs)
        return call_reading(func, args, kwargs) if found is _not_brief else found
    if func in SAVING:
        return delegate(lambda file, arrays, more: func(file, *arrays, **more),
                        [args[0], args[1:], kwargs], name=func.__name__)
    names = positional_names(func)
    by_name = dict(zip(names, args, strict=False)) | kwargs
    if "out" in by_name:
        args, kwargs = _as_keywords("out", names, args, kwargs)
    for name, value in _SCRATCH.items():
        if by_name.get(name):
            args, kwargs = _as_keywords(name, names, args, kwargs)
            kwargs[name] = value
    first = args[0] if args else next(iter(kwargs.values()), None)
    in_place = func in WRITING or (func is np.nan_to_num and not by_name.get("copy", True))
    return delegate(func, args, kwargs,
                    written=(first,) if in_place and isinstance(first, Mat) else (),
                    in_place=func in _CHECKING and not kwargs and _are_plain(args))


@cache
def _usual(func: Function) -> int:
    """Return how many positional arguments only say what is read, and how; -1 with keywords."""
    if func in WRITING or func in SAVING:
        return -1
    names = positional_names(func)
    return min((names.index(n) for n in _WRITTEN if n in names), default=sys.maxsize)


def _as_keywords(name: str, names: tuple[str, ...], args: Arguments,
                 kwargs: Keywords) -> tuple[Arguments, Keywords]:
    """Return the arguments, with those from `name` on as keywords."""
    if name not in names[:len(args)]:
        return args, dict(kwargs)
    k = names.index(name)
    return args[:k], {**dict(zip(names[k:], args[k:], strict=False)), **kwargs}


def code_of(func: Function) -> CodeType | None:
    """Return the code of a function in Python, for its parameters: `inspect` takes longer."""
    return getattr(inspect.unwrap(func), "__code__", None)


@cache
def positional_names(func: Function) -> tuple[str, ...]:
    """Return the names of the parameters that can be given by position."""
    code = code_of(func)
    if code is not None:
        return () if code.co_flags & inspect.CO_VARARGS else code.co_varnames[:code.co_argcount]
    try:
        parameters = inspect.signature(func).parameters.values()
    except ValueError:
        return _UNINSPECTABLE.get(func.__name__, ())
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return ()
    return tuple(p.name for p in parameters
                 if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))


leave_to_numpy(_usual)
bind("__array_function__",
     named(_array_function, "__array_function__", _array_function.__doc__ or ""))
