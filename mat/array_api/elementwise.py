"""Element-wise functions of the standard: ours where we have them, on whatever device is in use;
NumPy's for the rest.

Where the standard wants something else than NumPy's name gives, it is settled here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import DTypeError
from ..interop.numpy import operators
from ..interop.numpy.operators import binary_by_numpy, by_numpy, invert
from ..matrix.mat import Mat
from ..ops import elementwise as ours
from ..ops.declare_elementwise import result_dtype
from ..support.dtypes import check_operand
from .arguments import as_mat, as_pair, as_value, public

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "ceil",
    "clip",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "divide",
    "equal",
    "exp",
    "expm1",
    "floor",
    "floor_divide",
    "greater",
    "greater_equal",
    "hypot",
    "imag",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "real",
    "reciprocal",
    "remainder",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "trunc",
]


def _unary(name: str, function: Callable[..., Any], doc: str) -> Callable[..., Any]:
    """``name(x)`` by a function of ours."""
    def computed(x: Any, /) -> Any:
        return function(as_mat(x))

    return public(name, computed, doc)


def _rounding(name: str, function: Callable[..., Any], doc: str) -> Callable[..., Any]:
    """The same of one that integers are what they are for."""
    def computed(x: Any, /) -> Any:
        x = as_mat(x)
        return x.copy() if x.dtype.kind in "iub" else function(x)

    return public(name, computed, doc)


def _numpys(name: str, rule: np.ufunc, doc: str) -> Callable[..., Any]:
    """``name(x)`` by NumPy."""
    def computed(x: Any, /) -> Any:
        x = as_mat(x)
        result_dtype(rule, x)
        return by_numpy(rule, x)

    return public(name, computed, doc)


def _binary(name: str, function: Callable[..., Any], doc: str) -> Callable[..., Any]:
    """``name(x1, x2)`` by a function of ours, or of NumPy by way of `two`."""
    def computed(x1: Any, x2: Any, /) -> Any:
        return function(*as_pair(x1, x2))

    return public(name, computed, doc)


# Ours

# the standard's names
abs = _unary("abs", ours.abs, "The absolute value; the modulus of a complex number.")
ceil = _rounding("ceil", ours.ceil, "The smallest integer not below x.")
cos = _unary("cos", ours.cos, "The cosine of x radians.")
cosh = _unary("cosh", ours.cosh, "The hyperbolic cosine.")
exp = _unary("exp", ours.exp, "e to the power of x.")
expm1 = _unary("expm1", ours.expm1, "``exp(x) - 1``, exact also near 0.")
floor = _rounding("floor", ours.floor, "The largest integer not above x.")
log = _unary("log", ours.log, "The natural logarithm.")
log1p = _unary("log1p", ours.log1p, "``log(1 + x)``, exact also near 0.")
negative = _unary("negative", ours.negative, "``-x``")
positive = _unary("positive", operators.positive, "``+x``: a copy.")
reciprocal = _unary("reciprocal", ours.reciprocal, "``1 / x``")
round = _rounding("round", ours.rint, "The nearest integer; of two, the even one.")
sign = _unary("sign", ours.sign, "-1, 0 or 1 as x is below, at or above 0; ``x / abs(x)`` of "
                                 "complex numbers.")
sin = _unary("sin", ours.sin, "The sine of x radians.")
sinh = _unary("sinh", ours.sinh, "The hyperbolic sine.")
sqrt = _unary("sqrt", ours.sqrt, "The square root.")
square = _unary("square", ours.square, "``x * x``")
tan = _unary("tan", ours.tan, "The tangent of x radians.")
tanh = _unary("tanh", ours.tanh, "The hyperbolic tangent.")
bitwise_invert = _unary("bitwise_invert", invert, "``~x``")

add = _binary("add", ours.add, "``x1 + x2``")
divide = _binary("divide", ours.divide, "``x1 / x2``")
equal = _binary("equal", ours.equal, "``x1 == x2``")
greater = _binary("greater", ours.greater, "``x1 > x2``")
greater_equal = _binary("greater_equal", ours.greater_equal, "``x1 >= x2``")
less = _binary("less", ours.less, "``x1 < x2``")
less_equal = _binary("less_equal", ours.less_equal, "``x1 <= x2``")
maximum = _binary("maximum", ours.maximum, "The larger of x1 and x2; NaN if either is.")
minimum = _binary("minimum", ours.minimum, "The smaller of x1 and x2; NaN if either is.")
multiply = _binary("multiply", ours.multiply, "``x1 * x2``")
not_equal = _binary("not_equal", ours.not_equal, "``x1 != x2``")
pow = _binary("pow", ours.pow, "``x1 ** x2``")
subtract = _binary("subtract", ours.subtract, "``x1 - x2``")

# Ours of booleans, NumPy's of the rest

bitwise_and = _binary("bitwise_and", operators.bitwise_and, "``x1 & x2``")
bitwise_or = _binary("bitwise_or", operators.bitwise_or, "``x1 | x2``")
bitwise_xor = _binary("bitwise_xor", operators.bitwise_xor, "``x1 ^ x2``")
logical_and = _binary("logical_and", binary_by_numpy(np.logical_and, ours.multiply), "Whether both are true.")
logical_or = _binary("logical_or", binary_by_numpy(np.logical_or, ours.maximum),
                     "Whether one or both are true.")
logical_xor = _binary("logical_xor", binary_by_numpy(np.logical_xor, ours.not_equal),
                      "Whether just one is true.")


def logical_not(x: Any, /) -> Any:
    """Whether x is false."""
    return ours.equal(as_mat(x), False)


# Ours, put together


def isnan(x: Any, /) -> Any:
    """Whether x is no number: only then it differs from itself."""
    x = as_mat(x)
    return ours.not_equal(x, x)


def isfinite(x: Any, /) -> Any:
    """Whether x is neither infinite nor NaN."""
    x = as_mat(x)
    return by_numpy(np.isfinite, x) if x.dtype.kind == "c" else ours.less(ours.abs(x), float("inf"))


def isinf(x: Any, /) -> Any:
    """Whether x is infinite, of either sign."""
    x = as_mat(x)
    return by_numpy(np.isinf, x) if x.dtype.kind == "c" else ours.equal(ours.abs(x), float("inf"))


def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """x, but not below `min` and not above `max`, in x's dtype."""
    x = as_mat(x)
    low, high = (_bound(x, v) for v in (min, max))
    if low is None and high is None:
        return x.copy()
    risen = x if low is None else ours.maximum(x, low)
    return risen if high is None else ours.minimum(risen, high)


