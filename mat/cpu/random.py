"""Random numbers by compiled kernels, in batches of blocks, over threads.

Which number an element gets depends on neither.
"""

from __future__ import annotations

from ..support.native import ffi, lib
from ..support.types import Presented
from .kernel import CpuKernel

BATCH = 64  # blocks that the kernels make at a time
GRAIN = {"uniform": 256, "normal": 128, "bernoulli": 256}  # batches: about 30 microseconds


def prepare_random(name: str, blocks: int, x: Presented) -> CpuKernel:
    """Prepare the kernel `name` for the packed elements of `x`, in `blocks` blocks.

    A complex element is two real ones.
    """
    kernel = getattr(lib, f"random_{name}_{x.dtype.char.lower()}")
    frame = ffi.new("random_frame *", [x.size * (2 if x.dtype.kind == "c" else 1)])
    return CpuKernel(kernel, frame, -(-blocks // BATCH), GRAIN[name])
