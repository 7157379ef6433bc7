"""Random accesses, failures, operations, drops, keeps, barriers and closings on one storage, beside
a model of it: the contents of each memory, as NumPy arrays, which are fresh, and what is torn.

Whatever the order, the library does what the model does.
"""

from contextlib import contextmanager
from contextvars import copy_context
from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import mat

from ..support import selection
from ..support.mock_memories import Fault, in_thread, registered

pytestmark = pytest.mark.host

SIZE, FILL, JUNK = 6, 3.0, -99.0
MEMORIES = {"array": "host", "near": "near", "far": "far"}  # of facets
VIEWS = {"whole": slice(None), "reversed": slice(None, None, -1)}
facets = st.sampled_from(sorted(MEMORIES))
memories = st.sampled_from(sorted(MEMORIES.values()))
views = st.sampled_from(sorted(VIEWS))
directions = st.sampled_from(["input", "output", "io"])
values = st.integers(-9, 9)
picks = st.integers(0, 20)


class Seen:
    """An open access in the model."""

    def __init__(self, memory, direction, view):
        self.memory, self.view, self.direction = memory, view, direction
        self.writes = direction != "input"


class Model:
    """What a storage should do; single-threaded, so all open accesses are one thread's."""

    def __init__(self):
        self.held, self.fresh, self.torn, self.pristine = {}, set(), None, True
        self.accesses, self.kept, self.barriers, self.writer, self.spoiled = [], [], [], None, False

    def allocate(self, memory):
        if memory not in self.held:
            self.held[memory] = np.full(SIZE, JUNK)
            barrier = next((b for b in reversed(self.barriers) if memory in b[0]), None)
            if barrier is not None and memory not in barrier[1]:
                barrier[1].append(memory)

    def refresh(self, memory):
        if (self.writer and self.writer.memory == memory) or memory in self.fresh:
            return
        if not self.fresh and self.torn:
            raise mat.TornError
        direct = memory == "host" or (self.fresh == {"far"} if self.fresh else memory == "near")
        source = next(iter(self.fresh), None)
        if not direct:
            self.refresh("host")
            source = "host"
        self.allocate(memory)
        self.held[memory][:] = self.held[source] if source else FILL
        self.fresh.add(memory)

    def open(self, access, same_thread=True):
        within = False  # a block that writes
        for other in self.accesses:
            within = within or other.writes
            if (access.writes or other.writes) and not (
                    same_thread and other.memory == access.memory and within):
                raise mat.ConflictError
        if access.direction != "output":
            self.refresh(access.memory)
        self.allocate(access.memory)
        self.accesses.append(access)
        if access.writes:
            self.writer = self.writer or access

    def close(self, access, failed):
        self.accesses.remove(access)
        if self.writer is not access:
            return
        self.spoiled = self.spoiled or failed
        self.writer = next((other for other in self.accesses if other.writes), None)
        if self.writer is None:
            self.settle(access.memory)

    def settle(self, memory):
        if not self.spoiled:
            self.fresh, self.torn, self.pristine = {memory}, None, False
        else:
            self.fresh.discard(memory)
            if not self.fresh and not self.pristine:
                self.torn = self.torn or memory
        self.spoiled = False

    def seen(self, access):
        return self.held[access.memory][VIEWS[access.view]]

    def check_unused(self, memory):
        if memory in self.kept or any(access.memory == memory for access in self.accesses):
            raise mat.ConflictError

    def drop(self, memory, force):
        if memory not in self.held:
            return False
        self.check_unused(memory)
        rest = self.fresh - {memory} - ({self.writer.memory} if self.writer else set())
        only = memory in self.fresh and not rest and not self.pristine
        lost = memory == self.torn if self.torn else only
        if lost and not force:
            raise mat.ConflictError
        del self.held[memory]
        self.fresh.discard(memory)
        if lost:
            self.fresh, self.torn, self.pristine = set(), None, True
        return True

    def drop_all(self):
        for memory in self.held:
            self.check_unused(memory)
        self.held, self.fresh, self.torn, self.pristine = {}, set(), None, True

    def leave_barrier(self):
        doomed, made = self.barriers.pop()
        failures = 0
        for memory in [m for m in made if m in self.held]:
            if self.fresh and self.fresh <= doomed and not self.pristine and not self.writer:
                self.refresh("host")
            elif self.torn in doomed and not self.accesses:
                self.allocate("host")  # what a failed block left is kept, too
                self.held["host"][:] = self.held[self.torn]
                self.torn = "host"
            try:
                self.drop(memory, False)
            except mat.ConflictError:
                failures += 1
        if failures:
            raise mat.ConflictError


