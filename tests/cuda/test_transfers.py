"""Copies of Mats to a GPU, back, and between GPUs: values, order, and prefetching."""

import gc

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat import ConflictError, DeviceError, OutOfDeviceMemory
from mat.core.runs import Runs
from mat.support.dlpack_abi import compiled

from ..support.mock_memories import in_thread
from .computing import DTYPES, add, launch, only_there, there, times

pytestmark = pytest.mark.host


# Copies


@pytest.mark.parametrize("page_locked", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [0, 1, 3, 1000, 100_003])
@pytest.mark.sample(3)
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
    x = only_there(mat.arange(100_000.0))
    before = cuda.copied("d2h")
    assert "9.9999e+04" in repr(x)
    assert cuda.copied("d2h") - before < 1000
    assert x.fresh == {"cuda:0"}


def test_single_elements_move_alone(cuda, dev):
    x = only_there(mat.arange(100_000.0))
    before = cuda.copied("h2d")
    x[5] = 7
    assert cuda.copied("h2d") - before == 8
    assert x.fresh == {"cuda:0"}
    assert x.to_numpy()[4:7].tolist() == [4, 7, 6]


def test_from_one_device_to_another(cuda, dev, two_devices):
    x = only_there(mat.arange(1000.0))
    with mat.use_device("cuda:1"), mat.debug.count_copies() as n:
        with x.facet("cuda:1", "input") as a:
            assert a.device == "cuda:1"
        assert x.fresh == {"cuda:0", "cuda:1"}
    assert cuda.copies("p2p") == 1
    assert (n.h2d, n.d2h) == (0, 0)
    assert_array_equal(x.to_numpy(), np.arange(1000))


@pytest.fixture
def strangers(mock, dev, two_devices):
    """The devices of the mock driver, which have not accessed each other's memory yet."""
    with mat.use_device("cuda:1") as other:
        found = dev.gpu, other.gpu
    for gpu in found:
        gpu.reached.clear()
    yield found
    for gpu in found:
        gpu.reached.clear()


def between(x, y):
    """Copy x from the first device to the second, and y back."""
    with mat.use_device("cuda:1"):
        with x.facet("cuda:1", "input"):
            pass
        with y.facet("cuda:1", "io"):
            pass
        with mat.use_device("cuda:0"), y.facet("cuda:0", "input"):
            pass


@pytest.mark.parametrize("pooled", [True, False])
def test_devices_copy_directly(mock, strangers, monkeypatch, pooled):
    if not pooled:
        for gpu in strangers:
            mat.trim()
            monkeypatch.setattr(gpu, "in_order", False)
            monkeypatch.setattr(gpu, "_memory_pool", None)
    names = "cuMemPoolSetAccess", "cuCtxEnablePeerAccess"
    for _ in range(2):
        x, y = (only_there(mat.arange(1000.0)) for _ in range(2))
        between(x, y)
        assert_array_equal(x.to_numpy(), y.to_numpy())
        assert [mock.calls(n) for n in names] == ([2, 0] if pooled else [0, 2])
    assert mock.copies("p2p") == 6
    assert mock.copies("p2p through the host") == 0
    del x, y
    mat.trim()


def test_devices_that_cannot_access_each_other_copy_through_the_host(mock, strangers):
    mock.peers(False)
    x = only_there(mat.arange(1000.0))
    between(x, x)
    assert (mock.copies("p2p"), mock.copies("p2p through the host")) == (2, 2)
    assert_array_equal(x.to_numpy(), np.arange(1000))


def test_where_access_is_refused_the_driver_copies_through_the_host(mock, strangers):
    mock.fail("cuMemPoolSetAccess", times=9, status=800)
    x = only_there(mat.arange(1000.0))
    between(x, x)
    assert mock.copies("p2p through the host") == 2
    assert_array_equal(x.to_numpy(), np.arange(1000))


def test_from_one_device_to_another_in_order(cuda, dev, two_devices):
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


def test_what_goes_between_devices_is_read_before_it_is_overwritten(cuda, dev, two_devices):
    cuda.delay()
    x, y = add(mat.zeros(1000), 3), mat.zeros(1000)
    with mat.use_device("cuda:1"):
        with mat.with_facets((x, "cuda:1", "input"), (y, "cuda:1", "output")) as (a, b):
            launch(a, b, 10, 0)
        with x.facet("cuda:0", "io") as a:
            launch(a, a, 0, -1)
        dev.synchronize()  # the first does all it has, if it does not wait for the second
        assert_array_equal(y.to_numpy(), np.full(1000, 30.0))


