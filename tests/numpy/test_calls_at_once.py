"""Ordinary calls of NumPy with small Mats, which are carried out without opening accesses: what
they compute, stale copies, conflicts and exports.
"""

from __future__ import annotations

from threading import Thread
from typing import Any

import numpy as np
import pytest

import mat

A, B = np.linspace(-2.0, 3.0, 12).reshape(3, 4), np.linspace(5.0, 1.0, 12).reshape(3, 4)


def pair(layout: str) -> tuple[Any, Any]:
    """Return the same elements as an array and as a Mat, in another layout."""
    if layout == "packed":
        return A, mat.array(A)
    if layout == "rows":
        whole = np.concatenate([A, A])
        return whole[2:5], mat.array(whole)[2:5]
    if layout == "columns":
        return np.asfortranarray(A), mat.array(A.T).T
    return A.astype("float32"), mat.array(A.astype("float32"))


LAYOUTS = ("packed", "rows", "columns", "float32")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("call", [
    lambda xp, x, y: np.add(x, y), lambda xp, x, y: np.add(x, 2), lambda xp, x, y: np.add(2.5, x),
    lambda xp, x, y: np.exp(x), lambda xp, x, y: np.greater(x, 0), lambda xp, x, y: x.copy(),
    lambda xp, x, y: x.astype("float64"), lambda xp, x, y: x.astype("int32", copy=False),
    lambda xp, x, y: xp.array(x), lambda xp, x, y: np.zeros_like(x),
    lambda xp, x, y: np.stack([x, x], -1), lambda xp, x, y: np.stack([x, y], 1),
    lambda xp, x, y: np.outer(x, y), lambda xp, x, y: np.concatenate([x, y], -1),
    lambda xp, x, y: np.einsum("ij,kj->ik", x, y), lambda xp, x, y: np.einsum("ij,jk", x, y.T),
    lambda xp, x, y: np.einsum("i,i", x[0], y[1]), lambda xp, x, y: np.einsum("ij,j", x, y[2]),
    lambda xp, x, y: np.einsum("i,ij", x[:, 0], y), lambda xp, x, y: np.einsum("i,j", x[0], y[1])],
    ids=range(20))
def test_results_are_those_of_arrays(call: Any, layout: str) -> None:
    a, x = pair(layout)
    wanted, found = call(np, a, B), call(mat, x, mat.array(B))
    assert type(found) is mat.Mat
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    assert found.max_size == found.size  # a storage of its own
    np.testing.assert_allclose(np.asarray(found), wanted, 1e-6)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_arrays_and_lists_are_copies(layout: str) -> None:
    a, x = pair(layout)
    made = np.array(x)
    assert made.flags.writeable
    assert made.flags.owndata
    assert made.dtype == a.dtype
    np.testing.assert_array_equal(made, a)
    assert x.tolist() == a.tolist()
    made[:] = 0
    np.testing.assert_array_equal(x.to_numpy(), a)


def test_a_copy_of_an_array_follows_no_later_change() -> None:
    for a in (np.arange(6.0), np.arange(12.0)[::2], np.arange(6.0)[::-1], np.arange(6)):
        kept = a.copy()
        x = mat.array(a)
        a[0] = 7
        np.testing.assert_array_equal(x.to_numpy(), kept)
    assert mat.array(np.asfortranarray(A)).element_strides == (1, 3)


def test_assignments() -> None:
    for dtype in ("float64", "float32", "int16", "bool"):
        a, b = (A > 0).astype(dtype), np.zeros((5, 4), dtype)
        x, y = mat.array(a), mat.array(b)
        for index in (slice(1, 4), slice(0, 3), (slice(2, 5), slice(None)), (slice(4, 1, -1),)):
            b[index], y[index] = a, x
            np.testing.assert_array_equal(y.to_numpy(), b)
        y[:, 1:3], b[:, 1:3] = y[:, 2:], b[:, 2:].copy()
        np.testing.assert_array_equal(y.to_numpy(), b)


