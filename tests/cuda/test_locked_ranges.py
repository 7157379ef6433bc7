"""Host memory whose pages are locked: whole, in part, for reading only, or not after all."""

import gc
import mmap

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.memories.file_pages import SpillPages, pages_of
from mat.memories.host import HOST

from .computing import add, times
from .driving import ask, driver, expect

from mat.cuda.runtime import pinned# isort: skip
from mat.cuda.runtime.pinned import LockedRange, LockedRanges

pytestmark = pytest.mark.host


@pytest.fixture(autouse=True)
def nothing_stays_locked(cuda):
    """Unlock what the test has locked."""
    yield
    gc.collect()
    pinned._collect()


def lock(x):
    """Lock the pages of `x`, where they can be."""
    with x.facet("cuda_host", "input"):
        pass


def home(x):
    """Have `x` on the host."""
    with x.facet("array", "input"):
        pass


def pages(values):
    """Return the values in pages of their own."""
    a = np.frombuffer(mmap.mmap(-1, values.nbytes), values.dtype)
    a[:] = values
    return a


def devices_of(ranges):
    return {found.gpu.number for found in ranges}


def test_ranges_are_found(rng):
    ranges, inside = LockedRanges(), np.zeros(1000, int)
    every = [LockedRange(low, low + length, None) for low, length in
             [(700, 100), (0, 50), (900, 100), (50, 10), (300, 200)]]
    for number, found in enumerate(every, 1):
        ranges.add(found)
        inside[found.low:found.high] = number
    for _ in range(2):
        for low, high in rng.integers(0, 1000, (300, 2)):
            part = inside[low:high]
            assert ranges.touches(low, high) == part.any()
            if len(part):
                whole = part[0] and (part == part[0]).all()
                assert ranges.covering(low, high) is (every[part[0] - 1] if whole else None)
        ranges.remove(every[2])
        inside[900:] = 0
    assert [found.low for found in ranges] == [0, 50, 300, 700]


@pytest.mark.parametrize("n", [20_000, 1000])
def test_memory_that_is_locked_in_part_is_staged(cuda, dev, n):
    a = pages(np.arange(2.0 * n))
    part, whole = mat.from_numpy(a[:n]), mat.from_numpy(a)
    lock(part)
    assert cuda.calls("cuMemHostRegister") == 1
    assert times(whole, 2).to_numpy()[-1] == 4 * n - 2
    home(add(whole, 1))
    assert_array_equal(a, np.arange(2.0 * n) + 1)  # written by a copy from the device
    with mat.prefetch(to_device=[whole]):
        pass
    assert whole.fresh == {"host", "cuda:0"}
    with mat.prefetch(to_host=[add(whole, 1)]):
        pass
    assert_array_equal(a, np.arange(2.0 * n) + 2)
    lock(whole)  # the driver would refuse it
    assert cuda.calls("cuMemHostRegister") == 1


def test_memory_within_a_locked_range_is_locked(cuda, dev):
    a = pages(np.arange(40_000.0))
    whole, part = mat.from_numpy(a), mat.from_numpy(a[5_000:30_000])
    lock(whole)
    lock(part)
    assert cuda.calls("cuMemHostRegister") == 1
    assert dev.memory.page_locked(a[5_000:])
    assert not dev.memory.page_locked(np.empty(5))
    del whole
    gc.collect()
    lock(mat.ones(10_000))  # takes in what was released
    assert dev.memory.page_locked(a[5_000:6_000])  # `part` needs it
    del part
    gc.collect()
    lock(mat.ones(10_000))
    assert not dev.memory.page_locked(a[5_000:6_000])


def test_pages_that_others_have_locked_in_part_are_staged(cuda, dev):
    a = pages(np.arange(40_000.0))
    with dev.gpu.current():
        ask(driver.cuMemHostRegister(a.ctypes.data, a.nbytes // 2, 0))
    x = mat.from_numpy(a)
    home(add(x, 1))
    assert_array_equal(a, np.arange(40_000.0) + 1)
    if cuda.is_mock:
        expect(cuda, "160000 bytes of locked pages", "160000 bytes of locked pages")
    ask(driver.cuMemHostUnregister(a.ctypes.data))


def test_pages_that_can_only_be_read(cuda, dev, tmp_path):
    np.save(tmp_path / "x.npy", np.ones(50_000))
    x = mat.open_memmap(tmp_path / "x.npy", mode="r")
    with x.facet("cuda_host", "input") as p:
        assert dev.memory.page_locked(p.handle)
        flags = ask(driver.cuMemHostGetFlags(p.address))
        if cuda.is_mock:  # NVIDIA's does not report that flag
            assert flags & driver.CU_MEMHOSTREGISTER_READ_ONLY
    assert (x * 2).to_numpy().sum() == 100_000


def test_the_device_does_not_copy_to_pages_that_it_may_only_read(cuda, dev):
    data = mmap.mmap(-1, 80_000)
    a = np.frombuffer(memoryview(data).toreadonly())
    x, y = mat.from_numpy(a), mat.from_numpy(np.frombuffer(data))
    lock(x)
    home(add(y, 1))
    assert a.sum() == 10_000


def test_pages_that_cannot_be_locked_are_presented(cuda, dev):
    cuda.fail("cuMemHostRegister", times=9)
    a = pages(np.ones(50_000))
    x = mat.from_numpy(a)
    with x.facet("cuda_host", "io") as p:
        assert p.address == a.ctypes.data
    assert (x * 2).to_numpy().sum() == 100_000


def test_pages_of_spilled_memory_are_not_locked(cuda, dev, tmp_path):
    with mat.settings(spill_dir=str(tmp_path), spill_above=1):
        x = mat.zeros(1_000_000)
        lock(x)
        assert isinstance(pages_of(x.storage.handles[HOST]), SpillPages)
    assert cuda.calls("cuMemHostRegister") == 0


@pytest.mark.unchecked("its block for output writes nothing")
def test_the_device_that_asks_locks(cuda, two_devices):
    pinned.POOL.trim()
    before = set(pinned.RANGES)
    with mat.use_device("cuda:1", required=True), mat.settings(page_locked=True):
        x = mat.zeros(77_777)
        with x.facet("array", "output"):
            pass
        y = mat.from_numpy(pages(np.ones(10_000)))
        lock(y)
        assert devices_of(set(pinned.RANGES) - before) == {1}
    assert len(set(pinned.RANGES) - before) == 2
