"""The memory of a GPU: limits, eviction, blocks that are used again, and failures."""

import gc
import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat import DeviceError, OutOfDeviceMemory, TornError

from .computing import TEXT, add, only_there, there, times

pytestmark = pytest.mark.host


class Deliberate(Exception):
    """Raised by tests within blocks."""


@pytest.mark.unchecked("counts what the driver copies, for the check too")
def test_the_limit_holds(cuda, dev):
    cuda.peak()
    before = cuda.held()
    mats = [mat.from_numpy(np.full(1000, float(k))) for k in range(9)]
    with mat.use_device("cuda", pool_bytes=3 * 8000), mat.debug.count_copies() as n:
        for x in mats:
            for _ in range(4):
                add(x)
            assert dev.memory.used + dev.memory.kept <= 3 * 8000
    assert cuda.peak() - before <= 3 * 8000
    assert (n.h2d, n.d2h) == (9, 6)  # three are still there, for the outer block
    for k, x in enumerate(mats):
        assert_array_equal(x.to_numpy(), np.full(1000, k + 4.0))


def test_the_least_recently_used_leaves(dev):
    a, b, c, d = (mat.from_numpy(np.ones(100)) for _ in range(4))
    with mat.use_device("cuda", pool_bytes=3 * 800):
        for x in (a, b, c, a):
            add(x)
        add(d)
        assert [x.fresh for x in (a, b, c, d)] == [{"cuda:0"}, {"host"}, {"cuda:0"}, {"cuda:0"}]


def test_a_full_device_evicts_too(cuda):
    cuda.configure(devices=1, memory=1 << 20)
    with mat.use_device("cuda") as dev:
        mats = [mat.from_numpy(np.full(40_000, float(k))) for k in range(9)]
        for x in mats:
            add(x)
        assert dev.memory.limit is None
        for k, x in enumerate(mats):
            assert x.to_numpy()[0] == k + 1


def test_what_does_not_fit_is_told_with_all_that_is_there(cuda):
    cuda.configure(devices=1, memory=1 << 20)
    x = mat.from_numpy(np.ones(100_000))
    with mat.use_device("cuda"), x.facet("cuda", "io"):
        y = mat.ones(100_000)
        with pytest.raises(OutOfDeviceMemory, match="<Mat 100000>") as caught:
            add(y)
        assert "CUDA_ERROR_OUT_OF_MEMORY" in str(caught.value.__cause__)
        assert "800000 bytes" in str(caught.value.__cause__)
    assert x.to_numpy().sum() == 100_000


def test_blocks_are_used_again(cuda, dev):
    x = mat.zeros(1000)
    there(x)
    x.drop("cuda")
    before = cuda.calls("cuMemAllocAsync")
    for _ in range(10):
        there(mat.ones(1000))
    assert cuda.calls("cuMemAllocAsync") == before


def test_at_the_end_of_the_block_all_is_kept_for_the_next_one(cuda):
    with mat.use_device("cuda") as dev:
        dev.memory.trim()
        x = mat.zeros(1000)
        add(x)
        before = cuda.held()
        assert before >= 8000
    assert (dev.memory.used, dev.memory.kept) == (0, 8000)
    assert mat.trim() >= 8000
    assert before - cuda.held() >= 8000
    assert (dev.memory.used, dev.memory.kept) == (0, 0)
    assert x.to_numpy().sum() == 1000


def test_programs_find_room(cuda, dev, monkeypatch):
    engine = pytest.importorskip("mat.cuda.engine")
    there(mat.zeros(1000))  # a block that is kept for later
    with mat.zeros(10).facet("cuda", "io") as a:
        gc.collect()
        there(mat.zeros(1))
        assert dev.memory.kept >= 8000
        cuda.fail("cuLibraryLoadData")
        trim = dev.memory.trim

        def checked():  # another thread may have the pool's lock, and need a kernel
            assert not dev.gpu._lock.locked()
            trim()
        monkeypatch.setattr(dev.memory, "trim", checked)
        text = TEXT.replace("line", "another_line")
        kernel = engine.CudaKernel(engine.Program(text), "another_line", (10,), (1, 1, 1),
                                   (256, 1, 1)).bind((2, 3), (0, 1))
        kernel(1, 2, a, a)
    assert dev.memory.kept < 8000


def test_large_copies_ahead_take_no_more_page_locked_memory_than_is_kept(cuda, dev):
    x = mat.from_numpy(np.ones(100_000))
    with mat.settings(page_locked_bytes=1000), mat.prefetch(to_device=[x]):
        assert cuda.calls("cuMemHostAlloc") == 0
    assert times(x, 2).to_numpy().sum() == 200_000


def test_garbage_gives_its_memory_back(dev):
    with mat.use_device("cuda", pool_bytes=20_000):
        for _ in range(20):
            x = mat.zeros(1000)
            add(x)
            del x
    gc.collect()


def test_room_of_launches_counts(cuda, dev):
    with dev.gpu.room(5000) as address:
        assert address
        assert dev.memory.used >= 5000
    there(mat.zeros(10))  # takes in what was freed
    assert dev.memory.used == 80


def test_frees_from_any_thread_and_in_the_middle_of_anything(dev):
    def work():
        with mat.use_device("cuda"):
            for k in range(100):
                x = mat.zeros(50 + k % 3)
                add(x)
                pair = [x]
                pair.append(pair)  # garbage that only the collector finds
                if k % 10 == 0:
                    gc.collect()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
        assert not t.is_alive()
    gc.collect()
    dev.memory.settle()  # freed blocks count as used until they are collected
    assert dev.memory.used <= 4 * 52 * 8


