"""Copies ahead: nobody waits before the data is needed, nobody writes what is being read, and
nothing is ever inconsistent.

On `emulated`, whose work can be put off until somebody waits for it: what is read too early is
poison.
"""

import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat import ConflictError, DeviceError, DTypeError, OutOfDeviceMemory

from ..support.mock_memories import in_thread, line

pytestmark = pytest.mark.host


class Deliberate(Exception):
    """What a test throws."""


@pytest.fixture
def dev():
    """The device, in use, which does nothing before somebody waits."""
    with mat.use_device("emulated") as device:
        device.delayed = True
        try:
            yield device
        finally:
            device.delayed = False
            device.synchronize()
            device.fail(h2d=0, d2h=0, allocation=0, launch=0)


def on_device(values):
    """A Mat that is fresh on the device only."""
    return mat.array(values) + 0


def test_data_is_copied_by_the_end(dev):
    x = mat.arange(5.0)
    with mat.debug.count_copies() as n:
        with mat.prefetch(to_device=[x]) as p:
            assert (p.count, x.fresh) == (1, {"host"})
        assert (p.count, x.fresh) == (0, {"host", "emulated"})
    assert (n.h2d, n.d2h) == (1, 0)
    assert_array_equal((x + 1).to_numpy(), np.arange(5) + 1.0)


def test_nothing_is_done_before_somebody_waits(dev):
    x, before = mat.arange(5.0), dev.transfers["h2d"]
    with mat.prefetch(to_device=x):
        assert dev.transfers["h2d"] == before
    assert dev.transfers["h2d"] == before + x.nbytes


def test_who_needs_it_waits(dev):
    x, other = mat.arange(5.0), mat.arange(5.0)
    with mat.prefetch(to_device=[x, other]) as p:
        y = x * 2
        assert (p.count, x.fresh) == (1, {"host", "emulated"})
        assert_array_equal(y.to_numpy(), 2.0 * np.arange(5))
    assert p.count == 0


def test_an_access_waits_too(dev):
    x = mat.arange(3.0)
    with mat.prefetch(to_device=[x]) as p, x.facet("emulated", "input") as a:
        assert (p.count, x.fresh) == (0, {"host", "emulated"})
        found = []
        dev.launch(lambda v: found.append(v.tolist()), a)
        dev.synchronize()
    assert found == [[0, 1, 2]]


def test_to_the_host(dev):
    y = on_device([1, 2, 3])
    with mat.prefetch(to_host=[y]) as p:
        assert (p.count, y.fresh) == (1, {"emulated"})
        z = y + 1
        assert p.count == 1  # reading where it comes from needs no wait
        assert y.to_numpy().tolist() == [1, 2, 3]
        assert p.count == 0
    assert (y.fresh, z.to_numpy().tolist()) == ({"host", "emulated"}, [2, 3, 4])


def test_both_ways_at_once(dev):
    x, y = mat.arange(3.0), on_device([5, 6])
    with mat.prefetch(to_device=[x], to_host=[y]) as p:
        assert p.count == 2
    assert x.fresh == y.fresh == {"host", "emulated"}


def test_what_is_there_is_not_copied(dev):
    x = mat.arange(3.0)
    x + 1
    with mat.debug.count_copies() as n, mat.prefetch(to_device=[x, x], to_host=[x]) as p:
        assert p.count == 0
    assert (n.h2d, n.d2h) == (0, 0)


def test_what_was_never_written_is_made_there(dev):
    x = mat.ones(3)
    with mat.debug.count_copies() as n, mat.prefetch(to_device=[x]) as p:
        assert (p.count, x.fresh) == (0, {"emulated"})
    assert n.h2d == 0
    assert x.to_numpy().tolist() == [1, 1, 1]


def test_a_stale_copy_is_renewed(dev):
    x = mat.arange(3.0)
    x + 1
    with x.facet("array", "io") as a:
        a[0] = 7
    with mat.prefetch(to_device=[x]):
        assert x.fresh == {"host"}
    assert x.fresh == {"host", "emulated"}
    assert (x + 1).to_numpy().tolist() == [8, 2, 3]


def test_views_share_the_copy(dev):
    x = mat.arange(6.0)
    with mat.prefetch(to_device=[x[:3], x[3:]]) as p:
        assert (x[2:4] + 1).to_numpy().tolist() == [3, 4]
    assert p.count == 0


