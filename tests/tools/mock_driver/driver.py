"""The mock driver: compile and load ``libcuda/`` and ``libcublas/``, which has cuBLASLt, cuSOLVER
and cuFFT, too, control them, and compile programs for them.

Nothing here is loaded before `load_driver` is called. From then on the process has that driver for
good, since cuda.core keeps it; between the tests that ask for it, it has no devices.
"""

import ctypes
import hashlib
import os
import platform
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from mat.support.c_compiler import CompileError

from .cache import cached
from .harness import (
    FLAGS,
    HERE,
    SANITIZED,
    KernelFault,
    build,
    command,
    compiler,
    read,
    version,
)
from .programs import unlisted
from .ptx import interpreter

SOURCES = HERE / "libcuda"
KINDS = {"h2d": 0, "d2h": 1, "d2d": 2, "p2p": 3, "h2h": 4, "p2p through the host": 5}
STATUS = {"invalid_value": 1, "out_of_memory": 2, "launch_failed": 719}
MEMORY = 1 << 30


def missing():
    """Return why there can be no mock driver, or ""."""
    if sys.platform != "linux":
        return f"the mock driver is for Linux, not {sys.platform}"
    for package in ("cuda.core", "cuda.bindings"):
        try:
            if find_spec(package) is None:
                return f"{package} is not installed"
        except ImportError:
            return f"{package} is not installed"
    if not compiler():
        return "no C++ compiler"
    if not _library and loaded("libcuda.so.1"):
        return "a driver is loaded already"
    return ""


def loaded(name):
    """Check whether this process has loaded a library of that name."""
    try:
        ctypes.CDLL(name, mode=os.RTLD_NOLOAD)
    except OSError:
        return False
    return True


class Driver:
    """Control over the mock driver, and its counters."""

    is_mock = True

    def __init__(self, path):
        self.library = library = ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
        for name in ("mock_calls", "mock_copies", "mock_pending", "mock_held", "mock_peak",
                     "mock_fault_count"):
            getattr(library, name).restype = ctypes.c_uint64
        library.mock_fault.restype = ctypes.c_char_p

    def configure(self, devices=2, memory=MEMORY):
        """Have so many devices from now on, each with so many bytes."""
        self.library.mock_configure(devices, ctypes.c_size_t(memory))

    def capability(self, device, capability):
        """Let a device have a compute capability, as 75 for 7.5, until `forget`."""
        self.library.mock_capability(device, capability)

    def peers(self, peers=True):
        """Let devices be able to access each other's memory, or not, until `forget`."""
        self.library.mock_peers(int(peers))

    def delay(self, delayed=True):
        """Run queued work only when something waits for it, or at once."""
        self.library.mock_delay(int(delayed))

    def at_once(self, at_once=True):
        """Return from launches at once, with nothing checked or computed, and count no calls and
        let none fail: what a caller takes is then its own time.
        """
        self.library.mock_at_once(int(at_once))

    def seed(self, seed):
        """Shuffle the threads of kernels by this seed; 0 is the natural order."""
        self.library.mock_seed(ctypes.c_uint64(seed))

    def fail(self, function, after=0, times=1, status="out_of_memory"):
        """Let the next calls of a function of the driver fail, `after` so many that do not."""
        self.library.mock_fail(function.encode(), ctypes.c_long(after), ctypes.c_long(times),
                               STATUS.get(status, status))

    def calls(self, function):
        """Return how often a function was called, by its name without version; "": all of them."""
        return self.library.mock_calls(function.encode())

    def copies(self, kind):
        """Return the number of copies of a kind: "h2d", "d2h", "d2d", "p2p", "h2h", and of those
        between devices the ones "p2p through the host", where one cannot access the other.
        """
        return self.library.mock_copies(KINDS[kind], 0)

    def copied(self, kind):
        """Return the number of bytes that copies of a kind had together."""
        return self.library.mock_copies(KINDS[kind], 1)

    def pending(self):
        """Return how much work is queued and not done yet."""
        return self.library.mock_pending()

    def blocks(self, device=0):
        """Return how many blocks are allocated on a device, or, for -1, of page-locked memory."""
        return self.library.mock_held(device, 0)

    def held(self, device=0):
        """Return how many bytes the allocated blocks have."""
        return self.library.mock_held(device, 1)

    def peak(self, device=0):
        """Return the most bytes allocated at a time since the last call of this."""
        return self.library.mock_peak(device)

    def faults(self):
        """Return a message for each error that a GPU may not report."""
        return [self.library.mock_fault(ctypes.c_uint64(k)).decode()
                for k in range(self.library.mock_fault_count())]

    def forget(self):
        """Do the queued work; then reset faults, counters, failures, delays, order and launches.

        Devices that failed are as new.
        """
        self.library.mock_forget()
        ours = sys.modules.get("mat.cuda.runtime.gpu")
        if ours is not None:
            ours.FAILURES.clear()