@pytest.mark.unchecked("writes behind the back of a Mat on purpose")
def test_pages_that_others_locked(cuda, dev):
    driver = pytest.importorskip("cuda.bindings.driver")
    cuda.delay()
    a = np.ones(100_000)
    with dev.gpu.current():
        assert not int(driver.cuMemHostRegister(a.ctypes.data, a.nbytes, 0)[0])
    x = mat.from_numpy(a, exclusive=True)
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


@pytest.mark.unchecked("the check waits for the device at the end of each access")
def test_operations_wait_for_nothing(cuda, dev):
    cuda.delay()
    x = mat.zeros(1000)
    for _ in range(5):
        add(x)
    assert cuda.pending() > 0
    assert_array_equal(x.to_numpy(), np.full(1000, 5.0))


def test_a_new_thread_finds_its_device(dev):
    x = mat.arange(5.0)
    add(x)

    def work():
        with mat.use_device("cuda"):
            return add(times(x, 2)).to_numpy().tolist()

    assert in_thread(work) == [3, 5, 7, 9, 11]


def test_other_libraries_see_it(dev):
    x = only_there(mat.arange(6.0).reshape(2, 3))
    with x.facet("cuda", "input") as a, x.T.facet("cuda", "input") as t:
        seen = a.__cuda_array_interface__
        assert seen == {"shape": (2, 3), "typestr": "<f8", "data": (a.address, True),
                        "strides": None, "version": 3,
                        "stream": int(dev.gpu.stream)}
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
        taken = (a.__dlpack__(max_version=(1, 0)) if how == "dlpack"
                 else (a, a.__cuda_array_interface__))
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


@pytest.mark.unchecked("the check waits for the device at the end of each access")
def test_the_first_small_copies_do_not_wait_for_what_is_queued(cuda, dev, monkeypatch):
    staging = pytest.importorskip("mat.cuda.runtime.staging")
    monkeypatch.setattr(staging, "_stages", {})
    x = mat.zeros(1000)
    cuda.delay()
    add(x)
    pending = cuda.pending()
    there(mat.from_numpy(np.ones(10)))
    assert cuda.pending() > pending
    assert x.to_numpy().sum() == 1000


# Prefetching


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
                           match=r"an asynchronous copy in progress, prefetched at .*transfers"):
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


@pytest.mark.parametrize(("function", "after"), [
    ("cuMemAllocAsync", 0), ("cuMemcpyHtoDAsync", 0), ("cuStreamWaitEvent", 0),
    ("cuStreamWaitEvent", 2), ("cuEventCreate", 0)])
def test_a_copy_ahead_that_fails(cuda, dev, function, after):
    x, y = mat.from_numpy(np.ones(100_000)), mat.from_numpy(np.ones(100_000))
    with mat.prefetch(to_device=[mat.from_numpy(np.ones(100_000))]):
        pass  # the stream and the buffers are there now
    dev.memory.trim()
    cuda.fail(function, after=after, times=1, status=1)
    with pytest.raises(DeviceError,
                       match="CUDA_ERROR_INVALID_VALUE"), mat.prefetch(to_device=[x, y]):
        pass
    cuda.forget()
    assert x.fresh == {"host"}
    assert y.fresh >= {"host"}
    assert_array_equal((x + y).to_numpy(), np.full(100_000, 2.0))


# Parts, and how many copies they take: those of equal rows, equally far apart, are packed in one

PARTS = {
    "rows": (np.s_[1, 10:20], 1), "column": (np.s_[..., 3], 1), "columns": (np.s_[..., 3:7], 1),
    "wide columns": (np.s_[..., 20:90], 1), "element": (np.s_[2, 7:8, 5:6], 1),
    "lattice": (np.s_[:, ::50, ::3], 20), "spans": (np.s_[::2, 3:9:2, 4:20], 2),
    "long rows": (np.s_[:, 1, 1:], 3),
}
WAYS = "p2p", "p2p through the host", "h2d", "d2h"


def copied(mock):
    """Return the number of copies between devices, and the bytes of all copies by their ways."""
    return np.array([mock.calls("cuMemcpyPeerAsync"), *map(mock.copied, WAYS)])


