"""Reductions by the device's kernels, run on the CPU: against NumPy, over dtypes, axes, strides and
sizes that go every way.
"""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

from mat.ops.primitives import declare_reduce as declared
from mat.ops.primitives import reduce
from mat.support.dtypes import as_dtype

from ..support import selection
from ..support.launching import frame_of, launch_all
from ..support.layouts import FLOATS, INTEGERS, numbers, tolerance
from ..tools.mock_driver.harness import compiler

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from mat.cuda import engine
from mat.cuda.kernels import reduce as device
from mat.cuda.kernels.reduce import REDUCED

on_cpu = pytest.mark.skipif(not compiler(), reason="no C++ compiler")
SUMS, FOLDS = ("sum", "mean", "prod"), ("max", "min", "argmax", "argmin")
COMPLEX = ("complex64", "complex128")
KINDS = {kind.name: kind() for kind in (reduce.Sum, reduce.Mean, reduce.Product, reduce.Max,
                                        reduce.Min, reduce.ArgMax, reduce.ArgMin)}
TASKS = [(name, dtype) for name in (*SUMS, *FOLDS)
         for dtype in ("bool", *INTEGERS, *FLOATS, *COMPLEX)]
EVERY_WAY = {("sum", "int8"), ("sum", "float16"), ("sum", "float64"), ("sum", "complex128"),
             ("mean", "int16"),
             # so few,
             ("prod", "complex64"), ("max", "uint8"), ("min", "float16"), ("argmax", "float64"),
             ("argmin", "int8")}
# since each takes a second to compile


def form(a):
    return SimpleNamespace(shape=a.shape, element_strides=tuple(s // a.itemsize for s in a.strides),
                           dtype=a.dtype, itemsize=a.itemsize)


def axes_of(a, axis):
    return tuple(range(a.ndim)) if axis is None else tuple(k % a.ndim
                                                           for k in (axis if isinstance(axis, tuple)
                                                                     else (axis,)))


def prepared(name, a, axis, out, **more):
    """What the operation prepares for these arrays."""
    return declared.reduced_on_device(engine, KINDS[name].device_type(engine), form(a), form(out),
                                      axes_of(a, axis), form(out).element_strides,
                                      ordered=name.startswith("arg"), **more)


def place_for(name, a, axis):
    axes = axes_of(a, axis)
    shape = tuple(n for k, n in enumerate(a.shape) if k not in axes)
    return np.full(shape, 77, KINDS[name].result_dtype(a.dtype))


def reduced(name, a, axis=None, seed=0):
    """The result, and the launch that gave it."""
    out = place_for(name, a, axis)
    launch = prepared(name, a, axis, out)
    if launch is not declared.nothing:
        launch_all(launch, [a, out], seed=seed)
    return out, launch


def wanted(name, a, axis):
    if a.dtype.kind in "fc" and name in SUMS:
        wide = np.clongdouble if a.dtype.kind == "c" else np.longdouble
        return getattr(np, name)(a.astype(wide), axis=axis)
    return getattr(np, name)(a, axis=axis)


def agree(name, a, axis, seed=0):
    got, launch = reduced(name, a, axis, seed)
    with np.errstate(all="ignore"):
        target = np.asarray(wanted(name, a, axis)).astype(got.dtype)
    if name in FOLDS or got.dtype.kind in "iu":
        assert_array_equal(got, target)
    elif name == "prod":
        assert_allclose(got, target, rtol=4 * float(np.finfo(got.dtype).eps) + a.size * 2.0**-51)
    else:
        assert_allclose(got, target, **tolerance(got.dtype))
    return launch


def views(rng, shape, dtype):
    """Arrays of this shape, packed, transposed, with gaps, backwards, and repeated."""
    yield numbers(rng, shape, dtype)
    yield numbers(rng, shape[::-1], dtype).T
    yield numbers(rng, [2 * n + 3 for n in shape],
                  dtype)[tuple(slice(1, 1 + 2 * n, 2) for n in shape)]
    yield numbers(rng, shape, dtype)[(slice(None, None, -1), ...)]
    yield numbers(rng, shape, dtype)[..., ::-1]
    yield np.broadcast_to(numbers(rng, (*shape[:-1], 1), dtype), shape)


def every_axes(ndim, one_axis):
    single = [None, *range(ndim)]
    return single if one_axis else [None, *(t for k in range(ndim + 1)
                                            for t in itertools.combinations(range(ndim), k))]


# Results


@on_cpu
@pytest.mark.parametrize("name", [*SUMS, *FOLDS])
@pytest.mark.parametrize("shape", [(1,), (33,), (3, 5), (70, 9), (3, 4, 5), (2, 1, 3, 2)], ids=str)
@pytest.mark.sample(4)
def test_any_axes_of_any_layout(rng, name, shape):
    for a in views(rng, shape, "float32"):
        a = np.exp(a / a.size, dtype=a.dtype) if name == "prod" and 0 not in a.strides else a
        for axis in every_axes(len(shape), name.startswith("arg")):
            agree(name, a, axis)


@on_cpu
@pytest.mark.parametrize(("name", "dtype"), TASKS)
@pytest.mark.sample(4)
def test_dtypes(rng, name, dtype):
    samples = [((5,), (0,)), ((4, 33), (1, None)), ((), (None,))]
    if (name, dtype) in EVERY_WAY:
        samples += [((300, 16), (0, 1)), ((7, 3, 9), (0, 1))]
    for shape, axes in samples:
        a = np.asarray(numbers(rng, shape, dtype))
        if name == "prod" and a.dtype.kind in "fc":
            a = np.asarray(np.exp(a / max(a.size, 1))).astype(dtype)
        for axis in axes:
            agree(name, a, axis)


@on_cpu
@pytest.mark.parametrize("name", ["sum", "mean", *FOLDS])
@pytest.mark.sample(3)
def test_bfloat16(rng, name):
    pytest.importorskip("ml_dtypes", reason="it has bfloat16")
    a = rng.integers(-20, 20, (37, 24)).astype(as_dtype("bfloat16"))
    for axis in (None, 0, 1):
        got, _ = reduced(name, a, axis)
        target = getattr(np, name)(a.astype("float32"), axis=axis)
        assert_array_equal(got, np.asarray(target).astype(got.dtype))


@on_cpu
def test_zero_dimensions_and_no_elements():
    for dtype in ("float32", "int8", "complex128"):
        for shape in ((0,), (0, 3), (3, 0)):
            for axis in (None, *range(len(shape))):
                for name in ("sum", "prod"):
                    agree(name, np.zeros(shape, dtype), axis)
    assert math.isnan(reduced("mean", np.zeros(0, "float32"))[0])
    assert math.isnan(reduced("mean", np.zeros(0, "int32"))[0])


@on_cpu
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "float16"])
@pytest.mark.parametrize("shape", [(70_001,), (3, 40_000), (40_000, 3), (9000, 64), (2, 5000, 12),
                                   (5, 300, 7, 11)], ids=str)
