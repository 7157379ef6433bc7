"""Types of `mat.linalg`.

Written by ``python -m tests.types.stubs``, with NumPy 2.4.6: not to be edited.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, SupportsIndex, overload


from .support.types import ArrayLike
from .support.types import DTypeLike
from .matrix.mat import Mat
from numpy.linalg import LinAlgError as LinAlgError

__all__ = [
    "LinAlgError", "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals",
    "eigvalsh", "inv", "lstsq", "matmul", "matrix_norm", "matrix_power", "matrix_rank",
    "matrix_transpose", "multi_dot", "norm", "outer", "pinv", "qr", "slogdet", "solve", "svd",
    "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot", "vector_norm",
]

class _EigResult(NamedTuple):
    eigenvalues: Mat
    eigenvectors: Mat

class _EighResult(NamedTuple):
    eigenvalues: Mat
    eigenvectors: Mat

class _QRResult(NamedTuple):
    Q: Mat
    R: Mat

class _SVDResult(NamedTuple):
    U: Mat
    S: Mat
    Vh: Mat

class _SlogdetResult(NamedTuple):
    sign: Mat
    logabsdet: Mat

def cholesky(a: ArrayLike, /, *, upper: bool = False) -> Mat:
    """Return what ``numpy.linalg.cholesky`` returns, with Mats for arrays."""

def cond(x: ArrayLike, p: ArrayLike | None = None) -> Mat:
    """Return what ``numpy.linalg.cond`` returns, with Mats for arrays."""

def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> Mat:
    """Return what ``numpy.linalg.cross`` returns, with Mats for arrays."""

def det(a: ArrayLike) -> Mat:
    """Return what ``numpy.linalg.det`` returns, with Mats for arrays."""

def diagonal(x: ArrayLike, /, *, offset: SupportsIndex = 0) -> Mat:
    """Return what ``numpy.linalg.diagonal`` returns, with Mats for arrays."""

def eig(a: ArrayLike) -> _EigResult:
    """Return what ``numpy.linalg.eig`` returns, with Mats for arrays."""

def eigh(a: ArrayLike, UPLO: Literal['L', 'U', 'l', 'u'] = 'L') -> _EighResult:
    """Return what ``numpy.linalg.eigh`` returns, with Mats for arrays."""

def eigvals(a: ArrayLike) -> Mat:
    """Return what ``numpy.linalg.eigvals`` returns, with Mats for arrays."""

def eigvalsh(a: ArrayLike, UPLO: Literal['L', 'U', 'l', 'u'] = 'L') -> Mat:
    """Return what ``numpy.linalg.eigvalsh`` returns, with Mats for arrays."""

def inv(a: ArrayLike) -> Mat:
    """Return what ``numpy.linalg.inv`` returns, with Mats for arrays."""

def lstsq(a: ArrayLike, b: ArrayLike, rcond: float | None = None) -> tuple[Mat, Mat, Mat, Mat]:
    """Return what ``numpy.linalg.lstsq`` returns, with Mats for arrays."""

def matmul(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return what ``numpy.linalg.matmul`` returns, with Mats for arrays."""

def matrix_norm(
    x: ArrayLike,
    /,
    *,
    keepdims: bool = False,
    ord: float | Literal['fro', 'nuc'] | None = 'fro',
) -> Mat:
    """Return what ``numpy.linalg.matrix_norm`` returns, with Mats for arrays."""

def matrix_power(a: ArrayLike, n: SupportsIndex) -> Mat:
    """Return what ``numpy.linalg.matrix_power`` returns, with Mats for arrays."""

def matrix_rank(
    A: ArrayLike,
    tol: ArrayLike | None = None,
    hermitian: bool = False,
    *,
    rtol: ArrayLike | None = None,
) -> Mat:
    """Return what ``numpy.linalg.matrix_rank`` returns, with Mats for arrays."""

def matrix_transpose(x: ArrayLike, /) -> Mat:
    """Return what ``numpy.linalg.matrix_transpose`` returns, with Mats for arrays."""

def multi_dot(arrays: Sequence[ArrayLike] | Mat, *, out: Mat | None = None) -> Mat:
    """Return what ``numpy.linalg.multi_dot`` returns, with Mats for arrays."""

def norm(
    x: ArrayLike,
    ord: float | Literal['fro', 'nuc'] | None = None,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    keepdims: bool = False,
) -> Mat:
    """Return what ``numpy.linalg.norm`` returns, with Mats for arrays."""

def outer(x1: ArrayLike, x2: ArrayLike, /) -> Mat:
    """Return what ``numpy.linalg.outer`` returns, with Mats for arrays."""

def pinv(
    a: ArrayLike,
    rcond: ArrayLike | None = None,
    hermitian: bool = False,
    *,
    rtol: ArrayLike = ...,
) -> Mat:
    """Return what ``numpy.linalg.pinv`` returns, with Mats for arrays."""

def qr(a: ArrayLike, mode: Literal['reduced', 'complete', 'r', 'raw'] = 'reduced') -> _QRResult:
    """Return what ``numpy.linalg.qr`` returns, with Mats for arrays."""

def slogdet(a: ArrayLike) -> _SlogdetResult:
    """Return what ``numpy.linalg.slogdet`` returns, with Mats for arrays."""

def solve(a: ArrayLike, b: ArrayLike) -> Mat:
    """Return what ``numpy.linalg.solve`` returns, with Mats for arrays."""

@overload
def svd(
    a: ArrayLike,
    full_matrices: bool=True,
    compute_uv: Literal[True]=True,
    hermitian: bool=False,
) -> _SVDResult: ...
@overload
def svd(
    a: ArrayLike,
    full_matrices: bool=True,
    *,
    compute_uv: Literal[False],
    hermitian: bool=False,
) -> Mat: ...
def svdvals(x: ArrayLike, /) -> Mat:
    """Return what ``numpy.linalg.svdvals`` returns, with Mats for arrays."""

def tensordot(x1: ArrayLike, x2: ArrayLike, /, *, axes: object = 2) -> Mat:
    """Return what ``numpy.linalg.tensordot`` returns, with Mats for arrays."""

def tensorinv(a: ArrayLike, ind: int = 2) -> Mat:
    """Return what ``numpy.linalg.tensorinv`` returns, with Mats for arrays."""

def tensorsolve(a: ArrayLike, b: ArrayLike, axes: object = None) -> Mat:
    """Return what ``numpy.linalg.tensorsolve`` returns, with Mats for arrays."""

def trace(x: ArrayLike, /, *, offset: SupportsIndex = 0, dtype: DTypeLike = None) -> Mat:
    """Return what ``numpy.linalg.trace`` returns, with Mats for arrays."""

def vecdot(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    *,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = -1,
) -> Mat:
    """Return what ``numpy.linalg.vecdot`` returns, with Mats for arrays."""

def vector_norm(
    x: ArrayLike,
    /,
    *,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    keepdims: bool = False,
    ord: float | None = 2,
) -> Mat:
    """Return what ``numpy.linalg.vector_norm`` returns, with Mats for arrays."""

