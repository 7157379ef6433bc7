"""Reductions of the elements that ``where=`` chooses, and of a number together with them,
``initial=``: by element-wise choices before, and one operation after the reduction.
"""

from __future__ import annotations

import numpy as np

from ...errors import ShapeError
from ...layout.shapes import broadcast_shapes
from ...matrix.mat import Mat
from ...support.dtypes import represents
from ...support.types import AxisLike, Function, Number, Operand
from ..engine.by_numpy import LeftToNumPy, leave_if
from ..engine.operands import as_mat
from ..engine.reduce_signatures import NO_VALUE
from . import elementwise
from .selecting import where as selected


def mask_of(where: Operand, a: Mat) -> Mat:
    """Return ``where=`` as a Mat of the shape of `a`."""
    leave_if(not isinstance(where, Mat | np.ndarray | np.bool_ | bool | list))
    found = as_mat(where, "where")
    try:
        fits = found.dtype.kind == "b" and broadcast_shapes((found.shape, a.shape)) == a.shape
    except ShapeError:
        raise LeftToNumPy from None
    leave_if(not fits)
    return found.over(found.layout.broadcast_to(a.shape))


def chosen(mask: Mat, a: Mat, neutral: Number) -> Mat:
    """Return `a`, with the number `neutral` where `mask` is not true."""
    return selected(mask, a, as_mat(a.dtype.type(neutral), "a number"))


# the parameters are those of NumPy's functions, and three
def reduce_chosen(reduction: Function, rule: Function, a: Mat, axis: AxisLike, keepdims: bool,
                  initial: Operand, where: Operand, neutral: Number) -> Mat:
    """Return the reduction by `rule` of the elements where ``where=`` is true, and of `initial`.

    Where the reduction has no `neutral` element, `initial` is what the others are replaced by.
    """
    leave_if(not _adapts(initial, a))
    if where is not NO_VALUE:
        leave_if(neutral is NO_VALUE and initial is NO_VALUE)
        a = chosen(mask_of(where, a), a, initial if neutral is NO_VALUE else neutral)
    leave_if(neutral is NO_VALUE and not a.size)
    found: Mat = reduction(a, axis, keepdims)
    if initial is NO_VALUE:
        return found
    leave_if(not represents(found.dtype, initial))
    return rule(found, initial)


def _adapts(initial: Operand, a: Mat) -> bool:
    """Return whether the result has the dtype of the reduction with that `initial` number, too."""
    if initial is NO_VALUE:
        return True
    kind = a.dtype.kind
    return (type(initial) in (int, float) and kind in "iuf"
            and (type(initial) is int or kind == "f") and represents(a.dtype, initial))


def mean_chosen(total: Function, a: Mat, axis: AxisLike, keepdims: bool, where: Operand) -> Mat:
    """Return the mean of the elements where ``where=`` is true."""
    mask = mask_of(where, a)
    leave_if(a.dtype.kind not in "iubf" or a.dtype.itemsize == 2)
    if a.dtype.kind != "f":
        a = a.astype(np.float64)
    count = total(mask, axis, keepdims=keepdims)
    found: Mat = elementwise.divide(total(chosen(mask, a, 0), axis, keepdims=keepdims), count)
    return found if found.dtype == a.dtype else found.astype(a.dtype)
