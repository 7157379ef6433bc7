"""Mats among NumPy's arrays: operators, devices, subclasses, and other classes that dispatch."""

import operator
import subprocess
import sys

import numpy as np
import pytest
import scipy.special
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat import DTypeError, Mat
from mat.numpy import array_ufunc, registry
from mat.numpy.array_function import VIEWS
from mat.numpy.namespace import functions
from mat.numpy.registry import (
    COMPOSED,
    HOLDS,
    IMPLEMENTATIONS,
    MODULES,
    ON_HOST,
    numpy_function,
)
from mat.ops.primitives import elementwise

from ..support.layouts import LAYOUTS, numbers, place
from ..support.numpy_calls import FUNCTIONS, Operands

BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow,
          operator.floordiv, operator.mod, divmod,
          operator.matmul, operator.eq, operator.ne, operator.lt, operator.le, operator.gt,
          operator.ge]
BITS = [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift]
IN_PLACE = [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow,
            operator.ifloordiv, operator.imod]
BITS_IN_PLACE = [operator.iand, operator.ior, operator.ixor, operator.ilshift, operator.irshift]
BOOLEAN = {np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert}


class Tagged(np.ndarray):
    """An array that implements ufuncs itself."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return "tagged", ufunc.__name__


class Refusing:
    """A class that computes all operators itself."""

    __array_ufunc__ = None

    def __radd__(self, other):
        return "refusing"

    __rfloordiv__ = __rmatmul__ = __radd__


class Other:
    """Another kind of array, which dispatches."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return "other", ufunc.__name__

    def __array_function__(self, func, types, args, kwargs):
        return "other", func.__name__


class Special(Mat):
    """A subclass that changes nothing."""

    __slots__ = ()


def check(got, wanted):
    """Fail unless `got` is a Mat of dtype and elements of `wanted`, or several."""
    if isinstance(wanted, tuple):
        for one, other in zip(got, wanted, strict=True):
            check(one, other)
        return
    assert isinstance(got, Mat)
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    assert_allclose(got.to_numpy(), wanted, rtol=1e-6)


# Operators


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("apply", [*BINARY, *BITS], ids=lambda f: f.__name__)
@pytest.mark.sample(2)
def test_operators_with_arrays_on_either_side(rng, apply, layout):
    dtype = "int32" if apply in BITS else "float64"
    a, b = abs(numbers(rng, (3, 3), dtype)) + 1, abs(numbers(rng, (3, 3), dtype)) + 1
    x = place(a, layout)
    check(apply(x, b), apply(a, b))
    check(apply(b, x), apply(b, a))
    check(apply(x, place(b, layout)), apply(a, b))


@pytest.mark.parametrize("number", [2, 2.5, True, 1 + 2j, np.float64(2), np.float32(3), np.int8(2),
                                    np.float16(1.5),
                                    np.array(2.0), np.complex64(2)], ids=repr)
@pytest.mark.parametrize("apply", [operator.add, operator.mul, operator.truediv, operator.eq],
                         ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "complex64"])
def test_numbers_promote_as_in_numpy(apply, number, dtype):
    a = np.arange(1, 4).astype(dtype)
    check(apply(mat.array(a), number), apply(a, number))
    check(apply(number, mat.array(a)), apply(number, a))


@pytest.mark.parametrize("kind", [np.float64, np.float32, float])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_numbers_of_one_class_may_differ(dtype, kind):
    """Calls are planned by the class of a number."""
    x, a = mat.arange(1, 4, dtype=dtype), np.arange(1, 4, dtype=dtype)
    for value in (2, 0.5, -0.0, np.nan, np.inf, 1e300):
        with np.errstate(all="ignore"):
            number = kind(value)
            for apply in (operator.mul, operator.truediv, operator.lt):
                check(apply(x, number), apply(a, number))
                check(apply(number, x), apply(number, a))


@pytest.mark.parametrize("apply", [*IN_PLACE, *BITS_IN_PLACE], ids=lambda f: f.__name__)
def test_in_place_operators(apply):
    dtype = "int32" if apply in BITS_IN_PLACE else "float64"
    a, b = np.arange(1, 7).reshape(2, 3).astype(dtype), np.full((2, 3), 2, dtype)
    x = mat.array(a)
    same, x = x, apply(x, b)
    check(x, apply(a.copy(), b))
    assert x is same
    array = a.copy()
    same, array = array, apply(array, mat.array(b))
    assert array is same
    assert_array_equal(array, apply(a.copy(), b))


