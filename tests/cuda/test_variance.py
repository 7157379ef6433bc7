"""Variances, and extremes of what is a number, by the device's kernels on the mock driver."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat

pytest.importorskip("cuda.core", reason="cuda-python is not installed")
pytestmark = pytest.mark.usefixtures("cuda")


def stays(function, *arrays):
    """What `function` of Mats on the device returns, which no copy to the host has computed."""
    with mat.use_device("cuda", required=True):
        given = [mat.array(a) for a in arrays]
        with mat.debug.expect_copies(d2h=0, fallbacks=0):
            found = function(*given)
        return found.to_numpy()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("shape", "axes"), [((70_001,), (None,)), ((3, 900), (0, 1)),
                                             ((5000, 16), (0, None)), ((4, 6, 5), ((0, 2), 1))])
@pytest.mark.sample(3)
def test_variances(rng, shape, axes, dtype):
    for offset in (0, 1e3 if dtype == "float32" else 1e8):
        x = (rng.standard_normal(shape) + offset).astype(dtype)
        for axis in axes:
            wanted = np.var(x.astype(np.longdouble), axis=axis, ddof=1)
            found = stays(lambda m, axis=axis: mat.var(m, axis, ddof=1), x)
            assert_allclose(found, wanted, rtol=16 * float(np.finfo(dtype).eps))
    found = stays(lambda m: mat.std(m, axes[0], keepdims=True), x)
    assert_allclose(found, np.std(x.astype(np.longdouble), axes[0], keepdims=True), rtol=1e-5)


def test_infinities_spread_and_equal_elements_have_none():
    x = np.ones((40, 3), np.float32)
    x[33, 1] = np.inf
    assert_array_equal(stays(lambda m: mat.var(m, 0), x), [0, np.nan, 0])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.sample(1)
def test_nan_is_left_out(rng, dtype):
    x = rng.standard_normal((40, 30)).astype(dtype)
    x[rng.random(x.shape) < 0.4] = np.nan
    x[:, 7] = np.nan
    for axis in (0, 1, None):
        assert_array_equal(stays(lambda m, axis=axis: mat.nanmin(m, axis), x),
                           np.fmin.reduce(x, axis))
        assert_array_equal(stays(lambda m, axis=axis: mat.nanmax(m, axis), x),
                           np.fmax.reduce(x, axis))
