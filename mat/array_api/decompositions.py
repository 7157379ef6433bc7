"""Matrix decompositions of the standard's ``linalg``, by operations of `mat` or NumPy's LAPACK."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import LinAlgError, SettingError
from ..interop.numpy.operators import by_numpy, several_by_numpy
from ..matrix.creation import adopted
from ..matrix.mat import Mat
from ..ops import linalg
from ..support.dtypes import BLAS_TYPES
from ..support.types import Array, ArrayLike, Function
from .arguments import like, mat_of


class Eigen(NamedTuple):
    """The eigenvalues and eigenvectors of a matrix.

    Attributes
    ----------
    eigenvalues : Mat
        Of shape (..., n).
    eigenvectors : Mat
        Of shape (..., n, n), as columns.
    """

    eigenvalues: Mat
    eigenvectors: Mat


class QR(NamedTuple):
    """An orthogonal or unitary matrix, and an upper triangular one.

    Attributes
    ----------
    Q : Mat
        The orthogonal or unitary factor.
    R : Mat
        The triangular factor.
    """

    Q: Mat
    R: Mat


class SlogDet(NamedTuple):
    """The sign and the logarithm of the modulus of a determinant.

    Attributes
    ----------
    sign : Mat
        Of modulus 1, or 0.
    logabsdet : Mat
        The natural logarithm; -inf for 0.
    """

    sign: Mat
    logabsdet: Mat


class SVD(NamedTuple):
    """The factors of a singular value decomposition.

    Attributes
    ----------
    U : Mat
        Left singular vectors as columns.
    S : Mat
        Singular values in descending order.
    Vh : Mat
        Right singular vectors as rows.
    """

    U: Mat
    S: Mat
    Vh: Mat


def by_lapack(rule: Function, x: ArrayLike, **options: object) -> Mat:
    """Return the result of NumPy's `rule`, which is one array."""
    try:
        return by_numpy(rule, mat_of(x), **options)
    except np.linalg.LinAlgError as error:
        raise LinAlgError(f"{rule.__name__}: {error}") from None


def several_by_lapack(rule: Function, x: ArrayLike, **options: object) -> tuple[Mat, ...]:
    """Return the results of NumPy's `rule`, which are several arrays."""
    try:
        return several_by_numpy(rule, mat_of(x), **options)
    except np.linalg.LinAlgError as error:
        raise LinAlgError(f"{rule.__name__}: {error}") from None


def cholesky(x: ArrayLike, /, *, upper: bool = False) -> Mat:
    """Return the triangular factor of a positive definite matrix.

    Parameters
    ----------
    x : array
        Of shape (..., n, n), symmetric or Hermitian.
    upper : bool
        Return the upper factor instead of the lower one.

    Returns
    -------
    Mat
        Of the shape of `x`.

    Raises
    ------
    LinAlgError
        If a matrix is not positive definite.
    """
    mat = mat_of(x)
    if not upper:
        found: Mat = linalg.cholesky(mat)
        return found
    factor: Mat = linalg.cholesky(mat.mT if mat.ndim > 1 else mat)
    return factor.mT.copy()


def slogdet(x: ArrayLike, /) -> SlogDet:
    """Return the sign and the logarithm of the modulus of the determinant.

    Parameters
    ----------
    x : array
        Of shape (..., n, n).

    Returns
    -------
    SlogDet
        A named tuple: sign, logabsdet, of shape (...).
    """
    mat = mat_of(x)
    if mat.ndim != 2 or mat.dtype.char not in BLAS_TYPES:
        return SlogDet(*several_by_lapack(np.linalg.slogdet, mat))
    sign, logarithm = linalg.slogdet(mat)
    real = np.dtype(mat.dtype.char.lower())
    return SlogDet(like(adopted(np.array(sign, mat.dtype)), mat, None),
                   like(adopted(np.array(logarithm, real)), mat, None))


def eig(x: ArrayLike, /) -> Eigen:
    """Return the eigenvalues and eigenvectors of a square matrix, as complex numbers.

    Parameters
    ----------
    x : array
        Of shape (..., n, n).

    Returns
    -------
    Eigen
        A named tuple: eigenvalues, eigenvectors.
    """
    return Eigen(*several_by_lapack(_complex_eig, x))


def _complex_eig(a: Array) -> tuple[Array, Array]:
    """Return NumPy's eigenvalues and eigenvectors as complex numbers, also where they are real."""
    values, vectors = np.linalg.eig(a)
    dtype = np.result_type(a.dtype, np.complex64)
    return values.astype(dtype), vectors.astype(dtype)


def eigvals(x: ArrayLike, /) -> Mat:
    """Return the eigenvalues of a square matrix, as complex numbers.

    Parameters
    ----------
    x : array
        Of shape (..., n, n).

    Returns
    -------
    Mat
        Of shape (..., n).
    """
    return by_lapack(_complex_eigvals, x)


def _complex_eigvals(a: Array) -> Array:
    return np.linalg.eigvals(a).astype(np.result_type(a.dtype, np.complex64))


def eigh(x: ArrayLike, /) -> Eigen:
    """Return the ascending eigenvalues, and the eigenvectors, of a Hermitian matrix.

    Parameters
    ----------
    x : array
        Of shape (..., n, n), symmetric or Hermitian.

    Returns
    -------
    Eigen
        A named tuple: eigenvalues, eigenvectors.
    """
    return Eigen(*several_by_lapack(np.linalg.eigh, x))


def eigvalsh(x: ArrayLike, /) -> Mat:
    """Return the ascending eigenvalues of a symmetric or Hermitian matrix.

    Parameters
    ----------
    x : array
        Of shape (..., n, n).

    Returns
    -------
    Mat
        Of shape (..., n), real.
    """
    return by_lapack(np.linalg.eigvalsh, x)


def qr(x: ArrayLike, /, *, mode: str = "reduced") -> QR:
    """Return the factors of ``x = Q R``: Q orthogonal or unitary, R upper triangular.

    Parameters
    ----------
    x : array
        Of shape (..., m, n).
    mode : {"reduced", "complete"}
        Whether Q has min(m, n) columns or m.

    Returns
    -------
    QR
        A named tuple: Q, R.
    """
    if mode not in ("reduced", "complete"):
        raise SettingError(f"mode is 'reduced' or 'complete', got {mode!r}")
    return QR(*several_by_lapack(np.linalg.qr, x, mode=mode))


def svd(x: ArrayLike, /, *, full_matrices: bool = True) -> SVD:
    """Return the singular value decomposition ``x = U diag(S) Vh``.

    Parameters
    ----------
    x : array
        Of shape (..., m, n).
    full_matrices : bool
        Whether U and Vh are square, or have min(m, n) singular vectors.

    Returns
    -------
    SVD
        A named tuple: U, S, Vh.
    """
    return SVD(*several_by_lapack(np.linalg.svd, x, full_matrices=bool(full_matrices)))


def svdvals(x: ArrayLike, /) -> Mat:
    """Return singular values in descending order.

    Parameters
    ----------
    x : array
        Of shape (..., m, n).

    Returns
    -------
    Mat
        Of shape (..., min(m, n)), real.
    """
    return by_lapack(np.linalg.svdvals, x)
