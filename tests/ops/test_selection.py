"""What masks and arrays of integers select: dtypes, layouts and spellings against NumPy; what is
large, shared, read-only or out of range; and Mats that are joined.
"""

import operator
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.errors import AliasError, ConflictError, DirectionError, IndexOutOfRange, ShapeError

from ..support import needs
from ..support.layouts import LAYOUTS, check_hidden, place
from ..support.layouts import NUMPY_DTYPES as DTYPES

SHAPES = ((7,), (5, 4), (3, 4, 5), (1, 6, 1))
LARGE = 70_000  # elements: more than are copied at once


def elements(rng, shape, dtype):
    """Numbers of any dtype that differ from each other as far as that can be."""
    return (100 * rng.standard_normal(shape)).astype(dtype)


def same(found, wanted):
    """Fail unless all bits are the same."""
    assert type(found) is mat.Mat
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    assert found.to_numpy().tobytes() == np.ascontiguousarray(wanted).tobytes()


def masks(rng, shape):
    """A mask for the first axes, as a Mat, an array, and what else NumPy takes."""
    for k in range(1, len(shape) + 1):
        mask = rng.random(shape[:k]) < 0.4
        yield mask, (mat.array(mask), mask, mat.array(mask[..., ::-1])[..., ::-1],
                     (mat.array(mask),), *([mask.tolist()] if k == 1 else []))


def integers(rng, shape):
    """Integers for one axis, as Mats, arrays and lists, after the slices before it."""
    for axis, n in enumerate(shape):
        before = (slice(None),) * axis
        for size in ((6,), (2, 3), (300,)):
            k = rng.integers(-n, n, size)
            kinds = [mat.array(k), mat.array(k.astype("int8")), k, k.astype("int32"),
                     mat.array(np.repeat(k, 2, -1))[..., ::2]]
            if k.ndim == 1:
                kinds += [k.tolist(), k.astype(">i4")]
            yield (*before, k), [(*before, one) for one in kinds]


def mixed(rng, shape):
    """Arrays and masks among slices and integers, and an array for each axis."""
    def spelled(index):
        return tuple(mat.array(i) if isinstance(i, np.ndarray) else i for i in index)

    arrays = tuple(rng.integers(-n, n, 4) for n in shape)
    yield arrays, [spelled(arrays), arrays]
    for k, n in enumerate(shape[:2]):
        for item in (arrays[k], arrays[k].reshape(2, 2), rng.random(n) < 0.5):
            for other in (0, -1, slice(None, None, -1), slice(0, 2)):
                index = (*(other,) * k, item, *(other,) * (len(shape) - k - 1))
                yield index, [spelled(index)]
                yield index[:2], [spelled(index[:2])]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_reading(rng, dtype, layout):
    for shape in SHAPES:
        a = elements(rng, shape, dtype)
        x = place(a, layout)
        for index, spellings in (*masks(rng, shape), *integers(rng, shape),
                                 *mixed(rng, shape)):
            for spelled in spellings:
                same(x[spelled], a[index])
                if isinstance(spelled, tuple) and len(spelled) == 1:
                    same(x[spelled[0]], a[index])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_writing(rng, dtype, layout):
    for shape in SHAPES:
        a = elements(rng, shape, dtype)
        x = place(a, layout)
        for index, spellings in (*masks(rng, shape), *integers(rng, shape),
                                 *mixed(rng, shape)):
            chosen = a[index]
            values = elements(rng, chosen.shape, dtype)
            for spelled, value in zip(spellings, (values, 1, values[:1], 3.0, mat.array(values),
                                                  True, mat.array(values)), strict=False):
                if not len(chosen) and np.ndim(value):
                    value = values
                x[spelled] = value
                a[index] = value.to_numpy() if isinstance(value, mat.Mat) else value
                assert x.to_numpy().tobytes() == np.ascontiguousarray(a).tobytes()
        check_hidden(x)


def test_bfloat16(rng):
    pytest.importorskip("ml_dtypes")
    x = mat.array(np.arange(6.0), dtype="bfloat16")
    assert x[x > 2].astype("float32").tolist() == [3, 4, 5]
    x[x > 2] = -1.5
    x[mat.array([0, 1], dtype="int64")] = mat.array([7, 8], dtype="bfloat16")
    assert x.astype("float32").tolist() == [7, 8, 2, -1.5, -1.5, -1.5]


