"""The engine for operands in a GPU's memory: the argument of implementations for the facet
``cuda``, as ``cpu.engine`` is for the host's.

Functions that do the same have the names and arguments of the host's engine. None of them checks.
"""

from __future__ import annotations

from .accumulate import prepare_accumulate
from .blas import COUNTS as LIMIT
from .blas import prepare_dot, prepare_ger, prepare_syrk, prepare_trsm, vectors
from .compare import prepare_comparison
from .conv import prepare_conv, prepare_conv_to_w, prepare_conv_to_x
from .convert import prepare_convert
from .copy import prepare_copy
from .elementwise import UserKernel, prepare_elementwise, prepare_fill, prepare_user_kernel
from .factor import prepare_cholesky, prepare_inverse, prepare_slogdet, prepare_solution
from .integer_matmul import prepare_integer_matmul, prepare_scale
from .kernel import CudaKernel
from .nn import prepare_convolve, prepare_pool, prepare_pool_back, prepare_to_w, prepare_to_x
from .nvrtc import Program
from .products import (
    prepare_either,
    prepare_gemm,
    prepare_gemm_batched,
    prepare_gemv,
    prepare_scale_vector,
)
from .random import prepare_random
from .reduce import reduction
from .reduce_types import (
    ExtremeKernels,
    MeanKernels,
    NumberKernels,
    PositionKernels,
    ProductKernels,
    SumKernels,
    VarianceKernels,
)
from .scan import prepare_scan
from .search import (
    prepare_bincount,
    prepare_firsts,
    prepare_inverse_order,
    prepare_placed,
    prepare_searchsorted,
    prepare_weighted,
)
from .selection import (
    prepare_gather,
    prepare_gather_along,
    prepare_mask_positions,
    prepare_mask_starts,
    prepare_scatter,
    prepare_select,
    prepare_within,
)
from .sort import prepare_sort

__all__ = [
    "CudaKernel", "Program",
    "prepare_accumulate",
    "LIMIT", "vectors", "prepare_dot", "prepare_gemv", "prepare_ger", "prepare_gemm",
    "prepare_gemm_batched", "prepare_either",
    "prepare_syrk", "prepare_trsm", "prepare_scale_vector",
    "prepare_integer_matmul", "prepare_scale",
    "prepare_cholesky", "prepare_inverse", "prepare_slogdet", "prepare_solution",
    "prepare_copy", "prepare_convert",
    "prepare_comparison",
    "prepare_conv", "prepare_conv_to_w", "prepare_conv_to_x",
    "prepare_convolve", "prepare_pool", "prepare_pool_back", "prepare_to_w", "prepare_to_x",
    "UserKernel", "prepare_elementwise", "prepare_fill", "prepare_user_kernel",
    "prepare_random",
    "prepare_gather", "prepare_gather_along", "prepare_scatter", "prepare_select",
    "prepare_mask_starts", "prepare_mask_positions", "prepare_within",
    "reduction", "ExtremeKernels", "MeanKernels", "NumberKernels", "PositionKernels",
    "ProductKernels", "SumKernels", "VarianceKernels",
    "prepare_scan", "prepare_sort",
    "prepare_searchsorted", "prepare_firsts", "prepare_bincount", "prepare_weighted",
    "prepare_placed", "prepare_inverse_order",
]
