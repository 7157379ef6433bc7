"""Scans, sorts and searches by the device's kernels, run on the CPU: against NumPy, over sizes that
go every way, with the very bits.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.ops.primitives.scan import BY_UFUNC, pairs_of

from ..support.cases_sorting import in_order, with_ties
from ..support.launching import launch_all
from ..support.layouts import NUMPY_DTYPES
from ..support.scan_order import accumulated
from ..tools.mock_driver.harness import compiler

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from mat.cuda.kernels import scan, sort

on_cpu = pytest.mark.skipif(not compiler(), reason="no C++ compiler")
RULES = {"cumsum": np.add, "cumprod": np.multiply, "cummax": np.maximum, "cummin": np.minimum}
SHAPES = ((7,), (3, 5), (70, 33), (3, 4, 5), (1500,), (3, 1100), (1100, 3), (4096,), (9001,),
          (2, 4097))
ALL_WAYS = {"cumsum-float64", "cumsum-int8"}
EVERY_SCAN = [f"{name}-{dtype}" for name in RULES for dtype in NUMPY_DTYPES]


def form(a):
    return SimpleNamespace(shape=a.shape, element_strides=tuple(s // a.itemsize for s in a.strides),
                           dtype=a.dtype, itemsize=a.itemsize, size=a.size)


def views(a):
    yield a
    if a.ndim > 1:
        yield a[::-1, ::2]
        yield a.T.copy().T


def same_bits(found, wanted):
    assert_array_equal(found, wanted, strict=True)
    if wanted.dtype.kind == "f":
        number = ~np.isnan(wanted)
        assert_array_equal(np.signbit(found[number]), np.signbit(wanted[number]))


def scanned(name, a, axis, dtype=None, seed=0):
    wanted = accumulated(RULES[name], a, axis, dtype)
    out = np.full(a.shape, 77).astype(wanted.dtype)
    kernel = scan.prepare_scan(name, form(a), form(out), axis, False)
    launch_all(kernel, [a, out], seed=seed)
    same_bits(out, wanted)
    return kernel.kernel.rpartition("_")[2]


@on_cpu
@pytest.mark.parametrize("case", sorted(ALL_WAYS))
def test_scans_go_every_way(case, rng):
    name, dtype = case.split("-")
    found = set()
    for shape in SHAPES:
        a = with_ties(rng, shape, dtype)
        for axis in range(a.ndim):
            found |= {scanned(name, b, axis, seed=axis) for b in views(a)}
    assert found == {"each", "lines", "totals", "chunks"}


@on_cpu
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "float16"])
@pytest.mark.parametrize("shape", [(9000,), (40_000,), (2, 12_289), (8500, 3), (9000, 600)])
def test_scans_go_on_after_whole_chunks(dtype, shape, rng):
    a = (1 + rng.standard_normal(shape) / 100).astype(dtype)
    axis = int(np.argmax(shape))
    for name in ("cumsum", "cumprod"):
        wanted = accumulated(RULES[name], a, axis)
        out = np.full(a.shape, 77).astype(dtype)
        for part in (slice(0, 8192), slice(8192, None)):
            index = (slice(None),) * axis
            x, before = a[(*index, part)], max(0, part.start - 1)
            y = out[(*index, slice(before, part.stop))]
            kernel = scan.prepare_scan(name, form(x), form(y), axis, part.start > 0)
            launch_all(kernel, [x, y])
        same_bits(out, wanted)


@on_cpu
@pytest.mark.slow
@pytest.mark.parametrize("case", [c for c in EVERY_SCAN if c not in ALL_WAYS])
@pytest.mark.sample(4)
def test_scans_of_all_types(case, rng):
    name, dtype = case.split("-")
    for shape in ((7,), (3, 40), (2, 1100), (600, 2), (4130,)):
        a = with_ties(rng, shape, dtype)
        if a.dtype.kind == "c" and name == "cumprod":
            a = np.ones(shape, dtype) * dtype_one(dtype)
        for axis in range(a.ndim):
            scanned(name, a, axis)
            if a.dtype.kind in "iu" and RULES[name] in (np.add, np.multiply):
                scanned(name, a, axis, dtype)


def dtype_one(dtype):
    return np.asarray(1j, dtype)


def test_there_is_a_kernel_for_every_scan_of_the_operations():
    for name, of, to in scan.kernels():
        assert (of, to) in pairs_of(name)
    assert len(BY_UFUNC) == len(RULES)
    assert len(set(scan.programs())) == len(list(scan.programs()))


def sorted_both(a, axis, descending=False, seed=0):
    for indices in (False, True):
        wanted = in_order(a, axis, descending, indices)
        out = np.full(a.shape, 7).astype(wanted.dtype)
        kernel = sort.prepare_sort(form(a), form(out), axis, descending, indices)
        launch_all(kernel, [a, out], seed=seed)
        same_bits(out, wanted)


@on_cpu
@pytest.mark.parametrize("dtype", [
    "float32", *(pytest.param(d, marks=pytest.mark.slow) for d in NUMPY_DTYPES if d != "float32")])
@pytest.mark.sample(4)
def test_sorts_are_stable(dtype, rng):
    for shape in ((1,), (2,), (3,), (7,), (40,), (3, 5), (1025,), (2, 2100)):
        a = with_ties(rng, shape, dtype)
        for axis in range(a.ndim):
            for b in views(a):
                sorted_both(b, axis, seed=axis)
        sorted_both(a, a.ndim - 1, descending=True)


@on_cpu
@pytest.mark.parametrize("dtype", [
    "float32", *(pytest.param(d, marks=pytest.mark.slow) for d in NUMPY_DTYPES
                 if d not in ("float32", "bool"))])
@pytest.mark.sample(4)
def test_long_lines_are_sorted_by_digits(dtype, rng, monkeypatch):
    monkeypatch.setattr(sort, "MERGES", 0)
    for shape in ((1025,), (4096,), (9001,), (2, 4100), (3, 1200, 2)):
        axis = int(np.argmax(shape))
        a = with_ties(rng, shape, dtype)
        for b in views(a):
            if b.shape[axis] > 1024:
                found = sort.prepare_sort(form(b), form(b), axis, False, False)
                assert found.kernel.startswith("sort" if a.dtype.kind == "c" else "radix")
                sorted_both(b, axis, seed=axis)
        sorted_both(a, axis, descending=True)
    a = rng.permutation(np.arange(-4000, 5000)).astype(dtype)
    wanted = in_order(a, 0, False, False)
    launch_all(sort.prepare_sort(form(a), form(a), 0, False, False), [a, a])
    same_bits(a, wanted)


def test_lines_that_are_too_many_for_digits_are_merged():
    """Each digit of a line is a block of one grid."""
    for lines, way in ((8_000_000, "radix"), (9_000_000, "sort")):
        a = form(np.broadcast_to(np.uint8(0), (lines, 2100)))
        kernel = sort.prepare_sort(a, a, 1, False, False)
        while kernel is not None:
            assert kernel.kernel.startswith(way)
            kernel = kernel.then


@on_cpu
@pytest.mark.parametrize("dtype", [
    "float32", *(pytest.param(d, marks=pytest.mark.slow) for d in ("int8", "complex64"))])
def test_searching(dtype, rng):
    for length in (0, 1, 30, 300):
        a = np.sort(with_ties(rng, (length,), dtype))
        v = with_ties(rng, (7, 50), dtype)[:, ::2]
        for right in (False, True):
            out = np.full(v.shape, -1)
            launch_all(sort.prepare_searchsorted(form(a), form(v), form(out), right), [a, v, out])
            assert_array_equal(out, np.searchsorted(a, v, "right" if right else "left"))


@on_cpu
@pytest.mark.parametrize("bins", [1, 7, 1025, 8192, 8193])
@pytest.mark.parametrize("count", [1, 300, 20_000])
def test_counting_in_bins(bins, count, rng):
    x = rng.integers(-1, bins + 1, count)  # those without a bin are left out
    out = np.full(bins, -1)
    kernel = sort.prepare_bincount(form(x), form(out))
    assert kernel.then.kernel == ("counting_few" if bins <= min(count, 8192) else "counting_bins")
    launch_all(kernel, [x, out])
    assert_array_equal(out, np.bincount(x[(x >= 0) & (x < bins)], minlength=bins))


@on_cpu
def test_counting(rng):
    x, weights = rng.integers(0, 40, 900), rng.standard_normal(900)
    out, sums, order = np.full(50, -1), np.zeros(50), np.argsort(x, kind="stable")
    launch_all(sort.prepare_bincount(form(x), form(out)), [x, out])
    assert_array_equal(out, np.bincount(x, minlength=50))
    for few in (40, 3, 1):
        x = rng.integers(0, few, 900)
        launch_all(sort.prepare_weighted(*map(mat.array, (x, weights, sums))),
                   [x, np.argsort(x, kind="stable"), weights, sums])
        assert_array_equal(sums, np.bincount(x, weights, 50))  # added in NumPy's order
    x = rng.integers(0, 40, 900)
    order = np.argsort(x, kind="stable")
    ranks = np.cumsum(np.diff(x[order], prepend=-1) != 0)
    for dtype in ("int8", "float16", "float32", "int64", "complex128"):
        a = rng.standard_normal(900).astype(dtype)
        firsts = np.zeros(ranks[-1], dtype)
        launch_all(sort.prepare_placed(form(a), form(firsts)), [a, ranks, firsts])
        wanted = a[np.unique(ranks, return_index=True)[1]]
        assert_array_equal(firsts, wanted)
        later = np.zeros(ranks[-1], dtype)  # the first rank began before
        launch_all(sort.prepare_placed(form(a), form(later[1:])), [a, ranks - 1, later[1:]])
        assert_array_equal(later, np.append(np.zeros(1, dtype), wanted[1:]))
    inverse = np.full(900, -1)
    launch_all(sort.prepare_inverse_order(form(order), form(inverse)),
               [order, ranks, inverse])
    assert_array_equal(inverse, np.unique(x, return_inverse=True)[1])
