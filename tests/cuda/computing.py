"""Helpers of the tests of Mats on a GPU: bring Mats there and compute with them there."""

import pytest

import mat

DTYPES = ["float32", "float64", "complex64", "complex128", "float16", "bfloat16", "int8", "uint16",
          "int32", "int64", "bool"]


def there(x):
    """Copy `x` to the device; return what its facet presents there."""
    with x.facet("cuda", "input") as a:
        return a


def only_there(x):
    """Return `x`, which is on the device only now."""
    with x.facet("cuda", "io"):
        return x


TEXT = """
#include "device.cuh"
struct sizes { int64_t n; };
MAT_KERNEL(line, sizes, 256) {  // y = a * x + b
    int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
    const double *x = (const double *)call.at[0];
    double *y = (double *)call.at[1];
    if (i < frame.n) y[i] = call.numbers[0] * x[i] + call.numbers[2];
}
"""


def launch(x, y, a, b):
    module = pytest.importorskip("mat.cuda.engine")
    kernel = module.CudaKernel(module.Program(TEXT), "line", (x.size,), (-(-x.size // 256), 1, 1),
                               (256, 1, 1))
    kernel.bind((2, 3), (0, 1))(a, b, x, y)


def add(x, by=1):
    """Compute ``x += by`` by a kernel of the tests."""
    with x.facet("cuda", "io") as a:
        launch(a, a, 1, by)
    return x


def times(x, by):
    """Return ``x * by``, computed by a kernel of the tests."""
    y = mat.zeros(*x.shape)
    with x.facet("cuda", "input") as a, y.facet("cuda", "output") as b:
        launch(a, b, by, 0)
    return y
