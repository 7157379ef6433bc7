"""Saves the children that tests fork from loading BLAS."""

import pytest

import mat


@pytest.fixture(scope="session", autouse=True)
def loaded():
    """Load BLAS once, and not in each of the children that tests fork."""
    x = mat.ones((2, 2))
    mat.gemm(1, x, x, 1, mat.axpy(1, x, mat.ones((2, 2))))