def test_where_memory_is_not_in_order_of_a_stream(cuda, dev, monkeypatch):
    monkeypatch.setattr(dev.gpu, "in_order", False)
    dev.memory.trim()
    before = cuda.calls("cuMemAlloc")
    x = add(mat.from_numpy(np.ones(1000)))
    assert cuda.calls("cuMemAlloc") == before + 1
    assert x.to_numpy().sum() == 2000
    x.drop("cuda")
    dev.memory.trim()
    assert cuda.calls("cuMemFree") >= 1


# Failures


@pytest.mark.parametrize(("function", "n"), [("cuMemAllocAsync", 10), ("cuMemcpyHtoDAsync", 10),
                                             ("cuMemAllocAsync", 100_000),
                                             ("cuMemcpyHtoDAsync", 100_000),
                                             ("cuStreamSynchronize", 100_000)])
def test_a_copy_that_fails_leaves_all_as_it_was(cuda, dev, function, n):
    dev.memory.trim()
    x = mat.from_numpy(np.ones(n))
    cuda.fail(function, times=100, status=1)
    with pytest.raises(DeviceError, match=r"CUDA_ERROR_INVALID_VALUE"):
        there(x)
    cuda.forget()
    assert x.fresh == {"host"}
    there(x)
    assert x.fresh == {"host", "cuda:0"}
    assert_array_equal(only_there(x).to_numpy(), np.ones(n))


def test_the_message_says_how_much(cuda, dev):
    x = mat.from_numpy(np.ones(100_000))
    cuda.fail("cuMemcpyHtoDAsync", status=801)
    with pytest.raises(DeviceError, match="800000 bytes to device 0: CUDA_ERROR_NOT_SUPPORTED"):
        there(x)
    assert x.fresh == {"host"}


def test_a_copy_home_that_fails_loses_nothing(cuda, dev):
    x = only_there(mat.arange(100_000.0))
    cuda.fail("cuMemcpyDtoHAsync", status=801)
    with pytest.raises(DeviceError, match="800000 bytes from device 0"):
        x.to_numpy()
    assert x.fresh == {"cuda:0"}
    assert_array_equal(x.to_numpy(), np.arange(100_000))


def test_what_fails_half_way_in_a_block_is_torn(dev):
    x = only_there(mat.arange(10.0))
    with pytest.raises(Deliberate), x.facet("cuda", "io"):
        raise Deliberate
    with pytest.raises(TornError):
        x.to_numpy()
    assert_array_equal(x.accept_torn().to_numpy(), np.arange(10))


def test_no_such_device(cuda):
    with pytest.raises(DeviceError, match=r"there are \d"):
        mat.use_device("cuda:7", required=True)
    with mat.use_device("cuda:7") as dev:
        assert dev == "cpu"


def test_a_block_that_an_interrupt_lost_is_freed(cuda, dev):
    """What nobody has any more, and nobody freed, neither counts nor remains."""
    with mat.use_device("cuda"):
        dev.memory.trim()
        before, used = cuda.held(), dev.memory.used
        lost = dev.memory.take(100_000)
        assert (dev.memory.used, cuda.held() >= before + 100_000) == (used + 100_000, True)
        del lost
        assert dev.memory.used == used
        dev.gpu.trim()
        assert cuda.held() == before


# What is kept for later


def test_memory_is_kept_over_blocks(cuda):
    x = mat.from_numpy(np.ones(100_000))
    calls = []
    for _ in range(4):
        with mat.use_device("cuda") as dev:
            assert float((x + 1).sum()) == 200_000
        calls.append((cuda.calls("cuMemAllocAsync"), cuda.calls("cuMemFreeAsync")))
    assert calls[3] == calls[1]  # the second one has a workspace for compiled launches
    assert dev.memory.used == 0
    assert dev.memory.kept >= 800_000
    assert mat.trim() >= 800_000
    assert dev.memory.used + dev.memory.kept == 0
    assert cuda.calls("cuMemPoolTrimTo") >= 1


def test_cuda_keeps_what_is_freed_until_it_is_to_give_it_back(mock, gpu):
    block = gpu.allocate(10 << 20)
    gpu.release(block)
    gpu.synchronize()
    free = gpu.room_left()[0]
    gpu.trim()
    assert gpu.room_left()[0] >= free + (10 << 20)


def test_little_memory_is_not_kept(cuda):
    with mat.use_device("cuda") as dev:
        dev.memory.trim()
    cuda.configure(memory=dev.gpu.room_left()[1] - dev.gpu.room_left()[0] + 900_000)
    with mat.use_device("cuda"):
        there(mat.from_numpy(np.ones(100_000)))
    assert dev.memory.kept == 0
    assert dev.gpu.room_left()[0] == 900_000


def test_memory_in_the_wrong_pieces_is_returned_first(mock, gpu):
    mock.fail("cuMemAllocAsync")
    gpu.release(gpu.allocate(1000))
    assert mock.calls("cuMemPoolTrimTo") == 1


def test_a_device_without_a_threshold_is_only_slower(mock):
    mock.fail("cuMemPoolSetAttribute", status=801)
    gpu = pytest.importorskip("mat.cuda.runtime.gpu").Gpu(0)
    gpu.release(gpu.allocate(1000))
