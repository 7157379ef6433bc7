"""How long copies live: keep, drop, close, barriers, garbage and interpreter exit."""

import gc
import subprocess
import sys
import weakref
from contextlib import ExitStack

import numpy as np
import pytest

import mat
from mat.core.barrier import Barrier

from ..support.mock_memories import Fault, Whole, failing, in_thread, line

# Dropping, keeping, closing


def test_drop(world):
    x = Whole().write("near", 1, 2)
    near, far, hub = (world.memory[name] for name in ("near", "far", "hub"))
    assert not x.storage.drop(far, False)
    with pytest.raises(mat.ConflictError, match="only copy"):
        x.storage.drop(near, False)
    assert x.read("far") == [1, 2]
    assert x.storage.drop(near, False)
    assert x.fresh() == {"far", "hub"}
    assert world.held() == {"far": 1, "hub": 1}
    assert x.storage.drop(hub, False)
    assert x.write("hub", 3, 4).storage.drop(far, False)  # stale: nothing is lost
    assert x.read("near") == [3, 4]


def test_drop_by_force_loses_the_data(world):
    x = Whole().write("near", 1, 2)
    assert x.storage.drop(world.memory["near"], True)
    assert x.fresh() == set()
    assert x.read("near") == [0, 0]


def test_dropping_what_was_never_written_loses_nothing(world):
    x = Whole()
    x.read("near")
    assert x.storage.drop(world.memory["near"], False)
    assert x.read("near") == [0, 0]


def test_torn_data_is_not_dropped(world):
    x = Whole().write("near", 1, 2)
    x.spoil("near")
    with pytest.raises(mat.ConflictError):
        x.storage.drop(world.memory["near"], False)
    x.storage.accept_torn()
    assert x.read("near") == ["half-written", 2]
    x.spoil("near")
    x.storage.drop(world.memory["near"], True)
    assert x.read("near") == [0, 0]


def test_what_a_writer_could_go_back_to_is_not_dropped(world):
    x = Whole().write("near", 1, 2)
    with failing(), x.access("hub", "io"):
        with pytest.raises(mat.ConflictError):
            x.storage.drop(world.memory["near"], False)
        raise Fault
    assert x.read("hub") == [1, 2]


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("direction", ["input", "output", "io"])
def test_what_is_accessed_is_not_dropped(world, direction, force):
    x = Whole().write("near", 1, 2)
    x.read("hub")
    with x.access("near", direction):
        here = line() - 1
        for attempt in (lambda: x.storage.drop(world.memory["near"], force), x.storage.drop_all):
            with pytest.raises(mat.ConflictError,
                               match=rf"near.*for '{direction}' in thread MainThread at .*:{here}"):
                in_thread(attempt)
        assert x.fresh() == {"near", "hub"}
    assert x.read("near") == [1, 2]


@pytest.mark.parametrize("force", [False, True])
def test_what_is_kept_is_not_dropped(world, force):
    x, near = Whole().write("hub", 1, 2), world.memory["near"]
    with x.storage.keep(near, x), failing(), x.storage.keep(near, x):
        assert world.held() == {"near": 1, "hub": 1}  # the copy exists
        raise Fault
    with x.storage.keep(near, x), x.storage.keep(near, x):
        pass
    with x.storage.keep(near, x):
        for attempt in (lambda: x.storage.drop(near, force), x.storage.drop_all):
            with pytest.raises(mat.ConflictError, match="keep"):
                attempt()
    assert x.read("near") == [1, 2]
    assert x.storage.drop(near, force)


def test_close(world):
    x = Whole().write("near", 1, 2)
    x.read("far")
    x.storage.drop_all()
    x.storage.drop_all()
    assert world.held() == {}
    assert x.fresh() == set()
    assert x.read("hub") == [0, 0]
    x.write("near", 1, 2).spoil("near")
    x.storage.drop_all()
    assert x.read("near") == [0, 0]  # no longer torn


@pytest.mark.host
def test_the_users_array_is_not_dropped(mocks):
    a = np.array([1.0, 2.0])
    x = mat.from_numpy(a)
    with x.facet("near", "input"):
        pass
    for force in (False, True):
        with pytest.raises(mat.ConflictError, match="from_numpy"):
            x.drop("host", force=force)
    with mat.barrier(ensure="near", drop="host"):
        x.scal_(2)
    assert "host" in x.fresh
    x.close()
    np.testing.assert_array_equal(a, [2, 4])
    np.testing.assert_array_equal(x.fill_(5).to_numpy(), [5, 5])
    np.testing.assert_array_equal(a, [2, 4])  # let go of


