"""Types of `mat.array_api`.

Written by ``python -m tests.types.stubs``, with NumPy 2.4.6: not to be edited.
"""

import builtins


from ..support.types import ArrayLike
from ..matrix.mat import Mat
from . import fft as fft
from . import linalg as linalg
from ..array_api.conversion import asarray as asarray
from ..array_api.conversion import from_dlpack as from_dlpack
from ..array_api.creation import arange as arange
from ..array_api.creation import empty as empty
from ..array_api.creation import empty_like as empty_like
from ..array_api.creation import eye as eye
from ..array_api.creation import full as full
from ..array_api.creation import full_like as full_like
from ..array_api.creation import linspace as linspace
from ..array_api.creation import meshgrid as meshgrid
from ..array_api.creation import ones as ones
from ..array_api.creation import ones_like as ones_like
from ..array_api.creation import tril as tril
from ..array_api.creation import triu as triu
from ..array_api.creation import zeros as zeros
from ..array_api.creation import zeros_like as zeros_like
from ..array_api.data_types import astype as astype
from ..array_api.data_types import can_cast as can_cast
from ..array_api.data_types import finfo as finfo
from ..array_api.data_types import iinfo as iinfo
from ..array_api.data_types import isdtype as isdtype
from ..array_api.data_types import result_type as result_type
from ..array_api.elementwise import clip as clip
from ..array_api.info import __array_namespace_info__ as __array_namespace_info__
from ..array_api.manipulation import broadcast_arrays as broadcast_arrays
from ..array_api.manipulation import broadcast_shapes as broadcast_shapes
from ..array_api.manipulation import broadcast_to as broadcast_to
from ..array_api.manipulation import concat as concat
from ..array_api.manipulation import expand_dims as expand_dims
from ..array_api.manipulation import flip as flip
from ..array_api.manipulation import matrix_transpose as matrix_transpose
from ..array_api.manipulation import moveaxis as moveaxis
from ..array_api.manipulation import permute_dims as permute_dims
from ..array_api.manipulation import repeat as repeat
from ..array_api.manipulation import reshape as reshape
from ..array_api.manipulation import roll as roll
from ..array_api.manipulation import squeeze as squeeze
from ..array_api.manipulation import stack as stack
from ..array_api.manipulation import tile as tile
from ..array_api.manipulation import unstack as unstack
from ..array_api.products import matmul as matmul
from ..array_api.products import tensordot as tensordot
from ..array_api.products import vecdot as vecdot
from ..array_api.searching import argsort as argsort
from ..array_api.searching import isin as isin
from ..array_api.searching import nonzero as nonzero
from ..array_api.searching import searchsorted as searchsorted
from ..array_api.searching import sort as sort
from ..array_api.searching import take as take
from ..array_api.searching import take_along_axis as take_along_axis
from ..array_api.searching import unique_all as unique_all
from ..array_api.searching import unique_counts as unique_counts
from ..array_api.searching import unique_inverse as unique_inverse
from ..array_api.searching import unique_values as unique_values
from ..array_api.searching import where as where
from ..array_api.statistical import all as all
from ..array_api.statistical import any as any
from ..array_api.statistical import argmax as argmax
from ..array_api.statistical import argmin as argmin
from ..array_api.statistical import count_nonzero as count_nonzero
from ..array_api.statistical import cumulative_prod as cumulative_prod
from ..array_api.statistical import cumulative_sum as cumulative_sum
from ..array_api.statistical import diff as diff
from ..array_api.statistical import max as max
from ..array_api.statistical import mean as mean
from ..array_api.statistical import min as min
from ..array_api.statistical import prod as prod
from ..array_api.statistical import std as std
from ..array_api.statistical import sum as sum
from ..array_api.statistical import var as var
from numpy import bool as bool
from numpy import complex128 as complex128
from numpy import complex64 as complex64
from numpy import float32 as float32
from numpy import float64 as float64
from numpy import int16 as int16
from numpy import int32 as int32
from numpy import int64 as int64
from numpy import int8 as int8
from numpy import uint16 as uint16
from numpy import uint32 as uint32
from numpy import uint64 as uint64
from numpy import uint8 as uint8