def test_assignments_to_parts_keep_the_rest() -> None:
    x, y = mat.array([1.0, 2.0, 3.0]), mat.array([7.0, 8.0])
    with mat.use_device("emulated"):
        x.add_(1.0)
    x[1:] = y
    with mat.use_device("emulated"):
        x.add_(1.0)
    assert x.tolist() == [3.0, 8.0, 9.0]
    z = mat.empty(2)
    z[...] = y
    assert z.tolist() == y.tolist()
    with pytest.raises(mat.DirectionError):
        mat.from_numpy(np.broadcast_to(np.zeros(2), 2))[...] = y
    kept = np.asarray(z)
    with pytest.raises(mat.ConflictError):
        z[...] = y
    assert kept.tolist() == y.tolist()


def test_what_is_stale_is_copied_first() -> None:
    x, z = mat.array([1.0, 2.0]), mat.zeros(2)
    with mat.use_device("emulated"):
        x.add_(1.0)
    for read in (lambda: x.copy().tolist(), lambda: np.array(x).tolist(), lambda: x.tolist(),
                 lambda: np.add(x, 0.0).tolist(), lambda: np.stack([x, x])[1].tolist()):
        assert read() == [2.0, 3.0]
        with mat.use_device("emulated"):
            x.add_(0.0)
    np.add(x, x, out=z)
    with mat.use_device("emulated"):
        z *= 2.0
    assert np.add(z, 1.0, out=z) is z
    assert z.tolist() == [9.0, 13.0]


def test_conflicts_are_errors() -> None:
    x, z = mat.array([1.0, 2.0]), mat.zeros(2)
    raised = []

    def in_another_thread() -> None:
        for call in (x.copy, x.tolist, lambda: np.array(x), lambda: np.add(x, 1.0),
                     lambda: np.add(z, 1.0, out=x), lambda: np.einsum("i,i", x, z)):
            with pytest.raises(mat.ConflictError):
                call()
            raised.append(call)

    with x.facet("array", "io"):
        thread = Thread(target=in_another_thread)
        thread.start()
        thread.join()
    assert len(raised) == 6


def test_an_export_keeps_a_mat_from_being_written() -> None:
    x = mat.array([1.0, 2.0])
    first, second = np.asarray(x), np.asarray(x)
    del second
    with pytest.raises(mat.ConflictError):
        np.add(x, 1.0, out=x)
    del first
    assert np.add(x, 1.0, out=x).tolist() == [2.0, 3.0]


def test_einsum_refuses_other_lengths() -> None:
    with pytest.raises(ValueError, match=r"einstein sum|broadcast"):
        np.einsum("i,i", mat.ones(3), mat.ones(4))
    assert np.einsum("i,i", mat.ones(1), mat.ones(4)) == 4.0  # which NumPy broadcasts


# Functions of few elements, which NumPy computes of copies

OF_FEW = [lambda x: np.roll(x, 1), lambda x: np.roll(x, (1, -1), (0, 1)),
          lambda x: np.repeat(x, 2, 0), lambda x: np.tile(x, (2, 1)), lambda x: np.pad(x, 1),
          lambda x: np.tril(x), lambda x: np.triu(x, 1), lambda x: np.trace(x),
          lambda x: np.einsum("ij,ij->i", x, x), lambda x: np.argsort(x, 0),
          lambda x: np.array_equal(x, x + 0), lambda x: np.searchsorted(np.sort(x[0]), x),
          lambda x: np.median(x, 0), lambda x: np.isin(x, x[0]), lambda x: np.diff(x, axis=0),
          lambda x: np.nonzero(x), lambda x: np.unique(x), lambda x: x.sum(0), lambda x: x.mean(),
          lambda x: x.argmax(1), lambda x: np.where(x > 2, x, 1), lambda x: np.split(x, 3),
          lambda x: np.diagonal(x), lambda x: np.vstack([x[0], x[1]]), lambda x: np.ravel(x),
          lambda x: np.column_stack([x[0], x[1]]), lambda x: np.hstack([x, x])]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "bool"])
