"""What masks, integers and conditions select while a GPU is in use: it happens there, and nothing
falls back to the host.
"""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.core.observers import Observer, observe
from mat.errors import IndexOutOfRange
from mat.ops.indexing.gathering import gather, mask_positions, scatter

from ..support.layouts import NUMPY_DTYPES

pytest.importorskip("cuda.core", reason="cuda-python is not installed")


class Fallbacks(Observer):
    """Raise for operations that the device has no implementation of."""

    def fell_back(self, name, device):
        raise AssertionError(f"{name} fell back to the host")


@pytest.fixture
def there(cuda):
    """The device in use, on which everything must happen."""
    with mat.use_device("cuda", required=True), observe(Fallbacks()):
        yield cuda


def test_gathers_and_scatters(there, rng):
    a = rng.standard_normal((4, 5, 6))
    x = mat.array(a) + 0.0
    for index in ((slice(None), [1, -1]), (1, [0, 2]), ([0, 2], slice(None), [1, 2]),
                  (np.array([[0], [1]]), np.array([2, 3, 4])), (a > 0,),
                  (slice(1, 3), a[0, :, 0] > 0)):
        found = x[index]
        assert found.fresh == {"cuda:0"}
        assert_array_equal(found.to_numpy(), a[index])
        y, b = x * 1.0, a.copy()
        value = rng.standard_normal(a[index].shape)
        y[index], b[index] = value, value
        assert y.fresh == {"cuda:0"}
        assert_array_equal(y.to_numpy(), b)
    y, b = x * 1.0, a.copy()
    y[y > 0.5], b[b > 0.5] = 0, 0
    assert_array_equal(y.to_numpy(), b)


@pytest.mark.parametrize("dtype", ["i1", "f2", "f4", "f8", "c16"])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_what_masks_select(there, rng, dtype, rank):
    a = rng.integers(0, 100, (70, 120, 3)).astype(dtype)
    x = mat.array(a) * 1
    for view in ((), (slice(None, None, -2), slice(1, None, 3), slice(None, None, -1))):
        b, y = a[view], x[view]
        chosen = rng.random(b.shape[:rank])
        for share in (0, 0.01, 0.5, 1):
            mask = chosen < share
            for given in (mat.array(mask), mat.array(np.asfortranarray(mask))):
                found = y[given]
                assert found.fresh <= {"cuda:0"}
                assert_array_equal(found.to_numpy(), b[mask], strict=True)


@pytest.mark.parametrize("value", [False, True])
def test_a_mask_that_changes_when_it_was_counted(there, rng, monkeypatch, value):
    """No more is written than was counted."""
    a = rng.standard_normal(10_000)
    x, mask = mat.array(a) + 0.0, mat.array(a > 0) | False
    size_at = mat.Mat._size_at

    def counted(starts, k):
        found = size_at(starts, k)
        mask.fill_(value)
        return found

    monkeypatch.setattr(mat.Mat, "_size_at", counted)
    found = x[mask]
    assert found.shape == (np.count_nonzero(a > 0),)
    if value:
        first = np.count_nonzero(a[:4096] > 0)  # of a tile
        assert_array_equal(found.to_numpy()[:first], a[:first])


def test_the_last_of_several_for_one_place_remains(there, rng):
    k, values = rng.integers(-50, 50, 3000), rng.standard_normal(3000)
    x, a = mat.zeros(50), np.zeros(50)
    x[mat.array(k)] = mat.array(values)
    a[k] = values
    assert_array_equal(x.to_numpy(), a)


# Runs of positions that are equal: by one thread, and long ones by a warp, as few of it have one

RUNS = {"one": [5000], "around the length from which they are long": [
    63, 64, 65, 0, 1, 127, 128, 129, 0, 0, 191, 192, 193, 2, 255, 256, 257, 31, 32, 33],
    "short": [0, 3, 1, 7, 8, 9, 0, 40] * 9, "long ones apart": [70, *[1] * 50, 300, *[2] * 99, 64]}


