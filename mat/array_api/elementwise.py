"""Element-wise functions of the standard: operations of `mat` on the device in use where it has
them, NumPy's for the rest.

Where the standard differs from NumPy's function of that name, it is implemented here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ..errors import DTypeError
from ..interop.numpy import operators
from ..interop.numpy.operators import by_numpy
from ..matrix.mat import Mat
from ..ops import elementwise as ew
from ..ops import ufuncs
from ..support.dtypes import check_operand
from ..support.types import ArrayLike, Function, Operand
from .arguments import as_pair, as_value, mat_of, public

__all__ = [
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and",
    "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
    "ceil", "clip", "conj", "copysign", "cos", "cosh", "divide", "equal", "exp", "expm1",
    "floor", "floor_divide", "greater", "greater_equal", "hypot", "imag", "isfinite", "isinf",
    "isnan", "less", "less_equal", "log", "log1p", "log2", "log10", "logaddexp", "logical_and",
    "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "multiply", "negative",
    "nextafter", "not_equal", "positive", "pow", "real", "reciprocal", "remainder", "round",
    "sign", "signbit", "sin", "sinh", "sqrt", "square", "subtract", "tan", "tanh", "trunc",
]


_X = """x : array
    Of any shape."""
_PAIR = """x1, x2 : array or number
    Of shapes that broadcast. A Python number adapts to the dtype of the other operand."""
_BROADCAST = "Of the shape that both operands broadcast to."

Unary: TypeAlias = Callable[[ArrayLike], Mat]
Binary: TypeAlias = Callable[[ArrayLike], Mat]


def _unary(name: str, function: Function, summary: str) -> Unary:
    """Return ``name(x)``, computed by an operation of `mat`."""
    def unary(x: ArrayLike, /) -> Mat:
        found: Mat = function(mat_of(x))
        return found

    return public(name, unary, summary, _X)


def _rounding(name: str, function: Function, summary: str) -> Unary:
    """Return ``name(x)``, which copies integers and rounds other numbers."""
    def rounding(x: ArrayLike, /) -> Mat:
        x = mat_of(x)
        found: Mat = x.copy() if x.dtype.kind in "iub" else function(x)
        return found

    return public(name, rounding, summary, _X)


def _binary(name: str, function: Function, summary: str) -> Binary:
    """Return ``name(x1, x2)``, computed by `function`, which takes Mats and numbers."""
    def binary(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
        found: Mat = function(*as_pair(x1, x2))
        return found

    return public(name, binary, summary, _PAIR, _BROADCAST)


# By operations of `mat`

abs: Unary = _unary("abs", ew.abs,
                    "Return absolute values, which of complex numbers are the moduli.")
ceil: Unary = _rounding("ceil", ew.ceil, "Return the smallest integers not below x.")
cos: Unary = _unary("cos", ew.cos, "Return the cosine of x, in radians.")
cosh: Unary = _unary("cosh", ew.cosh, "Return the hyperbolic cosine of x.")
exp: Unary = _unary("exp", ew.exp, "Return e to the power of x.")
expm1: Unary = _unary("expm1", ew.expm1, "Return ``exp(x) - 1``, which is accurate also near 0.")
floor: Unary = _rounding("floor", ew.floor, "Return the largest integers not above x.")
log: Unary = _unary("log", ew.log, "Return the natural logarithm of x.")
log1p: Unary = _unary("log1p", ew.log1p, "Return ``log(1 + x)``, which is accurate also near 0.")
negative: Unary = _unary("negative", ew.negative, "Return ``-x``.")
positive: Unary = _unary("positive", operators.positive, "Return ``+x``: a copy.")
reciprocal: Unary = _unary("reciprocal", ew.reciprocal, "Return ``1 / x``.")
round: Unary = _rounding("round", ew.rint, "Return the nearest integers, and of two the even one.")
sign: Unary = _unary("sign", ew.sign, "Return -1, 0 or 1 where x is below, at or above 0; "
                                      "``x / abs(x)`` of complex numbers.")
sin: Unary = _unary("sin", ew.sin, "Return the sine of x, in radians.")
sinh: Unary = _unary("sinh", ew.sinh, "Return the hyperbolic sine of x.")
sqrt: Unary = _unary("sqrt", ew.sqrt, "Return the square root of x.")
square: Unary = _unary("square", ew.square, "Return ``x * x``.")
tan: Unary = _unary("tan", ew.tan, "Return the tangent of x, in radians.")
tanh: Unary = _unary("tanh", ew.tanh, "Return the hyperbolic tangent of x.")
bitwise_invert: Unary = _unary("bitwise_invert", ufuncs.invert, "Return ``~x``.")

add: Binary = _binary("add", ew.add, "Return ``x1 + x2``.")
divide: Binary = _binary("divide", ew.divide, "Return ``x1 / x2``.")
equal: Binary = _binary("equal", ew.equal, "Return ``x1 == x2``, as bool.")
greater: Binary = _binary("greater", ew.greater, "Return ``x1 > x2``, as bool.")
greater_equal: Binary = _binary("greater_equal", ew.greater_equal, "Return ``x1 >= x2``, as bool.")
less: Binary = _binary("less", ew.less, "Return ``x1 < x2``, as bool.")
less_equal: Binary = _binary("less_equal", ew.less_equal, "Return ``x1 <= x2``, as bool.")
maximum: Binary = _binary("maximum", ew.maximum,
                          "Return the larger of x1 and x2; NaN if either is NaN.")
minimum: Binary = _binary("minimum", ew.minimum,
                          "Return the smaller of x1 and x2; NaN if either is NaN.")
multiply: Binary = _binary("multiply", ew.multiply, "Return ``x1 * x2``.")
not_equal: Binary = _binary("not_equal", ew.not_equal, "Return ``x1 != x2``, as bool.")
pow: Binary = _binary("pow", ew.pow, "Return ``x1 ** x2``.")
subtract: Binary = _binary("subtract", ew.subtract, "Return ``x1 - x2``.")

bitwise_and: Binary = _binary("bitwise_and", ufuncs.bitwise_and, "Return ``x1 & x2``.")
bitwise_or: Binary = _binary("bitwise_or", ufuncs.bitwise_or, "Return ``x1 | x2``.")
bitwise_xor: Binary = _binary("bitwise_xor", ufuncs.bitwise_xor, "Return ``x1 ^ x2``.")
logical_and: Binary = _binary("logical_and", ufuncs.logical_and,
                              "Return whether both are true, as bool.")
logical_or: Binary = _binary("logical_or", ufuncs.logical_or,
                             "Return whether one or both are true, as bool.")
logical_xor: Binary = _binary("logical_xor", ufuncs.logical_xor,
                              "Return whether just one is true, as bool.")
logical_not: Unary = _unary("logical_not", ufuncs.logical_not,
                            "Return whether x is false, as bool.")
isnan: Unary = _unary("isnan", ew.isnan, "Return whether x is NaN, as bool.")
isfinite: Unary = _unary("isfinite", ew.isfinite,
                         "Return whether x is neither infinite nor NaN, as bool.")
isinf: Unary = _unary("isinf", ew.isinf, "Return whether x is infinite, of either sign, as bool.")


def clip(x: ArrayLike, /, min: ArrayLike | None = None, max: ArrayLike | None = None) -> Mat:
    """Return x, but not below `min` and not above `max`, in x's dtype.

    Parameters
    ----------
    x : array
        Of any shape.
    min, max : array or number, optional
        Bounds that broadcast with `x`; None for no bound.

    Returns
    -------
    Mat
        Of the shape that all broadcast to.
    """
    found = mat_of(x)
    low, high = _bound(found, min), _bound(found, max)
    if low is None and high is None:
        return found.copy()
    if low is not None and high is not None and found.dtype.kind in "iuf":
        return _between(found, low, high)
    if low is not None:
        found = ew.maximum(found, low)
    if high is not None:
        found = ew.minimum(found, high)
    return found


def _between(x: Mat, low: Operand, high: Operand) -> Mat:
    found: Mat = ew.clip(x, low, high)
    return found


def _bound(x: Mat, value: Operand) -> Operand:
    """Return `value` in x's dtype.

    A Python integer that is out of the range of x's dtype becomes the limit of that range.
    """
    if value is None:
        return None
    value = as_value(value)
    if isinstance(value, Mat):
        return value if value.dtype == x.dtype else value.astype(x.dtype)
    if x.dtype.kind in "iu":
        limits = np.iinfo(x.dtype)
        return int(np.clip(value, limits.min, limits.max)) if isinstance(value, int) else value
    check_operand(value, x.dtype, "a bound")
    return value


acos: Unary = _unary("acos", ufuncs.arccos, "Return the angle in radians whose cosine is x.")
acosh: Unary = _unary("acosh", ufuncs.arccosh, "Return the inverse hyperbolic cosine of x.")
asin: Unary = _unary("asin", ufuncs.arcsin, "Return the angle in radians whose sine is x.")
asinh: Unary = _unary("asinh", ufuncs.arcsinh, "Return the inverse hyperbolic sine of x.")
atan: Unary = _unary("atan", ufuncs.arctan, "Return the angle in radians whose tangent is x.")
atanh: Unary = _unary("atanh", ufuncs.arctanh, "Return the inverse hyperbolic tangent of x.")
log10: Unary = _unary("log10", ufuncs.log10, "Return the logarithm of x to base 10.")
log2: Unary = _unary("log2", ufuncs.log2, "Return the logarithm of x to base 2.")
signbit: Unary = _unary("signbit", ufuncs.signbit, "Return whether the sign bit is set, that of -0 "
                                                   "and NaN too, as bool.")
trunc: Unary = _rounding("trunc", ufuncs.trunc, "Return the integer part of x.")

atan2: Binary = _binary("atan2", ufuncs.arctan2,
                        "Return the angle of the point (x2, x1), in radians.")
bitwise_left_shift: Binary = _binary("bitwise_left_shift", ufuncs.left_shift,
                                     "Return ``x1 << x2``.")
bitwise_right_shift: Binary = _binary("bitwise_right_shift", ufuncs.right_shift,
                                      "Return ``x1 >> x2``.")
copysign: Binary = _binary("copysign", ufuncs.copysign,
                           "Return the magnitude of x1 with the sign of x2.")
floor_divide: Binary = _binary("floor_divide", ufuncs.floor_divide, "Return ``x1 // x2``.")
hypot: Binary = _binary("hypot", ufuncs.hypot,
                        "Return ``sqrt(x1 * x1 + x2 * x2)``, without overflow.")
logaddexp: Binary = _binary("logaddexp", ufuncs.logaddexp,
                            "Return ``log(exp(x1) + exp(x2))``, without overflow.")
nextafter: Binary = _binary("nextafter", ufuncs.nextafter,
                            "Return the next number after x1 towards x2.")
remainder: Binary = _binary("remainder", ufuncs.remainder,
                            "Return ``x1 % x2``, with the sign of x2.")


def _real(x: ArrayLike, /) -> Mat:
    return by_numpy(np.real, mat_of(x))


def _imag(x: ArrayLike, /) -> Mat:
    x = mat_of(x)
    if x.dtype.kind != "c":
        raise DTypeError(f"imag wants complex numbers, got {x.dtype}")
    return by_numpy(np.imag, x)


conj: Unary = _unary("conj", ufuncs.conjugate, "Return the complex conjugate of x.")
real: Unary = public("real", _real, "Return the real part of complex numbers.", _X)
imag: Unary = public("imag", _imag, "Return the imaginary part of complex numbers.", _X)
