"""Blocks that end out of order, in another thread or in another context than they began in; and the
limits, devices and copies that remain then.
"""

import asyncio
import contextvars
import gc
import threading

import pytest

import mat
from mat.core import barrier as barriers
from mat.core.compiled import IN_USE
from mat.core.observers import OBSERVERS
from mat.devices.device import device_named
from mat.devices.in_use import in_use
from mat.support.settings import CONTEXTS

ALWAYS = list(OBSERVERS)  # the direction check, if it is on
pytestmark = pytest.mark.host
SECONDS = 20


@pytest.fixture(autouse=True)
def dev():
    device = device_named("emulated")
    yield device
    assert in_use() == "cpu"
    assert IN_USE == CONTEXTS == barriers.OPEN == []
    assert OBSERVERS == ALWAYS
    assert device.memory.limit is None


def in_thread(call, *args):
    found = []
    thread = threading.Thread(target=lambda: found.append(call(*args)))
    thread.start()
    thread.join(SECONDS)
    assert found, "the thread failed or hangs"
    return found[0]


def opened(block):
    """A generator that opens a block and gives what it is given, and how often it was resumed."""
    with block as value:
        for n in range(10):
            yield value, n


KINDS = {
    "use_device": lambda: mat.use_device("emulated", pool_bytes=10_000),
    "settings": lambda: mat.settings(dtype="float32", threads=2),
    "barrier": lambda: mat.barrier(drop="emulated"),
    "prefetch": lambda: mat.prefetch(to_device=[mat.arange(3.0)]),
    "scratch": lambda: mat.scratch(3),
    "observe": lambda: mat.extend.observe(mat.debug.CopyCounter()),
    "count_copies": mat.debug.count_copies,
    "count_allocations": mat.debug.count_allocations,
    "list_calls": mat.debug.list_calls,
    "guard": lambda: mat.debug.guard("raise"),
    "trace": mat.debug.trace,
    "expect_copies": lambda: mat.debug.expect_copies(h2d=0),
    "allow_conflicts": mat.debug.allow_conflicts,
    "check_directions": mat.debug.check_directions,
    "fused": mat.fused,
}
kinds = pytest.mark.parametrize("kind", KINDS)


def conflicts():
    """Return whether two accesses that exclude each other are refused in this thread."""
    x = mat.arange(3.0)
    try:
        with mat.use_device("emulated"), x.facet("array"), x.facet("emulated"):
            return False
    except mat.ConflictError:
        return True


def as_before():
    assert in_use() == "cpu"
    assert IN_USE == CONTEXTS == barriers.OPEN == []
    assert OBSERVERS == ALWAYS
    assert mat.settings.dtype == "float64"
    assert conflicts()


@kinds
def test_a_generator_is_closed_in_another_thread(kind):
    generator = opened(KINDS[kind]())
    next(generator)
    in_thread(generator.close)
    as_before()
    in_thread(lambda: as_before() or True)


@kinds
def test_a_generator_begun_in_another_thread_is_closed_here(kind):
    generator = opened(KINDS[kind]())
    in_thread(next, generator)
    generator.close()
    as_before()


@kinds
@pytest.mark.parametrize("context", [contextvars.copy_context, contextvars.Context])
def test_a_generator_is_closed_in_another_context(kind, context):
    generator = opened(KINDS[kind]())
    next(generator)
    inside = contextvars.copy_context()
    context().run(generator.close)
    as_before()
    inside.run(as_before)


@kinds
def test_an_abandoned_asynchronous_generator_is_closed_by_the_event_loop(kind):
    async def values():
        with KINDS[kind]():
            yield 1
            yield 2

    async def body():
        async for _ in values():
            break
        gc.collect()
        for _ in range(5):
            await asyncio.sleep(0)
        as_before()

    asyncio.run(body())


