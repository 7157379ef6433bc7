"""Tasks and contexts: blocks in generators that are interleaved, abandoned, or closed elsewhere."""

import asyncio
import contextvars
import gc
import threading

import pytest

import mat

from .children import outcome_of
from .invariants import DEVICES, in_use, pool_faults

pytestmark = [pytest.mark.host]


def nothing_left():
    """Neither settings, devices, barriers nor memory in use."""
    gc.collect()
    assert in_use() == []
    assert pool_faults(*DEVICES) == []


def in_device(name="emulated", **given):
    with mat.use_device(name, **given):
        yield


def in_settings(**given):
    with mat.settings(**given):
        yield


def device():
    return str(mat.ones(1).device)


def in_child(body):
    """Run a test in a child, since what it leaves behind would spoil those after it."""
    def run():
        body()
        nothing_left()

    text = outcome_of(run)
    assert not text, text


# Generators

def test_interleaved_devices():
    @in_child
    def body():
        first, second = in_device("emulated"), in_device("emulated:1")
        next(first)
        next(second)
        first.close()
        assert device() == "emulated:1"
        second.close()
        assert device() == "cpu"


def test_interleaved_devices_that_end_in_order():
    @in_child
    def body():
        first, second, third = (in_device(n) for n in ("emulated", "emulated:1", "emulated:0"))
        for block in (first, second, third):
            next(block)
        second.close()
        assert device() == "emulated"
        third.close()
        assert device() == "emulated"
        first.close()
        assert device() == "cpu"


def test_interleaved_settings():
    @in_child
    def body():
        first, second = in_settings(dtype="float32"), in_settings(print_facets=False)
        next(first)
        next(second)
        first.close()
        assert not mat.settings.print_facets
        second.close()
        assert mat.settings.print_facets
        assert mat.settings.dtype == "float64"


def test_interleaved_limits():
    @in_child
    def body():
        first, second = in_device(pool_bytes=1000), in_device(pool_bytes=5000)
        next(first)
        next(second)
        assert limit() == 1000
        first.close()
        assert limit() == 5000
        second.close()
        assert limit() is None


def limit(name="emulated"):
    return mat.memory_report().by_memory[name]["limit"]


def barriers():
    with mat.barrier(drop="emulated"):
        yield


def windows(x):
    with x.window(2):
        yield


def looks(x):
    with x.facet("array", "io") as a:
        a[...] = 2
        yield


def groups(x):
    with mat.with_facets((x, "array", "io"), (mat.ones(3), "array", "input")) as (a, _):
        a[...] = 2
        yield


def kept(x):
    with x.keep("host"):
        yield


def prefetched(x):
    with mat.use_device("emulated"), mat.prefetch(to_device=[x]):
        yield


def scratched(x):
    with mat.scratch(3) as t:
        t.fill_(1)
        yield


BLOCKS = {
    "device": lambda x: in_device(), "limit": lambda x: in_device(pool_bytes=10000),
    "settings": lambda x: in_settings(dtype="float32", threads=2), "barrier": lambda x: barriers(),
    "window": windows, "look": looks, "group": groups, "keep": kept, "prefetch": prefetched,
    "scratch": scratched,
}
EACH = pytest.mark.parametrize("block", BLOCKS)


def usable(x):
    """`x` is as it was before a block, or as the block left it."""
    assert x.shape == (3,)
    assert not any(state.watchers for state in x.facets.values())
    x.drop("host", force=True)
    x.fill_(4)
    assert x.to_numpy().tolist() == [4, 4, 4]


def mine():
    x = mat.zeros(3)
    return x.fill_(1)


@EACH
def test_closed_by_another_thread(block):
    @in_child
    def body():
        x, faults = mine(), []
        generator = BLOCKS[block](x)
        begun = threading.Thread(target=lambda: next(generator))
        begun.start()
        begun.join()

        def close():
            try:
                generator.close()
                assert in_use() == []
            except BaseException as error:
                faults.append(error)

        ended = threading.Thread(target=close)
        ended.start()
        ended.join()
        assert not faults, faults
        usable(x)


