"""Fixtures that tests share: random numbers that are the same every time, and the dtypes; layouts are in ``placing.py``."""

import hypothesis
import numpy as np
import pytest

from .fake.fixtures import cuda
from .placing import BLAS_DTYPES, NUMPY_DTYPES
from .pretend import alone, registered

__all__ = ["cuda"]

# a slow machine is no failure, and neither is a walk that only one of many runs would take
hypothesis.settings.register_profile("mat", deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("mat")


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


@pytest.fixture
def world():
    """Memories of lists, with nothing of NumPy beside them."""
    with alone() as world:
        yield world


@pytest.fixture
def places():
    """Memories of arrays beside the real host."""
    with registered() as world:
        yield world
