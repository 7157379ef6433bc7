"""What all tests share: options and marks that say which of them run, the device that they compute
on, and fixtures.
"""

import gc
import importlib
import os
import pkgutil
from itertools import count

import hypothesis
import numpy as np
import pytest
from _pytest.runner import runtestprotocol

import mat
import mat.ops
from mat.debug.direction_check import CHECK
from mat.numpy.registry import load_all
from mat.support import c_compiler

from .support import bytecode, selection
from .support.layouts import BLAS_DTYPES, NUMPY_DTYPES
from .support.mock_memories import alone, registered
from .tools.mock_driver import harness
from .tools.mock_driver.fixtures import cuda
from .tools.mock_driver.ptx import interpreter

__all__ = ["cuda"]

DEVICE = os.environ.get("MAT_TEST_DEVICE", "cpu")  # tests compute on it, unless marked `host`
CHECKED = bool(CHECK.reports)  # by MAT_DEBUG=directions
# run one of so many tests: where each takes long, as under a sanitizer
EVERY = int(os.environ.get("MAT_EVERY", "1"))
_FINISHED = count(1)


# Options and marks


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", default=False, help=(
        "run every test: also those marked `slow`, all parameters of those marked `sample`, every "
        "layout of every implementation, and eight times as many random examples"))


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Run the whole suite in two processes, if pytest-xdist is there; ``-n`` says otherwise."""
    whole = config.args_source is not pytest.Config.ArgsSource.ARGS
    worker = hasattr(config, "workerinput")
    unset = config.getoption("numprocesses", 0) is None and config.getoption("dist") == "no"
    if whole and unset and not worker and DEVICE == "cpu" and not config.getoption("usepdb"):
        config.option.numprocesses = 2
        # threads of BLAS would spin on the core of the other process, a fifth of its time
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    # until tests are collected almost all that is made stays, and a third of the time went into
    # looking through it
    gc.disable()
    selection.choose(config.getoption("--all"))
    # the compiler takes half as long for kernels of users
    c_compiler.FLAGS = selection.most(c_compiler.FLAGS, ("-O2", *c_compiler.FLAGS[1:]))
    # and so it does for kernels of devices and the interpreter of PTX, of which few are run
    for module in (harness, interpreter):
        module.FLAGS = selection.most(module.FLAGS, (*module.FLAGS, "-O0"))
    distributes = config.getoption("dist", "no") != "no" and not hasattr(config, "workerinput")
    config.mat_bytecode = bytecode.share_bytecode(distributes)
    if not distributes:
        _load_operations()
    # a slow machine is no failure, and neither is a walk that only one of many runs would take,
    # unless such walks are looked for, by a seed
    seed = os.environ.get("MAT_SEED")
    config.option.hypothesis_seed = seed or config.option.hypothesis_seed
    hypothesis.settings.register_profile(
        "mat", deadline=None, derandomize=not seed, database=None,
        max_examples=selection.examples(100),
        suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
    hypothesis.settings.load_profile("mat")


def _load_operations():
    """Register all operations, so that no test depends on which ones called a function before."""
    load_all()
    for name in dict.fromkeys((*mat._NAMES, *mat._METHODS)):
        mat._plugin(name)
    for module in pkgutil.walk_packages(mat.ops.__path__, "mat.ops."):
        importlib.import_module(module.name)


def pytest_unconfigure(config):
    if getattr(config, "mat_bytecode", None) is not None:
        config.mat_bytecode.cleanup()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give each process of pytest-xdist neighbouring tests, which share what modules remember."""
    if config.getvalue("dist") != "load":
        return None
    from xdist.scheduler import WorkStealingScheduling  # here, since one can do without xdist

    return WorkStealingScheduling(config, log)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session):
    """Divide the compiling of tests among the processes of pytest-xdist."""
    worker = getattr(session.config, "workerinput", None)
    try:
        if worker:
            number = int(worker["workerid"].removeprefix("gw"))
            bytecode.import_tests(session.config.args, number, worker["workercount"])
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc):
    """Make the items of a sample of each test's parameter sets only."""
    yield
    selection.sample(metafunc)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Leave out the tests that are slow, and all but one of MAT_EVERY tests.

    They are drawn by their names, which processes that run them together must agree on.
    """
    for item in items:
        if " at 0x" in item.nodeid:
            raise pytest.UsageError(f"the name of {item.nodeid} has an address: give it ids=")
    items[:], left_out = selection.selected(items)
    drawn = [item for item in items if selection.is_drawn(item.nodeid, EVERY)]
    items[:] = drawn or items[:1]  # no test at all counts as a failure
    config.hook.pytest_deselected(items=left_out)
    for item in items if CHECKED else ():
        mark = item.get_closest_marker("unchecked")
        if mark is not None:
            item.add_marker(pytest.mark.skip(reason=f"under the direction check: {mark.args[0]}"))


def pytest_collection_finish():
    """Have collections of garbage pass over the tests themselves: tests that collect take a tenth
    of the time.
    """
    _freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """Have the processes of pytest-xdist report less, unless times are asked for: three reports of
    a short test take as long as the test, here and where they arrive.
    """
    option = item.config.option
    if not hasattr(item.config, "workerinput") or option.durations is not None or option.xmlpath:
        return None
    where = {"nodeid": item.nodeid, "location": item.location}
    item.ihook.pytest_runtest_logstart(**where)
    for report in selection.told(runtestprotocol(item, log=False, nextitem=nextitem)):
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(**where)
    return True


def pytest_runtest_logfinish():
    """Have collections of garbage pass over what earlier tests have left, too."""
    if next(_FINISHED) % 200 == 0:
        _freeze()


def _freeze():
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    """Fail a test that used a value after its block, where the direction check notices only that
    and has nobody to tell.
    """
    try:
        result = yield
        assert not [text for _, text in CHECK.late]
    finally:
        CHECK.late.clear()
    return result


if DEVICE != "cpu":
    @pytest.fixture(autouse=True)
    def on_device(request):
        """Run the test within a block on that device."""
        if request.node.get_closest_marker("host"):
            yield
            return
        if DEVICE.startswith("cuda"):
            request.getfixturevalue("cuda")
        with mat.use_device(DEVICE, required=True):
            yield


# Fixtures


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
def mocks():
    """Memories of arrays beside the real host."""
    with registered() as world:
        yield world
