"""The mock driver under cuda.bindings and cuda.core: it computes, and in the right order."""

import gc
import threading

import numpy as np
import pytest

from mat.support.cuda_probe import probe

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from cuda.bindings import driver
from cuda.core import Buffer, Device, EventOptions

from mat.cuda.runtime.gpu import Gpu
from mat.cuda.runtime.kernel import CudaKernel
from mat.cuda.runtime.nvrtc import Program

from ..tools.mock_driver.harness import compiler
from .driving import TEXT, N, ask, got, locked, operand, put, scale


def test_devices_are_found_while_the_fixture_is_there(mock):
    assert probe() == (2, "", 13000)
    mock.configure(devices=1)
    assert ask(driver.cuDeviceGetCount()) == 1


def test_a_kernel_computes(mock, gpu, rng):
    x, y, a = operand(gpu), operand(gpu), rng.random(N).astype("f")
    put(x, a)
    scale(x, y, 2.5)
    np.testing.assert_array_equal(got(y), np.float32(2.5) * a)
    assert mock.calls("cuLaunchKernel") == mock.copies("h2d") == mock.copies("d2h") == 1
    assert mock.copied("h2d") == a.nbytes


def test_launches_can_return_at_once_with_nothing_done(mock, gpu, rng):
    x, y, a, b = operand(gpu), operand(gpu), rng.random(N).astype("f"), rng.random(N).astype("f")
    put(x, a)
    put(y, b)
    scale(x, y, 2.5)
    launches = mock.calls("cuLaunchKernel")
    mock.at_once()
    mock.fail("cuLaunchKernel")
    scale(x, y, 3.5)
    mock.at_once(False)
    np.testing.assert_array_equal(got(y), np.float32(2.5) * a)
    assert mock.calls("cuLaunchKernel") == launches == 1
    mock.at_once()
    mock.forget()
    scale(x, y, 3.5)
    np.testing.assert_array_equal(got(y), np.float32(3.5) * a)


@pytest.mark.parametrize("seed", range(4))
def test_shared_memory_and_barriers_in_any_order(mock, gpu, rng, seed):
    mock.seed(seed)
    x, y, a = operand(gpu, 200), operand(gpu, 200), rng.random(200).astype("f")
    put(x, a)
    CudaKernel(Program(TEXT), "turned", (), (1, 1, 1), (200, 1, 1),
               shared=800).bind((0, 1), ())(x, y)
    np.testing.assert_array_equal(got(y), a[::-1])


def test_much_shared_memory_is_asked_for(mock, gpu, rng):
    x, y, a = operand(gpu, 200), operand(gpu, 200), rng.random(200).astype("f")
    put(x, a)
    CudaKernel(Program(TEXT), "turned", (), (1, 1, 1), (200, 1, 1),
               shared=200_000).bind((0, 1), ())(x, y)
    np.testing.assert_array_equal(got(y), a[::-1])


def test_memory_of_a_device_cannot_be_used_on_the_host(gpu):
    assert operand(gpu).address >= 1 << 60


def test_memory_begins_and_ends_as_rubbish(mock, gpu):
    x = operand(gpu, 4)
    assert np.isnan(got(x)).all()
    gpu.release(x.handle)


def test_cuda_core_takes_it(mock, rng):
    device = Device(1)
    device.set_current()
    assert device.arch == "90"
    stream = device.create_stream()
    memory, host = locked(4 * N)
    back, result = locked(4 * N)
    host.view("f")[:] = rng.random(N)
    there = device.allocate(4 * N, stream=stream)
    first = stream.record(options=EventOptions(timing_enabled=True))
    there.copy_from(memory, stream=stream)
    back.copy_from(there, stream=stream)
    second = stream.record(options=EventOptions(timing_enabled=True))
    stream.sync()
    np.testing.assert_array_equal(result, host)
    assert second.is_done
    assert second - first >= 0
    assert there.device_id == 1
    assert memory.is_host_accessible
    assert not there.is_host_accessible
    there.close()


def test_attributes_of_addresses(gpu):
    x = operand(gpu)
    kind = driver.CUpointer_attribute
    for attribute, value in ((kind.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 2),
                             (kind.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, 0),
                             (kind.CU_POINTER_ATTRIBUTE_RANGE_SIZE, 4 * N)):
        assert int(ask(driver.cuPointerGetAttribute(attribute, x.address + 5))) == value
    host = np.zeros(1)
    assert int(driver.cuPointerGetAttribute(kind.CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                            host.ctypes.data)[0]) == 1


def test_rows_that_lie_apart_and_fills(mock, gpu):
    x = operand(gpu, 12)
    ask(driver.cuMemsetD32Async(x.address, 0, 12, gpu.stream))
    host = np.arange(20, dtype="f").reshape(4, 5)
    rows = driver.CUDA_MEMCPY2D()
    rows.srcMemoryType = driver.CUmemorytype.CU_MEMORYTYPE_HOST
    rows.srcHost, rows.srcPitch = host.ctypes.data, 20
    rows.dstMemoryType = driver.CUmemorytype.CU_MEMORYTYPE_DEVICE
    rows.dstDevice, rows.dstPitch = x.address, 12
    rows.WidthInBytes, rows.Height = 8, 4
    ask(driver.cuMemcpy2DAsync(rows, gpu.stream))
    expected = np.zeros((4, 3), "f")
    expected[:, :2] = host[:, :2]
    np.testing.assert_array_equal(got(x).reshape(4, 3), expected)
    assert mock.copies("h2d") == 1
    assert mock.copied("h2d") == 32


