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
