"""The public surface: the names of the manual, one spelling each as function, method and ``_``
method, docstrings that run.
"""

import doctest
import inspect
import pydoc
import types
from operator import attrgetter

import pytest

import mat
from mat import Mat
from mat.numpy.namespace.lookup import kinds
from mat.ops.engine.functions import OF_EVERY_UFUNC
from mat.ops.engine.operation import REGISTRY, Op
from mat.support.close_names import OF_ARRAYS

from ..support import needs
from ..support.functions import PUBLIC, PUBLIC_OF_TWO

pytestmark = pytest.mark.host

CREATION = [
    "Mat", "zeros", "ones", "full", "empty", "eye", "arange", "array", "from_numpy", "from_dlpack",
    "allclose", "zeros_like", "ones_like", "full_like", "empty_like", "identity", "linspace",
    "logspace", "geomspace", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray",
    "settings", "configure",
    "supported_dtypes"
]
SHAPING = ["concat", "stack", "map_concat", "map_displacements", "map_into", "reshape",
           "transpose"]
BLAS = [
    "asum", "nrm2", "iamax", "scal", "axpy", "swap", "gemv", "ger", "gemm", "syrk", "trsm",
    "gemm_batched"
]
LINALG = ["matmul", "multi_dot", "inv", "slogdet", "solve", "cholesky"]
OF_NUMPY = ["dot", "vdot", "copy", "trace", "convolve", "clip"]
REDUCTIONS = ["sum", "mean", "max", "min", "argmax", "argmin", "prod"]
FUSED = ["geem", "geerv", "add_sign"]
SCALING = ["scale_rows", "scale_columns"]
QUANTIZING = ["quantize", "dequantize", "scaled_matmul"]
RANDOM = ["Rng", "seed", "multivariate_normal"]
WINDOWS = ["conv", "derive_conv", "pool", "derive_pool", "convolve", "derive_convolve", "max_pool",
           "derive_max_pool"]
FACETS = ["use_device", "use_cuda", "set_device", "cuda_available", "prefetch", "batches",
          "graph", "with_facets",
          "FacetState", "Direction",
          "barrier", "fused", "scratch", "ones_view", "kernel", "show", "show_config",
          "memory_report", "trim",
          "blas", "debug", "extend", "nn"]
FILES = ["save", "load", "save_all", "load_all", "open_memmap"]
ERRORS = [
    "errors", "MatError", "ShapeError", "DTypeError", "DirectionError", "FacetError",
    "IndexOutOfRange", "AxisError", "AliasError", "IntegerError", "IndexTypeError", "PowerError",
    "RangeError", "StepError", "TextError",
    "ConflictError", "TornError", "LinAlgError", "DeviceError", "OutOfDeviceMemory", "OutOfMemory",
    "DiskError", "FormatError", "GraphError", "KernelError", "PlanError",
    "SettingError", "ExchangeError", "UninitialisedError", "PerformanceWarning"
]
MANUAL = [*CREATION, *SHAPING, *BLAS, *LINALG, *OF_NUMPY, *PUBLIC, *PUBLIC_OF_TWO, *REDUCTIONS,
          *FUSED, *SCALING, *QUANTIZING, *RANDOM, *FACETS, *FILES, *ERRORS,
          "__version__", "__array_api_version__"]

BASIC_MEMBERS = [
    "to_numpy", "shape", "size", "dtype", "ndim", "nbytes", "strides", "itemsize", "displacement",
    "max_size",
    "fill_value", "replace_", "item", "ravel_index", "copy", "equals", "view", "reshape",
    "displace", "view_", "reshape_",
    "displace_", "row_", "window", "adjust_", "T", "permute", "swapaxes", "broadcast_to", "squeeze",
    "expand_dims",
    "diagonal", "is_contiguous", "contiguous", "astype", "fill_", "sum_", "uniform_", "normal_",
    "bernoulli_", "orthogonal_",
    "facet", "facets", "fresh", "drop", "keep",
    "close", "accept_torn", "device", "device_enabled", "tolist", "to_device", "mT", "transpose",
    "load_", "write", "read_", "flush", "changed"
]
NUMPY_METHODS = ["all", "any", "argsort", "clip", "conj", "cumprod", "cumsum", "flatten", "nonzero",
                 "ravel", "repeat", "round",
                 # functions of these names are in numpy, too
                 "searchsorted", "std", "take", "trace", "var",
                 "argpartition", "choose", "compress", "conjugate", "dot", "dump", "dumps",
                 "tobytes", "tofile", "getfield", "resize", "setfield", "setflags"]
