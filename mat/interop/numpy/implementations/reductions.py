"""NumPy's reductions: sums, means, extremes, truth, running sums and traces.

NumPy's signatures have up to nine parameters.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ....matrix.mat import Mat
from ....ops import elementwise, reduce, truth, ufuncs
from ....support.types import AxisLike, DTypeLike, Function, Number, Operand
from ..operands import can_hold_sums, is_known_dtype, is_mat_or_array, is_mat_or_none
from ..registry import NO_VALUE, Result, implements
from .chosen import mask_of, mean_chosen, reduce_chosen

_COUNT_IS_INT = isinstance(np.count_nonzero(np.zeros(1)), int)  # before NumPy 2.4


def _reduce(reduction: Function, a: Operand, axis: AxisLike, out: Operand, keepdims: bool,
            *others: object) -> Result:
    """Call `reduction`; the `others` are arguments that NumPy is to compute with."""
    if not is_mat_or_array(a) or not can_hold_sums(out) or any(x is not NO_VALUE for x in others):
        return NotImplemented
    return reduction(a, axis, out=out, keepdims=False if keepdims is NO_VALUE else bool(keepdims))


def _reduce_as(reduction: Function, a: Operand, axis: AxisLike, dtype: DTypeLike, out: Operand,
               keepdims: bool, *others: object) -> Result:
    """Call `reduction` of elements that are converted to `dtype`."""
    if dtype is None:
        return _reduce(reduction, a, axis, out, keepdims, *others)
    wanted = np.dtype(dtype)
    if out is not None or not is_known_dtype(wanted) or not is_mat_or_array(a):
        return NotImplemented
    if (a.dtype.kind == "c" and wanted.kind != "c") or wanted.kind == "b":
        return NotImplemented
    return _reduce(partial(reduction, dtype=wanted), a, axis, out, keepdims, *others)


def _with_more(reduction: Function, rule: Function, a: Operand, axis: AxisLike, out: Operand,
               keepdims: bool, initial: Operand, where: Operand,
               neutral: Number) -> Result:  # the parameters are those of NumPy's functions
    """Call `reduction` of the elements that are chosen, together with `initial`."""
    return reduce_chosen(reduction, rule, a, axis, out, keepdims is not NO_VALUE and bool(keepdims),
                         initial, where, neutral)


@implements("sum")  # NumPy's signature
def numpy_sum(a: Operand, axis: AxisLike = None, dtype: DTypeLike = None, out: Operand = None,
              keepdims: bool = NO_VALUE, initial: Number = NO_VALUE,
              where: Operand = NO_VALUE) -> Result:
    if dtype is None and not (initial is NO_VALUE and where is NO_VALUE):
        return _with_more(reduce.sum, elementwise.add, a, axis, out, keepdims, initial, where,
                          0)
    return _reduce_as(reduce.sum, a, axis, dtype, out, keepdims, initial, where)


@implements("prod")  # NumPy's signature
def numpy_prod(a: Operand, axis: AxisLike = None, dtype: DTypeLike = None, out: Operand = None,
               keepdims: bool = NO_VALUE, initial: Number = NO_VALUE,
               where: Operand = NO_VALUE) -> Result:
    if dtype is None and not (initial is NO_VALUE and where is NO_VALUE):
        return _with_more(reduce.prod, elementwise.multiply, a, axis, out, keepdims, initial, where,
                          1)
    return _reduce_as(reduce.prod, a, axis, dtype, out, keepdims, initial, where)


@implements("mean")
def numpy_mean(a: Operand, axis: AxisLike = None, dtype: DTypeLike = None, out: Operand = None,
               keepdims: bool = NO_VALUE, *, where: Operand = NO_VALUE) -> Result:
    if where is not NO_VALUE and dtype is None and out is None:
        return mean_chosen(reduce.sum, a, axis, keepdims is not NO_VALUE and bool(keepdims), where)
    return _reduce_as(reduce.mean, a, axis, dtype, out, keepdims, where)


@implements("max", "amax")
def numpy_max(a: Operand, axis: AxisLike = None, out: Operand = None, keepdims: bool = NO_VALUE,
              initial: Number = NO_VALUE, where: Operand = NO_VALUE) -> Result:
    if not (initial is NO_VALUE and where is NO_VALUE):
        return _with_more(reduce.max, elementwise.maximum, a, axis, out, keepdims, initial, where,
                          NO_VALUE)
    return _reduce(reduce.max, a, axis, out, keepdims)


@implements("min", "amin")
def numpy_min(a: Operand, axis: AxisLike = None, out: Operand = None, keepdims: bool = NO_VALUE,
              initial: Number = NO_VALUE, where: Operand = NO_VALUE) -> Result:
    if not (initial is NO_VALUE and where is NO_VALUE):
        return _with_more(reduce.min, elementwise.minimum, a, axis, out, keepdims, initial, where,
                          NO_VALUE)
    return _reduce(reduce.min, a, axis, out, keepdims)


@implements("argmax")
def numpy_argmax(a: Operand, axis: int | None = None, out: Operand = None, *,
                 keepdims: bool = NO_VALUE) -> Result:
    return _reduce(reduce.argmax, a, axis, out, keepdims)


@implements("argmin")
def numpy_argmin(a: Operand, axis: int | None = None, out: Operand = None, *,
                 keepdims: bool = NO_VALUE) -> Result:
    return _reduce(reduce.argmin, a, axis, out, keepdims)


@implements("any")
def numpy_any(a: Operand, axis: AxisLike = None, out: Operand = None,
              keepdims: bool = NO_VALUE, *, where: Operand = NO_VALUE) -> Result:
    return _decide(truth.any_true, a, axis, out, keepdims, where)


@implements("all")
def numpy_all(a: Operand, axis: AxisLike = None, out: Operand = None,
              keepdims: bool = NO_VALUE, *, where: Operand = NO_VALUE) -> Result:
    return _decide(truth.all_true, a, axis, out, keepdims, where)


def _decide(reduction: Function, a: Operand, axis: AxisLike, out: Operand, keepdims: bool,
            where: Operand) -> Result:
    if not isinstance(a, Mat) or not is_mat_or_none(out):
        return NotImplemented
    if where is not NO_VALUE:
        mask = mask_of(where, a)
        if mask is None:
            return NotImplemented
        a = (ufuncs.logical_and(a, mask) if reduction is truth.any_true
             else ufuncs.logical_or(a, ufuncs.logical_not(mask)))
    if out is not None and out.element_type.kind != "b":
        return NotImplemented
    return reduction(a, axis, False if keepdims is NO_VALUE else bool(keepdims), out)


@implements("count_nonzero")
def numpy_count_nonzero(a: Operand, axis: AxisLike = None, *, keepdims: bool = False) -> Result:
    if not isinstance(a, Mat):
        return NotImplemented
    found = truth.count_true(a, axis, bool(keepdims))
    return int(found.item()) if _COUNT_IS_INT and axis is None and not keepdims else found




@implements("trace", of_many=True)
def numpy_trace(a: Operand, offset: int = 0, axis1: int = 0, axis2: int = 1,
                dtype: DTypeLike = None, out: Operand = None) -> Result:
    if not isinstance(a, Mat) or a.ndim < 2 or dtype is not None or not can_hold_sums(out):
        return NotImplemented
    return reduce.sum(a.diagonal(offset, axis1, axis2), -1, out=out)


@implements("linalg.trace")
def numpy_linalg_trace(x: Mat, /, *, offset: int = 0, dtype: DTypeLike = None) -> Result:
    if x.ndim < 2 or dtype is not None:
        return NotImplemented
    return reduce.sum(x.diagonal(offset, -2, -1), -1)
