"""What CUDA is there, or why none is; and how processes end, fork and are interrupted while a
device is in use.
"""

import importlib
import os
import re
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import mat
from mat.errors import DeviceError
from mat.support import cuda_probe as ours

from . import computing as memory

pytestmark = pytest.mark.host

ROOT = Path(__file__).parents[2]

SCRIPT = """
import atexit, os, sys, threading
import numpy as np
import mat
from tests.tools.mock_driver.fixtures import mock_driver
driver = mock_driver()
cuda = driver.__enter__()
def faults():
    for fault in cuda.faults():
        print("FAULT", fault)
atexit.register(faults)  # runs after what is registered later
from tests.cuda.computing import add, there, times
block = mat.use_device("cuda", required=True)
dev = block.__enter__()
x = mat.from_numpy(np.ones(1000))
{body}
print("done")
"""


@pytest.fixture
def script(cuda):
    """Runs a script that has `x` on a mock device in use; gives what it printed, and must end
    well and in silence.
    """
    if not cuda.is_mock:
        pytest.skip("about the mock driver")

    def run(body, rc=0):
        done = subprocess.run([sys.executable, "-c", SCRIPT.format(body=body)], capture_output=True,
                              text=True, timeout=120,
                              cwd=ROOT, check=False,
                              env={**os.environ, "PYTHONFAULTHANDLER": "1"})
        assert done.returncode == rc, done.stderr
        assert done.stderr == "" or rc
        assert "FAULT" not in done.stdout
        return done.stdout
    return run


# What is there


class MockBindings(types.ModuleType):
    """A module ``cuda.bindings.driver`` that says what it is told to."""

    def __init__(self, status=0, version=13000, devices=1, raises=None, capability=(9, 0)):
        super().__init__("cuda.bindings.driver")
        self.capability = capability
        self.answers, self.raises = (status, version, devices), raises

    def cuInit(self, flags):
        if self.raises:
            raise self.raises
        return (self.answers[0],)

    def cuDriverGetVersion(self):
        return 0, self.answers[1]

    def cuDeviceGetCount(self):
        return 0, self.answers[2]

    def cuDeviceGet(self, number):
        return 0, number

    def CUdevice_attribute(self, kind):
        return kind

    def cuDeviceGetAttribute(self, kind, device):
        return 0, self.capability[kind - 75]

    def CUresult(self, status):
        return status

    def cuGetErrorName(self, status):
        return 0, {3: b"CUDA_ERROR_NOT_INITIALIZED", 999: b"CUDA_ERROR_UNKNOWN"}.get(status)

    def cuGetErrorString(self, status):
        return 0, b"in words"


@pytest.mark.parametrize(("there", "devices", "reason"), [
    (MockBindings(devices=3), 3, ""),
    (MockBindings(capability=(7, 5)), 1, ""),
    (MockBindings(capability=(7, 0)), 0, r"too old: its compute capability is 7\.0"),
    (MockBindings(raises=ValueError("9999 is not a valid CUresult")), 0, "does not start: 9999"),
    (MockBindings(raises=ValueError("of another kind")), 0, "of another kind"),
    (MockBindings(devices=0), 0, "no NVIDIA GPU"),
    (MockBindings(status=100), 0, "no NVIDIA GPU"),
    (MockBindings(version=12040), 0, r"too old: it is for CUDA 12\.4"),
    (MockBindings(status=3), 0, r"CUDA_ERROR_NOT_INITIALIZED \(in words\); a process forked"),
    (MockBindings(status=999), 0, "CUDA_ERROR_UNKNOWN"),
    (MockBindings(status=12345), 0, "12345"),
    (MockBindings(raises=RuntimeError("no libcuda.so.1\n to be found")), 0,
     "no NVIDIA driver: no libcuda.so.1 to be found"),
    (ImportError("No module named 'cuda'"), 0, "cuda-python is not installed"),
])
def test_the_probe(monkeypatch, there, devices, reason):
    def import_module(name):
        if isinstance(there, Exception):
            raise there
        return there if name.endswith("driver") else types.SimpleNamespace(__version__="13.5.0")

    monkeypatch.setattr(importlib, "import_module", import_module)
    found = ours._probe_driver()
    assert found.devices == devices
    assert (found.reason == "") == (reason == "")
    assert re.search(reason, found.reason)


