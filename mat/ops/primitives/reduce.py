"""Reductions over any axes: sums, products, means, extremes and their indices, with NumPy's names;
MGL-MAT's accumulating ``sum_``; truth, extremes without NaN, and variances, of which NumPy's
functions are made.
"""

from __future__ import annotations

import math
from operator import methodcaller
from typing import Any, ClassVar

import numpy as np

from ...core.compiled import IN_USE
from ...core.source_line import warn
from ...devices.in_use import has_kernels
from ...errors import ShapeError
from ...layout.shapes import Ints, as_axes
from ...layout.strided import packed_strides
from ...matrix.filled import full
from ...matrix.mat import Mat
from ...matrix.methods import method
from ...support.dtypes import (
    BOOL,
    BY_CHAR,
    BY_NAME,
    COMPLEX_TYPES,
    EVERY,
    EXTENSIONS,
    HALVES,
    INEXACT,
    INTEGERS,
    REAL_TYPES,
)
from ...support.native import compiled
from ...support.plugins import at_first_use
from ...support.types import Array, AxisLike, DType, Engine, Function, Number, Operand
from ..engine.operands import accumulate, check_factors, same_dtype
from ..engine.operation import Accumulated, Input, Op, Output, Scalar, op
from ..tiles.overlap import check_disjoint
from ..tiles.tile import made_later
from . import elementwise
from .declare_reduce import (
    DEVICE_RANK,
    RANK,
    SUFFIXES,
    Reduction,
    UfuncReduction,
    as_argmax,
    as_max,
    as_mean,
    as_sum,
    assigning,
    axes_of,
    core_of,
    is_half,
    mean_chosen,
    plain_axis,
    reduced_by,
    reduced_on_device,
    reduced_shape,
    reduction,
)
from .selecting import is_true

cut_reduce = at_first_use("ops.primitives.cut_reduce")
# of kernels of sums and products, which of unsigned integers have the same bits
_OF_WHOLE = SUFFIXES | dict.fromkeys(BY_NAME["uint64"].chars, "i64")


def _mean(x: Array, axis: AxisLike = None, keepdims: bool = False,
          out: Array | None = None) -> object:
    """Return NumPy's mean; for no elements, NaN, with one warning of NumPy's two."""
    if is_half(x.dtype) and x.size and out is not None:  # NumPy would write the sum to `out`
        out[...] = np.mean(x, axis=axis, keepdims=keepdims, dtype=np.float32)
        return out
    if x.size or out is None:
        return np.mean(x, axis=axis, keepdims=keepdims, out=out)
    if out.size or not math.prod(x.shape[k] for k in as_axes(axis, x.ndim)):
        warn("Mean of empty slice", RuntimeWarning)
    out[...] = np.nan
    return out


class Sum(UfuncReduction):
    """Sums."""

    name = "sum"
    summary = "Return the sum of the elements over `axis`."
    example = "mat.sum(mat.ones(2, 3), axis=0)", "<Mat 3 F [2. 2. 2.]>"
    signature = staticmethod(as_sum)
    function, ufunc, neutral = staticmethod(np.sum), np.add, 0
    compiled = REAL_TYPES + INTEGERS + BOOL + COMPLEX_TYPES
    suffixes, of_bools = _OF_WHOLE, "count_nonzero"
    merge = elementwise.add
    device_type = methodcaller("SumKernels")


class Product(UfuncReduction):
    """Products."""

    name = "prod"
    summary = "Return the product of the elements over `axis`."
    example = "mat.prod(mat.array([2.0, 3, 4]))", "<Mat () F 24.>"
    signature = staticmethod(as_sum)
    function, ufunc, neutral = staticmethod(np.prod), np.multiply, 1
    compiled, suffixes = REAL_TYPES + INTEGERS + COMPLEX_TYPES, _OF_WHOLE
    merge = elementwise.multiply
    device_type = methodcaller("ProductKernels")


