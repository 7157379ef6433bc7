"""What programs rely on beyond the results of functions: kinds of objects, parameters, errors."""

import inspect
import io
import os
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.support.dtypes import EXTENSIONS

from ..support.numpy_outcomes import outcome

SHORT = [name for name in mat.supported_dtypes if np.dtype(mat.zeros(1, dtype=name).dtype).char
         in EXTENSIONS]
NAN = np.array([1, np.nan, 2, -3, np.nan, 0, 7, -8], "f4")


# Functions


def test_functions_of_elements_are_ufuncs():
    for name in ("add", "exp", "matmul", "frexp", "gcd", "divmod", "equal"):
        ours, numpys = getattr(mat, name), getattr(np, name)
        assert isinstance(ours, mat.ufunc)
        assert isinstance(numpys, mat.ufunc)
        for fact in ("nin", "nout", "types", "signature", "identity", "__name__"):
            assert getattr(ours, fact) == getattr(numpys, fact)
        assert pickle.loads(pickle.dumps(ours)) is ours
    assert not isinstance(mat.sum, mat.ufunc)


@pytest.mark.parametrize("name", ["tanh", "array", "zeros", "asarray", "arange", "frexp", "empty"])
def test_they_are_no_methods_of_classes_that_have_them(name):
    function, numpys = getattr(mat, name), getattr(np, name)
    holder = type("Holder", (), {"f": function})()
    assert holder.f is function
    assert_array_equal(np.asarray(holder.f(2)).shape, np.asarray(numpys(2)).shape)
    assert str(inspect.signature(function)).startswith("(")


def test_comparisons_of_numpy_testing_take_mats():
    x = mat.array([[1.0, 2], [3, 4]])
    for call in (mat.testing.assert_equal, mat.testing.assert_array_equal,
                 mat.testing.assert_almost_equal, mat.testing.assert_allclose):
        call(x, x)
        call(x, x.to_numpy())
        with pytest.raises(AssertionError):
            call(x, x + 1)
    mat.testing.assert_equal({"a": [x, 1]}, {"a": [x, 1]})
    with mat.testing.assert_raises(mat.ShapeError):
        mat.ones(2) + mat.ones(3)


NUMBERS = {"floats": np.array([[0.0, 1, 2], [1, 2, 0]]), "nan": np.array([1.0, np.nan, np.inf]),
           "single": np.array([1.5, 2], "f4"), "integers": np.arange(4).reshape(2, 2)[::-1],
           "bool": np.array([True, False]), "complex": np.array([1j, complex(0, np.nan)]),
           "number": np.array(2.0), "nan number": np.array(np.nan), "flag": np.array(True),
           "none": np.zeros((0, 2)), "transposed": np.arange(6.0).reshape(2, 3).T,
           "typed": np.array([1j, 2]).view("f8"), "parts": np.array([1j, 2]).imag}


def typed(a):
    """Return a Mat of the elements, where possible a view of one with another dtype."""
    if a.base is not None and a.dtype == "f8" and a.base.dtype == "c16":
        whole = mat.array(a.base)
        return whole.view("f8") if a.shape != whole.shape else whole.imag
    return mat.array(a.T).T


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("name", ["assert_equal", "assert_array_equal", "assert_allclose",
                                  "assert_almost_equal", "assert_array_almost_equal",
                                  "assert_array_less"])
@pytest.mark.parametrize("key", NUMBERS)
def test_comparisons_fail_where_and_as_numpys_do(name, key, device):
    """What NumPy's own function makes of Mats is the same, unless it asks for one truth value."""
    a = NUMBERS[key]
    other = a.copy()
    if a.size:
        other.flat[0] = ~a.flat[0] if a.dtype == bool else a.flat[0] + 1
    checks = [getattr(mat.testing, name)]
    if "array" in name or "close" in name:
        checks.append(getattr(np.testing, name))
    with mat.use_device(device):
        x = typed(a)
        for mine, theirs in (((x, x), (a, a)), ((x, mat.array(other)), (a, other)),
                             ((other, x), (other, a)), ((x, a.tolist()), (a, a.tolist())),
                             ((mat.ones(4), x), (np.ones(4), a))):
            wanted = outcome(lambda f, o: f(*o), getattr(np.testing, name), theirs)
            for check in checks:
                found = outcome(lambda f, o: f(*o), check, mine)
                assert type(found) is type(wanted) or isinstance(wanted, TypeError | ValueError)
                if isinstance(wanted, AssertionError):
                    assert str(found) == str(wanted)
                elif wanted is not None:
                    assert isinstance(found, TypeError | ValueError)


def test_arrays_in_annotations():
    assert mat.ndarray[tuple[int], "f8"].__origin__ is mat.Mat


# Files


def test_archives_are_read_when_they_are_asked_for(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, x=np.arange(3), names=np.array(["a"]))
    with mat.load(path, encoding="bytes") as found:
        assert found.files == ["x", "names"]
        assert found["x"].tolist() == found["x.npy"].tolist() == [0, 1, 2]
        assert "x" in found
        assert set(found) == {"x", "names"}
        with pytest.raises(mat.FormatError):
            found["names"]
        with pytest.raises(KeyError):
            found["y"]
    with pytest.raises(mat.FormatError, match="closed"):
        found["x"]


