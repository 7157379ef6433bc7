"""The vector mathematics against mpmath and wider types: all exponents, ranges, hard cases, and
what C99 says of the rest.
"""

import numpy as np
import pytest

import mat
from mat.support.native import lib

from ..support import accuracy
from ..support.accuracy import PROMISED, arguments, exact, kernel, ulps, worst

pytestmark = pytest.mark.skipif(lib is None, reason="the kernels are not compiled")
DTYPES = (np.float64, np.float32)
INF, NAN = np.inf, np.nan
TINY = {np.float64: 5e-324, np.float32: 1e-45}
functions = pytest.mark.parametrize("name", PROMISED)
dtypes = pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)


def promised(name, dtype):
    return PROMISED[name][DTYPES.index(dtype)]


def same(got, expected):
    """Equal, NaN where NaN is due, and with the same sign of zero."""
    np.testing.assert_array_equal(got, np.array(expected, got.dtype))
    np.testing.assert_array_equal(np.signbit(got[~np.isnan(got)]),
                                  np.signbit(np.array(expected, got.dtype)[~np.isnan(got)]))


def test_every_function_is_tested():
    assert set(accuracy.NAMES) == set(PROMISED)


@functions
@dtypes
def test_errors_keep_below_what_is_promised(name, dtype):
    error, where = worst(name, dtype, lambda *x: kernel(name, *x), count=20_000, seed=7)
    assert error <= promised(name, dtype), where


@functions
def test_the_fast_reference_agrees_with_mpmath(name):
    for operands in arguments(name, np.float64, 40, np.random.default_rng(3)):
        with np.errstate(all="ignore"):
            finite = np.isfinite(accuracy.wide(name, *operands)[0])
        if name in ("log", "log1p"):
            finite &= operands[0] > (0 if name == "log" else -1)
        operands = [x[finite] for x in operands]
        assert np.all(ulps(kernel(name, *operands), *exact(name, *operands))
                      <= promised(name, np.float64))


SPECIAL = {
    "exp": ([INF, -INF, NAN, 0, -0.0, 1e38, -1e38], [INF, 0, NAN, 1, 1, INF, 0]),
    "expm1": ([INF, -INF, NAN, 0, -0.0, 1e38, -1e38], [INF, -1, NAN, 0, -0.0, INF, -1]),
    "log": ([INF, -INF, NAN, 0, -0.0, 1, -1, -1e-38], [INF, NAN, NAN, -INF, -INF, 0, NAN, NAN]),
    "log1p": ([INF, -INF, NAN, 0, -0.0, -1, -2], [INF, NAN, NAN, 0, -0.0, -INF, NAN]),
    "sin": ([INF, -INF, NAN, 0, -0.0], [NAN, NAN, NAN, 0, -0.0]),
    "cos": ([INF, -INF, NAN, 0, -0.0], [NAN, NAN, NAN, 1, 1]),
    "tan": ([INF, -INF, NAN, 0, -0.0], [NAN, NAN, NAN, 0, -0.0]),
    "sinh": ([INF, -INF, NAN, 0, -0.0, 1e38, -1e38], [INF, -INF, NAN, 0, -0.0, INF, -INF]),
    "cosh": ([INF, -INF, NAN, 0, -0.0, 1e38, -1e38], [INF, INF, NAN, 1, 1, INF, INF]),
    "tanh": ([INF, -INF, NAN, 0, -0.0, 1e38, -1e38], [1, -1, NAN, 0, -0.0, 1, -1]),
    "erf": ([INF, -INF, NAN, 0, -0.0, 1e38, -1e38], [1, -1, NAN, 0, -0.0, 1, -1]),
    "logistic": ([INF, -INF, NAN, 0, -0.0, 1e38, -1e38], [1, 0, NAN, 0.5, 0.5, 1, 0]),
}


@pytest.mark.parametrize("name", SPECIAL)
@dtypes
def test_specials_are_those_of_c99(name, dtype):
    x, expected = SPECIAL[name]
    for count in (1, 5, 33):  # in vectors and in what is left over
        same(kernel(name, np.repeat(np.array(x, dtype), count)), np.repeat(expected, count))


@dtypes
def test_specials_of_pow_are_those_of_numpy(dtype):
    values = [0, -0.0, 1, -1, 2, -2, 3, -3, 0.5, -0.5, 0.75, 1.5, -1.5, INF, -INF, NAN, TINY[dtype],
              -TINY[dtype],
              float(np.finfo(dtype).max), -float(np.finfo(dtype).max), 2.0 ** 31 + 1, 2.0 ** 52 + 1,
              2.0 ** 53, 1e17, -1e17,
              2.0 ** 23 + 1, -2.0 ** 24 + 1, 2.0 ** 24 + 2]
    x, y = (a.ravel() for a in np.meshgrid(np.array(values, dtype), np.array(values, dtype)))
    with np.errstate(all="ignore"):
        expected = np.power(x.astype(np.longdouble), y.astype(np.longdouble)).astype(dtype)
    got = kernel("pow", x, y)
    nowhere = ~np.isfinite(expected) | (expected == 0)
    same(got[nowhere], expected[nowhere])
    np.testing.assert_allclose(got[~nowhere], expected[~nowhere], rtol=np.finfo(dtype).eps)


