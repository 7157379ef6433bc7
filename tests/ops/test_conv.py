"""Convolution of channels and its derivatives, compared with SciPy, loops, finite differences and
the identities of adjoint maps.

``test_implementations.py`` runs every implementation over dtypes and layouts.
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

from ..support import cases_conv as reference
from ..support import selection
from ..support.layouts import LAYOUTS, check_hidden, place, state, tolerance

FLOAT = ("float32", "float64")
IMPLEMENTATIONS = [b for b in ("foreign", "array")
                   if any(o.facet_name == b for o in REGISTRY["conv.correlation"].implementations)]


@pytest.fixture(params=IMPLEMENTATIONS, autouse=True)
def implementation(request, monkeypatch):
    """Run each test with the compiled implementations, if there are any, and with NumPy's."""
    operations = [op for name, op in REGISTRY.items() if name.startswith("conv.")]
    for op in operations:
        # those that take everything stay for what the compiled ones leave to them
        kept = [i for i in op.implementations if i.facet_name in (request.param, "array")]
        monkeypatch.setattr(op, "implementations", kept)
        op.forget()
    yield request.param
    for op in operations:
        op.forget()


def correlated(x, w, stride=1, padding=0, dilation=1, groups=1):
    """Return the convolution of arrays by SciPy, for settings that are the same along all axes."""
    space = x.ndim - 2
    x = np.pad(x, [(0, 0)] * 2 + [(padding, padding)] * space).astype(np.float64)
    spread = np.zeros((*w.shape[:2], *((k - 1) * dilation + 1 for k in w.shape[2:])))
    spread[(..., *[slice(None, None, dilation)] * space)] = w
    outputs, channels = w.shape[0] // groups, w.shape[1]
    maps = [[sum(scipy.signal.correlate(image[o // outputs * channels + c], spread[o, c],
                                        mode="valid", method="direct") for c in range(channels))
             for o in range(w.shape[0])] for image in x]
    return np.array(maps)[(..., *[slice(None, None, stride)] * space)]


def scale(dtype, w):
    """Return the error to allow for, absolutely, of x of a normal distribution."""
    return tolerance(dtype)["atol"] * max(1, np.abs(w).sum(axis=tuple(range(1, w.ndim))).max())


@pytest.mark.parametrize("dtype", FLOAT)
@pytest.mark.parametrize(("x", "w", "kwargs"), [
    ((2, 5, 40), (7, 5, 9), {}), ((3, 4, 90), (8, 2, 5), {"stride": 3, "padding": 4, "groups": 2}),
    ((2, 3, 28, 30), (13, 3, 3, 3), {"padding": 1}),
    ((5, 17, 7, 7), (6, 17, 3, 3), {"padding": 1}),
    ((1, 3, 33, 40), (9, 3, 7, 7), {"stride": 2, "padding": 3}),
    ((3, 40, 9, 8), (24, 40, 1, 1), {}), ((2, 12, 9, 9), (25, 12, 1, 1), {"stride": 2}),
    ((2, 8, 20, 21), (8, 1, 3, 3), {"padding": 1, "groups": 8}),
    ((1, 4, 21, 20), (6, 4, 3, 3), {"padding": 2, "dilation": 2}),
    ((1, 3, 17, 19), (2, 3, 2, 3), {"stride": 4, "dilation": 3}),
    ((1, 90, 12, 30), (8, 90, 3, 3), {"padding": 1}),
    ((1, 2, 7, 8, 9), (4, 2, 3, 3, 3), {"padding": 1, "stride": 2}),
])
def test_scipy(x, w, kwargs, dtype, rng):
    x, w = rng.standard_normal(x).astype(dtype), rng.standard_normal(w).astype(dtype)
    wanted = correlated(x, w, **kwargs)
    X, W = mat.array(x), mat.array(w)
    found = mat.nn.conv(X, W, **kwargs)
    assert found.dtype == dtype
    assert_allclose(found.to_numpy(), wanted, rtol=0, atol=scale(dtype, w))
    # <conv(x, w), d> = <x, derivative by x of d> = <w, derivative by w of d>
    d = rng.standard_normal(wanted.shape).astype(dtype)
    xd, wd = mat.nn.derive_conv(X, mat.zeros(x.shape, dtype=dtype), W,
                                mat.zeros(w.shape, dtype=dtype), mat.array(d), **kwargs)
    total = np.vdot(wanted, d.astype(np.float64))
    near = tolerance(dtype)["rtol"] * np.linalg.norm(wanted) * np.linalg.norm(d)
    assert_allclose(np.vdot(xd.to_numpy().astype(np.float64), x), total, rtol=0, atol=near)
    assert_allclose(np.vdot(wd.to_numpy().astype(np.float64), w), total, rtol=0, atol=near)


@st.composite
def tasks(draw):
    """Draw shapes and settings, of one to three spatial axes, all of which fit."""
    count = draw(st.integers(1, 3))
    longest = (40, 11, 5)[count - 1]
    kwargs = {name: tuple(draw(st.integers(*limits)) for _ in range(count)) for name, limits in
              (("stride", (1, 4)), ("padding", (0, 3)), ("dilation", (1, 3)))}
    taps = [draw(st.integers(1, 5 - count)) for _ in range(count)]
    space = [draw(st.integers(max(1, (k - 1) * d + 1 - 2 * p), longest)) for k, d, p
             in zip(taps, kwargs["dilation"], kwargs["padding"], strict=True)]
    groups, channels, outputs = (draw(st.integers(1, most)) for most in (3, 3, 9))
    return ((draw(st.integers(1, 3)), groups * channels, *space),
            (groups * outputs, channels, *taps), {**kwargs, "groups": groups},
            draw(st.sampled_from(FLOAT)), draw(st.integers(0, 2**32)))


@settings(max_examples=selection.examples(40))
@given(task=tasks(), layouts=st.lists(st.sampled_from(sorted(LAYOUTS)), min_size=5, max_size=5))
def test_everything_against_loops(task, layouts):
    shape, window, kwargs, dtype, seed = task
    rng = np.random.default_rng(seed)
    outer = reference.output_shape(shape, window, **kwargs)
    x, xd, w, wd, y = (rng.integers(-3, 4, s).astype(dtype)
                       for s in (shape, shape, window, window, outer))
    X, XD, W, WD, Y = (place(a, layout) for a,
                       layout in zip((x, xd, w, wd, y), layouts, strict=True))
    assert mat.nn.derive_conv(X, XD, W, WD, Y, **kwargs) == (XD, WD)
    assert_array_equal(XD.to_numpy(), reference.to_x(y, w, xd, **kwargs))
    assert_array_equal(WD.to_numpy(), reference.to_w(x, y, wd, **kwargs))
    assert mat.nn.conv(X, W, out=Y, **kwargs) is Y
    assert_array_equal(Y.to_numpy(), reference.convolution(x, w, y, **kwargs))
    for view in (X, XD, W, WD, Y):
        check_hidden(view)


def slopes(function, a, step=1e-6):
    """Return the derivative of a number by each element of the array `a`."""
    found = np.zeros_like(a)
    for k in np.ndindex(*a.shape):
        up, down = a.copy(), a.copy()
        up[k] += step
        down[k] -= step
        found[k] = (function(up) - function(down)) / (2 * step)
    return found


def test_slopes(rng):
    kwargs = {"stride": (2, 1), "padding": (1, 0), "dilation": (1, 2), "groups": 2}
    x, w = rng.standard_normal((2, 4, 5, 6)), rng.standard_normal((2, 2, 3, 2))
    yd = rng.standard_normal(reference.output_shape(x.shape, w.shape, **kwargs))

    def loss(x, w):
        return np.vdot(mat.nn.conv(mat.array(x), mat.array(w), **kwargs).to_numpy(), yd)

    xd, wd = mat.nn.derive_conv(mat.array(x), mat.zeros(x.shape), mat.array(w), mat.zeros(w.shape),
                                mat.array(yd), **kwargs)
    assert_allclose(xd.to_numpy(), slopes(lambda a: loss(a, w), x), atol=1e-7)
    assert_allclose(wd.to_numpy(), slopes(lambda a: loss(x, a), w), atol=1e-7)


def test_one_channel_is_convolve(rng):
    x, w = rng.standard_normal((3, 1, 8, 9)), rng.standard_normal((1, 1, 3, 3))
    found = mat.nn.conv(mat.array(x), mat.array(w), padding=1)
    wanted = mat.nn.convolve(mat.array(x[:, 0]), mat.array(w[0, 0]), mat.zeros(3, 8, 9), anchor=1,
                             batched=True)
    assert_allclose(found.to_numpy()[:, 0], wanted.to_numpy(), atol=1e-14)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_elements_outside_add_nothing_even_to_what_is_not_finite(value, rng):
    x, w = rng.integers(1, 4, (1, 9, 6, 7)).astype(float), np.ones((13, 9, 3, 3))
    w[5, 2, 0, 0] = value
    kwargs = {"padding": 1, "stride": 2}
    y = mat.nn.conv(mat.array(x), mat.array(w), **kwargs).to_numpy()
    assert_array_equal(y, reference.convolution(x, w, np.zeros_like(y), **kwargs))
    assert np.isfinite(y[0, 5, 0]).all()
    yd = rng.integers(1, 4, y.shape).astype(float)
    yd[0, 3, 1, 1] = value
    x[0, 4, 0, 6] = value
    given = (mat.array(x), mat.zeros(x.shape), mat.array(w), mat.zeros(w.shape), mat.array(yd))
    xd, wd = mat.nn.derive_conv(*given, **kwargs)
    with np.errstate(invalid="ignore"):
        assert_array_equal(xd.to_numpy(), reference.to_x(yd, w, np.zeros_like(x), **kwargs))
        assert_array_equal(wd.to_numpy(), reference.to_w(x, yd, np.zeros_like(w), **kwargs))


def test_threads_do_not_change_a_bit(rng):
    x, w = (rng.standard_normal(s).astype("float32") for s in ((4, 16, 24, 24), (24, 16, 3, 3)))
    X, W, found = mat.array(x), mat.array(w), []
    for count in (1, 2, 3):
        with mat.settings(threads=count):
            y = mat.nn.conv(X, W, padding=1)
            xd, wd = mat.nn.derive_conv(X, 0 * X, W, 0 * W, y, padding=1)
            found.append([a.to_numpy().tobytes() for a in (y, xd, wd)])
    assert found[0] == found[1] == found[2]


def test_settings_may_be_integers_lists_and_numpys():
    x, w = mat.ones(1, 1, 5, 5), mat.ones(1, 1, 2, 2)
    wanted = mat.nn.conv(x, w, stride=(2, 2)).tolist()
    for stride in (2, [2, 2], np.array([2, 2]), np.int64(2), (np.int8(2), 2)):
        assert mat.nn.conv(x, w, stride=stride).tolist() == wanted


BAD = {
    "stride zero": ({"stride": 0}, "0"),
    "stride of three": ({"stride": (1, 1, 1)}, r"\(1, 1, 1\)"),
    "padding negative": ({"padding": (0, -1)}, r"\(0, -1\)"),
    "dilation zero": ({"dilation": 0}, "0"),
    "padding fraction": ({"padding": 0.5}, "0.5"), "stride text": ({"stride": "2"}, "'2'"),
    "groups zero": ({"groups": 0}, "groups=0"), "groups of three": ({"groups": 3}, "groups=3"),
    "groups fraction": ({"groups": 1.5}, "1.5"), "points": ({"stride": 2}, r"\(1, 4, 3, 2\)"),
    "a window beyond x": ({"dilation": 4}, "spans 9 elements"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("which", ["conv", "derive_conv"])
def test_bad_settings(name, which):
    change, text = BAD[name]
    x, w, y = mat.ones(1, 2, 6, 5), mat.ones(4, 2, 2, 3), mat.zeros(1, 4, 5, 3)
    xd, wd = mat.zeros(1, 2, 6, 5), mat.zeros(4, 2, 2, 3)
    calls = {"conv": lambda **k: mat.nn.conv(x, w, out=y, **k),
             "derive_conv": lambda **k: mat.nn.derive_conv(x, xd, w, wd, y, **k)}
    calls[which]()
    before = [state(a) for a in (x, w, y, xd, wd)]
    with pytest.raises(ValueError if "fraction" not in name and "text" not in name else TypeError,
                       match=text):
        calls[which](**change)
    assert [state(a) for a in (x, w, y, xd, wd)] == before


@pytest.mark.parametrize(("x", "w", "text"), [
    ((2, 6, 5), (4, 2, 2, 3), r"\(2, 6, 5\)"), ((6, 5), (2, 2), r"\(6, 5\)"),
    ((1, 3, 6, 5), (4, 2, 2, 3), "3 channels"), ((1, 2, 6, 5), (4, 2, 7, 3), "7 taps"),
    ((1, 2, 6, 5), (4, 2, 0, 3), r"\(0, 3\)"), ((1, 1, 2, 2, 2, 2), (1, 1, 1, 1, 1, 1), "1 to 3")])
def test_shapes_that_do_not_fit(x, w, text):
    with pytest.raises(ShapeError, match=text):
        mat.nn.conv(mat.ones(x), mat.ones(w))


def test_operands_that_are_wrong():
    x, w = mat.ones(1, 2, 6, 5), mat.ones(4, 2, 2, 3)
    for values in ((np.ones((1, 2, 6, 5)), w), (x, [1.0]), (x, w.astype("float32")),
                   (x.astype("complex128"), w.astype("complex128")), (x.astype(bool), w)):
        with pytest.raises(DTypeError):
            mat.nn.conv(*values)
    with pytest.raises(DTypeError, match="out"):
        mat.nn.conv(x, w, out=np.ones((1, 4, 5, 3)))
    storage = mat.ones(60)
    with pytest.raises(AliasError, match="overlaps"):
        mat.nn.conv(storage.view((1, 1, 6, 5), 0), mat.ones(1, 1, 1, 1),
                    out=storage.view((1, 1, 6, 5), 5))


def test_derivatives_can_be_left_out(rng):
    x, w = mat.ones(2, 3, 5), mat.ones(4, 3, 2)
    y = mat.nn.conv(x, w)
    only_x, only_w = mat.ones(2, 3, 5), mat.ones(4, 3, 2)
    xd, wd = mat.nn.derive_conv(x, mat.zeros(2, 3, 5), w, mat.zeros(4, 3, 2), y)
    assert mat.nn.derive_conv(x, only_x, w, None, y) == (only_x, None)
    assert mat.nn.derive_conv(x, None, w, only_w, y) == (None, only_w)
    assert_array_equal(only_x.to_numpy(), xd.to_numpy() + 1)
    assert_array_equal(only_w.to_numpy(), wd.to_numpy() + 1)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8", "int64"])
def test_other_dtypes(dtype, rng):
    pytest.importorskip("ml_dtypes")
    x, w = (mat.array(rng.integers(-2, 3, s).astype(float)).astype(dtype)
            for s in ((2, 4, 6, 5), (6, 2, 3, 2)))
    y = mat.nn.conv(x, w, padding=1, groups=2)
    wanted = mat.nn.conv(x.astype("float64"), w.astype("float64"), padding=1, groups=2)
    assert y.dtype == x.dtype
    assert_array_equal(y.astype("float64").to_numpy(), wanted.to_numpy())
