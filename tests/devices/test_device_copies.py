"""Copies, conversions, joining and single elements while a device is in use: they stay there. No
GPU is needed.
"""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat

from ..support.layouts import numbers

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
        found = (x.copy(), x.transpose(2, 0, 1).copy(), x[::2, :, ::-1].contiguous(),
                 x.astype("float64"),
                 mat.concat([x, x[:, :2]], axis=1), mat.stack([x, x]))
        y = mat.zeros(8, 5, 6)
        mat.map_concat(lambda m, part: part.assign_(m), [x, x], y)
    assert (n.h2d, n.d2h) == (0, 0)
    wanted = (values, values.transpose(2, 0, 1), values[::2, :, ::-1], values,
              np.concatenate([values, values[:, :2]], axis=1),
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


@pytest.mark.parametrize("view",
                         [lambda a: a, lambda a: a.T, lambda a: a[1:, ::-2], lambda a: a[2]])
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


def test_an_element_that_is_set_beside_a_fill_value_is_kept(device):
    """The copy on the device has more, then, than the number that the Mat was made with."""
    x = mat.full(4, 5.0)
    x.sum()
    x[1] = 9.0
    assert x.fresh == {device.name}
    with pytest.raises(mat.ConflictError, match="the only copy"):
        x.drop(device.name)
    assert_array_equal(x.to_numpy(), [5, 9, 5, 5])


def test_a_block_that_fails_after_it_leaves_no_fill_value(device):
    x = mat.full(4, 5.0)
    x.sum()
    x[1] = 9.0
    with pytest.raises(ValueError, match="planned"), x.facet(device.name, "io"):
        raise ValueError("planned")
    with pytest.raises(mat.TornError):
        x.to_numpy()


def test_an_element_that_is_set_beside_a_fill_value_outlives_the_device():
    with mat.use_device("emulated"):
        x = mat.zeros(3)
        x.sum()
        x[2] = 7.0
    assert_array_equal(x.to_numpy(), [0, 0, 7])


def test_elements_one_after_the_other_come_at_once(device):
    x = there([1.0, 2.0, 3.0])
    with mat.debug.count_copies() as n:
        assert list(x) == [1, 2, 3]
    assert n.d2h == 1


def test_single_elements_respect_writers(device):
    x = there([1.0, 2.0, 3.0])
    with x.facet(device.facet.name, "io"), pytest.raises(mat.ConflictError):
        x[1]
    with pytest.raises(ZeroDivisionError), x.facet(device.facet.name, "io"):
        raise ZeroDivisionError
    with pytest.raises(mat.TornError):
        x.item(1)
    with pytest.raises(mat.TornError):
        x[1]


def test_indices_in_arrays_copy_it_to_the_host_and_that_is_counted(device):
    x = there(np.arange(12.0).reshape(3, 4))
    with mat.debug.count_copies() as n:
        assert_array_equal(x[[0, 2]].to_numpy(), np.arange(12.0).reshape(3, 4)[[0, 2]])
        x[[1], [2]] = 7
    assert n.d2h == 1
    assert x[1, 2] == 7


def test_where_an_element_is():
    layout = mat.zeros(3, 4, 5)[:, ::-2, 1:].layout
    assert [layout.index_at(k) for k in range(layout.size)] == list(layout.indices())


def random_index(rng, shape):
    """Slices, some of them backwards, that leave something of each axis."""
    def one(n):
        start = int(rng.integers(0, n))
        step = int(rng.choice([1, 1, 2, -1]))
        return slice(start, None, step) if rng.integers(2) else slice(None)
    return tuple(one(n) for n in shape)


@pytest.mark.parametrize("seed", range(4))
def test_random_copies(device, seed):
    rng = np.random.default_rng(seed)
    for _ in range(12):
        source, target = rng.choice(["float32", "float64", "int16", "uint8", "complex64", "bool"],
                                    2)
        target = source if rng.integers(2) or (source == "complex64") else target
        shape = tuple(map(int, rng.integers(1, (0, 3000, 90, 30,
                                                12)[rank := int(rng.integers(1, 5))], rank)))
        values = numbers(rng, shape, source)
        order, index = tuple(map(int, rng.permutation(rank))), random_index(rng, shape)
        x, wanted = there(values).permute(*order), values.transpose(order)
        index = tuple(index[k] for k in order)
        x, wanted = x[index], wanted[index]
        room = np.zeros([n + 2 for n in wanted.shape], target)
        out = there(room)
        inside = tuple(slice(1, n + 1) for n in wanted.shape)
        with mat.debug.count_copies() as n:
            out[inside] = x
        room[inside] = wanted
        assert (n.h2d, n.d2h) == (0, 0)
        assert_array_equal(out.to_numpy(), room)


def test_copies_of_little_or_nothing(device):
    assert there(np.zeros((3, 0))).T.copy().shape == (0, 3)
    assert there(np.float64(2.5)).copy().item() == 2.5
    assert_array_equal(mat.transpose(there(np.arange(3.0)), (0,)).to_numpy(), np.arange(3.0))
    x = there(np.arange(2.0**11).reshape((2,) * 11))  # more axes than one launch can do
    assert_array_equal(x.T.copy().to_numpy(), np.arange(2.0**11).reshape((2,) * 11).T)


def test_copies_that_overlap_or_go_nowhere(device):
    values = np.arange(60.0).reshape(6, 10)
    x, wanted = there(values), values.copy()
    with mat.debug.count_copies() as n:
        x[1:] = x[:-1]
        x[:, ::-1] = x
        x.assign_(x)
    wanted[1:] = wanted[:-1].copy()
    wanted[:, ::-1] = wanted.copy()
    assert (n.h2d, n.d2h) == (0, 0)
    assert_array_equal(x.to_numpy(), wanted)
