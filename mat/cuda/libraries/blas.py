"""BLAS on the device but its products (``products.py``): each verb as a function, prepared once for
operands of one form.

Column-major, as cuBLAS has it; named as on the CPU (``cpu/blas_kernels.py``), with the same
arguments. A call looks nothing up: the routine and all lengths are settled. Only a call that
returns Python numbers waits for the device.
"""

from __future__ import annotations

from ...core.compiled import CublasScale, CublasUpdate
from ...layout.matrix_operand import GerForm, SyrkForm, TrsmForm
from ...layout.shapes import Ints
from ...layout.strided import Layout
from ...support.blas_library import REAL
from ...support.dtypes import BY_CHAR, COMPLEX_TYPES
from ...support.types import Arguments, Function, Number
from ..kernels.elementwise import prepare_axpy
from ..kernels.integer_matmul import prepare_scale
from .cublas import (
    LIMIT,
    ON_DEVICE,
    SIZES,
    CublasRoutine,
    DeviceOperand,
    alpha_of,
    beta_of,
    ffi,
    lowest,
)
from .cublas_table import DIAG, FILL, OP, SIDE
from .products import FactoredCall

COUNTS = 2**63 - 1  # how far it counts
_RESULTS = {char: f"{real}[{1 + (char in COMPLEX_TYPES)}]" for char, real in REAL.items()}


# Vectors


def vectors(verb: str, letter: str, n: int, steps: Ints, starts: Ints) -> Function:
    """Prepare ``verb`` of vectors of `n` elements that begin `starts` after their operands."""
    if n == 0:
        return _of_nothing(verb, letter)
    lows = [(start + min(0, (n - 1) * step)) * SIZES[letter]
            for start, step in zip(starts, steps, strict=True)]
    if verb == "axpy" and letter in "fd" and not any(starts):
        # of float32, cuBLAS reaches 2.7 TB/s on an H100, our element-wise kernels 3.0
        return prepare_axpy(BY_CHAR[letter].suffix, n, steps)
    if len(steps) == 1:
        return _one(verb, letter, n, abs(steps[0]), lows[0])
    reported: dict[str, object] = {"n": n, "incx": steps[0], "incy": steps[1]}
    call = CublasRoutine(verb, letter, (n, *steps), reported)
    (x_low, y_low), (incx, incy) = lows, steps
    if verb in ("dot", "vdot"):
        return _dot(call, letter, n, (x_low, incx), (y_low, incy))
    if verb == "axpy":
        return _Update(call, letter, False, (n, *steps), (*lows, 0))
    # copy and swap
    return lambda x, y: call(y.gpu, n, x.address + x_low, incx, y.address + y_low, incy)


class _Update(FactoredCall):
    """``y <- alpha x + y``, called with ``(alpha, x, y)``."""

    numbers = (0,)
    compiled = CublasUpdate

    def arguments(self, alpha: Number, a: int, b: int, beta: Number, c: int) -> Arguments:
        (n, incx, incy), (x_low, y_low, _) = self.constants, self.offsets
        return n, self.alpha_of(alpha), a + x_low, incx, b + y_low, incy

    def __call__(self, alpha: Number, x: DeviceOperand, y: DeviceOperand) -> None:
        self.call(y.gpu, *self.arguments(alpha, x.address, y.address, 0, 0))


class _Scale(FactoredCall):
    """``x <- alpha x``, called with ``(alpha, x)``."""

    numbers = (0,)
    compiled = CublasScale

    def arguments(self, alpha: Number, a: int, b: int, beta: Number, c: int) -> Arguments:
        (n, inc), (low, _, _) = self.constants, self.offsets
        return n, self.alpha_of(alpha), a + low, inc

    def __call__(self, alpha: Number, x: DeviceOperand) -> None:
        self.call(x.gpu, *self.arguments(alpha, x.address, 0, 0, 0))


def _of_nothing(verb: str, letter: str) -> Function:
    """Return the verb for empty vectors: a sum of nothing is 0, and nothing is updated."""
    sums = {"dot": 0j if letter in COMPLEX_TYPES else 0.0, "nrm2": 0.0, "asum": 0.0}
    result = sums.get("dot" if verb == "vdot" else verb)
    return lambda *_: result