def test_an_archive_that_is_forgotten_is_closed(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.ones(2))
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    mat.load(tmp_path / "a.npz")["x"]
    if before:
        assert len(os.listdir("/proc/self/fd")) == before
    stream = io.BytesIO()
    np.savez(stream, x=np.ones(2))
    stream.seek(0)
    assert mat.load(stream)["x"].tolist() == [1, 1]


# Random numbers


def test_generators_are_numpys_kinds_and_their_state_can_be_set():
    rng, old = mat.random.default_rng(3), mat.random.RandomState(3)
    assert isinstance(rng, np.random.Generator)
    assert isinstance(old, np.random.RandomState)
    state = rng.bit_generator.state
    first = rng.random(3)
    rng.bit_generator.state = state
    assert_array_equal(rng.random(3).to_numpy(), first.to_numpy())
    with pytest.raises(mat.SettingError):
        rng.bit_generator.state = {"seed": 1}
    again = pickle.loads(pickle.dumps(rng))
    assert_array_equal(again.random(2).to_numpy(), rng.random(2).to_numpy())


def test_scipy_takes_them():
    stats = pytest.importorskip("scipy.stats")
    for rng in (mat.random.default_rng(0), mat.random.RandomState(0)):
        assert stats.norm.rvs(size=3, random_state=rng).shape == (3,)


# Conversions


def test_values_stay_the_same_where_that_is_wanted():
    x = mat.array([1.0, 2.0, np.nan])
    assert x[:2].astype("int8", casting="same_value").tolist() == [1, 2]
    assert np.isnan(x.astype("float32", casting="same_value")[2])
    for values, dtype in (([1.5], "int64"), ([300.0], "uint8"), ([0.1], "float32"), ([1j], "int8")):
        with pytest.raises(ValueError, match="not the same"):
            mat.array(values).astype(dtype, casting="same_value")


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "uint64", "float32",
                                   "complex64"])
@pytest.mark.parametrize("of", ["uint8", "int8", "int64", "uint64", "float64", "complex128"])
def test_values_stay_the_same_in_the_conversions_of_numpy(of, dtype):
    for value in (0, 1, 200, 2**24 + 1, 2**63, -1, 0.5, 1j):
        if isinstance(value, complex) and of != "complex128":
            continue
        with np.errstate(all="ignore"):
            a = np.array([value]).astype(of)
        try:
            wanted = a.astype(dtype, casting="same_value")
        except ValueError:
            with pytest.raises(ValueError, match="not the same"):
                mat.array(a).astype(dtype, casting="same_value")
        else:
            found = mat.array(a).astype(dtype, casting="same_value")
            assert_array_equal(found.to_numpy(), wanted, strict=True)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_a_complex_number_is_true_if_a_part_is(dtype):
    values = [0j, 1j, 2, complex(0, np.nan)]
    x, wanted = mat.array(values, dtype), np.array(values, dtype).astype(bool)
    out = mat.zeros(4, dtype=bool)
    out[...] = x
    for found in (x.astype(bool), mat.array(x, dtype=bool), out, mat.array(values, "bool"),
                  x[::-1].astype(bool)[::-1]):
        assert_array_equal(found.to_numpy(), wanted, strict=True)


def given_to_flags(m, value):
    """Return what becomes of a number that is made an element of bool."""
    x = m.zeros(8, dtype=bool)
    x[0], x[1:3], x[[4]] = value, value, value
    x[m.arange(8) == 6] = value
    return [x, m.array([value, 0.0], dtype=bool), m.full(2, value, dtype=bool),
            m.full_like(x, value)]


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0.5, -0.0, 1e-320, np.float32("nan"),
                                   -1])
def test_numbers_are_true_unless_they_are_0(value, device):
    with mat.use_device(device):
        for found, wanted in zip(given_to_flags(mat, value), given_to_flags(np, value),
                                 strict=True):
            assert_array_equal(found.to_numpy(), wanted, strict=True)


@pytest.mark.parametrize("name", ["real", "imag"])
def test_parts_of_what_is_no_list(name):
    for value in (range(3), memoryview(b"abc"), bytearray(b"ab"), [1j, 2], 3, 2j):
        assert_array_equal(np.asarray(getattr(mat, name)(value)), getattr(np, name)(value))
    with pytest.raises(ValueError, match="sequence"):
        getattr(mat, name)([[1, 2], [3]])


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_operators_of_flags_have_numpys_dtypes(device):
    a = np.array([True, False, True])
    with mat.use_device(device):
        x = mat.array(a)
        for call in (lambda v: v ** 2, lambda v: v ** 3, lambda v: v ** 2.0, lambda v: v ** v,
                     lambda v: 2 ** v, lambda v: v * 2, lambda v: v // 2, lambda v: v % 2,
                     lambda v: v / 2, abs, lambda v: ~v, lambda v: v << 1, lambda v: v + v,
                     lambda v: v * v, lambda v: v @ v):
            assert_array_equal(np.asarray(call(x)), call(a), strict=True)
        for call in (lambda v: +v, lambda v: -v, lambda v: v - v):
            for v in (x, a):
                with pytest.raises(TypeError):
                    call(v)


