"""Functions and methods in the place of NumPy's: their results, errors, names, binding."""

import contextlib
import copy
import operator
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat.core.compiled import Relay, RelayMethod, _PythonRelay, _PythonRelayMethod
from mat.running.stand_in import as_in_numpy, falling_back, stand_in

from ..support.needs import native

np_by_mat = stand_in("numpy")


def given(*args, **kwargs):
    """Return the arguments, or raise what the first one is."""
    if args and isinstance(args[0], type) and issubclass(args[0], Exception):
        raise args[0]("no")
    return args, kwargs


KINDS = [pytest.param((Relay, RelayMethod), marks=native), (_PythonRelay, _PythonRelayMethod)]


@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize(("args", "kwargs"), [
    ((), {}), ((1,), {}), ((1, 2), {}), ((1, 2, 3), {"a": 4}), ((), {"a": 4, "b": 5})])
def test_arguments_arrive_as_they_are(kinds, args, kwargs):
    for kind in kinds:
        assert kind(given)(*args, **kwargs) == (args, kwargs)


@pytest.mark.parametrize("kinds", KINDS)
def test_results_of_a_class_are_replaced(kinds):
    for kind in kinds:
        relay = kind(lambda pair: pair[0], int, lambda found: ("number", found))
        assert relay((5,)) == ("number", 5)
        assert relay((True,)) is True  # of a derived class
        assert relay(("a",)) == "a"
        assert kind(lambda: 5)() == 5


@pytest.mark.parametrize("kinds", KINDS)
def test_a_result_that_was_given_remains(kinds):
    for kind in kinds:
        relay = kind(lambda *args, **kwargs: kwargs.get("out", args[-1]), list, len)
        given = [1, 2]
        assert relay(3, out=given) is given
        assert relay(3, given) is given
        assert relay(given, a=given, out=[1]) == [1]
        assert kind(lambda x, **kwargs: [x], list, len)(3, out=given) == 1


@pytest.mark.parametrize("kinds", KINDS)
def test_errors_of_some_classes_are_answered(kinds):
    for kind in kinds:
        relay = kind(given, None, None, (KeyError,), (LookupError,),
                     lambda args, kwargs: ("failed", args, kwargs))
        assert relay(IndexError, 1, k=2) == ("failed", (IndexError, 1), {"k": 2})
        assert relay(LookupError) == ("failed", (LookupError,), {})
        for other in (KeyError, ValueError):
            with pytest.raises(other, match="no"):
                relay(other)
        with pytest.raises(IndexError, match="no"):
            kind(given)(IndexError)


@pytest.mark.parametrize("kinds", KINDS)
def test_only_methods_are_bound(kinds):
    plain, method = kinds

    class Thing:
        function = plain(given)
        bound = method(given)

    thing = Thing()
    assert thing.function(1, k=2) == ((1,), {"k": 2})
    assert thing.bound(1, k=2) == ((thing, 1), {"k": 2})
    later = thing.bound
    assert later(1) == Thing.bound(thing, 1) == ((thing, 1), {})


def test_functions_have_the_names_of_numpys():
    for name in ("sum", "sin", "linalg.norm"):
        theirs, found = np, np_by_mat
        for part in name.split("."):
            theirs, found = getattr(theirs, part), getattr(found, part)
        assert found.__name__ == theirs.__name__
        assert found.__doc__ == theirs.__doc__
        assert found.__wrapped__ is theirs
    for found in (np_by_mat.sum, np_by_mat.sin):
        assert pickle.loads(pickle.dumps(found)) is found
        assert copy.deepcopy(found) is found
    assert np_by_mat.add.nin == 2
    assert "sum" in repr(np_by_mat.sum)


def test_functions_as_attributes_bind_as_numpys(rng):
    class Model:
        activation = np_by_mat.sqrt  # a ufunc, which never binds
        total = np_by_mat.sum

    x = mat.array(rng.standard_normal(3))
    assert_array_equal(Model().activation(x * x), np.sqrt(x.to_numpy() ** 2))
    with pytest.raises(TypeError):  # self is summed along x
        Model().total(x, 0)


