"""`CASES`: for each operation in the registry, operands to try and what must come out, in plain
NumPy and SciPy.

It knows nothing of `mat`; ``test_implementations.py`` runs it.
"""

import numpy as np
import scipy.special

from .case import CASES, FACTORS, SHAPES, Case, case
from .cases_blas import plus
from .cases_nn import NN_CASES
from .layouts import BLAS_DTYPES, FLOATS, INTEGERS, NUMPY_DTYPES, numbers

REAL = (*INTEGERS, *FLOATS)
CASES.update((name, Case(*parts)) for name, parts in NN_CASES.items())


# Element by element


def unary(name, reference, dtypes, samples):
    def make(rng, dtype):
        for shape in SHAPES:
            x = samples(rng, shape, dtype)
            with np.errstate(all="ignore"):
                yield (x, np.empty_like(reference(x))), {}
    case("elementwise." + name, lambda x, out: reference(x), dtypes)(make)


def between(low, high):
    return lambda rng, shape, dtype: (rng.uniform(low, high, shape)
                                      + (0.25j if dtype.startswith("c") else 0)).astype(dtype)


def sigmoid(x):
    return (1 / (1 + np.exp(-x.astype(np.float64)))).astype(x.dtype)


def error_function(x):
    return scipy.special.erf(x.astype(np.float64)).astype(x.dtype)


for _name in ("square", "negative", "abs"):
    unary(_name, getattr(np, _name), (*REAL, "complex64", "complex128"), numbers)
for _name in ("sign", "floor", "ceil", "rint"):
    unary(_name, getattr(np, _name), FLOATS, numbers)
for _name in ("sqrt", "log", "log1p"):
    unary(_name, getattr(np, _name), (*FLOATS, "int32", "complex64", "complex128"), between(0.1, 9))