class Compiler:
    """Compiles programs for the mock driver, in place of NVRTC; with MAT_MOCK_PTX, of some NVRTC
    makes PTX.
    """

    def __init__(self):
        # programs that were compiled and are not among those that .ci/cuda compiles by NVRTC
        self.unlisted = []

    def version(self):
        # of this process only, so that `unlisted` sees every program
        return f"on the CPU {_fingerprint()} {os.getpid()}"

    def compile(self, text, options, arch):
        program = import_module("mat.cuda.runtime.nvrtc").Program(text, tuple(options))
        if unlisted(program):
            self.unlisted.append(program)
        try:
            if interpreter.is_interpreted(text, options):
                interpreter.library()
                return interpreter.compiled(text, tuple(options)).encode() + b"\0"
            return build(text, tuple(o for o in options if o.startswith("-D"))).read_bytes()
        except KernelFault as error:
            raise CompileError(str(error)) from None


@cache
def _fingerprint():
    parts = [*compiler(), *FLAGS, *SANITIZED, platform.machine(),
             *map(read, sorted(HERE.glob("*.hpp")))]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


_library = []


def load_driver():
    """Return the mock driver, loaded as the process's driver by the first call."""
    if not _library:
        with ThreadPoolExecutor() as pool:
            pool.submit(cublas)
            solver, fft, lt = (pool.submit(made) for made in (cusolver, cufft, cublaslt))
            _library.append(Driver(libcuda()))
        os.environ["MAT_CUSOLVER"] = str(solver.result())  # for good, as the driver
        os.environ["MAT_CUFFT"] = str(fft.result())
        os.environ["MAT_CUBLASLT"] = str(lt.result())
    return _library[0]


def libcuda():
    """Return the path of the mock driver."""
    return _build("libcuda", "libcuda", "libcuda.so.1")


def cublas():
    """Return the path of the mock cuBLAS."""
    return _build("libcublas", "libcublas", "libcublas.so.13")


def cublaslt():
    """Return the path of the mock cuBLASLt."""
    return _build("libcublas", "libcublaslt", "libcublasLt.so.13")


def cusolver():
    """Return the path of the mock cuSOLVER."""
    return _build("libcublas", "libcusolver", "libcusolver.so.12")


def cufft():
    """Return the path of the mock cuFFT."""
    return _build("libcublas", "libcufft", "libcufft.so.12")


@cache
def _build(folder, source, name):
    def make(there):
        command(*flags, *SANITIZED, "-shared", HERE / folder / f"{source}.cpp",
                f"-Wl,-soname,{name}", "-o", there / name,
                "-ldl", "-pthread")
    flags = *compiler(), "-std=c++17", "-O1", "-g1", "-fPIC", "-fvisibility=hidden"
    sources = map(read, sorted((HERE / folder).iterdir()))
    return cached("\0".join((name, version(), *flags, *SANITIZED, *sources)), make) / name
