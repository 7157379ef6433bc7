"""`Reductions`: random statements of `Program` that reduce values, and compute with the results."""

import random
from typing import Any

import numpy as np

FOLDS = ("sum", "max", "min", "mean", "any", "all", "count_nonzero", "argmax", "var", "prod")


class Reductions:
    """Statements of a program, which has the rest."""

    random: random.Random
    folder: Any
    any: Any
    each: Any
    adjusted: Any
    add: Any
    file: Any
    write: Any

    def fold(self):
        name = self.random.choice(FOLDS)
        x = self.any("iuf" if name != "any" else "biuf")
        if x is None or not x[2].size:
            return None
        axis = self.random.choice([None, *range(x[2].ndim)])
        more = {"keepdims": True} if self.random.random() < 0.3 else {}

        def run(m, x):
            if m is np and name == "prod" and x.dtype == "e":  # ours vanish at the end only
                return np.prod(x, axis, "f4", **more).astype("e")
            return m.asarray(getattr(m, name)(x, axis=axis, **more))
        return self.each(run, x)

    def standard(self):
        """Compute with several reductions of one Mat, perhaps in a file."""
        x = self.any("f")
        if self.folder and self.random.random() < 0.5:
            a = np.array([self.random.randrange(-40, 40) / 4 for _ in range(48)])
            a = a.reshape(6, 8).astype(self.random.choice("fde"))
            x = *(self.file(a) for _ in range(2)), a
            self.add(x)
        if x is None or x[2].ndim < 2 or not x[2].size:
            return None
        axis = self.random.choice((0, 0, None))
        first, second = (self.random.choice(("mean", "min", "sum", "var")) for _ in range(2))

        def run(m, x):
            return (x - getattr(x, first)(axis=axis)) * (getattr(x, second)(axis=axis) + 1)
        return self.each(run, x)

    def moments(self):
        """Reduce expressions of a value more than once, perhaps read between."""
        x = self.any("fiu")
        if x is None or not x[2].size or x[2].dtype == "e":  # of few digits
            return
        axes = [self.random.choice((None, *range(x[2].ndim))) for _ in range(3)]
        names = [self.random.choice(("mean", "sum", "max", "min", "var", "std")) for _ in range(3)]
        kind = self.random.choice(("one", "two", "of x", "chain"))
        reads = self.random.random() < 0.3

        def run(m, x):
            a = (x * 0.5).astype("f8") + 1
            b = {"one": a, "two": a * 2, "of x": x, "chain": a - getattr(a, names[0])(axis=axes[0])}
            first, second = getattr(a, names[0])(axis=axes[0]), getattr(b[kind], names[1])(
                axis=axes[1])
            if reads:
                np.asarray(first).sum()
            return second + getattr(a, names[2])(axis=axes[1]), first

        if kind == "chain" and axes[0] not in (None, 0):
            return
        found = self.each(run, x, own=True)
        for one in zip(*found, strict=True) if found else ():
            # what is left of a difference has the last bits of what was subtracted
            self.add(self.adjusted(*one, terms=found[-1][1] if kind == "chain" else 0))
        return

    def standard_in_place(self):
        """Standardise a value in place, perhaps one in a file, beside others that read it."""
        x = self.any("f")
        if self.folder and self.random.random() < 0.7:
            a = np.array([self.random.randrange(-40, 40) / 4 for _ in range(96)])
            a = a.reshape(12, 8).astype(self.random.choice("fd"))
            x = *(self.file(a) for _ in range(2)), a
            self.add(x)
        if x is None or x[2].ndim < 2 or not x[2].size:
            return None
        kind, more = self.random.randrange(5), self.random.randrange(4)
        reads = self.random.random() < 0.5

        def run(m, x):
            before = {0: lambda: x * 2, 1: lambda: x.T + 1, 2: lambda: x.sum(axis=0),
                      3: lambda: x[:1]}[more]()
            mean, scale = x.mean(axis=0), x.max(axis=0) + 1
            if kind == 0:
                x -= mean
                x /= scale * scale + 1
            elif kind == 1:
                x[...] = (x - mean) * scale
            elif kind == 2:
                m.multiply(x - mean, scale, out=x)
            elif kind == 3:
                x -= x[:1]
                x[...] = x[::-1] * scale
            else:
                x -= x.mean(axis=0)
                x *= x.max(axis=0) + 1
            if reads:
                np.asarray(x[(0,) * x.ndim])
            return before if more == 3 else before + x.sum()
        if x[2].dtype == "e":  # means of few digits that cancel out are not NumPy's
            return None
        found = self.each(run, x, own=True)
        if found is None:
            return None
        x[2][...] = self.adjusted(*x)[2]
        if more != 3:
            found = self.adjusted(*found, terms=x[2])
        self.write(lambda m, x: None, x)
        return found

    def rows(self):
        """Compute with what the rows of a value, or of an expression, are reduced to."""
        x = self.any("f")
        if x is None or x[2].ndim < 2 or not x[2].size:
            return None
        names = [self.random.choice(("max", "sum", "mean", "min", "var")) for _ in range(2)]
        kinds = [self.random.choice(("", "in place", "kept", "alone")) for _ in range(2)]

        def run(m, x):
            found = x if kinds[0] else x * 0.5
            for name, kind in zip(names, kinds, strict=True):
                one = getattr(found, name)(axis=-1, keepdims=True)
                if kind == "in place" and found is not x:
                    found -= one
                elif kind == "alone":
                    found = found - (one + 1)
                else:
                    found = found - one
            return found + one if kinds[1] == "kept" else found
        if x[2].dtype != "e":
            return self.each(run, x)
        found = self.each(run, x, own=True)  # means of few digits that cancel out are not NumPy's
        return found and (*found[:2], found[1].to_numpy().copy())
