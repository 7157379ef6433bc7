"""Factors of matrices for which a GPU has no room."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mat

pytestmark = pytest.mark.usefixtures("cuda")


def device(pool):
    return mat.use_device("cuda", required=True, pool_bytes=pool)


@pytest.mark.parametrize("dtype", "dF")
def test_cholesky(dtype):
    rng = np.random.default_rng(0)
    g = rng.standard_normal((2, 50, 50)) + (1j * rng.standard_normal((2, 50, 50))
                                            if dtype == "F" else 0)
    a = (g @ g.conj().swapaxes(-1, -2) + 9 * np.eye(50)).astype(dtype)
    with device(12_000), mat.debug.trace() as t:
        found = mat.linalg.cholesky(mat.array(a))
    assert "cholesky" in [cut.operation for cut in t.tiled]
    assert_allclose(found.to_numpy(), np.linalg.cholesky(a), atol=1e-11 if dtype == "d" else 1e-3)


def test_solutions_and_determinants():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((60, 60)), rng.standard_normal((60, 5))
    with device(16_000), mat.debug.trace() as t:
        x = mat.linalg.solve(mat.array(a), mat.array(b))
        y = mat.linalg.inv(mat.array(a))
        sign, logarithm = mat.slogdet(mat.array(a))
    assert {"solve", "inv", "slogdet"} <= {cut.operation for cut in t.tiled}
    assert_allclose(x.to_numpy(), np.linalg.solve(a, b), atol=1e-9)
    assert_allclose(y.to_numpy(), np.linalg.inv(a), atol=1e-9)
    assert_allclose((sign, logarithm), np.linalg.slogdet(a))


@pytest.mark.parametrize("dtype", "dD")
def test_qr(dtype):
    rng = np.random.default_rng(0)
    a = rng.standard_normal((60, 40)) + (1j * rng.standard_normal((60, 40)) if dtype == "D" else 0)
    with device(16_000), mat.debug.trace() as t:
        q, r = mat.linalg.qr(mat.array(a))
    assert [cut.operation for cut in t.tiled] == ["qr"]
    for found, wanted in zip((q, r), np.linalg.qr(a), strict=True):
        assert_allclose(found.to_numpy(), wanted, atol=1e-11)
