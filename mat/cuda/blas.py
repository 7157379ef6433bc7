"""BLAS on the device: each verb as a function, prepared once for operands of one form.

Column-major, as cuBLAS has it; named as on the CPU (``cpu/blas_kernels.py``), with the same
arguments. A call looks nothing up: the routine and all lengths are settled. Only a call that
returns Python numbers waits for the device.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import NamedTuple, Protocol

from ..core.compiled import CublasProduct
from ..layout.matrix_operand import GemmForm, GemvForm, GerForm, SyrkForm, TrsmForm
from ..layout.shapes import Ints
from ..layout.strided import Layout
from ..support.blas_library import REAL, REALS, scalar
from ..support.dtypes import BY_CHAR, COMPLEX_TYPES
from ..support.types import Arguments, CData, Function, Number
from .cublas import HANDLES, LIMIT, ON_DEVICE, CublasRoutine, NotSupportedError, ffi
from .cublas_table import COMPUTE_32F, COMPUTE_32I, DATA, DIAG, FILL, GEMM_DEFAULT, OP, SIDE
from .gpu import Gpu
from .integer_matmul import prepare_scale
from .kernel import CudaKernel

COUNTS = 2**63 - 1  # how far it counts
SIZES = {char: t.size for char, t in BY_CHAR.items()}
# The products that cublasGemmEx sums in float32 or int32: types of operands and result.
EX = {"e": ("e", "e"), "E": ("E", "E"), "ef": ("e", "f"), "Ef": ("E", "f"), "bi": ("b", "i")}
_RESULTS = {char: f"{real}[{1 + (char in COMPLEX_TYPES)}]" for char, real in REAL.items()}


class DeviceOperand(Protocol):
    """An operand in the memory of a device."""

    @property
    def address(self) -> int: ...

    @property
    def gpu(self) -> Gpu: ...


def _alpha(letter: str) -> Function:
    """Return what makes a C element of a number, for a routine that takes its address."""
    known = REALS.get(letter)
    if known is None:
        return partial(scalar, letter)
    return lambda value: known[value] if value else scalar(letter, value)


def _beta(letter: str) -> Function:
    """Return the same for a factor; a 0 of either sign says that the result is not read."""
    known, zero = REALS.get(letter), scalar(letter, 0.0)
    if known is None:
        return lambda value: scalar(letter, value) if value else zero
    return lambda value: known[value] if value else zero


# Vectors


def vectors(verb: str, letter: str, n: int, steps: Ints, starts: Ints) -> Function:
    """Prepare ``verb`` of one or two vectors of `n` elements, `steps` apart.

    They begin `starts` elements from their operands.
    """
    if n == 0:
        return _of_nothing(verb, letter)
    lows = [(start + min(0, (n - 1) * step)) * SIZES[letter]
            for start, step in zip(starts, steps, strict=True)]
    if len(steps) == 1:
        return _one(verb, letter, n, abs(steps[0]), lows[0])
    reported: dict[str, object] = {"n": n, "incx": steps[0], "incy": steps[1]}
    call = CublasRoutine(verb, letter, (n, *steps), reported)
    (x_low, y_low), (incx, incy) = lows, steps
    if verb in ("dot", "vdot"):
        return _dot(call, letter, n, (x_low, incx), (y_low, incy))
    if verb == "axpy":
        factor = _alpha(letter)
        return lambda alpha, x, y: call(y.gpu, n, factor(alpha), x.address + x_low, incx,
                                        y.address + y_low, incy)
    # copy and swap
    return lambda x, y: call(y.gpu, n, x.address + x_low, incx, y.address + y_low, incy)


def _of_nothing(verb: str, letter: str) -> Function:
    """Return the verb for empty vectors: a sum of nothing is 0, and nothing is updated."""
    sums = {"dot": 0j if letter in COMPLEX_TYPES else 0.0, "nrm2": 0.0, "asum": 0.0}
    result = sums.get("dot" if verb == "vdot" else verb)
    return lambda *_: result


def _one(verb: str, letter: str, n: int, inc: int, low: int) -> Function:
    call = CublasRoutine(verb, letter, (n, inc), {"n": n, "incx": inc})
    if verb == "scal":
        factor = _alpha(letter)
        return lambda alpha, x: call(x.gpu, n, factor(alpha), x.address + low, inc)
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
    """Prepare ``out <- sum x_i y_i`` as a function of ``(x, y, out)``.

    The sum remains on the device: nothing waits for it.
    """
    reported: dict[str, object] = {"n": n, "incx": incx, "incy": incy}
    call = CublasRoutine("dot", letter, (n, incx, incy), reported, ON_DEVICE)

    def dot(x: DeviceOperand, y: DeviceOperand, out: DeviceOperand) -> None:
        call(out.gpu, n, x.address, incx, y.address, incy, ffi.cast("void *", out.address))
    return dot


# A matrix and vectors


def _lowest(letter: str, x: Layout) -> tuple[int, int]:
    """Return where a vector begins in memory, in bytes from its first element, and its step."""
    assert x.vector is not None, "fits has let it through"
    return (x.vector[0] - x.displacement) * SIZES[letter], x.vector[1]


def prepare_gemv(letter: str, form: GemvForm, x: Layout, y: Layout) -> Function:
    """Prepare ``y <- alpha op(A) x + beta y`` for vectors of the layouts `x` and `y`.

    The result is a function of ``(alpha, a, x, beta, y)``.
    """
    trans, m, n, lda = form
    (x_low, incx), (y_low, incy) = _lowest(letter, x), _lowest(letter, y)
    reported: dict[str, object] = {**form._asdict(), "incx": incx, "incy": incy}
    call = CublasRoutine("gemv", letter, (m, n, lda, incx, incy), reported)
    alpha_of, beta_of, op = _alpha(letter), _beta(letter), OP[trans]

    def gemv(alpha: Number, a: DeviceOperand, x: DeviceOperand, beta: Number,
             y: DeviceOperand) -> None:
        call(y.gpu, op, m, n, alpha_of(alpha), a.address, lda, x.address + x_low, incx,
             beta_of(beta), y.address + y_low, incy)
    return gemv


def prepare_scale_vector(letter: str, layout: Layout) -> CudaKernel:
    """Prepare ``y <- beta y`` for a vector of that layout, called like `prepare_gemv`'s."""
    assert layout.vector is not None, "fits has let it through"
    return prepare_scale(letter, (layout.size,), (layout.vector[1],), at=2,
                         number=1).bind((1, 2, 4), (0, 3))