def test_presented_values_are_dropped_with_their_copy(mocks):
    x = mat.zeros(1000)
    with x.facet("array", "io"):
        pass
    view = x[10:20]
    with x.facet("near", "input") as a, view.facet("near", "input") as b:
        shown = [weakref.ref(record.value) for m in (x, view) for record in m.presented.values()
                 if record.facet.name == "near"]
        assert len(shown) == 2
    x.drop("near")
    del a, b
    assert [ref() for ref in shown] == [None, None]
    assert set(x.facets) == {"array"}


def test_views_that_come_and_go_leave_nothing_behind(mocks):
    x = mat.zeros(100)
    x.fill_(1)
    for k in range(200):
        with x[k % 7:].facet("array", "input"), x.facet("near", "input"):
            pass
        x.drop("near")
        x.reshape_(10, 10).reshape_(100)
    assert len(x.storage.viewers) < 40


def test_facets_and_watchers(mocks):
    x = mat.zeros(2, 3, dtype="float32")
    assert x.facets == {}
    assert x.fresh == set()
    with x.facet("near", "input"):
        assert set(x.facets) == {"near"}
    with x.facet("array", "io"):
        here = line() - 1
        with x[0].facet("backing", "input"):
            states = x[1].facets
        assert states["array"] == ("array", "host", True, 24,
                                   (("MainThread", "io", __file__, here),))
        assert states["backing"].watchers == (("MainThread", "input", __file__, here + 2),)
        assert (states["near"].memory, states["near"].watchers) == ("near", ())
    assert {n: s.fresh for n, s in x.facets.items()} == {"near": False, "array": True,
                                                         "backing": True}
    x.drop("near")
    assert set(x.facets) == {"array", "backing"}


# Barriers


def barrier(world, ensure="hub", drop=("near",)):
    return Barrier(world.memory[ensure], tuple(world.memory[name] for name in drop))


def test_barrier_drops_what_was_made_inside_and_loses_nothing(world):
    x, y, z = Whole().write("near", 1, 2), Whole().write("hub", 3, 4), Whole().write("far", 5, 6)
    with barrier(world, drop=("near", "far")) as b:
        assert b.count == 0
        x.write("near", 7, 8)
        y.read("near")
        z.write("near", 9, 9)
        new = Whole().write("far", 0, 1)
        assert b.count == 3
    assert b.count == 0
    assert x.fresh() == {"near"}  # its copy was there before
    assert y.fresh() == {"hub"}
    assert z.fresh() == {"hub"}
    assert world.held() == {"near": 1, "hub": 3, "far": 1}
    assert [v.read("deep") for v in (x, y, z, new)] == [[7, 8], [3, 4], [9, 9], [0, 1]]


def test_barrier_ensures_a_memory_of_choice(world):
    x = Whole()
    with barrier(world, ensure="far"):
        x.write("near", 1, 2)
    assert "far" in x.fresh()
    assert "near" not in x.fresh()


def test_nested_barriers(world):
    x, y = Whole(), Whole()
    with barrier(world) as outer:
        with barrier(world, drop=("far",)) as inner:
            x.write("near", 1, 2)
            x.read("far")
            assert (outer.count, inner.count) == (1, 1)
        assert (outer.count, inner.count) == (1, 0)
        with barrier(world) as inner:
            y.write("near", 3, 4)
            assert (outer.count, inner.count) == (1, 1)
        assert y.fresh() == {"hub"}
    assert x.fresh() == {"hub"}
    assert world.held() == {"hub": 2}


def test_a_barrier_is_entered_once_at_a_time(world):
    b = barrier(world)
    with b:
        with pytest.raises(mat.ConflictError, match="already open"):
            b.__enter__()
        Whole().read("far")  # where no barrier drops anything
    with b:
        Whole().read("near")


@pytest.mark.parametrize("fails", [False, True])
def test_barrier_reports_what_it_cannot_drop_and_drops_the_rest(world, fails):
    x, y = Whole(), Whole()
    with ExitStack() as accesses, failing(Fault if fails
                                          else mat.ConflictError) as caught, barrier(world):
        x.write("near", 1, 2)
        accesses.enter_context(x.access("near", "io")).put(3, 4)
        y.write("near", 5, 6)
        if fails:
            raise Fault
    assert fails == any("cannot drop 'near'" in note
                        for note in getattr(caught.value, "__notes__", []))
    assert y.fresh() == {"hub"}
    assert x.read("hub") == [3, 4]


