"""NumPy's functions called in their shortest way: with the results, dtypes and errors of the long
one, which a device in use or an observer takes.
"""

import inspect
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat
from mat.numpy.registry import OF_MANY
from mat.numpy.short_calls import WAYS, Along, ByNumPy, ByPlan, OrNumPy, called_shortly

from ..support import needs

pytestmark = [needs.native, pytest.mark.host,
              pytest.mark.unchecked("an observer takes the long way")]
REDUCTIONS = [f for f, way in WAYS.items() if isinstance(way, ByPlan)]
CALLS = [  # of the functions that NumPy computes
    (np.bincount, [[1, 0, 1, 4]], {}), (np.nonzero, [[[1.0, 0], [0, 2]]], {}),
    (np.repeat, [[1, 2, 3], 2], {}), (np.repeat, [[[1, 2], [3, 4]], 2, 1], {}),
    (np.searchsorted, [[1.0, 2, 3], [0.5, 2]], {}),
    (np.searchsorted, [[1, 2], 2], {"side": "right"}), (np.trace, [[[1.0, 2], [3, 4]]], {}),
    (np.trace, [[[1, 2], [3, 4]], 1], {"dtype": "float32"}),
    (np.round, [[1.25, -0.5], 1], {}), (np.round, [[15, 25], -1], {}),
    (np.argsort, [[[3, 1], [2, 9]], 0], {}), (np.diff, [[[1, 4], [9, 16]]], {"axis": 0}),
    (np.where, [[True, False], [1, 2], 0], {}), (np.where, [[1, 0], 2.5, [1.0, 3.0]], {}),
    (np.where, [[True, False]], {}), (np.unique, [[3, 1, 3]], {"return_counts": True}),
    (np.interp, [[1.5, 9], [1, 2], [10, 20]], {}),
    (np.interp, [[[1, 9], [5, 0]], [1.0, 2.0], [1 + 2j, 3 - 1j]], {}),
    (np.interp, [[1.5, 9, np.nan], [1, 2], [10, 20]], {"period": 3.0}),
    (np.interp, [[1.5, 9], [1, 2], [10, 20], -1, 5], {}), (np.array_equal, [[1, 2], [1, 3]], {}),
    (np.tile, [[1, 2], (2, 2)], {}), (np.pad, [[1, 2], 1], {}), (np.roll, [[1, 2, 3], 1], {}),
    (np.roll, [[[1, 2, 3], [4, 5, 6]], (1, -5), (0, -1)], {}),
    (np.roll, [[[1, 2, 3], [4, 5, 6]], (1, 1)], {"axis": (1, 1)}),
    (np.flatnonzero, [[[1.0, 0], [0, 2]]], {}), (np.argwhere, [[[1, 0], [0, 2]]], {}),
    (np.argwhere, [[1, 0, 3]], {}), (np.tile, [[1, 2], 3], {}),
    (np.tile, [[[1, 2], [3, 4]], 2], {}), (np.diag, [[1, 2, 3]], {}), (np.diag, [[1 + 2j, 3]], {}),
    (np.inner, [[1, 2], [3.0, 4]], {}), (np.inner, [[[1, 2], [3, 4]], [[5, 6], [7, 8]]], {}),
    (np.inner, [[1, 2], [[3, 4], [5, 6]]], {}), (np.tensordot, [[[1, 2], [3, 4]], [5.0, 6], 1], {}),
    (np.vdot, [[[1, 2], [3, 4]], [5, 6, 7, 8]], {}), (np.ptp, [[[1, 5], [9, 2]]], {}),
    (np.ptp, [[[1, 5], [9, 2]]], {"axis": 1}), (np.ptp, [[[200, 5], [9, 2]], 0], {}),
    (np.nan_to_num, [[1.0, np.nan, -np.inf]], {"nan": 2.0}),
    (np.gradient, [[1.0, 2, 9]], {}), (np.gradient, [[1, 2, 9], 2], {"edge_order": 2}),
    (np.gradient, [[[1.0, 2], [4, 9]]], {}), (np.trapezoid, [[1, 4, 9]], {"dx": 0.5}),
    (np.digitize, [[0.5, 2, 9], [1.0, 2, 3]], {}), (np.digitize, [[3, 1], [3, 2]], {"right": True}),
    (np.convolve, [[1.0, 2, 3], [1, 10]], {}), (np.convolve, [[1, 2], [3, 4], "same"], {}),
    (np.correlate, [[1.0, 2, 3], [1, 1j]], {"mode": "full"}),
    (np.einsum, ["ij,ij->i", [[1, 2], [3, 4]], [[5, 6], [7, 8]]], {}),
    (np.unravel_index, [[3, 5], (2, 4)], {}), (np.unravel_index, [[3, 5], (2, 4), "F"], {}),
    (np.linalg.cholesky, [[[4.0, 2], [2, 9]]], {}), (np.linalg.det, [[[1, 2], [3, 4]]], {}),
    (np.linalg.cholesky, [[[4, 2], [2, 9]]], {"upper": True}),
    (np.linalg.eigh, [[[2.0, 1], [1, 2]]], {}), (np.linalg.qr, [[[2.0, 1], [1, 2]]], {}),
    (np.linalg.svd, [[[2, 1], [1, 2]]], {"full_matrices": False})]


