"""NumPy's element-wise functions that are no ufuncs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....matrix.mat import Mat
from ....ops import elementwise
from ....support.dtypes import INTEGERS, REAL_TYPES, represents
from ....support.types import Operand
from ..dispatch import delegate
from ..operands import is_mat_or_none
from ..registry import NO_VALUE, Result, implements

_FLOATS = "e" + REAL_TYPES  # of NumPy
_CLIPPED = _FLOATS + INTEGERS
_REAL = (int, float)


@implements("clip")
def numpy_clip(a: Operand, a_min: Operand = NO_VALUE, a_max: Operand = NO_VALUE,
               out: Operand = None, *, min: Operand = NO_VALUE, max: Operand = NO_VALUE,
               **kwargs: object) -> Result:
    both = {a_min is NO_VALUE and a_max is NO_VALUE, min is NO_VALUE and max is NO_VALUE} == {False}
    low, high = (min if a_min is NO_VALUE else a_min), (max if a_max is NO_VALUE else a_max)
    low, high = (None if b is NO_VALUE else b for b in (low, high))
    unbound = low is None and high is None
    if both or kwargs or unbound or not isinstance(a, Mat) or not is_mat_or_none(out):
        return NotImplemented
    if not _is_bound(low, a) or not _is_bound(high, a):
        return NotImplemented
    if low is None:
        return elementwise.minimum(a, high, out=out)
    if high is None:
        return elementwise.maximum(a, low, out=out)
    return elementwise.clip(a, low, high, out)


@implements("piecewise")
def numpy_piecewise(x: Operand, condlist: Operand, funclist: Sequence[Operand], *args: Operand,
                    **kw: Operand) -> Result:
    if not isinstance(condlist, Mat) or condlist.ndim:
        return NotImplemented
    # one condition without axes is for NumPy a number, not an array
    return delegate(np.piecewise, [x, bool(condlist), funclist, *args], kw)


def _is_bound(value: Operand, a: Mat) -> bool:
    """Return whether `value` is None, or a bound for which the result has the dtype of `a`."""
    dtype = a.storage.dtype
    if value is None:
        return True
    if isinstance(value, Mat):
        return value.storage.dtype == dtype and dtype.char in _CLIPPED
    if dtype.char in _FLOATS:
        return type(value) in _REAL
    return type(value) is int and dtype.char in INTEGERS and represents(dtype, value)


@implements("round", "around")
def numpy_round(a: Operand, decimals: int = 0, out: Operand = None) -> Result:
    plain = (isinstance(a, Mat) and type(decimals) is int and abs(decimals) < 300
             and a.dtype.char in _FLOATS and is_mat_or_none(out))
    if not plain or (out is not None and out.dtype != a.dtype):
        return NotImplemented
    if decimals == 0:
        return elementwise.rint(a, out=out)
    scaled, unscaled = elementwise.multiply, elementwise.divide
    if decimals < 0:
        scaled, unscaled = unscaled, scaled
    factor = 10.0 ** abs(decimals)
    found = elementwise.rint(scaled(a, factor, out=out))
    return unscaled(found, factor, out=found if out is None else out)