__all__ = [
    "__array_api_version__", "__array_namespace_info__", "abs", "acos", "acosh", "add", "all",
    "any", "arange", "argmax", "argmin", "argsort", "asarray", "asin", "asinh", "astype", "atan",
    "atan2", "atanh", "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "bool", "broadcast_arrays", "broadcast_shapes",
    "broadcast_to", "can_cast", "ceil", "clip", "complex128", "complex64", "concat", "conj",
    "copysign", "cos", "cosh", "count_nonzero", "cumulative_prod", "cumulative_sum", "diff",
    "divide", "e", "empty", "empty_like", "equal", "exp", "expand_dims", "expm1", "eye", "fft",
    "finfo", "flip", "float32", "float64", "floor", "floor_divide", "from_dlpack", "full",
    "full_like", "greater", "greater_equal", "hypot", "iinfo", "imag", "inf", "int16", "int32",
    "int64", "int8", "isdtype", "isfinite", "isin", "isinf", "isnan", "less", "less_equal",
    "linalg", "linspace", "log", "log10", "log1p", "log2", "logaddexp", "logical_and",
    "logical_not", "logical_or", "logical_xor", "matmul", "matrix_transpose", "max", "maximum",
    "mean", "meshgrid", "min", "minimum", "moveaxis", "multiply", "nan", "negative", "newaxis",
    "nextafter", "nonzero", "not_equal", "ones", "ones_like", "permute_dims", "pi", "positive",
    "pow", "prod", "real", "reciprocal", "remainder", "repeat", "reshape", "result_type", "roll",
    "round", "searchsorted", "sign", "signbit", "sin", "sinh", "sort", "sqrt", "square", "squeeze",
    "stack", "std", "subtract", "sum", "take", "take_along_axis", "tan", "tanh", "tensordot",
    "tile", "tril", "triu", "trunc", "uint16", "uint32", "uint64", "uint8", "unique_all",
    "unique_counts", "unique_inverse", "unique_values", "unstack", "var", "vecdot", "where",
    "zeros", "zeros_like",
]

__array_api_version__: str
def abs(x: ArrayLike, /) -> Mat:
    """Return absolute values, which of complex numbers are the moduli."""

def acos(x: ArrayLike, /) -> Mat:
    """Return the angle in radians whose cosine is x."""

def acosh(x: ArrayLike, /) -> Mat:
    """Return the inverse hyperbolic cosine of x."""

