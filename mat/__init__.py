"""Matrices that live in several places at once: NumPy array, flat buffer, C pointer; copied lazily, never lost.

See `mat.Mat`, `mat.with_facets`, and ``docs/tutorial.md``.
"""

from . import debug, errors, extend
from .create import arange, array, empty, eye, from_numpy, full, ones, zeros
from .cube import Direction
from .dtypes import SUPPORTED as supported_dtypes
from .errors import (
    AliasError,
    ConflictError,
    DeviceError,
    DirectionError,
    DTypeError,
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
from .facets import array as _array, backing as _backing, foreign as _foreign
from .mat import FacetState, Mat, barrier, with_facets
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
from .ops.level1 import asum, axpy, copy, dot, iamax, nrm2, scal, swap, vdot
from .ops.level3 import gemm, gemm_batched, gemv, ger, syrk, trsm
from .ops.linalg import cholesky, inv, matmul, multi_dot, slogdet, solve
from .ops.reduce import argmax, argmin, max, mean, min, prod, scale_columns, scale_rows, sum
from .ops.shape import allclose, concat, map_concat, map_displacements, map_into, stack, transpose
from .settings import configure, settings
from .show import show

from .version import __version__
