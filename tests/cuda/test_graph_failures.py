"""Graphs beside other threads and blocks, in little memory, and with what fails."""

import gc
import weakref

import numpy as np
import pytest

import mat
from mat.errors import ConflictError, DeviceError, GraphError, OutOfDeviceMemory

from .computing import only_there
from .graphs import beside_a_thread, by_numpy, halve_and_add, pair, same, warmed

pytestmark = [pytest.mark.host, pytest.mark.unchecked(
    "functions run then, instead of being repeated")]


class Owner:
    """Another library's memory."""


def test_memory_of_others_is_released_after_a_capture(mock, dev):
    """Whether work is queued cannot be asked while launches are captured."""
    owners = [Owner() for _ in range(4)]
    alive = [weakref.ref(owner) for owner in owners]
    x = mat.zeros(10) + 1
    handles = [dev.memory.borrowed(0, 0, owners.pop()) for _ in alive]

    @mat.graph
    def step(x):
        x += 1
        dev.memory.free(handles.pop())

    for _ in range(3):
        step(x)
    assert step.recordings == 1
    assert step.replays
    assert (x.to_numpy() == 4).all()
    dev.memory.settle()
    assert sum(owner() is None for owner in alive) == 4 - len(handles)


def test_conflicts_are_refused_and_change_nothing(mock, dev):
    x, y, a, b = pair()
    step = warmed(mat.graph(halve_and_add), x, y)
    before = y.to_numpy()
    kept = np.asarray(y)
    with pytest.raises(ConflictError, match=r"test_graph_failures\.py"):
        step(x, y)
    np.testing.assert_array_equal(kept, before)
    del kept
    gc.collect()
    step(x, y)
    for _ in range(3):
        by_numpy(a, b)
    same(x, a)
    same(y, b)


def test_a_failed_launch_is_rolled_back(mock, dev):
    x, y, _, _ = pair()
    step = warmed(mat.graph(halve_and_add), x, y)
    kept = y.to_numpy()  # which the host has now
    mock.fail("cuGraphLaunch", status="invalid_value")
    with pytest.raises(DeviceError, match="a graph"):
        step(x, y)
    same(y, kept)
    with pytest.raises(mat.TornError):
        x.to_numpy()


@pytest.mark.parametrize("call", ["cuStreamBeginCapture", "cuStreamEndCapture", "cuGraphDestroy",
                                  "cuGraphInstantiateWithFlags"])
def test_a_recording_that_fails_changes_nothing(mock, dev, call):
    def held():
        gc.collect()  # errors and frames that refer to each other
        dev.gpu._free_orphans()  # the workspace of cuBLAS, if it was used before
        return mock.held()

    x, y, a, b = pair()
    step = mat.graph(halve_and_add)
    step(x, y)
    before = held()
    mock.fail(call, status="invalid_value")
    with pytest.raises(DeviceError):
        step(x, y)
    assert held() == before
    for _ in range(2):
        step(x, y)
    for _ in range(3):
        by_numpy(a, b)
    same(x, a)
    same(y, b)


def test_an_error_of_the_function_changes_nothing(mock, dev):
    x, calls = mat.zeros(5), []

    @mat.graph
    def step(x):
        calls.append(0)
        x += 1
        if len(calls) == 2:
            raise ValueError("second")

    step(x)
    with pytest.raises(ValueError, match="second"):
        step(x)
    for _ in range(3):
        step(x)
    same(x, np.full(5, 4.0))
    assert len(calls) == 3


@pytest.mark.parametrize("other", [
    lambda x, y: x.add_(y), lambda x, y: x.add_(EXTRA)])
def test_a_function_that_does_something_else(mock, dev, other):
    x, y, calls = mat.ones(5), mat.ones(5), []

    @mat.graph
    def step(x, y):
        calls.append(0)
        if len(calls) == 2:
            other(x, y)
        y += x

    for _ in range(4):
        step(x, y)
    # what could not be recorded was not done; the function ran once more in that call
    assert (len(calls), step.recordings, step.replays) == (4, 1, 1)
    same(x, np.ones(5))
    same(y, np.full(5, 5.0))


EXTRA = mat.ones(5)


def test_a_function_that_reads_what_it_had_overwritten(mock, dev):
    x, t, calls = mat.zeros(5), mat.zeros(5), []

    @mat.graph
    def step(x):
        calls.append(0)
        if len(calls) != 2:
            mat.add(x, 1, out=t)
        x += t

    step(x)  # x = 1
    with t.facet("array", "output") as values:
        values[:] = 100
    step(x)  # 3: the second run adds t as it is, which is not on the device
    same(x, np.full(5, 3.0))
    assert len(calls) == 3


def test_other_threads_go_on_while_one_records(mock, dev):
    x, others, calls = mat.zeros(5), mat.zeros(5), []

    def work():
        with mat.use_device("cuda"):
            mat.matmul(mat.ones(2, 2), mat.ones(2, 2))
            others.add_(1)
            calls.append(others.to_numpy()[0])

    step = beside_a_thread(work)
    for _ in range(4):
        step(x)
    assert calls == [1.0, 2.0]
    same(x, np.full(5, 4.0))


def test_graphs_within_graphs_are_part_of_them(mock, dev):
    inner = mat.graph(lambda x: x.add_(1))
    outer = mat.graph(lambda x: inner(inner(x)))
    x = mat.zeros(4)
    for _ in range(3):
        outer(x)
    same(x, np.full(4, 6.0))
    assert (outer.replays, inner.recordings) == (1, 0)


