"""A device that fails for good, threads without a context, and contexts of other libraries."""

import gc
import threading
from contextlib import suppress

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.errors import DeviceError

from .computing import TEXT as LINE
from .computing import add, only_there, there
from .driving import ask, driver, expect

from mat.cuda import engine  # isort: skip
from mat.cuda.runtime import gpu as gpus  # isort: skip

pytestmark = pytest.mark.host

EARLIER = r"failed earlier at .*\.py:\d+: .*: CUDA_ERROR_{}.*start again"


@pytest.fixture(autouse=True)
def no_memory_is_left():
    """Errors and frames that refer to each other keep Mats."""
    yield
    gc.collect()


@pytest.fixture
def dev(mock):
    """The first device, in use."""
    with mat.use_device("cuda", required=True) as device:
        yield device


@pytest.fixture
def broken(mock):
    """A Mat on the host, one on the device only, and the device, which has failed."""
    x, y = mat.from_numpy(np.arange(50_000.0)), mat.from_numpy(np.ones(50_000))
    # at the end of the block, what is on the device only is missed once more
    with suppress(DeviceError), mat.use_device("cuda", required=True) as device:
        only_there(add(y))
        there(x)
        mock.fail("cuLaunchKernel", status=719)
        with pytest.raises(DeviceError, match=r"kernel 'line'.*LAUNCH_FAILED.*start again") as seen:
            add(x)
        assert "earlier" not in str(seen.value)
        yield x, y, device


TEXT = """
#include "device.cuh"
struct sizes { int64_t n; };
MAT_KERNEL(trap, sizes, 32) { if (call.at[0]) __trap(); }
"""


def trap(x):
    """Queue a kernel on `x` that makes the device fail."""
    with x.facet("cuda", "io") as a:
        kernel = engine.CudaKernel(engine.Program(TEXT), "trap", (1,), (1, 1, 1), (1, 1, 1))
        kernel.bind((0,), ())(a)
    return x


def test_what_uses_it_is_told(broken, mock):
    _, y, device = broken
    for use in (lambda: add(mat.ones(5)), y.to_numpy, device.synchronize, lambda: y @ y,
                lambda: mat.use_device("cuda:0"), lambda: mat.zeros(3) + 1,
                lambda: there(mat.ones(4))):
        with pytest.raises(DeviceError, match=EARLIER.format("LAUNCH_FAILED")):
            use()
    mock.fail("cuLaunchKernel", status=700)
    with pytest.raises(DeviceError, match=EARLIER.format("LAUNCH_FAILED")):  # the first error
        add(mat.ones(5))