@kinds
def test_a_block_that_only_the_collector_finds_ends(kind):
    """As after an interrupt before the call of `__exit__` whose traceback is in a cycle."""
    found = [KINDS[kind]()]
    found.append(found)
    found[0].__enter__()
    del found
    gc.collect()
    as_before()


@kinds
def test_generators_end_in_any_order(kind):
    for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0)):
        generators = [opened(KINDS[kind]()) for _ in range(3)]
        for generator in generators:
            next(generator)
        for k in order:
            generators[k].close()
        as_before()


@kinds
def test_a_block_is_opened_again_after_its_end_and_not_before(kind):
    block = KINDS[kind]()
    if not isinstance(block, mat.support.open_blocks.Block):
        pytest.skip("made anew by each call")
    with block, pytest.raises((mat.errors.MatError, RuntimeError), match=r"already|another"):
        block.__enter__()
    with block:
        pass


# Devices


def test_the_device_of_the_innermost_open_block_is_in_use():
    first, second = (opened(mat.use_device(name)) for name in ("emulated", "emulated:1"))
    next(first)
    assert in_use() == "emulated"
    next(second)
    assert in_use() == "emulated:1"
    next(first)
    assert in_use() == "emulated:1"
    first.close()
    assert in_use() == "emulated:1"
    with mat.ones(3).facet("emulated:1") as p:
        assert p.device == "emulated:1"
    second.close()
    assert in_use() == "cpu"


def test_the_outer_device_remains_when_the_inner_block_ends():
    first, second = (opened(mat.use_device(name)) for name in ("emulated", "emulated:1"))
    next(first)
    next(second)
    second.close()
    assert in_use() == "emulated"
    third = opened(mat.use_device("cpu"))
    next(third)
    assert in_use() == "cpu"
    first.close()
    third.close()


def test_turns_of_generators_do_not_make_a_chain_of_blocks():
    from mat.devices import in_use as module
    generators = []
    for _ in range(50):
        generators.append(opened(mat.use_device("emulated")))
        next(generators[-1])
        if len(generators) > 2:
            generators.pop(0).close()
    use, length = module._context.get(), 0
    while use is not None:
        use, length = use.parent, length + 1
    assert length <= 4
    for generator in generators:
        generator.close()


def test_a_task_begun_in_a_block_outlives_it():
    """What a task computes after the end of a block around it is computed where the task is."""
    async def late(ended):
        await ended.wait()
        y = mat.ones(3)
        y += 1
        return in_use().name, y.fresh

    async def body():
        ended = asyncio.Event()
        with mat.use_device("emulated"):
            task = asyncio.create_task(late(ended))
            await asyncio.sleep(0)
        ended.set()
        return await task

    assert asyncio.run(body()) == ("cpu", {"host"})


def test_settings_of_a_task_begun_in_a_block_remain():
    async def late(ended):
        await ended.wait()
        return mat.zeros(1).dtype

    async def body():
        ended = asyncio.Event()
        with mat.settings(dtype="float32"):
            task = asyncio.create_task(late(ended))
            await asyncio.sleep(0)
        ended.set()
        return await task

    assert asyncio.run(body()) == "float32"


def test_a_facet_is_checked_against_the_devices_in_use(dev):
    with pytest.raises(mat.DeviceError, match="not in use"):
        dev.check_in_use()
    with mat.use_device("emulated"):
        dev.check_in_use()
        with mat.use_device("cpu"):
            dev.check_in_use()
        with pytest.raises(mat.DeviceError, match=r"facet 'emulated:1' is not in use"):
            device_named("emulated:1").check_in_use()
    with pytest.raises(mat.DeviceError, match="not in use"):
        dev.check_in_use()


# Limits


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0)])
def test_the_smallest_limit_of_open_blocks_holds(dev, order):
    limits = [5000, 3000, 4000]
    generators = [opened(mat.use_device("emulated", pool_bytes=n)) for n in limits]
    for generator in generators:
        in_thread(next, generator)
    with mat.use_device("emulated"):
        left = dict(enumerate(limits))
        for k in order:
            assert dev.memory.limit == min(left.values())
            in_thread(lambda k=k: generators[k].close() or True)
            del left[k]
        assert dev.memory.limit is None


