"""Indexing against NumPy: basic and advanced, reading, writing and in place; then what is
refused.
"""

import operator
from array import array
from collections import UserList, deque
from decimal import Decimal
from fractions import Fraction
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

import mat
from mat.errors import AliasError, DTypeError, IndexOutOfRange, IndexTypeError, MatError, ShapeError

from ..support.views import basic_indices, full_shapes, shapes


def host(x):
    with x.facet("array", "input") as a:
        return a.copy()


def as_array(value):
    return value.to_numpy() if isinstance(value, mat.Mat) else np.asarray(value)


def twins(shape, dtype="float64", flip=False):
    """A Mat inside a larger storage and an array of the same elements."""
    a = np.arange(prod(shape)).reshape(shape).astype(dtype)
    x = mat.Mat(shape, dtype, displacement=2, max_size=prod(shape) + 3).replace_(a)
    return (x.T, a.T) if flip else (x, a)


@st.composite
def indexed(draw, make):
    """A Mat, an array, and an index that `make` draws for their shape."""
    x, a = twins(draw(shapes), flip=draw(st.booleans()))
    return x, a, draw(make(a.shape))


@st.composite
def advanced_indices(draw, shape):
    """Integer arrays, lists, tuples or ranges for some axes, slices for others; or a mask."""
    if not shape or draw(st.booleans()):
        k = draw(st.integers(0, len(shape)))
        mask = draw(hnp.arrays(bool, shape[:k]))
        return draw(st.sampled_from([mask, mat.from_numpy(mask),
                                     mask.tolist()])) if mask.ndim else bool(mask)
    length = draw(st.sampled_from([1, 2, 3]))
    index = []
    for n in shape[:draw(st.integers(1, len(shape)))]:
        if n and draw(st.booleans()):
            items = np.array(draw(st.lists(st.integers(-n, n - 1), min_size=length,
                                           max_size=length)))
            index.append(draw(st.sampled_from([items, items.tolist(), tuple(items.tolist()),
                                               mat.array(items),
                                               items.reshape(length, 1)])))
        elif n and draw(st.booleans()):
            index.append(draw(st.integers(-n, n - 1)))
        else:
            index.append(draw(st.sampled_from([slice(None), slice(None, None, -1),
                                               slice(1, None)])))
    return tuple(index)


def for_numpy(index):
    if isinstance(index, tuple):
        return tuple(for_numpy(i) for i in index)
    return index.to_numpy() if isinstance(index, mat.Mat) else index


@given(indexed(basic_indices))
def test_basic_indices_give_views(case):
    x, a, index = case
    got, wanted = x[index], a[index]
    assert isinstance(got, mat.Mat) == isinstance(wanted, np.ndarray) or (got is x and not x.shape)
    assert_array_equal(as_array(got), wanted, strict=isinstance(wanted, np.ndarray))
    if isinstance(got, mat.Mat):
        assert got.storage is x.storage
        got.fill_(-1)
        a[index] = -1
        assert_array_equal(host(x), a)


@given(indexed(advanced_indices))
def test_advanced_indices_give_copies(case):
    x, a, index = case
    wanted = a[for_numpy(index)]
    got = x[index]
    assert_array_equal(as_array(got), wanted, strict=isinstance(wanted, np.ndarray))
    if isinstance(got, mat.Mat) and got.storage is not x.storage:
        got.fill_(-1)
        assert_array_equal(host(x), a)


@given(indexed(lambda shape: st.one_of(basic_indices(shape), advanced_indices(shape))), st.data())
def test_assignment(case, data):
    x, a, index = case
    selected = a[for_numpy(index)].shape
    value = np.arange(100.0, 100 + prod(selected)).reshape(selected)
    kind = data.draw(st.sampled_from(["array", "mat", "list", "number", "broadcast",
                                      "other dtype"]))
    if kind == "broadcast":
        value = value[:1] if selected and selected[0] else value
    as_list = np.ndarray.tolist if value.size else mat.array  # lists of nothing lose their shape
    given_value = {"mat": mat.array, "list": as_list, "number": lambda v: 7.5,
                   "other dtype": lambda v: v.astype("int16")}.get(kind, lambda v: v)(value)
    x[index] = given_value
    a[for_numpy(index)] = 7.5 if kind == "number" else value
    assert_array_equal(host(x), a)
    with x.facet("backing", "input") as whole:
        assert_array_equal(np.sort(whole), np.sort(np.concatenate([np.zeros(3), a.ravel()])))