def test_signs():
    x = mat.array([1, -2], "int8")
    check(~x, ~x.to_numpy())
    check(+x, x.to_numpy())
    assert not np.shares_memory(+x, x)


@pytest.mark.parametrize("apply", [operator.add, operator.floordiv, operator.matmul],
                         ids=lambda f: f.__name__)
def test_other_classes_have_their_say(apply):
    x, tagged = mat.ones(2), np.ones(2).view(Tagged)
    assert apply(x, Refusing()) == "refusing"
    assert apply(x, tagged)[0] == "tagged"
    assert apply(tagged, x)[0] == "tagged"
    with pytest.raises(TypeError):
        apply(x, "text")
    with pytest.raises(TypeError):
        apply(Refusing(), x)


def test_other_kinds_of_arrays_that_dispatch():
    x, other = mat.ones(2), Other()
    assert np.add(x, other) == np.add(other, x) == ("other", "add")
    assert np.arctan2(x, other) == ("other", "arctan2")
    assert np.concatenate([x, other]) == np.concatenate([other, x]) == ("other", "concatenate")
    assert np.add.reduce(other) == ("other", "add")


def test_masked_arrays_stay_masked():
    masked = np.ma.masked_array([1.0, 2.0], [True, False])
    for found in (mat.ones(2) + masked, masked + mat.ones(2), mat.ones(2) // masked,
                  np.add(mat.ones(2), masked)):
        assert isinstance(found, np.ma.MaskedArray)
        assert found.mask.tolist() == [True, False]


@pytest.mark.parametrize("name", ["linspace", "logspace", "geomspace"])
def test_ranges_between_masked_arrays_are_masked(name):
    masked = np.ma.masked_array([1.0, 2.0], [True, False])
    for ends in ((1, masked), (masked, 5.0), (masked, masked)):
        found, wanted = (getattr(m, name)(*ends, 3) for m in (mat, np))
        assert isinstance(found, np.ma.MaskedArray)
        np.testing.assert_array_equal(found.mask, wanted.mask)
        np.testing.assert_array_equal(found.filled(7), wanted.filled(7))


def test_subclasses_of_mat_are_mats():
    x = Special(3, fill=2)
    assert np.exp(x).shape == (3,)
    assert type(np.transpose(x)) is Special
    assert np.median(x).item() == 2


# Which way they go


@pytest.mark.parametrize("ufunc", array_ufunc.IMPLEMENTATIONS, ids=lambda u: u.__name__)
def test_ufuncs_run_as_operations(ufunc, monkeypatch):
    monkeypatch.setattr(array_ufunc, "ufunc_by_numpy", None)
    square = mat.array([[0.5, 2], [1, 3]])
    whole = ufunc in (np.left_shift, np.right_shift, np.gcd, np.lcm)
    square = square.astype("int64" if whole else "bool") if ufunc in BOOLEAN or whole else square
    operands = [square, square.T.to_numpy()][:ufunc.nin]
    with np.errstate(all="ignore"):
        wanted = ufunc(*map(np.asarray, operands))
    check(ufunc(*operands), wanted)
    if ufunc.nout == 1:
        out = mat.zeros(2, 2, dtype=wanted.dtype)
        assert ufunc(*operands, out=out) is out
        check(out, wanted)


def test_every_operation_with_numpys_name_is_known():
    """An operation with the name of a NumPy ufunc has to be used for it."""
    names = {"absolute": "abs", "power": "pow"}
    known = {names.get(u.__name__, u.__name__) for u in array_ufunc.IMPLEMENTATIONS}
    declared = {n for n in mat.__all__ if hasattr(getattr(elementwise, n, None), "op")}
    assert {n for n in declared if isinstance(getattr(np, n, None), np.ufunc)} <= known


