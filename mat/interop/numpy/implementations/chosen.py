"""NumPy's reductions of the elements that ``where=`` chooses, and of a number together with them,
``initial=``: by element-wise choices before, and one operation after the reduction.
"""

from __future__ import annotations

import numpy as np

from ....errors import ShapeError
from ....layout.shapes import broadcast_shapes
from ....matrix.mat import Mat
from ....ops import elementwise, truth
from ....ops.operands import as_mat
from ....support.dtypes import represents
from ....support.types import AxisLike, Function, Number, Operand
from ..registry import NO_VALUE, Result


def mask_of(where: Operand, a: Operand) -> Mat | None:
    """Return ``where=`` as a Mat of the shape of `a`, or None if it is none that fits."""
    if not isinstance(a, Mat) or not isinstance(where, Mat | np.ndarray | np.bool_ | bool | list):
        return None
    found = as_mat(where, "where")
    try:
        fits = found.dtype.kind == "b" and broadcast_shapes((found.shape, a.shape)) == a.shape
    except ShapeError:
        return None
    return found.over(found.layout.broadcast_to(a.shape)) if fits else None


def chosen(mask: Mat, a: Mat, neutral: Number) -> Mat:
    """Return `a`, with the number `neutral` where `mask` is not true."""
    where: Function = np.where  # of Mats, a Mat
    found: Mat = where(mask, a, a.dtype.type(neutral))
    return found


# the parameters are those of NumPy's functions, and three
def reduce_chosen(reduction: Function, rule: Function, a: Operand, axis: AxisLike, out: Operand,
                  keepdims: bool, initial: Operand, where: Operand, neutral: Number) -> Result:
    """Return the reduction by `rule` of the elements where ``where=`` is true, and of `initial`.

    Where the reduction has no `neutral` element, `initial` is what the others are replaced by.
    """
    if not isinstance(a, Mat) or out is not None or not _adapts(initial, a):
        return NotImplemented
    if where is not NO_VALUE:
        mask = mask_of(where, a)
        if mask is None or (neutral is NO_VALUE and initial is NO_VALUE):
            return NotImplemented
        a = chosen(mask, a, initial if neutral is NO_VALUE else neutral)
    if neutral is NO_VALUE and not a.size:
        return NotImplemented
    found = reduction(a, axis, keepdims=keepdims)
    if initial is NO_VALUE:
        return found
    if not represents(found.dtype, initial):
        return NotImplemented
    return rule(found, initial)


def _adapts(initial: Operand, a: Mat) -> bool:
    """Return whether the result has the dtype of the reduction with that `initial` number, too."""
    if initial is NO_VALUE:
        return True
    kind = a.dtype.kind
    return (type(initial) in (int, float) and kind in "iuf"
            and (type(initial) is int or kind == "f") and represents(a.dtype, initial))


def mean_chosen(total: Function, a: Operand, axis: AxisLike, keepdims: bool,
                where: Operand) -> Result:  # the parameters are those of NumPy's function, and two
    """Return the mean of the elements where ``where=`` is true."""
    mask = mask_of(where, a)
    if mask is None or a.dtype.kind not in "iubf" or a.dtype.itemsize == 2:
        return NotImplemented
    if a.dtype.kind != "f":
        a = a.astype(np.float64)
    count = truth.count_true(mask, axis, keepdims)
    found = elementwise.divide(total(chosen(mask, a, 0), axis, keepdims=keepdims), count)
    return found if found.dtype == a.dtype else found.astype(a.dtype)
