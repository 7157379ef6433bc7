"""Functions of `mat` made of NumPy's functions and ufuncs, at the first use of their names.

Each has NumPy's name and signature, takes Mats, arrays, sequences and numbers, and returns Mats.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from textwrap import dedent
from types import BuiltinFunctionType, CodeType

import numpy as np

from ...core.compiled import give_vectorcall
from ...errors import DTypeError, ShapeError
from ...matrix.mat import Mat
from ...ops.engine.by_numpy import refuse_other_elements, ufunc_by_numpy
from ...ops.engine.functions import OF_EVERY_UFUNC, OF_PRODUCTS, FunctionOfMatrices, Ufunc
from ...ops.engine.operands import is_foreign, is_of_others, keeps_its_class, numpy_gives
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
from ..array_ufunc import IMPLEMENTATIONS as OF_UFUNCS
from ..array_ufunc import by_method, implementation_of, of_few_elements
from ..operands import as_mat_if_possible, as_mats_if_possible
from ..registry import COMPOSED_NAMES, IMPLEMENTATIONS, OF_OWN_KIND, ON_HOST, is_implemented, load
from ..short_calls import called_shortly
from ..ufunc_at import at_briefly

# Docstrings: a line and an example each, from ``summaries.txt``


_DOC = """{summary}

Parameters
----------
{parameters}
    As for ``numpy.{name}``, whose arrays may be Mats, arrays, sequences and numbers.

Returns
-------
object
    {returns}

Notes
-----
{where}

References
----------
https://numpy.org/doc/stable/reference/{page}.html
"""
_RETURNS = """A Mat, with NumPy's dtype, for each array and each of NumPy's scalars that
    ``numpy.{name}`` returns; Python's objects as they are."""
_EXAMPLE = """
Examples
--------
>>> import mat
{example}
"""


def docstring(summarized: str, name: str, parameters: Iterable[str], where: str,
              returns: str = _RETURNS) -> str:
    """Return the docstring for ``numpy.{name}``, with the summary of the function `summarized`."""
    summary, example = summary_of(summarized) or (f"The function ``numpy.{name}`` of Mats.", "")
    made = _DOC.format(summary=summary, name=name, where=where, page=_page_of(name),
                       returns=returns.format(name=name),
                       parameters=", ".join(parameters) or "none")
    return made + _EXAMPLE.format(example=dedent(example)) if example else made


def _page_of(name: str) -> str:
    """Return where NumPy's reference describes a function."""
    if name == "random.RandomState.tomaxint":  # has no page of its own
        return "random/legacy"
    name = name.replace("lib.stride_tricks.broadcast", "broadcast")  # described under the latter
    return f"{'random/' * name.startswith('random.')}generated/numpy.{name}"


def summary_of(name: str) -> tuple[str, str] | None:
    """Return the line and the example of a function, or None."""
    text = _summaries()
    start = text.find(f"\n{name}: ")
    if start < 0:
        return None
    line = end = text.index("\n", start + 1)
    while text[end + 1].isspace():  # the lines of the example
        end = text.index("\n", end + 1)
    return text[start + len(name) + 3:line], text[line + 1:end]


@cache
def _summaries() -> str:
    """Return the text, with an end that is no example."""
    text = Path(__file__).parents[1].joinpath("summaries.txt").read_text(encoding="utf-8")
    return f"\n{text.rstrip()}\n."


# Functions


# the parameters of NumPy's functions that are array-likes, and those that are sequences of them
OPERANDS = frozenset(("a", "a1", "a2", "b", "x", "x1", "x2", "ary", "arr", "array", "m", "v", "val",
                      "y"))
SEQUENCES = frozenset(("arrays", "arys", "args", "tup"))
# parameters whose lists are no operands
_POSITIONS = frozenset(("axes", "axis", "condition", "indices", "indices_or_sections", "obj",
                        "pad_width", "repeats", "shape"))
