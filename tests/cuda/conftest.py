"""Fixtures of the tests on the device."""

import pytest

import mat


@pytest.fixture
def dev(cuda):
    """The first device, in use."""
    with mat.use_device("cuda", required=True) as device:
        yield device
