"""Cases of matrix products and linear algebra."""

import numpy as np
import scipy.linalg

from .case import case
from .layouts import NUMPY_DTYPES, numbers


@case("matmul.product", lambda a, b, out: np.matmul(a, b), NUMPY_DTYPES)
def product_samples(rng, dtype):
    for one, other in (((3, 4), (4, 2)), ((4,), (4, 2)), ((3, 4), (4,)), ((4,), (4,)),
                       ((5, 3, 4), (4, 2)),
                       ((2, 1, 3, 4), (5, 4, 2)), ((3, 0), (0, 2))):
        a, b = numbers(rng, one, dtype), numbers(rng, other, dtype)
        yield (a, b, np.empty_like(np.matmul(a, b))), {}
    a, b = numbers(rng, (2, 4, 3), dtype), numbers(rng, (2, 4), dtype)
    yield (a.swapaxes(1, 2), b.T, np.empty((2, 3, 2), dtype)), {}


@case("quantization.scaled", lambda a, a_scales, b, b_scales, out:
      np.matmul(a, b, dtype="int64") * a_scales * b_scales, ("int8", "uint8"))
def scaled_samples(rng, dtype):
    for m, k, n in ((3, 5, 4), (20, 70, 33), (1, 8, 9), (9, 8, 1), (3, 0, 2)):
        a, b = numbers(rng, (m, k), dtype), numbers(rng, (k, n), dtype)
        for left, right in (((), ()), ((m, 1), (1, n)), ((m, 1), ())):
            scales = (np.asarray(rng.random(shape), "float32") for shape in (left, right))
            yield (a, next(scales), b, next(scales), np.empty((m, n), "float32")), {}
    a, b = numbers(rng, (2, 3, 4), dtype), numbers(rng, (4, 5), dtype)
    yield (a, np.ones((2, 3, 1), "float32"), b, np.ones((1, 5), "float32"),
           np.empty((2, 3, 5), "float32")), {}


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
