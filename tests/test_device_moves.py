"""Copies, conversions, joining and single elements while a device is in use: they stay there. No GPU is needed."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat

from .placing import numbers

pytestmark = pytest.mark.host  # these use devices of their own


@pytest.fixture(params=["emulated", "cuda"])
def device(request):
    if request.param == "cuda":
        request.getfixturevalue("cuda")
    with mat.use_device(request.param, required=True) as dev:
        yield dev


def there(values):
    """A Mat with these elements that is fresh on the device only."""
    x = mat.array(values).copy()
    assert len(x.fresh) == 1
    assert x.fresh != {"host"}
    return x


def test_copies_stay_there(device, rng):
    values = numbers(rng, (4, 5, 6), "float32")
    x = there(values)
    with mat.debug.count_copies() as n:
        found = (x.copy(), mat.transpose(x, (2, 0, 1)), x[::2, :, ::-1].contiguous(), x.astype("float64"),
                 mat.concat([x, x[:, :2]], axis=1), mat.stack([x, x]))
        y = mat.zeros(8, 5, 6)
        mat.map_concat(lambda m, part: part.assign_(m), [x, x], y)
    assert (n.h2d, n.d2h) == (0, 0)
    wanted = (values, values.transpose(2, 0, 1), values[::2, :, ::-1], values, np.concatenate([values, values[:, :2]], axis=1),
              np.stack([values, values]), np.concatenate([values, values]))
    for a, b in zip((*found, y), wanted, strict=True):
        assert a.fresh == {device.memory.name}
        assert_array_equal(a.to_numpy(), b)


def test_a_window_of_several_dtypes_is_joined(device, rng):
    parts = [there(numbers(rng, (3, 4), dtype)) for dtype in ("float32", "float64", "int8")]
    with mat.debug.count_copies() as n:
        joined = mat.concat(parts)
    assert (joined.dtype, n.h2d, n.d2h) == (np.float64, 0, 0)
    assert_array_equal(joined.to_numpy(), np.concatenate([m.to_numpy() for m in parts]))


@pytest.mark.parametrize("view", [lambda a: a, lambda a: a.T, lambda a: a[1:, ::-2], lambda a: a[2]])
def test_single_elements_are_read_alone(device, view, rng):
    values = numbers(rng, (7, 9), "float64")
    x, wanted = view(there(values)), view(values)
    with mat.debug.count_copies() as n:
        for k in (0, 3, -1, wanted.size - 1):
            assert x.item(k) == wanted.item(k)
            index = np.unravel_index(k % wanted.size, wanted.shape)
            assert x[tuple(map(int, index))] == wanted[index]
    assert (n.d2h, x.fresh) == (0, {device.memory.name})


def test_what_is_small_is_brought_whole(device):
    x = there([2.5])
    assert x.item() == 2.5
    assert x.fresh == {"host", device.memory.name}


def test_a_single_element_is_all_that_is_read():
    with mat.use_device("emulated") as device:
        x = there(np.arange(100.0))
        before = device.transfers["d2h"]
        assert (x.item(7), x[9]) == (7, 9)
        assert device.transfers["d2h"] - before == 2 * 8


def test_single_elements_are_set_alone(device):
    x = there(np.arange(12.0).reshape(3, 4))
    with mat.debug.count_copies() as n:
        x[1, 2] = 7
        x.T[3, 0] = -1
        assert (x[1, 2], x[0, 3], x.item(0)) == (7, -1, 0)
    assert (n.h2d, n.d2h) == (0, 0)


def test_elements_one_after_the_other_come_at_once(device):
    x = there([1.0, 2.0, 3.0])
    with mat.debug.count_copies() as n:
        assert list(x) == [1, 2, 3]
    assert n.d2h == 1


def test_single_elements_respect_who_writes(device):
    x = there([1.0, 2.0, 3.0])
    with x.facet(device.facet.name, "io"), pytest.raises(mat.ConflictError):
        x[1]
    with pytest.raises(ZeroDivisionError), x.facet(device.facet.name, "io"):
        raise ZeroDivisionError
    with pytest.raises(mat.TornError):
        x.item(1)
    with pytest.raises(mat.TornError):
        x[1]


def test_indices_in_arrays_bring_it_home_and_that_is_counted(device):
    x = there(np.arange(12.0).reshape(3, 4))
    with mat.debug.count_copies() as n:
        assert_array_equal(x[[0, 2]].to_numpy(), np.arange(12.0).reshape(3, 4)[[0, 2]])
        x[[1], [2]] = 7
    assert n.d2h == 1
    assert x[1, 2] == 7


def test_where_an_element_is():
    layout = mat.zeros(3, 4, 5)[:, ::-2, 1:].layout
    assert [layout.storage_index(k) for k in range(layout.size)] == list(layout.indices())
    assert layout.storage_index(-1) == list(layout.indices())[-1]
