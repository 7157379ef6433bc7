"""Sizes, steps and leading dimensions of the matrices of a product, also in BLAS's terms.

Plain tuples: kernels are prepared for them, and remembered by them. All steps count elements.
"""

from __future__ import annotations

from typing import NamedTuple

from .merged_axes import merged
from .shapes import Ints
from .strided import Layout


class GemmSizes(NamedTuple):
    """The lengths of a product: `m` rows and `n` columns of C, and `k` along the inner axis."""

    m: int
    n: int
    k: int


class LeadingDimension(NamedTuple):
    """The step between the rows of a matrix whose rows are adjacent elements, or of its transpose.

    In a product, `transposed` compares with op(X), the matrix that is meant.
    """

    step: int
    transposed: bool


class MatrixOperand(NamedTuple):
    """An operand of a product: dtype character, steps of rows, columns, leading axes."""

    char: str
    row: int
    column: int
    batch: Ints = ()

    def transpose(self, apply: bool = True) -> MatrixOperand:
        """Return the operand with rows and columns exchanged, if that is to `apply`."""
        return MatrixOperand(self.char, self.column, self.row, self.batch) if apply else self

    def leading(self, rows: int, columns: int) -> LeadingDimension | None:
        """Return the leading dimension of a matrix of that shape, None if BLAS cannot take it."""
        found = Layout((rows, columns), (self.row, self.column), 0).matrix
        return found and LeadingDimension(*found)


class MatmulForm(NamedTuple):
    """A product ``C = A B`` of stacks, transposes applied; broadcast axes have the step 0."""

    sizes: GemmSizes
    a: MatrixOperand
    b: MatrixOperand
    c: MatrixOperand
    batch: Ints = ()

    def merged(self, for_blas: bool = False) -> MatmulForm:
        """Return the same product with as few leading axes as can be.

        Axes that follow from each other are one. Where all matrices of a stack of A meet one B,
        their rows are those of one matrix, `for_blas` only if BLAS can take that.
        """
        (m, n, k), a, b, c, batch = self
        axes = merged(zip(batch, a.batch, b.batch, c.batch, strict=True))
        if axes and axes[-1][1:] == (m * a.row, 0, m * c.row):
            rows = m * axes[-1][0]
            if not for_blas or (a.leading(rows, k) and c.leading(rows, n)):
                m = rows
                axes.pop()
        lengths, *steps = zip(*axes, strict=True) if axes else ((),) * 4
        a, b, c = (x._replace(batch=s) for x, s in zip((a, b, c), steps, strict=True))
        return MatmulForm(GemmSizes(m, n, k), a, b, c, lengths)


# What BLAS is given of matrices that does not change from call to call: column-major, as BLAS
# has them, in the order of its arguments.


class GemmForm(NamedTuple):
    """The flags, sizes and leading dimensions of ?GEMM."""

    trans_a: str
    trans_b: str
    sizes: GemmSizes
    leading: tuple[int, int, int]
    swap: bool = False  # the second operand of the operation is BLAS's first

    def reported(self) -> dict[str, object]:
        """Return the arguments that observers are notified of."""
        lda, ldb, ldc = self.leading
        return {"trans": self.trans_a + self.trans_b, **self.sizes._asdict(), "lda": lda,
                "ldb": ldb, "ldc": ldc}


class GemvForm(NamedTuple):
    """The flag, sizes and leading dimension of ?GEMV, for an A of m x n."""

    trans: str
    m: int
    n: int
    lda: int


class GerForm(NamedTuple):
    """The sizes and leading dimension of ?GER, for an A of m x n."""

    m: int
    n: int
    lda: int
    swap: bool = False  # the second vector of the operation is BLAS's first


class SyrkForm(NamedTuple):
    """The flags, sizes and leading dimensions of ?SYRK, for a C of n x n."""

    uplo: str
    trans: str
    n: int
    k: int
    lda: int
    ldc: int


class TrsmForm(NamedTuple):
    """The flags, sizes and leading dimensions of ?TRSM, for a B of m x n."""

    side: str
    uplo: str
    trans: str
    diag: str
    m: int
    n: int
    lda: int
    ldb: int