def _one(verb: str, letter: str, n: int, inc: int, low: int) -> Function:
    call = CublasRoutine(verb, letter, (n, inc), {"n": n, "incx": inc})
    if verb == "scal":
        return _Scale(call, letter, False, (n, inc), (low, 0, 0))
    if verb == "iamax":
        kind = "int64_t[1]" if max(n, inc) > LIMIT else "int[1]"

        def index(x: DeviceOperand) -> int:
            found = ffi.new(kind)
            call(x.gpu, n, x.address + low, inc, found)
            return int(found[0]) - 1  # it counts from 1
        return index

    def norm(x: DeviceOperand) -> float:
        found = ffi.new(_RESULTS["f" if letter in "fF" else "d"])
        call(x.gpu, n, x.address + low, inc, found)
        return float(found[0])
    return norm


def _dot(call: CublasRoutine, letter: str, n: int, first: tuple[int, int],
         second: tuple[int, int]) -> Function:
    kind = _RESULTS[letter]
    (x_low, incx), (y_low, incy) = first, second

    def dot(x: DeviceOperand, y: DeviceOperand) -> Number:
        found = ffi.new(kind)
        call(y.gpu, n, x.address + x_low, incx, y.address + y_low, incy, found)
        return found[0] if letter in "fd" else complex(found[0], found[1])
    return dot


def prepare_dot(letter: str, n: int, incx: int, incy: int) -> Function:
    """Prepare ``out <- sum x_i y_i`` of ``(x, y, out)``; nothing waits for the sum."""
    reported: dict[str, object] = {"n": n, "incx": incx, "incy": incy}
    call = CublasRoutine("dot", letter, (n, incx, incy), reported, ON_DEVICE)

    def dot(x: DeviceOperand, y: DeviceOperand, out: DeviceOperand) -> None:
        call(out.gpu, n, x.address, incx, y.address, incy, ffi.cast("void *", out.address))
    return dot


# Matrices


def prepare_ger(letter: str, form: GerForm, x: Layout, y: Layout) -> Function:
    """Prepare ``A <- alpha x y^T + A`` as a function of ``(alpha, x, y, a)``."""
    m, n, lda, swap = form
    (x_low, incx), (y_low, incy) = lowest(letter, x), lowest(letter, y)
    reported: dict[str, object] = {"m": m, "n": n, "lda": lda, "incx": incy if swap else incx,
                                   "incy": incx if swap else incy}
    call, factor = CublasRoutine("ger", letter, (m, n, lda, incx, incy), reported), alpha_of(letter)

    def ger(alpha: Number, x: DeviceOperand, y: DeviceOperand, a: DeviceOperand) -> None:
        if swap:
            call(a.gpu, m, n, factor(alpha), y.address + y_low, incy, x.address + x_low, incx,
                 a.address, lda)
        else:
            call(a.gpu, m, n, factor(alpha), x.address + x_low, incx, y.address + y_low, incy,
                 a.address, lda)
    return ger


def prepare_syrk(letter: str, form: SyrkForm) -> Function:
    """Prepare ``C <- alpha op(A) op(A)^T + beta C`` in a triangle, of ``(alpha, a, beta, c)``."""
    uplo, trans, n, k, lda, ldc = form
    if not k:
        triangle = 1 if uplo == "L" else -1  # the columns of C are the first axis here
        return prepare_scale(letter, (n, n), (ldc, 1), at=1, number=1,
                             triangle=triangle).bind((1, 3), (0, 2))
    call = CublasRoutine("syrk", letter, (n, k, lda, ldc), form._asdict())
    first, second, fill, op = alpha_of(letter), beta_of(letter), FILL[uplo], OP[trans]

    def syrk(alpha: Number, a: DeviceOperand, beta: Number, c: DeviceOperand) -> None:
        call(c.gpu, fill, op, n, k, first(alpha), a.address, lda, second(beta), c.address, ldc)
    return syrk


def prepare_trsm(letter: str, form: TrsmForm) -> Function:
    """Prepare ``B <- alpha op(A)^-1 B``, or for side R ``B op(A)^-1``, of ``(alpha, a, b)``."""
    side, uplo, trans, diag, m, n, lda, ldb = form
    call, factor = CublasRoutine("trsm", letter, (m, n, lda, ldb), form._asdict()), alpha_of(letter)
    flags = SIDE[side], FILL[uplo], OP[trans], DIAG[diag]

    def trsm(alpha: Number, a: DeviceOperand, b: DeviceOperand) -> None:
        call(b.gpu, *flags, m, n, factor(alpha), a.address, lda, b.address, ldb)
    return trsm
