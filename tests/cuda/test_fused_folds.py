"""Reductions that join the pass of a `mat.fused` block on a device: one kernel, with the bits of
the operations one by one.
"""

import threading

import numpy as np
import pytest

import mat

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from mat.cuda.runtime import nvrtc

from ..support.needs_nvrtc import needs_nvrtc
from ..tools.mock_driver.cubin import kernels
from ..tools.mock_driver.ptx.nvrtc_ptx import ptx
from .computing import only_there
from .test_fused import arrays, counted, same

__all__ = ["counted"]  # a fixture
pytestmark = pytest.mark.host

SHAPE = 300, 260
FOLDS = {
    "sum": lambda x, axis: x.sum(axis=axis),
    "mean": lambda x, axis: x.mean(axis=axis, keepdims=True),
    "max": lambda x, axis: x.max(axis=axis),
    "min": lambda x, axis: x.min(axis=axis, keepdims=True),
    "prod": lambda x, axis: (x * 0.01 + 1).prod(axis=axis),
    "var": lambda x, axis: x.var(axis=axis),
    "std": lambda x, axis: x.std(axis=axis, ddof=1),
    "argmax": lambda x, axis: x.argmax(axis=axis),
    "count": lambda x, axis: mat.count_nonzero(x > 1, axis=axis),
    "any": lambda x, axis: (x > 3.9).any(axis=axis),
    "all": lambda x, axis: (x > -3.9).all(axis=axis),
}


def finite(*args, **kwargs):
    """Return Mats of the device with numbers that are finite."""
    return [only_there(mat.array(np.where(np.isnan(a), 0, a).astype(a.dtype)))
            for a in arrays(*args, **kwargs)]


def check(counted, function, *operands):
    """Hold a function against the operations one by one; return how many launches it takes, and
    these.
    """
    separate, expected = counted_alone(counted, function, *operands)
    for _ in range(3):
        found, (launches, _) = counted(function, *operands)
        assert found.fresh == {"cuda:0"}
        same(found, expected)
    return launches, separate


def counted_alone(counted, function, *operands):
    """Return how many launches a function takes outside of blocks, and its result."""
    before = counted.driver.calls("cuLaunchKernel")
    found = function(*operands)
    return counted.driver.calls("cuLaunchKernel") - before, found


@pytest.fixture(autouse=True)
def driver(counted, mock):
    counted.driver = mock


@pytest.mark.parametrize("axis", [-1, 0, None])
@pytest.mark.parametrize("name", FOLDS)
def test_a_reduction_joins_the_pass(counted, name, axis):
    operands, fold = finite(2, shape=SHAPE), FOLDS[name]
    launches, separate = check(counted, lambda x, y: fold(x * y - 0.5, axis), *operands)
    assert launches <= 2  # the second one puts parts together
    assert separate >= launches + 2


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "int64", "float16",
                                   "bfloat16", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("axis", [-1, 0, None])
def test_elements_of_any_dtype(counted, dtype, axis):
    operands = finite(2, dtype, shape=SHAPE)
    join = (lambda x, y: x ^ y) if dtype == "bool" else lambda x, y: x * y + x
    for name in ("sum", "max"):
        if name == "max" and dtype.startswith("complex"):
            continue
        launches, separate = check(counted, lambda x, y, f=FOLDS[name]: f(join(x, y), axis),
                                   *operands)
        assert launches < separate


@pytest.mark.parametrize("axis", [-1, 0, None])
def test_conversions_before_a_reduction(counted, axis):
    x, = finite(1, "int32" if axis == 0 else "float32", shape=SHAPE)
    for dtype in ("float64", "float16", "int8"):
        check(counted, lambda x, dtype=dtype: ((x + 1).astype(dtype) * 3).sum(axis=axis), x)


OTHERS = {"row": lambda x: x[:1], "column": lambda x: x[:, :1], "one": lambda x: x[:1, :1],
          "transposed": lambda x: x[:260, :260].T, "every second": lambda x: x[:, ::2],
          "odd": lambda x: x[:, 3:133]}


@pytest.mark.parametrize("axis", [-1, 0, None])
@pytest.mark.parametrize("name", OTHERS)
def test_operands_have_any_layout(counted, name, axis):
    wide, = finite(1, shape=(300, 300))
    y = OTHERS[name](wide)
    x, = finite(1, shape=y.shape if y.size > 300 else (300, 300))
    launches, separate = check(counted, lambda x, y: ((x - y) * 2).sum(axis=axis), x, y)
    assert launches < separate


@pytest.mark.parametrize("shape", [(300, 257), (70_001,), (40, 60, 30), (3, 30_000), (30_000, 3)])
def test_rows_that_are_odd_long_short_and_of_more_axes(counted, shape):
    x, y = finite(2, shape=shape)
    axes = (-1, 0, None, (0, -1))[:2 + len(shape)]
    for axis in axes[:3] if len(shape) == 1 else axes:
        check(counted, lambda x, y, axis=axis: (x + 2 * y).sum(axis=axis), x, y)


