"""BLAS on the device: each verb as a function of what changes from call to call, made once for
operands of one form.

Column-major, as cuBLAS has it; named as on the CPU (``cpu/shims.py``), with the same arguments. A
call looks nothing up: the routine and all lengths are settled. Only what returns Python numbers
waits for the device.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any, NamedTuple

from ..layout.strided import Ints, Layout
from ..support.blas_library import REAL, REALS, scalar
from ..support.dtypes import BY_CHAR, COMPLEX_TYPES
from .cublas import LIMIT, ON_DEVICE, NotSupportedError, Routine, ffi
from .cublas_table import COMPUTE_32F, COMPUTE_32I, DATA, DIAG, FILL, GEMM_DEFAULT, OP, SIDE
from .integer_matmul import prepare_scale
from .kernel import CudaKernel

Call = Callable[..., Any]
COUNTS = 2**63 - 1  # how far it counts
SIZES = {char: t.size for char, t in BY_CHAR.items()}
# What is summed in float32 or int32 by cublasGemmEx: types of operands and result.
EX = {"e": ("e", "e"), "E": ("E", "E"), "ef": ("e", "f"), "Ef": ("E", "f"), "bi": ("b", "i")}
_RESULTS = {char: f"{real}[{1 + (char in COMPLEX_TYPES)}]" for char, real in REAL.items()}


def _alpha(letter: str) -> Call:
    """What makes, of a Python number, the C element that a routine is given the address of."""
    known = REALS.get(letter)
    return partial(scalar,
                   letter) if known is None else lambda value: known[value] if value else scalar(letter, value)


def _beta(letter: str) -> Call:
    """The same for a factor that says, if it is a 0 of either sign, that the result is not read."""
    known, zero = REALS.get(letter), scalar(letter, 0.0)
    if known is None:
        return lambda value: scalar(letter, value) if value else zero
    return lambda value: known[value] if value else zero


# Vectors


def vectors(verb: str, letter: str, n: int, steps: Ints, starts: Ints) -> Call:
    """``verb`` of one or two vectors of `n` elements, `steps` apart, that begin `starts` elements
    from their operands.
    """
    if n == 0:
        return _of_nothing(verb, letter)
    lows = [(start + min(0, (n - 1) * step)) * SIZES[letter] for start,
            step in zip(starts, steps, strict=True)]
    if len(steps) == 1:
        return _one(verb, letter, n, abs(steps[0]), lows[0])
    told: dict[str, object] = {"n": n, "incx": steps[0], "incy": steps[1]}
    call = Routine(verb, letter, (n, *steps), told)
    (low, other), (incx, incy) = lows, steps
    if verb in ("dot", "vdot"):
        return _dot(call, letter, n, (low, incx), (other, incy))
    if verb == "axpy":
        factor = _alpha(letter)
        return lambda alpha, x, y: call(y.gpu, n, factor(alpha), x.address + low, incx,
                                        y.address + other, incy)
    # copy and swap
    return lambda x, y: call(y.gpu, n, x.address + low, incx, y.address + other, incy)


def _of_nothing(verb: str, letter: str) -> Call:
    """A sum of nothing is 0; nothing is updated."""
    sums = {"dot": 0j if letter in "FD" else 0.0, "nrm2": 0.0, "asum": 0.0}
    result = sums.get("dot" if verb == "vdot" else verb)
    return lambda *_: result


def _one(verb: str, letter: str, n: int, inc: int, low: int) -> Call:
    call = Routine(verb, letter, (n, inc), {"n": n, "incx": inc})
    if verb == "scal":
        factor = _alpha(letter)
        return lambda alpha, x: call(x.gpu, n, factor(alpha), x.address + low, inc)
    if verb == "iamax":
        kind = "int64_t[1]" if max(n, inc) > LIMIT else "int[1]"

        def index(x: Any) -> int:
            found = ffi.new(kind)
            call(x.gpu, n, x.address + low, inc, found)
            return int(found[0]) - 1  # it counts from 1
        return index

    def norm(x: Any) -> float:
        found = ffi.new(_RESULTS["f" if letter in "fF" else "d"])
        call(x.gpu, n, x.address + low, inc, found)
        return float(found[0])
    return norm


def _dot(call: Routine, letter: str, n: int, first: tuple[int, int],
         second: tuple[int, int]) -> Call:
    kind = _RESULTS[letter]
    (low, incx), (other, incy) = first, second

    def dot(x: Any, y: Any) -> Any:
        found = ffi.new(kind)
        call(y.gpu, n, x.address + low, incx, y.address + other, incy, found)
        return found[0] if letter in "fd" else complex(found[0], found[1])
    return dot


def prepare_dot(letter: str, n: int, incx: int, incy: int) -> Call:
    """``call(x, y, out)`` for ``out <- sum x_i y_i``, which stays on the device: nothing waits."""
    call = Routine("dot", letter, (n, incx, incy), {"n": n, "incx": incx, "incy": incy}, ON_DEVICE)

    def dot(x: Any, y: Any, out: Any) -> None:
        call(out.gpu, n, x.address, incx, y.address, incy, ffi.cast("void *", out.address))
    return dot


# A matrix and vectors


def _lowest(letter: str, x: Layout) -> tuple[int, int]:
    """How many bytes from its first element a vector's lowest address is, and its increment."""
    assert x.vector is not None, "fits has let it through"
    return (x.vector[0] - x.displacement) * SIZES[letter], x.vector[1]


