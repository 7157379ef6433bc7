"""The mock driver finds misuse, and fails on purpose.

Faults are taken off its list here, since one that stays fails the test.
"""

import numpy as np
import pytest

from mat.errors import DeviceError, KernelError, OutOfDeviceMemory
from mat.layout.strided import packed

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from cuda.bindings import driver

from mat.cuda.device import CudaArray
from mat.cuda.runtime.gpu import Gpu
from mat.cuda.runtime.kernel import CudaKernel
from mat.cuda.runtime.nvrtc import Program

from ..tools.mock_driver.fixtures import mock_driver
from ..tools.mock_driver.harness import SANITIZED
from .driving import TEXT, N, ask, expect, got, operand, put, scale


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
    mock.fail("cuMemAllocAsync", after=1, times=2)  # once more after what is free is returned
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
