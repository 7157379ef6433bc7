"""Signatures of reductions, which are NumPy's, each written once: for `mat.f`, `x.f` and `np.f`.

The most frequent calls go to ``new``, which computes them for arguments of one form; the others to
``reduce(a, axis, keepdims, out, dtype, initial, where)``.
"""

from __future__ import annotations

from types import FunctionType

import numpy as np

from ...matrix.mat import Mat
from ...support.types import AxisLike, DTypeLike, Function, Number, Operand

NO_VALUE: Number = np._NoValue  # NumPy's mark of an argument that is not given
_none = NO_VALUE

PARAMETERS = {
    "dtype": "dtype, optional\n    The elements are converted to it first.",
    "out": "Mat, optional\n    Is overwritten with the result; of its shape, and of a dtype that "
           "can take it.",
    "keepdims": "bool\n    Whether reduced axes are kept, with length 1.",
    "initial": "number, optional\n    Is reduced together with the elements.",
    "where": "Mat or array of bool, optional\n    Which elements are reduced; all by default.",
}


def as_sum(new: Function, reduce: Function) -> Function:
    """Return a reduction with the parameters of NumPy's sum."""
    # the parameters are NumPy's
    def function(a: Operand, axis: AxisLike = None, dtype: DTypeLike = None,
                 out: Mat | None = None, keepdims: bool = False, initial: Number = _none,
                 where: Operand = _none) -> Mat:
        if (out is None and dtype is None and initial is _none and where is _none
                and keepdims is False and type(a) is Mat and (axis is None or type(axis) is int)):
            return new((a, None, axis, False))
        return reduce(a, axis, keepdims, out, dtype, initial, where)

    return function


def as_mean(new: Function, reduce: Function) -> Function:
    """Return a reduction with the parameters of NumPy's mean."""
    def function(a: Operand, axis: AxisLike = None, dtype: DTypeLike = None,
                 out: Mat | None = None, keepdims: bool = False, *,
                 where: Operand = _none) -> Mat:
        if (out is None and dtype is None and where is _none and keepdims is False
                and type(a) is Mat and (axis is None or type(axis) is int)):
            return new((a, None, axis, False))
        return reduce(a, axis, keepdims, out, dtype, _none, where)

    return function


def as_max(new: Function, reduce: Function) -> Function:
    """Return a reduction with the parameters of NumPy's max."""
    def function(a: Operand, axis: AxisLike = None, out: Mat | None = None,
                 keepdims: bool = False, initial: Number = _none, where: Operand = _none) -> Mat:
        if (out is None and initial is _none and where is _none and keepdims is False
                and type(a) is Mat and (axis is None or type(axis) is int)):
            return new((a, None, axis, False))
        return reduce(a, axis, keepdims, out, None, initial, where)

    return function


def as_argmax(new: Function, reduce: Function) -> Function:
    """Return a reduction with the parameters of NumPy's argmax."""
    def function(a: Operand, axis: int | None = None, out: Mat | None = None, *,
                 keepdims: bool = False) -> Mat:
        if (out is None and keepdims is False and type(a) is Mat
                and (axis is None or type(axis) is int)):
            return new((a, None, axis, False))
        return reduce(a, axis, keepdims, out, None, _none, _none)

    return function


def method_of(function: Function) -> Function:
    """Return a function as a method, whose first parameter is self."""
    assert isinstance(function, FunctionType)
    code = function.__code__
    method = FunctionType(code.replace(co_varnames=("self", *code.co_varnames[1:])),
                          function.__globals__, function.__name__, function.__defaults__,
                          function.__closure__)
    method.__kwdefaults__ = function.__kwdefaults__
    method.__annotations__ = {k: v for k, v in function.__annotations__.items() if k != "a"}
    return method
