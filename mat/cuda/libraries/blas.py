"""BLAS on the device: each verb as a function, prepared once for operands of one form,
column-major, with the names and arguments of the CPU's (``cpu/blas_kernels.py``).

A call looks nothing up: the routine and all lengths are settled. After the first call of a product,
compiled code calls cuBLAS by the address of its function. Only a call that returns Python numbers
waits for the device.
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

from ...core.compiled import (
    CublasCall,
    CublasProduct,
    CublasScale,
    CublasTypedProduct,
    CublasUpdate,
    CublasVectorProduct,
)
from ...layout.matrix_operand import GemmForm, GemvForm, GerForm, SyrkForm, TrsmForm
from ...layout.shapes import Ints
from ...layout.strided import Layout
from ...support.blas_library import REAL
from ...support.dtypes import BY_CHAR, COMPLEX_TYPES
from ...support.options import float32_products
from ...support.types import Arguments, Function, Number
from ..kernels.elementwise import prepare_axpy
from ..kernels.integer_matmul import prepare_scale
from ..runtime.blocks import At
from ..runtime.gpu import Gpu
from ..runtime.kernel import CudaKernel
from . import cublas_table as table
from .cublas import (
    HANDLES,
    LIMIT,
    ON_DEVICE,
    SIZES,
    CublasRoutine,
    DeviceOperand,
    NotSupportedError,
    alpha_of,
    areas,
    beta_of,
    ffi,
    lowest,
)

# The products that cublasGemmEx sums in float32 or int32: types of operands and result.
EX = {"e": ("e", "e"), "E": ("E", "E"), "ef": ("e", "f"), "Ef": ("E", "f"), "bi": ("b", "i")}


class FactoredCall:
    """A verb of cuBLAS with factors, for operands of one form."""

    numbers: Ints = ()  # the positions of the factors in a call
    compiled: Any = None  # the class of compiled calls; None if there are none for these operands

    def __init__(self, call: CublasRoutine, letter: str, swap: bool, constants: Ints,
                 offsets: Ints = (0, 0, 0)) -> None:
        self.call: CublasRoutine = call
        self.letter: str = letter  # of the factors
        self.swap: bool = swap  # b is cuBLAS's first operand
        self.constants: Ints = constants  # of a compiled call
        self.offsets: Ints = offsets  # where operands begin, in bytes after their addresses
        self.alpha_of: Function = alpha_of(letter)
        self.beta_of: Function = beta_of(letter)

    def arguments(self, alpha: Number, a: int, b: int, beta: Number, c: int) -> Arguments:
        """Return the arguments of the function but the handle; a and b are in its order."""
        raise NotImplementedError

    def launch_like(self, values: Arguments,
                    otherwise: Function | None = None) -> CublasCall | None:
        """Return the compiled call of one like that of `values`; None if there is none.

        `otherwise` is called in its place if cuBLAS does not support it.
        """
        return self.launch(values[-1].gpu, self.swap, None, otherwise)

    def launch(self, gpu: Gpu, swap: bool, factors: tuple[float, float] | None,
               otherwise: Function | None) -> CublasCall | None:
        """Return the compiled call, with given factors or those of each call."""
        if self.compiled is None or self.call.long:
            return None
        handle, address = HANDLES[gpu], int(ffi.cast("uintptr_t", self.call.function))
        made = self.compiled(address, int(handle), handle.lock, self.constants, self.offsets)
        made.use_factors(self.letter in "fF", swap, factors)

        def failed(status: int, alpha: complex, a: int, b: int, beta: complex, c: int) -> None:
            numbers = (alpha, beta) if self.letter in COMPLEX_TYPES else (alpha.real, beta.real)
            try:
                self._again(status, gpu, self.arguments(numbers[0], a, b, numbers[1], c))
            except NotSupportedError:
                if otherwise is None:
                    raise
                x, y, z = (At(gpu, address) for address in ((b, a, c) if swap else (a, b, c)))
                otherwise(*((numbers[0], x, y, numbers[1], z) if factors is None else (x, y, z)))

        return gpu.in_context(made, failed)

    def _again(self, status: int, gpu: Gpu, arguments: Arguments) -> None:
        """Call once more, or raise; with a negative status, of the context, nothing was called."""
        if status < 0:
            self.call(gpu, *arguments)
            return
        with gpu.current():
            self.call.again(status, gpu, arguments)


class FactoredProduct(FactoredCall):
    """``C <- alpha A B + beta C``, called with ``(alpha, a, b, beta, c)``."""

    numbers = (0, 3)

    def __call__(self, alpha: Number, a: DeviceOperand, b: DeviceOperand, beta: Number,
                 c: DeviceOperand) -> None:
        first, second = (b, a) if self.swap else (a, b)
        self.call(c.gpu, *self.arguments(alpha, first.address, second.address, beta, c.address))

    def without_factors(self, swap: bool) -> Function:
        """Return ``C <- A B``, a function of ``(a, b, c)``; with `swap` its first operand is b."""
        return PlainProduct(self, swap)


class PlainProduct:
    """``C <- A B`` by a product with factors."""

    numbers = ()

    def __init__(self, product: FactoredProduct, swap: bool) -> None:
        self.product: FactoredProduct = product
        self.swap: bool = swap

    def __call__(self, a: DeviceOperand, b: DeviceOperand, c: DeviceOperand) -> None:
        if self.swap:
            a, b = b, a
        self.product(1.0, a, b, 0.0, c)

    def launch_like(self, values: Arguments,
                    otherwise: Function | None = None) -> CublasCall | None:
        """Return the compiled call, as `FactoredCall` does."""
        swap = self.product.swap != self.swap
        return self.product.launch(values[-1].gpu, swap, (1.0, 0.0), otherwise)


class Either:
    """A product by cuBLAS; where, or as soon as, that does not support it, `otherwise`."""

    def __init__(self, preferred: Function, otherwise: Function) -> None:
        self.preferred: Any = preferred
        self.otherwise: Function = otherwise
        self.numbers: Ints = getattr(preferred, "numbers", ())

    def __call__(self, *values: object) -> None:
        try:
            self.preferred(*values)
        except NotSupportedError:
            self.otherwise(*values)

    def launch_like(self, values: Arguments) -> CublasCall | None:
        """Return the compiled call of the product by cuBLAS, if there is one."""
        prepare = getattr(self.preferred, "launch_like", None)
        return None if prepare is None else prepare(values, self.otherwise)


def prepare_either(make: Function, otherwise: Function) -> Function:
    """Return the product that `make` makes, or `otherwise` if cuBLAS does not support it."""
    try:
        return Either(make(), otherwise)
    except NotSupportedError:
        return otherwise


# A matrix and a vector


class _VectorProduct(FactoredProduct):
    """``y <- alpha op(A) x + beta y``."""

    compiled = CublasVectorProduct

    def arguments(self, alpha: Number, a: int, b: int, beta: Number, c: int) -> Arguments:
        op, m, n, lda, incx, incy = self.constants
        _, x_low, y_low = self.offsets
        return (op, m, n, self.alpha_of(alpha), a, lda, b + x_low, incx, self.beta_of(beta),
                c + y_low, incy)


def prepare_gemv(letter: str, form: GemvForm, x: Layout, y: Layout) -> FactoredProduct:
    """Prepare ``y <- alpha op(A) x + beta y``, called with ``(alpha, a, x, beta, y)``."""
    trans, m, n, lda = form
    (x_low, incx), (y_low, incy) = lowest(letter, x), lowest(letter, y)
    reported: dict[str, object] = {**form._asdict(), "incx": incx, "incy": incy}
    call = CublasRoutine("gemv", letter, (m, n, lda, incx, incy), reported)
    return _VectorProduct(call, letter, False, (table.OP[trans], m, n, lda, incx, incy),
                          (0, x_low, y_low))


def prepare_scale_vector(letter: str, layout: Layout) -> CudaKernel:
    """Prepare ``y <- beta y`` for a vector of that layout, called like `prepare_gemv`'s."""
    assert layout.vector is not None, "fits has let it through"
    return _scaled(letter, (layout.size,), (layout.vector[1],))


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
        x, y, z = (At(operand.gpu, operand.address) for operand in (a, b, c))
        for a_start, b_start, c_start in starts:
            one(alpha, x.after(a_start), y.after(b_start), beta, z.after(c_start))
    return each