def prepare_ger(letter: str, form: GerForm, x: Layout, y: Layout) -> Function:
    """Prepare ``A <- alpha x y^T + A`` as a function of ``(alpha, x, y, a)``."""
    m, n, lda, swap = form
    (x_low, incx), (y_low, incy) = _lowest(letter, x), _lowest(letter, y)
    reported: dict[str, object] = {"m": m, "n": n, "lda": lda, "incx": incy if swap else incx,
                                   "incy": incx if swap else incy}
    call, factor = CublasRoutine("ger", letter, (m, n, lda, incx, incy), reported), _alpha(letter)

    def ger(alpha: Number, x: DeviceOperand, y: DeviceOperand, a: DeviceOperand) -> None:
        if swap:
            call(a.gpu, m, n, factor(alpha), y.address + y_low, incy, x.address + x_low, incx,
                 a.address, lda)
        else:
            call(a.gpu, m, n, factor(alpha), x.address + x_low, incx, y.address + y_low, incy,
                 a.address, lda)
    return ger


# Matrices


class Stack(NamedTuple):
    """The number of products of a call, and the steps from one matrix of a, b and c to the next."""

    matrices: int
    step_a: int
    step_b: int
    step_c: int


def prepare_gemm(kind: str, form: GemmForm) -> Function:
    """Prepare ``C <- alpha op(A) op(B) + beta C`` as a function of ``(alpha, a, b, beta, c)``.

    `kind` is a dtype character that BLAS knows, or one of `EX`; then `NotSupportedError` says that
    cuBLAS does not have it for such operands.
    """
    return _gemm(kind, form, None)


def prepare_gemm_batched(kind: str, form: GemmForm, batch: Ints,
                         steps: tuple[Ints, Ints, Ints]) -> Function:
    """Prepare the same for stacks with leading axes of the lengths `batch`.

    `steps` are those of a, b and c along them. The longest axis along which all of them go up is
    one call; the others are loops.
    """
    if not form.sizes.k:
        # there is nothing to step to in a and b
        steps = (0,) * len(batch), (0,) * len(batch), steps[2]
    upwards = [d for d in range(len(batch)) if all(s[d] >= 0 for s in steps)]
    along = max(upwards, key=lambda d: batch[d], default=None)
    stack = None if along is None else Stack(batch[along], *(s[along] for s in steps))
    one = _gemm(kind, form, stack)
    others = [d for d in range(len(batch)) if d != along]
    if not others:
        return one
    operand, result = (SIZES[x] for x in EX.get(kind, (kind, kind)))
    sizes = operand, operand, result
    starts = [[size * sum(i * s[d] for i, d in zip(index, others, strict=True))
               for s, size in zip(steps, sizes, strict=True)]
              for index in product(*(range(batch[d]) for d in others))]

    def each(alpha: Number, a: DeviceOperand, b: DeviceOperand, beta: Number,
             c: DeviceOperand) -> None:
        for a_start, b_start, c_start in starts:
            one(alpha, _Shifted(a, a_start), _Shifted(b, b_start), beta, _Shifted(c, c_start))
    return each