def as_arrays(found):
    return [np.asarray(x) for x in (found if isinstance(found, list | tuple) else [found])]


def with_mats(args):
    return [mat.array(np.array(a)) if isinstance(a, list) else a for a in args]


@pytest.mark.parametrize("case", CALLS, ids=lambda c: f"{c[0].__name__}{c[1]}{c[2]}")
def test_numpy_computes_with_copies(case):
    function, args, kwargs = case
    given = with_mats(args)
    found = called_shortly(function, tuple(given), kwargs)
    assert found is not None
    wanted = function(*(np.array(a) if isinstance(a, list) else a for a in args), **kwargs)
    for one, other in zip(as_arrays(found), as_arrays(wanted), strict=True):
        assert_array_equal(one, other)
        assert one.dtype == other.dtype
    for mats, a in zip(given, args, strict=True):
        if isinstance(a, list):
            assert_array_equal(mats.to_numpy(), np.array(a))


def test_named_tuples_keep_their_class():
    for function in (np.linalg.eigh, np.linalg.qr, np.linalg.svd, np.linalg.slogdet):
        found = called_shortly(function, (mat.eye(2),), {})
        assert type(found) is type(function(np.eye(2)))
        assert all(isinstance(x, mat.Mat) for x in found)


def test_sequences_of_mats_are_operands():
    i = mat.array([0, 1, 2])
    found = called_shortly(np.ravel_multi_index, ((i, i), (3, 4)), {})
    assert isinstance(found, mat.Mat)
    assert found.tolist() == [0, 5, 10]


def test_numbers_that_are_none_are_replaced_in_place():
    x = mat.array([1.0, np.nan])
    for more, kwargs in (((False,), {}), ((), {"copy": False})):
        x[1] = np.nan
        np.nan_to_num(x, *more, **kwargs)
        assert x.tolist() == [1.0, 0.0]


def test_errors_of_factors_are_ours():
    for _ in range(2):
        with pytest.raises(mat.LinAlgError, match="positive"):
            mat.linalg.cholesky(mat.zeros(2, 2))


def test_all_that_numpy_is_faster_at_have_a_way():
    for function in OF_MANY:
        called_shortly(function, (object(),), {})  # which registers the way
        assert isinstance(WAYS[function], ByNumPy | OrNumPy)
    assert isinstance(WAYS[np.stack], Along)


@pytest.mark.parametrize("function", REDUCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8", "bool"])
def test_plans_of_reductions(function, dtype, rng):
    a = (rng.random((3, 5)) * 3).astype(dtype)
    for args, kwargs in (((), {}), ((0,), {}), ((), {"axis": -1})):
        found = called_shortly(function, (mat.array(a), *args), kwargs)
        assert isinstance(found, mat.Mat)
        wanted = np.asarray(function(a, *args, **kwargs))
        assert_allclose(found.to_numpy(), wanted, 1e-6)
        assert found.dtype == wanted.dtype


def test_what_has_no_short_way():
    x = mat.ones(2, 3)
    for function, args, kwargs in (
            (np.sum, (x, (0, 1)), {}), (np.sum, (x,), {"keepdims": True}), (np.sum, ([1, 2],), {}),
            (np.max, (x, True), {}), (np.ravel, (x, "F"), {}), (np.ravel, (x.T,), {}),
            (np.concatenate, ([x, x], 0, mat.ones(4, 3)), {}), (np.sort, (x,), {"kind": "stable"}),
            (np.repeat, (x, 2, 0, 1), {}), (np.bincount, (mat.array([-1]),), {}),
            (np.round, (x, 0, mat.ones(2, 3)), {}), (np.nan_to_num, (x, False), {}),
            (np.nan_to_num, (x,), {"copy": False}), (np.ptp, (x,), {"out": x}),
            (np.inner, (x, mat.ones(2)), {}), (np.tensordot, (x, x, 1), {}),
            (np.tensordot, (x, mat.ones(3), 2), {}), (np.diag, (mat.ones(3), 1), {}),
            (np.max, (mat.ones(3, dtype="bfloat16"),), {})):
        assert called_shortly(function, args, kwargs) is None


def test_a_device_in_use_takes_the_long_way():
    x = mat.ones(2, 3)
    with mat.use_device("emulated"):
        assert called_shortly(np.sum, (x,), {}) is None
        assert mat.bincount(mat.array([1, 1])).to_numpy().tolist() == [0, 2]


def test_errors_are_those_of_the_long_way():
    with pytest.raises(mat.AxisError):
        np.sum(mat.ones(2), 3)
    with pytest.raises(ValueError, match="negative"):
        mat.bincount(mat.array([-1, 2]))


def test_results_compute_where_operands_do():
    x = mat.ones(3).astype("int64")
    x.device_enabled = False
    assert not mat.bincount(x).device_enabled
    assert not mat.unique(x).device_enabled


def test_bounds_of_another_dtype_than_the_elements():
    x, low, high = mat.array([1.5, 9.0]), mat.array([2, 2]), mat.array([4, 4])
    for one, other in ((low, high), (low.astype(float), high), (low, high.astype(float))):
        assert_array_equal(np.clip(x, one, other).to_numpy(), [2.0, 4.0])


def test_the_offset_of_a_diagonal_is_an_integer():
    x = mat.array([[1.0, 2.0], [3.0, 4.0]])
    assert_array_equal(x.diagonal(0, 0, 1).to_numpy(), [1.0, 4.0])
    with pytest.raises(mat.IntegerError, match=r"0\.0"):
        x.diagonal(0.0, 0, 1)


def test_vectors_of_elements_and_diagonals_are_views():
    x = mat.zeros(2, 3)
    np.ravel(x)[4] = 7
    np.diag(x)[0] = 5
    assert x.tolist() == [[5, 0, 0], [0, 7, 0]]


def test_iterators_see_what_is_written_meanwhile():
    for x in (mat.zeros(3), mat.zeros(6)[::2], mat.zeros(3, 2)):
        found = []
        for row in x:
            x[2] = 7
            found.append(row)
        assert np.array(found)[-1].tolist() == x[2].tolist()
        assert len(found) == len(x)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "int64", "float16", "float32",
                                   "float64", "complex64"])