def add(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``x1 + x2``."""

def asin(x: ArrayLike, /) -> Mat:
    """Return the angle in radians whose sine is x."""

def asinh(x: ArrayLike, /) -> Mat:
    """Return the inverse hyperbolic sine of x."""

def atan(x: ArrayLike, /) -> Mat:
    """Return the angle in radians whose tangent is x."""

def atan2(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return the angle of the point (x2, x1), in radians."""

def atanh(x: ArrayLike, /) -> Mat:
    """Return the inverse hyperbolic tangent of x."""

def bitwise_and(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``x1 & x2``."""

def bitwise_invert(x: ArrayLike, /) -> Mat:
    """Return ``~x``."""

def bitwise_left_shift(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``x1 << x2``."""

def bitwise_or(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``x1 | x2``."""

def bitwise_right_shift(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``x1 >> x2``."""

def bitwise_xor(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``x1 ^ x2``."""

def ceil(x: ArrayLike, /) -> Mat:
    """Return the smallest integers not below x."""

def conj(x: ArrayLike, /) -> Mat:
    """Return the complex conjugate of x."""

def copysign(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return the magnitude of x1 with the sign of x2."""

def cos(x: ArrayLike, /) -> Mat:
    """Return the cosine of x, in radians."""

def cosh(x: ArrayLike, /) -> Mat:
    """Return the hyperbolic cosine of x."""

def divide(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``x1 / x2``."""

e: float
def equal(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``x1 == x2``, as builtins.bool."""

def exp(x: ArrayLike, /) -> Mat:
    """Return e to the power of x."""

def expm1(x: ArrayLike, /) -> Mat:
    """Return ``exp(x) - 1``, which is accurate also near 0."""

def floor(x: ArrayLike, /) -> Mat:
    """Return the largest integers not above x."""

def floor_divide(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``x1 // x2``."""

def greater(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``x1 > x2``, as builtins.bool."""

def greater_equal(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``x1 >= x2``, as builtins.bool."""

def hypot(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``sqrt(x1 * x1 + x2 * x2)``, without overflow."""

def imag(x: ArrayLike, /) -> Mat:
    """Return the imaginary part of complex numbers."""

inf: float
def isfinite(x: ArrayLike, /) -> Mat:
    """Return whether x is neither infinite nor NaN, as builtins.bool."""

def isinf(x: ArrayLike, /) -> Mat:
    """Return whether x is infinite, of either sign, as builtins.bool."""

def isnan(x: ArrayLike, /) -> Mat:
    """Return whether x is NaN, as builtins.bool."""

def less(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``x1 < x2``, as builtins.bool."""

def less_equal(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``x1 <= x2``, as builtins.bool."""

def log(x: ArrayLike, /) -> Mat:
    """Return the natural logarithm of x."""

def log10(x: ArrayLike, /) -> Mat:
    """Return the logarithm of x to base 10."""

def log1p(x: ArrayLike, /) -> Mat:
    """Return ``log(1 + x)``, which is accurate also near 0."""

def log2(x: ArrayLike, /) -> Mat:
    """Return the logarithm of x to base 2."""

def logaddexp(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``log(exp(x1) + exp(x2))``, without overflow."""

def logical_and(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return whether both are true, as builtins.bool."""

def logical_not(x: ArrayLike, /) -> Mat:
    """Return whether x is false, as builtins.bool."""

def logical_or(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return whether one or both are true, as builtins.bool."""

def logical_xor(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return whether just one is true, as builtins.bool."""

def maximum(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return the larger of x1 and x2; NaN if either is NaN."""

def minimum(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return the smaller of x1 and x2; NaN if either is NaN."""

def multiply(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``x1 * x2``."""

nan: float
def negative(x: ArrayLike, /) -> Mat:
    """Return ``-x``."""

newaxis: None
def nextafter(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return the next number after x1 towards x2."""

def not_equal(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``x1 != x2``, as builtins.bool."""

pi: float
def positive(x: ArrayLike, /) -> Mat:
    """Return ``+x``: a copy."""

def pow(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``x1 ** x2``."""

def real(x: ArrayLike, /) -> Mat:
    """Return the real part of complex numbers."""

def reciprocal(x: ArrayLike, /) -> Mat:
    """Return ``1 / x``."""

def remainder(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``x1 % x2``, with the sign of x2."""

def round(x: ArrayLike, /) -> Mat:
    """Return the nearest integers, and of two the even one."""

def sign(x: ArrayLike, /) -> Mat:
    """Return -1, 0 or 1 where x is below, at or above 0; ``x / abs(x)`` of complex numbers."""

def signbit(x: ArrayLike, /) -> Mat:
    """Return whether the sign bit is set, that of -0 and NaN too, as builtins.bool."""

def sin(x: ArrayLike, /) -> Mat:
    """Return the sine of x, in radians."""

def sinh(x: ArrayLike, /) -> Mat:
    """Return the hyperbolic sine of x."""

def sqrt(x: ArrayLike, /) -> Mat:
    """Return the square root of x."""

def square(x: ArrayLike, /) -> Mat:
    """Return ``x * x``."""

def subtract(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``x1 - x2``."""

def tan(x: ArrayLike, /) -> Mat:
    """Return the tangent of x, in radians."""

def tanh(x: ArrayLike, /) -> Mat:
    """Return the hyperbolic tangent of x."""

def trunc(x: ArrayLike, /) -> Mat:
    """Return the integer part of x."""

