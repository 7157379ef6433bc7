"""Devices in use: blocks, nesting, threads, errors, and what a block leaves behind. On `emulated`:
no GPU is needed.
"""

import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import mat
from mat import ConflictError, DeviceError, FacetError, OutOfDeviceMemory, SettingError, TornError
from mat.core.compiled import IN_USE
from mat.devices.device import device_named

pytestmark = pytest.mark.host


class Deliberate(Exception):
    """What a test throws."""


@pytest.fixture(autouse=True)
def nothing_stays():
    yield
    assert IN_USE == []
    assert device_named("emulated").memory.limit is None


def test_operations_compute_there_and_results_are_copied_back():
    x = mat.arange(4.0)
    with mat.use_device("emulated") as dev:
        y = x * 2
        assert (dev, str(dev), x.device) == ("emulated", "emulated", dev)
        assert y.fresh == {"emulated"}
        assert dev.launches
    assert (y.fresh, x.fresh, x.device) == ({"host"}, {"host"}, "cpu")
    assert_array_equal(y.to_numpy(), [0, 2, 4, 6])


def test_what_was_not_changed_is_not_copied_back():
    x = mat.arange(4.0)
    with mat.debug.count_copies() as n, mat.use_device("emulated"):
        assert mat.asum(x) == 6
    assert (n.h2d, n.d2h) == (1, 0)


def test_what_was_never_written_is_made_there():
    with mat.debug.count_copies() as n, mat.use_device("emulated"):
        mat.zeros(3).exp_()
    assert (n.h2d, n.d2h) == (0, 0)


@pytest.mark.parametrize("error", [Deliberate, KeyboardInterrupt, SystemExit])
def test_nothing_is_lost_whatever_is_thrown(error):
    x = mat.arange(3.0)

    def block():
        with mat.use_device("emulated"):
            x.add_(1)
            raise error

    with pytest.raises(error):
        block()
    assert (x.fresh, x.to_numpy().tolist()) == ({"host"}, [1, 2, 3])


def test_an_inner_block_leaves_copies_to_the_outer_one():
    x = mat.ones(3)
    with mat.use_device("emulated"):
        with mat.use_device("emulated"):
            x += 1
        assert x.fresh == {"emulated"}
    assert x.fresh == {"host"}


def test_several_devices_by_number():
    x = mat.ones(3)
    with mat.use_device("emulated"):
        x += 1
        with mat.use_device("emulated:1") as other, mat.debug.count_copies() as n:
            x += 1
            assert (x.fresh, other.name) == ({"emulated:1"}, "emulated:1")
            with x.facet("emulated", "input") as p:
                assert p.device == "emulated:1"
        assert (x.fresh, n.h2d) == ({"host"}, 0)
        x += 1
    assert x.to_numpy().tolist() == [4, 4, 4]


@pytest.mark.parametrize("outer", ["emulated:1", "emulated:2"])
def test_a_name_without_number_is_the_first_device_of_its_kind(outer):
    x = mat.ones(3)
    with mat.use_device(outer):
        with mat.use_device("emulated") as dev:
            x += 1
            assert (dev.name, x.fresh, x.device) == ("emulated", {"emulated"}, "emulated")
        x += 1
        assert x.fresh == {outer}
        with pytest.raises(mat.DeviceError, match="emulated is not in use"):
            mat.ones(3, device="emulated")
    assert x.to_numpy().tolist() == [3, 3, 3]


def test_the_processor_within_a_device():
    x = mat.ones(3)
    with mat.use_device("emulated"):
        x += 1
        with mat.use_device("cpu") as dev:
            x += 1
            assert (dev.name, x.fresh, x.device) == ("cpu", {"host"}, "cpu")
        x += 1
        assert x.fresh == {"emulated"}
    assert x.to_numpy().tolist() == [4, 4, 4]


def test_other_threads_are_not_concerned():
    x, seen = mat.ones(3), []

    def work():
        y = mat.ones(3)
        y += 1
        seen.append((y.fresh, y.device))

    with mat.use_device("emulated"):
        x += 1
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert seen == [({"host"}, "cpu")]