def softmax(x):
    e = mat.exp(x - x.max(axis=1, keepdims=True))
    e /= e.sum(axis=1, keepdims=True)
    return e


def layer_norm(x):
    d = x - x.mean(axis=1, keepdims=True)
    d /= mat.sqrt((d * d).mean(axis=1, keepdims=True) + 1e-5)
    return d


def rms_norm(x):
    return x / mat.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-5)


def log_sum_exp(x):
    m = x.max(axis=1, keepdims=True)
    return mat.log(mat.exp(x - m).sum(axis=1, keepdims=True)) + m


def log_softmax(x):
    d = x - x.max(axis=-1, keepdims=True)
    return d - mat.log(mat.exp(d).sum(axis=-1, keepdims=True))


@pytest.mark.parametrize(("function", "launches"), [
    (softmax, 1), (layer_norm, 1), (rms_norm, 1), (log_sum_exp, 1), (log_softmax, 1)])
def test_chains_of_rows(counted, function, launches):
    """Statistics, what is computed of these few, and a pass that writes the result."""
    x, = finite(1, shape=(1024, 256))
    found, separate = check(counted, function, x)
    assert found == launches < separate


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int32"])
@pytest.mark.parametrize("shape", [(300, 250), (70, 1000), (9, 33, 257), (5000, 7), (2, 40_000)])
def test_rows_of_any_length_and_dtype(counted, dtype, shape):
    def center(x):
        d = x - x.max(axis=-1, keepdims=True)
        return d * 2 - d.min(axis=-1, keepdims=True) if dtype == "int32" else softmax(x)

    def softmax(x):
        e = mat.exp(x - x.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)

    x, = finite(1, dtype, shape=shape)
    launches, _ = check(counted, center, x)
    many = shape[-1] > 5000 and dtype not in ("float16", "bfloat16")
    assert (launches == 1) != many  # several blocks share a long row


@pytest.mark.parametrize("name", ["transposed", "every second", "odd", "row"])
def test_rows_of_views_are_added_in_the_order_of_their_memory(counted, name):
    wide, = finite(1, shape=(300, 300))
    view = OTHERS[name](wide)
    if name == "row":
        view = mat.broadcast_to(view, (300, 300))
    check(counted, lambda v: v - v.sum(axis=-1, keepdims=True), view)
    check(counted, lambda v: v * 2 - (v * 2).sum(axis=-1, keepdims=True), view)


def test_what_rows_are_reduced_to_is_written_too(counted):
    def kept(x):
        m = x.max(axis=1, keepdims=True)
        d = x - m
        return d, m, d.sum(axis=1, keepdims=True)

    x, = finite(1, shape=(300, 260))
    expected = kept(x)
    for _ in range(3):
        found, (launches, _) = counted(kept, x)
        for a, b in zip(found, expected, strict=True):
            same(a, b)
    assert launches == 1


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_what_is_computed_of_the_results_for_rows_is_of_the_same_kernel(counted, dtype):
    def normalised(x, weight, bias):
        m = x.mean(axis=1, keepdims=True)
        d = x - m
        s = (d * d).mean(axis=1, keepdims=True)
        s += 1e-3
        s = mat.sqrt(s)
        return d / s * weight + bias, m * 2, s

    (x,), (weight, bias) = (finite(1, dtype, shape=(300, 264)),
                            finite(2, dtype, shape=264, seed=3))
    expected = normalised(x, weight, bias)
    for _ in range(3):
        found, (launches, _) = counted(normalised, x, weight, bias)
        for a, b in zip(found, expected, strict=True):
            same(a, b)
    assert launches == 1


def test_more_programs_of_rows_than_a_launch_has_room_for(counted):
    def many(x):
        y = x
        for _ in range(9):
            y = y - y.mean(axis=1, keepdims=True) * 0.5
        return y

    x, = finite(1, shape=(300, 264))
    launches, separate = check(counted, many, x)
    assert 1 < launches < separate


def test_rows_are_updated_in_place(counted):
    def center(x):
        x -= x.mean(axis=1, keepdims=True)

    x, y = finite(1, shape=(300, 260)) + finite(1, shape=(300, 260))
    for turn in range(4):
        center(y)
        with x.facet("cuda", "input") as a:
            before = a.address
        _, (launches, _) = counted(center, x)
        assert launches == (2, 1, 1, 1)[turn]
        with x.facet("cuda", "input") as a:
            assert a.address == before
        same(x, y)
        x += turn
        y += turn


def test_a_write_comes_after_the_reductions_that_read_what_was_there(counted):
    def write(x):
        m = x.max(axis=1, keepdims=True)
        y = x - m
        x += 1
        z = x - x.max(axis=1, keepdims=True)
        x[0] = 7
        return y, z, m

    for _ in range(3):
        x, y = finite(1, shape=(300, 260)) + finite(1, shape=(300, 260))
        expected = write(y)
        found, _ = counted(write, x)
        for a, b in zip((*found, x), (*expected, y), strict=True):
            same(a, b)


