"""The device's convolution and pooling, run on the CPU: NumPy's results, for any settings."""

from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat.layout.sliding_window import windows, with_batch
from mat.layout.strided import packed_strides
from mat.ops.nn import nn as ops

from ..support import cases_nn as reference
from ..support import selection
from ..support.launching import frame_of, launch_all
from ..tools.mock_driver.harness import compiler

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from mat.cuda.kernels import nn as device

pytestmark = pytest.mark.skipif(not compiler(), reason="no C++ compiler")
FLOAT = ("float32", "float64")
REAL = (*reference.REAL, "bfloat16")
EPS = {"float32": 1e-5, "float64": 1e-13, "float16": 4e-3, "bfloat16": 3e-2}


def dtype_named(name):
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def form(a):
    """What `prepare` functions see of an operand."""
    strides = packed_strides(a.shape) if a.size == 0 else tuple(s // a.itemsize for s in a.strides)
    return SimpleNamespace(shape=a.shape, element_strides=strides, dtype=a.dtype, size=a.size)


def axes_of(x, taps, start=None, stride=None, anchor=None, batched=False):
    axes = windows(x.shape[batched:], taps, start, stride, anchor)
    return with_batch(axes, x.shape[0]) if batched else axes


def run(prepare, arrays, x, taps, kwargs, seed=0):
    launch = prepare(axes_of(x, taps, **kwargs), *map(form, arrays))
    launch_all(launch, arrays, seed=seed)
    return launch


def host(operation, *arrays, **kwargs):
    """Return the results of NumPy's implementation for copies."""
    copies = [a.copy() for a in arrays]
    with np.errstate(all="ignore"):
        operation.implementation_on("array").function(np, *copies, **kwargs)
    return copies[-1]


def same(found, wanted, scale=1.0):
    name = found.dtype.name
    if found.dtype.kind in "iu":
        assert_array_equal(found, wanted)
        return
    found, wanted = found.astype(np.float64), wanted.astype(np.float64)
    assert_allclose(found, wanted, rtol=EPS[name], atol=EPS[name] * scale)


def filled(rng, shape, dtype):
    dtype = dtype_named(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    return np.asarray(rng.standard_normal(shape)).astype(dtype)


def scale_of(*arrays):
    return 1.0 + float(np.prod([a.size + 1.0 for a in arrays])) ** 0.5


# Each kernel against NumPy's implementation


def operands(rng, shape, taps, dtype, kwargs):
    """x, w, y."""
    y = reference.output_shape(shape, taps, **kwargs)
    return filled(rng, shape, dtype), filled(rng, taps, dtype), filled(rng, y, dtype)


def check_all(x, w, y, kwargs, seed=0):
    """All five kernels on operands x, w and y, which also serve as derivatives; the names of the
    kernels.
    """
    names = []
    for prepare, operation, arrays in (
            (device.prepare_convolve, ops.convolution, (x, w, y)),
            (device.prepare_to_x, ops.convolution_to_x, (y, w, x)),
            (device.prepare_to_w, ops.convolution_to_w, (x, y, w))):
        arrays = [*arrays[:-1], np.array(arrays[-1])]
        wanted = host(operation, *arrays, axes=axes_of(x, w.shape, **kwargs))
        names.append(run(prepare, arrays, x, w.shape, kwargs, seed).kernel)
        same(arrays[-1], wanted,
             scale_of(w) if operation is not ops.convolution_to_w else scale_of(y))
    pooled = {"axes": axes_of(x, w.shape, **kwargs)}
    if w.size:
        largest = np.empty_like(y)
        names.append(run(device.prepare_pool, [x, largest], x, w.shape, kwargs, seed).kernel)
        assert_array_equal(largest, host(ops.pooling, x, y, **pooled))
        grown = np.array(x)
        wanted = host(ops.pooling_back, x, largest, y, grown, **pooled)
        names.append(run(device.prepare_pool_back, [x, largest, y, grown], x, w.shape, kwargs,
                         seed).kernel)
        same(grown, wanted, w.size)
    return [n.rpartition("_")[0] for n in names]


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("k", range(len(reference.WINDOWS)))
@pytest.mark.sample(6)
def test_every_window_in_every_dtype(k, dtype, rng):
    shape, taps, kwargs = reference.WINDOWS[k]
    check_all(*operands(rng, shape, taps, dtype, kwargs), kwargs, seed=k)


FAST = (  # x, taps, settings, and the kernels that are to do it
    ((3, 28, 28), (5, 5), {"anchor": 2, "batched": True},
     ["convolve_5", "convolve_5", "correlate_5"]),
    ((2, 70, 130), (3, 3), {"anchor": 1, "batched": True},
     ["convolve_3", "convolve_3", "correlate_3"]),
    ((9, 33), (3, 3), {"start": (0, 1), "stride": (1, 2)},
     ["convolve_3", "convolve_to_x", "correlate_3"]),
    ((9, 33), (3, 3), {"stride": (2, 1), "anchor": 1},
     ["convolve_points", "convolve_to_x", "correlate_1"]),
    ((40, 41), (7, 9), {"anchor": (3, 4)}, ["convolve_rows", "convolve_rows", "correlate_4"]),
    ((5, 300), (11,), {"anchor": 5, "batched": True},
     ["convolve_rows", "convolve_rows", "correlate_1"]),
    ((700,), (17,), {}, ["convolve_points", "convolve_points", "correlate_1"]),
    ((5, 4, 6), (3, 2, 2), {"stride": (1, 2, 1), "anchor": (2, 0, 0)},
     ["convolve_points", "convolve_to_x", "correlate_1"]),
    ((4, 6, 7, 70), (3, 3, 3), {"anchor": 1, "batched": True},
     ["convolve_3", "convolve_3", "correlate_3"]),
)


@pytest.mark.parametrize("dtype", [*FLOAT, "float16"])
@pytest.mark.parametrize(("shape", "taps", "kwargs", "kernels"), FAST)
@pytest.mark.sample(5)
def test_what_is_frequent_has_kernels_of_its_own(shape, taps, kwargs, kernels, dtype, rng):
    names = check_all(*operands(rng, shape, taps, dtype, kwargs), kwargs, seed=3)
    assert names[:3] == kernels


@pytest.mark.parametrize("dtype", [*FLOAT, "float16", "bfloat16", "int8", "uint32"])
@pytest.mark.parametrize("shape", [(28, 28), (3, 9, 33), (2, 7, 1), (1, 64, 70), (2, 3, 5, 130)])
@pytest.mark.parametrize("offset", [0, 1])
@pytest.mark.sample(4)
def test_pairs(shape, dtype, offset, rng):
    """2 x 2 windows side by side, at any alignment, with ties, the last of which may be cut off."""
    x = np.zeros(int(np.prod(shape)) + offset, dtype_named(dtype))[offset:].reshape(shape)
    x[...] = np.round(3 * rng.random(shape)).astype(x.dtype)
    kwargs = {"stride": 2, "batched": len(shape) > 2}
    w = np.empty((2,) * (len(shape) - kwargs["batched"]), x.dtype)
    y = filled(rng, reference.output_shape(x.shape, w.shape, **kwargs), dtype)
    names = check_all(x, w, y, kwargs)
    assert names[3:] == (["pool_pairs", "pool_pairs_back"] if x.dtype.char in "fdeE"
                         else ["pool", "pool_back"])


def test_windows_that_begin_later_are_no_pairs(rng):
    """There is a last place that no window has."""
    x, taps, kwargs = filled(rng, (5,), "float32"), (2,), {"start": 1, "anchor": 1, "stride": 2}
    y = filled(rng, reference.output_shape(x.shape, taps, **kwargs), "float32")
    assert check_all(x, np.empty(taps, "float32"), y, kwargs)[3:] == ["pool", "pool_back"]


def views(a):
    """The same elements, lying otherwise."""
    wide = np.empty([2 * n + 1 for n in a.shape],
                    a.dtype)[tuple(slice(1, None, 2) for _ in a.shape)]
    backward = np.empty_like(a)[tuple(slice(None, None, -1) for _ in a.shape)]
    turned = np.empty(a.shape[::-1], a.dtype).T
    for view in (wide, backward, turned):
        view[...] = a
    return wide, backward, turned


@pytest.mark.parametrize("dtype", FLOAT)
@pytest.mark.parametrize(("shape", "taps", "kwargs"), [
    ((3, 12, 40), (3, 3), {"anchor": 1, "batched": True}), ((12, 40), (2, 2), {"stride": 2}),
    ((9, 8, 5), (2, 4, 3), {}),
    ((20, 21), (5, 5), {"start": 3, "stride": (1, 3), "anchor": 4})])
def test_any_strides(shape, taps, kwargs, dtype, rng):
    x, w, y = operands(rng, shape, taps, dtype, kwargs)
    for a, b, c in zip(views(x), views(w), views(y), strict=True):
        check_all(a, b, c, kwargs)
        check_all(x, b, c, kwargs)
        check_all(a, w, y, kwargs)


@pytest.mark.parametrize("taps", [(3, 3), (1, 4), (4, 2)])
def test_rows_very_far_apart(taps, rng):
    """By steps that 32 bits do not hold: the kernels that count on it are not taken."""
    kwargs = {"anchor": tuple(k // 2 for k in taps)}
    x, w, y = operands(rng, (1, 40), taps, "float64", kwargs)
    far = [np.lib.stride_tricks.as_strided(a, a.shape, (1 << 32, 8), writeable=True)
           for a in (x, y)]
    names = check_all(far[0], w, far[1], kwargs)
    assert names[:3] == ["convolve_points", "convolve_points", "correlate_1"]


def test_more_blocks_than_a_grid_has_rows(monkeypatch, rng):
    """Along rows and units a grid has no more than 65535; here, no more than one."""
    monkeypatch.setattr(device, "MOST_DOWN", 1)
    for shape, taps, kwargs in (((90, 70), (3, 3), {"anchor": 1}),
                                ((70, 30, 11), (2, 2), {"stride": 2, "batched": True}),
                                ((5, 4, 70), (3, 2, 4), {}),
                                ((70, 12, 30), (5, 5), {"batched": True, "anchor": 2})):
        x, w, y = operands(rng, shape, taps, "float32", kwargs)
        launch = device.prepare_convolve(axes_of(x, taps, **kwargs), form(x), form(w), form(y))
        assert launch.grid[1:] == (1, 1)
        assert launch.grid[0] > 1
        check_all(x, w, y, kwargs)


@st.composite
def tasks(draw):
    """The shape of x, of the window, and settings, from one to five axes."""
    count = draw(st.integers(1, 5))
    longest = (150, 40, 9, 5, 3)[count - 1]
    shape = [draw(st.integers(1, longest)) for _ in range(count)]
    taps = [draw(st.integers(1, (40, 9, 3, 3, 2)[count - 1])) for _ in range(count)]
    kwargs = {"start": tuple(draw(st.integers(0, n - 1)) for n in shape),
              "stride": tuple(draw(st.integers(1, 5)) for _ in shape),
              "anchor": tuple(draw(st.integers(0, k - 1)) for k in taps),
              "batched": draw(st.booleans())}
    if draw(st.booleans()):
        kwargs["stride"] = 1
    if kwargs["batched"]:
        shape.insert(0, draw(st.integers(0, 3)))
    dtype, seed = draw(st.sampled_from(FLOAT)), draw(st.integers(0, 2**32))
    return tuple(shape), tuple(taps), kwargs, dtype, seed


@given(tasks())
@settings(max_examples=selection.examples(60), deadline=None)
def test_any_settings(task):
    shape, taps, kwargs, dtype, seed = task
    check_all(*operands(np.random.default_rng(seed), shape, taps, dtype, kwargs), kwargs,
              seed=seed % 5)


# What is not a number


@pytest.mark.parametrize("dtype", FLOAT)
@pytest.mark.parametrize(("shape", "taps", "kwargs"), [
    ((2, 11, 40), (3, 3), {"anchor": 1, "batched": True}), ((11, 40), (5, 5), {"anchor": 2}),
    ((12, 13), (4, 6), {"anchor": 3}),
    ((40,), (9,), {"anchor": 4}), ((13, 14), (3, 3), {"anchor": 1, "stride": 2})])
def test_infinite_and_no_numbers_act_where_they_are_only(shape, taps, kwargs, dtype, rng):
    for k in range(6):
        x, w, y = operands(rng, shape, taps, dtype, kwargs)
        for a in (x, w, y)[k % 3::2]:
            a.flat[rng.integers(a.size, size=2)] = (np.inf, np.nan)[k // 3]
        check_all(x, w, y, kwargs)


@pytest.mark.parametrize("dtype", [*FLOAT, "float16"])
def test_pooling_of_no_numbers_and_of_the_least(dtype, rng):
    x = filled(rng, (6, 9), dtype)
    x[1, 2] = x[1, 3] = np.nan
    x[4:, 4:] = -np.inf
    for taps, stride in (((2, 2), 2), ((3, 3), 1), ((2, 3), (2, 1))):
        y = filled(rng, reference.output_shape(x.shape, taps, stride=stride), dtype)
        check_all(x, np.empty(taps, x.dtype), y, {"stride": stride})


# One result


@pytest.mark.parametrize("dtype", FLOAT)
def test_the_same_bits_in_any_order_of_threads(dtype, rng):
    kwargs = {"anchor": 1, "batched": True}
    x, w, y = operands(rng, (3, 30, 70), (3, 3), dtype, kwargs)
    found = []
    for seed in range(4):
        grown = np.array(w), np.array(x)
        run(device.prepare_to_w, [x, y, grown[0]], x, w.shape, kwargs, seed)
        run(device.prepare_to_x, [y, w, grown[1]], x, w.shape, kwargs, seed)
        found.append([a.tobytes() for a in grown])
    assert all(f == found[0] for f in found)


def test_sums_of_many_pieces(rng):
    """As many as a large batch has: the second stage adds up more of them than a warp has lanes."""
    kwargs = {"anchor": 1, "batched": True}
    x, w, y = operands(rng, (200, 20, 9), (3, 3), "float32", kwargs)
    launch = device.prepare_to_w(axes_of(x, w.shape, **kwargs), form(x), form(y), form(w))
    assert frame_of(launch)[10] > 32
    wanted = host(ops.convolution_to_w, *(a.astype(np.float64) for a in (x, y, w)),
                  axes=axes_of(x, w.shape, **kwargs))
    launch_all(launch, [x, y, w])
    assert_allclose(w, wanted, rtol=1e-5, atol=1e-3)


def test_nothing_is_launched_where_nothing_is_to_do():
    x, w, y = np.empty((0, 5, 4)), np.empty((3, 2)), np.empty((0, 5, 4))
    axes = axes_of(x, w.shape, batched=True)
    launches = (device.prepare_convolve(axes, *map(form, (x, w, y))),
                device.prepare_to_x(axes, *map(form, (y, w, x))),
                device.prepare_to_w(axes, *map(form, (x, y, w))),
                device.prepare_pool(axes, form(x), form(y)),
                device.prepare_pool_back(axes, *map(form, (x, y, y, x))))
    for launch in launches:
        assert 0 in launch.grid
        assert launch.then is None or 0 in launch.then.grid


# The derivatives are derivatives


@pytest.mark.parametrize(("shape", "taps", "kwargs"),
                         [((2, 7, 9), (3, 3), {"anchor": 1, "batched": True}),
                          ((8, 9), (2, 5), {"stride": (2, 1), "start": 1, "anchor": (0, 2)})])
def test_finite_differences(shape, taps, kwargs, rng):
    x, w, yd = operands(rng, shape, taps, "float64", kwargs)

    def total(x, w):
        y = np.zeros_like(yd)
        run(device.prepare_convolve, [x, w, y], x, taps, kwargs)
        return float((y * yd).sum())

    xd, wd = np.zeros_like(x), np.zeros_like(w)
    run(device.prepare_to_x, [yd, w, xd], x, taps, kwargs)
    run(device.prepare_to_w, [x, yd, wd], x, taps, kwargs)
    for a, d, at in ((x, xd, (0,) * x.ndim), (x, xd, tuple(n - 2 for n in shape)), (w, wd, (1, 1)),
                     (w, wd, (0, 2))):
        if any(k >= n for k, n in zip(at, a.shape, strict=True)):
            continue
        value = a[at]
        a[at] = value + 1e-5
        above = total(x, w)
        a[at] = value - 1e-5
        assert_allclose((above - total(x, w)) / 2e-5, d[at], rtol=1e-6, atol=1e-6)
        a[at] = value


def test_kernels_that_count_in_32_bits_take_no_more_points():
    point = mat.zeros(1)
    for shape, fits in (((2**15, 2**15, 8), True), ((2**17, 2**16, 2), False),
                        ((2**30, 1, 2), True), ((2**30 + 1,), False)):
        assert ops.few_short_axes(point.broadcast_to(shape), point) is fits


def test_all_programs_are_listed():
    texts = {p.text for p in device.programs()}
    assert len(texts) == len(list(device.programs()))
    assert device._program("convolve_to_x", "u8").text in texts
