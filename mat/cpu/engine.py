"""The engine that computes through C pointers: BLAS and the compiled kernels under one name, for
implementations of the host's facets.

Functions take operands as the facets present them: ``pointer``, ``layout``, ``letter``, ``dtype``.
None of them checks.
"""

from __future__ import annotations

from ..support.blas_library import LIMIT
from ..support.native import ffi, lib
from ..support.plugins import plugin
from ..support.types import Operand, Presented
from .elementwise import (
    KernelPlaces,
    prepare_convert,
    prepare_elementwise,
    prepare_fill,
    prepare_fill_bits,
    prepare_select,
    prepare_user_kernel,
)
from .kernel import CpuKernel

# functions of modules that are imported at their first use
_NAMES = {
    "cpu.blas_kernels": """is_long long_vectors one_call prepare_dot prepare_gemm
        prepare_gemm_batched prepare_gemv prepare_ger prepare_iamax prepare_syrk
        prepare_systems prepare_trsm vectors""",
    "cpu.conv": """prepare_conv prepare_conv_to_w prepare_conv_to_x prepare_convolve prepare_pool
        prepare_pool_back prepare_to_w prepare_to_x""",
    "cpu.integer_matmul": "prepare_integer_matmul prepare_scaled_matmul",
    "cpu.permute": "prepare_copy",
    "cpu.reduce": "prepare_scan reduction"}
_AT_FIRST_USE = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _AT_FIRST_USE:
        raise AttributeError(f"the engine of the host has no {name}")
    found = globals()[name] = getattr(plugin(_AT_FIRST_USE[name]), name)
    return found


BATCH = 64  # blocks that the kernels make at a time
GRAIN = {"uniform": 256, "normal": 128, "bernoulli": 256}  # batches: about 30 microseconds


def prepare_random(name: str, blocks: int, x: Presented) -> CpuKernel:
    """Prepare the kernel `name` for the packed elements of `x`; a complex one is two real ones."""
    kernel = getattr(lib, f"random_{name}_{x.dtype.char.lower()}")
    frame = ffi.new("random_frame *", [x.size * (2 if x.dtype.kind == "c" else 1)])
    return CpuKernel(kernel, frame, -(-blocks // BATCH), GRAIN[name])


LITTLE = 1 << 13  # integers up to which they are counted with the GIL


def prepare_extent(x: Operand) -> CpuKernel:
    """Return the kernel that writes the least and the largest integer of `x`, not empty."""
    return _kernel(lib.mat_extent, x.size, 0)


def prepare_count_bins(x: Operand, out: Operand) -> CpuKernel:
    """Return the kernel that counts 0, 1, ... in `x`, all below len(out)."""
    return _kernel(lib.mat_count_bins, x.size, out.size)


def _kernel(kernel: object, n: int, bins: int) -> CpuKernel:
    frame = ffi.new("mat_counting *", {"n": n, "bins": bins})
    return CpuKernel(kernel, frame, 1, int(n <= LITTLE))


__all__ = [  # and those of `_NAMES`
    "LIMIT", "KernelPlaces", "prepare_convert", "prepare_count_bins", "prepare_elementwise",
    "prepare_extent", "prepare_fill", "prepare_fill_bits", "prepare_random", "prepare_select",
    "prepare_user_kernel",
]
