"""Threads: limits, readers with a device each, shapes that change, identities that are used again;
and each of the crews for a moment.
"""

import random
import threading
import time
import weakref

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat.extend import Observer, observe
from mat.support.fork import members

from ..support import selection
from .children import outcome_of
from .crews import CREWS, faulty, read, switching
from .invariants import DEVICES, in_use, pool_faults

pytestmark = [pytest.mark.host, pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
              pytest.mark.unchecked("threads are slow under it")]
SECONDS = 30


class Steps:
    """A thread that does one step after another, each when it is told to."""

    def __init__(self, generator):
        self.generator = generator
        self.faults = []

    def next(self):
        """Do the next step, in the thread, and wait for it."""
        self.go.set()
        assert self.done.wait(SECONDS), "a thread hangs"
        self.done.clear()

    def __enter__(self):
        self.go, self.done = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        return self

    def run(self):
        try:
            while self.go.wait(SECONDS):
                self.go.clear()
                if next(self.generator, None) is None:
                    break
                self.done.set()
        except BaseException as error:
            self.faults.append(error)
        self.done.set()

    def __exit__(self, *_):
        while self.thread.is_alive() and not self.faults:
            self.go.set()
            self.thread.join(0.01)
        assert not self.faults, self.faults


def in_child(body):
    def run():
        body()
        assert in_use() == []
        assert pool_faults(*DEVICES) == []

    text = outcome_of(run)
    assert not text, text


# Limits

def limit():
    return mat.memory_report().by_memory["emulated"]["limit"]


def block(pool_bytes):
    with mat.use_device("emulated", pool_bytes=pool_bytes):
        yield 1
    yield 2


@pytest.mark.parametrize(("first", "second"), [(5000, 1000), (1000, 5000), (1000, 1000),
                                               (None, 1000), (1000, None)])
@pytest.mark.parametrize("nested", [True, False])
def test_the_least_limit_of_the_open_blocks_counts(first, second, nested):
    def least(*limits):
        return min((n for n in limits if n is not None), default=None)

    @in_child
    def body():
        with Steps(block(first)) as a, Steps(block(second)) as b:
            a.next()
            assert limit() == first
            b.next()
            assert limit() == least(first, second)
            (b if nested else a).next()
            assert limit() == (first if nested else second)
            (a if nested else b).next()
            assert limit() is None


def test_a_limit_below_what_other_threads_use_is_refused_and_leaves_nothing():
    def keeping(x):
        with mat.use_device("emulated"), x.keep("emulated"):
            yield 1
        yield 2

    @in_child
    def body():
        x = mat.zeros(100).fill_(1)
        with Steps(keeping(x)) as other:
            other.next()
            with pytest.raises(mat.OutOfDeviceMemory), mat.use_device("emulated", pool_bytes=80):
                pytest.fail("800 bytes are in use")
            assert limit() is None
            other.next()


# Readers

def reading(x):
    with mat.use_device("emulated"):
        x + x
        with x.facet("emulated", "input"):
            yield 1
    yield 2


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_readers_in_blocks_of_their_own_do_not_conflict(order):
    @in_child
    def body():
        x = mat.array([1.0, 2, 3])
        with Steps(reading(x)) as a, Steps(reading(x)) as b:
            a.next()
            b.next()
            for name in order:
                {"a": a, "b": b}[name].next()
        assert x.fresh == {"host"}
        assert x.to_numpy().tolist() == [1, 2, 3]


def test_a_reader_within_a_block_of_another_thread():
    """The copy belongs to the block in which it was made, and another thread still reads it."""
    def computing(x):
        with mat.use_device("emulated"):
            yield float((x + x).sum())
        yield 2

    @in_child
    def body():
        x = mat.array([1.0, 2, 3])
        with Steps(computing(x)) as a, Steps(reading(x)) as b:
            a.next()
            b.next()
            a.next()
            b.next()
        assert x.fresh == {"host"}


# Shapes that change meanwhile

class Between(Observer):
    """Call a function in another thread when the first access begins."""

    def __init__(self, call):
        self.call = call
        self.error = None

    def entered(self, record):
        call, self.call = self.call, None
        if call is not None:
            thread = threading.Thread(target=self.run, args=(call,))
            thread.start()
            thread.join(SECONDS)

    def run(self, call):
        try:
            call()
        except Exception as error:
            self.error = error


