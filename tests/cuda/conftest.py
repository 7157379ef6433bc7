"""Fixtures of the tests on the device."""

import importlib

import pytest

import mat
from mat.support import cuda_probe


@pytest.fixture
def dev(cuda):
    """The first device, in use."""
    with mat.use_device("cuda", required=True) as device:
        device.memory.trim()  # blocks of other tests may be larger than what is counted
        yield device


@pytest.fixture
def two_devices(cuda):
    """Skip the test where there is only one."""
    if cuda_probe.probe().devices < 2:
        pytest.skip("there is one device only")


@pytest.fixture
def mock(cuda):
    """The mock driver, which can fail on purpose."""
    if not cuda.is_mock:
        pytest.skip("about the mock driver")
    cuda.delay(False)
    return cuda


@pytest.fixture
def gpu(mock):
    """A device of its own, since its memory is counted."""
    device = importlib.import_module("mat.cuda.runtime.gpu").Gpu(0)
    with device.current():
        yield device
    if not device.lost:
        device.synchronize()
