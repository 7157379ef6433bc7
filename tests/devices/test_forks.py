"""Forks while other threads compute on a device, allocate there, observe or draw numbers: the child
starts with free locks, without the blocks of threads that it does not have, and does its own work.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.host, pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")]
SCRIPT = """
import os, signal, sys, threading, warnings
import mat
from mat.devices.device import device_named
from mat.core import barrier as barriers
from mat.core import observers
from mat.core.compiled import IN_USE
from mat.core.observers import OBSERVERS
from mat.devices.in_use import in_use
from mat.matrix import generator
from mat.support.settings import CONTEXTS

warnings.simplefilter("ignore", DeprecationWarning)  # of forks of processes with threads
ALWAYS = list(OBSERVERS)  # the direction check, if it is on
dev = device_named("emulated")
x, busy, done = mat.arange(4.0), threading.Event(), threading.Event()


def wait(*args):
    busy.set()
    done.wait(60)


def compute():
    with mat.use_device("emulated", pool_bytes=5000), mat.debug.trace(), mat.settings(threads=3), \\
            mat.barrier(drop="emulated"), x.facet("emulated", "io") as p:
        dev.launch(wait, p)


def hold():
    with held():
        wait()


def held():
    return {"pool": dev.memory.lock, "barrier": barriers.LOCK, "observers": observers._lock,
            "generator": generator._lock}[sys.argv[1]]


def work():
    with mat.use_device("emulated", pool_bytes=9000) as device, mat.debug.trace() as t:
        assert device.memory.limit == 9000
        y = mat.arange(100.0)
        y += 1
        with mat.prefetch(to_host=[y]):
            pass
        assert mat.sum(y) == 5050
    assert y.fresh == {"host"}
    assert t.h2d + t.d2h > 0
    mat.zeros(10).uniform_()
    z = mat.ones(1000, 1000)
    assert float(mat.sum(z + z)) == 2e6


thread = threading.Thread(target=compute if sys.argv[1] == "launch" else hold)
thread.start()
assert busy.wait(60)
child = os.fork()
if child == 0:
    signal.alarm(30)  # a child that hangs is ended
    status = 1
    try:
        assert IN_USE == CONTEXTS == barriers.OPEN == [], (IN_USE, OBSERVERS)
        assert OBSERVERS == ALWAYS
        assert (dev.memory.limit, dev._uses) == (None, [])
        work()
        assert IN_USE == barriers.OPEN == []
        assert OBSERVERS == ALWAYS
        status = 0
    except BaseException:
        import traceback
        traceback.print_exc()
    finally:
        os._exit(status)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
done.set()
thread.join(60)
work()
sys.exit(status)
"""


@pytest.mark.parametrize("what", ["launch", "pool", "barrier", "observers", "generator"])
def test_a_child_of_a_busy_process_works(what):
    found = subprocess.run([sys.executable, "-c", SCRIPT, what], cwd=Path(__file__).parents[2],
                           capture_output=True, text=True, timeout=120, check=False)
    assert found.returncode == 0, found.stderr


BLOCKS = """
import os, sys, mat
from mat.core.compiled import IN_USE
from mat.devices.in_use import in_use
x = mat.arange(4.0)
with mat.debug.count_copies() as n, mat.use_device("emulated", pool_bytes=5000) as dev:
    x += 1
    child = os.fork()
    assert (in_use(), dev.memory.limit, len(IN_USE)) == (dev, 5000, 1)
    x += 1
assert x.to_numpy().tolist() == [2, 3, 4, 5]
assert (IN_USE, dev.memory.limit, n.d2h) == ([], None, 1)
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_the_blocks_of_the_thread_that_forks_go_on_in_both():
    found = subprocess.run([sys.executable, "-c", BLOCKS], cwd=Path(__file__).parents[2],
                           capture_output=True, text=True, timeout=120, check=False)
    assert found.returncode == 0, found.stderr


EVICTION = """
import os, sys, threading, mat
x, busy, done = mat.arange(4.0), threading.Event(), threading.Event()


def hold():
    with x.storage.lock:
        busy.set()
        done.wait(60)


thread = threading.Thread(target=hold)
with mat.use_device("emulated") as dev:
    with x.facet("emulated", "input"):
        pass
    thread.start()
    assert busy.wait(60)
    assert x.fresh == {"host", "emulated"} and not x.storage.evict(dev.memory, True)
    child = os.fork()
    if child == 0:
        os._exit(0 if x.storage.evict(dev.memory, True) and x.fresh == {"host"} else 1)
    done.set()
    thread.join(60)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_child_evicts_copies_whose_lock_another_thread_held():
    found = subprocess.run([sys.executable, "-c", EVICTION], cwd=Path(__file__).parents[2],
                           capture_output=True, text=True, timeout=120, check=False)
    assert found.returncode == 0, found.stderr
