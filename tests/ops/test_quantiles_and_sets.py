"""Quantiles, sets, interpolation and windows of vectors on a device with a memory of its own, where
nothing may go back to the host: against NumPy.
"""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat.core.observers import Observer, observe

pytestmark = pytest.mark.host

FRACTIONS = {"quantile": (0.3, 0.5, 1, [0.1, 0.7, 1.0]), "percentile": (75, [5.0, 95]),
             "nanquantile": (0.3, 1.0), "nanpercentile": (40,)}
QUANTILES = [("median",), ("nanmedian",),
             *((name, q) for name, given in FRACTIONS.items() for q in given)]
A = np.array([3.0, 1, np.nan, 2, 3, -0.0, np.nan, 5])
B = np.array([0.0, 3, np.nan, 7, 5, 5])
I = np.random.default_rng(0).integers(0, 9, 12)  # noqa: E741
J = np.random.default_rng(1).integers(3, 20, (3, 4))
EMPTY = np.zeros(0)
SETS = [("isin", A, B), ("isin", I, J), ("isin", J, I, False, True), ("isin", A, EMPTY),
        ("isin", I, A), ("isin", EMPTY, A), ("intersect1d", I, J), ("intersect1d", A, B),
        ("intersect1d", I, J, False, True), ("intersect1d", A[:2], B[:3], True, True),
        ("union1d", I, J), ("union1d", A, B), ("setdiff1d", I, J), ("setdiff1d", A, B),
        ("setdiff1d", I, J, True), ("setxor1d", I, J), ("setxor1d", A, B),
        ("setxor1d", EMPTY, EMPTY), ("setxor1d", EMPTY, I)]
ORDERS = [("lexsort", (I, I % 3, I % 2)), ("lexsort", J), ("lexsort", (J, J % 2), 0),
          ("digitize", A, [0, 1.5, 3]), ("digitize", I, [5, 3, 1], True),
          ("digitize", I, np.array([1, 1, 4]), True), ("digitize", B, np.array([4.0, 1]), False),
          ("searchsorted", A[[0, 1, 3]], 2.5, "left", [1, 2, 0]),
          ("average", J, 1, None, True), ("average", J, 1, [1.0, 2, 3, 4], True)]
X = np.array([[-1, 0, 0.5, 1], [1.9, 2, 3, 4.5], [9, np.nan, np.inf, -np.inf]])
XP, FP = np.array([0.0, 1, 2, 2, 4.5]), np.array([1.0, -2, 3, 7, 0.5])
POINTS = [("interp", X, XP, FP), ("interp", X, XP, FP, -9, 9.5), ("interp", 1.25, XP, FP),
          ("interp", X, XP, np.array([1.0, np.inf, 3, 3, -np.inf])),
          ("interp", I, XP[:1], FP[:1]), ("interp", I.astype("float32"), np.sort(J[0]), I[:4])]


class Fallbacks(Observer):
    """Raise for operations that the device has no implementation of."""

    def fell_back(self, name, device):
        raise AssertionError(f"{name} fell back to the host")


@pytest.fixture
def there():
    """The emulated device in use, on which everything must happen."""
    with mat.use_device("emulated", required=True) as device, observe(Fallbacks()):
        yield device


def as_mats(value):
    if isinstance(value, tuple):
        return tuple(map(as_mats, value))
    return mat.array(value) if isinstance(value, np.ndarray) else value


def both(name, args, options=None):
    """Return the results for Mats as arrays, and NumPy's, one for each part."""
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(*args, **(options or {}))
        found = getattr(np, name)(*as_mats(tuple(args)), **(options or {}))
    found, wanted = (v if isinstance(v, tuple) else (v,) for v in (found, wanted))
    assert all(type(v) is mat.Mat for v in found)
    return [v.to_numpy() for v in found], [np.asarray(v) for v in wanted]


def same(name, args, options=None):
    for x, y in zip(*both(name, args, options), strict=True):
        assert_array_equal(x, y, strict=True)


def with_gaps(a):
    """Yield the array, and with NaN and infinities in it, if it can have these."""
    yield a
    if a.dtype.kind == "f":
        b = a.copy()
        b.reshape(-1)[1::5] = np.nan
        b.reshape(-1)[-1] = np.inf
        yield b
        b[0] = np.nan
        yield b


@pytest.mark.filterwarnings("ignore:All-NaN slice:RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int8", "uint8"])
@pytest.mark.parametrize("call", QUANTILES, ids=str)
def test_quantiles_are_numpys(there, call, dtype, rng):
    name, *q = call
    for shape, keepdims in itertools.product(((7,), (3, 4)), (False, True)):
        for a in with_gaps((rng.standard_normal(shape) * 30).astype(dtype)):
            for axis in (None, -1, *([(0, 1)] if len(shape) > 1 else [])):
                same(name, [a, *q], {"axis": axis, "keepdims": keepdims})


@pytest.mark.parametrize("name", ["quantile", "percentile", "nanquantile"])
def test_what_quantiles_refuse(name):
    with mat.use_device("emulated"):
        x = mat.array([1.0, 2, 3])
        with pytest.raises(ValueError, match="must be in the range"):
            getattr(np, name)(x, 101)
        with pytest.raises(ValueError, match="method"):
            getattr(np, name)(x, 0.5, method="no")
        with pytest.raises(np.exceptions.AxisError):
            np.median(x, axis=1)


@pytest.mark.parametrize("call", [*SETS, *ORDERS, *POINTS], ids=lambda call: call[0])
def test_as_numpy(there, call):
    same(call[0], call[1:])


@pytest.mark.parametrize("mode", ["valid", "same", "full"])
@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_windows(there, name, mode, rng):
    for n, k in ((7, 3), (3, 7), (6, 4), (5, 5), (4, 1)):
        for dtype in ("float64", "float32", "int32"):
            a, v = ((rng.standard_normal(m) * 8).astype(dtype) for m in (n, k))
            for x, y in zip(*both(name, [a, v, mode]), strict=True):
                assert (x.dtype, x.shape) == (y.dtype, y.shape)
                assert_allclose(x, y, rtol=1e-5, atol=1e-4 if dtype == "float32" else 1e-12)


def test_what_is_refused():
    with mat.use_device("emulated", required=True):
        x = mat.array([1.0, 3, 2])
        for call in (lambda: np.digitize(x, x), lambda: np.lexsort((x, x[:2])),
                     lambda: np.convolve(x, x[:0]), lambda: np.interp(x, x, x[:2]),
                     lambda: np.correlate(x, x, "no"),
                     lambda: np.searchsorted(x, 1, sorter=[0, 1])):
            with pytest.raises(ValueError, match=r"\S"):
                call()
