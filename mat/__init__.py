"""Matrices that are stored in several memories at once and copied between them when needed.

The same data can be accessed as a NumPy array, as a flat buffer, as a C pointer or on a device;
`mat` tracks which copies are fresh and copies only what is stale.

>>> import mat
>>> x = mat.array([[1.0, 2], [3, 4]])
>>> mat.axpy(10, mat.ones(2, 2), x)
<Mat 2x2 AF [[11. 12.] [13. 14.]]>

`Mat` is the matrix type, `with_facets` accesses several Mats at once, `show` prints where the data
of a Mat is stored, and `extend` has what an extension imports. Start with ``docs/tutorial.md``.
"""

import os as _os
import sys as _sys

from .version import __version__  # by which the next one sees that this file is ours

# isort: split
from .support import native as _native_first  # chooses whether modules are compiled ones

# isort: split
from . import errors
from . import facets as _facets
from .core.direction import Direction
from .devices import emulated as _emulated
from .devices.device import cuda_available, set_device, use_cuda, use_device
from .interop import adapters as _adapters
from .matrix import called_methods as _called_methods
from .matrix.arrays import array, asanyarray, asarray, ascontiguousarray, asfortranarray
from .matrix.creation import empty, from_numpy, ones, zeros
from .matrix.filled import empty_like, eye, full, full_like, identity, ones_like, zeros_like
from .matrix.generator import Rng, seed
from .matrix.mat import FacetState, Mat
from .matrix.methods import bind_at_first_use as _bind_at_first_use
from .matrix.ranges import arange, geomspace, linspace, logspace
from .matrix.with_facets import barrier, with_facets
from .memories.pooled import trim
from .numpy import attributes as _attributes
from .numpy import flat_iterator as _flat_iterator
from .support.close_names import name_what_is_close as _name_what_is_close
from .support.close_names import no_attribute as _no_attribute

# a constant of that module, named in lower case as an attribute of mat
from .support.dtypes import SUPPORTED as supported_dtypes  # noqa: N811
from .support.plugins import after_import as _after_import
from .support.plugins import plugin as _plugin
from .support.plugins import register_plugin as _register_plugin
from .support.settings import configure, settings

globals().pop("matrix")  # the folder, which would hide a name of NumPy's
_register_plugin("mat", __name__)  # the namespace of a Mat
_PLUGINS = {
    "cuda": "cuda.device", "dask": "dask", "dask_backend": "interop.dask_backend",
    "emath": "numpy.namespace.emath", "gpus": "cuda.runtime.gpu",
    "numpy_functions": "numpy.namespace.functions", "numpy_names": "numpy.namespace.lookup",
    "numpy_objects": "numpy.namespace.objects", "page_locking": "cuda.runtime.pinned",
    "page_tracking": "memories.page_tracking", "run": "running.command",
    "stride_tricks": "lib.stride_tricks", "testing": "numpy.namespace.testing",
    **{f"facet {_name}": "interop.array_libraries" for _name in ("torch", "cupy", "jax")},
    **{_name: _name for _name in ("blas", "extend", "fft", "lib", "linalg", "nn", "random")}}
for _name, _module in _PLUGINS.items():
    _register_plugin(_name, f"{__name__}.{_module}")
for _name in ("html", "shutil", "tempfile"):
    _register_plugin(_name, _name)  # of Python, which take long to import

# Looked up at first use, as most take time to import: names and methods, by their modules
_NAMES = {
    "debug.memory_report": "memory_report", "debug.show": "load_ipython_extension show",
    "debug.show_config": "show_config",
    "errors": """AliasError AxisError ConflictError DeviceError DirectionError DiskError DTypeError
        ExchangeError FacetError FormatError GraphError IndexOutOfRange IndexTypeError IntegerError
        KernelError LinAlgError MatError OutOfDeviceMemory OutOfMemory PerformanceWarning PlanError
        PowerError RangeError SettingError ShapeError StepError TextError TornError
        UninitialisedError""",
    "interop.dlpack": "from_dlpack",
    "io.api": "save",
    "io.archives": "load load_all save_all", "io.batches": "batches",
    "io.memmap": "open_memmap", "matrix.graph": "graph", "matrix.prefetch": "prefetch",
    "matrix.scratch": "ones_view scratch",
    "numpy.changed_names": "allclose convolve copy dot trace vdot",
    "numpy.composites.products": "multi_dot",
    "numpy.array_api": "__array_api_version__", "numpy.ndarray_methods": "clip",
    "ops.expressions.block": "fused", "ops.linear.blas_level1": "asum axpy iamax nrm2 scal swap",
    "ops.linear.blas_gemm": "gemm gemm_batched",
    "ops.linear.blas_level23": "gemv ger syrk trsm",
    "ops.linear.linalg": "cholesky inv slogdet solve", "ops.linear.matmul": "matmul",
    "ops.nn.quantization": "dequantize quantize scaled_matmul",
    "ops.primitives.elementwise": """abs add ceil cos cosh divide equal erf exp expm1 floor greater
        greater_equal less less_equal log log1p logistic maximum minimum multiply negative
        not_equal pow reciprocal rint sign sin sinh sqrt square subtract tan tanh""",
    "ops.primitives.scaled": "add_sign geem geerv scale_columns scale_rows",
    "ops.primitives.joining": "concat stack",
    "ops.primitives.mapping": "map_concat map_displacements map_into",
    "ops.primitives.random": "multivariate_normal",
    "ops.primitives.reduce": "argmax argmin max mean min prod sum",
    "ops.primitives.shape": "reshape transpose",
    "ops.primitives.user_kernel": "kernel"}
