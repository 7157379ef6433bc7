"""Operands that overlap: what is written is what would be if everything had been read before."""

import contextlib

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import mat
from mat.errors import AliasError
from mat.ops.tiles.overlap import overlap, same_elements

from ..support import overlapping
from ..support.overlapping import REFUSED, SIZE, Sight, pairs

DTYPES = ("float64", "int64", "float32", "int32")
DEVICES = ("cpu", "emulated")
# x[:, 2] and x[1] of a 5 x 5 matrix: a column and a row that cross
CROSSING = Sight(2, (5,), (5,), (0,)), Sight(5, (5,), (1,), (0,))
LARGE = (150, 150)  # copied by compiled kernels, unless elements are shared
PAIRS = {  # of large views: written, read
    "rows down": (lambda a: a[1:], lambda a: a[:-1]),
    "rows up": (lambda a: a[:-1], lambda a: a[1:]),
    "columns right": (lambda a: a[:, 1:], lambda a: a[:, :-1]),
    "columns left": (lambda a: a[:, :-1], lambda a: a[:, 1:]),
    "transposed": (lambda a: a, lambda a: a.T),
    "upside down": (lambda a: a, lambda a: a[::-1]),
    "mirrored": (lambda a: a, lambda a: a[:, ::-1]),
    "other corner": (lambda a: a[10:, 20:], lambda a: a[:-10, :-20]),
    "other corner transposed": (lambda a: a[10:, 10:], lambda a: a[:-10, :-10].T),
    "a row": (lambda a: a, lambda a: a[3]),
    "a column": (lambda a: a, lambda a: a[:, 3:4]),
    "every other": (lambda a: a[::2], lambda a: a[75:]),
    "flat": (lambda a: a.reshape(-1)[7:], lambda a: a.reshape(-1)[:-7]),
    "flat, steps": (lambda a: a.reshape(-1)[::2], lambda a: a.reshape(-1)[:11250]),
    "flat, backwards": (lambda a: a.reshape(-1)[::-1], lambda a: a.reshape(-1)),
    "flat, backwards, steps": (lambda a: a.reshape(-1)[::-2], lambda a: a.reshape(-1)[2:11252]),
    "itself": (lambda a: a[::2], lambda a: a[::2]),
}


@contextlib.contextmanager
def using(name):
    with contextlib.nullcontext() if name == "cpu" else mat.use_device(name):
        yield


@pytest.mark.host
@pytest.mark.parametrize("device", DEVICES)
@given(pairs(), st.sampled_from(DTYPES), st.integers(0, 2**32))
@example(CROSSING, "float64", 0)
@example(CROSSING[::-1], "float64", 0)
def test_operations_on_views_of_one_mat(device, pair, dtype, seed):
    with using(device):
        overlapping.check(*pair, dtype, np.random.default_rng(seed))


@given(pairs(broadcast=False), st.integers(0, 2**32))
def test_operations_that_would_depend_on_the_order_are_refused(pair, seed):
    out, x = pair
    for name, (call, reference) in REFUSED.items():
        before = overlapping.numbers(np.random.default_rng(seed), "float64")
        storage = mat.array(before, dtype="float64")
        element_by_element = name in ("axpy", "copy_") and overlapping.same(out, x)
        if overlapping.share(out, x) and not element_by_element:
            with pytest.raises(AliasError, match="overlaps its input"):
                call(out.of(storage), x.of(storage))
            assert_array_equal(storage.to_numpy(), before)
        else:
            call(out.of(storage), x.of(storage))
            assert_array_equal(storage.to_numpy(), overlapping.wanted(before, out, x, reference))


@given(pairs())
def test_what_overlaps_is_known_exactly(pair):
    storage = mat.zeros(SIZE)
    out, x = (view.of(storage) for view in pair)
    assert overlap(out, x) == overlap(x, out) == overlapping.share(*pair)
    if out.shape == x.shape:
        assert same_elements(out, x) == overlapping.same(*pair)


def test_views_without_elements_or_of_other_storages_share_nothing():
    x = mat.zeros(4)
    for y, other in ((x, x[4:]), (x[2:2], x[2:2]), (x, mat.zeros(4)), (x[2, ...], x[3, ...])):
        assert not overlap(y, other)
    assert overlap(x, x[2, ...])
    assert same_elements(x[2:3], x[2, ...])
    assert same_elements(x[::2][:1], x[:1])  # there is no step along one element


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("dtype", ["float64", "int16"])
def test_large_views_of_one_mat(name, dtype, rng):
    check_large_views(name, dtype, rng)


@pytest.mark.host
@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("pool_bytes", [None, 1_000_000, 120_000])
def test_large_views_of_one_mat_on_a_device(name, pool_bytes, rng):
    with mat.use_device("emulated", pool_bytes=pool_bytes):
        check_large_views(name, "float64", rng)


def check_large_views(name, dtype, rng):
    write, read = PAIRS[name]
    before = rng.integers(0, 10_000, LARGE).astype(dtype)
    for call, reference in ((lambda out, x: out.assign_(x), lambda out, x: x),
                            (lambda out, x: out.add_(x), lambda out, x: out + x)):
        storage, after = mat.array(before, dtype=dtype), before.copy()
        write(after)[...] = reference(write(before), read(before))
        call(write(storage), read(storage))
        assert_array_equal(storage.to_numpy(), after)


