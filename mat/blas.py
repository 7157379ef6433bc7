"""BLAS under BLAS's names: `mat.blas`, whose verbs write their last operand and return it.

`copy`, `dot` and `vdot` are here only: in `mat`, these names are NumPy's functions. All others are
in `mat`, too.

>>> import mat
>>> x = mat.arange(4.0)
>>> mat.blas.copy(x, mat.zeros(2, 2))
<Mat 2x2 F [[0. 1.] [2. 3.]]>
>>> mat.blas.dot(x, x)
14.0
"""

from .ops.linear.blas_gemm import gemm, gemm_batched
from .ops.linear.blas_level1 import asum, axpy, copy, dot, iamax, nrm2, scal, swap, vdot
from .ops.linear.blas_level23 import gemv, ger, syrk, trsm
from .support.close_names import name_what_is_close as _name_what_is_close

__all__ = [
    "asum", "axpy", "copy", "dot", "gemm", "gemm_batched", "gemv", "ger", "iamax", "nrm2", "scal",
    "swap", "syrk", "trsm", "vdot",
]


_name_what_is_close(__name__)
