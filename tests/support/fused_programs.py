"""`Program`: random statements on Mats in `mat.fused` blocks, held against NumPy and against Mats
outside of such blocks, bit for bit.
"""

import contextlib
import contextvars
import copy
import io
import operator
import pickle
import random
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest

import mat
import mat.cpu.program
from mat.ops.expressions import computing, deferral

from .fused_reductions import Reductions

EXACT = ["e", "d", "f", "i4", "i8", "u1", "?", "i1", "u2", "u4", "u8", "i2", "F", "D"]
DTYPES = [*EXACT[:5] * 3, *EXACT]
ONE = {"negative": "iufc", "absolute": "iuf", "floor": "f", "square": "iuf", "logical_not": "b",
       "sqrt": "f", "exp": "f", "tanh": "f", "sign": "f", "isnan": "fc", "invert": "iub",
       "conjugate": "c"}
TWO = {"add": "biufc", "subtract": "iufc", "multiply": "iufc", "maximum": "biuf",
       "minimum": "iuf", "less": "iuf", "greater_equal": "iuf", "equal": "biufc",
       "logical_and": "b", "divide": "f", "bitwise_and": "biu", "arctan2": "f",
       "not_equal": "iufc", "floor_divide": "f"}
IN_PLACE = (operator.iadd, operator.isub, operator.imul)
NUMBERS = (2, 0.5, -3, 1.25, 0, True)


class Failure(Exception):
    """What a statement of a block raises."""


class World:
    """A context in which statements are carried out, and the threads that carry them out."""

    def __init__(self, module):
        self.module = module
        self.context = contextvars.copy_context()
        self.blocks = contextlib.ExitStack()

    def enter(self, block):
        """Enter a block, until the end of the program or `leave`."""
        return self.context.run(self.blocks.enter_context, block)

    def leave(self):
        """Leave all blocks."""
        self.context.run(self.blocks.close)


