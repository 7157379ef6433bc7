"""Threads that read, write, drop and collect garbage together: values are always of one write,
conflicts are said at once and can be retried, copies are made once, and nothing hangs, for every
thread is waited for a bounded time only.
"""

import contextlib
import faulthandler
import gc
import sys
import threading
import time
from random import Random

import numpy as np
import pytest

import mat
from mat.core.compiled import _PythonLock

from ..support import selection
from ..support.mock_memories import Fault, registered

SECONDS = 40  # after which a test counts as hanging


@pytest.fixture
def world():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    faulthandler.dump_traceback_later(2 * SECONDS, exit=True)
    try:
        with registered() as world:
            yield world
    finally:
        faulthandler.cancel_dump_traceback_later()
        sys.setswitchinterval(interval)


def together(*calls):
    """Run all at once, each in its thread; raise what the first of them raises."""
    faults, start = [], threading.Barrier(len(calls))

    def run(call):
        try:
            start.wait(SECONDS)
            call()
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=run, args=(call,), daemon=True) for call in calls]
    for thread in threads:
        thread.start()
    end = time.monotonic() + SECONDS
    for thread in threads:
        thread.join(max(0.1, end - time.monotonic()))
    if any(thread.is_alive() for thread in threads):
        faulthandler.dump_traceback()
        pytest.fail("a thread hangs")
    if faults:
        raise faults[0]


