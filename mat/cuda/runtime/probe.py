"""The lines of ``mat.show_config()`` about CUDA, if there is a device."""

from __future__ import annotations

import importlib.metadata

from ...errors import DeviceError
from ...support.cuda_probe import INSTALL, probe, shown
from . import nvrtc
from .gpu import gpu


def facts() -> dict[str, str]:
    """Return descriptions of devices, driver and libraries by their names."""
    names = {f"cuda:{k}": _device(k) for k in range(probe().devices)}
    return {**names, "CUDA": f"{shown(probe().version)} by the driver; cuda-bindings "
                             f"{_version('cuda-bindings')}", "NVRTC": _nvrtc(),
            "cuBLAS": _version("nvidia-cublas"), "cuSOLVER": _version("nvidia-cusolver"),
            "cuFFT": _version("nvidia-cufft")}


def _device(number: int) -> str:
    try:
        found = gpu(number)
        free, total = found.room_left()
        return f"{found.name}, {found.arch}, {free / 2**30:.1f} of {total / 2**30:.1f} GiB free"
    except DeviceError as error:
        return f"cannot be used: {error}"


def _nvrtc() -> str:
    try:
        return nvrtc.COMPILER.version()
    except DeviceError as error:
        return f"none: {error}"


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return f"not installed as a package ({INSTALL})"
