"""Marks tests that compile with NVIDIA's runtime compiler."""

import os

import pytest

from mat.errors import DeviceError


def why_not():
    """Why NVRTC cannot compile in this process; empty if it can."""
    if "libasan" in os.environ.get("LD_PRELOAD", ""):
        return "under AddressSanitizer NVRTC does not find its own libraries"
    try:
        from mat.cuda.runtime.nvrtc import Nvrtc

        return "" if Nvrtc().version() else "NVRTC has no version"
    except ImportError:
        return "cuda-python is not installed"
    except DeviceError as error:
        return str(error) or "NVRTC is not installed"


WHY_NOT = why_not()
needs_nvrtc = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