class Mean(Reduction):
    """Means: compiled, sums that are divided."""

    name = "mean"
    of_numbers = False
    summary = "Return the mean of the elements over `axis`; NaN if there are none."
    example = "mat.mean(mat.array([1.0, 2]))", "<Mat () F 1.5>"
    signature = staticmethod(as_mean)
    function = staticmethod(_mean)
    compiled, divides = REAL_TYPES + INTEGERS + BOOL + COMPLEX_TYPES, True
    device_type = methodcaller("MeanKernels")

    def kernel(self, char: str) -> str:
        name = "count_nonzero" if char in BOOL else "sum" if char in REAL_TYPES else self.name
        return f"mat_{name}_{SUFFIXES[char]}"

    def fits_compiled(self, x: Mat, out: Mat) -> bool:
        return x.size > 0 and super().fits_compiled(x, out)

    def of_chosen(self, core: Function, x: Mat, axis: AxisLike, keepdims: bool, initial: Operand,
                  where: Operand) -> Mat:
        return mean_chosen(sum, x, axis, keepdims, where)

    def cutter(self, operation: Op, cutters: Any) -> Any:
        sums = cutters.Averaged(vars(sum)["op"], elementwise.add, accumulates=True, as_real=True)
        return cutters.by_parts(operation, sums, self.axes)


class Max(UfuncReduction):
    """Largest elements."""

    name = "max"
    summary = "Return the largest element over `axis`; NaN if there is one."
    example = "mat.max(mat.array([1.0, 3, 2]))", "<Mat () F 3.>"
    signature = staticmethod(as_max)
    function = staticmethod(np.max)
    ufunc: ClassVar[np.ufunc] = np.maximum
    of_nothing, silent, accumulates = False, True, False
    compiled = REAL_TYPES + INTEGERS + BOOL + COMPLEX_TYPES
    merge = elementwise.maximum
    device_type = methodcaller("ExtremeKernels")
    of_bools = "any"


class Min(Max):
    """Smallest elements."""

    name = "min"
    summary = "Return the smallest element over `axis`; NaN if there is one."
    example = "mat.min(mat.array([1.0, 3, 2]))", "<Mat () F 1.>"
    function, ufunc = staticmethod(np.min), np.minimum
    merge = elementwise.minimum
    of_bools = "all"
    device_type = methodcaller("ExtremeKernels", smallest=True)


class ArgMax(Reduction):
    """Indices of largest elements."""

    name = "argmax"
    summary = "Return the index of the first largest element along `axis`, or in row-major order."
    example = "mat.argmax(mat.array([1.0, 3, 2]))", "<Mat () int64 F 1>"
    signature = staticmethod(as_argmax)
    function = staticmethod(assigning(np.ndarray.argmax))
    one_axis, of_nothing = True, False
    compiled = REAL_TYPES + INTEGERS + BOOL + COMPLEX_TYPES
    device_type = methodcaller("PositionKernels")

    def cutter(self, operation: Op, cutters: Any) -> Any:
        return cutters.by_places(operation, vars(max)["op"], elementwise.greater, np.argmax,
                                 self.axes)


class ArgMin(ArgMax):
    """Indices of smallest elements."""

    name = "argmin"
    summary = "Return the index of the first smallest element along `axis`, or in row-major order."
    example = "mat.argmin(mat.array([1.0, 3, 2]))", "<Mat () int64 F 0>"
    function = staticmethod(assigning(np.ndarray.argmin))
    device_type = methodcaller("PositionKernels", smallest=True)

    def cutter(self, operation: Op, cutters: Any) -> Any:
        return cutters.by_places(operation, vars(min)["op"], elementwise.less, np.argmin, self.axes)


sum = reduction(Sum())  # NumPy's name
prod = reduction(Product())
mean = reduction(Mean())
max = reduction(Max())
min = reduction(Min())
argmax = reduction(ArgMax())
argmin = reduction(ArgMin())


# MGL-MAT's sums


@op(method="", by_form=True, name="sum_")
def sum_into(x: Input, axis: AxisLike, alpha: Scalar, beta: Scalar, y: Accumulated) -> None:
    """Compute ``y <- alpha * sum(x, axis) + beta * y``."""
    same_dtype(x, y)
    check_factors(y, alpha, beta)
    axes = axes_of(x, axis)
    wanted = reduced_shape(x.shape, axes, False)
    if y.size != np.prod(wanted, dtype=object):
        raise ShapeError(f"sum_ of shape {x.shape} over axis {axis} gives {wanted}, y has shape "
                         f"{y.shape}")
    check_disjoint("sum_", y, x)


sum_into.cut_by(made_later(lambda: cut_reduce.by_accumulated_parts(sum_into, axes_of)))


