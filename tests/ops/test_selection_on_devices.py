"""What indices, masks and conditions select while a device is in use: it happens there, with
NumPy's results, and what goes to the host is counted.
"""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.core.observers import Observer, observe
from mat.errors import AliasError, IndexOutOfRange, ShapeError

from ..support.layouts import LAYOUTS, NUMPY_DTYPES, check_hidden, place

INDICES = {
    "list": [0, -2], "negative": (slice(None), [1, -1]), "empty": [], "integer_beside": (1, [0, 2]),
    "apart": ([0, 2], slice(None), [1, 2]), "integer_apart": (0, slice(None), [1, 2]),
    "broadcast": (np.array([[0], [1]]), np.array([2, 3, 4])), "dots": (..., [0, 1]),
    "new_axis": (None, [0, 1]), "slice_beside": (slice(1, 3), [4, 0], None),
    "bytes": np.array([3, 1], "int8"), "matrix": np.array([[0, 1], [2, 3]]),
}
MASKS = {
    "all": lambda a: a > 0, "first": lambda a: a[:, 0, 0] > 0, "two": lambda a: a[..., 0] > 0,
    "second": lambda a: (slice(1, 3), a[0, :, 0] > 0), "last": lambda a: (..., a[0, 0] > 0),
    "beside": lambda a: (a[:, 0, 0] > np.median(a[:, 0, 0]), [0, 1]), "none": lambda a: a > 1e9,
}


class Fallbacks(Observer):
    """Raise for operations that the device has no implementation of."""

    def fell_back(self, name, device):
        raise AssertionError(f"{name} fell back to the host")


@pytest.fixture
def there():
    """The emulated device in use, on which everything must happen."""
    with mat.use_device("emulated") as dev, observe(Fallbacks()):
        yield dev


def moved(a, layout="packed"):
    """A Mat of the elements of `a` that is fresh on the device only."""
    x = place(a, layout)
    with x.facet("emulated", "io"):
        pass
    return x


def same(found, wanted):
    """Fail unless all bits are the same, and are on the device."""
    wanted = np.asarray(wanted)
    assert type(found) is mat.Mat
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    assert not found.size or "emulated" in found.fresh  # and on the host, once it was read there
    assert found.to_numpy().tobytes() == np.ascontiguousarray(wanted).tobytes()


def as_mats(index):
    """An index with Mats on the device for its arrays."""
    if isinstance(index, tuple):
        return tuple(map(as_mats, index))
    return moved(index) if isinstance(index, np.ndarray) else index


def index_named(name, a):
    return INDICES[name] if name in INDICES else MASKS[name](a)


@pytest.mark.parametrize("name", [*INDICES, *MASKS])
def test_reading_and_writing(there, rng, name):
    a = rng.standard_normal((4, 5, 6))
    index = index_named(name, a)
    for spelled in (index, as_mats(index)):
        x, b = moved(a), a.copy()
        same(x[spelled], a[index])
        values = rng.standard_normal(a[index].shape)
        x[spelled] = moved(values)
        b[index] = values
        same(x, b)
        x[spelled] = -1
        b[index] = -1
        same(x, b)
        if values.ndim > 1:
            x[spelled] = values[:1, ...]
            b[index] = values[:1, ...]
            same(x, b)


def test_a_mask_apart_from_an_integer(there, rng):
    """Its axes come first in the result, and not in the matrix: both of the same length here."""
    a = rng.standard_normal((2, 3, 3))
    for index in ((1, slice(None), a[0, 0] > a[0, 0].min()), (1, None, a[0] > 0)):
        for spelled in (index, as_mats(index)):
            x, b = moved(a), a.copy()
            same(x[spelled], a[index])
            x[spelled] = -1
            b[index] = -1
            same(x, b)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["bool", "int16", "float64", "complex128"])
def test_layouts_and_dtypes(there, rng, dtype, layout):
    a = (100 * rng.standard_normal((4, 5))).astype(dtype)
    mask = rng.random((4, 5)) < 0.5
    for index in (([1, -1], slice(None)), (slice(None), [0, 3, 3]), mask, ([1, 2], [3, 4])):
        x, b = moved(a, layout), a.copy()
        same(x[index], a[index])
        values = a[index][::-1].copy()
        x[index] = moved(values, layout)
        b[index] = values
        assert x.to_numpy().tobytes() == b.tobytes()
        check_hidden(x)


