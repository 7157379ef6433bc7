"""Signatures of reductions: NumPy's, each as a function and as a method.

A reduction computes by a function ``core(a, axis, keepdims, out, dtype)``. NumPy computes what has
``initial=`` or ``where=``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ..layout.shapes import as_axes
from ..matrix.mat import Mat
from ..support.types import AxisLike, DTypeLike, Function, Number, Operand
from .operands import as_mat, is_foreign, numpy_gives

NO_VALUE: Number = np._NoValue  # NumPy's mark of an argument that is not given
_none = NO_VALUE
Core: TypeAlias = Callable[..., Mat]
Pair: TypeAlias = tuple[Function, Function]  # the function and the method

PARAMETERS = {
    "dtype": "dtype, optional\n    The elements are converted to it first.",
    "out": "Mat, optional\n    Is overwritten with the result; of its shape, and of a dtype that "
           "can take it.",
    "keepdims": "bool\n    Whether reduced axes are kept, with length 1.",
    "initial": "number, optional\n    Is reduced together with the elements.",
    "where": "Mat or array of bool, optional\n    Which elements are reduced; all by default.",
}


def plain(core: Core, new: Function, numpys: Function) -> Pair:  # as the others
    """Return a reduction with the parameters that all of NumPy's have."""
    def function(a: Operand, axis: AxisLike = None, dtype: DTypeLike = None,
                 out: Mat | None = None, keepdims: bool = False) -> Mat:
        if is_foreign(a):
            return _by_numpy(numpys, a, axis, keepdims, dtype=dtype, out=out)
        return core(a, axis, keepdims, out, dtype)

    def method(self: Mat, axis: AxisLike = None, dtype: DTypeLike = None,
               out: Mat | None = None, keepdims: bool = False) -> Mat:
        return core(self, axis, keepdims, out, dtype)

    return function, method


def as_sum(core: Core, new: Function, numpys: Function) -> Pair:
    """Return a reduction with the parameters of NumPy's sum."""
    # the signature is NumPy's
    def function(a: Operand, axis: AxisLike = None, dtype: DTypeLike = None,
                 out: Mat | None = None, keepdims: bool = False, initial: Number = _none,
                 where: Operand = _none) -> Mat:
        if initial is _none and where is _none:
            if (out is None and dtype is None and keepdims is False and type(a) is Mat
                    and (axis is None or type(axis) is int)):
                found: Mat = new((a, None, axis, False))  # the most frequent calls
                return found
            if (out is None or not _is_of_bools(out)) and not is_foreign(a):
                return core(a, axis, keepdims, out, dtype)
        return _by_numpy(numpys, a, axis, keepdims, dtype=dtype, out=out, initial=initial,
                         where=where)

    def method(self: Mat, axis: AxisLike = None, dtype: DTypeLike = None,
               out: Mat | None = None, keepdims: bool = False, initial: Number = _none,
               where: Operand = _none) -> Mat:
        if (out is None and dtype is None and initial is _none and where is _none
                and keepdims is False and (axis is None or type(axis) is int)):
            found: Mat = new((self, None, axis, False))
        else:
            found = function(self, axis, dtype, out, keepdims, initial, where)
        return found

    return function, method


def as_mean(core: Core, new: Function, numpys: Function) -> Pair:
    """Return a reduction with the parameters of NumPy's mean."""
    def function(a: Operand, axis: AxisLike = None, dtype: DTypeLike = None,
                 out: Mat | None = None, keepdims: bool = False, *,
                 where: Operand = _none) -> Mat:
        if where is _none:
            if (out is None and dtype is None and keepdims is False and type(a) is Mat
                    and (axis is None or type(axis) is int)):
                found: Mat = new((a, None, axis, False))
                return found
            if not is_foreign(a):
                return core(a, axis, keepdims, out, dtype)
        return _by_numpy(numpys, a, axis, keepdims, dtype=dtype, out=out, where=where)

    def method(self: Mat, axis: AxisLike = None, dtype: DTypeLike = None,
               out: Mat | None = None, keepdims: bool = False, *, where: Operand = _none) -> Mat:
        if (out is None and dtype is None and where is _none and keepdims is False
                and (axis is None or type(axis) is int)):
            found: Mat = new((self, None, axis, False))
        else:
            found = function(self, axis, dtype, out, keepdims, where=where)
        return found

    return function, method


def as_max(core: Core, new: Function, numpys: Function) -> Pair:
    """Return a reduction with the parameters of NumPy's max."""
    def function(a: Operand, axis: AxisLike = None, out: Mat | None = None,
                 keepdims: bool = False, initial: Number = _none, where: Operand = _none) -> Mat:
        if initial is _none and where is _none:
            if (out is None and keepdims is False and type(a) is Mat
                    and (axis is None or type(axis) is int)):
                found: Mat = new((a, None, axis, False))
                return found
            if not is_foreign(a):
                return core(a, axis, keepdims, out, None)
        return _by_numpy(numpys, a, axis, keepdims, out=out, initial=initial, where=where)

    def method(self: Mat, axis: AxisLike = None, out: Mat | None = None,
               keepdims: bool = False, initial: Number = _none, where: Operand = _none) -> Mat:
        if (out is None and initial is _none and where is _none and keepdims is False
                and (axis is None or type(axis) is int)):
            found: Mat = new((self, None, axis, False))
        else:
            found = function(self, axis, out, keepdims, initial, where)
        return found

    return function, method


def as_argmax(core: Core, new: Function, numpys: Function) -> Pair:
    """Return a reduction with the parameters of NumPy's argmax."""
    def function(a: Operand, axis: int | None = None, out: Mat | None = None, *,
                 keepdims: bool = False) -> Mat:
        if is_foreign(a):
            return _by_numpy(numpys, a, axis, keepdims, out=out)
        return core(a, axis, keepdims, out, None)

    def method(self: Mat, axis: int | None = None, out: Mat | None = None, *,
               keepdims: bool = False) -> Mat:
        if out is None and keepdims is False and (axis is None or type(axis) is int):
            found: Mat = new((self, None, axis, False))
        else:
            found = core(self, axis, keepdims, out, None)
        return found

    return function, method


def _is_of_bools(out: object) -> bool:
    """Return whether NumPy's sum would be computed in bool, the dtype of `out`."""
    return isinstance(out, Mat) and out.element_type.kind == "b"


def _by_numpy(numpys: Function, a: Operand, axis: AxisLike, keepdims: bool,
              **options: Operand) -> Mat:
    """Return NumPy's reduction, by a call back to ``__array_function__`` of a Mat."""
    given = {k: v for k, v in options.items() if v is not _none and (v is not None
                                                                     or k == "initial")}
    if is_foreign(a):
        if axis is not None:
            given["axis"] = axis
        if keepdims is not False:
            given["keepdims"] = keepdims
        return numpy_gives(numpys, (a,), given)
    x = as_mat(a, "a")
    if axis is not None:
        axis = as_axes(axis, x.ndim)
    found: Mat = numpys(x, axis=axis, keepdims=keepdims, **given)
    return found
