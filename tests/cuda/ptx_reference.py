"""What instructions of PTX compute, in Python's integers and fractions: for the tests."""

import math
import re
from fractions import Fraction

# bits of the fraction with the leading 1, least exponent of a number of full precision, all bits
FORMATS = {"f64": (53, -1022, 64), "f32": (24, -126, 32), "f16": (11, -14, 16),
           "bf16": (8, -126, 16)}
NANS = {"f64": 0x7FF8 << 48, "f32": 0x7FFFFFFF, "f16": 0x7FFF, "bf16": 0x7FFF}


def size(kind):
    """Return the number of bits of a type, as u32; a predicate has one."""
    return 1 if kind == "pred" else int(re.sub(r"\D", "", kind))


def value_of(kind, word):
    """Return the number in the low bits of a word; None for a NaN."""
    bits = word & ((1 << size(kind)) - 1)
    if kind in FORMATS:
        return _float(kind, bits)
    return bits - (1 << size(kind)) if kind[0] == "s" and bits >> (size(kind) - 1) else bits


def _float(kind, bits):
    precision, least, width = FORMATS[kind]
    sign, units = bits >> (width - 1), bits & ((1 << (precision - 1)) - 1)
    exponent = (bits >> (precision - 1)) & ((1 << (width - precision)) - 1)
    if exponent == (1 << (width - precision)) - 1:
        return None if units else -math.inf if sign else math.inf
    if not exponent and not units:
        return -0.0 if sign else 0.0
    units += (1 << (precision - 1)) if exponent else 0
    return (-1) ** sign * Fraction(units) * Fraction(2) ** (max(exponent, 1) - 1 + least
                                                            - precision + 1)


def bits_of(kind, value, mode="rn"):
    """Return the bits of a number in a type, rounded as `mode` says."""
    if kind not in FORMATS:
        return int(value) & ((1 << size(kind)) - 1)
    precision, least, width = FORMATS[kind]
    top = ((1 << (width - precision)) - 1) << (precision - 1)  # infinity
    if value is None:
        return NANS[kind]
    minus_bit = (1 << (width - 1)) if sign(value) < 0 else 0
    if is_infinite(value):
        return minus_bit | top
    away = _away(mode, minus_bit)
    whole = _rounded(abs(Fraction(value)), precision, least, away)
    return minus_bit | min(whole, top if away is not False else top - 1)


def _away(mode, is_negative):
    """Return whether magnitudes are rounded up; None is to nearest."""
    return None if mode == "rn" else mode == ("rm" if is_negative else "rp")


def _rounded(value, precision, least, away):
    """Return the bits of a positive number, without sign."""
    if not value:
        return 0
    exponent = max(_exponent(value), least)
    units = value / Fraction(2) ** (exponent - precision + 1)
    whole = math.floor(units)
    rest = units - whole
    up = (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2)) if away is None else (
        away and rest > 0)
    return ((exponent - least) << (precision - 1)) + whole + bool(up)


def _exponent(value):
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if Fraction(2) ** guess <= value else guess - 1


# Operations on numbers as `value_of` gives them

def plus(a, b):
    if a is None or b is None or (is_infinite(a) and is_infinite(b) and a != b):
        return None
    if is_infinite(a) or b == 0:
        return a if a or b else a + b  # two zeros are floats with signs
    return b if is_infinite(b) or a == 0 else a + b or 0.0


def times(a, b):
    if a is None or b is None or (a == 0 and is_infinite(b)) or (b == 0 and is_infinite(a)):
        return None
    if is_infinite(a) or is_infinite(b):
        return sign(a) * sign(b) * math.inf
    return a * b if a and b else sign(a) * sign(b) * 0.0


def is_infinite(a):
    return isinstance(a, float) and math.isinf(a)


def sign(a):
    """Return 1.0 or -1.0, of zeros too."""
    return math.copysign(1, a) if a == 0 else 1.0 if a > 0 else -1.0


def minus(a, b):
    return plus(a, negative(b))


def negative(a):
    return None if a is None else -a


def fused(a, b, c):
    return plus(times(a, b), c)


def over(a, b):
    if a is None or b is None or (a == 0 and b == 0) or (is_infinite(a) and is_infinite(b)):
        return None
    if b == 0 or is_infinite(a):
        return sign(a) * sign(b) * math.inf
    return sign(a) * sign(b) * 0.0 if a == 0 or is_infinite(b) else Fraction(a) / Fraction(b)


def root(a):
    """Return the square root with more bits than any format has, and not in the middle."""
    if a is None or a < 0:
        return None
    if a == 0 or a == math.inf:
        return a
    scale = Fraction(4) ** 700
    whole = math.isqrt(math.floor(a * scale))
    exact = Fraction(whole) ** 2 == a * scale
    return (Fraction(whole) + (0 if exact else Fraction(1, 2))) / Fraction(2) ** 700


def least(a, b, way=1):
    if a is None or b is None:
        return b if a is None else a
    if a == b == 0:
        return min((a, b), key=lambda x: way * sign(x))
    return min(a, b) if way > 0 else max(a, b)


def integral(a, mode):
    """Return a number rounded to an integer."""
    if a is None or not isinstance(a, Fraction):
        return a
    found = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}[mode](a)
    return Fraction(found) if found else math.copysign(0.0, a)


def to_integer(source, kind, a, mode):
    """Return a float as an integer, clamped; for a NaN what the PTX ISA says."""
    low, high = limits(kind)
    if a is None:
        return 0 if size(source) < 64 and size(kind) < 64 else 1 << (size(kind) - 1)
    if is_infinite(a):
        return low if a < 0 else high
    return min(max(int(integral(a, mode)), low), high)


def limits(kind):
    n = size(kind)
    return (-(1 << (n - 1)), (1 << (n - 1)) - 1) if kind[0] == "s" else (0, (1 << n) - 1)


def compare(how, a, b):
    """Return what setp gives."""
    if how in ("num", "nan"):
        return (a is None or b is None) == (how == "nan")
    if a is None or b is None:
        return how.endswith("u") and len(how) == 3
    first = how[:2]
    return {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[first]


def quotient(a, b):
    """Return the quotient without its fraction."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