@pytest.mark.host
def test_operators_have_numpys_results(rng):
    x, y = (mat.array(rng.standard_normal(3)) for _ in range(2))
    with as_in_numpy():
        assert isinstance(x @ y, np.float64)
        assert isinstance(x.max(), np.float64)
        assert_array_equal(x == "a", [False] * 3)
        assert_array_equal(x != None, [True] * 3)  # noqa: E711  # element by element
        assert x.astype("O").dtype == object
        assert x.sum(axis=0) == x.to_numpy().sum()
    assert type(x @ y) is mat.Mat
    assert not (x == "a").any()


# results without axes, also among several
NUMBERS = {
    "slogdet": lambda m: m.linalg.slogdet(m.array([[2.0, 1], [1, 3]])),
    "lstsq": lambda m: m.linalg.lstsq(m.ones((3, 2)), m.ones(3))[2],
    "average": lambda m: m.average(m.arange(3.0), weights=m.arange(3), returned=True),
    "modf": lambda m: m.modf(m.array(2.5)), "frexp": lambda m: m.frexp(m.array(2.5)),
    "divmod": lambda m: m.divmod(m.array(7), 2), "unstack": lambda m: m.unstack(m.arange(3)),
    "unravel_index": lambda m: m.unravel_index(5, (2, 3)),
    "polyfit": lambda m: m.polyfit([0, 1, 2, 3], m.array([3.0, -1, 2, 0]), 1, full=True)[2],
    "searchsorted": lambda m: m.arange(3.0).searchsorted(1.5),
    "round": lambda m: m.array(2.55).round(1), "clip": lambda m: m.array(7).clip(0, 5),
    "index": lambda m: m.array(2.5)[()], "index of a result": lambda m: (m.array(2.5) * 2)[()],
    "conj": lambda m: (m.array(1j).conj(), m.array(1j).conjugate())}


@pytest.mark.host
@pytest.mark.parametrize("name", NUMBERS)
def test_results_without_axes_are_numbers(name):
    wanted = NUMBERS[name](np)
    with as_in_numpy():
        found = NUMBERS[name](np_by_mat)
    assert type(found).__name__ == type(wanted).__name__
    pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
    for one, other in pairs:
        assert type(one) is type(other)
        assert_allclose(one, other, rtol=1e-14)


@pytest.mark.host
@pytest.mark.parametrize("name", ["sum", "mean", "std", "var", "prod", "trace"])
@pytest.mark.parametrize("dtype", ["g", "O"])
def test_methods_compute_in_dtypes_that_mats_cannot_have(name, dtype):
    x = mat.arange(6.0).reshape(2, 3)
    wanted = getattr(x.to_numpy(), name)(dtype=dtype)
    counted = []
    with as_in_numpy(), falling_back(counted.append):
        found = getattr(x, name)(dtype=dtype)
        with pytest.raises(np.exceptions.AxisError):
            getattr(x, name)(5 if name != "trace" else 0, *(7, 8)[:2 * (name == "trace")])
    assert type(found) is type(wanted)
    assert found == wanted
    assert name in counted


@pytest.mark.host
def test_what_is_given_as_out_is_returned():
    for m in np, np_by_mat:
        with as_in_numpy():
            x, out = m.arange(4.0), m.zeros(())
            for call in (lambda: m.sum(x, out=out), lambda: x.sum(out=out),  # noqa: B023
                         lambda: m.add.reduce(x, out=out),  # noqa: B023
                         lambda: m.negative(m.array(-6.0), out=out)):  # noqa: B023
                assert call() is out
                assert float(out) == 6
                out.fill(0)


@pytest.mark.host
def test_results_of_arrays_without_axes_never_change():
    with as_in_numpy():
        first = found = np_by_mat.array(2.0) * 3
        found += 1
        assert (first, found) == (6, 7)


