"""``linalg`` of the standard: products, norms, inverses and Cholesky by our operations, what else
factors by NumPy's LAPACK.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..errors import DTypeError, LinAlgError, SettingError, ShapeError
from ..interop.numpy.operators import by_numpy
from ..layout.strided import as_axes, integer
from ..matrix.creation import adopted
from ..matrix.mat import Mat
from ..ops import elementwise, reduce
from ..ops import linalg as ours
from ..support.dtypes import BLAS_TYPES, check_number
from .arguments import as_mat, like
from .manipulation import matrix_transpose
from .products import matmul, tensordot, vecdot
from .statistical import count_nonzero
from .statistical import sum as _sum

__all__ = [
    "cholesky", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matmul",
    "matrix_norm",
    "matrix_power", "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve",
    "svd", "svdvals", "tensordot",
    "trace", "vecdot", "vector_norm",
]


class Eigen(NamedTuple):
    """Eigenvalues, and eigenvectors as columns."""

    eigenvalues: Mat
    eigenvectors: Mat


class QR(NamedTuple):
    """An orthogonal or unitary matrix, and an upper triangular one."""

    Q: Mat
    R: Mat


class SlogDet(NamedTuple):
    """The sign of a determinant, and the logarithm of its modulus."""

    sign: Mat
    logabsdet: Mat


class SVD(NamedTuple):
    """Left singular vectors as columns, singular values in descending order, right singular vectors
    as rows.
    """

    U: Mat
    S: Mat
    Vh: Mat


def _lapack(rule: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    """What NumPy's `rule` gives; that there is no result becomes our error."""
    try:
        return by_numpy(rule, as_mat(x), *args, **kwargs)
    except np.linalg.LinAlgError as error:
        raise LinAlgError(f"{rule.__name__}: {error}") from None


# Ours


def cholesky(x: Any, /, *, upper: bool = False) -> Any:
    """The triangular factor of a positive definite matrix, lower or upper."""
    if not upper:
        return ours.cholesky(as_mat(x))
    x = as_mat(x)
    return ours.cholesky(x.mT if x.ndim > 1 else x).mT.copy()


def inv(x: Any, /) -> Any:
    """The inverse of a square matrix, or of each in a stack. `LinAlgError` if it is singular."""
    return ours.inv(as_mat(x))


def solve(x1: Any, x2: Any, /) -> Any:
    """The solution of ``x1 x = x2``, for a vector or matrices. `LinAlgError` if x1 is singular."""
    return ours.solve(as_mat(x1), as_mat(x2))


def slogdet(x: Any, /) -> SlogDet:
    """The sign of the determinant, and the logarithm of its modulus."""
    x = as_mat(x)
    if x.ndim != 2 or x.dtype.char not in BLAS_TYPES:
        return SlogDet(*_lapack(np.linalg.slogdet, x))
    sign, logarithm = ours.slogdet(x)
    real = np.dtype(x.dtype.char.lower())
    return SlogDet(*(like(adopted(np.array(v, d)), x, None) for v,
                     d in ((sign, x.dtype), (logarithm, real))))


