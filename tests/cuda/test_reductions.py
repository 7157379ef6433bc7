"""Reductions on a device in use, called as users call them: what the host gives, and that nothing
of it came home.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat

from ..support.cases import CASES
from ..support.layouts import MIXES, check_hidden, numbers, place, tolerance

pytestmark = pytest.mark.usefixtures("cuda")
REDUCTIONS = ("sum", "mean", "prod", "max", "min", "argmax", "argmin")


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.sample(3)
def test_results_stay_on_the_device(rng, name):
    for dtype in ("float32", "int32", "float16"):
        a = np.asarray(numbers(rng, (3, 4, 5), dtype))
        with mat.use_device("cuda", required=True):
            x = mat.array(a)
            for axis in (None, 0, 1, -1):
                for keepdims in (False, True):
                    found = getattr(x, name)(axis=axis, keepdims=keepdims)
                    assert "host" not in found.fresh
                    wanted = np.asarray(getattr(np, name)(a, axis=axis, keepdims=keepdims))
                    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
                    assert_allclose(found.to_numpy(), wanted, **tolerance(wanted.dtype))


@pytest.mark.parametrize("layout", MIXES)
def test_layouts_and_places(rng, layout):
    a = rng.standard_normal((3, 4, 5)).astype("float32")
    x, out = place(a, MIXES[layout][0]), place(np.empty((3, 5), "float32"), MIXES[layout][-1])
    with mat.use_device("cuda", required=True):
        for _ in range(2):  # the second time as planned
            assert mat.max(x, 1, out=out) is out
            assert "host" not in out.fresh
    assert_array_equal(out.to_numpy(), a.max(1))
    check_hidden(out)


def test_of_nothing():
    with mat.use_device("cuda", required=True):
        x = mat.zeros(0, 3)
        assert_array_equal(x.sum(0).to_numpy(), [0, 0, 0])
        assert_array_equal(x.prod(0).to_numpy(), [1, 1, 1])
        assert x.max(1).shape == (0,)
        with pytest.warns(RuntimeWarning, match="Mean of empty slice"):
            assert np.isnan(x.mean().item())
        with pytest.raises(mat.ShapeError, match="no elements"):
            x.max()


@pytest.mark.parametrize("name", ["reduce.sum_into", "scaled.rows_scaled",
                                  "scaled.columns_scaled"])
@pytest.mark.parametrize("dtype", ["float32", "complex128", "int32"])
def test_cases(rng, name, dtype):
    """Those of ``cases.py``, on the device."""
    op, case = mat.ops.engine.operation.REGISTRY[name], CASES[name]
    for args, kwargs in case.samples(rng, dtype):
        wanted = case.reference(*args, **kwargs)
        given = [place(a, "strided") if isinstance(a, np.ndarray) else a for a in args]
        with mat.use_device("cuda", required=True):
            found = op(*given, **kwargs)
            assert not found.size or "host" not in found.fresh
        assert_allclose(found.to_numpy(), wanted, **tolerance(dtype))
        check_hidden(found)


def test_chains_wait_for_nothing(rng):
    """A step of power iteration: reductions feed what comes after them, and only the end comes
    home.
    """
    a = rng.standard_normal((40, 40))
    v = rng.standard_normal(40)
    with mat.use_device("cuda", required=True):
        m, x = mat.array(a), mat.array(v)
        m, x = m + 0, x + 0
        with mat.debug.count_copies() as n:
            for _ in range(3):
                x = m @ x
                x = x / mat.max(mat.abs(x))
        assert n.d2h == 0
    for _ in range(3):
        v = a @ v
        v = v / np.abs(v).max()
    assert_allclose(x.to_numpy(), v, rtol=1e-12)


# Comparing as a whole


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float16", "float32", "float64",
                                   "complex64", "complex128"])
@pytest.mark.parametrize("layout", ["packed", "strided", "negative", "transposed"])
@pytest.mark.sample(5)
def test_equals_finds_any_difference(rng, layout, dtype):
    for shape in ((3, 700), (5,), (), (0, 3)):
        a = np.asarray(numbers(rng, shape, dtype))
        other = a.copy()
        if a.size:
            one = np.asarray(1, dtype) if dtype != "bool" else ~other.flat[0]
            other.flat[rng.integers(a.size)] += one
        wanted = bool(np.array_equal(a, other))
        x, same, y = place(a, layout), place(a, "displaced"), place(other, layout)
        with mat.use_device("cuda", required=True):
            assert x.equals(same)
            with mat.debug.count_copies() as n:
                assert x.equals(y) is wanted
            assert n.d2h == 0


def test_what_equals_says_of_special_numbers():
    nan, inf = np.nan, np.inf
    with mat.use_device("cuda", required=True):
        assert not mat.array([1, nan]).equals(mat.array([1, nan]))
        assert mat.array([0.0, inf]).equals(mat.array([-0.0, inf]))
        assert not mat.zeros(2).equals(mat.zeros(3))
        assert mat.array([1.0, 2]).equals(mat.array([1, 2], dtype="int32")), "by the host"


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.sample(3)
def test_allclose_as_numpys(rng, dtype):
    nan, inf = np.nan, np.inf
    special = np.array([1, -0.0, nan, inf, -inf, 2]).astype(dtype)
    for a in (numbers(rng, (4, 300), dtype), numbers(rng, (7,), dtype), special):
        for factor in (1, 1.001, 1.1):
            with np.errstate(all="ignore"):
                b = (a * factor).astype(dtype)
            b = b if rng.random() < 0.7 else b[::-1].copy()
            for rtol, atol, equal_nan in ((1e-5, 1e-8, False), (1e-2, 0.0, True), (0.0, 0.2, True)):
                with np.errstate(all="ignore"):
                    wanted = np.allclose(a, b, rtol, atol, equal_nan)
                x, y = place(a, "strided"), place(b, "packed")
                with mat.use_device("cuda", required=True):
                    assert mat.allclose(x, y, rtol, atol, equal_nan) is bool(wanted)
                    assert mat.allclose(y, y, rtol, atol, True)
