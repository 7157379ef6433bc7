"""Kernels of complex numbers beside NumPy: reductions, comparisons, tests, conversions, numbers."""

import operator

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat

# NumPy warns of NaN in comparisons, and of overflow
pytestmark = pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
DTYPES = ["complex64", "complex128"]
SHAPES = [(1,), (3,), (64,), (65,), (129,), (3000,), (5, 7), (200, 3), (3, 200), (3, 4, 5),
          (70, 8, 3), (0, 3)]
VIEWS = [lambda a: a, lambda a: a.T, lambda a: a[::-1], lambda a: a[::2], lambda a: a[..., ::2]]
SPECIAL = [complex(np.nan, 1), complex(1, np.nan), complex(np.inf, 0), complex(0, -np.inf), 0j,
           complex(-0.0, -0.0), 1 + 1j, 1 - 1j]
COMPARISONS = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]


def arrays(rng, shape, dtype):
    """Return arrays of normal numbers, of few values, and with special ones."""
    found = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    special = np.round(found)
    at = rng.integers(0, max(special.size, 1), special.size // 8)
    special.reshape(-1)[at] = rng.choice(SPECIAL, at.size)
    return found, np.round(found), special


def assert_same(got, wanted):
    """Fail unless all parts are the same numbers, also the signs of zeros, or NaN."""
    got, wanted = got.to_numpy(), np.asarray(wanted)
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    for one, other in ((got.real, wanted.real), (got.imag, wanted.imag)):
        assert_array_equal(one, other)
        assert_array_equal(np.signbit(one) & ~np.isnan(one), np.signbit(other) & ~np.isnan(other))


@pytest.mark.host  # a device adds in another order
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_reductions_have_numpys_bits(rng, shape, dtype):
    for a in arrays(rng, shape, dtype):
        for axis in (None, *range(a.ndim)):
            for name in ("sum", "mean", "max", "min", "argmax", "argmin"):
                if a.size or name == "sum":
                    assert_same(getattr(mat, name)(mat.array(a), axis),
                                getattr(np, name)(a, axis=axis))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_reductions_of_views(rng, shape, dtype):
    eps = np.finfo(dtype).eps
    a = arrays(rng, shape, dtype)[0]
    for view in VIEWS:
        x, y = view(mat.array(a)), view(a)
        for axis in (None, *range(a.ndim)):
            for name in ("sum", "mean", "prod"):
                if y.size:
                    assert_allclose(getattr(mat, name)(x, axis).to_numpy(),
                                    getattr(np, name)(y, axis=axis), rtol=2000 * eps,
                                    atol=1000 * eps)
            for name in ("max", "min", "argmax", "argmin"):
                if y.size:
                    assert_same(getattr(mat, name)(x, axis), getattr(np, name)(y, axis=axis))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("view", VIEWS)
def test_comparisons_and_tests(rng, view, dtype):
    for a, b in zip(arrays(rng, (40, 9), dtype), arrays(rng, (40, 9), dtype)[::-1], strict=True):
        x, y, a, b = view(mat.array(a)), mat.array(view(b)), view(a), view(b)
        for name in [*COMPARISONS, "maximum", "minimum"]:
            mats, numpys = getattr(mat, name), getattr(np, name)
            assert_same(mats(x, y), numpys(a, b))
            for number in (1 + 1j, 1.0, 1, complex(np.nan, 0)):
                assert_same(mats(x, number), numpys(a, number))
                assert_same(mats(number, x), numpys(number, a))
        for name in ("isnan", "isfinite", "isinf", "logical_not"):
            assert_same(getattr(mat, name)(x), getattr(np, name)(a))
        assert_same(x.astype(bool), a.astype(bool))


@pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind"])
def test_truths_of_complex_numbers_are_an_unsafe_conversion(casting):
    x = mat.array([1j, 0])
    with pytest.raises(TypeError):
        x.to_numpy().astype(bool, casting=casting)
    with pytest.raises(mat.DTypeError, match=casting):
        x.astype(bool, casting=casting)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("other", ["int32", "int64", "float32", "float64", *DTYPES])
@pytest.mark.parametrize("n", [3, 3000])  # more than a kernel converts at once
def test_other_elements_are_converted(rng, n, other, dtype):
    a = arrays(rng, n, dtype)[1]
    b = arrays(rng, n, other)[1] if other in DTYPES else np.round(a.real[::-1]).astype(other)
    x, y = mat.array(a), mat.array(b)
    assert_same(y.astype(dtype), b.astype(dtype))
    assert_same(y[::2].astype(dtype), b[::2].astype(dtype))
    for name in ["add", "subtract", "multiply", *COMPARISONS]:
        mats, numpys = getattr(mat, name), getattr(np, name)
        assert_array_equal(mats(x, y).to_numpy(), numpys(a, b))
        assert_array_equal(mats(y[::-1], x).to_numpy(), numpys(b[::-1], a))
        assert_array_equal(mats(y, 2j).to_numpy(), numpys(b, 2j))
    assert mats(y, 2j).dtype == numpys(b, 2j).dtype


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("operate", [operator.add, operator.sub, operator.mul, operator.truediv])
def test_complex_numbers_beside_mats(rng, operate, dtype):
    a = arrays(rng, 20, dtype)[0]
    x, r = mat.array(a), mat.array(a.real.copy())
    for number in (2j, 1.5 - 0.25j, np.complex64(1 + 2j), np.complex128(0.5j)):
        for mats, numpys in ((x, a), (r, a.real)):
            for got, wanted in ((operate(mats, number), operate(numpys, number)),
                                (operate(number, mats), operate(number, numpys))):
                assert got.dtype == wanted.dtype
                assert_allclose(got.to_numpy(), wanted, rtol=8 * np.finfo(wanted.dtype).eps)


@pytest.mark.parametrize("dtype", [*DTYPES, "float64"])
def test_complex_numbers_are_written(dtype):
    for index in (slice(1, 3), 1, ..., slice(None, None, 2)):
        for number in (1j, complex(1e300, 0), complex(0, -1e300), complex(np.inf, np.nan)):
            a = np.ones(5, dtype)
            x = mat.array(a)
            if dtype == "float64":
                with pytest.raises(mat.DTypeError):
                    x[index] = number
            else:
                x[index] = a[index] = number
            assert_array_equal(x.to_numpy(), a)
    x = mat.zeros(4, dtype="complex64")
    x.fill(2 - 1j)
    assert_array_equal(x.to_numpy(), np.full(4, 2 - 1j))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 5, 1000, 5000])
def test_products_with_conjugates(rng, n, dtype):
    a, b = arrays(rng, n, dtype)[0], arrays(rng, n, dtype)[0]
    got = mat.vdot(mat.array(a), mat.array(b))
    assert got.dtype == dtype
    assert_allclose(got.to_numpy(), np.vdot(a, b), rtol=200 * np.finfo(dtype).eps,
                    atol=n * np.finfo(dtype).eps)
    assert_same(mat.array(a).conj(), a.conj())
    assert_same(np.reciprocal(mat.array(a)), np.reciprocal(a))


@pytest.mark.parametrize("dtype", DTYPES)
def test_few_complex_numbers_are_counted(rng, dtype):
    for a in arrays(rng, 9, dtype):
        a[::3] = 0
        a[1:2] = complex(-0.0, -0.0)
        assert np.count_nonzero(mat.array(a)) == np.count_nonzero(a)
        assert_array_equal(np.nonzero(mat.array(a))[0], np.nonzero(a)[0])