def two_large(rng, dtype, kind="column"):
    """Return different arrays that are copied in parts, and such a part of them."""
    dtype = mat.zeros(1, dtype=dtype).dtype
    shape = (3, 2, 3 * (70_000 // dtype.itemsize)) if kind == "long rows" else (4, 250, 100)
    a = rng.integers(0, 2, shape).astype(dtype)
    return a, (a == 0).astype(dtype), PARTS[kind][0]


@pytest.mark.parametrize("reached", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", PARTS)
@pytest.mark.sample(4)
def test_parts_go_from_one_device_to_another(mock, strangers, rng, kind, dtype, reached):
    mock.peers(reached)
    a, b, index = two_large(rng, dtype, kind)
    x = only_there(mat.array(a))
    part, nbytes = x[index], a[index].nbytes
    with mat.use_device("cuda:1"), mat.use_device("cuda:0"):
        for source, target in (("cuda:0", "cuda:1"), ("cuda:1", "cuda:0")):
            before = copied(mock)
            with mat.debug.trace() as trace, part.facet(target, "input"):
                pass
            assert [(e.source, e.target, e.nbytes) for e in trace.copies] == [
                (source, target, nbytes)]
            assert_array_equal(copied(mock) - before,
                               [PARTS[kind][1], nbytes, 0 if reached else nbytes, 0, 0])
            assert part.fresh == {"cuda:0", "cuda:1"}
            with mat.use_device("cuda:1"):
                part[...] = mat.array(b)[index]
            assert part.fresh == {"cuda:1"}
    a[index] = b[index]
    assert x.to_numpy().tobytes() == a.tobytes()


@pytest.mark.parametrize("edges", [
    [3, 5], [0, 2, 10, 12, 20, 22, 30, 32, 45, 46], [1, 2, 4, 9, 10, 12, 20, 30, 33, 34]])
def test_runs_of_any_distances_go_between_devices(dev, two_devices, edges):
    a = np.arange(50.0)
    target, source = only_there(mat.array(-a)), mat.array(a)
    with mat.use_device("cuda:1") as other, source.facet("cuda:1", "io"):
        ends = target.storage.handles[dev.memory], other.memory
        assert dev.memory.copy_runs_from(target.storage, *ends,
                                         source.storage.handles[other.memory], 3, Runs(edges))
    wanted = -a
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        wanted[start:stop] = a[start + 3:stop + 3]
    assert_array_equal(target.to_numpy(), wanted)


def test_more_columns_than_are_packed_at_once(mock, strangers, rng, monkeypatch):
    monkeypatch.setattr("mat.cuda.runtime.transfers.PIECE", 300 * 8)
    a, _, index = two_large(rng, "float64")
    x, before = only_there(mat.array(a)), mock.calls("cuMemcpyPeerAsync")
    with mat.use_device("cuda:1"):
        y = x[index] * 3
    assert mock.calls("cuMemcpyPeerAsync") - before == 4
    assert_array_equal(y.to_numpy(), a[index] * 3)


@pytest.mark.parametrize("late", [False, True])
def test_parts_come_in_the_order_of_both_devices(cuda, strangers, rng, late):
    if late:
        cuda.delay()
    x = mat.zeros(1000, 100)
    wanted = np.zeros((1000, 100))
    for k in range(3):
        add(x, k + 1)  # queued on the first
        wanted += k + 1
        with mat.use_device("cuda:1"):
            column = x[:, k]
            column *= 2.0
        wanted[:, k] *= 2
    assert_array_equal(x.to_numpy(), wanted)


def test_without_room_to_pack_parts_go_through_the_host(mock, strangers, rng, monkeypatch):
    a, _, index = two_large(rng, "float64")
    x, part = only_there(mat.array(a)), a[index]

    def no_room(nbytes):
        raise OutOfDeviceMemory(f"no room for {nbytes} bytes")

    with mat.use_device("cuda:1"), mat.debug.count_copies() as copies:
        for gpu in strangers:
            monkeypatch.setattr(gpu, "plain_room", no_room)
        with x[index].facet("cuda:1", "io"):
            pass
    assert (copies.h2d, copies.d2h, copies.bytes) == (1, 1, 2 * part.nbytes)
    assert_array_equal(x.to_numpy(), a)


def test_kernels_that_pack_find_room_before_the_buffers_are_held(cuda, dev, rng, monkeypatch):
    """Who has the pool's lock may be waiting for the buffers, to evict a copy."""
    staging = pytest.importorskip("mat.cuda.runtime.staging")
    a, trim, held = rng.random((4096, 10)), dev.memory.trim, []
    x = only_there(mat.array(a))
    monkeypatch.setattr(dev.gpu, "_kernels", {})
    monkeypatch.setattr(dev.gpu, "_libraries", {})
    cuda.fail("cuLibraryLoadData")

    def checked():
        held.append([s for s in staging._stages.values() if s.lock.locked()])
        trim()

    monkeypatch.setattr(dev.memory, "trim", checked)
    assert_array_equal(x[:, 3].to_numpy(), a[:, 3])
    assert held == [[]]
