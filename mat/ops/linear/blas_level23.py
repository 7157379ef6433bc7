"""BLAS levels 2 and 3: operations on matrices, except products (``blas_gemm.py``).

Names and argument order are those of BLAS; the last operand is written and returned. Matrices may
be strided: whatever has adjacent elements along one axis goes to BLAS as it is, transposed views as
a flag.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import isqrt

from ...errors import ShapeError
from ...matrix.mat import Mat
from ...support.dtypes import BLAS_TYPES as BLAS
from ...support.native import compiled
from ...support.types import Arguments, Array, Engine, Function, Keywords, Number
from ..engine.operands import accumulate
from ..engine.operation import Accumulated, InOut, Input, Scalar, op
from ..tiles.cut_products import MatrixProduct, panel_tiles, product_tiles
from ..tiles.overlap import check_disjoint
from ..tiles.signatures import StagedResult, staged
from ..tiles.tile import Tile, TileTooLarge, nothing, over
from . import rowmajor
from .blas_checks import (
    blas_dtype,
    check_bool,
    check_countable,
    check_matrices,
    check_vectors,
)
from .blas_gemm import gemm
from .rowmajor import BlasEngine, do_nothing, fits_device, fits_matrix


@op(by_form=True)
def gemv(alpha: Scalar, a: Input, x: Input, beta: Scalar, y: Accumulated, *,
         transpose: bool = False) -> None:
    """Compute ``y <- alpha * op(A) x + beta * y`` and return `y`.

    Parameters
    ----------
    alpha, beta : number
        Factors, converted to the dtype of the Mats; where `beta` is 0, `y` is not read.
    a : Mat
        Matrix of a dtype that BLAS knows.
    x, y : Mat
        Vectors as long as the rows and the columns of op(A), of a's dtype; `y` is overwritten.
    transpose : bool, optional
        Whether op(A) is the transpose of A, rather than A.

    Returns
    -------
    Mat
        `y`.

    Raises
    ------
    ShapeError, DTypeError
        If the operands do not match.
    AliasError
        If `y` overlaps `a` or `x`.

    Notes
    -----
    BLAS ?GEMV.

    Examples
    --------
    >>> import mat
    >>> mat.gemv(1, mat.array([[1.0, 2], [3, 4]]), mat.ones(2), 0, mat.empty(2))
    <Mat 2 F [3. 7.]>
    """
    check_matrices("gemv", a)
    blas_dtype(a, x, y)
    check_bool(transpose=transpose)
    m, n = a.layout.shape[::-1] if transpose else a.layout.shape
    if x.size != n or y.size != m:
        raise ShapeError(f"gemv of op(A) {m}x{n} requires vectors of {n} and {m} elements, got "
                         f"{x.shape} and {y.shape}")
    check_vectors("gemv", x, y)
    check_disjoint("gemv", y, a, x)


@gemv.prepare("cuda", fits=fits_device, dtypes=BLAS, pack=True)
@gemv.prepare("foreign", fits=fits_matrix, dtypes=compiled(BLAS), pack=True,
              when=lambda a, x, y: x.layout.size)
def gemv_blas(blas: BlasEngine, a: Mat, x: Mat, y: Mat, transpose: bool = False) -> Function:
    if not y.size:
        return do_nothing
    check_countable(*a.shape)
    if not x.size:
        return blas.prepare_scale_vector(y.dtype.char, y.layout)
    return rowmajor.prepare_gemv(blas, a, transpose, x, y)


@gemv.on("array")
def gemv_numpy(np: Engine, alpha: Number, a: Array, x: Array, beta: Number, y: Array,
               transpose: bool = False) -> None:  # the signature is the operation's
    product = np.matmul(a.T if transpose else a, x.reshape(-1))
    accumulate(np, (y.dtype.type(alpha) * product).reshape(y.shape), y.dtype.type(beta), y)


gemv.reads_once = True  # the matrix, and a vector that is as large


@gemv.cut_by
def gemv_tiles(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
    """Cut the product of a matrix and a column."""
    alpha, a, x, beta, y = args

    def multiply(part: Mat, column: Mat, factor: Number | None, to: Mat) -> object:
        return gemv(alpha, part, column[:, 0], factor, to[:, 0])

    return product_tiles(MatrixProduct(a.T if kwargs.get("transpose") else a, x.reshape(-1, 1),
                                 y.reshape(-1, 1), beta, multiply), budget)


@op(by_form=True)
def ger(alpha: Scalar, x: Input, y: Input, a: InOut) -> None:
    """Compute ``A <- alpha * x y^T + A`` and return `a`; nothing is conjugated.

    Parameters
    ----------
    alpha : number
        Factor, converted to the dtype of the Mats.
    x, y : Mat
        Vectors as long as the columns and the rows of `a`.
    a : Mat
        Matrix of a dtype that BLAS knows; it is overwritten.

    Returns
    -------
    Mat
        `a`.

    Raises
    ------
    ShapeError, DTypeError
        If the operands do not match.
    AliasError
        If `a` overlaps `x` or `y`.

    Notes
    -----
    BLAS ?GER, ?GERU.

    Examples
    --------
    >>> import mat
    >>> mat.ger(1, mat.array([1.0, 2]), mat.array([3.0, 4]), mat.zeros(2, 2))
    <Mat 2x2 F [[3. 4.] [6. 8.]]>
    """
    check_matrices("ger", a)
    blas_dtype(x, y, a)
    if (x.size, y.size) != a.layout.shape:
        raise ShapeError(f"ger into {a.shape} requires vectors as long as its columns and rows, "
                         f"got {x.shape} and {y.shape}")
    check_vectors("ger", x, y)
    check_disjoint("ger", a, x, y)


@ger.prepare("cuda", fits=fits_device, dtypes=BLAS, pack=True)
@ger.prepare("foreign", fits=fits_matrix, dtypes=BLAS, pack=True)
def ger_blas(blas: BlasEngine, x: Mat, y: Mat, a: Mat) -> Function:
    check_countable(*a.shape)
    return rowmajor.prepare_ger(blas, x, y, a) if a.size else do_nothing


@ger.on("array")
def ger_numpy(np: Engine, alpha: Number, x: Array, y: Array, a: Array) -> None:
    a += a.dtype.type(alpha) * np.outer(x, y)


ger.cut_by(over(ger, "i,j,ij"))


# Symmetric updates and triangular solves


@op(by_form=True)
def syrk(alpha: Scalar, a: Input, beta: Scalar, c: InOut, *, transpose: bool = False,
         lower: bool = True) -> None:
    """Compute ``C <- alpha * A A^T + beta * C`` in one triangle of `c`, and return `c`.

    Parameters
    ----------
    alpha, beta : number
        Factors, converted to the dtype of the Mats.
    a : Mat
        Matrix of a dtype that BLAS knows.
    c : Mat
        Square matrix with as many rows as `a`; one triangle is overwritten, the other is neither
        read nor written.
    transpose : bool, optional
        Compute ``A^T A``; then `c` has as many rows as `a` has columns.
    lower : bool, optional
        Which triangle is meant: the lower one, by default, or the upper one.

    Returns
    -------
    Mat
        `c`.

    Notes
    -----
    BLAS ?SYRK.

    Examples
    --------
    >>> import mat
    >>> mat.syrk(1, mat.array([[1.0, 2], [3, 4]]), 0, mat.zeros(2, 2))
    <Mat 2x2 F [[5. 0.] [11. 25.]]>
    """
    check_matrices("syrk", a, c)
    check_bool(transpose=transpose, lower=lower)
    n = a.shape[1] if transpose else a.shape[0]
    if c.shape != (n, n):
        raise ShapeError(f"syrk of A {a.shape} requires C of shape {(n, n)}, got {c.shape}")
    check_disjoint("syrk", c, a)


@syrk.prepare("cuda", fits=fits_device, dtypes=BLAS, pack=True)
@syrk.prepare("foreign", fits=fits_matrix, dtypes=BLAS, pack=True)
def syrk_blas(blas: BlasEngine, a: Mat, c: Mat, transpose: bool = False,
              lower: bool = True) -> Function:
    check_countable(*a.shape)
    return rowmajor.prepare_syrk(blas, a, c, transpose, lower) if c.size else do_nothing


# the signature is the operation's
@syrk.on("array")
def syrk_numpy(np: Engine, alpha: Number, a: Array, beta: Number, c: Array,
               transpose: bool = False, lower: bool = True) -> None:
    product = np.matmul(a.T, a) if transpose else np.matmul(a, a.T)
    inside = np.tri(c.shape[0], dtype=bool) if lower else np.tri(c.shape[0], dtype=bool).T
    rest = 0 if beta == 0 else c.dtype.type(beta) * c
    np.copyto(c, c.dtype.type(alpha) * product + rest, where=inside)


@syrk.cut_by
def syrk_tiles(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
    """Cut the triangle into square blocks on the diagonal, and a product below or above each."""
    alpha, a, beta, c = args
    lower = kwargs.get("lower", True)
    rows = a.T if kwargs.get("transpose") else a
    n, size = len(c), max(1, isqrt(budget // (2 * c.element_size)))
    for start in range(0, n, size):
        here, beside = slice(start, min(start + size, n)), slice(min(start + size, n), n)
        yield from panel_tiles(rows[here], beta, c[here, here], budget,
                               lambda x, factor, y: syrk(alpha, x, factor, y, lower=lower))
        if beside.start < n:
            down, across = (beside, here) if lower else (here, beside)
            yield from product_tiles(MatrixProduct(
                rows[down], rows[across].T, c[down, across], beta,
                lambda x, y, factor, z: gemm(alpha, x, y, factor, z)), budget)


@op(by_form=True)
def trsm(alpha: Scalar, a: Input, b: InOut, *, side: str = "left", lower: bool = True,
         transpose: bool = False, unit: bool = False) -> None:  # the signature is BLAS's
    """Compute ``B <- alpha * op(A)^-1 B`` for a triangular `a`, and return `b`.

    Parameters
    ----------
    alpha : number
        Factor, converted to the dtype of the Mats.
    a : Mat
        Square matrix of a dtype that BLAS knows, of which one triangle is read. A zero on the
        diagonal gives inf and NaN.
    b : Mat
        Matrix of a's dtype, with as many rows, or columns, as `a`; it is overwritten.
    side : {"left", "right"}, optional
        With "right", compute ``alpha * B op(A)^-1``.
    lower : bool, optional
        Which triangle is read: the lower one, by default, or the upper one.
    transpose : bool, optional
        Whether op(A) is the transpose of A, rather than A.
    unit : bool, optional
        Take 1 for the elements of the diagonal, which are not read.

    Returns
    -------
    Mat
        `b`.

    Notes
    -----
    BLAS ?TRSM.

    Examples
    --------
    >>> import mat
    >>> mat.trsm(1, mat.array([[2.0, 0], [1, 1]]), mat.array([[2.0], [3]]))
    <Mat 2x1 AF [[1.] [2.]]>
    """
    check_matrices("trsm", a, b)
    check_bool(lower=lower, transpose=transpose, unit=unit)
    if side not in ("left", "right"):
        raise ShapeError(f"side is 'left' or 'right', got {side!r}")
    n = b.shape[0] if side == "left" else b.shape[1]
    if a.shape != (n, n):
        raise ShapeError(f"trsm on the {side} of B {b.shape} requires A of shape {(n, n)}, got "
                         f"{a.shape}")
    check_disjoint("trsm", b, a)


# the signature is the operation's
@trsm.prepare("cuda", fits=fits_device, dtypes=BLAS, pack=True)
@trsm.prepare("foreign", fits=fits_matrix, dtypes=BLAS, pack=True)
def trsm_blas(blas: BlasEngine, a: Mat, b: Mat, side: str = "left", lower: bool = True,
              transpose: bool = False, unit: bool = False) -> Function:
    check_countable(*b.shape)
    if not b.size:
        return do_nothing
    return rowmajor.prepare_trsm(blas, a, b, left=side == "left", lower=lower, transpose=transpose,
                                 unit=unit)


# the signature is the operation's
@trsm.on("array")
def trsm_numpy(np: Engine, alpha: Number, a: Array, b: Array, side: str = "left",
               lower: bool = True, transpose: bool = False, unit: bool = False) -> None:
    triangle = np.tril(a) if lower else np.triu(a)
    if unit:
        np.fill_diagonal(triangle, 1)
    triangle = triangle.T if transpose else triangle
    scaled = b.dtype.type(alpha) * b
    b[...] = (np.linalg.solve(triangle, scaled) if side == "left"
              else np.linalg.solve(triangle.T, scaled.T).T)


@trsm.cut_by
def trsm_tiles(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
    """Cut between right-hand sides, and where there is no room, the triangle into blocks."""
    alpha, a, b = args
    if not b.size:
        return
    width = _rows_of_block(len(a), a.element_size, budget)
    if width == len(a):
        yield from _columns(args, kwargs, budget)
        return
    left = kwargs.get("side", "left") == "left"
    sides = b if left else b.T
    # op(a) x = alpha b, or op(a)^T x^T = alpha b^T: whether the matrix on the left is a^T
    turned = bool(kwargs.get("transpose", False)) is left
    triangle = a.T if turned else a
    starts = range(0, len(a), width)
    forward = bool(kwargs.get("lower", True)) is not turned
    for start in starts if forward else reversed(starts):
        here = slice(start, min(start + width, len(a)))
        done = slice(0, start) if forward else slice(here.stop, len(a))
        if done.start < done.stop:
            yield from product_tiles(MatrixProduct(
                triangle[here, done], sides[done], sides[here], alpha,
                lambda x, y, factor, z: gemm(-1, x, y, factor, z)), budget)
            yield Tile(nothing)  # what follows is not asked for before the product is there
        factor = 1 if done.start < done.stop else alpha
        part = b[here] if left else b[:, here]
        yield from _columns((factor, a[here, here], part), kwargs, budget)
        yield Tile(nothing)


def _rows_of_block(n: int, itemsize: int, budget: int) -> int:
    """Return how many rows a block of the triangle has: all, if there is room for a column."""
    if n * (n + 1) * itemsize <= budget:
        return n
    width = min(n, isqrt(budget // (2 * itemsize)))
    if width < 1:
        raise TileTooLarge(2 * itemsize)
    return width


def _columns(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
    """Yield the tiles for some columns of the right-hand sides each, with the whole triangle."""
    alpha, a, b = args
    by_columns = kwargs.get("side", "left") == "left"
    sides, a = b if by_columns else b.T, staged(a)
    itemsize = a.element_size
    count = (budget - a.size * itemsize) // (len(a) * itemsize)
    for start in range(0, sides.shape[1], count):
        result = StagedResult(sides[:, start:start + count], b.dtype, True)
        yield Tile(partial(_solve, alpha, a, result, by_columns, kwargs),
                   (a, result.target), (result.target,))


def _solve(alpha: Number, a: Mat, result: StagedResult, by_columns: bool, kwargs: Keywords) -> None:
    trsm(alpha, a, result.target if by_columns else result.target.T, **kwargs)
    result.finish()
