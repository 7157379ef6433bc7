"""Types of `mat`.

Written by ``python -m tests.types.stubs``, with NumPy 2.4.6: not to be edited.
"""

import builtins
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, NamedTuple, SupportsIndex, TypeVar, overload

import numpy as np

from .support.types import Array
from .support.types import ArrayLike
from .support.types import AxisLike
from .support.types import CudaName
from .support.types import DTypeLike
from .devices.device import Device
from .support.types import DeviceArray
from .devices.device import DeviceLike
from .support.types import DeviceName
from .support.types import DirectionName
from .devices.emulated_array import EmulatedArray
from .support.types import EmulatedName
from .support.types import Entry
from .support.types import File
from .support.c_pointers import ForeignArray
from .support.types import Presents
from .support.types import Scalar
from .support.types import ShapeLike
from . import blas as blas
from . import debug as debug
from . import errors as errors
from . import extend as extend
from . import fft as fft
from . import lib as lib
from . import linalg as linalg
from . import nn as nn
from . import random as random
from .core.direction import Direction as Direction
from .debug.memory_report import memory_report as memory_report
from .debug.show import show as show
from .debug.show_config import show_config as show_config
from .devices.device import cuda_available as cuda_available
from .devices.device import set_device as set_device
from .devices.device import use_cuda as use_cuda
from .devices.device import use_device as use_device
from .errors import AliasError as AliasError
from .errors import AxisError as AxisError
from .errors import ConflictError as ConflictError
from .errors import DTypeError as DTypeError
from .errors import DeviceError as DeviceError
from .errors import DirectionError as DirectionError
from .errors import DiskError as DiskError
from .errors import ExchangeError as ExchangeError
from .errors import FacetError as FacetError
from .errors import FormatError as FormatError
from .errors import GraphError as GraphError
from .errors import IndexOutOfRange as IndexOutOfRange
from .errors import IndexTypeError as IndexTypeError
from .errors import IntegerError as IntegerError
from .errors import KernelError as KernelError
from .errors import LinAlgError as LinAlgError
from .errors import MatError as MatError
from .errors import OutOfDeviceMemory as OutOfDeviceMemory
from .errors import PerformanceWarning as PerformanceWarning
from .errors import PowerError as PowerError
from .errors import RangeError as RangeError
from .errors import SettingError as SettingError
from .errors import ShapeError as ShapeError
from .errors import TornError as TornError
from .errors import UninitialisedError as UninitialisedError
from .interop.numpy.namespace import emath as emath
from .interop.numpy.namespace import testing as testing
from .interop.numpy.namespace.info import __array_namespace_info__ as __array_namespace_info__
from .interop.numpy.namespace.objects import broadcast as broadcast
from .interop.numpy.namespace.objects import c_ as c_
from .interop.numpy.namespace.objects import fromfunction as fromfunction
from .interop.numpy.namespace.objects import mgrid as mgrid
from .interop.numpy.namespace.objects import ndenumerate as ndenumerate
from .interop.numpy.namespace.objects import nditer as nditer
from .interop.numpy.namespace.objects import ogrid as ogrid
from .interop.numpy.namespace.objects import poly1d as poly1d
from .interop.numpy.namespace.objects import r_ as r_
from .interop.numpy.namespace.objects import ufunc as ufunc
from .interop.numpy.namespace.objects import vectorize as vectorize
from .io.api import save as save
from .io.archives import load as load
from .io.archives import load_all as load_all
from .io.archives import save_all as save_all
from .io.memmap import open_memmap as open_memmap
from .matrix.arrays import array as array
from .matrix.arrays import asanyarray as asanyarray
from .matrix.arrays import asarray as asarray
from .matrix.arrays import ascontiguousarray as ascontiguousarray
from .matrix.arrays import asfortranarray as asfortranarray
from .matrix.creation import from_numpy as from_numpy
from .matrix.filled import eye as eye
from .matrix.filled import identity as identity
from .matrix.generator import Rng as Rng
from .matrix.generator import seed as seed
from .matrix.graph import graph as graph
from .matrix.mat import FacetState as FacetState
from .matrix.mat import Mat as Mat
from .matrix.mat import Mat as ndarray
from .matrix.prefetch import prefetch as prefetch
from .matrix.ranges import geomspace as geomspace
from .matrix.ranges import logspace as logspace
from .matrix.scratch import ones_view as ones_view
from .matrix.scratch import scratch as scratch
from .matrix.with_facets import barrier as barrier
from .memories.trim import trim as trim
from .ops.joining import concat as concat
from .ops.joining import stack as stack
from .ops.linalg import cholesky as cholesky
from .ops.linalg import inv as inv
from .ops.linalg import solve as solve
from .ops.mapping import map_concat as map_concat
from .ops.mapping import map_displacements as map_displacements
from .ops.mapping import map_into as map_into
from .ops.product_chains import multi_dot as multi_dot
from .ops.quantization import dequantize as dequantize
from .ops.quantization import quantize as quantize
from .ops.quantization import scaled_matmul as scaled_matmul
from .ops.random import multivariate_normal as multivariate_normal
from .ops.scaling import scale_columns as scale_columns
from .ops.scaling import scale_rows as scale_rows
from .ops.user_kernel import kernel as kernel
from .support.dtypes import SUPPORTED as supported_dtypes
from .support.settings import configure as configure
from .support.settings import settings as settings
from .version import __version__ as __version__
from numpy import False_ as False_
from numpy import ScalarType as ScalarType
from numpy import True_ as True_
from numpy import base_repr as base_repr
from numpy import binary_repr as binary_repr
from numpy import bool as bool
from numpy import bool as bool_
from numpy import broadcast_shapes as broadcast_shapes
from numpy import bytes_ as bytes_
from numpy import char as char
from numpy import character as character
from numpy import clongdouble as clongdouble
from numpy import clongdouble as complex256
from numpy import complex128 as cdouble
from numpy import complex128 as complex128
from numpy import complex64 as complex64
from numpy import complex64 as csingle
from numpy import complexfloating as complexfloating
from numpy import ctypeslib as ctypeslib
from numpy import datetime64 as datetime64
from numpy import dtype as dtype
from numpy import dtypes as dtypes
from numpy import errstate as errstate
from numpy import exceptions as exceptions
from numpy import finfo as finfo
from numpy import flatiter as flatiter
from numpy import flexible as flexible
from numpy import float16 as float16
from numpy import float16 as half
from numpy import float32 as float32
from numpy import float32 as single
from numpy import float64 as double
from numpy import float64 as float64
from numpy import floating as floating
from numpy import format_float_positional as format_float_positional
from numpy import format_float_scientific as format_float_scientific
from numpy import generic as generic
from numpy import get_include as get_include
from numpy import get_printoptions as get_printoptions
from numpy import getbufsize as getbufsize
from numpy import geterr as geterr
from numpy import geterrcall as geterrcall
from numpy import iinfo as iinfo
from numpy import index_exp as index_exp
from numpy import inexact as inexact
from numpy import info as info
from numpy import int16 as int16
from numpy import int16 as short
from numpy import int32 as int32
from numpy import int32 as intc
from numpy import int64 as int64
from numpy import int64 as int_
from numpy import int64 as intp
from numpy import int64 as long
from numpy import int8 as byte
from numpy import int8 as int8
from numpy import integer as integer
from numpy import isdtype as isdtype
from numpy import isscalar as isscalar
from numpy import issubdtype as issubdtype
from numpy import iterable as iterable
from numpy import little_endian as little_endian
from numpy import longdouble as float128
from numpy import longdouble as longdouble
from numpy import longlong as longlong
from numpy import ma as ma
from numpy import mintypecode as mintypecode
from numpy import ndindex as ndindex
from numpy import number as number
from numpy import object_ as object_
from numpy import polynomial as polynomial
from numpy import printoptions as printoptions
from numpy import promote_types as promote_types
from numpy import rec as rec
from numpy import s_ as s_
from numpy import sctypeDict as sctypeDict
from numpy import set_printoptions as set_printoptions
from numpy import setbufsize as setbufsize
from numpy import seterr as seterr
from numpy import seterrcall as seterrcall
from numpy import show_runtime as show_runtime
from numpy import signedinteger as signedinteger
from numpy import str_ as str_
from numpy import strings as strings
from numpy import timedelta64 as timedelta64
from numpy import typecodes as typecodes
from numpy import typename as typename
from numpy import typing as typing
from numpy import uint16 as uint16
from numpy import uint16 as ushort
from numpy import uint32 as uint32
from numpy import uint32 as uintc
from numpy import uint64 as uint
from numpy import uint64 as uint64
from numpy import uint64 as uintp
from numpy import uint64 as ulong
from numpy import uint8 as ubyte
from numpy import uint8 as uint8
from numpy import ulonglong as ulonglong
from numpy import unsignedinteger as unsignedinteger
from numpy import void as void
import mat as array_api