def prepare_gemv(letter: str, trans: str, m: int, n: int, lda: int, x: Layout, y: Layout) -> Call:
    """``call(alpha, a, x, beta, y)`` for ``y <- alpha op(A) x + beta y``, with vectors that lie as
    `x` and `y` do.
    """
    (low, incx), (other, incy) = _lowest(letter, x), _lowest(letter, y)
    told: dict[str, object] = {"trans": trans, "m": m, "n": n, "lda": lda, "incx": incx,
                               "incy": incy}
    call, factor, op = Routine("gemv", letter, (m, n, lda, incx, incy),
                               told), _alpha(letter), OP[trans]
    other_factor = _beta(letter)

    def gemv(alpha: Any, a: Any, x: Any, beta: Any, y: Any) -> None:
        call(y.gpu, op, m, n, factor(alpha), a.address, lda, x.address + low, incx,
             other_factor(beta), y.address + other, incy)
    return gemv


def prepare_scale_vector(letter: str, layout: Layout) -> CudaKernel:
    """``call(alpha, a, x, beta, y)`` for ``y <- beta y``, with a vector that lies so."""
    assert layout.vector is not None, "fits has let it through"
    return prepare_scale(letter, (layout.size,), (layout.vector[1],), at=2,
                         number=1).bind((1, 2, 4), (0, 3))


def prepare_ger(letter: str, m: int, n: int, lda: int, x: Layout, y: Layout, swap: bool) -> Call:
    """``call(alpha, x, y, a)`` for ``A <- alpha x y^T + A``, A being m x n; with `swap`, y is
    cuBLAS's first vector.
    """
    (low, incx), (other, incy) = _lowest(letter, x), _lowest(letter, y)
    told: dict[str, object] = {"m": m, "n": n, "lda": lda, "incx": incy if swap else incx,
                               "incy": incx if swap else incy}
    call, factor = Routine("ger", letter, (m, n, lda, incx, incy), told), _alpha(letter)

    def ger(alpha: Any, x: Any, y: Any, a: Any) -> None:
        if swap:
            call(a.gpu, m, n, factor(alpha), y.address + other, incy, x.address + low, incx,
                 a.address, lda)
        else:
            call(a.gpu, m, n, factor(alpha), x.address + low, incx, y.address + other, incy,
                 a.address, lda)
    return ger


# Matrices


class _Ex(NamedTuple):
    """How cublasGemmEx is told of the types."""

    letter: str  # of the factors
    types: tuple[int, int]
    compute: int
    align: int  # of addresses and leading dimensions, in bytes


def _ex(kind: str) -> _Ex | None:
    """For the kinds of products that it has besides the four types of BLAS."""
    if kind not in EX:
        return None
    one, out = EX[kind]
    whole = one == "b"
    return _Ex("i" if whole else "f", (DATA[one], DATA[out]), COMPUTE_32I if whole else COMPUTE_32F,
               4 if whole else 1)


def _wide(value: Any) -> Any:
    """A factor of integers, in the 32 bits that it has for the result."""
    return ffi.new("int32_t *", (int(value) + (1 << 31)) % (1 << 32) - (1 << 31))


