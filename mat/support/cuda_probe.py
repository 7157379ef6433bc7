"""`probe`: the number of CUDA devices, and if there are none, the reason.

It needs neither cuda-python nor a driver, never raises an error, and calls the driver once.
"""

from __future__ import annotations

import importlib
import os
from functools import cache
from types import ModuleType
from typing import NamedTuple

INSTALL = "pip install 'facetmat[cuda]'"
NO_GPU = "there is a driver, but no NVIDIA GPU that this process can see"
NO_DEVICE, UNKNOWN = 100, 999  # CUDA_ERROR_NO_DEVICE, CUDA_ERROR_UNKNOWN


class CudaProbe(NamedTuple):
    """The number of CUDA devices, and if there are none, the reason."""

    devices: int
    reason: str = ""
    version: int = 0  # of CUDA, that the driver supports: 13000 is 13.0


def probe() -> CudaProbe:
    """Return the number of CUDA devices, and if there are none, the reason."""
    return _probe(os.getpid())  # once for each process, since the driver does not survive a fork


@cache
def _probe(process: int) -> CudaProbe:  # noqa: ARG001
    return _probe_driver()


def _probe_driver() -> CudaProbe:
    try:
        driver = importlib.import_module("cuda.bindings.driver")
        version = importlib.import_module("cuda.bindings").__version__
    except ImportError as error:
        return CudaProbe(0, f"cuda-python is not installed ({error}): {INSTALL}")
    try:
        return _count_devices(driver, int(version.partition(".")[0]))
    except Exception as error:  # the loader's class of errors depends on its version
        return CudaProbe(0, f"no NVIDIA driver: {' '.join(str(error).split())}")


def _count_devices(driver: ModuleType, needed: int) -> CudaProbe:
    status = int(driver.cuInit(0)[0])
    version = int(driver.cuDriverGetVersion()[1] or 0)
    if version and version // 1000 < needed:
        return CudaProbe(0, f"the NVIDIA driver is too old: it is for CUDA {shown(version)}, "
                            f"cuda-python needs {needed}.0; install a newer one", version)
    if status == NO_DEVICE:
        return CudaProbe(0, NO_GPU, version)
    if status:
        return CudaProbe(0, "the NVIDIA driver does not start: "
                            f"{error_text(driver, status)}{_fork_hint(status)}", version)
    status, count = driver.cuDeviceGetCount()
    if int(status):
        return CudaProbe(0, "the NVIDIA driver does not count its devices: "
                            f"{error_text(driver, int(status))}", version)
    return CudaProbe(int(count), "" if count else NO_GPU, version)


def _fork_hint(status: int) -> str:
    if status != 3:  # CUDA_ERROR_NOT_INITIALIZED
        return ""
    return "; a process forked from one that used CUDA cannot use it, one that was spawned can"


def error_text(driver: ModuleType, status: int) -> str:
    """Return CUDA's name and description of an error."""
    try:
        kind = driver.CUresult(status)
        name, text = (driver.cuGetErrorName(kind)[1], driver.cuGetErrorString(kind)[1])
        return f"{name.decode()} ({text.decode()})" if name else str(kind)
    except Exception:  # one that this version does not know
        return f"error {status}"


def shown(version: int) -> str:
    """Return a version of CUDA as text: 13000 as "13.0"."""
    return f"{version // 1000}.{version % 1000 // 10}"