_METHODS = {
    "debug.show": "_repr_html_", "interop.dask": "__dask_tokenize__ __sizeof__",
    "interop.dlpack": """__arrow_array__ __arrow_c_array__ __cuda_array_interface__ __dlpack__
        __dlpack_device__""",
    "interop.pickling": "__reduce_ex__", "io.api": "load_ read_ write", "io.memmap": "flush",
    "numpy.array_function": "__array_function__", "numpy.array_ufunc": "__array_ufunc__",
    "numpy.array_api": "__array_namespace__ __divmod__ __pos__ __rdivmod__ mT to_device",
    "numpy.ndarray_methods": """__imatmul__ __round__ __trunc__ all any argpartition argsort
        byteswap choose clip compress conj conjugate cumprod cumsum dot dump dumps fill nonzero
        partition put repeat round searchsorted sort std take tofile trace var""",
    "ops.indexing.indexing": "__contains__ _get_by _set_by _set_view replace_",
    "ops.linear.blas_gemm": "gemm_ gemm_batched_",
    "ops.linear.blas_level1": "axpy_ copy_ scal_ swap_",
    "ops.linear.blas_level23": "gemv_ ger_ syrk_ trsm_",
    "ops.linear.linalg": "cholesky inv slogdet", "ops.linear.matmul": "__matmul__ __rmatmul__",
    "ops.nn.nn": "convolve_ derive_max_pool_ max_pool_",
    "ops.primitives.copying": "__copy__ __deepcopy__ astype copy",
    "ops.primitives.elementwise": """__abs__ __add__ __eq__ __ge__ __gt__ __iadd__ __imul__ __ipow__
        __isub__ __itruediv__ __le__ __lt__ __mul__ __ne__ __neg__ __pow__ __radd__ __rmul__
        __rpow__ __rsub__ __rtruediv__ __sub__ __truediv__ abs abs_ add_ assign_ ceil ceil_ cos
        cos_ cosh cosh_ divide_ equal_ erf erf_ exp exp_ expm1 expm1_ fill_ floor floor_
        greater_ greater_equal_ less_ less_equal_ log log1p log1p_ log_ logistic logistic_
        maximum_ minimum_ multiply_ negative negative_ not_equal_ pow_ reciprocal reciprocal_
        rint rint_ sign sign_ sin sin_ sinh sinh_ sqrt sqrt_ square square_ subtract_ tan tan_
        tanh tanh_""",
    "ops.primitives.scaled": "add_sign_ geem_ geerv_ scale_columns_ scale_rows_",
    "ops.primitives.random": "bernoulli_ normal_ orthogonal_ uniform_",
    "ops.primitives.reduce": "argmax argmin max mean min prod sum sum_",
    "ops.primitives.shape": "_flatten_any _ravel_any _reshape_any contiguous equals",
    "ops.primitives.ufuncs": """__and__ __floordiv__ __iand__ __ifloordiv__ __ilshift__ __imod__
        __invert__ __ior__ __irshift__ __ixor__ __lshift__ __mod__ __or__ __rand__ __rfloordiv__
        __rlshift__ __rmod__ __ror__ __rrshift__ __rshift__ __rxor__ __xor__"""}
_AT_FIRST_USE = {name: module for module, names in _NAMES.items() for name in names.split()}
for _name in ("debug", "cpu.blas_kernels", "cpu.conv", "cpu.integer_matmul", "cpu.permute",
              "cpu.reduce", "numpy.composites.selection", "numpy.composites.ufuncs",
              "ops.indexing.accumulate_at", "ops.indexing.advanced", "ops.indexing.gathering",
              "ops.indexing.sorting", "ops.linear.blocked", "ops.primitives.cut_reduce",
              "ops.primitives.scan", "ops.primitives.selecting", "ops.tiles.cut_products",
              "ops.tiles.cut_sorts", "ops.tiles.file_tiles", "ops.tiles.signatures",
              "ops.tiles.tiling", "support.c_compiler",
              *_NAMES, *_METHODS):
    _register_plugin(_name, f"{__name__}.{_name}")