class _Shifted:
    """An operand, some bytes further on."""

    __slots__ = ("address", "gpu")

    def __init__(self, whole: DeviceOperand, offset: int) -> None:
        self.address = whole.address + offset
        self.gpu = whole.gpu


def _gemm(kind: str, form: GemmForm, stack: Stack | None) -> Function:
    """Prepare a product, or a stack of them."""
    sizes, leading = form.sizes, form.leading
    if not sizes.k:
        if kind in EX:
            raise NotSupportedError(f"{kind}: an empty axis")
        count, step = (1, 0) if stack is None else (stack.matrices, stack.step_c)
        return _scaled(kind, (count, sizes.n, sizes.m), (step, leading[2], 1))
    if kind in EX:
        return _gemm_ex(kind, form, stack)
    if stack is not None:
        return _gemm_strided(kind, form, stack)
    return _Product(kind, form)


class _Product:
    """``C <- alpha op(A) op(B) + beta C`` for operands of one form."""

    numbers = 0, 3  # the positions of alpha and beta in a call

    def __init__(self, letter: str, form: GemmForm) -> None:
        self.call = CublasRoutine("gemm", letter, (*form.sizes, *form.leading), form.reported())
        self.ops = OP[form.trans_a], OP[form.trans_b]
        self.letter, self.form = letter, form
        self.alpha_of, self.beta_of = _alpha(letter), _beta(letter)

    # the parameters are those of the operation
    def __call__(self, alpha: Number, a: DeviceOperand, b: DeviceOperand, beta: Number,
                 c: DeviceOperand) -> None:
        first, second = (b, a) if self.form.swap else (a, b)
        self.call(c.gpu, *self._arguments(alpha, first.address, second.address, beta, c.address))

    def _arguments(self, alpha: Number, a: int, b: int, beta: Number, c: int) -> Arguments:
        lda, ldb, ldc = self.form.leading
        return (*self.ops, *self.form.sizes, self.alpha_of(alpha), a, lda, b, ldb,
                self.beta_of(beta), c, ldc)

    def launch_like(self, values: Arguments) -> CublasProduct | None:
        """Return the compiled call of a product like that of `values`; None if there is none."""
        if self.call.long or CublasProduct is None:
            return None
        gpu: Gpu = values[4].gpu
        handle = HANDLES[gpu]
        form, address = self.form, int(ffi.cast("uintptr_t", self.call.function))
        made = CublasProduct(address, int(handle), handle.lock, self.ops, tuple(form.sizes),
                             form.leading, form.swap, self.letter in "fF")

        def failed(status: int, alpha: complex, a: int, b: int, beta: complex, c: int) -> None:
            factors = (alpha, beta) if self.letter in COMPLEX_TYPES else (alpha.real, beta.real)
            arguments = self._arguments(factors[0], a, b, factors[1], c)
            if status < 0:  # the context could not be made current, so nothing was called
                self.call(gpu, *arguments)
                return
            with gpu.current():
                self.call.again(status, gpu, arguments)

        return gpu.in_context(made, failed)


def _gemm_strided(letter: str, form: GemmForm, stack: Stack) -> Function:
    trans_a, trans_b, sizes, (lda, ldb, ldc), swap = form
    call = CublasRoutine("gemmStridedBatched", letter, (*sizes, *form.leading, *stack),
                   {**form.reported(), "count": stack.matrices})
    ops, alpha_of, beta_of = (OP[trans_a], OP[trans_b], *sizes), _alpha(letter), _beta(letter)
    count, step_a, step_b, step_c = stack
    if swap:
        step_a, step_b = step_b, step_a

    def gemms(alpha: Number, a: DeviceOperand, b: DeviceOperand, beta: Number,
              c: DeviceOperand) -> None:
        if swap:
            a, b = b, a
        call(c.gpu, *ops, alpha_of(alpha), a.address, lda, step_a, b.address, ldb, step_b,
             beta_of(beta), c.address, ldc, step_c, count)
    return gemms


def _scaled(letter: str, shape: Ints, strides: Ints) -> CudaKernel:
    """Prepare what is left of a product over an empty axis, called like a product."""
    return prepare_scale(letter, shape, strides, at=2, number=1).bind((1, 2, 4), (0, 3))