# Errors


WRONG = {
    "x[0.0:]": (TypeError, IndexError), "mat.array([300], 'u1')": (OverflowError, TypeError),
    "mat.full(2, -1, 'u1')": (OverflowError,), "mat.zeros(3, [('a', 'f4')])": (TypeError,),
    "mat.zeros((2, 2), [('a', 'f4')])": (TypeError,), "mat.matrix([[1]])": (TypeError,),
    "mat.add.reduce([], initial=None)": (ValueError,), "np.square(x, [x])": (TypeError,),
    "np.cumsum(x, out=[x])": (TypeError,), "x.conj(3)": (TypeError,), "x.tofile(())": (TypeError,),
    "mat.sum(deep)": (ValueError,), "mat.exp(deep)": (ValueError,), "x + deep": (ValueError,),
    "mat.block(deep)": (ValueError,), "x[deep]": (IndexError,), "mat.isin(x, deep)": (ValueError,),
    "mat.interp(deep, x, x)": (ValueError,), "mat.copyto(x, deep)": (ValueError,),
    "mat.array([1], 'u1') ** -1": (OverflowError,), "mat.array([1]) ** -1": (ValueError,),
    "mat.atleast_3d(1, 2, x=3)": (TypeError,)}


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("code", WRONG)
def test_errors_are_of_numpys_kinds(code, device):
    deep = []
    for _ in range(20_000):
        deep = [deep]
    names = {"x": mat.ones(3), "mat": mat, "np": np, "deep": deep}
    with mat.use_device(device), pytest.raises(WRONG[code]) as caught:
        eval(code, names)
    assert all(isinstance(caught.value, kind) for kind in WRONG[code])


@pytest.mark.parametrize(("code", "way"), [
    ("x.to", "use_device"), ("x.cuda", "use_device"), ("x.cpu", "facet"), ("x.get", "to_numpy"),
    ("x.numpy", "to_numpy"), ("mat.asnumpy", "to_numpy"), ("mat.jit", "mat.kernel"),
    ("mat.grad", "torch"), ("mat.linalg.svdd", "svd")])
def test_names_of_other_libraries_say_what_there_is_instead(code, way):
    with pytest.raises(AttributeError, match=way):
        eval(code, {"x": mat.ones(2), "mat": mat})


# Short floats


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("dtype", ["float16", *SHORT])
def test_nan_is_last_in_every_order(dtype, device):
    with mat.use_device(device):
        x = mat.array(NAN).astype(dtype)
        a = x.astype("f4").to_numpy()
        for call in (lambda m, v: m.sort(v), lambda m, v: m.sort(v.reshape(2, 4), axis=0),
                     lambda m, v: v[m.argsort(v)], lambda m, v: m.median(v),
                     lambda m, v: m.percentile(v[:1], 50), lambda m, v: m.nanmax(v),
                     lambda m, v: m.nanmin(v), lambda m, v: m.nansum(v), lambda m, v: m.unique(v),
                     lambda m, v: m.nanmedian(v),
                     lambda m, v: m.nanargmax(v), lambda m, v: m.searchsorted(m.sort(v), v),
                     lambda m, v: m.sort(m.partition(v, 4)[:4]), lambda m, v: v[m.lexsort((v,))],
                     lambda m, v: m.nan_to_num(v), lambda m, v: m.fmax.reduce(v),
                     lambda m, v: m.sort_complex(v).real.astype("f4"),
                     lambda m, v: m.union1d(v[:3], v[3:]),
                     lambda m, v: m.einsum("i,i", v[2:4], v[2:4])):
            found, wanted = mat.asarray(call(mat, x)), np.asarray(call(np, a))
            assert found.dtype.kind == wanted.dtype.kind or found.dtype == x.dtype
            wanted = mat.array(wanted.astype("f4")).astype(dtype).astype("f4").to_numpy()
            assert_array_equal(found.astype("f4").to_numpy(), wanted)
        y = x.copy()
        y.sort()
        assert_array_equal(y.astype("f4").to_numpy(), np.sort(a))


def test_strides_count_bytes():
    for dtype in ("int8", "float32", "complex128"):
        x = mat.zeros(3, 4, dtype=dtype)
        for m, a in ((x, x.to_numpy()), (x.T, x.to_numpy().T), (x[::2, 1:], x.to_numpy()[::2, 1:])):
            assert m.strides == a.strides
            assert m.element_strides == tuple(s // a.itemsize for s in a.strides)
    v = mat.arange(5.0)
    windows = mat.lib.stride_tricks.as_strided(v, (3, 2), (v.strides[0], v.strides[0]))
    assert windows.tolist() == [[0, 1], [1, 2], [2, 3]]