@pytest.mark.parametrize(("gpus", "visible", "version", "there"), [
    (2, None, 13000, True), (0, None, 13000, False), (2, None, 12040, False),
    (2, "", 13000, False), (2, "-1", 13000, False), (2, "1", 13000, True), (2, "2", 13000, False),
    (2, "5,0", 13000, False), (2, "0,5", 13000, True), (2, "GPU-8932f937", 13000, True),
    (2, "no", 13000, False)])
def test_what_is_listed_is_found_without_a_start(monkeypatch, tmp_path, gpus, visible, version,
                                                there):
    def import_module(name):
        driver = MockBindings(version=version, raises=AssertionError("it was started"))
        return driver if name.endswith("driver") else types.SimpleNamespace(__version__="13.5.0")

    for k in range(gpus):
        (tmp_path / f"0000:0{k}:00.0").mkdir()
    monkeypatch.setattr(importlib, "import_module", import_module)
    monkeypatch.setattr(ours, "_started", set())
    monkeypatch.setattr(ours, "LISTED", tmp_path)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert mat.cuda_available() == there
    assert not ours._started


def test_a_driver_that_cannot_be_loaded_is_none(monkeypatch, tmp_path):
    (tmp_path / "0000:01:00.0").mkdir()
    monkeypatch.setattr(ours, "_started", set())
    monkeypatch.setattr(ours, "LISTED", tmp_path)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    def import_module(name):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", import_module)
    assert not mat.cuda_available()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_child_may_use_cuda_after_its_parent_has_asked_for_it(cuda, tmp_path):
    if not cuda.is_mock:
        pytest.skip("about the mock driver")
    (tmp_path / "0000:01:00.0").mkdir()
    code = f"""
import os
from pathlib import Path
import mat
from mat.support import cuda_probe
from tests.tools.mock_driver import fixtures
cuda_probe.LISTED = Path({str(tmp_path)!r})
fixtures._really.append(cuda_probe.CudaProbe(0))
fixtures.load_driver()
assert mat.cuda_available()
child = os.fork()
if child == 0:
    with fixtures.mock_driver() as driver, mat.use_device("cuda", required=True):
        ok = float((mat.ones(5) + 1).sum()) == 10
    os._exit(0 if ok else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          timeout=120, cwd=ROOT, check=False,
                          env={**os.environ, "CUDA_VISIBLE_DEVICES": "0"})
    assert done.stdout == "0\n", done.stderr


def test_a_gpu_that_is_too_old_says_so(cuda):
    if not cuda.is_mock:
        pytest.skip("about the mock driver")
    cuda.capability(1, 70)
    gpu_type = importlib.import_module("mat.cuda.runtime.gpu").Gpu
    with pytest.raises(DeviceError, match=r"device 1: the GPU is too old: .* is 7\.0"):
        gpu_type(1)
    cuda.capability(1, 75)
    assert gpu_type(1).arch == "sm_75"


def test_errors_that_the_bindings_have_no_name_for(cuda):
    if not cuda.is_mock:
        pytest.skip("about the mock driver")
    with mat.use_device("cuda", required=True):
        x = mat.from_numpy(np.ones(12_345))
        cuda.fail("cuMemAllocAsync", status=9999)
        with pytest.raises(DeviceError, match=r"98760.* error 9999, for which this version"):
            x + 1
        cuda.fail("cuMemcpyHtoDAsync", status=9999)
        with pytest.raises(DeviceError, match="bytes to device 0: error 9999"):
            memory.there(x)
        assert float((x + 1).sum()) == 24_690


def test_config_says_what_there_is(cuda, two_devices):
    config = mat.show_config()
    assert config["devices"] == "cuda:0, cuda:1, emulated"
    assert "GiB free" in config["cuda:1"]
    assert "13.0 by the driver" in config["CUDA"]


def test_config_says_why_there_is_none():
    if mat.cuda_available():
        pytest.skip("there is")
    config = mat.show_config()
    assert config["devices"] == "emulated"
    assert config["CUDA"].startswith("none: ")
    with pytest.raises(DeviceError, match="no device 'cuda'"):
        mat.use_device("cuda", required=True)


def test_importing_mat_imports_nothing_of_cuda():
    code = ("import sys, mat; x = mat.ones(3); x + x; "
            "print([m for m in sys.modules if m.split('.')[0] == 'cuda'])")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
                          cwd=ROOT, check=True)
    assert done.stdout == "[]\n"


# How processes end


def test_the_end_with_data_on_the_device(script):
    assert script("there(x); y = times(x, 2); keep = [y]; keep.append(keep)") == "done\n"


def test_the_end_within_a_block_that_was_never_left(script):
    assert script("p = mat.prefetch(to_device=[mat.ones(5), x]); p.__enter__()") == "done\n"


def test_the_end_with_page_locked_memory(script):
    body = ("with mat.settings(page_locked=True):\n    y = mat.zeros(5000)\n"
            "    with y.facet('array', 'output') as a: a[:] = 1\n")
    assert script(body + "there(y)\nwith x.facet('cuda_host', 'input') as p: pass") == "done\n"


def test_the_end_while_threads_still_compute(script):
    body = """