def test_what_rows_are_reduced_to_is_read_alone(counted):
    x, = finite(1, shape=(300, 260))
    with mat.fused():
        m, n = x.max(axis=1, keepdims=True), x.sum(axis=1, keepdims=True)
        assert "pending" in repr(m)
        del n  # is never computed
        np.testing.assert_array_equal(m.to_numpy(), x.to_numpy().max(axis=1, keepdims=True))
        y = m + 1
    np.testing.assert_array_equal(y.to_numpy(), m.to_numpy() + 1)


def test_rows_are_read_where_no_device_is_in_use(counted):
    def read():
        with mat.use_device("cpu"):
            found.extend([y.to_numpy(), m.to_numpy()])

    for read_by in (read, lambda: threading.Thread(target=read)):
        x, found = finite(1, shape=(300, 260))[0], []
        with mat.fused():
            m = (x * 2).sum(axis=1, keepdims=True)
            y = x - m
            one = read_by()
            if one is not None:
                one.start()
                one.join()
        np.testing.assert_array_equal(found[1], (x * 2).sum(axis=1, keepdims=True).to_numpy())
        np.testing.assert_array_equal(found[0], x.to_numpy() - found[1])


def test_rows_that_fail_are_pending_still(counted, mock):
    x, = finite(1, shape=(300, 260))
    for _ in range(2):
        counted(softmax, x)
    with mat.fused():
        y = softmax(x)
        mock.fail("cuLaunchKernel", status="invalid_value")
        with pytest.raises(mat.errors.DeviceError) as caught:
            y.to_numpy()
        assert "pending" in repr(y)
        assert "test_fused_folds.py" in caught.value.__notes__[0]
    same(y, softmax(x))


def test_the_lines_of_rows_are_in_traces_and_errors(counted, mock):
    x, = finite(1, shape=(300, 260))
    for _ in range(2):
        counted(softmax, x)
    with mat.debug.trace() as t, mat.fused():
        y = softmax(x)
    assert [event.mat.split(" of ")[0] for event in t.operations] == ["fused: 5 operations"]
    same(y, softmax(x))


@needs_nvrtc
def test_nvrtc_makes_rows_without_local_memory(counted):
    x, = finite(1, shape=(1024, 1024))
    for function in (softmax, layer_norm):
        counted.texts.clear()
        for _ in range(2):
            counted(lambda x, f=function: f(x * 1.5), x)
        text = next(t for t in counted.texts if "mat_rows" in t)
        for arch in ("sm_80", "sm_90"):
            one = kernels(nvrtc.Nvrtc().compile(text, (nvrtc.EXACT,), arch))["mat_rows"]
            assert one.registers <= 128
            # NVRTC 13.5 spills one pair of registers for Hopper rather than use 96, of which there
            # would be enough for two thirds of the threads only
            assert one.stack <= (8 if (function, arch) == (softmax, "sm_90") else 0)


@needs_nvrtc
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_nvrtc_contracts_nothing_and_reads_128_bits_at_once(counted, dtype):
    x, y = finite(2, dtype, shape=(512, 512))
    for _ in range(2):
        counted(lambda x, y: ((x - y[:, :1]) * x + y).var(axis=1) if dtype != "float16"
                else ((x - y[:, :1]) * x + y).sum(axis=1), x, y)
    text = next(t for t in counted.texts if "mat_fold" in t)
    found = ptx(text, (nvrtc.EXACT,), "sm_80")
    assert "fma." not in found
    assert "v4.u32" in found or "v4.f32" in found or "v2.f64" in found or "v4.b32" in found, found
    for arch in ("sm_80", "sm_90"):
        one = kernels(nvrtc.Nvrtc().compile(text, (nvrtc.EXACT,), arch))["mat_fold_lines"]
        # of halves, what is done one by one at odd addresses spills some
        assert one.stack <= (64 if dtype == "float16" else 0)
        assert one.registers <= 128


@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_in_tiles(name, axis):
    """With a small pool the tiles and the bits are those of the reduction alone."""
    x, y = (mat.array(np.where(np.isnan(a), 0, a)) for a in arrays(2, shape=SHAPE))

    def function(x, y):
        return FOLDS[name](x * y + 0.5, axis), FOLDS[name](x, axis), x.sum(axis=axis)

    pool_bytes = x.nbytes // 4
    with mat.use_device("cuda", pool_bytes=pool_bytes):
        expected = function(x, y)
    for _ in range(2):  # one by one, and as one kernel
        with (mat.use_device("cuda", pool_bytes=pool_bytes), mat.debug.count_copies() as copies,
              mat.fused()):
            found = function(x, y)
        assert copies.bytes < 4.2 * x.nbytes
        for a, b in zip(found, expected, strict=True):
            same(a, b)
