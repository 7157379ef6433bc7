"""Large copies of pageable memory go through page-locked buffers, which threads fill and empty."""

import gc
import importlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.support.native import lib

from .computing import add, only_there, there

pytest.importorskip("cuda.core", reason="cuda-python is not installed")

pytestmark = [pytest.mark.host, pytest.mark.skipif(lib is None, reason="nothing is compiled")]
PIECE, BUFFERS = 4 << 20, 3
MB = 1 << 20


@pytest.fixture
def staging(monkeypatch):
    found = importlib.import_module("mat.cuda.runtime.staging")
    monkeypatch.setattr(found, "_stages", {})
    gc.collect()  # what other tests left is copied home now, not while copies fail on purpose
    return found


def some(rng, n):
    return rng.integers(0, 255, n, np.uint8)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("n", [1000, MB, MB + 1, PIECE, PIECE + 1, 5 * PIECE, 5 * PIECE - 7])
def test_pieces_both_ways(cuda, dev, rng, n, threads):
    values = some(rng, n)
    pieces = -(-n // PIECE) if n > MB and threads > 1 else 1
    with mat.settings(threads=threads):
        x = mat.from_numpy(values.copy())
        before = cuda.copies("h2d")
        there(x)
        assert cuda.copies("h2d") - before == pieces
        only_there(x)
        before = cuda.copies("d2h")
        assert_array_equal(x.to_numpy(), values)
        assert cuda.copies("d2h") - before == pieces


def test_parts_of_storages_are_staged(cuda, dev, rng):
    values = some(rng, 3 * PIECE)
    with mat.settings(threads=2):
        x = only_there(mat.from_numpy(values.copy()))
        part = x[100:PIECE + 200]
        with part.facet("array", "io") as a:
            a += 1
        with x.facet("cuda", "input"):
            pass
    values[100:PIECE + 200] += 1
    assert_array_equal(x.to_numpy(), values)


def test_the_trace_has_one_copy(cuda, dev, rng):
    with mat.settings(threads=2), mat.debug.count_copies() as n:
        only_there(mat.from_numpy(some(rng, 5 * PIECE))).to_numpy()
    assert (n.h2d, n.d2h, n.bytes) == (1, 1, 10 * PIECE)


@pytest.mark.unchecked("writes behind the back of a Mat on purpose")
def test_the_source_is_read_when_the_copy_returns(cuda, dev, rng, staging):
    cuda.delay()
    values = some(rng, 5 * PIECE)
    given = values.copy()
    with mat.settings(threads=2):
        x = mat.from_numpy(given, exclusive=True)
        there(x)
        given[:] = 7  # if it were still to be read, this would be
        only_there(x)
        assert_array_equal(x.to_numpy(), values)


def test_what_is_queued_before_is_waited_for(cuda, dev, staging):
    cuda.delay()
    with mat.settings(threads=2):
        x = add(mat.zeros(PIECE // 4), 3)
        assert_array_equal(add(x).to_numpy(), np.full(PIECE // 4, 4.0))


def test_few_pages_are_locked(cuda, dev, rng, staging):
    pool = importlib.import_module("mat.cuda.runtime.pinned").POOL
    before = pool.in_use
    with mat.settings(threads=2):
        for n in (2 * MB, 10 * PIECE):
            only_there(mat.from_numpy(some(rng, n))).to_numpy()
    assert pool.in_use - before <= BUFFERS * PIECE + (2 * MB)


def test_without_lockable_pages_the_driver_copies(cuda, dev, rng, staging):
    values = some(rng, 2 * PIECE)
    pool = importlib.import_module("mat.cuda.runtime.pinned").POOL
    pool.trim()
    cuda.fail("cuMemHostAlloc", times=1000)
    with mat.settings(threads=2):
        x = mat.from_numpy(values.copy())
        before = cuda.copies("h2d")
        there(x)
        assert cuda.copies("h2d") - before == 1
        assert_array_equal(only_there(x).to_numpy(), values)


# Interrupts


class Interrupted:
    """A copy on the host, or an event, that an interrupt ends before or after it is done."""

    def __init__(self, function, at, after):
        self.function, self.at, self.after, self.calls = function, at, after, 0

    def __call__(self, *arguments):
        self.calls += 1
        if self.calls != self.at:
            return self.function(*arguments)
        if self.after:
            self.function(*arguments)
        raise KeyboardInterrupt


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", [1, 2, 4])
@pytest.mark.parametrize("name", ["copy_array", "put"])
def test_an_interrupted_copy_to_the_device(cuda, dev, rng, staging, monkeypatch, name, at, after):
    cuda.delay()
    values = some(rng, 4 * PIECE)
    with mat.settings(threads=2):
        x = mat.from_numpy(values.copy())
        with monkeypatch.context() as m:
            m.setattr(staging, name, Interrupted(getattr(staging, name), at, after))
            with pytest.raises(KeyboardInterrupt):
                there(x)
        assert x.fresh == {"host"}
        y = some(rng, 3 * PIECE)
        assert_array_equal(only_there(mat.from_numpy(y.copy())).to_numpy(), y)
        assert_array_equal(only_there(x).to_numpy(), values)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", [1, 2, 4])
@pytest.mark.parametrize("name", ["copy_array", "get"])
def test_an_interrupted_copy_to_the_host(cuda, dev, rng, staging, monkeypatch, name, at, after):
    cuda.delay()
    values = some(rng, 4 * PIECE)
    with mat.settings(threads=2):
        x = only_there(mat.from_numpy(values.copy()))
        with monkeypatch.context() as m:
            m.setattr(staging, name, Interrupted(getattr(staging, name), at, after))
            with pytest.raises(KeyboardInterrupt):
                x.to_numpy()
        assert x.fresh == {"cuda:0"}
        y = some(rng, 3 * PIECE)
        z = mat.from_numpy(y.copy())
        there(z)  # through buffers that the interrupted copy may still fill
        assert_array_equal(only_there(z).to_numpy(), y)
        assert_array_equal(x.to_numpy(), values)


def test_threads_take_turns(cuda, dev, rng, staging):
    cuda.delay()
    values = [some(rng, 3 * PIECE) for _ in range(3)]

    def both(v):
        with mat.use_device("cuda"), mat.settings(threads=2):
            return only_there(mat.from_numpy(v.copy())).to_numpy()

    with ThreadPoolExecutor(3) as pool:
        for v, found in zip(values, pool.map(both, values), strict=True):
            assert_array_equal(found, v)
