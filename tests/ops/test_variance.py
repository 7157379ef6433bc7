"""Variances and standard deviations against NumPy in long double: dtypes, axes, layouts, offsets.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat.support.native import lib

from ..support.layouts import FLOATS, INTEGERS, MIXES, numbers, place

compiled = pytest.mark.skipif(lib is None, reason="NumPy loses digits to an offset")


def exact(x, axis=None, ddof=0):
    return np.var(x.astype(np.longdouble), axis=axis, ddof=ddof)


def near(found, wanted, dtype, eps=16):
    assert found.dtype == dtype
    assert_allclose(found.to_numpy(), wanted, rtol=eps * float(np.finfo(dtype).eps), atol=0)


@compiled
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(1,), (17,), (5000,), (70_000,), (3, 700), (700, 3), (130, 90),
                                   (6, 50, 40), (40_000, 3)], ids=str)
def test_any_axis_and_any_offset_costs_no_digits(rng, shape, dtype):
    for offset in (0, 1e3 if dtype == "float32" else 1e8):
        x = (rng.standard_normal(shape) + offset).astype(dtype)
        for axis in (None, *range(len(shape)), *([(0, 2)] if len(shape) == 3 else [])):
            near(mat.var(mat.array(x), axis), exact(x, axis), dtype)


@compiled
def test_what_begins_far_from_the_rest(rng):
    for x in (np.concatenate([np.zeros(1024), 1e8 + rng.standard_normal(50_000)]),
              np.linspace(0, 1e9, 60_000) + rng.standard_normal(60_000),
              np.concatenate([rng.standard_normal(60_000), [1e10]])):
        near(mat.var(mat.array(x)), exact(x), "float64")
        near(mat.var(mat.array(np.stack([x, x], 1)), 0), [exact(x)] * 2, "float64")


@compiled
def test_of_equal_elements_it_is_0():
    for n in (1, 10, 9000):
        assert mat.var(mat.full(n, 0.1)).item() == 0
        assert_array_equal(mat.std(mat.full((n, 3), 0.1), 0).to_numpy(), [0, 0, 0])


@pytest.mark.parametrize("dtype", ["bool", *INTEGERS, *FLOATS, "complex64", "complex128"])
def test_dtypes_as_numpys(rng, dtype):
    x = numbers(rng, (6, 7), dtype)
    for name in ("var", "std"):
        for kwargs in ({}, {"axis": 0}, {"axis": 1, "ddof": 1}, {"axis": (0, 1), "keepdims": True},
                       {"ddof": 1.5}, {"axis": -1, "correction": 1}):
            wanted = np.asarray(getattr(np, name)(x, **kwargs))
            found = getattr(mat, name)(mat.array(x), **kwargs)
            assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
            assert_allclose(found.to_numpy(), wanted,
                            rtol={"e": 2e-3, "f": 1e-5}.get(wanted.dtype.char, 1e-13))


@pytest.mark.parametrize("layout", MIXES)
def test_layouts(rng, layout):
    x = rng.standard_normal((5, 6, 7))
    view, out = place(x, MIXES[layout][0]), place(np.empty((5, 7)), MIXES[layout][-1])
    assert mat.var(view, 1, out=out) is out
    near(out, exact(x, 1), "float64")
    near(mat.var(view, (0, 2)), exact(x, (0, 2)), "float64")
    near(mat.var(view), exact(x), "float64")


def test_infinities_and_nan_spread(rng):
    for value in (np.inf, -np.inf, np.nan):
        for k in (0, 5000):
            x = rng.standard_normal(9000)
            x[k] = value
            assert np.isnan(mat.var(mat.array(x)).item())
            found = mat.var(mat.array(x.reshape(3000, 3)), 0).to_numpy()
            assert_array_equal(np.isnan(found), np.arange(3) == k % 3)
    assert mat.var(mat.array([1e200, -1e200, 1.0])).item() == np.inf


def test_chosen_elements_another_dtype_and_a_mean_that_is_known(rng):
    x, w = rng.standard_normal((6, 7)), rng.random((6, 7)) < 0.7
    m, z = mat.array(x), mat.array(w)
    for kwargs in ({"axis": 0}, {"ddof": 1}, {"axis": 1, "keepdims": True}):
        near(mat.var(m, where=z, **kwargs), np.var(x, where=w, **kwargs), "float64")
        near(mat.std(m, where=z, **kwargs), np.std(x, where=w, **kwargs), "float64")
    near(mat.var(m, 0, "float32"), np.var(x, 0), "float32")
    mean = np.mean(x, 0, keepdims=True)
    near(mat.std(m, 0, mean=mat.array(mean)), np.std(x, 0, mean=mean), "float64")


def test_bad_input_is_refused():
    x = mat.ones(3, 4)
    with pytest.raises(mat.AxisError):
        mat.var(x, 2)
    out = mat.zeros(3)
    with pytest.raises(ValueError, match="shape"):
        mat.var(x, 0, out=out)
    assert_array_equal(out.to_numpy(), 0)
    with pytest.raises(ValueError, match="ddof"):
        mat.var(x, ddof=1, correction=1)
    with pytest.warns(RuntimeWarning):
        assert np.isnan(mat.var(mat.ones(1), ddof=1).item())


@pytest.mark.host
def test_the_emulated_device_has_the_same_bits(rng):
    x = rng.standard_normal((300, 70))
    for axis in (None, 0, 1):
        wanted = mat.std(mat.array(x), axis).to_numpy()
        with mat.use_device("emulated"), mat.debug.expect_copies(d2h=0, fallbacks=0):
            found = mat.std(mat.array(x), axis)
        assert_array_equal(found.to_numpy(), wanted)