def _fits(rank: int) -> Function:
    return lambda x, y: y.layout.vector is not None and x.ndim <= rank


@sum_into.prepare("foreign", dtypes=compiled(REAL_TYPES), when=_fits(RANK))
def sum_compiled(cpu: Engine, x: Mat, y: Mat, axis: AxisLike) -> Function:
    axes = axes_of(x, axis)
    return reduced_by(cpu, f"mat_sum_{x.dtype.char}", x, axes, _steps(x, y, axes), accumulate=True)


def _steps(x: Mat, y: Mat, axes: Ints) -> Ints:
    """Return the strides of `y`, a vector, in the shape of the sums."""
    step = y.layout.vector[1] if y.layout.vector else 1
    return tuple(step * s for s in packed_strides(reduced_shape(x.shape, axes, False)))


# all but the integers of 64 bits
SHORT = "".join(c for c in INTEGERS if BY_CHAR[c].size < 8) + INEXACT


# of larger integers, kernels do not get alpha exactly
@sum_into.prepare("cuda", dtypes=SHORT, when=_fits(DEVICE_RANK))
def sum_on_device(cuda: Engine, x: Mat, y: Mat, axis: AxisLike) -> Function:
    axes = axes_of(x, axis)
    return reduced_on_device(cuda, cuda.SumKernels(), x, y, axes, _steps(x, y, axes),
                             accumulate=True)


@sum_into.on("array")
def sum_numpy(np: Engine, x: Array, axis: AxisLike, alpha: Number, beta: Number, y: Array) -> None:
    total = np.sum(x, axis=axis, dtype=x.dtype)
    accumulate(np, np.reshape(total if alpha == 1 else total * y.dtype.type(alpha), y.shape), beta,
               y)


@method("sum_")
def sum_(self: Mat, x: Mat, axis: AxisLike = None, alpha: Number = 1, beta: Number = 0) -> Mat:
    """Compute ``self <- alpha * sum(x, axis) + beta * self`` and return self.

    Parameters
    ----------
    x : Mat
        Operand, of the dtype of self.
    axis : int or tuple of int, optional
        Axes to sum over; all of them if it is None.
    alpha, beta : number
        Factors, converted to the dtype of the Mats; where `beta` is 0, self is not read.

    Returns
    -------
    Mat
        self, which has exactly as many elements as there are sums.

    Raises
    ------
    ShapeError
        If self has another number of elements.
    DTypeError
        If the dtypes differ, or a Mat of integers is scaled by other numbers.
    AliasError
        If self overlaps `x`.

    Examples
    --------
    >>> import mat
    >>> mat.zeros(3).sum_(mat.ones(2, 3), 0)
    <Mat 3 F [2. 2. 2.]>
    """
    return sum_into(x, plain_axis(axis), alpha, beta, self)


# Truth: whether any element is not zero, whether all are, and their number


# the bits of one element that count, as a signed integer: not the signs of zeros
_MASKS = {"f2": 0x7FFF, "f4": 0x7FFFFFFF, "f8": 2**63 - 1, "c8": 0x7FFFFFFF7FFFFFFF,
          "c16": 2**63 - 1}


def mask_of(dtype: DType) -> int:
    """Return the bits of an element that make it true."""
    kind = BY_NAME[dtype.name]
    return _MASKS.get(f"{kind.kind}{kind.size}", -1)


class Truth(Reduction):
    """A reduction of the truth of elements."""

    compiled = EVERY
    silent = True

    def prepare(self, cpu: Engine, x: Mat, out: Mat, axis: AxisLike, keepdims: bool) -> Function:
        axes, strides = self.kept(x, out, axis, keepdims)
        return reduced_by(cpu, f"mat_{self.name}_{x.itemsize}", x, axes, strides,
                          mask=mask_of(x.dtype))


class AnyTrue(Truth):
    """Whether any element is true."""

    name = "any"
    summary = "Return whether any element over `axis` is true."
    example = "any(mat.array([0.0, 2]))", "<Mat () bool F True>"
    function: ClassVar[Function] = staticmethod(np.any)
    merged_by = "logical_or"


class AllTrue(Truth):
    """Whether all elements are true."""

    name = "all"
    summary = "Return whether all elements over `axis` are true."
    example = "all(mat.array([0.0, 2]))", "<Mat () bool F False>"
    function: ClassVar[Function] = staticmethod(np.all)
    merged_by = "logical_and"