# functions whose arguments are not converted, besides those that write an array: they decide on
# copies, are about memory, or count how deep lists are nested
_AS_THEY_ARE = frozenset(("asarray", "asanyarray", "ascontiguousarray", "astype", "block",
                          "may_share_memory", "shares_memory"))
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
        near = are_ready(args, at, True) and (not kwargs or _need_no_mats(kwargs))
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


def _need_no_mats(kwargs: Keywords) -> bool:
    """Return whether no keyword is to be converted to a Mat."""
    for name, value in kwargs.items():
        if type(value) is not _mat and (name in OPERANDS or name in SEQUENCES):
            return False
    return True


def _are_foreign(function: Function, args: Arguments, kwargs: Keywords) -> bool:
    """Return whether all arguments taken as arrays are numbers or objects of other libraries."""
    if args and type(args[0]) is Mat:
        return False
    names = positional_names(function)
    given = [*zip(names, args, strict=False)] if names else [("a", x) for x in args]
    operands = [(n, v) for n, v in (*given, *kwargs.items()) if n in OPERANDS or n in SEQUENCES]
    if any(keeps_its_class(v) for _, v in operands):
        return not any(isinstance(v, Mat) for _, v in (*given, *kwargs.items()))
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


# Ufuncs: operations of `mat`, or functions that call NumPy's with Mats, arrays, sequences and
# numbers, as ``np.f(x)`` does of a Mat


METHODS = ("reduce", "accumulate", "reduceat", "outer", "at")
_FACTS = ("nin", "nout", "nargs", "ntypes", "types", "identity", "signature")
_CONVERTED = {"reduce": 1, "accumulate": 1, "reduceat": 1, "outer": 2}  # so many operands
_mat = Mat  # with a type of C


def make_ufunc(name: str, ufunc: np.ufunc) -> Function:
    """Return the function of `mat` for `ufunc`: the operation of that name, if there is one."""
    ours = implementation_of(ufunc)
    if isinstance(ours, Ufunc):
        return ours
    ours_too = ours is not None or is_implemented(ufunc) or ufunc.__name__ in COMPOSED_NAMES
    signature = signature_of(ufunc)
    return add_methods(describe(NumpysUfunc(ufunc), name, ufunc.__name__, signature,
                                signature.parameters, BY_US if ours_too else BY_NUMPY), ufunc)


class NumpysUfunc(Ufunc):
    """A ufunc of NumPy's that is no operation of `mat`."""

    def __init__(self, ufunc: np.ufunc) -> None:
        self.ufunc: np.ufunc = ufunc
        self.count: int = ufunc.nin

    def call_plainly(self, x: Operand, y: Operand, count: int) -> Operand:
        if count != self.count or (type(x) is not _mat and type(y) is not _mat):
            return None
        return of_few_elements(self.ufunc, (x,) if count == 1 else (x, y))

    def call_fully(self, args: Arguments, kwargs: Keywords) -> Operand:
        return call_ufunc(self.ufunc, args, kwargs)


give_vectorcall(NumpysUfunc)


def call_ufunc(ufunc: np.ufunc, args: Arguments, kwargs: Keywords) -> Operand:
    """Call `ufunc` with Mats, arrays, sequences and numbers; return Mats."""
    if len(args) > ufunc.nargs:
        taken = f"{ufunc.nin} to {ufunc.nargs}"
        raise DTypeError(f"{ufunc.__name__}() takes from {taken} positional arguments but "
                         f"{len(args)} were given")
    if len(args) > ufunc.nin and "out" not in kwargs:
        outs = args[ufunc.nin:]
        outs += (None,) * (ufunc.nout - len(outs))
        args, kwargs = args[:ufunc.nin], {**kwargs, "out": outs}
    if args and all(map(is_foreign, args)):
        return numpy_gives(ufunc, args, kwargs)
    if ufunc in OF_UFUNCS and not any(type(x) is Mat for x in args):
        args = _as_mats(args)
    return _run(ufunc, "__call__", args, kwargs)


