"""Pooling of images with channels and its derivatives, compared with NumPy's windows, finite
differences and mistakes.

``test_implementations.py`` runs every implementation over dtypes and layouts.
"""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat import DTypeError, ShapeError
from mat.errors import SettingError

from ..support.layouts import state, tolerance
from .test_conv import slopes

SETTINGS = [
    ((2, 3, 12, 14), 2, {}), ((2, 3, 13, 11), 3, {"stride": 2, "padding": 1}),
    ((1, 2, 9, 10), (4, 3), {"stride": (1, 3), "padding": (2, 0)}), ((3, 2, 40), 5, {"padding": 2}),
    ((1, 2, 5, 6, 7), (2, 3, 2), {"stride": 1}), ((2, 2, 8, 8), 1, {"stride": 3})]


def wanted(x, window, kind, stride=None, padding=0):
    count = x.ndim - 2
    window, stride, padding = ((v,) * count if isinstance(v, int) else v for v in
                               (window, window if stride is None else stride, padding))
    padded = np.pad(x.astype(float), [(0, 0)] * 2 + [(p, p) for p in padding],
                    constant_values=-np.inf if kind == "max" else 0)
    seen = sliding_window_view(padded, window, axis=tuple(range(2, x.ndim)))
    seen = seen[(..., *(slice(None, None, s) for s in stride), *[slice(None)] * count)]
    axes = tuple(range(-count, 0))
    return seen.max(axis=axes) if kind == "max" else seen.mean(axis=axes)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize(("shape", "window", "kwargs"), SETTINGS)
def test_windows_of_numpy(shape, window, kwargs, dtype, rng):
    x = rng.standard_normal(shape).astype(dtype)
    found = mat.nn.pool(mat.array(x), window, **kwargs)
    assert_array_equal(found.to_numpy(), wanted(x, window, "max", **kwargs))
    found = mat.nn.pool(mat.array(x), window, kind="average", **kwargs)
    assert found.dtype == dtype
    assert_allclose(found.to_numpy(), wanted(x, window, "average", **kwargs),
                    atol=8 * tolerance(dtype)["atol"])


@pytest.mark.parametrize("kind", ["max", "average"])
def test_slopes(kind, rng):
    x, kwargs = rng.standard_normal((2, 2, 7, 6)), {"stride": (2, 1), "padding": 1, "kind": kind}
    X = mat.array(x)
    y = mat.nn.pool(X, (3, 2), **kwargs)
    yd = rng.standard_normal(y.shape)
    xd = mat.nn.derive_pool(X, mat.ones(x.shape), y, mat.array(yd), (3, 2), **kwargs)

    def loss(a):
        return np.vdot(mat.nn.pool(mat.array(a), (3, 2), **kwargs).to_numpy(), yd)

    assert_allclose(xd.to_numpy() - 1, slopes(loss, x), atol=1e-7)


def test_nan_and_out():
    x = mat.array([[[1.0, np.nan, -np.inf, 3.0]]])
    out = mat.empty(1, 1, 2)
    assert mat.nn.pool(x, 2, out=out) is out
    assert_array_equal(out.to_numpy(), [[[np.nan, 3]]])
    assert mat.nn.pool(mat.array([[[3, 1, 2, 4]]]), 2).tolist() == [[[3, 4]]]
    assert mat.nn.pool(mat.array([[[3.0, 1, 2, 4]]]), 2, kind="average", out=out) is out
    assert out.tolist() == [[[2, 3]]]


@pytest.mark.parametrize(("window", "change", "error", "text"), [
    (2, {"kind": "median"}, SettingError, "median"), (3, {"padding": 2}, ShapeError, "half"),
    (2, {"stride": 0}, ShapeError, "0"), ((2, 2, 2), {}, ShapeError, r"\(2, 2, 2\)"),
    (0, {}, ShapeError, "0"), (1.5, {}, TypeError, "1.5"), (9, {}, ShapeError, "9 taps")])
@pytest.mark.parametrize("kind", ["max", "average"])
def test_mistakes(window, change, error, text, kind):
    x, xd, y = mat.ones(1, 2, 6, 4), mat.zeros(1, 2, 6, 4), mat.ones(1, 2, 3, 2)
    mat.nn.derive_pool(x, xd, mat.nn.pool(x, 2, kind=kind, out=y), y + 0, 2, kind=kind)
    before = [state(a) for a in (x, xd, y)]
    for call in (lambda **k: mat.nn.pool(x, window, out=y, **k),
                 lambda **k: mat.nn.derive_pool(x, xd, y, y, window, **k)):
        with pytest.raises(error, match=text):
            call(**{"kind": kind, **change})
    assert [state(a) for a in (x, xd, y)] == before


def test_operands_that_are_wrong():
    x = mat.ones(1, 2, 6, 4)
    for bad in (np.ones((1, 2, 6, 4)), x.astype(bool), x.astype("complex64")):
        with pytest.raises(DTypeError):
            mat.nn.pool(bad, 2)
    with pytest.raises(DTypeError, match="averages"):
        mat.nn.pool(x.astype("int32"), 2, kind="average")
    with pytest.raises(ShapeError, match=r"\(6, 4\)"):
        mat.nn.pool(mat.ones(6, 4), 2)
    for kind in ("max", "average"):
        before = state(x)
        with pytest.raises(ShapeError, match=r"\(1, 2, 3, 3\)"):
            mat.nn.pool(x, 2, kind=kind, out=mat.ones(1, 2, 3, 3))
        with pytest.raises(mat.AliasError):
            mat.nn.pool(x, 1, kind=kind, out=x)
        assert state(x) == before