for _name, _methods in _METHODS.items():
    _bind_at_first_use(_name, *_methods.split())
_after_import("dask", lambda _: _plugin("interop.dask").register())
if _os.environ.get("MAT_DEBUG"):
    _plugin("debug")  # which reads the variable

__all__ = [
    # Creation and basics
    "Mat", "zeros", "ones", "full", "empty", "zeros_like", "ones_like", "full_like", "empty_like",
    "eye", "identity", "arange", "linspace", "logspace", "geomspace", "array", "asarray",
    "asanyarray", "ascontiguousarray", "asfortranarray", "from_numpy", "from_dlpack", "allclose",
    "supported_dtypes", "settings", "configure",
    # Shaping
    "concat", "stack", "map_concat", "map_displacements", "map_into", "reshape", "transpose",
    # BLAS
    "blas", "asum", "nrm2", "dot", "vdot", "iamax", "scal", "axpy", "copy", "swap", "gemv", "ger",
    "gemm", "syrk", "trsm", "gemm_batched", "matmul", "multi_dot", "inv", "slogdet", "solve",
    "cholesky",
    # Element-wise, row and column, reductions
    "square", "sqrt", "log", "exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "abs", "negative",
    "sign", "log1p", "expm1", "floor", "ceil", "rint", "erf", "reciprocal", "logistic", "pow",
    "add", "subtract", "multiply", "divide", "minimum", "maximum", "equal", "not_equal", "less",
    "less_equal", "greater", "greater_equal", "clip", "geem", "geerv", "add_sign", "sum", "mean",
    "prod", "max", "min", "argmax", "argmin", "scale_rows", "scale_columns", "quantize",
    "dequantize", "scaled_matmul", "convolve", "trace", "nn",
    # Random numbers
    "Rng", "seed", "multivariate_normal",
    # Facets, memory, devices
    "use_device", "use_cuda", "set_device", "cuda_available", "prefetch", "batches", "graph",
    "with_facets", "FacetState", "Direction", "barrier", "fused", "scratch", "ones_view", "kernel",
    "show", "show_config", "memory_report", "trim", "debug", "extend",
    # Files
    "save", "load", "save_all", "load_all", "open_memmap",
    # Errors
    "errors", "MatError", "ShapeError", "DTypeError", "DirectionError", "FacetError",
    "IndexOutOfRange", "AxisError", "AliasError", "IntegerError", "IndexTypeError", "PowerError",
    "RangeError", "StepError", "TextError", "ConflictError", "TornError", "LinAlgError",
    "DeviceError", "OutOfDeviceMemory", "OutOfMemory", "DiskError", "FormatError", "GraphError",
    "KernelError", "PlanError", "UninitialisedError", "SettingError", "ExchangeError",
    "PerformanceWarning", "__version__", "__array_api_version__",
]
array_api = _sys.modules[__name__]  # the name that version 0.1 had for these functions

_name_what_is_close("mat.errors")


def __getattr__(name: str) -> object:
    """Return a name that is imported at its first use, or NumPy's object of this name."""
    if name in ("blas", "debug", "extend", "nn"):
        return _plugin(name)
    if name == "dask":
        try:
            return _plugin("dask")
        except ModuleNotFoundError as error:
            raise AttributeError(f"mat.dask needs {error.name}, which is not installed: "
                                 "pip install facetmat[dask]") from None
    if name in _AT_FIRST_USE:
        made = globals()[name] = getattr(_plugin(_AT_FIRST_USE[name]), name)
        return made
    if name.startswith("__") and name != "__array_namespace_info__":
        raise AttributeError(f"module 'mat' has no attribute {name!r}")
    try:
        found = globals()[name] = _plugin("numpy_names").lookup("", name)
    except AttributeError:
        if name in _plugin("nn").__all__:
            raise AttributeError(f"mat.{name} is mat.nn.{name} since version 0.2",
                                 name=name, obj=_sys.modules[__name__]) from None
        raise _no_attribute(_sys.modules[__name__], "module 'mat'", name, __dir__()) from None
    return found


def __dir__() -> list[str]:
    """Return the public names, shown by ``mat.<TAB>``."""
    names: list[str] = _plugin("numpy_names").usable_names("")
    return sorted({*__all__, "array_api", *names})
