"""The fixture `cuda`: devices to compute on, of the mock driver or, with MAT_TEST_CUDA=1, real.

A test with this fixture finds two devices, and fails after an error that a GPU may not report.
Other tests find the devices of the machine. With MAT_MOCK=required a test fails where it would be
skipped. With MAT_MOCK_DELAY=1 queued work is done only when something waits for it, and
MAT_MOCK_SEED is a seed that shuffles the threads of kernels, for all tests. With MAT_MOCK_RACES=1
kernels are compiled to look for races (races.hpp).
"""

import os
from functools import cache
from importlib import import_module

import pytest

from mat.support import cuda_probe as ours
from mat.support.cuda_probe import CudaProbe

from .cache import scratch
from .driver import Compiler, cublas, load_driver, missing
from .harness import SEED

_ask = ours._probe.__wrapped__  # without its memory, which is for one driver; here there are two
_compiler = Compiler()
_really = []  # the devices of the machine


class Real:
    """In place of control over the driver, where a real GPU is used: what only a mock driver can
    do skips the test.
    """

    is_mock = False

    def faults(self):
        return []

    def forget(self):
        pass

    def delay(self, delayed=True):
        pass  # it always works while the host goes on

    def seed(self, seed):
        pass  # its threads are in no order

    def __getattr__(self, name):
        pytest.skip(f"only the mock driver can do this: {name}")


def cuda_is_real():
    """Check whether tests are to run on a real GPU."""
    return os.environ.get("MAT_TEST_CUDA") == "1"


def really():
    """Return the devices of the machine: `CudaProbe`."""
    if not _really:
        _really.append(ours.probe())
    return _really[0]


def _unavailable(reason):
    if os.environ.get("MAT_MOCK") == "required":
        pytest.fail(f"the mock driver is required: {reason}")
    pytest.skip(reason)


@pytest.fixture
def cuda(monkeypatch):
    """Control over the driver: the mock driver (`Driver`), or `Real`."""
    if cuda_is_real():
        if not ours.probe().devices:
            _unavailable(f"MAT_TEST_CUDA is set, but: {ours.probe().reason}")
        yield Real()
        return
    reason = missing() or (really().version and "there is a driver, which MAT_TEST_CUDA=1 uses")
    if reason:
        _unavailable(reason)
    monkeypatch.setenv("MAT_CACHE", str(scratch() / "cubins"))
    with mock_driver() as driver:
        monkeypatch.setenv("MAT_CUBLAS", str(cublas()))
        yield driver


class mock_driver:
    """A block with two mock devices, whose programs the C++ compiler compiles."""

    def __enter__(self):
        really()
        self.driver = load_driver()
        self.driver.forget()
        self.driver.configure()
        self.driver.seed(SEED)
        self.driver.delay(os.environ.get("MAT_MOCK_DELAY") == "1")
        ours._probe = cache(_ask)
        ours.probe()  # which also starts the driver
        self.programs = import_module("mat.cuda.runtime.nvrtc")
        self.compiler, self.programs.COMPILER = self.programs.COMPILER, _compiler
        return self.driver

    def __exit__(self, kind, error, trace):
        self.driver.delay(False)
        faults = self.driver.faults() + [f"programs() of its module should list {p}"
                                         for p in _compiler.unlisted]
        _compiler.unlisted.clear()
        self.programs.COMPILER = self.compiler
        self.driver.forget()
        self.driver.configure(devices=0)
        found: CudaProbe = really()
        ours._probe = lambda process: found
        if kind is None and faults:
            pytest.fail("errors that a GPU may not report:\n" + "\n".join(faults))
