"""Random programs of ordinary statements on Mats, in blocks of devices and outside, beside the same
statements on arrays of NumPy's.
"""

import random

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mat
from mat.core import coherence

from ..support import selection

pytestmark = pytest.mark.host  # these use devices of their own

SHAPES = (1,), (3,), (64,), (4, 5), (2, 3, 4), (30, 40)
DTYPES = "float64", "float32", "int64", "float16", "complex64"
MOST = 8  # Mats of a program at a time


# Statements: of NumPy or mat, on an array or a Mat, with the same random numbers for both. What one
# returns is used by later ones.


def place(x, r):
    return tuple(r.randrange(n) for n in x.shape)


def set_element(xp, x, r):
    x[place(x, r)] = r.randrange(50)


def set_row(xp, x, r):
    x[r.randrange(len(x))] = r.randrange(50)


def set_rows(xp, x, r):
    x[[r.randrange(len(x)) for _ in range(3)]] = r.randrange(50)


def set_all(xp, x, r):
    x[...] = r.randrange(50)


def set_masked(xp, x, r):
    x[xp.abs(x) > r.randrange(20)] = 0


def shift(xp, x, r):
    x[1:] = x[:-1].copy()


def add_in_place(xp, x, r):
    x += r.randrange(3)


def double(xp, x, r):
    xp.add(x, x, out=x)


def subtract_first(xp, x, r):
    x -= x[0].copy()


STATEMENTS = (
    *(set_element,) * 3, set_row, set_rows, set_all, set_masked, shift, add_in_place, double,
    subtract_first,
    lambda xp, x, r: x + 1,
    lambda xp, x, r: x - x.sum(),
    lambda xp, x, r: x.sum(axis=-1),
    lambda xp, x, r: x[place(x, r)],
    lambda xp, x, r: x[[r.randrange(len(x)) for _ in range(3)]],
    lambda xp, x, r: x[xp.abs(x) > 3],
    lambda xp, x, r: x.T,
    lambda xp, x, r: x[::-1],
    lambda xp, x, r: x[r.randrange(len(x)):],
    lambda xp, x, r: x.copy(),
    lambda xp, x, r: x.reshape(-1)[::2].copy(),
    lambda xp, x, r: xp.concat([x, x]),
    lambda xp, x, r: xp.where(xp.abs(x) > 3, x, -x),
    lambda xp, x, r: xp.cumsum(x, axis=0),
    lambda xp, x, r: xp.sort(x.reshape(-1).copy()),
    lambda xp, x, r: xp.unique(x.real.copy()),
    lambda xp, x, r: x.astype("complex128"),
    lambda xp, x, r: x.T @ x if x.ndim == 2 else None,
)


# What moves data, and changes none


def access(x, r, facets):
    with x.facet(r.choice(facets), r.choice(("io", "input"))):
        pass


def drop(x, r, facets):
    x.drop(r.choice(("host", *facets[1:])))


def prefetch(x, r, facets):
    with mat.prefetch(**{r.choice(("to_device", "to_host")): [x]}):
        pass


class Program:
    """The arrays and Mats of a program; `facets` are those to access them by."""

    def __init__(self, seed, facets):
        self.r, self.facets, self.pairs, self.log = random.Random(seed), facets, [], []

    def run(self):
        for _ in range(4):
            self.block(0)
        for a, x in self.pairs:
            self.compare(a, x)

    def block(self, depth):
        for _ in range(self.r.randrange(3, 12)):
            if depth < 3 and self.r.random() < 0.15:
                device = self.r.choice(("cpu", *self.facets[1:]))
                pool = self.r.choice((None, None, 2_000, 20_000)) if device != "cpu" else None
                self.log.append((device, pool))
                with mat.use_device(device, pool_bytes=pool):
                    self.block(depth + 1)
            elif len(self.pairs) < 3 or self.r.random() < 0.1:
                self.create()
            else:
                self.step()

    def create(self):
        shape, dtype = self.r.choice(SHAPES), self.r.choice(DTYPES)
        number = self.r.randrange(5)
        a = np.full(shape, number, dtype)
        if self.r.random() < 0.5:
            a += np.arange(a.size).reshape(shape).astype(dtype)
            self.pairs.append((a, mat.array(a)))
        else:  # which has no elements yet
            self.pairs.append((a, mat.full(shape, number, dtype=dtype)))

    @np.errstate(all="ignore")
    def step(self):
        a, x = self.pairs[k := self.r.randrange(len(self.pairs))]
        if self.r.random() < 0.2:
            move = self.r.choice((access, drop, prefetch))
            self.log.append((k, move.__name__))
            try:
                move(x, self.r, self.facets)
            except (mat.ConflictError, mat.DeviceError):  # the only copy, and no such device in use
                pass
            return
        statement, seed = self.r.choice(STATEMENTS), self.r.random()
        self.log.append((k, statement.__name__, statement.__code__.co_firstlineno))
        wanted = statement(np, a, random.Random(seed))
        found = statement(mat, x, random.Random(seed))
        if wanted is not None:
            self.compare(wanted, found)
        if np.ndim(wanted) and np.size(wanted) and np.size(wanted) < 5_000:
            self.pairs.append((wanted, found))
            if len(self.pairs) > MOST:
                self.pairs.pop(self.r.randrange(MOST))

    def compare(self, a, x):
        found = np.asarray(x)
        assert found.shape == np.shape(a)
        assert found.dtype == np.asarray(a).dtype
        # rounding makes small differences, lost or stale elements make larger ones
        most = 0.0 if found.dtype.kind in "iu" else 0.03
        largest = float(np.max(np.abs(a), where=np.isfinite(a), initial=1))
        assert_allclose(found, a, rtol=most, atol=most * largest, err_msg=str(self.log[-20:]))


@pytest.mark.parametrize("small", [0, coherence.SMALL])
@pytest.mark.parametrize("devices", [("emulated",), ("emulated:0", "emulated:1"), ("cuda",)])
def test_programs(devices, small, monkeypatch, request):
    """`small`: the bytes of storages that are copied whole."""
    if "cuda" in devices:
        request.getfixturevalue("cuda")
    monkeypatch.setattr(coherence, "SMALL", small)
    for seed in range(selection.most(400, 5)):
        try:
            Program(seed, ("array", *devices)).run()
        except mat.OutOfDeviceMemory:
            continue  # what cannot be cut has no room in the pool
