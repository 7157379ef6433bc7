"""Helpers for tests of files: elements of all dtypes, kinds of files, collections of arrays."""

import io
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat

from .layouts import LAYOUTS, NUMPY_DTYPES, numbers

ml_dtypes = pytest.importorskip("ml_dtypes")

OF_ML_DTYPES = ("bfloat16", "float8_e4m3fn", "float8_e5m2")
DTYPES = (*NUMPY_DTYPES, *OF_ML_DTYPES)
NOT_READ_BY_NUMPY = "float8_e5m2"  # which it writes as <f1, a name that it does not know
SHAPES = ((3, 4), (5,), (2, 3, 4), (), (0, 3), (3, 0, 2), (1,))
DEVICES = ("cpu", "emulated")
devices = pytest.mark.parametrize("device", DEVICES)
layouts = pytest.mark.parametrize("layout", LAYOUTS)
unchecked = pytest.mark.unchecked("the check records accesses, which takes memory")
dtypes = pytest.mark.parametrize("dtype", DTYPES)


def values(shape, dtype, seed=0):
    """Return elements of any dtype."""
    rng = np.random.default_rng(seed)
    if hasattr(ml_dtypes, dtype):
        return numbers(rng, shape, "float32").astype(getattr(ml_dtypes, dtype))
    return np.asarray(numbers(rng, shape, dtype))


def at(device, x):
    """Return `x` with its data fresh on `device` only, which is in use."""
    if device != "cpu":
        with x.facet(device, "io"):
            pass
        assert x.fresh == {device} or not x.size  # nothing is written then
    return x


def saved(x, **kwargs):
    file = io.BytesIO()
    mat.save(file, x, **kwargs)
    return file.getvalue()


def saved_by_numpy(a):
    file = io.BytesIO()
    np.save(file, a)
    return file.getvalue()


def same(x, a):
    assert x.dtype == a.dtype
    assert x.shape == a.shape
    assert_array_equal(x.to_numpy(), a)


def kinds_of(data):
    """Return the same bytes as a file of known size, and as one of unknown size."""
    return io.BytesIO(data), Stream(data)


class Stream:
    """A file that has only `read`, which returns few bytes at a time."""

    def __init__(self, data, most=7):
        self.file, self.most = io.BytesIO(data), most

    def read(self, n=-1):
        return self.file.read(min(n, self.most) if n >= 0 else self.most)


def peak_of(call):
    """Return the peak of bytes that the call allocates."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def contents(path):
    return Path(path).read_bytes()


def collection(seed=0):
    """Return arrays of every dtype, some shapes and orders, by name."""
    found = {f"{dtype}": values((3, 4), dtype, seed) for dtype in DTYPES}
    return {**found, "a/b": np.zeros((2, 0, 3)), "0-d": np.array(3.5), "ü 你": np.arange(4)[::2],
            "fortran": np.ones((2, 3)).T, "arr.npy": np.arange(3, dtype="int8"), "": np.ones(1)}


def tensors(seed=0):
    return {name: a for name, a in collection(seed).items() if a.dtype != "complex128"}


def made(shape=(3, 4), dtype="float64", path="x.npy"):
    """A Mat over a new file, with values."""
    x = mat.open_memmap(path, "w+", dtype, shape)
    return x.assign_(mat.array(values(shape, dtype)))
