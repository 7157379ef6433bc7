"""``mat.batches`` on a GPU: bytes by epoch, page-locked memory, and copies beside computations."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat

pytestmark = pytest.mark.usefixtures("cuda")
N, SIZE, EPOCHS = 2000, 300, 3
NBYTES, ORDER = 168 * N, 8 * N


@pytest.fixture
def mats():
    """Rows of 20 numbers and a label each."""
    return mat.array(np.arange(20.0 * N).reshape(N, 20)), mat.array(np.arange(N))


@pytest.mark.parametrize(("pool", "shuffle", "wanted"), [
    (1_000_000, False, [NBYTES, 0, 0]), (1_000_000, True, [NBYTES + ORDER, ORDER, ORDER]),
    (200_000, False, [NBYTES, 160 * N, 160 * N]),  # the labels stay
    (200_000, True, [NBYTES] * EPOCHS)])
def test_bytes_by_epoch(mats, pool, shuffle, wanted):
    x, y = mats
    found = []
    with mat.debug.trace() as t, mat.use_device("cuda", pool_bytes=pool, required=True):
        for _ in range(EPOCHS):
            for a, b in mat.batches(x, y, size=SIZE, shuffle=shuffle):
                a.sum(axis=1) + b
            found.append(sum(c.nbytes for c in t.copies if c.source == "host"))
    assert np.diff([0, *found]).tolist() == wanted


@pytest.mark.parametrize("pool", [1_000_000, 300_000])
def test_the_rows_are_those_of_the_host(mats, pool):
    x, y = mats
    def rows():
        return np.concatenate([(a + 0).to_numpy() for a, _ in mat.batches(
            x, y, size=SIZE, shuffle=True, seed=5)])
    wanted = rows()
    with mat.use_device("cuda", pool_bytes=pool, required=True):
        assert_array_equal(rows(), wanted)


@pytest.mark.unchecked("the check has pages of its own, which are not locked")
def test_selections_for_the_device_are_page_locked(mats):
    x, y = mats
    with mat.debug.trace() as t, mat.use_device("cuda", pool_bytes=300_000, required=True):
        for a, _ in mat.batches(x, y, size=SIZE, shuffle=True):
            a + 1
    assert {c.page_locked for c in t.copies if c.nbytes == 160 * SIZE} == {True}


@pytest.mark.unchecked("the check waits for the device at the end of each access")
def test_the_host_does_not_wait_for_selections(cuda, dev, mats):
    x, _ = mats
    x = mat.concat([x] * 10)
    cuda.delay()
    before = [cuda.calls(name) for name in ("cuStreamSynchronize", "cuCtxSynchronize")]
    big = [a * 2 for a in mat.batches(x, size=2000, shuffle=True)]
    assert [cuda.calls(name) for name in ("cuStreamSynchronize", "cuCtxSynchronize")] == before
    assert_array_equal(np.sort(np.concatenate([b.to_numpy() for b in big]), axis=0),
                       np.sort(2 * x.to_numpy(), axis=0))