@pytest.mark.parametrize("shape", [(1,), (7,), (3, 4), (2, 3, 4), (0,), (2, 0)], ids=str)
def test_places_of_what_is_true(shape, dtype, rng):
    a = (rng.integers(-1, 2, shape) * -1).astype(dtype)
    if a.dtype.kind == "f" and a.size:
        a.reshape(-1)[0] = -0.0
    for x, array in ((mat.array(a), a), (mat.array(a)[1:], a[1:]), (mat.array(a).T, a.T)):
        found, wanted = mat.nonzero(x), np.nonzero(array)
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            assert_array_equal(one.to_numpy(), other)
            assert one.dtype == other.dtype
            assert one.max_size == one.size  # a storage of its own


def test_counts(rng):
    for a in (rng.integers(0, 9, 40), np.array([5]), np.array([0, 0]), np.array([7])):
        x = mat.array(a)
        assert_array_equal(mat.bincount(x).to_numpy(), np.bincount(a))
        assert_array_equal(mat.bincount(x[::-1]).to_numpy(), np.bincount(a))
        assert_array_equal(mat.bincount(x, minlength=12).to_numpy(), np.bincount(a, minlength=12))
    assert called_shortly(np.bincount, (mat.array([5000]),), {}) is not None
    assert mat.bincount(mat.array([1, 3])[1:]).tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32", "complex128"])
def test_traces(dtype, rng):
    a = (rng.random((5, 7)) * 4).astype(dtype)
    for x, array in ((mat.array(a), a), (mat.array(a)[1:, 2:], a[1:, 2:]), (mat.array(a).T, a.T)):
        for more in ((), (1,), (-2,)):
            wanted = np.asarray(np.trace(array, *more))
            found = mat.trace(x, *more)
            assert found.dtype == wanted.dtype
            assert_allclose(found.to_numpy(), wanted, 1e-6)
            assert_allclose(np.trace(x, *more).to_numpy(), wanted, 1e-6)


VIEWS = [lambda a: a, lambda a: a[1:], lambda a: a[:, ::2], lambda a: a.T, lambda a: a[::-1, 1:]]


@pytest.mark.parametrize("view", VIEWS, ids=range(len(VIEWS)))
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float32"])
@pytest.mark.parametrize("call", [
    lambda xp, x: xp.repeat(x, 2, 0), lambda xp, x: xp.repeat(x, 3, -1),
    lambda xp, x: xp.tile(x, (2, 3)), lambda xp, x: xp.tile(x, (1, 1)),
    lambda xp, x: xp.diff(x, axis=0), lambda xp, x: xp.diff(x), lambda xp, x: xp.round(x),
    lambda xp, x: xp.where(x > 1, x, 0), lambda xp, x: xp.where(x > 1, 1, x),
    lambda xp, x: xp.where(x > 1, x, x[0]), lambda xp, x: xp.where(x > 1, x, 300),
    lambda xp, x: xp.where(x > 1, x, 0.5), lambda xp, x: xp.where(x > 1, x, -1.5)], ids=range(13))
def test_operations_on_views(call, dtype, view, rng):
    """Twice, since the second call finds what the first one has remembered."""
    a = (rng.random((4, 6)) * 4).astype(dtype)
    x, array = view(mat.array(a)), view(a)
    for _ in range(2):
        wanted, found = call(np, array), call(mat, x)
        assert_array_equal(found.to_numpy(), wanted)
        assert found.dtype == wanted.dtype
        assert found.max_size == found.size
    wide = call(mat, view(mat.array(a.astype("float64"))))  # of the same shape and strides
    assert_array_equal(wide.to_numpy(), call(np, view(a.astype("float64"))))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32", "float64"])
