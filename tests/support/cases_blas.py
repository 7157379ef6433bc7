"""Cases of BLAS."""

import numpy as np
import scipy.linalg

from .case import FACTORS, case, plus, transposed
from .layouts import BLAS_DTYPES, numbers


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


@case("blas_level23.gemv", lambda alpha, a, x, beta, y,
      transpose=False: plus(alpha * (transposed(a, transpose) @ x), beta, y))
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
    a, b = transposed(a, transpose_a), transposed(b, transpose_b)
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
                a = transposed(numbers(rng, (m, k), dtype), kwargs["transpose_a"])
                b = transposed(numbers(rng, (k, n), dtype), kwargs["transpose_b"])
                yield (alpha, a, b, beta, numbers(rng, (m, n), dtype)), kwargs


def batches(rng, dtype):
    for batch in ((2,), (2, 3), (0,)):
        for kwargs in map(truths, flags("transpose_a", "transpose_b")):
            for alpha, beta in FACTORS:
                a = transposed(numbers(rng, (*batch, 3, 4), dtype), kwargs["transpose_a"])
                b = transposed(numbers(rng, (*batch, 4, 2), dtype), kwargs["transpose_b"])
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
                a = transposed(numbers(rng, (n, k), dtype), kwargs["transpose"])
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