def positions_of(runs, rng):
    """Return positions in disorder, so many of each."""
    return rng.permutation(np.repeat(np.arange(len(runs)), runs))


@pytest.mark.parametrize("dtype", [*NUMPY_DTYPES, "bool"])
@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("items", [(), (3,), (9,)])
@pytest.mark.sample(3)
def test_runs_are_added_in_numpys_order(there, rng, runs, dtype, items):
    k = positions_of(RUNS[runs], rng)
    a = (rng.standard_normal((len(RUNS[runs]), *items)) * 9).astype(dtype)
    values = (rng.standard_normal((k.size, *items)) * 3).astype(dtype)
    for rule in (np.add, np.maximum):
        x, wanted = mat.array(a) * mat.ones((), dtype=dtype), a.copy()
        rule.at(x, mat.array(k), mat.array(values))
        assert x.fresh == {"cuda:0"}
        with np.errstate(all="ignore"):
            rule.at(wanted, k, values)
        assert x.to_numpy().tobytes() == wanted.tobytes()


@pytest.mark.parametrize("runs", [*RUNS.values(), [1], [0, 0, 2000, 0]])
def test_weights_are_added_in_numpys_order(there, rng, runs):
    k = positions_of(runs, rng)
    weights = rng.standard_normal(k.size) * 10.0 ** rng.integers(-9, 9, k.size)
    found = np.bincount(mat.array(k), mat.array(weights), minlength=len(runs) + 2)
    assert found.to_numpy().tobytes() == np.bincount(k, weights, len(runs) + 2).tobytes()


def test_integers_out_of_range(there):
    x = mat.arange(5.0) + 0.0
    for index in ([0, 5], [-6]):
        k = mat.array(index) + 0
        with pytest.raises(IndexOutOfRange, match="-5 to 4"):
            x[k]
        with pytest.raises(IndexOutOfRange):
            x[k] = 1.0
    assert x.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("n", [1, 5000, 9000])
def test_positions_of_masks(there, rng, n):
    for share in (0, 0.3, 1):
        mask = rng.random(n) < share
        found = mat.arange(n)[mat.array(mask)]
        assert_array_equal(found.to_numpy(), np.flatnonzero(mask))


def test_positions_that_change_after_they_were_checked_break_nothing(there, mock):
    """Another thread may write them meanwhile; the elements may be any, but of the Mats."""
    x, out = mat.arange(12.0).reshape(3, 4) + 0.0, mat.zeros(3)
    at = mat.array([-(2**62), 12, 2**62 + 5]) + 0
    gather(x, at, out, 0, (0, 1))
    assert out.fresh == {"cuda:0"}
    assert set(out.tolist()) <= set(x.ravel().tolist())
    scatter(at, out + 100, x, 0, (0, 1), False)
    assert_array_equal(x.ravel()[1:].to_numpy(), np.arange(1.0, 12.0))

    mask, found = mat.ones(9000, dtype="bool"), mat.full(6, -1, dtype="int64") + 0
    starts = mat.array([0, 2, 3, 5]) + 0  # as if fewer had been true
    mask_positions(mask, starts, found)
    assert found.tolist() == [0, 1, 4096, 8192, 8193, -1]
    assert mock.faults() == []


def test_accumulating_keeps_the_order(there, rng):
    a, k = rng.standard_normal((7, 6)), rng.integers(-7, 7, 900)
    values = rng.standard_normal((900, 6))
    for dtype, rule in (("float32", np.add), ("float16", np.multiply), ("int8", np.maximum)):
        wanted = a.astype(dtype)
        x = mat.array(wanted) + 0
        with np.errstate(all="ignore"):
            rule.at(x, mat.array(k), mat.array(values.astype(dtype)))
            rule.at(wanted, k, values.astype(dtype))
            rule.at(x, (slice(None, None, 2), [[1], [-1]]), mat.array(wanted[0, :1]))
            rule.at(wanted, (slice(None, None, 2), [[1], [-1]]), wanted[0, :1].copy())
        assert x.fresh == {"cuda:0"}
        assert x.to_numpy().tobytes() == wanted.tobytes()