@pytest.mark.parametrize("widths", [1, (0, 2), ((1, 0), (0, 3)), 0])
@pytest.mark.parametrize("constants", [0, 1, ((1, 0), (0, 1))])
def test_borders_of_numbers(dtype, widths, constants):
    a = np.arange(90 * 80).reshape(90, 80).astype(dtype)
    found = mat.pad(mat.array(a), widths, constant_values=constants)
    assert_array_equal(found.to_numpy(), np.pad(a, widths, constant_values=constants))
    for mode in ("edge", "wrap", "reflect", "symmetric"):
        assert_array_equal(mat.pad(mat.array(a), widths, mode).to_numpy(), np.pad(a, widths, mode))
    assert mat.pad(mat.array(a), widths, "empty").shape == found.shape


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32", "uint8", "bool", "complex64",
                                   "bfloat16"])
def test_whole_comparisons(dtype, rng):
    x = mat.array((1 + rng.random((7, 5)) * 9).astype("float32").round()).astype(dtype)
    other = x.copy()
    for n in (1, 7):
        assert mat.array_equal(x[:n], other[:n]) is True
        assert mat.array_equal(x[:n].T, other[:n].T) is True
        assert mat.array_equal(x[:n], x[:n, ::-1]) is (dtype == "bool")
        assert mat.array_equal(x[:n], x[:n].reshape(-1)) is False
    assert mat.array_equal(x[:0], other[:0]) is True
    assert mat.array_equal(x, x.real.astype("float64")) is True
    if dtype != "bool":
        other[6, 4] = 99
        assert mat.array_equal(x, other) is False
    if other.dtype.kind in "fc":
        other[6, 4] = float("nan")
        assert mat.array_equal(other, other) is False
        assert mat.array_equal(other, other, equal_nan=True) is True
        x[6, 4], other[6, 4] = 0.0, -0.0
        assert mat.array_equal(x, other) is True


@pytest.mark.parametrize("n", [3, 30, 90])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "complex128"])
def test_einsum_row_by_row(n, dtype, rng):
    a, b = (rng.random((2, n, n)) * 9).astype(dtype)
    x, y = mat.array(a), mat.array(b)
    for subscripts in ("ij,ij->i", "ij,ji->i", "ij,ij->j", "ij,ij->"):
        wanted = np.einsum(subscripts, a, b)
        assert_allclose(mat.einsum(subscripts, x, y).to_numpy(), wanted, rtol=1e-4)
        if subscripts != "ij,ij->":
            assert_array_equal(mat.einsum(subscripts, x, y).to_numpy(), wanted)


@pytest.mark.parametrize("dtype", ["float64", "complex128", "int16", "bool"])
@pytest.mark.parametrize("shape", [(7,), (4, 5), (2, 3, 4), (300, 500), (0, 3), ()])
def test_elements_moved_around_an_end(dtype, shape, rng):
    a = (rng.random(shape) * 9).astype(dtype)
    x = mat.array(a)
    views = [lambda x: x[1:], lambda x: x.T, lambda x: x[::-2]] if shape else []
    for view in (lambda x: x, *views):
        b, y = view(a), view(x)
        for shift in (0, 1, -1, 3, 7, -23, 10**12, 2**70):
            assert_array_equal(mat.roll(y, shift).to_numpy(), np.roll(b, shift % max(b.size, 1)))
            for axis in range(-b.ndim, b.ndim):
                wanted = np.roll(b, shift % max(b.shape[axis], 1), axis)
                assert_array_equal(mat.roll(y, shift, axis).to_numpy(), wanted)
                assert_array_equal(mat.roll(y, shift, axis=axis).to_numpy(), wanted)
    if len(shape) == 2:
        assert_array_equal(mat.roll(x, (1, 2), (0, 1)).to_numpy(), np.roll(a, (1, 2), (0, 1)))
        assert_array_equal(mat.roll(x, True, 0).to_numpy(), np.roll(a, 1, 0))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int8", "uint16", "int32",
                                   "uint64", "bool", "complex64"])
@pytest.mark.parametrize("shape", [(3, 4), (), (0, 3), (200,), (128,)])
def test_counts_of_true_elements(dtype, shape, rng):
    a = (rng.random(shape) * 3 - 1).astype(dtype)
    if a.dtype.kind == "f" and a.size > 2:
        a.reshape(-1)[:2] = np.nan, -0.0
    x = mat.array(a)
    wanted = np.count_nonzero(a)
    for found in (mat.count_nonzero(x), mat.count_nonzero(x.T[::-1] if a.ndim else x)):
        assert type(found) is mat.Mat
        assert_array_equal(found.to_numpy(), np.int64(wanted), strict=True)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "int16"])
