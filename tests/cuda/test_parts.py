"""Copies of parts of a Mat on a GPU: what they move, and what is there afterwards."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.core.runs import Runs

pytestmark = pytest.mark.host


def big():
    return mat.array(np.arange(200_000.0).reshape(1000, 200))


def test_rows_and_columns_move_alone(dev, cuda):
    x, expected = big(), np.arange(200_000.0).reshape(1000, 200)
    before = cuda.calls("cuMemcpy2DAsync")
    with mat.debug.count_copies() as copies:
        x[10:20] += 1.0
        x[:, 3] *= 2.0
    # what both parts have is copied from one to the other on the device
    assert copies.bytes <= (10 * 200 + 1000 + 10) * 8
    assert cuda.calls("cuMemcpy2DAsync") - before <= 4  # a column is one copy, or few
    expected[10:20] += 1.0
    expected[:, 3] *= 2.0
    assert x[10:20].fresh == {"cuda:0"}
    assert_array_equal(x.to_numpy(), expected)


def test_tiles_in_a_pool_smaller_than_the_operand(cuda):
    x = big()
    with mat.use_device("cuda", pool_bytes=400_000):
        y = x * 2.0 + 1.0
        total = float(x.sum())
    assert_array_equal(y.to_numpy(), np.arange(200_000.0).reshape(1000, 200) * 2.0 + 1.0)
    assert total == 200_000 * 199_999 / 2


@pytest.mark.parametrize("edges", [
    [3, 5], [0, 2, 10, 12, 20, 22, 30, 32], [0, 2, 10, 12, 20, 22, 30, 32, 45, 46],
    [1, 2, 4, 9, 10, 12, 20, 30, 33, 34]])
def test_runs_of_any_distances_are_copied_on_the_device(dev, edges):
    a = np.arange(50.0)
    source, target = mat.array(a), mat.array(-a)
    for x in (source, target):
        with x.facet("cuda", "io"):
            pass
    blocks = (x.storage.handles[dev.memory] for x in (target, source))
    assert dev.memory.copy_runs(target.storage, *blocks, 3, Runs(edges))
    wanted = -a
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        wanted[start:stop] = a[start + 3:stop + 3]
    assert_array_equal(target.to_numpy(), wanted)


@pytest.mark.parametrize(("free", "joined"), [(8, True), (7, False)])
def test_parts_become_one_copy_where_much_is_free(dev, monkeypatch, free, joined):
    x = big()
    monkeypatch.setattr(dev.gpu, "room_left", lambda: (free * x.nbytes, 100 * x.nbytes))
    for k in range(0, 1000, 100):
        x[k:k + 100].sum()
    assert (x.storage.spans is None) == joined
    x[500:] *= 2.0
    expected = np.arange(200_000.0).reshape(1000, 200)
    expected[500:] *= 2.0
    assert_array_equal(x.to_numpy(), expected)
