"""NumPy's element-wise functions that are no ufuncs."""

from __future__ import annotations

from ....matrix.mat import Mat
from ....ops import elementwise
from ....support.dtypes import REAL_TYPES
from ....support.types import Operand
from ..operands import is_mat_or_none
from ..registry import NO_VALUE, Result, implements

_FLOATS = "e" + REAL_TYPES  # of NumPy
_REAL = (int, float)


@implements("clip")
def numpy_clip(a: Operand, a_min: Operand = NO_VALUE, a_max: Operand = NO_VALUE,
               out: Operand = None, *, min: Operand = NO_VALUE, max: Operand = NO_VALUE,
               **kwargs: object) -> Result:
    low, high = (min if a_min is NO_VALUE else a_min), (max if a_max is NO_VALUE else a_max)
    bounds = [b for b in (low, high) if b is not NO_VALUE and b is not None]
    plain = (isinstance(a, Mat) and a.dtype.char in _FLOATS and is_mat_or_none(out) and not kwargs
             and bounds)
    if not plain or not all(type(b) in _REAL or (isinstance(b, Mat) and b.dtype == a.dtype)
                            for b in bounds):
        return NotImplemented
    if len(bounds) == 2:
        return elementwise.minimum(elementwise.maximum(a, low), high, out=out)
    if low is NO_VALUE or low is None:
        return elementwise.minimum(a, high, out=out)
    return elementwise.maximum(a, low, out=out)


@implements("round", "around")
def numpy_round(a: Operand, decimals: int = 0, out: Operand = None) -> Result:
    plain = (isinstance(a, Mat) and type(decimals) is int and decimals == 0
             and a.dtype.char in _FLOATS and is_mat_or_none(out))
    return elementwise.rint(a, out=out) if plain else NotImplemented