@pytest.mark.parametrize("n", [1, 33, 256, 300, 2500])
def test_places_of_extremes_in_rows(dtype, n, rng):
    a = (rng.random((40, n)) * 90).astype(dtype)
    if a.dtype.kind == "f":
        a[3, n // 2:] = np.nan
        a[4] = -0.0
        a[4, n // 3:] = 0.0
        a[5], a[6] = np.inf, -np.inf
    x = mat.array(a)
    for name in ("argmax", "argmin", "max", "min"):
        found, wanted = getattr(mat, name)(x, 1).to_numpy(), getattr(np, name)(a, 1)
        assert_array_equal(found, wanted)
        assert_array_equal(getattr(mat, name)(x[:, ::-1], 1), getattr(np, name)(a[:, ::-1], 1))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8", "uint64", "bool"])
def test_what_is_close_as_in_numpy(dtype, rng):
    a = (rng.random((9, 7)) * 4).astype(dtype)
    b = a.copy()
    if a.dtype.kind == "f":
        b[0], a[1, 1], b[1, 1], a[2, 2] = b[0] + 1e-7, np.nan, np.nan, np.inf
    for kwargs in ({}, {"equal_nan": True}, {"rtol": 0.0}, {"atol": 0.5}, {"rtol": 1}):
        for one, other in ((a, b), (b, a), (a, b[0]), (a, 1), (a, a.astype("float32"))):
            x, y = (mat.array(v) if isinstance(v, np.ndarray) else v for v in (one, other))
            assert_array_equal(mat.isclose(x, y, **kwargs), np.isclose(one, other, **kwargs))
            assert mat.allclose(x, y, **kwargs) is np.allclose(one, other, **kwargs)


def refuse(*_args, **_kwargs):
    raise AssertionError("this is the long way")


def test_elements_are_read_without_an_access(monkeypatch):
    x = mat.array(np.arange(12.0).reshape(3, 4))
    monkeypatch.setattr(mat.Mat, "_item_at", refuse)
    assert [x.item(7), x.T.item(5), x[1:, ::2].item(-1), x.item(2, 1)] == [7, 9, 10, 9]
    assert x.sum().item() == 66
    for dtype in (bool, "int8", "uint64", "float16", "float32", "complex64"):
        a = np.array([1, 0]).astype(dtype)
        found = mat.array(a).item(0)
        assert (type(found), found) == (type(a.item(0)), a.item(0))


def test_powers_of_a_few_int64_are_checked_without_a_reduction(monkeypatch):
    a = np.array([3, 0, 2, 1])
    x = mat.array(a)
    with monkeypatch.context() as patch:
        patch.setattr(mat.Mat, "min", refuse)
        assert_array_equal((x ** x).to_numpy(), a ** a)
        assert_array_equal(np.power(x[1:3], x[2:]).to_numpy(), a[1:3] ** a[2:])
    x[3] = -1
    with pytest.raises(mat.errors.PowerError, match="-1"):
        x ** x
    assert_array_equal((x[:3] ** x[:3]).to_numpy(), a[:3] ** a[:3])


@pytest.mark.parametrize("f", [np.heaviside, np.nextafter])
def test_ufuncs_without_a_kernel_see_views(f):
    a = np.arange(24.0).reshape(4, 6)
    x = mat.array(a)
    bits, halves = a.view(np.int64), a.view(np.complex128)
    for ours, theirs in ((x[1:, ::2], a[1:, ::2]), (x.T[::-1], a.T[::-1]), (x[2], a[2]),
                         (x.view("int64").view("float64"), bits.view(np.float64)),
                         (x.view("complex128").imag, halves.imag)):
        for _ in range(2):
            assert_array_equal(f(ours, ours).to_numpy(), f(theirs, theirs))
    part, same = x[1:3, ::3], a[1:3, ::3].copy()
    f(part, 2.0, out=part)
    assert_array_equal(x[1:3, ::3].to_numpy(), f(same, 2.0))
    assert_array_equal(x[0].to_numpy(), a[0])


def test_columns_come_one_after_another_by_a_transposed_view(monkeypatch):
    x = mat.array(np.arange(6.0).reshape(2, 3))
    monkeypatch.setattr("mat.ops.primitives.shape.axes_of_loop", refuse)
    for found in (x.ravel("F"), x.flatten("F")):
        assert_array_equal(found.to_numpy(), [0, 3, 1, 4, 2, 5])


METHODS = [
    lambda x, i: x.take(i), lambda x, i: x.take(i, 0), lambda x, i: x.take(i, axis=-1),
    lambda x, i: x[0].take(i), lambda x, i: x.take(-i), lambda x, i: x.T.take(i),
    lambda x, i: x.repeat(2), lambda x, i: x.repeat(2, axis=0), lambda x, i: x.T.repeat(3),
    lambda x, i: x.cumsum(), lambda x, i: x.cumsum(axis=1), lambda x, i: x.T.cumprod(),
    lambda x, i: x.clip(1, 2), lambda x, i: x.clip(0, 300), lambda x, i: x.clip(0.5, 2.5),
    lambda x, i: x.clip(1, x[0]), lambda x, i: x.clip(max=2), lambda x, i: x.clip(2, 1),
    lambda x, i: x.argmax(1), lambda x, i: x.argmin(axis=0), lambda x, i: x.max(axis=-1),
    lambda x, i: np.add.accumulate(x), lambda x, i: np.multiply.accumulate(x, 1),
    lambda x, i: np.maximum.accumulate(x, axis=-1), lambda x, i: np.positive(x),
    lambda x, i: np.degrees(x), lambda x, i: np.fabs(x), lambda x, i: np.divmod(x, 3)]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float32", "float64",
                                   "complex64"])