def test_a_block_that_cannot_be_made_room_for_sets_no_limit(dev):
    x = mat.ones(100)
    with mat.use_device("emulated", pool_bytes=5000), x.facet("emulated"):
        with pytest.raises(mat.OutOfDeviceMemory), mat.use_device("emulated", pool_bytes=100):
            pass
        assert dev.memory.limit == 5000


def test_a_permanent_limit_is_replaced_and_lifted(dev):
    try:
        mat.set_device("emulated", pool_bytes=1000)
        mat.set_device("emulated", pool_bytes=2000)
        assert dev.memory.limit == 2000
        with mat.use_device("emulated", pool_bytes=500):
            assert dev.memory.limit == 500
        assert dev.memory.limit == 2000
        mat.set_device("emulated")
        assert dev.memory.limit is None
    finally:
        mat.set_device("cpu")


# Threads that share a Mat


def test_a_block_ends_while_another_thread_reads_the_copy(dev):
    x = mat.arange(5.0)
    reading, ended = threading.Event(), threading.Event()

    def other():
        with mat.use_device("emulated"):
            with x.facet("emulated", "input"):
                reading.set()
                ended.wait(SECONDS)
            assert x.fresh == {"host", "emulated"}
        return x.fresh

    with mat.use_device("emulated"):
        mat.sum(x)
        found = []
        thread = threading.Thread(target=lambda: found.append(other()))
        thread.start()
        assert reading.wait(SECONDS)
    ended.set()
    thread.join(SECONDS)
    assert found == [{"host"}]
    assert dev.memory not in x.storage.handles


def test_an_access_of_the_thread_itself_is_still_a_conflict(dev):
    x, entered, ended = mat.arange(5.0), threading.Event(), threading.Event()

    def other():
        with mat.use_device("emulated"):
            entered.set()
            ended.wait(SECONDS)
        return True

    thread = threading.Thread(target=other)
    thread.start()
    assert entered.wait(SECONDS)
    block = mat.use_device("emulated")
    block.__enter__()
    access = x.facet("emulated", "input")
    access.__enter__()
    with pytest.raises(mat.ConflictError, match="cannot drop"):
        block.__exit__(None, None, None)
    access.__exit__(None, None, None)
    ended.set()
    thread.join(SECONDS)
    x.drop("emulated")


def test_threads_that_only_read_a_mat_do_not_conflict(dev):
    x = mat.arange(1000.0)
    faults, start = [], threading.Barrier(4)

    def read():
        try:
            start.wait(SECONDS)
            for _ in range(60):
                with mat.use_device("emulated"):
                    for _ in range(3):
                        assert float(mat.sum(x)) == 499500
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(3 * SECONDS)
    assert faults == []
    assert x.fresh == {"host"}
    gc.collect()
    dev.memory.trim()
    assert dev.memory not in x.storage.handles


def test_late_uses_are_not_told_to_a_thread_that_has_the_same_identity():
    from mat.debug.direction_check import CHECK
    with mat.debug.check_directions():
        in_thread(lambda: CHECK._note_late("used late") or True)
        # a new thread often has the identity of the one that just ended
        in_thread(lambda: mat.arange(3.0).to_numpy().tolist())
        CHECK.late.clear()


def test_a_long_block_forgets_the_results_that_are_gone():
    x, kept = mat.arange(3.0), []
    with mat.use_device("emulated"):
        for n in range(1000):
            y = x + n
            if n % 100 == 0:
                kept.append(y)
        (copies,) = barriers.OPEN
        assert len(copies.registered) < 100
    assert all(y.fresh == {"host"} for y in kept)
    assert kept[9].tolist() == [900, 901, 902]