class Program(Reductions):
    """Statements on values, each of which is three: a Mat in blocks, one outside, and an array."""

    def __init__(self, seed, folder=None, device=None, pool_bytes=None):
        self.random, self.folder = random.Random(seed), folder
        self.device, self.pool_bytes = device, pool_bytes
        self.values, self.exports, self.foreign = [], [], []
        self.worlds = World(mat), World(mat), World(np)
        self.worlds[2].context.run(np.seterr, all="ignore")
        self.shape = self.random.choice(((6, 5), (6, 5), (3, 40), (1, 7), (16, 9)))
        self.counts, self.files, self.said = {}, 0, []
        self.threads = self.thread = None  # an executor, and whether it runs the statement

    # The three worlds

    def each(self, function, *operands, own=False):
        """Carry out a statement in each world; return its results, or None where it is an error,
        which has to be that of Mats outside of blocks.
        """
        fused, eager, plain = self.worlds
        try:
            expected = self.run(eager, function, [x[1] for x in operands])
        except Exception as error:
            self.refuse(error, function, [x[0] for x in operands])
            return None
        array = plain.context.run(function, np, *[x[2] for x in operands])
        result = self.run(fused, function, [x[0] for x in operands])
        if own:
            return result, expected, array
        return self.adjusted(result, expected, array)

    def run(self, world, function, operands):
        """Carry out a statement; in another thread, if the program says so."""
        if self.thread is None:
            return world.context.run(function, mat, *operands)
        return self.thread.submit(function, mat, *operands).result()

    def refuse(self, error, function, operands):
        """Have a statement raise the error that it raises outside of blocks."""
        try:
            self.run(self.worlds[0], function, operands)
        except type(error):
            return
        raise AssertionError(f"not raised: {error!r}")

    def adjusted(self, result, expected, array, terms=0):
        """Return results; functions of other last bits or another order than NumPy's have those of
        `mat`. Terms are what has been summed: where they cancel out, sums differ by last bits of
        them.
        """
        if not isinstance(expected, mat.Mat):
            check(result, expected)
            return None
        array = self.ordered_as(expected, np.asarray(array))
        found = expected.to_numpy()
        assert found.dtype == array.dtype, (found.dtype, array.dtype)
        assert found.shape == array.shape, (found.shape, array.shape)
        assert not array.size or (result.is_contiguous == expected.is_contiguous
                                  == array.flags.c_contiguous), (array.shape, array.strides)
        if not same(found, array):
            short = array.dtype == "e"
            with np.errstate(all="ignore"):  # in another order, sums and products may overflow
                finite = np.isfinite(found + array)
                largest = max(np.max(np.abs(array), initial=0, where=finite),
                              np.max(np.abs(terms), initial=0, where=np.isfinite(terms)))
                # differences of large values keep the last bits in which means differ
                near = ~finite | np.isclose(found, array, rtol=1e-2 if short else 1e-4,
                                            atol=1e-2 + (1e-2 if short else 1e-5) * float(largest))
            assert near.all(), (found[~near], array[~near])
            array = array.copy("K")
            array[...] = found
        return result, expected, array

    def ordered_as(self, x, a):
        """Return a, or a copy in the order of x, where a is new: NumPy's results of reductions,
        joins and sorts have the order of operands, ours are row-major. Else what `reshape(-1)`
        returns of them would be a view in one world only.
        """
        if a.flags.c_contiguous == x.is_contiguous or any(
                np.may_share_memory(a, v[2]) for v in self.values):
            return a
        found = np.empty_like(np.asarray(x), a.dtype)
        found[...] = a
        return found

    # Statements

    def step(self):
        """Carry out one statement."""
        kind = self.random.choices(list(KINDS), list(KINDS.values()))[0]
        if len(self.values) < 4:
            kind = "new"
        self.counts[kind] = self.counts.get(kind, 0) + 1
        self.said.append(kind)
        if self.threads is not None and self.random.random() < 0.04:
            self.thread = self.threads
            self.said[-1] += " in a thread"
        try:
            made = getattr(self, kind)()
        finally:
            self.thread = None
        if made is not None:
            self.add(made)
        while len(self.values) > 14:
            self.delete()

    def add(self, value):
        """Keep a value, within bounds that no sum leaves."""
        a = value[2]
        if a.size > 1 << 12 or a.dtype.char not in "".join(EXACT) + "lLqQ":
            return
        if a.dtype.kind in "fc" and a.size:
            with np.errstate(all="ignore"):
                if not (np.abs(np.nan_to_num(a)) < 1e3).all():
                    value = self.each(bounded, value)
        self.values.append(value)

    def any(self, kinds="biufc"):
        """Return any value whose dtype has one of those kinds, or None."""
        found = [v for v in self.values if v[2].dtype.kind in kinds]
        return self.random.choice(found) if found else None

    def operand(self, kinds):
        """Return a value or a number."""
        if self.random.random() < 0.2:
            number = self.random.choice(NUMBERS)
            return number, number, number
        return self.any(kinds) or (1, 1, 1)

    def elements(self):
        """Return elements of a new Mat, at least one."""
        n, m = self.shape
        shape = self.random.choice([(n, m), (n, m), (n, m), (m,), (n, 1), (n * m,), (2, n, m)])
        dtype = np.dtype(self.random.choice(DTYPES))
        low = 0 if dtype.kind in "ub" else -40
        a = np.array([self.random.randrange(low, 40) / 4 for _ in range(int(np.prod(shape)))])
        if dtype.kind == "f" and self.random.random() < 0.2:
            a[self.random.randrange(a.size)] = self.random.choice((np.nan, np.inf, -0.0))
        if dtype.kind == "c":
            a = a + 1j * a[::-1]
        return a.astype(dtype).reshape(shape)

    def new(self):
        a = self.elements()
        kind = self.random.choice(("array", "array", "array", "zeros", "foreign", "file", "full"))
        if kind == "zeros":
            return (*(mat.zeros(a.shape, dtype=a.dtype) for _ in range(2)), np.zeros_like(a))
        if kind == "full":
            return (*(mat.full(a.shape, 3, dtype=a.dtype) for _ in range(2)), np.full_like(a, 3))
        if kind == "foreign":
            owners = a.copy(), a.copy()
            self.foreign.append((*owners, a))
            return (*map(mat.from_numpy, owners), a)
        if kind == "file" and self.folder and a.ndim == 2:
            return (*(self.file(a) for _ in range(2)), a)
        return mat.array(a), mat.array(a), a.copy()

    def file(self, a):
        self.files += 1
        x = mat.open_memmap(f"{self.folder}/{self.files}.npy", "w+", a.dtype, a.shape)
        x[...] = a
        return x

    def one(self):
        name = self.random.choice(list(ONE))
        x = self.any(ONE[name])
        return x and self.each(lambda m, x: getattr(m, name)(x), x)

    def two(self):
        name = self.random.choice(list(TWO))
        x, y = self.operand(TWO[name]), self.operand(TWO[name])
        if not fit(x[2], y[2]):
            return None
        return self.each(lambda m, x, y: getattr(m, name)(x, y), x, y)

    def chain(self):
        x, y = self.any("fiu"), self.operand("fiu")
        if x is None or not fit(x[2], y[2]):
            return None
        function = self.random.choice((
            lambda m, x, y: (x * 2 + y) * (x - y), lambda m, x, y: (x < y) | (y >= x),
            lambda m, x, y: m.where(x > y, x, y), lambda m, x, y: m.where(x > y, x, y * 2) + x,
            lambda m, x, y: m.maximum(x, 0) + m.minimum(y, 0)))
        return self.each(function, x, y)

    def clip(self):
        x = self.any("f")
        return x and self.each(lambda m, x: x.clip(-2.0, 3.0), x)

    def cast(self):
        x, dtype = self.any(), np.dtype(self.random.choice(DTYPES))
        if x is None:
            return None
        a = x[2]
        if (a.dtype.kind in "fc" and dtype.kind in "iu") or a.dtype.kind == "c" != dtype.kind:
            return None
        return self.each(lambda m, x: x.astype(dtype), x)

    def update(self):
        x, y, function = self.any("iufc"), self.operand("biufc"), self.random.choice(IN_PLACE)
        if x is not None and lands(x[2], y[2]) and is_rounded_alike(function, x[2], y[2]):
            self.write(lambda m, x, y: function(x, y), x, y)

    def part(self):
        x, y = self.view(), self.operand("biufc")
        function = self.random.choice((*IN_PLACE, store))
        if x is not None and x[2].dtype.kind != "b" and lands(x[2], y[2]) and (
                is_rounded_alike(function, x[2], y[2])):
            self.write(lambda m, x, y: function(x, y), x, y)

    def write(self, function, x, *more):
        """Carry out a statement that writes x, and keep its elements within bounds."""
        self.each(function, x, *more, own=True)
        a = x[2]
        with np.errstate(all="ignore"):
            if a.dtype.kind in "fc" and not (np.abs(np.nan_to_num(a)) < 1e3).all():
                self.each(lambda m, x: store(x, 1), x, own=True)

    def out(self):
        name = self.random.choice(("add", "multiply", "maximum", "subtract"))
        x, y, z = self.operand("iuf"), self.operand("iuf"), self.any("iuf")
        a, b = x[2], y[2]
        if z is None or (np.isscalar(a) and np.isscalar(b)) or not fit(a, b):
            return
        try:
            with np.errstate(all="ignore"):
                wanted = getattr(np, name)(a, b)
        except OverflowError:  # a negative number for unsigned elements
            return
        if wanted.shape == z[2].shape and casts(wanted, z[2].dtype):
            self.write(lambda m, z, x, y: getattr(m, name)(x, y, out=z), z, x, y)

    def view(self):
        x = self.any()
        if x is None:
            return None
        a, kind = x[2], self.random.randrange(6)
        if kind == 0:
            return self.each(lambda m, x: x.T, x, own=True)
        if a.ndim == 0 or not a.shape[0]:
            return x
        i, j = sorted(self.random.randrange(a.shape[0] + 1) for _ in range(2))
        if kind == 1:
            return self.each(lambda m, x: x[i:j], x, own=True)
        if kind == 2:
            return self.each(lambda m, x: x[::2], x, own=True)
        if kind == 3 and a.ndim == 2:
            return self.each(lambda m, x: x[:, ::-1], x, own=True)
        if kind == 4 and a.flags.c_contiguous:
            return self.each(lambda m, x: x.reshape(-1), x, own=True)
        if kind == 5 and a.dtype.kind == "c":
            return self.each(lambda m, x: x.real, x, own=True)
        return x

    def other(self):
        x = self.any("iuf")
        if x is None or x[2].ndim != 2 or not x[2].size:
            return None
        function = self.random.choice((
            lambda m, x: m.cumsum(x, axis=0), lambda m, x: m.sort(x, axis=1),
            lambda m, x: m.concatenate([x, x + 1]), lambda m, x: x[x > 0],
            lambda m, x: m.take(x, [0, 0], axis=0), lambda m, x: x @ x.T,
            lambda m, x: m.tile(x, (1, 2)), lambda m, x: m.flip(x, 0)))
        return self.each(function, x)

    def read(self):
        x = self.any()
        kind = self.random.randrange(5)
        if x is None or kind < 2:
            return self.compare(x) if x is not None else None
        if kind == 2 and x[2].size:
            at = tuple(self.random.randrange(n) for n in x[2].shape)
            self.each(lambda m, x: np.asarray(x[at])[()], x)
        elif kind == 3 and x[2].size:
            self.each(lambda m, x: x.tolist() and None, x)
        else:
            self.each(lambda m, x: bool(m.array_equal(x, x)), x)
        return None

    def compare(self, x):
        """Hold a value against that outside of blocks, and NumPy's."""
        if self.thread is None:
            found = self.worlds[0].context.run(x[0].to_numpy)
        else:
            found = self.thread.submit(x[0].to_numpy).result()
        check(found, x[2])
        check(x[1].to_numpy(), x[2])

    def delete(self):
        if self.values:
            self.values.pop(self.random.randrange(len(self.values)))

    def facet(self):
        x = self.view()
        if x is None or not x[2].size or not x[2].ndim:
            return
        direction = self.random.choice(("io", "output", "input"))
        facet = self.random.choice(("array", "array", "foreign"))

        def access(m, x):
            if isinstance(x, np.ndarray):
                if direction == "io":
                    x[...] = x[::-1].copy()
                elif direction == "output":
                    x[...] = 1
                return
            with x.facet("array", direction) as a:
                if direction == "io":
                    a[...] = a[::-1].copy()
                elif direction == "output":
                    a[...] = 1
                elif facet == "foreign":
                    x + 1
        self.each(access, x, own=True)

    def open_facet(self):
        """Compute with what a block accesses."""
        x, y = self.any("iuf"), self.any("iuf")
        if x is None or y is None or not x[2].size or self.exports or self.device:
            return  # a refusal would leave x torn
        direction = self.random.choice(("input", "io", "output"))
        functions = [lambda m, x, y: x + 1, lambda m, x, y: x * y if fit(x, y) else y]
        if direction != "input":
            functions.append(lambda m, x, y: operator.iadd(x, 1))
        if not np.shares_memory(x[2], y[2]):
            functions.append(lambda m, x, y: operator.iadd(y, 1))
        function = self.random.choice(functions)

        def access(m, x, y):
            if isinstance(x, np.ndarray):
                if direction == "output":
                    x[...] = 2
                function(np, x, y)
                return
            with x.facet("array", direction) as a:
                if direction == "output":
                    a[...] = 2
                function(m, x, y)
        self.write(access, x, y)
        self.write(lambda m, y: None, y)

    def export(self):
        x = self.any("iufc")
        if x is None or not x[2].size:
            return
        function = self.random.choice((np.asarray, memoryview))
        self.exports.append([x[2].copy(), *(self.worlds[k].context.run(function, x[k])
                                            for k in range(2))])

    def release(self):
        if self.exports:
            found = self.exports.pop(self.random.randrange(len(self.exports)))
            for one in found[1:]:
                check(np.asarray(one), found[0])

    def owner_writes(self):
        """Write memory of others."""
        if self.foreign and self.device is None and not self.exports:
            for a in self.random.choice(self.foreign):
                a[...] = a.reshape(-1)[::-1].reshape(a.shape).copy()

    def copies(self):
        x = self.any()
        if x is None:
            return None
        if self.device is not None:
            self.thread = None  # pickles of what a device has are made where it is in use
        function = self.random.choice((
            lambda m, x: x.copy(), lambda m, x: copy.deepcopy(x),
            lambda m, x: pickle.loads(pickle.dumps(x)), by_file))
        return self.each(function, x)

    def on_device(self):
        x = self.any("iuf")
        if x is None:
            return None
        writes = self.random.random() < 0.5

        def run(m, x):
            with mat.use_device("emulated", pool_bytes=self.pool_bytes):
                y = x + 1
                if writes:
                    x -= 1
            return y
        return self.each(run, x)

    def drop(self):
        x = self.any()
        for k in range(2 if x is not None else 0):
            with contextlib.suppress(mat.ConflictError):  # copies are not at the same places
                x[k].drop("emulated")

    def reform(self):
        x = self.any()
        if x is None or x[2].ndim != 2 or not x[2].flags.c_contiguous:
            return
        kind = self.random.randrange(4)

        def run(m, x):
            if isinstance(x, np.ndarray):
                if kind == 0:
                    with warnings.catch_warnings():  # which NumPy 2.5 deprecates
                        warnings.simplefilter("ignore", DeprecationWarning)
                        x.shape = x.shape[1], x.shape[0]
                elif kind == 3:
                    x.reshape(-1)[:2] *= 2
                return
            if kind == 0:
                x.shape = x.shape[1], x.shape[0]
            elif kind == 1:
                x.reshape_(x.shape)
            elif kind == 2:
                with x.window((1, 2)):
                    x + 1
            else:
                with x.window((2,), x.displacement):
                    x *= 2
        if (kind == 3 and x[2].dtype.kind == "b") or x[2].size < 2:
            return
        self.each(run, x, own=True)

    def adjust(self):
        x = self.any("f")
        if x is None or x[2].ndim != 2 or x[2].base is not None or not x[2].size:
            return
        if sum(v[2] is x[2] or v[2].base is x[2] for v in self.values) > 1:
            return
        self.values = [v for v in self.values if v is not x]

        def run(m, x):
            x.adjust_((x.shape[0] + 1, x.shape[1]))
            x += 1
        for k in range(2):
            with contextlib.suppress(mat.MatError):
                self.worlds[k].context.run(run, mat, x[k])

    def close(self):
        x = self.any()
        if x is None or x[2].base is not None or any(
                v is not x and (v[2] is x[2] or v[2].base is x[2]) for v in self.values):
            return
        self.values = [v for v in self.values if v is not x]
        for k in range(2):
            with contextlib.suppress(mat.MatError):
                self.worlds[k].context.run(x[k].close)

    def shown(self):
        x = self.any()
        if x is not None:
            fused = self.worlds[0].context
            text = fused.run(repr, x[0])
            with only_of([v[0] for v in self.values]):
                mat.show(x[0], io.StringIO())
                str(mat.memory_report())
            if "pending" not in text:
                self.compare(x)

    def fill(self):
        x = self.any()
        if x is not None:
            self.each(lambda m, x: x.fill(1), x, own=True)

    def nested(self):
        fused = self.worlds[0].context
        block = mat.fused()
        fused.run(block.__enter__)
        failed = self.random.random() < 0.3
        try:
            self.step()
            self.step()
        finally:
            if failed:
                fused.run(block.__exit__, Failure, Failure(), None)
            else:
                fused.run(block.__exit__, None, None, None)

    # The program

    def carry_out(self, steps, after=None):
        """Carry out so many statements in a block, and compare all values at its end."""
        fused, eager, _ = self.worlds
        order = self.random.random() < 0.5
        mat.cpu.program.BLOCK = self.random.choice((64, 128, 1 << 14))
        if self.device is not None and order:
            fused.enter(mat.use_device(self.device, pool_bytes=self.pool_bytes))
        fused.enter(mat.fused())
        if self.device is not None:
            eager.enter(mat.use_device(self.device, pool_bytes=self.pool_bytes))
            if not order:
                fused.enter(mat.use_device(self.device, pool_bytes=self.pool_bytes))
        try:
            for _ in range(steps):
                self.step()
            while self.exports:
                self.release()
        finally:
            for world in self.worlds:
                world.leave()
        for x in self.values:
            self.compare(x)


