"""Prefetches for which the device's stream waits, and not the host."""

import gc

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat

from ..support.mock_memories import in_thread
from .computing import add, times

N = 100_000  # elements: such copies are direct or in large buffers
pytestmark = pytest.mark.unchecked("the check waits for the device at the end of each access")
WAITS = "cuEventSynchronize", "cuStreamSynchronize", "cuCtxSynchronize"


@pytest.fixture
def late(cuda, dev):
    """The mock driver, where all work is late; streams and kernels are there."""
    with mat.prefetch(to_device=[mat.from_numpy(np.ones(N))]):
        times(mat.ones(N), 2).to_numpy()
    cuda.delay()
    return cuda


def locked(value=1.0, n=N):
    """Return a Mat whose host memory is page-locked, and is read by the copy itself."""
    with mat.settings(page_locked=True):
        x = mat.zeros(n)
        with x.facet("array", "output") as a:
            a[:] = np.arange(float(n)) + value
    return x


def test_the_host_does_not_wait(late, dev):
    values = np.arange(float(N))
    plain, own = mat.from_numpy(values), locked()
    before = [late.calls(name) for name in WAITS]
    with mat.prefetch(to_device=[plain, own]) as p:
        y = times(plain, 2)
        assert p.count == 1
    z = times(own, 3)
    assert plain.fresh == own.fresh == {"host", "cuda:0"}
    assert [late.calls(name) for name in WAITS] == before
    assert late.pending() > 4
    assert_array_equal(y.to_numpy(), 2 * values)
    assert_array_equal(z.to_numpy(), 3 * (values + 1))


def test_who_writes_on_the_host_waits(late, dev):
    x = locked()
    with mat.prefetch(to_device=[x]):
        y = times(x, 2)
        with x.facet("array", "output") as a:
            a[:] = 9
    with mat.prefetch(to_device=[x]):
        pass
    z = times(x, 1)
    x.drop("cuda")
    with mat.use_device("cpu"):
        x.fill_(5)
    assert_array_equal(y.to_numpy(), 2 * np.arange(1.0, N + 1))
    assert_array_equal(z.to_numpy(), np.full(N, 9.0))
    assert_array_equal(x.to_numpy(), np.full(N, 5.0))


def test_who_writes_on_the_device_does_not_wait(late, dev):
    x = locked()
    before = [late.calls(name) for name in WAITS]
    with mat.prefetch(to_device=[x]):
        times(x, 2)
        add(x)
        x += 1
    add(x)
    assert [late.calls(name) for name in WAITS] == before
    assert x.fresh == {"cuda:0"}
    assert_array_equal(x.to_numpy(), np.arange(4.0, N + 4))
    x.fill_(1)
    assert_array_equal(x.to_numpy(), np.ones(N))


@pytest.mark.parametrize("part", [False, True])
def test_memory_that_is_being_read_is_not_used_again(late, dev, part):
    x = locked()
    seen = x[10:70_000] if part else x
    with mat.prefetch(to_device=[seen]):
        pass
    y = times(seen, 1) if part else times(x, 1)
    wanted = np.arange(1.0, N + 1)[10:70_000] if part else np.arange(1.0, N + 1)
    del x, seen
    gc.collect()
    others = [locked(-5.0) for _ in range(3)]  # one of them where x was, if that was free
    assert_array_equal(y.to_numpy(), wanted)
    assert others


def test_the_owner_of_an_array_may_write_it_after_the_block(late, dev):
    values = np.ones(N)
    x = mat.from_numpy(values)
    with x.facet("cuda_host", "input"):
        pass  # its pages are locked now
    with mat.prefetch(to_device=[x]):
        y = times(x, 2)
    values[:] = 7
    assert_array_equal(y.to_numpy(), np.full(N, 2.0))


@pytest.mark.parametrize("change", [
    lambda x: x.reshape_((N // 10, 10)), lambda x: x.drop("host"), lambda x: x.close(),
    lambda x: x.adjust_((3,)), lambda x: x.to_numpy(), lambda x: mat.trim()])
def test_what_comes_after_the_block(late, dev, change):
    x = locked()
    with mat.prefetch(to_device=[x]):
        pass
    y = times(x, 2)
    change(x)
    locked(-5.0)
    assert_array_equal(y.to_numpy(), 2 * np.arange(1.0, N + 1))


def test_many_prefetches_keep_a_limited_amount_of_page_locked_memory(late, dev):
    wanted, total = np.zeros(N), mat.zeros(N)
    with mat.settings(page_locked_bytes=4 * 8 * N):
        for k in range(20):
            x = mat.from_numpy(np.full(N, float(k)))
            with mat.prefetch(to_device=[x]):
                pass
            total += x
            wanted += k
            assert sum(sent.nbytes for sent in dev.gpu.underway) <= 4 * 8 * N
    assert_array_equal(total.to_numpy(), wanted)
    with mat.prefetch(to_device=[mat.from_numpy(np.ones(10))]):
        pass
    assert len(dev.gpu.underway) <= 1


def test_a_device_that_fails_meanwhile(late, dev):
    x = locked()
    with mat.prefetch(to_device=[x]):
        pass
    late.fail("cuEventSynchronize", status="launch_failed", times=1)
    with mat.use_device("cpu"):
        x.fill_(3)  # the host goes on
        assert_array_equal(x.to_numpy(), np.full(N, 3.0))


def test_threads_without_a_context_find_out_which_copies_are_over(mock, dev):
    """In such a thread the driver answers nothing about events."""
    transfers, pinned = (pytest.importorskip(f"mat.cuda.runtime.{name}")
                         for name in ("transfers", "pinned"))
    values, block = pinned.POOL.array(1000, np.dtype(float)), dev.memory.take(8000)
    values[:] = 7
    mock.delay()
    first, second = (transfers.begin_send(dev.gpu, block, values) for _ in range(2))
    assert not in_thread(first.is_done)  # it is queued
    in_thread(first.wait)
    assert in_thread(first.is_done)
    in_thread(second.wait)
    found = np.empty(1000)
    transfers.fetch(dev.gpu, found, block.address)
    assert (found == 7).all()
    dev.memory.free(block)
