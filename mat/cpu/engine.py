"""What computes through C pointers: BLAS and our compiled kernels under one name, handed to bodies for the host's facets.

Functions take operands as the facets present them: ``pointer``, ``layout``, ``letter``, ``dtype``. None of them checks.
"""

from __future__ import annotations

from .blas import (
    asum,
    axpy,
    copy,
    dot,
    gemm,
    gemv,
    ger,
    iamax,
    nrm2,
    prepare_gemm,
    scal,
    swap,
    syrk,
    trsm,
    vdot,
)
from .elementwise import prepare_elementwise

__all__ = [
    "asum", "axpy", "copy", "dot", "gemm", "gemv", "ger", "iamax", "nrm2", "prepare_elementwise", "prepare_gemm", "scal",
    "swap", "syrk", "trsm", "vdot",
]
