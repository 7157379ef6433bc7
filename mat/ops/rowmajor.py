"""BLAS is column-major, we are row-major: the trick that makes up for it, for any engine, here and nowhere else.

A row-major matrix with leading dimension ld, read column-major with the same ld, is its transpose. So nothing is ever
transposed: a product is computed as ``C^T = op(B)^T op(A)^T``, by handing the operands over in the other order.
Operands are what facets present: ``pointer``, ``shape``, ``letter`` and ``layout``, whose ``matrix`` is (ld, transposed).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..layout import Layout


class Stored(NamedTuple):
    """A matrix as it lies in memory: rows of `ld` elements; `transposed` if those rows are the columns we mean."""

    pointer: Any
    ld: int
    transposed: bool


def fits_matrix(layout: Layout) -> bool:
    """Whether BLAS can take a matrix, or a vector beside it, of this layout."""
    return layout.matrix is not None if layout.ndim == 2 else layout.vector is not None


def stored(a: Any) -> Stored:
    """How the 2-d operand `a` lies in memory."""
    ld, transposed = a.layout.matrix
    return Stored(a.pointer, ld, transposed)


def flag(transpose: bool) -> str:
    return "T" if transpose else "N"


def gemm(engine: Any, letter: str, m: int, n: int, k: int, alpha: Any, a: Stored, b: Stored, beta: Any, c: Stored) -> None:
    """``C <- alpha op(A) op(B) + beta C`` of row-major matrices: C is m x n, the inner axis k long.

    `Stored.transposed` carries op: how A lies, differing from how it is meant. Where C lies transposed, that is the
    column-major product itself and the operands keep their order.
    """
    if c.transposed:
        engine.gemm(letter, flag(not a.transposed), flag(not b.transposed), m, n, k, alpha, a.pointer, a.ld,
                    b.pointer, b.ld, beta, c.pointer, c.ld)
    else:
        engine.gemm(letter, flag(b.transposed), flag(a.transposed), n, m, k, alpha, b.pointer, b.ld,
                    a.pointer, a.ld, beta, c.pointer, c.ld)


def gemv(engine: Any, alpha: Any, a: Any, transpose: bool, x: Any, beta: Any, y: Any) -> None:
    """``y <- alpha op(A) x + beta y``"""
    pointer, ld, transposed = stored(a)
    m, n = a.shape
    if transposed:  # lies as BLAS would have it
        engine.gemv(flag(transpose), m, n, alpha, pointer, ld, x, beta, y)
    else:
        engine.gemv(flag(not transpose), n, m, alpha, pointer, ld, x, beta, y)


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
    here, there = stored(a), stored(c)
    k, n = a.shape if transpose else a.shape[::-1]
    uplo = "L" if lower == there.transposed else "U"
    engine.syrk(a.letter, uplo, flag(transpose == here.transposed), n, k, alpha, here.pointer, here.ld, beta,
                there.pointer, there.ld)


def trsm(engine: Any, alpha: Any, a: Any, b: Any, left: bool, lower: bool, transpose: bool, unit: bool) -> None:
    """``B <- alpha op(A)^-1 B``, or ``alpha B op(A)^-1`` with A on the right."""
    here, there = stored(a), stored(b)
    m, n = b.shape
    if not there.transposed:  # BLAS sees B^T: A stands on the other side of it, transposed
        left, m, n, transpose = not left, n, m, not transpose
    if not here.transposed:  # BLAS sees A^T: its other triangle, its other op
        lower, transpose = not lower, not transpose
    engine.trsm(a.letter, "L" if left else "R", "L" if lower else "U", flag(transpose), "U" if unit else "N", m, n, alpha,
                here.pointer, here.ld, there.pointer, there.ld)