def test_products_by_cublas(mock, dev):
    a, b, c = mat.ones(6, 6), mat.eye(6), mat.zeros(6, 6)

    @mat.graph
    def step(a, b, c):
        c.gemm_(2.0, a, b, 1.0)
        b += a

    wanted, right = np.zeros((6, 6)), np.eye(6)
    for _ in range(4):
        step(a, b, c)
        wanted += 2 * np.ones((6, 6)) @ right
        right += 1
    same(c, wanted)
    same(b, right)
    assert step.replays == 2


def test_a_graph_that_is_gone_frees_its_memory(mock, dev):
    x, s = mat.ones(40_000), mat.zeros(())
    gc.collect()
    only_there(x)
    dev.gpu.trim()
    held = mock.held()
    step = warmed(mat.graph(lambda x, s: mat.sum(x, out=s)), x, s)
    s.drop("cuda", force=True)
    dev.gpu.trim()
    assert mock.held() > held
    del step
    gc.collect()
    dev.gpu.trim()
    assert mock.held() == held
    before = mock.calls("cuGraphExecDestroy")
    warmed(mat.graph(lambda x: x.add_(1)), x)
    assert mock.calls("cuGraphExecDestroy") > before


def test_the_data_of_the_last_call_is_not_kept(mock, dev):
    step = mat.graph(lambda x: x.add_(1))
    x = mat.ones(5000)
    for _ in range(3):
        step(x)
    used = dev.memory.used
    del x
    gc.collect()
    dev.memory.settle()
    assert dev.memory.used < used


def test_operands_that_do_not_fit(mock):
    x, y, a, b = pair(10_000)
    step = mat.graph(halve_and_add)
    with mat.use_device("cuda", pool_bytes=200_000):
        for _ in range(3):
            step(x, y)
            by_numpy(a, b)
    with mat.use_device("cuda", pool_bytes=100_000), pytest.raises((GraphError,
                                                                    OutOfDeviceMemory)):
        step(x, y)
    same(x, a)
    same(y, b)


def test_another_device_has_recordings_of_its_own(mock):
    x, y, a, b = pair()
    step = mat.graph(halve_and_add)
    for name in ("cuda:0", "cuda:1", "cuda:0"):
        with mat.use_device(name):
            for _ in range(3):
                step(x, y)
                by_numpy(a, b)
    same(x, a)
    same(y, b)


def test_traces_have_replays(mock, dev):
    x, y, _, _ = pair()
    step = warmed(mat.graph(halve_and_add), x, y)
    with mat.debug.trace() as t:
        step(x, y)
    done = [(event.mat, event.source) for event in t.operations]
    assert done == [("graph of halve_and_add", "cuda:0")]
    assert step.replays == 1


def test_only_the_hosts_version_is_stale_after_a_replay(mock, dev):
    x, y, a, b = pair()
    step = warmed(mat.graph(halve_and_add), x, y)
    x.to_numpy()
    version = x.storage.version
    assert x.fresh == {"host", "cuda:0"}
    step(x, y)
    assert x.fresh == {"cuda:0"}
    assert x.storage.version == version + 1
    for _ in range(3):
        by_numpy(a, b)
    same(x, a)


def test_a_mat_that_changes_its_shape_or_storage(mock, dev):
    x, y, a, b = pair()
    step = warmed(mat.graph(halve_and_add), x, y)
    for _ in range(2):
        by_numpy(a, b)
    x.adjust_((100,))
    with x.facet("array", "output") as values:
        values[:] = a = np.arange(100.0)
    step(x, y)
    by_numpy(a, b)
    x.reshape_((10, 10))
    y.reshape_((10, 10))
    step(x, y)
    by_numpy(a, b)
    same(x.reshape(-1), a)
    same(y.reshape(-1), b)


def test_the_direction_check_sees_each_access(mock, dev):
    x, y, a, b = pair()
    step = warmed(mat.graph(halve_and_add), x, y)
    with mat.debug.check_directions() as report:
        step(x, y)
    for _ in range(3):
        by_numpy(a, b)
    assert step.replays == 0
    assert report.accesses > 30
    same(x, a)
    same(y, b)


def test_a_thread_does_not_wait_for_one_that_records(mock, dev):
    x, y = mat.zeros(5), mat.zeros(5)
    inner = mat.graph(lambda y: y.add_(1))

    def work():
        with mat.use_device("cuda"):
            inner(y)

    step = beside_a_thread(work)
    for _ in range(4):
        step(x)
    inner(y)
    same(x, np.full(5, 4.0))
    same(y, np.full(5, 3.0))
    assert (step.replays, inner.recordings) == (2, 1)


def test_others_are_evicted_for_what_a_graph_uses(mock):
    others = [mat.full(100, float(k)) for k in range(3)]
    with mat.use_device("cuda", pool_bytes=3 * 1024):
        for other in others:
            only_there(other)
        x, y, a, b = pair()
        step = mat.graph(halve_and_add)
        for _ in range(3):
            step(x, y)
            by_numpy(a, b)
        assert step.replays == 1
        bad = mat.graph(lambda x: float(x[:1].sum()))
        with pytest.raises(GraphError):
            bad(x)
        same(x, a)
        same(y, b)
    for k, other in enumerate(others):
        same(other, np.full(100, k))