@given(indexed(lambda shape: st.one_of(basic_indices(shape), advanced_indices(shape))),
       st.sampled_from([operator.iadd, operator.isub, operator.imul, operator.itruediv,
                        operator.ipow]))
def test_operators_in_place_on_what_is_indexed(case, work):
    x, a, index = case
    plain = for_numpy(index)
    with np.errstate(all="ignore"):
        a[plain] = work(a[plain].copy(), 2.0)
    x[index] = work(x[index], 2.0)
    assert_array_equal(host(x), a)


def test_in_place_statements():
    x, a = twins((4, 5))
    x[1:3] += 10
    a[1:3] += 10
    x[:, 0] *= x[:, 1]
    a[:, 0] *= a[:, 1]
    x[0, 0] -= 5
    a[0, 0] -= 5
    x[[0, 0, 2]] += 1  # once for each row, as in NumPy
    a[[0, 0, 2]] += 1
    x[x > 12] /= 2
    a[a > 12] /= 2
    x.T[2] **= 2
    a.T[2] **= 2
    x[...] += np.arange(5)
    a[...] += np.arange(5)
    assert_array_equal(host(x), a)


@given(full_shapes, st.data())
def test_all_integers_give_a_numpy_scalar_and_dots_a_mat_without_axes(shape, data):
    x, a = twins(shape, "float32")
    index = tuple(data.draw(st.integers(-n, n - 1)) for n in shape)
    if not shape:
        assert x[()] is x
    else:
        assert type(x[index]) is np.float32
    assert x[index] == a[index]
    view = x[(*index, ...)]
    assert (type(view), view.shape, view.dtype) == (mat.Mat, (), np.float32)
    view.fill_(99)
    assert x[index] == 99


def test_dtypes_of_elements():
    for name in mat.supported_dtypes:
        if name == "bfloat16":
            pytest.importorskip("ml_dtypes")
        x = mat.ones(2, 2, dtype=name)
        assert x[0, 1].dtype == x.dtype
        x[0, 1] = 0
        x[1] = x[0]
        assert_array_equal(x.to_numpy().astype("float64") if x.dtype.kind != "c"
                           else x.to_numpy().real, [[1, 0], [1, 0]])
        assert x[[1]].dtype == x[:, [0, 1]].dtype == x.dtype


def test_numbers_of_all_kinds_as_indices():
    x, a = twins((3, 4))
    assert x[np.int8(1), np.uint64(2)] == a[1, 2]
    assert_array_equal(x[np.int16(-1)].to_numpy(), a[-1])
    assert_array_equal(as_array(x[mat.array(1, "int64")]), a[1])
    assert_array_equal(as_array(x[np.array(1), 2]), a[1, 2])
    assert_array_equal(x[range(2)].to_numpy(), a[range(2)])
    assert_array_equal(x[(0, 2), ].to_numpy(), a[(0, 2), ])
    assert_array_equal(x[True].to_numpy(), a[True])
    assert_array_equal(x[[]].to_numpy(), a[[]])
    assert_array_equal(x[x == 5].to_numpy(), [5])


def test_views_of_one_mat_may_overlap_in_an_assignment():
    for target, source in ((slice(1, None), slice(None, -1)), (slice(None, -1), slice(1, None)),
                           (slice(None, None, -1), slice(None)),
                           (slice(2, None), slice(None, 1))):
        x, a = twins((6, 2))
        x[target] = x[source]
        a[target] = a[source].copy()
        assert_array_equal(host(x), a)
    x, a = twins((3, 3))
    x[:] = x.T
    assert_array_equal(host(x), a.T)
    x[[2, 0, 1]] = x
    assert_array_equal(host(x), a.T[[1, 2, 0]])
    x[0] = x[0]
    x[1:] = x[[0, 0]]
    assert_array_equal(host(x), [a.T[1]] * 3)


def test_assignment_converts_as_numpy_does():
    x = mat.zeros(3, dtype="int32")
    x[:] = np.array([1.9, -1.9, 300])
    x[0] = 2.5
    assert x.tolist() == [2, -1, 300]
    y = mat.zeros(2, dtype="bool")
    y[:] = [5, 0]
    assert y.tolist() == [True, False]
    z = mat.zeros(2, dtype="complex64")
    z[0] = 1j
    z[1:] = mat.ones(1)
    assert z.tolist() == [1j, 1]