def test_the_last_of_several_for_one_place_remains(there, rng):
    k, values = rng.integers(-50, 50, 3000), rng.standard_normal((3000, 2))
    x, a = moved(np.zeros((50, 2))), np.zeros((50, 2))
    x[moved(k)] = moved(values)
    a[k] = values
    same(x, a)


def test_what_is_refused_changes_nothing(there):
    a = np.arange(6.0).reshape(2, 3)
    x = moved(a)
    for index in ([0, 2], [-3], ([0], [3]), np.ones((2, 4), bool), (0, 0, [0]), [[0.5]]):
        with pytest.raises(IndexError):
            x[as_mats(index)] = 7.0
        with pytest.raises(IndexOutOfRange):
            x[[5]]
    with pytest.raises(ShapeError, match="broadcast"):
        x[[0, 1]] = moved(np.zeros(2))
    with pytest.raises(IndexOutOfRange, match="reach from 0 to 9"):
        x[moved(np.array([0, 9]))]
    with pytest.raises(IndexError):
        np.take(x, moved(np.array([6])))
    with pytest.raises(IndexError):
        np.put(x, [0, 6], 1.0)
    with pytest.raises(AliasError):
        mat.zeros(1).broadcast_to((4,))[[0]] = 1.0
    same(x, a)


def test_operands_of_one_storage(there):
    x = moved(np.array([3, 2, 1, 0]))
    x[x] = x + 10
    assert x.tolist() == [10, 11, 12, 13]
    x[x > 11] = x[::-1][:2]
    assert x.tolist() == [10, 11, 13, 12]
    bits = moved(np.arange(9) % 2 > 0)
    bits[bits] = False
    assert not bits.to_numpy().any()


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_taking(there, rng, axis):
    a, k = rng.standard_normal((4, 5)), rng.integers(-4, 4, (2, 3))
    x = moved(a)
    for index in (k, moved(k), k.tolist()):
        same(np.take(x, index, axis), np.take(a, k, axis))
        for mode in ("wrap", "clip"):
            same(x.take(index, axis, mode=mode), a.take(k, axis, mode=mode))
    same(np.take(x, 2, axis), np.take(a, 2, axis))
    flags = rng.random(4) < 0.5
    same(np.compress(flags, x, axis), np.compress(flags, a, axis))
    order = np.argsort(a, axis)
    same(np.take_along_axis(x, moved(order), axis), np.take_along_axis(a, order, axis))
    if axis is not None:
        same(mat.take(x, moved(k[0]), axis=axis), a.take(k[0], axis))
        same(mat.take_along_axis(x, moved(order), axis=axis), np.take_along_axis(a, order, axis))
        k = order[(slice(None),) * (axis % 2) + (slice(0, 2),)]
        for values in (-1.0, rng.standard_normal(k.shape)):
            y, b = moved(a), a.copy()
            np.put_along_axis(y, moved(k), values, axis)
            np.put_along_axis(b, k, values, axis)
            same(y, b)


def test_putting(there, rng):
    a, k = rng.standard_normal((4, 5)), rng.integers(-20, 20, 7)
    mask = rng.random((4, 5)) < 0.5
    for function in (lambda m: np.put(m, k, [1.0, 2, 3]), lambda m: np.put(m, k, a[:2]),
                     lambda m: np.put(m, k + 30, 5, mode="wrap"), lambda m: np.put(m, [], []),
                     lambda m: np.put(m, [0, 99], []),
                     lambda m: np.put(m, k - 30, a[0], mode="clip"), lambda m: m.put([0, 1], 9),
                     lambda m: np.place(m, mask, [1.0, 2.0, 3.0]), lambda m: np.place(m, mask, 4),
                     lambda m: np.putmask(m, mask, -2.5), lambda m: np.copyto(m, 3, where=mask),
                     lambda m: np.copyto(m, m[::-1], where=mask)):
        x, b = moved(a), a.copy()
        function(x)
        function(b)
        same(x, b)