@EACH
def test_closed_in_another_context(block):
    @in_child
    def body():
        x = mine()
        generator = BLOCKS[block](x)
        contextvars.copy_context().run(next, generator)
        assert device() == "cpu"
        generator.close()
        usable(x)


@EACH
def test_begun_here_and_closed_in_another_context(block):
    @in_child
    def body():
        x = mine()
        generator = BLOCKS[block](x)
        next(generator)
        contextvars.copy_context().run(generator.close)
        usable(x)


@EACH
def test_abandoned_asynchronous_generators(block):
    @in_child
    def body():
        x, told = mine(), []

        async def values():
            for _ in BLOCKS[block](x):
                yield 1

        async def main():
            asyncio.get_running_loop().set_exception_handler(lambda loop, c: told.append(c))
            async for _ in values():
                break
            await asyncio.sleep(0)
            gc.collect()
            await asyncio.sleep(0)

        asyncio.run(main())
        assert not told, told
        usable(x)


# Tasks

def run_tasks(first, second):
    """Run two tasks; the second begins in the middle of the first."""
    async def main():
        inside, done = asyncio.Event(), asyncio.Event()

        async def one():
            async with asyncio.timeout(30):
                await first(inside, done)

        async def other():
            await inside.wait()
            try:
                return await second()
            finally:
                done.set()

        return (await asyncio.gather(one(), other(), return_exceptions=True))

    return asyncio.run(main())


@pytest.mark.parametrize("direction", ["input", "io", "output"])
@pytest.mark.parametrize("facet", ["array", "backing"])
def test_tasks_conflict_as_threads_do(facet, direction):
    x = mine()

    async def writer(inside, done):
        with x.facet("array", "io") as a:
            a[...] = 2
            inside.set()
            await done.wait()

    async def other():
        with x.facet(facet, direction):
            pytest.fail("two tasks have access")

    first, second = run_tasks(writer, other)
    assert first is None
    assert isinstance(second, mat.ConflictError)
    for word in ("conflicts with the access to", "'io'", "in thread MainThread", __file__):
        assert word in str(second)
    usable(x)


def test_operations_of_tasks_conflict():
    x = mine()

    async def writer(inside, done):
        with x.facet("array", "io"):
            inside.set()
            await done.wait()

    async def other():
        x.__iadd__(1)

    assert isinstance(run_tasks(writer, other)[1], mat.ConflictError)
    usable(x)


def test_tasks_that_read_do_not_conflict():
    x = mine()

    async def reader(inside, done):
        with x.facet("array", "input"):
            inside.set()
            await done.wait()

    async def other():
        with x.facet("array", "input"):
            return float(x.sum())

    assert run_tasks(reader, other) == [None, 3.0]


def test_a_task_looks_again_within_its_block():
    x = mine()

    async def main():
        with x.facet("array", "io") as a:
            await asyncio.sleep(0)
            a[...] = 2
            with x.facet("backing", "input") as b:
                await asyncio.sleep(0)
                assert b[0] == 2
            return float(x.sum())

    assert asyncio.run(main()) == 6


def test_tasks_have_their_own_devices():
    async def use(name):
        for _ in range(3):
            with mat.use_device(name):
                await asyncio.sleep(0)
                assert device() == name
                await asyncio.sleep(0)
            assert device() == "cpu"

    async def main():
        await asyncio.gather(*(use(n) for n in ("emulated", "emulated:1", "emulated")))

    asyncio.run(main())
    nothing_left()


def test_a_cancelled_task_leaves_nothing():
    x = mine()

    async def work():
        with mat.use_device("emulated"), x.keep("emulated"), x.facet("emulated", "input"):
            await asyncio.sleep(100)

    async def main():
        task = asyncio.create_task(work())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(main())
    usable(x)
    nothing_left()
