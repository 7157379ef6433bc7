"""NumPy's norms of vectors and matrices but those that singular values make: by sums and extremes.

On the host NumPy itself computes most of them.
"""

from __future__ import annotations

import numpy as np

from ....layout.shapes import Ints, as_axis
from ....matrix.creation import adopted
from ....matrix.mat import Mat
from ....ops import elementwise, reduce
from ....ops.blas_level1 import nrm2
from ....support.dtypes import BLAS_TYPES, REAL_TYPES
from ....support.types import AxisLike, Operand
from ..registry import Result, implements
from .there import as_floats, is_there

_OF_SQUARES = (None, "fro", "f")  # the orders of matrices whose norm is that of a vector


@implements("linalg.norm")
def numpy_linalg_norm(x: Operand, ord: Operand = None, axis: AxisLike = None,
                      keepdims: bool = False) -> Result:
    if isinstance(x, Mat) and x.dtype.char in REAL_TYPES and ord is None and x.size:
        if axis is None and not keepdims:
            return adopted(np.asarray(nrm2(x), x.dtype))
        # NumPy refuses other axes
        if x.ndim and (type(axis) is int or (type(axis) is tuple and len(axis) in (1, 2))):
            return elementwise.sqrt(reduce.sum(elementwise.square(x), axis, keepdims=keepdims))
    if not _has_norms(x):
        return NotImplemented
    if axis is None and (ord is None or (ord == "fro" and x.ndim == 2)):
        return _of_vectors(x, tuple(range(x.ndim)), 2, bool(keepdims))
    axes = _axes(tuple(range(x.ndim)) if axis is None else axis, x.ndim)
    if axes is None or len(axes) not in (1, 2):
        return NotImplemented
    of = _of_vectors if len(axes) == 1 else _of_matrices
    return of(x, axes, 2 if ord is None and len(axes) == 1 else ord, bool(keepdims))


@implements("linalg.vector_norm")
def numpy_linalg_vector_norm(x: Operand, /, *, axis: AxisLike = None, keepdims: bool = False,
                             ord: Operand = 2) -> Result:
    if not _has_norms(x):
        return NotImplemented
    axes = _axes(tuple(range(x.ndim)) if axis is None else axis, x.ndim)
    return NotImplemented if axes is None else _of_vectors(x, axes, ord, bool(keepdims))


@implements("linalg.matrix_norm")
def numpy_linalg_matrix_norm(x: Operand, /, *, keepdims: bool = False,
                             ord: Operand = "fro") -> Result:
    if not _has_norms(x) or x.ndim < 2:
        return NotImplemented
    return _of_matrices(x, (x.ndim - 2, x.ndim - 1), ord, bool(keepdims))


def _has_norms(x: Operand) -> bool:
    """Return whether `x` is on a device, with a type that its operations compute norms of."""
    return is_there(x) and bool(x.size and x.ndim) and (
        x.dtype.char in BLAS_TYPES or x.dtype.kind in "biu")


def _axes(axis: Operand, ndim: int) -> Ints | None:
    """Return different axes, counted from the first one; None for anything else."""
    given = axis if isinstance(axis, tuple) else (axis,)
    if not all(type(k) is int and -ndim <= k < ndim for k in given):
        return None
    found = tuple(as_axis(k, ndim) for k in given)
    return found if len(set(found)) == len(found) else None


def _of_vectors(x: Mat, axes: Ints, order: Operand, keepdims: bool) -> Result:
    """Return the norms of the vectors along axes."""
    if not isinstance(order, int | float) or isinstance(order, bool):
        return NotImplemented
    x = as_floats(x)
    if order == 0:
        return reduce.sum((x != 0).astype(_real_type(x)), axes, keepdims=keepdims)
    size = elementwise.abs(x)
    if order in (np.inf, -np.inf):
        extreme = reduce.max if order > 0 else reduce.min
        return extreme(size, axes, keepdims=keepdims)
    if order == 1:
        return reduce.sum(size, axes, keepdims=keepdims)
    if order == 2:
        return elementwise.sqrt(reduce.sum(elementwise.square(size), axes, keepdims=keepdims))
    total = reduce.sum(elementwise.pow(size, float(order)), axes, keepdims=keepdims)
    return elementwise.pow(total, 1 / float(order))


def _real_type(x: Mat) -> np.dtype:
    return np.dtype(x.dtype.char.lower())


def _of_matrices(x: Mat, axes: Ints, order: Operand, keepdims: bool) -> Result:
    """Return the norms of the matrices along two axes."""
    if order in _OF_SQUARES:
        return _of_vectors(x, axes, 2, keepdims)
    if order not in (1, -1, np.inf, -np.inf):
        return NotImplemented
    rows, columns = axes if abs(order) == 1 else axes[::-1]
    sums = reduce.sum(elementwise.abs(as_floats(x)), rows, keepdims=True)
    extreme = reduce.max if order > 0 else reduce.min
    found = extreme(sums, columns, keepdims=True)
    return found if keepdims else found.squeeze(tuple(sorted(axes)))
