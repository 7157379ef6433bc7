"""Products of a tall matrix and one of few columns: the kernel that reads the tall one once."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.cpu import blas_kernels
from mat.support.native import lib

from ..support.layouts import check_hidden, numbers, place

pytestmark = pytest.mark.skipif(lib is None, reason="BLAS computes what is not compiled")
# those that BLAS takes without a copy
MATRICES = ("packed", "displaced", "transposed", "block", "block_of_transposed")
# rows, depth, columns: whole and broken vectors of 4 and 8, rows besides threes, columns besides
# fours, and more than is packed at a time
SIZES = (200, 1024, 2), (2001, 33, 5), (5000, 8, 9), (70, 4097, 3), (64, 2100, 16), (301, 1030, 7)
DTYPES = "float32", "float64"


@pytest.fixture
def prepared(monkeypatch):
    """The kernels that were prepared in the place of BLAS, or None for BLAS."""
    found = []
    prepare = blas_kernels.prepare_thin

    def noted(*args):
        found.append(prepare(*args))
        return found[-1]

    monkeypatch.setattr(blas_kernels, "prepare_thin", noted)
    return found


@pytest.mark.sample(6)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("layout", MATRICES)
@pytest.mark.parametrize("factors", [(1, 0), (2, -0.5), (0, 3)])
def test_against_numpy(sizes, dtype, mirrored, layout, factors):
    (m, k, n), (alpha, beta) = sizes, factors
    rng = np.random.default_rng(0)
    tall, thin, c = (numbers(rng, shape, dtype) for shape in ((m, k), (k, n), (m, n)))
    x, w, y = place(tall, "block"), place(thin, layout), place(c, layout)
    if mirrored:
        mat.gemm(alpha, w.T, x.T, beta, y.T)
    else:
        mat.gemm(alpha, x, w, beta, y)
    wanted = alpha * (tall.astype("float64") @ thin) + beta * c
    bound = abs(alpha) * (np.abs(tall).astype("float64") @ np.abs(thin)) + np.abs(beta * c)
    error = np.abs(y.to_numpy() - wanted)
    assert (error <= 32 * np.finfo(dtype).eps * bound).all()
    check_hidden(y)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sizes", SIZES)
def test_the_same_bits_for_all_numbers_of_threads_and_rows(sizes, dtype, prepared):
    m, k, n = sizes
    rng = np.random.default_rng(0)
    x, w = mat.array(numbers(rng, (m, k), dtype)), mat.array(numbers(rng, (k, n), dtype))
    found = []
    for threads in (1, 2, 5):
        with mat.settings(threads=threads):
            found.append((x @ w).to_numpy())
    for other in found[1:]:
        assert_array_equal(found[0], other)
    rows = m - 4 if n * k * (m - 4) > 64**3 and m > 68 else m
    assert_array_equal(found[0][:rows], x[:rows] @ w)
    assert prepared
    assert None not in prepared


def test_what_is_left_to_blas(prepared):
    def is_thin(x, w):
        prepared.clear()
        x @ w
        return any(prepared)

    x, w = mat.ones(1000, 300), mat.ones(300, 8)
    assert is_thin(x, w)
    assert is_thin(x.T.copy().T[:], w) is False  # columns are adjacent
    assert is_thin(x[:100], w) is False  # too few products
    assert is_thin(x, mat.ones(300, 17)) is False
    assert is_thin(x.astype("complex128"), w.astype("complex128")) is False
    assert is_thin(x[:, :1], mat.ones(1, 8)) is False


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_not_finite(dtype):
    x, w, y = (mat.ones(*shape, dtype=dtype) for shape in ((1000, 301), (301, 8), (1000, 8)))
    y.fill_(np.nan)
    assert_array_equal(mat.gemm(1, x, w, 0, y), np.full((1000, 8), 301))  # C is not read
    x[3, 300] = np.inf
    x[4, 0] = np.nan
    wanted = x.to_numpy() @ w.to_numpy()
    assert_array_equal(x @ w, wanted)
    assert_array_equal(mat.gemm(0, x, w, 2, y), np.full((1000, 8), 602))  # A and B are not
