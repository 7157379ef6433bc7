"""The matrix product with NumPy's name and rules: through BLAS without copies, or for the element
types that BLAS lacks by kernels, and the same by NumPy.

Sums of integers have the bits that the result has, and wrap. Floats of 8 and 16 bits are summed in
float32 and rounded once.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from math import prod

import numpy as np

from ...core.compiled import IN_USE
from ...cpu.integer_matmul import CHARS, MOST_AXES, NARROW, takes
from ...devices.in_use import has_kernels
from ...errors import DTypeError, ShapeError
from ...layout.matrix_operand import GemmSizes, MatmulForm, MatrixOperand
from ...layout.shapes import Ints, broadcast_shapes
from ...layout.strided import Layout
from ...matrix.mat import Mat
from ...matrix.methods import bind
from ...support import blas_library
from ...support.dtypes import BLAS_TYPES as BLAS
from ...support.dtypes import HALVES, INTEGERS, conversion, promoted
from ...support.native import compiled
from ...support.plugins import plugin
from ...support.types import Arguments, Array, Engine, Function, Keywords, Number, Operand
from ..engine.by_numpy import call_by_numpy
from ..engine.functions import check_is_mat, of_matrices
from ..engine.operands import (
    as_operand,
    decides,
    is_foreign,
    is_operand,
    keeps_its_class,
    numpy_gives,
    of_arrays,
)
from ..engine.operation import Input, Output, named, op
from ..tiles.overlap import apart_from, check_disjoint, overlap
from ..tiles.tile import Tile
from . import rowmajor
from .blas_checks import check_bool
from .rowmajor import BlasEngine, do_nothing, fits_matrices, fits_operand

THIN = 8  # multiplications for each element of a matrix in a product with a thin one
SUMMED_EXACTLY = "bB"  # integers of 8 bits
LONGEST = 1 << 15  # inner lengths for which sums of these fit into 32 bits, whatever they are
FACTORED = INTEGERS + HALVES + "f"  # the same with factors: there is no half of True
DEVICE_AXES = 8  # of what the device's kernel multiplies: it has as many leading axes at most


# Element types that BLAS lacks


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


def matmul_form(a: Mat, b: Mat, out: Mat) -> MatmulForm:
    """Return the product ``out = a b`` by NumPy's rule for vectors and stacks."""
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
                      a.shape[-1])
    return MatmulForm(sizes, left, right, result, batch)


def batch_steps(x: Layout, matrix_axes: int, batch: Ints) -> Ints:
    """Return the steps along the leading axes, 0 where a stack is broadcast along them."""
    own = len(x.shape) - matrix_axes
    found = (0 if n == 1 else s for n, s in zip(x.shape[:own], x.strides[:own], strict=True))
    return (0,) * (len(batch) - own) + tuple(found)


def stack_of(x: Mat, axes: int, batch: Ints) -> MatrixOperand:
    """Return steps of a stack of matrices, or of columns; 0 along `batch` if broadcast."""
    row, column = x.element_strides[-2:] if axes == 2 else (x.element_strides[-1], 0)
    return MatrixOperand(x.dtype.char, row, column, batch_steps(x.layout, axes, batch))


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
        found = np.matmul(a, b, dtype=c.dtype) * c.dtype.type(alpha)
        c[...] = found + c.dtype.type(beta) * c if beta != 0 else found
    else:
        found = np.matmul(a.astype(np.float32), b.astype(np.float32)) * np.float32(alpha)
        c[...] = found + np.float32(beta) * c.astype(np.float32) if beta != 0 else found


# The operation


def product_shape(left: Ints, right: Ints) -> Ints:
    """Return the shape of the matrix product, by NumPy's rule."""
    if not left or not right:
        raise ShapeError(f"matmul requires at least one axis each, got shapes {left} and {right}; "
                         "* multiplies by numbers")
    inner = right[-2] if len(right) > 1 else right[0]
    if left[-1] != inner:
        raise ShapeError(f"matmul: the inner lengths {left[-1]} and {inner} of {left} and {right} "
                         "differ")
    try:
        batch = broadcast_shapes((left[:-2], right[:-2]))
    except ShapeError:
        raise ShapeError(f"matmul: the leading axes of {left} and {right} do not broadcast "
                         "together") from None
    return batch + left[-2:-1] + (right[-1:] if len(right) > 1 else ())


@op(method="", by_form=True, name="matmul")
def product(a: Input, b: Input, out: Output) -> None:
    """Compute ``out <- a b`` for all ranks and dtypes."""
    shape = product_shape(a.shape, b.shape)
    if out.shape != shape:
        raise ShapeError(f"matmul gives shape {shape}, out has {out.shape}")
    dtype = promoted("matmul", a.dtype, b.dtype)
    if not np.can_cast(dtype, out.dtype, "same_kind"):
        raise DTypeError(f"matmul gives {dtype}, which out of {out.dtype} cannot take")
    check_disjoint("matmul", out, a, b)


