"""Products that compiled kernels make in less time than BLAS: of many small matrices, which BLAS
takes longer to begin than to multiply, and of a tall matrix and one of few columns, since BLAS
packs all of the tall one first.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from ..layout.matrix_operand import GemmForm
from ..layout.shapes import Ints
from ..support.native import ffi, lib
from .kernel import BRIEF, CpuKernel

# the longest sides of such matrices, and the most axes of a stack
SIDE, AXES = (0, 0) if lib is None else (lib.MAT_PRODUCT_SIDE, lib.MAT_PRODUCT_AXES)
LEAST = 8  # matrices; with fewer the call takes longer than BLAS needs to begin
WORK = 1 << 17  # multiplications that a thread should at least get: some 5 us
ROW = 16  # multiplications that take as long as to begin with a matrix
# of the tall matrix and the thin one
MOST_COLUMNS = 16  # beyond, BLAS has enough to do with what it packs
LEAST_DEPTH = 8  # below, each row takes longer to end than to multiply
LEAST_ROWS = 64  # below, the thin matrix takes longer to pack than to multiply
LEAST_WORK = 64**3  # multiplications; BLAS does fewer as fast, in one thread
GRAIN = 128  # rows that a thread should at least get, since each packs the thin matrix
SHARE = 1 << 19  # and multiplications: some 20 us


def is_small(letter: str, form: GemmForm, batch: Ints) -> bool:
    """Return whether the kernel multiplies such stacks, and is faster than BLAS."""
    return (letter in "fd" and min(form.sizes) > 0 and max(form.sizes) <= SIDE
            and len(batch) <= AXES and prod(batch) >= LEAST)


def prepare_small(letter: str, form: GemmForm, batch: Ints,
                  steps: tuple[Ints, Ints, Ints]) -> CpuKernel:
    """Prepare ``C <- alpha op(A) op(B) + beta C`` for each matrix of stacks, as a function of
    ``(alpha, a, b, beta, c)``.

    `steps` are those of a, b and c along the axes of `batch`.
    """
    frame = ffi.new("struct mat_small_product *")
    frame.trans = (form.trans_a.encode(), form.trans_b.encode())
    frame.m, frame.n, frame.k = form.sizes
    frame.ld, frame.swap = form.leading, form.swap
    frame.axes, frame.length = len(batch), batch
    for axis, of_all in enumerate(zip(*steps, strict=True)):
        frame.step[axis] = of_all
    grain = max(1, WORK // (ROW + prod(form.sizes)))
    kernel = lib.mat_small_products_f32 if letter == "f" else lib.mat_small_products_f64
    return CpuKernel(kernel, frame, prod(batch), grain, brief=BRIEF * grain)


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
    the kernel has it and is faster than BLAS: it reads the tall matrix once.
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
