"""Traps on the way to a GPU, into which our code must not fall: of cuda.core without a driver, of
how numbers are passed, of how libraries are found, and of processes that fork. What could hang runs
in a process of its own, with a time limit.
"""

import ctypes
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from mat.support.cuda_probe import probe

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

from cuda.bindings import driver

import mat
from mat.cuda.device import CudaArray
from mat.cuda.runtime.gpu import Gpu, check
from mat.cuda.runtime.kernel import CudaKernel
from mat.cuda.runtime.nvrtc import Program
from mat.layout.strided import packed

from ..support.needs_nvrtc import needs_nvrtc
from ..tools.mock_driver import driver as mock_driver
from ..tools.mock_driver.cache import cached
from ..tools.mock_driver.fixtures import cuda_is_real, really
from ..tools.mock_driver.harness import command, compiler, version

ROOT = Path(__file__).parents[2]
PACKAGE = Path(mat.__file__).parent
TEXT = """
#include "device.cuh"
struct sizes { int64_t n; };
MAT_KERNEL(numbers, sizes, 1) {
    for (int k = 0; k < frame.n; k++) ((double *)call.at[0])[k] = call.numbers[k];
}
"""


def alone(code, *, timeout=120, **environment):
    """What a new process prints that runs `code`."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True,
                          text=True, timeout=timeout,
                          cwd=ROOT, env={**os.environ, **environment}, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def empty(name):
    """A library with nothing in it."""
    def make(folder):
        (folder / "empty.c").touch()
        command(*compiler(), "-shared", f"-Wl,-soname,{name}", folder / "empty.c", "-o",
                folder / name)
    return cached(f"empty {name} {compiler()} {version()}", make) / name


without_driver = pytest.mark.skipif(cuda_is_real() or bool(really().devices),
                                    reason="there is a driver")
needs_mock_driver = pytest.mark.skipif(bool(mock_driver.missing()),
                                       reason=mock_driver.missing() or "-")


# Without a driver: cuda.core's second failure would hang for ever


@without_driver
def test_asking_for_a_device_again_and_again_ends():
    out = alone("""
        import mat
        for k in range(3):
            assert not mat.cuda_available()
            with mat.use_device("cuda") as device:
                assert device == "cpu"
                mat.ones(3).exp_()
            try:
                mat.use_device("cuda", required=True)
            except mat.DeviceError as error:
                print(error)
            repr(mat.show_config())
    """)
    assert len(out.splitlines()) == 3
    assert "no device 'cuda'" in out


@without_driver
@needs_nvrtc
def test_compiling_again_and_again_ends(tmp_path):
    out = alone("""
        from mat.cuda.runtime.nvrtc import Program
        text = ('#include "device.cuh"\\nstruct F { int64_t n; };\\n'
                'MAT_KERNEL(nothing_%d, F, 32) { }')
        for k in range(3):
            print(Program(text % k).cubin("sm_90")[:4])
    """, MAT_CACHE=str(tmp_path))
    assert out.splitlines() == ["b'\\x7fELF'"] * 3


@without_driver
def test_a_device_made_by_force_says_why_there_is_none():
    out = alone("""
        from mat.cuda.runtime.gpu import gpu
        for k in range(3):
            try:
                gpu(0)
            except Exception as error:
                print(type(error).__name__, error)
    """)
    assert out.splitlines() == [f"DeviceError no CUDA device 0: {really().reason}"] * 3


def test_what_would_hang_is_called_nowhere():
    """`get_kernel`, and what cuda.core prints of its objects: without a driver their second call
    waits for itself.
    """
    forbidden = re.compile(r"\bget_kernel\b|cuda\.core import .*\blaunch\b")
    found = [path.name for path in PACKAGE.rglob("*.py")
             if forbidden.search(path.read_text(encoding="utf-8"))]
    assert found == []


def test_cuda_core_is_not_imported():
    """It takes longer to import than the rest of the CUDA side."""
    out = alone("""
        import pkgutil, sys
        from importlib import import_module
        import mat.cuda
        for info in pkgutil.walk_packages(mat.cuda.__path__, "mat.cuda."):
            import_module(info.name)
        print([name for name in sys.modules if name.startswith("cuda.core")])
    """)
    assert out.strip() == "[]"


# Numbers: cuda.core passes a Python float as a double and an int as 64 bits, whatever the kernel
# requires


@pytest.mark.parametrize(("number", "real", "imaginary"), [
    (2, 2, 0), (2.5, 2.5, 0), (True, 1, 0), (1 + 2j, 1, 2),
    (np.float32(0.1), float(np.float32(0.1)), 0),
    (np.float64(0.1), 0.1, 0), (np.int8(-3), -3, 0), (np.uint64(1 << 63), 2.0**63, 0),
    (np.complex64(1 - 1j), 1, -1),
    (float("nan"), float("nan"), 0), (-0.0, -0.0, 0), (np.float16(1.5), 1.5, 0), (10**18, 1e18, 0)])
def test_numbers_arrive_as_they_are(cuda, number, real, imaginary):
    probe()
    gpu = Gpu(0)
    with gpu.current():
        out = CudaArray(gpu.allocate(48), packed((6,)), np.dtype("d"))
        # another number before it, an operand, and a number as an operand
        launch = CudaKernel(Program(TEXT), "numbers", (6,), (1, 1, 1), (1, 1, 1)).bind((1, 2), (0,))
        for _ in range(2):  # as learnt, and as remembered
            launch(number, out, number)
            got = np.empty(6)
            check(driver.cuMemcpyDtoH(got.ctypes.data, out.address, 48), "")
            np.testing.assert_array_equal(got[[0, 1, 4, 5]], [real, imaginary] * 2)
            assert np.signbit(got[0]) == np.signbit(real)
        gpu.release(out.handle)


# Where libraries are found


@needs_mock_driver
def test_a_cublas_that_is_loaded_already_is_taken():
    """So torch's is, where it came first; from PYTHONPATH NVIDIA's search takes none."""
    out = alone(f"""
        import ctypes
        ctypes.CDLL({str(mock_driver.libcuda())!r}, mode=ctypes.RTLD_GLOBAL)
        ctypes.CDLL({str(empty("libcublasLt.so.13"))!r})
        ctypes.CDLL({str(mock_driver.cublas())!r})
        from mat.cuda.libraries.cublas import library, text_of
        print(text_of(7))
    """, MAT_CUBLAS="")
    assert "what the mock cuBLAS says" in out


@needs_mock_driver
@without_driver
def test_a_cublas_that_is_nowhere():
    out = alone("""
        from mat.cuda.libraries.cublas import library
        for k in range(2):
            try:
                library()
            except Exception as error:
                print(type(error).__name__, error)
    """, MAT_CUBLAS=str(ROOT / "nowhere.so"))
    assert out.splitlines()[0].startswith("DeviceError cuBLAS cannot be loaded")
    assert "MAT_CUBLAS in the environment" in out


# Processes


@needs_mock_driver
def test_a_forked_process_has_no_driver_and_says_so():
    out = alone(f"""
        import ctypes, os
        ctypes.CDLL({str(mock_driver.libcuda())!r}, mode=ctypes.RTLD_GLOBAL)
        import mat
        from mat.support.cuda_probe import probe
        print(probe().devices, flush=True)
        child = os.fork()
        if not child:
            print(probe(), mat.cuda_available(), flush=True)
            with mat.use_device("cuda") as device:
                print(device, flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        print(probe().devices)
    """)
    first, inside, device, last = out.splitlines()
    assert (first, device, last) == ("2", "cpu", "2")
    assert "devices=0" in inside
    assert "forked from one that used CUDA cannot use it" in inside


@needs_mock_driver
def test_a_driver_without_devices_says_so():
    out = alone(f"""
        import ctypes
        library = ctypes.CDLL({str(mock_driver.libcuda())!r}, mode=ctypes.RTLD_GLOBAL)
        library.mock_configure(0, ctypes.c_size_t(1 << 20))
        from mat.support.cuda_probe import probe
        print(probe())
    """)
    assert "no NVIDIA GPU that this process can see" in out


@needs_mock_driver
def test_a_driver_that_does_not_start_says_so():
    out = alone(f"""
        import ctypes
        library = ctypes.CDLL({str(mock_driver.libcuda())!r}, mode=ctypes.RTLD_GLOBAL)
        library.mock_fail(b"cuInit", ctypes.c_long(0), ctypes.c_long(1), 802)
        import mat
        from mat.support.cuda_probe import probe
        print(mat.cuda_available(), probe().reason)
    """)
    assert out.startswith("False the NVIDIA driver does not start: CUDA_ERROR_SYSTEM_NOT_READY "
                          "(system not yet initialized")


def test_nothing_of_cuda_is_loaded_by_importing_us():
    out = alone("""
        import sys, mat
        print([m for m in sys.modules if m.split(".")[0] in ("cuda", "cupy", "torch")])
        mat.ones(3) + 1
        print([m for m in sys.modules if m.split(".")[0] in ("cuda", "cupy", "torch")])
    """)
    assert out.splitlines() == ["[]", "[]"]


def test_a_kernel_of_the_mock_driver_is_no_host_code(cuda):
    """Memory of the mock devices cannot be reached by the host, so a forgotten copy shows as a
    crash, not as luck.
    """
    if not cuda.is_mock:
        pytest.skip("about the mock driver")
    probe()
    gpu = Gpu(0)
    block = gpu.allocate(8)
    assert block.address >> 60
    # what write(2) says of memory that is not there
    with pytest.raises(OSError, match="Bad address"):
        os.write(os.open(os.devnull, os.O_WRONLY), (ctypes.c_char * 8).from_address(block.address))
    gpu.release(block)
