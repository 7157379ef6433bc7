"""Page-locked memory of the host: its pool, staged copies, and the facet `cuda_host`."""

import gc

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat import DeviceError

from .computing import only_there, there, times

pytestmark = pytest.mark.host


@pytest.fixture
def pool():
    pinned = pytest.importorskip("mat.cuda.runtime.pinned", reason="cuda-python is not installed")
    yield pinned.POOL
    gc.collect()


def test_new_copies_on_the_host_are_page_locked(cuda, dev, pool):
    pool.trim()  # takes in what was freed
    before = pool.in_use
    with mat.settings(page_locked=True):
        x = mat.zeros(10_000)
        with x.facet("array", "output") as a:
            a[:] = 3
        assert pool.in_use - before >= 80_000
        cuda.delay()
        y = times(x, 2)
        assert_array_equal(y.to_numpy(), np.full(10_000, 6.0))
    del a, x, y
    gc.collect()
    pool.take(1)
    assert pool.in_use - before <= 8192


def test_a_view_keeps_the_memory(cuda, dev, pool):
    with mat.settings(page_locked=True):
        x = mat.zeros(10_000)
        with x.facet("array", "io") as a:
            a[:] = 5
            kept = a[10:20]
    del x, a
    gc.collect()
    others = [pool.array(10_000, np.dtype(float)) for _ in range(3)]
    for other in others:
        other[:] = -1
    assert kept.tolist() == [5] * 10


def test_the_pool_keeps_no_more_than_it_may(cuda, pool):
    with mat.settings(page_locked_bytes=100_000):
        blocks = [pool.take(50_000) for _ in range(5)]
        del blocks
        pool.take(1)
        assert 50_000 <= pool.idle <= 100_000
    pool.trim()
    assert pool.idle == 0


def test_sizes_of_blocks():
    pinned = pytest.importorskip("mat.cuda.runtime.pinned", reason="cuda-python is not installed")
    for n in [*range(1, 100_000, 97), 2**20, 2**20 + 1, 10**9, 2**40 + 1]:
        size = pinned.bucket(n)
        assert n <= size <= max(n + 4095, 1.25 * n)
        assert size % 4096 == 0
        assert pinned.bucket(size) == size


@pytest.mark.parametrize("n", [8 << 20, (8 << 20) + 13, 70_000])
def test_pageable_memory_is_staged_in_pieces(cuda, dev, rng, n):
    values = rng.integers(0, 100, n).astype("int8")
    x, before = mat.from_numpy(values.copy()), cuda.copies("h2d")
    with mat.settings(page_locked=True):
        there(x)
        assert cuda.copies("h2d") - before == -(-n // (4 << 20))
        only_there(x)
        assert_array_equal(x.to_numpy(), values)


def test_without_room_for_locked_pages_it_is_done_without(cuda, dev):
    cuda.fail("cuMemHostAlloc", times=100)
    with mat.settings(page_locked=True):
        x = mat.zeros(3_000_000)
        with x.facet("array", "output") as a:
            a[:] = 1
        cuda.forget()
        assert (x + 1).to_numpy().sum() == 6_000_000


# The facet of page-locked memory


def test_cuda_host(cuda, dev):
    a = np.ones(50_000)
    x = mat.from_numpy(a)
    with x.facet("cuda_host", "io") as p:
        assert p.address == a.ctypes.data
        assert cuda.calls("cuMemHostRegister") == 1
        before = cuda.calls("cuMemHostUnregister")  # of what other tests had
    with x.facet("cuda_host", "input"):
        pass
    assert cuda.calls("cuMemHostRegister") == 1
    assert "H" in repr(x)
    assert x.facets["cuda_host"].memory == "host"
    assert (x * 2).to_numpy().sum() == 100_000
    del x, p
    gc.collect()
    with mat.ones(20_000).facet("cuda_host", "input"):
        pass
    assert cuda.calls("cuMemHostUnregister") == before + 1


@pytest.mark.unchecked("its block for output writes nothing")
def test_cuda_host_of_the_pool_needs_no_more_locking(cuda, dev):
    with mat.settings(page_locked=True):
        x = mat.zeros(50_000)
        with x.facet("cuda_host", "output"):
            pass
    assert cuda.calls("cuMemHostRegister") == 0


def test_without_cuda_the_facet_says_why():
    if mat.cuda_available():
        pytest.skip("there is CUDA")
    x = mat.ones(3)
    with pytest.raises(DeviceError, match=r"cuda_host.*none"):
        x.facet("cuda_host", "input").__enter__()
    assert "cuda_host" not in x.facets
    with mat.settings(page_locked=True):
        assert (mat.ones(3) + 1).to_numpy().tolist() == [2, 2, 2]