IMPLEMENTED = [  # function, and the call that our operations can do
    ("tensordot", 0), ("einsum", 0),
    ("sum", 0), ("prod", 0), ("mean", 0), ("max", 0), ("min", 0), ("amax", 0), ("amin", 0),
    ("argmax", 0), ("argmin", 0), ("any", 0), ("all", 0), ("count_nonzero", 0), ("cumsum", 0),
    ("cumprod", 0),
    ("std", 0), ("var", 0), ("trace", 0), ("clip", 0), ("round", 0), ("around", 0), ("copy", 0),
    ("astype", 0), ("copyto", 0),
    ("concatenate", 0), ("stack", 0), ("hstack", 0), ("vstack", 0), ("dstack", 0),
    ("column_stack", 0), ("zeros_like", 0),
    ("ones_like", 0), ("empty_like", 0), ("full_like", 1), ("dot", 0), ("inner", 0), ("outer", 0),
    ("vdot", 0),
    ("linalg.matmul", 0), ("linalg.multi_dot", 0), ("linalg.outer", 0), ("linalg.tensordot", 0),
    ("linalg.trace", 0),
    ("linalg.inv", 0), ("linalg.solve", 0), ("linalg.cholesky", 0), ("linalg.norm", 0),
    ("array_equal", 0), ("allclose", 2),
    ("real", 0), ("imag", 0), ("shares_memory", 0), ("may_share_memory", 0), ("asarray", 0),
    ("asanyarray", 0),
    ("ascontiguousarray", 0),
    ("roll", 1), ("repeat", 0), ("tile", 0), ("diag", 1), ("meshgrid", 0), ("pad", 2),
    ("append", 0), ("delete", 0), ("insert", 0), ("trapezoid", 0), ("gradient", 0), ("isclose", 0),
    ("cov", 0), ("corrcoef", 0), ("kron", 0), ("tril", 0), ("triu", 0),
    ("cumulative_sum", 0), ("cumulative_prod", 0), ("nancumsum", 0), ("nancumprod", 0), ("diff", 0),
    ("sort", 0), ("argsort", 0), ("partition", 0), ("argpartition", 0), ("searchsorted", 0),
    ("where", 0), ("select", 0), ("choose", 0), ("put", 0), ("place", 0), ("putmask", 0),
    ("take_along_axis", 0), ("put_along_axis", 0), ("compress", 0), ("extract", 0),
    ("nonzero", 0), ("argwhere", 0), ("flatnonzero", 0), ("nan_to_num", 0),
    ("nansum", 0), ("nanprod", 0), ("nanmax", 0), ("nanmin", 0), ("nanmean", 0), ("nanvar", 0),
    ("nanstd", 0), ("nanargmax", 0), ("nanargmin", 0), ("ptp", 0), ("average", 0),
    ("median", 0), ("nanmedian", 0), ("quantile", 0), ("percentile", 0), ("nanquantile", 0),
    ("nanpercentile", 0), ("isin", 0), ("lexsort", 0), ("digitize", 0), ("interp", 0),
    ("convolve", 0), ("correlate", 0), ("intersect1d", 0), ("union1d", 0), ("setdiff1d", 0),
    ("setxor1d", 0), ("fix", 0), ("angle", 0), ("isreal", 0), ("iscomplex", 0), ("isneginf", 0),
    ("isposinf", 0), ("sinc", 0), ("real_if_close", 0), ("unwrap", 0), ("ediff1d", 0), ("cross", 0),
    ("vander", 0), ("block", 0), ("resize", 0), ("diagflat", 0), ("trim_zeros", 0),
    ("apply_over_axes", 0), ("sort_complex", 0), ("packbits", 0), ("ravel_multi_index", 0),
    ("unravel_index", 0), ("diag_indices_from", 0), ("tril_indices_from", 0),
    ("triu_indices_from", 0), ("fill_diagonal", 0), ("tri", 0), ("linspace", 0), ("logspace", 0),
    ("linalg.vecdot", 0), ("linalg.vector_norm", 0), ("linalg.matrix_norm", 0),
    ("linalg.det", 0), ("linalg.slogdet", 0),
    ("linalg.cross", 0), ("linalg.matrix_power", 0), ("polyadd", 0), ("polysub", 0),
    ("polymul", 0), ("polyder", 0), ("polyint", 0), ("polyval", 0), ("array_equiv", 0),
    ("fft.fftshift", 0), ("fft.ifftshift", 0),
    *((f"fft.{n}", 0) for n in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "ifft2",
                                "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")),
    *((f"linalg.{n}", 0) for n in ("svd", "svdvals", "qr", "eig", "eigh", "eigvals", "eigvalsh",
                                   "cond", "matrix_rank", "pinv", "lstsq"))]


# among the views
VIEWING = {np.broadcast_arrays, np.take, np.ravel, np.reshape, np.transpose,
           np.lib.stride_tricks.sliding_window_view, np.squeeze, np.expand_dims, np.swapaxes,
           np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit, np.moveaxis, np.rollaxis,
           np.broadcast_to, np.flip, np.flipud, np.fliplr, np.rot90, np.diagonal}
