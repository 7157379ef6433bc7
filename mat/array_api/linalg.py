"""``linalg`` of the standard: products, norms, inverses and solutions by operations of `mat`, the
rest by NumPy's LAPACK on the host.
"""

from __future__ import annotations

import numpy as np

from ..errors import DTypeError, SettingError, ShapeError
from ..interop.numpy.operators import by_numpy
from ..layout.shapes import integer
from ..matrix.creation import adopted
from ..matrix.mat import Mat
from ..ops import elementwise, reduce
from ..ops import linalg as operations
from ..support.close_names import name_what_is_close as _name_what_is_close
from ..support.dtypes import check_number
from ..support.types import ArrayLike, AxisLike, DTypeLike, Operand
from .arguments import axes_of, like, mat_of
from .decompositions import (
    by_lapack,
    cholesky,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    qr,
    slogdet,
    svd,
    svdvals,
)
from .manipulation import matrix_transpose
from .products import matmul, tensordot, vecdot
from .statistical import count_nonzero
from .statistical import sum as _sum

__all__ = [
    "cholesky", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matmul",
    "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "outer", "pinv", "qr",
    "slogdet", "solve", "svd", "svdvals", "tensordot", "trace", "vecdot", "vector_norm",
]


# By operations of `mat`


def inv(x: ArrayLike, /) -> Mat:
    """Return the inverse of a square matrix, or of each in a stack.

    Parameters
    ----------
    x : array
        Of shape (..., n, n).

    Returns
    -------
    Mat
        Of the shape of `x`.

    Raises
    ------
    LinAlgError
        If a matrix is singular.
    """
    found: Mat = operations.inv(mat_of(x))
    return found


