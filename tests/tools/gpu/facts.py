"""What the numbers of a report depend on: the machine, the device, the versions."""

from __future__ import annotations

import importlib
import os
import platform
import time
from dataclasses import asdict
from typing import Any

import mat

from ...support.machine import processor
from . import limits as card
from .setting import version

PACKAGES = ("torch", "nvidia-cublas", "nvidia-cusolver", "nvidia-cufft", "nvidia-cuda-nvrtc",
            "nvidia-cuda-sanitizer-api")


def facts() -> dict[str, str]:
    """Return the facts by their names, in the order of the page."""
    config = mat.show_config()
    found = {"date": time.strftime("%Y-%m-%d"), "host": f"{processor()}, {os.cpu_count()} cores, "
                                                        f"{platform.platform()}"}
    found |= {name: text for name, text in config.items() if name.startswith("cuda:")
              or name in ("CUDA", "NVRTC", "cuBLAS", "kernels")}
    found |= {"Python": platform.python_version(), "mat": mat.__version__, "NumPy": config["NumPy"],
              "CuPy": next((v for v in map(version, ("cupy-cuda13x", "cupy-cuda12x", "cupy"))
                            if v != "-"), "-")}
    return found | {name: version(name) for name in PACKAGES}


def limits() -> dict[str, Any]:
    """Return the limits of the first device, as `Limits` takes them."""
    return asdict(card.of(importlib.import_module("mat.cuda.runtime.gpu").gpu(0)))


