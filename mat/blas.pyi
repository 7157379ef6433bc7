"""Types of `mat.blas`.

Written by ``python -m tests.types.stubs``, with NumPy 2.4.6: not to be edited.
"""



from .matrix.mat import Mat
from .support.types import Scalar

__all__ = [
    "asum", "axpy", "copy", "dot", "gemm", "gemm_batched", "gemv", "ger", "iamax", "nrm2", "scal",
    "swap", "syrk", "trsm", "vdot",
]

def asum(x: Mat, *, n: int | None = None, incx: int = 1) -> float:
    """Return ``sum |re x_i| + |im x_i|``."""

def axpy(
    alpha: Scalar,
    x: Mat,
    y: Mat,
    *,
    n: int | None = None,
    incx: int = 1,
    incy: int = 1,
) -> Mat:
    """Compute ``y <- alpha * x + y`` and return `y`."""

def copy(x: Mat, y: Mat, *, n: int | None = None, incx: int = 1, incy: int = 1) -> Mat:
    """Copy the elements of `x` to `y`, whatever the shapes, and return `y`."""

def dot(x: Mat, y: Mat, *, n: int | None = None, incx: int = 1, incy: int = 1) -> float:
    """Return ``sum x_i * y_i``; nothing is conjugated."""

def gemm(
    alpha: Scalar,
    a: Mat,
    b: Mat,
    beta: Scalar,
    c: Mat,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    m: int | None = None,
    n: int | None = None,
    k: int | None = None,
    lda: int | None = None,
    ldb: int | None = None,
    ldc: int | None = None,
) -> Mat:
    """Compute ``C <- alpha * op(A) op(B) + beta * C`` and return `c`."""

def gemm_batched(
    alpha: Scalar,
    a: Mat,
    b: Mat,
    beta: Scalar,
    c: Mat,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
) -> Mat:
    """Compute ``C_i <- alpha * op(A_i) op(B_i) + beta * C_i`` for each matrix of stacks."""

def gemv(alpha: Scalar, a: Mat, x: Mat, beta: Scalar, y: Mat, *, transpose: bool = False) -> Mat:
    """Compute ``y <- alpha * op(A) x + beta * y`` and return `y`."""

def ger(alpha: Scalar, x: Mat, y: Mat, a: Mat) -> Mat:
    """Compute ``A <- alpha * x y^T + A`` and return `a`; nothing is conjugated."""

def iamax(x: Mat, *, n: int | None = None, incx: int = 1) -> int:
    """Return the first index of the largest ``|re x_i| + |im x_i|``."""

def nrm2(x: Mat, *, n: int | None = None, incx: int = 1) -> float:
    """Return the Euclidean norm ``sqrt(sum |x_i|^2)``, without overflow."""

def scal(alpha: Scalar, x: Mat, *, n: int | None = None, incx: int = 1) -> Mat:
    """Compute ``x <- alpha * x`` and return `x`."""

def swap(x: Mat, y: Mat, *, n: int | None = None, incx: int = 1, incy: int = 1) -> Mat:
    """Exchange the elements of `x` and `y`, and return `y`."""

def syrk(
    alpha: Scalar,
    a: Mat,
    beta: Scalar,
    c: Mat,
    *,
    transpose: bool = False,
    lower: bool = True,
) -> Mat:
    """Compute ``C <- alpha * A A^T + beta * C`` in one triangle of `c`, and return `c`."""

def trsm(
    alpha: Scalar,
    a: Mat,
    b: Mat,
    *,
    side: str = 'left',
    lower: bool = True,
    transpose: bool = False,
    unit: bool = False,
) -> Mat:
    """Compute ``B <- alpha * op(A)^-1 B`` for a triangular `a`, and return `b`."""

def vdot(x: Mat, y: Mat, *, n: int | None = None, incx: int = 1, incy: int = 1) -> float:
    """Return ``sum conj(x_i) * y_i``."""