@pytest.mark.parametrize("call", METHODS, ids=range(len(METHODS)))
def test_methods_and_ufuncs_of_few_elements(call, dtype, rng):
    a, i = (rng.random((4, 5)) * 4).astype(dtype), np.array([[2, 0], [1, 3]])
    try:
        with np.errstate(all="ignore"):
            wanted = call(a, i)
    except (TypeError, ValueError):
        with pytest.raises((TypeError, ValueError)):
            call(mat.array(a), mat.array(i))
        return
    found = call(mat.array(a), mat.array(i))
    for one, other in zip(as_arrays(found), as_arrays(wanted), strict=True):
        assert_array_equal(one, other)
        assert one.dtype == other.dtype


def test_methods_are_described_and_kept_by_pickles():
    x = mat.array([2.0, 1.0])
    for name in ("sum", "argmax", "take", "clip", "sort"):
        method = getattr(mat.Mat, name)
        assert pickle.loads(pickle.dumps(method)) is method
        assert inspect.signature(getattr(x, name)).parameters.keys() | {"self"} == (
            inspect.signature(method).parameters.keys())
        assert getattr(x, name).__doc__ == method.__doc__
        assert name in repr(method)
    assert mat.Mat.sum(x).item() == 3
    assert list(map(mat.Mat.max, [x])) == [2]


def test_bytes_are_copied_without_an_access(monkeypatch):
    a = np.arange(20_000.0)
    x = mat.array(a)
    y, z = x.reshape(100, 200), a.reshape(100, 200)
    monkeypatch.setattr(mat.Mat, "facet", None)
    assert x.tobytes() == a.tobytes()
    assert x[5:9].tobytes() == a[5:9].tobytes()
    monkeypatch.undo()
    for order in ("C", "F", "A", None):
        assert y.T.tobytes(order) == z.T.tobytes(order)
    with pytest.raises((ValueError, TypeError)):
        x.tobytes("Z")


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float32",
                                   "float64", "complex64"])
@pytest.mark.parametrize("shape", [(1,), (8,), (100,), (3, 7), (2, 3, 9), (5, 700), (0,), (2, 0)],
                         ids=str)
def test_few_elements_are_sorted_where_they_are(dtype, shape, rng):
    a = (rng.random(shape) * 9 - 4).round().astype(dtype)
    if a.dtype.kind in "fc":
        a.reshape(-1)[1::5], a.reshape(-1)[3::7] = np.nan, -0.0
    for axis in range(-a.ndim, a.ndim):
        x, b = mat.array(np.stack([a, a])), a.copy()
        x[0].sort(axis)
        b.sort(axis)
        assert_array_equal(x[0].to_numpy(), b)
        if dtype != "float16":  # of which NumPy may write another NaN
            assert x[0].tobytes() == b.tobytes()
        assert_array_equal(x[1].to_numpy(), a)
        view = x[1, ..., ::-1]
        view.sort(axis=axis)
        assert_array_equal(view.to_numpy(), np.sort(a[..., ::-1], axis))
    assert mat.array(a).sort() is None
    with pytest.raises(mat.AxisError):
        mat.array(a).sort(a.ndim)


def test_a_mat_in_use_is_not_sorted():
    x = mat.array([2, 1])
    with x.facet("array", "input"), pytest.raises(mat.ConflictError):
        x.sort()
    assert x.tolist() == [2, 1]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "uint64", "float16",
                                   "float32", "float64", "complex64"])
def test_numbers_are_written_by_masks(dtype, rng):
    a = (rng.random((5, 6)) * 9).astype(dtype)
    x, mask = mat.array(a), rng.random((5, 6)) < 0.5
    for value in (0, 1, 127, 100, 0.5, -3.25, True, False):
        try:
            a[mask] = value
        except (TypeError, ValueError, OverflowError):
            continue
        if a.dtype.kind in "iub" and type(value) is float:
            continue
        x[mask] = mat.array(a)[mask] = value
        x[mat.array([0, 2])] = value
        a[[0, 2]] = value
        assert_array_equal(x.to_numpy(), a)


def test_masked_writes_are_exact():
    z, b = mat.array([1, 2, 3]), mat.array([True, False, True])
    np.putmask(z, b, 7)
    np.putmask(z[1:], b[:2], -5)
    assert z.tolist() == [7, -5, 7]
    np.putmask(z, b, 1.5)
    assert z.tolist() == [1, -5, 1]
    np.putmask(z, b.astype("int64"), [1, 2, 3])
    np.copyto(z[1:], z[:-1])
    assert z.tolist() == [1, 1, -5]


WRITES = {
    "putmask": lambda xp, z: xp.putmask(z, z > 1, 1), "put": lambda xp, z: xp.put(z, [0, 2], 1),
    "place": lambda xp, z: xp.place(z, z < 2, [0, 1]), "copyto": lambda xp, z: xp.copyto(z, True),
    "fill_diagonal": lambda xp, z: xp.fill_diagonal(z, 1), "sort": lambda xp, z: z.sort(),
    "part": lambda xp, z: xp.copyto(z[1:], z[:-1]), "partition": lambda xp, z: z.partition(1, 0)}


