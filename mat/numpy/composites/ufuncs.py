"""NumPy's ufuncs without kernels of devices, composed of operations."""

from __future__ import annotations

import numpy as np

from ...matrix.creation import adopted
from ...matrix.mat import Mat
from ...ops.engine.by_numpy import leave_if
from ...ops.engine.loops import LOGIC, loop_dtypes
from ...ops.engine.operands import as_mat
from ...ops.primitives import elementwise, reduce
from ...ops.primitives.joining import concat
from ...ops.primitives.selecting import is_true, where
from ...ops.primitives.shape import along
from ...support.plugins import at_first_use
from ...support.types import Array, DType, Function, Operand
from ..operands import FLOATS, as_dtype, in_floats, one_axis, with_axis_moved
from ..registry import Result, composes, implements
from .in_tiles import in_tiles

accumulation = at_first_use("ops.indexing.accumulate_at")
products = at_first_use("ops.linear.matmul")
scan = at_first_use("ops.primitives.scan")
selection = at_first_use("numpy.composites.selection")
ufuncs = at_first_use("ops.primitives.ufuncs")
_LOG2_E = 1.4426950408889634  # log2(e)
_SUBNORMAL, _SHIFT = 2.0 ** -1000, 100  # below this, numbers are first shifted by so many bits
_STEP, _STEPS = 1000.0, 3  # exponents that are added at once, and how often
_MOST = _STEP * _STEPS - 1
_KINDS = "biufc"  # of NumPy's numbers
_FLOAT, _INT = np.dtype(np.float64), np.dtype(np.int32)


# Names of what devices compute


def _compose_of_floats(ufunc: np.ufunc, function: Function, wide: DType | None = None) -> None:
    """Compose `ufunc` of a function of Mats in the dtype of its loop, or in `wide`."""
    def composed(*operands: Operand) -> Result:
        return in_floats(ufunc, function, *operands, wide=wide)

    composed.__name__ = ufunc.__name__
    composes(ufunc.__name__)(in_tiles(composed))


_compose_of_floats(np.degrees, lambda x: ufuncs.rad2deg(x))
_compose_of_floats(np.radians, lambda x: ufuncs.deg2rad(x))
_compose_of_floats(np.fabs, elementwise.abs)


@composes("positive")
def positive(x: Mat) -> Result:
    leave_if(x.dtype.kind == "b")
    return x.copy("K")


@composes("float_power")
@in_tiles
def float_power(x: Operand, y: Operand) -> Result:
    dtype = loop_dtypes(np.float_power, x, y)[-1]
    return elementwise.pow(*(as_dtype(v, dtype) if isinstance(v, Mat) else dtype.type(v).item()
                             for v in (x, y)))


# Logarithms of sums


def _log2_of_sum(x: Operand, y: Operand) -> Mat:
    """Return ``log2(2**x + 2**y)`` from the larger one, exact also where both are infinite."""
    distance = elementwise.abs(elementwise.subtract(x, y))
    rest = _LOG2_E * elementwise.log1p(ufuncs.exp2(-distance))
    found = elementwise.add(elementwise.maximum(x, y), rest)
    return where(elementwise.equal(x, y), elementwise.add(x, 1.0), found)


_compose_of_floats(np.logaddexp2, _log2_of_sum, _FLOAT)


# Parts of numbers


@composes("spacing")
@in_tiles
def spacing(x: Mat) -> Result:
    leave_if(x.dtype.char not in FLOATS[1:])
    away = ufuncs.copysign(np.inf, x + 0.0)  # of -0.0 as of 0.0
    return where(elementwise.isfinite(x), ufuncs.nextafter(x, away) - x, np.nan)


def _fraction_and_whole(x: Mat) -> tuple[Mat, Mat]:
    whole = ufuncs.trunc(x)
    fraction = where(elementwise.isinf(x), 0.0, x - whole)
    return ufuncs.copysign(fraction, x), whole


_compose_of_floats(np.modf, _fraction_and_whole)


