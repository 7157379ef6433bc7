"""Interrupts of blocks on devices, at each line of Python in turn: afterwards no block is open, no
limit holds, no copy is under way, and the pool counts the bytes of the handles that exist.
"""

import gc

import pytest

import mat
from mat.core import barrier as barriers
from mat.core import observers
from mat.core.compiled import IN_USE
from mat.core.observers import OBSERVERS
from mat.devices.device import device_named
from mat.devices.in_use import in_use
from mat.support.settings import CONTEXTS

from ..support.nth_line import Interrupt, every_line, interrupted

ALWAYS = list(OBSERVERS)  # the direction check, if it is on
pytestmark = pytest.mark.host
steps = pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.slow)])
# the core's own files are tested with the core
BLOCKS = ("devices/", "memories/", "support/", "matrix/prefetch", "matrix/scratch",
          "core/barrier", "core/async_copy", "core/observers", "debug/")


@pytest.fixture
def dev():
    gc.collect()
    device = device_named("emulated")
    assert device.memory.used == 0
    yield device
    device.delayed = False
    device.synchronize()


def nothing_open():
    device = device_named("emulated")
    assert not any(lock._is_owned() for lock in (device._lock, observers._lock))
    assert device.memory.lock.count == barriers.LOCK.count == 0
    assert IN_USE == CONTEXTS == barriers.OPEN == []
    assert OBSERVERS == ALWAYS
    assert in_use() == "cpu"
    assert mat.settings.dtype == "float64"


def check_pool(dev, *mats):
    """Compare what the pool counts with the handles of the Mats, which are all that there are."""
    handles = [x.storage.handles.get(dev.memory) for x in mats]
    assert dev.memory.used == sum(h.nbytes for h in handles if h is not None)
    assert dev.memory.limit is None
    assert dev._uses == []
    nothing_open()


def free_of_accesses(*mats):
    for x in mats:
        assert not x.storage.accesses
        assert not x.storage.async_copies


@steps
def test_a_block_on_a_device(dev, step):
    x, y = mat.arange(4.0), mat.arange(1000.0)

    def block():
        x.drop("emulated", force=True)
        with mat.use_device("emulated", pool_bytes=9000), mat.use_device("emulated"):
            y.fill_(2)
            mat.asum(x)

    def check():
        check_pool(dev, x, y)
        assert x.to_numpy().tolist() == [0, 1, 2, 3]
        with mat.use_device("emulated", pool_bytes=9000):
            y.fill_(1)
        assert mat.sum(y) == 1000

    x.accept_torn()
    assert every_line(block, check, BLOCKS, step) > 100


@steps
def test_a_prefetch(dev, step):
    x, y, z = (mat.arange(4.0) for _ in range(3))
    with mat.use_device("emulated"):
        y += 0

    def block():
        with mat.use_device("emulated"):
            z.fill_(3)
            with mat.prefetch(to_device=[x, y], to_host=[z]):
                pass
            x.drop("emulated")

    def check():
        check_pool(dev, x, y, z)
        free_of_accesses(x, y, z)
        assert x.to_numpy().tolist() == y.to_numpy().tolist() == [0, 1, 2, 3]
        x.fill_(0)
        x[:] = y
        z.fill_(1)
        assert mat.sum(z) == 4

    assert every_line(block, check, BLOCKS, step) > 100


@steps
def test_a_prefetch_that_is_delayed(dev, step):
    x, y = mat.arange(4.0), mat.arange(4.0)

    def block():
        dev.delayed = True
        with mat.use_device("emulated"):
            with mat.prefetch(to_device=[x]):
                y.add_(1)
            y.add_(-1)

    def check():
        dev.delayed = False
        check_pool(dev, x, y)
        free_of_accesses(x, y)
        assert x.to_numpy().tolist() == [0, 1, 2, 3]
        y.accept_torn()
        y[:] = x

    assert every_line(block, check, BLOCKS, step) > 100


def test_a_permanent_device(dev):
    def change():
        mat.set_device("emulated", pool_bytes=5000)
        mat.set_device("emulated", pool_bytes=6000)
        mat.set_device("cpu")

    def check():
        limit = dev.memory.limit
        assert (limit is None) == (in_use() == "cpu") == (IN_USE == [])
        assert limit in (None, 5000, 6000)
        mat.set_device("cpu")
        check_pool(dev)

    assert every_line(change, check, BLOCKS) > 30


@steps
def test_blocks_of_all_kinds(dev, step):
    def block():
        with mat.settings(dtype="float32", threads=1), mat.barrier(drop="emulated"), \
                mat.debug.count_copies(), mat.debug.trace(), mat.debug.allow_conflicts(), \
                mat.scratch(3) as t, mat.debug.guard("raise"):
            t.fill_(1)

    def check():
        nothing_open()
        x = mat.zeros(3)
        with x.facet("array"), pytest.raises(mat.ConflictError), mat.use_device("emulated"), \
                x.facet("emulated"):
            pass

    assert every_line(block, check, BLOCKS, step) > 100


def test_a_direction_check(dev):
    x = mat.arange(3.0)

    def block():
        with mat.debug.check_directions(), x.facet("array", "io") as a:
            a[0] = 0

    def check():
        nothing_open()
        x.accept_torn()

    assert every_line(block, check, ("core/observers", "support/", "debug/counters")) > 20


@pytest.mark.slow
def test_pool_counts_survive_every_interrupt(dev):
    pool, found = dev.memory, []

    def use():
        found.clear()
        found.extend(pool.take(size) for size in (100, 300, 200, 100))
        while found:
            pool.free(found.pop())
        pool.take(300)
        pool.trim()

    def check():
        found.clear()
        with pool.lock:
            pool._collect()
        assert pool.used == 0
        assert pool.kept == sum(h.nbytes for spares in pool._spare.values() for h in spares)
        pool.trim()
        assert pool.kept == 0

    assert every_line(use, check, ("memories/", "devices/")) > 50


@pytest.mark.unchecked("it looks at results, so that no work stays delayed")
def test_delayed_work_is_done_again_after_an_interrupt(dev):
    """An operation whose work is delayed has ended: nobody else knows that it was interrupted."""
    k = came = 1
    while came:
        x = mat.arange(4.0)
        dev.delayed = True
        with mat.use_device("emulated"):
            x += 1
            x *= 2
            came = interrupted(dev.synchronize, k, ("devices/",))
            dev.synchronize()
        assert x.to_numpy().tolist() == [2, 4, 6, 8]
        k += 1
    assert k > 10


def test_an_interrupt_of_the_end_of_a_barrier_drops_the_other_copies_too(dev, monkeypatch):
    mats, drops = [mat.arange(3.0) for _ in range(4)], []
    drop = barriers.Barrier._drop

    def interrupting(self, cube, memory):
        drops.append(cube)
        if len(drops) == 2:
            raise Interrupt
        return drop(self, cube, memory)

    def block():
        with mat.use_device("emulated"):
            for x in mats:
                x += 1
            monkeypatch.setattr(barriers.Barrier, "_drop", interrupting)

    with pytest.raises(Interrupt):
        block()
    assert [x.fresh for x in mats] == [{"host"}] * 4
    check_pool(dev, *mats)
    assert dev.memory.used == 0
