"""Matrices that live in several places at once: NumPy array, flat buffer, C pointer; copied lazily, never lost.

>>> import mat
>>> x = mat.array([[1, 2], [3, 4]])
>>> mat.axpy(10, mat.ones(2, 2), x)
<Mat 2x2 AF [[11. 12.] [13. 14.]]>

`Mat` is the matrix, `with_facets` the way to look at several, `show` the printer that tells where data is, `extend` what an
extension imports. ``docs/tutorial.md`` is the place to begin.
"""

import importlib as _importlib
from typing import Any as _Any

from . import debug, errors, extend
from . import emulated as _emulated
from .access import barrier, with_facets
from .config import show_config
from .create import arange, array, empty, eye, from_numpy, full, ones, zeros
from .cube import Direction
from .devices import cuda_available, set_device, use_cuda, use_device
from .dtypes import SUPPORTED as supported_dtypes  # noqa: N811  a constant there, a public name here
from .errors import (
    AliasError,
    ConflictError,
    DeviceError,
    DirectionError,
    DTypeError,
    ExchangeError,
    FacetError,
    FormatError,
    IndexOutOfRange,
    KernelError,
    LinAlgError,
    MatError,
    OutOfDeviceMemory,
    SettingError,
    ShapeError,
    TornError,
)
from .facets import array as _array
from .facets import backing as _backing
from .facets import cuda_host as _cuda_host
from .facets import foreign as _foreign
from .files.public import load, load_all, save, save_all
from .interop import arrow as _arrow
from .interop import dask as _dask
from .interop import functions as _functions
from .interop import methods as _methods
from .interop import operators as _operators
from .interop import pickling as _pickling
from .interop.dlpack import from_dlpack
from .ledger import trace
from .mat import FacetState, Mat
from .notebook import load_ipython_extension
from .ops import index as _index
from .ops.elementwise import (
    abs,
    add,
    add_sign,
    ceil,
    cos,
    cosh,
    divide,
    equal,
    erf,
    exp,
    expm1,
    floor,
    geem,
    geerv,
    greater,
    greater_equal,
    less,
    less_equal,
    log,
    log1p,
    logistic,
    maximum,
    minimum,
    multiply,
    negative,
    not_equal,
    pow,
    reciprocal,
    rint,
    sign,
    sin,
    sinh,
    sqrt,
    square,
    subtract,
    tan,
    tanh,
)
from .ops.kernel import kernel
from .ops.level1 import asum, axpy, copy, dot, iamax, nrm2, scal, swap, vdot
from .ops.level3 import gemm, gemm_batched, gemv, ger, syrk, trsm
from .ops.linalg import cholesky, inv, matmul, multi_dot, slogdet, solve
from .ops.nn import convolve, derive_convolve, derive_max_pool, max_pool
from .ops.random import multivariate_normal
from .ops.reduce import argmax, argmin, max, mean, min, prod, scale_columns, scale_rows, sum
from .ops.shape import allclose, concat, map_concat, map_displacements, map_into, stack, transpose
from .prefetch import prefetch
from .report import memory_report
from .rng import Rng, seed
from .scratch import ones_view, scratch
from .settings import configure, settings
from .show import show
from .version import __version__

__all__ = [
    # Creation and basics
    "Mat", "zeros", "ones", "full", "empty", "eye", "arange", "array", "from_numpy", "from_dlpack", "allclose",
    "supported_dtypes", "settings", "configure",
    # Shaping
    "concat", "stack", "map_concat", "map_displacements", "map_into", "transpose",
    # BLAS
    "asum", "nrm2", "dot", "vdot", "iamax", "scal", "axpy", "copy", "swap", "gemv", "ger", "gemm", "syrk", "trsm",
    "gemm_batched", "matmul", "multi_dot", "inv", "slogdet", "solve", "cholesky",
    # Element-wise, row and column, reductions
    "square", "sqrt", "log", "exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "abs", "negative", "sign", "log1p",
    "expm1", "floor", "ceil", "rint", "erf", "reciprocal", "logistic", "pow", "add", "subtract", "multiply", "divide",
    "minimum", "maximum", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "geem", "geerv",
    "add_sign", "sum", "mean", "prod", "max", "min", "argmax", "argmin", "scale_rows", "scale_columns",
    "convolve", "derive_convolve", "max_pool", "derive_max_pool",
    # Random numbers
    "Rng", "seed", "multivariate_normal",
    # Facets, memory, devices
    "use_device", "use_cuda", "set_device", "cuda_available", "prefetch", "with_facets", "FacetState", "Direction", "barrier",
    "scratch", "ones_view", "kernel", "show", "show_config", "memory_report", "trace", "debug", "extend",
    # Files
    "save", "load", "save_all", "load_all",
    # Errors
    "errors", "MatError", "ShapeError", "DTypeError", "DirectionError", "FacetError", "IndexOutOfRange", "AliasError",
    "ConflictError", "TornError", "LinAlgError", "DeviceError", "OutOfDeviceMemory", "FormatError", "KernelError",
    "SettingError", "ExchangeError", "__version__",
]


def __getattr__(name: str) -> _Any:
    """`mat.array_api`, which is loaded when first asked for."""
    if name == "array_api":
        return _importlib.import_module(f"{__name__}.array_api")
    raise AttributeError(f"module 'mat' has no attribute {name!r}")
