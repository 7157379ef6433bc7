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
from .blas import asum, axpy, copy, dot, iamax, nrm2, scal, swap, vdot
from .blas_kernels import (
    is_long,
    long_vectors,
    one_call,
    prepare_dot,
    prepare_gemm,
    prepare_gemm_batched,
    prepare_gemv,
    prepare_ger,
    prepare_scale_vector,
    prepare_syrk,
    prepare_trsm,
    vectors,
)
from .elementwise import (
    KernelPlaces,
    prepare_convert,
    prepare_elementwise,
    prepare_fill,
    prepare_fill_bits,
    prepare_user_kernel,
)
from .integer_matmul import prepare_integer_matmul, prepare_scaled_matmul
from .kernel import CpuKernel
from .permute import prepare_copy
from .reduce import prepare_scan, reduction
from .selection import prepare_select

# modules that are imported at the first use of their functions
_AT_FIRST_USE = {
    **dict.fromkeys(("prepare_conv", "prepare_conv_to_w", "prepare_conv_to_x"), "cpu.conv"),
    **dict.fromkeys(("prepare_convolve", "prepare_pool", "prepare_pool_back", "prepare_to_w",
                     "prepare_to_x"), "cpu.nn"), "prepare_systems": "cpu.small_systems"}


def __getattr__(name: str) -> object:
    if name not in _AT_FIRST_USE:
        raise AttributeError(f"the engine of the host has no {name}")
    found = globals()[name] = getattr(plugin(_AT_FIRST_USE[name]), name)
    return found


BATCH = 64  # blocks that the kernels make at a time
GRAIN = {"uniform": 256, "normal": 128, "bernoulli": 256}  # batches: about 30 microseconds


def prepare_random(name: str, blocks: int, x: Presented) -> CpuKernel:
    """Prepare the kernel `name` for the packed elements of `x`, in `blocks` blocks.

    A complex element is two real ones.
    """
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


__all__ = [  # noqa: RUF022  a line for each module
    "LIMIT", "asum", "axpy", "copy", "dot", "iamax", "nrm2", "scal", "swap", "vdot",
    "one_call", "prepare_dot", "prepare_gemm", "prepare_gemm_batched", "prepare_gemv",
    "prepare_ger", "prepare_scale_vector", "prepare_syrk", "prepare_trsm", "vectors",
    "prepare_convert", "prepare_elementwise", "prepare_fill", "prepare_fill_bits",
    "KernelPlaces", "prepare_user_kernel",
    "is_long", "long_vectors",
    "prepare_integer_matmul", "prepare_scaled_matmul",
    "prepare_count_bins", "prepare_extent",
    "prepare_random",
    "prepare_copy",
    "reduction",
    "prepare_scan",
    "prepare_select",
]