def solve(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return the solution of ``x1 @ x = x2``.

    Parameters
    ----------
    x1 : array
        Of shape (..., n, n).
    x2 : array
        A vector of length n, or of shape (..., n, k).

    Returns
    -------
    Mat
        Of the shape of `x2`, broadcast.

    Raises
    ------
    LinAlgError
        If a matrix is singular.
    """
    found: Mat = operations.solve(mat_of(x1), mat_of(x2))
    return found


def outer(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return the matrix of all products of the elements of two vectors.

    Parameters
    ----------
    x1, x2 : array
        Vectors of lengths m and n.

    Returns
    -------
    Mat
        Of shape (m, n).
    """
    x1, x2 = mat_of(x1), mat_of(x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ShapeError(f"outer wants two vectors, got shapes {x1.shape} and {x2.shape}")
    found: Mat = elementwise.multiply(x1.expand_dims(1), x2.expand_dims(0))
    return found


def diagonal(x: ArrayLike, /, *, offset: int = 0) -> Mat:
    """Return the diagonal of the last two axes.

    Parameters
    ----------
    x : array
        Of shape (..., m, n).
    offset : int
        Which diagonal: above the main one if positive, below if negative.

    Returns
    -------
    Mat
        A view.
    """
    return mat_of(x).diagonal(offset, -2, -1)


def trace(x: ArrayLike, /, *, offset: int = 0, dtype: DTypeLike = None) -> Mat:
    """Return the sum of a diagonal.

    Parameters
    ----------
    x : array
        Of shape (..., m, n).
    offset : int
        Which diagonal: above the main one if positive, below if negative.
    dtype : dtype, optional
        As for ``sum``.

    Returns
    -------
    Mat
        Of shape (...).
    """
    return _sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def matrix_power(x: ArrayLike, n: int, /) -> Mat:
    """Return the product of `n` matrices `x`, or of ``-n`` inverses.

    Parameters
    ----------
    x : array
        Of shape (..., m, m).
    n : int
        The power; the identity for 0.

    Returns
    -------
    Mat
        Of the shape of `x`.
    """
    mat, count = mat_of(x), integer(n, "n")
    if mat.ndim < 2 or mat.shape[-1] != mat.shape[-2]:
        raise ShapeError(f"matrix_power wants a square matrix, got shape {mat.shape}")
    if count == 0:
        identity = np.broadcast_to(np.eye(mat.shape[-1], dtype=mat.dtype), mat.shape)
        return like(adopted(identity.copy()), mat, None)
    base: Mat = operations.inv(mat) if count < 0 else mat
    result: Mat | None = None
    count = abs(count)
    while count:
        if count & 1:
            result = base if result is None else operations.matmul(result, base)
        count >>= 1
        base = operations.matmul(base, base) if count else base
    assert result is not None
    return result.copy() if result is mat else result


# Norms


def vector_norm(x: ArrayLike, /, *, axis: AxisLike = None, keepdims: bool = False,
                ord: float = 2) -> Mat:
    """Return the norm ``sum(abs(x) ** ord) ** (1 / ord)`` over `axis`.

    Parameters
    ----------
    x : array
        Of any shape.
    axis : int or tuple of int, optional
        The axes, which are taken together as one vector; all if None.
    keepdims : bool
        Keep reduced axes with length 1.
    ord : number
        The order; inf and -inf for the largest and the smallest modulus, 0 for the number of
        elements that are not 0.

    Returns
    -------
    Mat
        Of the shape of `x` without the reduced axes.
    """
    x = mat_of(x)
    check_number(ord, np.dtype(np.float64), "ord")
    axes = axes_of(x, axis)
    size: Mat = elementwise.abs(x if x.dtype.kind in "fc" else x.astype("float64"))
    found: Mat
    if ord == 0:
        found = count_nonzero(size, axis=axes, keepdims=keepdims).astype(size.dtype)
    elif ord in (float("inf"), float("-inf")):
        found = (reduce.max if ord > 0 else reduce.min)(size, axes, keepdims=keepdims)
    elif ord == 1:
        found = reduce.sum(size, axes, keepdims=keepdims)
    elif ord == 2:
        found = elementwise.sqrt(reduce.sum(elementwise.square(size), axes,
                                            keepdims=keepdims))
    else:
        total = reduce.sum(elementwise.pow(size, float(ord)), axes, keepdims=keepdims)
        found = elementwise.pow(total, 1 / ord)
    return found


def matrix_norm(x: ArrayLike, /, *, keepdims: bool = False, ord: float | str | None = "fro") -> Mat:
    """Return the norm of a matrix, or of each in a stack.

    Parameters
    ----------
    x : array
        Of shape (..., m, n).
    keepdims : bool
        Keep reduced axes with length 1.
    ord : {"fro", "nuc", 1, -1, 2, -2, inf, -inf}
        Which norm.

    Returns
    -------
    Mat
        Of shape (...), or (..., 1, 1).
    """
    x = mat_of(x)
    if x.ndim < 2:
        raise ShapeError(f"matrix_norm wants at least two axes, got shape {x.shape}")
    if ord in ("fro", None):
        return vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord not in ("nuc", 1, -1, 2, -2, float("inf"), float("-inf")):
        raise SettingError("ord is 'fro', 'nuc', or 1, 2, inf or one of their negatives, got "
                           f"{ord!r}")
    return by_lapack(np.linalg.matrix_norm, x, keepdims=bool(keepdims), ord=ord)


# By NumPy


def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Mat:
    """Return the cross product of vectors of three elements.

    Parameters
    ----------
    x1, x2 : array
        Of length 3 along `axis`.
    axis : int
        The axis of the vectors.

    Returns
    -------
    Mat
        Of the shape that both broadcast to.
    """
    return by_numpy(np.linalg.cross, mat_of(x1), mat_of(x2), axis=axis)


def det(x: ArrayLike, /) -> Mat:
    """Return the determinant.

    Parameters
    ----------
    x : array
        Of shape (..., n, n).

    Returns
    -------
    Mat
        Of shape (...).
    """
    return by_lapack(np.linalg.det, x)


def matrix_rank(x: ArrayLike, /, *, rtol: ArrayLike | None = None) -> Mat:
    """Return the number of singular values above `rtol` times the largest.

    Parameters
    ----------
    x : array
        Of shape (..., m, n).
    rtol : number or array, optional
        The relative tolerance; ``max(m, n)`` times the spacing of numbers at 1 if None.

    Returns
    -------
    Mat
        Of shape (...) and int64.
    """
    x = mat_of(x)
    if x.ndim < 2:
        raise ShapeError(f"matrix_rank wants at least two axes, got shape {x.shape}")
    return by_lapack(np.linalg.matrix_rank, x, rtol=rtol)


def pinv(x: ArrayLike, /, *, rtol: ArrayLike | None = None) -> Mat:
    """Return the Moore-Penrose inverse.

    Parameters
    ----------
    x : array
        Of shape (..., m, n).
    rtol : number or array, optional
        Singular values not above `rtol` times the largest count as 0; ``max(m, n)`` times the
        spacing of numbers at 1 if None.

    Returns
    -------
    Mat
        Of shape (..., n, m).
    """
    return by_lapack(np.linalg.pinv, x, rtol=_tolerance(x, rtol))


def _tolerance(x: ArrayLike, rtol: ArrayLike | None) -> Operand:
    """Return `rtol`, or the default of the standard, which is not NumPy's."""
    x = mat_of(x)
    if x.dtype.kind not in "fc":
        raise DTypeError(f"pinv wants floating-point numbers, got {x.dtype}")
    return max(x.shape[-2:]) * float(np.finfo(x.dtype).eps) if rtol is None and x.ndim > 1 else rtol


def __dir__() -> list[str]:
    return __all__


_name_what_is_close(__name__)
