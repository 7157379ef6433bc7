"""A long random walk: operations, views, accesses and moves between host and devices, against NumPy
arrays all the way.

The steps are drawn from one seed. MAT_WALK_STEPS in the environment says how many.
"""

import os
import random
from contextlib import ExitStack

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mat

from ..support import selection

STEPS = int(os.environ.get("MAT_WALK_STEPS", selection.most(100_000, 15_000)))
SHAPES = [(6,), (4, 6), (2, 3, 4), (24,), (1, 5), (3, 3)]
UNARY = ["square", "sqrt", "exp", "abs", "negative", "sin", "floor", "tanh", "sign", "logistic"]
BINARY = ["add", "subtract", "multiply", "maximum", "minimum"]
NUMPY = {"logistic": lambda x: 1 / (1 + np.exp(-x))}


class Walk:
    """Pairs of a Mat and its expected elements, a view of an array as the Mat is of its storage."""

    def __init__(self, seed: int, devices: tuple[str, ...]) -> None:
        self.rng = random.Random(seed)
        self.devices = devices
        self.stack = ExitStack()
        self.depth = 0
        self.pairs = []
        for _ in range(6):
            self.make()

    def make(self):
        shape = self.rng.choice(SHAPES)
        dtype = self.rng.choice(["float64", "float64", "float32"])
        numbers = np.random.default_rng(self.rng.randrange(1 << 30))
        values = numbers.uniform(-2, 2, shape).astype(dtype)
        self.pairs.append((mat.array(values), values))

    def pick(self):
        return self.rng.choice(self.pairs)

    def alike(self, x, a):
        """Another pair of that shape and dtype in another storage."""
        found = [(y, b) for y, b in self.pairs if b.shape == a.shape and b.dtype == a.dtype
                 and y.storage is not x.storage]
        if found:
            return self.rng.choice(found)
        numbers = np.random.default_rng(self.rng.randrange(1 << 30))
        values = numbers.uniform(-1, 1, a.shape).astype(a.dtype)
        return mat.array(values), values

    # Steps

    def step(self):
        getattr(self, self.rng.choice(STEP_NAMES))()
        if len(self.pairs) > 14:
            del self.pairs[self.rng.randrange(len(self.pairs))]
        while len(self.pairs) < 4:
            self.make()

    def view(self):
        x, a = self.pick()
        if not a.size:
            return
        kind = self.rng.randrange(5)
        if kind == 0:
            self.pairs.append((x.T, a.T))
        elif kind == 1:
            self.pairs.append((x[1:], a[1:]))
        elif kind == 2:
            self.pairs.append((x[..., ::-1], a[..., ::-1]))
        elif kind == 3:
            self.pairs.append((x[..., ::2], a[..., ::2]))
        else:
            self.pairs.append((x.expand_dims(0)[0], a))

    def unary(self):
        (x, a), name = self.pick(), self.rng.choice(UNARY)
        with np.errstate(all="ignore"):
            self.pairs.append((getattr(mat, name)(x),
                               NUMPY.get(name, getattr(np, name, None))(a).astype(a.dtype)))

    def unary_in_place(self):
        (x, a), name = self.pick(), self.rng.choice(["sin", "tanh", "abs", "floor", "logistic"])
        with np.errstate(all="ignore"):
            a[...] = NUMPY.get(name, getattr(np, name, None))(a)
        getattr(x, name + "_")()

    def binary(self):
        x, a = self.pick()
        y, b = self.alike(x, a)
        name = self.rng.choice(BINARY)
        with np.errstate(all="ignore"):
            self.pairs.append((getattr(mat, name)(x, y), getattr(np, name)(a, b)))

    def binary_in_place(self):
        x, a = self.pick()
        y, b = self.alike(x, a)
        name = self.rng.choice(["maximum", "minimum", "subtract"])
        getattr(np, name)(a, b, out=a)
        getattr(x, name + "_")(y)

    def number(self):
        x, a = self.pick()
        number = self.rng.choice([0, 1.5, -0.5])
        a *= a.dtype.type(number)
        x *= number

    def axpy(self):
        x, a = self.pick()
        y, b = self.alike(x, a)
        if a.ndim == 1:
            b += b.dtype.type(0.25) * a
            mat.axpy(0.25, x, y)

    def fill(self):
        x, a = self.pick()
        a[...] = 0.5
        x.fill_(0.5)

    def reduce(self):
        x, a = self.pick()
        if a.size and a.ndim:
            axis = self.rng.choice([None, 0, -1])
            self.close(mat.sum(x, axis=axis).to_numpy(), a.sum(axis=axis))
            self.close(mat.max(x, axis=axis).to_numpy(), a.max(axis=axis))

    def product(self):
        x, a = self.pick()
        if a.ndim == 2:
            self.close(mat.matmul(x, x, transpose_b=True).to_numpy(), a @ a.T)

    def assign(self):
        x, a = self.pick()
        if a.ndim and a.shape[0] > 1:
            a[0] = a[-1].copy()
            x[0] = x[-1].copy()

    def element(self):
        x, a = self.pick()
        if a.size:
            at = tuple(self.rng.randrange(n) for n in a.shape)
            self.close(x[at], a[at])
            a[at] = x[at] = 0.125

    def copy(self):
        x, a = self.pick()
        self.pairs.append(self.rng.choice([(x.copy(), a.copy()), (x.contiguous().reshape(a.size),
                                                                  a.copy().reshape(a.size))])
                          if not x.is_contiguous else (x.copy(), a.copy()))

    def access(self):
        x, a = self.pick()
        direction = self.rng.choice(["input", "io"])
        with x.facet("array", direction) as found:
            self.close(found, a)
            if direction == "io":
                found[...] = a[...] = np.clip(a, -1, 1)

    def failing_look(self):
        x, a = self.pick()
        fresh = x.fresh
        if x.is_contiguous and x.size == x.storage.size and fresh and "host" not in fresh:
            with pytest.raises(KeyError), x.facet("array", "io") as found:
                found[...] = {}["half-way"] if self.rng.random() < 0.5 else spoil(found)
            self.close(x.to_numpy(), a)

    def drop(self):
        x, _ = self.pick()
        for name in self.rng.sample(sorted(x.fresh), len(x.fresh)):
            if len(x.fresh) > 1:
                x.drop(name)

    def enter(self):
        if self.depth < 3:
            self.depth += 1
            limit = self.rng.choice([None, None, 2000])
            self.stack.enter_context(mat.use_device(self.rng.choice(self.devices),
                                                    pool_bytes=limit))

    def leave(self):
        self.depth = 0
        self.stack.close()

    def check(self):
        x, a = self.pick()
        self.close(x.to_numpy(), a)

    def check_all(self):
        """Compare everything, and let go of what has grown too large to be compared later."""
        for x, a in self.pairs:
            self.close(x.to_numpy(), a)
        self.pairs = [(x, a) for x,
                      a in self.pairs if np.isfinite(a).all() and np.abs(a).max(initial=0) < 1e3]

    def close(self, found, wanted):
        assert_allclose(found, wanted, rtol=2e-5, atol=2e-5)


def spoil(a):
    """Overwrite the array, and fail."""
    a[...] = 77
    raise KeyError


NO_STEPS = ("make", "pick", "alike", "step", "check_all", "close")
STEP_NAMES = [n for n in vars(Walk) if not n.startswith("_") and n not in NO_STEPS]


@pytest.mark.host
@pytest.mark.sample(3)
@pytest.mark.parametrize("part", range(10))
def test_a_long_walk_agrees_with_numpy(part):
    walk = Walk(part, ("emulated", "emulated", "emulated:1", "cpu"))
    with np.errstate(all="ignore"):
        for k in range(STEPS // 10):
            walk.step()
            if k % 50 == 0:
                walk.check_all()
    walk.leave()
    walk.check_all()
