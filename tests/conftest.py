"""Fixtures that tests share: random numbers that are the same every time, and the dtypes; layouts are in ``placing.py``."""

import numpy as np
import pytest

from .placing import BLAS_DTYPES, NUMPY_DTYPES


@pytest.fixture
def rng():
    return np.random.default_rng(20260101)


@pytest.fixture(params=BLAS_DTYPES)
def blas_dtype(request):
    """Each dtype that BLAS knows."""
    return request.param


@pytest.fixture(params=NUMPY_DTYPES)
def numpy_dtype(request):
    """Each dtype but bfloat16."""
    return request.param
