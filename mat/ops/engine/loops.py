"""The dtypes in which NumPy's ufuncs compute with Mats, arrays and numbers, and the conversion of
operands that kernels cannot take as they are.
"""

from __future__ import annotations

import math
from functools import cache
from typing import cast

import numpy as np

from ...devices.in_use import has_kernels
from ...errors import DTypeError, RangeError
from ...matrix.mat import Mat
from ...support.dtypes import FLOATING, INTEGERS, represents
from ...support.types import Arguments, DType, DTypeLike, Number, Operand

LOGIC = frozenset((np.logical_and, np.logical_or, np.logical_xor))
_BOOL, _TRUTHS = np.dtype(np.bool_), frozenset(INTEGERS + FLOATING)
_WEAK: dict[type, DType | type] = {bool: _BOOL, int: int, float: float, complex: complex}


def _kind(value: object) -> DType | type:
    """Return the dtype of a value, or the type of a Python number, which adapts."""
    if isinstance(value, Mat):
        return value.element_type
    return _WEAK.get(type(value)) or np.asarray(value).dtype


def loop_dtypes(rule: np.ufunc, *operands: Operand) -> tuple[DType, ...]:
    """Return the dtypes in which `rule` computes: bool for logic of several dtypes."""
    if rule in LOGIC:
        of_mats = {x.element_type for x in operands if isinstance(x, Mat)}
        one = of_mats.pop() if len(of_mats) == 1 else _BOOL
        return (*(one if one.char in _TRUTHS else _BOOL,) * 2, _BOOL)
    kinds = [_kind(x) for x in operands]
    try:
        return _resolved(rule, *kinds)
    except TypeError:
        names = " and ".join(str(getattr(k, "name", getattr(k, "__name__", k))) for k in kinds)
        raise DTypeError(f"{rule.__name__} is not defined for {names}; convert with "
                         "astype") from None


@cache
def _resolved(rule: np.ufunc, *kinds: DType | type) -> tuple[DType, ...]:
    return rule.resolve_dtypes((*kinds, None))


def is_natural(ufunc: np.ufunc, inputs: Arguments, dtype: DTypeLike) -> bool:
    """Return whether ``dtype=`` requests the ufunc's own computation, in one dtype."""
    if dtype is None:
        return True
    if ufunc.nout != 1 or ufunc.signature is not None:
        return False
    try:
        found = loop_dtypes(ufunc, *inputs)
    except DTypeError:  # it is defined for other dtypes only, such as subtract, which has no bool
        return False
    wanted = np.dtype(dtype)
    return wanted == _BOOL if ufunc in LOGIC else all(d == wanted for d in found)


# Conversions of operands before the checks: Python's integers beyond the range of a Mat's dtype,
# where NumPy takes them (comparisons, and division with floating-point results), and other types
# than bool for logic on devices


_COMPARISONS = frozenset((np.equal, np.not_equal, np.less, np.less_equal, np.greater,
                          np.greater_equal))
_NUMBERS = (int, float, complex, np.number)


def as_booleans(args: Arguments) -> Arguments:
    """Return the arguments of logic with booleans for numbers, and on devices for Mats."""
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
    """Return the arguments with such an integer in the dtype in which `rule` computes."""
    def change(value: int) -> Number:
        dtype = next(x.dtype for x in args[:2] if isinstance(x, Mat))
        with np.errstate(over="ignore"):
            return rule.resolve_dtypes((dtype, int, None))[0].type(_as_float(value))

    return _adapted(args, change)


def in_comparison(ufunc: np.ufunc, operands: Arguments) -> Arguments:
    """Return the operands, without integers by which NumPy 2.4's comparisons end the process."""
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
