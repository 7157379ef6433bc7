"""Products of many small matrices by the kernel that multiplies them instead of BLAS."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.cpu.blas_kernels import LEAST, SIDE
from mat.support.native import lib

from ..ops.test_blas_calls import calls_of
from ..support.layouts import check_hidden, numbers, place

pytestmark = pytest.mark.skipif(lib is None, reason="BLAS computes what is not compiled")
# whole and broken vectors of 4, 8 and 2 rows, columns besides fours
SIZES = (1, 1, 1), (4, 4, 4), (8, 8, 8), (3, 5, 7), (16, 16, 16), (13, 2, 11), (7, 15, 6), (2, 9, 1)
DTYPES = "float32", "float64"


def bound_of(a, b):
    return 20 * np.finfo(a.dtype).eps * (np.abs(a).astype("float64") @ np.abs(b))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sizes", SIZES)
def test_products_of_all_transposes(sizes, dtype):
    """Also with one matrix for all, in several axes, and into what is stored by columns."""
    (m, k, n), rng = sizes, np.random.default_rng(0)
    a, b = numbers(rng, (3, 5, m, k), dtype), numbers(rng, (3, 5, k, n), dtype)
    wanted = a.astype("float64") @ b
    stored = (lambda x: mat.array(x)), (lambda x: mat.array(x.swapaxes(-1, -2).copy()).mT)
    for left in stored:
        for right in stored:
            x, y = left(a), right(b)
            assert (np.abs((x @ y).to_numpy() - wanted) <= bound_of(a, b)).all()
            for to in stored:
                out = to(np.full((3, 5, m, n), np.nan, dtype))
                mat.matmul(x, y, out=out)
                assert (np.abs(out.to_numpy() - wanted) <= bound_of(a, b)).all()
            found = (x[::-1, 1:4] @ y[:, :1][::-1]).to_numpy()
            assert (np.abs(found - a[::-1, 1:4].astype("float64") @ b[::-1, :1])
                    <= bound_of(a[::-1, 1:4], b[::-1, :1])).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", ["packed", "displaced", "block"])
@pytest.mark.parametrize("factors", [(1, 0), (2, -0.5), (0, 3), (0, 0)])
def test_factors(rng, dtype, layout, factors):
    alpha, beta = factors
    a, b, c = (numbers(rng, shape, dtype) for shape in ((9, 6, 5), (9, 5, 7), (9, 6, 7)))
    y = place(c, layout)
    if beta == 0:
        y.fill_(np.nan)  # which is not read
    mat.gemm_batched(alpha, mat.array(a), mat.array(b), beta, y)
    wanted = alpha * (a.astype("float64") @ b) + beta * c
    bound = abs(alpha) * bound_of(a, b) + 8 * np.finfo(dtype).eps * np.abs(beta * c)
    assert (np.abs(y.to_numpy() - wanted) <= bound).all()
    check_hidden(y)


@pytest.mark.parametrize("dtype", DTYPES)
def test_threads_do_not_matter(rng, dtype):
    x, y = (mat.array(numbers(rng, (20_000, 4, 4), dtype)) for _ in range(2))
    found = []
    for threads in (1, 2, 5):
        with mat.settings(threads=threads):
            found.append((x @ y).to_numpy())
    assert_array_equal(found[0], found[1])
    assert_array_equal(found[0], found[2])
    assert_array_equal(found[0][7:7 + LEAST], x[7:7 + LEAST] @ y[7:7 + LEAST])


def test_what_is_left_to_blas():
    def calls(count, m, k, n, dtype="float64"):
        x, y = mat.ones(count, m, k, dtype=dtype), mat.ones(count, k, n, dtype=dtype)
        return len(calls_of(lambda: x @ y)[0])

    assert not calls(LEAST, SIDE, SIDE, SIDE)
    assert calls(LEAST - 1, SIDE, SIDE, SIDE)
    assert calls(LEAST, SIDE, SIDE + 1, SIDE)
    assert calls(LEAST, 4, 4, 4, "complex128")


def test_what_is_not_finite(rng):
    a, b = rng.standard_normal((2, 9, 6, 6))
    a[3, 2, 1], a[5, 0, 0], b[8, 1, 1] = np.inf, np.nan, -np.inf
    with np.errstate(invalid="ignore"):
        found, wanted = (mat.array(a) @ mat.array(b)).to_numpy(), a @ b
    assert_array_equal(np.isfinite(found), np.isfinite(wanted))
    special = ~np.isfinite(wanted)
    assert_array_equal(found[special], wanted[special])
