"""Cases of BLAS and linear algebra, for ``cases.py``."""

import numpy as np
import scipy.linalg

from .case import FACTORS, case
from .layouts import BLAS_DTYPES, NUMPY_DTYPES, numbers

# BLAS, level 1


def walk(x, n=None, inc=1):
    """The storage places of a vector that BLAS walks over, counted in the row-major elements of
    x.
    """
    step = abs(inc)
    n = -(-x.size // step) if n is None else n
    places = np.arange(n) * step
    return places if inc > 0 else places[::-1]


def taken(x, n=None, inc=1):
    return x.ravel()[walk(x, n, inc)]


def put(x, values, n=None, inc=1):
    flat = x.ravel().copy()
    flat[walk(x, n, inc)] = values
    return flat.reshape(x.shape)


PAIRS = (((3, 4), (3, 4), {}), ((7,), (7,), {}), ((0,), (0,), {}), ((), (), {}),
         ((4, 3), (12,), {}),
         ((7,), (5,), {"n": 3, "incx": 2}), ((9,), (7,), {"n": 3, "incx": -3, "incy": 2}),
         ((5,), (9,), {"incy": -2}),
         ((2, 3), (2, 3), {"n": 0}), ((5,), (5,), {"incx": -1, "incy": -1}))


def pairs(rng, dtype):
    for one, other, kwargs in PAIRS:
        yield (numbers(rng, one, dtype), numbers(rng, other, dtype)), kwargs


def singles(rng, dtype):
    for shape, kwargs in (((3, 4), {}), ((7,), {}), ((0,), {}), ((), {}),
                          ((7,), {"n": 2, "incx": 3}), ((2, 5), {"incx": -4})):
        yield (numbers(rng, shape, dtype),), kwargs


def scaled(samples, factors=(2, -1.5, 0)):
    def make(rng, dtype):
        for args, kwargs in samples(rng, dtype):
            for alpha in (*factors, *((1 - 2j,) if np.dtype(dtype).kind == "c" else ())):
                yield (alpha, *args), kwargs
    return make


case("blas_level1.axpy", lambda alpha, x, y, n=None, incx=1, incy=1:
     put(y, alpha * taken(x, n, incx) + taken(y, n, incy), n, incy))(scaled(pairs))
case("blas_level1.scal", lambda alpha, x, n=None,
     incx=1: put(x, alpha * taken(x, n, incx), n, incx))(scaled(singles))
case("blas_level1.copy", lambda x, y, n=None, incx=1,
     incy=1: put(y, taken(x, n, incx), n, incy))(pairs)
case("blas_level1.swap", lambda x, y, n=None, incx=1, incy=1:
     {0: put(x, taken(y, n, incy), n, incx), 1: put(y, taken(x, n, incx), n, incy)})(pairs)
case("blas_level1.dot", lambda x, y, n=None, incx=1,
     incy=1: (taken(x, n, incx) * taken(y, n, incy)).sum())(pairs)
case("blas_level1.vdot", lambda x, y, n=None, incx=1,
     incy=1: (taken(x, n, incx).conj() * taken(y, n, incy)).sum())(pairs)
case("blas_level1.nrm2", lambda x, n=None,
     incx=1: np.sqrt((np.abs(taken(x, n, incx)) ** 2).sum()))(singles)
case("blas_level1.asum", lambda x, n=None, incx=1:
     np.abs(taken(x, n, incx).real).sum() + np.abs(taken(x, n, incx).imag).sum())(singles)


@case("blas_level1.iamax", lambda x, n=None, incx=1:
      int(np.argmax(np.abs(taken(x, n, incx).real) + np.abs(taken(x, n, incx).imag))))
def iamax_samples(rng, dtype):
    for shape, kwargs in (((3, 4), {}), ((7,), {}), ((), {}), ((9,), {"n": 2, "incx": 3}),
                          ((2, 5), {"incx": 4})):
        yield (numbers(rng, shape, dtype),), kwargs
    yield (np.array([1, -3, 3, 2], dtype),), {}


# BLAS, levels 2 and 3


def plus(term, beta, c):
    """``term + beta c``, where nothing of c counts if beta is 0."""
    return term + beta * c if beta else term + np.zeros_like(c)


def turned(a, transpose):
    return a.swapaxes(-1, -2) if transpose else a


@case("blas_level23.gemv", lambda alpha, a, x, beta, y,
      transpose=False: plus(alpha * (turned(a, transpose) @ x), beta, y))
def gemv_samples(rng, dtype):
    for m, n in ((3, 4), (4, 1), (1, 3), (3, 0), (0, 3)):
        for transpose in (False, True):
            for alpha, beta in FACTORS:
                rows, columns = (n, m) if transpose else (m, n)
                yield (alpha, numbers(rng, (m, n), dtype), numbers(rng, (columns,), dtype), beta,
                       numbers(rng, (rows,), dtype)), {"transpose": transpose}


@case("blas_level23.ger", lambda alpha, x, y, a: alpha * np.outer(x, y) + a)
def ger_samples(rng, dtype):
    for m, n in ((3, 4), (4, 1), (1, 3), (3, 0)):
        yield (1.5, numbers(rng, (m,), dtype), numbers(rng, (n,), dtype),
               numbers(rng, (m, n), dtype)), {}


def flags(*names):
    """Every combination of flags, as keywords."""
    return [dict(zip(names, bits, strict=True)) for bits in np.ndindex(*(2,) * len(names))]


def truths(kwargs):
    return {name: bool(value) for name, value in kwargs.items()}


# the parameters are those of gemm
def product(alpha, a, b, beta, c, transpose_a=False, transpose_b=False, m=None, n=None, k=None):
    a, b = turned(a, transpose_a), turned(b, transpose_b)
    if m is None:
        return plus(alpha * (a @ b), beta, c)
    result = c.copy()
    result[:m, :n] = plus(alpha * (a[:m, :k] @ b[:k, :n]), beta, c[:m, :n])
    return result


@case("blas_gemm.gemm", product, (*BLAS_DTYPES, "int8", "int16", "int32", "int64", "float16"))
def gemm_samples(rng, dtype):
    for m, n, k in ((3, 4, 5), (1, 4, 2), (3, 1, 1), (2, 3, 0), (0, 2, 3)):
        for kwargs in map(truths, flags("transpose_a", "transpose_b")):
            for alpha, beta in FACTORS:
                a = turned(numbers(rng, (m, k), dtype), kwargs["transpose_a"])
                b = turned(numbers(rng, (k, n), dtype), kwargs["transpose_b"])
                yield (alpha, a, b, beta, numbers(rng, (m, n), dtype)), kwargs


def batches(rng, dtype):
    for batch in ((2,), (2, 3), (0,)):
        for kwargs in map(truths, flags("transpose_a", "transpose_b")):
            for alpha, beta in FACTORS:
                a = turned(numbers(rng, (*batch, 3, 4), dtype), kwargs["transpose_a"])
                b = turned(numbers(rng, (*batch, 4, 2), dtype), kwargs["transpose_b"])
                yield (alpha, a, b, beta, numbers(rng, (*batch, 3, 2), dtype)), kwargs
    yield (1, numbers(rng, (2, 3, 0), dtype), numbers(rng, (2, 0, 2), dtype), 2,
           numbers(rng, (2, 3, 2), dtype)), {}


case("blas_gemm.gemm_batched", product)(batches)


def half(alpha, a, beta, c, transpose=False, lower=True):
    inside = np.tri(len(c), dtype=bool) if lower else np.tri(len(c), dtype=bool).T
    return np.where(inside, plus(alpha * (a.T @ a if transpose else a @ a.T), beta, c), c)


@case("blas_level23.syrk", half)
def syrk_samples(rng, dtype):
    for n, k in ((3, 4), (4, 1), (3, 0), (1, 3)):
        for kwargs in map(truths, flags("transpose", "lower")):
            for alpha, beta in FACTORS:
                a = turned(numbers(rng, (n, k), dtype), kwargs["transpose"])
                yield (alpha, a, beta, numbers(rng, (n, n), dtype)), kwargs


# the parameters are those of trsm
def triangular(alpha, a, b, side="left", lower=True, transpose=False, unit=False):
    def solved(right):
        return scipy.linalg.solve_triangular(a, right, trans=int(transpose != (side == "right")),
                                             lower=lower,
                                             unit_diagonal=unit, check_finite=False)
    if not b.size:
        return b
    return alpha * (solved(b) if side == "left" else solved(b.T).T)


@case("blas_level23.trsm", triangular)
def trsm_samples(rng, dtype):
    for m, n in ((3, 4), (1, 3), (3, 0)):
        for kwargs in map(truths, flags("lower", "transpose", "unit")):
            for side, order in (("left", m), ("right", n)):
                a = numbers(rng, (order, order), dtype) / 4 + 2 * np.eye(order, dtype=dtype)
                a[np.tri(order, k=-1, dtype=bool).T if kwargs["lower"]
                  else np.tri(order, k=-1, dtype=bool)] = np.nan
                if kwargs["unit"]:
                    np.fill_diagonal(a, np.nan)
                yield (2, a.astype(dtype), numbers(rng, (m, n), dtype)), {"side": side, **kwargs}


# Linear algebra


@case("matmul.product", lambda a, b, out, transpose_a=False, transpose_b=False:
      np.matmul(turned(a, transpose_a), turned(b, transpose_b)), NUMPY_DTYPES)
def product_samples(rng, dtype):
    for one, other in (((3, 4), (4, 2)), ((4,), (4, 2)), ((3, 4), (4,)), ((4,), (4,)),
                       ((5, 3, 4), (4, 2)),
                       ((2, 1, 3, 4), (5, 4, 2)), ((3, 0), (0, 2))):
        a, b = numbers(rng, one, dtype), numbers(rng, other, dtype)
        yield (a, b, np.empty_like(np.matmul(a, b))), {}
    a, b = numbers(rng, (2, 4, 3), dtype), numbers(rng, (2, 4), dtype)
    yield (a, b, np.empty((2, 3, 2), dtype)), {"transpose_a": True, "transpose_b": True}


def well_conditioned(rng, shape, dtype):
    return (numbers(rng, shape, dtype) / 4 + 2 * np.eye(shape[-1])).astype(dtype)


def squares(rng, dtype):
    for shape in ((3, 3), (1, 1), (0, 0), (2, 4, 4)):
        yield well_conditioned(rng, shape, dtype)


def each(function, a):
    """What a function of one matrix gives for each of a stack."""
    return np.array([function(m) for m in a.reshape(-1, *a.shape[-2:])],
                    a.dtype).reshape(a.shape) if a.size else a


@case("linalg.inverse", lambda a, out: each(scipy.linalg.inv, a))
def inverse_samples(rng, dtype):
    for a in squares(rng, dtype):
        yield (a, np.empty_like(a)), {}


def solved_by_inverse(a, b, out):
    inverse = np.linalg.inv(a.astype(np.complex128 if a.dtype.kind == "c" else np.float64))
    return (inverse @ (b if b.ndim > 1 else b[:, None])).reshape(out.shape).astype(out.dtype)


@case("linalg.solution", solved_by_inverse)
def solution_samples(rng, dtype):
    for shape, right in (((3, 3), (3,)), ((3, 3), (3, 2)), ((2, 3, 3), (2, 3, 4)),
                         ((2, 3, 3), (3,)), ((2, 3, 3), (3, 1))):
        out = np.empty((2, 3) if right == (3,) and len(shape) == 3 else (*shape[:-2], *right[-2:]),
                       dtype)
        yield (well_conditioned(rng, shape, dtype), numbers(rng, right, dtype), out), {}


@case("linalg.cholesky_factor", lambda a,
      out: each(lambda m: scipy.linalg.cholesky(m, lower=True), a))
def cholesky_factor_samples(rng, dtype):
    for a in squares(rng, dtype):
        positive = a @ a.conj().swapaxes(-1, -2) + np.eye(a.shape[-1], dtype=dtype)
        yield (positive, np.empty_like(positive)), {}


def sign_and_log(a):
    determinant = scipy.linalg.det(a) if a.size else 1.0
    return determinant / abs(determinant), np.log(abs(determinant))


@case("linalg.slogdet", sign_and_log)
def slogdet_samples(rng, dtype):
    for a in squares(rng, dtype):
        if a.ndim == 2:
            yield (a,), {}
