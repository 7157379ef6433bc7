"""Products of a tall matrix and one of few columns by a kernel that reads the tall one once.

BLAS packs all of it first, which takes several times as long as to multiply it.
"""

from __future__ import annotations

from typing import NamedTuple

from ..layout.matrix_operand import GemmForm
from ..support.native import ffi, lib
from .kernel import CpuKernel

MOST_COLUMNS = 16  # beyond, BLAS has enough to do with what it packs
LEAST_DEPTH = 8  # below, each row takes longer to end than to multiply
LEAST_ROWS = 64  # below, the thin matrix takes longer to pack than to multiply
LEAST_WORK = 64**3  # multiplications; BLAS does fewer as fast, in one thread
GRAIN = 128  # rows that a thread should at least get, since each packs the thin matrix
SHARE = 1 << 19  # and multiplications: some 20 us


class ThinForm(NamedTuple):
    """A product of m x depth by depth x columns, by the fields of ``struct mat_thin``: steps, and
    whether the thin matrix is the operation's first operand.
    """

    depth: int
    columns: int
    a_row: int
    b_row: int
    b_column: int
    c_row: int
    c_column: int
    swap: bool


def prepare_thin(letter: str, form: GemmForm) -> CpuKernel | None:
    """Prepare ``C <- alpha op(A) op(B) + beta C`` as a function of ``(alpha, a, b, beta, c)``, if
    the kernel has it and is faster than BLAS.
    """
    if lib is None or letter not in "fd":
        return None
    m, n, k = form.sizes
    rows, thin = (n, m) if m < n else (m, n)
    tall_by_rows = form.trans_b == "N" if m < n else form.trans_a == "T"
    if not (tall_by_rows and 1 < thin <= MOST_COLUMNS and k >= LEAST_DEPTH
            and rows >= LEAST_ROWS and m * n * k > LEAST_WORK):
        return None
    frame = ffi.new("struct mat_thin *", _thin_form(form))
    return CpuKernel(lib.mat_thin_f32 if letter == "f" else lib.mat_thin_f64, frame, rows,
                     max(GRAIN, SHARE // (k * thin)))


def _thin_form(form: GemmForm) -> ThinForm:
    """Return the frame of a product in BLAS's terms, whose C is m x n in columns."""
    (m, n, k), (lda, ldb, ldc) = form.sizes, form.leading
    if m < n:  # C^T = op(B)^T op(A)^T
        b_row, b_column = (lda, 1) if form.trans_a == "N" else (1, lda)
        return ThinForm(k, m, ldb, b_row, b_column, ldc, 1, not form.swap)
    b_row, b_column = (1, ldb) if form.trans_b == "N" else (ldb, 1)
    return ThinForm(k, n, lda, b_row, b_column, 1, ldc, form.swap)
