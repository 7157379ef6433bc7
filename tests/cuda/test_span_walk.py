"""Random walks over views of a storage on a GPU and the host: see `tests/core/span_walk.py`."""

import numpy as np
import pytest

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from cuda.bindings import driver

from mat.core import coherence
from mat.cuda.runtime.gpu import check

from ..core import span_blocks
from ..core.span_walk import Walk
from ..support import selection

FAILING = ("cuMemAllocAsync", "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuMemcpy2DAsync")
pytestmark = pytest.mark.host


def elements_of(handle, dtype):
    """Return the elements that a handle has, of the host or of a GPU."""
    if isinstance(handle, np.ndarray):
        return handle
    return fetched(handle.address, handle.nbytes // dtype.itemsize, dtype)


def fetched(address, size, dtype):
    found = np.empty(size, dtype)
    if size:
        check(driver.cuMemcpyDtoH(found.ctypes.data, address, found.nbytes), "a test")
    return found


def read_block(value):
    if not hasattr(value, "gpu"):
        return span_blocks.read_block(value)
    with value.gpu.current():
        return fetched_view(value)


def fetched_view(value):
    """Return the visible elements of a value of the facet."""
    every = elements_of(value.handle, value.dtype)
    size, layout = value.dtype.itemsize, value.layout
    strides = [s * size for s in layout.strides]
    return np.lib.stride_tricks.as_strided(every[layout.displacement:] if layout.size else every,
                                           layout.shape, strides).copy()


def write_block(value, number):
    if not hasattr(value, "gpu"):
        span_blocks.write_block(value, number)
        return
    written = np.array([number], value.dtype)
    with value.gpu.current():
        for index in np.ndindex(*value.shape):
            at = value.address + int(np.dot(index, value.strides)) * value.dtype.itemsize
            check(driver.cuMemcpyHtoD(at, written.ctypes.data, written.nbytes), "a test")


class WalkOnGpu(Walk):
    """The host and the first GPU."""

    read_block = staticmethod(read_block)
    write_block = staticmethod(write_block)

    def __init__(self, seed, mock, **options):
        super().__init__(seed, facets=("array", "cuda"), **options)
        self.mock = mock
        self.memory_of["cuda"] = "cuda:0"

    def elements(self, handle, dtype):
        with self.devices[0].gpu.current():
            return elements_of(handle, dtype)

    def begin_fault(self):
        self.mock.fail(self.rng.choice(FAILING), status=1)

    def end_fault(self):
        for function in FAILING:
            self.mock.fail(function, times=0)


@pytest.mark.parametrize("options", [{}, {"pool_bytes": 2000}], ids=["unlimited", "small pool"])
def test_elements_are_what_the_model_has(mock, monkeypatch, options):
    monkeypatch.setattr(coherence, "SMALL", 0)
    for seed in range(selection.most(20, 2)):
        WalkOnGpu(seed, mock, **options).run(100)
