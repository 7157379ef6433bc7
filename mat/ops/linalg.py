"""Linear algebra with NumPy's names: products through BLAS without copies; factors through NumPy,
or on the device.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..core.compiled import IN_USE
from ..cpu.integer_matmul import MatrixOperand
from ..devices.device import in_use
from ..errors import DTypeError, LinAlgError, ShapeError
from ..layout.strided import Ints, broadcast_shapes
from ..matrix.mat import Mat, new_like
from ..matrix.methods import bind
from ..support.dtypes import BLAS_TYPES as BLAS
from ..support.dtypes import promoted
from ..support.native import compiled
from . import rowmajor
from .blas_level23 import TRANSPOSES, check_bool, gemm, planned
from .declare_elementwise import as_operand, check_is_mat, is_operand
from .integer_matmul import (
    DEVICE_AXES,
    UNBLAS,
    has_product,
    kind_of,
    multiply,
    prepare_product,
    stack_of,
)
from .joining import check_are_mats
from .operation import NO_KEYWORDS, Input, Output, named, op
from .overlap import check_disjoint
from .rowmajor import fits_operand

# Products


def _turned(shape: Ints, transpose: bool) -> Ints:
    """`shape` with its last two axes exchanged, if there are two."""
    return (*shape[:-2], shape[-1], shape[-2]) if transpose and len(shape) > 1 else shape


def product_shape(left: Ints, right: Ints) -> Ints:
    """The shape of the matrix product, by NumPy's rule."""
    if not left or not right:
        raise ShapeError(f"matmul wants at least one axis each, got shapes {left} and {right}; * "
                         "multiplies by numbers")
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
def product(a: Input, b: Input, out: Output, *, transpose_a: bool = False,
            transpose_b: bool = False) -> None:
    """``out <- op(a) op(b)`` for all ranks and dtypes."""
    shape = product_shape(_turned(a.shape, transpose_a), _turned(b.shape, transpose_b))
    if out.shape != shape:
        raise ShapeError(f"matmul gives shape {shape}, out has {out.shape}")
    dtype = promoted("matmul", a.dtype, b.dtype)
    if not np.can_cast(dtype, out.dtype, "same_kind"):
        raise DTypeError(f"matmul gives {dtype}, which out of {out.dtype} cannot take")
    check_disjoint("matmul", out, a, b)


@product.prepare("foreign", dtypes=compiled(UNBLAS), when=has_product)
def _(cpu: Any, a: Mat, b: Mat, out: Mat, transpose_a: bool = False,
      transpose_b: bool = False) -> Any:
    return prepare_product(cpu, a, b, out, transpose_a, transpose_b)


def _one_dtype(a: Mat, b: Mat, out: Mat) -> bool:
    return a.storage.dtype == b.storage.dtype == out.storage.dtype


@product.prepare("cuda", fits=fits_operand, dtypes=BLAS, when=_one_dtype, pack=True)
def _(cuda: Any, a: Mat, b: Mat, out: Mat, transpose_a: bool = False,
      transpose_b: bool = False) -> Any:
    stack = stack_of(a, b, out, transpose_a, transpose_b)
    return rowmajor.prepare_matmul(cuda, out.dtype.char, *stack) if out.size else _nothing


@product.prepare("cuda", dtypes=UNBLAS, when=lambda a, b,
                 out: has_product(a, b, out) and out.ndim <= DEVICE_AXES)
def _(cuda: Any, a: Mat, b: Mat, out: Mat, transpose_a: bool = False,
      transpose_b: bool = False) -> Any:
    own, kind = prepare_product(cuda, a, b, out, transpose_a, transpose_b), kind_of(a, b, out)
    if not kind or not out.size or not all(map(fits_operand, (a.layout, b.layout, out.layout))):
        return own
    stack = stack_of(a, b, out, transpose_a, transpose_b)
    return cuda.prepare_either(lambda: rowmajor.prepare_matmul(cuda, kind, *stack), own)


def _nothing(*_: Any) -> None:
    """The product into a matrix without elements."""


@product.on("array")
def _(np: Any, a: Any, b: Any, out: Any, transpose_a: bool = False,
      transpose_b: bool = False) -> None:
    left = np.swapaxes(a, -1, -2) if transpose_a and a.ndim > 1 else a
    right = np.swapaxes(b, -1, -2) if transpose_b and b.ndim > 1 else b
    multiply(np, left, right, out)


