"""BLAS is column-major, we are row-major: the trick that makes up for it, for any engine, here and
nowhere else.

A row-major matrix with leading dimension ld, read column-major with the same ld, is its transpose.
So nothing is ever transposed: a product is computed as ``C^T = op(B)^T op(A)^T``, by handing the
operands over in the other order. What is prepared for operands of one form is asked of the engine,
the CPU's or the device's, in BLAS's terms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..cpu.integer_matmul import MatrixOperand
from ..layout.strided import Ints, Layout
from ..support import blas_library
from ..support.dtypes import BLAS_TYPES

# A matrix as it lies in memory: pointer, leading dimension, and whether the rows there are the
# columns we mean.
Stored = tuple[Any, int, bool]
LeadingDimension = tuple[int, bool]  # the same without the pointer


def fits_matrix(layout: Layout) -> bool:
    """Whether BLAS can take a matrix, or a vector beside it, of this layout: its steps must be ones
    that it can count.
    """
    steps = _steps(layout)
    return steps is not None and abs(steps[0]) <= blas_library.LIMIT


def fits_device(layout: Layout) -> bool:
    """The same for cuBLAS, which counts with 64 bits."""
    return _steps(layout) is not None


def fits_operand(layout: Layout) -> bool:
    """Whether cuBLAS can take it as a matrix, a stack of them, or, for a single axis, a row or a
    column.
    """
    if layout.ndim < 2:
        return not layout.ndim or layout.shape[0] <= 1 or layout.strides[0] > 0
    return Layout(layout.shape[-2:], layout.strides[-2:], 0).matrix is not None


def _steps(layout: Layout) -> tuple[int, object] | None:
    return layout.matrix if layout.ndim == 2 else layout.vector and layout.vector[::-1]


def flag(transpose: bool) -> str:
    return "T" if transpose else "N"


class Order(NamedTuple):
    """A row-major product in BLAS's terms: its flags and m and n, and whether the operands change
    places.
    """

    trans_a: str
    trans_b: str
    m: int
    n: int
    swap: bool


def order(m: int, n: int, turned_a: bool, turned_b: bool, turned_c: bool) -> Order:
    """How BLAS is asked for the row-major ``C = op(A) op(B)``, m x n: the trick itself.

    `turned_a` says that A lies otherwise than op(A) is meant. Where C lies transposed, that is the
    column-major product itself and the operands keep their order.
    """
    if turned_c:
        return Order(flag(not turned_a), flag(not turned_b), m, n, False)
    return Order(flag(turned_b), flag(turned_a), n, m, True)


def gemm(engine: Any, letter: str, m: int, n: int, k: int, alpha: Any, a: Stored, b: Stored,
         beta: Any, c: Stored) -> None:
    """``C <- alpha op(A) op(B) + beta C`` of row-major matrices: C is m x n, the inner axis k
    long.
    """
    how = order(m, n, a[2], b[2], c[2])
    first, second = (b, a) if how.swap else (a, b)
    engine.gemm(letter, how.trans_a, how.trans_b, how.m, how.n, k, alpha, first[0], first[1],
                second[0], second[1], beta,
                c[0], c[1])


def prepare_gemm(engine: Any, letter: str, m: int, n: int, k: int, a: LeadingDimension,
                 b: LeadingDimension, c: LeadingDimension) -> Callable[..., None]:
    """`gemm` for matrices that lie so, as a function of ``(alpha, a, b, beta, c)``."""
    how = order(m, n, a[1], b[1], c[1])
    first, second = (b, a) if how.swap else (a, b)
    prepared: Callable[..., None] = engine.prepare_gemm(letter, how.trans_a, how.trans_b, how.m,
                                                        how.n, k, first[0], second[0],
                                                        c[0], how.swap)
    return prepared


def prepare_gemv(engine: Any, a: Any, transpose: bool, x: Any, y: Any) -> Callable[..., None]:
    """``y <- alpha op(A) x + beta y`` for operands that lie as these do, as a function of ``(alpha,
    a, x, beta, y)``.
    """
    ld, transposed = a.layout.matrix
    m, n = a.shape if transposed else a.shape[::-1]  # as BLAS sees it
    trans = flag(transpose == transposed)
    prepared: Callable[..., None] = engine.prepare_gemv(a.dtype.char, trans, m, n, ld, x.layout,
                                                        y.layout)
    return prepared


def prepare_ger(engine: Any, x: Any, y: Any, a: Any) -> Callable[..., None]:
    """``A <- alpha x y^T + A``, as a function of ``(alpha, x, y, a)``."""
    ld, transposed = a.layout.matrix
    m, n = a.shape if transposed else a.shape[::-1]
    prepared: Callable[..., None] = engine.prepare_ger(a.dtype.char, m, n, ld, x.layout, y.layout,
                                                       not transposed)
    return prepared


def prepare_syrk(engine: Any, a: Any, c: Any, transpose: bool, lower: bool) -> Callable[..., None]:
    """``C <- alpha op(A) op(A)^T + beta C`` in the lower or upper triangle of C, as a function of
    ``(alpha, a, beta, c)``.
    """
    (lda, turned_a), (ldc, turned_c) = a.layout.matrix, c.layout.matrix
    k, n = a.shape if transpose else a.shape[::-1]
    uplo = "L" if lower == turned_c else "U"
    prepared: Callable[..., None] = engine.prepare_syrk(a.dtype.char, uplo,
                                                        flag(transpose == turned_a), n, k, lda, ldc)
    return prepared


def prepare_trsm(engine: Any, a: Any, b: Any, left: bool, lower: bool, transpose: bool,
                 unit: bool) -> Callable[..., None]:
    """``B <- alpha op(A)^-1 B``, or ``alpha B op(A)^-1`` with A on the right, as a function of
    ``(alpha, a, b)``.
    """
    (lda, turned_a), (ldb, turned_b) = a.layout.matrix, b.layout.matrix
    m, n = b.shape
    if not turned_b:  # BLAS sees B^T: A stands on the other side of it, transposed
        left, m, n, transpose = not left, n, m, not transpose
    if not turned_a:  # BLAS sees A^T: its other triangle, its other op
        lower, transpose = not lower, not transpose
    prepared: Callable[..., None] = engine.prepare_trsm(a.dtype.char, "L" if left else "R",
                                                        "L" if lower else "U",
                                                        flag(transpose), "U" if unit else "N", m, n,
                                                        lda, ldb)
    return prepared


# Stacks


# m, n, how a, b and c lie, the lengths of the leading axes
Stack = tuple[int, int, MatrixOperand, MatrixOperand, MatrixOperand, Ints]


def matrix_of(x: MatrixOperand, rows: int, columns: int) -> LeadingDimension | None:
    """A matrix of so many rows and columns of a stack in BLAS's terms, or None if BLAS cannot take
    it.
    """
    return Layout((rows, columns), (x.row, x.column), 0).matrix


def known(x: MatrixOperand, rows: int, columns: int) -> LeadingDimension:
    """The same where who calls has seen to it."""
    found = matrix_of(x, rows, columns)
    assert found is not None
    return found


def prepare_stack(engine: Any, kind: str, m: int, n: int, k: int, a: MatrixOperand,
                  b: MatrixOperand, c: MatrixOperand,
                  batch: Ints) -> Callable[..., None]:
    """``C <- alpha A B + beta C`` for each matrix of a stack, as a function of ``(alpha, a, b,
    beta, c)``.
    """
    m, n, a, b, c, batch = merged(m, n, k, a, b, c, batch)
    left, right, out = known(a, m, k), known(b, k, n), known(c, m, n)
    if not batch:
        return prepare_gemm(engine, kind, m, n, k, left, right, out)
    how = order(m, n, left[1], right[1], out[1])
    first, second = (right, left) if how.swap else (left, right)
    prepared: Callable[..., None] = engine.prepare_gemm_batched(kind, how.trans_a, how.trans_b,
                                                                how.m, how.n, k, first[0],
                                                                second[0], out[0], how.swap, batch,
                                                                (a.batch, b.batch, c.batch))
    return prepared


def merged(m: int, n: int, k: int, a: MatrixOperand, b: MatrixOperand, c: MatrixOperand,
           batch: Ints) -> Stack:
    """The same product with as few leading axes as can be: those that follow from each other are
    one.

    Where all matrices of a stack of A meet one B, their rows are those of one matrix.
    """
    kept = [d for d, length in enumerate(batch) if length != 1]
    axes: list[tuple[int, tuple[int, int, int]]] = []  # length and steps, outermost first
    for d in kept:
        length, steps = batch[d], (a.batch[d], b.batch[d], c.batch[d])
        if axes and axes[-1][1] == (length * steps[0], length * steps[1], length * steps[2]):
            length *= axes.pop()[0]
        axes.append((length, steps))
    if axes:
        length, steps = axes[-1]
        if steps == (m * a.row, 0, m * c.row) and matrix_of(a, m * length,
                                                            k) and matrix_of(c, m * length, n):
            m *= length
            axes.pop()
    a, b, c = (x._replace(batch=tuple(steps[i] for _, steps in axes)) for i,
               x in enumerate((a, b, c)))
    return m, n, a, b, c, tuple(length for length, _ in axes)


def prepare_matmul(engine: Any, kind: str, m: int, n: int, k: int, a: MatrixOperand,
                   b: MatrixOperand, c: MatrixOperand,
                   batch: Ints) -> Callable[..., None]:
    """``C <- A B`` likewise, as a function of ``(a, b, c)``; what are vectors is multiplied as
    such.
    """
    m, n, a, b, c, batch = merged(m, n, k, a, b, c, batch)
    if batch or 1 not in (m, n) or not k or len(kind) > 1 or kind not in BLAS_TYPES:
        inner = prepare_stack(engine, kind, m, n, k, a, b, c, batch)
        return lambda a, b, c: inner(1.0, a, b, 0.0, c)
    if m == n == 1:
        prepared: Callable[..., None] = engine.prepare_dot(kind, k, a.column if k > 1 else 1,
                                                           b.row if k > 1 else 1)
        return prepared
    rows, columns, x, y, matrix = (m, k, b.row, c.row,
                                   a) if n == 1 else (n, k, a.column, c.column, b)
    lies = known(matrix, rows, columns) if n == 1 else known(matrix, columns, rows)
    inner = _prepare_matrix_vector(engine, kind, rows, columns, lies, n != 1, x, y)
    return (lambda a, b, c: inner(1.0, a, b, 0.0, c)) if n == 1 else (lambda a, b,
                                                                      c: inner(1.0, b, a, 0.0, c))


def _prepare_matrix_vector(engine: Any, letter: str, m: int, n: int, lies: LeadingDimension,
                           transpose: bool, x: int,
                           y: int) -> Callable[..., None]:
    """``y <- alpha op(A) x + beta y`` for an op(A) of m x n, and vectors whose elements are `x` and
    `y` apart.
    """
    ld, transposed = lies
    rows, columns = (n, m) if transpose else (m, n)  # of A
    if not transposed:
        rows, columns = columns, rows
    prepared: Callable[..., None] = engine.prepare_gemv(letter, flag(transpose == transposed), rows,
                                                        columns, ld,
                                                        Layout((n,), (x if n > 1 else 1,), 0),
                                                        Layout((m,), (y if m > 1 else 1,), 0))
    return prepared
