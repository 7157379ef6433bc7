"""Later calls of BLAS on the device, which compiled code makes by the addresses of cuBLAS's
functions: their results, and what happens where they fail.
"""

import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mat
from mat import DeviceError

from ..support.layouts import BLAS_DTYPES

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

types = pytest.mark.parametrize(("dtype", "letter"), list(zip(BLAS_DTYPES, "SDCZ", strict=True)))


@pytest.fixture(autouse=True)
def device(cuda):
    with mat.use_device("cuda", required=True):
        yield cuda


@types
def test_products(device, rng, dtype, letter):
    a, b, c = (rng.standard_normal(shape).astype(dtype) for shape in ((3, 4), (4, 5), (3, 5)))
    x, y, z = (mat.array(each) for each in (a, b, c))
    alpha, beta = (2 + 1j, 1 - 2j) if dtype.startswith("complex") else (2.0, 0.5)
    for k in range(4):  # from the second one on without Python
        if k == 2:
            device.fail(f"cublas{letter}gemm", status=3)  # and once more
        mat.gemm(alpha, x, y, beta, z)
        c = alpha * (a @ b) + beta * c
    assert_allclose(z.to_numpy(), c, rtol=1e-4)
    z.fill_(np.nan)
    mat.gemm(1.0, x, y, -0.0, z)  # which does not read what it overwrites
    assert_allclose(z.to_numpy(), a @ b, rtol=1e-4)
    device.fail(f"cublas{letter}gemm", status=13)
    with pytest.raises(DeviceError, match="CUBLAS_STATUS_EXECUTION_FAILED"):
        mat.gemm(alpha, x, y, beta, z)


@types
@pytest.mark.parametrize(("one", "other", "routine"), [
    ((3, 4), (4, 5), "gemm"), ((3, 4), (4,), "gemv"), ((4,), (4, 5), "gemv")])
def test_matmul(device, rng, dtype, letter, one, other, routine):
    a, b = (rng.standard_normal(shape).astype(dtype) for shape in (one, other))
    x, y, out = mat.array(a), mat.array(b[::-1])[::-1], mat.empty((a @ b).shape, dtype=dtype)
    for k in range(5):  # from the second one on without Python
        out.fill_(np.nan)
        if k > 2:
            device.fail(f"cublas{letter}{routine}", status=3)  # and once more
        assert_allclose((x @ y).to_numpy(), a @ b, rtol=1e-4)
        assert_allclose(mat.matmul(x, y, out=out).to_numpy(), a @ b, rtol=1e-4)
    device.fail(f"cublas{letter}{routine}", status=13)
    with pytest.raises(DeviceError, match="CUBLAS_STATUS_EXECUTION_FAILED"):
        mat.matmul(x, y, out=out)


@types
def test_vectors(device, rng, dtype, letter):
    alpha = 2 + 1j if dtype.startswith("complex") else 2
    a, b = (rng.standard_normal(20).astype(dtype) for _ in range(2))
    x, y = mat.array(a)[::-2], mat.array(b)[:10]
    a, b = a[::-2], b[:10]
    for k in range(4):  # from the second one on without Python
        if k == 2:
            device.fail(f"cublas{letter}scal", status=3)  # and once more
            if letter in "CZ":  # a kernel of ours updates real vectors
                device.fail(f"cublas{letter}axpy", status=3)
        mat.axpy(alpha, x, y)
        mat.scal(alpha, x)
        a, b = alpha * a, b + alpha * a
    assert_allclose(y.to_numpy(), b, rtol=1e-4)
    assert_allclose(x.to_numpy(), a, rtol=1e-4)
    device.fail(f"cublas{letter}scal", status=13)
    with pytest.raises(DeviceError, match="CUBLAS_STATUS_EXECUTION_FAILED"):
        mat.scal(alpha, x)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("factors", [False, True])
def test_16_bit_products(device, rng, dtype, factors):
    """At any call cuBLAS may not support what it did before: our kernel takes its place."""
    a, b = (rng.standard_normal(shape).astype("f") for shape in ((6, 7), (7, 5)))
    x, y, out = mat.array(a).astype(dtype), mat.array(b).astype(dtype), mat.zeros(6, 5, dtype=dtype)
    before = device.calls("cublasGemmEx")
    for status in (0, 0, 0, 3, 15, 0):
        if status:
            device.fail("cublasGemmEx", status=status)
        if factors:
            mat.gemm(2, x, y, 0, out)
        else:
            mat.matmul(x, y, out=out)
        assert_allclose(out.astype("float32").to_numpy(), (1 + factors) * (a @ b), rtol=0.1,
                        atol=0.1)
    assert device.calls("cublasGemmEx") == before + 7
    device.fail("cublasGemmEx", status=13)
    with pytest.raises(DeviceError, match="CUBLAS_STATUS_EXECUTION_FAILED"):
        mat.matmul(x, y, out=out)


def test_products_in_a_thread_without_a_context(device, rng):
    a, v = rng.standard_normal((3, 3)), rng.standard_normal(3)
    x, y = mat.array(a), mat.array(v)
    found = []

    def multiply():
        with mat.use_device("cuda", required=True):
            found.append((x @ y).to_numpy())

    for _ in range(3):
        thread = threading.Thread(target=multiply)
        thread.start()
        thread.join()
    assert_allclose(found, [a @ v] * 3)