def matmul(a: Any, b: Any, *, transpose_a: bool = False, transpose_b: bool = False,
           out: Mat | None = None) -> Any:
    """The matrix product ``op(a) op(b)``, by NumPy's rules for ranks other than 2; a new Mat, or
    written to `out`.

    Two matrices of one BLAS dtype go straight to GEMM, transposed views as flags, without any copy;
    integers and 16-bit floats have a kernel of their own. Integers wrap, and are summed in the bits
    that `out` has: int8 operands give int8, or all of their sums in an int32 `out`. `ShapeError` if
    the inner lengths differ, `AliasError` if `out` overlaps an operand.

    >>> import mat
    >>> mat.matmul(mat.array([[1, 2], [3, 4]]), mat.eye(2), transpose_a=True)
    <Mat 2x2 F [[1. 3.] [2. 4.]]>
    """
    if type(a) is Mat and type(b) is Mat and type(out) is Mat:
        plan = planned(a, b, 0.0, out, transpose_a, transpose_b)
        if plan is not None:
            flags = TRANSPOSES[transpose_a, transpose_b] if plan.keywords or IN_USE else NO_KEYWORDS
            return plan.run((1.0, a, b, 0.0, out), flags)
    else:
        a, b = _matrix_operands(a, b)
    if type(transpose_a) is not bool or type(transpose_b) is not bool:
        check_bool(transpose_a=transpose_a, transpose_b=transpose_b)
    if IN_USE and a.storage.dtype != b.storage.dtype:
        a, b = _alike(a, b)
    if out is None:
        shape = product_shape(_turned(a.layout.shape, transpose_a),
                              _turned(b.layout.shape, transpose_b))
        out = new_like(a, shape, promoted("matmul", a.storage.dtype, b.storage.dtype))
    if _for_blas(a, b, check_is_mat(out)):
        return gemm(1.0, a, b, 0.0, out, **TRANSPOSES[transpose_a, transpose_b])
    return product(a, b, out, transpose_a=transpose_a, transpose_b=transpose_b)


def _alike(a: Mat, b: Mat) -> tuple[Mat, Mat]:
    """Both in the dtype that they promote to, if that is one of BLAS and a device with bodies of
    its own is in use.
    """
    dtype = promoted("matmul", a.dtype, b.dtype)
    if dtype.char not in BLAS or not in_use().implementations:
        return a, b
    one, other = (x if x.dtype == dtype else x.astype(dtype) for x in (a, b))
    return one, other


def _matrix_operands(a: Any, b: Any) -> tuple[Mat, Mat]:
    a, b = as_operand(a, "a"), as_operand(b, "b")
    if not isinstance(a, Mat) or not isinstance(b, Mat):
        raise ShapeError(f"matmul wants matrices or vectors, got {a!r} and {b!r}; * multiplies by "
                         "numbers")
    return a, b


def _for_blas(a: Mat, b: Mat, out: Mat) -> bool:
    dtype = a.storage.dtype
    return (dtype.char in BLAS and b.storage.dtype is dtype and out.storage.dtype is dtype
            and len(a.layout.shape) == len(b.layout.shape) == len(out.layout.shape) == 2)


def _matmul(self: Mat, other: Any) -> Any:
    return matmul(self, other) if is_operand(other) else NotImplemented


def _rmatmul(self: Mat, other: Any) -> Any:
    return matmul(other, self) if is_operand(other) else NotImplemented


# Mat gets its methods here
bind("__matmul__", named(_matmul, "__matmul__", "``self @ other``"))
bind("__rmatmul__", named(_rmatmul, "__rmatmul__", "``other @ self``"))


def multi_dot(mats: Sequence[Mat]) -> Any:
    """The product of several matrices, bracketed so that the fewest multiplications are done.

    The first may be a vector (a row), the last too (a column). Source: Cormen et al., matrix-chain
    multiplication.

    >>> import mat
    >>> mat.multi_dot([mat.ones(2, 3), mat.ones(3, 4), mat.ones(4, 1)])
    <Mat 2x1 F [[12.] [12.]]>
    """
    chain = check_are_mats("multi_dot", mats)
    if len(chain) < 2:
        raise ShapeError(f"multi_dot wants at least two matrices, got {len(chain)}")
    ends = {0, len(chain) - 1}
    if any(m.ndim != 2 and not (k in ends and m.ndim == 1) for k, m in enumerate(chain)):
        raise ShapeError("multi_dot wants matrices, vectors only at the ends, got "
                         f"{[m.shape for m in chain]}")
    first, last = chain[0].ndim == 1, chain[-1].ndim == 1
    chain[0] = chain[0].expand_dims(0) if first else chain[0]
    chain[-1] = chain[-1].expand_dims(1) if last else chain[-1]
    for left, right in pairwise(chain):
        product_shape(left.shape, right.shape)
    result = _in_order(chain, _best_splits([chain[0].shape[0], *(m.shape[1] for m in chain)]), 0,
                       len(chain) - 1)
    return result.squeeze(tuple(k for k, gone in ((0, first), (1, last)) if gone))


