"""Turning Mats into other things: arrays, lists, Python numbers, copies; length, iteration, truth,
hashing.
"""

import copy
import operator
import sys
import unittest.mock
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.errors import DTypeError, IndexOutOfRange, ShapeError
from mat.support.dtypes import represents

NUMPY = [d for d in mat.supported_dtypes if d != "bfloat16"]


def host(x):
    """The elements as a look at them shows them."""
    with x.facet("array", "input") as a:
        return a.copy()


def _specimens():
    base = mat.arange(12.0)
    return [mat.array([[1.0, 2], [3, 4]]), base.view((2, 3), 4), base.reshape(3, 4).T, base[::-2],
            mat.zeros(0, 3), mat.full((),
                                      7.0),
            mat.array([True, False], "bool"), mat.array([1, 2], "int16"),
            mat.array([1 + 2j], "complex64"),
            base[3:4].broadcast_to(2, 2)]


@pytest.mark.parametrize("x", _specimens())
def test_to_numpy_and_array_give_a_fresh_writable_copy_in_c_order(x):
    with x.facet("array", "input") as a:
        wanted = a.copy()
    for got in (x.to_numpy(), np.array(x, order="C"), x.copy().to_numpy(), copy.copy(x).to_numpy(),
                copy.deepcopy(x).to_numpy()):
        assert got.flags.c_contiguous
        assert got.flags.writeable
        assert_array_equal(got, wanted, strict=True)
        got[...] = 0
    assert_array_equal(host(x), wanted)
    assert x.tolist() == wanted.tolist()


def test_array_protocol_converts_dtypes():
    x = mat.array([1.5, 2.5])
    assert_array_equal(np.asarray(x, dtype="float32"), np.array([1.5, 2.5], np.float32),
                       strict=True)
    assert_array_equal(np.asarray(x, dtype="int64"), [1, 2])


@pytest.mark.parametrize("name", NUMPY)
def test_item_and_tolist_give_python_numbers(name):
    x = mat.ones(2, 2, dtype=name)
    kind = type(np.ones(1, name).item())
    assert type(x.item(3)) is kind
    assert x.item(0) == 1
    assert type(x.tolist()[1][0]) is kind


def test_item_counts_in_row_major_order_whatever_the_strides():
    x = mat.arange(6.0).reshape(2, 3).T
    assert [x.item(k) for k in range(-6, 6)] == [0, 3, 1, 4, 2, 5] * 2
    assert mat.full((1, 1), 4.0).item() == 4
    assert mat.full((), 4.0).item(-1) == 4
    assert x.item(np.int64(1)) == 3


def test_scalars():
    x = mat.full((1, 1), 2.75)
    assert (float(x), int(x), bool(x), complex(x)) == (2.75, 2, True, 2.75 + 0j)
    assert bool(mat.zeros(1)) is False
    assert type(float(mat.ones((), dtype="int8"))) is float
    assert [10, 11, 12][mat.array(2, "int64")] == 12
    assert range(3)[mat.array(-1, "int8")] == 2


def test_len_and_iteration():
    x = mat.arange(6.0).reshape(3, 2)
    assert len(x) == 3
    rows = list(x)
    assert [r.tolist() for r in rows] == [[0, 1], [2, 3], [4, 5]]
    rows[1].fill_(9)
    assert_array_equal(host(x), [[0, 1], [9, 9], [4, 5]])
    assert [type(v) for v in x[0]] == [np.float64, np.float64]
    assert list(mat.zeros(0, 2)) == []
    assert 9 in x[1].tolist()


def test_ravel_index():
    x = mat.Mat((3, 4), displacement=5, max_size=20)
    for i in range(-3, 3):
        for j in range(-4, 4):
            assert x.ravel_index(i, j) == np.ravel_multi_index((i % 3, j % 4), (3, 4))
    assert x.T.ravel_index(1, 2) == 5
    assert mat.zeros(()).ravel_index() == 0
    assert x.item(x.ravel_index(2, 1)) == x[2, 1]