def test_positions(there, rng):
    a = rng.integers(0, 2, (9, 1000)) * rng.standard_normal((9, 1000))
    x = moved(a)
    for found, wanted in ((np.nonzero(x), np.nonzero(a)), (x.nonzero(), a.nonzero()),
                          (np.where(x > 0), np.where(a > 0)), (mat.nonzero(x), np.nonzero(a)),
                          ([np.flatnonzero(x)], [np.flatnonzero(a)]),
                          ([np.argwhere(x)], [np.argwhere(a)]),
                          ([np.extract(x > 0, x)], [np.extract(a > 0, a)])):
        for one, other in zip(found, wanted, strict=True):
            same(one, other)
    same(moved(np.arange(3.0))[np.zeros(3, bool)], np.zeros(0))


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_where(there, rng, dtype):
    a, b = (30 * rng.random((2, 3, 4))).astype(dtype)
    condition = rng.random((3, 4)) < 0.5
    wide = a.astype("complex128" if a.dtype.kind == "c" else "float64")
    for x, y, chosen in ((a, b, condition), (a, b[0], condition), (a, 1, condition),
                         (a[:, :1], b.T.copy().T, condition), (True, b, condition[0]),
                         (a, np.float32(2), condition), (wide, b, condition.astype("int8"))):
        wanted = np.where(chosen, x, y)
        mats = [moved(v) if isinstance(v, np.ndarray) else v for v in (chosen, x, y)]
        same(mat.where(*mats), wanted)
        same(np.where(*mats), wanted)


def test_where_of_special_values(there):
    a = np.array([np.nan, -0.0, np.inf, -np.nan])
    same(np.where(moved(a == 0), moved(a), -0.0), np.where(a == 0, a, -0.0))
    same(np.where(moved(a), 1.0, moved(a)), np.where(a, 1.0, a))
    same(mat.where(moved(a == 0), moved(a), 2.0), np.where(a == 0, a, 2.0))


def test_nan_to_num(there):
    for dtype in ("float16", "float32", "float64"):
        a = np.array([np.nan, np.inf, -np.inf, -0.0, 1.5], dtype)
        for values in ({}, {"nan": 3, "posinf": -1.0, "neginf": np.inf}):
            same(np.nan_to_num(moved(a), **values), np.nan_to_num(a, **values))


def test_choosing(there, rng):
    k = rng.integers(0, 3, (2, 5))
    choices = [rng.integers(0, 9, (2, 5)), rng.standard_normal((2, 1)), rng.integers(0, 9, 5)]
    there_too = [moved(c) for c in choices]
    same(np.choose(moved(k), there_too), np.choose(k, choices))
    same(moved(k).choose(there_too), np.choose(k, choices))
    for mode in ("wrap", "clip"):
        same(np.choose(moved(5 * k - 3), there_too, mode=mode), np.choose(5 * k - 3, choices,
                                                                          mode=mode))
    conditions = [k > 1, k > 0]
    same(np.select([moved(c) for c in conditions], there_too[:2], -1),
         np.select(conditions, choices[:2], -1))


@pytest.mark.host
def test_what_goes_to_the_host_is_counted():
    x = mat.zeros(2, 2)
    with mat.use_device("emulated"), mat.debug.trace() as t:
        x[True]
        x[False] = 1.0
        assert t.fallbacks == 2
        assert_array_equal(x[[0]].to_numpy(), [[0, 0]])
        assert t.fallbacks == 2


@pytest.mark.parametrize("value", [False, True])
def test_a_mask_that_changes_when_it_was_counted(there, monkeypatch, value):
    """The result has as many elements as were counted."""
    a = np.arange(10.0)
    x, mask, size_at = moved(a), moved(a > 5), mat.Mat._size_at

    def counted(starts, k):
        found = size_at(starts, k)
        mask.fill_(value)
        return found

    monkeypatch.setattr(mat.Mat, "_size_at", counted)
    found = x[mask]
    assert found.shape == (4,)
    if value:
        assert_array_equal(found.to_numpy(), a[:4])
