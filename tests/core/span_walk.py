"""A random walk over views of one storage in several memories, beside a model of its elements.

The model knows of each element the value that was committed last, or that it is torn, and who has
it open. Whatever is accessed, moved, dropped or fails: what a block reads is what the model has,
blocks that share an element conflict, and no others do.
"""

import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from contextvars import copy_context

import numpy as np

import mat

from . import span_blocks
from .span_blocks import copies_of, elements_of, read_block, state, torn_elements, write_block

TORN, FILLED = None, 5.0
MAY_FAIL = ("enter", "compute", "export", "prefetch", "element", "show")
DIRECTIONS = ("input", "io", "io", "output")


class Opened:
    """An open access, of a holder, and what the model knows of it."""

    def __init__(self, access, holder, memory, where, direction):
        self.access, self.holder, self.memory = access, holder, memory
        self.where, self.direction = where, direction  # `where`: storage indices, as seen
        self.elements = frozenset(where.ravel().tolist())
        self.low, self.high = (min(self.elements), max(self.elements)) if self.elements else (0, -1)
        self.writes = direction != "input"
        self.value, self.written = None, {}


class Walk:
    """One storage, its model, and random steps."""

    read_block = staticmethod(read_block)
    write_block = staticmethod(write_block)
    elements = staticmethod(elements_of)

    def __init__(self, seed, *, shape=(6, 8), facets=("array", "emulated"), pool_bytes=None,
                 dtype="float64", threads=2, exact=True):
        self.rng = random.Random(seed)
        # with eviction, or accesses to all between the first and the last element, less is fresh
        self.facets, self.exact = facets, exact and pool_bytes is None
        self.memory_of = {f: "host" if f in ("array", "foreign", "backing")
                          else f.removesuffix(":0") for f in facets}
        self.x = mat.full(shape, FILLED, dtype=dtype)
        self.size = self.x.size
        self.at = np.arange(self.size).reshape(shape)  # storage indices
        self.values = [FILLED] * self.size
        self.somewhere = [set() for _ in range(self.size)]  # where it is fresh for certain
        self.spoiled, self.faulty = set(), False
        self.open, self.exports, self.counts, self.clock = [], [], {}, 5.0
        self.stack = ExitStack()
        self.devices = [self.stack.enter_context(mat.use_device(facet, pool_bytes=pool_bytes))
                        for facet in facets if self.memory_of[facet] != "host"]
        self.workers = [ThreadPoolExecutor(1) for _ in range(threads)]
        self.contexts = [copy_context() for _ in range(threads)]

    def run(self, steps):
        try:
            for _ in range(steps):
                self.step()
                self.check()
            self.end()
            self.stack.close()
        finally:
            for worker in self.workers:
                worker.shutdown()
        return self.counts

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def step(self):
        kinds = {"enter": 30, "leave": 30, "compute": 12, "export": 3, "release": 4, "drop": 4,
                 "prefetch": 5, "keep": 2, "show": 2, "accept": 1, "element": 6, "heal": 2}
        names = list(kinds)
        name = self.rng.choices(names, list(kinds.values()))[0]
        if name in MAY_FAIL and self.rng.random() < 0.15:
            self.step_with_fault(name)
        else:
            getattr(self, name)()

    def step_with_fault(self, name):
        """Have the next allocation or copy of a device fail; nothing may be lost by that."""
        self.faulty = True
        self.begin_fault()
        try:
            getattr(self, name)()
        except mat.DeviceError:
            self.count("faults")
        finally:
            self.faulty = False
            for places in self.somewhere:  # others are evicted where an allocation fails
                places &= {"host"}
            self.end_fault()

    def begin_fault(self):
        device = self.rng.choice(self.devices)
        device.fail(**{self.rng.choice(("allocation", "h2d", "d2h")): 1})

    def end_fault(self):
        for device in self.devices:
            device.fail(allocation=0, h2d=0, d2h=0)

    # Where things are done

    def does(self, holder, function, *args):
        """Call a function in the thread of `holder`; 0 is this one."""
        if holder == 0:
            return function(*args)
        k = holder - 1
        return self.workers[k].submit(self.contexts[k].run, function, *args).result()

    def index(self):
        def one(n):
            a, b = sorted((self.rng.randrange(n + 1), self.rng.randrange(n + 1)))
            if self.rng.random() < 0.3:
                a, b = 0, n
            step = self.rng.choice((1, 1, 1, 2, 3, -1))
            return slice(a, b, step) if step > 0 else slice(b, a, -1)
        kind = self.rng.random()
        if kind < 0.15:
            return (slice(None),) * self.at.ndim
        if kind < 0.4:
            return (one(self.at.shape[0]),)
        return tuple(one(n) for n in self.at.shape)

    def tick(self):
        self.clock += 1
        return self.clock

    # Accesses

    def enter(self):
        if len(self.open) >= 5:
            return
        index, facet = self.index(), self.rng.choice(self.facets)
        direction, holder = self.rng.choice(DIRECTIONS), self.rng.randrange(len(self.workers) + 1)
        view, where = self.x[index], self.at[index]
        if self.rng.random() < 0.2:
            view, where = view.T, where.T
        opened = Opened(view.facet(facet, direction), holder, self.memory_of[facet], where,
                        direction)
        verdict = self.verdict(opened)
        torn = direction != "output" and self.reads_torn(opened)
        try:
            value = self.does(holder, opened.access.__enter__)
        except mat.ConflictError:
            assert verdict != "fine", "a conflict that is none"
            self.count("conflict")
            return
        except mat.TornError:
            assert torn, "torn elements that are not"
            self.count("torn")
            return
        except mat.OutOfDeviceMemory:
            assert self.faulty or not self.exact
            self.count("full")
            return
        assert verdict != "conflict", "a conflict was missed"
        assert not torn, "torn elements were read"
        opened.value = value
        if direction != "output":
            np.testing.assert_array_equal(self.read(opened), self.expected(opened))
            for k in opened.elements - self.flux():
                self.somewhere[k].add(opened.memory)
        for other in self.open:
            if other.writes and other.holder == holder:
                opened.written.update((k, v) for k, v in other.written.items()
                                      if k in opened.elements)
        self.open.append(opened)
        if opened.writes and (self.rng.random() < 0.9 or direction == "output"):
            self.write(opened)
        self.count("entered")

    def verdict(self, new):
        """Return "fine", "conflict", or "either": nested in a block on another copy, perhaps."""
        either, within = False, set()  # elements that blocks write, of the same holder and memory
        for other in [*self.open, *self.exports]:
            alike = other.holder == new.holder and other.memory == new.memory
            within |= other.elements if alike and other.writes else set()
            if not (new.writes or other.writes) or not new.elements & other.elements:
                continue
            if not alike or not new.elements & other.elements <= within:
                return "conflict"
            inside = other.low <= new.low and new.high <= other.high
            either = either or not (inside or new.memory == "host")
        nested = [o for o in self.open if (o.writes or new.writes) and o.elements & new.elements]
        return "either" if either or (len(nested) > 1 and new.memory != "host") else "fine"

    def flux(self):
        return {k for o in self.open if o.writes for k in o.elements}

    def reads_torn(self, opened):
        return any(self.values[k] is TORN for k in opened.elements - self.flux())

    def read(self, opened):
        """Return the elements in a block as they are there."""
        return self.does(opened.holder, self.read_block, opened.value)

    def expected(self, opened):
        """Return the elements as an access reads them, those of blocks around it included."""
        inside = {}
        for other in self.open:
            if other.writes and other.holder == opened.holder:
                inside.update(other.written)
        return np.array([inside.get(k, self.values[k]) for k in opened.where.ravel()],
                        self.x.dtype).reshape(opened.where.shape)

    def write(self, opened):
        value = self.tick()
        self.does(opened.holder, self.write_block, opened.value, value)
        for other in [*self.open, opened]:
            if other.writes and other.holder == opened.holder:
                other.written.update(dict.fromkeys(opened.elements & other.elements, value))

    def leave(self):
        if not self.open:
            return
        k = self.rng.randrange(len(self.open)) if self.rng.random() < 0.4 else len(self.open) - 1
        opened = self.open[k]
        earlier = {e for o in self.open[:k] if o.writes for e in o.elements}
        later = {e for o in self.open[k + 1:] if o.writes for e in o.elements}
        del self.open[k]
        failed = self.rng.random() < 0.3
        kind = RuntimeError if failed else None
        self.does(opened.holder, opened.access.__exit__, kind, kind and kind("planned"), None)
        if not opened.writes:
            return
        mine = opened.elements - earlier
        if failed:
            self.spoiled |= mine & later
        decided = mine - later
        lost = decided if failed else decided & self.spoiled
        self.spoiled -= decided
        self.count("failed" if failed else "committed")
        for e in decided - lost:
            if e in opened.written:
                self.values[e] = opened.written[e]
            self.somewhere[e] = {opened.memory}
        self.give_up(lost, opened.memory)

    def give_up(self, lost, memory):
        """What a failed block wrote: the elements are as they were elsewhere, or torn."""
        torn = torn_elements(self.x)
        for e in lost:
            self.somewhere[e].discard(memory)
            if e in torn and self.values[e] is not TORN:
                assert self.x.storage.version, "torn, though nothing was ever written"
                assert not (self.exact and self.somewhere[e]), "torn, though fresh elsewhere"
                self.values[e] = TORN

    # Operations, elements, exports

    def compute(self):
        """Add 1 to some elements by an operation on the device in use, or on the host."""
        index = self.index()
        view, where = self.x[index], self.at[index]
        device = self.rng.choice(self.facets)
        opened = Opened(None, 0, self.memory_of[device], where, "io")
        verdict, torn = self.verdict(opened), self.reads_torn(opened)
        if any(o.writes and o.holder == 0 and o.elements & opened.elements for o in self.open):
            return
        try:
            with mat.use_device("cpu" if opened.memory == "host" else device):
                view += 1.0
        except mat.ConflictError:
            assert verdict != "fine"
            self.count("conflict")
            return
        except mat.TornError:
            assert torn
            self.count("torn")
            return
        except mat.OutOfDeviceMemory:
            self.find_tiles(opened)
            assert self.faulty or not self.exact
            self.count("full")
            return
        except mat.DeviceError:
            self.find_tiles(opened)
            raise
        assert verdict != "conflict"
        assert not torn
        for e in opened.elements:
            self.values[e] += 1.0
            self.somewhere[e] = {opened.memory}
        self.count("computed")

    def find_tiles(self, opened):
        """Find out which tiles were done before one failed; a call that fits has none."""
        for copy in copies_of(self.x):
            _, start, handle, fresh = copy
            there = self.elements(handle, self.x.dtype)
            for e in fresh & opened.elements:
                if there[e - start] != self.values[e]:
                    assert not self.exact
                    assert there[e - start] == self.values[e] + 1.0
                    self.values[e] += 1.0
                    self.somewhere[e] = set()

    def element(self):
        k = self.rng.randrange(self.size)
        at = tuple(int(i) for i in np.unravel_index(k, self.at.shape))
        opened = Opened(None, 0, "host", np.array(k), "io")
        if self.verdict(opened) != "fine" or self.values[k] is TORN or k in self.flux():
            return
        value = self.tick()
        with mat.use_device("cpu"):
            assert float(self.x[at]) == self.values[k]
            self.x[at] = value
        self.values[k] = value
        self.somewhere = [set() for _ in range(self.size)]  # written alone, it is in one copy
        self.count("element")

    def heal(self):
        """Overwrite torn elements."""
        if TORN not in self.values or self.open or self.exports:
            return
        with mat.use_device("cpu"):
            self.x.fill_(value := self.tick())
        self.values = [value] * self.size
        self.somewhere = [set() for _ in range(self.size)]
        self.count("healed")

    def export(self):
        if len(self.exports) >= 2:
            return
        index = self.index()
        opened = Opened(None, -1, "host", self.at[index], "input")
        verdict, torn = self.verdict(opened), self.reads_torn(opened)
        try:
            a = np.asarray(self.x[index])
        except mat.ConflictError:
            assert verdict == "conflict"
            self.count("conflict")
            return
        except mat.TornError:
            assert torn
            self.count("torn")
            return
        assert verdict == "fine"
        assert not torn
        np.testing.assert_array_equal(a, self.expected(opened))
        opened.value = a
        self.exports.append(opened)
        self.count("exported")

    def release(self):
        if self.exports:
            opened = self.exports.pop(self.rng.randrange(len(self.exports)))
            np.testing.assert_array_equal(opened.value, self.expected(opened))
            opened.value = None

    # Copies

    def drop(self):
        facet = self.rng.choice(self.facets)
        memory = self.memory_of[facet]
        try:
            dropped = self.x.drop(memory if memory == "host" else facet)
        except mat.ConflictError:
            self.count("not dropped")
            return
        for places in self.somewhere if dropped else ():
            places.discard(memory)
        self.count("dropped")

    def prefetch(self):
        index = self.index()
        view, opened = self.x[index], Opened(None, -2, "?", self.at[index], "input")
        to = self.rng.choice(("to_device", "to_host"))
        try:
            with mat.prefetch(**{to: [view]}):
                pass
        except (mat.ConflictError, mat.TornError):
            assert self.reads_torn(opened) or self.flux() & opened.elements
            self.count("not prefetched")
            return
        except mat.OutOfDeviceMemory:
            assert self.faulty or not self.exact
            self.count("full")
            return
        self.count("prefetched")

    def keep(self):
        facet, index = self.rng.choice(self.facets), self.index()
        name = "host" if self.memory_of[facet] == "host" else facet
        x = self.x[index] if self.at[index].size else self.x
        try:
            with x.keep(name):
                try:
                    x.drop(name)
                except mat.ConflictError:
                    self.count("kept")
                else:
                    raise AssertionError("a kept copy was dropped")
        except mat.OutOfDeviceMemory:
            assert self.faulty or not self.exact

    def accept(self):
        torn = torn_elements(self.x)
        if not torn or self.open or self.exports:
            return
        self.x.accept_torn()
        left = torn_elements(self.x)
        with self.x.facet("array", "output") as a:  # what was accepted is arbitrary
            a[...] = value = self.tick()
        assert left <= torn
        self.values = [value] * self.size
        self.somewhere = [{"host"} for _ in range(self.size)]
        self.count("accepted")

    def show(self):
        before = state(self.x)
        repr(self.x[self.index()])
        assert state(self.x) == before

    # Invariants

    def check(self):
        flux = self.flux()
        torn = {k for k, v in enumerate(self.values) if v is TORN}
        assert torn_elements(self.x) - flux == torn - flux
        filled = span_blocks.pristine_elements(self.x) - flux - torn
        assert {self.values[k] for k in filled} <= {FILLED}
        for memory, start, handle, fresh in copies_of(self.x):
            there = self.elements(handle, self.x.dtype)
            for k in fresh - flux:
                assert there[k - start] == self.values[k], (memory, k)

    def end(self):
        while self.open:
            self.leave()
        self.exports.clear()
        bad = {k for k, v in enumerate(self.values) if v is TORN}
        if not bad and self.rng.random() < 0.5:
            self.stack.close()  # what devices alone have is copied to the host
        for k in range(self.size):
            at = tuple(int(i) for i in np.unravel_index(k, self.at.shape))
            if k not in bad:
                assert float(self.x[at]) == self.values[k], (k, self.values[k])
        if not bad:
            np.testing.assert_array_equal(self.x.to_numpy().ravel(), self.values)
        assert not self.x.storage.accesses
        assert self.x.storage.writer is None
