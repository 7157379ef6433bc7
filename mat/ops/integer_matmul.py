"""Products of the element types that BLAS lacks: which there are, what our kernel is told of them,
and how NumPy does them.

Sums of integers have the bits that the result has, and wrap. 16-bit floats are summed in float32
and rounded once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..cpu.integer_matmul import CHARS, MOST_AXES, MatrixOperand, takes
from ..errors import DTypeError
from ..layout.strided import Ints
from ..matrix.mat import Mat
from ..support.dtypes import HALVES, INTEGERS

UNBLAS = CHARS  # the dtype characters of operands: float32 may be the result of 16-bit floats
DEVICE_AXES = 8  # of what the device's kernel multiplies: it has as many leading axes at most
FACTORED = INTEGERS + HALVES + "f"  # the same with factors: there is no half of True


def has_product(a: Mat, b: Mat, out: Mat) -> bool:
    """Whether our kernel has the product of these operands into `out`."""
    return takes(a.storage.dtype.char, b.storage.dtype.char,
                 out.storage.dtype.char) and out.layout.ndim <= MOST_AXES


def kind_of(a: Mat, b: Mat, out: Mat) -> str:
    """The types of what cuBLAS has, besides BLAS's: "e", "ef", "bi" and so on, of operands and of
    another result; else "".
    """
    one, other, result = (x.storage.dtype.char for x in (a, b, out))
    if one != other or not ((one in HALVES and result in (one, "f"))
                            or (one == "b" and result == "i")):
        return ""
    return one if result == one else one + result


def check_gemm(a: Mat, b: Mat, alpha: Any, beta: Any, c: Mat) -> None:
    """`DTypeError` unless `a` and `b` are of one dtype, `c` is of that or a wider one, and can take
    the factors.
    """
    one, other, out = a.storage.dtype, b.storage.dtype, c.storage.dtype
    if one != other or one.char not in FACTORED[:-1] or not takes(one.char, one.char,
                                                                  out.char) or not np.can_cast(one, out):
        raise DTypeError("gemm takes one dtype for all, or for c a wider integer than integers, "
                         "or float32 for 16-bit floats; "
                         f"got {one}, {other} and {out}; convert with x.astype(dtype)")
    if out.kind in "iu":
        for name, value in (("alpha", alpha), ("beta", beta)):
            if value != int(value):
                raise DTypeError(f"{name} is {value!r}, which is no integer, as {out} wants; "
                                 f"convert the operands with astype('float64')")


def _batch(x: Mat, matrix_axes: int, batch: Ints) -> Ints:
    """Steps along the leading axes, 0 where `x` is broadcast along them."""
    shape, strides = x.layout.shape, x.layout.strides
    own = len(shape) - matrix_axes
    found = (0 if n == 1 else s for n, s in zip(shape[:own], strides[:own], strict=True))
    return (0,) * (len(batch) - own) + tuple(found)


class Stack(NamedTuple):
    """A product of stacks: its sizes, how the operands lie with transposes applied, and the lengths
    of the leading axes.
    """

    m: int
    n: int
    k: int
    left: MatrixOperand
    right: MatrixOperand
    out: MatrixOperand
    batch: Ints


def stack_of(a: Mat, b: Mat, out: Mat, transpose_a: bool, transpose_b: bool) -> Stack:
    """What ``out = op(a) op(b)`` is by NumPy's rule for vectors and stacks."""
    high, wide = a.ndim > 1, b.ndim > 1
    axes = high + wide
    batch = out.shape[:out.ndim - axes]
    row, column = a.strides[-2:] if high else (0, a.strides[0])
    left = MatrixOperand(a.dtype.char, row, column, _batch(a, 1 + high, batch))
    row, column = b.strides[-2:] if wide else (b.strides[0], 0)
    right = MatrixOperand(b.dtype.char, row, column, _batch(b, 1 + wide, batch))
    result = MatrixOperand(out.dtype.char, out.strides[-axes] if high else 0,
                           out.strides[-1] if wide else 0, out.strides[:len(batch)])
    m, n = out.shape[-axes] if high else 1, out.shape[-1] if wide else 1
    k = a.shape[-2] if high and transpose_a else a.shape[-1]
    return Stack(m, n, k, left.turned if high and transpose_a else left,
                 right.turned if wide and transpose_b else right,
                 result, batch)


def prepare_product(cpu: Any, a: Mat, b: Mat, out: Mat, transpose_a: bool,
                    transpose_b: bool) -> Any:
    """What computes ``out = op(a) op(b)`` by NumPy's rule for vectors and stacks."""
    m, n, k, left, right, result, batch = stack_of(a, b, out, transpose_a, transpose_b)
    return cpu.prepare_product(m, n, k, left, right, result, batch).kernel(False)


def prepare_gemm(cpu: Any, sizes: Ints, a: Mat, b: Mat, c: Mat, transpose_a: bool,
                 transpose_b: bool,
                 leading: tuple[int | None, int | None, int | None]) -> Any:
    """What computes ``c = alpha op(a) op(b) + beta c`` of so many rows, columns and inner
    elements.
    """
    left, right, out = (_lies(x, ld) for x, ld in zip((a, b, c), leading, strict=True))
    left, right = left.turned if transpose_a else left, right.turned if transpose_b else right
    return cpu.prepare_product(*sizes, left, right, out).kernel(True)


def _lies(x: Mat, ld: int | None) -> MatrixOperand:
    row, column = x.layout.strides if ld is None else (ld, 1)
    return MatrixOperand(x.storage.dtype.char, row, column)


# The same by NumPy


def multiply(np: Any, a: Any, b: Any, out: Any) -> None:
    """``out = a b``, summed as our kernel does."""
    if not takes(a.dtype.char, b.dtype.char, out.dtype.char) or out.dtype.kind == "b":
        np.matmul(a, b, out=out, casting="same_kind")
    elif out.dtype.kind in "iu":
        np.matmul(a, b, out=out, dtype=out.dtype, casting="same_kind")
    else:
        out[...] = np.matmul(a.astype(np.float32), b.astype(np.float32))


def multiply_add(np: Any, alpha: Any, a: Any, b: Any, beta: Any, c: Any) -> None:
    """``c = alpha a b + beta c``, likewise; where beta is 0, c is not read."""
    if c.dtype.kind in "iu":
        product = np.matmul(a, b, dtype=c.dtype) * c.dtype.type(alpha)
        c[...] = product + c.dtype.type(beta) * c if beta != 0 else product
    else:
        product = np.matmul(a.astype(np.float32), b.astype(np.float32)) * np.float32(alpha)
        c[...] = product + np.float32(beta) * c.astype(np.float32) if beta != 0 else product
