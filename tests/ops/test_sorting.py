"""Tests of sorting, searching, counting and running totals on the host and on a device with a
memory of its own, where nothing may go back to the host: against NumPy.
"""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.errors import AxisError, ShapeError

from ..support.cases_sorting import in_order, with_ties
from ..support.layouts import place

A = with_ties(np.random.default_rng(0), (5, 7), "float64")
I = np.random.default_rng(1).integers(0, 9, 40)  # noqa: E741
W = np.random.default_rng(2).standard_normal(40)
CALLS = {  # of NumPy's functions and ours alike, with the names of their operands
    "cumsum": lambda m, a, i, w: (m.cumsum(a, 1), m.cumsum(a), m.cumsum(i, dtype="int8")),
    "cumprod": lambda m, a, i, w: (m.cumprod(a, 0), m.cumprod(w)),
    "accumulate": lambda m, a, i, w: (
        m.maximum.accumulate(a, 1), m.minimum.accumulate(a), m.maximum.accumulate(i),
        m.add.accumulate(a, axis=1), m.multiply.accumulate(i)),
    "diff": lambda m, a, i, w: (m.diff(a), m.diff(a, 2, 0), m.diff(i, prepend=0, append=i),
                                m.diff(i > 3), m.diff(a, axis=0, append=1.5)),
    "cumulative": lambda m, a, i, w: (
        m.cumulative_sum(a, axis=1, include_initial=True), m.cumulative_prod(w),
        m.cumulative_sum(i, dtype="float32")),
    "nancumsum": lambda m, a, i, w: (m.nancumsum(a, 1), m.nancumprod(a), m.nancumsum(i)),
    "sort": lambda m, a, i, w: (m.sort(a), m.sort(a, 0, kind="stable"), m.sort(a, None),
                                m.sort(i, stable=True)),
    "argsort": lambda m, a, i, w: (m.argsort(a, kind="stable"), m.argsort(w),
                                   m.argsort(i, stable=True)),
    "searchsorted": lambda m, a, i, w: (
        m.searchsorted(m.sort(w), a), m.searchsorted(m.sort(i), 3, "right"),
        m.searchsorted(m.sort(i), w), m.searchsorted(m.sort(w), i, side="right")),
    "bincount": lambda m, a, i, w: (m.bincount(i), m.bincount(i, minlength=20), m.bincount(i, w),
                                    m.bincount(i[:0], minlength=2)),
    "unique": lambda m, a, i, w: (
        m.unique(a), *m.unique(i, True, True, True), *m.unique(a, return_counts=True),
        *m.unique(a, return_index=True, equal_nan=False),
        m.sort(m.unique_values(i)),  # which NumPy leaves in any order
        *m.unique_counts(a), *m.unique_inverse(i), *m.unique_all(i), m.unique(i[:0])),
    "histogram": lambda m, a, i, w: (*m.histogram(w, 5), *m.histogram(i, [0, 2, 3, 8]),
                                     *m.histogram(w, 4, (-1, 1)), *m.histogram(i)),
}


def same(found, wanted):
    for x, y in zip(found, wanted, strict=True):
        assert type(x) is mat.Mat
        assert_array_equal(x.to_numpy(), y, strict=True)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("device", [
    pytest.param("cpu", marks=pytest.mark.host), "emulated"])
def test_as_numpy_without_the_host(name, device):
    call = CALLS[name]
    with np.errstate(all="ignore"):
        wanted = call(np, A, I, W)
    given = [mat.array(a) for a in (A, I, W)]
    if device == "cpu":
        same(call(mat, *given), wanted)
        return
    with mat.use_device(device, required=True), mat.debug.count_copies() as n:
        found = call(mat, *given)
    assert n.fallbacks == 0
    same(found, wanted)