@pytest.mark.host
def test_results_stay_on_a_device():
    x = mat.ones(3)
    with mat.use_device("emulated"), as_in_numpy():
        assert type(x.sum()) is mat.Mat
        assert type(np_by_mat.sum(x)) is mat.Mat
        assert type(np_by_mat.zeros(())) is mat.Mat
    with as_in_numpy():
        assert type(np_by_mat.zeros(())) is mat.Mat
        assert isinstance(np_by_mat.sum(x), np.float64)


ARRAYS = {"copy": lambda m, x: x.copy(), "astype": lambda m, x: x.astype("float32"),
          "where": lambda m, x: m.where(True, 1.0, 2.0), "copy.copy": lambda m, x: copy.copy(x),
          "select": lambda m, x: m.select([x > 2], [x]), "deepcopy": lambda m, x: copy.deepcopy(x),
          "byteswap": lambda m, x: x.byteswap().byteswap(), "array": lambda m, x: m.array(x)}


@pytest.mark.host
@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_arrays_without_axes_print_as_such_and_are_written_in_place(name, device):
    wanted = ARRAYS[name](np, np.array(3.0))
    with mat.use_device(device), as_in_numpy():
        found = ARRAYS[name](np_by_mat, np_by_mat.array(3.0))
        assert repr(found) == repr(wanted)
        for x in wanted, found:
            same = x
            x += 1
            assert same is x
        assert repr(found) == repr(wanted)
        assert repr(found + 1) == repr(wanted + 1)
        assert repr(np_by_mat.sum(found)) == repr(np.sum(wanted))


@pytest.mark.host
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "complex64", "bool"])
@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_formats_are_those_of_numpys_arrays_and_numbers(dtype, device):
    a = (np.array([-60000, 0.1, 3]) if dtype[0] == "f" else np.arange(3)).astype(dtype)
    with mat.use_device(device), as_in_numpy():
        x = np_by_mat.array(a)
        for one, other in ((x, a), (x.max(), a.max()), (x[:1].reshape(()), a[:1].reshape(()))):
            assert (f"{one}", f"{one!s}", f"{one!r}") == (f"{other}", f"{other!s}", f"{other!r}")
        assert f"{x.min():.1f}" == f"{a.min():.1f}"


@pytest.mark.parametrize("name", ["atleast_1d", "atleast_2d", "atleast_3d", "squeeze"])
@pytest.mark.parametrize("a", [np.array(["a", "b"]), np.array(["2026-01-01"], "M8[D]"),
                               np.array([1.5], np.longdouble)], ids=lambda a: a.dtype.name)
def test_views_of_elements_that_mats_cannot_have_are_arrays(name, a):
    counted = []
    with as_in_numpy(), falling_back(counted.append):
        found = getattr(np_by_mat, name)(a)
    assert_array_equal(found, getattr(np, name)(a), strict=True)
    assert counted
    with pytest.raises(mat.DTypeError):
        getattr(mat, name)(a)


VIEWS = {"class": lambda m, x: x.view(m.ndarray), "numpy's": lambda m, x: x.view(np.ndarray),
         "by name": lambda m, x: x.view(type=m.ndarray), "dtype": lambda m, x: x.view("int64"),
         "both": lambda m, x: x.view("int64", m.ndarray), "neither": lambda m, x: x.view(),
         "both by name": lambda m, x: x.view(dtype="uint8", type=m.ndarray)}


@pytest.mark.host
@pytest.mark.parametrize("name", VIEWS)
def test_views_as_the_class_of_arrays(name):
    a = np.arange(4.0)
    with as_in_numpy():
        x = np_by_mat.array(a)
        found, wanted = VIEWS[name](np_by_mat, x), VIEWS[name](np, a)
        assert type(found) is mat.Mat
        assert_array_equal(np.asarray(found), wanted, strict=True)
        assert found.storage is x.storage
        assert type(x.view(np.matrix)) is type(x.view(type=np.matrix)) is np.matrix


