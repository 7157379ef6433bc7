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


@pytest.mark.parametrize("kept", [4, 11])
def test_memory_that_cuda_keeps_is_free_for_one_copy(dev, monkeypatch, kept):
    x = big()
    monkeypatch.setattr(dev.gpu, "room_left", lambda: (0, 100 * x.nbytes))
    dev.gpu.release(dev.gpu.allocate(kept * x.nbytes))
    dev.gpu.synchronize()
    for k in range(0, 1000, 100):
        x[k:k + 100].sum()
    assert (x.storage.spans is None) == (kept == 11)


def test_the_pool_is_asked_only_where_free_memory_is_short(dev, cuda, monkeypatch):
    before = cuda.calls("cuMemPoolGetAttribute")
    assert dev.memory.has_room(1000)
    assert cuda.calls("cuMemPoolGetAttribute") == before
    monkeypatch.setattr(dev.gpu, "room_left", lambda: (1000, 100_000))
    assert not dev.memory.has_room(1 << 40)
    assert cuda.calls("cuMemPoolGetAttribute") == before + 2


@pytest.mark.parametrize("dtype", ["i1", "f2", "f4", "f8", "c16"])
@pytest.mark.parametrize("width", [1, 2, 3])
def test_thin_rows_are_moved_by_a_kernel(dev, cuda, dtype, width):
    a = (np.arange(200_000) % 121).astype(dtype).reshape(1000, 200)
    x = mat.array(a)
    before = [cuda.calls(name) for name in ("cuMemcpy2DAsync", "cuMemcpyDtoHAsync")]
    with mat.debug.count_copies() as copies:
        for start in (3, 8, 21):
            x[:, start:start + width] += x[:, start:start + width]
            a[:, start:start + width] += a[:, start:start + width]
            assert_array_equal(np.asarray(x[:, start:start + width]), a[:, start:start + width])
    assert copies.bytes == 2 * 3 * 1000 * width * a.itemsize
    if width * a.itemsize <= 64:
        assert cuda.calls("cuMemcpy2DAsync") == before[0]
        assert cuda.calls("cuMemcpyDtoHAsync") - before[1] <= 6
    assert_array_equal(x.to_numpy(), a)


def test_what_was_written_of_columns_is_kept_by_both(dev):
    a = np.arange(200_000, dtype="f4").reshape(2000, 100)
    x = mat.array(a)
    for _ in range(3):
        x[:, 7] += 1
        a[:, 7] += 1
        with x[:, 9].facet("array", "io") as column:
            column += 2
        a[:, 9] += 2
        assert_array_equal(np.asarray(x[:, 5:12] + 0), a[:, 5:12])
    assert_array_equal(x.to_numpy(), a)


@pytest.mark.parametrize("fill", [3, None])
def test_room_for_thin_rows_is_not_that_of_the_part_they_are_copied_to(cuda, fill):
    """A pool that has room for the part, but not for its packed rows, too."""
    x = mat.full((120,), 3, dtype="int64") if fill else mat.array(np.full(120, 3))
    for _ in range(2):
        with mat.use_device("cuda", required=True, pool_bytes=1200):
            y = x[:119:2]
            y += 1
        assert_array_equal(x.to_numpy()[::2], np.full(60, 4))
        x[::2] = 3


def test_a_part_is_evicted_to_make_room_for_the_thin_rows_of_another(cuda):
    """Both take the buffers that copies go through."""
    x, y = (mat.array(np.zeros((100, 400))) for _ in range(2))
    with mat.use_device("cuda", required=True, pool_bytes=634_000):  # both parts, and 366 bytes
        y[:, :2] += 1
        x[:, :2] += 1
        assert y[:, :2].fresh == {"host"}
    for z in (x, y):
        assert_array_equal(z.to_numpy(), np.repeat([[1, 1, *[0] * 398]], 100, 0))