def test_reading_moves_no_more_than_it_must():
    x = mat.arange(6.0).reshape(2, 3)
    version = x.storage.version
    _ = x[0, 0], x[0], x[[0]], x[x > 1], x[..., None]
    assert x.storage.version == version
    y = mat.zeros(3)
    _ = y[1:], y[..., None], y[0:1]
    assert y.fresh == set()


@pytest.mark.parametrize(("index", "error", "message"), [
    (2, IndexOutOfRange, "index 2.*axis 0 of length 2"), (-3, IndexOutOfRange, "-3"),
    ((0, 3), IndexOutOfRange, "index 3.*axis 1"),
    ((0, 0, 0), IndexOutOfRange, "too many"), ((..., ...), IndexOutOfRange, "too many"),
    (2**70, IndexOutOfRange, str(2**70)),
    ([0, 2], IndexOutOfRange, "2"), ((slice(None), [3]), IndexOutOfRange, "3"),
    (([0], [0], [0]), IndexOutOfRange, "too many"),
    (([0, 1], [0, 1, 2]), IndexOutOfRange, "broadcast"), ([True], IndexOutOfRange, "boolean"),
    ([0.5], IndexOutOfRange, "integer"),
    (np.ones((2, 4), bool), IndexOutOfRange, "boolean"),
    (slice(None, None, 0), ShapeError, "zero"),
    (mat.zeros(2), IndexOutOfRange, "integer"),
    (slice(0.5, None), IndexTypeError, "0.5"), (1.0, DTypeError, "1.0"), ("a", DTypeError, "'a'"),
    ({}, DTypeError, "{}"),
    ((0, "a"), DTypeError, "'a'"),
    ([[0], [0, 1]], MatError, "0"), (["a"], IndexOutOfRange, "'a'"),
    (np.array(["a"]), IndexOutOfRange, "a"),
    ([None], IndexOutOfRange, "None"),
])
def test_bad_indices(index, error, message):
    x, a = twins((2, 3))
    version = x.storage.version
    with pytest.raises(error, match=message):
        x[index]
    with pytest.raises(error, match=message):
        x[index] = 1
    assert x.storage.version == version
    assert_array_equal(host(x), a)


@pytest.mark.parametrize(("index", "value", "error", "message"), [
    (0, [1, 2], ShapeError, r"\(2,\).*\(3,\)"),
    (slice(None), np.zeros((3, 3)), ShapeError, r"\(3, 3\).*\(2, 3\)"),
    (0, mat.zeros(2, 3), ShapeError, r"\(2, 3\).*\(3,\)"),
    ([0], np.zeros(2), ShapeError, r"\(2,\).*\(1, 3\)"),
    ((0, 0), [[1], [2]], ShapeError, r"\(2, 1\)"),
    (0, "a", DTypeError, "str"), ([0], "a", DTypeError, "str"), ((0, 0), "a", DTypeError, "str"),
    (0, 1j, DTypeError, "1j"), ((0, 0), 1j, DTypeError, "1j"), ([0], 1j, DTypeError, "1j"),
    (0, np.array(1j), DTypeError, "complex"), (0, [1j, 0, 0], DTypeError, "complex"),
    (0, mat.array([1j, 0, 0], "complex64"), DTypeError, "complex"),
    ([0], mat.array([1j, 0, 0], "complex64"), DTypeError, "complex"),
    (0, [1, [2]], ShapeError, "ragged"), (0, {1}, DTypeError, "set"),
    (0, np.array(["a", "b", "c"]), DTypeError, "U1"),
])
def test_bad_values(index, value, error, message):
    x, a = twins((2, 3))
    version = x.storage.version
    with pytest.raises(error, match=message):
        x[index] = value
    assert x.storage.version == version
    assert_array_equal(host(x), a)


@pytest.mark.parametrize("index", [0, slice(None), [0], (0,), slice(0, 1)])
@pytest.mark.parametrize(("name", "value"), [
    ("int8", 128), ("int8", -129), ("uint8", -1), ("int64", 2**63), ("int32", np.nan),
    ("int32", np.inf), ("int8", 1e3),
    ("int8", [300]),
    ("uint16", [-1]), ("int32", [np.nan]), ("float32", 10**400),
    ("int8", np.int64(300)),
    ("int8", np.float32(np.nan)),
])
def test_numbers_that_do_not_fit_are_refused(name, value, index):
    x = mat.ones(1, dtype=name)
    with pytest.raises(DTypeError):
        x[index] = value
    assert x.tolist() == [1]
    assert x.storage.version == 0