def outer(x1: Any, x2: Any, /) -> Any:
    """The matrix of all products of the elements of two vectors."""
    x1, x2 = as_mat(x1), as_mat(x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ShapeError(f"outer wants two vectors, got shapes {x1.shape} and {x2.shape}")
    return elementwise.multiply(x1.expand_dims(1), x2.expand_dims(0))


def diagonal(x: Any, /, *, offset: int = 0) -> Mat:
    """The diagonal of the last two axes: a view."""
    return as_mat(x).diagonal(offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """The sum of a diagonal, in dtypes as of sums."""
    return _sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def matrix_power(x: Any, n: int, /) -> Any:
    """`x` times itself, so that it stands there `n` times; below 0 the inverse does."""
    x, count = as_mat(x), integer(n, "n")
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ShapeError(f"matrix_power wants a square matrix, got shape {x.shape}")
    if count == 0:
        return like(adopted(np.broadcast_to(np.eye(x.shape[-1], dtype=x.dtype), x.shape).copy()), x,
                    None)
    base, result = (ours.inv(x), None) if count < 0 else (x, None)
    count = abs(count)
    while count:
        if count & 1:
            result = base if result is None else ours.matmul(result, base)
        count >>= 1
        base = ours.matmul(base, base) if count else base
    return result.copy() if result is x else result


# Norms


# the standard's
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False,
                ord: float = 2) -> Any:
    """The norm over `axis`, the axes taken together as one vector: ``sum(abs(x) ** ord) ** (1 /
    ord)``.
    """
    x = as_mat(x)
    check_number(ord, np.dtype(np.float64), "ord")
    axes = tuple(range(x.ndim)) if axis is None else as_axes(axis, x.ndim)
    size = elementwise.abs(x if x.dtype.kind in "fc" else x.astype("float64"))
    if ord == 0:
        return count_nonzero(size, axis=axes, keepdims=keepdims).astype(size.dtype)
    if ord in (float("inf"), float("-inf")):
        return (reduce.max if ord > 0 else reduce.min)(size, axes, keepdims)
    if ord == 1:
        return reduce.sum(size, axes, keepdims)
    if ord == 2:
        return elementwise.sqrt(reduce.sum(elementwise.square(size), axes, keepdims))
    return elementwise.pow(reduce.sum(elementwise.pow(size, float(ord)), axes, keepdims), 1 / ord)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """The norm of a matrix, or of each in a stack: "fro", "nuc", or 1, 2, inf and their
    negatives.
    """
    x = as_mat(x)
    if x.ndim < 2:
        raise ShapeError(f"matrix_norm wants at least two axes, got shape {x.shape}")
    if ord in ("fro", None):
        return vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord not in ("nuc", 1, -1, 2, -2, float("inf"), float("-inf")):
        raise SettingError("ord is 'fro', 'nuc', or 1, 2, inf or one of their negatives, got "
                           f"{ord!r}")
    return _lapack(np.linalg.matrix_norm, x, keepdims=bool(keepdims), ord=ord)


# NumPy's


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The cross product of vectors of three elements along `axis`."""
    return by_numpy(np.linalg.cross, as_mat(x1), as_mat(x2), axis=axis)


def det(x: Any, /) -> Any:
    """The determinant."""
    return _lapack(np.linalg.det, x)


def eig(x: Any, /) -> Eigen:
    """Complex eigenvalues and eigenvectors of a square matrix."""
    return Eigen(*_lapack(_complex_eig, x))


def _complex_eig(a: np.ndarray[Any, Any]) -> tuple[Any, Any]:
    """NumPy's, which gives real ones where it can."""
    values, vectors = np.linalg.eig(a)
    dtype = np.result_type(a.dtype, np.complex64)
    return values.astype(dtype), vectors.astype(dtype)


def eigvals(x: Any, /) -> Any:
    """Complex eigenvalues of a square matrix."""
    return _lapack(_complex_eigvals, x)


def _complex_eigvals(a: np.ndarray[Any, Any]) -> Any:
    return np.linalg.eigvals(a).astype(np.result_type(a.dtype, np.complex64))


def eigh(x: Any, /) -> Eigen:
    """Ascending eigenvalues, and eigenvectors, of a symmetric or Hermitian matrix."""
    return Eigen(*_lapack(np.linalg.eigh, x))


def eigvalsh(x: Any, /) -> Any:
    """Ascending eigenvalues of a symmetric or Hermitian matrix."""
    return _lapack(np.linalg.eigvalsh, x)


def matrix_rank(x: Any, /, *, rtol: Any = None) -> Any:
    """How many singular values are above `rtol` times the largest."""
    x = as_mat(x)
    if x.ndim < 2:
        raise ShapeError(f"matrix_rank wants at least two axes, got shape {x.shape}")
    return _lapack(np.linalg.matrix_rank, x, rtol=rtol)


def pinv(x: Any, /, *, rtol: Any = None) -> Any:
    """The Moore-Penrose inverse, singular values not above `rtol` times the largest being taken for
    0.
    """
    return _lapack(np.linalg.pinv, x, rtol=_tolerance(x, rtol))


def _tolerance(x: Any, rtol: Any) -> Any:
    """`rtol`, or the default of the standard, which is not NumPy's."""
    x = as_mat(x)
    if x.dtype.kind not in "fc":
        raise DTypeError(f"pinv wants floating-point numbers, got {x.dtype}")
    return max(x.shape[-2:]) * float(np.finfo(x.dtype).eps) if rtol is None and x.ndim > 1 else rtol


def qr(x: Any, /, *, mode: str = "reduced") -> QR:
    """The factors of ``x = Q R``, Q orthogonal or unitary, R upper triangular; with mode
    "complete", Q is square.
    """
    if mode not in ("reduced", "complete"):
        raise SettingError(f"mode is 'reduced' or 'complete', got {mode!r}")
    return QR(*_lapack(np.linalg.qr, x, mode=mode))


def svd(x: Any, /, *, full_matrices: bool = True) -> SVD:
    """The singular value decomposition ``x = U diag(S) Vh``."""
    return SVD(*_lapack(np.linalg.svd, x, full_matrices=bool(full_matrices)))


def svdvals(x: Any, /) -> Any:
    """Singular values in descending order."""
    return _lapack(np.linalg.svdvals, x)