def work():
    with mat.use_device("cuda"):
        while True:
            y = mat.zeros(100)
            add(y)
            there(y.reshape(10, 10))
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
import time
time.sleep(0.3)
"""
    assert script(body) == "done\n"


def test_the_end_by_an_error(script):
    script("add(x)\nraise SystemExit(3)", rc=3)


def test_finalizers_at_exit_may_free(script):
    body = """
class Last:
    def __init__(self, y): self.y = y
    def __del__(self): self.y.drop("cuda", force=True)
sys.last = Last(add(mat.zeros(10)))
"""
    assert script(body) == "done\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_is_told_and_computes_on_the_host(script):
    body = """
there(x)
add(x, 1)
block.__exit__(None, None, None)
child = os.fork()
if child == 0:
    ok = (x.to_numpy() == 2).all() and (mat.ones(3) + 1).to_numpy().sum() == 6
    try:
        mat.use_device("cuda", required=True)
        ok = False
    except mat.DeviceError as error:
        ok = ok and "fork" in str(error)
    os._exit(0 if ok else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
with mat.use_device("cuda", required=True):
    add(x, 1)
assert (x.to_numpy() == 3).all()
"""
    assert script(body) == "done\n"


@pytest.mark.skipif(sys.platform != "linux", reason="of Linux")
@pytest.mark.parametrize("way", ["shared", "missing"])
def test_page_locked_memory_in_a_forked_child_is_its_own(script, way):
    body = f"""
import ctypes
from mat.cuda.runtime import pinned
from mat.memories.host import HOST
with mat.settings(page_locked=True):
    y, z = mat.zeros(30_000), mat.zeros(100)
    for m in (y, z):
        with m.facet('array', 'output') as a: a[:] = 1
assert pinned.is_locked(y.storage.handles[HOST])
idle = pinned.POOL.take(99_999)
del idle
if "{way}" == "missing":  # as if the driver had kept it from children
    for found in pinned.RANGES:
        assert ctypes.CDLL(None).madvise(ctypes.c_void_p(found.low),
                                         ctypes.c_size_t(found.nbytes), 10) == 0
block.__exit__(None, None, None)
def fork():
    child = os.fork()
    if child == 0:
        ok = float(y.sum()) == 30_000 and float(z.sum()) == 100
        for m in (y, z):
            with m.facet('array', 'io') as a: a += 1
        with mat.settings(page_locked=True):
            new = mat.ones(30_000) + 1
        mat.trim()
        os._exit(0 if ok and float(y.sum()) == 60_000 and pinned.locked_bytes() == 0 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
fork()
assert float(y.sum()) == 30_000 and float(z.sum()) == 100
with pinned.POOL._lock:  # in a handler of signals
    fork()
pinned.POOL.take(99_999)
"""
    assert script(body) == "done\n"


def test_interrupts_lose_nothing(cuda):
    x = mat.from_numpy(np.ones(100))

    def block():
        with mat.use_device("cuda"):
            memory.add(x)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        block()
    assert x.fresh == {"host"}
    assert x.to_numpy().tolist() == [2] * 100
