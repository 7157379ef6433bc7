"""The engine that computes through C pointers: BLAS and the compiled kernels under one name, for
implementations of the host's facets.

Functions take operands as the facets present them: ``pointer``, ``layout``, ``letter``, ``dtype``.
None of them checks.
"""

from __future__ import annotations

from ..support.blas_library import LIMIT
from .blas import asum, axpy, copy, dot, iamax, nrm2, scal, swap, vdot
from .blas_kernels import (
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
from .conv import prepare_conv, prepare_conv_to_w, prepare_conv_to_x
from .counting import prepare_count_bins, prepare_extent
from .elementwise import (
    prepare_convert,
    prepare_elementwise,
    prepare_fill,
    prepare_fill_bits,
    prepare_user_kernel,
)
from .integer_matmul import prepare_integer_matmul, prepare_scaled_matmul
from .level1 import is_long, long_vectors
from .nn import prepare_convolve, prepare_pool, prepare_pool_back, prepare_to_w, prepare_to_x
from .permute import prepare_copy
from .random import prepare_random
from .reduce import reduction
from .scan import prepare_scan
from .selection import prepare_select
from .small_systems import prepare_systems

__all__ = [  # noqa: RUF022  a line for each module
    "LIMIT", "asum", "axpy", "copy", "dot", "iamax", "nrm2", "scal", "swap", "vdot",
    "one_call", "prepare_dot", "prepare_gemm", "prepare_gemm_batched", "prepare_gemv",
    "prepare_ger", "prepare_scale_vector", "prepare_syrk", "prepare_trsm", "vectors",
    "prepare_convert", "prepare_elementwise", "prepare_fill", "prepare_fill_bits",
    "prepare_user_kernel",
    "is_long", "long_vectors",
    "prepare_integer_matmul", "prepare_scaled_matmul",
    "prepare_conv", "prepare_conv_to_w", "prepare_conv_to_x",
    "prepare_count_bins", "prepare_extent",
    "prepare_convolve", "prepare_pool", "prepare_pool_back", "prepare_to_w", "prepare_to_x",
    "prepare_random",
    "prepare_copy",
    "reduction",
    "prepare_scan",
    "prepare_select",
    "prepare_systems",
]
