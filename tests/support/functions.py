"""The element-wise functions as tests know them: one table of reference, domain and accuracy.

A test takes its names and references from here, so that a new function is tested everywhere after a
line for it.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.special

from .layouts import FLOATS, INTEGERS, NUMPY_DTYPES, numbers

REAL = (*INTEGERS, *FLOATS)
COMPLEX = ("complex64", "complex128")
ANALYTIC = (*FLOATS, *COMPLEX)


def specials(rng, shape, dtype):
    """Numbers, of which some are infinite or NaN, if there are such."""
    found = numbers(rng, shape, dtype)
    if found.dtype.kind in "fc" and found.size > 4:
        found.flat[:4] = np.nan, np.inf, -np.inf, -0.0
    return found


def between(low, high):
    """Return what draws numbers between two bounds."""
    return lambda rng, shape, dtype: (rng.uniform(low, high, shape)
                                      + (0.25j if dtype.startswith("c") else 0)).astype(dtype)


def from_float64(function):
    """Return a function of SciPy for all dtypes: floats keep theirs."""
    def reference(x):
        found = function(x.astype(np.float64))
        return found.astype(x.dtype) if x.dtype.kind not in "biu" else found
    return reference


class Function(NamedTuple):
    """What tests know of a function."""

    reference: Callable
    dtypes: tuple = FLOATS  # which its samples have
    domain: Callable = numbers  # draws its samples
    ulps: tuple | None = None  # promised for float64 and float32; None: NumPy's bits
    c_name: str = ""  # among the vector mathematics, where it has another name
    public: bool = False  # a function of the manual, and a method


def of_numpy(name, *args, **kwargs):
    return {name: Function(getattr(np, name), *args, **kwargs)}


FUNCTIONS = {
    **of_numpy("square", (*REAL, *COMPLEX), public=True),
    **of_numpy("negative", (*REAL, *COMPLEX), public=True),
    **of_numpy("abs", (*REAL, *COMPLEX), public=True),
    **of_numpy("sign", public=True),
    **of_numpy("floor", public=True),
    **of_numpy("ceil", public=True),
    **of_numpy("rint", public=True),
    **of_numpy("reciprocal", (*FLOATS, "int32", *COMPLEX), between(1, 9), public=True),
    **of_numpy("sqrt", (*FLOATS, "int32", *COMPLEX), between(0.1, 9), public=True),
    **of_numpy("log", (*FLOATS, "int32", *COMPLEX), between(0.1, 9), (1, 1), public=True),
    **of_numpy("log1p", (*FLOATS, "int32", *COMPLEX), between(0.1, 9), (1, 1), public=True),
    **of_numpy("exp", ANALYTIC, between(-1.5, 1.5), (1, 1), public=True),
    **of_numpy("expm1", ANALYTIC, between(-1.5, 1.5), (1.5, 1), public=True),
    **of_numpy("sin", ANALYTIC, between(-1.5, 1.5), (1, 1), public=True),
    **of_numpy("cos", ANALYTIC, between(-1.5, 1.5), (1, 1), public=True),
    **of_numpy("tan", ANALYTIC, between(-1.5, 1.5), (1.5, 1), public=True),
    **of_numpy("sinh", ANALYTIC, between(-1.5, 1.5), (1.5, 1), public=True),
    **of_numpy("cosh", ANALYTIC, between(-1.5, 1.5), (1.5, 1), public=True),
    **of_numpy("tanh", ANALYTIC, between(-1.5, 1.5), (1.5, 1.5), public=True),
    "logistic": Function(from_float64(scipy.special.expit), ulps=(2.5, 2.5), public=True),
    "erf": Function(from_float64(scipy.special.erf), ulps=(1.5, 1), public=True),
    **of_numpy("exp2", domain=between(-3, 3), ulps=(1, 1)),
    **of_numpy("log2", domain=between(0.1, 9), ulps=(1, 1)),
    **of_numpy("log10", domain=between(0.1, 9), ulps=(1, 1)),
    **of_numpy("cbrt", domain=between(-3, 3), ulps=(1, 1)),
    **of_numpy("arcsin", domain=between(-0.95, 0.95), ulps=(1, 1), c_name="asin"),
    **of_numpy("arccos", domain=between(-0.95, 0.95), ulps=(1, 1), c_name="acos"),
    **of_numpy("arctan", domain=between(-3, 3), ulps=(1, 1), c_name="atan"),
    **of_numpy("arcsinh", domain=between(-3, 3), ulps=(1.5, 1.5), c_name="asinh"),
    **of_numpy("arccosh", domain=between(1.1, 9), ulps=(1.5, 1.5), c_name="acosh"),
    **of_numpy("arctanh", domain=between(-0.95, 0.95), ulps=(1.5, 1.5), c_name="atanh"),
    **of_numpy("trunc"),
    **of_numpy("deg2rad"),
    **of_numpy("rad2deg"),
    **of_numpy("signbit", domain=specials),
    **of_numpy("isnan", NUMPY_DTYPES, specials),
    **of_numpy("isfinite", NUMPY_DTYPES, specials),
    **of_numpy("isinf", NUMPY_DTYPES, specials),
    **of_numpy("logical_not", NUMPY_DTYPES, specials),
    **of_numpy("invert", ("bool", *INTEGERS)),
    **of_numpy("conjugate", ("int16", *ANALYTIC), specials),
}
PUBLIC = [name for name, f in FUNCTIONS.items() if f.public]
MATHEMATICS = [name for name, f in FUNCTIONS.items() if f.ulps is not None]

COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
EXACT_OF_TWO = ("add", "subtract", "multiply", "divide", "maximum", "minimum")
PUBLIC_OF_TWO = (*EXACT_OF_TWO, "pow", *COMPARISONS)
MATHEMATICS_OF_TWO = {
    **of_numpy("pow", ulps=(1, 1)),
    **of_numpy("arctan2", ulps=(1.5, 1.5), c_name="atan2"),
    **of_numpy("hypot", ulps=(1, 1)),
    **of_numpy("logaddexp", ulps=(2, 1)),
}