__all__ = [
    "AliasError", "AxisError", "ConflictError", "DTypeError", "DeviceError", "Direction",
    "DirectionError", "DiskError", "ExchangeError", "FacetError", "FacetState", "False_",
    "FormatError", "GraphError", "IndexOutOfRange", "IndexTypeError", "IntegerError",
    "KernelError", "LinAlgError", "Mat", "MatError", "OutOfDeviceMemory", "PerformanceWarning",
    "PowerError", "RangeError", "Rng", "ScalarType", "SettingError", "ShapeError", "TornError",
    "True_", "UninitialisedError", "__array_api_version__", "__array_namespace_info__",
    "__version__", "abs", "absolute", "acos", "acosh", "add", "add_sign", "all", "allclose",
    "amax", "amin", "angle", "any", "append", "apply_along_axis", "apply_over_axes", "arange",
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "argmax", "argmin",
    "argpartition", "argsort", "argwhere", "around", "array", "array2string", "array_api",
    "array_equal", "array_equiv", "array_repr", "array_split", "array_str", "asanyarray",
    "asarray", "asarray_chkfinite", "ascontiguousarray", "asfortranarray", "asin", "asinh",
    "astype", "asum", "atan", "atan2", "atanh", "atleast_1d", "atleast_2d", "atleast_3d",
    "average", "axpy", "barrier", "bartlett", "base_repr", "binary_repr", "bincount",
    "bitwise_and", "bitwise_count", "bitwise_invert", "bitwise_left_shift", "bitwise_not",
    "bitwise_or", "bitwise_right_shift", "bitwise_xor", "blackman", "blas", "block", "bool",
    "bool_", "broadcast", "broadcast_arrays", "broadcast_shapes", "broadcast_to", "byte", "bytes_",
    "c_", "can_cast", "cbrt", "cdouble", "ceil", "char", "character", "cholesky", "choose", "clip",
    "clongdouble", "column_stack", "common_type", "complex128", "complex256", "complex64",
    "complexfloating", "compress", "concat", "concatenate", "configure", "conj", "conjugate",
    "convolve", "copy", "copysign", "copyto", "corrcoef", "correlate", "cos", "cosh",
    "count_nonzero", "cov", "cross", "csingle", "ctypeslib", "cuda_available", "cumprod", "cumsum",
    "cumulative_prod", "cumulative_sum", "datetime64", "debug", "deg2rad", "degrees", "delete",
    "dequantize", "diag", "diag_indices", "diag_indices_from", "diagflat", "diagonal", "diff",
    "digitize", "divide", "divmod", "dot", "double", "dsplit", "dstack", "dtype", "dtypes", "e",
    "ediff1d", "einsum", "einsum_path", "emath", "empty", "empty_like", "equal", "erf", "errors",
    "errstate", "euler_gamma", "exceptions", "exp", "exp2", "expand_dims", "expm1", "extend",
    "extract", "eye", "fabs", "fft", "fill_diagonal", "finfo", "fix", "flatiter", "flatnonzero",
    "flexible", "flip", "fliplr", "flipud", "float128", "float16", "float32", "float64",
    "float_power", "floating", "floor", "floor_divide", "fmax", "fmin", "fmod",
    "format_float_positional", "format_float_scientific", "frexp", "from_dlpack", "from_numpy",
    "frombuffer", "fromfile", "fromfunction", "fromiter", "fromregex", "fromstring", "full",
    "full_like", "gcd", "geem", "geerv", "gemm", "gemm_batched", "gemv", "generic", "genfromtxt",
    "geomspace", "ger", "get_include", "get_printoptions", "getbufsize", "geterr", "geterrcall",
    "gradient", "graph", "greater", "greater_equal", "half", "hamming", "hanning", "heaviside",
    "histogram", "histogram2d", "histogram_bin_edges", "histogramdd", "hsplit", "hstack", "hypot",
    "i0", "iamax", "identity", "iinfo", "imag", "index_exp", "indices", "inexact", "inf", "info",
    "inner", "insert", "int16", "int32", "int64", "int8", "int_", "intc", "integer", "interp",
    "intersect1d", "intp", "inv", "invert", "isclose", "iscomplex", "iscomplexobj", "isdtype",
    "isfinite", "isfortran", "isin", "isinf", "isnan", "isnat", "isneginf", "isposinf", "isreal",
    "isrealobj", "isscalar", "issubdtype", "iterable", "ix_", "kaiser", "kernel", "kron", "lcm",
    "ldexp", "left_shift", "less", "less_equal", "lexsort", "lib", "linalg", "linspace",
    "little_endian", "load", "load_all", "loadtxt", "log", "log10", "log1p", "log2", "logaddexp",
    "logaddexp2", "logical_and", "logical_not", "logical_or", "logical_xor", "logistic",
    "logspace", "long", "longdouble", "longlong", "ma", "map_concat", "map_displacements",
    "map_into", "mask_indices", "matmul", "matrix_transpose", "matvec", "max", "maximum",
    "may_share_memory", "mean", "median", "memory_report", "meshgrid", "mgrid", "min",
    "min_scalar_type", "minimum", "mintypecode", "mod", "modf", "moveaxis", "multi_dot",
    "multiply", "multivariate_normal", "nan", "nan_to_num", "nanargmax", "nanargmin", "nancumprod",
    "nancumsum", "nanmax", "nanmean", "nanmedian", "nanmin", "nanpercentile", "nanprod",
    "nanquantile", "nanstd", "nansum", "nanvar", "ndarray", "ndenumerate", "ndim", "ndindex",
    "nditer", "negative", "newaxis", "nextafter", "nn", "nonzero", "not_equal", "nrm2", "number",
    "object_", "ogrid", "ones", "ones_like", "ones_view", "open_memmap", "outer", "packbits",
    "pad", "partition", "percentile", "permute_dims", "pi", "piecewise", "place", "poly", "poly1d",
    "polyadd", "polyder", "polydiv", "polyfit", "polyint", "polymul", "polynomial", "polysub",
    "polyval", "positive", "pow", "power", "prefetch", "printoptions", "prod", "promote_types",
    "ptp", "put", "put_along_axis", "putmask", "quantile", "quantize", "r_", "rad2deg", "radians",
    "random", "ravel", "ravel_multi_index", "real", "real_if_close", "rec", "reciprocal",
    "remainder", "repeat", "require", "reshape", "resize", "result_type", "right_shift", "rint",
    "roll", "rollaxis", "roots", "rot90", "round", "row_stack", "s_", "save", "save_all",
    "savetxt", "savez", "savez_compressed", "scal", "scale_columns", "scale_rows", "scaled_matmul",
    "scratch", "sctypeDict", "searchsorted", "seed", "select", "set_device", "set_printoptions",
    "setbufsize", "setdiff1d", "seterr", "seterrcall", "settings", "setxor1d", "shape",
    "shares_memory", "short", "show", "show_config", "show_runtime", "sign", "signbit",
    "signedinteger", "sin", "sinc", "single", "sinh", "size", "slogdet", "solve", "sort",
    "sort_complex", "spacing", "split", "sqrt", "square", "squeeze", "stack", "std", "str_",
    "strings", "subtract", "sum", "supported_dtypes", "swap", "swapaxes", "syrk", "take",
    "take_along_axis", "tan", "tanh", "tensordot", "testing", "tile", "timedelta64", "trace",
    "transpose", "trapezoid", "tri", "tril", "tril_indices", "tril_indices_from", "trim",
    "trim_zeros", "triu", "triu_indices", "triu_indices_from", "trsm", "true_divide", "trunc",
    "typecodes", "typename", "typing", "ubyte", "ufunc", "uint", "uint16", "uint32", "uint64",
    "uint8", "uintc", "uintp", "ulong", "ulonglong", "union1d", "unique", "unique_all",
    "unique_counts", "unique_inverse", "unique_values", "unpackbits", "unravel_index",
    "unsignedinteger", "unstack", "unwrap", "use_cuda", "use_device", "ushort", "vander", "var",
    "vdot", "vecdot", "vecmat", "vectorize", "void", "vsplit", "vstack", "where", "with_facets",
    "zeros", "zeros_like",
]

class _UniqueAllResult(NamedTuple):
    values: Mat
    indices: Mat
    inverse_indices: Mat
    counts: Mat

class _UniqueCountsResult(NamedTuple):
    values: Mat
    counts: Mat

class _UniqueInverseResult(NamedTuple):
    values: Mat
    inverse_indices: Mat