KINDS = {"new": 3, "one": 5, "two": 9, "chain": 8, "clip": 1, "cast": 4, "update": 8, "part": 5,
         "out": 5, "view": 5, "fold": 3, "moments": 2, "rows": 3, "standard": 0,
         "standard_in_place": 2, "other": 1, "read": 3,
         "delete": 6, "facet": 1, "open_facet": 1, "export": 1, "release": 2, "owner_writes": 1,
         "copies": 1, "on_device": 1, "drop": 1, "reform": 1, "adjust": 1, "close": 1, "shown": 1,
         "fill": 1, "nested": 1}


@contextlib.contextmanager
def only_of(mats):
    """Have reports look at these Mats only: at all of a long run of tests they take too long."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name, found in (
                ("show", "MATS", mats), ("memory_report", "MATS", mats),
                ("memory_report", "LIVE", [x.storage for x in mats])):
            patch.setattr(import_module(f"mat.debug.{module}"), name,
                          SimpleNamespace(all=partial(list, found)))
        yield


def bounded(m, x):
    """Return x with elements within bounds."""
    return m.where(m.abs(x) < 100, x, m.ones_like(x))


def store(x, y):
    """Overwrite all elements of x."""
    x[...] = y


def by_file(m, x):
    """Save and load x."""
    file = io.BytesIO()
    np.save(file, np.asarray(x))
    file.seek(0)
    return m.asarray(np.load(file))


def fit(a, b):
    """Return whether operands can be broadcast, and one is an array."""
    if np.isscalar(a) and np.isscalar(b):
        return False
    try:
        np.broadcast_shapes(np.shape(a), np.shape(b))
    except ValueError:
        return False
    return True


def lands(a, b):
    """Return whether the results of a and b can be written to a."""
    try:
        return (np.broadcast_shapes(a.shape, np.shape(b)) == a.shape
                and np.can_cast(np.result_type(a, b), a.dtype, "same_kind")
                and not (np.isscalar(b) and a.dtype.kind in "u" and b < 0))
    except ValueError:
        return False


def casts(a, dtype):
    """Return whether elements can become those of a dtype, without a warning that they overflow."""
    try:
        with np.errstate(over="raise"):
            return np.can_cast(a.dtype, dtype, "same_kind") and a.astype(dtype).dtype == dtype
    except FloatingPointError:
        return False


def is_rounded_alike(function, a, b):
    """Return whether NumPy's results have the bits of ours: not those of products of two complex
    arrays, in which NumPy contracts a product and a sum where the processor can.
    """
    return function is not operator.imul or a.dtype.kind != "c" or np.asarray(b).dtype.kind != "c"


def same(found, expected):
    """Return whether arrays have the same bits; all NaNs are one."""
    found, expected = np.atleast_1d(np.asarray(found)), np.atleast_1d(np.asarray(expected))
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return False
    if found.dtype.kind == "c":
        return same(found.real, expected.real) and same(found.imag, expected.imag)
    if found.dtype.kind != "f":
        return bool((found == expected).all())
    nan = np.isnan(found) & np.isnan(expected)
    return bool((nan | ((found == expected) & (np.signbit(found) == np.signbit(expected)))).all())


def check(found, expected):
    """Raise an error unless arrays have the same bits."""
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    if not same(found, expected):
        raise AssertionError(f"{differences(found, expected)}")


def differences(found, expected):
    """Return a text with some elements that differ."""
    found, expected = np.asarray(found), np.asarray(expected)
    where = [k for k in np.ndindex(found.shape) if not same(found[k], expected[k])]
    return f"{len(where)} of {found.shape}: " + ", ".join(
        f"{k}: {found[k]!r}, not {expected[k]!r}" for k in where[:4])


class Counted:
    """Counts passes, and the operations in them."""

    def __init__(self):
        self.passes = self.nodes = self.updates = 0

    def __enter__(self):
        self.run = run = computing.Passes.run
        self.least, deferral.LEAST = deferral.LEAST, 1
        self.block = mat.cpu.program.BLOCK

        def counted(all_, one):
            self.passes += 1
            self.nodes += len(one.order)
            run(one)
            self.updates += len(one.updates)
        computing.Passes.run = counted
        return self

    def __exit__(self, *error):
        computing.Passes.run, deferral.LEAST = staticmethod(self.run), self.least
        mat.cpu.program.BLOCK = self.block


def programs(seed, statements, **options):
    """Carry out programs with so many statements in all; return how many passes they took."""
    done = 0
    with ThreadPoolExecutor(1) as threads, Counted() as counted:
        while done < statements:
            program = Program(f"{seed}", **options)
            program.threads = threads
            try:
                program.carry_out(40)
            except BaseException as error:
                error.add_note(f"in the program of seed {seed}, {options}, after "
                               f"{len(program.said)} statements: {program.said[-3:]}")
                raise
            done += sum(program.counts.values())
            seed += 1
    return counted