def _gemm(kind: str, form: GemmForm, stack: Stack | None) -> Function:
    sizes, leading = form.sizes, form.leading
    if not sizes.k:
        if kind in EX:
            raise NotSupportedError(f"{kind}: an empty axis")
        count, step = (1, 0) if stack is None else (stack.matrices, stack.step_c)
        return _scaled(kind, (count, sizes.n, sizes.m), (step, leading[2], 1))
    if kind in EX or (kind == "f" and float32_products() != "ieee"):
        return _TypedProduct(kind, form, stack)
    return _Gemm(kind, form, stack)


def _sizes(form: GemmForm) -> Ints:
    """Return the operations, m, n, k, and leading dimensions."""
    return (table.OP[form.trans_a], table.OP[form.trans_b], *form.sizes, *form.leading)


def _steps(form: GemmForm, stack: Stack | None) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the steps of cuBLAS's operands, and the count, as arguments: none without a stack."""
    if stack is None:
        return (), (), (), ()
    count, a, b, c = stack
    return ((b,), (a,), (c,), (count,)) if form.swap else ((a,), (b,), (c,), (count,))


class _Gemm(FactoredProduct):
    """A product, or products of two stacks, of elements of a dtype that BLAS knows."""

    def __init__(self, letter: str, form: GemmForm, stack: Stack | None) -> None:
        if stack is None:
            self.compiled = CublasProduct
        count = {} if stack is None else {"count": stack.matrices}
        call = CublasRoutine("gemm" if stack is None else "gemmStridedBatched", letter,
                             (*form.sizes, *form.leading, *(stack or ())),
                             {**form.reported(), **count})
        super().__init__(call, letter, form.swap, _sizes(form))
        self.steps: tuple[Ints, Ints, Ints, Ints] = _steps(form, stack)

    def arguments(self, alpha: Number, a: int, b: int, beta: Number, c: int) -> Arguments:
        *sizes, lda, ldb, ldc = self.constants
        step_a, step_b, step_c, count = self.steps
        return (*sizes, self.alpha_of(alpha), a, lda, *step_a, b, ldb, *step_b, self.beta_of(beta),
                c, ldc, *step_c, *count)