def _best_splits(lengths: list[int]) -> dict[tuple[int, int], int]:
    """Where to split each stretch of a chain whose matrices are ``lengths[k]`` x
    ``lengths[k+1]``.
    """
    count = len(lengths) - 1
    cost = {(k, k): 0 for k in range(count)}
    split: dict[tuple[int, int], int] = {}
    for width in range(1, count):
        for i in range(count - width):
            j = i + width
            options = [(cost[i, k] + cost[k + 1, j] + lengths[i] * lengths[k + 1] * lengths[j + 1],
                        k) for k in range(i, j)]
            cost[i, j], split[i, j] = min(options)
    return split


def _in_order(chain: list[Mat], split: dict[tuple[int, int], int], i: int, j: int) -> Mat:
    if i == j:
        return chain[i]
    k = split[i, j]
    return matmul(_in_order(chain, split, i, k),  # type: ignore[no-any-return]
                  _in_order(chain, split, k + 1, j))


# Inverses and factors


def _check_square(name: str, a: Any) -> Mat:
    """`a`, if it is a square matrix, or a stack of them, of a dtype that LAPACK has or that
    converts to float64.
    """
    if not isinstance(a, Mat):
        raise DTypeError(f"{name} wants a Mat, got {type(a).__name__}; mat.from_numpy(a) wraps an "
                         "array")
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ShapeError(f"{name} wants a square matrix, got shape {a.shape}")
    return _check_lapack(a)


def _check_lapack(a: Mat) -> Mat:
    if a.dtype.char not in BLAS and a.dtype.kind not in "iub":
        raise DTypeError(f"LAPACK does not know {a.dtype}; convert with a.astype('float32')")
    return a


def _alike_for_lapack(*mats: Mat) -> tuple[tuple[Mat, ...], np.dtype[Any]]:
    """The operands, and the dtype of the result; in that dtype already where a device with bodies
    of its own is in use.
    """
    dtype = np.result_type(*(m.dtype for m in mats))
    dtype = dtype if dtype.char in BLAS else np.dtype(np.float64)
    if IN_USE and in_use().implementations:
        mats = tuple(m if m.dtype == dtype else m.astype(dtype) for m in mats)
    return mats, dtype


def _or_raise(name: str, reason: str, compute: Any, *args: Any) -> Any:
    """What `compute` gives; LAPACK's refusal becomes our error."""
    try:
        return compute(*args)
    except np.linalg.LinAlgError:
        raise LinAlgError(f"{name}: the matrix is {reason}") from None


def _device_lies(x: Mat, axes: int, batch: Ints) -> MatrixOperand:
    """How a stack of matrices, or for one axis of columns, lies; steps along `batch` are 0 where it
    is broadcast.
    """
    row, column = x.strides[-2:] if axes == 2 else (x.strides[-1], 0)
    own = zip(x.shape[:x.ndim - axes], x.strides[:x.ndim - axes], strict=True)
    steps = tuple(0 if n == 1 else s for n, s in own)
    return MatrixOperand(x.dtype.char, row, column, (0,) * (len(batch) - len(steps)) + steps)


def _device_result(out: Mat, axes: int) -> tuple[MatrixOperand | None, Ints]:
    """How a result lies, None if it is packed, and the lengths of its leading axes."""
    batch = out.shape[:out.ndim - axes]
    return (None if out.layout.contiguous else _device_lies(out, axes, batch)), batch


def _for_device(*operands: Mat) -> bool:
    """Whether all are of one dtype, and the result, which is the last, has elements and few
    axes.
    """
    out = operands[-1]
    return out.size > 0 and out.ndim <= DEVICE_AXES and all(x.storage.dtype == out.storage.dtype
                                                            for x in operands)


@op(method="", by_form=True, name="inv")
def inverse(a: Input, out: Output) -> None:
    """``out <- a^-1``"""


@inverse.prepare("cuda", dtypes=BLAS, when=_for_device)
def _(cuda: Any, a: Mat, out: Mat) -> Any:
    return cuda.prepare_inverse(a.dtype.char, a.shape[-1], _device_lies(a, 2, a.shape[:-2]),
                                *_device_result(out, 2))


@inverse.on("array")
def _(np: Any, a: Any, out: Any) -> None:
    out[...] = _or_raise("inv", "singular", np.linalg.inv, a)


def inv(a: Mat) -> Any:
    """The inverse of a square matrix (of each, if stacked). `LinAlgError` if it is singular.
    Source: LAPACK ?GESV.

    >>> import mat
    >>> mat.inv(mat.array([[2, 0], [0, 4]]))
    <Mat 2x2 A [[0.5 0.] [0. 0.25]]>
    """
    (a,), dtype = _alike_for_lapack(_check_square("inv", a))
    return inverse(a, new_like(a, a.shape, dtype))