# NumPy's methods that write self, which rule 4 excepts: a name of NumPy's means what NumPy means
NUMPY_WRITING = ["byteswap", "fill", "partition", "put", "sort"]
# NumPy's names for functions of one Mat
READ_ONE = [*PUBLIC, *REDUCTIONS, "inv", "slogdet", "cholesky"]
VERBS = [  # their last operand is written
    "scal", "axpy", "copy", "swap", "gemv", "ger", "gemm", "syrk", "trsm", "gemm_batched", *FUSED
]
OPERATORS = [
    "add", "radd", "iadd", "sub", "rsub", "isub", "mul", "rmul", "imul", "truediv", "rtruediv",
    "itruediv", "pow", "rpow",
    "ipow", "matmul", "rmatmul", "neg", "abs", "eq", "ne", "lt", "le", "gt", "ge", "bool", "float",
    "int", "len", "hash",
    "getitem", "setitem", "iter",
    *(f"{way}{name}" for name in ("floordiv", "mod", "and", "or", "xor", "lshift", "rshift")
      for way in ("", "r", "i")),
    "divmod", "rdivmod", "invert", "pos", "index", "complex", "array_namespace", "array_ufunc",
    "array_function"
]


def parameters(function):
    """The parameters, without those that are only passed on to NumPy."""
    passed_on = {"where", *OF_EVERY_UFUNC} if isinstance(function, mat.ufunc) else ()
    return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()
            if p.kind is not p.VAR_KEYWORD and p.name not in passed_on]


# Names


def test_the_names_are_those_of_the_manual():
    assert sorted(mat.__all__) == sorted(MANUAL)
    assert len(mat.__all__) == len(set(mat.__all__))


def test_all_is_exactly_what_is_bound():
    bound = {n for n, v in vars(mat).items()
             if not n.startswith("_") and (n in mat.__all__ or not isinstance(v, types.ModuleType))}
    bound -= kinds("").keys() - set(mat.__all__)  # which are made at their first use
    bound -= {"load_ipython_extension"}  # which %load_ext mat calls
    bound -= set(dir(mat)) - set(mat.__all__)  # NumPy's, which are bound at their first use
    assert bound | {"__version__", "__array_api_version__"} == set(mat.__all__)


def test_blas_has_all_verbs_and_nn_the_windows():
    """Three verbs have names that are NumPy's in `mat`; what is in `mat` is the same function."""
    assert sorted(mat.blas.__all__) == sorted([*BLAS, "copy", "dot", "vdot"])
    assert sorted(mat.nn.__all__) == sorted(WINDOWS)
    assert all(getattr(mat.blas, name) is getattr(mat, name) for name in BLAS)
    # pytest adds names with "@" where it rewrites assertions
    assert {n for m in (mat.blas, mat.nn) for n in vars(m) if n[0] not in "_@"
            } == {*mat.blas.__all__, *mat.nn.__all__}


def test_a_star_import_gives_them():
    space = {}
    exec("from mat import *", space)
    assert set(mat.__all__) <= set(space)


@pytest.mark.parametrize("name", BASIC_MEMBERS)
def test_members_of_the_manual(name):
    assert hasattr(Mat, name)


@pytest.mark.parametrize("name", OPERATORS)
def test_operators(name):
    assert callable(getattr(Mat, f"__{name}__"))


def test_no_free_function_ends_in_an_underscore():
    modules = mat, mat.blas, mat.debug, mat.extend, mat.errors, mat.nn
    assert [n for m in modules for n in vars(m) if n.endswith("_") and not n.endswith("__")
            and n != "_" and n not in kinds("")] == []


def test_methods_without_an_underscore_are_known():
    """Rule 4: whoever adds a public method without an underscore says here that it only reads, or
    changes facets only.
    """
    known = {*READ_ONE, *BASIC_MEMBERS, *NUMPY_METHODS, *NUMPY_WRITING, "label", "facet"}
    public = {n for n in dir(Mat) if not n.startswith("_") and not n.endswith("_")}
    # these two serve facets
    assert {n for n in public if callable(getattr(Mat, n))} <= known | {"over", "allowed"}


# One declaration, three spellings


