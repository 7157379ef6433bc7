"""Several processes, forked, spawned or served, after this one computed: what they are given,
compute and send back; and memory that they share.
"""

import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.shared_memory import SharedMemory

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mat

from ..support.selection import most

# no device outlives a fork
pytestmark = [pytest.mark.host, pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")]

METHODS = multiprocessing.get_all_start_methods()
LARGE = 300_000  # elements that threads share


@pytest.fixture(params=METHODS)
def context(request):
    """One way to start processes, after threads have been used."""
    with mat.settings(threads=3):
        compute(mat.arange(LARGE, dtype=float))
        yield multiprocessing.get_context(request.param)


def compute(x):
    """By our kernels, NumPy's and BLAS, all with threads."""
    with mat.settings(threads=3):
        y = mat.exp(x * 1e-6) + x
        square = y.reshape(-1, 500)
        return mat.matmul(square, square.T)[:2, :3] + mat.sum(y)


def wanted(a):
    y = np.exp(a * 1e-6) + a
    square = y.reshape(-1, 500)
    return (square @ square.T)[:2, :3] + y.sum()


def serve(inbox, outbox):
    while (x := inbox.get()) is not None:
        outbox.put(compute(x))


def starts():
    return [np.arange(LARGE) + 1.0 * k for k in range(3)]


def check(found):
    for y, a in zip(found, starts(), strict=True):
        assert type(y) is mat.Mat
        assert_allclose(y.to_numpy(), wanted(a), rtol=1e-12)


@pytest.mark.sample(3)
@pytest.mark.slow
def test_a_pool(context):
    with context.Pool(2) as pool:
        check(pool.map(compute, [mat.array(a) for a in starts()]))


@pytest.mark.sample(3)
@pytest.mark.slow
def test_queues(context):
    inbox, outbox = context.Queue(), context.Queue()
    child = context.Process(target=serve, args=(inbox, outbox))
    child.start()
    for a in starts():
        inbox.put(mat.array(a))
    check([outbox.get(timeout=60) for _ in starts()])
    inbox.put(None)
    child.join(60)
    assert child.exitcode == 0


@pytest.mark.sample(3)
def test_executors(context):
    with ProcessPoolExecutor(most(2, 1), mp_context=context) as pool:
        check([f.result(60) for f in [pool.submit(compute, mat.array(a)) for a in starts()]])


def send_view(pipe, x):
    pipe.send(x.T[1:])
    pipe.close()


@pytest.mark.sample(3)
def test_views_through_a_pipe(context):
    ours, theirs = context.Pipe()
    x = mat.arange(12.0).reshape(3, 4)
    child = context.Process(target=send_view, args=(theirs, x))
    child.start()
    assert_array_equal(ours.recv().to_numpy(), np.arange(12.0).reshape(3, 4).T[1:], strict=True)
    child.join(60)
    assert child.exitcode == 0


def add_there(name, size):
    memory = SharedMemory(name)
    x = mat.from_numpy(np.frombuffer(memory.buf, "float64", size))
    x += 1
    x[0] = -1
    del x
    memory.close()


@pytest.mark.sample(3)
def test_memory_that_processes_share(context):
    memory = SharedMemory(create=True, size=1000 * 8)
    try:
        # what is there has more bytes: whole pages
        x = mat.from_numpy(np.frombuffer(memory.buf, "float64", 1000))
        x.assign_(mat.arange(1000.0))
        child = context.Process(target=add_there, args=(memory.name, 1000))
        child.start()
        child.join(60)
        assert child.exitcode == 0
        assert_array_equal(x.to_numpy(), [-1, *range(2, 1001)])
        y = x + x  # and here it goes on
        assert y.item(999) == 2000
        del x
        memory.close()
    finally:
        memory.unlink()


def test_a_forked_child_has_what_its_parent_had_and_changes_nothing_of_it():
    if "fork" not in METHODS:
        pytest.skip("there is no fork here")
    context = multiprocessing.get_context("fork")
    x = mat.arange(LARGE, dtype=float)
    queue = context.SimpleQueue()

    def there():
        x.fill_(1)
        queue.put(mat.sum(x))

    child = context.Process(target=there)
    child.start()
    assert float(queue.get()) == LARGE
    child.join(60)
    assert child.exitcode == 0
    assert float(mat.sum(x)) == LARGE * (LARGE - 1) / 2


def tasks_conflict(queue):
    """Put whether asyncio was there before, and the error of a task that reads what another one
    writes."""
    before = "asyncio" in sys.modules
    import asyncio
    x = mat.zeros(3)

    async def write(begun, ended):
        with x.facet("array"):
            begun.set()
            await ended.wait()

    async def read():
        begun, ended = asyncio.Event(), asyncio.Event()
        writer = asyncio.create_task(write(begun, ended))
        await begun.wait()
        try:
            x.sum()
        except mat.ConflictError as error:
            return str(error)
        finally:
            ended.set()
            await writer

    queue.put((before, asyncio.run(read())))


def test_tasks_are_told_apart_if_asyncio_is_imported_after_mat():
    context = multiprocessing.get_context("spawn")
    queue = context.SimpleQueue()
    child = context.Process(target=tasks_conflict, args=(queue,))
    child.start()
    before, error = queue.get()
    child.join(60)
    assert not before
    assert "conflicts with the access" in error
