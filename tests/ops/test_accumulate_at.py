"""``numpy.add.at`` and its like on Mats: the order of an index is kept, with NumPy's bits, and on a
device nothing goes to the host.
"""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.core.observers import Observer, observe
from mat.errors import DirectionError, IndexOutOfRange

from ..support.layouts import LAYOUTS, NUMPY_DTYPES, check_hidden, place

RULES = (np.add, np.subtract, np.multiply, np.maximum, np.minimum)
INDICES = {
    "repeated": [0, -1, 3, 0, 0], "second": (slice(None), [1, 1, -4, 1]),
    "apart": ([0, 0, 1], slice(None), [2, 2, -4]), "beside": (2, [1, 1]),
    "mask": np.array([True, False, True, True]), "last": (..., np.array([[0, -1], [5, 5]])),
    "broadcast": (np.array([[0], [0]]), np.array([2, 2, 4])), "empty": [], "new": (None, [0, 0]),
}


class Fallbacks(Observer):
    """Raise for operations that the device has no implementation of."""

    def fell_back(self, name, device):
        raise AssertionError(f"{name} fell back to the host")


def given(rng, dtype, index, form):
    """Return an array, and a value for what the index selects: of all of it, of a row, or one."""
    a = (rng.standard_normal((4, 5, 6)) * 9).astype(dtype)
    if form == "number":
        return a, a.dtype.type(1) if dtype == "uint64" else a.dtype.type(1).item()
    shape = a[index].shape
    return a, (rng.standard_normal(shape if form == "all" else shape[-1:]) * 3).astype(dtype)


def check_at(rule, x, a, index, value):
    with np.errstate(all="ignore"):
        wanted = a.copy()
        rule.at(wanted, index, value)
        rule.at(x, index, mat.array(value) if isinstance(value, np.ndarray) else value)
    assert x.to_numpy().tobytes() == wanted.tobytes()


def defined(rule, dtype):
    return not (dtype == "bool" and rule is np.subtract)


@pytest.mark.host
@pytest.mark.parametrize("dtype", [*NUMPY_DTYPES, "bool"])
@pytest.mark.parametrize("index", INDICES)
@pytest.mark.sample(4)
def test_bits_are_numpys(index, dtype, rng):
    with mat.use_device("emulated", required=True), observe(Fallbacks()):
        for k, rule in enumerate(r for r in RULES if defined(r, dtype)):
            for form in ("all", "row", "number")[:1 + k % 3]:
                a, value = given(rng, dtype, INDICES[index], form)
                x = mat.array(a)
                with x.facet("emulated", "io"):
                    pass
                check_at(rule, x, a, INDICES[index], value)
                assert "emulated" in x.fresh


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout, rng):
    for name in ("repeated", "second", "mask", "last"):
        a, value = given(rng, "float64", INDICES[name], "all")
        x = place(a, layout)
        check_at(np.add, x, a, INDICES[name], value)
        check_hidden(x)


def test_operands_may_be_one_mat(rng):
    a = rng.integers(0, 6, 6)
    x, wanted = mat.array(a), a.copy()
    np.add.at(x, x, x)
    np.add.at(wanted, a, a)
    assert_array_equal(x.to_numpy(), wanted)
    x[...] = a
    np.add.at(x, [x, x], x)
    np.add.at(wanted := a.copy(), np.stack([a, a]), np.stack([a, a]))
    assert_array_equal(x.to_numpy(), wanted)


@pytest.mark.parametrize("value", [0.1, 3, 2.5, 2**60, np.float64(0.1), np.nan])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "int64"])
def test_other_numbers_are_added_as_by_numpy(dtype, value):
    a = np.arange(4).astype(dtype)
    x = mat.array(a)
    with np.errstate(all="ignore"):
        try:
            np.add.at(a, [0, 2, 2], value)
        except TypeError:
            with pytest.raises(TypeError, match="Cannot cast"):
                np.add.at(x, [0, 2, 2], value)
        else:
            np.add.at(x, [0, 2, 2], value)
    assert_array_equal(x.to_numpy(), a)


def test_bad_input_writes_nothing():
    x = mat.arange(3.0)
    for index in ([0, 3], [0, -4], (0, 0)):
        with pytest.raises((IndexError, IndexOutOfRange)):
            np.add.at(x, index, 1)
    for value in ([1, 2, 3], mat.ones(3)):
        with pytest.raises(ValueError, match="broadcast"):
            np.add.at(x, [0, 1], value)
    with pytest.raises((TypeError, ValueError)):
        np.add.at(x, [0, 1], "text")
    assert x.tolist() == [0, 1, 2]
    fixed = np.ones(2)
    fixed.flags.writeable = False
    with pytest.raises(DirectionError):
        np.add.at(mat.from_numpy(fixed), [0, 1], 1)


@pytest.mark.host
@pytest.mark.unchecked("it moves the memory of Mats")
def test_the_host_writes_in_place():
    x = mat.zeros(1000)
    with x.facet("array", "input") as a:
        memory = a.ctypes.data
    np.add.at(x, [1, 1, 2], 1)
    np.add.at(x, mat.array([3, -1]), mat.array([1.5, 2]))
    with x.facet("array", "input") as a:
        assert a.ctypes.data == memory
    assert x[:4].tolist() == [0, 2, 1, 1.5]
    assert x[-1].item() == 2


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("dtype", ["int64", "uint8", "float32"])
def test_complex_numbers_are_left_to_numpy(dtype):
    a, x = np.ones(4, dtype), mat.ones(4, dtype=dtype)
    for rule in (np.add, np.multiply):
        rule.at(a, [0, 1, 1], 2 + 1j)
        with mat.use_device("emulated"):
            rule.at(x, [0, 1, 1], 2 + 1j)
        assert_array_equal(x.to_numpy(), a)