def prepare_gemm(kind: str, trans_a: str, trans_b: str, m: int, n: int, k: int, lda: int, ldb: int,
                 ldc: int,
                 swap: bool) -> Call:
    """``call(alpha, a, b, beta, c)`` for a product of these sizes; with `swap`, b is cuBLAS's first
    operand.

    `kind` is a dtype character that BLAS knows, or one of `EX`; then `NotSupportedError` says that
    it is not to be had so.
    """
    told: dict[str, object] = {"trans": trans_a + trans_b, "m": m, "n": n, "k": k, "lda": lda,
                               "ldb": ldb, "ldc": ldc}
    return _gemm(kind, (trans_a, trans_b), (m, n, k), (lda, ldb, ldc), swap, told, None)


def prepare_gemm_batched(kind: str, trans_a: str, trans_b: str, m: int, n: int, k: int, lda: int,
                         ldb: int, ldc: int,
                         swap: bool, batch: Ints, steps: tuple[Ints, Ints, Ints]) -> Call:
    """The same for stacks with leading axes of the lengths `batch`; `steps` are those of a, b and c
    along them.

    The longest axis along which all of them go up is one call; others are walked.
    """
    told: dict[str, object] = {"trans": trans_a + trans_b, "m": m, "n": n, "k": k, "lda": lda,
                               "ldb": ldb, "ldc": ldc}
    if not k:
        # there is nothing to step to in a and b
        steps = (0,) * len(batch), (0,) * len(batch), steps[2]
    upwards = [d for d in range(len(batch)) if all(s[d] >= 0 for s in steps)]
    along = max(upwards, key=lambda d: batch[d], default=None)
    strided = None if along is None else (batch[along], *(s[along] for s in steps))
    one = _gemm(kind, (trans_a, trans_b), (m, n, k), (lda, ldb, ldc), swap, told, strided)
    others = [d for d in range(len(batch)) if d != along]
    if not others:
        return one
    a_size, c_size = (SIZES[x] for x in EX[kind]) if kind in EX else (SIZES[kind], SIZES[kind])
    sizes = a_size, a_size, c_size
    starts = [[size * sum(i * s[d] for i, d in zip(index, others, strict=True)) for s,
               size in zip(steps, sizes, strict=True)]
              for index in product(*(range(batch[d]) for d in others))]

    def each(alpha: Any, a: Any, b: Any, beta: Any, c: Any) -> None:
        for one_at, other_at, out_at in starts:
            one(alpha, _Part(a, one_at), _Part(b, other_at), beta, _Part(c, out_at))
    return each


class _Part:
    """An operand, some bytes further on."""

    __slots__ = ("address", "gpu")

    def __init__(self, whole: Any, offset: int) -> None:
        self.address = whole.address + offset
        self.gpu = whole.gpu


def _gemm(kind: str, trans: tuple[str, str], sizes: Ints, steps: Ints, swap: bool,
          told: dict[str, object],
          strided: Ints | None) -> Call:
    """A product, or with `strided`, the count and the steps of a, b and c, a stack of them."""
    if strided is not None:
        told = {**told, "count": strided[0]}
    if not sizes[2]:
        if kind in EX:
            raise NotSupportedError(f"{kind}: an empty axis")
        count, step = (1, 0) if strided is None else (strided[0], strided[3])
        return _scaled(kind, (count, sizes[1], sizes[0]), (step, steps[2], 1))
    ops = OP[trans[0]], OP[trans[1]], *sizes
    numbers = (*sizes, *steps, *(strided or ()))
    if kind in EX:
        return _gemm_ex(kind, ops, numbers, steps, swap, told, strided)
    alpha_of, beta_of, (lda, ldb, ldc) = _alpha(kind), _beta(kind), steps
    if strided is None:
        call = Routine("gemm", kind, numbers, told)

        def gemm(alpha: Any, a: Any, b: Any, beta: Any, c: Any) -> None:
            if swap:
                a, b = b, a
            call(c.gpu, *ops, alpha_of(alpha), a.address, lda, b.address, ldb, beta_of(beta),
                 c.address, ldc)
        return gemm
    stack, (count, step_a, step_b, step_c) = Routine("gemmStridedBatched", kind, numbers,
                                                     told), strided
    if swap:
        step_a, step_b = step_b, step_a

    def gemms(alpha: Any, a: Any, b: Any, beta: Any, c: Any) -> None:
        if swap:
            a, b = b, a
        stack(c.gpu, *ops, alpha_of(alpha), a.address, lda, step_a, b.address, ldb, step_b,
              beta_of(beta), c.address, ldc,
              step_c, count)
    return gemms


