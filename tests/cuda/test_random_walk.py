"""Random steps with data on two GPUs and the host: accesses, kernels, prefetches, eviction, drops;
against NumPy at every end.

Everything is delayed until somebody waits for it, so that what nobody waited for is not there.
"""

import random

import numpy as np
import pytest

import mat
from mat import ConflictError, OutOfDeviceMemory

from .computing import launch

pytestmark = pytest.mark.host

SIZES = (1, 100, 9_000, 70_000)


class Walk:
    """Mats, and what they should hold."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.mats = [mat.array(np.arange(n, dtype=float)) for n in SIZES for _ in range(3)]
        self.held = [np.arange(n, dtype=float) for n in SIZES for _ in range(3)]
        self.flying = set()  # what a prefetch may still read
        self.conflicts = 0

    def pick(self):
        k = self.rng.randrange(len(self.mats))
        return k, self.mats[k]

    def partner(self, k):
        return self.rng.choice([j for j in range(len(self.mats))
                                if len(self.held[j]) == len(self.held[k]) and j != k])

    def facet(self):
        return f"cuda:{self.rng.randrange(2)}"

    def step(self):
        what = self.rng.choice([self.kernel, self.kernel, self.line, self.read, self.write,
                                self.fill, self.element, self.drop,
                                self.fail, self.settle])
        try:
            what()
        except ConflictError:
            assert self.flying, "nothing was in the way"
            self.conflicts += 1

    def kernel(self):
        k, x = self.pick()
        with x.facet(self.facet(), "io") as a:
            launch(a, a, 1, 1)
        self.held[k] = self.held[k] + 1

    def line(self):
        k, x = self.pick()
        j, facet = self.partner(k), self.facet()
        with mat.with_facets((x, facet, "input"), (self.mats[j], facet, "output")) as (a, b):
            launch(a, b, 0.5, 3)
        self.held[j] = 0.5 * self.held[k] + 3

    def read(self):
        k, x = self.pick()
        with x.facet("array", "input") as a:
            np.testing.assert_array_equal(a, self.held[k])

    def write(self):
        k, x = self.pick()
        with x.facet("array", "io") as a:
            a *= 0.25
        self.held[k] = self.held[k] * 0.25

    def fill(self):
        k, x = self.pick()
        value = float(self.rng.randrange(9))
        with mat.use_device("cpu"):
            x.fill_(value)
        self.held[k] = np.full_like(self.held[k], value)

    def element(self):
        k, x = self.pick()
        at = self.rng.randrange(len(self.held[k]))
        x[at] = 5
        self.held[k] = self.held[k].copy()
        self.held[k][at] = 5

    def drop(self):
        _, x = self.pick()
        if len(x.fresh) > 1:
            x.drop(self.rng.choice(sorted(x.fresh)))

    def fail(self):
        """A block that fails, where there is a copy elsewhere."""
        _, x = self.pick()
        if "host" in x.fresh:
            with pytest.raises(ZeroDivisionError), x.facet(self.facet(), "io") as a:
                self.spoil(a)

    def spoil(self, a):
        launch(a, a, 0, -1)
        raise ZeroDivisionError

    def settle(self):
        """While a block reads on the host, all may be read elsewhere."""
        _, x = self.pick()
        with x.facet("array", "input"), x.facet(self.facet(), "input"):
            pass

    def ahead(self):
        chosen = [self.pick()[1] for _ in range(6)]
        device = mat.use_device(self.facet())
        with device, mat.prefetch(to_device=chosen[:3], to_host=chosen[3:]) as p:
            self.flying = {id(x) for x in chosen}
            for _ in range(self.rng.randrange(4)):
                self.step()
        self.flying = set()
        assert p.count == 0

    def check(self):
        for x, held in zip(self.mats, self.held, strict=True):
            np.testing.assert_array_equal(x.to_numpy(), held)


@pytest.mark.parametrize("page_locked", [False, True])
@pytest.mark.parametrize("pool_bytes", [None, 3 * 8 * 70_000 + 100_000])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.sample(4)
def test_a_walk(cuda, two_devices, seed, pool_bytes, page_locked):
    if cuda.is_mock:
        cuda.delay()
        cuda.seed(seed)
    walk = Walk(seed)
    with mat.settings(page_locked=page_locked):
        with mat.use_device("cuda:0",
                            pool_bytes=pool_bytes), mat.use_device("cuda:1", pool_bytes=pool_bytes):
            for turn in range(150):
                try:
                    walk.ahead() if turn % 5 == 0 else walk.step()
                except OutOfDeviceMemory:
                    assert pool_bytes is not None
                    walk.flying = set()
            walk.check()
        assert all(x.fresh == {"host"} for x in walk.mats)
        walk.check()