@pytest.mark.parametrize(("convert", "error", "message"), [
    (lambda x: x.item(), ShapeError, "6"), (lambda x: x.item(6), IndexOutOfRange, "6"),
    (lambda x: x.item(-7),
     IndexOutOfRange, "-7"),
    (lambda x: x.item(1.0), ShapeError, "1.0"), (lambda x: x.item("a"), ShapeError, "'a'"),
    (lambda x: float(x),
     DTypeError, "6"),
    (lambda x: int(x), DTypeError, "6"), (lambda x: bool(x), ShapeError, "6"),
    (lambda x: bool(x[:0]), ShapeError, "0"),
    (lambda x: complex(x), DTypeError, "6"), (lambda x: [1][x], DTypeError, "index"),
    (lambda x: [1][mat.array(0.0)],
     DTypeError, "index"),
    (lambda x: [1][mat.array([0], "int64")], DTypeError, "index"),
    (lambda x: [1][mat.array(False, "bool")],
     DTypeError, "index"),
    (lambda x: len(mat.zeros(())), DTypeError, "no length"),
    (lambda x: list(mat.zeros(())), DTypeError, "no length"),
    (lambda x: x.ravel_index(0), ShapeError, "2 indices"), (lambda x: x.ravel_index(2, 0),
                                                                 IndexOutOfRange,
                                                                 "axis 0 of length 2"),
    (lambda x: x.ravel_index(0, -4), IndexOutOfRange, "axis 1 of length 3"),
    (lambda x: x.ravel_index(0, 1.5),
     DTypeError, "1.5"),
    (lambda x: x.ravel_index(0, slice(1, 2)), DTypeError, "slice"),
    (lambda x: x.ravel_index(None, 0, 0),
     ShapeError, "2 indices"),
    (lambda x: x.replace_([[1, 2], [3, 4]]), ShapeError, r"\(2, 3\).*\(2, 2\)"),
    (lambda x: x.replace_([[1, 2, 3], [4, 5]]),
     ShapeError, "ragged"),
    (lambda x: x.replace_(range(6)), ShapeError, r"\(6,\)"),
    (lambda x: x.replace_([["a"] * 3] * 2), DTypeError, "numbers"),
    (lambda x: x.replace_([[1j] * 3] * 2), DTypeError, "complex"),
    (lambda x: x.replace_(5), ShapeError, r"\(\)"),
    (lambda x: float(mat.array(1j, "complex64")), DTypeError, "complex"),
    (lambda x: int(mat.array(1j, "complex64")), DTypeError, "complex"),
])
def test_bad_conversions_touch_nothing(convert, error, message):
    x = mat.arange(6.0).reshape(2, 3)
    version = x.storage.version
    with pytest.raises(error, match=message):
        convert(x)
    assert x.storage.version == version
    assert_array_equal(host(x), np.arange(6).reshape(2, 3))


def test_replace():
    x = mat.Mat((2, 2), displacement=1, max_size=6)
    assert x.replace_([[1, 2], mat.array([3.0, 4])]) is x
    assert_array_equal(host(x), [[1, 2], [3, 4]])
    assert x.T.replace_(np.array([[5, 6], [7, 8]], "int8")).tolist() == [[5, 6], [7, 8]]
    with x.facet("backing", "input") as whole:
        assert_array_equal(whole, [0, 5, 7, 6, 8, 0])
    assert mat.zeros(2, dtype="int8").replace_([1, 127]).tolist() == [1, 127]
    with pytest.raises(DTypeError, match="128"):
        mat.zeros(2, dtype="int8").replace_([1, 128])


def test_mats_with_axes_have_no_hash_and_compare_by_element():
    x, y = mat.zeros(2), mat.zeros(2)
    with pytest.raises(TypeError, match=r"unhashable.*<Mat 2>"):
        hash(x)
    assert_array_equal(host(x == y), [True, True], strict=True)
    assert_array_equal(host(x != np.array([1, 0])), [True, False], strict=True)
    assert_array_equal(host(x == None), [False, False], strict=True)  # noqa: E711