@pytest.mark.parametrize("name", READ_ONE)
def test_numpys_functions_of_one_mat_are_methods(name):
    function, method = getattr(mat, name), getattr(Mat, name)
    assert parameters(function)[1:] == parameters(method)[1:]
    assert parameters(method)[0][0] == "self"
    assert method.__name__ == name


@pytest.mark.parametrize("name", VERBS)
def test_writing_verbs_have_methods(name):
    function, method = getattr(mat.blas, name, None), getattr(Mat, name + "_")
    function = function or getattr(mat, name)
    assert isinstance(function, Op)
    written = function.positional[-1]
    assert [p for p in parameters(function) if p[0] != written] == parameters(method)[1:]
    assert parameters(method)[0][:2] == ("self", inspect.Parameter.POSITIONAL_ONLY)
    assert method.__name__ == name + "_"
    assert function.check.__doc__.strip().splitlines()[0] in method.__doc__


@pytest.mark.parametrize("name", PUBLIC)
def test_functions_of_one_operand_have_writing_methods(name):
    assert [p[0] for p in parameters(getattr(mat, name))] == ["x", "out"]
    assert [p[0] for p in parameters(getattr(Mat, name + "_"))] == ["self"]


@pytest.mark.parametrize("name", PUBLIC_OF_TWO)
def test_functions_of_two_operands_have_writing_methods(name):
    assert [p[0] for p in parameters(getattr(mat, name))] == ["x", "y", "out"]
    assert [p[0] for p in parameters(getattr(Mat, name + "_"))] == ["self", "y"]


def test_scaling_has_writing_methods():
    for name in SCALING:
        assert [p[0] for p in parameters(getattr(mat, name))] == ["scales", "a", "out"]
        assert [p[0] for p in parameters(getattr(Mat, name + "_"))] == ["self", "scales"]


@pytest.mark.parametrize(("name", "own"),
                         [("convolve", "y"), ("max_pool", "y"), ("derive_max_pool", "xd")])
def test_windows_have_writing_methods(name, own):
    settings = [p for p in parameters(getattr(mat.nn, name)) if p[0] != own]
    assert parameters(getattr(Mat, name + "_"))[1:] == settings
    assert f"`{own}` is self" in getattr(Mat, name + "_").__doc__


def test_every_operation_is_public_or_serves_a_public_name():
    behind = {"fill": "fill_", "assign": "__setitem__", "same": "equals", "close": "allclose",
              "product": "matmul",
              "inverse": "inv", "solution": "solve", "cholesky_factor": "cholesky",
              "sum_into": "sum_",
              **dict.fromkeys(("count_nonzero", "cummax", "cummin", "search", "count_bins",
                               "cumsum_continued", "cumprod_continued",
                               "count_weights", "firsts", "place", "unsort", "median_of_sorted",
                               "between_sorted"), "__array_function__"),
              **dict.fromkeys(("gather", "scatter", "within", "mask_starts", "mask_positions",
                               "pick"), "__getitem__"),
              "join_two": "concat",
              **dict.fromkeys(("gather_along", "select"), "__array_function__"),
              "replace_nan": "__array_function__",
              "extent": "__array_function__", "fourier": "__array_function__",
              **dict.fromkeys(("svd", "svdvals", "eigh", "eigvalsh", "eig", "eigvals", "qr", "rows",
                               "lu"), "__array_function__"),  # the last of factors by blocks
              "accumulate_at": "__array_ufunc__",
              "nanmax": "__array_function__", "nanmin": "__array_function__", "moments": "var",
              "scaled": "scaled_matmul",
              "rows_scaled": "scale_rows", "columns_scaled": "scale_columns"}
    built_in = [op.__name__ for op in REGISTRY.values() if op.__module__.startswith("mat.")]
    for name in built_in:
        public = behind.get(name, name)
        assert (public in {*mat.__all__, *mat.blas.__all__, *mat.nn.__all__}
                or hasattr(Mat, public) or hasattr(getattr(mat, public), "op")), name


def test_the_three_spellings_are_one_operation():
    x = mat.array([1.0, 4.0])
    assert mat.sqrt(x).tolist() == x.sqrt().tolist() == x.copy().sqrt_().tolist() == [1, 2]
    y = mat.zeros(2)
    assert mat.axpy(2, x, y) is y
    assert y.axpy_(-2, x) is y
    assert y.tolist() == [0, 0]