PREPARING = {np.piecewise}  # arguments, for NumPy on the host
# for how many elements there are; tests/ops/test_sorting.py has these
# whether there is only NaN, or edges are in no order, which is an error; which rank there is;
# whether eigenvalues are finite, and real
LOOKING = {"nanargmax": 1, "nanargmin": 1, "trim_zeros": 1, "digitize": 1, "array_equiv": 1,
           "linalg.lstsq": 1, "linalg.eig": 2, "linalg.eigvals": 2}
# these are in tests/numpy/test_composed_on_devices.py as well
WAITING = {np.bincount, np.histogram, np.unique, np.unique_all, np.unique_counts, np.unique_inverse,
           np.unique_values, np.histogram2d, np.histogramdd, np.histogram_bin_edges, np.geomspace,
           np.unpackbits}


def test_each_implementation_is_tested():
    assert {numpy_function(n) for n,
            _ in IMPLEMENTED} == set(IMPLEMENTATIONS) - VIEWING - PREPARING - WAITING - ON_HOST


@pytest.mark.host
@pytest.mark.parametrize(("name", "k"),
                         [*IMPLEMENTED,
                          *((n, 0) for n in FUNCTIONS if numpy_function(n) in VIEWS)])
def test_nothing_is_copied_to_the_host(name, k):
    with mat.use_device("emulated"):
        operands = Operands("float64",
                            lambda a: mat.array(a) * 1 if a.dtype == "float64" else mat.array(a))
        for attribute in ("a", "b", "v", "w", "row", "column", "c", "sq", "spd", "tall", "change"):
            getattr(operands, attribute)
        with mat.debug.count_copies() as n:
            FUNCTIONS[name][k](numpy_function(name), operands)
        looks = LOOKING.get(name, 0)
        if name == "linalg.eigvals" and np.lib.NumpyVersion(np.__version__) >= "2.5.0":
            looks = 1  # always complex
        assert (n.d2h, n.fallbacks) == (looks, 0)


def test_modules_implement_what_they_are_imported_for():
    for module, names in MODULES.items():
        own = {f for f, implementation in IMPLEMENTATIONS.items()
               if implementation.__globals__["__name__"] == f"mat.numpy.composites.{module}"}
        assert own == {f for name in names.split() if (f := numpy_function(name)) is not None}


def test_what_is_known_of_implementations_before_they_are_imported():
    registry.load_all()
    own = {f.__name__ for f in IMPLEMENTATIONS if functions._own_keywords(f)}
    assert own | {f.__name__ for f in ON_HOST} <= registry.OF_OWN_KIND
    assert {f for f, holds in HOLDS.items() if holds < 0} == (
        registry.ON_DEVICES | {np.fft.fftshift, np.fft.ifftshift})
    composed = {f.__name__ for f, method in COMPOSED if method == "__call__"}
    assert composed <= registry.COMPOSED_NAMES


@pytest.mark.sample(1)
def test_modules_are_imported_when_their_functions_are_called():
    code = """
import sys
import numpy as np, mat
def loaded():
    return {m.rpartition(".")[2] for m in sys.modules if m.startswith("mat.numpy.composites.")}
x = mat.ones((3, 4))
np.exp(x) + np.sum(x) + np.concatenate([x, x]).max()
mat.tril.__doc__, mat.float_power.__doc__, mat.einsum.__signature__
print(sorted(loaded() & {"arranging", "einsum", "fourier", "linear_algebra", "quantiles", "sorting",
                         "ufuncs"}))
print(np.tril(x, -1).sum(), "arranging" in loaded(), "sorting" in loaded())
with mat.use_device("emulated"):
    print(np.float_power(x, 2.0).sum(), "ufuncs" in loaded())
"""
    found = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True,
                           check=False)
    assert found.stdout.splitlines() == ["[]", "3.0 True False", "12.0 True"], found.stderr


@pytest.mark.sample(1)
def test_a_call_waits_for_a_thread_that_imports_the_module():
    code = """
import sys, threading, time
import numpy as np, mat
from mat.numpy.registry import IMPLEMENTATIONS
x = mat.ones((3, 4))
np.exp(x)
def slow(frame, event, arg):
    if frame.f_code.co_name == "<module>" and "composites" in frame.f_code.co_filename:
        time.sleep(0.002)
        return slow
def first():
    sys.settrace(slow)
    np.average(x, weights=x)
thread = threading.Thread(target=first)
thread.start()
while np.average not in IMPLEMENTATIONS:
    time.sleep(0.0005)
print(thread.is_alive(), np.average(x, weights=x))
thread.join()
"""
    found = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True,
                           check=False)
    assert found.stdout.splitlines() == ["True 1.0"], found.stderr