@pytest.mark.sample(5)
def test_large_ones_go_in_parts(rng, shape, dtype):
    a = numbers(rng, shape, dtype)
    chunks = set()
    for name in ("sum", "max", "argmax"):
        for axis in (None, *range(len(shape))):
            chunks.add(frame_of(agree(name, a, axis))[5])
    assert a.nbytes < device.WORTH or max(chunks) > 1


@on_cpu
@pytest.mark.parametrize("name", ["sum", "max", "argmin", "prod"])
def test_the_order_of_threads_does_not_matter(rng, name):
    for shape, axis in (((40_000,), None), ((33, 130), 1), ((500, 33), 0), ((5000, 16), 0),
                        ((6, 7, 50), (0, 2))):
        if name.startswith("arg") and isinstance(axis, tuple):
            continue
        a = rng.standard_normal(shape).astype("float32")
        first, _ = reduced(name, a, axis)
        for seed in (1, 2, 3):
            assert_array_equal(reduced(name, a, axis, seed)[0], first)


@on_cpu
def test_elements_that_do_not_lie_at_16_bytes(rng):
    for dtype in ("float32", "int8", "float64"):
        whole = numbers(rng, 700, dtype)
        for start in (1, 2, 3, 5):
            for length in (3, 17, 600):
                for name in ("sum", "argmax"):
                    agree(name, whole[start:start + length], None)
        matrix = numbers(rng, (40, 36), dtype)
        for name in ("sum", "argmax"):
            agree(name, matrix[:, 3:35], 0)
            agree(name, matrix[1:, 1:], 1)


@on_cpu
def test_results_into_any_strides(rng):
    a = rng.standard_normal((6, 5, 40)).astype("float32")
    for k in range(3):
        shape = a.max(k).shape
        store = np.full([2 * n + 1 for n in shape], 7, "float32")
        for out in (store[1::2, 1::2], store[-2::-2, -2::-2]):
            launch_all(prepared("max", a, k, out), [a, out])
            assert_array_equal(out, a.max(k))
        assert (store == 7).sum() == store.size - out.size


# What is not a number, infinite, or as large as another


