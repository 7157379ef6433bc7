"""Cases of element-wise operations and of comparisons of whole arrays."""

import numpy as np

from .case import FACTORS, REAL, SHAPES, case
from .functions import FUNCTIONS, between, specials
from .layouts import BLAS_DTYPES, FLOATS, INTEGERS, NUMPY_DTYPES, numbers


def unary(name, reference, dtypes, samples):
    def make(rng, dtype):
        for shape in SHAPES:
            x = samples(rng, shape, dtype)
            with np.errstate(all="ignore"):
                yield (x, np.empty_like(reference(x))), {}
    case("elementwise." + name, lambda x, out: reference(x), dtypes)(make)


for _name, _function in FUNCTIONS.items():
    unary(_name, *_function[:3])


@case("elementwise.clip", lambda x, low, high, out: np.clip(x, low, high), REAL)
def clip_samples(rng, dtype):
    for shape in SHAPES:
        x, bound = specials(rng, shape, dtype), numbers(rng, shape, dtype)
        for bounds in ((1, 3), (bound, bound + 1), (1, bound), (bound, 3), (3, 1)):
            yield (x, *bounds, np.empty_like(x)), {}
    x = numbers(rng, (3, 4), dtype)
    yield (x, numbers(rng, (4,), dtype), numbers(rng, (3, 1), dtype), np.empty_like(x)), {}


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
for _name in ("logical_and", "logical_or", "logical_xor"):
    binary(_name, getattr(np, _name), NUMPY_DTYPES)
for _name in ("bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm"):
    binary(_name, getattr(np, _name), INTEGERS)
for _name in ("left_shift", "right_shift"):
    binary(_name, getattr(np, _name), INTEGERS, between(0, 5))
for _name in ("floor_divide", "remainder", "fmod"):
    binary(_name, getattr(np, _name), (*INTEGERS, *FLOATS), between(1, 9))
for _name in ("copysign", "arctan2", "hypot", "logaddexp", "heaviside"):
    binary(_name, getattr(np, _name), FLOATS)
binary("nextafter", np.nextafter, ("float32", "float64"))
for _name in ("fmax", "fmin"):
    binary(_name, getattr(np, _name), REAL, specials)
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




@case("scaled.geem", lambda alpha, a, b, beta, c: alpha * a * b + (beta * c if beta else 0),
      (*BLAS_DTYPES, "int32"))
def geem_samples(rng, dtype):
    for shape in SHAPES:
        for alpha, beta in FACTORS:
            yield (alpha, numbers(rng, shape, dtype), numbers(rng, shape, dtype), beta,
                   numbers(rng, shape, dtype)), {}


@case("scaled.geerv", lambda alpha, a, x, beta,
      b: alpha * a * x.ravel() + (beta * b if beta else 0))
def geerv_samples(rng, dtype):
    for m, n in ((3, 4), (0, 2), (1, 5)):
        for alpha, beta in FACTORS:
            for length in ((n,), (1, n)):
                yield (alpha, numbers(rng, (m, n), dtype), numbers(rng, length, dtype), beta,
                       numbers(rng, (m, n), dtype)), {}


@case("scaled.add_sign", lambda alpha, a, beta,
      b: alpha * np.sign(a) + (beta * b if beta else 0),
      ("float32", "float64", "int16"))
def add_sign_samples(rng, dtype):
    for shape in SHAPES:
        for alpha, beta in FACTORS:
            yield (alpha, numbers(rng, shape, dtype), beta, numbers(rng, shape, dtype)), {}


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
