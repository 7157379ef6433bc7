"""`probe`: the number of CUDA devices, and if there are none, the reason.

It needs neither cuda-python nor a driver, never raises an error, and calls the driver once.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

INSTALL = "pip install 'facetmat[cuda]', in a clone pip install -e '.[cuda]'"
NO_GPU = "there is a driver, but no NVIDIA GPU that this process can see"
NO_DEVICE, UNKNOWN = 100, 999  # CUDA_ERROR_NO_DEVICE, CUDA_ERROR_UNKNOWN
LEAST = (7, 5)  # the lowest compute capability that NVRTC compiles for
_MAJOR, _MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR
LISTED = Path("/proc/driver/nvidia/gpus")  # where the driver has a folder for each GPU, on Linux
_started: set[int] = set()  # the processes in which the driver was started


class CudaProbe(NamedTuple):
    """The number of CUDA devices, and if there are none, the reason."""

    devices: int
    reason: str = ""
    version: int = 0  # of CUDA, that the driver supports: 13000 is 13.0


def probe() -> CudaProbe:
    """Return the number of CUDA devices, and if there are none, the reason."""
    return _probe(os.getpid())  # once for each process, since the driver does not survive a fork


def is_there() -> bool:
    """Return whether there is a device, by files if possible: a fork needs CUDA unstarted."""
    count = None if os.getpid() in _started else _listed()
    return probe().devices > 0 if count is None else bool(count) and _fits()


def _listed() -> int | None:
    """Return how many GPUs the driver lists that this process may see; None if it has no list."""
    try:
        count = sum(1 for _ in LISTED.iterdir())
    except OSError:
        return None
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return count
    names = [name.strip() for name in visible.split(",")]
    wrong = next((k for k, name in enumerate(names) if not _is_device(name, count)), len(names))
    return min(wrong, count)  # those after a wrong one are not visible


def _is_device(name: str, count: int) -> bool:
    """Return whether a word of CUDA_VISIBLE_DEVICES can be a device: by number, or by its name."""
    return int(name) < count if name.isdecimal() else name.startswith(("GPU-", "MIG-"))


def _fits() -> bool:
    """Return whether the driver can be loaded and is new enough; that does not start it."""
    try:
        driver = importlib.import_module("cuda.bindings.driver")
        needed = importlib.import_module("cuda.bindings").__version__
        return int(driver.cuDriverGetVersion()[1]) // 1000 >= int(needed.partition(".")[0])
    except Exception:  # the loader's class of errors depends on its version
        return False


@cache
def _probe(process: int) -> CudaProbe:  # noqa: ARG001
    return _probe_driver()


def _probe_driver() -> CudaProbe:
    _started.add(os.getpid())
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
    status = int(accepting(driver.cuInit)(0)[0])
    version = int(driver.cuDriverGetVersion()[1] or 0)
    if version and version // 1000 < needed:
        return CudaProbe(0, f"the NVIDIA driver is too old: it is for CUDA {shown(version)}, "
                            f"cuda-python needs {needed}.0; install a newer one", version)
    if status == NO_DEVICE:
        return CudaProbe(0, NO_GPU, version)
    if status:
        hint = ("; a process forked from one that used CUDA cannot use it, one that was spawned can"
                if status == 3 else "")  # CUDA_ERROR_NOT_INITIALIZED
        return CudaProbe(0, f"the NVIDIA driver does not start: {error_text(driver, status)}{hint}",
                         version)
    status, count = accepting(driver.cuDeviceGetCount)()
    if int(status):
        return CudaProbe(0, "the NVIDIA driver does not count its devices: "
                            f"{error_text(driver, int(status))}", version)
    found = [capability(driver, k) for k in range(int(count))]
    if found and max(found) < LEAST:
        return CudaProbe(0, too_old(max(found)), version)
    return CudaProbe(int(count), "" if count else NO_GPU, version)


def capability(driver: ModuleType, number: int) -> tuple[int, int]:
    """Return the compute capability of a device."""
    device = driver.cuDeviceGet(number)[1]
    major, minor = (driver.cuDeviceGetAttribute(driver.CUdevice_attribute(kind), device)[1]
                    for kind in (_MAJOR, _MINOR))
    return int(major), int(minor)


def too_old(found: tuple[int, int]) -> str:
    """Return why a device of that compute capability cannot be used."""
    return (f"the GPU is too old: its compute capability is {found[0]}.{found[1]}, and NVRTC "
            f"compiles for {LEAST[0]}.{LEAST[1]} and later")


def accepting(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the bindings that takes the numbers of newer drivers' errors."""
    @wraps(function)
    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except ValueError as error:
            found = re.match(r"(\d+) is not a valid CUresult", str(error))
            if found is None:
                raise
            return int(found[1]), None
    return call


def error_text(driver: ModuleType, status: int) -> str:
    """Return CUDA's name and description of an error."""
    try:
        kind = driver.CUresult(status)
        name, text = (driver.cuGetErrorName(kind)[1], driver.cuGetErrorString(kind)[1])
        return f"{name.decode()} ({text.decode()})" if name else str(kind)
    except Exception:  # one that this version does not know
        return f"error {status}, for which this version of cuda-bindings has no name"


def shown(version: int) -> str:
    """Return a version of CUDA as text: 13000 as "13.0"."""
    return f"{version // 1000}.{version % 1000 // 10}"
