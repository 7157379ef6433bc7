"""Devices, dtypes and errors of the array API standard's functions: operations of `mat` compute on
the device in use, NumPy computes the rest on the host.
"""

import numpy as np
import pytest

import mat
import mat as xp
from mat.errors import DeviceError

from .test_array_api import FUNCTIONS, ONLY_OURS, find

pytestmark = pytest.mark.host
A = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]], "float32")

UNARY = ("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "exp",
         "expm1", "floor", "isfinite", "isinf", "isnan", "log", "log10", "log1p", "log2",
         "negative", "positive", "reciprocal", "round", "sign", "signbit", "sin", "sinh", "sqrt",
         "square", "tan", "tanh", "trunc", "conj")
BINARY = ("add", "divide", "equal", "greater", "greater_equal", "less", "less_equal", "maximum",
          "minimum", "multiply",
          "not_equal", "pow", "subtract", "atan2", "copysign", "floor_divide", "hypot",
          "logaddexp", "nextafter", "remainder", "matmul", "tensordot", "vecdot", "linalg.matmul",
          "linalg.tensordot", "linalg.vecdot",
          "linalg.solve")
OF_BOOLEANS = ("bitwise_and", "bitwise_or", "bitwise_xor", "logical_and", "logical_or",
               "logical_xor")
REDUCTIONS = ("all", "any", "argmax", "argmin", "count_nonzero", "max", "mean", "min", "prod",
              "std", "sum", "var",
              "linalg.vector_norm")
OF_ONE = ("tril", "triu", "diff", "linalg.cholesky", "linalg.inv", "linalg.matrix_norm",
          "linalg.trace", "linalg.det", "linalg.eigvalsh", "linalg.matrix_rank", "linalg.pinv",
          "linalg.svdvals",
          *(f"fft.{n}" for n in ("fft", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift",
                                 "ihfft", "irfft", "irfftn", "rfft", "rfftn")))
VIEWS = {  # they compute nothing
    "broadcast_arrays": lambda f, x: f(x, x[0])[0], "broadcast_to": lambda f, x: f(x, (2, 3, 3)),
    "expand_dims": lambda f, x: f(x, 0), "flip": lambda f, x: f(x), "matrix_transpose": lambda f,
    x: f(x),
    "linalg.matrix_transpose": lambda f, x: f(x), "linalg.diagonal": lambda f, x: f(x),
    "moveaxis": lambda f, x: f(x, 0, 1),
    "permute_dims": lambda f, x: f(x, (1, 0)), "reshape": lambda f, x: f(x, (9,)),
    "squeeze": lambda f, x: f(x[:1], 0),
    "unstack": lambda f, x: f(x)[1], "real": lambda f, x: f(x),
}
CALLS = {
    **dict.fromkeys((*UNARY, *OF_ONE), lambda f, x: f(x)),
    **dict.fromkeys(BINARY, lambda f, x: f(x, x)),
    **dict.fromkeys(OF_BOOLEANS, lambda f, x: f(x > 1, x < 3)),
    **dict.fromkeys((*REDUCTIONS, "cumulative_prod", "cumulative_sum", "sort", "argsort"),
                    lambda f, x: f(x, axis=0)),
    "searchsorted": lambda f, x: f(xp.sort(x[0]), x),
    **dict.fromkeys(("bitwise_left_shift", "bitwise_right_shift"),
                    lambda f, x: f(xp.astype(x, xp.int16), 1)),
    "bitwise_invert": lambda f, x: f(x > 1), "logical_not": lambda f, x: f(x > 1), "clip": lambda f,
    x: f(x, 1, 3),
    "astype": lambda f, x: f(x, xp.float64), "concat": lambda f, x: f([x, x]), "stack": lambda f,
    x: f([x, x]),
    "repeat": lambda f, x: f(x, 2, axis=1), "roll": lambda f, x: f(x, 1), "tile": lambda f,
    x: f(x, (2, 1)),
    "where": lambda f, x: f(x > 1, x, -x),
    "take": lambda f, x: f(x, xp.asarray([2, 0]), axis=0),
    "take_along_axis": lambda f, x: f(x, xp.asarray([[2, 0, 1]])),
    "isin": lambda f, x: f(x, x[0]), "linalg.cross": lambda f, x: f(x, x[0]),
    "linalg.outer": lambda f, x: f(x[0], x[1]), "linalg.matrix_power": lambda f, x: f(x, 3),
}
CREATION = {"arange", "asarray", "empty", "empty_like", "eye", "fft.fftfreq", "fft.rfftfreq",
            "from_dlpack", "full",
            "full_like", "linspace", "meshgrid", "ones", "ones_like", "zeros", "zeros_like"}
