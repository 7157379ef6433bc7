"""Forks while other threads compute on a device or access a Mat: the child starts afresh."""

import gc
import threading
from contextlib import contextmanager

import pytest

import mat
from mat.core.registry import memory_named
from mat.devices.device import device_named

from .children import outcome_of

pytestmark = [pytest.mark.host, pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")]
SECONDS = 10


@contextmanager
def meanwhile(*bodies):
    """Have each of `bodies` run in a thread up to the call of its argument, while a block runs."""
    faults, release, threads = [], threading.Event(), []

    def run(body, inside):
        def pause(*_):
            inside.set()
            assert release.wait(60)
        try:
            body(pause)
        except BaseException as error:
            faults.append(error)
            inside.set()

    for body in bodies:
        inside = threading.Event()
        thread = threading.Thread(target=run, args=(body, inside), daemon=True)
        thread.start()
        threads.append(thread)
        inside.wait(2)  # a body that waits for another one never gets there
    try:
        yield
    finally:
        release.set()
        for thread in threads:
            thread.join(60)
    assert not faults, faults


def compute_on_device():
    with mat.use_device("emulated"):
        y = mat.ones(3) + 1
    assert y.to_numpy().tolist() == [2, 2, 2]
    assert mat.memory_report().by_memory["emulated"]["limit"] is None


def launching(pause):
    """Compute on the device: its lock is held."""
    with mat.use_device("emulated") as dev:
        dev.launch(lambda: pause())


def test_a_device_that_computes():
    with meanwhile(launching):
        text = outcome_of(compute_on_device, SECONDS)
    assert not text, text
    compute_on_device()


@pytest.mark.parametrize("direction", ["input", "io", "output"])
@pytest.mark.parametrize("facet", ["array", "emulated"])
def test_an_access(facet, direction):
    x = mat.zeros(3).fill_(1)

    def access(pause):
        with mat.use_device("emulated"), x.facet(facet, direction) as a:
            if direction != "input":
                if facet == "array":
                    a[...] = 1
                else:
                    device_named("emulated").launch(lambda b: b.fill(1), a)
            pause()

    def use():
        assert not any(state.watchers for state in x.facets.values())
        for name in ("array", "backing"):
            with x.facet(name, "output") as a:
                a[...] = 4
        x.drop("emulated")
        y = x + x
        assert y.to_numpy().tolist() == [8, 8, 8]
        compute_on_device()

    with meanwhile(access):
        text = outcome_of(use, SECONDS)
    assert not text, text
    assert x.to_numpy().tolist() == [1, 1, 1]


def test_own_accesses_of_the_thread_that_forks():
    x = mat.zeros(3).fill_(1)

    def use():
        assert x.to_numpy().tolist() == [1, 1, 1]

    with x.facet("array", "io") as a:
        a[...] = 1
        text = outcome_of(use, SECONDS)
    assert not text, text


def test_blocks_between_the_pool_and_their_use():
    """In a child, those that only another thread had are free."""
    with mat.use_device("emulated"):
        kept = mat.ones(3) + 1
        compute_on_device()
    memory = memory_named("emulated")
    take = memory.take

    def for_a_call(pause):
        block = take(48)
        pause()
        memory.free(block)

    def for_exports(pause):
        exported.append(take(48))
        memory.retain(exported[0])
        pause()
        memory.free(exported[0])

    def use():
        memory.trim()
        assert memory.used == before + 48
        compute_on_device()
        assert kept.to_numpy().tolist() == [2, 2, 2]

    exported = []
    gc.collect()
    before = memory.used
    with meanwhile(for_a_call, for_exports):
        assert memory.used == before + 96
        text = outcome_of(use, SECONDS)
    assert not text, text


@pytest.mark.slow
def test_a_copy_under_way():
    """A thread holds the lock of a Mat that it copies to a device, and the device is busy."""
    x = mat.zeros(3).fill_(1)

    def copying(pause):
        with mat.use_device("emulated"):
            x + x
            pause()

    def use():
        assert float(x.sum()) == 3
        x.fill_(2)
        compute_on_device()
        with mat.use_device("emulated"):
            assert float((x + x).sum()) == 12

    with meanwhile(launching, copying):
        text = outcome_of(use, SECONDS)
    assert not text, text
    assert float(x.sum()) == 3


def test_limits_and_keeps_of_other_threads():
    x = mat.zeros(3).fill_(1)

    def block(pause):
        with mat.use_device("emulated", pool_bytes=100), x.keep("emulated"), x.keep("host"):
            pause()

    def use():
        compute_on_device()
        with mat.use_device("emulated"):
            mat.ones(1000) + 1
        x.drop("emulated", force=True)

    with meanwhile(block):
        text = outcome_of(use, SECONDS)
    assert not text, text


@pytest.mark.slow
def test_numbers_that_are_drawn():
    """A generator's lock is free in the child."""
    rng = mat.Rng(3)

    def draw(pause):
        with mat.use_device("emulated") as dev:
            dev.launch(lambda: pause())

    def use():
        with mat.use_device("emulated"):
            mat.zeros(3).uniform_(rng=rng)
        assert rng.counter

    with meanwhile(draw, lambda pause: drawing(rng)):
        text = outcome_of(use, SECONDS)
    assert not text, text


def drawing(rng):
    with mat.use_device("emulated"):
        mat.zeros(3).uniform_(rng=rng)


def test_a_freed_block_that_another_thread_was_about_to_use(monkeypatch):
    """The last block that was freed: its Mat is gone, and it is queued no more."""
    memory = memory_named("emulated")
    fit = memory.fit

    def using(pause):
        def pausing(handle, nbytes):
            if threading.current_thread() is not threading.main_thread():
                pause()
            return fit(handle, nbytes)

        with mat.use_device("emulated"):
            x = mat.ones(1000) + 1
            memory.trim()
            del x
            monkeypatch.setattr(memory, "fit", pausing)
            mat.ones(1000) + 1

    def use():
        with mat.use_device("emulated", pool_bytes=200):
            y = mat.ones(3) + 1
        assert y.to_numpy().tolist() == [2, 2, 2]

    with meanwhile(using):
        text = outcome_of(use, SECONDS)
    assert not text, text
    compute_on_device()