OTHER_ELEMENTS = [np.array(["a"]), np.array(["a", "0"]), ["a", "b"], np.array([b"0"]),
                  np.array([None, 0.0], object), np.array("2020-01-01", "M8[D]"),
                  np.array([[0], [1]], "m8[s]"), np.array([0.0, 1], ">f8"),
                  np.array([0, 1], "longdouble"), "a", b"0", {}, {0}, ..., object(),
                  type("Text", (str,), {})("a"), type("Table", (dict,), {})(), Decimal(2),
                  Fraction(0), Fraction(1, 3), date(2020, 1, 1), timedelta(2)]


@pytest.mark.parametrize("other", OTHER_ELEMENTS, ids=lambda x: repr(x).partition(" at 0x")[0])
@pytest.mark.parametrize("equal", [operator.eq, operator.ne])
def test_elements_that_mats_cannot_have_are_equal_as_in_numpy(equal, other):
    x, a = mat.array([0.0, 2.0]), np.array([0.0, 2.0])
    found = equal(x, other)
    assert isinstance(found, mat.Mat)
    assert_array_equal(host(found), equal(a, other), strict=True)
    assert_array_equal(equal(other, x), equal(other, a), strict=True)


def test_classes_with_a_rule_for_equality_decide():
    assert mat.zeros(2) == unittest.mock.ANY
    assert (mat.zeros(2) == type("Refusing", (), {"__array_ufunc__": None})()) is False


@pytest.mark.parametrize("equal", [operator.eq, operator.ne])
def test_what_numpy_cannot_compare_is_an_error(equal):
    x = mat.zeros(2)
    with pytest.raises(mat.ShapeError, match="broadcast"):
        equal(x, np.array(["a", "b", "c"]))
    with pytest.raises(mat.DTypeError, match="each field"):
        equal(x, np.zeros(2, [("a", "int32")]))
    with pytest.raises(mat.DTypeError, match="not supported"):
        x < np.array(["a"])  # noqa: B015


@pytest.mark.host
def test_torn_and_conflicting_mats_do_not_convert():
    x = mat.zeros(2).fill_(1)
    with pytest.raises(ZeroDivisionError), x.facet("array", "io"):
        1 / 0  # noqa: B018
    for convert in (x.to_numpy, x.tolist, lambda: np.asarray(x), lambda: x.item(0), x.copy,
                    lambda: mat.array(x),
                    lambda: mat.array([x, x])):
        with pytest.raises(mat.TornError, match="test_convert"):
            convert()
    assert x.accept_torn() is x
    assert x.tolist() == [1, 1]


@pytest.mark.parametrize(("dtype", "value", "wanted"), [
    ("uint64", np.True_, True), ("uint64", 2**64 - 1, True), ("uint64", 2**64, False),
    ("int8", -128, True),
    ("int8", -129, False), ("uint8", -1, False), ("float32", 2**53, True),
    ("float64", 2**53 + 1, False),
    ("float64", 0.1, True), ("int8", np.int64(200), False),
])
def test_whether_a_dtype_has_a_number(dtype, value, wanted):
    assert represents(np.dtype(dtype), value) is wanted


@pytest.mark.host
def test_sizes_count_the_memory_of_the_host():
    x = mat.zeros(1000)
    bare = sys.getsizeof(x)
    assert bare < 500
    x.fill_(1)
    assert sys.getsizeof(x) == bare + 8000
    assert sys.getsizeof(x[:10]) == bare + 80
    with mat.use_device("emulated"), x.facet("emulated", "input"):
        assert sys.getsizeof(x) == bare + 8000  # of the host only


def test_astype_copies_unless_told_otherwise():
    x = mat.ones(3)
    assert x.astype("float64", copy=False) is x
    assert x.astype("float64") is not x
    y = x.astype("float32", copy=False)
    y.fill_(0)
    assert x.tolist() == [1, 1, 1]
