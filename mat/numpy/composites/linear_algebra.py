"""NumPy's inverse, solver, Cholesky factor, determinants, and norms by sums and extremes;
singular values, eigenvalues, QR factors, and what is made of them.
"""

from __future__ import annotations

from math import inf

import numpy as np

from ...errors import LinAlgError
from ...layout.shapes import Ints
from ...matrix.creation import adopted
from ...matrix.mat import Mat, new_like
from ...ops.engine.by_numpy import LeftToNumPy, leave_if
from ...ops.primitives import elementwise, reduce
from ...ops.primitives.arrangement import rolled
from ...ops.primitives.selecting import where
from ...support.dtypes import BLAS_TYPES, REAL_TYPES
from ...support.plugins import at_first_use
from ...support.types import AxisLike, DType, Function, Operand
from ..operands import REAL, as_dtype, as_floats, different_axes, is_there
from ..registry import NO_VALUE, Result, implements
from ..short_calls import length
from .in_tiles import in_one_pass

linalg = at_first_use("ops.linear.linalg")
of_ufuncs = at_first_use("numpy.composites.ufuncs")
selection = at_first_use("numpy.composites.selection")
sorting = at_first_use("ops.indexing.sorting")


def _is_square(a: Mat) -> bool:
    """Return whether `a` is a square matrix, or a stack of them, of a type with factors."""
    return _has_type(a) and a.ndim >= 2 and a.shape[-1] == a.shape[-2]


def _has_type(a: Mat) -> bool:
    return a.dtype.char in BLAS_TYPES or (a.dtype.kind in "biu" and is_there(a))


@implements("linalg.inv")
def numpy_linalg_inv(a: Operand) -> Result:
    leave_if(not _is_square(a))
    return linalg.inv(a)


@implements("linalg.solve")
def numpy_linalg_solve(a: Operand, b: Operand) -> Result:
    leave_if(not (_is_square(a) and isinstance(b, Mat) and _has_type(b) and b.ndim > 0))
    return linalg.solve(a, b)


@implements("linalg.cholesky", of_many=True)
def numpy_linalg_cholesky(a: Operand, /, *, upper: bool = False) -> Result:
    leave_if(not _is_square(a) or (upper and not is_there(a)))
    return _adjoint(linalg.cholesky(_adjoint(a))).copy() if upper else linalg.cholesky(a)


implements("linalg.slogdet", on_device=1)(lambda a: named(
    np.linalg.slogdet, *_sign_and_log(matrices(a, square=True))))


@implements("linalg.det", on_device=1)
def numpy_linalg_det(a: Operand) -> Result:
    sign, logarithm = _sign_and_log(matrices(a, square=True))
    return sign * elementwise.exp(logarithm)


def _sign_and_log(a: Mat) -> tuple[Mat, Mat]:
    """Return the signs of determinants, and the logarithms of their moduli."""
    sign, logarithm = (new_like(a, a.shape[:-2], t) for t in (a.dtype, real_of(a.dtype)))
    linalg.determinants(a, sign, logarithm)
    return sign, logarithm


# Norms of vectors and matrices


_OF_SQUARES = (None, "fro", "f")  # the orders of matrices whose norm is that of a vector
_OF_SINGULAR_VALUES: dict[object, Function] = {2: reduce.max, -2: reduce.min, "nuc": reduce.sum}


@implements("linalg.norm")
def numpy_linalg_norm(x: Operand, ord: Operand = None, axis: AxisLike = None,
                      keepdims: bool = False) -> Result:
    if ord is None and axis is None and not keepdims:
        found = length(x.astype(np.float64) if x.dtype.kind in "iu" else x)
        if found is not None:
            return found
    # NumPy refuses other axes
    known = type(axis) is int or (type(axis) is tuple and len(axis) in (1, 2))
    if known and ord is None and x.dtype.char in REAL_TYPES and x.size and x.ndim:
        return _lengths(x, axis, keepdims)
    leave_if(not _has_norms(x))
    if axis is None and (ord is None or (ord == "fro" and x.ndim == 2)):
        return _of_vectors(x, tuple(range(x.ndim)), 2, bool(keepdims))
    axes = different_axes(axis, x.ndim)
    leave_if(len(axes) not in (1, 2))
    of = _of_vectors if len(axes) == 1 else _of_matrices
    return of(x, axes, 2 if ord is None and len(axes) == 1 else ord, bool(keepdims))


@in_one_pass
def _lengths(x: Mat, axis: AxisLike, keepdims: bool) -> Mat:
    return elementwise.sqrt(reduce.sum(elementwise.square(x), axis, keepdims=keepdims))


