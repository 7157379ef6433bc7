"""Tests of elements, bounds, truth and running totals in every spelling, against NumPy: special
values, long operands, results in given places, and what is refused.
"""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.errors import DTypeError, ShapeError

from ..support import needs
from ..support.layouts import FLOATS, INTEGERS, LAYOUTS, NUMPY_DTYPES, place
from ..support.scan_order import accumulated

SPECIALS = (0.0, -0.0, 1.0, -1.5, np.nan, -np.nan, np.inf, -np.inf, 1e-40, 3.0, -7.0)
REAL = ("float32", "float64")
TESTS = ("isnan", "isfinite", "isinf")
DTYPES = NUMPY_DTYPES


def specials(dtype):
    with np.errstate(all="ignore"):
        return np.array(SPECIALS * 3).astype(dtype)


def same(found, wanted):
    """Fail unless shape, dtype, elements and the signs of zeros are the same; those of float16
    excepted, where NumPy prefers the other one of two equal numbers.
    """
    wanted = np.asarray(wanted)
    assert type(found) is mat.Mat
    found = found.to_numpy()
    assert_array_equal(found, wanted, strict=True)
    if wanted.dtype.char in "fd":
        numbers = ~np.isnan(wanted)
        assert_array_equal(np.signbit(found[numbers]), np.signbit(wanted[numbers]))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", TESTS)
def test_tests_of_elements(name, dtype, layout):
    a = np.arange(6).reshape(2, 3).astype(dtype)
    if a.dtype.kind == "f":
        a = specials(dtype).reshape(3, -1)
    elif a.dtype.kind == "c":
        a = np.zeros((len(SPECIALS), len(SPECIALS)), dtype)
        a.real, a.imag = np.array(SPECIALS)[:, None], SPECIALS
    x = place(a, layout)
    wanted = getattr(np, name)(a)
    same(getattr(np, name)(x), wanted)
    same(getattr(mat, name)(x), wanted)
    out = mat.zeros(*a.shape, dtype="bool")
    assert getattr(np, name)(x, out=out) is out
    same(out, wanted)
    numbers = mat.ones(*a.shape)
    getattr(np, name)(x, out=numbers)
    same(numbers, wanted.astype("float64"))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_clip(dtype, layout):
    a = specials(dtype).reshape(3, -1) if "float" in dtype else np.arange(12).astype(
        dtype).reshape(3, 4)
    x, rng = place(a, layout), np.random.default_rng(0)
    low = rng.integers(0, 3, a.shape).astype(dtype)
    for bounds in ((1, 2), (2, 1), (0, None), (None, 2), (low, low + dtype_one(dtype)), (low, None),
                   (1, low), (low, 2), (low[0], low[:, :1])):
        with np.errstate(all="ignore"):
            wanted = np.clip(a, *bounds)
        given = [mat.array(b) if isinstance(b, np.ndarray) else b for b in bounds]
        for found in (x.clip(*given), np.clip(x, *given), np.clip(x, min=given[0], max=given[1])):
            same(found, wanted)
        if not (dtype in FLOATS and type(bounds[0]) is int and type(bounds[1]) is int):
            same(mat.clip(x, *given), wanted)
        out = mat.zeros(*a.shape, dtype=dtype)
        assert np.clip(x, *given, out=out) is out
        same(out, wanted)


def dtype_one(dtype):
    return np.ones((), dtype)


@pytest.mark.parametrize("dtype", REAL)
def test_clip_by_special_bounds(dtype):
    a = specials(dtype)
    for low in (-1.0, 0.0, -0.0, float("nan"), -float("inf")):
        for high in (1.0, 0.0, -0.0, float("nan"), float("inf")):
            with np.errstate(all="ignore"):
                same(mat.array(a).clip(low, high), np.clip(a, low, high))
                each = np.full_like(a, low), np.full_like(a, high)
                same(mat.array(a).clip(*map(mat.array, each)), np.clip(a, *each))


def test_clip_of_integers_by_what_they_cannot_be():
    a = np.arange(-3, 4, dtype="int8")
    for bounds in ((-1.5, 1.5), (0, 2.0)):
        same(mat.array(a).clip(*bounds), np.clip(a, *bounds))
    same(mat.clip(mat.array(a), -1000, 1000), a)
    big = np.array([-(2**63), 2**62 + 1, 5], "int64")
    same(mat.array(big).clip(-(2**60) - 1, 2**60 + 1), np.clip(big, -(2**60) - 1, 2**60 + 1))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["any", "all", "count_nonzero"])
def test_truth_of_long_operands(name, dtype, rng):
    """Of so many elements that they are reduced in parts."""
    for shape in ((100_003,), (2, 40_000), (40_000, 2), (7, 20, 500)):
        for kept in (0.0, 1e-5, 1 - 1e-5):
            a = (rng.random(shape) < kept).astype(dtype)
            if dtype.startswith(("float", "complex")):
                a[a == 0] = -0.0
            for axis in (None, 0, len(shape) - 1):
                wanted = getattr(np, name)(a, axis=axis)
                for x in (mat.array(a), mat.array(a.T.copy()).T):
                    same(getattr(mat, name)(x, axis=axis), wanted)
                    found = getattr(np, name)(x, axis=axis)
                    assert_array_equal(np.asarray(found), wanted)


