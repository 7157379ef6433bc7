"""The mock driver under cuda.bindings and cuda.core: that it computes, in what order, and that
it finds misuse.

What it finds is taken off its list here, since a fault that stays fails the test.
"""

import gc
import threading

import numpy as np
import pytest

from mat.errors import DeviceError, KernelError, OutOfDeviceMemory
from mat.layout.strided import packed
from mat.support.cuda_probe import probe

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from cuda.bindings import driver
from cuda.core import Buffer, Device, EventOptions, LegacyPinnedMemoryResource

from mat.cuda.array import CudaArray
from mat.cuda.gpu import Gpu, check
from mat.cuda.kernel import CudaKernel
from mat.cuda.nvrtc import Program

from ..mock_driver.fixtures import mock_driver
from ..mock_driver.harness import SANITIZED, compiler

TEXT = """
#include "device.cuh"
struct sizes { int64_t n; };
MAT_KERNEL(scale, sizes, 256) {
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const float *from = (const float *)call.at[0];
    if (i < frame.n) ((float *)call.at[1])[i] = (float)call.numbers[0] * from[i];
}
MAT_KERNEL(turned, sizes, 256) {
    MAT_DYNAMIC_SHARED(room);
    float *place = (float *)room, *x = (float *)call.at[1];
    place[threadIdx.x] = ((const float *)call.at[0])[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = place[blockDim.x - 1 - threadIdx.x];
}
"""
N = 1000


@pytest.fixture
def mock(cuda):
    """The mock driver, which can fail on purpose."""
    if not cuda.is_mock:
        pytest.skip("about the mock driver")
    cuda.delay(False)
    return cuda


@pytest.fixture
def gpu(mock):
    device = Gpu(0)  # not the one that is kept: its memory is counted here
    with device.current():
        yield device
    device.synchronize()


def ask(result):
    return check(result, "a test")


def operand(gpu, n=N, dtype="f"):
    block = gpu.allocate(n * np.dtype(dtype).itemsize)
    return CudaArray(block, packed((n,)), np.dtype(dtype))


def put(x, values):
    ask(driver.cuMemcpyHtoDAsync(x.address, values.ctypes.data, values.nbytes, x.gpu.stream))


def got(x, stream=None):
    result = np.empty(x.size, x.dtype)
    ask(driver.cuMemcpyDtoHAsync(result.ctypes.data, x.address, result.nbytes,
                                 stream or x.gpu.stream))
    return result