OTHERS = {"number of hours": np.timedelta64(2, "h"), "days": np.array([1, 2], "m8[D]"),
          "objects": np.array([1, 2.5], object), "longdouble": np.array([1, 2], np.longdouble)}


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("rule", [operator.mul, operator.add, operator.sub, operator.truediv,
                                  operator.pow, operator.matmul, operator.and_, divmod])
@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_operators_of_elements_that_mats_cannot_have_are_numpys(rule, other, device):
    def outcome(x, y):
        try:
            return rule(x, y)
        except (TypeError, ValueError):  # NumPy's of numbers that have no product
            return "refused"

    a, y = np.array([3, 4]), OTHERS[other]
    x = mat.array(a)
    counted = []
    with mat.use_device(device), as_in_numpy(), falling_back(counted.append):
        for found, wanted in ((outcome(x, y), outcome(a, y)), (outcome(y, x), outcome(y, a))):
            assert type(found) is type(wanted)
            assert_array_equal(found, wanted)
            assert counted or str(wanted) == "refused"
    with pytest.raises(mat.DTypeError):
        x + OTHERS["longdouble"]


def test_modules_are_those_of_numpy():
    assert np_by_mat.__name__ == "numpy"
    assert np_by_mat.__version__ == np.__version__
    assert dir(np_by_mat) == dir(np)
    with pytest.raises(AttributeError, match="no_such_name"):
        np_by_mat.no_such_name  # noqa: B018


def test_an_iterator_writes_a_mat():
    x = mat.arange(3.0)
    with as_in_numpy():
        assert [float(v) for v in np_by_mat.nditer(x)] == [0, 1, 2]
        with np_by_mat.nditer(x, op_flags=["readwrite"]) as it:
            for v in it:
                v[...] = 2 * v
    assert x.tolist() == [0, 2, 4]


@pytest.mark.parametrize("index", [slice(None), ..., [2, 0, 1], slice(None, None, -1)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int16"])
def test_assignments_drop_imaginary_parts_with_a_warning(dtype, index):
    z = np.array([1 + 2j, 3, -4j])
    for value in (mat.array(z), z, mat.array(z)[1:2], mat.array(5 - 1j), np.complex128(7 + 1j)):
        a, x = np.zeros(3, dtype), mat.zeros(3, dtype=dtype)
        with pytest.warns(np.exceptions.ComplexWarning):
            a[index] = np.asarray(value)
        with pytest.raises(mat.DTypeError, match="complex"):
            x[index] = value
        with as_in_numpy(), pytest.warns(np.exceptions.ComplexWarning, match="imaginary"):
            x[index] = value
        assert_array_equal(x.to_numpy(), a)


def test_assignments_of_complex_numbers_by_python_stay_errors():
    x, truths, pairs = mat.zeros(2), mat.zeros(2, dtype="bool"), mat.zeros(2, dtype="complex128")
    with as_in_numpy():
        for value in 1j, [1j, 2]:
            with pytest.raises(TypeError):
                x[:] = value
        truths[:] = pairs[:] = mat.array([1j, 0])
    assert x.tolist() == [0, 0]
    assert truths.tolist() == [True, False]
    assert pairs.tolist() == [1j, 0]


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("numbers", [(2,), (0.5,), (np.float32(0.5),), (1 + 2j,), (np.int8(3), 2),
                                     (True, 2.5), (np.bool_(1), np.uint8(7))], ids=str)
def test_functions_of_numbers_are_numpys_numbers(numbers, device):
    names = ("sqrt", "sin", "negative") if len(numbers) == 1 else ("add", "power", "arctan2")
    with as_in_numpy(), mat.use_device(device):
        for name in names:
            with contextlib.suppress(TypeError):  # of complex numbers
                wanted = getattr(np, name)(*numbers)
                found = getattr(np_by_mat, name)(*numbers)
                assert type(found) is type(wanted)
                assert found == wanted
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            np_by_mat.log(0.0)