@on_cpu
@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX])
@pytest.mark.parametrize("shape", [(3,), (70,), (3000,), (20_000,), (90, 80), (4, 700)], ids=str)
@pytest.mark.sample(5)
def test_not_a_number_wins(rng, shape, dtype):
    for _ in range(3):
        a = rng.standard_normal(shape).astype(dtype)
        for at in rng.integers(0, a.size, rng.integers(1, 4)):
            a.flat[at] = rng.choice([np.nan, np.nan, np.inf] if a.dtype.kind == "f"
                                    else [complex(1, np.nan), np.nan, np.inf])
        for axis in (None, *range(a.ndim)):
            for name in FOLDS:
                found = getattr(np, name)(a, axis=axis)
                assert_array_equal(np.isnan(reduced(name, a, axis)[0]), np.isnan(found))
                assert_array_equal(np.where(np.isnan(found), 0, reduced(name, a, axis)[0]),
                                   np.where(np.isnan(found), 0, found))
            assert_array_equal(np.isnan(reduced("sum", a, axis)[0]), np.isnan(np.sum(a, axis=axis)))


@on_cpu
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 5, 300])
def test_infinities_and_zeros(dtype, n):
    inf, top = np.inf, np.finfo(dtype).max
    for shape, axis in (((n,), 0), ((n, 3), 0), ((3, n), 1)):
        assert np.all(reduced("sum", np.full(shape, inf, dtype), axis)[0] == inf)
        assert np.all(reduced("max", np.full(shape, -inf, dtype), axis)[0] == -inf)
        assert np.all(reduced("argmax", np.full(shape, -inf, dtype), axis)[0] == 0)
        assert np.all(reduced("argmin", np.full(shape, inf, dtype), axis)[0] == 0)
        assert np.all(reduced("sum", np.full(shape, top, dtype), axis)[0]
                      == (inf if n > 1 else top))
        assert not np.any(np.signbit(reduced("sum", np.full(shape, -0.0, dtype), axis)[0]))


@on_cpu
def test_the_first_of_equals_is_found(rng):
    for shape in ((50,), (40_000,), (300, 20), (20, 300)):
        a = rng.integers(0, 3, shape).astype("float32")
        for axis in (None, *range(a.ndim)):
            for name in ("argmax", "argmin"):
                agree(name, a, axis)
                agree(name, -a, axis)


# Accuracy


@on_cpu
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(30_001,), (6000, 7), (7, 6000)], ids=str)
def test_sums_of_what_nearly_cancels_are_within_the_bound(rng, shape, dtype):
    """The bound that native/cuda/reduce_types.cuh gives."""
    half = rng.standard_normal(shape) * 10.0 ** rng.integers(-6, 7, shape)
    a = np.concatenate([half, -half[::-1] * (1 + rng.standard_normal(shape) * 1e-3)]).astype(dtype)
    for axis in (None, *range(a.ndim)):
        got, _ = reduced("sum", a, axis)
        lines = a.reshape(1, -1) if axis is None else np.moveaxis(a, axis,
                                                                  -1).reshape(-1, a.shape[axis])
        target = np.array([math.fsum(line.tolist()) for line in lines]).reshape(got.shape)
        size = np.abs(lines).astype(np.longdouble).sum(-1).reshape(got.shape)
        eps = np.finfo(dtype).eps
        assert np.all(np.abs(got - target) <= 5 / 2 * eps * size + eps * np.abs(target))


@on_cpu
def test_integers_wrap_and_their_means_do_not(rng):
    a = np.full(1000, 2**62, "int64")
    assert_array_equal(reduced("sum", a)[0], a.sum())
    assert reduced("mean", a)[0] == 2.0**62
    assert reduced("mean", np.full(1000, 2**64 - 1, "uint64"))[0] == 2.0**64
    assert reduced("mean", np.full(1000, -128, "int8"))[0] == -128
    assert_array_equal(reduced("sum", np.full(5000, -128, "int8"))[0], -640_000)


# y.sum_(x, axis, alpha, beta)


@on_cpu
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", *COMPLEX, "int32", "uint8"])
@pytest.mark.parametrize(("alpha", "beta"), [(1, 0), (2, 0), (-3, 1), (0, 3), (2, -2)])
def test_sum_into(rng, dtype, alpha, beta):
    for shape, axis in (((3, 40), 0), ((3, 40), 1), ((500, 16), 0), ((70, 3), (0, 1))):
        x = numbers(rng, shape, dtype)
        wide = {"f": np.longdouble, "c": np.clongdouble}.get(x.dtype.kind, np.int64)
        total = x.sum(axis, dtype=wide)
        y = np.asarray(numbers(rng, total.shape, dtype))
        factor, other = (alpha, beta) if x.dtype.kind != "u" else (abs(alpha), abs(beta))
        target = (factor * total + (other * y.astype(wide) if beta else 0)).astype(dtype)
        if beta == 0 and y.dtype.kind in "fc":
            y[...] = np.nan
        launch = prepared("sum", x, axis, y, accumulate=True)
        launch_all(launch, [x, y], [factor, other])
        assert_allclose(y, target, **tolerance(dtype))