@implements("linalg.vector_norm", on_device=1)
def numpy_linalg_vector_norm(x: Operand, /, *, axis: AxisLike = None, keepdims: bool = False,
                             ord: Operand = 2) -> Result:
    leave_if(not _has_norms(x))
    return _of_vectors(x, different_axes(axis, x.ndim), ord, bool(keepdims))


@implements("linalg.matrix_norm", on_device=1)
def numpy_linalg_matrix_norm(x: Operand, /, *, keepdims: bool = False,
                             ord: Operand = "fro") -> Result:
    leave_if(not _has_norms(x) or x.ndim < 2)
    return _of_matrices(x, (x.ndim - 2, x.ndim - 1), ord, bool(keepdims))


def _has_norms(x: Operand) -> bool:
    """Return whether `x` is on a device, with a type that its operations compute norms of."""
    return is_there(x) and bool(x.size and x.ndim) and (
        x.dtype.char in BLAS_TYPES or x.dtype.kind in "biu")


@in_one_pass
def _of_vectors(x: Mat, axes: Ints, order: Operand, keepdims: bool) -> Result:
    """Return the norms of the vectors along axes."""
    leave_if(not isinstance(order, int | float) or isinstance(order, bool))
    x = as_floats(x)
    if order == 0:
        return reduce.sum((x != 0).astype(real_of(x.dtype)), axes, keepdims=keepdims)
    size = elementwise.abs(x)
    if order in (np.inf, -np.inf):
        extreme = reduce.max if order > 0 else reduce.min
        return extreme(size, axes, keepdims=keepdims)
    if order == 1:
        return reduce.sum(size, axes, keepdims=keepdims)
    if order == 2:
        return elementwise.sqrt(reduce.sum(elementwise.square(size), axes, keepdims=keepdims))
    total = reduce.sum(elementwise.pow(size, float(order)), axes, keepdims=keepdims)
    return elementwise.pow(total, 1 / float(order))


def _of_matrices(x: Mat, axes: Ints, order: Operand, keepdims: bool) -> Result:
    """Return the norms of the matrices along two axes."""
    if order in _OF_SQUARES:
        return _of_vectors(x, axes, 2, keepdims)
    if order in _OF_SINGULAR_VALUES:
        s = singular_values(as_floats(x).permute((*(k for k in range(x.ndim) if k not in axes),
                                                  *axes)))
        found = _OF_SINGULAR_VALUES[order](s, -1)
        for k in sorted(axes) if keepdims else ():
            found = found.expand_dims(k)
        return found
    leave_if(order not in (1, -1, np.inf, -np.inf))
    rows, columns = axes if abs(order) == 1 else axes[::-1]
    sums = reduce.sum(elementwise.abs(as_floats(x)), rows, keepdims=True)
    extreme = reduce.max if order > 0 else reduce.min
    found = extreme(sums, columns, keepdims=True)
    return found if keepdims else found.squeeze(tuple(sorted(axes)))


# Singular values, eigenvalues, QR factors, on devices


_MANY = 2  # axes of a matrix


def matrices(a: Operand, square: bool = False) -> Mat:
    """Return matrices on a device in a type that it has factors of; leave others to NumPy."""
    leave_if(not is_there(a) or a.ndim < _MANY or not a.size)
    leave_if(square and a.shape[-1] != a.shape[-2])
    found: Mat = as_floats(a)
    leave_if(found.dtype.char not in BLAS_TYPES)
    return found


def real_of(dtype: DType) -> DType:
    """Return the dtype of the parts of numbers."""
    return np.dtype(dtype.char.lower())


def named(function: Function, *parts: Mat) -> Result:
    """Return `parts` in the tuple that NumPy's function returns."""
    named: Function = type(function(np.ones((1, 1))))
    return named(*parts)


# Singular values


def singular_values(a: Mat) -> Mat:
    """Return the singular values of matrices, largest first."""
    shape = (*a.shape[:-2], min(a.shape[-2:]))
    return linalg.singular_values(a, new_like(a, shape, real_of(a.dtype)))


def _svd(a: Mat, full: bool) -> tuple[Mat, Mat, Mat]:
    *batch, m, n = a.shape
    k = min(m, n)
    u, vh = (new_like(a, (*batch, *shape), a.dtype)
             for shape in ((m, m if full else k), (n if full else k, n)))
    s = new_like(a, (*batch, k), real_of(a.dtype))
    linalg.singular_factors(a, u, vh, s)
    return u, s, vh