CHANGES = {
    "view_": lambda y: y.view_(2), "reshape_": lambda y: y.reshape_(3, 2),
    "displaced": lambda y: y.view_((2, 3), 6), "adjust_": lambda y: y.adjust_((4, 5)),
    "row_": lambda y: y.row_(1),
}
BOTH = {
    "add": (lambda x, y: x + y, lambda a, b: a + b),
    "axpy": (lambda x, y: mat.axpy(2, x, y), lambda a, b: 2 * a + b),
    "axpy-to-x": (lambda x, y: mat.axpy(2, y, x), lambda a, b: a + 2 * b),
    "iadd": (lambda x, y: x.__iadd__(y), lambda a, b: a + b),
    "exp-out": (lambda x, y: mat.exp(x, out=y), lambda a, b: np.exp(a)),
    "exp-of-y": (lambda x, y: mat.exp(y, out=x), lambda a, b: np.exp(np.broadcast_to(b, a.shape))),
    "dot": (lambda x, y: x @ y.T, lambda a, b: a @ b.T),
    "assign": (lambda x, y: x.__setitem__(..., y) or x,
               lambda a, b: np.broadcast_to(b, a.shape)),
    "sum": (lambda x, y: mat.sum(x, axis=0) + y.sum(axis=0), lambda a, b: a.sum(0) + b.sum(0)),
}


def references(reference, a, *forms):
    """Yield the right results for the forms with which there is one."""
    for b in forms:
        try:
            yield reference(a, b)
        except ValueError:
            pass


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("operation", BOTH)
@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.sample(20)
def test_a_shape_that_changes_in_the_middle_of_an_operation(operation, change, device):
    """What comes out is right for one of the shapes, or there is one of our errors."""
    call, reference = BOTH[operation]

    def run():
        a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0) + 1
        x, y = mat.array(a), mat.array(b)
        y.view_((2, 3))
        late = mat.array(b)
        late.view_((2, 3))
        CHANGES[change](late)
        observer = Between(lambda: CHANGES[change](y))
        with mat.use_device(device):
            call(x.copy(), y.copy())
            try:
                with observe(observer):
                    found = call(x, y)
            except mat.MatError:
                return "" if not observer.error else repr(observer.error)
        assert observer.error is None or isinstance(observer.error, mat.ConflictError)
        right = list(references(reference, a, b[:6].reshape(2, 3), late.to_numpy()))
        got = found.to_numpy()
        assert any(r.shape == got.shape and np.allclose(r, got) for r in right), (got, right)
        return ""

    text = outcome_of(run, 20)
    assert not text, text


# Identities

def thread_with(ident, call):
    """Call `call` in a thread that has an identity again; return False if none gets it."""
    for _ in range(200):
        found = []

        def run(found=found):
            if threading.get_ident() == ident:
                found.append(call())

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        if found:
            return True
    return False


@pytest.mark.parametrize("held", ["input", "io", "output"])
def test_an_identity_that_is_used_again(held):
    @in_child
    def body():
        x = mat.zeros(4).fill_(1)
        looks, idents = [], []

        def leave_open():
            look = x.facet("array", held)
            look.__enter__()
            looks.append(look)
            idents.append(threading.get_ident())

        thread = threading.Thread(target=leave_open)
        thread.start()
        thread.join()

        def follow():
            with x.facet("backing", "output") as a:
                a[...] = 2
            return True

        if not thread_with(idents[0], follow):
            return
        assert x.to_numpy().tolist() == [2, 2, 2, 2]
        looks.clear()
        assert x.to_numpy().tolist() == [2, 2, 2, 2]


@pytest.mark.parametrize("held", ["input", "io", "output"])
def test_a_thread_that_has_ended_holds_nothing(held):
    @in_child
    def body():
        x = mat.zeros(4).fill_(1)
        looks = []

        def leave_open():
            look = x.facet("array", held)
            look.__enter__()
            looks.append(look)

        thread = threading.Thread(target=leave_open)
        thread.start()
        thread.join()
        with x.facet("array", "output") as a:
            a[...] = 2
        assert x.to_numpy().tolist() == [2, 2, 2, 2]


def test_a_report_while_threads_build_tuples():
    """A report must not look at tuples that other threads have not finished: their code fails."""
    def build():
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            assert tuple(k for k in range(50))[49] == 49

    def report():
        mat.memory_report()

    def run():
        faults = []
        with switching():
            thread = threading.Thread(target=faulty, args=(build, faults))
            thread.start()
            while thread.is_alive():
                report()
            thread.join()
        assert not faults, faults

    text = outcome_of(run, 60)
    assert not text, text


def test_weak_sets_that_another_thread_changes():
    kept, faults = weakref.WeakSet(), []
    own = {Steps(None) for _ in range(100)}
    for one in own:
        kept.add(one)
    end = time.monotonic() + 0.2

    def add():
        while time.monotonic() < end:
            kept.add(Steps(None))

    with switching():
        thread = threading.Thread(target=faulty, args=(add, faults))
        thread.start()
        while thread.is_alive():
            assert own <= set(members(kept))
        thread.join()
    assert not faults, faults


# Crews

@pytest.mark.parametrize("name", CREWS)
def test_a_crew(name):
    def run():
        assert CREWS[name](random.Random(1), time.monotonic() + selection.most(1.0, 0.1))

    text = outcome_of(run, 60)
    assert not text, text


def test_read():
    x = mat.ones(2)
    assert_array_equal(read(x), [1, 1])
