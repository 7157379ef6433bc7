"""BLAS on the CPU: its routines as `CpuKernel` kernels, for operands that one call takes.

No C object is made for a call, but of those that are called seldom, or take long. Vectors that are
longer than BLAS can count are left to NumPy. Long vectors of adjacent elements have kernels of
their own, since BLAS does not do them at the speed of memory; their sums, by blocks in double
precision, do not depend on the number of threads. Nothing here checks: the caller has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from typing import NamedTuple

from ..core.observers import OBSERVERS
from ..layout.matrix_operand import GemmForm, GemvForm, GerForm, MatrixOperand, SyrkForm, TrsmForm
from ..layout.shapes import Ints
from ..layout.strided import Layout
from ..support import blas_library
from ..support.blas_library import FLAGS, INTS, BlasRoutine, address, routine_name, scalar
from ..support.c_pointers import ForeignArray
from ..support.dtypes import BLAS_TYPES, BY_CHAR, COMPLEX_TYPES
from ..support.native import ffi, lib
from ..support.types import CData, Function, Number
from .elementwise import GRAIN, PRECISION, OperandView, prepare_strided
from .kernel import BRIEF, CpuKernel
from .thread_pool import share

KINDS = {char: k for k, char in enumerate(BLAS_TYPES)}  # as blas.c numbers them
LITTLE = 16384  # elements of vectors that take no longer than a few microseconds
# multiplications that take no longer than some ten; OpenBLAS shares more of them among threads
FEW = 64**3
# rows and columns from which on a product of a matrix and its transpose takes less time by syrk
LEAST_OF_ITSELF = 32
CALL = 16**3  # those that could be done while BLAS begins


def routine(verb: str, letter: str) -> int:
    """Return the address of BLAS's routine `verb` for elements of that dtype."""
    return address(routine_name(verb, letter))


def one_call(n: int, *steps: int) -> bool:
    """Return whether one call of a BLAS kernel can take vectors of `n` elements with such steps."""
    return n <= blas_library.LIMIT and all(0 < abs(step) <= blas_library.LIMIT for step in steps)


@cache
def _kernels() -> dict[str, tuple[CData, str]]:
    """Return the kernel of each verb, and its result: none, an element (T), a real number (d)."""
    return {"axpy": (lib.mat_blas_axpy, ""), "scal": (lib.mat_blas_scal, ""),
            "copy": (lib.mat_blas_copy, ""), "swap": (lib.mat_blas_swap, ""),
            "dot": (lib.mat_blas_dot, "T"), "vdot": (lib.mat_blas_dot, "T"),
            "nrm2": (lib.mat_blas_nrm2, "d"), "asum": (lib.mat_blas_asum, "d")}


def vectors(verb: str, letter: str, n: int, steps: Ints, starts: Ints) -> CpuKernel:
    """Prepare ``verb`` of vectors of `n` elements that begin `starts` after their operands."""
    frame = ffi.new("struct mat_vectors *",
                    (routine(verb, letter), KINDS[letter], n, steps, starts))
    kernel, element = _kernels()[verb]
    incs = {"incx": abs(steps[0])} if len(steps) == 1 else {"incx": steps[0], "incy": steps[1]}
    result = "D" if element == "T" and letter in COMPLEX_TYPES else element and "d"
    reported: dict[str, object] = {"n": n, **incs}
    grain = LITTLE if n <= LITTLE else 0
    return CpuKernel(kernel, frame, n, grain, result=result,
                     called=(routine_name(verb, letter), reported))


def prepare_gemm(letter: str, form: GemmForm) -> Function:
    """Prepare ``C <- alpha op(A) op(B) + beta C`` as a function of ``(alpha, a, b, beta, c)``."""
    return prepare_thin(letter, form) or _gemm(letter, form)


def _gemm(letter: str, form: GemmForm) -> CpuKernel:
    trans_a, trans_b, (m, n, k), leading, swap = form
    gemv = routine("gemv", letter) if k and 1 in (m, n) else 0
    may_be_itself = (trans_a != trans_b and m == n and leading[0] == leading[1]
                     and min(n, k) >= LEAST_OF_ITSELF)
    syrk = routine("syrk", letter) if may_be_itself else 0
    frame = ffi.new("struct mat_product *", (routine("gemm", letter), KINDS[letter], swap,
                                             (trans_a.encode(), trans_b.encode()), m, n, k,
                                             leading, gemv, syrk))
    little = m * n * k <= FEW
    return CpuKernel(lib.mat_blas_gemm, frame, 1, int(little),
                     called=(routine_name("gemm", letter), form.reported()))