class Machine(RuleBasedStateMachine):
    """The library beside the model.

    `open` has triples of an access, the access in the model, and the value in the block.
    """

    def __init__(self):
        super().__init__()
        self.mocks = registered()
        self.world = self.mocks.__enter__()
        self.x = mat.full(SIZE, FILL)
        self.views = {name: self.x[index] for name, index in VIEWS.items()}
        self.model, self.open, self.keeps, self.barriers = Model(), [], [], []

    @initialize(warm=st.booleans())
    def compute_with_all_views(self, warm):
        """So that what operations were presented once is there to be presented again."""
        for view in VIEWS if warm else ():
            self.asum(view)

    @contextmanager
    def as_model(self, act):
        """The block does what `act` does to the model, and raises what it raises."""
        try:
            act()
        except mat.MatError as error:
            with pytest.raises(type(error)):
                yield False
        else:
            yield True

    # Accessing

    @rule(facet=facets, direction=directions, view=views, value=values)
    def enter(self, facet, direction, view, value):
        seen = Seen(MEMORIES[facet], direction, view)
        access = self.views[view].facet(facet, direction)
        with self.as_model(lambda: self.model.open(seen)) as fine:
            array = access.__enter__()
        if fine:
            self.open.append((access, seen, array))
            if direction == "output":
                self.put(seen, array, value)

    def put(self, seen, array, value):
        array[:] = value
        self.model.seen(seen)[:] = value

    @precondition(lambda self: self.open)
    @rule(pick=picks, value=values)
    def write(self, pick, value):
        _, seen, array = self.open[pick % len(self.open)]
        if seen.writes:
            self.put(seen, array, value)
        else:
            assert not array.flags.writeable

    @precondition(lambda self: self.open)
    @rule(pick=picks, failed=st.booleans())
    def leave(self, pick, failed):
        access, seen, _ = self.open.pop(pick % len(self.open))
        self.model.close(seen, failed)
        access.__exit__(Fault if failed else None, None, None)

    @precondition(lambda self: self.open)
    @rule(failed=st.booleans())
    def leave_last(self, failed):
        self.leave(len(self.open) - 1, failed)

    @rule(facet=facets, direction=directions, view=views, value=values, thread=st.booleans(),
          failed=st.booleans())
    def access(self, facet, direction, view, value, thread, failed):
        """An access that begins and ends, in this thread or in another."""
        seen = Seen(MEMORIES[facet], direction, view)
        # barriers are context-local
        call = partial(copy_context().run, self.use, facet, direction, view, value, failed)
        with self.as_model(lambda: self.model.open(seen, not thread)):
            in_thread(call) if thread else call()

    def use(self, facet, direction, view, value, failed):
        access = self.views[view].facet(facet, direction)
        array = access.__enter__()
        seen = self.model.accesses[-1]
        if direction != "output":
            np.testing.assert_array_equal(array, self.model.seen(seen))
        if direction != "input":
            self.put(seen, array, value)
        self.model.close(seen, failed)
        access.__exit__(Fault if failed else None, None, None)

    # Operating, which is on the host

    def operate(self, view, direction, act, imitate):
        seen = Seen("host", direction, view)
        with self.as_model(lambda: self.model.open(seen)) as fine:
            result = act(self.views[view])
        if fine:
            expected = imitate(self.model.seen(seen))
            self.model.close(seen, False)
            assert (result is self.views[view]) if seen.writes else (result == expected)

    @rule(view=views, value=values)
    def fill(self, view, value):
        self.operate(view, "output", lambda y: y.fill_(value), lambda a: np.copyto(a, value))

    @rule(view=views, value=values)
    def axpy(self, view, value):
        self.operate(view, "io", lambda y: mat.axpy(value, mat.full(y.shape, 2.0), y),
                     lambda a: np.add(a, 2 * value, out=a))

    @rule(view=views)
    def asum(self, view):
        self.operate(view, "input", mat.asum, lambda a: np.abs(a).sum())

    # Copies

    @rule(memory=memories, force=st.booleans(), every=st.booleans())
    def drop(self, memory, force, every):
        expected = []
        if force and every:
            self.close()
            return
        with self.as_model(lambda: expected.append(self.model.drop(memory, force))):
            assert [self.x.drop(memory, force=force)] == expected

    def close(self):
        with self.as_model(self.model.drop_all):
            self.x.close()

    @precondition(lambda self: self.model.torn)
    @rule()
    def accept(self):
        self.model.fresh, self.model.torn = {self.model.torn}, None
        self.x.accept_torn()

    @rule(memory=memories)
    def keep(self, memory):
        self.keeps.append(self.x.keep(memory))
        self.keeps[-1].__enter__()
        self.model.allocate(memory)
        self.model.kept.append(memory)

    @precondition(lambda self: self.keeps)
    @rule()
    def unkeep(self):
        self.keeps.pop().__exit__(None, None, None)
        self.model.kept.pop()

    @rule(doomed=st.sampled_from([("near",), ("far",), ("near", "far")]))
    def enter_barrier(self, doomed):
        self.barriers.append(mat.barrier(ensure="host", drop=doomed))
        self.barriers[-1].__enter__()
        self.model.barriers.append((set(doomed), []))

    @precondition(lambda self: self.barriers)
    @rule()
    def leave_barrier(self):
        barrier = self.barriers.pop()
        assert barrier.count == sum(m in self.model.held for m in self.model.barriers[-1][1])
        with self.as_model(self.model.leave_barrier):
            barrier.__exit__(None, None, None)

    # Invariants

    @invariant()
    def same_state(self):
        assert self.x.fresh == self.model.fresh
        assert ("torn" in repr(self.x)) == (self.model.torn is not None)
        assert {m.name for m in self.x.storage.handles} == set(self.model.held)
        assert len(self.x.storage.accesses) == len(self.open)

    @invariant()
    def same_values(self):
        for _, seen, array in self.open:
            np.testing.assert_array_equal(array, self.model.seen(seen))

    def teardown(self):
        try:
            self.end()
        finally:
            self.mocks.__exit__(None, None, None)

    def end(self):
        while self.open:
            self.leave_last(False)
        while self.keeps:
            self.unkeep()
        while self.barriers:
            self.leave_barrier()
        self.same_state()
        for facet in MEMORIES:
            self.access(facet, "input", "whole", 0, False, False)
        storage = self.x.storage
        assert (storage.accesses, storage.writer) == ([], None)
        self.close()
        assert self.world.held() == {}


TestCube = Machine.TestCase
TestCube.settings = settings(max_examples=selection.most(250, 15), stateful_step_count=60,
                             suppress_health_check=[HealthCheck.too_slow])
