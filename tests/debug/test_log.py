"""The messages of the logger "mat", and NVTX ranges."""

import logging
import os
import subprocess
import sys
import threading
import types

import numpy as np
import pytest

import mat
from mat.debug import nvtx_ranges
from mat.support.log import PENDING

pytestmark = pytest.mark.host


@pytest.fixture
def log(caplog):
    caplog.set_level(logging.INFO, logger="mat")
    return caplog


def messages(log):
    return [r.getMessage() for r in log.records if r.name == "mat"]


def test_evictions(log):
    with mat.use_device("emulated", pool_bytes=100_000):
        pieces = [mat.ones(8000) + 1 for _ in range(2)]
        total = pieces[0].sum() + pieces[1].sum()
    assert total.item() == 32_000
    found = [m for m in messages(log) if m.startswith("evicted 64,000 bytes of ")]
    assert found
    assert "from emulated, to make room at " in found[0]
    assert f"{__file__}:" in found[0]
    assert PENDING == []


def test_evictions_of_parts(log):
    x = mat.array(np.arange(40_000.0)).reshape(4, 10_000)
    with mat.use_device("emulated", pool_bytes=100_000):
        for row in x:
            row += 1
    assert any(m.startswith("evicted 80,000 bytes of ") for m in messages(log))
    assert x[3, 1].item() == 30_002


def test_fallbacks(log):
    x = mat.ones(30)
    with mat.use_device("emulated"):
        np.i0(x)
        np.apply_along_axis(np.sum, 0, x)
        _ = x + 1
    found = messages(log)
    assert len(found) == 2
    assert found[0].startswith("i0 is carried out on the host: emulated has no ")
    assert f"{__file__}:" in found[0]


def test_devices_that_are_absent(log):
    if mat.cuda_available():
        pytest.skip("there is a GPU")
    with mat.use_cuda():
        pass
    assert [m for m in messages(log) if m.startswith("no device 'cuda', the CPU is used: ")]


def test_nothing_is_kept_for_nobody():
    before = logging.getLogger("mat").level
    logging.getLogger("mat").setLevel(logging.WARNING)
    try:
        with mat.use_device("emulated", pool_bytes=100_000):
            _ = [mat.ones(8000) + 1 for _ in range(3)]
            assert PENDING == []
    finally:
        logging.getLogger("mat").setLevel(before)


def test_no_lock_is_held_while_handlers_run():
    """A handler that prints the evicted Mat in another thread would wait for its lock."""
    pieces, printed = [], []

    class Printing(logging.Handler):
        def emit(self, record):
            thread = threading.Thread(target=lambda: printed.append([repr(x) for x in pieces]))
            thread.start()
            thread.join(20)
            assert not thread.is_alive()

    handler, logger = Printing(), logging.getLogger("mat")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        with mat.use_device("emulated", pool_bytes=100_000):
            for _ in range(3):
                pieces.append(mat.ones(8000) + 1)  # noqa: PERF401  # each is seen by the handler
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
    assert len(printed) >= 2


@pytest.mark.parametrize(("native", "code", "output"), [
    ("0", "import logging, sys; logging.basicConfig(level=20, stream=sys.stdout); import mat",
     "INFO:mat:no compiled kernels: "),
    ("", "import mat, sys; use = mat.use_device('emulated', pool_bytes=100_000)\n"
         "with use: [mat.ones(8000) + 1 for _ in range(3)]\n"
         "print('logging' in sys.modules)", "False")])
@pytest.mark.sample(2)
def test_missing_kernels_and_logging_that_nobody_imported(native, code, output):
    environment = {**os.environ, "MAT_NATIVE": native, "MAT_DEBUG": ""}
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True,
                          text=True, check=True, env=environment)
    assert done.stdout.startswith(output)


# NVTX


class Fake(types.ModuleType):
    """A double for the package, which notes its calls."""

    def __init__(self):
        super().__init__("nvtx")
        self.calls = []

    def push_range(self, message, color, domain):
        self.calls.append(("push", message, domain))

    def pop_range(self, domain):
        self.calls.append(("pop", domain))

    def start_range(self, message, color, domain):
        self.calls.append(("start", message, domain))
        return len(self.calls)

    def end_range(self, number):
        self.calls.append(("end", self.calls[number - 1][1]))


def test_ranges_of_operations_and_copies(monkeypatch):
    fake = Fake()
    monkeypatch.setitem(sys.modules, "nvtx", fake)
    x, y = mat.ones(3).fill_(2), mat.zeros(3)
    with mat.debug.nvtx_ranges(), mat.use_device("emulated"):
        y.axpy_(1.0, x)
        with pytest.raises(mat.LinAlgError):
            mat.cholesky(mat.zeros(2, 2) - 1)
    copy = "copy from host to emulated, 24 bytes"
    at = fake.calls.index(("start", copy, "mat"))
    assert fake.calls[at + 1] == ("end", copy)
    at = fake.calls.index(("push", "axpy on emulated", "mat"))
    assert fake.calls[at + 1] == ("pop", "mat")
    kinds = [call[0] for call in fake.calls]
    assert kinds.count("push") == kinds.count("pop") >= 3
    assert kinds.count("start") == kinds.count("end")


def test_without_the_package(monkeypatch):
    monkeypatch.setattr(nvtx_ranges.__globals__["library"].__globals__["importlib"],
                        "import_module", missing)
    with pytest.raises(mat.SettingError, match="pip install nvtx"), mat.debug.nvtx_ranges():
        pass


def missing(name):
    raise ModuleNotFoundError(name, name=name)


def test_the_package_itself():
    pytest.importorskip("nvtx")
    with mat.debug.nvtx_ranges(), mat.use_device("emulated"):
        assert (mat.ones(3) + 1).sum().item() == 6
