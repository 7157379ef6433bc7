"""Products of matrices in BLAS's terms: `gemm`, and `gemm_batched` for stacks of them.

Matrices may be strided: whatever has adjacent elements along one axis goes to BLAS as it is,
transposed views as a flag. Element types that BLAS lacks are multiplied as ``matmul.py`` says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...errors import ShapeError
from ...layout.matrix_operand import GemmForm, GemmSizes
from ...layout.strided import Layout
from ...matrix.mat import Mat
from ...matrix.methods import bind
from ...support.dtypes import BLAS_TYPES as BLAS
from ...support.native import compiled
from ...support.types import Arguments, Array, Engine, Function, Keywords, Number
from ..engine.operands import accumulate
from ..engine.operation import Accumulated, Input, Scalar, op
from ..tiles.cut_products import MatrixProduct, product_tiles, stack_tiles
from ..tiles.overlap import check_disjoint
from ..tiles.tile import Tile
from . import rowmajor
from .blas_checks import TRANSPOSES, GemmParts, blas_dtype, check_bool, check_countable
from .matmul import (
    FACTORED,
    check_gemm,
    cublas_kind,
    has_integer_matmul,
    matmul_form,
    multiply_add,
)
from .rowmajor import (
    BlasEngine,
    do_nothing,
    fits_device,
    fits_matrices,
    fits_matrix,
    fits_operand,
    gemm_form,
)


@op(by_form=True)
def gemm(alpha: Scalar, a: Input, b: Input, beta: Scalar, c: Accumulated, *,
         transpose_a: bool = False, transpose_b: bool = False, m: int | None = None,
         n: int | None = None, k: int | None = None, lda: int | None = None,
         ldb: int | None = None, ldc: int | None = None) -> None:  # the signature is BLAS's
    """Compute ``C <- alpha * op(A) op(B) + beta * C`` and return `c`.

    Parameters
    ----------
    alpha, beta : number
        Factors, integers if `c` is of integers; where `beta` is 0, `c` is not read.
    a, b, c : Mat
        Matrices with op(A) m x k, op(B) k x n, and C m x n, which is overwritten. Of one dtype, but
        C of integers may be wider, and C of 16-bit floats float32. Integers wrap; 16-bit floats
        are summed in float32.
    transpose_a, transpose_b : bool, optional
        Whether op is the transpose.
    m, n, k, lda, ldb, ldc : int, optional
        Lengths, by default those of the shapes; given, they select the upper left part. 1-d
        operands are taken as rows so far apart; then all six must be given.

    Returns
    -------
    Mat
        `c`.

    Raises
    ------
    ShapeError, DTypeError
        If the operands do not match, or `c` cannot take the factors.
    AliasError
        If `c` overlaps `a` or `b`.

    Notes
    -----
    BLAS ?GEMM.

    Examples
    --------
    >>> import mat
    >>> a = mat.array([[1.0, 2], [3, 4]])
    >>> mat.gemm(1, a, a, 0, mat.empty(2, 2), transpose_b=True)
    <Mat 2x2 F [[5. 11.] [11. 25.]]>
    """
    if a.element_type.char in BLAS:
        blas_dtype(a, b, c)
    else:
        check_gemm(a, b, alpha, beta, c)
    check_bool(transpose_a=transpose_a, transpose_b=transpose_b)
    if m is n is k is lda is ldb is ldc is None:
        _check_product(a, b, c, transpose_a, transpose_b)
    else:
        GemmParts(m, n, k, lda, ldb, ldc).check(a, b, c, transpose_a, transpose_b)
    if c.storage is a.storage or c.storage is b.storage:
        check_disjoint("gemm", c, a, b)


def _check_product(a: Mat, b: Mat, c: Mat, transpose_a: bool, transpose_b: bool) -> None:
    left, right, out = a.layout.shape, b.layout.shape, c.layout.shape
    if not len(left) == len(right) == len(out) == 2:
        raise ShapeError(f"gemm requires matrices, got shapes {left}, {right} and {out}; for "
                         "others give m, n, k, lda, ldb, ldc")
    m, k = (left[1], left[0]) if transpose_a else left
    j, n = (right[1], right[0]) if transpose_b else right
    if k != j or out != (m, n):
        raise ShapeError(f"op(A) {m}x{k} times op(B) {j}x{n} does not fit C of shape {out}")


# The operands of BLAS, which are views of those of the operation


Matrix = Any  # a Mat or an array


def _parts(part: Function, a: Matrix, b: Matrix, c: Matrix, transpose_a: bool = False,
           transpose_b: bool = False, **given: int | None) -> tuple[Matrix, Matrix, Matrix]:
    """Return op(A), op(B) and C, as ``part(x, shape, ld)`` gets them of the operands."""
    parts = GemmParts(**given)
    m, n, k = parts.sizes(a, c, transpose_a)
    left = part(a, (k, m) if transpose_a else (m, k), parts.lda)
    right = part(b, (n, k) if transpose_b else (k, n), parts.ldb)
    return (left.T if transpose_a else left, right.T if transpose_b else right,
            part(c, (m, n), parts.ldc))


def _part_of(x: Mat, shape: tuple[int, int], ld: int | None) -> Mat:
    """Return the view of the upper left `shape` of `x`, whose rows are `ld` apart."""
    if ld is None:
        return x.over(x.layout.part((slice(shape[0]), slice(shape[1]))))
    return x.over(Layout(shape, (ld, 1), x.layout.bounds[0]))


def _part_of_array(a: Array, shape: tuple[int, int], ld: int | None) -> Array:
    """Return the same of an array."""
    if ld is None:
        return a[:shape[0], :shape[1]]
    return np.lib.stride_tricks.as_strided(a, shape, (ld * a.itemsize, a.itemsize))


def _form(a: Mat, b: Mat, c: Mat) -> GemmForm:
    m, n = c.layout.shape
    return gemm_form(GemmSizes(m, n, a.layout.shape[1]),
                     *(rowmajor.leading_of(x) for x in (a, b, c)))


@gemm.prepare("cuda", fits=fits_device, dtypes=BLAS, pack=True)
@gemm.prepare("foreign", fits=fits_matrix, dtypes=compiled(BLAS), pack=True)
def gemm_blas(blas: BlasEngine, a: Mat, b: Mat, c: Mat, **settings: Any) -> Function:
    a, b, c = _parts(_part_of, a, b, c, **settings)
    if not c.size:
        return do_nothing
    form = _form(a, b, c)
    check_countable(*form.sizes, *(settings.get(name) or 0 for name in ("lda", "ldb", "ldc")))
    return blas.prepare_gemm(c.dtype.char, form)


gemm.prepare("foreign", dtypes=compiled(FACTORED), when=has_integer_matmul)(
    lambda cpu, a, b, c, **settings: cpu.prepare_integer_matmul(
        matmul_form(*_parts(_part_of, a, b, c, **settings))).kernel(True))


@gemm.prepare("cuda", dtypes=FACTORED, when=has_integer_matmul)
def gemm_integer_cuda(cuda: Engine, a: Mat, b: Mat, c: Mat, **settings: Any) -> Engine:
    kind = cublas_kind(*(x.element_type.char for x in (a, b, c)))
    a, b, c = _parts(_part_of, a, b, c, **settings)
    kernel = cuda.prepare_integer_matmul(matmul_form(a, b, c)).kernel(True)
    if not kind or any(x.layout.matrix is None for x in (a, b, c)):
        return kernel
    return cuda.prepare_either(lambda: cuda.prepare_gemm(kind, _form(a, b, c)), kernel)


@gemm.on("array")
def gemm_numpy(np: Engine, alpha: Number, a: Array, b: Array, beta: Number, c: Array,
               **settings: Any) -> None:
    a, b, c = _parts(_part_of_array, a, b, c, **settings)
    if a.dtype.char in BLAS:
        accumulate(np, c.dtype.type(alpha) * np.matmul(a, b), c.dtype.type(beta), c)
    else:
        multiply_add(np, alpha, a, b, beta, c)


@gemm.cut_by
def gemm_tiles(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
    """Cut the product into blocks of C and of the inner axis."""
    alpha, a, b, beta, c = args
    left, right, out = _parts(_part_of, a, b, c, **kwargs)
    return product_tiles(MatrixProduct(
        left, right, out, beta, lambda x, y, factor, z: gemm(alpha, x, y, factor, z)), budget)


def _gemm_(self: Mat, alpha: Number, a: Mat, b: Mat, beta: Number, *, transpose_a: bool = False,
           transpose_b: bool = False,
           **parts: Number) -> Mat:
    if type(transpose_a) is not bool or type(transpose_b) is not bool:
        check_bool(transpose_a=transpose_a, transpose_b=transpose_b)
    return gemm(alpha, a, b, beta, self, **TRANSPOSES[transpose_a, transpose_b], **parts)


bind("gemm_", gemm.documented(_gemm_))


@op(by_form=True)
def gemm_batched(alpha: Scalar, a: Input, b: Input, beta: Scalar, c: Accumulated, *,
                 transpose_a: bool = False,
                 transpose_b: bool = False) -> None:  # the signature is gemm's
    """Compute ``C_i <- alpha * op(A_i) op(B_i) + beta * C_i`` for each matrix of stacks.

    Parameters
    ----------
    alpha, beta : number
        Factors, converted to the dtype of the Mats; where `beta` is 0, `c` is not read.
    a, b, c : Mat
        Stacks of matrices with equal leading axes, of one dtype that BLAS knows; `c` is
        overwritten.
    transpose_a, transpose_b : bool, optional
        Whether op is the transpose.

    Returns
    -------
    Mat
        `c`.

    Raises
    ------
    ShapeError, DTypeError
        If the operands do not match.
    AliasError
        If `c` overlaps `a` or `b`.

    Notes
    -----
    BLAS ?GEMM, cublas<t>gemmStridedBatched.

    Examples
    --------
    >>> import mat
    >>> mat.gemm_batched(1, mat.ones(2, 1, 3), mat.ones(2, 3, 1), 0, mat.empty(2, 1, 1))
    <Mat 2x1x1 F [[[3.]] [[3.]]]>
    """
    blas_dtype(a, b, c)
    check_bool(transpose_a=transpose_a, transpose_b=transpose_b)
    if not a.ndim == b.ndim == c.ndim >= 3 or not a.shape[:-2] == b.shape[:-2] == c.shape[:-2]:
        raise ShapeError(f"gemm_batched requires equal leading axes before matrices, got "
                         f"{a.shape}, {b.shape} and {c.shape}")
    if c.size or a.size or b.size:
        first: tuple[int | slice, ...] = (*(0,) * (a.ndim - 2), slice(None))
        if all(x.shape[:-2] == c.shape[:-2] and 0 not in x.shape[:-2] for x in (a, b, c)):
            _check_product(a[first], b[first], c[first], transpose_a, transpose_b)
    check_disjoint("gemm_batched", c, a, b)


def _turned(a: Matrix, b: Matrix, transpose_a: bool = False,
            transpose_b: bool = False) -> tuple[Matrix, Matrix]:
    """Return op(A) and op(B) of each matrix of stacks."""
    return (a.swapaxes(-1, -2) if transpose_a else a, b.swapaxes(-1, -2) if transpose_b else b)


@gemm_batched.prepare("cuda", fits=fits_operand, dtypes=BLAS, pack=True)
@gemm_batched.prepare("foreign", fits=fits_matrices, dtypes=compiled(BLAS), pack=True)
def gemm_batched_blas(blas: BlasEngine, a: Mat, b: Mat, c: Mat, **flags: bool) -> Function:
    form = matmul_form(*_turned(a, b, **flags), c)
    return rowmajor.prepare_stack(blas, c.dtype.char, form) if c.size else do_nothing


@gemm_batched.on("array")
def gemm_batched_numpy(np: Engine, alpha: Number, a: Array, b: Array, beta: Number, c: Array,
                       **flags: bool) -> None:
    product = np.matmul(*_turned(a, b, **flags))
    accumulate(np, c.dtype.type(alpha) * product, c.dtype.type(beta), c)


@gemm_batched.cut_by
def gemm_batched_tiles(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
    """Cut the stacks between matrices, and these where there is no room for one of each."""
    alpha, a, b, beta, c = args
    left, right = _turned(a, b, **kwargs)

    def multiply(x: Mat, y: Mat, factor: Number | None, z: Mat) -> object:
        return (gemm if z.ndim == 2 else gemm_batched)(alpha, x, y, factor, z)

    return stack_tiles(MatrixProduct(left, right, c, beta, multiply), budget)