@pytest.mark.host
def test_ufuncs_run_on_the_device():
    x = mat.arange(4.0)
    with mat.use_device("emulated"), mat.debug.count_copies() as n:
        y = np.exp(x)
        z = np.float64(2) * y - np.sum(y, axis=0)
        z += np.add.outer(x, x)[1]
        assert {y.device, z.device} == {"emulated"}
        assert z.fresh == {"emulated"}
        assert (n.h2d, n.d2h, n.fallbacks) == (1, 0, 0)
        half = y.astype("float16")
        home = np.spacing(half)
        assert (n.d2h, n.fallbacks) == (1, 1)
    assert home.tolist() == np.spacing(half.to_numpy()).tolist()


@pytest.mark.host
def test_asking_for_shapes_moves_and_allocates_nothing():
    x = mat.empty(3, 4)
    with mat.debug.count_allocations() as n:
        assert (np.shape(x), np.ndim(x), np.size(x), np.size(x, 1)) == ((3, 4), 2, 12, 4)
        assert np.result_type(x, np.complex64) == np.complex128
        assert np.can_cast(x, "float32", "same_kind")
        assert np.iterable(x)
        assert np.transpose(x)[1:].shape == (3, 3)
    assert (n.count, x.fresh) == (0, set())


def test_warnings_are_those_of_our_operations():
    x = mat.array([0.0, -1])
    # and warnings are errors here
    assert np.log(x).tolist()[0] == np.log10(x).tolist()[0] == -np.inf
    assert (x % 0).tolist() == pytest.approx([np.nan, np.nan], nan_ok=True)


def test_scipys_ufuncs(rng):
    a = numbers(rng, (3, 4), "float64")
    x = mat.array(a)
    for ufunc in (scipy.special.erf, scipy.special.expit, scipy.special.gamma, scipy.special.xlogy):
        operands = (x, x)[:ufunc.nin]
        check(ufunc(*operands), ufunc(*(a, a)[:ufunc.nin]))
    check(scipy.special.erf(mat.array([1, 2], "int8")), scipy.special.erf(np.array([1, 2], "int8")))


# What users expect


def test_texts():
    x, a = mat.arange(3.0), np.arange(3.0)
    assert (np.array2string(x), np.array_repr(x),
            np.array_str(x)) == (np.array2string(a), np.array_repr(a), np.array_str(a))


def test_like():
    x = mat.ones(2, dtype="float32")
    for made in (np.zeros(3, like=x), np.full_like(x, 2.5), np.arange(3, like=x),
                 np.asarray([1, 2], like=x)):
        assert isinstance(made, Mat)
    assert np.asarray(x, like=x) is x
    assert (np.zeros_like(x).fresh, np.zeros_like(x).dtype) == (set(), np.float32)
    with mat.settings(device_enabled=False):
        alone = mat.ones(2)
    assert not np.ones_like(alone).device_enabled


def test_files(tmp_path):
    x = mat.arange(6.0).reshape(2, 3).T
    np.save(tmp_path / "x.npy", x)
    np.savez(tmp_path / "x.npz", x, out=x)
    assert_array_equal(np.load(tmp_path / "x.npy"), x.to_numpy())
    with np.load(tmp_path / "x.npz") as found:
        assert_array_equal(found["out"], found["arr_0"])


def test_refusals_are_errors_of_numpys_kinds():
    x = mat.ones(2, 3)
    with pytest.raises(ValueError, match="shape"):
        np.add(x, mat.ones(4))
    with pytest.raises(TypeError):
        np.bitwise_and(x, x)
    with pytest.raises(DTypeError):
        np.negative(mat.ones(2, dtype="bool"))
    with pytest.raises(ValueError, match="axis"):
        np.sort(x, axis=7)


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "complex128"])
def test_ufuncs_with_a_dtype(dtype, device):
    a = np.array([1, 2, 300], "float32")
    with mat.use_device(device):
        for given in ("float32", "int32"):
            x, y = mat.array(a.astype(given)), a.astype(given)
            try:
                wanted = np.add(y, y, dtype=dtype)
            except TypeError:
                with pytest.raises(TypeError):
                    np.add(x, x, dtype=dtype)
                continue
            got = np.add(x, x, dtype=dtype)
            assert got.dtype == wanted.dtype
            np.testing.assert_array_equal(np.asarray(got), wanted)