@pytest.mark.parametrize("write", [
    lambda x: x.facet("array", "io").__enter__(), lambda x: x.facet("array", "output").__enter__(),
    lambda x: x.__setitem__(0, 1), lambda x: x.add_(1), lambda x: x.fill_(1),
    lambda x: mat.axpy(1, mat.ones(3), x),
    lambda x: x.facet("emulated", "output").__enter__(),
])
def test_writing_it_is_refused_with_the_line_of_the_prefetch(dev, write):
    x = mat.arange(3.0)
    with mat.prefetch(to_device=[x]) as p:
        here = line() - 1
        with pytest.raises(ConflictError,
                           match=rf"an asynchronous copy in progress.*test_prefetch\.py:{here}"):
            write(x)
        assert p.count == 1
    assert x.fresh == {"host", "emulated"}
    assert x.to_numpy().tolist() == [0, 1, 2]


def test_writing_is_fine_after_it_was_waited_for(dev):
    x = mat.arange(3.0)
    with mat.prefetch(to_device=[x]):
        x + 1
        x.add_(1)
    assert (x.fresh, x.to_numpy().tolist()) == ({"emulated"}, [1, 2, 3])


def test_what_is_being_written_cannot_be_prefetched(dev):
    x, y = mat.arange(3.0), mat.arange(3.0)
    with x.facet("array", "io"):
        with (pytest.raises(ConflictError, match=r"cannot prefetch.*'array' for 'io'"),
              mat.prefetch(to_device=[y, x])):
            pass
        assert y.fresh == {"host", "emulated"}  # the copy that was begun is finished


def test_dropping_it_is_a_conflict(dev):
    x = mat.arange(3.0)
    with mat.prefetch(to_device=[x]):
        for memory in ("host", "emulated"):
            with pytest.raises(ConflictError, match="an asynchronous copy in progress"):
                x.drop(memory, force=True)
        with pytest.raises(ConflictError, match="an asynchronous copy in progress"):
            x.close()
    assert x.to_numpy().tolist() == [0, 1, 2]


def test_it_is_not_evicted_before_it_is_copied(dev):
    x, y = mat.arange(10.0), mat.arange(10.0)
    with (mat.use_device("emulated", pool_bytes=80), mat.prefetch(to_device=[x]),
          pytest.raises(OutOfDeviceMemory)):
        y.facet("emulated", "output").__enter__()
    assert x.to_numpy().tolist() == list(range(10))


@pytest.mark.parametrize("error", [Deliberate, KeyboardInterrupt, ConflictError])
def test_after_any_error_it_is_copied(dev, error):
    x, y = mat.arange(3.0), on_device([1, 2])
    with pytest.raises(error), mat.prefetch(to_device=[x], to_host=[y]):
        raise error
    assert x.fresh == y.fresh == {"host", "emulated"}
    assert (x + 1).to_numpy().tolist() == [1, 2, 3]
    assert y.to_numpy().tolist() == [1, 2]


def test_a_copy_that_fails_leaves_all_as_it_was(dev):
    x, y = mat.arange(3.0), mat.arange(4.0)
    dev.fail(h2d=1)
    with (pytest.raises(DeviceError, match="h2d was requested to fail"),
          mat.prefetch(to_device=[x, y])):
        pass
    assert (x.fresh, y.fresh) == ({"host"}, {"host", "emulated"})
    assert "emulated" not in {state.memory for state in x.facets.values()}
    assert (x + 1).to_numpy().tolist() == [1, 2, 3]


def test_a_copy_that_fails_fails_who_needs_it(dev):
    x = mat.arange(3.0)
    dev.fail(h2d=1)
    with mat.prefetch(to_device=[x]):
        with pytest.raises(DeviceError, match="h2d"):
            x + 1
        assert (x + 1).to_numpy().tolist() == [1, 2, 3]
    assert x.fresh == {"host", "emulated"}


def test_a_failing_copy_does_not_hide_the_blocks_own_error(dev):
    x = mat.arange(3.0)
    dev.fail(h2d=1)
    with pytest.raises(Deliberate) as caught, mat.prefetch(to_device=[x]):
        raise Deliberate
    assert any("h2d" in note for note in caught.value.__notes__)
    assert x.fresh == {"host"}


def test_a_copy_home_that_fails_loses_nothing(dev):
    y = on_device([1, 2, 3])
    dev.fail(d2h=1)
    with pytest.raises(DeviceError), mat.prefetch(to_host=[y]):
        pass
    assert y.fresh == {"emulated"}
    assert y.to_numpy().tolist() == [1, 2, 3]