@needs.native
@pytest.mark.host
@pytest.mark.unchecked("it has NumPy compute")
def test_the_compiled_kernels_are_used(rng):
    x = mat.array(rng.standard_normal((4000, 3)))  # NumPy takes few elements of a copy
    for found in (x[x[:, 0] > 0], x[mat.array([1, 2], dtype="int64")], x[[1, 2]], x[:, [0, 2]],
                  x.take([3, 4], 0), np.take(x, np.arange(3)), mat.take(x, mat.array(
                      [1], dtype="int64"), axis=0), mat.concat([x, x]), mat.stack([x, x], 1),
                  np.concatenate([x, x], 1)):
        assert "foreign" in found.facets


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_take(rng, axis):
    a = rng.standard_normal((4, 5))
    k = rng.integers(-4, 4, (2, 3))
    for x in (mat.array(a), mat.array(a.T.copy()).T):
        for index in (k, mat.array(k), k.tolist()):
            same(x.take(index, axis), a.take(k, axis))
            same(np.take(x, index, axis), a.take(k, axis))
    if axis is not None:
        same(mat.take(mat.array(a), mat.array(k[0]), axis=axis), a.take(k[0], axis))


def test_large(rng):
    a = rng.standard_normal(LARGE)
    x, k = mat.array(a), rng.integers(-LARGE, LARGE, LARGE)
    same(x[x > 0], a[a > 0])
    same(x[mat.array(k)], a[k])
    x[x > 1] = 0.25
    a[a > 1] = 0.25
    x[k[:1000]] = mat.array(a[:1000])
    a[k[:1000]] = a[:1000].copy()
    same(x, a)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("count", [1, 3, 90])
@pytest.mark.parametrize("axis", [0, 1])
def test_few_and_many_of_a_large_matrix(rng, axis, count, dtype):
    whole = elements(rng, (400, 500), dtype)
    index = (slice(None),) * axis + (rng.permutation(400)[:count] - 200,)
    for part in ((slice(None),), (slice(None, None, 2), slice(None, None, -1))):
        a, x = whole[part], mat.array(whole)[part]
        index = (*index[:-1], index[-1] % a.shape[axis])
        same(x[index], a[index])
        values, a = elements(rng, a[index].shape, dtype), a.copy()
        x[index], a[index] = mat.array(values), values
        same(x, a)
        x[index] = a[index] = 5
        same(x, a)
        with pytest.raises(IndexOutOfRange):
            x[(*index[:-1], [*index[-1], 500])]
        same(x, a)


def test_under_observers(rng):
    a = rng.standard_normal(50)
    x = mat.array(a)
    with mat.debug.count_copies():
        same(x[x > 0], a[a > 0])
        x[x > 0] = 2.0
        a[a > 0] = 2.0
        same(mat.stack([x, x]), np.stack([a, a]))
    same(x, a)


@pytest.mark.parametrize("index", [[0, 5], [-6, 0], [2**40], [-(2**63), 1]])
def test_out_of_range_before_anything_is_written(index):
    x = mat.arange(5.0)
    for spelled in (index, np.array(index), mat.array(index, dtype="int64")):
        with pytest.raises(IndexOutOfRange):
            x[spelled]
        with pytest.raises(IndexOutOfRange):
            x[spelled] = 7.0
        with pytest.raises(IndexError):
            x.take(spelled)
    with pytest.raises(IndexOutOfRange):
        mat.zeros(2, 3)[:, index]
    assert x.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64", "complex128"])
def test_integers_of_every_number(rng, dtype, layout):
    """Kernels look at several integers together: those that are left over, negative ones among
    others, and equal ones, of which the last one is written.
    """
    for n in range(1, 14):
        a = elements(rng, (5,), dtype)
        k = rng.integers(0, 5, n)
        k[rng.random(n) < rng.choice((0, 0.2, 1))] -= 5
        values = elements(rng, (n,), dtype)
        x = place(a, layout)
        same(x[mat.array(k)], a[k])
        x[mat.array(k)] = mat.array(values)
        for place_of, value in zip(k, values, strict=True):
            a[place_of] = value
        same(x, a)
        check_hidden(x)


