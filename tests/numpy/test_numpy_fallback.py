"""Delegation: functions of arrays called with Mats: their arguments, their outputs, and the memory
of their results.
"""

from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat import AliasError, ConflictError, DirectionError, Mat, TornError
from mat.matrix.delegate import delegate

from ..support.layouts import LAYOUTS, NUMPY_DTYPES, check_hidden, numbers, place, state

CACHE = np.arange(3.0)


class Pair(NamedTuple):
    first: object
    second: object


class Deliberate(Exception):
    """An error that a test raises."""


def seen(x):
    return x


def spoil(a, *, out):
    out[...] = 7
    raise Deliberate


def check_alone(result, *operands):
    """Writing the result changes no operand."""
    before = [x.to_numpy() if isinstance(x, Mat) else x.copy() for x in operands]
    result.fill_(1)
    for x, old in zip(operands, before, strict=True):
        assert_array_equal(x, old)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
def test_results_are_those_of_arrays(rng, dtype, layout):
    values = numbers(rng, (3, 4), dtype)
    x = place(values, layout)
    result = delegate(np.roll, [x, 1], {"axis": 0})
    assert (type(result), result.dtype) == (Mat, values.dtype)
    assert_array_equal(result.to_numpy(), np.roll(values, 1, axis=0))
    check_alone(result, x)
    check_hidden(x)


@pytest.mark.parametrize("values", [np.float64(3), np.zeros((0, 3)), np.zeros((2, 0), "int8")])
def test_without_axes_and_without_elements(values):
    result = delegate(np.flip, [mat.array(values)])
    assert (result.shape, result.dtype) == (values.shape, values.dtype)


def test_bfloat16():
    result = delegate(np.flip, [mat.array([1, 2], "bfloat16")])
    assert (result.dtype.name, result.tolist()) == ("bfloat16", [2, 1])


def test_nested_operands_are_arrays_that_cannot_be_written():
    x = mat.arange(3.0)
    flags = delegate(lambda a, b: [a[0].flags.writeable, b["k"][1].flags.writeable, type(a)],
                     [[x, 1], {"k": (0, x)}])
    assert flags == [False, False, list]


def test_named_tuples_keep_their_class():
    x = mat.ones(2)
    result = delegate(lambda p: Pair(p.first + 1, {"k": [p.second]}), [Pair(x, 5)])
    assert type(result) is Pair
    assert result.first.tolist() == [2, 2]
    assert result.second == {"k": [5]}


def test_results_without_axes_are_mats_and_other_objects_are_not():
    x = mat.arange(4.0)
    assert isinstance(delegate(np.median, [x]), Mat)
    assert isinstance(delegate(np.all, [x]), Mat)
    assert delegate(np.array_equal, [x, x]) is True
    assert delegate(np.shape, [x]) == (4,)
    assert type(delegate(lambda a: np.datetime64(1, "s"), [x])) is np.datetime64


@pytest.mark.parametrize("dtype", ["object", "S3", "M8[s]", ">f8", "V4", "longdouble"])
def test_other_dtypes_stay_arrays(dtype):
    result = delegate(lambda a: a.astype("int64").astype(dtype), [mat.ones(2)])
    assert (type(result), result.dtype) == (np.ndarray, np.dtype(dtype))


# Whose memory it is


@pytest.mark.parametrize("function", [seen, np.real, np.asarray, np.asarray_chkfinite])
def test_an_operand_that_is_returned_is_that_mat(function):
    x = mat.array(np.arange(6.0).reshape(2, 3))
    assert delegate(function, [x]) is x
    first, second = delegate(lambda *operands: operands, [x, x[0]])
    assert first is x
    assert second.storage is x.storage


@pytest.mark.parametrize("function", [
    np.transpose, np.ravel, lambda a: a[1:], lambda a: a[::-1],
    lambda a: np.broadcast_to(a, (2, *a.shape)), lambda a: a.view("int64"),
    lambda a: np.lib.stride_tricks.sliding_window_view(a, 2, 0)])
def test_views_of_an_operand_are_copied(function):
    x = mat.array(np.arange(6.0).reshape(2, 3))
    result = delegate(function, [x])
    assert_array_equal(result.to_numpy(), function(x.to_numpy()))
    check_alone(result, x)


def test_the_users_arrays_are_not_adopted_either():
    x, given = mat.ones(3), np.arange(3.0)
    first, second = delegate(np.broadcast_arrays, [x, given])
    check_alone(first, x)
    check_alone(second, given)
    check_alone(delegate(lambda a: CACHE[1:], [x]), CACHE)
    check_alone(delegate(lambda a: np.frombuffer(bytearray(16)), [x]))


def test_results_that_share_memory_with_each_other_are_parted():
    rows, columns = delegate(np.nonzero, [mat.ones(2, 2)])
    before = columns.tolist()
    with rows.facet("backing", "io") as b:
        b[...] = -1
    assert columns.tolist() == before