@pytest.mark.parametrize("fails", [False, True])
def test_a_barrier_copies_nothing_that_is_being_written(world, fails):
    x, near = Whole(), world.memory["near"]
    with ExitStack() as stack:
        if fails:
            stack.enter_context(failing())
        with ExitStack() as accesses:
            with failing(mat.ConflictError), barrier(world):
                x.write("near", 1, 2)
                accesses.enter_context(x.access("near", "io")).handle.data[0] = "half-written"
            assert near in x.storage.handles
            if fails:
                raise Fault
    if fails:
        with pytest.raises(mat.TornError):
            x.read("hub")
    else:
        assert x.read("hub") == ["half-written", 2]


def test_barrier_keeps_what_is_kept_and_forgets_garbage(world):
    x, near = Whole(), world.memory["near"]
    with x.storage.keep(near, x):
        pass
    x.storage.drop(near, False)
    with ExitStack() as kept:
        with failing(mat.ConflictError), barrier(world) as b:
            kept.enter_context(x.storage.keep(near, x))
            Whole().write("near", 1, 2)
            gc.collect()
            assert b.count == 1
        assert world.held() == {"near": 1}


@pytest.mark.host
def test_barrier_over_mats(mocks):
    a = np.arange(3.0)
    with mat.barrier(ensure="near", drop=("host", "far")) as b:
        x, y = mat.array(a), mat.from_numpy(a)
        x.scal_(2)
        y.scal_(2)
        assert b.count == 1  # the user's array is his
    assert x.fresh == {"near"}
    np.testing.assert_array_equal(x.to_numpy(), [0, 2, 4])
    np.testing.assert_array_equal(a, [0, 2, 4])
    for ensure, drop in (("host", "host"), ("nowhere", "host"), ("host", "nowhere")):
        with pytest.raises(mat.FacetError):
            mat.barrier(ensure=ensure, drop=drop)


# Garbage


def test_garbage_is_freed(world):
    x = Whole().write("near", 1, 2)
    x.read("far")
    del x
    assert world.held() == {}


def test_garbage_in_a_cycle_is_freed_from_another_thread(mocks):
    class Ring(mat.Mat):
        __slots__ = ("self",)

    x = Ring(5)
    x.self = x
    with x.facet("near", "io"):
        pass
    del x
    in_thread(gc.collect)
    assert mocks.held() == {}


def test_a_copy_of_a_view_lives_as_long_as_any_mat_sees_it(mocks):
    x = mat.zeros(5)
    with x.facet("near", "io") as a:
        a[:] = 3
    x = x[2:]
    del a
    gc.collect()
    assert mocks.held() == {"near": 1}
    np.testing.assert_array_equal(x.to_numpy(), [3, 3, 3])
    del x
    assert mocks.held() == {}


def test_one_memory_that_fails_to_free_does_not_keep_the_others(world, monkeypatch):
    def free(handle):
        raise Fault

    x = Whole().write("near", 1, 2)
    x.read("far")
    monkeypatch.setattr(world.memory["far"], "free", free)
    caught = []
    monkeypatch.setattr(sys, "unraisablehook", caught.append)
    monkeypatch.setattr(sys, "excepthook", lambda *args: caught.append(args))
    del x
    assert world.held() == {"far": 1}
    assert caught


EXIT = """
import mat
from mat.extend import Facet, Memory, register_facet

class Noted(Memory):
    name = "noted"
    def allocate(self, cube):
        return bytearray(cube.nbytes)
    def free(self, handle):
        print("freed", len(handle), flush=True)
    def copy_in(self, cube, handle, host):
        handle[:] = host.tobytes()

class Bytes(Facet):
    name, letter, memory = "noted", "x", Noted()
    def present(self, view, handle, writable):
        return handle

register_facet(Bytes())
x, y = mat.ones(3), mat.ones(5)
for m in (x, y):
    with m.facet("noted", "input"):
        pass
del m
"""


@pytest.mark.sample(3)
@pytest.mark.parametrize("last", ["access = y.facet('noted', 'io').__enter__()",
                                  "raise SystemExit(0)", "del x"])
def test_copies_are_freed_at_interpreter_exit(last):
    done = subprocess.run([sys.executable, "-c", EXIT + last], capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.stderr == ""
    assert sorted(done.stdout.split("\n")) == ["", "freed 24", "freed 40"]
