"""Products of the element types that BLAS lacks: checks, kernels, and the same by NumPy.

Sums of integers have the bits that the result has, and wrap. Floats of 8 and 16 bits are summed in
float32 and rounded once.
"""

from __future__ import annotations

import numpy as np

from ...cpu.integer_matmul import CHARS, MOST_AXES, NARROW, takes
from ...errors import DTypeError
from ...layout.matrix_operand import GemmSizes, MatmulForm, MatrixOperand
from ...layout.shapes import Ints
from ...layout.strided import Layout
from ...matrix.mat import Mat
from ...support.dtypes import HALVES, INTEGERS, conversion
from ...support.types import Array, Engine, Function, Number
from .blas_checks import GemmParts

OPERANDS = CHARS  # dtype characters; float32 may be the result of narrower floats
SUMMED_EXACTLY = "bB"  # integers of 8 bits
LONGEST = 1 << 15  # inner lengths for which sums of these fit into 32 bits, whatever they are
FACTORED = INTEGERS + HALVES + "f"  # the same with factors: there is no half of True
DEVICE_AXES = 8  # of what the device's kernel multiplies: it has as many leading axes at most


def has_integer_matmul(a: Mat, b: Mat, out: Mat) -> bool:
    """Return whether the kernels support the product of these operands into `out`."""
    return takes(a.element_type.char, b.element_type.char,
                 out.element_type.char) and out.layout.ndim <= MOST_AXES


def has_scaled_matmul(a: Mat, a_scales: Mat, b: Mat, b_scales: Mat, out: Mat) -> bool:
    """Return whether the host's kernel supports their product: matrices without overflow."""
    one, other = a.element_type.char, b.element_type.char
    exact = one in SUMMED_EXACTLY and other in SUMMED_EXACTLY and a.layout.shape[-1] <= LONGEST
    return out.layout.ndim == 2 and (exact or (one == other and one in NARROW))


def cublas_kind(one: str, other: str, result: str) -> str:
    """Return the types, as "e", "ef", "bi", of a product of cuBLAS besides BLAS's; else ""."""
    if one != other or not ((one in HALVES and result in (one, "f"))
                            or (one == "b" and result == "i")):
        return ""
    return one if result == one else one + result


def check_gemm(a: Mat, b: Mat, alpha: Number, beta: Number, c: Mat) -> None:
    """Raise unless `a` and `b` are of one dtype, `c` of that or a wider one, and factors fit."""
    one, other, out = a.element_type, b.element_type, c.element_type
    if (one != other or one.char not in FACTORED[:-1] or not takes(one.char, one.char, out.char)
            or not np.can_cast(one, out)):
        raise DTypeError("gemm takes one dtype for all, or for c a wider integer than integers, "
                         "or float32 for 16-bit floats; "
                         f"got {one}, {other} and {out}; {conversion(one, other, out)}")
    if out.kind in "iu":
        for name, value in (("alpha", alpha), ("beta", beta)):
            if value != int(value):
                raise DTypeError(f"{name} is {value!r}, which is no integer, as {out} requires; "
                                 f"convert the operands with astype('float64')")


def matmul_form(a: Mat, b: Mat, out: Mat, transpose_a: bool, transpose_b: bool) -> MatmulForm:
    """Return the product ``out = op(a) op(b)`` by NumPy's rule for vectors and stacks."""
    a_is_matrix, b_is_matrix = a.ndim > 1, b.ndim > 1
    axes = a_is_matrix + b_is_matrix
    batch = out.shape[:out.ndim - axes]
    row, column = a.element_strides[-2:] if a_is_matrix else (0, a.element_strides[0])
    left = MatrixOperand(a.dtype.char, row, column, batch_steps(a.layout, 1 + a_is_matrix, batch))
    right = stack_of(b, 1 + b_is_matrix, batch)
    result = MatrixOperand(out.dtype.char, out.element_strides[-axes] if a_is_matrix else 0,
                           out.element_strides[-1] if b_is_matrix else 0,
                           out.element_strides[:len(batch)])
    sizes = GemmSizes(out.shape[-axes] if a_is_matrix else 1, out.shape[-1] if b_is_matrix else 1,
                      a.shape[-2] if a_is_matrix and transpose_a else a.shape[-1])
    return MatmulForm(sizes, left.transpose(a_is_matrix and transpose_a),
                      right.transpose(b_is_matrix and transpose_b), result, batch)


def batch_steps(x: Layout, matrix_axes: int, batch: Ints) -> Ints:
    """Return the steps along the leading axes, 0 where a stack is broadcast along them."""
    own = len(x.shape) - matrix_axes
    found = (0 if n == 1 else s for n, s in zip(x.shape[:own], x.strides[:own], strict=True))
    return (0,) * (len(batch) - own) + tuple(found)


def stack_of(x: Mat, axes: int, batch: Ints) -> MatrixOperand:
    """Return steps of a stack of matrices, or of columns; 0 along `batch` if broadcast."""
    row, column = x.element_strides[-2:] if axes == 2 else (x.element_strides[-1], 0)
    return MatrixOperand(x.dtype.char, row, column, batch_steps(x.layout, axes, batch))


def prepare_integer_gemm(engine: Engine, operands: tuple[Mat, Mat, Mat],
                         transposes: tuple[bool, bool], parts: GemmParts) -> Function:
    """Prepare ``c <- alpha op(a) op(b) + beta c`` for parts of a, b and c."""
    a, _, c = operands
    left, right, out = (_operand(x, ld) for x, ld in zip(operands, parts.leading, strict=True))
    form = MatmulForm(parts.sizes(a, c, transposes[0]), left.transpose(transposes[0]),
                      right.transpose(transposes[1]), out)
    return engine.prepare_integer_matmul(form).kernel(True)


def _operand(x: Mat, ld: int | None) -> MatrixOperand:
    row, column = x.layout.strides if ld is None else (ld, 1)
    return MatrixOperand(x.element_type.char, row, column)


# The same by NumPy


def multiply(np: Engine, a: Array, b: Array, out: Array) -> None:
    """Compute ``out <- a b``, summed as the kernels do."""
    if not takes(a.dtype.char, b.dtype.char, out.dtype.char) or out.dtype.kind == "b":
        np.matmul(a, b, out=out, casting="same_kind")
    elif out.dtype.kind in "iu":
        np.matmul(a, b, out=out, dtype=out.dtype, casting="same_kind")
    else:
        out[...] = np.matmul(a.astype(np.float32), b.astype(np.float32))


def multiply_add(np: Engine, alpha: Number, a: Array, b: Array, beta: Number, c: Array) -> None:
    """Compute ``c <- alpha a b + beta c``, summed likewise; where beta is 0, c is not read."""
    if c.dtype.kind in "iu":
        product = np.matmul(a, b, dtype=c.dtype) * c.dtype.type(alpha)
        c[...] = product + c.dtype.type(beta) * c if beta != 0 else product
    else:
        product = np.matmul(a.astype(np.float32), b.astype(np.float32)) * np.float32(alpha)
        c[...] = product + np.float32(beta) * c.astype(np.float32) if beta != 0 else product