def test_set_device_is_for_all_threads_and_until_further_notice():
    seen = []

    def work():
        y = mat.ones(3)
        y += 1
        seen.append(y.fresh)

    try:
        assert mat.set_device("emulated") == "emulated"
        x = mat.ones(2)
        x += 1
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert (x.fresh, seen) == ({"emulated"}, [{"emulated"}])
        with mat.use_device("emulated"):
            x += 1
    finally:
        mat.set_device("cpu")
    assert x.device == "cpu"
    assert x.to_numpy().tolist() == [3, 3]


def test_mats_that_are_kept_from_devices():
    with mat.settings(device_enabled=False):
        x = mat.ones(3)
    y = mat.ones(3)
    with mat.use_device("emulated"):
        assert (x.device, y.device) == ("cpu", "emulated")
        z = y + x
        assert z.fresh == {"host"}
        x.device_enabled = True
        z += x
        assert z.fresh == {"emulated"}


def test_the_facet_of_a_device_not_in_use():
    x = mat.ones(3)
    for name in ("emulated", "emulated:1", "cuda", "cuda:0"):
        with pytest.raises(DeviceError, match=r"mat\.use_device"):
            x.facet(name)
    with pytest.raises(FacetError):
        x.facet("emulated:x")


def test_memories_have_names_also_before_there_is_a_device():
    x = mat.ones(3)
    assert x.drop("cuda") is False
    with mat.barrier(ensure="host", drop=("cuda:0", "emulated")) as b:
        assert b.count == 0


@pytest.mark.parametrize("name", ["gpu", "cuda:x", "emulated:", "", None, 3, "cpu:0"])
def test_names_that_are_none(name):
    with pytest.raises(FacetError, match="no device"):
        mat.use_device(name)


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, "1G"])
def test_limits_that_are_none(limit):
    with pytest.raises(SettingError, match="pool_bytes"):
        mat.use_device("emulated", pool_bytes=limit)


def test_a_device_that_is_absent():
    with mat.use_device("emulated:1000") as dev:
        assert dev == "cpu"
    with pytest.raises(DeviceError, match="there are 64"):
        mat.use_device("emulated:1000", required=True)


def test_a_block_is_entered_once():
    block = mat.use_device("emulated")
    with block, pytest.raises(DeviceError, match="already open"):
        block.__enter__()
    with block:
        pass


def test_torn_data_is_copied_back_and_can_be_accepted():
    x = mat.zeros(4)

    def half(a):
        a[0] = 7
        raise Deliberate

    with mat.use_device("emulated") as dev:
        x += 1
        with pytest.raises(Deliberate), x.facet("emulated", "io") as p:
            dev.launch(half, p)
    with pytest.raises(TornError):
        x.to_numpy()
    assert x.accept_torn().to_numpy().tolist() == [7, 1, 1, 1]


def test_a_copy_that_is_kept_is_reported_at_the_end():
    x = mat.ones(3)
    keeping = x.keep("emulated")
    block = mat.use_device("emulated")
    block.__enter__()
    x += 1
    keeping.__enter__()
    x += 1
    with pytest.raises(ConflictError, match="keep"):
        block.__exit__(None, None, None)
    assert x.to_numpy().tolist() == [3, 3, 3]
    keeping.__exit__(None, None, None)
    x.drop("emulated")


# Memory


def test_the_limit_holds_and_what_is_clean_is_evicted_first():
    big = [mat.array(np.full(100, float(k))) for k in range(6)]
    with mat.debug.count_copies() as n, mat.use_device("emulated", pool_bytes=3 * 800) as dev:
        for x in big:
            mat.asum(x)
            assert dev.memory.used + dev.memory.kept <= 2400
        assert (n.h2d, n.d2h) == (6, 0)
        big[5] += 1  # dirty now, and there already
        mat.asum(big[0])
        assert big[5].fresh == {"emulated"}
    assert (n.h2d, n.d2h) == (7, 1)
    assert big[5].to_numpy().tolist() == [6] * 100


