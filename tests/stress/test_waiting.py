"""Signals that arrive while a thread waits: for a lock, for a device, or for a prefetch."""

import signal
import threading

import pytest

import mat

from .children import outcome_of
from .invariants import DEVICES, by_another_thread, in_use, open_accesses, pool_faults

pytestmark = [pytest.mark.host, pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")]


def busy_device(release):
    """Compute on the device, which is busy with that until it is released."""
    inside = threading.Event()

    def work():
        inside.set()
        assert release.wait(60)

    def run():
        with mat.use_device("emulated") as dev:
            dev.launch(work)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert inside.wait(10)
    return thread


def copying(x):
    """Copy `x` to the device that is busy: a thread has its lock for as long."""
    def run():
        with mat.use_device("emulated"):
            x + x

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(0.1)
    return thread


def operate(x):
    x += 1


def read(x):
    x.to_numpy()


def write(x):
    with x.facet("array", "io") as a:
        a[...] = 2


def compute_on_device(x):
    with mat.use_device("emulated"):
        x + x


def group(x):
    with mat.with_facets((x, "array", "input"), (mat.ones(1), "array")):
        pass


def prefetch(x):
    with mat.use_device("emulated"), mat.prefetch(to_device=[x]):
        pass


def drop(x):
    x.drop("emulated", force=True)


def export(x):
    memoryview(x.__array__())


@pytest.mark.sample(4)
@pytest.mark.parametrize("call", [operate, read, write, compute_on_device, group, prefetch, drop,
                                  export], ids=lambda f: f.__name__)
def test_an_interrupt_of_a_wait(call):
    """The wait ends, at once or when the lock is free, and nobody has the lock afterwards."""
    def run():
        x, release = mat.array([1.0, 2, 3]), threading.Event()
        threads = [busy_device(release), copying(x)]
        timers = [threading.Timer(0.4, release.set)]
        timers[0].start()

        def interrupt(number, frame):
            raise KeyboardInterrupt

        signal.signal(signal.SIGALRM, interrupt)
        signal.setitimer(signal.ITIMER_REAL, 0.15)
        try:
            try:
                call(x)
            except mat.ConflictError:  # it came in between
                pass
            release.wait(10)
        except KeyboardInterrupt:
            pass
        release.wait(10)
        for thread in threads + timers:
            thread.join(10)
        found = open_accesses({"x": x}) or in_use() or by_another_thread({"x": x})
        x.drop("emulated")
        return "; ".join(found or pool_faults(*DEVICES))

    text = outcome_of(run, 60)
    assert not text, text
