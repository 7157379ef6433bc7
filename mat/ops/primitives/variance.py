"""Variances and standard deviations over any axes, each in one pass by a kernel: `var` and `std` of
NumPy are made of them.
"""

from __future__ import annotations

from math import inf, prod

import numpy as np

from ...matrix.mat import Mat
from ...support.dtypes import BOOL, COMPLEX_TYPES, HALVES, INTEGERS, REAL_TYPES
from ...support.native import compiled
from ...support.plugins import at_first_use
from ...support.types import Array, AxisLike, Engine, Function, Number
from ..engine.operation import Input, Output, op
from ..tiles.tile import made_later
from . import elementwise, reduce
from .declare_reduce import Reduction, plain_axis, reduced_by, reduced_on_device

cut_reduce = at_first_use("ops.primitives.cut_reduce")
# dtype characters of real numbers, as which NumPy sees booleans
REAL = REAL_TYPES + HALVES + INTEGERS + BOOL


class Variance(Reduction):
    """Variances of real numbers."""

    name = "var"
    of_numbers = False
    function = staticmethod(np.var)


_KIND = Variance()


@op(method="", by_form=True, name="var")
def moments(x: Input, out: Output, axis: AxisLike, keepdims: bool, ddof: int,
              root: bool) -> None:  # the parameters are NumPy's
    """Compute the variance over `axis`, or its square root."""
    _KIND.check(x, out, axis, keepdims)


moments.reads_once = moments.folds = True
moments.cut_by(made_later(lambda: cut_reduce.by_parts(
    moments, cut_reduce.Moments(vars(reduce.mean)["op"], moments), _KIND.axes)))
moments.result_of = lambda x, out, axis, keepdims, ddof, root: _KIND.result_of(x, axis, keepdims)


# the parameters are those of the operation
@moments.prepare("foreign", dtypes=compiled(REAL_TYPES), when=_KIND.fits_compiled)
def variance_compiled(cpu: Engine, x: Mat, out: Mat, axis: AxisLike, keepdims: bool, ddof: int,
                      root: bool) -> Function:
    """Return the compiled kernel."""
    axes, strides = _KIND.kept(x, out, axis, keepdims)
    return reduced_by(cpu, f"mat_var_{x.dtype.char}", x, axes, strides, ddof=ddof, root=root)


# the parameters are those of the operation
@moments.prepare("cuda", dtypes=REAL_TYPES, when=_KIND.fits_device)
def variance_on_device(cuda: Engine, x: Mat, out: Mat, axis: AxisLike, keepdims: bool, ddof: int,
                       root: bool) -> Function:
    """Return the device's kernel."""
    axes, strides = _KIND.kept(x, out, axis, keepdims)
    return reduced_on_device(cuda, cuda.VarianceKernels(), x, out, axes, strides, ddof=ddof,
                             root=root)


@moments.on("array", bare=True)
def variance_by_numpy(x: Array, out: Array, axis: AxisLike, keepdims: bool, ddof: int,
                      root: bool) -> None:  # the parameters are those of the operation
    """Compute NumPy's variance or standard deviation; of nothing, without its warning."""
    count = x.size // max(out.size, 1)
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
        larger = count / (count - ddof) if count > ddof else inf
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
    distances = elementwise.abs(elementwise.subtract(x, reduce.mean(x, axis, keepdims=True)))
    total = reduce.sum(elementwise.square(distances), axis, keepdims=keepdims)
    found: Mat = elementwise.divide(total, float(max(count_of(x, axis) - ddof, 0)))
    if root:
        found = elementwise.sqrt(found, out=found)
    return found


def count_of(x: Mat, axis: AxisLike) -> int:
    """Return how many elements are reduced to one."""
    return prod(x.shape[k] for k in _KIND.axes(x, plain_axis(axis)))
