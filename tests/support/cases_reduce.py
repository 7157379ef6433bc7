"""Cases of reductions, and of scaled rows and columns."""

import numpy as np

from .case import FACTORS, REAL, case, plus
from .layouts import BLAS_DTYPES, NUMPY_DTYPES, numbers


def reduction(name, reference, dtypes, of_nothing=True, one_axis=False, module="reduce"):
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
    case(f"{module}.{name}", lambda x, out, axis,
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
    reduction(_name, getattr(np, _name), NUMPY_DTYPES, module="truth")
reduction("count_nonzero", lambda x, axis, keepdims: np.asarray(
    np.count_nonzero(x, axis=axis, keepdims=keepdims)), NUMPY_DTYPES, module="truth")


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


@case("reduce.rows_scaled", lambda scales, a, out: np.diag(scales) @ a, (*BLAS_DTYPES, "int32"))
def rows_scaled_samples(rng, dtype):
    for m, n in ((3, 4), (1, 3), (3, 0)):
        yield (numbers(rng, (m,), dtype), numbers(rng, (m, n), dtype), np.empty((m, n), dtype)), {}


@case("reduce.columns_scaled", lambda scales, a, out: a @ np.diag(scales), (*BLAS_DTYPES, "int32"))
def columns_scaled_samples(rng, dtype):
    for m, n in ((3, 4), (1, 3), (0, 3)):
        yield (numbers(rng, (n,), dtype), numbers(rng, (m, n), dtype), np.empty((m, n), dtype)), {}
