"""Input that NumPy or Python would refuse with errors of theirs is refused with those of mat."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.errors import DTypeError, IndexOutOfRange, KernelError, SettingError, ShapeError

RANK = 64


def one():
    return mat.ones(3, 4)


def refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


# Axes

DEEP = [1] * (RANK + 1)


def deepest():
    return mat.ones([1] * RANK)


@pytest.mark.parametrize("call", [
    lambda: mat.zeros(*DEEP), lambda: mat.zeros(DEEP), lambda: mat.empty(DEEP),
    lambda: mat.full(DEEP, 3), lambda: mat.Mat(DEEP), lambda: mat.scratch(DEEP),
    lambda: mat.ones(1).reshape(DEEP), lambda: mat.ones(1).view(DEEP),
    lambda: mat.ones(1).view_(DEEP), lambda: mat.ones(1).reshape_(DEEP),
    lambda: mat.ones(1).adjust_(DEEP), lambda: mat.ones(1).broadcast_to(DEEP),
    lambda: deepest().expand_dims(0), lambda: deepest().expand_dims(-1), lambda: deepest()[None],
    lambda: deepest()[..., None], lambda: mat.stack([deepest(), deepest()]),
    lambda: mat.expand_dims(deepest(), axis=0), lambda: mat.reshape(mat.ones(1), tuple(DEEP)),
    lambda: mat.broadcast_to(mat.ones(1), tuple(DEEP)),
    lambda: mat.tile(mat.ones(1), tuple(DEEP))])
def test_more_axes_than_numpy_has(call):
    refused(call, ShapeError, "at most 64 axes, got 65")


def test_as_many_axes_as_numpy_has():
    x = mat.arange(6).reshape([1] * (RANK - 2) + [2, 3])
    assert_array_equal((x + x).to_numpy().ravel(), 2 * np.arange(6.0))
    assert_array_equal(x.sum(axis=-1).to_numpy().ravel(), [3, 12])
    assert x[0].expand_dims(3).ndim == RANK
    assert repr(mat.ones([1] * RANK)).startswith("<Mat 1x1x")


@pytest.mark.parametrize("axis", [2, -3, 10**30, (0, 2), (0, 0), "a", 1.0])
@pytest.mark.parametrize("name", ["any", "all", "cumsum", "cumprod", "argsort", "sum", "argmax",
                                  "repeat"])
def test_axes_that_there_are_not(name, axis):
    x = one()
    more = (2,) if name == "repeat" else ()
    refused(lambda: getattr(x, name)(*more, axis=axis), ShapeError, "ax[ei]s")
    refused(lambda: getattr(x, name)(*more, axis), ShapeError, "ax[ei]s")
    assert x.equals(one())


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "argsort", "argmax"])
def test_one_axis_where_one_is_taken(name):
    refused(lambda: getattr(one(), name)(axis=(0, 1)), ShapeError, "integer")


def test_errors_that_are_not_about_axes_stay_what_they_are():
    refused(lambda: one().repeat([1, 2], axis=0), ValueError, "broadcast")
    refused(lambda: one().any(axis=(0, 1), out=3), TypeError, "return arrays")
    assert one().any(axis=1).tolist() == [True] * 3


def test_the_axis_of_a_fourier_transform():
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
        refused(lambda name=name: getattr(mat.fft, name)(one(), axis=5), ShapeError, "axis 5")


# Numbers of elements


@pytest.mark.parametrize("call", [
    lambda: mat.zeros(0, 2**62), lambda: mat.zeros(0, 2**62).sum(axis=0),
    lambda: mat.zeros(0, 2**62, dtype="int8"), lambda: mat.zeros(0).reshape(0, 2**62),
    lambda: mat.zeros(0).view((0, 2**62)), lambda: mat.ones(1).broadcast_to(2**62),
    lambda: mat.zeros(0, 1).broadcast_to((0, 2**62)),
    lambda: mat.zeros(0, 2**40, 1) + mat.zeros(1).broadcast_to((1, 1, 2**40)),
    lambda: mat.zeros(2**40, 0, 1).T + mat.zeros(1).broadcast_to((2**40, 1, 1)),
    lambda: mat.arange(0, 10**30), lambda: mat.arange(10**30), lambda: mat.arange(0, 1e30),
    lambda: mat.arange(0, 2**62, dtype="int8"), lambda: mat.arange(0, 1, 1e-300),
    lambda: mat.arange(-1e308, 1e308, 1e-308), lambda: mat.arange(-10**308, 10**308),
    lambda: mat.linspace(0, 1, 10**30), lambda: mat.linspace(0, 1, 2**62),
    lambda: mat.eye(10**30), lambda: mat.eye(0, 10**30)])
def test_more_elements_than_memory_can_have(call):
    refused(call, ShapeError, "more elements than 64 bits can count")


def test_wide_shapes_without_elements():
    x = mat.zeros(0, 2**50)
    assert x.to_numpy().shape == x.T.T.shape == (x + 1).shape == (0, 2**50)
    assert mat.zeros(2**20, 0).sum(axis=0).shape == (0,)


def test_counting_with_huge_integers():
    found = mat.arange(10**30, 10**30 + 3, dtype="float64")
    assert found.tolist() == [1e30] * 3
    refused(lambda: mat.arange(10**30, 10**30 + 3, dtype="int64"), DTypeError, "too large")
    refused(lambda: mat.arange(10**400), DTypeError, "too large")


def test_distances_of_huge_integers():
    assert mat.linspace(0, 10**30, 3).tolist() == [0, 5e29, 1e30]
    refused(lambda: mat.linspace(0, 10**400, 3), DTypeError, "stop")


# Dtypes


@pytest.mark.parametrize("wrong", [np.ones(3), np.array("f4"), np.float32(1), np.ones((2, 2)),
                                   mat.ones(2), np.ones(0)], ids=lambda v: type(v).__name__)
@pytest.mark.parametrize("call", [
    lambda d: mat.zeros(3, dtype=d), lambda d: mat.full(3, 1, dtype=d),
    lambda d: mat.array([1], dtype=d), lambda d: mat.arange(3, dtype=d),
    lambda d: mat.eye(3, dtype=d), lambda d: one().astype(d), lambda d: one().sum(dtype=d),
    lambda d: mat.linspace(0, 1, 3, dtype=d),
    lambda d: mat.settings(dtype=d).__enter__()])
def test_an_array_is_no_dtype(call, wrong):
    refused(lambda: call(wrong), DTypeError, f"{type(wrong).__name__} is no dtype")
    assert mat.settings.dtype == np.float64


def test_arrays_as_settings():
    refused(lambda: mat.settings(torn=np.ones(3)).__enter__(), SettingError, "torn is one of")


# Operands of kernels


@pytest.mark.parametrize("name", ["x ", " x", "x\n", "", "x,y", "x\0", "1x", "x-y", "é", "x;"])
def test_names_of_operands(name):
    refused(lambda: mat.kernel("x = 1", **{name: "io"}), KernelError, "cannot be the name")
    refused(lambda: mat.kernel("x = 1", x="io", **{name: "input"}), KernelError,
            "cannot be the name")


@pytest.mark.parametrize("direction", [[], {}, np.ones(3), None, mat.ones(2), 3])
def test_directions_of_operands(direction):
    refused(lambda: mat.kernel("x = 1", x=direction), KernelError, "x is one of")


@pytest.mark.parametrize("source", ["x = 1\0", "x = '\ud800'"])
def test_characters_of_kernels(source):
    refused(lambda: mat.kernel(source, x="io"), KernelError, "no characters such as")


def test_an_axis_of_a_result_beyond_the_last():
    refused(lambda: mat.ones(2).expand_dims(70), (ShapeError, IndexOutOfRange), "70")