def _svd_of_hermitian(a: Mat) -> tuple[Mat, Mat, Mat]:
    w, u = _eigh(a, True)
    order = sorting.argsort(elementwise.abs(w), descending=True)
    w = selection.take_along(w, order, w.ndim - 1)
    u = selection.take_along(u, order[..., None, :].broadcast_to(u.shape), u.ndim - 1)
    sign = where(w < 0, -1.0, 1.0).astype(w.dtype)
    return u, elementwise.abs(w), _adjoint(u * sign[..., None, :])


@implements("linalg.svd", on_device=1)
def numpy_linalg_svd(a: Operand, full_matrices: bool = True, compute_uv: bool = True,
                     hermitian: bool = False) -> Result:
    a = matrices(a, bool(hermitian))
    if hermitian:
        parts = _svd_of_hermitian(a)
        return named(np.linalg.svd, *parts) if compute_uv else parts[1]
    if not compute_uv:
        return singular_values(a)
    return named(np.linalg.svd, *_svd(a, bool(full_matrices)))


implements("linalg.svdvals", on_device=1)(lambda x, /: singular_values(matrices(x)))


@implements("linalg.matrix_rank", on_device=1)
def numpy_linalg_matrix_rank(A: Operand, tol: Operand = None,  # noqa: N803  # NumPy's name
                             hermitian: bool = False, *, rtol: Operand = None) -> Result:
    leave_if(tol is not None and rtol is not None)
    a = matrices(A, bool(hermitian))
    s = elementwise.abs(_eigvalsh(a, True)) if hermitian else singular_values(a)
    least = _number(tol)
    if least is None:
        share = _number(rtol)
        share = max(a.shape[-2:]) * float(np.finfo(s.dtype).eps) if share is None else share
        least = reduce.max(s, -1, keepdims=True) * share
    return reduce.sum((s > least).astype(np.int64), -1)


@implements("linalg.pinv", on_device=1)
def numpy_linalg_pinv(a: Operand, rcond: Operand = None, hermitian: bool = False, *,
                      rtol: Operand = NO_VALUE) -> Result:
    leave_if(rcond is not None and rtol is not NO_VALUE)
    a = matrices(a, bool(hermitian))
    share = _number(rcond if rtol is NO_VALUE else rtol)
    if share is None:
        share = 1e-15 if rtol is NO_VALUE else max(a.shape[-2:]) * float(np.finfo(a.dtype).eps)
    conjugate = of_ufuncs.conjugated(a)
    u, s, vh = _svd_of_hermitian(conjugate) if hermitian else _svd(conjugate, False)
    inverse = _inverses(s, reduce.max(s, -1, keepdims=True) * share)
    return linalg.matmul(vh.mT, inverse[..., None] * u.mT)


@implements("linalg.cond", on_device=1)
def numpy_linalg_cond(x: Operand, p: Operand = None) -> Result:
    leave_if(p not in (None, *_OF_SQUARES, *_OF_SINGULAR_VALUES, 1, -1, inf, -inf))
    x = matrices(x, square=p not in (None, 2, -2))
    if p in (None, 2, -2):
        s = singular_values(x)
        first, last = s[..., 0], s[..., -1]
        found = last / first if p == -2 else first / last
    else:
        axes = x.ndim - 2, x.ndim - 1
        try:
            inverse = linalg.inv(x)
        except LinAlgError:  # to NumPy, some condition is infinite then
            raise LeftToNumPy from None
        found = _of_matrices(x, axes, p, False) * _of_matrices(inverse, axes, p, False)
    return where(elementwise.isnan(found), inf, found)


@implements("linalg.lstsq", on_device=2)
def numpy_linalg_lstsq(a: Operand, b: Operand, rcond: Operand = None) -> Result:
    leave_if(a.ndim != _MANY or b.ndim not in (1, _MANY) or a.shape[0] != b.shape[0])
    leave_if(not b.size or (b.dtype.char not in BLAS_TYPES and b.dtype.kind not in "biu"))
    dtype = np.result_type(matrices(a).dtype, b.dtype if b.dtype.char in BLAS_TYPES else np.float64)
    a, b, (m, n) = as_dtype(a, dtype), as_dtype(b, dtype), a.shape
    share = _number(rcond)
    if share is None or share < 0:
        share = float(np.finfo(dtype).eps) * (1 if share is not None else max(m, n))
    u, s, vh = _svd(a, False)
    inverse = _inverses(s, s[:1] * share)
    # a singular value that is not finite makes the sum NaN
    count = reduce.sum(where(inverse > 0, 1.0, 0.0) + s * 0).item()
    if count != count:
        raise LinAlgError("SVD did not converge in Linear Least Squares")
    rank = int(count)
    columns = b if b.ndim == _MANY else b[:, None]
    x = linalg.matmul(_adjoint(vh), inverse[:, None] * linalg.matmul(_adjoint(u), columns))
    rest = new_like(a, (0,), s.dtype)
    if rank == n < m:
        rest = reduce.sum(elementwise.square(elementwise.abs(columns - linalg.matmul(a, x))), 0)
    return x if b.ndim == _MANY else x[:, 0], rest, adopted(np.asarray(rank, np.int32)), s


