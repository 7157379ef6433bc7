"""Functions of `mat` made of NumPy's functions and ufuncs, at the first use of their names.

Each has NumPy's name and signature, takes Mats, arrays, sequences and numbers, and returns Mats.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from types import BuiltinFunctionType, CodeType

import numpy as np

from ...matrix.mat import Mat
from ...ops.engine.by_numpy import refuse_other_elements
from ...ops.engine.operands import is_foreign, is_of_others, numpy_gives
from ...support.types import Arguments, Function, Keywords, Operand
from ...support.unbound import DeferredSignature, unbound
from ..array_function import (
    MOST_READY,
    VIEWS,
    WRITING,
    are_ready,
    call_in_full,
    call_numpy,
    code_of,
    positional_names,
)
from ..docstrings import docstring
from ..operands import as_mat_if_possible, as_mats_if_possible
from ..registry import IMPLEMENTATIONS, OF_OWN_KIND, ON_HOST, is_implemented, load
from ..short_calls import called_shortly

# the parameters of NumPy's functions that are array-likes, and those that are sequences of them
OPERANDS = frozenset(("a", "a1", "a2", "b", "x", "x1", "x2", "ary", "arr", "array", "m", "v", "val",
                      "y"))
SEQUENCES = frozenset(("arrays", "arys", "args", "tup"))
# parameters whose lists are no operands
_POSITIONS = frozenset(("axes", "axis", "condition", "indices", "indices_or_sections", "obj",
                        "pad_width", "repeats", "shape"))
# functions whose arguments are not converted, besides those that write an array: they decide on
# copies, or count how deep lists are nested
_AS_THEY_ARE = frozenset(("asarray", "asanyarray", "ascontiguousarray", "astype", "block"))
BY_US = ("An operation of `mat` computes it, on the device in use; for arguments that it does "
          "not know,\nNumPy computes on the host.")
_VIEW = "The result is a view, wherever the data is, if it is one in NumPy."
BY_NUMPY = "NumPy computes it on the host."


def make_function(name: str, function: Function, qualified: str) -> Function:
    """Return the function of `mat` for NumPy's `function`; `qualified` is such as "linalg.inv"."""
    converts = ((is_implemented(function) or function in VIEWS) and function not in WRITING
                and name not in _AS_THEY_ARE)
    names = positional_names(function)
    joins = (names or ("",))[0] in SEQUENCES
    # the positions of array-likes among parameters; all if no names are known
    at = () if not converts else tuple(
        k for k, n in enumerate(names) if n in OPERANDS or n in SEQUENCES
        ) if names else tuple(range(MOST_READY))
    adapts, of_nests = function in _ADAPTING, joins or not at

    def call(*args: Operand, **kwargs: Operand) -> Operand:
        if kwargs:
            kwargs.pop("like", None)  # whose class would choose what makes the result
        plain = not kwargs or (len(kwargs) == 1 and "axis" in kwargs)
        near = plain and are_ready(args, at, True)
        nested = not near and of_nests and bool(args) and _is_of_mats(args[0])
        if near or nested:
            found = called_shortly(function, args, kwargs)
            if found is not None:
                return found
        if nested or (near and (adapts or are_ready(args, at, False))):
            found = call_in_full(function, args, kwargs)
        else:
            if name not in _AS_THEY_ARE and _are_foreign(function, args, kwargs):
                return numpy_gives(function, args, kwargs)
            if converts and (kwargs or not _are_mats(args)):
                args, kwargs = _with_mats(function, args, kwargs)
            found = call_numpy(function, args, kwargs)
        if found is not None and type(found) is not Mat:
            refuse_other_elements(qualified, found, (kwargs.get("out"), *args))
        return found

    if function.__name__ in OF_OWN_KIND:  # others need not be imported for their docstrings
        load(function)
    signature, parameters = _signature(function)
    described = describe(call, name, qualified, signature, parameters, where_computed(function))
    return unbound(described) if isinstance(function, BuiltinFunctionType) else described


def _are_foreign(function: Function, args: Arguments, kwargs: Keywords) -> bool:
    """Return whether all arguments taken as arrays are numbers or objects of other libraries."""
    if args and type(args[0]) is Mat:
        return False
    names = positional_names(function)
    given = [*zip(names, args, strict=False)] if names else [("a", x) for x in args]
    operands = [(n, v) for n, v in (*given, *kwargs.items()) if n in OPERANDS or n in SEQUENCES]
    return (bool(operands)
            and all(is_foreign(v) if n in OPERANDS else is_of_others(v) for n, v in operands)
            and not any(_is_ours(v) for n, v in (*given, *kwargs.items()) if n not in _POSITIONS))


