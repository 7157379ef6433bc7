"""Methods that NumPy's arrays have: the same elements, shapes and dtypes, over dtypes, layouts and
devices; Mats come back.
"""

import inspect

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat.numpy.ndarray_methods import NAMES

from ..support.layouts import NUMPY_DTYPES, numbers, place, tolerance

CALLS = {
    "all": [lambda x: x.all(), lambda x: x.all(axis=1), lambda x: x.all(0, keepdims=True),
            lambda x: (x == 9).all()],
    "any": [lambda x: x.any(), lambda x: x.any(axis=1), lambda x: x.any(0, keepdims=True),
            lambda x: (x == 9).any()],
    "argsort": [lambda x: x.argsort(kind="stable"), lambda x: x.argsort(axis=0, kind="stable")],
    "clip": [lambda x: x.clip(0, 1), lambda x: x.clip(min=1), lambda x: x.clip(max=1)],
    "cumprod": [lambda x: x.cumprod(), lambda x: x.cumprod(axis=1)],
    "cumsum": [lambda x: x.cumsum(), lambda x: x.cumsum(axis=0),
               lambda x: x.cumsum(1, dtype="complex128")],
    "flatten": [lambda x: x.flatten(), lambda x: x[0].flatten()],
    "nonzero": [lambda x: x.nonzero(), lambda x: x[1].nonzero()],
    "ravel": [lambda x: x.ravel(), lambda x: x[0].ravel()],
    "repeat": [lambda x: x.repeat(2), lambda x: x.repeat([1, 2], axis=0)],
    "round": [lambda x: x.round(), lambda x: x.round(1)],
    "searchsorted": [lambda x: x[0, :1].searchsorted(x[0]),
                     lambda x: x[0, :1].searchsorted(x[0], side="right")],
    "std": [lambda x: x.std(), lambda x: x.std(axis=0), lambda x: x.std(1, ddof=1, keepdims=True)],
    "take": [lambda x: x.take([0, 2]), lambda x: x.take([1, 0, 1], axis=0)],
    "trace": [lambda x: x.trace(), lambda x: x.trace(1)],
    "var": [lambda x: x.var(), lambda x: x.var(axis=0), lambda x: x.var(1, ddof=1, keepdims=True)],
}
COMPLEX_HAS_NONE = ("clip", "argsort", "searchsorted")
BOOL_HAS_NONE = ("clip", "round")


def agree(got, wanted):
    if isinstance(wanted, tuple):
        assert len(got) == len(wanted)
        for g, w in zip(got, wanted, strict=True):
            agree(g, w)
        return
    wanted = np.asarray(wanted)
    assert type(got) is mat.Mat
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    if wanted.dtype.kind in "fc":
        assert_allclose(got.to_numpy(), wanted, **tolerance(wanted.dtype))
    else:
        assert_array_equal(got.to_numpy(), wanted)


def test_every_method_is_called():
    assert set(CALLS) == {*NAMES, "flatten", "ravel"}


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.sample(3)
def test_as_numpys(rng, name, dtype, device):
    if (np.dtype(dtype).kind == "c" and name in COMPLEX_HAS_NONE) or (dtype == "bool"
                                                                      and name in BOOL_HAS_NONE):
        pytest.skip("NumPy orders or rounds no such numbers")
    a = numbers(rng, (2, 3), dtype)
    with mat.use_device(device), np.errstate(all="ignore"):
        for layout in ("packed", "transposed", "strided", "displaced"):
            x = place(a, layout)
            for call in CALLS[name]:
                agree(call(x), call(a))
            assert_array_equal(x.to_numpy(), a)


@pytest.mark.parametrize("name", NAMES)
def test_signatures_are_of_the_function(name):
    method = getattr(mat.Mat, name)
    assert method.__name__ == name
    parameters = inspect.signature(method).parameters
    assert next(iter(parameters)) == "self"
    assert name in method.__doc__


def test_ravel_is_a_view_and_flatten_a_copy():
    x = mat.zeros(2, 3)
    x.ravel().fill_(1)
    x.flatten().fill_(2)
    assert x.tolist() == [[1] * 3] * 2


@pytest.mark.parametrize(("call", "error"), [
    (lambda x: x.take([7], axis=0), IndexError), (lambda x: x.std(axis=5), ValueError),
    (lambda x: x.repeat(-1), ValueError),
    (lambda x: x.any(axis="a"), mat.ShapeError), (lambda x: x.round("a"), TypeError),
    (lambda x: x.clip(text=1), TypeError),
    (lambda x: x[0, 0].argsort(nothing=1), TypeError),
])
def test_bad_calls_touch_nothing(call, error):
    x = mat.ones(2, 3)
    version = x.fill_(1).storage.version
    with pytest.raises(error):
        call(x)
    assert x.storage.version == version
