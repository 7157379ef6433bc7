"""Everything in NumPy that dispatches, called on Mats: the result is NumPy's on arrays, over dtypes
and layouts.
"""

import importlib.util
import inspect
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.testing.overrides import (
    get_overridable_numpy_array_functions,
    get_overridable_numpy_ufuncs,
)

import mat
from mat.numpy import array_ufunc, short_floats
from mat.numpy.array_function import QUERIES, SAVING, VIEWS, WRITING
from mat.numpy.registry import IMPLEMENTATIONS, numpy_function
from mat.support.dtypes import EXTENSIONS, as_dtype

from ..conftest import DEVICE
from ..support import selection
from ..support.layouts import LAYOUTS, NUMPY_DTYPES, place
from ..support.numpy_calls import FUNCTIONS, Operands
from ..support.numpy_outcomes import ARBITRARY, TOLERANCE, check_same, outcome
from ..support.numpy_ufunc_calls import calls_of

if np.lib.NumpyVersion(np.__version__) < "2.3.0":
    pytest.skip("the calls are written for the functions of NumPy 2.3 and newer",
                allow_module_level=True)
# which are imported when first asked for
for _module in ("fft", "strings", "char", "polynomial", "lib.recfunctions"):
    importlib.import_module(f"numpy.{_module}")
DISPATCHING = {f"{f.__module__}.{f.__name__}".removeprefix("numpy.")
               for f in get_overridable_numpy_array_functions()}
UFUNCS = sorted(get_overridable_numpy_ufuncs(), key=lambda u: u.__name__)
# they dispatch by the elements of their operand, not by the operand
NOT_ASKED = {"poly", "roots"}


def check(function, calls, dtype, layout, tolerance):
    for k, call in enumerate(calls):
        wanted = outcome(call, function, Operands(dtype, np.array))
        operands = Operands(dtype, lambda a: place(a, layout))
        got = outcome(call, function, operands)
        if (function in short_floats.FUNCTIONS and np.dtype(dtype).char in EXTENSIONS
                and isinstance(wanted, TypeError) and not isinstance(got, Exception)):
            continue  # NumPy refuses what is computed in float32
        try:
            check_same(got, wanted, tolerance, operands.arrays)
        except AssertionError as error:
            where = f"call {k} of {function.__name__} for {dtype}, {layout}"
            raise AssertionError(f"{where}: {error}\n{got!r}\n{wanted!r}") from None