def _inverses(s: Mat, least: Mat) -> Mat:
    """Return ``1 / s``, 0 of the elements that are not larger than `least`."""
    large = s > least
    return where(large, 1.0, 0.0).astype(s.dtype) / where(large, s, 1.0)


def _number(value: Operand) -> float | None:
    leave_if(value is not None and (not isinstance(value, REAL) or isinstance(value, bool)))
    return None if value is None else float(value)


def _adjoint(x: Mat) -> Mat:
    return of_ufuncs.conjugated(x).mT


# Eigenvalues


def _eigvalsh(a: Mat, lower: bool) -> Mat:
    return linalg.hermitian_values(a, new_like(a, a.shape[:-1], real_of(a.dtype)), lower)


def _eigh(a: Mat, lower: bool) -> tuple[Mat, Mat]:
    v, w = new_like(a, a.shape, a.dtype), new_like(a, a.shape[:-1], real_of(a.dtype))
    linalg.hermitian_factors(a, v, w, lower)
    return w, v


def _is_lower(uplo: Operand) -> bool:
    leave_if(uplo not in ("L", "U", "l", "u"))
    return uplo in "Ll"


implements("linalg.eigh", on_device=1)(lambda a, UPLO="L": named(  # noqa: N803  # NumPy's name
    np.linalg.eigh, *_eigh(matrices(a, True), _is_lower(UPLO))))
implements("linalg.eigvalsh", on_device=1)(
    lambda a, UPLO="L": _eigvalsh(matrices(a, True), _is_lower(UPLO)))  # noqa: N803


@implements("linalg.eigvals", on_device=1)
def numpy_linalg_eigvals(a: Operand) -> Result:
    a = _finite(a)
    w = linalg.eigen_values(a, _spectrum(a))
    return w.real.copy() if _all_real(a, w) else w


@implements("linalg.eig", on_device=1)
def numpy_linalg_eig(a: Operand) -> Result:
    a = _finite(a)
    w, v = _spectrum(a), new_like(a, a.shape, a.dtype)
    linalg.eigen_factors(a, v, w)
    if _all_real(a, w):
        return named(np.linalg.eig, w.real.copy(), v)
    return named(np.linalg.eig, w, v if a.dtype.kind == "c" else _of_pairs(v, w))


def _finite(a: Operand) -> Mat:
    """Return square matrices; NumPy allows no NaN and no infinity in them."""
    found = matrices(a, True)
    leave_if(not elementwise.isfinite(found).all().item())
    return found


def _spectrum(a: Mat) -> Mat:
    return new_like(a, a.shape[:-1], np.dtype(a.dtype.char.upper()))


# from that version on, NumPy's eigenvalues of real matrices are complex, even if all are real
_ALWAYS_COMPLEX = np.lib.NumpyVersion(np.__version__) >= "2.5.0"


def _all_real(a: Mat, w: Mat) -> bool:
    """Return whether NumPy's results are real numbers."""
    if a.dtype.kind == "c" or _ALWAYS_COMPLEX:
        return False
    return not (w.imag != 0).any().item()


def _of_pairs(v: Mat, w: Mat) -> Mat:
    """Return eigenvectors of real matrices, of whose conjugate pairs `v` has the two parts."""
    imaginary = w.imag[..., None, :]
    before, after = (rolled(v, [(v.ndim - 1, by)]) for by in (1, -1))
    real = where(imaginary < 0, before, v)
    parts = where(imaginary > 0, after, where(imaginary < 0, -v, 0.0))
    return real + parts * 1j


# QR


@implements("linalg.qr", on_device=1)
def numpy_linalg_qr(a: Operand, mode: str = "reduced") -> Result:
    leave_if(mode not in ("reduced", "complete", "r"))
    a = matrices(a)
    *batch, m, n = a.shape
    rows = m if mode == "complete" else min(m, n)
    r = new_like(a, (*batch, rows, n), a.dtype)
    if mode == "r":
        return linalg.triangular_factor(a, r)
    q = new_like(a, (*batch, m, rows), a.dtype)
    linalg.orthogonal_factors(a, q, r)
    return named(np.linalg.qr, q, r)