class CountNonzero(Truth):
    """How many elements are true."""

    name = "count_nonzero"
    summary = "Return how many elements over `axis` are true."
    example = "count_nonzero(mat.array([0.0, 2]))", "<Mat () int64 F 1>"
    function: ClassVar[Function] = staticmethod(assigning(
        lambda x, axis, keepdims: np.int64(np.count_nonzero(x, axis, keepdims=keepdims))))
    merge = elementwise.add


_any, _all, _count_nonzero = map(core_of, (AnyTrue(), AllTrue(), CountNonzero()))
ANY, ALL, COUNT_NONZERO = (vars(core)["op"] for core in (_any, _all, _count_nonzero))


# Devices with kernels of their own have other reductions


def _decision(core: Function, reduction: Function, of_nothing: bool) -> Function:
    """Return a reduction of truth that devices with kernels compute by another one."""
    def decide(x: Mat, axis: AxisLike = None, keepdims: bool = False,
               out: Mat | None = None) -> Mat:
        if not (IN_USE and has_kernels(x)):
            return core(x, axis, keepdims, out)
        if x.size:
            return reduction(is_true(x), axis, out, keepdims)
        shape, _ = AnyTrue().result_of(x, plain_axis(axis), keepdims)
        return full(shape, of_nothing, "bool") if out is None else out.assign_(of_nothing)

    return decide


any_true = _decision(_any, max, False)
all_true = _decision(_all, min, True)


def count_true(x: Mat, axis: AxisLike = None, keepdims: bool = False) -> Mat:
    """Return the number of true elements over `axis`, as int64."""
    if has_kernels(x):
        return sum(is_true(x), axis, keepdims=keepdims)
    return _count_nonzero(x, axis, keepdims)


# Extremes that skip NaN


class NanMax(UfuncReduction):
    """Largest elements that are not NaN."""

    name = "nanmax"
    summary = "Return the largest element over `axis` that is not NaN; NaN if there is none."
    example = "nanmax(mat.array([1.0, 3, 2]))", "<Mat () F 3.>"
    function: ClassVar[Function] = staticmethod(np.fmax.reduce)
    ufunc: ClassVar[np.ufunc] = np.fmax
    of_nothing, silent, accumulates = False, True, False
    compiled, compiled_name = REAL_TYPES, "fmax"
    merged_by = "fmax"
    device_type = methodcaller("NumberKernels")

    def fits_device(self, x: Mat, out: Mat) -> bool:
        return x.element_type.char in INEXACT and super().fits_device(x, out)


class NanMin(NanMax):
    """Smallest elements that are not NaN."""

    name = "nanmin"
    summary = "Return the smallest element over `axis` that is not NaN; NaN if there is none."
    example = "nanmin(mat.array([1.0, 3, 2]))", "<Mat () F 1.>"
    function: ClassVar[Function] = staticmethod(np.fmin.reduce)
    ufunc: ClassVar[np.ufunc] = np.fmin
    compiled_name = "fmin"
    merged_by = "fmin"
    device_type = methodcaller("NumberKernels", smallest=True)


largest_number, smallest_number = core_of(NanMax()), core_of(NanMin())


def extreme(x: Mat, axis: AxisLike, out: Mat | None = None, keepdims: bool = False, *,
            smallest: bool) -> Mat:
    """Return the largest or smallest element that is not NaN; no warning if there is none."""
    if x.dtype.char in EXTENSIONS:  # among which NumPy does not see NaN
        found: Mat = extreme(x.astype(np.float32), axis, None, keepdims,
                             smallest=smallest).astype(x.dtype)
        return found if out is None else out.assign_(found)
    if x.dtype.char in INEXACT:
        return (smallest_number if smallest else largest_number)(x, axis, keepdims, out)
    return (min if smallest else max)(x, axis, out, keepdims)


# Variances and standard deviations, each in one pass by a kernel


# dtype characters of real numbers, as which NumPy sees booleans
REAL = REAL_TYPES + HALVES + INTEGERS + BOOL


class Variance(Reduction):
    """Variances of real numbers."""

    name = "var"
    of_numbers = False
    function = staticmethod(np.var)


_KIND = Variance()


