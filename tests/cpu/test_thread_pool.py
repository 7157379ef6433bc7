"""The threads that share large operations: every item once, errors, nesting, many callers, and a
fork.
"""

import os
import subprocess
import sys
import threading
import time

import pytest

import mat
from mat.core import compiled
from mat.cpu import thread_pool
from mat.support import fork

from ..support import needs


@pytest.mark.parametrize(("count", "grain", "threads"),
                         [(0, 1, 4), (1, 1, 4), (1000, 1, 4), (1000, 300, 4), (7, 2, 3),
                          (10, 100, 2)])
def test_every_item_is_done_once(count, grain, threads):
    seen = [0] * count
    sizes = []

    def work(start, stop):
        sizes.append(stop - start)
        for k in range(start, stop):
            seen[k] += 1

    with mat.settings(threads=threads):
        thread_pool.run(work, count, grain)
    assert seen == [1] * count
    assert len(sizes) == 1 or min(sizes) >= grain


@pytest.mark.parametrize(("variable", "wanted"), [
    ("1", 1), (" 1 , 4", 1), ("", 2), ("0", 2), ("few", 2), ("-1", 2), ("100", 2), ("2", 2)])
def test_openmp_s_variable_says_how_many_threads_there_are(monkeypatch, variable, wanted):
    monkeypatch.setattr(thread_pool, "CORES", 2)
    assert thread_pool._default(variable) == wanted


def test_openmp_s_variable_is_read_at_the_start():
    code = "from mat.cpu.thread_pool import threads; print(threads())"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True,
                           env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert found.stdout.strip() == "1"


def test_one_thread_stays_in_the_caller():
    with mat.settings(threads=1):
        names = []
        thread_pool.run(lambda start, stop: names.append(threading.current_thread()), 1000, 1)
    assert names == [threading.current_thread()]


def test_several_threads_work():
    meet = threading.Barrier(3, timeout=20)
    with mat.settings(threads=3):
        # three of twelve pieces wait for each other
        thread_pool.run(lambda start, stop: start % 4 or meet.wait(), 12, 1)


@pytest.mark.parametrize("where", [0, 99])
def test_an_error_reaches_the_caller_after_all_have_left(where):
    busy = []

    def work(start, stop):
        busy.append(1)
        try:
            if start <= where < stop:
                raise ValueError(f"item {where}")
            time.sleep(0.001)
        finally:
            busy.pop()

    with mat.settings(threads=4), pytest.raises(ValueError, match=f"item {where}"):
        thread_pool.run(work, 100, 1)
    assert busy == []


def test_a_piece_may_share_its_own_work():
    total = []
    with mat.settings(threads=2):
        thread_pool.run(lambda a, b: thread_pool.run(lambda c, d: total.append(d - c), b - a, 1),
                        40, 1)
    assert sum(total) == 40


def test_many_callers_at_once():
    found = [None] * 8

    def call(k):
        with mat.settings(threads=3):
            parts = []
            thread_pool.run(lambda start, stop: parts.append(sum(range(start, stop))), 1000, 10)
            found[k] = sum(parts)

    callers = [threading.Thread(target=call, args=(k,)) for k in range(8)]
    for t in callers:
        t.start()
    for t in callers:
        t.join(30)
    assert found == [sum(range(1000))] * 8


@pytest.mark.host  # no device outlives a fork
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_computes():
    def total():
        parts = []
        thread_pool.run(lambda start, stop: parts.append(sum(range(start, stop))), 1000, 10)
        return sum(parts), len(parts)

    with mat.settings(threads=3):
        assert total()[0] == sum(range(1000))
        child = os.fork()
        if child == 0:
            os._exit(0 if total() == (sum(range(1000)), 12) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "2"])
def test_bad_numbers_of_threads(threads):
    with pytest.raises(mat.SettingError, match="above 0"), mat.settings(threads=threads):
        pass


# Ranges of kernels, shared in compiled code


def shared_add(n=300_000):
    x = mat.arange(n, dtype=float)
    return mat.add(x, x, out=mat.empty(n)), x


@needs.native
def test_kernels_are_shared_and_right():
    threads_before = threading.active_count()
    for k in (2, 3, 5, None, 1):
        with mat.settings(threads=k):
            for n in (300_000, 1_000_003):
                y, x = shared_add(n)
                assert y.equals(mat.multiply(x, 2))
    names = [t.name for t in threading.enumerate()]
    assert names.count("mat-server") >= 4  # never fewer than were asked for once
    assert threading.active_count() >= threads_before