@pytest.mark.parametrize("name", ["expm1", "log1p", "sin", "tan", "sinh", "tanh"])
@dtypes
def test_the_smallest_numbers_come_back(name, dtype):
    smallest = np.finfo(dtype).smallest_normal
    x = np.array([TINY[dtype], 7 * TINY[dtype], smallest / 2, smallest, 3 * smallest], dtype)
    same(kernel(name, np.concatenate((x, -x))), np.concatenate((x, -x)))


@dtypes
def test_exp_gives_subnormals_and_the_last_finite_numbers(dtype):
    top, bottom = (700, -750) if dtype is np.float64 else (85, -106)
    for low, high in ((bottom, bottom * 0.9), (top, top * 1.02)):
        x = np.linspace(low, high, 4001).astype(dtype)
        with np.errstate(all="ignore"):
            wanted = accuracy.wide("exp", x)
        for name in ("exp", "logistic") if low < 0 else ("exp",):
            assert np.all(ulps(kernel(name, x), *wanted) <= promised(name, dtype))


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
@dtypes
def test_near_multiples_of_a_quarter_turn(name, dtype):
    """Where most digits cancel: all multiples up to where the C library takes over, and a few
    beyond, also in one block.
    """
    limit = 2 ** 19 if dtype is np.float64 else 2 ** 21
    with np.errstate(over="ignore"):
        x = (np.arange(1, int(limit * 0.65), 1 if dtype is np.float64 else 7)
             * (np.longdouble(np.pi) / 2)).astype(dtype)
    x = np.concatenate([x, np.nextafter(x, dtype(0)), -x[:1000],
                        np.array([1e10, 3.5, -1e30, limit, -limit], dtype)])
    error = ulps(kernel(name, x), *accuracy.wide(name, x))
    assert error.max() <= promised(name, dtype), x[error.argmax()]


@dtypes
def test_logarithms_near_one(dtype):
    one = np.arange(-3000, 3000) * np.finfo(dtype).epsneg
    for name, x in (("log", (1 + one).astype(dtype)), ("log1p", one.astype(dtype))):
        assert np.all(ulps(kernel(name, x), *accuracy.wide(name, x)) <= promised(name, dtype))


@functions
@dtypes
def test_in_place_and_odd_sizes(name, dtype):
    x = np.random.default_rng(5).uniform(0.1, 3, 100).astype(dtype)
    whole = kernel(name, x, x)
    for n in (0, 1, 3, 7, 15, 17, 31, 63, 99):
        for start in (0, 1):
            np.testing.assert_allclose(kernel(name, x[start:start + n].copy(),
                                              x[start:start + n].copy()),
                                       whole[start:start + n],
                                       rtol=2 * promised(name, dtype) * np.finfo(dtype).eps)
    pointer = accuracy.ffi.cast("double *" if dtype is np.float64 else "float *", x.ctypes.data)
    getattr(lib,
            f"mat_vmath_{'f64' if dtype is np.float64 else 'f32'}")(accuracy.NAMES.index(name),
                                                                    x.size, pointer, pointer,
                                                                    pointer)
    np.testing.assert_array_equal(x, whole)


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
@dtypes
def test_operations_leave_large_arguments_to_the_c_library(name, dtype):
    x = np.array([0.5, 1e3, 2.0 ** 19 + 1, 3e6, 1e10, -1e30, 7] * 300, dtype)
    for operand in (mat.array(x), mat.array(np.repeat(x, 2))[::2]):
        assert np.all(ulps(getattr(mat, name)(operand).to_numpy(), *accuracy.wide(name, x))
                      <= promised(name, dtype))


@pytest.mark.parametrize("name", ["exp", "tanh"])
@dtypes
def test_operations_give_the_bits_of_the_loops(name, dtype, rng):
    """Those that have kernels of their own with AVX-512, for any number of elements."""
    special = [0, -0.0, INF, -INF, NAN, TINY[dtype], 0.7, 0.75, -746, 710, -104, 89, 88.8, 709.8,
               -744.9, -708.5, -87.4, -103.9, 20, 10]
    x = np.concatenate([np.array(special, dtype),
                        *(part for part, in arguments(name, dtype, 500, rng))])
    x = rng.permutation(x)
    wanted = kernel(name, x)
    for count in (x.size, *range(1, 140, 3)):
        at = rng.integers(x.size - count + 1)
        part, expected = x[at:at + count], wanted[at:at + count]
        same(getattr(mat, name)(mat.array(part)).to_numpy(), expected)
        y = mat.array(part)
        same(getattr(mat, name)(y, out=y).to_numpy(), expected)
    same(getattr(mat, name)(mat.array(np.repeat(x, 2))[::2]).to_numpy(), wanted)


# The test of the test


def test_errors_are_counted_in_units_of_the_last_place():
    one = np.array([1.0, 1.0, 2.0 ** -1074, 3.0, np.inf, 1.0])
    got = np.array([np.nextafter(1, 2), np.nextafter(1, 0), 2.0 ** -1073, 3.0, 1.0, np.nan])
    np.testing.assert_array_equal(ulps(got, one), [1, 0.5, 1, 0, np.inf, np.inf])
    np.testing.assert_array_equal(ulps(np.float32([1.0]), np.array([1 + 2.0 ** -24])), [0.5])
    assert ulps(np.array([1.0]), np.array([1.0]), np.array([0.25]))[0] == 0.25