product.result_of = lambda a, b, out: (product_shape(a.layout.shape, b.layout.shape),
                                       promoted("matmul", a.element_type, b.element_type))


product.prepare("foreign", dtypes=compiled(CHARS), when=has_integer_matmul)(
    lambda cpu, a, b, out: cpu.prepare_integer_matmul(matmul_form(a, b, out)).kernel(False))


def _one_dtype(a: Mat, b: Mat, out: Mat) -> bool:
    return a.element_type == b.element_type == out.element_type


def _of_blas(a: Mat, b: Mat, out: Mat) -> bool:
    """Return whether one dtype, lengths and steps fit BLAS; vectors in stacks go forwards."""
    layouts = a.layout, b.layout, out.layout
    in_stack = max(a.layout.ndim, b.layout.ndim) > 2
    return (_one_dtype(a, b, out)
            and all(n <= blas_library.LIMIT for x in layouts for n in x.shape)
            and not (in_stack and any(_is_of_no_stack(x) for x in layouts)))


def _is_of_no_stack(x: Layout) -> bool:
    return (x.size > blas_library.LIMIT or any(s > blas_library.LIMIT for s in x.strides)
            or (x.ndim == 1 and x.strides[0] < 0))


def _of_matrices(a: Mat, b: Mat, out: Mat) -> bool:
    return a.layout.ndim == b.layout.ndim == 2 and _of_blas(a, b, out)


# matrices are packed where BLAS cannot take them; NumPy multiplies such vectors and stacks
@product.prepare("foreign", fits=fits_matrices, dtypes=compiled(BLAS), when=_of_matrices, pack=True)
@product.prepare("foreign", fits=fits_matrices, dtypes=compiled(BLAS), when=_of_blas)
@product.prepare("cuda", fits=fits_operand, dtypes=BLAS, when=_one_dtype, pack=True)
def matmul_blas(blas: BlasEngine, a: Mat, b: Mat, out: Mat) -> Function:
    form = matmul_form(a, b, out)
    return rowmajor.prepare_matmul(blas, out.dtype.char, form) if out.size else do_nothing


product.prepare("cuda", dtypes=CHARS, when=lambda a, b, out: (
    has_integer_matmul(a, b, out) and out.ndim <= DEVICE_AXES))(
    lambda cuda, a, b, out: prepare_on_device(cuda, matmul_form(a, b, out)))


def prepare_on_device(cuda: Engine, form: MatmulForm) -> Engine:
    """Prepare a product of the types that BLAS lacks on a GPU: by cuBLAS, where it has it."""
    (m, n, k), a, b, c, batch = form
    kernel = cuda.prepare_integer_matmul(form).kernel(False)
    kind = cublas_kind(a.char, b.char, c.char)
    taken = a.leading(m, k) and b.leading(k, n) and c.leading(m, n)
    if not kind or not m * n * prod(batch) or not taken:
        return kernel
    return cuda.prepare_either(lambda: rowmajor.prepare_matmul(cuda, kind, form), kernel)


product.on("array")(multiply)


def _reads_once(args: Arguments, k: int) -> bool:
    """Return whether a product has few multiplications for each element of an operand."""
    a, _, out = args
    return bool(out.size * a.shape[-1] <= THIN * args[k].size)


product.reads_once, product.once = True, _reads_once


@product.cut_by
def matmul_tiles(args: Arguments, kwargs: Keywords, budget: int) -> Iterator[Tile]:
    """Cut the stacks between matrices, and matrices into blocks."""
    a, b, out = args
    if b.ndim == 1:
        b, out = b[:, None], out[..., None]
    if a.ndim == 1:
        a, out = a[None], out[..., None, :]
    cuts = plugin("ops.tiles.cut_products")
    return cuts.stack_tiles(
        cuts.MatrixProduct(a, b, out, None, _multiply, _can_add(a, b, out)), budget)


def _can_add(a: Mat, b: Mat, out: Mat) -> bool:
    """Return whether `gemm` takes these dtypes, so that parts of the sums can be added up."""
    one, other, to = (x.element_type for x in (a, b, out))
    if one.char in BLAS:
        return bool(one == other == to)
    return bool(one == other and one.char in FACTORED[:-1] and np.can_cast(one, to)
                and has_integer_matmul(a, b, out))


def _multiply(a: Mat, b: Mat, beta: Number | None, c: Mat) -> object:
    """Compute a product, or add it to `c`."""
    if beta is None:
        return product(a, b, c)
    return plugin("ops.linear.blas_gemm").gemm(1, a, b, beta, c)