@pytest.mark.parametrize("dtype", FLOATS)
def test_what_is_true(dtype):
    a = np.array([0.0, -0.0, np.nan, 6e-8, np.inf]).astype(dtype)
    for k in range(len(a)):
        x = mat.array(a[k:k + 1])
        assert x.any().item() == x.all().item() == bool(a[k])
    for z in (1j, -0.0 - 0.0j, complex(0, np.nan), 1e-40 + 0j):
        x = mat.array([z], dtype="complex64")
        assert x.any().item() == bool(np.complex64(z))


def test_truth_of_nothing_and_into_a_place():
    for shape, axis in (((0,), None), ((0, 3), 0), ((3, 0), 1), ((0, 3), 1), ((), None)):
        a = np.zeros(shape)
        for name in ("any", "all"):
            same(getattr(mat.array(a), name)(axis), getattr(np, name)(a, axis))
    x, out = mat.array([[0.0, 1], [2, 3]]), mat.zeros(2, dtype="bool")
    assert x.all(axis=0, out=out) is out
    assert out.tolist() == [False, True]
    assert x.any(1, keepdims=True).tolist() == [[True], [True]]
    with pytest.raises(ShapeError):
        x.any(axis=2)
    with pytest.raises(ShapeError):
        x.all(out=mat.zeros(3, dtype="bool"))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_running_totals(name, dtype, layout, rng):
    standards = getattr(mat, {"cumsum": "cumulative_sum", "cumprod": "cumulative_prod"}[name])
    for shape in ((6,), (3, 4), (2, 3, 4)):
        a = (3 * rng.standard_normal(shape)).astype(dtype)
        x = place(a, layout)
        for axis in (None, *range(-len(shape), len(shape))):
            wanted = getattr(np, name)(a, axis)
            close(getattr(x, name)(axis), wanted)
            close(getattr(np, name)(x, axis), wanted)
            if axis is not None:
                close(standards(x, axis=axis), wanted)
                out = mat.zeros(*wanted.shape, dtype=wanted.dtype)
                assert getattr(np, name)(x, axis, out=out) is out
                close(out, wanted)


def close(found, wanted):
    """Products of complex numbers may be rounded once less."""
    if wanted.dtype.kind == "c":
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found.to_numpy(), wanted, rtol=1e-5)
    else:
        same(found, wanted)


def test_running_totals_in_another_dtype():
    a = np.array([100, 100, 100, -5], "int8")
    x = mat.array(a)
    for dtype in ("int8", "int16", "uint8", "int64", "float32", "complex128"):
        same(x.cumsum(dtype=dtype), a.cumsum(dtype=dtype))
        same(mat.cumulative_sum(x, dtype=dtype), a.cumsum(dtype=dtype))
    same(mat.array(np.array([True, True])).cumsum(), np.array([True, True]).cumsum())
    same(mat.array([2**63, 2**63], dtype="uint64").cumsum(),
         np.array([2**63, 2**63], "uint64").cumsum())
    same(mat.array([-0.0, -0.0]).cumsum(), np.array([-0.0, -0.0]).cumsum())
    same(mat.zeros(0, 2).cumsum(1), np.zeros((0, 2)).cumsum(1))
    same(mat.array(3.0).cumsum(), np.array(3.0).cumsum())


def test_running_totals_of_long_operands(rng):
    a = rng.standard_normal((400, 500))
    for axis in (0, 1):
        same(mat.array(a).cumsum(axis), a.cumsum(axis))
    x = mat.array(a[0])
    assert np.cumsum(x, out=x) is x
    same(x, a[0].cumsum())
    y = mat.array(a[0])
    np.cumsum(y[:-1], out=y[1:])
    same(y[1:], a[0][:-1].cumsum())


@pytest.mark.parametrize("dtype", DTYPES)
def test_running_totals_of_few_and_of_several_blocks(dtype, rng):
    for n in (*range(1, 14), 20_001):
        a = (3 * rng.standard_normal(2 * n)).astype(dtype)
        for steps in (slice(0, n), slice(None, None, 2), slice(n, None, -1)):
            b, x = a[steps], mat.array(a)[steps]
            close(x.cumsum(), accumulated(np.add, b, 0))
            if b.dtype.kind in "iuf":
                same(np.maximum.accumulate(x), np.maximum.accumulate(b))
        if a.cumsum().dtype == a.dtype:
            x = mat.array(a)
            assert np.cumsum(x, out=x) is x
            close(x, accumulated(np.add, a, 0))


def test_what_running_totals_refuse():
    with pytest.raises(ShapeError):
        mat.zeros(3).cumsum(axis=1)
    with pytest.raises((ShapeError, ValueError)):
        np.cumsum(mat.zeros(3), out=mat.zeros(4))
    with pytest.raises((DTypeError, TypeError)):
        np.cumsum(mat.zeros(3, dtype="complex128"), out=mat.zeros(3))


@needs.native
@pytest.mark.host
def test_every_spelling_is_compiled():
    x, b = mat.array([1.0, -2.0, 3.0]), mat.array(np.array([True, False]))
    for found in (np.isnan(x), mat.isnan(x), mat.isfinite(x), np.isinf(x), x.clip(-1.0, 1.0),
                  np.clip(x, x, x), mat.clip(x, -1.0, 1.0), b.any(), np.all(b), mat.any(x),
                  x.cumsum(), np.cumprod(x), mat.cumulative_sum(x),
                  mat.array([1, 2], dtype="int8").cumsum(),
                  mat.array([1, 2], dtype="int32").clip(0, 1)):
        assert set(found.facets) == {"foreign"}
