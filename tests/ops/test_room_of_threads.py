"""Threads that compute on a device whose pool has no room for the operands of all of them."""

import gc
import threading

import numpy as np
import pytest

import mat
from mat.ops.tiles.tile import Patience

from ..support.threads import in_threads

N = 250  # elements that each thread computes with: 2,000 bytes of float64

def steps(x, reference, rng):
    """Change a Mat and an array by the same random steps."""
    for _ in range(12):
        k = int(rng.integers(5))
        i, j = sorted(rng.integers(0, N, 2))
        if k == 0:
            x += 1
            reference += 1
        elif k == 1:
            x[i:j] *= 0.5
            reference[i:j] *= 0.5
        elif k == 2:
            assert np.isclose(float(x.sum()), reference.sum())
        elif k == 3:
            with x.facet("array") as a:
                assert np.allclose(a, reference)
        else:
            x[:j - i] = x[i:j].copy()
            reference[:j - i] = reference[i:j].copy()

@pytest.mark.unchecked("the check lengthens accesses, so that four threads can fill the pool")
@pytest.mark.parametrize("make", [mat.array, mat.from_numpy], ids=["own", "foreign"])
def test_threads_change_parts_of_one_mat(make):
    data = np.arange(4.0 * N)
    whole = make(data.copy())
    references = data.copy().reshape(4, N)

    def work(k):
        with mat.use_device("emulated"):
            steps(whole[k * N:(k + 1) * N], references[k], np.random.default_rng(k))

    with mat.use_device("emulated", pool_bytes=2000):
        in_threads(4, work)
    assert np.allclose(whole.to_numpy(), references.ravel())
    assert not whole.storage.accesses

@pytest.mark.unchecked("the check lengthens accesses, so that four threads can fill the pool")
def test_threads_compute_with_mats_of_their_own():
    def work(k):
        reference = np.arange(float(N)) + k
        x = mat.from_numpy(reference.copy())
        with mat.use_device("emulated"):
            steps(x, reference, np.random.default_rng(k))
        assert np.allclose(x.to_numpy(), reference)

    with mat.use_device("emulated", pool_bytes=2500):
        in_threads(4, work)

@pytest.mark.unchecked("the check lengthens accesses")
def test_a_call_waits_for_the_block_of_another_thread():
    x, y = mat.ones(N), mat.ones(N)
    begun, leave = threading.Event(), threading.Event()

    def hold(_):
        with mat.use_device("emulated"), y.facet("emulated"):
            begun.set()
            leave.wait(30)

    with mat.use_device("emulated", pool_bytes=8 * N + 24):
        holder = threading.Thread(target=hold, args=(0,))
        holder.start()
        begun.wait(30)
        timer = threading.Timer(0.05, leave.set)
        timer.start()
        try:
            assert float((x * 2.0).sum()) == 2 * N
        finally:
            leave.set()
            holder.join()
            timer.join()

def test_a_call_does_not_wait_for_its_own_thread():
    x, y = mat.ones(N), mat.ones(N)
    with (mat.use_device("emulated", pool_bytes=8 * N + 8), y.facet("emulated"),
          pytest.raises(mat.OutOfDeviceMemory) as raised):
        x * 2.0
    assert not raised.value.used_by_others
    with mat.use_device("emulated") as device:
        assert not Patience(device).lasts(raised.value)

def test_a_call_gives_up(monkeypatch):
    monkeypatch.setattr("mat.ops.tiles.tile.PATIENCE", 0.02)
    x, y = mat.ones(N), mat.ones(N)
    begun, leave = threading.Event(), threading.Event()

    def hold():
        with mat.use_device("emulated"), y.facet("emulated"):
            begun.set()
            leave.wait(30)

    with mat.use_device("emulated", pool_bytes=8 * N + 8):
        holder = threading.Thread(target=hold)
        holder.start()
        begun.wait(30)
        try:
            with pytest.raises(mat.OutOfDeviceMemory):
                x * 2.0
        finally:
            leave.set()
            holder.join()
    assert (x == 1).all()


def test_a_part_whose_mat_is_gone_is_used_by_nobody():
    """Such a part has a new lock each time that it is asked for it."""
    x = mat.arange(100_000.0)
    with mat.use_device("emulated") as device:
        with x[:50_000].facet("emulated", "input"):
            parts = [lease.cube() for lease in device.memory._leases.values() if lease.cube]
        del x
        gc.collect()
        assert parts
        assert not any(device.memory._is_used_elsewhere(part) for part in parts)