def call_method(ufunc: np.ufunc, method: str, args: Arguments, kwargs: Keywords) -> Operand:
    """Call a method of `ufunc`, such as "reduce"."""
    if args and type(args[0]) is Mat:
        if method == "at" and not kwargs and at_briefly(ufunc, args):
            return None
        found = by_method(ufunc, method, args, kwargs)
        if found is not None:
            return found
    if args and is_foreign(args[0]) and (method != "outer" or all(map(is_foreign, args))):
        return numpy_gives(getattr(ufunc, method), args, kwargs)
    if method == "reduce" and kwargs.get("initial", ufunc) is None and not np.size(args[0]):
        raise ShapeError(f"{ufunc.__name__}.reduce of no elements has no value with initial=None")
    count = _CONVERTED.get(method, 0)
    args = (*map(as_mat_if_possible, args[:count]), *args[count:])
    return _run(ufunc, method, args, kwargs)


def _as_mats(operands: Arguments) -> Arguments:
    """Return operands, none of them a Mat, with one converted to a Mat if that is possible.

    Python's numbers adapt to the others; where there are no others, they have NumPy's dtypes.
    """
    if all(type(x) in (bool, int, float, complex) for x in operands):
        return tuple(map(as_mat_if_possible, operands))
    return tuple(x if type(x) in (bool, int, float, complex) else as_mat_if_possible(x)
                 for x in operands)


def _run(ufunc: np.ufunc, method: str, args: Arguments, kwargs: Keywords) -> Operand:
    """Call a method of NumPy's, which calls `mat` back if a Mat is among its arguments."""
    outs = kwargs.get("out")
    outs = outs if isinstance(outs, tuple) else (outs,)
    if any(isinstance(x, Mat) for x in (*args, kwargs.get("where"), *outs)):
        found = getattr(ufunc, method)(*args, **kwargs)
    else:
        found = ufunc_by_numpy(ufunc, method, args, kwargs)
    refuse_other_elements(ufunc.__name__, found, outs)
    return found


def add_methods(function: Function, ufunc: np.ufunc) -> Function:
    """Give `function` the methods and the facts of `ufunc`; return it."""
    attributes = function.__dict__
    for method in METHODS:
        attributes[method] = _method(ufunc, method)
    for fact in _FACTS:
        attributes[fact] = getattr(ufunc, fact)
    return function


def _method(ufunc: np.ufunc, method: str) -> Function:
    def call(*args: Operand, **kwargs: Operand) -> Operand:
        return call_method(ufunc, method, args, kwargs)

    call.__name__ = call.__qualname__ = method
    call.__doc__ = f"Return what ``numpy.{ufunc.__name__}.{method}`` returns, with Mats for arrays."
    return call


def add_own_methods(function: Function) -> None:
    """Give a function of `mat` the methods and the facts of the ufunc that it computes, if any."""
    if type(function) is FunctionOfMatrices:
        implementation_of(np.matmul)  # which is in the table then
    for ufunc, implementation in tuple(OF_UFUNCS.items()):
        if implementation is function:
            add_methods(function, ufunc)


def signature_of(ufunc: np.ufunc) -> inspect.Signature:
    """Return the signature of a call of `ufunc`."""
    parameter = inspect.Parameter
    names = ["x"] if ufunc.nin == 1 else [f"x{k}" for k in range(1, ufunc.nin + 1)]
    out = None if ufunc.nout == 1 else (None,) * ufunc.nout
    keywords = ({**OF_PRODUCTS, **OF_EVERY_UFUNC} if ufunc.signature else
                {"where": True, **OF_EVERY_UFUNC})
    return inspect.Signature([
        *(parameter(n, parameter.POSITIONAL_ONLY) for n in names),
        parameter("out", parameter.POSITIONAL_OR_KEYWORD, default=out),
        *(parameter(n, parameter.KEYWORD_ONLY, default=v) for n, v in keywords.items())])
