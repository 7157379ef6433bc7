"""Mats on a GPU: what goes there and comes back, in which order, how much room it takes, and what
happens when it fails.
"""

import gc
import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat import ConflictError, DeviceError, OutOfDeviceMemory, TornError
from mat.support.dlpack_abi import compiled

from ..support.mock_memories import in_thread

pytestmark = pytest.mark.host

DTYPES = ["float32", "float64", "complex64", "complex128", "float16", "bfloat16", "int8", "uint16",
          "int32", "int64", "bool"]


@pytest.fixture
def dev(cuda):
    """The first device, in use."""
    with mat.use_device("cuda", required=True) as device:
        yield device


class Deliberate(Exception):
    """What a test throws."""


def there(x):
    """`x`, brought to the device; gives what its facet presents."""
    with x.facet("cuda", "input") as a:
        return a


def only_there(x):
    """The same, and on the device only."""
    with x.facet("cuda", "io"):
        return x


TEXT = """
#include "device.cuh"
struct sizes { int64_t n; };
MAT_KERNEL(line, sizes, 256) {  // y = a * x + b
    int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
    if (i < frame.n) ((double *)call.at[1])[i] = call.numbers[0] * ((const double *)call.at[0])[i] + call.numbers[2];
}
"""


def launch(x, y, a, b):
    module = pytest.importorskip("mat.cuda.engine")
    kernel = module.CudaKernel(module.Program(TEXT), "line", (x.size,), (-(-x.size // 256), 1, 1),
                               (256, 1, 1))
    kernel.bind((2, 3), (0, 1))(a, b, x, y)


def add(x, by=1):
    """``x += by`` on the device, whatever operations can do there."""
    with x.facet("cuda", "io") as a:
        launch(a, a, 1, by)
    return x


def times(x, by):
    """``x * by``, likewise."""
    y = mat.zeros(*x.shape)
    with x.facet("cuda", "input") as a, y.facet("cuda", "output") as b:
        launch(a, b, by, 0)
    return y


# Copies


@pytest.mark.parametrize("page_locked", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [0, 1, 3, 1000, 100_003])
def test_there_and_back(dev, rng, dtype, n, page_locked):
    values = rng.integers(0, 2, n).astype(mat.zeros(1, dtype=dtype).dtype)
    with mat.settings(page_locked=page_locked):
        x = mat.from_numpy(values.copy())
        there(x)
        assert x.fresh == {"host", "cuda:0"}
        assert only_there(x).fresh == {"cuda:0"}
        assert_array_equal(x.to_numpy(), values)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("value", [0, 1, 3.7, -1])
def test_what_was_never_written_is_made_there(cuda, dev, dtype, value):
    if dtype in ("bool", "uint16") and value != 1:
        value = 0
    if "int" in dtype:
        value = int(value)
    x, before = mat.full(1001, value, dtype=dtype), cuda.copies("h2d")
    there(x)
    assert cuda.copies("h2d") == before
    assert_array_equal(x.to_numpy(), np.full(1001, value).astype(x.dtype))


@pytest.mark.unchecked("uses an array after its block")
def test_the_facet(dev):
    x = mat.zeros(3, 4, dtype="float32")
    a = there(x[1:, ::2])
    assert (a.shape, a.strides, a.size, a.dtype, a.device) == ((2, 2), (4, 2), 4, np.float32, dev)
    assert a.pointer == a.address == a.handle.address + 16
    assert x.fresh == {"cuda:0"}
    assert "C" in repr(x)


def test_who_prints_copies_only_what_is_shown(cuda, dev):
    x = only_there(mat.arange(100_000))
    before = cuda.copied("d2h")
    assert "9.9999e+04" in repr(x)
    assert cuda.copied("d2h") - before < 1000
    assert x.fresh == {"cuda:0"}


def test_single_elements_move_alone(cuda, dev):
    x = only_there(mat.arange(100_000))
    before = cuda.copied("h2d")
    x[5] = 7
    assert cuda.copied("h2d") - before == 8
    assert x.fresh == {"cuda:0"}
    assert x.to_numpy()[4:7].tolist() == [4, 7, 6]


def test_from_one_device_to_another(cuda, dev):
    x = only_there(mat.arange(1000))
    with mat.use_device("cuda:1"), mat.debug.count_copies() as n:
        with x.facet("cuda:1", "input") as a:
            assert a.device == "cuda:1"
        assert x.fresh == {"cuda:0", "cuda:1"}
    assert cuda.copies("p2p") == 1
    assert (n.h2d, n.d2h) == (0, 0)
    assert_array_equal(x.to_numpy(), np.arange(1000))


def test_from_one_device_to_another_in_order(cuda, dev):
    cuda.delay()
    x = mat.zeros(1000)
    add(x, 3)  # queued on the first
    with mat.use_device("cuda:1"):
        y = times(x, 2)
        with mat.use_device("cuda:0"):
            add(x)  # overwrites what the second may still read
        found = y.to_numpy()
    assert_array_equal(found, np.full(1000, 6.0))
    assert_array_equal(x.to_numpy(), np.full(1000, 4.0))


def test_what_goes_between_devices_is_read_before_it_is_overwritten(cuda, dev):
    cuda.delay()
    x, y = add(mat.zeros(1000), 3), mat.zeros(1000)
    with mat.use_device("cuda:1"):
        with mat.with_facets((x, "cuda:1", "input"), (y, "cuda:1", "output")) as (a, b):
            launch(a, b, 10, 0)
        with x.facet("cuda:0", "io") as a:
            launch(a, a, 0, -1)
        dev.synchronize()  # the first does all it has, if it does not wait for the second
        assert_array_equal(y.to_numpy(), np.full(1000, 30.0))


def test_pages_that_others_locked(cuda, dev):
    driver = pytest.importorskip("cuda.bindings.driver")
    cuda.delay()
    a = np.ones(100_000)
    with dev.gpu.current():
        assert not int(driver.cuMemHostRegister(a.ctypes.data, a.nbytes, 0)[0])
    x = mat.from_numpy(a)
    there(x)
    a[:] = 99  # if it were still to be read, this would be
    only_there(x)
    with dev.gpu.current():
        assert not int(driver.cuMemHostUnregister(a.ctypes.data)[0])
    y = times(x, 1)
    assert y.to_numpy().sum() == 100_000


def test_the_caller_may_go_on_with_its_own(cuda, dev):
    cuda.delay()
    for n in (10, 100_000):
        a = np.ones(n)
        x = mat.from_numpy(a)
        y = times(x, 2)
        a[:] = 99  # behind our back, and after the copy
        assert_array_equal(y.to_numpy(), np.full(n, 2.0))


def test_many_small_copies_wait_for_nothing_but_their_buffers(cuda, dev):
    cuda.delay()
    mats = [mat.from_numpy(np.full(100, float(k))) for k in range(100)]
    for x in mats:
        there(x)
    for k, x in enumerate(mats):
        assert_array_equal(only_there(x).to_numpy(), np.full(100, float(k)))


@pytest.mark.unchecked("the check waits for the device at the end of each look")
def test_operations_wait_for_nothing(cuda, dev):
    cuda.delay()
    x = mat.zeros(1000)
    for _ in range(5):
        add(x)
    assert cuda.pending() > 0
    assert_array_equal(x.to_numpy(), np.full(1000, 5.0))


def test_a_new_thread_finds_its_device(dev):
    x = mat.arange(5)
    add(x)

    def work():
        with mat.use_device("cuda"):
            return add(times(x, 2)).to_numpy().tolist()

    assert in_thread(work) == [3, 5, 7, 9, 11]


def test_other_libraries_see_it(dev):
    x = only_there(mat.arange(6).reshape(2, 3))
    with x.facet("cuda", "input") as a, x.T.facet("cuda", "input") as t:
        seen = a.__cuda_array_interface__
        assert seen == {"shape": (2, 3), "typestr": "<f8", "data": (a.address, True),
                        "strides": None, "version": 3,
                        "stream": 1}
        assert t.__cuda_array_interface__["strides"] == (8, 24)
        assert a.__dlpack_device__() == (2, 0)
        assert "dltensor" in repr(a.__dlpack__(stream=1, max_version=(1, 0)))
        with pytest.raises(BufferError, match="copies nothing"):
            a.__dlpack__(copy=True)
        with pytest.raises(BufferError, match="copies nothing"):
            a.__dlpack__(dl_device=(1, 0))
    with mat.zeros(3, dtype="bfloat16").facet("cuda", "input") as a:
        assert not hasattr(a, "__cuda_array_interface__")
        if compiled:
            assert "dltensor" in repr(a.__dlpack__(max_version=(1, 0)))
        else:
            with pytest.raises(BufferError, match="bfloat16"):
                a.__dlpack__(max_version=(1, 0))


@pytest.mark.unchecked("uses an array after its block")
@pytest.mark.parametrize("how", ["dlpack", "interface"])
def test_what_another_library_took_keeps_the_memory(dev, how):
    x = mat.zeros(1000)
    with x.facet("cuda", "io") as a:
        address = a.address
        taken = a.__dlpack__(max_version=(1, 0)) if how == "dlpack" else (a, a.__cuda_array_interface__)
    del a
    x.drop("cuda", force=True)
    others = [mat.zeros(1000) for _ in range(5)]
    assert address not in [there(y).address for y in others]
    assert dev.memory.used == 6 * 8000
    del taken
    gc.collect()
    others.append(mat.zeros(1000))
    assert there(others[-1]).address == address
    assert dev.memory.used == 6 * 8000


# Room


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


def test_at_the_end_of_the_block_all_is_given_back(cuda):
    with mat.use_device("cuda") as dev:
        x = mat.zeros(1000)
        add(x)
        before = cuda.held()
        assert before >= 8000
    assert before - cuda.held() >= 8000
    assert (dev.memory.used, dev.memory.kept) == (0, 0)
    assert x.to_numpy().sum() == 1000


def test_programs_find_room(cuda, dev):
    engine = pytest.importorskip("mat.cuda.engine")
    there(mat.zeros(1000))  # a block that is kept for later
    with mat.zeros(10).facet("cuda", "io") as a:
        gc.collect()
        there(mat.zeros(1))
        assert dev.memory.kept >= 8000
        cuda.fail("cuLibraryLoadData")
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
    there(mat.zeros(1))
    assert dev.memory.used <= 8 + 4 * 52 * 8


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
    cuda.fail("cuMemcpyHtoDAsync", status=1)
    with pytest.raises(DeviceError, match="800000 bytes to device 0: CUDA_ERROR_INVALID_VALUE"):
        there(x)
    assert x.fresh == {"host"}


def test_a_copy_home_that_fails_loses_nothing(cuda, dev):
    x = only_there(mat.arange(100_000))
    cuda.fail("cuMemcpyDtoHAsync", status=1)
    with pytest.raises(DeviceError, match="800000 bytes from device 0"):
        x.to_numpy()
    assert x.fresh == {"cuda:0"}
    assert_array_equal(x.to_numpy(), np.arange(100_000))


def test_what_fails_half_way_in_a_block_is_torn(dev):
    x = only_there(mat.arange(10))
    with pytest.raises(Deliberate), x.facet("cuda", "io"):
        raise Deliberate
    with pytest.raises(TornError):
        x.to_numpy()
    assert_array_equal(x.accept_torn().to_numpy(), np.arange(10))


def test_no_such_device(cuda):
    with pytest.raises(DeviceError, match="there are 2"):
        mat.use_device("cuda:7", required=True)
    with mat.use_device("cuda:7") as dev:
        assert dev == "cpu"


# Copies ahead


def test_copies_go_ahead_on_a_stream_of_their_own(cuda, dev):
    cuda.delay()
    x, y = mat.from_numpy(np.arange(1000.0)), mat.zeros(1000)
    add(y)
    with mat.prefetch(to_device=[x], to_host=[y]) as p:
        assert p.count == 2
        assert (x.fresh, y.fresh) == ({"host"}, {"cuda:0"})
        z = times(y, 6)
        assert p.count == 2
        w = times(x, 2)
        assert p.count == 1
    assert x.fresh == y.fresh == {"host", "cuda:0"}
    assert_array_equal(w.to_numpy(), 2 * np.arange(1000.0))
    assert_array_equal(y.to_numpy(), np.ones(1000))
    assert_array_equal(z.to_numpy(), np.full(1000, 6.0))


@pytest.mark.parametrize("page_locked", [False, True])
@pytest.mark.parametrize("n", [0, 1, 100_003])
def test_ahead_there_and_back(cuda, dev, rng, n, page_locked):
    cuda.delay()
    with mat.settings(page_locked=page_locked):
        x = mat.zeros(n)
        with x.facet("array", "output") as a:
            a[:] = values = rng.random(n)
        with mat.prefetch(to_device=[x]):
            pass
        only_there(x)
        x.drop("host")
        with mat.prefetch(to_host=[x]):
            pass
        with mat.debug.count_copies() as counted:
            assert_array_equal(x.to_numpy(), values)
    assert (counted.h2d, counted.d2h) == (0, 0)


def test_who_would_write_is_told(cuda, dev):
    cuda.delay()
    x = mat.from_numpy(np.ones(1000))
    with mat.prefetch(to_device=[x]):
        with pytest.raises(ConflictError,
                           match=r"an asynchronous copy in progress, prefetched at .*test_cuda_memory"):
            x.fill_(2)
        with pytest.raises(ConflictError, match=r"an asynchronous copy in progress"):
            x.facet("array", "io").__enter__()
    x.fill_(2)
    assert x.to_numpy().sum() == 2000


def test_a_copy_ahead_into_memory_that_is_still_in_use(cuda, dev):
    cuda.delay()
    x = mat.zeros(1000)
    add(x)
    y = times(x, 3)  # queued, reads x there
    x.drop("cuda", force=True)  # its block is free, for what is queued from now on
    z = mat.from_numpy(np.full(1000, 7.0))
    with mat.prefetch(to_device=[z]):
        pass
    assert_array_equal(y.to_numpy(), np.full(1000, 3.0))
    assert_array_equal((z + 0).to_numpy(), np.full(1000, 7.0))


@pytest.mark.parametrize("function", ["cuMemAllocAsync", "cuMemcpyHtoDAsync", "cuEventSynchronize",
                                      "cuEventCreate"])
def test_a_copy_ahead_that_fails(cuda, dev, function):
    x, y = mat.from_numpy(np.ones(100_000)), mat.from_numpy(np.ones(100_000))
    with mat.prefetch(to_device=[mat.from_numpy(np.ones(100_000))]):
        pass  # the stream and the buffers are there now
    dev.memory.trim()
    cuda.fail(function, times=1, status=1)
    with pytest.raises(DeviceError,
                       match="CUDA_ERROR_INVALID_VALUE"), mat.prefetch(to_device=[x, y]):
        pass
    cuda.forget()
    assert x.fresh == {"host"}
    assert y.fresh >= {"host"}
    assert_array_equal((x + y).to_numpy(), np.full(100_000, 2.0))


# Page-locked memory


@pytest.fixture
def pool():
    pinned = pytest.importorskip("mat.cuda.pinned", reason="cuda-python is not installed")
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
    pinned = pytest.importorskip("mat.cuda.pinned", reason="cuda-python is not installed")
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
    assert cuda.calls("cuMemHostUnregister") == 1


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


@pytest.mark.unchecked("the check waits for the device at the end of each look")
def test_the_first_small_copies_do_not_wait_for_what_is_queued(cuda, dev, monkeypatch):
    transfers = pytest.importorskip("mat.cuda.transfers")
    monkeypatch.setattr(transfers, "_stages", {})
    x = mat.zeros(1000)
    cuda.delay()
    add(x)
    pending = cuda.pending()
    there(mat.from_numpy(np.ones(10)))
    assert cuda.pending() > pending
    assert x.to_numpy().sum() == 1000
