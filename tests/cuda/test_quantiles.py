"""Medians and quantiles while a GPU is in use: NumPy's bits, by one kernel after the sort."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from tests.support import needs

pytestmark = [pytest.mark.usefixtures("cuda", "dev"), needs.native]
SHAPES = (((1000,), None), ((999,), None), ((1,), 0), ((7, 30), 0), ((7, 31), 1),
          ((3, 4, 5), (0, 2)), ((3, 4, 5), None))
DTYPES = "bBhHiIlLefd"


def elements(dtype, shape, seed=0):
    rng = np.random.default_rng(seed)
    if dtype in "efd":
        return (100 * rng.standard_normal(shape)).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype, endpoint=True)


def check(function, a, *args, **kwargs):
    x = mat.array(a) * 1
    found = function(x, *args, **kwargs)
    assert found.fresh == {"cuda:0"}
    with np.errstate(all="ignore"):
        wanted = function(a, *args, **kwargs)
    assert_array_equal(found.to_numpy(), np.asarray(wanted), strict=True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_medians(dtype):
    for shape, axis in SHAPES:
        check(np.median, elements(dtype, shape), axis)
        check(np.median, elements(dtype, shape), axis, keepdims=True)


@pytest.mark.parametrize("dtype", "fd")
@pytest.mark.parametrize("q", [0, 100, 30, 50, 99.9, 33.3])
def test_percentiles(dtype, q):
    for shape, axis in SHAPES:
        check(np.percentile, elements(dtype, shape), q, axis)
        check(np.quantile, elements(dtype, shape), q / 100, axis, keepdims=True)


@pytest.mark.parametrize("dtype", "efd")
def test_lines_with_nan(dtype):
    a = elements(dtype, (4, 33))
    a[1, 5] = a[3] = np.nan
    a[2, 3] = np.inf
    for k in range(32, 34):
        check(np.median, a[:, :k], 1)
        if dtype != "e":
            check(np.percentile, a[:, :k], 10, 1)


def test_one_launch_after_the_sort(mock):
    x = mat.array(elements("d", 1000)) + 0.0
    for _ in range(3):
        np.sort(x), np.median(x), np.percentile(x, 20)
    launches = []
    for function in (lambda: np.sort(x), lambda: np.median(x), lambda: np.percentile(x, 7.5)):
        before = mock.calls("cuLaunchKernel")
        function()
        launches.append(mock.calls("cuLaunchKernel") - before)
    assert launches[1] == launches[2] == launches[0] + 1