def _bound(x: Mat, value: Any) -> Any:
    """`value` in x's dtype; of integers, Python's may be out of its range, and then bounds all
    there is or nothing.
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


# NumPy's

acos = _numpys("acos", np.arccos, "The angle whose cosine is x.")
acosh = _numpys("acosh", np.arccosh, "The inverse hyperbolic cosine.")
asin = _numpys("asin", np.arcsin, "The angle whose sine is x.")
asinh = _numpys("asinh", np.arcsinh, "The inverse hyperbolic sine.")
atan = _numpys("atan", np.arctan, "The angle whose tangent is x.")
atanh = _numpys("atanh", np.arctanh, "The inverse hyperbolic tangent.")
conj = _numpys("conj", np.conjugate, "The complex conjugate.")
log10 = _numpys("log10", np.log10, "The logarithm to base 10.")
log2 = _numpys("log2", np.log2, "The logarithm to base 2.")
signbit = _numpys("signbit", np.signbit, "Whether the sign bit is set, that of -0 and NaN too.")
trunc = _rounding("trunc", lambda x: by_numpy(np.trunc, x), "The integer part.")

atan2 = _binary("atan2", binary_by_numpy(np.arctan2), "The angle of the point (x2, x1).")
bitwise_left_shift = _binary("bitwise_left_shift", operators.left_shift, "``x1 << x2``")
bitwise_right_shift = _binary("bitwise_right_shift", operators.right_shift, "``x1 >> x2``")
copysign = _binary("copysign", binary_by_numpy(np.copysign), "The magnitude of x1 with the sign of x2.")
floor_divide = _binary("floor_divide", operators.floor_divide, "``x1 // x2``")
hypot = _binary("hypot", binary_by_numpy(np.hypot), "``sqrt(x1 * x1 + x2 * x2)``, without overflow.")
logaddexp = _binary("logaddexp", binary_by_numpy(np.logaddexp), "``log(exp(x1) + exp(x2))``, without overflow.")
nextafter = _binary("nextafter", binary_by_numpy(np.nextafter), "The next number after x1 towards x2.")
remainder = _binary("remainder", operators.remainder, "``x1 % x2``, with the sign of x2.")


def real(x: Any, /) -> Any:
    """The real part of complex numbers."""
    return by_numpy(np.real, as_mat(x))


def imag(x: Any, /) -> Any:
    """The imaginary part of complex numbers."""
    x = as_mat(x)
    if x.dtype.kind != "c":
        raise DTypeError("real numbers have no imaginary part that could be told from 0, got "
                         f"{x.dtype}")
    return by_numpy(np.imag, x)
