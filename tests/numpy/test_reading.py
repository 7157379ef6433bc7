"""Accesses of functions that NumPy computes for Mats, and small Mats that are joined at once."""

import collections
import operator
import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat import ConflictError, DTypeError, Mat, ShapeError
from mat.matrix.delegate import delegate


def is_free(x):
    """Return whether no access to `x` is open, in this thread or in another one."""
    x.reshape_(*x.shape)  # raises otherwise
    return True


def test_accesses_end_with_the_function_and_with_its_error():
    x, y = mat.arange(3.0), mat.ones(3)

    def fail(a, b):
        assert not a.flags.writeable
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        delegate(fail, [x, [y]])
    assert is_free(x)
    assert is_free(y)
    assert delegate(lambda a, b: (a + b[0]).tolist(), [x, [y]]) == [1, 2, 3]
    assert is_free(x)
    assert is_free(y)


def test_a_conflict_over_one_operand_frees_the_others():
    x, y = mat.ones(3), mat.ones(3)
    entered, leave = threading.Event(), threading.Event()

    def write():
        with y.facet("array", "io"):
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=write)
    thread.start()
    entered.wait(10)
    try:
        with pytest.raises(ConflictError):
            mat.lexsort((x, y))
        assert is_free(x)
    finally:
        leave.set()
        thread.join()
    assert mat.lexsort((x, y)).tolist() == [0, 1, 2]


def test_a_mat_that_is_given_twice_is_one_array():
    x = mat.ones(2)
    assert delegate(lambda a, b, c: a is b is c["x"][0], [x, x, {"x": (x,)}])


def test_dicts_without_mats_are_given_as_they_are():
    x, seen = mat.ones(2), collections.OrderedDict(a=1)
    delegate(lambda a, found: found.update(b=a.sum()), [x, seen])
    assert seen == {"a": 1, "b": 2}
    assert delegate(lambda found: type(found["x"]) is np.ndarray, [collections.OrderedDict(x=x)])


def test_an_error_about_writing_says_which_operand_is_read():
    with pytest.raises(ValueError, match="read-only") as caught:
        delegate(lambda a: a.fill(0), [mat.ones(2)])
    assert "request 'io'" in caught.value.__notes__[0]


@pytest.mark.parametrize("make", [lambda v: [v], lambda v: (v,), lambda v: {"v": v}],
                         ids=["list", "tuple", "dict"])
def test_nests_that_have_no_end(make):
    value = 1.0
    for _ in range(200):
        value = make(value)
    with pytest.raises(ShapeError, match="nested more than"):
        delegate(lambda a: None, [value])


def test_results_share_memory_with_nothing():
    a = np.ones(3)
    x = mat.ones(4)
    for found in (delegate(lambda b: b, [a]), delegate(lambda b: b[1:], [x]),
                  delegate(lambda b, c: c, [x, a])):
        assert isinstance(found, Mat)
        found.fill_(5)
    assert_array_equal(a, np.ones(3))
    assert_array_equal(x, np.ones(4))


# Floor division, remainder and bits


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint16", "float32", "bool"])
@pytest.mark.parametrize("apply", [operator.floordiv, operator.mod, operator.and_,
                                   operator.lshift], ids=lambda f: f.__name__)
def test_decisions_about_operands_are_remembered_by_their_types(apply, dtype):
    """The second call takes the way that the first one found; values are checked each time."""
    a = np.array([1, 0, 1, 1], dtype)
    x = mat.array(a)
    for other in (3, 2.5, True, a[::-1].copy(), np.int8(2), 3, 2.5, a[::-1].copy()):
        operand = mat.array(other) if isinstance(other, np.ndarray) else other
        for ours, theirs in (((x, operand), (a, other)), ((operand, x), (other, a))):
            with np.errstate(all="ignore"):
                try:
                    wanted = apply(*theirs)
                except TypeError:
                    with pytest.raises(TypeError):
                        apply(*ours)
                    continue
            got = apply(*ours)
            assert got.dtype == wanted.dtype
            assert_array_equal(got, wanted)


def test_a_number_out_of_range_is_refused_after_others_were_taken():
    x = mat.arange(3, dtype="int8")
    assert (x // 2).tolist() == [0, 0, 1]
    for _ in range(2):
        with pytest.raises(DTypeError, match="out of the range"):
            x // 300
    assert (x % -5).tolist() == [0, -4, -3]


# Joining


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex128"])
def test_rows_of_every_length(dtype):
    for width in range(1, 20):
        a = np.arange(3 * width).reshape(3, width).astype(dtype)
        b = np.ones((3, 2), dtype)
        x, y = mat.array(a), mat.array(b)
        assert_array_equal(mat.concat([x, y, x], axis=1), np.concatenate([a, b, a], axis=1))
        assert_array_equal(mat.hstack([y, x]), np.hstack([b, a]))


@pytest.mark.parametrize("name", ["hstack", "vstack", "dstack", "column_stack"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 3, 2)])
def test_stacking_raises_the_rank(name, shape):
    a = np.arange(int(np.prod(shape)), dtype=float).reshape(shape)
    found, wanted = getattr(mat, name)([mat.array(a), mat.array(-a)]), getattr(np, name)([a, -a])
    assert found.shape == wanted.shape
    assert_array_equal(found, wanted)


@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize("parts", [
    [np.arange(3.0), np.ones(3)], [np.float32(1), np.float32(2)], [np.ones((2, 2)), np.eye(2)],
    [np.arange(3), np.ones(3)], [np.arange(6.0)[::2], np.arange(6.0)[1::2]], [np.ones((0, 2))]],
    ids=["vectors", "numbers", "matrices", "different", "strided", "empty"])
def test_sequences_of_mats_are_stacked(parts, kind):
    wanted = np.array(parts)
    mats = kind(mat.array(p) if p.ndim == 0 or p.base is None else mat.from_numpy(p)
                for p in map(np.asarray, parts))
    for found in (mat.array(mats), mat.asarray(mats), mat.add(mats, 0), mat.array(mats, ndmin=3)):
        assert found.dtype == wanted.dtype
        assert_array_equal(found.reshape(wanted.shape), wanted)
    if wanted.size:
        assert_array_equal(mat.min(mats, axis=0), np.min(wanted, axis=0))
    found = mat.array(mats)
    found[...] = 7
    assert_array_equal(mats[0], parts[0])


def test_sequences_of_mats_of_different_lengths():
    with pytest.raises(ShapeError):
        mat.array([mat.ones(2), mat.ones(3)])


def test_a_stacked_mat_computes_where_new_ones_do():
    with mat.settings(device_enabled=False):
        x = mat.ones(2)
    assert mat.array([x, x]).device_enabled
    with mat.settings(device_enabled=False):
        assert not mat.array([mat.ones(2)] * 2).device_enabled
