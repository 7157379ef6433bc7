"""Launches one after another from compiled code: reductions in two steps, and copies, for which the
alignment of the operands' addresses matters.
"""

import threading

import numpy as np
import pytest

import mat
from tests.support import needs

pytestmark = [pytest.mark.usefixtures("cuda"), needs.native]
N = 50_000


@pytest.mark.parametrize("name", ["sum", "max", "argmax", "mean", "var", "any"])
def test_long_reductions_of_other_values_are_right(dev, name):
    for seed in range(4):
        a = np.random.default_rng(seed).random(N)
        found = getattr(mat.array(a), name)()
        np.testing.assert_allclose(np.asarray(found), getattr(a, name)(), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["u1", "f2", "f4", "f8", "c16"])
def test_copies_between_any_alignments_are_right(dev, dtype):
    a = (np.arange(4000) % 199).astype(dtype)
    x, wanted = mat.array(a), a.copy()
    for to, source, n in np.random.default_rng(1).integers(0, 1000, (60, 3)).tolist():
        x[to:to + n].assign_(x[2000 + source:2000 + source + n])
        wanted[to:to + n] = a[2000 + source:2000 + source + n]
        y = x[source + 2000:source + 2000 + n].copy()
        assert np.array_equal(np.asarray(y), wanted[source + 2000:source + 2000 + n])
    assert np.array_equal(np.asarray(x), wanted)


def test_conversions_between_any_alignments_are_right(dev):
    a = np.arange(3000, dtype="f4")
    x = mat.array(a)
    for start in range(9):
        for _ in range(3):
            assert np.array_equal(np.asarray(x[start:start + 1000].astype("i8")),
                                  a[start:start + 1000].astype("i8"))


def test_joined_parts_are_right_whatever_came_before(dev):
    for n in (10, N):
        for fill in (None, 3.0):
            a, b = np.arange(n, dtype="f8"), np.ones(n)
            x, y = mat.array(a), mat.array(b) if fill is None else mat.ones(n)
            for _ in range(3):
                assert np.array_equal(np.asarray(mat.concat([x, y, x])),
                                      np.concatenate([a, b, a]))
                assert np.array_equal(np.asarray(mat.stack([x, y], axis=1)), np.stack([a, b], 1))


def test_threads_share_the_workspace(cuda):
    rows = [np.random.default_rng(k).random(N) for k in range(4)]
    mats, wrong = [mat.array(a) for a in rows], []

    def sums(k):
        with mat.use_device("cuda", required=True):
            found = [float(mats[k].sum()) for _ in range(20)]
            wrong.extend(x for x in found if not np.isclose(x, rows[k].sum()))

    with mat.use_device("cuda", required=True):
        mats[0].sum(), mats[0].sum()
    threads = [threading.Thread(target=sums, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_workspace_is_returned(mock, dev):
    x = mat.array(np.ones(N))
    for _ in range(3):
        assert float(x.sum()) == N
    assert dev.gpu._scratch is not None
    dev.memory.trim()
    assert dev.gpu._scratch is None
    assert float(x.sum()) == N


def test_a_graph_records_them(dev):
    x, out = mat.array(np.ones(N)), mat.zeros(())

    @mat.graph
    def total(x, out):
        mat.sum(x, out=out)
        x.add_(1)

    for k in range(5):
        total(x, out)
        assert float(out) == N * (k + 1)
