"""Functions and methods of a few elements, computed by loops of the core, beside NumPy's."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat

from ..support import needs

pytestmark = [needs.native, pytest.mark.host,
              pytest.mark.unchecked("an observer takes the long way")]


def assert_same(found, wanted):
    assert_array_equal(np.asarray(found), np.asarray(wanted))
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "int16"])
def test_places_among_sorted_elements(dtype, rng):
    v = np.sort((rng.random(37) * 20).astype(dtype))
    x = (rng.random((5, 7)) * 22 - (dtype != "uint8")).astype(dtype)
    for one, other in ((v, x), (v[:1], x), (np.repeat(v, 2), x), (v, x[0]), (v[::-1].copy(), x)):
        assert_same(mat.array(one).searchsorted(mat.array(other)), one.searchsorted(other))


def test_nan_comes_after_all_sorted_elements():
    v = np.array([-np.inf, 0.0, 1.0, np.inf, np.nan, np.nan])
    x = np.array([np.nan, -0.0, np.inf, 2.0, np.nan, -np.inf])
    assert_same(mat.array(v).searchsorted(mat.array(x)), v.searchsorted(x))


def test_places_among_parts():
    a = np.arange(24.0).reshape(4, 6)
    x = mat.array(a)
    assert_same(x[2].searchsorted(x[2, 1:4]), a[2].searchsorted(a[2, 1:4]))
    assert_same(x[:, 0].searchsorted(x[1]), a[:, 0].searchsorted(a[1]))
    assert_same(x[2].searchsorted(x[2], "right"), a[2].searchsorted(a[2], "right"))


@pytest.mark.parametrize("dtype", ["float64", "float32", "uint8", "complex128", "bool"])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_elements_repeat(dtype, count, rng):
    a = (rng.random((3, 5)) * 3).astype(dtype)
    x = mat.array(a)
    assert_same(x.repeat(count), a.repeat(count))
    assert_same(x[1].repeat(count), a[1].repeat(count))
    assert_same(x[:, 1].repeat(count), a[:, 1].repeat(count))


@pytest.mark.parametrize("shape", [(9,), (1, 7), (4, 1), (3, 4, 5), (2, 1, 3, 2)])
def test_places_of_true_elements(shape, rng):
    a = rng.random(shape) > 0.5
    for dtype in ("bool", "float64", "int16"):
        found, wanted = mat.array(a.astype(dtype)).nonzero(), a.astype(dtype).nonzero()
        for one, other in zip(found, wanted, strict=True):
            assert_same(one, other)


@pytest.mark.parametrize("dtype", ["uint8", "bool", "float32", "float64", "int16"])
@pytest.mark.parametrize("n", [1, 7, 8, 61, 1000])
def test_how_many_are_true(dtype, n, rng):
    a = (rng.random(n + 1) * 256 * (rng.random(n + 1) > 0.4)).astype(dtype)
    assert mat.count_nonzero(mat.array(a)) == np.count_nonzero(a)
    assert mat.count_nonzero(mat.array(a)[1:]) == np.count_nonzero(a[1:])
    for value in (-0.0, 1, 128, 255):
        b = np.full(n, value).astype(dtype)
        assert mat.count_nonzero(mat.array(b)) == np.count_nonzero(b)


@pytest.mark.parametrize("n", [1, 40, 1 << 18])
def test_the_first_truth(n):
    for k in (0, n // 2, n - 1):
        a = np.zeros(n, bool)
        assert mat.array(a).argmax() == a.argmax() == 0
        a[k:] = True
        found = mat.array(a).argmax()
        assert type(found) is type(mat.array([1.0, 2.0]).argmax())
        assert_same(found, a.argmax())
        assert_same(mat.array(a)[k:].argmax(), a[k:].argmax())
    b = np.array([[True, False, True], [False, True, True]])
    assert_same(mat.array(b).T.argmax(), b.T.argmax())


@pytest.mark.parametrize("first", [0, 7, 31, 33, 64, 99])
def test_first_truth_of_bytes_other_than_one(first: int) -> None:
    a = np.zeros(100, np.uint8)
    a[first] = 6
    a[99] = 1
    assert mat.array(a).view(bool).argmax() == first
    assert mat.array(a)[1:].view(bool).argmax() == a[1:].view(bool).argmax()


@pytest.mark.parametrize("bounds", [(0, 1), (1, 1), (1, 0), (2, 5), (-1, 1), (0, 1000), (0.0, 1.0)])
def test_bounds_of_bools(bounds, rng):
    a = rng.random((4, 6)) > 0.5
    for x, wanted in ((mat.array(a), a), (mat.array(a).T, a.T), (mat.array(a)[:, ::2], a[:, ::2])):
        assert_same(x.clip(*bounds), wanted.clip(*bounds))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "int32"])
@pytest.mark.parametrize("shape", [(1,), (40,), (300,), (9, 5), (200, 3), (5, 1)])
def test_sums_between_indices_with_numpys_bits(dtype, shape, rng):
    a = (rng.standard_normal(shape) * 50).astype(dtype)
    x = mat.array(a)
    n = shape[0]
    for index in ([0], [0, n // 2, n - 1], [n - 1, 0, 0, n // 3]):
        found = np.add.reduceat(x, mat.array(index))
        assert_same(found, np.add.reduceat(a, index))
        assert found.to_numpy().tobytes() == np.add.reduceat(a, index).tobytes()
    if len(shape) == 2:
        assert_same(np.add.reduceat(x.T, mat.array([0])), np.add.reduceat(a.T, [0]))
        assert_same(np.add.reduceat(x, mat.array([0]), axis=1), np.add.reduceat(a, [0], axis=1))


def test_sums_keep_negative_zeros_and_special_numbers():
    a = np.array([-0.0, -0.0, -0.0, np.inf, -np.inf, np.nan, 1.0])
    for index in ([0], [0, 3], [2, 3, 5], [3, 6], [6, 0]):
        found = np.add.reduceat(mat.array(a), mat.array(index)).to_numpy()  # without a warning
        with np.errstate(invalid="ignore"):
            expected = np.add.reduceat(a, index)
        for sums in (found, expected):
            sums[np.isnan(sums)] = np.nan  # whose sign is that of either operand
        assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("index", [[5], [-1], [0, 9]])
def test_sums_between_indices_out_of_range(index):
    with pytest.raises(IndexError):
        np.add.reduceat(mat.arange(5.0), mat.array(index))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float32",
                                   "float64", "complex64"])
@pytest.mark.parametrize("shape", [(1,), (100,), (3, 70), (2, 3, 9), (5, 700), (0,), (2, 0)],
                         ids=str)
def test_indices_that_sort_few_elements(dtype, shape, rng):
    a = (rng.random(shape) * 9 - 4).round().astype(dtype)
    if a.dtype.kind in "fc":
        a.reshape(-1)[1::5], a.reshape(-1)[3::7] = np.nan, -0.0
    x = mat.array(a)
    for axis in range(-a.ndim, a.ndim):
        assert_same(x.argsort(axis), a.argsort(axis))
        assert_same(np.argsort(x[..., ::-1], axis), a[..., ::-1].argsort(axis))
    assert_same(x.argsort(), a.argsort())
    assert_same(x.argsort(None), a.argsort(None))
    assert_same(x[-1:].argsort(kind="stable"), a[-1:].argsort(kind="stable"))
    with pytest.raises(mat.AxisError):
        x.argsort(a.ndim)


def interpolations(rng):
    """Yield places, points and values there."""
    points = np.sort(rng.random(9)) * 8
    x = np.concatenate([rng.random(50) * 10 - 1, points, [np.nan, np.inf, -np.inf, -0.0]])
    yield x, points, rng.random(9)
    yield x, np.repeat(points, 3)[:20], rng.random(20)  # of equal points the last one counts
    yield x.reshape(3, -1), np.arange(9.0), np.array([0, 1, np.nan, np.inf, -np.inf, 5, 5, 6, 7.0])
    yield x, np.array([-np.inf, 0, 1, np.inf]), np.array([3.0, 3.0, 4.0, 5.0])
    many = np.sort(rng.random(60)) * 8
    yield np.concatenate([x, np.sort(x)]), many, rng.random(60)
    yield x, points[::-1].copy(), rng.random(9)  # NumPy's result means nothing, but is the same
    yield x, np.array([0, np.nan, 2.0]), rng.random(3)
    yield x, points[:1], rng.random(1)
    yield x[1::3], np.stack([points] * 2, 1)[:, 0], rng.random(18)[::2]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "int16"])
def test_interpolation_has_numpys_bits(dtype, rng):
    for x, points, values in interpolations(rng):
        with np.errstate(invalid="ignore"):
            points, x = points.astype(dtype), np.abs(x).astype(dtype)
        found = mat.interp(mat.array(x), mat.array(points), mat.array(values))
        assert found.tobytes() == np.interp(x, points, values).tobytes()
        assert_same(found, np.interp(x, points, values))


def test_interpolation_leaves_errors_to_numpy():
    x = mat.array([1.0, 2.0])
    for points, values in ((mat.array([1.0, 2.0, 3.0]), x), (mat.zeros(0), mat.zeros(0))):
        with pytest.raises(ValueError, match=r"not of the same length|is empty"):
            mat.interp(x, points, values)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "int16", "complex128"])
@pytest.mark.parametrize("sizes", [(1, 1), (5, 1), (7, 4), (4, 7), (9, 9), (3, 40), (60, 61)])
def test_vectors_moved_along_each_other(sizes, dtype, rng):
    a, v = ((rng.random(n) * 30 - 15 * (dtype != "uint8")).astype(dtype) for n in sizes)
    forms = (lambda x: x, lambda x: x[::-1], lambda x: x[1:] if len(x) > 1 else x)
    for name, form in product(("correlate", "convolve"), forms):
        call, wanted = getattr(mat, name), getattr(np, name)
        one, other = form(mat.array(a)), form(mat.array(v))
        for mode in ("full", "same", "valid"):
            np.testing.assert_allclose(np.asarray(call(one, other, mode)),
                                       wanted(form(a), form(v), mode), 1e-4, 1e-3)
        assert call(one, other).shape == wanted(form(a), form(v)).shape
        assert call(one, other, mode="same").dtype == dtype


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "int16"])
@pytest.mark.parametrize("shape", [(9,), (6, 1), (6, 5)])
def test_rows_are_added_where_indices_say(dtype, shape, rng):
    a = (rng.random(shape) * 20).astype(dtype)
    at = rng.integers(-len(a), len(a), 30)
    values = [1, 2.5, 300, True, a[0], (rng.random((30, *shape[1:])) * 9).astype(dtype),
              np.array(3, dtype)]
    for value in values:
        own, x = a.copy(), mat.array(a)
        operand = mat.array(value) if isinstance(value, np.ndarray) else value
        try:
            np.add.at(own, at, value)
        except (TypeError, OverflowError) as error:
            with pytest.raises(TypeError if isinstance(error, TypeError) else OverflowError):
                np.add.at(x, mat.array(at), operand)
        else:
            np.add.at(x, mat.array(at), operand)
        assert_same(x, own)


def test_rows_are_added_to_parts_and_to_themselves():
    a = np.arange(24.0).reshape(6, 4)
    x, at = mat.array(a), mat.array([1, 1, 0])
    np.add.at(x[2:5], at, x[0])
    np.add.at(a[2:5], [1, 1, 0], a[0])
    assert_same(x, a)
    z, own = mat.array([0, 1, 1]), np.array([0, 1, 1])
    np.add.at(z, z, 1)
    np.add.at(own, own, 1)
    assert_same(z, own)


@pytest.mark.parametrize("at", [[0, 3], [-4]])
def test_indices_of_no_row_write_nothing(at):
    x = mat.zeros(3, 2)
    with pytest.raises(IndexError, match="out of bounds"):
        np.add.at(x, mat.array(at), 1.0)
    assert_same(x, np.zeros((3, 2)))
    empty = mat.zeros(0, 2)
    with pytest.raises(IndexError):
        np.add.at(empty, mat.array(at), 1.0)


STRIDED = [lambda x: x.T, lambda x: x[:, 1], lambda x: x[::2], lambda x: x[:, :3],
           lambda x: x[::-1], lambda x: x[1:, ::-2], lambda x: x[:0, ::2], lambda x: x[:, None, 2],
           lambda x: x.reshape(2, 3, 6).transpose(2, 0, 1), lambda x: x.reshape(2, 3, 6)[:, ::2, 1]]
COPIES = [
    lambda xp, s: xp.array(s), lambda xp, s: xp.array(s, order="F"), lambda xp, s: xp.array(s.T),
    lambda xp, s: xp.ascontiguousarray(s), lambda xp, s: xp.asfortranarray(s),
    lambda xp, s: xp.zeros_like(s), lambda xp, s: xp.full_like(s, 1, order="C"),
    lambda xp, s: xp.ones_like(s.T), lambda xp, s: s.astype("c8"), lambda xp, s: s.copy("K")]
OF_STRIDED = [
    *COPIES, lambda xp, s: s.reshape(-1), lambda xp, s: s.reshape(s.size),
    lambda xp, s: xp.ravel(s), lambda xp, s: xp.nonzero(s)[0].copy(),
    lambda xp, s: xp.bincount(s.real.astype(int).ravel()),
    lambda xp, s: xp.concatenate([s, s]), lambda xp, s: xp.concatenate([s, xp.array(s)], -1),
    lambda xp, s: xp.stack([s, s], 1), lambda xp, s: xp.array([s, s]), lambda xp, s: xp.cumsum(s),
    lambda xp, s: s[xp.arange(s.shape[0] - 1, -1, -1)]]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float32", "float64",
                                   "complex128"])
@pytest.mark.parametrize("view", STRIDED, ids=range(len(STRIDED)))
@pytest.mark.parametrize("call", OF_STRIDED, ids=range(len(OF_STRIDED)))
def test_few_strided_elements(call, view, dtype, rng):
    a = (rng.random((6, 6)) * 3).astype(dtype)
    x = mat.array(a)
    with np.errstate(all="ignore"):
        found, wanted = call(mat, view(x)), call(np, view(a))
    assert_same(found, wanted)
    if call in COPIES and wanted.size and 1 not in wanted.shape:
        assert found.strides == wanted.strides
    assert np.shares_memory(np.asarray(found), np.asarray(x)) == np.shares_memory(wanted, a)
    assert_array_equal(np.asarray(x), a)


@pytest.mark.parametrize("view", STRIDED, ids=range(len(STRIDED)))
@pytest.mark.parametrize("dtype", ["uint8", "float64", "complex128"])
def test_strided_elements_are_assigned(view, dtype, rng):
    a = (rng.random((6, 6)) * 9).astype(dtype)
    x = mat.array(a)
    y, wanted = mat.zeros(view(a).shape, dtype=dtype), np.zeros(view(a).shape, dtype)
    y[...] = view(x)
    wanted[...] = view(a)
    assert_same(y, wanted)
    z = mat.zeros(view(a).shape, dtype=dtype)
    np.copyto(z, view(x))
    assert_same(z, wanted)
    x.T[...] = x  # of one storage
    assert_same(x, a.T)


def test_joining_leaves_lists_as_they_are():
    x = mat.array(np.arange(16.0).reshape(4, 4))
    for given in ([x.T, x], [x[:, 0], x[0]], [x[::2], x.astype("float32")[::2]]):
        before = list(given)
        mat.concatenate(given)
        mat.array(given)
        assert all(one is other for one, other in zip(given, before, strict=True))


def test_points_and_lengths_of_strided_elements(rng):
    v, f = np.sort(rng.random(6)), rng.random((6, 6))
    assert_same(mat.searchsorted(mat.array(v), mat.array(f).T), np.searchsorted(v, f.T))
    assert_same(mat.interp(mat.array(f)[:, 1], mat.array(v), mat.array(v)),
                np.interp(f[:, 1], v, v))
    assert float(mat.linalg.norm(mat.array(f).T)) == pytest.approx(np.linalg.norm(f.T))


WITHOUT_KERNELS = [
    lambda xp, x: x.sum(), lambda xp, x: x.prod(-1), lambda xp, x: x.max(0), lambda xp, x: x.min(),
    lambda xp, x: x.argmax(), lambda xp, x: x.argmin(-1), lambda xp, x: xp.max(x, 0, keepdims=True),
    lambda xp, x: xp.argmax(x, 0, keepdims=True), lambda xp, x: x == x[::-1],
    lambda xp, x: xp.nextafter(x, x[::-1]), lambda xp, x: xp.fmax(x, x[::-1]),
    lambda xp, x: xp.logical_or(x, x), lambda xp, x: xp.isnan(x), lambda xp, x: xp.conj(x),
    lambda xp, x: xp.rint(x), lambda xp, x: xp.reciprocal(x), lambda xp, x: xp.log1p(x),
    lambda xp, x: xp.sin(x), lambda xp, x: xp.fmin(x, 1), lambda xp, x: xp.real(x),
    lambda xp, x: xp.imag(x), lambda xp, x: (x > 1).mean(), lambda xp, x: xp.conj(x[::-1])]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float16", "complex64", "float64", "int16", "bool"])
@pytest.mark.parametrize("shape", [(3, 5), (30, 40), (4096,), (70, 80), (0, 3), (2, 0)], ids=str)
@pytest.mark.parametrize("call", WITHOUT_KERNELS, ids=range(len(WITHOUT_KERNELS)))
def test_functions_get_copies_of_few_elements(call, shape, dtype, rng):
    a = (rng.random(shape) + 0.5).astype(dtype)
    a.ravel()[1:9:3] = np.inf if a.dtype.kind in "fc" else 1
    for view in (lambda x: x, lambda x: x.T, lambda x: x[::-2]):
        try:
            wanted = call(np, view(a))
        except (TypeError, ValueError) as error:
            with pytest.raises(type(error)):
                call(mat, view(mat.array(a)))
            continue
        x = mat.array(a)
        for _ in range(2):  # the second time by a plan
            found = call(mat, view(x)).to_numpy()
            if wanted.dtype == "float16":  # sums of ours are those of float32
                np.testing.assert_allclose(found, wanted, rtol=5e-2)
            else:
                np.testing.assert_allclose(found, wanted, rtol=1e-5)
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        assert_array_equal(x.to_numpy(), a)


def test_copies_are_not_taken_from_what_others_write():
    x = mat.array(np.ones(9, "float16"))
    assert x.sum().item() == x.sum().item() == 9
    with x.facet("array", "io") as a:
        a[0] = 3
        assert x.sum().item() == 11
    kept = mat.zeros((), dtype="float16")
    np.add.reduce(x, out=kept)
    assert kept.item() == 11
    found = x.sum()
    x.fill_(0)
    assert (found.item(), x.sum().item()) == (11, 0)


@pytest.mark.parametrize("dtypes", [("float64", "int64"), ("int8", "uint16", "float16"),
                                    ("bool", "complex64"), ("uint64", "int64"), ("float16", "bool"),
                                    ("int32", "int32", "float32")], ids=str)
@pytest.mark.parametrize("shape", [(5,), (3, 4), (0, 2), (1100,)], ids=str)
def test_mats_of_several_dtypes_are_joined(dtypes, shape, rng):
    arrays = [(rng.random(shape) * 3).astype(dtype) for dtype in dtypes]
    mats = [mat.array(a) for a in arrays]
    for name in ("concatenate", "stack", "hstack", "vstack", "column_stack", "dstack"):
        for form in (lambda a: a, lambda a: a[::-1], lambda a: a.T):
            wanted = getattr(np, name)([form(a) for a in arrays])
            assert_same(getattr(mat, name)([form(x) for x in mats]), wanted)
    assert_same(mat.concatenate(mats, -1), np.concatenate(arrays, -1))
    with pytest.raises(ValueError, match="shape"):
        mat.concatenate([mats[0], mats[1][:-1, None]], 0)
    assert [x.dtype for x in mats] == [a.dtype for a in arrays]


@pytest.mark.parametrize("n", [3, 9000])
def test_functions_that_copy_what_cannot_be_written(n, rng):
    x, v, i = np.sort(rng.random(n)), rng.random(n), rng.integers(0, 9, n)
    z, (a, b, k) = v + 1j * x, map(mat.array, (x, v, i))
    before = a.tobytes(), b.tobytes(), k.tobytes()
    assert_same(mat.interp(b, a, b), np.interp(v, x, v))
    assert_same(mat.interp(b, a, mat.array(z)), np.interp(v, x, z))
    assert_same(mat.interp(b[::2], a, b[::-1], left=1), np.interp(v[::2], x, v[::-1], left=1))
    assert_same(mat.bincount(k, weights=b), np.bincount(i, weights=v))
    assert_same(mat.bincount(k[::-2], b[::2], 20), np.bincount(i[::-2], v[::2], 20))
    np.testing.assert_allclose(mat.correlate(b, a[:3]).to_numpy(), np.correlate(v, x[:3]))
    np.testing.assert_allclose(mat.convolve(b, b[:3]).to_numpy(), np.convolve(v, v[:3]))
    assert (a.tobytes(), b.tobytes(), k.tobytes()) == before