def _scaled(letter: str, shape: Ints, strides: Ints) -> CudaKernel:
    """Prepare the scaling that remains of a product over an empty axis, called like a product."""
    return prepare_scale(letter, shape, strides, at=2, number=1).bind((1, 2, 4), (0, 3))


class _Ex(NamedTuple):
    """The types that cublasGemmEx is given."""

    letter: str  # of the factors
    types: tuple[int, int]
    compute: int
    align: int  # of addresses and leading dimensions, in bytes


def _ex(kind: str) -> _Ex:
    one, out = EX.get(kind, (kind, kind))
    types = table.DATA[one], table.DATA[out]
    if one == "b":
        return _Ex("i", types, table.COMPUTE_32I, 4)
    compute = table.COMPUTE_FLOAT32[float32_products()] if one == "f" else table.COMPUTE_32F
    return _Ex("f", types, compute, 1)


class _TypedProduct(FactoredProduct):
    """A product, or a stack, whose types are arguments: those in `EX`, and inexact float32."""

    def __init__(self, kind: str, form: GemmForm, stack: Stack | None) -> None:
        letter, types, compute, align = _ex(kind)
        self.kind, self.align, self.compute = kind, align, compute
        self.types: tuple[int, int] = types
        if any(step % align for step in (*form.leading[:2], *(stack or ())[1:3])):
            raise NotSupportedError(f"{kind}: leading dimensions {form.leading[:2]}")
        if stack is None and letter == "f":
            self.compiled = CublasTypedProduct
        count = {} if stack is None else {"count": stack.matrices}
        call = CublasRoutine("GemmEx" if stack is None else "GemmStridedBatchedEx", "",
                             (*form.sizes, *form.leading, *(stack or ())),
                             {**form.reported(), **count, "kind": kind})
        super().__init__(call, letter, form.swap,
                         (*_sizes(form), *types, compute, table.GEMM_DEFAULT))
        self.steps: tuple[Ints, Ints, Ints, Ints] = _steps(form, stack)

    def arguments(self, alpha: Number, a: int, b: int, beta: Number, c: int) -> Arguments:
        if (a | b) % self.align:
            raise NotSupportedError(f"{self.kind}: operands at {a:#x} and {b:#x}")
        *sizes, lda, ldb, ldc, one, out, compute, algorithm = self.constants
        step_a, step_b, step_c, count = self.steps
        return (*sizes, self.alpha_of(alpha), a, one, lda, *step_a, b, one, ldb, *step_b,
                self.beta_of(beta), c, out, ldc, *step_c, *count, compute, algorithm)