@pytest.mark.parametrize("call", OF_FEW)
def test_functions_of_few_elements(call: Any, dtype: str) -> None:
    a = np.abs(np.arange(12).reshape(3, 4) - 5).astype(dtype)
    if dtype == "bool" and call is OF_FEW[14]:
        pytest.skip("NumPy refuses it for float results")
    found, wanted = call(mat.array(a)), call(a)
    if not isinstance(wanted, list | tuple):
        found, wanted = [found], [wanted]
    for one, expected in zip(found, wanted, strict=True):
        assert isinstance(one, mat.Mat | bool)
        np.testing.assert_array_equal(np.asarray(one), expected)
        assert np.asarray(one).dtype == np.asarray(expected).dtype


def test_functions_of_few_elements_see_what_a_device_has_written() -> None:
    x = mat.array(A)
    with mat.use_device("emulated"):
        x += 1
    np.testing.assert_array_equal(np.roll(x, 1), np.roll(A + 1, 1))


@pytest.mark.parametrize("call", OF_FEW[:15])
def test_functions_of_few_elements_conflict_with_writers(call: Any) -> None:
    x, errors = mat.array(A), []

    def read() -> None:
        try:
            call(x)
        except mat.ConflictError as error:
            errors.append(error)

    with x.facet("array", "io"):
        thread = Thread(target=read)
        thread.start()
        thread.join()
    assert len(errors) == 1


def test_functions_of_few_elements_write_where_they_are_told() -> None:
    x, y, z = mat.array(A), mat.zeros(4), mat.zeros(())
    assert np.median(x, 0, y) is y
    np.testing.assert_array_equal(y, np.median(A, 0))
    assert np.trace(x, 0, 0, 1, None, z) is z
    assert float(z) == np.trace(A)


def test_results_of_few_elements_share_no_memory_and_know_devices() -> None:
    x = mat.array(A)
    x.device_enabled = False
    found = np.tile(x, (1, 1))
    assert not np.shares_memory(found, x)
    assert not found.device_enabled
    assert np.shares_memory(x[1:], x)


def test_errors_of_functions_of_few_elements_are_as_ever() -> None:
    x = mat.array(A)
    with pytest.raises(mat.AxisError):
        np.roll(x, 1, 5)
    with pytest.raises(mat.ShapeError):
        mat.zeros(0, 3, dtype="uint8").max(0)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8", "uint8", "uint64",
                                   "float16", "bool", "complex64"])
def test_elements_in_place(dtype: str) -> None:
    a = np.arange(5).astype(dtype)
    x = mat.array(a)
    one = a[1]
    for k in range(5):
        x[k] += one
        a[k] += one
        x[k] = x[k]
    np.testing.assert_array_equal(x, a)
    if a.dtype.kind in "iu":
        with pytest.raises((mat.RangeError, mat.DTypeError)):
            x[0] = 1 << 70
        with pytest.raises((mat.RangeError, mat.DTypeError)):
            x[:] = -(1 << 65)
        x[1:4] = 100
        a[1:4] = 100
        np.testing.assert_array_equal(x, a)


@pytest.mark.parametrize("dtype", ["float64", "uint8"])
def test_operands_in_place_that_overlap_what_is_written(dtype: str) -> None:
    a = np.arange(20).reshape(4, 5).astype(dtype)
    x = mat.array(a)
    for one in (a, x):
        one[1:] += one[:-1]
        one[:, 1:] = one[:, :-1]
        one[::-1] -= one
        np.multiply(one[:2], one[2:], out=one[1:3])
    np.testing.assert_array_equal(x, a)
    with pytest.raises(mat.ShapeError):
        x[1:] += x[:-2]
    y = x.view()
    y.storage.writable = False
    with pytest.raises(mat.DirectionError):
        y[1:] += y[:-1]