@pytest.mark.parametrize("dtype", ["bool", "int64", "float32", "complex128"])
@pytest.mark.parametrize("name", WRITES)
def test_few_elements_are_written_by_numpy_without_an_access(name, dtype, rng, monkeypatch):
    a = rng.integers(0, 4, (3, 3)).astype(dtype)
    x = mat.array(np.vstack([a, a]))
    z, view = x[:3], x.T
    monkeypatch.setattr(mat.Mat, "facet", None)
    WRITES[name](np, z)
    WRITES[name](np, a)
    assert_array_equal(z.to_numpy(), a, strict=True)
    monkeypatch.undo()
    assert_array_equal(view.to_numpy().T[:3], a)


@pytest.mark.parametrize("name", WRITES)
def test_no_copy_is_written_where_an_error_is_due(name):
    z = mat.ones((3, 3))
    z.flags.writeable = False
    with pytest.raises(mat.MatError):
        WRITES[name](np, z)
    with pytest.raises((TypeError, ValueError)):
        np.copyto(z, np.ones(2))
    assert z.to_numpy().all()


@pytest.mark.parametrize("shape", [(), (3,), (1, 3), (2, 3), (2, 1, 3)])
def test_queries_and_views_as_numpys(shape):
    a = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype("complex64")
    x = mat.array(a)
    for f in (np.shape, np.ndim, np.size, np.iscomplexobj):
        assert f(x) == f(a)
    assert np.result_type(x, mat.ones(2)) == np.result_type(a, np.ones(2))
    for f in (np.atleast_1d, np.atleast_2d, np.squeeze, lambda v: v.squeeze(), lambda v: v[None],
              lambda v: v.swapaxes(0, -1), lambda v: v[..., ::-1], lambda v: v.diagonal(),
              lambda v: np.rollaxis(v, 1), lambda v: np.rollaxis(v, 0, 2)):
        try:
            wanted = f(a)
        except (ValueError, IndexError) as error:
            with pytest.raises(type(error)):
                f(x)
            continue
        found = f(x)
        assert_array_equal(found.to_numpy(), wanted, strict=True)
        assert found is x or found.storage is x.storage


INDICES = [np.s_[::-1], np.s_[::2], np.s_[-1:0:-2], np.s_[5:1:-1], np.s_[-9:9:3], np.s_[..., 0],
           np.s_[None], np.s_[:, ::2], np.s_[::-1, 1:], np.s_[..., None], np.s_[1, ::-1],
           np.s_[1:, 0], np.s_[:, None, -1], np.s_[10**30:], np.s_[-10**30::2], np.s_[:, ::10**30],
           np.s_[::-10**30], np.s_[np.int64(1)::-1], np.s_[3:3:-1, ..., None], np.s_[0:2, ...]]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_parts_as_numpys_one_after_another(index):
    a = np.arange(24).reshape(4, 6)
    x = mat.array(a)
    for other in INDICES:  # which leaves its axes for the next part
        for one in (other, index, index):
            assert_array_equal(x[one].to_numpy(), a[one], strict=True)
            assert x.layout[one].contiguous == a[one].flags.c_contiguous or not a[one].size


def test_views_by_methods():
    a = np.arange(24.0).reshape(2, 3, 4)
    x = mat.array(a)
    for f in (lambda v: v.transpose(1, 0, 2), lambda v: v[0].transpose(1, 0), lambda v: v.ravel(),
              lambda v: v.view("uint8"), lambda v: v.view("int32"), lambda v: v.swapaxes(2, 0),
              lambda v: v.diagonal(0, 2, 0), lambda v: v[:, :1].squeeze(1), lambda v: v.real,
              lambda v: v.imag, lambda v: v[None].squeeze(), lambda v: v.transpose(None)):
        assert_array_equal(f(x).to_numpy(), f(a), strict=True)
    assert x.squeeze() is x is x.real


UFUNC_METHODS = {
    "reduce": lambda f, v: f.reduce(v), "of rows": lambda f, v: f.reduce(v, axis=1),
    "of all": lambda f, v: f.reduce(v, axis=None), "outer": lambda f, v: f.outer(v[0], v),
    "accumulate": lambda f, v: f.accumulate(v), "of columns": lambda f, v: f.accumulate(v, axis=1),
    "reduceat": lambda f, v: f.reduceat(v[0], [0, 2, 1])}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float32", "float64", "complex128"])
@pytest.mark.parametrize("method", UFUNC_METHODS)
@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "minimum", "logical_or", "fmax",
                                  "bitwise_or", "subtract", "hypot", "logaddexp"])
def test_methods_of_ufuncs_of_few_elements(name, method, dtype, rng):
    a, call = rng.integers(0, 4, (3, 5)).astype(dtype), UFUNC_METHODS[method]
    x = mat.array(a)
    try:
        wanted = call(getattr(np, name), a)
    except (TypeError, ValueError) as error:
        for f in (getattr(np, name), getattr(mat, name)):
            with pytest.raises(type(error)):
                call(f, x)
        return
    for f in (getattr(np, name), getattr(mat, name)):
        assert_allclose(call(f, x).to_numpy(), wanted, rtol=1e-6, strict=True)