class _Ex(NamedTuple):
    """The types that cublasGemmEx is given."""

    letter: str  # of the factors
    types: tuple[int, int]
    compute: int
    align: int  # of addresses and leading dimensions, in bytes


def _ex(kind: str) -> _Ex:
    one, out = EX[kind]
    types = DATA[one], DATA[out]
    return _Ex("i", types, COMPUTE_32I, 4) if one == "b" else _Ex("f", types, COMPUTE_32F, 1)


def _int32(value: Number) -> CData:
    """Return a factor of integers in the 32 bits that the result has."""
    return ffi.new("int32_t *", (int(value) + (1 << 31)) % (1 << 32) - (1 << 31))


def _gemm_ex(kind: str, form: GemmForm, stack: Stack | None) -> Function:
    """Prepare a product, or a stack of them, of the kinds in `EX`."""
    trans_a, trans_b, sizes, (lda, ldb, ldc), swap = form
    letter, (one, out), compute, align = _ex(kind)
    if any(step % align for step in (lda, ldb)) or (stack is not None
                                                    and any(s % align for s in stack[1:3])):
        raise NotSupportedError(f"{kind}: leading dimensions {lda} and {ldb}")
    reported = {**form.reported(), **({} if stack is None else {"count": stack.matrices}),
                "kind": kind}
    factor = _int32 if letter == "i" else _beta(letter)
    call = CublasRoutine("GemmEx" if stack is None else "GemmStridedBatchedEx", "",
                   (*sizes, *form.leading, *(stack or ())), reported)
    ops = OP[trans_a], OP[trans_b], *sizes
    count, step_a, step_b, step_c = ((), (), (), ()) if stack is None else ((s,) for s in stack)
    if swap:
        step_a, step_b = step_b, step_a

    def gemm(alpha: Number, a: DeviceOperand, b: DeviceOperand, beta: Number,
             c: DeviceOperand) -> None:
        if swap:
            a, b = b, a
        if (a.address | b.address) % align:
            raise NotSupportedError(f"{kind}: operands at {a.address:#x} and {b.address:#x}")
        call(c.gpu, *ops, factor(alpha), a.address, one, lda, *step_a, b.address, one, ldb, *step_b,
             factor(beta), c.address, out, ldc, *step_c, *count, compute, GEMM_DEFAULT)
    return gemm


def prepare_either(make: Function, otherwise: Function) -> Function:
    """Return the function that `make` makes.

    Where, or as soon as, cuBLAS does not support that, `otherwise` takes its place.
    """
    try:
        preferred = make()
    except NotSupportedError:
        return otherwise

    def either(*values: object) -> None:
        try:
            preferred(*values)
        except NotSupportedError:
            otherwise(*values)
    return either


def prepare_syrk(letter: str, form: SyrkForm) -> Function:
    """Prepare ``C <- alpha A A^T + beta C`` (``trans`` T: ``A^T A``) in one triangle of C.

    The result is a function of ``(alpha, a, beta, c)``.
    """
    uplo, trans, n, k, lda, ldc = form
    if not k:
        triangle = 1 if uplo == "L" else -1  # the columns of C are the first axis here
        return prepare_scale(letter, (n, n), (ldc, 1), at=1, number=1,
                             triangle=triangle).bind((1, 3), (0, 2))
    call = CublasRoutine("syrk", letter, (n, k, lda, ldc), form._asdict())
    alpha_of, beta_of, fill, op = _alpha(letter), _beta(letter), FILL[uplo], OP[trans]

    def syrk(alpha: Number, a: DeviceOperand, beta: Number, c: DeviceOperand) -> None:
        call(c.gpu, fill, op, n, k, alpha_of(alpha), a.address, lda, beta_of(beta), c.address, ldc)
    return syrk


def prepare_trsm(letter: str, form: TrsmForm) -> Function:
    """Prepare ``B <- alpha op(A)^-1 B`` (side R: ``B op(A)^-1``) with a triangular A.

    The result is a function of ``(alpha, a, b)``.
    """
    side, uplo, trans, diag, m, n, lda, ldb = form
    call, factor = CublasRoutine("trsm", letter, (m, n, lda, ldb), form._asdict()), _alpha(letter)
    flags = SIDE[side], FILL[uplo], OP[trans], DIAG[diag]

    def trsm(alpha: Number, a: DeviceOperand, b: DeviceOperand) -> None:
        call(b.gpu, *flags, m, n, factor(alpha), a.address, lda, b.address, ldb)
    return trsm