PARTS = {"element": (1, 2), "row": 1, "column": (slice(None), 1), "window": np.s_[1:, 1:],
         "steps": np.s_[::2, ::-1], "all": ..., "axis": np.s_[None, :, 1]}


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("value", [0, 1, 2, True, 2.5, 1e6, np.nan, np.True_])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float32",
                                   "float64", "complex64", "complex128"])
def test_numbers_in_parts_of_all_kinds(dtype, value, flip):
    for index in PARTS.values():
        x, a = twins((3, 4), dtype, flip)
        with np.errstate(all="ignore"):
            try:
                a[index] = value
            except (ValueError, OverflowError):
                return  # see test_numbers_that_do_not_fit_are_refused
            if np.dtype(dtype).kind in "iu" and np.int64(value) != a[1, 1]:
                return  # NumPy lets it wrap around
            x[index] = value
        assert_array_equal(host(x), a, strict=True)


def test_numbers_are_not_written_where_that_is_refused():
    for x in (mat.ones(3, dtype="bool"), mat.ones((3, 4), dtype="int64")):
        x.flags.writeable = False
        for write in (lambda x: x.fill(0), lambda x: x.T.__setitem__(0, 0)):
            with pytest.raises(MatError):
                write(x)
        assert x.to_numpy().all()


@pytest.mark.parametrize("dtype", ["bool", "int64", "float16"])
def test_filled_again_by_a_plan(dtype):
    x, a = twins((3, 4), dtype)
    for value in (1, True, 0, 1):
        x[1:, ::2].fill_(value)
        a[1:, ::2] = value
        assert_array_equal(host(x), a)


@pytest.mark.parametrize("value", [np.nan, np.inf, [np.nan], np.float32(np.nan)])
def test_nan_is_true(value):
    x = mat.zeros(1, dtype="bool")
    x[:] = value
    assert x.tolist() == np.array([value]).astype(bool).ravel().tolist() == [True]


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64", "complex128"])
@pytest.mark.parametrize("n", [15, 16, 17, 63, 64, 65, 127, 129, 192, 1000, 4095, 4097])
def test_masks_of_vectors_of_any_length(rng, n, dtype):
    a = np.arange(n).astype(dtype)
    for share in (0, 0.1, 0.9, 1):
        mask = rng.random(n) < share
        assert mat.array(a)[mat.array(mask)].to_numpy().tolist() == a[mask].tolist()


def test_masks_of_a_broadcast_mat_can_be_read_but_not_written():
    x = mat.arange(3.0).broadcast_to(2, 3)
    assert_array_equal(x[x > 0].to_numpy(), [1, 2, 1, 2])
    with pytest.raises(AliasError, match="overlap"):
        x[x > 0] = 1
    with pytest.raises(AliasError, match="overlap"):
        x[1, 1] = 1
    assert_array_equal(host(x), [[0, 1, 2]] * 2)


def test_values_may_have_more_axes_of_length_1():
    for index in ([0, 2], (slice(None), [1, 0]), [True, False, True], ([0, 1], [1, 2]), 1):
        a = np.zeros((3, 4))
        x = mat.array(a)
        value = np.arange(float(a[index].size)).reshape(1, 1, *a[index].shape)
        for wrapped in (value, mat.array(value), value.tolist()):
            a[index] = value
            x[index] = wrapped
            assert_array_equal(host(x), a)
        with pytest.raises(ShapeError):
            x[index] = np.zeros((2, *value.shape[1:]))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "bool", "complex64"])
def test_rows_and_elements_one_after_another(dtype, rng):
    a = (rng.random((5, 4, 3)) * 9).astype(dtype)
    x = mat.array(a)
    for view in (lambda x: x, lambda x: x.T, lambda x: x[::-2], lambda x: x[1:, ::2],
                 lambda x: x[2], lambda x: x[:, 1, 2], lambda x: x[::-1, 0, 0], lambda x: x[:0],
                 lambda x: x[1, 1]):
        rows, wanted = list(view(x)), list(view(a))
        assert len(rows) == len(wanted)
        for row, other in zip(rows, wanted, strict=True):
            assert row.shape == other.shape
            assert row.dtype == other.dtype
            np.testing.assert_array_equal(np.asarray(row), other)
    y, found = x.copy(), []
    for row in y:  # of the shape that it has at each step, as often as at the beginning
        found.append(row.shape)
        y.shape = (5, 6, 2)
    assert found == [(4, 3), *[(6, 2)] * 4]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int8", "uint8"])
