"""Fixtures that tests share: random numbers that are the same every time, and the dtypes; layouts
are in ``placing.py``.
"""

import os

import hypothesis
import numpy as np
import pytest

import mat
from mat.debug.direction_check import CHECK

from .mock_driver.fixtures import cuda
from .support.layouts import BLAS_DTYPES, NUMPY_DTYPES
from .support.mock_memories import alone, registered

__all__ = ["cuda"]

# a slow machine is no failure, and neither is a walk that only one of many runs would take
hypothesis.settings.register_profile("mat", deadline=None, derandomize=True, database=None,
                                     suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
hypothesis.settings.load_profile("mat")


# on which the tests compute, but for those marked `host`
DEVICE = os.environ.get("MAT_TEST_DEVICE", "cpu")


@pytest.fixture(autouse=True)
def on_device(request):
    """Run the test within a block on that device."""
    if DEVICE == "cpu" or request.node.get_closest_marker("host"):
        yield
        return
    if DEVICE.startswith("cuda"):
        request.getfixturevalue("cuda")
    with mat.use_device(DEVICE, required=True):
        yield


CHECKED = bool(CHECK.reports)  # by MAT_DEBUG=directions
# of how many tests one is run: where each takes long, as under a sanitizer
EVERY = int(os.environ.get("MAT_EVERY", "1"))


def pytest_collection_modifyitems(items):
    """Under the direction check, leave out what is about something that it changes."""
    items[:] = items[::EVERY]
    for item in items if CHECKED else ():
        mark = item.get_closest_marker("unchecked")
        if mark is not None:
            item.add_marker(pytest.mark.skip(reason=f"under the direction check: {mark.args[0]}"))


@pytest.fixture(autouse=True)
def told_of_late_uses():
    """Under the direction check, what a test used after its block and was not told of is a failure
    of that test.
    """
    yield
    late = [text for _, text in CHECK.late]
    CHECK.late.clear()
    assert not late


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
