"""Types of `mat.array_api`.

Written by ``python -m tests.types.stubs``, with NumPy 2.4.6: not to be edited.
"""

import builtins


from ..support.types import ArrayLike
from ..support.types import AxisLike
from ..support.types import DTypeLike
from ..matrix.mat import Mat
from ..support.types import Scalar
from ..support.types import ShapeLike
from . import fft as fft
from . import linalg as linalg
from ..array_api.creation import empty as empty
from ..array_api.creation import eye as eye
from ..array_api.creation import ones as ones
from ..array_api.creation import zeros as zeros
from ..array_api.data_types import astype as astype
from ..array_api.data_types import can_cast as can_cast
from ..array_api.data_types import finfo as finfo
from ..array_api.data_types import iinfo as iinfo
from ..array_api.data_types import isdtype as isdtype
from ..array_api.data_types import result_type as result_type
from ..array_api.info import __array_namespace_info__ as __array_namespace_info__
from ..array_api.manipulation import broadcast_shapes as broadcast_shapes
from ..array_api.manipulation import concat as concat
from ..array_api.manipulation import permute_dims as permute_dims
from ..array_api.manipulation import stack as stack
from ..array_api.products import tensordot as tensordot
from ..array_api.searching import unique_all as unique_all
from ..array_api.searching import unique_counts as unique_counts
from ..array_api.searching import unique_inverse as unique_inverse
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

def all(x: ArrayLike, /, *, axis: AxisLike | None = None, keepdims: builtins.bool = False) -> Mat:
    """Return whether all elements over `axis` are true, which means not 0."""

def any(x: ArrayLike, /, *, axis: AxisLike | None = None, keepdims: builtins.bool = False) -> Mat:
    """Return whether any element over `axis` is true, which means not 0."""

def arange(
    start: Scalar,
    /,
    stop: Scalar | None = None,
    step: Scalar = 1,
    *,
    dtype: DTypeLike = None,
    device: object = None,
) -> Mat:
    """Return the numbers from `start` up to, not including, `stop`, in steps of `step`."""

def argmax(x: ArrayLike, /, *, axis: int | None = None, keepdims: builtins.bool = False) -> Mat:
    """Return the index of the first largest element along `axis`."""

def argmin(x: ArrayLike, /, *, axis: int | None = None, keepdims: builtins.bool = False) -> Mat:
    """Return the index of the first smallest element along `axis`."""

def argsort(
    x: ArrayLike,
    /,
    *,
    axis: int = -1,
    descending: builtins.bool = False,
    stable: builtins.bool = True,
) -> Mat:
    """Return the indices that sort the elements along `axis`."""

def asarray(
    obj: ArrayLike,
    /,
    *,
    dtype: DTypeLike = None,
    device: object = None,
    copy: builtins.bool | None = None,
) -> Mat:
    """Return the elements of `obj` as a Mat."""

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

def broadcast_arrays(*arrays: ArrayLike) -> tuple[Mat, ...]:
    """Return the arrays in the shape that they all broadcast to."""

def broadcast_to(x: ArrayLike, /, shape: ShapeLike) -> Mat:
    """Return `x` in another shape, with axes of length 1 repeated."""

def ceil(x: ArrayLike, /) -> Mat:
    """Return the smallest integers not below x."""

def clip(x: ArrayLike, /, min: ArrayLike | None = None, max: ArrayLike | None = None) -> Mat:
    """Return x, but not below `min` and not above `max`, in x's dtype."""

def conj(x: ArrayLike, /) -> Mat:
    """Return the complex conjugate of x."""