def add_kernel(n):
    """Return a kernel that adds 1 to `n` elements in place: called again, it just launches."""
    kernel = engine.CudaKernel(engine.Program(LINE), "line", (n,), (-(-n // 256), 1, 1),
                               (256, 1, 1)).bind((2, 3), (0, 1))
    return lambda a: kernel(1, 1, a, a)


def test_launches_that_ask_nothing_are_told(mock, dev, monkeypatch):
    monkeypatch.setattr(dev.gpu, "alone", True)
    with suppress(DeviceError), mat.ones(5).facet("cuda", "io") as a:
        plus_one = add_kernel(5)
        plus_one(a)
        mock.fail("cuLaunchKernel", status=719)
        for text in ("kernel 'line'", "failed earlier at"):
            with pytest.raises(DeviceError, match=text):
                plus_one(a)


def test_launches_that_ask_nothing_find_their_context(mock, dev, monkeypatch):
    monkeypatch.setattr(dev.gpu, "alone", True)
    x = mat.ones(5)
    with x.facet("cuda", "io") as a:
        plus_one, other = add_kernel(5), ask(driver.cuDevicePrimaryCtxRetain(5))
        plus_one(a)

        def work():
            ask(driver.cuCtxSetCurrent(other))
            plus_one(a)
            assert int(ask(driver.cuCtxGetCurrent())) == int(other)

        in_a_thread(work)
        in_a_thread(lambda: plus_one(a))
    assert x.to_numpy().tolist() == [4] * 5


def test_it_is_printed(broken):
    x, y, _ = broken
    assert "4.9999e+04" in repr(x)
    assert repr(y) == str(y) == "<Mat 50000 aC on a device that failed>"


def test_the_driver_tells_it_too(broken, monkeypatch):
    monkeypatch.setattr(gpus, "FAILURES", {})
    _, y, device = broken
    for ask_driver in (lambda: driver.cuMemAlloc(8), lambda: driver.cuMemFreeHost(0),
                       lambda: driver.cuMemHostAlloc(8, 0), lambda: driver.cuStreamQuery(1),
                       lambda: driver.cuCtxSynchronize()):
        with device.gpu.current():
            assert int(ask_driver()[0]) == 719
    with pytest.raises(DeviceError, match="LAUNCH_FAILED"):
        y.to_numpy()


def test_the_host_works_on(broken, mock):
    x, y, _ = broken
    with mat.settings(page_locked=True), mat.use_device("cpu"):
        assert_array_equal((x + 1).to_numpy(), np.arange(50_000.0) + 1)
        z = mat.ones(10_000)
        with z.facet("array", "io") as a:
            a += 1
        with z.facet("cuda_host", "input") as p:
            assert p.size == 10_000
        assert float(z.sum()) == 20_000
        y.fill(3)
        assert float(y.sum()) == 150_000


def test_cleaning_up_leaves_the_driver_alone(broken, mock):
    names = ("cuMemFreeAsync", "cuMemFreeHost", "cuMemHostUnregister", "cuStreamSynchronize",
             "cuEventDestroy")
    _, y, device = broken
    mat.trim()  # which has other devices free what they keep
    before = [mock.calls(name) for name in names]
    with mat.use_device("cpu"):
        y.fill(1)
    y.drop("cuda")
    device.memory.trim()
    device.gpu.trim()
    device.gpu.orphans.append((5, 5))
    device.gpu._free_orphans()
    assert not device.gpu.orphans
    assert before == [mock.calls(name) for name in names]
    mat.trim()  # of all devices, some of which are well


def test_pages_are_left_locked(mock, dev):
    x = mat.from_numpy(np.ones(50_000))
    with x.facet("cuda_host", "input"):
        pass
    before = mock.calls("cuMemHostUnregister")
    mock.fail("cuStreamSynchronize", status=700)
    with pytest.raises(DeviceError, match="ILLEGAL_ADDRESS"):
        add(x).to_numpy()
    del x
    with mat.from_numpy(np.ones(5)).facet("cuda_host", "input"):
        pass
    assert mock.calls("cuMemHostUnregister") == before


def test_the_first_error_is_what_a_block_raises(mock):
    x = mat.from_numpy(np.ones(50_000))

    def block():
        with mat.use_device("cuda"):
            only_there(add(x))
            mock.fail("cuStreamSynchronize", status=700)
            raise ValueError("of the user")

    with pytest.raises(ValueError, match="of the user") as seen:
        block()
    assert any("ILLEGAL_ADDRESS" in note for note in seen.value.__notes__)
    with pytest.raises(DeviceError, match=EARLIER.format("ILLEGAL_ADDRESS")):
        x.to_numpy()


def test_a_failure_that_is_seen_at_the_end_of_a_block(mock):
    x, y = mat.ones(50_000), mat.ones(50_000)  # which the device fills

    def block():
        with mat.use_device("cuda"):
            mock.delay()
            only_there(trap(x))
            add(y)  # queued behind what fails

    with pytest.raises(DeviceError, match=r"LAUNCH_FAILED.*__trap\(\).*start again") as seen:
        block()
    assert any("earlier" in note for note in seen.value.__notes__)
    expect(mock, "kernel trap: __trap()")


def test_cublas_fails_as_its_device_does(mock, dev):
    x = mat.from_numpy(np.ones((40, 40)))
    x @ x
    mock.fail("cublasDgemm", status=13)
    with pytest.raises(DeviceError, match="CUBLAS_STATUS_EXECUTION_FAILED"):
        x @ x
    mock.fail("cublasDgemm", status=13)
    mock.fail("cuStreamQuery", status=719)
    with pytest.raises(DeviceError, match=r"CUDA_ERROR_LAUNCH_FAILED.*start again"):
        x @ x
    with pytest.raises(DeviceError, match=EARLIER.format("LAUNCH_FAILED")):
        x @ x


def test_another_device_goes_on(broken):
    with mat.use_device("cuda:1", required=True):
        assert float((mat.ones(500) + 1).sum()) == 1000


# Contexts


@pytest.fixture
def alone(mock):
    """One device only, whose context is that of every thread that has one."""
    mock.configure(devices=1)
    device = gpus.Gpu(0)
    device.alone = True
    return device


def in_a_thread(work):
    """Run `work` in a new thread, which has no context; raise what it raises."""
    failures = []

    def run():
        try:
            work()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]


def works():
    with mat.use_device("cuda", required=True):
        x = mat.from_numpy(np.ones((20, 20)))
        assert float((x @ x).sum()) == 8000  # cuBLAS
        assert float((x + x).sum()) == 800
        assert float(add(add(x)).sum()) == 1200


@pytest.mark.parametrize("single", [True, False])
def test_a_thread_without_a_context(mock, dev, single, monkeypatch):
    works()
    monkeypatch.setattr(dev.gpu, "alone", single)
    in_a_thread(works)


@pytest.mark.parametrize("single", [True, False])
def test_the_context_of_another_library_stays(mock, dev, single, monkeypatch):
    works()
    monkeypatch.setattr(dev.gpu, "alone", single)
    other = ask(driver.cuDevicePrimaryCtxRetain(5))

    def work():
        ask(driver.cuCtxSetCurrent(other))
        works()
        assert int(ask(driver.cuCtxGetCurrent())) == int(other)

    in_a_thread(work)


def test_a_context_is_entered_only_where_it_has_to_be(alone):
    with alone.current():
        assert int(ask(driver.cuCtxGetCurrent())) == alone.address


def test_no_context_is_pushed_where_it_is_current(mock, dev):
    works()
    with dev.gpu.current():
        before = mock.calls("cuCtxPushCurrent")
        works()
        assert mock.calls("cuCtxPushCurrent") == before
    expect(mock)
