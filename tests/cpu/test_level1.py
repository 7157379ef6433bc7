"""The kernels for long vectors, instead of BLAS from a size on, compared with NumPy in longer
precision.
"""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat.cpu.blas_kernels import BLOCK, LONG, is_long

from ..support.needs import native

pytestmark = native
FLOATS = ("float32", "float64")
LENGTHS = (LONG, LONG + 1, LONG + BLOCK - 1, 2 * LONG + 12345)


@pytest.fixture(params=(1, 3))
def threads(request):
    with mat.settings(threads=request.param):
        yield request.param


def vectors(rng, n, dtype):
    a, b = rng.standard_normal(n).astype(dtype), rng.standard_normal(n).astype(dtype)
    return a, b, mat.array(a), mat.array(b)


def test_from_when_on():
    assert is_long("f", LONG, 1, 1)
    assert not is_long("f", LONG - 1, 1)
    assert not is_long("d", LONG, 1, 2)
    assert not is_long("D", LONG, 1)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", LENGTHS)
def test_updates(rng, threads, n, dtype):
    a, b, x, y = vectors(rng, n, dtype)
    eps = np.finfo(dtype).eps
    assert_allclose(mat.axpy(1.7, x, y).to_numpy(), np.asarray(1.7, dtype) * a + b, rtol=2 * eps,
                    atol=4 * eps)
    assert_array_equal(mat.scal(-3, x).to_numpy(), -3 * a)
    assert_array_equal(mat.blas.copy(y, x).to_numpy(), y.to_numpy())
    z = mat.array(a)
    kept = x.to_numpy()
    assert mat.swap(z, x) is x
    assert_array_equal(x.to_numpy(), a)
    assert_array_equal(z.to_numpy(), kept)
    assert_array_equal(mat.axpy(2, z, z).to_numpy(),
                       3 * kept if dtype == "float64" else kept + 2 * kept)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", LENGTHS)
def test_sums(rng, threads, n, dtype):
    a, b, x, y = vectors(rng, n, dtype)
    exact = a.astype(np.longdouble), b.astype(np.longdouble)
    bound = 16 * np.finfo(np.float64).eps
    terms = float(np.abs(exact[0] * exact[1]).sum())
    exact_sum = float((exact[0] * exact[1]).sum())
    assert mat.blas.dot(x, y) == pytest.approx(exact_sum, abs=bound * terms)
    assert mat.asum(x) == pytest.approx(float(np.abs(exact[0]).sum()), rel=bound)
    assert mat.nrm2(x) == pytest.approx(float(np.sqrt((exact[0] ** 2).sum())), rel=bound)
    assert type(mat.blas.dot(x, y)) is type(mat.asum(x)) is type(mat.nrm2(x)) is float


def test_sums_do_not_depend_on_threads(rng):
    _, _, x, y = vectors(rng, LONG + 777, "float64")
    found = []
    for threads in (1, 2, 3, 7):
        with mat.settings(threads=threads):
            found.append((mat.blas.dot(x, y), mat.asum(x), mat.nrm2(x)))
    assert set(found) == {found[0]}


@pytest.mark.parametrize("scale", [0.0, 1e-300, 5e-324, 1e-160, 1e160, 1e300])
def test_norms_neither_overflow_nor_underflow(rng, scale):
    a = rng.uniform(0.5, 1, LONG) * scale
    largest = a.max()
    wanted = largest * math.sqrt(((a / largest) ** 2).sum()) if largest else 0.0
    assert mat.nrm2(mat.array(a)) == pytest.approx(wanted, rel=1e-13)


def test_norms_of_float32_neither_overflow_nor_underflow(rng):
    for scale in (1e-40, 1e-30, 1e30, 1e38):
        a = (rng.uniform(0.5, 1, LONG) * scale).astype("float32")
        assert mat.nrm2(mat.array(a)) == pytest.approx(np.sqrt((a.astype(np.float64) ** 2).sum()),
                                                       rel=1e-13)


@pytest.mark.parametrize("dtype", FLOATS)
def test_specials(dtype):
    a = np.ones(LONG + 5, dtype)
    for at in (0, 7, LONG, LONG + 4):
        for special in (np.inf, -np.inf, np.nan):
            b = a.copy()
            b[at] = special
            x, y = mat.array(b), mat.array(a)
            assert_array_equal([mat.blas.dot(x, y), mat.asum(x), mat.nrm2(x)],
                               [special, abs(special), abs(special)])
            assert_array_equal(mat.axpy(0, x, y).to_numpy(), a)


def test_parts_of_vectors(rng):
    a, b, x, y = vectors(rng, 3 * LONG, "float64")
    mat.axpy(1.5, x, y, n=LONG)
    b[:LONG] += 1.5 * a[:LONG]
    assert_allclose(y.to_numpy(), b, rtol=1e-15, atol=1e-15)
    assert mat.blas.dot(x, y, n=LONG) == pytest.approx(a[:LONG] @ b[:LONG], rel=1e-10, abs=1e-10)
    assert mat.blas.dot(x, y, incx=2, incy=-2) == pytest.approx(a[::2] @ b[::2][::-1], rel=1e-10,
                                                                abs=1e-9)
    assert mat.asum(x[1::2]) == pytest.approx(np.abs(a[1::2]).sum(), rel=1e-12)
    assert mat.nrm2(x[::-1]) == pytest.approx(np.linalg.norm(a), rel=1e-12)
    view = x[5:5 + LONG]
    mat.scal(2, view)
    a[5:5 + LONG] *= 2
    assert_array_equal(x.to_numpy(), a)