def copysign(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return the magnitude of x1 with the sign of x2."""

def cos(x: ArrayLike, /) -> Mat:
    """Return the cosine of x, in radians."""

def cosh(x: ArrayLike, /) -> Mat:
    """Return the hyperbolic cosine of x."""

def count_nonzero(x: ArrayLike, /, *, axis: AxisLike | None = None, keepdims: builtins.bool = False) -> Mat:
    """Return the number of elements over `axis` that are not 0."""

def cumulative_prod(
    x: ArrayLike,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike = None,
    include_initial: builtins.bool = False,
) -> Mat:
    """Return the products of the elements up to each along `axis`."""

def cumulative_sum(
    x: ArrayLike,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike = None,
    include_initial: builtins.bool = False,
) -> Mat:
    """Return the sums of the elements up to each along `axis`."""

def diff(
    x: ArrayLike,
    /,
    n: int = 1,
    axis: int = -1,
    *,
    prepend: ArrayLike | None = None,
    append: ArrayLike | None = None,
) -> Mat:
    """Return the differences of neighbours along `axis`."""

def divide(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``x1 / x2``."""

e: float
def empty_like(x: ArrayLike, /, *, dtype: DTypeLike = None, device: object = None) -> Mat:
    """Return arbitrary elements in the shape of `x`."""

def equal(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``x1 == x2``, as builtins.bool."""

def exp(x: ArrayLike, /) -> Mat:
    """Return e to the power of x."""

def expand_dims(x: ArrayLike, /, axis: AxisLike) -> Mat:
    """Return `x` with new axes of length 1."""

def expm1(x: ArrayLike, /) -> Mat:
    """Return ``exp(x) - 1``, which is accurate also near 0."""

def flip(x: ArrayLike, /, *, axis: AxisLike | None = None) -> Mat:
    """Return `x` with the order of elements reversed along `axis`."""

def floor(x: ArrayLike, /) -> Mat:
    """Return the largest integers not above x."""

def floor_divide(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``x1 // x2``."""

def from_dlpack(x: ArrayLike, /, *, device: object = None, copy: builtins.bool | None = None) -> Mat:
    """Return a Mat over the memory of the array `x` of another library; see ``mat.from_dlpack``."""

def full(
    shape: ShapeLike,
    fill_value: Scalar,
    *,
    dtype: DTypeLike = None,
    device: object = None,
) -> Mat:
    """Return a Mat whose elements are all `fill_value`."""

def full_like(
    x: ArrayLike,
    /,
    fill_value: Scalar,
    *,
    dtype: DTypeLike = None,
    device: object = None,
) -> Mat:
    """Return a Mat in the shape of `x` whose elements are all `fill_value`."""

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

def isin(x1: ArrayLike, x2: ArrayLike, /, *, invert: builtins.bool = False) -> Mat:
    """Return whether each element of `x1` is among those of `x2`."""

def isinf(x: ArrayLike, /) -> Mat:
    """Return whether x is infinite, of either sign, as builtins.bool."""

def isnan(x: ArrayLike, /) -> Mat:
    """Return whether x is NaN, as builtins.bool."""

def less(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``x1 < x2``, as builtins.bool."""

def less_equal(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``x1 <= x2``, as builtins.bool."""

def linspace(
    start: Scalar,
    stop: Scalar,
    /,
    num: int,
    *,
    dtype: DTypeLike = None,
    device: object = None,
    endpoint: builtins.bool = True,
) -> Mat:
    """Return `num` numbers from `start` to `stop`, at equal distances."""

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

def matmul(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return the matrix product; vectors and stacks of matrices by NumPy's rules."""

def matrix_transpose(x: ArrayLike, /) -> Mat:
    """Return the view with the last two axes exchanged."""

def max(x: ArrayLike, /, *, axis: AxisLike | None = None, keepdims: builtins.bool = False) -> Mat:
    """Return the largest element over `axis`; NaN if there is one."""

def maximum(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return the larger of x1 and x2; NaN if either is NaN."""

def mean(x: ArrayLike, /, *, axis: AxisLike | None = None, keepdims: builtins.bool = False) -> Mat:
    """Return the mean over `axis`."""

def meshgrid(
    *arrays: ArrayLike,
    indexing: str = 'xy',
) -> tuple[Mat, ...]:
    """Return the coordinates of a grid: for each vector, its elements along its axis of the grid."""

def min(x: ArrayLike, /, *, axis: AxisLike | None = None, keepdims: builtins.bool = False) -> Mat:
    """Return the smallest element over `axis`; NaN if there is one."""

def minimum(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return the smaller of x1 and x2; NaN if either is NaN."""

def moveaxis(x: ArrayLike, source: AxisLike, destination: AxisLike, /) -> Mat:
    """Return the view with the axes `source` at `destination`, and the others in their order."""

def multiply(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``x1 * x2``."""

nan: float
def negative(x: ArrayLike, /) -> Mat:
    """Return ``-x``."""

newaxis: None
def nextafter(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return the next number after x1 towards x2."""

def nonzero(x: ArrayLike, /) -> tuple[Mat, ...]:
    """Return the indices of the elements that are not 0, in row-major order."""

def not_equal(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``x1 != x2``, as builtins.bool."""

def ones_like(x: ArrayLike, /, *, dtype: DTypeLike = None, device: object = None) -> Mat:
    """Return ones in the shape of `x`."""

pi: float
def positive(x: ArrayLike, /) -> Mat:
    """Return ``+x``: a copy."""

def pow(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``x1 ** x2``."""

def prod(
    x: ArrayLike,
    /,
    *,
    axis: AxisLike | None = None,
    dtype: DTypeLike = None,
    keepdims: builtins.bool = False,
) -> Mat:
    """Return the product over `axis`."""

def real(x: ArrayLike, /) -> Mat:
    """Return the real part of complex numbers."""

def reciprocal(x: ArrayLike, /) -> Mat:
    """Return ``1 / x``."""

def remainder(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``x1 % x2``, with the sign of x2."""

def repeat(x: ArrayLike, repeats: ArrayLike, /, *, axis: int | None = None) -> Mat:
    """Return `x` with each element along `axis` repeated."""

def reshape(x: ArrayLike, /, shape: ShapeLike, *, copy: builtins.bool | None = None) -> Mat:
    """Return `x` in another shape of the same size."""

def roll(x: ArrayLike, /, shift: AxisLike, *, axis: AxisLike | None = None) -> Mat:
    """Return `x` with the elements moved along each `axis`, around its end."""

def round(x: ArrayLike, /) -> Mat:
    """Return the nearest integers, and of two the even one."""

def searchsorted(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    *,
    side: str = 'left',
    sorter: ArrayLike | None = None,
) -> Mat:
    """Return the indices at which the elements of `x2` would be inserted into the sorted `x1`."""

def sign(x: ArrayLike, /) -> Mat:
    """Return -1, 0 or 1 where x is below, at or above 0; ``x / abs(x)`` of complex numbers."""

def signbit(x: ArrayLike, /) -> Mat:
    """Return whether the sign bit is set, that of -0 and NaN too, as builtins.bool."""

def sin(x: ArrayLike, /) -> Mat:
    """Return the sine of x, in radians."""

def sinh(x: ArrayLike, /) -> Mat:
    """Return the hyperbolic sine of x."""

def sort(x: ArrayLike, /, *, axis: int = -1, descending: builtins.bool = False, stable: builtins.bool = True) -> Mat:
    """Return the elements in ascending or descending order along `axis`."""

def sqrt(x: ArrayLike, /) -> Mat:
    """Return the square root of x."""

def square(x: ArrayLike, /) -> Mat:
    """Return ``x * x``."""

def squeeze(x: ArrayLike, /, axis: AxisLike) -> Mat:
    """Return `x` without the named axes, which have length 1."""

def std(
    x: ArrayLike,
    /,
    *,
    axis: AxisLike | None = None,
    correction: float = 0.0,
    keepdims: builtins.bool = False,
) -> Mat:
    """Return the standard deviation over `axis`: the square root of the variance."""

def subtract(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return ``x1 - x2``."""

def sum(
    x: ArrayLike,
    /,
    *,
    axis: AxisLike | None = None,
    dtype: DTypeLike = None,
    keepdims: builtins.bool = False,
) -> Mat:
    """Return the sum over `axis`."""

def take(x: ArrayLike, indices: ArrayLike, /, *, axis: int | None = None) -> Mat:
    """Return the parts of `x` at the `indices` of `axis`."""

def take_along_axis(x: ArrayLike, indices: ArrayLike, /, *, axis: int = -1) -> Mat:
    """Return, of each line of `x` along `axis`, the elements at the same line of `indices`."""

def tan(x: ArrayLike, /) -> Mat:
    """Return the tangent of x, in radians."""

def tanh(x: ArrayLike, /) -> Mat:
    """Return the hyperbolic tangent of x."""

def tile(x: ArrayLike, repetitions: ShapeLike, /) -> Mat:
    """Return copies of `x` side by side along each axis."""

def tril(x: ArrayLike, /, *, k: int = 0) -> Mat:
    """Return `x` with zeros above the diagonal `k` of its last two axes."""

def triu(x: ArrayLike, /, *, k: int = 0) -> Mat:
    """Return `x` with zeros below the diagonal `k` of its last two axes."""

def trunc(x: ArrayLike, /) -> Mat:
    """Return the integer part of x."""

def unique_values(x: ArrayLike, /) -> Mat:
    """Return the different elements in ascending order; each NaN counts as different."""

def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[Mat, ...]:
    """Return the parts of `x` at each index of `axis`, without that axis."""

def var(
    x: ArrayLike,
    /,
    *,
    axis: AxisLike | None = None,
    correction: float = 0.0,
    keepdims: builtins.bool = False,
) -> Mat:
    """Return the variance over `axis`: the mean square of the distances from the mean."""

def vecdot(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Mat:
    """Return the sum of products along `axis`, with `x1` conjugated."""

def where(condition: ArrayLike, x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return `x1` where the condition is true, and `x2` elsewhere."""

def zeros_like(x: ArrayLike, /, *, dtype: DTypeLike = None, device: object = None) -> Mat:
    """Return zeros in the shape of `x`."""

