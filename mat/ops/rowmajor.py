"""BLAS is column-major, we are row-major: the trick that makes up for it, for any engine, here and nowhere else.

A row-major matrix with leading dimension ld, read column-major with the same ld, is its transpose. So nothing is ever
transposed: a product is computed as ``C^T = op(B)^T op(A)^T``, by handing the operands over in the other order.
Operands are what facets present: ``pointer``, ``shape``, ``letter`` and ``layout``, whose ``matrix`` is (ld, transposed).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..cpu import blas
from ..layout import Layout

# A matrix as it lies in memory: pointer, leading dimension, and whether the rows there are the columns we mean.
Stored = tuple[Any, int, bool]
Lies = tuple[int, bool]  # the same without the pointer


def fits_matrix(layout: Layout) -> bool:
    """Whether BLAS can take a matrix, or a vector beside it, of this layout: its steps must be ones that it can count."""
    steps = layout.matrix if layout.ndim == 2 else layout.vector and layout.vector[::-1]
    return steps is not None and abs(steps[0]) <= blas.LIMIT


def stored(a: Any) -> Stored:
    """How the 2-d operand `a` lies in memory."""
    ld, transposed = a.layout.matrix
    return a.pointer, ld, transposed


def flag(transpose: bool) -> str:
    return "T" if transpose else "N"


class Order(NamedTuple):
    """A row-major product in BLAS's terms: its flags and m and n, and whether the operands change places."""

    trans_a: str
    trans_b: str
    m: int
    n: int
    swap: bool


def order(m: int, n: int, turned_a: bool, turned_b: bool, turned_c: bool) -> Order:
    """How BLAS is asked for the row-major ``C = op(A) op(B)``, m x n: the trick itself.

    `turned_a` says that A lies otherwise than op(A) is meant. Where C lies transposed, that is the column-major product
    itself and the operands keep their order.
    """
    if turned_c:
        return Order(flag(not turned_a), flag(not turned_b), m, n, False)
    return Order(flag(turned_b), flag(turned_a), n, m, True)


def gemm(engine: Any, letter: str, m: int, n: int, k: int, alpha: Any, a: Stored, b: Stored, beta: Any, c: Stored) -> None:
    """``C <- alpha op(A) op(B) + beta C`` of row-major matrices: C is m x n, the inner axis k long."""
    how = order(m, n, a[2], b[2], c[2])
    first, second = (b, a) if how.swap else (a, b)
    engine.gemm(letter, how.trans_a, how.trans_b, how.m, how.n, k, alpha, first[0], first[1], second[0], second[1], beta,
                c[0], c[1])


def prepare_gemm(engine: Any, letter: str, m: int, n: int, k: int, a: Lies, b: Lies, c: Lies) -> Callable[..., None]:
    """`gemm` for matrices that lie so, as a function of ``(alpha, a, b, beta, c)``."""
    how = order(m, n, a[1], b[1], c[1])
    first, second = (b, a) if how.swap else (a, b)
    prepared: Callable[..., None] = engine.prepare_gemm(letter, how.trans_a, how.trans_b, how.m, how.n, k, first[0], second[0],
                                                        c[0], how.swap)
    return prepared


def prepare_gemv(engine: Any, a: Any, transpose: bool, x: Any, y: Any) -> Callable[..., None]:
    """``y <- alpha op(A) x + beta y`` for operands that lie as these do, as a function of ``(alpha, a, x, beta, y)``."""
    ld, transposed = a.layout.matrix
    m, n = a.shape if transposed else a.shape[::-1]  # as BLAS sees it, where it lies transposed
    trans = flag(transpose == transposed)
    prepared: Callable[..., None] = engine.prepare_gemv(a.dtype.char, trans, m, n, ld, x.layout, y.layout)
    return prepared


def ger(engine: Any, alpha: Any, x: Any, y: Any, a: Any) -> None:
    """``A <- alpha x y^T + A``"""
    pointer, ld, transposed = stored(a)
    m, n = a.shape
    if transposed:
        engine.ger(m, n, alpha, x, y, pointer, ld)
    else:
        engine.ger(n, m, alpha, y, x, pointer, ld)


def syrk(engine: Any, alpha: Any, a: Any, transpose: bool, beta: Any, c: Any, lower: bool) -> None:
    """``C <- alpha op(A) op(A)^T + beta C`` in the lower or upper triangle of C."""
    (at_a, lda, turned_a), (at_c, ldc, turned_c) = stored(a), stored(c)
    k, n = a.shape if transpose else a.shape[::-1]
    uplo = "L" if lower == turned_c else "U"
    engine.syrk(a.letter, uplo, flag(transpose == turned_a), n, k, alpha, at_a, lda, beta, at_c, ldc)


def trsm(engine: Any, alpha: Any, a: Any, b: Any, left: bool, lower: bool, transpose: bool, unit: bool) -> None:
    """``B <- alpha op(A)^-1 B``, or ``alpha B op(A)^-1`` with A on the right."""
    (at_a, lda, turned_a), (at_b, ldb, turned_b) = stored(a), stored(b)
    m, n = b.shape
    if not turned_b:  # BLAS sees B^T: A stands on the other side of it, transposed
        left, m, n, transpose = not left, n, m, not transpose
    if not turned_a:  # BLAS sees A^T: its other triangle, its other op
        lower, transpose = not lower, not transpose
    engine.trsm(a.letter, "L" if left else "R", "L" if lower else "U", flag(transpose), "U" if unit else "N", m, n, alpha,
                at_a, lda, at_b, ldb)
