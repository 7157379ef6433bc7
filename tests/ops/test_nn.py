"""Convolution, pooling and their derivatives, compared with loops, SciPy and finite differences.

``test_implementations.py`` runs every implementation over dtypes and layouts; this is about values,
NaNs, settings, borders, threads and mistakes.
"""

import numpy as np
import pytest
import scipy  # what it has is imported at its first use
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat import AliasError, DTypeError, ShapeError
from mat.ops.engine.operation import REGISTRY

from ..support import cases_nn as reference
from ..support import selection
from ..support.layouts import LAYOUTS, check_hidden, place, state, tolerance

FLOAT = ("float32", "float64")
IMPLEMENTATIONS = [b for b in ("foreign", "array")
                   if any(o.facet_name == b for o in REGISTRY["nn.convolution"].implementations)]


@pytest.fixture(params=IMPLEMENTATIONS, autouse=True)
def implementation(request, monkeypatch):
    """Run each test with the compiled implementations, if there are any, and with NumPy's."""
    operations = [op for name, op in REGISTRY.items() if name.startswith(("nn.", "pooling."))]
    for op in operations:
        monkeypatch.setattr(op, "implementations", [op.implementation_on(request.param)])
        op.forget()
    yield request.param
    for op in operations:
        op.forget()


def convolved(x, w, **kwargs):
    """Return the convolution of two arrays, as an array."""
    y = mat.zeros(reference.output_shape(x.shape, w.shape, **kwargs), dtype=x.dtype.name)
    return mat.nn.convolve(mat.array(x), mat.array(w), y, **kwargs).to_numpy()


def pooled(x, pool_shape, **kwargs):
    taps = reference.taps_of(x, pool_shape, kwargs.get("batched", False))
    y = mat.empty(reference.output_shape(x.shape, taps, **kwargs), dtype=x.dtype.name)
    return mat.nn.max_pool(mat.array(x), y, pool_shape=pool_shape, **kwargs).to_numpy()


# Compared with SciPy


@pytest.mark.parametrize("dtype", FLOAT)
@pytest.mark.parametrize(("shape", "taps"), [
    ((300,), (7,)), ((1000,), (100,)), ((28, 28), (5, 5)), ((3, 300), (2, 40)), ((61, 7), (30, 3)),
    ((128, 130), (3, 3)),
    ((5, 6, 40), (3, 2, 5)), ((3, 4, 5, 9), (2, 2, 3, 3)), ((40, 1), (1, 1)), ((20, 600), (11, 65)),
    ((2, 3000), (2, 2))])
