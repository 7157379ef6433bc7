"""Products of matrices with their own transposes, which BLAS computes by half."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat.support.native import lib

from ..conftest import DEVICE
from ..support.layouts import BLAS_DTYPES, numbers


@pytest.mark.parametrize("dtype", BLAS_DTYPES)
@pytest.mark.parametrize(("shape", "part"), [
    ((40, 33), (slice(None), slice(None))), ((33, 70), (slice(None), slice(None))),
    ((80, 90), (slice(3, 60), slice(5, 52))), ((50, 40), (slice(None), slice(8)))])
def test_products_of_a_matrix_and_its_own_transpose(rng, dtype, shape, part):
    a = numbers(rng, shape, dtype)[part]
    x = mat.array(numbers(rng, shape, dtype))
    x[part] = a
    x = x[part]
    for ours, theirs in ((x.T @ x, a.T @ a), (x @ x.T, a @ a.T)):
        found = np.asarray(ours)
        assert_allclose(found, theirs, rtol=1e-4, atol=1e-4)
        by_half = lib is not None and DEVICE != "cuda"  # cuBLAS computes all of a product
        if by_half and min(ours.shape[0], sum(a.shape) - ours.shape[0]) >= 32:
            assert_array_equal(found, found.T)
    out = mat.full((a.shape[1], a.shape[1]), np.nan, dtype=dtype).T
    mat.matmul(x, x, out, transpose_a=True)
    assert_allclose(np.asarray(out), a.T @ a, rtol=1e-4, atol=1e-4)
    c = numbers(rng, (a.shape[1], a.shape[1]), dtype)
    y = mat.array(c)
    mat.gemm(2, x, x, 0.5, y, transpose_a=True)  # which has no symmetric part to add to
    assert_allclose(np.asarray(y), 2 * (a.T @ a) + 0.5 * c, rtol=1e-4, atol=1e-4)


def test_stacks_of_products_of_matrices_and_their_transposes(rng):
    a = rng.standard_normal((3, 40, 35))
    x = mat.array(a)
    assert_allclose(np.asarray(x.mT @ x), np.swapaxes(a, 1, 2) @ a, rtol=1e-10)
    assert_allclose(np.asarray(x @ x.mT), a @ np.swapaxes(a, 1, 2), rtol=1e-10)