@op(method="", by_form=True, name="var")
def moments(x: Input, out: Output, axis: AxisLike, keepdims: bool, ddof: int, root: bool) -> None:
    """Compute the variance over `axis`, or its square root."""
    _KIND.check(x, out, axis, keepdims)


moments.reads_once = moments.folds = True
moments.cut_by(made_later(lambda: cut_reduce.by_parts(
    moments, cut_reduce.Moments(vars(mean)["op"], moments), _KIND.axes)))
moments.result_of = lambda x, out, axis, keepdims, ddof, root: _KIND.result_of(x, axis, keepdims)


# the parameters are those of the operation
@moments.prepare("foreign", dtypes=compiled(REAL_TYPES), when=_KIND.fits_compiled)
def variance_compiled(cpu: Engine, x: Mat, out: Mat, axis: AxisLike, keepdims: bool, ddof: int,
                      root: bool) -> Function:
    axes, strides = _KIND.kept(x, out, axis, keepdims)
    return reduced_by(cpu, f"mat_var_{x.dtype.char}", x, axes, strides, ddof=ddof, root=root)


# the parameters are those of the operation
@moments.prepare("cuda", dtypes=REAL_TYPES, when=_KIND.fits_device)
def variance_on_device(cuda: Engine, x: Mat, out: Mat, axis: AxisLike, keepdims: bool, ddof: int,
                       root: bool) -> Function:
    axes, strides = _KIND.kept(x, out, axis, keepdims)
    return reduced_on_device(cuda, cuda.VarianceKernels(), x, out, axes, strides, ddof=ddof,
                             root=root)


@moments.on("array", bare=True)
def variance_by_numpy(x: Array, out: Array, axis: AxisLike, keepdims: bool, ddof: int,
                      root: bool) -> None:
    """Compute NumPy's variance or standard deviation; of nothing, without its warning."""
    count = x.size // (out.size or 1)
    if ddof < count:
        (np.std if root else np.var)(x, axis=axis, out=out, ddof=ddof, keepdims=keepdims)
        return
    with np.errstate(all="ignore"):
        np.divide(np.var(x, axis=axis, keepdims=keepdims) if count else 0.0, 0.0, out=out)


def variance(x: Mat, axis: AxisLike = None, keepdims: bool = False, ddof: Number = 0,
             root: bool = False, out: Mat | None = None) -> Mat:  # NumPy's parameters
    """Return the variance over `axis`: the sum of the squares of the distances from the mean,
    divided by their number less `ddof`; with `root` the standard deviation.

    As in NumPy, that of integers is computed in float64, and that of 16-bit floats in float32.
    """
    char = x.element_type.char
    if char not in REAL_TYPES:
        found: Mat = _of_others(x, axis, keepdims, ddof, root)
    elif ddof == int(ddof):
        if out is not None:
            return moments(x, out, plain_axis(axis), keepdims, int(ddof), root)
        return moments.new((x, None, plain_axis(axis), keepdims, int(ddof), root))
    else:
        count = count_of(x, axis)
        larger = count / (count - ddof) if count > ddof else math.inf
        found = elementwise.multiply(variance(x, axis, keepdims), larger)
        found = elementwise.sqrt(found, out=found) if root else found
    if out is not None:
        found = out.assign_(found)
    return found


def _of_others(x: Mat, axis: AxisLike, keepdims: bool, ddof: Number, root: bool) -> Mat:
    """Return the variance of elements that kernels do not take."""
    char = x.element_type.char
    if char in HALVES:
        return variance(x.astype("float32"), axis, keepdims, ddof, root).astype(x.dtype)
    if char not in COMPLEX_TYPES:
        return variance(x.astype("float64"), axis, keepdims, ddof, root)
    distances = elementwise.abs(elementwise.subtract(x, mean(x, axis, keepdims=True)))
    total = sum(elementwise.square(distances), axis, keepdims=keepdims)
    count = count_of(x, axis) - ddof
    found: Mat = elementwise.divide(total, 0.0 if count < 0 else float(count))
    if root:
        found = elementwise.sqrt(found, out=found)
    return found


def count_of(x: Mat, axis: AxisLike) -> int:
    """Return how many elements are reduced to one."""
    return math.prod(x.shape[k] for k in _KIND.axes(x, plain_axis(axis)))