# Products in steps


class ThroughWider:
    """``out <- a b`` by a product of the converted a and b, which need `sizes` bytes."""

    def __init__(self, converts: tuple[Function, Function], sizes: tuple[int, int],
                 product: Function) -> None:
        self.converts, self.sizes, self.product = converts, sizes, product

    def __call__(self, a: DeviceOperand, b: DeviceOperand, out: DeviceOperand) -> None:
        with areas(out.gpu, *self.sizes) as (one, other):
            for convert, x, wider in zip(self.converts, (a, b), (one, other), strict=True):
                convert(x, wider)
            self.product(one, other, out)


class ScaledSums:
    """``out <- (a b) * a_scales * b_scales``: a product, whose sums `scale` multiplies.

    They are where the result is, or with `room` in so many bytes of their own.
    """

    def __init__(self, product: Function, scale: Function, room: int = 0) -> None:
        self.product, self.scale, self.room = product, scale, room

    def __call__(self, a: DeviceOperand, a_scales: DeviceOperand, b: DeviceOperand,
                 b_scales: DeviceOperand, out: DeviceOperand) -> None:
        if not self.room:
            self.product(a, b, out)
            self.scale(out, a_scales, b_scales, out)
            return
        with areas(out.gpu, self.room) as (sums,):
            self.product(a, b, sums)
            self.scale(sums, a_scales, b_scales, out)


class ScalingProduct:
    """The same by a product that takes scales, after its operands and the result."""

    def __init__(self, product: Function) -> None:
        self.product = product

    def __call__(self, a: DeviceOperand, a_scales: DeviceOperand, b: DeviceOperand,
                 b_scales: DeviceOperand, out: DeviceOperand) -> None:
        self.product(a, b, out, a_scales, b_scales)


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
    first, second = alpha_of(letter), beta_of(letter)
    fill, op = table.FILL[uplo], table.OP[trans]

    def syrk(alpha: Number, a: DeviceOperand, beta: Number, c: DeviceOperand) -> None:
        call(c.gpu, fill, op, n, k, first(alpha), a.address, lda, second(beta), c.address, ldc)
    return syrk


def prepare_trsm(letter: str, form: TrsmForm) -> Function:
    """Prepare ``B <- alpha op(A)^-1 B``, or for side R ``B op(A)^-1``, of ``(alpha, a, b)``."""
    side, uplo, trans, diag, m, n, lda, ldb = form
    call, factor = CublasRoutine("trsm", letter, (m, n, lda, ldb), form._asdict()), alpha_of(letter)
    flags = table.SIDE[side], table.FILL[uplo], table.OP[trans], table.DIAG[diag]

    def trsm(alpha: Number, a: DeviceOperand, b: DeviceOperand) -> None:
        call(b.gpu, *flags, m, n, factor(alpha), a.address, lda, b.address, ldb)
    return trsm