@pytest.mark.parametrize("n", [1, 3, 4, 5, 9])
@pytest.mark.parametrize("wrong", [5, -6, 2**62, -(2**63)])
def test_one_integer_out_of_range(n, wrong):
    for at in range(n):
        k = np.arange(n) % 5 - 5 * (np.arange(n) % 2)
        k[at] = wrong
        x = mat.arange(5.0)
        for call in (lambda x=x, k=k: x[mat.array(k)], lambda x=x, k=k: x.take(k),
                     lambda x=x, k=k: x.__setitem__(mat.array(k), mat.ones(n))):
            with pytest.raises(IndexError):
                call()
        assert x.tolist() == [0, 1, 2, 3, 4]


def test_masks_of_other_shapes():
    x = mat.zeros(4, 3)
    for mask in (mat.ones(3, dtype="bool"), np.ones((4, 4), bool), np.ones((4, 3, 1), bool)):
        with pytest.raises(IndexOutOfRange):
            x[mask]
        with pytest.raises(IndexOutOfRange):
            x[mask] = 1.0
    with pytest.raises(ShapeError, match="broadcast"):
        x[mat.ones(4, dtype="bool")] = mat.zeros(2)


@pytest.mark.parametrize("count", [9, LARGE])
@pytest.mark.parametrize("axes", [(0, 1, 2), (0, 2, 1), (1, 0, 2)])
@pytest.mark.parametrize("dtype", ["float64", "int8", "complex128"])
def test_one_item_is_written_to_all_places(dtype, axes, count):
    rng = np.random.default_rng(6)
    a = elements(rng, (7, 3, 5), dtype).transpose(axes)
    x = mat.array(a.transpose(np.argsort(axes))).transpose(axes)
    row, k = elements(rng, a.shape[1:], dtype), rng.integers(-a.shape[0], a.shape[0], count)
    mask, some = rng.random(a.shape[0]) < 0.5, rng.random(a.shape[:2]) < 0.5
    for index, value in ((k, row), (mask, row[::-1]), (some, row[0]), (k, row[:1]), (k, row[0, 0])):
        a[index] = value
        x[mat.array(index)] = mat.array(value)
        same(x, a)
    a[k] = a[1].copy()
    x[k] = x[1]
    a[mask] = 2 * row.real
    x[mask] = mat.array(2 * row.real)
    same(x, a)
    with pytest.raises(IndexOutOfRange):
        x[[0, len(a)]] = mat.array(row)
    same(x, a)


def put_items(xp, x, k, v, mask):
    xp.put(x, k, 3)
    xp.put(x, k, v)
    xp.put(x, k[:3], 1)
    xp.put(x, mask.reshape(-1)[:3], 7)  # integers 0 and 1
    xp.put(x, 2, 5)
    xp.put(x, k + 100, 6, mode="clip")


def put_by_mask(xp, x, k, v, mask):
    xp.putmask(x, mask, 2)
    xp.putmask(x, mask[::-1], v)
    xp.place(x, ~mask, 1)
    xp.place(x, mask, v[:2])
    xp.copyto(x, x[::-1], where=mask)
    xp.copyto(x, 1, where=mask[:, :1])


@pytest.mark.parametrize("dtype", ["float32", "int16", "uint8", "complex128"])
@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("function", [put_items, put_by_mask])
def test_functions_that_put_elements_beside_numpys(function, step, dtype):
    rng = np.random.default_rng(5)
    a, v = elements(rng, (6, 4 * step), dtype), elements(rng, (6,), dtype)
    k, mask = rng.integers(-24, 24, 6), rng.random((6, 4)) < 0.5
    x = mat.array(a)
    function(np, a[:, ::step], k, v, mask)
    function(np, x[:, ::step], mat.array(k), mat.array(v), mat.array(mask))
    same(x, a)