def retried(call):
    """What `call` gives once there is no conflict."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        try:
            return call()
        except mat.ConflictError:
            time.sleep(0)
    raise TimeoutError("in the way for ever")


def write(x, facet, number):
    with x.facet(facet, "output") as a:
        for part in np.array_split(a, 4):
            part[:] = number
            time.sleep(0)  # lets another thread in


def read(x, facet):
    """The one number that all elements are."""
    with x.facet(facet, "input") as a:
        found = set()
        for part in np.array_split(a, 4):
            found.update(part.tolist())
            time.sleep(0)
    assert len(found) == 1, found
    return found.pop()


FACETS = ("array", "near", "far")


def test_readers_never_see_two_writes(world):
    x = mat.zeros(64)
    written = [{0.0}, set()]

    def writer(k):
        for n in range(300):
            number = float(1000 * k + n)
            written[0].add(number)
            retried(lambda number=number, n=n: write(x, FACETS[n % 3], number))

    def reader(k):
        for n in range(300):
            written[1].add(retried(lambda n=n: read(x, FACETS[(n + k) % 3])))

    def dropper():
        for n in range(600):
            retried(lambda n=n: x.fresh - {"host"} and n % 5 == 0 and drop(x, FACETS[1 + n % 2]))

    together(lambda: writer(1), lambda: writer(2), lambda: reader(0), lambda: reader(1), dropper)
    assert written[1] <= written[0]
    assert read(x, "array") in {1299.0, 2299.0}
    assert not x.storage.accesses


def drop(x, name):
    """Drop a copy, or find that it is the only one."""
    try:
        return x.drop(name)
    except mat.ConflictError:
        return False


def test_failing_writers_are_never_seen(world):
    x = mat.zeros(64)
    x.fill_(5)

    def writer():
        for n in range(300):
            with pytest.raises(Fault):
                retried(lambda n=n: fail(x, FACETS[n % 2]))

    def fail(x, facet):
        # so that there is a copy to go back to
        with x.facet("far", "input"), x.facet(facet, "input"):
            pass
        with x.facet(facet) as a:
            a[: len(a) // 2] = 9
            raise Fault

    def reader():
        for n in range(300):
            assert retried(lambda n=n: read(x, FACETS[n % 3])) == 5

    together(writer, reader, reader)
    assert read(x, "array") == 5


def test_operations_of_threads_on_their_own_and_on_shared_operands(world):
    shared = mat.array(np.arange(50.0))
    own = [mat.zeros(50) for _ in range(4)]
    steps = selection.most(60, 15)

    def compute(k):
        for n in range(steps):
            mat.axpy(1.0, shared, own[k])
            if n % 10 == k:
                with own[k].facet("near"):
                    pass

    together(*(lambda k=k: compute(k) for k in range(4)))
    for y in own:
        np.testing.assert_array_equal(y.to_numpy(), steps * np.arange(50.0))


def test_counting_up_under_conflicts_loses_no_step(world):
    x = mat.zeros(8)

    def count():
        for n in range(200):
            retried((lambda: x.add_(1)) if n % 2 else (lambda: bump(x)))

    def bump(x):
        with x.facet("near") as a:
            a += 1

    together(count, count, count)
    np.testing.assert_array_equal(x.to_numpy(), np.full(8, 600.0))


@pytest.mark.parametrize("facet", FACETS)
def test_one_copy_is_made_for_all_threads_at_once(world, facet):
    for _ in range(20):
        x = mat.empty(100)
        write(x, "near" if facet == "array" else "array", 3)
        with mat.debug.count_copies() as n:
            together(*[lambda x=x: read(x, facet)] * 4)
        assert n.h2d + n.d2h == 1
        assert sum(record.value is not None for record in x.presented.values()) <= 3


def test_first_readers_fill_once(world):
    for _ in range(20):
        x = mat.full(10, 7.0)
        world.log.reset()
        together(*[lambda x=x: read(x, "far")] * 4)
        assert world.log.steps == ["far.allocate", "far.copy_in"]
        assert read(x, "far") == 7


def test_garbage_is_freed_from_any_thread_while_others_work(world):
    x = mat.zeros(16)

    def litter(seed):
        random = Random(seed)
        for n in range(selection.most(60, 15)):
            ring = [mat.full(4, n)]
            ring.append(ring)
            with ring[0].facet(random.choice(FACETS), "io") as a:
                assert a[0] == n
            del ring, a
            retried(lambda n=n: write(x, "near", n))

    def collect():
        for _ in range(selection.most(15, 5)):
            gc.collect()
            time.sleep(0)

    together(lambda: litter(1), lambda: litter(2), collect)
    gc.collect()
    assert world.held() == {"near": 1}


def test_frees_may_come_in_the_middle_of_anything(world):
    """A collection that runs wherever it likes frees other cubes while one is locked."""
    old = gc.get_threshold()
    gc.set_threshold(1)
    try:
        def work():
            for n in range(40):
                ring = [mat.full(4, n)]
                ring.append(ring)
                write(ring[0], "near", n)
                assert read(ring[0], "far") == n
                ring[0].drop("near")

        together(work, work)
    finally:
        gc.set_threshold(*old)
    gc.collect()
    assert world.held() == {}


def test_barriers_of_threads_are_their_own(world):
    mats = [mat.zeros(10) for _ in range(4)]

    def scope(k):
        for n in range(20):
            with mat.barrier(drop="near") as b:
                write(mats[k], "near", n)
                assert b.count == 1
            assert mats[k].fresh == {"host"}
            assert read(mats[k], "array") == n

    together(*(lambda k=k: scope(k) for k in range(4)))
    assert world.held() == {}


def test_nothing_is_left_open(world):
    """Two threads that each access one and request the other's get an error at once: there is no
    deadlock.
    """
    x, y, met = mat.zeros(4), mat.zeros(4), threading.Barrier(2)
    refused = []

    def cross(a, b):
        with a.facet("array"):
            met.wait(SECONDS)
            try:
                with b.facet("array"):
                    pass
            except mat.ConflictError:
                refused.append(1)
            met.wait(SECONDS)

    together(lambda: cross(x, y), lambda: cross(y, x))
    assert len(refused) == 2
    assert not x.storage.accesses
    assert not y.storage.accesses


class _ReleasedSlowly:
    """A lock of a thread that a child does not have, where all threads ask for it together."""

    def __init__(self, threads):
        self.asked = threading.Barrier(threads)

    def _is_owned(self):
        with contextlib.suppress(threading.BrokenBarrierError):
            self.asked.wait(0.5)  # a thread alone goes on after that
        return False


def test_a_lock_of_a_child_without_compiled_code_is_renewed_once():
    lock = _PythonLock()
    lock.own, lock.forks = _ReleasedSlowly(2), -1
    inside, most = [], []

    def hold():
        with lock:
            inside.append(None)
            time.sleep(0.05)
            most.append(len(inside))
            inside.pop()

    together(hold, hold)
    assert most == [1, 1]