def test_numbers_added_to_elements_one_by_one(dtype):
    a = np.arange(5).astype(dtype)
    x = mat.array(a)
    for k in range(-5, 5):
        for value in (1, np.float64(2.5), np.float32(0.5), np.int8(3)):
            if a.dtype.kind in "iu" and isinstance(value, np.floating):
                continue
            a[k] += value
            x[k] += value
            a[k], x[k] = a[k] + value, x[k] + value
            np.testing.assert_array_equal(x.to_numpy(), a)
    for k in (5, -6, 10**30):
        with pytest.raises(IndexError):
            x[k]
        with pytest.raises(IndexError):
            x[k] = 1


@pytest.mark.parametrize("big", [2**63 - 1, 2**63, 10**30, -2**63, -2**63 - 1, -10**30])
def test_slices_with_bounds_beyond_all_lengths(big):
    a = np.arange(12).reshape(3, 4)
    x = mat.array(a)
    for index in (np.s_[big:], np.s_[:big], np.s_[1:, big:], np.s_[:big, 1:], np.s_[:, :big],
                  np.s_[big:, :big], np.s_[..., :big], np.s_[big::2], np.s_[:big, None]):
        np.testing.assert_array_equal(x[index].to_numpy(), a[index])
        x[index] = 7
        a[index] = 7
        np.testing.assert_array_equal(x.to_numpy(), a)


class OfOthers:
    """An array of another library: not a sequence, but NumPy converts it."""

    def __init__(self, items):
        self.items = np.array(items)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.items, dtype)

    def __array_function__(self, function, types, args, kwargs):
        return NotImplemented


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("make", [UserList, deque, bytearray,
                                  lambda items: memoryview(bytes(items)),
                                  lambda items: array("b", items), OfOthers])
def test_arrays_and_sequences_of_others_as_indices(make, device):
    a = np.arange(12.0).reshape(3, 4)
    with mat.use_device(device):
        x = mat.array(a)
        for index in (make([2, 0]), (slice(None), make([1, 1])), (make([0, 1]), make([2, 3])),
                      (0, make([1, 2]))):
            assert_array_equal(x[index].to_numpy(), a[index])
            x[index] = a[index] = a[index] + 1
            x[index] += 2
            a[index] += 2
            assert_array_equal(x.to_numpy(), a)


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("make", [UserList, deque, OfOthers])
def test_masks_of_others(make, device):
    a = np.arange(3)
    mask = make([True, False, True])
    with mat.use_device(device):
        x = mat.array(a)
        assert x[mask].tolist() == [0, 2]
        x[mask] = 7
    assert x.tolist() == [7, 1, 7]


INDICES = [0, slice(None), [0, 1], np.array([True, False, True])]


@pytest.mark.parametrize("value", [np.int8(-8), np.int64(300), np.int64(-1), np.float32(-3),
                                   np.float64(300), np.uint64(2**40 + 5)])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
def test_numbers_of_numpy_wrap_around_in_unsigned_integers(dtype, value):
    wanted = np.zeros(3, dtype)
    for index in INDICES:
        x, a = mat.zeros(3, dtype=dtype), np.zeros(3, dtype)
        x[index] = a[index] = value
        assert_array_equal(x.to_numpy(), a)
    wanted.fill(value)
    x.fill(value)
    for found in (x, mat.full(3, value, dtype), mat.full_like(x, value)):
        assert_array_equal(found.to_numpy(), wanted)


@pytest.mark.parametrize(("dtype", "value"), [
    ("uint8", -0.5), ("uint8", 255.4), ("int8", 127.9), ("int8", -128.9),
    ("uint64", np.float32(-0.75)), ("int32", -2147483648.5)])
def test_fractions_beyond_the_range_are_truncated_into_it(dtype, value):
    for index in INDICES:
        x, a = mat.zeros(3, dtype=dtype), np.zeros(3, dtype)
        x[index] = a[index] = value
        assert x.tolist() == a.tolist()
    assert mat.zeros(3, dtype=dtype).fill_(value).tolist() == np.full(3, value, dtype).tolist()
    assert mat.array([value, 1], dtype).tolist() == np.array([value, 1], dtype).tolist()