OF_DTYPES = {"broadcast_shapes", "can_cast", "finfo", "iinfo", "isdtype", "result_type"}
# numbers are copied to the host, or the result of real numbers has no data
TUPLES = {"imag", "linalg.eig", "linalg.eigh", "linalg.eigvals", "linalg.qr", "linalg.slogdet",
          "linalg.svd", "nonzero", "unique_all", "unique_counts", "unique_inverse",
          "unique_values"}


def test_every_function_is_known():
    parts = [set(CALLS), set(VIEWS), CREATION, OF_DTYPES, TUPLES]
    assert set().union(*parts) == {*FUNCTIONS, *ONLY_OURS}
    assert sum(map(len, parts)) == len(FUNCTIONS) + len(ONLY_OURS)


@pytest.fixture
def device():
    with mat.use_device("emulated") as found:
        yield found


def there():
    """Return a Mat whose data is on the device only."""
    x = xp.asarray(A) + 0
    assert x.fresh == {"emulated"}
    return x


@pytest.mark.parametrize("name", CALLS)
def test_operations_of_mat_compute_on_the_device(device, name):
    x = there()
    transfers, launches = dict(device.transfers), device.launches
    found = CALLS[name](find(name)(xp), x)
    assert device.transfers["d2h"] == transfers["d2h"]
    assert device.launches > launches
    assert found.fresh == {"emulated"}
    assert found.device == device
    with mat.use_device("cpu"):
        wanted = CALLS[name](find(name)(xp), mat.array(A))
        np.testing.assert_allclose(found.to_numpy(), wanted.to_numpy(), rtol=1e-5)


@pytest.mark.parametrize("name", VIEWS)
def test_views_move_nothing(device, name):
    x = there()
    transfers, launches = dict(device.transfers), device.launches
    found = VIEWS[name](find(name)(xp), x)
    assert (device.transfers, device.launches) == (transfers, launches)
    assert found.storage is x.storage


def test_slogdet_copies_nothing_to_the_host(device):
    x = there()
    before = device.transfers["d2h"]
    sign, logarithm = xp.linalg.slogdet(x)
    assert device.transfers["d2h"] == before
    assert (float(sign), sign.device, logarithm.dtype) == (1.0, device, x.dtype)
    np.testing.assert_allclose(float(logarithm), np.linalg.slogdet(A)[1], rtol=1e-5)


@pytest.mark.parametrize("name", ["zeros", "ones", "empty"])
def test_creation_takes_no_memory(device, name):
    x = getattr(xp, name)((2, 3), dtype=xp.float32)
    assert x.fresh == set()
    assert x.device == device


# Where things are to be


def test_devices_are_those_in_use(device):
    info = xp.__array_namespace_info__()
    assert info.default_device() == device
    assert info.devices() == [device, "cpu"]
    with mat.use_device("cpu"):
        assert info.devices() == ["cpu"]


@pytest.mark.parametrize("make", [
    lambda where: xp.zeros(2, device=where), lambda where: xp.asarray([1, 2], device=where),
    lambda where: xp.asarray(mat.ones(2), device=where),
    lambda where: xp.ones_like(mat.ones(2), device=where),
    lambda where: xp.arange(3, device=where), lambda where: xp.linspace(0, 1, 3, device=where),
    lambda where: xp.eye(2, device=where), lambda where: xp.full((2,), 3, device=where),
    lambda where: xp.astype(mat.ones(2), xp.int8, device=where),
    lambda where: xp.fft.fftfreq(3, device=where),
    lambda where: xp.from_dlpack(np.ones(2), device=where),
])
def test_device_says_where(device, make):
    x, y = make("cpu"), make(device)
    assert (x.device, y.device) == ("cpu", device)
    assert make(None).device == device
    assert (xp.exp(x).device, xp.acos(x).device, xp.sum(x).device,
            xp.zeros_like(x).device) == ("cpu",) * 4
    assert x.tolist() == y.tolist()


@pytest.mark.parametrize("scalars", [True, False])
@pytest.mark.parametrize("function",
                         [xp.add, xp.hypot, xp.floor_divide, xp.maximum, xp.less, xp.atan2])
def test_a_single_element_leaves_it_to_the_other_where_it_is(device, function, scalars):
    x = mat.array([1.0, 4.0]).to_device("cpu")
    with mat.settings(scalars=scalars):
        assert [function(x, x[0]).device, function(x[0], x).device] == ["cpu", "cpu"]


def test_devices_that_are_not_in_use_are_refused(device):
    with pytest.raises(DeviceError, match="not in use"):
        xp.zeros(2, device="emulated:3")


# What is particular