# Errors


@pytest.mark.parametrize(("name", "builtin"), [
    ("ShapeError", ValueError), ("DTypeError", TypeError), ("DirectionError", ValueError),
    ("FacetError", LookupError),
    ("IndexOutOfRange", IndexError), ("AxisError", ValueError), ("AliasError", ValueError),
    ("IntegerError", TypeError), ("IndexTypeError", IndexError), ("PowerError", ValueError),
    ("RangeError", OverflowError), ("StepError", ZeroDivisionError), ("TextError", ValueError),
    ("ConflictError", RuntimeError),
    ("TornError", RuntimeError),
    ("LinAlgError", ValueError), ("DeviceError", RuntimeError), ("OutOfDeviceMemory", MemoryError),
    ("OutOfMemory", MemoryError), ("PlanError", RuntimeError),
    ("FormatError", ValueError),
    ("KernelError", ValueError), ("GraphError", RuntimeError), ("SettingError", ValueError),
    ("UninitialisedError", RuntimeError)])
def test_errors_are_of_mat_and_builtin(name, builtin):
    kind = getattr(mat, name)
    assert kind is getattr(mat.errors, name)
    assert issubclass(kind, mat.MatError)
    assert issubclass(kind, builtin)


# Help


MOVED = ["blas.copy", "blas.dot", "blas.vdot", *(f"nn.{n}" for n in WINDOWS), "debug.trace"]
CALLABLES = [*(n for n in mat.__all__ if callable(getattr(mat, n))), *MOVED]
# no fields, compiled or not, and no names of other libraries that say what there is instead
METHODS = [n for n in dir(Mat) if not n.startswith("_") and n not in OF_ARRAYS
           and not inspect.ismemberdescriptor(inspect.getattr_static(Mat, n))
           and not (inspect.isgetsetdescriptor(inspect.getattr_static(Mat, n))
                    and getattr(Mat, n).__doc__ is None)]


@pytest.mark.parametrize("name", CALLABLES)
def test_public_names_are_documented(name):
    thing = attrgetter(name)(mat)
    assert thing.__doc__
    assert not thing.__doc__.strip().splitlines()[0].endswith(",")
    assert pydoc.render_doc(thing, renderer=pydoc.plaintext)


@pytest.mark.parametrize("name", METHODS)
def test_public_methods_are_documented(name):
    assert inspect.getdoc(getattr(Mat, name)), name


def run_doctest(test):
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.REPORT_NDIFF)
    said = []
    runner.run(test, out=said.append)
    assert not runner.failures, "".join(said)
    return runner.tries


@needs.native
@pytest.mark.parametrize("name", [*CALLABLES, *(f"Mat.{n}" for n in METHODS)])
def test_docstrings_of_public_names_run(name):
    thing = (inspect.getattr_static(Mat, name[4:]) if name.startswith("Mat.")
             else attrgetter(name)(mat))
    run_doctest(doctest.DocTestParser().get_doctest(inspect.cleandoc(thing.__doc__ or ""), {}, name,
                                                    None, 0))


@pytest.mark.parametrize("name", [*SHAPING, *BLAS, *LINALG, *OF_NUMPY, *FUSED, *SCALING, *MOVED,
                                  *RANDOM, *FILES, "zeros", "ones", "full",
                                  "empty", "eye", "arange", "array", "from_numpy", "allclose",
                                  "with_facets", "barrier",
                                  "scratch", "ones_view", "show"])
def test_functions_show_an_example(name):
    assert ">>> " in attrgetter(name)(mat).__doc__


@pytest.mark.parametrize(("name", "signature", "text"), [
    ("axpy", "axpy(alpha", "alpha * x + y"), ("gemm", "gemm(alpha", "op(A) op(B)"),
    ("exp", "exp(x", "exponential of each element"),
    ("add", "add(x", "x + y"), ("sum", "sum(a", "the sum of"),
    ("Mat.axpy_", "axpy_(self", "alpha * x + y"),
    ("Mat.exp_", "exp_(self", "Overwrite self")])
def test_help_shows_signature_and_text(name, signature, text):
    thing = getattr(Mat, name[4:]) if name.startswith("Mat.") else getattr(mat, name)
    shown = pydoc.render_doc(thing, renderer=pydoc.plaintext)
    assert signature in shown.replace("(\n    ", "(")  # newer Pythons break long signatures
    assert text in shown