@pytest.mark.unchecked("compares addresses")
def test_memory_of_the_result_alone_is_not_copied():
    kept = []

    def fresh(a):
        kept.append((a + 1).ctypes.data)
        result = a + 1
        kept[0] = result.ctypes.data
        return result.reshape(3, 1)

    result = delegate(fresh, [mat.ones(3)])
    with result.facet("array", "input") as a:
        assert a.ctypes.data == kept[0]


def test_arrays_of_other_dtypes_do_not_share_an_operands_memory():
    x = mat.ones(2)
    result = delegate(lambda a: a.view("V8"), [x])
    assert result.base is None
    masked = delegate(lambda a: np.ma.masked_array(a, copy=False), [x])
    masked[0] = 5
    assert x.tolist() == [1, 1]


# What is written


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("in_place", [False, True])
def test_out_is_written_and_returned(rng, layout, in_place):
    values = numbers(rng, (3, 4), "float64")
    x, out = place(values, layout), place(np.zeros((3, 4)), layout)
    assert delegate(np.arctan, [x], {"out": out}, in_place=in_place) is out
    assert_array_equal(out.to_numpy(), np.arctan(values))
    check_hidden(out)


def test_several_outs():
    x, whole = mat.array([1.25, -2.5]), mat.zeros(2)
    part, same = delegate(np.modf, [x], {"out": (None, whole)})
    assert same is whole
    assert (part.tolist(), whole.tolist()) == ([0.25, -0.5], [1, -2])


@pytest.mark.parametrize("in_place", [False, True])
def test_out_can_be_an_operand(in_place):
    x = mat.array([0.0, 1.0])
    assert delegate(np.add, [x, x], {"out": x}, in_place=in_place) is x
    assert x.tolist() == [0, 2]


@pytest.mark.parametrize("in_place", [False, True])
def test_out_is_unchanged_where_where_is_false(in_place):
    out = mat.array([5.0, 5.0])
    delegate(np.add, [mat.ones(2), 1], {"out": out, "where": mat.array([True, False], "bool")},
             in_place=in_place)
    assert out.tolist() == [2, 5]


def test_an_array_as_out_stays_an_array():
    given = np.zeros(2)
    assert delegate(np.add, [mat.ones(2), 1], {"out": given}) is given
    assert given.tolist() == [2, 2]


@pytest.mark.parametrize("in_place", [False, True])
def test_operands_that_are_changed(in_place):
    x = place(np.arange(4.0), "strided")
    values = mat.array([8.0, 9])
    assert delegate(np.put, [x, [0, 3], values], written=[x], in_place=in_place) is None
    assert x.tolist() == [8, 1, 2, 9]
    check_hidden(x)


def test_a_failure_changes_nothing():
    x, out = mat.ones(2), mat.arange(2.0)
    before = state(out)
    with pytest.raises(Deliberate):
        delegate(spoil, [x], {"out": out})
    assert state(out) == before
    with pytest.raises(ValueError, match="read-only"):
        delegate(np.ndarray.sort, [x])


def test_writing_during_another_access_is_refused():
    x, out = mat.ones(2), mat.zeros(2)
    with out.facet("backing", "input"), mat.use_device("emulated"), out.facet("emulated", "input"):
        with pytest.raises(ConflictError, match=r"test_numpy_fallback\.py"):
            delegate(np.arctan, [x], {"out": out})
        assert delegate(np.arctan, [out]).tolist() == [0, 0]


def test_what_cannot_be_written():
    x = mat.ones(1, 2)
    with pytest.raises(AliasError):
        delegate(np.arctan, [x], {"out": x.broadcast_to(3, 2)})
    fixed = np.ones(2)
    fixed.flags.writeable = False
    with pytest.raises(DirectionError, match="read-only"):
        delegate(np.put, [mat.from_numpy(fixed), 0, 5], written=[mat.from_numpy(fixed)])


def test_overwriting_repairs_torn_data_but_reading_does_not():
    x = mat.array([1.0, 2])
    with pytest.raises(Deliberate), x.facet("array", "io"):
        raise Deliberate
    with pytest.raises(TornError):
        delegate(np.arctan, [x])
    assert delegate(np.arctan, [mat.zeros(2)], {"out": x}).tolist() == [0, 0]


# Devices


@pytest.mark.host
def test_data_is_copied_to_the_host_and_the_fallback_is_reported():
    x = mat.arange(3.0)
    with mat.use_device("emulated"):
        y = x + 1
        with mat.debug.count_copies() as n:
            result = delegate(np.median, [y])
        assert (n.h2d, n.d2h, n.fallbacks) == (0, 1, 1)
        assert result.item() == 2
        assert y.fresh == {"emulated", "host"}


@pytest.mark.host
def test_no_fallback_where_the_host_was_meant():
    with mat.settings(device_enabled=False):
        x = mat.arange(3.0)
    with mat.use_device("emulated"), mat.debug.count_copies() as n:
        result = delegate(np.median, [x])
    assert n.fallbacks == 0
    assert not result.device_enabled
