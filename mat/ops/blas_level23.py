"""BLAS levels 2 and 3: matrices. Names and argument order are those of BLAS; the last operand is
written and returned.

Matrices may be strided: whatever has adjacent elements along one axis goes to BLAS as it is,
transposed views as a flag.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.compiled import IN_USE
from ..cpu.integer_matmul import MatrixOperand
from ..errors import DTypeError, ShapeError
from ..layout.strided import Ints, Layout
from ..matrix.mat import Mat
from ..matrix.methods import bind
from ..support import blas_library
from ..support.dtypes import BLAS_TYPES as BLAS
from ..support.native import compiled
from . import rowmajor
from .accumulation import accumulate
from .blas_level1 import blas_dtype
from .gemm_sizes import check_parts, dimensions
from .integer_matmul import FACTORED, check_gemm, has_product, kind_of, multiply_add
from .integer_matmul import prepare_gemm as prepare_tiled
from .operation import NO_KEYWORDS, Accumulated, InOut, Input, Scalar, op
from .overlap import check_disjoint
from .plan import Plan
from .rowmajor import LeadingDimension, Stored, fits_device, fits_matrix, fits_operand


def check_matrices(name: str, *mats: Mat) -> None:
    """`ShapeError` unless all are matrices, `DTypeError` unless of one dtype that BLAS knows."""
    blas_dtype(*mats)
    for a in mats:
        if len(a.layout.shape) != 2:
            raise ShapeError(f"{name} wants matrices, got shape {a.layout.shape}")


def countable(blas: Any, *lengths: int) -> None:
    """`ShapeError` unless the engine's BLAS can count that far; who prepares a body asks, before
    anything is touched.
    """
    if any(n > blas_library.LIMIT for n in lengths):
        raise ShapeError(f"lengths {lengths} are too much for a BLAS that counts to "
                         f"{blas_library.LIMIT}; work on parts of the matrix")


def check_vectors(name: str, *vectors: Mat) -> None:
    """`ShapeError` for operands of more than one axis that are no vectors to BLAS."""
    for x in vectors:
        if x.layout.ndim > 1 and x.layout.vector is None:
            raise ShapeError(f"{name} wants vectors, got {x.label()}, whose elements lie unevenly; "
                             "contiguous() gives a copy")


def check_bool(**flags: object) -> None:
    """`DTypeError` unless each is True or False."""
    for name, value in flags.items():
        if value is not True and value is not False and not isinstance(value, bool | np.bool_):
            raise DTypeError(f"{name} is True or False, got {value!r}")


@op(by_form=True)
def gemv(alpha: Scalar, a: Input, x: Input, beta: Scalar, y: Accumulated, *,
         transpose: bool = False) -> None:
    """``y <- alpha * op(A) x + beta * y``; op transposes if ``transpose``. Source: BLAS ?GEMV.

    >>> import mat
    >>> mat.gemv(1, mat.array([[1, 2], [3, 4]]), mat.ones(2), 0, mat.empty(2))
    <Mat 2 F [3. 7.]>
    """
    check_matrices("gemv", a)
    blas_dtype(a, x, y)
    check_bool(transpose=transpose)
    m, n = a.layout.shape[::-1] if transpose else a.layout.shape
    if x.size != n or y.size != m:
        raise ShapeError(f"gemv of op(A) {m}x{n} wants vectors of {n} and {m} elements, got "
                         f"{x.shape} and {y.shape}")
    check_vectors("gemv", x, y)
    check_disjoint("gemv", y, a, x)


@gemv.prepare("cuda", fits=fits_device, dtypes=BLAS, pack=True)
@gemv.prepare("foreign", fits=fits_matrix, dtypes=BLAS, pack=True)
def _(blas: Any, a: Mat, x: Mat, y: Mat, transpose: bool = False) -> Callable[..., None]:
    if not y.size:
        return _nothing
    countable(blas, *a.shape)
    if not x.size:
        return blas.prepare_scale_vector(y.dtype.char, y.layout)  # type: ignore[no-any-return]
    return rowmajor.prepare_gemv(blas, a, transpose, x, y)


@gemv.on("array")
def _(np: Any, alpha: Any, a: Any, x: Any, beta: Any, y: Any, transpose: bool = False) -> None:
    product = np.matmul(a.T if transpose else a, x.reshape(-1))
    accumulate(np, (y.dtype.type(alpha) * product).reshape(y.shape), y.dtype.type(beta), y)


@op(by_form=True)
def ger(alpha: Scalar, x: Input, y: Input, a: InOut) -> None:
    """``A <- alpha * x y^T + A``; nothing is conjugated. Source: BLAS ?GER, ?GERU.

    >>> import mat
    >>> mat.ger(1, mat.array([1, 2]), mat.array([3, 4]), mat.zeros(2, 2))
    <Mat 2x2 F [[3. 4.] [6. 8.]]>
    """
    check_matrices("ger", a)
    blas_dtype(x, y, a)
    if (x.size, y.size) != a.layout.shape:
        raise ShapeError(f"ger into {a.shape} wants vectors as long as its columns and rows, got "
                         f"{x.shape} and {y.shape}")
    check_vectors("ger", x, y)
    check_disjoint("ger", a, x, y)


@ger.prepare("cuda", fits=fits_device, dtypes=BLAS, pack=True)
@ger.prepare("foreign", fits=fits_matrix, dtypes=BLAS, pack=True)
def _(blas: Any, x: Mat, y: Mat, a: Mat) -> Callable[..., None]:
    countable(blas, *a.shape)
    return rowmajor.prepare_ger(blas, x, y, a) if a.size else _nothing


@ger.on("array")
def _(np: Any, alpha: Any, x: Any, y: Any, a: Any) -> None:
    a += a.dtype.type(alpha) * np.outer(x, y)


# gemm


@op(by_form=True)
def gemm(alpha: Scalar, a: Input, b: Input, beta: Scalar, c: Accumulated, *,
         transpose_a: bool = False,
         transpose_b: bool = False, m: int | None = None, n: int | None = None,
         k: int | None = None,
         lda: int | None = None, ldb: int | None = None, ldc: int | None = None) -> None:
    """``C <- alpha * op(A) op(B) + beta * C``; C is m x n, the inner axis k long. Source: BLAS
    ?GEMM.

    ``m``, ``n``, ``k`` and the leading dimensions default to what the shapes say; given, they
    select the upper left part, and 1-d operands are taken as rows ``ld`` apart (they must all be
    given then). ``beta == 0`` never reads C. `AliasError` if C overlaps A or B. Integers wrap and
    want integers for factors; C of int8 matrices may be int32, to hold all of each sum. 16-bit
    floats are summed in float32.

    >>> import mat
    >>> a = mat.array([[1, 2], [3, 4]])
    >>> mat.gemm(1, a, a, 0, mat.empty(2, 2), transpose_b=True)
    <Mat 2x2 F [[5. 11.] [11. 25.]]>
    """
    if a.storage.dtype.char in BLAS:
        blas_dtype(a, b, c)
    else:
        check_gemm(a, b, alpha, beta, c)
    check_bool(transpose_a=transpose_a, transpose_b=transpose_b)
    if m is n is k is lda is ldb is ldc is None:
        _check_product(a, b, c, transpose_a, transpose_b)
    else:
        sizes = dimensions(a, b, c, transpose_a, transpose_b, m, n, k)
        check_parts(a, b, c, transpose_a, transpose_b, sizes, lda, ldb, ldc)
    if c.storage is a.storage or c.storage is b.storage:
        check_disjoint("gemm", c, a, b)


def _check_product(a: Mat, b: Mat, c: Mat, transpose_a: bool, transpose_b: bool) -> None:
    left, right, out = a.layout.shape, b.layout.shape, c.layout.shape
    if not len(left) == len(right) == len(out) == 2:
        raise ShapeError(f"gemm wants matrices, got shapes {left}, {right} and {out}; for others "
                         "give m, n, k, lda, ldb, ldc")
    m, k = (left[1], left[0]) if transpose_a else left
    j, n = (right[1], right[0]) if transpose_b else right
    if k != j or out != (m, n):
        raise ShapeError(f"op(A) {m}x{k} times op(B) {j}x{n} does not fit C of shape {out}")


def _lies(x: Mat, ld: int | None, transpose: bool) -> LeadingDimension:
    """The leading dimension of `x`, and whether it lies otherwise than op(x) is meant."""
    if ld is not None:
        return ld, transpose
    found = x.layout.matrix
    assert found is not None, "fits_matrix has let it through"
    return found[0], found[1] != transpose


@gemm.prepare("cuda", fits=fits_device, dtypes=BLAS, pack=True)
@gemm.prepare("foreign", fits=fits_matrix, dtypes=BLAS, pack=True)
def _(blas: Any, a: Mat, b: Mat, c: Mat, transpose_a: bool = False, transpose_b: bool = False,
      m: int | None = None,
      n: int | None = None, k: int | None = None, lda: int | None = None, ldb: int | None = None,
      ldc: int | None = None) -> Callable[..., None]:
    rows, columns, inner = dimensions(a, b, c, transpose_a, transpose_b, m, n, k)
    if not rows or not columns:
        return _nothing
    countable(blas, rows, columns, inner, *(ld for ld in (lda, ldb, ldc) if ld is not None))
    return rowmajor.prepare_gemm(blas, c.dtype.char, rows, columns, inner,
                                 _lies(a, lda, transpose_a),
                                 _lies(b, ldb, transpose_b), _lies(c, ldc, False))


@gemm.prepare("foreign", dtypes=compiled(FACTORED), when=has_product)
def _(cpu: Any, a: Mat, b: Mat, c: Mat, transpose_a: bool = False, transpose_b: bool = False,
      m: int | None = None,
      n: int | None = None, k: int | None = None, lda: int | None = None, ldb: int | None = None,
      ldc: int | None = None) -> Any:
    sizes = dimensions(a, b, c, transpose_a, transpose_b, m, n, k)
    return prepare_tiled(cpu, sizes, a, b, c, transpose_a, transpose_b, (lda, ldb, ldc))


@gemm.prepare("cuda", dtypes=FACTORED, when=has_product)
def _(cuda: Any, a: Mat, b: Mat, c: Mat, transpose_a: bool = False, transpose_b: bool = False,
      m: int | None = None,
      n: int | None = None, k: int | None = None, lda: int | None = None, ldb: int | None = None,
      ldc: int | None = None) -> Any:
    sizes, leading = dimensions(a, b, c, transpose_a, transpose_b, m, n, k), (lda, ldb, ldc)
    own = prepare_tiled(cuda, sizes, a, b, c, transpose_a, transpose_b, leading)
    kind = kind_of(a, b, c)
    if not kind or any(x.layout.matrix is None and ld is None for x,
                       ld in zip((a, b, c), leading, strict=True)):
        return own
    lies = _lies(a, lda, transpose_a), _lies(b, ldb, transpose_b), _lies(c, ldc, False)
    return cuda.prepare_either(lambda: rowmajor.prepare_gemm(cuda, kind, *sizes, *lies), own)


def _nothing(*_: Any) -> None:
    """The product into a matrix without elements."""


@gemm.on("array")
def _(np: Any, alpha: Any, a: Any, b: Any, beta: Any, c: Any, transpose_a: bool = False,
      transpose_b: bool = False,
      m: int | None = None, n: int | None = None, k: int | None = None, lda: int | None = None,
      ldb: int | None = None,
      ldc: int | None = None) -> None:
    if not m is n is k is lda is ldb is ldc is None:
        rows, columns, inner = dimensions(a, b, c, transpose_a, transpose_b, m, n, k)
        a = _part(np, a, (inner, rows) if transpose_a else (rows, inner), lda)
        b = _part(np, b, (columns, inner) if transpose_b else (inner, columns), ldb)
        c = _part(np, c, (rows, columns), ldc)
    left, right = a.T if transpose_a else a, b.T if transpose_b else b
    if a.dtype.char in BLAS:
        accumulate(np, c.dtype.type(alpha) * np.matmul(left, right), c.dtype.type(beta), c)
    else:
        multiply_add(np, alpha, left, right, beta, c)


def _part(np: Any, a: Any, shape: Ints, ld: int | None) -> Any:
    """The upper left `shape` of `a`, whose rows are `ld` apart."""
    if ld is None:
        return a[:shape[0], :shape[1]]
    return np.lib.stride_tricks.as_strided(a, shape, (ld * a.itemsize, a.itemsize))


TRANSPOSES: dict[tuple[bool, bool], dict[str, bool]] = {
    (False, False): {}, (True, False): {"transpose_a": True}, (False, True): {"transpose_b": True},
    (True, True): {"transpose_a": True, "transpose_b": True}}


def planned(a: Mat, b: Mat, beta: float, c: Mat, transpose_a: bool,
            transpose_b: bool) -> Plan | None:
    """The plan for `gemm`, if a call like this one has been planned; None if `gemm` has to look
    closer.
    """
    storage = c.storage
    if a.storage is storage or b.storage is storage or type(transpose_a) is not bool or type(transpose_b) is not bool:
        return None
    key = c.form, a.form, b.form, beta == 0, transpose_a, transpose_b
    plan = gemm.own_plans.get(key)
    if plan is None and c.form is not None and a.form is not None and b.form is not None:
        plan = gemm.find((1.0, a, b, beta, c), TRANSPOSES[transpose_a, transpose_b])
        if plan is not None:
            gemm.own_plans[key] = plan
    return plan


def _gemm_(self: Mat, alpha: Any, a: Mat, b: Mat, beta: Any, *, transpose_a: bool = False,
           transpose_b: bool = False,
           **parts: Any) -> Any:
    if not parts and type(a) is Mat and type(b) is Mat and type(alpha) is float and type(beta) is float:
        plan = planned(a, b, beta, self, transpose_a, transpose_b)
        if plan is not None:
            flags = TRANSPOSES[transpose_a, transpose_b] if plan.keywords or IN_USE else NO_KEYWORDS
            return plan.run((alpha, a, b, beta, self), flags)
    # those that are False go unsaid, as in the key
    flags = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    return gemm(alpha, a, b, beta, self, **{k: v for k, v in flags.items() if v is not False},
                **parts)


bind("gemm_", gemm.documented(_gemm_))


@op(by_form=True)
def gemm_batched(alpha: Scalar, a: Input, b: Input, beta: Scalar, c: Accumulated, *,
                 transpose_a: bool = False,
                 transpose_b: bool = False) -> None:
    """``C_i <- alpha * op(A_i) op(B_i) + beta * C_i`` for each i of the leading axes, which must be
    equal.

    >>> import mat
    >>> mat.gemm_batched(1, mat.ones(2, 1, 3), mat.ones(2, 3, 1), 0, mat.empty(2, 1, 1))
    <Mat 2x1x1 F [[[3.]] [[3.]]]>
    """
    blas_dtype(a, b, c)
    check_bool(transpose_a=transpose_a, transpose_b=transpose_b)
    if not a.ndim == b.ndim == c.ndim >= 3 or not a.shape[:-2] == b.shape[:-2] == c.shape[:-2]:
        raise ShapeError(f"gemm_batched wants equal leading axes before matrices, got {a.shape}, "
                         f"{b.shape} and {c.shape}")
    if c.size or a.size or b.size:
        first = (0,) * (a.ndim - 2)
        if all(x.shape[:-2] == c.shape[:-2] and 0 not in x.shape[:-2] for x in (a, b, c)):
            _check_product(a[first], b[first], c[first], transpose_a, transpose_b)
    check_disjoint("gemm_batched", c, a, b)


def fits_batch(layout: Layout) -> bool:
    """Whether each matrix of a batch is one that BLAS can take."""
    return fits_matrix(Layout(layout.shape[-2:], layout.strides[-2:], 0))


@gemm_batched.prepare("cuda", fits=fits_operand, dtypes=BLAS, pack=True)
def _(cuda: Any, a: Mat, b: Mat, c: Mat, transpose_a: bool = False,
      transpose_b: bool = False) -> Callable[..., None]:
    if not c.size:
        return _nothing
    m, n = c.shape[-2:]
    k = a.shape[-2] if transpose_a else a.shape[-1]
    return rowmajor.prepare_stack(cuda, c.dtype.char, m, n, k, _stacked(a, transpose_a),
                                  _stacked(b, transpose_b),
                                  _stacked(c, False), c.shape[:-2])


def _stacked(x: Mat, transpose: bool) -> MatrixOperand:
    row, column = x.strides[-2:]
    found = MatrixOperand(x.dtype.char, row, column, x.strides[:-2])
    return found.turned if transpose else found


@gemm_batched.on("foreign", fits=fits_batch, dtypes=BLAS, pack=True)
def _(blas: Any, alpha: Any, a: Any, b: Any, beta: Any, c: Any, transpose_a: bool = False,
      transpose_b: bool = False) -> None:
    m, n = c.shape[-2:]
    k = a.shape[-2] if transpose_a else a.shape[-1]
    for one, other, out in zip(_batch(a, transpose_a), _batch(b, transpose_b), _batch(c, False),
                               strict=True):
        if m and n:
            rowmajor.gemm(blas, c.letter, m, n, k, alpha, one, other, beta, out)


def _batch(x: Any, transpose: bool) -> list[Stored]:
    """Where each matrix of the batch lies."""
    if 0 in x.shape[:-2]:
        return []
    matrix = Layout(x.shape[-2:], x.strides[-2:], 0).matrix
    assert matrix is not None, "fits_batch has let it through"
    starts = Layout(x.shape[:-2], x.strides[:-2], 0).indices()
    return [(x.pointer + start, matrix[0], matrix[1] != transpose) for start in starts]


@gemm_batched.on("array")
def _(np: Any, alpha: Any, a: Any, b: Any, beta: Any, c: Any, transpose_a: bool = False,
      transpose_b: bool = False) -> None:
    product = np.matmul(a.swapaxes(-1, -2) if transpose_a else a,
                        b.swapaxes(-1, -2) if transpose_b else b)
    accumulate(np, c.dtype.type(alpha) * product, c.dtype.type(beta), c)


# Symmetric updates and triangular solves


@op(by_form=True)
def syrk(alpha: Scalar, a: Input, beta: Scalar, c: InOut, *, transpose: bool = False,
         lower: bool = True) -> None:
    """``C <- alpha * A A^T + beta * C`` in one triangle; ``A^T A`` if ``transpose``. Source: BLAS
    ?SYRK.

    The other triangle of C is neither read nor written.

    >>> import mat
    >>> mat.syrk(1, mat.array([[1, 2], [3, 4]]), 0, mat.zeros(2, 2))
    <Mat 2x2 F [[5. 0.] [11. 25.]]>
    """
    check_matrices("syrk", a, c)
    check_bool(transpose=transpose, lower=lower)
    n = a.shape[1] if transpose else a.shape[0]
    if c.shape != (n, n):
        raise ShapeError(f"syrk of A {a.shape} wants C of shape {(n, n)}, got {c.shape}")
    check_disjoint("syrk", c, a)


@syrk.prepare("cuda", fits=fits_device, dtypes=BLAS, pack=True)
@syrk.prepare("foreign", fits=fits_matrix, dtypes=BLAS, pack=True)
def _(blas: Any, a: Mat, c: Mat, transpose: bool = False,
      lower: bool = True) -> Callable[..., None]:
    countable(blas, *a.shape)
    return rowmajor.prepare_syrk(blas, a, c, transpose, lower) if c.size else _nothing


@syrk.on("array")
def _(np: Any, alpha: Any, a: Any, beta: Any, c: Any, transpose: bool = False,
      lower: bool = True) -> None:
    product = np.matmul(a.T, a) if transpose else np.matmul(a, a.T)
    inside = np.tri(c.shape[0], dtype=bool) if lower else np.tri(c.shape[0], dtype=bool).T
    rest = 0 if beta == 0 else c.dtype.type(beta) * c
    np.copyto(c, c.dtype.type(alpha) * product + rest, where=inside)


@op(by_form=True)
def trsm(alpha: Scalar, a: Input, b: InOut, *, side: str = "left", lower: bool = True,
         transpose: bool = False,
         unit: bool = False) -> None:
    """``B <- alpha * op(A)^-1 B``, or ``alpha * B op(A)^-1`` for ``side="right"``, with a
    triangular A. Source: BLAS ?TRSM.

    Only the triangle that ``lower`` names is read, without its diagonal if ``unit``. A zero on the
    diagonal gives inf and NaN, as in BLAS.

    >>> import mat
    >>> mat.trsm(1, mat.array([[2, 0], [1, 1]]), mat.array([[2], [3]]))
    <Mat 2x1 AF [[1.] [2.]]>
    """
    check_matrices("trsm", a, b)
    check_bool(lower=lower, transpose=transpose, unit=unit)
    if side not in ("left", "right"):
        raise ShapeError(f"side is 'left' or 'right', got {side!r}")
    n = b.shape[0] if side == "left" else b.shape[1]
    if a.shape != (n, n):
        raise ShapeError(f"trsm on the {side} of B {b.shape} wants A of shape {(n, n)}, got "
                         f"{a.shape}")
    check_disjoint("trsm", b, a)


@trsm.prepare("cuda", fits=fits_device, dtypes=BLAS, pack=True)
@trsm.prepare("foreign", fits=fits_matrix, dtypes=BLAS, pack=True)
def _(blas: Any, a: Mat, b: Mat, side: str = "left", lower: bool = True, transpose: bool = False,
      unit: bool = False) -> Callable[..., None]:
    countable(blas, *b.shape)
    return rowmajor.prepare_trsm(blas, a, b, side == "left", lower, transpose,
                                 unit) if b.size else _nothing


@trsm.on("array")
def _(np: Any, alpha: Any, a: Any, b: Any, side: str = "left", lower: bool = True,
      transpose: bool = False,
      unit: bool = False) -> None:
    triangle = np.tril(a) if lower else np.triu(a)
    if unit:
        np.fill_diagonal(triangle, 1)
    triangle = triangle.T if transpose else triangle
    scaled = b.dtype.type(alpha) * b
    b[...] = np.linalg.solve(triangle,
                             scaled) if side == "left" else np.linalg.solve(triangle.T, scaled.T).T