def scale(x, y, by, n=N):
    CudaKernel(Program(TEXT), "scale", (n,), (-(-n // 256), 1, 1),
               (256, 1, 1)).bind((1, 2), (0,))(by, x, y)


def expect(mock, *texts):
    """Those faults were found, and no others."""
    found = mock.faults()
    assert len(found) == len(texts), found
    for fault, text in zip(found, texts, strict=True):
        assert text in fault
    mock.forget()


def locked(nbytes):
    memory = LegacyPinnedMemoryResource().allocate(nbytes)
    return memory, np.from_dlpack(memory)


# That it computes


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
    scale(x, y, 2.0)
    np.testing.assert_array_equal(got(y, stream), 2 * a)


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


# Misuse


def test_memory_given_back_is_not_to_be_used(mock, gpu):
    x, y = operand(gpu), operand(gpu)
    gpu.release(x.handle)
    with pytest.raises(DeviceError, match=r"kernel 'scale'.*was given back"):
        scale(x, y, 2.0)
    with pytest.raises(DeviceError, match="was given back"):
        got(x)
    with pytest.raises(DeviceError):
        gpu.release(x.handle)
    expect(mock, "kernel scale, operand 0: the block of 4000 bytes", "was given back",
           "was given back before")


def test_addresses_that_are_none(mock, gpu):
    x, y = operand(gpu), operand(gpu)
    y.address = np.zeros(N, "f").ctypes.data
    with pytest.raises(DeviceError, match="there is no memory at"):
        scale(x, y, 2.0)
    assert int(driver.cuMemcpyDtoH(y.address, y.address, 4)[0])
    assert int(driver.cuMemFree(x.address + 4)[0])
    expect(mock, "operand 1: there is no memory", "is no address on a device", "is no block")


def test_copies_beyond_a_block(mock, gpu):
    x, host = operand(gpu, 4), np.zeros(5, "f")
    with pytest.raises(DeviceError,
                       match="20 bytes from byte 0 on are not inside of a block of 16"):
        put(x, host)
    with pytest.raises(DeviceError, match="not inside"):
        ask(driver.cuMemsetD32Async(x.address + 4, 0, 4, gpu.stream))
    expect(mock, "cuMemcpyHtoDAsync", "cuMemsetD32Async")


@pytest.mark.skipif(bool(SANITIZED), reason="a sanitizer ends the process")
def test_kernels_that_write_outside(mock, gpu):
    x, y = operand(gpu), operand(gpu, N - 1)
    with pytest.raises(DeviceError, match="kernel 'scale'"):
        scale(x, y, 2.0)
    expect(mock, "scale: byte 3996 of a block of 3996 bytes on device 0 was written")


def test_an_address_before_a_block(mock, gpu):
    x, y = operand(gpu), operand(gpu)
    y.address -= 4
    with pytest.raises(DeviceError, match="there is no memory"):
        scale(x, y, 2.0)
    expect(mock, "operand 1: there is no memory")


@pytest.mark.parametrize(("grid", "block", "shared"),
                         [((1, 1, 1), (257, 1, 1), 0), ((1, 1, 1), (0, 1, 1), 0),
                         ((1, 1, 1), (1, 1, 65), 0), ((1, 1, 1), (32, 1, 1), 300_000)])
def test_impossible_launches(mock, gpu, grid, block, shared):
    x, y = operand(gpu), operand(gpu)
    with pytest.raises(DeviceError):
        CudaKernel(Program(TEXT), "scale", (1,), grid, block,
                   shared=shared).bind((1, 2), (0,))(1.0, x, y)
    if shared == 0:
        expect(mock, "kernel scale cannot be launched with")


def test_memory_that_its_stream_has_not_got(mock, gpu):
    mock.delay()
    x = operand(gpu)
    got(CudaArray(x.handle, packed((1,)), x.dtype))
    y = operand(gpu)
    driver.cuMemsetD8Async(y.address, 0, 4, gpu.copy_stream)
    status = driver.cuStreamSynchronize(gpu.copy_stream)[0]
    assert int(status) == 700
    expect(mock, "is used before its stream has got it")


def test_memory_of_another_device(mock, gpu):
    x, y = operand(gpu), operand(Gpu(1))
    with pytest.raises(DeviceError, match="a block of device 1 is used on device 0"):
        scale(x, y, 2.0)
    expect(mock, "operand 1: a block of device 1")


def test_a_fault_fails_the_test(mock):
    with pytest.raises(pytest.fail.Exception,
                       match=r"that a GPU may not report:\n.* is no block"), mock_driver():
        driver.cuMemFree(12345 << 32)


# Failures on purpose, and limits


def test_injected_failures(mock, gpu):
    mock.fail("cuMemAllocAsync", after=1)
    operand(gpu)
    with pytest.raises(OutOfDeviceMemory):
        operand(gpu)
    operand(gpu)
    mock.fail("cuLaunchKernel", status="launch_failed")
    with pytest.raises(DeviceError, match="CUDA_ERROR_LAUNCH_FAILED"):
        scale(operand(gpu), operand(gpu), 1.0)


def test_memory_has_an_end(mock, gpu):
    mock.configure(memory=mock.held() + 10_000)
    x = operand(gpu, 2000)
    with pytest.raises(OutOfDeviceMemory):
        operand(gpu, 2000)
    gpu.release(x.handle)
    gpu.release(operand(gpu, 2000).handle)


def test_memory_is_counted(mock, gpu):
    blocks, held = mock.blocks(), mock.held()
    x = operand(gpu)
    assert mock.blocks() == blocks + 1
    assert mock.held() == held + 4 * N
    assert mock.peak() >= held + 4 * N
    gpu.release(x.handle)
    assert mock.held() == held


def test_registered_pages(mock, gpu):
    a = np.zeros(N)
    ask(driver.cuMemHostRegister(a.ctypes.data, a.nbytes, 0))
    assert int(driver.cuMemHostRegister(a.ctypes.data + 8, 8, 0)[0]) == 712
    assert mock.blocks(-1) >= 1
    ask(driver.cuMemHostUnregister(a.ctypes.data))
    assert int(driver.cuMemHostUnregister(a.ctypes.data)[0]) == 713


def test_a_program_that_does_not_compile(gpu):
    with pytest.raises(KernelError, match="unheard_of"):
        CudaKernel(Program("int x = unheard_of;"), "scale", (), (1, 1, 1),
                   (1, 1, 1)).bind((0,), ())(operand(gpu))
    with pytest.raises(DeviceError, match=r"kernel 'absent'.*CUDA_ERROR_NOT_FOUND"):
        CudaKernel(Program(TEXT), "absent", (), (1, 1, 1), (1, 1, 1)).bind((0,), ())(operand(gpu))


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