def test_functions_that_put_elements_refuse_what_numpy_refuses():
    x = mat.zeros(4)
    with pytest.raises(IndexError):
        np.put(x, mat.array([1, 4]), 1.0)
    y = mat.zeros(4, dtype="int8")
    with pytest.raises(OverflowError):
        np.put(y, mat.array([1, 2]), 1000)
    fixed = np.arange(4.0)
    fixed.flags.writeable = False
    with pytest.raises(DirectionError):
        np.putmask(mat.from_numpy(fixed), mat.ones(4, dtype="bool"), 1.0)
    assert x.tolist() == y.tolist() == [0, 0, 0, 0]


def test_what_cannot_be_written_remains():
    fixed = np.arange(4.0)
    fixed.flags.writeable = False
    x, mask = mat.from_numpy(fixed), mat.ones(4, dtype="bool")
    with pytest.raises(DirectionError):
        x[mask] = 1.0
    with pytest.raises(AliasError):
        mat.zeros(1).broadcast_to((4,))[mask] = 1.0
    y = mat.zeros(4)
    with mat.with_facets((y, "array", "input")):
        def write():
            with pytest.raises(ConflictError):
                y[mask] = 1.0
            with pytest.raises(ConflictError):
                y[[0, 1]] = 1.0
        thread = threading.Thread(target=write)
        thread.start()
        thread.join()
    assert y.tolist() == [0, 0, 0, 0]


def test_operands_of_one_storage():
    x = mat.array([3, 2, 1, 0], dtype="int64")
    x[x] = x + 10
    assert x.tolist() == [10, 11, 12, 13]
    x[x > 11] = x[::-1][:2]
    assert x.tolist() == [10, 11, 13, 12]
    k = np.random.default_rng(0).permutation(1000)
    y = mat.array(k)
    y[y] = y
    assert_array_equal(y.to_numpy(), np.arange(1000))
    z = mat.array(k)
    z[z] = 5
    assert z.tolist() == [5] * 1000
    bits = mat.array(k % 2 > 0)
    bits[bits[::-1]] = True
    assert_array_equal(bits.to_numpy(), (k % 2 > 0) | (k % 2 > 0)[::-1])


@pytest.mark.host
def test_on_a_device(rng):
    a = rng.standard_normal(20)
    with mat.use_device("emulated"):
        x = mat.array(a) + 0.0
        same(x[x > 0], a[a > 0])
        x[x > 0] = 1.0
        a[a > 0] = 1.0
        x[[1, 2]] = mat.array([5.0, 6.0]) + 0.0
        a[[1, 2]] = 5.0, 6.0
        same(x * 1.0, a)
        same(mat.concat([x, x]), np.concatenate([a, a]))


@pytest.mark.unchecked("it takes minutes")
def test_threads_that_change_a_mask_break_nothing():
    """The elements may be any, but none of them is outside of the Mats."""
    x, mask, stop = mat.arange(1000.0), mat.zeros(1000, dtype="bool"), threading.Event()

    def change():
        k = 0
        while not stop.is_set():
            try:
                mask.fill_(bool(k % 2))
            except ConflictError:
                pass
            k += 1

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(300):
            try:
                assert x[mask].size in (0, 1000)
            except ConflictError:
                pass
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(before)


# Joining


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_joining(rng, dtype, layout):
    for shape in ((3,), (2, 3), (2, 3, 4), (0, 2)):
        arrays = [elements(rng, shape, dtype) for _ in range(3)]
        mats = [place(a, layout if k else "packed") for k, a in enumerate(arrays)]
        for axis in range(-len(shape), len(shape)):
            wanted = np.concatenate(arrays, axis)
            for found in (mat.concat(mats, axis), np.concatenate(mats, axis),
                          mat.concat(mats, axis=axis)):
                same(found, wanted)
            for found in (mat.stack(mats, axis), np.stack(mats, axis), mat.stack(mats, axis=axis)):
                same(found, np.stack(arrays, axis))


def test_joining_parts_of_other_lengths_and_dtypes(rng):
    arrays = [rng.standard_normal((2, n, 3)) for n in (1, 4, 0, 2)]
    same(mat.concat([mat.array(a) for a in arrays], 1), np.concatenate(arrays, 1))
    mixed = [np.arange(3, dtype="int8"), np.arange(3.0)]
    same(mat.concat([mat.array(a) for a in mixed]), np.concatenate(mixed))