@pytest.fixture
def silence():
    """Ignore NumPy's warnings."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


WAYS = [*((d, "packed") for d in NUMPY_DTYPES),
        *(("float64", layout) for layout in LAYOUTS if layout != "packed"),
        ("int32", "transposed"), ("complex64", "negative")]
OF_FLOAT64 = {"logaddexp2"}  # computed more precisely than by NumPy for float32 on devices
# `mat`'s give bfloat16 for bfloat16, where NumPy has float32
OF_ITS_DTYPE = {"matmul", "linalg.matmul"}


def bfloat16(name):
    """Return bfloat16 and a layout, where ml_dtypes is installed and `name` is no product."""
    if name in OF_ITS_DTYPE or importlib.util.find_spec("ml_dtypes") is None:
        return []
    return [(as_dtype("bfloat16"), "strided")]


def test_every_function_that_dispatches_is_called():
    missing = DISPATCHING - set(FUNCTIONS)
    assert {n for n in missing if n.partition(".")[0] not in ("strings", "char")} == set()
    others = {n for n in FUNCTIONS if numpy_function(n)} - DISPATCHING
    assert others <= {"permute_dims"}  # another name


@pytest.mark.parametrize("name", sorted(n for n in DISPATCHING if numpy_function(n)
                                        and n.startswith(("strings.", "char."))))
def test_functions_of_text_refuse_mats_as_they_refuse_numbers(name):
    function = numpy_function(name)
    needed = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    check(function, [lambda f, o: f(*[o.v] * len(needed))], "float64", "packed", 0)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.usefixtures("silence")
def test_functions(name):
    if numpy_function(name) is None:
        pytest.skip("not in this NumPy")
    for dtype, layout in selection.part([*WAYS, *bfloat16(name)], name, 4):
        if name in NOT_ASKED:
            found = outcome(FUNCTIONS[name][0], numpy_function(name), Operands(dtype, mat.array))
            assert isinstance(found, np.ndarray | Exception)
            continue
        loose = name in ARBITRARY and dtype in ("float64", "complex128")
        check(numpy_function(name), FUNCTIONS[name], dtype, layout,
              1e-9 if loose else TOLERANCE.get(str(dtype), 1e-12))


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda u: u.__name__)
@pytest.mark.usefixtures("silence")
def test_ufuncs(ufunc):
    name = ufunc.__name__
    for dtype, layout in selection.part([*WAYS, *bfloat16(name)], name, 4):
        tolerance = TOLERANCE.get(str(dtype), 1e-12)
        loose = DEVICE != "cpu" and name in OF_FLOAT64
        check(ufunc, calls_of(ufunc), dtype, layout, max(tolerance, 1e-6) if loose else tolerance)


def test_tables_name_what_dispatches():
    functions = {numpy_function(n) for n in FUNCTIONS}
    ours_only = {np.fft.fftfreq, np.fft.rfftfreq}  # no operand could be a Mat
    for table in (IMPLEMENTATIONS, VIEWS, QUERIES, WRITING, SAVING):
        assert set(table) - ours_only <= functions
    assert set(array_ufunc.IMPLEMENTATIONS) | set(array_ufunc.REDUCTIONS) <= set(UFUNCS)


@pytest.mark.parametrize("function", IMPLEMENTATIONS, ids=lambda f: f.__name__)
def test_implementations_have_numpys_signatures(function):
    """All arguments reach the implementation, which then may leave them to NumPy."""
    def of(f):
        return [(p.name, p.kind) for p in inspect.signature(f).parameters.values()
                if p.name not in ("like", "others")]  # `others` are those of older NumPys

    theirs, implemented = of(function), of(IMPLEMENTATIONS[function])
    name = function.__name__
    if name in ("asanyarray", "ascontiguousarray", "asarray", "corrcoef"):
        assert {n for n, _ in theirs} <= {n for n, _ in implemented}
    elif name.endswith("_like") and function is not np.full_like:
        assert [n for n, _ in theirs][1:] == [n for n, _ in implemented][1:]
    elif function is np.column_stack or name in ("may_share_memory", "shares_memory"):
        assert len(theirs) == len(implemented)
    elif name in ("sort", "argsort", "fftfreq", "rfftfreq"):  # and what the standard adds
        assert implemented[:len(theirs)] == theirs
    else:
        assert theirs == implemented


OF_MANY = {
    "isclose": lambda m, x, y: m.isclose(x, y),
    "isclose_to_one": lambda m, x, y: m.isclose(x, 1.0),
    "isclose_nan": lambda m, x, y: m.isclose(x, y, equal_nan=True),
    "allclose": lambda m, x, y: m.allclose(x, y),
    "nan_to_num": lambda m, x, y: m.nan_to_num(x, nan=2),
    "round": lambda m, x, y: m.round(x, 1), "isreal": lambda m, x, y: m.isreal(x),
    "iscomplex": lambda m, x, y: m.iscomplex(y), "sinc": lambda m, x, y: m.sinc(y),
    "unwrap": lambda m, x, y: m.unwrap(m.real(y), axis=0), "angle": lambda m, x, y: m.angle(y),
    "isposinf": lambda m, x, y: m.isposinf(m.real(x)),
    "select": lambda m, x, y: m.select([m.real(x) > 1, m.real(y) < 0], [x, y], 3),
    "choose": lambda m, x, y: m.choose((m.real(x) > 1).astype(int), [x, y]),
}


@pytest.mark.parametrize("name", OF_MANY)
@pytest.mark.parametrize("dtype", ["int64", "float32", "float64", "complex128"])
@pytest.mark.parametrize("turned", [False, True])
def test_many_elements(name, dtype, turned):
    """They are computed by operations of `mat`, in blocks that fit the caches."""
    rng = np.random.default_rng(5)
    a, b = ((rng.standard_normal((300, 250)) * 3).astype(dtype) for _ in range(2))
    if np.dtype(dtype).kind in "fc":
        a.flat[::50], a.flat[7::50], a.flat[3::50] = np.nan, np.inf, -0.0
        b[::2] = a[::2]
        b[~np.isfinite(b)] = 0
    x, y = mat.array(a), mat.array(b)
    if turned:
        a, b, x, y = a.T[::-1], b.T[::-1], x.T[::-1], y.T[::-1]
    with np.errstate(all="ignore"):
        found, wanted = OF_MANY[name](mat, x, y), OF_MANY[name](np, a, b)
    assert_array_equal(x.to_numpy(), a)
    assert np.asarray(found).dtype == np.asarray(wanted).dtype
    rtol = 1e-5 if dtype == "float32" else 1e-12
    assert_allclose(np.asarray(found), wanted, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("call", [
    lambda xp, x, m, v: xp.put_along_axis(x, xp.asarray([[0], [1]] * 60), v[:120, None], 1),
    lambda xp, x, m, v: xp.put_along_axis(x, xp.asarray([[0], [900]] * 60), v[:120, None], 1),
    lambda xp, x, m, v: xp.put_along_axis(x, xp.asarray([[0], [1]] * 60), x[:, :1], 1),
    lambda xp, x, m, v: xp.place(x, m, [1, 2, 3]), lambda xp, x, m, v: xp.place(x, m, []),
    lambda xp, x, m, v: xp.place(x, m, v), lambda xp, x, m, v: xp.place(x, x > 0, x),
    lambda xp, x, m, v: xp.putmask(x, m, v), lambda xp, x, m, v: xp.putmask(x, m, x.T),
    lambda xp, x, m, v: xp.putmask(x, m[0], v), lambda xp, x, m, v: xp.copyto(x, "a"),
    lambda xp, x, m, v: xp.copyto(x, v[:7]), lambda xp, x, m, v: xp.copyto(x, 2j)])
@pytest.mark.parametrize("dtype", ["float64", "int8"])
def test_many_elements_are_written_in_place_or_not_at_all(rng, call, dtype):
    a = (9 * rng.standard_normal((120, 120))).astype(dtype)
    m, v, x = a > 2, np.arange(120).astype(dtype), mat.array(a)
    outcomes = []
    for args in ((np, a, m, v), (np, x, mat.array(m), mat.array(v))):
        try:
            outcomes.append(call(*args))
        except Exception as error:
            outcomes.append(next(kind for kind in (IndexError, ValueError, TypeError)
                                 if isinstance(error, kind)))
    assert outcomes[0] == outcomes[1]
    assert_array_equal(x.to_numpy(), a)


LACKING = {
    "numbers": [[1.0, 2], [3, 4]], "opposite infinities": [[np.inf, -np.inf], [1, 2]],
    "only NaN": [[np.nan, np.nan], [1, 2]], "one number": [[np.nan, 5], [1, 2]],
    "infinities and NaN": [[np.inf, -np.inf], [np.nan, np.nan]]}


@pytest.mark.host
@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("data", LACKING)
def test_warnings_of_elements_that_lack(data, dtype, ddof):
    a = np.array(LACKING[data], dtype)
    more = {"nanvar": {"ddof": ddof}, "nanstd": {"ddof": ddof}}
    for name in ("nanmean", "nanvar", "nanstd", "nanmax", "nanmin"):
        for axis in (None, 0, 1):
            given = []
            for x in a, mat.array(a):
                with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
                    warnings.simplefilter("always")
                    getattr(np, name)(x, axis=axis, **more.get(name, {}))
                given.append({str(w.message).partition(" (")[0] for w in caught})
            assert given[0] == given[1], (name, axis)