for _name in ("exp", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh"):
    unary(_name, getattr(np, _name), (*FLOATS, "complex64", "complex128"), between(-1.5, 1.5))
unary("reciprocal", lambda x: (1 / x).astype(x.dtype),
      (*FLOATS, "int32", "complex64", "complex128"), between(1, 9))
unary("logistic", sigmoid, FLOATS, numbers)
unary("erf", error_function, FLOATS, numbers)


def binary(name, reference, dtypes, samples=numbers):
    def make(rng, dtype):
        for shape in SHAPES:
            x, y = samples(rng, shape, dtype), samples(rng, shape, dtype)
            kind = reference(x, y).dtype
            yield (x, y, np.empty(shape, kind)), {}
        x = samples(rng, (3, 4), dtype)
        yield (x, 3, np.empty((3, 4), reference(x, 3).dtype)), {}
        yield (3, x, np.empty((3, 4), reference(3, x).dtype)), {}
        yield (samples(rng, (3, 1), dtype), samples(rng, (4,), dtype), np.empty((3, 4), kind)), {}
    case("elementwise." + name, lambda x, y, out: reference(x, y), dtypes)(make)


for _name in ("add", "multiply", "equal", "not_equal", "maximum", "minimum"):
    binary(_name, getattr(np, _name), NUMPY_DTYPES)
for _name in ("less", "less_equal", "greater", "greater_equal"):
    binary(_name, getattr(np, _name), REAL)
binary("subtract", np.subtract, NUMPY_DTYPES[1:])
binary("divide", np.divide, NUMPY_DTYPES[1:], between(1, 9))
binary("pow", np.power, ("uint8", "int64", *FLOATS, "complex128"), between(1, 3))


@case("elementwise.fill", lambda value, x: np.full_like(x, value), NUMPY_DTYPES)
def fill_samples(rng, dtype):
    for shape in SHAPES:
        yield (1, np.empty(shape, dtype)), {}


@case("elementwise.assign", lambda x, out: np.broadcast_to(x, out.shape).astype(out.dtype),
      NUMPY_DTYPES)
def assign_samples(rng, dtype):
    for shape in SHAPES:
        yield (numbers(rng, shape, dtype), np.empty(shape, dtype)), {}
        yield (1, np.empty(shape, dtype)), {}
    yield (numbers(rng, (3, 1), "int8"), np.empty((2, 3, 4), dtype)), {}


@case("elementwise.geem", lambda alpha, a, b, beta, c: alpha * a * b + (beta * c if beta else 0),
      (*BLAS_DTYPES, "int32"))
def geem_samples(rng, dtype):
    for shape in SHAPES:
        for alpha, beta in FACTORS:
            yield (alpha, numbers(rng, shape, dtype), numbers(rng, shape, dtype), beta,
                   numbers(rng, shape, dtype)), {}


@case("elementwise.geerv", lambda alpha, a, x, beta,
      b: alpha * a * x.ravel() + (beta * b if beta else 0))
def geerv_samples(rng, dtype):
    for m, n in ((3, 4), (0, 2), (1, 5)):
        for alpha, beta in FACTORS:
            for length in ((n,), (1, n)):
                yield (alpha, numbers(rng, (m, n), dtype), numbers(rng, length, dtype), beta,
                       numbers(rng, (m, n), dtype)), {}


@case("elementwise.add_sign", lambda alpha, a, beta,
      b: alpha * np.sign(a) + (beta * b if beta else 0),
      ("float32", "float64", "int16"))
def add_sign_samples(rng, dtype):
    for shape in SHAPES:
        for alpha, beta in FACTORS:
            yield (alpha, numbers(rng, shape, dtype), beta, numbers(rng, shape, dtype)), {}


# Reductions, rows and columns


def reduction(name, reference, dtypes, of_nothing=True, one_axis=False):
    def make(rng, dtype):
        for shape, axes in (((3, 4), (None, 0, -1)), ((5,), (0, None)),
                            ((2, 3, 2), (None, 1, (0, 2), (-1, 1), ())),
                            ((), (None,)), ((0, 3), (0, None)), ((3, 0), (0,))):
            for axis in axes:
                empty = 0 in shape and not (shape == (3, 0) and axis == 0)
                if (one_axis and isinstance(axis, tuple)) or (empty and not of_nothing):
                    continue
                for keepdims in (False, True):
                    x = numbers(rng, shape, dtype)
                    found = reference(x, axis=axis, keepdims=keepdims)
                    yield (x, np.empty_like(found)), {"axis": axis, "keepdims": keepdims}
    case("reduce." + name, lambda x, out, axis,
         keepdims: reference(x, axis=axis, keepdims=keepdims), dtypes)(make)


def average(x, axis, keepdims):
    """The mean in high precision; NaN, without a warning, of nothing."""
    total = np.asarray(np.sum(x, axis=axis, keepdims=keepdims,
                              dtype=np.complex128 if x.dtype.kind == "c" else np.float64))
    with np.errstate(all="ignore"):
        mean = total * total.size / np.float64(x.size) if total.size else total
    return np.asarray(mean).astype(x.dtype if x.dtype.kind in "fc" else np.float64)


reduction("sum", np.sum, NUMPY_DTYPES)
reduction("prod", np.prod, NUMPY_DTYPES)
reduction("mean", average, NUMPY_DTYPES)
reduction("max", np.max, ("bool", *REAL), of_nothing=False)
reduction("min", np.min, ("bool", *REAL), of_nothing=False)
reduction("argmax", np.argmax, ("bool", *REAL), of_nothing=False, one_axis=True)
reduction("argmin", np.argmin, ("bool", *REAL), of_nothing=False, one_axis=True)


@case("reduce.sum_into", lambda x, axis, alpha, beta,
      y: plus(alpha * np.sum(x, axis).reshape(y.shape), beta, y))
def sum_into_samples(rng, dtype):
    for shape, axis, out in (((3, 4), 0, (4,)), ((3, 4), 1, (3, 1)), ((3, 4), None, (1,)),
                             ((2, 3, 2), (0, 2), (3,)),
                             ((3, 0), 1, (3,))):
        for alpha, beta in FACTORS:
            yield (numbers(rng, shape, dtype), axis, alpha, beta, numbers(rng, out, dtype)), {}


@case("reduce.rows_scaled", lambda scales, a, out: np.diag(scales) @ a, (*BLAS_DTYPES, "int32"))
def rows_scaled_samples(rng, dtype):
    for m, n in ((3, 4), (1, 3), (3, 0)):
        yield (numbers(rng, (m,), dtype), numbers(rng, (m, n), dtype), np.empty((m, n), dtype)), {}


@case("reduce.columns_scaled", lambda scales, a, out: a @ np.diag(scales), (*BLAS_DTYPES, "int32"))
def columns_scaled_samples(rng, dtype):
    for m, n in ((3, 4), (1, 3), (0, 3)):
        yield (numbers(rng, (n,), dtype), numbers(rng, (m, n), dtype), np.empty((m, n), dtype)), {}


# Comparing as a whole


@case("shape.same", lambda a, b: a.tolist() == b.tolist(), NUMPY_DTYPES)
def same_samples(rng, dtype):
    for shape in SHAPES:
        a = np.asarray(numbers(rng, shape, dtype))
        yield (a, a.copy()), {}
        if shape:
            other = a.copy()
            other[..., -1:] = 1 - other[..., -1:]
            yield (a, other), {}


@case("shape.close", lambda a, b, rtol, atol, equal_nan: bool(
    np.all((np.abs(a - b) <= atol + rtol * np.abs(b)) | ((a != a) & (b != b) & equal_nan))))
def close_samples(rng, dtype):
    for shape in SHAPES:
        a = numbers(rng, shape, dtype)
        yield (a, a * np.asarray(1.001, dtype), 1e-2, 0.0, False), {}
        yield (a, a * np.asarray(1.1, dtype), 1e-2, 0.0, False), {}
    a = np.array([1, np.nan], dtype)
    yield (a, a.copy(), 0.0, 0.0, True), {}
    yield (a, a.copy(), 0.0, 0.0, False), {}
