"""Random programs in which operations fail: all elements are as before or as after the statement,
or torn, and nothing is left open. Their Mats have views of other dtypes, and share memory.
"""

import gc
import pickle
import random

import numpy as np
import pytest

import mat
from mat.core import coherence, observers, source_line
from mat.core.compiled import IN_USE
from mat.core.observers import OBSERVERS
from mat.devices.device import device_named
from mat.devices.in_use import in_use

from ..support import selection
from .test_random_programs import STATEMENTS, Program

pytestmark = [pytest.mark.host, pytest.mark.unchecked("the check reads what is torn")]
ALWAYS = list(OBSERVERS)
EVENTS = "allocation", "h2d", "d2h", "launch"


class Injected(Exception):
    """What an implementation raises."""


class Fails(observers.Observer):
    """An observer in which the k-th operation fails, before it computes or after."""

    def __init__(self, k, after):
        self.rest, self.after = k, after

    def computing(self, operation, memory):
        if not self.after:
            self.count()

    def computed(self, operation, memory, seconds):
        if self.after:
            self.count()

    def count(self):
        self.rest -= 1
        if not self.rest:
            raise Injected


def typed(xp, x, r):
    """A view of elements of half, the same or twice the size, where there is one."""
    names = ("int32", "float64", "int64", "complex64", "float32", "uint16")
    fits = [n for n in names if x.shape[-1] * x.dtype.itemsize % np.dtype(n).itemsize == 0]
    contiguous = x.flags.c_contiguous and x.ndim
    return x.view(r.choice(fits)) if contiguous and fits else None


class FaultyProgram(Program):
    """A program whose statements fail at times; NumPy's arrays follow what is left."""

    def create(self):
        if self.r.random() < 0.3:
            return self.share()
        return super().create()

    def share(self):
        """Make two Mats over parts of one memory, and arrays over parts of another."""
        n = self.r.choice((6, 40, 600))
        memory, wanted = np.arange(float(n)), np.arange(float(n))
        for part in (slice(0, 2 * n // 3), slice(n // 3, n)):
            self.pairs.append((wanted[part], mat.from_numpy(memory[part])))

    @np.errstate(all="ignore")
    def step(self):
        if self.r.random() < 0.2:
            super().step()
            return
        a, x = self.pairs[k := self.r.randrange(len(self.pairs))]
        statement, seed = self.r.choice((*STATEMENTS, typed, typed)), self.r.random()
        self.log.append((k, statement.__name__, statement.__code__.co_firstlineno))
        before = [b.copy() for b, _ in self.pairs]
        wanted = statement(np, a, random.Random(seed))
        try:
            found = self.failing(lambda: statement(mat, x, random.Random(seed)))
        except (mat.DeviceError, Injected) as error:
            self.log.append(type(error).__name__)
            self.check_left(before)
            return
        except mat.ShapeError:
            if statement is not typed:  # whose elements would not be aligned, which NumPy allows
                raise
            return
        self.follow()
        if wanted is not None:
            self.compare(wanted, found)
        if np.ndim(wanted) and np.size(wanted) and np.size(wanted) < 5_000:
            if wanted.base is None:
                wanted[...] = seen(found)
            self.pairs.append((wanted, found))
            if len(self.pairs) > 8:
                self.pairs.pop(self.r.randrange(8))

    def failing(self, call):
        """Call, with a fault at a random event, allocation, or operation, or none."""
        k, kind, device = self.r.randrange(1, 4), self.r.randrange(4), in_use()
        if kind == 0 and hasattr(device, "fail"):
            what = self.r.choice(EVENTS)
            self.log.append((what, k))
            device.fail(**{what: k})
            try:
                return call()
            finally:
                device.fail(**{what: 0})
        if kind == 1:
            fails = Fails(k, self.r.random() < 0.5)
            self.log.append(("fails", k, fails.after))
            with observers.Observation(lambda: fails):
                return call()
        return call()

    def follow(self):
        """Have the arrays the same bits as the Mats: other views see all of them."""
        for a, x in self.pairs:
            found = seen(x)
            self.compare(a, found)
            a[...] = found

    def check_left(self, before):
        """Check that all is as before or as after, and have the arrays follow; what is torn is
        overwritten.
        """
        left = []
        for (_, x), old in zip(self.pairs, before, strict=True):
            try:
                left.append(seen(x))
            except mat.TornError:
                x[...] = old
                left.append(old)
        same = [all(np.allclose(found, old, rtol=0.03, atol=1e-2 * top(old), equal_nan=True)
                    for found, old in zip(left, state, strict=True))
                for state in (before, [a for a, _ in self.pairs])]
        assert any(same), self.log[-20:]
        for (a, _), found in zip(self.pairs, left, strict=True):
            a[...] = found


def seen(x):
    """Return the elements of a Mat, of which no copy moves."""
    return pickle.loads(pickle.dumps(x)).to_numpy()


def top(a):
    return float(np.max(np.abs(a), where=np.isfinite(a), initial=1))


def check_nothing_is_open(program):
    for _, x in program.pairs:
        assert not x.storage.accesses, program.log[-20:]
    assert list(OBSERVERS) == ALWAYS
    assert not IN_USE
    assert not source_line.RUNNING
    assert not vars(observers._waits).get("open")


@pytest.mark.parametrize("small", [0, coherence.SMALL])
@pytest.mark.parametrize("devices", [("emulated",), ("emulated:0", "emulated:1")])
def test_programs_that_fail(devices, small, monkeypatch):
    monkeypatch.setattr(coherence, "SMALL", small)
    for seed in range(selection.most(60, 2)):
        program = FaultyProgram(seed, ("array", *devices))
        program.run()
        check_nothing_is_open(program)
        del program
    gc.collect()
    for name in devices:
        assert device_named(name).memory.used == 0
