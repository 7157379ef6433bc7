"""The engine for operands in a GPU's memory: the argument of implementations for the facet
``cuda``, as ``cpu.engine`` is for the host's.

Functions that do the same have the names and arguments of the host's engine. None of them checks.
"""

from __future__ import annotations

from ..cpu.elementwise import KernelPlaces
from .kernels.compare import prepare_comparison
from .kernels.conv import prepare_conv, prepare_conv_to_w, prepare_conv_to_x
from .kernels.copy import prepare_convert, prepare_copy
from .kernels.elementwise import prepare_elementwise, prepare_fill
from .kernels.fold import FOLDS, FoldPart, RowProgram, is_of_rows, prepare_fold, prepare_rows
from .kernels.integer_matmul import prepare_integer_matmul, prepare_scale, prepare_scale_sums
from .kernels.nn import (
    prepare_convolve,
    prepare_pool,
    prepare_pool_back,
    prepare_to_w,
    prepare_to_x,
)
from .kernels.program import PARTS, ProgramLine, fits_call, is_compiled, prepare_program
from .kernels.random import prepare_random
from .kernels.reduce import (
    ExtremeKernels,
    MeanKernels,
    NumberKernels,
    PositionKernels,
    ProductKernels,
    SumKernels,
    VarianceKernels,
    reduction,
)
from .kernels.scan import prepare_scan
from .kernels.selection import (
    prepare_accumulate,
    prepare_gather,
    prepare_gather_along,
    prepare_join,
    prepare_mask_positions,
    prepare_mask_starts,
    prepare_pick,
    prepare_scatter,
    prepare_select,
    prepare_within,
)
from .kernels.sort import (
    prepare_between,
    prepare_bincount,
    prepare_firsts,
    prepare_inverse_order,
    prepare_placed,
    prepare_searchsorted,
    prepare_sort,
    prepare_weighted,
)
from .kernels.user import UserKernel, prepare_user_kernel
from .libraries.blas import COUNTS as LIMIT
from .libraries.blas import (
    ScaledSums,
    ScalingProduct,
    ThroughWider,
    prepare_dot,
    prepare_either,
    prepare_gemm,
    prepare_gemm_batched,
    prepare_gemv,
    prepare_ger,
    prepare_scale_vector,
    prepare_syrk,
    prepare_trsm,
    vectors,
)
from .libraries.cublaslt import prepare_float8_product
from .libraries.cufft import prepare_fourier
from .libraries.factor import (
    prepare_cholesky,
    prepare_eig,
    prepare_eigh,
    prepare_inverse,
    prepare_qr,
    prepare_slogdet,
    prepare_slogdets,
    prepare_solution,
    prepare_svd,
)
from .runtime.kernel import OPERANDS, CudaKernel
from .runtime.nvrtc import Program