@op(method="", by_form=True, name="solve")
def solution(a: Input, b: Input, out: Output) -> None:
    """``out <- a^-1 b``"""


@solution.prepare("cuda", dtypes=BLAS, when=_for_device)
def _(cuda: Any, a: Mat, b: Mat, out: Mat) -> Any:
    axes = 1 if b.ndim == 1 else 2
    result, batch = _device_result(out, axes)
    lies = _device_lies(a, 2, batch), _device_lies(b, axes, batch)
    return cuda.prepare_solution(a.dtype.char, a.shape[-1], b.shape[-1] if axes == 2 else 1, *lies,
                                 result, batch)


@solution.on("array")
def _(np: Any, a: Any, b: Any, out: Any) -> None:
    out[...] = _or_raise("solve", "singular", np.linalg.solve, a, b)


def solve(a: Mat, b: Mat) -> Any:
    """The x with ``a x = b``, for a vector or a matrix b. `LinAlgError` if `a` is singular. Source:
    LAPACK ?GESV.

    >>> import mat
    >>> mat.solve(mat.array([[2, 0], [0, 4]]), mat.array([2, 4]))
    <Mat 2 A [1. 1.]>
    """
    a = _check_square("solve", a)
    if not isinstance(b, Mat):
        raise DTypeError(f"solve wants Mats, got {type(b).__name__}; mat.from_numpy(a) wraps an "
                         "array")
    _check_lapack(b)
    rows = b.shape[0] if b.ndim == 1 else b.shape[-2] if b.ndim else None
    if rows != a.shape[-1]:
        raise ShapeError(f"solve: a of shape {a.shape} wants b with {a.shape[-1]} rows, got "
                         f"{b.shape}")
    (a, b), dtype = _alike_for_lapack(a, b)
    return solution(a, b, new_like(a, _solution_shape(a.shape, b.shape), dtype))


def _solution_shape(a: Ints, b: Ints) -> Ints:
    if len(b) == 1:
        return a[:-1]
    return broadcast_shapes((a[:-2], b[:-2])) + b[-2:]


@op(method="", by_form=True, name="cholesky")
def cholesky_factor(a: Input, out: Output) -> None:
    """``out <- L`` with ``a = L L^H``"""


@cholesky_factor.prepare("cuda", dtypes=BLAS, when=_for_device)
def _(cuda: Any, a: Mat, out: Mat) -> Any:
    return cuda.prepare_cholesky(a.dtype.char, a.shape[-1], _device_lies(a, 2, a.shape[:-2]),
                                 *_device_result(out, 2))


@cholesky_factor.on("array")
def _(np: Any, a: Any, out: Any) -> None:
    out[...] = _or_raise("cholesky", "not positive definite", np.linalg.cholesky, a)


def cholesky(a: Mat) -> Any:
    """The lower triangular L with ``a = L L^H``; only a's lower triangle is read. `LinAlgError`
    unless a is positive definite.

    Source: LAPACK ?POTRF.

    >>> import mat
    >>> mat.cholesky(mat.array([[4, 0], [0, 9]]))
    <Mat 2x2 A [[2. 0.] [0. 3.]]>
    """
    (a,), dtype = _alike_for_lapack(_check_square("cholesky", a))
    return cholesky_factor(a, new_like(a, a.shape, dtype))


@op(by_form=True)
def slogdet(a: Input) -> None:
    """``(sign, log |det a|)`` as Python numbers; ``(0.0, -inf)`` if singular. Source: LAPACK
    ?GETRF.

    The sign of a complex determinant is a complex number of modulus 1.

    >>> import mat
    >>> mat.slogdet(mat.array([[0, 1], [1, 0]]))
    (-1.0, 0.0)
    """
    _check_square("slogdet", a)
    if a.ndim != 2:
        raise ShapeError(f"slogdet wants one matrix, got shape {a.shape}")


@slogdet.prepare("cuda", dtypes=BLAS, when=lambda a: a.size > 0)
def _(cuda: Any, a: Mat) -> Any:
    return cuda.prepare_slogdet(a.dtype.char, a.shape[-1], _device_lies(a, 2, ()))


@slogdet.on("array")
def _(np: Any, a: Any) -> tuple[Any, float]:
    sign, logabsdet = np.linalg.slogdet(a)
    return sign.item(), logabsdet.item()


def _add_methods(*functions: Any) -> None:
    """Each function of one Mat as a method of the same name."""
    for function in functions:
        bind(function.__name__, _as_method(function))


def _as_method(function: Any) -> Any:
    return named(lambda self: function(self), function.__name__, function.__doc__)


_add_methods(inv, cholesky, slogdet)