def test_an_interrupt_of_the_wait_does_not_end_it(dev, monkeypatch):
    x, y, waits = mat.arange(3.0), mat.arange(4.0), []
    wait = type(dev).synchronize

    def interrupted(self):
        waits.append(None)
        if len(waits) in (1, 3):
            raise KeyboardInterrupt
        wait(self)

    with pytest.raises(KeyboardInterrupt), mat.prefetch(to_device=[x, y]):
        monkeypatch.setattr(type(dev), "synchronize", interrupted)
    assert x.fresh == y.fresh == {"host", "emulated"}
    assert not any(state.watchers for m in (x, y) for state in m.facets.values())
    monkeypatch.undo()
    assert (x + 1).to_numpy().tolist() == [1, 2, 3]


def test_no_room_fails_at_the_beginning(dev):
    x, y = mat.arange(3.0), mat.arange(4.0)
    dev.fail(allocation=2)
    with pytest.raises(OutOfDeviceMemory), mat.prefetch(to_device=[x, y]):
        raise Deliberate
    assert (x.fresh, y.fresh) == ({"host", "emulated"}, {"host"})


def test_two_prefetches_of_one_mat(dev):
    x = mat.arange(3.0)
    with mat.prefetch(to_device=[x]):
        with mat.prefetch(to_device=[x]) as p:
            assert p.count == 1
        assert x.fresh == {"host", "emulated"}


def test_it_cannot_be_entered_twice_at_a_time(dev):
    p = mat.prefetch(to_device=[mat.arange(3.0)])
    with p, pytest.raises(ConflictError, match="already under way"):
        p.__enter__()
    with p:
        assert p.count == 0


def test_without_a_device_nothing_goes_to_one():
    x = mat.arange(3.0)
    with mat.prefetch(to_device=[x], to_host=[x]) as p:
        assert p.count == 0
        x.add_(1)
    assert x.to_numpy().tolist() == [1, 2, 3]


def test_who_is_not_to_be_on_a_device_stays(dev):
    with mat.settings(device_enabled=False):
        x = mat.arange(3.0)
    with mat.prefetch(to_device=[x]) as p:
        assert p.count == 0
    assert x.fresh == {"host"}


@pytest.mark.parametrize("wrong", [[1], [np.zeros(2)], ["x"]])
def test_only_mats(wrong):
    with pytest.raises(DTypeError, match="to_device"):
        mat.prefetch(to_device=wrong)


def test_another_thread_waits_too(dev):
    x = mat.arange(3.0)

    def read():
        with mat.use_device(dev):
            return (x * 3).to_numpy().tolist()

    with mat.prefetch(to_device=[x]):
        assert in_thread(read) == [0, 3, 6]
    assert x.fresh >= {"host"}


def test_another_thread_reads_the_source_and_may_not_write_it(dev):
    x = mat.arange(3.0)
    with mat.prefetch(to_device=[x]):
        assert in_thread(lambda: x.to_numpy().tolist()) == [0, 1, 2]
        with pytest.raises(ConflictError, match="an asynchronous copy in progress"):
            in_thread(lambda: x.add_(1))


def test_empty_mats(dev):
    x = mat.from_numpy(np.zeros((0, 3)))
    with mat.prefetch(to_device=[x]):
        pass
    assert x.fresh == {"host", "emulated"}


def test_printing_does_not_wait(dev):
    x = mat.arange(3.0)
    with mat.prefetch(to_device=[x]) as p:
        assert "[0. 1. 2.]" in repr(x)
        mat.show(x)
        assert (p.count, [w[0] for state in x.facets.values()
                          for w in state.watchers]) == (1, ["of a prefetch"])
    assert not any(state.watchers for state in x.facets.values())


def test_many_threads_prefetch_and_read(dev):
    mats = [mat.from_numpy(np.full(50, float(k))) for k in range(20)]
    errors, end = [], threading.Barrier(4)  # who ends its block drops what others may still copy to

    def work(k):
        try:
            with mat.use_device(dev):
                for step in range(20):
                    one, two = (k + step) % 20, (k * step) % 20
                    with mat.prefetch(to_device=[mats[one], mats[two]], to_host=[mats[one]]):
                        assert (mats[one] + 1).to_numpy().tolist() == [one + 1.0] * 50
                end.wait(60)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert errors == []