def test_a_working_set_three_times_the_limit_with_the_least_copies():
    mats = [mat.array(np.full(100, float(k))) for k in range(9)]
    with mat.debug.count_copies() as n, mat.use_device("emulated", pool_bytes=3 * 800):
        for x in mats:
            # all that is to be done with one, before the next: each goes and comes
            # once
            for _ in range(4):
                x += 1
    assert (n.h2d, n.d2h) == (9, 9)
    for k, x in enumerate(mats):
        assert_array_equal(x.to_numpy(), np.full(100, k + 4.0))


def test_the_least_recently_used_leaves():
    a, b, c, d = (mat.array(np.ones(100)) for _ in range(4))
    with mat.use_device("emulated", pool_bytes=3 * 800):
        for x in (a, b, c, a):
            x += 1
        d += 1
        assert [x.fresh for x in (a, b, c, d)] == [{"emulated"}, {"host"}, {"emulated"},
                                                   {"emulated"}]


def test_what_is_accessed_is_not_evicted_and_the_error_lists_it():
    a, b = mat.array(np.ones(100)), mat.ones(50)
    with mat.use_device("emulated", pool_bytes=800), a.facet("emulated", "io"):
        with pytest.raises(OutOfDeviceMemory) as caught:
            b += 1
        assert isinstance(caught.value, MemoryError)
        message = str(caught.value)
        assert "400 bytes" in message
        assert "pool_bytes = 800" in message
        assert "<Mat 100>" in message
        assert "test_devices.py" in message
    assert b.to_numpy().tolist() == [1] * 50


def test_memory_that_is_given_back_is_used_again():
    with mat.use_device("emulated") as dev:
        x = mat.zeros(100)
        x += 1
        x.drop("emulated", force=True)
        assert (dev.memory.take(0) is not None, dev.memory.kept) == (True, 800)
        y = mat.zeros(100)
        y += 1
        assert dev.memory.kept == 0
        del x, y
    assert dev.memory.kept == 0


def test_garbage_gives_its_memory_back():
    with mat.use_device("emulated", pool_bytes=2000):
        for _ in range(10):
            x = mat.zeros(100)
            x += 1
            del x


@pytest.mark.parametrize("call", [
    lambda a, b, out: mat.matmul(a, b, transpose_a=True, out=out),
    lambda a, b, out: mat.matmul(a, b, transpose_b=True, out=out),
    lambda a, b, out: out.gemm_(1.0, a, b, 0.0, transpose_b=True), lambda a, b,
    out: out.fill_(2.0).exp_(),
    lambda a, b, out: out.fill_(2.0).multiply_(a),
    lambda a, b, out: mat.sum(a, axis=0, out=out[0]),
    lambda a, b, out: mat.max(a, axis=1, keepdims=True, out=out[:, :1]), lambda a, b,
    out: mat.axpy(2.0, a, out.fill_(1.0)),
    lambda a, b, out: mat.add(a, 2.0, out=out), lambda a, b,
    out: mat.gemm(1.0, a, b, 0.0, out, transpose_a=True),
])
def test_what_was_planned_for_the_host_is_not_mistaken_on_a_device(call):
    """Frequent calls go straight to a plan, which was made where no device was in use."""
    a, b = (mat.array(np.random.default_rng(k).standard_normal((4, 4))) for k in (1, 2))
    wanted = [call(a, b, mat.zeros(4, 4)).to_numpy() for _ in range(3)][-1]
    for name in ("emulated", "cpu", "emulated"):
        with mat.use_device(name):
            for _ in range(2):
                out = mat.zeros(4, 4)
                found = call(a, b, out)
                assert name == "cpu" or found.fresh == {"emulated"}
                np.testing.assert_allclose(found.to_numpy(), wanted, rtol=1e-12)
    with mat.settings(device_enabled=False):
        kept = mat.zeros(4, 4)
    with mat.use_device("emulated"):
        np.testing.assert_allclose(call(a, b, kept).to_numpy(), wanted, rtol=1e-12)