@needs.native
def test_many_callers_share_kernels_at_once():
    """One range is shared at a time; who comes meanwhile works alone."""
    wrong = []

    def call():
        for _ in range(20):
            y, x = shared_add()
            if not y.equals(mat.multiply(x, 2)):
                wrong.append(1)

    with mat.settings(threads=3):
        shared_add()
    callers = [threading.Thread(target=call) for _ in range(4)]
    for t in callers:
        t.start()
    for t in callers:
        t.join(60)
    assert wrong == []


@needs.native
def test_compiled_calls_heed_the_number_of_threads(monkeypatch):
    told = []
    monkeypatch.setattr(thread_pool, "share_by", told.append)
    with mat.settings(threads=2):
        shared_add()
        assert set(told) == {0}  # a number of this context's own: Python sees to it
    try:
        for k in (2, 3):
            mat.configure(threads=k)
            assert told[-1] == 0
            compiled.share_by(0)
            shared_add()
            assert told[-1] == k
    finally:
        mat.configure(threads=None)


@pytest.mark.host  # no device outlives a fork
@needs.native
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_shares_kernels():
    mat.configure(threads=2)
    try:
        for _ in range(3):
            shared_add()
        child = os.fork()
        if child == 0:
            fine = all(y.equals(mat.multiply(x, 2)) for y, x in (shared_add() for _ in range(3)))
            os._exit(0 if fine and [t.name for t in threading.enumerate()].count("mat-server") == 1
                     else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert shared_add()[0].item(1) == 2
    finally:
        mat.configure(threads=None)


def test_an_interrupt_while_helpers_are_called_waits_for_those_that_work(monkeypatch):
    begun, running = threading.Event(), []

    def work(start, stop):
        running.append(start)
        begun.set()
        time.sleep(0.05)
        running.remove(start)

    def interrupted(helpers, job, count, call=thread_pool.Helpers.call):
        call(helpers, job, count)
        assert begun.wait(20)
        raise KeyboardInterrupt

    monkeypatch.setattr(thread_pool.Helpers, "call", interrupted)
    with mat.settings(threads=3), pytest.raises(KeyboardInterrupt):
        thread_pool.run(work, 100, 1)
    assert running == []
    begun.clear()
    assert not begun.wait(0.1)


# Where no thread can be started

AT_EXIT = """
import mat
{operation}  # at exit nothing can be imported any more
class Keeper:
    def __del__(self):
        print({operation})
keeper = Keeper()
keeper.itself = keeper
"""
AT_ONCE = """
import threading
def refuse(*args, **kwargs):
    raise RuntimeError("can't start new thread")
threading._start_new_thread = threading._start_joinable_thread = refuse
import mat
print({operation})
"""
OPERATIONS = {
    "share": ("float((mat.ones(100_000) + 1).sum())", "200000.0"),
    "compiled": ("float(mat.exp(mat.zeros(500_000)).sum())", "500000.0"),
    "pieces": ("float(mat.transpose(mat.ones((999, 999)), out=mat.empty((999, 999))).sum())",
               "998001.0"),
    "random": ("int((mat.empty(300_000).uniform_() < 1).sum())", "300000"),
    "joined": ("float(mat.stack([mat.ones(300_000)] * 2, axis=1).sum())", "600000.0")}


@pytest.mark.slow
@pytest.mark.unchecked("the check looks up types of C, for which nothing can be imported at exit")
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("when", [AT_EXIT, AT_ONCE], ids=["exit", "no threads"])
def test_the_caller_computes_alone(when, operation):
    """`Thread.start` waits for ever at exit, and raises an error where there is a limit."""
    text, wanted = OPERATIONS[operation]
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", when.format(operation=text)],
                          timeout=60, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, wanted), done.stderr


@pytest.mark.slow
def test_files_are_read_without_a_thread_that_reads_ahead(tmp_path):
    path = str(tmp_path / "x")
    code = AT_ONCE.format(operation=f"mat.open_memmap({path!r}, 'w+', 'f8', (3_000_000,))"
                                    ".fill_(1).sum()")
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], timeout=60,
                          capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "3000000.0", done.stderr


def test_a_refused_thread_is_tried_again_later(monkeypatch):
    monkeypatch.setattr(threading, "_start_new_thread", _refuse, raising=False)
    monkeypatch.setattr(threading, "_start_joinable_thread", _refuse, raising=False)
    monkeypatch.setattr(fork, "_refused", [-fork.RETRY])
    assert fork.start(print, name="refused") is None
    monkeypatch.undo()
    monkeypatch.setattr(fork, "_refused", [time.monotonic()])
    assert fork.start(print, name="too early") is None
    monkeypatch.setattr(fork, "_refused", [time.monotonic() - 2 * fork.RETRY])
    done = threading.Event()
    assert fork.start(done.set, name="later").daemon
    assert done.wait(20)


def _refuse(*_, **__):
    raise RuntimeError("can't start new thread")
