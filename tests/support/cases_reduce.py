"""Cases of reductions, and of scaled rows and columns."""

import numpy as np

from .case import FACTORS, REAL, case, plus
from .layouts import BLAS_DTYPES, FLOATS, NUMPY_DTYPES, numbers


def reduction(name, reference, dtypes, of_nothing=True, one_axis=False,
              samples=numbers):  # its parameters are the facts
    def make(rng, dtype):
        for shape, axes in (((3, 4), (None, 0, -1)), ((5,), (0, None)),
                            ((2, 3, 2), (None, 1, (0, 2), (-1, 1), ())),
                            ((), (None,)), ((0, 3), (0, None)), ((3, 0), (0,))):
            for axis in axes:
                empty = 0 in shape and not (shape == (3, 0) and axis == 0)
                if (one_axis and isinstance(axis, tuple)) or (empty and not of_nothing):
                    continue
                for keepdims in (False, True):
                    x = np.asarray(samples(rng, shape, dtype))
                    found = reference(x, axis=axis, keepdims=keepdims)
                    yield (x, np.empty_like(found)), {"axis": axis, "keepdims": keepdims}
    case(f"reduce.{name}", lambda x, out, axis,
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
for _name in ("any", "all"):
    reduction(_name, getattr(np, _name), NUMPY_DTYPES)
reduction("count_nonzero", lambda x, axis, keepdims: np.asarray(
    np.count_nonzero(x, axis=axis, keepdims=keepdims)), NUMPY_DTYPES)


def running(name, rule):
    def make(rng, dtype):
        for shape in ((5,), (3, 4), (2, 3, 2), (0, 3), (3, 0), (1, 7)):
            for axis in (*range(len(shape)), -1):
                x = numbers(rng, shape, dtype)
                yield (x, np.empty_like(rule.accumulate(x, axis)), axis), {}
    case(f"scan.{name}", lambda x, out, axis: rule.accumulate(x, axis, out.dtype),
         NUMPY_DTYPES)(make)


running("cumsum", np.add)
running("cumprod", np.multiply)
running("cummax", np.maximum)
running("cummin", np.minimum)
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


@case("scaled.rows_scaled", lambda scales, a, out: np.diag(scales) @ a, (*BLAS_DTYPES, "int32"))
def rows_scaled_samples(rng, dtype):
    for m, n in ((3, 4), (1, 3), (3, 0)):
        yield (numbers(rng, (m,), dtype), numbers(rng, (m, n), dtype), np.empty((m, n), dtype)), {}


@case("scaled.columns_scaled", lambda scales, a, out: a @ np.diag(scales), (*BLAS_DTYPES, "int32"))
def columns_scaled_samples(rng, dtype):
    for m, n in ((3, 4), (1, 3), (0, 3)):
        yield (numbers(rng, (n,), dtype), numbers(rng, (m, n), dtype), np.empty((m, n), dtype)), {}


def numbers_with_nan(rng, shape, dtype):
    """Numbers, of which some are NaN."""
    found = numbers(rng, shape, dtype)
    if found.dtype.kind in "fc":
        found = np.where(rng.random(shape) < 0.2, np.asarray(np.nan, dtype), found)
    return found


for _name, _rule in (("nanmax", np.fmax), ("nanmin", np.fmin)):
    reduction(_name, lambda x, axis, keepdims, rule=_rule: np.asarray(
        rule.reduce(x, axis, keepdims=keepdims)), ("bool", *REAL), of_nothing=False,
        samples=numbers_with_nan)


@case("selecting.replace_nan", lambda x, y, out: np.where(np.isnan(x), y, x).astype(x.dtype),
      FLOATS)
def replace_nan(rng, dtype):
    for shape in ((3, 4), (5,), (0, 3), ()):
        x = np.asarray(numbers_with_nan(rng, shape, dtype))
        yield (x, 3, np.empty_like(x)), {}
        yield (x, np.asarray(numbers(rng, shape, dtype)), np.empty_like(x)), {}
    x = numbers_with_nan(rng, (3, 4), dtype)
    yield (x, numbers(rng, (3, 1), dtype), np.empty_like(x)), {}


@case("reduce.moments", lambda x, out, axis, keepdims, ddof, root: np.asarray(
    (np.std if root else np.var)(x.astype(np.longdouble), axis=axis, keepdims=keepdims,
                                 ddof=ddof)).astype(x.dtype), ("float32", "float64"))
def variances(rng, dtype):
    for shape, axes in (((3, 4), (None, 0, -1)), ((5,), (0, None)), ((40, 70), (0, 1)),
                        ((2, 3, 2), (None, 1, (0, 2), (-1, 1)))):
        for number, axis in enumerate(axes):
            x = rng.standard_normal(shape).astype(dtype) + 3
            keepdims, ddof, root = bool(number % 2), number % 2, bool(number % 3)
            out = np.empty_like(np.asarray(np.var(x, axis=axis, keepdims=keepdims)))
            yield (x, out), {"axis": axis, "keepdims": keepdims, "ddof": ddof, "root": root}
