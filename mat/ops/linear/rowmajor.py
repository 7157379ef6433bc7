"""Row-major products for column-major BLAS, on any engine: here, and nowhere else.

A row-major matrix with leading dimension ld, read column-major with the same ld, is its transpose.
So nothing is ever transposed: a product is computed as ``C^T = op(B)^T op(A)^T``, with the operands
in the other order. Calls are prepared once for operands of one form.
"""

from __future__ import annotations

from typing import Protocol

from ...cpu.blas_kernels import without_factors
from ...cpu.kernel import CpuKernel
from ...layout.matrix_operand import (
    GemmForm,
    GemmSizes,
    GemvForm,
    GerForm,
    LeadingDimension,
    MatmulForm,
    MatrixOperand,
    SyrkForm,
    TrsmForm,
)
from ...layout.shapes import Ints
from ...layout.strided import Layout
from ...matrix.mat import Mat
from ...support import blas_library
from ...support.dtypes import BLAS_TYPES
from ...support.types import Function


class BlasEngine(Protocol):
    """The column-major routines of BLAS on any engine, prepared for operands of one form."""

    def prepare_gemm(self, kind: str, form: GemmForm) -> Function: ...
    def prepare_gemm_batched(self, kind: str, form: GemmForm, batch: Ints,
                             steps: tuple[Ints, Ints, Ints]) -> Function: ...
    def prepare_gemv(self, letter: str, form: GemvForm, x: Layout, y: Layout) -> Function: ...
    def prepare_ger(self, letter: str, form: GerForm, x: Layout, y: Layout) -> Function: ...
    def prepare_syrk(self, letter: str, form: SyrkForm) -> Function: ...
    def prepare_trsm(self, letter: str, form: TrsmForm) -> Function: ...
    def prepare_dot(self, letter: str, n: int, incx: int, incy: int) -> Function: ...
    def prepare_scale_vector(self, letter: str, layout: Layout) -> Function: ...


def fits_matrix(layout: Layout) -> bool:
    """Return whether BLAS can take a matrix, or a vector beside it, with 32-bit steps."""
    steps = _steps(layout)
    return steps is not None and abs(steps[0]) <= blas_library.LIMIT


def fits_device(layout: Layout) -> bool:
    """Return whether cuBLAS can take it, with 64-bit steps."""
    return _steps(layout) is not None


def fits_matrices(layout: Layout) -> bool:
    """Return whether BLAS can take a vector, or each matrix of a stack."""
    if layout.ndim > 2:
        layout = Layout(layout.shape[-2:], layout.strides[-2:], 0)
    return fits_matrix(layout)


def fits_operand(layout: Layout) -> bool:
    """Return whether cuBLAS can take it as a stack of matrices, a row or a column."""
    if layout.ndim < 2:
        return not layout.ndim or layout.shape[0] <= 1 or layout.strides[0] > 0
    return Layout(layout.shape[-2:], layout.strides[-2:], 0).matrix is not None


def _steps(layout: Layout) -> tuple[int, object] | None:
    return layout.matrix if layout.ndim == 2 else layout.vector and layout.vector[::-1]


def do_nothing(*_: object) -> None:
    """Compute a result without elements."""


def flag(transpose: bool) -> str:
    return "T" if transpose else "N"


def gemm_form(sizes: GemmSizes, a: LeadingDimension, b: LeadingDimension,
              c: LeadingDimension) -> GemmForm:
    """Return BLAS's arguments for the row-major ``C = op(A) op(B)``: the product of the transposes.

    Where C is stored transposed, that is the column-major product itself, and the operands keep
    their order.
    """
    if c.transposed:
        return GemmForm(flag(not a.transposed), flag(not b.transposed), sizes,
                        (a.step, b.step, c.step))
    return GemmForm(flag(b.transposed), flag(a.transposed), GemmSizes(sizes.n, sizes.m, sizes.k),
                    (b.step, a.step, c.step), swap=True)


def leading_of(x: Mat) -> LeadingDimension:
    """Return the leading dimension of a matrix that `fits` has let through."""
    found = x.layout.matrix
    assert found is not None, "fits has let it through"
    return LeadingDimension(*found)


def prepare_gemv(engine: BlasEngine, a: Mat, transpose: bool, x: Mat, y: Mat) -> Function:
    """Prepare ``y <- alpha op(A) x + beta y`` as a function of ``(alpha, a, x, beta, y)``."""
    ld, transposed = leading_of(a)
    m, n = a.shape if transposed else a.shape[::-1]  # as BLAS sees it
    form = GemvForm(flag(transpose == transposed), m, n, ld)
    return engine.prepare_gemv(a.dtype.char, form, x.layout, y.layout)


