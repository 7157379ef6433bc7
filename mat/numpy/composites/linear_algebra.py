"""NumPy's inverse, solver, Cholesky factor, determinants, and norms by sums and extremes."""

from __future__ import annotations

import numpy as np

from ...layout.shapes import Ints
from ...matrix.creation import adopted
from ...matrix.mat import Mat, new_like
from ...ops.engine.by_numpy import leave_if
from ...ops.linear import linalg
from ...ops.linear.blas_level1 import nrm2
from ...ops.linear.decompositions import determinants
from ...ops.primitives import elementwise, reduce
from ...support.dtypes import BLAS_TYPES, REAL_TYPES
from ...support.types import AxisLike, Function, Operand
from ..registry import Result, implements
from .decompositions import matrices, named, real_of, singular_values
from .there import as_floats, different_axes, is_there


def _is_square(a: Mat) -> bool:
    """Return whether `a` is a square matrix of a BLAS dtype, or a stack of them."""
    return a.dtype.char in BLAS_TYPES and a.ndim >= 2 and a.shape[-1] == a.shape[-2]


@implements("linalg.inv")
def numpy_linalg_inv(a: Operand) -> Result:
    leave_if(not _is_square(a))
    return linalg.inv(a)


@implements("linalg.solve")
def numpy_linalg_solve(a: Operand, b: Operand) -> Result:
    plain = (_is_square(a) and isinstance(b, Mat) and b.dtype.char in BLAS_TYPES
             and b.ndim > 0)
    leave_if(not plain)
    return linalg.solve(a, b)


@implements("linalg.cholesky")
def numpy_linalg_cholesky(a: Operand, /, *, upper: bool = False) -> Result:
    leave_if(not (_is_square(a) and not upper))
    return linalg.cholesky(a)


@implements("linalg.slogdet", on_device=1)
def numpy_linalg_slogdet(a: Operand) -> Result:
    return named(np.linalg.slogdet, *_sign_and_log(matrices(a, square=True)))


@implements("linalg.det", on_device=1)
def numpy_linalg_det(a: Operand) -> Result:
    sign, logarithm = _sign_and_log(matrices(a, square=True))
    return sign * elementwise.exp(logarithm)


def _sign_and_log(a: Mat) -> tuple[Mat, Mat]:
    """Return the signs of determinants, and the logarithms of their moduli."""
    sign, logarithm = (new_like(a, a.shape[:-2], t) for t in (a.dtype, real_of(a.dtype)))
    determinants(a, sign, logarithm)
    return sign, logarithm


# Norms of vectors and matrices


_OF_SQUARES = (None, "fro", "f")  # the orders of matrices whose norm is that of a vector
_OF_SINGULAR_VALUES: dict[object, Function] = {2: reduce.max, -2: reduce.min, "nuc": reduce.sum}


@implements("linalg.norm")
def numpy_linalg_norm(x: Operand, ord: Operand = None, axis: AxisLike = None,
                      keepdims: bool = False) -> Result:
    if x.dtype.char in REAL_TYPES and ord is None and x.size:
        if axis is None and not keepdims:
            return adopted(np.asarray(nrm2(x), x.dtype))
        # NumPy refuses other axes
        if x.ndim and (type(axis) is int or (type(axis) is tuple and len(axis) in (1, 2))):
            return elementwise.sqrt(reduce.sum(elementwise.square(x), axis, keepdims=keepdims))
    leave_if(not _has_norms(x))
    if axis is None and (ord is None or (ord == "fro" and x.ndim == 2)):
        return _of_vectors(x, tuple(range(x.ndim)), 2, bool(keepdims))
    axes = different_axes(axis, x.ndim)
    leave_if(len(axes) not in (1, 2))
    of = _of_vectors if len(axes) == 1 else _of_matrices
    return of(x, axes, 2 if ord is None and len(axes) == 1 else ord, bool(keepdims))


@implements("linalg.vector_norm", on_device=1)
def numpy_linalg_vector_norm(x: Operand, /, *, axis: AxisLike = None, keepdims: bool = False,
                             ord: Operand = 2) -> Result:
    leave_if(not _has_norms(x))
    return _of_vectors(x, different_axes(axis, x.ndim), ord, bool(keepdims))


@implements("linalg.matrix_norm", on_device=1)
def numpy_linalg_matrix_norm(x: Operand, /, *, keepdims: bool = False,
                             ord: Operand = "fro") -> Result:
    leave_if(not _has_norms(x) or x.ndim < 2)
    return _of_matrices(x, (x.ndim - 2, x.ndim - 1), ord, bool(keepdims))


def _has_norms(x: Operand) -> bool:
    """Return whether `x` is on a device, with a type that its operations compute norms of."""
    return is_there(x) and bool(x.size and x.ndim) and (
        x.dtype.char in BLAS_TYPES or x.dtype.kind in "biu")


def _of_vectors(x: Mat, axes: Ints, order: Operand, keepdims: bool) -> Result:
    """Return the norms of the vectors along axes."""
    leave_if(not isinstance(order, int | float) or isinstance(order, bool))
    x = as_floats(x)
    if order == 0:
        return reduce.sum((x != 0).astype(real_of(x.dtype)), axes, keepdims=keepdims)
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


def _of_matrices(x: Mat, axes: Ints, order: Operand, keepdims: bool) -> Result:
    """Return the norms of the matrices along two axes."""
    if order in _OF_SQUARES:
        return _of_vectors(x, axes, 2, keepdims)
    if order in _OF_SINGULAR_VALUES:
        s = singular_values(as_floats(x).permute((*(k for k in range(x.ndim) if k not in axes),
                                                  *axes)))
        found = _OF_SINGULAR_VALUES[order](s, -1)
        for k in sorted(axes) if keepdims else ():
            found = found.expand_dims(k)
        return found
    leave_if(order not in (1, -1, np.inf, -np.inf))
    rows, columns = axes if abs(order) == 1 else axes[::-1]
    sums = reduce.sum(elementwise.abs(as_floats(x)), rows, keepdims=True)
    extreme = reduce.max if order > 0 else reduce.min
    found = extreme(sums, columns, keepdims=True)
    return found if keepdims else found.squeeze(tuple(sorted(axes)))