def test_correlate(shape, taps, dtype, rng):
    x, w = rng.standard_normal(shape).astype(dtype), rng.standard_normal(taps).astype(dtype)
    wanted = scipy.signal.correlate(np.pad(x, [(0, k - 1) for k in taps]), w, mode="valid",
                                    method="direct")
    scale = tolerance(dtype)["atol"] * np.abs(w).sum()
    assert_allclose(convolved(x, w), wanted, rtol=0, atol=scale)
    middle = tuple(k // 2 for k in taps)
    wanted = scipy.ndimage.correlate(x, w, mode="constant",
                                     origin=tuple(-((k + 1) % 2) for k in taps))
    if all(k % 2 for k in taps):
        assert_allclose(convolved(x, w, anchor=middle), wanted, rtol=0, atol=scale)


@pytest.mark.parametrize("size", [2, 3, (1, 3), (5, 2)])
def test_maximum_filter(size, rng):
    x = rng.standard_normal((17, 40))
    sizes = reference.spread(size, 1, 2)
    wanted = scipy.ndimage.maximum_filter(x, sizes, mode="constant", cval=-np.inf)
    assert_array_equal(pooled(x, size, anchor=tuple(k // 2 for k in sizes)), wanted)


@pytest.mark.parametrize("dtype", FLOAT)
@pytest.mark.parametrize("shape", [(2, 4097), (1, 9000), (3, 5, 4200)])
@pytest.mark.sample(3)
def test_windows_wider_than_any_buffer(shape, dtype, rng):
    x = rng.standard_normal(shape).astype(dtype)
    for width, stride in ((4500, 1), (4095, 7), (300, 5000)):
        size = (*(1 for _ in shape[1:]), width)
        kwargs = {"stride": (*(1 for _ in shape[1:]), stride),
                  "anchor": (*(0 for _ in shape[1:]), width // 2)}
        points = np.arange(0, shape[-1], stride)
        wanted = [x[..., max(0, j - width // 2):j - width // 2 + width].max(axis=-1)
                  for j in points]
        assert_array_equal(pooled(x, size, **kwargs), np.stack(wanted, axis=-1))


# Compared with loops, with any settings


@st.composite
def tasks(draw):
    """Draw the shapes of x and of the window, and settings, from one to four axes."""
    count = draw(st.integers(1, 4))
    longest = (60, 12, 6, 4)[count - 1]
    shape = [draw(st.integers(1, longest)) for _ in range(count)]
    taps = [draw(st.integers(1, (40, 9, 3, 3)[count - 1])) for _ in range(count)]
    kwargs = {"start": tuple(draw(st.integers(0, n - 1)) for n in shape),
              "stride": tuple(draw(st.integers(1, 5)) for _ in shape),
              "anchor": tuple(draw(st.integers(0, k - 1)) for k in taps),
              "batched": draw(st.booleans())}
    if kwargs["batched"]:
        shape.insert(0, draw(st.integers(0, 3)))
    return (tuple(shape), tuple(taps), kwargs, draw(st.sampled_from(FLOAT)),
            draw(st.integers(0, 2**32)))


@settings(max_examples=selection.examples(60))
@given(task=tasks(), layouts=st.lists(st.sampled_from(sorted(LAYOUTS)), min_size=5, max_size=5))
def test_everything_against_loops(task, layouts):
    shape, taps, kwargs, dtype, seed = task
    rng = np.random.default_rng(seed)
    outer = reference.output_shape(shape, taps, **kwargs)
    x, xd, w, wd, y = (rng.integers(-3, 4, s).astype(dtype)
                       for s in (shape, shape, taps, taps, outer))
    X, XD, W, WD, Y = (place(a, layout) for a,
                       layout in zip((x, xd, w, wd, y), layouts, strict=True))
    assert mat.nn.derive_convolve(X, XD, W, WD, Y, **kwargs) == (XD, WD)
    assert_array_equal(XD.to_numpy(), reference.to_x(y, w, xd, **kwargs))
    assert_array_equal(WD.to_numpy(), reference.to_w(x, y, wd, **kwargs))
    assert mat.nn.convolve(X, W, Y, **kwargs) is Y
    assert_array_equal(Y.to_numpy(), reference.convolution(x, w, y, **kwargs))
    assert mat.nn.max_pool(X, Y, pool_shape=taps, **kwargs) is Y
    y = reference.pooled(x, y, pool_shape=taps, **kwargs)
    assert_array_equal(Y.to_numpy(), y)
    yd = rng.integers(-3, 4, outer).astype(dtype)
    assert mat.nn.derive_max_pool(X, place(xd), Y, place(yd, layouts[4]), pool_shape=taps,
                                  **kwargs).tolist() == (
        reference.pooled_back(x, y, yd, xd, pool_shape=taps, **kwargs).tolist())
    for view in (X, XD, W, WD, Y):
        check_hidden(view)


@pytest.mark.parametrize("dtype", FLOAT)
@pytest.mark.parametrize("stride", [1, 7, 8, 15, 16, 17, 31])
@pytest.mark.parametrize("taps", [(8, 16), (9, 33), (17, 15)])
@pytest.mark.sample(3)
def test_many_taps_and_long_strides(stride, taps, dtype, rng):
    """Use more taps than fit at once, and strides that leave gaps between windows or none."""
    x, xd = (rng.integers(-3, 4, (40, 70)).astype(dtype) for _ in range(2))
    w, wd = (rng.integers(-3, 4, taps).astype(dtype) for _ in range(2))
    settings = {"stride": stride, "anchor": (3, 14)}
    y = rng.integers(-3, 4, reference.output_shape(x.shape, taps, **settings)).astype(dtype)
    Y = mat.nn.convolve(mat.array(x), mat.array(w), mat.array(y), **settings)
    places = [np.arange(0, n, stride) for n in x.shape]
    padded = np.pad(x, ((3, taps[0]), (14, taps[1])))
    seen = np.lib.stride_tricks.sliding_window_view(padded, taps)[places[0][:, None], places[1]]
    assert_array_equal(Y.to_numpy(), y + (seen * w).sum((-1, -2)))
    XD, WD = mat.nn.derive_convolve(mat.array(x), mat.array(xd), mat.array(w), mat.array(wd),
                                    mat.array(y), **settings)
    assert_array_equal(WD.to_numpy(), wd + (seen * y[..., None, None]).sum((0, 1)))
    spread = np.zeros(padded.shape)
    for p, q in np.ndindex(*taps):
        spread[np.ix_(places[0] + p, places[1] + q)] += w[p, q] * y
    assert_array_equal(XD.to_numpy(), xd + spread[3:43, 14:84])


def test_derivatives_add_and_any_one_can_be_left_out(rng):
    x, w, yd = (rng.standard_normal(s) for s in ((2, 5, 6), (3, 2), (2, 5, 6)))
    X, W, YD = mat.array(x), mat.array(w), mat.array(yd)
    only_x, only_w, xd, wd = mat.ones(2, 5, 6), mat.ones(3, 2), mat.zeros(2, 5, 6), mat.zeros(3, 2)
    mat.nn.derive_convolve(X, xd, W, wd, YD, batched=True)
    assert mat.nn.derive_convolve(X, only_x, W, None, YD, batched=True) == (only_x, None)
    assert mat.nn.derive_convolve(X, None, W, only_w, YD, batched=True) == (None, only_w)
    assert mat.nn.derive_convolve(X, None, W, None, YD, batched=True) == (None, None)
    assert_allclose(only_x.to_numpy(), xd.to_numpy() + 1, rtol=1e-14)
    assert_allclose(only_w.to_numpy(), wd.to_numpy() + 1, rtol=1e-14)


# By finite differences


def slopes(function, a, step=1e-6):
    """Return the derivative of a number by each element of the array `a`."""
    found = np.zeros_like(a)
    for k in np.ndindex(*a.shape):
        up, down = a.copy(), a.copy()
        up[k] += step
        down[k] -= step
        found[k] = (function(up) - function(down)) / (2 * step)
    return found


@pytest.mark.parametrize(("shape", "taps", "kwargs"), [
    ((9,), (4,), {"stride": 2, "anchor": 3}), ((2, 5, 6), (3, 3), {"anchor": 1, "batched": True}),
    ((6, 7), (2, 3), {"start": (1, 2), "stride": (3, 2), "anchor": (1, 0)}),
    ((3, 4, 5), (2, 2, 3), {"stride": (1, 2, 3)})])
def test_slopes(shape, taps, kwargs, rng):
    x, w = rng.standard_normal(shape), rng.standard_normal(taps)
    yd = rng.standard_normal(reference.output_shape(shape, taps, **kwargs))
    xd, wd = mat.nn.derive_convolve(mat.array(x), mat.zeros(shape), mat.array(w), mat.zeros(taps),
                                    mat.array(yd), **kwargs)
    assert_allclose(xd.to_numpy(), slopes(lambda a: (convolved(a, w, **kwargs) * yd).sum(), x),
                    atol=1e-7)
    assert_allclose(wd.to_numpy(), slopes(lambda a: (convolved(x, a, **kwargs) * yd).sum(), w),
                    atol=1e-7)
    y = mat.array(pooled(x, taps, **kwargs))
    xd = mat.nn.derive_max_pool(mat.array(x), mat.zeros(shape), y, mat.array(yd), pool_shape=taps,
                                **kwargs)
    assert_allclose(xd.to_numpy(), slopes(lambda a: (pooled(a, taps, **kwargs) * yd).sum(), x),
                    atol=1e-7)


# Ties, and NaNs


def test_all_that_tie_get_the_gradient():
    x = np.array([[1.0, 2.0, 2.0, 0.0], [2.0, 2.0, 0.0, 0.0]])
    y = mat.array(pooled(x, 2, stride=2))
    assert y.tolist() == [[2, 2]]
    xd = mat.nn.derive_max_pool(mat.array(x), mat.ones(2, 4), y, mat.array([[3.0, 5]]),
                                pool_shape=2, stride=2)
    assert xd.tolist() == [[1, 4, 6, 1], [4, 4, 1, 1]]
    y = mat.array(pooled(x[0], 2))
    assert y.tolist() == [2, 2, 2, 0]
    xd = mat.nn.derive_max_pool(mat.array(x[0]), mat.zeros(4), y, mat.array([1.0, 10, 100, 1000]),
                                pool_shape=2)
    assert xd.tolist() == [0, 11, 110, 1000]


@pytest.mark.parametrize("dtype", FLOAT)
@pytest.mark.parametrize("width", [6, 40])
@pytest.mark.parametrize("pool", [(2, 2), (1, 3), (3, 1)])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_pooling_of_specials(dtype, width, pool, stride, rng):
    x = rng.choice([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -1.0], (7, width)).astype(dtype)
    settings = {"pool_shape": pool, "stride": stride, "anchor": tuple(k // 2 for k in pool)}
    y = pooled(x, **settings)
    assert_array_equal(y, reference.pooled(x, y, **settings))
    yd, xd = rng.integers(1, 9, y.shape).astype(dtype), np.full_like(x, -0.0)
    xd[0, 0] = np.nan
    found = mat.nn.derive_max_pool(mat.array(x), mat.array(xd), mat.array(y), mat.array(yd),
                                   **settings).to_numpy()
    assert_array_equal(found, reference.pooled_back(x, y, yd, xd, **settings))


def test_of_nothing_but_minus_infinity():
    x = np.full((3, 5), -np.inf)
    assert_array_equal(pooled(x, 2), x)
    xd = mat.nn.derive_max_pool(mat.array(x), mat.zeros(3, 5), mat.array(x), mat.ones(3, 5),
                                pool_shape=1)
    assert xd.tolist() == np.ones((3, 5)).tolist()


@pytest.mark.parametrize("dtype", FLOAT)
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_the_outside_is_nothing_not_zero_times_infinity(value, dtype, rng):
    """Check that a tap outside of x adds nothing.

    Even if its factor is not a finite number.
    """
    for spot in (0, 5, 10):
        x, w, yd = (rng.integers(1, 4, s).astype(dtype) for s in ((4, 11), (3, 3), (4, 11)))
        for a, k in ((x, (1, spot)), (yd, (0, spot)), (w, (0, spot // 4))):
            b = a.copy()
            b[k] = value
            X, W, YD = (b if a is o else o for o in (x, w, yd))
            kwargs = {"anchor": 1}
            wanted = reference.convolution(X, W, np.zeros_like(X), **kwargs)
            assert_array_equal(convolved(X, W, **kwargs), wanted)
            with np.errstate(invalid="ignore"):
                xd, wd = reference.to_x(YD, W, 0 * x,
                                        **kwargs), reference.to_w(X, YD, 0 * w, **kwargs)
            found = mat.nn.derive_convolve(mat.array(X), mat.array(0 * x), mat.array(W),
                                           mat.array(0 * w), mat.array(YD), **kwargs)
            assert_array_equal(found[0].to_numpy(), xd)
            assert_array_equal(found[1].to_numpy(), wd)


@pytest.mark.parametrize("stride", [2, 3])
def test_what_no_tap_sees_does_not_count(stride):
    x = np.arange(1.0, 12.0)
    x[[k for k in range(11) if k % stride]] = np.nan
    yd = mat.ones(len(range(0, 11, stride)))
    assert not np.isnan(convolved(x, np.ones(1), stride=stride)).any()
    _, wd = mat.nn.derive_convolve(mat.array(x), None, mat.ones(1), mat.zeros(1), yd, stride=stride)
    assert wd.tolist() == [np.nansum(x)]
    x = np.append(np.arange(9.0), np.inf)  # only the last tap sees the last place
    _, wd = mat.nn.derive_convolve(mat.array(x), None, mat.ones(3), mat.zeros(3), mat.ones(10),
                                   anchor=2)
    assert wd.tolist() == [28, 36, np.inf]


# Threads


@pytest.mark.parametrize("dtype", FLOAT)
def test_the_result_does_not_depend_on_threads(dtype, rng):
    x, w = rng.standard_normal((40, 50,
                                60)).astype(dtype), rng.standard_normal((5, 3)).astype(dtype)
    settings = {"anchor": (2, 1), "stride": (1, 2), "batched": True}

    def everything():
        y = mat.array(convolved(x, w, **settings))
        xd, wd = mat.nn.derive_convolve(mat.array(x), mat.array(0 * x), mat.array(w),
                                        mat.array(0 * w), y, **settings)
        z = mat.array(pooled(x, (5, 3), **settings))
        back = mat.nn.derive_max_pool(mat.array(x), mat.array(0 * x), z, y, pool_shape=(5, 3),
                                      **settings)
        return [m.to_numpy() for m in (y, xd, wd, z, back)]

    with mat.settings(threads=1):
        alone = everything()
    assert_allclose(alone[2], reference_to_w(x, alone[0], w.shape),
                    rtol=1e-3 if dtype == "float32" else 1e-11)
    for threads in (2, 3, 7):
        with mat.settings(threads=threads):
            for found, wanted in zip(everything(), alone, strict=True):
                assert_array_equal(found, wanted)


def reference_to_w(x, yd, taps):
    """Return the derivative by w for the settings above, by whole arrays in double precision."""
    padded = np.pad(x.astype(np.float64), ((0, 0), (2, 2), (1, 1)))
    return [[(padded[:, p:p + 50, q:q + 60:2] * yd).sum() for q in range(taps[1])]
            for p in range(taps[0])]


# Settings and mistakes


def test_methods_take_operands_by_position_and_by_name(rng):
    x, w, yd = (mat.array(rng.standard_normal(s)) for s in (6, 2, 6))
    y = mat.nn.convolve(x, w, mat.zeros(6))
    for found in (mat.zeros(6).convolve_(x, w), mat.zeros(6).convolve_(w=w, x=x),
                  mat.zeros(6).convolve_(x, w=w)):
        assert found.tolist() == y.tolist()
    pooled = mat.nn.max_pool(x, mat.empty(6), pool_shape=2)
    assert mat.empty(6).max_pool_(x, pool_shape=2).tolist() == pooled.tolist()
    xd = mat.nn.derive_max_pool(x, mat.zeros(6), pooled, yd, pool_shape=2).tolist()
    assert mat.zeros(6).derive_max_pool_(x, pooled, yd, pool_shape=2).tolist() == xd
    assert mat.zeros(6).derive_max_pool_(yd=yd, y=pooled, x=x, pool_shape=2).tolist() == xd


def test_settings_may_be_integers_lists_and_numpys():
    x, w = np.arange(20.0).reshape(4, 5), np.ones((2, 2))
    for stride in (2, (2, 2), [2, 2], np.array([2, 2]), np.int64(2), (np.int8(2), 2)):
        for _ in range(2):
            assert convolved(x, w, stride=2).tolist() == mat.nn.convolve(mat.array(x), mat.array(w),
                                                                         mat.zeros(2, 3),
                                                                         stride=stride).tolist()


BAD = {
    "start negative": ({"start": -1}, r"-1"), "start outside": ({"start": (0, 5)}, r"\(0, 5\)"),
    "stride zero": ({"stride": (1, 0)}, r"\(1, 0\)"), "stride negative": ({"stride": -2}, "-2"),
    "anchor negative": ({"anchor": (-1, 0)}, r"\(-1, 0\)"),
    "anchor outside": ({"anchor": (0, 3)}, r"\(0, 3\)"),
    "start of three": ({"start": (0, 0, 0)}, r"\(0, 0, 0\)"),
    "stride of one": ({"stride": (1,)}, r"\(1,\)"),
    "start fraction": ({"start": 0.5}, "0.5"), "stride text": ({"stride": "2"}, "'2'"),
    "anchor nan": ({"anchor": np.nan}, "nan"), "stride floats": ({"stride": (1.0, 1.0)}, "1.0"),
    "batched": ({"batched": True}, r"\(4, 5\)"),
    "points": ({"stride": 2}, r"\(2, 3\)"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("which", ["convolve", "derive_convolve", "max_pool", "derive_max_pool"])
def test_bad_settings(name, which):
    change, text = BAD[name]
    (x, y, xd, yd), (w, wd) = ([mat.ones(*shape) for _ in range(count)]
                               for shape, count in (((4, 5), 4), ((2, 3), 2)))
    calls = {"convolve": lambda **k: mat.nn.convolve(x, w, y, **k),
             "derive_convolve": lambda **k: mat.nn.derive_convolve(x, xd, w, wd, yd, **k),
             "max_pool": lambda **k: mat.nn.max_pool(x, y, pool_shape=(2, 3), **k),
             "derive_max_pool": lambda **k: mat.nn.derive_max_pool(x, xd, y, yd, pool_shape=(2, 3),
                                                                   **k)}
    calls[which]()
    calls[which](stride=(1, 1))  # so that there are plans
    before = [state(a) for a in (x, w, y, xd, wd, yd)]
    with pytest.raises(ShapeError, match=text):
        calls[which](**change)
    with pytest.raises(DTypeError, match="batched"):
        calls[which](batched=1)
    assert [state(a) for a in (x, w, y, xd, wd, yd)] == before


@pytest.mark.parametrize(("pool_shape", "text"),
                         [(0, "0"), ((2, 0), r"\(2, 0\)"), ((2,), r"\(2,\)"), (None, "None"),
                          (1.5, "1.5"), ("2", "'2'")])
def test_bad_pool_shapes(pool_shape, text):
    x, y = mat.ones(4, 5), mat.ones(4, 5)
    with pytest.raises(ShapeError, match=text):
        mat.nn.max_pool(x, y, pool_shape=pool_shape)


@pytest.mark.parametrize("wrong", ["xd", "wd", "yd", "w"])
def test_derivatives_touch_nothing_where_one_operand_is_wrong(wrong):
    good = {"x": mat.ones(4, 5), "xd": mat.ones(4, 5), "w": mat.ones(2, 3), "wd": mat.ones(2, 3),
            "yd": mat.ones(4, 5)}
    mat.nn.derive_convolve(**good)
    for value, error in ((mat.ones(3, 3, 3), ShapeError),
                         (good[wrong].astype("float32"), DTypeError), ("text", DTypeError),
                         (good[wrong].astype("complex128"), DTypeError),
                         (good[wrong].astype("bool"), DTypeError)):
        operands = {**good, wrong: value}
        before = {k: state(v) for k, v in operands.items() if isinstance(v, mat.Mat)}
        with pytest.raises(error):
            mat.nn.derive_convolve(**operands)
        assert {k: state(v) for k, v in operands.items() if isinstance(v, mat.Mat)} == before


@pytest.mark.parametrize(("out", "other"), [("xd", "x"), ("xd", "w"), ("xd", "yd"), ("xd", "wd"),
                                            ("wd", "x"), ("wd", "yd"),
                                            ("wd", "w")])
def test_derivatives_do_not_overlap(out, other):
    shapes = {"x": (4, 5), "xd": (4, 5), "w": (2, 3), "wd": (2, 3), "yd": (4, 5)}
    mat.nn.derive_convolve(**{k: mat.ones(s) for k, s in shapes.items()})  # so that there is a plan
    storage = mat.ones(50)
    given = {k: mat.ones(s) for k, s in shapes.items()}
    given |= {out: storage.view(shapes[out], 0), other: storage.view(shapes[other], 5)}
    before = storage.to_numpy()
    with pytest.raises(AliasError, match="overlaps"):
        mat.nn.derive_convolve(**given)
    assert_array_equal(storage.to_numpy(), before)
    given[other] = storage.view(shapes[other], 25)  # side by side is no overlap
    xd, wd = given["xd"].to_numpy(), given["wd"].to_numpy()
    x, w, yd = (given[k].to_numpy() for k in ("x", "w", "yd"))
    mat.nn.derive_convolve(**given)
    assert_array_equal(given["xd"].to_numpy(), reference.to_x(yd, w, xd))
    assert_array_equal(given["wd"].to_numpy(), reference.to_w(x, yd, wd))


def test_a_write_elsewhere_stops_both_derivatives():
    x, xd, w, wd, yd = mat.ones(4), mat.ones(4), mat.ones(2), mat.ones(2), mat.ones(4)
    fixed = wd.to_numpy()
    fixed.flags.writeable = False
    with pytest.raises(mat.DirectionError):
        mat.nn.derive_convolve(x, xd, w, mat.from_numpy(fixed), yd)
    assert xd.tolist() == [1] * 4


def test_more_axes_than_kernels_take(rng):
    x, w = rng.standard_normal((2,) * 9), rng.standard_normal((1, 2) + (1,) * 6 + (2,))
    found = REGISTRY["nn.convolution"].implementations
    if "array" in IMPLEMENTATIONS and len(found) == 1 and found[0].prepares:
        with pytest.raises(DTypeError, match="no implementation"):
            convolved(x, w)
    else:
        assert_allclose(convolved(x, w), reference.convolution(x, w, np.zeros_like(x)), rtol=1e-12)


def test_bfloat16(rng):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    if REGISTRY["nn.convolution"].implementations[0].prepares:
        pytest.skip("on NumPy")
    x, w = (rng.integers(-3, 4, shape).astype(ml_dtypes.bfloat16) for shape in ((4, 6), (2, 3)))
    y = mat.nn.convolve(mat.array(x), mat.array(w), mat.zeros(4, 6, dtype="bfloat16"))
    wanted = reference.convolution(x.astype(np.float64), w.astype(np.float64), np.zeros((4, 6)))
    assert_array_equal(y.to_numpy().astype(np.float64), wanted)
    mat.nn.max_pool(mat.array(x), y, pool_shape=2)
    assert_array_equal(y.to_numpy().astype(np.float64),
                       reference.pooled(x.astype(np.float64), np.zeros((4, 6)), pool_shape=2))