@pytest.mark.parametrize(("dtype", "value"), [
    ("uint8", 300), ("uint8", -1), ("uint8", 300.0), ("int8", 200), ("int8", np.uint8(200)),
    ("uint8", np.float64("nan")), ("int64", np.uint64(2**63))])
def test_numbers_out_of_range_are_refused(dtype, value):
    x = mat.zeros(3, dtype=dtype)
    for index in INDICES:
        with pytest.raises(mat.RangeError):
            x[index] = value
    with pytest.raises(mat.RangeError):
        x.fill(value)
    assert x.tolist() == [0, 0, 0]


@pytest.mark.parametrize("index", INDICES, ids=str)
@pytest.mark.parametrize("dtype", ["int32", "uint8", "float32", "bool", "complex64"])
@pytest.mark.parametrize("value", ["5", "a", "2.5", b"7", "1j", None, Fraction(1, 2),
                                   Decimal("1.5"), "nan", "300"])
def test_texts_and_objects_are_read_as_numbers(value, dtype, index):
    x, a = mat.zeros(3, dtype=dtype), np.zeros(3, dtype)
    try:
        a[index] = value
    except (TypeError, ValueError, OverflowError) as error:
        with pytest.raises(type(error)) as found:
            x[index] = value
        assert isinstance(found.value, DTypeError)
    else:
        x[index] = value
    assert_array_equal(x.to_numpy(), a)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "uint64", "bool", "complex64"])
@pytest.mark.parametrize("value", [1.0, -0.5, 2.75, 100.5, 3e9, float("nan"), float("inf"),
                                   2.0**64, True, 7, 2j], ids=repr)
@pytest.mark.parametrize("key", [3, (1, 2), slice(1, 3), ..., [0, 2, 2]], ids=str)
def test_numbers_that_are_converted_to_elements(dtype, value, key):
    a = np.arange(16).reshape(4, 4).astype(dtype)
    x = mat.array(a)
    wanted = a.copy()
    with np.errstate(invalid="raise"):  # of what has no element, no result is defined
        try:
            wanted[key] = value
        except (FloatingPointError, TypeError, ValueError, OverflowError):
            with pytest.raises((mat.RangeError, mat.DTypeError)):
                x[key] = value
            wanted = a
        else:
            if value == 2j and dtype == "bool":
                pytest.skip("complex numbers are no truth values here")
            x[key] = value
    assert_array_equal(x.to_numpy(), wanted)


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(7, 5), (6, 4, 3), (5, 70)])
def test_rows_that_integers_select_are_overwritten(dtype, order, shape):
    a = np.asarray(np.arange(np.prod(shape)).reshape(shape) % 100, dtype, order)
    index = [3, 0, -1, 3]
    for key in (index, (slice(None), [1, -2]), (slice(None), slice(1, None), [0, 2])[:len(shape)]):
        for value in (3, np.arange(a[key].shape[-1]).astype(dtype)):
            x, wanted = mat.array(a), a.copy(order)
            x[key] = mat.array(value) if isinstance(value, np.ndarray) else value
            wanted[key] = value
            assert_array_equal(x.to_numpy(), wanted)


@pytest.mark.parametrize("index", [2, -1, (1, 2), (-1, 0), (1, slice(1, 3)), (..., 1), (None, 2),
                                   (slice(None), -2), 7, (0, 9)], ids=str)
def test_integers_of_numpy_are_indices(index):
    items = index if isinstance(index, tuple) else (index,)
    theirs = tuple(np.int64(k) if isinstance(k, int) else k for k in items)
    theirs = theirs if isinstance(index, tuple) else theirs[0]
    a = np.arange(12.0).reshape(3, 4)
    x = mat.array(a)
    try:
        wanted = a[theirs]
    except IndexError:
        for change in (lambda: x[theirs], lambda: operator.setitem(x, theirs, 1)):
            with pytest.raises(IndexError):
                change()
        return
    assert_array_equal(np.asarray(x[theirs]), wanted)
    for value in (5, 2.5, np.float64(7), np.int64(3)):
        x[theirs] = a[theirs] = value
        assert_array_equal(x.to_numpy(), a)