def _is_ours(value: Operand) -> bool:
    """Return whether `value` is a Mat, an array or a list of numbers."""
    if isinstance(value, list):
        return not is_of_others(value)
    return isinstance(value, Mat) or (isinstance(value, np.ndarray) and not is_foreign(value))


_NUMBERS = frozenset((bool, int, float, complex))
_ADAPTING = frozenset((np.where, np.isclose))  # Python's numbers adapt to their other operands


def _are_mats(args: Arguments) -> bool:
    for value in args:  # noqa: SIM110  # a generator takes three times as long
        if type(value) is not Mat:
            return False
    return True


def _is_of_mats(value: Operand) -> bool:
    """Return whether `value` is a list or tuple of Mats."""
    return type(value) in _LISTS and bool(value) and _are_mats(value)


_LISTS = frozenset((list, tuple))


def _with_mats(function: Function, args: Arguments,
               kwargs: Keywords) -> tuple[Arguments, Keywords]:
    """Return the arguments with Mats for array-likes, as implementations expect them."""
    names = positional_names(function)
    if function is np.bincount and args and isinstance(args[0], list | tuple):
        args = (np.array(args[0], np.int64), *args[1:])  # as NumPy reads lists
    if function in _ADAPTING:
        args = tuple(x if type(x) in _NUMBERS else as_mat_if_possible(x) for x in args)
    elif names:
        given = list(args)
        for k in range(min(len(names), len(given))):
            given[k] = _converted(function, names[k], given[k])
        args = tuple(given)
    elif function is np.piecewise:  # the numbers of its list adapt to the elements
        args = (*map(as_mat_if_possible, args[:1]), *args[1:])
    else:  # any number of operands
        args = tuple(map(as_mat_if_possible, args))
    if kwargs:
        kwargs = {n: _converted(function, n, v) for n, v in kwargs.items()}
    return args, kwargs


def _converted(function: Function, name: str, value: Operand) -> Operand:
    """Return the argument for the parameter `name`, with Mats for array-likes."""
    if name in OPERANDS:
        return as_mat_if_possible(value)
    if name in SEQUENCES and isinstance(value, list | tuple):
        for x in value:
            if type(x) is not Mat:
                # Python's numbers adapt to the others here only
                parts = (as_mats_if_possible(value) if function is np.concatenate
                         else map(as_mat_if_possible, value))
                return type(value)(parts)
    return value


# the parameters are what is described
def describe(call: Function, name: str, qualified: str, signature: inspect.Signature | None,
             parameters: Iterable[str], where: str) -> Function:
    """Give a made function its name, signature and docstring; return it."""
    module, _, _ = qualified.rpartition(".")
    call.__name__ = call.__qualname__ = name
    call.__module__ = f"mat.{module}" if module else "mat"
    call.__doc__ = docstring(qualified, qualified, parameters, where)
    if signature:
        call.__dict__["__signature__"] = signature
    return call


def _parameters(code: CodeType) -> tuple[str, ...]:
    """Return the names of a function's parameters as its signature lists them."""
    names, flags = code.co_varnames, code.co_flags
    end = code.co_argcount + code.co_kwonlyargcount
    several = names[end:end + 1] if flags & inspect.CO_VARARGS else ()
    last = end + len(several)
    return (*names[:code.co_argcount], *several, *names[code.co_argcount:end],
            *(names[last:last + 1] if flags & inspect.CO_VARKEYWORDS else ()))


def _own_keywords(function: Function) -> dict[str, object]:
    """Return the keywords, with defaults, that only an implementation has, of the standard's."""
    theirs, ours = code_of(function), IMPLEMENTATIONS.get(function)
    defaults = getattr(ours, "__kwdefaults__", None)
    if theirs is None or defaults is None:
        return {}
    known = _parameters(theirs)
    return {name: value for name, value in defaults.items() if name not in known}


def _with_keywords(signature: inspect.Signature, more: dict[str, object]) -> inspect.Signature:
    added = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value)
             for name, value in more.items()]
    return signature.replace(parameters=[*signature.parameters.values(), *added])


def _signature(function: Function) -> tuple[inspect.Signature | None, Iterable[str]]:
    """Return the signature of a function made of NumPy's, or None, and its parameters' names."""
    code = code_of(function)
    if code is not None:
        own = _own_keywords(function)
        return (DeferredSignature(lambda: _with_keywords(inspect.signature(function), own)),
                (*_parameters(code), *own))
    try:
        found = inspect.signature(function)
    except ValueError:  # of functions in C, before NumPy 2.3
        return None, ("*args", "**kwargs")
    return found, found.parameters


def where_computed(function: Function) -> str:
    """Return a sentence that says who computes a NumPy function."""
    if function in VIEWS:
        return _VIEW
    return BY_US if is_implemented(function) and function not in ON_HOST else BY_NUMPY