COUNTED = ("bool", "int8", "uint8", "int16", "int32", "uint32", "int64")


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("layout", ["packed", "steps", "reversed", "square"])
@pytest.mark.parametrize("dtype", COUNTED)
def test_many_integers(dtype, layout, device, rng):
    """Those that are counted by a kernel: few and many different ones, from 0 on and others."""
    for high, low in ((2, 0), (90, 0), (90, -60), (5000, 0), (5000, 2**20), (10**9, 0)):
        info = np.iinfo(dtype) if dtype != "bool" else np.iinfo("uint8")
        first = min(max(low, int(info.min)), int(info.max) // 2)
        a = rng.integers(first, min(first + high, int(info.max)), 40_000).astype(dtype)
        x = mat.array(a)
        a, x = {"packed": (a, x), "steps": (a[::2], x[::2]), "reversed": (a[::-1], x[::-1]),
                "square": (a.reshape(200, 200).T, x.reshape(200, 200).T)}[layout]
        with mat.use_device(device):
            same([np.unique(x), *np.unique(x, return_counts=True, return_inverse=True)],
                 [np.unique(a), *np.unique(a, return_counts=True, return_inverse=True)])
            same(np.unique_counts(x), np.unique_counts(a))
            same(np.unique_inverse(x), np.unique_inverse(a))
            if first == 0 and high <= 5000 and a.ndim == 1:
                same([np.bincount(x), np.bincount(x, minlength=10_000)],
                     [np.bincount(a), np.bincount(a, minlength=10_000)])


def test_integers_that_are_not_counted():
    a = np.zeros(40_000, "int64")
    a[7] = -1
    with pytest.raises(ValueError, match="negative"):
        np.bincount(mat.array(a))
    a[7] = 2**62
    with pytest.raises(ValueError, match=r"more elements|too big"):
        np.bincount(mat.array(a))
    wide = np.arange(40_000, dtype="int64") * (2**63 // 40_000) * 2 - 2**62
    same([np.unique(mat.array(wide))], [np.unique(wide)])
    large = np.arange(40_000, dtype="uint64") // 100 + 2**63
    same([np.unique(mat.array(large))], [np.unique(large)])


def test_in_place(rng):
    for layout in ("packed", "strided", "transposed"):
        a = with_ties(rng, (6, 5), "float32")
        for axis in (0, 1):
            for more in ({}, {"kind": "stable"}, {"stable": True}, {"kind": "heapsort"}):
                x = place(a, layout)
                x.sort(axis, **more)
                assert_array_equal(x.to_numpy(), np.sort(a, axis))


def test_partitions_on_a_device(rng):
    a = rng.permutation(30)
    with mat.use_device("emulated", required=True), mat.debug.count_copies() as n:
        x = mat.array(a)
        found, order = mat.partition(x, 7), mat.argpartition(x, [3, 7])
        x.partition(7)
    assert n.fallbacks == 0
    for b in (found.to_numpy(), a[order.to_numpy()], x.to_numpy()):
        assert b[7] == 7
        assert set(b[:7]) == set(range(7))


@pytest.mark.parametrize("descending", [False, True])
def test_the_standards_orders(descending, rng):
    a = with_ties(rng, (4, 9), "float64")
    for axis in (0, 1):
        for function, indices in ((mat.sort, False), (mat.argsort, True)):
            found = function(mat.array(a), axis=axis, descending=descending, stable=True)
            assert_array_equal(found.to_numpy(), in_order(a, axis, descending, indices))


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_numpys_descending_order(device, rng):
    """`descending` is NumPy's from 2.5 on; here it works with older releases, too."""
    for dtype in ("bool", "uint8", "int64", "float32", "complex128"):
        a = with_ties(rng, (3, 20), dtype)
        with mat.use_device(device, required=True):
            x = mat.array(a)
            assert_array_equal(mat.sort(x, 0, descending=True), in_order(a, 0, True, False))
            order = in_order(a, 1, True, True)
            assert_array_equal(mat.argsort(x, descending=True, stable=True), order)
            assert_array_equal(x.argsort(stable=True, descending=True), order)
            x.sort(descending=True)
            assert_array_equal(x, np.take_along_axis(a, order, 1))
            if np.lib.NumpyVersion(np.__version__) >= "2.5.0":
                assert_array_equal(x, np.sort(a, descending=True))
    with pytest.raises((TypeError, ValueError)):
        mat.sort(x, kind="stable", descending=True)


def test_what_is_refused():
    with mat.use_device("emulated", required=True):
        for device in ("emulated", "cpu"):
            with mat.use_device(device):
                x = mat.array([3, 1, -2])
                with pytest.raises(ValueError, match="negative"):
                    mat.bincount(x)
                with pytest.raises((AxisError, ShapeError)):
                    mat.sort(x, 1)
                with pytest.raises((AxisError, ShapeError)):
                    x.argsort(2)
                with pytest.raises(ValueError, match="kth"):
                    mat.partition(x, 3)
                with pytest.raises((TypeError, ValueError)):
                    mat.sort(x, kind="stable", stable=True)
                with pytest.raises(ValueError, match="sort"):
                    mat.sort(x, kind="fast")
                assert x.tolist() == [3, 1, -2]


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("elements", [
    np.array([3, 1, 2, 3]), np.array([2.5, np.nan, -1, np.nan, 2.5]), np.array([2j, 1, 2j, -1]),
    np.arange(1 << 15)[::-1] % 777, np.zeros(0, "int8")], ids=lambda a: f"{a.size} {a.dtype}")
def test_different_values_are_sorted_on_every_device(device, elements):
    with mat.use_device(device):
        for found in (mat.unique_values(mat.array(elements)), mat.unique_values(elements)):
            assert_array_equal(found, np.unique(elements, equal_nan=False), strict=True)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("shape", [(3000,), (20_000,), (2, 9000), (9000, 2)])
def test_many_float16_with_ties(shape, descending):
    """NumPy 2.4 leaves some of them out of order on processors with AVX-512."""
    for values in (np.arange(-3, 4), [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 6e-8, 1, -1]):
        a = np.random.default_rng(1).choice(np.array(values, "f2"), shape)
        axis, wide = int(np.argmax(shape)), a.astype("f4")
        wanted = (-np.sort(-wide, axis, "stable") if descending
                  else np.sort(wide, axis, "stable")).astype("f2")
        x, turned = mat.array(a), mat.array(np.flip(a, -1))[..., ::-1]
        assert_array_equal(mat.sort(x, axis, descending=descending).to_numpy(), wanted)
        assert_array_equal(mat.sort(turned, axis, descending=descending).to_numpy(), wanted)
        if not descending:
            x.sort(axis)
            assert_array_equal(x.to_numpy(), wanted)