def test_defaults_follow_the_settings():
    info = xp.__array_namespace_info__()
    assert info.default_dtypes()["real floating"] == np.float64
    with mat.settings(dtype="float32"):
        assert info.default_dtypes()["real floating"] == np.float32
        assert info.default_dtypes()["complex floating"] == np.complex128
        made = [xp.zeros(1), *(xp.asarray([v]) for v in (1.5, 1j, 1, True))]
        assert [x.dtype for x in made] == ["float32", "float32", "complex128", "int64", "bool"]
    with mat.settings(dtype="int8"):
        assert info.default_dtypes()["real floating"] == xp.asarray([1.5]).dtype == np.float64


def test_single_elements_are_arrays_without_axes():
    """Indexing gives NumPy's scalars, or Mats by a setting: they have a dtype of their own."""
    x = mat.array([1.0, 4.0], dtype="float32")
    for scalars in (True, False):
        with mat.settings(scalars=scalars):
            assert xp.sqrt(x[1]).dtype == np.float32
            assert xp.add(x[0], x[1]).tolist() == 5.0
            assert xp.stack([x[0], x[1]]).tolist() == [1.0, 4.0]
            assert xp.acos(x[0]).shape == ()
            assert isinstance(xp.sqrt(x[1]), np.float32 if scalars else mat.Mat)
    assert xp.add(x, np.float64(1)).dtype == np.float64


def test_asarray_shares_memory_where_it_can():
    a = np.zeros(3)
    x = xp.asarray(a, copy=False)
    x[1] = 5
    with x.facet("array", "input"):
        assert a[1] == 5
    assert xp.asarray(x) is x
    assert xp.asarray(x, copy=True).storage is not x.storage
    for refused in ([1, 2], 3, range(2)):
        with pytest.raises(mat.ShapeError):
            xp.asarray(refused, copy=False)
    for refused in (a, x):
        with pytest.raises(mat.ShapeError):
            xp.asarray(refused, dtype=xp.int8, copy=False)
    assert xp.asarray(memoryview(b"abc")).dtype == np.uint8
    assert xp.asarray([[x[1], 2.0], [x[0], 1.0]]).tolist() == [[5.0, 2.0], [0.0, 1.0]]


BAD = {
    "a step": lambda: xp.arange(0, 3, 0),
    "an end": lambda: xp.arange(0, float("inf")),
    "no view": lambda: xp.reshape(mat.ones(2, 3).T, (6,), copy=False),
    "a size": lambda: xp.reshape(mat.ones(2, 3), (5,)),
    "an axis": lambda: xp.sum(mat.ones(2), axis=1),
    "huge": lambda: xp.add(mat.zeros(1, dtype="int8"), 1000),
    "huge elements": lambda: xp.asarray([1000], dtype=xp.int8),
    "singular": lambda: xp.linalg.inv(mat.zeros(2, 2)),
    "none": lambda: xp.full((2,), None),
    "dtypes of a kind": lambda: xp.__array_namespace_info__().dtypes(kind="whole"),
    "a version": lambda: mat.ones(1).__array_namespace__(api_version="2020.1"),
}
REFUSED = {
    "a kind": lambda m: m.isdtype(m.int8, "whole"),
    "a side": lambda m: m.searchsorted(m.ones(2), m.ones(2), side="middle"),
    "a norm": lambda m: m.fft.fft(m.ones(2), norm="x"),
    "an order": lambda m: m.linalg.matrix_norm(m.ones((2, 2)), ord="max"),
    "a mode": lambda m: m.linalg.qr(m.ones((2, 2)), mode="x"),
    "an indexing": lambda m: m.meshgrid(m.ones(2), indexing="yx"),
    "an index": lambda m: m.take(m.ones(2), m.asarray([0.5])),
    "lengths": lambda m: m.vecdot(m.ones(2), m.ones(3)),
    "contracted lengths": lambda m: m.tensordot(m.ones((2, 3)), m.ones((2, 3)), axes=1),
    "0-d": lambda m: m.nonzero(m.ones(())),
    "n": lambda m: m.diff(m.ones(3), n=-1),
    "a new axis": lambda m: m.expand_dims(m.ones(3), 3),
    "frequencies of a fraction": lambda m: m.fft.fftfreq(2.5),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_raises_our_errors(name):
    with pytest.raises(mat.MatError):
        BAD[name]()


@pytest.mark.parametrize("name", REFUSED)
def test_what_numpy_refuses_is_refused(name):
    with pytest.raises((TypeError, ValueError, IndexError)) as theirs:
        REFUSED[name](np)
    builtin = next(c for c in theirs.type.__mro__ if c.__module__ == "builtins")
    with pytest.raises(builtin):
        REFUSED[name](mat)