__array_api_version__: str
def abs(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the absolute value of each element; the modulus of complex numbers."""

def absolute(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the absolute value of each element; the modulus of complex numbers."""

def acos(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the angle in radians whose cosine each element is."""

def acosh(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the inverse hyperbolic cosine of each element."""

def add(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return ``x + y``, element by element."""

def add_sign(alpha: Scalar, a: Mat, beta: Scalar, b: Mat) -> Mat:
    """Compute ``b <- alpha * sign(a) + beta * b``, element by element, and return `b`."""

def all(
    a: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    out: Mat | None = None,
    keepdims: builtins.bool = ...,
    *,
    where: ArrayLike = ...,
) -> Mat:
    """Return what ``numpy.all`` returns, with Mats for arrays."""

def allclose(
    a: ArrayLike,
    b: ArrayLike,
    rtol: ArrayLike = 1e-05,
    atol: ArrayLike = 1e-08,
    equal_nan: builtins.bool = False,
) -> builtins.bool:
    """Return whether ``|a - b| <= atol + rtol * |b|`` for all elements."""

def amax(
    a: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    out: Mat | None = None,
    keepdims: builtins.bool = ...,
    initial: ArrayLike = ...,
    where: ArrayLike = ...,
) -> Mat:
    """Return what ``numpy.amax`` returns, with Mats for arrays."""

def amin(
    a: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    out: Mat | None = None,
    keepdims: builtins.bool = ...,
    initial: ArrayLike = ...,
    where: ArrayLike = ...,
) -> Mat:
    """Return what ``numpy.amin`` returns, with Mats for arrays."""

def angle(z: object, deg: ArrayLike = False) -> Mat:
    """Return what ``numpy.angle`` returns, with Mats for arrays."""

def any(
    a: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    out: Mat | None = None,
    keepdims: builtins.bool = ...,
    *,
    where: ArrayLike = ...,
) -> Mat:
    """Return what ``numpy.any`` returns, with Mats for arrays."""

def append(
    arr: ArrayLike,
    values: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
) -> Mat:
    """Return what ``numpy.append`` returns, with Mats for arrays."""

def apply_along_axis(
    func1d: Callable[..., object],
    axis: SupportsIndex,
    arr: ArrayLike,
    *args: object,
    **kwargs: object,
) -> Mat:
    """Return what ``numpy.apply_along_axis`` returns, with Mats for arrays."""

def apply_over_axes(func: Callable[..., object], a: ArrayLike, axes: object) -> Mat:
    """Return what ``numpy.apply_over_axes`` returns, with Mats for arrays."""

def arange(
    start: Scalar | None = None,
    stop: Scalar | None = None,
    step: Scalar | None = None,
    dtype: DTypeLike = None,
    *,
    device: DeviceLike = None,
    like: object = None,
) -> Mat:
    """Return evenly spaced numbers in a half-open interval."""

def arccos(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the angle in radians whose cosine each element is."""

def arccosh(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the inverse hyperbolic cosine of each element."""

def arcsin(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the angle in radians whose sine each element is."""

def arcsinh(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the inverse hyperbolic sine of each element."""

def arctan(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the angle in radians whose tangent each element is."""

def arctan2(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the angle of the point with the coordinates y and x, in radians."""

def arctanh(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the inverse hyperbolic tangent of each element."""

def argmax(
    a: ArrayLike,
    axis: int | None = None,
    out: Mat | None = None,
    *,
    keepdims: builtins.bool = False,
) -> Mat:
    """Return the index of the first largest element along `axis`, or in row-major order."""

def argmin(
    a: ArrayLike,
    axis: int | None = None,
    out: Mat | None = None,
    *,
    keepdims: builtins.bool = False,
) -> Mat:
    """Return the index of the first smallest element along `axis`, or in row-major order."""

def argpartition(
    a: ArrayLike,
    kth: ArrayLike,
    axis: SupportsIndex | None = -1,
    kind: object = 'introselect',
    order: Literal["C", "F", "A", "K"] | None = None,
) -> Mat:
    """Return what ``numpy.argpartition`` returns, with Mats for arrays."""

def argsort(
    a: ArrayLike,
    axis: SupportsIndex | None = -1,
    kind: Literal["Q", "quick", "quicksort", "M", "merge", "mergesort", "H", "heap", "heapsort", "S", "stable", "stablesort"] | None = None,
    order: Literal["C", "F", "A", "K"] | None = None,
    *,
    stable: builtins.bool | None = None,
    descending: builtins.bool | None = None,
) -> Mat:
    """Return what ``numpy.argsort`` returns, with Mats for arrays."""

def argwhere(a: ArrayLike) -> Mat:
    """Return what ``numpy.argwhere`` returns, with Mats for arrays."""

def around(a: ArrayLike, decimals: ArrayLike = 0, out: Mat | None = None) -> Mat:
    """Return what ``numpy.around`` returns, with Mats for arrays."""

def array2string(
    a: ArrayLike,
    max_line_width: int | None = None,
    precision: SupportsIndex | None = None,
    suppress_small: builtins.bool | None = None,
    separator: str = ...,
    prefix: str = ...,
    *,
    formatter: object = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    sign: Literal['-', '+', ' '] | None = None,
    floatmode: Literal['fixed', 'unique', 'maxprec', 'maxprec_equal'] | None = None,
    suffix: str = ...,
    legacy: object | None = None,
) -> str:
    """Return what ``numpy.array2string`` returns, with Mats for arrays."""

def array_equal(a1: ArrayLike, a2: ArrayLike, equal_nan: builtins.bool = False) -> builtins.bool:
    """Return what ``numpy.array_equal`` returns, with Mats for arrays."""

def array_equiv(a1: ArrayLike, a2: ArrayLike) -> builtins.bool:
    """Return what ``numpy.array_equiv`` returns, with Mats for arrays."""

def array_repr(
    arr: ArrayLike,
    max_line_width: int | None = None,
    precision: SupportsIndex | None = None,
    suppress_small: builtins.bool | None = None,
) -> str:
    """Return what ``numpy.array_repr`` returns, with Mats for arrays."""

def array_split(
    ary: ArrayLike,
    indices_or_sections: ArrayLike,
    axis: SupportsIndex = 0,
) -> list[Mat]:
    """Return what ``numpy.array_split`` returns, with Mats for arrays."""

def array_str(
    a: ArrayLike,
    max_line_width: int | None = None,
    precision: SupportsIndex | None = None,
    suppress_small: builtins.bool | None = None,
) -> str:
    """Return what ``numpy.array_str`` returns, with Mats for arrays."""

def asarray_chkfinite(
    a: ArrayLike,
    dtype: DTypeLike = None,
    order: Literal["C", "F", "A", "K"] | None = None,
) -> Mat:
    """Return what ``numpy.asarray_chkfinite`` returns, with Mats for arrays."""

def asin(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the angle in radians whose sine each element is."""

def asinh(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the inverse hyperbolic sine of each element."""

def astype(
    x: ArrayLike,
    dtype: DTypeLike,
    /,
    *,
    copy: builtins.bool = True,
    device: DeviceName | Device | None = None,
) -> Mat:
    """Return what ``numpy.astype`` returns, with Mats for arrays."""

def asum(x: Mat, *, n: int | None = None, incx: int = 1) -> float:
    """Return ``sum |re x_i| + |im x_i|``."""

def atan(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the angle in radians whose tangent each element is."""

def atan2(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the angle of the point with the coordinates y and x, in radians."""

def atanh(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the inverse hyperbolic tangent of each element."""

def atleast_1d(*arys: Sequence[ArrayLike] | Mat) -> Mat:
    """Return what ``numpy.atleast_1d`` returns, with Mats for arrays."""

def atleast_2d(*arys: Sequence[ArrayLike] | Mat) -> Mat:
    """Return what ``numpy.atleast_2d`` returns, with Mats for arrays."""

def atleast_3d(*arys: Sequence[ArrayLike] | Mat) -> Mat:
    """Return what ``numpy.atleast_3d`` returns, with Mats for arrays."""

def average(
    a: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    weights: ArrayLike | None = None,
    returned: builtins.bool = False,
    *,
    keepdims: builtins.bool = ...,
) -> Mat:
    """Return what ``numpy.average`` returns, with Mats for arrays."""

def axpy(
    alpha: Scalar,
    x: Mat,
    y: Mat,
    *,
    n: int | None = None,
    incx: int = 1,
    incy: int = 1,
) -> Mat:
    """Compute ``y <- alpha * x + y`` and return `y`."""

def bartlett(M: ArrayLike) -> Mat:
    """Return what ``numpy.bartlett`` returns, with Mats for arrays."""

def bincount(
    x: ArrayLike,
    /,
    weights: ArrayLike | None = None,
    minlength: SupportsIndex = 0,
) -> Mat:
    """Return what ``numpy.bincount`` returns, with Mats for arrays."""

def bitwise_and(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the bits that are 1 in both operands; for booleans, whether both are true."""

def bitwise_count(
    x: ArrayLike,
    /,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return what ``numpy.bitwise_count`` returns, with Mats for arrays."""

def bitwise_invert(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the bits of x inverted; booleans negated."""

def bitwise_left_shift(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the bits of x, shifted to the left by y places."""

def bitwise_not(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the bits of x inverted; booleans negated."""

def bitwise_or(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the bits that are 1 in either operand or both; for booleans, whether either is true."""

def bitwise_right_shift(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the bits of x, shifted to the right by y places."""

def bitwise_xor(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the bits that are 1 in one operand only; for booleans, whether just one is true."""

def blackman(M: ArrayLike) -> Mat:
    """Return what ``numpy.blackman`` returns, with Mats for arrays."""

def block(arrays: Sequence[ArrayLike] | Mat) -> Mat:
    """Return what ``numpy.block`` returns, with Mats for arrays."""

def broadcast_arrays(*args: ArrayLike, subok: builtins.bool = False) -> tuple[Mat, ...]:
    """Return what ``numpy.broadcast_arrays`` returns, with Mats for arrays."""

def broadcast_to(array: ArrayLike, shape: ShapeLike, subok: builtins.bool = False) -> Mat:
    """Return what ``numpy.broadcast_to`` returns, with Mats for arrays."""

def can_cast(
    from_: ArrayLike | DTypeLike,
    to: DTypeLike,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = 'safe',
) -> builtins.bool:
    """Return what ``numpy.can_cast`` returns, with Mats for arrays."""

def cbrt(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the cube root of each element."""

def ceil(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the smallest integer not below each element."""

def choose(
    a: ArrayLike,
    choices: Sequence[ArrayLike] | Mat,
    out: Mat | None = None,
    mode: Literal["raise", "wrap", "clip"] = 'raise',
) -> Mat:
    """Return what ``numpy.choose`` returns, with Mats for arrays."""

def clip(
    a: ArrayLike,
    min: ArrayLike | None = None,
    max: ArrayLike | None = None,
    out: Mat | None = None,
    *,
    a_min: ArrayLike | None = None,
    a_max: ArrayLike | None = None,
    **kwargs: ArrayLike,
) -> Mat:
    """Return the elements, those beyond a bound being replaced by it."""

def column_stack(tup: Sequence[ArrayLike] | Mat) -> Mat:
    """Return what ``numpy.column_stack`` returns, with Mats for arrays."""

def common_type(*arrays: Sequence[ArrayLike] | Mat) -> Mat:
    """Return what ``numpy.common_type`` returns, with Mats for arrays."""

def compress(
    condition: ArrayLike,
    a: ArrayLike,
    axis: SupportsIndex | None = None,
    out: Mat | None = None,
) -> Mat:
    """Return what ``numpy.compress`` returns, with Mats for arrays."""

def concatenate(
    arrays: Sequence[ArrayLike] | Mat,
    /,
    axis: SupportsIndex | None = 0,
    out: Mat | None = None,
    *,
    dtype: DTypeLike = None,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
) -> Mat:
    """Return what ``numpy.concatenate`` returns, with Mats for arrays."""

def conj(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the elements with the signs of their imaginary parts changed."""

def conjugate(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the elements with the signs of their imaginary parts changed."""

def convolve(a: ArrayLike, v: ArrayLike, mode: str = 'full') -> Mat:
    """Return the convolution of two vectors."""

def copy(a: ArrayLike, order: str = 'K', subok: builtins.bool = False) -> Mat:
    """Return a new Mat with the elements of `a`."""

def copysign(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the elements of x with the signs of those of y."""

def copyto(
    dst: object,
    src: ArrayLike,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    where: ArrayLike = True,
) -> None:
    """Return what ``numpy.copyto`` returns, with Mats for arrays."""

def corrcoef(
    x: ArrayLike,
    y: ArrayLike | None = None,
    rowvar: builtins.bool = True,
    *,
    dtype: DTypeLike = None,
) -> Mat:
    """Return what ``numpy.corrcoef`` returns, with Mats for arrays."""

def correlate(a: ArrayLike, v: ArrayLike, mode: Literal['valid', 'same', 'full'] = 'valid') -> Mat:
    """Return what ``numpy.correlate`` returns, with Mats for arrays."""

def cos(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the cosine of each element, in radians."""

def cosh(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the hyperbolic cosine of each element."""

def count_nonzero(
    a: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    *,
    keepdims: builtins.bool = False,
) -> Mat:
    """Return what ``numpy.count_nonzero`` returns, with Mats for arrays."""

def cov(
    m: ArrayLike,
    y: ArrayLike | None = None,
    rowvar: builtins.bool = True,
    bias: builtins.bool = False,
    ddof: object = None,
    fweights: ArrayLike | None = None,
    aweights: ArrayLike | None = None,
    *,
    dtype: DTypeLike = None,
) -> Mat:
    """Return what ``numpy.cov`` returns, with Mats for arrays."""

def cross(
    a: ArrayLike,
    b: ArrayLike,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
) -> Mat:
    """Return what ``numpy.cross`` returns, with Mats for arrays."""

def cumprod(
    a: ArrayLike,
    axis: SupportsIndex | None = None,
    dtype: DTypeLike = None,
    out: Mat | None = None,
) -> Mat:
    """Return what ``numpy.cumprod`` returns, with Mats for arrays."""

def cumsum(
    a: ArrayLike,
    axis: SupportsIndex | None = None,
    dtype: DTypeLike = None,
    out: Mat | None = None,
) -> Mat:
    """Return what ``numpy.cumsum`` returns, with Mats for arrays."""

def cumulative_prod(
    x: ArrayLike,
    /,
    *,
    axis: SupportsIndex | None = None,
    dtype: DTypeLike = None,
    out: Mat | None = None,
    include_initial: builtins.bool = False,
) -> Mat:
    """Return what ``numpy.cumulative_prod`` returns, with Mats for arrays."""

def cumulative_sum(
    x: ArrayLike,
    /,
    *,
    axis: SupportsIndex | None = None,
    dtype: DTypeLike = None,
    out: Mat | None = None,
    include_initial: builtins.bool = False,
) -> Mat:
    """Return what ``numpy.cumulative_sum`` returns, with Mats for arrays."""

def deg2rad(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return each angle in degrees as radians."""

def degrees(
    x: ArrayLike,
    /,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return what ``numpy.degrees`` returns, with Mats for arrays."""

def delete(
    arr: ArrayLike,
    obj: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
) -> Mat:
    """Return what ``numpy.delete`` returns, with Mats for arrays."""

def diag(v: ArrayLike, k: int = 0) -> Mat:
    """Return what ``numpy.diag`` returns, with Mats for arrays."""

def diag_indices(n: int, ndim: int = 2) -> tuple[Mat, ...]:
    """Return what ``numpy.diag_indices`` returns, with Mats for arrays."""

def diag_indices_from(arr: ArrayLike) -> tuple[Mat, ...]:
    """Return what ``numpy.diag_indices_from`` returns, with Mats for arrays."""

def diagflat(v: ArrayLike, k: int = 0) -> Mat:
    """Return what ``numpy.diagflat`` returns, with Mats for arrays."""

def diagonal(
    a: ArrayLike,
    offset: SupportsIndex = 0,
    axis1: SupportsIndex = 0,
    axis2: SupportsIndex = 1,
) -> Mat:
    """Return what ``numpy.diagonal`` returns, with Mats for arrays."""

def diff(
    a: ArrayLike,
    n: Literal[0] | int = 1,
    axis: SupportsIndex = -1,
    prepend: ArrayLike = ...,
    append: ArrayLike = ...,
) -> Mat:
    """Return what ``numpy.diff`` returns, with Mats for arrays."""

def digitize(x: ArrayLike, bins: ArrayLike | str, right: ArrayLike = False) -> Mat:
    """Return what ``numpy.digitize`` returns, with Mats for arrays."""

def divide(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return ``x / y``, element by element; integers give floating point."""

def divmod(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: Mat | None = ...,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> tuple[Mat, Mat]:
    """Return what ``numpy.divmod`` returns, with Mats for arrays."""

def dot(a: ArrayLike, b: ArrayLike, out: Mat | None = None) -> Mat:
    """Return NumPy's dot product: over the last axis of `a` and the last but one of `b`."""

def dsplit(ary: ArrayLike, indices_or_sections: ArrayLike) -> list[Mat]:
    """Return what ``numpy.dsplit`` returns, with Mats for arrays."""

def dstack(tup: Sequence[ArrayLike] | Mat) -> Mat:
    """Return what ``numpy.dstack`` returns, with Mats for arrays."""

e: float
def ediff1d(
    ary: ArrayLike,
    to_end: ArrayLike | None = None,
    to_begin: ArrayLike | None = None,
) -> Mat:
    """Return what ``numpy.ediff1d`` returns, with Mats for arrays."""

def einsum(
    *operands: object,
    out: Mat | None = None,
    optimize: object = False,
    **kwargs: object,
) -> Mat:
    """Return what ``numpy.einsum`` returns, with Mats for arrays."""

def einsum_path(
    *operands: ArrayLike | DTypeLike,
    optimize: object = 'greedy',
    einsum_call: Literal[False] = False,
) -> tuple[list[Mat], str]:
    """Return what ``numpy.einsum_path`` returns, with Mats for arrays."""

@overload
def empty(*lengths: SupportsIndex, dtype: DTypeLike = None, order: Literal["C", "F"] = 'C',
    device: DeviceName | Device | None = None, like: object = None) -> Mat: ...
@overload
def empty(shape: ShapeLike, dtype: DTypeLike = None, order: Literal["C", "F"] = 'C',
    device: DeviceName | Device | None = None, like: object = None) -> Mat: ...
def empty_like(
    a: ArrayLike,
    dtype: DTypeLike = None,
    order: str | None = 'K',
    subok: builtins.bool = True,
    shape: ShapeLike | None = None,
    *,
    device: DeviceLike = None,
) -> Mat:
    """Return arbitrary elements in the shape of another Mat or array."""

def equal(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return ``x == y``: builtins.bool, or 1 and 0 in place."""

def erf(x: ArrayLike, out: Mat | None = None) -> Mat:
    """Return the error function, ``2 / sqrt(pi) * integral of exp(-t^2) from 0 to x``."""

euler_gamma: float
def exp(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the exponential of each element."""

def exp2(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return 2 to the power of each element."""

def expand_dims(a: ArrayLike, axis: SupportsIndex | Sequence[SupportsIndex] | None) -> Mat:
    """Return what ``numpy.expand_dims`` returns, with Mats for arrays."""

def expm1(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the exponential of each element minus 1, exact also near 0."""

def extract(condition: ArrayLike, arr: ArrayLike) -> Mat:
    """Return what ``numpy.extract`` returns, with Mats for arrays."""

def fabs(
    x: ArrayLike,
    /,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return what ``numpy.fabs`` returns, with Mats for arrays."""

def fill_diagonal(a: ArrayLike, val: ArrayLike, wrap: builtins.bool = False) -> None:
    """Return what ``numpy.fill_diagonal`` returns, with Mats for arrays."""

def fix(x: ArrayLike, out: Mat | None = None) -> Mat:
    """Return what ``numpy.fix`` returns, with Mats for arrays."""

def flatnonzero(a: ArrayLike) -> Mat:
    """Return what ``numpy.flatnonzero`` returns, with Mats for arrays."""

def flip(m: ArrayLike, axis: SupportsIndex | Sequence[SupportsIndex] | None = None) -> Mat:
    """Return what ``numpy.flip`` returns, with Mats for arrays."""

def fliplr(m: ArrayLike) -> Mat:
    """Return what ``numpy.fliplr`` returns, with Mats for arrays."""

def flipud(m: ArrayLike) -> Mat:
    """Return what ``numpy.flipud`` returns, with Mats for arrays."""

def float_power(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return what ``numpy.float_power`` returns, with Mats for arrays."""

def floor(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the largest integer not above each element."""

def floor_divide(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the largest integer not above ``x / y``."""

def fmax(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the larger of the elements of x and y; if one is NaN, the other."""

def fmin(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the smaller of the elements of x and y; if one is NaN, the other."""

def fmod(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the remainder of x / y rounded towards 0, which has the sign of x."""

def frexp(
    x: ArrayLike,
    /,
    out: Mat | None = ...,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> tuple[Mat, Mat]:
    """Return what ``numpy.frexp`` returns, with Mats for arrays."""

def from_dlpack(
    obj: ArrayLike,
    *,
    device: DeviceLike = None,
    copy: builtins.bool | None = None,
    exclusive: builtins.bool = False,
) -> Mat:
    """Return a Mat over the memory of another library's array, without copying."""

def frombuffer(
    buffer: object,
    dtype: DTypeLike = None,
    count: SupportsIndex = -1,
    offset: SupportsIndex = 0,
    *,
    like: None = None,
) -> Mat:
    """Return what ``numpy.frombuffer`` returns, with Mats for arrays."""

def fromfile(
    file: File,
    dtype: DTypeLike = None,
    count: SupportsIndex = -1,
    sep: str = ...,
    offset: SupportsIndex = 0,
    *,
    like: None = None,
) -> Mat:
    """Return what ``numpy.fromfile`` returns, with Mats for arrays."""

def fromiter(
    iter: object,
    dtype: DTypeLike,
    count: SupportsIndex = -1,
    *,
    like: None = None,
) -> Mat:
    """Return what ``numpy.fromiter`` returns, with Mats for arrays."""

def fromregex(file: File, regexp: object, dtype: DTypeLike, encoding: str | None = None) -> Mat:
    """Return what ``numpy.fromregex`` returns, with Mats for arrays."""

def fromstring(*args: ArrayLike, **kwargs: ArrayLike) -> Mat:
    """Return what ``numpy.fromstring`` returns, with Mats for arrays."""

def full(
    shape: ShapeLike,
    fill_value: Scalar,
    dtype: DTypeLike = None,
    order: str = 'C',
    *,
    device: DeviceLike = None,
    like: object = None,
) -> Mat:
    """Return a Mat whose elements are all `fill_value`."""

def full_like(
    a: ArrayLike,
    fill_value: ArrayLike,
    dtype: DTypeLike = None,
    order: str | None = 'K',
    subok: builtins.bool = True,
    shape: ShapeLike | None = None,
    *,
    device: DeviceLike = None,
) -> Mat:
    """Return elements of one value in the shape of another Mat or array."""

def gcd(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the greatest common divisor of the moduli of the integers."""

def geem(alpha: Scalar, a: Mat, b: Mat, beta: Scalar, c: Mat) -> Mat:
    """Compute ``c <- alpha * a * b + beta * c``, element by element, and return `c`."""

def geerv(alpha: Scalar, a: Mat, x: Mat, beta: Scalar, b: Mat) -> Mat:
    """Compute ``b <- alpha * a * X + beta * b``, every row of X being `x`, and return `b`."""

def gemm(
    alpha: Scalar,
    a: Mat,
    b: Mat,
    beta: Scalar,
    c: Mat,
    *,
    transpose_a: builtins.bool = False,
    transpose_b: builtins.bool = False,
    m: int | None = None,
    n: int | None = None,
    k: int | None = None,
    lda: int | None = None,
    ldb: int | None = None,
    ldc: int | None = None,
) -> Mat:
    """Compute ``C <- alpha * op(A) op(B) + beta * C`` and return `c`."""

def gemm_batched(
    alpha: Scalar,
    a: Mat,
    b: Mat,
    beta: Scalar,
    c: Mat,
    *,
    transpose_a: builtins.bool = False,
    transpose_b: builtins.bool = False,
) -> Mat:
    """Compute ``C_i <- alpha * op(A_i) op(B_i) + beta * C_i`` for each matrix of stacks."""

def gemv(alpha: Scalar, a: Mat, x: Mat, beta: Scalar, y: Mat, *, transpose: builtins.bool = False) -> Mat:
    """Compute ``y <- alpha * op(A) x + beta * y`` and return `y`."""

def genfromtxt(
    fname: object,
    dtype: DTypeLike = ...,
    comments: str = ...,
    delimiter: str | int | Iterable[int] | None = None,
    skip_header: int = 0,
    skip_footer: int = 0,
    converters: object = None,
    missing_values: object = None,
    filling_values: object = None,
    usecols: Sequence[int] | None = None,
    names: object = None,
    excludelist: Sequence[str] | None = None,
    deletechars: str = ...,
    replace_space: str = ...,
    autostrip: builtins.bool = False,
    case_sensitive: builtins.bool | Literal['upper', 'lower'] = True,
    defaultfmt: str = ...,
    unpack: builtins.bool | None = None,
    usemask: builtins.bool = False,
    loose: builtins.bool = True,
    invalid_raise: builtins.bool = True,
    max_rows: int | None = None,
    encoding: str | None = None,
    *,
    ndmin: Literal[0, 1, 2] = 0,
    like: None = None,
) -> Mat:
    """Return what ``numpy.genfromtxt`` returns, with Mats for arrays."""

def ger(alpha: Scalar, x: Mat, y: Mat, a: Mat) -> Mat:
    """Compute ``A <- alpha * x y^T + A`` and return `a`; nothing is conjugated."""

def gradient(
    f: object,
    *varargs: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    edge_order: Literal[1, 2] = 1,
) -> Mat:
    """Return what ``numpy.gradient`` returns, with Mats for arrays."""

def greater(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return ``x > y``: builtins.bool, or 1 and 0 in place."""

def greater_equal(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return ``x >= y``: builtins.bool, or 1 and 0 in place."""

def hamming(M: ArrayLike) -> Mat:
    """Return what ``numpy.hamming`` returns, with Mats for arrays."""

def hanning(M: ArrayLike) -> Mat:
    """Return what ``numpy.hanning`` returns, with Mats for arrays."""

def heaviside(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return 0 where x is negative, 1 where it is positive, and y where it is 0."""

def histogram(
    a: ArrayLike,
    bins: ArrayLike | str = 10,
    range: object = None,
    density: builtins.bool | None = None,
    weights: ArrayLike | None = None,
) -> tuple[Mat, Mat]:
    """Return what ``numpy.histogram`` returns, with Mats for arrays."""

def histogram2d(
    x: ArrayLike,
    y: ArrayLike,
    bins: ArrayLike | str = 10,
    range: object = None,
    density: builtins.bool | None = None,
    weights: ArrayLike | None = None,
) -> Mat:
    """Return what ``numpy.histogram2d`` returns, with Mats for arrays."""

def histogram_bin_edges(
    a: ArrayLike,
    bins: ArrayLike | str = 10,
    range: object = None,
    weights: ArrayLike | None = None,
) -> Mat:
    """Return what ``numpy.histogram_bin_edges`` returns, with Mats for arrays."""

def histogramdd(
    sample: ArrayLike,
    bins: ArrayLike | str = 10,
    range: object = None,
    density: builtins.bool | None = None,
    weights: ArrayLike | None = None,
) -> tuple[Mat, tuple[Mat, ...]]:
    """Return what ``numpy.histogramdd`` returns, with Mats for arrays."""

def hsplit(ary: ArrayLike, indices_or_sections: ArrayLike) -> list[Mat]:
    """Return what ``numpy.hsplit`` returns, with Mats for arrays."""

def hstack(
    tup: Sequence[ArrayLike] | Mat,
    *,
    dtype: DTypeLike = None,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
) -> Mat:
    """Return what ``numpy.hstack`` returns, with Mats for arrays."""

def hypot(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return ``sqrt(x * x + y * y)``, without overflow."""

def i0(x: ArrayLike) -> Mat:
    """Return what ``numpy.i0`` returns, with Mats for arrays."""

def iamax(x: Mat, *, n: int | None = None, incx: int = 1) -> int:
    """Return the first index of the largest ``|re x_i| + |im x_i|``."""

def imag(val: ArrayLike) -> Mat:
    """Return what ``numpy.imag`` returns, with Mats for arrays."""

@overload
def indices(dimensions: tuple[()], dtype: DTypeLike=..., sparse: Literal[False]=False) -> Mat: ...
@overload
def indices(dimensions: tuple[()], dtype: DTypeLike=..., *, sparse: Literal[True]) -> tuple[()]: ...
@overload
def indices(dimensions: tuple[int], dtype: DTypeLike, sparse: Literal[True]) -> tuple[Mat]: ...
inf: float
def inner(a: ArrayLike, b: ArrayLike, /) -> Mat:
    """Return what ``numpy.inner`` returns, with Mats for arrays."""

def insert(
    arr: ArrayLike,
    obj: ArrayLike,
    values: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
) -> Mat:
    """Return what ``numpy.insert`` returns, with Mats for arrays."""

def interp(
    x: ArrayLike,
    xp: ArrayLike,
    fp: ArrayLike,
    left: ArrayLike | None = None,
    right: ArrayLike | None = None,
    period: object = None,
) -> Mat:
    """Return what ``numpy.interp`` returns, with Mats for arrays."""

@overload
def intersect1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: builtins.bool=False,
    return_indices: Literal[False]=False,
) -> Mat: ...
@overload
def intersect1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: builtins.bool,
    return_indices: Literal[True],
) -> tuple[Mat, Mat, Mat]: ...
@overload
def intersect1d(
    ar1: ArrayLike,
    ar2: ArrayLike,
    assume_unique: builtins.bool=False,
    *,
    return_indices: Literal[True],
) -> tuple[Mat, Mat, Mat]: ...
def invert(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the bits of x inverted; booleans negated."""

def isclose(
    a: ArrayLike,
    b: ArrayLike,
    rtol: ArrayLike = 1e-05,
    atol: ArrayLike = 1e-08,
    equal_nan: builtins.bool = False,
) -> Mat:
    """Return what ``numpy.isclose`` returns, with Mats for arrays."""

def iscomplex(x: ArrayLike) -> Mat:
    """Return what ``numpy.iscomplex`` returns, with Mats for arrays."""

def iscomplexobj(x: ArrayLike) -> builtins.bool:
    """Return what ``numpy.iscomplexobj`` returns, with Mats for arrays."""

def isfinite(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return whether each element is neither infinite nor NaN."""

def isfortran(a: ArrayLike) -> builtins.bool:
    """Return what ``numpy.isfortran`` returns, with Mats for arrays."""

def isin(
    element: ArrayLike,
    test_elements: ArrayLike,
    assume_unique: builtins.bool = False,
    invert: builtins.bool = False,
    *,
    kind: Literal['sort', 'table'] | None = None,
) -> Mat:
    """Return what ``numpy.isin`` returns, with Mats for arrays."""

def isinf(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return whether each element is infinite."""

def isnan(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return whether each element is NaN."""

def isnat(
    x: ArrayLike,
    /,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return what ``numpy.isnat`` returns, with Mats for arrays."""

def isneginf(x: ArrayLike, out: Mat | None = None) -> Mat:
    """Return what ``numpy.isneginf`` returns, with Mats for arrays."""

def isposinf(x: ArrayLike, out: Mat | None = None) -> Mat:
    """Return what ``numpy.isposinf`` returns, with Mats for arrays."""

def isreal(x: ArrayLike) -> Mat:
    """Return what ``numpy.isreal`` returns, with Mats for arrays."""

def isrealobj(x: ArrayLike) -> builtins.bool:
    """Return what ``numpy.isrealobj`` returns, with Mats for arrays."""

def ix_(
    *args: Sequence[DTypeLike] | DTypeLike | Sequence[str] | Sequence[bytes] | Sequence[int] | Sequence[float] | Sequence[complex],
) -> tuple[()]:
    """Return what ``numpy.ix_`` returns, with Mats for arrays."""

def kaiser(M: ArrayLike, beta: ArrayLike) -> Mat:
    """Return what ``numpy.kaiser`` returns, with Mats for arrays."""

def kron(a: ArrayLike, b: ArrayLike) -> Mat:
    """Return what ``numpy.kron`` returns, with Mats for arrays."""

def lcm(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the least common multiple of the moduli of the integers."""

def ldexp(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return what ``numpy.ldexp`` returns, with Mats for arrays."""

def left_shift(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the bits of x, shifted to the left by y places."""

def less(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return ``x < y``: builtins.bool, or 1 and 0 in place."""

def less_equal(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return ``x <= y``: builtins.bool, or 1 and 0 in place."""

def lexsort(keys: ArrayLike, axis: SupportsIndex = -1) -> Mat:
    """Return what ``numpy.lexsort`` returns, with Mats for arrays."""

@overload
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: SupportsIndex=50,
    endpoint: builtins.bool=True,
    retstep: Literal[False]=False,
    dtype: DTypeLike=None,
    axis: SupportsIndex=0,
    *,
    device: DeviceName | Device | None=None,
) -> Mat: ...
@overload
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: SupportsIndex=50,
    endpoint: builtins.bool=True,
    *,
    retstep: Literal[True],
    dtype: DTypeLike=None,
    axis: SupportsIndex=0,
    device: DeviceName | Device | None=None,
) -> tuple[Mat, Entry]: ...
def loadtxt(
    fname: object,
    dtype: DTypeLike = ...,
    comments: str | Sequence[str] | None = ...,
    delimiter: str | None = None,
    converters: object = None,
    skiprows: int = 0,
    usecols: int | Sequence[int] | None = None,
    unpack: builtins.bool = False,
    ndmin: Literal[0, 1, 2] = 0,
    encoding: str | None = None,
    max_rows: int | None = None,
    *,
    quotechar: str | None = None,
    like: None = None,
) -> Mat:
    """Return what ``numpy.loadtxt`` returns, with Mats for arrays."""

def log(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the natural logarithm of each element; -inf for 0, NaN for real numbers below 0."""

def log10(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the logarithm of each element to base 10."""

def log1p(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the logarithm of 1 plus each element, exact also near 0."""

def log2(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the logarithm of each element to base 2."""

def logaddexp(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return ``log(exp(x) + exp(y))``, without overflow."""

def logaddexp2(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return what ``numpy.logaddexp2`` returns, with Mats for arrays."""

def logical_and(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return whether both elements are true."""

def logical_not(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return whether each element is 0."""

def logical_or(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return whether either element is true."""

def logical_xor(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return whether just one element is true."""

def logistic(x: ArrayLike, out: Mat | None = None) -> Mat:
    """Return ``1 / (1 + exp(-x))`` of each element: torch's sigmoid, SciPy's expit."""

def mask_indices(n: int, mask_func: object, k: object = 0) -> tuple[Mat, Mat]:
    """Return what ``numpy.mask_indices`` returns, with Mats for arrays."""

def matmul(
    a: ArrayLike,
    b: ArrayLike,
    out: Mat | None = None,
    *,
    transpose_a: builtins.bool = False,
    transpose_b: builtins.bool = False,
    axes: object = ...,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = ...,
    keepdims: builtins.bool = False,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the matrix product ``op(a) op(b)``, by NumPy's rules for ranks other than 2."""

def matrix_transpose(x: ArrayLike, /) -> Mat:
    """Return what ``numpy.matrix_transpose`` returns, with Mats for arrays."""

def matvec(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: Mat | None = None,
    *,
    axes: object = ...,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = ...,
    keepdims: builtins.bool = False,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return what ``numpy.matvec`` returns, with Mats for arrays."""

def max(
    a: ArrayLike,
    axis: AxisLike | None = None,
    out: Mat | None = None,
    keepdims: builtins.bool = False,
    initial: Scalar = ...,
    where: ArrayLike = ...,
) -> Mat:
    """Return the largest element over `axis`; NaN if there is one."""

def maximum(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the larger of the elements of x and y; NaN if either is."""

def may_share_memory(a: ArrayLike, b: ArrayLike, /, max_work: object = 0) -> builtins.bool:
    """Return what ``numpy.may_share_memory`` returns, with Mats for arrays."""

def mean(
    a: ArrayLike,
    axis: AxisLike | None = None,
    dtype: DTypeLike = None,
    out: Mat | None = None,
    keepdims: builtins.bool = False,
    *,
    where: ArrayLike = ...,
) -> Mat:
    """Return the mean of the elements over `axis`; NaN if there are none."""

def median(
    a: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    out: Mat | None = None,
    overwrite_input: builtins.bool = False,
    keepdims: builtins.bool = False,
) -> Mat:
    """Return what ``numpy.median`` returns, with Mats for arrays."""

def meshgrid(
    *xi: ArrayLike,
    copy: builtins.bool = True,
    sparse: builtins.bool = False,
    indexing: Literal['ij', 'xy'] = 'xy',
) -> tuple[Mat, ...]:
    """Return what ``numpy.meshgrid`` returns, with Mats for arrays."""

def min(
    a: ArrayLike,
    axis: AxisLike | None = None,
    out: Mat | None = None,
    keepdims: builtins.bool = False,
    initial: Scalar = ...,
    where: ArrayLike = ...,
) -> Mat:
    """Return the smallest element over `axis`; NaN if there is one."""

def min_scalar_type(a: ArrayLike, /) -> np.dtype[Any]:
    """Return what ``numpy.min_scalar_type`` returns, with Mats for arrays."""

def minimum(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the smaller of the elements of x and y; NaN if either is."""

def mod(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the remainder of ``x // y``, which has the sign of y."""

def modf(
    x: ArrayLike,
    /,
    out: Mat | None = ...,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> tuple[Mat, Mat]:
    """Return what ``numpy.modf`` returns, with Mats for arrays."""

def moveaxis(a: ArrayLike, source: ShapeLike, destination: ShapeLike) -> Mat:
    """Return what ``numpy.moveaxis`` returns, with Mats for arrays."""

def multiply(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return ``x * y``, element by element."""

nan: float
def nan_to_num(
    x: ArrayLike,
    copy: builtins.bool = True,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Mat:
    """Return what ``numpy.nan_to_num`` returns, with Mats for arrays."""

def nanargmax(
    a: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    out: Mat | None = None,
    *,
    keepdims: builtins.bool = ...,
) -> Mat:
    """Return what ``numpy.nanargmax`` returns, with Mats for arrays."""

def nanargmin(
    a: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    out: Mat | None = None,
    *,
    keepdims: builtins.bool = ...,
) -> Mat:
    """Return what ``numpy.nanargmin`` returns, with Mats for arrays."""

def nancumprod(
    a: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    dtype: DTypeLike = None,
    out: Mat | None = None,
) -> Mat:
    """Return what ``numpy.nancumprod`` returns, with Mats for arrays."""

def nancumsum(
    a: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    dtype: DTypeLike = None,
    out: Mat | None = None,
) -> Mat:
    """Return what ``numpy.nancumsum`` returns, with Mats for arrays."""

def nanmax(
    a: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    out: Mat | None = None,
    keepdims: builtins.bool = ...,
    initial: ArrayLike = ...,
    where: ArrayLike = ...,
) -> Mat:
    """Return what ``numpy.nanmax`` returns, with Mats for arrays."""

def nanmean(
    a: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    dtype: DTypeLike = None,
    out: Mat | None = None,
    keepdims: builtins.bool = ...,
    *,
    where: ArrayLike = ...,
) -> Mat:
    """Return what ``numpy.nanmean`` returns, with Mats for arrays."""

def nanmedian(
    a: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    out: Mat | None = None,
    overwrite_input: object = False,
    keepdims: builtins.bool = ...,
) -> Mat:
    """Return what ``numpy.nanmedian`` returns, with Mats for arrays."""

def nanmin(
    a: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    out: Mat | None = None,
    keepdims: builtins.bool = ...,
    initial: ArrayLike = ...,
    where: ArrayLike = ...,
) -> Mat:
    """Return what ``numpy.nanmin`` returns, with Mats for arrays."""

def nanpercentile(
    a: ArrayLike,
    q: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    out: Mat | None = None,
    overwrite_input: object = False,
    method: object = 'linear',
    keepdims: builtins.bool = ...,
    *,
    weights: ArrayLike | None = None,
) -> Mat:
    """Return what ``numpy.nanpercentile`` returns, with Mats for arrays."""

def nanprod(
    a: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    dtype: DTypeLike = None,
    out: Mat | None = None,
    keepdims: builtins.bool = ...,
    initial: ArrayLike = ...,
    where: ArrayLike = ...,
) -> Mat:
    """Return what ``numpy.nanprod`` returns, with Mats for arrays."""

def nanquantile(
    a: ArrayLike,
    q: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    out: Mat | None = None,
    overwrite_input: object = False,
    method: object = 'linear',
    keepdims: builtins.bool = ...,
    *,
    weights: ArrayLike | None = None,
) -> Mat:
    """Return what ``numpy.nanquantile`` returns, with Mats for arrays."""

def nanstd(
    a: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    dtype: DTypeLike = None,
    out: Mat | None = None,
    ddof: object = 0,
    keepdims: builtins.bool = ...,
    *,
    where: ArrayLike = ...,
    mean: object = ...,
    correction: object = ...,
) -> Mat:
    """Return what ``numpy.nanstd`` returns, with Mats for arrays."""

def nansum(
    a: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    dtype: DTypeLike = None,
    out: Mat | None = None,
    keepdims: builtins.bool = ...,
    initial: ArrayLike = ...,
    where: ArrayLike = ...,
) -> Mat:
    """Return what ``numpy.nansum`` returns, with Mats for arrays."""

def nanvar(
    a: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    dtype: DTypeLike = None,
    out: Mat | None = None,
    ddof: object = 0,
    keepdims: builtins.bool = ...,
    *,
    where: ArrayLike = ...,
    mean: object = ...,
    correction: object = ...,
) -> Mat:
    """Return what ``numpy.nanvar`` returns, with Mats for arrays."""

def ndim(a: ArrayLike) -> int:
    """Return what ``numpy.ndim`` returns, with Mats for arrays."""

def negative(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the negative of each element."""

newaxis: None
def nextafter(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the number next to x in the direction of y."""

def nonzero(a: ArrayLike) -> tuple[Mat, ...]:
    """Return what ``numpy.nonzero`` returns, with Mats for arrays."""

def not_equal(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return ``x != y``: builtins.bool, or 1 and 0 in place."""

def nrm2(x: Mat, *, n: int | None = None, incx: int = 1) -> float:
    """Return the Euclidean norm ``sqrt(sum |x_i|^2)``, without overflow."""

@overload
def ones(*lengths: SupportsIndex, dtype: DTypeLike = None, order: Literal["C", "F"] = 'C',
    device: DeviceName | Device | None = None, like: object = None) -> Mat: ...
@overload
def ones(shape: ShapeLike, dtype: DTypeLike = None, order: Literal["C", "F"] = 'C',
    device: DeviceName | Device | None = None, like: object = None) -> Mat: ...
def ones_like(
    a: ArrayLike,
    dtype: DTypeLike = None,
    order: str | None = 'K',
    subok: builtins.bool = True,
    shape: ShapeLike | None = None,
    *,
    device: DeviceLike = None,
) -> Mat:
    """Return ones in the shape of another Mat or array."""

def outer(a: ArrayLike, b: ArrayLike, out: Mat | None = None) -> Mat:
    """Return what ``numpy.outer`` returns, with Mats for arrays."""

def packbits(
    a: ArrayLike,
    /,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    bitorder: Literal['big', 'little'] = 'big',
) -> Mat:
    """Return what ``numpy.packbits`` returns, with Mats for arrays."""

def pad(array: ArrayLike, pad_width: ArrayLike, mode: object = 'constant', **kwargs: object) -> Mat:
    """Return what ``numpy.pad`` returns, with Mats for arrays."""

def partition(
    a: ArrayLike,
    kth: ArrayLike,
    axis: SupportsIndex | None = -1,
    kind: object = 'introselect',
    order: Literal["C", "F", "A", "K"] | None = None,
) -> Mat:
    """Return what ``numpy.partition`` returns, with Mats for arrays."""

def percentile(
    a: ArrayLike,
    q: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    out: Mat | None = None,
    overwrite_input: builtins.bool = False,
    method: object = 'linear',
    keepdims: builtins.bool = False,
    *,
    weights: ArrayLike | None = None,
) -> Mat:
    """Return what ``numpy.percentile`` returns, with Mats for arrays."""

def permute_dims(a: ArrayLike, axes: object = None) -> Mat:
    """Return what ``numpy.permute_dims`` returns, with Mats for arrays."""

pi: float
def piecewise(
    x: ArrayLike,
    condlist: Sequence[ArrayLike] | Mat,
    funclist: Sequence[object],
    *args: object,
    **kw: object,
) -> Mat:
    """Return what ``numpy.piecewise`` returns, with Mats for arrays."""

def place(arr: ArrayLike, mask: ArrayLike, vals: ArrayLike) -> None:
    """Return what ``numpy.place`` returns, with Mats for arrays."""

def poly(seq_of_zeros: ArrayLike) -> Mat:
    """Return what ``numpy.poly`` returns, with Mats for arrays."""

def polyadd(a1: ArrayLike, a2: ArrayLike) -> Mat:
    """Return what ``numpy.polyadd`` returns, with Mats for arrays."""

def polyder(p: ArrayLike, m: ArrayLike = 1) -> Mat:
    """Return what ``numpy.polyder`` returns, with Mats for arrays."""

def polydiv(u: ArrayLike, v: ArrayLike) -> Mat:
    """Return what ``numpy.polydiv`` returns, with Mats for arrays."""

def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: ArrayLike,
    rcond: float | None = None,
    full: builtins.bool = False,
    w: ArrayLike | None = None,
    cov: Literal[False] | ArrayLike = False,
) -> Mat:
    """Return what ``numpy.polyfit`` returns, with Mats for arrays."""

def polyint(p: ArrayLike, m: ArrayLike = 1, k: ArrayLike | None = None) -> Mat:
    """Return what ``numpy.polyint`` returns, with Mats for arrays."""

def polymul(a1: ArrayLike, a2: ArrayLike) -> Mat:
    """Return what ``numpy.polymul`` returns, with Mats for arrays."""

def polysub(a1: ArrayLike, a2: ArrayLike) -> Mat:
    """Return what ``numpy.polysub`` returns, with Mats for arrays."""

def polyval(p: ArrayLike, x: ArrayLike) -> Mat:
    """Return what ``numpy.polyval`` returns, with Mats for arrays."""

def positive(
    x: ArrayLike,
    /,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return what ``numpy.positive`` returns, with Mats for arrays."""

def pow(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return ``x ** y``, element by element; NaN outside the reals."""

def power(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return ``x ** y``, element by element; NaN outside the reals."""

def prod(
    a: ArrayLike,
    axis: AxisLike | None = None,
    dtype: DTypeLike = None,
    out: Mat | None = None,
    keepdims: builtins.bool = False,
    initial: Scalar = ...,
    where: ArrayLike = ...,
) -> Mat:
    """Return the product of the elements over `axis`."""

def ptp(
    a: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    out: Mat | None = None,
    keepdims: builtins.bool = ...,
) -> Mat:
    """Return what ``numpy.ptp`` returns, with Mats for arrays."""

def put(
    a: ArrayLike,
    ind: ArrayLike,
    v: ArrayLike,
    mode: Literal["raise", "wrap", "clip"] = 'raise',
) -> None:
    """Return what ``numpy.put`` returns, with Mats for arrays."""

def put_along_axis(
    arr: ArrayLike,
    indices: ArrayLike,
    values: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None,
) -> None:
    """Return what ``numpy.put_along_axis`` returns, with Mats for arrays."""

def putmask(a: ArrayLike, /, mask: ArrayLike, values: ArrayLike) -> None:
    """Return what ``numpy.putmask`` returns, with Mats for arrays."""

def quantile(
    a: ArrayLike,
    q: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    out: Mat | None = None,
    overwrite_input: builtins.bool = False,
    method: object = 'linear',
    keepdims: builtins.bool = False,
    *,
    weights: ArrayLike | None = None,
) -> Mat:
    """Return what ``numpy.quantile`` returns, with Mats for arrays."""

def rad2deg(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return each angle in radians as degrees."""

def radians(
    x: ArrayLike,
    /,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return what ``numpy.radians`` returns, with Mats for arrays."""

def ravel(a: ArrayLike, order: Literal["C", "F", "A", "K"] | None = 'C') -> Mat:
    """Return what ``numpy.ravel`` returns, with Mats for arrays."""

def ravel_multi_index(
    multi_index: object,
    dims: ShapeLike,
    mode: Literal["raise", "wrap", "clip"] | tuple[Literal["raise", "wrap", "clip"], ...] = 'raise',
    order: Literal["C", "F", "A", "K"] | None = 'C',
) -> Mat:
    """Return what ``numpy.ravel_multi_index`` returns, with Mats for arrays."""

def real(val: ArrayLike) -> Mat:
    """Return what ``numpy.real`` returns, with Mats for arrays."""

def real_if_close(a: ArrayLike, tol: float = 100) -> Mat:
    """Return what ``numpy.real_if_close`` returns, with Mats for arrays."""

def reciprocal(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return 1 divided by each element; inf for 0, and of integers the whole part."""

def remainder(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the remainder of ``x // y``, which has the sign of y."""

def repeat(
    a: ArrayLike,
    repeats: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
) -> Mat:
    """Return what ``numpy.repeat`` returns, with Mats for arrays."""

def require(
    a: ArrayLike,
    dtype: DTypeLike = None,
    requirements: object = None,
    *,
    like: None = None,
) -> Mat:
    """Return what ``numpy.require`` returns, with Mats for arrays."""

def reshape(
    a: ArrayLike,
    shape: ShapeLike,
    order: str | None = 'C',
    *,
    copy: builtins.bool | None = None,
) -> Mat:
    """Return the elements of `a` in another shape of the same size."""

def resize(a: ArrayLike, new_shape: object) -> Mat:
    """Return what ``numpy.resize`` returns, with Mats for arrays."""

def result_type(*arrays_and_dtypes: ArrayLike | DTypeLike | None) -> np.dtype[Any]:
    """Return what ``numpy.result_type`` returns, with Mats for arrays."""

def right_shift(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the bits of x, shifted to the right by y places."""

def rint(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the integer nearest to each element; of two, the even one."""

def roll(
    a: ArrayLike,
    shift: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
) -> Mat:
    """Return what ``numpy.roll`` returns, with Mats for arrays."""

def rollaxis(a: ArrayLike, axis: int, start: ArrayLike = 0) -> Mat:
    """Return what ``numpy.rollaxis`` returns, with Mats for arrays."""

def roots(p: ArrayLike) -> Mat:
    """Return what ``numpy.roots`` returns, with Mats for arrays."""

def rot90(m: ArrayLike, k: int = 1, axes: object = ...) -> Mat:
    """Return what ``numpy.rot90`` returns, with Mats for arrays."""

def round(a: ArrayLike, decimals: ArrayLike = 0, out: Mat | None = None) -> Mat:
    """Return what ``numpy.round`` returns, with Mats for arrays."""

def row_stack(
    tup: Sequence[ArrayLike] | Mat,
    *,
    dtype: DTypeLike = None,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
) -> Mat:
    """Return what ``numpy.row_stack`` returns, with Mats for arrays."""

def savetxt(
    fname: object,
    X: ArrayLike,
    fmt: str | Sequence[str] = ...,
    delimiter: str = ...,
    newline: str = ...,
    header: str = ...,
    footer: str = ...,
    comments: str = ...,
    encoding: str | None = None,
) -> None:
    """Return what ``numpy.savetxt`` returns, with Mats for arrays."""

def savez(file: File, *args: ArrayLike, allow_pickle: builtins.bool = True, **kwds: ArrayLike) -> None:
    """Return what ``numpy.savez`` returns, with Mats for arrays."""

def savez_compressed(
    file: File,
    *args: ArrayLike,
    allow_pickle: builtins.bool = True,
    **kwds: ArrayLike,
) -> None:
    """Return what ``numpy.savez_compressed`` returns, with Mats for arrays."""

def scal(alpha: Scalar, x: Mat, *, n: int | None = None, incx: int = 1) -> Mat:
    """Compute ``x <- alpha * x`` and return `x`."""

def searchsorted(
    a: ArrayLike,
    v: ArrayLike,
    side: Literal["L", "left", "R", "right"] = 'left',
    sorter: ArrayLike | None = None,
) -> Mat:
    """Return what ``numpy.searchsorted`` returns, with Mats for arrays."""

def select(
    condlist: Sequence[ArrayLike] | Mat,
    choicelist: Sequence[ArrayLike] | Mat,
    default: ArrayLike = 0,
) -> Mat:
    """Return what ``numpy.select`` returns, with Mats for arrays."""

def setdiff1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: builtins.bool = False) -> Mat:
    """Return what ``numpy.setdiff1d`` returns, with Mats for arrays."""

def setxor1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: builtins.bool = False) -> Mat:
    """Return what ``numpy.setxor1d`` returns, with Mats for arrays."""

def shape(a: ArrayLike) -> Mat:
    """Return what ``numpy.shape`` returns, with Mats for arrays."""

def shares_memory(a: ArrayLike, b: ArrayLike, /, max_work: object = -1) -> builtins.bool:
    """Return what ``numpy.shares_memory`` returns, with Mats for arrays."""

def sign(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the sign of each element: -1, 0 or 1; NaN for NaN."""

def signbit(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return whether the sign of each element is negative, also of zeros."""

def sin(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the sine of each element, in radians."""

def sinc(x: ArrayLike) -> Mat:
    """Return what ``numpy.sinc`` returns, with Mats for arrays."""

def sinh(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the hyperbolic sine of each element."""

def size(a: ArrayLike, axis: SupportsIndex | Sequence[SupportsIndex] | None = None) -> int:
    """Return what ``numpy.size`` returns, with Mats for arrays."""

def slogdet(a: Mat) -> Mat:
    """Return the sign of the determinant and the logarithm of its modulus."""

def sort(
    a: ArrayLike,
    axis: SupportsIndex | None = -1,
    kind: Literal["Q", "quick", "quicksort", "M", "merge", "mergesort", "H", "heap", "heapsort", "S", "stable", "stablesort"] | None = None,
    order: Literal["C", "F", "A", "K"] | None = None,
    *,
    stable: builtins.bool | None = None,
    descending: builtins.bool | None = None,
) -> Mat:
    """Return what ``numpy.sort`` returns, with Mats for arrays."""

def sort_complex(a: ArrayLike) -> Mat:
    """Return what ``numpy.sort_complex`` returns, with Mats for arrays."""

def spacing(
    x: ArrayLike,
    /,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return what ``numpy.spacing`` returns, with Mats for arrays."""

def split(ary: ArrayLike, indices_or_sections: ArrayLike, axis: SupportsIndex = 0) -> list[Mat]:
    """Return what ``numpy.split`` returns, with Mats for arrays."""

def sqrt(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the square root of each element; NaN for real numbers below 0."""

def square(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the square of each element."""

def squeeze(a: ArrayLike, axis: SupportsIndex | Sequence[SupportsIndex] | None = None) -> Mat:
    """Return what ``numpy.squeeze`` returns, with Mats for arrays."""

def std(
    a: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    dtype: DTypeLike = None,
    out: Mat | None = None,
    ddof: float = 0,
    keepdims: builtins.bool = ...,
    *,
    where: ArrayLike = ...,
    mean: ArrayLike = ...,
    correction: float = ...,
) -> Mat:
    """Return what ``numpy.std`` returns, with Mats for arrays."""

def subtract(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return ``x - y``, element by element."""

def sum(
    a: ArrayLike,
    axis: AxisLike | None = None,
    dtype: DTypeLike = None,
    out: Mat | None = None,
    keepdims: builtins.bool = False,
    initial: Scalar = ...,
    where: ArrayLike = ...,
) -> Mat:
    """Return the sum of the elements over `axis`."""

def swap(x: Mat, y: Mat, *, n: int | None = None, incx: int = 1, incy: int = 1) -> Mat:
    """Exchange the elements of `x` and `y`, and return `y`."""

def swapaxes(a: ArrayLike, axis1: SupportsIndex, axis2: SupportsIndex) -> Mat:
    """Return what ``numpy.swapaxes`` returns, with Mats for arrays."""

def syrk(
    alpha: Scalar,
    a: Mat,
    beta: Scalar,
    c: Mat,
    *,
    transpose: builtins.bool = False,
    lower: builtins.bool = True,
) -> Mat:
    """Compute ``C <- alpha * A A^T + beta * C`` in one triangle of `c`, and return `c`."""

def take(
    a: ArrayLike,
    indices: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    out: Mat | None = None,
    mode: Literal["raise", "wrap", "clip"] = 'raise',
) -> Mat:
    """Return what ``numpy.take`` returns, with Mats for arrays."""

def take_along_axis(
    arr: ArrayLike,
    indices: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = -1,
) -> Mat:
    """Return what ``numpy.take_along_axis`` returns, with Mats for arrays."""

def tan(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the tangent of each element, in radians."""

def tanh(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return the hyperbolic tangent of each element."""

def tensordot(a: ArrayLike, b: ArrayLike, axes: object = 2) -> Mat:
    """Return what ``numpy.tensordot`` returns, with Mats for arrays."""

def tile(A: ArrayLike, reps: ArrayLike) -> Mat:
    """Return what ``numpy.tile`` returns, with Mats for arrays."""

def trace(
    a: ArrayLike,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: DTypeLike = None,
    out: Mat | None = None,
) -> Mat:
    """Return the sum of a diagonal."""

def transpose(a: ArrayLike, axes: AxisLike | None = None, out: Mat | None = None) -> Mat:
    """Return the view of `a` with its axes in another order, or write it to `out`, packed."""

def trapezoid(
    y: ArrayLike,
    x: ArrayLike | None = None,
    dx: float | complex = 1.0,
    axis: SupportsIndex = -1,
) -> Mat:
    """Return what ``numpy.trapezoid`` returns, with Mats for arrays."""

def tri(
    N: ArrayLike,
    M: ArrayLike | None = None,
    k: int = 0,
    dtype: DTypeLike = ...,
    *,
    like: None = None,
) -> Mat:
    """Return what ``numpy.tri`` returns, with Mats for arrays."""

def tril(m: ArrayLike, k: int = 0) -> Mat:
    """Return what ``numpy.tril`` returns, with Mats for arrays."""

def tril_indices(n: int, k: int = 0, m: ArrayLike | None = None) -> tuple[Mat, Mat]:
    """Return what ``numpy.tril_indices`` returns, with Mats for arrays."""

def tril_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Mat, Mat]:
    """Return what ``numpy.tril_indices_from`` returns, with Mats for arrays."""

def trim_zeros(
    filt: object,
    trim: Literal['f', 'b', 'fb', 'bf'] = 'fb',
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
) -> Mat:
    """Return what ``numpy.trim_zeros`` returns, with Mats for arrays."""

def triu(m: ArrayLike, k: int = 0) -> Mat:
    """Return what ``numpy.triu`` returns, with Mats for arrays."""

def triu_indices(n: int, k: int = 0, m: ArrayLike | None = None) -> tuple[Mat, Mat]:
    """Return what ``numpy.triu_indices`` returns, with Mats for arrays."""

def triu_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Mat, Mat]:
    """Return what ``numpy.triu_indices_from`` returns, with Mats for arrays."""

def trsm(
    alpha: Scalar,
    a: Mat,
    b: Mat,
    *,
    side: str = 'left',
    lower: builtins.bool = True,
    transpose: builtins.bool = False,
    unit: builtins.bool = False,
) -> Mat:
    """Compute ``B <- alpha * op(A)^-1 B`` for a triangular `a`, and return `b`."""

def true_divide(
    x: ArrayLike,
    y: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return ``x / y``, element by element; integers give floating point."""

def trunc(
    x: ArrayLike,
    out: Mat | None = None,
    *,
    where: ArrayLike = True,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return each element rounded towards 0."""

def union1d(ar1: ArrayLike, ar2: ArrayLike) -> Mat:
    """Return what ``numpy.union1d`` returns, with Mats for arrays."""

@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False]=False,
    return_inverse: Literal[False]=False,
    return_counts: Literal[False]=False,
    axis: SupportsIndex | None=None,
    *,
    equal_nan: builtins.bool=True,
    sorted: builtins.bool=True,
) -> Mat: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[True],
    return_inverse: Literal[False]=False,
    return_counts: Literal[False]=False,
    axis: SupportsIndex | None=None,
    *,
    equal_nan: builtins.bool=True,
    sorted: builtins.bool=True,
) -> tuple[Mat, Mat]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False],
    return_inverse: Literal[True],
    return_counts: Literal[False]=False,
    axis: SupportsIndex | None=None,
    *,
    equal_nan: builtins.bool=True,
    sorted: builtins.bool=True,
) -> tuple[Mat, Mat]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False]=False,
    *,
    return_inverse: Literal[True],
    return_counts: Literal[False]=False,
    axis: SupportsIndex | None=None,
    equal_nan: builtins.bool=True,
    sorted: builtins.bool=True,
) -> tuple[Mat, Mat]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False],
    return_inverse: Literal[False],
    return_counts: Literal[True],
    axis: SupportsIndex | None=None,
    *,
    equal_nan: builtins.bool=True,
    sorted: builtins.bool=True,
) -> tuple[Mat, Mat]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False]=False,
    return_inverse: Literal[False]=False,
    *,
    return_counts: Literal[True],
    axis: SupportsIndex | None=None,
    equal_nan: builtins.bool=True,
    sorted: builtins.bool=True,
) -> tuple[Mat, Mat]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[True],
    return_inverse: Literal[True],
    return_counts: Literal[False]=False,
    axis: SupportsIndex | None=None,
    *,
    equal_nan: builtins.bool=True,
    sorted: builtins.bool=True,
) -> tuple[Mat, Mat, Mat]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[True],
    return_inverse: Literal[False],
    return_counts: Literal[True],
    axis: SupportsIndex | None=None,
    *,
    equal_nan: builtins.bool=True,
    sorted: builtins.bool=True,
) -> tuple[Mat, Mat, Mat]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[True],
    return_inverse: Literal[False]=False,
    *,
    return_counts: Literal[True],
    axis: SupportsIndex | None=None,
    equal_nan: builtins.bool=True,
    sorted: builtins.bool=True,
) -> tuple[Mat, Mat, Mat]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False],
    return_inverse: Literal[True],
    return_counts: Literal[True],
    axis: SupportsIndex | None=None,
    *,
    equal_nan: builtins.bool=True,
    sorted: builtins.bool=True,
) -> tuple[Mat, Mat, Mat]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[False]=False,
    *,
    return_inverse: Literal[True],
    return_counts: Literal[True],
    axis: SupportsIndex | None=None,
    equal_nan: builtins.bool=True,
    sorted: builtins.bool=True,
) -> tuple[Mat, Mat, Mat]: ...
@overload
def unique(
    ar: ArrayLike,
    return_index: Literal[True],
    return_inverse: Literal[True],
    return_counts: Literal[True],
    axis: SupportsIndex | None=None,
    *,
    equal_nan: builtins.bool=True,
    sorted: builtins.bool=True,
) -> tuple[Mat, Mat, Mat, Mat]: ...
def unique_all(x: ArrayLike) -> _UniqueAllResult:
    """Return what ``numpy.unique_all`` returns, with Mats for arrays."""

def unique_counts(x: ArrayLike) -> _UniqueCountsResult:
    """Return what ``numpy.unique_counts`` returns, with Mats for arrays."""

def unique_inverse(x: ArrayLike) -> _UniqueInverseResult:
    """Return what ``numpy.unique_inverse`` returns, with Mats for arrays."""

def unique_values(x: ArrayLike) -> Mat:
    """Return what ``numpy.unique_values`` returns, with Mats for arrays."""

def unpackbits(
    a: ArrayLike,
    /,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    count: SupportsIndex | None = None,
    bitorder: Literal['big', 'little'] = 'big',
) -> Mat:
    """Return what ``numpy.unpackbits`` returns, with Mats for arrays."""

def unravel_index(
    indices: ArrayLike,
    shape: ShapeLike,
    order: Literal["C", "F", "A", "K"] | None = 'C',
) -> tuple[Mat, ...]:
    """Return what ``numpy.unravel_index`` returns, with Mats for arrays."""

def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[Mat, ...]:
    """Return what ``numpy.unstack`` returns, with Mats for arrays."""

def unwrap(
    p: ArrayLike,
    discont: float | None = None,
    axis: int = -1,
    *,
    period: float = 6.283185307179586,
) -> Mat:
    """Return what ``numpy.unwrap`` returns, with Mats for arrays."""

def vander(x: ArrayLike, N: ArrayLike | None = None, increasing: builtins.bool = False) -> Mat:
    """Return what ``numpy.vander`` returns, with Mats for arrays."""

def var(
    a: ArrayLike,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = None,
    dtype: DTypeLike = None,
    out: Mat | None = None,
    ddof: float = 0,
    keepdims: builtins.bool = ...,
    *,
    where: ArrayLike = ...,
    mean: ArrayLike = ...,
    correction: float = ...,
) -> Mat:
    """Return what ``numpy.var`` returns, with Mats for arrays."""

def vdot(a: ArrayLike, b: ArrayLike, /) -> Mat:
    """Return the sum of ``conj(a) * b`` over all elements."""

def vecdot(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: Mat | None = None,
    *,
    axes: object = ...,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = ...,
    keepdims: builtins.bool = False,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return what ``numpy.vecdot`` returns, with Mats for arrays."""

def vecmat(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: Mat | None = None,
    *,
    axes: object = ...,
    axis: SupportsIndex | Sequence[SupportsIndex] | None = ...,
    keepdims: builtins.bool = False,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
    order: Literal["C", "F", "A", "K"] | None = 'K',
    dtype: DTypeLike = None,
    subok: builtins.bool = True,
    signature: object = None,
) -> Mat:
    """Return what ``numpy.vecmat`` returns, with Mats for arrays."""

def vsplit(ary: ArrayLike, indices_or_sections: ArrayLike) -> list[Mat]:
    """Return what ``numpy.vsplit`` returns, with Mats for arrays."""

def vstack(
    tup: Sequence[ArrayLike] | Mat,
    *,
    dtype: DTypeLike = None,
    casting: Literal["no", "equiv", "safe", "same_kind", "same_value", "unsafe"] = ...,
) -> Mat:
    """Return what ``numpy.vstack`` returns, with Mats for arrays."""

def where(condition: ArrayLike, x: ArrayLike | None = None, y: ArrayLike | None = None, /) -> Mat:
    """Return what ``numpy.where`` returns, with Mats for arrays."""

@overload
def zeros(*lengths: SupportsIndex, dtype: DTypeLike = None, order: Literal["C", "F"] = 'C',
    device: DeviceName | Device | None = None, like: object = None) -> Mat: ...
@overload
def zeros(shape: ShapeLike, dtype: DTypeLike = None, order: Literal["C", "F"] = 'C',
    device: DeviceName | Device | None = None, like: object = None) -> Mat: ...
def zeros_like(
    a: ArrayLike,
    dtype: DTypeLike = None,
    order: str | None = 'K',
    subok: builtins.bool = True,
    shape: ShapeLike | None = None,
    *,
    device: DeviceLike = None,
) -> Mat:
    """Return zeros in the shape of another Mat or array."""

_Direction = DirectionName | Direction
_P0 = TypeVar("_P0")
_P1 = TypeVar("_P1")
_P2 = TypeVar("_P2")
_A = tuple[Mat, Literal["array", "backing"]] | tuple[Mat, Literal["array", "backing"], _Direction]
_F = tuple[Mat, Literal["foreign", "cuda_host"]] | tuple[Mat, Literal["foreign", "cuda_host"], _Direction]
_E = tuple[Mat, EmulatedName] | tuple[Mat, EmulatedName, _Direction]
_C = tuple[Mat, CudaName] | tuple[Mat, CudaName, _Direction]
_O0 = tuple[Mat, Presents[_P0]] | tuple[Mat, Presents[_P0], _Direction]
_O1 = tuple[Mat, Presents[_P1]] | tuple[Mat, Presents[_P1], _Direction]
_O2 = tuple[Mat, Presents[_P2]] | tuple[Mat, Presents[_P2], _Direction]
@overload
def with_facets(
    request0: _A, /
) -> AbstractContextManager[tuple[Array]]: ...
@overload
def with_facets(
    request0: _F, /
) -> AbstractContextManager[tuple[ForeignArray]]: ...
@overload
def with_facets(
    request0: _E, /
) -> AbstractContextManager[tuple[EmulatedArray]]: ...
@overload
def with_facets(
    request0: _C, /
) -> AbstractContextManager[tuple[DeviceArray]]: ...
@overload
def with_facets(
    request0: _O0[_P0], /
) -> AbstractContextManager[tuple[_P0]]: ...
@overload
def with_facets(
    request0: _A, request1: _A, /
) -> AbstractContextManager[tuple[Array, Array]]: ...
@overload
def with_facets(
    request0: _A, request1: _F, /
) -> AbstractContextManager[tuple[Array, ForeignArray]]: ...
@overload
def with_facets(
    request0: _A, request1: _E, /
) -> AbstractContextManager[tuple[Array, EmulatedArray]]: ...
@overload
def with_facets(
    request0: _A, request1: _C, /
) -> AbstractContextManager[tuple[Array, DeviceArray]]: ...
@overload
def with_facets(
    request0: _A, request1: _O1[_P1], /
) -> AbstractContextManager[tuple[Array, _P1]]: ...
@overload
def with_facets(
    request0: _F, request1: _A, /
) -> AbstractContextManager[tuple[ForeignArray, Array]]: ...
@overload
def with_facets(
    request0: _F, request1: _F, /
) -> AbstractContextManager[tuple[ForeignArray, ForeignArray]]: ...
@overload
def with_facets(
    request0: _F, request1: _E, /
) -> AbstractContextManager[tuple[ForeignArray, EmulatedArray]]: ...
@overload
def with_facets(
    request0: _F, request1: _C, /
) -> AbstractContextManager[tuple[ForeignArray, DeviceArray]]: ...
@overload
def with_facets(
    request0: _F, request1: _O1[_P1], /
) -> AbstractContextManager[tuple[ForeignArray, _P1]]: ...
@overload
def with_facets(
    request0: _E, request1: _A, /
) -> AbstractContextManager[tuple[EmulatedArray, Array]]: ...
@overload
def with_facets(
    request0: _E, request1: _F, /
) -> AbstractContextManager[tuple[EmulatedArray, ForeignArray]]: ...
@overload
def with_facets(
    request0: _E, request1: _E, /
) -> AbstractContextManager[tuple[EmulatedArray, EmulatedArray]]: ...
@overload
def with_facets(
    request0: _E, request1: _C, /
) -> AbstractContextManager[tuple[EmulatedArray, DeviceArray]]: ...
@overload
def with_facets(
    request0: _E, request1: _O1[_P1], /
) -> AbstractContextManager[tuple[EmulatedArray, _P1]]: ...
@overload
def with_facets(
    request0: _C, request1: _A, /
) -> AbstractContextManager[tuple[DeviceArray, Array]]: ...
@overload
def with_facets(
    request0: _C, request1: _F, /
) -> AbstractContextManager[tuple[DeviceArray, ForeignArray]]: ...
@overload
def with_facets(
    request0: _C, request1: _E, /
) -> AbstractContextManager[tuple[DeviceArray, EmulatedArray]]: ...
@overload
def with_facets(
    request0: _C, request1: _C, /
) -> AbstractContextManager[tuple[DeviceArray, DeviceArray]]: ...
@overload
def with_facets(
    request0: _C, request1: _O1[_P1], /
) -> AbstractContextManager[tuple[DeviceArray, _P1]]: ...
@overload
def with_facets(
    request0: _O0[_P0], request1: _A, /
) -> AbstractContextManager[tuple[_P0, Array]]: ...
@overload
def with_facets(
    request0: _O0[_P0], request1: _F, /
) -> AbstractContextManager[tuple[_P0, ForeignArray]]: ...
@overload
def with_facets(
    request0: _O0[_P0], request1: _E, /
) -> AbstractContextManager[tuple[_P0, EmulatedArray]]: ...
@overload
def with_facets(
    request0: _O0[_P0], request1: _C, /
) -> AbstractContextManager[tuple[_P0, DeviceArray]]: ...
@overload
def with_facets(
    request0: _O0[_P0], request1: _O1[_P1], /
) -> AbstractContextManager[tuple[_P0, _P1]]: ...
@overload
def with_facets(
    request0: _A, request1: _A, request2: _A, /
) -> AbstractContextManager[tuple[Array, Array, Array]]: ...
@overload
def with_facets(
    request0: _A, request1: _A, request2: _F, /
) -> AbstractContextManager[tuple[Array, Array, ForeignArray]]: ...
@overload
def with_facets(
    request0: _A, request1: _A, request2: _O2[_P2], /
) -> AbstractContextManager[tuple[Array, Array, _P2]]: ...
@overload
def with_facets(
    request0: _A, request1: _F, request2: _A, /
) -> AbstractContextManager[tuple[Array, ForeignArray, Array]]: ...
@overload
def with_facets(
    request0: _A, request1: _F, request2: _F, /
) -> AbstractContextManager[tuple[Array, ForeignArray, ForeignArray]]: ...
@overload
def with_facets(
    request0: _A, request1: _F, request2: _O2[_P2], /
) -> AbstractContextManager[tuple[Array, ForeignArray, _P2]]: ...
@overload
def with_facets(
    request0: _A, request1: _O1[_P1], request2: _A, /
) -> AbstractContextManager[tuple[Array, _P1, Array]]: ...
@overload
def with_facets(
    request0: _A, request1: _O1[_P1], request2: _F, /
) -> AbstractContextManager[tuple[Array, _P1, ForeignArray]]: ...
@overload
def with_facets(
    request0: _A, request1: _O1[_P1], request2: _O2[_P2], /
) -> AbstractContextManager[tuple[Array, _P1, _P2]]: ...
@overload
def with_facets(
    request0: _F, request1: _A, request2: _A, /
) -> AbstractContextManager[tuple[ForeignArray, Array, Array]]: ...
@overload
def with_facets(
    request0: _F, request1: _A, request2: _F, /
) -> AbstractContextManager[tuple[ForeignArray, Array, ForeignArray]]: ...
@overload
def with_facets(
    request0: _F, request1: _A, request2: _O2[_P2], /
) -> AbstractContextManager[tuple[ForeignArray, Array, _P2]]: ...
@overload
def with_facets(
    request0: _F, request1: _F, request2: _A, /
) -> AbstractContextManager[tuple[ForeignArray, ForeignArray, Array]]: ...
@overload
def with_facets(
    request0: _F, request1: _F, request2: _F, /
) -> AbstractContextManager[tuple[ForeignArray, ForeignArray, ForeignArray]]: ...
@overload
def with_facets(
    request0: _F, request1: _F, request2: _O2[_P2], /
) -> AbstractContextManager[tuple[ForeignArray, ForeignArray, _P2]]: ...
@overload
def with_facets(
    request0: _F, request1: _O1[_P1], request2: _A, /
) -> AbstractContextManager[tuple[ForeignArray, _P1, Array]]: ...
@overload
def with_facets(
    request0: _F, request1: _O1[_P1], request2: _F, /
) -> AbstractContextManager[tuple[ForeignArray, _P1, ForeignArray]]: ...
@overload
def with_facets(
    request0: _F, request1: _O1[_P1], request2: _O2[_P2], /
) -> AbstractContextManager[tuple[ForeignArray, _P1, _P2]]: ...
@overload
def with_facets(
    request0: _O0[_P0], request1: _A, request2: _A, /
) -> AbstractContextManager[tuple[_P0, Array, Array]]: ...
@overload
def with_facets(
    request0: _O0[_P0], request1: _A, request2: _F, /
) -> AbstractContextManager[tuple[_P0, Array, ForeignArray]]: ...
@overload
def with_facets(
    request0: _O0[_P0], request1: _A, request2: _O2[_P2], /
) -> AbstractContextManager[tuple[_P0, Array, _P2]]: ...
@overload
def with_facets(
    request0: _O0[_P0], request1: _F, request2: _A, /
) -> AbstractContextManager[tuple[_P0, ForeignArray, Array]]: ...
@overload
def with_facets(
    request0: _O0[_P0], request1: _F, request2: _F, /
) -> AbstractContextManager[tuple[_P0, ForeignArray, ForeignArray]]: ...
@overload
def with_facets(
    request0: _O0[_P0], request1: _F, request2: _O2[_P2], /
) -> AbstractContextManager[tuple[_P0, ForeignArray, _P2]]: ...
@overload
def with_facets(
    request0: _O0[_P0], request1: _O1[_P1], request2: _A, /
) -> AbstractContextManager[tuple[_P0, _P1, Array]]: ...
@overload
def with_facets(
    request0: _O0[_P0], request1: _O1[_P1], request2: _F, /
) -> AbstractContextManager[tuple[_P0, _P1, ForeignArray]]: ...
@overload
def with_facets(
    request0: _O0[_P0], request1: _O1[_P1], request2: _O2[_P2], /
) -> AbstractContextManager[tuple[_P0, _P1, _P2]]: ...
@overload
def with_facets(
    request0: _A, request1: _A, request2: _A, request3: _A, /
) -> AbstractContextManager[tuple[Array, Array, Array, Array]]: ...
@overload
def with_facets(
    request0: _A, request1: _A, request2: _A, request3: _A, request4: _A, /
) -> AbstractContextManager[tuple[Array, Array, Array, Array, Array]]: ...
@overload
def with_facets(*requests: _A | _F | _E | _C) -> AbstractContextManager[
    tuple[Array | ForeignArray | EmulatedArray | DeviceArray, ...]
]: ...
