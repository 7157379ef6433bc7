"""Whether there is a GPU to compute on, and if not, why: the one module of this package that can be
imported anywhere.

The driver is asked once, in a way that needs neither cuda-python nor a driver, and that raises
nothing.
"""

from __future__ import annotations

import importlib
import os
from functools import cache
from typing import Any, NamedTuple

INSTALL = "pip install 'facetmat[cuda]'"
NO_DEVICE, UNKNOWN = 100, 999  # CUDA_ERROR_NO_DEVICE; what CUDA calls an unknown error


class CudaProbe(NamedTuple):
    """How many `devices` there are, and if none, the reason."""

    devices: int
    reason: str = ""
    version: int = 0  # of CUDA, that the driver speaks: 13000 is 13.0


def probe() -> CudaProbe:
    """What CUDA has to offer here; never raises."""
    return _probe(os.getpid())  # of this process: the driver does not survive a fork


def reason_for_none() -> str:
    """What is in the way of computing on a GPU, in words; nothing if there is one."""
    found = probe()
    return "" if found.devices else found.reason


@cache
def _probe(process: int) -> CudaProbe:  # noqa: ARG001
    return _asked()


def _asked() -> CudaProbe:
    try:
        driver = importlib.import_module("cuda.bindings.driver")
        ours = importlib.import_module("cuda.bindings").__version__
    except ImportError as error:
        return CudaProbe(0, f"cuda-python is not installed ({error}): {INSTALL}")
    try:
        return _ask(driver, int(ours.partition(".")[0]))
    except Exception as error:  # what the loader raises is a matter of its version
        return CudaProbe(0, f"no NVIDIA driver: {' '.join(str(error).split())}")


def _ask(driver: Any, needed: int) -> CudaProbe:
    status = int(driver.cuInit(0)[0])
    version = int(driver.cuDriverGetVersion()[1] or 0)
    if version and version // 1000 < needed:
        return CudaProbe(0, f"the NVIDIA driver is too old: it speaks CUDA {shown(version)}, "
                        f"cuda-python needs {needed}.0; "
                        f"install a newer driver", version)
    if status == NO_DEVICE:
        return CudaProbe(0, "there is a driver, but no NVIDIA GPU that this process can see", version)
    if status:
        return CudaProbe(0, "the NVIDIA driver does not start: "
                        f"{error_text(driver, status)}{_forked(status)}", version)
    status, count = driver.cuDeviceGetCount()
    if int(status):
        return CudaProbe(0, "the NVIDIA driver does not count its devices: "
                        f"{error_text(driver, int(status))}", version)
    return CudaProbe(int(count), "" if count else "there is a driver, but no NVIDIA GPU that this "
                                              "process can see", version)


def _forked(status: int) -> str:
    return "; a process forked from one that used CUDA cannot use it, one that was spawned can" if status == 3 else ""


def error_text(driver: Any, status: int) -> str:
    """CUDA's name of an error, and what it says of it."""
    try:
        kind = driver.CUresult(status)
        name, text = (driver.cuGetErrorName(kind)[1], driver.cuGetErrorString(kind)[1])
        return f"{name.decode()} ({text.decode()})" if name else str(kind)
    except Exception:  # one that this version does not know
        return f"error {status}"


def shown(version: int) -> str:
    """13000 as 13.0."""
    return f"{version // 1000}.{version % 1000 // 10}"