def prepare_gemm_batched(letter: str, form: GemmForm, batch: Ints,
                         steps: tuple[Ints, Ints, Ints]) -> Function:
    """Prepare the same for stacks; `steps` are those of a, b and c along the axes `batch`."""
    if is_small(letter, form, batch):
        return prepare_small(letter, form, batch, steps)
    size, one = BY_CHAR[letter].size, _gemm(letter, form)
    axes = ffi.new("struct mat_stack_axis[]",
                   [(n, [size * s[d] for s in steps]) for d, n in enumerate(batch)])
    frame = ffi.new("struct mat_stack *", (one.frame, len(batch), axes))
    count = math.prod(batch)
    # BLAS itself shares larger products among threads
    grain = one.grain and max(1, FEW // (CALL + math.prod(form.sizes)))
    return CpuKernel(lib.mat_blas_gemm_stack, frame, count, grain, keep=(one, axes),
                     called=(routine_name("gemm", letter), {**form.reported(), "count": count}))


def prepare_dot(letter: str, n: int, incx: int, incy: int) -> Function:
    """Prepare ``out <- sum x_i y_i``, not conjugated, as a function of ``(x, y, out)``."""
    frame = ffi.new("struct mat_vectors *",
                    (routine("dot", letter), KINDS[letter], n, (incx, incy), (0, 0)))
    # a sum is not divided among threads
    return CpuKernel(lib.mat_blas_dot_into, frame, n, LITTLE if n <= LITTLE else 0,
                     called=(routine_name("dot", letter), {"n": n, "incx": incx, "incy": incy}))


def without_factors(product: CpuKernel, swap: bool) -> CpuKernel:
    """Return ``C <- A B`` by a kernel with alpha and beta; with `swap` its first operand is b."""
    frame = ffi.new("struct mat_plain_product *", (product.address, product.frame, swap))
    return CpuKernel(lib.mat_blas_plain_product, frame, product.count, product.grain, keep=product,
                     called=product.called)


def prepare_gemv(letter: str, form: GemvForm, x: Layout, y: Layout) -> Function:
    """Prepare ``y <- alpha op(A) x + beta y`` as a function of ``(alpha, a, x, beta, y)``."""
    trans, m, n, lda = form
    (x_start, incx), (y_start, incy) = _lowest(x), _lowest(y)
    frame = ffi.new("struct mat_matrix_vector *",
                    (routine("gemv", letter), KINDS[letter], (x_start, y_start),
                     (trans.encode(), b"N"), m, n, lda, (incx, incy)))
    reported: dict[str, object] = {**form._asdict(), "incx": incx, "incy": incy}
    return CpuKernel(lib.mat_blas_gemv, frame, 1, int(m * n <= 4 * LITTLE),
                     called=(routine_name("gemv", letter), reported))


def _lowest(x: Layout) -> tuple[int, int]:
    """Return the lowest address of a vector, where it begins for BLAS, and its increment."""
    assert x.vector is not None, "fits has let it through"
    return x.vector[0] - x.displacement, x.vector[1]


# Routines that cffi calls, without the GIL; matrices are column-major


_axpy = BlasRoutine("axpy", "ippipi")
_iamax = BlasRoutine("iamax", "ipi", "int")
_ger = BlasRoutine("ger", "iippipipi")
_syrk = BlasRoutine("syrk", "cciippippi")
_trsm = BlasRoutine("trsm", "cccciippipi")


def axpy(alpha: Number, x: ForeignArray, y: ForeignArray) -> None:
    """Compute ``y <- alpha x + y`` of packed vectors, in pieces that BLAS can count."""
    factor, one = scalar(y.letter, alpha), INTS[1]
    for start in range(0, y.size, blas_library.LIMIT):
        count = INTS[min(y.size - start, blas_library.LIMIT)]
        _axpy[y.letter](count, factor, x.pointer + start, one, y.pointer + start, one)


def prepare_iamax(letter: str, n: int, inc: int) -> Function:
    """Prepare the first index of the largest ``|re x_i| + |im x_i|``, from 0; `inc` is above 0."""
    def iamax(x: ForeignArray) -> int:
        if OBSERVERS:
            _notify("iamax", letter, n=n, incx=inc)
        return int(_iamax[letter](INTS[n], x.pointer, INTS[inc])) - 1
    return iamax


def prepare_ger(letter: str, form: GerForm, x: Layout, y: Layout) -> Function:
    """Prepare ``A <- alpha x y^T + A`` as a function of ``(alpha, x, y, a)``."""
    m, n, lda, swap = form
    (x_start, x_inc), (y_start, y_inc) = _lowest(x), _lowest(y)
    incx, incy = (y_inc, x_inc) if swap else (x_inc, y_inc)

    def ger(alpha: Number, x: ForeignArray, y: ForeignArray, a: ForeignArray) -> None:
        first, second = x.pointer + x_start, y.pointer + y_start
        if swap:
            first, second = second, first
        if OBSERVERS:
            _notify("ger", letter, m=m, n=n, lda=lda, incx=incx, incy=incy)
        _ger[letter](INTS[m], INTS[n], scalar(letter, alpha), first, INTS[incx], second, INTS[incy],
                     a.pointer, INTS[lda])
    return ger


def prepare_syrk(letter: str, form: SyrkForm) -> Function:
    """Prepare ``C <- alpha op(A) op(A)^T + beta C`` in a triangle, of ``(alpha, a, beta, c)``."""
    uplo, trans, n, k, lda, ldc = form

    def syrk(alpha: Number, a: ForeignArray, beta: Number, c: ForeignArray) -> None:
        if OBSERVERS:
            _notify("syrk", letter, **form._asdict())
        _syrk[letter](FLAGS[uplo], FLAGS[trans], INTS[n], INTS[k], scalar(letter, alpha), a.pointer,
                      INTS[lda], scalar(letter, beta), c.pointer, INTS[ldc])
    return syrk


def prepare_trsm(letter: str, form: TrsmForm) -> Function:
    """Prepare ``B <- alpha op(A)^-1 B``, or for side R ``B op(A)^-1``, of ``(alpha, a, b)``."""
    side, uplo, trans, diag, m, n, lda, ldb = form

    def trsm(alpha: Number, a: ForeignArray, b: ForeignArray) -> None:
        if OBSERVERS:
            _notify("trsm", letter, **form._asdict())
        _trsm[letter](FLAGS[side], FLAGS[uplo], FLAGS[trans], FLAGS[diag], INTS[m], INTS[n],
                      scalar(letter, alpha), a.pointer, INTS[lda], b.pointer, INTS[ldb])
    return trsm


def _notify(verb: str, letter: str, **arguments: object) -> None:
    for observer in tuple(OBSERVERS):
        observer.called(routine_name(verb, letter), **arguments)


# Long vectors


LONG = 1 << 18  # elements from which on threads pay
BLOCK = 1 << 14  # elements that are summed up in one go
SUMS = frozenset(("dot", "vdot", "nrm2", "asum"))
# between these a sum of squares has neither overflowed nor lost what underflows
SAFE = 1e-250, 1e300


def is_long(letter: str, n: int, *steps: int) -> bool:
    """Return whether these kernels, not BLAS, are for vectors of `n` elements with such steps."""
    return n >= LONG and letter in PRECISION and all(step == 1 for step in steps)


def long_vectors(verb: str, letter: str, n: int, vectors: int, otherwise: Function) -> Function:
    """Prepare ``verb`` of so many such vectors, `otherwise` for results that the kernel lacks."""
    if verb in SUMS:
        return VectorSum(verb, PRECISION[letter], n, otherwise)
    size = ffi.sizeof("float" if letter == "f" else "double")
    kernel = getattr(lib, f"mat_{verb}_{PRECISION[letter]}")
    views = [OperandView((size,), size)] * vectors
    return prepare_strided(kernel, views, (n,), GRAIN, streams=True)


class VectorSum:
    """A sum over one or two vectors, called with values of the foreign facet."""

    def __init__(self, verb: str, precision: str, n: int, otherwise: Function) -> None:
        name = {"nrm2": "squares", "vdot": "dot"}.get(verb, verb)
        self.verb: str = verb
        self.kernel: int = int(ffi.cast("uintptr_t", getattr(lib, f"mat_{name}_{precision}")))
        self.blocks: int = -(-n // BLOCK)
        self.frame: CData = ffi.new("struct mat_sum *", (n, BLOCK))
        self.otherwise: Function = otherwise

    def __call__(self, *vectors: ForeignArray) -> float:
        operands = ffi.new("char *[]", [ffi.cast("char *", v.pointer) for v in vectors])
        parts = ffi.new("double[]", self.blocks)
        share(self.kernel, self.frame, operands, ffi.NULL, parts, self.blocks, GRAIN // BLOCK)
        total = float(sum(ffi.unpack(parts, self.blocks)))
        if self.verb != "nrm2":
            return total
        return math.sqrt(total) if SAFE[0] < total < SAFE[1] else float(self.otherwise(*vectors))


# Products that compiled kernels make in less time than BLAS: of many small matrices, which BLAS
# takes longer to begin than to multiply, and of a tall matrix and one of few columns, since BLAS
# packs all of the tall one first


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
ROWS_OF_THREAD = 128  # rows that a thread should at least get, since each packs the thin matrix
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
    """Prepare the same for a tall or wide C; None unless the kernel has it and beats BLAS."""
    if letter not in "fd":
        return None
    m, n, k = form.sizes
    rows, thin = (n, m) if m < n else (m, n)
    tall_by_rows = form.trans_b == "N" if m < n else form.trans_a == "T"
    if not (tall_by_rows and 1 < thin <= MOST_COLUMNS and k >= LEAST_DEPTH
            and rows >= LEAST_ROWS and m * n * k > LEAST_WORK):
        return None
    frame = ffi.new("struct mat_thin *", _thin_form(form))
    return CpuKernel(lib.mat_thin_f32 if letter == "f" else lib.mat_thin_f64, frame, rows,
                     max(ROWS_OF_THREAD, SHARE // (k * thin)))


def _thin_form(form: GemmForm) -> ThinForm:
    """Return the frame of a product in BLAS's terms, whose C is m x n in columns."""
    (m, n, k), (lda, ldb, ldc) = form.sizes, form.leading
    if m < n:  # C^T = op(B)^T op(A)^T
        b_row, b_column = (lda, 1) if form.trans_a == "N" else (1, lda)
        return ThinForm(k, m, ldb, b_row, b_column, ldc, 1, not form.swap)
    b_row, b_column = (1, ldb) if form.trans_b == "N" else (ldb, 1)
    return ThinForm(k, n, lda, b_row, b_column, 1, ldc, form.swap)


# Small systems of equations


# the most rows and right sides of a system, and the most axes of a stack
SYSTEM_SIDE, STACK_AXES = (0, 0) if lib is None else (lib.MAT_SMALL_SIDE, lib.MAT_STACK_AXES)
SYSTEM_WORK = 30_000  # multiplications that a thread should at least get


def prepare_systems(letter: str, n: int, columns: int, operands: Sequence[MatrixOperand],
                    batch: Ints, refusal: Callable[[], Exception]) -> CpuKernel:
    """Return the kernel that solves systems of `n` equations, one for each position of `batch`.

    The operands are a, the right sides, of which there are so many `columns`, and the solutions;
    or with 0 columns a and its inverse. `refusal` returns the error for a singular matrix.
    """
    frame = ffi.new("mat_small_systems *")
    frame.n, frame.columns, frame.axes, frame.length = n, columns, len(batch), batch
    # an inverse has no right side of its own
    for k, operand in enumerate((operands[0], operands[-2], operands[-1])):
        frame.row[k], frame.column[k] = operand.row, operand.column
        for axis, step in enumerate(operand.batch):
            frame.step[axis][k] = step
    grain = SYSTEM_WORK / (n * n * (n + (columns or n)))
    return CpuKernel(ffi.addressof(lib, f"mat_small_systems_{letter}"), frame, prod(batch),
                     max(grain, 1), result="i", refusal=refusal)
