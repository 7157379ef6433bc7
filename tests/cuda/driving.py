"""Helpers of the tests of the mock driver: kernels, copies and launches through cuda.bindings."""

import numpy as np
import pytest

from mat.layout.strided import packed

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from cuda.bindings import driver
from cuda.core import LegacyPinnedMemoryResource

from mat.cuda.device import CudaArray
from mat.cuda.runtime.gpu import check
from mat.cuda.runtime.kernel import CudaKernel
from mat.cuda.runtime.nvrtc import Program

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