@pytest.mark.parametrize("name", ["add", "maximum", "subtract"])
def test_elements_are_changed_at_places_without_an_access(name, monkeypatch):
    a, at = np.arange(6.0), np.array([0, 2, 0])
    x, places = mat.array(a), mat.array(at)
    monkeypatch.setattr(mat.Mat, "facet", None)
    for xp in (np, mat):
        getattr(xp, name).at(x, places, 3)
        getattr(np, name).at(a, at, 3)
    assert_array_equal(x.to_numpy(), a)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "float16", "float32",
                                   "float64"])
@pytest.mark.parametrize("name", ["fabs", "degrees", "radians", "deg2rad", "rad2deg", "positive",
                                  "spacing", "modf"])
def test_ufuncs_of_few_elements_with_numpys_bits(name, dtype, rng):
    a = (rng.standard_normal(50) * 100).astype(dtype)
    if a.dtype.kind == "f":
        a[:6] = 0.0, -0.0, np.nan, np.inf, -np.inf, 1e-6
    with np.errstate(all="ignore"):
        try:
            wanted = getattr(np, name)(a)
        except TypeError:
            with pytest.raises(TypeError):
                getattr(mat, name)(mat.array(a))
            return
    for f in (getattr(np, name), getattr(mat, name)):
        for one, other in zip(as_arrays(f(mat.array(a))), as_arrays(wanted), strict=True):
            assert_array_equal(one, other, strict=True)
            assert_array_equal(np.signbit(one), np.signbit(other))


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint64", "float32", "complex64"])
@pytest.mark.parametrize("power", [3, 2, 0, 1, 2.0, 0.5, -1.0, 3.5])
def test_powers_by_numbers(dtype, power):
    a = np.array([0, 1, 1, 1] if dtype == "bool" else [1, 2, 3, 4]).astype(dtype)
    x = mat.array(a)
    with np.errstate(all="ignore"):
        wanted = [a ** power, np.power(a, power), np.power(a, power)]
    found = [x ** power, mat.power(x, power), np.power(x, power)]
    for one, other in zip(found, wanted, strict=True):
        assert_allclose(one.to_numpy(), other, rtol=1e-6, strict=True)


def test_integers_have_no_negative_powers():
    for f in (lambda x: x ** -1, lambda x: mat.power(x, -1)):
        with pytest.raises(mat.PowerError):
            f(mat.arange(3))
        for empty in (mat.zeros(0, dtype=int), mat.zeros((2, 0), dtype="int8")):
            assert_array_equal(f(empty).to_numpy(), f(empty.to_numpy()), strict=True)


@pytest.mark.parametrize("at", [[0, -1, 2], [[1, 1], [3, 0]], [], 2, [[9]], [-5], [True], [1.0]])
def test_elements_taken_from_vectors(at):
    a, b = np.arange(4.0), np.arange(8.0).reshape(4, 2)
    for v in (a, a[::-2], b, b[:0]):
        for axis in (None, 0):
            x, given = mat.array(v), np.array(at, dtype=int if at == [] else None)
            try:
                wanted = v.take(given, axis)
            except (IndexError, TypeError) as error:
                with pytest.raises(type(error)):
                    x.take(mat.array(given), axis)
                continue
            assert_array_equal(x.take(mat.array(given), axis).to_numpy(), wanted, strict=True)
            assert_array_equal(np.take(x, mat.array(given), axis).to_numpy(), wanted, strict=True)


@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (3, 4)])
def test_extremes_and_bounds_of_bools(shape, rng):
    a = rng.random(shape) < 0.5
    x = mat.array(a)
    for f in (lambda v: v.argmax(), lambda v: v.argmin(), np.argmax, np.argmin,
              lambda v: np.argmax(v, -1), lambda v: v.argmin(0), lambda v: v.clip(0, 1),
              lambda v: np.clip(v, 1, 3)):
        try:
            wanted = f(a)
        except ValueError:
            with pytest.raises(mat.ShapeError):
                f(x)
            continue
        assert_array_equal(f(x).to_numpy(), wanted)


@pytest.mark.parametrize("shape", [(4, 4), (200, 200), (7, 3), (3, 200), (3, 3, 3), (0, 2)])
@pytest.mark.parametrize("value", [0, -1, 300, 2.5, True, "row"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "uint8", "bool"])
def test_diagonals_are_filled_as_by_numpy(shape, value, dtype):
    a = np.ones(shape, dtype)
    given = np.arange(min(shape)) if value == "row" else value
    for wrap in (False, True):
        x, expected = mat.array(a), a.copy()
        try:
            np.fill_diagonal(expected, given, wrap)
        except (OverflowError, ValueError) as error:
            with pytest.raises((type(error), mat.MatError)):
                np.fill_diagonal(x, given, wrap)
        else:
            np.fill_diagonal(x, given, wrap)
        assert_array_equal(x.to_numpy(), expected, strict=True)


def test_the_diagonal_of_a_broadcast_is_not_filled():
    x = mat.arange(3.0)
    with pytest.raises(mat.MatError):
        mat.fill_diagonal(x.broadcast_to((3, 3)), 7)
    assert_array_equal(x.to_numpy(), [0, 1, 2])
