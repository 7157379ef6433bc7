"""`KINDS` of stress: each function takes a random generator and a time, works until then, and
returns how many rounds there were; it raises an error where something went wrong.
"""

import asyncio
import gc
import pickle
import threading
import time
import traceback

import mat

from ..support.fused_programs import Counted, Program
from .block_scenarios import SCENARIOS
from .children import outcome_of
from .crews import CREWS, WHERE, nothing_left, switching, uses
from .interrupts import interrupted, lines_of, prepared, quiet, storm
from .invariants import by_another_thread, in_use

ON_DEVICES = ("own_mats", "readers", "limits", "eviction", "copies")


def threads(random, until):
    """Any of the crews."""
    return CREWS[random.choice(list(CREWS))](random, until)


def devices(random, until):
    """A crew on two devices."""
    return CREWS[random.choice(ON_DEVICES)](random, until)


def signals(random, until):
    """Scenarios that signals interrupt."""
    text, runs = storm(SCENARIOS, random, until)
    assert not text, text
    return runs


def bursts(random, until):
    """Scenarios that several signals in a row interrupt."""
    text, runs = storm(SCENARIOS, random, until, burst=4)
    assert not text, text
    return runs


def lines(random, until):
    """Every line of scenarios, each in turn, as far as there is time."""
    runs = 0
    with quiet() as strange:
        while time.monotonic() < until:
            scenario = random.choice(SCENARIOS)
            legal = prepared(scenario)
            order = list(range(1, lines_of(scenario) + 1))
            random.shuffle(order)
            for k in order[:300]:
                text = interrupted(scenario, k, legal, strange)
                assert not text, f"{scenario.name}: line {text}"
                runs += 1
                if time.monotonic() > until:
                    break
    return runs


# Forks

def forks(random, until):
    """Fork while threads compute: a child does the same."""
    for scenario in SCENARIOS:  # a fork in the middle of an import leaves its lock to nobody
        scenario.run(**scenario.make())
    shared, stop, faults, count = mat.zeros((3, 4)).fill_(1), threading.Event(), [], 0
    busy = [threading.Thread(target=_busy, args=(k, shared, stop, faults), daemon=True)
            for k in range(3)]
    with switching(1e-5):
        for thread in busy:
            thread.start()
        try:
            while time.monotonic() < until and not faults:
                scenario = random.choice(SCENARIOS)
                text = outcome_of(lambda scenario=scenario: _in_child(scenario, shared), 20)
                assert not text, f"in a child, {scenario.name}: {text}"
                count += 1
        finally:
            stop.set()
            for thread in busy:
                thread.join(60)
    assert not faults, faults
    nothing_left(shared=shared)
    return count


def _busy(k, shared, stop, faults):
    """Compute until it is told to stop."""
    rng, x = mat.Rng(k), mat.ones((3, 4))
    try:
        while not stop.is_set():
            with uses(WHERE[k]), mat.scratch((3, 4)) as t:
                mat.blas.copy(x, t)
                assert float((x + t + shared).sum()) == 36
                with shared.facet("array", "input") as a, x.keep("host"):
                    assert a.sum() == 12
                pickle.loads(pickle.dumps(t))
                mat.zeros(5).uniform_(rng=rng)
    except BaseException as error:
        faults.append(error)


def _in_child(scenario, shared):
    """Run a scenario, and use a Mat that threads of the parent read."""
    scenario.run(**scenario.make())
    assert not any(state.watchers for state in shared.facets.values()), shared.facets
    faults = by_another_thread({"shared": shared, **scenario.make()})
    assert not faults, faults


# Tasks

def tasks(random, until):
    """Tasks that share Mats, are cancelled, and abandon generators."""
    told, count = [], [0]

    async def main():
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: told.append(context))
        shared = mat.zeros(4).fill_(0)
        while time.monotonic() < until:
            work = [asyncio.create_task(random.choice(WORK)(random, shared)) for _ in range(6)]
            await asyncio.sleep(0)
            idle = asyncio.create_task(_sleeping())
            await asyncio.sleep(0)
            idle.cancel()
            await asyncio.gather(*work)
            await asyncio.gather(idle, return_exceptions=True)
            gc.collect()
            await asyncio.sleep(0)
            count[0] += 1
            assert not told, told
            assert not in_use(), in_use()
            assert len({*shared.to_numpy()}) == 1
        nothing_left(shared=shared)

    asyncio.run(main())
    return count[0]


async def _pause(random):
    for _ in range(random.randrange(3)):
        await asyncio.sleep(0)


async def _writing(random, shared):
    """Add to what others add to, or be refused."""
    try:
        with shared.facet("array", "io") as a:
            before = a[0]
            a[:2] += 1
            await _pause(random)
            a[2:] += 1
            assert a.tolist() == [before + 1] * 4, a
    except mat.ConflictError:
        pass


async def _reading(random, shared):
    try:
        with mat.with_facets((shared, "array", "input"), (mat.ones(2), "backing")) as (a, _):
            before = a.tolist()
            await _pause(random)
            assert a.tolist() == before
            assert len({*before}) == 1
    except mat.ConflictError:
        pass


async def _computing(random, shared):
    name = random.choice(["emulated", "emulated:1"])
    x = mat.ones(5)
    with mat.use_device(name, pool_bytes=random.choice([None, 100_000])), mat.settings(threads=2):
        await _pause(random)
        assert str(x.device) == name, (x.device, name)
        y = x + x
        await _pause(random)
        assert float(y.sum()) == 10
        assert mat.settings.threads == 2
    assert str(x.device) == "cpu", x.device


async def _blocks(x):
    with mat.use_device("emulated"), mat.settings(print_facets=False), x.keep("emulated"):
        with x.facet("array", "io") as a:
            a[...] = 1
            yield 1
        yield 2


async def _abandoning(random, shared):
    """Leave a generator in the middle of its blocks."""
    async for _ in _blocks(mat.ones(3)):
        break
    await _pause(random)


async def _sleeping():
    x = mat.ones(3)
    with mat.use_device("emulated"), x.facet("emulated", "io"), mat.scratch(3), x.keep("emulated"):
        await asyncio.sleep(1000)


WORK = (_writing, _writing, _reading, _computing, _abandoning)
# Fused blocks

def fused(random, until):
    """Random programs in fused blocks of several threads, beside NumPy."""
    faults, runs = [], []

    def work(seed):
        options = {"device": "emulated"} if seed % 3 == 0 else {}
        try:
            while time.monotonic() < until and not faults:
                name = f"{seed} {len(runs)}"
                Program(name, **options).carry_out(40)
                runs.append(seed)
        except BaseException:
            faults.append(f"{name} {options}: {traceback.format_exc()}")

    first = random.randrange(10**6)
    workers = [threading.Thread(target=work, args=(first + k,)) for k in range(3)]
    with switching(1e-5), Counted():
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert not faults, faults[0]
    return len(runs)


KINDS = {f.__name__: f for f in (
    threads, devices, signals, forks, tasks, lines, bursts, fused)}