def _scaled(letter: str, shape: Ints, strides: Ints) -> CudaKernel:
    """What is left of a product over an empty axis, called like a product."""
    return prepare_scale(letter, shape, strides, at=2, number=1).bind((1, 2, 4), (0, 3))


def _gemm_ex(kind: str, ops: Ints, numbers: Ints, steps: Ints, swap: bool, told: dict[str, object],
             strided: Ints | None) -> Call:
    ex, (lda, ldb, ldc) = _ex(kind), steps
    assert ex is not None
    letter, (one, out), compute, align = ex
    if any(step % align for step in (lda, ldb)) or (strided is not None
                                                    and any(s % align for s in strided[1:3])):
        raise NotSupportedError(f"{kind}: leading dimensions {lda} and {ldb}")
    told = {**told, "kind": kind}
    factor = _wide if letter == "i" else _beta(letter)
    call = Routine("GemmEx" if strided is None else "GemmStridedBatchedEx", "", numbers, told)
    count, step_a, step_b, step_c = ((), (), (), ()) if strided is None else ((s,) for s in strided)
    if swap:
        step_a, step_b = step_b, step_a

    def gemm(alpha: Any, a: Any, b: Any, beta: Any, c: Any) -> None:
        if swap:
            a, b = b, a
        if (a.address | b.address) % align:
            raise NotSupportedError(f"{kind}: operands at {a.address:#x} and {b.address:#x}")
        call(c.gpu, *ops, factor(alpha), a.address, one, lda, *step_a, b.address, one, ldb, *step_b,
             factor(beta), c.address,
             out, ldc, *step_c, *count, compute, GEMM_DEFAULT)
    return gemm


def prepare_either(make: Callable[[], Call], otherwise: Call) -> Call:
    """What `make` gives, and `otherwise` where, or as soon as, cuBLAS does not support that."""
    try:
        preferred = make()
    except NotSupportedError:
        return otherwise

    def either(*values: Any) -> None:
        try:
            preferred(*values)
        except NotSupportedError:
            otherwise(*values)
    return either


def prepare_syrk(letter: str, uplo: str, trans: str, n: int, k: int, lda: int, ldc: int) -> Call:
    """``call(alpha, a, beta, c)`` for ``C <- alpha A A^T + beta C`` (``trans`` T: ``A^T A``) in one
    triangle of C.
    """
    if not k:
        triangle = 1 if uplo == "L" else -1  # the columns of C are the first axis here
        return prepare_scale(letter, (n, n), (ldc, 1), at=1, number=1,
                             triangle=triangle).bind((1, 3), (0, 2))
    told: dict[str, object] = {"uplo": uplo, "trans": trans, "n": n, "k": k, "lda": lda, "ldc": ldc}
    call, factor, fill, op = Routine("syrk", letter, (n, k, lda, ldc),
                                     told), _alpha(letter), FILL[uplo], OP[trans]
    other_factor = _beta(letter)

    def syrk(alpha: Any, a: Any, beta: Any, c: Any) -> None:
        call(c.gpu, fill, op, n, k, factor(alpha), a.address, lda, other_factor(beta), c.address,
             ldc)
    return syrk


def prepare_trsm(letter: str, side: str, uplo: str, trans: str, diag: str, m: int, n: int, lda: int,
                 ldb: int) -> Call:
    """``call(alpha, a, b)`` for ``B <- alpha op(A)^-1 B`` (side R: ``B op(A)^-1``), with a
    triangular A.
    """
    told: dict[str, object] = {"side": side, "uplo": uplo, "trans": trans, "diag": diag, "m": m,
                               "n": n, "lda": lda, "ldb": ldb}
    call, factor = Routine("trsm", letter, (m, n, lda, ldb), told), _alpha(letter)
    flags = SIDE[side], FILL[uplo], OP[trans], DIAG[diag]

    def trsm(alpha: Any, a: Any, b: Any) -> None:
        call(b.gpu, *flags, m, n, factor(alpha), a.address, lda, b.address, ldb)
    return trsm