@of_matrices(product)
def matmul(a: Operand, b: Operand, out: Mat | None = None, *, transpose_a: bool = False,
           transpose_b: bool = False, **others: Operand) -> Mat:
    """Return the matrix product ``op(a) op(b)``, by NumPy's rules for ranks other than 2.

    Parameters
    ----------
    a, b : Mat or nested sequence
        Matrices, stacks of them, or vectors, whose inner lengths are equal.
    out : Mat, optional
        Where to write the product: a wider dtype holds all of the sums, as int32 of int8.
    transpose_a, transpose_b : bool, optional
        Whether op exchanges the last two axes.
    axes, axis, keepdims, casting, order, dtype, subok, signature
        As for ``numpy.matmul``, which computes on the host with them.

    Returns
    -------
    Mat
        `out`, or a new Mat of the dtype that the operands promote to.

    Raises
    ------
    ShapeError
        If the inner lengths differ, or the leading axes do not broadcast together.

    Notes
    -----
    Operands that overlap `out` are copied before. Two matrices of one BLAS dtype go to ?GEMM,
    transposed views as flags, without any copy; integers and 16-bit floats have a kernel of their
    own. Integers wrap, in the bits that the result has.

    Examples
    --------
    >>> import mat
    >>> mat.matmul(mat.array([[1.0, 2], [3, 4]]), mat.eye(2), transpose_a=True)
    <Mat 2x2 F [[1. 3.] [2. 4.]]>
    """
    if type(a) is not Mat or type(b) is not Mat:
        if decides(a) or decides(b) or (is_foreign(a) and is_foreign(b)
                                        and np.ndim(a) and np.ndim(b)):
            given = {} if out is None else {"out": out}
            return numpy_gives(np.matmul, (_turned(a, transpose_a), _turned(b, transpose_b)),
                               {**given, **others})
        if isinstance(out, Mat):
            a, b = apart_from(a, out), apart_from(b, out)
        a, b = _matrix_operands(a, b)
    if isinstance(out, tuple) and len(out) == 1 and not others:
        (out,) = out
    if others or isinstance(out, tuple):
        given = others if out is None else {**others, "out": out}
        return call_by_numpy(np.matmul, (_view(a, transpose_a), _view(b, transpose_b)), given)
    if type(transpose_a) is not bool or type(transpose_b) is not bool:
        check_bool(transpose_a=transpose_a, transpose_b=transpose_b)
    if a.element_type != b.element_type and has_kernels(a, b):
        a, b = _alike(a, b)
    a, b = _view(a, transpose_a), _view(b, transpose_b)
    if out is None:
        return product.new((a, b, None))
    storage = check_is_mat(out).storage
    if a.storage is storage or b.storage is storage:
        a, b = (x.copy() if overlap(x, out) else x for x in (a, b))
    return product(a, b, out)


def _turned(x: Operand, transpose: bool) -> Operand:
    return x.T if transpose else x


def _view(x: Mat, transpose: bool) -> Mat:
    """Return `x`, or the view with its last two axes exchanged, if there are two."""
    if not transpose or x.layout.ndim < 2:
        return x
    return x.T if x.layout.ndim == 2 else x.swapaxes(-1, -2)


def _alike(a: Mat, b: Mat) -> tuple[Mat, Mat]:
    """Return both in the dtype that they promote to, if BLAS knows it."""
    dtype = promoted("matmul", a.dtype, b.dtype)
    if dtype.char not in BLAS:
        return a, b
    one, other = (x if x.dtype == dtype else x.astype(dtype) for x in (a, b))
    return one, other


def _matrix_operands(a: Operand, b: Operand) -> tuple[Mat, Mat]:
    a, b = as_operand(a, "a"), as_operand(b, "b")
    if not isinstance(a, Mat) or not isinstance(b, Mat):
        raise ShapeError(f"matmul requires matrices or vectors, got {a!r} and {b!r}; * multiplies "
                         "by numbers")
    return a, b


def _matmul(self: Mat, other: Operand) -> Operand:
    if type(other) is Mat and not IN_USE:
        return product.new((self, other, None))
    if keeps_its_class(other):
        return of_arrays(operator.matmul, self, other, False)
    return matmul(self, other) if is_operand(other) else NotImplemented


def _rmatmul(self: Mat, other: Operand) -> Operand:
    if keeps_its_class(other):
        return of_arrays(operator.matmul, self, other, True)
    return matmul(other, self) if is_operand(other) else NotImplemented


bind("__matmul__", named(_matmul, "__matmul__", "``self @ other``"))
bind("__rmatmul__", named(_rmatmul, "__rmatmul__", "``other @ self``"))