def prepare_ger(engine: BlasEngine, x: Mat, y: Mat, a: Mat) -> Function:
    """Prepare ``A <- alpha x y^T + A`` as a function of ``(alpha, x, y, a)``."""
    ld, transposed = leading_of(a)
    m, n = a.shape if transposed else a.shape[::-1]
    return engine.prepare_ger(a.dtype.char, GerForm(m, n, ld, not transposed), x.layout, y.layout)


def prepare_syrk(engine: BlasEngine, a: Mat, c: Mat, transpose: bool, lower: bool) -> Function:
    """Prepare ``C <- alpha op(A) op(A)^T + beta C`` in a triangle, of ``(alpha, a, beta, c)``."""
    (lda, a_transposed), (ldc, c_transposed) = leading_of(a), leading_of(c)
    k, n = a.shape if transpose else a.shape[::-1]
    uplo = "L" if lower == c_transposed else "U"
    form = SyrkForm(uplo, flag(transpose == a_transposed), n, k, lda, ldc)
    return engine.prepare_syrk(a.dtype.char, form)


def prepare_trsm(engine: BlasEngine, a: Mat, b: Mat, *, left: bool, lower: bool, transpose: bool,
                 unit: bool) -> Function:  # the signature is BLAS's
    """Prepare ``B <- alpha op(A)^-1 B``, or with A on the right, of ``(alpha, a, b)``."""
    (lda, a_transposed), (ldb, b_transposed) = leading_of(a), leading_of(b)
    m, n = b.shape
    if not b_transposed:  # BLAS sees B^T: A is on the other side of it, transposed
        left, m, n, transpose = not left, n, m, not transpose
    if not a_transposed:  # BLAS sees A^T: its other triangle, its other op
        lower, transpose = not lower, not transpose
    form = TrsmForm("L" if left else "R", "L" if lower else "U", flag(transpose),
                    "U" if unit else "N", m, n, lda, ldb)
    return engine.prepare_trsm(a.dtype.char, form)


# Stacks


def prepare_stack(engine: BlasEngine, kind: str, form: MatmulForm) -> Function:
    """Prepare ``C <- alpha A B + beta C`` of stacks, a function of ``(alpha, a, b, beta, c)``."""
    (m, n, k), a, b, c, batch = form.merged(for_blas=True)
    blas_form = gemm_form(GemmSizes(m, n, k), _leading(a, m, k), _leading(b, k, n),
                          _leading(c, m, n))
    if not batch:
        return engine.prepare_gemm(kind, blas_form)
    return engine.prepare_gemm_batched(kind, blas_form, batch, (a.batch, b.batch, c.batch))


def _leading(x: MatrixOperand, rows: int, columns: int) -> LeadingDimension:
    found = x.leading(rows, columns)
    assert found is not None, "fits_operand has let it through"
    return found


def prepare_matmul(engine: BlasEngine, kind: str, form: MatmulForm) -> Function:
    """Prepare ``C <- A B`` as a function of ``(a, b, c)``; vectors are multiplied as such."""
    form = form.merged(for_blas=True)
    (m, n, k), a, b, c, batch = form
    if batch or 1 not in (m, n) or not k or len(kind) > 1 or kind not in BLAS_TYPES:
        return _without_factors(prepare_stack(engine, kind, form), False)
    if m == n == 1:
        return engine.prepare_dot(kind, k, a.column if k > 1 else 1, b.row if k > 1 else 1)
    if n == 1:
        steps = b.row, c.row
        return _without_factors(_prepare_by_vector(engine, kind, (m, k), a, steps), False)
    steps = a.column, c.column  # c^T is B^T a^T
    return _without_factors(_prepare_by_vector(engine, kind, (n, k), b.transpose(), steps), True)


def _without_factors(product: Function, swap: bool) -> Function:
    """Return ``C <- A B`` by a product with alpha and beta; with `swap` its first operand is b."""
    if isinstance(product, CpuKernel):
        return without_factors(product, swap)
    plain = getattr(product, "without_factors", None)
    if plain is not None:
        return plain(swap)
    if swap:
        return lambda a, b, c: product(1.0, b, a, 0.0, c)
    return lambda a, b, c: product(1.0, a, b, 0.0, c)


def _prepare_by_vector(engine: BlasEngine, kind: str, shape: tuple[int, int], a: MatrixOperand,
                       steps: tuple[int, int]) -> Function:
    """Prepare ``y <- alpha A x + beta y`` for steps of x and y, of ``(alpha, a, x, beta, y)``."""
    m, k = shape
    ld, transposed = _leading(a, m, k)
    rows, columns = shape if transposed else (k, m)
    return engine.prepare_gemv(kind, GemvForm(flag(not transposed), rows, columns, ld),
                               _vector(k, steps[0]), _vector(m, steps[1]))


def _vector(n: int, step: int) -> Layout:
    return Layout((n,), (step if n > 1 else 1,), 0)