def test_two_devices(mock, gpu, rng):
    other, a = Gpu(1), rng.random(N).astype("f")
    x, y = operand(gpu), operand(other)
    put(x, a)
    ask(driver.cuMemcpyDtoDAsync(y.address, x.address, a.nbytes, gpu.stream))
    np.testing.assert_array_equal(got(y), a)
    assert mock.copies("p2p") == 1
    assert mock.blocks(1) >= 1


def test_threads_have_contexts_of_their_own(gpu, rng):
    x, y, a = operand(gpu), operand(gpu), rng.random(N).astype("f")
    put(x, a)
    worker = threading.Thread(target=scale, args=(x, y, 2.0))
    worker.start()
    worker.join()
    np.testing.assert_array_equal(got(y), 2 * a)


# Delays


def test_what_is_queued_waits(mock, gpu, rng):
    x, y, a = operand(gpu), operand(gpu), rng.random(N).astype("f")
    put(x, a)
    mock.delay()
    scale(x, y, 2.0)
    early = got(y, gpu.copy_stream)  # a stream that waits for no other
    assert mock.pending()
    assert np.isnan(early).all()
    np.testing.assert_array_equal(got(y), 2 * a)
    assert not mock.pending()


def test_an_event_orders_streams(mock, gpu, rng):
    x, y, a = operand(gpu), operand(gpu), rng.random(N).astype("f")
    put(x, a)
    mock.delay()
    scale(x, y, 2.0)
    event = ask(driver.cuEventCreate(0))
    ask(driver.cuEventRecord(event, gpu.stream))
    scale(x, y, 3.0)
    ask(driver.cuStreamWaitEvent(gpu.copy_stream, event, 0))
    ask(driver.cuEventDestroy(event))
    np.testing.assert_array_equal(got(y, gpu.copy_stream), 2 * a)
    np.testing.assert_array_equal(got(y), 3 * a)


def test_the_default_stream_and_blocking_ones_follow_each_other(mock, gpu, rng):
    x, y, a = operand(gpu), operand(gpu), rng.random(N).astype("f")
    put(x, a)
    stream = ask(driver.cuStreamCreate(0))
    mock.delay()
    ask(driver.cuMemcpyDtoDAsync(y.address, x.address, a.nbytes, driver.CUstream(1)))
    np.testing.assert_array_equal(got(y, stream), a)


def test_locked_pages_are_read_late_and_others_at_once(mock, gpu):
    x, plain = operand(gpu, 4), np.ones(4, "f")
    memory, pages = locked(16)
    pages.view("f")[:] = 1
    mock.delay()
    put(x, plain)
    plain[:] = 2
    np.testing.assert_array_equal(got(x), 1)
    ask(driver.cuMemcpyHtoDAsync(x.address, int(memory.handle), 16, gpu.stream))
    pages.view("f")[:] = 3
    np.testing.assert_array_equal(got(x), 3)


def test_locked_pages_are_written_late(mock, gpu):
    x = operand(gpu, 4)
    put(x, np.ones(4, "f"))
    memory, pages = locked(16)
    pages.view("f")[:] = 0
    mock.delay()
    ask(driver.cuMemcpyDtoHAsync(int(memory.handle), x.address, 16, gpu.stream))
    np.testing.assert_array_equal(pages.view("f"), 0)
    gpu.synchronize()
    np.testing.assert_array_equal(pages.view("f"), 1)


def test_frames_and_numbers_are_read_before_a_launch_returns(mock, gpu, rng):
    x, y, z, a = operand(gpu), operand(gpu), operand(gpu), rng.random(N).astype("f")
    put(x, a)
    mock.delay()
    launch = CudaKernel(Program(TEXT), "scale", (N,), (4, 1, 1), (256, 1, 1)).bind((1, 2), (0,))
    launch(2.0, x, y)
    launch(3.0, x, z)
    np.testing.assert_array_equal(got(y), 2 * a)
    np.testing.assert_array_equal(got(z), 3 * a)


def test_asking_often_enough_gets_there(mock, gpu):
    x, y = operand(gpu), operand(gpu)
    mock.delay()
    scale(x, y, 2.0)
    scale(x, y, 2.0)
    assert [int(driver.cuStreamQuery(gpu.stream)[0]) for _ in range(5)][-2:] == [0, 0]


# What surrounds it


def test_without_the_fixture_there_is_what_there_was(request):
    before = probe()
    request.getfixturevalue("cuda")
    assert probe().devices >= 1
    assert before == before._replace(devices=before.devices)


@pytest.mark.skipif(not compiler(), reason="no C++ compiler")
def test_buffers_may_outlive_what_made_them(mock):
    device = Device(0)
    device.set_current()
    buffer = device.allocate(64, stream=device.default_stream)
    alias = Buffer.from_handle(int(buffer.handle) + 8, 8, owner=buffer)
    del buffer
    gc.collect()
    assert alias.size == 8
