"""The functions of `mat` take the arguments of the array API standard, besides NumPy's."""

import inspect
import operator

import array_api_strict as strict
import numpy as np
import pytest

import mat

P = inspect.Parameter
NOT_OF_THE_STANDARD = {"ArrayAPIStrictFlags", "Device", "ModuleType", "get_array_api_strict_flags",
                       "reset_array_api_strict_flags", "set_array_api_strict_flags"}
FUNCTIONS = sorted({n for n in dir(strict) if inspect.isfunction(getattr(strict, n))}
                   - NOT_OF_THE_STANDARD
                   | {f"{ext}.{n}" for ext in ("linalg", "fft")
                      for n in getattr(strict, ext).__all__})
find = operator.attrgetter


def calls(function):
    """Yield the positional and keyword arguments of calls that the standard permits, each argument
    being its parameter's name: as many as may be by place, and as many as may be by keyword.
    """
    found = [p for p in inspect.signature(function).parameters.values()
             if p.kind not in (P.VAR_POSITIONAL, P.VAR_KEYWORD)]
    for by_place in ((P.POSITIONAL_ONLY, P.POSITIONAL_OR_KEYWORD), (P.POSITIONAL_ONLY,)):
        yield ([p.name for p in found if p.kind in by_place],
               {p.name: p.name for p in found if p.kind not in by_place})


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n not in ("finfo", "iinfo")])
def test_arguments_of_the_standard_are_taken(name):
    signature = inspect.signature(find(name)(mat))
    for args, kwargs in calls(find(name)(strict)):
        bound = signature.bind(*args, **kwargs)
        assert not {"out", "order"} & bound.arguments.keys()


@pytest.mark.parametrize("name", ["zeros", "ones", "empty"])
def test_shapes_by_name_and_by_place(name):
    make = getattr(mat, name)
    for x in (make((2, 3)), make(2, 3), make(shape=(2, 3)), make([2, 3], dtype="float64")):
        assert (x.shape, x.dtype) == ((2, 3), np.float64)
    assert make((2, 3), "int8", "F").strides == (1, 2)
    assert make(shape=2, dtype="int8", device="cpu").dtype == np.int8
    assert make().shape == ()


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_frequencies_have_a_dtype_and_a_device(name):
    wanted = getattr(np.fft, name)(5, 0.5)
    make = getattr(mat.fft, name)
    found = make(5, d=0.5, dtype="float32")
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found.to_numpy(), wanted.astype("float32"))
    assert make(5, 0.5).dtype == np.float64
    with mat.use_device("emulated") as device:
        assert [make(5, device=where).device for where in (None, device, "cpu")] == [
            device, device, "cpu"]
        with pytest.raises(mat.DeviceError, match="not in use"):
            make(5, device="emulated:3")


@pytest.mark.host
@pytest.mark.parametrize("make", [mat.asarray, mat.asanyarray, mat.from_dlpack,
                                  lambda x, device: mat.astype(x, x.dtype, device=device)])
def test_a_mat_for_another_device_is_not_the_one_given(make):
    with mat.use_device("emulated") as device:
        x = mat.arange(3.0)
        y = make(x, device="cpu")
        assert (x.device, y.device, y.tolist()) == (device, "cpu", [0, 1, 2])
        assert make(x, device=device).device == device
        with pytest.raises(mat.DeviceError, match="not in use"):
            make(x, device="emulated:3")
    assert mat.asarray(x, device="cpu") is x


def test_no_copy_for_another_device():
    with mat.use_device("emulated") as device:
        x = mat.ones(2)
        with pytest.raises(mat.ShapeError, match="copy=None"):
            mat.asarray(x, device="cpu", copy=False)
        assert mat.asarray(x, device=device, copy=False) is x


def test_arrays_of_the_host_for_the_device_in_use():
    a = np.arange(3.0)
    with mat.use_device("emulated") as device:
        for where, wanted in ((device, device), ("emulated", device), ("cpu", "cpu")):
            x = mat.from_dlpack(a, device=where)
            assert (x.device, x.exp().device) == (wanted, wanted)
            x.fill_(5)
            assert x.tolist() == [5, 5, 5]


@pytest.mark.parametrize("name", ["sort", "argsort"])
def test_descending_order(name):
    x = mat.array([[3, 1, 2], [4, 6, 5]])
    function = getattr(mat, name)
    places = [[0, 2, 1], [1, 2, 0]]
    wanted = places if name == "argsort" else [[3, 2, 1], [6, 5, 4]]
    for given in (x, x.tolist(), x.to_numpy()):
        assert function(given, axis=-1, descending=True, stable=True).tolist() == wanted
    assert "descending" in function.__doc__


def test_bounds_by_place_and_by_name():
    x = mat.arange(5)
    for found in (mat.clip(x, 1, 3), mat.clip(x, min=1, max=3), mat.clip(x, 1, max=3)):
        assert found.tolist() == [1, 1, 2, 3, 3]
    assert mat.clip(x, min=2).tolist() == [2, 2, 2, 3, 4]


def test_ends_of_ranges_without_axes():
    x = mat.array([2, 4])
    assert mat.arange(1, mat.max(x)).tolist() == [1, 2, 3]
    assert mat.linspace(mat.min(x), mat.max(x), 3).tolist() == [2, 3, 4]
    assert mat.full((2,), mat.max(x)).tolist() == [4, 4]