def _mantissa_and_exponent(x: Mat) -> tuple[Mat, Mat]:
    """Return a number of at least 1/2 and less than 1, and the power of 2 to multiply it with; the
    exponent by the logarithm is at most one off.
    """
    wide = as_dtype(x, _FLOAT)
    plain = elementwise.isfinite(wide) & (wide != 0)
    some = where(plain, wide, 1.0)
    small = elementwise.abs(some) < _SUBNORMAL
    some = where(small, some * 2.0 ** _SHIFT, some)
    exponent = elementwise.floor(ufuncs.log2(elementwise.abs(some))) + 1.0
    mantissa = some * ufuncs.exp2(-exponent)
    size = elementwise.abs(mantissa)
    above, below = size >= 1.0, size < 0.5
    mantissa = where(above, mantissa * 0.5, where(below, mantissa * 2.0, mantissa))
    exponent = where(above, exponent + 1.0, where(below, exponent - 1.0, exponent))
    exponent = where(small, exponent - _SHIFT, exponent)
    return as_dtype(where(plain, mantissa, wide), x.dtype), where(plain, exponent, 0.0).astype(_INT)


_compose_of_floats(np.frexp, _mantissa_and_exponent)


@composes("ldexp")
@in_tiles
def ldexp(x: Operand, k: Operand) -> Result:
    dtype = loop_dtypes(np.ldexp, x, k)[0]
    exponents = as_mat(k, "exponents")
    leave_if(not isinstance(x, Mat) or dtype.char not in FLOATS)
    return as_dtype(_scaled(as_dtype(x, _FLOAT), exponents.astype(_FLOAT)), dtype)


def _scaled(x: Mat, exponents: Mat) -> Mat:
    """Return float64 times powers of 2: the remainder first, so that only the last step rounds."""
    exponents = elementwise.clip(exponents, -_MOST, _MOST)
    steps = ufuncs.trunc(exponents / _STEP)
    found: Mat = x * ufuncs.exp2(exponents - steps * _STEP)
    for k in range(_STEPS):
        fewer = elementwise.clip(steps, -1.0 * k, 1.0 * k)
        found *= ufuncs.exp2((elementwise.clip(steps, -k - 1.0, k + 1.0) - fewer) * _STEP)
    return found


# Products of vectors and matrices


@composes("vecdot")
def vecdot(x: Operand, y: Operand) -> Result:
    leave_if(not _are_vectors(x, y))
    return _without(_without(products.matmul(_as_row(conjugated(x)), _as_column(y)), -1), -1)


@composes("matvec")
def matvec(x: Operand, y: Operand) -> Result:
    leave_if(not _are_vectors(x, y) or x.ndim < 2)
    return _without(products.matmul(x, _as_column(y)), -1)


@composes("vecmat")
def vecmat(x: Operand, y: Operand) -> Result:
    leave_if(not isinstance(y, Mat) or y.ndim < 2 or not _are_vectors(x, y.swapaxes(-1, -2)))
    return _without(products.matmul(_as_row(conjugated(x)), y), -2)


implements("linalg.vecdot", on_device=2)(lambda x1, x2, /, *, axis=-1: vecdot(
    *(with_axis_moved(m, one_axis(m, axis), -1) for m in (x1, x2))))


def _are_vectors(x: Operand, y: Operand) -> bool:
    """Return whether the last axes of two Mats of NumPy's types have one length."""
    return (isinstance(x, Mat) and isinstance(y, Mat) and bool(x.ndim and y.ndim)
            and x.shape[-1] == y.shape[-1] and x.dtype.kind in _KINDS and y.dtype.kind in _KINDS)


def conjugated(x: Mat) -> Mat:
    return ufuncs.conjugate(x) if x.dtype.kind == "c" else x


def _as_row(x: Mat) -> Mat:
    return x.over(x.layout[..., None, :])


def _as_column(x: Mat) -> Mat:
    return x.over(x.layout[..., None])


def _without(x: Mat, axis: int) -> Mat:
    k = x.ndim + axis
    return x.reshape((*x.shape[:k], *x.shape[k + 1:]))


# Methods of ufuncs without reductions and scans on devices: by halves, for associative ufuncs, and
# by accumulation at places


_GROUPED = ("bitwise_and", "bitwise_or", "bitwise_xor", "logical_and", "logical_or", "logical_xor",
            "fmax", "fmin", "hypot", "logaddexp", "logaddexp2", "gcd")
_OF_MODULI = (np.hypot, np.gcd)  # the result of one element is its modulus
_RANGE = np.dtype(np.int64)


def _converted(ufunc: np.ufunc, x: Mat) -> Mat:
    """Return the elements in the dtype in which `ufunc` combines them in any order."""
    if ufunc in LOGIC:
        return is_true(x)
    dtype = loop_dtypes(ufunc, x, x)[-1]
    leave_if(dtype.kind not in "biufc" or dtype.char == "e")
    return as_dtype(x, dtype)


