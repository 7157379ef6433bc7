"""Functions of `mat` for NumPy's ufuncs, at the first use of their names: operations of `mat`, or
functions that call NumPy's with Mats, arrays, sequences and numbers, as ``np.f(x)`` does of a Mat.
"""

from __future__ import annotations

import inspect

import numpy as np

from ...core.compiled import give_vectorcall
from ...errors import DTypeError, ShapeError
from ...matrix.mat import Mat
from ...ops.engine.by_numpy import refuse_other_elements, ufunc_by_numpy
from ...ops.engine.functions import OF_EVERY_UFUNC, OF_PRODUCTS, FunctionOfMatrices, Ufunc
from ...ops.engine.operands import is_foreign, numpy_gives
from ...support.plugins import at_first_use
from ...support.types import Arguments, Function, Keywords, Operand
from ..array_ufunc import IMPLEMENTATIONS, by_method, implementation_of, of_few_elements
from ..operands import as_mat_if_possible
from ..registry import COMPOSED_NAMES, is_implemented
from ..ufunc_at import at_briefly

functions = at_first_use("numpy_functions")  # not for methods of operations
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
    where = functions.BY_US if ours_too else functions.BY_NUMPY
    return add_methods(functions.describe(NumpysUfunc(ufunc), name, ufunc.__name__, signature,
                                          signature.parameters, where), ufunc)


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
    if ufunc in IMPLEMENTATIONS and not any(type(x) is Mat for x in args):
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
    for ufunc, implementation in tuple(IMPLEMENTATIONS.items()):
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
