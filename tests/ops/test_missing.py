"""Reductions of numbers among NaN, of chosen elements and with initial values, as NumPy's: on the
host and on the emulated device, where they stay.
"""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mat

SKIPPING = ("nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd")
PLACES = ("nanargmax", "nanargmin")
DTYPES = ("float32", "float64", "float16", "int8", "int64", "bool", "complex128")


def sample(rng, dtype, shape=(6, 7)):
    x = np.asarray(rng.standard_normal(shape) * 3).astype(dtype)
    if x.dtype.kind in "fc":
        x = (x / 3).astype(dtype)  # products that are no infinities
        x[rng.random(shape) < 0.3] = np.nan
        x[..., 0] = 1  # no slice is of NaN only
        x[0] = 2
    return x


def same(found, wanted):
    wanted = np.asarray(wanted)
    assert isinstance(found, mat.Mat)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    assert_allclose(found.to_numpy(), wanted,
                    rtol={"e": 5e-3, "f": 1e-5, "F": 1e-5}.get(wanted.dtype.char, 1e-12),
                    atol=2e-3 if wanted.dtype == "float16" else 0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*SKIPPING, *PLACES])
def test_nan_is_left_out_as_numpy_does(rng, name, dtype):
    x = sample(rng, dtype)
    for kwargs in ({}, {"axis": 0}, {"axis": -1, "keepdims": True}):
        wanted = getattr(np, name)(x, **kwargs)
        same(getattr(mat, name)(mat.array(x), **kwargs), wanted)
        same(getattr(mat, name)(mat.array(x.T).T, **kwargs), wanted)
    if name in ("nanvar", "nanstd"):
        same(getattr(mat, name)(mat.array(x), ddof=1), getattr(np, name)(x, ddof=1))


@pytest.mark.host  # a device is not waited for, so that nothing warns
@pytest.mark.parametrize("name", SKIPPING)
def test_only_nan(name):
    x = np.array([[np.nan, np.nan], [1, np.inf], [2, np.nan]])
    for axis in (0, 1, None):
        with warnings.catch_warnings(record=True) as wanted_warnings:
            warnings.simplefilter("always")
            with np.errstate(all="ignore"):
                wanted = getattr(np, name)(x, axis=axis)
        with warnings.catch_warnings(record=True) as found_warnings:
            warnings.simplefilter("always")
            same(getattr(mat, name)(mat.array(x), axis=axis), wanted)
        if axis == 1 and name not in ("nansum", "nanprod"):
            assert wanted_warnings
            assert str(found_warnings[0].message) == str(wanted_warnings[0].message)


def test_no_place_of_nothing():
    x = mat.array([[np.nan, np.nan], [1, np.nan]])
    for name in PLACES:
        with pytest.raises(ValueError, match="All-NaN slice"):
            getattr(mat, name)(x, axis=1)
        assert getattr(mat, name)(x).item() == 2


def test_an_infinity_is_not_missing():
    x = np.array([1.0, np.inf, np.nan])
    for name in ("nansum", "nanmax", "nanmean"):
        assert getattr(mat, name)(mat.array(x)).item() == np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isnan(mat.nanvar(mat.array(x)).item())


W = np.array([[1, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 1]], bool)
CALLS = [
    lambda f, x, w: f.sum(x, where=w), lambda f, x, w: f.sum(x, 0, initial=3),
    lambda f, x, w: f.sum(x, 1, where=w, initial=2, keepdims=True),
    lambda f, x, w: f.prod(x, where=w), lambda f, x, w: f.prod(x, 0, initial=3),
    lambda f, x, w: f.max(x, 0, initial=1), lambda f, x, w: f.min(x, initial=-2, where=w),
    lambda f, x, w: f.mean(x, where=w), lambda f, x, w: f.mean(x, 1, where=w, keepdims=True),
    lambda f, x, w: f.any(x, 0, where=w), lambda f, x, w: f.all(x, where=w),
    lambda f, x, w: f.all(x, 1, where=w[0], keepdims=True),
    lambda f, x, w: f.ptp(x), lambda f, x, w: f.ptp(x, 0), lambda f, x, w: f.average(x, axis=0),
    lambda f, x, w: f.average(x), lambda f, x, w: f.average(x, weights=x * x + x.dtype.type(1)),
    lambda f, x, w: f.average(x, 1, weights=x[0] * x[0]),
    lambda f, x, w: f.logical_and.reduce(x), lambda f, x, w: f.logical_or.reduce(w, axis=1),
    lambda f, x, w: f.logical_xor.reduce(x, axis=None),
    lambda f, x, w: f.logical_and.reduce(x, axis=0, where=w),
    lambda f, x, w: f.add.reduce(x, dtype="float64"),
    lambda f, x, w: f.multiply.reduce(x, axis=1, keepdims=True),
    lambda f, x, w: f.maximum.reduce(x, initial=1), lambda f, x, w: f.fmax.reduce(x),
    lambda f, x, w: f.fmin.reduce(x, axis=None)]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "int64"])
@pytest.mark.parametrize("k", range(len(CALLS)))
def test_chosen_elements_and_initial_values(rng, k, dtype):
    x = rng.integers(1, 6, (3, 4)).astype(dtype)
    wanted = CALLS[k](np, x, W)
    same(CALLS[k](mat, mat.array(x), mat.array(W)), wanted)
    with mat.use_device("emulated"):
        same(CALLS[k](mat, mat.array(x), mat.array(W)), wanted)


STAYING = ["nansum(x)", "nanprod(x, axis=0)", "nanmax(x)", "nanmin(x, axis=1)", "nanmean(x)",
           "nanvar(x, axis=0)", "nanstd(x, ddof=1)", "var(x)", "std(x, axis=1)", "var(i)",
           "var(x, dtype='float32')", "std(c, axis=0)", "sum(x, initial=1.0)", "max(x, initial=0.)",
           "ptp(x, axis=0)", "average(x, axis=1)", "logical_and.reduce(x)", "fmax.reduce(x)",
           "add.reduce(x, dtype='float32')", "any(x, where=b)", "all(x, axis=1, where=b)"]


@pytest.mark.host
@pytest.mark.parametrize("call", STAYING)
def test_they_stay_on_the_device(rng, call):
    a = sample(rng, "float64")
    with mat.use_device("emulated"):
        given = {"x": mat.array(a), "b": mat.array(a > 0), "i": mat.array([[1, 2], [3, 5]]),
                 "c": mat.array(a + 1j)}
        for m in given.values():
            mat.copy(m).sum()
        with mat.debug.expect_copies(d2h=0, fallbacks=0):
            found = eval(f"mat.{call}", {"mat": mat, **given})
        assert "host" not in found.fresh