@on_cpu
def test_sum_into_takes_complex_factors(rng):
    x, y = numbers(rng, (9, 4), "complex64"), numbers(rng, (4,), "complex64")
    target = (1 + 2j) * x.sum(0) + (3 - 1j) * y
    launch_all(prepared("sum", x, 0, y, accumulate=True), [x, y], [1 + 2j, 3 - 1j])
    assert_allclose(y, target, rtol=1e-5)


# Any shape, any axes, any strides


@on_cpu
@settings(max_examples=selection.examples(60))
@given(st.data())
def test_any_array_and_axes(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=5, min_side=1, max_side=9))
    dtype = data.draw(st.sampled_from(["int16", "float32"]))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    whole = rng.integers(-9, 9, [n * 2 for n in shape]).astype(dtype)
    cut = tuple(data.draw(st.sampled_from([slice(0, n), slice(0, 2 * n, 2), slice(n, 0, -1)]))
                for n in shape)
    a = whole[cut].transpose(data.draw(st.permutations(range(len(shape)))))
    name = data.draw(st.sampled_from(["sum", "max", "argmax"]))
    axis = data.draw(st.none() | (st.integers(0, len(shape) - 1) if name == "argmax"
                                  else hnp.valid_tuple_axes(len(shape))))
    agree(name, a, axis, seed=data.draw(st.sampled_from([0, 1, 7])))


# What is planned


def plan(shape, axis, dtype="float32", name="sum", strides=None):
    """What is planned for an array that need not be there."""
    a = np.lib.stride_tricks.as_strided(np.zeros(1, dtype), shape, strides or [0] * len(shape),
                                        writeable=False)
    packed = np.cumprod([1, *shape[:0:-1]])[::-1]
    x = SimpleNamespace(shape=shape, element_strides=tuple(map(int, packed)), dtype=a.dtype,
                        itemsize=a.itemsize)
    axes = axes_of(a, axis)
    kept = [n for k, n in enumerate(shape) if k not in axes]
    steps = tuple(map(int, np.cumprod([1, *kept[:0:-1]])[::-1])) if kept else ()
    return declared.reduced_on_device(engine, KINDS[name].device_type(engine), x,
                                      SimpleNamespace(itemsize=8), axes, steps)


@pytest.mark.parametrize(("shape", "axis", "kernel", "two"), [
    ((1000,), None, "lines", False), ((20_000,), None, "lines", False),
    ((100, 100), 0, "columns", False),
    ((1 << 28,), None, "lines", True),
    ((1 << 20, 64), 1, "lines", False), ((64, 1 << 20), 1, "lines", True),
    ((1 << 20, 64), 0, "columns", True),
    ((100, 1 << 20), 0, "columns", False), ((4096, 4096), 0, "columns", True),
    ((4096, 4096), 1, "lines", False),
    ((1 << 20, 3), 0, "column", True), ((64, 256, 56 * 56), (0, 2), "lines", True),
    ((1001, 1001), 0, "column", True)], ids=str)
def test_which_way(shape, axis, kernel, two):
    launch = plan(shape, axis)
    assert launch.kernel == f"reduce_sum_f_{kernel}"
    assert (launch.then is not None) == two


@pytest.mark.parametrize("name", ["sum", "max"])
@pytest.mark.parametrize("dtype", ["int8", "float32", "complex128"])
def test_large_ones_fill_the_device_and_counts_are_of_64_bits(name, dtype):
    for shape, axis in (((1 << 33,), None), ((1 << 36,), None), ((3, 1 << 32), 1),
                        ((1 << 32, 3), 0), ((1 << 31, 64), 0),
                        ((1 << 16, 1 << 16), 0), ((1 << 16, 1 << 16), 1), ((1 << 20, 12, 1000), 1),
                        ((1 << 34, 2), 1),
                        ((1 << 24, 4, 3), 1), ((1 << 24, 3, 4), 1)):
        launch = plan(shape, axis, dtype, name if dtype != "complex128" else "sum")
        blocks = launch.grid[0] * launch.grid[1]
        assert blocks * launch.block[0] >= 1 << 17
        assert frame_of(launch)[4] <= 1 << 30
        assert launch.block[0] <= 256


def test_every_dtype_of_the_operation_has_kernels():
    assert set(REDUCED) == set(declared.ON_DEVICE)
    for kind in KINDS.values():
        for letter in REDUCED:
            kernels = kind.device_type(engine).kernels(letter)
            assert kernels.program("apart") in set(device.programs())
    assert len(set(device.programs())) == len(list(device.programs()))