# Reductions


@composes(*_GROUPED, method="reduce")
def reduce_by_halves(ufunc: np.ufunc, x: Mat, axis: Operand = 0, *, keepdims: bool = False,
                     **others: Operand) -> Result:
    if axis is None:
        x, kept = x.contiguous().reshape(-1), (1,) * x.ndim
        axis = 0
    else:
        axis = one_axis(x, axis)
        kept = (*x.shape[:axis], 1, *x.shape[axis + 1:])
    leave_if(others or not x.size)
    elements = _converted(ufunc, x)
    if ufunc in _OF_MODULI and elements.shape[axis] == 1:
        elements = elementwise.abs(elements)
    found = _folded(ufunc, elements, axis)
    return found.reshape(kept if keepdims else (*found.shape[:axis], *found.shape[axis + 1:]))


def _folded(combine: Function, x: Mat, axis: int) -> Mat:
    """Return the combination of all elements along an axis, with length 1 there."""
    while x.shape[axis] > 1:
        half, odd = divmod(x.shape[axis], 2)
        found = combine(along(x, axis, slice(None, half)), along(x, axis, slice(half, 2 * half)))
        last = along(x, axis, slice(2 * half, None))
        x = concat([found, last], axis) if odd else found
    return x.copy()


@composes("subtract", method="reduce")
def reduce_differences(ufunc: np.ufunc, x: Mat, axis: Operand = 0, *, keepdims: bool = False,
                       **others: Operand) -> Result:
    k = one_axis(x, axis)
    leave_if(others or x.dtype.kind not in "iuf" or not x.shape[k])
    first = along(x, k, slice(None, 1))
    rest = reduce.sum(along(x, k, slice(1, None)), k, x.dtype, keepdims=True)
    found = elementwise.subtract(first, rest)
    return found if keepdims else found.squeeze(k)


# Running results


@composes(*_GROUPED, method="accumulate")
def accumulate_by_doubling(ufunc: np.ufunc, x: Mat, axis: Operand = 0, **others: Operand) -> Result:
    leave_if(others)
    k, distance = one_axis(x, axis), 1
    found = _converted(ufunc, x)
    while distance < x.shape[k]:
        later = ufunc(along(found, k, slice(None, -distance)),
                      along(found, k, slice(distance, None)))
        found = concat([along(found, k, slice(None, distance)), later], k)
        distance *= 2
    return found.copy() if found is x else found


@composes("subtract", method="accumulate")
def accumulate_differences(ufunc: np.ufunc, x: Mat, axis: Operand = 0, **others: Operand) -> Result:
    leave_if(others or x.dtype.kind not in "fc")
    k = one_axis(x, axis)
    parts = [along(x, k, slice(None, 1)), elementwise.negative(along(x, k, slice(1, None)))]
    return scan.cumsum(concat(parts, k), k)


# Pieces of an axis


@composes("add", "subtract", "multiply", "maximum", "minimum", method="reduceat")
def reduce_pieces(ufunc: np.ufunc, x: Mat, indices: Operand, axis: Operand = 0,
                  **others: Operand) -> Result:
    starts = np.asarray(indices)
    leave_if(others or starts.ndim != 1)
    k = one_axis(x, axis)
    length = x.shape[k]
    leave_if(starts.dtype.kind not in "iu" or not starts.size
             or not np.all((starts >= 0) & (starts < length)))
    x = as_dtype(x, ufunc.reduceat(np.ones(1, x.dtype), [0]).dtype)
    places, pieces = _followers(starts.astype(_RANGE), length)
    moved = x.permute((k, *(i for i in range(x.ndim) if i != k)))
    found = selection.take(moved, adopted(starts.astype(_RANGE)), 0)
    rest = selection.take(moved, adopted(places), 0) if places.size else None
    leave_if(rest is not None and not accumulation.accumulated_at(ufunc, found, adopted(pieces),
                                                                  rest))
    return found.permute((*range(1, k + 1), 0, *range(k + 1, x.ndim))).contiguous()


def _followers(starts: Array, length: int) -> tuple[Array, Array]:
    """Return the places of all elements but the first one of each piece, and the piece of each."""
    ends = np.append(starts[1:], length)
    more = np.maximum(ends - starts - 1, 0)
    pieces = np.repeat(np.arange(starts.size), more)
    before = np.cumsum(more) - more
    return starts[pieces] + 1 + np.arange(pieces.size) - before[pieces], pieces