@pytest.mark.parametrize("name", ["transposed", "columns right", "a row", "flat, steps"])
def test_compiled_copies_through_a_workspace(name, rng, monkeypatch):
    monkeypatch.setattr("mat.ops.primitives.elementwise.LARGE_IN_PLACE", 0)
    check_large_views(name, "float64", rng)
    check_large_views(name, "int16", rng)


# Operands that are arrays


def _set(out, x):
    out[...] = x


@pytest.mark.host
@pytest.mark.parametrize("shape", [(5, 5), (150, 150)])
@pytest.mark.parametrize("call", [
    _set, np.copyto, lambda out, x: out.add_(x), lambda out, x: mat.add(out, x, out=out),
    lambda out, x: mat.add(x, 1, out=out), lambda out, x: mat.square(x, out=out)])
def test_arrays_in_the_memory_of_a_mat(call, shape, rng):
    for write, read in (((slice(None), 2), 1), (slice(1, None), slice(None, -1)),
                        ((..., slice(1, None)), (..., slice(None, -1)))):
        values = rng.integers(0, 100, shape).astype(float)
        a = values.copy()
        call(mat.from_numpy(a)[write], a[read])
        wanted = mat.array(values)
        call(wanted[write], values[read])
        assert_array_equal(a, wanted.to_numpy())
        x = mat.array(values)
        with x.facet("array", "io") as looked_at:
            call(x[write], looked_at[read])
        assert_array_equal(x.to_numpy(), wanted.to_numpy())


SLICES = (np.s_[:, 1:], np.s_[:, :-1], np.s_[1:, :-1], np.s_[:-1, 1:], np.s_[:-1, :-1],
          np.s_[1:, 1:],
          np.s_[::2, 1:4], np.s_[1::2, :3], np.s_[2:5, 3], np.s_[0:3, 3], np.s_[::2, 3], np.s_[2],
          np.s_[4], np.s_[::-1, 1:], np.s_[:, ::-1], np.s_[:, ::2], np.s_[:, 1::2], np.s_[:2],
          np.s_[3:5], np.s_[:, :1], np.s_[:, 2:3], np.s_[5, 1:], np.s_[5, :-1], np.s_[5, :-1:2])


@pytest.mark.host
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "complex128", "uint8", "int16",
                                   "bool"])
def test_assignments_between_parts_of_one_matrix_and_of_two(dtype, rng):
    given = (rng.random((6, 6)) * 5).astype(dtype)
    other = given[::-1].copy()
    for to in SLICES:
        for source in SLICES:
            if given[to].shape != given[source].shape:
                continue
            a, x = given.copy(), mat.array(given)
            a[to] = given[source]
            x[to] = x[source]
            assert_array_equal(x.to_numpy(), a, f"{to} = {source}")
            a[to] = other[source]
            x[to] = mat.array(other)[source]
            assert_array_equal(x.to_numpy(), a)
            for _ in range(2):  # by a plan, from the second one on
                a[to] += a[source].copy()
                x[to] += x[source]
                assert_array_equal(x.to_numpy(), a)


# NumPy's own errors


@pytest.mark.parametrize("dtype", DTYPES)
def test_negative_of_any_steps(dtype):
    a = np.arange(1, 101).astype(dtype)
    for step in range(-9, 10):
        for other in range(-9, 10):
            if step and other:
                x, out = mat.array(a), mat.zeros(100, dtype=dtype)
                mat.negative(x[::step][:7], out=out[::other][:7])
                assert_array_equal(out[::other][:7].to_numpy(), 0 - a[::step][:7])
    x = mat.array(a[:96], dtype=dtype).reshape(12, 8)
    x[:, 2].negative_()
    assert_array_equal(x[:, 2].to_numpy(), 0 - a[2:96:8])


BITS = ["exp", "log1p", "sin", "tanh", "sqrt", "cbrt", "exp2"]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", BITS)
def test_overlap_changes_no_bits(name, dtype, device, rng):
    function = getattr(np, name)
    for n in (10, 100, 5000):
        a = rng.random(n).astype(dtype)
        with using(device):
            for to, source in ((np.s_[:], np.s_[::-1]), (np.s_[1:], np.s_[:-1])):
                wanted = function(mat.array(a)[source]).to_numpy()
                x = mat.array(a)
                function(x[source], out=x[to])
                assert_array_equal(x[to].to_numpy(), wanted)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["arctan2", "hypot", "power", "logaddexp", "divide", "maximum"])
def test_overlap_of_two_operands_changes_no_bits(name, dtype, device, rng):
    function = getattr(np, name)
    for n in (10, 5000):
        a = rng.random(n).astype(dtype)
        with using(device):
            wanted = function(mat.array(a)[::-1], mat.array(a)).to_numpy()
            x = mat.array(a)
            function(x[::-1], x, out=x)
            assert_array_equal(x.to_numpy(), wanted)
