"""Methods of NumPy's ufuncs on devices, for ufuncs without reductions and scans there: by halves,
for associative ufuncs, and by accumulation at places.
"""

from __future__ import annotations

import numpy as np

from ...layout.shapes import as_axis
from ...matrix.creation import adopted
from ...matrix.mat import Mat
from ...ops.engine.by_numpy import LeftToNumPy, leave_if, or_leave
from ...ops.engine.loops import LOGIC, loop_dtypes
from ...ops.indexing.accumulate_at import accumulated_at
from ...ops.indexing.taking import take
from ...ops.primitives import elementwise, reduce, scan
from ...ops.primitives.joining import concat
from ...ops.primitives.parts import along
from ...ops.primitives.selecting import is_true
from ...support.types import Array, Function, Operand
from ..registry import Result, composes
from .there import as_dtype

_GROUPED = ("bitwise_and", "bitwise_or", "bitwise_xor", "logical_and", "logical_or", "logical_xor",
            "fmax", "fmin", "hypot", "logaddexp", "logaddexp2", "gcd")
_OF_MODULI = (np.hypot, np.gcd)  # the result of one element is its modulus
_RANGE = np.dtype(np.int64)


def _converted(ufunc: np.ufunc, x: Mat) -> Mat:
    """Return the elements in the dtype in which `ufunc` combines them, if results do not depend on
    the order, by rounding to float16.
    """
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
    elif type(axis) is int and -x.ndim <= axis < x.ndim:
        axis = as_axis(axis, x.ndim)
        kept = (*x.shape[:axis], 1, *x.shape[axis + 1:])
    else:
        raise LeftToNumPy
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
    leave_if(others or type(axis) is not int or not -x.ndim <= axis < x.ndim
             or x.dtype.kind not in "iuf")
    k = as_axis(axis, x.ndim)
    leave_if(not x.shape[k])
    first = along(x, k, slice(None, 1))
    rest = reduce.sum(along(x, k, slice(1, None)), k, x.dtype, keepdims=True)
    found = elementwise.subtract(first, rest)
    return found if keepdims else found.squeeze(k)


# Running results


@composes(*_GROUPED, method="accumulate")
def accumulate_by_doubling(ufunc: np.ufunc, x: Mat, axis: Operand = 0,
                           **others: Operand) -> Result:
    leave_if(others or type(axis) is not int or not -x.ndim <= axis < x.ndim)
    k, distance = as_axis(axis, x.ndim), 1
    found = _converted(ufunc, x)
    while distance < x.shape[k]:
        later = ufunc(along(found, k, slice(None, -distance)),
                      along(found, k, slice(distance, None)))
        found = concat([along(found, k, slice(None, distance)), later], k)
        distance *= 2
    return found.copy() if found is x else found


@composes("subtract", method="accumulate")
def accumulate_differences(ufunc: np.ufunc, x: Mat, axis: Operand = 0,
                           **others: Operand) -> Result:
    leave_if(others or type(axis) is not int or not -x.ndim <= axis < x.ndim
             or x.dtype.kind not in "fc")
    k = as_axis(axis, x.ndim)
    parts = [along(x, k, slice(None, 1)), elementwise.negative(along(x, k, slice(1, None)))]
    return scan.cumsum(concat(parts, k), k)


# Pieces of an axis


@composes("add", "subtract", "multiply", "maximum", "minimum", method="reduceat")
def reduce_pieces(ufunc: np.ufunc, x: Mat, indices: Operand, axis: Operand = 0,
                  **others: Operand) -> Result:
    starts = np.asarray(indices)
    leave_if(others or type(axis) is not int or not -x.ndim <= axis < x.ndim or starts.ndim != 1)
    k = as_axis(axis, x.ndim)
    length = x.shape[k]
    leave_if(starts.dtype.kind not in "iu" or not starts.size
             or not np.all((starts >= 0) & (starts < length)))
    x = as_dtype(x, ufunc.reduceat(np.ones(1, x.dtype), [0]).dtype)
    places, pieces = _followers(starts.astype(_RANGE), length)
    moved = x.permute((k, *(i for i in range(x.ndim) if i != k)))
    found = or_leave(take(moved, adopted(starts.astype(_RANGE)), 0))
    rest = take(moved, adopted(places), 0) if places.size else None
    leave_if(rest is not None and not accumulated_at(ufunc, found, adopted(pieces), rest))
    return found.permute((*range(1, k + 1), 0, *range(k + 1, x.ndim))).contiguous()


def _followers(starts: Array, length: int) -> tuple[Array, Array]:
    """Return the places of all elements but the first one of each piece, and the piece of each; a
    piece that starts at or after the next one has only its first element.
    """
    ends = np.append(starts[1:], length)
    more = np.maximum(ends - starts - 1, 0)
    pieces = np.repeat(np.arange(starts.size), more)
    before = np.cumsum(more) - more
    return starts[pieces] + 1 + np.arange(pieces.size) - before[pieces], pieces
