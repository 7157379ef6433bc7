"""What threads do together: each function of `CREWS` takes a random generator and a time, runs
threads until then, and returns how many rounds there were; it raises an error for a wrong number.
"""

import sys
import threading
import time
from contextlib import contextmanager

import numpy as np

import mat

from .invariants import DEVICES, hidden, open_accesses, pool_faults

SECONDS = 60  # after which a thread counts as hanging
CREWS = {}


def crew(function):
    """Add a function to `CREWS`."""
    CREWS[function.__name__] = function
    return function


@contextmanager
def switching(interval=1e-6):
    """Switch threads as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(interval)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def together(calls, until):
    """Call each of `calls` again and again in its thread until a time; return how often.

    The first error of one ends all, and is raised.
    """
    faults, counts, stop = [], [0] * len(calls), threading.Event()

    def run(k, call):
        try:
            while not stop.is_set() and (time.monotonic() < until or not counts[k]):
                call()
                counts[k] += 1
        except BaseException as error:
            faults.append(error)
            stop.set()

    threads = [threading.Thread(target=run, args=item, daemon=True) for item in enumerate(calls)]
    with switching():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()) + SECONDS)
    if faults:
        raise faults[0]
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    return sum(counts)


def nothing_left(**mats):
    found = open_accesses(mats) or pool_faults(*DEVICES)
    assert not found, found


def uses(device):
    """A block on a device, or on the host."""
    return mat.use_device(device or "cpu")


WHERE = ("", "emulated", "emulated:1", "emulated")


@crew
def own_mats(random, until):
    """Each thread computes with its own Mats on its own device."""
    def worker(k):
        values = np.arange(1.0, 13) * (k + 1)
        x, y = mat.array(values.reshape(3, 4)), mat.zeros((3, 4))

        def call():
            with uses(WHERE[k]):
                z = x + x
                mat.axpy(1, z, y)
                total = float(z.sum())
                c = x @ x.T
                y[1] = 0.5
            a = values.reshape(3, 4)
            assert total == 2 * values.sum()
            assert (c.to_numpy() == a @ a.T).all()
            assert (y.to_numpy()[1] == 0.5).all()
            assert (z.to_numpy() == 2 * a).all()

        return call

    count = together([worker(k) for k in range(4)], until)
    nothing_left()
    return count


@crew
def readers(random, until):
    """Threads that only read a shared Mat, each in its own block: no conflict, no copy left."""
    x = mat.array(np.arange(12.0).reshape(3, 4))
    x.fill_(1)

    def worker(k):
        def call():
            with uses(WHERE[k]):
                assert float((x + x).sum()) == 24
                assert float(x.sum()) == 12
            with x.facet("array", "input") as a:
                assert a.sum() == 12
        return call

    count = together([worker(k) for k in range(4)], until)
    assert x.fresh == {"host"}
    nothing_left(x=x)
    return count


@crew
def writers(random, until):
    """Threads that add to a shared Mat: each either adds or is refused."""
    x, added, lock = mat.zeros((3, 4)).fill_(0), [0], threading.Lock()

    def worker(k):
        def call():
            try:
                with uses(WHERE[k]):
                    x.__iadd__(1)
                    with lock:
                        added[0] += 1
            except mat.ConflictError:  # or another thread writes when the block ends
                pass
            assert len({*read(x)}) <= 1
        return call

    count = together([worker(k) for k in range(4)], until)
    assert {*read(x)} == {float(added[0])}, (read(x), added)
    for device in DEVICES:  # where a copy was in use when its block ended
        x.drop(device)
    nothing_left(x=x)
    return count


def read(x):
    try:
        return x.to_numpy().ravel().tolist()
    except mat.ConflictError:
        return []


@crew
def shapes(random, until):
    """One thread changes the shape of a Mat on which others compute."""
    x = mat.Mat((3, 4), fill=1, max_size=24)
    y = mat.ones((3, 4))
    x += 0
    changes = [lambda: x.reshape_(2, 6), lambda: x.reshape_(x.size), lambda: x.view_((3, 4), 3),
               lambda: x.view_((2, 2), 20), lambda: x.view_((4, 6), 0), lambda: x.adjust_((3, 4)),
               lambda: x.adjust_((5, 5)), lambda: x.displace_(0), lambda: x.view_((3, 4), 0)]
    sizes = {12, 4, 24, 25}

    def change():
        try:
            random.choice(changes)()
        except mat.MatError:
            time.sleep(0)

    def worker(k):
        def call():
            try:
                with uses(WHERE[k]):
                    one_operation(x, y, sizes, k)
            except (mat.ShapeError, mat.ConflictError, mat.DirectionError, mat.AliasError,
                    mat.IndexOutOfRange):
                pass
        return call

    count = together([change, *(worker(k) for k in range(3))], until)
    nothing_left(x=x)
    return count


def one_operation(x, y, sizes, k):
    """Compute with a Mat of ones of changing shape: what comes out belongs to one of its shapes."""
    total = float(x.sum())
    assert total in sizes, f"a sum of ones is {total}"
    z = x + x
    a = z.to_numpy()
    assert z.size in sizes, z.shape
    assert (a == 2).all(), a
    w = x + y
    assert w.shape == (3, 4), w.shape
    assert (w.to_numpy() == 2).all()
    b = x.to_numpy()
    assert b.size in sizes, b.shape
    assert (b == 1).all()
    product = (x @ x.T).to_numpy()
    assert {*np.unique(product)} <= {4.0, 6.0, 2.0, 5.0, 12.0, 24.0, 25.0}, product
    if k:
        mat.blas.copy(mat.ones(x.shape), x)


@crew
def limits(random, until):
    """Blocks with `pool_bytes` in several threads: the least of the open ones counts."""
    def worker(k):
        x = mat.array(np.arange(64.0) + k)
        own = random.choice([700, 2000, 4000]) + k

        def call():
            try:
                with mat.use_device("emulated", pool_bytes=own * (k + 1)):
                    limit = hidden("mat.core.registry", "memories")["emulated"].limit
                    assert limit is not None, "no limit"
                    assert limit <= own * (k + 1), (limit, own * (k + 1))
                    assert float((x + x).sum()) == 2 * (2016 + 64 * k)
            except mat.OutOfDeviceMemory:
                pass
        return call

    count = together([worker(k) for k in range(4)], until)
    nothing_left()
    return count


@crew
def eviction(random, until):
    """Threads share a small pool, from which their copies are evicted meanwhile."""
    def worker(k):
        mats = [mat.array(np.arange(32.0) + k + j) for j in range(6)]

        def call():
            with mat.use_device("emulated", pool_bytes=256 * 14):
                for j in random.sample(range(6), 3):
                    try:
                        assert float((mats[j] + mats[j]).sum()) == 2 * (496 + 32 * (k + j))
                        mats[j] += 0
                    except mat.OutOfDeviceMemory:
                        pass
            j = random.randrange(6)
            assert (mats[j].to_numpy() == np.arange(32.0) + k + j).all()
        return call

    count = together([worker(k) for k in range(4)], until)
    nothing_left()
    return count


@crew
def short_lives(random, until):
    """Threads that begin, look, and end without leaving: their identities are used again."""
    x = mat.zeros(4).fill_(1)

    def leave_open():
        look = x.facet("array", "input")
        look.__enter__()

    def call():
        thread = threading.Thread(target=leave_open)
        thread.start()
        thread.join()
        follower = threading.Thread(target=faulty, args=(lambda: x.fill_(2), faults))
        follower.start()
        follower.join()
        assert not faults, faults
        assert x.to_numpy().tolist() == [2, 2, 2, 2]

    faults = []
    count = together([call], until)
    nothing_left(x=x)
    return count


def faulty(call, faults):
    try:
        call()
    except BaseException as error:
        faults.append(error)


@crew
def copies(random, until):
    """Threads prefetch, drop and keep copies of Mats that others read."""
    x = mat.zeros((3, 4)).fill_(1)
    device = "emulated"

    def prefetch():
        try:
            with mat.use_device(device), mat.prefetch(to_device=[x]):
                assert float(x.sum()) == 12
        except mat.ConflictError:
            pass

    def drop():
        try:
            x.drop(device)
        except mat.ConflictError:
            time.sleep(0)

    def keep():
        with mat.use_device(device), x.keep(device):
            assert float((x + x).sum()) == 24

    def look():
        with x.facet("array", "input") as a:
            assert a.sum() == 12
        assert (np.asarray(x) == 1).all()

    count = together([prefetch, drop, keep, look], until)
    nothing_left(x=x)
    return count