@pytest.mark.parametrize("concat", [mat.concat, np.concatenate])
def test_joining_tuples_along_axes_that_fit_or_do_not(rng, concat):
    arrays = [rng.standard_normal((2, n)) for n in (3, 1, 2)]
    mats = tuple(map(mat.array, arrays))
    for axis in (1, -1):
        same(concat(mats, axis), np.concatenate(arrays, axis))
    for parts, axis in ((mats, 0), (mats, 2), (mats, -3), (mats, 2**70), ((mats[0], mats[0][0]), 0),
                        ((mats[0][0, 0, ...],) * 2, 0)):
        with pytest.raises(ShapeError):
            concat(parts, axis)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool", "complex128"])
@pytest.mark.parametrize("number", [2.0, -0.0, float("nan"), 1e300, 3, True, 1j])
def test_where_with_a_number(rng, dtype, number):
    a = elements(rng, (5, 6), dtype)
    x, chosen = mat.array(a), rng.random((5, 6)) > 0.5
    with np.errstate(all="ignore"):
        for condition in (chosen, chosen[0], chosen[:, :1]):
            same(np.where(mat.array(condition), x, number), np.where(condition, a, number))
            same(np.where(mat.array(condition), number, x[:, ::-1]),
                 np.where(condition, number, a[:, ::-1]))


def test_arrays_are_indexed_by_mats(rng):
    a = rng.standard_normal((4, 5))
    mask, k = mat.array(a > 0), mat.array([2, 0], dtype="int64")
    assert np.array_equal(a[mask], a[a > 0])
    assert np.array_equal(a[k], a[[2, 0]])
    assert np.array_equal(a[mat.array(3, dtype="int64")], a[3])
    for wrong, label in ((mask, "<Mat 4x5 bool>"), (k, "<Mat 2 int64>"), (mat.array(1.0),
                                                                       "<Mat ()>")):
        with pytest.raises(mat.errors.DTypeError) as caught:
            operator.index(wrong)
        message = f"only an integer Mat without axes is an index, not {label}"
        assert str(caught.value) == str(pickle.loads(pickle.dumps(caught.value))) == message
        assert repr(caught.value) == f"DTypeError({message!r})"


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_joining_large_parts(rng, axis):
    """More bytes than are joined at once: packed parts, others, empty ones, one twice, and a part
    without elements yet.
    """
    a, b = rng.standard_normal((2, 300, 7, 200))
    x, y = mat.array(a), mat.array(b)
    for parts, wanted in (([x, y], [a, b]), ([x, x, y[:, ::2], y], [a, a, b[:, ::2], b]),
                          ([y[1:], x[1:, :0], x[:299], mat.zeros(299, 7, 200)],
                           [b[1:], a[1:, :0], a[:299], np.zeros((299, 7, 200))])):
        fitting = [k for k, w in enumerate(wanted) if np.delete(w.shape, axis).tolist()
                   == np.delete(wanted[0].shape, axis).tolist()]
        parts, wanted = [parts[k] for k in fitting], [wanted[k] for k in fitting]
        same(mat.concat(parts, axis), np.concatenate(wanted, axis))
        same(np.concatenate(parts, axis), np.concatenate(wanted, axis))
    with y.facet("array"), ThreadPoolExecutor(1) as pool, pytest.raises(ConflictError):
        pool.submit(mat.concat, [x, y], axis).result()


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float64", "complex64"])
@pytest.mark.parametrize("shape", [(9000,), (300, 40), (20, 30, 20), (5000, 1), (0, 7)])
@pytest.mark.parametrize("turned", [False, True])
def test_places_of_many_true_elements(dtype, shape, turned):
    rng = np.random.default_rng(1)
    a = (rng.random(shape) * rng.integers(0, 2, shape) * 9).astype(dtype)
    if dtype == "float64" and a.size:
        a[::7] = np.nan
        a[::5] = -0.0
    x = mat.array(a)
    if turned:
        a, x = a.T[::-1], x.T[::-1]
    for name in ("nonzero", "argwhere", "flatnonzero", "where"):
        found, wanted = getattr(mat, name)(x), getattr(np, name)(a)
        pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
        for one, other in pairs:
            assert_array_equal(one.to_numpy(), other)
            assert one.dtype == other.dtype
