"""Element-wise operations that have no methods: NumPy's ufuncs of bits, quotients, signs and logic,
its other functions of floating-point numbers, and the operators of the first two.
"""

from __future__ import annotations

import numpy as np

from ...matrix.mat import Mat
from ...support.dtypes import COMPLEX_TYPES, EVERY, HALVES
from ...support.native import compiled
from ...support.types import Function, Operand
from ..engine.declare_elementwise import binary, test, unary
from ..tiles.overlap import must_copy
from .elementwise import only_moves

BY_NAME: dict[str, Function] = {}  # the functions of this module
# what devices compute with, without some dtypes
NOT_HALVES = "".join(char for char in EVERY if char not in HALVES)
REALS = "".join(char for char in EVERY if char not in COMPLEX_TYPES)


def _unary(rule: np.ufunc, sample: str, gives: str, doc: str, operator: str = "",
           on_device: str = EVERY) -> Function:
    found = BY_NAME[rule.__name__] = unary(rule.__name__, rule, sample, gives, doc,
                                           operator=operator, methods=False, on_device=on_device)
    return found


def _of_reals(rule: np.ufunc, sample: str, gives: str, doc: str) -> Function:
    """Declare a function without kernels of devices for complex numbers."""
    return _unary(rule, sample, gives, doc, on_device=REALS)


def _binary(rule: np.ufunc, gives: str, doc: str, operator: str = "",
            sample: str = "[1.0, 4]", on_device: str = EVERY) -> Function:
    found = BY_NAME[rule.__name__] = binary(rule.__name__, rule, gives, doc, operator=operator,
                                            sample=sample, methods=False, on_device=on_device)
    return found


def _test(rule: np.ufunc, doc: str) -> Function:
    found = BY_NAME[rule.__name__] = test(rule.__name__, rule, doc)
    return found


def _bits(rule: np.ufunc, gives: str, doc: str, operator: str = "") -> Function:
    return _binary(rule, gives, doc, operator, "[1, 6]")


# Bits

bitwise_and = _bits(np.bitwise_and, "[0 2]", "the bits that are 1 in both operands; for booleans, "
                                             "whether both are true", "and")
bitwise_or = _bits(np.bitwise_or, "[3 6]", "the bits that are 1 in either operand or both; for "
                                           "booleans, whether either is true", "or")
bitwise_xor = _bits(np.bitwise_xor, "[3 4]", "the bits that are 1 in one operand only; for "
                                             "booleans, whether just one is true", "xor")
left_shift = _bits(np.left_shift, "[4 24]", "the bits of x, shifted to the left by y places",
                   "lshift")
right_shift = _bits(np.right_shift, "[0 1]", "the bits of x, shifted to the right by y places",
                    "rshift")
invert = _unary(np.invert, "[0, 1]", "[-1 -2]", "the bits of x inverted; booleans negated",
                "invert")

# Integers

gcd = _bits(np.gcd, "[1 2]", "the greatest common divisor of the moduli of the integers")
lcm = _bits(np.lcm, "[2 6]", "the least common multiple of the moduli of the integers")

# Quotients

floor_divide = _binary(np.floor_divide, "[0. 2.]", "the largest integer not above ``x / y``",
                       "floordiv")
remainder = _binary(np.remainder, "[1. 0.]",
                    "the remainder of ``x // y``, which has the sign of y", "mod")


def quotient_and_remainder(x: Operand, y: Operand) -> tuple[Mat, Mat]:
    """Return ``(x // y, x % y)``."""
    return floor_divide(x, y), remainder(x, y)


fmod = _binary(np.fmod, "[1. 0.]",
               "the remainder of x / y rounded towards 0, which has the sign of x")
trunc = _unary(np.trunc, "[-1.5, 1.5]", "[-1. 1.]", "each element rounded towards 0")

# Signs

copysign = _binary(np.copysign, "[1. 4.]", "the elements of x with the signs of those of y")
signbit = _test(np.signbit, "whether the sign of each element is negative, also of zeros")

conjugate = _unary(np.conjugate, "[-1.0, 3]", "[-1. 3.]",
                   "the elements with the signs of their imaginary parts changed")
# of real numbers, the elements as they are
vars(conjugate)["op"].prepare("foreign", dtypes=compiled(REALS), when=only_moves)(
    lambda cpu, x, out: cpu.prepare_copy(x, out, through=must_copy(x, out)))
heaviside = _binary(np.heaviside, "[1. 1.]", "0 where x is negative, 1 where it is positive, and "
                                             "y where it is 0")

# Neighbours and the larger one, where NaN stands for a missing number

nextafter = _binary(np.nextafter, "[1. 4.]", "the number next to x in the direction of y",
                    on_device=NOT_HALVES)
fmax = _binary(np.fmax, "[2. 4.]", "the larger of the elements of x and y; if one is NaN, the "
                                   "other", on_device=REALS)
fmin = _binary(np.fmin, "[1. 2.]", "the smaller of the elements of x and y; if one is NaN, the "
                                   "other", on_device=REALS)

# Logic: of what is not 0

logical_and = _binary(np.logical_and, "[True True]", "whether both elements are true")
logical_or = _binary(np.logical_or, "[True True]", "whether either element is true")
logical_xor = _binary(np.logical_xor, "[False False]", "whether just one element is true")
logical_not = _test(np.logical_not, "whether each element is 0")

# Functions of floating-point numbers

deg2rad = _unary(np.deg2rad, "[0.0, 180]", "[0. 3.14159265]", "each angle in degrees as radians")
rad2deg = _unary(np.rad2deg, "[0.0, 1]", "[0. 57.29577951]", "each angle in radians as degrees")
exp2 = _of_reals(np.exp2, "[0.0, 3]", "[1. 8.]", "2 to the power of each element")
log2 = _of_reals(np.log2, "[1.0, 8]", "[0. 3.]", "the logarithm of each element to base 2")
log10 = _of_reals(np.log10, "[1.0, 100]", "[0. 2.]", "the logarithm of each element to base 10")
cbrt = _unary(np.cbrt, "[8.0, 27]", "[2. 3.]", "the cube root of each element")
arcsin = _of_reals(np.arcsin, "[0.0, 1]", "[0. 1.57079633]",
                   "the angle in radians whose sine each element is")
arccos = _of_reals(np.arccos, "[1.0, 0]", "[0. 1.57079633]",
                   "the angle in radians whose cosine each element is")
arctan = _of_reals(np.arctan, "[0.0, 1]", "[0. 0.78539816]",
                   "the angle in radians whose tangent each element is")
arcsinh = _of_reals(np.arcsinh, "[0.0, 1]", "[0. 0.88137359]",
                    "the inverse hyperbolic sine of each element")
arccosh = _of_reals(np.arccosh, "[1.0, 2]", "[0. 1.3169579]",
                    "the inverse hyperbolic cosine of each element")
arctanh = _of_reals(np.arctanh, "[0.0, 0.5]", "[0. 0.54930614]",
                    "the inverse hyperbolic tangent of each element")
arctan2 = _binary(np.arctan2, "[0.46364761 1.10714872]",
                  "the angle of the point with the coordinates y and x, in radians")
hypot = _binary(np.hypot, "[2.23606798 4.47213595]", "``sqrt(x * x + y * y)``, without overflow")
logaddexp = _binary(np.logaddexp, "[2.31326169 4.12692801]",
                    "``log(exp(x) + exp(y))``, without overflow")
