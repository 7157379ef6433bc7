"""Conversions of operands before the checks: Python's integers beyond the range of a Mat's dtype,
where NumPy takes them (comparisons, and division with floating-point results), and other types than
bool for logic on devices.
"""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from ...devices.in_use import has_kernels
from ...errors import RangeError
from ...matrix.mat import Mat
from ...support.dtypes import represents
from ...support.types import Arguments, DType, Number, Operand

_COMPARISONS = frozenset((np.equal, np.not_equal, np.less, np.less_equal, np.greater,
                          np.greater_equal))
_NUMBERS = (int, float, complex, np.number)


def as_booleans(args: Arguments) -> Arguments:
    """Return the arguments of logic with numbers as booleans, since kernels that compute with these
    would convert 0.5 to 0. On a device with kernels of its own, which cannot convert to a lower
    kind, Mats become booleans, too.
    """
    x, y, out = args
    mats = has_kernels()
    return _truth(x, mats), _truth(y, mats), out


def _truth(value: Operand, mats: bool) -> Operand:
    if isinstance(value, _NUMBERS):
        return bool(value)
    return value != 0 if mats and isinstance(value, Mat) and value.dtype.kind != "b" else value


def beyond_integers(args: Arguments) -> Arguments:
    """Return the arguments of a comparison with an infinity for such an integer."""
    return _adapted(args, lambda value: math.inf if value > 0 else -math.inf)


def as_floats(args: Arguments) -> Arguments:
    """Return the arguments of a division with such an integer as a float."""
    return _adapted(args, _as_float)


def as_loop_numbers(rule: np.ufunc, args: Arguments) -> Arguments:
    """Return the arguments of a function with floating-point results, with such an integer in the
    dtype that `rule` computes in for the other operand.
    """
    def change(value: int) -> Number:
        dtype = next(x.dtype for x in args[:2] if isinstance(x, Mat))
        with np.errstate(over="ignore"):
            return rule.resolve_dtypes((dtype, int, None))[0].type(_as_float(value))

    return _adapted(args, change)


def in_comparison(ufunc: np.ufunc, operands: Arguments) -> Arguments:
    """Return the operands of NumPy's `ufunc`, of a comparison with an infinity for an integer that
    the others cannot hold: with ``where=`` NumPy 2.4 ends the process.
    """
    if ufunc not in _COMPARISONS:
        return operands
    return beyond_integers((*operands, None))[:-1] if len(operands) == 2 else operands


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        raise RangeError(f"an integer of {value.bit_length()} bits is too large for "
                         "float64") from None


def _adapted(args: Arguments, change: Number) -> Arguments:
    x, y, out = args
    one, other = _dtype_of(x), _dtype_of(y)
    if type(x) is int and other is not None and not represents(other, x):
        return change(x), y, out
    if type(y) is int and one is not None and not represents(one, y):
        return x, change(y), out
    return args


def _dtype_of(value: object) -> DType | None:
    """Return the dtype of a Mat or an array of integers."""
    if not isinstance(value, Mat | np.ndarray):
        return None
    dtype = cast("np.dtype[np.generic]", value.dtype)
    return dtype if dtype.kind in "iu" else None
